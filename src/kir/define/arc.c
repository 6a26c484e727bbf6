/* ATAN ATAN2 of F64 by a polynomial below tan(pi/8), ASIN ACOS by one below 1/2 and the half angle
 * above. F32 has nearest.c and nearest_pairs.c.
 * Must not know: targets. */
#include "kir/define/coefficients.h"
#include "kir/define/real.h"
#include "kir/builder.h"
#include <math.h>

/* Smaller and larger of |x|, |y| brought to a range where quotients and exact products neither
 * overflow nor vanish. */
static void atan_operands(const real *k, num *n, num *d) {
    num infinity = cst(k, (double)INFINITY), one = cst(k, 1.0), zero = cst(k, 0.0);
    num both_infinite = eq(k, *n, infinity), infinite = eq(k, *d, infinity);
    *n = sel(k, infinite, sel(k, both_infinite, one, zero), *n);
    *d = sel(k, either(k, infinite, eq(k, *d, zero)), one, *d); /* 0/0 becomes 0/1 */
    num big = lt(k, cst(k, 0x1p500), *d), small = lt(k, *d, cst(k, 0x1p-450));
    num scale = sel(k, big, cst(k, 0x1p-600), sel(k, small, cst(k, 0x1p624), one));
    *n = mul(k, *n, scale);
    *d = mul(k, *d, scale);
}

/* atan of t = n/d in [0, 1], and whether pi/4 is to be added: above tan(pi/8) it is pi/4 + atan((n
 * - d)/(n + d)). */
static dw atan_quotient(const real *k, num n, num d, num *upper) {
    *upper = lt(k, scaled(k, d, 0x1.a827999fcef32p-2), n);
    dw difference = two_sum(k, n, neg(k, d)), total = two_sum(k, d, n);
    num zero = cst(k, 0.0);
    dw top = dw_sel(k, *upper, difference, (dw){n, zero});
    dw bottom = dw_sel(k, *upper, total, (dw){d, zero});
    /* A top of a difference is 0 or at least 2^-504. One that is n may be smaller than the range
     * of FMULERR, or the quotient subnormal: then it is below 2^-500, and either not used or lost
     * beside a quarter of pi or more. */
    dw t = dw_div(k, top, bottom);
    t = fast_two_sum(k, t.h, t.l);
    dw z = dw_mul(k, t, t), p = PRECISE(k, atan_a, z), cubic = dw_mul(k, t, z);
    cubic = dw_mul(k, cubic, p);
    dw sum = fast_two_sum(k, t.h, cubic.h);
    sum.l = add(k, sum.l, add(k, t.l, cubic.l));
    return sum;
}

/* count · pi/4 ± t, the count small and whole. */
static num quarters(const real *k, num count, dw t, num minus) {
    t.h = sel(k, minus, neg(k, t.h), t.h);
    t.l = sel(k, minus, neg(k, t.l), t.l);
    const double *quarter = quarter_pi_f64;
    dw base = two_prod(k, count, cst(k, quarter[0])); /* 0 to 4 */
    dw s = two_sum(k, base.h, t.h);
    num low = add(k, base.l, scaled(k, count, quarter[1]));
    return add(k, s.h, add(k, s.l, add(k, low, t.l)));
}

/* atan of a tiny number is that number, and beyond 2^60 a quarter turn. */
kir_value *define_atan(kir_builder *b, hg_type type, kir_value *const *arg) {
    real k = real_begin(b, type);
    num a = at_most(&k, magnitude(&k, arg[0]), 0x1p60), one = cst(&k, 1.0), upper;
    num swap = lt(&k, one, a), n = sel(&k, swap, one, a), d = sel(&k, swap, a, one);
    dw t = atan_quotient(&k, n, d, &upper);
    num count = sel(&k, upper, one, cst(&k, 0.0));
    count = sel(&k, swap, sub(&k, cst(&k, 2.0), count), count);
    num r = real_with_sign(b, magnitude(&k, quarters(&k, count, t, swap)), arg[0]);
    return sel(&k, lt(&k, a, cst(&k, 0x1p-28)), arg[0], r);
}

/* C atan2(y, x): the octant counts quarters of pi, so the answer is count · pi/4 ± atan. y/x below
 * 2^-32 with x > 0 is the division itself: its cube is far below the last place. */
