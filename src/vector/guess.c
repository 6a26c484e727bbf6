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
    if (p->shape == SHAPE_ONE) return (stride){.known = true};
    if (p->shape == SHAPE_AFFINE) return (stride){.known = true, .n = v->stride};
    return (stride){p->guessed, p->swapped, p->stride};
}

static bool is_number(const kir_value *v) { return v->umin == v->umax && kir_range_exists(v->type); }
/* 2^n - 1 */
static bool is_low_mask(const kir_value *v) { return is_number(v) && v->umax && v->umax < INT64_MAX && !(v->umax & (v->umax + 1)); }

/* Turns in which the first lane's remainder leaves no room are rare only where the stride is small. */
static bool can_divide(stride a, stride b) { return b.n == 0 && a.n >= 0 && a.n <= 64 && !a.swapped; }

static bool scaled(const kir_value *by, stride s, int64_t *n) {
    return is_number(by) && by->umax <= INT64_MAX && !hg_mul_overflows(s.n, (int64_t)by->umax, n);
}

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
        return none ||
               (b.n == 0 && is_number(v->args[1]) && v->args[1]->umax < 62 && !hg_mul_overflows(a.n, (int64_t)1 << v->args[1]->umax, n));
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
    const value_fact *p = fact_of(v->args[0]);
    bool op = v->op == KIR_UDIV || v->op == KIR_UREM || v->op == KIR_LSHR || v->op == KIR_AND;
    return op && (p->shape == SHAPE_AFFINE ? v->args[0]->stride : p->stride) != 0;
}

static void guess(former *x, kir_value *v) {
    value_fact *p = fact_of(v);
    stride s[3] = {0};
    if (!kir_is_value(v) || p->shape != SHAPE_EACH || v->nargs == 0 || v->nargs > 3) return;
    if (!kir_range_exists(v->type) || v->type == KIR_BOOL) return;
    for (uint8_t i = 0; i < v->nargs; i++) {
        s[i] = stride_of(v->args[i]);
        if (!s[i].known) return;
    }
    int64_t n = 0;
    if (!finds_stride(v, s, &n)) return;
    const int64_t most = INT64_MAX / (int64_t)x->k->lanes;
    if (n > most || n < -most) return;
    p->guessed = true;
    p->stride = n;
    p->swapped = n != 0 && (s[0].swapped || s[1].swapped || swaps(v, s));
}

/* ---- who asks ---- */

/* An access that is a row, or a load of one place, where the guess holds. */
static bool wants_guess(const kir_value *v) {
    if (v->op != KIR_LOAD && v->op != KIR_STORE && v->op != KIR_CHECK) return false;
    kir_access at = kir_access_of(v);
    if (kir_access_is_open(v) || !at.index_args) return false;
    stride s = stride_of(v->args[at.index]);
    if (fact_of(v->args[at.index])->shape != SHAPE_EACH || !s.known) return false;
    if (s.swapped && v->op == KIR_CHECK) return false;
    return s.n == (int64_t)v->u.mem.bytes || (s.n == 0 && v->op != KIR_STORE);
}

static const kir_value *below(const kir_value *v) {
    if (v->op != KIR_IF || !fact_of(v)->guard || v->args[0]->op != KIR_CMP_ULT) return NULL;
    const kir_value *a = v->args[0]->args[0];
    return fact_of(v->args[0]->args[1])->shape == SHAPE_ONE && fact_of(a)->guessed && fact_of(a)->stride > 0 && !fact_of(a)->swapped ? a
                                                                                                                                     : NULL;
}

static void mark(kir_value *v) {
    value_fact *p = fact_of(v);
    if (wants_guess(v)) {
        const kir_value *index = v->args[kir_access_of(v).index];
        p->guessed = fact_of(index)->wanted_guess = true;
        fact_of(index)->hidden_uses++;
    }
    if (below(v)) fact_of(below(v))->wanted_guess = true;
    if (!p->wanted_guess) return;
    /* Users come later in the text, so they have been here. */
    p->lazy = p->hidden_uses == v->uses && p->again <= MOST_AGAIN && !divides(v);
    for (uint8_t i = 0; i < v->nargs; i++) {
        value_fact *a = fact_of(v->args[i]);
        if (!a->guessed) continue;
        a->wanted_guess = true;
        if (p->lazy) a->hidden_uses++;
    }
}

