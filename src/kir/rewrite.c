/* The copying that all legalisation passes share: declarations first, then each function in one
 * walk.
 * Requires: a verified module. Provides: a new module in which the rules' operations and types are replaced. */
#include "kir/rewrite.h"
#include "kir/copy.h"
#include "kir/walk.h"
#include <string.h>

static uint8_t out_type(const rewrite_pass *p, uint8_t type) {
    return p->rules->type ? p->rules->type(p, type) : type;
}

static void declare_var(rewrite_pass *p, const kir_var *v, kir_function *owner) {
    if (p->rules->declare_var && p->rules->declare_var(p, v, owner)) return;
    uint8_t type = out_type(p, v->type);
    kir_var *copy = v->by_reference ? kir_array_param(owner, type, v->length, v->name)
                                    : kir_var_create(p->out, owner, type, v->length, v->name);
    p->vars[v->id].v[0] = copy;
    if (!copy) p->b.failed = true;
}

static void declare_function(rewrite_pass *p, const kir_function *f) {
    kir_function *copy = kir_function_create(
        p->out, f->name, f->result == KIR_VOID ? KIR_VOID : out_type(p, f->result));
    p->functions[f->id] = copy;
    if (!copy) {
        p->b.failed = true;
        return;
    }
    copy->pure = f->pure;
    copy->limbs_op = f->limbs_op;
    if (p->rules->declare_params) {
        p->rules->declare_params(p, f, copy);
    } else {
        copy->param_count = f->param_count;
        for (uint8_t i = 0; i < f->param_count; i++)
            copy->param_types[i] = out_type(p, f->param_types[i]);
    }
    for (uint8_t i = 0; i < f->array_count; i++) declare_var(p, f->array_params[i], copy);
}

static void declare_table(rewrite_pass *p, const kir_table *t) {
    kir_table *copy = p->rules->declare_table ? p->rules->declare_table(p, t) : NULL;
    if (!copy) copy = kir_table_create(p->out, t->type, t->length, t->data, t->name);
    if (!copy) p->b.failed = true;
    p->tables[t->id] = copy;
}

static void declare(rewrite_pass *p) {
    const kir_module *in = p->in;
    kir_module *out = p->out;
    kir_builder_init(&p->b, out, NULL);
    p->b.failed = false; /* there is no function yet */
    kir_copy_head(&p->b, in);
    for (uint64_t i = 0; i < in->slots.count; i++) {
        kir_slot *slot = hg_vec_push(&out->slots);
        if (slot)
            *slot = in->slots.data[i];
        else
            p->b.failed = true;
    }
    for (const kir_function *f = in->functions; f; f = f->next) declare_function(p, f);
    for (const kir_var *v = in->vars; v; v = v->next)
        if (!v->by_reference) declare_var(p, v, v->function ? p->functions[v->function->id] : NULL);
    for (const kir_table *t = in->tables; t; t = t->next) declare_table(p, t);
    out->has_open = in->has_open;
    out->has_step = in->has_step;
}

static kir_var *rename_var(void *pass, kir_var *var) {
    return ((rewrite_pass *)pass)->vars[var->id].v[0];
}
static kir_function *rename_function(void *pass, kir_function *f) {
    return ((rewrite_pass *)pass)->functions[f->id];
}
static kir_table *rename_table(void *pass, kir_table *t) {
    return ((rewrite_pass *)pass)->tables[t->id];
}

kir_value *rewrite_copy_with(rewrite_pass *p, const kir_value *v, uint8_t type, uint8_t nargs,
                             kir_value *const *args) {
    kir_renaming names = {
        .var = rename_var, .function = rename_function, .table = rename_table, .user = p};
    kir_value *copy = kir_emit(&p->b, (kir_op)v->op, type, nargs, args);
    kir_copy_fields(&p->b, v, copy, &names);
    return copy;
}

static void copy(rewrite_pass *p, const kir_value *v) {
    kir_value *args[255];
    for (uint8_t i = 0; i < v->nargs; i++) args[i] = rewrite_arg(p, v, i);
    kir_value *c = rewrite_copy_with(p, v, v->type == KIR_VOID ? KIR_VOID : out_type(p, v->type),
                                     v->nargs, args);
    rewrite_set(p, v, c);
}

static void open_region(rewrite_pass *p, const kir_value *v) {
    if (p->rules->before) p->rules->before(p, v);
    if (v->op == KIR_IF) {
        rewrite_set(p, v, kir_if_begin(&p->b, rewrite_arg(p, v, 0)));
        return;
    }
    kir_value *loop = kir_loop_begin(&p->b, v->u.loop.bounded);
    loop->u.loop.once = v->u.loop.once;
    loop->u.loop.rolled = v->u.loop.rolled;
    loop->u.loop.written_out = v->u.loop.written_out;
    loop->u.loop.most = v->u.loop.most;
    rewrite_set(p, v, loop);
    if (p->rules->enter) p->rules->enter(p, v);
}

