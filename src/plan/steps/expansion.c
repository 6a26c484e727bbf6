/* Expansions: what collectives say they are, as data.
 * Must not know: what a collective does. */
#include "plan/steps/chain.h"
#include <string.h>

void plan_expansion_clear(plan_expansion *x) {
    x->actions.count = x->parts.count = x->values.count = x->bytes.count = 0;
    x->scratch = x->tables = x->work = 0;
    x->once = false;
    x->fused = NULL;
    x->failed = false;
}

void plan_expansion_free(plan_expansion *x) {
    hg_vec_free(&x->actions);
    hg_vec_free(&x->parts);
    hg_vec_free(&x->values);
    hg_vec_free(&x->bytes);
}

bool plan_kernel_key_equal(const plan_kernel_key *x, const plan_kernel_key *y) {
    return x->make == y->make && x->fn == y->fn && x->type == y->type && x->arrays == y->arrays &&
           x->values == y->values && x->choice == y->choice && x->shifted == y->shifted &&
           x->program == y->program && x->sides == y->sides &&
           memcmp(x->constants, y->constants, sizeof x->constants) == 0 &&
           plan_chain_equal(x->chain, y->chain);
}

static bool add_parts(plan_expansion *x, const plan_part *parts, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        plan_part *part = hg_vec_push(&x->parts);
        if (!part) return false;
        *part = parts[i];
    }
    return true;
}

static bool add_values(plan_expansion *x, const uint64_t *values, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        uint64_t *value = hg_vec_push(&x->values);
        if (!value) return false;
        *value = values[i];
    }
    return true;
}

static bool add_bytes(plan_expansion *x, const uint8_t *bytes, uint64_t count) {
    for (uint64_t i = 0; i < count; i++) {
        uint8_t *byte = hg_vec_push(&x->bytes);
        if (!byte) return false;
        *byte = bytes ? bytes[i] : 0;
    }
    return true;
}

void plan_add_action(plan_expansion *x, const plan_action *action, const plan_part *parts,
                     const uint64_t *values, const void *bytes) {
    plan_action *to = x->failed ? NULL : hg_vec_push(&x->actions);
    x->failed = true;
    if (!to) return;
    *to = *action;
    to->first_part = (uint32_t)x->parts.count;
    to->first_value = (uint32_t)x->values.count;
    to->first_byte = x->bytes.count;
    if (to->kind == PLAN_LAUNCH)
        x->failed = !add_parts(x, parts, to->key.arrays) || !add_values(x, values, to->key.values);
    else
        x->failed = !add_parts(x, parts, to->kind == PLAN_COPY ? 2 : 1) ||
                    (to->kind == PLAN_WRITE && !add_bytes(x, bytes, parts->bytes));
}
