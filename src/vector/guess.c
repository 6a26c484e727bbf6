/* Values that in most turns go up from lane to lane by a constant, though nothing proves it: sums
 * of 32 bits that could wrap, the quotient and the remainder of a lane's number by a uniform one.
 * Such a value has two forms: its elements, and the first lane's value with a stride that holds
 * where `ok`, which is one value, does. An access that is a row if that holds asks `ok`; only where
 * it does not are the elements of its index calculated.
 *
 * A guess is: in every lane l of the turn the value is first + l * stride, modulo its type, where
 * ok holds (NULL: always). A lane's number xor a uniform one is swapped: first + (l xor swap) *
 * stride.
 * Requires: uniformity. Must not know: control flow. */
#include "kir/analysis/range.h"
#include "vector/form_internal.h"

/* Operations from a value of known form to one whose elements are calculated behind a failed guess:
 * they are written again there. */
enum { MOST_AGAIN = 12 };

/* ---- which values have a guess ---- */

typedef struct stride {
    bool known, swapped;
    int64_t n;
} stride;

static stride stride_of(const kir_value *v) {
    if (!kir_range_exists(v->type) || v->type == KIR_BOOL) return (stride){0};
    if (kir_lanes_of(v)->form == KIR_LANES_ONE) return (stride){.known = true};
    if (kir_lanes_of(v)->form == KIR_LANES_AFFINE) return (stride){.known = true, .n = v->stride};
    return (stride){guess_of(v)->exists, guess_of(v)->swapped, guess_of(v)->stride};
}

static bool is_number(const kir_value *v) {
    return v->umin == v->umax && kir_range_exists(v->type);
}
/* 2^n - 1 */
static bool is_low_mask(const kir_value *v) {
    return is_number(v) && v->umax && v->umax < INT64_MAX && !(v->umax & (v->umax + 1));
}

/* Turns in which the first lane's remainder leaves no room are rare only where the stride is small.
 */
static bool can_divide(stride a, stride b) {
    return b.n == 0 && a.n >= 0 && a.n <= 64 && !a.swapped;
}

static bool scaled(const kir_value *by, stride s, int64_t *n) {
    return is_number(by) && by->umax <= INT64_MAX && !hg_mul_overflows(s.n, (int64_t)by->umax, n);
}

/* Shifts are by an amount modulo the width. */
static uint64_t shift_of(const kir_value *v) {
    return v->args[1]->umax & (kir_type_bits(v->type) - 1);
}

/* A lane's number xor a number that is the same in all lanes. */
static bool swaps(const kir_value *v, const stride *s) {
    return v->op == KIR_XOR && !s[0].swapped && !s[1].swapped &&
           ((s[0].n == 1 && s[1].n == 0) || (s[0].n == 0 && s[1].n == 1));
}

static bool finds_stride(const kir_value *v, const stride *s, int64_t *n) {
    const stride a = s[0], b = s[1];
    bool none = a.n == 0 && (v->nargs < 2 || b.n == 0) && (v->nargs < 3 || s[2].n == 0);
    *n = 0;
    switch ((kir_op)v->op) {
    case KIR_ADD:
        if ((a.swapped || b.swapped) && a.n != 0 && b.n != 0) return false;
        return !hg_add_overflows(a.n, b.n, n);
    case KIR_SUB:
        if ((a.swapped && b.n != 0) || b.swapped) return false;
        return !hg_sub_overflows(a.n, b.n, n);
    case KIR_MUL:
        return none || (a.n == 0 ? scaled(v->args[0], b, n) : b.n == 0 && scaled(v->args[1], a, n));
    case KIR_SHL:
        return none || (b.n == 0 && is_number(v->args[1]) && shift_of(v) < 62 &&
                        !hg_mul_overflows(a.n, (int64_t)1 << shift_of(v), n));
    case KIR_ZEXT:
    case KIR_SEXT:
    case KIR_TRUNC:
    case KIR_BITCAST: *n = a.n; return true;
    case KIR_UDIV: return can_divide(a, b);
    case KIR_UREM: *n = a.n; return can_divide(a, b);
    case KIR_LSHR:
        return none || (can_divide(a, b) && is_number(v->args[1]) &&
                        v->args[1]->umax < kir_type_bits(v->type));
    case KIR_AND:
        if (none) return true;
        *n = a.n;
        return can_divide(a, b) && is_low_mask(v->args[1]);
    case KIR_OR: return none;
    case KIR_XOR: *n = none ? 0 : 1; return none || swaps(v, s);
    default: return false;
    }
}

