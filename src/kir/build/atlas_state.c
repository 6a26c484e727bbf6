/* Atlas instructions on what a context keeps: resonance accumulators and phases (atlas/state.h),
 * and on the character table. Doubles are moved as bits, so that devices without them run this too.
 * What a lane added or wrote itself is in private arrays of the lane, made only where an
 * instruction of the program can see it.
 * Must not know: control flow, where the memory lives. */
#include "atlas/characters.h"
#include "isa/verify_internal.h"
#include "kir/build/build_internal.h"
#include "kir/access.h"
#include "kir/builder.h"
#include "kir/sugar.h"
#include "kir/define/define.h"
#include <stdio.h>
#include <string.h>

enum { WORDS = HG_RESONANCE_WORDS, EXPONENT = 0x7FF };

static kir_value *bit(kir_builder *b, kir_value *c) {
    return kir_select(b, c, u32(b, 1), u32(b, 0));
}
#define index_of(b, row, length, i) kir_add(b, by(b, KIR_MUL, row, length), i)

/* An element of plan memory: byte disp + index · size. index: u32. */
static kir_value *memory(kir_builder *b, kir_op op, kir_plan_memory which, uint8_t type,
                         int64_t disp, kir_value *index, uint8_t count, kir_value *const *values) {
    kir_place at = {
        .space = KIR_BUFFER, .class_id = (uint8_t)which, .disp = disp, .handle = u64(b, 0)};
    at.index = by(b, KIR_MUL, build_resize(b, HG_TYPE_U64, index), kir_type_bytes(type));
    return kir_access_make(b, op, type, &at, count, values);
}

static kir_value *state_load(kir_builder *b, uint8_t type, int64_t disp, kir_value *index) {
    return memory(b, KIR_LOAD, KIR_PLAN_STATE, type, disp, index, 0, NULL);
}
static kir_value *state_atomic(kir_builder *b, kir_atomic op, int64_t disp, kir_value *index,
                               uint8_t count, kir_value *const *values) {
    kir_value *v = memory(b, KIR_ATOMIC, KIR_PLAN_STATE, values[0]->type, disp, index, count,
                          values);
    v->u.mem.atomic = (uint8_t)op;
    return v;
}

/* ---- what the program needs in its lanes ---- */

static bool is_read(const hg_program *p, uint8_t reg) {
    hg_accesses a;
    for (uint32_t i = 0; i < p->inst_count; i++) {
        hg_inst_accesses(p, i, &a);
        for (uint32_t k = 0; k < a.reads; k++)
            if (!a.read[k].is_pred && a.read[k].reg == reg) return true;
    }
    return false;
}

/* Whether no lane comes twice to an instruction: it stands in the program itself, in a block that
 * does not lead back to itself. */
static bool runs_once(const build *x, uint32_t inst) {
    const hg_function *f = &x->cfg->functions[0];
    uint32_t home = HG_NO_BLOCK, depth = 0;
    for (uint32_t i = 1; i < x->cfg->function_count; i++)
        for (uint32_t k = 0; k < x->cfg->functions[i].block_count; k++)
            if (inst >= x->cfg->functions[i].blocks[k].first &&
                inst < x->cfg->functions[i].blocks[k].last)
                return false;
    uint32_t *stack = hg_calloc(2 * (size_t)f->block_count + 1, sizeof *stack);
    uint8_t *seen = hg_calloc(f->block_count, 1);
    for (uint32_t k = 0; k < f->block_count; k++)
        if (inst >= f->blocks[k].first && inst < f->blocks[k].last) home = k;
    bool once = stack && seen && home != HG_NO_BLOCK;
    if (once) stack[depth++] = home;
    while (depth && once) {
        const hg_block *block = &f->blocks[stack[--depth]];
        for (int k = 0; k < 2; k++) {
            uint32_t to = block->succ[k];
            if (to == HG_NO_BLOCK || seen[to]) continue;
            once = once && to != home;
            seen[to] = 1;
            stack[depth++] = to;
        }
    }
    hg_free(stack);
    hg_free(seen);
    return once;
}

typedef struct uses {
    uint32_t additions, sums, phase_reads, phase_writes, last; /* last: an addition */
    bool seen, any_class, classes[HG_CLASS_COUNT];
} uses;

