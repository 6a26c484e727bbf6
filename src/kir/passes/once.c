/* Calls of long functions through one place, for devices whose compilers write every function in
 * place of each call. A function that calls few others very often (GELU of f64 in 32-bit integers:
 * 252 calls of three) becomes a loop over its parts:
 *
 *     loop { part = at; at = at + 1; one of: part 0, part 1, …; one of: result = f(arguments),
 * result = g(arguments), … }
 *
 * where a part is what stood between two calls, and ends by setting the arguments and choosing the
 * function. Values that cross from part to part are moved into variables.
 * Requires: nothing that finds facts in values is read afterwards but by an emitter. Provides: a shorter kernel, where calls are written out. */
#include "kir/passes/passes.h"
#include "kir/builder.h"
#include "kir/sugar.h"

enum {
    LONG = 64,       /* operations of a function that is called through one place */
    FEWEST_CALLS = 8 /* for which the loop is worth its dispatch */
};

typedef struct callee {
    kir_function *function;
    kir_var *params[16], *result;
} callee;

typedef struct once {
    kir_module *m;
    kir_size *sizes; /* by id of a function, with all calls written in place */
    bool *done;      /* by id: rewritten, or not to be */
    bool failed;
    /* of the function at work */
    kir_function *f;
    HG_VEC(callee) callees;
    HG_VEC(kir_value *) starts; /* first operations of the parts */
    kir_var *at, *which;
} once;

/* ---- how long functions are ---- */

static uint64_t add_size(uint64_t a, uint64_t b) {
    return a > UINT64_MAX / 2 - b ? UINT64_MAX / 2 : a + b;
}

static kir_size sum(kir_size a, kir_size b) {
    return (kir_size){add_size(a.operations, b.operations),
                      add_size(a.choices_squared, b.choices_squared)};
}

static void measure(once *x) {
    for (bool changed = true; changed;) { /* callees have no order here; a chain of calls is short
                                           */
        changed = false;
        for (const kir_function *f = x->m->functions; f; f = f->next) {
            kir_size size = {0}, before = x->sizes[f->id];
            uint64_t choices = 0;
            for (const kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body)) {
                size = sum(size, (kir_size){.operations = 1});
                choices += v->op == KIR_IF && x->done[f->id];
                if (v->op == KIR_CALL) size = sum(size, x->sizes[v->u.call.function->id]);
            }
            size = sum(size, (kir_size){.choices_squared = choices * choices});
            changed = changed || size.operations != before.operations ||
                      size.choices_squared != before.choices_squared;
            x->sizes[f->id] = size;
        }
    }
}

static bool is_long_call(const once *x, const kir_value *v) {
    return v->op == KIR_CALL && v->u.call.function->array_count == 0 &&
           x->sizes[v->u.call.function->id].operations >= LONG;
}

/* What the calls through one place save, 0: nothing or not possible. A barrier must stay where all
 * lanes reach it. */
static uint64_t saves(const once *x, const kir_function *f) {
    uint64_t saved = 0;
    uint32_t calls = 0;
    for (const kir_value *v = f->body->first; v; v = v->next)
        if (is_long_call(x, v))
            saved = add_size(saved, x->sizes[v->u.call.function->id].operations), calls++;
    for (const kir_value *v = kir_walk(NULL, f->body); v && calls >= FEWEST_CALLS;
         v = kir_walk(v, f->body))
        if (v->op == KIR_BARRIER) calls = 0;
    return calls >= FEWEST_CALLS ? saved : 0;
}

/* ---- one function ---- */

static kir_value *put(once *x, kir_region *to, kir_value *before, kir_op op, uint8_t type,
                      uint8_t nargs, kir_value *const *args) {
    kir_builder b;
    kir_region one = {NULL, NULL, NULL};
    kir_builder_init(&b, x->m, x->f);
    b.region = &one;
    kir_value *v = kir_emit(&b, op, type, nargs, args);
    if (b.failed)
        x->failed = true;
    else
        kir_insert(to, before, v, v);
    return b.failed ? NULL : v;
}

