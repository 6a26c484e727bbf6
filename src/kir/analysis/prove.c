/* Ranges of all values in one launch, followed through structured control flow: a branch narrows
 * what its condition compares, a loop's variables grow until nothing changes (the third round takes
 * them to the end of their type) and are narrowed twice again, a call is walked where it stands.
 * The walk is bounded in steps and in depth; beyond, nothing is proven.
 * Must not know: devices, handles. */
#include "kir/analysis/analysis.h"
#include "kir/access.h"
#include "kir/analysis/prove.h"
#include "kir/analysis/range.h"
#include <string.h>

enum { MAX_DEPTH = 48, MAX_STEPS = 20000, MAX_ROUNDS = 12, WIDEN_FROM = 2, DEEP = 6 };

typedef kir_range range;

struct kir_prover {
    const kir_module *m;
    kir_side_table zeros; /* low bits that are zero; a value's entry is its number in the tables of
                             a launch */
    bool trivial;         /* nothing to prove */
};

/* What a variable holds at a place. holder: the value that was read from or stored to it last, when
 * that is known. */
typedef struct cell {
    range r;
    const kir_value *holder;
} cell;
typedef struct state {
    bool dead; /* no lane gets here */
    cell *cells;
} state;

typedef struct undo {
    uint32_t value;
    range before;
} undo;

typedef struct walk {
    const kir_prover *p;
    const kir_prove_launch *l;
    uint64_t first, last; /* lanes */
    kir_reach *reach;     /* of slots, to be found; NULL: what is outside is */
    range *ranges;        /* by number */
    hg_arena arena;
    cell **spare;
    uint32_t spare_count, depth, steps;
    HG_VEC(undo) undone;
    bool check, outside, gave_up;
} walk;

/* The function that is walked, and the loop. */
typedef struct place {
    const kir_function *f;
    const range *params;
    state *returned;
    range *result;
    state *broken, *continued;
} place;

/* ---- states ---- */

static cell *take_cells(walk *w) {
    if (w->spare_count) return w->spare[--w->spare_count];
    cell *cells = hg_arena_alloc(&w->arena, (w->p->m->var_count + (size_t)1) * sizeof *cells);
    if (!cells) w->gave_up = true;
    return cells;
}

static state copy_state(walk *w, const state *s) {
    state t = {s->dead, take_cells(w)};
    if (t.cells) memcpy(t.cells, s->cells, (w->p->m->var_count + (size_t)1) * sizeof *t.cells);
    return t;
}

static state dead_state(walk *w) { return (state){true, take_cells(w)}; }

static void give(walk *w, state *s) {
    if (s->cells && w->spare_count < MAX_DEPTH * 8) w->spare[w->spare_count++] = s->cells;
    s->cells = NULL;
}

static void assign(const walk *w, state *to, const state *from) {
    to->dead = from->dead;
    memcpy(to->cells, from->cells, (w->p->m->var_count + (size_t)1) * sizeof *to->cells);
}

static void merge(const walk *w, state *to, const state *from) {
    if (from->dead || w->gave_up) return;
    if (to->dead) {
        assign(w, to, from);
        return;
    }
    for (uint32_t i = 0; i < w->p->m->var_count; i++) {
        to->cells[i].r = kir_range_join(to->cells[i].r, from->cells[i].r);
        if (to->cells[i].holder != from->cells[i].holder) to->cells[i].holder = NULL;
    }
}

/* ---- what values can be ---- */

static uint32_t number(const walk *w, const place *at, const kir_value *v) {
    return w->p->zeros.first[at->f->id] + v->id;
}
static range of(const walk *w, const place *at, const kir_value *v) {
    return w->ranges[number(w, at, v)];
}

static bool is_computed(const kir_value *v) {
    return kir_is_integer_value(v) && kir_range_exists(v->type) && v->op != KIR_BITCAST;
}

