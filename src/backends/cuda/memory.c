/* Arenas: memory of the device, pinned memory that host and device see, and registered memory of the caller's.
 * Must not know: queues, kernels. */
#include "backends/cuda/cuda_internal.h"
#include <string.h>

enum { HOST_PORTABLE = 1, HOST_MAPPED = 2 };

static hg_status zero(hg_device *d, CUdeviceptr address, uint64_t size) {
    CU_TRY(MemsetD8Async, address, 0, (size_t)size, d->setup);
    CU_TRY(StreamSynchronize, d->setup);
    return HG_OK;
}

static hg_status on_device(hg_device *d, hg_driver_arena *a, uint64_t size) {
    if (size > d->caps.max_arena_bytes)
        return hg_fail(HG_ERROR_ALLOCATION_FAILED, "cuda: %llu bytes asked for, the device has %llu", (unsigned long long)size,
                       (unsigned long long)d->caps.max_arena_bytes);
    if (d->pools)
        CU_TRY(MemAllocAsync, &a->address, (size_t)size, d->setup);
    else
        CU_TRY(MemAlloc, &a->address, (size_t)size);
    return zero(d, a->address, size);
}

static hg_status visible(hg_device *d, hg_driver_arena *a, uint64_t size) {
    (void)d;
    CU_TRY(MemHostAlloc, &a->host, (size_t)size, HOST_PORTABLE | HOST_MAPPED);
    memset(a->host, 0, (size_t)size);
    CU_TRY(MemHostGetDevicePointer, &a->address, a->host, 0);
    return HG_OK;
}

/* In the device's context. */
static void give_back(hg_device *d, hg_driver_arena *a) {
    if (a->registered)
        (void)cuda.MemHostUnregister(a->host);
    else if (a->host)
        (void)cuda.MemFreeHost(a->host);
    else if (a->address && d->pools)
        (void)cuda.MemFreeAsync(a->address, d->setup);
    else if (a->address)
        (void)cuda.MemFree(a->address);
}

static hg_status make(hg_device *d, uint64_t size, hg_status (*fill)(hg_device *, hg_driver_arena *, uint64_t), hg_driver_arena **arena) {
    hg_driver_arena *a = hg_calloc(1, sizeof *a);
    if (!a) return hg_fail_memory();
    a->size = size;
    hg_status status = cuda_enter(d);
    if (status == HG_OK) {
        hg_mutex_lock(&d->lock);
        status = fill(d, a, size ? size : 1);
        if (status != HG_OK) {
            hg_error kept = *hg_error_record();
            give_back(d, a);
            *hg_error_record() = kept;
        }
        hg_mutex_unlock(&d->lock);
        cuda_leave();
    }
    if (status != HG_OK)
        hg_free(a);
    else
        *arena = a;
    return status;
}

hg_status cuda_arena_alloc(hg_device *d, uint64_t size, hg_driver_arena **arena) { return make(d, size, on_device, arena); }
hg_status cuda_arena_alloc_visible(hg_device *d, uint64_t size, hg_driver_arena **arena) { return make(d, size, visible, arena); }

hg_status cuda_arena_import(hg_device *d, void *host, uint64_t size, hg_driver_arena **arena) {
    if (!d->caps.can_import || size == 0) return hg_fail(HG_ERROR_BACKEND_UNAVAILABLE, "cuda: the device imports no memory of the host");
    hg_driver_arena *a = hg_calloc(1, sizeof *a);
    if (!a) return hg_fail_memory();
    *a = (hg_driver_arena){.size = size, .host = host};
    hg_status status = cuda_enter(d);
    if (status == HG_OK) {
        status = cuda_check("cuMemHostRegister", CU_CALL(MemHostRegister, host, (size_t)size, HOST_PORTABLE | HOST_MAPPED));
        a->registered = status == HG_OK;
        if (status == HG_OK) status = cuda_check("cuMemHostGetDevicePointer", CU_CALL(MemHostGetDevicePointer, &a->address, host, 0));
        if (status != HG_OK && a->registered) (void)cuda.MemHostUnregister(host);
        cuda_leave();
    }
    if (status != HG_OK)
        hg_free(a);
    else
        *arena = a;
    return status;
}

void cuda_arena_free(hg_device *d, hg_driver_arena *a) {
    if (!a) return;
    if (cuda.CtxPushCurrent(d->context) == CUDA_SUCCESS) {
        hg_mutex_lock(&d->lock);
        give_back(d, a);
        hg_mutex_unlock(&d->lock);
        cuda_leave();
    }
    hg_free(a);
}

uint64_t cuda_arena_address(hg_driver_arena *a) { return a->address; }
const void *cuda_arena_host(const hg_driver_arena *a) { return a->host; }
void *cuda_arena_map(hg_driver_arena *a) { return a->registered ? NULL : a->host; }
void cuda_arena_unmap(hg_driver_arena *a) { (void)a; }
