/* Calls whose results nothing reads: a value that nothing reads is not computed, also where
 * computing it would have ended the launch with a fault. What a program writes beside its results
 * others may read.
 * Requires: nothing. Provides: no call without a reader. */
#include "graph/passes.h"

hg_status graph_pass_dead(hg_graph *g) {
    uint8_t *read = hg_calloc((size_t)(g->values.count + g->calls.count) + 1, 1);
    if (!read) return hg_fail_memory();
    uint8_t *gone = read + g->values.count;
    for (uint64_t i = 0; i < g->outputs.count; i++)
        read[graph_base(g, g->outputs.data[i].value)] = 1;
    for (uint64_t i = g->calls.count; i-- > 0;) {
        const graph_call *c = &g->calls.data[i];
        bool needed = c->writes_more;
        for (uint32_t k = 0; k < c->result_count; k++)
            needed |= read[g->results.data[c->first_result + k].value];
        gone[i] = !needed;
        for (uint32_t k = 0; k < c->operand_count && needed; k++) {
            const graph_operand *o = &g->operands.data[c->first_operand + k];
            if (o->kind == GRAPH_ARRAY) read[graph_base(g, o->number)] = 1;
        }
    }
    graph_remove_calls(g, gone);
    hg_free(read);
    return HG_OK;
}
