/* Records of the runtime shared by its files. Must not know: which driver it runs on, text syntax. */
#ifndef HG_RUNTIME_RUNTIME_H
#define HG_RUNTIME_RUNTIME_H

#include "base/budget.h"
#include "base/fork.h"
#include "base/handles.h"
#include "base/thread.h"
#include "isa/cfg.h"
#include "isa/program.h"
#include "library/tiles.h"
#include "plan/plan.h"
#include "kir/analysis/prove.h"
#include "probe/probe.h"
#include "driver/trial.h"
#include "runtime/client.h"
#include "code/code.h"
#include "runtime/dispatch.h"
#include "runtime/children.h"
#include "runtime/order.h"
#include "runtime/recorded.h"
#include "profile/profile.h"
#include <hologram/backend.h>

/* A buffer or a pool. */
typedef struct hg_memory {
    hg_piece place;
    void *host;             /* where the host sees it; NULL where it does not */
    uint64_t whole;         /* of a view: the buffer whose memory it is part of, and which it keeps; 0: no view */
    struct hg_memory *next; /* freed, waiting for launches that may have found it */
} hg_memory;

typedef struct hg_cache_entry {
    uint8_t key[32];
    hg_executable *executable;
    uint64_t used;
} hg_cache_entry;

typedef struct hg_recent hg_recent;       /* calls of programs that came before; recent.c */
typedef struct hg_expansion hg_expansion; /* a compiled kernel of a whole-array step; expand.c */

enum { HG_BACKEND_LOCKS = 8 };

struct hg_backend {
    const hg_driver *driver;
    char *cache_path; /* of blobs on disk; "": none */
    hg_device *device;
    hg_background *background; /* NULL: kernels get no better code while they run */
    hg_compiler *compiler;     /* the device's, which it closes; NULL: not opened yet */
    const hg_device_caps *caps;
    hg_device_caps own_caps; /* what caps points to: what the driver promises, less what the probe found wrong */
    hg_config config;
    hg_profile *profile; /* NULL: off */
    hg_code_ear ear;
    uint32_t queues;     /* made so far; atomic */
    hg_budget budget;    /* of everything that is made of its memory */
    bool on_host;        /* which is the host's */
    bool prepares_first; /* pretends: bindings are made ready when they are made */
    bool trace;          /* kernels tell a debugger what they do; set before the first launch */
    hg_suballocator memory;
    hg_dispatch_device dispatch_device;
    hg_handles buffers, pools; /* of hg_memory */
    hg_context *context;       /* default */
    hg_mutex cache_lock;
    HG_VEC(hg_cache_entry) cache;
    uint64_t cache_clock;
    hg_mutex guard;           /* protects the two below */
    struct hg_tables *tables; /* of programs; under cache_lock */
    uint64_t guarded;         /* launches that look up handles while they run */
    hg_memory *deferred;      /* freed meanwhile; goes when the last of them ends */
    hg_recent *recent;        /* calls that came before, for hg_backend_execute_program; NULL: none. Atomic */
    void (*forget)(hg_backend *b, bool pool, uint64_t handle); /* they let go of a handle that is dead; NULL: there are none. Atomic */
    hg_mutex character_lock;
    hg_piece characters; /* the character table for kernels, made when first needed */
    hg_mutex type_memory_lock;
    hg_pool type_memory[10]; /* by width, from 8 bits; 0: not asked for yet */
    hg_mutex expansion_lock;
    hg_expansion *expansions;
    library_tiles tiles;    /* of its library programs; tiles.c */
    bool (*progress)(void); /* queues without a thread go on; NULL: there are none. Atomic. False: not from here */
    hg_monitor monitor;     /* protects the orders of its contexts and their spare streams */
    hg_children children;
    uint64_t number; /* of the backends that are alive: memory.c */
    hg_fork_lock forks[HG_BACKEND_LOCKS];
    bool lost;        /* in a forked child: the device is the parent's */
    uint32_t process; /* hg_fork_count of where it was made */
};

