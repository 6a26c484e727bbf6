/* test: timeout=300 */
/* Several copies of LLVM in one process: that of libhologram_jit.so, PoCL's, lavapipe's. Each order
 * of opening them is a process of its own, and each compiler works again after the others have. */
#include "driver/driver.h"
#include "support/runtime_support.h"
#include "support/sanitized.h"
#include <sys/wait.h>
#include <unistd.h>

extern const hg_driver hg_driver_cpu;

enum { LANES = 777, SECONDS = 240 };

/* y = exp(x)·k after some rounds; another k is another kernel. */
#define TEXT(k)                                                                               \
    PROGRAM(".param r1 x buffer f32 in [n]\n.param r2 y buffer f32 out [n]\n.param r4 n "     \
            "u64\n.lanes n\n"                                                                 \
            " mov_imm.u32 r250, 2\n shl.u64 r0, r255, r250\n ldg.f32 r10, [r1 + r0]\n "       \
            "mov_imm.f32 r12, " k "\n mov_imm.f32 r11, 0\n loop r30, 5\n exp.f32 r13, r10\n " \
            "fma.f32 r11, r13, r12, r11\n mul.f32 r10, r10, r12\n"                            \
            " endloop\n stg.f32 [r2 + r0], r11\n")
static const char *const TEXTS[] = {TEXT("0.5"), TEXT("0.25")};

/* False: no such device. */
static bool run_on(const char *name, const char *text, float out[LANES]) {
    hg_config config = hg_config_default();
    hg_backend *b = NULL;
    float in[LANES];
    snprintf(config.backend, sizeof config.backend, "%s", name);
    memcpy(config.jit, "on", 3);
    config.cache_dir = "off";
    if (hg_backend_create_with_config(&config, &b) != HG_OK) return false;
    for (int i = 0; i < LANES; i++) in[i] = (float)i * 0.01f - 3;
    hg_buffer x = make_buffer(b, in, sizeof in), y = make_buffer(b, NULL, sizeof in);
    hg_program *program = assemble(text);
    hg_params *params = hg_params_create();
    CHECK_OK(hg_params_set_buffer(params, "x", x));
    CHECK_OK(hg_params_set_buffer(params, "y", y));
    CHECK_OK(hg_backend_execute_program_with_params(b, program, NULL, params));
    CHECK_OK(hg_backend_copy_from_buffer(b, y, out, sizeof in));
    hg_params_destroy(params);
    hg_program_release(program);
    hg_backend_destroy(b);
    return true;
}

/* In a process of its own: every device of the order, twice, each time with a kernel that none has
 * seen. */
static int run_order(const char *const order[3]) {
    for (int round = 0; round < 2; round++) {
        float first[LANES], other[LANES];
        bool has_first = false;
        for (int i = 0; i < 3; i++) {
            if (!run_on(order[i], TEXTS[round], has_first ? other : first)) continue;
            CHECK_MESSAGE(!has_first || memcmp(first, other, sizeof first) == 0, "%s differs",
                          order[i]);
            has_first = true;
        }
    }
    return test_failed != 0;
}

int main(void) {
    static const char *const orders[][3] = {
        {"cpu", "opencl", "vulkan"}, {"vulkan", "opencl", "cpu"}, {"opencl", "cpu", "vulkan"}};
    if (SANITIZED) {
        SKIP("builds with sanitizers have no libhologram_jit.so");
        return test_done();
    }
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        int status = -1;
        pid_t pid = fork();
        if (pid == 0) {
            alarm(SECONDS);
            exit(run_order(orders[i]));
        }
        CHECK(waitpid(pid, &status, 0) == pid);
        CHECK_MESSAGE(status == 0, "%s, %s, %s: status %d", orders[i][0], orders[i][1],
                      orders[i][2], status);
    }
    char text[256];
    if (!hg_driver_cpu.improves_by(text)) SKIP(text);
    return test_done();
}
