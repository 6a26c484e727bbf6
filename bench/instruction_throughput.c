/* How long an instruction takes a lane: a row of copies of it in one kernel over many lanes, less the same kernel with half of them, on one
 * thread; beside it the same row written as a loop in C for this machine. `instruction_throughput [BACKEND]` */
#include "bench.h"
#include "calls.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = 1 << 18, COPIES = 64, ROUNDS = 9 };

static float f32[LANES];
static double f64[LANES];
static uint32_t u32[LANES];

static float of_f32 = 1.25f; /* no constants for the compiler */
static double of_f64 = 1.25;
static uint32_t of_u32 = 7;

/* COPIES dependent steps of each lane. */
#define PEER(name, type, array, step)                    \
    static void name(void) {                             \
        for (int i = 0; i < LANES; i++) {                \
            type x = array[i];                           \
            for (int k = 0; k < COPIES; k++) x = (step); \
            array[i] = x;                                \
        }                                                \
    }
PEER(peer_add_f32, float, f32, x + of_f32)
PEER(peer_mul_f32, float, f32, x *of_f32)
PEER(peer_div_f32, float, f32, x / of_f32)
PEER(peer_sqrt_f32, float, f32, sqrtf(x))
PEER(peer_add_f64, double, f64, x + of_f64)
PEER(peer_div_u32, uint32_t, u32, x / of_u32)

typedef struct row {
    const char *instruction; /* up to its operands; r10 is result and first source, r11 the second */
    const char *operands, *type;
    void (*peer)(void);
} row;
static const row ROWS[] = {
    {"add", "r10, r10, r11", "u32", NULL},
    {"mul", "r10, r10, r11", "u32", NULL},
    {"div", "r10, r10, r11", "u32", peer_div_u32},
    {"add", "r10, r10, r11", "u64", NULL},
    {"mul", "r10, r10, r11", "u64", NULL},
    {"add", "r10, r10, r11", "u256", NULL},
    {"mul", "r10, r10, r11", "u256", NULL},
    {"add", "r10, r10, r11", "f16", NULL},
    {"add", "r10, r10, r11", "f32", peer_add_f32},
    {"mul", "r10, r10, r11", "f32", peer_mul_f32},
    {"div", "r10, r10, r11", "f32", peer_div_f32},
    {"fma", "r10, r10, r11, r11", "f32", NULL},
    {"sqrt", "r10, r10", "f32", peer_sqrt_f32},
    {"exp", "r10, r10", "f32", NULL},
    {"sin", "r10, r10", "f32", NULL},
    {"add", "r10, r10, r11", "f64", peer_add_f64},
    {"fma", "r10, r10, r11, r11", "f64", NULL},
    {"log", "r10, r10", "f64", NULL},
};

static hg_binding *bind(hg_backend *b, const row *r, int copies, hg_buffer buffer) {
    char *text = NULL;
    size_t length = 0;
    hg_params *params = hg_params_create();
    FILE *out = open_memstream(&text, &length);
    if (!out || !params) die("memory");
    const char *one = r->type[0] == 'u' ? "7" : "1.25";
    fprintf(out, ".atlas 1\n.program row\n.param r1 x buffer %s inout\n mov_imm.u32 r250, %d\n shl.u64 r0, r255, r250\n", r->type,
            (int)log2((double)(r->type[1] == '2' ? 32 : atoi(r->type + 1) / 8)));
    fprintf(out, " mov_imm.%s r11, %s\n ldg.%s r10, [r1 + r0]\n", r->type, one, r->type);
    for (int i = 0; i < copies; i++) fprintf(out, " %s.%s %s\n", r->instruction, r->type, r->operands);
    fprintf(out, " stg.%s [r1 + r0], r10\n", r->type);
    fclose(out);
    hg_launch launch = hg_launch_linear(LANES);
    OK(hg_params_set_buffer(params, "x", buffer));
    return bind_text(b, text, length, &launch, params);
}

static void measure(hg_backend *b, const row *r) {
    bench_samples many = {{0}, 0}, few = {{0}, 0}, peer = {{0}, 0};
    hg_buffer buffer;
    OK(hg_backend_allocate_buffer(b, (uint64_t)LANES * 32, &buffer));
    hg_binding *all = bind(b, r, COPIES, buffer), *half = bind(b, r, COPIES / 2, buffer);
    for (int i = 0; i < ROUNDS; i++) {
        time_both(all, half, i, &many, &few);
        if (!r->peer) continue;
        double start = bench_now();
        r->peer();
        if (i) bench_add(&peer, bench_now() - start);
    }
    double each = (bench_low(&many) - bench_low(&few)) / ((double)LANES * COPIES / 2) * 1e9;
    printf("%-6s %-5s %9.3f ns a lane %9.2f G/s", r->instruction, r->type, each, 1 / each);
    if (r->peer) {
        double theirs = bench_low(&peer) / ((double)LANES * COPIES) * 1e9;
        printf("   C %7.3f ns, %6.2f x", theirs, each / theirs);
    }
    printf("\n");
    hg_binding_destroy(all);
    hg_binding_destroy(half);
    OK(hg_backend_free_buffer(b, buffer));
}

int main(int argc, char **argv) {
    hg_config config;
    hg_backend *b = NULL;
    if (argc > 2) of_f32 = 1.5f, of_f64 = 1.5, of_u32 = 3;
    OK(hg_config_from_env(&config));
    snprintf(config.backend, sizeof config.backend, "%s", argc > 1 ? argv[1] : "cpu");
    config.num_threads = 1;
    OK(hg_backend_create_with_config(&config, &b));
    for (int i = 0; i < LANES; i++) {
        f32[i] = 1 + (float)i;
        f64[i] = 1 + (double)i;
        u32[i] = (uint32_t)i * 2654435761u;
    }
    printf("%d copies in a row over %d lanes on %s, one thread\n", (int)COPIES, (int)LANES, hg_backend_name(b));
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) measure(b, &ROWS[i]);
    hg_backend_destroy(b);
    return 0;
}
