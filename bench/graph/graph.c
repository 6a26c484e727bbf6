/* Array graphs beside the same work by hand, in turns, in one run; medians and the tenth and
 * ninetieth percentile. bench/graph/run encoder: a layer of an encoder (384 wide, 12 heads) as a
 * graph and as one program. small: 20 maps and products of 256 elements as a graph and as C
 * functions. norm: a row of bias, GELU, residual and LayerNorm. compile: a graph of 1,000 calls,
 * whose code is known. control: the program against itself. */
#include "../bench.h"
#include "../calls.h"
#include <hologram/graph.h>
#include <math.h>
#include <string.h>

enum { ROUNDS = 41, WIDTH = 384, INNER = 1536, SMALL = 256 };

typedef struct layer {
    hg_backend *b;
    hg_params *params;
    hg_buffer out;
} layer;

static char *read_text(const char *name, size_t *length) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", HG_BENCH_DIR, name);
    FILE *file = fopen(path, "rb");
    char *text = malloc(1 << 16);
    if (!file || !text) exit(1);
    *length = fread(text, 1, (1 << 16) - 1, file);
    text[*length] = 0;
    fclose(file);
    return text;
}

static hg_graph *read_graph(const char *text, size_t length) {
    hg_graph *g;
    OK(hg_graph_read_text(text, length, NULL, NULL, &g));
    return g;
}

static hg_buffer numbers(hg_backend *b, uint64_t count, float scale) {
    hg_buffer buffer;
    float *data = malloc(count * sizeof *data);
    uint32_t state = 12345;
    for (uint64_t i = 0; i < count; i++) {
        state = state * 1664525 + 1013904223;
        data[i] = scale * ((float)(state >> 8) / 8388608.0f - 1.0f);
    }
    OK(hg_backend_allocate_buffer(b, count * sizeof *data, &buffer));
    OK(hg_buffer_write(b, buffer, 0, data, count * sizeof *data));
    free(data);
    return buffer;
}

static void set(hg_params *params, hg_backend *b, const char *name, uint64_t count, float scale) {
    OK(hg_params_set_buffer(params, name, numbers(b, count, scale)));
}

static void report(const char *name, const bench_samples *ours, const bench_samples *other,
                   const char *what) {
    double a = bench_median(ours), c = bench_median(other);
    printf("%-28s graph %9.2f us (%.2f - %.2f), %s %9.2f us (%.2f - %.2f): %s / graph %.3f\n", name,
           a * 1e6, bench_low(ours) * 1e6, bench_high(ours) * 1e6, what, c * 1e6,
           bench_low(other) * 1e6, bench_high(other) * 1e6, what, c / a);
    fflush(stdout);
}

static hg_graph_binding *bind_graph(hg_backend *b, hg_graph *g, const hg_params *params,
                                    const char *passes) {
    hg_graph_executable *e;
    hg_graph_binding *binding;
    hg_graph_options options = {.size = sizeof options, .passes = passes};
    OK(hg_graph_compile(b, g, &options, &e));
    OK(hg_graph_bind(e, params, &binding));
    hg_graph_executable_destroy(e);
    return binding;
}

/* ---- encoder ---- */

static void warm(hg_graph_binding *graph, hg_binding *hand) {
    double end = bench_now() + 3; /* hot kernels are compiled meanwhile */
    for (int i = 0; bench_now() < end || i < 5; i++) {
        if (graph) OK(hg_graph_binding_launch(graph));
        if (hand) OK(hg_binding_launch(hand));
    }
}

