/* How the functions on arrays of limbs are begun, and the one that several others call.
 * Requires: called by the pass over wide integers. */
#include "kir/legalise/wide_function.h"
#include <stdio.h>

bool wide_begin(rewrite_pass *p, wf *f, const char *what, uint8_t type, const char *more,
                uint8_t result, uint8_t scalars, const uint8_t *types, uint8_t arrays) {
    return wide_begin_limbs(p, f, what, type, wide_limbs(p, type), more, result, scalars, types,
                            arrays);
}

bool wide_begin_limbs(rewrite_pass *p, wf *f, const char *what, uint8_t type, uint32_t limbs,
                      const char *more, uint8_t result, uint8_t scalars, const uint8_t *types,
                      uint8_t arrays) {
    char name[64];
    snprintf(name, sizeof name, "%s_%s%s", what, kir_type_name(type), more);
    f->h = rewrite_helper_begin(p, name, result, scalars, types);
    if (!f->h.fresh) return false;
    f->limb = wide(p)->limb;
    f->bits = wide(p)->limb_bits;
    f->n = limbs;
    for (uint8_t i = 0; i < arrays; i++)
        if (!kir_array_param(f->h.function, f->limb, f->n,
                             i == 0   ? "r"
                             : i == 1 ? "a"
                             : i == 2 ? "b"
                                      : "c"))
            f->h.b.failed = true;
    f->a = f->h.function->array_params;
    return true;
}

kir_function *wide_end(rewrite_pass *p, wf *f) {
    if (f->h.fresh) rewrite_helper_end(p, &f->h);
    return f->h.function;
}

/* r = flag ? -a : a. */
kir_function *wide_negate_if(rewrite_pass *p, uint8_t type) {
    const uint8_t types[] = {HG_TYPE_U32};
    BEGIN("negate_if", KIR_VOID, 1, types, 2);
    kir_value *flag = kir_not(b, equal(b, kir_param(b, 0), u32(b, 0)));
    kir_value *mask = kir_select(b, flag, kir_sub(b, limb(f, 0), limb(f, 1)), limb(f, 0));
    kir_var *carry = local(f, f->limb, "carry");
    kir_set(b, carry, bit(f, flag));
    kir_for i = kir_for_begin(b, u32(b, f->n));
    kir_value *x = kir_binary(b, KIR_XOR, at(f, f->a[1], i.i), mask), *c = kir_get(b, carry),
              *t = kir_add(b, x, c);
    kir_array_set(b, f->a[0], i.i, t);
    kir_set(b, carry, bit(f, below(b, t, c)));
    kir_for_end(b, &i);
    return wide_end(p, f);
}
