/* A vendor's library that misbehaves, for OpenCL's and Vulkan's loaders. The variables OCL_FAKE and
 * VK_FAKE say where and how: "WHERE WHAT", WHERE one of load (its constructor), list (when drivers
 * are asked for devices), context (when one is made), WHAT one of abort, crash, exit, hang, noise
 * (text on every descriptor). For OpenCL it has two devices; "context" is of the second. It holds
 * as little of both interfaces as gets the loaders there. */
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <CL/cl_icd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SHOWN __attribute__((visibility("default")))

static void misbehave(const char *variable, const char *where) {
    const char *wish = getenv(variable);
    size_t length = strlen(where);
    if (!wish || strncmp(wish, where, length) != 0 || wish[length] != ' ') return;
    const char *what = wish + length + 1;
    if (strcmp(what, "abort") == 0) abort();
    if (strcmp(what, "crash") == 0) raise(SIGSEGV);
    if (strcmp(what, "exit") == 0 && strcmp(variable, "VK_FAKE") == 0)
        _exit(3); /* in exit the loader of Vulkan waits for itself */
    if (strcmp(what, "exit") == 0) exit(3);
    while (strcmp(what, "hang") == 0) pause();
    if (strcmp(what, "noise") != 0) return;
    printf("hologram-try-driver 1\ndevices 7\ndone\n");
    fflush(stdout);
    for (int to = 1; to < 64; to++)
        if (write(to, "opening 0\n", 10) < 0) continue;
}

__attribute__((constructor)) static void loaded(void) {
    misbehave("OCL_FAKE", "load");
    misbehave("VK_FAKE", "load");
}

/* ---- OpenCL ---- */

struct _cl_platform_id {
    const cl_icd_dispatch *table;
};
struct _cl_device_id {
    const cl_icd_dispatch *table;
};
struct _cl_context {
    const cl_icd_dispatch *table;
};
struct _cl_command_queue {
    const cl_icd_dispatch *table;
};
static cl_icd_dispatch table;
static struct _cl_platform_id platform = {&table};
static struct _cl_device_id devices[2] = {{&table}, {&table}};
static struct _cl_context context = {&table};
static struct _cl_command_queue queue = {&table};

static cl_int answer(const void *value, size_t bytes, size_t size, void *to, size_t *needed) {
    if (needed) *needed = bytes;
    if (to && size < bytes) return CL_INVALID_VALUE;
    if (to) memcpy(to, value, bytes);
    return CL_SUCCESS;
}

static cl_int CL_API_CALL platform_info(cl_platform_id id, cl_platform_info what, size_t size,
                                        void *to, size_t *needed) {
    const char *text = what == CL_PLATFORM_EXTENSIONS       ? "cl_khr_icd"
                       : what == CL_PLATFORM_ICD_SUFFIX_KHR ? "FAKE"
                       : what == CL_PLATFORM_VERSION        ? "OpenCL 1.2 fake"
                       : what == CL_PLATFORM_PROFILE        ? "FULL_PROFILE"
                                                            : "fake";
    (void)id;
    return answer(text, strlen(text) + 1, size, to, needed);
}

static cl_int CL_API_CALL device_ids(cl_platform_id id, cl_device_type type, cl_uint room,
                                     cl_device_id *to, cl_uint *count) {
    (void)id, (void)type;
    for (cl_uint i = 0; to && i < room && i < 2; i++) to[i] = &devices[i];
    if (count) *count = 2;
    return CL_SUCCESS;
}

