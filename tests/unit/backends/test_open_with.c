/* Devices that the host has opened (hg_backend_open_with): programs run on them, they are probed
 * like others, and they are the host's afterwards. test_open_with BACKEND: on that one, as far as
 * there is a driver. Without an argument: what is refused. */
#include "backends/vulkan/vulkan_internal.h"
#include "support/runtime_support.h"
#include <dlfcn.h>
#include <time.h>
#if defined(__has_include)
#if __has_include(<CL/cl.h>)
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#define HAS_OPENCL 1
#endif
#endif

/* A function of a library that is open: FIND(library, clFinish) declares it. */
#define FIND(library, name)     \
    __typeof__(name) *p_##name; \
    *(void **)&p_##name = dlsym(library, #name)

enum { N = 1000 };

static hg_status open_with(const char *name, const hg_host_device *host, hg_backend **b) {
    const struct timespec moment = {.tv_nsec = 1000000};
    hg_config config = hg_config_default();
    hg_opening *o = NULL;
    bool done = false;
    CHECK_OK(hg_config_read_env(&config));
    snprintf(config.backend, sizeof config.backend, "%s", name);
    *b = NULL;
    hg_status status = hg_backend_open_with(&config, host, &o);
    while (status == HG_OK && !done) {
        status = hg_opening_poll(o, &done, b);
        if (!done) nanosleep(&moment, NULL);
    }
    hg_opening_destroy(o);
    return status;
}

/* A program, what the backend says of itself, and the same beside a device that the library opened.
 */
static void use(const char *name, const hg_host_device *host) {
    hg_backend *b = NULL, *own = open_backend(name);
    hg_device_info adopted, opened;
    float x[N], y[N], alpha = 3;
    CHECK_OK(open_with(name, host, &b));
    if (!b) exit(test_done());
    CHECK_TEXT(hg_backend_name(b), name);
    CHECK_OK(hg_backend_device(b, &adopted));
    CHECK_OK(hg_backend_device(own, &opened));
    CHECK(adopted.exact == opened.exact && adopted.available && adopted.name[0]);
    for (int i = 0; i < N; i++) x[i] = y[i] = (float)i;
    hg_program *p = assemble(AXPY);
    hg_params *params = hg_params_create();
    hg_buffer bx = make_buffer(b, x, sizeof x), by = make_buffer(b, y, sizeof y);
    CHECK_OK(hg_params_set_buffer(params, "x", bx));
    CHECK_OK(hg_params_set_buffer(params, "y", by));
    CHECK_OK(hg_params_set_scalar(params, "alpha", HG_TYPE_F32, &alpha));
    CHECK_OK(hg_backend_execute_program_with_params(b, p, NULL, params));
    CHECK_OK(hg_backend_copy_from_buffer(b, by, y, sizeof y));
    for (int i = 0; i < N; i++) CHECK(y[i] == 4 * (float)i);
    hg_params_destroy(params);
    hg_program_release(p);
    hg_backend_destroy(b);
    hg_backend_destroy(own);
}

static void refused(const char *name, const hg_host_device *host, hg_status expected,
                    const char *text) {
    hg_backend *b = NULL;
    CHECK_STATUS(open_with(name, host, &b), expected);
    CHECK_MESSAGE(strstr(hg_last_error_text(), text) != NULL, "%s", hg_last_error_text());
    CHECK(!b);
}

/* ---- OpenCL ---- */

static void test_opencl(void) {
#if defined(HAS_OPENCL)
    cl_platform_id platform;
    cl_device_id device;
    cl_int error = CL_SUCCESS;
    cl_uint count = 0;
    void *library = dlopen("libOpenCL.so.1", RTLD_NOW);
    if (!library) {
        SKIP("no OpenCL library");
        return;
    }
    FIND(library, clGetPlatformIDs);
    FIND(library, clGetDeviceIDs);
    FIND(library, clCreateContext);
    FIND(library, clGetContextInfo);
    FIND(library, clReleaseContext);
    if (p_clGetPlatformIDs(1, &platform, &count) != CL_SUCCESS || !count) {
        SKIP("no OpenCL driver");
        return;
    }
    CHECK(p_clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, &count) == CL_SUCCESS);
    cl_context context = p_clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    CHECK(error == CL_SUCCESS);
    hg_host_device host = {.size = sizeof host, .context = context, .device = device};
    for (int i = 0; i < 2; i++) use("opencl", &host);
    CHECK(p_clGetContextInfo(context, CL_CONTEXT_REFERENCE_COUNT, sizeof count, &count, NULL) ==
          CL_SUCCESS);
    CHECK_U64(count, 1); /* it is the host's alone, with nothing left in it */
    host.device = NULL;
    refused("opencl", &host, HG_ERROR_INVALID_ARGUMENT, "hg_host_device.device is NULL");
    CHECK(p_clReleaseContext(context) == CL_SUCCESS);
#endif
}

/* ---- CUDA: its functions, without its header ---- */

extern int cuInit(unsigned flags);
extern int cuDeviceGet(int *device, int ordinal);
extern int cuDevicePrimaryCtxRetain(void **context, int device);
extern int cuDevicePrimaryCtxRelease_v2(int device);
extern int cuCtxPushCurrent_v2(void *context);
extern int cuCtxPopCurrent_v2(void **context);