static void encoder(hg_backend *b, uint64_t batch, uint64_t places) {
    static const char *const square[] = {"wq", "wk", "wv", "wo"}, *const line[] = {
                                                                      "bq", "bk", "bv", "bo", "b2",
                                                                      "g1", "h1", "g2", "h2"};
    hg_params *params = hg_params_create();
    bench_samples ours = {{0}, 0}, hand = {{0}, 0}, again = {{0}, 0};
    size_t length;
    char name[64];
    for (int i = 0; i < 4; i++) set(params, b, square[i], WIDTH * WIDTH, 0.05f);
    for (int i = 0; i < 9; i++) set(params, b, line[i], WIDTH, 0.5f);
    set(params, b, "b1", INNER, 0.5f);
    set(params, b, "w1", WIDTH * INNER, 0.05f);
    set(params, b, "w2", WIDTH * INNER, 0.05f);
    set(params, b, "x", batch * places * WIDTH, 1.0f);
    set(params, b, "out", batch * places * WIDTH, 1.0f);
    OK(hg_params_set_scalar(params, "b", HG_TYPE_U64, &batch));
    OK(hg_params_set_scalar(params, "s", HG_TYPE_U64, &places));
    char *text = read_text("encoder.graph", &length);
    hg_graph *g = read_graph(text, length);
    free(text);
    hg_graph_binding *graph = bind_graph(b, g, params, NULL);
    text = read_text("encoder.atlas", &length);
    hg_binding *binding = bind_text(b, text, length, NULL, params);
    warm(graph, binding);
    for (int round = 0; round < ROUNDS; round++) {
        double start = bench_now();
        OK(hg_graph_binding_launch(graph));
        double middle = bench_now();
        OK(hg_binding_launch(binding));
        double third = bench_now();
        OK(hg_binding_launch(binding));
        bench_add(&ours, middle - start);
        bench_add(&hand, third - middle);
        bench_add(&again, bench_now() - third);
    }
    hg_graph_memory_info info = {.size = sizeof info};
    OK(hg_graph_binding_memory(graph, &info));
    snprintf(name, sizeof name, "encoder %dx%d", (int)batch, (int)places);
    report(name, &ours, &hand, "by hand");
    printf("%-28s workspace %llu bytes, lower bound %llu: %.3f, %llu launches; control: by hand "
           "against itself %.3f\n",
           name, (unsigned long long)info.workspace_bytes, (unsigned long long)info.least_bytes,
           (double)info.workspace_bytes / (double)info.least_bytes,
           (unsigned long long)info.launches, bench_median(&again) / bench_median(&hand));
    hg_graph_binding_destroy(graph);
    hg_binding_destroy(binding);
    hg_graph_release(g);
}

/* ---- small ---- */

__attribute__((noinline)) static void c_add(float *restrict y, const float *restrict a,
                                            const float *restrict c) {
    for (int i = 0; i < SMALL; i++) y[i] = a[i] + c[i];
}
__attribute__((noinline)) static void c_mul(float *restrict y, const float *restrict a,
                                            const float *restrict c) {
    for (int i = 0; i < SMALL; i++) y[i] = a[i] * c[i];
}
/* c = a b of 16 x 16. */
__attribute__((noinline)) static void c_gemm(float *restrict y, const float *restrict a,
                                             const float *restrict c) {
    for (int i = 0; i < 16; i++) {
        float row[16] = {0};
        for (int k = 0; k < 16; k++)
            for (int j = 0; j < 16; j++) row[j] = fmaf(a[i * 16 + k], c[k * 16 + j], row[j]);
        for (int j = 0; j < 16; j++) y[i * 16 + j] = row[j];
    }
}

static void small(hg_backend *b) {
    char text[4096];
    size_t length = (size_t)snprintf(text, sizeof text,
                                     ".graph 1\n.input x f32 [16, 16]\n.constant w f32 [16, "
                                     "16]\ny0 = parallel_map_binary mul, a=x, b=w\n");
    for (int i = 1; i < 20; i++) {
        const char *form = i % 4 == 3 ? "y%d = gemm a=y%d, b=w\n"
                           : i % 2    ? "y%d = parallel_map_binary add, a=y%d, b=w\n"
                                      : "y%d = parallel_map_binary mul, a=y%d, b=w\n";
        length += (size_t)snprintf(text + length, sizeof text - length, form, i, i - 1);
    }
    length += (size_t)snprintf(text + length, sizeof text - length, ".output y19\n");
    hg_params *params = hg_params_create();
    set(params, b, "x", SMALL, 1.0f);
    set(params, b, "w", SMALL, 0.25f);
    set(params, b, "y19", SMALL, 0.0f);
    hg_graph *g = read_graph(text, length);
    hg_graph_binding *graph = bind_graph(b, g, params, NULL);
    static float values[21][SMALL], w[SMALL];
    bench_samples ours = {{0}, 0}, functions = {{0}, 0};
    warm(graph, NULL);
    enum { REPEAT = 2000 };
    for (int round = 0; round < ROUNDS; round++) {
        double start = bench_now();
        for (int n = 0; n < REPEAT; n++) OK(hg_graph_binding_launch(graph));
        double middle = bench_now();
        for (int n = 0; n < REPEAT; n++)
            for (int i = 0; i < 20; i++) {
                if (i % 4 == 3)
                    c_gemm(values[i + 1], values[i], w);
                else if (i % 2)
                    c_add(values[i + 1], values[i], w);
                else
                    c_mul(values[i + 1], values[i], w);
            }
        bench_add(&ours, (middle - start) / REPEAT);
        bench_add(&functions, (bench_now() - middle) / REPEAT);
    }
    report("20 small calls", &ours, &functions, "C");
    printf("%-28s the graph takes %.2f us more\n", "20 small calls",
           (bench_median(&ours) - bench_median(&functions)) * 1e6);
    hg_graph_binding_destroy(graph);
    hg_graph_release(g);
    hg_params_destroy(params);
}

