/* LOG LOG2 LOG10 LOG1P, and what is made of them: ASINH ACOSH ATANH POW, all of F64. F32 has
 * nearest.c and nearest_pairs.c.
 * Must not know: targets. */
#include "kir/define/coefficients.h"
#include "kir/define/real.h"
#include "kir/builder.h"
#include <math.h>

/* log(x) = e ln 2 + g for a finite x > 0. */
typedef struct log_parts {
    num e;
    dw g;
} log_parts;

void log_row(const real *k, num above, num row[3]) {
    kir_builder *b = k->b;
    num index = kir_convert(b, KIR_TRUNC, HG_TYPE_U32, int_and(b, int_shr(b, above, 45), 127));
    index = kir_mul(b, index, kir_const(b, HG_TYPE_U32, 3));
    for (uint64_t i = 0; i < 3; i++)
        row[i] = table_at(k, "log_f64", log_table_f64, HG_COUNT_OF(log_table_f64),
                          int_add(b, index, i));
}

/* With a table of r ~ 1/m: f = m·r - 1 is exact as a sum of two, and the result good to about 2^-64
 * of itself. low is added to x, less than one of its last places; NULL: 0. */
static log_parts log_table(const real *k, num x, num low) {
    log_parts p;
    num above, m = split_exponent(k, x, UINT64_C(0x3FE6900000000000), &p.e, &above);
    num row[3];
    log_row(k, above, row);
    /* the leading half of m times r (at most 13 bits) is exact, the other half too */
    num mh = leading_half(k, m);
    num rest = mul(k, sub(k, m, mh), row[0]);
    dw f = two_sum(k, sub(k, mul(k, mh, row[0]), cst(k, 1.0)), rest);
    if (low) { /* where x is 1 it may be all of f */
        num scale = pow2_at_least(k, neg(k, p.e)), more = mul(k, mul(k, low, scale), row[0]);
        dw whole = two_sum(k, f.h, more);
        f = (dw){whole.h, add(k, f.l, whole.l)};
    }
    /* m·r - 1 is 0 or at least 2^-66. With low f.h may be some 2^-120, which
     * is in the range. It is smaller only beside a large e ln 2, where the square is nothing. */
    dw square = two_prod(k, f.h, f.h);
    num t = POLYNOMIAL(k, log_t_f64, f.h);
    num w = mul(k, mul(k, square.h, f.h), t);
    dw s = two_sum(k, row[1], f.h), u = two_sum(k, s.h, scaled(k, square.h, -0.5));
    num tail = add(k, s.l, u.l);
    tail = add(k, tail, add(k, row[2], sub(k, f.l, mul(k, f.h, f.l))));
    tail = add(k, tail, sub(k, w, scaled(k, square.l, 0.5)));
    p.g = fast_two_sum(k, u.h, tail);
    return p;
}

/* 0 gives -inf, negative numbers and NaN give NaN, +inf itself. */
static num log_special(const real *k, num x, num r) {
    double infinity = (double)INFINITY;
    r = sel(k, eq(k, x, cst(k, infinity)), x, r);
    r = sel(k, eq(k, x, cst(k, 0.0)), cst(k, -infinity), r);
    num valid = kir_binary(k->b, KIR_FCMP_LE, cst(k, 0.0), x);
    return sel(k, valid, r,
               real_of(k->b, kir_const(k->b, bits_type(k->type), UINT64_C(0x7FF8) << 48)));
}

/* e ln 2 + g as a sum of two: e times the first two parts of ln 2 is exact. */
static dw log_whole(const real *k, log_parts p) {
    const double *ln2 = ln2_f64;
    dw s = fast_two_sum(k, scaled(k, p.e, ln2[0]), p.g.h);
    num low = add(k, s.l, add(k, scaled(k, p.e, ln2[1]), p.g.l));
    low = add(k, low, scaled(k, p.e, ln2[2]));
    return fast_two_sum(k, s.h, low);
}

kir_value *define_log(kir_builder *b, hg_type type, kir_value *const *arg) {
    real k = real_begin(b, type);
    dw r = log_whole(&k, log_table(&k, arg[0], NULL));
    return log_special(&k, arg[0], add(&k, r.h, r.l));
}

