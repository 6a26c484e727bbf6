/* The Atlas algebra in programs: a circuit over large arrays through class memory, and the
 * instructions of classes over large buffers of bytes, each against plain C in the same run,
 * alternating. One thread's own clock on both sides; "all threads" by the wall clock. */
#include "bench.h"
#include "calls.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { ROUNDS = 15, BEST_OF = 3 };

static void ratio(const char *what, const bench_samples *ours, const bench_samples *peer,
                  const char *peer_name, double goal, double bytes) {
    double value = bench_median(peer) / bench_median(ours);
    printf("%-46s %6.3f x %-22s (%.3f … %.3f)", what, value, peer_name,
           bench_low(peer) / bench_high(ours), bench_high(peer) / bench_low(ours));
    if (goal > 0) printf("  goal >= %.3g %s", goal, value >= goal ? "met" : "NOT MET");
    printf("   [%.2f and %.2f GB/s]\n", bytes / bench_median(ours) * 1e-9,
           bytes / bench_median(peer) * 1e-9);
}

/* Large arrays in huge pages, as the library's are. */
static void *large(size_t bytes) {
    void *memory = aligned_alloc(2 << 20, (bytes + (2 << 20) - 1) >> 21 << 21);
    if (!memory) die("aligned_alloc");
#if defined(MADV_HUGEPAGE)
    (void)madvise(memory, bytes, MADV_HUGEPAGE);
#endif
    memset(memory, 1, bytes);
    return memory;
}

/* One side of a race: run(user) once. */
typedef struct side {
    void (*run)(void *user);
    void *user;
} side;

/* Sides take turns; a sample is the best of a few, so that what else the machine does disturbs both
 * alike and little. */
static void race(const side *sides, int count, int wall, bench_samples *samples) {
    for (int i = 0; i < count; i++) {
        samples[i].count = 0;
        sides[i].run(sides[i].user);
    }
    for (int r = 0; r < ROUNDS; r++)
        for (int i = 0; i < count; i++) {
            double best = 1e9;
            for (int k = 0; k < BEST_OF; k++) {
                double t = wall ? bench_now() : bench_cpu();
                sides[i].run(sides[i].user);
                t = (wall ? bench_now() : bench_cpu()) - t;
                if (t < best) best = t;
            }
            bench_add(&samples[i], best);
        }
}

/* ---- merge@c00[c01,c02] over 16 M f32 ---- */

enum { N = 16 << 20 };
typedef struct merge {
    hg_backend *backend;
    hg_translated_program circuit;
    float *a, *b, *c;
} merge;

static void run_merge(void *user) {
    merge *m = user;
    hg_class_array arrays[] = {{.cls = 0, .input = m->a, .input_count = N},
                               {.cls = 1, .input = m->b, .input_count = N},
                               {.cls = 2, .output = m->c, .output_count = N}};
    OK(hg_circuit_run(m->backend, &m->circuit, NULL, arrays, 3));
}

static void run_plain_add(void *user) {
    merge *m = user;
    peer_add(m->c, m->a, m->b, N);
}

static void bench_merge(hg_backend *backend, const char *what, int wall) {
    static const char TEXT[] = "merge@c00[c01,c02]";
    merge m = {.backend = backend, .circuit = {.size = sizeof m.circuit}};
    bench_samples samples[2];
    OK(hg_circuit_to_isa_translate(TEXT, strlen(TEXT), NULL, NULL, &m.circuit));
    m.a = large(N * sizeof(float));
    m.b = large(N * sizeof(float));
    m.c = large(N * sizeof(float));
    for (int i = 0; i < N; i++) m.a[i] = (float)i, m.b[i] = 0.5f;
    race((const side[]){{run_merge, &m}, {run_plain_add, &m}}, 2, wall, samples);
    run_merge(&m);
    for (int i = 0; i < N; i++)
        if (m.c[i] != m.a[i] + m.b[i]) die("the sum is wrong");
    ratio(what, &samples[0], &samples[1], wall ? "plain C loop, one thread" : "plain C loop",
          wall ? 0 : 0.8, 12.0 * N);
    hg_translated_program_release(&m.circuit);
    free(m.a);
    free(m.b);
    free(m.c);
}

/* ---- classes over bytes ---- */

enum { BYTES = 64 << 20 };
typedef struct bytes {
    hg_binding *binding;
    uint8_t *in, *out;
} bytes;
static uint8_t table[256];

