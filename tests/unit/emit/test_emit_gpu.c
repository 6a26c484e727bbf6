/* test: labels=slow timeout=300
 * CUDA C, HIP and MSL text of kernels in device form: compiled by clang++ with the headers of
 * tests/shim it does what kir_eval.h says and what plain C does. Where NVRTC is installed it
 * compiles the CUDA C for an old and a new architecture without a warning, and the golden kernels
 * without local memory. */
#include "emit/c_dialect.h"
#include "support/device_checks.h"
#include "support/nvrtc.h"
#include "support/sanitized.h"
#include "support/shim_driver.h"

static int architectures[NVRTC_ARCHITECTURES], architecture_count;

static void compile_by_nvrtc(const char *text, const char *name) {
    char message[2000];
    nvrtc_kernel kernel;
    for (int i = 0; i < architecture_count; i++)
        CHECK_MESSAGE(nvrtc_compile(text, architectures[i], &kernel, message), "%s: %s", name,
                      message);
}

/* Their registers are printed; what lies in local memory is a spill or an array that the printer
 * should not have made. */
static void test_golden(const char *name) {
    char path[256], message[2000];
    static char text[1 << 20];
    nvrtc_kernel kernel;
    snprintf(path, sizeof path, "%s/tests/golden/%s.cu", HG_SOURCE_DIR, name);
    FILE *f = fopen(path, "r");
    CHECK_MESSAGE(f != NULL, "%s", path);
    if (!f) return;
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    (void)fclose(f);
    for (int i = 0; i < architecture_count; i++) {
        CHECK_MESSAGE(nvrtc_compile(text, architectures[i], &kernel, message), "%s: %s", name,
                      message);
        CHECK_MESSAGE(kernel.stack_bytes == 0 && kernel.spill_bytes == 0 && kernel.registers > 0,
                      "%s: %s", name, message);
        fprintf(stderr, "%s, sm_%d: %u registers\n", name, architectures[i], kernel.registers);
    }
}

static void test_language(const char *name, const c_dialect *dialect, const hg_driver *driver,
                          bool whole) {
    device_fixture fixture;
    char reason[256] = "";
    if (!device_open(&fixture, driver, "", reason)) {
        SKIP(reason);
        return;
    }
    fprintf(stderr, "%s\n", name);
    device_checks(&(device_checks_options){
        .dialect = dialect,
        .addressed = fixture.caps->compiler.target.addressed,
        .f64 = whole,
        .atomic64 = whole,
        .large_record = whole ? 600 : 0,
        .device = &fixture,
        .check_text = dialect == &emit_cuda_dialect && architecture_count ? compile_by_nvrtc
                                                                          : NULL});
    device_shut(&fixture);
}

int main(void) {
    char reason[256];
    if (nvrtc_open(reason)) {
        architecture_count = nvrtc_architectures(architectures);
        if (SANITIZED && architecture_count > 1)
            architecture_count = 1; /* the compiler is not what is looked at then */
    } else
        SKIP(reason);
    static const char *const GOLDEN[] = {"axpy", "block_reverse", "center", "collatz", "gcd3"};
    for (size_t i = 0; i < HG_COUNT_OF(GOLDEN) && architecture_count; i++) test_golden(GOLDEN[i]);
    test_language("CUDA C", &emit_cuda_dialect, &hg_driver_shim_cuda, true);
    test_language("HIP", &emit_hip_dialect, &hg_driver_shim_hip, true);
    test_language("MSL", &emit_msl_dialect, &hg_driver_shim_msl, false);
    return test_done();
}
