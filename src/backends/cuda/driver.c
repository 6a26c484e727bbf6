/* The CUDA backend: kernels in device form as CUDA C, compiled by NVRTC, run by NVIDIA's GPUs
 * through the driver's library. */
#include "backends/cuda/cuda_internal.h"

static const hg_device_caps *device_caps(const hg_device *device) { return &device->caps; }
static void *device_native(hg_device *device) {
    return device->context;
} /* the CUcontext: the device's primary one, or the host's */

const hg_driver hg_driver_cuda = {
    .name = "cuda",
    .vendor = &cuda_vendor,
    .enumerate = cuda_enumerate,
    .device_open = cuda_device_open,
    .device_adopt = cuda_device_adopt,
    .device_close = cuda_device_close,
    .device_caps = device_caps,
    .device_native = device_native,
    .arena_alloc = cuda_arena_alloc,
    .arena_import = cuda_arena_import,
    .arena_import_device = cuda_arena_import_device,
    .arena_alloc_visible = cuda_arena_alloc_visible,
    .arena_address = cuda_arena_address,
    .arena_free = cuda_arena_free,
    .arena_map = cuda_arena_map,
    .arena_unmap = cuda_arena_unmap,
    .arena_host = cuda_arena_host,
    .arena_native = cuda_arena_native,
    .queue_create = cuda_queue_create,
    .queue_destroy = cuda_queue_destroy,
    .queue_native = cuda_queue_native,
    .queue_submit = cuda_queue_submit,
    .event_create = cuda_event_create,
    .event_destroy = cuda_event_destroy,
    .event_query = cuda_event_query,
    .event_wait = cuda_event_wait,
    .code_create = cuda_code_create,
    .kernel_destroy = cuda_kernel_destroy,
    .step_supported = cuda_step_supported,
    .step_describe = cuda_step_describe,
    .steps_by = cuda_vendor_by,
    .recording_create = cuda_recording_create,
    .recording_launch = cuda_recording_launch,
    .recording_destroy = cuda_recording_destroy,
};
