/* The library through its public interface, and its peers: glibc, libmvec and SLEEF where they are
 * on this machine. */
#include "accuracy.h"
#include "support/native_told.h"
#include <hologram/backend.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#define VECTORS __attribute__((target("avx2,fma")))
#endif

struct subject {
    int which;
    const function *f;
    bool wide;
    const char *half;
    hg_backend *backend;
    hg_program *program;
    hg_params *params;
    hg_buffer buffers[3]; /* out, x, y */
};

const char *subject_name(int which) {
    static const char *const NAMES[SUBJECTS] = {"hologram", "glibc", "libmvec", "sleef"};
    return NAMES[which];
}

/* ---- the library ---- */

static uint32_t size_of(const subject *s) { return s->half ? 2 : s->wide ? 8 : 4; }

static int program_text(const subject *s, char *text, size_t room) {
    const function *f = s->f;
    const char *t = s->half ? s->half : s->wide ? "f64" : "f32";
    int n = snprintf(
        text, room,
        ".atlas 1\n.program accuracy\n.param r1 out buffer %s out\n.param r2 x buffer %s in\n", t,
        t);
    if (f->args == 2) n += snprintf(text + n, room - (size_t)n, ".param r3 y buffer %s in\n", t);
    n += snprintf(text + n, room - (size_t)n,
                  "    mov_imm.u32 r9, %d\n    shl.u64 r8, r255, r9\n    ldg.%s r10, [r2 + r8]\n",
                  s->half   ? 1
                  : s->wide ? 3
                            : 2,
                  t);
    if (f->args == 2) n += snprintf(text + n, room - (size_t)n, "    ldg.%s r11, [r3 + r8]\n", t);
    return n + snprintf(text + n, room - (size_t)n,
                        "    %s.%s r12, r10%s\n    stg.%s [r1 + r8], r12\n", f->name, t,
                        f->args == 2 ? ", r11" : "", t);
}

static hg_status library_begin(subject *s, const library_choice *choice) {
    static const char *const NAMES[] = {"out", "x", "y"};
    char text[1024];
    int length = program_text(s, text, sizeof text);
    hg_config config;
    hg_status status = hg_config_from_env(&config); /* time-outs of on.sh */
    if (status != HG_OK) return status;
    snprintf(config.backend, sizeof config.backend, "%s", choice->backend);
    snprintf(config.pretend, sizeof config.pretend, "%s", choice->pretend);
    snprintf(config.cpu_level, sizeof config.cpu_level, "%s", choice->level);
    snprintf(config.jit, sizeof config.jit, "%s", choice->jit);
    config.num_threads = 1;
    status = hg_backend_create_with_config(&config, &s->backend);
    if (status == HG_OK) status = native_listen(s->backend);
    if (status == HG_OK) status = hg_program_assemble(text, (uint64_t)length, NULL, &s->program);
    if (status == HG_OK) status = hg_program_verify(s->program, NULL);
    s->params = hg_params_create();
    for (int i = 0; i < 1 + s->f->args && status == HG_OK; i++) {
        status = hg_backend_allocate_buffer(s->backend, (uint64_t)CHUNK * size_of(s),
                                            &s->buffers[i]);
        if (status == HG_OK) status = hg_params_set_buffer(s->params, NAMES[i], s->buffers[i]);
    }
    return status;
}

static bool library_run(subject *s, const void *x, const void *y, void *out, size_t n) {
    uint64_t bytes = (uint64_t)n * size_of(s);
    hg_launch launch = HG_LAUNCH_INIT;
    launch.block[0] = 256;
    launch.grid[0] = CHUNK / 256;
    hg_status status = hg_backend_copy_to_buffer(s->backend, s->buffers[1], x, bytes);
    if (status == HG_OK && s->f->args == 2)
        status = hg_backend_copy_to_buffer(s->backend, s->buffers[2], y, bytes);
    if (status == HG_OK)
        status = hg_backend_execute_program_with_params(s->backend, s->program, &launch, s->params);
    if (status == HG_OK)
        status = hg_backend_copy_from_buffer(s->backend, s->buffers[0], out, bytes);
    if (status != HG_OK) fprintf(stderr, "accuracy: %s: %s\n", s->f->name, hg_last_error_text());
    return status == HG_OK;
}

/* ---- glibc: one call for each element ---- */

#define EACH(type, call)                                         \
    for (size_t i = 0; i < n; i++) {                             \
        type a = ((const type *)x)[i], b = ((const type *)y)[i]; \
        (void)b;                                                 \
        ((type *)out)[i] = call;                                 \
    }                                                            \
    break
