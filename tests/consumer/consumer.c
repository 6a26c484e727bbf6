/* A C program against the installed library: assembles a program, runs it on three numbers, looks
 * at the result; and gets a mistake reported with its place. */
#include <hologram/hologram.h>
#include <stdio.h>
#include <string.h>

static const char AXPY[] = ".atlas 1\n"
                           ".program axpy\n"
                           ".param r1 x buffer f32 in [n]\n"
                           ".param r2 y buffer f32 inout [n]\n"
                           ".param r5 alpha f32\n"
                           ".param r4 n u64\n"
                           ".lanes n\n"
                           "    mov_imm.u32 r250, 2\n"
                           "    shl.u64 r0, r255, r250\n"
                           "    ldg.f32 r10, [r1 + r0]\n"
                           "    ldg.f32 r11, [r2 + r0]\n"
                           "    fma.f32 r12, r5, r10, r11\n"
                           "    stg.f32 [r2 + r0], r12\n"
                           "    exit\n";

#define TRY(call)                                                     \
    do {                                                              \
        if ((call) != HG_OK) {                                        \
            fprintf(stderr, "%s: %s\n", #call, hg_last_error_text()); \
            return 1;                                                 \
        }                                                             \
    } while (0)

int main(void) {
    float x[3] = {1, 2, 3}, y[3] = {10, 20, 30}, alpha = 2;
    hg_program *program;
    hg_backend *backend;
    hg_buffer xb, yb;
    TRY(hg_program_assemble(AXPY, strlen(AXPY), NULL, &program));
    TRY(hg_backend_create("cpu", 0, &backend));
    TRY(hg_backend_allocate_buffer(backend, sizeof x, &xb));
    TRY(hg_backend_allocate_buffer(backend, sizeof y, &yb));
    TRY(hg_backend_copy_to_buffer(backend, xb, x, sizeof x));
    TRY(hg_backend_copy_to_buffer(backend, yb, y, sizeof y));
    hg_params *params = hg_params_create();
    TRY(hg_params_set_buffer(params, "x", xb));
    TRY(hg_params_set_buffer(params, "y", yb));
    TRY(hg_params_set_scalar(params, "alpha", HG_TYPE_F32, &alpha));
    TRY(hg_backend_execute_program_with_params(backend, program, NULL, params));
    TRY(hg_backend_copy_from_buffer(backend, yb, y, sizeof y));
    if (y[0] != 12 || y[1] != 24 || y[2] != 36) {
        fprintf(stderr, "expected 12 24 36, got %g %g %g\n", (double)y[0], (double)y[1],
                (double)y[2]);
        return 1;
    }
    hg_program *wrong;
    if (hg_program_assemble(".atlas 1\n.program p\n    nonsense r1\n", 35, NULL, &wrong) !=
            HG_ERROR_ISA ||
        hg_last_error()->line != 3) {
        fprintf(stderr, "expected an error at line 3, got '%s' at line %u\n", hg_last_error_text(),
                (unsigned)hg_last_error()->line);
        return 1;
    }
    hg_params_destroy(params);
    TRY(hg_backend_free_buffer(backend, xb));
    TRY(hg_backend_free_buffer(backend, yb));
    hg_backend_destroy(backend);
    hg_program_release(program);
    return 0;
}
