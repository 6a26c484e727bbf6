/* What compilers of the vector form tell apart: places that follow from a lane's number by sums
 * that may wrap, quotients, remainders and exclusive ors; loads whose index is what another load
 * brought, of narrow types too; rows and scattered places that are written; many values that live
 * at a time; thousands of instructions in a row. */
#include "base/base.h"
#include "generate_internal.h"
#include "oracle/oracle.h"

enum {
    R_AT = 125,     /* u64 */
    R_LANE32 = 126, /* u32 */
    R_BY = 127,     /* u32 */
    R_LOADED = 128, /* of each integer type */
    R_BY64 = 136,   /* u64 */
    R_LIVE = 150,
    MOST_LIVE = 100
};

static const hg_type INTEGERS[] = {HG_TYPE_U8,  HG_TYPE_I8,  HG_TYPE_U16, HG_TYPE_I16,
                                   HG_TYPE_U32, HG_TYPE_I32, HG_TYPE_U64, HG_TYPE_I64};

static void by(generator *g, const char *op, uint32_t n) {
    line(g, "mov_imm.u32 r%d, %u", R_BY, n);
    line(g, "%s.u32 r%d, r%d, r%d", op, R_LANE32, R_LANE32, R_BY);
}

static void by64(generator *g, const char *op, uint32_t n) {
    line(g, "mov_imm.u64 r%d, %u", R_BY64, n);
    line(g, "%s.u64 r%d, r%d, r%d", op, R_AT, R_AT, R_BY64);
}

/* A step from a lane's number to a place. */
static void step(generator *g) {
    switch (pick(g, 9)) {
    case 0: by(g, "add", pick(g, 100)); break;
    case 1: by(g, "add", UINT32_MAX - pick(g, 300)); break;
    case 2: by(g, "mul", 1 + pick(g, 8)); break;
    case 3: by(g, "div", 1 + pick(g, 40)); break;
    case 4: by(g, "rem", 1 + pick(g, 100)); break;
    case 5: by(g, "xor", pick(g, 2) ? 1u << pick(g, 6) : pick(g, 64)); break;
    case 6: by(g, "and", (1u << pick(g, 9)) - 1); break;
    case 7: line(g, "sub.u32 r%d, r%d, r%d", R_LANE32, R_LANE32, R_ONE); break;
    default: by(g, "shr", pick(g, 5)); break;
    }
}

/* Makes R_AT less than the limit, one way or the other. */
static void below(generator *g, uint32_t limit) {
    uint32_t mask = 1;
    while (mask * 2 <= limit) mask *= 2;
    if ((g->flags & GENERATE_FAULTS) && chance(g, 3)) return;
    switch (pick(g, 3)) {
    case 0: by64(g, "rem", limit); break;
    case 1: by64(g, "min", limit - 1); break;
    default: by64(g, "and", mask - 1); break;
    }
}

/* R_AT = a place below the limit, from the lane's number. */
static void affine(generator *g, uint32_t limit) {
    uint32_t steps = pick(g, 4);
    if (steps == 0 && g->lanes <= limit && chance(g, 50)) {
        line(g, "mov.u64 r%d, r255", R_AT);
        return;
    }
    if (chance(g, 15)) {
        line(g, "mov.u64 r%d, r255", R_AT);
        by64(g, "mul", 1 + pick(g, 9));
        by64(g, "add", pick(g, 50));
        below(g, limit);
        return;
    }
    line(g, "cvt.u32.u64 r%d, r255", R_LANE32);
    if (chance(g, 20)) { /* as counters of 16 bits are */
        line(g, "cvt.u16.u32 r%d, r%d", R_LOADED + 2, R_LANE32);
        line(g, "cvt.u32.u16 r%d, r%d", R_LANE32, R_LOADED + 2);
    }
    for (uint32_t i = 0; i < steps; i++) step(g);
    line(g, "cvt.u64.u32 r%d, r%d", R_AT, R_LANE32);
    below(g, limit);
}

enum { MOST_AT = 2048, MOST_SCALE = 8 };

