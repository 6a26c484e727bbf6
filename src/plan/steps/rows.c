#include "plan/steps/rows.h"
#include "plan/steps/chain.h"
#include <string.h>

/* ---- shapes ---- */

plan_rows plan_named_rows(const plan_call *call) {
    uint64_t n = plan_named(call, "n");
    return (plan_rows){.count = plan_named(call, "rows"),
                       .n = n,
                       .stride = plan_row_stride(call, plan_operand_named(call, "ld"), n)};
}

void plan_check_row_stride(const plan_call *call, plan_problem *problem) {
    plan_check_row(call, problem, plan_operand_named(call, "ld"), plan_named(call, "n"));
}

void plan_shape_rows(const plan_call *call, const char *name, const plan_rows *rows) {
    plan_array_strides(plan_array_of(call, plan_operand_named(call, name)), 2,
                       (const uint64_t[]){rows->count, rows->n},
                       (const int64_t[]){plan_stride(rows->stride), 1});
}

void plan_shape_line(const plan_call *call, const char *name, uint64_t count) {
    plan_array_shape(plan_array_of(call, plan_operand_named(call, name)), 1, &count);
}

/* ---- launches ---- */

enum { ENOUGH_BLOCKS = 256, MOST_ROWS = 64, MOST_VALUES = 16, MOST_PARTS = 4 };

static void expand_some(plan_expansion *x, const plan_row_program *p, uint64_t first, uint64_t end,
                        uint32_t at_once) {
    int32_t constants[LIBRARY_MOST_CONSTANTS];
    plan_part parts[MOST_PARTS + PLAN_CHAIN_ARRAYS];
    uint64_t values[MOST_VALUES], least = plan_tile(x, LIBRARY_TILE_ROWS_ELEMENTS) / p->values[0],
                                  step = (end - first) / ENOUGH_BLOCKS;
    if (first == end) return;
    step = step > MOST_ROWS ? MOST_ROWS : step < least ? least : step;
    step = step < at_once ? at_once : step / at_once * at_once;
    memcpy(constants, p->constants, p->constant_count * sizeof *constants);
    constants[p->constant_count] = (int32_t)p->lanes;
    constants[p->constant_count + 1] = (int32_t)at_once;
    values[0] = first;
    values[1] = end;
    values[2] = step;
    memcpy(values + 3, p->values, p->value_count * sizeof *values);
    plan_kernel_key key = plan_library_key(p->id, p->type, p->fn, constants, (uint8_t)p->part_count,
                                           (uint8_t)(p->value_count + 3));
    memcpy(parts, p->parts, p->part_count * sizeof *parts);
    plan_fuse(x, &key, parts, PLAN_IN_FRONT | PLAN_BEHIND);
    plan_expand_grid(x, &key, (uint64_t[]){(end - first - 1) / step + 1, 1, 1},
                     (uint32_t[]){p->lanes, 1, 1}, p->shared_bytes * at_once, parts, values);
}

void plan_expand_rows(plan_expansion *x, const plan_row_program *p) {
    uint64_t together = p->rows / p->at_once * p->at_once;
    expand_some(x, p, 0, together, p->at_once);
    expand_some(x, p, together, p->rows, 1);
}
