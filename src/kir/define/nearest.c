/* Functions of F32 that are rounded correctly: worked out in F64 to a little more than its last
 * place and rounded once. Sweeps over all arguments (tests/accuracy) prove the results, for both
 * meanings of FMAD, so they do not depend on how a target multiplies and adds; the few arguments
 * whose results lie too close to the middle of two numbers stand in lists.
 * Must not know: targets. */
#include "kir/define/coefficients.h"
#include "kir/define/nearest.h"
#include "kir/builder.h"
#include <math.h>

nearest near_begin(kir_builder *b, num x) {
    nearest n = {.x = x};
    n.single = real_begin(b, HG_TYPE_F32);
    n.k = real_begin(b, HG_TYPE_F64);
    return n;
}
static num between(const nearest *n, double low, double high) {
    return widen(n, at_least(&n->single, at_most(&n->single, n->x, high), low));
}
num series(const real *k, const char *name, const double *c, uint32_t count, num x) {
    kir_builder *b = k->b;
    num last = cst(k, c[count - 1]);
    if (!b->caps || b->caps->f64) {
        for (uint32_t i = count - 1; i-- > 0;) last = mad(k, last, x, cst(k, c[i]));
        return last;
    }
    kir_var *sum = kir_var_create(b->module, b->function, HG_TYPE_F64, 0, NULL),
            *left = kir_var_create(b->module, b->function, HG_TYPE_U32, 0, NULL);
    kir_set(b, sum, last);
    kir_set(b, left, kir_const(b, HG_TYPE_U32, count - 1));
    kir_value *loop = kir_loop_begin(b, true);
    num n = kir_get(b, left);
    kir_value *done = kir_if_begin(b, kir_binary(b, KIR_CMP_EQ, n, kir_const(b, HG_TYPE_U32, 0)));
    kir_break(b);
    kir_if_end(b, done);
    n = int_add(b, n, UINT32_MAX);
    kir_set(b, left, n);
    num before = kir_get(b, sum), next = table_at(k, name, c, count, n);
    kir_set(b, sum, mad(k, before, x, next));
    kir_loop_end(b, loop);
    return kir_get(b, sum);
}

/* Arguments, and results that the rest of a definition would miss. */
typedef struct exception {
    uint32_t x, result;
} exception;
static num corrected(const nearest *n, num x, num r, const exception *list, size_t count) {
    kir_builder *b = n->k.b;
    for (size_t i = 0; i < count; i++) {
        num is = kir_binary(b, KIR_CMP_EQ, bits_of(b, x), kir_const(b, HG_TYPE_U32, list[i].x));
        r = sel(&n->single, is, real_of(b, kir_const(b, HG_TYPE_U32, list[i].result)), r);
    }
    return r;
}
#define CORRECTED(n, x, r, list) corrected(n, x, r, list, HG_COUNT_OF(list))

/* Small arguments are their own results: what is added is less than half of their last place. */
static num or_tiny(const nearest *n, num r, double below) {
    const real *s = &n->single;
    return sel(s, lt(s, magnitude(s, n->x), cst(s, below)), n->x, r);
}

/* ---- exponentials ---- */

/* x = n ln 2 + r; the integer is in the low bits of shifted. */
typedef struct reduced_power {
    num r, shifted;
} reduced_power;

static reduced_power reduce_power(const real *k, num x) {
    num shifted = mad(k, x, cst(k, log2e_f64[0]), cst(k, SHIFT));
    num n = sub(k, shifted, cst(k, SHIFT));
    num r = mad(k, n, cst(k, -ln2_f64[0]), x);
    return (reduced_power){mad(k, n, cst(k, -ln2_f64[1]), r), shifted};
}
/* e^r - 1 */
static num exp_minus_1(const real *k, num r) {
    num square = mul(k, r, r);
    return mad(k, square, SERIES(k, exp_q_f64, r), r);
}
num times_power(const real *k, num x, num shifted) {
    return real_of(k->b,
                   kir_add(k->b, bits_of(k->b, x), int_shl(k->b, bits_of(k->b, shifted), 52)));
}
num exp_of(const real *k, num x) {
    reduced_power p = reduce_power(k, x);
    num e = add(k, cst(k, 1.0), exp_minus_1(k, p.r));
    return times_power(k, e, p.shifted);
}
/* e^x - 1 to the last places of small results too: 2^n (e^r - 1) + (2^n - 1). */
static num expm1_of(const real *k, num x) {
    reduced_power p = reduce_power(k, x);
    num e = exp_minus_1(k, p.r), one = cst(k, 1.0), scale = times_power(k, one, p.shifted);
    return mad(k, scale, e, sub(k, scale, one));
}

