/* Value primitives as StableHLO, guarded where XLA leaves open what prim.def fixes. XLA joins a
 * product and a sum, takes x / c for x * (1 / c) and reorders products with constants: it never
 * sees a float that it could do so with, since the bits of each are joined with a zero of the
 * record.
 * Must not know: memory, control flow. */
#include "emit/emit_stablehlo_internal.h"
#include <stdio.h>
#include <string.h>

static const char *const ELEMENTS[KIR_KIND_COUNT] = {"ui8", "ui16", "ui32", "ui64", "f32", "f64"};

const char *hlo_element(hlo *p, uint8_t type) {
    if (type == KIR_BOOL) return "i1";
    int kind = kir_kind_of(type);
    if (kind < 0) p->unsupported = "a type was not lowered";
    return kind < 0 ? "ui8" : ELEMENTS[kind];
}

/* "tensor<64xui32>" */
typedef struct type_text {
    char text[48];
} type_text;

static type_text tensor_of(const hlo *p, const char *element) {
    type_text t;
    snprintf(t.text, sizeof t.text, "tensor<%llux%s>", (unsigned long long)p->lanes, element);
    return t;
}
static type_text tensor(hlo *p, uint8_t type) { return tensor_of(p, hlo_element(p, type)); }

void hlo_type(hlo *p, uint8_t type) { hg_text_addf(p->out, "%s", tensor(p, type).text); }

static uint32_t begin(hlo *p) {
    uint32_t name = p->next++;
    hg_text_addf(p->out, "    %%%u = stablehlo.", (unsigned)name);
    return name;
}

uint32_t hlo_constant(hlo *p, uint8_t type, uint64_t bits) {
    uint32_t name = begin(p);
    hg_text_addf(p->out, "constant dense<");
    if (type == KIR_BOOL)
        hg_text_addf(p->out, bits ? "true" : "false");
    else if (kir_type_is_float(type))
        hg_text_addf(p->out, "0x%0*llX", (int)kir_type_bytes(type) * 2, (unsigned long long)bits);
    else
        hg_text_addf(p->out, "%llu", (unsigned long long)bits);
    hg_text_addf(p->out, "> : %s\n", tensor(p, type).text);
    return name;
}

uint32_t hlo_unary(hlo *p, const char *op, uint8_t type, uint32_t a) {
    uint32_t name = begin(p);
    hg_text_addf(p->out, "%s %%%u : %s\n", op, (unsigned)a, tensor(p, type).text);
    return name;
}

uint32_t hlo_binary(hlo *p, const char *op, uint8_t type, uint32_t a, uint32_t b) {
    uint32_t name = begin(p);
    hg_text_addf(p->out, "%s %%%u, %%%u : %s\n", op, (unsigned)a, (unsigned)b,
                 tensor(p, type).text);
    return name;
}

uint32_t hlo_compare(hlo *p, const char *direction, uint8_t type, uint32_t a, uint32_t b) {
    type_text t = tensor(p, type);
    uint32_t name = begin(p);
    hg_text_addf(p->out, "compare %s, %%%u, %%%u : (%s, %s) -> %s\n", direction, (unsigned)a,
                 (unsigned)b, t.text, t.text, tensor(p, KIR_BOOL).text);
    return name;
}

uint32_t hlo_select(hlo *p, uint8_t type, uint32_t condition, uint32_t a, uint32_t b) {
    uint32_t name;
    if (a == b) return a;
    name = begin(p);
    hg_text_addf(p->out, "select %%%u, %%%u, %%%u : %s, %s\n", (unsigned)condition, (unsigned)a,
                 (unsigned)b, tensor(p, KIR_BOOL).text, tensor(p, type).text);
    return name;
}

static uint32_t convert_text(hlo *p, const char *op, type_text to, type_text from, uint32_t a) {
    uint32_t name = begin(p);
    hg_text_addf(p->out, "%s %%%u : (%s) -> %s\n", op, (unsigned)a, from.text, to.text);
    return name;
}

uint32_t hlo_convert(hlo *p, const char *op, uint8_t to, uint8_t from, uint32_t a) {
    return to == from ? a : convert_text(p, op, tensor(p, to), tensor(p, from), a);
}

uint32_t hlo_not(hlo *p, uint32_t mask) { return hlo_unary(p, "not", KIR_BOOL, mask); }
uint32_t hlo_and(hlo *p, uint32_t a, uint32_t b) {
    return a == b ? a : hlo_binary(p, "and", KIR_BOOL, a, b);
}

/* ---- integers ---- */

