/* Element-wise maps as lane kernels, and what all expansions are built with.
 * Requires: nothing. Provides: modules without faults but for division, without exits. */
#include "plan/expand_internal.h"
#include <stdio.h>

/* ---- building blocks ---- */

kir_module *expand_begin(kir_builder *b, const char *name) {
    kir_module *m = kir_module_create(name);
    kir_builder_init(b, m, m ? kir_function_create(m, name, KIR_VOID) : NULL);
    return m;
}

kir_module *expand_end(kir_builder *b, kir_module *m) {
    if (!b->failed) return m;
    kir_module_destroy(m);
    return NULL;
}

kir_value *expand_input(kir_builder *b, uint32_t i, bool buffer) {
    while (!b->failed && b->module->inputs.count <= i) {
        kir_input *input = hg_vec_push(&b->module->inputs);
        if (!input) {
            b->failed = true;
            break;
        }
        *input = (kir_input){.type = HG_TYPE_U64, .reg = (uint8_t)(b->module->inputs.count - 1), .is_buffer = buffer};
    }
    kir_value *v = kir_emit(b, KIR_INPUT, HG_TYPE_U64, 0, NULL);
    v->u.imm = i;
    return v;
}

kir_value *expand_id(kir_builder *b, hg_idname which, uint8_t type) {
    kir_value *v = kir_emit(b, KIR_ID, type, 0, NULL);
    v->u.imm = which;
    return v;
}

static void place(kir_value *v, uint8_t type, uint32_t handle) {
    uint64_t size = kir_type_bytes(type);
    v->u.mem.space = KIR_BUFFER;
    v->u.mem.bytes = size <= 8 ? (uint8_t)size : 0;
    v->u.mem.bytes_wide = (uint16_t)size;
    v->u.mem.has_index = v->u.mem.unchecked = 1;
    v->u.mem.operand = (uint8_t)(handle + 1);
    v->u.mem.slot = KIR_OPEN;
}

kir_value *expand_load(kir_builder *b, uint8_t type, uint32_t handle, kir_value *index) {
    kir_value *v = kir_emit(b, KIR_LOAD, type, 2, (kir_value *[]){expand_input(b, handle, true), index});
    place(v, type, handle);
    return v;
}

void expand_store(kir_builder *b, uint32_t handle, kir_value *index, kir_value *value) {
    place(kir_emit(b, KIR_STORE, KIR_VOID, 3, (kir_value *[]){expand_input(b, handle, true), index, value}), value->type, handle);
}

/* ---- operations ---- */

static kir_value *divide(kir_builder *b, uint16_t fn, hg_type type, kir_value *const *a) {
    bool is_signed = hg_type_is_signed(type);
    kir_fault_if(b, kir_binary(b, KIR_CMP_EQ, a[1], kir_const(b, a[1]->type, 0)), KIR_FAULT_DIVISION, 3, "division by zero");
    if (fn == HG_OP_DIV) return kir_binary(b, is_signed ? KIR_SDIV : KIR_UDIV, a[0], a[1]);
    return kir_binary(b, is_signed ? KIR_SREM : KIR_UREM, a[0], a[1]);
}

kir_value *expand_operate(kir_builder *b, uint16_t fn, hg_type type, kir_value *const *a) {
    bool real = hg_type_is_float(type);
    switch (fn) {
    case HG_OP_ADD: return kir_add(b, a[0], a[1]);
    case HG_OP_SUB: return kir_sub(b, a[0], a[1]);
    case HG_OP_MUL: return kir_mul(b, a[0], a[1]);
    case HG_OP_DIV:
        if (real) return kir_binary(b, KIR_FDIV, a[0], a[1]);
        return divide(b, fn, type, a);
    case HG_OP_REM:
        if (!real) return divide(b, fn, type, a);
        break;
    case HG_OP_FMA: return real ? kir_ffma(b, a[0], a[1], a[2]) : kir_add(b, kir_mul(b, a[0], a[1]), a[2]);
    case HG_OP_AND: return kir_binary(b, KIR_AND, a[0], a[1]);
    case HG_OP_OR: return kir_binary(b, KIR_OR, a[0], a[1]);
    case HG_OP_XOR: return kir_binary(b, KIR_XOR, a[0], a[1]);
    case HG_OP_SQRT: return kir_unary(b, KIR_FSQRT, a[0]);
    case HG_OP_FLOOR: return real ? kir_unary(b, KIR_FFLOOR, a[0]) : a[0];
    case HG_OP_TRUNC: return real ? kir_unary(b, KIR_FTRUNC, a[0]) : a[0];
    default: break;
    }
    if (kir_define_is_small(fn, type)) return kir_define(b, fn, type, a);
    return kir_derived(b, fn, type, kir_define_args(fn), a);
}

