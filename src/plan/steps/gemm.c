/* gemm, batched_gemm, mixed_precision_gemm: the library program gemm.atlas. */
#include "plan/steps/product.h"
#include "plan/steps/chain.h"

/* What is asked for. Strides are in elements. */
typedef struct product {
    uint64_t batch, m, n, k;
    uint64_t a_row, a_column, b_row, b_column, c_row; /* of a as m x k, of b as k x n */
    uint64_t a_batch, b_batch, c_batch;
    uint32_t a, b, c, bias; /* numbers of operands */
    bool accumulate;
    bool bias_matrix; /* with these strides; else n elements, the same for all rows */
    uint64_t bias_row, bias_column;
} product;

/* The stride of rows of a matrix, which are `columns` long as it is stored. */
static uint64_t row_stride(const plan_call *call, const char *name, uint64_t columns) {
    return plan_row_stride(call, plan_operand_named(call, name), columns);
}

static void find_batches(const plan_call *call, product *p, uint64_t a_rows, uint64_t b_rows,
                         uint64_t lda, uint64_t ldb) {
    uint32_t strides = plan_operand_named(call, "batch_strides");
    bool given = plan_is_given(call, strides);
    p->batch = plan_named(call, "batch");
    p->a_batch = given ? plan_number(call, strides, 0) : plan_times(a_rows, lda);
    p->b_batch = given ? plan_number(call, strides, 1) : plan_times(b_rows, ldb);
    p->c_batch = given ? plan_number(call, strides, 2) : plan_times(p->m, p->c_row);
}

static product read_call(const plan_call *call) {
    product p = {.batch = 1,
                 .m = plan_named(call, "m"),
                 .n = plan_named(call, "n"),
                 .k = plan_named(call, "k")};
    bool trans_a = plan_named(call, "trans_a"), trans_b = plan_named(call, "trans_b");
    uint64_t lda = row_stride(call, "lda", trans_a ? p.m : p.k),
             ldb = row_stride(call, "ldb", trans_b ? p.k : p.n);
    p.a_row = trans_a ? 1 : lda;
    p.a_column = trans_a ? lda : 1;
    p.b_row = trans_b ? 1 : ldb;
    p.b_column = trans_b ? ldb : 1;
    p.c_row = row_stride(call, "ldc", p.n);
    p.a = plan_operand_named(call, "a");
    p.b = plan_operand_named(call, "b");
    p.c = plan_operand_named(call, "c");
    p.bias = plan_operand_named(call, "bias");
    p.accumulate = plan_named(call, "accumulate");
    uint32_t strides = plan_operand_named(call, "bias_strides");
    if (call->operands[strides].count == 2) {
        p.bias_row = plan_number(call, strides, 0);
        p.bias_column = plan_number(call, strides, 1);
        p.bias_matrix = p.bias_row != 0 || p.bias_column != 1;
    }
    if (call->op == HG_OP_BATCHED_GEMM)
        find_batches(call, &p, trans_a ? p.k : p.m, trans_b ? p.n : p.k, lda, ldb);
    return p;
}

/* ---- shapes ---- */

static void check_stride(const plan_call *call, plan_problem *problem, const char *name,
                         uint64_t columns) {
    plan_check_row(call, problem, plan_operand_named(call, name), columns);
}

static void check_batches(const plan_call *call, plan_problem *problem, const product *p) {
    uint32_t strides = plan_operand_named(call, "batch_strides"),
             count = call->operands[strides].count;
    uint64_t matrix, size;
    if (count == 0 || p->batch < 2 || p->m == 0 || p->n == 0) return;
    bool fits = hg_mul_u64(p->m - 1, p->c_row, &matrix) && hg_add_u64(matrix, p->n, &size);
    if (!fits || p->c_batch < size)
        plan_refuse(call, problem, KIR_FAULT_DOMAIN, strides,
                    "%llu elements from one c to the next, at least %llu expected",
                    (unsigned long long)p->c_batch, (unsigned long long)(fits ? size : UINT64_MAX));
}

static void check(const plan_call *call, plan_problem *problem) {
    if (call->op == HG_OP_BATCHED_GEMM)
        plan_check_strides(call, problem, "batch_strides", 3, "of a, b and c");
    plan_check_strides(call, problem, "bias_strides", 2, "of a row and of a column");
    if (problem->found) return;
    product p = read_call(call);
    check_stride(call, problem, "lda", p.a_column == 1 && !plan_named(call, "trans_a") ? p.k : p.m);
    check_stride(call, problem, "ldb", plan_named(call, "trans_b") ? p.k : p.n);
    check_stride(call, problem, "ldc", p.n);
    if (call->op == HG_OP_BATCHED_GEMM) check_batches(call, problem, &p);
}

