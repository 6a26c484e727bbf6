/* A kernel in vector form: values and control flow.
 *
 * An IF that lanes part at becomes two masks and two blocks, each skipped where nobody takes part,
 * or written in place where that is cheaper than asking. A loop that lanes leave one by one goes on
 * while a lane is left. BREAK and CONTINUE take lanes out of the masks between them and their loop,
 * RETURN and EXIT out of all.
 * Requires: facts (uniformity.c), liveness (live.c). Must not know: memory (form_access.c). */
#include "kir/analysis/analysis.h"
#include "kir/analysis/range.h"
#include "vector/form_internal.h"

#include <string.h>

/* ---- values ---- */

static vec_value *leaf(former *x, vec_op op, const kir_value *v, uint64_t imm) {
    vec_value *made = vec_add(x, op, v->type, vec_op_has(op, VEC_F_LANES), 0, NULL);
    made->u.imm = imm;
    return made;
}

static void form_id(former *x, kir_value *v) {
    if (kir_lanes_of(v)->form == KIR_LANES_EACH)
        vec_is(x, v, leaf(x, VEC_COORDINATE, v, v->u.imm));
    else if (v->u.imm == HG_ID_GLOBAL_LANE_ID)
        vec_is(x, v, leaf(x, VEC_FIRST, v, 0));
    else
        vec_is(x, v, leaf(x, VEC_ID, v, v->u.imm));
}

static void form_prim(former *x, kir_value *v) {
    if (guess_of(v)->wanted) {
        vec_form_guess(x, v);
        return;
    }
    if (guess_of(v)->lazy) return;
    vec_value *args[4];
    bool each = kir_lanes_of(v)->form == KIR_LANES_EACH;
    for (uint8_t i = 0; i < v->nargs; i++)
        args[i] = each ? vec_each(x, v->args[i]) : vec_one(x, v->args[i]);
    vec_is(x, v, vec_prim(x, (kir_op)v->op, v->type, v->nargs, args));
}

static void form_pure(former *x, kir_value *v) {
    if (v->op == KIR_ID)
        form_id(x, v);
    else
        form_prim(x, v);
}

/* Of the function at work, or shared. */
static vec_var *var_here(former *x, const kir_var *v) {
    var_fact *p = fact_of_var(v);
    if (!p->var) {
        p->var = vec_new_var(x, v->type, p->form == KIR_LANES_EACH || v->length, v->name,
                             !v->function && x->has_masked);
        p->var->length = v->length;
        p->var->by_reference = v->by_reference;
    }
    vec_use_var(x, v);
    return p->var;
}

/* Whether a variable holds at a SET what the GET read. */
static bool holds_still(const kir_value *get, const kir_value *set) {
    if (get->parent != set->parent) return false;
    for (const kir_value *v = get; v && v != set; v = kir_walk(v, get->parent))
        if (v->op == KIR_VAR_SET && v->u.var == set->u.var) return false;
    return true;
}

/* A counter that lanes take along where they leave: what the variable held and a number. NULL: it
 * is set to something else. */
static vec_value *counted(former *x, const kir_value *set, vec_var *var) {
    const kir_value *sum = set->args[0];
    bool counts = fact_of_var(set->u.var)->guess.left &&
                  (sum->op == KIR_ADD || sum->op == KIR_SUB) && sum->args[0]->op == KIR_VAR_GET &&
                  sum->args[0]->u.var == set->u.var && sum->args[1]->op == KIR_CONST;
    if (!counts || !holds_still(sum->args[0], set)) return NULL;
    return vec_prim(x, (kir_op)sum->op, sum->type, 2,
                    (vec_value *[]){vec_get(x, var), vec_one(x, sum->args[1])});
}

