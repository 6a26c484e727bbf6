/* The OpenCL library, opened when first needed, its functions, and the names of its errors.
 * Must not know: devices, memory, kernels. */
#include "backends/opencl/opencl_internal.h"
#include <stdio.h>
#include <string.h>

#if defined(HG_OPENCL_HEADERS)

opencl_symbols opencl;
cl_int (*opencl_before_call)(const char *call);

/* ---- the library ---- */

#define INSTALL "apt-get install ocl-icd-libopencl1 pocl-opencl-icd, or a vendor driver"

static hg_once_flag once = HG_ONCE_INIT;
static char missing[256]; /* "": loaded */

static const char *const NAMES[] = {"libOpenCL.so.1", "libOpenCL.so",
                                    "/System/Library/Frameworks/OpenCL.framework/OpenCL"};
static const char *const PLACES[] = {"/etc/OpenCL/vendors", "$OCL_ICD_VENDORS",
                                     "$OPENCL_VENDOR_PATH", "$OCL_ICD_FILENAMES",
                                     "$OPENCL_LAYERS",      "/etc/OpenCL/layers"};
const hg_vendor opencl_vendor = {NAMES, HG_COUNT_OF(NAMES), HG_COUNT_OF(PLACES), PLACES};

/* It is never closed: drivers keep threads. */
static void load(void) {
    char said[128] = "";
    hg_library *library = hg_library_open(NAMES, HG_COUNT_OF(NAMES), said, sizeof said);
    if (!library) {
        snprintf(missing, sizeof missing, "no OpenCL library (%s): " INSTALL, said);
        return;
    }
#define CL_FUNCTION(name)                                                \
    if (!hg_library_function(library, "cl" #name, (void *)&opencl.name)) \
        snprintf(missing, sizeof missing, "the OpenCL library has no cl" #name ": " INSTALL);
#define CL_OPTIONAL(name) (void)hg_library_function(library, "cl" #name, (void *)&opencl.name);
#include "backends/opencl/symbols.def"
}

bool opencl_load(char reason[256]) {
    hg_once(&once, load);
    if (missing[0]) memcpy(reason, missing, sizeof missing);
    return !missing[0];
}

/* ---- errors ---- */

const char *opencl_error_name(cl_int error) {
#define NAME(id) \
    case id: return #id
    switch (error) {
        NAME(CL_SUCCESS);
        NAME(CL_DEVICE_NOT_FOUND);
        NAME(CL_DEVICE_NOT_AVAILABLE);
        NAME(CL_COMPILER_NOT_AVAILABLE);
        NAME(CL_MEM_OBJECT_ALLOCATION_FAILURE);
        NAME(CL_OUT_OF_RESOURCES);
        NAME(CL_OUT_OF_HOST_MEMORY);
        NAME(CL_PROFILING_INFO_NOT_AVAILABLE);
        NAME(CL_MEM_COPY_OVERLAP);
        NAME(CL_BUILD_PROGRAM_FAILURE);
        NAME(CL_MAP_FAILURE);
        NAME(CL_MISALIGNED_SUB_BUFFER_OFFSET);
        NAME(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
        NAME(CL_LINKER_NOT_AVAILABLE);
        NAME(CL_INVALID_VALUE);
        NAME(CL_INVALID_DEVICE_TYPE);
        NAME(CL_INVALID_PLATFORM);
        NAME(CL_INVALID_DEVICE);
        NAME(CL_INVALID_CONTEXT);
        NAME(CL_INVALID_QUEUE_PROPERTIES);
        NAME(CL_INVALID_COMMAND_QUEUE);
        NAME(CL_INVALID_HOST_PTR);
        NAME(CL_INVALID_MEM_OBJECT);
        NAME(CL_INVALID_BINARY);
        NAME(CL_INVALID_BUILD_OPTIONS);
        NAME(CL_INVALID_PROGRAM);
        NAME(CL_INVALID_PROGRAM_EXECUTABLE);
        NAME(CL_INVALID_KERNEL_NAME);
        NAME(CL_INVALID_KERNEL_DEFINITION);
        NAME(CL_INVALID_KERNEL);
        NAME(CL_INVALID_ARG_INDEX);
        NAME(CL_INVALID_ARG_VALUE);
        NAME(CL_INVALID_ARG_SIZE);
        NAME(CL_INVALID_KERNEL_ARGS);
        NAME(CL_INVALID_WORK_DIMENSION);
        NAME(CL_INVALID_WORK_GROUP_SIZE);
        NAME(CL_INVALID_WORK_ITEM_SIZE);
        NAME(CL_INVALID_GLOBAL_OFFSET);
        NAME(CL_INVALID_EVENT_WAIT_LIST);
        NAME(CL_INVALID_EVENT);
        NAME(CL_INVALID_OPERATION);
        NAME(CL_INVALID_BUFFER_SIZE);
        NAME(CL_INVALID_GLOBAL_WORK_SIZE);
        NAME(CL_INVALID_PROPERTY);
        NAME(CL_INVALID_COMPILER_OPTIONS);
        NAME(CL_INVALID_LINKER_OPTIONS);
    case -1001: return "CL_PLATFORM_NOT_FOUND_KHR";
    }
#undef NAME
    return NULL;
}

hg_status opencl_check(const char *call, cl_int error) {
    char number[32];
    if (error == CL_SUCCESS) return HG_OK;
    const char *name = opencl_error_name(error);
    snprintf(number, sizeof number, "error %d", (int)error);
    if (!name) name = number;
    switch (error) {
    case CL_OUT_OF_HOST_MEMORY:
        return hg_fail(HG_ERROR_OUT_OF_MEMORY, "opencl: %s: %s", call, name);
    case CL_MEM_OBJECT_ALLOCATION_FAILURE:
    case CL_INVALID_BUFFER_SIZE:
        return hg_fail(HG_ERROR_ALLOCATION_FAILED, "opencl: the device has no memory left (%s: %s)",
                       call, name);
    case CL_DEVICE_NOT_AVAILABLE:
    case CL_DEVICE_NOT_FOUND:
    case CL_INVALID_CONTEXT:
        return hg_fail(HG_ERROR_BACKEND_UNAVAILABLE,
                       "opencl: the device was lost (%s: %s): what its memory held is gone; create "
                       "a new backend",
                       call, name);
    default: return hg_fail(HG_ERROR_EXECUTION_FAILED, "opencl: %s: %s", call, name);
    }
}

#endif
