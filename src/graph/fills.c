/* What programs write. Those that write every element of what they make, one lane an element and
 * each its own before anything can part the lanes, do not need memory that begins as zeros; those
 * that write more than they make are never left out. Must not know: devices. */
#include "graph/formula.h"
#include "graph/request.h"

enum { GLOBAL = 255 }; /* the register that has the lane's number, unless the program writes it */

/* Whether an operand uses what the register holds. */
static bool uses(const hg_operand *o, const hg_operand_info *info, uint8_t reg) {
    bool place = (info->kind == HG_K_ADDRESS || info->kind == HG_K_ARRAY) &&
                 (o->place == HG_PLACE_BUF_REG || o->place == HG_PLACE_POOL_REG ||
                  o->place == HG_PLACE_BARE);
    bool number = (info->kind == HG_K_REG && (info->access & HG_READ)) ||
                  (info->kind == HG_K_COUNT && o->is_reg);
    if (info->kind == HG_K_ADDRESS && o->has_index && o->index == reg) return true;
    return (place || number) && o->reg == reg;
}

static bool is_used(const hg_program *p, uint32_t inst, uint8_t reg) {
    const hg_op_info *row = hg_op_get((hg_op)p->insts[inst].op);
    const hg_operand *o = hg_inst_operands(p, inst);
    for (uint32_t i = 0; i < row->operand_count; i++)
        if (uses(&o[i], &row->operands[i], reg)) return true;
    return false;
}

/* "stg [array[global]], …" of whole elements. */
static bool stores_own(const hg_program *p, uint32_t inst, const hg_param *array) {
    const hg_operand *o = hg_inst_operands(p, inst);
    return p->insts[inst].op == HG_OP_STG && p->insts[inst].type == array->type &&
           o[0].place == HG_PLACE_BUF_REG && o[0].reg == array->reg && o[0].has_index &&
           o[0].index == GLOBAL && o[0].scale == hg_type_size_bytes((hg_type)array->type) &&
           o[0].disp == 0;
}

/* Registers come from nowhere else than the operands that are written. */
static bool changes(const hg_program *p, uint32_t inst, uint8_t reg) {
    const hg_op_info *row = hg_op_get((hg_op)p->insts[inst].op);
    const hg_operand *o = hg_inst_operands(p, inst);
    for (uint32_t i = 0; i < row->operand_count; i++)
        if (row->operands[i].kind == HG_K_REG && (row->operands[i].access & HG_WRITE) &&
            o[i].reg == reg)
            return true;
    return false;
}

/* The array is used by nothing but stores of the lane's own element, the first of which every lane
 * reaches. */
static bool fills(const hg_program *p, const hg_param *array) {
    bool straight = true, stored = false;
    for (uint32_t i = 0; i < p->inst_count; i++) {
        uint32_t flags = hg_op_get((hg_op)p->insts[i].op)->flags;
        if (flags & (HG_F_RUN | HG_F_COLLECTIVE))
            return false; /* registers and arrays beside the operands */
        if (flags & (HG_F_CONTROL | HG_F_BARRIER)) straight = false;
        if (stores_own(p, i, array))
            stored |= straight;
        else if (is_used(p, i, array->reg) || (changes(p, i, GLOBAL) && !stored))
            return false;
        if (changes(p, i, array->reg)) return stored;
    }
    return stored;
}

/* As many lanes as elements, by the extents that the call has. */
static bool has_lane_each(hg_graph *g, graph_request *r, const graph_value *made) {
    graph_extent lanes = GRAPH_NOT_SET;
    for (uint32_t i = 0; i < r->program->lanes_count; i++) {
        graph_extent e = graph_translate(g, r, &r->program->lanes[i]);
        lanes = i ? graph_combine(g, HG_EXTENT_OP_MUL, lanes, e) : e;
    }
    return lanes != GRAPH_NOT_SET && lanes == made->elements;
}

bool graph_fills(hg_graph *g, graph_request *r) {
    graph_formula f;
    bool formula = r->result_count == 1 && graph_find_formula(r->program, &f);
    for (uint32_t i = 0; i < r->result_count; i++) {
        const hg_param *p = &r->program->params[r->results[i].operand];
        if (graph_given(r, r->results[i].operand)) continue; /* it has contents */
        if (!has_lane_each(g, r, &g->values.data[r->results[i].value])) return false;
        if (!(formula && f.result == r->results[i].operand) && !fills(r->program, p)) return false;
    }
    return true;
}

/* Memory that stays when the program is over, and that no parameter names. */
static bool is_elsewhere(const hg_operand *o) {
    static const uint8_t places[] = {HG_PLACE_BUF, HG_PLACE_POOL, HG_PLACE_CLASS, HG_PLACE_PHI,
                                     HG_PLACE_FLAT};
    for (size_t i = 0; i < HG_COUNT_OF(places); i++)
        if (o->place == places[i]) return true;
    return false;
}

bool graph_writes_more(const hg_program *p) {
    for (uint32_t i = 0; i < p->inst_count; i++) {
        const hg_op_info *row = hg_op_get((hg_op)p->insts[i].op);
        const hg_operand *o = hg_inst_operands(p, i);
        if (row->flags & HG_F_ATLAS) return true; /* phases and resonance of the context */
        for (uint32_t k = 0; k < row->operand_count; k++) {
            bool array = row->operands[k].kind == HG_K_ADDRESS ||
                         row->operands[k].kind == HG_K_ARRAY;
            if (array && (row->operands[k].access & HG_WRITE) && is_elsewhere(&o[k])) return true;
        }
    }
    return false;
}
