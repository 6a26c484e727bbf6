/* C expressions of the kernel IR's pure operations. What C leaves undefined (division by zero,
 * shift amounts, float to integer, MIN / -1, overflow of promoted types) is only printed in guarded
 * form, through small helper functions printed once a file.
 * Must not know: memory, control flow. */
#include "emit/emit_c_internal.h"
#include "isa/program.h"
#include <string.h>

static const char *const BITS[] = {"8", "16", "32", "64", "32", "64"};
static const char *const SHORT[] = {"u8", "u16", "u32", "u64", "f32", "f64"};
static const char *const TOP[] = {"127", "32767", "2147483647",
                                  NULL,  "",      ""}; /* largest signed; NULL: the dialect's */
static const char *const SUFFIX[] = {"", "", "u", "u", "f", ""};

const char *emit_c_type(const c_printer *p, uint8_t type) {
    if (type == KIR_BOOL) return "bool";
    if (type == KIR_VOID) return "void";
    int kind = kir_kind_of(type);
    return kind < 0 ? "?" : p->dialect->types[kind];
}

/* ---- helpers: $Q what stands in front of a function, $U unsigned type, $S signed type, $B bits,
 * $N short name, $M largest signed, $F and $f source's type and name, $2 $3 $4 u16 u32 u64, $i the
 * signed type of 32 bits ---- */

typedef enum helper {
    H_MULHI,
    H_UDIV,
    H_UREM,
    H_SDIV,
    H_SREM,
    H_CLZ,
    H_F2U,
    H_F2S,
    H_BITS,
    H_H2F,
    H_F2H,
    H_B2F,
    H_F2B,
    H_BIT,
    H_MULERR,
    H_MAD,
    H_SQUARE_ERR,
    H_COUNT
} helper;

