/* Value primitives in WGSL, guarded where WGSL leaves open what prim.def fixes. Only u32, f32 and
 * bool exist: everything else was lowered. An expression of constants alone is evaluated by the
 * compiler, which refuses infinities, NaN and much else; a call of a function is not one.
 * Must not know: memory, control flow. */
#include "emit/emit_wgsl_internal.h"

/* clang-format off */
/* Beyond the largest f16, and of NaN, the built-in function may give anything. Where there is f16,
 * its conversion rounds: that of pack2x16float may cut off. */
#define F2H(rounded)                                                                           \
    "fn hg_f32_to_f16(x: f32) -> u32 {\n"                                                      \
    "    let size = bitcast<u32>(x) & 0x7fffffffu;\n"                                          \
    "    let fits = size <= 0x477fe000u;\n"                                                    \
    "    let a = select(0.0f, x, fits);\n"                                                     \
    "    let bits = pack2x16float(vec2<f32>(" rounded ", 0.0f)) & 0xffffu;\n"                  \
    "    let large = select(0x7c00u, 0x7bffu, size < 0x477ff000u);\n"                          \
    "    let other = select(large, 0x7e00u, size > 0x7f800000u);\n"                            \
    "    return select(((bitcast<u32>(x) >> 16u) & 0x8000u) | other, bits, fits);\n"          \
    "}\n"
static const struct { const char *name, *text; } HELPERS[WGSL_HELPER_COUNT] = {
    [WGSL_BITS_F32] = {"hg_f32", "fn hg_f32(bits: u32) -> f32 { return bitcast<f32>(bits); }\n"},
    [WGSL_OPAQUE_U32] = {"hg_u32", "fn hg_u32(a: u32) -> u32 { return a; }\n"},
    [WGSL_UDIV] = {"hg_udiv",
                   "fn hg_udiv(a: u32, b: u32) -> u32 {\n"
                   "    return select(a / select(b, 1u, b == 0u), 0u, b == 0u);\n"
                   "}\n"},
    [WGSL_UREM] = {"hg_urem", "fn hg_urem(a: u32, b: u32) -> u32 { return a % select(b, 1u, b == 0u); }\n"},
    [WGSL_SDIV] = {"hg_sdiv",
                   "fn hg_sdiv(a: u32, b: u32) -> u32 { /* MIN / -1 = MIN */\n"
                   "    let one = b == 0u || b == 0xffffffffu;\n"
                   "    let q = bitcast<u32>(bitcast<i32>(a) / bitcast<i32>(select(b, 1u, one)));\n"
                   "    return select(select(q, 0u - a, one), 0u, b == 0u);\n"
                   "}\n"},
    [WGSL_SREM] = {"hg_srem",
                   "fn hg_srem(a: u32, b: u32) -> u32 {\n"
                   "    let one = b == 0u || b == 0xffffffffu;\n"
                   "    let d = select(b, 1u, one);\n"
                   "    return a - bitcast<u32>(bitcast<i32>(a) / bitcast<i32>(d)) * d;\n"
                   "}\n"},
    [WGSL_MULHI] = {"hg_mulhi",
                    "fn hg_mulhi(a: u32, b: u32) -> u32 {\n"
                    "    let al = a & 0xffffu; let ah = a >> 16u;\n"
                    "    let bl = b & 0xffffu; let bh = b >> 16u;\n"
                    "    let x = ah * bl + ((al * bl) >> 16u);\n"
                    "    let y = al * bh + (x & 0xffffu);\n"
                    "    return ah * bh + (x >> 16u) + (y >> 16u);\n"
                    "}\n"},
    [WGSL_F2U] = {"hg_f32_to_u32",
                  "fn hg_f32_to_u32(a: f32) -> u32 { /* truncates, saturates, NaN gives 0 */\n"
                  "    let fits = a > 0.0f && a < 4294967296.0f;\n"
                  "    return select(u32(select(0.0f, a, fits)), 0xffffffffu, a >= 4294967296.0f);\n"
                  "}\n"},
    [WGSL_F2S] = {"hg_f32_to_i32",
                  "fn hg_f32_to_i32(a: f32) -> u32 { /* truncates, saturates, NaN gives 0 */\n"
                  "    let fits = a > -2147483648.0f && a < 2147483648.0f;\n"
                  "    let whole = bitcast<u32>(i32(select(0.0f, a, fits)));\n"
                  "    let high = select(whole, 0x7fffffffu, a >= 2147483648.0f);\n"
                  "    return select(high, 0x80000000u, a <= -2147483648.0f);\n"
                  "}\n"},
    [WGSL_DOT4_U] = {"hg_dot4_u",
                     "fn hg_dot4_u(a: u32, b: u32) -> u32 { /* a is not signed: 128 less, then more */\n"
                     "    let less = bitcast<u32>(dot4I8Packed(a ^ 0x80808080u, b));\n"
                     "    return less + (bitcast<u32>(dot4I8Packed(hg_u32(0x01010101u), b)) << 7u);\n"
                     "}\n"},
    [WGSL_F2H] = {"hg_f32_to_f16", F2H("a")},
    [WGSL_F2H_F16] = {"hg_f32_to_f16", F2H("f32(f16(a))")},
};
/* clang-format on */

