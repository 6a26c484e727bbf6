/* Values that in most turns go up from lane to lane by a constant, though nothing proves it: sums of 32 bits that could wrap, the quotient and
 * the remainder of a lane's number by a uniform one. Such a value has two forms: its elements, and the first lane's value with a
 * stride that holds where `ok`, which is one value, does. An access that is a row if that holds asks `ok`; only where it does not are the
 * elements of its index calculated.
 *
 * A guess is: in every lane l of the turn the value is first + l * stride, modulo its type, where ok holds (NULL: always). A lane's number xor a
 * uniform one is swapped: first + (l xor swap) * stride.
 * Requires: shapes. Must not know: control flow. */
#include "kir/analysis/range.h"
#include "vector/form_internal.h"

/* Operations from a value of known form to one whose elements are calculated behind a failed guess: they are written again there. */
enum { MOST_AGAIN = 12 };

/* ---- which values have a guess ---- */

typedef struct stride {
    bool known, swapped;
    int64_t n;
} stride;

static stride stride_of(const kir_value *v) {
    const value_fact *p = fact_of(v);
    if (!kir_range_exists(v->type) || v->type == KIR_BOOL) return (stride){0};
    if (p->lanes.form == KIR_LANES_ONE) return (stride){.known = true};
    if (p->lanes.form == KIR_LANES_AFFINE) return (stride){.known = true, .n = v->stride};
    return (stride){p->guess.exists, p->guess.swapped, p->guess.stride};
}

static bool is_number(const kir_value *v) { return v->umin == v->umax && kir_range_exists(v->type); }
/* 2^n - 1 */
static bool is_low_mask(const kir_value *v) { return is_number(v) && v->umax && v->umax < INT64_MAX && !(v->umax & (v->umax + 1)); }

/* Turns in which the first lane's remainder leaves no room are rare only where the stride is small. */
static bool can_divide(stride a, stride b) { return b.n == 0 && a.n >= 0 && a.n <= 64 && !a.swapped; }

static bool scaled(const kir_value *by, stride s, int64_t *n) {
    return is_number(by) && by->umax <= INT64_MAX && !hg_mul_overflows(s.n, (int64_t)by->umax, n);
}

/* Shifts are by an amount modulo the width. */
static uint64_t shift_of(const kir_value *v) { return v->args[1]->umax & (kir_type_bits(v->type) - 1); }

/* A lane's number xor a number that is the same in all lanes. */
static bool swaps(const kir_value *v, const stride *s) {
    return v->op == KIR_XOR && !s[0].swapped && !s[1].swapped && ((s[0].n == 1 && s[1].n == 0) || (s[0].n == 0 && s[1].n == 1));
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
    case KIR_MUL: return none || (a.n == 0 ? scaled(v->args[0], b, n) : b.n == 0 && scaled(v->args[1], a, n));
    case KIR_SHL:
        return none || (b.n == 0 && is_number(v->args[1]) && shift_of(v) < 62 && !hg_mul_overflows(a.n, (int64_t)1 << shift_of(v), n));
    case KIR_ZEXT:
    case KIR_TRUNC:
    case KIR_BITCAST: *n = a.n; return true;
    case KIR_UDIV: return can_divide(a, b);
    case KIR_UREM: *n = a.n; return can_divide(a, b);
    case KIR_LSHR: return none || (can_divide(a, b) && is_number(v->args[1]) && v->args[1]->umax < kir_type_bits(v->type));
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
    if (v->op != KIR_SELECT || v->args[0]->op != KIR_CMP_ULT || !is_number(v->args[2])) return false;
    const kir_value *condition = v->args[0];
    return condition->args[0] == v->args[1] && is_number(condition->args[1]) && condition->args[1]->umax == v->args[2]->umax;
}

/* How far the last lane is from the first. */
static uint64_t span_of(const former *x, int64_t s) { return (s < 0 ? 0 - (uint64_t)s : (uint64_t)s) * (x->k->lanes - 1); }

/* The lanes' values do not wrap, nor does first + span: proven. */
static bool stays(const former *x, const kir_value *v) {
    const stride s = stride_of(v);
    uint64_t span = span_of(x, s.n), most = kir_range_full(v->type).high;
    return s.n == 0 || fact_of(v)->lanes.form == KIR_LANES_AFFINE || (s.n > 0 && span <= most && v->umax <= most - span);
}

