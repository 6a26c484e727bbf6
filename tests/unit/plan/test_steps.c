/* Collectives as data: the table is whole, shapes give ranges, the tree of reductions as launches.
 */
#include "plan/steps/tree.h"
#include "test.h"
#include <string.h>

static void table(void) {
    for (int op = 0; op < HG_OP_COUNT; op++) {
        uint32_t flags = hg_op_get((hg_op)op)->flags;
        bool whole_array = (flags & HG_F_COLLECTIVE) && !(flags & HG_F_POOL) &&
                           op != HG_OP_BAR_GRID && !hg_op_asks_all((uint16_t)op);
        CHECK_MESSAGE(whole_array == (plan_collective_of((hg_op)op) != NULL), "%s and steps.def",
                      hg_op_get((hg_op)op)->id);
    }
}

/* ---- shapes ---- */

static bool span(uint8_t rank, const uint64_t *extents, const int64_t *strides, plan_array *a) {
    *a = (plan_array){.type = HG_TYPE_F32};
    plan_array_strides(a, rank, extents, strides);
    return plan_array_span(a);
}

static void shapes(void) {
    plan_array a;
    CHECK(span(0, NULL, NULL, &a) && a.bytes == 4 && a.before == 0);
    CHECK(span(2, (uint64_t[]){3, 5}, (int64_t[]){10, 1}, &a) && a.bytes == 4 * (20 + 5) &&
          a.before == 0);
    CHECK(span(2, (uint64_t[]){3, 5}, (int64_t[]){-10, 1}, &a) && a.bytes == 4 * (20 + 5) &&
          a.before == 80);
    CHECK(span(2, (uint64_t[]){3, 5}, (int64_t[]){1, 3}, &a) && a.bytes == 4 * 15 &&
          a.strides[1] == 12);
    CHECK(span(2, (uint64_t[]){3, 0}, (int64_t[]){INT64_MAX, 1}, &a) && a.bytes == 0);
    CHECK(span(2, (uint64_t[]){1, 5}, (int64_t[]){INT64_MAX, 1}, &a) && a.bytes == 20);
    CHECK(!span(2, (uint64_t[]){2, 5}, (int64_t[]){INT64_MAX, 1}, &a));
    CHECK(!span(2, (uint64_t[]){3, 5}, (int64_t[]){INT64_MIN, 1}, &a));
    CHECK(!span(1, (uint64_t[]){UINT64_MAX}, (int64_t[]){1}, &a));
    a = (plan_array){.type = HG_TYPE_F32};
    plan_array_shape(&a, 2, (uint64_t[]){3, 5});
    CHECK(plan_array_span(&a) && a.bytes == 60 && a.strides[0] == 20 && a.strides[1] == 4);
    plan_array_shape(&a, 2, (uint64_t[]){0, UINT64_MAX});
    CHECK(plan_array_span(&a) && a.bytes == 0);
    plan_array_shape(&a, 2, (uint64_t[]){2, UINT64_MAX});
    CHECK(!plan_array_span(&a));
}

/* ---- the tree ---- */

typedef struct reduction {
    uint64_t count;
    plan_operand operands[4];
    plan_array arrays[2];
    plan_call call;
    plan_expansion x;
} reduction;

static void reduce(reduction *r, hg_type type, uint64_t count) {
    memset(r, 0, sizeof *r);
    r->count = count;
    r->operands[3] = (plan_operand){&r->count, 1};
    r->arrays[0] = (plan_array){.operand = 0, .type = (uint8_t)type, .written = true};
    r->arrays[1] = (plan_array){.operand = 1, .type = (uint8_t)type, .read = true};
    r->call = (plan_call){.op = HG_OP_PARALLEL_REDUCE,
                          .fn = HG_OP_ADD,
                          .type = (uint8_t)type,
                          .operands = r->operands,
                          .arrays = r->arrays,
                          .array_count = 2};
    plan_collective_reduce.ranges(&r->call);
    CHECK(plan_array_span(&r->arrays[0]) && plan_array_span(&r->arrays[1]));
    plan_collective_reduce.expand(&r->call, &r->x);
}

