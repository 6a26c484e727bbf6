/* The operands of a row as what a step carries. */
#include "kir/step.h"

kir_step_kind kir_step_kind_of(const hg_op_info *row, uint32_t operand) {
    const hg_operand_info *info = &row->operands[operand];
    switch ((hg_operand_kind)info->kind) {
    case HG_K_ADDRESS:
    case HG_K_ARRAY: return KIR_STEP_ARRAY;
    case HG_K_COUNT: return KIR_STEP_COUNT;
    case HG_K_POOL: return KIR_STEP_HANDLE;
    case HG_K_TUPLE:
    case HG_K_TUPLES: return KIR_STEP_TUPLE;
    case HG_K_LITERAL: return KIR_STEP_SCALAR;
    case HG_K_BOOL:
    case HG_K_U8:
    case HG_K_I8: return KIR_STEP_NUMBER;
    case HG_K_OPNAME: return KIR_STEP_NAME;
    case HG_K_REG:
        if (info->access & HG_WRITE) return KIR_STEP_KINDS;
        return row->flags & HG_F_POOL ? KIR_STEP_HANDLE : KIR_STEP_SCALAR;
    default: return KIR_STEP_KINDS;
    }
}

uint8_t kir_step_next(const hg_op_info *row, kir_step_kind kind, uint8_t after) {
    for (uint32_t i = after; i < row->operand_count; i++)
        if (kir_step_kind_of(row, i) == kind) return (uint8_t)(i + 1);
    return 0;
}

hg_opname kir_step_name(const kir_step *s) {
    for (uint32_t i = 0; s && i < s->count; i++)
        if (s->operands[i].kind == KIR_STEP_NAME) return (hg_opname)s->operands[i].value;
    return HG_OPNAME_COUNT;
}
