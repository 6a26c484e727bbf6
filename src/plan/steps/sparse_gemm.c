/* sparse_gemm: c = a b, a in compressed rows. A kernel of its own first looks at the rows and
 * columns of a, so that the product reads nothing else than what it should: what it finds is the
 * instruction's fault, and a mark in scratch memory, at which the product's blocks end, also where
 * a device has all launches at once. The product is library/sparse.atlas. */
#include "kir/sugar.h"
#include "plan/steps/chain.h"
#include "plan/steps/writer.h"

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

/* ---- the check: a block a few rows, its lanes the entries of a row ---- */

enum { AT_VALUES, AT_INDICES, AT_PTR, AT_BAD, CHECKED }; /* arrays */
enum {
    ROWS,
    COLUMNS,
    STEP,
    GIVEN,
    ELEMENT,
    CHECK_VALUES
};                     /* values; GIVEN: nnz, or ALL, ELEMENT: bytes of a value */
#define ALL UINT64_MAX /* what the arrays' memory has, which is less */
enum { CHECK_LANES = 32 };

typedef struct checker {
    expand_kernel w;
    kir_value *first, *behind, *limit, *lane; /* rows of the block, entries that there may be */
    kir_var *row, *at, *any;
} checker;

static kir_value *load(checker *c, uint32_t array, kir_value *index) {
    kir_value *v = expand_load(&c->w, HG_TYPE_U32, array, by(&c->w.b, KIR_MUL, index, 4));
    return kir_convert(&c->w.b, KIR_ZEXT, HG_TYPE_U64, v);
}

static kir_value *smaller(kir_builder *b, kir_value *x, kir_value *y) {
    kir_value *less = below(b, x, y);
    return kir_select(b, less, x, y);
}

/* while (var < end) */
static kir_value *loop_below(kir_builder *b, kir_var *var, kir_value *end) {
    kir_value *loop = kir_loop_begin(b, true);
    kir_value *less = below(b, kir_get(b, var), end);
    kir_value *done = kir_if_begin(b, kir_not(b, less));
    kir_break(b);
    kir_if_end(b, done);
    return loop;
}

static void add_to(kir_builder *b, kir_var *var, uint64_t n) {
    kir_set(b, var, by(b, KIR_ADD, kir_get(b, var), n));
}

static void found(checker *c, kir_value *wrong) {
    kir_builder *b = &c->w.b;
    kir_value *before = kir_get(b, c->any);
    kir_set(b, c->any, kir_binary(b, KIR_OR, before, kir_convert(b, KIR_ZEXT, HG_TYPE_U32, wrong)));
}

/* Whether the lane finds anything that is wrong. */
static void look(checker *c) {
    kir_builder *b = &c->w.b;
    kir_set(b, c->any, u32(b, 0));
    kir_set(b, c->row, c->first);
    kir_value *rows = loop_below(b, c->row, c->behind), *row = kir_get(b, c->row);
    kir_value *from = load(c, AT_PTR, row), *to = load(c, AT_PTR, by(b, KIR_ADD, row, 1));
    kir_value *falls = below(b, to, from), *beyond = below(b, c->limit, to);
    found(c, falls);
    found(c, beyond);
    kir_value *good = kir_if_begin(b, kir_not(b, beyond));
    kir_set(b, c->at, kir_add(b, from, c->lane));
    kir_value *entries = loop_below(b, c->at, to), *column = load(c, AT_INDICES, kir_get(b, c->at));
    found(c, kir_not(b, below(b, column, expand_value(&c->w, COLUMNS))));
    add_to(b, c->at, CHECK_LANES);
    kir_loop_end(b, entries);
    kir_if_end(b, good);
    add_to(b, c->row, 1);
    kir_loop_end(b, rows);
}

static void fault(checker *c, kir_value *wrong, uint32_t operand, const char *message, kir_value *x,
                  kir_value *y) {
    kir_fault_if_values(&c->w.b, wrong, KIR_FAULT_DOMAIN, (uint8_t)(operand + 1), message, 2,
                        (kir_value *[]){x, y});
}

/* The first thing that is wrong, in the order of rows and entries. */
static void report(checker *c) {
    kir_builder *b = &c->w.b;
    kir_set(b, c->row, c->first);
    kir_value *rows = loop_below(b, c->row, c->behind), *row = kir_get(b, c->row);
    kir_value *from = load(c, AT_PTR, row), *to = load(c, AT_PTR, by(b, KIR_ADD, row, 1));
    fault(c, below(b, to, from), PTR, "a_ptr: row {} ends at {}, before it begins", row, to);
    fault(c, below(b, c->limit, to), PTR,
          "a_ptr: row {} ends at {}, a_values or a_indices have fewer entries", row, to);
    kir_set(b, c->at, from);
    kir_value *entries = loop_below(b, c->at, to), *at = kir_get(b, c->at),
              *column = load(c, AT_INDICES, at);
    kir_value *wrong = kir_not(b, below(b, column, expand_value(&c->w, COLUMNS)));
    fault(c, wrong, INDICES, "a_indices: entry {} is column {}, below k expected", at, column);
    add_to(b, c->at, 1);
    kir_loop_end(b, entries);
    add_to(b, c->row, 1);
    kir_loop_end(b, rows);
}

