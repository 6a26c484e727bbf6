/* The OpenCL backend: kernels in device form as OpenCL C 1.2 text, run by any device of any
 * installed OpenCL driver. */
#include "backends/opencl/opencl_internal.h"
#include <stdio.h>

#if defined(HG_OPENCL_HEADERS)

static const hg_device_caps *device_caps(const hg_device *device) { return &device->caps; }
static void *device_native(hg_device *device) { return device->context; } /* the cl_context */

const hg_driver hg_driver_opencl = {
    .name = "opencl",
    .vendor = &opencl_vendor,
    .enumerate = opencl_enumerate,
    .device_open = opencl_device_open,
    .device_adopt = opencl_device_adopt,
    .device_close = opencl_device_close,
    .device_caps = device_caps,
    .device_native = device_native,
    .arena_alloc = opencl_arena_alloc,
    .arena_import = opencl_arena_import,
    .arena_alloc_visible = opencl_arena_alloc_visible,
    .arena_free = opencl_arena_free,
    .arena_map = opencl_arena_map,
    .arena_unmap = opencl_arena_unmap,
    .arena_host = opencl_arena_host,
    .arena_native = opencl_arena_native,
    .queue_create = opencl_queue_create,
    .queue_destroy = opencl_queue_destroy,
    .queue_native = opencl_queue_native,
    .queue_submit = opencl_queue_submit,
    .event_create = opencl_event_create,
    .event_destroy = opencl_event_destroy,
    .event_query = opencl_event_query,
    .event_wait = opencl_event_wait,
    .code_create = opencl_code_create,
    .kernel_destroy = opencl_kernel_destroy,
    .code_is_ready = opencl_code_is_ready,
    .code_prepare = opencl_code_prepare,
};

#else

static uint32_t enumerate(hg_device_info *devices, uint32_t capacity, char reason[256]) {
    (void)devices;
    (void)capacity;
    snprintf(reason, 256,
             "this build was made without CL/cl.h: install opencl-headers and build again");
    return 0;
}

static hg_status device_open(uint32_t index, const hg_driver_options *options, hg_device **device) {
    (void)index;
    (void)options;
    (void)device;
    return hg_fail(
        HG_ERROR_BACKEND_UNAVAILABLE,
        "opencl: this build was made without CL/cl.h: install opencl-headers and build again");
}

const hg_driver hg_driver_opencl = {
    .name = "opencl", .enumerate = enumerate, .device_open = device_open};

#endif