static bool divides(const kir_value *v) {
    bool op = v->op == KIR_UDIV || v->op == KIR_UREM || v->op == KIR_LSHR || v->op == KIR_AND;
    return op && stride_of(v->args[0]).n != 0;
}

/* The lesser of a value and a number: what indices are made of whose offset in bytes could wrap. */
static bool clamps(const kir_value *v) {
    if (v->op != KIR_SELECT || v->args[0]->op != KIR_CMP_ULT || !is_number(v->args[2]))
        return false;
    const kir_value *condition = v->args[0];
    return condition->args[0] == v->args[1] && is_number(condition->args[1]) &&
           condition->args[1]->umax == v->args[2]->umax;
}

/* How far the last lane is from the first. */
static uint64_t span_of(const former *x, int64_t s) {
    return (s < 0 ? 0 - (uint64_t)s : (uint64_t)s) * (x->k->lanes - 1);
}

/* The lanes' values do not wrap, nor does first + span: proven. */
static bool stays(const former *x, const kir_value *v) {
    const stride s = stride_of(v);
    uint64_t span = span_of(x, s.n), most = kir_range_full(v->type).high;
    return s.n == 0 || kir_lanes_of(v)->form == KIR_LANES_AFFINE ||
           (s.n > 0 && span <= most && v->umax <= most - span);
}

/* What numbers of the argument's type may be for the wider one to have them as they are. */
static uint64_t most_extended(const kir_value *v) {
    return v->op == KIR_SEXT ? kir_range_sign_bit(v->args[0]->type) - 1
                             : kir_range_full(v->args[0]->type).high;
}

/* The same of a value that is made wider: proven. */
static bool stays_extended(const former *x, const kir_value *v) {
    const kir_value *a = v->args[0];
    uint64_t span = span_of(x, stride_of(a).n), most = most_extended(v);
    if (v->op == KIR_ZEXT) return stays(x, a);
    return stride_of(a).n == 0 || (stride_of(a).n > 0 && span <= most && a->umax <= most - span);
}

static void guess_clamp(const former *x, const kir_value *v) {
    stride s = stride_of(v->args[1]);
    if (!s.known || s.n < 0 || span_of(x, s.n) >= v->args[2]->umax) return;
    guess_of(v)->exists = true;
    guess_of(v)->swapped = s.swapped;
    guess_of(v)->stride = s.n;
}

/* Where all lanes load from one place they have one value. An index that is known to stay without
 * a guess has none: so far as lanes' numbers are in it, it is read lane by lane. */
static void guess_load(const kir_value *v) {
    const kir_access at = kir_access_of(v);
    if (kir_access_is_open(v) || !at.index_args) return;
    const kir_value *index = v->args[at.index];
    const stride s = stride_of(index);
    if (kir_lanes_of(index)->form != KIR_LANES_EACH || !s.known || s.n != 0) return;
    guess_of(v)->exists = true;
    guess_of(v)->stride = 0;
    guess_of(v)->sure = guess_of(index)->sure;
}

static void guess_value(former *x, const kir_value *v) {
    stride s[3] = {0};
    if (v->op == KIR_LOAD) {
        guess_load(v);
        return;
    }
    if (clamps(v)) {
        guess_clamp(x, v);
        return;
    }
    if (!kir_is_value(v) || v->nargs == 0 || v->nargs > 3) return;
    bool sure = !divides(v) && !((v->op == KIR_ZEXT || v->op == KIR_SEXT) && !stays_extended(x, v));
    for (uint8_t i = 0; i < v->nargs; i++) {
        s[i] = stride_of(v->args[i]);
        if (!s[i].known) return;
        sure = sure &&
               (kir_lanes_of(v->args[i])->form != KIR_LANES_EACH || guess_of(v->args[i])->sure);
    }
    int64_t n = 0;
    if (!finds_stride(v, s, &n)) return;
    const int64_t most = INT64_MAX / (int64_t)x->k->lanes;
    if (n > most || n < -most) return;
    guess_of(v)->exists = true;
    guess_of(v)->stride = n;
    guess_of(v)->swapped = n != 0 && (s[0].swapped || s[1].swapped || swaps(v, s));
    guess_of(v)->sure = sure && !guess_of(v)->swapped;
}

/* ---- variables ---- */

