/* POW ATAN2 HYPOT of F32, F16 and BF16, rounded correctly. HYPOT from its exact square. POW and
 * ATAN2 first in F64; where the numbers as near to that as its error allows do not round to one,
 * lanes go on with sums of two F64, off by less than 2^-93, and powers that are numbers of F64 are
 * told from those next to one in whole numbers. Halves are widened, and F64 is rounded to them.
 * Must not know: targets. */
#include "kir/define/coefficients.h"
#include "kir/define/define.h"
#include "kir/define/nearest.h"
#include "kir/builder.h"
#include <math.h>

static num argument(kir_builder *b, hg_type type, num x) {
    return kir_is_half(type) ? kir_widen_half(b, type, x) : x;
}
/* r of F64, rounded to the type once, as F32. */
static num rounded_to(const nearest *n, hg_type type, num r) {
    if (!kir_is_half(type)) return narrow(n, r);
    return kir_widen_half(n->k.b, type, kir_round_half(n->k.b, type, r, false));
}
/* Of a number of the type, as F32. */
static num as_result(kir_builder *b, hg_type type, num r) {
    return kir_is_half(type) ? kir_narrow_half(b, type, r) : r;
}

/* Whether r and all numbers that are at most off r away round to one. */
static num settled(const nearest *n, hg_type type, num r, double off) {
    num low = rounded_to(n, type, scaled(&n->k, r, 1 - off)),
        high = rounded_to(n, type, scaled(&n->k, r, 1 + off));
    return kir_binary(n->k.b, KIR_CMP_EQ, bits_of(n->k.b, low), bits_of(n->k.b, high));
}

/* Begins a slow path, for lanes that need it. */
static num slow_path(kir_builder *b, num needed) {
    bool always = b->caps && b->caps->slow_paths;
    return kir_if_begin(b, always ? kir_const(b, KIR_BOOL, 1) : needed);
}

/* A positive v, rounded, as rounded to odd, which rounds once more as the exact number does: rest
 * has the sign of what is left of it. */
static num made_odd(const real *k, num v, num rest) {
    kir_builder *b = k->b;
    num bits = bits_of(b, v), one = kir_const(b, bits->type, 1), zero = cst(k, 0.0);
    num up = int_or(b, bits, one), down = int_or(b, kir_sub(b, bits, one), one);
    return real_of(b, sel(k, lt(k, zero, rest), up, sel(k, lt(k, rest, zero), down, bits)));
}

static kir_var *variable(const real *k, uint8_t type) {
    return kir_var_create(k->b->module, k->b->function, type, 0, NULL);
}
/* A loop with so many turns; left counts those behind this one. */
static kir_value *loop_of(const real *k, uint32_t turns, kir_var *left) {
    kir_builder *b = k->b;
    kir_set(b, left, kir_const(b, HG_TYPE_U32, turns));
    kir_value *loop = kir_loop_begin(b, true);
    num n = kir_get(b, left);
    kir_value *done = kir_if_begin(b, kir_binary(b, KIR_CMP_EQ, n, kir_const(b, HG_TYPE_U32, 0)));
    kir_break(b);
    kir_if_end(b, done);
    kir_set(b, left, int_add(b, n, UINT32_MAX));
    return loop;
}

/* Coefficients high and low, constant first, |x| < 1/2. */
static dw dw_series(const real *k, const char *name, const double *c, uint32_t count, dw x) {
    kir_builder *b = k->b;
    kir_var *h = variable(k, HG_TYPE_F64), *l = variable(k, HG_TYPE_F64),
            *left = variable(k, HG_TYPE_U32);
    kir_set(b, h, cst(k, c[2 * count - 2]));
    kir_set(b, l, cst(k, c[2 * count - 1]));
    kir_value *loop = loop_of(k, count - 1, left);
    num high = kir_get(b, h);
    dw p = dw_mul(k, (dw){high, kir_get(b, l)}, x);
    num i = int_shl(b, kir_get(b, left), 1), ch = table_at(k, name, c, 2 * count, i);
    num cl = table_at(k, name, c, 2 * count, int_add(b, i, 1));
    dw s = fast_two_sum(k, ch, p.h);
    s = fast_two_sum(k, s.h, add(k, s.l, add(k, cl, p.l)));
    kir_set(b, h, s.h);
    kir_set(b, l, s.l);
    kir_loop_end(b, loop);
    high = kir_get(b, h);
    return (dw){high, kir_get(b, l)};
}
#define DW_SERIES(k, name, x) dw_series(k, #name, name, HG_COUNT_OF(name) / 2, x)

