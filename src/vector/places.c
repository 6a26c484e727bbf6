/* Accesses beside each other: which are of one place, and what a CHECK answers for.
 * Must not know: targets. */
#include "vector/vector.h"

static bool has_one_index(const vec_value *v) {
    return !v->u.mem.open && !(v->u.mem.has_index && v->args[0]->each);
}

bool vec_is_same_place(const vec_value *a, const vec_value *b) {
    return a->u.mem.space == b->u.mem.space && a->u.mem.slot == b->u.mem.slot &&
           a->u.mem.class_id == b->u.mem.class_id && a->u.mem.reach == b->u.mem.reach &&
           a->u.mem.stride == b->u.mem.stride && a->u.mem.has_index == b->u.mem.has_index &&
           has_one_index(a) && has_one_index(b) &&
           (!a->u.mem.has_index || a->args[0] == b->args[0]) && vec_is_same_mask(a->mask, b->mask);
}

bool vec_is_member(const vec_value *first, const vec_value *v, uint32_t number) {
    uint8_t value = vec_place_args(first);
    return v->op == first->op && v->nargs == first->nargs && vec_is_same_place(first, v) &&
           v->u.mem.bytes == first->u.mem.bytes &&
           v->u.mem.disp == first->u.mem.disp + (int64_t)number * first->u.mem.bytes &&
           (v->op == VEC_LOAD ? v->type == first->type
                              : v->args[value]->type == first->args[value]->type);
}

const vec_value *vec_next_member(const vec_value *v) {
    for (v = v->next; v && v->op == VEC_CHECK && v->settled;) v = v->next;
    return v;
}

bool vec_is_close(const vec_value *v) {
    for (uint32_t left = v->u.mem.may.stretch; left > 1; left--, v = v->next)
        if (vec_next_member(v) != v->next) return false;
    return true;
}

const vec_value *vec_check_of(const vec_value *v) {
    const vec_value *w = v->prev;
    while (w && w->op == VEC_GET) w = w->prev;
    return w && w->op == VEC_CHECK && vec_is_same_place(v, w) && v->u.mem.disp == w->u.mem.disp
               ? w
               : NULL;
}

/* Whether other lanes or the memory could tell if it came before or behind a check. */
static bool is_told(const vec_value *v) {
    if (v->op == VEC_SET) return v->u.var->mask;
    return v->op != VEC_LOAD && (vec_op_has((vec_op)v->op, VEC_F_EFFECT) || v->body[0]);
}

const vec_value *vec_next_answered(const vec_value *w) {
    w = w->next;
    while (w && w->op != VEC_CHECK && !is_told(w)) w = w->next;
    return w && w->op == VEC_CHECK ? w : NULL;
}

bool vec_reach_of_all(const vec_kernel *k, const vec_value *v, int64_t *low, int64_t *high) {
    int64_t from, to;
    if (!vec_reach_of(k, v, low, high)) return false;
    for (uint8_t i = v->u.mem.may.answers; i; i--) {
        v = vec_next_answered(v);
        if (!vec_reach_of(k, v, &from, &to)) return false;
        *low = from < *low ? from : *low;
        *high = to > *high ? to : *high;
    }
    return true;
}
