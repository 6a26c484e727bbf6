/* The shape of a generated program: types, launch, memory, control flow, functions. */
#include "generate_internal.h"
#include "oracle/oracle.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void block(generator *g, int statements);
static bool is_tiny(const generator *g) { return (g->flags & GENERATE_TINY) != 0; }

static int new_counter(generator *g) {
    return g->next_counter > LAST_COUNTER ? -1 : g->next_counter++;
}

/* A trip count below limit (a power of two) that differs from lane to lane. */
static void varying_count(generator *g, int counter, uint32_t limit) {
    line(g, "mov_imm.u32 r%d, %u", counter, limit - 1);
    line(g, "and.u32 r%d, r%d, r%d", counter, variable(g, 0), counter);
}

/* Runs the body with the cost of that many rounds. */
static void inside(generator *g, uint32_t rounds, int statements) {
    double factor = g->factor;
    g->factor *= rounds;
    g->depth++;
    block(g, is_tiny(g) ? 1 + statements / 3 : statements);
    g->depth--;
    g->factor = factor;
}

static void branch(generator *g) {
    int otherwise = new_label(g), end = new_label(g), p = 6 + (int)pick(g, 2);
    if (chance(g, 30))
        any_predicate(g, &p);
    else
        set_condition(g, p);
    line(g, "bra.p%d @L%d", p, otherwise);
    inside(g, 1, 1 + (int)pick(g, 4));
    if (chance(g, 60)) {
        line(g, "bra @L%d", end);
        place_label(g, otherwise);
        inside(g, 1, 1 + (int)pick(g, 4));
        place_label(g, end);
    } else {
        place_label(g, otherwise);
    }
}

static void counted_loop(generator *g, bool uniform) {
    int counter = new_counter(g), head = new_label(g);
    if (counter < 0) return;
    uint32_t limit = chance(g, 70) ? 4 : 8;
    if (uniform && chance(g, 50)) {
        line(g, "loop r%d, %u", counter, pick(g, limit + 1));
        inside(g, limit, 1 + (int)pick(g, 4));
        line(g, "endloop");
        return;
    }
    if (uniform)
        line(g, "mov_imm.u32 r%d, %u", counter, pick(g, limit));
    else
        varying_count(g, counter, limit);
    bool wide = chance(g, 25);
    if (wide) line(g, "cvt.u64.u32 r%d, r%d", counter, counter);
    place_label(g, head);
    inside(g, limit, 1 + (int)pick(g, 4));
    line(g, "loop%s r%d, @L%d", wide ? ".u64" : "", counter, head);
}

/* while (counter != 0) { …; break?; continue?; …; counter -= 1 } */
static void while_loop(generator *g) {
    int counter = new_counter(g), head = new_label(g), next = new_label(g), end = new_label(g);
    if (counter < 0) return;
    uint32_t limit = chance(g, 70) ? 4 : 8;
    varying_count(g, counter, limit);
    place_label(g, head);
    line(g, "seteq.u32 p8, r%d, r%d", counter, R_ZERO);
    line(g, "bra.p8 @L%d", end);
    inside(g, limit, 1 + (int)pick(g, 3));
    if (chance(g, 50)) {
        set_condition(g, 6);
        line(g, "bra.p6 @L%d", chance(g, 50) ? end : next);
        inside(g, limit, 1 + (int)pick(g, 2));
    }
    place_label(g, next);
    line(g, "sub.u32 r%d, r%d, r%d", counter, counter, R_ONE);
    line(g, "bra @L%d", head);
    place_label(g, end);
}

/* A jump into the middle of a loop body, or two loops that enter each other. */
static void irreducible(generator *g) {
    int counter = new_counter(g), other = new_counter(g);
    int head = new_label(g), middle = new_label(g), end = new_label(g);
    if (counter < 0 || other < 0) return;
    varying_count(g, counter, 4);
    varying_count(g, other, 4);
    set_condition(g, 6);
    line(g, "bra.p6 @L%d", middle);
    place_label(g, head);
    inside(g, 8, 1 + (int)pick(g, 2));
    if (chance(g, 50)) {
        set_condition(g, 7);
        line(g, "bra.p7 @L%d", end);
    }
    place_label(g, middle);
    inside(g, 8, 1 + (int)pick(g, 2));
    line(g, "loop r%d, @L%d", counter, head);
    if (chance(g, 50)) line(g, "loop r%d, @L%d", other, middle);
    place_label(g, end);
}