void wgsl_use_helper(wgsl *p, wgsl_helper helper) {
    p->helpers |= UINT32_C(1) << helper;
    wgsl_text(p, HELPERS[helper].name);
}

void wgsl_print_helpers(wgsl *p) {
    for (int h = 0; h < WGSL_HELPER_COUNT; h++)
        if (p->helpers >> h & 1) wgsl_text(p, HELPERS[h].text);
    if (p->helpers) wgsl_text(p, "\n");
}

const char *wgsl_type(wgsl *p, uint8_t type) {
    switch (type) {
    case KIR_BOOL: return "bool";
    case HG_TYPE_U32: return "u32";
    case HG_TYPE_F32: return "f32";
    default: p->unsupported = "a type was not lowered"; return "u32";
    }
}

/* ---- names and literals ---- */

/* Whole numbers below 2^24 in decimal, all other normal ones in hexadecimal: a compiler may read
 * decimals through f64, and round twice. The rest is made of its bits by a call, so that neither
 * the rule against infinities nor flushing at compile time meets it. */
static void float_literal(wgsl *p, uint32_t bits) {
    uint32_t exponent = bits >> 23 & 255, fraction = (bits & 0x7fffff) << 1, digits = 6;
    const char *sign = bits >> 31 ? "-" : "", *close = bits >> 31 ? ")" : "";
    bool whole = exponent >= 127 && exponent < 151 && !(bits << (exponent - 127) & 0x7fffff);
    if (bits && (exponent == 0 || exponent == 255)) {
        wgsl_use_helper(p, WGSL_BITS_F32);
        hg_text_addf(p->out, "(0x%xu)", (unsigned)bits);
    } else if (!bits || whole) {
        uint32_t number = bits ? ((bits & 0x7fffff) | 0x800000) >> (150 - exponent) : 0;
        hg_text_addf(p->out, "%s%s%u.0f%s", *sign ? "(" : "", sign, (unsigned)number, close);
    } else {
        while (!(fraction & 15) && digits) fraction >>= 4, digits--;
        hg_text_addf(p->out, "%s%s0x1", *sign ? "(" : "", sign);
        if (digits) hg_text_addf(p->out, ".%0*x", (int)digits, (unsigned)fraction);
        hg_text_addf(p->out, "p%+df%s", (int)exponent - 127, close);
    }
}

void wgsl_literal(wgsl *p, uint8_t type, uint64_t bits) {
    if (type == KIR_BOOL)
        wgsl_text(p, bits ? "true" : "false");
    else if (type == HG_TYPE_F32)
        float_literal(p, (uint32_t)bits);
    else
        hg_text_addf(p->out, bits > 0xffff ? "0x%llxu" : "%lluu", (unsigned long long)bits);
}

void wgsl_name(wgsl *p, const kir_value *v) {
    if (v->op == KIR_CONST)
        wgsl_literal(p, v->type, v->u.imm);
    else if (v->op == KIR_PARAM)
        hg_text_addf(p->out, "a%u", (unsigned)v->u.imm);
    else
        hg_text_addf(p->out, "v%u", (unsigned)v->id);
}

/* ---- expressions ---- */

/* Argument 0 where the compiler may evaluate the whole expression: it must not. */
static void first(wgsl *p, const kir_value *v) {
    bool constant = v->args[0]->type == HG_TYPE_U32;
    for (uint8_t i = 0; i < v->nargs; i++) constant = constant && v->args[i]->op == KIR_CONST;
    if (constant) {
        wgsl_use_helper(p, WGSL_OPAQUE_U32);
        wgsl_text(p, "(");
    }
    if (!constant && v->args[0]->op == KIR_CONST && v->args[0]->type == HG_TYPE_F32 &&
        (v->nargs < 2 || v->args[1]->op == KIR_CONST)) {
        wgsl_use_helper(p, WGSL_BITS_F32);
        hg_text_addf(p->out, "(0x%llxu)", (unsigned long long)v->args[0]->u.imm);
        return;
    }
    wgsl_name(p, v->args[0]);
    if (constant) wgsl_text(p, ")");
}

