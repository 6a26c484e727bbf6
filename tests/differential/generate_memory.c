/* Loads, stores, atomics, exchanges through shared memory, whole-array instructions, and faults. */
#include "generate_internal.h"
#include "oracle/oracle.h"

#include <stdio.h>

/* The suffix of a load of a type: sometimes of one that widens a narrower element. Valid until four
 * more are asked for. */
static const char *element_text(generator *g, hg_op op, hg_type wide) {
    static char texts[4][16];
    static unsigned next;
    hg_type narrow = (hg_type)pick(g, HG_TYPE_COUNT);
    if (!hg_op_allows_types(op, wide, narrow) || chance(g, 40)) return hg_type_name(wide);
    char *suffix = texts[next++ % 4];
    snprintf(suffix, sizeof texts[0], "%s.%s", hg_type_name(wide), hg_type_name(narrow));
    return suffix;
}

/* Anywhere in the input: a masked variable as offset, by one of the address forms. */
void load_input(generator *g, int type, int reg) {
    const char *name = element_text(g, HG_OP_LDG_WIDE, g->types[type]);
    line(g, "and.u64 r%d, r%d, r%d", R_OFFSET, variable(g, 1), R_MASK);
    uint32_t shift = pick(g, 5),
             scale = (1u << shift) - pick(g, 2) * pick(g, 1u << shift); /* at
                                                                           most
                                                                           2^shift
                                                                         */
    uint32_t form = pick(g, 8);
    switch (form) {
    case 7: { /* of an array of u8 with its extents */
        hg_type wide = g->types[type];
        bool fits = hg_op_allows_types(HG_OP_LDG_WIDE, wide, HG_TYPE_U8);
        line(g, "axis.u64 r%d, r%d, [buf(r%d) + 0], %u", R_T1, R_OFFSET, R_IN,
             chance(g, 50) ? 0 : HG_ALL_AXES);
        line(g, "ldg.%s%s r%d, [r%d + r%d]", hg_type_name(wide), fits ? ".u8" : "", reg, R_IN,
             R_T1);
        break;
    }
    case 5:
        line(g, "mov_imm.u32 r%d, %u", R_T0, shift);
        line(g, "shr.u64 r%d, r%d, r%d", R_T1, R_OFFSET, R_T0);
        line(g, "ldg.%s r%d, [r%d + r%d*%u + %u]", name, reg, R_IN, R_T1, scale, pick(g, 64));
        break;
    case 6:
        line(g, "mov_imm.u32 r%d, %u", R_T0, shift);
        line(g, "shr.u64 r%d, r%d, r%d", R_T1, R_OFFSET, R_T0);
        line(g, "cvt.u32.u64 r%d, r%d", R_T0, R_T1);
        line(g, "ldg.%s r%d, [buf(r%d) + r%d*%u]", name, reg, R_IN, R_T0, scale);
        break;
    case 0: line(g, "ldg.%s r%d, [buf(r%d) + %u]", name, reg, R_IN, pick(g, INPUT_MASK)); break;
    case 1: line(g, "ldg.%s r%d, [r%d + r%d + %u]", name, reg, R_IN, R_OFFSET, pick(g, 64)); break;
    case 2: /* flat: the handle's index at bit 40 */
        line(g, "and.u64 r%d, r%d, r%d", R_FLAT, R_IN, R_FLAT_MASK);
        line(g, "mov_imm.u32 r%d, 40", R_T0);
        line(g, "shl.u64 r%d, r%d, r%d", R_FLAT, R_FLAT, R_T0);
        line(g, "add.u64 r%d, r%d, r%d", R_FLAT, R_FLAT, R_OFFSET);
        line(g, "ldg.%s r%d, [r%d + %u]", name, reg, R_FLAT, pick(g, 32));
        break;
    case 3:
        line(g, "cvt.u32.u64 r%d, r%d", R_T0, R_OFFSET);
        line(g, "ldg.%s r%d, [r%d + r%d]", name, reg, R_IN, R_T0);
        break;
    default: line(g, "ldg.%s r%d, [r%d + r%d]", name, reg, R_IN, R_OFFSET); break;
    }
}

/* Slots of pools and classes come last and are few; they are used as often as the others. */
static const slot *any_slot(generator *g) {
    uint32_t last = g->slot_count < 9 ? (uint32_t)g->slot_count : 9;
    return chance(g, 50) ? &g->slots[pick(g, (uint32_t)g->slot_count)]
                         : &g->slots[(uint32_t)g->slot_count - 1 - pick(g, last)];
}

