/* test: labels=slow timeout=300
 * CUDA C, HIP and MSL text of kernels in device form: compiled by clang++ with the headers of tests/shim it does what kir_eval.h says and what
 * plain C does, and NVRTC, where it is, compiles the CUDA C for each architecture that it knows without a word and without local memory. */
#include "emit/c_dialect.h"
#include "support/device_checks.h"
#include "support/sanitized.h"
#include "support/shim_driver.h"

static void test_language(const char *name, const c_dialect *dialect, const hg_driver *driver, bool whole) {
    device_fixture fixture;
    char reason[256] = "";
    if (!device_open(&fixture, driver, "", reason)) {
        SKIP(reason);
        return;
    }
    fprintf(stderr, "%s\n", name);
    device_checks(&(device_checks_options){.dialect = dialect,
                                           .addressed = fixture.caps->target.addressed,
                                           .f64 = whole,
                                           .atomic64 = whole,
                                           .large_record = whole ? 600 : 0,
                                           .device = &fixture});
    device_shut(&fixture);
}

int main(void) {
    test_language("CUDA C", &emit_cuda_dialect, &hg_driver_shim_cuda, true);
    test_language("HIP", &emit_hip_dialect, &hg_driver_shim_hip, true);
    test_language("MSL", &emit_msl_dialect, &hg_driver_shim_msl, false);
    return test_done();
}
