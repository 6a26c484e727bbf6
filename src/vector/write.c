/* Operations of the vector form, written one after another: values, variables, masks.
 * Must not know: which operation of the kernel IR is at work. */
#include "vector/form_internal.h"

#include <string.h>

static vec_value nowhere; /* what failed calls return; never written by others than them */

vec_value *vec_add(former *x, vec_op op, uint8_t type, bool each, uint8_t nargs,
                   vec_value *const *args) {
    vec_value *v = hg_arena_alloc(&x->k->arena, sizeof *v);
    vec_value **list = nargs ? hg_arena_alloc(&x->k->arena, nargs * sizeof *list) : NULL;
    if (!v || (nargs && !list)) {
        x->failed = true;
        return &nowhere;
    }
    for (uint8_t i = 0; i < nargs; i++) list[i] = args[i];
    v->op = (uint8_t)op;
    v->type = type;
    v->each = each;
    v->nargs = nargs;
    v->args = list;
    v->inst = x->inst;
    if (!x->into) {
        x->into = vec_turns(x);
        x->before = NULL;
    }
    v->parent = x->into;
    v->next = x->before;
    v->prev = x->before ? x->before->prev : x->into->last;
    *(v->prev ? &v->prev->next : &x->into->first) = v;
    *(v->next ? &v->next->prev : &x->into->last) = v;
    return v;
}

vec_region *vec_new_region(former *x, vec_value *owner) {
    vec_region *r = hg_arena_alloc(&x->k->arena, sizeof *r);
    if (!r) {
        static vec_region none;
        x->failed = true;
        return &none;
    }
    r->owner = owner;
    return r;
}

vec_var *vec_new_var(former *x, uint8_t type, bool each, const char *name, bool shared) {
    vec_var *v = hg_arena_alloc(&x->k->arena, sizeof *v);
    if (!v) {
        static vec_var none;
        x->failed = true;
        return &none;
    }
    v->type = type;
    v->each = each;
    v->name = name;
    v->shared = shared;
    if (x->block && each && !shared) {
        (void)vec_turns(x);
        v->turns = x->turns;
    }
    vec_var **first = shared ? &x->k->shared : &x->to->vars,
            **last = shared ? &x->k->last_shared : &x->to->last_var;
    v->id = shared ? x->k->shared_count++ : x->to->var_count++;
    if (*last)
        (*last)->next = v;
    else
        *first = v;
    *last = v;
    return v;
}

vec_var *vec_new_mask(former *x) {
    vec_var *v = vec_new_var(x, KIR_BOOL, true, NULL, false);
    v->mask = true;
    return v;
}

vec_value *vec_prim(former *x, kir_op op, uint8_t type, uint8_t nargs, vec_value *const *args) {
    bool each = false;
    for (uint8_t i = 0; i < nargs; i++) each = each || args[i]->each;
    vec_value *v = vec_add(x, VEC_PRIM, type, each, nargs, args);
    v->prim = (uint8_t)op;
    return v;
}

vec_value *vec_get(former *x, vec_var *var) {
    vec_value *v = vec_add(x, VEC_GET, var->type, var->each, 0, NULL);
    v->u.var = var;
    return v;
}

void vec_set(former *x, vec_var *var, vec_value *value, vec_value *mask) {
    vec_value *v = vec_add(x, VEC_SET, KIR_VOID, false, 1, &value);
    v->u.var = var;
    v->mask = mask;
}

vec_value *vec_and_of(former *x, vec_value *a, vec_value *b) {
    return vec_prim(x, KIR_AND, KIR_BOOL, 2, (vec_value *[]){a, b});
}

vec_value *vec_not_of(former *x, vec_value *a) {
    vec_value *yes = vec_add(x, VEC_CONST, KIR_BOOL, false, 0, NULL);
    yes->u.imm = 1;
    return vec_prim(x, KIR_XOR, KIR_BOOL, 2, (vec_value *[]){a, yes});
}

vec_value *vec_running(former *x) { return vec_add(x, VEC_RUNNING, KIR_BOOL, true, 0, NULL); }