static void guess_clamp(const former *x, const kir_value *v) {
    value_fact *p = fact_of(v);
    stride s = stride_of(v->args[1]);
    if (!s.known || s.n < 0 || span_of(x, s.n) >= v->args[2]->umax) return;
    p->guess.exists = true;
    p->guess.swapped = s.swapped;
    p->guess.stride = s.n;
}

static void guess_value(former *x, const kir_value *v) {
    value_fact *p = fact_of(v);
    stride s[3] = {0};
    if (clamps(v)) {
        guess_clamp(x, v);
        return;
    }
    if (!kir_is_value(v) || v->nargs == 0 || v->nargs > 3) return;
    bool sure = !divides(v) && !(v->op == KIR_ZEXT && !stays(x, v->args[0]));
    for (uint8_t i = 0; i < v->nargs; i++) {
        s[i] = stride_of(v->args[i]);
        if (!s[i].known) return;
        sure = sure && (fact_of(v->args[i])->lanes.form != KIR_LANES_EACH || fact_of(v->args[i])->guess.sure);
    }
    int64_t n = 0;
    if (!finds_stride(v, s, &n)) return;
    const int64_t most = INT64_MAX / (int64_t)x->k->lanes;
    if (n > most || n < -most) return;
    p->guess.exists = true;
    p->guess.stride = n;
    p->guess.swapped = n != 0 && (s[0].swapped || s[1].swapped || swaps(v, s));
    p->guess.sure = sure && !p->guess.swapped;
}

/* ---- variables ---- */

static bool is_within(const kir_region *r, const kir_region *outer) {
    while (r && r != outer) r = r->owner ? r->owner->parent : NULL;
    return r == outer;
}

/* The innermost region around that lanes are in one by one; NULL: none. */
static const kir_region *apart_region(const kir_value *v) {
    for (const kir_region *r = v->parent; r->owner; r = r->owner->parent)
        if (fact_of(r->owner)->lanes.divergent) return r;
    return NULL;
}

/* Whether lanes can come to v in some rounds of a loop and not in others, or in some more often, each in its own way: by a branch in the loop, or a
 * loop in it that lanes leave one by one. */
static bool is_passed_by_round(const kir_value *v) {
    bool apart = false;
    for (const kir_region *r = v->parent; r->owner; r = r->owner->parent) {
        if (apart && r->owner->op == KIR_LOOP) return true;
        apart = apart || fact_of(r->owner)->lanes.divergent;
    }
    return false;
}

/* Lanes that meet at a GET must have done the same SETs: so it is where the GET is inside every region that lanes are in one by one and a SET is in, which
 * they enter once or in every round, and no lane goes on to the next round before others. A GET elsewhere reads elements. */
static void place_set(const kir_value *v) {
    var_fact *var = fact_of_var(v->u.var);
    const kir_region *r = apart_region(v);
    for (const kir_region *o = r; o && o->owner; o = o->owner->parent)
        if (fact_of(o->owner)->continues) var->no_guess = true;
    if (is_passed_by_round(v)) var->no_guess = true;
    if (!r || r == var->inner) return;
    if (var->inner && !is_within(r, var->inner) && !is_within(var->inner, r)) var->no_guess = true;
    if (!var->inner || is_within(r, var->inner)) var->inner = r;
}

static bool is_left(const kir_value *get) {
    const var_fact *var = fact_of_var(get->u.var);
    return var->inner && !is_within(get->parent, var->inner);
}

static void find_places(const former *x, const kir_region *body) {
    for (kir_var *v = x->m->vars; v; v = v->next) {
        var_fact *p = fact_of_var(v);
        p->no_guess = p->form != KIR_LANES_EACH || v->length || v->by_reference || (!v->function && x->has_masked) ||
                      !kir_range_exists(v->type) || v->type == KIR_BOOL;
        p->inner = NULL;
        p->guessed = p->left = false;
    }
    for (const kir_value *v = kir_walk(NULL, body); v; v = kir_walk(v, body))
        if (v->op == KIR_VAR_SET) place_set(v);
    for (const kir_value *v = kir_walk(NULL, body); v; v = kir_walk(v, body))
        if (v->op == KIR_VAR_GET && is_left(v)) fact_of_var(v->u.var)->left = true;
}

