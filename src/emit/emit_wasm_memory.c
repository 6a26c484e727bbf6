/* Memory operations and faults of the vector form in WebAssembly.
 * Must not know: values' primitives, control flow. */
#include "emit/emit_wasm_internal.h"
#include "vector/stretch.h"

#include <string.h>

/* ---- sites ---- */

static void put(uint8_t *site, uint32_t at, uint64_t value, uint32_t bytes) {
    for (uint32_t i = 0; i < bytes; i++) site[at + i] = (uint8_t)(value >> (8 * i));
}

/* Where it lies in the module's data. A message is known by its place there. */
static uint32_t new_site(wa_printer *p, const vec_value *v, uint8_t code) {
    const bool place = vec_op_has((vec_op)v->op, VEC_F_PLACE);
    const kir_slot *slot = place ? vec_slot_of(p->k, v) : NULL;
    const char *message = place ? NULL : v->u.fault.message;
    uint8_t site[WA_SITE_BYTES] = {code};
    site[1] = place ? v->u.mem.operand : v->u.fault.operand;
    site[WA_SITE_POOL] = place && v->u.mem.pool;
    site[3] = place ? 0 : v->u.fault.values;
    put(site, 4, v->inst ? v->inst - 1 : 0, 4);
    put(site, WA_SITE_BYTES_OF_ACCESS, place ? v->u.mem.size : 0, 4);
    put(site, WA_SITE_INPUT, slot && !slot->constant ? slot->input : UINT32_MAX, 4);
    put(site, WA_SITE_HANDLE, slot && slot->constant ? slot->handle : 0, 8);
    if (message)
        put(site, WA_SITE_MESSAGE, wasm_data(&p->module->m, message, strlen(message) + 1, 1), 4);
    return wasm_data(&p->module->m, site, sizeof site, 8);
}

static void push_site(wa_printer *p, uint32_t site) {
    w_number(p->c, W_GLOBAL_GET, WASM_MEMORY_BASE);
    w_i32(p->c, site);
    w(p->c, W_I32_ADD);
}

static void lose(wa_printer *p, const vec_value *v, uint32_t gone) {
    for (uint8_t k = 0; k < v->loses.count; k++) {
        const vec_var *var = v->loses.vars[k];
        const uint32_t size = wa_var_bytes(p, var);
        for (uint32_t i = 0; i < wa_parts(p, size); i++) {
            wa_begin_set(p, var);
            wa_push_var(p, var, i);
            wa_lanes(p, gone, size, i);
            w(p->c, W_V128_ANDNOT);
            wa_set_var(p, var, i);
        }
    }
}

void wa_end(wa_printer *p, const vec_value *v, uint32_t gone) {
    w_get(p->c, p->l.run);
    w_get(p->c, gone);
    w_i64(p->c, UINT64_MAX);
    w(p->c, W_I64_XOR);
    w(p->c, W_I64_AND);
    w_set(p->c, p->l.run);
    if (wa_in_block(p)) {
        w_i32(p->c, 0);
        w_set(p->c, p->b.intact);
    }
    if (p->f != p->k->functions) {
        w_get(p->c, p->l.ended);
        w_get(p->c, gone);
        w(p->c, W_I64_OR);
        w_set(p->c, p->l.ended);
    }
    lose(p, v, gone);
}

/* The lanes of the mask that run, in a new local. */
static uint32_t here(wa_printer *p, const vec_value *mask) {
    const uint32_t bits = wasm_take(p->c, WASM_I64);
    wa_bits(p, mask);
    if (mask && !p->all_run) {
        w_get(p->c, p->l.run);
        w(p->c, W_I64_AND);
    }
    w_set(p->c, bits);
    return bits;
}

/* "if (bit `lane` of bits)" */
static void open_lane(wa_printer *p, uint32_t bits, uint32_t lane) {
    w_get(p->c, bits);
    w_i64(p->c, UINT64_C(1) << lane);
    w(p->c, W_I64_AND);
    w_i64(p->c, 0);
    w(p->c, W_I64_NE);
    (void)w_open(p->c, W_IF, WASM_VOID);
}

/* ---- places ---- */

static const vec_value *index_of(const vec_value *v) {
    return v->u.mem.has_index ? v->args[v->u.mem.open] : NULL;
}

