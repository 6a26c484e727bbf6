/* Primitives of the vector form in WebAssembly, on one value or a lane.
 * Must not know: vectors, memory, control flow. */
#include "emit/emit_wasm_internal.h"

#define _ W_NONE
#define INTEGERS(op) \
    { W_I32_##op, W_I64_##op, _, _ }
#define FLOATS(op)                                                                 \
    {                                                                              \
        {_, _, W_F32_##op, W_F64_##op}, { _, _, _, _, W_F32X4_##op, W_F64X2_##op } \
    }
#define OF_ALL(op) \
    { W_I8X16_##op, W_I16X8_##op, W_I32X4_##op, W_I64X2_##op, _, _ }
#define OF_BITS(op) \
    { W_V128_##op, W_V128_##op, W_V128_##op, W_V128_##op, _, _ }
#define NO_VECTORS \
    { _, _, _, _, _, _ }
/* Operations that are an instruction, for elements of the types that have it. */
const wa_prim_ops WA_OPS[KIR_OP_COUNT] = {
    [KIR_ADD] = {INTEGERS(ADD), OF_ALL(ADD)},
    [KIR_SUB] = {INTEGERS(SUB), OF_ALL(SUB)},
    [KIR_MUL] = {INTEGERS(MUL), {_, W_I16X8_MUL, W_I32X4_MUL, W_I64X2_MUL, _, _}},
    [KIR_AND] = {INTEGERS(AND), OF_BITS(AND)},
    [KIR_OR] = {INTEGERS(OR), OF_BITS(OR)},
    [KIR_XOR] = {INTEGERS(XOR), OF_BITS(XOR)},
    [KIR_SHL] = {INTEGERS(SHL), OF_ALL(SHL)},
    [KIR_LSHR] = {INTEGERS(SHR_U), OF_ALL(SHR_U)},
    [KIR_ASHR] = {INTEGERS(SHR_S), OF_ALL(SHR_S)},
    [KIR_CLZ] = {INTEGERS(CLZ), NO_VECTORS},
    [KIR_UDIV] = {INTEGERS(DIV_U), NO_VECTORS},
    [KIR_UREM] = {INTEGERS(REM_U), NO_VECTORS},
    [KIR_SDIV] = {INTEGERS(DIV_S), NO_VECTORS},
    [KIR_SREM] = {INTEGERS(REM_S), NO_VECTORS},
    [KIR_CMP_EQ] = {INTEGERS(EQ), OF_ALL(EQ)},
    [KIR_CMP_ULT] = {INTEGERS(LT_U), {W_I8X16_LT_U, W_I16X8_LT_U, W_I32X4_LT_U, _, _, _}},
    [KIR_CMP_SLT] = {INTEGERS(LT_S), OF_ALL(LT_S)},
    [KIR_FADD] = FLOATS(ADD),
    [KIR_FSUB] = FLOATS(SUB),
    [KIR_FMUL] = FLOATS(MUL),
    [KIR_FDIV] = FLOATS(DIV),
    [KIR_FSQRT] = FLOATS(SQRT),
    [KIR_FFLOOR] = FLOATS(FLOOR),
    [KIR_FTRUNC] = FLOATS(TRUNC),
    [KIR_FRINT] = FLOATS(NEAREST),
    [KIR_FCMP_EQ] = FLOATS(EQ),
    [KIR_FCMP_LT] = FLOATS(LT),
    [KIR_FCMP_LE] = FLOATS(LE),
};
#undef _

static bool is_small(uint8_t type) { return type == HG_TYPE_U8 || type == HG_TYPE_U16; }

static int one_column(uint8_t type) {
    return type == HG_TYPE_U64 ? 1 : type == HG_TYPE_F32 ? 2 : type == HG_TYPE_F64 ? 3 : 0;
}

/* An i32 on the stack as an element of the type: without the bits above. */
static void cut(wa_printer *p, uint8_t type) {
    if (!is_small(type)) return;
    w_i32(p->c, type == HG_TYPE_U8 ? 255 : 65535);
    w(p->c, W_I32_AND);
}

static void sign_extend(wa_printer *p, uint8_t type) {
    if (type == HG_TYPE_U8) w(p->c, W_I32_EXTEND8_S);
    if (type == HG_TYPE_U16) w(p->c, W_I32_EXTEND16_S);
}

static uint32_t bits_of(uint8_t type) { return (uint32_t)kir_type_bytes(type) * 8; }

/* Both operands are on the stack. Divisors that trap, or overflow, are divided by 1 instead. */
static void divide(wa_printer *p, kir_op op, uint8_t type) {
    const bool wide = type == HG_TYPE_U64, is_signed = op == KIR_SDIV || op == KIR_SREM;
    const wasm_op equal = wide ? W_I64_EQ : W_I32_EQ;
    const uint64_t mark = p->c->taken.count;
    const uint32_t a = wasm_take(p->c, wa_scalar(type)), b = wasm_take(p->c, wa_scalar(type));
    if (is_signed) sign_extend(p, type);
    w_set(p->c, b);
    if (is_signed) sign_extend(p, type);
    w_tee(p->c, a);
    wa_literal(p, type, 1);
    w_get(p->c, b);
    w_get(p->c, b);
    w(p->c, wide ? W_I64_EQZ : W_I32_EQZ);
    if (is_signed) {
        w_get(p->c, b);
        wa_literal(p, type, UINT64_MAX);
        w(p->c, equal);
        w(p->c, W_I32_OR);
    }
    w(p->c, W_SELECT);
    w(p->c, WA_OPS[op].one[wide]);
    if (op == KIR_SDIV) { /* by -1: it is 0 - a, which wraps */
        const uint32_t q = wasm_take(p->c, wa_scalar(type));
        w_set(p->c, q);
        wa_literal(p, type, 0);
        w_get(p->c, a);
        w(p->c, wide ? W_I64_SUB : W_I32_SUB);
        w_get(p->c, q);
        w_get(p->c, b);
        wa_literal(p, type, UINT64_MAX);
        w(p->c, equal);
        w(p->c, W_SELECT);
    }
    if (op == KIR_UDIV || op == KIR_SDIV) {
        wa_literal(p, type, 0);
        w_get(p->c, b);
        wa_literal(p, type, 0);
        w(p->c, wide ? W_I64_NE : W_I32_NE);
        w(p->c, W_SELECT);
    }
    cut(p, type);
    wasm_release(p->c, mark);
}

static void high_product(wa_printer *p, uint8_t type) {
    if (type == HG_TYPE_U64) {
        wa_call(p, WA_HELPER_MULHI);
    } else if (type == HG_TYPE_U32) {
        const uint32_t b = wasm_take(p->c, WASM_I32);
        w_set(p->c, b);
        w(p->c, W_I64_EXTEND_I32_U);
        w_get(p->c, b);
        w(p->c, W_I64_EXTEND_I32_U);
        w(p->c, W_I64_MUL);
        w_i64(p->c, 32);
        w(p->c, W_I64_SHR_U);
        w(p->c, W_I32_WRAP_I64);
        wasm_release(p->c, p->c->taken.count - 1);
    } else {
        w(p->c, W_I32_MUL);
        w_i32(p->c, bits_of(type));
        w(p->c, W_I32_SHR_U);
    }
}

/* The integer on the stack, which is not below low nor above high. */
static void clamp(wa_printer *p, int32_t low, int32_t high) {
    const uint32_t t = wasm_take(p->c, WASM_I32);
    const int32_t ends[] = {low, high};
    for (int i = 0; i < 2; i++) {
        w_tee(p->c, t);
        w_i32(p->c, (uint32_t)ends[i]);
        w_get(p->c, t);
        w_i32(p->c, (uint32_t)ends[i]);
        w(p->c, i ? W_I32_LT_S : W_I32_GT_S);
        w(p->c, W_SELECT);
    }
    wasm_release(p->c, p->c->taken.count - 1);
}

static void float_to_integer(wa_printer *p, bool is_signed, uint8_t to, uint8_t from) {
    static const wasm_op TO_32[] = {W_I32_TRUNC_SAT_F32_U, W_I32_TRUNC_SAT_F32_S,
                                    W_I32_TRUNC_SAT_F64_U, W_I32_TRUNC_SAT_F64_S};
    static const wasm_op TO_64[] = {W_I64_TRUNC_SAT_F32_U, W_I64_TRUNC_SAT_F32_S,
                                    W_I64_TRUNC_SAT_F64_U, W_I64_TRUNC_SAT_F64_S};
    const int32_t all = to == HG_TYPE_U8 ? 255 : 65535;
    const bool small = is_small(to); /* its range lies in that of signed words */
    const int column = (from == HG_TYPE_F64 ? 2 : 0) + (is_signed || small);
    w(p->c, to == HG_TYPE_U64 ? TO_64[column] : TO_32[column]);
    if (!small) return;
    clamp(p, is_signed ? -all / 2 - 1 : 0, is_signed ? all / 2 : all);
    cut(p, to);
}

static void integer_to_float(wa_printer *p, bool is_signed, uint8_t to, uint8_t from) {
    static const wasm_op OF_32[] = {W_F32_CONVERT_I32_U, W_F32_CONVERT_I32_S, W_F64_CONVERT_I32_U,
                                    W_F64_CONVERT_I32_S};
    static const wasm_op OF_64[] = {W_F32_CONVERT_I64_U, W_F32_CONVERT_I64_S, W_F64_CONVERT_I64_U,
                                    W_F64_CONVERT_I64_S};
    const int column = (to == HG_TYPE_F64 ? 2 : 0) + is_signed;
    if (is_signed) sign_extend(p, from);
    w(p->c, from == HG_TYPE_U64 ? OF_64[column] : OF_32[column]);
}

static void convert(wa_printer *p, kir_op op, uint8_t to, uint8_t from) {
    const bool wide_to = to == HG_TYPE_U64, wide_from = from == HG_TYPE_U64;
    switch (op) {
    case KIR_BITCAST:
        if (kir_type_is_float(to) == kir_type_is_float(from)) break;
        w(p->c, to == HG_TYPE_F32     ? W_F32_REINTERPRET_I32
                : to == HG_TYPE_F64   ? W_F64_REINTERPRET_I64
                : from == HG_TYPE_F32 ? W_I32_REINTERPRET_F32
                                      : W_I64_REINTERPRET_F64);
        break;
    case KIR_TRUNC:
        if (wide_from && !wide_to) w(p->c, W_I32_WRAP_I64);
        if (to == KIR_BOOL) {
            w_i32(p->c, 1);
            w(p->c, W_I32_AND);
        }
        cut(p, to);
        break;
    case KIR_ZEXT:
        if (wide_to && !wide_from) w(p->c, W_I64_EXTEND_I32_U);
        break;
    case KIR_SEXT:
        if (from == KIR_BOOL) {
            w_i32(p->c, UINT32_MAX);
            w(p->c, W_I32_MUL);
        }
        sign_extend(p, from);
        if (wide_to && !wide_from) w(p->c, W_I64_EXTEND_I32_S);
        cut(p, to);
        break;
    case KIR_F2F:
        if (to != from) w(p->c, to == HG_TYPE_F64 ? W_F64_PROMOTE_F32 : W_F32_DEMOTE_F64);
        break;
    case KIR_U2F:
    case KIR_S2F: integer_to_float(p, op == KIR_S2F, to, from); break;
    default: float_to_integer(p, op == KIR_F2S, to, from);
    }
}

/* See emit_wasm_internal.h. */
void wa_product_error(wa_printer *p) {
    const uint64_t mark = p->c->taken.count;
    uint32_t whole[2], high[2], low[2];
    for (int n = 2; n-- > 0;) {
        whole[n] = wasm_take(p->c, WASM_V128);
        high[n] = wasm_take(p->c, WASM_V128);
        low[n] = wasm_take(p->c, WASM_V128);
        w_set(p->c, whole[n]);
    }
    for (int n = 0; n < 2; n++) {
        w_get(p->c, whole[n]);
        wa_splat_bits(p, 0xfffff000u, 4);
        w(p->c, W_V128_AND);
        w_set(p->c, high[n]);
        w_get(p->c, whole[n]);
        w_get(p->c, high[n]);
        w(p->c, W_F32X4_SUB);
        w_set(p->c, low[n]);
    }
    const uint32_t factors[][2] = {{high[0], high[1]},
                                   {whole[0], whole[1]},
                                   {high[0], low[1]},
                                   {low[0], high[1]},
                                   {low[0], low[1]}};
    for (int n = 0; n < 5; n++) {
        w_get(p->c, factors[n][0]);
        w_get(p->c, factors[n][1]);
        w(p->c, W_F32X4_MUL);
        if (n) w(p->c, n == 1 ? W_F32X4_SUB : W_F32X4_ADD);
    }
    wasm_release(p->c, mark);
}

/* The operands are on the stack, of the type `from`, the amount of a shift as an i32. */
static void one_prim(wa_printer *p, kir_op op, uint8_t to, uint8_t from) {
    const wasm_op plain = WA_OPS[op].one[one_column(from)];
    const bool known = WA_OPS[op].one[0] || WA_OPS[op].one[2];
    switch (op) {
    case KIR_UDIV:
    case KIR_UREM:
    case KIR_SDIV:
    case KIR_SREM: divide(p, op, from); return;
    case KIR_MULHI_U: high_product(p, from); return;
    case KIR_SHL:
    case KIR_LSHR:
    case KIR_ASHR:
        if (is_small(from)) {
            w_i32(p->c, bits_of(from) - 1);
            w(p->c, W_I32_AND);
        }
        if (from == HG_TYPE_U64) w(p->c, W_I64_EXTEND_I32_U);
        w(p->c, plain);
        cut(p, to);
        return;
    case KIR_CLZ:
        w(p->c, plain);
        if (is_small(from)) {
            w_i32(p->c, 32 - bits_of(from));
            w(p->c, W_I32_SUB);
        }
        return;
    default: break;
    }
    if (!known || plain == W_NONE) {
        const bool half = op == KIR_H2F || op == KIR_F2H || op == KIR_B2F || op == KIR_F2B;
        if (!half && kir_op_get(op)->class == KIR_CLASS_CONVERT)
            convert(p, op, to, from);
        else
            p->unsupported = kir_op_name(op);
        return;
    }
    w(p->c, plain);
    if (op == KIR_ADD || op == KIR_SUB || op == KIR_MUL) cut(p, to);
}

/* Operand n of an operation on one value, or of a lane. */
static void operand(wa_printer *p, const vec_value *v, uint8_t n, uint32_t lane) {
    const kir_op op = (kir_op)v->prim;
    wa_lane(p, v->args[n], lane);
    const bool is_signed = op == KIR_ASHR && n == 0;
    if (is_signed || op == KIR_CMP_SLT) sign_extend(p, v->args[n]->type);
    if (op == KIR_FFMA && v->type == HG_TYPE_F32) w(p->c, W_F64_PROMOTE_F32);
}

/* f32 by f64: the product is exact; the sum, rounded to odd, rounds to f32 as the exact one (Boldo,
 * Melquiond 2008). Three f64 are on the stack. */
static void fma_by_f64(wa_printer *p) {
    const uint64_t mark = p->c->taken.count;
    const uint32_t c = wasm_take(p->c, WASM_F64), x = wasm_take(p->c, WASM_F64),
                   s = wasm_take(p->c, WASM_F64), t = wasm_take(p->c, WASM_F64),
                   e = wasm_take(p->c, WASM_F64), bits = wasm_take(p->c, WASM_I64);
    w_set(p->c, c);
    w(p->c, W_F64_MUL);
    w_tee(p->c, x);
    w_get(p->c, c);
    w(p->c, W_F64_ADD);
    w_tee(p->c, s);
    w_get(p->c, x);
    w(p->c, W_F64_SUB);
    w_set(p->c, t);
    w_get(p->c, x); /* e = (x - (s - t)) + (c - t) */
    w_get(p->c, s);
    w_get(p->c, t);
    w(p->c, W_F64_SUB);
    w(p->c, W_F64_SUB);
    w_get(p->c, c);
    w_get(p->c, t);
    w(p->c, W_F64_SUB);
    w(p->c, W_F64_ADD);
    w_set(p->c, e);
    w_get(p->c, s);
    w(p->c, W_I64_REINTERPRET_F64);
    w_tee(p->c, bits);
    w_get(p->c, bits); /* one more or less, where e is not 0 and the last bit is 0 */
    w_get(p->c, e);
    w(p->c, W_I64_REINTERPRET_F64);
    w(p->c, W_I64_XOR);
    w_i64(p->c, 63);
    w(p->c, W_I64_SHR_S);
    w_i64(p->c, 1);
    w(p->c, W_I64_OR);
    w_i64(p->c, 0);
    w_get(p->c, e);
    w(p->c, W_F64_ABS);
    w_f64(p->c, 0);
    w(p->c, W_F64_GT);
    w_get(p->c, bits);
    w_i64(p->c, 1);
    w(p->c, W_I64_AND);
    w(p->c, W_I64_EQZ);
    w(p->c, W_I32_AND);
    w(p->c, W_SELECT);
    w(p->c, W_I64_ADD);
    w(p->c, W_F64_REINTERPRET_I64);
    w(p->c, W_F32_DEMOTE_F64);
    wasm_release(p->c, mark);
}

void wa_one_result(wa_printer *p, const vec_value *v, uint32_t lane) {
    const uint8_t from = v->args[0]->type;
    if (v->prim == KIR_SELECT) {
        wa_lane(p, v->args[1], lane);
        wa_lane(p, v->args[2], lane);
        wa_lane(p, v->args[0], lane);
        w(p->c, W_SELECT);
        return;
    }
    for (uint8_t n = 0; n < v->nargs; n++) {
        operand(p, v, n, lane);
        if (v->prim == KIR_FMULERR) wa_splat(p, from, (uint32_t)kir_type_bytes(from));
    }
    if (v->prim == KIR_FMULERR) {
        wa_product_error(p);
        wa_extract(p, from, (uint32_t)kir_type_bytes(from), 0);
    } else if (v->prim == KIR_FFMA && v->type == HG_TYPE_F32)
        fma_by_f64(p);
    else
        one_prim(p, (kir_op)v->prim, v->type, from);
}
