/* JSON kernels: how fast they are read (beside jansson), translated and verified, and how good the
 * code is (beside .atlas by hand). Run by bench/json/run; figures in docs/performance.md. One
 * thread, the thread's own CPU clock on both sides. */
#include "base/json_read.h"
#include "bench.h"
#include "calls.h"
#include <hologram/json_kernel.h>

#include <jansson.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 15 };

typedef struct text {
    char *data;
    size_t length;
} text;

static text read_file(const char *name) {
    char path[1024];
    text t = {0};
    snprintf(path, sizeof path, "%s/json/%s", HG_BENCH_DIR, name);
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0) die(path);
    t.length = (size_t)ftell(file);
    t.data = malloc(t.length + 1);
    if (!t.data || fseek(file, 0, SEEK_SET) != 0 || fread(t.data, 1, t.length, file) != t.length)
        die(path);
    fclose(file);
    return t;
}

static const char *const NAMES[] = {"axpy", "saturate", "matvec_rows"};
enum { KERNELS = 3 };

static text kernel_text(int i, size_t indent) {
    char name[64];
    snprintf(name, sizeof name, "%s.json", NAMES[i]);
    text t = read_file(name);
    json_t *tree = json_loadb(t.data, t.length, 0, NULL);
    free(t.data);
    if (!tree) die("jansson");
    t.data = json_dumps(tree, indent ? JSON_INDENT(indent) : JSON_COMPACT);
    t.length = strlen(t.data);
    json_decref(tree);
    return t;
}

/* An array of the three worked examples over and over, of about so many bytes. */
static text many_kernels(size_t bytes, size_t indent) {
    text part[KERNELS], all = {malloc(bytes + 8192), 0};
    for (int i = 0; i < KERNELS; i++) part[i] = kernel_text(i, indent);
    if (!all.data) die("malloc");
    for (int i = 0; all.length < bytes; i++) {
        all.data[all.length++] = i ? ',' : '[';
        memcpy(all.data + all.length, part[i % KERNELS].data, part[i % KERNELS].length);
        all.length += part[i % KERNELS].length;
    }
    all.data[all.length++] = ']';
    for (int i = 0; i < KERNELS; i++) free(part[i].data);
    return all;
}

static text many_numbers(size_t bytes) {
    text all = {malloc(bytes + 64), 0};
    if (!all.data) die("malloc");
    uint64_t state = 88172645463325252u;
    all.data[all.length++] = '[';
    while (all.length < bytes) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        all.length += (size_t)sprintf(all.data + all.length, "%.*g,", (int)(state % 12) + 3,
                                      (double)(int64_t)state * 1e-9);
    }
    all.data[all.length - 1] = ']';
    return all;
}

static double mbs(double seconds, const text *t) { return (double)t->length / seconds * 1e-6; }

static void rate(const char *what, const bench_samples *s, const text *t, double goal) {
    double value = mbs(bench_median(s), t);
    printf("%-46s %9.1f %-10s (%.1f … %.1f)", what, value, "MB/s", mbs(bench_high(s), t),
           mbs(bench_low(s), t));
    if (goal > 0) printf("  goal >= %g %s", goal, value >= goal ? "met" : "NOT MET");
    printf("\n");
}

static void ratio(const char *what, const bench_samples *ours, const bench_samples *peer,
                  const char *name, double goal) {
    double value = bench_median(peer) / bench_median(ours);
    printf("%-46s %9.2f x %-8s (%.2f … %.2f)", what, value, name,
           bench_low(peer) / bench_high(ours), bench_high(peer) / bench_low(ours));
    if (goal > 0) printf("  goal >= %g %s", goal, value >= goal ? "met" : "NOT MET");
    printf("\n");
}

static void bench_parse(const char *what, const text *t) {
    bench_samples ours = {.count = 0}, peer = {.count = 0}, strict = {.count = 0};
    for (int i = 0; i < SAMPLES; i++) {
        hg_json_document d;
        hg_json_fault fault;
        double start = bench_cpu();
        if (!hg_json_read(&d, t->data, t->length, 0, &fault)) die(fault.message);
        hg_json_document_free(&d);
        bench_add(&ours, bench_cpu() - start);
        for (int pass = 0; pass < 2; pass++) {
            start = bench_cpu();
            json_t *tree = json_loadb(t->data, t->length, pass ? JSON_REJECT_DUPLICATES : 0, NULL);
            if (!tree) die("jansson");
            json_decref(tree);
            bench_add(pass ? &strict : &peer, bench_cpu() - start);
            (void)malloc_trim(0); /* else the next large free() of anybody pays for the small ones
                                     of the tree */
        }
    }
    char line[128];
    snprintf(line, sizeof line, "read %s, %.1f MB", what, (double)t->length * 1e-6);
    rate(line, &ours, t, 150);
    rate("  peer: jansson", &peer, t, 0);
    rate("  peer: jansson, repeated keys refused", &strict, t, 0);
    ratio("  against the faster", &ours,
          bench_median(&peer) < bench_median(&strict) ? &peer : &strict, "jansson", 4);
}

static void bench_translate(const char *what, const text *t) {
    bench_samples translate = {.count = 0}, all = {.count = 0};
    size_t count = 0;
    for (int i = 0; i < SAMPLES; i++) {
        hg_program **programs = NULL;
        double start = bench_cpu();
        OK(hg_json_to_isa_translate_all(t->data, t->length, NULL, &programs, &count));
        bench_add(&translate, bench_cpu() - start);
        for (size_t k = 0; k < count; k++) OK(hg_program_verify(programs[k], NULL));
        bench_add(&all, bench_cpu() - start);
        hg_json_programs_free(programs, count);
    }
    char line[128];
    snprintf(line, sizeof line, "read and translate %s, %zu kernels", what, count);
    rate(line, &translate, t, 0);
    rate("  and verify", &all, t, 30);
}