/* clang-format off */
typedef struct helper_text { const char *name, *text; } helper_text;
static const helper_text HELPERS[H_COUNT] = {
    [H_MULHI] = {"hg_mulhi_$N",
                 "$Q$4 hg_mulhi_u64($4 a, $4 b) {\n"
                 "    $4 al = ($3)a, ah = a >> 32, bl = ($3)b, bh = b >> 32;\n"
                 "    $4 low = al * bl, x = ah * bl + (low >> 32), y = al * bh + ($3)x;\n"
                 "    return ah * bh + (x >> 32) + (y >> 32);\n"
                 "}\n"},
    [H_UDIV] = {"hg_udiv_$N", "$Q$U hg_udiv_$N($U a, $U b) { return b ? ($U)(a / b) : 0; }\n"},
    [H_UREM] = {"hg_urem_$N", "$Q$U hg_urem_$N($U a, $U b) { return b ? ($U)(a % b) : 0; }\n"},
    [H_SDIV] = {"hg_sdiv_$N",
                "$Q$U hg_sdiv_$N($U a, $U b) {\n"
                "    if (b == 0) return 0;\n"
                "    if (b == ($U)-1) return ($U)(0 - a); /* MIN / -1 = MIN */\n"
                "    return ($U)(($S)a / ($S)b);\n"
                "}\n"},
    [H_SREM] = {"hg_srem_$N",
                "$Q$U hg_srem_$N($U a, $U b) {\n"
                "    if (b == 0 || b == ($U)-1) return 0;\n"
                "    return ($U)(($S)a % ($S)b);\n"
                "}\n"},
    [H_CLZ] = {"hg_clz_$N", NULL},
    [H_MULERR] = {"hg_mul_err_$N", NULL},
    [H_MAD] = {"hg_mad_$N", NULL},
    [H_SQUARE_ERR] = {"hg_square_err_$N", NULL},
    [H_F2U] = {"hg_$f_to_$N",
               "$Q$U hg_$f_to_$N($F a) { /* truncates, saturates, NaN gives 0 */\n"
               "    return a > -1.0$s ? (a < $P ? ($U)a : ($U)-1) : 0;\n"
               "}\n"},
    [H_F2S] = {"hg_$f_to_i$B",
               "$Q$U hg_$f_to_i$B($F a) { /* truncates, saturates, NaN gives 0 */\n"
               "    return a >= -$H ? (a < $H ? ($U)($S)a : ($U)$M) : ($U)(a == a ? ($U)$M + 1u : 0u);\n"
               "}\n"},
    [H_BITS] = {"hg_$f_as_$N",
                "$Q$U hg_$f_as_$N($F a) {\n"
                "    $U bits;\n"
                "    memcpy(&bits, &a, sizeof bits);\n"
                "    return bits;\n"
                "}\n"},
    [H_H2F] = {"hg_half_to_f32",
               "$Qfloat hg_half_to_f32($2 h) {\n"
               "    $3 m = h & 0x7fffu, bits = (m << 13) + (m >= 0x7c00u ? 0x70000000u : 0x38000000u);\n"
               "    float tiny = (float)($i)m * 0x1p-24f, value; /* subnormal halves */\n"
               "    $3 tiny_bits;\n"
               "    memcpy(&tiny_bits, &tiny, 4);\n"
               "    bits = (m < 0x400u ? tiny_bits : bits) | ($3)(h & 0x8000u) << 16;\n"
               "    memcpy(&value, &bits, 4);\n"
               "    return value;\n"
               "}\n"},
    [H_F2H] = {"hg_f32_to_half",
               "$Q$2 hg_f32_to_half(float a) { /* to nearest even */\n"
               "    $3 bits, tiny_bits;\n"
               "    memcpy(&bits, &a, 4);\n"
               "    $3 m = bits & 0x7fffffffu, normal = (m + 0xc8000fffu + ((m >> 13) & 1u)) >> 13;\n"
               "    float tiny;\n"
               "    memcpy(&tiny, &m, 4);\n"
               "    tiny += 0.5f; /* its last bit is the half's last subnormal bit */\n"
               "    memcpy(&tiny_bits, &tiny, 4);\n"
               "    $3 big = m > 0x7f800000u ? 0x7e00u : 0x7c00u;\n"
               "    $3 h = m >= 0x47800000u ? big : m < 0x38800000u ? tiny_bits - 0x3f000000u : normal;\n"
               "    return ($2)(h | (bits >> 16 & 0x8000u));\n"
               "}\n"},
    [H_B2F] = {"hg_bfloat_to_f32",
               "$Qfloat hg_bfloat_to_f32($2 b) {\n"
               "    $3 bits = ($3)b << 16;\n"
               "    float value;\n"
               "    memcpy(&value, &bits, 4);\n"
               "    return value;\n"
               "}\n"},
    [H_BIT] = {"hg_bit_$N",
               "/* Whether the last bit is set; gcc vectorises no `a & 1` as a truth value. */\n"
               "$Qbool hg_bit_$N($U a) { return ($U)(a << ($B - 1)) > 1; }\n"},
    [H_F2B] = {"hg_f32_to_bfloat",
               "$Q$2 hg_f32_to_bfloat(float a) { /* to nearest even */\n"
               "    $3 bits;\n"
               "    memcpy(&bits, &a, 4);\n"
               "    $3 rounded = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16, quiet = bits >> 16 | 0x40u;\n"
               "    return ($2)((bits & 0x7fffffffu) > 0x7f800000u ? quiet : rounded);\n"
               "}\n"},
};
static const char *const CLZ_TEXT[] = {
    "$Quint8_t hg_clz_u8(uint8_t a) { return a ? (uint8_t)(__builtin_clz(a) - 24) : 8; }\n",
    "$Quint16_t hg_clz_u16(uint16_t a) { return a ? (uint16_t)(__builtin_clz(a) - 16) : 16; }\n",
    "$Quint32_t hg_clz_u32(uint32_t a) { return a ? (uint32_t)__builtin_clz(a) : 32; }\n",
    "$Quint64_t hg_clz_u64(uint64_t a) { return a ? (uint64_t)__builtin_clzll(a) : 64; }\n",
};
/* Fused where the machine does that itself, else by halves whose products are exact, as kir_split_product_error: a's rounded in f64. */
#define FUSED "#if defined(__FMA__) || defined(__FP_FAST_FMAF) || defined(__ARM_FEATURE_FMA) || defined(__aarch64__)\n"
#define HALVES(type, bits, x, halve)                               \
    "    " bits " i" x ";\n"                                       \
    "    " type " h" x ";\n"                                       \
    "    memcpy(&i" x ", &" x ", sizeof i" x ");\n"                \
    "    i" x " = " halve ";\n"                                    \
    "    memcpy(&h" x ", &i" x ", sizeof h" x ");\n"               \
    "    " type " l" x " = " x " - h" x ";\n"
