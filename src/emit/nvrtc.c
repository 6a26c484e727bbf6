/* NVRTC: where it is found, and code from CUDA C.
 * Must not know: devices, kernel IR. */
#include "emit/nvrtc.h"
#include "base/host.h"
#include "base/library.h"
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

enum { MOST_PLACES = 8, PLACE_BYTES = 512 };

/* Files of NVRTC where the loader does not look: what HOLOGRAM_NVRTC names, toolkits, and the folders of NVIDIA's Python packages under
 * HOLOGRAM_NVIDIA (the folder `nvidia` of site-packages). */
static uint32_t list_places(char places[MOST_PLACES][PLACE_BYTES]) {
    uint32_t count = 0;
    const char *own = hg_host_variable("HOLOGRAM_NVRTC"), *toolkit = hg_host_variable("CUDA_PATH"),
               *wheels = hg_host_variable("HOLOGRAM_NVIDIA");
    if (own && *own) snprintf(places[count++], PLACE_BYTES, "%s", own);
    if (toolkit && *toolkit) snprintf(places[count++], PLACE_BYTES, "%s/lib64/libnvrtc.so", toolkit);
    if (wheels && *wheels) {
        snprintf(places[count++], PLACE_BYTES, "%s/cu13/lib/libnvrtc.so.13", wheels);
        snprintf(places[count++], PLACE_BYTES, "%s/cuda_nvrtc/lib/libnvrtc.so.12", wheels);
    }
    snprintf(places[count++], PLACE_BYTES, "/usr/local/cuda/lib64/libnvrtc.so");
    return count;
}

static hg_library *find_nvrtc(char *said, size_t size) {
    static const char *const NAMES[] = {"libnvrtc.so.13", "libnvrtc.so.12"};
    char places[MOST_PLACES][PLACE_BYTES];
    uint32_t count = list_places(places);
    const char *own = hg_host_variable("HOLOGRAM_NVRTC");
    hg_library *library = own && *own ? NULL : hg_library_open(NAMES, HG_COUNT_OF(NAMES), said, size);
    if (own && *own) count = 1; /* what the user names, or none */
    for (uint32_t i = 0; i < count && !library; i++) {
        const char *name = places[i];
        library = hg_library_open(&name, 1, said, size);
    }
    return library;
}

static void load_nvrtc(void) {
    char said[128] = "";
    hg_library *library = find_nvrtc(said, sizeof said);
    if (!library) {
        snprintf(missing, sizeof missing,
                 "NVRTC, which compiles kernels, is not found (%s): install the CUDA toolkit's libnvrtc.so.13 or .12", said);
        return;
    }
#define RTC_FUNCTION(name, symbol, parameters)                      \
    if (!hg_library_function(library, symbol, (void *)&nvrtc.name)) \
        snprintf(missing, sizeof missing, "NVRTC has no %s: one of CUDA 12 or later is needed", symbol);
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
    if (nvrtc.GetNumSupportedArchs(&count) != 0 || count < 1 || count > (int)HG_COUNT_OF(known) || nvrtc.GetSupportedArchs(known) != 0)
        count = 0;
    for (int i = 0; i < count; i++)
        if (known[i] > 0 && (uint32_t)known[i] <= most && (uint32_t)known[i] > best) best = (uint32_t)known[i];
    return best;
}

/* ---- code ---- */

static hg_status refused(const char *name, nvrtcProgram program, int error) {
    size_t size = 0;
    if (program) (void)nvrtc.GetProgramLogSize(program, &size);
    char *log = hg_calloc(size + 1, 1);
    if (log && size) (void)nvrtc.GetProgramLog(program, log);
    hg_status status = hg_fail(HG_ERROR_INTERNAL, "cuda: NVRTC refuses %s (error %d): %.600s", name, error, log ? log : "");
    hg_free(log);
    return status;
}

typedef int get_size(nvrtcProgram, size_t *);
typedef int get_bytes(nvrtcProgram, char *);

static hg_status fetch(nvrtcProgram program, get_size *size_of, get_bytes *bytes_of, hg_bytes *out) {
    size_t size = 0;
    int error = size_of(program, &size);
    if (error || size == 0) return hg_fail(HG_ERROR_INTERNAL, "cuda: NVRTC made no code (error %d)", error);
    HG_TRY(hg_bytes_alloc(size, out));
    error = bytes_of(program, (char *)out->data);
    return error ? hg_fail(HG_ERROR_INTERNAL, "cuda: NVRTC does not give its code (error %d)", error) : HG_OK;
}

/* Exactness: nothing is fused, division and square root are rounded correctly, subnormals are kept. */
#define EXACT "-fmad=false", "-prec-div=true", "-prec-sqrt=true", "-ftz=false"

hg_status emit_nvrtc_compile(const emit_nvrtc_request *r, hg_bytes *cubin, hg_bytes *ptx) {
    char arch[32], registers[32];
    nvrtcProgram program = NULL;
    snprintf(arch, sizeof arch, "-arch=%s_%u", cubin ? "sm" : "compute", (unsigned)r->architecture);
    snprintf(registers, sizeof registers, "-maxrregcount=%u", (unsigned)r->most_registers);
    const char *options[] = {arch, EXACT, registers};
    int error = nvrtc.CreateProgram(&program, r->text, "kernel.cu", 0, NULL, NULL);
    if (!error) error = nvrtc.CompileProgram(program, (int)HG_COUNT_OF(options) - !r->most_registers, options);
    hg_status status = error ? refused(r->name, program, error) : HG_OK;
    if (status == HG_OK && cubin) status = fetch(program, nvrtc.GetCUBINSize, nvrtc.GetCUBIN, cubin);
    if (status == HG_OK && ptx) status = fetch(program, nvrtc.GetPTXSize, nvrtc.GetPTX, ptx);
    if (program) (void)nvrtc.DestroyProgram(&program);
    return status;
}