static void matrices(const plan_call *call, uint32_t operand, const product *p, uint64_t rows,
                     uint64_t columns, uint64_t batch, uint64_t row, uint64_t column) {
    plan_array_strides(
        plan_array_of(call, operand), 3, (const uint64_t[]){p->batch, rows, columns},
        (const int64_t[]){plan_stride(batch), plan_stride(row), plan_stride(column)});
}

static void ranges(plan_call *call) {
    product p = read_call(call);
    plan_array *bias = plan_array_of(call, p.bias);
    matrices(call, p.a, &p, p.m, p.k, p.a_batch, p.a_row, p.a_column);
    matrices(call, p.b, &p, p.k, p.n, p.b_batch, p.b_row, p.b_column);
    matrices(call, p.c, &p, p.m, p.n, p.c_batch, p.c_row, 1);
    if (!bias) return;
    if (!p.bias_matrix)
        plan_array_shape(bias, 1, &p.n);
    else
        plan_array_strides(bias, 2, (const uint64_t[]){p.m, p.n},
                           (const int64_t[]){plan_stride(p.bias_row), plan_stride(p.bias_column)});
}

/* ---- the expansion ---- */

/* Sizes of tiles: no bit depends on them. */
typedef struct tile {
    uint32_t rows, columns, panel_rows, depth, steps, lane_columns;
} tile;

/* The smaller size where that leaves one of `part` places less without an element. */
static uint32_t fitting(uint32_t most, uint32_t less, uint64_t count, uint64_t part) {
    if (less >= most || count >= part * most) return most;
    uint64_t large = ((count - 1) / most + 1) * most, small = ((count - 1) / less + 1) * less;
    return small < large && large - small >= large / part ? less : most;
}

enum {
    SHORT = 256
}; /* steps of k for which a tile's parts of a and b stay in the nearest cache together */

static uint32_t columns_of(const plan_expansion *x, const plan_product *p, uint32_t rows) {
    bool wide = p->type == HG_TYPE_F64;
    uint32_t columns = plan_tile(x,
                                 wide ? LIBRARY_TILE_GEMM_COLUMNS_F64 : LIBRARY_TILE_GEMM_COLUMNS);
    if (x->open) return columns;
    if (!wide && p->k <= SHORT && p->m >= rows)
        columns = fitting(plan_tile(x, LIBRARY_TILE_GEMM_SHORT), columns, p->n, 8);
    columns = fitting(columns,
                      plan_tile(x, wide ? LIBRARY_TILE_GEMM_NARROW_F64 : LIBRARY_TILE_GEMM_NARROW),
                      p->n, 8);
    return fitting(columns, plan_tile(x, LIBRARY_TILE_GEMM_THIN), p->n, 4);
}

/* More rows where a block has few columns, as registers are left; half of them, or one, where c has
 * few. */
static uint32_t rows_of(const plan_expansion *x, const plan_product *p, uint32_t rows,
                        uint32_t columns) {
    if (x->open) return p->m == 1 ? 1 : rows;
    if (p->type != HG_TYPE_F64 && p->m > rows && columns == plan_tile(x, LIBRARY_TILE_GEMM_NARROW))
        rows = fitting(plan_tile(x, LIBRARY_TILE_GEMM_ROWS_NARROW), rows, p->m, 8);
    return p->m == 1 ? 1 : fitting(rows, (rows + 1) / 2, p->m, 8);
}

static tile tile_of(const plan_expansion *x, const plan_product *p) {
    bool wide = p->type == HG_TYPE_F64;
    uint32_t rows = plan_tile(x, wide ? LIBRARY_TILE_GEMM_ROWS_F64 : LIBRARY_TILE_GEMM_ROWS),
             columns = columns_of(x, p, rows);
    return (tile){.rows = rows_of(x, p, rows, columns),
                  .columns = columns,
                  .panel_rows = plan_tile(x, LIBRARY_TILE_GEMM_PANEL_ROWS),
                  .depth = plan_tile(x, LIBRARY_TILE_GEMM_DEPTH),
                  .steps = plan_tile(x, LIBRARY_TILE_GEMM_STEPS),
                  .lane_columns = (plan_tile(x, LIBRARY_TILE_GEMM_LANE_COLUMNS) + wide) /
                                  (1u + wide)};
}

/* Panels pay where a row of b is read again and again, and rows far apart fall into the same sets
 * of a cache. */
static bool wants_panels(const plan_product *p, uint64_t columns, uint64_t size) {
    if (p->step.b_column != 1) return true;
    if (p->b_stays) return p->n > columns; /* they are made once */
    return p->m >= 64 && p->step.b_row * size >= 2048 &&
           plan_times(p->k, p->n) * size >= 256 * 1024;
}

