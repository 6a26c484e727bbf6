/* EXP EXP2 EXPM1 and what is made of them: SINH COSH TANH SIGMOID SWISH, of F64; F32 has nearest.c.
 * e^x of a sum of two, for POW too, is of both.
 * Must not know: targets. */
#include "kir/define/coefficients.h"
#include "kir/define/real.h"
#include "kir/builder.h"

/* 2^(m/4) e^(t.h + t.l) of a whole m, |t| <= ln2/8, as (h + l) 2^n between 2^-1/8 and 2^7/8. e^t =
 * 1
 * + t + t²/2 + w, exact but for w. */
static dw quarter_power(const real *k, num m, dw t, num *n) {
    *n = kir_unary(k->b, KIR_FFLOOR, scaled(k, m, 0.25));
    /* where t.h is below 2^-484 its square is lost beside 1 */
    dw square = dw_scaled(k, two_prod(k, t.h, t.h), 0.5);
    num one = cst(k, 1.0), rest = sub(k, m, scaled(k, *n, 4.0));
    dw s = fast_two_sum(k, one, t.h), e = fast_two_sum(k, s.h, square.h);
    num q = horner(k, exp_q_f64 + 1, HG_COUNT_OF(exp_q_f64) - 1, t.h);
    num w = add(k, square.l, scaled(k, mul(k, mul(k, square.h, t.h), q), 2.0));
    w = add(k, w, add(k, t.l, mul(k, t.h, t.l)));
    e.l = add(k, w, add(k, s.l, e.l));
    dw root = {one, cst(k, 0.0)};
    for (int j = 0; j < 3; j++) {
        num above = lt(k, cst(k, j + 0.5), rest);
        root = dw_sel(k, above, table_dw(k, &quarter_power_f64[2 * j]), root);
    }
    return dw_mul(k, e, root);
}

dw exp_dw(const real *k, num xh, num xl, num *n) {
    const double *c = quarter_ln2_f64;
    num m = round_near(k, scaled(k, xh, 4 * log2e_f64[0])).real;
    num t = sub(k, xh, scaled(k, m, c[0])), u = scaled(k, m, c[1]), r = sub(k, t, u);
    num low = sub(k, sub(k, t, r), u);
    low = sub(k, low, scaled(k, m, c[2]));
    if (xl) low = add(k, low, xl);
    return quarter_power(k, m, fast_two_sum(k, r, low), n);
}

/* Beyond these e^x is infinite, or rounds to 0. */
static num clamp_exponent(const real *k, num x) {
    return at_least(k, at_most(k, x, 710.0), -746.0);
}

kir_value *define_exp(kir_builder *b, hg_type type, kir_value *const *arg) {
    real k = real_begin(b, type);
    num n;
    dw e = exp_dw(&k, clamp_exponent(&k, arg[0]), NULL, &n);
    return scale_sum(&k, e, n);
}

/* x = (m/4) log10(2) + r, and 10^r = e^(r ln 10). */
kir_value *define_exp10(kir_builder *b, hg_type type, kir_value *const *arg) {
    real k = real_begin(b, type);
    const double *c = quarter_log10_2_f64;
    num x = at_least(&k, at_most(&k, arg[0], 310.0), -325.0);
    num m = round_near(&k, scaled(&k, x, 4 * log2_10_f64[0])).real;
    num t = sub(&k, x, scaled(&k, m, c[0])), u = scaled(&k, m, c[1]), r = sub(&k, t, u);
    num low = sub(&k, sub(&k, sub(&k, t, r), u), scaled(&k, m, c[2]));
    /* where r is below 2^-968 it is lost beside 1 */
    num n;
    dw e = quarter_power(&k, m, dw_mul(&k, (dw){r, low}, table_dw(&k, ln10_f64)), &n);
    return scale_sum(&k, e, n);
}

/* x = m/4 + r, and 2^r = e^(r ln 2). Integers give powers of two. */
kir_value *define_exp2(kir_builder *b, hg_type type, kir_value *const *arg) {
    real k = real_begin(b, type);
    num x = at_least(&k, at_most(&k, arg[0], 1025.0), -1080.0), n;
    num m = round_near(&k, scaled(&k, x, 4.0)).real, r = sub(&k, x, scaled(&k, m, 0.25));
    /* where r is below 2^-968 it is lost beside 1 */
    dw ln2 = table_dw(&k, ln2_near_f64), t = dw_mul(&k, (dw){r, cst(&k, 0.0)}, ln2);
    dw e = quarter_power(&k, m, t, &n);
    return scale_sum(&k, e, n);
}

/* e^x - 1 = (h + l) 2^n, x from -60 to 710: next to 0 x + x²/2 + w, exact but for w. */
static dw expm1_dw(const real *k, num x, num *n) {
    num power, small = lt(k, magnitude(k, x), cst(k, 0.125)), zero = cst(k, 0.0);
    dw e = exp_dw(k, x, NULL, &power),
       large = two_sum(k, e.h, neg(k, pow2_at_least(k, neg(k, power))));
    large.l = add(k, large.l, e.l);
    /* where x is below 2^-484 its square is lost */
    dw square = dw_scaled(k, two_prod(k, x, x), 0.5), near = fast_two_sum(k, x, square.h);
    num q = horner(k, exp_q_f64 + 1, HG_COUNT_OF(exp_q_f64) - 1, x);
    num w = scaled(k, mul(k, mul(k, square.h, x), q), 2.0);
    near.l = add(k, near.l, add(k, square.l, w));
    *n = sel(k, small, zero, power);
    return dw_sel(k, small, near, large);
}

