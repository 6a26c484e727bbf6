/* Bindings: an executable with a launch and parameters, checked once and laid out for the driver.
 * Must not know: plan code, what a step does. */
#ifndef HG_RUNTIME_BINDING_H
#define HG_RUNTIME_BINDING_H

#include "runtime/context.h"
#include "runtime/kernel.h"
#include "runtime/recorded.h"

/* Everything a launch needs, resolved. */
typedef struct hg_resolved {
    uint32_t grid[3], block[3];
    uint64_t lanes, shared_bytes /* of a block, */,
        shared_scratch /* of them those behind the program's */, timeout_ms;
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
    uint8_t *when;    /* hg_slot_when of each slot */
    bool has_classes; /* one of them is HG_SLOT_CLASS, or the kernel names a class in its accesses
                       */
    bool has_state;   /* one of them is HG_SLOT_STATE */
    uint8_t *aliases; /* alias signature; NULL below two slots */
    hg_submission dispatch; /* device forms: what launches have in common */
    uint64_t *proved;       /* the facts that `proven` is about; NULL: none so far */
    bool proven;            /* no access can leave its bounds */
} hg_bound_kernel;

/* A buffer or pool that a binding keeps alive. */
typedef struct hg_held {
    uint64_t handle;
    hg_range range;
    uint64_t arena_bytes; /* of the whole arena */
    bool constant; /* its bytes stay the same from the first launch on, as long as the binding lives
                    */
} hg_held;

/* How a launch of a binding is carried out, from the general way to the quickest:
 * docs/design/launch-ways.md has who may take which, and what each saves. */
typedef enum hg_launch_way {
    HG_WAY_PLAN,    /* the plan machine: any binding */
    HG_WAY_KERNEL,  /* one kernel whose arguments are known: no plan code is read */
    HG_WAY_COMMAND, /* the same, and nothing depends on the context or the clock: one command is
                       submitted */
    HG_WAY_READY    /* the driver has the commands ready: it is called, nothing is submitted */
} hg_launch_way;

/* The one launch of a binding with one kernel whose arguments are known: filled once, up to what
 * its way says. */
typedef struct hg_one_launch {
    hg_driver_launch launch;
    hg_driver_command command; /* launches it */
    bool needs_clock;          /* it may take so long that somebody must look at the time */
} hg_one_launch;

/* Commands that the driver makes ready (ready.c). */
typedef struct hg_ready_command {
    hg_driver_prepared *prepared;
    uint32_t step; /* of the plan; 0 where it has none */
} hg_ready_command;
typedef struct hg_ready_commands {
    uint32_t launches_left; /* before the driver is asked; 0: it was asked */
    uint8_t tries;          /* that failed, because native code may be there later */
    uint8_t count;          /* of the commands; 0: they are not ready */
    hg_ready_command one;
    hg_ready_command *commands; /* &one, or of the binding's arena */
} hg_ready_commands;

/* What instructions from one on are to whoever made the program, for errors and profiles. */
typedef struct hg_provenance {
    const char *text; /* NULL: the same as the one before */
    uint32_t line;    /* where it stands there; 0: nowhere */
} hg_provenance;

