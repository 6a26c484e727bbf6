/* Floating-point arithmetic in integers, written once for both formats. The carrier is the integer
 * of the format's width: a significand stands with its highest bit at the carrier's top, which
 * leaves 8 (f32) or 11 (f64) bits below the last place; whatever is cut off below them is
 * remembered by setting the lowest bit.
 * Must not know: targets. */
#include "kir/legalise/soft.h"
#include "kir/builder.h"
#include <stdio.h>

typedef struct soft {
    rewrite_helper h;
    kir_builder *b;
    uint8_t real, c;
    uint32_t bits, fraction, bias;
} soft;
typedef struct unpacked {
    kir_value *sign /* in place */, *e, *m, *magnitude, *zero, *infinite, *nan;
} unpacked;

static void set_format(soft *s, uint8_t real) {
    bool f64 = real == HG_TYPE_F64;
    s->real = real;
    s->c = f64 ? HG_TYPE_U64 : HG_TYPE_U32;
    s->bits = f64 ? 64 : 32;
    s->fraction = f64 ? 52 : 23;
    s->bias = f64 ? 1023 : 127;
}
static bool begin(rewrite_pass *p, soft *s, const char *what, uint8_t real, const char *more,
                  uint8_t result, uint8_t count, const uint8_t *types) {
    char name[64];
    snprintf(name, sizeof name, "soft_%s_%s%s", what, kir_type_name(real), more);
    set_format(s, real);
    s->h = rewrite_helper_begin(p, name, result, count, types);
    s->b = &s->h.b;
    return s->h.fresh;
}
static kir_function *finish(rewrite_pass *p, soft *s, kir_value *result) {
    kir_return(&s->h.b, result);
    rewrite_helper_end(p, &s->h);
    return s->h.function;
}

static kir_value *num(soft *s, uint64_t n) { return kir_const(s->b, s->c, n); }
static kir_value *u32(soft *s, uint32_t n) { return kir_const(s->b, HG_TYPE_U32, n); }
static kir_value *amount(soft *s, kir_value *n) {
    return n->type == HG_TYPE_U32 ? n : kir_convert(s->b, KIR_TRUNC, HG_TYPE_U32, n);
}
#define op(s, o, x, y) kir_binary((s)->b, o, x, y)
#define and_of(s, x, y) op(s, KIR_AND, x, y)
#define or_of(s, x, y) op(s, KIR_OR, x, y)
#define add(s, x, y) op(s, KIR_ADD, x, y)
#define sub(s, x, y) op(s, KIR_SUB, x, y)
#define shr(s, x, n) op(s, KIR_LSHR, x, amount(s, n))
#define shl(s, x, n) op(s, KIR_SHL, x, amount(s, n))
static kir_value *shr_by(soft *s, kir_value *x, uint32_t n) {
    return op(s, KIR_LSHR, x, u32(s, n));
}
static kir_value *shl_by(soft *s, kir_value *x, uint32_t n) { return op(s, KIR_SHL, x, u32(s, n)); }
#define below(s, x, y) op(s, KIR_CMP_ULT, x, y)
#define less(s, x, y) op(s, KIR_CMP_SLT, x, y)
#define equal(s, x, y) op(s, KIR_CMP_EQ, x, y)
static kir_value *is_zero(soft *s, kir_value *x) {
    return equal(s, x, kir_const(s->b, x->type, 0));
}
static kir_value *not_of(soft *s, kir_value *x) { return kir_not(s->b, x); }
#define pick(s, c, x, y) kir_select((s)->b, c, x, y)
static kir_value *flag(soft *s, kir_value *c) { return pick(s, c, num(s, 1), num(s, 0)); }
static uint64_t sign_mask(const soft *s) { return UINT64_C(1) << (s->bits - 1); }
static uint64_t infinity_bits(const soft *s) { return (uint64_t)(2 * s->bias + 1) << s->fraction; }
static kir_value *nan_value(soft *s) {
    return num(s, infinity_bits(s) | UINT64_C(1) << (s->fraction - 1));
}

/* x >> n; anything cut off sets the lowest bit, also when n is the width or more. */
static kir_value *jam(soft *s, kir_value *x, kir_value *n) {
    kir_value *most = num(s, s->bits - 1), *k = pick(s, below(s, n, most), n, most),
              *y = shr(s, x, k);
    return or_of(s, y, flag(s, not_of(s, equal(s, shl(s, y, k), x))));
}

