/* Wide integers: nanoseconds a lane of one operation in a lane program, on one backend, and how
 * long a device's compiler takes for many. Where GMP is installed, its time for the same numbers
 * stands beside, and the results are compared with its.
 *
 *     bench_wide [BUILD] [BACKEND [compile [OPERATIONS]]]      BUILD is what bench/versions gives,
 * and is not looked at */
#include "bench.h"
#include "calls.h"
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef HG_BENCH_GMP
#include <gmp.h>
#endif

enum { ROUNDS = 11, WORDS = 64 };

/* Of all threads: devices here are CPUs, and what else the machine does is not in it. */
static double bench_process(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static uint64_t state = 1;
static uint64_t random64(void) {
    uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* What is measured: a row's name, the instruction, how many bits of the divisor stay, and how. */
typedef struct row {
    const char *name, *instruction;
    uint32_t divisor; /* in quarters of the width; 0: the whole width but 1 to 30 bits */
    bool alone; /* the operation alone: a program with CHAIN of them less one with `or` in their
                   place. Otherwise a program that loads two numbers, does one operation and stores
                 */
} row;
static const row ROWS[] = {{"add", "add", 0, false},
                           {"mul", "mul", 0, false},
                           {"div", "div", 0, false},
                           {"div alone", "div", 0, true},
                           {"rem alone", "rem", 0, true},
                           {"div alone, half", "div", 2, true},
                           {"rem alone, half", "rem", 2, true},
                           {"div alone, quarter", "div", 1, true}};
enum { CHAIN = 4 };

static hg_program *program_of(const char *instruction, uint32_t bits, uint32_t count) {
    char text[1500];
    hg_program *p = NULL;
    uint32_t shift = 0;
    while (8u << shift < bits) shift++;
    int at = snprintf(
        text, sizeof text,
        ".atlas 1\n.program wide\n.param r1 x buffer u%u in [n]\n.param r2 y buffer u%u in [n]\n"
        ".param r3 z buffer u%u out [n]\n.param r4 n u64\n.lanes n\n    mov_imm.u32 r250, %u\n"
        "    shl.u64 r0, r255, r250\n    ldg.u%u r10, [r1 + r0]\n    ldg.u%u r11, [r2 + r0]\n",
        bits, bits, bits, shift, bits, bits);
    for (uint32_t i = 0; i < count; i++)
        at += snprintf(text + at, sizeof text - (size_t)at,
                       "    %s.u%u r12, r10, r11\n    xor.u%u r10, r10, r12\n", instruction, bits,
                       bits);
    if (count == 0)
        at += snprintf(text + at, sizeof text - (size_t)at, "    %s.u%u r10, r10, r11\n",
                       instruction, bits);
    snprintf(text + at, sizeof text - (size_t)at, "    stg.u%u [r3 + r0], r10\n", bits);
    if (hg_program_assemble(text, strlen(text), NULL, &p) != HG_OK) die("assemble");
    return p;
}

static void fill(uint64_t *x, uint64_t *y, size_t n, uint32_t words, uint32_t divisor) {
    for (size_t i = 0; i < n * words; i++) x[i] = random64(), y[i] = random64();
    for (size_t i = 0; i < n; i++) {
        uint64_t *d = y + i * words;
        uint32_t kept = divisor ? (words * divisor + 3) / 4 : words;
        for (uint32_t k = kept; k < words; k++) d[k] = 0;
        d[kept - 1] = (d[kept - 1] | UINT64_C(1) << 63) >> (1 + random64() % 30);
    }
}

/* ---- the peer ---- */

#ifdef HG_BENCH_GMP
static void peer_one(const char *instruction, mp_limb_t *out, const mp_limb_t *a,
                     const mp_limb_t *b, mp_size_t size) {
    mp_limb_t q[WORDS + 1], rest[2 * WORDS];
    mp_size_t used = size;
    while (used > 1 && b[used - 1] == 0) used--;
    if (strcmp(instruction, "add") == 0) {
        (void)mpn_add_n(out, a, b, size);
    } else if (strcmp(instruction, "mul") == 0) {
        mpn_mul_n(rest, a, b, size);
        memcpy(out, rest, (size_t)size * sizeof *out);
    } else {
        bool div = strcmp(instruction, "div") == 0;
        memset(out, 0, (size_t)size * sizeof *out);
        mpn_tdiv_qr(div ? out : q, div ? rest : out, 0, a, size, b, used);
    }
}

static void peer(const char *instruction, uint32_t count, uint64_t *z, const uint64_t *x,
                 const uint64_t *y, size_t n, uint32_t words) {
    mp_limb_t result[WORDS];
    for (size_t i = 0; i < n; i++) {
        const mp_limb_t *b = (const mp_limb_t *)(const void *)(y + i * words);
        mp_limb_t *out = (mp_limb_t *)(void *)(z + i * words);
        memcpy(out, x + i * words, words * 8);
        for (uint32_t k = 0; k < count; k++) {
            peer_one(instruction, result, out, b, (mp_size_t)words);
            mpn_xor_n(out, out, result, (mp_size_t)words);
        }
        if (count) continue;
        peer_one(instruction, result, out, b, (mp_size_t)words);
        memcpy(out, result, words * 8);
    }
}
#endif

/* ---- one row ---- */

/* A program over the same numbers, and what it takes. */
typedef struct side {
    hg_program *program;
    hg_executable *executable;
    hg_binding *binding;
    bench_samples samples;
} side;

static void side_create(side *s, hg_backend *b, const char *instruction, uint32_t bits,
                        uint32_t count, const hg_params *params) {
    s->program = program_of(instruction, bits, count);
    OK(hg_executable_create(b, s->program, &s->executable));
    OK(hg_binding_create(s->executable, NULL, params, &s->binding));
    for (int i = 0; i < 2; i++) OK(hg_binding_launch(s->binding));
}

static void side_time(side *s, bool whole) {
    double t = whole ? bench_process() : bench_cpu();
    OK(hg_binding_launch(s->binding));
    bench_add(&s->samples, (whole ? bench_process() : bench_cpu()) - t);
}

static void side_destroy(side *s) {
    hg_binding_destroy(s->binding);
    hg_executable_destroy(s->executable);
    hg_program_release(s->program);
}

static void measure(hg_backend *b, bool whole, const row *r, uint32_t bits) {
    uint32_t words = bits / 64, count = r->alone ? CHAIN : 0;
    size_t n = ((size_t)1 << 22) / bits, bytes = n * words * 8;
    uint64_t *data[4];
    hg_buffer buffers[3];
    hg_params *params = hg_params_create();
    side own = {0}, base = {0};
    bench_samples theirs = {0};
    for (int i = 0; i < 4; i++) data[i] = calloc(bytes, 1);
    fill(data[0], data[1], n, words, r->divisor);
    for (int i = 0; i < 3; i++) {
        OK(hg_backend_allocate_buffer(b, bytes, &buffers[i]));
        OK(hg_backend_copy_to_buffer(b, buffers[i], data[i], bytes));
        OK(hg_params_set_buffer(params, (const char *[]){"x", "y", "z"}[i], buffers[i]));
    }
    if (r->alone) side_create(&base, b, "or", bits, CHAIN, params);
    side_create(&own, b, r->instruction, bits, count, params);
    for (int i = 0; i < ROUNDS; i++) {
        if (r->alone) side_time(&base, whole);
        side_time(&own, whole);
#ifdef HG_BENCH_GMP
        double t = bench_cpu();
        peer(r->instruction, count, data[3], data[0], data[1], n, words);
        bench_add(&theirs, (bench_cpu() - t) / (r->alone ? CHAIN : 1));
#endif
    }
    OK(hg_binding_launch(own.binding));
    OK(hg_backend_copy_from_buffer(b, buffers[2], data[2], bytes));
    double time = r->alone ? (bench_low(&own.samples) - bench_low(&base.samples)) / CHAIN
                           : bench_low(&own.samples);
    char name[64];
    snprintf(name, sizeof name, "%s, %u bits", r->name, (unsigned)bits);
    printf("%-46s %10.1f ns a lane", name, time / (double)n * 1e9);
#ifdef HG_BENCH_GMP
    if (memcmp(data[2], data[3], bytes) != 0) die("the results are not GMP's");
    printf("   (GMP %.1f)", bench_low(&theirs) / (double)n * 1e9);
#endif
    printf("\n");
    if (r->alone) side_destroy(&base);
    side_destroy(&own);
    hg_params_destroy(params);
    for (int i = 0; i < 3; i++) OK(hg_backend_free_buffer(b, buffers[i]));
    for (int i = 0; i < 4; i++) free(data[i]);
}

/* ---- compile time ---- */

/* A kernel of `pairs` multiplications and additions of u4096 in a row: how long its first launch
 * takes, and its second. A number that differs from run to run keeps it out of every cache. */
static void measure_compile(hg_backend *b, uint32_t pairs) {
    size_t room = 600 + (size_t)pairs * 64, at = 0;
    char *text = malloc(room);
    hg_program *p = NULL;
    hg_buffer x;
    hg_params *params = hg_params_create();
    hg_executable *e;
    hg_binding *binding;
    unsigned long long number = (unsigned long long)(bench_now() * 1e9);
    at += (size_t)snprintf(text, room,
                           ".atlas 1\n.program heavy\n.param r1 x buffer u4096 inout [4]\n    "
                           "cvt.u4096.u64 r12, r255\n"
                           "    mov_imm.u4096 r11, 340282366920938463463374607431%llu\n",
                           number);
    for (uint32_t i = 0; i < pairs; i++)
        at += (size_t)snprintf(text + at, room - at,
                               "    mul.u4096 r12, r12, r11\n    add.u4096 r12, r12, r11\n");
    at += (size_t)snprintf(text + at, room - at, "    stg.u4096 [buf(r1)], r12\n");
    if (hg_program_assemble(text, at, NULL, &p) != HG_OK) die("assemble");
    OK(hg_backend_allocate_buffer(b, 4 * 512, &x));
    OK(hg_params_set_buffer(params, "x", x));
    double start = bench_now();
    OK(hg_executable_create(b, p, &e));
    OK(hg_binding_create(e, NULL, params, &binding));
    hg_status status = hg_binding_launch(binding);
    double first = bench_now() - start;
    if (status != HG_OK) printf("%s\n", hg_last_error_text());
    start = bench_now();
    status = hg_binding_launch(binding);
    printf("%5u multiplications and additions of u4096: first launch %7.2f s, second %7.4f s\n",
           (unsigned)pairs, first, bench_now() - start);
    hg_binding_destroy(binding);
    hg_executable_destroy(e);
    hg_params_destroy(params);
    hg_program_release(p);
    OK(hg_backend_free_buffer(b, x));
    free(text);
}

int main(int argc, char **argv) {
    hg_config config = hg_config_default();
    hg_backend *b;
    setvbuf(stdout, NULL, _IOLBF, 0);
    const char *name = argc > 2 ? argv[2] : "cpu";
    bool whole = strcmp(name, "cpu") != 0;
    snprintf(config.backend, sizeof config.backend, "%s", name);
    config.num_threads = 1;
    config.timeout_ms = 600000;
    OK(hg_backend_create_with_config(&config, &b));
    if (argc > 3) {
        if (argc > 4)
            measure_compile(b, (uint32_t)strtoul(argv[4], NULL, 10));
        else
            for (uint32_t pairs = 1; pairs <= 16; pairs *= 2) measure_compile(b, pairs);
    } else {
        for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++)
            for (uint32_t bits = 128; bits <= 4096; bits *= 2) measure(b, whole, &ROWS[i], bits);
    }
    hg_backend_destroy(b);
    return 0;
}
