/* Definitions that are a few primitives: integer and float arithmetic around the instruction set,
 * exact in every type.
 * Must not know: targets. */
#include "kir/define/define_internal.h"
#include "kir/builder.h"

static kir_value *zero_of(kir_builder *b, kir_value *like) { return kir_const(b, like->type, 0); }

static kir_value *less(kir_builder *b, hg_type type, kir_value *x, kir_value *y) {
    if (hg_type_is_float(type)) return kir_binary(b, KIR_FCMP_LT, x, y);
    return kir_binary(b, hg_type_is_signed(type) ? KIR_CMP_SLT : KIR_CMP_ULT, x, y);
}

/* The exponent (at least 1) and the integer significand of |x|, given as bits without sign. */
static void split_magnitude(kir_builder *b, kir_value *bits, uint32_t fraction,
                            kir_value **exponent, kir_value **significand) {
    kir_value *e = int_shr(b, bits, fraction), *zero = zero_of(b, bits);
    kir_value *subnormal = kir_binary(b, KIR_CMP_EQ, e, zero);
    kir_value *low = int_and(b, bits, (UINT64_C(1) << fraction) - 1);
    *significand = kir_select(b, subnormal, low, int_add(b, low, UINT64_C(1) << fraction));
    *exponent = kir_select(b, subnormal, kir_const(b, bits->type, 1), e);
    if (b->failed) *exponent = *significand = &b->dummy;
}

/* fmod on bits: the significand's remainder is carried down the exponent difference, as many bits a
 * step as the integer has free. */
static kir_value *real_rem(kir_builder *b, kir_value *x, kir_value *y) {
    bool wide = x->type == HG_TYPE_F64;
    uint8_t type = bits_type(x->type);
    uint32_t fraction = wide ? 52 : 23, step = wide ? 11 : 8;
    uint64_t infinity = wide ? UINT64_C(0x7FF) << 52 : UINT64_C(0xFF) << 23,
             magnitude = sign_bit(x->type) - 1;
    kir_var *result = kir_var_create(b->module, b->function, type, 0, NULL);
    kir_var *rest = kir_var_create(b->module, b->function, type, 0, NULL);
    kir_var *left = kir_var_create(b->module, b->function, type, 0, NULL);
    kir_value *bx = bits_of(b, x), *ax = int_and(b, bx, magnitude),
              *ay = int_and(b, bits_of(b, y), magnitude);
    kir_value *sign = kir_binary(b, KIR_XOR, bx, ax);
    kir_value *good_x = kir_binary(b, KIR_CMP_ULT, ax, kir_const(b, type, infinity));
    kir_value *good_y = kir_binary(b, KIR_CMP_ULT, int_add(b, ay, UINT64_MAX),
                                   kir_const(b, type, infinity));
    kir_value *good = kir_binary(b, KIR_AND, good_x, good_y);
    kir_set(b, result,
            kir_select(b, good, bx, kir_const(b, type, infinity | UINT64_C(1) << (fraction - 1))));
    kir_value *smaller = kir_binary(b, KIR_CMP_ULT, ax, ay);
    kir_value *branch = kir_if_begin(b, kir_binary(b, KIR_AND, good, kir_not(b, smaller)));
    {
        kir_value *ex, *mx, *ey, *my;
        split_magnitude(b, ax, fraction, &ex, &mx);
        split_magnitude(b, ay, fraction, &ey, &my);
        kir_set(b, rest, kir_binary(b, KIR_UREM, mx, my));
        kir_set(b, left, kir_sub(b, ex, ey));
        kir_value *loop = kir_loop_begin(b, true);
        {
            kir_value *n = kir_get(b, left);
            kir_value *done = kir_if_begin(b, kir_binary(b, KIR_CMP_EQ, n, zero_of(b, n)));
            kir_break(b);
            kir_if_end(b, done);
            kir_value *full = kir_const(b, type, step);
            kir_value *now = kir_select(b, kir_binary(b, KIR_CMP_ULT, n, full), n, full);
            kir_value *amount = wide ? kir_convert(b, KIR_TRUNC, HG_TYPE_U32, now) : now;
            kir_value *shifted = kir_binary(b, KIR_SHL, kir_get(b, rest), amount);
            kir_set(b, rest, kir_binary(b, KIR_UREM, shifted, my));
            kir_set(b, left, kir_sub(b, n, now));
        }
        kir_loop_end(b, loop);
        /* rest · 2^(ey): shift up until the leading bit stands at `fraction` or the exponent is
         * down to 1 */
        kir_value *m = kir_get(b, rest);
        kir_value *zeros = kir_sub(b, kir_unary(b, KIR_CLZ, m), kir_const(b, type, wide ? 11 : 8));
        kir_value *room = int_add(b, ey, UINT64_MAX);
        kir_value *up = kir_select(b, kir_binary(b, KIR_CMP_ULT, zeros, room), zeros, room);
        kir_value *placed = kir_binary(b, KIR_SHL, m,
                                       wide ? kir_convert(b, KIR_TRUNC, HG_TYPE_U32, up) : up);
        /* the leading bit itself adds one to the exponent, so a subnormal needs no case of its own
         */
        kir_value *exponent = kir_sub(b, room, up);
        kir_value *bits = kir_add(b, placed, int_shl(b, exponent, fraction));
        bits = kir_select(b, kir_binary(b, KIR_CMP_EQ, m, zero_of(b, m)), m, bits);
        kir_set(b, result, int_or(b, bits, sign));
    }
    kir_if_end(b, branch);
    return real_of(b, kir_get(b, result));
}

