/* Who is one value for all lanes of a turn, who is affine, who has an element for each lane; and where lanes go different ways.
 * Starts from "everything is one value" and takes back what does not hold until nothing changes. Affine values are those that the
 * uniformity of the kernel IR calls so, made of nothing worse. */
#include "vector/form_internal.h"

#include <string.h>

typedef struct shaper {
    former *x;
    kir_function *f;
    bool changed;
} shaper;

static void set_true(shaper *s, bool *flag) {
    if (*flag) return;
    *flag = true;
    s->changed = true;
}

static void visit_owner(shaper *s, kir_value *v) {
    value_fact *p = fact_of(v);
    const value_fact *outside = v->parent->owner ? fact_of(v->parent->owner) : NULL;
    bool apart = p->divergent || (outside && outside->apart),
         in_loop = v->op == KIR_IF && (p->divergent || (outside && outside->apart_in_loop));
    if (apart) set_true(s, &p->apart);
    if (in_loop) set_true(s, &p->apart_in_loop);
    p->loop = v->op == KIR_LOOP ? v : outside ? outside->loop : NULL;
    p->depth = (outside ? outside->depth : 0) + 1;
    if (p->depth > MOST_NESTED) s->x->unsupported = "branches and loops more than 200 deep";
}

/* All that is left of the kernel is one branch of an IF: nobody comes back from the other. */
static bool is_guard(const former *x, const kir_value *v) {
    bool one_branch = !v->body[0]->first != !v->body[1]->first, last = !v->next;
    return one_branch && last && (v->parent == x->m->functions->body || (v->parent->owner && fact_of(v->parent->owner)->guard));
}

static bool is_apart(const kir_region *r) { return r->owner && fact_of(r->owner)->apart; }

static uint8_t worst(const kir_value *v, uint8_t first, uint8_t end) {
    uint8_t shape = SHAPE_ONE;
    for (uint8_t i = first; i < end; i++)
        if (fact_of(v->args[i])->shape > shape) shape = fact_of(v->args[i])->shape;
    return shape;
}

static uint8_t shape_of_value(const kir_value *v) {
    uint8_t shape = worst(v, 0, v->nargs);
    bool stays = shape != SHAPE_AFFINE || (v->uniformity == KIR_AFFINE && v->type != KIR_BOOL && !kir_type_is_float(v->type));
    return stays ? shape : SHAPE_EACH;
}

static uint8_t shape_of(shaper *s, const kir_value *v) {
    kir_access at;
    switch ((kir_op)v->op) {
    case KIR_CONST:
    case KIR_INPUT: return SHAPE_ONE;
    case KIR_ID:
        if (v->uniformity == KIR_AFFINE) return SHAPE_AFFINE;
        return v->uniformity >= (s->x->k->blocks ? KIR_ROW_UNIFORM : KIR_UNIFORM) ? SHAPE_ONE : SHAPE_EACH;
    case KIR_PARAM: return fact_of_function(s->f)->param_each[v->u.imm] ? SHAPE_EACH : SHAPE_ONE;
    case KIR_VAR_GET: return fact_of_var(v->u.var)->shape;
    case KIR_TABLE_GET: return worst(v, 0, 1) == SHAPE_ONE ? SHAPE_ONE : SHAPE_EACH;
    case KIR_LOAD:
        at = kir_access_of(v);
        if (kir_access_is_open(v)) return SHAPE_EACH;
        return worst(v, at.index, at.value) == SHAPE_ONE ? SHAPE_ONE : SHAPE_EACH;
    case KIR_CALL: return v->type == KIR_VOID || fact_of_function(v->u.call.function)->result_each ? SHAPE_EACH : SHAPE_ONE;
    default: return kir_is_value(v) ? shape_of_value(v) : SHAPE_EACH;
    }
}

static void visit_set(shaper *s, const kir_value *v) {
    var_fact *var = fact_of_var(v->u.var);
    if (var->shape == SHAPE_EACH) return;
    const value_fact *value = fact_of(v->args[0]);
    bool fits = value->shape == var->shape && (var->shape == SHAPE_ONE || v->args[0]->stride == var->stride);
    if (fits && !is_apart(v->parent)) return;
    var->shape = SHAPE_EACH;
    s->changed = true;
}