/* x = ±m · 2^(e - bias - (width - 1)), the highest bit of m set unless x is zero; e may be below 1
 * for subnormals. */
static unpacked unpack(soft *s, kir_value *x) {
    unpacked u;
    kir_value *infinity = num(s, infinity_bits(s));
    u.sign = and_of(s, x, num(s, sign_mask(s)));
    u.magnitude = op(s, KIR_XOR, x, u.sign);
    u.zero = is_zero(s, u.magnitude);
    u.infinite = equal(s, u.magnitude, infinity);
    u.nan = below(s, infinity, u.magnitude);
    kir_value *e = shr_by(s, u.magnitude, s->fraction), *subnormal = is_zero(s, e);
    kir_value *low = and_of(s, u.magnitude, num(s, (UINT64_C(1) << s->fraction) - 1));
    kir_value *significand = pick(s, subnormal, low,
                                  or_of(s, low, num(s, UINT64_C(1) << s->fraction)));
    kir_value *zeros = kir_unary(s->b, KIR_CLZ, significand);
    u.m = shl(s, significand, zeros);
    e = pick(s, subnormal, num(s, 1), e);
    u.e = sub(s, add(s, e, num(s, s->bits - 1 - s->fraction)), zeros);
    return u;
}

/* The nearest number (even on ties) of m · 2^(e - bias - (width - 1)), the highest bit of m set. */
static kir_value *round_pack(soft *s, kir_value *sign, kir_value *e, kir_value *m) {
    uint32_t cut = s->bits - s->fraction - 1;
    kir_value *subnormal = less(s, e, num(s, 1));
    m = pick(s, subnormal, jam(s, m, sub(s, num(s, 1), e)), m);
    kir_value *kept = shr_by(s, m, cut), *rest = and_of(s, m, num(s, (UINT64_C(1) << cut) - 1)),
              *half = num(s, UINT64_C(1) << (cut - 1));
    kir_value *odd = not_of(s, is_zero(s, and_of(s, kept, num(s, 1))));
    kir_value *up = or_of(s, below(s, half, rest), and_of(s, equal(s, rest, half), odd));
    kir_value *exponent = pick(s, subnormal, num(s, 0),
                               shl_by(s, sub(s, e, num(s, 1)), s->fraction)); /* m's top bit adds
                                                                                 the 1 */
    kir_value *packed = add(s, add(s, exponent, kept), flag(s, up));
    kir_value *over = less(s, num(s, 2 * s->bias), e);
    return or_of(s, sign, pick(s, over, num(s, infinity_bits(s)), packed));
}

static kir_function *add_sub(rewrite_pass *p, uint8_t real, bool minus) {
    soft s_, *s = &s_;
    set_format(s, real);
    if (!begin(p, s, minus ? "sub" : "add", real, "", s->c, 2, (uint8_t[]){s->c, s->c}))
        return s->h.function;
    kir_value *x = kir_param(s->b, 0), *y = kir_param(s->b, 1);
    if (minus) y = op(s, KIR_XOR, y, num(s, sign_mask(s)));
    unpacked a = unpack(s, x), b = unpack(s, y);
    kir_value *swap = below(s, a.magnitude, b.magnitude), *same = equal(s, a.sign, b.sign);
    kir_value *big = shr_by(s, pick(s, swap, b.m, a.m), 1),
              *small = shr_by(s, pick(s, swap, a.m, b.m), 1);
    kir_value *e = pick(s, swap, b.e, a.e), *distance = sub(s, e, pick(s, swap, a.e, b.e));
    small = jam(s, small, distance);
    kir_value *sum = pick(s, same, add(s, big, small), sub(s, big, small));
    kir_value *zeros = kir_unary(s->b, KIR_CLZ, sum);
    e = sub(s, add(s, e, num(s, 1)), zeros);
    kir_value *sign = pick(s, swap, b.sign, a.sign),
              *r = round_pack(s, sign, e, shl(s, sum, zeros));
    r = pick(s, is_zero(s, sum), and_of(s, a.sign, b.sign), r);
    r = pick(s, b.zero, pick(s, a.zero, r, x), r); /* exact, and the distance above means nothing */
    r = pick(s, a.zero, pick(s, b.zero, r, y), r);
    r = pick(s, b.infinite, y, pick(s, a.infinite, x, r));
    kir_value *clash = and_of(s, and_of(s, a.infinite, b.infinite), not_of(s, same));
    r = pick(s, or_of(s, clash, or_of(s, a.nan, b.nan)), nan_value(s), r);
    return finish(p, s, r);
}