static bool is_within(const kir_region *r, const kir_region *outer) {
    while (r && r != outer) r = r->owner ? r->owner->parent : NULL;
    return r == outer;
}

/* The innermost region around that lanes are in one by one; NULL: none. */
static const kir_region *apart_region(const kir_value *v) {
    for (const kir_region *r = v->parent; r->owner; r = r->owner->parent)
        if (kir_lanes_of(r->owner)->divergent) return r;
    return NULL;
}

/* Whether lanes can come to v in some rounds of a loop and not in others, or in some more often,
 * each in its own way: by a branch in the loop, or a loop in it that lanes leave one by one. */
static bool is_passed_by_round(const kir_value *v) {
    bool apart = false;
    for (const kir_region *r = v->parent; r->owner; r = r->owner->parent) {
        if (apart && r->owner->op == KIR_LOOP) return true;
        apart = apart || kir_lanes_of(r->owner)->divergent;
    }
    return false;
}

/* Lanes that meet at a GET must have done the same SETs: so it is where the GET is inside every
 * region that lanes are in one by one and a SET is in, which they enter once or in every round, and
 * no lane goes on to the next round before others. A GET elsewhere reads elements. */
static void place_set(const kir_value *v) {
    var_fact *var = fact_of_var(v->u.var);
    const kir_region *r = apart_region(v);
    for (const kir_region *o = r; o && o->owner; o = o->owner->parent)
        if (uniformity_of(o->owner)->continues) var->guess.none = true;
    if (is_passed_by_round(v)) var->guess.none = true;
    if (!r || r == var->guess.inner) return;
    if (var->guess.inner && !is_within(r, var->guess.inner) && !is_within(var->guess.inner, r))
        var->guess.none = true;
    if (!var->guess.inner || is_within(r, var->guess.inner)) var->guess.inner = r;
}

static bool is_left(const kir_value *get) {
    const var_fact *var = fact_of_var(get->u.var);
    return var->guess.inner && !is_within(get->parent, var->guess.inner);
}

static void find_places(const former *x, const kir_region *body) {
    for (kir_var *v = x->m->vars; v; v = v->next) {
        var_fact *p = fact_of_var(v);
        p->guess.none = p->form != KIR_LANES_EACH || v->length || v->by_reference ||
                        (!v->function && x->has_masked) || !kir_range_exists(v->type) ||
                        v->type == KIR_BOOL;
        p->guess.inner = NULL;
        p->guess.exists = p->guess.left = false;
    }
    for (const kir_value *v = kir_walk(NULL, body); v; v = kir_walk(v, body))
        if (v->op == KIR_VAR_SET) place_set(v);
    for (const kir_value *v = kir_walk(NULL, body); v; v = kir_walk(v, body))
        if (v->op == KIR_VAR_GET && is_left(v)) fact_of_var(v->u.var)->guess.left = true;
}

static void guess_get(const kir_value *v) {
    const var_fact *var = fact_of_var(v->u.var);
    guess_of(v)->exists = var->guess.exists && !var->guess.none && !is_left(v);
    guess_of(v)->stride = var->guess.stride;
    guess_of(v)->sure = guess_of(v)->exists && var->guess.sure;
}

/* False: what was thought of the variable before does not hold. */
static bool guess_set(const kir_value *v) {
    var_fact *var = fact_of_var(v->u.var);
    const stride s = stride_of(v->args[0]);
    bool sure = kir_lanes_of(v->args[0])->form != KIR_LANES_EACH || guess_of(v->args[0])->sure;
    if (var->guess.none) return true;
    if (!var->guess.exists) {
        var->guess.exists = var->guess.sure = s.known;
        var->guess.stride = s.n;
    }
    if (!s.known || s.swapped || s.n != var->guess.stride) {
        var->guess.none = true;
        return false;
    }
    if (sure || !var->guess.sure) return true;
    var->guess.sure = false;
    return false;
}

/* Starts from variables that keep the stride they are first set to, and takes back what does not
 * hold. */