static void close_region(rewrite_pass *p, const kir_cursor *c) {
    const kir_value *owner = c->region->owner;
    kir_value *copied = p->values[owner->id].v[0];
    if (kir_cursor_ends_first(c)) {
        kir_if_else(&p->b, copied);
        return;
    }
    if (owner->op == KIR_IF)
        kir_if_end(&p->b, copied);
    else
        kir_loop_end(&p->b, copied);
    if (p->rules->after) p->rules->after(p, owner);
}

static void copy_operation(rewrite_pass *p, const kir_value *v) {
    p->b.inst = v->inst;
    if (v->op == KIR_IF || v->op == KIR_LOOP) {
        open_region(p, v);
        return;
    }
    if (!p->rules->lower || !p->rules->lower(p, v)) copy(p, v);
    if (p->rules->after) p->rules->after(p, v);
}

static void copy_function(rewrite_pass *p, const kir_function *f) {
    p->function = f;
    kir_module *out = p->out;
    bool failed = p->b.failed;
    kir_builder_init(&p->b, out, p->functions[f->id]);
    p->b.failed = failed || !p->functions[f->id];
    if (p->rules->begin_function) p->rules->begin_function(p);
    kir_cursor c = kir_cursor_start(f->body);
    for (bool more = true; more && !p->b.failed; more = kir_cursor_next(&c)) {
        if (c.v)
            copy_operation(p, c.v);
        else if (c.region != f->body)
            close_region(p, &c);
    }
    if (p->rules->end_function) p->rules->end_function(p);
}

/* Operations that the new module may have: so many for each of the old one, and so many always. */
enum { MOST_EACH = 64, MOST_ALWAYS = 1 << 22 };

hg_status rewrite_run(const kir_module *in, const kir_caps *caps, const rewrite_rules *rules,
                      void *state, kir_module **out) {
    rewrite_pass p = {.in = in, .caps = caps, .rules = rules, .state = state};
    *out = NULL;
    p.out = kir_module_create(in->name);
    uint32_t most = 0;
    for (kir_function *f = in->functions; f; f = f->next) {
        uint32_t n = kir_number(f);
        if (n > most) most = n;
    }
    p.functions = hg_calloc(in->function_count + 1u, sizeof *p.functions);
    p.vars = hg_calloc(in->var_count + 1u, sizeof *p.vars);
    p.tables = hg_calloc(in->table_count + 1u, sizeof *p.tables);
    p.values = hg_calloc(most + 1u, sizeof *p.values);
    for (const kir_function *f = in->functions; f && p.out; f = f->next)
        p.out->most += MOST_EACH * (uint64_t)f->value_count;
    if (p.out) p.out->most += MOST_ALWAYS;
    bool failed = !p.out || !p.functions || !p.vars || !p.tables || !p.values;
    if (!failed) {
        declare(&p);
        for (const kir_function *f = in->functions; f && !p.b.failed; f = f->next) {
            memset(p.values, 0, (f->value_count + 1u) * sizeof *p.values);
            copy_function(&p, f);
        }
        failed = p.b.failed;
    }
    hg_free(p.functions);
    hg_free(p.vars);
    hg_free(p.tables);
    hg_free(p.values);
    if (failed) {
        hg_status status = kir_fail_making(p.out);
        kir_module_destroy(p.out);
        return status;
    }
    p.out->most = 0;
    *out = p.out;
    return HG_OK;
}

hg_status kir_copy(const kir_module *in, kir_module **out) {
    static const rewrite_rules RULES = {0};
    HG_TRY(rewrite_run(in, NULL, &RULES, NULL, out));
    (*out)->facts = in->facts & ~(uint32_t)KIR_FACT_UNIFORMITY;
    return HG_OK;
}

rewrite_helper rewrite_helper_begin(rewrite_pass *p, const char *name, uint8_t result,
                                    uint8_t params, const uint8_t *types) {
    rewrite_helper h = {0};
    h.function = kir_helper(p->out, name, result, params, types, &h.fresh);
    kir_builder_init(&h.b, p->out, h.function);
    if (!h.function) p->b.failed = true;
    if (h.fresh) h.function->pure = true;
    return h;
}

void rewrite_helper_end(rewrite_pass *p, rewrite_helper *h) {
    if (h->b.failed) p->b.failed = true;
}
