/* What the files of the CUDA backend share. symbols.c: the driver's library and its errors;
 * device.c: devices and what they can do; memory.c: arenas; staging.c: copies from and to the host;
 * queue.c: submissions and events; recording.c: graphs; kernel.c: programs; prebuilt.c: PTX that
 * comes with the library; vendor.c, vendor_problem.c: products by cuBLASLt; driver.c: the table. No
 * header of NVIDIA's is needed: the few declarations are here and in symbols.def.
 * Must not know: programs of the library, handles, how kernels are made. */
#ifndef HG_BACKENDS_CUDA_INTERNAL_H
#define HG_BACKENDS_CUDA_INTERNAL_H

#include "backends/cuda/cu_types.h"
#include "base/blobcache.h"
#include "base/host.h"
#include "base/library.h"
#include "base/thread.h"
#include "driver/driver.h"
#include "emit/emit.h"

enum {
    CUDA_SUCCESS = 0,
    CUDA_ERROR_INVALID_VALUE = 1,
    CUDA_ERROR_OUT_OF_MEMORY = 2,
    CUDA_ERROR_NO_DEVICE = 100,
    CUDA_ERROR_UNSUPPORTED_PTX_VERSION = 222,
    CUDA_ERROR_NOT_READY = 600,
    CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES = 701
};

/* ---- symbols.c ---- */
typedef struct cuda_symbols {
#define CU_FUNCTION(name, symbol, parameters) CUresult(*name) parameters;
#include "backends/cuda/symbols.def"
} cuda_symbols;
/* The functions, once loaded. Tests replace entries. */
extern cuda_symbols cuda;
/* Tests set it to make calls fail: what it returns instead of 0 is the call's error, and the call
 * is not made. Calls that free something are not asked for: they cannot fail in a way that matters.
 */
extern CUresult (*cuda_before_call)(const char *call);

/* Opens the driver's library when first called and initialises it. False: reason says what is
 * missing and what to install. */