/* ---- powers ---- */

/* x = 2^e m, m r = 1 + f exactly, as m has 24 bits and r 13: log x = e ln 2 - log r + log(1 + f).
 */
static dw log_exactly(const real *k, num x) {
    num e, above, m = split_exponent(k, x, UINT64_C(0x3FE6900000000000), &e, &above), row[3];
    log_row(k, above, row);
    num f = sub(k, mul(k, m, row[0]), cst(k, 1.0));
    dw whole = {f, cst(k, 0.0)}, g = DW_SERIES(k, log1p_twice, whole);
    g = dw_mul(k, g, whole);
    dw s = two_sum(k, scaled(k, e, ln2_f64[0]), row[1]), t = two_sum(k, s.h, g.h),
       u = two_sum(k, t.h, scaled(k, e, ln2_f64[1]));
    num low = add(k, add(k, s.l, t.l), add(k, row[2], g.l));
    return fast_two_sum(k, u.h, add(k, u.l, add(k, low, scaled(k, e, ln2_f64[2]))));
}

/* e^(p.h + p.l) = (h + l) 2^n, the integer in the low bits of shifted. */
static dw exp_exactly(const real *k, dw p, num *shifted) {
    *shifted = add(k, scaled(k, p.h, log2e_f64[0]), cst(k, SHIFT));
    num n = sub(k, *shifted, cst(k, SHIFT)), r = sub(k, p.h, scaled(k, n, ln2_f64[0]));
    dw s = two_sum(k, r, scaled(k, n, -ln2_f64[1]));
    s = fast_two_sum(k, s.h, add(k, s.l, sub(k, p.l, scaled(k, n, ln2_f64[2]))));
    return DW_SERIES(k, exp_twice, s);
}

/* Whether x^y, x > 0, is a number of F64 (of any exponent). With 2^f y whole that needs a root of
 * x, as often as f; then y is whole, and x is a power of two or 0 < y < 34, as 3^34 has 54 bits. */
static num is_number_of_f64(const real *k, num x, num y) {
    kir_builder *b = k->b;
    kir_var *base = variable(k, HG_TYPE_F64), *exponent = variable(k, HG_TYPE_F64),
            *good = variable(k, KIR_BOOL), *left = variable(k, HG_TYPE_U32);
    kir_set(b, base, x);
    kir_set(b, exponent, y);
    kir_set(b, good, kir_const(b, KIR_BOOL, 1));
    kir_value *loop = loop_of(k, 8, left);
    x = kir_get(b, base);
    y = kir_get(b, exponent);
    num whole = eq(k, kir_unary(b, KIR_FFLOOR, y), y), root = kir_unary(b, KIR_FSQRT, x);
    num is_root = both(k, eq(k, leading_half(k, root), root), eq(k, mul(k, root, root), x));
    kir_set(b, good, both(k, kir_get(b, good), either(k, whole, is_root)));
    kir_set(b, base, sel(k, whole, x, root));
    kir_set(b, exponent, sel(k, whole, y, add(k, y, y)));
    kir_loop_end(b, loop);
    x = kir_get(b, base);
    y = kir_get(b, exponent);
    num one = cst(k, 1.0), fraction = int_and(b, bits_of(b, x), (UINT64_C(1) << 52) - 1);
    num m = real_of(b, int_or(b, fraction, bits_of(b, one))), two = eq(k, m, one);
    num fits = both(k, lt(k, cst(k, 0.0), y), lt(k, y, cst(k, 34.0)));
    kir_var *power = variable(k, HG_TYPE_F64);
    kir_set(b, power, one);
    kir_set(b, good,
            both(k, both(k, kir_get(b, good), eq(k, kir_unary(b, KIR_FFLOOR, y), y)),
                 either(k, two, fits)));
    loop = loop_of(k, 33, left);
    num before = kir_get(b, power), turn = kir_convert(b, KIR_U2F, HG_TYPE_F64, kir_get(b, left));
    num counts = lt(k, turn, y);
    dw p = two_prod(k, before, m);
    kir_set(b, good,
            both(k, kir_get(b, good), either(k, kir_not(b, counts), eq(k, p.l, cst(k, 0.0)))));
    kir_set(b, power, sel(k, counts, p.h, before));
    kir_loop_end(b, loop);
    return kir_get(b, good);
}

