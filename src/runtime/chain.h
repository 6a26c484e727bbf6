/* Steps of a binding that are done as one kernel. Which can be is decided by plan/steps/chain.h,
 * when their memory is known; here they are described to it, and what it finds is made and carried
 * out.
 * Must not know: plan code, which steps go together. */
#ifndef HG_RUNTIME_CHAIN_H
#define HG_RUNTIME_CHAIN_H

#include "plan/steps/chain.h"
#include "runtime/execute_internal.h"
#include "runtime/step.h"

/* What is known of the steps from one on. */
typedef struct hg_chain_found {
    plan_chain chain;
    bool head;     /* there is an instruction among the maps whose library program does them, behind
                      chain.front of them */
    uint32_t made; /* with maps in front of the instruction: its array that they make */
    uint64_t n;    /* elements of the array behind the steps */
    bool stays;    /* as long as the binding lives */
    hg_range arrays[PLAN_CHAIN_ARRAYS];
} hg_chain_found;

/* What is done with the steps when the first of them comes. */
typedef enum hg_chain_state {
    HG_CHAIN_OPEN,  /* they are looked for */
    HG_CHAIN_WAITS, /* what does those of `found` is there, but for its native code; until then each
                       is done alone */
    HG_CHAIN_READY, /* what does those of `found` is there */
    HG_CHAIN_ALONE  /* the first is done alone, for good */
} hg_chain_state;

typedef struct hg_bound_chain {
    hg_chain_state state;
    bool headless;  /* no instruction does the maps, for good */
    uint64_t bytes; /* moved, for profiles */
    hg_chain_found found;
    hg_bound_expansion joined;                       /* all of them as one kernel */
    hg_range ranges[PLAN_FUSED + PLAN_CHAIN_ARRAYS]; /* with a head: of its arrays, and of the
                                                        chain's from PLAN_FUSED on */
} hg_bound_chain;

/* Does the step and those behind it that can be done with it. *done: how many; 0: none, and nothing
 * happened. */
hg_status hg_chain_run(hg_run *run, const plan_step *step, uint32_t *done) HG_NODISCARD;
/* What there is to make ready of a step and those behind it that are done with it. */
typedef enum hg_chain_answer {
    HG_CHAIN_NONE,    /* nothing: the step is done alone */
    HG_CHAIN_NOT_NOW, /* nobody knows yet, or native code is being made */
    HG_CHAIN_NEVER,   /* it is not the same in each launch */
    HG_CHAIN_ADDED    /* the commands, of *done steps */
} hg_chain_answer;
hg_chain_answer hg_chain_ready(hg_binding *binding, uint32_t step, hg_command_list *list,
                               uint32_t *done);

#endif
