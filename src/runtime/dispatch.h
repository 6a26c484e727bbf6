/* Kernels in device form (kir/device/device.h): launch records, windows, fault records.
 * Between a launch and HG_CMD_DISPATCH. Must not know: programs, plans, handles. */
#ifndef HG_RUNTIME_DISPATCH_H
#define HG_RUNTIME_DISPATCH_H

#include "code/code.h"
#include "runtime/recorded.h"
#include "runtime/suballoc.h"

/* ---- watchdog.c: one thread a backend that ends launches on the device whose time is over ---- */
typedef struct hg_watch {
    struct hg_watch *next;
    uint64_t deadline_ns;
    const volatile int *cancel; /* the same when it is not 0; NULL: nobody cancels */
    volatile uint32_t *word;    /* becomes 1 */
    bool active;
} hg_watch;
typedef struct hg_watchdog {
    hg_mutex lock;
    hg_cond changed;
    hg_thread thread;
    bool started, stop;
    uint64_t wakes_at; /* when it looks next by itself; UINT64_MAX: never */
    hg_watch *first;
} hg_watchdog;
void hg_watchdog_init(hg_watchdog *dog);
void hg_watchdog_destroy(hg_watchdog *dog);
/* Somebody was cancelled. */
void hg_watchdog_wake(hg_watchdog *dog);
/* Without threads nothing watches: fuel ends a launch then. */
void hg_watchdog_add(hg_watchdog *dog, hg_watch *watch);
/* Afterwards nobody writes the word. */
void hg_watchdog_remove(hg_watchdog *dog, hg_watch *watch);

/* ---- what all dispatches on a device share (a part of hg_backend) ---- */
typedef struct hg_dispatch_device {
    const hg_driver *driver; /* NULL: the device does not run device forms */
    hg_device *device;
    hg_suballocator *memory;
    hg_watchdog watchdog;
    hg_mutex lock;
    hg_piece locks; /* KIR_LOCK_WORDS words, made when first needed */
} hg_dispatch_device;
void hg_dispatch_device_open(hg_dispatch_device *device, const hg_driver *driver, hg_device *handle,
                             hg_suballocator *memory);
void hg_dispatch_device_close(hg_dispatch_device *device);

/* ---- fault records: of each launch under way that can fault ---- */
enum { HG_FAULT_RECORDS = 8, HG_FAULT_STRIDE = 256 /* bytes from one to the next on the device */ };
typedef struct hg_fault_record {
    uint32_t copy[KIR_FAULT_WORDS]; /* where the host does not see the device's */
    bool dirty, taken;
} hg_fault_record;

/* ---- what dispatches of one queue share (a part of hg_stream); by one thread at a time ---- */
typedef struct hg_dispatch_queue {
    hg_dispatch_device *device;
    uint64_t number;          /* unique in the process; 0: the queue has dispatched nothing yet */
    hg_driver_arena *visible; /* the fault records where host and device see them at the same time,
                               */
    volatile uint32_t *fault_words; /* and their words; */
    hg_piece fault_memory; /* else, and of launches that are copied, they are copied in and out */
    hg_fault_record faults[HG_FAULT_RECORDS];
    bool fault_ready;
    uint64_t compile_ns; /* time that compilers took so far, of kernels' first runs too: no launch's
                          */
    /* The handle table of open accesses, filled before begin by whoever knows handles
     * (handle_table.c). */
    hg_piece table_memory;
    uint32_t *table;      /* its words */
    uint64_t table_words; /* how many there may be */
    uint32_t table_counts[2];
    hg_range *arenas; /* not addressed: the arenas that its entries name */
    uint32_t arena_count, arena_capacity;
    uint64_t table_version; /* of what it was made from; 0: make it again */
} hg_dispatch_queue;
void hg_dispatch_queue_close(hg_dispatch_queue *queue);
void hg_dispatch_table_free(hg_dispatch_queue *queue); /* the host's copy, which is charged to the
                                                          budget */

/* ---- alias.c ---- */
/* Slots of a launch that code may be told to be distinct, for hg_code_key. */
uint64_t hg_alias_distinct(const hg_code_set *set, const hg_driver_launch *launch);