kir_value *nearest_exp(kir_builder *b, kir_value *x) {
    nearest n = near_begin(b, x);
    return narrow(&n, exp_of(&n.k, between(&n, -104.0, 89.0)));
}

kir_value *nearest_exp2(kir_builder *b, kir_value *x) {
    nearest n = near_begin(b, x);
    const real *k = &n.k;
    num a = between(&n, -152.0, 129.0), shifted = add(k, a, cst(k, SHIFT));
    num r = scaled(k, sub(k, a, sub(k, shifted, cst(k, SHIFT))), ln2_near_f64[0]);
    num e = add(k, cst(k, 1.0), exp_minus_1(k, r));
    static const exception LIST[] = {{0x3B429D37, 0x3F804385}, {0xBCF3A937, 0x3F7AC6B1}};
    return CORRECTED(&n, x, narrow(&n, times_power(k, e, shifted)), LIST);
}

/* x = n log10(2) + r, and 10^r = e^(r ln 10). */
kir_value *nearest_exp10(kir_builder *b, kir_value *x) {
    nearest n = near_begin(b, x);
    const real *k = &n.k;
    num a = between(&n, -46.0, 39.0), shifted = mad(k, a, cst(k, log2_10_f64[0]), cst(k, SHIFT));
    num whole = sub(k, shifted, cst(k, SHIFT)), r = mad(k, whole, cst(k, -near_log10_2[0]), a);
    r = scaled(k, mad(k, whole, cst(k, -near_log10_2[1]), r), ln10_f64[0]);
    num e = add(k, cst(k, 1.0), exp_minus_1(k, r));
    return narrow(&n, times_power(k, e, shifted));
}

kir_value *nearest_expm1(kir_builder *b, kir_value *x) {
    nearest n = near_begin(b, x);
    return or_tiny(&n, narrow(&n, expm1_of(&n.k, between(&n, -40.0, 89.0))), 0x1p-26);
}

/* (e^a - 1) / (e^a + 1) of a = 2 |x| */
kir_value *nearest_tanh(kir_builder *b, kir_value *x) {
    nearest n = near_begin(b, x);
    const real *k = &n.k, *s = &n.single;
    num a = widen(&n, at_most(s, magnitude(s, x), 12.0));
    num e = expm1_of(k, add(k, a, a));
    num r = narrow(&n, quotient(k, e, add(k, e, cst(k, 2.0))));
    return real_with_sign(b, r, x);
}

/* 1 + e^-x */
static num one_and_exp(const real *k, num x) { return add(k, cst(k, 1.0), exp_of(k, neg(k, x))); }

/* Next to 0 it is 1/2 + x/4 - x^3/48, which may be so near a tie that F64 does not see it. */
kir_value *nearest_sigmoid(kir_builder *b, kir_value *x) {
    nearest n = near_begin(b, x);
    const real *k = &n.k, *s = &n.single;
    num a = between(&n, -110.0, 89.0), r = quotient(k, cst(k, 1.0), one_and_exp(k, a));
    num less = real_with_sign(b, cst(k, 0x1p-51), a);
    num line = mad(k, a, cst(k, 0.25), sub(k, cst(k, 0.5), less));
    static const exception LIST[] = {{0xBA928601, 0x3EFFDB5F}};
    r = sel(k, lt(s, magnitude(s, x), cst(s, 0x1p-11)), line, r);
    return CORRECTED(&n, x, narrow(&n, r), LIST);
}

/* x / (1 + e^-x). Of a tiny x it is a little more than x / 2, which may be a tie. -inf gives -0,
 * the limit. */
kir_value *nearest_swish(kir_builder *b, kir_value *x) {
    nearest n = near_begin(b, x);
    const real *k = &n.k;
    num a = widen(&n, at_least(&n.single, x, -120.0)), limited = between(&n, -120.0, 89.0);
    num small = lt(k, magnitude(k, a), cst(k, 0x1p-40));
    num tiny = real_with_sign(b, cst(k, 0x1p-40), a);
    limited = sel(k, small, tiny, limited);
    return narrow(&n, quotient(k, a, one_and_exp(k, limited)));
}

/* e^±x = 2^±n e^±r, so with the half powers u and v of 2^n and 2^-n the sum and the difference of
 * the two are sums of (u + v) and (u - v) times the hyperbolic sine and cosine of r. */
typedef struct hyperbolic {
    num sine, cosine_1 /* cosh r - 1 */, total, difference;
} hyperbolic;

