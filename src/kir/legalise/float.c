/* F64 in 64-bit integers where a target has no F64; exact F32 subnormals where it flushes them, by
 * larger numbers or in integers; F32 <-> 64-bit integers where it has no 64-bit integers; single
 * operations that the target does, but not exactly (caps.inexact).
 * Requires: no FFMA that the target lacks, but of F32 where it has no F64. Provides: no FFMA that the target lacks; no F64
 * unless caps.f64; F32 arithmetic as IEEE 754 whatever the target flushes. */
#include "kir/builder.h"
#include "kir/legalise/fused.h"
#include "kir/legalise/soft.h"
#include "kir/sugar.h"
#include <stdio.h>

static bool soft_f64(const rewrite_pass *p) { return !p->caps->f64; }
static bool is_inexact(const rewrite_pass *p, uint8_t op, uint8_t real) {
    return p->caps->inexact[op][real == HG_TYPE_F64];
}

static uint8_t type(const rewrite_pass *p, uint8_t t) {
    return t == HG_TYPE_F64 && soft_f64(p) ? HG_TYPE_U64 : t;
}

static kir_value *bits(kir_builder *b, kir_value *x) {
    if (x->type == HG_TYPE_F64)
        return kir_convert(b, KIR_BITCAST, HG_TYPE_U64, x); /* the target has it, but this operation
                                                               is not exact */
    return x->type == HG_TYPE_F32 ? kir_convert(b, KIR_BITCAST, HG_TYPE_U32, x) : x;
}
/* The result of a soft function, bits, as what values of type t are here. */
static kir_value *as_value(const rewrite_pass *p, kir_builder *b, uint8_t t, kir_value *r) {
    return t == HG_TYPE_F32 || (t == HG_TYPE_F64 && !soft_f64(p))
               ? kir_convert(b, KIR_BITCAST, t, r)
               : r;
}
static kir_value *exponent(kir_builder *b, kir_value *x) {
    return kir_binary(b, KIR_AND, x, u32(b, 0x7F800000));
}
#define both(b, x, y) kir_binary(b, KIR_AND, x, y)
#define either(b, x, y) kir_binary(b, KIR_OR, x, y)

/* ---- F32 on a target that flushes: a few operations on numbers that are scaled up,
 * done in all lanes, since compilers for vectors without jumps run both branches of an `if` ---- */

enum { NORMAL = 1 << 23, INFINITE = 0xFF << 23 };
static kir_value *sign_of(kir_builder *b, kir_value *x) { return by(b, KIR_AND, x, 0x80000000); }
static kir_value *as_float(kir_builder *b, kir_value *x) {
    return kir_convert(b, KIR_BITCAST, HG_TYPE_F32, x);
}
/* 2^-62: the leading one of a subnormal number that stands 2^64 times as high. */
static kir_value *leading_one(kir_builder *b) { return kir_const(b, HG_TYPE_F32, 65u << 23); }

/* Bits of x · 2^64, x not negative and given by its bits; of a large x with an exponent above all.
 */
static kir_value *raised(kir_builder *b, kir_value *x) {
    kir_value *with_one = as_float(b, by(b, KIR_ADD, x, 65u << 23));
    kir_value *low = bits(b, kir_sub(b, with_one, leading_one(b)));
    kir_value *high = by(b, KIR_ADD, x, 64u << 23);
    return kir_select(b, by(b, KIR_CMP_ULT, x, NORMAL), low, high);
}

/* Bits of x · 2^-64, no more of them than a subnormal number has. */
static kir_value *lowered(kir_builder *b, kir_value *x) {
    kir_value *with_one = bits(b, kir_add(b, as_float(b, x), leading_one(b)));
    kir_value *low = by(b, KIR_SUB, with_one, 65u << 23), *high = by(b, KIR_SUB, x, 64u << 23);
    return kir_select(b, by(b, KIR_CMP_ULT, x, 65u << 23), low, high);
}

/* Where one operand is 2^-95 or more, a sum is neither subnormal nor do subnormal operands count.
 */
