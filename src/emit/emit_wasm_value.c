/* Values of the vector form in WebAssembly: locals, parts, other widths, masks, lanes among each
 * other.
 * Must not know: primitives, memory, control flow. */
#include "emit/emit_wasm_internal.h"

#include <string.h>

wasm_type wa_scalar(uint8_t type) {
    return type == HG_TYPE_U64   ? WASM_I64
           : type == HG_TYPE_F32 ? WASM_F32
           : type == HG_TYPE_F64 ? WASM_F64
                                 : WASM_I32;
}

uint32_t wa_size(const wa_printer *p, const vec_value *v) {
    return v->type == KIR_BOOL ? p->of.widths[v->id] : (uint32_t)kir_type_bytes(v->type);
}

void wa_add_local(wa_printer *p, wasm_type type) {
    uint32_t *local = hg_vec_push(&p->locals);
    if (local)
        *local = wasm_take(p->c, type);
    else
        p->c->bytes.failed = true;
}

void wa_new(wa_printer *p, const vec_value *v) {
    p->of.at[v->id] = (uint32_t)p->locals.count;
    if (!v->each) {
        wa_add_local(p, wa_scalar(v->type));
        return;
    }
    for (uint32_t i = 0; i < wa_parts(p, wa_size(p, v)); i++) wa_add_local(p, WASM_V128);
}

uint32_t wa_local(const wa_printer *p, const vec_value *v, uint32_t part) {
    const uint64_t at = (uint64_t)p->of.at[v->id] + part;
    return at < p->locals.count ? p->locals.data[at] : 0;
}

/* ---- pushing values ---- */

void wa_literal(wa_printer *p, uint8_t type, uint64_t bits) {
    switch (wa_scalar(type)) {
    case WASM_I64: w_i64(p->c, bits); break;
    case WASM_F32: w_f32(p->c, (uint32_t)bits); break;
    case WASM_F64: w_f64(p->c, bits); break;
    default: w_i32(p->c, (uint32_t)bits);
    }
}

void wa_zero(wa_printer *p, uint8_t type) { wa_literal(p, type, 0); }

void wa_one(wa_printer *p, const vec_value *v) {
    if (v->op == VEC_CONST)
        wa_literal(p, v->type, v->u.imm);
    else
        w_get(p->c, wa_local(p, v, 0));
}

void wa_one_64(wa_printer *p, const vec_value *v) {
    wa_one(p, v);
    if (wa_scalar(v->type) == WASM_I32) w(p->c, W_I64_EXTEND_I32_U);
}

int wa_log(uint32_t size) { return size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3; }

void wa_splat(wa_printer *p, uint8_t type, uint32_t size) {
    static const wasm_op INTEGERS[] = {W_I8X16_SPLAT, W_I16X8_SPLAT, W_I32X4_SPLAT, W_I64X2_SPLAT};
    if (type == KIR_BOOL) {
        const uint32_t t = wasm_take(p->c, WASM_I32);
        w_set(p->c, t);
        w_i32(p->c, 0);
        w_get(p->c, t);
        w(p->c, W_I32_SUB);
        w(p->c, W_I32X4_SPLAT);
        wasm_release(p->c, p->c->taken.count - 1);
        return;
    }
    w(p->c, type == HG_TYPE_F32   ? W_F32X4_SPLAT
            : type == HG_TYPE_F64 ? W_F64X2_SPLAT
                                  : INTEGERS[wa_log(size)]);
}

void wa_splat_bits(wa_printer *p, uint64_t bits, uint32_t size) {
    uint8_t bytes[16];
    for (uint32_t i = 0; i < 16; i++) bytes[i] = (uint8_t)(bits >> (8 * (i % size)));
    w_v128(p->c, bytes);
}

void wa_equal(wa_printer *p, uint32_t size) {
    static const wasm_op OPS[] = {W_I8X16_EQ, W_I16X8_EQ, W_I32X4_EQ, W_I64X2_EQ};
    w(p->c, OPS[wa_log(size)]);
}

void wa_turn(wa_printer *p) {
    wa_splat_bits(p, UINT64_C(1) << 63, 8);
    w(p->c, W_V128_XOR);
}

