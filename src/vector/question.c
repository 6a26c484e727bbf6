/* The question whether all goes well (question.h). */
#include "vector/question.h"
#include "kir/analysis/range.h"
#include <string.h>

enum { MOST_STRIDE = 1 << 20, MOST_DEPTH = 8, MOST_LOOKED_AT = 256 };

bool vec_question_open(vec_question *q, vec_kernel *k) {
    const size_t count = (size_t)k->functions->value_count + 1;
    *q = (vec_question){.k = k,
                        .same = hg_calloc(count, sizeof *q->same),
                        .bounded = hg_calloc(count, sizeof *q->bounded),
                        .wanted = hg_calloc(count, sizeof *q->wanted),
                        .asked = hg_calloc(count, sizeof *q->asked),
                        .known = hg_calloc(count, sizeof *q->known),
                        .of = hg_calloc(count, sizeof *q->of)};
    q->failed = !q->same || !q->bounded || !q->wanted || !q->asked || !q->known || !q->of;
    return !q->failed;
}

void vec_question_close(vec_question *q) {
    hg_free(q->same);
    hg_free(q->bounded);
    hg_free(q->wanted);
    hg_free(q->asked);
    hg_free(q->known);
    hg_free(q->of);
}

/* ---- what can be asked ---- */

static bool is_number(const vec_value *v) { return v->op == VEC_CONST; }

bool vec_has_bounds(const vec_question *q, const vec_value *v) {
    return is_number(v) || q->bounded[v->id];
}

static bool is_one(const vec_question *q, const vec_value *v) {
    return is_number(v) || q->same[v->id];
}

/* A row of so many lanes can have whole turns. */
static bool may_have_whole_turns(const vec_question *q, const vec_value *lanes) {
    return is_number(lanes) ? lanes->u.imm && lanes->u.imm % q->k->lanes == 0 : is_one(q, lanes);
}

/* The first lane's number, as it is or in another type, in which it is asked to fit. */
static bool is_first(const vec_value *v) {
    while (v->op == VEC_PRIM && !v->each && (v->prim == KIR_TRUNC || v->prim == KIR_ZEXT))
        v = v->args[0];
    return v->op == VEC_FIRST;
}

bool vec_is_bounded_prim(const vec_question *q, const vec_value *v) {
    const vec_value *const *a = (const vec_value *const *)v->args;
    switch ((kir_op)v->prim) {
    case KIR_ADD:
    case KIR_SUB:
    case KIR_MUL: return vec_has_bounds(q, a[0]) && vec_has_bounds(q, a[1]);
    case KIR_SHL:
    case KIR_LSHR:
        return vec_has_bounds(q, a[0]) && is_number(a[1]) && a[1]->u.imm < kir_type_bits(v->type);
    case KIR_AND:
        return vec_has_bounds(q, a[0]) && is_number(a[1]) && (a[1]->u.imm & (a[1]->u.imm + 1)) == 0;
    case KIR_ZEXT:
    case KIR_SEXT:
    case KIR_TRUNC: return vec_has_bounds(q, a[0]);
    case KIR_UDIV: return vec_has_bounds(q, a[0]) && is_one(q, a[1]);
    case KIR_UREM: /* within a row of whole turns */
        return !q->k->blocks && is_first(a[0]) && may_have_whole_turns(q, a[1]);
    default: return false;
    }
}

bool vec_can_ask_check(const vec_question *q, const vec_value *v) {
    int64_t low = 0, high = 0;
    return !v->u.mem.open && v->u.mem.reach != VEC_REACH_EACH &&
           vec_reach_of(q->k, v, &low, &high) && high > 0 &&
           (!v->u.mem.has_index || vec_has_bounds(q, v->args[0]));
}

static bool can_ask_truth(const vec_question *q, const vec_value *v, int depth) {
    if (v->each || depth == 0) return false;
    if (q->same[v->id]) return true;
    if (v->op != VEC_PRIM) return false;
    if (v->prim == KIR_AND)
        return can_ask_truth(q, v->args[0], depth - 1) && can_ask_truth(q, v->args[1], depth - 1);
    return v->prim == KIR_CMP_ULT && vec_has_bounds(q, v->args[0]) && vec_has_bounds(q, v->args[1]);
}
bool vec_can_ask_truth(const vec_question *q, const vec_value *v) {
    return can_ask_truth(q, v, MOST_DEPTH);
}

static const vec_value *access_in(const vec_region *r) {
    for (const vec_value *v = r->first; v; v = v->next)
        if (v->op == VEC_LOAD || v->op == VEC_STORE) return v;
    return NULL;
}