static void push_base(wa_printer *p, const vec_value *v) {
    if (v->u.mem.space == KIR_CLASS) {
        w_get(p->c, p->m.class_base);
        w_i32(p->c, (uint32_t)v->u.mem.class_id * VEC_CLASS_BYTES);
        w(p->c, W_I32_ADD);
    } else if (v->u.mem.space == KIR_SHARED) {
        w_get(p->c, p->m.shared_base);
    } else {
        w_get(p->c, p->m.bases[v->u.mem.slot]);
    }
}

static void push_size(wa_printer *p, const vec_value *v) {
    w_get(p->c, v->u.mem.space == KIR_CLASS    ? p->m.class_size
                : v->u.mem.space == KIR_SHARED ? p->m.shared_size
                                               : p->m.sizes[v->u.mem.slot]);
}

static void add_i32(wa_printer *p, uint32_t by) {
    if (!by) return;
    w_i32(p->c, by);
    w(p->c, W_I32_ADD);
}

/* The first lane's index, or of all; 0 where there is none. */
static void push_index(wa_printer *p, const vec_value *v) {
    const vec_value *index = index_of(v);
    if (index && !index->each)
        wa_one_64(p, index);
    else
        w_i64(p->c, 0);
}

/* The address of the first lane's element, or of all. */
static void push_address(wa_printer *p, const vec_value *v) {
    const vec_value *index = index_of(v);
    push_base(p, v);
    if (index) {
        wa_one(p, index);
        if (wa_scalar(index->type) == WASM_I64) w(p->c, W_I32_WRAP_I64);
        w(p->c, W_I32_ADD);
    }
    add_i32(p, (uint32_t)(uint64_t)v->u.mem.disp);
}

static int64_t stride_of(const vec_value *v) {
    return v->u.mem.reach == VEC_REACH_ROW   ? (int64_t)v->u.mem.bytes
           : v->u.mem.reach == VEC_REACH_ONE ? 0
                                             : v->u.mem.stride;
}

/* The address of a lane's element. first: a local with the first lane's. */
static void push_lane_address(wa_printer *p, const vec_value *v, uint32_t first, uint32_t lane) {
    const vec_value *index = index_of(v);
    if (v->u.mem.open) {
        const uint32_t at = wasm_take(p->c, WASM_I64);
        w_get(p->c, p->l.launch);
        wa_lane(p, v->args[0], lane);
        if (index)
            wa_lane(p, index, lane);
        else
            w_i64(p->c, 0);
        w_i32(p->c, v->u.mem.pool);
        w_i32(p->c, v->u.mem.space == KIR_FLAT);
        wa_call(p, WA_HELPER_FIND);
        w_set(p->c, at);
        w_get(p->c, at);
        w(p->c, W_I32_WRAP_I64);
        w(p->c, W_I32_ADD);
        add_i32(p, (uint32_t)(uint64_t)v->u.mem.disp);
        wasm_release(p->c, p->c->taken.count - 1);
    } else if (index && index->each) {
        push_base(p, v);
        wa_lane(p, index, lane);
        w(p->c, W_I32_WRAP_I64);
        w(p->c, W_I32_ADD);
        add_i32(p, (uint32_t)(uint64_t)v->u.mem.disp);
    } else {
        w_get(p->c, first);
        add_i32(p, (uint32_t)((uint64_t)stride_of(v) * lane));
    }
}

/* A local with the address of the first lane, where the others' follow from it. */
static uint32_t first_address(wa_printer *p, const vec_value *v) {
    const vec_value *index = index_of(v);
    const uint32_t first = wasm_take(p->c, WASM_I32);
    if (v->u.mem.open || (index && index->each)) return first;
    push_address(p, v);
    w_set(p->c, first);
    return first;
}

/* ---- check ---- */

/* Whether the places that follow from the first lane's are in bounds. */
static void push_fits(wa_printer *p, const vec_value *v, int64_t low, int64_t high) {
    push_index(p, v);
    push_size(p, v);
    w_i64(p->c, (uint64_t)high);
    w(p->c, W_I64_SUB);
    w(p->c, W_I64_LE_U);
    if (high > 0) {
        push_size(p, v);
        w_i64(p->c, (uint64_t)high);
        w(p->c, W_I64_GE_U);
        w(p->c, W_I32_AND);
    }
    if (low >= 0) return;
    push_index(p, v);
    w_i64(p->c, 0 - (uint64_t)low);
    w(p->c, W_I64_GE_U);
    w(p->c, W_I32_AND);
}