void wa_replace(wa_printer *p, uint8_t type, uint32_t size, uint32_t lane) {
    static const wasm_op INTEGERS[] = {W_I8X16_REPLACE_LANE, W_I16X8_REPLACE_LANE,
                                       W_I32X4_REPLACE_LANE, W_I64X2_REPLACE_LANE};
    w_lane(p->c,
           type == HG_TYPE_F32   ? W_F32X4_REPLACE_LANE
           : type == HG_TYPE_F64 ? W_F64X2_REPLACE_LANE
                                 : INTEGERS[wa_log(size)],
           lane);
}

void wa_extract(wa_printer *p, uint8_t type, uint32_t size, uint32_t lane) {
    static const wasm_op INTEGERS[] = {W_I8X16_EXTRACT_LANE_U, W_I16X8_EXTRACT_LANE_U,
                                       W_I32X4_EXTRACT_LANE, W_I64X2_EXTRACT_LANE};
    w_lane(p->c,
           type == HG_TYPE_F32   ? W_F32X4_EXTRACT_LANE
           : type == HG_TYPE_F64 ? W_F64X2_EXTRACT_LANE
                                 : INTEGERS[wa_log(size)],
           lane);
    if (type != KIR_BOOL) return;
    if (size == 8) w(p->c, W_I32_WRAP_I64);
    w_i32(p->c, 1);
    w(p->c, W_I32_AND);
}

void wa_lane(wa_printer *p, const vec_value *v, uint32_t lane) {
    if (!v->each) {
        wa_one(p, v);
        return;
    }
    const uint32_t size = wa_size(p, v), n = wa_part_lanes(p, size);
    w_get(p->c, wa_local(p, v, lane / n));
    wa_extract(p, v->type, size, lane % n);
}

/* ---- other widths ---- */

/* Part j of a vector of elements of `size` bytes made of v's, which are narrower. */
static void widen(wa_printer *p, const vec_value *v, uint32_t from, bool is_signed, uint32_t size,
                  uint32_t j) {
    static const wasm_op OPS[3][4] = {{W_I16X8_EXTEND_LOW_I8X16_U, W_I16X8_EXTEND_HIGH_I8X16_U,
                                       W_I16X8_EXTEND_LOW_I8X16_S, W_I16X8_EXTEND_HIGH_I8X16_S},
                                      {W_I32X4_EXTEND_LOW_I16X8_U, W_I32X4_EXTEND_HIGH_I16X8_U,
                                       W_I32X4_EXTEND_LOW_I16X8_S, W_I32X4_EXTEND_HIGH_I16X8_S},
                                      {W_I64X2_EXTEND_LOW_I32X4_U, W_I64X2_EXTEND_HIGH_I32X4_U,
                                       W_I64X2_EXTEND_LOW_I32X4_S, W_I64X2_EXTEND_HIGH_I32X4_S}};
    if (size == from) {
        w_get(p->c, wa_local(p, v, j));
        return;
    }
    widen(p, v, from, is_signed, size / 2, j / 2);
    w(p->c, OPS[wa_log(size) - 1][(is_signed ? 2 : 0) + (j & 1)]);
}

/* The low halves of the elements of two vectors on the stack, of `size` bytes before. */
static void halve(wa_printer *p, uint32_t size) {
    uint8_t picks[16];
    for (uint32_t i = 0; i < 16; i++) picks[i] = (uint8_t)(i / (size / 2) * size + i % (size / 2));
    w_shuffle(p->c, picks);
}

/* Part j of a vector of elements of `size` bytes made of v's, which are wider. */
static void narrow(wa_printer *p, const vec_value *v, uint32_t from, uint32_t size, uint32_t j) {
    if (size == from) {
        w_get(p->c, wa_local(p, v, j));
        return;
    }
    const uint32_t more = wa_parts(p, 2 * size);
    narrow(p, v, from, 2 * size, 2 * j);
    narrow(p, v, from, 2 * size, 2 * j + 1 < more ? 2 * j + 1 : 2 * j);
    if (v->type == KIR_BOOL && size < 4)
        w(p->c, size == 2 ? W_I16X8_NARROW_I32X4_S : W_I8X16_NARROW_I16X8_S);
    else
        halve(p, 2 * size);
}

void wa_resize(wa_printer *p, const vec_value *v, bool is_signed, uint32_t size, uint32_t i) {
    const uint32_t from = wa_size(p, v);
    if (from <= size)
        widen(p, v, from, is_signed, size, i);
    else
        narrow(p, v, from, size, i);
}