static void call(generator *g) {
    if (g->first_callable >= g->function_count) return;
    int f = g->first_callable + (int)pick(g, (uint32_t)(g->function_count - g->first_callable));
    if (g->cost + g->factor * g->function_cost[f] > 2 * g->budget) return;
    line(g, "call @f%d", f);
    g->cost += g->factor * g->function_cost[f];
}

static void leave(generator *g) {
    int on = new_label(g);
    set_condition(g, 6);
    line(g, "bra.p6 @L%d", on);
    line(g, "exit");
    place_label(g, on);
}

static bool affordable(const generator *g) { return g->cost < g->budget && g->depth < 4; }

/* Statements that may differ from lane to lane. */
static void block(generator *g, int statements) {
    for (int i = 0; i < statements; i++) {
        uint32_t kind = pick(g, 100);
        if (g->cost > 2 * g->budget) return;
        if ((g->flags & GENERATE_VECTOR) && kind < 30)
            vector_statement(g);
        else if (kind < 58 || !affordable(g))
            compute(g);
        else if (kind < 72)
            memory(g);
        else if (kind < 80)
            branch(g);
        else if (kind < 85)
            counted_loop(g, chance(g, 30));
        else if (kind < 89)
            while_loop(g);
        else if (kind < 92)
            irreducible(g);
        else if (kind < 96)
            call(g);
        else if (kind < 97 && g->may_exit)
            leave(g);
        else
            compute(g);
    }
}

/* Statements in uniform control flow: everything above, and barriers and whole-array instructions
 * between. */
static void uniform_block(generator *g, int statements) {
    for (int i = 0; i < statements; i++) {
        uint32_t kind = pick(g, 100);
        if (g->cost > 2 * g->budget) return;
        if (kind < 15 && g->has_barriers) {
            exchange(g);
        } else if (kind < 30 && g->has_collectives) {
            collective(g);
        } else if (kind < 38 && g->depth < 2 && affordable(g) &&
                   !(g->wants_fault && g->has_collectives)) {
            /* (a plan ends a step at such a loop, which decides which of two faults comes first) */
            int counter = new_counter(g), head = new_label(g);
            if (counter < 0) continue;
            line(g, "mov_imm.u32 r%d, %u", counter, pick(g, 4));
            place_label(g, head);
            g->factor *= 4;
            g->depth++;
            uniform_block(g, 1 + (int)pick(g, 4));
            g->depth--;
            g->factor /= 4;
            line(g, "loop r%d, @L%d", counter, head);
        } else if (kind < 42 && g->has_barriers && g->function_cost[MAX_FUNCTIONS] > 0) {
            line(g, "call @f%d", MAX_FUNCTIONS);
            g->cost += g->factor * g->function_cost[MAX_FUNCTIONS];
        } else if (kind < 46 && g->wants_fault) {
            fault(g);
        } else {
            block(g, 1);
        }
    }
}

/* u32 and u64 always; the rest mostly native widths, now and then half precision and wide integers.
 */
static void choose_types(generator *g) {
    static const hg_type COMMON[] = {HG_TYPE_I8,  HG_TYPE_U8,  HG_TYPE_I16,
                                     HG_TYPE_U16, HG_TYPE_I32, HG_TYPE_I64,
                                     HG_TYPE_F32, HG_TYPE_F32, HG_TYPE_F64};
    static const hg_type HALF[] = {HG_TYPE_F16, HG_TYPE_BF16};
    static const hg_type WIDE[] = {HG_TYPE_I128, HG_TYPE_U128, HG_TYPE_I256, HG_TYPE_U256};
    static const hg_type WIDEST[] = {HG_TYPE_I512,  HG_TYPE_U512,  HG_TYPE_I1024, HG_TYPE_U1024,
                                     HG_TYPE_I2048, HG_TYPE_U2048, HG_TYPE_I4096, HG_TYPE_U4096};
    g->types[0] = HG_TYPE_U32;
    g->types[1] = HG_TYPE_U64;
    g->type_count = 2;
    bool is_short = (g->flags & GENERATE_SHORT) != 0;
    int wanted = is_short ? 2 + (int)pick(g, 2) : 3 + (int)pick(g, 4);
    while (g->type_count < wanted) {
        uint32_t kind = pick(g, is_tiny(g) ? 91 : is_short ? 92 : 100);
        hg_type t = kind < 80                                     ? COMMON[pick(g, 9)]
                    : kind < 90                                   ? HALF[pick(g, 2)]
                    : kind < 96                                   ? WIDE[pick(g, 4)]
                    : (g->flags & GENERATE_DEEP) || chance(g, 30) ? WIDEST[pick(g, 8)]
                                                                  : HG_TYPE_F64;
        bool present = false;
        for (int i = 0; i < g->type_count; i++) present = present || g->types[i] == t;
        if (present)
            wanted--;
        else
            g->types[g->type_count++] = t;
    }
}

