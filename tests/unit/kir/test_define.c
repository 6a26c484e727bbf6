/* Definitions of derived functions and conversions against MPFR and plain C: largest error in ULP,
 * special values. With an argument N: N random values a function and type, and a table of the
 * errors found.
 * test: labels=slow */
#include "support/kir_eval.h"
#include "support/sanitized.h"
#include "test.h"
#include "kir/builder.h"
#include "kir/define/define.h"
#ifdef HG_HAVE_MPFR
#include <mpfr.h>
#endif

static uint64_t seed = UINT64_C(0x9E3779B97F4A7C15);
static uint64_t next_random(void) {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    return seed ^= seed << 17;
}

typedef struct tested {
    kir_module *module;
    kir_function *function;
    eval e;
} tested;

static tested prepare_for(uint16_t fn, hg_type type, const kir_caps *caps) {
    tested t = {kir_module_create("test"), NULL, {0}};
    CHECK(kir_function_create(t.module, "kernel", KIR_VOID)); /* the first function is the kernel,
                                                                 which takes nothing */
    t.function = kir_definition_function(t.module, fn, type, caps);
    CHECK_MESSAGE(t.function != NULL, "definition %u of %s", fn, hg_type_name(type));
    CHECK_MESSAGE(kir_verify(t.module) == HG_OK, "%u of %s: %s", fn, hg_type_name(type),
                  hg_last_error()->message);
    eval_begin(&t.e, t.module);
    return t;
}
static tested prepare(uint16_t fn, hg_type type) { return prepare_for(fn, type, NULL); }
static void finish(tested *t) {
    eval_end(&t->e);
    kir_module_destroy(t->module);
}
static eval_value call(tested *t, const eval_value *args) {
    return eval_function(&t->e, t->function, args, NULL);
}

static eval_value of_float(double x, bool wide) {
    uint64_t bits = 0;
    float f = (float)x;
    if (wide)
        memcpy(&bits, &x, 8);
    else
        memcpy(&bits, &f, 4);
    return ev_from(bits);
}
static double to_float(eval_value v, bool wide) {
    float f;
    double d;
    memcpy(&f, &v, 4);
    memcpy(&d, &v, 8);
    return wide ? d : (double)f;
}
static bool same(double x, double y) {
    return (isnan(x) && isnan(y)) || (x == y && signbit(x) == signbit(y));
}

#ifdef HG_HAVE_MPFR
typedef void (*oracle)(mpfr_t r, const mpfr_t x, const mpfr_t y);
/* clang-format off */
#define UNARY(name, call) static void name(mpfr_t r, const mpfr_t x, const mpfr_t y) { (void)y; call(r, x, MPFR_RNDN); }
UNARY(o_exp, mpfr_exp) UNARY(o_log, mpfr_log) UNARY(o_log2, mpfr_log2) UNARY(o_log10, mpfr_log10) UNARY(o_sin, mpfr_sin)
UNARY(o_cos, mpfr_cos) UNARY(o_tan, mpfr_tan) UNARY(o_tanh, mpfr_tanh) UNARY(o_erf, mpfr_erf) UNARY(o_rsqrt, mpfr_rec_sqrt)
UNARY(o_exp2, mpfr_exp2) UNARY(o_expm1, mpfr_expm1) UNARY(o_log1p, mpfr_log1p) UNARY(o_cbrt, mpfr_cbrt) UNARY(o_erfc, mpfr_erfc)
UNARY(o_atan, mpfr_atan) UNARY(o_asin, mpfr_asin) UNARY(o_acos, mpfr_acos) UNARY(o_sinh, mpfr_sinh) UNARY(o_cosh, mpfr_cosh)
UNARY(o_exp10, mpfr_exp10) UNARY(o_sinpi, mpfr_sinpi) UNARY(o_cospi, mpfr_cospi)
UNARY(o_asinh, mpfr_asinh) UNARY(o_acosh, mpfr_acosh) UNARY(o_atanh, mpfr_atanh)
    /* clang-format on */
    static void o_pow(mpfr_t r, const mpfr_t x, const mpfr_t y) {
    mpfr_pow(r, x, y, MPFR_RNDN);
}
static void o_atan2(mpfr_t r, const mpfr_t x, const mpfr_t y) { mpfr_atan2(r, x, y, MPFR_RNDN); }
static void o_hypot(mpfr_t r, const mpfr_t x, const mpfr_t y) { mpfr_hypot(r, x, y, MPFR_RNDN); }
static void o_sigmoid(mpfr_t r, const mpfr_t x, const mpfr_t y) {
    (void)y;
    mpfr_neg(r, x, MPFR_RNDN);
    mpfr_exp(r, r, MPFR_RNDN);
    mpfr_add_ui(r, r, 1, MPFR_RNDN);
    mpfr_ui_div(r, 1, r, MPFR_RNDN);
}
static void o_swish(mpfr_t r, const mpfr_t x, const mpfr_t y) {
    o_sigmoid(r, x, y);
    mpfr_mul(r, r, x, MPFR_RNDN);
}
static void o_gelu(mpfr_t r, const mpfr_t x, const mpfr_t y) { /* x · erfc(-x / sqrt 2) / 2 */
    (void)y;
    mpfr_sqrt_ui(r, 2, MPFR_RNDN);
    mpfr_div(r, x, r, MPFR_RNDN);
    mpfr_neg(r, r, MPFR_RNDN);
    mpfr_erfc(r, r, MPFR_RNDN);
    mpfr_mul(r, r, x, MPFR_RNDN);
    mpfr_div_ui(r, r, 2, MPFR_RNDN);
}