/* select(x < y, x, y) and its like: the arms are narrowed by the condition. */
static range narrowed_arm(const kir_value *select, int arm, const range *r,
                          const range *of_condition) {
    const kir_value *c = select->args[0], *x = select->args[arm];
    if (c->op != KIR_CMP_ULT || (x != c->args[0] && x != c->args[1])) return r[arm];
    bool less = (x == c->args[0]) == (arm == 1); /* x is what is below, or at most, the other */
    range other = of_condition[x == c->args[0]], mine = r[arm];
    if (less && arm == 1 && other.high) return kir_range_meet(mine, (range){0, other.high - 1});
    if (less) return kir_range_meet(mine, (range){0, other.high});
    return kir_range_meet(mine, (range){other.low, UINT64_MAX});
}

/* With what is known here of the values that v is made of, which may be more than when v was made.
 */
static range deep(const walk *w, const place *at, const kir_value *v, int depth) {
    range r = of(w, at, v), args[3], condition[2];
    if (depth == 0 || !is_computed(v)) return r;
    for (uint8_t i = 0; i < v->nargs; i++)
        args[i] = kir_range_exists(v->args[i]->type) ? deep(w, at, v->args[i], depth - 1)
                                                     : kir_range_full(v->args[i]->type);
    if (v->op == KIR_SELECT && v->args[0]->op == KIR_CMP_ULT) {
        for (int i = 0; i < 2; i++) condition[i] = of(w, at, v->args[0]->args[i]);
        for (int i = 1; i < 3; i++) args[i] = narrowed_arm(v, i, args, condition);
        for (int i = 1; i < 3; i++)
            if (args[i].low > args[i].high)
                args[0] = kir_range_exactly(i == 2); /* that arm is never taken */
    }
    return kir_range_meet(r, kir_range_of(v, args));
}

/* (n / step) % extent for n of a range. */
static range digit(range n, uint64_t step, uint64_t extent) {
    uint64_t low = n.low / step, high = n.high / step;
    if (low / extent != high / extent) return (range){0, extent - 1};
    return (range){low % extent, high % extent};
}

static uint32_t at_least_one(uint32_t n) { return n ? n : 1; }

/* Coordinates of lanes in their block, and of blocks: digits of the lane's number. */
static range digit_of_lane(const walk *w, bool block, uint32_t axis) {
    const uint32_t *dims = block ? w->l->grid : w->l->block;
    uint64_t lanes = 1, step = 1;
    for (int i = 0; i < 3; i++) lanes *= at_least_one(w->l->block[i]);
    range n = block ? (range){w->first / lanes, w->last / lanes}
                    : digit((range){w->first, w->last}, 1, lanes);
    for (uint32_t i = 0; i < axis; i++)
        if (!hg_mul_u64(step, at_least_one(dims[i]), &step)) return (range){0, 0};
    return digit(n, step, block && axis == 2 ? UINT64_MAX : at_least_one(dims[axis]));
}

static range id_range(const walk *w, const kir_value *v) {
    const kir_prove_launch *l = w->l;
    uint32_t axis = hg_idname_axis(kir_id_name(v));
    range r = {0, UINT64_MAX};
    switch (hg_idname_part(kir_id_name(v))) {
    case HG_PART_LANE_IDX:
    case HG_PART_BLOCK_IDX:
        r = digit_of_lane(w, hg_idname_part(kir_id_name(v)) == HG_PART_BLOCK_IDX, axis);
        break;
    case HG_PART_BLOCK_DIM: r = kir_range_exactly(l->block[axis]); break;
    case HG_PART_GRID_DIM: r = kir_range_exactly(l->grid[axis]); break;
    case HG_PART_GLOBAL_LANE_ID: r = (range){w->first, w->last}; break;
    case HG_PART_LANE_COUNT: r = kir_range_exactly(l->lanes); break;
    }
    if (v->u.imm & KIR_ID_HIGH) return (range){r.low >> 32, r.high >> 32};
    return r;
}