static void push_splat_64(wa_printer *p, uint64_t value) {
    w_i64(p->c, value);
    w(p->c, W_I64X2_SPLAT);
    wa_turn(p);
}

/* Whether a lane of the mask is outside, of an index that is each. */
static void push_outside(wa_printer *p, const vec_value *v, int64_t low, int64_t high) {
    const vec_value *index = index_of(v);
    for (uint32_t i = 0; i < wa_parts(p, 8); i++) {
        push_size(p, v);
        w_i64(p->c, (uint64_t)high);
        w(p->c, W_I64_SUB);
        w(p->c, W_I64X2_SPLAT);
        wa_turn(p);
        wa_part(p, index, 8, i);
        wa_turn(p);
        w(p->c, W_I64X2_LT_S);
        if (low < 0) {
            wa_part(p, index, 8, i);
            wa_turn(p);
            push_splat_64(p, 0 - (uint64_t)low);
            w(p->c, W_I64X2_LT_S);
            w(p->c, W_V128_OR);
        }
        if (v->mask) {
            wa_part(p, v->mask, 8, i);
            w(p->c, W_V128_AND);
        }
        if (i) w(p->c, W_V128_OR);
    }
    w(p->c, W_V128_ANY_TRUE);
    if (high > 0) {
        push_size(p, v);
        w_i64(p->c, (uint64_t)high);
        w(p->c, W_I64_LT_U);
        w(p->c, W_I32_OR);
    }
    if (!v->u.mem.end) return;
    push_size(p, v);
    w_i64(p->c, v->u.mem.end);
    w(p->c, W_I64_LT_U);
    w(p->c, W_I32_AND);
}

/* "if (some lane may be outside)" */
static void open_if_outside(wa_printer *p, const vec_value *v) {
    const vec_value *index = index_of(v);
    int64_t low = 0, high = 0;
    if (v->u.mem.open || !vec_reach_of_all(p->k, v, &low, &high)) {
        (void)w_open(p->c, W_BLOCK, WASM_VOID);
        return;
    }
    if (index && index->each) {
        push_outside(p, v, low, high);
    } else {
        push_fits(p, v, low, high);
        w(p->c, W_I32_EQZ);
    }
    (void)w_open(p->c, W_IF, WASM_VOID);
}

/* Whether the memory is valid. */
static void push_valid(wa_printer *p, const vec_value *v) {
    if (v->u.mem.space == KIR_SHARED) {
        w_i32(p->c, 1);
        return;
    }
    w_get(p->c, p->l.launch);
    if (v->u.mem.space == KIR_CLASS) {
        w_memory(p->c, W_I32_LOAD8_U, WA_LAUNCH_CLASS + WA_MEMORY_VALID);
        return;
    }
    w_memory(p->c, W_I32_LOAD, WA_LAUNCH_SLOTS);
    w_memory(p->c, W_I32_LOAD8_U, (uint64_t)v->u.mem.slot * WA_MEMORY_BYTES + WA_MEMORY_VALID);
}

/* Of the lanes `bits`, those that go on: their places follow from the index on the way. */
static void call_check(wa_printer *p, const vec_value *v, uint32_t site, uint32_t bits,
                       const uint32_t *lane) {
    const vec_value *index = index_of(v);
    w_get(p->c, p->l.launch);
    push_site(p, site);
    if (v->u.mem.open) {
        w_i32(p->c, v->u.mem.pool);
        w_i32(p->c, v->u.mem.space == KIR_FLAT);
        w_get(p->c, p->l.first);
        wa_lane(p, v->args[0], *lane);
    } else {
        push_size(p, v);
        push_valid(p, v);
        w_get(p->c, p->l.first);
    }
    if (lane && index)
        wa_lane(p, index, *lane);
    else
        push_index(p, v);
    if (!v->u.mem.open) w_i64(p->c, lane ? 0 : (uint64_t)stride_of(v));
    w_i64(p->c, (uint64_t)v->u.mem.disp);
    w_get(p->c, bits);
    if (lane) {
        w_i64(p->c, UINT64_C(1) << *lane);
        w(p->c, W_I64_AND);
    }
    wa_call(p, v->u.mem.open ? WA_HELPER_CHECK_OPEN : WA_HELPER_CHECK);
}

