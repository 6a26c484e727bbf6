/* Handles of buffers and queues for other libraries: on the CPU, through the memory itself; through
 * OpenCL's own calls; the errors where there is none. (CUDA: test_cuda_devices.c.) */
#include "backends/opencl/opencl_internal.h"
#include "support/runtime_support.h"

static failing_allocator memory;

static hg_native_buffer native_of(hg_backend *b, hg_buffer buffer) {
    hg_native_buffer native = {.size = sizeof native};
    CHECK_OK(hg_buffer_native(b, buffer, &native));
    return native;
}

static void on_the_cpu(const char *pretend) {
    static uint8_t own[64];
    hg_config config = hg_config_default();
    hg_backend *b = NULL, *null = open_backend("null");
    hg_buffer buffer = {0}, empty = {0}, imported = {0};
    hg_native_buffer native = {.size = sizeof native};
    hg_queue *queue = NULL;
    uint8_t bytes[1000], read[1000];
    void *handle = &native;
    for (int i = 0; i < 1000; i++) bytes[i] = (uint8_t)(i * 7);
    strcpy(config.backend, "cpu");
    set_pretend(&config, pretend);
    CHECK_OK(hg_backend_create_with_config(&config, &b));
    CHECK_OK(hg_backend_allocate_buffer(b, 3, &buffer)); /* so that the next one does not begin an
                                                            arena */
    CHECK_OK(hg_backend_allocate_buffer(b, sizeof bytes, &buffer));
    CHECK_OK(hg_backend_allocate_buffer(b, 0, &empty));
    native = native_of(b, buffer);
    CHECK(native.kind == HG_MEMORY_HOST && native.offset == 0 && native.bytes == sizeof bytes &&
          native.device == 0);
    memcpy((void *)(uintptr_t)native.memory, bytes, sizeof bytes);
    CHECK_OK(hg_buffer_read(b, buffer, 0, read, sizeof read));
    CHECK(memcmp(read, bytes, sizeof bytes) == 0);
    CHECK(native_of(b, empty).bytes == 0);
    CHECK_OK(hg_buffer_import(b, own, sizeof own, &imported));
    CHECK(native_of(b, imported).memory == (uintptr_t)own &&
          native_of(b, imported).bytes == sizeof own);

    /* class memory: all of it, and one class */
    hg_buffer third = {UINT64_MAX - 95 + 3};
    CHECK(native_of(b, third).memory == native_of(b, (hg_buffer){0}).memory + 3 * 12288 &&
          native_of(b, third).bytes == 12288);

    /* what is wrong */
    CHECK_OK(hg_backend_free_buffer(b, buffer));
    CHECK_STATUS(hg_buffer_native(b, buffer, &native), HG_ERROR_INVALID_BUFFER);
    CHECK_FAILS(hg_buffer_native(null, (hg_buffer){1}, &native), HG_ERROR_BACKEND_UNAVAILABLE, "",
                "null has no handles of buffers that others could use");
    CHECK_FAILS(hg_buffer_native(NULL, empty, &native), HG_ERROR_INVALID_ARGUMENT, "",
                "backend is NULL");
    CHECK_FAILS(hg_buffer_native(b, empty, NULL), HG_ERROR_INVALID_ARGUMENT, "", "native is NULL");
    native.size = 1;
    CHECK_STATUS(hg_buffer_native(b, empty, &native), HG_ERROR_INVALID_ARGUMENT);
    CHECK_OK(hg_queue_create(b, NULL, &queue));
    CHECK_FAILS(hg_queue_native(queue, &handle), HG_ERROR_BACKEND_UNAVAILABLE, "",
                "cpu has no queue that others could use");
    CHECK(handle == &native);
    CHECK_FAILS(hg_queue_native(queue, NULL), HG_ERROR_INVALID_ARGUMENT, "", "native is NULL");
    CHECK_FAILS(hg_queue_native(NULL, &handle), HG_ERROR_INVALID_ARGUMENT, "", "queue is NULL");
    hg_queue_destroy(queue);
    hg_backend_destroy(null);
    hg_backend_destroy(b);
}

