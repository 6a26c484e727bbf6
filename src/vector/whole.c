/* Whole turns in which all goes well. Of many kernels what can end lanes follows from the first
 * lane's number alone: rows in bounds, a guard, sums that do not wrap. That is asked once for a
 * stretch of turns (question.h), in WHOLE in front of everything else; where the answer is true a
 * printer runs those turns without what it settles: no check, no lane that ends.
 *
 * Requires: vec_verify, numbered operations. Must not know: targets. */
#include "vector/passes.h"
#include "vector/question.h"

enum { MOST_VALUES = 512, MOST_SETTLED = 48 };

/* ---- values ---- */

static bool is_of_launch(const vec_value *v) {
    const hg_id_part part = hg_idname_part((hg_idname)v->u.imm);
    return part == HG_PART_LANE_COUNT || part == HG_PART_BLOCK_DIM || part == HG_PART_GRID_DIM;
}

static bool is_same(const vec_question *q, const vec_value *v) {
    if (v->each || v->type == KIR_VOID) return false;
    switch ((vec_op)v->op) {
    case VEC_CONST:
    case VEC_INPUT: return true;
    case VEC_ID: return is_of_launch(v);
    case VEC_PRIM:
        for (uint8_t i = 0; i < v->nargs; i++)
            if (!q->same[v->args[i]->id]) return false;
        return v->nargs <= 3;
    default: return false;
    }
}

static void find_values(const vec_question *q, const vec_function *f) {
    for (const vec_value *v = vec_walk(NULL, f->body); v; v = vec_walk(v, f->body)) {
        bool integer = !v->each && v->type != KIR_VOID && v->type != KIR_BOOL &&
                       !kir_type_is_float(v->type);
        q->same[v->id] = is_same(q, v);
        q->bounded[v->id] = integer && (q->same[v->id] || v->op == VEC_FIRST ||
                                        (v->op == VEC_PRIM && vec_is_bounded_prim(q, v)));
    }
}

/* ---- what is settled ---- */

typedef struct finder {
    const vec_question *q;
    uint32_t settled;                     /* what is asked: what is asked as one is one */
    const vec_value *asked[MOST_SETTLED]; /* the first of them */
} finder;

static bool is_asked_as_one(const vec_value *v, const vec_value *w) {
    if (v->op != w->op) return false;
    return v->op == VEC_CHECK ? vec_asks_same(v, w) : v->op == VEC_IF && v->args[0] == w->args[0];
}

static bool settle(finder *s, vec_value *v, bool can) {
    v->settled = can;
    for (uint32_t i = 0; can && i < s->settled && i < MOST_SETTLED; i++)
        if (is_asked_as_one(v, s->asked[i])) return true;
    if (can && s->settled < MOST_SETTLED) s->asked[s->settled] = v;
    s->settled += can;
    return can;
}

static bool visit(finder *s, const vec_region *r);

static void unsettle(const vec_region *r) {
    for (vec_value *v = vec_walk(NULL, r); v; v = vec_walk(v, r)) v->settled = false;
}

/* A branch in which lanes may end is not taken, if that can be asked; nor is that of a guess. */
static bool branch(finder *s, vec_value *v) {
    if (!visit(s, v->body[0])) return false;
    const uint32_t settled = s->settled;
    const bool goes_on = visit(s, v->body[1]);
    if (goes_on && (!vec_is_guess(v) || !vec_can_ask_truth(s->q, v->args[0]))) return true;
    unsettle(v->body[1]);
    s->settled = settled;
    return settle(s, v, vec_can_ask_truth(s->q, v->args[0]));
}

static bool visit_value(finder *s, vec_value *v) {
    switch ((vec_op)v->op) {
    case VEC_CHECK: return settle(s, v, vec_can_ask_check(s->q, v));
    case VEC_FAULT_IF: return settle(s, v, s->q->same[v->args[0]->id]);
    case VEC_IF: return branch(s, v);
    case VEC_LOOP: return visit(s, v->body[0]);
    case VEC_CALL: return !v->u.call.to->can_end;
    case VEC_ATOMIC:
    case VEC_LEAVE:
    case VEC_TURNS:
    case VEC_BARRIER: return false;
    default: return true;
    }
}

/* False: lanes may end inside. Nesting is bounded, as that of the kernel IR is. */
static bool visit(finder *s, const vec_region *r) {
    for (vec_value *v = r->first; v; v = v->next)
        if (!visit_value(s, v)) return false;
    return true;
}

/* ---- the whole ---- */

static void write_whole(vec_question *q, vec_function *f) {
    vec_value *whole = hg_arena_alloc(&q->k->arena, sizeof *whole);
    vec_region *region = hg_arena_alloc(&q->k->arena, sizeof *region);
    q->failed = !whole || !region;
    if (q->failed) return;
    *whole = (vec_value){.op = VEC_WHOLE, .type = KIR_VOID, .parent = f->body, .body = {region}};
    region->owner = whole;
    q->into = region;
    vec_question_write(q, f->body, NULL);
    (void)vec_question_put(q, VEC_ANSWER, KIR_VOID, 1, &q->all);
    if (q->failed) return;
    whole->next = f->body->first;
    *(whole->next ? &whole->next->prev : &f->body->last) = whole;
    f->body->first = whole;
}

static void forget(const vec_function *f) {
    vec_value *whole = f->body->first;
    if (whole && whole->op == VEC_WHOLE) {
        f->body->first = whole->next;
        *(whole->next ? &whole->next->prev : &f->body->last) = NULL;
    }
    unsettle(f->body);
}

hg_status vec_pass_whole(vec_kernel *kernel) {
    vec_function *f = kernel->functions;
    vec_question q;
    if (kernel->blocks) return HG_OK;
    forget(f);
    vec_count_uses(f);
    if (!kernel->can_end || f->value_count > MOST_VALUES) return HG_OK;
    if (vec_question_open(&q, kernel)) {
        finder s = {.q = &q};
        find_values(&q, f);
        if (visit(&s, f->body) && s.settled && s.settled <= MOST_SETTLED)
            write_whole(&q, f);
        else
            unsettle(f->body);
    }
    vec_question_close(&q);
    return q.failed ? hg_fail_memory() : HG_OK;
}