/* log(u.h + u.l), 1 + x = u.h + u.l exactly; a tiny x is its own. */
kir_value *define_log1p(kir_builder *b, hg_type type, kir_value *const *arg) {
    real k = real_begin(b, type);
    dw u = two_sum(&k, cst(&k, 1.0), arg[0]);
    dw r = log_whole(&k, log_table(&k, u.h, u.l));
    num y = log_special(&k, u.h, add(&k, r.h, r.l));
    return sel(&k, lt(&k, magnitude(&k, arg[0]), cst(&k, 0x1p-55)), arg[0], y);
}

/* ---- inverse hyperbolic functions: logarithms of sums of two ---- */

/* sqrt(x.h + x.l), x.h 0 or at least 2^-51: one correction of the root. */
static dw root(const real *k, dw x) {
    num s = kir_unary(k->b, KIR_FSQRT, x.h), zero = eq(k, s, cst(k, 0.0));
    dw square = two_prod(k, s, s);
    num left = add(k, sub(k, sub(k, x.h, square.h), square.l), x.l);
    num divisor = sel(k, zero, cst(k, 1.0), scaled(k, s, 2.0));
    return fast_two_sum(k, s, quotient(k, left, divisor));
}

/* log(a + sqrt(a² + one)) of one = 1 or, where a is at least 1, -1. Beyond 2^30 it is
 * log(2 a): what is left out is below 2^-62. */
static num log_of_root(const real *k, num a, double one) {
    num far = lt(k, cst(k, 0x1p30), a), near = sel(k, far, cst(k, 1.0), a);
    /* A square that two_prod does not have exactly is nothing beside 1. */
    dw square = two_prod(k, near, near), sum = two_sum(k, square.h, cst(k, one));
    dw r = root(k, fast_two_sum(k, sum.h, add(k, sum.l, square.l)));
    dw s = two_sum(k, near, r.h);
    s = fast_two_sum(k, s.h, add(k, s.l, r.l));
    num x = sel(k, far, a, s.h);
    log_parts p = log_table(k, x, sel(k, far, cst(k, 0.0), s.l));
    p.e = add(k, p.e, sel(k, far, cst(k, 1.0), cst(k, 0.0)));
    dw y = log_whole(k, p);
    return log_special(k, x, add(k, y.h, y.l));
}

/* Below 2^-28 asinh and atanh are their arguments: the next term is a²/6, a²/3. */
static num or_itself(const real *k, num a, num r) {
    return sel(k, lt(k, a, cst(k, 0x1p-28)), a, r);
}

kir_value *define_asinh(kir_builder *b, hg_type type, kir_value *const *arg) {
    real k = real_begin(b, type);
    num a = magnitude(&k, arg[0]);
    return real_with_sign(b, or_itself(&k, a, log_of_root(&k, a, 1.0)), arg[0]);
}

kir_value *define_acosh(kir_builder *b, hg_type type, kir_value *const *arg) {
    real k = real_begin(b, type);
    num nan = real_of(b, kir_const(b, bits_type(k.type), UINT64_C(0x7FF8) << 48));
    num inside = kir_binary(b, KIR_FCMP_LE, cst(&k, 1.0), arg[0]);
    return sel(&k, inside, log_of_root(&k, sel(&k, inside, arg[0], cst(&k, 1.0)), -1.0), nan);
}

/* Half the logarithm of (1 + a) / (1 - a), both of them exact. */
kir_value *define_atanh(kir_builder *b, hg_type type, kir_value *const *arg) {
    real k = real_begin(b, type);
    num a = magnitude(&k, arg[0]), one = cst(&k, 1.0), zero = cst(&k, 0.0);
    num inside = lt(&k, a, one), m = sel(&k, inside, a, zero);
    dw above = two_sum(&k, one, m), below = two_sum(&k, one, neg(&k, m)),
       q = dw_div(&k, above, below);
    q = fast_two_sum(&k, q.h, q.l);
    dw y = log_whole(&k, log_table(&k, q.h, q.l));
    num r = or_itself(&k, a, scaled(&k, add(&k, y.h, y.l), 0.5));
    num nan = real_of(b, kir_const(b, bits_type(k.type), UINT64_C(0x7FF8) << 48));
    r = sel(&k, inside, r, sel(&k, eq(&k, a, one), cst(&k, (double)INFINITY), nan));
    return real_with_sign(b, r, arg[0]);
}

