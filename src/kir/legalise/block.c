/* Operations of a block over shared memory and barriers: the one definition for every target
 * without its own.
 *
 * Each lane puts its value into a place of its own behind the program's shared memory, then lanes
 * combine places between barriers. Places are zeros before and after: what is stored differs by the
 * identity of the operation (x ^ identity), so that the place of a lane that is not there, which
 * nobody writes, reads as the identity. That is exact: for the smallest and largest of floats it is
 * NaN, which gives the other operand; for sums -0.
 *
 * Where lanes may have left before (u.block.whole is not set), somebody has to do their part, or a
 * scan would lose what goes through their places. There each lane takes a number, and n lanes do
 * the places of the block in turn: lane k those of number k, k + n, k + 2 n, …
 *
 * The counted barrier, behind which a block with a fault has stopped, stands before the operation;
 * the others are KIR_BARRIER_INNER. */
#include "kir/legalise/legalise_internal.h"
#include "kir/access.h"
#include "kir/builder.h"
#include "kir/define/define.h"
#include "kir/sugar.h"
#include <string.h>

enum { CHAINS = 128, TICKETS = 0, FIRST = 4 /* bytes of the head */, MOST_LANES = 1024 };

typedef struct meeting {
    kir_builder *b;
    const kir_value *v;
    hg_op fold;
    hg_type type;            /* of the operation */
    uint8_t kind, slot_type; /* of a value, and of its place: an integer of at least 32 bits */
    uint64_t size;
    kir_value *identity;               /* of slot_type; NULL: 0 */
    kir_value *head, *places;          /* u64: where they begin in shared memory */
    kir_value *lane, *started, *lanes; /* u64: number in the block, lanes of the block that started,
                                          lanes of a whole block */
    kir_value *ticket, *present; /* u64, where lanes may have left: number among those that are
                                    here, how many they are */
    kir_var *at;
    kir_value *turn, *within;
} meeting;

/* ---- places ---- */

static kir_place at_place(meeting *m, kir_value *number) {
    kir_builder *b = m->b;
    kir_value *offset = by(b, KIR_MUL, number, m->size);
    return (kir_place){
        .space = KIR_SHARED, .index = kir_add(b, m->places, offset), .unchecked = true};
}

static kir_place at_head(meeting *m, int64_t disp) {
    return (kir_place){.space = KIR_SHARED, .index = m->head, .disp = disp, .unchecked = true};
}

static kir_value *bits_of(meeting *m, kir_value *x) {
    kir_op op = kir_type_is_float(m->kind) ? KIR_BITCAST : KIR_ZEXT;
    kir_value *bits = m->kind == m->slot_type ? x : kir_convert(m->b, op, m->slot_type, x);
    return m->identity ? kir_binary(m->b, KIR_XOR, bits, m->identity) : bits;
}

static kir_value *value_of(meeting *m, kir_value *bits) {
    if (m->identity) bits = kir_binary(m->b, KIR_XOR, bits, m->identity);
    kir_op op = kir_type_is_float(m->kind) ? KIR_BITCAST : KIR_TRUNC;
    return m->kind == m->slot_type ? bits : kir_convert(m->b, op, m->kind, bits);
}

static void put_bits(meeting *m, kir_value *number, kir_value *bits) {
    kir_place place = at_place(m, number);
    (void)kir_access_make(m->b, KIR_STORE, m->slot_type, &place, 1, &bits);
}

static void put(meeting *m, kir_value *number, kir_value *x) {
    kir_value *bits = bits_of(m, x);
    put_bits(m, number, bits);
}

static kir_value *take(meeting *m, kir_value *number) {
    kir_place place = at_place(m, number);
    return value_of(m, kir_access_make(m->b, KIR_LOAD, m->slot_type, &place, 0, NULL));
}

static kir_value *combine(meeting *m, kir_value *x, kir_value *y) {
    return kir_operate(m->b, (uint16_t)m->fold, m->type, (kir_value *[]){x, y});
}

static void barrier(meeting *m) {
    kir_emit(m->b, KIR_BARRIER, KIR_VOID, 0, NULL)->u.imm = KIR_BARRIER_INNER;
}

/* ---- who does what ---- */

static kir_value *id(kir_builder *b, hg_idname name) {
    kir_value *v = kir_emit(b, KIR_ID, kir_type_of(hg_idname_type(name)), 0, NULL);
    v->u.imm = name;
    return v;
}

