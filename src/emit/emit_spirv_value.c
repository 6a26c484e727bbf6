/* Value primitives in SPIR-V, guarded where SPIR-V leaves open what prim.def fixes.
 * Must not know: memory, control flow. */
#include "emit/emit_spirv_internal.h"

static uint32_t glsl(spirv *s, uint32_t instruction, uint8_t type, const uint32_t *args,
                     uint32_t count) {
    uint32_t operands[6] = {spv_type(s, type), s->made.glsl, instruction};
    for (uint32_t i = 0; i < count; i++) operands[3 + i] = args[i];
    return spv_result(s, OpExtInst, operands, count + 3);
}

/* ---- integers ---- */

static uint32_t shift(spirv *s, const kir_value *v, uint32_t opcode, uint32_t a) {
    uint32_t bits = kir_type_bits(v->type);
    const kir_value *amount = v->args[1];
    uint32_t by = amount->op == KIR_CONST ? spv_u32(s, (uint32_t)amount->u.imm & (bits - 1))
                                          : SPV_VALUE(s, OpBitwiseAnd, HG_TYPE_U32,
                                                      spv_use(s, amount), spv_u32(s, bits - 1));
    return SPV_VALUE(s, opcode, v->type, a, by);
}

/* A divisor that is never 0 (nor -1 of the least number: MIN / 1 is MIN as it should be). *zero:
 * the divisor was 0; 0: it cannot be. */
static uint32_t safe_divisor(spirv *s, const kir_value *v, bool is_signed, uint32_t a, uint32_t b,
                             uint32_t *zero) {
    uint8_t type = v->type;
    uint32_t bits = kir_type_bits(type);
    uint64_t top = UINT64_MAX >> (64 - bits);
    const kir_value *divisor = v->args[1];
    *zero = 0;
    if (divisor->op == KIR_CONST && divisor->u.imm && !(is_signed && divisor->u.imm == top))
        return b;
    uint32_t bad = *zero = SPV_VALUE(s, OpIEqual, KIR_BOOL, b, spv_constant(s, type, 0));
    if (is_signed) {
        uint32_t least = SPV_VALUE(s, OpIEqual, KIR_BOOL, a,
                                   spv_constant(s, type, UINT64_C(1) << (bits - 1)));
        uint32_t minus = SPV_VALUE(s, OpIEqual, KIR_BOOL, b, spv_constant(s, type, top));
        bad = SPV_VALUE(s, OpLogicalOr, KIR_BOOL, bad,
                        SPV_VALUE(s, OpLogicalAnd, KIR_BOOL, least, minus));
    }
    return SPV_VALUE(s, OpSelect, type, bad, spv_constant(s, type, 1), b);
}

/* The remainder of signed numbers goes by the quotient: OpSRem of negative numbers is not defined
 * everywhere. */
static uint32_t divide(spirv *s, const kir_value *v, uint32_t a, uint32_t b) {
    bool is_signed = v->op == KIR_SDIV || v->op == KIR_SREM;
    uint32_t zero, safe = safe_divisor(s, v, is_signed, a, b, &zero);
    if (v->op == KIR_UREM) return SPV_VALUE(s, OpUMod, v->type, a, safe);
    uint32_t quotient = SPV_VALUE(s, is_signed ? OpSDiv : OpUDiv, v->type, a, safe);
    if (v->op == KIR_SREM)
        return SPV_VALUE(s, OpISub, v->type, a, SPV_VALUE(s, OpIMul, v->type, quotient, safe));
    return zero ? SPV_VALUE(s, OpSelect, v->type, zero, spv_constant(s, v->type, 0), quotient)
                : quotient;
}

static uint32_t high_32(spirv *s, uint32_t a, uint32_t b) {
    uint32_t word = spv_type(s, HG_TYPE_U32);
    if (!s->made.extended_type)
        s->made.extended_type = spv_struct(s, (const uint32_t[]){word, word}, 2);
    return SPV_RESULT(s, OpCompositeExtract, word,
                      SPV_RESULT(s, OpUMulExtended, s->made.extended_type, a, b), 1);
}