/* An IF with empty branches, the first of which is written next. */
vec_value *vec_open_if(former *x, vec_value *condition) {
    vec_value *v = vec_add(x, VEC_IF, KIR_VOID, false, 1, &condition);
    v->body[0] = vec_new_region(x, v);
    v->body[1] = vec_new_region(x, v);
    return v;
}

/* Stops what `op` stops (BREAK, RETURN) where the condition holds. */
void vec_jump_if(former *x, vec_value *condition, bool wanted, vec_op op) {
    vec_region *outside = x->into;
    vec_value *branch = vec_open_if(x, condition);
    x->into = branch->body[wanted ? 0 : 1];
    vec_value *result = NULL;
    if (op == VEC_RETURN && x->to->result != KIR_VOID)
        result = vec_add(x, VEC_CONST, x->to->result, false, 0, NULL);
    vec_add(x, op, KIR_VOID, false, result != NULL, &result);
    x->into = outside;
}

/* ---- turns of a block ---- */

vec_region *vec_turns(former *x) {
    if (!x->turns) {
        vec_place kept = {x->into, x->before};
        x->into = x->level;
        x->before = NULL;
        vec_value *turns = vec_add(x, VEC_TURNS, KIR_VOID, false, 0, NULL);
        vec_region *body = vec_new_region(x, turns);
        x->into = kept.into;
        x->before = kept.before;
        if (x->failed) return x->level;
        turns->body[0] = body;
        x->turns = turns;
        x->head = NULL;
    }
    return x->turns->body[0];
}

void vec_close_turns(former *x) {
    x->turns = NULL;
    x->into = NULL;
}

vec_place vec_to_level(former *x) {
    vec_place place = {x->into, x->before};
    x->into = x->level;
    x->before = x->turns;
    return place;
}

void vec_back_to(former *x, vec_place place) {
    x->into = place.into;
    x->before = place.before;
}

/* ---- masks ---- */

vec_var *vec_mask_of(const kir_region *r) {
    return r->owner ? control_of(r->owner)->mask[r == r->owner->body[0] ? 0 : 1] : NULL;
}

vec_value *vec_mask_here(former *x) {
    vec_var *mask = vec_mask_of(x->region);
    return mask ? vec_get(x, mask) : NULL;
}

vec_value *vec_mask_or_running(former *x) {
    vec_value *mask = vec_mask_here(x);
    return mask ? mask : vec_running(x);
}

void vec_lose(former *x, vec_value *v, const kir_value *loop, bool next) {
    vec_var *list[2 * MOST_NESTED + 2];
    uint32_t count = 0;
    for (const kir_region *r = x->region; r->owner; r = r->owner->parent) {
        bool last = r->owner == loop;
        if (!kir_lanes_of(r->owner)->divergent && !last) continue;
        if (kir_lanes_of(r->owner)->divergent) list[count++] = vec_mask_of(r);
        if (kir_lanes_of(r->owner)->divergent && control_of(r->owner)->next &&
            control_of(r->owner)->next != vec_mask_of(r) && (!last || next))
            list[count++] = control_of(r->owner)->next;
        if (last) break;
    }
    v->loses.vars = hg_arena_alloc(&x->k->arena, (count + 1) * sizeof *v->loses.vars);
    if (!v->loses.vars || count > UINT8_MAX) {
        x->failed = x->failed || !v->loses.vars;
        if (count > UINT8_MAX) x->unsupported = "too many masks";
        return;
    }
    memcpy(v->loses.vars, list, count * sizeof *list);
    v->loses.count = (uint8_t)count;
}

/* ---- values ---- */

vec_value *vec_nowhere(void) { return &nowhere; }

vec_value *vec_alone(former *x, vec_value *made) {
    if (x->k->lanes > 1 || !made->each) return made;
    return vec_add(x, VEC_PICK, made->type, false, 1, &made);
}

vec_value *vec_ramp(former *x, vec_value *first, int64_t stride) {
    vec_value *each = vec_add(x, VEC_RAMP, first->type, true, 1, &first);
    each->u.imm = (uint64_t)stride;
    return each;
}