/* Error of got in units of the last place of the format at the true value (subnormal spacing at the
 * bottom). */
static double error_ulp(double got, const mpfr_t want, bool wide) {
    int precision = wide ? 53 : 24, least = wide ? -1074 : -149, most = wide ? 1024 : 128;
    if (mpfr_nan_p(want)) return isnan(got) ? 0 : INFINITY;
    if (isnan(got)) return INFINITY;
    if (!mpfr_zero_p(want) && mpfr_regular_p(want) && mpfr_get_exp(want) > most)
        return isinf(got) && (got > 0) == (mpfr_sgn(want) > 0) ? 0 : INFINITY;
    if (mpfr_inf_p(want)) return isinf(got) && (got > 0) == (mpfr_sgn(want) > 0) ? 0 : INFINITY;
    mpfr_t d;
    mpfr_init2(d, 300);
    long e = mpfr_zero_p(want) ? least : (long)mpfr_get_exp(want) - precision;
    if (e < least) e = least;
    if (e > most - precision) e = most - precision;
    if (isinf(got))
        mpfr_set_si_2exp(d, got > 0 ? 1 : -1, most, MPFR_RNDN); /* as if the range went on */
    else
        mpfr_set_d(d, got, MPFR_RNDN);
    mpfr_sub(d, d, want, MPFR_RNDN);
    mpfr_mul_2si(d, d, -e, MPFR_RNDN);
    double r = fabs(mpfr_get_d(d, MPFR_RNDN));
    mpfr_clear(d);
    return r;
}

typedef struct measured {
    const char *name;
    uint16_t fn;
    oracle o;
    double limit32, limit64;
    double low, high; /* ordinary arguments */
    double low64, high64;
} measured;

static const measured FUNCTIONS[] = {
    {"exp", HG_OP_EXP, o_exp, 1, 1, -104, 89, -746, 710},
    {"log", HG_OP_LOG, o_log, 1, 1, 0, 4, 0, 4},
    {"log2", HG_OP_LOG2, o_log2, 1, 1, 0, 4, 0, 4},
    {"log10", HG_OP_LOG10, o_log10, 1, 1, 0, 4, 0, 4},
    {"sin", HG_OP_SIN, o_sin, 1, 1, -30, 30, -30, 30},
    {"cos", HG_OP_COS, o_cos, 1, 1, -30, 30, -30, 30},
    {"tan", HG_OP_TAN, o_tan, 1, 1, -30, 30, -30, 30},
    {"tanh", HG_OP_TANH, o_tanh, 1, 1, -10, 10, -20, 20},
    {"rsqrt", HG_OP_RSQRT, o_rsqrt, 1, 1, 0, 16, 0, 16},
    {"sigmoid", HG_OP_SIGMOID, o_sigmoid, 2, 2, -105, 20, -750, 40},
    {"swish", HG_OP_SWISH, o_swish, 2, 2, -110, 70, -760, 70},
    {"gelu", HG_OP_GELU, o_gelu, 2, 4, -15, 16, -39, 40},
    {"erf", HG_OP_ERF, o_erf, 2, 2, -5, 5, -7, 7},
    {"pow", HG_OP_POW, o_pow, 2, 2, -3, 60, -3, 60},
    {"atan2", HG_OP_ATAN2, o_atan2, 2, 2, -3, 3, -3, 3},
    {"exp2", HG_OP_EXP2, o_exp2, 1, 1, -151, 129, -1076, 1025},
    {"exp10", HG_OP_EXP10, o_exp10, 1, 1, -46, 39, -324, 309},
    {"sinpi", HG_OP_SINPI, o_sinpi, 1, 1, -9, 9, -9, 9},
    {"cospi", HG_OP_COSPI, o_cospi, 1, 1, -9, 9, -9, 9},
    {"expm1", HG_OP_EXPM1, o_expm1, 1, 1, -20, 89, -40, 710},
    {"log1p", HG_OP_LOG1P, o_log1p, 1, 1, -1, 4, -1, 4},
    {"cbrt", HG_OP_CBRT, o_cbrt, 1, 1, -30, 30, -30, 30},
    {"erfc", HG_OP_ERFC, o_erfc, 2, 2, -5, 11, -7, 28},
    {"atan", HG_OP_ATAN, o_atan, 2, 2, -5, 5, -5, 5},
    {"asin", HG_OP_ASIN, o_asin, 2, 2, -1, 1, -1, 1},
    {"acos", HG_OP_ACOS, o_acos, 2, 2, -1, 1, -1, 1},
    {"sinh", HG_OP_SINH, o_sinh, 2, 2, -90, 90, -711, 711},
    {"cosh", HG_OP_COSH, o_cosh, 2, 2, -90, 90, -711, 711},
    {"hypot", HG_OP_HYPOT, o_hypot, 2, 2, -3, 3, -3, 3},
    {"asinh", HG_OP_ASINH, o_asinh, 2, 2, -4, 4, -4, 4},
    {"acosh", HG_OP_ACOSH, o_acosh, 2, 2, 1, 5, 1, 5},
    {"atanh", HG_OP_ATANH, o_atanh, 2, 2, -1, 1, -1, 1},
};