static const vec_value *division_in(const vec_region *r) {
    for (const vec_value *v = r->first; v; v = v->next)
        if (v->op == VEC_PRIM && v->each && (v->prim == KIR_UDIV || v->prim == KIR_UREM)) return v;
    return NULL;
}

/* What a guess of a division of each lane has where it holds: the first lane's, or a ramp from
 * there on. */
static bool sets_first_of(const vec_region *r, const vec_value *division) {
    const vec_value *v = r->last && r->last->op == VEC_SET ? r->last->args[0] : NULL;
    if (v && v->op == VEC_RAMP) v = v->args[0];
    return v && v->op == VEC_PRIM && v->prim == division->prim && !v->each &&
           v->args[1] == division->args[1];
}

bool vec_is_guess(const vec_value *v) {
    const vec_value *row = access_in(v->body[0]), *each = access_in(v->body[1]),
                    *division = division_in(v->body[1]);
    if (!row && !each) return division && sets_first_of(v->body[0], division);
    return row && each && row->op == each->op && row->inst == each->inst &&
           row->u.mem.reach != VEC_REACH_EACH && each->u.mem.reach == VEC_REACH_EACH;
}

vec_value *vec_ramp_of(const vec_value *v) {
    if (v->op == VEC_PRIM && v->prim == KIR_ZEXT && v->each) v = v->args[0];
    return v->op == VEC_RAMP && v->u.imm <= MOST_STRIDE ? (vec_value *)(uintptr_t)v : NULL;
}

/* ---- operations ---- */

vec_value *vec_question_put(vec_question *q, vec_op op, uint8_t type, uint8_t nargs,
                            vec_value *const *args) {
    static vec_value nowhere;
    vec_value *v = hg_arena_alloc(&q->k->arena, sizeof *v),
              **list = hg_arena_alloc(&q->k->arena, (nargs + 1u) * sizeof *list);
    if (!v || !list) {
        q->failed = true;
        return &nowhere;
    }
    for (uint8_t i = 0; i < nargs; i++) list[i] = args[i];
    *v = (vec_value){.op = (uint8_t)op,
                     .type = type,
                     .nargs = nargs,
                     .args = list,
                     .inst = q->inst,
                     .tested = q->tested,
                     .parent = q->into,
                     .next = q->before,
                     .prev = q->before ? q->before->prev : q->into->last};
    *(v->prev ? &v->prev->next : &q->into->first) = v;
    *(q->before ? &q->before->prev : &q->into->last) = v;
    return v;
}

/* What stands in front already, of this question or of another one of the region; NULL: nothing. */
static vec_value *made_before(const vec_question *q, const vec_value *as) {
    vec_value *v = q->before ? q->before->prev : q->into->last;
    for (uint32_t n = 0; v && n < MOST_LOOKED_AT; v = v->prev, n++) {
        bool same = v->op == as->op && v->prim == as->prim && v->type == as->type && !v->each &&
                    v->tested == q->tested && v->nargs == as->nargs;
        if (same && as->op != VEC_PRIM) same = v->u.imm == as->u.imm;
        for (uint8_t i = 0; same && i < v->nargs; i++) same = v->args[i] == as->args[i];
        if (same) return v;
    }
    return NULL;
}

/* A PRIM, CONST or ID. */
static vec_value *value(vec_question *q, const vec_value *as) {
    vec_value *v = made_before(q, as);
    if (v) return v;
    v = vec_question_put(q, (vec_op)as->op, as->type, as->nargs, as->args);
    v->prim = as->prim;
    v->u = as->u;
    return v;
}

static vec_value *prim(vec_question *q, kir_op op, uint8_t type, vec_value *a, vec_value *b) {
    return value(q, &(vec_value){.op = VEC_PRIM,
                                 .prim = (uint8_t)op,
                                 .type = type,
                                 .nargs = b ? 2 : 1,
                                 .args = (vec_value *[]){a, b}});
}

static vec_value *number(vec_question *q, uint8_t type, uint64_t n) {
    return value(q, &(vec_value){.op = VEC_CONST, .type = type, .u.imm = n});
}