static hyperbolic hyperbolic_parts(const nearest *n) {
    const real *k = &n->k, *s = &n->single;
    reduced_power p = reduce_power(k, widen(n, at_most(s, magnitude(s, n->x), 91.0)));
    num z = mul(k, p.r, p.r), half = cst(k, 0.5);
    num up = times_power(k, half, p.shifted);
    num down = real_of(
        k->b, kir_sub(k->b, bits_of(k->b, half), int_shl(k->b, bits_of(k->b, p.shifted), 52)));
    hyperbolic h;
    h.sine = mad(k, mul(k, p.r, z), SERIES(k, near_sinh, z), p.r);
    h.cosine_1 = mul(k, z, SERIES(k, near_cosh, z));
    h.total = add(k, up, down);
    h.difference = sub(k, up, down);
    return h;
}

kir_value *nearest_sinh(kir_builder *b, kir_value *x) {
    nearest n = near_begin(b, x);
    const real *k = &n.k;
    hyperbolic h = hyperbolic_parts(&n);
    num small = mad(k, h.difference, h.cosine_1, mul(k, h.total, h.sine));
    static const exception LIST[] = {{0x3A1285FF, 0x3A1285FF}};
    num r = narrow(&n, add(k, h.difference, small));
    r = CORRECTED(&n, magnitude(&n.single, x), r, LIST);
    return real_with_sign(b, r, x);
}

kir_value *nearest_cosh(kir_builder *b, kir_value *x) {
    nearest n = near_begin(b, x);
    const real *k = &n.k;
    hyperbolic h = hyperbolic_parts(&n);
    num small = mad(k, h.total, h.cosine_1, mul(k, h.difference, h.sine));
    return narrow(&n, add(k, h.total, small));
}

/* ---- logarithms ---- */

/* log x = e ln 2 + g of a normal F64 x; less: what is to be added to x, small, and 0 unless x is
 * near 1, or NULL. */
typedef struct logarithm {
    num e, g;
} logarithm;

static logarithm log_parts_of(const real *k, num x, num more) {
    kir_builder *b = k->b;
    logarithm l;
    num bits = bits_of(b, x),
        above = int_add(b, bits, (UINT64_C(1024) << 52) - UINT64_C(0x3FE6A09E667F3BCD));
    num count = int_shr(b, above, 52); /* e + 1024 */
    num m = real_of(b, kir_sub(b, bits, int_shl(b, int_add(b, count, (uint64_t)-1024), 52)));
    num f = sub(k, m, cst(k, 1.0));
    if (more) f = add(k, f, more);
    num s = quotient(k, f, add(k, f, cst(k, 2.0))), z = mul(k, s, s);
    num tail = mul(k, z, SERIES(k, near_log, z));
    l.g = sub(k, f, mul(k, s, sub(k, f, tail)));
    num real_count = real_of(b, int_or(b, count, bits_of(b, cst(k, 0x1p52))));
    l.e = sub(k, real_count, cst(k, 0x1p52 + 1024));
    return l;
}
static num log_sum(const real *k, logarithm l) {
    num low = mad(k, l.e, cst(k, ln2_f64[1]), l.g);
    return mad(k, l.e, cst(k, ln2_f64[0]), low);
}
num log_of(const real *k, num x) { return log_sum(k, log_parts_of(k, x, NULL)); }

/* Of 0 -inf, of negative numbers and NaN a NaN, of infinity itself. */
static num log_ends(const nearest *n, num r) {
    const real *s = &n->single;
    num infinity = cst(s, (double)INFINITY);
    r = sel(s, eq(s, n->x, infinity), infinity, r);
    r = sel(s, eq(s, n->x, cst(s, 0.0)), cst(s, -(double)INFINITY), r);
    num valid = kir_binary(s->b, KIR_FCMP_LE, cst(s, 0.0), n->x);
    return sel(s, valid, r, single_nan(n));
}

kir_value *nearest_log(kir_builder *b, kir_value *x) {
    nearest n = near_begin(b, x);
    static const exception LIST[] = {{0x3C413D3A, 0xC08E158F},
                                     {0x41178FEB, 0x400FE5E7},
                                     {0x4C5D65A5, 0x418F034B},
                                     {0x65D890D3, 0x4254D1F9},
                                     {0x6F31A8EC, 0x42845A89}};
    num r = narrow(&n, log_of(&n.k, widen(&n, x)));
    return log_ends(&n, CORRECTED(&n, x, r, LIST));
}

/* The ends, and what the list corrects, stand behind a branch that arguments below the one with the
 * bits `first` take, and all that are not finite and positive. */
static num rarely(const nearest *n, num r, uint32_t first, const exception *list, size_t count) {
    kir_builder *b = n->k.b;
    kir_var *result = kir_var_create(b->module, b->function, HG_TYPE_F32, 0, NULL);
    num above = int_add(b, bits_of(b, n->x), 0 - (uint64_t)first);
    num rare = kir_binary(b, KIR_CMP_ULT, kir_const(b, HG_TYPE_U32, 0x7F7FFFFF - first), above);
    kir_set(b, result, r);
    kir_value *branch = kir_if_begin(b, rare);
    kir_set(b, result, log_ends(n, corrected(n, n->x, r, list, count)));
    kir_if_end(b, branch);
    return kir_get(b, result);
}