/* x + nx (y + ny z), of u32. */
static kir_value *linear(kir_builder *b, hg_idname x, hg_idname nx) {
    kir_value *z = id(b, x + 2), *row = kir_mul(b, z, id(b, nx + 1));
    kir_value *y = kir_add(b, row, id(b, x + 1)), *plane = kir_mul(b, y, id(b, nx));
    return kir_add(b, plane, id(b, x));
}

/* In 64 bits, so that the tile interpreter sees that neighbouring lanes have neighbouring places.
 */
static void find_lanes(meeting *m) {
    kir_builder *b = m->b;
    kir_value *x = id(b, HG_ID_BLOCK_DIM_X), *xy = kir_mul(b, x, id(b, HG_ID_BLOCK_DIM_Y));
    m->lanes = kir_convert(b, KIR_ZEXT, HG_TYPE_U64, kir_mul(b, xy, id(b, HG_ID_BLOCK_DIM_Z)));
    kir_value *block = linear(b, HG_ID_BLOCK_IDX_X, HG_ID_GRID_DIM_X);
    kir_value *first = kir_mul(b, kir_convert(b, KIR_ZEXT, HG_TYPE_U64, block), m->lanes);
    m->lane = kir_sub(b, id(b, HG_ID_GLOBAL_LANE_ID), first);
    kir_value *left = kir_sub(b, id(b, HG_ID_LANE_COUNT), first),
              *partial = below(b, left, m->lanes);
    m->started = kir_select(b, partial, left, m->lanes);
}

/* for (turn = 0 … count - 1), shared out to the lanes that are here. */
static void begin_turns(meeting *m, kir_value *count) {
    kir_builder *b = m->b;
    m->turn = m->lane;
    if (m->v->u.block.whole) {
        m->within = kir_if_begin(b, below(b, m->lane, count));
        return;
    }
    m->at = kir_var_create(b->module, b->function, HG_TYPE_U64, 0, "turn");
    if (!m->at) {
        b->failed = true;
        return;
    }
    kir_set(b, m->at, m->ticket);
    m->within = kir_loop_begin(b, true);
    m->within->u.loop.most = MOST_LANES;
    m->turn = kir_get(b, m->at);
    kir_value *over = kir_if_begin(b, kir_not(b, below(b, m->turn, count)));
    kir_break(b);
    kir_if_end(b, over);
}

static void end_turns(meeting *m) {
    kir_builder *b = m->b;
    if (m->v->u.block.whole) {
        kir_if_end(b, m->within);
        return;
    }
    if (b->failed) return;
    kir_set(b, m->at, kir_add(b, m->turn, m->present));
    kir_loop_end(b, m->within);
}

static kir_value *update_head(meeting *m, int64_t disp, kir_atomic how, kir_value *x) {
    kir_place place = at_head(m, disp);
    kir_value *v = kir_access_make(m->b, KIR_ATOMIC, HG_TYPE_U32, &place, 1, &x);
    v->u.mem.atomic = (uint8_t)how;
    return v;
}

static kir_value *read_head(meeting *m, int64_t disp) {
    kir_place place = at_head(m, disp);
    return kir_convert(m->b, KIR_ZEXT, HG_TYPE_U64,
                       kir_access_make(m->b, KIR_LOAD, HG_TYPE_U32, &place, 0, NULL));
}

/* All have put their values, and know who is here. */
static void gather(meeting *m, kir_value *x) {
    kir_builder *b = m->b;
    put(m, m->lane, x);
    if (m->v->u.block.whole) {
        barrier(m);
        return;
    }
    m->ticket = kir_convert(b, KIR_ZEXT, HG_TYPE_U64,
                            update_head(m, TICKETS, KIR_ATOMIC_ADD, u32(b, 1)));
    kir_value *behind = kir_convert(b, KIR_TRUNC, HG_TYPE_U32, kir_sub(b, m->lanes, m->lane));
    (void)update_head(m, FIRST, KIR_ATOMIC_UMAX, behind); /* of the first lane the largest, and
                                                             never 0 */
    barrier(m);
    kir_value *present = read_head(m, TICKETS); /* 0 in a lane that has left and goes along on a
                                                   device: one turn is enough for it */
    m->present = kir_select(b, is_zero(b, present), u64(b, MOST_LANES), present);
}

static kir_value *zero_bits(meeting *m) {
    uint8_t none[512] = {0};
    return kir_const_bytes(m->b, m->slot_type, none);
}

