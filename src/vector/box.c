/* TURNS of whole blocks in which all goes well. What an index can be in a block follows from what
 * it is made of: sums and products of where a lane is in the block grow with each of those numbers,
 * so that the largest index is that of the last lane, if nothing wraps there. That is asked once,
 * in front of TURNS, which get the answer as an argument: where it is true they run without what it
 * settles.
 *
 * Requires: vec_verify. Must not know: targets. */
#include "vector/passes.h"
#include "kir/analysis/range.h"

enum { MOST_VALUES = 2048, MOST_STRIDE = 1 << 20, MOST_DEPTH = 8 };

/* What a value can be in a block: u64s, operations in front of TURNS. */
typedef struct bounds {
    vec_value *low, *high;
} bounds;

typedef struct finder {
    vec_kernel *k;
    bool *bounded; /* by id: the least and the largest value in a block can be said, if nothing
                      wraps */
    bool *wanted;  /* by id: a condition is made of it */
    bounds *of;    /* by id, of those that are wanted */
    /* of a TURNS */
    vec_value *turns, *all; /* all: what is asked so far */
    bool failed;            /* out of memory */
} finder;

/* ---- bounds ---- */

static bool is_number(const vec_value *v) { return v->op == VEC_CONST; }

static bool has_bounds(const finder *s, const vec_value *v) {
    return is_number(v) || s->bounded[v->id];
}

static bool prim_has_bounds(const finder *s, const vec_value *v) {
    const vec_value *const *a = (const vec_value *const *)v->args;
    switch ((kir_op)v->prim) {
    case KIR_ADD:
    case KIR_SUB:
    case KIR_MUL: return has_bounds(s, a[0]) && has_bounds(s, a[1]);
    case KIR_SHL:
    case KIR_LSHR:
        return has_bounds(s, a[0]) && is_number(a[1]) && a[1]->u.imm < kir_type_bits(v->type);
    case KIR_AND:
        return has_bounds(s, a[0]) && is_number(a[1]) && (a[1]->u.imm & (a[1]->u.imm + 1)) == 0;
    case KIR_ZEXT:
    case KIR_TRUNC: return has_bounds(s, a[0]);
    default: return false;
    }
}

static bool find_bounded(const finder *s, const vec_value *v) {
    if (v->each || v->type == KIR_VOID || v->type == KIR_BOOL || kir_type_is_float(v->type))
        return false;
    if (!vec_turns_around(v)) return true;
    switch ((vec_op)v->op) {
    case VEC_FIRST: return true;
    case VEC_ID: return hg_idname_part((hg_idname)v->u.imm) == HG_PART_LANE_IDX;
    case VEC_PRIM: return prim_has_bounds(s, v);
    default: return false;
    }
}

/* ---- conditions ---- */

static bool check(const finder *s, vec_value *v) {
    int64_t low = 0, high = 0;
    if (v->u.mem.open || v->u.mem.reach == VEC_REACH_EACH || !vec_reach_of(s->k, v, &low, &high) ||
        high <= 0)
        return false;
    if (v->u.mem.has_index && !has_bounds(s, v->args[0])) return false;
    if (v->u.mem.has_index) s->wanted[v->args[0]->id] = true;
    return true;
}

/* Whether the first is below the second for all lanes of the block, as far as that can be asked:
 * bounds say it. */
static bool below(const finder *s, const vec_value *v, bool mark, int depth) {
    if (v->op != VEC_PRIM || v->each || depth == 0) return false;
    if (v->prim == KIR_AND)
        return below(s, v->args[0], mark, depth - 1) && below(s, v->args[1], mark, depth - 1);
    if (v->prim != KIR_CMP_ULT || !has_bounds(s, v->args[0]) || !has_bounds(s, v->args[1]))
        return false;
    for (int i = 0; mark && i < 2; i++) s->wanted[v->args[i]->id] = true;
    return true;
}

static bool ends_lanes(const vec_region *r) {
    for (const vec_value *v = vec_walk(NULL, r); v; v = vec_walk(v, r))
        if (vec_op_has((vec_op)v->op, VEC_F_LOSES)) return true;
    return false;
}