/* The same bits as signed numbers, and back. */
static type_text as_signed(hlo *p, uint8_t type) {
    return tensor_of(p, hlo_element(p, type) + 1); /* "ui32" without its "u" */
}
static uint32_t to_signed(hlo *p, uint8_t type, uint32_t a) {
    return convert_text(p, "bitcast_convert", as_signed(p, type), tensor(p, type), a);
}
static uint32_t from_signed(hlo *p, uint8_t type, uint32_t a) {
    return convert_text(p, "bitcast_convert", tensor(p, type), as_signed(p, type), a);
}

static uint32_t signed_binary(hlo *p, const char *op, uint8_t type, uint32_t a, uint32_t b) {
    uint32_t x = to_signed(p, type, a), y = to_signed(p, type, b), name = begin(p);
    hg_text_addf(p->out, "%s %%%u, %%%u : %s\n", op, (unsigned)x, (unsigned)y,
                 as_signed(p, type).text);
    return from_signed(p, type, name);
}

static uint32_t shift(hlo *p, const kir_value *v, uint32_t a, uint32_t amount) {
    uint8_t type = v->type;
    uint32_t bits = kir_type_bits(type);
    uint32_t low = hlo_binary(p, "and", HG_TYPE_U32, amount,
                              hlo_constant(p, HG_TYPE_U32, bits - 1)),
             by = hlo_convert(p, "convert", type, HG_TYPE_U32, low);
    if (v->op == KIR_ASHR) return signed_binary(p, "shift_right_arithmetic", type, a, by);
    return hlo_binary(p, v->op == KIR_SHL ? "shift_left" : "shift_right_logical", type, a, by);
}

/* Division by 0 gives 0; MIN / -1 is MIN, and MIN % -1 is 0. */
static uint32_t divide(hlo *p, const kir_value *v, uint32_t a, uint32_t b) {
    uint8_t type = v->type;
    bool is_signed = v->op == KIR_SDIV || v->op == KIR_SREM;
    bool rest = v->op == KIR_UREM || v->op == KIR_SREM;
    const char *op = rest ? "remainder" : "divide";
    uint32_t zero = hlo_constant(p, type, 0), one = hlo_constant(p, type, 1),
             none = hlo_compare(p, "EQ", type, b, zero), by = hlo_select(p, type, none, one, b), r;
    if (is_signed) {
        uint32_t minus = hlo_constant(p, type, UINT64_MAX >> (64 - kir_type_bits(type))),
                 opposite = hlo_compare(p, "EQ", type, b, minus);
        by = hlo_select(p, type, opposite, one, by);
        r = signed_binary(p, op, type, a, by);
        r = hlo_select(p, type, opposite, rest ? zero : hlo_unary(p, "negate", type, a), r);
    } else {
        r = hlo_binary(p, op, type, a, by);
    }
    return hlo_select(p, type, none, zero, r);
}

static uint32_t low_half(hlo *p, uint32_t a) {
    return hlo_binary(p, "and", HG_TYPE_U64, a, hlo_constant(p, HG_TYPE_U64, UINT32_MAX));
}
static uint32_t high_half(hlo *p, uint32_t a) {
    return hlo_binary(p, "shift_right_logical", HG_TYPE_U64, a, hlo_constant(p, HG_TYPE_U64, 32));
}
static uint32_t times(hlo *p, uint32_t a, uint32_t b) {
    return hlo_binary(p, "multiply", HG_TYPE_U64, a, b);
}
static uint32_t plus(hlo *p, uint32_t a, uint32_t b) {
    return hlo_binary(p, "add", HG_TYPE_U64, a, b);
}

static uint32_t multiply_high(hlo *p, uint8_t type, uint32_t a, uint32_t b) {
    if (type != HG_TYPE_U64) {
        uint32_t wide = times(p, hlo_convert(p, "convert", HG_TYPE_U64, type, a),
                              hlo_convert(p, "convert", HG_TYPE_U64, type, b)),
                 by = hlo_constant(p, HG_TYPE_U64, kir_type_bits(type));
        wide = hlo_binary(p, "shift_right_logical", HG_TYPE_U64, wide, by);
        return hlo_convert(p, "convert", type, HG_TYPE_U64, wide);
    }
    uint32_t al = low_half(p, a), ah = high_half(p, a), bl = low_half(p, b), bh = high_half(p, b),
             x = plus(p, times(p, ah, bl), high_half(p, times(p, al, bl))),
             y = plus(p, times(p, al, bh), low_half(p, x));
    return plus(p, times(p, ah, bh), plus(p, high_half(p, x), high_half(p, y)));
}

