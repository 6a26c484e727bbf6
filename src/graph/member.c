/* Which calls can be one of a group of maps: maps, and programs that are formulas.
 * Must not know: which calls are a group. */
#include "graph/maps.h"

uint32_t graph_whole(const hg_graph *g, uint32_t value) {
    for (;;) {
        const graph_value *v = &g->values.data[value];
        uint64_t offset;
        if (v->source != GRAPH_VIEW || v->strided || !graph_is_number(g, v->offset, &offset) ||
            offset || g->values.data[v->of].elements != v->elements ||
            g->values.data[v->of].type != v->type)
            return value;
        value = v->of;
    }
}

static bool map_joins(const hg_graph *g, const graph_call *c, graph_member *m) {
    m->count = graph_map_inputs(c);
    if (!m->count) return false;
    m->elements = graph_operand_of(g, c, m->count + 2)->number;
    m->own = (1u << m->count) - 1;
    hg_op op = hg_opname_op(graph_map_name(g, c));
    if (!plan_map_joins(kir_fn_of_name(graph_map_name(g, c)), (hg_type)c->type)) return false;
    if (op != HG_OP_NONE && !hg_op_allows_type(op, (hg_type)c->type)) return false;
    if (g->values.data[graph_map_result(g, c)].elements != m->elements) return false;
    for (uint32_t i = 0; i < m->count; i++) {
        m->inputs[i] = graph_whole(g, graph_operand_of(g, c, i + 1)->number);
        if (g->values.data[m->inputs[i]].elements != m->elements) return false;
    }
    return true;
}

static bool is_extent(const hg_graph *g, const graph_call *c, const hg_extent *e, graph_extent is) {
    uint64_t number;
    const graph_operand *o = e->kind == HG_EXTENT_PARAM ? graph_operand_of(g, c, e->param) : NULL;
    if (o) return o->kind == GRAPH_COUNT && o->number == is;
    return e->kind == HG_EXTENT_NUMBER && graph_is_number(g, is, &number) && number == e->value;
}

/* An array that is another one than the program declares is an error where it runs by itself. What
 * a call makes has the shape that it declares, unless the call says another. */
static bool is_declared(const hg_graph *g, const graph_call *c, uint32_t param, uint32_t value) {
    const hg_param *p = &c->program->params[param];
    const graph_value *v = &g->values.data[value];
    bool is = p->rank == HG_NO_DIMS || p->rank == v->rank;
    for (uint8_t d = 0; d < p->rank && p->rank != HG_NO_DIMS && is; d++)
        is = is_extent(g, c, &p->dims[d], v->extents[d]) ||
             (p->dir == HG_DIR_OUT && p->dims[d].kind == HG_EXTENT_EXPRESSION);
    return is;
}

/* What lanes read from elsewhere may be outside: the error of the launch names the group then. */
static bool formula_joins(const hg_graph *g, const graph_call *c, graph_member *m,
                          graph_formula *f) {
    uint64_t number;
    if (!c->program || !c->whole || c->made || c->writes_more || c->result_count != 1 ||
        !graph_find_formula(c->program, f) || f->registers > GRAPH_FORMULA_REGISTERS ||
        g->results.data[c->first_result].operand != f->result)
        return false;
    if (!is_declared(g, c, f->result, graph_map_result(g, c))) return false;
    m->elements = g->values.data[graph_map_result(g, c)].elements;
    for (uint32_t k = 0; k < c->operand_count; k++) {
        const graph_operand *o = &g->operands.data[c->first_operand + k];
        bool known = o->kind == GRAPH_COUNT && graph_is_number(g, o->number, &number);
        if (o->kind == GRAPH_COUNT && c->program->params[o->operand].type == HG_TYPE_U32 &&
            !(known && number <= UINT32_MAX))
            return false; /* it may be more than that holds, which is an error */
        m->numbers += o->kind == GRAPH_COUNT && !known;
        if (o->kind != GRAPH_ARRAY) continue;
        if (m->count == MOST_INPUTS || g->values.data[o->number].strided ||
            !is_declared(g, c, o->operand, o->number))
            return false;
        m->params[m->count] = o->operand;
        m->inputs[m->count] = graph_whole(g, o->number);
        if ((f->loads >> o->operand & 1) &&
            g->values.data[m->inputs[m->count]].elements == m->elements)
            m->own |= 1u << m->count;
        m->count++;
    }
    return m->numbers <= MOST_NUMBERS;
}

bool graph_member_of(const hg_graph *g, const graph_call *c, graph_member *m,
                     graph_formula *formula) {
    *m = (graph_member){.elements = GRAPH_NOT_SET};
    if (c->program ? formula_joins(g, c, m, formula) : map_joins(g, c, m)) return true;
    *m = (graph_member){.elements = GRAPH_NOT_SET};
    return false;
}