static uint32_t widest(const generator *g) {
    uint32_t size = 8;
    for (int t = 0; t < g->type_count; t++)
        if (oracle_size(g->types[t]) > size) size = oracle_size(g->types[t]);
    return size;
}

/* One to three dimensions, few lanes, sometimes an exact number of lanes that leaves the last block
 * incomplete. */
static void choose_launch(generator *g) {
    ref_launch *l = &g->c->launch;
    uint32_t most = widest(g) > 64 ? 8 : widest(g) > 8 ? 24 : 96, dimensions = 1 + pick(g, 3);
    if (g->flags & GENERATE_VECTOR) most = most < 96 ? 5 * most : SCATTER_LANES / 2;
    if ((g->flags & GENERATE_ROUNDS) && most > 8 && chance(g, 70))
        most = 8; /* the fewer lanes, the more rounds */
    *l = (ref_launch){.grid = {1, 1, 1}, .block = {1, 1, 1}};
    for (uint32_t d = 0; d < dimensions; d++) {
        uint32_t block_lanes = l->block[0] * l->block[1] * l->block[2],
                 blocks = l->grid[0] * l->grid[1] * l->grid[2];
        uint32_t room = most / (block_lanes * blocks);
        if (room > 1) l->block[d] = 1 + pick(g, room > 32 ? 32 : room);
        room /= l->block[d];
        if (room > 1) l->grid[d] = 1 + pick(g, room > 5 ? 5 : room);
    }
    if (dimensions == 1 && widest(g) == 8 && chance(g, 8))
        l->block[0] = 200 + pick(g, 100), l->grid[0] = 1 + pick(g, 2);
    if ((g->flags & GENERATE_VECTOR) && l->block[0] >= 200) l->grid[0] = 1;
    g->block_lanes = (uint64_t)l->block[0] * l->block[1] * l->block[2];
    g->lanes = g->block_lanes * l->grid[0] * l->grid[1] * l->grid[2];
    if (g->lanes > 1 && chance(g, 40))
        g->lanes = l->lanes = g->lanes -
                              pick(g, (uint32_t)(g->block_lanes < g->lanes ? g->block_lanes
                                                                           : g->lanes));
    g->budget = 60000.0 / (double)g->lanes;
    if (g->budget > 1500) g->budget = 1500;
    if (g->flags & GENERATE_DEEP) g->budget *= 4;
    if (g->flags & GENERATE_ROUNDS) g->budget /= 8;
}

static void add_slot(generator *g, slot_place place, int type) {
    uint32_t size = oracle_size(g->types[type]), *stride = &g->stride[place];
    bool aligned = chance(g, 85);
    if (g->slot_count == MAX_SLOTS) return;
    if (aligned)
        *stride = (*stride + 7) / 8 * 8;
    else
        *stride += pick(g, 4);
    g->slots[g->slot_count++] = (slot){place, *stride, type, aligned && size >= 4};
    *stride += size;
}

static void choose_memory(generator *g) {
    for (int t = 0; t < g->type_count; t++)
        for (int v = 0; v < variables(g); v++)
            add_slot(g, IN_OUT, t); /* each variable is stored at the end */
    for (int i = 0; i < 4; i++) add_slot(g, IN_OUT, any_type(g));
    g->has_private = chance(g, 30);
    g->has_pool = chance(g, 30);
    g->has_classes = chance(g, 20);
    for (int i = 0; i < 3 && g->has_pool; i++) add_slot(g, IN_POOL, any_type(g));
    for (int i = 0; i < 2 && g->has_classes; i++) add_slot(g, IN_CLASS, any_type(g));
    for (int place = 0; place < 3; place++) g->stride[place] = (g->stride[place] + 7) / 8 * 8;
    if (g->has_classes && g->stride[IN_CLASS] * g->lanes > 12288) { /* too many lanes for one class
                                                                     */
        while (g->slots[g->slot_count - 1].place == IN_CLASS) g->slot_count--;
        g->has_classes = false;
    }
    g->has_atomics = chance(g, 50);
    g->has_barriers = chance(g, 40) && g->block_lanes <= 1024;
    g->has_collectives = chance(g, is_tiny(g) ? 8 : 35);
    g->may_exit = !g->has_collectives && chance(g, 50);
    g->shared_type = g->xch = -1;
    if (g->has_barriers) {
        g->shared_type = any_type(g);
        while (oracle_size(g->types[g->shared_type]) > 16) g->shared_type = 0;
        g->shared_slot = 4;
    }
    if (g->has_collectives) g->xch = any_type(g);
}

