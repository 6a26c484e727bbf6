/* RSQRT CBRT HYPOT of F64: roots and a correction by what is left of the square or cube.
 * Must not know: targets. */
#include "kir/define/coefficients.h"
#include "kir/define/real.h"
#include "kir/builder.h"
#include <math.h>

/* 1/sqrt(x): s = sqrt(x), y = 1/s, then one exact correction for the rounding of both (plain 1/s
 * is 1.49 ULP). */
kir_value *define_rsqrt(kir_builder *b, hg_type type, kir_value *const *arg) {
    real k = real_begin(b, type);
    num x = arg[0], one = cst(&k, 1.0), infinity = cst(&k, (double)INFINITY);
    num tiny = lt(&k, x, cst(&k, 0x1p-60)), huge = lt(&k, cst(&k, 0x1p60), x);
    /* into the middle of the range by an even power of two: [2^-60, 2^60], twice over */
    double down = 0x1p-512, up = 0x1p600;
    num m = mul(&k, x, sel(&k, tiny, cst(&k, up), sel(&k, huge, cst(&k, down), one)));
    num back = sel(&k, tiny, cst(&k, 0x1p300), sel(&k, huge, cst(&k, 0x1p-256), one));
    num s = kir_unary(b, KIR_FSQRT, m), y = quotient(&k, one, s);
    /* Products of about 1, and of m, which is at least 2^-474. Kept are the cut
     * halves: below 1 by 2^-52 they decide. */
    dw square = split_square(&k, s), product = two_prod(&k, y, s);
    num left = sub(&k, sub(&k, m, square.h), square.l);     /* m - s² */
    num rest = sub(&k, sub(&k, one, product.h), product.l); /* 1 - y s */
    rest = sub(&k, rest, mul(&k, scaled(&k, left, 0.5), mul(&k, y, y)));
    num r = mul(&k, add(&k, y, mul(&k, y, rest)), back);
    r = sel(&k, eq(&k, x, infinity), cst(&k, 0.0), r);
    r = sel(&k, eq(&k, x, cst(&k, 0.0)), quotient(&k, one, x), r);
    num nan = real_of(b, kir_const(b, bits_type(k.type), UINT64_C(0x7FF8) << 48));
    return sel(&k, kir_binary(b, KIR_FCMP_LE, cst(&k, 0.0), x), r, nan);
}

/* |x| = m · 2^(3q) with m in [1, 8): y = m^(-1/3) by a polynomial and one step of Newton's, c =
 * m·y², then one more step with the exact remainder m - c³, so that nearly all results are rounded
 * correctly. No division. */
kir_value *define_cbrt(kir_builder *b, hg_type type, kir_value *const *arg) {
    real k = real_begin(b, type);
    const double *root = cbrt_root_f64;
    num x = arg[0], a = magnitude(&k, x), one = cst(&k, 1.0), e, unused;
    num m = split_exponent(&k, a, UINT64_C(0x3FF0000000000000), &e, &unused);
    double third = 0x1.5555555555555p-2;
    rounded q = round_near(&k, scaled(&k, sub(&k, e, one), third)); /* (e - 1)/3 is at most 1/3 from
                                                                       an integer */
    num rest = sub(&k, e, scaled(&k, q.real, 3.0)), some = lt(&k, cst(&k, 0.5), rest),
        most = lt(&k, cst(&k, 1.5), rest);
    num y = POLYNOMIAL(&k, cbrt_y_f64, m);
    y = mul(&k, y, sel(&k, most, cst(&k, root[1]), sel(&k, some, cst(&k, root[0]), one)));
    m = mul(&k, m, sel(&k, most, cst(&k, 4.0), sel(&k, some, cst(&k, 2.0), one)));
    num off = sub(&k, one, mul(&k, m, mul(&k, y, mul(&k, y, y))));
    y = add(&k, y, mul(&k, y, scaled(&k, off, third)));
    num square = mul(&k, y, y), c = mul(&k, m, square);
    /* c is between 1 and 2 */
    dw c2 = two_prod(&k, c, c), c3 = two_prod(&k, c, c2.h);
    num left = sub(&k, sub(&k, m, c3.h), add(&k, c3.l, mul(&k, c2.l, c)));
    num r = mul(&k, add(&k, c, mul(&k, left, scaled(&k, square, third))), pow2(&k, q.integer));
    num plain = both(&k, lt(&k, cst(&k, 0.0), a), lt(&k, a, cst(&k, (double)INFINITY)));
    return sel(&k, plain, real_with_sign(b, r, x), x);
}

/* sqrt(x² + y²): the larger brought to the middle of the range by a power of two, squares exact,
 * one correction of the root. An infinity wins over a NaN. */
kir_value *define_hypot(kir_builder *b, hg_type type, kir_value *const *arg) {
    real k = real_begin(b, type);
    num ax = magnitude(&k, arg[0]), ay = magnitude(&k, arg[1]), one = cst(&k, 1.0),
        infinity = cst(&k, (double)INFINITY);
    num swap = lt(&k, ax, ay), large = sel(&k, swap, ay, ax), small = sel(&k, swap, ax, ay);
    num huge = lt(&k, cst(&k, 0x1p400), large), tiny = lt(&k, large, cst(&k, 0x1p-400));
    num scale = sel(&k, huge, cst(&k, 0x1p-700), sel(&k, tiny, cst(&k, 0x1p700), one));
    num back = sel(&k, huge, cst(&k, 700.0), sel(&k, tiny, cst(&k, -700.0), cst(&k, 0.0)));
    num u = mul(&k, large, scale), v = mul(&k, small, scale);
    /* u and s are 0 or between 2^-400 and 2^400. v may be as small as it likes: where its square is
     * below 2^-968, v is below 2^-84 u, and vv.l disappears: beside uu.l, which is 0 or at least
     * 2^-904, or beside what is left of u², or below in s. */
    dw uu = two_prod(&k, u, u), vv = two_prod(&k, v, v), sum = fast_two_sum(&k, uu.h, vv.h);
    num low = add(&k, sum.l, add(&k, uu.l, vv.l));
    num s = kir_unary(b, KIR_FSQRT, sum.h);
    dw square = two_prod(&k, s, s);
    num left = add(&k, sub(&k, sub(&k, sum.h, square.h), square.l), low);
    num divisor = sel(&k, eq(&k, s, cst(&k, 0.0)), one, scaled(&k, s, 2.0)); /* hypot(0, 0) is 0 */
    num r = scale_sum(&k, fast_two_sum(&k, s, quotient(&k, left, divisor)), back);
    r = sel(&k, both(&k, is_number(b, ax), is_number(b, ay)), r, add(&k, ax, ay));
    num infinite = either(&k, eq(&k, ax, infinity), eq(&k, ay, infinity));
    return sel(&k, infinite, infinity, r);
}
