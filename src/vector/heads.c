/* TURNS that end a kernel of blocks and in which all lanes end but some of the first of their row,
 * as where `lane == 0` stores what a block found: of each row the first turn is enough, since in
 * the others nobody does anything, nor comes behind.
 *
 * Requires: vec_verify. Must not know: targets. */
#include "vector/passes.h"
#include "vector/question.h"

enum { MOST_DEPTH = 8 };

static bool is_lane_x(const vec_value *v) {
    const vec_value *ramp = v->each ? vec_ramp_of(v) : NULL;
    return ramp && ramp->u.imm == 1 && ramp->args[0]->op == VEC_ID &&
           ramp->args[0]->u.imm == HG_ID_LANE_IDX_X;
}

/* Whether a condition is false in all lanes that are not in the first turn of a row. */
static bool is_of_first(const vec_kernel *k, const vec_value *v) {
    if (v->op != VEC_PRIM || v->nargs != 2) return false;
    const vec_value *a = v->args[0], *b = v->args[1];
    if (v->prim == KIR_CMP_EQ && a->op == VEC_CONST) a = v->args[1], b = v->args[0];
    if (!is_lane_x(a) || b->op != VEC_CONST) return false;
    return (v->prim == KIR_CMP_EQ && b->u.imm < k->lanes) ||
           (v->prim == KIR_CMP_ULT && b->u.imm <= k->lanes);
}

static bool is_true(const vec_value *v) { return v->op == VEC_CONST && (v->u.imm & 1); }

/* Whether all lanes that run and are not in the first turn of a row have the truth value. */
static bool has_others(const vec_kernel *k, const vec_value *v, int depth) {
    if (v->op == VEC_RUNNING) return true;
    if (depth == 0) return false;
    if (v->op == VEC_PRIM && v->prim == KIR_AND)
        return has_others(k, v->args[0], depth - 1) && has_others(k, v->args[1], depth - 1);
    if (v->op == VEC_PRIM && v->prim == KIR_XOR)
        return is_true(v->args[1]) && is_of_first(k, v->args[0]);
    if (v->op != VEC_GET) return false;
    const vec_value *set = v->before;
    while (set && set->op != VEC_TURNS && (set->op != VEC_SET || set->u.var != v->u.var))
        set = set->before;
    return set && set->op == VEC_SET && !set->mask && has_others(k, set->args[0], depth - 1);
}

static bool is_mask_set(const vec_value *v) {
    return v->op == VEC_SET && v->u.var->mask && !v->u.var->kept && !v->u.var->shared;
}

static bool ends_others(const vec_kernel *k, const vec_value *v) {
    return v->op == VEC_LEAVE && v->leave.ends && v->mask && has_others(k, v->mask, MOST_DEPTH);
}

/* What comes first that does more than calculate ends them, where there are any. */
static bool is_of_heads(const vec_kernel *k, const vec_value *turns) {
    const vec_value *v = turns->body[0]->first;
    while (v && (!vec_op_has((vec_op)v->op, VEC_F_EFFECT) || is_mask_set(v))) v = v->next;
    if (!v || v->op != VEC_IF) return v && ends_others(k, v);
    const vec_value *asked = v->args[0], *inner = v->body[0]->first;
    while (inner && inner->op == VEC_GET) inner = inner->next;
    return asked->op == VEC_ANY && inner && ends_others(k, inner) &&
           vec_is_same_mask(asked->args[0], inner->mask);
}

hg_status vec_pass_heads(vec_kernel *kernel) {
    vec_function *f = kernel->functions;
    if (!kernel->blocks) return HG_OK;
    vec_count_uses(f);
    for (vec_value *v = f->body->first; v; v = v->next)
        if (v->op == VEC_TURNS) v->u.heads = !v->next && is_of_heads(kernel, v);
    return HG_OK;
}
