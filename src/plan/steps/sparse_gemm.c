/* sparse_gemm: c = a b, a in compressed rows. A kernel of its own first looks at the rows and
 * columns of a, so that the product reads nothing else than what it should: what it finds is the
 * instruction's fault, and a mark in scratch memory, at which the product's blocks end, also where
 * a device has all launches at once. The product is library/sparse.atlas. */
#include "plan/steps/chain.h"
#include "plan/steps/sparse.h"

enum { C, VALUES, INDICES, PTR, B, M, N, K, LDB, LDC, NNZ };

static uint64_t number(const plan_call *call, uint32_t operand) {
    return plan_number(call, operand, 0);
}
/* The elements from a row to the next one. */
static uint64_t row_of(const plan_call *call, uint32_t operand) {
    return plan_row_stride(call, operand, number(call, N));
}

static void check(const plan_call *call, plan_problem *problem) {
    plan_check_row(call, problem, LDB, number(call, N));
    plan_check_row(call, problem, LDC, number(call, N));
    if (number(call, M) == UINT64_MAX)
        plan_refuse(call, problem, KIR_FAULT_DOMAIN, M, "%llu, at most %llu expected",
                    (unsigned long long)number(call, M), (unsigned long long)UINT64_MAX - 1);
    /* Columns are u32, and no row needs more of c than its own. */
    if (number(call, K) > (uint64_t)UINT32_MAX + 1)
        plan_refuse(call, problem, KIR_FAULT_DOMAIN, K, "%llu, at most 4294967296 expected",
                    (unsigned long long)number(call, K));
}

static void matrix(plan_call *call, uint32_t operand, uint64_t rows, uint64_t row) {
    plan_array_strides(plan_array_of(call, operand), 2, (const uint64_t[]){rows, number(call, N)},
                       (const int64_t[]){row > INT64_MAX ? INT64_MAX : (int64_t)row, 1});
}

/* How many entries a has is the last number of a_ptr, which nobody knows here: without nnz, values
 * and indices are all that lies in their memory. */
static void ranges(plan_call *call) {
    uint64_t nnz = plan_named_or(call, "nnz", 0), rows = number(call, M) + 1;
    plan_array *values = plan_array_of(call, VALUES), *indices = plan_array_of(call, INDICES),
               *ptr = plan_array_of(call, PTR);
    plan_array_shape(values, 1, &nnz);
    plan_array_shape(indices, 1, &nnz);
    values->open = indices->open = !plan_is_given(call, NNZ);
    plan_array_shape(ptr, 1, &rows);
    matrix(call, B, number(call, K), row_of(call, LDB));
    matrix(call, C, number(call, M), row_of(call, LDC));
}

/* ---- launches ---- */

enum { LANES = 32, TILES = 4, SOME = 32, FEW_COLUMNS = 8 };

/* How many entries a has; where nobody says it, some of each row. */
static uint64_t entries_of(const plan_call *call) {
    uint64_t k = number(call, K);
    return plan_is_given(call, NNZ) ? number(call, NNZ)
                                    : plan_times(number(call, M), k < SOME ? k : SOME);
}

/* Rows that a block has: blocks enough for many threads, and none of a few operations only. Quick
 * are rows of few columns, and looks at them. */
static uint64_t rows_of_a_block(uint64_t rows, bool quick) {
    uint64_t most = quick ? 256 : 32, step = rows / (quick ? 64 : 512);
    step = step < 1 ? 1 : step > most ? most : step;
    return rows / step < UINT32_MAX ? step : rows / UINT32_MAX + 1;
}

enum { PARTS = 6 };

/* The arrays of a product's kernel, and those of what it does with elements behind it. */
static void find_parts(const plan_call *call, plan_expansion *x, plan_part bad,
                       plan_kernel_key *key, plan_part *parts) {
    parts[0] = plan_part_of(call, VALUES);
    parts[1] = plan_part_of(call, INDICES);
    parts[2] = plan_part_of(call, PTR);
    parts[3] = plan_part_of(call, B);
    parts[4] = bad;
    parts[5] = plan_part_of(call, C);
    plan_fuse(x, key, parts, PLAN_BEHIND);
}