static uses find_uses(const hg_program *p) {
    uses u = {0};
    for (uint32_t i = 0; i < p->inst_count; i++) {
        const hg_operand *o = hg_inst_operands(p, i);
        switch ((hg_op)p->insts[i].op) {
        case HG_OP_RES_ACCUM:
            u.additions++;
            u.last = i;
            u.seen = u.seen || is_read(p, o[0].reg);
            if (o[2].is_reg)
                u.any_class = true;
            else
                u.classes[o[2].value % HG_CLASS_COUNT] = true;
            break;
        case HG_OP_UNITY_TEST_EPS: u.sums++; break;
        case HG_OP_PHASE_READ: u.phase_reads++; break;
        case HG_OP_PHASE_WRITE: u.phase_writes++; break;
        default: break;
        }
    }
    return u;
}

static kir_var *lane_array(build *x, uint32_t length, const char *name) {
    kir_var *v = kir_var_create(x->module, NULL, HG_TYPE_U32, length, name);
    if (!v) x->b.failed = true;
    return v;
}

/* Rows of own accumulators: one where only one addition can happen, else one a class that is named,
 * 96 for classes in registers. */
static void lay_out_rows(build *x, const uses *u) {
    bool single = u->additions == 1 && runs_once(x, u->last);
    for (int c = 0; c < HG_CLASS_COUNT; c++) {
        bool used = u->any_class || u->classes[c];
        x->atlas.row[c] = single || !used ? 0 : x->atlas.rows;
        if (used && !single) x->atlas.rows++;
    }
    if (single) x->atlas.rows = 1;
    if (u->sums) x->atlas.rows++;
}

hg_status build_atlas_begin(build *x) {
    uses u = find_uses(x->program);
    bool own = u.additions && (u.seen || u.sums), phase = u.phase_reads && u.phase_writes;
    x->atlas.sums = u.sums != 0;
    if (own) {
        lay_out_rows(x, &u);
        x->atlas.own = lane_array(x, (uint32_t)x->atlas.rows * WORDS, "resonance");
        x->atlas.own_flags = lane_array(x, x->atlas.rows, "resonance_flags");
    }
    if (phase) x->atlas.own_phase = lane_array(x, HG_CLASS_COUNT, "phases");
    return x->b.failed ? kir_fail_making(x->module) : HG_OK;
}

/* ---- a double as words of an accumulator ---- */

typedef struct parts {
    kir_value *special, *flag, *negative; /* infinity or NaN, and which flag it is */
    kir_value *start, *word[3];           /* index of the first word */
} parts;

static kir_value *high_bits(kir_builder *b, kir_value *word, kir_value *n) { /* word >> (32 - n), 0
                                                                                for n = 0 */
    return kir_binary(b, KIR_LSHR, shift_by(b, KIR_LSHR, word, 1), by(b, KIR_XOR, n, 31));
}

static parts take_apart(kir_builder *b, kir_value *low, kir_value *high) {
    parts p;
    kir_value *exponent = by(b, KIR_AND, shift_by(b, KIR_LSHR, high, 20), EXPONENT),
              *top = by(b, KIR_AND, high, 0xFFFFF);
    kir_value *subnormal = is_zero(b, exponent);
    p.negative = kir_not(b, is_zero(b, shift_by(b, KIR_LSHR, high, 31)));
    p.special = by(b, KIR_CMP_EQ, exponent, EXPONENT);
    kir_value *infinite = is_zero(b, kir_binary(b, KIR_OR, top, low));
    p.flag = kir_select(
        b, infinite,
        kir_select(b, p.negative, u32(b, HG_RESONANCE_NEG_INF), u32(b, HG_RESONANCE_INF)),
        u32(b, HG_RESONANCE_NAN));
    top = kir_select(b, subnormal, top, by(b, KIR_OR, top, 0x100000));
    kir_value *at = kir_select(b, subnormal, exponent, by(b, KIR_SUB, exponent, 1)),
              *n = by(b, KIR_AND, at, 31);
    p.start = shift_by(b, KIR_LSHR, at, 5);
    p.word[0] = kir_binary(b, KIR_SHL, low, n);
    p.word[1] = kir_binary(b, KIR_OR, kir_binary(b, KIR_SHL, top, n), high_bits(b, low, n));
    p.word[2] = high_bits(b, top, n);
    return p;
}

/* The words that are still to be added, from the lowest on: variables of a helper function. */
typedef struct pending {
    kir_var *at, *carry, *word[3];
    kir_value *loop;
} pending;

