/* parallel_map identity: its result is its operand, as values never change. Requires: nothing.
 * Provides: nothing that other passes need. */
#include "graph/passes.h"

static bool is_copy(const hg_graph *g, const graph_call *c) {
    hg_opname identity;
    if (c->op != HG_OP_PARALLEL_MAP || c->program || !hg_opname_from_text("identity", 8, &identity))
        return false;
    const graph_operand *in = graph_operand_of(g, c, 1), *name = graph_operand_of(g, c, 2),
                        *count = graph_operand_of(g, c, 3);
    if (!in || !name || !count || name->number != (uint32_t)identity) return false;
    const graph_value *from = &g->values.data[in->number],
                      *to = &g->values.data[g->results.data[c->first_result].value];
    if (from->rank != to->rank || from->elements != to->elements || count->number != from->elements)
        return false;
    for (uint8_t d = 0; d < to->rank; d++)
        if (from->extents[d] != to->extents[d]) return false;
    return true;
}

/* A view counts elements in memory, where those of a view with strides lie otherwise than those of
 * its copy. */
static bool can_go(const hg_graph *g, const graph_call *c, const uint32_t *map,
                   const uint8_t *viewed) {
    if (!is_copy(g, c)) return false;
    uint32_t from = map[graph_operand_of(g, c, 1)->number]; /* behind copies that went before */
    return !g->values.data[from].strided || !viewed[g->results.data[c->first_result].value];
}

hg_status graph_pass_copies(hg_graph *g) {
    uint32_t *map = hg_alloc((size_t)(g->values.count + 1) * sizeof *map);
    uint8_t *gone = hg_calloc((size_t)(g->calls.count + g->values.count) + 1, 1),
            *viewed = gone ? gone + g->calls.count : NULL;
    hg_status status = map && gone ? HG_OK : hg_fail_memory();
    for (uint64_t i = 0; i < g->values.count && status == HG_OK; i++) {
        map[i] = (uint32_t)i;
        if (g->values.data[i].source == GRAPH_VIEW) viewed[g->values.data[i].of] = 1;
    }
    for (uint64_t i = 0; i < g->calls.count && status == HG_OK; i++) {
        const graph_call *c = &g->calls.data[i];
        gone[i] = can_go(g, c, map, viewed);
        if (gone[i])
            map[g->results.data[c->first_result].value] = map[graph_operand_of(g, c, 1)->number];
    }
    if (status == HG_OK) {
        graph_rename(g, map);
        graph_remove_calls(g, gone);
    }
    hg_free(map);
    hg_free(gone);
    return status;
}