/* ---- dispatch.c ---- */
/* A kernel's launch on its way, and what the next one like it can use again. Zero-initialise. */
typedef struct hg_submission {
    hg_code_set *set;
    hg_code *code;
    hg_dispatch_device *device;
    hg_dispatch_queue *queue; /* of the launch that runs: it may be gone afterwards */
    const hg_driver_launch *launch;
    struct {
        hg_code *code;                /* that it waits for; NULL: none */
        hg_code_preparing *preparing; /* what the driver's compiler does with its next window; NULL:
                                         nothing */
        uint64_t since_ns;
    } asked;
    struct {
        uint64_t *words;
        bool filled;
        uint64_t queue_number; /* of its contents */
    } record;
    hg_range *slots;
    hg_piece shared; /* group memory that the device has too little of */
    hg_driver_dispatch command;
    hg_repeated repeated; /* of the command, as long as it stays as it is */
    uint32_t extent[3];   /* blocks that have lanes */
    uint64_t block_lanes;
    bool one_window;
    bool resumes; /* lanes of the window that was dispatched go on in another dispatch of it */
    struct {
        uint64_t first, end; /* FLAT: lanes */
        uint32_t box[3];     /* BLOCK: the first block */
        bool blocks;
    } left; /* what is not dispatched yet */
    struct {
        uint64_t most, lanes; /* lanes that the next one may have; that the last one had */
        uint64_t started_ns;
        uint64_t recorded_ns; /* its start, for a profile; 0: none */
        struct {
            uint64_t *ends;     /* behind the last lane of each */
            hg_range *bindings; /* of each */
            uint32_t count, capacity, at;
        } ranges; /* of a launch whose memory is not bound whole; count 0: it is */
    } window;
    struct {
        uint64_t deadline_ns; /* the launch's, later by the time that compilers took; 0: none */
        uint64_t compile_ns;  /* that begin took for new code */
    } time;
    hg_watch watch;
    struct {
        uint8_t number; /* of its fault record in the queue */
        bool copied;    /* that is copied: the device binds no further memory beside the launch's */
        hg_driver_fault found;
    } fault;
} hg_submission;
void hg_dispatch_free(hg_submission *dispatch);
/* Makes ready a launch of a kernel: code, record, slots. The launch is borrowed until
 * hg_dispatch_done says that nothing is left. unchanged: inputs, memory, lanes and shared memory
 * are those of the dispatch's last launch (proven too). *waits: the code is not there yet; to be
 * called again with the same arguments. */
hg_status hg_dispatch_begin(hg_submission *dispatch, hg_code_set *set, hg_dispatch_queue *queue,
                            const hg_driver_launch *launch, bool proven, bool unchanged,
                            bool *waits) HG_NODISCARD;
/* Before each window: has the driver compile what it would compile when the window runs. *waits: it
 * is not done; to be called again. */
hg_status hg_dispatch_prepare(hg_submission *dispatch, bool *waits) HG_NODISCARD;
/* Until what one of the two waits for is done, or that moment has come; where the host can wait. */
void hg_dispatch_wait(hg_submission *dispatch, uint64_t until_ns);
/* Submits the next window. */
hg_status hg_dispatch_submit(hg_submission *dispatch, hg_driver_queue *queue,
                             hg_driver_event *signal) HG_NODISCARD;
/* Instead of submit, for a launch that needs no wait: its next window as a dispatch, with a copy of
 * the record and the slots; then step says whether there is another one. */
void hg_dispatch_cut(hg_submission *dispatch, hg_driver_dispatch *command, void *record,
                     hg_range *slots);
bool hg_dispatch_step(hg_submission *dispatch);
/* The launch must be over by then; 0: whenever. begin takes this from the launch. */
void hg_dispatch_watch(hg_submission *dispatch, uint64_t deadline_ns);
/* How much of `all` its next window takes, if the longest dispatch that nobody waits for took all
 * of it. */
uint64_t hg_dispatch_weight(const hg_submission *dispatch, uint64_t all);
/* After a window is done: whether there are more. When there are none *fault is the least fault;
 * without one it stays as it is. */
bool hg_dispatch_done(hg_submission *dispatch, hg_driver_fault *fault);
/* Instead, when the submission or the wait failed. */
void hg_dispatch_abandon(hg_submission *dispatch);
/* Whether the window that was submitted is the only one: nothing but its end is awaited. */
static inline bool hg_dispatch_is_last(const hg_submission *dispatch) {
    return dispatch->one_window && !dispatch->code->layout.resume_bytes;
}
/* Whether the host has something to do after each window; else submissions may follow each other
 * without a wait. */
bool hg_dispatch_needs_wait(const hg_submission *dispatch);

/* ---- fault_decode.c ---- */
/* A fault record's words as a fault. */
void hg_fault_decode(const uint32_t *words, const hg_code *code, const hg_driver_launch *launch,
                     hg_driver_fault *fault);

#endif
