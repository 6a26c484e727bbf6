/* Rows that the kernel only writes, each lane once, go past the caches where a launch writes far
 * more than these hold: nobody finds them there, and a line that is written whole need not be read
 * first. A fence of lanes does not wait for such stores: a kernel that has one has none of them.
 *
 * Requires: vec_verify. Must not know: targets, how an instruction writes past the caches. */
#include "vector/passes.h"

enum { MUCH = 32 << 20 }; /* bytes that a launch writes to the place */

static bool is_in_loop(const vec_value *v) {
    const vec_value *o = v->parent->owner;
    while (o && o->op != VEC_LOOP) o = o->parent->owner;
    return o != NULL;
}

static bool is_only_written(const vec_kernel *k, const vec_value *v) {
    const kir_slot *slot = vec_slot_of(k, v);
    return slot && v->u.mem.space == KIR_BUFFER && slot->written && !slot->read;
}

static bool is_row_of_once(const vec_kernel *k, const vec_value *v) {
    return v->u.mem.reach == VEC_REACH_ROW && !v->u.mem.open && !v->mask && !is_in_loop(v) &&
           is_only_written(k, v);
}

static bool has_fence(const vec_kernel *k) {
    for (const vec_function *f = k->functions; f; f = f->next)
        for (const vec_value *v = vec_walk(NULL, f->body); v; v = vec_walk(v, f->body))
            if (v->op == VEC_FENCE) return true;
    return false;
}

hg_status vec_pass_streams(vec_kernel *kernel) {
    const bool some = !has_fence(kernel);
    for (const vec_function *f = kernel->functions; f; f = f->next) {
        const bool of_turns = some && f == kernel->functions;
        for (vec_value *v = vec_walk(NULL, f->body); v; v = vec_walk(v, f->body))
            if (v->op == VEC_STORE)
                v->u.mem.may.streams = of_turns && is_row_of_once(kernel, v) ? MUCH / v->u.mem.bytes
                                                                             : 0;
    }
    return HG_OK;
}
