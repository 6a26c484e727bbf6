/* tensor_contract: sums over pairs of axes. Each operand is brought into the form of a matrix, of
 * free axes by paired ones, where its axes do not lie so already; then it is a matrix product
 * (gemm.atlas), whose chain of fma goes over the pairs in the order of contract_dims, the last pair
 * fastest. */
#include "plan/steps/product.h"

enum { OUTPUT, A, B, SHAPE_A, SHAPE_B, DIMS };
enum { MOST_AXES = PLAN_MAX_RANK };

/* Axes that follow each other in memory as one axis do are one. */
typedef struct axes {
    uint32_t count;
    uint64_t extent[MOST_AXES], stride[MOST_AXES]; /* in elements, the outermost first */
} axes;

/* An operand: its free axes in order, and its paired ones in the order of contract_dims. */
typedef struct operand {
    axes free, paired;
    uint64_t rows, columns; /* elements of either */
} operand;

static uint64_t extent_of(const plan_call *call, uint32_t which, uint64_t axis) {
    return plan_number(call, SHAPE_A + which, (uint32_t)axis);
}
static uint32_t rank_of(const plan_call *call, uint32_t which) {
    return call->operands[SHAPE_A + which].count;
}

/* contract_dims in words: the length of each tuple, then its items. All are pairs where check has
 * passed. */
static uint32_t pair_count(const plan_call *call) { return call->operands[DIMS].count / 3; }
static uint64_t axis_of(const plan_call *call, uint32_t pair, uint32_t which) {
    return plan_number(call, DIMS, 3 * pair + 1 + which);
}

/* The pair that an axis is in; the number of pairs: it is free. */
static uint32_t pair_of(const plan_call *call, uint32_t which, uint32_t axis) {
    uint32_t pair = 0;
    while (pair < pair_count(call) && axis_of(call, pair, which) != axis) pair++;
    return pair;
}

/* ---- shapes ---- */

static bool are_pairs(const plan_call *call, plan_problem *problem) {
    uint32_t pair = 0, count = call->operands[DIMS].count;
    for (uint32_t at = 0; at < count; pair++) {
        uint64_t length = plan_number(call, DIMS, at);
        if (length != 2) {
            plan_refuse(call, problem, KIR_FAULT_DOMAIN, DIMS,
                        "tuple %u has %llu numbers, 2 expected: an axis of a and one of b",
                        (unsigned)pair + 1, (unsigned long long)length);
            return false;
        }
        at += 3;
    }
    return true;
}

static void check_axis(const plan_call *call, plan_problem *problem, uint32_t pair,
                       uint32_t which) {
    uint64_t axis = axis_of(call, pair, which);
    const char *name = which ? "b" : "a";
    if (axis >= rank_of(call, which)) {
        plan_refuse(call, problem, KIR_FAULT_DOMAIN, DIMS, "axis %llu of %s, which has %u",
                    (unsigned long long)axis, name, (unsigned)rank_of(call, which));
        return;
    }
    if (pair_of(call, which, (uint32_t)axis) != pair)
        plan_refuse(call, problem, KIR_FAULT_DOMAIN, DIMS, "axis %llu of %s stands in two pairs",
                    (unsigned long long)axis, name);
}

static void check(const plan_call *call, plan_problem *problem) {
    for (uint32_t w = 0; w < 2; w++)
        if (rank_of(call, w) > MOST_AXES)
            plan_refuse(call, problem, KIR_FAULT_DOMAIN, SHAPE_A + w,
                        "%u axes, at most %u expected", (unsigned)rank_of(call, w),
                        (unsigned)MOST_AXES);
    if (problem->found || !are_pairs(call, problem)) return;
    for (uint32_t p = 0; p < pair_count(call) && !problem->found; p++) {
        for (uint32_t w = 0; w < 2; w++) check_axis(call, problem, p, w);
        if (problem->found) return;
        uint64_t x = extent_of(call, 0, axis_of(call, p, 0)),
                 y = extent_of(call, 1, axis_of(call, p, 1));
        if (x != y)
            plan_refuse(call, problem, KIR_FAULT_DOMAIN, DIMS,
                        "axis %llu of a has %llu elements, axis %llu of b %llu",
                        (unsigned long long)axis_of(call, p, 0), (unsigned long long)x,
                        (unsigned long long)axis_of(call, p, 1), (unsigned long long)y);
    }
}

