/* The passes in their order, and what each needs. Must not know: what a pass does. */
#include "graph/passes.h"
#include "graph/memory.h"
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name, *about;
    hg_status (*run)(hg_graph *g);
} PASSES[GRAPH_PASS_COUNT] = {
#define GRAPH_PASS(id, name, what) {#name, what, graph_pass_##name},
#include "graph/pipeline.def"
#undef GRAPH_PASS
};

const char *hg_graph_pass_name(uint32_t index) {
    HG_ENTRY;
    return index < GRAPH_PASS_COUNT ? PASSES[index].name : NULL;
}

const char *hg_graph_pass_about(uint32_t index) {
    HG_ENTRY;
    return index < GRAPH_PASS_COUNT ? PASSES[index].about : NULL;
}

static int pass_named(const char *name, size_t length) {
    for (int i = 0; i < GRAPH_PASS_COUNT; i++)
        if (graph_is_name(PASSES[i].name, name, length)) return i;
    return -1;
}

/* Constants are found in, and memory is given to, a graph that nothing else changes any more. */
static hg_status add_pass(graph_pass_list *order, int pass) {
    int last = order->count ? order->passes[order->count - 1] : 0;
    if (order->count == GRAPH_MOST_PASSES)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "more than %d passes of graphs",
                       (int)GRAPH_MOST_PASSES);
    if (last >= GRAPH_PASS_CONSTANTS && pass <= last)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "the pass '%s' of graphs cannot come behind '%s'",
                       PASSES[pass].name, PASSES[last].name);
    order->passes[order->count++] = (uint8_t)pass;
    return HG_OK;
}

hg_status graph_passes_named(const char *names, graph_pass_list *order) {
    order->count = 0;
    for (int i = 0; i < GRAPH_PASS_COUNT && !names; i++) order->passes[order->count++] = (uint8_t)i;
    if (!names || strcmp(names, "none") == 0) return HG_OK;
    while (*names) {
        size_t length = strcspn(names, ",");
        int pass = pass_named(names, length);
        if (pass < 0)
            return hg_fail(HG_ERROR_INVALID_ARGUMENT, "there is no pass '%.*s' of graphs",
                           (int)(length > 40 ? 40 : length), names);
        HG_TRY(add_pass(order, pass));
        names += length + (names[length] == ',');
    }
    return HG_OK;
}

bool graph_passes_have(const graph_pass_list *order, graph_pass pass) {
    for (uint32_t i = 0; i < order->count; i++)
        if (order->passes[i] == pass) return true;
    return false;
}

/* ---- the form that lowering takes ---- */

/* Each output is a value that a call makes, and no two outputs are the same one. */
static hg_status own_outputs(hg_graph *g) {
    uint8_t *taken = hg_calloc((size_t)g->values.count + 1, 1);
    hg_status status = taken ? HG_OK : hg_fail_memory();
    uint64_t known = g->values.count;
    for (uint64_t i = 0; i < g->outputs.count && status == HG_OK; i++) {
        uint32_t value = g->outputs.data[i].value;
        bool own = value < known && g->values.data[value].source == GRAPH_RESULT && !taken[value];
        if (value < known) taken[value] = 1;
        if (!own) status = graph_append_copy(g, value, 0, &g->outputs.data[i].value);
    }
    hg_free(taken);
    return status;
}

/* A program's arrays begin where every device can bind them. A view that may begin elsewhere is
 * copied for it. */
static bool is_aligned(const hg_graph *g, uint32_t value) {
    for (; g->values.data[value].source == GRAPH_VIEW; value = g->values.data[value].of) {
        uint64_t offset, bytes = graph_type_bytes(&g->values.data[value]);
        if (!graph_is_number(g, g->values.data[value].offset, &offset) ||
            offset % (GRAPH_ALIGN / (bytes < GRAPH_ALIGN ? bytes : GRAPH_ALIGN)))
            return false;
    }
    return true;
}

static hg_status align_operands(hg_graph *g, const graph_call *c, void *user) {
    (void)user;
    for (uint32_t k = 0; k < c->operand_count && c->program; k++) {
        const graph_operand *o = &g->operands.data[c->first_operand + k];
        uint32_t copy;
        if (o->kind != GRAPH_ARRAY || is_aligned(g, o->number)) continue;
        HG_TRY(graph_append_copy(g, o->number, c->line, &copy));
        g->operands.data[c->first_operand + k].number = copy;
    }
    return HG_OK;
}

