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

static hg_status append(hg_graph *g, const graph_request *r) {
    graph_call call = {.op = r->op,
                       .type = r->type,
                       .program = r->program,
                       .first_operand = (uint32_t)g->operands.count,
                       .operand_count = r->operand_count,
                       .first_result = (uint32_t)g->results.count,
                       .result_count = r->result_count,
                       .line = r->line};
    for (uint32_t i = 0; i < r->operand_count; i++) {
        graph_operand *to = hg_vec_push(&g->operands);
        if (!to) return hg_fail_memory();
        *to = r->operands[i];
    }
    for (uint32_t i = 0; i < r->result_count; i++) {
        graph_result *to = hg_vec_push(&g->results);
        if (!to) return hg_fail_memory();
        *to = r->results[i];
        g->values.data[to->value].call = (uint32_t)g->calls.count;
    }
    graph_call *to = hg_vec_push(&g->calls);
    if (!to) return hg_fail_memory();
    *to = call;
    return HG_OK;
}

hg_status graph_add_call(hg_graph *g, graph_request *r) {
    uint64_t values = g->values.count, operands = g->operands.count, results = g->results.count;
    if (g->calls.count >= HG_MAX_GRAPH_CALLS)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "more than %d calls of a graph", HG_MAX_GRAPH_CALLS);
    g->extent_status = HG_OK;
    hg_status status = graph_infer(g, r);
    sort_operands(r);
    if (status == HG_OK) status = append(g, r);
    if (status != HG_OK) graph_cut(g, values, operands, results);
    return status;
}