static void glibc_run(const function *f, bool wide, const void *x, const void *y, void *out,
                      size_t n) {
    switch (f->id * 2 + (wide ? 1 : 0)) {
    case FN_EXP * 2: EACH(float, expf(a));
    case FN_EXP * 2 + 1: EACH(double, exp(a));
    case FN_LOG * 2: EACH(float, logf(a));
    case FN_LOG * 2 + 1: EACH(double, log(a));
    case FN_LOG2 * 2: EACH(float, log2f(a));
    case FN_LOG2 * 2 + 1: EACH(double, log2(a));
    case FN_LOG10 * 2: EACH(float, log10f(a));
    case FN_LOG10 * 2 + 1: EACH(double, log10(a));
    case FN_SIN * 2: EACH(float, sinf(a));
    case FN_SIN * 2 + 1: EACH(double, sin(a));
    case FN_COS * 2: EACH(float, cosf(a));
    case FN_COS * 2 + 1: EACH(double, cos(a));
    case FN_TAN * 2: EACH(float, tanf(a));
    case FN_TAN * 2 + 1: EACH(double, tan(a));
    case FN_TANH * 2: EACH(float, tanhf(a));
    case FN_TANH * 2 + 1: EACH(double, tanh(a));
    case FN_ERF * 2: EACH(float, erff(a));
    case FN_ERF * 2 + 1: EACH(double, erf(a));
    case FN_POW * 2: EACH(float, powf(a, b));
    case FN_POW * 2 + 1: EACH(double, pow(a, b));
    case FN_EXP2 * 2: EACH(float, exp2f(a));
    case FN_EXP2 * 2 + 1: EACH(double, exp2(a));
    case FN_EXP10 * 2: EACH(float, exp10f(a));
    case FN_EXP10 * 2 + 1: EACH(double, exp10(a));
    case FN_EXPM1 * 2: EACH(float, expm1f(a));
    case FN_EXPM1 * 2 + 1: EACH(double, expm1(a));
    case FN_LOG1P * 2: EACH(float, log1pf(a));
    case FN_LOG1P * 2 + 1: EACH(double, log1p(a));
    case FN_CBRT * 2: EACH(float, cbrtf(a));
    case FN_CBRT * 2 + 1: EACH(double, cbrt(a));
    case FN_ERFC * 2: EACH(float, erfcf(a));
    case FN_ERFC * 2 + 1: EACH(double, erfc(a));
    case FN_ATAN * 2: EACH(float, atanf(a));
    case FN_ATAN * 2 + 1: EACH(double, atan(a));
    case FN_ASIN * 2: EACH(float, asinf(a));
    case FN_ASIN * 2 + 1: EACH(double, asin(a));
    case FN_ACOS * 2: EACH(float, acosf(a));
    case FN_ACOS * 2 + 1: EACH(double, acos(a));
    case FN_SINH * 2: EACH(float, sinhf(a));
    case FN_SINH * 2 + 1: EACH(double, sinh(a));
    case FN_COSH * 2: EACH(float, coshf(a));
    case FN_COSH * 2 + 1: EACH(double, cosh(a));
    case FN_ASINH * 2: EACH(float, asinhf(a));
    case FN_ASINH * 2 + 1: EACH(double, asinh(a));
    case FN_ACOSH * 2: EACH(float, acoshf(a));
    case FN_ACOSH * 2 + 1: EACH(double, acosh(a));
    case FN_ATANH * 2: EACH(float, atanhf(a));
    case FN_ATANH * 2 + 1: EACH(double, atanh(a));
    case FN_HYPOT * 2: EACH(float, hypotf(a, b));
    case FN_HYPOT * 2 + 1: EACH(double, hypot(a, b));
    case FN_ATAN2 * 2: EACH(float, atan2f(a, b));
    default: EACH(double, atan2(a, b));
    }
}

/* ---- vector libraries: one list for both, since their functions differ in names only; SLEEF's
 * name the exactness ---- */

#if defined(__x86_64__)
/* clang-format off */
#define ALL(ONE, TWO)                                                                                      \
    ONE(EXP, exp, u10) ONE(EXP2, exp2, u10) ONE(EXP10, exp10, u10) ONE(EXPM1, expm1, u10) ONE(LOG, log, u10) ONE(LOG2, log2, u10) \
    ONE(LOG10, log10, u10) ONE(LOG1P, log1p, u10) ONE(CBRT, cbrt, u10) ONE(SIN, sin, u10) ONE(COS, cos, u10) \
    ONE(TAN, tan, u10) ONE(ASIN, asin, u10) ONE(ACOS, acos, u10) ONE(ATAN, atan, u10) ONE(SINH, sinh, u10) \
    ONE(ASINH, asinh, u10) ONE(ACOSH, acosh, u10) ONE(ATANH, atanh, u10) \
    ONE(COSH, cosh, u10) ONE(TANH, tanh, u10) ONE(ERF, erf, u10) ONE(ERFC, erfc, u15) \
    TWO(POW, pow, u10) TWO(ATAN2, atan2, u10) TWO(HYPOT, hypot, u05)