/* A value that a call makes begins in the memory of another one: an output stays the owner of its
 * own. */
static void begin_in(hg_graph *g, uint32_t result, uint32_t before) {
    if (graph_is_output(g, result))
        g->values.data[before].takes = result;
    else
        g->values.data[result].takes = before;
}

/* What a call changes lies in memory of its result before: a copy, unless the result takes over the
 * operand's own. */
static hg_status separate_operand(hg_graph *g, const graph_call *c, uint32_t k) {
    const graph_operand *o = &g->operands.data[c->first_operand + k];
    uint32_t result = o->kind == GRAPH_ARRAY ? graph_result_of(g, c, o->operand) : GRAPH_NOT_SET,
             copy;
    if (result == GRAPH_NOT_SET || g->values.data[result].takes == o->number) return HG_OK;
    HG_TRY(graph_append_copy(g, o->number, c->line, &copy));
    g->operands.data[c->first_operand + k].number = copy;
    begin_in(g, result, copy);
    return HG_OK;
}

/* What a program only writes begins as zeros, as in a run of the program alone. */
static hg_status clear_result(hg_graph *g, uint32_t result) {
    const graph_value to = g->values.data[result];
    uint32_t cleared;
    HG_TRY(graph_append_zeros(g, &to, &cleared));
    begin_in(g, result, cleared);
    return HG_OK;
}

/* Of a program all its results that have no contents before begin as zeros. */
static hg_status separate(hg_graph *g, const graph_call *c, void *user) {
    (void)user;
    for (uint32_t k = 0; k < c->operand_count; k++) HG_TRY(separate_operand(g, c, k));
    for (uint32_t i = 0; i < c->result_count && c->program && !c->whole; i++) {
        const graph_result r = g->results.data[c->first_result + i];
        if (!graph_operand_of(g, c, r.operand)) HG_TRY(clear_result(g, r.value));
    }
    return HG_OK;
}

static hg_status looked_at(const hg_graph *g, const char *pass, const graph_watch *watch) {
    if (watch && watch->after) watch->after(watch->user, pass, g);
    return watch && watch->verify ? graph_verify(g) : HG_OK;
}

/* Maps are joined with the copies that outputs and views are. */
static hg_status run_pass(hg_graph *g, graph_pass pass, const graph_watch *watch) {
    if (pass == GRAPH_PASS_MAPS) {
        HG_TRY(own_outputs(g));
        HG_TRY(graph_copy_views(g));
    }
    HG_TRY(PASSES[pass].run(g));
    return looked_at(g, PASSES[pass].name, watch);
}

/* What lowering takes: outputs are made by calls, programs' views are aligned, what a call changes
 * lies in memory of its result. */
static hg_status run_passes(hg_graph *g, const graph_pass_list *order, const graph_watch *watch) {
    uint32_t i = 0;
    for (; i < order->count && order->passes[i] < GRAPH_PASS_CONSTANTS; i++)
        HG_TRY(run_pass(g, (graph_pass)order->passes[i], watch));
    HG_TRY(own_outputs(g));
    HG_TRY(graph_copy_views(g));
    HG_TRY(graph_make_strided_maps(g));
    HG_TRY(graph_write_again(g, align_operands, NULL));
    if (graph_passes_have(order, GRAPH_PASS_CONSTANTS))
        HG_TRY(run_pass(g, GRAPH_PASS_CONSTANTS, watch));
    if (graph_passes_have(order, GRAPH_PASS_INPLACE))
        HG_TRY(run_pass(g, GRAPH_PASS_INPLACE, watch));
    return graph_write_again(g, separate, NULL);
}

hg_status graph_optimize(const hg_graph *g, const graph_pass_list *order, const graph_watch *watch,
                         hg_graph **done) {
    hg_graph *copy;
    HG_TRY(graph_copy(g, &copy));
    hg_status status = looked_at(copy, "none", watch);
    if (status == HG_OK) status = run_passes(copy, order, watch);
    if (status == HG_OK) status = looked_at(copy, "all", watch);
    if (status == HG_OK)
        *done = copy;
    else
        hg_graph_release(copy);
    return status;
}

hg_status graph_pass_inplace(hg_graph *g) { return graph_take_memory(g); }
/* What these two decide stands in no graph: lowering and the memory plan are asked for it. */
hg_status graph_pass_join(hg_graph *g) {
    (void)g;
    return HG_OK;
}
hg_status graph_pass_share(hg_graph *g) {
    (void)g;
    return HG_OK;
}
