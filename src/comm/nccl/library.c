/* Finding NCCL. Must not know: communicators. */
#include "base/nvidia.h"
#include "base/thread.h"
#include "comm/nccl/nccl.h"
#include <stdio.h>

enum { LEAST_VERSION = 21400 };

static const hg_nvidia_library NCCL = {.variable = "HOLOGRAM_NCCL",
                                       .names = {"libnccl.so.2"},
                                       .plain = "libnccl.so.2",
                                       .wheels = {"nccl/lib/libnccl.so.2"}};

static hg_once_flag nccl_once = HG_ONCE_INIT, driver_once = HG_ONCE_INIT;
static nccl_functions functions;
static char nccl_missing[256], driver_missing[256]; /* "": it is there */

static void open_nccl(void) {
    char said[128] = "";
    int version = 0;
    hg_library *library = hg_nvidia_open(&NCCL, said, sizeof said);
    if (!library) {
        snprintf(nccl_missing, sizeof nccl_missing,
                 "no NCCL (%s): install libnccl.so.2, or name it in HOLOGRAM_NCCL", said);
        return;
    }
#define NCCL_FUNCTION(name, result, arguments)                                \
    if (!hg_library_function(library, "nccl" #name, &functions.name)) {       \
        snprintf(nccl_missing, sizeof nccl_missing,                           \
                 "NCCL has no nccl" #name ": 2.14 or a later one is needed"); \
        return;                                                               \
    }
#include "comm/nccl/nccl.def"
    int code = functions.GetVersion(&version);
    if (code != NCCL_SUCCESS)
        snprintf(nccl_missing, sizeof nccl_missing, "NCCL does not say its version: %s",
                 functions.GetErrorString(code));
    else if (version < LEAST_VERSION)
        snprintf(nccl_missing, sizeof nccl_missing,
                 "NCCL of version %d: %d (2.14) or a later one is needed", version, LEAST_VERSION);
}

static void open_driver(void) {
    static const char *const NAME = "libcuda.so.1";
    char said[128] = "";
    hg_library *library = hg_library_open(&NAME, 1, said, sizeof said);
    if (!library) {
        snprintf(driver_missing, sizeof driver_missing, "no CUDA driver (%s)", said);
        return;
    }
#define NCCL_DRIVER(name, symbol, arguments)                    \
    if (!hg_library_function(library, symbol, &functions.name)) \
        snprintf(driver_missing, sizeof driver_missing, "the CUDA driver has no " symbol);
#include "comm/nccl/nccl.def"
}

hg_status nccl_open(bool driver, const nccl_functions **found) {
    hg_once(&nccl_once, open_nccl);
    if (driver) hg_once(&driver_once, open_driver);
    const char *why = *nccl_missing || !driver ? nccl_missing : driver_missing;
    if (*why) return hg_fail(HG_ERROR_BACKEND_UNAVAILABLE, "nccl: %s", why);
    *found = &functions;
    return HG_OK;
}
