/* Functions of f32 beside the vector functions of glibc's libmvec and of SLEEF, at a level of the
 * CPU: ns an element, one thread, 16 K elements in memory that the caches hold, medians.
 *     bench_functions v3|v4 [FUNCTION...]
 *     bench_functions [BUILD] BACKEND [FUNCTION...]
 * The second form is for bench/versions: the library alone on a backend, a million elements a
 * launch, us of a launch; on the CPU networks beside them.
 * Of the library native code, which kernels that run often get, and its interpreter, which ratios
 * do not count.
 * libmvec's errors are up to 4 ULP, SLEEF's (u10, of erfc u15) up to 1; these are rounded
 * correctly. Both are opened where they are; else a column says "-". */
#include "calls.h"
#include <dlfcn.h>
#include <hologram/graph.h>
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

enum { TEXT = 512 };
static void write_text(char text[TEXT], const char *name) {
    bool two = has_two(name);
    snprintf(text, TEXT,
             ".atlas 1\n.program functions\n.param r1 out buffer f32 out\n"
             ".param r2 x buffer f32 in\n%s    mov_imm.u32 r9, 2\n    shl.u64 r8, r255, r9\n"
             "    ldg.f32 r10, [r2 + r8]\n%s    %s.f32 r12, r10%s\n    stg.f32 [r1 + r8], r12\n",
             two ? ".param r3 y buffer f32 in\n" : "", two ? "    ldg.f32 r11, [r3 + r8]\n" : "",
             name, two ? ", r11" : "");
}