/* |x|^y. A larger |y| than 2^40 overflows or underflows just as well, and 1^y stays 1. */
static num power_of_magnitude(const nearest *n, hg_type type, num y) {
    const real *k = &n->k;
    kir_builder *b = k->b;
    num a = widen(n, magnitude(&n->single, n->x));
    num limited = widen(n, at_least(&n->single, at_most(&n->single, y, 0x1p40), -0x1p40));
    num p = mul(k, limited, log_of(k, a));
    num r = exp_of(k, at_least(k, at_most(k, p, 92.0), -110.0));
    kir_var *result = variable(k, HG_TYPE_F64);
    kir_set(b, result, r);
    num branch = slow_path(b, kir_not(b, settled(n, type, r, 0x1p-44)));
    dw l = log_exactly(k, a), q = two_prod(k, limited, l.h);
    num shifted;
    dw e = exp_exactly(k, fast_two_sum(k, q.h, add(k, q.l, mul(k, limited, l.l))), &shifted);
    kir_var *rest = variable(k, HG_TYPE_F64);
    kir_set(b, rest, e.l);
    num close = lt(k, magnitude(k, e.l), scaled(k, e.h, 0x1p-80));
    num next = slow_path(b, close);
    num whole = is_number_of_f64(k, a, limited);
    kir_set(b, rest, sel(k, whole, cst(k, 0.0), e.l));
    kir_if_end(b, next);
    kir_set(b, result, times_power(k, made_odd(k, e.h, kir_get(b, rest)), shifted));
    kir_if_end(b, branch);
    return rounded_to(n, type, kir_get(b, result));
}

kir_value *nearest_pow(kir_builder *b, hg_type type, kir_value *const *arg) {
    num x = argument(b, type, arg[0]), y = argument(b, type, arg[1]);
    nearest n = near_begin(b, x);
    num r = power_of_magnitude(&n, type, y);
    return as_result(b, type, pow_of_magnitude(&n.single, x, y, r));
}

/* ---- the angle of a point ---- */

/* atan t = t + t z P(z), z = t², with t = top/bottom. */
static dw atan_exactly(const real *k, num top, num bottom) {
    num q = quotient(k, top, bottom);
    dw p = two_prod(k, q, bottom);
    dw t = {q, quotient(k, sub(k, sub(k, top, p.h), p.l), bottom)};
    dw z = dw_mul(k, t, t), w = dw_mul(k, t, dw_mul(k, z, DW_SERIES(k, atan_twice, z)));
    dw s = fast_two_sum(k, t.h, w.h);
    return fast_two_sum(k, s.h, add(k, s.l, add(k, t.l, w.l)));
}

/* C atan2(y, x), count pi/4 ± atan t: see define_atan2. n - d and n + d of F32 are exact where they
 * are used: there n is between d/4 and d. */