static pending begin_words(build *x, kir_builder *b, kir_function *f, const parts *p) {
    static const char *const names[] = {"word0", "word1", "word2"};
    pending w = {.at = kir_var_create(x->module, f, HG_TYPE_U32, 0, "at")};
    w.carry = kir_var_create(x->module, f, HG_TYPE_U32, 0, "carry");
    for (int i = 0; i < 3; i++) w.word[i] = kir_var_create(x->module, f, HG_TYPE_U32, 0, names[i]);
    if (!w.at || !w.carry || !w.word[0] || !w.word[1] || !w.word[2]) {
        b->failed = true;
        return w;
    }
    kir_set(b, w.at, p->start);
    kir_set(b, w.carry, u32(b, 0));
    for (int i = 0; i < 3; i++) kir_set(b, w.word[i], p->word[i]);
    w.loop = kir_loop_begin(b, true); /* at most WORDS rounds: `at` grows */
    kir_value *over = kir_if_begin(b, kir_not(b, by(b, KIR_CMP_ULT, kir_get(b, w.at), WORDS)));
    kir_break(b);
    kir_if_end(b, over);
    return w;
}

/* Goes on to the next word, or leaves the loop when nothing is left. */
static void next_word(kir_builder *b, const pending *w, kir_value *carry) {
    kir_value *one = kir_get(b, w->word[1]), *two = kir_get(b, w->word[2]);
    kir_set(b, w->at, by(b, KIR_ADD, kir_get(b, w->at), 1));
    kir_set(b, w->carry, carry);
    kir_set(b, w->word[0], one);
    kir_set(b, w->word[1], two);
    kir_set(b, w->word[2], u32(b, 0));
    kir_value *left = kir_binary(b, KIR_OR, kir_binary(b, KIR_OR, one, two), carry),
              *done = kir_if_begin(b, is_zero(b, left));
    kir_break(b);
    kir_if_end(b, done);
    kir_loop_end(b, w->loop);
}

/* ---- the context's accumulator: magnitudes, added with atomics; each wrap of a word is one carry
 * of the lane that saw it ---- */

static kir_function *add_shared(build *x) {
    static const uint8_t types[] = {HG_TYPE_U32, HG_TYPE_U32, HG_TYPE_U32}; /* class, low, high */
    kir_builder b;
    bool fresh;
    kir_function *f = build_helper(x, "res.add", KIR_VOID, 3, types, &b, &fresh);
    if (!fresh) return f;
    kir_value *cls = kir_param(&b, 0);
    kir_value *low = kir_param(&b, 1), *high = kir_param(&b, 2);
    parts p = take_apart(&b, low, high);
    kir_value *special = kir_if_begin(&b, p.special);
    (void)state_atomic(&b, KIR_ATOMIC_OR, HG_STATE_PENDING_FLAGS, cls, 1, &p.flag);
    kir_return(&b, NULL);
    kir_if_end(&b, special);
    kir_value *row = kir_add(
        &b, cls, kir_select(&b, p.negative, u32(&b, HG_CLASS_COUNT), u32(&b, 0))); /* SUB
                                                                                      stands
                                                                                      behind
                                                                                      ADD
                                                                                    */
    kir_var *out = kir_var_create(x->module, f, HG_TYPE_U32, 0, "out");
    if (!out) b.failed = true;
    pending w = begin_words(x, &b, f, &p);
    if (!b.failed) {
        kir_value *at = kir_get(&b, w.at), *carry = kir_get(&b, w.carry),
                  *sum = kir_add(&b, kir_get(&b, w.word[0]), carry);
        kir_set(&b, out, bit(&b, kir_binary(&b, KIR_CMP_ULT, sum, carry))); /* then the sum is 0 */
        kir_value *some = kir_if_begin(&b, kir_not(&b, is_zero(&b, sum)));
        kir_value *old = state_atomic(&b, KIR_ATOMIC_ADD, HG_STATE_PENDING_ADD,
                                      index_of(&b, row, WORDS, at), 1, &sum);
        kir_set(&b, out, bit(&b, kir_binary(&b, KIR_CMP_ULT, kir_add(&b, old, sum), sum)));
        kir_if_end(&b, some);
        next_word(&b, &w, kir_get(&b, out));
    }
    x->b.failed |= b.failed;
    return f;
}

_Static_assert((int)HG_STATE_PENDING_SUB == (int)HG_STATE_PENDING_ADD + 4 * HG_CLASS_COUNT * WORDS,
               "add_shared");

/* ---- the lane's own accumulators: two's complement ---- */

