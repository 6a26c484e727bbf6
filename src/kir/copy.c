/* Copying operations and the head of a module.
 * Must not know: what the copy is for. */
#include "kir/copy.h"
#include "kir/step.h"
#include <string.h>

static void *keep(kir_builder *b, const void *data, uint64_t size) {
    void *own = hg_arena_alloc(&b->module->arena, (size_t)size);
    if (own)
        memcpy(own, data, (size_t)size);
    else
        b->failed = true;
    return own;
}

static const char *keep_text(kir_builder *b, const char *text) {
    return text ? keep(b, text, strlen(text) + 1) : NULL;
}

static kir_var *var_of(kir_builder *b, const kir_renaming *names, kir_var *var) {
    kir_var *own = var && names->var && !b->failed ? names->var(names->user, var) : var;
    if (var && !own) b->failed = true;
    return own;
}

static void copy_call(kir_builder *b, const kir_value *v, kir_value *copy,
                      const kir_renaming *names) {
    kir_function *callee = v->u.call.function;
    copy->u.call.function = names->function ? names->function(names->user, callee) : callee;
    if (!copy->u.call.function) b->failed = true;
    if (!callee->array_count) return;
    copy->u.call.arrays = keep(b, v->u.call.arrays, callee->array_count * sizeof *v->u.call.arrays);
    for (uint8_t i = 0; i < callee->array_count && !b->failed; i++)
        copy->u.call.arrays[i] = var_of(b, names, v->u.call.arrays[i]);
}

void kir_copy_fields(kir_builder *b, const kir_value *v, kir_value *copy,
                     const kir_renaming *names) {
    copy->u = v->u;
    copy->inst = v->inst;
    switch ((kir_op)v->op) {
    case KIR_VAR_GET:
    case KIR_VAR_SET:
    case KIR_ARRAY_GET:
    case KIR_ARRAY_SET: copy->u.var = var_of(b, names, v->u.var); return;
    case KIR_TRACE: copy->u.trace.own = var_of(b, names, v->u.trace.own); return;
    case KIR_ATOMIC: copy->u.mem.high = var_of(b, names, v->u.mem.high); return;
    case KIR_TABLE_GET:
        if (names->table) copy->u.table = names->table(names->user, v->u.table);
        if (!copy->u.table) b->failed = true;
        return;
    case KIR_CALL: copy_call(b, v, copy, names); return;
    case KIR_CONST:
        if (kir_type_bytes(v->type) > 8 && !names->same_module)
            copy->u.bytes = keep(b, v->u.bytes, kir_type_bytes(v->type));
        return;
    case KIR_FAULT_IF:
        if (!names->same_module) copy->u.fault.message = keep_text(b, v->u.fault.message);
        return;
    case KIR_STEP:
        if (v->u.step.info && !names->same_module)
            copy->u.step.info = keep(b, v->u.step.info, kir_step_bytes(v->u.step.info));
        return;
    default: return;
    }
}

void kir_copy_head(kir_builder *b, const kir_module *from) {
    kir_module *to = b->module;
    for (uint64_t i = 0; i < from->inputs.count && !b->failed; i++) {
        kir_input *input = hg_vec_push(&to->inputs);
        if (!input) {
            b->failed = true;
            return;
        }
        *input = from->inputs.data[i];
        input->name = keep_text(b, input->name);
    }
    to->uses_barrier = from->uses_barrier;
    to->uses_shared = from->uses_shared;
    to->uses_class = from->uses_class;
    to->relaxed = from->relaxed;
    to->unchecked = from->unchecked;
    to->program = from->program;
}
