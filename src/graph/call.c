/* Adding calls. Must not know: text, devices. */
#include "graph/request.h"

static void sort_operands(graph_request *r) {
    for (uint32_t i = 1; i < r->operand_count; i++)
        for (uint32_t k = i; k > 0 && r->operands[k - 1].operand > r->operands[k].operand; k--) {
            graph_operand o = r->operands[k];
            r->operands[k] = r->operands[k - 1];
            r->operands[k - 1] = o;
        }
}

static hg_status append(hg_graph *g, graph_request *r) {
    graph_call call = {
        .op = r->op, .type = r->type, .program = r->program, .line = r->line, .inst = r->inst};
    call.writes_more = graph_is_collective(&call);
    if (r->program) {
        call.whole = graph_fills(g, r);
        call.writes_more = graph_writes_more(r->program);
    }
    HG_TRY(graph_add_parts(g, &call, r->operands, r->operand_count, r->results, r->result_count));
    return graph_append(g, &call);
}

hg_status graph_add_call(hg_graph *g, graph_request *r) {
    uint64_t values = g->values.count, operands = g->operands.count, results = g->results.count;
    if (g->calls.count >= HG_MAX_GRAPH_CALLS)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "more than %d calls of a graph",
                       HG_MAX_GRAPH_CALLS);
    g->extent_status = HG_OK;
    hg_status status = graph_infer(g, r);
    sort_operands(r);
    if (status == HG_OK) status = append(g, r);
    if (status != HG_OK) graph_cut(g, values, operands, results);
    return status;
}
