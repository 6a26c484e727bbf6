/* Where the operations of a function set variables: for passes that ask whether a part of the text
 * may change one.
 * Requires: a numbered function. Provides: questions about ids, until the function is numbered again. */
#include "kir/passes/simplify_internal.h"

typedef struct position {
    uint32_t var, at;
} position; /* an operation that sets a variable */

/* The variable that an operation sets, or NULL. */
static const kir_var *set_by(const kir_value *v) {
    if (v->op == KIR_ATOMIC) return v->u.mem.high;
    return v->op == KIR_VAR_SET ? v->u.var : NULL;
}

bool simplify_may_set_module(const kir_value *v) {
    return v->op == KIR_CALL && !v->u.call.function->pure;
}

bool simplify_sets_find(simplify_sets *s, const kir_module *m, const kir_function *f) {
    HG_VEC(position) places = {0};
    bool ok = true;
    s->first = hg_calloc((size_t)m->var_count + 2, sizeof *s->first);
    ok = s->first != NULL;
    for (kir_value *v = kir_walk(NULL, f->body); v && ok; v = kir_walk(v, f->body)) {
        if (simplify_may_set_module(v)) {
            uint32_t *at = hg_vec_push(&s->calls);
            if (at)
                *at = v->id;
            else
                ok = false;
        }
        if (!set_by(v)) continue;
        position *p = hg_vec_push(&places);
        if (p)
            *p = (position){set_by(v)->id, v->id};
        else
            ok = false;
        s->first[set_by(v)->id + 1]++;
    }
    uint32_t *next = hg_calloc((size_t)m->var_count + 1, sizeof *next);
    s->at = hg_calloc((size_t)places.count + 1, sizeof *s->at);
    ok = ok && next && s->at;
    for (uint32_t i = 0; i < m->var_count && ok; i++) {
        s->first[i + 1] += s->first[i];
        next[i] = s->first[i];
    }
    for (uint64_t i = 0; i < places.count && ok; i++)
        s->at[next[places.data[i].var]++] = places.data[i].at;
    hg_free(next);
    hg_vec_free(&places);
    return ok;
}

void simplify_sets_free(simplify_sets *s) {
    hg_free(s->first);
    hg_free(s->at);
    hg_vec_free(&s->calls);
}

static bool any_within(const uint32_t *ids, uint64_t count, uint32_t first, uint32_t last) {
    uint64_t low = 0, high = count;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (ids[middle] < first)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && ids[low] <= last;
}

bool simplify_sets_within(const simplify_sets *s, const kir_var *var, bool elsewhere,
                          uint32_t first, uint32_t last) {
    uint32_t from = s->first[var->id];
    if (any_within(s->at + from, s->first[var->id + 1] - from, first, last)) return true;
    return elsewhere && any_within(s->calls.data, s->calls.count, first, last);
}