static kir_function *add_own(build *x) {
    static const uint8_t types[] = {HG_TYPE_U32, HG_TYPE_U32, HG_TYPE_U32}; /* row, low, high */
    kir_builder b;
    bool fresh;
    kir_function *f = build_helper(x, "res.own", KIR_VOID, 3, types, &b, &fresh);
    if (!fresh) return f;
    kir_value *row = kir_param(&b, 0);
    kir_value *low = kir_param(&b, 1), *high = kir_param(&b, 2);
    parts p = take_apart(&b, low, high);
    kir_value *special = kir_if_begin(&b, p.special);
    kir_array_set(&b, x->atlas.own_flags, row,
                  kir_binary(&b, KIR_OR, kir_array_get(&b, x->atlas.own_flags, row), p.flag));
    kir_return(&b, NULL);
    kir_if_end(&b, special);
    pending w = begin_words(x, &b, f, &p);
    if (!b.failed) {
        kir_value *i = index_of(&b, row, WORDS, kir_get(&b, w.at)),
                  *old = kir_array_get(&b, x->atlas.own, i);
        kir_value *carry = kir_get(&b, w.carry), *more = kir_get(&b, w.word[0]);
        kir_value *sum = kir_add(&b, old, more), *up = kir_add(&b, sum, carry);
        kir_value *over = kir_binary(&b, KIR_OR, kir_binary(&b, KIR_CMP_ULT, sum, old),
                                     kir_binary(&b, KIR_CMP_ULT, up, sum));
        kir_value *rest = kir_sub(&b, old, more), *down = kir_sub(&b, rest, carry);
        kir_value *under = kir_binary(&b, KIR_OR, kir_binary(&b, KIR_CMP_ULT, old, more),
                                      kir_binary(&b, KIR_CMP_ULT, rest, carry));
        kir_array_set(&b, x->atlas.own, i, kir_select(&b, p.negative, down, up));
        next_word(&b, &w, bit(&b, kir_select(&b, p.negative, under, over)));
    }
    x->b.failed |= b.failed;
    return f;
}

/* ---- rounding: start + own, exact, then once to nearest even ---- */

typedef struct rounding {
    build *x;
    kir_builder *b;
    kir_value *row, *own;           /* parameters */
    kir_var *t, *carry, *top, *any; /* t: the sum, two words longer; top: index of the highest word
                                       that is not zero + 1 */
} rounding;

static void sum_words(rounding *r) {
    kir_builder *b = r->b;
    kir_set(b, r->carry, u32(b, 0));
    kir_for c = kir_for_begin(b, u32(b, WORDS));
    kir_value *start = state_load(b, HG_TYPE_U32, HG_STATE_RESONANCE,
                                  index_of(b, r->row, WORDS, c.i));
    kir_value *own = r->own ? kir_array_get(b, r->x->atlas.own, index_of(b, r->own, WORDS, c.i))
                            : u32(b, 0);
    kir_value *carry = kir_get(b, r->carry), *sum = kir_add(b, start, own),
              *all = kir_add(b, sum, carry);
    kir_array_set(b, r->t, c.i, all);
    kir_set(b, r->carry,
            bit(b, kir_binary(b, KIR_OR, kir_binary(b, KIR_CMP_ULT, sum, own),
                              kir_binary(b, KIR_CMP_ULT, all, sum))));
    kir_for_end(b, &c);
}

/* t becomes its magnitude; top is set. */
static void make_magnitude(rounding *r, kir_value *negative) {
    kir_builder *b = r->b;
    kir_value *flip = kir_select(b, negative, u32(b, UINT32_MAX), u32(b, 0));
    kir_set(b, r->carry, bit(b, negative));
    kir_set(b, r->top, u32(b, 1)); /* of zero too: clz of its word 0 is 32 */
    kir_for c = kir_for_begin(b, u32(b, WORDS));
    kir_value *carry = kir_get(b, r->carry),
              *word = kir_binary(b, KIR_XOR, kir_array_get(b, r->t, c.i), flip),
              *sum = kir_add(b, word, carry);
    kir_array_set(b, r->t, c.i, sum);
    kir_set(b, r->carry, bit(b, kir_binary(b, KIR_CMP_ULT, sum, carry)));
    kir_set(b, r->top, kir_select(b, is_zero(b, sum), kir_get(b, r->top), by(b, KIR_ADD, c.i, 1)));
    kir_for_end(b, &c);
}