static void prologue(generator *g) {
    line(g, "mov_imm.u64 r%d, %u", R_OWN, g->stride[IN_OUT]);
    if (g->c->racy) {
        line(g, "mov_imm.u64 r%d, 1", R_T1);
        line(g, "and.u64 r%d, r255, r%d", R_T1, R_T1);
        line(g, "mul.u64 r%d, r%d, r%d", R_OWN, R_T1, R_OWN);
    } else {
        line(g, "mul.u64 r%d, r255, r%d", R_OWN, R_OWN);
    }
    line(g, "mov_imm.u64 r%d, %d", R_MASK, INPUT_MASK);
    line(g, "mov_imm.u64 r%d, 8388607", R_FLAT_MASK);
    line(g, "mov_imm.u32 r%d, 0", R_ZERO);
    line(g, "mov_imm.u32 r%d, 1", R_ONE);
    if (g->has_pool) line(g, "mov_imm.u64 r%d, %u", R_POOL_AT, g->stride[IN_POOL]);
    if (g->has_pool) line(g, "mul.u64 r%d, r255, r%d", R_POOL_AT, R_POOL_AT);
    if (g->has_classes) line(g, "mov_imm.u64 r%d, %u", R_CLASS_AT, g->stride[IN_CLASS]);
    if (g->has_classes) line(g, "mul.u64 r%d, r255, r%d", R_CLASS_AT, R_CLASS_AT);
    if (g->xch >= 0) line(g, "mov_imm.u64 r%d, %u", R_XCH_AT, oracle_size(g->types[g->xch]));
    if (g->xch >= 0) line(g, "mul.u64 r%d, r255, r%d", R_XCH_AT, R_XCH_AT);
    if (g->has_barriers) { /* lane in block = x + bx (y + by z) */
        line(g, "rdid r%d, lane_idx_z", R_LOCAL);
        line(g, "rdid r%d, block_dim_y", R_T0);
        line(g, "rdid r%d, lane_idx_y", R_SHARED);
        line(g, "mad.u32 r%d, r%d, r%d, r%d", R_LOCAL, R_LOCAL, R_T0, R_SHARED);
        line(g, "mad.u32 r%d, r%d, r254, r252", R_LOCAL, R_LOCAL);
        line(g, "mov_imm.u32 r%d, %u", R_T0, g->shared_slot);
        line(g, "shl.u32 r%d, r%d, r%d", R_SHARED, R_LOCAL, R_T0);
    }
    for (int v = 0; v < variables(g); v++) { /* offsets that differ from lane to lane come first */
        line(g, "mov_imm.u64 r%d, %u", R_VARIABLES + VARIABLES + v, 3 + 2 * pick(g, 40));
        line(g, "mul.u64 r%d, r255, r%d", R_VARIABLES + VARIABLES + v, R_VARIABLES + VARIABLES + v);
    }
    for (int t = 0; t < g->type_count; t++)
        for (int v = 0; v < variables(g); v++) {
            if (t == 1) continue;
            if (chance(g, is_tiny(g) ? 40 : 70))
                load_input(g, t, R_VARIABLES + t * VARIABLES + v);
            else
                line(g, "mov_imm.%s r%d, %s", type_text(g, t), R_VARIABLES + t * VARIABLES + v,
                     literal(g, g->types[t]));
        }
    load_input(g, 1, R_VARIABLES + VARIABLES);
    for (int p = 0; p < predicates(g); p++) set_condition(g, p);
}

static void epilogue(generator *g) {
    for (int i = 0; i < g->type_count * variables(g); i++)
        line(g, "stg.%s [r%d + r%d + %u], r%d", type_text(g, g->slots[i].type), R_OUT, R_OWN,
             g->slots[i].offset, R_VARIABLES + i / variables(g) * VARIABLES + i % variables(g));
    if (g->function_count || g->function_cost[MAX_FUNCTIONS] > 0 ||
        g->functions[MAX_FUNCTIONS + 1].length || chance(g, 80))
        line(g, "exit");
}

