/* Kernels of blocks: what is the block's, and what is a turn's.
 *
 * Branches and loops that hold a barrier, and jumps out of such loops (returns too, where all lanes
 * come to them together), are *split*: the block takes them as one. A value is the block's if it is
 * the same in all its lanes and made of nothing but such values; all others are *low*.
 * Requires: uniformity, for what is low. */
#include "kir/analysis/analysis.h"
#include "vector/form_internal.h"

static void split_owners(const kir_value *v, const kir_value *until) {
    for (const kir_value *o = v->parent->owner; o && o != until; o = o->parent->owner)
        split_of(o)->split = true;
}

/* What is around a return that all lanes of the block come to together, in a loop that the block
 * takes as one: there it ends the loop. NULL: it is no such return. */
static const kir_value *split_around_return(const kir_value *v) {
    const kir_value *o = v->parent->owner, *loop = kir_loop_around(v);
    if (!loop || !split_of(loop)->split) return NULL;
    while (!split_of(o)->split) {
        if (o->args[0]->uniformity < KIR_BLOCK_UNIFORM) return NULL;
        o = o->parent->owner;
    }
    return o;
}

bool vec_find_split(former *x) {
    const kir_region *body = x->m->functions->body;
    if (!x->k->blocks) return true;
    for (const kir_value *v = kir_walk(NULL, body); v; v = kir_walk(v, body))
        if (v->op == KIR_BARRIER) split_owners(v, NULL);
    for (const kir_value *v = kir_walk(NULL, body); v; v = kir_walk(v, body)) {
        if (v->op == KIR_BREAK || v->op == KIR_CONTINUE) {
            const kir_value *loop = kir_loop_around(v);
            if (split_of(loop)->split) split_owners(v, loop);
        } else if (v->op == KIR_RETURN || v->op == KIR_EXIT) {
            const kir_value *until = split_around_return(v);
            if (until) split_owners(v, until);
        }
    }
    return true;
}

static bool at_level(const kir_region *r) { return !r->owner || split_of(r->owner)->split; }

static bool is_low(const kir_value *v) {
    bool low = false;
    for (uint8_t i = 0; i < v->nargs; i++) low = low || split_of(v->args[i])->low;
    switch ((kir_op)v->op) {
    case KIR_CONST:
    case KIR_INPUT: return false;
    case KIR_ID: return v->uniformity < KIR_BLOCK_UNIFORM;
    case KIR_VAR_GET: return fact_of_var(v->u.var)->block.low;
    case KIR_CALL: {
        const function_fact *f = fact_of_function(v->u.call.function);
        return low || f->masked || f->lanes.result_each || v->u.call.function->array_count ||
               v->type == KIR_VOID || !at_level(v->parent);
    }
    case KIR_TABLE_GET: return low;
    case KIR_BLOCK: return !kir_block_is_one((hg_op)v->u.block.op);
    default: return low || !kir_is_value(v);
    }
}

bool vec_find_low(former *x) {
    const kir_region *body = x->m->functions->body;
    bool changed = x->k->blocks;
    if (!changed) return true;
    for (kir_var *v = x->m->vars; v; v = v->next)
        fact_of_var(v)->block.low = fact_of_var(v)->form != KIR_LANES_ONE || v->length ||
                                    (v->function && v->function != x->m->functions);
    while (changed) {
        changed = false;
        for (kir_value *v = kir_walk(NULL, body); v; v = kir_walk(v, body)) {
            bool low = is_low(v);
            if (low && !split_of(v)->low) split_of(v)->low = changed = true;
            if (v->op != KIR_VAR_SET) continue;
            var_fact *var = fact_of_var(v->u.var);
            if (!var->block.low && (split_of(v->args[0])->low || !at_level(v->parent)))
                var->block.low = changed = true;
        }
    }
    return true;
}

bool vec_is_high(const former *x, const kir_value *v) {
    if (!x->block) return false;
    return v->op == KIR_VAR_SET ? !fact_of_var(v->u.var)->block.low
                                : v->type != KIR_VOID && !split_of(v)->low;
}