static const char *const SAME[KIR_OP_COUNT] = {
    [KIR_ADD] = "add",    [KIR_SUB] = "subtract",  [KIR_MUL] = "multiply",
    [KIR_AND] = "and",    [KIR_OR] = "or",         [KIR_XOR] = "xor",
    [KIR_FADD] = "add",   [KIR_FSUB] = "subtract", [KIR_FMUL] = "multiply",
    [KIR_FDIV] = "divide"};

static uint32_t integer(hlo *p, const kir_value *v, const uint32_t *a) {
    uint8_t type = v->args[0]->type;
    switch ((kir_op)v->op) {
    case KIR_ADD:
    case KIR_SUB:
    case KIR_MUL:
    case KIR_AND:
    case KIR_OR:
    case KIR_XOR: return hlo_binary(p, SAME[v->op], type, a[0], a[1]);
    case KIR_MULHI_U: return multiply_high(p, type, a[0], a[1]);
    case KIR_UDIV:
    case KIR_UREM:
    case KIR_SDIV:
    case KIR_SREM: return divide(p, v, a[0], a[1]);
    case KIR_SHL:
    case KIR_LSHR:
    case KIR_ASHR: return shift(p, v, a[0], a[1]);
    case KIR_CLZ: return hlo_unary(p, "count_leading_zeros", type, a[0]);
    case KIR_CMP_EQ: return hlo_compare(p, "EQ", type, a[0], a[1]);
    case KIR_CMP_ULT: return hlo_compare(p, "LT", type, a[0], a[1]);
    case KIR_CMP_SLT: {
        uint32_t x = to_signed(p, type, a[0]), y = to_signed(p, type, a[1]), name = begin(p);
        type_text t = as_signed(p, type);
        hg_text_addf(p->out, "compare LT, %%%u, %%%u : (%s, %s) -> %s\n", (unsigned)x, (unsigned)y,
                     t.text, t.text, tensor(p, KIR_BOOL).text);
        return name;
    }
    default: return 0;
    }
}

/* ---- floats ---- */

static uint8_t bits_of(uint8_t type) { return type == HG_TYPE_F64 ? HG_TYPE_U64 : HG_TYPE_U32; }

/* The same number, of which XLA knows nothing. */
static uint32_t opaque(hlo *p, uint8_t type, uint32_t a) {
    uint8_t bits = bits_of(type);
    uint32_t zero = p->items[hlo_of(p, type == HG_TYPE_F64 ? HLO_ZERO64 : HLO_ZERO32)],
             b = hlo_convert(p, "bitcast_convert", bits, type, a);
    return hlo_convert(p, "bitcast_convert", type, bits, hlo_binary(p, "or", bits, b, zero));
}

static uint32_t floating(hlo *p, const kir_value *v, const uint32_t *a) {
    uint8_t type = v->args[0]->type;
    uint32_t zero;
    switch ((kir_op)v->op) {
    case KIR_FADD:
    case KIR_FSUB: return hlo_binary(p, SAME[v->op], type, a[0], a[1]);
    case KIR_FMUL:
    case KIR_FDIV: return opaque(p, type, hlo_binary(p, SAME[v->op], type, a[0], a[1]));
    case KIR_FSQRT: return hlo_unary(p, "sqrt", type, a[0]);
    case KIR_FFLOOR: return hlo_unary(p, "floor", type, a[0]);
    case KIR_FRINT: return hlo_unary(p, "round_nearest_even", type, a[0]);
    case KIR_FTRUNC:
        zero = hlo_constant(p, type, 0);
        return hlo_select(p, type, hlo_compare(p, "LT", type, a[0], zero),
                          hlo_unary(p, "ceil", type, a[0]), hlo_unary(p, "floor", type, a[0]));
    case KIR_FCMP_EQ: return hlo_compare(p, "EQ", type, a[0], a[1]);
    case KIR_FCMP_LT: return hlo_compare(p, "LT", type, a[0], a[1]);
    case KIR_FCMP_LE: return hlo_compare(p, "LE", type, a[0], a[1]);
    default: return 0;
    }
}

/* ---- conversions ---- */

/* The bits of 2^e. */
static uint64_t power(uint8_t type, uint32_t e) {
    return type == HG_TYPE_F64 ? (uint64_t)(1023 + e) << 52 : (uint64_t)(127 + e) << 23;
}
static uint64_t negative(uint8_t type, uint64_t bits) {
    return bits | (type == HG_TYPE_F64 ? UINT64_C(1) << 63 : UINT64_C(1) << 31);
}