void wa_part(wa_printer *p, const vec_value *v, uint32_t size, uint32_t i) {
    if (v->each) {
        if (v->type == KIR_BOOL)
            wa_resize(p, v, true, size, i);
        else
            w_get(p->c, wa_local(p, v, i));
    } else if (v->op == VEC_CONST) {
        wa_splat_bits(p, v->type == KIR_BOOL ? (v->u.imm ? UINT64_MAX : 0) : v->u.imm, size);
    } else {
        wa_one(p, v);
        wa_splat(p, v->type, size);
    }
}

/* ---- masks ---- */

bool wa_is_all(const wa_printer *p, const vec_value *mask) {
    return p->all_run && (!mask || (mask->each && vec_has_all_lanes(mask)));
}

void wa_bits(wa_printer *p, const vec_value *mask) {
    static const wasm_op OPS[] = {W_I8X16_BITMASK, W_I16X8_BITMASK, W_I32X4_BITMASK,
                                  W_I64X2_BITMASK};
    if (wa_is_all(p, mask)) {
        w_i64(p->c, wa_all(p));
    } else if (!mask) {
        w_get(p->c, p->l.run);
    } else if (!mask->each) {
        w_i64(p->c, wa_all(p));
        w_i64(p->c, 0);
        wa_one(p, mask);
        w(p->c, W_SELECT);
    } else {
        const uint32_t size = wa_size(p, mask), lanes = wa_part_lanes(p, size);
        for (uint32_t i = 0; i < wa_parts(p, size); i++) {
            w_get(p->c, wa_local(p, mask, i));
            w(p->c, OPS[wa_log(size)]);
            if (lanes * size < WA_BYTES) {
                w_i32(p->c, (UINT32_C(1) << lanes) - 1);
                w(p->c, W_I32_AND);
            }
            w(p->c, W_I64_EXTEND_I32_U);
            if (!i) continue;
            w_i64(p->c, i * lanes);
            w(p->c, W_I64_SHL);
            w(p->c, W_I64_OR);
        }
    }
}

void wa_lanes(wa_printer *p, uint32_t bits, uint32_t size, uint32_t i) {
    const uint32_t lanes = wa_part_lanes(p, size);
    uint8_t each[16] = {0};
    w_get(p->c, bits);
    if (i) {
        w_i64(p->c, i * lanes);
        w(p->c, W_I64_SHR_U);
    }
    if (size < 8) w(p->c, W_I32_WRAP_I64);
    if (size == 1) { /* a byte has eight bits, and there may be sixteen lanes */
        const uint32_t t = wasm_take(p->c, WASM_V128);
        const uint8_t picks[16] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1};
        w(p->c, W_I32X4_SPLAT);
        w_tee(p->c, t);
        w_get(p->c, t);
        w_shuffle(p->c, picks);
        wasm_release(p->c, p->c->taken.count - 1);
    } else {
        wa_splat(p, size == 2 ? HG_TYPE_U16 : size == 4 ? HG_TYPE_U32 : HG_TYPE_U64, size);
    }
    for (uint32_t n = 0; n < 16 / size; n++) each[n * size] = (uint8_t)(1u << (n % 8));
    w_v128(p->c, each);
    w(p->c, W_V128_AND);
    w_v128(p->c, each);
    wa_equal(p, size);
}

/* ---- lanes among each other ---- */

/* Part j of the source, where j is what is on the stack as a local, of `count`. */
static void pick_part(wa_printer *p, const vec_value *from, uint32_t size, uint32_t number,
                      uint32_t count) {
    wa_part(p, from, size, 0);
    for (uint32_t i = 1; i < count; i++) {
        wa_part(p, from, size, i);
        w_get(p->c, number);
        w_i32(p->c, i);
        w(p->c, W_I32_NE);
        w(p->c, W_SELECT);
    }
}

