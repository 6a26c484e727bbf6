/* Functions of f32 beside the vector functions of glibc's libmvec and of SLEEF, at a level of the
 * CPU: ns an element, one thread, 16 K elements in memory that the caches hold, medians.
 *     bench_functions v3|v4 [FUNCTION...]
 * Of the library native code, which kernels that run often get, and its interpreter, which ratios
 * do not count.
 * libmvec's errors are up to 4 ULP, SLEEF's (u10, of erfc u15) up to 1; these are rounded
 * correctly. Both are opened where they are; else a column says "-". */
#include "bench.h"
#include <dlfcn.h>
#include <hologram/hologram.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>

enum { COUNT = 16384, ROUNDS = 40 };

typedef struct row {
    const char *name;
    float low, high; /* arguments */
} row;
static const row ROWS[] = {
    {"exp", -80, 80},      {"log", 0.001f, 1000}, {"tanh", -8, 8},      {"sin", -30, 30},
    {"cos", -30, 30},      {"sigmoid", -20, 20},  {"gelu", -8, 8},      {"swish", -20, 20},
    {"rsqrt", 0.1f, 99},   {"exp2", -100, 100},   {"exp10", -30, 30},   {"log2", 0.001f, 99},
    {"log10", 0.001f, 99}, {"expm1", -10, 10},    {"log1p", -0.9f, 99}, {"tan", -30, 30},
    {"cbrt", -99, 99},     {"erf", -4, 4},        {"erfc", -4, 9},      {"atan", -20, 20},
    {"asin", -1, 1},       {"acos", -1, 1},       {"sinh", -20, 20},    {"cosh", -20, 20},
    {"asinh", -99, 99},    {"acosh", 1, 99},      {"atanh", -1, 1},     {"pow", 0.01f, 20},
    {"atan2", -9, 9},      {"hypot", -9, 9},
};

static float x[COUNT], second[COUNT] /* -5 to 5 */, y[COUNT];
static bool has_two(const char *name) {
    return strcmp(name, "pow") == 0 || strcmp(name, "atan2") == 0 || strcmp(name, "hypot") == 0;
}

/* ---- the others ---- */

static void *found(const char *library, const char *form, const char *name) {
    char symbol[64];
    void *handle = dlopen(library, RTLD_NOW);
    snprintf(symbol, sizeof symbol, form, name);
    return handle ? dlsym(handle, symbol) : NULL;
}
__attribute__((target("avx2"))) static void run_v3(void *f) {
    __m256 (*call)(__m256);
    memcpy(&call, &f, sizeof call);
    for (int i = 0; i < COUNT; i += 8) _mm256_storeu_ps(y + i, call(_mm256_loadu_ps(x + i)));
}
__attribute__((target("avx512f"))) static void run_v4(void *f) {
    __m512 (*call)(__m512);
    memcpy(&call, &f, sizeof call);
    for (int i = 0; i < COUNT; i += 16) _mm512_storeu_ps(y + i, call(_mm512_loadu_ps(x + i)));
}
__attribute__((target("avx2"))) static void run_two_v3(void *f) {
    __m256 (*call)(__m256, __m256);
    memcpy(&call, &f, sizeof call);
    for (int i = 0; i < COUNT; i += 8)
        _mm256_storeu_ps(y + i, call(_mm256_loadu_ps(x + i), _mm256_loadu_ps(second + i)));
}
__attribute__((target("avx512f"))) static void run_two_v4(void *f) {
    __m512 (*call)(__m512, __m512);
    memcpy(&call, &f, sizeof call);
    for (int i = 0; i < COUNT; i += 16)
        _mm512_storeu_ps(y + i, call(_mm512_loadu_ps(x + i), _mm512_loadu_ps(second + i)));
}
static double measured_other(void *f, bool v4, bool two) {
    void (*run)(void *) = two ? v4 ? run_two_v4 : run_two_v3 : v4 ? run_v4 : run_v3;
    bench_samples s = {0};
    if (!f) return 0;
    for (int k = 0; k < ROUNDS; k++) {
        double from = bench_now();
        for (int i = 0; i < 4; i++) run(f);
        if (k >= 8) bench_add(&s, bench_now() - from);
    }
    return bench_median(&s) * 1e9 / COUNT / 4;
}

/* ---- the library ---- */

