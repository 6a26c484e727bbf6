/* parallel_reduce, reduce.add and their like over an array: the fold of its elements by the fixed
 * tree, a launch a level. The result is a register or an element in memory: the call's first array.
 */
#include "kir/define/define.h"
#include "plan/steps/tree.h"

static void ranges(plan_call *call) {
    uint32_t count = hg_op_get((hg_op)call->op)->operand_count - 1u;
    plan_array_shape(&call->arrays[1], 1, &call->operands[count].words[0]);
}

static uint64_t chunks_of(uint64_t n) { return (n - 1) / PLAN_CHUNK + 1; }

/* What changes nothing is the fold of nothing. */
static void expand_nothing(const plan_call *call, plan_expansion *x) {
    uint8_t identity[512];
    kir_identity((hg_op)call->fn, (hg_type)call->type, identity);
    plan_expand_write(x, plan_whole(call, 0), identity);
}

static void expand(const plan_call *call, plan_expansion *x) {
    hg_type type = (hg_type)call->type;
    uint64_t n = call->arrays[1].extents[0], element = plan_reduce_element(type);
    bool wide = plan_reduce_in_memory(type), half = kir_is_half(type), first = true, last;
    if (n == 0) {
        expand_nothing(call, x);
        return;
    }
    if (chunks_of(n) > UINT32_MAX) { /* a chunk is a block, by its number in x */
        x->failed = true;
        return;
    }
    plan_part parts[3] = {plan_whole(call, 1)}, work = {0};
    if (wide) work = plan_scratch(x, chunks_of(n), PLAN_ACCUMULATORS * element);
    do {
        uint64_t chunks = chunks_of(n);
        last = chunks == 1;
        parts[1] = last ? plan_whole(call, 0) : plan_scratch(x, chunks, element);
        parts[2] = work;
        if (wide) parts[2].bytes = chunks * PLAN_ACCUMULATORS * element;
        plan_kernel_key key = {.make = plan_reduce_kernel,
                               .fn = call->fn,
                               .type = call->type,
                               .arrays = wide ? 3 : 2,
                               .values = 1};
        if (half)
            key.choice = (first ? (uint32_t)PLAN_REDUCE_FIRST : 0) |
                         (last ? (uint32_t)PLAN_REDUCE_LAST : 0);
        plan_expand_launch(x, &key, chunks * PLAN_ACCUMULATORS, PLAN_ACCUMULATORS,
                           plan_reduce_shared(type), parts, &n);
        parts[0] = parts[1];
        n = chunks;
        first = false;
    } while (!last);
}

static plan_cost cost(const plan_call *call) {
    return (plan_cost){plan_call_bytes(call), call->arrays[1].extents[0]};
}

const plan_collective plan_collective_reduce = {
    .ranges = ranges, .expand = expand, .cost = cost, .overlap = PLAN_OVERLAP_ANY};