static vec_value *u64(vec_question *q, uint64_t n) { return number(q, HG_TYPE_U64, n); }
static vec_value *add(vec_question *q, vec_value *a, vec_value *b) {
    return prim(q, KIR_ADD, HG_TYPE_U64, a, b);
}
static vec_value *sub(vec_question *q, vec_value *a, vec_value *b) {
    return prim(q, KIR_SUB, HG_TYPE_U64, a, b);
}
static vec_value *mul(vec_question *q, vec_value *a, vec_value *b) {
    return prim(q, KIR_MUL, HG_TYPE_U64, a, b);
}
static vec_value *less(vec_question *q, vec_value *a, vec_value *b) {
    return prim(q, KIR_CMP_ULT, KIR_BOOL, a, b);
}
static vec_value *widened(vec_question *q, vec_value *v) {
    return v->type == HG_TYPE_U64 ? v : prim(q, KIR_ZEXT, HG_TYPE_U64, v, NULL);
}

static vec_value *choose(vec_question *q, vec_value *condition, vec_value *a, vec_value *b) {
    return value(q, &(vec_value){.op = VEC_PRIM,
                                 .prim = KIR_SELECT,
                                 .type = HG_TYPE_U64,
                                 .nargs = 3,
                                 .args = (vec_value *[]){condition, a, b}});
}

static void ask(vec_question *q, vec_value *condition) {
    q->all = q->all ? prim(q, KIR_AND, KIR_BOOL, q->all, condition) : condition;
}
static void ask_not(vec_question *q, vec_value *condition) {
    q->bad = q->bad ? prim(q, KIR_OR, KIR_BOOL, q->bad, condition) : condition;
}

/* Where the type has fewer than 64 bits, that the sum or product of such numbers has no more. */
static void ask_fits(vec_question *q, vec_value *v, uint8_t type) {
    if (kir_type_bits(type) < 64) ask(q, less(q, v, u64(q, UINT64_C(1) << kir_type_bits(type))));
}

/* ---- bounds ---- */

static vec_value *exact_sum(vec_question *q, uint8_t type, vec_value *a, vec_value *b) {
    vec_value *made = add(q, a, b);
    ask_fits(q, made, type);
    if (kir_type_bits(type) == 64) ask_not(q, less(q, made, a));
    return made;
}

static vec_value *exact_difference(vec_question *q, vec_value *a, vec_value *b) {
    ask_not(q, less(q, a, b));
    return sub(q, a, b);
}

static vec_bounds times(vec_question *q, uint8_t type, vec_bounds x, vec_bounds y) {
    vec_bounds made = {.low = mul(q, x.low, y.low)};
    made.high = mul(q, x.high, y.high);
    ask_fits(q, made.high, type);
    if (kir_type_bits(type) < 64) return made;
    if (is_number(y.high)) {
        if (y.high->u.imm > 1) ask_not(q, less(q, u64(q, UINT64_MAX / y.high->u.imm), x.high));
        return made;
    }
    vec_value *over = prim(q, KIR_MULHI_U, HG_TYPE_U64, x.high, y.high), *none = u64(q, 0);
    ask(q, prim(q, KIR_CMP_EQ, KIR_BOOL, over, none));
    return made;
}

static vec_bounds minus(vec_question *q, vec_bounds x, vec_bounds y) {
    vec_value *low = exact_difference(q, x.low, y.high);
    return (vec_bounds){low, sub(q, x.high, y.low)};
}

static vec_bounds both(vec_value *x) { return (vec_bounds){x, x}; }

static vec_bounds bounds_of(vec_question *q, const vec_value *v) {
    if (is_number(v)) return both(u64(q, v->u.imm));
    if (q->same[v->id]) return both(widened(q, q->known[v->id]));
    return q->of[v->id];
}

/* A sum with a number that has its top bit: a difference. */
static bool is_negative(const vec_value *v) {
    return is_number(v) && v->u.imm >> (kir_type_bits(v->type) - 1) & 1;
}

static vec_bounds sum(vec_question *q, const vec_value *v) {
    for (int i = 0; i < 2; i++)
        if (is_negative(v->args[i]))
            return minus(q, bounds_of(q, v->args[1 - i]),
                         both(u64(q, (0 - v->args[i]->u.imm) & kir_range_full(v->type).high)));
    const vec_bounds x = bounds_of(q, v->args[0]), y = bounds_of(q, v->args[1]);
    vec_value *low = add(q, x.low, y.low);
    return (vec_bounds){low, exact_sum(q, v->type, x.high, y.high)};
}

/* Where turns begin in rows of n lanes, each of which has whole turns: 0, lanes, … n - lanes. */
static vec_bounds rest(vec_question *q, vec_bounds first, vec_value *n) {
    vec_value *both_of = prim(q, KIR_OR, HG_TYPE_U64, first.low, n), *lanes = u64(q, q->k->lanes),
              *odd = prim(q, KIR_AND, HG_TYPE_U64, both_of, u64(q, q->k->lanes - 1));
    vec_value *none = u64(q, 0);
    ask(q, prim(q, KIR_CMP_EQ, KIR_BOOL, odd, none));
    ask_not(q, less(q, n, lanes));
    return (vec_bounds){none, sub(q, n, lanes)};
}

