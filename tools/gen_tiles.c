/* Writes the C source of the tile handlers: gen_tiles OUTPUT.c
 * Every handler is a loop around a function that the C emitter prints, from the same kernel IR that
 * kernels use, so that a handler and an emitted kernel compute the same. The file is compiled once
 * for each CPU level, with TILE_LEVEL naming it. */
#include "emit/emit.h"
#include "tile/handlers.h"
#include "kir/builder.h"
#include "kir/define/define.h"
#include <stdio.h>
#include <string.h>

static const char *const C_TYPES[] = {"uint8_t",  "uint16_t", "uint32_t",
                                      "uint64_t", "float",    "double"};
static const char *const KIND_NAMES[] = {"u8", "u16", "u32", "u64", "f32", "f64"};
static const char *const ARGS[] = {"a", "b", "c"};

static hg_text functions, loops, places, rows, derived_rows, fold_loops, fold_rows;
static unsigned place_count, fold_count;
static bool failed;

static const char *c_type(uint8_t type) { return C_TYPES[kir_kind_of(type)]; }
static const char *kind_name(uint8_t type) { return KIND_NAMES[kir_kind_of(type)]; }

/* The start of a function on lanes: `what` before its name, its operands by their types; bit i of
 * `scalars`: operand i is one element. */
static void print_head(const char *what, const char *name, uint8_t result, uint8_t nargs,
                       const uint8_t *types, unsigned scalars) {
    hg_text_addf(&loops,
                 "static %s %s(void *d_, const void *a_, const void *b_, const void *c_, "
                 "uint64_t n) {\n    %s *d = d_;\n",
                 what, name, c_type(result));
    for (uint8_t i = 0; i < 3; i++) {
        if (i >= nargs)
            hg_text_addf(&loops, "    (void)%s_;\n", ARGS[i]);
        else if (scalars >> i & 1)
            hg_text_addf(&loops, "    const %s %s = *(const %s *)%s_;\n", c_type(types[i]), ARGS[i],
                         c_type(types[i]), ARGS[i]);
        else
            hg_text_addf(&loops, "    const %s *%s = %s_;\n", c_type(types[i]), ARGS[i], ARGS[i]);
    }
}

/* d[i] = f(…), and what follows the arguments of f. */
static void print_call(const char *f, uint8_t nargs, unsigned scalars, const char *end) {
    hg_text_addf(&loops, "d[i] = %s(", f);
    for (uint8_t i = 0; i < nargs; i++)
        hg_text_addf(&loops, "%s%s%s", i ? ", " : "", ARGS[i], scalars >> i & 1 ? "" : "[i]");
    hg_text_addf(&loops, "%s);\n", end);
}

/* The loop `name`: d[i] = f(…) with the arguments of `variant` as scalars. */
static void print_loop(const char *name, const char *f, uint8_t result, uint8_t nargs,
                       const uint8_t *types, unsigned variant, bool cheap) {
    print_head("void", name, result, nargs, types, variant);
    hg_text_addf(&loops, "    %s for (uint64_t i = 0; i < n; i++) ",
                 cheap ? "TILE_CHEAP_LOOP" : "TILE_LOOP");
    print_call(f, nargs, variant, "");
    hg_text_addf(&loops, "}\n");
}

/* The next place of `run`, for a handler of a primitive. */
static unsigned place_of(const char *name) {
    hg_text_addf(&places, "    %s,\n", name);
    return ++place_count;
}

/* A function of one primitive, as text. */
static void print_primitive(const char *name, kir_op op, uint8_t result, uint8_t nargs,
                            const uint8_t *types) {
    kir_module *m = kir_module_create(name);
    kir_function *f = m ? kir_function_create(m, name, result) : NULL;
    if (f) {
        f->pure = true;
        f->param_count = nargs;
        memcpy(f->param_types, types, nargs);
        kir_builder b;
        kir_builder_init(&b, m, f);
        kir_value *args[3] = {0};
        for (uint8_t i = 0; i < nargs; i++) args[i] = kir_param(&b, i);
        kir_return(&b, kir_emit(&b, op, result, nargs, args));
        if (b.failed || emit_c_function(f, name, &functions) != HG_OK) failed = true;
    } else {
        failed = true;
    }
    kir_module_destroy(m);
}

