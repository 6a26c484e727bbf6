/* all_reduce, all_gather, reduce_scatter, broadcast: between the ranks of a communicator, which the
 * list of devices names; without one there is one rank, 0, and they are copies or nothing. */
#include "plan/steps/rows.h"

static uint32_t ranks_of(const plan_call *call) { return call->ranks ? call->ranks : 1; }

/* Ranks that take part: all where none is named. */
static uint32_t members_of(const plan_call *call) {
    uint32_t named = call->operands[plan_operand_named(call, "devices")].count;
    return named ? named : ranks_of(call);
}

static bool is_member(const plan_call *call, uint64_t rank) {
    uint32_t devices = plan_operand_named(call, "devices"), count = call->operands[devices].count;
    for (uint32_t i = 0; i < count; i++)
        if (plan_number(call, devices, i) == rank) return true;
    return count == 0 && rank < ranks_of(call);
}

static void check(const plan_call *call, plan_problem *problem) {
    uint32_t devices = plan_operand_named(call, "devices"), count = call->operands[devices].count;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t rank = plan_number(call, devices, i);
        uint32_t first = 0;
        while (plan_number(call, devices, first) != rank) first++;
        if (rank >= ranks_of(call) || first < i)
            plan_refuse(call, problem, KIR_FAULT_DOMAIN, devices, "Backend not available: %llu%s",
                        (unsigned long long)rank, first < i ? ", a second time" : "");
    }
}

static void check_root(const plan_call *call, plan_problem *problem) {
    uint32_t root = plan_operand_named(call, "root");
    check(call, problem);
    if (!is_member(call, plan_number(call, root, 0)))
        plan_refuse(call, problem, KIR_FAULT_DOMAIN, root, "Backend not available: %llu",
                    (unsigned long long)plan_number(call, root, 0));
}

static void give_shape(plan_call *call, uint32_t array, uint64_t times) {
    plan_array_shape(&call->arrays[array], 1,
                     (uint64_t[]){plan_times(plan_named(call, "n"), times)});
}

static void in_place(plan_call *call) { give_shape(call, 0, 1); }

static void gathered(plan_call *call) {
    uint32_t members = members_of(call);
    call->arrays[0].open = members == PLAN_ANY_RANKS;
    give_shape(call, 0, members == PLAN_ANY_RANKS ? 1 : members);
    give_shape(call, 1, 1);
}

static void scattered(plan_call *call) {
    uint32_t members = members_of(call);
    give_shape(call, 0, 1);
    give_shape(call, 1, members == PLAN_ANY_RANKS ? 1 : members);
}

static void stay(const plan_call *call, plan_expansion *x) {
    (void)call;
    (void)x; /* what one device has is the result */
}

static void copy(const plan_call *call, plan_expansion *x) {
    if (plan_named(call, "n") && ranks_of(call) == 1)
        plan_expand_copy(x, plan_part_named(call, "output"), plan_part_named(call, "input"));
}

static plan_cost cost(const plan_call *call) {
    return (plan_cost){plan_call_bytes(call), plan_named(call, "n")};
}

const plan_collective plan_collective_all_reduce = {.check = check,
                                                    .ranges = in_place,
                                                    .expand = stay,
                                                    .cost = cost,
                                                    .overlap = PLAN_OVERLAP_ANY,
                                                    .exchange = PLAN_ALL_REDUCE};
const plan_collective plan_collective_all_gather = {.check = check,
                                                    .ranges = gathered,
                                                    .expand = copy,
                                                    .cost = cost,
                                                    .overlap = PLAN_OVERLAP_NEVER,
                                                    .exchange = PLAN_ALL_GATHER};
const plan_collective plan_collective_reduce_scatter = {.check = check,
                                                        .ranges = scattered,
                                                        .expand = copy,
                                                        .cost = cost,
                                                        .overlap = PLAN_OVERLAP_NEVER,
                                                        .exchange = PLAN_REDUCE_SCATTER};
const plan_collective plan_collective_broadcast = {.check = check_root,
                                                   .ranges = in_place,
                                                   .expand = stay,
                                                   .cost = cost,
                                                   .overlap = PLAN_OVERLAP_ANY,
                                                   .exchange = PLAN_BROADCAST};