static void guess_get(const kir_value *v) {
    const var_fact *var = fact_of_var(v->u.var);
    value_fact *p = fact_of(v);
    p->guess.exists = var->guessed && !var->no_guess && !is_left(v);
    p->guess.stride = var->stride;
    p->guess.sure = p->guess.exists && var->sure;
}

/* False: what was thought of the variable before does not hold. */
static bool guess_set(const kir_value *v) {
    var_fact *var = fact_of_var(v->u.var);
    const value_fact *value = fact_of(v->args[0]);
    const stride s = stride_of(v->args[0]);
    bool sure = value->lanes.form != KIR_LANES_EACH || value->guess.sure;
    if (var->no_guess) return true;
    if (!var->guessed) {
        var->guessed = var->sure = s.known;
        var->stride = s.n;
    }
    if (!s.known || s.swapped || s.n != var->stride) {
        var->no_guess = true;
        return false;
    }
    if (sure || !var->sure) return true;
    var->sure = false;
    return false;
}

/* Starts from variables that keep the stride they are first set to, and takes back what does not hold. */
static void guess_all(former *x, const kir_region *body) {
    enum { MOST_ROUNDS = 8 };
    find_places(x, body);
    bool settled = false;
    for (int round = 0; !settled; round++) {
        settled = true;
        for (kir_var *v = x->m->vars; v && round >= MOST_ROUNDS; v = v->next) fact_of_var(v)->no_guess = true;
        for (const kir_value *v = kir_walk(NULL, body); v; v = kir_walk(v, body)) {
            value_fact *p = fact_of(v);
            if (v->op == KIR_VAR_SET) settled = guess_set(v) && settled;
            if (p->lanes.form != KIR_LANES_EACH || !kir_range_exists(v->type) || v->type == KIR_BOOL) continue;
            p->guess.exists = p->guess.sure = p->guess.swapped = false;
            if (v->op == KIR_VAR_GET)
                guess_get(v);
            else
                guess_value(x, v);
        }
    }
    for (kir_var *v = x->m->vars; v; v = v->next) {
        var_fact *p = fact_of_var(v);
        p->guessed = p->guessed && !p->no_guess;
        p->sure = p->sure && p->guessed;
    }
}

/* A truth value that is made of nothing but what is the same in all lanes that are here. */
static bool agrees(const kir_value *v) {
    if (v->type != KIR_BOOL || v->nargs == 0 || !kir_is_value(v) || fact_of(v)->lanes.form != KIR_LANES_EACH) return false;
    for (uint8_t i = 0; i < v->nargs; i++) {
        const value_fact *p = fact_of(v->args[i]);
        if (p->lanes.form != KIR_LANES_ONE && !p->agrees && !(p->lanes.form == KIR_LANES_EACH && p->guess.sure && p->guess.stride == 0))
            return false;
    }
    return true;
}

/* ---- who asks ---- */

/* An access that is a row, or a load of one place, where the guess holds; or places as far apart where it always does. */
static bool wants_guess(const kir_value *v) {
    if (v->op != KIR_LOAD && v->op != KIR_STORE && v->op != KIR_CHECK) return false;
    kir_access at = kir_access_of(v);
    if (kir_access_is_open(v) || !at.index_args) return false;
    stride s = stride_of(v->args[at.index]);
    if (fact_of(v->args[at.index])->lanes.form != KIR_LANES_EACH || !s.known) return false;
    if (s.swapped && v->op == KIR_CHECK) return false;
    if (s.n == 0) return v->op != KIR_STORE;
    return s.n == (int64_t)v->u.mem.bytes || (fact_of(v->args[at.index])->guess.sure && !s.swapped);
}

static const kir_value *below(const kir_value *v) {
    if (v->op != KIR_IF || !fact_of(v)->guard || v->args[0]->op != KIR_CMP_ULT) return NULL;
    const kir_value *a = v->args[0]->args[0];
    return fact_of(v->args[0]->args[1])->lanes.form == KIR_LANES_ONE && fact_of(a)->guess.exists && fact_of(a)->guess.stride > 0 &&
                   !fact_of(a)->guess.swapped
               ? a
               : NULL;
}