static void form_set(former *x, const kir_value *v) {
    fact_of_var(v->u.var)->block.sets++;
    if (vec_set_guess(x, v)) return;
    vec_var *var = var_here(x, v->u.var);
    if (!var->each) {
        vec_set(x, var, vec_one(x, v->args[0]), NULL);
        return;
    }
    bool masked = vec_mask_of(x->region) && vec_is_read_elsewhere(v),
         of_others = var->shared && x->f != x->m->functions;
    vec_value *mask = of_others ? vec_mask_or_running(x) : masked ? vec_mask_here(x) : NULL;
    vec_value *value = vec_each(x, v->args[0]), *count = value->each ? NULL : counted(x, v, var);
    vec_set(x, var, count ? count : value, mask);
}

static void form_array(former *x, kir_value *v) {
    vec_value *args[2];
    for (uint8_t i = 0; i < v->nargs; i++) args[i] = vec_each(x, v->args[i]);
    vec_var *var = var_here(x, v->u.var);
    bool sets = v->op == KIR_ARRAY_SET;
    vec_value *mask = sets ? vec_mask_here(x) : NULL;
    vec_value *made = vec_add(x, sets ? VEC_ARRAY_SET : VEC_ARRAY_GET, v->type, !sets, v->nargs,
                              args);
    made->u.var = var;
    made->mask = mask;
    if (!sets) vec_is(x, v, vec_alone(x, made));
}

static void form_table(former *x, kir_value *v) {
    vec_value *index = kir_lanes_of(v)->form == KIR_LANES_EACH ? vec_each(x, v->args[0])
                                                               : vec_one(x, v->args[0]);
    vec_value *made = vec_add(x, VEC_TABLE_GET, v->type, index->each, 1, &index);
    made->u.table = v->u.table;
    vec_is(x, v, made);
}

/* The turn ends here where the time is over. */
static void ask_for_time(former *x, uint64_t cost) {
    vec_value *fuel = vec_add(x, VEC_FUEL, KIR_BOOL, false, 0, NULL);
    fuel->u.imm = cost;
    vec_jump_if(x, fuel, true, VEC_RETURN);
}

static void form_call(former *x, kir_value *v) {
    const kir_function *f = v->u.call.function;
    const function_fact *p = fact_of_function(f);
    vec_value *args[16];
    for (uint8_t i = 0; i < v->nargs; i++)
        args[i] = p->lanes.param_each[i] ? vec_each(x, v->args[i]) : vec_one(x, v->args[i]);
    vec_value *mask = p->masked ? vec_mask_here(x) : NULL;
    vec_value *made = vec_add(x, VEC_CALL, v->type, p->lanes.result_each && v->type != KIR_VOID,
                              v->nargs, args);
    made->u.call.to = p->made;
    made->mask = mask;
    made->u.call.arrays = hg_arena_alloc(&x->k->arena,
                                         (f->array_count + 1u) * sizeof *made->u.call.arrays);
    if (!made->u.call.arrays) {
        x->failed = true;
        return;
    }
    for (uint8_t i = 0; i < f->array_count; i++)
        made->u.call.arrays[i] = var_here(x, v->u.call.arrays[i]);
    if (p->can_end) {
        vec_lose(x, made, NULL, true);
        x->k->can_end = true;
    }
    /* Powers with a modulus take the longest: what is ready for them may have stopped inside, and
     * then the result is none. */
    if (kir_limbs_op(f) == KIR_DERIVED) ask_for_time(x, 0);
    if (v->type != KIR_VOID) vec_is(x, v, made);
}

/* That the extent is large enough for what the conditions around say of the index. */
static vec_value *is_enough(former *x, const kir_value *v, uint64_t least) {
    vec_value *below = vec_add(x, VEC_CONST, v->args[2]->type, false, 0, NULL);
    below->u.imm = least - 1;
    return vec_prim(x, KIR_CMP_ULT, KIR_BOOL, 2, (vec_value *[]){below, vec_one(x, v->args[2])});
}

