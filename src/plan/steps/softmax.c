/* softmax, log_softmax: the library program rows.atlas, softmax. */
#include "plan/steps/rows.h"

static void ranges(plan_call *call) {
    plan_rows rows = plan_named_rows(call);
    plan_shape_rows(call, "output", &rows);
    plan_shape_rows(call, "input", &rows);
}

enum { SHORT_ROW = 256, TOGETHER = 4, LANES = 32 };

static void expand(const plan_call *call, plan_expansion *x) {
    plan_rows rows = plan_named_rows(call);
    hg_type type = (hg_type)call->type, sum = library_sum_type(type);
    uint64_t size = hg_type_size_bytes(sum);
    plan_expand_rows(
        x, &(plan_row_program){.id = LIBRARY_ROWS_SOFTMAX,
                               .type = type,
                               .fn = HG_OP_MOV,
                               .rows = rows,
                               .lanes = LANES,
                               .at_once = rows.n <= SHORT_ROW && !x->rolled ? TOGETHER : 1,
                               .shared_bytes = 80 * size,
                               .constants = (int32_t[]){(int32_t)size, x->rolled, type == sum,
                                                        call->op == HG_OP_LOG_SOFTMAX},
                               .constant_count = 4,
                               .parts = (plan_part[]){plan_part_named(call, "input"),
                                                      plan_part_named(call, "output")},
                               .part_count = 2,
                               .values = (uint64_t[]){rows.n, rows.stride},
                               .value_count = 2});
}

/* The largest, a difference, e^x, a sum, a product. */
static plan_cost cost(const plan_call *call) {
    plan_rows rows = plan_named_rows(call);
    return (plan_cost){plan_call_bytes(call),
                       plan_times(plan_times(rows.count, plan_times(rows.n, rows.inner)), 5)};
}

const plan_collective plan_collective_softmax = {.check = plan_check_row_stride,
                                                 .ranges = ranges,
                                                 .expand = expand,
                                                 .cost = cost,
                                                 .overlap = PLAN_OVERLAP_SAME,
                                                 .fuses = true,
                                                 .loads = true};
