/* A launch on its way through its plan. Must not know: plan code, steps. */
#ifndef HG_RUNTIME_RUN_H
#define HG_RUNTIME_RUN_H

#include "runtime/binding.h"
#include "runtime/exchange.h"
#include "runtime/memory.h"
#include <string.h>

typedef struct hg_pool_alias {
    uint64_t id, handle;
} hg_pool_alias;
/* Code that the device may still run. */
typedef struct hg_kept_code {
    hg_code_set *set;
    hg_code *code;
} hg_kept_code;
/* What a poll finds. */
typedef enum hg_run_state { HG_RUN_DONE, HG_RUN_WAITING, HG_RUN_FAILED } hg_run_state;

/* How far the program of a run is. */
typedef enum hg_run_phase {
    HG_PHASE_GOING,  /* plan code is left */
    HG_PHASE_ENDED,  /* the program is over; what was submitted may still be under way */
    HG_PHASE_FAILING /* status and error are known; what was submitted may still be under way */
} hg_run_phase;

/* What of a run the device may still be doing. */
typedef enum hg_run_pending {
    HG_PENDING_NOTHING,     /* nothing */
    HG_PENDING_UNSIGNALLED, /* work that no event tells the end of */
    HG_PENDING_EVENT,       /* work whose end is the run's event */
    HG_PENDING_PLAN         /* the same, and it is the binding's recorded plan */
} hg_run_pending;

/* What is done about the context's state (context_state.c) in a run that may not wait for it. */
typedef enum hg_run_fold {
    HG_FOLD_NONE,    /* nothing is to be done, or it was done before the run */
    HG_FOLD_FETCHES, /* it is on its way to the host, which folds it */
    HG_FOLD_DONE     /* it was folded, and is on its way back */
} hg_run_fold;

/* How far a step between ranks is (exchange.c). */
typedef enum hg_exchange_state {
    HG_EXCHANGE_NONE,
    HG_EXCHANGE_FETCHES, /* what comes before it, and copies for the host, are under way */
    HG_EXCHANGE_RUNS,    /* hg_run_wait carries it out */
    HG_EXCHANGE_APART,   /* it is under way while the run goes on */
    HG_EXCHANGE_JOINS,   /* hg_run_wait waits for it */
    HG_EXCHANGE_STORES,  /* it was */
    HG_EXCHANGE_ENDS     /* the copy for the device is under way */
} hg_exchange_state;

/* How far a launch is that was added. */
typedef enum hg_item_state {
    HG_ITEM_ADDED,
    HG_ITEM_BEGUN,  /* its dispatch was begun */
    HG_ITEM_COUNTED /* windows of it were submitted, one after another */
} hg_item_state;

/* Work that was added and is not submitted yet: a command, or a launch that becomes one or more
 * dispatches. */
typedef struct hg_run_item {
    hg_driver_command command;
    const hg_kernel *kernel; /* NULL: the command */
    const hg_driver_launch *launch;
    hg_submission *dispatch; /* NULL: a new one for this launch */
    bool owned;              /* the dispatch is the item's */
    bool proven;
    hg_item_state state;
} hg_run_item;

/* Asynchronous devices get the commands of a run together, when the host must look at something or
 * the run ends. On others a command is done when it is added. */