#define CUT_F32(x) HALVES("float", "$3", x, "i" x " & 0xfffff000u")
#define CUT_F64(x) HALVES("double", "$4", x, "i" x " & UINT64_C(0xfffffffff8000000)")
#define ROUNDED_F64(x) HALVES("double", "$4", x, "(i" x " + 0x4000000u) & UINT64_C(0xfffffffff8000000)")
#define ERROR(type, b)                                             \
    "    " type " e = ha * h" b " - a * " b ";\n"                  \
    "    e = e + ha * l" b ";\n"                                   \
    "    e = e + la * h" b ";\n"                                   \
    "    return e + la * l" b ";\n"                                \
    "#endif\n"                                                     \
    "}\n"
static const char *const MULERR_TEXT[C_KINDS] = {
    [C_F32] = "$Qfloat hg_mul_err_f32(float a, float b) { /* a * b less its rounding */\n" FUSED "    return fmaf(a, b, -(a * b));\n"
              "#else\n" CUT_F32("a") CUT_F32("b") ERROR("float", "b"),
    [C_F64] = "$Qdouble hg_mul_err_f64(double a, double b) { /* a * b less its rounding */\n" FUSED "    return fma(a, b, -(a * b));\n"
              "#else\n" ROUNDED_F64("a") CUT_F64("b") ERROR("double", "b"),
};
#define MAD(type, suffix, fma)                                                                       \
    "$Q" type " hg_mad_" suffix "(" type " a, " type " b, " type " c) { /* either will do */\n" FUSED \
    "    return " fma "(a, b, c);\n#else\n    return a * b + c;\n#endif\n}\n"
static const char *const MAD_TEXT[C_KINDS] = {
    [C_F32] = MAD("float", "f32", "fmaf"),
    [C_F64] = MAD("double", "f64", "fma"),
};
static const char *const SQUARE_ERR_TEXT[C_KINDS] = {
    [C_F32] = "$Qfloat hg_square_err_f32(float a) { /* a * a less its rounding */\n" FUSED "    return fmaf(a, a, -(a * a));\n"
              "#else\n" CUT_F32("a") ERROR("float", "a"),
    [C_F64] = "$Qdouble hg_square_err_f64(double a) { /* a * a less its rounding */\n" FUSED "    return fma(a, a, -(a * a));\n"
              "#else\n" ROUNDED_F64("a") ERROR("double", "a"),
};
/* clang-format on */

/* 2^bits, or 2^(bits - 1), of integer kind k as a literal of float kind f. */
static void add_power(hg_text *out, int k, int f, int less) {
    hg_text_addf(out, "0x1p%d%s", (8 << k) - less, SUFFIX[f]);
}

static void expand(const c_printer *p, hg_text *out, const char *text, int k, int from) {
    for (; *text; text++) {
        if (*text != '$') {
            hg_text_add(out, text, 1);
            continue;
        }
        const char *with = "";
        switch (*++text) {
        case 'Q': with = p->dialect->function; break;
        case 'U': with = p->dialect->types[k]; break;
        case 'S': with = p->dialect->signed_types[k]; break;
        case 'B': with = BITS[k]; break;
        case 'N': with = SHORT[k]; break;
        case 'M': with = TOP[k] ? TOP[k] : p->dialect->top_i64; break;
        case '2': with = p->dialect->types[C_U16]; break;
        case '3': with = p->dialect->types[C_U32]; break;
        case '4': with = p->dialect->types[C_U64]; break;
        case 'i': with = p->dialect->signed_types[C_U32]; break;
        case 'F': with = p->dialect->types[from]; break;
        case 'f': with = SHORT[from]; break;
        case 's': with = SUFFIX[from]; break;
        case 'P': add_power(out, k, from, 0); break;
        case 'H': add_power(out, k, from, 1); break;
        }
        hg_text_add(out, with, strlen(with));
    }
}

static void use(c_printer *p, helper h, int k, int from) {
    p->helpers[h][k] |= from < 0 ? 1u : UINT64_C(2) << from;
    expand(p, p->out, HELPERS[h].name, k, from < 0 ? 0 : from);
}