/* An ID of type u32 may be the low half of a wider one. */
static range id_value(const walk *w, const kir_value *v) {
    range r = id_range(w, v), top = kir_range_full(v->type);
    if (r.high <= top.high) return r;
    return r.low == r.high ? kir_range_exactly(r.low & top.high) : top;
}

/* ---- narrowing ---- */

static void restore(walk *w, uint64_t mark) {
    while (w->undone.count > mark) {
        const undo *u = &w->undone.data[--w->undone.count];
        w->ranges[u->value] = u->before;
    }
}

/* False: no lane gets here. */
static bool narrow(walk *w, const place *at, const kir_value *v, range r, state *s) {
    for (int depth = 0; depth < DEEP; depth++) {
        uint32_t n = number(w, at, v);
        range before = w->ranges[n], now = kir_range_meet(before, r);
        if (now.low != before.low || now.high != before.high) {
            undo *u = hg_vec_push(&w->undone);
            if (!u) {
                w->gave_up = true;
                return true;
            }
            *u = (undo){n, before};
            w->ranges[n] = now;
        }
        for (uint32_t i = 0; i < w->p->m->var_count; i++)
            if (s->cells[i].holder == v) s->cells[i].r = kir_range_meet(s->cells[i].r, now);
        if (now.low > now.high) return false;
        /* What it was made of by a step that can be undone. */
        const kir_value *x = v->nargs ? v->args[0] : NULL;
        if (!x || !kir_range_exists(x->type)) return true;
        range is = of(w, at, x);
        if (v->op == KIR_ZEXT || (v->op == KIR_TRUNC && is.high <= kir_range_full(v->type).high)) {
            r = now;
        } else if ((v->op == KIR_ADD || v->op == KIR_MUL || v->op == KIR_SHL) &&
                   v->args[1]->op == KIR_CONST) {
            uint64_t c = v->args[1]->u.imm, top = kir_range_full(v->type).high;
            if (v->op == KIR_ADD && is.high <= top - c)
                r = (range){now.low > c ? now.low - c : 0, now.high - c};
            else if (v->op == KIR_MUL && c && is.high <= top / c)
                r = (range){(now.low + c - 1) / c, now.high / c};
            else if (v->op == KIR_SHL && c < kir_type_bits(v->type) && is.high <= top >> c)
                r = (range){now.low >> c, now.high >> c};
            else
                return true;
        } else {
            return true;
        }
        v = x;
    }
    return true;
}

static bool narrow_less(walk *w, const place *at, const kir_value *a, const kir_value *b,
                        bool strict, state *s) {
    range x = deep(w, at, a, DEEP), y = deep(w, at, b, DEEP);
    uint64_t off = strict ? 1 : 0;
    if (y.high < off || x.low > UINT64_MAX - off) return false;
    return narrow(w, at, a, (range){0, y.high - off}, s) &&
           narrow(w, at, b, (range){x.low + off, UINT64_MAX}, s);
}

static bool narrow_unequal(walk *w, const place *at, const kir_value *a, range x, range other,
                           state *s) {
    if (other.low != other.high) return true;
    if (x.low == other.low && x.high == other.low) return false;
    if (x.low == other.low) return narrow(w, at, a, (range){x.low + 1, UINT64_MAX}, s);
    if (x.high == other.low) return narrow(w, at, a, (range){0, x.high - 1}, s);
    return true;
}

