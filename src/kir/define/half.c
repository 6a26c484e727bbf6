/* f16 and bf16: widening, narrowing, and the multiply-add that is rounded once (semantics 0.3), in
 * f32 alone.
 * Must not know: targets, instructions. */
#include "kir/define/define_internal.h"
#include "kir/builder.h"
#include "kir/define/define.h"

kir_value *kir_widen_half(kir_builder *b, hg_type half, kir_value *v) {
    return kir_convert(b, half == HG_TYPE_F16 ? KIR_H2F : KIR_B2F, HG_TYPE_F32, v);
}

kir_value *kir_narrow_half(kir_builder *b, hg_type half, kir_value *v) {
    return kir_convert(b, half == HG_TYPE_F16 ? KIR_F2H : KIR_F2B, HG_TYPE_U16, v);
}

/* v, rounded to nearest, as rounded to odd: where v is even and the exact number is above (below)
 * it, the float next to v on that side. */
static kir_value *made_odd(kir_builder *b, kir_value *v, kir_value *above, kir_value *below) {
    kir_value *bits = bits_of(b, v), *one = kir_const(b, bits->type, 1),
              *none = kir_const(b, bits->type, 0);
    kir_value *last = kir_binary(b, KIR_AND, bits, one),
              *even = kir_binary(b, KIR_CMP_EQ, last, none);
    kir_value *negative = kir_binary(b, KIR_CMP_SLT, bits, none);
    kir_value *away = kir_binary(b, KIR_XOR, above, negative); /* the exact number is further from
                                                                  zero */
    kir_value *up = kir_add(b, bits, one), *down = kir_sub(b, bits, one),
              *odd = kir_select(b, away, up, down);
    kir_value *inexact = kir_binary(b, KIR_OR, above, below);
    inexact = kir_binary(b, KIR_AND, inexact, even);
    return real_of(b, kir_select(b, inexact, odd, bits));
}

/* The error of a sum is a float (Knuth, TAOCP 2, 4.2.2); of a sum that is not finite it is a NaN,
 * which is neither above nor below. */
kir_value *kir_add_to_odd(kir_builder *b, kir_value *x, kir_value *y) {
    kir_value *s = kir_add(b, x, y), *t = kir_sub(b, s, x);
    kir_value *e = kir_sub(b, x, kir_sub(b, s, t));
    e = kir_add(b, e, kir_sub(b, y, t));
    kir_value *zero = kir_const(b, x->type, 0);
    kir_value *above = kir_binary(b, KIR_FCMP_LT, zero, e),
              *below = kir_binary(b, KIR_FCMP_LT, e, zero);
    return made_odd(b, s, above, below);
}

static kir_value *magnitude_of(kir_builder *b, kir_value *x) {
    return int_and(b, bits_of(b, x), 0x7FFFFFFF);
}

/* scaled is a quarter of a product; where it overflows though its factors are finite, it is the
 * largest number. */
static kir_value *quarter_of(kir_builder *b, kir_value *scaled, kir_value *large_magnitude) {
    kir_value *bits = bits_of(b, scaled), *infinity = kir_const(b, HG_TYPE_U32, 0x7F800000);
    kir_value *infinite = kir_binary(b, KIR_CMP_EQ, int_and(b, bits, 0x7FFFFFFF), infinity);
    kir_value *finite = kir_binary(b, KIR_CMP_ULT, large_magnitude, infinity);
    kir_value *over = kir_binary(b, KIR_AND, infinite, finite);
    return real_of(b, kir_select(b, over, int_add(b, bits, UINT32_MAX), bits));
}

/* a b + c of widened bf16, so that rounding the result to bf16 is the one rounding. The product has
 * 16 bits, and its exponent may leave f32: at least 2^64   a quarter of everything is added. A
 * product that is then still too large is the largest number: with any finite c the sum is beyond
 * bf16, with an infinite one that. else            a product below 2^-126 is rounded to odd at
 * 2^-149. c and all that a bf16 is rounded at are multiples of 2^-134, so the sum lies on the same
 * side of them. The exact product times 2^124, of the smaller factor times that, shows the error;
 *                   where that overflows, the scaled product does too, and neither is the larger.
 */
