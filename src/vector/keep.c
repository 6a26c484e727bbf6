/* Kernels of blocks: values and variables that more than one TURNS reads. A value is made again in
 * the other if that is cheap, else kept.
 * Must not know: what an operation of the kernel IR does. */
#include "vector/form_internal.h"

enum {
    MOST_REMADE_ONE = 12,
    MOST_REMADE_EACH = 6
}; /* operations that cost less than keeping what they make */

/* ---- values of another TURNS ---- */

static uint8_t remake_cost(const kir_value *v) {
    uint32_t cost = 1,
             most = kir_lanes_of(v)->form == KIR_LANES_EACH ? MOST_REMADE_EACH : MOST_REMADE_ONE;
    if (v->op == KIR_ID) return 1;
    if (!kir_is_value(v) || !(kir_op_has((kir_op)v->op, KIR_F_CHEAP) || v->op == KIR_ZEXT ||
                              v->op == KIR_TRUNC || v->op == KIR_SHL))
        return 0;
    for (uint8_t i = 0; i < v->nargs; i++) {
        if (split_of(v->args[i])->low && !kept_of(v->args[i])->remake) return 0;
        cost += split_of(v->args[i])->low ? kept_of(v->args[i])->remake : 0u;
    }
    return cost <= most ? (uint8_t)cost : 0;
}

void vec_is(former *x, kir_value *v, vec_value *made) {
    if (kir_lanes_of(v)->form == KIR_LANES_EACH)
        written_of(v)->each = made;
    else
        written_of(v)->one = made;
    if (kir_lanes_of(v)->form == KIR_LANES_AFFINE)
        written_of(v)->each = uniformity_of(v)->wanted_each ? vec_ramp(x, made, v->stride) : NULL;
    vec_made(x, v);
}

void vec_made(former *x, const kir_value *v) {
    if (!x->block || !split_of(v)->low) return;
    kept_of(v)->turns = x->turns;
    if (kept_of(v)->made) return;
    kept_of(v)->made = true;
    kept_of(v)->remake = remake_cost(v);
    kept_of(v)->origin[0] = kir_lanes_of(v)->form == KIR_LANES_EACH ? written_of(v)->each
                                                                    : written_of(v)->one;
    kept_of(v)->origin[1] = guess_of(v)->first;
    kept_of(v)->origin[2] = guess_of(v)->ok;
    kept_of(v)->origin[3] = guess_of(v)->swap;
    if (v->op == KIR_VAR_GET) kept_of(v)->sets = fact_of_var(v->u.var)->block.sets;
}

/* At the start of the TURNS that is open, behind what came there before. */
static vec_place to_head(former *x) {
    vec_place place = {x->into, x->before};
    x->into = vec_turns(x);
    x->before = x->head ? x->head->next : x->into->first;
    return place;
}

static void back_from_head(former *x, vec_place place) {
    x->head = x->before ? x->before->prev : x->into->last;
    vec_back_to(x, place);
}

static vec_value *kept(former *x, vec_value *origin, vec_var **var) {
    if (!origin) return NULL;
    if (!*var) {
        vec_place place = {x->into, x->before};
        *var = vec_new_var(x, origin->type, origin->each, NULL, false);
        (*var)->kept = true;
        x->into = origin->parent;
        x->before = origin->next;
        vec_set(x, *var, origin, NULL);
        vec_back_to(x, place);
    }
    return vec_get(x, *var);
}

static void get_kept(former *x, kir_value *v) {
    vec_value *now[4];
    for (int i = 0; i < 4; i++) now[i] = kept(x, kept_of(v)->origin[i], &kept_of(v)->kept[i]);
    guess_of(v)->first = now[1];
    guess_of(v)->ok = now[2];
    guess_of(v)->swap = now[3];
    if (now[0])
        vec_is(x, v, now[0]);
    else
        vec_made(x, v);
}

/* Whether the variable still holds what was read: it has not been set since, nor is it before these
 * TURNS run again. */
static bool still_holds(const former *x, const kir_value *v) {
    if (v->op != KIR_VAR_GET || kept_of(v)->origin[1] || kept_of(v)->origin[2] ||
        kept_of(v)->origin[3] || !kept_of(v)->origin[0])
        return false;
    const var_fact *var = fact_of_var(v->u.var);
    if (!var->var || var->var->shared || var->block.sets != kept_of(v)->sets) return false;
    for (const kir_region *r = x->region; r != v->parent; r = r->owner->parent)
        if (!r->owner || (r->owner->op == KIR_LOOP && split_of(r->owner)->split)) return false;
    return true;
}

/* Not deeper than MOST_REMADE_ONE. */
void vec_bring(former *x, kir_value *v) {
    if (!x->block || !kept_of(v)->made || x->failed) return;
    (void)vec_turns(x);
    if (kept_of(v)->turns == x->turns) return;
    uint32_t inst = x->inst;
    if (kept_of(v)->remake)
        for (uint8_t i = 0; i < v->nargs; i++) vec_bring(x, v->args[i]);
    vec_place place = to_head(x);
    x->inst = v->inst;
    if (kept_of(v)->remake) {
        x->remake(x, v);
    } else if (still_holds(x, v)) {
        vec_use_var(x, v->u.var);
        vec_is(x, v, vec_get(x, fact_of_var(v->u.var)->var));
    } else {
        get_kept(x, v);
    }
    back_from_head(x, place);
    x->inst = inst;
}

/* ---- variables ---- */

static const kir_value *split_loop(const former *x) {
    const kir_value *loop = x->region->owner ? kir_lanes_of(x->region->owner)->loop : NULL;
    while (loop && !split_of(loop)->split) loop = kir_loop_around(loop);
    return loop;
}

void vec_use_var(former *x, const kir_var *v) {
    var_fact *p = fact_of_var(v);
    vec_var *const vars[] = {p->var, p->guess.first, p->guess.ok};
    if (!x->block || !p->block.low || (p->var && p->var->shared)) return;
    (void)vec_turns(x);
    if (!p->block.turns) {
        const kir_value *loop = split_loop(x);
        p->block.turns = x->turns;
        p->block.kept = loop && (v->length || vec_is_live_in_round(loop, v));
    } else if (p->block.turns != x->turns) {
        p->block.kept = true;
    }
    for (size_t i = 0; i < HG_COUNT_OF(vars); i++) {
        if (!vars[i]) continue;
        vars[i]->turns = p->block.turns;
        vars[i]->kept = p->block.kept;
    }
}

vec_value *vec_one(former *x, kir_value *v) {
    vec_bring(x, v);
    vec_value *one = written_of(v)->one;
    if (!one) x->unsupported = "a value that is not the same in all lanes where one is needed";
    return one ? one : vec_nowhere();
}