static void primitive(kir_op op, int kind, uint8_t result, uint8_t nargs, const uint8_t *types,
                      const uint8_t *variants, uint8_t variant_count) {
    char f[64], name[80];
    snprintf(f, sizeof f, "f_%s_%s", kir_op_name(op), KIND_NAMES[kind]);
    print_primitive(f, op, result, nargs, types);
    for (uint8_t i = 0; i < variant_count; i++) {
        snprintf(name, sizeof name, "t_%s_%s_%u", kir_op_name(op), KIND_NAMES[kind],
                 (unsigned)variants[i]);
        print_loop(name, f, result, nargs, types, variants[i], kir_op_has(op, KIR_F_CHEAP));
        hg_text_addf(&rows, "    .op[%d][%d][%u] = %u,\n", (int)op, kind, (unsigned)variants[i],
                     place_of(name));
    }
}

static void conversion(kir_op op, uint8_t from, uint8_t to) {
    char f[64], name[80];
    snprintf(f, sizeof f, "f_%s_%s_%s", kir_op_name(op), kind_name(from), kind_name(to));
    snprintf(name, sizeof name, "t_%s_%s_%s", kir_op_name(op), kind_name(from), kind_name(to));
    print_primitive(f, op, to, 1, &from);
    print_loop(name, f, to, 1, &from, 0, false);
    hg_text_addf(&rows, "    .convert[%d][%d][%d] = %u,\n", (int)op, kir_kind_of(from),
                 kir_kind_of(to), place_of(name));
}

/* A value primitive of class INT, FLOAT or ANY on elements of one kind, with each choice of
 * arguments that are scalars. */
static void row(kir_op op, int kind) {
    static const uint8_t NONE[] = {0}, EITHER[] = {0, 2, 1}, FMA[] = {0, 4, 2, 6},
                         SELECT[] = {0, 2, 4, 6};
    const kir_op_info *info = kir_op_get(op);
    uint8_t t = kir_kind_type(kind), types[] = {t, t, t},
            result = info->result == KIR_RESULT_BOOL ? (uint8_t)KIR_BOOL : t;
    if (info->class == KIR_CLASS_ANY) types[0] = KIR_BOOL;
    if (info->flags & KIR_F_SHIFTS) types[1] = HG_TYPE_U32;
    if (info->args == 1) primitive(op, kind, result, 1, types, NONE, 1);
    if (info->args == 2)
        primitive(op, kind, result, 2, types, EITHER, info->flags & KIR_F_COMMUTES ? 2 : 3);
    if (info->args == 3)
        primitive(op, kind, result, 3, types, info->class == KIR_CLASS_ANY ? SELECT : FMA, 4);
}

static void all_primitives(void) {
    for (int kind = 0; kind < KIR_KIND_COUNT; kind++)
        for (int op = 0; op < KIR_OP_COUNT; op++) {
            kir_op_class class = (kir_op_class)kir_op_get((kir_op)op)->class;
            bool is_float = kir_type_is_float(kir_kind_type(kind));
            if (class == KIR_CLASS_FLOAT
                    ? is_float
                    : (class == KIR_CLASS_INT || class == KIR_CLASS_ANY) && !is_float)
                row((kir_op)op, kind);
        }
}

static void all_conversions(void) {
    for (int from = 0; from < 4; from++)
        for (int to = 0; to < 4; to++) {
            if (to > from) conversion(KIR_ZEXT, kir_kind_type(from), kir_kind_type(to));
            if (to > from) conversion(KIR_SEXT, kir_kind_type(from), kir_kind_type(to));
            if (to < from) conversion(KIR_TRUNC, kir_kind_type(from), kir_kind_type(to));
        }
    for (int i = 0; i < 4; i++)
        for (int f = 4; f < 6; f++) {
            conversion(KIR_U2F, kir_kind_type(i), kir_kind_type(f));
            conversion(KIR_S2F, kir_kind_type(i), kir_kind_type(f));
            conversion(KIR_F2U, kir_kind_type(f), kir_kind_type(i));
            conversion(KIR_F2S, kir_kind_type(f), kir_kind_type(i));
        }
    conversion(KIR_F2F, HG_TYPE_F32, HG_TYPE_F64);
    conversion(KIR_F2F, HG_TYPE_F64, HG_TYPE_F32);
    conversion(KIR_H2F, HG_TYPE_U16, HG_TYPE_F32);
    conversion(KIR_F2H, HG_TYPE_F32, HG_TYPE_U16);
    conversion(KIR_B2F, HG_TYPE_U16, HG_TYPE_F32);
    conversion(KIR_F2B, HG_TYPE_F32, HG_TYPE_U16);
}