static kir_value *operate_half(kir_builder *b, uint16_t fn, hg_type type, kir_value *const *a, uint8_t nin) {
    if (fn == HG_OP_ABS) return kir_binary(b, KIR_AND, a[0], kir_const(b, HG_TYPE_U16, 0x7FFF));
    if (fn == HG_OP_NEG) return kir_binary(b, KIR_XOR, a[0], kir_const(b, HG_TYPE_U16, 0x8000));
    kir_op up = type == HG_TYPE_F16 ? KIR_H2F : KIR_B2F, down = type == HG_TYPE_F16 ? KIR_F2H : KIR_F2B;
    kir_value *w[3] = {0};
    for (uint8_t i = 0; i < nin; i++) w[i] = kir_convert(b, up, HG_TYPE_F32, a[i]);
    return kir_convert(b, down, HG_TYPE_U16, expand_operate(b, fn, HG_TYPE_F32, w));
}

uint8_t plan_map_args(uint16_t fn) {
    switch (fn) {
    case HG_OP_ADD:
    case HG_OP_SUB:
    case HG_OP_MUL:
    case HG_OP_DIV:
    case HG_OP_REM:
    case HG_OP_AND:
    case HG_OP_OR:
    case HG_OP_XOR: return 2;
    case HG_OP_FMA: return 3;
    case HG_OP_SQRT:
    case HG_OP_FLOOR:
    case HG_OP_TRUNC: return 1;
    default: return kir_define_args(fn);
    }
}

bool plan_map_exists(uint16_t fn, hg_type type) {
    if (expand_is_half(type)) type = HG_TYPE_F32;
    bool real = hg_type_is_float(type);
    switch (fn) {
    case HG_OP_ADD:
    case HG_OP_SUB:
    case HG_OP_MUL:
    case HG_OP_DIV:
    case HG_OP_FMA:
    case HG_OP_FLOOR:
    case HG_OP_TRUNC: return true;
    case HG_OP_REM: return !real || kir_define_exists(fn, type);
    case HG_OP_AND:
    case HG_OP_OR:
    case HG_OP_XOR: return !real;
    case HG_OP_SQRT: return real;
    default: return kir_define_exists(fn, type);
    }
}

/* ---- maps ---- */

kir_module *plan_expand_map(uint16_t fn, hg_type type, bool shifted) {
    char name[64];
    const char *what = fn < HG_OP_COUNT ? hg_op_get((hg_op)fn)->text : fn == KIR_FN_RELU ? "relu" : fn == KIR_FN_ERF ? "erf" : "atan2";
    snprintf(name, sizeof name, "map_%s_%s", what, hg_type_name(type));
    kir_builder builder, *b = &builder;
    kir_module *m = expand_begin(b, name);
    uint8_t nin = plan_map_args(fn), kind = kir_type_of(type);
    for (uint32_t i = 0; i <= nin; i++) expand_input(b, i, true);
    kir_value *lane = expand_id(b, HG_ID_GLOBAL_LANE_ID, HG_TYPE_U64), *a[3] = {0}, *at[4];
    kir_value *index = kir_mul(b, lane, kir_const(b, HG_TYPE_U64, hg_type_size_bytes(type)));
    for (uint32_t i = 0; i <= nin; i++) at[i] = shifted ? kir_add(b, index, expand_input(b, nin + 1u + i, false)) : index;
    for (uint8_t i = 0; i < nin; i++) a[i] = expand_load(b, kind, i, at[i]);
    kir_value *r = expand_is_half(type) ? operate_half(b, fn, type, a, nin) : expand_operate(b, fn, type, a);
    expand_store(b, nin, at[nin], r);
    return expand_end(b, m);
}