/* What a condition's being true (or not) says of others. False: it cannot be. */
static bool assume(walk *w, const place *at, const kir_value *c, bool truth, state *s, int depth) {
    if (!narrow(w, at, c, kir_range_exactly(truth), s)) return false;
    if (depth == 0 || c->nargs < 2 || !kir_range_exists(c->args[0]->type)) return true;
    const kir_value *a = c->args[0], *b = c->args[1];
    range x = of(w, at, a), y = of(w, at, b);
    switch ((kir_op)c->op) {
    case KIR_CMP_SLT:
        if (x.high >= kir_range_sign_bit(a->type) || y.high >= kir_range_sign_bit(a->type))
            return true;
        /* fallthrough */
    case KIR_CMP_ULT:
        return truth ? narrow_less(w, at, a, b, true, s) : narrow_less(w, at, b, a, false, s);
    case KIR_CMP_EQ:
        if (a->type == KIR_BOOL && b->op == KIR_CONST)
            return assume(w, at, a, (b->u.imm != 0) == truth, s, depth - 1);
        if (truth) return narrow(w, at, a, y, s) && narrow(w, at, b, x, s);
        return narrow_unequal(w, at, a, x, y, s) && narrow_unequal(w, at, b, y, x, s);
    case KIR_XOR:
        if (c->type == KIR_BOOL && b->op == KIR_CONST)
            return assume(w, at, a, truth != (b->u.imm != 0), s, depth - 1);
        return true;
    case KIR_AND:
        if (c->type != KIR_BOOL || !truth) return true;
        return assume(w, at, a, true, s, depth - 1) && assume(w, at, b, true, s, depth - 1);
    case KIR_OR:
        if (c->type != KIR_BOOL || truth) return true;
        return assume(w, at, a, false, s, depth - 1) && assume(w, at, b, false, s, depth - 1);
    default: return true;
    }
}

/* ---- accesses ---- */

static bool is_checked(const kir_value *v) {
    if (v->op == KIR_FAULT_IF) return v->u.fault.axis;
    if (!kir_is_access(v) || v->u.mem.unchecked) return false;
    return v->u.mem.space == KIR_SHARED || v->u.mem.space == KIR_CLASS || v->u.mem.slot >= 0;
}

/* Bytes from an access's low to before its high one, as numbers of any sign. */
typedef struct bytes_of {
    hg_i128 low, high;
} bytes_of;

/* False: anywhere. */
static bool find_bytes(const walk *w, const place *at, const kir_value *v, bytes_of *bytes) {
    uint64_t size = v->u.mem.bytes_wide > v->u.mem.bytes ? v->u.mem.bytes_wide : v->u.mem.bytes;
    range index = {0, 0};
    if (v->u.mem.has_index) {
        if (v->u.mem.split) return false;
        const kir_value *of_index = v->args[kir_access_of(v).index];
        index = deep(w, at, of_index, DEEP);
        uint8_t zeros = w->p->zeros.entries[number(w, at, of_index)]; /* the largest index is a
                                                                         multiple too */
        index.high = zeros > 63 ? 0 : index.high >> zeros << zeros;
    }
    bytes->low = (hg_i128)index.low + v->u.mem.disp;
    bytes->high = (hg_i128)index.high + v->u.mem.disp + (hg_i128)size;
    return true;
}

static void check_access(walk *w, const place *at, const kir_value *v) {
    uint64_t memory = v->u.mem.space == KIR_SHARED  ? w->l->shared_bytes
                      : v->u.mem.space == KIR_CLASS ? HG_MAX_CLASS_BYTES
                                                    : w->l->slot_bytes[v->u.mem.slot];
    bytes_of bytes;
    if (!find_bytes(w, at, v, &bytes) || bytes.low < 0 || bytes.high > (hg_i128)memory)
        w->outside = true;
}

/* What would be outside is not touched. */
static void note_access(walk *w, const place *at, const kir_value *v) {
    uint64_t memory = w->l->slot_bytes[v->u.mem.slot];
    kir_reach *r = &w->reach[v->u.mem.slot];
    bytes_of bytes;
    if (!find_bytes(w, at, v, &bytes)) bytes = (bytes_of){0, (hg_i128)memory};
    if (bytes.low < 0) bytes.low = 0;
    if (bytes.high > (hg_i128)memory) bytes.high = (hg_i128)memory;
    if (bytes.low >= bytes.high) return;
    if ((uint64_t)bytes.low < r->low) r->low = (uint64_t)bytes.low;
    if ((uint64_t)bytes.high > r->end) r->end = (uint64_t)bytes.high;
}