static void run_binding(void *user) { OK(hg_binding_launch(((bytes *)user)->binding)); }
static void run_copy(void *user) {
    bytes *b = user;
    memcpy(b->out, b->in, BYTES);
    __asm__ volatile("" ::: "memory");
}
static void run_table(void *user) {
    bytes *b = user;
    for (size_t i = 0; i < BYTES; i++) b->out[i] = table[b->in[i]];
}
static void run_buffer(void *user) {
    hg_class_of_bytes(((bytes *)user)->in, ((bytes *)user)->out, BYTES);
}

static hg_program *byte_program(const char *instruction) {
    char text[512];
    hg_program *p = NULL;
    snprintf(text, sizeof text,
             ".atlas 1\n.program bytes\n.param r1 x buffer u8 in [n]\n.param r2 y buffer u8 out "
             "[n]\n.param r4 n u64\n.lanes n\n"
             " ldg.u8 r10, [r1 + r255]\n %s r11, r10\n stg.u8 [r2 + r255], r11\n",
             instruction);
    if (hg_program_assemble(text, strlen(text), NULL, &p) != HG_OK)
        printf("%s: not run: %s\n", instruction, hg_last_error_text());
    return p;
}

static void bench_bytes(hg_backend *b, const char *instruction, uint8_t (*expected)(uint8_t),
                        int classes) {
    hg_program *p = byte_program(instruction);
    if (!p) return;
    bytes user;
    hg_buffer in, out;
    hg_executable *e;
    hg_params *params = hg_params_create();
    bench_samples samples[4];
    user.in = large(BYTES);
    user.out = large(BYTES);
    for (int i = 0; i < 256; i++) table[i] = expected((uint8_t)i);
    for (size_t i = 0; i < BYTES; i++)
        user.in[i] = (uint8_t)((i * 167 + i / 256) % (classes ? 96 : 256));
    OK(hg_buffer_import(b, user.in, BYTES, &in));
    OK(hg_buffer_import(b, user.out, BYTES, &out));
    OK(hg_params_set_buffer(params, "x", in));
    OK(hg_params_set_buffer(params, "y", out));
    OK(hg_executable_create(b, p, &e));
    OK(hg_binding_create(e, NULL, params, &user.binding));
    run_binding(&user);
    for (size_t i = 0; i < BYTES; i++)
        if (user.out[i] != table[user.in[i]]) die("a byte is wrong");
    side sides[] = {
        {run_binding, &user}, {run_copy, &user}, {run_table, &user}, {run_buffer, &user}};
    race(sides, strcmp(instruction, "cls.get") == 0 ? 4 : 3, 0, samples);
    char what[64];
    snprintf(what, sizeof what, "%s over 64 MiB, lanes", instruction);
    ratio(what, &samples[0], &samples[1], "memcpy", 1.0, 2.0 * BYTES);
    ratio("", &samples[0], &samples[2], "plain C, table of 256", 0, 2.0 * BYTES);
    if (strcmp(instruction, "cls.get") == 0) {
        ratio("hg_class_of_bytes over 64 MiB", &samples[3], &samples[1], "memcpy", 0, 2.0 * BYTES);
        printf("%-46s %6.2f GB/s of bytes  goal >= 5 %s\n", "",
               BYTES / bench_median(&samples[3]) * 1e-9,
               BYTES / bench_median(&samples[3]) >= 5e9 ? "met" : "NOT MET");
    }
    hg_binding_destroy(user.binding);
    hg_executable_destroy(e);
    hg_params_destroy(params);
    OK(hg_backend_free_buffer(b, in));
    OK(hg_backend_free_buffer(b, out));
    hg_program_release(p);
    free(user.in);
    free(user.out);
}

static uint8_t inverted(uint8_t x) { return (uint8_t)~x; }
static uint8_t mirrored(uint8_t x) { return (uint8_t)((x + 48) % 96); }

int main(void) {
    hg_config config = hg_config_default();
    hg_backend *one, *all;
    setvbuf(stdout, NULL, _IOLBF, 0);
    snprintf(config.backend, sizeof config.backend, "cpu");
    OK(hg_backend_create_with_config(&config, &all));
    config.num_threads = 1;
    OK(hg_backend_create_with_config(&config, &one));
    bench_merge(one, "merge over 16 M f32 in pieces, one thread", 0);
    bench_merge(all, "merge over 16 M f32 in pieces, all threads", 1);
    bench_bytes(one, "not.u8", inverted, 0);
    bench_bytes(one, "mirror", mirrored, 1);
    bench_bytes(one, "cls.get", hg_class_of_byte, 0);
    hg_backend_destroy(one);
    hg_backend_destroy(all);
    return 0;
}