/* The check of an axis asks once for all lanes where it can, and each only where that fails. */
static void form_fault(former *x, const kir_value *v) {
    uint64_t least = 0;
    const bool implied = vec_is_implied(v, &least),
               asks = implied && kir_lanes_of(v->args[2])->form == KIR_LANES_ONE;
    if (implied && least == 0) return;
    vec_value *args[1 + KIR_FAULT_VALUES],
        *inside = asks ? is_enough(x, v, least) : vec_is_inside(x, v);
    vec_region *outside = x->into;
    if (inside) x->into = vec_open_if(x, inside)->body[1];
    for (uint8_t i = 0; i < v->nargs; i++) args[i] = vec_each(x, v->args[i]);
    vec_value *mask = vec_mask_here(x),
              *made = vec_add(x, VEC_FAULT_IF, KIR_VOID, false, v->nargs, args);
    made->u.fault.code = v->u.fault.code;
    made->u.fault.operand = v->u.fault.operand;
    made->u.fault.values = v->u.fault.values;
    made->u.fault.message = v->u.fault.message;
    made->mask = mask;
    vec_lose(x, made, NULL, true);
    x->into = outside;
    x->k->can_end = true;
}

/* ---- jumps ---- */

static void leave(former *x, bool ends, bool exits, const kir_value *loop, bool next) {
    vec_value *mask = vec_mask_or_running(x),
              *made = vec_add(x, VEC_LEAVE, KIR_VOID, false, 0, NULL);
    made->mask = mask;
    made->leave.ends = ends;
    made->leave.exits = exits;
    vec_lose(x, made, loop, next);
}

static void form_return(former *x, const kir_value *v) {
    function_fact *f = fact_of_function(x->f);
    bool kernel = x->f == x->m->functions, apart = vec_mask_of(x->region) != NULL,
         exits = v->op == KIR_EXIT && !kernel;
    if (x->block && (!x->region->owner || split_of(x->region->owner)->split)) {
        vec_add_to_block(x, VEC_RETURN, 0);
        return;
    }
    if (kernel ? apart : f->lanes.divergent_return || exits) {
        if (v->nargs) {
            vec_value *mask = vec_mask_or_running(x);
            vec_set(x, f->result, vec_each(x, v->args[0]), mask);
        }
        if (kernel) x->k->can_end = true;
        leave(x, true, exits, NULL, true);
        return;
    }
    vec_value *result = v->nargs ? f->lanes.result_each ? vec_each(x, v->args[0])
                                                        : vec_one(x, v->args[0])
                                 : NULL;
    vec_add(x, VEC_RETURN, KIR_VOID, false, v->nargs, &result);
}

/* All lanes that are left in the loop leave it here. */
static bool ends_for_all(const former *x, const kir_value *loop, const kir_value *v) {
    return v->op == KIR_BREAK && !uniformity_of(loop)->continues &&
           vec_mask_of(x->region) == control_of(loop)->mask[0];
}

static void form_jump(former *x, const kir_value *v) {
    if (v->op == KIR_EXIT || v->op == KIR_RETURN) {
        form_return(x, v);
        return;
    }
    const kir_value *loop = kir_lanes_of(v->parent->owner)->loop;
    if (x->block && split_of(loop)->split)
        vec_add_to_block(x, v->op == KIR_BREAK ? VEC_BREAK : VEC_CONTINUE, 0);
    else if (kir_lanes_of(loop)->divergent && !ends_for_all(x, loop, v))
        leave(x, false, false, loop, v->op == KIR_BREAK);
    else
        vec_add(x, v->op == KIR_BREAK ? VEC_BREAK : VEC_CONTINUE, KIR_VOID, false, 0, NULL);
}

/* ---- branches and loops ---- */

/* Operations of a branch that cost less than asking whether anybody takes part. */
enum { MOST_IN_PLACE = 10, OF_MASKS = 2 };

static bool is_plain(const kir_value *v) {
    return v->op == KIR_VAR_GET || v->op == KIR_VAR_SET || v->op == KIR_CONST ||
           (kir_is_value(v) && kir_op_has((kir_op)v->op, KIR_F_CHEAP));
}

/* Branches in it are written in place as well. */
static bool is_small(const kir_region *r) {
    uint32_t count = 0;
    for (const kir_value *v = kir_walk(NULL, r); v; v = kir_walk(v, r)) {
        bool branch = v->op == KIR_IF && kir_lanes_of(v)->divergent && !uniformity_of(v)->guard;
        if (!branch && !is_plain(v)) return false;
        count += branch ? OF_MASKS : 1;
        if (count > MOST_IN_PLACE) return false;
    }
    return true;
}

