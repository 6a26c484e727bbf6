/* How long an instruction takes a lane: a row of copies of it in one kernel over many lanes, less
 * the same kernel with half of them, on one thread, as native code unless HOLOGRAM_JIT says
 * otherwise; beside it the same row written as a loop in C for this machine.
 * `instruction_throughput [BACKEND]` No compiler may make one instruction of several: both operands
 * come from memory, and where x + a + a would be x + 2a, each copy's result is the other operand of
 * the next. A figure below the time of the machine's widest vectors is an error of this program. */
#include "bench.h"
#include "calls.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LANES = 1 << 14,
    COPIES = 256,
    ROUNDS = 30
}; /* what they load stays in the second-level cache */

static float f32[LANES], f32_second[LANES];
static double f64[LANES], f64_second[LANES];
static uint32_t u32[LANES], u32_second[LANES];

/* COPIES dependent steps of each lane, two at a time. */
#define PEER(name, type, array, step, other_step)     \
    static void name(void) {                          \
        for (int i = 0; i < LANES; i++) {             \
            type x = array[i], y = array##_second[i]; \
            for (int k = 0; k < COPIES; k += 2) {     \
                x = (step);                           \
                other_step;                           \
            }                                         \
            array[i] = x;                             \
        }                                             \
    }
PEER(peer_add_f32, float, f32, x + y, y = y + x)
PEER(peer_mul_f32, float, f32, x *y, y = y * x)
PEER(peer_div_f32, float, f32, x / y, x = x / y)
PEER(peer_sqrt_f32, float, f32, sqrtf(x), x = sqrtf(x); (void)y)
PEER(peer_add_f64, double, f64, x + y, y = y + x)
PEER(peer_div_u32, uint32_t, u32, x / y, x = x / y)

typedef struct row {
    const char *instruction; /* r10 is result and first source, r11 the second */
    const char *operands, *type;
    void (*peer)(void);
    const char *others; /* of every second copy; NULL: the same */
} row;
static const row ROWS[] = {
    {"add", "r10, r10, r11", "u32", NULL, "r11, r11, r10"},
    {"mul", "r10, r10, r11", "u32", NULL, "r11, r11, r10"},
    {"div", "r10, r10, r11", "u32", peer_div_u32, NULL},
    {"add", "r10, r10, r11", "u64", NULL, "r11, r11, r10"},
    {"mul", "r10, r10, r11", "u64", NULL, "r11, r11, r10"},
    {"add", "r10, r10, r11", "u256", NULL, "r11, r11, r10"},
    {"mul", "r10, r10, r11", "u256", NULL, "r11, r11, r10"},
    {"add", "r10, r10, r11", "f16", NULL, "r11, r11, r10"},
    {"add", "r10, r10, r11", "f32", peer_add_f32, "r11, r11, r10"},
    {"mul", "r10, r10, r11", "f32", peer_mul_f32, "r11, r11, r10"},
    {"div", "r10, r10, r11", "f32", peer_div_f32, NULL},
    {"fma", "r10, r10, r11, r11", "f32", NULL, "r11, r11, r10, r10"},
    {"sqrt", "r10, r10", "f32", peer_sqrt_f32, NULL},
    {"exp", "r10, r10", "f32", NULL, NULL},
    {"sin", "r10, r10", "f32", NULL, NULL},
    {"add", "r10, r10, r11", "f64", peer_add_f64, "r11, r11, r10"},
    {"fma", "r10, r10, r11, r11", "f64", NULL, "r11, r11, r10, r10"},
    {"log", "r10, r10", "f64", NULL, NULL},
};

static hg_binding *bind(hg_backend *b, const row *r, int copies, hg_buffer buffer,
                        hg_buffer second) {
    char *text = NULL;
    size_t length = 0;
    hg_params *params = hg_params_create();
    FILE *out = open_memstream(&text, &length);
    if (!out || !params) die("memory");
    fprintf(out,
            ".atlas 1\n.program row\n.param r1 x buffer %s inout\n.param r2 y buffer %s in\n "
            "mov_imm.u32 r250, %d\n shl.u64 r0, r255, r250\n",
            r->type, r->type, (int)log2((double)(r->type[1] == '2' ? 32 : atoi(r->type + 1) / 8)));
    fprintf(out, " ldg.%s r11, [r2 + r0]\n ldg.%s r10, [r1 + r0]\n", r->type, r->type);
    for (int i = 0; i < copies; i++)
        fprintf(out, " %s.%s %s\n", r->instruction, r->type,
                i % 2 && r->others ? r->others : r->operands);
    fprintf(out, " stg.%s [r1 + r0], r10\n", r->type);
    fclose(out);
    hg_launch launch = hg_launch_linear(LANES);
    OK(hg_params_set_buffer(params, "x", buffer));
    OK(hg_params_set_buffer(params, "y", second));
    return bind_text(b, text, length, &launch, params);
}

static void measure(hg_backend *b, const row *r) {
    bench_samples many = {{0}, 0}, few = {{0}, 0}, peer = {{0}, 0};
    static uint8_t ones[(size_t)LANES * 32]; /* small numbers that are not 0 of every type */
    const uint8_t *pattern = r->type[0] == 'u'             ? (const uint8_t *)u32_second
                             : strcmp(r->type, "f64") == 0 ? (const uint8_t *)f64_second
                                                           : (const uint8_t *)f32_second;
    hg_buffer buffer, second;
    OK(hg_backend_allocate_buffer(b, (uint64_t)LANES * 32, &buffer));
    OK(hg_backend_allocate_buffer(b, (uint64_t)LANES * 32, &second));
    for (size_t i = 0; i < sizeof ones; i += 8) memcpy(ones + i, pattern, 8);
    OK(hg_backend_copy_to_buffer(b, buffer, ones, sizeof ones));
    OK(hg_backend_copy_to_buffer(b, second, ones, sizeof ones));
    hg_binding *all = bind(b, r, COPIES, buffer, second),
               *half = bind(b, r, COPIES / 2, buffer, second);
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
    OK(hg_backend_free_buffer(b, second));
}

int main(int argc, char **argv) {
    hg_config config;
    hg_backend *b = NULL;
    OK(hg_config_from_env(&config));
    snprintf(config.backend, sizeof config.backend, "%s", argc > 1 ? argv[1] : "cpu");
    config.num_threads = 1;
    if (!getenv("HOLOGRAM_JIT"))
        snprintf(config.jit, sizeof config.jit, "on"); /* from the first launch on */
    OK(hg_backend_create_with_config(&config, &b));
    for (int i = 0; i < LANES; i++) {
        f32[i] = 1 + (float)i;
        f64[i] = 1 + (double)i;
        u32[i] = (uint32_t)i * 2654435761u;
        f32_second[i] = 1.25f;
        f64_second[i] = 1.25;
        u32_second[i] = 7;
    }
    printf("%d copies in a row over %d lanes on %s, one thread\n", (int)COPIES, (int)LANES,
           hg_backend_name(b));
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) measure(b, &ROWS[i]);
    hg_backend_destroy(b);
    return 0;
}