static double random_in(double low, double high) {
    return low + (high - low) * ((double)(next_random() >> 11) * 0x1p-53);
}
/* Every bit pattern, half of the time; else ordinary arguments. */
static eval_value random_argument(const measured *m, bool wide, uint64_t i) {
    if (i % 2) return ev_from(wide ? next_random() : next_random() >> 32);
    return of_float(wide ? random_in(m->low64, m->high64) : random_in(m->low, m->high), wide);
}

static void measure(const measured *m, bool wide, uint64_t count, bool table) {
    static const double edges[] = {0.0,
                                   -0.0,
                                   INFINITY,
                                   -INFINITY,
                                   NAN,
                                   1,
                                   -1,
                                   0.5,
                                   -0.5,
                                   2,
                                   -2,
                                   3,
                                   0x1p-149,
                                   -0x1p-149,
                                   0x1p-126,
                                   -0x1p-126,
                                   0x1p-1074,
                                   -0x1p-1074,
                                   0x1p-1022,
                                   0x1.fffffep127,
                                   -0x1.fffffep127,
                                   0x1.fffffffffffffp1023,
                                   -0x1.fffffffffffffp1023,
                                   0.875,
                                   0x1.921fb6p0,
                                   0x1.921fb54442d18p0,
                                   0x1.921fb54442d18p20,
                                   0x1.921fb4p16,
                                   0x1.921fb8p16,
                                   1e22,
                                   0x1.6ac5b262ca1ffp849,
                                   88.7,
                                   88.8,
                                   -87.4,
                                   -103.9,
                                   -104.1,
                                   709.7,
                                   709.8,
                                   -745.1,
                                   -745.2,
                                   -708.4,
                                   0x1p23,
                                   -0x1p24,
                                   0x1.fffffep-1,
                                   0x1.000002p0,
                                   0.7,
                                   10,
                                   100,
                                   1000};
    tested t = prepare(m->fn, wide ? HG_TYPE_F64 : HG_TYPE_F32);
    mpfr_t x, y, r;
    mpfr_inits2(300, x, y, r, (mpfr_ptr)0);
    double worst = 0, limit = wide ? m->limit64 : m->limit32, at = 0, at2 = 0;
    bool binary = kir_define_args(m->fn) == 2;
    uint64_t n = HG_COUNT_OF(edges), fixed = binary ? n * n : n;
    for (uint64_t i = 0; i < fixed + count; i++) {
        eval_value args[2];
        if (i < fixed) {
            args[0] = of_float(edges[i % n], wide);
            args[1] = of_float(edges[i / n], wide);
        } else {
            args[0] = random_argument(m, wide, i);
            args[1] = random_argument(m, wide, i / 2);
            /* where the power is neither 0 nor infinite */
            if (m->fn == HG_OP_POW && i % 4 == 3)
                args[1] = of_float(random_in(-1, 1) * (wide ? 750 : 105) /
                                       (fabs(log(fabs(to_float(args[0], wide)))) + 1e-30),
                                   wide);
        }
        double a = to_float(args[0], wide), b = to_float(args[1], wide);
        double got = to_float(call(&t, args), wide);
        mpfr_set_d(x, a, MPFR_RNDN);
        mpfr_set_d(y, b, MPFR_RNDN);
        m->o(r, x, y);
        if (a == -INFINITY && (m->fn == HG_OP_SWISH || m->fn == HG_OP_GELU)) mpfr_set_zero(r, -1);
        if (m->fn == HG_OP_RSQRT && a == 0) mpfr_set_inf(r, signbit(a) ? -1 : 1);
        if (m->fn == HG_OP_POW && isnan(pow(a, b)) == false && (isnan(a) || isnan(b)))
            mpfr_set_d(r, 1, MPFR_RNDN);
        double e = error_ulp(got, r, wide);
        if (mpfr_zero_p(r) && !mpfr_nan_p(r) && signbit(got) != (mpfr_signbit(r) != 0))
            e = INFINITY; /* exact zeros keep their sign */
        if (!(e <= worst)) {
            worst = e;
            at = a;
            at2 = b;
        }
    }
    CHECK_MESSAGE(worst <= limit, "%s.%s: %.4g ULP at (%a, %a)", m->name, wide ? "f64" : "f32",
                  worst, at, at2);
    if (table)
        printf("%-8s %s  %.4f ULP  at %a%s", m->name, wide ? "f64" : "f32", worst, at,
               binary ? ", " : "\n");
    if (table && binary) printf("%a\n", at2);
    mpfr_clears(x, y, r, (mpfr_ptr)0);
    finish(&t);
}