/* Loads a value of an integer type from a place of the input; R_AT is below 2048 / scale. Returns
 * the type. */
static uint32_t loaded(generator *g, uint32_t scale) {
    uint32_t t = pick(g, HG_COUNT_OF(INTEGERS));
    line(g, "ldg.%s r%u, [r%d + r%d*%u + %u]", hg_type_name(INTEGERS[t]), R_LOADED + t, R_IN, R_AT,
         scale, pick(g, 64));
    return t;
}

/* What a load brought as the next place: below 256 as it is where it has 8 bits. */
static void to_place(generator *g, uint32_t t, uint32_t limit) {
    line(g, "cvt.u64.%s r%d, r%u", hg_type_name(INTEGERS[t]), R_AT, R_LOADED + t);
    if (t != 0 || limit < 256 || chance(g, 20)) below(g, limit);
}

static void chain_end(generator *g, uint32_t t) {
    int to = any_type_where(g, is_integer), any = any_type(g);
    switch (pick(g, 4)) {
    case 0:
        line(g, "cvt.%s.%s r%d, r%u", type_text(g, to), hg_type_name(INTEGERS[t]), variable(g, to),
             R_LOADED + t);
        break;
    case 1:
        if (!g->has_atomics) break;
        to_place(g, t, 8);
        line(g, "atom.add.u32 r%d, [r%d + r%d*4 + 192], r%d", R_OLD, R_ACC, R_AT, variable(g, 0));
        break;
    default:
        to_place(g, t, MOST_AT / MOST_SCALE);
        line(g, "ldg.%s r%d, [r%d + r%d*%u + %u]", type_text(g, any), variable(g, any), R_IN, R_AT,
             1 + pick(g, MOST_SCALE), pick(g, 64));
        break;
    }
}

/* Loads that are the index of loads. */
static void chain(generator *g) {
    uint32_t depth = 1 + pick(g, g->flags & GENERATE_TINY ? 2 : 4), scale = 1 + pick(g, MOST_SCALE),
             t;
    affine(g, MOST_AT / scale);
    for (;;) {
        t = loaded(g, scale);
        if (--depth == 0) break;
        scale = 1 + pick(g, MOST_SCALE);
        to_place(g, t, MOST_AT / scale);
    }
    chain_end(g, t);
}

/* Rows of places, of 8, 4, 2 and 1 bytes one behind the other, each below 256: loaded, then used as
 * they are. */
void fill_places(generator *g, uint8_t *bytes) {
    for (uint32_t width = 8, at = 0; width; at += width * PLACES, width /= 2)
        for (uint32_t i = 0; i < PLACES; i++) bytes[at + i * width] = (uint8_t)random_bits(g);
}

/* Loads one from the row of its type, at R_AT or at what was loaded before (of which type). Returns
 * its type. */
static uint32_t loaded_place(generator *g, int before) {
    uint32_t t = 2 * pick(g, 4), size = oracle_size(INTEGERS[t]), row = 0;
    if (before >= 0 && chance(g, 60)) t = chance(g, 50) ? 4 : 6, size = oracle_size(INTEGERS[t]);
    for (uint32_t width = 8; width > size; width /= 2) row += width * PLACES;
    line(g, "ldg.%s r%u, [r%d + r%d*%u + %u]", hg_type_name(INTEGERS[t]), R_LOADED + t, R_PLACES,
         before < 0 ? R_AT : R_LOADED + before, size, row);
    return t;
}