static void count_again(const kir_value *v) {
    value_fact *p = fact_of(v);
    p->again = 1;
    for (uint8_t i = 0; i < v->nargs && !divides(v); i++)
        if (fact_of(v->args[i])->guessed) p->again += fact_of(v->args[i])->again;
    if (p->again > MOST_AGAIN) p->again = MOST_AGAIN + 1;
}

bool vec_find_guesses(former *x) {
    for (uint64_t f = 0; f < x->order.count; f++) {
        HG_VEC(kir_value *) all = {0};
        const kir_region *body = x->order.data[f]->body;
        for (kir_value *v = kir_walk(NULL, body); v; v = kir_walk(v, body)) {
            kir_value **slot = hg_vec_push(&all);
            if (!slot) {
                hg_vec_free(&all);
                return false;
            }
            *slot = v;
            guess(x, v);
            if (fact_of(v)->guessed) count_again(v);
        }
        for (uint64_t i = all.count; i-- > 0;)
            if (!is_dead(all.data[i])) mark(all.data[i]);
        hg_vec_free(&all);
    }
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
static vec_value *first_of(former *x, kir_value *v) { return fact_of(v)->shape == SHAPE_EACH ? fact_of(v)->first : vec_one(x, v); }
static vec_value *ok_of(const kir_value *v) { return fact_of(v)->shape == SHAPE_EACH ? fact_of(v)->ok : NULL; }

/* How far the last lane is from the first. */
static uint64_t span_of(const former *x, int64_t s) { return (s < 0 ? 0 - (uint64_t)s : (uint64_t)s) * (x->k->lanes - 1); }

/* That the lanes' values do not wrap. NULL: they never do. */
static vec_value *no_wrap(former *x, kir_value *v) {
    int64_t s = stride_of(v).n;
    uint64_t span = span_of(x, s), most = kir_range_full(v->type).high;
    if (s == 0 || fact_of(v)->shape == SHAPE_AFFINE) return NULL;
    if (span > most) return number(x, KIR_BOOL, 0);
    if (s > 0 && v->umax <= most - span) return NULL; /* nor does the sum where they all are that small */
    if (s > 0) return less(x, first_of(x, v), number(x, v->type, most - span + 1));
    return vec_not_of(x, less(x, first_of(x, v), number(x, v->type, span)));
}

/* That the lanes have one quotient by `divisor`, whose remainder in the first lane is rest. */
static vec_value *in_one(former *x, kir_value *a, vec_value *rest, vec_value *divisor) {
    uint64_t span = span_of(x, stride_of(a).n);
    if (span > kir_range_full(a->type).high) return number(x, KIR_BOOL, 0);
    vec_value *room = vec_prim(x, KIR_SUB, a->type, 2, (vec_value *[]){divisor, rest});
    vec_value *fits = less(x, number(x, a->type, span), room), *stays = no_wrap(x, a);
    return both(x, stays, fits);
}

static void form_division(former *x, kir_value *v, value_fact *p) {
    vec_value *a = first_of(x, v->args[0]), *b = first_of(x, v->args[1]), *rest, *divisor = b;
    if (v->op == KIR_LSHR) divisor = number(x, v->type, UINT64_C(1) << v->args[1]->umax);
    if (v->op == KIR_AND) divisor = number(x, v->type, v->args[1]->umax + 1);
    p->first = vec_prim(x, (kir_op)v->op, v->type, 2, (vec_value *[]){a, b});
    if (v->op == KIR_UREM || v->op == KIR_AND)
        rest = p->first;
    else if (v->op == KIR_UDIV)
        rest = vec_prim(x, KIR_UREM, v->type, 2, (vec_value *[]){a, b});
    else
        rest = vec_prim(x, KIR_AND, v->type, 2, (vec_value *[]){a, number(x, v->type, divisor->u.imm - 1)});
    /* All bits: there is no divisor, and one quotient if nothing wraps. */
    bool all_bits = v->op == KIR_AND && divisor->u.imm == 0;
    vec_value *ok = all_bits ? no_wrap(x, v->args[0]) : in_one(x, v->args[0], rest, divisor);
    p->ok = both(x, p->ok, ok);
}

static void form_swap(former *x, kir_value *v, value_fact *p) {
    int lane = stride_of(v->args[0]).n ? 0 : 1;
    uint64_t low = x->k->lanes - 1;
    vec_value *a = first_of(x, v->args[lane]), *by = first_of(x, v->args[1 - lane]);
    vec_value *met = vec_prim(x, KIR_XOR, v->type, 2, (vec_value *[]){a, by});
    p->first = vec_prim(x, KIR_AND, v->type, 2, (vec_value *[]){met, number(x, v->type, ~low)});
    p->swap = vec_prim(x, KIR_AND, v->type, 2, (vec_value *[]){by, number(x, v->type, low)});
    vec_value *rest = vec_prim(x, KIR_AND, v->type, 2, (vec_value *[]){a, number(x, v->type, low)});
    vec_value *is_aligned = vec_prim(x, KIR_CMP_EQ, KIR_BOOL, 2, (vec_value *[]){rest, number(x, v->type, 0)});
    p->ok = both(x, p->ok, is_aligned);
}

/* The elements: of a quotient or remainder only behind a failed guess. */
static vec_value *elements(former *x, kir_value *v) {
    value_fact *p = fact_of(v);
    vec_value *args[3];
    vec_region *outside = x->into;
    vec_var *var = NULL;
    vec_value *branch = NULL;
    if (divides(v) && p->ok && p->wanted_guess) {
        var = vec_new_var(x, v->type, true, NULL, false);
        branch = vec_open_if(x, p->ok);
        x->into = branch->body[0];
        vec_set(x, var, p->stride ? vec_ramp(x, p->first, p->stride) : p->first, NULL);
        x->into = branch->body[1];
    }
    for (uint8_t i = 0; i < v->nargs; i++) args[i] = vec_each(x, v->args[i]);
    vec_value *made = vec_prim(x, (kir_op)v->op, v->type, v->nargs, args);
    if (!var) return made;
    vec_set(x, var, made, NULL);
    x->into = outside;
    return vec_get(x, var);
}

void vec_form_guess(former *x, kir_value *v) {
    value_fact *p = fact_of(v);
    for (uint8_t i = 0; i < v->nargs; i++) p->ok = both(x, p->ok, ok_of(v->args[i]));
    const stride s[2] = {stride_of(v->args[0]), v->nargs > 1 ? stride_of(v->args[1]) : (stride){0}};
    if (divides(v)) {
        form_division(x, v, p);
    } else if (v->nargs == 2 && swaps(v, s)) {
        form_swap(x, v, p);
    } else {
        vec_value *args[3];
        for (uint8_t i = 0; i < v->nargs; i++) {
            args[i] = first_of(x, v->args[i]);
            if (p->swapped && !p->swap) p->swap = fact_of(v->args[i])->swap;
        }
        p->first = vec_prim(x, (kir_op)v->op, v->type, v->nargs, args);
        vec_value *stays = v->op == KIR_ZEXT ? no_wrap(x, v->args[0]) : NULL;
        p->ok = both(x, p->ok, stays);
    }
    if (!p->lazy) p->each = elements(x, v);
}

/* The elements of a lazy value are needed behind a failed guess: they are written there. */
vec_value *vec_each(former *x, kir_value *v) {
    value_fact *p = fact_of(v);
    if (p->shape == SHAPE_EACH) return p->each ? p->each : p->lazy ? elements(x, v) : vec_one(x, v);
    if (p->shape == SHAPE_ONE) return vec_one(x, v);
    return p->each ? p->each : vec_ramp(x, vec_one(x, v), v->stride);
}

vec_value *vec_below_by_guess(former *x, kir_value *a, kir_value *limit) {
    const value_fact *p = fact_of(a);
    uint64_t span = span_of(x, p->stride), most = kir_range_full(a->type).high;
    if (!p->guessed || !p->wanted_guess || p->stride <= 0 || span > most) return NULL;
    vec_value *end = vec_prim(x, KIR_ADD, a->type, 2, (vec_value *[]){p->first, number(x, a->type, span)});
    vec_value *is_below = less(x, end, vec_one(x, limit)), *stays = both(x, no_wrap(x, a), is_below);
    return both(x, p->ok, stays);
}