static void print_helper(const c_printer *p, hg_text *out, helper h, int k, int from) {
    if (p->prefix) { /* several functions share a file: each helper once */
        hg_text_addf(out, "#ifndef HELPER_%d_%d_%d\n#define HELPER_%d_%d_%d\n", (int)h, k, from,
                     (int)h, k, from);
    }
    const char *text = h == H_CLZ          ? CLZ_TEXT[k]
                       : h == H_MULERR     ? MULERR_TEXT[k]
                       : h == H_MAD        ? MAD_TEXT[k]
                       : h == H_SQUARE_ERR ? SQUARE_ERR_TEXT[k]
                                           : HELPERS[h].text;
    if (h == H_MULHI && p->dialect->multiply_high) text = p->dialect->multiply_high;
    expand(p, out, text, k, from);
    if (p->prefix) hg_text_addf(out, "#endif\n");
}

void emit_c_helpers(const c_printer *p, hg_text *out) {
    for (int h = 0; h < H_COUNT; h++)
        for (int k = 0; k < C_KINDS; k++) {
            if (p->helpers[h][k] & 1) print_helper(p, out, (helper)h, k, 0);
            for (int from = 0; from < C_KINDS; from++)
                if (p->helpers[h][k] >> (from + 1) & 1) print_helper(p, out, (helper)h, k, from);
        }
}

/* ---- names and literals ---- */

static const char *builtin(const c_printer *p, kir_op op, int kind) {
    const c_builtin *b = p->dialect->builtins;
    while (b->text && (b->op != op || !(b->kinds >> kind & 1))) b++;
    return b->text;
}

/* A float by its bits: "as_float(0x7fc00000u)". */
static void bits_literal(const c_printer *p, hg_text *out, uint8_t type, uint64_t bits) {
    const char *as = builtin(p, KIR_BITCAST, kir_kind_of(type));
    for (; as && *as; as++) {
        if (as[0] == '$' && as[1] == '0')
            hg_text_addf(out, type == HG_TYPE_F32 ? "0x%llxu" : p->dialect->u64_large,
                         (unsigned long long)bits),
                as++;
        else
            hg_text_add(out, as, 1);
    }
}

static void float_literal(const c_printer *p, hg_text *out, uint8_t type, uint64_t bits) {
    bool single = type == HG_TYPE_F32;
    bool finite = single ? (bits & 0x7f800000) != 0x7f800000
                         : (bits & 0x7ff0000000000000) != 0x7ff0000000000000;
    bool negative = single ? bits >> 31 & 1 : bits >> 63 & 1;
    bool infinite = single ? (bits & 0x7fffff) == 0 : (bits & 0xfffffffffffff) == 0;
    if (!finite) {
        const char *word = infinite ? p->dialect->infinity : p->dialect->nan;
        if (word)
            hg_text_addf(out, "(%s%s%s)", negative ? "-" : "", single ? "" : "(double)", word);
        else
            bits_literal(p, out, type, bits);
        return;
    }
    uint8_t bytes[8];
    for (int i = 0; i < 8; i++) bytes[i] = (uint8_t)(bits >> (8 * i));
    hg_text text = {0};
    hg_print_literal(&text, (hg_type)type, bytes);
    if (!text.data) {
        out->failed = true;
        return;
    }
    bool plain = strcspn(text.data, ".eEpP") == strlen(text.data);
    hg_text_addf(out, "%s%s%s%s%s", negative ? "(" : "", text.data, plain ? ".0" : "",
                 single ? "f" : "", negative ? ")" : "");
    hg_text_free(&text);
}

void emit_c_literal(const c_printer *p, hg_text *out, uint8_t type, uint64_t bits) {
    if (type == KIR_BOOL)
        hg_text_addf(out, bits ? "true" : "false");
    else if (kir_type_is_float(type))
        float_literal(p, out, type, bits);
    else if (type == HG_TYPE_U64)
        hg_text_addf(out, bits > 0xffff ? p->dialect->u64_large : p->dialect->u64_small,
                     (unsigned long long)bits);
    else
        hg_text_addf(out, bits > 0xffff ? "0x%llxu" : "%lluu", (unsigned long long)bits);
}