static void store_slot(generator *g, const slot *s) {
    const char *name = type_text(g, s->type);
    int from = variable(g, s->type), t = any_type(g);
    if (s->place == IN_OUT &&
        hg_op_allows_types(HG_OP_STG_NARROW, g->types[s->type], g->types[t])) {
        line(g, "stg.%s.%s [r%d + r%d + %u], r%d", name, type_text(g, t), R_OUT, R_OWN, s->offset,
             variable(g, t));
    } else if (s->place == IN_OUT) {
        line(g, "stg.%s [r%d + r%d + %u], r%d", name, R_OUT, R_OWN, s->offset, from);
    } else if (s->place == IN_CLASS) {
        line(g, "stg.%s [class%u + r%d + %u], r%d", name, 5, R_CLASS_AT, s->offset, from);
    } else if (chance(g, 50)) {
        line(g, "stg.%s [pool(r%d) + r%d + %u], r%d", name, R_POOL, R_POOL_AT, s->offset, from);
    } else {
        line(g, "mov_imm.u64 r%d, %u", R_T1, s->offset);
        line(g, "add.u64 r%d, r%d, r%d", R_T1, R_T1, R_POOL_AT);
        line(g, "pool.store.%s r%d, r%d, r%d", name, R_POOL, R_T1, from);
    }
}

static void load_slot(generator *g, const slot *s) {
    const char *name = type_text(g, s->type);
    int to = variable(g, s->type);
    if (s->place == IN_OUT) {
        line(g, "ldg.%s r%d, [r%d + r%d + %u]", name, to, R_OUT, R_OWN, s->offset);
    } else if (s->place == IN_CLASS) {
        line(g, "ldg.%s r%d, [class%u + r%d + %u]", name, to, 5, R_CLASS_AT, s->offset);
    } else if (chance(g, 50)) {
        line(g, "ldg.%s r%d, [pool(r%d) + r%d + %u]", name, to, R_POOL, R_POOL_AT, s->offset);
    } else {
        line(g, "mov_imm.u64 r%d, %u", R_T1, s->offset);
        line(g, "add.u64 r%d, r%d, r%d", R_T1, R_T1, R_POOL_AT);
        line(g, "pool.load.%s r%d, r%d, r%d", name, to, R_POOL, R_T1);
    }
}

static bool is_atomic(hg_type type) {
    return type == HG_TYPE_I32 || type == HG_TYPE_U32 || type == HG_TYPE_I64 || type == HG_TYPE_U64;
}

/* Totals in the accumulator array: 8 bytes for each of six operations and four types, then a
 * histogram of eight u32. */
static void shared_atomic(generator *g) {
    static const char *const NAMES[] = {"add", "min", "max", "and", "or", "xor"};
    int t = any_type_where(g, is_atomic);
    uint32_t op = pick(g, 6), kind = g->types[t] == HG_TYPE_U32   ? 0
                                     : g->types[t] == HG_TYPE_U64 ? 1
                                     : g->types[t] == HG_TYPE_I32 ? 2
                                                                  : 3;
    int old = R_OLD + (int)kind;
    if (chance(g, 70)) {
        line(g, "atom.%s.%s r%d, [buf(r%d) + %u], r%d", NAMES[op], type_text(g, t), old, R_ACC,
             8 * (op * 4 + kind), variable(g, t));
        return;
    }
    line(g, "mov_imm.u64 r%d, 28", R_T1);
    line(g, "and.u64 r%d, r%d, r%d", R_T1, variable(g, 1), R_T1);
    line(g, "atom.add.u32 r%d, [r%d + r%d + 192], r%d", R_OLD, R_ACC, R_T1, variable(g, 0));
}

/* On a slot of its own a lane may also exchange, compare and look at the old value. */
static void own_atomic(generator *g) {
    static const char *const NAMES[] = {"add", "min", "max", "and", "or", "xor", "exch"};
    const slot *s = any_slot(g);
    if (!s->aligned || s->place != IN_OUT || !is_atomic(g->types[s->type])) return;
    const char *name = type_text(g, s->type);
    int old = variable(g, s->type);
    if (chance(g, 25))
        line(g, "atom.cas.%s r%d, [r%d + r%d + %u], r%d, r%d", name, old, R_OUT, R_OWN, s->offset,
             variable(g, s->type), variable(g, s->type));
    else
        line(g, "atom.%s.%s r%d, [r%d + r%d + %u], r%d", NAMES[pick(g, 7)], name, old, R_OUT, R_OWN,
             s->offset, variable(g, s->type));
}

