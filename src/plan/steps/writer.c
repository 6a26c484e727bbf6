/* Building blocks of the kernels of expansions. */
#include "plan/steps/writer.h"
#include "kir/access.h"

/* Input number i: those of a key are declared in order. */
static kir_value *input(expand_kernel *w, uint32_t i, uint8_t type) {
    kir_builder *b = &w->b;
    while (!b->failed && b->module->inputs.count <= i) {
        kir_input *input = hg_vec_push(&b->module->inputs);
        if (!input) {
            b->failed = true;
            break;
        }
        *input = (kir_input){.type = HG_TYPE_U64,
                             .reg = (uint8_t)(b->module->inputs.count - 1),
                             .is_buffer = b->module->inputs.count <= w->key->arrays};
    }
    if (!b->failed) b->module->inputs.data[i].type = type;
    kir_value *v = kir_emit(b, KIR_INPUT, type, 0, NULL);
    v->u.imm = i;
    return v;
}

void expand_begin(expand_kernel *w, const plan_kernel_key *key, const char *name) {
    kir_module *m = kir_module_create(name);
    w->key = key;
    kir_builder_init(&w->b, m, m ? kir_function_create(m, name, KIR_VOID) : NULL);
    for (uint32_t i = 0; i < key->arrays; i++) input(w, i, HG_TYPE_U64);
}

kir_module *expand_end(expand_kernel *w) {
    if (!w->b.failed) return w->b.module;
    kir_module_destroy(w->b.module);
    (void)hg_fail_memory();
    return NULL;
}

kir_value *expand_value(expand_kernel *w, uint32_t i) {
    return input(w, w->key->arrays + i, HG_TYPE_U64);
}
kir_value *expand_scalar(expand_kernel *w, uint32_t i, uint8_t type) {
    return input(w, w->key->arrays + i, type);
}

kir_value *expand_size(expand_kernel *w, uint32_t array) {
    return input(w, 2u * w->key->arrays + w->key->values + array, HG_TYPE_U64);
}

kir_value *expand_id(expand_kernel *w, hg_idname which, uint8_t type) {
    kir_value *v = kir_emit(&w->b, KIR_ID, type, 0, NULL);
    v->u.imm = which;
    return v;
}

static kir_place place(expand_kernel *w, uint32_t array, kir_value *byte) {
    if (w->key->shifted >> array & 1)
        byte = kir_add(&w->b, byte,
                       input(w, (uint32_t)w->key->arrays + w->key->values + array, HG_TYPE_U64));
    return (kir_place){.space = KIR_BUFFER,
                       .handle = input(w, array, HG_TYPE_U64),
                       .index = byte,
                       .operand = (uint8_t)(array + 1),
                       .unchecked = true};
}

kir_value *expand_load(expand_kernel *w, uint8_t type, uint32_t array, kir_value *byte) {
    kir_place at = place(w, array, byte);
    return kir_access_make(&w->b, KIR_LOAD, type, &at, 0, NULL);
}

void expand_store(expand_kernel *w, uint32_t array, kir_value *byte, kir_value *value) {
    kir_place at = place(w, array, byte);
    kir_access_make(&w->b, KIR_STORE, value->type, &at, 1, &value);
}

kir_value *expand_above(expand_kernel *w, kir_value *x, kir_value *limit) {
    kir_builder *b = &w->b;
    kir_value *most = kir_const(b, HG_TYPE_U64, UINT32_MAX),
              *small = kir_binary(b, KIR_CMP_ULT, limit, most),
              *least = kir_select(b, small, limit, most);
    return kir_binary(b, KIR_CMP_ULT, kir_convert(b, KIR_TRUNC, HG_TYPE_U32, least), x);
}

kir_value *expand_not_below(expand_kernel *w, kir_value *x, kir_value *limit) {
    kir_builder *b = &w->b;
    kir_value *none = kir_binary(b, KIR_CMP_EQ, limit, kir_const(b, HG_TYPE_U64, 0)),
              *last = kir_binary(b, KIR_SUB, limit, kir_const(b, HG_TYPE_U64, 1));
    return kir_binary(b, KIR_OR, none, expand_above(w, x, last));
}
