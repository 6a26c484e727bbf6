/* SIN COS TAN of F64: reduction by multiples of pi/2, then two polynomials; SINPI COSPI. F32 has
 * nearest.c.
 * Must not know: targets. */
#include "kir/define/coefficients.h"
#include "kir/define/real.h"
#include "kir/builder.h"
#include <math.h>

/* |x| = q · pi/2 + r, |r| <= pi/4 (a little more at ties), the low two bits of q count, in the bits
 * type. */
typedef struct reduced {
    dw r;
    num q;
} reduced;

/* Cody and Waite: n < 2^21 times each of the first three parts is exact. The larger term of a
 * fast_two_sum may be the second here: the first is a whole number of the second's last places,
 * which is enough. */
static reduced reduce_small(const real *k, num x) {
    reduced out;
    rounded whole = round_near(k, scaled(k, x, two_over_pi_f64[0]));
    num n = whole.real;
    out.q = whole.integer;
    const double *c = half_pi_f64;
    num rest = sub(k, x, scaled(k, n, c[0]));
    dw s = fast_two_sum(k, rest, neg(k, scaled(k, n, c[1])));
    dw u = fast_two_sum(k, s.h, neg(k, scaled(k, n, c[2])));
    num low = sub(k, add(k, s.l, u.l), scaled(k, n, c[3]));
    out.r = fast_two_sum(k, u.h, low);
    return out;
}

/* 32 bits of 2/pi from bit position `bit` on. */
static num window(kir_builder *b, kir_table *table, num bit, uint32_t word) {
    num index = int_add(b, int_shr(b, bit, 5), word), shift = int_and(b, bit, 31);
    num first = kir_table_get(b, table, index),
        second = kir_table_get(b, table, int_add(b, index, 1));
    num none = kir_binary(b, KIR_CMP_EQ, shift, kir_const(b, HG_TYPE_U32, 0));
    num right = kir_sub(b, kir_const(b, HG_TYPE_U32, 32), shift);
    num low = kir_select(b, none, kir_const(b, HG_TYPE_U32, 0),
                         kir_binary(b, KIR_LSHR, second, right));
    return int_or(b, kir_binary(b, KIR_SHL, first, shift), low);
}

static num wide_window(kir_builder *b, kir_table *table, num bit, uint32_t word) {
    num high = kir_convert(b, KIR_ZEXT, HG_TYPE_U64, window(b, table, bit, word));
    num low = kir_convert(b, KIR_ZEXT, HG_TYPE_U64, window(b, table, bit, word + 1));
    return int_or(b, int_shl(b, high, 32), low);
}

static kir_table *two_over_pi(kir_builder *b) {
    for (kir_table *t = b->module->tables; t; t = t->next)
        if (t->type == HG_TYPE_U32 && t->length == HG_COUNT_OF(two_over_pi_words) && t->name &&
            t->name[0] == '2')
            return t;
    return kir_table_create(b->module, HG_TYPE_U32, HG_COUNT_OF(two_over_pi_words),
                            two_over_pi_words, "2/pi");
}

/* The signed fraction of high:low / 2^(bits of high - 2), that is, in units of pi/2, as a sum of
 * two floats times 2^-62. */
static dw fraction_f64(const real *k, num high, num low) {
    kir_builder *b = k->b;
    num h = kir_convert(b, KIR_S2F, HG_TYPE_F64, high);
    num rest = kir_convert(b, KIR_S2F, HG_TYPE_F64,
                           kir_sub(b, high, kir_convert(b, KIR_F2S, HG_TYPE_U64, h)));
    num upper = scaled(k, kir_convert(b, KIR_U2F, HG_TYPE_F64, int_shr(b, low, 32)), 0x1p-32);
    num lower = scaled(
        k, kir_convert(b, KIR_U2F, HG_TYPE_F64, int_and(b, low, UINT64_C(0xFFFFFFFF))), 0x1p-64);
    dw s = two_sum(k, h, add(k, rest, upper)); /* rest is a whole number below 2^11, upper has 32
                                                  bits: exact */
    return two_sum(k, s.h, add(k, s.l, lower));
}

