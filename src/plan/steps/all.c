/* all_reduce and all_gather: between devices. A program runs on one, so the list names that one, 0,
 * or nobody. */
#include "plan/steps/rows.h"

static void check(const plan_call *call, plan_problem *problem) {
    uint32_t devices = plan_operand_named(call, "devices"), count = call->operands[devices].count;
    for (uint32_t i = 0; i < count; i++)
        if (plan_number(call, devices, i) || i) {
            plan_refuse(call, problem, KIR_FAULT_DOMAIN, devices, "Backend not available: %llu%s",
                        (unsigned long long)plan_number(call, devices, i),
                        plan_number(call, devices, i) ? "" : ", a second time");
            return;
        }
}

static void ranges(plan_call *call) {
    for (uint32_t i = 0; i < call->array_count; i++)
        plan_array_shape(&call->arrays[i], 1, (uint64_t[]){plan_named(call, "n")});
}

static void reduce(const plan_call *call, plan_expansion *x) {
    (void)call;
    (void)x; /* what one device has is the result */
}

static void gather(const plan_call *call, plan_expansion *x) {
    if (plan_named(call, "n"))
        plan_expand_copy(x, plan_part_named(call, "output"), plan_part_named(call, "input"));
}

static plan_cost cost(const plan_call *call) {
    return (plan_cost){plan_call_bytes(call), plan_named(call, "n")};
}

const plan_collective plan_collective_all_reduce = {
    .check = check, .ranges = ranges, .expand = reduce, .cost = cost, .overlap = PLAN_OVERLAP_ANY};
const plan_collective plan_collective_all_gather = {.check = check,
                                                    .ranges = ranges,
                                                    .expand = gather,
                                                    .cost = cost,
                                                    .overlap = PLAN_OVERLAP_NEVER};
