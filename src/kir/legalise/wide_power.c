/* Powers of wide integers with a modulus.
 * Requires: called by the pass over wide integers. */
#include "kir/legalise/wide_function.h"

/* Square and multiply, from the exponent's highest bit. 1 mod 1 is 0, and so is everything after
 * it. */
kir_function *wide_powm(rewrite_pass *p, uint8_t type) {
    BEGIN("powm", KIR_VOID, 0, NULL, 4);
    f->h.function->pure = false; /* thousands of products: a device looks at the time between them
                                  */
    if (f->limb == HG_TYPE_U64) set_limbs_op(f->h.function, KIR_DERIVED);
    kir_function *product = wide_mulmod(p, type), *copy = wide_copy(p, type);
    kir_var *power = f->a[0], *exponent = f->a[2], *m = f->a[3], *one = local_array(f, "one"),
            *next = local_array(f, "next"), *left = local(f, HG_TYPE_U32, "left");
    kir_for i = kir_for_begin(b, u32(b, f->n));
    kir_array_set(b, one, i.i, bit(f, equal(b, i.i, u32(b, 0))));
    kir_for_end(b, &i);
    kir_call(b, product, 0, NULL, (kir_var *[]){power, one, one, m});
    kir_set(b, left, u32(b, f->n * f->bits));
    for (int run = 0; run < 2; run++) { /* past the zeros in front; over the rest */
        kir_value *loop = kir_loop_begin(b, run == 0);
        kir_value *n = kir_get(b, left), *done = kir_if_begin(b, equal(b, n, u32(b, 0)));
        kir_break(b);
        kir_if_end(b, done);
        n = kir_sub(b, n, u32(b, 1));
        uint32_t log_bits = f->bits == 64 ? 6 : 5;
        kir_value *word = at(f, exponent, shift_by(b, KIR_LSHR, n, log_bits)),
                  *place = kir_binary(b, KIR_AND, n, u32(b, f->bits - 1));
        kir_value *set = kir_not(
            b, equal(b, kir_binary(b, KIR_AND, kir_binary(b, KIR_LSHR, word, place), limb(f, 1)),
                     limb(f, 0)));
        if (run == 0) {
            kir_value *first = kir_if_begin(b, set);
            kir_break(b);
            kir_if_end(b, first);
            kir_set(b, left, n);
        } else {
            kir_set(b, left, n);
            kir_call(b, product, 0, NULL, (kir_var *[]){next, power, power, m});
            kir_value *odd = kir_if_begin(b, set);
            kir_call(b, product, 0, NULL, (kir_var *[]){power, next, f->a[1], m});
            kir_if_else(b, odd);
            kir_call(b, copy, 0, NULL, (kir_var *[]){power, next});
            kir_if_end(b, odd);
        }
        kir_loop_end(b, loop);
    }
    return wide_end(p, f);
}