typedef struct hg_run {
    hg_binding *binding;
    hg_context *context;
    hg_stream *stream;
    uint32_t pc;
    uint64_t step; /* steps done so far, for faults */
    struct {
        uint64_t deadline_ns;
        uint64_t compile_ns; /* the stream's when the run began: what came since moves the deadline
                              */
        uint64_t late_ns; /* since when it is seen that the device works behind the deadline; 0: it
                             is not (driver.device_leave) */
        uint64_t others_ns; /* so far the device was seen to be at others' work before this run's
                               own; 0: its event was not looked at (driver.event_began) */
        const volatile int *cancel; /* not 0: the run ends early; NULL: nobody cancels */
        bool behind; /* earlier work of the stream is under way: its time has not begun */
    } time;
    bool guarded; /* the backend keeps what is freed meanwhile */
    hg_run_phase phase;
    hg_run_pending pending;
    hg_run_fold fold;
    hg_driver_event *event;
    struct {
        HG_VEC(hg_driver_command) batch; /* to be submitted next */
        HG_VEC(hg_run_item) items;       /* to come behind the batch */
        uint64_t next_item;
        hg_submission *dispatch;    /* a launch whose windows the host counts; NULL: none */
        HG_VEC(hg_kept_code) codes; /* of dispatches that were added */
        uint64_t weight; /* of the commands since the host looked last: one each, more of long
                            dispatches */
        bool look; /* the host must look at what comes of the commands before the next instruction
                    */
    } work;
    struct {
        hg_arena host;           /* hg_run_alloc */
        uint64_t scratch_used;   /* bytes of the stream's step memory, */
        uint64_t wanted;         /* and all that was asked for since the device was idle */
        HG_VEC(hg_piece) pieces; /* device memory beside it */
    } memory;
    struct {
        HG_VEC(struct hg_bound_expansion *) made; /* their tables */
        bool tables, characters;                  /* those of the backend */
    } fills; /* what stays on the device as it is, once the run is over */
    struct {
        hg_exchange_state state;
        hg_exchange what;
        const plan_step *step;
        uint64_t number;   /* the steps before it */
        uint8_t *memory;   /* of copies; NULL: the host sees the arrays */
        hg_range from;     /* the array that is read, */
        hg_range to;       /* and that which is written */
        bool may_part;     /* both lie where they stay, and are worth it */
        bool parts_chain;  /* of the next steps that could be one kernel only the first goes on */
        hg_event *event;   /* of one that is apart */
        uint64_t since_ns; /* when it began, where a profile records */
        hg_status status;  /* its error is the run's */
    } exchange;            /* a step between ranks */
    hg_profile_span span;  /* recorded when the event is done */
    struct {
        const plan_step *plan; /* its fault has no place of its own */
        uint64_t number;       /* the steps before it */
        uint64_t bytes;        /* that it moved, for profiles */
    } last_step;               /* a whole-array step */
    hg_status status;
    struct {
        HG_VEC(uint64_t) own;          /* allocated by the program in this run */
        HG_VEC(hg_pool_alias) aliases; /* pool ids that the program chose itself */
    } pools;
    hg_error error; /* of a run that failed; not set before. The last field */
} hg_run;

/* The fault as the error of this thread. step: the steps that were done before it. */
hg_status hg_report_fault(const hg_executable *e, const hg_driver_fault *fault, uint64_t step);
/* The place of an instruction, in this thread's error. */
void hg_report_place(const hg_executable *e, uint32_t inst, uint64_t step);

/* ---- a run from start to end (execute.c) ---- */
/* Nothing yet. */
static inline void hg_run_init(hg_run *run) { memset(run, 0, offsetof(hg_run, error)); }
/* Begins in a ticket of the binding, which is the stream's. What the run needs is there, nothing
 * was waited for. After a failure: hg_run_end. */
hg_status hg_run_start(hg_run *run, hg_binding *binding, hg_stream *stream) HG_NODISCARD;
/* For a run that began behind others: now the device has come to it. */
void hg_run_start_clock(hg_run *run);
/* Goes on as far as it can without waiting. WAITING: until run->event is done, or until code is
 * there (hg_run_wait). FAILED: run->status and run->error say why. */
hg_run_state hg_run_poll(hg_run *run);
/* WAITING, and nothing but the outcome is open: all its commands are submitted. */
bool hg_run_is_issued(const hg_run *run);
/* Until a poll may find more, where the host can wait. */
void hg_run_wait(hg_run *run);
/* What it waits for are other ranks: nothing goes on before somebody calls hg_run_wait. */
static inline bool hg_run_awaits_ranks(const hg_run *run) {
    return run->exchange.state == HG_EXCHANGE_RUNS || run->exchange.state == HG_EXCHANGE_JOINS;
}
/* Frees what it has; nothing of it may be under way. */
void hg_run_end(hg_run *run);
/* The same of a run that may not be over: what is under way is waited for, or dropped where nobody
 * can wait. */