static void print_local(c_printer *p, const kir_value *v) {
    if (p->form->is_wide && p->form->is_wide(v))
        hg_text_addf(p->out, "(%s)", p->dialect->types[C_U32]);
    hg_text_addf(p->out, "v%u", (unsigned)v->id);
}

void emit_c_name(c_printer *p, const kir_value *v) {
    if (v->op == KIR_CONST && v->type == HG_TYPE_U8)
        hg_text_addf(p->out, "(%s)%uu", p->dialect->types[C_U8], (unsigned)v->u.imm);
    else if (v->op == KIR_CONST && v->type == HG_TYPE_U16)
        hg_text_addf(p->out, "(%s)%uu", p->dialect->types[C_U16], (unsigned)v->u.imm);
    else if (v->op == KIR_CONST)
        emit_c_literal(p, p->out, v->type, v->u.imm);
    else if (v->op == KIR_PARAM)
        hg_text_addf(p->out, "a%u", (unsigned)v->u.imm);
    else
        print_local(p, v);
}

void emit_c_table_name(const c_printer *p, hg_text *out, const kir_table *t) {
    hg_text_addf(out, "%s_t%u", p->prefix ? p->prefix : p->name, (unsigned)t->id);
}

/* ---- expressions ---- */

static void arg(c_printer *p, const kir_value *v, int i) { emit_c_name(p, v->args[i]); }
static void text(c_printer *p, const char *s) { hg_text_add(p->out, s, strlen(s)); }

/* "a op b"; narrow integers are promoted to int, so they are cut back. */
static void infix(c_printer *p, const kir_value *v, const char *op) {
    int k = kir_kind_of(v->args[0]->type);
    bool cut = v->type != KIR_BOOL && k < 2;
    if (cut) hg_text_addf(p->out, "(%s)(", p->dialect->types[k]);
    if (cut && v->op == KIR_MUL) hg_text_addf(p->out, "(%s)", p->dialect->types[C_U32]);
    arg(p, v, 0);
    hg_text_addf(p->out, " %s ", op);
    arg(p, v, 1);
    if (cut) text(p, ")");
}

static void call(c_printer *p, const kir_value *v, helper h, int k, int from) {
    use(p, h, k, from);
    text(p, "(");
    for (uint8_t i = 0; i < v->nargs; i++) {
        if (i) text(p, ", ");
        arg(p, v, i);
    }
    text(p, ")");
}

/* The operation as the language's own function or operator writes it; false: it has none. */
static bool own_word(c_printer *p, const kir_value *v) {
    const char *with = builtin(p, (kir_op)v->op, kir_kind_of(v->type));
    for (const char *c = with; c && *c; c++) {
        if (c[0] == '$' && c[1] >= '0' && c[1] < '0' + v->nargs)
            arg(p, v, *++c - '0');
        else
            hg_text_add(p->out, c, 1);
    }
    return with != NULL;
}

static void shift(c_printer *p, const kir_value *v) {
    int k = kir_kind_of(v->type);
    hg_text_addf(p->out, "(%s)(", p->dialect->types[k]);
    if (v->op == KIR_ASHR)
        hg_text_addf(p->out, "(%s)", p->dialect->signed_types[k]);
    else if (k < 2)
        hg_text_addf(p->out, "(%s)", p->dialect->types[C_U32]);
    arg(p, v, 0);
    text(p, v->op == KIR_SHL ? " << " : " >> ");
    if (v->args[1]->op == KIR_CONST) {
        hg_text_addf(p->out, "%u)", (unsigned)(v->args[1]->u.imm & ((8u << k) - 1)));
        return;
    }
    text(p, "(");
    arg(p, v, 1);
    hg_text_addf(p->out, " & %du))", (8 << k) - 1);
}

/* Compilers warn about x < 0, 255 < x and x == x. */
bool emit_c_is_constant(const kir_value *v) {
    if (v->op != KIR_CMP_EQ && v->op != KIR_CMP_ULT && v->op != KIR_CMP_SLT) return false;
    const kir_value *left = v->args[0], *right = v->args[1];
    uint64_t top = UINT64_MAX >> (64 - kir_type_bits(left->type));
    if (left == right) return true;
    uint64_t least = top - top / 2; /* of the signed numbers */
    if (v->op == KIR_CMP_SLT && left->op == KIR_CONST &&
        (right->op == KIR_CONST || left->u.imm == least - 1))
        return true;
    if (v->op == KIR_CMP_SLT) return right->op == KIR_CONST && right->u.imm == least;
    return v->op == KIR_CMP_ULT && ((right->op == KIR_CONST && right->u.imm == 0) ||
                                    (left->op == KIR_CONST && left->u.imm == top));
}

