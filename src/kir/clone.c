/* Copies operations of one module into another: runs of siblings, and the functions they call.
 * Requires: a verified module. Provides: equal operations over the copy's own variables, tables and functions. */
#include "kir/kir.h"
#include "kir/copy.h"
#include "kir/clone.h"
#include <string.h>

hg_status kir_cloner_init(kir_cloner *c, const kir_module *from, kir_module *to,
                          kir_function *target) {
    memset(c, 0, sizeof *c);
    c->from = from;
    kir_builder_init(&c->to, to, target);
    c->vars = hg_calloc(from->var_count + 1, sizeof *c->vars);
    c->functions = hg_calloc(from->function_count + 1, sizeof *c->functions);
    c->tables = hg_calloc(from->table_count + 1, sizeof *c->tables);
    if (!c->vars || !c->functions || !c->tables) c->to.failed = true;
    kir_copy_head(&c->to, from);
    return HG_OK;
}

static kir_function *clone_function(kir_cloner *c, const kir_function *f);

kir_var *kir_clone_var(kir_cloner *c, const kir_var *var) {
    if (c->to.failed) return NULL;
    if (c->vars[var->id]) return c->vars[var->id];
    kir_function *owner = NULL;
    if (var->function)
        owner = var->function == c->from->functions ? c->to.module->functions
                                                    : clone_function(c, var->function);
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
    copy->limbs_op = f->limbs_op;
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
    if (!c->tables[t->id])
        c->tables[t->id] = kir_table_create(c->to.module, t->type, t->length, t->data, t->name);
    return c->tables[t->id];
}

static kir_var *rename_var(void *cloner, kir_var *var) { return kir_clone_var(cloner, var); }
static kir_function *rename_function(void *cloner, kir_function *f) {
    return clone_function(cloner, f);
}
static kir_table *rename_table(void *cloner, kir_table *t) { return clone_table(cloner, t); }

static kir_region *clone_region(kir_cloner *c, kir_value *owner) {
    kir_region *region = hg_arena_alloc(&c->to.module->arena, sizeof *region);
    if (region)
        region->owner = owner;
    else
        c->to.failed = true;
    return region;
}

void kir_clone_run(kir_cloner *c, kir_value *first, const kir_value *last) {
    kir_renaming names = {
        .var = rename_var, .function = rename_function, .table = rename_table, .user = c};
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
        kir_copy_fields(&c->to, v, copy, &names);
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