/* Looks at the lanes that are there: of the mask of the CHECK that answers. */
static void check_lanes(wa_printer *p, const vec_value *v, const vec_value *by) {
    const vec_value *index = index_of(v);
    const bool each = v->u.mem.open || (index && index->each);
    const uint64_t mark = p->c->taken.count;
    const uint32_t site = new_site(p, v, 1), bits = here(p, by->mask),
                   gone = wasm_take(p->c, WASM_I64);
    w_get(p->c, bits);
    if (!each) call_check(p, v, site, bits, NULL);
    for (uint32_t lane = 0; lane < p->k->lanes && each; lane++) {
        call_check(p, v, site, bits, &lane);
        if (lane) w(p->c, W_I64_OR);
    }
    w(p->c, W_I64_XOR);
    w_set(p->c, gone);
    wa_end(p, v, gone);
    wasm_release(p->c, mark);
}

static void check(wa_printer *p, const vec_value *v) {
    if (p->of.made[v->id]) return; /* with one in front of it */
    open_if_outside(p, v);
    const vec_value *other = v;
    for (uint32_t i = 0; i <= v->u.mem.may.answers && other; i++) {
        check_lanes(p, other, v);
        p->of.made[other->id] = true;
        other = vec_next_answered(other);
    }
    w(p->c, W_END);
}

static void fits(wa_printer *p, const vec_value *v) {
    const vec_value *index = index_of(v);
    int64_t low = 0, high = 0;
    wa_new(p, v);
    if (!v->u.mem.open && vec_reach_of(p->k, v, &low, &high) && !(index && index->each))
        push_fits(p, v, low, high);
    else
        w_i32(p->c, 0);
    w_set(p->c, wa_local(p, v, 0));
}

/* ---- load and store ---- */

static void load_one(wa_printer *p, const vec_value *v) {
    const vec_value *checked = v->u.mem.may.checked ? vec_check_of(v) : NULL;
    const bool sure = wa_is_all(p, v->mask) || (checked && p->settled && checked->settled);
    wa_new(p, v);
    push_address(p, v);
    if (!sure) { /* of no lane: the element at 0, where nothing is */
        w_i32(p->c, 0);
        wa_bits(p, v->mask);
        w_i64(p->c, 0);
        w(p->c, W_I64_NE);
        w(p->c, W_SELECT);
    }
    wa_load(p, v->type, 0);
    w_set(p->c, wa_local(p, v, 0));
}

static void whole_row(wa_printer *p, const vec_value *v, const vec_value *stored) {
    const uint32_t size = v->u.mem.bytes, lanes = wa_part_lanes(p, size),
                   first = wasm_take(p->c, WASM_I32);
    push_address(p, v);
    w_set(p->c, first);
    for (uint32_t i = 0; i < wa_parts(p, size); i++) {
        w_get(p->c, first);
        if (stored) {
            wa_part(p, stored, size, i);
            wa_store_part(p, size, (uint64_t)i * lanes * size);
        } else {
            wa_load_part(p, size, (uint64_t)i * lanes * size);
            w_set(p->c, wa_local(p, v, i));
        }
    }
    wasm_release(p->c, p->c->taken.count - 1);
}

/* bits: of lanes that take part; NULL: all. */
static void by_lanes(wa_printer *p, const vec_value *v, const vec_value *stored,
                     const uint32_t *bits) {
    const uint32_t size = v->u.mem.bytes, n = wa_part_lanes(p, size);
    const uint64_t mark = p->c->taken.count;
    const uint32_t first = first_address(p, v), part = wasm_take(p->c, WASM_V128);
    for (uint32_t lane = 0; lane < p->k->lanes; lane++) {
        if (lane % n == 0 && (!stored || stored->each)) {
            if (stored)
                wa_part(p, stored, size, lane / n);
            else
                wa_zero_part(p);
            w_set(p->c, stored ? part : wa_local(p, v, lane / n));
        }
        if (bits) open_lane(p, *bits, lane);
        push_lane_address(p, v, first, lane);
        if (stored && !stored->each) {
            wa_one(p, stored);
            wa_store(p, stored->type, 0);
        } else {
            w_get(p->c, stored ? part : wa_local(p, v, lane / n));
            w_memory_lane(p->c, wa_lane_op(size, stored != NULL), 0, lane % n);
            if (!stored) w_set(p->c, wa_local(p, v, lane / n));
        }
        if (bits) w(p->c, W_END);
    }
    wasm_release(p->c, mark);
}