/* Places that are the index of places, and at last of a value. */
static void places(generator *g) {
    int t = any_type(g), before = -1, skip = -1;
    uint32_t depth = 1 + pick(g, 3);
    affine(g, PLACES);
    if (chance(g, 25)) {
        skip = new_label(g);
        set_condition(g, 7);
        line(g, "bra.p7 @L%d", skip);
    }
    while (depth-- > 0) {
        before = (int)loaded_place(g, before);
        if (before >= 4) continue; /* an index has 32 or 64 bits */
        line(g, "cvt.u32.%s r%d, r%d", hg_type_name(INTEGERS[before]), R_LOADED + 4,
             R_LOADED + before);
        before = 4;
    }
    if (chance(g, 25) && g->has_atomics) {
        line(g, "mov_imm.%s r%d, 7", hg_type_name(INTEGERS[before]), before == 4 ? R_BY : R_BY64);
        line(g, "and.%s r%d, r%d, r%d", hg_type_name(INTEGERS[before]), R_LOADED + before,
             R_LOADED + before, before == 4 ? R_BY : R_BY64);
        line(g, "atom.add.u32 r%d, [r%d + r%d*4 + 192], r%d", R_OLD, R_ACC, R_LOADED + before,
             variable(g, 0));
    } else {
        line(g, "ldg.%s r%d, [r%d + r%d*%u + %u]", type_text(g, t), variable(g, t), R_IN,
             R_LOADED + before, 1 + pick(g, MOST_SCALE), pick(g, 64));
    }
    if (skip >= 0) place_label(g, skip);
}

/* A row, or places in another order, of an array that only this store writes: no two lanes have one
 * place. */
static void scatter(generator *g) {
    int t = any_type_where(g, is_integer);
    if (g->next_site == SCATTER_SITES || oracle_size(g->types[t]) > 8) return;
    line(g, "cvt.u32.u64 r%d, r255", R_LANE32);
    switch (pick(g, 5)) {
    case 0: by(g, "xor", 1u << pick(g, 6)); break;
    case 1: by(g, "add", pick(g, SCATTER_LANES)); break;
    case 2: by(g, "add", UINT32_MAX - pick(g, 40)); break;
    case 3: by(g, "mul", 1 + 2 * pick(g, 4)); break;
    default: break;
    }
    by(g, "and", SCATTER_LANES - 1); /* a power of two: sums and odd products stay apart */
    line(g, "stg.%s [r%d + r%d*%u + %u], r%d", type_text(g, t), R_SCATTER, R_LANE32,
         oracle_size(g->types[t]), (unsigned)g->next_site++ * SCATTER_LANES * 8, variable(g, t));
}

static const char *operation(generator *g, int type) {
    static const char *const ANY[] = {"add", "sub", "min", "max", "mul"}, *const BITS[] = {
                                                                              "and", "or", "xor",
                                                                              "add"};
    return is_integer(g->types[type]) && chance(g, 50)
               ? BITS[pick(g, 4)]
               : ANY[pick(g, oracle_size(g->types[type]) > 8 ? 4 : 5)];
}

static void mix(generator *g, int t, uint32_t count, uint32_t times) {
    for (uint32_t i = 0; i < times; i++)
        line(g, "%s.%s r%u, r%u, r%u", operation(g, t), type_text(g, t), R_LIVE + pick(g, count),
             R_LIVE + pick(g, count), R_LIVE + pick(g, count));
}

/* Values that all live from here to there, through a loop of a length that lanes may have in common
 * or not. */
static void many_live(generator *g) {
    int t = any_type(g), counter = g->next_counter > LAST_COUNTER ? -1 : g->next_counter++,
        head = new_label(g);
    uint32_t words = oracle_size(g->types[t]) / 8,
             most = words > 2 && !(g->flags & GENERATE_DEEP) ? 24 : MOST_LIVE;
    uint32_t count = 8 + pick(g, most - 8), rounds = 1 + pick(g, 4);
    if (g->cost + g->factor * 6 * count > 3 * g->budget) count = 8;
    for (uint32_t i = 0; i < count; i++) {
        if (i % 16 == 0) affine(g, MOST_AT);
        line(g, "ldg.%s r%u, [r%d + r%d + %u]", type_text(g, t), R_LIVE + i, R_IN, R_AT,
             pick(g, 64));
    }
    if (counter >= 0) {
        line(g, "mov_imm.u32 r%d, %u", counter, rounds);
        if (chance(g, 50)) line(g, "and.u32 r%d, r%d, r%d", counter, counter, variable(g, 0));
        place_label(g, head);
    }
    mix(g, t, count, count / 2 + 1);
    if (counter >= 0) line(g, "loop r%d, @L%d", counter, head);
    g->cost += g->factor * rounds * count;
    for (uint32_t i = 1; i < count; i++)
        line(g, "%s.%s r%d, r%d, r%u", operation(g, t), type_text(g, t), R_LIVE, R_LIVE,
             R_LIVE + i);
    line(g, "mov.%s r%d, r%d", type_text(g, t), variable(g, t), R_LIVE);
}

