/* Shared by the definitions: the table's handler type, small helpers over the builder, the float
 * formats.
 * Must not know: targets, capabilities. */
#ifndef HG_KIR_DEFINE_DEFINE_INTERNAL_H
#define HG_KIR_DEFINE_DEFINE_INTERNAL_H

#include "kir/kir.h"
#include "kir/builder.h"

typedef kir_value *(*define_fn)(kir_builder *b, hg_type type, kir_value *const *arg);

/* simple.c */
kir_value *define_rem(kir_builder *b, hg_type type, kir_value *const *arg);
kir_value *define_min(kir_builder *b, hg_type type, kir_value *const *arg);
kir_value *define_max(kir_builder *b, hg_type type, kir_value *const *arg);
kir_value *define_mad(kir_builder *b, hg_type type, kir_value *const *arg);
kir_value *define_fms(kir_builder *b, hg_type type, kir_value *const *arg);
kir_value *define_abs(kir_builder *b, hg_type type, kir_value *const *arg);
kir_value *define_neg(kir_builder *b, hg_type type, kir_value *const *arg);
kir_value *define_not(kir_builder *b, hg_type type, kir_value *const *arg);
kir_value *define_clamp(kir_builder *b, hg_type type, kir_value *const *arg);
kir_value *define_lerp(kir_builder *b, hg_type type, kir_value *const *arg);
kir_value *define_sign(kir_builder *b, hg_type type, kir_value *const *arg);
kir_value *define_ceil(kir_builder *b, hg_type type, kir_value *const *arg);
kir_value *define_round(kir_builder *b, hg_type type, kir_value *const *arg);
kir_value *define_rcp(kir_builder *b, hg_type type, kir_value *const *arg);
kir_value *define_relu(kir_builder *b, hg_type type, kir_value *const *arg);
kir_value *define_class(kir_builder *b, hg_type type, kir_value *const *arg);
kir_value *define_mirror(kir_builder *b, hg_type type, kir_value *const *arg);
/* half.c */
kir_value *define_fma_bf16(kir_builder *b, hg_type type, kir_value *const *arg);
/* exp.c */
kir_value *define_exp(kir_builder *b, hg_type type, kir_value *const *arg);
kir_value *define_exp2(kir_builder *b, hg_type type, kir_value *const *arg);
kir_value *define_exp10(kir_builder *b, hg_type type, kir_value *const *arg);
kir_value *define_expm1(kir_builder *b, hg_type type, kir_value *const *arg);
kir_value *define_sinh(kir_builder *b, hg_type type, kir_value *const *arg);
kir_value *define_cosh(kir_builder *b, hg_type type, kir_value *const *arg);
kir_value *define_tanh(kir_builder *b, hg_type type, kir_value *const *arg);
kir_value *define_sigmoid(kir_builder *b, hg_type type, kir_value *const *arg);
kir_value *define_swish(kir_builder *b, hg_type type, kir_value *const *arg);
/* erf.c */
kir_value *define_erf(kir_builder *b, hg_type type, kir_value *const *arg);
kir_value *define_erfc(kir_builder *b, hg_type type, kir_value *const *arg);
kir_value *define_gelu(kir_builder *b, hg_type type, kir_value *const *arg);
/* bits.c */
kir_value *define_popc(kir_builder *b, hg_type type, kir_value *const *arg);
kir_value *define_clz(kir_builder *b, hg_type type, kir_value *const *arg);
kir_value *define_ctz(kir_builder *b, hg_type type, kir_value *const *arg);
kir_value *define_brev(kir_builder *b, hg_type type, kir_value *const *arg);
kir_value *define_bswap(kir_builder *b, hg_type type, kir_value *const *arg);
/* integer.c */
kir_value *define_mulhi(kir_builder *b, hg_type type, kir_value *const *arg);
kir_value *define_adds(kir_builder *b, hg_type type, kir_value *const *arg);
kir_value *define_subs(kir_builder *b, hg_type type, kir_value *const *arg);
kir_value *define_powm(kir_builder *b, hg_type type, kir_value *const *arg);
kir_value *define_dot4(kir_builder *b, hg_type type, kir_value *const *arg);
/* log.c */
kir_value *define_log(kir_builder *b, hg_type type, kir_value *const *arg);
kir_value *define_log2(kir_builder *b, hg_type type, kir_value *const *arg);
kir_value *define_log10(kir_builder *b, hg_type type, kir_value *const *arg);
kir_value *define_log1p(kir_builder *b, hg_type type, kir_value *const *arg);
kir_value *define_pow(kir_builder *b, hg_type type, kir_value *const *arg);
kir_value *define_asinh(kir_builder *b, hg_type type, kir_value *const *arg);
kir_value *define_acosh(kir_builder *b, hg_type type, kir_value *const *arg);
kir_value *define_atanh(kir_builder *b, hg_type type, kir_value *const *arg);
/* trig.c */
kir_value *define_sin(kir_builder *b, hg_type type, kir_value *const *arg);
kir_value *define_cos(kir_builder *b, hg_type type, kir_value *const *arg);
kir_value *define_tan(kir_builder *b, hg_type type, kir_value *const *arg);
kir_value *define_sinpi(kir_builder *b, hg_type type, kir_value *const *arg);
kir_value *define_cospi(kir_builder *b, hg_type type, kir_value *const *arg);
/* root.c */
kir_value *define_rsqrt(kir_builder *b, hg_type type, kir_value *const *arg);
kir_value *define_cbrt(kir_builder *b, hg_type type, kir_value *const *arg);
kir_value *define_hypot(kir_builder *b, hg_type type, kir_value *const *arg);
/* arc.c */
kir_value *define_atan(kir_builder *b, hg_type type, kir_value *const *arg);
kir_value *define_atan2(kir_builder *b, hg_type type, kir_value *const *arg);
kir_value *define_asin(kir_builder *b, hg_type type, kir_value *const *arg);
kir_value *define_acos(kir_builder *b, hg_type type, kir_value *const *arg);

