/* What the collectives over arrays of indices share: the check of indices before anything is read
 * or written at them.
 * Must not know: launches. */
#ifndef HG_PLAN_INDICES_H
#define HG_PLAN_INDICES_H

#include "plan/steps/steps.h"

/* Looks at `count` indices, a block at `step` of them. The first that is wrong is the
 * instruction's fault, and sets the u32 `bad` to 1, at which the launches behind it end. */
enum { PLAN_INDEX_ARRAY, PLAN_INDEX_BAD, PLAN_INDEX_ARRAYS };
enum { PLAN_INDEX_COUNT, PLAN_INDEX_LIMIT, PLAN_INDEX_STEP, PLAN_INDEX_NUMBERS };
/* choice: */
enum {
    PLAN_INDEX_WIDE = 1,    /* i64 in place of u32 */
    PLAN_INDEX_OFFSETS = 2, /* element i + 1 is not below element i, nor above the limit; else each
                               is below the limit, of i64 from -limit on */
    PLAN_INDEX_OPERAND = 4  /* times the operand's number, from 0 */
};
enum { PLAN_INDEX_LANES = 32 };
kir_module *plan_index_check(const plan_kernel_key *key);

#endif
