/* kv_cache_update: new places of a cache whose first extent is the position. */
#include "plan/steps/rows.h"

static void check(const plan_call *call, plan_problem *problem) {
    uint64_t end;
    if (!hg_add_u64(plan_named(call, "position"), plan_named(call, "seq_len"), &end))
        plan_refuse(call, problem, KIR_FAULT_DOMAIN, plan_operand_named(call, "position"),
                    "%llu, less than 2^64 - seq_len expected",
                    (unsigned long long)plan_named(call, "position"));
}

static void shape(const plan_call *call, const char *name, uint64_t places) {
    plan_array_shape(plan_array_of(call, plan_operand_named(call, name)), 4,
                     (const uint64_t[]){places, plan_named(call, "batch"),
                                        plan_named(call, "heads"), plan_named(call, "head_dim")});
}

static void ranges(plan_call *call) {
    uint64_t places = plan_named(call, "seq_len");
    shape(call, "cache", places ? plan_named(call, "position") + places : 0);
    shape(call, "new_kv", places);
}

static void expand(const plan_call *call, plan_expansion *x) {
    plan_part to = plan_part_named(call, "cache"), from = plan_part_named(call, "new_kv");
    if (from.bytes == 0) return;
    to.offset = to.bytes - from.bytes;
    to.bytes = from.bytes;
    plan_expand_copy(x, to, from);
}

static plan_cost cost(const plan_call *call) {
    uint64_t bytes = plan_part_named(call, "new_kv").bytes;
    return (plan_cost){plan_times(bytes, 2), bytes / hg_type_size_bytes((hg_type)call->type)};
}

const plan_collective plan_collective_kv_cache = {.check = check,
                                                  .ranges = ranges,
                                                  .expand = expand,
                                                  .cost = cost,
                                                  .overlap = PLAN_OVERLAP_NEVER};