static kir_function *multiply(rewrite_pass *p, uint8_t real) {
    soft s_, *s = &s_;
    set_format(s, real);
    if (!begin(p, s, "mul", real, "", s->c, 2, (uint8_t[]){s->c, s->c})) return s->h.function;
    unpacked a = unpack(s, kir_param(s->b, 0)), b = unpack(s, kir_param(s->b, 1));
    kir_value *sign = op(s, KIR_XOR, a.sign, b.sign);
    kir_value *high = op(s, KIR_MULHI_U, a.m, b.m), *low = op(s, KIR_MUL, a.m, b.m);
    kir_value *m = or_of(s, high, flag(s, not_of(s, is_zero(s, low))));
    kir_value *zeros = kir_unary(s->b, KIR_CLZ, m); /* 0 or 1 */
    kir_value *e = sub(s, add(s, a.e, b.e), add(s, num(s, s->bias - 1), zeros));
    kir_value *r = round_pack(s, sign, e, shl(s, m, zeros));
    r = pick(s, or_of(s, a.zero, b.zero), sign, r);
    r = pick(s, or_of(s, a.infinite, b.infinite), or_of(s, sign, num(s, infinity_bits(s))), r);
    kir_value *bad = or_of(s, and_of(s, a.zero, b.infinite), and_of(s, b.zero, a.infinite));
    r = pick(s, or_of(s, bad, or_of(s, a.nan, b.nan)), nan_value(s), r);
    return finish(p, s, r);
}

/* Long division, one quotient bit a step. */
static kir_function *divide(rewrite_pass *p, uint8_t real) {
    soft s_, *s = &s_;
    set_format(s, real);
    if (!begin(p, s, "div", real, "", s->c, 2, (uint8_t[]){s->c, s->c})) return s->h.function;
    unpacked a = unpack(s, kir_param(s->b, 0)), b = unpack(s, kir_param(s->b, 1));
    kir_value *sign = op(s, KIR_XOR, a.sign, b.sign), *divisor = shr_by(s, b.m, 1);
    uint32_t count = s->fraction + 4;
    kir_var *rest = kir_var_create(p->out, s->h.function, s->c, 0, "rest"),
            *quotient = kir_var_create(p->out, s->h.function, s->c, 0, "quotient");
    kir_set(s->b, rest, shr_by(s, a.m, 1));
    kir_set(s->b, quotient, num(s, 0));
    kir_for i = kir_for_begin(s->b, u32(s, count));
    kir_value *r = kir_get(s->b, rest), *q = kir_get(s->b, quotient),
              *fits = not_of(s, below(s, r, divisor));
    kir_set(s->b, rest, shl_by(s, pick(s, fits, sub(s, r, divisor), r), 1));
    kir_set(s->b, quotient, or_of(s, shl_by(s, q, 1), flag(s, fits)));
    kir_for_end(s->b, &i);
    kir_value *m = or_of(s, shl_by(s, kir_get(s->b, quotient), s->bits - count),
                         flag(s, not_of(s, is_zero(s, kir_get(s->b, rest)))));
    kir_value *zeros = kir_unary(s->b, KIR_CLZ, m); /* 0 or 1 */
    kir_value *e = sub(s, add(s, sub(s, a.e, b.e), num(s, s->bias)), zeros);
    r = round_pack(s, sign, e, shl(s, m, zeros));
    r = pick(s, or_of(s, a.zero, b.infinite), sign, r);
    r = pick(s, or_of(s, a.infinite, b.zero), or_of(s, sign, num(s, infinity_bits(s))), r);
    kir_value *bad = or_of(s, and_of(s, a.zero, b.zero), and_of(s, a.infinite, b.infinite));
    r = pick(s, or_of(s, bad, or_of(s, a.nan, b.nan)), nan_value(s), r);
    return finish(p, s, r);
}