/* Where branch i is written, when it comes next. */
static void enter_branch(former *x, const kir_value *v, int i) {
    if (split_of(v)->split && !uniformity_of(v)->guard) {
        vec_enter_split(x, v, i);
        return;
    }
    x->region = v->body[i];
    x->into = control_of(v)->outside;
    if (x->block && uniformity_of(v)->guard) {
        x->into = NULL;
    } else if (!kir_lanes_of(v)->divergent) {
        x->into = control_of(v)->into[i];
    } else if (v->body[i]->first && !is_small(v->body[i])) {
        vec_value *any = vec_get(x, control_of(v)->mask[i]);
        x->into = vec_open_if(x, vec_add(x, VEC_ANY, KIR_BOOL, false, 1, &any))->body[0];
    }
}

/* Whether an affine value compared with one value is below it in all lanes: so it is in the last.
 * NULL: the condition is no such. */
static vec_value *below_in_all(former *x, const kir_value *condition) {
    if (condition->op != KIR_CMP_ULT) return NULL;
    kir_value *a = condition->args[0];
    if (kir_lanes_of(condition->args[1])->form != KIR_LANES_ONE) return NULL;
    if (kir_lanes_of(a)->form == KIR_LANES_EACH)
        return vec_below_by_guess(x, a, condition->args[1]);
    if (kir_lanes_of(a)->form != KIR_LANES_AFFINE) return NULL;
    uint64_t span = 0, most = kir_range_full(a->type).high;
    if (a->stride <= 0 || !hg_mul_u64((uint64_t)a->stride, x->k->lanes - 1, &span) || span > most ||
        a->umax > most - span)
        return NULL;
    vec_value *step = vec_add(x, VEC_CONST, a->type, false, 0, NULL);
    step->u.imm = span;
    vec_value *end = vec_prim(x, KIR_ADD, a->type, 2,
                              (vec_value *[]){vec_one(x, condition->args[0]), step});
    return vec_prim(x, KIR_CMP_ULT, KIR_BOOL, 2,
                    (vec_value *[]){end, vec_one(x, condition->args[1])});
}

/* Lanes that do not take the branch end here. */
static void form_guard(former *x, kir_value *v) {
    int taken = v->body[0]->first ? 0 : 1;
    vec_value *all = taken == 0 ? below_in_all(x, v->args[0]) : NULL;
    vec_region *outside = x->into;
    if (all) x->into = vec_open_if(x, all)->body[1];
    vec_value *condition = vec_each(x, v->args[0]), *others = vec_running(x);
    others = vec_and_of(x, others, taken == 0 ? vec_not_of(x, condition) : condition);
    vec_value *made = vec_add(x, VEC_LEAVE, KIR_VOID, false, 0, NULL);
    made->mask = others;
    made->leave.ends = true;
    x->k->can_end = true;
    x->into = outside;
    if (all || is_small(v->body[taken])) return; /* often all lanes of a turn go the same way */
    vec_value *left = vec_running(x);
    vec_jump_if(x, vec_add(x, VEC_ANY, KIR_BOOL, false, 1, &left), false, VEC_RETURN);
}

static void form_if(former *x, kir_value *v) {
    control_of(v)->outside = x->into;
    if (split_of(v)->split && !uniformity_of(v)->guard) {
        vec_form_split_if(x, v);
        return;
    }
    if (uniformity_of(v)->guard) {
        form_guard(x, v);
        for (int i = 0; i < 2; i++) control_of(v)->into[i] = control_of(v)->outside;
        enter_branch(x, v, 0);
        return;
    }
    vec_value *asked = kir_lanes_of(v)->divergent ? vec_each(x, v->args[0])
                                                  : vec_one(x, v->args[0]);
    if (!asked->each) kir_lanes_of(v)->divergent = false; /* lanes that are here agree: guess.c */
    if (!kir_lanes_of(v)->divergent) {
        vec_value *branch = vec_open_if(x, asked);
        for (int i = 0; i < 2; i++) {
            control_of(v)->into[i] = branch->body[i];
            control_of(v)->mask[i] = vec_mask_of(x->region);
        }
    } else {
        vec_value *here = vec_mask_or_running(x);
        for (int i = 0; i < 2; i++) {
            if (!v->body[i]->first) continue;
            control_of(v)->mask[i] = vec_new_mask(x);
            vec_set(x, control_of(v)->mask[i],
                    vec_and_of(x, here, i ? vec_not_of(x, asked) : asked), NULL);
        }
    }
    enter_branch(x, v, 0);
}