/* Four elements of each type, chosen by a variable. */
static void private_memory(generator *g) {
    int t = any_type(g);
    uint32_t base = 0;
    for (int i = 0; i < t; i++) base += (4 * oracle_size(g->types[i]) + 7) / 8 * 8;
    line(g, "mov_imm.u64 r%d, 3", R_PRIVATE_AT);
    line(g, "and.u64 r%d, r%d, r%d", R_PRIVATE_AT, variable(g, 1), R_PRIVATE_AT);
    if (chance(g, 50))
        line(g, "stp.%s [private + r%d*%u + %u], r%d", type_text(g, t), R_PRIVATE_AT,
             oracle_size(g->types[t]), base, variable(g, t));
    else
        line(g, "ldp.%s r%d, [private + r%d*%u + %u]", type_text(g, t), variable(g, t),
             R_PRIVATE_AT, oracle_size(g->types[t]), base);
}

void memory(generator *g) {
    static const char *const SCOPES[] = {"thread", "block", "device", "system"};
    int t = any_type(g);
    switch (pick(g, g->has_private ? 12 : 10)) {
    case 10:
    case 11: private_memory(g); break;
    case 0:
    case 1:
    case 2:
    case 3: load_input(g, t, variable(g, t)); break;
    case 4:
    case 5: store_slot(g, any_slot(g)); break;
    case 6: load_slot(g, any_slot(g)); break;
    case 7:
        if (g->has_atomics) shared_atomic(g);
        break;
    case 8:
        if (g->has_atomics) own_atomic(g);
        break;
    default:
        if (chance(g, 30)) line(g, "memfence.%s", SCOPES[pick(g, 4)]);
        break;
    }
}

static void barrier(generator *g) { line(g, "bar.sync %d", g->next_barrier++ % 16); }

/* Every lane writes its shared slot, then reads one of another lane; the second barrier protects
 * the next write. */
static void swap_slots(generator *g) {
    int t = g->shared_type;
    line(g, "sts.%s [shared + r%d], r%d", type_text(g, t), R_SHARED, variable(g, t));
    barrier(g);
    line(g, "mov_imm.u32 r%d, %u", R_T0, 1 + 2 * pick(g, 4));
    line(g, "mov_imm.u32 r%d, %u", R_SCRATCH + 7, pick(g, 8));
    line(g, "mad.u32 r%d, r%d, r%d, r%d", R_T0, R_LOCAL, R_T0, R_SCRATCH + 7);
    line(g, "mov_imm.u32 r%d, %llu", R_SCRATCH + 7, (unsigned long long)g->block_lanes);
    line(g, "rem.u32 r%d, r%d, r%d", R_T0, R_T0, R_SCRATCH + 7);
    line(g, "mov_imm.u32 r%d, %u", R_SCRATCH + 7, g->shared_slot);
    line(g, "shl.u32 r%d, r%d, r%d", R_T0, R_T0, R_SCRATCH + 7);
    line(g, "lds.%s r%d, [shared + r%d]", type_text(g, t), variable(g, t), R_T0);
    barrier(g);
}

/* A total of the block: 16 bytes behind the slots, added to by the lanes that want to, then read by
 * all. What shared memory holds after a whole-array instruction is not relied on: there the total
 * starts again from zero. */
static void block_total(generator *g) {
    static const char *const NAMES[] = {"add", "xor"};
    uint32_t at = (uint32_t)(g->block_lanes << g->shared_slot), op = pick(g, 2);
    int skip = new_label(g);
    if (g->has_collectives) {
        int others = new_label(g);
        line(g, "setne.u32 p6, r%d, r%d", R_LOCAL, R_ZERO);
        line(g, "bra.p6 @L%d", others);
        line(g, "sts.u32 [shared + %u], r%d", at + 4 * op, R_ZERO);
        place_label(g, others);
        barrier(g);
    }
    set_condition(g, 6);
    line(g, "bra.p6 @L%d", skip);
    line(g, "atom.%s.u32 r%d, [shared + %u], r%d", NAMES[op], R_OLD, at + 4 * op, variable(g, 0));
    place_label(g, skip);
    barrier(g);
    line(g, "lds.u32 r%d, [shared + %u]", variable(g, 0), at + 4 * op);
    barrier(g);
}

