/* A libhologram_jit.so that does not belong to the library: of another version, without the
 * function that it should have, none at all. Kernels run on the interpreter, and the profile says
 * so once. Each is beside a copy of this program, which opens it. */
#include "support/runtime_support.h"
#include "support/sanitized.h"
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__x86_64__) && defined(__linux__) && !SANITIZED

enum { LANES = 300 };

/* y = 2 x + y; true: it is. */
static bool runs(hg_backend *b, const char *text) {
    float x[LANES], y[LANES], alpha = 2;
    uint64_t lanes = LANES;
    for (int i = 0; i < LANES; i++) x[i] = (float)i, y[i] = 1;
    hg_program *p = assemble(text);
    hg_buffer bx = make_buffer(b, x, sizeof x), by = make_buffer(b, y, sizeof y);
    hg_params *params = hg_params_create();
    CHECK_OK(hg_params_set_buffer(params, "x", bx));
    CHECK_OK(hg_params_set_buffer(params, "y", by));
    CHECK_OK(hg_params_set_scalar(params, "alpha", HG_TYPE_F32, &alpha));
    CHECK_OK(hg_params_set_scalar(params, "n", HG_TYPE_U64, &lanes));
    CHECK_OK(hg_backend_execute_program_with_params(b, p, NULL, params));
    CHECK_OK(hg_buffer_read(b, by, 0, y, sizeof y));
    bool good = true;
    for (int i = 0; i < LANES; i++) good = good && y[i] == (float)(2 * i + 1);
    hg_params_destroy(params);
    hg_program_release(p);
    CHECK_OK(hg_backend_free_buffer(b, bx));
    CHECK_OK(hg_backend_free_buffer(b, by));
    return good;
}

/* In the copy. */
static int use_it(void) {
    static const char other[] = PROGRAM(
        ".param r1 x buffer f32 in [n]\n.param r2 y buffer f32 inout [n]\n.param r5 alpha "
        "f32\n.param r4 n u64\n.lanes n\n mov_imm.u32 "
        "r250, 2\n"
        " shl.u64 r0, r255, r250\n ldg.f32 r10, [r1 + r0]\n ldg.f32 r11, [r2 + r0]\n mul.f32 r10, "
        "r10, r5\n add.f32 r12, r10, r11\n"
        " stg.f32 [r2 + r0], r12\n");
    for (int i = 0; i < 2; i++) {
        hg_config config = hg_config_default();
        hg_backend *b = NULL;
        memcpy(config.backend, "cpu", 4);
        memcpy(config.jit, "on", 3);
        config.cache_dir = "off";
        config.profiling = true;
        CHECK_OK(hg_backend_create_with_config(&config, &b));
        if (!b) break;
        CHECK(runs(b, AXPY) && runs(b, other));
        CHECK_U64(count_in_trace(b, "\"native code\""), 0);
        CHECK_U64(count_in_trace(b, "\"no native code\""), 1);
        CHECK(count_in_trace(b, "install the one that belongs to it") == 1 ||
              count_in_trace(b, "llvm-19-dev") == 1);
        hg_backend_destroy(b);
    }
    return test_done();
}

static bool write_file(const char *path, const char *text) {
    FILE *f = fopen(path, "w");
    if (!f) return false;
    bool good = fputs(text, f) >= 0;
    return fclose(f) == 0 && good;
}

/* A module from C source; NULL: a file that is no library. */
static void with_module(const char *self, const char *what, const char *source) {
    char folder[] = "/tmp/hologram-module-XXXXXX", line[1024], path[96];
    if (!mkdtemp(folder)) return;
    snprintf(path, sizeof path, "%s/%s", folder, source ? "m.c" : "libhologram_jit.so");
    CHECK(write_file(path, source ? source : "no library\n"));
    snprintf(line, sizeof line,
             "cd %s && cp '%.400s' copy && { [ ! -e m.c ] || gcc -shared -fPIC -o "
             "libhologram_jit.so m.c; }",
             folder, self);
    if (system(line) != 0) {
        SKIP("no gcc");
    } else {
        snprintf(line, sizeof line, "%s/copy use", folder);
        int status = system(line);
        CHECK_MESSAGE(status == 0, "%s: %d", what, status);
    }
    snprintf(line, sizeof line, "rm -rf %s", folder);
    CHECK(system(line) == 0);
}

int main(int argc, char **argv) {
    (void)argv;
    if (argc > 1) return use_it();
    char self[400];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    CHECK(length > 0);
    self[length > 0 ? length : 0] = 0;
    with_module(
        self, "refuses the version",
        "const void *hologram_jit(unsigned version) { return (void)version, (void *)0; }\n");
    with_module(self, "is of another version",
                "static struct { unsigned version; const char *compiler; void *compile, *release; "
                "} t = {7, \"LLVM 7\", 0, 0};\n"
                "const void *hologram_jit(unsigned version) { return (void)version, &t; }\n");
    with_module(self, "has no such function", "int hologram_other = 1;\n");
    with_module(self, "is no library", NULL);
    return test_done();
}

#else

int main(void) {
    SKIP("libhologram_jit.so is for x86-64 and Linux, in builds without sanitizers");
    return test_done();
}

#endif
