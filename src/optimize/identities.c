/* Operations of integers that change nothing, or give zero, when one operand is known or both are
 * the same register. Floats have none: x + 0 turns -0 into +0, x * 1 changes the bits of a
 * signalling NaN. */
#include "optimize/optimize.h"

#include <string.h>

static bool is_number(const uint8_t *bytes, uint8_t type, uint8_t low) {
    if (!bytes || bytes[0] != low) return false;
    for (uint64_t i = 1; i < hg_type_size_bytes((hg_type)type); i++)
        if (bytes[i]) return false;
    return true;
}

static bool is_all_ones(const uint8_t *bytes, uint8_t type) {
    for (uint64_t i = 0; bytes && i < hg_type_size_bytes((hg_type)type); i++)
        if (bytes[i] != 0xFF) return false;
    return bytes != NULL;
}

/* A shift by a multiple of the width. */
static bool is_no_shift(const uint8_t *bytes, uint8_t type) {
    if (!bytes) return false;
    uint64_t amount = (uint64_t)bytes[0] | (uint64_t)bytes[1] << 8 | (uint64_t)bytes[2] << 16 |
                      (uint64_t)bytes[3] << 24;
    return amount % (8 * hg_type_size_bytes((hg_type)type)) == 0;
}

static bool to_zero(optimize_edit *e, uint32_t inst, uint8_t type, uint8_t d) {
    static const uint8_t zeros[HG_MAX_LITERAL_BYTES];
    return optimize_to_literal(e, inst, type, d, zeros);
}

bool optimize_identity(optimize_edit *e, uint32_t inst, optimize_known *known, void *user) {
    const hg_inst in = e->program->insts[inst];
    const hg_op_info *row = hg_op_get((hg_op)in.op);
    uint8_t type = in.type;
    if (in.op == HG_OP_SEL) {
        const hg_operand *o = optimize_operands(e, inst);
        return o[2].reg != o[3].reg || optimize_to_mov(e, inst, type, o[0].reg, o[2].reg);
    }
    if (type >= HG_TYPE_COUNT || !hg_type_is_integer((hg_type)type) || row->operand_count != 3 ||
        row->operands[1].kind != HG_K_REG || row->operands[2].kind != HG_K_REG)
        return true;
    const hg_operand *o = optimize_operands(e, inst);
    uint8_t d = o[0].reg, a = o[1].reg, b = o[2].reg,
            type_b = row->operands[2].rule == HG_R_U32 ? HG_TYPE_U32 : type;
    const uint8_t *x = known(user, a, type), *y = known(user, b, type_b);
    switch ((hg_op)in.op) {
    case HG_OP_ADD:
    case HG_OP_ADDS:
        if (is_number(y, type, 0)) return optimize_to_mov(e, inst, type, d, a);
        return !is_number(x, type, 0) || optimize_to_mov(e, inst, type, d, b);
    case HG_OP_SUB:
    case HG_OP_SUBS:
        if (is_number(y, type, 0)) return optimize_to_mov(e, inst, type, d, a);
        return a != b || to_zero(e, inst, type, d);
    case HG_OP_MUL:
        if (is_number(y, type, 1) || is_number(x, type, 0))
            return optimize_to_mov(e, inst, type, d, a);
        return !(is_number(x, type, 1) || is_number(y, type, 0)) ||
               optimize_to_mov(e, inst, type, d, b);
    case HG_OP_DIV: return !is_number(y, type, 1) || optimize_to_mov(e, inst, type, d, a);
    case HG_OP_AND:
        if (a == b || is_all_ones(y, type) || is_number(x, type, 0))
            return optimize_to_mov(e, inst, type, d, a);
        return !(is_all_ones(x, type) || is_number(y, type, 0)) ||
               optimize_to_mov(e, inst, type, d, b);
    case HG_OP_OR:
        if (a == b || is_number(y, type, 0) || is_all_ones(x, type))
            return optimize_to_mov(e, inst, type, d, a);
        return !(is_number(x, type, 0) || is_all_ones(y, type)) ||
               optimize_to_mov(e, inst, type, d, b);
    case HG_OP_XOR:
        if (a == b) return to_zero(e, inst, type, d);
        if (is_number(y, type, 0)) return optimize_to_mov(e, inst, type, d, a);
        return !is_number(x, type, 0) || optimize_to_mov(e, inst, type, d, b);
    case HG_OP_MIN:
    case HG_OP_MAX: return a != b || optimize_to_mov(e, inst, type, d, a);
    case HG_OP_SHL:
    case HG_OP_SHR:
    case HG_OP_ROTL:
    case HG_OP_ROTR: return !is_no_shift(y, type) || optimize_to_mov(e, inst, type, d, a);
    default: return true;
    }
}
