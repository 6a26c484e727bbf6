/* What the files of the WebGPU backend share. symbols.c: the library and its instance; errors.c:
 * what a device says of errors; memory.c: buffers; pieces.c: what is submitted at once; kernel.c:
 * pipelines; commands.c: commands of a submission; queue.c: submissions and events; device.c: the
 * adapter, opening in steps, capabilities.
 *
 * One lock guards all calls of the library: its devices share an instance whose events one call
 * brings, and Dawn's objects may be used by one thread at a time. Callbacks come in that call,
 * under the lock, but for those of lost devices and of errors that no scope caught, which may come
 * anywhere and only note what was said.
 * Must not know: programs, handles, how kernels are made. */
#ifndef HG_BACKENDS_WEBGPU_INTERNAL_H
#define HG_BACKENDS_WEBGPU_INTERNAL_H

#include "backends/webgpu/webgpu_types.h"
#include "base/thread.h"
#include "driver/driver.h"

/* Whether a call may wait for callbacks. On a page they come only when the caller has returned to
 * the browser: what natively waits is answered with HG_ERROR_WOULD_BLOCK, or is known later. */
#if defined(__wasm__)
enum { WG_WAITS = false };
#else
enum { WG_WAITS = true };
#endif

/* ---- symbols.c ---- */
typedef struct wg_functions {
#define WG_FUNCTION(result, name, parameters) result(*name) parameters;
#include "backends/webgpu/symbols.def"
} wg_functions;
extern wg_functions wg; /* filled by wg_load */
extern const hg_vendor wg_vendor;
extern hg_mutex wg_lock; /* of all calls */
/* Opens the library when first asked; false: see reason, which says what to install. */
bool wg_load(char reason[256]);
/* "Dawn", "wgpu-native 29.0.0" */
const char *wg_library_name(void);
bool wg_is_native(void);                                                    /* wgpu-native */
static inline bool wg_is_dawn(void) { return WG_WAITS && !wg_is_native(); } /* not a page's */
/* The process's instance, made when first asked for and kept; NULL: it cannot be made. */
WGPUInstance wg_instance(void);
WGPUStringView wg_text(const char *text);
/* A string of a callback or structure, on one line and ended. */
void wg_say(WGPUStringView said, char *text, size_t size);
/* A moment of the thread without the lock, longer the more often it has waited. */
void wg_rest(uint32_t times);

/* ---- device.c ---- */
enum {
    WG_SAID = 400,
    WG_LAYOUTS = 40,
    WG_NOTHING = 256 /* bytes that are bound where a kernel has no memory */
};
typedef struct wg_piece wg_piece;
typedef struct wg_read wg_read;
typedef enum wg_opening {
    WG_ASKS_ADAPTER,
    WG_ASKS_DEVICE,
    WG_OPEN,
    WG_FAILED,
    WG_CLOSED
} wg_opening;

/* What binds so many buffers and a record. */
typedef struct wg_layout {
    WGPUBindGroupLayout group;
    WGPUPipelineLayout pipeline;
} wg_layout;

struct hg_device {
    hg_device_caps caps;
    WGPUInstance instance;
    WGPUAdapter adapter;
    WGPUDevice handle;
    WGPUQueue queue;
    WGPULimits limits;
    WGPUAdapterInfo info;
    bool adopted; /* instance and device are the host's */
    bool cpu;     /* the adapter runs on the CPU */
    struct {
        wg_opening state;                   /* under the lock */
        bool experimental;                  /* Dawn was asked for what it calls unsafe */
        bool sees_host;                     /* it was asked for HostMappedPointer */
        uint64_t most_buffer, most_binding; /* bytes that it pretends; 0: what it has */
    } opening;
    struct { /* what was said of it last; its own lock */
        hg_mutex lock;
        char text[WG_SAID];
    } said;
    int lost;        /* atomic */
    uint32_t errors; /* atomic: of work that was submitted */
    int full;        /* atomic: one of them was that memory could not be had */
    struct {         /* under the lock */
        uint64_t submitted;
        uint64_t done;    /* atomic: submissions up to it are over */
        uint64_t done_ns; /* since then (event_began) */
        wg_piece *first, *last;
        wg_read *free_reads;
        uint64_t free_bytes;     /* of their buffers */
        uint64_t bytes_underway; /* of reads and writes in flight */
    } work;
    wg_layout layouts[WG_LAYOUTS];   /* by number of buffers */
    struct {                         /* used in the order of submissions, so that one serves all */
        WGPUBuffer records;          /* of the dispatches of a submission */
        uint8_t *record_bytes;       /* what goes there, and what is there; under the lock */
        uint32_t records_there;      /* bytes */
        hg_driver_arena *scratch;    /* bytes between buffers */
        hg_driver_arena *nothing;    /* WG_NOTHING for each slot */
        hg_driver_kernel *merge;     /* moves bytes that are no words */
        struct {                     /* the feature shader-f16 */
            bool offered;            /* by its number */
            bool works;              /* texts that enable it are taken */
            hg_driver_kernel *tried; /* such a text, while opening */
        } f16;
    } own;
    uint64_t next_buffer; /* number of the next buffer; under the lock */
    uint32_t asked;       /* callbacks to come; under the lock */
    hg_device *closed;    /* the next one that is closed and awaits them; under the lock */
};