/* All have read: the places become zeros again. */
static void clear(meeting *m, uint32_t rows) {
    kir_builder *b = m->b;
    barrier(m);
    begin_turns(m, m->started);
    kir_value *zero = zero_bits(m);
    put_bits(m, m->turn, zero);
    if (rows > 1) put_bits(m, kir_add(b, m->lanes, m->turn), zero);
    end_turns(m);
    if (m->v->u.block.whole) return;
    kir_value *one = kir_if_begin(b, is_zero(b, m->ticket)), *nothing = u32(b, 0);
    kir_place tickets = at_head(m, TICKETS), first = at_head(m, FIRST);
    (void)kir_access_make(b, KIR_STORE, HG_TYPE_U32, &tickets, 1, &nothing);
    (void)kir_access_make(b, KIR_STORE, HG_TYPE_U32, &first, 1, &nothing);
    kir_if_end(b, one);
}

/* ---- the operations ---- */

static kir_var *variable(meeting *m, uint8_t type, const char *name, kir_value *start) {
    kir_var *var = kir_var_create(m->b->module, m->b->function, type, 0, name);
    if (var)
        kir_set(m->b, var, start);
    else
        m->b->failed = true;
    return var;
}

static kir_value *begin_rounds(meeting *m, uint64_t most) {
    kir_value *loop = kir_loop_begin(m->b, true);
    loop->u.loop.most = most;
    return loop;
}

static void leave_if(kir_builder *b, kir_value *over) {
    kir_value *leave = kir_if_begin(b, over);
    kir_break(b);
    kir_if_end(b, leave);
}

/* acc[l] = x[l] + x[l + 128] + … in order, for l < 128. */
static void fold_chains(meeting *m) {
    kir_builder *b = m->b;
    kir_value *few = by(b, KIR_CMP_ULT, m->started, CHAINS);
    begin_turns(m, kir_select(b, few, m->started, u64(b, CHAINS)));
    kir_var *sum = variable(m, m->kind, "sum", take(m, m->turn));
    kir_var *next = variable(m, HG_TYPE_U64, "next", by(b, KIR_ADD, m->turn, CHAINS));
    if (b->failed) return;
    kir_value *loop = begin_rounds(m, MOST_LANES / CHAINS + 1);
    kir_value *at = kir_get(b, next);
    leave_if(b, kir_not(b, below(b, at, m->started)));
    kir_value *so_far = kir_get(b, sum);
    kir_set(b, sum, combine(m, so_far, take(m, at)));
    kir_set(b, next, by(b, KIR_ADD, at, CHAINS));
    kir_loop_end(b, loop);
    put(m, m->turn, kir_get(b, sum));
    end_turns(m);
}

/* for s = 64, 32, … 1: acc[l] = acc[l] + acc[l + s] where both exist. */
static void halve(meeting *m) {
    kir_builder *b = m->b;
    kir_var *half = variable(m, HG_TYPE_U64, "half", u64(b, CHAINS / 2));
    if (b->failed) return;
    kir_value *loop = begin_rounds(m, 8);
    kir_value *s = kir_get(b, half);
    leave_if(b, is_zero(b, s));
    barrier(m);
    begin_turns(m, s);
    kir_value *other = kir_add(b, m->turn, s),
              *exists = kir_if_begin(b, below(b, other, m->started));
    kir_value *mine = take(m, m->turn);
    put(m, m->turn, combine(m, mine, take(m, other)));
    kir_if_end(b, exists);
    end_turns(m);
    kir_set(b, half, shift_by(b, KIR_LSHR, s, 1));
    kir_loop_end(b, loop);
    barrier(m);
}

/* All lanes do what the first ones have to: nobody reads what the others make of it, and behind the
 * lanes' places there are as many zeros. */
static kir_value *reduce_whole(meeting *m, kir_value *x) {
    kir_builder *b = m->b;
    put(m, m->lane, x);
    kir_var *sum = variable(m, m->kind, "sum", x),
            *next = variable(m, HG_TYPE_U64, "next", u64(b, CHAINS));
    kir_var *half = variable(m, HG_TYPE_U64, "half", u64(b, CHAINS / 2));
    barrier(m);
    if (b->failed) return &b->dummy;
    kir_value *chains = begin_rounds(m, MOST_LANES / CHAINS + 1), *at = kir_get(b, next);
    leave_if(b, kir_not(b, below(b, at, m->started)));
    kir_value *so_far = kir_get(b, sum);
    kir_set(b, sum, combine(m, so_far, take(m, kir_add(b, m->lane, at))));
    kir_set(b, next, by(b, KIR_ADD, at, CHAINS));
    kir_loop_end(b, chains);
    barrier(m);
    put(m, m->lane, kir_get(b, sum));
    barrier(m);
    kir_value *halves = begin_rounds(m, 8), *s = kir_get(b, half);
    leave_if(b, is_zero(b, s));
    kir_value *exists = kir_if_begin(b, below(b, s, m->started)), *mine = kir_get(b, sum);
    kir_value *now = combine(m, mine, take(m, kir_add(b, m->lane, s)));
    kir_set(b, sum, now);
    barrier(m);
    put(m, m->lane, now);
    barrier(m);
    kir_if_end(b, exists);
    kir_set(b, half, shift_by(b, KIR_LSHR, s, 1));
    kir_loop_end(b, halves);
    kir_value *result = take(m, u64(b, 0));
    barrier(m);
    put_bits(m, m->lane, zero_bits(m));
    return result;
}