static void visit_access(walk *w, const place *at, const kir_value *v) {
    if (!w->reach && is_checked(v)) check_access(w, at, v);
    if (w->reach && kir_is_access(v) && v->u.mem.slot >= 0) note_access(w, at, v);
}

/* ---- the walk ---- */

static void walk_region(walk *w, const place *at, const kir_region *r, state *s);

static void walk_if(walk *w, const place *at, const kir_value *v, state *s) {
    const kir_value *c = v->args[0];
    uint64_t mark = w->undone.count;
    state then = copy_state(w, s);
    if (w->gave_up) return;
    if (!assume(w, at, c, true, &then, DEEP)) then.dead = true;
    walk_region(w, at, v->body[0], &then);
    restore(w, mark);
    if (!assume(w, at, c, false, s, DEEP)) s->dead = true;
    walk_region(w, at, v->body[1], s);
    if (then.dead && !s->dead) { /* what follows runs only where the condition was false */
        give(w, &then);
        return;
    }
    restore(w, mark);
    bool only = s->dead && !then.dead;
    merge(w, s, &then);
    give(w, &then);
    if (only && !w->gave_up && !assume(w, at, c, true, s, DEEP)) s->dead = true;
}

/* One round of a loop's body from `head`; `head` becomes what its next round starts with, joined
 * with `entry`. */
static void walk_round(walk *w, const place *at, const kir_value *v, const state *entry,
                       const state *head, state *next, state *broken) {
    state body = copy_state(w, head), continued = dead_state(w);
    if (w->gave_up) return;
    place inner = *at;
    broken->dead = true;
    inner.broken = broken;
    inner.continued = &continued;
    walk_region(w, &inner, v->body[0], &body);
    assign(w, next, entry);
    merge(w, next, &body);
    merge(w, next, &continued);
    give(w, &body);
    give(w, &continued);
}

/* Whether next is within head; else head grows. */
static bool grow(const walk *w, state *head, const state *next, int round) {
    bool within = true;
    for (uint32_t i = 0; i < w->p->m->var_count; i++) {
        cell *h = &head->cells[i];
        const cell *n = &next->cells[i];
        if (h->holder && h->holder != n->holder) {
            h->holder = NULL;
            within = false;
        }
        if (n->r.low >= h->r.low && n->r.high <= h->r.high) continue;
        within = false;
        range wider = kir_range_join(h->r, n->r);
        if (round >= WIDEN_FROM && wider.low < h->r.low) wider.low = 0;
        if (round >= WIDEN_FROM && wider.high > h->r.high) wider.high = UINT64_MAX;
        h->r = round + 2 >= MAX_ROUNDS ? (range){0, UINT64_MAX} : wider;
    }
    return within;
}

static void walk_loop(walk *w, const place *at, const kir_value *v, state *s) {
    state head = copy_state(w, s), next = copy_state(w, s), broken = dead_state(w);
    bool check = w->check, stable = false;
    int narrowings = 0;
    w->check = false;
    for (int round = 0; !w->gave_up && narrowings < 2; round++) {
        walk_round(w, at, v, s, &head, &next, &broken);
        if (w->gave_up) break;
        stable = stable || grow(w, &head, &next, round);
        if (stable) {
            assign(w, &head, &next);
            narrowings++;
        } else if (round > MAX_ROUNDS) {
            w->gave_up = true;
        }
    }
    w->check = check;
    if (!w->gave_up) walk_round(w, at, v, s, &head, &next, &broken);
    if (!w->gave_up && w->l->cuts_loops) merge(w, &broken, &next);
    if (!w->gave_up) assign(w, s, &broken);
    give(w, &head);
    give(w, &next);
    give(w, &broken);
}