static void guess_all(former *x, const kir_region *body) {
    enum { MOST_ROUNDS = 8 };
    find_places(x, body);
    bool settled = false;
    for (int round = 0; !settled; round++) {
        settled = true;
        for (kir_var *v = x->m->vars; v && round >= MOST_ROUNDS; v = v->next)
            fact_of_var(v)->guess.none = true;
        for (const kir_value *v = kir_walk(NULL, body); v; v = kir_walk(v, body)) {
            if (v->op == KIR_VAR_SET) settled = guess_set(v) && settled;
            if (kir_lanes_of(v)->form != KIR_LANES_EACH || !kir_range_exists(v->type) ||
                v->type == KIR_BOOL)
                continue;
            guess_of(v)->exists = guess_of(v)->sure = guess_of(v)->swapped = false;
            if (v->op == KIR_VAR_GET)
                guess_get(v);
            else
                guess_value(x, v);
        }
    }
    for (kir_var *v = x->m->vars; v; v = v->next) {
        var_fact *p = fact_of_var(v);
        p->guess.exists = p->guess.exists && !p->guess.none;
        p->guess.sure = p->guess.sure && p->guess.exists;
    }
}

/* A truth value that is made of nothing but what is the same in all lanes that are here. */
static bool agrees(const kir_value *v) {
    if (v->type != KIR_BOOL || v->nargs == 0 || !kir_is_value(v) ||
        kir_lanes_of(v)->form != KIR_LANES_EACH)
        return false;
    for (uint8_t i = 0; i < v->nargs; i++) {
        if (kir_lanes_of(v->args[i])->form != KIR_LANES_ONE && !guess_of(v->args[i])->agrees &&
            !(kir_lanes_of(v->args[i])->form == KIR_LANES_EACH && guess_of(v->args[i])->sure &&
              guess_of(v->args[i])->stride == 0))
            return false;
    }
    return true;
}

/* ---- who asks ---- */

/* The check of an axis whose extent is one: its index, which goes up or down from lane to lane
 * where its guess holds. NULL: of anything else. */
static kir_value *checked_index(const kir_value *v) {
    if (v->op != KIR_FAULT_IF || !v->u.fault.axis ||
        kir_lanes_of(v->args[2])->form != KIR_LANES_ONE)
        return NULL;
    const stride s = stride_of(v->args[1]);
    return s.known && !s.swapped ? v->args[1] : NULL;
}

/* An access that is a row, or a load of one place, where the guess holds; or places as far apart
 * where it always does. */
static bool wants_guess(const kir_value *v) {
    if (v->op != KIR_LOAD && v->op != KIR_STORE && v->op != KIR_CHECK) return false;
    kir_access at = kir_access_of(v);
    if (kir_access_is_open(v) || !at.index_args) return false;
    stride s = stride_of(v->args[at.index]);
    if (kir_lanes_of(v->args[at.index])->form != KIR_LANES_EACH || !s.known) return false;
    if (s.swapped && v->op == KIR_CHECK) return false;
    if (s.n == 0) return v->op != KIR_STORE;
    return s.n == (int64_t)v->u.mem.bytes || (guess_of(v->args[at.index])->sure && !s.swapped);
}

static const kir_value *below(const kir_value *v) {
    if (v->op != KIR_IF || !uniformity_of(v)->guard || v->args[0]->op != KIR_CMP_ULT) return NULL;
    const kir_value *a = v->args[0]->args[0];
    return kir_lanes_of(v->args[0]->args[1])->form == KIR_LANES_ONE && guess_of(a)->exists &&
                   guess_of(a)->stride > 0 && !guess_of(a)->swapped
               ? a
               : NULL;
}

/* Divisions of vectors take longer than a scalar one and the question: also one of a quotient that
 * is the same in all lanes of most turns, as row and plane of a lane's number are. */
static bool is_long(const kir_value *v) {
    return (v->op == KIR_UDIV || v->op == KIR_UREM) && guess_of(v)->exists && !guess_of(v)->swapped;
}

/* A value whose guess is wanted wants its arguments'; a variable what it is set to. True: a
 * variable is wanted that was not. */
