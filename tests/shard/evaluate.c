#include "shard/evaluate.h"
#include "graph/passes.h"
#include <stdio.h>
#include <stdlib.h>

typedef struct evaluator {
    const hg_graph *g;
    hg_backend *backend;
    hg_comm *comm;
    uint8_t **arrays;
    uint64_t *sizes;
    uint32_t *collectives;
} evaluator;

static uint64_t bytes_of(const evaluator *e, uint32_t value) {
    const graph_value *v = &e->g->values.data[value];
    return e->sizes[v->elements] * graph_type_bytes(v);
}

/* ---- a run of calls without collectives ---- */

typedef struct section {
    uint32_t first, end;
    uint8_t *read, *shown; /* by value: the section needs it; it is read behind the section */
} section;

static void mark(const hg_graph *g, uint8_t *set, uint32_t value) {
    for (; g->values.data[value].source == GRAPH_VIEW; value = g->values.data[value].of)
        set[value] = 1;
    set[value] = 1;
}

static void mark_calls(const hg_graph *g, uint8_t *set, uint32_t first, uint32_t end) {
    for (uint32_t i = first; i < end; i++)
        for (uint32_t k = 0; k < g->calls.data[i].operand_count; k++) {
            const graph_operand *o = &g->operands.data[g->calls.data[i].first_operand + k];
            if (o->kind == GRAPH_ARRAY) mark(g, set, o->number);
        }
}

static bool is_made_here(const hg_graph *g, const section *at, uint32_t value) {
    const graph_value *v = &g->values.data[value];
    return v->source == GRAPH_RESULT && v->call >= at->first && v->call < at->end;
}

/* What the section makes and others read, and the array of the collective behind it. */
static void find_shown(const hg_graph *g, section *at) {
    uint8_t *later = calloc(g->values.count + 1, 1);
    mark_calls(g, later, at->end, (uint32_t)g->calls.count);
    for (uint64_t i = 0; i < g->outputs.count; i++) mark(g, later, g->outputs.data[i].value);
    for (uint32_t i = 0; i < g->values.count; i++)
        at->shown[i] = later[i] && is_made_here(g, at, i);
    free(later);
    if (at->end == g->calls.count) {
        for (uint64_t i = 0; i < g->outputs.count; i++) at->shown[g->outputs.data[i].value] = 1;
        return;
    }
    const graph_call *next = &g->calls.data[at->end];
    for (uint32_t k = 0; k < next->operand_count; k++)
        if (g->operands.data[next->first_operand + k].kind == GRAPH_ARRAY)
            at->shown[g->operands.data[next->first_operand + k].number] = 1;
}

static hg_status make_graph(const hg_graph *g, const section *at, hg_graph **made) {
    hg_graph *c;
    char name[24];
    HG_TRY(graph_copy(g, &c));
    *made = c;
    for (uint32_t i = at->first; i < at->end; i++) c->calls.data[i - at->first] = g->calls.data[i];
    c->calls.count = at->end - at->first;
    c->outputs.count = 0;
    hg_vec_free(&c->output_names);
    graph_extent one = graph_number(c, 1);
    for (uint32_t i = 0; i < g->values.count; i++) {
        graph_value *v = &c->values.data[i];
        if (!at->read[i] && !at->shown[i] && !is_made_here(g, at, i))
            *v = (graph_value){.source = GRAPH_RESULT,
                               .call = GRAPH_NOT_SET,
                               .takes = GRAPH_NOT_SET,
                               .elements = one};
        else if (v->source != GRAPH_VIEW && !is_made_here(g, at, i)) {
            int length = snprintf(name, sizeof name, "in_%u", (unsigned)i);
            v->source = v->bytes ? GRAPH_CONSTANT : GRAPH_INPUT;
            v->name = hg_arena_text(&c->arena, name, (size_t)length);
        } else {
            v->name = NULL;
        }
    }
    const graph_value nothing = {.source = GRAPH_RESULT, .type = HG_TYPE_F32};
    uint32_t number;
    hg_vec_free(&c->names); /* made again for the new names */
    HG_TRY(graph_add_value(c, &nothing, NULL, 0, &number));
    graph_number_results(c);
    for (uint32_t i = 0; i < g->values.count; i++) {
        int length = snprintf(name, sizeof name, "out_%u", (unsigned)i);
        if (at->shown[i]) HG_TRY(graph_add_output(c, i, name, (size_t)length));
    }
    return HG_OK;
}

static hg_status bind(evaluator *e, const section *at, hg_params *params, hg_buffer *buffers) {
    char name[24];
    for (uint32_t i = 0; i < e->g->values.count; i++) {
        const graph_value *v = &e->g->values.data[i];
        bool input = at->read[i] && v->source != GRAPH_VIEW && !is_made_here(e->g, at, i) &&
                     !v->bytes;
        if (!input && !at->shown[i]) continue;
        snprintf(name, sizeof name, "%s_%u", at->shown[i] ? "out" : "in", (unsigned)i);
        if (at->shown[i]) {
            HG_TRY(hg_backend_allocate_buffer(e->backend, bytes_of(e, i), &buffers[2 * i]));
            HG_TRY(hg_params_set_buffer(params, name, buffers[2 * i]));
            if (!input) continue;
            snprintf(name, sizeof name, "in_%u", (unsigned)i);
        }
        HG_TRY(hg_backend_allocate_buffer(e->backend, bytes_of(e, i), &buffers[2 * i + 1]));
        HG_TRY(hg_buffer_write(e->backend, buffers[2 * i + 1], 0, e->arrays[i], bytes_of(e, i)));
        HG_TRY(hg_params_set_buffer(params, name, buffers[2 * i + 1]));
    }
    return HG_OK;
}

