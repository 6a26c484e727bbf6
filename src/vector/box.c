/* TURNS of whole blocks in which all goes well: what is settled there is asked once (question.h),
 * in front of TURNS, which get the answer as an argument: where it is true they run without what it
 * settles.
 *
 * Requires: vec_verify. Must not know: targets. */
#include "vector/passes.h"
#include "vector/question.h"
#include "kir/analysis/range.h"

enum { MOST_VALUES = 2048, MOST_DEPTH = 8 };

/* ---- values ---- */

static bool is_integer(const vec_value *v) {
    return !v->each && v->type != KIR_VOID && v->type != KIR_BOOL && !kir_type_is_float(v->type);
}

static bool find_bounded(const vec_question *q, const vec_value *v) {
    if (!is_integer(v)) return false;
    if (q->same[v->id]) return true;
    switch ((vec_op)v->op) {
    case VEC_FIRST: return true;
    case VEC_ID: return hg_idname_part((hg_idname)v->u.imm) == HG_PART_LANE_IDX;
    case VEC_PRIM: return vec_is_bounded_prim(q, v);
    default: return false;
    }
}

/* What is calculated in front of TURNS is known there. */
static void find_values(const vec_question *q, const vec_function *f) {
    for (vec_value *v = vec_walk(NULL, f->body); v; v = vec_walk(v, f->body)) {
        q->same[v->id] = !v->each && v->type != KIR_VOID && !vec_turns_around(v);
        q->known[v->id] = v;
        q->bounded[v->id] = find_bounded(q, v);
    }
}

/* ---- what is settled ---- */

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

/* Whether all lanes of the block are before such an end. */
static bool is_before_end(const vec_question *q, const vec_value *v) {
    bool input = false;
    if (v->prim != KIR_CMP_ULT || v->args[1]->each ||
        !is_of_launch(v->args[1], MOST_DEPTH, &input) || !input)
        return false;
    const vec_value *ramp = v->args[0]->each ? vec_ramp_of(v->args[0]) : NULL,
                    *of = ramp ? ramp->args[0] : v->args[0];
    if (ramp && ramp->u.imm * (q->k->lanes - 1) > kir_range_full(ramp->type).high)
        return false; /* it wraps within a turn */
    return !of->each && vec_has_bounds(q, of) && vec_has_bounds(q, v->args[1]);
}

/* Whether the mask begins with all lanes where the comparisons that are settled are true. */
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

static void visit(const vec_question *q, const vec_region *r);

/* What stands behind a mask that has only some lanes is asked where they are known. */
static void branch(const vec_question *q, vec_value *v) {
    bool odd = v->body[1]->first && ends_lanes(v->body[1]);
    if (odd || vec_is_guess(v)) v->settled = vec_can_ask_truth(q, v->args[0]);
    if (odd && !v->settled) return;
    if (v->args[0]->op == VEC_ANY && !is_whole(v->args[0]->args[0], MOST_DEPTH)) return;
    visit(q, v->body[0]);
    if (!v->settled) visit(q, v->body[1]);
}

/* Nesting is bounded, as that of the kernel IR is. */
static void visit(const vec_question *q, const vec_region *r) {
    for (vec_value *v = r->first; v; v = v->next) {
        if (v->op == VEC_CHECK)
            v->settled = vec_can_ask_check(q, v);
        else if (v->op == VEC_PRIM && v->uses)
            v->settled = is_before_end(q, v);
        else if (v->op == VEC_IF)
            branch(q, v);
        else if (v->op == VEC_LOOP)
            visit(q, v->body[0]);
    }
}

static void ask_turns(vec_question *q, vec_value *turns) {
    q->into = turns->parent;
    q->before = turns;
    q->inst = turns->inst;
    visit(q, turns->body[0]);
    q->bad = NULL;
    q->all = vec_question_put(q, VEC_INTACT, KIR_BOOL, 0, NULL);
    vec_question_write(q, turns->body[0], turns);
    vec_value **args = hg_arena_alloc(&q->k->arena, sizeof *args);
    q->failed = q->failed || !args;
    if (q->failed) return;
    args[0] = q->all;
    turns->args = args;
    turns->nargs = 1;
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

hg_status vec_pass_boxes(vec_kernel *kernel) {
    vec_function *f = kernel->functions;
    vec_question q;
    if (!kernel->blocks) return HG_OK;
    forget(f);
    vec_count_uses(f);
    if (f->value_count > MOST_VALUES) return HG_OK;
    if (vec_question_open(&q, kernel)) {
        q.tested = true;
        find_values(&q, f);
        for (vec_value *v = vec_walk(NULL, f->body), *next; v && !q.failed; v = next) {
            next = vec_walk(v, f->body);
            if (v->op == VEC_TURNS) ask_turns(&q, v);
        }
    }
    vec_question_close(&q);
    return q.failed ? hg_fail_memory() : HG_OK;
}