/* POW and ATAN2 by their slow paths alone, half of the pairs ties or next to one: MPFR's numbers,
 * rounded, and those of the paths as lanes take them. */
static void force_slow_paths(uint16_t fn, oracle o, hg_type type, uint64_t count) {
    const kir_caps caps = {.f64 = true, .slow_paths = true};
    tested slow = prepare_for(fn, type, &caps), usual = prepare(fn, type);
    bool power = fn == HG_OP_POW, half = kir_is_half(type);
    mpfr_t x, y, r;
    mpfr_inits2(300, x, y, r, (mpfr_ptr)0);
    for (uint64_t i = 0; i < count; i++) {
        double a, b;
        if (i % 2 == 0 && power) /* squares and cubes of odd numbers, 25 bits long at most */
            a = (double)(next_random() % (i % 4 ? 4096 : 128) * 2 + 1), b = i % 4 ? 2 : 3;
        else if (i % 2 == 0) /* quotients that are no normal numbers, at last a tie */
            a = (double)(next_random() % 128 * 2 + 1) * 0x1p-90, b = 0x1p60;
        else
            a = random_in(0.01, 60), b = random_in(-9, 9);
        uint64_t half_a = 0x3C00 + next_random() % 0x800, /* half_b: 0.5 to 8 */
            half_b = type == HG_TYPE_F16 ? 0x3800 + next_random() % 0x1000
                                         : 0x3F00 + next_random() % 0x200;
        eval_value args[2] = {half ? ev_from(half_a) : of_float(a, false),
                              half ? ev_from(half_b) : of_float(b, false)};
        eval_value got = call(&slow, args), want = call(&usual, args);
        CHECK_MESSAGE(ev_u64(&got) == ev_u64(&want), "%u.%s of %llx, %llx: %llx, not %llx", fn,
                      hg_type_name(type), (unsigned long long)ev_u64(&args[0]),
                      (unsigned long long)ev_u64(&args[1]), (unsigned long long)ev_u64(&got),
                      (unsigned long long)ev_u64(&want));
        if (half) continue;
        mpfr_set_d(x, to_float(args[0], false), MPFR_RNDN);
        mpfr_set_d(y, to_float(args[1], false), MPFR_RNDN);
        o(r, x, y);
        eval_value right = of_float((double)mpfr_get_flt(r, MPFR_RNDN), false);
        CHECK_MESSAGE(ev_u64(&got) == ev_u64(&right), "%u of %a, %a: %llx, not %llx", fn, a, b,
                      (unsigned long long)ev_u64(&got), (unsigned long long)ev_u64(&right));
    }
    mpfr_clears(x, y, r, (mpfr_ptr)0);
    finish(&slow);
    finish(&usual);
}
#endif

/* ---- exact functions against plain C ---- */

static double c_min(double x, double y) {
    return isnan(x) ? y : isnan(y) ? x : x == y ? (signbit(x) ? x : y) : x < y ? x : y;
}
static double c_max(double x, double y) {
    return isnan(x) ? y : isnan(y) ? x : x == y ? (signbit(x) ? y : x) : x > y ? x : y;
}
static double c_clamp(double x, double low, double high) {
    return isnan(x) ? x : c_min(c_max(x, low), high);
}