kir_value *nearest_log2(kir_builder *b, kir_value *x) {
    nearest n = near_begin(b, x);
    logarithm l = log_parts_of(&n.k, widen(&n, x), NULL);
    num r = narrow(&n, mad(&n.k, l.g, cst(&n.k, log2e_f64[0]), l.e));
    return rarely(&n, r, 1, NULL, 0);
}

kir_value *nearest_log10(kir_builder *b, kir_value *x) {
    nearest n = near_begin(b, x);
    const real *k = &n.k;
    logarithm l = log_parts_of(k, widen(&n, x), NULL);
    num e = scaled(k, l.e, log10_2_f64[0]);
    static const exception TINY[] = {
        {0x0EFEEE7A, 0xC1E99D23}, {0x120B93DC, 0xC1DAD957}, {0x13AE78D3, 0xC1D2D957}};
    num r = narrow(&n, mad(k, l.g, cst(k, log10e_f64[0]), e));
    return rarely(&n, r, TINY[2].x + 1, TINY, HG_COUNT_OF(TINY));
}

/* log(1 + t), t > -1 */
static num log1p_of(const real *k, num t) {
    num u = add(k, cst(k, 1.0), t), lost = sub(k, t, sub(k, u, cst(k, 1.0)));
    num small = lt(k, magnitude(k, t), cst(k, 0.25));
    lost = sel(k, small, lost, cst(k, 0.0));
    return log_sum(k, log_parts_of(k, u, lost));
}

kir_value *nearest_log1p(kir_builder *b, kir_value *x) {
    nearest n = near_begin(b, x);
    const real *s = &n.single;
    static const exception LIST[] = {
        {0x35400003, 0x353FFFFF}, {0x3710001B, 0x370FFFF3}, {0x3EFD81AD, 0x3ECDEEE1},
        {0x41078FEB, 0x400FE5E7}, {0x65D890D3, 0x4254D1F9}, {0x6F31A8EC, 0x42845A89},
        {0xB53FFFFD, 0xB5400001}, {0xB70FFFE5, 0xB710000D}, {0xBB0EC8C4, 0xBB0EF0A5}};
    num r = CORRECTED(&n, x, narrow(&n, log1p_of(&n.k, widen(&n, x))), LIST);
    num infinity = cst(s, (double)INFINITY), minus = cst(s, -1.0);
    r = sel(s, eq(s, x, infinity), infinity, r);
    r = sel(s, eq(s, x, minus), cst(s, -(double)INFINITY), r);
    num valid = kir_binary(b, KIR_FCMP_LE, minus, x);
    r = sel(s, valid, r, single_nan(&n));
    return or_tiny(&n, r, 0x1p-26);
}

/* log(a + sqrt(a² + 1)) = log1p(a + a² / (1 + sqrt(a² + 1))) */
kir_value *nearest_asinh(kir_builder *b, kir_value *x) {
    nearest n = near_begin(b, x);
    const real *k = &n.k, *s = &n.single;
    num given = magnitude(s, x), a = widen(&n, at_most(s, given, 0x1.fffffep127)),
        one = cst(k, 1.0);
    num square = mul(k, a, a), root = kir_unary(b, KIR_FSQRT, add(k, square, one));
    num t = add(k, a, quotient(k, square, add(k, root, one)));
    static const exception LIST[] = {
        {0x4BDD65A5, 0x418F034B}, {0x655890D3, 0x4254D1F9}, {0x6EB1A8EC, 0x42845A89}};
    num r = CORRECTED(&n, given, narrow(&n, log1p_of(k, t)), LIST);
    r = real_with_sign(b, r, x);
    num finite = lt(s, given, cst(s, (double)INFINITY));
    return sel(s, finite, r, x);
}

/* log(x + sqrt(x² - 1)) = log1p(y + sqrt(y (x + 1))), y = x - 1 */
kir_value *nearest_acosh(kir_builder *b, kir_value *x) {
    nearest n = near_begin(b, x);
    const real *k = &n.k, *s = &n.single;
    num a = widen(&n, x), one = cst(k, 1.0), y = sub(k, a, one);
    num root = kir_unary(b, KIR_FSQRT, mul(k, y, add(k, a, one)));
    static const exception LIST[] = {{0x655890D3, 0x4254D1F9}, {0x6EB1A8EC, 0x42845A89}};
    num r = CORRECTED(&n, x, narrow(&n, log1p_of(k, add(k, y, root))), LIST);
    num infinity = cst(s, (double)INFINITY);
    r = sel(s, eq(s, x, infinity), infinity, r);
    num valid = kir_binary(b, KIR_FCMP_LE, cst(s, 1.0), x);
    return sel(s, valid, r, single_nan(&n));
}