static kir_value *reduce(meeting *m, kir_value *x) {
    if (m->v->u.block.whole) return reduce_whole(m, x);
    gather(m, x);
    fold_chains(m);
    halve(m);
    kir_value *result = take(m, u64(m->b, 0));
    clear(m, 1);
    return result;
}

/* What the first lane has in front of it: the number that changes nothing, as the language says it.
 */
static kir_value *neutral(meeting *m) {
    uint8_t none[512];
    memset(none, m->fold == HG_OP_AND ? 0xFF : 0, sizeof none);
    if (m->fold == HG_OP_MUL || m->fold == HG_OP_MIN || m->fold == HG_OP_MAX)
        kir_identity(m->fold, m->type, none);
    return kir_const_bytes(m->b, m->kind, none);
}

/* The sums of the lanes before this one; of the first lane that is here the number that changes
 * nothing. */
static kir_value *before(meeting *m, kir_value *row) {
    kir_builder *b = m->b;
    kir_var *result = variable(m, m->kind, "before", neutral(m));
    kir_value *first = kir_sub(b, m->lanes, read_head(m, FIRST));
    kir_value *later = kir_if_begin(b, below(b, first, m->lane));
    if (b->failed) return &b->dummy;
    kir_set(b, result, take(m, kir_add(b, row, by(b, KIR_SUB, m->lane, 1))));
    kir_if_end(b, later);
    return kir_get(b, result);
}

/* For s = 1, 2, 4, …: v[l] = v[l - s] + v[l]. As many places in front of the lanes' stay zeros, so
 * that no lane needs another way. */
static kir_value *scan_whole(meeting *m, kir_value *x) {
    kir_builder *b = m->b;
    kir_value *own = kir_add(b, m->lanes, m->lane);
    put(m, own, x);
    kir_var *sum = variable(m, m->kind, "sum", x),
            *distance = variable(m, HG_TYPE_U64, "distance", u64(b, 1));
    barrier(m);
    if (b->failed) return &b->dummy;
    kir_value *loop = begin_rounds(m, 11), *s = kir_get(b, distance);
    leave_if(b, kir_not(b, below(b, s, m->started)));
    kir_value *earlier = take(m, kir_sub(b, own, s)), *now = combine(m, earlier, kir_get(b, sum));
    kir_set(b, sum, now);
    barrier(m);
    put(m, own, now);
    barrier(m);
    kir_set(b, distance, shift_by(b, KIR_SHL, s, 1));
    kir_loop_end(b, loop);
    kir_value *result = kir_get(b, sum);
    if (m->v->u.block.exclusive) {
        kir_value *before = take(m, by(b, KIR_SUB, own, 1));
        result = kir_select(b, is_zero(b, m->lane), neutral(m), before);
        barrier(m);
    }
    put_bits(m, own, zero_bits(m));
    return result;
}

/* For s = 1, 2, 4, …: v[l] = v[l - s] + v[l], from one row of places to the other. */
static kir_value *scan(meeting *m, kir_value *x) {
    kir_builder *b = m->b;
    if (m->v->u.block.whole) return scan_whole(m, x);
    gather(m, x);
    kir_var *distance = variable(m, HG_TYPE_U64, "distance", u64(b, 1)),
            *row = variable(m, HG_TYPE_U64, "row", u64(b, 0));
    if (b->failed) return &b->dummy;
    kir_value *loop = begin_rounds(m, 11);
    kir_value *s = kir_get(b, distance), *from = kir_get(b, row), *to = kir_sub(b, m->lanes, from);
    leave_if(b, kir_not(b, below(b, s, m->started)));
    begin_turns(m, m->started);
    kir_var *sum = variable(m, m->kind, "sum", take(m, kir_add(b, from, m->turn)));
    kir_value *far = kir_if_begin(b, kir_not(b, below(b, m->turn, s)));
    if (b->failed) return &b->dummy;
    kir_value *earlier = take(m, kir_add(b, from, kir_sub(b, m->turn, s)));
    kir_set(b, sum, combine(m, earlier, kir_get(b, sum)));
    kir_if_end(b, far);
    kir_value *target = kir_add(b, to, m->turn);
    put(m, target, kir_get(b, sum));
    end_turns(m);
    barrier(m);
    kir_set(b, row, to);
    kir_set(b, distance, shift_by(b, KIR_SHL, s, 1));
    kir_loop_end(b, loop);
    kir_value *last = kir_get(b, row);
    kir_value *result = m->v->u.block.exclusive ? before(m, last)
                                                : take(m, kir_add(b, last, m->lane));
    clear(m, 2);
    return result;
}

