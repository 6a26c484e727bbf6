/* Constant folding and operations that change nothing. Every value primitive of constants of at
 * most 64 bits is folded: no compiler of a device gets one to fold, since some fold what C or
 * SPIR-V leave open to anything (PoCL 3.1: rint of a number beyond 2^31). Integers exactly; floats
 * by the one C operation that is the meaning. Must not know: regions. */
#include "kir/passes/simplify_internal.h"

#include <math.h>
#include <string.h>

static uint64_t mask_of(uint8_t type) {
    uint32_t bits = kir_type_bits(type);
    return bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
}

static int64_t signed_of(uint8_t type, uint64_t x) {
    uint32_t bits = kir_type_bits(type);
    return bits < 64 && x >> (bits - 1) ? (int64_t)(x | ~mask_of(type)) : (int64_t)x;
}

static uint64_t mulhi(uint8_t type, uint64_t x, uint64_t y) {
    uint32_t bits = kir_type_bits(type);
    if (bits < 64) return x * y >> bits;
    uint64_t x0 = (uint32_t)x, x1 = x >> 32, y0 = (uint32_t)y, y1 = y >> 32;
    uint64_t middle = x1 * y0 + (x0 * y0 >> 32), low = x0 * y1 + (uint32_t)middle;
    return x1 * y1 + (middle >> 32) + (low >> 32);
}

static uint64_t sdiv(int64_t x, int64_t y, bool remainder) {
    if (y == 0) return 0;
    if (y == -1) return remainder ? 0 : 0 - (uint64_t)x;
    return (uint64_t)(remainder ? x % y : x / y);
}

static uint64_t clz(uint8_t type, uint64_t x) {
    uint64_t n = kir_type_bits(type);
    for (; x; x >>= 1) n--;
    return n;
}

static float f32_of(uint64_t bits) {
    float f;
    uint32_t low = (uint32_t)bits;
    memcpy(&f, &low, 4);
    return f;
}
static double f64_of(uint64_t bits) {
    double f;
    memcpy(&f, &bits, 8);
    return f;
}
static uint64_t bits_of_f32(float f) {
    uint32_t bits;
    memcpy(&bits, &f, 4);
    return bits;
}
static uint64_t bits_of_f64(double f) {
    uint64_t bits;
    memcpy(&bits, &f, 8);
    return bits;
}

/* As kir_split_product_error. */
static uint64_t product_error(uint8_t type, uint64_t x, uint64_t y) {
    if (type == HG_TYPE_F32) {
        float a = f32_of(x), b = f32_of(y), p = a * b, ah = f32_of(x & 0xFFFFF000),
              bh = f32_of(y & 0xFFFFF000), al = a - ah, bl = b - bh;
        float e = ah * bh - p;
        e += ah * bl;
        e += al * bh;
        return bits_of_f32(e + al * bl);
    }
    const uint64_t half = UINT64_C(1) << 26, mask = ~(2 * half - 1);
    double a = f64_of(x), b = f64_of(y), p = a * b, ah = f64_of((x + half) & mask),
           bh = f64_of((y + half) & mask), al = a - ah, bl = b - bh;
    double e = ah * bh - p;
    e += ah * bl;
    e += al * bh;
    return bits_of_f64(e + al * bl);
}

/* The same text for binary32 (suffix f) and binary64. */
#define DEFINE_ARITHMETIC(real, suffix)                                         \
    static bool real##_arithmetic(kir_op op, real a, real b, real c, real *r) { \
        switch (op) {                                                           \
        case KIR_FADD: *r = a + b; return true;                                 \
        case KIR_FSUB: *r = a - b; return true;                                 \
        case KIR_FMUL: *r = a * b; return true;                                 \
        case KIR_FDIV: *r = a / b; return true;                                 \
        case KIR_FSQRT: *r = sqrt##suffix(a); return true;                      \
        case KIR_FFMA: *r = fma##suffix(a, b, c); return true;                  \
        case KIR_FMAD: *r = a * b, *r += c; return true;                        \
        case KIR_FFLOOR: *r = floor##suffix(a); return true;                    \
        case KIR_FTRUNC: *r = trunc##suffix(a); return true;                    \
        case KIR_FRINT: *r = rint##suffix(a); return true;                      \
        default: return false;                                                  \
        }                                                                       \
    }
DEFINE_ARITHMETIC(float, f)
DEFINE_ARITHMETIC(double, )

