/* Kernels of blocks: branches and loops that the block takes as one. What stands between is cut
 * into TURNS, each as long as it can be.
 * Must not know: what other operations of the kernel IR do. */
#include "vector/form_internal.h"

/* One value of the block: whether a lane that runs has the condition. All that run have it, or
 * none. */
static vec_value *condition_of(former *x, kir_value *condition) {
    if (!split_of(condition)->low) {
        vec_close_turns(x);
        return vec_one(x, condition);
    }
    vec_var *said = vec_new_var(x, KIR_BOOL, false, NULL, false);
    vec_value *each = vec_each(x, condition), *lanes = vec_running(x);
    lanes = vec_and_of(x, lanes, each);
    vec_value *any = vec_add(x, VEC_ANY, KIR_BOOL, false, 1, &lanes);
    vec_place place = vec_to_level(x);
    vec_set(x, said, vec_add(x, VEC_CONST, KIR_BOOL, false, 0, NULL), NULL);
    vec_back_to(x, place);
    vec_set(x, said, vec_prim(x, KIR_OR, KIR_BOOL, 2, (vec_value *[]){vec_get(x, said), any}),
            NULL);
    vec_close_turns(x);
    place = vec_to_level(x);
    vec_value *result = vec_get(x, said);
    vec_back_to(x, place);
    return result;
}

void vec_enter_split(former *x, const kir_value *v, int i) {
    vec_close_turns(x);
    x->region = v->body[i];
    x->level = control_of(v)->into[i];
}

void vec_form_split_if(former *x, kir_value *v) {
    vec_value *condition = condition_of(x, v->args[0]);
    control_of(v)->level = x->level;
    vec_place place = vec_to_level(x);
    vec_value *branch = vec_open_if(x, condition);
    vec_back_to(x, place);
    for (int i = 0; i < 2; i++) control_of(v)->into[i] = branch->body[i];
    vec_enter_split(x, v, 0);
}

/* Whether what lanes say decides in the loop: a block without lanes would not find out. */
static bool asks_lanes(const kir_value *loop) {
    for (const kir_value *v = kir_walk(NULL, loop->body[0]); v; v = kir_walk(v, loop->body[0])) {
        if (v->op == KIR_IF && split_of(v)->split && split_of(v->args[0])->low) return true;
        if ((v->op == KIR_RETURN || v->op == KIR_EXIT) && !split_of(v->parent->owner)->split)
            return true;
    }
    return false;
}

static void stop_if_empty(former *x) {
    vec_var *some = vec_new_var(x, KIR_BOOL, false, NULL, false);
    vec_place place = vec_to_level(x);
    vec_set(x, some, vec_add(x, VEC_CONST, KIR_BOOL, false, 0, NULL), NULL);
    vec_back_to(x, place);
    vec_value *lanes = vec_running(x), *any = vec_add(x, VEC_ANY, KIR_BOOL, false, 1, &lanes);
    vec_set(x, some, vec_prim(x, KIR_OR, KIR_BOOL, 2, (vec_value *[]){vec_get(x, some), any}),
            NULL);
    vec_close_turns(x);
    place = vec_to_level(x);
    vec_jump_if(x, vec_get(x, some), false, VEC_RETURN);
    vec_back_to(x, place);
}

void vec_form_split_loop(former *x, kir_value *v, uint64_t cost) {
    vec_close_turns(x);
    control_of(v)->level = x->level;
    vec_place place = vec_to_level(x);
    vec_value *loop = vec_add(x, VEC_LOOP, KIR_VOID, false, 0, NULL);
    loop->body[0] = vec_new_region(x, loop);
    vec_back_to(x, place);
    x->level = control_of(v)->into[0] = loop->body[0];
    x->region = v->body[0];
    if (!v->u.loop.bounded) {
        place = vec_to_level(x);
        vec_value *fuel = vec_add(x, VEC_FUEL, KIR_BOOL, false, 0, NULL);
        fuel->u.imm = cost;
        vec_jump_if(x, fuel, true, VEC_RETURN);
        vec_back_to(x, place);
    }
    if (asks_lanes(v)) stop_if_empty(x);
}

void vec_close_split(former *x, const kir_value *v) {
    vec_close_turns(x);
    x->level = control_of(v)->level;
    x->region = v->parent;
}

void vec_add_to_block(former *x, vec_op op, uint64_t imm) {
    vec_close_turns(x);
    vec_place place = vec_to_level(x);
    vec_add(x, op, KIR_VOID, false, 0, NULL)->u.imm = imm;
    vec_back_to(x, place);
}
