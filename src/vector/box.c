/* TURNS of whole blocks in which all goes well. What an index can be in a block follows from what it is made of: sums and products of where a lane is in
 * the block grow with each of those numbers, so that the largest index is that of the last lane, if nothing wraps there. A printer asks that once
 * for TURNS, and prints them a second time without what it settles.
 *
 * Requires: vec_verify, numbered operations. Must not know: targets. */
#include "vector/passes.h"
#include "kir/analysis/range.h"

enum { MOST_VALUES = 2048, MOST_STRIDE = 1 << 20, MOST_DEPTH = 8 };

typedef struct finder {
    const vec_kernel *k;
    bool *bounded; /* by id: the least and the largest value in a block can be said, if nothing wraps */
} finder;

/* ---- bounds ---- */

static bool is_number(const vec_value *v) { return v->op == VEC_CONST; }

static bool has_bounds(const finder *s, const vec_value *v) { return is_number(v) || s->bounded[v->id]; }

static bool prim_has_bounds(const finder *s, const vec_value *v) {
    const vec_value *const *a = (const vec_value *const *)v->args;
    switch ((kir_op)v->prim) {
    case KIR_ADD:
    case KIR_SUB:
    case KIR_MUL: return has_bounds(s, a[0]) && has_bounds(s, a[1]);
    case KIR_SHL:
    case KIR_LSHR: return has_bounds(s, a[0]) && is_number(a[1]) && a[1]->u.imm < kir_type_bits(v->type);
    case KIR_AND: return has_bounds(s, a[0]) && is_number(a[1]) && (a[1]->u.imm & (a[1]->u.imm + 1)) == 0;
    case KIR_ZEXT:
    case KIR_TRUNC: return has_bounds(s, a[0]);
    default: return false;
    }
}

static bool find_bounded(const finder *s, const vec_value *v) {
    if (v->each || v->type == KIR_VOID || v->type == KIR_BOOL || kir_type_is_float(v->type)) return false;
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
    if (v->u.mem.open || v->u.mem.reach == VEC_REACH_EACH || !vec_reach_of(s->k, v, &low, &high) || high <= 0) return false;
    if (v->u.mem.has_index && !has_bounds(s, v->args[0])) return false;
    if (v->u.mem.has_index) v->args[0]->tested = true;
    return true;
}

/* Whether the first is below the second for all lanes of the block, as far as that can be asked: bounds say it. */
static bool below(const finder *s, const vec_value *v, bool mark, int depth) {
    if (v->op != VEC_PRIM || v->each || depth == 0) return false;
    if (v->prim == KIR_AND) return below(s, v->args[0], mark, depth - 1) && below(s, v->args[1], mark, depth - 1);
    if (v->prim != KIR_CMP_ULT || !has_bounds(s, v->args[0]) || !has_bounds(s, v->args[1])) return false;
    for (int i = 0; mark && i < 2; i++) v->args[i]->tested = true;
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

vec_value *vec_ramp_of(const vec_value *v) {
    if (v->op == VEC_PRIM && v->prim == KIR_ZEXT && v->each) v = v->args[0];
    return v->op == VEC_RAMP && v->u.imm <= MOST_STRIDE ? (vec_value *)(uintptr_t)v : NULL;
}

/* Whether all lanes of the block are before such an end. */
static bool is_before_end(const finder *s, vec_value *v) {
    bool input = false;
    if (v->prim != KIR_CMP_ULT || v->args[1]->each || !is_of_launch(v->args[1], MOST_DEPTH, &input) || !input) return false;
    vec_value *ramp = v->args[0]->each ? vec_ramp_of(v->args[0]) : NULL, *of = ramp ? ramp->args[0] : v->args[0];
    if (ramp && ramp->u.imm * (s->k->lanes - 1) > kir_range_full(ramp->type).high) return false; /* it wraps within a turn */
    if (of->each || !has_bounds(s, of) || !has_bounds(s, v->args[1])) return false;
    of->tested = v->args[1]->tested = true;
    return true;
}

/* Whether the mask has all lanes where the comparisons that are settled are true. */
static bool is_whole(const vec_value *v, int depth) {
    if (v->op == VEC_RUNNING || (v->op == VEC_PRIM && v->settled)) return true;
    if (depth == 0) return false;
    if (v->op == VEC_PRIM && v->prim == KIR_AND) return is_whole(v->args[0], depth - 1) && is_whole(v->args[1], depth - 1);
    if (v->op != VEC_GET) return false;
    const vec_value *set = v->before;
    while (set && set->op != VEC_TURNS && (set->op != VEC_SET || set->u.var != v->u.var)) set = set->before;
    return set && set->op == VEC_SET && !set->mask && is_whole(set->args[0], depth - 1);
}

static void visit(const finder *s, const vec_region *r);

/* What stands behind a mask that has only some lanes is asked where they are known. */
static void branch(const finder *s, vec_value *v) {
    bool odd = v->body[1]->first && ends_lanes(v->body[1]);
    if (odd && below(s, v->args[0], false, MOST_DEPTH)) v->settled = below(s, v->args[0], true, MOST_DEPTH);
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

static void mark_operands(const vec_value *turns) {
    vec_value *last = NULL;
    for (vec_value *v = vec_walk(NULL, turns->body[0]); v; v = vec_walk(v, turns->body[0])) last = v;
    for (; last && last != turns; last = last->before)
        for (uint8_t i = 0; last->tested && i < last->nargs; i++) last->args[i]->tested = true;
}

hg_status vec_pass_boxes(vec_kernel *kernel) {
    vec_function *f = kernel->functions;
    if (!kernel->blocks || f->value_count > MOST_VALUES) return HG_OK;
    finder s = {kernel, hg_calloc((size_t)f->value_count + 1, sizeof *s.bounded)};
    if (!s.bounded) return hg_fail_memory();
    for (vec_value *v = vec_walk(NULL, f->body); v; v = vec_walk(v, f->body)) {
        v->settled = v->tested = false;
        s.bounded[v->id] = find_bounded(&s, v);
    }
    for (vec_value *v = vec_walk(NULL, f->body); v; v = vec_walk(v, f->body)) {
        if (v->op != VEC_TURNS) continue;
        v->settled = true;
        visit(&s, v->body[0]);
        mark_operands(v);
    }
    hg_free(s.bounded);
    return HG_OK;
}
