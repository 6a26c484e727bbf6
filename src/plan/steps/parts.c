/* What collectives say their expansions with.
 * Must not know: what a collective does, who carries an expansion out. */
#include "plan/steps/expansion.h"
#include <string.h>

/* ---- keys ---- */

plan_kernel_key plan_library_key(library_id program, hg_type type, uint16_t fn,
                                 const int32_t *constants, uint8_t arrays, uint8_t values) {
    plan_kernel_key key = {.make = plan_library_kernel,
                           .fn = fn,
                           .type = (uint8_t)type,
                           .arrays = arrays,
                           .values = values,
                           .program = (uint16_t)program};
    uint32_t count = library_constant_count(program);
    if (count) memcpy(key.constants, constants, count * sizeof *constants);
    return key;
}

/* ---- parts ---- */

/* Parts of scratch memory begin where any device takes a slot, so that no kernel is needed twice.
 */
enum { PART_ALIGN = 256 };

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

bool plan_give_array(plan_given *g, const plan_call *call, const char *name) {
    uint32_t operand = plan_operand_named(call, name);
    bool given = plan_array_of(call, operand) != NULL;
    if (given) g->parts[g->arrays++] = plan_part_of(call, operand);
    return given;
}

void plan_give_values(plan_given *g, const uint64_t *values, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) g->values[g->count++] = values[i];
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

/* ---- actions ---- */

static void launch(plan_expansion *x, const plan_kernel_key *key, const uint32_t grid[3],
                   const uint32_t block[3], uint64_t lanes, uint64_t shared_bytes,
                   const plan_part *parts, const uint64_t *values) {
    plan_action action = {.kind = PLAN_LAUNCH,
                          .once = x->once,
                          .key = *key,
                          .lanes = lanes,
                          .shared_bytes = shared_bytes,
                          .work = x->work};
    x->work = 0;
    memcpy(action.grid, grid, sizeof action.grid);
    memcpy(action.block, block, sizeof action.block);
    plan_add_action(x, &action, parts, values, NULL);
}

void plan_expand_launch(plan_expansion *x, const plan_kernel_key *key, uint64_t lanes,
                        uint32_t block, uint64_t shared_bytes, const plan_part *parts,
                        const uint64_t *values) {
    if (lanes == 0) return;
    uint64_t blocks = (lanes - 1) / block + 1, rows = (blocks - 1) / UINT32_MAX + 1; /* a block is
                                                                                        only a
                                                                                        numbering */
    if (rows > UINT32_MAX) {
        x->failed = true;
        return;
    }
    launch(x, key,
           (uint32_t[]){(uint32_t)(blocks < UINT32_MAX ? blocks : UINT32_MAX), (uint32_t)rows, 1},
           (uint32_t[]){block, 1, 1}, lanes, shared_bytes, parts, values);
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
    if (!fits || lanes > HG_MAX_LANES) {
        x->failed = true;
        return;
    }
    launch(x, key, (uint32_t[]){(uint32_t)grid[0], (uint32_t)grid[1], (uint32_t)grid[2]}, block,
           lanes, shared_bytes, parts, values);
}

void plan_expand_write(plan_expansion *x, plan_part to, const void *bytes) {
    const plan_action action = {.kind = PLAN_WRITE, .once = x->once};
    plan_add_action(x, &action, &to, NULL, bytes);
}

void plan_expand_copy(plan_expansion *x, plan_part to, plan_part from) {
    const plan_action action = {.kind = PLAN_COPY, .once = x->once};
    const plan_part parts[2] = {to, from};
    plan_add_action(x, &action, parts, NULL, NULL);
}