static uint64_t free_count(const plan_call *call, uint32_t which) {
    uint64_t count = 1;
    bool none = false;
    for (uint32_t i = 0; i < rank_of(call, which); i++) {
        if (pair_of(call, which, i) < pair_count(call)) continue;
        none = none || extent_of(call, which, i) == 0;
        count = plan_times(count, extent_of(call, which, i));
    }
    return none ? 0 : count;
}

static void ranges(plan_call *call) {
    plan_array_shape(plan_array_of(call, OUTPUT), 2,
                     (const uint64_t[]){free_count(call, 0), free_count(call, 1)});
    for (uint32_t w = 0; w < 2; w++)
        plan_array_shape(plan_array_of(call, A + w), (uint8_t)rank_of(call, w),
                         call->operands[SHAPE_A + w].words);
}

/* ---- axes; all sizes are those of arrays in memory, so that products fit ---- */

static void add_axis(axes *x, uint64_t extent, uint64_t stride) {
    if (extent == 1) return;
    if (x->count && x->stride[x->count - 1] == extent * stride) {
        x->extent[x->count - 1] *= extent;
        x->stride[x->count - 1] = stride;
        return;
    }
    x->extent[x->count] = extent;
    x->stride[x->count++] = stride;
}

static operand read_operand(const plan_call *call, uint32_t which) {
    operand o = {.rows = 1, .columns = 1};
    uint64_t stride[MOST_AXES], next = 1;
    for (uint32_t i = rank_of(call, which); i-- > 0; next *= extent_of(call, which, i))
        stride[i] = next;
    for (uint32_t i = 0; i < rank_of(call, which); i++) {
        if (pair_of(call, which, i) < pair_count(call)) continue;
        add_axis(&o.free, extent_of(call, which, i), stride[i]);
        o.rows *= extent_of(call, which, i);
    }
    for (uint32_t p = 0; p < pair_count(call); p++) {
        uint64_t axis = axis_of(call, p, which);
        add_axis(&o.paired, extent_of(call, which, axis), stride[axis]);
        o.columns *= extent_of(call, which, axis);
    }
    return o;
}

static bool is_matrix(const operand *o) { return o->free.count <= 1 && o->paired.count <= 1; }
static uint64_t stride_of(const axes *x) { return x->count ? x->stride[0] : 1; }

/* ---- the expansion ---- */

enum {
    LANES = 32,
    PIECE = 256,
    STEPS = 64,
    LEAST_ROWS = 8
}; /* LEAST_ROWS: of a matrix, so that its product is no slower than a copy */
enum { ONE = 0x3F800000 };                   /* bits of 1.0 as f32, */
#define ONE_F64 UINT64_C(0x3FF0000000000000) /* and as f64 */
enum { PERMUTE_OUTER = 7, PERMUTE_VALUES = 2 + 2 * (PERMUTE_OUTER - 1) + 1 };