static cl_int CL_API_CALL device_info(cl_device_id id, cl_device_info what, size_t size, void *to,
                                      size_t *needed) {
    cl_ulong number = what == CL_DEVICE_TYPE ? CL_DEVICE_TYPE_GPU : 1 << 20;
    cl_uint yes = 1;
    size_t sizes[3] = {64, 64, 64};
    cl_platform_id own = &platform;
    (void)id;
    switch (what) {
    case CL_DEVICE_AVAILABLE:
    case CL_DEVICE_COMPILER_AVAILABLE:
    case CL_DEVICE_MAX_COMPUTE_UNITS: return answer(&yes, sizeof yes, size, to, needed);
    case CL_DEVICE_MAX_WORK_ITEM_SIZES: return answer(sizes, sizeof sizes, size, to, needed);
    case CL_DEVICE_PLATFORM: return answer(&own, sizeof own, size, to, needed);
    case CL_DEVICE_NAME:
    case CL_DRIVER_VERSION:
    case CL_DEVICE_VERSION: return answer("OpenCL 1.2 fake", 16, size, to, needed);
    case CL_DEVICE_OPENCL_C_VERSION: return answer("OpenCL C 1.2", 13, size, to, needed);
    case CL_DEVICE_EXTENSIONS: return answer("", 1, size, to, needed);
    }
    return answer(&number, sizeof number, size, to, needed);
}

static cl_context CL_API_CALL create_context(
    const cl_context_properties *p, cl_uint n, const cl_device_id *ids,
    void(CL_CALLBACK *f)(const char *, const void *, size_t, void *), void *user, cl_int *error) {
    (void)p, (void)n, (void)f, (void)user;
    if (ids[0] == &devices[1]) misbehave("OCL_FAKE", "context");
    if (error) *error = CL_SUCCESS;
    return &context;
}

static cl_command_queue CL_API_CALL create_queue(cl_context c, cl_device_id id,
                                                 cl_command_queue_properties p, cl_int *error) {
    (void)c, (void)id, (void)p;
    if (error) *error = CL_SUCCESS;
    return &queue;
}

/* Whoever goes on to the first buffer gets an error. */
static cl_mem CL_API_CALL create_buffer(cl_context c, cl_mem_flags flags, size_t size, void *host,
                                        cl_int *error) {
    (void)c, (void)flags, (void)size, (void)host;
    if (error) *error = CL_OUT_OF_RESOURCES;
    return NULL;
}

static cl_int CL_API_CALL release_queue(cl_command_queue q) { return (void)q, CL_SUCCESS; }
static cl_int CL_API_CALL release_context(cl_context c) { return (void)c, CL_SUCCESS; }

static cl_int CL_API_CALL platform_ids(cl_uint room, cl_platform_id *to, cl_uint *count) {
    misbehave("OCL_FAKE", "list");
    table.clGetPlatformInfo = platform_info;
    table.clGetDeviceIDs = device_ids;
    table.clGetDeviceInfo = device_info;
    table.clCreateContext = create_context;
    table.clCreateCommandQueue = create_queue;
    table.clCreateBuffer = create_buffer;
    table.clFinish = table.clFlush = release_queue;
    table.clReleaseCommandQueue = release_queue;
    table.clReleaseContext = release_context;
    if (to && room) *to = &platform;
    if (count) *count = 1;
    return CL_SUCCESS;
}

SHOWN cl_int clGetPlatformInfo(cl_platform_id id, cl_platform_info what, size_t size, void *to,
                               size_t *needed) {
    return platform_info(id, what, size, to, needed);
}

SHOWN void *clGetExtensionFunctionAddress(const char *name) {
    union {
        cl_int(CL_API_CALL *function)(cl_uint, cl_platform_id *, cl_uint *);
        void *address;
    } ids = {.function = platform_ids};
    return strcmp(name, "clIcdGetPlatformIDsKHR") == 0 ? ids.address : NULL;
}

/* ---- Vulkan ---- */

SHOWN int vk_icdNegotiateLoaderICDInterfaceVersion(unsigned *version) {
    *version = 5;
    misbehave("VK_FAKE", "list");
    return 0;
}

SHOWN void *vk_icdGetInstanceProcAddr(void *instance, const char *name) {
    (void)instance, (void)name;
    misbehave("VK_FAKE", "context");
    return NULL;
}