void wa_exchange(wa_printer *p, const vec_value *v) {
    const uint32_t size = wa_size(p, v), count = wa_parts(p, size), n = wa_part_lanes(p, size);
    uint8_t numbers[16];
    wa_new(p, v);
    const uint64_t mark = p->c->taken.count;
    const uint32_t by = wasm_take(p->c, WASM_I32), picks = wasm_take(p->c, WASM_V128),
                   number = wasm_take(p->c, WASM_I32);
    wa_one(p, v->args[1]);
    if (wa_scalar(v->args[1]->type) == WASM_I64) w(p->c, W_I32_WRAP_I64);
    w_set(p->c, by);
    for (uint32_t i = 0; i < 16; i++) numbers[i] = (uint8_t)i;
    w_v128(p->c, numbers); /* bytes of lane l xor by: their numbers xor by * size */
    w_get(p->c, by);
    w_i32(p->c, n - 1);
    w(p->c, W_I32_AND);
    w_i32(p->c, size);
    w(p->c, W_I32_MUL);
    w(p->c, W_I8X16_SPLAT);
    w(p->c, W_V128_XOR);
    w_set(p->c, picks);
    for (uint32_t i = 0; i < count; i++) {
        w_i32(p->c, i);
        w_get(p->c, by);
        w_i32(p->c, n);
        w(p->c, W_I32_DIV_U);
        w(p->c, W_I32_XOR);
        w_set(p->c, number);
        pick_part(p, v->args[0], size, number, count);
        w_get(p->c, picks);
        w(p->c, W_I8X16_SWIZZLE);
        w_set(p->c, wa_local(p, v, i));
    }
    wasm_release(p->c, mark);
}

/* Part i begins within a part of both arguments, one behind the other, and ends in the next. */
void wa_slide(wa_printer *p, const vec_value *v) {
    const uint32_t size = wa_size(p, v), count = wa_parts(p, size), n = wa_part_lanes(p, size);
    wa_new(p, v);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t first = (count + i) * n - (uint32_t)v->u.imm;
        uint8_t picks[16] = {0};
        for (uint32_t j = 0; j < 2; j++) {
            const uint32_t k = first / n + j < 2 * count ? first / n + j : first / n;
            wa_part(p, v->args[k < count], size, k % count);
        }
        for (uint32_t b = 0; b < n * size; b++) {
            const uint32_t lane = first % n + b / size;
            picks[b] = (uint8_t)(lane / n * 16 + lane % n * size + b % size);
        }
        w_shuffle(p->c, picks);
        w_set(p->c, wa_local(p, v, i));
    }
}

void wa_pick(wa_printer *p, const vec_value *v) {
    wa_new(p, v);
    wa_lane(p, v->args[0], (uint32_t)v->u.imm);
    w_set(p->c, wa_local(p, v, 0));
}

/* ---- in memory ---- */

void wa_load(wa_printer *p, uint8_t type, uint64_t offset) {
    static const wasm_op OPS[] = {W_I32_LOAD8_U, W_I32_LOAD16_U, W_I32_LOAD,
                                  W_I64_LOAD,    W_F32_LOAD,     W_F64_LOAD};
    w_memory(p->c, OPS[kir_kind_of(type)], offset);
}

void wa_store(wa_printer *p, uint8_t type, uint64_t offset) {
    static const wasm_op OPS[] = {W_I32_STORE8, W_I32_STORE16, W_I32_STORE,
                                  W_I64_STORE,  W_F32_STORE,   W_F64_STORE};
    w_memory(p->c, OPS[kir_kind_of(type)], offset);
}

wasm_op wa_lane_op(uint32_t size, bool stores) {
    static const wasm_op OPS[] = {W_V128_LOAD8_LANE,   W_V128_LOAD16_LANE, W_V128_LOAD32_LANE,
                                  W_V128_LOAD64_LANE,  W_V128_STORE8_LANE, W_V128_STORE16_LANE,
                                  W_V128_STORE32_LANE, W_V128_STORE64_LANE};
    return OPS[wa_log(size) + (stores ? 4 : 0)];
}

/* All lanes' elements that are in one part. */
void wa_load_part(wa_printer *p, uint32_t size, uint64_t offset) {
    const uint32_t bytes = wa_part_lanes(p, size) * size;
    w_memory(p->c,
             bytes == 16  ? W_V128_LOAD
             : bytes == 8 ? W_V128_LOAD64_ZERO
                          : W_V128_LOAD32_ZERO,
             offset);
}

void wa_store_part(wa_printer *p, uint32_t size, uint64_t offset) {
    const uint32_t bytes = wa_part_lanes(p, size) * size;
    if (bytes == 16)
        w_memory(p->c, W_V128_STORE, offset);
    else
        w_memory_lane(p->c, wa_lane_op(bytes, true), offset, 0);
}