static uint64_t cost_of(const kir_region *r) {
    uint64_t cost = 1;
    for (const kir_value *v = r->first; v; v = v->next) cost++;
    return cost;
}

static void form_loop(former *x, kir_value *v) {
    if (split_of(v)->split) {
        vec_form_split_loop(x, v, cost_of(v->body[0]));
        return;
    }
    control_of(v)->outside = x->into;
    control_of(v)->mask[0] = vec_mask_of(x->region);
    if (kir_lanes_of(v)->divergent) {
        vec_value *here = vec_mask_or_running(x);
        control_of(v)->next = vec_new_mask(x);
        control_of(v)->mask[0] = uniformity_of(v)->continues ? vec_new_mask(x)
                                                             : control_of(v)->next;
        vec_set(x, control_of(v)->next, here, NULL);
    }
    vec_value *loop = vec_add(x, VEC_LOOP, KIR_VOID, false, 0, NULL);
    loop->body[0] = vec_new_region(x, loop);
    x->into = loop->body[0];
    x->region = v->body[0];
    if (!v->u.loop.bounded) ask_for_time(x, cost_of(v->body[0]));
    if (uniformity_of(v)->continues)
        vec_set(x, control_of(v)->mask[0], vec_get(x, control_of(v)->next), NULL);
    if (uniformity_of(v)->leaves && !kir_lanes_of(v)->divergent) {
        vec_value *here = vec_mask_or_running(x);
        vec_jump_if(x, vec_add(x, VEC_ANY, KIR_BOOL, false, 1, &here), false, VEC_BREAK);
    }
}

/* Nothing comes behind a jump. */
static bool is_over(const former *x) {
    const vec_value *last = x->into ? x->into->last : NULL;
    return last && vec_op_has((vec_op)last->op, VEC_F_JUMP);
}

static void close_loop(former *x, const kir_value *v) {
    if (kir_lanes_of(v)->divergent && !is_over(x)) { /* over: whoever comes to the end of a round
                                                        leaves the loop */
        vec_value *left = vec_get(x, control_of(v)->next);
        vec_jump_if(x, vec_add(x, VEC_ANY, KIR_BOOL, false, 1, &left), false, VEC_BREAK);
    }
}

static void close_region(former *x, const kir_cursor *c) {
    const kir_value *owner = c->region->owner;
    if (owner->op == KIR_LOOP) close_loop(x, owner);
    if (kir_cursor_ends_first(c)) {
        enter_branch(x, owner, 1);
        return;
    }
    if (x->block && split_of(owner)->split && !uniformity_of(owner)->guard) {
        vec_close_split(x, owner);
        return;
    }
    x->into = x->block && uniformity_of(owner)->guard ? NULL : control_of(owner)->outside;
    x->region = owner->parent;
}

/* ---- operations and functions ---- */