/* Digit by digit: two bits of the radicand give one of the root. */
static kir_function *square_root(rewrite_pass *p, uint8_t real) {
    soft s_, *s = &s_;
    set_format(s, real);
    if (!begin(p, s, "sqrt", real, "", s->c, 1, &s->c)) return s->h.function;
    kir_value *x = kir_param(s->b, 0);
    unpacked a = unpack(s, x);
    uint32_t count = s->fraction + 3;
    /* an even power of two is taken out: m stands at the top for an odd exponent, one below for an
     * even one */
    kir_value *e = sub(s, a.e, num(s, s->bias)),
              *odd = not_of(s, is_zero(s, and_of(s, e, num(s, 1))));
    kir_var *radicand = kir_var_create(p->out, s->h.function, s->c, 0, "radicand"),
            *rest = kir_var_create(p->out, s->h.function, s->c, 0, "rest");
    kir_var *root = kir_var_create(p->out, s->h.function, s->c, 0, "root");
    kir_set(s->b, radicand, pick(s, odd, a.m, shr_by(s, a.m, 1)));
    kir_set(s->b, rest, num(s, 0));
    kir_set(s->b, root, num(s, 0));
    kir_for i = kir_for_begin(s->b, u32(s, count));
    kir_value *m = kir_get(s->b, radicand), *q = kir_get(s->b, root);
    kir_value *r = or_of(s, shl_by(s, kir_get(s->b, rest), 2), shr_by(s, m, s->bits - 2));
    kir_value *trial = or_of(s, shl_by(s, q, 2), num(s, 1)), *fits = not_of(s, below(s, r, trial));
    kir_set(s->b, radicand, shl_by(s, m, 2));
    kir_set(s->b, rest, pick(s, fits, sub(s, r, trial), r));
    kir_set(s->b, root, or_of(s, shl_by(s, q, 1), flag(s, fits)));
    kir_for_end(s->b, &i);
    m = or_of(s, shl_by(s, kir_get(s->b, root), s->bits - count),
              flag(s, not_of(s, is_zero(s, kir_get(s->b, rest)))));
    kir_value *half = op(s, KIR_ASHR, e, u32(s, 1));
    e = add(s, half, num(s, s->bias));
    r = round_pack(s, num(s, 0), e, m);
    kir_value *negative = not_of(s, is_zero(s, a.sign));
    r = pick(s, or_of(s, a.zero, and_of(s, a.infinite, not_of(s, negative))), x, r);
    kir_value *bad = or_of(s, a.nan, and_of(s, negative, not_of(s, a.zero)));
    return finish(p, s, pick(s, bad, nan_value(s), r));
}

/* ---- fma: the exact product and the addend as two carriers each, one bit of headroom ---- */

typedef struct pair {
    kir_value *h, *l;
} pair;
static pair pick_pair(soft *s, kir_value *c, pair x, pair y) {
    kir_value *h = pick(s, c, x.h, y.h);
    return (pair){h, pick(s, c, x.l, y.l)};
}
static pair add_pair(soft *s, pair x, pair y) {
    kir_value *l = add(s, x.l, y.l);
    return (pair){add(s, add(s, x.h, y.h), flag(s, below(s, l, x.l))), l};
}
static pair sub_pair(soft *s, pair x, pair y) {
    kir_value *l = sub(s, x.l, y.l);
    return (pair){sub(s, sub(s, x.h, y.h), flag(s, below(s, x.l, y.l))), l};
}
static kir_value *below_pair(soft *s, pair x, pair y) {
    return or_of(s, below(s, x.h, y.h), and_of(s, equal(s, x.h, y.h), below(s, x.l, y.l)));
}
/* x >> n with the lowest bit remembering what was cut off. */
static pair jam_pair(soft *s, pair x, kir_value *n) {
    kir_value *width = num(s, s->bits), *far = not_of(s, below(s, n, width));
    kir_value *lost = and_of(s, far, not_of(s, is_zero(s, x.l)));
    pair y = pick_pair(s, far, (pair){num(s, 0), x.h}, x);
    kir_value *k = pick(s, far, sub(s, n, width), n), *most = num(s, s->bits - 1);
    k = pick(s, below(s, k, most), k, most);
    kir_value *none = is_zero(s, k), *back = sub(s, width, k);
    lost = or_of(s, lost, and_of(s, not_of(s, none), not_of(s, is_zero(s, shl(s, y.l, back)))));
    kir_value *carried = pick(s, none, num(s, 0), shl(s, y.h, back));
    kir_value *l = or_of(s, or_of(s, shr(s, y.l, k), carried), flag(s, lost));
    return (pair){shr(s, y.h, k), l};
}