/* The array with its axes in that order, in scratch memory. */
static plan_part permute(const plan_call *call, plan_expansion *x, plan_part from,
                         const axes *outer, const axes *inner) {
    axes all = *outer;
    uint64_t values[PERMUTE_VALUES] = {0}, blocks = 1;
    for (uint32_t i = 0; i < inner->count; i++) {
        all.extent[all.count] = inner->extent[i];
        all.stride[all.count++] = inner->stride[i];
    }
    uint32_t last = all.count - 1;
    values[0] = all.extent[last];
    values[1] = all.stride[last];
    for (uint32_t i = 0; i < PERMUTE_OUTER; i++) {
        bool there = i < last;
        uint64_t extent = there ? all.extent[last - 1 - i] : 1,
                 stride = there ? all.stride[last - 1 - i] : 0;
        blocks *= extent;
        if (i + 1 < PERMUTE_OUTER) values[2 + 2 * i] = extent;
        values[2 + 2 * i + (i + 1 < PERMUTE_OUTER)] = stride;
    }
    plan_part to = plan_scratch(x, blocks * all.extent[last],
                                hg_type_size_bytes((hg_type)call->type));
    plan_kernel_key key = plan_library_key(LIBRARY_CONTRACT_PERMUTE, (hg_type)call->type, HG_OP_MOV,
                                           (int32_t[]){PIECE, STEPS}, 2, PERMUTE_VALUES);
    uint64_t next = all.extent[last - 1];
    x->work = plan_times(blocks, all.extent[last]);
    plan_expand_grid(
        x, &key,
        (uint64_t[]){(all.extent[last] - 1) / PIECE + 1, blocks / next, (next - 1) / STEPS + 1},
        (uint32_t[]){LANES, 1, 1}, 0, (plan_part[]){from, to}, values);
    return to;
}

/* How the product reads a: where it lies, as a matrix or several, or a copy. */
static void find_a(const plan_call *call, plan_expansion *x, const operand *a, plan_product *p) {
    bool several = a->free.count == 2 && a->paired.count <= 1 && a->free.extent[1] >= LEAST_ROWS;
    p->step.a_row = a->free.count ? a->free.stride[several] : 1;
    p->step.a_column = stride_of(&a->paired);
    if (several) {
        p->batch = a->free.extent[0];
        p->step.a_batch = a->free.stride[0];
        p->m = a->free.extent[1];
        p->step.c_batch = p->m * p->n;
    } else if (a->columns && !is_matrix(a)) {
        /* what is next to each other stays so */
        bool columns_last = a->paired.count && a->paired.stride[a->paired.count - 1] == 1;
        p->a = columns_last ? permute(call, x, p->a, &a->free, &a->paired)
                            : permute(call, x, p->a, &a->paired, &a->free);
        p->step.a_row = columns_last ? a->columns : 1;
        p->step.a_column = columns_last ? 1 : a->rows;
    }
}

static void expand(const plan_call *call, plan_expansion *x) {
    operand a = read_operand(call, 0), b = read_operand(call, 1);
    plan_product p = {.batch = 1,
                      .m = a.rows,
                      .n = b.rows,
                      .k = a.columns,
                      .type = call->type,
                      .result = call->type,
                      .alpha = call->type == HG_TYPE_F64 ? ONE_F64 : ONE,
                      .fn = HG_OP_MOV,
                      .a = plan_part_of(call, A),
                      .b = plan_part_of(call, B),
                      .c = plan_part_of(call, OUTPUT),
                      .step.c_row = b.rows};
    if (a.rows == 0 || b.rows == 0) return;
    p.step.b_row = stride_of(&b.paired);
    p.step.b_column = stride_of(&b.free);
    find_a(call, x, &a, &p);
    if (b.columns && !is_matrix(&b)) {
        p.b = permute(call, x, p.b, &b.paired, &b.free);
        p.step.b_row = b.rows;
        p.step.b_column = 1;
    }
    plan_expand_product(x, p);
}

static plan_cost cost(const plan_call *call) {
    uint64_t inner = 1;
    for (uint32_t p = 0; p < pair_count(call); p++)
        inner = plan_times(inner, extent_of(call, 0, axis_of(call, p, 0)));
    return (plan_cost){plan_call_bytes(call),
                       plan_times(plan_times(free_count(call, 0), free_count(call, 1)), inner)};
}

const plan_collective plan_collective_tensor_contract = {.check = check,
                                                         .ranges = ranges,
                                                         .expand = expand,
                                                         .cost = cost,
                                                         .overlap = PLAN_OVERLAP_REFUSED};
