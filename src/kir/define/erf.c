/* ERF ERFC and GELU through the normal distribution's tail. No division: the reciprocal is found by
 * Newton's iteration.
 * Must not know: targets. */
#include "kir/define/coefficients.h"
#include "kir/define/real.h"
#include "kir/builder.h"

enum { TAIL_K = 4 }; /* k of tools/coefficients/generate.py */

/* 1/d for 4 <= d < 68: a first guess from the bits (error below 13 %), each step squares the error,
 * the last is exact to twice the precision. */
static dw reciprocal(const real *k, dw d) {
    kir_builder *b = k->b;
    num guess = kir_const(b, bits_type(k->type),
                          k->wide ? UINT64_C(0x7FDE623822FC16E6) : 0x7EF311C3);
    num r = real_of(b, kir_sub(b, guess, bits_of(b, d.h)));
    for (int i = 0; i < (k->wide ? 5 : 4); i++) r = mul(k, r, sub(k, cst(k, 2.0), mul(k, d.h, r)));
    dw p = two_prod(k, r, d.h); /* about 1 */
    num rest = sub(k, sub(k, sub(k, cst(k, 1.0), p.h), p.l), mul(k, r, d.l));
    return (dw){r, mul(k, r, rest)};
}

/* P(X < -a) for a standard normal X, a >= 0: e^(-a²/2) · S(u)/(a + k), u = (a - k)/(a + k), as sum
 * · 2^n; power = 2^n or the least normal. square = a²/2; more is added to a (NULL: 0), and then the
 * first coefficients are taken to twice the precision. */
static dw normal_tail(const real *k, num a, num more, dw square, num *n, num *power) {
    num high = neg(k, square.h), low = neg(k, square.l);
    exp_parts e = exp_core(k, high, low);
    dw above = two_sum(k, a, cst(k, TAIL_K)), below = two_sum(k, a, cst(k, -TAIL_K));
    if (more) above.l = add(k, above.l, more), below.l = add(k, below.l, more);
    dw r = reciprocal(k, above), u = dw_mul(k, below, r); /* below is 0 or at least 2^-22 (F64:
                                                             2^-51) */
    const double *c = CONSTANT(k, tail_s);
    size_t count = k->wide ? HG_COUNT_OF(tail_s_f64) : HG_COUNT_OF(tail_s_f32);
    num rest = mul(k, horner(k, c + 2, count - 2, u.h), u.h);
    dw s = dw_mul(k, two_sum(k, cst(k, c[1]), rest), u); /* a sum is 0 or at least an ulp of its
                                                            terms */
    dw t = two_sum(k, cst(k, c[0]), s.h);
    s = (dw){t.h, add(k, t.l, s.l)};
    if (more) {
        const double *rounding = CONSTANT(k, tail_s_low);
        s.l = add(k, s.l, add(k, cst(k, rounding[0]), scaled(k, u.h, rounding[1])));
    }
    *n = e.n;
    *power = pow2_at_least(k, e.real_n);
    /* e^r, 1/(a + k) and S are between 2^-7 and 4 */
    return dw_mul(k, dw_mul(k, fast_two_sum(k, e.e.h, e.e.l), r), s);
}

/* erf(x) = x + x·Q(x²) up to 7/8, then 1 - erfc. */
kir_value *define_erf(kir_builder *b, hg_type type, kir_value *const *arg) {
    real k = real_begin(b, type);
    num a = magnitude(&k, arg[0]), z = mul(&k, a, a);
    num small = add(&k, arg[0], mul(&k, arg[0], HORNER(&k, erf_small, z)));
    num limited = at_most(&k, a, k.wide ? 6.0 : 4.0), n, p;
    dw square = two_prod(&k, limited, limited); /* of 7/8 at least where it is used */
    dw tail = normal_tail(&k, scaled(&k, limited, k.wide ? 0x1.6a09e667f3bcdp0 : 0x1.6a09e6p0),
                          NULL, square, &n, &p);
    p = scaled(&k, p, 2.0);
    num subtracted = neg(&k, mul(&k, tail.h, p));
    dw one = fast_two_sum(&k, cst(&k, 1.0), subtracted);
    num large = add(&k, one.h, sub(&k, one.l, mul(&k, tail.l, p)));
    large = real_with_sign(b, magnitude(&k, large), arg[0]);
    return sel(&k, lt(&k, a, cst(&k, 0.875)), small, large);
}

/* 2 P(X < -|x| sqrt 2) with the argument as a sum of two, from 2 if x is negative; around 0 one
 * less x + x·Q(x²). */
kir_value *define_erfc(kir_builder *b, hg_type type, kir_value *const *arg) {
    real k = real_begin(b, type);
    num x = arg[0], a = at_most(&k, magnitude(&k, x), k.wide ? 27.5 : 10.5), z = mul(&k, a, a), n,
        p;
    /* a is at least 1/2 where the products are used */
    dw square = two_prod(&k, a, a), root = table_dw(&k, CONSTANT(&k, sqrt2)),
       t = two_prod(&k, a, root.h);
    dw tail = normal_tail(&k, t.h, add(&k, t.l, mul(&k, a, root.l)), square, &n, &p);
    num total = add(&k, tail.h, tail.l), positive = scale2(&k, total, int_add(b, n, 1));
    p = scaled(&k, p, 2.0);
    num subtracted = neg(&k, mul(&k, tail.h, p));
    dw two = fast_two_sum(&k, cst(&k, 2.0), subtracted);
    num negative = add(&k, two.h, sub(&k, two.l, mul(&k, tail.l, p)));
    num large = sel(&k, lt(&k, x, cst(&k, 0.0)), negative, positive);
    num minus = neg(&k, x);
    dw one = two_sum(&k, cst(&k, 1.0), minus);
    num small = add(&k, one.h, sub(&k, one.l, mul(&k, x, HORNER(&k, erf_small, z))));
    return sel(&k, lt(&k, a, cst(&k, 0.5)), small, large);
}