static kir_value *small_sum(kir_builder *b, kir_op op, kir_value *const *x, kir_value *plain) {
    kir_value *up[2], *small = NULL;
    for (int i = 0; i < 2; i++) {
        kir_value *word = bits(b, x[i]), *sign = sign_of(b, word);
        kir_value *size = kir_binary(b, KIR_XOR, word, sign),
                  *fits = by(b, KIR_CMP_ULT, size, 32u << 23);
        up[i] = as_float(b, either(b, raised(b, size), sign));
        small = small ? both(b, small, fits) : fits;
    }
    kir_value *sum = bits(b, kir_emit(b, op, HG_TYPE_F32, 2, up)), *sign = sign_of(b, sum);
    kir_value *down = lowered(b, kir_binary(b, KIR_XOR, sum, sign));
    return kir_select(b, small, as_float(b, either(b, down, sign)), plain);
}

/* Two operands without signs: |x| = f · 2^(e - 191), f = m · 2^-23 from 1 on. */
typedef struct operands {
    kir_value *sign, *size[2], *m[2], *e[2], *f[2], *least, *most;
} operands;
static operands taken_apart(kir_builder *b, kir_value *const *x) {
    operands o;
    kir_value *word[2];
    for (int i = 0; i < 2; i++) {
        word[i] = bits(b, x[i]);
        o.size[i] = by(b, KIR_AND, word[i], 0x7FFFFFFF);
        kir_value *up = raised(b, o.size[i]);
        o.e[i] = shift_by(b, KIR_LSHR, up, 23);
        o.m[i] = by(b, KIR_OR, by(b, KIR_AND, up, NORMAL - 1), NORMAL);
        o.f[i] = as_float(b, by(b, KIR_ADD, o.m[i], 126u << 23));
    }
    o.sign = sign_of(b, kir_binary(b, KIR_XOR, word[0], word[1]));
    kir_value *swap = below(b, o.size[0], o.size[1]);
    o.least = kir_select(b, swap, o.size[0], o.size[1]);
    o.most = kir_select(b, swap, o.size[1], o.size[0]);
    return o;
}

/* Bits of the nearest number (even on ties) of f · 2^(u - 382 - exponent of f): of the bits of its
 * nearest f32 with any exponent, h, whose significand is m, and a number that is below, at or above
 * 0 as f is beside h. Of a subnormal result h has bits to be cut: u is below 383. */
static kir_value *settled(kir_builder *b, kir_value *h, kir_value *m, kir_value *off,
                          kir_value *u) {
    kir_value *some = kir_select(b, is_zero(b, off), u32(b, 0), u32(b, 1));
    kir_value *direction = either(b, shift_by(b, KIR_ASHR, off, 31), some); /* -1, 0, 1 */
    kir_value *v = kir_add(b, shift_by(b, KIR_SHL, m, 2), direction);
    kir_value *far = by(b, KIR_CMP_ULT, u, 385 - 27),
              *n = kir_select(b, far, u32(b, 27), kir_sub(b, u32(b, 385), u));
    kir_value *odd = by(b, KIR_AND, kir_binary(b, KIR_LSHR, v, n), 1);
    kir_value *half = kir_binary(b, KIR_SHL, u32(b, 1), by(b, KIR_SUB, n, 1));
    kir_value *rest = kir_add(b, by(b, KIR_SUB, half, 1), odd);
    kir_value *low = kir_binary(b, KIR_LSHR, kir_add(b, v, rest), n);
    kir_value *fraction = by(b, KIR_AND, h, NORMAL - 1);
    kir_value *high = either(b, shift_by(b, KIR_SHL, by(b, KIR_SUB, u, 382), 23), fraction);
    high = kir_select(b, by(b, KIR_CMP_ULT, u, 382 + 255), high, u32(b, INFINITE));
    return kir_select(b, by(b, KIR_CMP_ULT, u, 383), low, high);
}

/* h and the exact result differ by no more than half a bit of h, so that 32 bits of the difference
 * are all of it. */