static double c_exact(uint16_t fn, bool wide, double x, double y, double z) {
    float a = (float)x, b = (float)y, c = (float)z;
    switch (fn) {
    case HG_OP_REM: return wide ? fmod(x, y) : (double)fmodf(a, b);
    case HG_OP_MIN: return c_min(x, y);
    case HG_OP_MAX: return c_max(x, y);
    case HG_OP_MAD: return wide ? x * y + z : (double)(a * b + c);
    case HG_OP_FMS: return wide ? fma(x, y, -z) : (double)fmaf(a, b, -c);
    case HG_OP_ABS: return fabs(x);
    case HG_OP_NEG: return -x;
    case HG_OP_CLAMP: return c_clamp(x, y, z);
    case HG_OP_LERP: return wide ? x + (y - x) * z : (double)(a + (b - a) * c);
    case HG_OP_SIGN: return isnan(x) ? x : x > 0 ? 1 : x < 0 ? -1 : 0;
    case HG_OP_CEIL: return ceil(x);
    case HG_OP_ROUND: return round(x);
    case HG_OP_RCP: return wide ? 1 / x : (double)(1 / a);
    default: return x > 0 ? x : 0; /* RELU */
    }
}

static const uint16_t EXACT[] = {HG_OP_REM,  HG_OP_MIN,   HG_OP_MAX,   HG_OP_MAD,  HG_OP_FMS,
                                 HG_OP_ABS,  HG_OP_NEG,   HG_OP_CLAMP, HG_OP_LERP, HG_OP_SIGN,
                                 HG_OP_CEIL, HG_OP_ROUND, HG_OP_RCP,   KIR_FN_RELU};

static eval_value random_real(bool wide) {
    static const double some[] = {
        0.0,      -0.0,           INFINITY, -INFINITY,     NAN,  1,        -1,
        0.5,      -0.5,           1.5,      2.5,           -2.5, 0x1p-149, 0x1.8p-148,
        0x1p-126, 0x1.fffffep127, 0x1p23,   0x1.fffffep22, 3,    7};
    uint64_t r = next_random();
    if (r % 3 == 0) return of_float(some[r / 3 % HG_COUNT_OF(some)], wide);
    if (r % 3 == 1) return of_float(random_in(-8, 8), wide);
    return ev_from(wide ? next_random() : next_random() >> 32);
}

static void exact_real(uint16_t fn, bool wide) {
    tested t = prepare(fn, wide ? HG_TYPE_F64 : HG_TYPE_F32);
    for (int i = 0; i < 3000; i++) {
        eval_value args[3] = {random_real(wide), random_real(wide), random_real(wide)};
        double x = to_float(args[0], wide), y = to_float(args[1], wide),
               z = to_float(args[2], wide);
        double got = to_float(call(&t, args), wide), want = c_exact(fn, wide, x, y, z);
        CHECK_MESSAGE(same(got, want), "%u.%s(%a, %a, %a) = %a, expected %a", fn,
                      wide ? "f64" : "f32", x, y, z, got, want);
    }
    finish(&t);
}

/* Integers of 8 bits are all tried, the others by edges and chance, in 128-bit C. */
__extension__ typedef __int128 i128;
__extension__ typedef unsigned __int128 u128;
static i128 c_integer(uint16_t fn, i128 x, i128 y, i128 z) {
    switch (fn) {
    case HG_OP_REM: return y == 0 ? 0 : x % y;
    case HG_OP_MIN: return x < y ? x : y;
    case HG_OP_MAX: return x > y ? x : y;
    case HG_OP_MAD: return (i128)((u128)x * (u128)y + (u128)z); /* modulo 2^128 */
    case HG_OP_FMS: return (i128)((u128)x * (u128)y - (u128)z);
    case HG_OP_ABS: return x < 0 ? -x : x;
    case HG_OP_NEG: return -x;
    case HG_OP_NOT: return ~x;
    case HG_OP_CLAMP: x = x > y ? x : y; return x < z ? x : z;
    case HG_OP_SIGN: return x > 0 ? 1 : x < 0 ? -1 : 0;
    case KIR_FN_RELU: return x > 0 ? x : 0;
    default: return x; /* CEIL, ROUND */
    }
}
static const uint16_t INTEGER[] = {HG_OP_REM,  HG_OP_MIN,   HG_OP_MAX,  HG_OP_MAD,   HG_OP_FMS,
                                   HG_OP_ABS,  HG_OP_NEG,   HG_OP_NOT,  HG_OP_CLAMP, HG_OP_SIGN,
                                   HG_OP_CEIL, HG_OP_ROUND, KIR_FN_RELU};