static bool float_operation(kir_op op, uint8_t type, const uint64_t *x, uint64_t *r) {
    if (op == KIR_FMULERR) {
        *r = product_error(type, x[0], x[1]);
        return true;
    }
    bool wide = type == HG_TYPE_F64;
    double a = wide ? f64_of(x[0]) : (double)f32_of(x[0]),
           b = wide ? f64_of(x[1]) : (double)f32_of(x[1]), d;
    float f;
    switch (op) { /* f32 in f64: the same order */
    case KIR_FCMP_EQ: *r = a == b; return true;
    case KIR_FCMP_LT: *r = a < b; return true;
    case KIR_FCMP_LE: *r = a <= b; return true;
    default: break;
    }
    if (wide ? !double_arithmetic(op, a, b, f64_of(x[2]), &d)
             : !float_arithmetic(op, f32_of(x[0]), f32_of(x[1]), f32_of(x[2]), &f))
        return false;
    *r = wide ? bits_of_f64(d) : bits_of_f32(f);
    return true;
}

/* Truncated, kept in the range of the result; NaN gives 0. */
static uint64_t float_to_int(uint8_t type, double x, bool is_signed) {
    uint32_t bits = kir_type_bits(type);
    double limit = ldexp(1.0, (int)bits - is_signed);
    uint64_t top = mask_of(type) >> is_signed;
    if (!is_signed) return x > -1.0 ? (x < limit ? (uint64_t)x : top) : 0;
    if (isnan(x)) return 0;
    return x >= -limit ? (x < limit ? (uint64_t)(int64_t)x & mask_of(type) : top) : top + 1;
}

/* A binary integer operation on the bits of a type of at most 64. */
static bool int_operation(kir_op op, uint8_t type, uint64_t x, uint64_t y, uint64_t *r) {
    uint32_t bits = kir_type_bits(type), amount = (uint32_t)(y % bits);
    switch (op) {
    case KIR_ADD: *r = x + y; break;
    case KIR_SUB: *r = x - y; break;
    case KIR_MUL: *r = x * y; break;
    case KIR_MULHI_U: *r = mulhi(type, x, y); break;
    case KIR_UDIV: *r = y ? x / y : 0; break;
    case KIR_UREM: *r = y ? x % y : 0; break;
    case KIR_SDIV: *r = sdiv(signed_of(type, x), signed_of(type, y), false); break;
    case KIR_SREM: *r = sdiv(signed_of(type, x), signed_of(type, y), true); break;
    case KIR_AND: *r = x & y; break;
    case KIR_OR: *r = x | y; break;
    case KIR_XOR: *r = x ^ y; break;
    case KIR_SHL: *r = x << amount; break;
    case KIR_LSHR: *r = x >> amount; break;
    case KIR_ASHR:
        *r = (x >> amount) | (x >> (bits - 1) && amount ? ~(mask_of(type) >> amount) : 0);
        break;
    case KIR_CMP_EQ: *r = x == y; return true;
    case KIR_CMP_ULT: *r = x < y; return true;
    case KIR_CMP_SLT: *r = signed_of(type, x) < signed_of(type, y); return true;
    default: return false;
    }
    *r &= mask_of(type);
    return true;
}

/* The same of one operand. */
static bool int_function(kir_op op, uint8_t type, uint64_t x, uint64_t *r) {
    switch (op) {
    case KIR_CLZ: *r = clz(type, x); return true;
    default: return false;
    }
}

/* f16 and bf16 bits to f32 bits: exact. */
static uint64_t widen_half(kir_op op, uint32_t x) {
    if (op == KIR_B2F) return x << 16;
    uint32_t sign = (x & 0x8000) << 16, exponent = x >> 10 & 31, mantissa = x & 1023;
    if (exponent == 0) return sign | bits_of_f32((float)mantissa * 0x1p-24f);
    return sign | (exponent == 31 ? 0x7F800000 : (exponent + 112) << 23) | mantissa << 13;
}

/* f32 bits to f16 and bf16 bits: to nearest, ties to even. */
static uint64_t narrow_half(kir_op op, uint32_t x) {
    uint32_t sign = x >> 16 & 0x8000, size = x & 0x7FFFFFFF;
    if (op == KIR_F2B)
        return size > 0x7F800000 ? x >> 16 | 0x40 : (x + 0x7FFF + (x >> 16 & 1)) >> 16;
    if (size > 0x7F800000) return sign | 0x7E00;
    if (size >= 0x477FF000) return sign | 0x7C00; /* 65,520: halfway beyond the largest */
    if (size < 0x38800000)
        return sign | (uint32_t)(bits_of_f32(f32_of(size) + 0.5f) - bits_of_f32(0.5f)); /* the sum
                                                                                           rounds to
                                                                                           2^-24 */
    return sign | (((size + 0xFFF + (size >> 13 & 1)) >> 13) - (112 << 10));
}