void long_row(generator *g) {
    uint32_t count = 500 + pick(g, (g->flags & GENERATE_DEEP) ? 4500 : 500);
    for (uint32_t i = 0; i < count; i++) {
        int t = any_type(g);
        if (oracle_size(g->types[t]) > 8) t = (int)pick(g, 2);
        line(g, "%s.%s r%d, r%d, r%d", operation(g, t), type_text(g, t), variable(g, t),
             variable(g, t), variable(g, t));
    }
}

/* ---- a program of its own: as many values as there are registers ---- */

enum { R_PLACE = 10, R_ROUNDS_LEFT = 11, R_FIRST = 20, FEWEST_LIVE = 100, MOST_REGISTERS = 230 };

static void mix_all(generator *g, int t, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        line(g, "%s.%s r%u, r%u, r%u", operation(g, t), type_text(g, t), R_FIRST + i,
             R_FIRST + pick(g, count), R_FIRST + pick(g, count));
}

/* Only some lanes do it, each by its own numbers. */
static void mix_some(generator *g, int t, uint32_t count) {
    int skip = new_label(g);
    line(g, "setlt.%s p6, r%u, r%u", type_text(g, t), R_FIRST + pick(g, count),
         R_FIRST + pick(g, count));
    line(g, "bra.p6 @L%d", skip);
    for (uint32_t i = 0; i < count / 4; i++)
        line(g, "%s.%s r%u, r%u, r%u", operation(g, t), type_text(g, t), R_FIRST + pick(g, count),
             R_FIRST + pick(g, count), R_FIRST + pick(g, count));
    place_label(g, skip);
}

void live_program(generator *g) {
    int t = any_type(g), head = new_label(g);
    bool wide = oracle_size(g->types[t]) > 8;
    uint32_t count = wide ? 12 + pick(g, 30) : FEWEST_LIVE + pick(g, MOST_REGISTERS - FEWEST_LIVE);
    line(g, "mov_imm.u64 r%d, %u", R_PLACE, g->stride[0]);
    line(g, "mul.u64 r%d, r255, r%d", R_PLACE, R_PLACE);
    for (uint32_t i = 0; i < count; i++)
        line(g, "ldg.%s r%u, [r%d + r255*%u + %u]", type_text(g, t), R_FIRST + i, R_IN,
             1 + pick(g, 8), pick(g, 64));
    line(g, "mov_imm.u32 r%d, %u", R_ROUNDS_LEFT, pick(g, 3));
    place_label(g, head);
    mix_all(g, t, count);
    if (g->has_barriers) line(g, "bar.sync %d", g->next_barrier++ % 16);
    if (chance(g, 70)) mix_some(g, t, count);
    line(g, "loop r%d, @L%d", R_ROUNDS_LEFT, head);
    for (uint32_t i = 1; i < count; i++)
        line(g, "%s.%s r%d, r%d, r%u", operation(g, t), type_text(g, t), R_FIRST, R_FIRST,
             R_FIRST + i);
    line(g, "stg.%s [r%d + r%d + %u], r%d", type_text(g, t), R_OUT, R_PLACE,
         g->slots[t * variables(g)].offset, R_FIRST);
}

void vector_statement(generator *g) {
    switch (pick(g, 8)) {
    case 0:
    case 1: chain(g); break;
    case 2:
    case 3: places(g); break;
    case 4:
    case 5: scatter(g); break;
    case 6:
        if (chance(g, g->flags & GENERATE_TINY ? 4 : 40)) many_live(g);
        break;
    default:
        affine(g, MOST_AT);
        load_input(g, 0, variable(g, 0));
        break;
    }
}
