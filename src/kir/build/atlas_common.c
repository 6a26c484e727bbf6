/* What all Atlas instructions are built with: numbers as operands, faults with values in their
 * messages, functions made once.
 * Must not know: what an instruction does. */
#include "kir/build/build_internal.h"
#include "kir/builder.h"

kir_value *build_number(build *x, uint32_t inst, uint32_t operand) {
    const hg_operand *o = &hg_inst_operands(x->program, inst)[operand];
    if (!o->is_reg)
        return kir_const(&x->b, o->value > UINT32_MAX ? HG_TYPE_U64 : HG_TYPE_U32, o->value);
    return build_get(x, o->reg, x->types[x->program->insts[inst].operands + operand]);
}

kir_value *build_resize(kir_builder *b, uint8_t type, kir_value *v) {
    uint64_t from = kir_type_bytes(v->type), to = kir_type_bytes(type);
    if (v->type == type) return v;
    return kir_convert(b, from < to ? KIR_ZEXT : KIR_TRUNC, type, v);
}

void build_fault(build *x, kir_value *bad, kir_fault code, uint32_t operand, const char *message,
                 uint8_t count, kir_value *const *values) {
    kir_builder *b = &x->b;
    kir_value *wide[KIR_FAULT_VALUES], *branch = kir_if_begin(b, bad);
    for (uint8_t i = 0; i < count; i++) wide[i] = build_resize(b, HG_TYPE_U64, values[i]);
    kir_fault_if_values(b, kir_const(b, KIR_BOOL, 1), code, (uint8_t)(operand + 1), message, count,
                        wide);
    kir_if_end(b, branch);
}

kir_value *build_is_below(build *x, kir_value *v, uint64_t limit) {
    uint32_t bits = kir_type_bits(v->type);
    if (bits < 64 && limit >> bits != 0) return NULL;
    if (v->op == KIR_CONST && v->u.imm < limit) return NULL;
    return kir_binary(&x->b, KIR_CMP_ULT, v, kir_const(&x->b, v->type, limit));
}

kir_value *build_below(build *x, kir_value *v, uint32_t limit, uint32_t operand,
                       const char *message) {
    kir_value *good = build_is_below(x, v, limit);
    if (!good) return build_resize(&x->b, HG_TYPE_U32, v);
    build_fault(x, kir_not(&x->b, good), KIR_FAULT_ALIGN, operand, message, 1, &v);
    return build_resize(&x->b, HG_TYPE_U32,
                        kir_select(&x->b, good, v, kir_const(&x->b, v->type, 0)));
}

kir_function *build_helper(build *x, const char *name, uint8_t result, uint8_t params,
                           const uint8_t *types, kir_builder *b, bool *fresh) {
    kir_function *f = kir_helper(x->module, name, result, params, types, fresh);
    if (!f) x->b.failed = true;
    kir_builder_init(b, x->module, f);
    return f;
}