/* ---- the code ---- */

typedef struct problem {
    const char *scalars[2];
    uint64_t lanes, elements[3], values[2];
    const char *arrays[3];
    const char *result;
} problem;

static const problem PROBLEMS[KERNELS] = {
    {{"n", NULL}, 1 << 20, {1 << 20, 1 << 20, 0}, {1 << 20, 0}, {"x", "y", NULL}, "y"},
    {{"n", NULL}, 1 << 20, {1 << 20, 1 << 20, 0}, {1 << 20, 0}, {"src", "dst", NULL}, "dst"},
    {{"rows", "cols"}, 1024, {1 << 20, 1024, 1024}, {1024, 1024}, {"m", "v", "out"}, "out"},
};

static float *contents(uint64_t n, unsigned seed) {
    float *x = malloc((size_t)n * 4);
    if (!x) die("malloc");
    for (uint64_t i = 0; i < n; i++) x[i] = (float)((i * 2654435761u + seed) % 4001) * 1e-3f - 2.0f;
    return x;
}

static hg_binding *bind(hg_backend *b, const hg_program *program, const problem *p,
                        hg_buffer *result) {
    hg_params *params = hg_params_create();
    hg_executable *e;
    hg_binding *binding;
    float alpha = 0.25f;
    for (unsigned i = 0; i < 3 && p->arrays[i]; i++) {
        hg_buffer buffer;
        float *x = contents(p->elements[i], i);
        OK(hg_backend_allocate_buffer(b, p->elements[i] * 4, &buffer));
        OK(hg_buffer_write(b, buffer, 0, x, p->elements[i] * 4));
        OK(hg_params_set_buffer(params, p->arrays[i], buffer));
        if (strcmp(p->arrays[i], p->result) == 0) *result = buffer;
        free(x);
    }
    for (unsigned i = 0; i < 2 && p->scalars[i]; i++)
        OK(hg_params_set_scalar(params, p->scalars[i], HG_TYPE_U64, &p->values[i]));
    if (p == PROBLEMS) OK(hg_params_set_scalar(params, "alpha", HG_TYPE_F32, &alpha));
    hg_launch launch = hg_launch_linear(p->lanes);
    OK(hg_executable_create(b, program, &e));
    OK(hg_binding_create(e, &launch, params, &binding));
    hg_executable_destroy(e);
    hg_params_destroy(params);
    return binding;
}

static void bench_code(hg_backend *b, int i) {
    char name[64];
    text json = kernel_text(i, 0), hand;
    snprintf(name, sizeof name, "%s.atlas", NAMES[i]);
    hand = read_file(name);
    hg_program *ours, *peer;
    OK(hg_json_to_isa_translate(json.data, json.length, NULL, &ours));
    OK(hg_program_assemble(hand.data, hand.length, NULL, &peer));
    hg_buffer out[2];
    hg_binding *own = bind(b, ours, &PROBLEMS[i], &out[0]),
               *other = bind(b, peer, &PROBLEMS[i], &out[1]);
    bench_samples a = {.count = 0}, c = {.count = 0};
    for (int k = 0; k < 41; k++) {
        double start = bench_cpu();
        OK(hg_binding_launch(own));
        bench_add(&a, bench_cpu() - start);
        start = bench_cpu();
        OK(hg_binding_launch(other));
        bench_add(&c, bench_cpu() - start);
    }
    uint64_t bytes;
    OK(hg_backend_buffer_size(b, out[0], &bytes));
    char *left = malloc((size_t)bytes), *right = malloc((size_t)bytes);
    if (!left || !right) die("malloc");
    OK(hg_buffer_read(b, out[0], 0, left, bytes));
    OK(hg_buffer_read(b, out[1], 0, right, bytes));
    char line[128];
    snprintf(line, sizeof line, "%s: %zu instructions, by hand %zu, results %s", NAMES[i],
             hg_program_len(ours), hg_program_len(peer),
             memcmp(left, right, (size_t)bytes) == 0 ? "equal" : "DIFFERENT");
    printf("%s\n", line);
    ratio("  run time", &a, &c, "by hand", 0);
    hg_binding_destroy(own);
    hg_binding_destroy(other);
    hg_program_release(ours);
    hg_program_release(peer);
    free(left);
    free(right);
    free(json.data);
    free(hand.data);
}

int main(void) {
    text compact = many_kernels(16 << 20, 0), indented = many_kernels(16 << 20, 1),
         deep = many_kernels(16 << 20, 4), numbers = many_numbers(16 << 20);
    bench_parse("kernels, compact", &compact);
    bench_parse("kernels, indented by 1", &indented);
    bench_parse("kernels, indented by 4", &deep);
    bench_parse("numbers", &numbers);
    bench_translate("compact", &compact);
    bench_translate("indented by 1", &indented);
    hg_config config = hg_config_default();
    hg_backend *b;
    snprintf(config.backend, sizeof config.backend, "cpu");
    config.num_threads = 1;
    OK(hg_backend_create_with_config(&config, &b));
    for (int i = 0; i < KERNELS; i++) bench_code(b, i);
    hg_backend_destroy(b);
    free(compact.data);
    free(indented.data);
    free(deep.data);
    free(numbers.data);
    return 0;
}
