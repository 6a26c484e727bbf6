/* What passes do to a graph. Must not know: which pass. */
#include "graph/passes.h"

void graph_rename(hg_graph *g, const uint32_t *map) {
    for (uint64_t i = 0; i < g->operands.count; i++)
        if (g->operands.data[i].kind == GRAPH_ARRAY) g->operands.data[i].number = map[g->operands.data[i].number];
    for (uint64_t i = 0; i < g->values.count; i++)
        if (g->values.data[i].source == GRAPH_VIEW) g->values.data[i].of = map[g->values.data[i].of];
    for (uint64_t i = 0; i < g->outputs.count; i++) g->outputs.data[i].value = map[g->outputs.data[i].value];
}

void graph_remove_calls(hg_graph *g, const uint8_t *gone) {
    uint64_t kept = 0;
    for (uint64_t i = 0; i < g->calls.count; i++) {
        if (gone[i]) continue;
        g->calls.data[kept++] = g->calls.data[i];
    }
    g->calls.count = kept;
    graph_number_results(g);
}

void graph_number_results(hg_graph *g) {
    for (uint64_t i = 0; i < g->values.count; i++) g->values.data[i].call = GRAPH_NOT_SET;
    for (uint32_t i = 0; i < g->calls.count; i++)
        for (uint32_t k = 0; k < g->calls.data[i].result_count; k++)
            g->values.data[g->results.data[g->calls.data[i].first_result + k].value].call = i;
}