/* Functions are made last to first, so that the cost of what they call is known. */
static void make_functions(generator *g) {
    double budget = g->budget;
    bool is_short = (g->flags & GENERATE_SHORT) != 0;
    g->function_count = chance(g, is_short ? 25 : 50)
                            ? 1 + (int)pick(g, is_short ? 2 : MAX_FUNCTIONS)
                            : 0;
    if (is_tiny(g)) g->function_count = chance(g, 10);
    g->budget = budget / 10;
    for (int f = g->function_count; f-- > 0;) {
        g->to = &g->functions[f];
        g->cost = 0;
        g->first_callable = f + 1;
        add_text(g->to, "f%d:\n", f);
        block(g, 1 + (int)pick(g, is_short ? 3 : 8));
        line(g, "ret");
        g->function_cost[f] = g->cost;
    }
    if (g->has_barriers && chance(g, 30)) { /* called in uniform flow only */
        g->to = &g->functions[MAX_FUNCTIONS];
        g->cost = 0;
        g->first_callable = 0;
        add_text(g->to, "f%d:\n", MAX_FUNCTIONS);
        block(g, 1);
        exchange(g);
        block(g, 1);
        line(g, "ret");
        g->function_cost[MAX_FUNCTIONS] = g->cost;
    }
    g->budget = budget;
    g->first_callable = 0;
    g->cost = 0;
    g->to = &g->body;
}

static bool random_array(generator *g, const char *name, uint64_t size, bool zero) {
    case_array *a = case_add_array(g->c, name, HG_TYPE_U8, NULL, size);
    for (uint64_t i = 0; a && !zero && i < size; i++) a->bytes[i] = (uint8_t)random_bits(g);
    return a != NULL;
}

/* Plain values every now and then, so that not all floats are huge or tiny. */
static void season(generator *g, case_array *a) {
    for (uint64_t at = 0; at + 8 <= a->size; at += 8) {
        float f = (float)((int32_t)pick(g, 2001) - 1000) / 8;
        double d = (double)f * 3;
        uint32_t kind = pick(g, 6);
        if (kind == 0) memcpy(a->bytes + at, &f, sizeof f);
        if (kind == 1) memcpy(a->bytes + at, &d, sizeof d);
        if (kind == 2) memset(a->bytes + at + 1, 0, 7);
    }
}

static void describe_slots(const generator *g, case_array *a, slot_place place) {
    a->stride = g->stride[place];
    for (int i = 0; i < g->slot_count && a->field_count < CASE_FIELDS; i++)
        if (g->slots[i].place == place)
            a->fields[a->field_count++] = (case_field){g->slots[i].offset,
                                                       g->types[g->slots[i].type]};
}

static bool make_arrays(generator *g) {
    run_case *c = g->c;
    bool ok = random_array(g, "input", INPUT_BYTES, false);
    if (ok) season(g, &c->arrays[0]);
    ok = ok && random_array(g, "output", g->stride[IN_OUT] * g->lanes, true);
    if (ok) describe_slots(g, &c->arrays[1], IN_OUT);
    ok = ok && random_array(g, "totals", 256, false);
    if (ok && g->has_collectives) {
        uint64_t size = g->lanes * oracle_size(g->types[g->xch]);
        ok = random_array(g, "exchange", size, true) && random_array(g, "result", size, true);
        if (ok) c->arrays[3].type = c->arrays[4].type = g->types[g->xch];
        if (ok && g->scratch) {
            c->arrays[3].scratch = true;
            memset(c->arrays[3].bytes, 0, size);
        }
    }
    if (ok && g->has_pool) {
        ok = random_array(g, "pool", g->stride[IN_POOL] * g->lanes, true);
        if (ok)
            c->arrays[c->array_count - 1].pool = true,
                                       describe_slots(g, &c->arrays[c->array_count - 1], IN_POOL);
    }
    if (ok && (g->flags & GENERATE_VECTOR))
        ok = random_array(g, "scattered", SCATTER_SITES * SCATTER_LANES * 8, false) &&
             random_array(g, "places", 15 * PLACES, true);
    if (ok && (g->flags & GENERATE_VECTOR)) fill_places(g, c->arrays[c->array_count - 1].bytes);
    if (g->has_collectives) case_add_scalar(c, "n", HG_TYPE_U64, g->lanes);
    return ok;
}