/* By halves of 32 bits: a·b = hh·2^64 + (hl + lh)·2^32 + ll, no partial sum leaves 64 bits. */
static uint32_t high_64(spirv *s, uint32_t a, uint32_t b) {
    enum { T = HG_TYPE_U64 };
    uint32_t mask = spv_constant(s, T, UINT32_MAX), by = spv_u32(s, 32);
    uint32_t al = SPV_VALUE(s, OpBitwiseAnd, T, a, mask),
             ah = SPV_VALUE(s, OpShiftRightLogical, T, a, by);
    uint32_t bl = SPV_VALUE(s, OpBitwiseAnd, T, b, mask),
             bh = SPV_VALUE(s, OpShiftRightLogical, T, b, by);
    uint32_t ll = SPV_VALUE(s, OpIMul, T, al, bl), hl = SPV_VALUE(s, OpIMul, T, ah, bl),
             lh = SPV_VALUE(s, OpIMul, T, al, bh);
    uint32_t hh = SPV_VALUE(s, OpIMul, T, ah, bh);
    uint32_t t = SPV_VALUE(s, OpIAdd, T, hl, SPV_VALUE(s, OpShiftRightLogical, T, ll, by));
    uint32_t u = SPV_VALUE(s, OpIAdd, T, lh, SPV_VALUE(s, OpBitwiseAnd, T, t, mask));
    uint32_t high = SPV_VALUE(s, OpIAdd, T, hh, SPV_VALUE(s, OpShiftRightLogical, T, t, by));
    return SPV_VALUE(s, OpIAdd, T, high, SPV_VALUE(s, OpShiftRightLogical, T, u, by));
}

static uint32_t multiply_high(spirv *s, const kir_value *v, uint32_t a, uint32_t b) {
    uint32_t bits = kir_type_bits(v->type);
    if (bits == 64) return high_64(s, a, b);
    if (bits == 32) return high_32(s, a, b);
    uint32_t product = SPV_VALUE(s, OpIMul, HG_TYPE_U32, SPV_VALUE(s, OpUConvert, HG_TYPE_U32, a),
                                 SPV_VALUE(s, OpUConvert, HG_TYPE_U32, b));
    return SPV_VALUE(s, OpUConvert, v->type,
                     SPV_VALUE(s, OpShiftRightLogical, HG_TYPE_U32, product, spv_u32(s, bits)));
}

/* FindUMsb knows 32 bits only and gives -1 for 0: width - 1 - it is what clz must be, 0 included.
 */
static uint32_t leading_zeros(spirv *s, const kir_value *v, uint32_t a) {
    enum { T = HG_TYPE_U32 };
    uint32_t bits = kir_type_bits(v->type), word = a, base = spv_u32(s, bits - 1);
    if (bits == 64) {
        uint32_t high = SPV_VALUE(
            s, OpUConvert, T, SPV_VALUE(s, OpShiftRightLogical, HG_TYPE_U64, a, spv_u32(s, 32)));
        uint32_t none = SPV_VALUE(s, OpIEqual, KIR_BOOL, high, spv_u32(s, 0));
        word = SPV_VALUE(s, OpSelect, T, none, SPV_VALUE(s, OpUConvert, T, a), high);
        base = SPV_VALUE(s, OpSelect, T, none, spv_u32(s, 63), spv_u32(s, 31));
    } else if (bits < 32) {
        word = SPV_VALUE(s, OpUConvert, T, a);
    }
    uint32_t count = SPV_VALUE(s, OpISub, T, base, glsl(s, Spv_B_FindUMsb, T, &word, 1));
    return spv_convert_uint(s, v->type, T, count);
}

/* Four bytes in a word (format 0). Of SUDot the signed bytes come first. */
static uint32_t dot4(spirv *s, const kir_value *v, uint32_t a, uint32_t b) {
    bool both = v->op == KIR_DOT4_S;
    spv_capability(s, Spv_C_DotProduct);
    spv_capability(s, Spv_C_DotProductInput4x8BitPacked);
    uint32_t sum = both ? SPV_VALUE(s, OpSDot, HG_TYPE_U32, a, b, 0)
                        : SPV_VALUE(s, OpSUDot, HG_TYPE_U32, b, a, 0);
    return SPV_VALUE(s, OpIAdd, HG_TYPE_U32, sum, spv_use(s, v->args[2]));
}

