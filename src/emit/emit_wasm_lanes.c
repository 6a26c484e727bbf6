/* Primitives of the vector form in WebAssembly, on all lanes: by vectors, else one lane after the
 * other.
 * Must not know: memory, control flow. */
#include "emit/emit_wasm_internal.h"

static void set_part(wa_printer *p, const vec_value *v, uint32_t i) {
    w_set(p->c, wa_local(p, v, i));
}

/* One after the other: what no vector instruction does. */
static void through_lanes(wa_printer *p, const vec_value *v) {
    const uint32_t size = wa_size(p, v), n = wa_part_lanes(p, size);
    for (uint32_t i = 0; i < wa_parts(p, size); i++) {
        wa_zero_part(p);
        for (uint32_t lane = 0; lane < n; lane++) {
            wa_one_result(p, v, i * n + lane);
            if (v->type == KIR_BOOL) {
                w_i32(p->c, UINT32_MAX);
                w(p->c, W_I32_MUL);
                if (size == 8) w(p->c, W_I64_EXTEND_I32_S);
            }
            wa_replace(p, v->type, size, lane);
        }
        set_part(p, v, i);
    }
}

static void plain(wa_printer *p, const vec_value *v, wasm_op op, uint32_t size) {
    for (uint32_t i = 0; i < wa_parts(p, size); i++) {
        for (uint8_t n = 0; n < v->nargs; n++) wa_part(p, v->args[n], size, i);
        w(p->c, op);
        set_part(p, v, i);
    }
}

static void select_lanes(wa_printer *p, const vec_value *v) {
    const uint32_t size = wa_size(p, v);
    for (uint32_t i = 0; i < wa_parts(p, size); i++) {
        wa_part(p, v->args[1], size, i);
        wa_part(p, v->args[2], size, i);
        if (v->args[0]->each) {
            wa_part(p, v->args[0], size, i);
            w(p->c, W_V128_BITSELECT);
        } else {
            wa_one(p, v->args[0]);
            w(p->c, W_SELECT);
        }
        set_part(p, v, i);
    }
}

static void shift(wa_printer *p, const vec_value *v, uint32_t size) {
    const wasm_op op = WA_OPS[v->prim].vectors[wa_log(size)];
    for (uint32_t i = 0; i < wa_parts(p, size); i++) {
        wa_part(p, v->args[0], size, i);
        wa_one(p, v->args[1]);
        w(p->c, op);
        set_part(p, v, i);
    }
}

static void less_u64(wa_printer *p, const vec_value *v) {
    for (uint32_t i = 0; i < wa_parts(p, 8); i++) {
        for (uint8_t n = 0; n < 2; n++) {
            wa_part(p, v->args[n], 8, i);
            wa_turn(p);
        }
        w(p->c, W_I64X2_LT_S);
        set_part(p, v, i);
    }
}

static void equal_bools(wa_printer *p, const vec_value *v) {
    const uint32_t size = wa_size(p, v);
    for (uint32_t i = 0; i < wa_parts(p, size); i++) {
        wa_part(p, v->args[0], size, i);
        wa_part(p, v->args[1], size, i);
        w(p->c, W_V128_XOR);
        w(p->c, W_V128_NOT);
        set_part(p, v, i);
    }
}

static void high_products_u32(wa_printer *p, const vec_value *v) {
    static const uint8_t high[16] = {4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31};
    for (uint32_t i = 0; i < wa_parts(p, 4); i++) {
        for (int half = 0; half < 2; half++) {
            wa_part(p, v->args[0], 4, i);
            wa_part(p, v->args[1], 4, i);
            w(p->c, half ? W_I64X2_EXTMUL_HIGH_I32X4_U : W_I64X2_EXTMUL_LOW_I32X4_U);
        }
        w_shuffle(p->c, high);
        set_part(p, v, i);
    }
}

/* The halves of vectors as wide floats: half `which` of what is on the stack, as its low one. */
static void take_half(wa_printer *p, bool high) {
    static const uint8_t picks[16] = {8, 9, 10, 11, 12, 13, 14, 15, 8, 9, 10, 11, 12, 13, 14, 15};
    if (!high) return;
    const uint32_t t = wasm_take(p->c, WASM_V128);
    w_tee(p->c, t);
    w_get(p->c, t);
    w_shuffle(p->c, picks);
    wasm_release(p->c, p->c->taken.count - 1);
}

/* The low halves of the two vectors on the stack, as one. */
static void join_halves(wa_printer *p) {
    static const uint8_t picks[16] = {0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23};
    w_shuffle(p->c, picks);
}