/* A queue of the driver with what its work shares. One run at a time uses it. */
typedef struct hg_stream {
    struct hg_stream *next; /* in its context's list of spare ones */
    hg_context *context;
    hg_driver_queue *queue;
    hg_dispatch_queue dispatch; /* dispatches of the queue */
    hg_driver_event *event;     /* of calls that wait; made at its first use */
    hg_piece step_memory;       /* what expanded steps need between their kernels; grows */
} hg_stream;

struct hg_context {
    hg_backend *backend;
    hg_order order;  /* of what runs in it */
    hg_stream *main; /* for a run that is alone */
    hg_stream *spare;
    hg_mutex start_lock;
    HG_VEC(hg_queue *) starters;               /* queues of launches that were started; under the start lock */
    void (*end_starters)(hg_context *context); /* waits for them and frees them; NULL: there were none */
    hg_mutex class_lock;
    hg_piece class_memory; /* allocated at first touch */
    hg_piece
        state; /* phases and accumulators (atlas/state.h), allocated at first touch; this and the two below belong to the turn that shares the state */
    void *state_image;  /* where the host sees the state; a copy of its own where it does not see the device's memory */
    bool state_pending; /* a launch may have written the pending part */
    hg_fork_lock forks[2];
    bool lost; /* in a forked child: it was in use, or its backend is lost. Nobody has a turn in it any more */
};

/* A kernel: its code, and what launches must give it. */
typedef struct hg_kernel {
    hg_code_set *code;  /* owns the kernel's form of before legalisation too */
    kir_prover *prover; /* which launches in device form are checked with; NULL: they are not */
    uint32_t input_count, slot_count;
    kir_input *inputs;
    kir_slot *slots;
    bool has_open, uses_class;
    char name[64];       /* for profiles; cut */
    uint32_t first_inst; /* of the source, + 1; 0: none */
} hg_kernel;

/* ---- tables.c ---- */
typedef struct hg_tables hg_tables;
/* The buffers of a program's tables on the backend, made and filled when first asked for; NULL where it has none. */
hg_status hg_tables_get(hg_backend *b, const hg_program *program, hg_tables **tables) HG_NODISCARD;
void hg_tables_release(hg_backend *b, hg_tables *tables);
uint64_t hg_tables_handle(const hg_tables *tables, uint32_t number); /* of the number-th .data */

struct hg_executable {
    hg_backend *backend;
    hg_program *program;
    hg_tables *tables; /* NULL: the program has none */
    hg_plan *plan;     /* its kernels' modules are gone: code, steps, env stay */
    hg_kernel *kernels;
    uint32_t kernel_count;
    hg_expansion *chains; /* kernels of several steps (chain.h); under the backend's expansion_lock */
    uint64_t max_steps;
    bool uses_barrier, uses_shared;
    uint32_t block_bytes;          /* of shared memory that operations of the block need for each of its lanes */
    bool uses_state, writes_state; /* phases and accumulators of the context; their pending part */
    bool moves_pools;              /* allocates under ids of its own or frees: pools are looked up at each use */
    hg_signature signature;        /* registers set at launch */
    uint32_t references;           /* atomic: creator, bindings, cache */
};

/* Everything a launch needs, resolved. */
typedef struct hg_resolved {
    uint32_t grid[3], block[3];
    uint64_t lanes, shared_bytes /* of a block, */, shared_scratch /* of them those behind the program's */, timeout_ms;
} hg_resolved;

/* When the memory of a slot is known. */
typedef enum hg_slot_when {
    HG_SLOT_LATE,  /* at each launch */
    HG_SLOT_CLASS, /* class memory: with the context */
    HG_SLOT_STATE, /* phases and accumulators: with the context */
    HG_SLOT_BINDING
} hg_slot_when;