static uint32_t integer(spirv *s, const kir_value *v, uint32_t a, uint32_t b) {
    bool logical = v->args[0]->type == KIR_BOOL;
    switch ((kir_op)v->op) {
    case KIR_ADD: return SPV_VALUE(s, OpIAdd, v->type, a, b);
    case KIR_SUB: return SPV_VALUE(s, OpISub, v->type, a, b);
    case KIR_MUL: return SPV_VALUE(s, OpIMul, v->type, a, b);
    case KIR_MULHI_U: return multiply_high(s, v, a, b);
    case KIR_UDIV:
    case KIR_UREM:
    case KIR_SDIV:
    case KIR_SREM: return divide(s, v, a, b);
    case KIR_AND: return SPV_VALUE(s, logical ? OpLogicalAnd : OpBitwiseAnd, v->type, a, b);
    case KIR_OR: return SPV_VALUE(s, logical ? OpLogicalOr : OpBitwiseOr, v->type, a, b);
    case KIR_XOR:
        if (logical && v->args[1]->op == KIR_CONST && v->args[1]->u.imm)
            return SPV_VALUE(s, OpLogicalNot, KIR_BOOL, a);
        return SPV_VALUE(s, logical ? OpLogicalNotEqual : OpBitwiseXor, v->type, a, b);
    case KIR_SHL: return shift(s, v, OpShiftLeftLogical, a);
    case KIR_LSHR: return shift(s, v, OpShiftRightLogical, a);
    case KIR_ASHR: return shift(s, v, OpShiftRightArithmetic, a);
    case KIR_CLZ: return leading_zeros(s, v, a);
    case KIR_DOT4_S:
    case KIR_DOT4_U: return dot4(s, v, a, b);
    case KIR_CMP_EQ: return SPV_VALUE(s, logical ? OpLogicalEqual : OpIEqual, KIR_BOOL, a, b);
    case KIR_CMP_ULT: return SPV_VALUE(s, OpULessThan, KIR_BOOL, a, b);
    case KIR_CMP_SLT: return SPV_VALUE(s, OpSLessThan, KIR_BOOL, a, b);
    default: return 0;
    }
}

/* ---- floats ---- */

static uint32_t exact(spirv *s, const kir_value *v, uint32_t opcode, uint32_t a, uint32_t b) {
    uint32_t id = SPV_VALUE(s, opcode, v->type, a, b);
    SPV(s, &s->to.decorations, OpDecorate, id, Spv_D_NoContraction);
    return id;
}

/* Fused: a * b - fl(a * b). */
static uint32_t product_error(spirv *s, const kir_value *v, uint32_t a, uint32_t b) {
    uint32_t p = exact(s, v, OpFMul, a, b);
    uint32_t less = SPV_VALUE(s, OpFNegate, v->type, p);
    return glsl(s, Spv_B_Fma, v->type, (const uint32_t[]){a, b, less}, 3);
}

static uint32_t floating(spirv *s, const kir_value *v, uint32_t a, uint32_t b) {
    switch ((kir_op)v->op) {
    case KIR_FADD: return exact(s, v, OpFAdd, a, b);
    case KIR_FSUB: return exact(s, v, OpFSub, a, b);
    case KIR_FMUL: return exact(s, v, OpFMul, a, b);
    case KIR_FDIV: return exact(s, v, OpFDiv, a, b);
    case KIR_FSQRT: return glsl(s, Spv_B_Sqrt, v->type, &a, 1);
    case KIR_FFMA:
        return glsl(s, Spv_B_Fma, v->type, (const uint32_t[]){a, b, spv_use(s, v->args[2])}, 3);
    case KIR_FMULERR: return product_error(s, v, a, b);
    case KIR_FFLOOR: return glsl(s, Spv_B_Floor, v->type, &a, 1);
    case KIR_FTRUNC: return glsl(s, Spv_B_Trunc, v->type, &a, 1);
    case KIR_FRINT: return glsl(s, Spv_B_RoundEven, v->type, &a, 1);
    case KIR_FCMP_EQ: return SPV_VALUE(s, OpFOrdEqual, KIR_BOOL, a, b);
    case KIR_FCMP_LT: return SPV_VALUE(s, OpFOrdLessThan, KIR_BOOL, a, b);
    case KIR_FCMP_LE: return SPV_VALUE(s, OpFOrdLessThanEqual, KIR_BOOL, a, b);
    default: return 0;
    }
}

/* ---- conversions ---- */

/* 2^n of a float type. */
static uint64_t power(uint8_t type, uint32_t n) {
    return type == HG_TYPE_F32 ? (uint64_t)(127 + n) << 23 : (uint64_t)(1023 + n) << 52;
}

/* Only numbers whose integer part the result can hold are converted; comparisons are false for NaN,
 * so that gives 0. Narrow results come out of a 32-bit conversion. */
