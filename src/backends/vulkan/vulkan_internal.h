/* What the files of the Vulkan backend share. symbols.c: the library and its functions; device.c:
 * devices and what they can do; memory.c: buffers; queue.c: submissions and events; commands.c:
 * commands of one submission; recording.c: commands recorded once; kernel.c: pipelines.
 * Must not know: programs, handles, how kernels are made. */
#ifndef HG_BACKENDS_VULKAN_INTERNAL_H
#define HG_BACKENDS_VULKAN_INTERNAL_H

#include "base/blobcache.h"
#include "base/library.h"
#include "base/thread.h"
#include "emit/emit.h"
#include "driver/driver.h"
#if __has_include(<vulkan/vulkan_core.h>)
#define HG_HAS_VULKAN \
    1 /* else every file of the folder is empty and the driver table says why it has no device */
#define VK_NO_PROTOTYPES
#include <vulkan/vulkan_core.h>

/* ---- symbols.c ---- */
typedef struct vk_instance_functions {
#define VK_LIBRARY(name) PFN_vk##name name;
#define VK_INSTANCE(name) PFN_vk##name name;
#include "backends/vulkan/symbols.def"
} vk_instance_functions;
typedef struct vk_device_functions {
#define VK_DEVICE(name) PFN_vk##name name;
#define VK_DEVICE_EXTENSION(name) PFN_vk##name name;
#include "backends/vulkan/symbols.def"
} vk_device_functions;

/* Tests set it to make calls fail: what it returns instead of VK_SUCCESS is the call's result, and
 * the call is not made. */
extern VkResult (*vk_before_call)(const char *call);
static inline VkResult vk_asked(const char *call) {
    return vk_before_call ? vk_before_call(call) : VK_SUCCESS;
}
/* A call that returns a VkResult; `functions` is a pointer to one of the two tables. */
#define VK_CALL(functions, name, ...) vk_call_made("vk" #name, (functions)->name, __VA_ARGS__)
#define vk_call_made(text, function, ...)                              \
    HG_BLOCK_VALUE(HG_CALLS_OTHERS; VkResult vk_said = vk_asked(text); \
                   vk_said == VK_SUCCESS ? function(__VA_ARGS__) : vk_said;)

enum { VK_DEVICES = 32 }; /* more are not listed */
/* The library with an instance; physical devices live as long. */
typedef struct vk_instance {
    hg_library *library;
    VkInstance handle;
    vk_instance_functions vk;
    VkPhysicalDevice devices[VK_DEVICES]; /* those with a queue that computes */
    uint32_t count;
} vk_instance;
/* Opens the first of the libraries named. On failure nothing is left and reason says what is
 * missing and what to install. */
bool vk_instance_load(const char *const *libraries, size_t count, vk_instance *instance,
                      char reason[256]);
void vk_instance_unload(vk_instance *instance);
/* The functions of an instance that the host has made. NULL: see reason. To be freed with
 * vk_instance_let_go. */
vk_instance *vk_instance_adopt(VkInstance handle, char reason[256]);
void vk_instance_let_go(vk_instance *instance); /* NULL is allowed */
/* The process's instance, made when first asked for and kept (making one takes tens of
 * milliseconds); NULL: see reason. */
const vk_instance *vk_instance_get(char reason[256]);
extern const hg_vendor vk_vendor;
bool vk_device_load(const vk_instance *instance, VkDevice device, vk_device_functions *vk);