/* An instruction on the lanes of the block, those that have not left. */
static void together(generator *g) {
    static const char *const FOLDS[] = {"add", "min", "max", "mul", "and", "or", "xor"};
    bool bits = chance(g, 30);
    int t = bits ? any_type_where(g, is_integer) : any_type(g), from = variable(g, t),
        to = variable(g, t);
    const char *name = type_text(g, t), *fold = FOLDS[pick(g, bits ? 7 : 4)];
    if (chance(g, 25)) {
        int p, q;
        any_predicate(g, &p);
        any_predicate(g, &q);
        line(g, "block.%s p%d, p%d", chance(g, 50) ? "any" : "all", p, q);
        g->cost += g->factor * 40;
        return;
    }
    switch (pick(g, 5)) {
    case 0:
    case 1: line(g, "breduce.%s.%s r%d, r%d", fold, name, to, from); break;
    case 2:
        line(g, "bscan.%s.%s r%d, r%d%s", fold, name, to, from,
             chance(g, 40) ? ", exclusive=true" : "");
        break;
    case 3:
        line(g, "shuffle.%s r%d, r%d, %u", name, to, from, pick(g, (uint32_t)g->block_lanes + 2));
        break;
    default:
        line(g, "mov_imm.u32 r%d, %u", R_SCRATCH + 7, 1 + pick(g, 4));
        line(g, "xor.u32 r%d, r%d, r%d", R_T0, R_LOCAL, R_SCRATCH + 7);
        line(g, "shuffle.%s r%d, r%d, r%d", name, to, from, R_T0);
        break;
    }
    g->cost += g->factor * 40;
}

void exchange(generator *g) {
    int skip = -1;
    if (chance(g, 25)) { /* only some blocks */
        skip = new_label(g);
        line(g, "mov_imm.u32 r%d, %u", R_SCRATCH + 7, pick(g, 3));
        line(g, "seteq.u32 p6, r253, r%d", R_SCRATCH + 7);
        line(g, "bra.p6 @L%d", skip);
    }
    if (chance(g, 40))
        together(g);
    else if (chance(g, 70))
        swap_slots(g);
    else
        block_total(g);
    if (skip >= 0) place_label(g, skip);
}

static const char *reduce_name(generator *g) {
    static const char *const NAMES[] = {"sum", "product", "min", "max"};
    return NAMES[pick(g, 4)];
}

static void map(generator *g) {
    static const char *const UNARY[] = {"abs",   "neg",   "relu", "ceil",
                                        "floor", "round", "sqrt", "reciprocal"};
    static const char *const BINARY[] = {"add", "sub", "mul", "min", "max", "div"};
    bool floats = is_float(g->types[g->xch]);
    const char *name = type_text(g, g->xch);
    uint32_t size = oracle_size(g->types[g->xch]), less = g->lanes > 1;
    switch (pick(g, 6)) {
    case 0:
    case 1:
        line(g, "parallel_map.%s r%d, r%d, %s, r%d", name, R_RES, R_XCH,
             UNARY[pick(g, floats ? 8 : 6)], R_N);
        break;
    case 2:
        line(g, "parallel_map.%s r%d, r%d, %s, %llu", name, R_RES, R_RES,
             UNARY[pick(g, floats ? 8 : 6)], (unsigned long long)g->lanes);
        break;
    case 3: /* overlapping by all but one element */
        line(g, "parallel_map.%s [buf(r%d) + %u], [buf(r%d) + 0], neg, %llu", name, R_RES,
             less * size, R_RES, (unsigned long long)(g->lanes - less));
        break;
    default:
        line(g, "parallel_map_binary.%s r%d, r%d, r%d, %s, r%d", name, R_RES, R_XCH, R_RES,
             BINARY[pick(g, floats ? 6 : 5)], R_N);
        break;
    }
}

static void reduce(generator *g) {
    static const char *const NAMES[] = {"add", "min", "max", "mul"};
    const char *name = type_text(g, g->xch);
    int to = variable(g, g->xch);
    switch (pick(g, 4)) {
    case 0:
        line(g, "reduce.%s.%s r%d, [buf(r%d) + 0], r%d", NAMES[pick(g, 4)], name, to, R_XCH, R_N);
        break;
    case 1:
        line(g, "parallel_reduce.%s [buf(r%d) + 0], r%d, %s, %u", name, R_RES, R_XCH,
             reduce_name(g), pick(g, (uint32_t)g->lanes + 1));
        break;
    default:
        line(g, "parallel_reduce.%s r%d, r%d, %s, r%d", name, to, chance(g, 70) ? R_XCH : R_RES,
             reduce_name(g), R_N);
        break;
    }
}