/* What the launch says, and numbers: what lanes are compared with that may be behind an end. */
static bool is_of_launch(const vec_value *v, int depth, bool *input) {
    if (v->op == VEC_INPUT) *input = true;
    if (v->op == VEC_INPUT || v->op == VEC_CONST) return true;
    if (v->op != VEC_PRIM || v->each || depth == 0) return false;
    for (uint8_t i = 0; i < v->nargs; i++)
        if (!is_of_launch(v->args[i], depth - 1, input)) return false;
    return true;
}

/* The RAMP that an operation is, or widens; NULL: none. */
static vec_value *ramp_of(const vec_value *v) {
    if (v->op == VEC_PRIM && v->prim == KIR_ZEXT && v->each) v = v->args[0];
    return v->op == VEC_RAMP && v->u.imm <= MOST_STRIDE ? (vec_value *)(uintptr_t)v : NULL;
}

/* Whether all lanes of the block are before such an end. */
static bool is_before_end(const finder *s, vec_value *v) {
    bool input = false;
    if (v->prim != KIR_CMP_ULT || v->args[1]->each ||
        !is_of_launch(v->args[1], MOST_DEPTH, &input) || !input)
        return false;
    vec_value *ramp = v->args[0]->each ? ramp_of(v->args[0]) : NULL,
              *of = ramp ? ramp->args[0] : v->args[0];
    if (ramp && ramp->u.imm * (s->k->lanes - 1) > kir_range_full(ramp->type).high)
        return false; /* it wraps within a turn */
    if (of->each || !has_bounds(s, of) || !has_bounds(s, v->args[1])) return false;
    s->wanted[of->id] = s->wanted[v->args[1]->id] = true;
    return true;
}

/* Whether the mask has all lanes where the comparisons that are settled are true. */
static bool is_whole(const vec_value *v, int depth) {
    if (v->op == VEC_RUNNING || (v->op == VEC_PRIM && v->settled)) return true;
    if (depth == 0) return false;
    if (v->op == VEC_PRIM && v->prim == KIR_AND)
        return is_whole(v->args[0], depth - 1) && is_whole(v->args[1], depth - 1);
    if (v->op != VEC_GET) return false;
    const vec_value *set = v->before;
    while (set && set->op != VEC_TURNS && (set->op != VEC_SET || set->u.var != v->u.var))
        set = set->before;
    return set && set->op == VEC_SET && !set->mask && is_whole(set->args[0], depth - 1);
}

static void visit(const finder *s, const vec_region *r);

/* What stands behind a mask that has only some lanes is asked where they are known. */
static void branch(const finder *s, vec_value *v) {
    bool odd = v->body[1]->first && ends_lanes(v->body[1]);
    if (odd && below(s, v->args[0], false, MOST_DEPTH))
        v->settled = below(s, v->args[0], true, MOST_DEPTH);
    if (odd && !v->settled) return;
    if (v->args[0]->op == VEC_ANY && !is_whole(v->args[0]->args[0], MOST_DEPTH)) return;
    visit(s, v->body[0]);
    if (!v->settled) visit(s, v->body[1]);
}

/* Nesting is bounded, as that of the kernel IR is. */
static void visit(const finder *s, const vec_region *r) {
    for (vec_value *v = r->first; v; v = v->next) {
        if (v->op == VEC_CHECK)
            v->settled = check(s, v);
        else if (v->op == VEC_PRIM && v->uses)
            v->settled = is_before_end(s, v);
        else if (v->op == VEC_IF)
            branch(s, v);
        else if (v->op == VEC_LOOP)
            visit(s, v->body[0]);
    }
}

static void mark_operands(const finder *s) {
    vec_value *last = NULL;
    for (vec_value *v = vec_walk(NULL, s->turns->body[0]); v; v = vec_walk(v, s->turns->body[0]))
        last = v;
    for (; last && last != s->turns; last = last->before)
        for (uint8_t i = 0; s->wanted[last->id] && i < last->nargs; i++)
            s->wanted[last->args[i]->id] = true;
}

/* ---- the question, as operations in front of TURNS ---- */

