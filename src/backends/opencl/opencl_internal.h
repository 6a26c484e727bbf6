/* What the files of the OpenCL backend share. symbols.c: the library and its errors; device.c:
 * devices and what they can do; memory.c: arenas; queue.c: submissions and events; kernel.c:
 * programs; driver.c: the table. A build without OpenCL's headers has the table alone, which says
 * so.
 * Must not know: programs of the library, handles, how kernels are made. */
#ifndef HG_BACKENDS_OPENCL_INTERNAL_H
#define HG_BACKENDS_OPENCL_INTERNAL_H

#include "base/blobcache.h"
#include "base/library.h"
#include "base/thread.h"
#include "emit/emit.h"
#include "driver/driver.h"

#if defined(__has_include)
#if __has_include(<CL/cl.h>)
#define HG_OPENCL_HEADERS 1
#endif
#endif

#if defined(HG_OPENCL_HEADERS)
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS /* clCreateCommandQueue, which every version has */
#include <CL/cl.h>

/* ---- symbols.c ---- */
typedef struct opencl_symbols {
#define CL_FUNCTION(name) HG_TYPEOF(cl##name) * name;
#include "backends/opencl/symbols.def"
} opencl_symbols;
/* The functions, once opencl_load succeeded. Tests replace entries. */
extern opencl_symbols opencl;
/* Tests set it to make calls fail: what it returns instead of CL_SUCCESS is the call's error, and
 * the call is not made. Release calls are not asked for: they cannot fail in a way that matters. */
extern cl_int (*opencl_before_call)(const char *call);

/* Opens the library when first called. False: reason says what is missing and what to install. */
bool opencl_load(char reason[256]);
extern const hg_vendor opencl_vendor;
const char *opencl_error_name(cl_int error);
/* HG_OK, or the status of a failed call. */
hg_status opencl_check(const char *call, cl_int error) HG_NODISCARD;

static inline cl_int opencl_asked(const char *call) {
    return opencl_before_call ? opencl_before_call(call) : CL_SUCCESS;
}
/* A call that returns an error code, and one that returns an object and takes a place for the code
 * as its last argument. */
#define CL_CALL(name, ...) cl_call_made("cl" #name, opencl.name, __VA_ARGS__)
#define cl_call_made(text, function, ...)                                \
    HG_BLOCK_VALUE(HG_CALLS_OTHERS; cl_int cl_said = opencl_asked(text); \
                   cl_said == CL_SUCCESS ? function(__VA_ARGS__) : cl_said;)
#define CL_MAKE(error, name, ...)                                                    \
    HG_BLOCK_VALUE(HG_CALLS_OTHERS; (error = opencl_asked("cl" #name)) == CL_SUCCESS \
                                        ? opencl.name(__VA_ARGS__, &error)           \
                                        : NULL;)
#define CL_TRY(name, ...) HG_TRY(opencl_check("cl" #name, CL_CALL(name, __VA_ARGS__)))

/* ---- device.c ---- */
struct hg_device {
    hg_device_caps caps;
    cl_device_id id;
    cl_context context;
    bool adopted;           /* the context is the host's */
    cl_command_queue setup; /* zeroes new memory */
    hg_mutex lock;          /* of setup */
    hg_blob_cache *cache;
    bool host_memory;  /* kernels run on this CPU: buffers are blocks of our own */
    bool visible;      /* fine-grained shared memory */
    char options[128]; /* of the compiler */
};
uint32_t opencl_enumerate(hg_device_info *devices, uint32_t capacity, char reason[256]);
hg_status opencl_device_open(uint32_t index, const hg_driver_options *options, hg_device **device);
hg_status opencl_device_adopt(const hg_driver_options *options, hg_device **device);
void opencl_device_close(hg_device *device);

/* ---- memory.c ---- */
struct hg_driver_arena {
    cl_mem memory;
    void *svm;         /* visible memory: what host and kernels use; `memory` is for copies */
    void *host;        /* to be freed with the arena */
    const void *start; /* on the host; NULL: nowhere */
    uint64_t size;
};
hg_status opencl_arena_alloc(hg_device *device, uint64_t size, hg_driver_arena **arena);
hg_status opencl_arena_import(hg_device *device, void *host, uint64_t size,
                              hg_driver_arena **arena);
hg_status opencl_arena_alloc_visible(hg_device *device, uint64_t size, hg_driver_arena **arena);
void opencl_arena_free(hg_device *device, hg_driver_arena *arena);
const void *opencl_arena_host(const hg_driver_arena *arena);
void *opencl_arena_map(hg_driver_arena *arena);
void opencl_arena_unmap(hg_driver_arena *arena);
void opencl_arena_native(hg_device *device, hg_driver_arena *arena, hg_native_buffer *native);

/* ---- queue.c ---- */
hg_status opencl_queue_create(hg_device *device, hg_driver_queue **queue);
void opencl_queue_destroy(hg_driver_queue *queue);
void *opencl_queue_native(hg_driver_queue *queue);
hg_status opencl_queue_submit(hg_driver_queue *queue, const hg_driver_command *commands,
                              uint32_t count, hg_driver_event *const *waits, uint32_t wait_count,
                              hg_driver_event *signal);
hg_status opencl_event_create(hg_device *device, hg_driver_event **event);
void opencl_event_destroy(hg_driver_event *event);
hg_status opencl_event_query(hg_driver_event *event, bool *done);
hg_status opencl_event_wait(hg_driver_event *event);

/* ---- kernel.c ---- */
hg_status opencl_code_create(hg_device *device, const hg_driver_code *code,
                             hg_driver_kernel **kernel);
void opencl_kernel_destroy(hg_driver_kernel *kernel);
bool opencl_code_is_ready(hg_driver_kernel *kernel, const hg_driver_dispatch *dispatch);
hg_status opencl_code_prepare(hg_driver_kernel *kernel,
                              const hg_driver_dispatch *idle) HG_NODISCARD;
/* Appends a dispatch; event may be NULL. */
hg_status opencl_enqueue(hg_device *device, cl_command_queue queue,
                         const hg_driver_dispatch *dispatch, cl_event *event);

#endif
#endif