static void visit_jump(shaper *s, const kir_value *v) {
    const value_fact *here = fact_of(v->parent->owner);
    if (!here->loop) return;
    value_fact *loop = fact_of(here->loop);
    if (here->apart_in_loop) set_true(s, &loop->divergent);
    if (loop->divergent && v->op == KIR_CONTINUE) set_true(s, &loop->continues);
}

/* Of RETURN and EXIT: the loops around go on for the lanes that stay. */
static void visit_leave(shaper *s, const kir_value *v) {
    for (const kir_value *o = v->parent->owner; o && !fact_of(o)->leaves; o = o->parent->owner) set_true(s, &fact_of(o)->leaves);
    if (v->op == KIR_EXIT) return;
    function_fact *f = fact_of_function(s->f);
    if (is_apart(v->parent)) set_true(s, &f->divergent_return);
    if (v->nargs && (f->divergent_return || fact_of(v->args[0])->shape != SHAPE_ONE)) set_true(s, &f->result_each);
}

static void visit_call(shaper *s, const kir_value *v) {
    function_fact *f = fact_of_function(v->u.call.function);
    for (uint8_t i = 0; i < v->nargs; i++)
        if (fact_of(v->args[i])->shape != SHAPE_ONE) set_true(s, &f->param_each[i]);
}

static void visit_divergent(shaper *s, const kir_value *v) {
    value_fact *p = fact_of(v);
    if (is_guard(s->x, v)) { /* perhaps only since what is around it is one */
        p->divergent = false;
        set_true(s, &p->guard);
    } else if (!p->split)
        set_true(s, &p->divergent);
    else if (v->args[0]->uniformity < KIR_BLOCK_UNIFORM)
        s->x->unsupported = "a barrier where lanes part";
}

static void visit(shaper *s, kir_value *v) {
    value_fact *p = fact_of(v);
    uint8_t shape = shape_of(s, v);
    if (shape > p->shape) {
        p->shape = shape;
        s->changed = true;
    }
    switch ((kir_op)v->op) {
    case KIR_IF:
        if (fact_of(v->args[0])->shape != SHAPE_ONE) visit_divergent(s, v);
        visit_owner(s, v);
        break;
    case KIR_LOOP: visit_owner(s, v); break;
    case KIR_BREAK:
    case KIR_CONTINUE: visit_jump(s, v); break;
    case KIR_RETURN:
    case KIR_EXIT: visit_leave(s, v); break;
    case KIR_CALL: visit_call(s, v); break;
    case KIR_VAR_SET: visit_set(s, v); break;
    default: break;
    }
}

/* ---- which affine values are needed lane by lane ---- */

static bool wants_each(const kir_value *user, uint8_t i) {
    switch ((kir_op)user->op) {
    case KIR_LOAD:
    case KIR_CHECK:
    case KIR_STORE:
    case KIR_ATOMIC:
        if (i >= kir_access_of(user).value) return true;
        return kir_access_is_open(user);
    case KIR_VAR_SET: return fact_of_var(user->u.var)->shape == SHAPE_EACH;
    default: return !kir_is_value(user) || fact_of(user)->shape == SHAPE_EACH;
    }
}

static void mark_wanted(const kir_function *f) {
    for (const kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body)) {
        if (is_dead(v)) continue;
        for (uint8_t i = 0; i < v->nargs; i++) {
            value_fact *p = fact_of(v->args[i]);
            if (p->shape == SHAPE_AFFINE && wants_each(v, i)) p->wanted_each = true;
        }
    }
}

/* ---- facts ---- */

