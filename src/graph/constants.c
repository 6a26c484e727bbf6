/* Calls whose arrays are constants with elements are done once, when the graph is compiled: their
 * results are constants of the executable.
 * Requires: no call that reads strides. Provides: nothing that other passes need. */
#include "graph/passes.h"
#include <stdio.h>
#include <string.h>

/* A view that is the same elements for every binding. */
static bool has_numbers(const hg_graph *g, const graph_value *v) {
    uint64_t number;
    bool numbers = graph_is_number(g, v->offset, &number);
    for (uint8_t d = 0; d < v->rank && numbers; d++)
        numbers = graph_is_number(g, v->extents[d], &number) &&
                  (!v->strided || graph_is_number(g, v->strides[d], &number));
    return numbers;
}

/* Elements that stand with the graph, also through views. */
static bool is_known(const hg_graph *g, uint32_t value) {
    const graph_value *v = &g->values.data[value];
    for (; v->source == GRAPH_VIEW; v = &g->values.data[v->of])
        if (!has_numbers(g, v)) return false;
    return v->source == GRAPH_CONSTANT && (v->bytes || v->once);
}

static uint64_t bytes_of(const hg_graph *g, uint32_t value) {
    uint64_t elements, bytes;
    const graph_value *v = &g->values.data[value];
    bool known = graph_is_number(g, v->elements, &elements) &&
                 hg_mul_u64(elements, graph_type_bytes(v), &bytes);
    return known && bytes <= UINT32_MAX ? bytes : UINT64_MAX;
}

/* Whether it says the same for every binding. */
static bool is_fixed(const hg_graph *g, const graph_operand *o) {
    uint64_t number;
    if (o->kind == GRAPH_ARRAY) return is_known(g, o->number);
    if (o->kind == GRAPH_COUNT) return graph_is_number(g, o->number, &number);
    if (o->kind != GRAPH_TUPLE && o->kind != GRAPH_TUPLES) return true;
    for (uint32_t i = 0; i < o->number; i++)
        if (!graph_is_number(g, g->items.data[o->first + i], &number)) return false;
    return true;
}

/* A program of the user's may ask for more than its operands. Results that are larger than what
 * they come from are not kept. */
static bool is_constant(const hg_graph *g, const graph_call *c) {
    uint64_t from = 0, made = 0;
    if ((c->program && !c->made) || c->writes_more) return false;
    for (uint32_t k = 0; k < c->operand_count; k++) {
        const graph_operand *o = &g->operands.data[c->first_operand + k];
        if (!is_fixed(g, o)) return false;
        if (o->kind == GRAPH_ARRAY &&
            !hg_add_u64(from, bytes_of(g, graph_base(g, o->number)), &from))
            return false;
    }
    for (uint32_t k = 0; k < c->result_count; k++) {
        uint32_t value = g->results.data[c->first_result + k].value;
        if (graph_is_output(g, value) || !hg_add_u64(made, bytes_of(g, value), &made)) return false;
    }
    return from && made <= from;
}

hg_status graph_pass_constants(hg_graph *g) {
    uint64_t kept = 0;
    for (uint64_t i = 0; i < g->calls.count; i++) {
        const graph_call c = g->calls.data[i];
        if (!is_constant(g, &c)) {
            g->calls.data[kept++] = c;
            continue;
        }
        graph_call *to = hg_vec_push(&g->once);
        if (!to) return hg_fail_memory();
        *to = c;
        for (uint32_t k = 0; k < c.result_count; k++) {
            graph_value *v = &g->values.data[g->results.data[c.first_result + k].value];
            v->source = GRAPH_CONSTANT;
            v->once = true;
        }
    }
    g->calls.count = kept;
    graph_number_results(g);
    return HG_OK;
}

/* ---- the calls that are done once, as a graph ---- */

/* What the calls do not read says nothing here: an input has no buffer, an extent no number. */
static hg_status keep_known(hg_graph *g) {
    uint8_t *known = hg_alloc((size_t)g->values.count + 1);
    graph_extent one = graph_number(g, 1);
    if (!known || one == GRAPH_NOT_SET) {
        hg_free(known);
        return hg_fail_memory();
    }
    for (uint32_t i = 0; i < g->values.count; i++) known[i] = is_known(g, i);
    for (uint32_t i = 0; i < g->values.count; i++) {
        graph_value *v = &g->values.data[i];
        if (!known[i])
            *v = (graph_value){.source = GRAPH_RESULT,
                               .call = GRAPH_NOT_SET,
                               .takes = GRAPH_NOT_SET,
                               .elements = one};
        if (v->once) v->source = GRAPH_RESULT;
        v->once = false;
    }
    hg_free(known);
    return HG_OK;
}

/* What the graph's own calls read is an output. */
static hg_status show_read(const hg_graph *g, hg_graph *once) {
    uint8_t *read = hg_calloc((size_t)g->values.count + 1, 1);
    hg_status status = read ? HG_OK : hg_fail_memory();
    if (read) graph_mark_read(g, read);
    for (uint32_t i = 0; i < g->values.count && status == HG_OK; i++) {
        char name[24];
        int length = snprintf(name, sizeof name, "once_%u", (unsigned)i);
        if (g->values.data[i].once && read[i])
            status = graph_add_output(once, i, name, (size_t)length);
    }
    hg_free(read);
    return status;
}

hg_status graph_once(const hg_graph *g, hg_graph **once) {
    hg_graph *copy;
    HG_TRY(graph_copy(g, &copy));
    hg_vec_free(&copy->calls);
    hg_vec_free(&copy->output_names);
    copy->calls.data = copy->once.data;
    copy->calls.count = copy->once.count;
    copy->calls.capacity = copy->once.capacity;
    memset(&copy->once, 0, sizeof copy->once);
    memset(&copy->output_names, 0, sizeof copy->output_names);
    copy->outputs.count = 0;
    copy->symbols.count = 0;
    hg_status status = keep_known(copy);
    graph_number_results(copy);
    if (status == HG_OK) status = show_read(g, copy);
    if (status == HG_OK)
        *once = copy;
    else
        hg_graph_release(copy);
    return status;
}