static void open_if_all(wa_printer *p, uint32_t bits) {
    w_get(p->c, bits);
    w_i64(p->c, wa_all(p));
    w(p->c, W_I64_EQ);
    (void)w_open(p->c, W_IF, WASM_VOID);
}

/* A row, or elements anywhere, of the lanes that take part. */
static void access(wa_printer *p, const vec_value *v, const vec_value *stored) {
    const bool row = v->u.mem.reach == VEC_REACH_ROW;
    const bool one = v->u.mem.reach == VEC_REACH_ONE; /* only stores come here */
    int64_t low = 0, high = 0;
    const uint64_t mark = p->c->taken.count;
    if (wa_is_all(p, v->mask)) {
        if (row)
            whole_row(p, v, stored);
        else
            by_lanes(p, v, stored, NULL);
        return;
    }
    const uint32_t bits = wasm_take(p->c, WASM_I64);
    wa_bits(p, v->mask);
    w_set(p->c, bits);
    if (one) {
        by_lanes(p, v, stored, &bits);
    } else {
        if (row && !stored && v->mask && v->u.mem.may.fits && vec_reach_of(p->k, v, &low, &high)) {
            push_fits(p, v, low, high);
            (void)w_open(p->c, W_IF, WASM_VOID);
        } else {
            open_if_all(p, bits);
        }
        if (row)
            whole_row(p, v, stored);
        else
            by_lanes(p, v, stored, NULL);
        w(p->c, W_ELSE);
        by_lanes(p, v, stored, &bits);
        w(p->c, W_END);
    }
    wasm_release(p->c, mark);
}

/* ---- stretches ---- */

/* first: of the round; from: a local with the address. */
static void piece(wa_printer *p, const vec_value *first, const vec_stretch *s, uint32_t from,
                  uint64_t offset, uint32_t k) {
    const bool loads = first->op == VEC_LOAD;
    const uint32_t value = vec_place_args(first), size = first->u.mem.bytes;
    const uint64_t mark = p->c->taken.count;
    uint32_t q[sizeof s->picks / sizeof *s->picks + VEC_MOST_STRETCH];
    const vec_value *member = first;
    for (uint32_t i = 0; i < s->count; i++, member = vec_next_member(member)) {
        q[i] = wasm_take(p->c, WASM_V128);
        if (loads) {
            w_get(p->c, from);
            w_memory(p->c, W_V128_LOAD, offset + s->rows[i]);
        } else {
            wa_part(p, member->args[value], size, k);
        }
        w_set(p->c, q[i]);
    }
    for (uint32_t n = 0; n < s->pick_count; n++) {
        const vec_pick *pick = &s->picks[n];
        uint8_t bytes[16];
        for (uint32_t i = 0; i < 16; i++)
            bytes[i] = (uint8_t)(pick->numbers[i / size] * size + i % size);
        w_get(p->c, q[pick->a]);
        w_get(p->c, q[pick->b]);
        w_shuffle(p->c, bytes);
        q[s->count + n] = wasm_take(p->c, WASM_V128);
        w_set(p->c, q[s->count + n]);
    }
    member = first;
    for (uint32_t i = 0; i < s->count; i++, member = vec_next_member(member)) {
        if (!loads) w_get(p->c, from);
        w_get(p->c, q[s->pick_count + i]);
        if (loads)
            w_set(p->c, wa_local(p, member, k));
        else
            w_memory(p->c, W_V128_STORE, offset + s->rows[i]);
    }
    wasm_release(p->c, mark);
}

/* An instruction's offset has 32 bits. */
static bool reaches_far(const vec_stretch *s) {
    const uint64_t most = INT32_MAX / VEC_MOST_STRETCH;
    bool far = s->by_round > most || s->by_piece > most;
    for (uint32_t i = 0; i < s->count; i++) far = far || s->rows[i] > most;
    return far;
}