static kir_var *new_var(once *x, uint8_t type, const char *name) {
    kir_var *var = kir_var_create(x->m, x->f, type, 0, name);
    if (!var) x->failed = true;
    return var;
}

static void set_before(once *x, kir_value *before, kir_var *var, kir_value *value) {
    kir_value *set = put(x, before->parent, before, KIR_VAR_SET, KIR_VOID, 1, &value);
    if (set) set->u.var = var;
}

static uint32_t callee_index(once *x, kir_function *f) {
    for (uint32_t i = 0; i < x->callees.count; i++)
        if (x->callees.data[i].function == f) return i;
    callee *c = hg_vec_push(&x->callees);
    if (!c) {
        x->failed = true;
        return 0;
    }
    c->function = f;
    for (uint8_t i = 0; i < f->param_count && i < HG_COUNT_OF(c->params); i++)
        c->params[i] = new_var(x, f->param_types[i], "argument");
    c->result = f->result == KIR_VOID ? NULL : new_var(x, f->result, "result");
    return (uint32_t)x->callees.count - 1;
}

/* The call ends its part with its arguments and begins the next one as its result. */
static void cut_at(once *x, kir_value *call) {
    uint32_t index = callee_index(x, call->u.call.function);
    if (x->failed) return;
    const callee c = x->callees.data[index];
    for (uint8_t i = 0; i < call->nargs && !x->failed; i++)
        set_before(x, call, c.params[i], call->args[i]);
    kir_value *number = put(x, call->parent, call, KIR_CONST, HG_TYPE_U32, 0, NULL);
    if (!number) return;
    number->u.imm = index;
    set_before(x, call, x->which, number);
    call->nargs = 0;
    call->op = c.result ? KIR_VAR_GET : KIR_CONST;
    call->u.imm = 0;
    if (c.result)
        call->u.var = c.result;
    else
        call->type = HG_TYPE_U32;
    kir_value **start = hg_vec_push(&x->starts);
    if (start)
        *start = call;
    else
        x->failed = true;
}

static bool is_leaf(const kir_value *v) {
    return v->op == KIR_CONST || v->op == KIR_INPUT || v->op == KIR_PARAM || v->op == KIR_ID;
}

/* Values used in another part than their own: leaves are written again, others go through a
 * variable. */
static void carry_values(once *x) {
    uint32_t count = kir_number(x->f), part = 0;
    kir_value **ops = hg_calloc((size_t)count + 1, sizeof *ops);
    uint32_t *parts = hg_calloc((size_t)count + 1, sizeof *parts);
    kir_var **vars = hg_calloc((size_t)count + 1, sizeof *vars);
    x->failed = x->failed || !ops || !parts || !vars;
    for (kir_value *v = kir_walk(NULL, x->f->body); v && !x->failed; v = kir_walk(v, x->f->body)) {
        if (part < x->starts.count && x->starts.data[part] == v) part++;
        ops[v->id] = v;
        parts[v->id] = part;
    }
    for (uint32_t i = 0; i < count && !x->failed; i++)
        for (uint8_t k = 0; k < ops[i]->nargs && !x->failed; k++) {
            kir_value *arg = ops[i]->args[k], *here;
            if (parts[arg->id] == parts[i]) continue;
            if (is_leaf(arg)) {
                here = put(x, ops[i]->parent, ops[i], (kir_op)arg->op, arg->type, 0, NULL);
                if (here) here->u = arg->u;
            } else {
                if (!vars[arg->id]) {
                    vars[arg->id] = new_var(x, arg->type, NULL);
                    kir_value *set = put(x, arg->parent, arg->next, KIR_VAR_SET, KIR_VOID, 1, &arg);
                    if (set) set->u.var = vars[arg->id];
                }
                here = put(x, ops[i]->parent, ops[i], KIR_VAR_GET, arg->type, 0, NULL);
                if (here) here->u.var = vars[arg->id];
            }
            ops[i]->args[k] = here;
        }
    hg_free(ops);
    hg_free(parts);
    hg_free(vars);
}

typedef struct part {
    kir_value *first, *last;
} part;