/* log((1 + a) / (1 - a)) / 2 = log1p(2 a / (1 - a)) / 2 */
kir_value *nearest_atanh(kir_builder *b, kir_value *x) {
    nearest n = near_begin(b, x);
    const real *k = &n.k, *s = &n.single;
    num given = magnitude(s, x), a = widen(&n, given);
    num t = quotient(k, add(k, a, a), sub(k, cst(k, 1.0), a));
    num r = narrow(&n, scaled(k, log1p_of(k, t), 0.5));
    num one = cst(s, 1.0);
    r = sel(s, eq(s, given, one), cst(s, (double)INFINITY), r);
    num valid = kir_binary(b, KIR_FCMP_LE, given, one);
    return sel(s, valid, real_with_sign(b, r, x), single_nan(&n));
}

/* ---- sine, cosine, tangent ---- */

/* |x| = n u + r, u = pi or pi/2, |r| <= u/2; of a cosine |x| + pi/2 in its place. The low bits of n
 * count. */
typedef struct turned {
    num r, count;
} turned;

static turned turn_small(const real *k, num x, const double *unit, double per_unit, bool cosine) {
    num turns = mad(k, x, cst(k, per_unit), cst(k, cosine ? 0.5 : SHIFT));
    num shifted = cosine ? add(k, turns, cst(k, SHIFT)) : turns;
    num n = sub(k, shifted, cst(k, SHIFT));
    if (cosine) n = sub(k, n, cst(k, 0.5));
    num r = mad(k, n, cst(k, -unit[0]), x);
    r = mad(k, n, cst(k, -unit[1]), r);
    return (turned){r, bits_of(k->b, shifted)};
}

/* quarter_turns is that of F32. */
static turned turn_large(const nearest *n, num x, bool half, bool cosine) {
    kir_builder *b = n->k.b;
    uint32_t point = half ? 62 : 63; /* bits behind the point of x / u */
    num turns = quarter_turns(&n->single, x);
    if (cosine) turns = int_add(b, turns, UINT64_C(1) << 62);
    num count = int_shr(b, int_add(b, turns, UINT64_C(1) << (point - 1)), point);
    num left = kir_sub(b, turns, int_shl(b, count, point));
    num r = scaled(&n->k, kir_convert(b, KIR_S2F, HG_TYPE_F64, left), half ? 0x1p-62 : 0x1p-63);
    return (turned){scaled(&n->k, r, half ? half_pi_dw_f64[0] : pi_f64[0]), count};
}

static num is_large(const nearest *n) { /* not so of a NaN, which stays one */
    const real *s = &n->single;
    return lt(s, cst(s, 0x1p19), magnitude(s, n->x));
}
static turned turn_of(const nearest *n, bool half, bool cosine) {
    const real *k = &n->k, *s = &n->single;
    kir_builder *b = k->b;
    kir_var *r = kir_var_create(b->module, b->function, HG_TYPE_F64, 0, NULL),
            *count = kir_var_create(b->module, b->function, HG_TYPE_U64, 0, NULL);
    num a = magnitude(s, n->x);
    turned t = turn_small(k, widen(n, a), half ? near_half_pi : near_pi,
                          half ? two_over_pi_f64[0] : near_per_pi[0], cosine);
    kir_set(b, r, t.r);
    kir_set(b, count, t.count);
    num branch = kir_if_begin(b, is_large(n));
    t = turn_large(n, a, half, cosine);
    num nan = real_of(b, kir_const(b, HG_TYPE_U64, UINT64_C(0x7FF8) << 48));
    kir_set(b, r, sel(k, lt(s, a, cst(s, (double)INFINITY)), t.r, nan));
    kir_set(b, count, t.count);
    kir_if_end(b, branch);
    t.r = kir_get(b, r);
    return (turned){t.r, kir_get(b, count)};
}

/* sin r, the sign turned by the lowest bit of the count. */
static num sine_of(const nearest *n, turned t) {
    const real *k = &n->k;
    num z = mul(k, t.r, t.r);
    num s = mad(k, mul(k, t.r, z), SERIES(k, near_sin, z), t.r);
    num sign = int_shl(k->b, t.count, 63);
    return narrow(n, real_of(k->b, kir_binary(k->b, KIR_XOR, bits_of(k->b, s), sign)));
}
static num finite_or_nan(const nearest *n, num r) {
    const real *s = &n->single;
    return sel(s, lt(s, magnitude(s, n->x), cst(s, (double)INFINITY)), r, single_nan(n));
}
static num with_sign_of(const nearest *n, num r) {
    kir_builder *b = n->k.b;
    num sign = int_and(b, bits_of(b, n->x), UINT32_C(1) << 31);
    return real_of(b, kir_binary(b, KIR_XOR, bits_of(b, r), sign));
}