/* b in panels, and what it is then: rows of as many elements as the tile has columns. */
static void make_panels(plan_expansion *x, const tile *t, plan_product *p, uint64_t *panel) {
    hg_type type = (hg_type)p->type;
    bool trans = p->step.b_column != 1;
    uint64_t count = (p->n - 1) / t->columns + 1, batches = p->step.b_batch ? p->batch : 1, all;
    *panel = plan_times(p->k, t->columns);
    all = plan_times(plan_times(*panel, count), batches);
    plan_part panels = p->b_stays ? plan_table(x, all, hg_type_size_bytes(type))
                                  : plan_scratch(x, all, hg_type_size_bytes(type));
    plan_part parts[2] = {p->b, panels};
    plan_kernel_key key = plan_library_key(
        LIBRARY_GEMM_PANELS, type, HG_OP_MOV,
        (int32_t[]){(int32_t)t->columns, (int32_t)t->panel_rows, trans}, 2, 5);
    if (x->failed) return;
    uint64_t panel_batch = p->step.b_batch ? *panel * count : 0;
    x->work = all;
    x->once = p->b_stays;
    plan_expand_grid(x, &key, (uint64_t[]){(p->k - 1) / t->panel_rows + 1, count, batches},
                     (uint32_t[]){t->columns, 1, 1}, 0, parts,
                     (uint64_t[]){p->n, p->k, trans ? p->step.b_column : p->step.b_row,
                                  p->step.b_batch, panel_batch});
    x->once = false;
    p->b = panels;
    p->step.b_row = t->columns;
    p->step.b_batch = panel_batch;
}

/* Groups of the program `block`: lanes, the most steps of k in shared memory at a time, bytes of
 * that, and elements of c that a lane has registers for. */
enum { LANES_X = 8, LANES_Y = 8, MOST_DEPTH = 16, MOST_SHARED = 32768, MOST_SUMS = 128 };

/* Bytes of shared memory of a group. */
static uint32_t shared_of(const tile *t, uint32_t size) {
    return 2 * t->depth * (t->rows * LANES_Y + 4 + t->lane_columns * LANES_X) * size;
}

/* A group's tile, of which a small product fills more than half; depth 0: it keeps nothing. */
static tile group_tile(const plan_product *p, tile t, uint32_t size) {
    while (t.rows > 1 && (t.rows / 2 * LANES_Y >= p->m || t.rows * t.lane_columns > MOST_SUMS))
        t.rows /= 2;
    while (t.lane_columns > 1 && t.lane_columns / 2 * LANES_X >= p->n) t.lane_columns /= 2;
    t.depth = t.depth < MOST_DEPTH ? 0 : MOST_DEPTH;
    while (t.depth && shared_of(&t, size) > MOST_SHARED)
        t.depth = t.depth > LANES_X ? t.depth / 2 : 0;
    return t;
}

/* In groups that share what they read. */
static void expand_block(plan_expansion *x, const tile *t, uint32_t size, const plan_product *p) {
    plan_kernel_key key = plan_library_key(
        LIBRARY_GEMM_BLOCK, (hg_type)p->type, HG_OP_MOV,
        (int32_t[]){p->result, (int32_t)t->rows, (int32_t)t->lane_columns, LANES_X, LANES_Y,
                    (int32_t)t->depth, t->steps < MOST_DEPTH ? 2 : (int32_t)t->depth, (int32_t)size,
                    p->step.a_column != 1, p->step.b_column != 1, p->bias_is, p->accumulate},
        p->bias_is ? 4 : 3, p->bias_is == PLAN_BIAS_MATRIX ? 15 : 13);
    plan_part parts[4] = {p->a, p->b, p->c, p->bias};
    x->work = plan_times(plan_times(p->m, p->n), plan_times(p->k, p->batch));
    uint64_t grid[3] = {(p->n - 1) / (t->lane_columns * LANES_X) + 1,
                        (p->m - 1) / (t->rows * LANES_Y) + 1, p->batch};
    plan_expand_grid(x, &key, grid, (uint32_t[]){LANES_X, LANES_Y, 1}, shared_of(t, size), parts,
                     p->bias_is == PLAN_BIAS_MATRIX
                         ? (uint64_t[]){p->m, p->n, p->k, p->step.a_row, p->step.a_column,
                                        p->step.a_batch, p->step.b_row, p->step.b_column,
                                        p->step.b_batch, p->step.c_row, p->step.c_batch,
                                        p->step.bias_row, p->step.bias_column, p->alpha, p->beta}
                         : (uint64_t[]){p->m, p->n, p->k, p->step.a_row, p->step.a_column,
                                        p->step.a_batch, p->step.b_row, p->step.b_column,
                                        p->step.b_batch, p->step.c_row, p->step.c_batch, p->alpha,
                                        p->beta});
}

