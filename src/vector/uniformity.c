/* Who is one value for all lanes of a turn, who is affine, who has an element for each lane; and
 * where lanes go different ways: the rules of the vector form for kir/analysis/lanes.h. Affine
 * values are those that the uniformity of the kernel IR calls so, made of nothing worse. */
#include "kir/analysis/analysis.h"
#include "vector/form_internal.h"

#include <string.h>

static void visit_owner(former *x, const kir_value *v) {
    const uniformity_fact *outside = v->parent->owner ? uniformity_of(v->parent->owner) : NULL;
    uniformity_of(v)->depth = (outside ? outside->depth : 0) + 1;
    if (uniformity_of(v)->depth > MOST_NESTED)
        x->unsupported = "branches and loops more than 200 deep";
}

/* All that is left of the kernel is one branch of an IF: nobody comes back from the other. Of turns
 * that end nowhere else, only a comparison that is asked for all lanes at once (form.c) is worth an
 * end: what several conditions say of a lane differs from turn to turn, and turns in which lanes
 * end are no whole ones (whole.c). */
static bool is_guard(const former *x, const kir_value *v) {
    bool one_branch = !v->body[0]->first != !v->body[1]->first, last = !v->next;
    if (!x->k->blocks && v->args[0]->op == KIR_AND) return false;
    return one_branch && last &&
           (v->parent == x->m->functions->body ||
            (v->parent->owner && uniformity_of(v->parent->owner)->guard));
}

static uint8_t form_of(kir_lane_analysis *s, const kir_value *v) {
    const former *x = s->user;
    kir_access at;
    if (x->k->lanes == 1) return KIR_LANES_ONE;
    switch ((kir_op)v->op) {
    case KIR_CONST:
    case KIR_INPUT: return KIR_LANES_ONE;
    case KIR_ID:
        if (v->uniformity == KIR_AFFINE) return KIR_LANES_AFFINE;
        return v->uniformity >= (x->k->blocks ? KIR_ROW_UNIFORM : KIR_UNIFORM) ? KIR_LANES_ONE
                                                                               : KIR_LANES_EACH;
    case KIR_PARAM:
        return kir_lanes_of_function(s->f)->param_each[v->u.imm] ? KIR_LANES_EACH : KIR_LANES_ONE;
    case KIR_VAR_GET: return fact_of_var(v->u.var)->form;
    case KIR_TABLE_GET:
        return kir_worst_form(v, 0, 1) == KIR_LANES_ONE ? KIR_LANES_ONE : KIR_LANES_EACH;
    case KIR_LOAD:
        at = kir_access_of(v);
        if (kir_access_is_open(v)) return KIR_LANES_EACH;
        return kir_worst_form(v, at.index, at.value) == KIR_LANES_ONE ? KIR_LANES_ONE
                                                                      : KIR_LANES_EACH;
    case KIR_CALL:
        return v->type == KIR_VOID || kir_lanes_of_function(v->u.call.function)->result_each
                   ? KIR_LANES_EACH
                   : KIR_LANES_ONE;
    case KIR_BLOCK: return kir_block_is_one((hg_op)v->u.block.op) ? KIR_LANES_ONE : KIR_LANES_EACH;
    default: return kir_is_value(v) ? kir_pure_form(v) : KIR_LANES_EACH;
    }
}

static void visit_set(kir_lane_analysis *s, const kir_value *v) {
    var_fact *var = fact_of_var(v->u.var);
    if (var->form == KIR_LANES_EACH) return;
    bool fits = kir_lanes_of(v->args[0])->form == var->form &&
                (var->form == KIR_LANES_ONE || v->args[0]->stride == var->stride);
    if (fits && !kir_is_apart(v->parent)) return;
    var->form = KIR_LANES_EACH;
    s->changed = true;
}

static void visit_continue(kir_lane_analysis *s, const kir_value *v) {
    const kir_value *loop = kir_lanes_of(v->parent->owner)->loop;
    if (loop && kir_lanes_of(loop)->divergent) kir_lane_set(s, &uniformity_of(loop)->continues);
}

/* Of RETURN and EXIT: the loops around go on for the lanes that stay. */
static void visit_leave(kir_lane_analysis *s, const kir_value *v) {
    for (const kir_value *o = v->parent->owner; o && !uniformity_of(o)->leaves;
         o = o->parent->owner)
        kir_lane_set(s, &uniformity_of(o)->leaves);
}

