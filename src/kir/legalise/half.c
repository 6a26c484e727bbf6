/* Half conversions in integers and F32 arithmetic; fused multiply-add and the error of a product
 * where a target has none.
 * Requires: nothing. Provides: no H2F F2H B2F F2B unless caps.half; no FFMA, FMAD or FMULERR that the target lacks, but
 * FFMA of F32 where it has no F64, which the next pass lowers. */
#include "kir/legalise/soft.h"
#include "kir/builder.h"
#include "kir/define/define.h"
#include "kir/sugar.h"

static kir_value *and_of(kir_builder *b, kir_value *x, uint32_t mask) {
    return kir_binary(b, KIR_AND, x, u32(b, mask));
}
static kir_value *shr(kir_builder *b, kir_value *x, uint32_t n) {
    return kir_binary(b, KIR_LSHR, x, u32(b, n));
}
static kir_value *shl(kir_builder *b, kir_value *x, uint32_t n) {
    return kir_binary(b, KIR_SHL, x, u32(b, n));
}
static kir_value *real(kir_builder *b, kir_value *bits) {
    return kir_convert(b, KIR_BITCAST, HG_TYPE_F32, bits);
}
static kir_value *bits(kir_builder *b, kir_value *x) {
    return kir_convert(b, KIR_BITCAST, HG_TYPE_U32, x);
}

/* f16 bits to f32: exponents are moved by 112; a subnormal is its integer times 2^-24, a normal
 * f32. */
static kir_value *widen_f16(kir_builder *b, kir_value *h) {
    kir_value *x = kir_convert(b, KIR_ZEXT, HG_TYPE_U32, h), *magnitude = and_of(b, x, 0x7FFF),
              *sign = shl(b, and_of(b, x, 0x8000), 16);
    kir_value *normal = kir_add(b, shl(b, magnitude, 13), u32(b, 112u << 23));
    kir_value *special = kir_add(b, normal, u32(b, 112u << 23));
    kir_value *small = bits(
        b, kir_mul(b, kir_convert(b, KIR_U2F, HG_TYPE_F32, magnitude), kir_f32(b, 0x1p-24f)));
    kir_value *r = kir_select(b, below(b, magnitude, u32(b, 0x7C00)), normal, special);
    r = kir_select(b, below(b, magnitude, u32(b, 0x0400)), small, r);
    return real(b, kir_binary(b, KIR_OR, r, sign));
}

/* f32 to f16: a normal result is rounded in its bits; adding 1/2 rounds a subnormal one to a
 * multiple of 2^-24, f32's spacing there. */
static kir_value *narrow_f16(kir_builder *b, kir_value *f) {
    kir_value *x = bits(b, f), *magnitude = and_of(b, x, 0x7FFFFFFF),
              *sign = and_of(b, shr(b, x, 16), 0x8000);
    kir_value *odd = and_of(b, shr(b, magnitude, 13), 1);
    kir_value *normal = shr(b, kir_add(b, kir_sub(b, magnitude, u32(b, (112u << 23) - 0xFFF)), odd),
                            13);
    kir_value *small = kir_sub(b, bits(b, kir_add(b, real(b, magnitude), kir_f32(b, 0.5f))),
                               u32(b, 0x3F000000));
    kir_value *r = kir_select(b, below(b, magnitude, u32(b, 0x38800000)), small, normal);
    r = kir_select(b, below(b, magnitude, u32(b, 0x47800000)), r, u32(b, 0x7C00));
    r = kir_select(b, below(b, u32(b, 0x7F800000), magnitude), u32(b, 0x7E00), r);
    return kir_convert(b, KIR_TRUNC, HG_TYPE_U16, kir_binary(b, KIR_OR, r, sign));
}

static kir_value *widen_bf16(kir_builder *b, kir_value *h) {
    return real(b, shl(b, kir_convert(b, KIR_ZEXT, HG_TYPE_U32, h), 16));
}

static kir_value *narrow_bf16(kir_builder *b, kir_value *f) {
    kir_value *x = bits(b, f), *odd = and_of(b, shr(b, x, 16), 1);
    kir_value *r = shr(b, kir_add(b, kir_add(b, x, u32(b, 0x7FFF)), odd), 16);
    kir_value *nan = below(b, u32(b, 0x7F800000), and_of(b, x, 0x7FFFFFFF));
    r = kir_select(b, nan, kir_binary(b, KIR_OR, shr(b, x, 16), u32(b, 0x40)), r);
    return kir_convert(b, KIR_TRUNC, HG_TYPE_U16, r);
}

/* f32 fma through f64: the product is exact, the sum rounded to odd (Boldo, Melquiond 2008), then
 * rounded once more. */