static bool constant_value(const kir_value *v) {
    const kir_value *left = v->args[0], *right = v->args[1];
    uint64_t sign = UINT64_C(1) << (kir_type_bits(left->type) - 1);
    if (v->op == KIR_CMP_EQ) return true;
    if (v->op == KIR_CMP_ULT || left->op != KIR_CONST || right->op != KIR_CONST) return false;
    return left != right && (left->u.imm ^ sign) < (right->u.imm ^ sign);
}

static void compare(c_printer *p, const kir_value *v) {
    int k = kir_kind_of(v->args[0]->type);
    const kir_value *right = v->args[1], *left = v->args[0];
    bool bit = left->op == KIR_AND && left->args[1]->op == KIR_CONST && left->args[1]->u.imm == 1 &&
               right->op == KIR_CONST && right->u.imm == 1;
    if (emit_c_is_constant(v)) {
        text(p, constant_value(v) ? "true" : "false");
    } else if (v->op == KIR_CMP_EQ && p->prefix && bit && k >= 2 && k < 4) {
        use(p, H_BIT, k, -1);
        text(p, "(");
        arg(p, v, 0);
        text(p, ")");
    } else if (v->op != KIR_CMP_SLT) {
        infix(p, v, v->op == KIR_CMP_EQ ? "==" : "<");
    } else {
        hg_text_addf(p->out, "(%s)", p->dialect->signed_types[k]);
        arg(p, v, 0);
        hg_text_addf(p->out, " < (%s)", p->dialect->signed_types[k]);
        arg(p, v, 1);
    }
}

static void extend(c_printer *p, const kir_value *v) {
    int to = kir_kind_of(v->type), from = kir_kind_of(v->args[0]->type);
    if (v->args[0]->type == KIR_BOOL && v->op == KIR_SEXT) {
        hg_text_addf(p->out, "(%s)(0u - (%s)", p->dialect->types[to], p->dialect->types[to]);
        arg(p, v, 0);
        text(p, ")");
        return;
    }
    hg_text_addf(p->out, "(%s)", v->type == KIR_BOOL ? "bool" : p->dialect->types[to]);
    if (v->op == KIR_SEXT)
        hg_text_addf(p->out, "(%s)(%s)", p->dialect->signed_types[to],
                     p->dialect->signed_types[from]);
    if (v->type == KIR_BOOL) text(p, "(1u & ");
    arg(p, v, 0);
    if (v->type == KIR_BOOL) text(p, ")");
}

static void int_to_float(c_printer *p, const kir_value *v) {
    hg_text_addf(p->out, "(%s)", p->dialect->types[kir_kind_of(v->type)]);
    if (v->op == KIR_S2F)
        hg_text_addf(p->out, "(%s)", p->dialect->signed_types[kir_kind_of(v->args[0]->type)]);
    arg(p, v, 0);
}

static void multiply_high(c_printer *p, const kir_value *v, int k) {
    if (k == C_U64) {
        call(p, v, H_MULHI, k, -1);
        return;
    }
    hg_text_addf(p->out, "(%s)((%s)", p->dialect->types[k],
                 p->dialect->types[k == C_U32 ? C_U64 : C_U32]);
    arg(p, v, 0);
    text(p, " * ");
    arg(p, v, 1);
    hg_text_addf(p->out, " >> %s)", BITS[k]);
}