static void infix(wgsl *p, const kir_value *v, const char *op) {
    first(p, v);
    hg_text_addf(p->out, " %s ", op);
    wgsl_name(p, v->args[1]);
}

/* "name(v1, v2)" of a function that is no helper. */
static void call(wgsl *p, const kir_value *v, const char *name) {
    hg_text_addf(p->out, "%s(", name);
    first(p, v);
    for (uint8_t i = 1; i < v->nargs; i++) {
        wgsl_text(p, ", ");
        wgsl_name(p, v->args[i]);
    }
    wgsl_text(p, ")");
}

static void call_helper(wgsl *p, const kir_value *v, wgsl_helper helper) {
    wgsl_use_helper(p, helper);
    call(p, v, "");
}

static void bitcast(wgsl *p, const char *type, const kir_value *v) {
    hg_text_addf(p->out, "bitcast<%s>(", type);
    wgsl_name(p, v);
    wgsl_text(p, ")");
}

static void shift(wgsl *p, const kir_value *v) {
    if (v->op == KIR_ASHR) wgsl_text(p, "bitcast<u32>(bitcast<i32>(");
    first(p, v);
    wgsl_text(p, v->op == KIR_ASHR ? ")" : "");
    wgsl_text(p, v->op == KIR_SHL ? " << " : " >> ");
    if (v->args[1]->op == KIR_CONST) {
        hg_text_addf(p->out, "%uu", (unsigned)(v->args[1]->u.imm & 31));
    } else {
        wgsl_text(p, "(");
        wgsl_name(p, v->args[1]);
        wgsl_text(p, " & 31u)");
    }
    if (v->op == KIR_ASHR) wgsl_text(p, ")");
}

/* By a constant that is neither 0 nor -1 a division is what prim.def says. */
static void divide(wgsl *p, const kir_value *v) {
    const kir_value *by = v->args[1];
    bool plain = by->op == KIR_CONST && by->u.imm && by->u.imm != UINT32_MAX;
    switch ((kir_op)v->op) {
    case KIR_UDIV:
        if (plain)
            infix(p, v, "/");
        else
            call_helper(p, v, WGSL_UDIV);
        break;
    case KIR_UREM:
        if (plain)
            infix(p, v, "%");
        else
            call_helper(p, v, WGSL_UREM);
        break;
    case KIR_SDIV: call_helper(p, v, WGSL_SDIV); break;
    default: call_helper(p, v, WGSL_SREM); break;
    }
}

/* Four signed bytes of the second factor and of the first, which may be without signs. */
static void dot4(wgsl *p, const kir_value *v) {
    bool both = v->op == KIR_DOT4_S;
    wgsl_name(p, v->args[2]);
    wgsl_text(p, both ? " + bitcast<u32>(dot4I8Packed(" : " + ");
    if (!both) {
        p->helpers |= UINT32_C(1) << WGSL_OPAQUE_U32;
        wgsl_use_helper(p, WGSL_DOT4_U);
        wgsl_text(p, "(");
    }
    first(p, v);
    wgsl_text(p, ", ");
    wgsl_name(p, v->args[1]);
    wgsl_text(p, both ? "))" : ")");
}

static bool integer(wgsl *p, const kir_value *v) {
    bool logical = v->args[0]->type == KIR_BOOL;
    switch ((kir_op)v->op) {
    case KIR_ADD: infix(p, v, "+"); return true;
    case KIR_SUB: infix(p, v, "-"); return true;
    case KIR_MUL: infix(p, v, "*"); return true;
    case KIR_MULHI_U: call_helper(p, v, WGSL_MULHI); return true;
    case KIR_UDIV:
    case KIR_UREM:
    case KIR_SDIV:
    case KIR_SREM: divide(p, v); return true;
    case KIR_AND: infix(p, v, "&"); return true;
    case KIR_OR: infix(p, v, "|"); return true;
    case KIR_XOR:
        if (logical && v->args[1]->op == KIR_CONST && v->args[1]->u.imm)
            wgsl_text(p, "!"), wgsl_name(p, v->args[0]);
        else
            infix(p, v, logical ? "!=" : "^");
        return true;
    case KIR_SHL:
    case KIR_LSHR:
    case KIR_ASHR: shift(p, v); return true;
    case KIR_CLZ: call(p, v, "countLeadingZeros"); return true;
    case KIR_DOT4_S:
    case KIR_DOT4_U: dot4(p, v); return true;
    case KIR_CMP_EQ: infix(p, v, "=="); return true;
    case KIR_CMP_ULT: infix(p, v, "<"); return true;
    case KIR_CMP_SLT:
        bitcast(p, "i32", v->args[0]);
        wgsl_text(p, " < ");
        bitcast(p, "i32", v->args[1]);
        return true;
    default: return false;
    }
}