static vec_bounds of_prim(vec_question *q, const vec_value *v) {
    vec_bounds x = bounds_of(q, v->args[0]);
    switch ((kir_op)v->prim) {
    case KIR_ADD: return sum(q, v);
    case KIR_SUB: return minus(q, x, bounds_of(q, v->args[1]));
    case KIR_MUL: return times(q, v->type, x, bounds_of(q, v->args[1]));
    case KIR_SHL: return times(q, v->type, x, both(u64(q, UINT64_C(1) << v->args[1]->u.imm)));
    case KIR_LSHR: {
        vec_value *by = number(q, HG_TYPE_U32, v->args[1]->u.imm),
                  *low = prim(q, KIR_LSHR, HG_TYPE_U64, x.low, by);
        return (vec_bounds){low, prim(q, KIR_LSHR, HG_TYPE_U64, x.high, by)};
    }
    case KIR_AND: {
        vec_value *low = u64(q, 0), *mask = u64(q, v->args[1]->u.imm),
                  *fewer = less(q, x.high, mask);
        return (vec_bounds){low, choose(q, fewer, x.high, mask)};
    }
    case KIR_TRUNC: ask_fits(q, x.high, v->type); return x;
    case KIR_UDIV: {
        const vec_bounds y = bounds_of(q, v->args[1]);
        vec_value *low = prim(q, KIR_UDIV, HG_TYPE_U64, x.low, y.high);
        return (vec_bounds){low, prim(q, KIR_UDIV, HG_TYPE_U64, x.high, y.low)};
    }
    case KIR_UREM: return rest(q, x, bounds_of(q, v->args[1]).low);
    case KIR_SEXT: { /* of what is not negative */
        const uint64_t sign = kir_range_sign_bit(v->args[0]->type);
        ask(q, less(q, x.high, u64(q, sign)));
        return x;
    }
    default: return x; /* ZEXT */
    }
}

static vec_value *block_size(vec_question *q, hg_idname name) {
    return widened(q, value(q, &(vec_value){.op = VEC_ID, .type = HG_TYPE_U32, .u.imm = name}));
}

/* Of a turn's first lane. */
static vec_bounds of_place(vec_question *q, const vec_value *v) {
    static const hg_idname sizes[] = {HG_ID_BLOCK_DIM_X, HG_ID_BLOCK_DIM_Y, HG_ID_BLOCK_DIM_Z};
    const bool first = v->op == VEC_FIRST;
    const uint32_t axis = first ? 0 : hg_idname_axis((hg_idname)v->u.imm);
    vec_value *low = first ? vec_question_put(q, VEC_BEGIN, HG_TYPE_U64, 0, NULL) : u64(q, 0);
    vec_value *end = first ? vec_question_put(q, VEC_END, HG_TYPE_U64, 0, NULL)
                           : block_size(q, sizes[axis]);
    vec_value *last = u64(q, axis == 0 ? q->k->lanes : 1);
    return (vec_bounds){low, sub(q, end, last)};
}

/* A value that is the same in all turns, where the question is. */
static vec_value *copied(vec_question *q, const vec_value *v) {
    vec_value *args[3] = {NULL};
    if (is_number(v)) return number(q, v->type, v->u.imm);
    for (uint8_t i = 0; i < v->nargs; i++) {
        const vec_value *a = v->args[i];
        args[i] = is_number(a) ? number(q, a->type, a->u.imm) : q->known[a->id];
    }
    vec_value *made = vec_question_put(q, (vec_op)v->op, v->type, v->nargs, args);
    made->prim = v->prim;
    made->u = v->u;
    return made;
}

/* ---- the question ---- */

static void ask_truth(vec_question *q, const vec_value *v) {
    if (q->asked[v->id]) return;
    q->asked[v->id] = true;
    if (q->same[v->id]) {
        ask(q, q->known[v->id]);
        return;
    }
    if (v->prim == KIR_AND) {
        for (int i = 0; i < 2; i++) ask_truth(q, v->args[i]);
        return;
    }
    vec_value *ramp = v->args[0]->each ? vec_ramp_of(v->args[0]) : NULL;
    vec_value *least = bounds_of(q, v->args[1]).low,
              *most = bounds_of(q, ramp ? ramp->args[0] : v->args[0]).high;
    if (ramp) most = exact_sum(q, ramp->type, most, u64(q, ramp->u.imm * (q->k->lanes - 1)));
    ask(q, less(q, most, least));
}