const char *vk_result_name(VkResult result);
/* HG_OK, or the status of a failed call. Marks the device (may be NULL) as lost when it is. */
hg_status vk_check(hg_device *device, const char *call, VkResult result) HG_NODISCARD;
#define VK_TRY(device, name, ...) \
    HG_TRY(vk_check(device, "vk" #name, VK_CALL(&(device)->vk, name, __VA_ARGS__)))

/* ---- device.c ---- */
enum { VK_DEVICE_QUEUES = 4 }; /* queues of the device that are used */

/* A queue of the device. Submissions to it are numbered by its timeline. */
typedef struct vk_device_queue {
    VkQueue handle;
    hg_mutex lock;
    VkSemaphore timeline;
    uint64_t last; /* value that the last submission signals */
    uint64_t done; /* atomic: a value that it has reached, so that nobody asks the device again */
} vk_device_queue;

typedef struct vk_buffer {
    VkBuffer handle;
    VkDeviceMemory memory;
    uint8_t *mapped; /* NULL: the host cannot see it */
    void *owned;     /* the pages under it, freed with it */
    uint64_t size, address;
} vk_buffer;

struct hg_device {
    hg_device_caps caps;
    const vk_instance *instance;
    vk_instance *adopted; /* the instance, where it and the device are the host's; NULL: they are
                             not */
    VkPhysicalDevice physical;
    VkDevice handle;
    vk_device_functions vk;
    VkPhysicalDeviceMemoryProperties memory;
    VkPhysicalDeviceLimits limits;
    struct { /* what it shall not have */
        bool pretend_staging, pretend_bind_arenas, pretend_wgsl;
    } pretends;
    int lost;       /* atomic */
    bool no_fences; /* llvmpipe leaves a branch or loop wrongly at a memory barrier inside; its
                       atomics keep their order */
    struct {        /* float controls of f32, f64 */
        bool rte[2], preserve[2], inf_nan[2];
    } floats;
    uint64_t import_alignment; /* of host memory that the device can use in place; 0: none */
    struct {                   /* of the device */
        uint32_t family, device_queue_count;
        uint32_t next_device_queue; /* atomic */
        vk_device_queue device_queues[VK_DEVICE_QUEUES];
    } queues;
    uint32_t max_bindings; /* of kernels of bindings */
    vk_buffer nothing;     /* bound where a kernel has no memory */
    struct {               /* for zeroing memory that the host cannot see */
        hg_mutex service_lock;
        hg_driver_queue *service;
    } zeroing;
    hg_blob_cache *cache;
};

uint32_t vk_enumerate(hg_device_info *devices, uint32_t capacity, char reason[256]);
hg_status vk_device_open(uint32_t index, const hg_driver_options *options,
                         hg_device **device) HG_NODISCARD;
hg_status vk_device_adopt(const hg_driver_options *options, hg_device **device) HG_NODISCARD;
void vk_device_close(hg_device *device);

/* ---- memory.c ---- */
typedef enum vk_memory_kind {
    VK_MEMORY_ARENA,   /* the device's own, seen by the host when caps.memory.host_memory */
    VK_MEMORY_VISIBLE, /* seen by both */
} vk_memory_kind;
struct hg_driver_arena {
    vk_buffer buffer;
    uint64_t size; /* asked for */
    bool mappable;
};
hg_status vk_buffer_create(hg_device *device, uint64_t size, vk_memory_kind kind,
                           vk_buffer *buffer) HG_NODISCARD;
void vk_buffer_destroy(hg_device *device, vk_buffer *buffer); /* an empty one is fine */
hg_status vk_arena_alloc(hg_device *device, uint64_t size, hg_driver_arena **arena) HG_NODISCARD;
hg_status vk_arena_alloc_visible(hg_device *device, uint64_t size,
                                 hg_driver_arena **arena) HG_NODISCARD;
hg_status vk_arena_import(hg_device *device, void *host, uint64_t size,
                          hg_driver_arena **arena) HG_NODISCARD;
void vk_arena_free(hg_device *device, hg_driver_arena *arena);
void *vk_arena_map(hg_driver_arena *arena);
void vk_arena_unmap(hg_driver_arena *arena);
uint64_t vk_arena_address(hg_driver_arena *arena);
void vk_arena_native(hg_device *device, hg_driver_arena *arena, hg_native_buffer *native);

/* ---- kernel.c ---- */
struct hg_driver_kernel {
    hg_device *device;
    VkPipeline pipeline;
    VkPipelineLayout layout;
    VkDescriptorSetLayout set_layout; /* kernels of bindings */
    uint32_t slots;                   /* bindings, without the record's */
    uint32_t record_bytes;
    bool pushed;  /* the record is the push constants */
    int compiled; /* atomic */
};
/* Code that was emitted, or written by hand in tests. */
typedef struct vk_code {
    const uint32_t *words;
    uint64_t count;
    const char *entry;
    uint32_t slots, record_bytes;
    bool bound; /* slots are bindings */
} vk_code;
bool vk_record_is_pushed(const hg_device *device, uint32_t record_bytes);
hg_status vk_kernel_create(hg_device *device, const vk_code *code,
                           hg_driver_kernel **kernel) HG_NODISCARD;
hg_status vk_code_create(hg_device *device, const hg_driver_code *code,
                         hg_driver_kernel **kernel) HG_NODISCARD;
bool vk_code_is_ready(hg_driver_kernel *kernel, const hg_driver_dispatch *dispatch);
hg_status vk_code_prepare(hg_driver_kernel *kernel, const hg_driver_dispatch *idle) HG_NODISCARD;
void vk_kernel_destroy(hg_driver_kernel *kernel);

/* ---- queue.c ---- */
enum {
    VK_MOST_PIECES = 1024,      /* pieces of work of a queue in flight */
    VK_MOST_STAGING = 64 << 20, /* bytes for copies in flight, of a queue */
    VK_SETS = 32                /* descriptor sets of a piece */
};

/* Bytes that go from staging to the host when the piece is done. */
typedef struct vk_read_back {
    uint8_t *host;
    const uint8_t *from;
    uint64_t size;
} vk_read_back;
/* Memory that the host writes for one piece of work, used from its start to its end. */
typedef struct vk_region {
    vk_buffer buffer;
    uint64_t used;
} vk_region;
/* A piece of work: a command buffer and what it needs while it runs. */
typedef struct vk_piece {
    struct vk_piece *next;
    VkCommandBuffer commands;
    bool open;      /* begun and not submitted */
    uint64_t value; /* of the device queue's timeline when it is done */
    vk_region staging, records;
    VkDescriptorPool sets;
    uint32_t sets_used, sets_most;
    HG_VEC(vk_read_back) read_backs;
} vk_piece;

struct hg_driver_queue {
    hg_device *device;
    vk_device_queue *device_queue;
    uint32_t references; /* creator and events that must fetch their bytes; atomic */
    hg_mutex lock;
    VkCommandPool pool;
    vk_piece *first, *last; /* in flight, in order */
    vk_piece *free;
    uint32_t piece_count;   /* of both lists */
    uint64_t staging_bytes; /* of all pieces */
    uint64_t read_backs;    /* of pieces in flight */
    uint64_t value;         /* of the queue's last submission, a recording's too */
};

struct hg_driver_event {
    hg_device *device;
    vk_device_queue *device_queue; /* NULL: nothing runs on the device */
    uint64_t value;
    hg_driver_queue *queue; /* not NULL: bytes must be fetched from it */
    bool submitted;
    hg_status status;
};

hg_status vk_queue_create(hg_device *device, hg_driver_queue **queue) HG_NODISCARD;
void vk_queue_destroy(hg_driver_queue *queue);
void *vk_queue_native(hg_driver_queue *queue);
hg_status vk_queue_submit(hg_driver_queue *queue, const hg_driver_command *commands, uint32_t count,
                          hg_driver_event *const *waits, uint32_t wait_count,
                          hg_driver_event *signal) HG_NODISCARD;
/* Waits for what was submitted to it. */
hg_status vk_queue_finish(hg_driver_queue *queue) HG_NODISCARD;
hg_status vk_event_create(hg_device *device, hg_driver_event **event) HG_NODISCARD;
void vk_event_destroy(hg_driver_event *event);
hg_status vk_event_query(hg_driver_event *event, bool *done) HG_NODISCARD;
hg_status vk_event_wait(hg_driver_event *event) HG_NODISCARD;

/* What is being recorded; the queue's lock is held. */
typedef struct vk_recorder {
    hg_device *device;
    hg_driver_queue *queue; /* NULL: a recording, whose piece is open and has room for everything */
    vk_piece *piece;        /* NULL: none is open */
    bool clean;             /* nothing was recorded since the last barrier */
    uint64_t value;         /* of the last piece submitted; 0: none */
    uint32_t wait_count;    /* device queues that the first piece waits for */
    VkSemaphore waits[VK_DEVICE_QUEUES];
    uint64_t wait_values[VK_DEVICE_QUEUES];
} vk_recorder;
/* A free piece with an open command buffer that comes after everything before it. Waits for the
 * oldest piece when VK_MOST_PIECES are in flight. */
hg_status vk_recorder_open(vk_recorder *r) HG_NODISCARD;
hg_status vk_piece_create_commands(hg_device *device, vk_piece *piece,
                                   VkCommandPool pool) HG_NODISCARD;
/* Begins a piece's command buffer, and ends it. */
hg_status vk_piece_begin(hg_device *device, vk_piece *piece,
                         VkCommandBufferUsageFlags usage) HG_NODISCARD;
hg_status vk_piece_end(hg_device *device, vk_piece *piece) HG_NODISCARD;
void vk_piece_free(hg_device *device, vk_piece *piece); /* what it owns; not its command buffer */
/* Staging memory of at least `bytes` for the open piece, in which nothing is used; waits for old
 * pieces when VK_MOST_STAGING is in flight. */
hg_status vk_staging_grow(hg_driver_queue *queue, vk_piece *piece, uint64_t bytes) HG_NODISCARD;
/* Submits the open piece, if any. */
hg_status vk_recorder_flush(vk_recorder *r) HG_NODISCARD;
/* Waits for all pieces of the queue and fetches their bytes; after a failure (the device is lost)
 * there are none either. */
hg_status vk_queue_drain(hg_driver_queue *queue);
/* Whether the device queue has come to a value. Does not wait; false also where the device cannot
 * be asked. */
bool vk_has_reached(hg_device *device, vk_device_queue *device_queue, uint64_t value);
/* Fails only when the device is lost. */
hg_status vk_wait_for(hg_device *device, vk_device_queue *device_queue,
                      uint64_t value) HG_NODISCARD;
/* A submission of a command buffer that was recorded before: everything between its waits and its
 * signal. */
hg_status vk_submit_recorded(hg_driver_queue *queue, VkCommandBuffer commands,
                             hg_driver_event *const *waits, uint32_t wait_count,
                             hg_driver_event *signal, uint64_t *value) HG_NODISCARD;

/* ---- commands.c ---- */
/* A command done by the host at once, if it can; only when nothing of the queue runs. */
bool vk_do_on_host(const hg_driver_command *command);
/* Whether bytes of pieces in flight will land in a range of host memory; the queue's lock is held.
 */
bool vk_awaits_host(const hg_driver_queue *queue, const void *host, uint64_t size);
hg_status vk_record(vk_recorder *r, const hg_driver_command *command) HG_NODISCARD;
/* Adds what a command takes of staging memory, records and descriptor sets. Of COPY, FILL and
 * DISPATCH. */
void vk_measure(const hg_driver_command *command, uint64_t *staging, uint64_t *records,
                uint32_t *sets);

/* ---- recording.c ---- */
hg_status vk_recording_create(hg_device *device, const hg_driver_command *commands, uint32_t count,
                              hg_driver_recording **recording) HG_NODISCARD;
hg_status vk_recording_launch(hg_driver_queue *queue, hg_driver_recording *recording,
                              hg_driver_event *const *waits, uint32_t wait_count,
                              hg_driver_event *signal) HG_NODISCARD;
void vk_recording_destroy(hg_driver_recording *recording);

#else
#define HG_HAS_VULKAN 0
#endif
#endif
