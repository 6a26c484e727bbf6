/* The check of indices and offsets: a block some of them. */
#include "kir/sugar.h"
#include "plan/steps/indices.h"
#include "plan/steps/writer.h"

typedef struct checker {
    expand_kernel w;
    bool wide, offsets;
    kir_value *limit, *first, *behind; /* elements of the block */
    kir_var *at, *any;
} checker;

static kir_value *element(checker *c, kir_value *at) {
    uint8_t type = c->wide ? HG_TYPE_U64 : HG_TYPE_U32;
    kir_value *byte = by(&c->w.b, KIR_MUL, at, c->wide ? 8 : 4),
              *v = expand_load(&c->w, type, PLAN_INDEX_ARRAY, byte);
    return c->wide ? v : kir_convert(&c->w.b, KIR_ZEXT, HG_TYPE_U64, v);
}

static kir_value *either(kir_builder *b, kir_value *x, kir_value *y) {
    return kir_binary(b, KIR_OR, x, y);
}

/* Of an index or an offset's end, whether it is wrong; *falls: of an end that is below its start.
 */
static kir_value *wrong_of(checker *c, kir_value *at, kir_value **value, kir_value **falls) {
    kir_builder *b = &c->w.b;
    if (c->offsets) {
        kir_value *start = element(c, at), *end = element(c, by(b, KIR_ADD, at, 1));
        *value = end;
        *falls = below(b, end, start);
        return below(b, c->limit, end);
    }
    kir_value *index = *value = element(c, at);
    *falls = NULL;
    if (!c->wide)
        return expand_not_below(&c->w, kir_convert(b, KIR_TRUNC, HG_TYPE_U32, index), c->limit);
    kir_value *negative = below(b, u64(b, INT64_MAX), index),
              *from_end = kir_add(b, index, c->limit);
    index = kir_select(b, negative, from_end, index);
    return kir_not(b, below(b, index, c->limit));
}

/* while (at < behind), `step` further each time */
static kir_value *loop(checker *c) {
    kir_builder *b = &c->w.b;
    kir_value *loop = kir_loop_begin(b, true), *less = below(b, kir_get(b, c->at), c->behind),
              *done = kir_if_begin(b, kir_not(b, less));
    kir_break(b);
    kir_if_end(b, done);
    return loop;
}

static void next(checker *c, kir_value *loop, uint64_t step) {
    kir_builder *b = &c->w.b;
    kir_set(b, c->at, by(b, KIR_ADD, kir_get(b, c->at), step));
    kir_loop_end(b, loop);
}

/* Whether the lane finds anything that is wrong. */
static void look(checker *c) {
    kir_builder *b = &c->w.b;
    kir_value *lane = expand_id(&c->w, HG_ID_LANE_IDX_X, HG_TYPE_U32), *value, *falls;
    lane = kir_convert(b, KIR_ZEXT, HG_TYPE_U64, lane);
    kir_set(b, c->any, u32(b, 0));
    kir_set(b, c->at, c->first);
    kir_value *each = loop(c), *mine = kir_add(b, kir_get(b, c->at), lane),
              *inside = kir_if_begin(b, below(b, mine, c->behind)),
              *wrong = wrong_of(c, mine, &value, &falls);
    if (falls) wrong = either(b, wrong, falls);
    kir_value *before = kir_get(b, c->any), *now = kir_convert(b, KIR_ZEXT, HG_TYPE_U32, wrong);
    kir_set(b, c->any, either(b, before, now));
    kir_if_end(b, inside);
    next(c, each, PLAN_INDEX_LANES);
}

/* The first that is wrong. */
static void report(checker *c) {
    kir_builder *b = &c->w.b;
    uint8_t operand = (uint8_t)(c->w.key->choice / PLAN_INDEX_OPERAND + 1);
    kir_value *value, *falls;
    kir_set(b, c->at, c->first);
    kir_value *each = loop(c), *at = kir_get(b, c->at), *wrong = wrong_of(c, at, &value, &falls),
              *values[2] = {at, value};
    if (falls)
        kir_fault_if_values(b, falls, KIR_FAULT_DOMAIN, operand,
                            "offsets: segment {} ends at {-}, before it begins", 2, values);
    kir_fault_if_values(b, wrong, KIR_FAULT_DOMAIN, operand,
                        falls ? "offsets: segment {} ends at {-}, at most n expected"
                              : "indices: element {} is {-}, below n expected",
                        2, values);
    next(c, each, 1);
}

kir_module *plan_index_check(const plan_kernel_key *key) {
    checker c = {.wide = (key->choice & PLAN_INDEX_WIDE) != 0,
                 .offsets = (key->choice & PLAN_INDEX_OFFSETS) != 0};
    expand_begin(&c.w, key, "index_check");
    kir_builder *b = &c.w.b;
    if (b->failed) return expand_end(&c.w);
    c.at = kir_var_create(b->module, b->function, HG_TYPE_U64, 0, "at");
    c.any = kir_var_create(b->module, b->function, HG_TYPE_U32, 0, "any");
    c.limit = expand_value(&c.w, PLAN_INDEX_LIMIT);
    kir_value *step = expand_value(&c.w, PLAN_INDEX_STEP),
              *count = expand_value(&c.w, PLAN_INDEX_COUNT),
              *block = expand_id(&c.w, HG_ID_BLOCK_IDX_X, HG_TYPE_U32);
    c.first = kir_mul(b, kir_convert(b, KIR_ZEXT, HG_TYPE_U64, block), step);
    kir_value *behind = kir_add(b, c.first, step), *ends = below(b, behind, count);
    c.behind = kir_select(b, ends, behind, count);
    look(&c);
    kir_value *wrong = kir_if_begin(b, kir_not(b, is_zero(b, kir_get(b, c.any))));
    kir_value *start = u64(b, 0), *mark = u32(b, 1);
    expand_store(&c.w, PLAN_INDEX_BAD, start, mark);
    report(&c);
    kir_if_end(b, wrong);
    return expand_end(&c.w);
}