/* F32: x · 2/pi modulo 4, times 2^62. */
kir_value *quarter_turns(const real *k, num x) {
    kir_builder *b = k->b;
    kir_table *table = two_over_pi(b);
    num bits = bits_of(b, x), m = int_add(b, int_and(b, bits, 0x7FFFFF), 0x800000), w[3];
    num bit = int_add(b, int_shr(b, bits, 23), (uint64_t)-150 + 62);
    num wide_m = kir_convert(b, KIR_ZEXT, HG_TYPE_U64, m);
    for (uint32_t i = 0; i < 3; i++)
        w[i] = kir_convert(b, KIR_ZEXT, HG_TYPE_U64, window(b, table, bit, i));
    num high = kir_add(b, int_shl(b, kir_mul(b, wide_m, w[0]), 32), kir_mul(b, wide_m, w[1]));
    return kir_add(b, high, int_shr(b, kir_mul(b, wide_m, w[2]), 32));
}

/* Payne and Hanek: |x| = m · 2^e; the bits of 2/pi that matter modulo 4 times m give the quadrant
 * and its fraction in integers. */
static reduced reduce_large(const real *k, num x) {
    kir_builder *b = k->b;
    kir_table *table = two_over_pi(b);
    reduced out;
    enum { FRACTION_BITS = 52 };
    num bits = bits_of(b, x);
    num m = int_and(b, bits, (UINT64_C(1) << FRACTION_BITS) - 1);
    m = int_add(b, m, UINT64_C(1) << FRACTION_BITS);
    num exponent = kir_convert(b, KIR_TRUNC, HG_TYPE_U32, int_shr(b, bits, FRACTION_BITS));
    /* e = exponent - 1075; the window starts at bit e - 2 of 2/pi, and two zero words stand
     * before it */
    num bit = int_add(b, exponent, (uint64_t)-1075 + 62);
    num w0 = wide_window(b, table, bit, 0), w1 = wide_window(b, table, bit, 2),
        w2 = wide_window(b, table, bit, 4);
    num middle = kir_mul(b, m, w1), low = kir_add(b, middle, kir_binary(b, KIR_MULHI_U, m, w2));
    num carry = kir_select(b, kir_binary(b, KIR_CMP_ULT, low, middle), kir_const(b, HG_TYPE_U64, 1),
                           kir_const(b, HG_TYPE_U64, 0));
    num high = kir_add(b, kir_mul(b, m, w0), kir_binary(b, KIR_MULHI_U, m, w1));
    high = kir_add(b, high, carry);
    num q = int_shr(b, int_add(b, high, UINT64_C(1) << 61), 62);
    out.q = q;
    high = kir_sub(b, high, int_shl(b, q, 62));
    dw f = fraction_f64(k, high, low);
    f = dw_scaled(k, f, 0x1p-62);
    dw half_pi = table_dw(k, half_pi_dw_f64);
    out.r = dw_mul(k, f, half_pi); /* f is 0 or at least 2^-126 */
    return out;
}

static reduced reduce(const real *k, num x) {
    kir_builder *b = k->b;
    kir_var *h = kir_var_create(b->module, b->function, k->type, 0, NULL),
            *l = kir_var_create(b->module, b->function, k->type, 0, NULL);
    kir_var *q = kir_var_create(b->module, b->function, bits_type(k->type), 0, NULL);
    num a = magnitude(k, x);
    reduced r = reduce_small(k, a);
    kir_set(b, h, r.r.h);
    kir_set(b, l, r.r.l);
    kir_set(b, q, r.q);
    num large = lt(k, cst(k, 0x1.921fb54442d18p20), a);
    num branch = kir_if_begin(b, large);
    r = reduce_large(k, a);
    kir_set(b, h, r.r.h);
    kir_set(b, l, r.r.l);
    kir_set(b, q, r.q);
    kir_if_end(b, branch);
    r.r.h = kir_get(b, h);
    r.r.l = kir_get(b, l);
    r.q = kir_get(b, q);
    return r;
}

/* Choices by bits of the quadrant are made with masks: vector code everywhere, also where u64
 * cannot be compared. */