/* One kernel's arguments in a binding. */
typedef struct hg_bound_kernel {
    uint64_t *inputs;
    hg_range *slots;
    uint8_t *when;          /* hg_slot_when of each slot */
    bool has_classes;       /* one of them is HG_SLOT_CLASS, or the kernel names a class in its accesses */
    bool has_state;         /* one of them is HG_SLOT_STATE */
    uint8_t *aliases;       /* alias signature; NULL below two slots */
    hg_submission dispatch; /* device forms: what launches have in common */
    hg_code *code;          /* of a tier with several codes: the last launch's; NULL: none */
    uint64_t *proved;       /* the facts that `proven` is about; NULL: none so far */
    bool proven;            /* no access can leave its bounds */
} hg_bound_kernel;

/* A buffer or pool that a binding keeps alive. */
typedef struct hg_held {
    uint64_t handle;
    hg_range range;
    uint64_t arena_bytes; /* of the whole arena */
} hg_held;

enum { HG_MOST_PREPARED = 4 };
struct hg_binding {
    hg_executable *executable;
    uint32_t references;       /* atomic: creator, submissions that are not over */
    const char *const *labels; /* what instructions are, for profiles: of each one's number a text or NULL. NULL: of none */
    hg_arena arena;
    hg_resolved launch;
    uint8_t *values[256]; /* initial bytes of each parameter register, NULL: none */
    HG_VEC(hg_held) held_buffers;
    HG_VEC(hg_held) held_pools;
    HG_VEC(uint64_t) own_pools;   /* made for .param pool without a value; freed with the binding */
    HG_VEC(uint64_t) own_buffers; /* of .scratch; likewise */
    hg_bound_kernel *kernels;
    uint8_t *env;       /* the environment as the host knows it */
    bool env_changes;   /* somebody writes an entry: each launch begins with the initial values */
    uint64_t *computed; /* room for what a PLAN_COMPUTE works out */
    bool *env_stale;    /* by 8 bytes, of an entry the first: the device has another value, which the host does not know; NULL: never */
    bool env_is_memory; /* env is env_range, nothing is copied */
    hg_range env_range, uniforms; /* the environment on the device, and as kernels see it that read it in memory */
    hg_piece env_memory, scratch; /* arena NULL when not needed */
    hg_piece shared;              /* shared memory of all blocks, where it must live across steps */
    const hg_stream *owner;       /* whose run it is in, one at a time in whatever context; NULL: in none. Atomic */
    hg_touches touches;
    hg_recorded recorded; /* the last batch of its runs */
    bool guarded;         /* looks up handles while it runs */
    bool launched;
    bool simple;            /* one kernel, everything known: the fast path */
    bool tiered;            /* simple, on a device with several tiers: each launch asks for its code */
    bool dispatches;        /* simple: the first tier runs device forms */
    bool timed;             /* simple: long enough to need a deadline */
    uint64_t spent_ns;      /* of the launch's time, before it began: on lowering */
    bool plain;             /* simple, and nothing but the driver's command is to be done */
    uint8_t until_prepared; /* launches that the caller waits for before it is made ready; 0: it was tried */
    uint8_t prepare_tries;  /* that failed, because native code may be there later */
    uint8_t prepared_count; /* the commands that a launch is, made ready; 0: they are not */
    hg_driver_prepared *prepared[HG_MOST_PREPARED];
    hg_driver_launch ready;    /* simple: everything but the deadline */
    hg_driver_command command; /* simple: launches ready */
    hg_driver_fault fault;
    struct hg_bound_step *steps; /* of the plan, in its order */
    hg_piece step_scratch;       /* what steps need beside their arrays, one after another, */
    hg_piece step_tables;        /* and what each keeps */
};

/* ---- config.c ---- */
/* The directory that cache_dir means, to be freed; "" for none. */
hg_status hg_config_cache_path(const hg_config *config, char **path) HG_NODISCARD;
/* The same as the environment says; "" where that is malformed, which is an error of whoever opens a backend with it. */
hg_status hg_config_env_cache_path(char **path) HG_NODISCARD;
/* How drivers' libraries are tried, as the environment says. The path is borrowed. */
hg_status hg_config_trial(const char *cache_path, hg_trial_options *options) HG_NODISCARD;

