/* Expansions: what collectives say they are, as data.
 * Must not know: what a collective does. */
#include "plan/steps/chain.h"
#include <string.h>

/* Parts of scratch memory begin where any device takes a slot, so that no kernel is needed twice.
 */
enum { PART_ALIGN = 256 };

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

plan_part plan_whole(const plan_call *call, uint32_t array) {
    const plan_array *a = &call->arrays[array];
    return (plan_part){.array = array, .bytes = a->open ? PLAN_TO_END : a->bytes};
}

plan_part plan_part_of(const plan_call *call, uint32_t operand) {
    return plan_whole(call, (uint32_t)(plan_array_of(call, operand) - call->arrays));
}

plan_part plan_part_named(const plan_call *call, const char *name) {
    return plan_part_of(call, plan_operand_named(call, name));
}

uint32_t plan_tile(const plan_expansion *x, library_tile tile) {
    return x->tiles ? x->tiles->sizes[tile] : library_tile_get(tile)->preset[LIBRARY_TILES_V4];
}

uint32_t plan_tile_for(uint32_t size, uint64_t count) {
    while (size > 1 && (size + 1) / 2 >= count) size = (size + 1) / 2;
    return size;
}

static plan_part part_behind(plan_expansion *x, int32_t array, uint64_t *end, uint64_t count,
                             uint64_t size) {
    plan_part part = {.array = (uint32_t)array, .offset = *end};
    if (!hg_mul_u64(count, size, &part.bytes) ||
        part.bytes > (UINT64_MAX >> 2) - *end - PART_ALIGN) {
        x->failed = true;
        return (plan_part){.array = (uint32_t)array};
    }
    *end += (part.bytes + PART_ALIGN - 1) / PART_ALIGN * PART_ALIGN;
    return part;
}

plan_part plan_scratch(plan_expansion *x, uint64_t count, uint64_t size) {
    return part_behind(x, PLAN_IN_SCRATCH, &x->scratch, count, size);
}

plan_part plan_table(plan_expansion *x, uint64_t count, uint64_t size) {
    return part_behind(x, PLAN_IN_TABLES, &x->tables, count, size);
}

static plan_action *add_action(plan_expansion *x, plan_action_kind kind, const plan_part *parts,
                               uint32_t part_count) {
    plan_action *action = x->failed ? NULL : hg_vec_push(&x->actions);
    if (!action) {
        x->failed = true;
        return NULL;
    }
    action->kind = (uint8_t)kind;
    action->once = x->once;
    action->first_part = (uint32_t)x->parts.count;
    action->first_value = (uint32_t)x->values.count;
    for (uint32_t i = 0; i < part_count; i++) {
        plan_part *part = hg_vec_push(&x->parts);
        if (!part) {
            x->failed = true;
            return NULL;
        }
        *part = parts[i];
    }
    return action;
}

/* A launch without its grid; NULL after failure. */
static plan_action *add_launch(plan_expansion *x, const plan_kernel_key *key, uint64_t lanes,
                               uint64_t shared_bytes, const plan_part *parts,
                               const uint64_t *values) {
    plan_action *action = add_action(x, PLAN_LAUNCH, parts, key->arrays);
    if (!action) return NULL;
    action->key = *key;
    action->lanes = lanes;
    action->shared_bytes = shared_bytes;
    action->work = x->work;
    x->work = 0;
    for (uint32_t i = 0; i < key->values && !x->failed; i++) {
        uint64_t *value = hg_vec_push(&x->values);
        if (value)
            *value = values[i];
        else
            x->failed = true;
    }
    return x->failed ? NULL : action;
}

void plan_expand_launch(plan_expansion *x, const plan_kernel_key *key, uint64_t lanes,
                        uint32_t block, uint64_t shared_bytes, const plan_part *parts,
                        const uint64_t *values) {
    if (lanes == 0) return;
    uint64_t blocks = (lanes - 1) / block + 1, rows = (blocks - 1) / UINT32_MAX + 1; /* a block is
                                                                                        only a
                                                                                        numbering */
    plan_action *action = rows > UINT32_MAX
                              ? NULL
                              : add_launch(x, key, lanes, shared_bytes, parts, values);
    if (!action) {
        x->failed = true;
        return;
    }
    action->grid[0] = (uint32_t)(blocks < UINT32_MAX ? blocks : UINT32_MAX);
    action->grid[1] = (uint32_t)rows;
    action->block[0] = block;
    action->grid[2] = action->block[1] = action->block[2] = 1;
}

void plan_expand_grid(plan_expansion *x, const plan_kernel_key *key, const uint64_t grid[3],
                      const uint32_t block[3], uint64_t shared_bytes, const plan_part *parts,
                      const uint64_t *values) {
    uint64_t lanes = 1;
    bool fits = true;
    if (!grid[0] || !grid[1] || !grid[2]) return;
    for (uint32_t i = 0; i < 3; i++)
        fits = fits && grid[i] <= UINT32_MAX && hg_mul_u64(lanes, grid[i], &lanes) &&
               hg_mul_u64(lanes, block[i], &lanes);
    plan_action *action = fits && lanes <= HG_MAX_LANES
                              ? add_launch(x, key, lanes, shared_bytes, parts, values)
                              : NULL;
    if (!action) {
        x->failed = true;
        return;
    }
    for (uint32_t i = 0; i < 3; i++) {
        action->grid[i] = (uint32_t)grid[i];
        action->block[i] = block[i];
    }
}

void plan_expand_write(plan_expansion *x, plan_part to, const void *bytes) {
    plan_action *action = add_action(x, PLAN_WRITE, &to, 1);
    if (!action) return;
    action->first_byte = x->bytes.count;
    for (uint64_t i = 0; i < to.bytes && !x->failed; i++) {
        uint8_t *byte = hg_vec_push(&x->bytes);
        if (byte)
            *byte = ((const uint8_t *)bytes)[i];
        else
            x->failed = true;
    }
}

void plan_expand_copy(plan_expansion *x, plan_part to, plan_part from) {
    const plan_part parts[2] = {to, from};
    (void)add_action(x, PLAN_COPY, parts, 2);
}