void hg_run_abandon(hg_run *run);

/* ---- time (run.c) ---- */
/* When it must be over: what compilers took since it began does not count. 0: whenever. */
uint64_t hg_run_deadline(const hg_run *run);
/* What work on the host keeps. */
hg_limit hg_run_limit(const hg_run *run);
/* Of a launch that a step is made of. Devices that return before it is over watch the run's
 * deadline, which may not have begun. */
void hg_run_limit_launch(const hg_run *run, hg_driver_launch *launch);
/* The error of a run whose time is over or that was cancelled; HG_OK: it goes on. */
hg_status hg_run_look(const hg_run *run) HG_NODISCARD;

/* ---- work (run.c) ---- */
/* A command is done when it was added. */
static inline bool hg_run_is_immediate(const hg_run *run) {
    return !run->context->backend->caps->scheduling.asynchronous;
}
/* Zeroed host memory until the commands that were added are done; NULL: out of memory. */
void *hg_run_alloc(hg_run *run, size_t bytes);
/* Device memory until then. */
hg_status hg_run_scratch(hg_run *run, uint64_t bytes, hg_range *range) HG_NODISCARD;
/* The host looks after commands that can fault, and after as many as fill a batch. */
enum { HG_FULL_BATCH = 256 };
static inline void hg_run_count(hg_run *run, bool faults, uint64_t weight) {
    run->work.weight += weight;
    run->work.look |= faults || run->work.weight >= HG_FULL_BATCH;
}
/* Appends a command. What its pointers lead to stays until it is done: hg_run_alloc's memory, or
 * the binding's. */
hg_status hg_run_add(hg_run *run, const hg_driver_command *command) HG_NODISCARD;
/* The same of a launch of a kernel without device form, whose code may not be there yet: then the
 * run waits for it when it comes to it. */
hg_status hg_run_add_launch(hg_run *run, const hg_kernel *kernel,
                            const hg_driver_command *command) HG_NODISCARD;
/* Appends a launch of a kernel that is not the plan's; the launch and what it points to are as
 * above. */
hg_status hg_run_launch(hg_run *run, const hg_kernel *kernel,
                        const hg_driver_launch *launch) HG_NODISCARD;
/* Submits the batch. signal: with the run's event, which is waited for before the run goes on. */
hg_status hg_run_submit(hg_run *run, bool signal) HG_NODISCARD;
/* All that was added is done: what was kept for it is free again. */
void hg_run_recycle(hg_run *run);
/* The least that a run does before its commands are waited for. */
static inline bool hg_run_has_work(const hg_run *run) {
    return run->work.next_item < run->work.items.count;
}

/* Whether the run's event is under way. */
static inline bool hg_run_awaits_event(const hg_run *run) {
    return run->pending >= HG_PENDING_EVENT;
}

/* ---- steps between ranks (exchange.c) ---- */
/* It begins or is under way, and the next instruction touches nothing of it (apart.c). */
bool hg_exchange_is_apart(hg_run *run);
/* One move of it; *waits: for hg_exchange_wait, which hg_run_wait calls. */
hg_status hg_exchange_move(hg_run *run, bool apart, bool *waits) HG_NODISCARD;
void hg_exchange_wait(hg_run *run);
void hg_exchange_end(hg_run *run); /* frees what it has */

/* ---- memory ---- */
/* Before the run looks up a handle that its binding does not hold: until its end the backend keeps
 * what is freed meanwhile. */
static inline void hg_run_guard(hg_run *run) {
    if (!run->guarded) hg_guard_begin(run->context->backend);
    run->guarded = true;
}
/* The range of a buffer, of a pool by the number the program uses (its own choice, or a handle), of
 * a flat address's buffer or pool. */
hg_range hg_run_buffer(hg_run *run, uint64_t handle);
hg_range hg_run_pool(hg_run *run, uint64_t id);
hg_range hg_run_flat(hg_run *run, bool pool, uint64_t index);
/* The same as hg_driver_launch.resolve; run: an hg_run. */
hg_range hg_run_resolve(void *run, uint64_t handle, bool pool, bool flat);

#endif
