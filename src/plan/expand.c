/* Element-wise maps as lane kernels, and what all expansions are built with.
 * Requires: nothing. Provides: modules without faults but for division, without exits. */
#include "plan/expand_internal.h"
#include "kir/access.h"
#include "kir/builder.h"
#include "kir/define/define.h"
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

static kir_place place(kir_builder *b, uint32_t handle, kir_value *index) {
    return (kir_place){
        .space = KIR_BUFFER, .handle = expand_input(b, handle, true), .index = index, .operand = (uint8_t)(handle + 1), .unchecked = true};
}

kir_value *expand_load(kir_builder *b, uint8_t type, uint32_t handle, kir_value *index) {
    kir_place at = place(b, handle, index);
    return kir_access_make(b, KIR_LOAD, type, &at, 0, NULL);
}

void expand_store(kir_builder *b, uint32_t handle, kir_value *index, kir_value *value) {
    kir_place at = place(b, handle, index);
    kir_access_make(b, KIR_STORE, value->type, &at, 1, &value);
}

/* ---- maps ---- */

kir_module *plan_expand_map(uint16_t fn, hg_type type, bool shifted) {
    char name[64];
    snprintf(name, sizeof name, "map_%s_%s", kir_fn_name(fn), hg_type_name(type));
    kir_builder builder, *b = &builder;
    kir_module *m = expand_begin(b, name);
    uint8_t nin = kir_operate_args(fn), kind = kir_type_of(type);
    for (uint32_t i = 0; i <= nin; i++) expand_input(b, i, true);
    kir_value *lane = expand_id(b, HG_ID_GLOBAL_LANE_ID, HG_TYPE_U64), *a[3] = {0}, *at[4];
    kir_value *index = kir_mul(b, lane, kir_const(b, HG_TYPE_U64, hg_type_size_bytes(type)));
    for (uint32_t i = 0; i <= nin; i++) at[i] = shifted ? kir_add(b, index, expand_input(b, nin + 1u + i, false)) : index;
    for (uint8_t i = 0; i < nin; i++) a[i] = expand_load(b, kind, i, at[i]);
    expand_store(b, nin, at[nin], kir_operate(b, fn, type, a));
    return expand_end(b, m);
}