/* nearest.c: of F32 */
kir_value *nearest_exp(kir_builder *b, kir_value *x);
kir_value *nearest_exp2(kir_builder *b, kir_value *x);
kir_value *nearest_exp10(kir_builder *b, kir_value *x);
kir_value *nearest_expm1(kir_builder *b, kir_value *x);
kir_value *nearest_tanh(kir_builder *b, kir_value *x);
kir_value *nearest_sigmoid(kir_builder *b, kir_value *x);
kir_value *nearest_swish(kir_builder *b, kir_value *x);
kir_value *nearest_sinh(kir_builder *b, kir_value *x);
kir_value *nearest_cosh(kir_builder *b, kir_value *x);
kir_value *nearest_log(kir_builder *b, kir_value *x);
kir_value *nearest_log2(kir_builder *b, kir_value *x);
kir_value *nearest_log10(kir_builder *b, kir_value *x);
kir_value *nearest_log1p(kir_builder *b, kir_value *x);
kir_value *nearest_asinh(kir_builder *b, kir_value *x);
kir_value *nearest_acosh(kir_builder *b, kir_value *x);
kir_value *nearest_atanh(kir_builder *b, kir_value *x);
kir_value *nearest_sin(kir_builder *b, kir_value *x);
kir_value *nearest_cos(kir_builder *b, kir_value *x);
kir_value *nearest_tan(kir_builder *b, kir_value *x);
kir_value *nearest_sinpi(kir_builder *b, kir_value *x);
kir_value *nearest_cospi(kir_builder *b, kir_value *x);
kir_value *nearest_atan(kir_builder *b, kir_value *x);
kir_value *nearest_asin(kir_builder *b, kir_value *x);
kir_value *nearest_acos(kir_builder *b, kir_value *x);
kir_value *nearest_gelu(kir_builder *b, kir_value *x);
kir_value *nearest_erf(kir_builder *b, kir_value *x);
kir_value *nearest_erfc(kir_builder *b, kir_value *x);
kir_value *nearest_rsqrt(kir_builder *b, kir_value *x);
kir_value *nearest_cbrt(kir_builder *b, kir_value *x);
/* nearest_pairs.c: of F32, F16 and BF16 */
kir_value *nearest_pow(kir_builder *b, hg_type type, kir_value *const *arg);
kir_value *nearest_atan2(kir_builder *b, hg_type type, kir_value *const *arg);
kir_value *nearest_hypot(kir_builder *b, hg_type type, kir_value *const *arg);

/* Bits of a float as an integer of its width, and back. */
static inline uint8_t bits_type(uint8_t real) {
    return real == HG_TYPE_F64 ? HG_TYPE_U64 : HG_TYPE_U32;
}
static inline kir_value *bits_of(kir_builder *b, kir_value *x) {
    return kir_convert(b, KIR_BITCAST, bits_type(x->type), x);
}
static inline kir_value *real_of(kir_builder *b, kir_value *bits) {
    return kir_convert(b, KIR_BITCAST, bits->type == HG_TYPE_U64 ? HG_TYPE_F64 : HG_TYPE_F32, bits);
}
static inline kir_value *int_and(kir_builder *b, kir_value *x, uint64_t mask) {
    return kir_binary(b, KIR_AND, x, kir_const(b, x->type, mask));
}
#define int_or(b, x, y) kir_binary(b, KIR_OR, x, y)
static inline kir_value *int_shl(kir_builder *b, kir_value *x, uint32_t n) {
    return kir_binary(b, KIR_SHL, x, kir_const(b, HG_TYPE_U32, n));
}
static inline kir_value *int_shr(kir_builder *b, kir_value *x, uint32_t n) {
    return kir_binary(b, KIR_LSHR, x, kir_const(b, HG_TYPE_U32, n));
}
static inline kir_value *int_add(kir_builder *b, kir_value *x, uint64_t n) {
    return kir_binary(b, KIR_ADD, x, kir_const(b, x->type, n));
}
/* A number of the given float type; exact in it. */
static inline kir_value *real_const(kir_builder *b, uint8_t real, double value) {
    return real == HG_TYPE_F64 ? kir_f64(b, value) : kir_f32(b, (float)value);
}
static inline uint64_t sign_bit(uint8_t real) {
    return real == HG_TYPE_F64 ? UINT64_C(1) << 63 : UINT64_C(1) << 31;
}
static inline kir_value *real_abs(kir_builder *b, kir_value *x) {
    return real_of(b, int_and(b, bits_of(b, x), sign_bit(x->type) - 1));
}
static inline kir_value *real_neg(kir_builder *b, kir_value *x) {
    return real_of(b, kir_binary(b, KIR_XOR, bits_of(b, x),
                                 kir_const(b, bits_type(x->type), sign_bit(x->type))));
}
/* The sign bit of s put over x, whose own is clear. */
static inline kir_value *real_with_sign(kir_builder *b, kir_value *x, kir_value *s) {
    kir_value *sign = int_and(b, bits_of(b, s), sign_bit(x->type));
    return real_of(b, int_or(b, bits_of(b, x), sign));
}
static inline kir_value *is_number(kir_builder *b, kir_value *x) {
    return kir_binary(b, KIR_FCMP_EQ, x, x);
}

#endif
