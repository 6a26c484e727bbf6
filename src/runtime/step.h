/* Whole-array steps of a binding.
 * Must not know: plan code. */
#ifndef HG_RUNTIME_STEP_H
#define HG_RUNTIME_STEP_H

#include "plan/steps/steps.h"
#include "runtime/run.h"

/* One action of an expansion, ready to be carried out. */
typedef struct hg_step_action {
    const hg_kernel *kernel; /* NULL: command */
    bool once;               /* not where the tables are made */
    hg_driver_launch launch;
    hg_driver_command command;
} hg_step_action;

/* An expansion with the memory and the launches of its actions: of a step, or of the one kernel
 * that does a chain of steps. */
typedef struct hg_bound_expansion {
    plan_expansion planned;  /* its actions, before memory is known */
    uint64_t operations;     /* of all its launches */
    const hg_range *ranges;  /* of its arrays */
    hg_range tables;         /* memory of its tables, */
    bool keeps_tables;       /* the binding's: they stay; */
    int tables_made;         /* a run that made them is over. Atomic */
    hg_arena memory;         /* of the actions */
    hg_step_action *actions; /* for these ranges */
    uint32_t action_count;
    hg_expansion **kernels; /* where kernels of chains are kept, */
    uint32_t most_kernels;  /* and how many there may be; 0: any number */
} hg_bound_expansion;

/* The arguments of a step as its call has them. */
typedef struct hg_bound_arguments {
    bool fixed;                  /* their values are the same in each run */
    uint64_t *words, *constants; /* the values; behind the words is room for new ones */
    uint32_t word_count;
    plan_operand *operands;
    plan_array *arrays;
} hg_bound_arguments;

/* Where the arrays of a call lie. */
typedef struct hg_bound_place {
    bool stays;       /* it is the same as long as the call is */
    hg_range *ranges; /* of the arrays; of one that is read from a copy: the copy */
    uint32_t aside_count;
    hg_driver_command *asides; /* the copies, */
    uint8_t *aside_arrays;     /* and of which arrays */
    hg_driver_step driver;     /* of a step that the driver does */
} hg_bound_place;

/* How much of a step is known: each state includes those before it. */
typedef enum hg_step_state {
    HG_STEP_UNKNOWN,  /* nothing, or its call has a problem */
    HG_STEP_CALLED,   /* its call */
    HG_STEP_EXPANDED, /* its expansion, where the driver does not do it. The arrays fit their memory
                       */
    HG_STEP_PLACED    /* where its arrays lie: running it is handing over what lies here */
} hg_step_state;

/* A step with what follows from the values it had last. */
typedef struct hg_bound_step {
    const plan_step *step;
    const plan_collective *collective; /* NULL: of pools; nothing else is used then */
    hg_step_state state;
    hg_bound_arguments args;
    plan_call call;
    uint32_t ranks;               /* that the call was made for; 0: one */
    plan_problem problem;         /* of the call */
    bool by_driver;               /* the driver does it, without an expansion */
    uint64_t scratch;             /* bytes that the driver or the expansion needs */
    uint64_t bytes;               /* moved, for profiles */
    hg_bound_expansion expansion; /* where not by_driver */
    hg_bound_place place;
    uint64_t charged; /* host memory of its actions, of the backend's budget */
    uint8_t came; /* how often, where it may be the first of a chain that is not there; up to 255 */
    struct hg_bound_chain *chain; /* of it and the steps behind it (chain.h); NULL: nobody looked */
} hg_bound_step;

/* steps.c: the steps of a binding, with what is known of them before any run; scratch memory for
 * them. */
hg_status hg_steps_bind(hg_binding *binding) HG_NODISCARD;
void hg_steps_unbind(hg_binding *binding);

/* Whether a binding is nothing but whole-array steps, one after another, on memory that stays, and
 * nobody need look at the time meanwhile. */
bool hg_steps_only(const hg_binding *binding);
/* The call of the arguments as they are now. A problem is left in s->problem. */
hg_status hg_step_call(const hg_binding *binding, hg_bound_step *s) HG_NODISCARD;

/* exchange.c: ranks of the context, of a step between them; of others 1. */
uint32_t hg_step_ranks(const hg_context *context, const hg_bound_step *s);
/* A step between more than one rank, which is placed. */
hg_status hg_exchange_begin(hg_run *run, hg_bound_step *s) HG_NODISCARD;

/* The command of a step that the driver does, which is placed. */
hg_driver_command hg_step_by_driver(hg_binding *binding, const hg_bound_step *s);
/* Its arrays are looked for again when it comes next. */
static inline void hg_step_unplace(hg_bound_step *s) {
    if (s->state == HG_STEP_PLACED) s->state = HG_STEP_EXPANDED;
}

/* The expansion of a call whose arrays fit; nothing where the driver does it. */
hg_status hg_step_expand(const hg_binding *binding, hg_bound_step *s) HG_NODISCARD;
/* The host's memory for so many actions is the budget's; 0: there are none any more. */
hg_status hg_step_charge(hg_backend *b, hg_bound_step *s, uint64_t actions) HG_NODISCARD;

/* step_memory.c: whether the arrays of a call lie in memory that the binding holds and are no
 * longer than that. */
bool hg_step_fits(const hg_binding *binding, const hg_bound_step *s);
/* Sets plan_array.constant of the call's arrays. */
void hg_step_find_constants(const hg_binding *binding, hg_bound_step *s);
/* Finds the arrays' memory: s->place. *scratch: bytes behind s->scratch that copies need; their
 * ranges are set by hg_step_set_aside. A fault is this thread's error. */
hg_status hg_step_find_memory(hg_run *run, hg_bound_step *s, uint64_t *scratch) HG_NODISCARD;
void hg_step_set_aside(hg_bound_step *s, hg_range scratch);
/* Imports may share host memory: where the host has both arenas, addresses decide. */
bool hg_step_overlap(const hg_backend *b, const hg_range *x, const hg_range *y, bool *same_start);
/* The fault of s->problem; of an array that is too large for any memory, as that of one that is too
 * large for its own. */
hg_status hg_step_refuse(hg_run *run, hg_bound_step *s) HG_NODISCARD;
hg_status hg_step_fault(hg_run *run, const plan_step *step, const plan_problem *problem,
                        uint64_t offset, uint64_t limit) HG_NODISCARD;

/* expand.c: the actions of an expansion, for its ranges and scratch memory. */
hg_status hg_expansion_prepare(hg_stream *stream, hg_bound_expansion *x,
                               hg_range scratch) HG_NODISCARD;
/* Adds them to the run's work. */
hg_status hg_expansion_run(hg_run *run, hg_bound_expansion *x) HG_NODISCARD;

#endif
