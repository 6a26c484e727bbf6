/* The Vulkan backend: devices behind libvulkan, opened at run time. Kernels arrive in device form
 * and leave as SPIR-V. */
#include "vulkan_internal.h"
#include <stdio.h>

#if HG_HAS_VULKAN
static const hg_device_caps *device_caps(const hg_device *device) { return &device->caps; }
static void *device_native(hg_device *device) { return device->handle; }

const hg_driver hg_driver_vulkan = {
    .name = "vulkan",
    .vendor = &vk_vendor,
    .enumerate = vk_enumerate,
    .device_open = vk_device_open,
    .device_adopt = vk_device_adopt,
    .device_close = vk_device_close,
    .device_caps = device_caps,
    .device_native = device_native,
    .arena_alloc = vk_arena_alloc,
    .arena_import = vk_arena_import,
    .arena_alloc_visible = vk_arena_alloc_visible,
    .arena_address = vk_arena_address,
    .arena_native = vk_arena_native,
    .arena_free = vk_arena_free,
    .arena_map = vk_arena_map,
    .arena_unmap = vk_arena_unmap,
    .queue_create = vk_queue_create,
    .queue_destroy = vk_queue_destroy,
    .queue_native = vk_queue_native,
    .queue_submit = vk_queue_submit,
    .event_create = vk_event_create,
    .event_destroy = vk_event_destroy,
    .event_query = vk_event_query,
    .event_wait = vk_event_wait,
    .code_create = vk_code_create,
    .kernel_destroy = vk_kernel_destroy,
    .code_is_ready = vk_code_is_ready,
    .code_prepare = vk_code_prepare,
    .recording_create = vk_recording_create,
    .recording_launch = vk_recording_launch,
    .recording_destroy = vk_recording_destroy,
};
#else
static uint32_t enumerate(hg_device_info *devices, uint32_t capacity, char reason[256]) {
    (void)devices;
    (void)capacity;
    snprintf(
        reason, 256, "%s",
        "this build was made without the Vulkan headers: install libvulkan-dev and build again");
    return 0;
}

static hg_status device_open(uint32_t index, const hg_driver_options *options, hg_device **device) {
    (void)index;
    (void)options;
    (void)device;
    return hg_fail(HG_ERROR_BACKEND_UNAVAILABLE,
                   "vulkan: this build was made without the Vulkan headers");
}

const hg_driver hg_driver_vulkan = {
    .name = "vulkan", .enumerate = enumerate, .device_open = device_open};
#endif
