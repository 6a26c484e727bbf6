/* See nvrtc.h. Declarations are those of the CUDA toolkit's documentation of NVRTC. */
#include "support/nvrtc.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct _nvrtcProgram *program;
static struct {
    void *library;
    int (*create)(program *, const char *, const char *, int, const char *const *,
                  const char *const *);
    int (*compile)(program, int, const char *const *);
    int (*log_size)(program, size_t *);
    int (*log)(program, char *);
    int (*destroy)(program *);
    int (*count)(int *);
    int (*list)(int *);
} nvrtc;

static bool find(const char *symbol, void *function) {
    *(void **)function = dlsym(nvrtc.library, symbol);
    return *(void **)function != NULL;
}

bool nvrtc_open(char reason[256]) {
    static const char *const NAMES[] = {
        "libnvrtc.so.13", "libnvrtc.so.12", "/usr/local/cuda/lib64/libnvrtc.so.13",
        "/usr/local/cuda/lib64/libnvrtc.so.12", "/usr/local/cuda/lib64/libnvrtc.so"};
    const char *own = getenv("HOLOGRAM_NVRTC"), *wheels = getenv("HOLOGRAM_NVIDIA");
    char wheel[512];
    if (nvrtc.library) return true;
    if (own && *own) nvrtc.library = dlopen(own, RTLD_NOW | RTLD_LOCAL);
    snprintf(wheel, sizeof wheel, "%s/cuda_nvrtc/lib/libnvrtc.so.12",
             wheels && *wheels ? wheels : HG_SOURCE_DIR "/build/python/nvidia");
    const bool only = own && *own; /* as the library has it */
    if (!nvrtc.library && !only) nvrtc.library = dlopen(wheel, RTLD_NOW | RTLD_LOCAL);
    for (size_t i = 0; i < HG_COUNT_OF(NAMES) && !nvrtc.library && !only; i++)
        nvrtc.library = dlopen(NAMES[i], RTLD_NOW | RTLD_LOCAL);
    snprintf(reason, 256,
             "NVRTC (libnvrtc.so.13, .12 or .11.2 of the CUDA toolkit, or of tools/setup) is not "
             "installed");
    return nvrtc.library && find("nvrtcCreateProgram", &nvrtc.create) &&
           find("nvrtcCompileProgram", &nvrtc.compile) &&
           find("nvrtcGetProgramLogSize", &nvrtc.log_size) &&
           find("nvrtcGetProgramLog", &nvrtc.log) && find("nvrtcDestroyProgram", &nvrtc.destroy) &&
           find("nvrtcGetNumSupportedArchs", &nvrtc.count) &&
           find("nvrtcGetSupportedArchs", &nvrtc.list);
}

/* The first with dp4a, which the texts of all instructions have; NVRTC 13 does not know it. */
enum { OLDEST = 61 };

int nvrtc_architectures(int architectures[NVRTC_ARCHITECTURES]) {
    int known[256], count = 0, found = 0;
    if (nvrtc.count(&count) != 0 || count < 1 || count > 256 || nvrtc.list(known) != 0) return 0;
    for (int i = 0; i < count; i++)
        if (known[i] == OLDEST || known[i] == 75 || known[i] == 80 || known[i] == 90)
            architectures[found++] = known[i];
    if (known[count - 1] > 90) architectures[found++] = known[count - 1];
    return found;
}

/* The number before a phrase, on any line: the largest. */
static unsigned number_before(const char *log, const char *phrase) {
    unsigned most = 0;
    for (const char *at = log; (at = strstr(at, phrase)) != NULL; at++) {
        const char *digits = at;
        while (digits > log && digits[-1] >= '0' && digits[-1] <= '9') digits--;
        unsigned n = (unsigned)strtoul(digits, NULL, 10);
        if (n > most) most = n;
    }
    return most;
}

/* ptxas says what it used, and NVRTC that an old architecture is deprecated; every other line is a
 * warning or an error. */
static bool only_information(const char *log) {
    for (const char *line = log; *line;) {
        size_t length = strcspn(line, "\n");
        bool deprecated = strncmp(line, "nvrtc: warning: Architectures prior to", 38) == 0;
        bool used = strncmp(line, "ptxas", 5) == 0 && !memmem(line, length, "warning", 7);
        if (length && !used && !deprecated) return false;
        line += length + (line[length] != 0);
    }
    return true;
}

bool nvrtc_compile(const char *text, int architecture, nvrtc_kernel *kernel, char *message) {
    char arch[32];
    program p = NULL;
    size_t size = 0;
    snprintf(arch, sizeof arch, "-arch=sm_%d", architecture);
    const char *options[] = {arch,         "-fmad=false",       "-prec-div=true", "-prec-sqrt=true",
                             "-ftz=false", "--ptxas-options=-v"};
    int error = nvrtc.create(&p, text, "kernel.cu", 0, NULL, NULL);
    if (!error) error = nvrtc.compile(p, (int)HG_COUNT_OF(options), options);
    if (p) (void)nvrtc.log_size(p, &size);
    char *log = calloc(size + 1, 1);
    if (log && size) (void)nvrtc.log(p, log);
    if (p) (void)nvrtc.destroy(&p);
    *kernel = (nvrtc_kernel){.registers = number_before(log, " registers"),
                             .stack_bytes = number_before(log, " bytes stack frame"),
                             .spill_bytes = number_before(log, " bytes spill")};
    bool ok = !error && only_information(log);
    snprintf(message, 2000, "sm_%d, error %d: %.1800s", architecture, error, log ? log : "");
    free(log);
    return ok;
}