static num odd_mask(const real *k, num q) {
    return kir_sub(k->b, kir_const(k->b, q->type, 0), int_and(k->b, q, 1));
}
static num blend(const real *k, num mask, num x, num y) { /* mask ? x : y */
    num by = bits_of(k->b, y), differ = kir_binary(k->b, KIR_XOR, bits_of(k->b, x), by);
    return real_of(k->b, kir_binary(k->b, KIR_XOR, by, kir_binary(k->b, KIR_AND, differ, mask)));
}
/* x with its sign flipped where bit 1 of q is set, and once more where `with` is negative. */
static num turn(const real *k, num x, num q, num with) {
    num sign = int_and(k->b, int_shl(k->b, q, 62), sign_bit(k->type)),
        bits = kir_binary(k->b, KIR_XOR, bits_of(k->b, x), sign);
    if (with)
        bits = kir_binary(k->b, KIR_XOR, bits,
                          int_and(k->b, bits_of(k->b, with), sign_bit(k->type)));
    return real_of(k->b, bits);
}

/* Tiny arguments are their own sine and tangent; infinite and NaN ones give NaN. */
static num ends(const real *k, num x, num r, bool odd) {
    num a = magnitude(k, x), finite = lt(k, a, cst(k, (double)INFINITY));
    if (odd) r = sel(k, lt(k, a, cst(k, 0x1p-28)), x, r);
    return sel(k, finite, r,
               real_of(k->b, kir_const(k->b, bits_type(k->type), UINT64_C(0x7FF8) << 48)));
}

/* ---- by a table of sines ---- */

/* (sin t - t)/t³ and (cos t - 1)/t² by t², |t| <= pi/128 */
static const double SIN_PI[] = {-0x1.5555555555555p-3, 0x1.1111111111111p-7,
                                -0x1.a01a01a01a01ap-13},
                    COS_PI[] = {-0.5, 0x1.5555555555555p-5, -0x1.6c16c16c16c17p-10,
                                0x1.a01a01a01a01ap-16};

/* sin(j pi/64 + t.h + t.l), or the cosine where odd is all ones: a cos t + b sin t, not negative.
 * j is whole, 0 to 16. */
static dw sine_from_table(const real *k, num j, dw t, num odd) {
    kir_builder *b = k->b;
    num index = int_and(b, kir_convert(b, KIR_TRUNC, HG_TYPE_U32, j), 31),
        up = kir_add(b, index, index), down = kir_sub(b, kir_const(b, HG_TYPE_U32, 64), up);
    num entry[4], turned[4]; /* sine, then cosine, of j pi/64; of j pi/64 + pi/2 where it is odd */
    for (uint32_t i = 0; i < 4; i++)
        entry[i] = table_at(k, "sin_pi", sin_pi_f64, HG_COUNT_OF(sin_pi_f64),
                            int_add(b, i < 2 ? up : down, i & 1));
    for (uint32_t i = 0; i < 4; i++) {
        num other = entry[i ^ 2];
        if (i >= 2) other = neg(k, other);
        turned[i] = blend(k, odd, other, entry[i]);
    }
    dw a = {turned[0], turned[1]}, f = {turned[2], turned[3]}, p = two_prod(k, f.h, t.h);
    num z = mul(k, t.h, t.h), low = mul(k, f.h, t.l);
    low = add(k, low, mul(k, f.l, t.h));
    num less = mul(k, a.h, mul(k, z, POLYNOMIAL(k, COS_PI, z)));
    num more = mul(k, p.h, mul(k, z, POLYNOMIAL(k, SIN_PI, z)));
    dw sum = fast_two_sum(k, a.h, p.h);
    num known = add(k, a.l, p.l), rest = add(k, less, more);
    sum.l = add(k, sum.l, add(k, known, add(k, low, rest)));
    return sum;
}
/* The sign of r, where odd is not set. */
static num sign_where_even(const real *k, num y, num r, num odd) {
    num sign = int_and(k->b, bits_of(k->b, r), sign_bit(k->type));
    num none = kir_binary(k->b, KIR_AND, sign, odd);
    sign = kir_binary(k->b, KIR_XOR, sign, none);
    return real_of(k->b, kir_binary(k->b, KIR_XOR, bits_of(k->b, y), sign));
}

/* |r| = j pi/64 + t, r within pi/4 (a little more at ties). */
static num split_angle(const real *k, dw r, dw *t) {
    num minus = is_negative(k, r.h), less = sel(k, minus, neg(k, r.l), r.l);
    dw v = {magnitude(k, r.h), less};
    const double *c = pi_64_f64;
    rounded j = round_near(k, scaled(k, v.h, 0x1.45f306dc9c883p+4)); /* 64/pi */
    num rest = sub(k, v.h, scaled(k, j.real, c[0]));
    dw s = two_sum(k, rest, scaled(k, j.real, -c[1]));
    num low = sub(k, v.l, scaled(k, j.real, c[2]));
    *t = fast_two_sum(k, s.h, add(k, s.l, low));
    return j.integer;
}