static hg_status run_bound(evaluator *e, const section *at, hg_graph *made, hg_params *params,
                           const hg_buffer *buffers) {
    hg_graph_executable *executable = NULL;
    hg_graph_binding *binding = NULL;
    hg_status status = hg_graph_compile(e->backend, made, NULL, &executable);
    if (status == HG_OK) status = hg_graph_bind(executable, params, &binding);
    if (status == HG_OK) status = hg_graph_binding_launch(binding);
    for (uint32_t i = 0; i < e->g->values.count && status == HG_OK; i++) {
        if (!at->shown[i]) continue;
        if (!e->arrays[i]) e->arrays[i] = malloc((size_t)bytes_of(e, i) + 1);
        status = hg_buffer_read(e->backend, buffers[2 * i], 0, e->arrays[i], bytes_of(e, i));
    }
    hg_graph_binding_destroy(binding);
    hg_graph_executable_destroy(executable);
    return status;
}

static hg_status run_section(evaluator *e, uint32_t first, uint32_t end) {
    size_t count = (size_t)e->g->values.count + 1;
    section at = {first, end, calloc(count, 1), calloc(count, 1)};
    hg_buffer *buffers = calloc(2 * count, sizeof *buffers);
    hg_params *params = hg_params_create();
    hg_graph *made = NULL;
    hg_status status = HG_OK;
    mark_calls(e->g, at.read, first, end);
    find_shown(e->g, &at);
    for (uint32_t i = 0; i < e->g->values.count; i++)
        if (at.shown[i]) mark(e->g, at.read, i);
    status = make_graph(e->g, &at, &made);
    if (status == HG_OK && made->outputs.count) status = bind(e, &at, params, buffers);
    if (status == HG_OK && made->outputs.count) status = run_bound(e, &at, made, params, buffers);
    for (size_t i = 0; i < 2 * count; i++)
        if (buffers[i].handle) (void)!hg_backend_free_buffer(e->backend, buffers[i]);
    hg_graph_release(made);
    hg_params_destroy(params);
    free(buffers);
    free(at.read);
    free(at.shown);
    return status;
}

/* ---- collectives ---- */

hg_comm_kind evaluated_kind(hg_op op) {
    return op == HG_OP_ALL_GATHER   ? HG_COMM_ALL_GATHER
           : op == HG_OP_ALL_REDUCE ? HG_COMM_ALL_REDUCE
                                    : HG_COMM_REDUCE_SCATTER;
}

static hg_status run_collective(evaluator *e, const graph_call *call) {
    const hg_op_info *row = hg_op_get((hg_op)call->op);
    uint32_t made = e->g->results.data[call->first_result].value, input = GRAPH_NOT_SET;
    uint64_t n = 0;
    hg_comm_call c = {.size = sizeof c, .type = (hg_type)call->type};
    for (uint32_t k = 0; k < call->operand_count; k++) {
        const graph_operand *o = &e->g->operands.data[call->first_operand + k];
        if (o->kind == GRAPH_ARRAY) input = o->number;
        if (o->kind == GRAPH_COUNT && strcmp(row->operands[o->operand].name, "n") == 0)
            n = e->sizes[o->number];
        if (o->kind == GRAPH_NAME)
            c.operation = o->number == HG_OPNAME_SUM       ? HG_COMM_ADD
                          : o->number == HG_OPNAME_PRODUCT ? HG_COMM_MUL
                          : o->number == HG_OPNAME_MIN     ? HG_COMM_MIN
                                                           : HG_COMM_MAX;
    }
    c.kind = evaluated_kind((hg_op)call->op);
    e->arrays[made] = malloc((size_t)bytes_of(e, made) + 1);
    c.count = n;
    c.input = e->arrays[input];
    c.output = e->arrays[made];
    ++*e->collectives;
    return hg_comm_run(e->comm, &c);
}

hg_status evaluate(const hg_graph *g, hg_backend *backend, hg_comm *comm, uint8_t **arrays,
                   uint8_t *const *outputs, uint32_t *collectives) {
    evaluator e = {g, backend, comm, arrays, malloc((g->terms.count + 1) * 8), collectives};
    hg_status status = HG_OK;
    uint32_t first = 0;
    graph_extent_values(g, NULL, e.sizes);
    for (uint32_t i = 0; i < g->calls.count && status == HG_OK; i++) {
        if (!graph_is_collective(&g->calls.data[i])) continue;
        status = run_section(&e, first, i);
        if (status == HG_OK) status = run_collective(&e, &g->calls.data[i]);
        first = i + 1;
    }
    if (status == HG_OK) status = run_section(&e, first, (uint32_t)g->calls.count);
    for (uint64_t i = 0; i < g->outputs.count && status == HG_OK; i++) {
        uint32_t value = g->outputs.data[i].value;
        memcpy(outputs[i], arrays[value], (size_t)bytes_of(&e, value));
    }
    if (status != HG_OK) (void)!hg_comm_revoke(comm);
    free(e.sizes);
    return status;
}
