/* The table of collectives. */
#include "plan/steps/steps.h"

static const plan_collective *const COLLECTIVES[HG_OP_COUNT] = {
#define PLAN_COLLECTIVE(id, name) [HG_OP_##id] = &plan_collective_##name,
#include "plan/steps/steps.def"
#undef PLAN_COLLECTIVE
};

const plan_collective *plan_collective_of(hg_op op) {
    return op < HG_OP_COUNT ? COLLECTIVES[op] : NULL;
}