/* Divisions of vectors take longer than a scalar one and the question. */
static bool is_long(const kir_value *v) {
    return (v->op == KIR_UDIV || v->op == KIR_UREM) && fact_of(v)->guess.exists && divides(v) && !fact_of(v)->guess.swapped;
}

/* A value whose guess is wanted wants its arguments'; a variable what it is set to. True: a variable is wanted that was not. */
static bool want(kir_value *v) {
    value_fact *p = fact_of(v);
    if (wants_guess(v)) p->access.by_guess = fact_of(v->args[kir_access_of(v).index])->guess.wanted = true;
    if (below(v)) fact_of(below(v))->guess.wanted = true;
    if (is_long(v)) p->guess.wanted = true;
    if (v->op == KIR_IF && p->lanes.divergent && fact_of(v->args[0])->agrees) fact_of(v->args[0])->wanted_one = true;
    for (uint8_t i = 0; p->wanted_one && i < v->nargs; i++) {
        if (fact_of(v->args[i])->agrees) fact_of(v->args[i])->wanted_one = true;
        if (fact_of(v->args[i])->guess.exists) fact_of(v->args[i])->guess.wanted = true;
    }
    if (v->op == KIR_VAR_GET && (p->guess.wanted || (p->guess.exists && p->guess.sure && !fact_of_var(v->u.var)->left)) &&
        !fact_of_var(v->u.var)->wanted_guess)
        return p->guess.wanted = fact_of_var(v->u.var)->wanted_guess = true;
    if (v->op == KIR_VAR_GET && p->guess.exists && fact_of_var(v->u.var)->wanted_guess) p->guess.wanted = true;
    if (v->op == KIR_VAR_SET ? fact_of_var(v->u.var)->wanted_guess : p->guess.wanted)
        for (uint8_t i = 0; i < v->nargs; i++)
            if (fact_of(v->args[i])->guess.exists) fact_of(v->args[i])->guess.wanted = true;
    return false;
}

/* Who needs elements only behind a failed guess, or never. Users come later in the text, so they have been here. */
static void hide(const kir_value *v) {
    value_fact *p = fact_of(v);
    if (wants_guess(v)) fact_of(v->args[kir_access_of(v).index])->hidden_uses++;
    if (v->op == KIR_VAR_SET && fact_of_var(v->u.var)->sure && !fact_of_var(v->u.var)->left) fact_of(v->args[0])->hidden_uses++;
    if (!p->guess.wanted && v->op != KIR_CMP_ULT) return;
    if (v->op == KIR_VAR_GET)
        p->lazy = p->guess.sure;
    else
        p->lazy = v->uses && p->hidden_uses == v->uses && p->again <= MOST_AGAIN && !divides(v);
    for (uint8_t i = 0; p->lazy && i < v->nargs; i++)
        if (fact_of(v->args[i])->guess.exists || (i == 0 && clamps(v))) fact_of(v->args[i])->hidden_uses++;
}

static void count_again(const kir_value *v) {
    value_fact *p = fact_of(v);
    p->again = 1;
    if (p->guess.sure || divides(v)) return;
    for (uint8_t i = 0; i < v->nargs; i++)
        if (fact_of(v->args[i])->guess.exists) p->again += fact_of(v->args[i])->again;
    if (p->again > MOST_AGAIN) p->again = MOST_AGAIN + 1;
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
        if (fact_of(v)->guess.exists && v->nargs) count_again(v);
        fact_of(v)->agrees = agrees(v);
    }
    for (bool more = true; more;) {
        more = false;
        for (uint64_t i = all.count; i-- > 0;) more = want(all.data[i]) || more;
    }
    for (uint64_t i = all.count; i-- > 0;) hide(all.data[i]);
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

static vec_value *both(former *x, vec_value *a, vec_value *b) { return !a ? b : !b ? a : vec_and_of(x, a, b); }
static vec_value *less(former *x, vec_value *a, vec_value *b) { return vec_prim(x, KIR_CMP_ULT, KIR_BOOL, 2, (vec_value *[]){a, b}); }
static vec_value *first_of(former *x, kir_value *v) {
    return fact_of(v)->lanes.form == KIR_LANES_EACH ? fact_of(v)->guess.first : vec_one(x, v);
}
static vec_value *ok_of(const kir_value *v) { return fact_of(v)->lanes.form == KIR_LANES_EACH ? fact_of(v)->guess.ok : NULL; }

