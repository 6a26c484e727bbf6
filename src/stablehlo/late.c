/* Extents that a module is told when it runs, so that one text serves all their values: places in
 * caches and begins of views, by symbols that no shape needs.
 * Must not know: StableHLO. */
#include "stablehlo/late.h"

graph_extent shlo_position_of(const hg_graph *g, const graph_call *call) {
    const hg_op_info *row = hg_op_get((hg_op)call->op);
    for (uint32_t i = 0; i < row->operand_count && !call->program; i++) {
        const graph_operand *o = graph_operand_of(g, call, i);
        if (o && o->kind == GRAPH_COUNT && strcmp(row->operands[i].name, "position") == 0)
            return o->number;
    }
    return GRAPH_NOT_SET;
}

/* Sets those that the text depends on as they are. */
static void mark_shapes(const hg_graph *g, uint8_t *fixed) {
    for (uint64_t i = 0; i < g->values.count; i++) {
        const graph_value *v = &g->values.data[i];
        for (uint8_t d = 0; d < v->rank; d++) {
            fixed[v->extents[d]] = 1;
            if (v->strided) fixed[v->strides[d]] = 1;
        }
    }
    for (uint64_t i = 0; i < g->items.count; i++) fixed[g->items.data[i]] = 1;
    for (uint64_t i = 0; i < g->calls.count; i++) {
        const graph_call *call = &g->calls.data[i];
        graph_extent position = shlo_position_of(g, call);
        for (uint32_t k = 0; k < call->operand_count; k++) {
            const graph_operand *o = &g->operands.data[call->first_operand + k];
            if (o->kind == GRAPH_COUNT && o->number != position) fixed[o->number] = 1;
        }
    }
}

/* Operands of a term have smaller numbers than it has. */
static void mark_late(const hg_graph *g, const uint8_t *fixed, uint8_t *late) {
    for (uint64_t i = 0; i < g->terms.count; i++) {
        const graph_term *t = &g->terms.data[i];
        if (t->kind == HG_EXTENT_OP_PARAM)
            late[i] = !fixed[i];
        else if (t->kind != HG_EXTENT_OP_NUMBER)
            late[i] = late[t->left] || late[t->right];
    }
}

static void add(uint32_t *numbers, uint32_t *count, const uint8_t *late, graph_extent e) {
    if (e != GRAPH_NOT_SET && late[e] && !numbers[e]) numbers[e] = ++*count;
}

hg_status shlo_find_late(const hg_graph *g, uint32_t *numbers, uint32_t *count) {
    const size_t terms = (size_t)g->terms.count + 1;
    uint8_t *fixed = hg_calloc(terms, 2), *late = fixed ? fixed + terms : NULL;
    *count = 0;
    if (!fixed) return hg_fail_memory();
    mark_shapes(g, fixed);
    for (uint64_t i = g->terms.count; i-- > 0;) {
        const graph_term *t = &g->terms.data[i];
        if (!fixed[i] || t->kind == HG_EXTENT_OP_PARAM || t->kind == HG_EXTENT_OP_NUMBER) continue;
        fixed[t->left] = fixed[t->right] = 1;
    }
    mark_late(g, fixed, late);
    for (uint64_t i = 0; i < g->values.count; i++)
        if (g->values.data[i].source == GRAPH_VIEW)
            add(numbers, count, late, g->values.data[i].offset);
    for (uint64_t i = 0; i < g->calls.count; i++)
        add(numbers, count, late, shlo_position_of(g, &g->calls.data[i]));
    hg_free(fixed);
    return HG_OK;
}