struct hg_binding {
    hg_executable *executable;
    uint32_t references; /* atomic: creator, submissions that are not over, a binding that it is
                            next of */
    const hg_provenance *origins; /* of each instruction; NULL: of none */
    hg_binding *next;             /* whose launch follows in the same run; NULL: none */
    hg_arena arena;
    hg_resolved launch;
    uint8_t *values[256]; /* initial bytes of each parameter register, NULL: none */
    hg_bound_kernel *kernels;
    struct {
        HG_VEC(hg_held) held_buffers;
        HG_VEC(hg_held) held_pools;
        HG_VEC(uint64_t)
        own_pools; /* made for .param pool without a value; freed with the binding
                    */
        HG_VEC(uint64_t) own_buffers; /* of .scratch; likewise */
        bool has_constants;           /* some of the buffers that it holds are */
        hg_piece scratch;             /* arena NULL when not needed */
        hg_piece shared; /* shared memory of all blocks, where it must live across steps */
    } memory;
    struct {
        uint8_t *bytes;     /* the environment as the host knows it */
        bool changes;       /* somebody writes an entry: each launch begins with the initial values
                             */
        bool is_memory;     /* bytes is range, nothing is copied */
        uint64_t *computed; /* room for what a PLAN_COMPUTE works out */
        bool *stale; /* by 8 bytes, of an entry the first: the device has another value, which the
                        host does not know; NULL: never */
        hg_range range, uniforms; /* the environment on the device, and as kernels see it that read
                                     it in memory */
        hg_piece memory;          /* both; arena NULL when not needed */
    } env;
    const hg_stream *owner; /* whose run it is in, one at a time in whatever context; NULL: in none.
                               Atomic */
    hg_touches touches;
    hg_recorded recorded; /* the last batch of its runs */
    bool guarded;         /* looks up handles while it runs */
    bool launched;
    uint64_t spent_ns; /* of the launch's time, before it began: on lowering */
    struct {
        hg_launch_way waited;    /* of a launch that is waited for */
        hg_launch_way submitted; /* the same where commands are submitted in any case: while a
                                    profile records, in a queue. Never READY */
        hg_ready_commands ready; /* of the way READY */
        hg_one_launch one; /* of the ways KERNEL and COMMAND; the plan machine fills one.launch anew
                              for each kernel */
    } way;
    hg_driver_fault fault;
    struct {
        struct hg_bound_step *bound; /* of the plan, in its order */
        hg_piece scratch;            /* what steps need beside their arrays, one after another, */
        hg_piece tables;             /* and what each keeps */
    } steps;
};

/* ---- whose a binding is (stream.c, forked.c) ---- */
bool hg_binding_is_lost(const hg_binding *binding);
/* For one that is another's. */
hg_status hg_binding_own_slowly(hg_binding *binding, const hg_stream *stream) HG_NODISCARD;
/* The binding is the stream's until it is let go: at once if it is free, or after waiting. */
static inline bool hg_binding_try_own(hg_binding *binding, const hg_stream *stream) {
    const hg_stream *nobody = NULL;
    return hg_atomic_compare_exchange(&binding->owner, &nobody, stream, HG_SEQ_CST);
}

HG_NODISCARD static inline hg_status hg_binding_own(hg_binding *binding, const hg_stream *stream) {
    return HG_LIKELY(hg_binding_try_own(binding, stream)) ? HG_OK
                                                          : hg_binding_own_slowly(binding, stream);
}

static inline void hg_binding_disown(hg_binding *binding) {
    (void)hg_atomic_exchange(&binding->owner, NULL, HG_SEQ_CST);
    hg_monitor_wake(&binding->executable->backend->monitor);
}

/* ---- touches.c ---- */
/* binding->touches, when everything else of the binding is known. */
hg_status hg_binding_find_touches(hg_binding *binding) HG_NODISCARD;
/* Of a binding of one kernel, whose slots were moved. */
void hg_binding_move_touches(hg_binding *binding);

/* ---- move.c ---- */
enum { HG_MOST_MOVED = 8 }; /* slots of the kernel */
/* The binding keeps no buffer alive any more, where its launch is one kernel on host memory and
 * nothing of it is found by handles; false, and nothing changed: it is not. From now on each launch
 * comes after an hg_binding_move with all buffers, which stay until it is over, and is the only
 * one. */
bool hg_binding_loosen(hg_binding *binding);
/* Buffers of the parameters in these registers. False, and nothing changed: a buffer has another
 * size than the one before, is none, or they lie to each other in another way; the caller makes a
 * new binding. */