/* sin(r + quarters pi/2) but for the sign of bit 1. */
static num sine_of(const real *k, dw r, num quarters) {
    dw t;
    num j = split_angle(k, r, &t), odd = odd_mask(k, quarters);
    dw sum = sine_from_table(k, j, t, odd);
    return sign_where_even(k, add(k, sum.h, sum.l), r.h, odd);
}

kir_value *define_sin(kir_builder *b, hg_type type, kir_value *const *arg) {
    real k = real_begin(b, type);
    reduced x = reduce(&k, arg[0]);
    return ends(&k, arg[0], turn(&k, sine_of(&k, x.r, x.q), x.q, arg[0]), true);
}

kir_value *define_cos(kir_builder *b, hg_type type, kir_value *const *arg) {
    real k = real_begin(b, type);
    reduced x = reduce(&k, arg[0]);
    num q = int_add(b, x.q, 1);
    return ends(&k, arg[0], turn(&k, sine_of(&k, x.r, q), q, NULL), false);
}

kir_value *define_tan(kir_builder *b, hg_type type, kir_value *const *arg) {
    real k = real_begin(b, type);
    reduced x = reduce(&k, arg[0]);
    dw t;
    num j = split_angle(&k, x.r, &t), none = kir_const(b, bits_type(k.type), 0);
    num odd = odd_mask(&k, x.q), all = kir_const(b, bits_type(k.type), UINT64_MAX);
    dw s = sine_from_table(&k, j, t, none), c = sine_from_table(&k, j, t, all);
    num top_l = blend(&k, odd, c.l, s.l), bottom_l = blend(&k, odd, s.l, c.l);
    dw top = {blend(&k, odd, c.h, s.h), top_l},
       bottom = fast_two_sum(&k, blend(&k, odd, s.h, c.h), bottom_l);
    num tangent = sign_where_even(&k, dw_quotient(&k, top, bottom), x.r.h, none);
    return ends(&k, arg[0], turn(&k, tangent, int_shl(b, x.q, 1), arg[0]), true);
}

/* ---- of pi x ---- */

/* |x| = q/2 + r modulo 2 and |r| = j/64 + d, exactly. cos(pi x) = sin(pi (x + 1/2)). */
static kir_value *of_pi(kir_builder *b, num x, bool cosine) {
    const real made = real_begin(b, HG_TYPE_F64), *k = &made;
    num size = magnitude(k, x), zero = cst(k, 0.0);
    num u = sub(k, size, scaled(k, kir_unary(b, KIR_FFLOOR, scaled(k, size, 0.5)), 2.0));
    rounded q = round_near(k, add(k, u, u));
    num r = sub(k, u, scaled(k, q.real, 0.5)), v = magnitude(k, r);
    rounded j = round_near(k, scaled(k, v, 64.0));
    num d = sub(k, v, scaled(k, j.real, 0x1p-6)), tiny = lt(k, v, cst(k, 0x1p-900));
    d = mul(k, d, sel(k, tiny, cst(k, 0x1p200), cst(k, 1.0))); /* then the sine is below 2^-698 */
    num turns = cosine ? int_add(b, q.integer, 1) : q.integer, odd = odd_mask(k, turns);
    dw pi = table_dw(k, pi_f64), t = dw_mul(k, (dw){d, zero}, pi); /* 0 or at least 2^-873 */
    dw sum = sine_from_table(k, j.integer, t, odd);
    num y = scale_sum(k, sum,
                      sel(k, both(k, tiny, lt(k, sum.h, cst(k, 0.5))), cst(k, -200.0), zero));
    num signed_y = turn(k, sign_where_even(k, y, r, odd), turns, NULL);
    y = sel(k, eq(k, y, zero), zero, signed_y); /* a zero has the sign of x, or none */
    if (!cosine) y = turn(k, y, kir_const(b, bits_type(k->type), 0), x);
    return ends(k, x, y, false);
}

kir_value *define_sinpi(kir_builder *b, hg_type type, kir_value *const *arg) {
    (void)type;
    return of_pi(b, arg[0], false);
}

kir_value *define_cospi(kir_builder *b, hg_type type, kir_value *const *arg) {
    (void)type;
    return of_pi(b, arg[0], true);
}
