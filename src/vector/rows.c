/* A load of a row under a mask need not wait for the mask where the whole row is in the memory: it
 * is a plain row there, and what lanes get that are not in the mask nobody sees. Where what the row
 * reaches is not known, it stays under its mask.
 *
 * Requires: vec_verify. Must not know: targets. */
#include "vector/passes.h"

hg_status vec_pass_rows(vec_kernel *kernel) {
    int64_t low = 0, high = 0;
    for (const vec_function *f = kernel->functions; f; f = f->next)
        for (vec_value *v = vec_walk(NULL, f->body); v; v = vec_walk(v, f->body))
            if (v->op == VEC_LOAD)
                v->u.mem.may.fits = v->mask && v->u.mem.reach == VEC_REACH_ROW && !v->u.mem.open &&
                                    vec_reach_of(kernel, v, &low, &high);
    return HG_OK;
}