static vec_value *put(finder *s, vec_op op, uint8_t type, uint8_t nargs, vec_value *const *args) {
    static vec_value nowhere;
    vec_value *v = hg_arena_alloc(&s->k->arena, sizeof *v),
              **list = hg_arena_alloc(&s->k->arena, (nargs + 1u) * sizeof *list);
    if (!v || !list) {
        s->failed = true;
        return &nowhere;
    }
    for (uint8_t i = 0; i < nargs; i++) list[i] = args[i];
    *v = (vec_value){.op = (uint8_t)op,
                     .type = type,
                     .nargs = nargs,
                     .args = list,
                     .inst = s->turns->inst,
                     .tested = true};
    v->parent = s->turns->parent;
    v->next = s->turns;
    v->prev = s->turns->prev;
    *(v->prev ? &v->prev->next : &v->parent->first) = v;
    s->turns->prev = v;
    return v;
}

static vec_value *prim(finder *s, kir_op op, uint8_t type, vec_value *a, vec_value *b) {
    vec_value *v = put(s, VEC_PRIM, type, b ? 2 : 1, (vec_value *[]){a, b});
    v->prim = (uint8_t)op;
    return v;
}

static vec_value *number(finder *s, uint8_t type, uint64_t n) {
    vec_value *v = put(s, VEC_CONST, type, 0, NULL);
    v->u.imm = n;
    return v;
}

static vec_value *u64(finder *s, uint64_t n) { return number(s, HG_TYPE_U64, n); }
static vec_value *add(finder *s, vec_value *a, vec_value *b) {
    return prim(s, KIR_ADD, HG_TYPE_U64, a, b);
}
static vec_value *sub(finder *s, vec_value *a, vec_value *b) {
    return prim(s, KIR_SUB, HG_TYPE_U64, a, b);
}
static vec_value *mul(finder *s, vec_value *a, vec_value *b) {
    return prim(s, KIR_MUL, HG_TYPE_U64, a, b);
}
static vec_value *less(finder *s, vec_value *a, vec_value *b) {
    return prim(s, KIR_CMP_ULT, KIR_BOOL, a, b);
}
static vec_value *widened(finder *s, vec_value *v) {
    return v->type == HG_TYPE_U64 ? v : prim(s, KIR_ZEXT, HG_TYPE_U64, v, NULL);
}

static vec_value *choose(finder *s, vec_value *condition, vec_value *a, vec_value *b) {
    vec_value *v = put(s, VEC_PRIM, HG_TYPE_U64, 3, (vec_value *[]){condition, a, b});
    v->prim = KIR_SELECT;
    return v;
}

static void ask(finder *s, vec_value *condition) {
    s->all = prim(s, KIR_AND, KIR_BOOL, s->all, condition);
}
static void ask_not(finder *s, vec_value *condition) {
    ask(s, prim(s, KIR_XOR, KIR_BOOL, condition, number(s, KIR_BOOL, 1)));
}

/* Where the type has fewer than 64 bits, that the sum or product of such numbers has no more. */
static void ask_fits(finder *s, vec_value *v, uint8_t type) {
    if (kir_type_bits(type) < 64) ask(s, less(s, v, u64(s, UINT64_C(1) << kir_type_bits(type))));
}

static vec_value *exact_sum(finder *s, uint8_t type, vec_value *a, vec_value *b) {
    vec_value *made = add(s, a, b);
    ask_fits(s, made, type);
    if (kir_type_bits(type) == 64) ask_not(s, less(s, made, a));
    return made;
}

static vec_value *exact_difference(finder *s, vec_value *a, vec_value *b) {
    ask_not(s, less(s, a, b));
    return sub(s, a, b);
}

static bounds times(finder *s, uint8_t type, bounds x, bounds y) {
    bounds made = {.low = mul(s, x.low, y.low)};
    made.high = mul(s, x.high, y.high);
    ask_fits(s, made.high, type);
    if (kir_type_bits(type) < 64) return made;
    vec_value *over = prim(s, KIR_MULHI_U, HG_TYPE_U64, x.high, y.high), *none = u64(s, 0);
    ask(s, prim(s, KIR_CMP_EQ, KIR_BOOL, over, none));
    return made;
}

static bounds minus(finder *s, bounds x, bounds y) {
    vec_value *low = exact_difference(s, x.low, y.high);
    return (bounds){low, sub(s, x.high, y.low)};
}