static bool want(kir_value *v) {
    if (wants_guess(v))
        guess_of(v)->by_guess = guess_of(v->args[kir_access_of(v).index])->wanted = true;
    if (below(v)) guess_of(below(v))->wanted = true;
    if (checked_index(v) && guess_of(checked_index(v))->exists)
        guess_of(checked_index(v))->wanted = true;
    if (is_long(v)) guess_of(v)->wanted = true;
    if (v->op == KIR_IF && kir_lanes_of(v)->divergent && guess_of(v->args[0])->agrees)
        guess_of(v->args[0])->wanted_one = true;
    for (uint8_t i = 0; guess_of(v)->wanted_one && i < v->nargs; i++) {
        if (guess_of(v->args[i])->agrees) guess_of(v->args[i])->wanted_one = true;
        if (guess_of(v->args[i])->exists) guess_of(v->args[i])->wanted = true;
    }
    if (v->op == KIR_VAR_GET &&
        (guess_of(v)->wanted ||
         (guess_of(v)->exists && guess_of(v)->sure && !fact_of_var(v->u.var)->guess.left)) &&
        !fact_of_var(v->u.var)->guess.wanted)
        return guess_of(v)->wanted = fact_of_var(v->u.var)->guess.wanted = true;
    if (v->op == KIR_VAR_GET && guess_of(v)->exists && fact_of_var(v->u.var)->guess.wanted)
        guess_of(v)->wanted = true;
    if (v->op == KIR_VAR_SET ? fact_of_var(v->u.var)->guess.wanted : guess_of(v)->wanted)
        for (uint8_t i = 0; i < v->nargs; i++)
            if (guess_of(v->args[i])->exists) guess_of(v->args[i])->wanted = true;
    return false;
}

/* Who needs elements only behind a failed guess, or never. Users come later in the text, so they
 * have been here. */
static void hide(const kir_value *v) {
    if (wants_guess(v)) guess_of(v->args[kir_access_of(v).index])->hidden_uses++;
    if (v->op == KIR_VAR_SET && fact_of_var(v->u.var)->guess.sure &&
        !fact_of_var(v->u.var)->guess.left)
        guess_of(v->args[0])->hidden_uses++;
    if (checked_index(v))
        for (uint8_t i = 0; i < 2; i++) guess_of(v->args[i])->hidden_uses++;
    bool truth = v->type == KIR_BOOL && kir_is_value(v) && kir_lanes_of(v)->form == KIR_LANES_EACH;
    if (!guess_of(v)->wanted && !truth) return;
    if (v->op == KIR_VAR_GET)
        guess_of(v)->lazy = guess_of(v)->sure;
    else
        guess_of(v)->lazy = v->uses && guess_of(v)->hidden_uses == v->uses &&
                            guess_of(v)->again <= MOST_AGAIN && !divides(v) && v->op != KIR_LOAD;
    for (uint8_t i = 0; guess_of(v)->lazy && i < v->nargs; i++)
        if (guess_of(v->args[i])->exists || truth || (i == 0 && clamps(v)))
            guess_of(v->args[i])->hidden_uses++;
}

static void count_again(const kir_value *v) {
    guess_of(v)->again = 1;
    if (guess_of(v)->sure || divides(v) || v->op == KIR_LOAD) return;
    for (uint8_t i = 0; i < v->nargs; i++)
        if (guess_of(v->args[i])->exists) guess_of(v)->again += guess_of(v->args[i])->again;
    if (guess_of(v)->again > MOST_AGAIN) guess_of(v)->again = MOST_AGAIN + 1;
}

/* A quotient or remainder by a power of two that is less than the lanes of a turn: no turn's lanes
 * have one quotient, and half as many might. */
static void note_lanes(vec_kernel *k, const kir_value *v) {
    if (!guess_of(v)->wanted || !divides(v) || !is_number(v->args[1])) return;
    const uint64_t n = v->args[1]->umax, by = v->op == KIR_LSHR  ? n < 32 ? UINT64_C(1) << n : 0
                                              : v->op == KIR_AND ? n + 1
                                                                 : n;
    const bool fits = by >= k->lanes || by < 2 || (by & (by - 1)) != 0;
    if (!fits && (!k->fewer_lanes || by < k->fewer_lanes)) k->fewer_lanes = (uint32_t)by;
}

static bool find_in(former *x, const kir_region *body) {
    HG_VEC(kir_value *) all = {0};
    guess_all(x, body);
    for (kir_value *v = kir_walk(NULL, body); v; v = kir_walk(v, body)) {
        if (is_dead(v)) continue;
        kir_value **slot = hg_vec_push(&all);
        if (!slot) {
            hg_vec_free(&all);
            return false;
        }
        *slot = v;
        if (guess_of(v)->exists && v->nargs) count_again(v);
        guess_of(v)->agrees = agrees(v);
    }
    for (bool more = true; more;) {
        more = false;
        for (uint64_t i = all.count; i-- > 0;) more = want(all.data[i]) || more;
    }
    for (uint64_t i = all.count; i-- > 0;) hide(all.data[i]);
    for (uint64_t i = 0; i < all.count; i++) note_lanes(x->k, all.data[i]);
    hg_vec_free(&all);
    return true;
}

