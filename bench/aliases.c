/* What it is worth to a device's compiler that slots are distinct: the same launch over the same
 * memory, once with a buffer that ends where the next one begins, and once with one that is a page
 * longer than anything reads, so that the two overlap and code without `restrict` runs. In turns,
 * in one run; medians. ninja -C build/release bench_aliases && build/release/bench/bench_aliases
 * [BACKEND [DEVICE]] */
#include "bench.h"
#include "calls.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = 1 << 15, PAGE = 4096, INPUT = LANES * 4, ROWS = LANES * 256, ROUNDS = 31 };

#define HEAD                                                                                       \
    ".atlas 1\n.program p\n.param r1 a buffer f32 in\n.param r2 x buffer f32 in\n.param r3 y "     \
    "buffer f32 inout\n"                                                                           \
    ".param r5 n u64\n.lanes n\n mov_imm.u32 r250, 2\n shl.u64 r0, r255, r250\n mov_imm.u64 r32, " \
    "256\n"                                                                                        \
    " mov_imm.u64 r30, 0\n mov_imm.u64 r31, 4\n"

static const struct {
    const char *name, *text;
} WORK[] = {
    {"y = a + y", HEAD " ldg.f32 r10, [r1 + r0]\n ldg.f32 r11, [r3 + r0]\n add.f32 r11, r11, r10\n "
                       "stg.f32 [r3 + r0], r11\n exit\n"},
    {"a polynomial of 64 terms, its sum in a register",
     HEAD " ldg.f32 r10, [r2 + r0]\n ldg.f32 r11, [r3 + r0]\nagain:\n ldg.f32 r12, [r1 + r30]\n "
          "fma.f32 r11, r11, r10, r12\n"
          " add.u64 r30, r30, r31\n setltu.u64 p0, r30, r32\n bra.p0 @again\n stg.f32 [r3 + r0], "
          "r11\n exit\n"},
    {"the same, its sum in memory",
     HEAD "again:\n ldg.f32 r10, [r2 + r0]\n ldg.f32 r11, [r3 + r0]\n ldg.f32 r12, [r1 + r30]\n "
          "fma.f32 r11, r11, r10, r12\n"
          " stg.f32 [r3 + r0], r11\n add.u64 r30, r30, r31\n setltu.u64 p0, r30, r32\n bra.p0 "
          "@again\n exit\n"},
    {"64 numbers over the root of one that is read again",
     HEAD " mul.u64 r41, r255, r32\nagain:\n ldg.f32 r10, [r1 + r0]\n sqrt.f32 r10, r10\n "
          "mov_imm.f32 r13, 1.0\n div.f32 r10, r13, r10\n"
          " ldg.f32 r12, [r2 + r30]\n mul.f32 r12, r12, r10\n stg.f32 [r3 + r41], r12\n add.u64 "
          "r41, r41, r31\n"
          " add.u64 r30, r30, r31\n setltu.u64 p0, r30, r32\n bra.p0 @again\n exit\n"},
};

static hg_binding *bind(hg_executable *e, hg_buffer a, hg_buffer x, hg_buffer y) {
    hg_params *params = hg_params_create();
    hg_binding *binding = NULL;
    OK(hg_params_set_buffer(params, "a", a));
    OK(hg_params_set_buffer(params, "x", x));
    OK(hg_params_set_buffer(params, "y", y));
    OK(hg_params_set_scalar(params, "n", HG_TYPE_U64, &(uint64_t){LANES}));
    OK(hg_binding_create(e, NULL, params, &binding));
    hg_params_destroy(params);
    return binding;
}

static void measure(hg_backend *b, const char *name, const char *text, hg_buffer apart,
                    hg_buffer longer, hg_buffer x, hg_buffer y) {
    hg_program *p = NULL;
    hg_executable *e = NULL;
    bench_samples times[2] = {{.count = 0}, {.count = 0}};
    OK(hg_program_assemble(text, strlen(text), NULL, &p));
    OK(hg_executable_create(b, p, &e));
    hg_binding *bindings[2] = {bind(e, apart, x, y), bind(e, longer, x, y)};
    for (int round = -2; round < ROUNDS; round++)
        for (int i = 0; i < 2; i++) {
            double from = bench_now();
            OK(hg_binding_launch(bindings[i]));
            if (round >= 0) bench_add(&times[i], bench_now() - from);
        }
    double distinct = bench_median(&times[0]), overlapping = bench_median(&times[1]);
    printf("%-52s distinct %8.3f ms (%.3f - %.3f), overlapping %8.3f ms (%.3f - %.3f): %.2f x\n",
           name, distinct * 1e3, bench_low(&times[0]) * 1e3, bench_high(&times[0]) * 1e3,
           overlapping * 1e3, bench_low(&times[1]) * 1e3, bench_high(&times[1]) * 1e3,
           overlapping / distinct);
    for (int i = 0; i < 2; i++) hg_binding_destroy(bindings[i]);
    hg_executable_destroy(e);
    hg_program_release(p);
}

int main(int argc, char **argv) {
    hg_backend *b = NULL;
    hg_buffer apart, longer, x, y;
    size_t bytes = INPUT + ROWS + PAGE;
    uint8_t *memory = aligned_alloc(PAGE, (bytes + PAGE - 1) / PAGE * PAGE);
    if (!memory) return 1;
    memset(memory, 0, bytes);
    OK(hg_backend_create(argc > 1 ? argv[1] : "opencl", argc > 2 ? (uint32_t)atoi(argv[2]) : 0,
                         &b));
    OK(hg_buffer_import(b, memory, INPUT, &apart));
    OK(hg_buffer_import(b, memory, INPUT + PAGE, &longer));
    OK(hg_buffer_import(b, memory + INPUT, ROWS, &y));
    OK(hg_backend_allocate_buffer(b, INPUT, &x));
    for (size_t i = 0; i < sizeof WORK / sizeof *WORK; i++)
        measure(b, WORK[i].name, WORK[i].text, apart, longer, x, y);
    hg_backend_destroy(b);
    free(memory);
    return 0;
}