/* Only class memory is allocated by the call. */
static void failing_allocations(void) {
    bool done = false;
    for (uint64_t n = 1; n < 100 && !done; n++) {
        hg_backend *b = open_backend("cpu");
        hg_native_buffer native = {.size = sizeof native};
        memory.allocations = 0;
        memory.fail_at = n;
        hg_status status = hg_buffer_native(b, (hg_buffer){0}, &native);
        done = memory.allocations < n;
        memory.fail_at = 0;
        CHECK(done == (status == HG_OK));
        CHECK(done || status == HG_ERROR_OUT_OF_MEMORY || status == HG_ERROR_ALLOCATION_FAILED);
        hg_backend_destroy(b);
    }
    CHECK(done);
}

/* Two buffers of a device, the second filled through the library. */
typedef struct pair {
    hg_backend *backend;
    hg_queue *queue;
    hg_native_buffer natives[2];
    void *native_queue;
    uint8_t bytes[300];
} pair;

static bool open_pair(pair *p, const char *name) {
    hg_buffer buffers[2];
    if (hg_backend_create(name, 0, &p->backend) != HG_OK) {
        SKIP(hg_last_error_text());
        return false;
    }
    for (int i = 0; i < 300; i++) p->bytes[i] = (uint8_t)(i * 5 + 1);
    for (int i = 0; i < 2; i++) {
        CHECK_OK(hg_backend_allocate_buffer(p->backend, sizeof p->bytes, &buffers[i]));
        p->natives[i] = native_of(p->backend, buffers[i]);
        CHECK(p->natives[i].memory && p->natives[i].bytes == sizeof p->bytes &&
              p->natives[i].device == 0);
    }
    CHECK(p->natives[0].memory != p->natives[1].memory ||
          p->natives[0].offset + sizeof p->bytes <= p->natives[1].offset);
    CHECK_OK(hg_buffer_write(p->backend, buffers[1], 0, p->bytes, sizeof p->bytes));
    CHECK_OK(hg_queue_create(p->backend, NULL, &p->queue));
    CHECK_OK(hg_queue_native(p->queue, &p->native_queue));
    CHECK(p->native_queue);
    return true;
}

static void close_pair(pair *p) {
    hg_queue_destroy(p->queue);
    hg_backend_destroy(p->backend);
}

static void on_opencl(void) {
#if defined(HG_OPENCL_HEADERS)
    uint8_t read[300] = {0};
    pair p;
    if (!open_pair(&p, "opencl")) return;
    CHECK(p.natives[1].kind == HG_MEMORY_OPENCL);
    CHECK(opencl.EnqueueReadBuffer(p.native_queue, (cl_mem)(uintptr_t)p.natives[1].memory, CL_TRUE,
                                   p.natives[1].offset, sizeof read, read, 0, NULL,
                                   NULL) == CL_SUCCESS);
    CHECK(memcmp(read, p.bytes, sizeof read) == 0);
    close_pair(&p);
#else
    SKIP("this build was made without CL/cl.h");
#endif
}

static void on_vulkan(void) {
    pair p;
    if (!open_pair(&p, "vulkan")) return;
    CHECK(p.natives[0].kind == HG_MEMORY_VULKAN && p.natives[1].kind == HG_MEMORY_VULKAN);
    close_pair(&p);
}

int main(void) {
    hg_allocator hooks = {.size = sizeof hooks,
                          .user = &memory,
                          .reallocate = failing_reallocate,
                          .release = failing_release};
    CHECK_OK(hg_set_allocator(&hooks));
    on_the_cpu("");
    on_the_cpu("polled=1");
    failing_allocations();
    on_opencl();
    on_vulkan();
    return test_done();
}
