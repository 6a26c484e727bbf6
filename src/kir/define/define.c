/* The table of definitions and the functions that a module makes of them.
 * Must not know: targets, capabilities. */
#include "kir/define/define_internal.h"
#include "kir/builder.h"
#include "kir/define/define.h"
#include <stdio.h>

typedef struct definition {
    define_fn define;
    uint8_t args;
    bool integers; /* defined for integers (NOT: for them only) */
    bool small;    /* a handful of operations in every type: inlined. Those of wide integers are,
                      whatever stands here */
    bool bits;     /* of integers alone */
} definition;

static const definition DEFINITIONS[KIR_FN_COUNT] = {
    [HG_OP_REM] = {define_rem, 2, true, false, false},
    [HG_OP_MIN] = {define_min, 2, true, true, false},
    [HG_OP_MAX] = {define_max, 2, true, true, false},
    [HG_OP_MAD] = {define_mad, 3, true, true, false},
    [HG_OP_FMS] = {define_fms, 3, true, true, false},
    [HG_OP_ABS] = {define_abs, 1, true, true, false},
    [HG_OP_NEG] = {define_neg, 1, true, true, false},
    [HG_OP_NOT] = {define_not, 1, true, true, true},
    [HG_OP_CLAMP] = {define_clamp, 3, true, true, false},
    [HG_OP_LERP] = {define_lerp, 3, false, true, false},
    [HG_OP_SIGN] = {define_sign, 1, true, true, false},
    [HG_OP_CEIL] = {define_ceil, 1, true, true, false},
    [HG_OP_ROUND] = {define_round, 1, true, true, false},
    [HG_OP_EXP] = {define_exp, 1, false, false, false},
    [HG_OP_LOG] = {define_log, 1, false, false, false},
    [HG_OP_LOG2] = {define_log2, 1, false, false, false},
    [HG_OP_LOG10] = {define_log10, 1, false, false, false},
    [HG_OP_RSQRT] = {define_rsqrt, 1, false, false, false},
    [HG_OP_SIN] = {define_sin, 1, false, false, false},
    [HG_OP_COS] = {define_cos, 1, false, false, false},
    [HG_OP_TAN] = {define_tan, 1, false, false, false},
    [HG_OP_TANH] = {define_tanh, 1, false, false, false},
    [HG_OP_SIGMOID] = {define_sigmoid, 1, false, false, false},
    [HG_OP_GELU] = {define_gelu, 1, false, false, false},
    [HG_OP_SWISH] = {define_swish, 1, false, false, false},
    [HG_OP_POW] = {define_pow, 2, false, false, false},
    [HG_OP_RCP] = {define_rcp, 1, false, true, false},
    [KIR_FN_RELU] = {define_relu, 1, true, true, false},
    [HG_OP_EXP2] = {define_exp2, 1, false, false, false},
    [HG_OP_EXPM1] = {define_expm1, 1, false, false, false},
    [HG_OP_LOG1P] = {define_log1p, 1, false, false, false},
    [HG_OP_CBRT] = {define_cbrt, 1, false, false, false},
    [HG_OP_ERF] = {define_erf, 1, false, false, false},
    [HG_OP_ERFC] = {define_erfc, 1, false, false, false},
    [HG_OP_ATAN] = {define_atan, 1, false, false, false},
    [HG_OP_ATAN2] = {define_atan2, 2, false, false, false},
    [HG_OP_ASIN] = {define_asin, 1, false, false, false},
    [HG_OP_ACOS] = {define_acos, 1, false, false, false},
    [HG_OP_SINH] = {define_sinh, 1, false, false, false},
    [HG_OP_COSH] = {define_cosh, 1, false, false, false},
    [HG_OP_HYPOT] = {define_hypot, 2, false, false, false},
    [HG_OP_ASINH] = {define_asinh, 1, false, false, false},
    [HG_OP_ACOSH] = {define_acosh, 1, false, false, false},
    [HG_OP_ATANH] = {define_atanh, 1, false, false, false},
    [HG_OP_EXP10] = {define_exp10, 1, false, false, false},
    [HG_OP_SINPI] = {define_sinpi, 1, false, false, false},
    [HG_OP_COSPI] = {define_cospi, 1, false, false, false},
    [HG_OP_MULHI] = {define_mulhi, 2, true, true, true},
    [HG_OP_ADDS] = {define_adds, 2, true, true, true},
    [HG_OP_SUBS] = {define_subs, 2, true, true, true},
    [HG_OP_POPC] = {define_popc, 1, true, false, true},
    [HG_OP_CLZ] = {define_clz, 1, true, true, true},
    [HG_OP_CTZ] = {define_ctz, 1, true, true, true},
    [HG_OP_BREV] = {define_brev, 1, true, false, true},
    [HG_OP_BSWAP] = {define_bswap, 1, true, true, true},
    [HG_OP_POWM] = {define_powm, 3, true, false, true},
    [KIR_FN_FMA_BF16] = {define_fma_bf16, 3, false, false, false},
    [HG_OP_DOT4] = {define_dot4, 3, true, true, true},
    [HG_OP_CLS_GET] = {define_class, 1, true, true, false},
    [HG_OP_MIRROR] = {define_mirror, 1, true, true, false},
};