/* ---- definitions ---- */

typedef struct native {
    uint16_t fn;
    const char *name;
    bool f32, f64, integers;
} native;
static const native NATIVE[] = {
    {HG_OP_EXP, "exp", true, true, false},      {HG_OP_LOG, "log", true, true, false},
    {HG_OP_LOG2, "log2", true, true, false},    {HG_OP_LOG10, "log10", true, true, false},
    {HG_OP_RSQRT, "rsqrt", true, true, false},  {HG_OP_SIN, "sin", true, true, false},
    {HG_OP_COS, "cos", true, true, false},      {HG_OP_TAN, "tan", true, true, false},
    {HG_OP_TANH, "tanh", true, true, false},    {HG_OP_SIGMOID, "sigmoid", true, true, false},
    {HG_OP_GELU, "gelu", true, true, false},    {HG_OP_SWISH, "swish", true, true, false},
    {HG_OP_POW, "pow", true, true, false},      {HG_OP_ERF, "erf", true, true, false},
    {HG_OP_ATAN2, "atan2", true, true, false},  {HG_OP_EXP2, "exp2", true, true, false},
    {HG_OP_EXPM1, "expm1", true, true, false},  {HG_OP_LOG1P, "log1p", true, true, false},
    {HG_OP_CBRT, "cbrt", true, true, false},    {HG_OP_ERFC, "erfc", true, true, false},
    {HG_OP_ATAN, "atan", true, true, false},    {HG_OP_ASIN, "asin", true, true, false},
    {HG_OP_ACOS, "acos", true, true, false},    {HG_OP_SINH, "sinh", true, true, false},
    {HG_OP_COSH, "cosh", true, true, false},    {HG_OP_HYPOT, "hypot", true, true, false},
    {HG_OP_REM, "rem", true, true, false},      {HG_OP_MIN, "min", true, true, true},
    {HG_OP_MAX, "max", true, true, true},       {HG_OP_ABS, "abs", true, true, false},
    {HG_OP_NEG, "neg", true, true, false},      {HG_OP_SIGN, "sign", true, true, false},
    {HG_OP_CEIL, "ceil", true, true, false},    {HG_OP_ROUND, "round", true, true, false},
    {HG_OP_RCP, "rcp", true, true, false},      {KIR_FN_RELU, "relu", true, true, true},
    {HG_OP_CLAMP, "clamp", true, false, false}, {HG_OP_LERP, "lerp", true, false, false},
    {HG_OP_POPC, "popc", false, false, true},   {HG_OP_BREV, "brev", false, false, true},
    {HG_OP_MAD, "mad", true, true, false},      {HG_OP_FMS, "fms", true, true, false},
    {HG_OP_EXP10, "exp10", true, true, false},  {HG_OP_SINPI, "sinpi", true, true, false},
    {HG_OP_COSPI, "cospi", true, true, false},  {HG_OP_ASINH, "asinh", true, true, false},
    {HG_OP_ACOSH, "acosh", true, true, false},  {HG_OP_ATANH, "atanh", true, true, false},
    {HG_OP_DOT4, "dot4", false, false, true},
};

/* Whether a definition is long, so that two functions more cost less than lanes that are left. */
static bool is_long(const kir_function *f) {
    int length = 0;
    for (const kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body)) length++;
    return length > 40;
}

/* A definition as a tile_function. Its turns are `f`_common where it has branches, which are rare.
 */