static const var_fact *vars_of(former *x, const kir_var *v) {
    var_fact *p = fact_of_var(v);
    if (!p->first) p->first = vec_new_var(x, v->type, false, v->name, false);
    if (!p->ok && !p->sure) p->ok = vec_new_var(x, KIR_BOOL, false, NULL, false);
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
    return vec_not_of(x, less(x, first_of(x, v), number(x, v->type, span)));
}

/* That the lanes have one quotient by `divisor`, whose remainder in the first lane is rest. */
static vec_value *in_one(former *x, kir_value *a, vec_value *rest, vec_value *divisor) {
    uint64_t span = span_of(x, stride_of(a).n);
    if (span > kir_range_full(a->type).high) return number(x, KIR_BOOL, 0);
    vec_value *room = vec_prim(x, KIR_SUB, a->type, 2, (vec_value *[]){divisor, rest});
    vec_value *fits = less(x, number(x, a->type, span), room), *exact = no_wrap(x, a);
    return both(x, exact, fits);
}

static void form_division(former *x, kir_value *v, value_fact *p) {
    vec_value *a = first_of(x, v->args[0]), *b = first_of(x, v->args[1]), *rest, *divisor = b;
    if (v->op == KIR_LSHR) divisor = number(x, v->type, UINT64_C(1) << v->args[1]->umax);
    if (v->op == KIR_AND) divisor = number(x, v->type, v->args[1]->umax + 1);
    p->guess.first = vec_prim(x, (kir_op)v->op, v->type, 2, (vec_value *[]){a, b});
    if (v->op == KIR_UREM || v->op == KIR_AND)
        rest = p->guess.first;
    else if (v->op == KIR_UDIV)
        rest = vec_prim(x, KIR_UREM, v->type, 2, (vec_value *[]){a, b});
    else
        rest = vec_prim(x, KIR_AND, v->type, 2, (vec_value *[]){a, number(x, v->type, divisor->u.imm - 1)});
    /* All bits: there is no divisor, and one quotient if nothing wraps. */
    bool all_bits = v->op == KIR_AND && divisor->u.imm == 0;
    vec_value *ok = all_bits ? no_wrap(x, v->args[0]) : in_one(x, v->args[0], rest, divisor);
    p->guess.ok = both(x, p->guess.ok, ok);
}

static void form_swap(former *x, kir_value *v, value_fact *p) {
    int lane = stride_of(v->args[0]).n ? 0 : 1;
    uint64_t low = x->k->lanes - 1;
    vec_value *a = first_of(x, v->args[lane]), *by = first_of(x, v->args[1 - lane]);
    vec_value *met = vec_prim(x, KIR_XOR, v->type, 2, (vec_value *[]){a, by});
    p->guess.first = vec_prim(x, KIR_AND, v->type, 2, (vec_value *[]){met, number(x, v->type, ~low)});
    p->guess.swap = vec_prim(x, KIR_AND, v->type, 2, (vec_value *[]){by, number(x, v->type, low)});
    vec_value *rest = vec_prim(x, KIR_AND, v->type, 2, (vec_value *[]){a, number(x, v->type, low)});
    vec_value *is_aligned = vec_prim(x, KIR_CMP_EQ, KIR_BOOL, 2, (vec_value *[]){rest, number(x, v->type, 0)});
    p->guess.ok = both(x, p->guess.ok, is_aligned);
}