uint32_t wg_enumerate(hg_device_info *devices, uint32_t capacity, char reason[256]);
hg_status wg_device_open(uint32_t index, const hg_driver_options *options,
                         hg_device **device) HG_NODISCARD;
hg_status wg_device_adopt(const hg_driver_options *options, hg_device **device) HG_NODISCARD;
hg_status wg_device_ready(hg_device *device, bool *ready) HG_NODISCARD;
void wg_device_close(hg_device *device);

/* ---- errors.c ---- */
void wg_note(hg_device *device, WGPUStringView said); /* what a message ends in */
/* Notes an error of work that was submitted. */
void wg_note_error(hg_device *device, WGPUStringView said);
/* The status of a lost device, HG_OK of another. */
hg_status wg_check_lost(hg_device *device) HG_NODISCARD;
hg_status wg_fail_said(hg_device *device, hg_status status, const char *what) HG_NODISCARD;
/* Callbacks that are due come now. Takes the lock. */
void wg_poll(hg_device *device);
void wg_leave(hg_device *device); /* it is lost */
/* Under the lock: an error scope, and what it caught (text "": nothing), by polling. Where nothing
 * can be waited for the answer is that it caught nothing, and what it did catch is noted when it is
 * known, as an error of the work that was submitted meanwhile. */
void wg_scope_begin(hg_device *device, uint32_t filter);
uint32_t wg_scope_end(hg_device *device, char text[WG_SAID]);

/* ---- memory.c ---- */
/* A buffer; what is longer than caps.memory.cut_bytes is one for each so many bytes. */
struct hg_driver_arena {
    WGPUBuffer buffer;      /* NULL: there are parts */
    uint64_t size;          /* of the buffer, a multiple of 256 */
    uint64_t number;        /* of no other buffer of the device, ever */
    void *host;             /* where the host sees it (wg_arena_alloc_visible); NULL: nowhere */
    hg_driver_arena *parts; /* each is an arena of one buffer */
    uint64_t part_bytes;    /* of each but the last */
};
hg_status wg_arena_alloc(hg_device *device, uint64_t size, hg_driver_arena **arena) HG_NODISCARD;
/* Of Dawn over a driver on the CPU: memory that kernels and the host see at the same time, so that
 * the host can end a launch (the fault record). */
hg_status wg_arena_alloc_visible(hg_device *device, uint64_t size,
                                 hg_driver_arena **arena) HG_NODISCARD;
void *wg_arena_map(hg_driver_arena *arena);
void wg_arena_free(hg_device *device, hg_driver_arena *arena);
/* The arena of one buffer that a range begins in, from there on; *size: at most so much of it lies
 * there. */
hg_range wg_arena_part(const hg_range *range, uint64_t *size);
/* Under the lock. */
hg_status wg_buffer_create(hg_device *device, uint64_t size, uint64_t usage,
                           WGPUBuffer *buffer) HG_NODISCARD;

/* ---- pieces.c ---- */
/* Bytes on their way to the host, in a buffer that it will read. */
struct wg_read {
    wg_read *next;
    wg_piece *piece;
    WGPUBuffer buffer;
    uint64_t capacity, skip, size; /* of the buffer; bytes in front of those wanted */
    uint8_t *host;
};
/* What was submitted at once. */
struct wg_piece {
    wg_piece *next;
    hg_device *device;
    const hg_driver_queue *queue;
    uint64_t number, bytes;
    uint32_t asked;             /* callbacks to come */
    wg_read *reads, *last_read; /* in the order of the commands, in which their bytes come */
};
/* What is being recorded; the lock is held. */
typedef struct wg_recorder {
    hg_device *device;
    const hg_driver_queue *queue; /* whose commands they are */
    wg_piece *piece;              /* of what is recorded; NULL: nothing is */
    WGPUCommandEncoder encoder;
    WGPUComputePassEncoder pass;  /* open; NULL: none */
    bool recorded;                /* something that comes before what is written now */
    uint32_t record_bytes, edges; /* used of own.records and of the front of own.scratch */
    uint64_t number;              /* of the last piece submitted; 0: none */
} wg_recorder;
/* A piece for what is recorded next. */
hg_status wg_open(wg_recorder *r) HG_NODISCARD;
/* Submits what is recorded, if anything. */
hg_status wg_flush(wg_recorder *r) HG_NODISCARD;
void wg_drop(wg_recorder *r); /* forgets what is recorded */
void wg_end_pass(wg_recorder *r);
/* Waits until a piece, or everything that was submitted, is over, or the device is lost. Leaves the
 * lock meanwhile: nothing is being recorded. HG_ERROR_WOULD_BLOCK where nobody can wait. */