/* Whether a bit of t below `at` is set, as 0 or 1. */
static kir_value *any_below(rounding *r, kir_value *at) {
    kir_builder *b = r->b;
    kir_value *word = shift_by(b, KIR_LSHR, at, 5),
              *mask = by(b, KIR_SUB, kir_binary(b, KIR_SHL, u32(b, 1), by(b, KIR_AND, at, 31)), 1);
    kir_set(b, r->any, kir_binary(b, KIR_AND, kir_array_get(b, r->t, word), mask));
    kir_for c = kir_for_begin(b, word);
    kir_set(b, r->any, kir_binary(b, KIR_OR, kir_get(b, r->any), kir_array_get(b, r->t, c.i)));
    kir_for_end(b, &c);
    return bit(b, kir_not(b, is_zero(b, kir_get(b, r->any))));
}

/* 32 bits of t from bit n of word w on. */
static kir_value *window(rounding *r, kir_value *w, kir_value *n) {
    kir_builder *b = r->b;
    kir_value *low = kir_array_get(b, r->t, w),
              *next = kir_array_get(b, r->t, by(b, KIR_ADD, w, 1));
    return kir_binary(b, KIR_OR, kir_binary(b, KIR_LSHR, low, n),
                      kir_binary(b, KIR_SHL, shift_by(b, KIR_SHL, next, 1), by(b, KIR_XOR, n, 31)));
}

static kir_value *join(kir_builder *b, kir_value *low, kir_value *high) {
    kir_value *up = shift_by(b, KIR_SHL, kir_convert(b, KIR_ZEXT, HG_TYPE_U64, high), 32);
    return kir_binary(b, KIR_OR, up, kir_convert(b, KIR_ZEXT, HG_TYPE_U64, low));
}

/* The magnitude's nearest double, as bits. Up to 53 bits the number is its own pattern; above, the
 * pattern is (shift << 52) + its top 53 bits: the hidden bit adds 1 to the exponent, and a carry
 * out of rounding one more. */
static kir_value *round_magnitude(rounding *r) {
    kir_builder *b = r->b;
    kir_value *top = kir_get(b, r->top),
              *last = kir_select(b, is_zero(b, top), u32(b, 0), by(b, KIR_SUB, top, 1));
    kir_value *bits = kir_sub(b, by(b, KIR_MUL, top, 32),
                              kir_unary(b, KIR_CLZ, kir_array_get(b, r->t, last)));
    bits = kir_select(b, is_zero(b, top), u32(b, 0), bits);
    kir_value *exact = by(b, KIR_CMP_ULT, bits, 54);
    kir_value *n = kir_select(b, exact, u32(b, 0), by(b, KIR_SUB, bits, 53)),
              *below = kir_select(b, exact, u32(b, 0), by(b, KIR_SUB, n, 1));
    kir_value *word = shift_by(b, KIR_LSHR, n, 5), *part = by(b, KIR_AND, n, 31);
    kir_value *low = window(r, word, part), *high = window(r, by(b, KIR_ADD, word, 1), part);
    kir_value *half = kir_binary(b, KIR_LSHR,
                                 kir_array_get(b, r->t, shift_by(b, KIR_LSHR, below, 5)),
                                 by(b, KIR_AND, below, 31));
    kir_value *up = kir_binary(b, KIR_AND, half,
                               kir_binary(b, KIR_OR, any_below(r, below), by(b, KIR_AND, low, 1)));
    up = kir_select(b, exact, u32(b, 0), by(b, KIR_AND, up, 1));
    kir_value *pattern = kir_add(b, join(b, low, high), kir_convert(b, KIR_ZEXT, HG_TYPE_U64, up));
    pattern = kir_add(b, pattern,
                      shift_by(b, KIR_SHL, kir_convert(b, KIR_ZEXT, HG_TYPE_U64, n), 52));
    kir_value *most = kir_const(b, HG_TYPE_U64, (uint64_t)EXPONENT << 52);
    return kir_select(b, kir_binary(b, KIR_CMP_ULT, pattern, most), pattern, most);
}

static kir_value *with_flags(rounding *r, kir_value *pattern) {
    kir_builder *b = r->b;
    kir_value *flags = state_load(b, HG_TYPE_U32, HG_STATE_FLAGS, r->row);
    if (r->own)
        flags = kir_binary(b, KIR_OR, flags, kir_array_get(b, r->x->atlas.own_flags, r->own));
    kir_value *both = by(b, KIR_AND, flags, HG_RESONANCE_INF | HG_RESONANCE_NEG_INF);
    kir_value *nan = kir_binary(b, KIR_OR,
                                by(b, KIR_CMP_EQ, both, HG_RESONANCE_INF | HG_RESONANCE_NEG_INF),
                                kir_not(b, is_zero(b, by(b, KIR_AND, flags, HG_RESONANCE_NAN))));
    kir_value *negative = by(b, KIR_CMP_EQ, both, HG_RESONANCE_NEG_INF);
    kir_value *infinite = kir_select(b, negative, kir_const(b, HG_TYPE_U64, UINT64_C(0xFFF) << 52),
                                     kir_const(b, HG_TYPE_U64, UINT64_C(0x7FF) << 52));
    pattern = kir_select(b, is_zero(b, both), pattern, infinite);
    return kir_select(b, nan, kir_const(b, HG_TYPE_U64, UINT64_C(0x7FF8) << 48), pattern);
}