static void walk_call(walk *w, const place *at, const kir_value *v, state *s) {
    const kir_function *f = v->u.call.function;
    range params[16], result = {UINT64_MAX, 0};
    if (f->pure) return;
    for (uint8_t i = 0; i < v->nargs && i < 16; i++) params[i] = of(w, at, v->args[i]);
    state returned = dead_state(w);
    if (w->gave_up) return;
    place inside = {.f = f, .params = params, .returned = &returned, .result = &result};
    for (const kir_var *var = w->p->m->vars; var; var = var->next)
        if (var->function == f) s->cells[var->id] = (cell){kir_range_full(var->type), NULL};
    walk_region(w, &inside, f->body, s);
    merge(w, s, &returned);
    give(w, &returned);
    if (kir_range_exists(v->type))
        w->ranges[number(w, at, v)] = result.low <= result.high ? result : kir_range_full(v->type);
}

static void leave(walk *w, state *s, state *to) {
    if (to) merge(w, to, s);
    s->dead = true;
}

/* A value of the plan's environment, where the host knows it. */
static range uniform_value(const walk *w, const kir_value *v) {
    const kir_prove_launch *l = w->l;
    uint64_t value = 0, at = (uint64_t)v->u.mem.disp;
    bool uniform = v->u.mem.space == KIR_BUFFER && v->u.mem.class_id == KIR_PLAN_UNIFORMS &&
                   !v->u.mem.has_index && v->u.mem.unchecked;
    if (!uniform || !l->uniforms || (l->unknown && l->unknown[at / 8]))
        return kir_range_full(v->type);
    memcpy(&value, l->uniforms + at, (size_t)kir_type_bytes(v->type));
    return kir_range_exactly(value);
}

static range leaf(walk *w, const place *at, const kir_value *v, state *s) {
    range top = kir_range_full(v->type);
    switch ((kir_op)v->op) {
    case KIR_CONST: return kir_type_bytes(v->type) <= 8 ? kir_range_exactly(v->u.imm) : top;
    case KIR_INPUT:
        return kir_range_exists(v->type) ? kir_range_exactly(w->l->inputs[v->u.imm] & top.high)
                                         : top;
    case KIR_LOAD: return uniform_value(w, v);
    case KIR_ID: return id_value(w, v);
    case KIR_PARAM: return at->params ? at->params[v->u.imm] : top;
    case KIR_VAR_GET: {
        cell *c = &s->cells[v->u.var->id];
        if (!c->holder) c->holder = v;
        return kir_range_meet(c->r, top);
    }
    default: return top;
    }
}

/* Behind it no lane has the condition. */
static void stop_where(walk *w, const place *at, const kir_value *v, state *s) {
    range bad = of(w, at, v->args[0]);
    if (bad.high == 0) return;
    if (w->check && !w->reach && v->u.fault.axis) w->outside = true;
    if (!assume(w, at, v->args[0], false, s, DEEP)) s->dead = true;
}