/* ---- backend_select.c ---- */
/* Calls open(user, driver, index) for what name and index ask for: one device, or for "auto" the devices in its order until one opens. */
hg_status hg_select(const char *name, uint32_t index, const hg_trial_options *trial,
                    hg_status (*open)(void *user, const hg_driver *driver, uint32_t index), void *user) HG_NODISCARD;
enum { HG_NOT_AUTOMATIC, HG_AUTOMATIC, HG_IF_ACCELERATOR }; /* the second column of backends.def */
typedef struct hg_driver_word {
    const char *word, *meaning;
} hg_driver_word;
typedef struct hg_driver_list {
    const hg_driver *const *drivers;
    const uint8_t *automatic;
    uint32_t count;
    bool accelerator;              /* this machine may have one */
    const hg_driver_word *absent;  /* known names without a driver, and why */
    const hg_driver_word *aliases; /* second names, and whose */
    uint32_t absent_count, alias_count;
    const hg_driver *guest; /* opened by its name alone; NULL: none */
    hg_trial_options trial; /* of drivers that open libraries of others */
} hg_driver_list;
/* A driver that is not in the table, which whoever links the library brings: tests. Before any backend is created; opened by its name alone. */
void hg_select_guest(const hg_driver *driver);
/* Whether a name means whichever device comes first: "auto", or none. */
bool hg_backend_is_automatic(const char *name);
hg_status hg_select_in(const hg_driver_list *list, const char *name, uint32_t index,
                       hg_status (*open)(void *user, const hg_driver *driver, uint32_t index), void *user) HG_NODISCARD;

/* ---- forked.c ---- */
/* In a forked child: the error of what was in use ("context"), of a backend whose device is the parent's. */
hg_status hg_lost(const char *what);
hg_status hg_backend_lost(const hg_backend *b);
static inline hg_status hg_backend_alive(const hg_backend *b) { return HG_UNLIKELY(b->lost) ? hg_backend_lost(b) : HG_OK; }
bool hg_binding_is_lost(const hg_binding *binding);
void hg_backend_watch_forks(hg_backend *b);
void hg_backend_forget_forks(hg_backend *b);
void hg_context_watch_forks(hg_context *c);
void hg_context_forget_forks(hg_context *c);

/* ---- stream.c ---- */
hg_status hg_stream_create(hg_context *context, hg_stream **stream) HG_NODISCARD;
void hg_stream_destroy(hg_stream *stream); /* its work is waited for */
/* Whatever is under way on the stream is over afterwards, when its events fail to say so. */
void hg_stream_drain(hg_stream *stream);
/* Its queue again, which it lost when draining could not make a new one. */
hg_status hg_stream_make_whole(hg_stream *stream) HG_NODISCARD;
/* Until what was submitted with the stream's event is over, also after a failure. */
hg_status hg_stream_wait(hg_stream *stream) HG_NODISCARD;
/* What the functions in line below need for the rare cases: a device that works on by itself; not alone, or a stream that lost its queue; a
 * stream that is not the main one; a binding that is another's. */
hg_status hg_stream_run_and_wait(hg_stream *stream, const hg_driver_command *commands, uint32_t count) HG_NODISCARD;
hg_status hg_context_enter_slowly(hg_context *context, hg_turn *turn, hg_stream **stream) HG_NODISCARD;
void hg_context_spare(hg_context *context, hg_stream *stream);
hg_status hg_binding_own_slowly(hg_binding *binding, const hg_stream *stream) HG_NODISCARD;

/* Commands on the stream, to their end. */
HG_NODISCARD static inline hg_status hg_stream_run(hg_stream *stream, const hg_driver_command *commands, uint32_t count) {
    const hg_backend *b = stream->context->backend;
    if (b->caps->asynchronous) return hg_stream_run_and_wait(stream, commands, count);
    return b->driver->queue_submit(stream->queue, commands, count, NULL, 0, NULL);
}