/* Fused: a * b - fl(a * b). */
static void product_error(wgsl *p, const kir_value *v) {
    wgsl_text(p, "fma(");
    wgsl_name(p, v->args[0]);
    wgsl_text(p, ", ");
    wgsl_name(p, v->args[1]);
    wgsl_text(p, ", -(");
    infix(p, v, "*");
    wgsl_text(p, "))");
}

static bool floating(wgsl *p, const kir_value *v) {
    switch ((kir_op)v->op) {
    case KIR_FADD: infix(p, v, "+"); return true;
    case KIR_FSUB: infix(p, v, "-"); return true;
    case KIR_FMUL: infix(p, v, "*"); return true;
    case KIR_FDIV: infix(p, v, "/"); return true;
    case KIR_FSQRT: call(p, v, "sqrt"); return true;
    case KIR_FFMA: call(p, v, "fma"); return true;
    case KIR_FMULERR: product_error(p, v); return true;
    case KIR_FFLOOR: call(p, v, "floor"); return true;
    case KIR_FTRUNC: call(p, v, "trunc"); return true;
    case KIR_FRINT: call(p, v, "round"); return true; /* to even, in WGSL */
    case KIR_FCMP_EQ: infix(p, v, "=="); return true;
    case KIR_FCMP_LT: infix(p, v, "<"); return true;
    case KIR_FCMP_LE: infix(p, v, "<="); return true;
    default: return false;
    }
}

static void choose(wgsl *p, const kir_value *cond, const char *yes, const char *no) {
    hg_text_addf(p->out, "select(%s, %s, ", no, yes);
    wgsl_name(p, cond);
    wgsl_text(p, ")");
}

static void extend(wgsl *p, const kir_value *v) {
    const kir_value *a = v->args[0];
    if (v->type == a->type) {
        wgsl_name(p, a);
    } else if (a->type == KIR_BOOL) {
        choose(p, a, v->op == KIR_SEXT ? "0xffffffffu" : "1u", "0u");
    } else {
        wgsl_text(p, "(");
        wgsl_name(p, a);
        wgsl_text(p, " & 1u) != 0u");
    }
}

static bool conversion(wgsl *p, const kir_value *v) {
    const kir_value *a = v->args[0];
    switch ((kir_op)v->op) {
    case KIR_BITCAST:
        if (v->type == a->type) {
            wgsl_name(p, a);
        } else if (v->type == HG_TYPE_F32) {
            if (a->op == KIR_CONST)
                call_helper(p, v, WGSL_BITS_F32);
            else
                bitcast(p, "f32", a);
        } else {
            bitcast(p, wgsl_type(p, v->type), a);
        }
        return true;
    case KIR_ZEXT:
    case KIR_SEXT:
    case KIR_TRUNC: extend(p, v); return true;
    case KIR_U2F: call(p, v, "f32"); return true;
    case KIR_S2F:
        wgsl_text(p, "f32(");
        bitcast(p, "i32", a);
        wgsl_text(p, ")");
        return true;
    case KIR_F2U: call_helper(p, v, WGSL_F2U); return true;
    case KIR_F2S: call_helper(p, v, WGSL_F2S); return true;
    case KIR_F2F: wgsl_name(p, a); return v->type == a->type;
    case KIR_H2F:
        call(p, v, "unpack2x16float");
        wgsl_text(p, ".x");
        return true;
    case KIR_F2H: call_helper(p, v, p->options->f16 ? WGSL_F2H_F16 : WGSL_F2H); return true;
    default: return false;
    }
}

bool wgsl_expression(wgsl *p, const kir_value *v) {
    if (!v->nargs) return false;
    (void)wgsl_type(p, v->type);
    (void)wgsl_type(p, v->args[0]->type);
    if (v->op == KIR_SELECT) {
        wgsl_text(p, "select(");
        wgsl_name(p, v->args[2]);
        wgsl_text(p, ", ");
        wgsl_name(p, v->args[1]);
        wgsl_text(p, ", ");
        wgsl_name(p, v->args[0]);
        wgsl_text(p, ")");
        return true;
    }
    return integer(p, v) || floating(p, v) || conversion(p, v);
}
