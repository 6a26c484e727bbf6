/* EXP EXP2 EXPM1 and what is made of them: SINH COSH TANH SIGMOID SWISH, of F64; F32 has nearest.c.
 * e^x of a sum of two, for POW too, is of both.
 * Must not know: targets. */
#include "kir/define/coefficients.h"
#include "kir/define/real.h"
#include "kir/builder.h"

/* x = n ln 2 + r + low. */
typedef struct exp_reduced {
    num r, low;
    rounded n;
} exp_reduced;

static exp_reduced exp_reduce(const real *k, num x) {
    const double *ln2 = CONSTANT(k, ln2);
    exp_reduced out;
    out.n = round_near(k, scaled(k, x, CONSTANT(k, log2e)[0]));
    num n = out.n.real, t = sub(k, x, scaled(k, n, ln2[0])), u = scaled(k, n, ln2[1]);
    out.r = sub(k, t, u);
    out.low = sub(k, sub(k, t, out.r), u);
    out.low = sub(k, out.low, scaled(k, n, ln2[2]));
    return out;
}

/* e^r = 1 + r + r²·q(r). 1 + r is kept as an exact sum, so that only the small w carries rounding
 * errors. */
exp_parts exp_core(const real *k, num xh, num xl) {
    exp_reduced x = exp_reduce(k, xh);
    num r = x.r, low = x.low;
    if (xl) { /* may be larger than an ulp of r, and the polynomial is to see it */
        dw whole = fast_two_sum(k, r, add(k, low, xl));
        r = whole.h;
        low = whole.l;
    }
    num q = HORNER(k, exp_q, r);
    num w = add(k, low, mul(k, mul(k, r, r), q));
    dw one = fast_two_sum(k, cst(k, 1.0), r);
    return (exp_parts){
        .r = r, .w = w, .e = {one.h, add(k, one.l, w)}, .n = x.n.integer, .real_n = x.n.real};
}

/* Beyond these e^x is infinite, or rounds to 0. */
static num clamp_exponent(const real *k, num x) {
    return at_least(k, at_most(k, x, 710.0), -746.0);
}

kir_value *define_exp(kir_builder *b, hg_type type, kir_value *const *arg) {
    real k = real_begin(b, type);
    exp_parts e = exp_core(&k, clamp_exponent(&k, arg[0]), NULL);
    return scale2(&k, add(&k, e.e.h, e.e.l), e.n);
}

/* 2^(m/4) e^(t.h + t.l) of a whole m, |t| <= ln2/8, rounded once. e^t = 1 + t + t²/2 + w, exact but
 * for w. */
static num quarter_power(const real *k, num m, dw t) {
    num n = kir_unary(k->b, KIR_FFLOOR, scaled(k, m, 0.25)), one = cst(k, 1.0);
    /* where t.h is below 2^-484 its square is lost beside 1 */
    dw square = dw_scaled(k, two_prod(k, t.h, t.h), 0.5);
    dw s = fast_two_sum(k, one, t.h), e = fast_two_sum(k, s.h, square.h);
    num q = horner(k, exp_q_f64 + 1, HG_COUNT_OF(exp_q_f64) - 1, t.h);
    num w = add(k, square.l, scaled(k, mul(k, mul(k, square.h, t.h), q), 2.0));
    w = add(k, w, add(k, t.l, mul(k, t.h, t.l)));
    e.l = add(k, w, add(k, s.l, e.l));
    num rest = sub(k, m, scaled(k, n, 4.0));
    dw root = {one, cst(k, 0.0)};
    for (int j = 0; j < 3; j++) {
        num above = lt(k, cst(k, j + 0.5), rest);
        root = dw_sel(k, above, table_dw(k, &quarter_power_f64[2 * j]), root);
    }
    return scale_sum(k, dw_mul(k, e, root), n);
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
    return quarter_power(&k, m, dw_mul(&k, (dw){r, low}, table_dw(&k, ln10_f64)));
}