static bool convert(const kir_value *v, uint64_t x, uint64_t *r) {
    uint8_t from = v->args[0]->type;
    double real = from == HG_TYPE_F64 ? f64_of(x) : from == HG_TYPE_F32 ? (double)f32_of(x) : 0;
    switch ((kir_op)v->op) {
    case KIR_BITCAST:
    case KIR_ZEXT:
    case KIR_TRUNC: *r = x & mask_of(v->type); return true;
    case KIR_SEXT: *r = (uint64_t)signed_of(from, x) & mask_of(v->type); return true;
    case KIR_U2F:
        *r = v->type == HG_TYPE_F32 ? bits_of_f32((float)x) : bits_of_f64((double)x);
        return true;
    case KIR_S2F:
        *r = v->type == HG_TYPE_F32 ? bits_of_f32((float)signed_of(from, x))
                                    : bits_of_f64((double)signed_of(from, x));
        return true;
    case KIR_F2U:
    case KIR_F2S: *r = float_to_int(v->type, real, v->op == KIR_F2S); return true;
    case KIR_F2F:
        *r = v->type == from          ? x
             : v->type == HG_TYPE_F32 ? bits_of_f32((float)real)
                                      : bits_of_f64(real);
        return true;
    case KIR_H2F:
    case KIR_B2F: *r = widen_half((kir_op)v->op, (uint32_t)x); return true;
    case KIR_F2H:
    case KIR_F2B: *r = narrow_half((kir_op)v->op, (uint32_t)x); return true;
    default: return false;
    }
}

static uint32_t dot4(bool is_signed, uint32_t x, uint32_t y, uint32_t sum) {
    for (uint32_t at = 0; at < 32; at += 8) {
        uint32_t a = x >> at & 0xFF, b = y >> at & 0xFF;
        sum += (is_signed && a > 127 ? a - 256 : a) * (b > 127 ? b - 256 : b);
    }
    return sum;
}

static bool is_const(const kir_value *v) {
    return v->op == KIR_CONST && kir_type_bytes(v->type) <= 8;
}
static bool is_number(const kir_value *v, uint64_t bits) { return is_const(v) && v->u.imm == bits; }
static bool is_all_ones(const kir_value *v) { return is_const(v) && v->u.imm == mask_of(v->type); }
static bool is_not(const kir_value *v) {
    return v->op == KIR_XOR && v->type == KIR_BOOL && is_number(v->args[1], 1);
}

/* An upper bound of an integer of at most 64 bits, by the values it is made of. Ids of lanes are
 * those of a launch: in device form they are u32. */
static uint64_t most_of(const kir_value *v, int depth) {
    uint64_t top = v->type < HG_TYPE_COUNT ? mask_of(v->type) : UINT64_MAX, a, b, most = top;
    if (is_const(v)) return v->u.imm;
    if (v->op == KIR_ID && v->type == HG_TYPE_U64 &&
        (v->u.imm == HG_ID_GLOBAL_LANE_ID || v->u.imm == HG_ID_LANE_COUNT))
        return HG_MAX_LANES;
    if (depth == 0 || !kir_is_integer_value(v) || v->nargs == 0) return top;
    switch ((kir_op)v->op) {
    case KIR_ZEXT: return most_of(v->args[0], depth - 1);
    case KIR_ADD:
        a = most_of(v->args[0], depth - 1);
        b = most_of(v->args[1], depth - 1);
        return hg_add_u64(a, b, &most) && most < top ? most : top;
    case KIR_MUL:
        a = most_of(v->args[0], depth - 1);
        b = most_of(v->args[1], depth - 1);
        return hg_mul_u64(a, b, &most) && most < top ? most : top;
    case KIR_SHL:
        if (!is_const(v->args[1])) return top;
        return hg_mul_u64(most_of(v->args[0], depth - 1),
                          UINT64_C(1) << v->args[1]->u.imm % kir_type_bits(v->type), &most) &&
                       most < top
                   ? most
                   : top;
    case KIR_LSHR:
        a = most_of(v->args[0], depth - 1);
        return is_const(v->args[1]) ? a >> v->args[1]->u.imm % kir_type_bits(v->type) : a;
    case KIR_UDIV: return most_of(v->args[0], depth - 1);
    case KIR_AND:
    case KIR_UREM:
        a = most_of(v->args[0], depth - 1);
        b = most_of(v->args[1], depth - 1);
        return a < b ? a : b;
    case KIR_SELECT:
        a = most_of(v->args[1], depth - 1);
        b = most_of(v->args[2], depth - 1);
        return a > b ? a : b;
    default: return top;
    }
}

enum { DEPTH = 6 }; /* of values that most_of looks at */

/* x < most ? x : most, of an x that is never more: what stands before an index is multiplied by the
 * scale of its address. */
