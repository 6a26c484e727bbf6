/* Which values are the same in neighbouring lanes, and where these go different ways (lanes.h). */
#include "kir/analysis/lanes.h"
#include "kir/walk.h"

/* ---- forms ---- */

uint8_t kir_worst_form(const kir_value *v, uint8_t first, uint8_t end) {
    uint8_t form = KIR_LANES_ONE;
    for (uint8_t i = first; i < end; i++)
        if (kir_lanes_of(v->args[i])->form > form) form = kir_lanes_of(v->args[i])->form;
    return form;
}

uint8_t kir_pure_form(const kir_value *v) {
    uint8_t form = kir_worst_form(v, 0, v->nargs);
    bool stays = form != KIR_LANES_AFFINE || (v->uniformity == KIR_AFFINE && v->type != KIR_BOOL &&
                                              !kir_type_is_float(v->type));
    return stays ? form : KIR_LANES_EACH;
}

/* ---- the order of functions ---- */

/* A depth-first walk keeps where it is in each function. */
typedef struct frame {
    kir_function *f;
    const kir_value *at;
} frame;
typedef HG_VEC(frame) frames;

static bool enter(frames *stack, kir_function *f) {
    frame *top = hg_vec_push(stack);
    if (!top) return false;
    *top = (frame){f, NULL};
    kir_lanes_of_function(f)->reached = true;
    return true;
}

/* The next call of a function that was not reached; NULL: there is none. */
static const kir_value *next_call(frame *top, bool (*enters)(void *user, const kir_value *call),
                                  void *user) {
    if (!top->at && !top->f->body->first) return NULL;
    do {
        top->at = kir_walk(top->at, top->f->body);
    } while (top->at && !(top->at->op == KIR_CALL &&
                          !kir_lanes_of_function(top->at->u.call.function)->reached &&
                          (!enters || enters(user, top->at))));
    return top->at;
}

static void turn_round(kir_function_list *list) {
    for (uint64_t i = 0; i < list->count / 2; i++) {
        kir_function *f = list->data[i];
        list->data[i] = list->data[list->count - 1 - i];
        list->data[list->count - 1 - i] = f;
    }
}

bool kir_list_callers_first(kir_module *m, bool (*enters)(void *user, const kir_value *call),
                            void *user, kir_function_list *list) {
    frames stack = {0};
    bool ok = enter(&stack, m->functions);
    while (ok && stack.count) {
        frame *top = &stack.data[stack.count - 1];
        const kir_value *call = next_call(top, enters, user);
        if (call) {
            ok = enter(&stack, call->u.call.function);
        } else { /* callees first, turned round below */
            kir_function **slot = hg_vec_push(list);
            ok = slot != NULL;
            if (ok) *slot = top->f;
            stack.count--;
        }
    }
    hg_vec_free(&stack);
    turn_round(list);
    return ok;
}

/* ---- until nothing changes ---- */

void kir_lane_set(kir_lane_analysis *s, bool *flag) {
    if (*flag) return;
    *flag = true;
    s->changed = true;
}

/* Nesting is as deep as a program makes it: what is asked of all regions around a place is kept at
 * the innermost. */
static void visit_owner(kir_lane_analysis *s, kir_value *v) {
    kir_lanes *p = kir_lanes_of(v);
    const kir_lanes *outside = v->parent->owner ? kir_lanes_of(v->parent->owner) : NULL;
    if (p->divergent || (outside && outside->apart)) kir_lane_set(s, &p->apart);
    if (v->op == KIR_IF && (p->divergent || (outside && outside->apart_in_loop)))
        kir_lane_set(s, &p->apart_in_loop);
    p->loop = v->op == KIR_LOOP ? v : outside ? outside->loop : NULL;
}

static void visit_jump(kir_lane_analysis *s, const kir_value *v) {
    const kir_lanes *here = kir_lanes_of(v->parent->owner);
    if (here->loop && here->apart_in_loop) kir_lane_set(s, &kir_lanes_of(here->loop)->divergent);
}

static void visit_return(kir_lane_analysis *s, const kir_value *v) {
    kir_function_lanes *f = kir_lanes_of_function(s->f);
    if (kir_is_apart(v->parent)) kir_lane_set(s, &f->divergent_return);
    if (v->nargs && (f->divergent_return || kir_lanes_of(v->args[0])->form != KIR_LANES_ONE))
        kir_lane_set(s, &f->result_each);
}

static void visit_call(kir_lane_analysis *s, const kir_value *v) {
    kir_function_lanes *callee = kir_lanes_of_function(v->u.call.function);
    for (uint8_t i = 0; i < v->nargs; i++)
        if (kir_lanes_of(v->args[i])->form != KIR_LANES_ONE)
            kir_lane_set(s, &callee->param_each[i]);
}

static void visit(kir_lane_analysis *s, kir_value *v) {
    kir_lanes *p = kir_lanes_of(v);
    uint8_t form = s->rules->form_of(s, v);
    if (form > p->form) {
        p->form = form;
        s->changed = true;
    }
    switch ((kir_op)v->op) {
    case KIR_IF:
        if (kir_lanes_of(v->args[0])->form != KIR_LANES_ONE) s->rules->part(s, v);
        visit_owner(s, v);
        break;
    case KIR_LOOP: visit_owner(s, v); break;
    case KIR_BREAK:
    case KIR_CONTINUE: visit_jump(s, v); break;
    case KIR_RETURN: visit_return(s, v); break;
    case KIR_CALL: visit_call(s, v); break;
    default: break;
    }
    s->rules->visit(s, v);
}

void kir_lane_analyse(kir_lane_analysis *s) {
    s->changed = true;
    for (uint32_t round = 0; s->changed && s->rules->begin_round(s, round); round++) {
        s->changed = false;
        for (uint64_t i = 0; i < s->order->count; i++) {
            s->f = s->order->data[i];
            for (kir_value *v = kir_walk(NULL, s->f->body); v; v = kir_walk(v, s->f->body))
                visit(s, v);
        }
    }
}