bool hg_binding_move(hg_binding *binding, const uint8_t *regs, const hg_buffer *buffers,
                     uint32_t count);

/* ---- sequence.c ---- */
/* Of two bindings or more: a launch of the first becomes one of all, in their order, in one run.
 * The others are not launched by themselves from now on; each is kept by the one before. Not for
 * programs that use the state of a context. */
hg_status hg_binding_sequence(hg_binding *const *bindings, uint32_t count) HG_NODISCARD;
/* Each by itself again. */
void hg_binding_end_sequence(hg_binding *binding);

/* ---- binding.c ---- */
void hg_binding_retain(hg_binding *binding);
/* This thread's error becomes one of a part of the program: text in front, the line is where that
 * stands. */
void hg_error_set_origin(const hg_provenance *origin);
/* The same by the origin of the instruction that the error names; nothing where the binding has
 * none. */
void hg_binding_error_origin(const hg_binding *binding);

/* ---- params.c ---- */
typedef struct hg_param_value {
    char *name;              /* NULL: a raw register */
    uint8_t reg, kind, type; /* hg_param_kind */
    bool constant;           /* of a buffer: hg_params_set_constant */
    uint64_t handle;         /* buffers, pools */
    uint8_t bytes[HG_MAX_LITERAL_BYTES];
} hg_param_value;
struct hg_params {
    HG_VEC(hg_param_value) values;
};
/* Checks and resolves everything of language.md 5.1 into the binding. */
hg_status hg_binding_resolve(hg_binding *binding, const hg_launch *launch,
                             const hg_params *params) HG_NODISCARD;
/* Keeps a buffer or pool alive with the binding. *range has arena NULL for an unknown handle.
 * Classes are not for here. */
hg_status hg_binding_hold(hg_binding *binding, bool pool, uint64_t handle,
                          hg_range *range) HG_NODISCARD;
/* The same for one that is held already; arena NULL when it is not. index: the handle is only that
 * (flat addresses). */
hg_range hg_binding_held(const hg_binding *binding, bool pool, uint64_t handle, bool index);
/* Whether such a buffer is held that every parameter with it says is constant. */
bool hg_binding_is_constant(const hg_binding *binding, uint64_t handle, bool index);
/* Sets a buffer whose bytes stay the same from the binding's first launch on, as long as it lives.
 */
hg_status hg_params_set_constant(hg_params *params, const char *name,
                                 hg_buffer buffer) HG_NODISCARD;
/* Types of the registers that params sets. */
void hg_params_signature(const hg_params *params, hg_signature *signature);

/* ---- deadline.c ---- */
uint64_t hg_binding_deadline(const hg_binding *binding); /* of a launch that starts now, less what
                                                            was spent on it before */

/* ---- blocking.c ---- */
/* hg_binding_launch_in where the floating-point mode is the default one already. */
hg_status hg_launch_bound(hg_binding *binding, hg_context *context) HG_NODISCARD;

/* ---- backend.c ---- */
/* Makes a binding and launches it; every argument is there but launch and params. *binding is NULL
 * after an error, else the caller's. */
hg_status hg_launch_first(hg_backend *b, const hg_program *program, const hg_launch *launch,
                          const hg_params *params, hg_binding **binding) HG_NODISCARD;

/* ---- recent.c ---- */
/* Runs a call as one that came before; false: there was none, and nothing happened. Every argument
 * was checked for NULL. */
bool hg_recent_launch(hg_backend *b, const hg_program *program, const hg_launch *launch,
                      const hg_params *params, hg_status *status);
/* The binding of a call that succeeded, for others like it. True: it is theirs now. */
bool hg_recent_keep(hg_backend *b, const hg_program *program, const hg_launch *launch,
                    const hg_params *params, hg_binding *binding);
uint32_t hg_recent_count(const hg_backend *b); /* bindings kept; nobody calls meanwhile */
void hg_recent_close(hg_backend *b);

#endif