static void walk_value(walk *w, const place *at, const kir_value *v, state *s) {
    if (v->type != KIR_VOID && v->op != KIR_CALL)
        w->ranges[number(w, at, v)] = kir_range_exists(v->type) ? leaf(w, at, v, s)
                                                                : (range){0, UINT64_MAX};
    if (v->op == KIR_CALL && v->type != KIR_VOID)
        w->ranges[number(w, at, v)] = kir_range_full(v->type);
    switch ((kir_op)v->op) {
    case KIR_IF: walk_if(w, at, v, s); return;
    case KIR_LOOP: walk_loop(w, at, v, s); return;
    case KIR_BREAK: leave(w, s, at->broken); return;
    case KIR_CONTINUE: leave(w, s, at->continued); return;
    case KIR_EXIT: s->dead = true; return;
    case KIR_RETURN:
        if (v->nargs && at->result && kir_range_exists(v->args[0]->type))
            *at->result = kir_range_join(*at->result, of(w, at, v->args[0]));
        leave(w, s, at->returned);
        return;
    case KIR_CALL: walk_call(w, at, v, s); return;
    case KIR_VAR_SET:
        s->cells[v->u.var->id] = (cell){kir_range_exists(v->args[0]->type)
                                            ? deep(w, at, v->args[0], DEEP)
                                            : kir_range_full(v->u.var->type),
                                        v->args[0]};
        return;
    case KIR_FAULT_IF: stop_where(w, at, v, s); return;
    case KIR_ATOMIC:
        if (v->u.mem.high)
            s->cells[v->u.mem.high->id] = (cell){kir_range_full(v->u.mem.high->type), NULL};
        break;
    default: break;
    }
    if (w->check) visit_access(w, at, v);
    if (is_computed(v)) w->ranges[number(w, at, v)] = deep(w, at, v, 1);
}

static void walk_region(walk *w, const place *at, const kir_region *r, state *s) {
    uint64_t mark = w->undone.count;
    if (++w->depth > MAX_DEPTH) w->gave_up = true;
    for (const kir_value *v = r->first; v && !s->dead && !w->gave_up && !w->outside; v = v->next) {
        if (++w->steps > MAX_STEPS)
            w->gave_up = true;
        else
            walk_value(w, at, v, s);
    }
    restore(w, mark);
    w->depth--;
}

/* ---- the interface ---- */

hg_status kir_prover_create(kir_module *m, kir_prover **prover) {
    kir_prover *p = hg_calloc(1, sizeof *p);
    if (!p) return hg_fail_memory();
    p->m = m;
    p->trivial = true;
    for (kir_function *f = m->functions; f; f = f->next) {
        (void)kir_number(f);
        for (const kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body))
            p->trivial &= !is_checked(v);
    }
    hg_status status = p->trivial ? HG_OK : kir_find_zero_bits(m, &p->zeros);
    if (status != HG_OK) {
        kir_prover_destroy(p);
        return status;
    }
    *prover = p;
    return HG_OK;
}

void kir_prover_destroy(kir_prover *p) {
    if (!p) return;
    kir_side_free(&p->zeros);
    hg_free(p);
}

/* All of a launch, where the walk has its prover, launch and lanes. False: it gave up. */
static bool walk_all(walk *w) {
    const kir_module *m = w->p->m;
    cell *spare[MAX_DEPTH * 8];
    w->spare = spare;
    w->ranges = hg_arena_alloc(&w->arena, (w->p->zeros.count + (size_t)1) * sizeof *w->ranges);
    state s = {false, take_cells(w)};
    place at = {.f = m->functions};
    if (!w->ranges || !s.cells) w->gave_up = true;
    for (const kir_var *var = m->vars; var && !w->gave_up; var = var->next)
        s.cells[var->id].r = kir_range_full(var->type);
    if (!w->gave_up) walk_region(w, &at, m->functions->body, &s);
    hg_vec_free(&w->undone);
    hg_arena_free(&w->arena);
    return !w->gave_up;
}

bool kir_prove(const kir_prover *p, const kir_prove_launch *l) {
    if (p->trivial || !l->lanes) return true;
    walk w = {.p = p, .l = l, .last = l->lanes - 1, .check = true};
    return walk_all(&w) && !w.outside;
}

bool kir_prove_reach(const kir_prover *p, const kir_prove_launch *l, uint64_t first, uint64_t count,
                     kir_reach *reach) {
    walk w = {
        .p = p, .l = l, .first = first, .last = first + count - 1, .reach = reach, .check = true};
    for (uint64_t i = 0; i < p->m->slots.count; i++) reach[i] = (kir_reach){UINT64_MAX, 0};
    return !p->trivial && walk_all(&w);
}