static kir_function *fused(rewrite_pass *p, uint8_t real) {
    soft s_, *s = &s_;
    set_format(s, real);
    if (!begin(p, s, "fma", real, "", s->c, 3, (uint8_t[]){s->c, s->c, s->c})) return s->h.function;
    kir_value *z = kir_param(s->b, 2);
    unpacked a = unpack(s, kir_param(s->b, 0)), b = unpack(s, kir_param(s->b, 1)), c = unpack(s, z);
    kir_value *sign = op(s, KIR_XOR, a.sign, b.sign), *no_product = or_of(s, a.zero, b.zero);
    kir_value *high = op(s, KIR_MULHI_U, a.m, b.m), *low = op(s, KIR_MUL, a.m, b.m);
    kir_value *top = shr_by(s, high, 1), *addend = shr_by(s, c.m, 1); /* the bit of headroom */
    pair x = {top, or_of(s, shr_by(s, low, 1), shl_by(s, high, s->bits - 1))};
    pair y = {addend, num(s, 0)};
    /* a zero takes no part in the alignment */
    kir_value *ex = sub(s, add(s, a.e, b.e), num(s, s->bias - 1));
    ex = pick(s, no_product, c.e, ex);
    kir_value *ey = pick(s, c.zero, ex, c.e);
    kir_value *addend_first = less(s, ex, ey), *e = pick(s, addend_first, ey, ex);
    x = pick_pair(s, addend_first, jam_pair(s, x, sub(s, ey, ex)), x);
    y = pick_pair(s, addend_first, y, jam_pair(s, y, sub(s, ex, ey)));
    kir_value *same = equal(s, sign, c.sign), *flip = below_pair(s, x, y);
    pair sum = add_pair(s, x, y), plain = sub_pair(s, x, y),
         difference = pick_pair(s, flip, sub_pair(s, y, x), plain);
    sum = pick_pair(s, same, sum, difference);
    kir_value *result_sign = pick(s, and_of(s, flip, not_of(s, same)), c.sign, sign);
    /* the highest bit to the top of the upper carrier */
    kir_value *no_high = is_zero(s, sum.h), *width = num(s, s->bits);
    pair up = pick_pair(s, no_high, (pair){sum.l, num(s, 0)}, sum);
    kir_value *zeros = kir_unary(s->b, KIR_CLZ, up.h), *none = is_zero(s, zeros);
    kir_value *from_low = pick(s, none, num(s, 0), shr(s, up.l, sub(s, width, zeros)));
    kir_value *rest = flag(s, not_of(s, is_zero(s, shl(s, up.l, zeros))));
    kir_value *m = or_of(s, or_of(s, shl(s, up.h, zeros), from_low), rest);
    e = sub(s, add(s, e, num(s, 1)), add(s, zeros, pick(s, no_high, width, num(s, 0))));
    kir_value *r = round_pack(s, result_sign, e, m);
    r = pick(s, is_zero(s, or_of(s, sum.h, sum.l)), and_of(s, sign, c.sign), r);
    kir_value *product_infinite = or_of(s, a.infinite, b.infinite);
    r = pick(s, c.infinite, z,
             pick(s, product_infinite, or_of(s, sign, num(s, infinity_bits(s))), r));
    kir_value *bad = or_of(s, and_of(s, a.zero, b.infinite), and_of(s, b.zero, a.infinite));
    bad = or_of(s, bad, and_of(s, and_of(s, product_infinite, c.infinite), not_of(s, same)));
    bad = or_of(s, bad, or_of(s, or_of(s, a.nan, b.nan), c.nan));
    return finish(p, s, pick(s, bad, nan_value(s), r));
}

/* FFLOOR FTRUNC FRINT: bits below the point are cleared; what is added before that decides the
 * direction. */
