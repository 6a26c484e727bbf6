/* NVRTC: where it is found, and code from CUDA C.
 * Must not know: devices, kernel IR. */
#include "emit/nvrtc.h"
#include "base/deep.h"
#include "base/nvidia.h"
#include "base/thread.h"
#include <stdio.h>
#include <string.h>

typedef struct _nvrtcProgram *nvrtcProgram;
static struct {
#define RTC_FUNCTION(name, symbol, parameters) int(*name) parameters;
#include "emit/nvrtc.def"
} nvrtc;
static hg_once_flag once = HG_ONCE_INIT;
static char missing[256]; /* "": loaded */

/* ---- the library ---- */

static const hg_nvidia_library NVRTC = {
    .variable = "HOLOGRAM_NVRTC",
    .names = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2"},
    .plain = "libnvrtc.so",
    .wheels = {"cu13/lib/libnvrtc.so.13", "cuda_nvrtc/lib/libnvrtc.so.12",
               "cuda_nvrtc/lib/libnvrtc.so.11.2"}};

static void load_nvrtc(void) {
    char said[128] = "";
    hg_library *library = hg_nvidia_open(&NVRTC, said, sizeof said);
    if (!library) {
        snprintf(missing, sizeof missing,
                 "NVRTC, which compiles kernels, is not found (%s): install the CUDA toolkit's "
                 "libnvrtc.so.13, .12 or .11.2",
                 said);
        return;
    }
#define RTC_FUNCTION(name, symbol, parameters)                                                    \
    if (!hg_library_function(library, symbol, (void *)&nvrtc.name))                               \
        snprintf(missing, sizeof missing, "NVRTC has no %s: one of CUDA 11.2 or later is needed", \
                 symbol);
#include "emit/nvrtc.def"
}

bool emit_nvrtc_load(char reason[256]) {
    hg_once(&once, load_nvrtc);
    if (missing[0]) memcpy(reason, missing, sizeof missing);
    return !missing[0];
}

uint32_t emit_nvrtc_version(void) {
    char reason[256];
    int major = 0, minor = 0;
    if (!emit_nvrtc_load(reason) || nvrtc.Version(&major, &minor) != 0) return 0;
    return (uint32_t)major * 1000 + (uint32_t)minor * 10;
}

uint32_t emit_nvrtc_architecture(uint32_t most) {
    int known[128], count = 0;
    uint32_t best = 0;
    if (nvrtc.GetNumSupportedArchs(&count) != 0 || count < 1 || count > (int)HG_COUNT_OF(known) ||
        nvrtc.GetSupportedArchs(known) != 0)
        count = 0;
    for (int i = 0; i < count; i++)
        if (known[i] > 0 && (uint32_t)known[i] <= most && (uint32_t)known[i] > best)
            best = (uint32_t)known[i];
    return best;
}

/* ---- code ---- */

static hg_status refused(const char *name, nvrtcProgram program, int error) {
    size_t size = 0;
    if (program) (void)nvrtc.GetProgramLogSize(program, &size);
    char *log = hg_calloc(size + 1, 1);
    if (log && size) (void)nvrtc.GetProgramLog(program, log);
    hg_status status = hg_fail(HG_ERROR_INTERNAL, "cuda: NVRTC refuses %s (error %d): %.600s", name,
                               error, log ? log : "");
    hg_free(log);
    return status;
}

typedef int get_size(nvrtcProgram, size_t *);
typedef int get_bytes(nvrtcProgram, char *);

static hg_status fetch(nvrtcProgram program, get_size *size_of, get_bytes *bytes_of,
                       hg_bytes *out) {
    size_t size = 0;
    int error = size_of(program, &size);
    if (error || size == 0)
        return hg_fail(HG_ERROR_INTERNAL, "cuda: NVRTC made no code (error %d)", error);
    HG_TRY(hg_bytes_alloc(size, out));
    error = bytes_of(program, (char *)out->data);
    return error
               ? hg_fail(HG_ERROR_INTERNAL, "cuda: NVRTC does not give its code (error %d)", error)
               : HG_OK;
}

/* Exactness: nothing is fused, division and square root are rounded correctly, subnormals are kept.
 */
#define EXACT "-fmad=false", "-prec-div=true", "-prec-sqrt=true", "-ftz=false"

enum { INVALID_OPTION = 5 }; /* NVRTC_ERROR_INVALID_OPTION */

typedef struct compilation {
    const emit_nvrtc_request *request;
    hg_bytes *cubin, *ptx;
} compilation;

static hg_status compile(void *user) {
    const compilation *c = user;
    const emit_nvrtc_request *r = c->request;
    hg_bytes *cubin = c->cubin, *ptx = c->ptx;
    char arch[32], registers[32];
    nvrtcProgram program = NULL;
    snprintf(arch, sizeof arch, "-arch=%s_%u", cubin ? "sm" : "compute", (unsigned)r->architecture);
    snprintf(registers, sizeof registers, "-maxrregcount=%u", (unsigned)r->most_registers);
    const char *options[] = {arch, EXACT, NULL, NULL};
    int count = (int)HG_COUNT_OF(options) - 2;
    if (r->most_registers) options[count++] = registers;
    int error = nvrtc.CreateProgram(&program, r->text, "kernel.cu", 0, NULL, NULL);
    /* -minimal leaves out textures and the functions of CUDA's runtime: a tenth of the time of a
     * small kernel. An older NVRTC refuses it. */
    options[count] = "-minimal";
    if (!error) error = nvrtc.CompileProgram(program, count + !r->full_language, options);
    if (error == INVALID_OPTION && !r->full_language)
        error = nvrtc.CompileProgram(program, count, options);
    hg_status status = error ? refused(r->name, program, error) : HG_OK;
    if (status == HG_OK && cubin)
        status = fetch(program, nvrtc.GetCUBINSize, nvrtc.GetCUBIN, cubin);
    if (status == HG_OK && ptx) status = fetch(program, nvrtc.GetPTXSize, nvrtc.GetPTX, ptx);
    if (program) (void)nvrtc.DestroyProgram(&program);
    return status;
}

hg_status emit_nvrtc_compile(const emit_nvrtc_request *r, hg_bytes *cubin, hg_bytes *ptx) {
    compilation c = {r, cubin, ptx};
    return hg_call_deep(compile, &c, "compiling with NVRTC");
}