/* x = n + r, and 2^r = e^(r ln 2) with the product exact. Integers give powers of two. */
kir_value *define_exp2(kir_builder *b, hg_type type, kir_value *const *arg) {
    real k = real_begin(b, type);
    num x = at_least(&k, at_most(&k, arg[0], 1025.0), -1080.0), one = cst(&k, 1.0);
    rounded near = round_near(&k, x);
    num r = sub(&k, x, near.real);
    dw ln2 = table_dw(&k, ln2_near_f64), t = two_prod(&k, r, ln2.h);
    num low = add(&k, t.l, mul(&k, r, ln2.l)); /* where t.h is below 2^-968 all of it
                                                  is lost beside 1 */
    low = add(&k, low, mul(&k, mul(&k, t.h, t.h), POLYNOMIAL(&k, exp_q_f64, t.h)));
    dw whole = fast_two_sum(&k, one, t.h);
    return scale2(&k, add(&k, whole.h, add(&k, whole.l, low)), near.integer);
}

/* (1 - 2^-n + r + r²/2 + w) · 2^n: the sum of the first four is exact. Below the least argument it
 * is -1. */
kir_value *define_expm1(kir_builder *b, hg_type type, kir_value *const *arg) {
    real k = real_begin(b, type);
    num limited = at_least(&k, at_most(&k, arg[0], 710.0), -40.0), one = cst(&k, 1.0);
    exp_reduced x = exp_reduce(&k, limited);
    num power = pow2_at_least(&k, neg(&k, x.n.real)), r = x.r;
    /* r is x, at least 2^-55 where it matters, or a difference: 0 or at least an ulp
     * of n ln2[1], 2^-94 */
    dw square = dw_scaled(&k, two_prod(&k, r, r), 0.5), y = two_sum(&k, one, neg(&k, power));
    dw s = two_sum(&k, y.h, r), t = two_sum(&k, s.h, square.h);
    num q = horner(&k, exp_q_f64 + 1, HG_COUNT_OF(exp_q_f64) - 1, r);
    num w = add(&k, square.l, scaled(&k, mul(&k, mul(&k, square.h, r), q), 2.0));
    w = add(&k, add(&k, x.low, w), add(&k, y.l, add(&k, s.l, t.l)));
    num result = scale2(&k, add(&k, t.h, w), x.n.integer);
    return sel(&k, lt(&k, magnitude(&k, arg[0]), cst(&k, 0x1p-55)), arg[0], result); /* x + x²/2
                                                                                        rounds to x
                                                                                      */
}

/* e^a = (1 + r + w) · 2^n and e^-a = (1 - r + v) · 2^-n, so that with s = 2^-2n their sum over 2^n
 * is (1 + s) + (1 - s) r + (w + s v) and their difference (1 - s) + (1 + s) r + (w - s v): exact
 * but for the last terms. Half of it times 2^n, rounded once more if subnormal. */
static num hyperbolic(const real *k, num x, bool difference) {
    num a = at_most(k, magnitude(k, x), 712.0), one = cst(k, 1.0);
    exp_parts up = exp_core(k, a, NULL), down = exp_core(k, neg(k, a), NULL);
    num s = pow2_at_least(k, scaled(k, up.real_n, -2.0)), t = difference ? neg(k, s) : s;
    dw whole = fast_two_sum(k, one, t), p = two_sum(k, whole.h, up.r);
    dw q = two_sum(k, p.h, neg(k, mul(k, t, up.r)));
    num low = add(k, whole.l, add(k, p.l, q.l));
    low = add(k, low, add(k, up.w, mul(k, t, down.w)));
    num total = add(k, q.h, low);
    return scale2(k, total, int_add(k->b, up.n, UINT64_MAX));
}

kir_value *define_sinh(kir_builder *b, hg_type type, kir_value *const *arg) {
    real k = real_begin(b, type);
    num r = magnitude(&k, hyperbolic(&k, arg[0], true));
    return real_with_sign(b, r, arg[0]);
}