static kir_function *integral(rewrite_pass *p, kir_op o, uint8_t real) {
    soft s_, *s = &s_;
    set_format(s, real);
    if (!begin(p, s,
               o == KIR_FFLOOR   ? "floor"
               : o == KIR_FTRUNC ? "trunc"
                                 : "rint",
               real, "", s->c, 1, &s->c))
        return s->h.function;
    kir_value *x = kir_param(s->b, 0), *sign = and_of(s, x, num(s, sign_mask(s))),
              *magnitude = op(s, KIR_XOR, x, sign);
    kir_value *e = shr_by(s, magnitude, s->fraction),
              *one = num(s, (uint64_t)s->bias << s->fraction);
    kir_value *negative = not_of(s, is_zero(s, sign)), *is_small = below(s, e, num(s, s->bias)),
              *is_whole = not_of(s, below(s, e, num(s, s->bias + s->fraction)));
    kir_value *n = sub(s, num(s, s->bias + s->fraction), e); /* bits below the point, 1 … fraction
                                                                where it matters */
    kir_value *unit = shl(s, num(s, 1), n), *mask = sub(s, unit, num(s, 1));
    kir_value *bump = num(s, 0), *small = num(s, 0);
    if (o == KIR_FFLOOR) {
        bump = pick(s, negative, mask, bump);
        small = pick(s, and_of(s, negative, not_of(s, is_zero(s, magnitude))), one, small);
    } else if (o == KIR_FRINT) {
        kir_value *odd = and_of(s, shr(s, magnitude, n), num(s, 1)); /* at n = fraction this is the
                                                                        exponent's last bit, 1
                                                                        for 1.x */
        bump = add(s, sub(s, shr_by(s, unit, 1), num(s, 1)), odd);
        kir_value *half = num(s, (uint64_t)(s->bias - 1) << s->fraction);
        small = pick(s, below(s, half, magnitude), one, small);
    }
    kir_value *r = and_of(s, add(s, magnitude, bump), op(s, KIR_XOR, mask, num(s, UINT64_MAX)));
    r = pick(s, is_small, small, r);
    r = pick(s, is_whole, magnitude, r);
    return finish(p, s, or_of(s, sign, r));
}

kir_function *soft_arithmetic(rewrite_pass *p, kir_op o, uint8_t real) {
    switch (o) {
    case KIR_FADD: return add_sub(p, real, false);
    case KIR_FSUB: return add_sub(p, real, true);
    case KIR_FMUL: return multiply(p, real);
    case KIR_FDIV: return divide(p, real);
    case KIR_FSQRT: return square_root(p, real);
    case KIR_FFMA: return fused(p, real);
    default: return integral(p, o, real);
    }
}

/* ---- conversions ---- */

/* A 64-bit significand in the carrier of the format. */
static kir_value *fit(soft *s, kir_value *m) {
    if (s->bits == 64) return m;
    kir_value *high = kir_convert(s->b, KIR_TRUNC, HG_TYPE_U32, shr_by(s, m, 32)),
              *low = kir_convert(s->b, KIR_TRUNC, HG_TYPE_U32, m);
    return or_of(s, high, flag(s, not_of(s, is_zero(s, low))));
}

kir_function *soft_from_integer(rewrite_pass *p, uint8_t real, bool is_signed) {
    soft s_, *s = &s_;
    set_format(s, real);
    uint8_t type = HG_TYPE_U64;
    if (!begin(p, s, is_signed ? "s2f" : "u2f", real, "", s->c, 1, &type)) return s->h.function;
    kir_value *x = kir_param(s->b, 0), *zero = kir_const(s->b, HG_TYPE_U64, 0), *sign = num(s, 0),
              *m = x;
    if (is_signed) {
        kir_value *negative = less(s, x, zero);
        m = pick(s, negative, sub(s, zero, x), x);
        sign = pick(s, negative, num(s, sign_mask(s)), sign);
    }
    kir_value *zeros = amount(s, kir_unary(s->b, KIR_CLZ, m)),
              *e = sub(s, u32(s, s->bias + 63), zeros);
    if (s->bits == 64) e = kir_convert(s->b, KIR_ZEXT, HG_TYPE_U64, e);
    kir_value *r = round_pack(s, sign, e, fit(s, op(s, KIR_SHL, m, zeros)));
    return finish(p, s, pick(s, equal(s, x, zero), num(s, 0), r));
}