static kir_function *fma_by_f64(rewrite_pass *p) {
    const uint8_t types[] = {HG_TYPE_F32, HG_TYPE_F32, HG_TYPE_F32};
    rewrite_helper h = rewrite_helper_begin(p, "fma_f32", HG_TYPE_F32, 3, types);
    if (!h.fresh) return h.function;
    kir_builder *b = &h.b;
    kir_value *x[3];
    for (uint8_t i = 0; i < 3; i++) x[i] = kir_convert(b, KIR_F2F, HG_TYPE_F64, kir_param(b, i));
    kir_value *r = kir_add_to_odd(b, kir_mul(b, x[0], x[1]), x[2]);
    kir_return(b, kir_convert(b, KIR_F2F, HG_TYPE_F32, r));
    rewrite_helper_end(p, &h);
    return h.function;
}

static kir_value *magnitude(kir_builder *b, kir_value *x) {
    kir_value *all = kir_const(b, HG_TYPE_U64, INT64_MAX);
    return kir_binary(b, KIR_AND, kir_convert(b, KIR_BITCAST, HG_TYPE_U64, x), all);
}

/* A factor whose halves are exact, as are their products, of another such one: 0, or from 2^-480 to
 * 2^480. */
static kir_value *is_plain_factor(kir_builder *b, kir_value *x) {
    const uint64_t least = UINT64_C(543) << 52, most = UINT64_C(1503) << 52;
    kir_value *m = magnitude(b, x);
    kir_value *above = kir_sub(b, m, kir_const(b, HG_TYPE_U64, least));
    kir_value *within = below(b, above, kir_const(b, HG_TYPE_U64, most - least));
    return kir_binary(b, KIR_OR, within, is_zero(b, m));
}

typedef struct sum {
    kir_value *h, *l;
} sum;
/* Exactly: Knuth, TAOCP 2, 4.2.2. */
static sum add_exactly(kir_builder *b, kir_value *x, kir_value *y) {
    kir_value *s = kir_add(b, x, y), *t = kir_sub(b, s, x);
    kir_value *of_x = kir_sub(b, x, kir_sub(b, s, t)), *of_y = kir_sub(b, y, t);
    return (sum){s, kir_add(b, of_x, of_y)};
}

/* f64 fma by f64: the product and its error are exact, and so is their sum with c as three numbers,
 * of which the two smaller ones are added to odd, then the largest (Boldo, Melquiond, "Emulation of
 * a FMA and correctly rounded sums", 2008). A result of 0 is that of x y + c, whose sign is right.
 * By integers only where a part may overflow or be lost: c is below 2^1000 for the rest. */
static kir_function *fma_by_sums(rewrite_pass *p) {
    const uint8_t types[] = {HG_TYPE_F64, HG_TYPE_F64, HG_TYPE_F64};
    kir_function *by_bits = soft_arithmetic(p, KIR_FFMA, HG_TYPE_F64);
    rewrite_helper h = rewrite_helper_begin(p, "fma_by_sums", HG_TYPE_F64, 3, types);
    if (!h.fresh) return h.function;
    kir_builder *b = &h.b;
    kir_value *x = kir_param(b, 0), *y = kir_param(b, 1), *c = kir_param(b, 2);
    kir_var *result = kir_var_create(b->module, b->function, HG_TYPE_F64, 0, "fused");
    if (!result) {
        p->b.failed = true;
        return h.function;
    }
    kir_value *product = kir_mul(b, x, y);
    const sum t = add_exactly(b, c, kir_split_product_error(b, x, y)),
              v = add_exactly(b, product, t.h);
    kir_value *rounded = kir_add(b, v.h, kir_add_to_odd(b, t.l, v.l)),
              *zero = kir_binary(b, KIR_FCMP_EQ, rounded, kir_f64(b, 0));
    kir_value *nothing = kir_add(b, product, c);
    kir_set(b, result, kir_select(b, zero, nothing, rounded));
    kir_value *plain = kir_binary(b, KIR_AND, is_plain_factor(b, x), is_plain_factor(b, y)),
              *small = below(b, magnitude(b, c), kir_const(b, HG_TYPE_U64, UINT64_C(2023) << 52));
    kir_value *hard = kir_if_begin(b, kir_not(b, kir_binary(b, KIR_AND, plain, small)));
    kir_value *words[3];
    for (uint8_t i = 0; i < 3; i++)
        words[i] = kir_convert(b, KIR_BITCAST, HG_TYPE_U64, kir_param(b, i));
    kir_value *exact = kir_call(b, by_bits, 3, words, NULL);
    kir_set(b, result, kir_convert(b, KIR_BITCAST, HG_TYPE_F64, exact));
    kir_if_end(b, hard);
    kir_return(b, kir_get(b, result));
    rewrite_helper_end(p, &h);
    return h.function;
}