kir_value *define_cosh(kir_builder *b, hg_type type, kir_value *const *arg) {
    real k = real_begin(b, type);
    return hyperbolic(&k, arg[0], false);
}

/* sigmoid(x) = q · 2^n: t = e^-|x|; 1/(1 + t) for x >= 0, else t/(1 + t) with the power of two left
 * out, so that results in the left tail, subnormal ones too, are rounded once. */
static dw sigmoid_parts(const real *k, num x, num *n) {
    num negative = lt(k, x, cst(k, 0.0));
    exp_parts e = exp_core(k, at_least(k, neg(k, magnitude(k, x)), -760.0), NULL);
    num p = pow2_at_least(k, e.real_n);
    e.e = fast_two_sum(k, e.e.h, e.e.l);
    num one = cst(k, 1.0);
    dw d = fast_two_sum(k, one, mul(k, e.e.h, p));
    d.l = add(k, d.l, mul(k, e.e.l, p));
    dw top = dw_sel(k, negative, e.e, (dw){one, cst(k, 0.0)});
    *n = sel(k, negative, e.n, kir_const(k->b, e.n->type, 0));
    return dw_div(k, top, d); /* both between 1/2 and 2 */
}

kir_value *define_sigmoid(kir_builder *b, hg_type type, kir_value *const *arg) {
    real k = real_begin(b, type);
    num n;
    dw q = sigmoid_parts(&k, arg[0], &n);
    return scale2(&k, add(&k, q.h, q.l), n);
}

/* x · sigmoid(x), the product exact until the last rounding; -inf gives -0, the limit. Above 64
 * sigmoid is 1 to all bits. */
kir_value *define_swish(kir_builder *b, hg_type type, kir_value *const *arg) {
    real k = real_begin(b, type);
    num n, x = at_least(&k, arg[0], -800.0);
    dw q = sigmoid_parts(&k, x, &n);
    dw p = two_prod(&k, x, q.h); /* q is between 1/4 and 1, and x, where used, from 2^-60 to
                                    800 */
    num y = scale2(&k, add(&k, p.h, add(&k, p.l, mul(&k, x, q.l))), n);
    y = sel(&k, lt(&k, magnitude(&k, x), cst(&k, 0x1p-60)), scaled(&k, x, 0.5), y);
    return sel(&k, lt(&k, cst(&k, 64.0), arg[0]), arg[0], y);
}

/* tanh|x| = (1 - t)/(1 + t), t = e^-2|x| = 2^n (1 + r + w). 1 - t is summed from its exact parts,
 * so that it keeps its relative accuracy where t is close to 1 (there n = 0 and 1 - t = -(r + w)).
 */
kir_value *define_tanh(kir_builder *b, hg_type type, kir_value *const *arg) {
    real k = real_begin(b, type);
    num a = magnitude(&k, arg[0]), one = cst(&k, 1.0);
    exp_parts e = exp_core(&k, scaled(&k, at_most(&k, a, 24.0), -2.0), NULL);
    num p = pow2(&k, e.n);
    dw x = fast_two_sum(&k, one, neg(&k, p));
    dw y = two_sum(&k, x.h, neg(&k, mul(&k, p, e.r)));
    dw top = fast_two_sum(&k, y.h, sub(&k, add(&k, x.l, y.l), mul(&k, p, e.w)));
    num subtracted = neg(&k, top.h);
    dw d = fast_two_sum(&k, cst(&k, 2.0), subtracted);
    d.l = sub(&k, d.l, top.l);
    dw q = dw_div(&k, top, d); /* top at least 2^-29 where it is used, d between 1 and
                                  2 */
    num r = real_with_sign(b, magnitude(&k, add(&k, q.h, q.l)), arg[0]);
    return sel(&k, lt(&k, a, cst(&k, 0x1p-28)), arg[0], r); /* x - x³/3 rounds to
                                                                                  x */
}