/* F64: x · P(X < x). The left tail is one product times a power of two, so subnormal results are
 * rounded once; -inf gives -0. */
static num gelu_of_f64(const real *k, num given) {
    double most = 39.0;
    num x = at_most(k, at_least(k, given, -most), most), a = magnitude(k, x), n;
    dw square = two_prod(k, a, a); /* a is at least 2^-60 where it is used */
    num p;                         /* beside 1 any tiny number will do */
    dw tail = normal_tail(k, a, NULL, dw_scaled(k, square, 0.5), &n, &p);
    num negative = lt(k, x, cst(k, 0.0)), zero = kir_const(k->b, bits_type(k->type), 0);
    num subtracted = neg(k, mul(k, tail.h, p));
    dw one = fast_two_sum(k, cst(k, 1.0), subtracted);
    one.l = sub(k, one.l, mul(k, tail.l, p));
    dw phi = dw_sel(k, negative, tail, one);
    dw y = two_prod(k, x, phi.h); /* phi is at least 2^-12, x as a */
    num r = add(k, y.h, add(k, y.l, mul(k, x, phi.l)));
    r = scale2(k, r, sel(k, negative, n, zero));
    r = sel(k, lt(k, a, cst(k, 0x1p-60)), scaled(k, x, 0.5), r); /* products below would lose bits
                                                                  */
    return sel(k, lt(k, cst(k, most), given), given, r);
}

/* a² + slope a as a sum of two. Of the sum a + slope, a times what it was rounded by goes to the
 * low part. Where the square is below 2^-101, what its error is does not matter beside the
 * remainder that is added to it. */
static dw gelu_square(const real *k, num a, double slope) {
    num sum = add(k, a, cst(k, slope)), left = sub(k, a, sub(k, sum, cst(k, slope)));
    dw square = two_prod(k, a, sum);
    return (dw){square.h, fused(k, a, left, square.l)};
}

/* max(x, 0) - a P(X < -a) with a = |x|. The tail is 2^-m e^(-(a² + slope a + p)/2), where p is a
 * small remainder of its logarithm, a polynomial: so no division, and few sums that round more than
 * a small part. Where x is positive and far from 0 nothing is left to subtract, so few lanes need
 * the second polynomial. A factor of 2^64 keeps all but the last product from underflow. */
static num gelu_of_f32(const real *k, num x) {
    kir_builder *b = k->b;
    enum { FAR, SLOPE, MIDDLE, FAR_SLOPE, FAR_MIDDLE };
    const double *plan = gelu_plan_f32;
    kir_var *var[4];
    for (int i = 0; i < 4; i++) var[i] = kir_var_create(b->module, b->function, k->type, 0, NULL);
    num size = magnitude(k, x), a = at_most(k, size, plan[FAR]);
    dw square = gelu_square(k, a, plan[SLOPE]);
    num p = fused_horner(k, gelu_near_f32, HG_COUNT_OF(gelu_near_f32),
                         sub(k, a, cst(k, plan[MIDDLE])));
    kir_set(b, var[0], a);
    kir_set(b, var[1], square.h);
    kir_set(b, var[2], fused(k, a, p, square.l));
    kir_set(b, var[3], cst(k, 0x1p-65));
    num far = kir_if_begin(b, lt(k, x, cst(k, -plan[FAR])));
    {
        a = at_most(k, size, 15.0);
        square = gelu_square(k, a, plan[FAR_SLOPE]);
        p = fused_horner(k, gelu_far_f32, HG_COUNT_OF(gelu_far_f32),
                         sub(k, a, cst(k, plan[FAR_MIDDLE])));
        kir_set(b, var[0], a);
        kir_set(b, var[1], square.h);
        kir_set(b, var[2], add(k, square.l, p));
        kir_set(b, var[3], cst(k, 0x1p-67));
    }
    kir_if_end(b, far);
    a = kir_get(b, var[0]);
    num high = kir_get(b, var[1]), low = kir_get(b, var[2]), scale = kir_get(b, var[3]);
    /* As round_near, with the exponent of 2^64 in the low bits: n <= 0, and n + 64 + 127 > 0. */
    num magic = cst(k, 0x1.8p23 + 127 + 64),
        s = fused(k, add(k, high, low), cst(k, -gelu_log4e_f32[0]), magic), n = sub(k, s, magic);
    num power = real_of(b, int_shl(b, bits_of(b, s), 23));
    num r = fused(k, n, cst(k, gelu_ln4_f32[0]), high);
    r = fused(k, n, cst(k, gelu_ln4_f32[1]), r);
    r = add(k, r, low);
    num q = mul(k, fused_horner(k, gelu_e_f32, HG_COUNT_OF(gelu_e_f32), r), r),
        whole = mul(k, a, power);
    num taken = mul(k, fused(k, whole, q, whole), scale);
    /* The sign is put on at the end: a choice between x and -0 LLVM takes for a maximum, of which 0
     * may be -0. */
    num kept = sel(k, lt(k, x, cst(k, 0.0)), cst(k, 0.0), x);
    return real_with_sign(b, sub(k, kept, taken), x);
}

kir_value *define_gelu(kir_builder *b, hg_type type, kir_value *const *arg) {
    real k = real_begin(b, type);
    return k.wide ? gelu_of_f64(&k, arg[0]) : gelu_of_f32(&k, arg[0]);
}
