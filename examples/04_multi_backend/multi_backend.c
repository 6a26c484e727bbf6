/* One program on every backend found: the same inputs, and the same bits wherever a device is
 * exact. Usage: multi_backend [NUMBER OF ELEMENTS] */
#include <hologram/hologram.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* y = exp(-x²) lane by lane, then its sum in every lane: y / sum. */
static const char PROGRAM[] = ".atlas 1\n"
                              ".program bell\n"
                              ".param r1 x buffer f32 in [n]\n"
                              ".param r2 y buffer f32 out [n]\n"
                              ".param r4 n u64\n"
                              ".lanes n\n"
                              "    mov_imm.u32 r250, 2\n"
                              "    shl.u64 r0, r255, r250\n"
                              "    ldg.f32 r10, [r1 + r0]\n"
                              "    mul.f32 r11, r10, r10\n"
                              "    neg.f32 r11, r11\n"
                              "    exp.f32 r11, r11\n"
                              "    stg.f32 [r2 + r0], r11\n"
                              "    parallel_reduce.f32 r12, r2, sum, r4\n"
                              "    ldg.f32 r11, [r2 + r0]\n"
                              "    div.f32 r11, r11, r12\n"
                              "    stg.f32 [r2 + r0], r11\n";

/* What a device makes of x. */
static hg_status compute(hg_backend *backend, const hg_program *program, const float *x, float *y,
                         uint64_t n) {
    hg_typed_buffer in, out;
    hg_params *params = hg_params_create();
    if (!params) return HG_ERROR_OUT_OF_MEMORY;
    hg_status status = hg_allocate_typed(backend, HG_TYPE_F32, n, &in);
    if (status == HG_OK) status = hg_allocate_typed(backend, HG_TYPE_F32, n, &out);
    if (status == HG_OK) status = hg_copy_to(backend, in, x, n);
    if (status == HG_OK) status = hg_params_set_buffer(params, "x", in.buffer);
    if (status == HG_OK) status = hg_params_set_buffer(params, "y", out.buffer);
    if (status == HG_OK)
        status = hg_backend_execute_program_with_params(backend, program, NULL, params);
    if (status == HG_OK) status = hg_copy_from(backend, out, y, n);
    hg_params_destroy(params);
    return status; /* the buffers go with the backend */
}

/* One line about a device. Returns 1 when it is exact and its bits are not those of the CPU. */
static int try_device(const hg_device_info *device, const hg_program *program, const float *x,
                      const float *expected, float *y, uint64_t n) {
    hg_backend *backend = NULL;
    hg_device_info found;
    uint64_t differing = 0;
    if (!device->available) {
        printf("%-7s -  %s\n", device->backend, device->reason);
        return 0;
    }
    memset(y, 0, (size_t)n * sizeof *y);
    if (hg_backend_create(device->backend, device->device, &backend) != HG_OK ||
        hg_backend_device(backend, &found) != HG_OK ||
        compute(backend, program, x, y, n) != HG_OK) {
        printf("%-7s %u  %s: %s\n", device->backend, (unsigned)device->device, device->name,
               hg_last_error_text());
        hg_backend_destroy(backend);
        return 0;
    }
    for (uint64_t i = 0; i < n; i++) differing += memcmp(&y[i], &expected[i], sizeof *y) != 0;
    printf("%-7s %u  %s, %s: ", device->backend, (unsigned)device->device, device->name,
           found.exact ? "exact" : "bounded");
    if (differing)
        printf("%llu of %llu elements differ\n", (unsigned long long)differing,
               (unsigned long long)n);
    else
        printf("the CPU's bits\n");
    hg_backend_destroy(backend);
    return found.exact && differing;
}

int main(int argc, char **argv) {
    uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 100000;
    size_t count = 0, room;
    hg_backend *cpu = NULL;
    hg_program *program = NULL;
    int wrong = 0;
    if (n == 0 || n > 100000000) n = 100000;
    float *x = calloc((size_t)n, sizeof *x), *expected = calloc((size_t)n, sizeof *x),
          *y = calloc((size_t)n, sizeof *x);
    if (!x || !expected || !y || hg_devices(NULL, 0, &room) != HG_OK) return 1;
    hg_device_info *devices = calloc(room, sizeof *devices);
    for (uint64_t i = 0; i < n; i++) x[i] = (float)i / (float)n * 8 - 4;
    if (!devices || hg_devices(devices, room, &count) != HG_OK ||
        hg_program_assemble(PROGRAM, strlen(PROGRAM), NULL, &program) != HG_OK ||
        hg_backend_create("cpu", 0, &cpu) != HG_OK ||
        compute(cpu, program, x, expected, n) != HG_OK) {
        fprintf(stderr, "%s\n", hg_last_error_text());
        return 1;
    }
    for (size_t i = 0; i < count && i < room; i++)
        if (strcmp(devices[i].backend, "null") != 0) /* computes nothing */
            wrong += try_device(&devices[i], program, x, expected, y, n);
    hg_backend_destroy(cpu);
    hg_program_release(program);
    free(devices);
    free(x);
    free(expected);
    free(y);
    return wrong != 0;
}
