/* Buffers: arenas, which the device keeps and the host never sees. WebGPU's are zero when they are
 * made.
 * Must not know: commands, kernels. */
#include "backends/webgpu/webgpu_internal.h"

enum { ROUND = 256 };

hg_status wg_buffer_create(hg_device *d, uint64_t size, uint64_t usage, WGPUBuffer *buffer) {
    WGPUBufferDescriptor descriptor = {.usage = usage, .size = size};
    char said[WG_SAID], invalid[WG_SAID];
    wg_scope_begin(d, WGPU_FILTER_VALIDATION);
    wg_scope_begin(d, WGPU_FILTER_OUT_OF_MEMORY);
    WGPUBuffer b = wg.DeviceCreateBuffer(d->handle, &descriptor);
    uint32_t full = wg_scope_end(d, said), wrong = wg_scope_end(d, invalid);
    if (b && full == WGPU_ERROR_NONE && wrong == WGPU_ERROR_NONE) {
        *buffer = b;
        return HG_OK;
    }
    if (b) wg.BufferRelease(b);
    HG_TRY(wg_check_lost(d));
    return hg_fail(HG_ERROR_ALLOCATION_FAILED,
                   "webgpu: the device has no memory for %llu bytes: %.200s",
                   (unsigned long long)size, full != WGPU_ERROR_NONE ? said : invalid);
}

hg_status wg_arena_alloc(hg_device *d, uint64_t size, hg_driver_arena **arena) {
    uint64_t limit = d->caps.memory.max_arena_bytes;
    if (size > limit)
        return hg_fail(
            HG_ERROR_ALLOCATION_FAILED,
            "webgpu: %llu bytes are not available, the device binds at most %llu at once",
            (unsigned long long)size, (unsigned long long)limit);
    hg_driver_arena *a = hg_calloc(1, sizeof *a);
    if (!a) return hg_fail_memory();
    a->size = size ? (size + ROUND - 1) / ROUND * ROUND : ROUND;
    HG_CALLS_OTHERS;
    hg_mutex_lock(&wg_lock);
    hg_status status = wg_buffer_create(
        d, a->size, WGPU_USE_STORAGE | WGPU_USE_COPY_FROM | WGPU_USE_COPY_TO, &a->buffer);
    a->number = ++d->next_buffer;
    hg_mutex_unlock(&wg_lock);
    if (status != HG_OK)
        hg_free(a);
    else
        *arena = a;
    return status;
}

void wg_arena_free(hg_device *d, hg_driver_arena *arena) {
    (void)d;
    if (!arena) return;
    HG_CALLS_OTHERS;
    hg_mutex_lock(&wg_lock);
    wg.BufferDestroy(arena->buffer);
    wg.BufferRelease(arena->buffer);
    hg_mutex_unlock(&wg_lock);
    hg_free(arena);
}
