/* Arenas: memory of the device, pinned memory that host and device see, and registered memory of
 * the caller's.
 * Must not know: queues, kernels. */
#include "backends/cuda/cuda_internal.h"
#include <hologram/backend.h>
#include <string.h>

enum { HOST_PORTABLE = 1, HOST_MAPPED = 2 };

static hg_status zero(hg_device *d, CUdeviceptr address, uint64_t size) {
    CU_TRY(MemsetD8Async, address, 0, (size_t)size, d->setup);
    CU_TRY(StreamSynchronize, d->setup);
    return HG_OK;
}

static hg_status on_device(hg_device *d, hg_driver_arena *a, uint64_t size) {
    if (size > d->caps.memory.max_arena_bytes)
        return hg_fail(HG_ERROR_ALLOCATION_FAILED,
                       "cuda: %llu bytes asked for, the device has %llu", (unsigned long long)size,
                       (unsigned long long)d->caps.memory.max_arena_bytes);
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

/* Host memory that was pinned for imports. Under the device's lock. */
typedef struct cuda_pin {
    struct cuda_pin *next;
    void *start;
    uint32_t imports;
} cuda_pin;

/* In the device's context. NULL: nothing. */
static void unpin(hg_device *d, cuda_pin *p) {
    if (!p || --p->imports) return;
    cuda_pin **at = &d->pins;
    while (*at != p) at = &(*at)->next;
    *at = p->next;
    (void)cuda.MemHostUnregister(p->start);
    hg_free(p);
}

/* In the device's context. */
static void release_arena(hg_device *d, hg_driver_arena *a) {
    if (a->imported)
        unpin(d, a->pin);
    else if (a->host)
        (void)cuda.MemFreeHost(a->host);
    else if (a->address && d->pools)
        (void)cuda.MemFreeAsync(a->address, d->setup);
    else if (a->address)
        (void)cuda.MemFree(a->address);
}

static hg_status make(hg_device *d, uint64_t size,
                      hg_status (*fill)(hg_device *, hg_driver_arena *, uint64_t),
                      hg_driver_arena **arena) {
    hg_driver_arena *a = hg_calloc(1, sizeof *a);
    if (!a) return hg_fail_memory();
    a->size = size;
    hg_status status = cuda_enter(d);
    if (status == HG_OK) {
        hg_mutex_lock(&d->lock);
        status = fill(d, a, size ? size : 1);
        if (status != HG_OK) {
            hg_error kept = *hg_error_record();
            release_arena(d, a);
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

hg_status cuda_arena_alloc(hg_device *d, uint64_t size, hg_driver_arena **arena) {
    return make(d, size, on_device, arena);
}
hg_status cuda_arena_alloc_visible(hg_device *d, uint64_t size, hg_driver_arena **arena) {
    return make(d, size, visible, arena);
}

/* ---- memory that others made ---- */

/* What the driver knows of an address. */
typedef struct place {
    uint32_t type, device;   /* CUmemorytype: HOST_MEMORY, DEVICE_MEMORY; 0: it knows nothing */
    CUdeviceptr start, seen; /* of the allocation; where kernels see the address */
    size_t size;             /* of the allocation */
} place;
enum { HOST_MEMORY = 1, DEVICE_MEMORY = 2 };
/* CUpointer_attribute */
enum { MEMORY_TYPE = 2, DEVICE_POINTER = 3, DEVICE_ORDINAL = 9, RANGE_START = 11, RANGE_SIZE = 12 };

static hg_status look_up(const void *memory, place *p) {
    CUdeviceptr address = (CUdeviceptr)(uintptr_t)memory;
    *p = (place){0};
    CUresult said = CU_CALL(PointerGetAttribute, &p->type, MEMORY_TYPE, address);
    if (said == CUDA_ERROR_INVALID_VALUE)
        return HG_OK; /* plain memory of the process, or nothing at all */
    HG_TRY(cuda_check("cuPointerGetAttribute", said));
    CU_TRY(PointerGetAttribute, &p->device, DEVICE_ORDINAL, address);
    CU_TRY(PointerGetAttribute, &p->seen, DEVICE_POINTER, address);
    CU_TRY(PointerGetAttribute, &p->start, RANGE_START, address);
    CU_TRY(PointerGetAttribute, &p->size, RANGE_SIZE, address);
    return HG_OK;
}

static hg_status check_place(const hg_device *d, const place *p, uint32_t kind, uint32_t number,
                             const void *memory, uint64_t size) {
    CUdeviceptr address = (CUdeviceptr)(uintptr_t)memory;
    bool wants_device = kind == HG_MEMORY_CUDA;
    if (p->type != (wants_device ? DEVICE_MEMORY : HOST_MEMORY))
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "cuda: %p is %s, expected %s", memory,
                       p->type == HOST_MEMORY     ? "pinned memory of the host"
                       : p->type == DEVICE_MEMORY ? "memory of a device"
                                                  : "not known to the driver",
                       wants_device ? "memory of a device" : "pinned memory of the host");
    if (wants_device && (number != p->device || number != (uint32_t)d->id))
        return hg_fail(
            HG_ERROR_INVALID_ARGUMENT,
            "cuda: %p is memory of device %u, the backend is on device %d, expected device %u",
            memory, (unsigned)p->device, d->id, (unsigned)number);
    uint64_t left = p->start + p->size - address;
    if (size > left && p->type == HOST_MEMORY)
        return hg_fail(HG_ERROR_BACKEND_UNAVAILABLE,
                       "cuda: %llu bytes from %p on are pinned, expected %llu: the driver pins no "
                       "memory twice, import all of it at first",
                       (unsigned long long)left, memory, (unsigned long long)size);
    if (size > left)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                       "cuda: the allocation has %llu bytes from %p on, expected %llu",
                       (unsigned long long)left, memory, (unsigned long long)size);
    return HG_OK;
}

static hg_status pin(hg_device *d, hg_driver_arena *a, void *memory, uint64_t size) {
    cuda_pin *p = hg_calloc(1, sizeof *p);
    if (!p) return hg_fail_memory();
    hg_status status = cuda_check(
        "cuMemHostRegister",
        CU_CALL(MemHostRegister, memory, (size_t)size, HOST_PORTABLE | HOST_MAPPED));
    if (status != HG_OK) {
        hg_free(p);
        return status;
    }
    *p = (cuda_pin){.next = d->pins, .start = memory, .imports = 1};
    d->pins = a->pin = p;
    a->host = memory;
    CU_TRY(MemHostGetDevicePointer, &a->address, memory, 0);
    return HG_OK;
}

static cuda_pin *find_pin(const hg_device *d, CUdeviceptr start) {
    cuda_pin *p = d->pins;
    while (p && (CUdeviceptr)(uintptr_t)p->start != start) p = p->next;
    return p;
}

/* Memory that is pinned already is used as it is, and stays pinned for as long as one import of it
 * lives. */
static hg_status take(hg_device *d, uint32_t kind, uint32_t number, void *memory, uint64_t size,
                      hg_driver_arena *a) {
    place p;
    HG_TRY(look_up(memory, &p));
    if (kind == HG_MEMORY_HOST && p.type == 0) {
        if (d->caps.memory.can_import) return pin(d, a, memory, size);
        return hg_fail(HG_ERROR_BACKEND_UNAVAILABLE,
                       "cuda: the device imports no memory of the host");
    }
    HG_TRY(check_place(d, &p, kind, number, memory, size));
    a->address = p.seen;
    if (p.type != HOST_MEMORY) return HG_OK;
    a->host = memory;
    a->pin = find_pin(d, p.start);
    if (a->pin) a->pin->imports++;
    return HG_OK;
}

/* Kernels find what is aligned by offsets alone. */
enum { IMPORT_ALIGN = 16 };

hg_status cuda_arena_import_device(hg_device *d, uint32_t kind, uint32_t number, void *memory,
                                   uint64_t size, hg_driver_arena **arena) {
    if (size == 0)
        return hg_fail(HG_ERROR_BACKEND_UNAVAILABLE, "cuda: no bytes cannot be imported");
    if ((uintptr_t)memory % IMPORT_ALIGN)
        return hg_fail(HG_ERROR_BACKEND_UNAVAILABLE,
                       "cuda: memory is imported at multiples of %d bytes, got %p",
                       (int)IMPORT_ALIGN, memory);
    hg_driver_arena *a = hg_calloc(1, sizeof *a);
    if (!a) return hg_fail_memory();
    *a = (hg_driver_arena){.size = size, .imported = true};
    hg_status status = cuda_enter(d);
    if (status == HG_OK) {
        hg_mutex_lock(&d->lock);
        status = take(d, kind, number, memory, size, a);
        if (status != HG_OK) {
            hg_error kept = *hg_error_record();
            unpin(d, a->pin);
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

hg_status cuda_arena_import(hg_device *d, void *host, uint64_t size, hg_driver_arena **arena) {
    return cuda_arena_import_device(d, HG_MEMORY_HOST, 0, host, size, arena);
}

/* ---- ends and places ---- */

void cuda_arena_free(hg_device *d, hg_driver_arena *a) {
    if (!a) return;
    if (cuda.CtxPushCurrent(d->context) == CUDA_SUCCESS) {
        hg_mutex_lock(&d->lock);
        release_arena(d, a);
        hg_mutex_unlock(&d->lock);
        cuda_leave();
    }
    hg_free(a);
}

uint64_t cuda_arena_address(hg_driver_arena *a) { return a->address; }
/* The driver's addresses and the host's are of one space, so imports of the device's own memory are
 * told apart by theirs. */
const void *cuda_arena_host(const hg_driver_arena *a) {
    return a->imported && !a->host ? (const void *)(uintptr_t)a->address : a->host;
}
void *cuda_arena_map(hg_driver_arena *a) { return a->imported ? NULL : a->host; }
void cuda_arena_unmap(hg_driver_arena *a) { (void)a; }

void cuda_arena_native(hg_device *d, hg_driver_arena *a, hg_native_buffer *native) {
    native->kind = a->host ? HG_MEMORY_CUDA_HOST : HG_MEMORY_CUDA;
    native->memory = a->host ? (uintptr_t)a->host : a->address;
    native->device = (uint32_t)d->id;
}