static void check_level(const reduction *r, uint32_t level, uint64_t elements, uint32_t choice) {
    const plan_action *a = &r->x.actions.data[level];
    CHECK_U64(a->kind, PLAN_LAUNCH);
    CHECK_U64(r->x.values.data[a->first_value], elements);
    CHECK_U64(a->grid[0], (elements - 1) / PLAN_CHUNK + 1);
    CHECK_U64(a->lanes, (uint64_t)a->grid[0] * PLAN_ACCUMULATORS);
    CHECK_U64(a->key.choice, choice);
    const plan_part *parts = &r->x.parts.data[a->first_part];
    bool last = level + 1 == r->x.actions.count;
    CHECK(level == 0 ? parts[0].array == 1 : parts[0].array == (uint32_t)PLAN_IN_SCRATCH);
    CHECK(last ? parts[1].array == 0 : parts[1].array == (uint32_t)PLAN_IN_SCRATCH);
    if (!last)
        CHECK(memcmp(&parts[1], &r->x.parts.data[r->x.actions.data[level + 1].first_part],
                     sizeof *parts) == 0);
}

static void levels(void) {
    static const uint64_t counts[] = {1, 4096, 4097, UINT64_C(4096) * 4096 + 1};
    reduction r;
    for (uint32_t i = 0; i < HG_COUNT_OF(counts); i++) {
        uint32_t expected = i < 2 ? 1 : i;
        uint64_t n = counts[i];
        reduce(&r, HG_TYPE_F32, n);
        CHECK_U64(r.x.actions.count, expected);
        CHECK_U64(plan_collective_reduce.cost(&r.call).operations, n);
        CHECK_U64(plan_collective_reduce.cost(&r.call).bytes, 4 * n + 4);
        for (uint32_t level = 0; level < r.x.actions.count; level++, n = (n - 1) / PLAN_CHUNK + 1)
            check_level(&r, level, n, 0);
        CHECK((r.x.scratch == 0) == (expected == 1));
        plan_expansion_free(&r.x);
    }
    reduce(&r, HG_TYPE_F16, counts[3]);
    check_level(&r, 0, counts[3], PLAN_REDUCE_FIRST);
    check_level(&r, 1, 4097, 0);
    check_level(&r, 2, 2, PLAN_REDUCE_LAST);
    plan_expansion_free(&r.x);
    reduce(&r, HG_TYPE_U128, 4097); /* accumulators in memory */
    CHECK_U64(r.x.actions.data[0].key.arrays, 3);
    CHECK(r.x.scratch >= 2 * PLAN_ACCUMULATORS * 16 + 2 * 16);
    plan_expansion_free(&r.x);
    reduce(&r, HG_TYPE_I32, 0);
    CHECK(r.x.actions.count == 1 && r.x.actions.data[0].kind == PLAN_WRITE && r.x.bytes.count == 4);
    plan_expansion_free(&r.x);
    reduce(&r, HG_TYPE_U8, UINT64_C(1) << 46); /* more chunks than blocks have numbers */
    CHECK(r.x.failed);
    plan_expansion_free(&r.x);
}

/* ---- expansions ---- */

static void scratch(void) {
    plan_expansion x = {0};
    plan_part a = plan_scratch(&x, 3, 100), b = plan_scratch(&x, 1, 1);
    CHECK(a.offset == 0 && a.bytes == 300 && b.offset == 512 && x.scratch == 768 && !x.failed);
    (void)plan_scratch(&x, UINT64_MAX, 2);
    CHECK(x.failed);
    plan_expansion_clear(&x); /* scratch memory and tables have a quarter of all numbers each */
    (void)plan_scratch(&x, UINT64_MAX / 8, 1);
    CHECK(!x.failed);
    (void)plan_scratch(&x, UINT64_MAX / 8, 1);
    CHECK(x.failed);
    plan_expansion_free(&x);
}

static void many_lanes(void) {
    plan_expansion x = {0};
    plan_kernel_key key = {0};
    plan_expand_launch(&x, &key, 0, 256, 0, NULL, NULL);
    CHECK_U64(x.actions.count, 0);
    plan_expand_launch(&x, &key, (UINT64_C(1) << 40) + 1, 1, 0, NULL, NULL);
    CHECK(x.actions.count == 1 && x.actions.data[0].grid[0] == UINT32_MAX &&
          x.actions.data[0].grid[1] == 257 && !x.failed);
    plan_expansion_free(&x);
}

int main(void) {
    table();
    shapes();
    levels();
    scratch();
    many_lanes();
    return test_done();
}
