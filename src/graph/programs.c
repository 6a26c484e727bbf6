/* Calls of programs: their parameters are the operands. Arrays that it only writes are results,
 * arrays that it reads and writes are both.
 * Must not know: what the program does. */
#include "graph/request.h"
#include <string.h>

/* What the call gives a scalar, as an extent; GRAPH_NOT_SET: nothing. */
static graph_extent scalar(hg_graph *g, graph_request *r, uint32_t param) {
    const hg_param *p = &r->program->params[param];
    const graph_operand *o = graph_given(r, param);
    if (o && o->kind == GRAPH_COUNT) return o->number;
    if (o || !p->has_default || graph_operand_kind_of(r, param) != GRAPH_COUNT)
        return GRAPH_NOT_SET;
    uint64_t value = 0;
    memcpy(&value, p->default_bytes, hg_type_size_bytes((hg_type)p->type));
    return graph_number(g, value);
}

/* Extents that are a parameter and nothing else tell it. */
static hg_status learn(graph_request *r, const graph_value *v, const hg_param *p) {
    if (p->rank == HG_NO_DIMS || p->rank != v->rank) return HG_OK;
    for (uint8_t d = 0; d < p->rank; d++) {
        const hg_extent *e = &p->dims[d];
        if (e->kind != HG_EXTENT_PARAM || graph_given(r, e->param)) continue;
        if (r->operand_count == HG_COUNT_OF(r->operands))
            return hg_fail(HG_ERROR_INVALID_ARGUMENT, "too many operands");
        r->operands[r->operand_count++] = (graph_operand){
            .operand = (uint8_t)e->param, .kind = GRAPH_COUNT, .number = v->extents[d]};
    }
    return HG_OK;
}

graph_extent graph_translate(hg_graph *g, graph_request *r, const hg_extent *e) {
    graph_extent of[HG_MAX_EXTENT_OPS];
    hg_extent_tree tree;
    if (e->kind == HG_EXTENT_NUMBER) return graph_number(g, e->value);
    if (e->kind == HG_EXTENT_PARAM) return scalar(g, r, e->param);
    if (!hg_extent_tree_make(r->program, e, &tree)) return GRAPH_NOT_SET;
    for (uint32_t i = 0; i <= tree.root; i++) {
        const hg_extent_op *op = &tree.ops[i];
        if (op->kind == HG_EXTENT_OP_NUMBER)
            of[i] = graph_number(g, op->value);
        else if (op->kind == HG_EXTENT_OP_PARAM)
            of[i] = scalar(g, r, op->param);
        else
            of[i] = graph_combine(g, (hg_extent_op_kind)op->kind, of[tree.left[i]],
                                  of[tree.right[i]]);
    }
    return of[tree.root];
}

/* The shape of a result; false: nothing tells it. */
static bool infer_result(hg_graph *g, graph_request *r, uint32_t operand, graph_value *v) {
    const hg_param *p = &r->program->params[operand];
    const graph_operand *before = graph_given(r, operand);
    *v = (graph_value){.source = GRAPH_RESULT, .type = p->type, .rank = p->rank, .line = r->line};
    if (before) {
        const graph_value *of = &g->values.data[before->number];
        v->rank = of->rank;
        memcpy(v->extents, of->extents, sizeof v->extents);
        return true;
    }
    if (p->rank == HG_NO_DIMS) return false;
    for (uint8_t d = 0; d < p->rank; d++) {
        v->extents[d] = graph_translate(g, r, &p->dims[d]);
        if (v->extents[d] == GRAPH_NOT_SET) return false;
    }
    return true;
}

static hg_status check_type(const graph_request *r, const hg_graph *g, uint32_t operand,
                            uint32_t value) {
    const hg_param *p = &r->program->params[operand];
    const graph_value *v = &g->values.data[value];
    if (p->type == v->type) return HG_OK;
    return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%s: %s is %s, %s expected",
                   hg_program_name(r->program), p->name, hg_type_name((hg_type)v->type),
                   hg_type_name((hg_type)p->type));
}

static hg_status check_operands(const hg_graph *g, graph_request *r) {
    for (uint32_t i = 0; i < r->program->param_count; i++) {
        const hg_param *p = &r->program->params[i];
        const graph_operand *o = graph_given(r, i);
        if (p->kind == HG_PARAM_POOL && !p->pool_bytes)
            return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                           "%s: a graph has no pools, which its parameter %s is",
                           hg_program_name(r->program), p->name);
        bool needed = (p->kind == HG_PARAM_BUFFER && p->dir != HG_DIR_OUT) ||
                      (p->kind == HG_PARAM_SCALAR && !p->has_default);
        if (needed && !o)
            return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%s: %s is missing: write %s=…",
                           hg_program_name(r->program), p->name, p->name);
        if (o && p->kind == HG_PARAM_BUFFER && p->dir == HG_DIR_OUT) return graph_refuse_made(r, i);
        if (o && o->kind == GRAPH_ARRAY) HG_TRY(check_type(r, g, i, o->number));
    }
    return HG_OK;
}

hg_status graph_infer_program(hg_graph *g, graph_request *r) {
    r->type = HG_TYPE_COUNT;
    uint32_t arrays = r->operand_count;
    for (uint32_t i = 0; i < arrays; i++)
        if (r->operands[i].kind == GRAPH_ARRAY)
            HG_TRY(learn(r, &g->values.data[r->operands[i].number],
                         &r->program->params[r->operands[i].operand]));
    HG_TRY(check_operands(g, r));
    for (uint32_t i = 0; i < r->operand_count; i++)
        if (r->operands[i].kind == GRAPH_LITERAL)
            HG_TRY(graph_read_literal(g, r, &r->operands[i],
                                      (hg_type)r->program->params[r->operands[i].operand].type));
    for (uint32_t i = 0; i < r->result_count; i++) {
        graph_value v;
        HG_TRY(
            graph_make_result(g, r, i, infer_result(g, r, r->results[i].operand, &v) ? &v : NULL));
        HG_TRY(check_type(r, g, r->results[i].operand, r->results[i].value));
    }
    return HG_OK;
}