/* Waits until nothing stands against the turn; the stream is the turn's until it leaves. After a failure there is no turn. */
HG_NODISCARD static inline hg_status hg_context_enter(hg_context *context, hg_turn *turn, hg_stream **stream) {
    *stream = HG_LIKELY(hg_order_enter_alone(&context->order, turn)) ? context->main : NULL;
    return HG_LIKELY(*stream && (*stream)->queue) ? HG_OK : hg_context_enter_slowly(context, turn, stream);
}

static inline void hg_context_leave(hg_context *context, hg_turn *turn, hg_stream *stream) {
    if (HG_UNLIKELY(stream != context->main)) hg_context_spare(context, stream);
    hg_order_leave(&context->order, turn, &context->backend->monitor);
}

/* The binding is the stream's until it is let go: at once if it is free, or after waiting. */
static inline bool hg_binding_try_own(hg_binding *binding, const hg_stream *stream) {
    const hg_stream *nobody = NULL;
    return hg_atomic_compare_exchange(&binding->owner, &nobody, stream, HG_SEQ_CST);
}

HG_NODISCARD static inline hg_status hg_binding_own(hg_binding *binding, const hg_stream *stream) {
    return HG_LIKELY(hg_binding_try_own(binding, stream)) ? HG_OK : hg_binding_own_slowly(binding, stream);
}

static inline void hg_binding_disown(hg_binding *binding) {
    (void)hg_atomic_exchange(&binding->owner, NULL, HG_SEQ_CST);
    hg_monitor_wake(&binding->executable->backend->monitor);
}

/* ---- touches.c ---- */
/* binding->touches, when everything else of the binding is known. */
hg_status hg_binding_find_touches(hg_binding *binding) HG_NODISCARD;

/* ---- memory.c ---- */
hg_touch hg_touch_of(const hg_backend *b, const hg_range *range, bool written);
hg_status hg_memory_create(hg_backend *b, uint64_t size, hg_memory **memory) HG_NODISCARD;
void hg_memory_destroy(void *backend, void *memory);
/* A buffer that is part of another one's memory, which stays as long as the view does. offset: a multiple of HG_PIECE_ALIGN, or where devices need no more
 * than that of an element. Freed as every buffer. HG_ERROR_INVALID_BUFFER, HG_ERROR_INVALID_ARGUMENT: it does not lie in the buffer. */
hg_status hg_buffer_view(hg_backend *b, hg_buffer whole, uint64_t offset, uint64_t size, hg_buffer *view) HG_NODISCARD;
hg_status hg_context_class_memory(hg_context *context, hg_range *range) HG_NODISCARD;
/* Between these two no buffer or pool that hg_buffer_range or hg_pool_range finds is freed. */
void hg_guard_begin(hg_backend *b);
void hg_guard_end(hg_backend *b);
/* Both at once, for a launch that has found nothing it still uses: where no other one is guarded, what was freed goes now. */
void hg_guard_renew(hg_backend *b);
/* The range of a buffer handle (class handles included; context may be NULL when they cannot occur). Unknown: arena NULL. */
hg_range hg_buffer_range(hg_backend *b, hg_context *context, uint64_t handle);
hg_range hg_pool_range(hg_backend *b, uint64_t handle);
/* A buffer or pool has one handle for programs, generation * 2^23 + index below 2^47, and one for hosts, which has the backend's number above
 * that: where several backends are alive, those of one are errors for the others. */
