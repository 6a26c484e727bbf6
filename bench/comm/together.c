/* `bench_together`: one compute-bound launch by devices alone and together: two CPU devices of a
 * thread each, and the CPU with a thread beside OpenCL with one (PoCL: POCL_MAX_PTHREAD_COUNT,
 * which is set here). The lanes are shared by hg_multi_gpu_lanes. */
#include "../bench.h"
#include <hologram/hologram.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = 1 << 19, ROUNDS = 11, WARM_UPS = 8 };

static const char TEXT[] = ".atlas 1\n.program orbit\n.param y buffer f32 out [n]\n.param n u64\n"
                           ".lanes n\n"
                           "    let c = f32(global) / f32(n) * 0.2\n    let x = 0.0\n"
                           "    let k = u32(0)\n    while k < 400 {\n        x = x * x + c\n"
                           "        k = k + 1\n    }\n    y[global] = x\n";

static void check(hg_status status) {
    if (status == HG_OK) return;
    fprintf(stderr, "%s\n", hg_last_error_text());
    exit(1);
}

/* Medians of lanes in a second: of the first device, of the second, of both together. */
static void measure(const char *title, const char *names, const uint32_t *numbers,
                    hg_program *program) {
    hg_multi_gpu *m = NULL;
    bench_samples samples[3] = {{{0}, 0}, {{0}, 0}, {{0}, 0}};
    uint64_t lanes[2] = {0, 0}, n = LANES;
    hg_params *params[2];
    if (hg_multi_gpu_create(names, numbers, 2, &m) != HG_OK) {
        printf("%-18s not run: %s\n", title, hg_last_error_text());
        return;
    }
    for (int i = 0; i < 2; i++) {
        hg_backend *b = hg_multi_gpu_backend(m, (uint32_t)i);
        hg_buffer y;
        params[i] = hg_params_create();
        check(hg_backend_allocate_buffer(b, (uint64_t)LANES * 4, &y));
        check(hg_params_set_buffer(params[i], "y", y));
        check(hg_params_set_scalar(params[i], "n", HG_TYPE_U64, &n));
    }
    for (int round = -WARM_UPS; round < ROUNDS; round++)
        for (int way = 0; way < 3; way++) {
            double start = bench_now();
            if (way < 2)
                check(hg_backend_execute_program_with_params(hg_multi_gpu_backend(m, (uint32_t)way),
                                                             program, NULL, params[way]));
            else
                check(hg_multi_gpu_lanes(m, program, NULL, params[0], lanes));
            if (round >= 0) bench_add(&samples[way], bench_now() - start);
        }
    double a = LANES / bench_median(&samples[0]), b = LANES / bench_median(&samples[1]),
           both = LANES / bench_median(&samples[2]);
    printf("%-18s %.1f and %.1f million lanes a second alone, %.1f together (%.1f - %.1f): %.2f of "
           "the sum, %.2f of the first; the last launch had %llu and %llu\n",
           title, a * 1e-6, b * 1e-6, both * 1e-6, LANES / bench_high(&samples[2]) * 1e-6,
           LANES / bench_low(&samples[2]) * 1e-6, both / (a + b), both / a,
           (unsigned long long)lanes[0], (unsigned long long)lanes[1]);
    for (int i = 0; i < 2; i++) hg_params_destroy(params[i]);
    hg_multi_gpu_destroy(m);
}

int main(void) {
    static const uint32_t two[] = {0, 1}, first[] = {0, 0};
    hg_program *program = NULL;
    setenv("HOLOGRAM_PRETEND", "devices=2", 1);
    setenv("HOLOGRAM_NUM_THREADS", "1", 1);
    setenv("POCL_MAX_PTHREAD_COUNT", "1", 1);
    setenv("POCL_CPU_MAX_CU_COUNT", "1", 1);
    check(hg_program_assemble(TEXT, strlen(TEXT), NULL, &program));
    measure("two of the CPU", "cpu+cpu", two, program);
    measure("CPU and OpenCL", "cpu+opencl", first, program);
    hg_program_release(program);
    return 0;
}