bool vec_asks_same(const vec_value *v, const vec_value *w) {
    return w->op == VEC_CHECK && w->settled && w->u.mem.space == v->u.mem.space &&
           w->u.mem.slot == v->u.mem.slot && w->u.mem.class_id == v->u.mem.class_id &&
           w->u.mem.has_index == v->u.mem.has_index &&
           (!v->u.mem.has_index || w->args[0] == v->args[0]);
}

static void ask_check(vec_question *q, const vec_region *body, const vec_value *v) {
    int64_t low = INT64_MAX, high = 0, from = 0, to = 0;
    for (const vec_value *w = v; w; w = vec_walk(w, body)) {
        if (!vec_asks_same(v, w) || q->asked[w->id] || !vec_reach_of(q->k, w, &from, &to)) continue;
        q->asked[w->id] = true;
        low = from < low ? from : low;
        high = to > high ? to : high;
    }
    if (high == 0) return;
    vec_bounds at = v->u.mem.has_index ? bounds_of(q, v->args[0]) : both(u64(q, 0));
    vec_value *size = vec_question_put(q, VEC_SIZE, HG_TYPE_U64, 0, NULL),
              *last = u64(q, (uint64_t)high - 1);
    size->u.mem = v->u.mem;
    size->u.mem.reach = VEC_REACH_ONE;
    size->u.mem.has_index = size->u.mem.small = false;
    size->u.mem.disp = size->u.mem.stride = 0;
    size->u.mem.operand = 0;
    size->u.mem.may.answers = 0;
    size->u.mem.bytes = 8;
    size->u.mem.size = 8;
    vec_value *few = less(q, size, last), *none = u64(q, 0), *left = sub(q, size, last);
    ask(q, less(q, at.high, choose(q, few, none, left)));
    if (low < 0) ask_not(q, less(q, at.low, u64(q, (uint64_t)-low)));
}

static void ask_settled(vec_question *q, const vec_value *v) {
    switch ((vec_op)v->op) {
    case VEC_CHECK: break; /* all together */
    case VEC_FAULT_IF: ask_not(q, q->known[v->args[0]->id]); break;
    default: ask_truth(q, v->op == VEC_IF ? v->args[0] : v);
    }
}

static void want_truth(const vec_question *q, const vec_value *v) {
    if (q->same[v->id]) {
        q->wanted[v->id] = true;
        return;
    }
    for (int i = 0; i < 2; i++) {
        const vec_value *a = v->args[i], *ramp = a->each ? vec_ramp_of(a) : NULL;
        if (v->prim == KIR_AND)
            want_truth(q, a);
        else
            q->wanted[ramp ? ramp->args[0]->id : a->id] = true;
    }
}

static void want_settled(const vec_question *q, const vec_value *v) {
    switch ((vec_op)v->op) {
    case VEC_CHECK:
        if (v->u.mem.has_index) q->wanted[v->args[0]->id] = true;
        break;
    case VEC_FAULT_IF: q->wanted[v->args[0]->id] = true; break;
    default: want_truth(q, v->op == VEC_IF ? v->args[0] : v);
    }
}

void vec_question_write(vec_question *q, const vec_region *body, const vec_value *from) {
    vec_value *last = NULL;
    memset(q->asked, 0, (size_t)q->k->functions->value_count + 1); /* that is of other TURNS */
    for (vec_value *v = vec_walk(NULL, body); v; v = vec_walk(v, body)) {
        if (v->settled) want_settled(q, v);
        last = v;
    }
    for (; last && last != from; last = last->before)
        for (uint8_t i = 0; q->wanted[last->id] && i < last->nargs; i++)
            q->wanted[last->args[i]->id] = true;
    for (vec_value *v = vec_walk(NULL, body); v && !q->failed; v = vec_walk(v, body)) {
        const bool wanted = q->wanted[v->id];
        if (wanted && q->same[v->id])
            q->known[v->id] = copied(q, v);
        else if (wanted && !is_number(v))
            q->of[v->id] = v->op == VEC_PRIM ? of_prim(q, v) : of_place(q, v);
        if (v->settled) ask_settled(q, v);
    }
    for (vec_value *v = vec_walk(NULL, body); v && !q->failed; v = vec_walk(v, body))
        if (v->op == VEC_CHECK && v->settled && !q->asked[v->id]) ask_check(q, body, v);
    if (q->bad) ask(q, prim(q, KIR_XOR, KIR_BOOL, q->bad, number(q, KIR_BOOL, 1)));
}