hg_status wg_drain_to(hg_device *device, uint64_t number) HG_NODISCARD;
hg_status wg_drain(hg_device *device) HG_NODISCARD;
/* A buffer of the piece, of at least `bytes`, that the host reads when the piece is over. */
hg_status wg_read_add(wg_recorder *r, uint64_t bytes, wg_read **read) HG_NODISCARD;
/* Whether bytes on their way to the host land in a range of its memory. */
bool wg_awaits_host(const wg_recorder *r, const void *host, uint64_t size);
void wg_reads_free(hg_device *device); /* those that nobody uses */
/* Where nothing can be waited for: what was submitted of a queue behind a number writes nothing of
 * the host any more. */
void wg_abandon(hg_device *device, const hg_driver_queue *queue, uint64_t number);

/* ---- kernel.c ---- */
enum { WG_BOUND = 4 }; /* groups of bindings that a kernel keeps */
typedef struct wg_bound {
    uint64_t number, offset, size; /* of the buffer; a part of it */
} wg_bound;
struct hg_driver_kernel {
    hg_device *device;
    WGPUComputePipeline pipeline;
    uint32_t slots; /* buffers, without the record's */
    uint32_t record_bytes;
    struct {            /* under the lock */
        uint32_t asked; /* callbacks to come */
        bool destroyed; /* meanwhile */
        bool failed;
        char said[WG_SAID];
    } making;
    struct { /* the last groups of bindings, and what is in them; under the lock */
        WGPUBindGroup group;
        wg_bound *memory; /* of each buffer */
    } bound[WG_BOUND];
    uint32_t bound_next; /* that gives way */
};
/* A kernel of a text whose entry is `main`: buffers read_write at bindings 0 to slots - 1, then the
 * record as uniform memory. It is ready when wg_kernel_ready says so. */
hg_status wg_kernel_create(hg_device *device, const char *text, size_t length, uint32_t slots,
                           uint32_t record_bytes, hg_driver_kernel **kernel) HG_NODISCARD;
hg_status wg_code_create(hg_device *device, const hg_driver_code *code,
                         hg_driver_kernel **kernel) HG_NODISCARD;
hg_status wg_kernel_ready(hg_driver_kernel *kernel, bool *ready) HG_NODISCARD;
void wg_kernel_destroy(hg_driver_kernel *kernel);
/* Under the lock: what binds the memory of a dispatch. */
hg_status wg_kernel_bind(hg_driver_kernel *kernel, const hg_range *slots, uint32_t count,
                         WGPUBindGroup *group) HG_NODISCARD;
/* Under the lock. */
hg_status wg_layout_get(hg_device *device, uint32_t slots, const wg_layout **layout) HG_NODISCARD;

/* ---- commands.c ---- */
enum {
    WG_RECORDS = 256 << 10, /* bytes for records of a submission */
    WG_EDGES = 4 << 10,     /* for bytes of the host that are no words */
    WG_SCRATCH = 1 << 20,
    WG_MOST_UNDERWAY = 256 << 20 /* bytes between host and device */
};
hg_status wg_record(wg_recorder *r, const hg_driver_command *command) HG_NODISCARD;
hg_status wg_merge_create(hg_device *device, hg_driver_kernel **kernel) HG_NODISCARD;

/* ---- queue.c ---- */
struct hg_driver_queue {
    hg_device *device;
    uint64_t last; /* number of its last piece */
};
struct hg_driver_event {
    hg_device *device;
    uint64_t number;   /* of the piece; 0: nothing runs on the device */
    uint64_t before;   /* the last piece of others before it */
    uint64_t began_ns; /* that one was over; 0: it was not, when last looked at */
    uint32_t errors;   /* of the device when it was submitted */
    bool submitted;
    hg_status status;
};
hg_status wg_queue_create(hg_device *device, hg_driver_queue **queue) HG_NODISCARD;
void wg_queue_destroy(hg_driver_queue *queue);
void *wg_queue_native(hg_driver_queue *queue);
hg_status wg_queue_submit(hg_driver_queue *queue, const hg_driver_command *commands, uint32_t count,
                          hg_driver_event *const *waits, uint32_t wait_count,
                          hg_driver_event *signal) HG_NODISCARD;
hg_status wg_event_create(hg_device *device, hg_driver_event **event) HG_NODISCARD;
void wg_event_destroy(hg_driver_event *event);
hg_status wg_event_query(hg_driver_event *event, bool *done) HG_NODISCARD;
uint64_t wg_event_began(hg_driver_event *event);
hg_status wg_event_wait(hg_driver_event *event) HG_NODISCARD;

#endif