static uint32_t float_to_int(spirv *s, const kir_value *v, uint32_t a) {
    uint8_t from = v->args[0]->type, to = v->type, wide = kir_type_bits(to) < 32 ? HG_TYPE_U32 : to;
    uint32_t bits = kir_type_bits(to);
    bool is_signed = v->op == KIR_F2S;
    uint64_t top = UINT64_MAX >> (64 - bits), most = is_signed ? top >> 1 : top,
             sign = from == HG_TYPE_F32 ? UINT64_C(1) << 31 : UINT64_C(1) << 63;
    uint64_t limit = power(from, is_signed ? bits - 1 : bits);
    uint32_t high = SPV_VALUE(s, OpFOrdGreaterThanEqual, KIR_BOOL, a, spv_constant(s, from, limit));
    uint32_t above = SPV_VALUE(s, OpFOrdGreaterThan, KIR_BOOL, a,
                               spv_constant(s, from, is_signed ? limit | sign : 0));
    uint32_t below = SPV_VALUE(s, OpFOrdLessThan, KIR_BOOL, a, spv_constant(s, from, limit));
    uint32_t fits = SPV_VALUE(s, OpLogicalAnd, KIR_BOOL, above, below);
    uint32_t safe = SPV_VALUE(s, OpSelect, from, fits, a, spv_constant(s, from, 0));
    uint32_t whole = spv_convert_uint(
        s, to, wide, SPV_VALUE(s, is_signed ? OpConvertFToS : OpConvertFToU, wide, safe));
    uint32_t result = SPV_VALUE(s, OpSelect, to, high, spv_constant(s, to, most), whole);
    if (!is_signed) return result;
    uint32_t low = SPV_VALUE(s, OpFOrdLessThanEqual, KIR_BOOL, a,
                             spv_constant(s, from, limit | sign));
    return SPV_VALUE(s, OpSelect, to, low, spv_constant(s, to, most + 1), result);
}

static uint32_t extend(spirv *s, const kir_value *v, uint32_t a) {
    uint8_t from = v->args[0]->type;
    if (v->type == from) return a;
    uint64_t top = v->type == KIR_BOOL ? 1 : UINT64_MAX >> (64 - kir_type_bits(v->type));
    if (from == KIR_BOOL)
        return SPV_VALUE(s, OpSelect, v->type, a,
                         spv_constant(s, v->type, v->op == KIR_SEXT ? top : 1),
                         spv_constant(s, v->type, 0));
    if (v->type == KIR_BOOL) {
        uint32_t bit = SPV_VALUE(s, OpBitwiseAnd, from, a, spv_constant(s, from, 1));
        return SPV_VALUE(s, OpINotEqual, KIR_BOOL, bit, spv_constant(s, from, 0));
    }
    return SPV_VALUE(s, v->op == KIR_SEXT ? OpSConvert : OpUConvert, v->type, a);
}

static uint32_t conversion(spirv *s, const kir_value *v, uint32_t a) {
    uint8_t from = v->args[0]->type;
    switch ((kir_op)v->op) {
    case KIR_BITCAST: return spv_bitcast(s, v->type, from, a);
    case KIR_ZEXT:
    case KIR_SEXT:
    case KIR_TRUNC: return extend(s, v, a);
    case KIR_U2F: return SPV_VALUE(s, OpConvertUToF, v->type, a);
    case KIR_S2F: return SPV_VALUE(s, OpConvertSToF, v->type, a);
    case KIR_F2U:
    case KIR_F2S: return float_to_int(s, v, a);
    case KIR_F2F: return v->type == from ? a : SPV_VALUE(s, OpFConvert, v->type, a);
    default: return 0;
    }
}

uint32_t spv_primitive(spirv *s, const kir_value *v) {
    if (!v->nargs) return 0;
    uint32_t a = spv_use(s, v->args[0]);
    if (v->op == KIR_SELECT)
        return SPV_VALUE(s, OpSelect, v->type, a, spv_use(s, v->args[1]), spv_use(s, v->args[2]));
    bool by_shift = kir_op_has((kir_op)v->op, KIR_F_SHIFTS); /* looks at its amount itself */
    uint32_t b = v->nargs > 1 && !by_shift ? spv_use(s, v->args[1]) : 0, id = integer(s, v, a, b);
    if (!id) id = floating(s, v, a, b);
    return id ? id : conversion(s, v, a);
}