static i128 as_integer(eval_value v, hg_type type) {
    uint64_t u = ev_u64(&v), bits = 8 * hg_type_size_bytes(type);
    if (!hg_type_is_signed(type)) return (i128)u;
    return bits == 64 ? (int64_t)u : (int64_t)(u << (64 - bits)) >> (64 - bits);
}
static void exact_integer(uint16_t fn, hg_type type) {
    tested t = prepare(fn, type);
    uint64_t bits = 8 * hg_type_size_bytes(type),
             mask = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    const uint64_t edges[] = {0, 1, 2, mask, mask >> 1, (mask >> 1) + 1, mask - 1};
    for (int i = 0; i < 600; i++) {
        eval_value args[3];
        for (int j = 0; j < 3; j++)
            args[j] = ev_from((next_random() % 2 ? edges[next_random() % 7] : next_random()) &
                              mask);
        uint64_t got = (uint64_t)as_integer(call(&t, args), type) & mask;
        uint64_t want = (uint64_t)c_integer(fn, as_integer(args[0], type),
                                            as_integer(args[1], type), as_integer(args[2], type)) &
                        mask;
        CHECK_MESSAGE(got == want, "%u.%s(%llx, %llx, %llx) = %llx, expected %llx", fn,
                      hg_type_name(type), (unsigned long long)ev_u64(&args[0]),
                      (unsigned long long)ev_u64(&args[1]), (unsigned long long)ev_u64(&args[2]),
                      (unsigned long long)got, (unsigned long long)want);
    }
    finish(&t);
}

/* ---- conversions ---- */

/* What CVT gives, by exact rational steps: a value is sign · m · 2^e with m below 2^4096 (an
 * eval_value). */
typedef struct exact {
    bool nan, infinite, negative;
    eval_value m;
    int e;
} exact;

static exact exact_of(hg_type type, eval_value v) {
    exact x = {.e = 0};
    uint32_t bits = (uint32_t)(8 * hg_type_size_bytes(type));
    if (hg_type_is_integer(type)) {
        x.negative = hg_type_is_signed(type) && ev_bit(&v, bits - 1);
        x.m = x.negative ? ev_neg(&v, bits) : v;
        return x;
    }
    uint32_t fraction = type == HG_TYPE_F16    ? 10
                        : type == HG_TYPE_BF16 ? 7
                        : type == HG_TYPE_F32  ? 23
                                               : 52;
    uint64_t u = ev_u64(&v), top = (UINT64_C(1) << (bits - 1 - fraction)) - 1,
             exponent = u >> fraction & top;
    uint64_t m = u & ((UINT64_C(1) << fraction) - 1);
    x.negative = u >> (bits - 1);
    x.nan = exponent == top && m;
    x.infinite = exponent == top && !m;
    x.m = ev_from(exponent ? m | UINT64_C(1) << fraction : m);
    x.e = (int)(exponent ? exponent : 1) - (int)(top / 2) - (int)fraction;
    return x;
}
/* Rounded to nearest even into a float format, by comparing with half of the last place. */
static uint64_t round_exact(exact x, uint32_t bits, uint32_t fraction) {
    uint64_t top = (UINT64_C(1) << (bits - 1 - fraction)) - 1,
             sign = (uint64_t)x.negative << (bits - 1);
    if (x.nan) return top << fraction | 1;
    uint32_t length = ev_length(&x.m);
    if (x.infinite) return sign | top << fraction;
    if (!length) return sign;
    int least = 1 - (int)(top / 2) - (int)fraction, place = (int)length + x.e - (int)fraction - 1;
    if (place < least) place = least;
    eval_value q;
    int cut = place - x.e;
    if (cut <= 0) {
        q = ev_shl(&x.m, (uint32_t)-cut, 4096);
    } else if (cut > (int)length + 1) {
        q = ev_from(0);
    } else {
        eval_value one = ev_from(1);
        q = ev_shr(&x.m, (uint32_t)cut, 4096, false);
        eval_value back = ev_shl(&q, (uint32_t)cut, 4096), rest = ev_sub(&x.m, &back, 4096),
                   half = ev_shl(&one, (uint32_t)cut - 1, 4096);
        int c = ev_cmp(&rest, &half);
        if (c > 0 || (c == 0 && (q.limb[0] & 1))) q = ev_add(&q, &one, 4096);
    }
    if (place - least > (int)top) return sign | top << fraction;
    uint64_t n = ev_u64(&q); /* at most 2^(fraction + 1) */
    uint64_t result = n + ((uint64_t)(place - least) << fraction);
    return sign | (result >> fraction >= top ? top << fraction : result);
}
static eval_value convert_exact(hg_type dst, hg_type src, eval_value v) {
    exact x = exact_of(src, v);
    uint32_t bits = (uint32_t)(8 * hg_type_size_bytes(dst));
    if (dst == HG_TYPE_F16) return ev_from(round_exact(x, 16, 10));
    if (dst == HG_TYPE_BF16) return ev_from(round_exact(x, 16, 7));
    if (dst == HG_TYPE_F32) return ev_from(round_exact(x, 32, 23));
    if (dst == HG_TYPE_F64) return ev_from(round_exact(x, 64, 52));
    eval_value r = x.m, one = ev_from(1);
    if (hg_type_is_integer(src)) {
        r = x.negative ? ev_neg(&r, 4096) : r;
        ev_cut(&r, bits);
        return r;
    }
    if (x.nan) return ev_from(0);
    uint32_t room = hg_type_is_signed(dst) ? bits - 1 : bits;
    bool over = x.infinite || (int)ev_length(&x.m) + x.e > (int)room;
    if (x.negative && !hg_type_is_signed(dst)) return ev_from(0);
    if (over) {
        r = room < 4096 ? ev_shl(&one, room, 4096) : ev_from(0);
        if (!x.negative) r = ev_sub(&r, &one, 4096);
        ev_cut(&r, bits);
        return r;
    }
    r = x.e >= 0       ? ev_shl(&r, (uint32_t)x.e, 4096)
        : x.e <= -4096 ? ev_from(0)
                       : ev_shr(&r, (uint32_t)-x.e, 4096, false);
    return x.negative ? ev_neg(&r, bits) : r;
}