/* Each lane for itself; b is read in panels where that pays. */
static void expand_tile(plan_expansion *x, const tile *t, plan_product p) {
    uint64_t panel = t->columns;
    if (p.k && wants_panels(&p, t->columns, hg_type_size_bytes((hg_type)p.type)))
        make_panels(x, t, &p, &panel);
    plan_kernel_key key = plan_library_key(
        LIBRARY_GEMM_TILE, (hg_type)p.type, p.fn,
        (int32_t[]){p.result, (int32_t)t->rows, (int32_t)t->columns, p.bias_is, p.fn != HG_OP_MOV,
                    p.accumulate},
        p.bias_is ? 4 : 3, p.bias_is == PLAN_BIAS_MATRIX ? 15 : 13);
    plan_part parts[4 + PLAN_CHAIN_ARRAYS] = {p.a, p.b, p.c, p.bias};
    plan_fuse(x, &key, parts, PLAN_BEHIND);
    x->work = plan_times(plan_times(p.m, p.n), plan_times(p.k, p.batch));
    uint64_t grid[3] = {(p.m - 1) / t->rows + 1, (p.n - 1) / t->columns + 1, p.batch};
    plan_expand_grid(x, &key, grid, (uint32_t[]){t->columns, 1, 1}, 0, parts,
                     p.bias_is == PLAN_BIAS_MATRIX
                         ? (uint64_t[]){p.m, p.n, p.k, p.step.a_row, p.step.a_column,
                                        p.step.a_batch, p.step.b_row, panel, p.step.b_batch,
                                        p.step.c_row, p.step.c_batch, p.step.bias_row,
                                        p.step.bias_column, p.alpha, p.beta}
                         : (uint64_t[]){p.m, p.n, p.k, p.step.a_row, p.step.a_column,
                                        p.step.a_batch, p.step.b_row, panel, p.step.b_batch,
                                        p.step.c_row, p.step.c_batch, p.alpha, p.beta});
}

/* Whether the loop over k, which meets a barrier in each round, has few enough of them, with those
 * that fill shared memory. */
static bool may_meet(const plan_expansion *x, const plan_product *p) {
    return !x->most_rounds || p->k <= x->most_rounds / 4;
}

void plan_expand_product(plan_expansion *x, plan_product p) {
    uint32_t size = (uint32_t)hg_type_size_bytes(library_sum_type((hg_type)p.type));
    if (p.m == 0 || p.n == 0 || p.batch == 0) return;
    tile t = tile_of(x, &p), group = group_tile(&p, t, size);
    if (group.depth && p.fn == HG_OP_MOV && !x->fused && may_meet(x, &p)) /* what is done to an
                                                                             element is too long for
                                                                             all of a lane's */
        expand_block(x, &group, size, &p);
    else
        expand_tile(x, &t, p);
}

static void expand(const plan_call *call, plan_expansion *x) {
    product p = read_call(call);
    bool bias = plan_array_of(call, p.bias) != NULL;
    uint8_t result = plan_array_of(call, p.c)->type;
    plan_expand_product(x,
                        (plan_product){.batch = p.batch,
                                       .m = p.m,
                                       .n = p.n,
                                       .k = p.k,
                                       .step.a_row = p.a_row,
                                       .step.a_column = p.a_column,
                                       .step.b_row = p.b_row,
                                       .step.b_column = p.b_column,
                                       .step.c_row = p.c_row,
                                       .step.a_batch = p.a_batch,
                                       .step.b_batch = p.b_batch,
                                       .step.c_batch = p.c_batch,
                                       .a = plan_part_of(call, p.a),
                                       .b = plan_part_of(call, p.b),
                                       .c = plan_part_of(call, p.c),
                                       .bias = bias ? plan_part_of(call, p.bias) : (plan_part){0},
                                       .bias_is = !bias           ? PLAN_BIAS_NONE
                                                  : p.bias_matrix ? PLAN_BIAS_MATRIX
                                                                  : PLAN_BIAS_LINE,
                                       .step.bias_row = p.bias_row,
                                       .step.bias_column = p.bias_column,
                                       .accumulate = p.accumulate,
                                       .b_stays = plan_array_of(call, p.b)->constant,
                                       .type = call->type,
                                       .result = result,
                                       .fn = call->fn,
                                       .alpha = plan_named(call, "alpha"),
                                       .beta = plan_named(call, "beta")});
}

static plan_cost cost(const plan_call *call) {
    product p = read_call(call);
    return (plan_cost){plan_call_bytes(call),
                       plan_times(plan_times(p.m, p.n), plan_times(p.k, p.batch))};
}

const plan_collective plan_collective_gemm = {.check = check,
                                              .ranges = ranges,
                                              .expand = expand,
                                              .cost = cost,
                                              .overlap = PLAN_OVERLAP_REFUSED,
                                              .fuses = true};
