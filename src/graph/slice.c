/* Slices of a graph: what a run of calls reads and leaves. Must not know: devices. */
#include "graph/slice.h"
#include "graph/passes.h"
#include <stdio.h>

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

typedef struct slicer {
    const hg_graph *g;
    uint32_t first, end;
    uint8_t *used, *later; /* by value: the slice has it; calls behind it or outputs read it */
    graph_slice *to;
} slicer;

static bool is_made(const slicer *s, uint32_t value) {
    const graph_value *v = &s->g->values.data[value];
    return v->source == GRAPH_RESULT && v->call >= s->first && v->call < s->end;
}

/* Outputs are made by the last slice, and may be views, inputs and what was made long before. */
static void find_values(slicer *s) {
    const hg_graph *g = s->g;
    mark_calls(g, s->used, s->first, s->end);
    mark_calls(g, s->later, s->end, (uint32_t)g->calls.count);
    for (uint64_t i = 0; i < g->outputs.count; i++) mark(g, s->later, g->outputs.data[i].value);
    for (uint32_t i = 0; i < g->values.count; i++) s->to->shown[i] = s->later[i] && is_made(s, i);
    for (uint64_t i = 0; i < g->outputs.count && s->end == g->calls.count; i++)
        s->to->shown[g->outputs.data[i].value] = 1;
    for (uint32_t i = 0; i < g->values.count; i++) {
        if (s->to->shown[i]) mark(g, s->used, i);
        if (is_made(s, i)) s->used[i] = 1;
    }
}

static hg_status name_value(hg_graph *c, uint32_t i, graph_value *v) {
    char name[24];
    int length = snprintf(name, sizeof name, "in_%u", (unsigned)i);
    v->name = hg_arena_text(&c->arena, name, (size_t)length);
    return v->name ? HG_OK : hg_fail_memory();
}

static hg_status rename_values(slicer *s, hg_graph *c) {
    graph_extent one = graph_number(c, 1);
    if (one == GRAPH_NOT_SET) return hg_error_record()->status;
    for (uint32_t i = 0; i < s->g->values.count; i++) {
        graph_value *v = &c->values.data[i];
        v->name = NULL;
        if (!s->used[i]) {
            *v = (graph_value){.source = GRAPH_RESULT,
                               .call = GRAPH_NOT_SET,
                               .takes = GRAPH_NOT_SET,
                               .elements = one};
        } else if (v->source != GRAPH_VIEW && !is_made(s, i)) {
            v->source = v->bytes ? GRAPH_CONSTANT : GRAPH_INPUT;
            s->to->read[i] = !v->bytes;
            HG_TRY(name_value(c, i, v));
        }
    }
    return HG_OK;
}

static hg_status make(slicer *s) {
    const graph_value nothing = {.source = GRAPH_RESULT, .type = HG_TYPE_F32};
    hg_graph *c = s->to->graph;
    uint32_t number;
    for (uint32_t i = s->first; i < s->end; i++) c->calls.data[i - s->first] = s->g->calls.data[i];
    c->calls.count = s->end - s->first;
    c->outputs.count = 0;
    hg_vec_free(&c->output_names);
    hg_vec_free(&c->names); /* made again, with a value, for the new names */
    HG_TRY(rename_values(s, c));
    HG_TRY(graph_add_value(c, &nothing, NULL, 0, &number));
    graph_number_results(c);
    for (uint32_t i = 0; i < s->g->values.count; i++) {
        char name[24];
        int length = snprintf(name, sizeof name, "out_%u", (unsigned)i);
        if (s->to->shown[i]) HG_TRY(graph_add_output(c, i, name, (size_t)length));
    }
    return HG_OK;
}

hg_status graph_make_slice(const hg_graph *g, uint32_t first, uint32_t end, graph_slice *slice) {
    size_t count = (size_t)g->values.count + 1;
    *slice = (graph_slice){NULL, hg_calloc(count, 1), hg_calloc(count, 1)};
    slicer s = {g, first, end, hg_calloc(count, 1), hg_calloc(count, 1), slice};
    bool memory = slice->read && slice->shown && s.used && s.later;
    hg_status status = memory ? graph_copy(g, &slice->graph) : hg_fail_memory();
    if (status == HG_OK) find_values(&s);
    if (status == HG_OK) status = make(&s);
    hg_free(s.used);
    hg_free(s.later);
    if (status != HG_OK) graph_slice_free(slice);
    return status;
}

void graph_slice_free(graph_slice *slice) {
    hg_graph_release(slice->graph);
    hg_free(slice->read);
    hg_free(slice->shown);
    *slice = (graph_slice){0};
}
