/* Variables, private arrays, tables, places of lanes and masks of the vector form in WebAssembly.
 * Must not know: primitives, memory, control flow. */
#include "emit/emit_wasm_internal.h"

/* ---- variables ---- */

uint32_t wa_var_bytes(const wa_printer *p, const vec_var *var) {
    return vec_var_size(var, p->mask_bytes);
}

wa_var *wa_var_of(const wa_printer *p, const vec_var *var) {
    return var->shared ? &p->shared[var->id] : &p->vars[var->id];
}

/* Bytes in memory: of an array, or of a value. */
uint32_t wa_var_memory(const wa_printer *p, const vec_var *var) {
    const uint32_t size = wa_var_bytes(p, var),
                   one = var->each ? wa_parts(p, size) * WA_BYTES : WA_BYTES;
    return var->length ? var->length * p->k->lanes * size : one;
}

uint32_t wa_align(uint32_t bytes) { return (bytes + 15) & ~15u; }

static uint32_t part_local(const wa_printer *p, const wa_var *at, uint32_t i) {
    return at->first + i < p->locals.count ? p->locals.data[at->first + i] : 0;
}

static uint64_t part_offset(const wa_var *at, uint32_t i) {
    return at->offset + (uint64_t)i * WA_BYTES;
}

void wa_push_var(wa_printer *p, const vec_var *var, uint32_t i) {
    const wa_var *at = wa_var_of(p, var);
    if (!at->in_memory) {
        w_get(p->c, part_local(p, at, i));
        return;
    }
    w_get(p->c, at->base);
    if (var->each)
        w_memory(p->c, W_V128_LOAD, part_offset(at, i));
    else if (var->type == KIR_BOOL)
        w_memory(p->c, W_I32_LOAD, at->offset);
    else
        wa_load(p, var->type, at->offset);
}

void wa_begin_set(wa_printer *p, const vec_var *var) {
    const wa_var *at = wa_var_of(p, var);
    if (at->in_memory) w_get(p->c, at->base);
}

void wa_set_var(wa_printer *p, const vec_var *var, uint32_t i) {
    const wa_var *at = wa_var_of(p, var);
    if (!at->in_memory)
        w_set(p->c, part_local(p, at, i));
    else if (var->each)
        w_memory(p->c, W_V128_STORE, part_offset(at, i));
    else if (var->type == KIR_BOOL)
        w_memory(p->c, W_I32_STORE, at->offset);
    else
        wa_store(p, var->type, at->offset);
}

void wa_zero_part(wa_printer *p) {
    static const uint8_t zeros[16];
    w_v128(p->c, zeros);
}

void wa_fill_zero(wa_printer *p, uint32_t base, uint32_t offset, uint32_t bytes) {
    if (!bytes) return;
    w_get(p->c, base);
    w_i32(p->c, offset);
    w(p->c, W_I32_ADD);
    w_i32(p->c, 0);
    w_i32(p->c, bytes);
    w(p->c, W_MEMORY_FILL);
}

/* Gives the variable its place. *frame: bytes that are in use. */
static void place_var(wa_printer *p, const vec_var *var, uint32_t base, uint32_t *frame) {
    wa_var *at = wa_var_of(p, var);
    if (var->length || var->shared || var->kept) {
        *at = (wa_var){.in_memory = true, .base = base, .offset = *frame};
        *frame += wa_align(wa_var_memory(p, var));
        if (var->length && var->type == KIR_BOOL)
            p->unsupported = "a private array of truth values";
        return;
    }
    *at = (wa_var){.first = (uint32_t)p->locals.count};
    const uint32_t count = var->each ? wa_parts(p, wa_var_bytes(p, var)) : 1;
    for (uint32_t i = 0; i < count; i++)
        wa_add_local(p, var->each ? WASM_V128 : wa_scalar(var->type));
}

/* Variables of a function in locals, and arrays in its frame; those that a turn of a block keeps,
 * in its record. */
void wa_place_vars(wa_printer *p, const vec_function *f) {
    uint32_t frame = p->memory.frames[f->id].at, kept = 16 + p->memory.shared_bytes;
    for (const vec_var *var = f->vars; var; var = var->next)
        if (!var->by_reference)
            place_var(p, var, var->kept ? p->b.kept : p->l.frame, var->kept ? &kept : &frame);
    for (uint8_t n = 0; n < f->array_count; n++)
        p->vars[f->array_params[n]->id] = (wa_var){.in_memory = true,
                                                   .base = (f->masked ? 5u : 2u) + n};
    uint32_t shared = 0;
    for (const vec_var *var = p->k->shared; var; var = var->next)
        place_var(p, var, p->l.shared_at, &shared);
}