/* Integers: sign of the dividend, MIN rem -1 = 0; floats as fmod, exact. */
kir_value *define_rem(kir_builder *b, hg_type type, kir_value *const *arg) {
    if (hg_type_is_float(type)) return real_rem(b, arg[0], arg[1]);
    return kir_binary(b, hg_type_is_signed(type) ? KIR_SREM : KIR_UREM, arg[0], arg[1]);
}

/* A constant that is a number, and of two equal zeros the one that MAX (MIN) gives. */
static bool stands_behind(const kir_value *v, bool max) {
    if (v->op != KIR_CONST) return false;
    uint64_t sign = v->type == HG_TYPE_F64 ? UINT64_C(1) << 63 : UINT64_C(1) << 31;
    uint64_t infinity = v->type == HG_TYPE_F64 ? UINT64_C(0x7FF) << 52 : UINT64_C(0xFF) << 23;
    return (v->u.imm & (sign - 1)) <= infinity && v->u.imm != (max ? sign : 0);
}

/* One NaN gives the other operand. Equal operands differ at most in the sign of zero: or of the
 * bits keeps a minus, and drops it. */
static kir_value *real_extreme(kir_builder *b, kir_value *x, kir_value *y, bool max) {
    kir_value *first = x;
    bool behind = stands_behind(y, max);
    if (!behind && stands_behind(x, max)) behind = true, x = y, y = first;
    kir_value *wins = max ? kir_binary(b, KIR_FCMP_LT, y, x) : kir_binary(b, KIR_FCMP_LT, x, y);
    kir_value *r = kir_select(b, wins, x, y);
    if (behind) return r; /* also where x is a NaN, or equal */
    kir_value *both = kir_binary(b, max ? KIR_AND : KIR_OR, bits_of(b, x), bits_of(b, y));
    r = kir_select(b, kir_binary(b, KIR_FCMP_EQ, x, y), real_of(b, both), r);
    return kir_select(b, is_number(b, y), r, x);
}

kir_value *define_min(kir_builder *b, hg_type type, kir_value *const *arg) {
    if (hg_type_is_float(type)) return real_extreme(b, arg[0], arg[1], false);
    return kir_select(b, less(b, type, arg[0], arg[1]), arg[0], arg[1]);
}

kir_value *define_max(kir_builder *b, hg_type type, kir_value *const *arg) {
    if (hg_type_is_float(type)) return real_extreme(b, arg[0], arg[1], true);
    return kir_select(b, less(b, type, arg[1], arg[0]), arg[0], arg[1]);
}

kir_value *define_mad(kir_builder *b, hg_type type, kir_value *const *arg) {
    (void)type;
    return kir_add(b, kir_mul(b, arg[0], arg[1]), arg[2]);
}

/* Floats: one rounding, as FMA of the negated third operand. */
kir_value *define_fms(kir_builder *b, hg_type type, kir_value *const *arg) {
    if (hg_type_is_float(type)) return kir_ffma(b, arg[0], arg[1], real_neg(b, arg[2]));
    return kir_sub(b, kir_mul(b, arg[0], arg[1]), arg[2]);
}

kir_value *define_neg(kir_builder *b, hg_type type, kir_value *const *arg) {
    if (hg_type_is_float(type)) return real_neg(b, arg[0]);
    return kir_sub(b, zero_of(b, arg[0]), arg[0]);
}

kir_value *define_abs(kir_builder *b, hg_type type, kir_value *const *arg) {
    if (hg_type_is_float(type)) return real_abs(b, arg[0]);
    if (!hg_type_is_signed(type)) return arg[0];
    kir_value *negative = less(b, type, arg[0], zero_of(b, arg[0]));
    return kir_select(b, negative, kir_sub(b, zero_of(b, arg[0]), arg[0]), arg[0]);
}