static void part(kir_lane_analysis *s, kir_value *v) {
    former *x = s->user;
    if (is_guard(x, v)) { /* perhaps only since what is around it is one */
        kir_lanes_of(v)->divergent = false;
        kir_lane_set(s, &uniformity_of(v)->guard);
    } else if (!split_of(v)->split)
        kir_lane_set(s, &kir_lanes_of(v)->divergent);
    else if (v->args[0]->uniformity < KIR_BLOCK_UNIFORM)
        x->unsupported = "a barrier where lanes part";
}

static void visit(kir_lane_analysis *s, kir_value *v) {
    switch ((kir_op)v->op) {
    case KIR_IF:
    case KIR_LOOP: visit_owner(s->user, v); break;
    case KIR_CONTINUE: visit_continue(s, v); break;
    case KIR_RETURN:
    case KIR_EXIT: visit_leave(s, v); break;
    case KIR_VAR_SET: visit_set(s, v); break;
    default: break;
    }
}

static bool begin_round(kir_lane_analysis *s, uint32_t round) {
    (void)round;
    return !((const former *)s->user)->unsupported;
}

static const kir_lane_rules RULES = {form_of, part, visit, begin_round};

/* ---- which affine values are needed lane by lane ---- */

static bool wants_each(const kir_value *user, uint8_t i) {
    switch ((kir_op)user->op) {
    case KIR_LOAD:
    case KIR_CHECK:
    case KIR_STORE:
    case KIR_ATOMIC:
        if (i >= kir_access_of(user).value) return true;
        return kir_access_is_open(user);
    case KIR_VAR_SET: return fact_of_var(user->u.var)->form == KIR_LANES_EACH;
    default: return !kir_is_value(user) || kir_lanes_of(user)->form == KIR_LANES_EACH;
    }
}

static void mark_wanted(const kir_function *f) {
    for (const kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body)) {
        if (is_dead(v)) continue;
        for (uint8_t i = 0; i < v->nargs; i++) {
            if (kir_lanes_of(v->args[i])->form == KIR_LANES_AFFINE && wants_each(v, i))
                uniformity_of(v->args[i])->wanted_each = true;
        }
    }
}

/* Functions that change what is not their own; those in which lanes may end. Callees come after
 * their callers. */
bool vec_find_masked(former *x) {
    for (uint64_t i = x->order.count; i-- > 0;) {
        kir_function *f = x->order.data[i];
        function_fact *p = fact_of_function(f);
        p->masked = f != x->m->functions && (!f->pure || f->array_count);
        for (const kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body)) {
            if (v->op == KIR_EXIT || v->op == KIR_FAULT_IF || v->op == KIR_ATOMIC ||
                (kir_is_access(v) && !v->u.mem.unchecked))
                p->can_end = true;
            if (v->op != KIR_CALL) continue;
            const function_fact *to = fact_of_function(v->u.call.function);
            p->can_end = p->can_end || to->can_end;
            p->masked = p->masked || (to->masked && f != x->m->functions);
        }
        if (p->masked && !f->pure) x->has_masked = true;
    }
    for (kir_var *v = x->m->vars; v && x->has_masked; v = v->next)
        if (!v->function) fact_of_var(v)->form = KIR_LANES_EACH;
    return true;
}

static void start_vars(const kir_function *f) {
    for (const kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body)) {
        if (v->op != KIR_VAR_GET || v->uniformity != KIR_AFFINE ||
            fact_of_var(v->u.var)->form == KIR_LANES_EACH)
            continue;
        fact_of_var(v->u.var)->form = KIR_LANES_AFFINE;
        fact_of_var(v->u.var)->stride = v->stride;
    }
}

bool vec_find_uniformity(former *x) {
    for (uint64_t i = 0; i < x->order.count && x->k->lanes > 1; i++) start_vars(x->order.data[i]);
    kir_lane_analysis analysis = {.rules = &RULES, .user = x, .m = x->m, .order = &x->order};
    kir_lane_analyse(&analysis);
    for (uint64_t i = 0; i < x->order.count; i++) mark_wanted(x->order.data[i]);
    return true;
}