static void test_cuda(void) {
    void *context = NULL, *popped, *library = dlopen("libcuda.so.1", RTLD_NOW);
    int device = 0;
    if (!library) {
        SKIP("no CUDA driver");
        return;
    }
    FIND(library, cuInit);
    FIND(library, cuDeviceGet);
    FIND(library, cuDevicePrimaryCtxRetain);
    FIND(library, cuDevicePrimaryCtxRelease_v2);
    FIND(library, cuCtxPushCurrent_v2);
    FIND(library, cuCtxPopCurrent_v2);
    CHECK(p_cuInit(0) == 0 && p_cuDeviceGet(&device, 0) == 0);
    CHECK(p_cuDevicePrimaryCtxRetain(&context, device) == 0);
    hg_host_device host = {.size = sizeof host, .context = context};
    for (int i = 0; i < 2; i++) use("cuda", &host);
    CHECK(p_cuCtxPushCurrent_v2(context) == 0); /* it is there */
    CHECK(p_cuCtxPopCurrent_v2(&popped) == 0);
    CHECK(p_cuDevicePrimaryCtxRelease_v2(device) == 0);
}

/* ---- Vulkan ---- */

#if HG_HAS_VULKAN
static uint32_t computing_family(const vk_instance *i, VkPhysicalDevice physical) {
    VkQueueFamilyProperties families[32];
    uint32_t count = HG_COUNT_OF(families), f = 0;
    i->vk.GetPhysicalDeviceQueueFamilyProperties(physical, &count, families);
    while (f < count && !(families[f].queueFlags & VK_QUEUE_COMPUTE_BIT)) f++;
    return f;
}

/* all: every feature; else timeline semaphores only, or none. */
static void test_features(vk_instance *i, VkPhysicalDevice physical, bool all, bool timeline) {
    static const float priority = 1;
    VkPhysicalDeviceVulkan12Features f12 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES};
    VkPhysicalDeviceVulkan11Features f11 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES, .pNext = &f12};
    VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                          .pNext = &f11};
    VkDevice device = VK_NULL_HANDLE;
    vk_device_functions vk;
    if (all) i->vk.GetPhysicalDeviceFeatures2(physical, &features);
    f12.timelineSemaphore = timeline;
    VkDeviceQueueCreateInfo queues = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                      .queueFamilyIndex = computing_family(i, physical),
                                      .queueCount = 1,
                                      .pQueuePriorities = &priority};
    VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                               .pNext = &features,
                               .queueCreateInfoCount = 1,
                               .pQueueCreateInfos = &queues};
    CHECK(i->vk.CreateDevice(physical, &info, NULL, &device) == VK_SUCCESS);
    CHECK(vk_device_load(i, device, &vk));
    hg_host_device host = {.size = sizeof host,
                           .context = i->handle,
                           .device = device,
                           .physical = physical,
                           .features = &features,
                           .queue_family = queues.queueFamilyIndex};
    VkQueue queue;
    vk.GetDeviceQueue(device, queues.queueFamilyIndex, 0, &queue);
    refused("vulkan", &host, HG_ERROR_INVALID_ARGUMENT, "hg_host_device.queue is NULL");
    host.queue = queue;
    if (timeline)
        for (int k = 0; k < 2; k++) use("vulkan", &host);
    else
        refused("vulkan", &host, HG_ERROR_BACKEND_UNAVAILABLE, "does not enable timelineSemaphore");
    CHECK(vk.DeviceWaitIdle(device) == VK_SUCCESS); /* the device is there */
    vk.DestroyDevice(device, NULL);
}
#endif

static void test_vulkan(void) {
#if HG_HAS_VULKAN
    static const char *const names[] = {"libvulkan.so.1"};
    char reason[256];
    vk_instance host;
    if (!vk_instance_load(names, 1, &host, reason)) {
        SKIP("no Vulkan driver");
        return;
    }
    test_features(&host, host.devices[0], true, true);
    test_features(&host, host.devices[0], false, true);
    test_features(&host, host.devices[0], false, false);
    vk_instance_unload(&host);
#endif
}

int main(int argc, char **argv) {
    hg_host_device nothing = {.size = sizeof nothing};
    if (argc > 1) {
        if (strcmp(argv[1], "opencl") == 0) test_opencl();
        if (strcmp(argv[1], "vulkan") == 0) test_vulkan();
        if (strcmp(argv[1], "cuda") == 0) test_cuda();
        return test_done();
    }
    refused("cpu", &nothing, HG_ERROR_BACKEND_UNAVAILABLE, "cpu takes no device of the host");
    refused("nonsense", &nothing, HG_ERROR_BACKEND_UNAVAILABLE, "Invalid backend type: nonsense");
    refused("opencl", &nothing, HG_ERROR_INVALID_ARGUMENT, "hg_host_device.context is NULL");
    refused("vulkan", &nothing, HG_ERROR_INVALID_ARGUMENT, "hg_host_device.context is NULL");
    refused("cuda", &nothing, HG_ERROR_INVALID_ARGUMENT, "hg_host_device.context is NULL");
    nothing.size = 1;
    refused("cpu", &nothing, HG_ERROR_INVALID_ARGUMENT, "hg_host_device");
    return test_done();
}