/* ---- norm ---- */

static void norm(hg_backend *b) {
    size_t length;
    char *text = read_text("norm.graph", &length);
    hg_params *params = hg_params_create();
    set(params, b, "x", 512 * 768, 1.0f);
    set(params, b, "r", 512 * 768, 1.0f);
    set(params, b, "bias", 768, 1.0f);
    set(params, b, "g", 768, 1.0f);
    set(params, b, "h", 768, 1.0f);
    set(params, b, "out", 512 * 768, 1.0f);
    hg_graph *g = read_graph(text, length);
    free(text);
    hg_graph_binding *all = bind_graph(b, g, params, NULL),
                     *none = bind_graph(b, g, params, "none");
    bench_samples ours = {{0}, 0}, apart = {{0}, 0};
    warm(all, NULL);
    warm(none, NULL);
    for (int round = 0; round < ROUNDS; round++) {
        double start = bench_now();
        OK(hg_graph_binding_launch(all));
        double middle = bench_now();
        OK(hg_graph_binding_launch(none));
        bench_add(&ours, middle - start);
        bench_add(&apart, bench_now() - middle);
    }
    report("add, gelu, add, layer_norm", &ours, &apart, "no pass");
    hg_graph_binding_destroy(all);
    hg_graph_binding_destroy(none);
    hg_graph_release(g);
    hg_params_destroy(params);
}

/* ---- compile ---- */

static void compile(hg_backend *b, int calls) {
    size_t capacity = (size_t)calls * 64 + 1000, length;
    char *text = malloc(capacity), name[64];
    bench_samples ours = {{0}, 0};
    length = (size_t)snprintf(
        text, capacity,
        ".graph 1\n.input x f32 [16, 16]\n.constant w f32 [16, 16]\ny0 = parallel_map abs, in=x\n");
    for (int i = 1; i < calls; i++)
        length += (size_t)snprintf(text + length, capacity - length,
                                   i % 3 ? "y%d = parallel_map_binary add, a=y%d, b=w\n"
                                         : "y%d = gemm a=y%d, b=w\n",
                                   i, i - 1);
    length += (size_t)snprintf(text + length, capacity - length, ".output y%d\n", calls - 1);
    hg_graph *g = read_graph(text, length);
    for (int round = 0; round < 9; round++) {
        hg_graph_executable *e;
        double start = bench_now();
        OK(hg_graph_compile(b, g, NULL, &e));
        if (round) bench_add(&ours, bench_now() - start);
        hg_graph_executable_destroy(e);
    }
    snprintf(name, sizeof name, "compile %d calls", calls);
    printf("%-28s %.2f ms (%.2f - %.2f)\n", name, bench_median(&ours) * 1e3, bench_low(&ours) * 1e3,
           bench_high(&ours) * 1e3);
    hg_graph_release(g);
    free(text);
}

int main(int argc, char **argv) {
    hg_backend *b;
    hg_config config;
    OK(hg_config_from_env(&config));
    if (argc > 1) snprintf(config.backend, sizeof config.backend, "%s", argv[1]);
    OK(hg_backend_create_with_config(&config, &b));
    small(b);
    norm(b);
    encoder(b, 1, 16);
    encoder(b, 1, 128);
    compile(b, 1000);
    compile(b, 10000);
    hg_backend_destroy(b);
    return 0;
}
