/* Arenas: buffers of the device; on a CPU blocks of our own, whose pages the system zeroes when
 * they are first touched.
 * Must not know: queues, kernels. */
#include "backends/opencl/opencl_internal.h"
#include <string.h>

#if defined(HG_OPENCL_HEADERS)

enum { PAGE = 4096, IMPORT_ALIGN = 16 };

static hg_status buffer(hg_device *d, cl_mem_flags flags, uint64_t size, void *host,
                        cl_mem *memory) {
    cl_int error;
    if (size > d->caps.memory.max_arena_bytes)
        return hg_fail(HG_ERROR_ALLOCATION_FAILED,
                       "opencl: %llu bytes asked for, the device gives at most %llu at once",
                       (unsigned long long)size,
                       (unsigned long long)d->caps.memory.max_arena_bytes);
    *memory = CL_MAKE(error, CreateBuffer, d->context, flags, (size_t)size, host);
    return opencl_check("clCreateBuffer", error);
}

static hg_status zero(hg_device *d, cl_mem memory, uint64_t size) {
    const cl_uint none = 0;
    hg_mutex_lock(&d->lock);
    cl_int error = CL_CALL(EnqueueFillBuffer, d->setup, memory, &none, sizeof none, 0, (size_t)size,
                           0, NULL, NULL);
    hg_status status = opencl_check("clEnqueueFillBuffer", error);
    if (status == HG_OK) status = opencl_check("clFinish", CL_CALL(Finish, d->setup));
    hg_mutex_unlock(&d->lock);
    return status;
}

static hg_status on_host(hg_device *d, hg_driver_arena *a, uint64_t size) {
    a->host = size < SIZE_MAX - PAGE ? hg_calloc(1, (size_t)size + PAGE) : NULL;
    if (!a->host)
        return hg_fail(HG_ERROR_ALLOCATION_FAILED, "opencl: %llu bytes are not available",
                       (unsigned long long)size);
    uint8_t *start = (uint8_t *)a->host + (PAGE - (uintptr_t)a->host % PAGE) % PAGE;
    a->start = start;
    return buffer(d, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, size, start, &a->memory);
}

static hg_status on_device(hg_device *d, hg_driver_arena *a, uint64_t size) {
    HG_TRY(buffer(d, CL_MEM_READ_WRITE, size, NULL, &a->memory));
    return zero(d, a->memory, size);
}

/* Memory that both see at once, while kernels run. The buffer on top of it serves copies and fills.
 */
static hg_status shared(hg_device *d, hg_driver_arena *a, uint64_t size) {
    cl_svm_mem_flags flags = CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER;
    if (!d->visible)
        return hg_fail(HG_ERROR_BACKEND_UNAVAILABLE,
                       "opencl: the device has no fine-grained shared memory");
    if (opencl_asked("clSVMAlloc") == CL_SUCCESS)
        a->svm = opencl.SVMAlloc(d->context, flags, (size_t)size, 0);
    if (!a->svm)
        return hg_fail(HG_ERROR_ALLOCATION_FAILED,
                       "opencl: the device has no memory left (clSVMAlloc)");
    memset(a->svm, 0, (size_t)size);
    a->start = a->svm;
    return buffer(d, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, size, a->svm, &a->memory);
}

static hg_status make(hg_device *d, uint64_t size,
                      hg_status (*fill)(hg_device *, hg_driver_arena *, uint64_t),
                      hg_driver_arena **arena) {
    hg_driver_arena *a = hg_calloc(1, sizeof *a);
    if (!a) return hg_fail_memory();
    a->size = size;
    uint64_t bytes = size < UINT64_MAX - 8 ? (size + 7) / 8 * 8 : size; /* none is not allowed;
                                                                           fills take whole words */
    hg_status status = fill(d, a, bytes ? bytes : 8);
    if (status != HG_OK)
        opencl_arena_free(d, a);
    else
        *arena = a;
    return status;
}

hg_status opencl_arena_alloc(hg_device *d, uint64_t size, hg_driver_arena **arena) {
    return make(d, size, d->host_memory ? on_host : on_device, arena);
}
hg_status opencl_arena_alloc_visible(hg_device *d, uint64_t size, hg_driver_arena **arena) {
    return make(d, size, shared, arena);
}

hg_status opencl_arena_import(hg_device *d, void *host, uint64_t size, hg_driver_arena **arena) {
    if (!d->host_memory || (uintptr_t)host % IMPORT_ALIGN || size == 0)
        return hg_fail(
            HG_ERROR_BACKEND_UNAVAILABLE,
            "opencl: host memory is imported by devices on the CPU, at multiples of %d bytes",
            (int)IMPORT_ALIGN);
    hg_driver_arena *a = hg_calloc(1, sizeof *a);
    if (!a) return hg_fail_memory();
    a->size = size;
    a->start = host;
    hg_status status = buffer(d, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, size, host, &a->memory);
    if (status != HG_OK)
        hg_free(a);
    else
        *arena = a;
    return status;
}

void opencl_arena_free(hg_device *d, hg_driver_arena *a) {
    if (!a) return;
    if (a->memory) opencl.ReleaseMemObject(a->memory);
    if (a->svm) opencl.SVMFree(d->context, a->svm);
    hg_free(a->host);
    hg_free(a);
}

const void *opencl_arena_host(const hg_driver_arena *a) { return a->start; }
void *opencl_arena_map(hg_driver_arena *a) { return a->svm; }
void opencl_arena_unmap(hg_driver_arena *a) { (void)a; }
void opencl_arena_native(hg_device *d, hg_driver_arena *a, hg_native_buffer *native) {
    (void)d;
    native->kind = HG_MEMORY_OPENCL;
    native->memory = (uintptr_t)a->memory;
}

#endif