/* Whether f64 has sums and products that round as they should. */
static bool has_sums(const kir_caps *caps) {
    return caps->f64 && !caps->inexact[KIR_FADD][1] && !caps->inexact[KIR_FSUB][1] &&
           !caps->inexact[KIR_FMUL][1] && !caps->inexact[KIR_FCMP_EQ][1];
}

static void lower_fma(rewrite_pass *p, const kir_value *v) {
    kir_builder *b = &p->b;
    kir_value *args[3];
    bool by_bits = v->type == HG_TYPE_F64;
    if (v->type == HG_TYPE_F64 && has_sums(p->caps)) {
        for (uint8_t i = 0; i < 3; i++) args[i] = rewrite_arg(p, v, i);
        rewrite_set(p, v, kir_call(b, fma_by_sums(p), 3, args, NULL));
        return;
    }
    for (uint8_t i = 0; i < 3; i++) {
        args[i] = rewrite_arg(p, v, i);
        if (by_bits) args[i] = kir_convert(b, KIR_BITCAST, HG_TYPE_U64, args[i]);
    }
    kir_value *r = kir_call(b, by_bits ? soft_arithmetic(p, KIR_FFMA, v->type) : fma_by_f64(p), 3,
                            args, NULL);
    rewrite_set(p, v, by_bits ? kir_convert(b, KIR_BITCAST, v->type, r) : r);
}

/* A target whose multiplication or fused one is no good, or that loses small errors, takes the
 * splitting. */
bool legal_product_error(const kir_caps *caps, uint8_t type) {
    bool wide = type == HG_TYPE_F64;
    if (caps->inexact[KIR_FMULERR][wide] || caps->inexact[KIR_FMUL][wide] || !caps->subnormals)
        return false;
    return wide ? caps->f64 && caps->fma64 : caps->fma32;
}

bool legal_mad(const kir_caps *caps, uint8_t type) {
    return caps->mad && caps->subnormals && (type == HG_TYPE_F32 || caps->f64);
}

static bool lower(rewrite_pass *p, const kir_value *v) {
    static const struct {
        kir_op op;
        const char *name;
        uint8_t result, param;
        kir_value *(*define)(kir_builder *, kir_value *);
    } HALF[] = {{KIR_H2F, "h2f", HG_TYPE_F32, HG_TYPE_U16, widen_f16},
                {KIR_F2H, "f2h", HG_TYPE_U16, HG_TYPE_F32, narrow_f16},
                {KIR_B2F, "b2f", HG_TYPE_F32, HG_TYPE_U16, widen_bf16},
                {KIR_F2B, "f2b", HG_TYPE_U16, HG_TYPE_F32, narrow_bf16}};
    if (v->op == KIR_FFMA) {
        bool left = v->type == HG_TYPE_F64 ? p->caps->fma64 : p->caps->fma32 || !p->caps->f64;
        if (left) return false;
        lower_fma(p, v);
        return true;
    }
    if (v->op == KIR_FMAD) {
        if (legal_mad(p->caps, v->type)) return false;
        kir_value *product = kir_mul(&p->b, rewrite_arg(p, v, 0), rewrite_arg(p, v, 1));
        rewrite_set(p, v, kir_add(&p->b, product, rewrite_arg(p, v, 2)));
        return true;
    }
    if (v->op == KIR_FMULERR) {
        if (legal_product_error(p->caps, v->type)) return false;
        kir_value *x = rewrite_arg(p, v, 0), *y = rewrite_arg(p, v, 1);
        rewrite_set(p, v, kir_split_product_error(&p->b, x, y));
        return true;
    }
    if (p->caps->half && !p->caps->inexact[v->op][0]) return false;
    for (size_t i = 0; i < HG_COUNT_OF(HALF); i++) {
        if (v->op != HALF[i].op) continue;
        rewrite_helper h = rewrite_helper_begin(p, HALF[i].name, HALF[i].result, 1, &HALF[i].param);
        if (h.fresh) {
            kir_return(&h.b, HALF[i].define(&h.b, kir_param(&h.b, 0)));
            rewrite_helper_end(p, &h);
        }
        kir_value *x = rewrite_arg(p, v, 0);
        rewrite_set(p, v, kir_call(&p->b, h.function, 1, &x, NULL));
        return true;
    }
    return false;
}

const rewrite_rules legal_half_rules = {.lower = lower};
