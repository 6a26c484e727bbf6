/* The check of sparse_gemm: a block a few rows, its lanes the rows and then their entries.
 * Must not know: launches. */
#include "plan/steps/sparse.h"
#include "kir/sugar.h"
#include "plan/steps/writer.h"

typedef struct checker {
    expand_kernel w;
    kir_value *first, *behind, *limit, *lane; /* rows of the block, entries that there may be */
    kir_var *row, *at, *any;
} checker;

static kir_value *load_short(checker *c, uint32_t array, kir_value *index) {
    return expand_load(&c->w, HG_TYPE_U32, array, by(&c->w.b, KIR_MUL, index, 4));
}

static kir_value *load(checker *c, uint32_t array, kir_value *index) {
    return kir_convert(&c->w.b, KIR_ZEXT, HG_TYPE_U64, load_short(c, array, index));
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

/* Each lane has a number of its own from *var up to `end`, fewer than 2^32 of them, in turns of all
 * lanes; what is in between is done where there is such a number. */
typedef struct turns {
    kir_value *loop, *inside, *mine;
} turns;

static turns turns_begin(checker *c, kir_var *var, kir_value *end) {
    kir_builder *b = &c->w.b;
    turns t = {.loop = loop_below(b, var, end)};
    kir_value *at = kir_get(b, var),
              *left = kir_convert(b, KIR_TRUNC, HG_TYPE_U32, kir_binary(b, KIR_SUB, end, at));
    t.mine = kir_add(b, at, kir_convert(b, KIR_ZEXT, HG_TYPE_U64, c->lane));
    t.inside = kir_if_begin(b, below(b, c->lane, left));
    return t;
}

static void turns_end(checker *c, kir_var *var, turns t) {
    kir_if_end(&c->w.b, t.inside);
    add_to(&c->w.b, var, PLAN_SPARSE_LANES);
    kir_loop_end(&c->w.b, t.loop);
}

/* Whether the lane finds anything that is wrong: of rows, where they end, and of the entries from
 * the block's first row to its end, which are those of its rows unless a row is wrong. */
static void look(checker *c) {
    kir_builder *b = &c->w.b;
    kir_set(b, c->any, u32(b, 0));
    kir_set(b, c->row, c->first);
    turns rows = turns_begin(c, c->row, c->behind);
    kir_value *from = load_short(c, PLAN_SPARSE_PTR, rows.mine),
              *to = load_short(c, PLAN_SPARSE_PTR, by(b, KIR_ADD, rows.mine, 1));
    found(c, below(b, to, from));
    found(c, expand_above(&c->w, to, c->limit));
    turns_end(c, c->row, rows);
    kir_value *end = smaller(b, load(c, PLAN_SPARSE_PTR, c->behind), c->limit);
    kir_set(b, c->at, load(c, PLAN_SPARSE_PTR, c->first));
    turns entries = turns_begin(c, c->at, end);
    kir_value *column = load_short(c, PLAN_SPARSE_INDICES, entries.mine);
    found(c, expand_not_below(&c->w, column, expand_value(&c->w, PLAN_SPARSE_COLUMNS)));
    turns_end(c, c->at, entries);
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
    kir_value *from = load(c, PLAN_SPARSE_PTR, row),
              *to = load(c, PLAN_SPARSE_PTR, by(b, KIR_ADD, row, 1));
    fault(c, below(b, to, from), PLAN_SPARSE_OF_PTR, "a_ptr: row {} ends at {}, before it begins",
          row, to);
    fault(c, below(b, c->limit, to), PLAN_SPARSE_OF_PTR,
          "a_ptr: row {} ends at {}, a_values or a_indices have fewer entries", row, to);
    kir_set(b, c->at, from);
    kir_value *entries = loop_below(b, c->at, to), *at = kir_get(b, c->at),
              *column = load(c, PLAN_SPARSE_INDICES, at);
    kir_value *wrong = kir_not(b, below(b, column, expand_value(&c->w, PLAN_SPARSE_COLUMNS)));
    fault(c, wrong, PLAN_SPARSE_OF_INDICES, "a_indices: entry {} is column {}, below k expected",
          at, column);
    add_to(b, c->at, 1);
    kir_loop_end(b, entries);
    add_to(b, c->row, 1);
    kir_loop_end(b, rows);
}

/* nnz, or what both arrays have room for. */
static kir_value *limit_of(checker *c) {
    kir_builder *b = &c->w.b;
    kir_value *values = kir_binary(b, KIR_UDIV, expand_size(&c->w, PLAN_SPARSE_VALUES),
                                   expand_value(&c->w, PLAN_SPARSE_ELEMENT));
    kir_value *indices = by(b, KIR_UDIV, expand_size(&c->w, PLAN_SPARSE_INDICES), 4),
              *given = expand_value(&c->w, PLAN_SPARSE_NNZ);
    kir_value *all = u64(b, PLAN_SPARSE_ALL), *open = kir_binary(b, KIR_CMP_EQ, given, all),
              *room = smaller(b, values, indices);
    return kir_select(b, open, room, given);
}

kir_module *plan_sparse_check(const plan_kernel_key *key) {
    checker c;
    expand_begin(&c.w, key, "sparse_gemm_check");
    kir_builder *b = &c.w.b;
    if (b->failed) return expand_end(&c.w);
    c.row = kir_var_create(b->module, b->function, HG_TYPE_U64, 0, "row");
    c.at = kir_var_create(b->module, b->function, HG_TYPE_U64, 0, "at");
    c.any = kir_var_create(b->module, b->function, HG_TYPE_U32, 0, "any");
    c.limit = limit_of(&c);
    c.lane = expand_id(&c.w, HG_ID_LANE_IDX_X, HG_TYPE_U32);
    kir_value *block = kir_convert(b, KIR_ZEXT, HG_TYPE_U64,
                                   expand_id(&c.w, HG_ID_BLOCK_IDX_X, HG_TYPE_U32));
    c.first = kir_mul(b, block, expand_value(&c.w, PLAN_SPARSE_STEP));
    kir_value *behind = kir_add(b, c.first, expand_value(&c.w, PLAN_SPARSE_STEP)),
              *all = expand_value(&c.w, PLAN_SPARSE_ROWS);
    c.behind = smaller(b, behind, all);
    look(&c);
    kir_value *wrong = kir_if_begin(b, kir_not(b, is_zero(b, kir_get(b, c.any))));
    kir_value *start = u64(b, 0), *mark = u32(b, 1);
    expand_store(&c.w, PLAN_SPARSE_BAD, start, mark);
    report(&c);
    kir_if_end(b, wrong);
    return expand_end(&c.w);
}
