/* The check of an axis, from its meaning: exact numbers, extents from what the launch was given. */
#include "reference/ref_internal.h"
#include "oracle/oracle.h"

#include <string.h>

/* An integer of up to 64 bits. */
static hg_i128 integer(hg_type type, const uint8_t *bytes) {
    uint64_t bits = 0;
    memcpy(&bits, bytes, oracle_size(type));
    uint32_t width = 8 * oracle_size(type);
    bool negative = oracle_is_signed(type) && bits >> (width - 1) & 1;
    return negative ? (hg_i128)bits - ((hg_i128)1 << width) : (hg_i128)bits;
}

static hg_i128 scalar(const ref_machine *m, uint16_t param) {
    const hg_param *p = &m->program->params[param];
    return integer((hg_type)p->type, m->start_values[p->reg]);
}

static hg_i128 applied(uint8_t kind, hg_i128 a, hg_i128 b) {
    switch (kind) {
    case HG_EXTENT_OP_ADD: return a + b;
    case HG_EXTENT_OP_SUB: return a - b;
    case HG_EXTENT_OP_MUL: return a * b;
    case HG_EXTENT_OP_DIV: return b ? a / b : 0;
    case HG_EXTENT_OP_CEIL_DIV: return b ? (a + b - 1) / b : 0;
    case HG_EXTENT_OP_MIN: return a < b ? a : b;
    default: return a > b ? a : b;
    }
}

static hg_i128 extent(const ref_machine *m, const hg_extent *e) {
    if (e->kind == HG_EXTENT_NUMBER) return e->value;
    if (e->kind == HG_EXTENT_PARAM) return scalar(m, e->param);
    hg_i128 stack[HG_MAX_EXTENT_OPS + 1] = {0};
    uint32_t height = 0;
    for (uint32_t i = 0; i < e->op_count; i++) {
        const hg_extent_op *op = &m->program->extent_ops[e->value + i];
        if (op->kind == HG_EXTENT_OP_NUMBER)
            stack[height++] = op->value;
        else if (op->kind == HG_EXTENT_OP_PARAM)
            stack[height++] = scalar(m, op->param);
        else
            height--, stack[height - 1] = applied(op->kind, stack[height - 1], stack[height]);
    }
    return stack[0];
}

static hg_i128 declared(const ref_machine *m, uint8_t reg, uint64_t axis) {
    hg_i128 all = 1;
    for (uint32_t i = 0; i < m->program->param_count; i++) {
        const hg_param *p = &m->program->params[i];
        if (p->reg != reg) continue;
        if (axis != HG_ALL_AXES) return extent(m, &p->dims[axis]);
        for (uint8_t k = 0; k < p->rank; k++) all *= extent(m, &p->dims[k]);
    }
    return all;
}

ref_next ref_axis(ref_machine *m, ref_lane *lane, const hg_inst *inst) {
    const hg_operand *o = hg_inst_operands(m->program, lane->pc);
    uint32_t at = inst->op == HG_OP_AXIS_FIRST ? 1 : 2;
    const uint8_t *index = ref_read(m, lane, o[at].reg, (hg_type)inst->type), *before = NULL,
                  *given = NULL;
    if (at == 2) before = ref_read(m, lane, o[1].reg, HG_TYPE_U64);
    if (!index || (at == 2 && !before)) return NEXT_BROKEN;
    const hg_operand *own = &o[at + 3];
    hg_i128 limit, i = integer((hg_type)inst->type, index);
    if (hg_operand_is_missing(own)) {
        limit = declared(m, o[at + 1].reg, o[at + 2].value);
    } else if (own->is_reg) {
        hg_type type = lane->types[own->reg] == HG_TYPE_U32 ? HG_TYPE_U32 : HG_TYPE_U64;
        if (!(given = ref_read(m, lane, own->reg, type))) return NEXT_BROKEN;
        limit = integer(type, given);
    } else {
        limit = own->value;
    }
    if (i < 0 || i >= limit)
        return ref_fail(m, lane, lane->pc, at + 1, "F01", "index outside of axis %llu",
                        (unsigned long long)o[at + 2].value);
    uint64_t result = (uint64_t)i;
    if (before) result += (uint64_t)integer(HG_TYPE_U64, before) * (uint64_t)limit;
    ref_write_uint(m, lane, o[0].reg, HG_TYPE_U64, result);
    return NEXT_FOLLOWING;
}