/* False: its vectors are not those of WebAssembly. */
static bool stretch(wa_printer *p, const vec_value *v) {
    const vec_value *member = v;
    vec_stretch s;
    vec_plan_stretch(p->k, v, WA_BYTES, &s);
    if (s.length != wa_part_lanes(p, v->u.mem.bytes) || s.length * v->u.mem.bytes != WA_BYTES ||
        reaches_far(&s))
        return false;
    for (uint32_t i = 0; v->op == VEC_LOAD && i < v->u.mem.may.stretch; i++) {
        wa_new(p, member);
        member = vec_next_member(member);
    }
    const uint32_t from = wasm_take(p->c, WASM_I32);
    push_address(p, v);
    w_set(p->c, from);
    member = v;
    for (uint32_t round = 0; round < s.rounds; round++) {
        for (uint32_t k = 0; k < s.pieces; k++)
            piece(p, member, &s, from, round * s.by_round + k * s.by_piece, k);
        for (uint32_t i = 0; i < s.count; i++) member = vec_next_member(member);
    }
    wasm_release(p->c, p->c->taken.count - 1);
    return true;
}

static bool is_in_stretch(wa_printer *p, const vec_value *v) {
    if (p->in_stretch) {
        p->in_stretch--;
        return true;
    }
    const bool holds = p->settled || vec_is_close(v);
    if (!v->u.mem.may.stretch || !holds || !wa_is_all(p, v->mask) || !stretch(p, v)) return false;
    p->in_stretch = v->u.mem.may.stretch - 1u;
    return true;
}

static void load(wa_printer *p, const vec_value *v) {
    if (is_in_stretch(p, v)) return;
    if (v->u.mem.reach == VEC_REACH_ONE && !v->u.mem.open) {
        load_one(p, v);
        return;
    }
    wa_new(p, v);
    access(p, v, NULL);
}

static void store(wa_printer *p, const vec_value *v) {
    if (!is_in_stretch(p, v)) access(p, v, v->args[vec_place_args(v)]);
}

/* ---- atomic, fault ---- */

static bool is_extreme(const vec_value *v) {
    return v->u.mem.atomic >= KIR_ATOMIC_UMIN && v->u.mem.atomic <= KIR_ATOMIC_SMAX;
}

/* The address and the operands are on the stack. The memory of a module that stands alone is one
 * thread's, and arrays begin where its caller likes, but indivisible instructions trap at addresses
 * that are no multiples of their size. */
static void update_alone(wa_printer *p, const vec_value *v) {
    static const wasm_op DO[][2] = {
        [KIR_ATOMIC_ADD] = {W_I32_ADD, W_I64_ADD},    [KIR_ATOMIC_UMIN] = {W_I32_LT_U, W_I64_LT_U},
        [KIR_ATOMIC_SMIN] = {W_I32_LT_S, W_I64_LT_S}, [KIR_ATOMIC_UMAX] = {W_I32_GT_U, W_I64_GT_U},
        [KIR_ATOMIC_SMAX] = {W_I32_GT_S, W_I64_GT_S}, [KIR_ATOMIC_AND] = {W_I32_AND, W_I64_AND},
        [KIR_ATOMIC_OR] = {W_I32_OR, W_I64_OR},       [KIR_ATOMIC_XOR] = {W_I32_XOR, W_I64_XOR},
        [KIR_ATOMIC_EXCH] = {W_DROP, W_DROP},         [KIR_ATOMIC_CAS] = {W_I32_EQ, W_I64_EQ}};
    const bool wide = v->u.mem.bytes == 8, compares = v->u.mem.atomic == KIR_ATOMIC_CAS;
    const wasm_type type = wide ? WASM_I64 : WASM_I32;
    const uint64_t mark = p->c->taken.count;
    const uint32_t at = wasm_take(p->c, WASM_I32), old = wasm_take(p->c, type),
                   value = wasm_take(p->c, type), with = compares ? wasm_take(p->c, type) : value;
    w_set(p->c, value);
    if (compares) w_set(p->c, with);
    w_tee(p->c, at);
    w_get(p->c, at);
    w_memory(p->c, wide ? W_I64_LOAD : W_I32_LOAD, 0);
    w_set(p->c, old);
    if (compares || is_extreme(v)) { /* value or old */
        w_get(p->c, value);
        w_get(p->c, old);
    }
    w_get(p->c, with);
    w_get(p->c, old);
    w(p->c, DO[v->u.mem.atomic][wide]);
    if (compares || is_extreme(v)) w(p->c, W_SELECT);
    w_memory(p->c, wide ? W_I64_STORE : W_I32_STORE, 0);
    w_get(p->c, old);
    wasm_release(p->c, mark);
}