static bool is_idle_minimum(const kir_value *v) {
    const kir_value *c = v->args[0], *x = v->args[1], *most = v->args[2];
    return c->op == KIR_CMP_ULT && c->args[0] == x && c->args[1] == most && is_const(most) &&
           kir_type_bytes(x->type) <= 8 && most_of(x, DEPTH) <= most->u.imm;
}

/* The check of an axis of 256 asks this of a byte. */
static bool is_always_below(const kir_value *v) {
    return v->op == KIR_CMP_ULT && is_const(v->args[1]) &&
           most_of(v->args[0], DEPTH) < v->args[1]->u.imm;
}

bool simplify_shifts_half(const kir_value *v) {
    const kir_value *x = v->args[0];
    if (v->op != KIR_SHL || x->op != KIR_ZEXT || x->args[0]->type != HG_TYPE_U32) return false;
    uint64_t most = mask_of(HG_TYPE_U32);
    return is_const(v->args[1]) && v->args[1]->u.imm < 32 &&
           most_of(x->args[0], DEPTH) <= most >> v->args[1]->u.imm;
}

/* x op neutral = x, and the like. */
static kir_value *unchanged(const kir_value *v) {
    kir_value *x = v->args[0], *y = v->nargs > 1 ? v->args[1] : NULL;
    switch ((kir_op)v->op) {
    case KIR_ADD:
    case KIR_OR:
    case KIR_XOR:
        if (is_number(y, 0)) return x;
        if (is_number(x, 0)) return y;
        if (v->op == KIR_XOR && is_not(v) && is_not(x)) return x->args[0];
        if (v->op == KIR_OR && x == y) return x;
        return NULL;
    case KIR_SUB:
    case KIR_SHL:
    case KIR_LSHR:
    case KIR_ASHR: return is_number(y, 0) ? x : NULL;
    case KIR_MUL: return is_number(y, 1) ? x : is_number(x, 1) ? y : NULL;
    case KIR_UDIV:
    case KIR_SDIV: return is_number(y, 1) ? x : NULL;
    case KIR_AND: return x == y || is_all_ones(y) ? x : is_all_ones(x) ? y : NULL;
    case KIR_SELECT:
        if (is_const(x)) return v->args[x->u.imm ? 1 : 2];
        if (is_idle_minimum(v)) return y;
        return v->args[1] == v->args[2] ? y : NULL;
    case KIR_BITCAST:
    case KIR_ZEXT:
    case KIR_SEXT:
    case KIR_TRUNC:
        if (x->type == v->type) return x;
        if (v->op == KIR_TRUNC && (x->op == KIR_ZEXT || x->op == KIR_SEXT) &&
            x->args[0]->type == v->type)
            return x->args[0];
        return v->op == KIR_BITCAST && x->op == KIR_BITCAST && x->args[0]->type == v->type
                   ? x->args[0]
                   : NULL;
    default: return NULL;
    }
}

fold_result simplify_fold(const kir_value *v, uint64_t *constant, kir_value **value) {
    if (!kir_is_value(v)) return FOLD_NONE;
    *value = unchanged(v);
    if (*value) return FOLD_VALUE;
    uint8_t type = v->args[0]->type;
    if (v->op == KIR_CMP_EQ && v->args[0]->op == KIR_CONST && v->args[1]->op == KIR_CONST &&
        kir_type_bytes(type) > 8) {
        *constant = memcmp(v->args[0]->u.bytes, v->args[1]->u.bytes,
                           (size_t)kir_type_bytes(type)) == 0;
        return FOLD_CONSTANT;
    }
    if (is_always_below(v)) {
        *constant = 1;
        return FOLD_CONSTANT;
    }
    if (kir_type_bytes(v->type) > 8) return FOLD_NONE;
    for (uint8_t i = 0; i < v->nargs; i++)
        if (!is_const(v->args[i])) return FOLD_NONE;
    uint64_t x[3] = {0};
    for (uint8_t i = 0; i < v->nargs && i < 3; i++) x[i] = v->args[i]->u.imm;
    kir_op op = (kir_op)v->op;
    bool done = false;
    switch (kir_op_get(op)->class) {
    case KIR_CLASS_INT:
        done = v->nargs == 2 ? int_operation(op, type, x[0], x[1], constant)
                             : int_function(op, type, x[0], constant);
        break;
    case KIR_CLASS_FLOAT: done = float_operation(op, type, x, constant); break;
    case KIR_CLASS_CONVERT: done = convert(v, x[0], constant); break;
    case KIR_CLASS_DOT:
        *constant = dot4(op == KIR_DOT4_S, (uint32_t)x[0], (uint32_t)x[1], (uint32_t)x[2]),
        done = true;
        break;
    default: break;
    }
    return done ? FOLD_CONSTANT : FOLD_NONE;
}