kir_value *define_log2(kir_builder *b, hg_type type, kir_value *const *arg) {
    real k = real_begin(b, type);
    log_parts p = log_table(&k, arg[0], NULL);
    dw g = dw_mul(&k, p.g, table_dw(&k, log2e_f64)); /* 0 or at least 2^-54 */
    dw s = fast_two_sum(&k, p.e, g.h);
    return log_special(&k, arg[0], add(&k, s.h, add(&k, s.l, g.l)));
}

kir_value *define_log10(kir_builder *b, hg_type type, kir_value *const *arg) {
    real k = real_begin(b, type);
    log_parts p = log_table(&k, arg[0], NULL);
    dw g = dw_mul(&k, p.g, table_dw(&k, log10e_f64)); /* 0 or at least 2^-56;
                                                                   e is whole */
    dw factor = table_dw(&k, log10_2_f64);
    dw e = dw_mul(&k, (dw){p.e, cst(&k, 0.0)}, factor);
    dw s = fast_two_sum(&k, e.h, g.h);
    return log_special(&k, arg[0], add(&k, s.h, add(&k, s.l, add(&k, e.l, g.l))));
}

/* |x|^y for finite x > 0: e^(y log x) with the logarithm to twice the precision. A larger |y| than
 * 2^80 overflows or underflows just as well, and 1^y stays 1. */
static num pow_magnitude(const real *k, num x, num y) {
    dw l = log_whole(k, log_table(k, x, NULL));
    double most = 0x1p80, low = -760.0, high = 720.0;
    num limited = at_least(k, at_most(k, y, most), -most);
    dw p = two_prod(k, limited, l.h); /* at most 2^90; what l is where h is below 2^-968 is lost
                                         beside 1 */
    num rest = add(k, p.l, mul(k, limited, l.l));
    num inside = both(k, lt(k, cst(k, low), p.h), lt(k, p.h, cst(k, high)));
    rest = sel(k, inside, rest, cst(k, 0.0));
    num n;
    dw e = exp_dw(k, at_least(k, at_most(k, p.h, high), low), rest, &n);
    return scale_sum(k, e, n);
}

num pow_of_magnitude(const real *given, num x, num y, num r) {
    const real k = *given;
    kir_builder *b = k.b;
    num zero = cst(&k, 0.0), one = cst(&k, 1.0), infinity = cst(&k, (double)INFINITY);
    num a = magnitude(&k, x);
    num y_negative = lt(&k, y, zero);
    r = sel(&k, eq(&k, a, zero), sel(&k, y_negative, infinity, zero), r);
    r = sel(&k, eq(&k, a, infinity), sel(&k, y_negative, zero, infinity), r);
    /* |y| + 2^23 (F64: 2^52) has no fraction, and its last bit is that of the integer */
    double base = k.wide ? 0x1p52 : 0x1p23;
    num ay = magnitude(&k, y), shift = sel(&k, lt(&k, ay, cst(&k, base)), cst(&k, base), zero),
        shifted = add(&k, ay, shift);
    num whole = eq(&k, sub(&k, shifted, shift), ay), last = int_and(b, bits_of(b, shifted), 1);
    num odd = both(&k, both(&k, whole, lt(&k, ay, cst(&k, 2 * base))),
                   kir_binary(b, KIR_CMP_EQ, last, kir_const(b, last->type, 1)));
    num negative = is_negative(&k, x);
    r = sel(&k, both(&k, negative, odd), neg(&k, r), r);
    num bad = both(&k, both(&k, lt(&k, x, zero), kir_not(b, whole)), lt(&k, a, infinity));
    num numbers = both(&k, is_number(b, x), is_number(b, y));
    num nan = real_of(
        b, kir_const(b, bits_type(k.type), k.wide ? UINT64_C(0x7FF8) << 48 : 0x7FC00000));
    r = sel(&k, both(&k, numbers, kir_not(b, bad)), r, nan);
    return sel(&k, either(&k, eq(&k, x, one), eq(&k, y, zero)), one, r);
}

kir_value *define_pow(kir_builder *b, hg_type type, kir_value *const *arg) {
    real k = real_begin(b, type);
    num r = pow_magnitude(&k, magnitude(&k, arg[0]), arg[1]);
    return pow_of_magnitude(&k, arg[0], arg[1], r);
}