/* The double of a start accumulator and (where lanes keep them) an own one, as bits. */
static kir_function *round_function(build *x) {
    static const uint8_t types[] = {HG_TYPE_U32, HG_TYPE_U32}; /* row of the state, own row */
    kir_builder b;
    bool fresh;
    kir_function *f = build_helper(x, "res.round", HG_TYPE_U64, x->atlas.own ? 2 : 1, types, &b,
                                   &fresh);
    if (!fresh) return f;
    rounding r = {.x = x, .b = &b, .row = kir_param(&b, 0)};
    if (x->atlas.own) r.own = kir_param(&b, 1);
    r.t = kir_var_create(x->module, f, HG_TYPE_U32, WORDS + 2, "sum");
    r.carry = kir_var_create(x->module, f, HG_TYPE_U32, 0, "carry");
    r.top = kir_var_create(x->module, f, HG_TYPE_U32, 0, "top");
    r.any = kir_var_create(x->module, f, HG_TYPE_U32, 0, "any");
    if (!r.t || !r.carry || !r.top || !r.any) b.failed = true;
    if (!b.failed) {
        kir_array_set(&b, r.t, u32(&b, WORDS), u32(&b, 0)); /* a private array may hold what the
                                                               last call left */
        kir_array_set(&b, r.t, u32(&b, WORDS + 1), u32(&b, 0));
        sum_words(&r);
        kir_value *sign = shift_by(&b, KIR_LSHR, kir_array_get(&b, r.t, u32(&b, WORDS - 1)), 31);
        make_magnitude(&r, kir_not(&b, is_zero(&b, sign)));
        kir_value *pattern = round_magnitude(&r);
        pattern = kir_binary(
            &b, KIR_OR, pattern,
            shift_by(&b, KIR_SHL, kir_convert(&b, KIR_ZEXT, HG_TYPE_U64, sign), 63));
        kir_return(&b, with_flags(&r, pattern));
    }
    x->b.failed |= b.failed;
    return f;
}

/* ---- res.accum, unity.test eps ---- */

static kir_value *call(build *x, kir_function *f, uint8_t count, kir_value *const *args) {
    return f ? kir_call(&x->b, f, count, args, NULL) : &x->b.dummy;
}

static kir_value *class_of(build *x, uint32_t inst, uint32_t operand) {
    return build_below(x, build_number(x, inst, operand), HG_CLASS_COUNT, operand,
                       "invalid class index: {} (must be < 96)");
}

/* The own row of a class: a number where the class is one. */
static kir_value *row_of(build *x, uint32_t inst, kir_value *cls) {
    const hg_operand *o = &hg_inst_operands(x->program, inst)[2];
    uint8_t classes = (uint8_t)(x->atlas.rows - (x->atlas.sums ? 1 : 0));
    if (!o->is_reg) return u32(&x->b, x->atlas.row[o->value]);
    return classes == 1 ? u32(&x->b, 0) : cls;
}

static void accumulate(build *x, uint32_t inst) {
    kir_builder *b = &x->b;
    const hg_operand *o = hg_inst_operands(x->program, inst);
    hg_type type = (hg_type)x->types[x->program->insts[inst].operands + 1];
    kir_value *value = kir_cvt(b, HG_TYPE_F64, type, build_get(x, o[1].reg, kir_type_of(type)));
    kir_value *bits = kir_convert(b, KIR_BITCAST, HG_TYPE_U64, value), *cls = class_of(x, inst, 2);
    kir_value *low = build_resize(b, HG_TYPE_U32, bits),
              *high = build_resize(b, HG_TYPE_U32, shift_by(b, KIR_LSHR, bits, 32));
    kir_value *args[] = {cls, low, high};
    (void)call(x, add_shared(x), 3, args);
    if (!x->atlas.own) { /* it is never read */
        build_set(x, o[0].reg, kir_const(b, HG_TYPE_F64, 0));
        return;
    }
    args[0] = row_of(x, inst, cls);
    (void)call(x, add_own(x), 3, args);
    kir_value *result = call(x, round_function(x), 2, (kir_value *[]){cls, args[0]});
    if (x->atlas.sums) {
        args[0] = u32(b, x->atlas.rows - 1u);
        (void)call(x, add_own(x), 3, args);
    }
    build_set(x, o[0].reg, kir_convert(b, KIR_BITCAST, HG_TYPE_F64, result));
}