/* Each lane writes its element of the exchange array and reads one of any lane; the second bar.grid
 * protects the next write. Shared memory is zero in between. */
static void grid_exchange(generator *g) {
    const char *name = type_text(g, g->xch);
    line(g, "bar.grid");
    line(g, "rem.u64 r%d, r%d, r%d", R_OFFSET, variable(g, 1), R_N);
    line(g, "mov_imm.u64 r%d, %u", R_T1, oracle_size(g->types[g->xch]));
    line(g, "mul.u64 r%d, r%d, r%d", R_OFFSET, R_OFFSET, R_T1);
    line(g, "ldg.%s r%d, [r%d + r%d]", name, variable(g, g->xch), R_XCH, R_OFFSET);
    if (g->has_barriers && chance(g, 30))
        line(g, "lds.%s r%d, [shared + r%d]", type_text(g, g->shared_type),
             variable(g, g->shared_type), R_SHARED);
    line(g, "bar.grid");
}

/* Each lane writes its element of the exchange array; whole-array instructions turn that into the
 * result array, which no lane writes. */
void collective(generator *g) {
    line(g, "stg.%s [r%d + r%d], r%d", type_text(g, g->xch), R_XCH, R_XCH_AT, variable(g, g->xch));
    g->cost += g->factor * 4;
    if (chance(g, 35)) {
        grid_exchange(g);
        return;
    }
    if (chance(g, 50))
        map(g);
    else
        reduce(g);
    if (!chance(g, 60)) return;
    line(g, "rem.u64 r%d, r%d, r%d", R_OFFSET, variable(g, 1), R_N);
    line(g, "mov_imm.u64 r%d, %u", R_T1, oracle_size(g->types[g->xch]));
    line(g, "mul.u64 r%d, r%d, r%d", R_OFFSET, R_OFFSET, R_T1);
    line(g, "ldg.%s r%d, [r%d + r%d]", type_text(g, g->xch), variable(g, g->xch), R_RES, R_OFFSET);
}

static void one_fault(generator *g) {
    int t = any_type_where(g, is_integer);
    uint32_t kind = pick(g, 8);
    switch (kind) {
    case 0:
    case 1:
        line(g, "mov_imm.%s r%d, 0", type_text(g, t), R_SCRATCH + t);
        line(g, "%s.%s r%d, r%d, r%d", chance(g, 50) ? "div" : "rem", type_text(g, t),
             variable(g, t), variable(g, t), R_SCRATCH + t);
        break;
    case 2:
        line(g, "mov_imm.u64 r%d, %llu", R_T1,
             (unsigned long long)(random_bits(g) >> pick(g, 40) | 65536));
        if (chance(g, 50))
            line(g, "ldg.%s r%d, [r%d + r%d]", type_text(g, t), variable(g, t), R_IN, R_T1);
        else
            line(g, "ldg.%s r%d, [r%d + r%d*%u - %u]", type_text(g, t), variable(g, t), R_IN, R_T1,
                 2 + pick(g, 12), pick(g, 9));
        break;
    case 3:
        line(g, "ldg.%s r%d, [buf(r%d) - %u]", type_text(g, t), variable(g, t), R_IN,
             1 + pick(g, 8));
        break;
    case 4:
        line(g, "mov_imm.u64 r%d, 4000000", R_T1);
        line(g, "stg.u32 [buf(r%d) + 0], r%d", R_T1, R_ZERO);
        break;
    case 5:
        line(g, "atom.add.u32 r%d, [buf(r%d) + %u], r%d", R_OLD, R_ACC, 1 + pick(g, 3), R_ONE);
        break;
    case 6:
        line(g, "mov_imm.u64 r%d, 12286", R_T1);
        line(g, "ldg.u32 r%d, [class7 + r%d]", variable(g, 0), R_T1);
        break;
    default:
        line(g, "mov_imm.u64 r%d, 77", R_T1);
        line(g, "pool.load.u32 r%d, r%d, 0", variable(g, 0), R_T1);
        break;
    }
}

/* In one lane, in lanes where a condition holds, or in all. */
void fault(generator *g) {
    int skip = new_label(g);
    uint32_t where = pick(g, 3);
    if (where == 0) {
        line(g, "mov_imm.u64 r%d, %u", R_T1, pick(g, (uint32_t)g->lanes));
        line(g, "setne.u64 p7, r255, r%d", R_T1);
    } else if (where == 1) {
        set_condition(g, 7);
    }
    if (where < 2) line(g, "bra.p7 @L%d", skip);
    one_fault(g);
    place_label(g, skip);
}