/* Callers before callees: a depth-first walk that keeps where it is in each function. */
static bool order_functions(former *x) {
    typedef struct frame {
        kir_function *f;
        const kir_value *at;
    } frame;
    HG_VEC(frame) stack = {0};
    frame *top = hg_vec_push(&stack);
    bool ok = top != NULL;
    if (ok) *top = (frame){x->m->functions, NULL};
    if (ok) fact_of_function(x->m->functions)->reached = true;
    while (ok && stack.count) {
        top = &stack.data[stack.count - 1];
        if (top->at || top->f->body->first) top->at = kir_walk(top->at, top->f->body);
        while (top->at && !(top->at->op == KIR_CALL && !fact_of_function(top->at->u.call.function)->reached))
            top->at = kir_walk(top->at, top->f->body);
        if (top->at) {
            kir_function *callee = top->at->u.call.function;
            fact_of_function(callee)->reached = true;
            top = hg_vec_push(&stack);
            ok = top != NULL;
            if (ok) *top = (frame){callee, NULL};
        } else {
            kir_function **slot = hg_vec_push(&x->order);
            ok = slot != NULL;
            if (ok) *slot = top->f;
            stack.count--;
        }
    }
    for (uint64_t i = 0; ok && i < x->order.count / 2; i++) {
        kir_function *f = x->order.data[i];
        x->order.data[i] = x->order.data[x->order.count - 1 - i];
        x->order.data[x->order.count - 1 - i] = f;
    }
    hg_vec_free(&stack);
    return ok;
}

static bool make_facts(former *x) {
    for (kir_var *v = x->m->vars; v; v = v->next)
        if (!(v->scratch = hg_arena_alloc(&x->arena, sizeof(var_fact)))) return false;
    for (kir_function *f = x->m->functions; f; f = f->next)
        if (!(f->scratch = hg_arena_alloc(&x->arena, sizeof(function_fact)))) return false;
    if (!order_functions(x)) return false;
    for (uint64_t i = 0; i < x->order.count; i++) {
        kir_function *f = x->order.data[i];
        uint32_t count = kir_number(f);
        value_fact *facts = hg_arena_alloc(&x->arena, ((size_t)count + 1) * sizeof *facts);
        if (!facts) return false;
        for (kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body)) {
            v->scratch = &facts[v->id];
            if (v->op != KIR_VAR_GET || v->uniformity != KIR_AFFINE) continue;
            fact_of_var(v->u.var)->shape = SHAPE_AFFINE;
            fact_of_var(v->u.var)->stride = v->stride;
        }
    }
    return true;
}

/* Functions that change what is not their own; those in which lanes may end. Callees come after their callers. */
static void find_masked(former *x) {
    for (uint64_t i = x->order.count; i-- > 0;) {
        kir_function *f = x->order.data[i];
        function_fact *p = fact_of_function(f);
        p->masked = f != x->m->functions && (!f->pure || f->array_count);
        for (const kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body)) {
            if (v->op == KIR_EXIT || v->op == KIR_FAULT_IF || v->op == KIR_ATOMIC || (kir_is_access(v) && !v->u.mem.unchecked))
                p->can_end = true;
            if (v->op != KIR_CALL) continue;
            const function_fact *to = fact_of_function(v->u.call.function);
            p->can_end = p->can_end || to->can_end;
            p->masked = p->masked || (to->masked && f != x->m->functions);
        }
        if (p->masked && !f->pure) x->has_masked = true;
    }
    if (!x->has_masked) return;
    for (kir_var *v = x->m->vars; v; v = v->next)
        if (!v->function) fact_of_var(v)->shape = SHAPE_EACH;
}

bool vec_find_shapes(former *x) {
    kir_count_uses(x->m);
    if (!make_facts(x)) return false;
    find_masked(x);
    if (x->k->blocks) vec_find_split(x);
    shaper s = {.x = x, .changed = true};
    while (s.changed && !x->unsupported) {
        s.changed = false;
        for (uint64_t i = 0; i < x->order.count; i++) {
            s.f = x->order.data[i];
            for (kir_value *v = kir_walk(NULL, s.f->body); v; v = kir_walk(v, s.f->body)) visit(&s, v);
        }
    }
    if (x->k->blocks) vec_find_low(x);
    for (uint64_t i = 0; i < x->order.count; i++) mark_wanted(x->order.data[i]);
    return true;
}