bool cuda_load(char reason[256]);
extern const hg_vendor cuda_vendor;
hg_status cuda_check(const char *call, CUresult error) HG_NODISCARD;
static inline CUresult cuda_asked(const char *call) {
    return cuda_before_call ? cuda_before_call(call) : CUDA_SUCCESS;
}
#define CU_CALL(name, ...)                                    \
    HG_BLOCK_VALUE(CUresult cu_said = cuda_asked("cu" #name); \
                   cu_said == CUDA_SUCCESS ? cuda.name(__VA_ARGS__) : cu_said;)
#define CU_TRY(name, ...) HG_TRY(cuda_check("cu" #name, CU_CALL(name, __VA_ARGS__)))

/* ---- device.c ---- */
typedef struct cuda_staging cuda_staging;
typedef struct cuda_steps cuda_steps; /* products by cuBLASLt */
struct hg_device {
    hg_device_caps caps;
    CUdevice id;
    CUcontext context;
    bool adopted;   /* the context is the host's */
    CUstream setup; /* allocates, zeroes and frees memory */
    hg_mutex lock;  /* of setup and pins */
    struct cuda_pin *pins;
    hg_blob_cache *cache;
    cuda_staging *staging;
    cuda_steps *vendor;    /* NULL: off */
    uint32_t architecture; /* 75: compute capability 7.5 */
    bool pools;            /* memory is allocated in the order of a stream */
    uint64_t max_dynamic_shared;
};
/* What a device of compute capability 6.1 and later promises before it is asked anything; what a
 * kernel's text depends on is all here. */
void cuda_promise(hg_device_caps *caps, const char *pretend);
uint32_t cuda_enumerate(hg_device_info *devices, uint32_t capacity, char reason[256]);
hg_status cuda_device_open(uint32_t index, const hg_driver_options *options, hg_device **device);
hg_status cuda_device_adopt(const hg_driver_options *options, hg_device **device);
void cuda_device_close(hg_device *device);
/* The device's context is the calling thread's between these. */
hg_status cuda_enter(const hg_device *device) HG_NODISCARD;
void cuda_leave(void);

/* ---- memory.c ---- */
struct hg_driver_arena {
    CUdeviceptr address;
    uint64_t size;
    void *host;           /* where the host sees it; NULL: nowhere */
    bool imported;        /* it is the caller's memory … */
    struct cuda_pin *pin; /* … which was pinned for us; NULL: it was pinned before, or is the
                             device's */
};
hg_status cuda_arena_alloc(hg_device *device, uint64_t size, hg_driver_arena **arena);
hg_status cuda_arena_import(hg_device *device, void *host, uint64_t size, hg_driver_arena **arena);
hg_status cuda_arena_import_device(hg_device *device, uint32_t kind, uint32_t number, void *memory,
                                   uint64_t size, hg_driver_arena **arena);
hg_status cuda_arena_alloc_visible(hg_device *device, uint64_t size, hg_driver_arena **arena);
uint64_t cuda_arena_address(hg_driver_arena *arena);
void cuda_arena_free(hg_device *device, hg_driver_arena *arena);
const void *cuda_arena_host(const hg_driver_arena *arena);
void *cuda_arena_map(hg_driver_arena *arena);
void cuda_arena_native(hg_device *device, hg_driver_arena *arena, hg_native_buffer *native);
void cuda_arena_unmap(hg_driver_arena *arena);

/* ---- staging.c ---- */
/* Pinned memory that copies go through, so that they are done in the order of a stream while the
 * caller goes on. */
hg_status cuda_staging_create(hg_device *device, cuda_staging **staging);
void cuda_staging_destroy(cuda_staging *staging);
hg_status cuda_copy_in(hg_device *device, CUstream stream, CUdeviceptr to, const void *host,
                       uint64_t size) HG_NODISCARD;
hg_status cuda_copy_out(hg_device *device, CUstream stream, void *host, CUdeviceptr from,
                        uint64_t size) HG_NODISCARD;
/* Bytes that the device reads at *address, until the work submitted before cuda_staging_release is
 * over. */
hg_status cuda_staging_put(hg_device *device, CUstream stream, const void *bytes, uint64_t size,
                           void **piece, CUdeviceptr *address) HG_NODISCARD;
hg_status cuda_staging_release(hg_device *device, CUstream stream, void *piece) HG_NODISCARD;
/* Of a recording: they are kept in a list, and freed together. */
void cuda_staging_keep(void *piece, void **kept);
void cuda_staging_drop(void **kept);
/* Memory that only what is enqueued until cuda_between_free uses. */
hg_status cuda_between_alloc(hg_device *device, CUstream stream, size_t size,
                             CUdeviceptr *memory) HG_NODISCARD;
void cuda_between_free(hg_device *device, CUstream stream, CUdeviceptr memory);

/* ---- queue.c ---- */
hg_status cuda_queue_create(hg_device *device, hg_driver_queue **queue);
void cuda_queue_destroy(hg_driver_queue *queue);
void *cuda_queue_native(hg_driver_queue *queue);
hg_status cuda_queue_submit(hg_driver_queue *queue, const hg_driver_command *commands,
                            uint32_t count, hg_driver_event *const *waits, uint32_t wait_count,
                            hg_driver_event *signal);
hg_status cuda_event_create(hg_device *device, hg_driver_event **event);
void cuda_event_destroy(hg_driver_event *event);
hg_status cuda_event_query(hg_driver_event *event, bool *done);
hg_status cuda_event_wait(hg_driver_event *event);
/* Appends a command to a stream, in the device's context. kept: of a recording, what its commands
 * need (cuda_staging_keep); NULL: they run once. */
hg_status cuda_enqueue(hg_device *device, CUstream stream, const hg_driver_command *command,
                       void **kept) HG_NODISCARD;

/* ---- recording.c ---- */
hg_status cuda_recording_create(hg_device *device, const hg_driver_command *commands,
                                uint32_t count, hg_driver_recording **recording);
hg_status cuda_recording_launch(hg_driver_queue *queue, hg_driver_recording *recording,
                                hg_driver_event *const *waits, uint32_t wait_count,
                                hg_driver_event *signal);
void cuda_recording_destroy(hg_driver_recording *recording);
hg_status cuda_submit_graph(hg_driver_queue *queue, CUgraphExec graph,
                            hg_driver_event *const *waits, uint32_t wait_count,
                            hg_driver_event *signal) HG_NODISCARD; /* queue.c */

/* ---- kernel.c ---- */
/* The key of a kernel's PTX, which is the same for all devices and drivers. */
void cuda_ptx_key(const char *source, uint64_t length, uint8_t key[HG_BLOB_KEY_BYTES]);
hg_status cuda_code_create(hg_device *device, const hg_driver_code *code,
                           hg_driver_kernel **kernel);
void cuda_kernel_destroy(hg_driver_kernel *kernel);
hg_status cuda_launch(hg_device *device, CUstream stream, const hg_driver_dispatch *dispatch,
                      void **kept) HG_NODISCARD;

/* ---- prebuilt.c ---- */
#define CUDA_PTX_HEAD "hologram PTX 1"
enum { CUDA_MOST_PTX = 16 << 20 }; /* bytes of a kernel's */
bool cuda_prebuilt_there(void);    /* with a kernel at least */
/* PTX, which ends in NUL; to be freed with hg_free. NULL: there is none of that key. Of the
 * library's file, and of one by its name. */
char *cuda_prebuilt_find(const uint8_t key[HG_BLOB_KEY_BYTES]);
char *cuda_prebuilt_read(const char *path, const uint8_t key[HG_BLOB_KEY_BYTES]);
enum { CUDA_KEY_TEXT = 2 * HG_BLOB_KEY_BYTES + 1 };
void cuda_prebuilt_key(const uint8_t key[HG_BLOB_KEY_BYTES], char text[CUDA_KEY_TEXT]); /* as the
                                                                                           file has
                                                                                           it */

/* ---- vendor.c: word: on, off, auto or "" ---- */
hg_status cuda_vendor_create(const char *word, cuda_steps **vendor) HG_NODISCARD;
void cuda_vendor_destroy(cuda_steps *vendor); /* in the device's context */
bool cuda_vendor_by(char text[256]);
bool cuda_step_supported(const hg_device *device, const plan_call *call, uint64_t *scratch);
void cuda_step_describe(const hg_device *device, const plan_call *call, char text[64]);
hg_status cuda_step(hg_device *device, CUstream stream, const hg_driver_step *step) HG_NODISCARD;

#endif