static void form_operation(former *x, kir_value *v) {
    switch ((kir_op)v->op) {
    case KIR_CONST: vec_is(x, v, leaf(x, VEC_CONST, v, v->u.imm)); return;
    case KIR_INPUT: vec_is(x, v, leaf(x, VEC_INPUT, v, v->u.imm)); return;
    case KIR_ID: form_id(x, v); return;
    case KIR_PARAM: {
        vec_value *made = vec_add(x, VEC_PARAM, v->type, kir_lanes_of(v)->form == KIR_LANES_EACH, 0,
                                  NULL);
        made->u.imm = v->u.imm;
        vec_is(x, v, made);
        return;
    }
    case KIR_VAR_GET:
        if (guess_of(v)->wanted) vec_form_guess(x, v);
        if (guess_of(v)->wanted && guess_of(v)->sure)
            vec_made(x, v);
        else
            vec_is(x, v, vec_alone(x, vec_get(x, var_here(x, v->u.var))));
        return;
    case KIR_VAR_SET: form_set(x, v); return;
    case KIR_ARRAY_GET:
    case KIR_ARRAY_SET: form_array(x, v); return;
    case KIR_TABLE_GET: form_table(x, v); return;
    case KIR_LOAD:
    case KIR_STORE:
    case KIR_CHECK:
    case KIR_ATOMIC: vec_form_access(x, v); return;
    case KIR_FENCE: vec_add(x, VEC_FENCE, KIR_VOID, false, 0, NULL)->u.imm = v->u.imm; return;
    case KIR_IF: form_if(x, v); return;
    case KIR_LOOP: form_loop(x, v); return;
    case KIR_BREAK:
    case KIR_CONTINUE:
    case KIR_EXIT:
    case KIR_RETURN: form_jump(x, v); return;
    case KIR_CALL: form_call(x, v); return;
    case KIR_FAULT_IF: form_fault(x, v); return;
    case KIR_BARRIER:
        if (x->block) {
            vec_begin_sum(x, v);
            vec_add_to_block(x, VEC_BARRIER, v->u.imm);
        } else {
            x->unsupported = "a barrier in a function";
        }
        return;
    default: break;
    }
    if (kir_is_value(v))
        form_prim(x, v);
    else
        x->unsupported = kir_op_name((kir_op)v->op);
}

static void form_value(former *x, kir_value *v) {
    x->inst = v->inst;
    if (is_dead(v)) return;
    if (v->op == KIR_BLOCK) {
        vec_form_sum(x, v);
        return;
    }
    if (!vec_is_high(x, v)) {
        form_operation(x, v);
        return;
    }
    vec_place place = vec_to_level(x);
    form_operation(x, v);
    vec_back_to(x, place);
}

/* Those that are ready somewhere (vec_function.limbs_op). */
static kir_op limbs_op_of(const kir_function *f) {
    kir_op op = kir_limbs_op(f);
    switch (op) {
    case KIR_ADD:
    case KIR_SUB:
    case KIR_MUL:
    case KIR_AND:
    case KIR_OR:
    case KIR_XOR:
    case KIR_UDIV:
    case KIR_UREM:
    case KIR_SDIV:
    case KIR_SREM:
    case KIR_DERIVED: return op;
    default: return KIR_OP_COUNT;
    }
}

static vec_function *declare(former *x, const kir_function *f) {
    const function_fact *p = fact_of_function(f);
    vec_function *to = hg_arena_alloc(&x->k->arena, sizeof *to);
    if (!to || !(to->name = hg_arena_text(&x->k->arena, f->name, strlen(f->name)))) return NULL;
    to->id = x->k->function_count++;
    to->param_count = f->param_count;
    memcpy(to->param_types, f->param_types, sizeof to->param_types);
    memcpy(to->param_each, p->lanes.param_each, sizeof to->param_each);
    to->result = f->result;
    to->result_each = p->lanes.result_each;
    to->masked = p->masked;
    to->limbs_op = (uint8_t)limbs_op_of(f);
    to->can_end = p->can_end;
    if (x->k->last_function)
        x->k->last_function->next = to;
    else
        x->k->functions = to;
    x->k->last_function = to;
    return to;
}