/* Of F32, rounded correctly. */
static kir_value *(*const NEAREST[KIR_FN_COUNT])(kir_builder *b, kir_value *x) = {
    [HG_OP_EXP] = nearest_exp,     [HG_OP_LOG] = nearest_log,     [HG_OP_LOG2] = nearest_log2,
    [HG_OP_LOG10] = nearest_log10, [HG_OP_SIN] = nearest_sin,     [HG_OP_COS] = nearest_cos,
    [HG_OP_TAN] = nearest_tan,     [HG_OP_TANH] = nearest_tanh,   [HG_OP_SIGMOID] = nearest_sigmoid,
    [HG_OP_GELU] = nearest_gelu,   [HG_OP_SWISH] = nearest_swish, [HG_OP_EXP2] = nearest_exp2,
    [HG_OP_EXPM1] = nearest_expm1, [HG_OP_LOG1P] = nearest_log1p, [HG_OP_CBRT] = nearest_cbrt,
    [HG_OP_ERF] = nearest_erf,     [HG_OP_ERFC] = nearest_erfc,   [HG_OP_ATAN] = nearest_atan,
    [HG_OP_ASIN] = nearest_asin,   [HG_OP_ACOS] = nearest_acos,   [HG_OP_SINH] = nearest_sinh,
    [HG_OP_COSH] = nearest_cosh,   [HG_OP_ASINH] = nearest_asinh, [HG_OP_ACOSH] = nearest_acosh,
    [HG_OP_ATANH] = nearest_atanh, [HG_OP_RSQRT] = nearest_rsqrt, [HG_OP_EXP10] = nearest_exp10,
    [HG_OP_SINPI] = nearest_sinpi, [HG_OP_COSPI] = nearest_cospi,
};

/* Of F32, F16 and BF16. */
static kir_value *(*const NEAREST_PAIRS[KIR_FN_COUNT])(kir_builder *b, hg_type type,
                                                       kir_value *const *arg) = {
    [HG_OP_POW] = nearest_pow, [HG_OP_ATAN2] = nearest_atan2, [HG_OP_HYPOT] = nearest_hypot};

static bool in_range(uint16_t fn, hg_type type) {
    return fn < KIR_FN_COUNT && type < HG_TYPE_COUNT && DEFINITIONS[fn].define;
}

bool kir_define_exists(uint16_t fn, hg_type type) {
    if (!in_range(fn, type)) return false;
    if (kir_is_half(type)) return NEAREST_PAIRS[fn];
    if (fn == HG_OP_POWM) return hg_type_is_unsigned(type);
    if (fn == KIR_FN_FMA_BF16) return type == HG_TYPE_F32;
    if (fn == HG_OP_DOT4) return type == HG_TYPE_I32 || type == HG_TYPE_U32;
    if (fn == HG_OP_CLS_GET || fn == HG_OP_MIRROR) return type == HG_TYPE_U8;
    return hg_type_is_float(type) ? !DEFINITIONS[fn].bits : DEFINITIONS[fn].integers;
}

uint8_t kir_define_args(uint16_t fn) { return fn < KIR_FN_COUNT ? DEFINITIONS[fn].args : 0; }

bool kir_define_is_small(uint16_t fn, hg_type type) {
    bool wide = hg_type_is_integer(type) && hg_type_size_bytes(type) > 8; /* no function takes wide
                                                                             integers */
    if (wide || (fn == HG_OP_REM && hg_type_is_integer(type))) return in_range(fn, type);
    return in_range(fn, type) && DEFINITIONS[fn].small;
}

kir_value *kir_define(kir_builder *b, uint16_t fn, hg_type type, kir_value *const *args) {
    if (type == HG_TYPE_F32 && NEAREST[fn]) return NEAREST[fn](b, args[0]);
    if (type != HG_TYPE_F64 && NEAREST_PAIRS[fn]) return NEAREST_PAIRS[fn](b, type, args);
    return DEFINITIONS[fn].define(b, type, args);
}

kir_function *kir_definition_function(kir_module *m, uint16_t fn, hg_type type,
                                      const kir_caps *caps) {
    if (!kir_define_exists(fn, type)) return NULL;
    kir_function ***row = &m->definitions[fn];
    if (!*row && !(*row = hg_arena_alloc(&m->arena, HG_TYPE_COUNT * sizeof **row))) return NULL;
    kir_function **cached = *row + type;
    if (*cached) return *cached;
    char name[64];
    snprintf(name, sizeof name, "%s_%s", kir_fn_name(fn), hg_type_name(type));
    kir_function *f = kir_function_create(m, name, kir_type_of(type));
    if (!f) return NULL;
    f->pure = true;
    f->param_count = DEFINITIONS[fn].args;
    for (uint8_t i = 0; i < f->param_count; i++) f->param_types[i] = kir_type_of(type);
    kir_builder b;
    kir_builder_init(&b, m, f);
    b.caps = caps;
    kir_value *args[3] = {0};
    for (uint8_t i = 0; i < f->param_count; i++) args[i] = kir_param(&b, i);
    kir_return(&b, kir_define(&b, fn, type, args));
    if (b.failed) return NULL;
    *cached = f;
    return f;
}
