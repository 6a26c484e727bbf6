/* rope: the library programs rope.atlas: a table of the angles' cosines and sines, and the turns.
 */
#include "plan/steps/rows.h"

static void check(const plan_call *call, plan_problem *problem) {
    uint64_t size = plan_named(call, "head_dim"), last;
    if (size % 2)
        plan_refuse(call, problem, KIR_FAULT_DOMAIN, plan_operand_named(call, "head_dim"),
                    "%llu, an even number expected", (unsigned long long)size);
    if (!hg_add_u64(plan_named(call, "position"), plan_named(call, "seq_len"), &last))
        plan_refuse(call, problem, KIR_FAULT_DOMAIN, plan_operand_named(call, "position"),
                    "%llu, less than 2^64 - seq_len expected",
                    (unsigned long long)plan_named(call, "position"));
}

static void ranges(plan_call *call) {
    const uint64_t extents[] = {plan_named(call, "batch"), plan_named(call, "seq_len"),
                                plan_named(call, "heads"), plan_named(call, "head_dim")};
    plan_array_shape(plan_array_of(call, plan_operand_named(call, "output")), 4, extents);
    plan_array_shape(plan_array_of(call, plan_operand_named(call, "input")), 4, extents);
    plan_shape_line(call, "freqs", extents[3] / 2);
}

enum { BLOCK = 32, ANGLES = 1024, ELEMENTS = 8192 };

static void expand(const plan_call *call, plan_expansion *x) {
    uint64_t places = plan_named(call, "seq_len"), heads = plan_named(call, "heads"),
             half = plan_named(call, "head_dim") / 2, batch = plan_named(call, "batch");
    hg_type type = (hg_type)call->type;
    if (places == 0 || batch == 0 || heads == 0 || half == 0) return;
    uint64_t size = hg_type_size_bytes(library_sum_type(type)),
             step = half > ANGLES ? 1 : ANGLES / half;
    plan_part table = plan_scratch(x, plan_times(plan_times(places, half), 2), size);
    plan_kernel_key angles = plan_library_key(LIBRARY_ROPE_ANGLES, type, HG_OP_MOV,
                                              (int32_t[]){(int32_t)size}, 2, 4);
    plan_expand_grid(x, &angles, (uint64_t[]){(places - 1) / step + 1, 1, 1},
                     (uint32_t[]){BLOCK, 1, 1}, 0,
                     (plan_part[]){plan_part_named(call, "freqs"), table},
                     (uint64_t[]){places, half, plan_named(call, "position"), step});
    plan_kernel_key turn = plan_library_key(LIBRARY_ROPE_TURN, type, HG_OP_MOV,
                                            (int32_t[]){plan_named(call, "halves") != 0}, 3, 4);
    uint64_t of_place = plan_times(plan_times(heads, half), 2);
    step = of_place > ELEMENTS ? 1 : ELEMENTS / of_place;
    plan_expand_grid(
        x, &turn, (uint64_t[]){(places - 1) / step + 1, batch, 1}, (uint32_t[]){BLOCK, 1, 1}, 0,
        (plan_part[]){plan_part_named(call, "input"), table, plan_part_named(call, "output")},
        (uint64_t[]){step, places, heads, half});
}

/* Two products and two fmas a pair. */
static plan_cost cost(const plan_call *call) {
    return (plan_cost){
        plan_call_bytes(call),
        plan_times(plan_call_bytes(call) / hg_type_size_bytes((hg_type)call->type), 2)};
}

const plan_collective plan_collective_rope = {
    .check = check, .ranges = ranges, .expand = expand, .cost = cost, .overlap = PLAN_OVERLAP_SAME};