static void form_function(former *x, kir_function *f) {
    function_fact *p = fact_of_function(f);
    x->f = f;
    x->to = p->made;
    x->inst = 0;
    x->region = f->body;
    x->into = x->to->body = vec_new_region(x, NULL);
    x->before = x->turns = NULL;
    x->block = x->k->blocks && f == x->m->functions;
    if (x->block) {
        x->level = x->into;
        x->into = NULL;
    }
    for (kir_var *v = x->m->vars; v; v = v->next)
        if (!fact_of_var(v)->var || !fact_of_var(v)->var->shared) fact_of_var(v)->var = NULL;
    x->to->array_count = f->array_count;
    for (uint8_t i = 0; i < f->array_count; i++)
        x->to->array_params[i] = var_here(x, f->array_params[i]);
    if (p->lanes.divergent_return && f->result != KIR_VOID)
        p->result = vec_new_var(x, f->result, true, NULL, false);
    kir_cursor c = kir_cursor_start(f->body);
    while ((c.v || c.region != f->body) && !x->failed && !x->unsupported) {
        if (c.v)
            form_value(x, c.v);
        else
            close_region(x, &c);
        (void)kir_cursor_next(&c);
    }
    if (x->failed || x->unsupported || f->result == KIR_VOID) return;
    if (is_over(x)) return;
    vec_value *result = p->result ? vec_get(x, p->result)
                                  : vec_add(x, VEC_CONST, f->result, false, 0, NULL);
    vec_add(x, VEC_RETURN, KIR_VOID, false, 1, &result);
}

static hg_status analyse(former *x) {
    static bool (*const analyses[])(former *) = {
#define VEC_ANALYSIS(id, name, what) vec_find_##name,
#include "vector/pipeline.def"
    };
    if (!vec_make_tables(x)) return hg_fail_memory();
    for (size_t i = 0; i < HG_COUNT_OF(analyses) && !x->unsupported; i++)
        if (!analyses[i](x)) return hg_fail_memory();
    return HG_OK;
}

static hg_status form_all(former *x) {
    HG_TRY(analyse(x));
    if (x->k->blocks && x->k->lanes == 1) x->unsupported = "a block in turns of one lane";
    for (uint64_t i = 0; i < x->order.count && !x->unsupported; i++)
        if (!(fact_of_function(x->order.data[i])->made = declare(x, x->order.data[i])))
            return hg_fail_memory();
    for (uint64_t i = 0; i < x->order.count && !x->unsupported && !x->failed; i++)
        form_function(x, x->order.data[i]);
    if (x->failed) return hg_fail_memory();
    if (x->unsupported)
        return hg_fail(HG_ERROR_ISA, "'%s' has no vector form: %s", x->m->name, x->unsupported);
    for (vec_function *f = x->k->functions; f; f = f->next) vec_count_uses(f);
    return HG_OK;
}

bool vec_asks_for_places(const kir_module *m) {
    if (m->uses_barrier || m->uses_shared) return false;
    for (const kir_value *v = kir_walk(NULL, m->functions->body); v;
         v = kir_walk(v, m->functions->body)) {
        if (v->op != KIR_ID) continue;
        hg_id_part part = hg_idname_part(kir_id_name(v));
        if (part == HG_PART_LANE_IDX || part == HG_PART_BLOCK_IDX) return true;
    }
    return false;
}

hg_status vec_form(const kir_module *module, const vec_options *options, vec_kernel **kernel) {
    *kernel = NULL;
    vec_kernel *k = hg_calloc(1, sizeof *k);
    if (!k) return hg_fail_memory();
    k->module = module;
    k->lanes = options->lanes;
    former x = {.m = (kir_module *)(uintptr_t)module, .k = k, .remake = form_pure};
    k->blocks = module->uses_barrier || module->uses_shared ||
                (options->blocks && vec_asks_for_places(module));
    if (k->blocks)
        kir_find_row_uniformity(x.m);
    else if (vec_asks_for_places(module))
        kir_find_uniformity(x.m, false); /* a form by blocks may have left that of rows */
    hg_status status = form_all(&x);
    hg_arena_free(&x.arena);
    hg_vec_free(&x.order);
    for (int i = 0; i < VEC_PASS_COUNT && status == HG_OK && !options->plain; i++)
        status = vec_pass_run(k, (vec_pass_id)i);
    if (status == HG_OK)
        *kernel = k;
    else
        vec_kernel_destroy(k);
    return status;
}