bool vec_find_guesses(former *x) {
    for (uint64_t f = 0; f < x->order.count; f++)
        if (!find_in(x, x->order.data[f]->body)) return false;
    return true;
}

/* ---- the guesses as operations ---- */

static vec_value *number(former *x, uint8_t type, uint64_t n) {
    vec_value *v = vec_add(x, VEC_CONST, type, false, 0, NULL);
    v->u.imm = n & kir_range_full(type).high;
    return v;
}

static vec_value *both(former *x, vec_value *a, vec_value *b) {
    return !a ? b : !b ? a : vec_and_of(x, a, b);
}
static vec_value *less(former *x, vec_value *a, vec_value *b) {
    return vec_prim(x, KIR_CMP_ULT, KIR_BOOL, 2, (vec_value *[]){a, b});
}
static vec_value *first_of(former *x, kir_value *v) {
    return kir_lanes_of(v)->form == KIR_LANES_EACH ? guess_of(v)->first : vec_one(x, v);
}
static vec_value *ok_of(const kir_value *v) {
    return kir_lanes_of(v)->form == KIR_LANES_EACH ? guess_of(v)->ok : NULL;
}

static const var_fact *vars_of(former *x, const kir_var *v) {
    var_fact *p = fact_of_var(v);
    if (!p->guess.first) p->guess.first = vec_new_var(x, v->type, false, v->name, false);
    if (!p->guess.ok && !p->guess.sure) p->guess.ok = vec_new_var(x, KIR_BOOL, false, NULL, false);
    vec_use_var(x, v);
    return p;
}

/* That the lanes' values do not wrap. NULL: they never do. */
static vec_value *no_wrap(former *x, kir_value *v) {
    int64_t s = stride_of(v).n;
    uint64_t span = span_of(x, s), most = kir_range_full(v->type).high;
    if (stays(x, v)) return NULL;
    if (span > most) return number(x, KIR_BOOL, 0);
    if (s > 0) return less(x, first_of(x, v), number(x, v->type, most - span + 1));
    return less(x, number(x, v->type, span - 1), first_of(x, v));
}

/* The same of a value that is made wider. */
static vec_value *no_wrap_extended(former *x, const kir_value *v) {
    kir_value *a = v->args[0];
    int64_t s = stride_of(a).n;
    uint64_t span = span_of(x, s), most = most_extended(v);
    if (v->op == KIR_ZEXT) return no_wrap(x, a);
    if (stays_extended(x, v)) return NULL;
    if (span > most) return number(x, KIR_BOOL, 0);
    vec_value *first = first_of(x, a);
    if (s >= 0) return less(x, first, number(x, a->type, most - span + 1));
    return both(x, less(x, number(x, a->type, span - 1), first),
                less(x, first, number(x, a->type, most + 1)));
}

/* That the lanes have one quotient by `divisor`, whose remainder in the first lane is rest. */
static vec_value *in_one(former *x, kir_value *a, vec_value *rest, vec_value *divisor) {
    uint64_t span = span_of(x, stride_of(a).n);
    if (span > kir_range_full(a->type).high) return number(x, KIR_BOOL, 0);
    vec_value *room = vec_prim(x, KIR_SUB, a->type, 2, (vec_value *[]){divisor, rest});
    vec_value *fits = less(x, number(x, a->type, span), room), *exact = no_wrap(x, a);
    return both(x, exact, fits);
}

/* The remainder of the first lane, which a remainder beside the quotient has made already. */
static vec_value *rest_of(former *x, uint8_t type, vec_value *a, vec_value *b) {
    enum { MOST_LOOKED_AT = 64 };
    vec_value *v = x->before ? x->before->prev : x->into->last;
    for (uint32_t n = 0; v && n < MOST_LOOKED_AT; v = v->prev, n++)
        if (v->op == VEC_PRIM && v->prim == KIR_UREM && v->args[0] == a && v->args[1] == b)
            return v;
    return vec_prim(x, KIR_UREM, type, 2, (vec_value *[]){a, b});
}