static void fma_f32x4(wa_printer *p, const vec_value *v, uint32_t i) {
    const uint64_t mark = p->c->taken.count;
    uint32_t a[3];
    const uint32_t c = wasm_take(p->c, WASM_V128), x = wasm_take(p->c, WASM_V128),
                   s = wasm_take(p->c, WASM_V128), t = wasm_take(p->c, WASM_V128),
                   e = wasm_take(p->c, WASM_V128);
    for (uint8_t n = 0; n < 3; n++) {
        a[n] = wasm_take(p->c, WASM_V128);
        wa_part(p, v->args[n], 4, i);
        w_set(p->c, a[n]);
    }
    for (int half = 0; half < 2; half++) {
        for (uint8_t n = 0; n < 3; n++) {
            w_get(p->c, a[n]);
            take_half(p, half != 0);
            w(p->c, W_F64X2_PROMOTE_LOW_F32X4);
        }
        w_set(p->c, c);
        w(p->c, W_F64X2_MUL);
        w_tee(p->c, x);
        w_get(p->c, c);
        w(p->c, W_F64X2_ADD);
        w_tee(p->c, s);
        w_get(p->c, x);
        w(p->c, W_F64X2_SUB);
        w_set(p->c, t);
        w_get(p->c, x);
        w_get(p->c, s);
        w_get(p->c, t);
        w(p->c, W_F64X2_SUB);
        w(p->c, W_F64X2_SUB);
        w_get(p->c, c);
        w_get(p->c, t);
        w(p->c, W_F64X2_SUB);
        w(p->c, W_F64X2_ADD);
        w_set(p->c, e);
        /* s + ((s ^ e) >> 63 | 1), where e is not 0 and the last bit of s is 0 */
        w_get(p->c, s);
        w_get(p->c, s);
        w_get(p->c, e);
        w(p->c, W_V128_XOR);
        w_i32(p->c, 63);
        w(p->c, W_I64X2_SHR_S);
        wa_splat_bits(p, 1, 8);
        w(p->c, W_V128_OR);
        w_get(p->c, e);
        w(p->c, W_F64X2_ABS);
        wa_zero_part(p);
        w(p->c, W_F64X2_GT);
        w(p->c, W_V128_AND);
        w_get(p->c, s);
        wa_splat_bits(p, 1, 8);
        w(p->c, W_V128_AND);
        wa_zero_part(p);
        w(p->c, W_I64X2_EQ);
        w(p->c, W_V128_AND);
        w(p->c, W_I64X2_ADD);
        w(p->c, W_F32X4_DEMOTE_F64X2_ZERO);
    }
    join_halves(p);
    wasm_release(p->c, mark);
}

static void fma_lanes(wa_printer *p, const vec_value *v) { /* f64 has none: emit_wasm_caps */
    for (uint32_t i = 0; i < wa_parts(p, 4); i++) {
        fma_f32x4(p, v, i);
        set_part(p, v, i);
    }
}

static void product_errors(wa_printer *p, const vec_value *v) {
    for (uint32_t i = 0; i < wa_parts(p, 4); i++) {
        wa_part(p, v->args[0], 4, i);
        wa_part(p, v->args[1], 4, i);
        wa_product_error(p);
        set_part(p, v, i);
    }
}

/* Integers as they are, or as wide as what is asked for. */
static void integers(wa_printer *p, const vec_value *v, bool is_signed) {
    const vec_value *a = v->args[0];
    const uint32_t size = wa_size(p, v);
    for (uint32_t i = 0; i < wa_parts(p, size); i++) {
        if (!a->each)
            wa_part(p, a, size, i);
        else
            wa_resize(p, a, is_signed, size, i);
        if (a->type == KIR_BOOL && v->prim == KIR_ZEXT) {
            wa_splat_bits(p, 1, size);
            w(p->c, W_V128_AND);
        }
        set_part(p, v, i);
    }
}

/* The last bit of each element. */
static void to_bools(wa_printer *p, const vec_value *v) {
    const uint32_t size = wa_size(p, v->args[0]);
    for (uint32_t i = 0; i < wa_parts(p, size); i++) {
        wa_part(p, v->args[0], size, i);
        wa_splat_bits(p, 1, size);
        w(p->c, W_V128_AND);
        wa_splat_bits(p, 1, size);
        wa_equal(p, size);
        set_part(p, v, i);
    }
}

static void to_floats(wa_printer *p, const vec_value *v) {
    const bool is_signed = v->prim == KIR_S2F;
    for (uint32_t i = 0; i < wa_parts(p, wa_size(p, v)); i++) {
        if (v->type == HG_TYPE_F32) {
            wa_resize(p, v->args[0], is_signed, 4, i);
            w(p->c, is_signed ? W_F32X4_CONVERT_I32X4_S : W_F32X4_CONVERT_I32X4_U);
        } else {
            wa_resize(p, v->args[0], is_signed, 4, i / 2);
            take_half(p, (i & 1) != 0);
            w(p->c, is_signed ? W_F64X2_CONVERT_LOW_I32X4_S : W_F64X2_CONVERT_LOW_I32X4_U);
        }
        set_part(p, v, i);
    }
}

