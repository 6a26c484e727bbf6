/* The CUDA driver's library, opened when first needed, and the driver's errors.
 * Must not know: devices, memory, kernels. */
#include "backends/cuda/cuda_internal.h"
#include <stdio.h>
#include <string.h>

cuda_symbols cuda;
CUresult (*cuda_before_call)(const char *call);

/* ---- the driver ---- */

#define NO_DEVICE "CUDA backend not available: No CUDA-capable device found"
#define FAILED "CUDA device not found or initialization failed"

static const char *const NAMES[] = {"libcuda.so.1", "libcuda.so", "nvcuda.dll"};
const hg_vendor cuda_vendor = {NAMES, HG_COUNT_OF(NAMES), 0, NULL};

static hg_once_flag once = HG_ONCE_INIT;
static char missing[256]; /* "": loaded */

/* Libraries are never closed: drivers keep threads. */
static void load(void) {
    char said[128] = "";
    hg_library *library = hg_library_open(NAMES, HG_COUNT_OF(NAMES), said, sizeof said);
    if (!library) {
        snprintf(missing, sizeof missing, NO_DEVICE " (%s): install NVIDIA's driver", said);
        return;
    }
#define CU_FUNCTION(name, symbol, parameters)                      \
    if (!hg_library_function(library, symbol, (void *)&cuda.name)) \
        snprintf(missing, sizeof missing,                          \
                 FAILED ": the driver has no %s: one of CUDA 11.4 or later is needed", symbol);
#include "backends/cuda/symbols.def"
    if (missing[0]) return;
    CUresult error = CU_CALL(Init, 0);
    const char *name = NULL;
    if (error == CUDA_ERROR_NO_DEVICE)
        snprintf(missing, sizeof missing, NO_DEVICE);
    else if (error != CUDA_SUCCESS)
        snprintf(missing, sizeof missing, FAILED ": cuInit: %s (%d)",
                 cuda.GetErrorName(error, &name) == CUDA_SUCCESS && name ? name : "error", error);
}

bool cuda_load(char reason[256]) {
    hg_once(&once, load);
    if (missing[0]) memcpy(reason, missing, sizeof missing);
    return !missing[0];
}

/* ---- errors ---- */

/* After these the context is of no use: illegal address, misaligned address, hardware errors, a
 * launch that ran too long, a lost device. */
static bool is_lost(CUresult error) {
    return error == 4 || error == 46 || error == 201 || error == 214 || error == 700 ||
           error == 702 || (error >= 709 && error <= 720);
}

hg_status cuda_check(const char *call, CUresult error) {
    const char *name = NULL;
    char number[32];
    if (error == CUDA_SUCCESS) return HG_OK;
    snprintf(number, sizeof number, "error %d", error);
    if (cuda.GetErrorName(error, &name) != CUDA_SUCCESS || !name) name = number;
    if (error == CUDA_ERROR_OUT_OF_MEMORY)
        return hg_fail(HG_ERROR_ALLOCATION_FAILED, "cuda: the device has no memory left (%s: %s)",
                       call, name);
    if (is_lost(error))
        return hg_fail(HG_ERROR_BACKEND_UNAVAILABLE,
                       "cuda: the device was lost (%s: %s): what its memory held is gone; create a "
                       "new backend",
                       call, name);
    return hg_fail(HG_ERROR_EXECUTION_FAILED, "cuda: %s: %s", call, name);
}