kir_value *define_not(kir_builder *b, hg_type type, kir_value *const *arg) {
    (void)type;
    kir_value *ones = kir_sub(b, zero_of(b, arg[0]), kir_const(b, arg[0]->type, 1));
    return kir_binary(b, KIR_XOR, arg[0], ones);
}

/* min(max(x, low), high): low > high gives high; a NaN stays, though MIN and MAX would drop it. */
kir_value *define_clamp(kir_builder *b, hg_type type, kir_value *const *arg) {
    kir_value *r = define_max(b, type, (kir_value *[]){arg[0], arg[1]});
    r = define_min(b, type, (kir_value *[]){r, arg[2]});
    return hg_type_is_float(type) ? kir_select(b, is_number(b, arg[0]), r, arg[0]) : r;
}

/* lerp(a, b, t) = a + (b - a)·t: three roundings, as semantics 2.11 says; not an fma. */
kir_value *define_lerp(kir_builder *b, hg_type type, kir_value *const *arg) {
    (void)type;
    return kir_add(b, arg[0], kir_mul(b, kir_sub(b, arg[1], arg[0]), arg[2]));
}

kir_value *define_sign(kir_builder *b, hg_type type, kir_value *const *arg) {
    kir_value *x = arg[0], *zero = zero_of(b, x);
    bool real = hg_type_is_float(type);
    kir_value *one = real ? real_const(b, x->type, 1.0) : kir_const(b, x->type, 1);
    kir_value *r = kir_select(b, less(b, type, zero, x), one, zero);
    if (real || hg_type_is_signed(type)) {
        kir_value *minus = real ? real_const(b, x->type, -1.0) : kir_sub(b, zero, one);
        r = kir_select(b, less(b, type, x, zero), minus, r);
    }
    return real ? kir_select(b, is_number(b, x), r, x) : r;
}

kir_value *define_ceil(kir_builder *b, hg_type type, kir_value *const *arg) {
    if (!hg_type_is_float(type)) return arg[0];
    return real_neg(b, kir_unary(b, KIR_FFLOOR, real_neg(b, arg[0])));
}

/* Halves away from zero: x - trunc(x) is exact, so the comparison with 0.5 is exact; -0.3 gives -0.
 */
kir_value *define_round(kir_builder *b, hg_type type, kir_value *const *arg) {
    if (!hg_type_is_float(type)) return arg[0];
    kir_value *x = arg[0], *t = kir_unary(b, KIR_FTRUNC, x);
    kir_value *rest = real_abs(b, kir_sub(b, x, t));
    kir_value *away = kir_add(b, t, real_with_sign(b, real_const(b, x->type, 1.0), x));
    return kir_select(b, kir_binary(b, KIR_FCMP_LE, real_const(b, x->type, 0.5), rest), away, t);
}

kir_value *define_rcp(kir_builder *b, hg_type type, kir_value *const *arg) {
    (void)type;
    return kir_binary(b, KIR_FDIV, real_const(b, arg[0]->type, 1.0), arg[0]);
}

/* max(x, 0) as MAX has it: a NaN gives +0, -0 gives +0. */
kir_value *define_relu(kir_builder *b, hg_type type, kir_value *const *arg) {
    kir_value *zero = zero_of(b, arg[0]);
    return kir_select(b, less(b, type, zero, arg[0]), arg[0], zero);
}

/* ---- classes of bytes (semantics 5.1, 5.5) ---- */

static kir_value *with(kir_builder *b, kir_op op, kir_value *v, uint64_t n) {
    return kir_binary(b, op, v, kir_const(b, v->type, n));
}

/* b7 b6 · 24, then b5 … b1 without their last bit, where modality 3 counts as 0. */
kir_value *define_class(kir_builder *b, hg_type type, kir_value *const *arg) {
    (void)type;
    kir_value *top = with(b, KIR_AND, arg[0], 0xC0),
              *rest = int_and(b, int_shr(b, arg[0], 1), 0x1F);
    kir_value *scope = kir_add(b, int_shr(b, top, 2), int_shr(b, top, 3));
    kir_value *same = with(b, KIR_CMP_ULT, rest, 24);
    return kir_add(b, scope, kir_select(b, same, rest, with(b, KIR_SUB, rest, 24)));
}

/* (c + 48) mod 96 of a class. */
kir_value *define_mirror(kir_builder *b, hg_type type, kir_value *const *arg) {
    (void)type;
    return kir_select(b, with(b, KIR_CMP_ULT, arg[0], 48), with(b, KIR_ADD, arg[0], 48),
                      with(b, KIR_SUB, arg[0], 48));
}