kir_value *nearest_atan2(kir_builder *b, hg_type type, kir_value *const *arg) {
    num given_y = argument(b, type, arg[0]), given_x = argument(b, type, arg[1]);
    nearest of_y = near_begin(b, given_y);
    const real *k = &of_y.k, *s = &of_y.single;
    num ay = magnitude(s, given_y), ax = magnitude(s, given_x), zero = cst(k, 0.0),
        one = cst(k, 1.0);
    num swap = lt(s, ax, ay), left = is_negative(s, given_x);
    num n = sel(s, swap, ax, ay), d = sel(s, swap, ay, ax), infinity = cst(s, (double)INFINITY);
    n = sel(s, eq(s, d, infinity), sel(s, eq(s, n, infinity), cst(s, 1.0), cst(s, 0.0)), n);
    d = sel(s, either(s, eq(s, d, infinity), eq(s, d, cst(s, 0.0))), cst(s, 1.0), d);
    n = widen(&of_y, n);
    d = widen(&of_y, d);
    num upper = lt(k, scaled(k, d, 0x1.a827999fcef32p-2), n); /* tan(pi/8) */
    num top = sel(k, upper, sub(k, n, d), n), bottom = sel(k, upper, add(k, n, d), d);
    num count = sel(k, upper, one, zero);
    count = sel(k, swap, sub(k, cst(k, 2.0), count), count);
    count = sel(k, left, sub(k, cst(k, 4.0), count), count);
    num flip = kir_binary(b, KIR_XOR, swap, left);
    top = sel(k, flip, neg(k, top), top);
    num t = quotient(k, top, bottom), z = mul(k, t, t);
    num low = mad(k, mul(k, t, z), SERIES(k, atan_a_f64, z), scaled(k, count, quarter_pi_f64[1]));
    num r = add(k, scaled(k, count, quarter_pi_f64[0]), add(k, t, low));
    kir_var *result = variable(k, HG_TYPE_F64);
    kir_set(b, result, r);
    num branch = slow_path(b, kir_not(b, settled(&of_y, type, r, 0x1p-49)));
    dw arc = atan_exactly(k, top, bottom), base = two_prod(k, count, cst(k, quarter_pi_f64[0]));
    dw sum = two_sum(k, base.h, arc.h);
    num rest = add(k, add(k, base.l, scaled(k, count, quarter_pi_f64[1])), arc.l);
    sum = fast_two_sum(k, sum.h, add(k, sum.l, rest));
    kir_set(b, result, made_odd(k, sum.h, sum.l));
    kir_if_end(b, branch);
    r = real_with_sign(b, magnitude(s, rounded_to(&of_y, type, kir_get(b, result))), given_y);
    num numbers = both(s, is_number(b, given_y), is_number(b, given_x));
    return as_result(b, type, sel(s, numbers, r, single_nan(&of_y)));
}

/* ---- the diagonal ---- */

/* The squares are exact, their sum as a sum of two, and so is what the root leaves of it: less than
 * a last place, so that the root can be rounded to odd. */
kir_value *nearest_hypot(kir_builder *b, hg_type type, kir_value *const *arg) {
    num given_x = argument(b, type, arg[0]), given_y = argument(b, type, arg[1]);
    nearest n = near_begin(b, given_x);
    const real *k = &n.k, *s = &n.single;
    num ax = magnitude(s, given_x), ay = magnitude(s, given_y), x = widen(&n, ax),
        y = widen(&n, ay);
    num xx = mul(k, x, x);
    dw sum = two_sum(k, xx, mul(k, y, y));
    num root = kir_unary(b, KIR_FSQRT, sum.h);
    dw square = two_prod(k, root, root);
    num rest = add(k, sub(k, sub(k, sum.h, square.h), square.l), sum.l);
    num r = rounded_to(&n, type, made_odd(k, root, rest)), infinity = cst(s, (double)INFINITY);
    r = sel(s, both(s, is_number(b, ax), is_number(b, ay)), r, single_nan(&n));
    r = sel(s, either(s, eq(s, ax, infinity), eq(s, ay, infinity)), infinity, r);
    return as_result(b, type, r);
}
