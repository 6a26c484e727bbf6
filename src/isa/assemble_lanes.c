/* The coordinates of a lane (language.md 5.4): `.lanes [i < rows, j < cols]` numbers the lanes in
 * row order, the last axis fastest, and instructions in front of the first one of the text take the
 * coordinates out of that number: of axes k, rest = global, then from the last one
 * coordinate = rest % extent, rest = rest / extent. The one of the first axis is what is left, so
 * that lanes beyond the product of the extents are in no row twice.
 * Must not know: syntax. */
#include "isa/assemble_inst.h"

static bool number(hg_assembler *a, const hg_token *at, uint64_t value, hg_register *reg) {
    return hg_asm_temporary(a, HG_TYPE_U64, false, reg) &&
           hg_asm_emit_number(a, at, *reg, HG_TYPE_U64, value, at, at);
}

/* d = x op y, in a register of its own. */
static bool binary(hg_assembler *a, const hg_token *at, hg_op op, hg_register x, hg_register y,
                   hg_register *d) {
    return hg_asm_temporary(a, HG_TYPE_U64, false, d) &&
           hg_asm_emit_binary(a, at, op, HG_TYPE_U64, *d, x, y);
}

/* A parameter as a u64. False: the name is not that of a parameter, as hg_asm_resolve_extents says.
 */
static bool parameter(hg_assembler *a, const hg_token *at, const hg_token *name, hg_register *reg) {
    const hg_named *found = hg_asm_find_named(a, name);
    if (!found || found->param == HG_UNDEFINED) return false;
    const hg_register from = {found->first, found->number, found->type};
    *reg = from;
    if (from.type != HG_TYPE_U32) return true;
    return hg_asm_temporary(a, HG_TYPE_U64, false, reg) &&
           hg_asm_emit(a, HG_OP_CVT, HG_TYPE_U64, HG_TYPE_U32, at) &&
           hg_asm_emit_register(a, *reg, false, HG_WRITE, at) &&
           hg_asm_emit_register(a, from, false, HG_READ, at);
}

/* x / y rounded up: the quotient, and one more where something is left. */
static bool round_up(hg_assembler *a, const hg_token *at, hg_register x, hg_register y,
                     hg_register *d) {
    hg_register quotient, rest, one, more;
    return binary(a, at, HG_OP_DIV, x, y, &quotient) && binary(a, at, HG_OP_REM, x, y, &rest) &&
           number(a, at, 1, &one) && binary(a, at, HG_OP_MIN, rest, one, &more) &&
           binary(a, at, HG_OP_ADD, quotient, more, d);
}

static bool operation(hg_assembler *a, const hg_token *at, uint8_t kind, hg_register x,
                      hg_register y, hg_register *d) {
    switch ((hg_extent_op_kind)kind) {
    case HG_EXTENT_OP_ADD: return binary(a, at, HG_OP_ADD, x, y, d);
    case HG_EXTENT_OP_SUB: return binary(a, at, HG_OP_SUB, x, y, d);
    case HG_EXTENT_OP_MUL: return binary(a, at, HG_OP_MUL, x, y, d);
    case HG_EXTENT_OP_DIV: return binary(a, at, HG_OP_DIV, x, y, d);
    case HG_EXTENT_OP_MIN: return binary(a, at, HG_OP_MIN, x, y, d);
    case HG_EXTENT_OP_MAX: return binary(a, at, HG_OP_MAX, x, y, d);
    default: return round_up(a, at, x, y, d);
    }
}

/* The extent of an axis in a register. */
static bool extent(hg_assembler *a, const hg_lane_axis *axis, hg_register *reg) {
    hg_register stack[2 * HG_MAX_EXTENT_OPS];
    uint32_t height = 0;
    for (uint32_t i = axis->first; i < axis->first + axis->ops; i++) {
        const hg_lane_op *op = &a->lanes.ops.data[i];
        bool good;
        if (op->kind == HG_EXTENT_OP_NUMBER) {
            good = number(a, &axis->name, op->value, &stack[height++]);
        } else if (op->kind == HG_EXTENT_OP_PARAM) {
            good = parameter(a, &axis->name, &op->token, &stack[height++]);
        } else {
            hg_register y = stack[--height], x = stack[height - 1];
            good = operation(a, &axis->name, op->kind, x, y, &stack[height - 1]);
        }
        if (!good) return false;
    }
    *reg = stack[0];
    return true;
}

/* Those that the text reads. */
static bool work_out(hg_assembler *a) {
    const uint32_t used = ~a->lanes.unused;
    hg_register rest;
    if (!hg_asm_global(a, &a->lanes.axes[0].name, &rest)) return false;
    for (uint32_t k = a->lanes.count; k-- > 1 && used & ((UINT32_C(2) << k) - 1);) {
        const hg_lane_axis *axis = &a->lanes.axes[k];
        const bool goes_on = used & ((UINT32_C(1) << k) - 1);
        hg_register by, left = a->lanes.axes[0].reg;
        if (!extent(a, axis, &by)) return false;
        if (used >> k & 1 &&
            !hg_asm_emit_binary(a, &axis->name, HG_OP_REM, HG_TYPE_U64, axis->reg, rest, by))
            return false;
        if (!goes_on) return true;
        if (k > 1 && !hg_asm_temporary(a, HG_TYPE_U64, false, &left)) return false;
        if (!hg_asm_emit_binary(a, &axis->name, HG_OP_DIV, HG_TYPE_U64, left, rest, by))
            return false;
        rest = left;
    }
    return true;
}

void hg_asm_begin_code(hg_assembler *a) {
    if (a->head.statements) return;
    a->head.statements = true;
    if (!a->lanes.count) return;
    if (a->head.entry.length)
        hg_asm_error(a, "D03", &a->head.entry, "begin with a jump to it",
                     ".entry with coordinates in .lanes, which the first instructions work out");
    (void)work_out(a);
    a->lanes.end = (uint32_t)a->code.insts.count;
}

uint32_t hg_asm_unused_lanes(const hg_assembler *a) {
    uint32_t unused = a->lanes.count > 1 ? (UINT32_C(1) << a->lanes.count) - 1 : 0;
    for (uint64_t i = 0; unused && i < a->registers.uses.count; i++) {
        const hg_use *use = &a->registers.uses.data[i];
        for (uint32_t k = 0; use->inst >= a->lanes.end && k < a->lanes.count; k++)
            if (use->virtual_number == a->lanes.axes[k].reg.virtual_number)
                unused &= ~(UINT32_C(1) << k);
    }
    return unused;
}
