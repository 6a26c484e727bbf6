/* Branches behind "is a lane in the mask?" in which just those lanes are taken out of masks are no
 * branches: done without asking they do nothing where there are none, and cost less than a branch
 * that goes either way.
 *
 * Requires: vec_verify. Must not know: targets. */
#include "vector/passes.h"

static bool is_flat(const vec_value *v) {
    if (v->op != VEC_IF || v->args[0]->op != VEC_ANY || v->body[1]->first) return false;
    for (const vec_value *inner = v->body[0]->first; inner; inner = inner->next) {
        bool leaves = inner->op == VEC_LEAVE && !inner->leave.ends && !inner->leave.exits &&
                      vec_is_same_mask(inner->mask, v->args[0]->args[0]);
        if (inner->op != VEC_GET && !leaves) return false;
    }
    return true;
}

static void take_out(const vec_value *v) {
    *(v->prev ? &v->prev->next : &v->parent->first) = v->next;
    *(v->next ? &v->next->prev : &v->parent->last) = v->prev;
}

/* What is in the branch stands in its place; the question goes, if nobody else asks it. */
static void flatten(vec_value *v) {
    vec_region *to = v->parent, *from = v->body[0];
    for (vec_value *inner = from->first; inner; inner = inner->next) inner->parent = to;
    vec_value *first = from->first ? from->first : v->next,
              *last = from->last ? from->last : v->prev;
    *(v->prev ? &v->prev->next : &to->first) = first;
    *(v->next ? &v->next->prev : &to->last) = last;
    if (from->first) from->first->prev = v->prev;
    if (from->last) from->last->next = v->next;
    if (--v->args[0]->uses == 0) take_out(v->args[0]);
}

static void flatten_all(const vec_function *f) {
    for (vec_value *v = vec_walk(NULL, f->body), *next; v; v = next) {
        next = is_flat(v) && v->body[0]->first ? v->body[0]->first : vec_walk(v, f->body);
        if (is_flat(v)) flatten(v);
    }
}

hg_status vec_pass_flat(vec_kernel *kernel) {
    for (const vec_function *f = kernel->functions; f; f = f->next) flatten_all(f);
    return HG_OK;
}