/* Zero as at the start of a turn. turns: those of a TURNS, NULL: of none. */
void wa_clear_vars(wa_printer *p, const vec_value *turns, bool locals) {
    for (const vec_var *var = p->f->vars; var; var = var->next) {
        if (var->by_reference || var->kept || var->turns != turns) continue;
        const wa_var *at = wa_var_of(p, var);
        if (at->in_memory) {
            wa_fill_zero(p, at->base, at->offset, wa_var_memory(p, var));
            continue;
        }
        const uint32_t count = var->each ? wa_parts(p, wa_var_bytes(p, var)) : 1;
        for (uint32_t i = 0; i < count && locals; i++) {
            if (var->each)
                wa_zero_part(p);
            else
                wa_zero(p, var->type);
            wa_set_var(p, var, i);
        }
    }
}

static void get(wa_printer *p, const vec_value *v) {
    wa_new(p, v);
    for (uint32_t i = 0; i < (v->each ? wa_parts(p, wa_size(p, v)) : 1); i++) {
        wa_push_var(p, v->u.var, i);
        w_set(p->c, wa_local(p, v, i));
    }
}

static void set(wa_printer *p, const vec_value *v) {
    const vec_var *var = v->u.var;
    if (!var->each) {
        wa_begin_set(p, var);
        wa_one(p, v->args[0]);
        wa_set_var(p, var, 0);
        return;
    }
    const uint32_t size = wa_var_bytes(p, var);
    const bool some = v->mask && !wa_is_all(p, v->mask);
    for (uint32_t i = 0; i < wa_parts(p, size); i++) {
        wa_begin_set(p, var);
        wa_part(p, v->args[0], size, i);
        if (some) {
            wa_push_var(p, var, i);
            wa_part(p, v->mask, size, i);
            w(p->c, W_V128_BITSELECT);
        }
        wa_set_var(p, var, i);
    }
}

/* The address of an element of a private array, but for the array's own offset. */
static void push_element(wa_printer *p, const wa_var *at, uint32_t lane, uint32_t size,
                         uint32_t number) {
    w_get(p->c, at->base);
    w_get(p->c, number);
    w_i32(p->c, p->k->lanes * size);
    w(p->c, W_I32_MUL);
    w(p->c, W_I32_ADD);
    w_i32(p->c, lane * size);
    w(p->c, W_I32_ADD);
}

/* A local with the index of a lane, or of all; out of range it is 0. */
static uint32_t element_number(wa_printer *p, const vec_value *index, uint32_t lane,
                               uint32_t length, uint32_t inside) {
    const uint32_t number = wasm_take(p->c, WASM_I32);
    const bool wide = wa_scalar(index->type) == WASM_I64;
    wa_lane(p, index, lane);
    if (wide) w(p->c, W_I32_WRAP_I64);
    w_tee(p->c, number);
    w_i32(p->c, 0);
    wa_lane(p, index, lane);
    if (wide)
        w_i64(p->c, length);
    else
        w_i32(p->c, length);
    w(p->c, wide ? W_I64_LT_U : W_I32_LT_U);
    w_tee(p->c, inside);
    w(p->c, W_SELECT);
    w_set(p->c, number);
    return number;
}

static void array(wa_printer *p, const vec_value *v) {
    const vec_var *var = v->u.var;
    const wa_var *at = wa_var_of(p, var);
    const vec_value *index = v->args[0], *value = v->nargs > 1 ? v->args[1] : NULL;
    const uint32_t size = wa_var_bytes(p, var), n = wa_part_lanes(p, size);
    if (!value) wa_new(p, v);
    const uint64_t mark = p->c->taken.count;
    const uint32_t inside = wasm_take(p->c, WASM_I32), bits = wasm_take(p->c, WASM_I64);
    if (!index->each && !value) {
        const uint32_t number = element_number(p, index, 0, var->length, inside);
        for (uint32_t i = 0; i < wa_parts(p, size); i++) {
            push_element(p, at, 0, size, number);
            wa_load_part(p, size, at->offset + (uint64_t)i * n * size);
            w_set(p->c, wa_local(p, v, i));
        }
        wasm_release(p->c, mark);
        return;
    }
    wa_bits(p, v->mask);
    w_set(p->c, bits);
    for (uint32_t lane = 0; lane < p->k->lanes; lane++) {
        const uint64_t one = p->c->taken.count;
        const uint32_t number = element_number(p, index, lane, var->length, inside);
        if (value) {
            w_get(p->c, inside);
            w_get(p->c, bits);
            w_i64(p->c, lane);
            w(p->c, W_I64_SHR_U);
            w(p->c, W_I32_WRAP_I64);
            w(p->c, W_I32_AND);
            (void)w_open(p->c, W_IF, WASM_VOID);
            push_element(p, at, lane, size, number);
            wa_lane(p, value, lane);
            wa_store(p, var->type, at->offset);
            w(p->c, W_END);
        } else {
            if (lane % n == 0)
                wa_zero_part(p);
            else
                w_get(p->c, wa_local(p, v, lane / n));
            push_element(p, at, lane, size, number);
            wa_load(p, var->type, at->offset);
            wa_replace(p, v->type, size, lane % n);
            w_set(p->c, wa_local(p, v, lane / n));
        }
        wasm_release(p->c, one);
    }
    wasm_release(p->c, mark);
}