kir_value *define_atan2(kir_builder *b, hg_type type, kir_value *const *arg) {
    real k = real_begin(b, type);
    num y = arg[0], x = arg[1], ay = magnitude(&k, y), ax = magnitude(&k, x);
    num swap = lt(&k, ax, ay), left = is_negative(&k, x);
    num n = sel(&k, swap, ax, ay), d = sel(&k, swap, ay, ax), upper;
    num direct = both(&k, kir_not(b, left), lt(&k, ay, scaled(&k, ax, 0x1p-32)));
    direct = either(&k, direct, both(&k, kir_not(b, left), eq(&k, ay, cst(&k, 0.0))));
    atan_operands(&k, &n, &d);
    dw t = atan_quotient(&k, n, d, &upper);
    num count = sel(&k, upper, cst(&k, 1.0), cst(&k, 0.0));
    count = sel(&k, swap, sub(&k, cst(&k, 2.0), count), count);
    count = sel(&k, left, sub(&k, cst(&k, 4.0), count), count);
    num flip = kir_binary(b, KIR_XOR, swap, left);
    num r = quarters(&k, count, t, flip);
    num plain = quotient(&k, ay, sel(&k, eq(&k, ax, cst(&k, 0.0)), cst(&k, 1.0), ax));
    r = real_with_sign(b, magnitude(&k, sel(&k, direct, plain, r)), y);
    return sel(&k, both(&k, is_number(b, x), is_number(b, y)), r, add(&k, x, y));
}

/* asin a for a <= 1/2 is a + a·z·P(z), z = a²; above, it is pi/2 - 2 asin s with s² = z = (1 -
 * a)/2, which is exact. */
typedef struct half_angle {
    num large; /* a > 1/2 */
    dw base;   /* s with its rounding error, or a */
    dw rest;   /* base · z · P(z) */
} half_angle;

static half_angle halve(const real *k, num a) {
    half_angle out;
    num half = cst(k, 0.5), one = cst(k, 1.0), zero = cst(k, 0.0);
    out.large = lt(k, half, a);
    dw a2 = two_prod(k, a, a); /* lost where it is below 2^-968 */
    num z = sel(k, out.large, scaled(k, sub(k, one, a), 0.5), a2.h),
        zl = sel(k, out.large, zero, a2.l);
    num s = kir_unary(k->b, KIR_FSQRT, z);
    dw square = two_prod(k, s, s); /* z; used where it is a whole number of 2^-54 */
    num left = sub(k, sub(k, z, square.h), square.l);
    num low = quotient(k, scaled(k, left, 0.5), sel(k, eq(k, s, zero), one, s));
    out.base = dw_sel(k, out.large, (dw){s, low}, (dw){a, zero});
    dw zz = {z, zl}, p = PRECISE(k, asin_p, zz), third = dw_mul(k, out.base, zz);
    out.rest = dw_mul(k, third, p);
    return out;
}

/* count · pi/2 + times · (base + rest), count 0, 1 or 2, times a power of two. */
static num from_half(const real *k, num count, num times, half_angle h) {
    dw pi = table_dw(k, half_pi_dw_f64);
    num t = mul(k, times, h.base.h), rest = mul(k, times, add(k, h.base.l, h.rest.l));
    dw s = two_sum(k, mul(k, count, pi.h), t), u = two_sum(k, s.h, mul(k, times, h.rest.h));
    num low = add(k, s.l, u.l), more = add(k, mul(k, count, pi.l), rest);
    return add(k, u.h, add(k, low, more));
}

/* NaN outside [-1, 1]. */
static num in_domain(const real *k, num a, num r) {
    num nan = real_of(k->b, kir_const(k->b, bits_type(k->type), UINT64_C(0x7FF8) << 48));
    return sel(k, kir_binary(k->b, KIR_FCMP_LE, a, cst(k, 1.0)), r, nan);
}

kir_value *define_asin(kir_builder *b, hg_type type, kir_value *const *arg) {
    real k = real_begin(b, type);
    num a = magnitude(&k, arg[0]), one = cst(&k, 1.0), zero = cst(&k, 0.0);
    half_angle h = halve(&k, a);
    num count = sel(&k, h.large, one, zero), times = sel(&k, h.large, cst(&k, -2.0), one);
    return in_domain(&k, a,
                     real_with_sign(b, magnitude(&k, from_half(&k, count, times, h)), arg[0]));
}

/* pi/2 - asin x; beyond 1/2 that is 2 asin s, and pi less it on the left. */
kir_value *define_acos(kir_builder *b, hg_type type, kir_value *const *arg) {
    real k = real_begin(b, type);
    num x = arg[0], a = magnitude(&k, x), one = cst(&k, 1.0), zero = cst(&k, 0.0),
        two = cst(&k, 2.0);
    half_angle h = halve(&k, a);
    num left = lt(&k, x, zero);
    num count = sel(&k, h.large, sel(&k, left, two, zero), one);
    num times = sel(&k, h.large, two, one);
    times = sel(&k, kir_binary(b, KIR_XOR, left, h.large), times, neg(&k, times));
    return in_domain(&k, a, from_half(&k, count, times, h));
}