static bounds both(vec_value *x) { return (bounds){x, x}; }

static bounds bounds_of(finder *s, vec_value *v) {
    if (v->op == VEC_CONST) return both(u64(s, v->u.imm));
    if (!vec_turns_around(v)) return both(widened(s, v));
    return s->of[v->id];
}

/* A sum with a number that has its top bit: a difference. */
static bool is_negative(const vec_value *v) {
    return is_number(v) && v->u.imm >> (kir_type_bits(v->type) - 1) & 1;
}

static bounds sum(finder *s, const vec_value *v) {
    for (int i = 0; i < 2; i++)
        if (is_negative(v->args[i]))
            return minus(s, bounds_of(s, v->args[1 - i]),
                         both(u64(s, (0 - v->args[i]->u.imm) & kir_range_full(v->type).high)));
    const bounds x = bounds_of(s, v->args[0]), y = bounds_of(s, v->args[1]);
    vec_value *low = add(s, x.low, y.low);
    return (bounds){low, exact_sum(s, v->type, x.high, y.high)};
}

static bounds of_prim(finder *s, const vec_value *v) {
    bounds x = bounds_of(s, v->args[0]);
    switch ((kir_op)v->prim) {
    case KIR_ADD: return sum(s, v);
    case KIR_SUB: return minus(s, x, bounds_of(s, v->args[1]));
    case KIR_MUL: return times(s, v->type, x, bounds_of(s, v->args[1]));
    case KIR_SHL: return times(s, v->type, x, both(u64(s, UINT64_C(1) << v->args[1]->u.imm)));
    case KIR_LSHR: {
        vec_value *by = number(s, HG_TYPE_U32, v->args[1]->u.imm),
                  *low = prim(s, KIR_LSHR, HG_TYPE_U64, x.low, by);
        return (bounds){low, prim(s, KIR_LSHR, HG_TYPE_U64, x.high, by)};
    }
    case KIR_AND: {
        vec_value *low = u64(s, 0), *mask = u64(s, v->args[1]->u.imm),
                  *fewer = less(s, x.high, mask);
        return (bounds){low, choose(s, fewer, x.high, mask)};
    }
    case KIR_TRUNC: ask_fits(s, x.high, v->type); return x;
    default: return x; /* ZEXT */
    }
}

static vec_value *block_size(finder *s, hg_idname name) {
    vec_value *v = put(s, VEC_ID, HG_TYPE_U32, 0, NULL);
    v->u.imm = name;
    return widened(s, v);
}

/* Of a turn's first lane. */
static bounds of_place(finder *s, const vec_value *v) {
    static const hg_idname sizes[] = {HG_ID_BLOCK_DIM_X, HG_ID_BLOCK_DIM_Y, HG_ID_BLOCK_DIM_Z};
    const bool first = v->op == VEC_FIRST;
    const uint32_t axis = first ? 0 : hg_idname_axis((hg_idname)v->u.imm);
    vec_value *low = first ? put(s, VEC_BEGIN, HG_TYPE_U64, 0, NULL) : u64(s, 0);
    vec_value *end = first ? put(s, VEC_END, HG_TYPE_U64, 0, NULL) : block_size(s, sizes[axis]);
    vec_value *last = u64(s, axis == 0 ? s->k->lanes : 1);
    return (bounds){low, sub(s, end, last)};
}

static void ask_below(finder *s, const vec_value *v) {
    if (v->prim == KIR_AND) {
        for (int i = 0; i < 2; i++) ask_below(s, v->args[i]);
        return;
    }
    vec_value *ramp = v->args[0]->each ? ramp_of(v->args[0]) : NULL;
    vec_value *least = bounds_of(s, v->args[1]).low,
              *most = bounds_of(s, ramp ? ramp->args[0] : v->args[0]).high;
    if (ramp) most = exact_sum(s, ramp->type, most, u64(s, ramp->u.imm * (s->k->lanes - 1)));
    ask(s, less(s, most, least));
}