static bool integer_expression(c_printer *p, const kir_value *v) {
    int k = kir_kind_of(v->type);
    switch ((kir_op)v->op) {
    case KIR_ADD: infix(p, v, "+"); return true;
    case KIR_SUB: infix(p, v, "-"); return true;
    case KIR_MUL: infix(p, v, "*"); return true;
    case KIR_AND: infix(p, v, "&"); return true;
    case KIR_OR: infix(p, v, "|"); return true;
    case KIR_XOR:
        if (p->dialect->logical_not && v->type == KIR_BOOL && v->args[1]->op == KIR_CONST &&
            v->args[1]->u.imm)
            text(p, "!"), arg(p, v, 0);
        else
            infix(p, v, "^");
        return true;
    case KIR_SHL:
    case KIR_LSHR:
    case KIR_ASHR: shift(p, v); return true;
    case KIR_UDIV: call(p, v, H_UDIV, k, -1); return true;
    case KIR_UREM: call(p, v, H_UREM, k, -1); return true;
    case KIR_SDIV: call(p, v, H_SDIV, k, -1); return true;
    case KIR_SREM: call(p, v, H_SREM, k, -1); return true;
    case KIR_CLZ: call(p, v, H_CLZ, k, -1); return true;
    case KIR_MULHI_U: multiply_high(p, v, k); return true;
    case KIR_CMP_EQ:
    case KIR_CMP_ULT:
    case KIR_CMP_SLT: compare(p, v); return true;
    default: return false;
    }
}

static void product_error(c_printer *p, const kir_value *v) {
    int k = kir_kind_of(v->type);
    if (v->args[0] != v->args[1]) {
        call(p, v, H_MULERR, k, -1);
        return;
    }
    use(p, H_SQUARE_ERR, k, -1);
    text(p, "(");
    arg(p, v, 0);
    text(p, ")");
}

static bool float_expression(c_printer *p, const kir_value *v) {
    switch ((kir_op)v->op) {
    case KIR_FADD: infix(p, v, "+"); return true;
    case KIR_FSUB: infix(p, v, "-"); return true;
    case KIR_FMUL: infix(p, v, "*"); return true;
    case KIR_FDIV: infix(p, v, "/"); return true;
    case KIR_FMULERR: product_error(p, v); return true;
    case KIR_FMAD: call(p, v, H_MAD, kir_kind_of(v->type), -1); return true;
    case KIR_FCMP_EQ: infix(p, v, "=="); return true;
    case KIR_FCMP_LT: infix(p, v, "<"); return true;
    case KIR_FCMP_LE: infix(p, v, "<="); return true;
    default: return false;
    }
}

static bool conversion(c_printer *p, const kir_value *v) {
    int to = kir_kind_of(v->type), from = kir_kind_of(v->args[0]->type);
    switch ((kir_op)v->op) {
    case KIR_BITCAST:
        if (to == from)
            arg(p, v, 0);
        else
            call(p, v, H_BITS, to, from);
        return true;
    case KIR_ZEXT:
    case KIR_SEXT:
    case KIR_TRUNC: extend(p, v); return true;
    case KIR_U2F:
    case KIR_S2F: int_to_float(p, v); return true;
    case KIR_F2U: call(p, v, H_F2U, to, from); return true;
    case KIR_F2S: call(p, v, H_F2S, to, from); return true;
    case KIR_F2F:
        hg_text_addf(p->out, "(%s)", p->dialect->types[to]);
        arg(p, v, 0);
        return true;
    case KIR_H2F: call(p, v, H_H2F, 0, -1); return true;
    case KIR_F2H: call(p, v, H_F2H, 0, -1); return true;
    case KIR_B2F: call(p, v, H_B2F, 0, -1); return true;
    case KIR_F2B: call(p, v, H_F2B, 0, -1); return true;
    default: return false;
    }
}

bool emit_c_expression(c_printer *p, const kir_value *v) {
    if (v->op == KIR_SELECT) {
        arg(p, v, 0);
        text(p, " ? ");
        arg(p, v, 1);
        text(p, " : ");
        arg(p, v, 2);
        return true;
    }
    if (v->op == KIR_TABLE_GET) {
        emit_c_table_name(p, p->out, v->u.table);
        text(p, !p->prefix                     ? "["
                : kir_type_bytes(v->type) == 8 ? "[(int64_t)"
                                               : "[(int32_t)"); /* in range; vector gathers take
                                                                   signed indexes */
        arg(p, v, 0);
        text(p, "]");
        return true;
    }
    if (v->nargs == 0 || kir_kind_of(v->args[0]->type) < 0 || kir_kind_of(v->type) < 0)
        return false;
    bool same = v->op == KIR_BITCAST && kir_kind_of(v->args[0]->type) == kir_kind_of(v->type);
    if (!same && own_word(p, v)) return true;
    return integer_expression(p, v) || float_expression(p, v) || conversion(p, v);
}