kir_value *define_fma_bf16(kir_builder *b, hg_type type, kir_value *const *arg) {
    (void)type;
    kir_value *x = arg[0], *y = arg[1], *c = arg[2];
    kir_value *mx = magnitude_of(b, x), *my = magnitude_of(b, y),
              *swap = kir_binary(b, KIR_CMP_ULT, mx, my);
    kir_value *large = kir_select(b, swap, y, x), *small = kir_select(b, swap, x, y);
    kir_value *product = kir_mul(b, x, y), *limit = kir_const(b, HG_TYPE_U32, 0x5F7FFFFF);
    kir_value *big = kir_binary(b, KIR_CMP_ULT, limit, magnitude_of(b, product));
    kir_value *quarter = kir_f32(b, 0.25f), *much = kir_f32(b, 0x1p124f), *one = kir_f32(b, 1.0f),
              *four = kir_f32(b, 4.0f);

    kir_value *first = kir_select(b, big, large, small), *second = kir_select(b, big, small, large);
    kir_value *scaled = kir_mul(b, first, kir_select(b, big, quarter, much));
    scaled = kir_mul(b, scaled, second);
    kir_value *again = kir_mul(b, product, much);
    kir_value *above = kir_binary(b, KIR_FCMP_LT, again, scaled),
              *below = kir_binary(b, KIR_FCMP_LT, scaled, again);
    kir_value *odd = made_odd(b, product, above, below);
    kir_value *part = quarter_of(b, scaled, kir_select(b, swap, my, mx));

    kir_value *addend = kir_mul(b, c, kir_select(b, big, quarter, one));
    kir_value *sum = kir_add_to_odd(b, kir_select(b, big, part, odd), addend);
    return kir_mul(b, sum, kir_select(b, big, four, one));
}

/* Of f16 the product is a normal f32, exactly, and the sum as well. */
kir_value *kir_fma_half(kir_builder *b, hg_type half, kir_value *const *w) {
    kir_value *sum = half == HG_TYPE_F16 ? kir_add_to_odd(b, kir_mul(b, w[0], w[1]), w[2])
                                         : kir_derived(b, KIR_FN_FMA_BF16, HG_TYPE_F32, 3, w);
    return kir_narrow_half(b, half, sum);
}

/* Of an x whose half is subnormal: gelu and swish are x/2 and a little more, towards positive
 * infinity. */
static kir_value *half_of_small(kir_builder *b, hg_type half, kir_value *x, kir_value *r) {
    kir_value *m = int_and(b, x, 0x7FFF), *sign = int_and(b, x, 0x8000);
    kir_value *least = kir_const(b, HG_TYPE_U16, half == HG_TYPE_F16 ? 0x800 : 0x100);
    kir_value *one = kir_const(b, HG_TYPE_U16, 1), *none = kir_const(b, HG_TYPE_U16, 0);
    kir_value *more = kir_select(b, kir_binary(b, KIR_CMP_EQ, sign, none), one, none);
    kir_value *small = int_or(b, int_shr(b, kir_add(b, m, more), 1), sign);
    return kir_select(b, kir_binary(b, KIR_CMP_ULT, m, least), small, r);
}

kir_value *kir_correct_half(kir_builder *b, uint16_t fn, hg_type half, kir_value *x, kir_value *r) {
    static const struct {
        uint16_t fn, type, x, result;
    } LIST[] = {
#define HALF(fn, type, x, result) {HG_OP_##fn, HG_TYPE_##type, x, result},
#include "kir/define/halves.def"
#undef HALF
    };
    if (fn == HG_OP_GELU || fn == HG_OP_SWISH) r = half_of_small(b, half, x, r);
    for (size_t i = 0; i < HG_COUNT_OF(LIST); i++) {
        if (LIST[i].fn != fn || LIST[i].type != half) continue;
        kir_value *is = kir_binary(b, KIR_CMP_EQ, x, kir_const(b, HG_TYPE_U16, LIST[i].x));
        r = kir_select(b, is, kir_const(b, HG_TYPE_U16, LIST[i].result), r);
    }
    return r;
}