static void form_division(former *x, kir_value *v) {
    vec_value *a = first_of(x, v->args[0]), *b = first_of(x, v->args[1]), *rest, *divisor = b;
    if (v->op == KIR_LSHR) divisor = number(x, v->type, UINT64_C(1) << v->args[1]->umax);
    if (v->op == KIR_AND) divisor = number(x, v->type, v->args[1]->umax + 1);
    guess_of(v)->first = vec_prim(x, (kir_op)v->op, v->type, 2, (vec_value *[]){a, b});
    if (v->op == KIR_UREM || v->op == KIR_AND)
        rest = guess_of(v)->first;
    else if (v->op == KIR_UDIV)
        rest = rest_of(x, v->type, a, b);
    else
        rest = vec_prim(x, KIR_AND, v->type, 2,
                        (vec_value *[]){a, number(x, v->type, divisor->u.imm - 1)});
    /* All bits: there is no divisor, and one quotient if nothing wraps. */
    bool all_bits = v->op == KIR_AND && divisor->u.imm == 0;
    vec_value *ok = all_bits ? no_wrap(x, v->args[0]) : in_one(x, v->args[0], rest, divisor);
    guess_of(v)->ok = both(x, guess_of(v)->ok, ok);
}

static void form_swap(former *x, kir_value *v) {
    int lane = stride_of(v->args[0]).n ? 0 : 1;
    uint64_t low = x->k->lanes - 1;
    vec_value *a = first_of(x, v->args[lane]), *by = first_of(x, v->args[1 - lane]);
    vec_value *met = vec_prim(x, KIR_XOR, v->type, 2, (vec_value *[]){a, by});
    guess_of(v)->first = vec_prim(x, KIR_AND, v->type, 2,
                                  (vec_value *[]){met, number(x, v->type, ~low)});
    guess_of(v)->swap = vec_prim(x, KIR_AND, v->type, 2,
                                 (vec_value *[]){by, number(x, v->type, low)});
    vec_value *rest = vec_prim(x, KIR_AND, v->type, 2, (vec_value *[]){a, number(x, v->type, low)});
    vec_value *is_aligned = vec_prim(x, KIR_CMP_EQ, KIR_BOOL, 2,
                                     (vec_value *[]){rest, number(x, v->type, 0)});
    guess_of(v)->ok = both(x, guess_of(v)->ok, is_aligned);
}

/* The elements: of a quotient or remainder only behind a failed guess. */
static vec_value *elements(former *x, kir_value *v) {
    vec_value *args[3];
    vec_place outside = {x->into, x->before};
    vec_var *var = NULL;
    vec_value *branch = NULL;
    if (guess_of(v)->wanted && guess_of(v)->sure)
        return guess_of(v)->stride ? vec_ramp(x, guess_of(v)->first, guess_of(v)->stride)
                                   : guess_of(v)->first;
    if ((divides(v) || (is_long(v) && !guess_of(v)->lazy)) && guess_of(v)->ok &&
        guess_of(v)->wanted) {
        var = vec_new_var(x, v->type, true, NULL, false);
        branch = vec_open_if(x, guess_of(v)->ok);
        vec_back_to(x, (vec_place){branch->body[0], NULL});
        vec_set(x, var,
                guess_of(v)->stride ? vec_ramp(x, guess_of(v)->first, guess_of(v)->stride)
                                    : guess_of(v)->first,
                NULL);
        x->into = branch->body[1];
    }
    for (uint8_t i = clamps(v) ? 1 : 0; i < v->nargs; i++) args[i] = vec_each(x, v->args[i]);
    if (clamps(v)) args[0] = less(x, args[1], args[2]); /* its own may be written nowhere */
    vec_value *made = vec_prim(x, (kir_op)v->op, v->type, v->nargs, args);
    if (!var) return made;
    vec_set(x, var, made, NULL);
    vec_back_to(x, outside);
    return vec_get(x, var);
}

static void form_clamp(former *x, kir_value *v) {
    vec_value *a = first_of(x, v->args[1]), *most = number(x, v->type, v->args[2]->umax);
    vec_value *ok = less(x, a, number(x, v->type, most->u.imm - span_of(x, guess_of(v)->stride)));
    guess_of(v)->first = a; /* where ok holds */
    guess_of(v)->swap = guess_of(v->args[1])->swap;
    guess_of(v)->ok = both(x, guess_of(v)->ok, ok);
}

static void form_get(former *x, kir_value *v) {
    const var_fact *var = vars_of(x, v->u.var);
    guess_of(v)->first = vec_get(x, var->guess.first);
    if (!var->guess.sure) guess_of(v)->ok = vec_get(x, var->guess.ok);
}

