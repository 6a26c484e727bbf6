/* Checks of one index that stand behind each other, with nothing between them that another lane or
 * the memory could tell, are asked as one: the first answers for the others. A load of one place
 * right behind its check reads where the check says, whatever lanes are there.
 *
 * Requires: vec_verify. Must not know: targets. */
#include "vector/passes.h"

enum { MOST_ANSWERS = 7 };

static uint8_t count_answers(const vec_kernel *k, const vec_value *v) {
    const vec_value *w = v;
    int64_t low = 0, high = 0;
    uint8_t count = 0;
    if (!vec_reach_of(k, v, &low, &high)) return 0;
    while (count < MOST_ANSWERS && (w = vec_next_answered(w)) && vec_is_same_place(v, w) &&
           vec_reach_of(k, w, &low, &high))
        count++;
    return count;
}

static void group(const vec_kernel *k, const vec_region *body) {
    uint8_t answered = 0;
    for (vec_value *v = vec_walk(NULL, body); v; v = vec_walk(v, body)) {
        if (v->op == VEC_LOAD)
            v->u.mem.may.checked = v->u.mem.reach == VEC_REACH_ONE && vec_check_of(v);
        if (v->op != VEC_CHECK) continue;
        v->u.mem.may.answers = answered ? 0 : count_answers(k, v);
        answered = answered ? (uint8_t)(answered - 1) : v->u.mem.may.answers;
    }
}

hg_status vec_pass_checks(vec_kernel *kernel) {
    for (const vec_function *f = kernel->functions; f; f = f->next) group(kernel, f->body);
    return HG_OK;
}