/* The same, indivisible. */
static void update(wa_printer *p, const vec_value *v) {
    const bool wide = v->u.mem.bytes == 8;
    switch ((kir_atomic)v->u.mem.atomic) {
    case KIR_ATOMIC_ADD:
        w_memory(p->c, wide ? W_I64_ATOMIC_RMW_ADD : W_I32_ATOMIC_RMW_ADD, 0);
        break;
    case KIR_ATOMIC_AND:
        w_memory(p->c, wide ? W_I64_ATOMIC_RMW_AND : W_I32_ATOMIC_RMW_AND, 0);
        break;
    case KIR_ATOMIC_OR: w_memory(p->c, wide ? W_I64_ATOMIC_RMW_OR : W_I32_ATOMIC_RMW_OR, 0); break;
    case KIR_ATOMIC_XOR:
        w_memory(p->c, wide ? W_I64_ATOMIC_RMW_XOR : W_I32_ATOMIC_RMW_XOR, 0);
        break;
    case KIR_ATOMIC_EXCH:
        w_memory(p->c, wide ? W_I64_ATOMIC_RMW_XCHG : W_I32_ATOMIC_RMW_XCHG, 0);
        break;
    case KIR_ATOMIC_CAS:
        w_memory(p->c, wide ? W_I64_ATOMIC_RMW_CMPXCHG : W_I32_ATOMIC_RMW_CMPXCHG, 0);
        break;
    default: wa_call(p, wide ? WA_HELPER_ATOMIC_8 : WA_HELPER_ATOMIC_4);
    }
}

static void atomic_lane(wa_printer *p, const vec_value *v, uint32_t site, uint32_t gone,
                        uint32_t lane, uint32_t first) {
    const uint32_t n = vec_place_args(v), size = v->u.mem.bytes;
    const vec_value *index = index_of(v);
    const uint32_t offset = wasm_take(p->c, WASM_I64);
    if (index && index->each)
        wa_lane(p, index, lane);
    else if (index)
        wa_one_64(p, index);
    else
        w_i64(p->c, 0);
    if (!v->u.mem.open && !(index && index->each))
        w_i64(p->c, (uint64_t)v->u.mem.disp + (uint64_t)stride_of(v) * lane);
    else
        w_i64(p->c, (uint64_t)v->u.mem.disp);
    w(p->c, W_I64_ADD);
    w_set(p->c, offset);
    if (v->u.mem.open && v->u.mem.space == KIR_FLAT) { /* the offset is in the handle */
        w_get(p->c, p->l.launch);
        wa_lane(p, v->args[0], lane);
        w_i64(p->c, 0);
        w_i32(p->c, v->u.mem.pool);
        w_i32(p->c, 1);
        wa_call(p, WA_HELPER_FIND);
        w_i64(p->c, (uint64_t)v->u.mem.disp);
        w(p->c, W_I64_ADD);
        w_set(p->c, offset);
        w(p->c, W_DROP);
    }
    w_get(p->c, offset);
    w_i64(p->c, size - 1);
    w(p->c, W_I64_AND);
    w_i64(p->c, 0);
    w(p->c, W_I64_NE);
    (void)w_open(p->c, W_IF, WASM_VOID);
    w_get(p->c, p->l.launch);
    push_site(p, site);
    w_get(p->c, p->l.first);
    w_i64(p->c, lane);
    w(p->c, W_I64_ADD);
    w_get(p->c, offset);
    w_i64(p->c, 0);
    wa_call(p, WA_HELPER_FAULT);
    w_get(p->c, gone);
    w_i64(p->c, UINT64_C(1) << lane);
    w(p->c, W_I64_OR);
    w_set(p->c, gone);
    w(p->c, W_ELSE);
    const bool alone = p->module->m.alone.yes;
    if (is_extreme(v) && !alone) w_i32(p->c, v->u.mem.atomic);
    push_lane_address(p, v, first, lane);
    for (uint32_t i = n; i < v->nargs; i++) wa_lane(p, v->args[i], lane);
    (alone ? update_alone : update)(p, v);
    if (v->uses) {
        const uint32_t per = wa_part_lanes(p, size), old = wasm_take(p->c, wa_scalar(v->type));
        w_set(p->c, old);
        w_get(p->c, wa_local(p, v, lane / per));
        w_get(p->c, old);
        wa_replace(p, v->type, size, lane % per);
        w_set(p->c, wa_local(p, v, lane / per));
    } else {
        w(p->c, W_DROP);
    }
    w(p->c, W_END);
}