/* An element of a table, whose index is on the way; out of range: of the first. */
static void push_table(wa_printer *p, const vec_value *v, uint32_t lane, uint32_t inside) {
    const kir_table *t = v->u.table;
    const uint32_t size = (uint32_t)kir_type_bytes(t->type),
                   number = element_number(p, v->args[0], lane, t->length, inside);
    w_number(p->c, W_GLOBAL_GET, WASM_MEMORY_BASE);
    w_get(p->c, number);
    w_i32(p->c, size);
    w(p->c, W_I32_MUL);
    w(p->c, W_I32_ADD);
    wa_load(p, v->type, p->memory.tables[t->id]);
    wasm_release(p->c, p->c->taken.count - 1);
}

static void table(wa_printer *p, const vec_value *v) {
    wa_new(p, v);
    const uint32_t inside = wasm_take(p->c, WASM_I32);
    if (!v->each) {
        push_table(p, v, 0, inside);
        w_set(p->c, wa_local(p, v, 0));
    } else {
        const uint32_t size = wa_size(p, v), n = wa_part_lanes(p, size);
        for (uint32_t i = 0; i < wa_parts(p, size); i++) {
            wa_zero_part(p);
            for (uint32_t lane = 0; lane < n; lane++) {
                push_table(p, v, i * n + lane, inside);
                wa_replace(p, v->type, size, lane);
            }
            w_set(p->c, wa_local(p, v, i));
        }
    }
    wasm_release(p->c, p->c->taken.count - 1);
}

/* ---- leaves, masks ---- */

static void push_coordinate(wa_printer *p, uint32_t number, uint32_t lane) {
    w_get(p->c, p->l.launch);
    w_i32(p->c, number);
    w_get(p->c, p->l.first);
    if (lane) {
        w_i64(p->c, lane);
        w(p->c, W_I64_ADD);
    }
    wa_call(p, WA_HELPER_COORDINATE);
}

static void id(wa_printer *p, const vec_value *v) {
    const hg_idname name = (hg_idname)v->u.imm;
    const uint32_t axis = hg_idname_axis(name);
    const bool in_block = wa_in_block(p);
    wa_new(p, v);
    switch (hg_idname_part(name)) {
    case HG_PART_LANE_COUNT:
        w_get(p->c, p->l.launch);
        w_memory(p->c, W_I64_LOAD, WA_LAUNCH_LANES);
        break;
    case HG_PART_BLOCK_DIM:
    case HG_PART_GRID_DIM:
        w_get(p->c, p->l.launch);
        w_memory(p->c, W_I32_LOAD,
                 (hg_idname_part(name) == HG_PART_GRID_DIM ? WA_LAUNCH_GRID : WA_LAUNCH_BLOCK) +
                     4 * axis);
        break;
    case HG_PART_BLOCK_IDX:
        if (in_block)
            w_get(p->c, p->b.block[axis]);
        else
            push_coordinate(p, axis + 3, 0);
        break;
    default:
        if (in_block)
            w_get(p->c, p->b.turn[axis]);
        else
            push_coordinate(p, axis, 0);
    }
    w_set(p->c, wa_local(p, v, 0));
}

static void coordinate(wa_printer *p, const vec_value *v) {
    const hg_idname name = (hg_idname)v->u.imm;
    const uint32_t number = hg_idname_axis(name) +
                            (hg_idname_part(name) == HG_PART_BLOCK_IDX ? 3 : 0),
                   size = wa_size(p, v), n = wa_part_lanes(p, size);
    wa_new(p, v);
    for (uint32_t i = 0; i < wa_parts(p, size); i++) {
        wa_zero_part(p);
        for (uint32_t lane = 0; lane < n; lane++) {
            push_coordinate(p, number, i * n + lane);
            if (size == 8) w(p->c, W_I64_EXTEND_I32_U);
            wa_replace(p, v->type, size, lane);
        }
        w_set(p->c, wa_local(p, v, i));
    }
}