static kir_value *small_product(kir_builder *b, bool divides, kir_value *const *x,
                                kir_value *plain) {
    operands o = taken_apart(b, x);
    kir_value *h = bits(b, kir_emit(b, divides ? KIR_FDIV : KIR_FMUL, HG_TYPE_F32, 2, o.f));
    kir_value *eh = shift_by(b, KIR_LSHR, h, 23),
              *m = by(b, KIR_OR, by(b, KIR_AND, h, NORMAL - 1), NORMAL);
    kir_value *off, *u, *r;
    if (divides) {
        kir_value *number = kir_binary(b, KIR_SHL, o.m[0], kir_sub(b, u32(b, 150), eh));
        off = kir_sub(b, number, kir_mul(b, m, o.m[1]));
        u = kir_add(b, by(b, KIR_ADD, kir_sub(b, o.e[0], o.e[1]), 382), eh);
    } else {
        kir_value *product = kir_mul(b, o.m[0], o.m[1]);
        off = kir_sub(b, product, kir_binary(b, KIR_SHL, m, by(b, KIR_SUB, eh, 104)));
        u = kir_add(b, kir_add(b, o.e[0], o.e[1]), eh);
    }
    r = settled(b, h, m, off, u);
    kir_value *risky = either(b, by(b, KIR_CMP_ULT, o.least, NORMAL), by(b, KIR_CMP_ULT, u, 384));
    kir_value *zero = is_zero(b, divides ? o.most : o.least),
              *last = by(b, KIR_CMP_ULT, o.most, divides ? INFINITE : INFINITE + 1);
    if (divides) {
        r = kir_select(b, is_zero(b, o.size[1]), u32(b, INFINITE), r);
        r = kir_select(b, is_zero(b, o.size[0]), u32(b, 0), r);
    } else {
        r = kir_select(b, by(b, KIR_CMP_EQ, o.most, INFINITE), o.most, r);
    }
    risky = both(b, both(b, risky, last), kir_not(b, zero)); /* of others the target's own is right
                                                              */
    return kir_select(b, risky, as_float(b, either(b, r, o.sign)), plain);
}

/* Only the operand may be subnormal; the target takes it for a zero, also one below 0. */
static kir_value *small_root(kir_builder *b, kir_value *x, kir_value *plain) {
    kir_value *word = bits(b, x), *size = by(b, KIR_AND, word, 0x7FFFFFFF);
    kir_value *root = bits(b, kir_unary(b, KIR_FSQRT, as_float(b, raised(b, size))));
    kir_value *subnormal = by(b, KIR_CMP_ULT, by(b, KIR_SUB, size, 1), NORMAL - 1);
    kir_value *r = kir_select(b, equal(b, word, size), by(b, KIR_SUB, root, 32u << 23),
                              u32(b, 0x7FC00000));
    return kir_select(b, subnormal, as_float(b, r), plain);
}

/* Whether the target's own operations that these consist of are as exact as they need. */
static bool may_scale(const rewrite_pass *p, kir_op op) {
    return op != KIR_FFMA && !is_inexact(p, KIR_FADD, HG_TYPE_F32) &&
           !is_inexact(p, KIR_FSUB, HG_TYPE_F32);
}

static kir_function *scaled(rewrite_pass *p, kir_op op, uint8_t nargs) {
    char name[32];
    snprintf(name, sizeof name, "exact_%s", kir_op_name(op));
    const uint8_t types[] = {HG_TYPE_F32, HG_TYPE_F32};
    rewrite_helper h = rewrite_helper_begin(p, name, HG_TYPE_F32, nargs, types);
    if (!h.fresh) return h.function;
    kir_builder *b = &h.b;
    kir_value *x[2] = {NULL, NULL};
    for (uint8_t i = 0; i < nargs; i++) x[i] = kir_param(b, i);
    kir_value *r = kir_emit(b, op, HG_TYPE_F32, nargs, x);
    if (op == KIR_FADD || op == KIR_FSUB)
        r = small_sum(b, op, x, r);
    else
        r = op == KIR_FSQRT ? small_root(b, x[0], r) : small_product(b, op == KIR_FDIV, x, r);
    kir_return(b, r);
    rewrite_helper_end(p, &h);
    return h.function;
}

/* An F32 operation on a target that flushes: the target's own result unless an operand is
 * subnormal, or the result vanished (or would) though it need not be zero; then the integer
 * function. A function with one rarely taken branch. */