kir_function *soft_to_integer(rewrite_pass *p, uint8_t real, bool is_signed, uint32_t width) {
    soft s_, *s = &s_;
    set_format(s, real);
    char more[16];
    snprintf(more, sizeof more, "_%u", (unsigned)width);
    if (!begin(p, s, is_signed ? "f2s" : "f2u", real, more, HG_TYPE_U64, 1, &s->c))
        return s->h.function;
    kir_builder *b = s->b;
    unpacked a = unpack(s, kir_param(b, 0));
    uint32_t room = is_signed ? width - 1 : width;
    kir_value *zero = kir_const(b, HG_TYPE_U64, 0),
              *ones = kir_const(b, HG_TYPE_U64, UINT64_MAX >> (64 - room));
    kir_value *negative = not_of(s, is_zero(s, a.sign)),
              *e = amount(s, sub(s, a.e, num(s, s->bias))); /* |x| in [2^e, 2^(e+1)) */
    kir_value *small = or_of(s, less(s, e, u32(s, 0)), a.zero),
              *over = or_of(s, not_of(s, less(s, e, u32(s, room))), a.infinite);
    kir_value *m = a.m;
    if (s->bits == 32) m = op(s, KIR_SHL, kir_convert(b, KIR_ZEXT, HG_TYPE_U64, m), u32(s, 32));
    m = op(s, KIR_LSHR, m, sub(s, u32(s, 63), e));
    kir_value *low = zero, *r = m; /* what is below the range */
    if (is_signed) {
        low = kir_const(b, HG_TYPE_U64, UINT64_MAX << room);
        r = pick(s, negative, sub(s, zero, m), m);
    } else {
        r = pick(s, negative, zero, m);
    }
    r = pick(s, over, pick(s, negative, low, ones), r);
    r = pick(s, or_of(s, small, a.nan), zero, r);
    return finish(p, s, r);
}

kir_function *soft_convert(rewrite_pass *p, uint8_t to, uint8_t from) {
    soft s_, *s = &s_;
    set_format(s, from);
    uint8_t type = s->c;
    if (!begin(p, s, "f2f", from, "", to == HG_TYPE_F64 ? HG_TYPE_U64 : HG_TYPE_U32, 1, &type))
        return s->h.function;
    kir_builder *b = s->b;
    unpacked a = unpack(s, kir_param(b, 0));
    if (to == HG_TYPE_F32) {
        kir_value *e = amount(s, sub(s, a.e, num(s, 1023 - 127))),
                  *sign = kir_convert(b, KIR_TRUNC, HG_TYPE_U32, shr_by(s, a.sign, 32));
        set_format(s, to);
        kir_value *r = round_pack(s, sign, e, fit(s, a.m));
        r = pick(s, a.zero, sign, pick(s, a.infinite, or_of(s, sign, num(s, infinity_bits(s))), r));
        return finish(p, s, pick(s, a.nan, nan_value(s), r));
    }
    kir_value *m = kir_convert(b, KIR_ZEXT, HG_TYPE_U64, and_of(s, a.m, num(s, 0x7FFFFFFF)));
    kir_value *e = kir_convert(b, KIR_ZEXT, HG_TYPE_U64, add(s, a.e, num(s, 1023 - 127)));
    kir_value *sign = op(s, KIR_SHL, kir_convert(b, KIR_ZEXT, HG_TYPE_U64, a.sign), u32(s, 32));
    set_format(s, to);
    kir_value *r = or_of(s, or_of(s, sign, shl_by(s, e, 52)), shl_by(s, m, 21));
    r = pick(s, a.zero, sign, pick(s, a.infinite, or_of(s, sign, num(s, infinity_bits(s))), r));
    return finish(p, s, pick(s, a.nan, nan_value(s), r));
}

/* Order of the bits as signed integers after folding the negative half over; zeros are equal. */
kir_value *soft_compare(kir_builder *b, kir_op o, uint8_t real, kir_value *x, kir_value *y) {
    soft s_ = {.b = b}, *s = &s_;
    set_format(s, real);
    kir_value *rest = num(s, sign_mask(s) - 1), *infinity = num(s, infinity_bits(s));
    kir_value *mx = and_of(s, x, rest), *my = and_of(s, y, rest);
    kir_value *nan = or_of(s, below(s, infinity, mx), below(s, infinity, my)),
              *zeros = is_zero(s, or_of(s, mx, my));
    kir_value *r;
    if (o == KIR_FCMP_EQ) {
        r = or_of(s, equal(s, x, y), zeros);
    } else {
        kir_value *sx = op(s, KIR_ASHR, x, u32(s, s->bits - 1)),
                  *sy = op(s, KIR_ASHR, y, u32(s, s->bits - 1));
        kir_value *kx = op(s, KIR_XOR, x, and_of(s, sx, rest)),
                  *ky = op(s, KIR_XOR, y, and_of(s, sy, rest));
        if (o == KIR_FCMP_LT)
            r = and_of(s, less(s, kx, ky), not_of(s, zeros));
        else
            r = or_of(s, not_of(s, less(s, ky, kx)), zeros);
    }
    return and_of(s, r, not_of(s, nan));
}