/* nnz, or what both arrays have room for. */
static kir_value *limit_of(checker *c) {
    kir_builder *b = &c->w.b;
    kir_value *values = kir_binary(b, KIR_UDIV, expand_size(&c->w, AT_VALUES),
                                   expand_value(&c->w, ELEMENT));
    kir_value *indices = by(b, KIR_UDIV, expand_size(&c->w, AT_INDICES), 4),
              *given = expand_value(&c->w, GIVEN);
    kir_value *all = u64(b, ALL), *open = kir_binary(b, KIR_CMP_EQ, given, all),
              *room = smaller(b, values, indices);
    return kir_select(b, open, room, given);
}

static kir_module *make_check(const plan_kernel_key *key) {
    checker c;
    expand_begin(&c.w, key, "sparse_gemm_check");
    kir_builder *b = &c.w.b;
    if (b->failed) return expand_end(&c.w);
    c.row = kir_var_create(b->module, b->function, HG_TYPE_U64, 0, "row");
    c.at = kir_var_create(b->module, b->function, HG_TYPE_U64, 0, "at");
    c.any = kir_var_create(b->module, b->function, HG_TYPE_U32, 0, "any");
    c.limit = limit_of(&c);
    c.lane = kir_convert(b, KIR_ZEXT, HG_TYPE_U64, expand_id(&c.w, HG_ID_LANE_IDX_X, HG_TYPE_U32));
    kir_value *block = kir_convert(b, KIR_ZEXT, HG_TYPE_U64,
                                   expand_id(&c.w, HG_ID_BLOCK_IDX_X, HG_TYPE_U32));
    c.first = kir_mul(b, block, expand_value(&c.w, STEP));
    kir_value *behind = kir_add(b, c.first, expand_value(&c.w, STEP)),
              *all = expand_value(&c.w, ROWS);
    c.behind = smaller(b, behind, all);
    look(&c);
    kir_value *wrong = kir_if_begin(b, kir_not(b, is_zero(b, kir_get(b, c.any))));
    kir_value *start = u64(b, 0), *mark = u32(b, 1);
    expand_store(&c.w, AT_BAD, start, mark);
    report(&c);
    kir_if_end(b, wrong);
    return expand_end(&c.w);
}

/* ---- launches ---- */

enum { LANES = 32, TILES = 4, SOME = 32 };

/* How many entries a has; where nobody says it, some of each row. */
static uint64_t entries_of(const plan_call *call) {
    uint64_t k = number(call, K);
    return plan_is_given(call, NNZ) ? number(call, NNZ)
                                    : plan_times(number(call, M), k < SOME ? k : SOME);
}

/* Rows that a block has: blocks enough for many threads, and none of a few operations only. */
static uint64_t rows_of_a_block(uint64_t rows) {
    uint64_t step = rows / 512 < 1 ? 1 : rows / 512 > 32 ? 32 : rows / 512;
    return rows / step < UINT32_MAX ? step : rows / UINT32_MAX + 1;
}

static void product(const plan_call *call, plan_expansion *x, plan_part bad, uint64_t from,
                    uint64_t columns, int32_t tiles) {
    uint64_t m = number(call, M), step = rows_of_a_block(m), wide = LANES * (uint64_t)tiles;
    plan_kernel_key key = plan_library_key(LIBRARY_SPARSE_ROWS, (hg_type)call->type, HG_OP_MOV,
                                           (int32_t[]){tiles}, 6, 6);
    plan_part parts[6 + PLAN_CHAIN_ARRAYS] = {plan_part_of(call, VALUES),
                                              plan_part_of(call, INDICES),
                                              plan_part_of(call, PTR),
                                              plan_part_of(call, B),
                                              bad,
                                              plan_part_of(call, C)};
    plan_fuse(x, &key, parts, PLAN_BEHIND);
    const uint64_t values[] = {m, from + columns, row_of(call, LDB), row_of(call, LDC), step, from};
    x->work = plan_times(entries_of(call), columns);
    plan_expand_grid(x, &key, (uint64_t[]){(m - 1) / step + 1, (columns - 1) / wide + 1, 1},
                     (uint32_t[]){LANES, 1, 1}, 0, parts, values);
}

static void expand(const plan_call *call, plan_expansion *x) {
    uint64_t m = number(call, M), n = number(call, N), step = rows_of_a_block(m),
             whole = n / (LANES * TILES) * (LANES * TILES);
    static const uint32_t zero = 0;
    if (m == 0) return;
    plan_part bad = plan_scratch(x, 1, sizeof zero);
    plan_kernel_key key = {
        .make = make_check, .type = call->type, .arrays = CHECKED, .values = CHECK_VALUES};
    plan_expand_write(x, bad, &zero);
    plan_expand_launch(x, &key, ((m - 1) / step + 1) * CHECK_LANES, CHECK_LANES, 0,
                       (plan_part[]){plan_part_of(call, VALUES), plan_part_of(call, INDICES),
                                     plan_part_of(call, PTR), bad},
                       (uint64_t[]){m, number(call, K), step, plan_named_or(call, "nnz", ALL),
                                    hg_type_size_bytes((hg_type)call->type)});
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