static kir_function *guarded(rewrite_pass *p, kir_op op, uint8_t nargs) {
    char name[32];
    snprintf(name, sizeof name, "exact_%s", kir_op_name(op));
    const uint8_t types[] = {HG_TYPE_F32, HG_TYPE_F32, HG_TYPE_F32};
    rewrite_helper h = rewrite_helper_begin(p, name, HG_TYPE_F32, nargs, types);
    if (!h.fresh) return h.function;
    kir_builder *b = &h.b;
    kir_value *x[3], *xb[3], *risky = NULL, *all = NULL;
    for (uint8_t i = 0; i < nargs; i++) {
        x[i] = kir_param(b, i);
        xb[i] = bits(b, x[i]);
        kir_value *zero = is_zero(b, kir_binary(b, KIR_AND, xb[i], u32(b, 0x7FFFFFFF)));
        kir_value *subnormal = both(b, is_zero(b, exponent(b, xb[i])), kir_not(b, zero));
        risky = risky ? either(b, risky, subnormal) : subnormal;
        all = all ? both(b, all, kir_not(b, zero)) : kir_not(b, zero);
    }
    kir_var *result = kir_var_create(p->out, h.function, HG_TYPE_F32, 0, "result");
    kir_value *r = kir_emit(b, op, HG_TYPE_F32, nargs, x);
    kir_set(b, result, r);
    kir_value *vanished = kir_not(
        b, kir_binary(b, KIR_CMP_ULT, u32(b, 1u << 23), exponent(b, bits(b, r))));
    if (op == KIR_FADD || op == KIR_FSUB) /* sums of larger numbers cancel to zero or to a normal
                                             number */
        vanished = both(b, vanished,
                        kir_binary(b, KIR_CMP_ULT, exponent(b, xb[0]), u32(b, 32u << 23)));
    if (op == KIR_FFMA)
        risky = either(b, risky, vanished);
    else if (op != KIR_FSQRT)
        risky = either(b, risky, both(b, vanished, all));
    kir_value *branch = kir_if_begin(b, risky);
    kir_set(b, result,
            kir_convert(b, KIR_BITCAST, HG_TYPE_F32,
                        kir_call(b, soft_arithmetic(p, op, HG_TYPE_F32), nargs, xb, NULL)));
    kir_if_end(b, branch);
    kir_return(b, kir_get(b, result));
    rewrite_helper_end(p, &h);
    return h.function;
}

/* A quotient or root of F32 rounded to F64 and then to F32 is rounded correctly: 53 >= 2 · 24 + 2
 * (Figueroa 1995), and no quotient of 24-bit numbers is nearer to the middle between two subnormal
 * F32 than F64 can represent. */
static bool through_f64(rewrite_pass *p, const kir_value *v, kir_value *const *args) {
    kir_builder *b = &p->b;
    kir_value *wide[3];
    if ((v->op != KIR_FDIV && v->op != KIR_FSQRT) || soft_f64(p) ||
        is_inexact(p, v->op, HG_TYPE_F64) || is_inexact(p, KIR_F2F, HG_TYPE_F64))
        return false;
    for (uint8_t i = 0; i < v->nargs; i++) wide[i] = kir_convert(b, KIR_F2F, HG_TYPE_F64, args[i]);
    rewrite_set(p, v,
                kir_convert(b, KIR_F2F, HG_TYPE_F32,
                            kir_emit(b, (kir_op)v->op, HG_TYPE_F64, v->nargs, wide)));
    return true;
}

static bool arithmetic(rewrite_pass *p, const kir_value *v) {
    kir_builder *b = &p->b;
    kir_value *args[3];
    bool f64 = v->type == HG_TYPE_F64, lacks = v->op == KIR_FFMA && !f64 && !p->caps->fma32,
         inexact = lacks || is_inexact(p, v->op, v->type);
    if (lacks && fused_lower(p, v)) return true;
    if (f64 && !soft_f64(p) && !inexact) return false;
    for (uint8_t i = 0; i < v->nargs; i++) args[i] = rewrite_arg(p, v, i);
    if (!f64 && inexact && through_f64(p, v, args)) return true;
    if (!f64 && !inexact && (p->caps->subnormals || v->op == KIR_FTRUNC || v->op == KIR_FRINT))
        return false; /* a subnormal becomes 0 there anyway */
    if (!f64 && !inexact && v->op != KIR_FFLOOR) {
        kir_op op = (kir_op)v->op;
        kir_function *exact = may_scale(p, op) ? scaled(p, op, v->nargs) : guarded(p, op, v->nargs);
        rewrite_set(p, v, kir_call(b, exact, v->nargs, args, NULL));
        return true;
    }
    for (uint8_t i = 0; i < v->nargs; i++) args[i] = bits(b, args[i]);
    rewrite_set(
        p, v,
        as_value(p, b, v->type,
                 kir_call(b, soft_arithmetic(p, (kir_op)v->op, v->type), v->nargs, args, NULL)));
    return true;
}