static bool is_nan_of(hg_type type, eval_value v) {
    return hg_type_is_float(type) && exact_of(type, v).nan;
}

static eval_value random_of(hg_type type) {
    uint32_t bits = (uint32_t)(8 * hg_type_size_bytes(type));
    eval_value v = {{0}};
    uint64_t r = next_random();
    if (hg_type_is_float(type)) {
        if (r % 4 == 0)
            return convert_exact(type, HG_TYPE_F64, of_float(random_in(-70000, 70000), true));
        if (r % 4 == 1)
            return convert_exact(type, HG_TYPE_F64, of_float(rint(random_in(-600, 600)) / 2, true));
        v = ev_from(next_random());
        ev_cut(&v, bits);
        return v;
    }
    for (uint32_t i = 0; i < ev_limbs(bits); i++) v.limb[i] = (uint32_t)next_random();
    ev_cut(&v, bits);
    if (r % 3) { /* few leading bits, sign bits in front, or half-way patterns */
        uint32_t cut = (uint32_t)(next_random() % bits);
        v = ev_shr(&v, cut, bits, r & 1);
        if (r & 2) {
            uint32_t clear = (uint32_t)(next_random() % bits);
            v = ev_shr(&v, clear, bits, false);
            v = ev_shl(&v, clear, bits);
        }
    }
    return v;
}

static void conversions(hg_type dst, hg_type src, int count) {
    kir_module *m = kir_module_create("cvt");
    CHECK(kir_function_create(m, "kernel", KIR_VOID));
    kir_function *f = kir_function_create(m, "cvt", kir_type_of(dst));
    f->param_count = 1;
    f->param_types[0] = kir_type_of(src);
    kir_builder b;
    kir_builder_init(&b, m, f);
    kir_return(&b, kir_cvt(&b, dst, src, kir_param(&b, 0)));
    CHECK_MESSAGE(!b.failed && kir_verify(m) == HG_OK, "cvt.%s.%s: %s", hg_type_name(dst),
                  hg_type_name(src), hg_last_error()->message);
    tested t = {m, f, {0}};
    eval_begin(&t.e, m);
    for (int i = 0; i < count; i++) {
        eval_value v = random_of(src), got = call(&t, &v), want = convert_exact(dst, src, v);
        bool good = (is_nan_of(dst, want) && is_nan_of(dst, got)) || ev_cmp(&got, &want) == 0;
        CHECK_MESSAGE(good, "cvt.%s.%s of %llx%016llx = %llx, expected %llx", hg_type_name(dst),
                      hg_type_name(src),
                      (unsigned long long)(v.limb[2] | (uint64_t)v.limb[3] << 32),
                      (unsigned long long)ev_u64(&v), (unsigned long long)ev_u64(&got),
                      (unsigned long long)ev_u64(&want));
    }
    finish(&t);
}