kir_value *nearest_sin(kir_builder *b, kir_value *x) {
    nearest n = near_begin(b, x);
    static const exception LIST[] = {{0x46199998, 0xBEB1FA5D}};
    num r = sine_of(&n, turn_of(&n, false, false));
    return with_sign_of(&n, CORRECTED(&n, magnitude(&n.single, x), r, LIST));
}

kir_value *nearest_cos(kir_builder *b, kir_value *x) {
    nearest n = near_begin(b, x);
    static const exception LIST[] = {
        {0x5F18B878, 0x3F7F14BB}, {0x6115CB11, 0x3F78142F}, {0x7908CD73, 0x3F798BB5}};
    kir_var *result = kir_var_create(b->module, b->function, HG_TYPE_F32, 0, NULL);
    num r = sine_of(&n, turn_of(&n, false, true));
    kir_set(b, result, r);
    num branch = kir_if_begin(b, is_large(&n));
    kir_set(b, result, CORRECTED(&n, magnitude(&n.single, x), r, LIST));
    kir_if_end(b, branch);
    return kir_get(b, result);
}

/* |x| = n + r, of a cosine |x| + 1/2, |r| <= 1/2; whole from 2^24 on. */
static num sine_of_pi(const nearest *n, bool cosine) {
    const real *k = &n->k, *s = &n->single;
    kir_builder *b = k->b;
    num a = widen(n, at_most(s, magnitude(s, n->x), 0x1p24));
    if (cosine) a = add(k, a, cst(k, 0.5));
    num shifted = add(k, a, cst(k, SHIFT)), r = sub(k, a, sub(k, shifted, cst(k, SHIFT)));
    num whole = bits_of(b, shifted), y = sine_of(n, (turned){scaled(k, r, pi_f64[0]), whole});
    return sel(s, eq(k, r, cst(k, 0.0)), cst(s, 0.0), y);
}

kir_value *nearest_sinpi(kir_builder *b, kir_value *x) {
    nearest n = near_begin(b, x);
    return finite_or_nan(&n, with_sign_of(&n, sine_of_pi(&n, false)));
}

kir_value *nearest_cospi(kir_builder *b, kir_value *x) {
    nearest n = near_begin(b, x);
    return finite_or_nan(&n, sine_of_pi(&n, true));
}

/* sin r / cos r, or -cos r / sin r */
kir_value *nearest_tan(kir_builder *b, kir_value *x) {
    nearest n = near_begin(b, x);
    const real *k = &n.k;
    turned t = turn_of(&n, true, false);
    num z = mul(k, t.r, t.r);
    num s = mad(k, mul(k, t.r, z), SERIES(k, sin_s_f64, z), t.r);
    num c = sub(k, cst(k, 1.0), scaled(k, z, 0.5));
    c = mad(k, mul(k, z, z), SERIES(k, cos_c_f64, z), c);
    num odd = kir_sub(b, kir_const(b, HG_TYPE_U64, 0), int_and(b, t.count, 1)); /* a mask */
    num sb = bits_of(b, s), cb = bits_of(b, c), differ = kir_binary(b, KIR_XOR, sb, cb);
    differ = kir_binary(b, KIR_AND, differ, odd);
    num top = real_of(b, kir_binary(b, KIR_XOR, sb, differ));
    num sign = int_and(b, odd, UINT64_C(1) << 63);
    num bottom = kir_binary(b, KIR_XOR, kir_binary(b, KIR_XOR, cb, differ), sign);
    return with_sign_of(&n, narrow(&n, quotient(k, top, real_of(b, bottom))));
}

/* ---- arcs ---- */

/* Of a = |x|: up to tan(pi/8) atan a, up to its inverse pi/4 + atan((a - 1)/(a + 1)), then pi/2 -
 * atan(1/a). */
