/* Where values lie when ranks share a graph: words, and what can be. Must not know: collectives,
 * devices. */
#include "graph/graph.h"

void graph_print_place(hg_text *out, const hg_graph *g, const graph_place *place) {
    if (place->kind == GRAPH_PARTIAL)
        hg_text_addf(out, " partial %s", hg_opname_name((hg_opname)place->operation));
    if (place->kind != GRAPH_SPLIT) return;
    hg_text_addf(out, " split %u", (unsigned)place->axis);
    for (uint32_t i = 0; i < place->cut_count; i++) {
        hg_text_addf(out, i ? ", " : " at (");
        graph_print_extent(out, g, g->items.data[place->first_cut + i]);
    }
    if (place->cut_count) hg_text_addf(out, ")");
}

static hg_status check_cuts(const hg_graph *g, const graph_place *place) {
    uint64_t last = 0, cut;
    for (uint32_t i = 0; i < place->cut_count; i++) {
        if (!graph_is_number(g, g->items.data[place->first_cut + i], &cut)) return HG_OK;
        if (cut < last)
            return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                           "split at %llu behind %llu: each part begins where the one before "
                           "ends, or there",
                           (unsigned long long)cut, (unsigned long long)last);
        last = cut;
    }
    return HG_OK;
}

hg_status graph_check_place(const hg_graph *g, const graph_value *v) {
    const graph_place *place = &v->place;
    if (place->kind != GRAPH_WHOLE && v->source == GRAPH_VIEW)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "a view lies where its array lies");
    if (place->kind == GRAPH_PARTIAL && v->source == GRAPH_CONSTANT)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                       "partial: an input can be, a constant is the same on each rank");
    if (place->kind == GRAPH_PARTIAL &&
        !hg_opname_allows_type((hg_opname)place->operation, (hg_type)v->type))
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "partial %s: %s has no such operation",
                       hg_opname_name((hg_opname)place->operation), hg_type_name((hg_type)v->type));
    if (place->kind != GRAPH_SPLIT) return HG_OK;
    if (place->axis >= v->rank)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                       "split %u: the array has %u axes, which are counted from 0",
                       (unsigned)place->axis, (unsigned)v->rank);
    return check_cuts(g, place);
}
