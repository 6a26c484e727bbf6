/* arg_max, arg_min: the library programs of arg.atlas. */
#include "plan/steps/lines.h"

enum { SHORT_LINE = 64, LANES = LIBRARY_LINE_LANES, COLUMN_LANES = 64 };

static void check(const plan_call *call, plan_problem *problem) {
    if (plan_named(call, "n") == 0 && plan_named(call, "outer") && plan_named(call, "inner"))
        plan_refuse(call, problem, KIR_FAULT_DOMAIN, plan_operand_named(call, "n"),
                    "0, at least 1 expected: no element is the largest of none");
}

static void ranges(plan_call *call) {
    plan_lines lines = plan_named_lines(call);
    plan_array *output = plan_array_of(call, plan_operand_named(call, "output"));
    plan_shape_lines(call, "input", &lines);
    output->type = HG_TYPE_I64;
    plan_array_shape(output, 2, (const uint64_t[]){lines.outer, lines.inner});
}

static void expand(const plan_call *call, plan_expansion *x) {
    plan_lines lines = plan_named_lines(call);
    hg_type type = (hg_type)call->type;
    hg_type left = library_left_type(library_sum_type(type));
    uint64_t size = hg_type_size_bytes(left);
    int32_t least = call->op == HG_OP_ARG_MIN, is_float = hg_type_is_float(type);
    plan_part parts[2] = {plan_part_named(call, "input"), plan_part_named(call, "output")};
    if (plan_lines_are_none(&lines)) return;
    if (lines.inner == 1 && lines.n > SHORT_LINE && lines.n <= UINT32_MAX && size <= 8) {
        uint64_t each = library_lines_of_block(lines.outer, plan_tile(x, LIBRARY_TILE_LINE_CHUNKS));
        plan_kernel_key key = plan_library_key(
            LIBRARY_ARG_ROWS, type, HG_OP_MOV,
            (int32_t[]){(int32_t)left, least, is_float, (int32_t)size, LANES, (int32_t)each}, 2, 2);
        plan_expand_grid(x, &key, (uint64_t[]){(lines.outer - 1) / each + 1, 1, 1},
                         (uint32_t[]){LANES, 1, 1}, 12 * LANES * each, parts,
                         (uint64_t[]){lines.n, lines.outer});
        return;
    }
    uint64_t lanes = lines.outer * lines.inner;
    plan_kernel_key key = plan_library_key(LIBRARY_ARG_COLUMNS, type, HG_OP_MOV,
                                           (int32_t[]){least, is_float}, 2, 3);
    plan_expand_launch(x, &key, lanes, lanes < COLUMN_LANES ? (uint32_t)lanes : COLUMN_LANES, 0,
                       parts, (uint64_t[]){lines.n, lines.inner, lanes});
}

static plan_cost cost(const plan_call *call) {
    uint64_t bytes = plan_part_named(call, "input").bytes;
    return (plan_cost){plan_call_bytes(call), bytes / hg_type_size_bytes((hg_type)call->type)};
}

const plan_collective plan_collective_arg = {.check = check,
                                             .ranges = ranges,
                                             .expand = expand,
                                             .cost = cost,
                                             .overlap = PLAN_OVERLAP_NEVER};