static bool compare(rewrite_pass *p, const kir_value *v) {
    uint8_t t = v->args[0]->type;
    if ((t == HG_TYPE_F64 ? !soft_f64(p) : p->caps->subnormals) && !is_inexact(p, v->op, t))
        return false;
    kir_builder *b = &p->b;
    kir_value *x = bits(b, rewrite_arg(p, v, 0)), *y = bits(b, rewrite_arg(p, v, 1));
    rewrite_set(p, v, soft_compare(b, (kir_op)v->op, t, x, y));
    return true;
}

static bool from_integer(rewrite_pass *p, const kir_value *v) {
    uint8_t from = v->args[0]->type;
    bool soft = v->type == HG_TYPE_F64 ? soft_f64(p) : from == HG_TYPE_U64 && !p->caps->i64;
    if (!soft && !is_inexact(p, v->op, v->type)) return false;
    kir_builder *b = &p->b;
    bool is_signed = v->op == KIR_S2F;
    kir_value *x = rewrite_arg(p, v, 0);
    if (from != HG_TYPE_U64) x = kir_convert(b, is_signed ? KIR_SEXT : KIR_ZEXT, HG_TYPE_U64, x);
    rewrite_set(p, v,
                as_value(p, b, v->type,
                         kir_call(b, soft_from_integer(p, v->type, is_signed), 1, &x, NULL)));
    return true;
}

static bool to_integer(rewrite_pass *p, const kir_value *v) {
    uint8_t from = v->args[0]->type;
    bool soft = from == HG_TYPE_F64 ? soft_f64(p) : v->type == HG_TYPE_U64 && !p->caps->i64;
    if (!soft && !is_inexact(p, v->op, from)) return false;
    kir_builder *b = &p->b;
    kir_value *x = bits(b, rewrite_arg(p, v, 0));
    kir_value *r = kir_call(b, soft_to_integer(p, from, v->op == KIR_F2S, kir_type_bits(v->type)),
                            1, &x, NULL);
    rewrite_set(p, v, v->type == HG_TYPE_U64 ? r : kir_convert(b, KIR_TRUNC, v->type, r));
    return true;
}

static bool lower(rewrite_pass *p, const kir_value *v) {
    kir_builder *b = &p->b;
    switch ((kir_op)v->op) {
    case KIR_FADD:
    case KIR_FSUB:
    case KIR_FMUL:
    case KIR_FDIV:
    case KIR_FSQRT:
    case KIR_FFMA:
    case KIR_FFLOOR:
    case KIR_FTRUNC:
    case KIR_FRINT: return arithmetic(p, v);
    case KIR_VAR_SET: return fused_lower(p, v);
    case KIR_FCMP_EQ:
    case KIR_FCMP_LT:
    case KIR_FCMP_LE: return compare(p, v);
    case KIR_U2F:
    case KIR_S2F: return from_integer(p, v);
    case KIR_F2U:
    case KIR_F2S: return to_integer(p, v);
    case KIR_F2F: {
        if (v->type == v->args[0]->type) {
            rewrite_set(p, v, rewrite_arg(p, v, 0));
            return true;
        }
        if (!soft_f64(p) && !is_inexact(p, v->op, HG_TYPE_F64)) return false;
        kir_value *x = bits(b, rewrite_arg(p, v, 0));
        rewrite_set(p, v,
                    as_value(p, b, v->type,
                             kir_call(b, soft_convert(p, v->type, v->args[0]->type), 1, &x, NULL)));
        return true;
    }
    case KIR_BITCAST:
        if (type(p, v->type) != type(p, v->args[0]->type)) return false;
        rewrite_set(p, v, rewrite_arg(p, v, 0));
        return true;
    default: return false;
    }
}

static kir_table *declare_table(rewrite_pass *p, const kir_table *t) {
    if (type(p, t->type) == t->type) return NULL;
    return kir_table_create(p->out, HG_TYPE_U64, t->length, t->data, t->name);
}

const rewrite_rules legal_float_rules = {
    .type = type, .lower = lower, .declare_table = declare_table, .begin_function = fused_begin};