kir_value *nearest_atan(kir_builder *b, kir_value *x) {
    nearest n = near_begin(b, x);
    const real *k = &n.k, *s = &n.single;
    num given = at_most(s, magnitude(s, x), 0x1p60), a = widen(&n, given), one = cst(k, 1.0);
    num zero = cst(k, 0.0);
    num far = lt(s, cst(s, 0x1.3504f4p+1), given), near = lt(s, given, cst(s, 0x1.a8279ap-2));
    num top = sel(k, near, a, sel(k, far, neg(k, one), sub(k, a, one)));
    num bottom = sel(k, near, one, sel(k, far, a, add(k, a, one)));
    num t = quotient(k, top, bottom), z = mul(k, t, t);
    num base = sel(k, near, zero,
                   sel(k, far, cst(k, half_pi_dw_f64[0]), cst(k, quarter_pi_f64[0])));
    num more = sel(k, near, zero,
                   sel(k, far, cst(k, half_pi_dw_f64[1]), cst(k, quarter_pi_f64[1])));
    num low = mad(k, mul(k, t, z), SERIES(k, atan_a_f64, z), more);
    num r = add(k, base, add(k, t, low));
    static const exception LIST[] = {{0x3D8D6B23, 0x3D8D31C3}};
    r = CORRECTED(&n, given, narrow(&n, r), LIST);
    return real_with_sign(b, r, x);
}

/* asin a = a + a z P(z) with z = a² up to 1/2; above it is pi/2 - 2 asin s, s² = z = (1 - a)/2. */
typedef struct half_arc {
    num large /* a > 1/2 */, arc, rest; /* of a or s: the arc is arc + rest */
} half_arc;

static half_arc half_arc_of(const nearest *n) {
    const real *k = &n->k, *s = &n->single;
    num given = magnitude(s, n->x), a = widen(n, given);
    half_arc h;
    h.large = lt(s, cst(s, 0.5), given);
    num half = scaled(k, sub(k, cst(k, 1.0), a), 0.5), z = sel(k, h.large, half, mul(k, a, a));
    h.arc = sel(k, h.large, kir_unary(k->b, KIR_FSQRT, z), a);
    h.rest = mul(k, mul(k, h.arc, z), SERIES(k, near_asin, z));
    return h;
}
static num inside(const nearest *n, num r) { /* NaN beyond 1 */
    const real *s = &n->single;
    num valid = kir_binary(s->b, KIR_FCMP_LE, magnitude(s, n->x), cst(s, 1.0));
    return sel(s, valid, r, single_nan(n));
}

kir_value *nearest_asin(kir_builder *b, kir_value *x) {
    nearest n = near_begin(b, x);
    const real *k = &n.k;
    half_arc h = half_arc_of(&n);
    num small = add(k, h.arc, h.rest);
    num rest = mad(k, cst(k, -2.0), h.rest, cst(k, half_pi_dw_f64[1]));
    num large = add(k, mad(k, cst(k, -2.0), h.arc, cst(k, half_pi_dw_f64[0])), rest);
    num r = narrow(&n, sel(k, h.large, large, small));
    return inside(&n, real_with_sign(b, r, x));
}

/* pi/2 - asin x; beyond 1/2 that is 2 asin s, and pi less it on the left. */
kir_value *nearest_acos(kir_builder *b, kir_value *x) {
    nearest n = near_begin(b, x);
    const real *k = &n.k, *s = &n.single;
    half_arc h = half_arc_of(&n);
    num left = lt(s, x, cst(s, 0.0)), zero = cst(k, 0.0);
    num times = sel(k, h.large, sel(k, left, cst(k, -2.0), cst(k, 2.0)),
                    sel(k, left, cst(k, 1.0), cst(k, -1.0)));
    num base = sel(k, h.large, sel(k, left, cst(k, pi_f64[0]), zero), cst(k, half_pi_dw_f64[0]));
    num more = sel(k, h.large, sel(k, left, cst(k, pi_f64[1]), zero), cst(k, half_pi_dw_f64[1]));
    num rest = mad(k, times, h.rest, more);
    static const exception LIST[] = {{0x328885A3, 0x3FC90FDB}, {0x39826222, 0x3FC907B5}};
    num r = narrow(&n, add(k, mad(k, times, h.arc, base), rest));
    return inside(&n, CORRECTED(&n, x, r, LIST));
}

/* ---- the normal distribution ---- */

/* P(X < -a) of a >= 0, given e^(-a²/2). */
static num normal_tail(const real *k, num a, num power) {
    num r = quotient(k, cst(k, 1.0), add(k, a, cst(k, 4.0)));
    num u = mul(k, sub(k, a, cst(k, 4.0)), r);
    return mul(k, power, mul(k, SERIES(k, near_tail, u), r));
}

/* x P(X < x). Of a tiny x it is a little more than x / 2, which may be a tie. -inf gives -0, the
 * limit. */