static double measured(const char *name, const char *level, const char *jit) {
    char text[512];
    bool two = has_two(name);
    snprintf(text, sizeof text,
             ".atlas 1\n.program functions\n.param r1 out buffer f32 out\n"
             ".param r2 x buffer f32 in\n%s    mov_imm.u32 r9, 2\n    shl.u64 r8, r255, r9\n"
             "    ldg.f32 r10, [r2 + r8]\n%s    %s.f32 r12, r10%s\n    stg.f32 [r1 + r8], r12\n",
             two ? ".param r3 y buffer f32 in\n" : "", two ? "    ldg.f32 r11, [r3 + r8]\n" : "",
             name, two ? ", r11" : "");
    hg_config config = hg_config_default();
    bool read = hg_config_read_env(&config) == HG_OK; /* HOLOGRAM_CACHE_DIR */
    snprintf(config.jit, sizeof config.jit, "%s", jit);
    snprintf(config.cpu_level, sizeof config.cpu_level, "%s", level);
    snprintf(config.backend, sizeof config.backend, "cpu");
    config.num_threads = 1;
    hg_backend *backend = NULL;
    hg_program *program = NULL;
    hg_params *params = hg_params_create();
    hg_buffer out = {0}, in = {0}, more = {0};
    hg_launch launch = HG_LAUNCH_INIT;
    launch.block[0] = 256;
    launch.grid[0] = COUNT / 256;
    bench_samples s = {0};
    bool good = read && hg_backend_create_with_config(&config, &backend) == HG_OK &&
                hg_program_assemble(text, strlen(text), NULL, &program) == HG_OK &&
                hg_program_verify(program, NULL) == HG_OK &&
                hg_backend_allocate_buffer(backend, sizeof x, &in) == HG_OK &&
                hg_backend_allocate_buffer(backend, sizeof y, &out) == HG_OK &&
                hg_params_set_buffer(params, "x", in) == HG_OK &&
                hg_params_set_buffer(params, "out", out) == HG_OK &&
                hg_backend_copy_to_buffer(backend, in, x, sizeof x) == HG_OK;
    if (two)
        good = good && hg_backend_allocate_buffer(backend, sizeof second, &more) == HG_OK &&
               hg_params_set_buffer(params, "y", more) == HG_OK &&
               hg_backend_copy_to_buffer(backend, more, second, sizeof second) == HG_OK;
    for (int k = 0; k < ROUNDS && good; k++) {
        double from = bench_now();
        for (int i = 0; i < 4 && good; i++)
            good = hg_backend_execute_program_with_params(backend, program, &launch, params) ==
                   HG_OK;
        if (k >= 8) bench_add(&s, bench_now() - from);
    }
    if (!good) fprintf(stderr, "%s: %s\n", name, hg_last_error_text());
    hg_params_destroy(params);
    hg_program_release(program);
    hg_backend_destroy(backend);
    return good ? bench_median(&s) * 1e9 / COUNT / 4 : 0;
}

static int by_size(const void *a, const void *b) {
    double p = *(const double *)a, q = *(const double *)b;
    return (p > q) - (p < q);
}
static void print_median(const char *name, double *ratios, int count) {
    qsort(ratios, (size_t)count, sizeof *ratios, by_size);
    if (count)
        printf("%s: median %.2f of %d, most %.2f\n", name, ratios[count / 2], count,
               ratios[count - 1]);
}

int main(int argc, char **argv) {
    bool v4 = argc > 1 && strcmp(argv[1], "v4") == 0;
    if (argc < 2 || (!v4 && strcmp(argv[1], "v3") != 0))
        return fprintf(stderr, "usage: bench_functions v3|v4 [FUNCTION...]\n"), 2;
    if (v4 ? !__builtin_cpu_supports("avx512f") : !__builtin_cpu_supports("avx2"))
        return printf("not run: no %s\n", argv[1]), 0;
    double glibc_ratios[sizeof ROWS / sizeof *ROWS], sleef_ratios[sizeof ROWS / sizeof *ROWS];
    int glibc_count = 0, sleef_count = 0;
    for (int i = 0; i < COUNT; i++) second[i] = -5 + 10 * (float)(i * 5077 % COUNT) / COUNT;
    printf("%-8s %9s %11s %9s %11s\n", argv[1], "ns", "interpreted", "libmvec", "SLEEF");
    for (size_t r = 0; r < sizeof ROWS / sizeof *ROWS; r++) {
        bool wanted = argc == 2;
        for (int i = 2; i < argc; i++) wanted |= strcmp(argv[i], ROWS[r].name) == 0;
        if (!wanted) continue;
        for (int i = 0; i < COUNT; i++)
            x[i] = ROWS[r].low + (ROWS[r].high - ROWS[r].low) * (float)(i * 7919 % COUNT) / COUNT;
        const char *name = ROWS[r].name;
        bool two = has_two(name);
        double own = measured(name, argv[1], "on"), interpreted = measured(name, argv[1], "off");
        void *mvec = found("libmvec.so.1",
                           two  ? v4 ? "_ZGVeN16vv_%sf" : "_ZGVdN8vv_%sf"
                           : v4 ? "_ZGVeN16v_%sf"
                                : "_ZGVdN8v_%sf",
                           name);
        static const char *const SLEEF[][3] = {
            {"Sleef_%sf8_u10avx2", "Sleef_%sf8_u15avx2", "Sleef_%sf8_u05avx2"},
            {"Sleef_%sf16_u10avx512f", "Sleef_%sf16_u15avx512f", "Sleef_%sf16_u05avx512f"}};
        void *sleef = NULL;
        for (int i = 0; i < 3 && !sleef; i++) sleef = found("libsleef.so.3", SLEEF[v4][i], name);
        double glibc = measured_other(mvec, v4, two), other = measured_other(sleef, v4, two);
        printf("%-8s %9.3f %11.3f", name, own, interpreted);
        if (glibc > 0)
            printf(" %5.2f %.2fx", glibc, glibc_ratios[glibc_count++] = own / glibc);
        else
            printf(" %11s", "-");
        if (other > 0)
            printf(" %5.2f %.2fx\n", other, sleef_ratios[sleef_count++] = own / other);
        else
            printf(" %11s\n", "-");
    }
    print_median("time over libmvec's", glibc_ratios, glibc_count);
    print_median("time over SLEEF's", sleef_ratios, sleef_count);
    return 0;
}
#else
int main(void) { return printf("not run: no x86-64\n"), 0; }
#endif
