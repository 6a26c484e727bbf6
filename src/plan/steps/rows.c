#include "plan/steps/rows.h"
#include "plan/steps/chain.h"
#include <string.h>

/* ---- shapes ---- */

plan_rows plan_named_rows(const plan_call *call) {
    uint64_t n = plan_named(call, "n"), inner = plan_named(call, "inner");
    return (plan_rows){
        .count = plan_named(call, "rows"),
        .n = n,
        .stride = plan_row_stride(call, plan_operand_named(call, "ld"), plan_times(n, inner)),
        .inner = inner};
}

void plan_check_row_stride(const plan_call *call, plan_problem *problem) {
    plan_check_row(call, problem, plan_operand_named(call, "ld"),
                   plan_times(plan_named(call, "n"), plan_named(call, "inner")));
}

void plan_shape_rows(const plan_call *call, const char *name, const plan_rows *rows) {
    plan_array_strides(plan_array_of(call, plan_operand_named(call, name)),
                       rows->inner == 1 ? 2 : 3,
                       (const uint64_t[]){rows->count, rows->n, rows->inner},
                       (const int64_t[]){plan_stride(rows->stride), plan_stride(rows->inner), 1});
}

void plan_shape_line(const plan_call *call, const char *name, uint64_t count) {
    plan_array_shape(plan_array_of(call, plan_operand_named(call, name)), 1, &count);
}

/* ---- launches ---- */

enum { ENOUGH_BLOCKS = 256, MOST_ROWS = 64, MOST_VALUES = 16, MOST_PARTS = 6 };
enum { ALONE_LANES = 64, FEW_ALONE_LANES = 16, MOST_DEPTH = 7 };

/* own: W, R, ALONE, DEPTH; numbers: the first three values. */
static void launch(plan_expansion *x, const plan_row_program *p, const int32_t own[4],
                   const uint64_t numbers[3], uint64_t blocks, uint64_t shared_bytes) {
    int32_t constants[LIBRARY_MOST_CONSTANTS];
    plan_part parts[MOST_PARTS + PLAN_CHAIN_ARRAYS];
    uint64_t values[MOST_VALUES];
    memcpy(constants, p->constants, p->constant_count * sizeof *constants);
    memcpy(constants + p->constant_count, own, 4 * sizeof *own);
    memcpy(values, numbers, 3 * sizeof *values);
    memcpy(values + 3, p->values, p->value_count * sizeof *values);
    plan_kernel_key key = plan_library_key(p->id, p->type, p->fn, constants, (uint8_t)p->part_count,
                                           (uint8_t)(p->value_count + 3));
    memcpy(parts, p->parts, p->part_count * sizeof *parts);
    plan_fuse(x, &key, parts, PLAN_IN_FRONT | PLAN_BEHIND);
    plan_expand_grid(x, &key, (uint64_t[]){blocks, 1, 1}, (uint32_t[]){(uint32_t)own[0], 1, 1},
                     shared_bytes, parts, values);
}

/* The least d with 2^d >= n, at most 7. More levels change no bits: a text whose rows are as long
 * as a call says has kernels of a few. */
static int32_t depth_of(const plan_expansion *x, uint64_t n) {
    int32_t depth = x->open;
    while (depth < MOST_DEPTH && UINT64_C(1) << depth < n) depth += x->open ? 3 : 1;
    return depth;
}

/* A lane for each row. */
static void expand_alone(plan_expansion *x, const plan_row_program *p) {
    const plan_rows *rows = &p->rows;
    uint64_t count = plan_times(rows->count, rows->inner), inner = rows->inner;
    bool neighbours = inner >= FEW_ALONE_LANES;
    uint32_t lanes = neighbours && inner < ALONE_LANES ? FEW_ALONE_LANES : ALONE_LANES;
    uint64_t blocks = (inner - 1) / lanes + 1;
    launch(x, p, (const int32_t[]){(int32_t)lanes, 1, neighbours ? 2 : 1, depth_of(x, rows->n)},
           (const uint64_t[]){inner, blocks, count},
           neighbours ? plan_times(rows->count, blocks) : (count - 1) / lanes + 1, 0);
}

static void expand_some(plan_expansion *x, const plan_row_program *p, uint64_t first, uint64_t end,
                        uint32_t at_once) {
    uint64_t least = plan_tile(x, LIBRARY_TILE_ROWS_ELEMENTS) / p->rows.n,
             step = (end - first) / ENOUGH_BLOCKS;
    if (first == end) return;
    step = step > MOST_ROWS ? MOST_ROWS : step < least ? least : step;
    step = step < at_once ? at_once : step / at_once * at_once;
    launch(x, p, (const int32_t[]){(int32_t)p->lanes, (int32_t)at_once, 0, MOST_DEPTH},
           (const uint64_t[]){first, end, step}, (end - first - 1) / step + 1,
           p->shared_bytes * at_once);
}

void plan_expand_rows(plan_expansion *x, const plan_row_program *p) {
    uint64_t count = p->rows.count, together = count / p->at_once * p->at_once;
    if (count == 0 || p->rows.n == 0 || p->rows.inner == 0) return;
    if (p->rows.inner > 1) {
        expand_alone(x, p);
        return;
    }
    expand_some(x, p, 0, together, p->at_once);
    expand_some(x, p, together, count, 1);
}
