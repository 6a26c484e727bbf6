/* Whole-array instructions ("collectives"): what each reads and writes, which shapes it takes, and
 * what it is as launches of lane kernels. Who runs a step makes a call of its values, finds memory
 * for the call's arrays, and hands the call to a driver that does it itself or carries out its
 * expansion.
 * Must not know: drivers, where memory lies. */
#ifndef HG_PLAN_STEPS_H
#define HG_PLAN_STEPS_H

#include "plan/plan.h"
#include "plan/steps/expansion.h"

/* ---- steps as calls ---- */

/* How many words the arguments of a step are. */
uint32_t plan_step_words(const hg_plan *plan, const plan_step *step);
/* The call of a step. words: the arguments' values in order. constants: room for the row's
 * operand_count words; operands, arrays: the same. A problem is left in *problem. */
void plan_call_make(const hg_plan *plan, const plan_step *step, const uint64_t *words,
                    uint64_t *constants, plan_operand *operands, plan_array *arrays, uint32_t ranks,
                    plan_call *call, plan_problem *problem);

/* ---- expansions ---- */

bool plan_kernel_key_equal(const plan_kernel_key *x, const plan_kernel_key *y);
bool plan_key_is_library(const plan_kernel_key *key);
void plan_expansion_clear(plan_expansion *x); /* keeps what it has allocated and what is of the
                                                 device */
void plan_expansion_free(plan_expansion *x);

/* A step's expansion where most of its values are not known: numbers that the program does not say
 * are all the same, large enough that a tree has several levels, or 1 where that is no shape. Its
 * kernels are those that the step has. A problem: neither is one. */
hg_status plan_expand_example(const hg_plan *plan, const plan_step *step, plan_expansion *x,
                              plan_problem *problem) HG_NODISCARD;

#endif