/* Branches of a tree over the parts [low, high). */
static void write_parts(once *x, kir_builder *b, const part *parts, uint32_t low, uint32_t high,
                        kir_value *at) {
    if (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        kir_value *first = kir_if_begin(b, below(b, at, u32(b, middle)));
        write_parts(x, b, parts, low, middle, at);
        kir_if_else(b, first);
        write_parts(x, b, parts, middle, high, at);
        kir_if_end(b, first);
        return;
    }
    if (parts[low].first && !b->failed)
        kir_insert(b->region, NULL, parts[low].first, parts[low].last);
    if (low == x->starts.count && !b->failed && !(b->region->last && kir_is_jump(b->region->last)))
        kir_break(b);
}

static void write_calls(once *x, kir_builder *b) {
    kir_value *which = kir_get(b, x->which);
    for (uint32_t i = 0; i < x->callees.count; i++) {
        const callee *c = &x->callees.data[i];
        kir_value *args[16], *chosen = kir_if_begin(b, equal(b, which, u32(b, i)));
        for (uint8_t k = 0; k < c->function->param_count; k++) args[k] = kir_get(b, c->params[k]);
        kir_value *result = kir_call(b, c->function, c->function->param_count, args, NULL);
        if (c->result) kir_set(b, c->result, result);
        kir_if_end(b, chosen);
    }
}

static void write_loop(once *x) {
    uint32_t count = (uint32_t)x->starts.count + 1;
    part *parts = hg_calloc(count, sizeof *parts);
    if (!parts) {
        x->failed = true;
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        parts[i].first = i ? x->starts.data[i - 1] : x->f->body->first;
        parts[i].last = i + 1 < count ? x->starts.data[i]->prev : x->f->body->last;
    }
    x->f->body->first = x->f->body->last = NULL;
    kir_builder builder, *b = &builder;
    kir_builder_init(b, x->m, x->f);
    kir_set(b, x->at, u32(b, 0));
    kir_value *loop = kir_loop_begin(b, true), *at = kir_get(b, x->at);
    loop->u.loop.rolled = true;
    kir_set(b, x->at, kir_add(b, at, u32(b, 1)));
    write_parts(x, b, parts, 0, count, at);
    write_calls(x, b);
    kir_loop_end(b, loop);
    if (x->f->result != KIR_VOID)
        kir_return(b, kir_const(b, x->f->result, 0)); /* the last part returned */
    x->failed = x->failed || b->failed;
    hg_free(parts);
}

static void rewrite(once *x) {
    x->callees.count = x->starts.count = 0;
    x->at = new_var(x, HG_TYPE_U32, "part");
    x->which = new_var(x, HG_TYPE_U32, "call");
    for (kir_value *v = x->f->body->first, *next; v && !x->failed; v = next) {
        next = v->next;
        if (is_long_call(x, v)) cut_at(x, v);
    }
    if (!x->failed) carry_values(x);
    if (!x->failed) write_loop(x);
}

/* ---- the module ---- */

hg_status kir_call_once(kir_module *m, uint64_t most, kir_size *size) {
    once x = {.m = m};
    x.sizes = hg_calloc((size_t)m->function_count + 1, sizeof *x.sizes);
    x.done = hg_calloc((size_t)m->function_count + 1, sizeof *x.done);
    x.failed = !x.sizes || !x.done;
    bool any = false;
    while (!x.failed) {
        measure(&x);
        *size = x.sizes[m->functions->id];
        uint64_t best = 0;
        for (kir_function *f = m->functions; f && size->operations > most; f = f->next) {
            uint64_t saved = x.done[f->id] ? 0 : saves(&x, f);
            if (saved <= best) continue;
            best = saved;
            x.f = f;
        }
        if (best == 0) break;
        x.done[x.f->id] = any = true;
        rewrite(&x);
    }
    if (any) m->facts &= ~(uint32_t)(KIR_FACT_SIMPLE | KIR_FACT_HOISTED | KIR_FACT_UNIFORMITY);
    hg_free(x.sizes);
    hg_free(x.done);
    hg_vec_free(&x.callees);
    hg_vec_free(&x.starts);
    if (x.failed) return hg_fail_memory();
    return any ? kir_verify(m) : HG_OK;
}
