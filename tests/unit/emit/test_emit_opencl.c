/* test: timeout=300
 * OpenCL C text of kernels in device form: it compiles without warnings, and on an OpenCL device it
 * does what kir_eval.h, the meaning of prim.def written a second time, says; memory, atomics,
 * groups and functions do what plain C does. */
#include "support/device_checks.h"
#include <stdlib.h>
#include <unistd.h>

static char folder[] = "/tmp/hologram-test-XXXXXX";
static bool have_clang;

/* ---- the text ---- */

/* Compiles it as a strict reader would. */
static void check_text(const char *text, const char *name) {
    char path[128], command[512];
    if (!have_clang) return;
    snprintf(path, sizeof path, "%s/%s.cl", folder, name);
    FILE *out = fopen(path, "w");
    CHECK(out != NULL);
    if (!out) return;
    fputs(text, out);
    fclose(out);
    static const char *const VERSIONS[] = {"CL1.2", "CL2.0", "CL3.0"};
    for (size_t i = 0; i < HG_COUNT_OF(VERSIONS); i++) {
        snprintf(command, sizeof command,
                 "clang-14 -x cl -cl-std=%s -Xclang -finclude-default-header -Wall -Wextra "
                 "-Wshadow -Werror -fsyntax-only '%s'",
                 VERSIONS[i], path);
        CHECK_MESSAGE(system(command) == 0, "%s", command);
    }
}

int main(void) {
    device_fixture fixture, *d = NULL;
    char reason[256] = "";
    have_clang = mkdtemp(folder) && system("clang-14 --version >/dev/null 2>&1") == 0;
    if (!have_clang) SKIP("clang-14 is not installed: texts are not checked for warnings");
    if (device_open(&fixture, &hg_driver_opencl, "", reason))
        d = &fixture;
    else
        SKIP(reason);
    device_checks(&(device_checks_options){.dialect = &emit_opencl_dialect,
                                           .f64 = true,
                                           .atomic64 = true,
                                           .large_record = 150,
                                           .device = d,
                                           .check_text = check_text});
    if (d) device_shut(d);
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    if (system(command) != 0) fprintf(stderr, "left behind: %s\n", folder);
    return test_done();
}