/* Below the least argument it is -1. */
kir_value *define_expm1(kir_builder *b, hg_type type, kir_value *const *arg) {
    real k = real_begin(b, type);
    num n, limited = at_least(&k, at_most(&k, arg[0], 710.0), -40.0);
    dw e = expm1_dw(&k, limited, &n);
    num whole = round_near(&k, n).integer, r = scale2(&k, add(&k, e.h, e.l), whole);
    return sel(&k, lt(&k, magnitude(&k, arg[0]), cst(&k, 0x1p-55)), arg[0], r); /* x + x²/2 rounds
                                                                                   to x */
}

/* e^a = (h + l) 2^n and e^-a the like: half their sum or difference. */
static num hyperbolic(const real *k, num a, bool difference) {
    num n, m, limited = at_most(k, a, 712.0);
    dw up = exp_dw(k, limited, NULL, &n), down = exp_dw(k, neg(k, limited), NULL, &m);
    num scale = pow2_at_least(k, sub(k, m, n));
    num h = mul(k, down.h, scale), l = mul(k, down.l, scale);
    if (difference) h = neg(k, h), l = neg(k, l);
    dw s = fast_two_sum(k, up.h, h);
    num total = add(k, s.h, add(k, s.l, add(k, up.l, l)));
    return scale2(k, total, round_near(k, sub(k, n, cst(k, 1.0))).integer);
}

/* Next to 0 x + x z P(z), z = x². */
kir_value *define_sinh(kir_builder *b, hg_type type, kir_value *const *arg) {
    real k = real_begin(b, type);
    num a = magnitude(&k, arg[0]), z = mul(&k, a, a);
    num small = add(&k, a, mul(&k, mul(&k, a, z), POLYNOMIAL(&k, near_sinh, z)));
    num r = sel(&k, lt(&k, a, cst(&k, 0.125)), small, hyperbolic(&k, a, true));
    return real_with_sign(b, r, arg[0]);
}

kir_value *define_cosh(kir_builder *b, hg_type type, kir_value *const *arg) {
    real k = real_begin(b, type);
    return hyperbolic(&k, magnitude(&k, arg[0]), false);
}

/* sigmoid(x) = q · 2^n: t = e^-|x|; 1/(1 + t) for x >= 0, else t/(1 + t) with the power of two left
 * out, so that results in the left tail, subnormal ones too, are rounded once. */
static dw sigmoid_parts(const real *k, num x, num *n) {
    num negative = lt(k, x, cst(k, 0.0)), power;
    dw e = exp_dw(k, at_least(k, neg(k, magnitude(k, x)), -760.0), NULL, &power);
    num p = pow2_at_least(k, power), one = cst(k, 1.0);
    dw d = fast_two_sum(k, one, mul(k, e.h, p));
    d.l = add(k, d.l, mul(k, e.l, p));
    dw top = dw_sel(k, negative, e, (dw){one, cst(k, 0.0)});
    *n = sel(k, negative, power, cst(k, 0.0));
    return dw_div(k, top, d); /* both between 1/2 and 2 */
}

kir_value *define_sigmoid(kir_builder *b, hg_type type, kir_value *const *arg) {
    real k = real_begin(b, type);
    num n;
    dw q = sigmoid_parts(&k, arg[0], &n);
    return scale_sum(&k, fast_two_sum(&k, q.h, q.l), n);
}

/* x · sigmoid(x), the product exact until the last rounding; -inf gives -0, the limit. Above 64
 * sigmoid is 1 to all bits. */
kir_value *define_swish(kir_builder *b, hg_type type, kir_value *const *arg) {
    real k = real_begin(b, type);
    num n, x = at_least(&k, arg[0], -800.0), a = magnitude(&k, x);
    dw q = sigmoid_parts(&k, x, &n);
    dw p = two_prod(&k, a, q.h); /* q is between 1/4 and 1, and x, where used, from 2^-60 to
                                    800 */
    num low = add(&k, p.l, mul(&k, a, q.l));
    num y = real_with_sign(b, scale_sum(&k, fast_two_sum(&k, p.h, low), n), x);
    y = sel(&k, lt(&k, a, cst(&k, 0x1p-60)), scaled(&k, x, 0.5), y);
    return sel(&k, lt(&k, cst(&k, 64.0), arg[0]), arg[0], y);
}

/* (e^a - 1) / (e^a + 1) of a = 2 |x| */
kir_value *define_tanh(kir_builder *b, hg_type type, kir_value *const *arg) {
    real k = real_begin(b, type);
    num a = magnitude(&k, arg[0]), n;
    dw top = expm1_dw(&k, scaled(&k, at_most(&k, a, 24.0), 2.0), &n);
    num p = pow2_at_least(&k, n), h = mul(&k, top.h, p);
    top = fast_two_sum(&k, h, mul(&k, top.l, p));
    dw d = two_sum(&k, top.h, cst(&k, 2.0));
    d.l = add(&k, d.l, top.l);
    dw q = dw_div(&k, top, d); /* top at least 2^-28 where it is used, d between 2 and 2^70 */
    num r = real_with_sign(b, add(&k, q.h, q.l), arg[0]);
    return sel(&k, lt(&k, a, cst(&k, 0x1p-28)), arg[0], r); /* x - x³/3 rounds to x */
}