static void test_sum(build *x, uint32_t inst) {
    kir_builder *b = &x->b;
    const hg_operand *o = hg_inst_operands(x->program, inst);
    uint64_t eps;
    memcpy(&eps, hg_literal(x->program, &o[1]), sizeof eps);
    if (eps == 0 || eps > (uint64_t)EXPONENT << 52) { /* zero, negative or NaN: nothing is below */
        build_set_pred(x, o[0].reg, kir_const(b, KIR_BOOL, 0));
        return;
    }
    kir_value *args[2] = {u32(b, HG_RESONANCE_TOTAL)};
    if (x->atlas.own) args[1] = u32(b, x->atlas.rows - 1u);
    kir_value *sum = call(x, round_function(x), x->atlas.own ? 2 : 1, args);
    build_set_pred(x, o[0].reg, by(b, KIR_CMP_ULT, by(b, KIR_AND, sum, INT64_MAX), eps));
}

/* ---- phases ---- */

static kir_value *modulo(kir_builder *b, kir_value *v, uint64_t n) {
    uint32_t bits = kir_type_bits(v->type);
    return bits < 64 && n >> bits != 0 ? v : by(b, KIR_UREM, v, n);
}

/* An integer modulo 768 as u32, never negative. */
static kir_value *phase_of(build *x, hg_type type, kir_value *v) {
    kir_builder *b = &x->b;
    if (!hg_type_is_signed(type))
        return build_resize(b, HG_TYPE_U32, modulo(b, v, HG_PHASE_MODULUS));
    uint32_t bits = kir_type_bits(v->type);
    if (bits < 32) v = kir_convert(b, KIR_SEXT, HG_TYPE_U32, v);
    kir_value *rest = build_resize(b, HG_TYPE_U32, by(b, KIR_SREM, v, HG_PHASE_MODULUS)),
              *zero = u32(b, 0);
    return kir_select(b, kir_binary(b, KIR_CMP_SLT, rest, zero),
                      by(b, KIR_ADD, rest, HG_PHASE_MODULUS), rest);
}

static void read_phase(build *x, uint32_t inst) {
    kir_builder *b = &x->b;
    kir_value *cls = class_of(x, inst, 1), *phase = state_load(b, HG_TYPE_U32, HG_STATE_PHASE, cls);
    if (x->atlas.own_phase) {
        kir_value *own = kir_array_get(b, x->atlas.own_phase, cls);
        phase = kir_select(b, is_zero(b, own), phase, by(b, KIR_SUB, own, 1));
    }
    build_set(x, hg_inst_operands(x->program, inst)[0].reg, phase);
}

/* The key of the highest lane stays: of one lane the last, which may be smaller than what it wrote
 * before. */
static void write_phase(build *x, uint32_t inst) {
    kir_builder *b = &x->b;
    hg_type type = (hg_type)x->types[x->program->insts[inst].operands];
    kir_value *phase = phase_of(
        x, type, build_get(x, hg_inst_operands(x->program, inst)[0].reg, kir_type_of(type)));
    kir_value *cls = class_of(x, inst, 1);
    kir_value *lane = kir_emit(b, KIR_ID, HG_TYPE_U64, 0, NULL);
    lane->u.imm = HG_ID_GLOBAL_LANE_ID;
    kir_value *who = shift_by(b, KIR_SHL, by(b, KIR_ADD, lane, 1), 10),
              *key = kir_binary(b, KIR_OR, who, kir_convert(b, KIR_ZEXT, HG_TYPE_U64, phase));
    kir_value *old = state_atomic(b, KIR_ATOMIC_UMAX, HG_STATE_PENDING_PHASE, cls, 1, &key);
    kir_value *mine = kir_binary(b, KIR_CMP_EQ, shift_by(b, KIR_LSHR, old, HG_PENDING_PHASE_BITS),
                                 shift_by(b, KIR_LSHR, key, HG_PENDING_PHASE_BITS));
    kir_value *again = kir_if_begin(
        b, kir_binary(b, KIR_AND, mine, kir_binary(b, KIR_CMP_ULT, key, old)));
    (void)state_atomic(b, KIR_ATOMIC_CAS, HG_STATE_PENDING_PHASE, cls, 2,
                       (kir_value *[]){old, key});
    kir_if_end(b, again);
    if (x->atlas.own_phase) kir_array_set(b, x->atlas.own_phase, cls, by(b, KIR_ADD, phase, 1));
}