bool vec_set_guess(former *x, const kir_value *set) {
    if (!fact_of_var(set->u.var)->guess.wanted) return false;
    const var_fact *var = vars_of(x, set->u.var);
    vec_bring(x, set->args[0]);
    vec_set(x, var->guess.first, first_of(x, set->args[0]), NULL);
    if (!var->guess.sure) {
        vec_value *ok = ok_of(set->args[0]);
        vec_set(x, var->guess.ok, ok ? ok : number(x, KIR_BOOL, 1), NULL);
    }
    return var->guess.sure && !var->guess.left;
}

void vec_form_guess(former *x, kir_value *v) {
    guess_of(v)->ok = guess_of(v)->swap = NULL;
    if (v->op == KIR_VAR_GET) {
        form_get(x, v);
        return;
    }
    for (uint8_t i = 0; i < v->nargs; i++) vec_bring(x, v->args[i]);
    for (uint8_t i = 0; i < v->nargs; i++)
        guess_of(v)->ok = both(x, guess_of(v)->ok, ok_of(v->args[i]));
    const stride s[2] = {stride_of(v->args[0]), v->nargs > 1 ? stride_of(v->args[1]) : (stride){0}};
    if (clamps(v)) {
        form_clamp(x, v);
    } else if (divides(v)) {
        form_division(x, v);
    } else if (v->nargs == 2 && swaps(v, s)) {
        form_swap(x, v);
    } else {
        vec_value *args[3];
        for (uint8_t i = 0; i < v->nargs; i++) {
            args[i] = first_of(x, v->args[i]);
            if (guess_of(v)->swapped && !guess_of(v)->swap)
                guess_of(v)->swap = guess_of(v->args[i])->swap;
        }
        guess_of(v)->first = vec_prim(x, (kir_op)v->op, v->type, v->nargs, args);
        bool extends = v->op == KIR_ZEXT || v->op == KIR_SEXT;
        vec_value *exact = extends ? no_wrap_extended(x, v) : NULL;
        guess_of(v)->ok = both(x, guess_of(v)->ok, exact);
    }
    if (!guess_of(v)->lazy) written_of(v)->each = elements(x, v);
    vec_made(x, v);
}

/* The elements of a lazy value are needed behind a failed guess: they are written there. */
vec_value *vec_each(former *x, kir_value *v) {
    vec_bring(x, v);
    if (kir_lanes_of(v)->form == KIR_LANES_EACH)
        return written_of(v)->each ? written_of(v)->each
               : guess_of(v)->lazy ? elements(x, v)
                                   : vec_one(x, v);
    if (kir_lanes_of(v)->form == KIR_LANES_ONE) return vec_one(x, v);
    return written_of(v)->each ? written_of(v)->each : vec_ramp(x, vec_one(x, v), v->stride);
}

/* Of a stride that is known: the greatest of the lanes' values is below the limit, if none wraps.
 */
static vec_value *greatest_below(former *x, kir_value *a, kir_value *limit) {
    const int64_t s = stride_of(a).n;
    vec_value *greatest = first_of(x, a);
    if (s > 0)
        greatest = vec_prim(x, KIR_ADD, a->type, 2,
                            (vec_value *[]){greatest, number(x, a->type, span_of(x, s))});
    return less(x, greatest, vec_one(x, limit));
}

vec_value *vec_is_inside(former *x, const kir_value *v) {
    kir_value *index = checked_index(v);
    if (!index) return NULL;
    vec_bring(x, index);
    if (span_of(x, stride_of(index).n) > kir_range_full(index->type).high) return NULL;
    vec_value *below = greatest_below(x, index, v->args[2]),
              *exact = kir_lanes_of(index)->form == KIR_LANES_AFFINE ? NULL : no_wrap(x, index);
    return both(x, both(x, ok_of(index), exact), below);
}

vec_value *vec_below_by_guess(former *x, kir_value *a, kir_value *limit) {
    vec_bring(x, a);
    uint64_t span = span_of(x, guess_of(a)->stride), most = kir_range_full(a->type).high;
    if (!guess_of(a)->exists || !guess_of(a)->wanted || guess_of(a)->stride <= 0 || span > most)
        return NULL;
    vec_value *end = vec_prim(x, KIR_ADD, a->type, 2,
                              (vec_value *[]){guess_of(a)->first, number(x, a->type, span)});
    vec_value *is_below = less(x, end, vec_one(x, limit)),
              *exact = both(x, no_wrap(x, a), is_below);
    return both(x, guess_of(a)->ok, exact);
}