kir_value *nearest_gelu(kir_builder *b, kir_value *x) {
    nearest n = near_begin(b, x);
    const real *k = &n.k, *s = &n.single;
    num limited = widen(&n, at_least(s, x, -14.75)), one = cst(k, 1.0), half = cst(k, 0.5);
    num a = widen(&n, at_most(s, magnitude(s, x), 14.75));
    num tail = normal_tail(k, a, exp_of(k, mul(k, mul(k, a, a), cst(k, -0.5))));
    num negative = lt(s, x, cst(s, 0.0)), tiny = lt(s, magnitude(s, x), cst(s, 0x1p-40));
    tail = sel(k, tiny, sub(k, half, cst(k, 0x1p-42)), tail);
    num part = sel(k, negative, tail, sub(k, one, tail));
    return narrow(&n, mul(k, limited, part));
}

/* 2 P(X < -a sqrt 2) */
static num erfc_of(const real *k, num a) {
    num power = exp_of(k, neg(k, mul(k, a, a)));
    return scaled(k, normal_tail(k, scaled(k, a, sqrt2_f64[0]), power), 2.0);
}

/* 1 - e^(a P(a)): the error of P counts as little as there is left of 1. */
kir_value *nearest_erf(kir_builder *b, kir_value *x) {
    nearest n = near_begin(b, x);
    const real *k = &n.k, *s = &n.single;
    num a = widen(&n, at_most(s, magnitude(s, x), 3.9375));
    num r = expm1_of(k, mul(k, a, SERIES(k, near_erf, a)));
    return real_with_sign(b, magnitude(s, narrow(&n, r)), x);
}

kir_value *nearest_erfc(kir_builder *b, kir_value *x) {
    nearest n = near_begin(b, x);
    const real *k = &n.k, *s = &n.single;
    num tail = erfc_of(k, widen(&n, at_most(s, magnitude(s, x), 10.25)));
    num negative = lt(s, x, cst(s, 0.0));
    static const exception LIST[] = {{0xB76C9F62, 0x3F800085}, {0xBB6C9B37, 0x3F80857D}};
    num r = narrow(&n, sel(k, negative, sub(k, cst(k, 2.0), tail), tail));
    return CORRECTED(&n, x, r, LIST);
}

/* ---- roots ---- */

kir_value *nearest_rsqrt(kir_builder *b, kir_value *x) {
    nearest n = near_begin(b, x);
    num root = kir_unary(b, KIR_FSQRT, widen(&n, x));
    return narrow(&n, quotient(&n.k, cst(&n.k, 1.0), root));
}

/* |x| = m 2^(3 q), m in [1, 8). y is about m^(-1/3), cut to 14 bits, so that c = m y² is exact; the
 * root is c (1 - off)^(-2/3), off = 1 - c y. */
kir_value *nearest_cbrt(kir_builder *b, kir_value *x) {
    nearest n = near_begin(b, x);
    const real *k = &n.k, *s = &n.single;
    num bits = bits_of(b, widen(&n, magnitude(s, x))), count = int_shr(b, bits, 52);
    num m = real_of(b,
                    int_or(b, int_and(b, bits, (UINT64_C(1) << 52) - 1), bits_of(b, cst(k, 1.0))));
    num e = sub(k, real_of(b, int_or(b, count, bits_of(b, cst(k, 0x1p52)))), cst(k, 0x1p52 + 1023));
    num shifted = add(k, scaled(k, sub(k, e, cst(k, 1.0)), 0x1.5555555555555p-2), cst(k, SHIFT));
    num rest = sub(k, e, scaled(k, sub(k, shifted, cst(k, SHIFT)), 3.0)), one = cst(k, 1.0);
    num some = lt(k, cst(k, 0.5), rest), most = lt(k, cst(k, 1.5), rest);
    num root = sel(k, most, cst(k, cbrt_root_f64[1]), sel(k, some, cst(k, cbrt_root_f64[0]), one));
    num scale = sel(k, most, cst(k, 4.0), sel(k, some, cst(k, 2.0), one));
    num y = mul(k, SERIES(k, cbrt_y_f64, m), root);
    y = real_of(b, int_and(b, bits_of(b, y), ~((UINT64_C(1) << 39) - 1)));
    num c = mul(k, mul(k, m, scale), mul(k, y, y));
    num off = mad(k, neg(k, c), y, one);
    static const double POWER[] = {0x1.5555555555555p-1, 0x1.1c71c71c71c72p-1, 0x1.f9add3c0ca458p-2,
                                   0x1.cf8a021b64151p-2}; /* of (1 - off)^(-2/3): 2/3 5/9 40/81
                                                             110/243 */
    num r = mad(k, mul(k, c, off), SERIES(k, POWER, off), c);
    r = real_with_sign(b, narrow(&n, times_power(k, r, shifted)), x);
    num a = magnitude(s, x);
    num plain = both(s, lt(s, cst(s, 0.0), a), lt(s, a, cst(s, (double)INFINITY)));
    return sel(s, plain, r, x);
}
