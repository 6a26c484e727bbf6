/* The WebGPU backend: kernels in device form as WGSL, run through the C interface of WebGPU, which
 * a library opened at run time has (Dawn, wgpu-native). The functions of symbols.def are the seam:
 * in a browser a part of the page stands for them, and nothing can be waited for. */
#include "backends/webgpu/webgpu_internal.h"

static const hg_device_caps *device_caps(const hg_device *device) { return &device->caps; }
static void *device_native(hg_device *device) { return device->handle; } /* the WGPUDevice */

const hg_driver hg_driver_webgpu = {
    .name = "webgpu",
    .vendor = WG_WAITS ? &wg_vendor : NULL,
    .enumerate = wg_enumerate,
    .device_open = wg_device_open,
    .device_adopt = wg_device_adopt,
    .device_ready = wg_device_ready,
    .device_close = wg_device_close,
    .device_caps = device_caps,
    .device_native = device_native,
    .arena_alloc = wg_arena_alloc,
    .arena_alloc_visible = WG_WAITS ? wg_arena_alloc_visible : NULL,
    .arena_map = WG_WAITS ? wg_arena_map : NULL,
    .arena_free = wg_arena_free,
    .queue_create = wg_queue_create,
    .queue_destroy = wg_queue_destroy,
    .queue_native = wg_queue_native,
    .queue_submit = wg_queue_submit,
    .event_create = wg_event_create,
    .event_destroy = wg_event_destroy,
    .event_query = wg_event_query,
    .event_wait = WG_WAITS ? wg_event_wait : NULL,
    .device_poll = WG_WAITS ? wg_poll : NULL,
    .device_leave = WG_WAITS ? NULL : wg_leave,
    .event_began = WG_WAITS ? NULL : wg_event_began,
    .code_create = wg_code_create,
    .kernel_ready = wg_kernel_ready,
    .kernel_destroy = wg_kernel_destroy,
};