static void ramp(wa_printer *p, const vec_value *v) {
    const uint32_t size = wa_size(p, v), n = wa_part_lanes(p, size);
    wa_new(p, v);
    for (uint32_t i = 0; i < wa_parts(p, size); i++) {
        uint8_t bytes[16] = {0};
        for (uint32_t b = 0; b < n * size; b++)
            bytes[b] = (uint8_t)((v->u.imm * (i * n + b / size)) >> (8 * (b % size)));
        wa_part(p, v->args[0], size, i);
        w_v128(p->c, bytes);
        w(p->c, WA_OPS[KIR_ADD].vectors[wa_log(size)]);
        w_set(p->c, wa_local(p, v, i));
    }
}

static void running(wa_printer *p, const vec_value *v) {
    const uint32_t size = wa_size(p, v);
    wa_new(p, v);
    for (uint32_t i = 0; i < wa_parts(p, size); i++) {
        wa_lanes(p, p->l.run, size, i);
        w_set(p->c, wa_local(p, v, i));
    }
}

static void any(wa_printer *p, const vec_value *v) {
    const vec_value *mask = v->args[0];
    wa_new(p, v);
    const uint32_t size = mask->each ? wa_size(p, mask) : 0;
    if (wa_is_all(p, mask)) {
        w_i32(p->c, 1);
    } else if (mask->each && mask->op != VEC_RUNNING && wa_part_lanes(p, size) * size == WA_BYTES) {
        for (uint32_t i = 0; i < wa_parts(p, size); i++) {
            w_get(p->c, wa_local(p, mask, i));
            if (i) w(p->c, W_V128_OR);
        }
        w(p->c, W_V128_ANY_TRUE);
    } else {
        if (mask->op == VEC_RUNNING)
            w_get(p->c, p->l.run);
        else
            wa_bits(p, mask);
        w_i64(p->c, 0);
        w(p->c, W_I64_NE);
    }
    w_set(p->c, wa_local(p, v, 0));
}

static void leave(wa_printer *p, const vec_value *v) {
    const uint32_t bits = wasm_take(p->c, WASM_I64);
    wa_bits(p, v->mask);
    w_set(p->c, bits);
    if (v->leave.exits && p->f != p->k->functions) {
        w_get(p->c, p->l.ended);
        w_get(p->c, bits);
        w_get(p->c, p->l.run);
        w(p->c, W_I64_AND);
        w(p->c, W_I64_OR);
        w_set(p->c, p->l.ended);
    }
    if (v->leave.ends && wa_in_block(p)) {
        w_get(p->c, p->b.intact);
        w_get(p->c, bits);
        w(p->c, W_I64_EQZ);
        w(p->c, W_I32_AND);
        w_set(p->c, p->b.intact);
    }
    if (v->leave.ends) {
        w_get(p->c, p->l.run);
        w_get(p->c, bits);
        w_i64(p->c, UINT64_MAX);
        w(p->c, W_I64_XOR);
        w(p->c, W_I64_AND);
        w_set(p->c, p->l.run);
    }
    for (uint8_t k = 0; k < v->loses.count; k++) {
        const vec_var *var = v->loses.vars[k];
        const uint32_t size = wa_var_bytes(p, var);
        for (uint32_t i = 0; i < wa_parts(p, size); i++) {
            wa_begin_set(p, var);
            wa_push_var(p, var, i);
            wa_part(p, v->mask, size, i);
            w(p->c, W_V128_ANDNOT);
            wa_set_var(p, var, i);
        }
    }
    wasm_release(p->c, p->c->taken.count - 1);
}

void wa_leaf(wa_printer *p, const vec_value *v) {
    switch ((vec_op)v->op) {
    case VEC_GET: get(p, v); break;
    case VEC_SET: set(p, v); break;
    case VEC_ARRAY_GET:
    case VEC_ARRAY_SET: array(p, v); break;
    case VEC_TABLE_GET: table(p, v); break;
    case VEC_ID: id(p, v); break;
    case VEC_COORDINATE: coordinate(p, v); break;
    case VEC_RAMP: ramp(p, v); break;
    case VEC_RUNNING: running(p, v); break;
    case VEC_ANY: any(p, v); break;
    default: leave(p, v);
    }
}