/* In the upper half too where a f32 is: both zeros, 1, numbers between, infinities of both types,
 * NaNs quiet and not. */
static const uint64_t REALS[] = {
    0,
    1,
    UINT64_C(1) << 63,
    UINT64_C(0x3FF) << 52,
    UINT64_C(0xBFF) << 52,
    UINT64_C(0x7F8) << 52,
    UINT64_C(0xFF8) << 52,
    UINT64_C(0x7FF) << 52,
    UINT64_C(0xFFF) << 52,
    UINT64_C(0x7FF8) << 48,
    UINT64_C(0x7FF4) << 48,
    UINT64_C(0xFFF8) << 48,
    UINT64_MAX,
};

/* MIN and MAX with a constant have fewer operations, and the same results. */
static void check_extreme_of(uint16_t fn, hg_type type, uint64_t constant, bool last) {
    tested with = {kir_module_create("test"), NULL, {0}}, both = prepare(fn, type);
    CHECK(kir_function_create(with.module, "kernel", KIR_VOID));
    with.function = kir_function_create(with.module, "with", kir_type_of(type));
    with.function->pure = true;
    with.function->param_count = 1;
    with.function->param_types[0] = kir_type_of(type);
    kir_builder b;
    kir_builder_init(&b, with.module, with.function);
    kir_value *x = kir_param(&b, 0), *c = kir_const(&b, kir_type_of(type), constant);
    kir_return(&b, kir_define(&b, fn, type, last ? (kir_value *[]){x, c} : (kir_value *[]){c, x}));
    CHECK(!b.failed && kir_verify(with.module) == HG_OK);
    eval_begin(&with.e, with.module);
    for (size_t i = 0; i < HG_COUNT_OF(REALS); i++) {
        eval_value arg = ev_from(type == HG_TYPE_F64 ? REALS[i] : (uint32_t)(REALS[i] >> 32)),
                   fixed = ev_from(constant);
        eval_value got = call(&with, &arg), want = call(&both, last ? (eval_value[]){arg, fixed}
                                                                    : (eval_value[]){fixed, arg});
        CHECK_U64(ev_u64(&got), ev_u64(&want));
        if (fn != HG_OP_MAX || constant != 0) continue;
        tested relu = prepare(KIR_FN_RELU, type);
        got = call(&relu, &arg);
        CHECK_U64(ev_u64(&got), ev_u64(&want));
        finish(&relu);
    }
    finish(&with);
    finish(&both);
}

static void check_extremes(void) {
    for (size_t i = 0; i < HG_COUNT_OF(REALS); i++)
        for (int how = 0; how < 8; how++) {
            hg_type type = how & 1 ? HG_TYPE_F64 : HG_TYPE_F32;
            check_extreme_of(how & 2 ? HG_OP_MAX : HG_OP_MIN, type,
                             how & 1 ? REALS[i] : REALS[i] >> 32, how & 4);
        }
}

int main(int argc, char **argv) {
    uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : SANITIZED ? 60 : 300;
#ifdef HG_HAVE_MPFR
    for (size_t i = 0; i < HG_COUNT_OF(FUNCTIONS); i++) {
        if (argc > 2 && strcmp(argv[2], FUNCTIONS[i].name) != 0) continue;
        measure(&FUNCTIONS[i], false, count, argc > 1);
        measure(&FUNCTIONS[i], true, count, argc > 1);
    }
    static const hg_type SLOW[] = {HG_TYPE_F32, HG_TYPE_F16, HG_TYPE_BF16};
    for (size_t i = 0; i < HG_COUNT_OF(SLOW) && argc <= 2; i++) {
        force_slow_paths(HG_OP_POW, o_pow, SLOW[i], count);
        force_slow_paths(HG_OP_ATAN2, o_atan2, SLOW[i], count);
    }
#else
    (void)count;
    SKIP("no MPFR");
#endif
    if (argc > 2) return test_done();
    for (size_t i = 0; i < HG_COUNT_OF(EXACT); i++) {
        exact_real(EXACT[i], false);
        exact_real(EXACT[i], true);
    }
    for (size_t i = 0; i < HG_COUNT_OF(INTEGER); i++)
        for (int type = 0; type < HG_TYPE_COUNT; type++)
            if (hg_type_is_integer((hg_type)type) && hg_type_size_bytes((hg_type)type) <= 8)
                exact_integer(INTEGER[i], (hg_type)type);
    for (int dst = 0; dst < HG_TYPE_COUNT; dst++)
        for (int src = 0; src < HG_TYPE_COUNT; src++) conversions((hg_type)dst, (hg_type)src, 100);
    check_extremes();
    return test_done();
}