static void print_function(const char *name, const char *f, const kir_function *function,
                           bool branches) {
    const uint8_t *types = function->param_types, nargs = function->param_count;
    char part[96];
    snprintf(part, sizeof part, "%s_turns", name);
    print_head("TILE_TURNS uint32_t", part, function->result, nargs, types, 0);
    hg_text_addf(&loops, "    uint32_t rare = 0;\n    n &= -(uint64_t)TILE_TURN(sizeof *d);\n"
                         "    TILE_LOOP for (uint64_t i = 0; i < n; i++) ");
    snprintf(part, sizeof part, "%s%s", f, branches ? "_common" : "");
    print_call(part, nargs, 0, branches ? ", &rare" : "");
    hg_text_addf(&loops, "    return rare;\n}\n");
    snprintf(part, sizeof part, "%s_lanes", name);
    print_head("TILE_LANES void", part, function->result, nargs, types, 0);
    hg_text_addf(&loops, "    for (uint64_t i = 0; i < n; i++) ");
    print_call(f, nargs, 0, "");
    hg_text_addf(&loops,
                 "}\nstatic void %s(void *d, const void *a, const void *b, const void *c, "
                 "uint64_t n) {\n    static const tile_function F = {%s_turns, %s_lanes, %s, {",
                 name, name, name, branches ? "true" : "false");
    for (uint8_t i = 0; i < nargs; i++) hg_text_addf(&loops, "sizeof(%s), ", c_type(types[i]));
    hg_text_addf(&loops,
                 "}, sizeof(%s), TILE_TURN(sizeof(%s))};\n"
                 "    tile_function_run(d, a, b, c, n, &F);\n}\n",
                 c_type(function->result), c_type(function->result));
}

/* Around all that is written of a definition that is not small. */
static void guard(bool small, const char *line) {
    hg_text *const parts[] = {&functions, &loops, &derived_rows};
    for (size_t i = 0; i < HG_COUNT_OF(parts) && !small; i++) hg_text_addf(parts[i], "%s", line);
}

static void definition(const native *row, hg_type type) {
    if (!kir_define_exists(row->fn, type)) return;
    char f[64], common[80], name[80];
    snprintf(f, sizeof f, "f_%s_%s", row->name, hg_type_name(type));
    snprintf(common, sizeof common, "%s_common", f);
    snprintf(name, sizeof name, "t_%s_%s", row->name, hg_type_name(type));
    kir_module *m = kir_module_create(f);
    kir_function *function = m ? kir_definition_function(m, row->fn, type, NULL) : NULL;
    hg_text fast = {0};
    bool has_branches = false, small = kir_define_is_small(row->fn, type);
    guard(small, "#if TILE_FUNCTIONS\n");
    if (!function || emit_c_function(function, f, &functions) != HG_OK) {
        failed = true;
    } else if (hg_type_is_float(type) && !small && is_long(function) &&
               emit_c_function_common(function, common, &fast, &has_branches) == HG_OK) {
        if (has_branches) hg_text_add(&functions, fast.data, fast.length);
        print_function(name, f, function, has_branches);
    } else {
        bool cheap = row->fn == KIR_FN_RELU || row->fn == HG_OP_ABS || row->fn == HG_OP_NEG;
        print_loop(name, f, function->result, function->param_count, function->param_types, 0,
                   cheap);
    }
    if (!failed)
        hg_text_addf(&derived_rows, "    {%d, %d, 0, %s},\n", (int)row->fn, (int)type, name);
    guard(small, "#endif\n");
    hg_text_free(&fast);
    kir_module_destroy(m);
}

static const native BYTES[] = {{HG_OP_CLS_GET, "class", false, false, false},
                               {HG_OP_MIRROR, "mirror", false, false, false}};

static void all_definitions(void) {
    static const hg_type INTEGERS[] = {HG_TYPE_I8, HG_TYPE_I16, HG_TYPE_I32, HG_TYPE_I64,
                                       HG_TYPE_U8, HG_TYPE_U16, HG_TYPE_U32, HG_TYPE_U64};
    for (size_t i = 0; i < HG_COUNT_OF(NATIVE); i++) {
        if (NATIVE[i].f32) definition(&NATIVE[i], HG_TYPE_F32);
        if (NATIVE[i].f64) definition(&NATIVE[i], HG_TYPE_F64);
        definition(&NATIVE[i], HG_TYPE_F16); /* where there is one */
        definition(&NATIVE[i], HG_TYPE_BF16);
        for (size_t k = 0; k < HG_COUNT_OF(INTEGERS) && NATIVE[i].integers; k++)
            definition(&NATIVE[i], INTEGERS[k]);
    }
    for (size_t i = 0; i < HG_COUNT_OF(BYTES); i++) definition(&BYTES[i], HG_TYPE_U8);
}

/* ---- folds ---- */

/* Bytes that are asked for ahead: the hardware stops at every page, and a chunk is four of them. A
 * fifth of the time of 64 MiB. */
enum { FOLD_AHEAD = 2048 };