/* clang-format on */
typedef struct vectors {
    __m256 (*f32)(__m256), (*f32_2)(__m256, __m256);
    __m256d (*f64)(__m256d), (*f64_2)(__m256d, __m256d);
} vectors;

#if defined(HG_HAVE_MVEC)
#define ONE(id, name, exactness)              \
    extern __m256 _ZGVdN8v_##name##f(__m256); \
    extern __m256d _ZGVdN4v_##name(__m256d);
#define TWO(id, name, exactness)                       \
    extern __m256 _ZGVdN8vv_##name##f(__m256, __m256); \
    extern __m256d _ZGVdN4vv_##name(__m256d, __m256d);
ALL(ONE, TWO)
#undef ONE
#undef TWO
#define ONE(id, name, exactness) [FN_##id] = {_ZGVdN8v_##name##f, NULL, _ZGVdN4v_##name, NULL},
#define TWO(id, name, exactness) [FN_##id] = {NULL, _ZGVdN8vv_##name##f, NULL, _ZGVdN4vv_##name},
static const vectors LIBMVEC[FN_COUNT] = {ALL(ONE, TWO)};
#undef ONE
#undef TWO
#endif

#if defined(HG_HAVE_SLEEF)
#define ONE(id, name, exactness)                              \
    extern __m256 Sleef_##name##f8_##exactness##avx2(__m256); \
    extern __m256d Sleef_##name##d4_##exactness##avx2(__m256d);
#define TWO(id, name, exactness)                                      \
    extern __m256 Sleef_##name##f8_##exactness##avx2(__m256, __m256); \
    extern __m256d Sleef_##name##d4_##exactness##avx2(__m256d, __m256d);
ALL(ONE, TWO)
#undef ONE
#undef TWO
#define ONE(id, name, exactness)                                                               \
    [FN_##id] = {Sleef_##name##f8_##exactness##avx2, NULL, Sleef_##name##d4_##exactness##avx2, \
                 NULL},
#define TWO(id, name, exactness)                                 \
    [FN_##id] = {NULL, Sleef_##name##f8_##exactness##avx2, NULL, \
                 Sleef_##name##d4_##exactness##avx2},
static const vectors SLEEF[FN_COUNT] = {ALL(ONE, TWO)};
#undef ONE
#undef TWO
#endif

static const vectors *vectors_of(int which, function_id id) {
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return NULL;
#if defined(HG_HAVE_MVEC)
    if (which == 2) return &LIBMVEC[id];
#endif
#if defined(HG_HAVE_SLEEF)
    if (which == 3) return &SLEEF[id];
#endif
    (void)which;
    (void)id;
    return NULL;
}

/* n is a multiple of 8. */
VECTORS static void vectors_run(const vectors *v, bool wide, const void *x, const void *y,
                                void *out, size_t n) {
    for (size_t i = 0; i < n && !wide; i += 8) {
        __m256 a = _mm256_loadu_ps((const float *)x + i), b = _mm256_loadu_ps((const float *)y + i);
        _mm256_storeu_ps((float *)out + i, v->f32 ? v->f32(a) : v->f32_2(a, b));
    }
    for (size_t i = 0; i < n && wide; i += 4) {
        __m256d a = _mm256_loadu_pd((const double *)x + i),
                b = _mm256_loadu_pd((const double *)y + i);
        _mm256_storeu_pd((double *)out + i, v->f64 ? v->f64(a) : v->f64_2(a, b));
    }
}
#endif

/* ---- all of them ---- */

static bool exists(int which, const function *f) {
    if (which == 0) return true;
    if (!f->in_c) return false;
    if (which == 1) return true;
#if defined(__x86_64__)
    const vectors *v = vectors_of(which, f->id);
    return v && (v->f32 || v->f32_2);
#else
    return false;
#endif
}

subject *subject_open(int which, const function *f, bool wide, const library_choice *choice) {
    subject *s = exists(which, f) ? calloc(1, sizeof *s) : NULL;
    if (!s) return NULL;
    s->which = which;
    s->f = f;
    s->wide = wide;
    s->half = choice->half;
    if (which == 0 && library_begin(s, choice) != HG_OK) {
        fprintf(stderr, "accuracy: %s: %s\n", f->name, hg_last_error_text());
        subject_close(s);
        return NULL;
    }
    return s;
}

bool subject_run(subject *s, const void *x, const void *y, void *out, size_t n) {
    const void *second = s->f->args == 2 ? y : x;
    if (s->which == 0) return library_run(s, x, second, out, n);
    if (s->which == 1) glibc_run(s->f, s->wide, x, second, out, n);
#if defined(__x86_64__)
    if (s->which > 1) vectors_run(vectors_of(s->which, s->f->id), s->wide, x, second, out, n);
#endif
    return true;
}

void subject_close(subject *s) {
    if (!s) return;
    hg_params_destroy(s->params);
    hg_program_release(s->program);
    hg_backend_destroy(s->backend);
    free(s);
}
