/* Launches of one queue after one that faulted, on devices whose memory the host does not see: the
 * record of the fault is no later launch's. */
#include "support/runtime_support.h"

enum { N = 16 };

static hg_buffer numbers(hg_backend *b, float first) {
    float x[N * N];
    for (int i = 0; i < N * N; i++) x[i] = first + (float)(i % 7);
    return make_buffer(b, x, sizeof x);
}

static hg_status run(hg_backend *b, const char *text, const hg_buffer *buffers) {
    static const char *const NAMES[] = {"a", "b", "c"};
    hg_program *program = assemble(text);
    hg_params *params = hg_params_create();
    for (int i = 0; i < 3; i++) CHECK_OK(hg_params_set_buffer(params, NAMES[i], buffers[i]));
    hg_status status = hg_backend_execute_program_with_params(b, program, NULL, params);
    hg_params_destroy(params);
    hg_program_release(program);
    return status;
}

#define ARRAYS                                                                               \
    ".param a buffer f32 in [256]\n.param b buffer f32 in [256]\n.param c buffer f32 inout " \
    "[256]\n"

/* One that faults, one whose kernels cannot, one that could. */
static void check(hg_backend *b) {
    static const char FAULTS[] = PROGRAM(
        ARRAYS ".lanes 256\n.reg x u32\n    rem x, 5, 0\n    stg.u32 [c[global]], x\n");
    static const char PRODUCT[] = PROGRAM(ARRAYS
                                          ".lanes 1\n    gemm c=c, a=a, b=b, m=16, n=16, k=16\n");
    static const char COULD[] = PROGRAM(ARRAYS
                                        ".lanes 256\n.reg x, y u32\n    ldg.u32 y, [a[global]]\n   "
                                        " div x, 5, y\n    stg.u32 [c[global]], x\n");
    const hg_buffer buffers[] = {numbers(b, 1), numbers(b, 2), numbers(b, 3)};
    for (int round = 0; round < 3; round++) {
        CHECK_STATUS(run(b, FAULTS, buffers), HG_ERROR_EXECUTION_FAILED);
        CHECK_OK(run(b, PRODUCT, buffers));
        CHECK_OK(run(b, COULD, buffers));
    }
    for (int i = 0; i < 3; i++) CHECK_OK(hg_backend_free_buffer(b, buffers[i]));
}

int main(void) {
    static const char *const BACKENDS[] = {"vulkan", "opencl", "cuda"};
    for (size_t i = 0; i < sizeof BACKENDS / sizeof *BACKENDS; i++) {
        hg_config config = hg_config_default();
        hg_backend *b = NULL;
        snprintf(config.backend, sizeof config.backend, "%s", BACKENDS[i]);
        set_pretend(&config, "staging");
        if (hg_backend_create_with_config(&config, &b) != HG_OK) {
            printf("skipped %s: %s\n", BACKENDS[i], hg_last_error()->message);
            continue;
        }
        check(b);
        hg_backend_destroy(b);
    }
    return test_done();
}