static void fold(uint16_t fn, hg_type type, const char *f) {
    const char *c = c_type(kir_type_of(type));
    char name[80];
    snprintf(name, sizeof name, "r_%d_%s", (int)fn, hg_type_name(type));
    hg_text_addf(&fold_loops,
                 "static void %s(void *acc_, const void *x_, uint64_t rows) {\n    %s s[%d];\n    "
                 "const %s *x = x_;\n    memcpy(s, acc_, "
                 "sizeof s);\n",
                 name, c, TILE_FOLD, c);
    hg_text_addf(&fold_loops, "    for (; rows; rows--, x += %d) {\n", TILE_FOLD);
    hg_text_addf(&fold_loops,
                 "        for (uintptr_t p = 0; p < sizeof s; p += 64) __builtin_prefetch((const "
                 "void *)((uintptr_t)x + %d + p));\n",
                 FOLD_AHEAD);
    hg_text_addf(&fold_loops,
                 "        TILE_LOOP for (int i = 0; i < %d; i++) s[i] = %s(s[i], x[i]);\n    }\n   "
                 " memcpy(acc_, s, sizeof s);\n}\n",
                 TILE_FOLD, f);
    fold_count++;
    hg_text_addf(&fold_rows, "    {%d, %d, %s},\n", (int)fn, (int)type, name);
}

static void all_folds(void) {
    static const hg_type ALL[] = {HG_TYPE_I8,  HG_TYPE_I16, HG_TYPE_I32, HG_TYPE_I64, HG_TYPE_U8,
                                  HG_TYPE_U16, HG_TYPE_U32, HG_TYPE_U64, HG_TYPE_F32, HG_TYPE_F64};
    char f[64];
    for (size_t i = 0; i < HG_COUNT_OF(ALL); i++) {
        bool real = hg_type_is_float(ALL[i]);
        const char *kind = kind_name(kir_type_of(ALL[i]));
        snprintf(f, sizeof f, "f_%s_%s", kir_op_name(real ? KIR_FADD : KIR_ADD), kind);
        fold(HG_OP_ADD, ALL[i], f);
        snprintf(f, sizeof f, "f_%s_%s", kir_op_name(real ? KIR_FMUL : KIR_MUL), kind);
        fold(HG_OP_MUL, ALL[i], f);
        snprintf(f, sizeof f, "f_min_%s", hg_type_name(ALL[i]));
        fold(HG_OP_MIN, ALL[i], f);
        snprintf(f, sizeof f, "f_max_%s", hg_type_name(ALL[i]));
        fold(HG_OP_MAX, ALL[i], f);
    }
}