static bool assemble_text(generator *g, uint64_t seed) {
    text t = {0};
    add_text(&t, ".atlas 1\n.program seed_%llu\n", (unsigned long long)seed);
    add_text(&t,
             ".param r%d input buffer u8 in [%d]\n.param r%d output buffer u8 inout\n.param r%d "
             "totals buffer u8 inout\n",
             R_IN, INPUT_BYTES, R_OUT, R_ACC);
    if (g->has_collectives && g->scratch)
        add_text(&t, ".scratch r%d exchange %s [%llu]\n", R_XCH, type_text(g, g->xch),
                 (unsigned long long)g->lanes);
    else if (g->has_collectives)
        add_text(&t, ".param r%d exchange buffer %s inout\n", R_XCH, type_text(g, g->xch));
    if (g->has_collectives)
        add_text(&t, ".param r%d result buffer %s inout\n", R_RES, type_text(g, g->xch));
    if (g->has_pool)
        add_text(&t, ".param r%d pool pool %llu\n", R_POOL,
                 (unsigned long long)(g->stride[IN_POOL] * g->lanes));
    if (g->has_collectives) add_text(&t, ".param r%d n u64\n", R_N);
    if (g->flags & GENERATE_VECTOR)
        add_text(&t, ".param r%d scattered buffer u8 inout\n.param r%d places buffer u8 in\n",
                 R_SCATTER, R_PLACES);
    uint32_t own = 0;
    for (int i = 0; i < g->type_count; i++) own += (4 * oracle_size(g->types[i]) + 7) / 8 * 8;
    if (g->has_private) add_text(&t, ".private %u\n", own);
    if (g->has_barriers)
        add_text(&t, ".shared %llu\n",
                 (unsigned long long)((g->block_lanes << g->shared_slot) + 16));
    text *parts[MAX_FUNCTIONS + 3] = {&g->body};
    for (int f = 0; f <= MAX_FUNCTIONS + 1; f++) parts[f + 1] = &g->functions[f];
    for (int i = 0; i < MAX_FUNCTIONS + 3; i++) {
        if (parts[i]->length) {
            char *data = realloc(t.data, t.length + parts[i]->length + 1);
            if (!data)
                t.failed = true;
            else
                t.data = data, memcpy(data + t.length, parts[i]->data, parts[i]->length + 1),
                t.length += parts[i]->length, t.capacity = t.length + 1;
        }
        t.failed = t.failed || parts[i]->failed;
        free(parts[i]->data);
    }
    g->c->text = t.data;
    g->c->length = t.length;
    return !t.failed;
}

bool generate_case(uint64_t seed, uint32_t flags, run_case *c) {
    generator g = {.state = seed,
                   .flags = flags,
                   .c = c,
                   .factor = 1,
                   .next_counter = FIRST_COUNTER,
                   .scratch = seed % 8 == 5};
    memset(c, 0, sizeof *c);
    choose_types(&g);
    choose_launch(&g);
    choose_memory(&g);
    g.wants_fault = (flags & GENERATE_FAULTS) != 0;
    c->racy = (flags & GENERATE_RACY) != 0 && g.lanes > 1;
    bool may_be_long = (flags & GENERATE_VECTOR) != 0 && !is_tiny(&g),
         lives = may_be_long && seed % 20 == 3;
    if (!lives) make_functions(&g);
    g.to = &g.body;
    if (!lives) prologue(&g);
    g.cost = 0;
    if (lives)
        live_program(&g);
    else if (is_tiny(&g))
        uniform_block(&g, chance(&g, 70) ? 1 : 2);
    else if (flags & GENERATE_SHORT)
        uniform_block(&g, 2 + (int)pick(&g, 6));
    else
        uniform_block(&g, 6 + (int)pick(&g, (flags & GENERATE_DEEP) ? 60 : 24));
    if (may_be_long && seed % 40 == 11) long_row(&g);
    if ((flags & GENERATE_ROUNDS) && !lives) many_rounds(&g);
    c->cleared_class = g.has_classes ? 5 : 96;
    if (g.wants_fault && !lives) fault(&g);
    if (!lives) epilogue(&g);
    bool ok = make_arrays(&g);
    ok = assemble_text(&g, seed) && ok;
    if (!ok) case_free(c);
    return ok;
}
