/* Copies operations of one module into another: runs of siblings, and the functions they call.
 * Requires: a verified module. Provides: equal operations over the copy's own variables, tables and functions. */
#include "kir/kir.h"
#include "kir/builder.h"
#include "kir/clone.h"
#include <string.h>

hg_status kir_cloner_init(kir_cloner *c, const kir_module *from, kir_module *to, kir_function *target) {
    memset(c, 0, sizeof *c);
    c->from = from;
    kir_builder_init(&c->to, to, target);
    c->vars = hg_calloc(from->var_count + 1, sizeof *c->vars);
    c->functions = hg_calloc(from->function_count + 1, sizeof *c->functions);
    c->tables = hg_calloc(from->table_count + 1, sizeof *c->tables);
    bool failed = !c->vars || !c->functions || !c->tables;
    for (uint64_t i = 0; i < from->inputs.count && !failed; i++) {
        kir_input *input = hg_vec_push(&to->inputs);
        if (input)
            *input = from->inputs.data[i];
        else
            failed = true;
        if (input && input->name) input->name = hg_arena_text(&to->arena, input->name, strlen(input->name)); /* the module may go first */
    }
    to->uses_barrier = from->uses_barrier;
    to->uses_shared = from->uses_shared;
    to->uses_class = from->uses_class;
    to->relaxed = from->relaxed;
    to->program = from->program;
    c->to.failed |= failed;
    return HG_OK;
}

static kir_function *clone_function(kir_cloner *c, const kir_function *f);

kir_var *kir_clone_var(kir_cloner *c, const kir_var *var) {
    if (c->to.failed) return NULL;
    if (c->vars[var->id]) return c->vars[var->id];
    kir_function *owner = NULL;
    if (var->function) owner = var->function == c->from->functions ? c->to.module->functions : clone_function(c, var->function);
    kir_var *copy = c->vars[var->id]; /* an array parameter came with its function */
    if (!copy) copy = kir_var_create(c->to.module, owner, var->type, var->length, var->name);
    if (!copy) c->to.failed = true;
    c->vars[var->id] = copy;
    return copy;
}

static kir_function *clone_function(kir_cloner *c, const kir_function *f) {
    if (c->functions[f->id]) return c->functions[f->id];
    kir_function *copy = kir_function_create(c->to.module, f->name, f->result);
    if (!copy) {
        c->to.failed = true;
        return NULL;
    }
    copy->param_count = f->param_count;
    memcpy(copy->param_types, f->param_types, sizeof copy->param_types);
    copy->pure = f->pure;
    for (uint8_t i = 0; i < f->array_count; i++) {
        const kir_var *array = f->array_params[i];
        kir_var *own = kir_array_param(copy, array->type, array->length, array->name);
        if (!own) c->to.failed = true;
        c->vars[array->id] = own;
    }
    copy->scratch = (void *)(uintptr_t)f; /* its body is copied by kir_cloner_finish */
    c->functions[f->id] = copy;
    return copy;
}

static kir_table *clone_table(kir_cloner *c, const kir_table *t) {
    if (!c->tables[t->id]) c->tables[t->id] = kir_table_create(c->to.module, t->type, t->length, t->data, t->name);
    if (!c->tables[t->id]) c->to.failed = true;
    return c->tables[t->id];
}

static void clone_fields(kir_cloner *c, const kir_value *v, kir_value *copy) {
    copy->u = v->u;
    copy->inst = v->inst;
    switch ((kir_op)v->op) {
    case KIR_CONST:
        if (kir_type_bytes(v->type) > 8) {
            size_t size = (size_t)kir_type_bytes(v->type);
            uint8_t *bytes = hg_arena_alloc(&c->to.module->arena, size);
            if (bytes)
                memcpy(bytes, v->u.bytes, size);
            else
                c->to.failed = true;
            copy->u.bytes = bytes;
        }
        break;
    case KIR_VAR_GET:
    case KIR_VAR_SET:
    case KIR_ARRAY_GET:
    case KIR_ARRAY_SET: copy->u.var = kir_clone_var(c, v->u.var); break;
    case KIR_TABLE_GET: copy->u.table = clone_table(c, v->u.table); break;
    case KIR_CALL: {
        uint8_t count = v->u.call.function->array_count;
        copy->u.call.function = clone_function(c, v->u.call.function);
        copy->u.call.arrays = count ? hg_arena_alloc(&c->to.module->arena, count * sizeof(kir_var *)) : NULL;
        if (count && !copy->u.call.arrays) c->to.failed = true;
        for (uint8_t i = 0; i < count && !c->to.failed; i++) copy->u.call.arrays[i] = kir_clone_var(c, v->u.call.arrays[i]);
        break;
    }
    case KIR_FAULT_IF:
        if (v->u.fault.message) {
            copy->u.fault.message = hg_arena_text(&c->to.module->arena, v->u.fault.message, strlen(v->u.fault.message));
            if (!copy->u.fault.message) c->to.failed = true;
        }
        break;
    default: break;
    }
}

static kir_region *clone_region(kir_cloner *c, kir_value *owner) {
    kir_region *region = hg_arena_alloc(&c->to.module->arena, sizeof *region);
    if (region)
        region->owner = owner;
    else
        c->to.failed = true;
    return region;
}

void kir_clone_run(kir_cloner *c, kir_value *first, const kir_value *last) {
    kir_region *root = first->parent, *target = c->to.region;
    const kir_value *stop = last->next;
    for (kir_value *v = first; v && v != stop && !c->to.failed; v = kir_walk(v, root)) {
        if (v->parent == root) {
            c->to.region = target;
        } else {
            kir_value *owner = v->parent->owner;
            c->to.region = ((kir_value *)owner->scratch)->body[v->parent == owner->body[1]];
        }
        kir_value *copy = kir_emit(&c->to, (kir_op)v->op, v->type, v->nargs, v->args);
        if (c->to.failed) break;
        for (uint8_t i = 0; i < v->nargs; i++) copy->args[i] = v->args[i]->scratch;
        clone_fields(c, v, copy);
        for (int i = 0; i < 2; i++)
            if (v->body[i]) copy->body[i] = clone_region(c, copy);
        v->scratch = copy;
    }
    c->to.region = target;
}

hg_status kir_cloner_finish(kir_cloner *c) {
    for (kir_function *f = c->to.module->functions; f && !c->to.failed; f = f->next) {
        const kir_function *original = f->scratch;
        f->scratch = NULL;
        if (!original || !original->body->first) continue;
        c->to.function = f;
        c->to.region = f->body;
        kir_clone_run(c, original->body->first, original->body->last);
    }
    hg_free(c->vars);
    hg_free(c->functions);
    hg_free(c->tables);
    return c->to.failed ? hg_fail_memory() : HG_OK;
}