static double measured(const char *name, const char *level, const char *jit) {
    char text[TEXT];
    bool two = has_two(name);
    write_text(text, name);
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

/* ---- the library alone, for bench/versions ---- */

enum { MANY = 1 << 20, LAUNCHES = 24 };

static void spread(float *to, size_t count, float low, float high) {
    for (size_t i = 0; i < count; i++)
        to[i] = low + (high - low) * (float)(i * 7919 % count) / (float)count;
}
static void set_numbers(hg_backend *b, hg_params *params, const char *name, size_t count, float low,
                        float high) {
    float *data = malloc(count * sizeof *data);
    hg_buffer buffer;
    if (!data) exit(1);
    spread(data, count, low, high);
    OK(hg_backend_allocate_buffer(b, count * sizeof *data, &buffer));
    OK(hg_backend_copy_to_buffer(b, buffer, data, count * sizeof *data));
    OK(hg_params_set_buffer(params, name, buffer));
    free(data);
}
static void print_time(const char *name, const bench_samples *s) {
    printf("%-46s %9.2f us\n", name, bench_median(s) * 1e6);
    fflush(stdout);
}

static void function_alone(hg_backend *b, const row *r) {
    char *text = malloc(TEXT);
    hg_launch launch = HG_LAUNCH_INIT;
    hg_params *params = hg_params_create();
    hg_program *known = NULL;
    bench_samples s = {0};
    if (!text) exit(1);
    launch.block[0] = 256;
    launch.grid[0] = MANY / 256;
    write_text(text, r->name);
    bool there = hg_program_assemble(text, strlen(text), NULL, &known) == HG_OK;
    hg_program_release(known);
    if (!there) return; /* an earlier version */
    set_numbers(b, params, "x", MANY, r->low, r->high);
    set_numbers(b, params, "out", MANY, 0, 0);
    if (has_two(r->name)) set_numbers(b, params, "y", MANY, -5, 5);
    hg_binding *binding = bind_text(b, text, strlen(text), &launch, params);
    for (int k = 0; k < LAUNCHES; k++) {
        double from = bench_now();
        OK(hg_binding_launch(binding));
        if (k >= 4) bench_add(&s, bench_now() - from);
    }
    print_time(r->name, &s);
    hg_binding_destroy(binding);
}

/* A graph of calls whose inputs and constants are named in words: NAME COUNT. */
static void network(hg_backend *b, const char *name, const char *text, const char *inputs) {
    hg_params *params = hg_params_create();
    hg_graph *g;
    hg_graph_executable *e;
    hg_graph_binding *binding;
    bench_samples s = {0};
    char input[32];
    size_t count;
    int length;
    for (; sscanf(inputs, "%31s %zu%n", input, &count, &length) == 2; inputs += length)
        set_numbers(b, params, input, count, -1, 1);
    OK(hg_graph_read_text(text, strlen(text), NULL, NULL, &g));
    OK(hg_graph_compile(b, g, NULL, &e));
    OK(hg_graph_bind(e, params, &binding));
    for (int k = 0; k < 2 * LAUNCHES; k++) {
        double from = bench_now();
        OK(hg_graph_binding_launch(binding));
        if (k >= LAUNCHES) bench_add(&s, bench_now() - from);
    }
    print_time(name, &s);
    hg_graph_binding_destroy(binding);
    hg_graph_executable_destroy(e);
    hg_graph_release(g);
    hg_params_destroy(params);
}

static void networks(hg_backend *b) {
    network(b, "softmax of [512, 768]",
            ".graph 1\n.input x f32 [512, 768]\ny = softmax input=x\n.output y\n",
            "x 393216 y 393216");
    network(b, "attention of 12 heads, 128 x 32",
            ".graph 1\n.input q f32 [1, 12, 128, 32]\n.input k f32 [1, 12, 128, 32]\n"
            ".input v f32 [1, 12, 128, 32]\ny = attention query=q, key=k, value=v\n.output y\n",
            "q 49152 k 49152 v 49152 y 49152");
    network(b, "[128, 384] x [384, 1536], bias and gelu",
            ".graph 1\n.input x f32 [128, 384]\n.constant w f32 [384, 1536]\n"
            ".constant c f32 [1536]\ny = gemm a=x, b=w, bias=c, activation=gelu\n.output y\n",
            "x 49152 w 589824 c 1536 y 196608");
    network(b, "encoder layer 1 x 128",
            ".graph 1\n.input x f32 [1, 128, 384]\n.constant wq f32 [384, 384]\n"
            ".constant wk f32 [384, 384]\n.constant wv f32 [384, 384]\n"
            ".constant wo f32 [384, 384]\n.constant b f32 [384]\n"
            ".constant w1 f32 [384, 1536]\n.constant b1 f32 [1536]\n"
            ".constant w2 f32 [1536, 384]\nq = gemm a=x, b=wq, bias=b\n"
            "k = gemm a=x, b=wk, bias=b\nv = gemm a=x, b=wv, bias=b\n"
            ".view qs = q f32 [1, 128, 12, 32]\n.view ks = k f32 [1, 128, 12, 32]\n"
            ".view vs = v f32 [1, 128, 12, 32]\n.view qt = qs permuted (0, 2, 1, 3)\n"
            ".view kt = ks permuted (0, 2, 1, 3)\n.view vt = vs permuted (0, 2, 1, 3)\n"
            "at = attention query=qt, key=kt, value=vt\n.view as = at permuted (0, 2, 1, 3)\n"
            "merged = parallel_map identity, in=as\n.view am = merged f32 [1, 128, 384]\n"
            "o = gemm a=am, b=wo, c=x, beta=1.0, bias=b\n"
            "n1 = layer_norm input=o, gamma=b, beta=b, eps=0.00001\n"
            "f1 = gemm a=n1, b=w1, bias=b1, activation=gelu\n"
            "z = gemm a=f1, b=w2, c=n1, beta=1.0, bias=b\n"
            "y = layer_norm input=z, gamma=b, beta=b, eps=0.00001\n.output y\n",
            "x 49152 wq 147456 wk 147456 wv 147456 wo 147456 b 384 w1 589824 b1 1536 w2 589824 "
            "y 49152");
}

static int library_alone(int argc, char **argv) {
    hg_backend *b;
    hg_config config;
    OK(hg_config_from_env(&config));
    snprintf(config.backend, sizeof config.backend, "%s", argv[1]);
    OK(hg_backend_create_with_config(&config, &b));
    for (size_t r = 0; r < sizeof ROWS / sizeof *ROWS; r++) {
        bool wanted = argc == 2;
        for (int i = 2; i < argc; i++) wanted |= strcmp(argv[i], ROWS[r].name) == 0;
        if (wanted) function_alone(b, &ROWS[r]);
    }
    if (argc == 2 && strcmp(argv[1], "cpu") == 0) networks(b);
    hg_backend_destroy(b);
    return 0;
}

int main(int argc, char **argv) {
    if (argc > 1 && strchr(argv[1], '/')) argc--, argv++;
    bool v4 = argc > 1 && strcmp(argv[1], "v4") == 0;
    if (argc < 2) return fprintf(stderr, "usage: bench_functions v3|v4|BACKEND [FUNCTION...]\n"), 2;
    if (!v4 && strcmp(argv[1], "v3") != 0) return library_alone(argc, argv);
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