static void atomic(wa_printer *p, const vec_value *v) {
    wa_new(p, v);
    const uint64_t mark = p->c->taken.count;
    const uint32_t site = new_site(p, v, 4), bits = wasm_take(p->c, WASM_I64),
                   gone = wasm_take(p->c, WASM_I64), first = first_address(p, v);
    wa_bits(p, v->mask);
    w_set(p->c, bits);
    w_i64(p->c, 0);
    w_set(p->c, gone);
    for (uint32_t i = 0; v->uses && i < wa_parts(p, v->u.mem.bytes); i++) {
        wa_zero_part(p);
        w_set(p->c, wa_local(p, v, i));
    }
    for (uint32_t lane = 0; lane < p->k->lanes; lane++) {
        const uint64_t inside = p->c->taken.count;
        open_lane(p, bits, lane);
        atomic_lane(p, v, site, gone, lane, first);
        w(p->c, W_END);
        wasm_release(p->c, inside);
    }
    w_get(p->c, gone);
    w_i64(p->c, 0);
    w(p->c, W_I64_NE);
    (void)w_open(p->c, W_IF, WASM_VOID);
    if (!p->all_run) wa_end(p, v, gone);
    w(p->c, W_END);
    wasm_release(p->c, mark);
}

/* The element of lane `lane`, a local. */
static void push_lane_of(wa_printer *p, const vec_value *v, uint32_t lane) {
    wa_lane(p, v, 0);
    for (uint32_t i = 1; i < p->k->lanes && v->each; i++) {
        wa_lane(p, v, i);
        w_get(p->c, lane);
        w_i64(p->c, i);
        w(p->c, W_I64_NE);
        w(p->c, W_SELECT);
    }
    if (wa_scalar(v->type) == WASM_I32) w(p->c, W_I64_EXTEND_I32_U);
}

static void fault_if(wa_printer *p, const vec_value *v) {
    const uint64_t mark = p->c->taken.count;
    const uint32_t site = new_site(p, v, v->u.fault.code), gone = here(p, v->mask),
                   lane = wasm_take(p->c, WASM_I64);
    wa_bits(p, v->args[0]);
    w_get(p->c, gone);
    w(p->c, W_I64_AND);
    w_tee(p->c, gone);
    w_i64(p->c, 0);
    w(p->c, W_I64_NE);
    (void)w_open(p->c, W_IF, WASM_VOID);
    w_get(p->c, gone);
    w(p->c, W_I64_CTZ);
    w_set(p->c, lane);
    w_get(p->c, p->l.launch);
    push_site(p, site);
    w_get(p->c, p->l.first);
    w_get(p->c, lane);
    w(p->c, W_I64_ADD);
    for (uint8_t n = 1; n < 3; n++) {
        if (n < v->nargs)
            push_lane_of(p, v->args[n], lane);
        else
            w_i64(p->c, 0);
    }
    wa_call(p, WA_HELPER_FAULT);
    wa_end(p, v, gone);
    w(p->c, W_END);
    wasm_release(p->c, mark);
}

void wa_memory(wa_printer *p, const vec_value *v) {
    switch ((vec_op)v->op) {
    case VEC_LOAD: load(p, v); break;
    case VEC_STORE: store(p, v); break;
    case VEC_CHECK: check(p, v); break;
    case VEC_FITS: fits(p, v); break;
    case VEC_SIZE:
        wa_new(p, v);
        push_size(p, v);
        w_set(p->c, wa_local(p, v, 0));
        break;
    case VEC_ATOMIC: atomic(p, v); break;
    default: fault_if(p, v);
    }
}