/* Truncates and saturates; NaN gives 0. */
static uint32_t to_integer(hlo *p, const kir_value *v, uint32_t a) {
    uint8_t from = v->args[0]->type, to = v->type;
    bool is_signed = v->op == KIR_F2S;
    uint32_t bits = kir_type_bits(to), zero = hlo_constant(p, from, 0),
             none = hlo_constant(p, to, 0);
    uint64_t top = UINT64_MAX >> (64 - bits);
    uint32_t end = hlo_constant(p, from, power(from, is_signed ? bits - 1 : bits)),
             over = hlo_compare(p, "GE", from, a, end), fits = hlo_compare(p, "LT", from, a, end),
             under = 0;
    if (is_signed) {
        uint32_t least = hlo_constant(p, from, negative(from, power(from, bits - 1)));
        under = hlo_compare(p, "LE", from, a, least);
        fits = hlo_and(p, fits, hlo_compare(p, "GT", from, a, least));
    } else {
        fits = hlo_and(p, fits, hlo_compare(p, "GT", from, a, zero));
    }
    uint32_t inside = hlo_select(p, from, fits, a, zero), r;
    if (is_signed)
        r = from_signed(p, to,
                        convert_text(p, "convert", as_signed(p, to), tensor(p, from), inside));
    else
        r = hlo_convert(p, "convert", to, from, inside);
    r = hlo_select(p, to, fits, r, none);
    if (is_signed) r = hlo_select(p, to, under, hlo_constant(p, to, top / 2 + 1), r);
    return hlo_select(p, to, over, hlo_constant(p, to, is_signed ? top / 2 : top), r);
}

static uint32_t extend_sign(hlo *p, const kir_value *v, uint32_t a) {
    uint8_t from = v->args[0]->type;
    if (from == KIR_BOOL)
        return hlo_unary(p, "negate", v->type, hlo_convert(p, "convert", v->type, KIR_BOOL, a));
    uint32_t s = to_signed(p, from, a);
    return from_signed(p, v->type,
                       convert_text(p, "convert", as_signed(p, v->type), as_signed(p, from), s));
}

static uint32_t conversion(hlo *p, const kir_value *v, uint32_t a) {
    uint8_t from = v->args[0]->type, to = v->type;
    switch ((kir_op)v->op) {
    case KIR_BITCAST:
        if (from == KIR_BOOL || to == KIR_BOOL) return hlo_convert(p, "convert", to, from, a);
        return hlo_convert(p, "bitcast_convert", to, from, a);
    case KIR_SEXT: return extend_sign(p, v, a);
    case KIR_TRUNC:
        if (to == KIR_BOOL) {
            uint32_t bit = hlo_binary(p, "and", from, a, hlo_constant(p, from, 1));
            return hlo_convert(p, "convert", to, from, bit);
        }
        return hlo_convert(p, "convert", to, from, a);
    case KIR_ZEXT:
    case KIR_U2F:
    case KIR_F2F: return hlo_convert(p, "convert", to, from, a);
    case KIR_S2F:
        return convert_text(p, "convert", tensor(p, to), as_signed(p, from), to_signed(p, from, a));
    case KIR_F2U:
    case KIR_F2S: return to_integer(p, v, a);
    default: return 0;
    }
}

bool hlo_print_value(hlo *p, const kir_value *v) {
    uint32_t a[3] = {0, 0, 0}, name;
    if (v->op == KIR_CONST) {
        if (kir_kind_of(v->type) < 0) p->unsupported = "a type was not lowered";
        name = hlo_constant(p, v->type, v->u.imm);
        p->names[v->id] = kir_type_is_float(v->type) ? opaque(p, v->type, name) : name;
        return true;
    }
    if (!kir_is_value(v) || v->nargs > 3) return false;
    for (uint8_t i = 0; i < v->nargs; i++) a[i] = hlo_name(p, v->args[i]);
    switch ((kir_op_class)kir_op_get((kir_op)v->op)->class) {
    case KIR_CLASS_INT: name = integer(p, v, a); break;
    case KIR_CLASS_FLOAT: name = floating(p, v, a); break;
    case KIR_CLASS_CONVERT: name = conversion(p, v, a[0]); break;
    case KIR_CLASS_ANY: name = hlo_select(p, v->type, a[0], a[1], a[2]); break;
    default: name = 0;
    }
    if (!name) p->unsupported = "an operation was not lowered";
    p->names[v->id] = name;
    return true;
}