static void product(const plan_call *call, plan_expansion *x, plan_part bad, uint64_t from,
                    uint64_t columns, int32_t tiles) {
    uint64_t m = number(call, M), step = rows_of_a_block(m, false), wide = LANES * (uint64_t)tiles;
    plan_kernel_key key = plan_library_key(LIBRARY_SPARSE_ROWS, (hg_type)call->type, HG_OP_MOV,
                                           (int32_t[]){tiles}, PARTS, 6);
    plan_part parts[PARTS + PLAN_CHAIN_ARRAYS];
    find_parts(call, x, bad, &key, parts);
    const uint64_t values[] = {m, from + columns, row_of(call, LDB), row_of(call, LDC), step, from};
    x->work = plan_times(entries_of(call), columns);
    plan_expand_grid(x, &key, (uint64_t[]){(m - 1) / step + 1, (columns - 1) / wide + 1, 1},
                     (uint32_t[]){LANES, 1, 1}, 0, parts, values);
}

/* Few columns: a lane has rows of them, on a CPU as scalar code. */
static void lines(const plan_call *call, plan_expansion *x, plan_part bad) {
    uint64_t m = number(call, M), n = number(call, N);
    uint32_t block = plan_tile(x, LIBRARY_TILE_SEGMENT_LANES);
    uint64_t step = block > 1 ? 1 : rows_of_a_block(m, true);
    plan_kernel_key key = plan_library_key(LIBRARY_SPARSE_LINES, (hg_type)call->type, HG_OP_MOV,
                                           (int32_t[]){(int32_t)n, (int32_t)block}, PARTS, 4);
    plan_part parts[PARTS + PLAN_CHAIN_ARRAYS];
    find_parts(call, x, bad, &key, parts);
    x->work = plan_times(entries_of(call), n);
    plan_expand_launch(x, &key, (m - 1) / step + 1, block, 0, parts,
                       (uint64_t[]){m, row_of(call, LDB), row_of(call, LDC), step});
}

static void expand(const plan_call *call, plan_expansion *x) {
    uint64_t m = number(call, M), n = number(call, N), step = rows_of_a_block(m, true),
             whole = n / (LANES * TILES) * (LANES * TILES);
    static const uint32_t zero = 0;
    if (m == 0) return;
    plan_part bad = plan_scratch(x, 1, sizeof zero);
    plan_kernel_key key = {.make = plan_sparse_check,
                           .type = call->type,
                           .arrays = PLAN_SPARSE_ARRAYS,
                           .values = PLAN_SPARSE_NUMBERS};
    plan_expand_write(x, bad, &zero);
    plan_expand_launch(x, &key, ((m - 1) / step + 1) * PLAN_SPARSE_LANES, PLAN_SPARSE_LANES, 0,
                       (plan_part[]){plan_part_of(call, VALUES), plan_part_of(call, INDICES),
                                     plan_part_of(call, PTR), bad},
                       (uint64_t[]){m, number(call, K), step,
                                    plan_named_or(call, "nnz", PLAN_SPARSE_ALL),
                                    hg_type_size_bytes((hg_type)call->type)});
    if (n > 0 && n <= FEW_COLUMNS) {
        lines(call, x, bad);
        return;
    }
    if (whole) product(call, x, bad, 0, whole, TILES);
    if (n > whole) product(call, x, bad, whole, n - whole, 1);
}

static plan_cost cost(const plan_call *call) {
    return (plan_cost){plan_call_bytes(call),
                       plan_times(plan_times(2, entries_of(call)), number(call, N))};
}

const plan_collective plan_collective_sparse_gemm = {.check = check,
                                                     .ranges = ranges,
                                                     .expand = expand,
                                                     .cost = cost,
                                                     .overlap = PLAN_OVERLAP_NEVER,
                                                     .fuses = true};
