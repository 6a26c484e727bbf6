/* Conversions between the 24 types (semantics 3.3), each rounded once from its source.
 * Must not know: targets. */
#include "kir/define/define_internal.h"
#include "kir/builder.h"
#include "kir/define/define.h"

/* An integer made as wide as type: low bits kept, or extended. */
static kir_value *resize(kir_builder *b, uint8_t type, kir_value *v, bool is_signed) {
    uint64_t from = kir_type_bytes(v->type), to = kir_type_bytes(type);
    if (from == to) return v;
    return kir_convert(b, to < from ? KIR_TRUNC : is_signed ? KIR_SEXT : KIR_ZEXT, type, v);
}

/* An unsigned integer of 32 bits or more to F32, rounded to odd: 24 leading bits, the last one set
 * when anything was cut off. Rounding that again to a format of at most 22 bits is one correct
 * rounding (Boldo, Melquiond 2008). Too large: infinity. */
static kir_value *odd_from_integer(kir_builder *b, kir_value *x) {
    uint32_t width = kir_type_bits(x->type);
    kir_value *zeros = resize(b, HG_TYPE_U32, kir_unary(b, KIR_CLZ, x), false);
    kir_value *most = kir_const(b, HG_TYPE_U32, width - 24), *none = kir_const(b, HG_TYPE_U32, 0);
    kir_value *cut = kir_select(b, kir_binary(b, KIR_CMP_ULT, zeros, most), kir_sub(b, most, zeros),
                                none);
    kir_value *kept = kir_binary(b, KIR_LSHR, x, cut);
    kir_value *exact = kir_binary(b, KIR_CMP_EQ, kir_binary(b, KIR_SHL, kept, cut), x);
    kir_value *odd = int_or(b, resize(b, HG_TYPE_U32, kept, false),
                            kir_select(b, exact, none, kir_const(b, HG_TYPE_U32, 1)));
    kir_value *limit = kir_const(b, HG_TYPE_U32, 120); /* 2^23 · 2^120 is beyond every half format
                                                          and scales to infinity */
    kir_value *power = kir_select(b, kir_binary(b, KIR_CMP_ULT, cut, limit), cut, limit);
    kir_value *scale = real_of(b, int_shl(b, int_add(b, power, 127), 23));
    return kir_mul(b, kir_convert(b, KIR_U2F, HG_TYPE_F32, odd), scale);
}

/* F64 to F32 rounded to odd: to nearest first, then one step back towards zero where that went too
 * far, and the last bit set. */
static kir_value *odd_from_f64(kir_builder *b, kir_value *x) {
    kir_value *near = kir_convert(b, KIR_F2F, HG_TYPE_F32, x);
    kir_value *back = kir_convert(b, KIR_F2F, HG_TYPE_F64, near);
    kir_value *one = kir_const(b, HG_TYPE_U32, 1), *zero = kir_const(b, HG_TYPE_U32, 0);
    kir_value *beyond = kir_binary(b, KIR_FCMP_LT, real_abs(b, x), real_abs(b, back));
    kir_value *bits = kir_sub(b, bits_of(b, near), kir_select(b, beyond, one, zero));
    kir_value *odd = real_of(b, int_or(b, bits, one));
    kir_value *keep = kir_binary(b, KIR_OR, kir_binary(b, KIR_FCMP_EQ, x, back),
                                 kir_not(b, is_number(b, x)));
    return kir_select(b, keep, near, odd);
}

kir_value *kir_round_half(kir_builder *b, hg_type half, kir_value *v, bool is_signed) {
    kir_op round = half == HG_TYPE_F16 ? KIR_F2H : KIR_F2B;
    if (v->type == HG_TYPE_F32) return kir_convert(b, round, HG_TYPE_U16, v);
    if (v->type == HG_TYPE_F64) return kir_convert(b, round, HG_TYPE_U16, odd_from_f64(b, v));
    if (kir_type_bits(v->type) < 32)
        return kir_convert(b, round, HG_TYPE_U16,
                           kir_convert(b, is_signed ? KIR_S2F : KIR_U2F, HG_TYPE_F32, v));
    if (!is_signed) return kir_convert(b, round, HG_TYPE_U16, odd_from_integer(b, v));
    kir_value *zero = kir_const(b, v->type, 0), *negative = kir_binary(b, KIR_CMP_SLT, v, zero);
    kir_value *magnitude = kir_select(b, negative, kir_sub(b, zero, v), v);
    kir_value *bits = kir_convert(b, round, HG_TYPE_U16, odd_from_integer(b, magnitude));
    return int_or(
        b, bits,
        kir_select(b, negative, kir_const(b, HG_TYPE_U16, 0x8000), kir_const(b, HG_TYPE_U16, 0)));
}

kir_value *kir_cvt(kir_builder *b, hg_type dst, hg_type src, kir_value *v) {
    if (dst == src) return v;
    bool from_signed = hg_type_is_signed(src);
    if (kir_is_half(src)) v = kir_widen_half(b, src, v);
    bool from_real = kir_type_is_float(v->type);
    if (kir_is_half(dst)) return kir_round_half(b, dst, v, from_signed);
    uint8_t type = kir_type_of(dst);
    if (kir_type_is_float(type)) {
        if (from_real) return v->type == type ? v : kir_convert(b, KIR_F2F, type, v);
        return kir_convert(b, from_signed ? KIR_S2F : KIR_U2F, type, v);
    }
    if (from_real) return kir_convert(b, hg_type_is_signed(dst) ? KIR_F2S : KIR_F2U, type, v);
    return resize(b, type, v, from_signed);
}