enum { HG_BACKEND_NUMBER_SHIFT = 47, HG_BACKEND_NUMBERS = 65536 - 64 };
void hg_backend_number_take(hg_backend *b);
void hg_backend_number_give(hg_backend *b);
static inline uint64_t hg_handle_public(const hg_backend *b, uint64_t handle) { return handle | b->number << HG_BACKEND_NUMBER_SHIFT; }
/* As programs have it, where it is the backend's; any other as it is. */
static inline uint64_t hg_handle_plain(const hg_backend *b, uint64_t handle) {
    bool own = handle >> HG_BACKEND_NUMBER_SHIFT == b->number;
    return own ? handle & ((UINT64_C(1) << HG_BACKEND_NUMBER_SHIFT) - 1) : handle;
}
/* The program's handle of what a caller of the library gives; HG_ERROR_INVALID_BUFFER where it is of another backend. It may be dead. */
hg_status hg_handle_take(const hg_backend *b, bool pool, uint64_t given, uint64_t *handle) HG_NODISCARD;
bool hg_handle_is_class(uint64_t handle);                         /* 0 or 2^64-96 … 2^64-1 */
hg_range hg_class_range(const hg_range *memory, uint64_t handle); /* of such a handle in a context's class memory */
hg_status hg_invalid_handle(bool pool, uint64_t handle);
/* A copy or fill: COPY_IN, COPY_OUT, COPY or FILL; handles of buffers or of pools. */
typedef struct hg_transfer {
    hg_driver_command_kind kind;
    bool pool;
    uint8_t value;
    uint64_t to, to_offset, from, from_offset, length;
    void *host;
} hg_transfer;
/* The same checked: its command, the memory it keeps, what it touches. Not to be moved. */
typedef struct hg_transfer_work {
    hg_driver_command command;
    uint64_t length;
    void *seen; /* copies in and out: the device's memory where the host sees it; hg_transfer_on_host does it then. NULL: the command */
    struct {
        hg_handles *table;
        uint64_t handle;
    } held[2];
    hg_touch list[2];
    hg_touches touches;
} hg_transfer_work;
hg_status hg_transfer_prepare(hg_context *context, const hg_transfer *transfer, hg_transfer_work *work) HG_NODISCARD;
void hg_transfer_on_host(const hg_transfer_work *work);
void hg_transfer_release(hg_transfer_work *work);                  /* once, after a successful prepare */
void *hg_host_address(const hg_backend *b, const hg_range *range); /* NULL where the host does not see it */
/* One copy or fill of a public command; class handles mean the context's. */
hg_status hg_copy(hg_context *context, bool pool, uint64_t handle, uint64_t offset, void *data, uint64_t length,
                  hg_driver_command_kind kind) HG_NODISCARD;

/* ---- context_state.c ---- */
/* The state of a context for a launch that begins: what earlier ones added is in the start part, writes: this one may add. The range is
 * context->state's. In a turn that shares the state, on its stream. */
hg_status hg_state_begin(hg_stream *stream, bool writes) HG_NODISCARD;
/* The same without waiting. away: *copy must be done first, then hg_state_fold_fetched and the copy that it gives. The first of the two is
 * worth nothing without the second: state_pending is to be set again when that one does not come to the device. */
hg_status hg_state_fetch(hg_context *context, bool writes, hg_driver_command *copy, bool *away) HG_NODISCARD;
hg_driver_command hg_state_fold_fetched(hg_context *context, bool writes);
void hg_state_close(hg_context *context);

/* ---- characters.c ---- */
/* i128[194·194], then f64[194·194]: atlas/characters.h. For reading, until the backend goes. */
hg_status hg_backend_characters(hg_backend *b, hg_range *range) HG_NODISCARD;

/* ---- alias.c ---- */
void hg_alias_signature(const hg_backend *b, const hg_range *slots, uint32_t count, uint8_t *pairs);

/* ---- params.c ---- */
typedef struct hg_param_value {
    char *name;              /* NULL: a raw register */
    uint8_t reg, kind, type; /* hg_param_kind */
    uint64_t handle;         /* buffers, pools */
    uint8_t bytes[HG_MAX_LITERAL_BYTES];
} hg_param_value;
struct hg_params {
    HG_VEC(hg_param_value) values;
};
/* Checks and resolves everything of language.md 5.1 into the binding. */
hg_status hg_binding_resolve(hg_binding *binding, const hg_launch *launch, const hg_params *params) HG_NODISCARD;
/* What callers fill may be of an older or a newer header (base/sized.h): *own gets this library's form of it. */
hg_status hg_launch_take(const hg_launch *given, hg_launch *own) HG_NODISCARD;
hg_status hg_config_take(const hg_config *given, hg_config *own) HG_NODISCARD;
/* Keeps a buffer or pool alive with the binding. *range has arena NULL for an unknown handle. Classes are not for here. */
hg_status hg_binding_hold(hg_binding *binding, bool pool, uint64_t handle, hg_range *range) HG_NODISCARD;
/* The same for one that is held already; arena NULL when it is not. index: the handle is only that (flat addresses). */
hg_range hg_binding_held(const hg_binding *binding, bool pool, uint64_t handle, bool index);
/* Types of the registers that params sets. */
void hg_params_signature(const hg_params *params, hg_signature *signature);