static kir_value *shuffle(meeting *m, kir_value *x, kir_value *lane) {
    kir_builder *b = m->b;
    uint8_t none[512] = {0};
    gather(m, x);
    kir_var *result = variable(m, m->kind, "other", kir_const_bytes(b, m->kind, none));
    kir_value *there = kir_if_begin(b, below(b, lane, m->started));
    if (b->failed) return &b->dummy;
    kir_set(b, result, take(m, lane));
    kir_if_end(b, there);
    clear(m, 1);
    return kir_get(b, result);
}

/* ---- ---- */

/* What x + y gives y for, bit for bit; as bits of the place. NULL: 0. */
static kir_value *hidden_identity(meeting *m) {
    bool real = hg_type_is_float(m->type), f32 = m->type == HG_TYPE_F32;
    uint8_t bytes[512] = {0};
    uint64_t top = f32 ? UINT64_C(0x80000000) : UINT64_C(0x8000000000000000);
    switch (m->fold) {
    case HG_OP_ADD: return real ? kir_const(m->b, m->slot_type, top) : NULL;
    case HG_OP_OR:
    case HG_OP_XOR:
    case HG_OP_NONE: return NULL;
    case HG_OP_AND: memset(bytes, 0xFF, hg_type_size_bytes(m->type)); break;
    default:
        if (real && m->fold != HG_OP_MUL)
            return kir_const(m->b, m->slot_type, f32 ? 0x7FC00000 : UINT64_C(0x7FF8000000000000));
        kir_identity(m->fold, m->type, bytes);
    }
    return kir_const_bytes(m->b, m->slot_type, bytes);
}

static kir_value *scratch(kir_builder *b) {
    kir_module *out = b->module;
    uint64_t i = 0;
    while (i < out->inputs.count && out->inputs.data[i].kind != KIR_INPUT_SHARED) i++;
    kir_value *v = kir_emit(b, KIR_INPUT, HG_TYPE_U64, 0, NULL);
    v->u.imm = i;
    if (i == out->inputs.count) b->failed = true; /* build makes it */
    return v;
}

/* Whether a target does it itself: lanes may be put together in any order, and none is missing. */
static bool stays(const kir_caps *caps, const kir_value *v) {
    return caps->block && v->u.block.whole && v->u.block.op != HG_OP_SHUFFLE &&
           !kir_type_is_float(v->type) && kir_type_bytes(v->type) <= 8;
}

bool legal_block(rewrite_pass *p, const kir_value *v) {
    if (v->op != KIR_BLOCK || stays(p->caps, v)) return false;
    kir_builder *b = &p->b;
    meeting m = {.b = b,
                 .v = v,
                 .fold = hg_op_folds_with((hg_op)v->u.block.op),
                 .type = (hg_type)v->u.block.atlas_type,
                 .kind = v->type};
    m.slot_type = v->type == HG_TYPE_F64         ? (uint8_t)HG_TYPE_U64
                  : kir_type_bytes(v->type) <= 4 ? (uint8_t)HG_TYPE_U32
                                                 : v->type;
    m.size = kir_type_bytes(m.slot_type);
    m.identity = hidden_identity(&m);
    m.head = scratch(b);
    m.places = by(b, KIR_ADD, m.head, KIR_BLOCK_HEAD);
    find_lanes(&m);
    kir_value *x = rewrite_arg(p, v, 0), *result;
    if (v->u.block.op == HG_OP_SHUFFLE)
        result = shuffle(&m, x, rewrite_arg(p, v, 1));
    else
        result = hg_op_is_scan((hg_op)v->u.block.op) ? scan(&m, x) : reduce(&m, x);
    rewrite_set(p, v, result);
    p->out->uses_barrier = p->out->uses_shared = true;
    return true;
}