static void float_sizes(wa_printer *p, const vec_value *v) {
    const vec_value *a = v->args[0];
    const uint32_t size = wa_size(p, v), from = wa_size(p, a);
    for (uint32_t i = 0; i < wa_parts(p, size); i++) {
        if (size == from) {
            wa_part(p, a, size, i);
        } else if (size == 8) {
            w_get(p->c, wa_local(p, a, i / 2));
            take_half(p, (i & 1) != 0);
            w(p->c, W_F64X2_PROMOTE_LOW_F32X4);
        } else {
            for (uint32_t half = 0; half < 2; half++) {
                const uint32_t part = 2 * i + half;
                w_get(p->c, wa_local(p, a, part < wa_parts(p, 8) ? part : 2 * i));
                w(p->c, W_F32X4_DEMOTE_F64X2_ZERO);
            }
            join_halves(p);
        }
        set_part(p, v, i);
    }
}

/* To integers of 32 bits; false: to others. */
static bool floats_to_words(wa_printer *p, const vec_value *v) {
    const vec_value *a = v->args[0];
    const bool is_signed = v->prim == KIR_F2S;
    if (v->type != HG_TYPE_U32) return false;
    for (uint32_t i = 0; i < wa_parts(p, 4); i++) {
        if (a->type == HG_TYPE_F32) {
            wa_part(p, a, 4, i);
            w(p->c, is_signed ? W_I32X4_TRUNC_SAT_F32X4_S : W_I32X4_TRUNC_SAT_F32X4_U);
        } else {
            for (uint32_t half = 0; half < 2; half++) {
                const uint32_t part = 2 * i + half;
                wa_part(p, a, 8, part < wa_parts(p, 8) ? part : 2 * i);
                w(p->c,
                  is_signed ? W_I32X4_TRUNC_SAT_F64X2_S_ZERO : W_I32X4_TRUNC_SAT_F64X2_U_ZERO);
            }
            join_halves(p);
        }
        set_part(p, v, i);
    }
    return true;
}

static bool convert_lanes(wa_printer *p, const vec_value *v) {
    const vec_value *a = v->args[0];
    switch ((kir_op)v->prim) {
    case KIR_TRUNC:
        if (v->type == KIR_BOOL) {
            to_bools(p, v);
            return true;
        }
        integers(p, v, false);
        return true;
    case KIR_ZEXT:
    case KIR_BITCAST: integers(p, v, a->type == KIR_BOOL); return true;
    case KIR_SEXT: integers(p, v, true); return true;
    case KIR_F2F:
        if (!a->each) return false;
        float_sizes(p, v);
        return true;
    case KIR_U2F:
    case KIR_S2F:
        if (!a->each || wa_size(p, a) > 4) return false;
        to_floats(p, v);
        return true;
    case KIR_F2U:
    case KIR_F2S: return a->each && floats_to_words(p, v);
    default: return false;
    }
}

/* True: it is done by vectors. */
static bool vectors(wa_printer *p, const vec_value *v) {
    const kir_op op = (kir_op)v->prim;
    const vec_value *a = v->args[0];
    const int kind = a->type == KIR_BOOL ? -1 : kir_kind_of(a->type);
    const uint32_t size = a->type == KIR_BOOL ? wa_size(p, v) : (uint32_t)kir_type_bytes(a->type);
    switch (op) {
    case KIR_SELECT: select_lanes(p, v); return true;
    case KIR_FFMA: fma_lanes(p, v); return true;
    case KIR_FMULERR: product_errors(p, v); return true;
    case KIR_CMP_ULT:
        if (a->type != HG_TYPE_U64) break;
        less_u64(p, v);
        return true;
    case KIR_CMP_EQ:
        if (a->type != KIR_BOOL) break;
        equal_bools(p, v);
        return true;
    case KIR_MULHI_U:
        if (a->type != HG_TYPE_U32) return false;
        high_products_u32(p, v);
        return true;
    case KIR_SHL:
    case KIR_LSHR:
    case KIR_ASHR:
        if (v->args[1]->each) return false;
        shift(p, v, size);
        return true;
    default: break;
    }
    if (kir_op_get(op)->class == KIR_CLASS_CONVERT) return convert_lanes(p, v);
    if (!WA_OPS[op].one[0] && !WA_OPS[op].one[2]) return false;
    const wasm_op vector = WA_OPS[op].vectors[kind < 0 ? 2 : kind];
    if (vector == W_NONE) return false;
    plain(p, v, vector, size);
    return true;
}

void wa_prim(wa_printer *p, const vec_value *v) {
    wa_new(p, v);
    if (!v->each) {
        wa_one_result(p, v, 0);
        w_set(p->c, wa_local(p, v, 0));
    } else if (!vectors(p, v)) {
        through_lanes(p, v);
    }
}