/* The elements: of a quotient or remainder only behind a failed guess. */
static vec_value *elements(former *x, kir_value *v) {
    value_fact *p = fact_of(v);
    vec_value *args[3];
    vec_place outside = {x->into, x->before};
    vec_var *var = NULL;
    vec_value *branch = NULL;
    if (p->guess.wanted && p->guess.sure) return p->guess.stride ? vec_ramp(x, p->guess.first, p->guess.stride) : p->guess.first;
    if (divides(v) && p->guess.ok && p->guess.wanted) {
        var = vec_new_var(x, v->type, true, NULL, false);
        branch = vec_open_if(x, p->guess.ok);
        vec_back_to(x, (vec_place){branch->body[0], NULL});
        vec_set(x, var, p->guess.stride ? vec_ramp(x, p->guess.first, p->guess.stride) : p->guess.first, NULL);
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

static void form_clamp(former *x, kir_value *v, value_fact *p) {
    vec_value *a = first_of(x, v->args[1]), *most = number(x, v->type, v->args[2]->umax);
    vec_value *ok = less(x, a, number(x, v->type, most->u.imm - span_of(x, p->guess.stride)));
    p->guess.first = a; /* where ok holds */
    p->guess.swap = fact_of(v->args[1])->guess.swap;
    p->guess.ok = both(x, p->guess.ok, ok);
}

static void form_get(former *x, kir_value *v, value_fact *p) {
    const var_fact *var = vars_of(x, v->u.var);
    p->guess.first = vec_get(x, var->first);
    if (!var->sure) p->guess.ok = vec_get(x, var->ok);
}

bool vec_set_guess(former *x, const kir_value *set) {
    if (!fact_of_var(set->u.var)->wanted_guess) return false;
    const var_fact *var = vars_of(x, set->u.var);
    vec_set(x, var->first, first_of(x, set->args[0]), NULL);
    if (!var->sure) {
        vec_value *ok = ok_of(set->args[0]);
        vec_set(x, var->ok, ok ? ok : number(x, KIR_BOOL, 1), NULL);
    }
    return var->sure && !var->left;
}

void vec_form_guess(former *x, kir_value *v) {
    value_fact *p = fact_of(v);
    p->guess.ok = p->guess.swap = NULL;
    if (v->op == KIR_VAR_GET) {
        form_get(x, v, p);
        return;
    }
    for (uint8_t i = 0; i < v->nargs; i++) vec_bring(x, v->args[i]);
    for (uint8_t i = 0; i < v->nargs; i++) p->guess.ok = both(x, p->guess.ok, ok_of(v->args[i]));
    const stride s[2] = {stride_of(v->args[0]), v->nargs > 1 ? stride_of(v->args[1]) : (stride){0}};
    if (clamps(v)) {
        form_clamp(x, v, p);
    } else if (divides(v)) {
        form_division(x, v, p);
    } else if (v->nargs == 2 && swaps(v, s)) {
        form_swap(x, v, p);
    } else {
        vec_value *args[3];
        for (uint8_t i = 0; i < v->nargs; i++) {
            args[i] = first_of(x, v->args[i]);
            if (p->guess.swapped && !p->guess.swap) p->guess.swap = fact_of(v->args[i])->guess.swap;
        }
        p->guess.first = vec_prim(x, (kir_op)v->op, v->type, v->nargs, args);
        vec_value *exact = v->op == KIR_ZEXT ? no_wrap(x, v->args[0]) : NULL;
        p->guess.ok = both(x, p->guess.ok, exact);
    }
    if (!p->lazy) p->each = elements(x, v);
    vec_made(x, v);
}

/* The elements of a lazy value are needed behind a failed guess: they are written there. */
vec_value *vec_each(former *x, kir_value *v) {
    value_fact *p = fact_of(v);
    vec_bring(x, v);
    if (p->lanes.form == KIR_LANES_EACH) return p->each ? p->each : p->lazy ? elements(x, v) : vec_one(x, v);
    if (p->lanes.form == KIR_LANES_ONE) return vec_one(x, v);
    return p->each ? p->each : vec_ramp(x, vec_one(x, v), v->stride);
}

vec_value *vec_below_by_guess(former *x, kir_value *a, kir_value *limit) {
    const value_fact *p = fact_of(a);
    vec_bring(x, a);
    uint64_t span = span_of(x, p->guess.stride), most = kir_range_full(a->type).high;
    if (!p->guess.exists || !p->guess.wanted || p->guess.stride <= 0 || span > most) return NULL;
    vec_value *end = vec_prim(x, KIR_ADD, a->type, 2, (vec_value *[]){p->guess.first, number(x, a->type, span)});
    vec_value *is_below = less(x, end, vec_one(x, limit)), *exact = both(x, no_wrap(x, a), is_below);
    return both(x, p->guess.ok, exact);
}