static kir_var *lane_phase(build *x) {
    if (!x->atlas.phase) x->atlas.phase = kir_var_create(x->module, NULL, HG_TYPE_U32, 0, "phase");
    if (!x->atlas.phase) x->b.failed = true;
    return x->atlas.phase;
}

static void advance_phase(build *x, uint32_t inst) {
    kir_builder *b = &x->b;
    kir_var *phase = lane_phase(x);
    const hg_operand *o = hg_inst_operands(x->program, inst);
    kir_value *delta = o->is_reg
                           ? build_resize(b, HG_TYPE_U32,
                                          modulo(b, build_number(x, inst, 0), HG_PHASE_MODULUS))
                           : u32(b, o->value % HG_PHASE_MODULUS);
    if (!phase) return;
    kir_value *sum = kir_add(b, kir_get(b, phase), delta),
              *inside = by(b, KIR_CMP_ULT, sum, HG_PHASE_MODULUS);
    kir_set(b, phase, kir_select(b, inside, sum, by(b, KIR_SUB, sum, HG_PHASE_MODULUS)));
}

static void get_phase(build *x, uint32_t inst) {
    kir_var *phase = lane_phase(x);
    if (phase) build_set(x, hg_inst_operands(x->program, inst)[0].reg, kir_get(&x->b, phase));
}

/* ---- characters ---- */

static void fixed_character(build *x, hg_type type, const hg_operand *o) { /* verified: indices, and
                                                                              rational where it must
                                                                              be */
    uint8_t bytes[16] = {0};
    double real = 0;
    bool found = type == HG_TYPE_I128
                     ? hg_character_i128(o[1].value, o[2].value, bytes) == HG_OK
                     : hg_character_f64(o[1].value, o[2].value, &real, NULL) == HG_OK;
    if (!found) x->b.failed = true;
    if (type == HG_TYPE_F64) memcpy(bytes, &real, sizeof real);
    build_set(x, o[0].reg, kir_const_bytes(&x->b, kir_type_of(type), bytes));
}

static void character(build *x, uint32_t inst) {
    static const char TEXT[] = "invalid character index: {} (must be < 194)";
    kir_builder *b = &x->b;
    const hg_operand *o = hg_inst_operands(x->program, inst);
    hg_type type = (hg_type)x->program->insts[inst].type;
    if (!o[1].is_reg && !o[2].is_reg) {
        fixed_character(x, type, o);
        return;
    }
    kir_value *row = build_below(x, build_number(x, inst, 1), HG_CHARACTER_COUNT, 1, TEXT),
              *column = build_below(x, build_number(x, inst, 2), HG_CHARACTER_COUNT, 2, TEXT);
    kir_value *at = index_of(b, row, HG_CHARACTER_COUNT, column);
    int64_t start = type == HG_TYPE_I128 ? 0 : (int64_t)HG_CHARACTER_ENTRIES * 16;
    kir_value *v = memory(b, KIR_LOAD, KIR_PLAN_CHARACTERS, kir_type_of(type), start, at, 0, NULL);
    if (type == HG_TYPE_I128) {
        static const uint8_t none[16] = {[15] = 0x80};
        build_fault(x, kir_binary(b, KIR_CMP_EQ, v, kir_const_bytes(b, HG_TYPE_U128, none)),
                    KIR_FAULT_DOMAIN, 2, "character value not rational", 0, NULL);
    }
    build_set(x, o[0].reg, v);
}

void build_atlas_state(build *x, uint32_t inst) {
    switch ((hg_op)x->program->insts[inst].op) {
    case HG_OP_UNITY_TEST_EPS: test_sum(x, inst); break;
    case HG_OP_RES_ACCUM: accumulate(x, inst); break;
    case HG_OP_PHASE_READ: read_phase(x, inst); break;
    case HG_OP_PHASE_WRITE: write_phase(x, inst); break;
    case HG_OP_PHASE_GET: get_phase(x, inst); break;
    case HG_OP_PHASE_ADV: advance_phase(x, inst); break;
    case HG_OP_CHAR_PRODUCT: character(x, inst); break;
    default: break;
    }
}
