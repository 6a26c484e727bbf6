/* ERF ERFC and GELU of F64 through the normal distribution's tail. No division: the reciprocal is
 * found by Newton's iteration. F32 has nearest.c.
 * Must not know: targets. */
#include "kir/define/coefficients.h"
#include "kir/define/real.h"
#include "kir/builder.h"

enum { TAIL_K = 4 }; /* k of tools/coefficients/generate.py */

/* 1/d for 4 <= d < 68: a first guess from the bits (error below 13 %), each step squares the error,
 * the last is exact to twice the precision. */
static dw reciprocal(const real *k, dw d) {
    kir_builder *b = k->b;
    num guess = kir_const(b, bits_type(k->type), UINT64_C(0x7FDE623822FC16E6));
    num r = real_of(b, kir_sub(b, guess, bits_of(b, d.h)));
    for (int i = 0; i < 5; i++) r = mul(k, r, sub(k, cst(k, 2.0), mul(k, d.h, r)));
    dw p = two_prod(k, r, d.h); /* about 1 */
    num rest = sub(k, sub(k, sub(k, cst(k, 1.0), p.h), p.l), mul(k, r, d.l));
    return (dw){r, mul(k, r, rest)};
}

/* P(X < -a) for a standard normal X, a >= 0: e^(-a²/2) · S(u)/(a + k), u = (a - k)/(a + k), as sum
 * · 2^n; power = 2^n or the least normal. square = a²/2; more is added to a (NULL: 0). */
static dw normal_tail(const real *k, num a, num more, dw square, num *n, num *power) {
    num high = neg(k, square.h), low = neg(k, square.l);
    dw e = exp_dw(k, high, low, n);
    dw above = two_sum(k, a, cst(k, TAIL_K)), below = two_sum(k, a, cst(k, -TAIL_K));
    if (more) above.l = add(k, above.l, more), below.l = add(k, below.l, more);
    dw r = reciprocal(k, above), u = dw_mul(k, below, r); /* below is 0 or at least 2^-51 */
    *power = pow2_at_least(k, *n);
    dw s = PRECISE(k, tail_s, u);
    /* e^r, 1/(a + k) and S are between 2^-7 and 4 */
    return dw_mul(k, dw_mul(k, e, r), s);
}

/* erf(x) = x + x·Q(x²) up to 7/8: x·Q(x²) of x >= 0. */
static dw erf_small(const real *k, num a) {
    dw z = two_prod(k, a, a), q = PRECISE(k, erf_small, z), p = two_prod(k, a, q.h);
    p.l = add(k, p.l, mul(k, a, q.l));
    return p;
}

/* Beyond it is 1 - erfc. */
kir_value *define_erf(kir_builder *b, hg_type type, kir_value *const *arg) {
    real k = real_begin(b, type);
    num a = magnitude(&k, arg[0]), limited = at_most(&k, a, 6.0), n, p;
    num tiny = lt(&k, a, cst(&k, 0x1p-900)), zero = cst(&k, 0.0);
    num moved = mul(&k, limited, sel(&k, tiny, cst(&k, 0x1p200), cst(&k, 1.0)));
    dw q = erf_small(&k, moved), s = fast_two_sum(&k, moved, q.h);
    s.l = add(&k, s.l, q.l);
    num small = scale_sum(&k, s, sel(&k, tiny, cst(&k, -200.0), zero));
    dw square = two_prod(&k, limited, limited); /* of 7/8 at least where it is used */
    dw root = table_dw(&k, sqrt2_f64), t = two_prod(&k, limited, root.h);
    num more = add(&k, t.l, mul(&k, limited, root.l));
    dw tail = normal_tail(&k, t.h, more, square, &n, &p);
    p = scaled(&k, p, 2.0);
    num subtracted = neg(&k, mul(&k, tail.h, p));
    dw one = fast_two_sum(&k, cst(&k, 1.0), subtracted);
    num large = add(&k, one.h, sub(&k, one.l, mul(&k, tail.l, p)));
    num r = sel(&k, lt(&k, a, cst(&k, 0.875)), small, large);
    return real_with_sign(b, magnitude(&k, r), arg[0]);
}

/* 2 P(X < -|x| sqrt 2) with the argument as a sum of two, from 2 if x is negative; around 0 one
 * less x + x·Q(x²). */
kir_value *define_erfc(kir_builder *b, hg_type type, kir_value *const *arg) {
    real k = real_begin(b, type);
    num x = arg[0], a = at_most(&k, magnitude(&k, x), 27.5), n, p;
    /* a is at least 1/2 where the products are used */
    dw square = two_prod(&k, a, a), root = table_dw(&k, sqrt2_f64), t = two_prod(&k, a, root.h);
    dw tail = normal_tail(&k, t.h, add(&k, t.l, mul(&k, a, root.l)), square, &n, &p);
    num positive = scale_sum(&k, tail, add(&k, n, cst(&k, 1.0)));
    p = scaled(&k, p, 2.0);
    num subtracted = neg(&k, mul(&k, tail.h, p));
    dw two = fast_two_sum(&k, cst(&k, 2.0), subtracted);
    num left = lt(&k, x, cst(&k, 0.0)),
        negative = add(&k, two.h, sub(&k, two.l, mul(&k, tail.l, p)));
    num large = sel(&k, left, negative, positive), minus = neg(&k, x);
    dw one = two_sum(&k, cst(&k, 1.0), minus), q = erf_small(&k, a);
    q.h = sel(&k, left, neg(&k, q.h), q.h);
    q.l = sel(&k, left, neg(&k, q.l), q.l);
    dw s = two_sum(&k, one.h, neg(&k, q.h));
    num small = add(&k, s.h, add(&k, s.l, sub(&k, one.l, q.l)));
    return sel(&k, lt(&k, a, cst(&k, 0.5)), small, large);
}

/* x · P(X < x). The left tail is one product times a power of two, so subnormal results are
 * rounded once; -inf gives -0. */
kir_value *define_gelu(kir_builder *b, hg_type type, kir_value *const *arg) {
    real k = real_begin(b, type);
    double most = 39.0;
    num x = at_most(&k, at_least(&k, arg[0], -most), most), a = magnitude(&k, x), n;
    dw square = two_prod(&k, a, a); /* a is at least 2^-60 where it is used */
    num p;                          /* beside 1 any tiny number will do */
    dw tail = normal_tail(&k, a, NULL, dw_scaled(&k, square, 0.5), &n, &p);
    num negative = lt(&k, x, cst(&k, 0.0));
    num subtracted = neg(&k, mul(&k, tail.h, p));
    dw one = fast_two_sum(&k, cst(&k, 1.0), subtracted);
    one.l = sub(&k, one.l, mul(&k, tail.l, p));
    dw phi = dw_sel(&k, negative, tail, one);
    dw y = two_prod(&k, a, phi.h); /* phi is at least 2^-12, a as above */
    y = fast_two_sum(&k, y.h, add(&k, y.l, mul(&k, a, phi.l)));
    num r = scale_sum(&k, y, sel(&k, negative, n, cst(&k, 0.0)));
    r = real_with_sign(b, r, x);
    r = sel(&k, lt(&k, a, cst(&k, 0x1p-60)), scaled(&k, x, 0.5), r); /* products below would lose
                                                                        bits */
    return sel(&k, lt(&k, cst(&k, most), arg[0]), arg[0], r);
}
