/* Buffers: arenas, which the device keeps and the host never sees, but for Dawn's small ones in
 * memory of the host. WebGPU's are zero when they are made.
 * Must not know: commands, kernels. */
#include "backends/webgpu/webgpu_internal.h"

enum { ROUND = 256 };

static hg_status create(hg_device *d, uint64_t size, uint64_t usage, const WGPUChainedStruct *more,
                        WGPUBuffer *buffer) {
    WGPUBufferDescriptor descriptor = {.next = more, .usage = usage, .size = size};
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

hg_status wg_buffer_create(hg_device *d, uint64_t size, uint64_t usage, WGPUBuffer *buffer) {
    return create(d, size, usage, NULL, buffer);
}

static uint64_t round_up(uint64_t size) {
    return size ? (size + ROUND - 1) / ROUND * ROUND : ROUND;
}

/* Under the lock. */
static hg_status make_buffer(hg_device *d, uint64_t size, const WGPUChainedStruct *more,
                             hg_driver_arena *a) {
    a->size = round_up(size);
    a->number = ++d->next_buffer;
    return create(d, a->size, WGPU_USE_STORAGE | WGPU_USE_COPY_FROM | WGPU_USE_COPY_TO, more,
                  &a->buffer);
}

static uint64_t count_parts(const hg_driver_arena *a) {
    return a->parts ? (a->size - 1) / a->part_bytes + 1 : 0;
}

static hg_status make_parts(hg_device *d, uint64_t size, hg_driver_arena *a) {
    a->size = round_up(size);
    a->part_bytes = d->caps.memory.cut_bytes;
    uint64_t count = (a->size - 1) / a->part_bytes + 1;
    a->parts = hg_calloc((size_t)count, sizeof *a->parts);
    if (!a->parts) return hg_fail_memory();
    for (uint64_t i = 0; i < count; i++) {
        uint64_t rest = a->size - i * a->part_bytes;
        HG_TRY(make_buffer(d, rest < a->part_bytes ? rest : a->part_bytes, NULL, &a->parts[i]));
    }
    return HG_OK;
}

static void drop_buffer(hg_driver_arena *a) {
    if (!a->buffer) return;
    wg.BufferDestroy(a->buffer);
    wg.BufferRelease(a->buffer);
}

/* Under the lock. */
static void drop(hg_driver_arena *a) {
    for (uint64_t i = 0; i < count_parts(a); i++) drop_buffer(&a->parts[i]);
    drop_buffer(a);
    hg_free(a->parts);
    hg_free(a);
}

hg_status wg_arena_alloc(hg_device *d, uint64_t size, hg_driver_arena **arena) {
    uint64_t limit = d->caps.memory.max_arena_bytes, cut = d->caps.memory.cut_bytes;
    if (size > limit)
        return hg_fail(HG_ERROR_ALLOCATION_FAILED,
                       "webgpu: %llu bytes are not available, kernels reach at most %llu",
                       (unsigned long long)size, (unsigned long long)limit);
    hg_driver_arena *a = hg_calloc(1, sizeof *a);
    if (!a) return hg_fail_memory();
    HG_CALLS_OTHERS;
    hg_mutex_lock(&wg_lock);
    hg_status status = size > cut ? make_parts(d, size, a) : make_buffer(d, size, NULL, a);
    if (status != HG_OK)
        drop(a);
    else
        *arena = a;
    hg_mutex_unlock(&wg_lock);
    return status;
}

/* ---- memory of the host ---- */

enum { PAGES = 64 << 10 }; /* what operating systems give in one piece at most: on Windows */

static hg_status make_visible(hg_device *d, uint64_t size, hg_driver_arena *a) {
    size = (size + PAGES - 1) / PAGES * PAGES;
    void *block = hg_calloc(1, (size_t)size + PAGES);
    if (!block) return hg_fail_memory();
    void *host = (uint8_t *)block + (PAGES - (uintptr_t)block % PAGES);
    WGPUBufferHostMemory memory = {
        .chain = {NULL, WGPU_STYPE_HOST_MEMORY}, .memory = host, .gone = hg_free, .user = block};
    hg_status status = make_buffer(d, size, &memory.chain, a);
    if (status != HG_OK) hg_free(block);
    if (status == HG_OK) a->host = host;
    return status;
}

hg_status wg_arena_alloc_visible(hg_device *d, uint64_t size, hg_driver_arena **arena) {
    if (!d->opening.sees_host)
        return hg_fail(HG_ERROR_ALLOCATION_FAILED, "webgpu: kernels do not see the host's memory");
    HG_TRY(wg_check_lost(d)); /* Dawn would make a buffer and never give the memory back */
    hg_driver_arena *a = hg_calloc(1, sizeof *a);
    if (!a) return hg_fail_memory();
    HG_CALLS_OTHERS;
    hg_mutex_lock(&wg_lock);
    hg_status status = make_visible(d, size, a);
    if (status != HG_OK)
        drop(a);
    else
        *arena = a;
    hg_mutex_unlock(&wg_lock);
    return status;
}

void *wg_arena_map(hg_driver_arena *arena) { return arena->host; }

void wg_arena_free(hg_device *d, hg_driver_arena *arena) {
    (void)d;
    if (!arena) return;
    HG_CALLS_OTHERS;
    hg_mutex_lock(&wg_lock);
    drop(arena);
    hg_mutex_unlock(&wg_lock);
}

hg_range wg_arena_part(const hg_range *range, uint64_t *size) {
    hg_driver_arena *a = range->arena;
    if (!a || !a->parts) {
        if (*size > range->size) *size = range->size;
        return *range;
    }
    uint64_t i = range->offset / a->part_bytes, offset = range->offset % a->part_bytes,
             most = a->part_bytes - offset;
    if (most > range->size) most = range->size;
    if (*size > most) *size = most;
    return (hg_range){&a->parts[i], offset, most};
}
