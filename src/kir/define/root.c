/* RSQRT and ATAN2: what needs division or square root and a correction.
 * Must not know: targets. */
#include "kir/define/coefficients.h"
#include "kir/define/real.h"
#include "kir/builder.h"
#include <math.h>

/* 1/sqrt(x): s = sqrt(x), y = 1/s, then one exact correction for the rounding of both (plain 1/s is 1.49 ULP). */
kir_value *define_rsqrt(kir_builder *b, hg_type type, kir_value *const *arg) {
    real k = real_begin(b, type);
    num x = arg[0], one = cst(&k, 1.0), infinity = cst(&k, (double)INFINITY);
    num tiny = lt(&k, x, cst(&k, 0x1p-60)), huge = lt(&k, cst(&k, 0x1p60), x);
    /* into the middle of the range by an even power of two: [2^-60, 2^60], twice over for F64 */
    double down = k.wide ? 0x1p-512 : 0x1p-64, up = k.wide ? 0x1p600 : 0x1p100;
    num m = mul(&k, x, sel(&k, tiny, cst(&k, up), sel(&k, huge, cst(&k, down), one)));
    num back = sel(&k, tiny, cst(&k, k.wide ? 0x1p300 : 0x1p50), sel(&k, huge, cst(&k, k.wide ? 0x1p-256 : 0x1p-32), one));
    num s = kir_unary(b, KIR_FSQRT, m), y = quotient(&k, one, s);
    dw square = two_prod(&k, s, s), product = two_prod(&k, y, s);
    num left = sub(&k, sub(&k, m, square.h), square.l);     /* m - s² */
    num rest = sub(&k, sub(&k, one, product.h), product.l); /* 1 - y s */
    rest = sub(&k, rest, mul(&k, scaled(&k, left, 0.5), mul(&k, y, y)));
    num r = mul(&k, add(&k, y, mul(&k, y, rest)), back);
    r = sel(&k, eq(&k, x, infinity), cst(&k, 0.0), r);
    r = sel(&k, eq(&k, x, cst(&k, 0.0)), quotient(&k, one, x), r);
    num nan = real_of(b, kir_const(b, bits_type(k.type), k.wide ? UINT64_C(0x7FF8) << 48 : 0x7FC00000));
    return sel(&k, kir_binary(b, KIR_FCMP_LE, cst(&k, 0.0), x), r, nan);
}

/* Smaller and larger of |x|, |y| brought to a range where quotients and exact products neither overflow nor vanish. */
static void atan_operands(const real *k, num *n, num *d) {
    num infinity = cst(k, (double)INFINITY), one = cst(k, 1.0), zero = cst(k, 0.0);
    num both_infinite = eq(k, *n, infinity), infinite = eq(k, *d, infinity);
    *n = sel(k, infinite, sel(k, both_infinite, one, zero), *n);
    *d = sel(k, either(k, infinite, eq(k, *d, zero)), one, *d); /* 0/0 becomes 0/1 */
    num big = lt(k, cst(k, k->wide ? 0x1p500 : 0x1p60), *d), small = lt(k, *d, cst(k, k->wide ? 0x1p-450 : 0x1p-50));
    num scale = sel(k, big, cst(k, k->wide ? 0x1p-600 : 0x1p-64), sel(k, small, cst(k, k->wide ? 0x1p624 : 0x1p99), one));
    *n = mul(k, *n, scale);
    *d = mul(k, *d, scale);
}

/* atan of t = n/d in [0, 1], and whether pi/4 is to be added: above tan(pi/8) it is pi/4 + atan((n - d)/(n + d)). */
static dw atan_quotient(const real *k, num n, num d, num *upper) {
    *upper = lt(k, scaled(k, d, k->wide ? 0x1.a827999fcef32p-2 : 0x1.a827ap-2), n);
    dw difference = two_sum(k, n, neg(k, d)), total = two_sum(k, d, n);
    num zero = cst(k, 0.0);
    dw top = dw_sel(k, *upper, difference, (dw){n, zero});
    dw bottom = dw_sel(k, *upper, total, (dw){d, zero});
    dw t = dw_div(k, top, bottom);
    t = fast_two_sum(k, t.h, t.l);
    num z = mul(k, t.h, t.h);
    num cubic = mul(k, mul(k, t.h, z), HORNER(k, atan_a, z));
    return (dw){t.h, add(k, t.l, cubic)};
}

/* C atan2(y, x): the octant counts quarters of pi, so the answer is count · pi/4 ± atan. Tiny y/x with x > 0 is the division itself. */
kir_value *define_atan2(kir_builder *b, hg_type type, kir_value *const *arg) {
    real k = real_begin(b, type);
    num y = arg[0], x = arg[1], ay = magnitude(&k, y), ax = magnitude(&k, x);
    num swap = lt(&k, ax, ay), left = is_negative(&k, x);
    num n = sel(&k, swap, ax, ay), d = sel(&k, swap, ay, ax), upper;
    num direct = both(&k, kir_not(b, left), lt(&k, ay, scaled(&k, ax, k.wide ? 0x1p-28 : 0x1p-13)));
    direct = either(&k, direct, both(&k, kir_not(b, left), eq(&k, ay, cst(&k, 0.0))));
    atan_operands(&k, &n, &d);
    dw t = atan_quotient(&k, n, d, &upper);
    num count = sel(&k, upper, cst(&k, 1.0), cst(&k, 0.0));
    count = sel(&k, swap, sub(&k, cst(&k, 2.0), count), count);
    count = sel(&k, left, sub(&k, cst(&k, 4.0), count), count);
    num flip = kir_binary(b, KIR_XOR, swap, left);
    t.h = sel(&k, flip, neg(&k, t.h), t.h);
    t.l = sel(&k, flip, neg(&k, t.l), t.l);
    const double *quarter = CONSTANT(&k, quarter_pi);
    dw base = two_prod(&k, count, cst(&k, quarter[0]));
    dw s = two_sum(&k, base.h, t.h);
    num low = add(&k, base.l, scaled(&k, count, quarter[1]));
    num r = add(&k, s.h, add(&k, s.l, add(&k, low, t.l)));
    num plain = quotient(&k, ay, sel(&k, eq(&k, ax, cst(&k, 0.0)), cst(&k, 1.0), ax));
    r = real_with_sign(b, magnitude(&k, sel(&k, direct, plain, r)), y);
    return sel(&k, both(&k, is_number(b, x), is_number(b, y)), r, add(&k, x, y));
}