/* ---- deadline.c ---- */
uint64_t hg_timeout_of(const hg_backend *b, const hg_launch *launch); /* ms; 0: none. launch NULL: the backend's default */
uint64_t hg_deadline(uint64_t timeout_ms);                            /* of what starts now; 0: none */
uint64_t hg_binding_deadline(const hg_binding *binding);              /* of a launch that starts now, less what was spent on it before */

/* ---- executable_cache.c ---- */
/* From the cache, or made and put there. Retained. timeout_ms: F08 where making it takes longer; 0: none. */
hg_status hg_executable_get(hg_backend *b, const hg_program *program, const hg_signature *signature, uint64_t max_steps,
                            uint64_t timeout_ms, hg_executable **executable) HG_NODISCARD;
uint32_t hg_executables_kept(const hg_backend *b); /* by the cache alone */
void hg_executables_forget(hg_backend *b);         /* the cache lets go of all */

/* ---- recent.c ---- */
/* Runs a call as one that came before; false: there was none, and nothing happened. Every argument was checked for NULL. */
bool hg_recent_launch(hg_backend *b, const hg_program *program, const hg_launch *launch, const hg_params *params, hg_status *status);
/* The binding of a call that succeeded, for others like it. True: it is theirs now. */
bool hg_recent_keep(hg_backend *b, const hg_program *program, const hg_launch *launch, const hg_params *params, hg_binding *binding);
uint32_t hg_recent_count(const hg_backend *b); /* bindings kept; nobody calls meanwhile */
void hg_recent_close(hg_backend *b);

/* ---- executable.c ----
 * deadline_ns: F08 where lowering is not over by then; 0: none. */
hg_status hg_executable_make(hg_backend *b, const hg_program *program, const hg_signature *signature, uint64_t max_steps,
                             uint64_t deadline_ns, hg_executable **executable) HG_NODISCARD;
hg_executable *hg_executable_retain(hg_executable *e);
/* The kernels of its plan, whose modules go. After a failure hg_executable_destroy frees what there is. */
hg_status hg_executable_compile(hg_backend *b, hg_executable *e, uint64_t deadline_ns) HG_NODISCARD;
/* ---- kernel.c ---- */
/* A kernel of a module, which it takes over, also after failure; code that any launch needs is compiled. checked: launches are looked at
 * for accesses that cannot leave their bounds. The caller frees *kernel (zero before) also after failure. */
hg_status hg_kernel_compile(hg_backend *b, kir_module *high, bool checked, uint64_t deadline_ns, hg_kernel *kernel) HG_NODISCARD;
void hg_kernel_free(hg_kernel *kernel);

/* ---- expand.c: whole-array steps as kernels ---- */
void hg_expansions_free(hg_expansion **list);

/* ---- tiles.c: sizes of tiles; the rest is in client.h ---- */
hg_status hg_backend_tiles_open(hg_backend *b) HG_NODISCARD;

/* ---- probe.c ---- */
/* The numeric probe of an open backend with a default context; its capabilities are what the driver promises. */
hg_status hg_backend_probe(hg_backend *b, hg_probe_result *result) HG_NODISCARD;
/* The same at the opening of a device in device form, from the cache on disk or kept there; from then on the capabilities promise no more
 * than was found. */
hg_status hg_backend_trust(hg_backend *b) HG_NODISCARD;

#endif