static const char HEAD[] =
    "/* Written by tools/gen_tiles. Compiled once for each CPU level; TILE_LEVEL is its name. */\n"
    "#include \"tile/handlers.h\"\n"
    "#include <math.h>\n"
    "#include <string.h>\n"
    "\n"
    "/* What is compiled: 1 handlers, 2 folds, 3 both. */\n"
    "#if !defined(TILE_PART)\n"
    "#define TILE_PART 3\n"
    "#endif\n"
    "#if TILE_PART & 1\n"
    "#include \"tile/wide_limbs.h\"\n"
    "#endif\n"
    "/* Lanes are independent: an element is read before the same element is written, never after "
    "another. */\n"
    "#if defined(__clang__)\n"
    "#define TILE_LOOP _Pragma(\"clang loop vectorize(assume_safety) interleave(enable)\")\n"
    "#elif defined(__GNUC__)\n"
    "#define TILE_LOOP _Pragma(\"GCC ivdep\")\n"
    "#define TILE_CHEAP_LOOP _Pragma(\"GCC unroll 2\") TILE_LOOP\n"
    "#else\n"
    "#define TILE_LOOP\n"
    "#endif\n"
    "#if !defined(TILE_CHEAP_LOOP)\n"
    "#define TILE_CHEAP_LOOP TILE_LOOP\n"
    "#endif\n"
    "/* All in one place, for vectors; and few or rare lanes, one by one. */\n"
    "#if !defined(TILE_TURNS)\n"
    "#define TILE_TURNS __attribute__((flatten))\n"
    "#endif\n"
    "#define TILE_LANES __attribute__((cold, noinline))\n"
    "/* Lanes of a turn: a vector of the level; of f64 as many as of 32 bits, which loops have "
    "beside them. */\n"
    "#if defined(__AVX512F__)\n"
    "#define TILE_VECTOR 64\n"
    "#else\n"
    "#define TILE_VECTOR 32\n"
    "#endif\n"
    "#define TILE_TURN(size) (TILE_VECTOR / ((size) > 4 ? 4 : (size)))\n"
    "/* SSE2 has no rounding instructions and gcc calls the C library then: the same by adding and "
    "subtracting 2^23, 2^52. */\n"
    "#if defined(__x86_64__) && !defined(__SSE4_1__)\n"
    "#define TILE_ROUNDING(type, suffix, magic) \\\n"
    "    static inline type tile_rint##suffix(type x) { \\\n"
    "        const type m = copysign##suffix(magic, x), r = copysign##suffix((x + m) - m, x); \\\n"
    "        return fabs##suffix(x) < magic ? r : x; \\\n"
    "    } \\\n"
    "    static inline type tile_floor##suffix(type x) { \\\n"
    "        const type r = tile_rint##suffix(x), below = r - 1; \\\n"
    "        return r > x ? below : r; \\\n"
    "    } \\\n"
    "    static inline type tile_trunc##suffix(type x) { return "
    "copysign##suffix(tile_floor##suffix(fabs##suffix(x)), x); }\n"
    "TILE_ROUNDING(float, f, 0x1p23f)\n"
    "TILE_ROUNDING(double, , 0x1p52)\n"
    "#define rintf tile_rintf\n"
    "#define rint tile_rint\n"
    "#define floorf tile_floorf\n"
    "#define floor tile_floor\n"
    "#define truncf tile_truncf\n"
    "#define trunc tile_trunc\n"
    "#endif\n"
    "/* In a module for pages a function is what its definition says, in primitives, until it is "
    "compiled: a tenth of the module. */\n"
    "#if !defined(TILE_FUNCTIONS)\n"
    "#define TILE_FUNCTIONS 1\n"
    "#endif\n"
    "#define PASTE2(a, b) a##b\n"
    "#define PASTE(a, b) PASTE2(a, b)\n"
    "#define TEXT2(a) #a\n"
    "#define TEXT(a) TEXT2(a)\n"
    "#define FOLDS PASTE(tile_folds_, TILE_LEVEL)\n"
    "extern const tile_fold FOLDS[];\n\n";

static bool write_file(const char *path) {
    FILE *out = fopen(path, "w");
    if (!out) return false;
    fputs(HEAD, out);
    fputs(functions.data ? functions.data : "", out);
    fprintf(out, "\n#if TILE_PART & 1\n%s", loops.data ? loops.data : "");
    fprintf(out, "\nstatic const tile_derived DERIVED[] = {\n%s    {0},\n};\n\n",
            derived_rows.data ? derived_rows.data : "");
    fprintf(out, "static tile_fn *const RUN[] = {\n    0,\n%s};\n\n",
            places.data ? places.data : "");
    fprintf(out,
            "const tile_handlers PASTE(tile_handlers_, TILE_LEVEL) = {\n    .name = "
            "TEXT(TILE_LEVEL),\n    .derived = DERIVED,\n"
            "    .derived_count = sizeof DERIVED / sizeof DERIVED[0] - 1,\n"
            "    .folds = FOLDS,\n    .fold_count = %u,\n"
            "    .run = RUN,\n    .wide = TILE_WIDE_TABLE,\n%s};\n#endif\n\n",
            fold_count, rows.data ? rows.data : "");
    fprintf(out, "#if TILE_PART & 2\n%sconst tile_fold FOLDS[] = {\n%s};\n#endif\n",
            fold_loops.data ? fold_loops.data : "", fold_rows.data ? fold_rows.data : "");
    return fclose(out) == 0;
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: gen_tiles OUTPUT.c\n");
        return 2;
    }
    all_primitives();
    all_conversions();
    all_definitions();
    all_folds();
    if (failed || functions.failed || loops.failed || places.failed || rows.failed ||
        derived_rows.failed || fold_loops.failed || fold_rows.failed) {
        fprintf(stderr, "gen_tiles: %s\n", hg_last_error_text());
        return 1;
    }
    if (!write_file(argv[1])) {
        fprintf(stderr, "gen_tiles: cannot write %s\n", argv[1]);
        return 1;
    }
    return 0;
}