static void ask_check(finder *s, const vec_value *v) {
    int64_t low = 0, high = 0;
    bounds at = v->u.mem.has_index ? bounds_of(s, v->args[0]) : both(u64(s, 0));
    if (!vec_reach_of(s->k, v, &low, &high)) return; /* that was asked before: check() */
    vec_value *size = put(s, VEC_SIZE, HG_TYPE_U64, 0, NULL), *last = u64(s, (uint64_t)high - 1);
    size->u.mem = v->u.mem;
    size->u.mem.reach = VEC_REACH_ONE;
    size->u.mem.has_index = size->u.mem.small = false;
    size->u.mem.disp = size->u.mem.stride = 0;
    size->u.mem.operand = 0;
    size->u.mem.bytes = 8;
    size->u.mem.size = 8;
    vec_value *few = less(s, size, last), *none = u64(s, 0), *left = sub(s, size, last);
    ask(s, less(s, at.high, choose(s, few, none, left)));
    if (low < 0) ask_not(s, less(s, at.low, u64(s, (uint64_t)-low)));
}

static void write_question(finder *s) {
    const vec_region *body = s->turns->body[0];
    s->all = put(s, VEC_INTACT, KIR_BOOL, 0, NULL);
    for (vec_value *v = vec_walk(NULL, body); v; v = vec_walk(v, body)) {
        if (s->wanted[v->id] && v->op != VEC_CONST)
            s->of[v->id] = v->op == VEC_PRIM ? of_prim(s, v) : of_place(s, v);
        if (v->settled && v->op == VEC_CHECK)
            ask_check(s, v);
        else if (v->settled)
            ask_below(s, v->op == VEC_IF ? v->args[0] : v);
    }
    vec_value **args = hg_arena_alloc(&s->k->arena, sizeof *args);
    s->failed = s->failed || !args;
    if (s->failed) return;
    args[0] = s->all;
    s->turns->args = args;
    s->turns->nargs = 1;
}

/* ---- the whole ---- */

/* TURNS as they were before this pass: what was only there to be asked is gone, unless an operation
 * names it that stays. From the end backwards, so that whoever names a value was seen before it. */
static void forget(vec_function *f) {
    vec_value *last = NULL;
    vec_count_uses(f);
    for (vec_value *v = vec_walk(NULL, f->body); v; v = vec_walk(v, f->body)) {
        v->settled = false;
        v->uses = 0;
        if (v->op == VEC_TURNS) v->nargs = 0;
        last = v;
    }
    for (vec_value *v = last; v; v = v->before) {
        bool gone = v->tested && !v->uses && !vec_op_has((vec_op)v->op, VEC_F_EFFECT);
        v->tested = false;
        if (gone) {
            *(v->prev ? &v->prev->next : &v->parent->first) = v->next;
            *(v->next ? &v->next->prev : &v->parent->last) = v->prev;
            continue;
        }
        for (uint8_t i = 0; i < v->nargs; i++) v->args[i]->uses++;
        if (v->mask) v->mask->uses++;
    }
}

static void find_all(finder *s, vec_function *f) {
    for (vec_value *v = vec_walk(NULL, f->body); v; v = vec_walk(v, f->body))
        s->bounded[v->id] = find_bounded(s, v);
    for (vec_value *v = vec_walk(NULL, f->body), *next; v && !s->failed; v = next) {
        next = vec_walk(v, f->body);
        if (v->op != VEC_TURNS) continue;
        s->turns = v;
        visit(s, v->body[0]);
        mark_operands(s);
        write_question(s);
    }
}

hg_status vec_pass_boxes(vec_kernel *kernel) {
    vec_function *f = kernel->functions;
    if (!kernel->blocks) return HG_OK;
    forget(f);
    vec_count_uses(f);
    if (f->value_count > MOST_VALUES) return HG_OK;
    const size_t count = (size_t)f->value_count + 1;
    finder s = {.k = kernel,
                .bounded = hg_calloc(count, sizeof *s.bounded),
                .wanted = hg_calloc(count, sizeof *s.wanted),
                .of = hg_calloc(count, sizeof *s.of)};
    s.failed = !s.bounded || !s.wanted || !s.of;
    if (!s.failed) find_all(&s, f);
    hg_free(s.bounded);
    hg_free(s.wanted);
    hg_free(s.of);
    return s.failed ? hg_fail_memory() : HG_OK;
}
