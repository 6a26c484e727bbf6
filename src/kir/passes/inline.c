/* Functions written in place of their calls: those that are called once, and those that are short,
 * so that what follows from arguments, rows of memory and values that lanes share, is seen in them.
 * No function becomes long by it, and the module not much longer.
 * Requires: a verified module. Provides: a copy whose functions call only others; what the kernel
 * alone uses is its own. None where no call is worth it. */
#include "kir/passes/passes.h"
#include "kir/copy.h"
#include "kir/rewrite.h"
#include "kir/sugar.h"
#include "kir/walk.h"

/* ---- writing calls out ---- */

static const uint32_t NO_VAR = UINT32_MAX, NO_CALL = UINT32_MAX;

typedef struct copied {
    kir_var *original, *var;
    uint64_t call; /* of which call it is a copy */
    uint32_t next; /* private array of the same function; NO_VAR: none */
} copied;

typedef struct inliner {
    kir_module *m;
    kir_builder b;
    const bool *wanted; /* by id of a function */
    kir_function *into;
    kir_value *call;
    uint64_t calls; /* written so far */
    kir_var *result, *returned;
    uint32_t *arrays; /* by id of a function: the first of its private arrays */
    copied *vars;     /* by id, of those that there were at the start */
} inliner;

static kir_var *new_var(inliner *x, uint8_t type, const char *name) {
    kir_var *var = kir_var_create(x->m, x->into, type, 0, name);
    if (!var) x->b.failed = true;
    return var;
}

static kir_var *own_var(void *user, kir_var *var) {
    inliner *x = user;
    const kir_function *callee = x->call->u.call.function;
    if (var->function != callee) return var;
    for (uint8_t i = 0; i < callee->array_count; i++)
        if (callee->array_params[i] == var) return x->call->u.call.arrays[i];
    copied *own = &x->vars[var->id];
    if (own->call != x->calls) {
        own->call = x->calls;
        own->var = kir_var_create(x->m, x->into, var->type, var->length, var->name);
    }
    if (!own->var) x->b.failed = true;
    return own->var;
}

static void clear_arrays(inliner *x) {
    const kir_function *callee = x->call->u.call.function;
    kir_builder *b = &x->b;
    for (uint32_t i = x->arrays[callee->id]; i != NO_VAR; i = x->vars[i].next) {
        kir_var *own = own_var(x, x->vars[i].original);
        if (b->failed) return;
        kir_for at = kir_for_begin(b, u32(b, own->length));
        kir_array_set(b, own, at.i, kir_const(b, own->type, 0));
        kir_for_end(b, &at);
    }
}

static bool returns_inside(const kir_value *loop) {
    for (const kir_value *v = kir_walk(NULL, loop->body[0]); v; v = kir_walk(v, loop->body[0]))
        if (v->op == KIR_RETURN) return true;
    return false;
}

/* Whether nothing follows it but the end of the function. */
static bool is_last(const kir_value *v) {
    while (v && !v->next && !(v->op == KIR_LOOP)) v = v->parent->owner;
    return !v;
}

/* Whether its RETURNs are where it would end without them. */
static bool ends_at_end(const kir_function *f) {
    const kir_value *last = f->body->last;
    if (last && kir_is_jump(last) && last->op != KIR_RETURN) return false;
    for (const kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body))
        if (v->op == KIR_RETURN && !is_last(v)) return false;
    return true;
}

static void leave(inliner *x, const kir_value *v) {
    if (v->nargs) kir_set(&x->b, x->result, v->args[0]->scratch);
    if (!x->returned) return;
    if (kir_loop_around(v)) kir_set(&x->b, x->returned, kir_const(&x->b, KIR_BOOL, 1));
    kir_break(&x->b);
}

static void copy_owner(inliner *x, kir_value *v, kir_value *const *args) {
    kir_builder *b = &x->b;
    kir_region *here = b->region;
    kir_value *copy = v->op == KIR_IF ? kir_if_begin(b, args[0])
                                      : kir_loop_begin(b, v->u.loop.bounded);
    kir_copy_fields(b, v, copy, &(kir_renaming){.same_module = true});
    v->scratch = copy;
    if (b->failed) return;
    b->region = here;
    if (v->op != KIR_LOOP || !returns_inside(v)) return;
    kir_value *gone = kir_if_begin(b, kir_get(b, x->returned));
    kir_break(b);
    kir_if_end(b, gone);
}

static void copy_body(inliner *x, kir_region *to) {
    const kir_function *callee = x->call->u.call.function;
    kir_renaming names = {.var = own_var, .user = x, .same_module = true};
    kir_builder *b = &x->b;
    for (kir_value *v = kir_walk(NULL, callee->body); v && !b->failed;
         v = kir_walk(v, callee->body)) {
        kir_value *owner = v->parent->owner, *args[255];
        b->region = owner ? ((kir_value *)owner->scratch)->body[v->parent == owner->body[1]] : to;
        for (uint8_t i = 0; i < v->nargs; i++) args[i] = v->args[i]->scratch;
        b->inst = v->inst;
        if (v->op == KIR_PARAM) {
            v->scratch = x->call->args[v->u.imm];
        } else if (v->op == KIR_RETURN) {
            leave(x, v);
        } else if (v->op == KIR_IF || v->op == KIR_LOOP) {
            copy_owner(x, v, args);
        } else {
            kir_value *copy = kir_emit(b, (kir_op)v->op, v->type, v->nargs, args);
            kir_copy_fields(b, v, copy, &names);
            v->scratch = copy;
        }
    }
    b->region = to;
}

/* A body that may be left elsewhere than at its end is in a loop of one round. */
static void write_body(inliner *x) {
    kir_builder *b = &x->b;
    if (ends_at_end(x->call->u.call.function)) {
        x->returned = NULL;
        copy_body(x, b->region);
        return;
    }
    x->returned = new_var(x, KIR_BOOL, "returned");
    kir_set(b, x->returned, kir_const(b, KIR_BOOL, 0));
    kir_value *loop = kir_loop_begin(b, true);
    loop->u.loop.once = true;
    if (b->failed) return;
    kir_region *to = b->region;
    copy_body(x, to);
    if (!b->failed && !(to->last && kir_is_jump(to->last))) kir_break(b);
}

/* The operation that a walk of the function comes to next: what was written has calls too. */
static kir_value *inline_call(inliner *x, kir_value *v) {
    kir_builder *b = &x->b;
    kir_value *next = kir_walk(v, x->into->body);
    kir_region head = {.owner = v->parent->owner};
    kir_builder_init(b, x->m, x->into);
    b->region = &head;
    b->inst = v->inst;
    x->call = v;
    x->calls++;
    x->result = v->type == KIR_VOID ? NULL : new_var(x, v->type, "result");
    if (!b->failed) clear_arrays(x);
    if (!b->failed) write_body(x);
    if (b->failed) return NULL;
    if (head.first) next = head.first;
    kir_splice(v->parent, v, &head);
    if (v->type == KIR_VOID) {
        kir_remove(v);
        return next;
    }
    v->op = KIR_VAR_GET; /* uses stay as they are */
    v->nargs = 0;
    v->u.var = x->result;
    return next;
}

static void inline_into(inliner *x, kir_function *f, uint64_t most) {
    x->into = f;
    for (kir_value *v = kir_walk(NULL, f->body); v && !x->b.failed && x->calls < most;)
        if (v->op == KIR_CALL && x->wanted[v->u.call.function->id])
            v = inline_call(x, v);
        else
            v = kir_walk(v, f->body);
}

static void find_arrays(inliner *x) {
    for (uint32_t i = 0; i < x->m->function_count; i++) x->arrays[i] = NO_VAR;
    for (kir_var *var = x->m->vars; var; var = var->next) {
        copied *c = &x->vars[var->id];
        c->original = var;
        if (!var->function || !var->length || var->by_reference) continue;
        c->next = x->arrays[var->function->id];
        x->arrays[var->function->id] = var->id;
    }
}

hg_status kir_inline_calls(kir_module *m, const bool *wanted, uint64_t most, uint64_t *count) {
    inliner x = {.m = m, .wanted = wanted};
    x.arrays = hg_calloc((size_t)m->function_count + 1, sizeof *x.arrays);
    x.vars = hg_calloc((size_t)m->var_count + 1, sizeof *x.vars);
    x.b.failed = !x.arrays || !x.vars;
    if (!x.b.failed) find_arrays(&x);
    for (kir_function *f = m->functions; f && !x.b.failed; f = f->next)
        if (f == m->functions || !wanted[f->id]) inline_into(&x, f, most);
    hg_free(x.arrays);
    hg_free(x.vars);
    *count = x.calls;
    return x.b.failed ? hg_fail_memory() : HG_OK;
}

/* ---- which ---- */

enum {
    SHORT = 128,  /* operations of a function that is written out wherever it is called */
    LONG = 4096,  /* of a function at most, with what is written into it */
    DEEP = 48,    /* regions in each other at most */
    MORE = 8192,  /* operations that the module may have more; */
    MORE_EACH = 2 /* and so many for each that it has */
};

typedef struct site {
    uint32_t caller, depth; /* regions around it */
    uint32_t next;          /* call of the same function; NO_CALL: none */
} site;

/* What is known of a function: of its text with all in it that is written out. */
typedef struct looked {
    uint64_t size;
    uint32_t depth;
    uint32_t first, calls; /* of it: sites */
    uint32_t open;         /* calls in it whose functions are not decided yet */
    bool keeps;            /* it stays as it is */
} looked;

typedef struct chooser {
    const kir_module *m;
    looked *of; /* by id of a function */
    bool *wanted;
    HG_VEC(site) sites;
    uint64_t more; /* operations that may still be added */
    bool failed;
} chooser;

static void look_at(chooser *x, const kir_function *f) {
    looked *l = &x->of[f->id];
    uint32_t depth = 0;
    for (kir_cursor c = kir_cursor_start(f->body);;) {
        if (c.v) l->size++;
        if (c.v && c.v->op == KIR_CALL) {
            looked *callee = &x->of[c.v->u.call.function->id];
            site *s = hg_vec_push(&x->sites);
            if (!s) {
                x->failed = true;
                return;
            }
            *s = (site){.caller = f->id, .depth = depth, .next = callee->first};
            callee->first = (uint32_t)x->sites.count - 1;
            callee->calls++;
            l->open++;
        }
        if (c.v && c.v->body[0])
            depth++;
        else if (!c.v && c.region->owner && !kir_cursor_ends_first(&c))
            depth--;
        if (!kir_cursor_next(&c)) return;
        if (depth > l->depth) l->depth = depth;
    }
}

static bool is_worth_it(const chooser *x, const looked *f) {
    if (f->keeps || !f->calls) return false;
    return f->calls == 1 || (f->size <= SHORT && f->size * f->calls <= x->more);
}

/* Adds to what becomes of the callers, or (back) takes it away again. False: one is too long. */
static bool add_to_callers(chooser *x, const looked *f, bool back) {
    bool fits = true;
    for (uint32_t i = f->first; i != NO_CALL; i = x->sites.data[i].next) {
        looked *caller = &x->of[x->sites.data[i].caller];
        if (back)
            caller->size -= f->size;
        else
            caller->size += f->size;
        fits = fits && caller->size <= LONG && x->sites.data[i].depth + f->depth + 1 <= DEEP;
    }
    return fits;
}

static void decide(chooser *x, uint32_t id) {
    const looked *f = &x->of[id];
    if (!is_worth_it(x, f)) return;
    x->wanted[id] = add_to_callers(x, f, false);
    if (!x->wanted[id]) {
        (void)add_to_callers(x, f, true);
        return;
    }
    if (f->calls > 1) x->more -= f->size * f->calls;
    for (uint32_t i = f->first; i != NO_CALL; i = x->sites.data[i].next) {
        const site *s = &x->sites.data[i];
        looked *caller = &x->of[s->caller];
        if (s->depth + f->depth + 1 > caller->depth) caller->depth = s->depth + f->depth + 1;
    }
}

/* Functions before their callers. todo: room for the ids of all. */
static void decide_all(chooser *x, uint32_t *todo) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < x->m->function_count; i++)
        if (!x->of[i].open) todo[count++] = i;
    while (count) {
        const uint32_t id = todo[--count];
        decide(x, id);
        for (uint32_t i = x->of[id].first; i != NO_CALL; i = x->sites.data[i].next)
            if (--x->of[x->sites.data[i].caller].open == 0) todo[count++] = x->sites.data[i].caller;
    }
}

/* Of no use to write out: what is a definition, what a pass made, what has arrays to name. */
static bool keeps(const kir_module *m, const kir_function *f) {
    return f == m->functions || f->pure || f->helper || f->array_count;
}

/* wanted: by id of a function. */
static hg_status choose(const kir_module *m, bool *wanted) {
    chooser x = {.m = m, .wanted = wanted, .more = MORE};
    uint32_t *todo = hg_calloc((size_t)m->function_count + 1, sizeof *todo);
    x.of = hg_calloc((size_t)m->function_count + 1, sizeof *x.of);
    x.failed = !x.of || !todo;
    for (uint32_t i = 0; i < m->function_count && !x.failed; i++) x.of[i].first = NO_CALL;
    for (const kir_function *f = m->functions; f && !x.failed; f = f->next) {
        x.of[f->id].keeps = keeps(m, f);
        look_at(&x, f);
        x.more += MORE_EACH * x.of[f->id].size;
    }
    if (!x.failed) decide_all(&x, todo);
    hg_vec_free(&x.sites);
    hg_free(x.of);
    hg_free(todo);
    return x.failed ? hg_fail_memory() : HG_OK;
}

/* ---- what is left ---- */

/* Functions that nobody calls any more, and what was theirs. */
static void drop(kir_module *m, const bool *wanted) {
    kir_var **var = &m->vars;
    m->last_var = NULL;
    m->var_count = 0;
    while (*var)
        if ((*var)->function && wanted[(*var)->function->id]) {
            *var = (*var)->next;
        } else {
            m->last_var = *var;
            (*var)->id = m->var_count++;
            var = &(*var)->next;
        }
    kir_function **f = &m->functions;
    m->function_count = 0;
    while (*f)
        if (wanted[(*f)->id]) {
            *f = (*f)->next;
        } else {
            m->last_function = *f;
            (*f)->id = m->function_count++;
            f = &(*f)->next;
        }
}

static const kir_var *var_of(const kir_value *v) {
    switch ((kir_op)v->op) {
    case KIR_VAR_GET:
    case KIR_VAR_SET:
    case KIR_ARRAY_GET:
    case KIR_ARRAY_SET: return v->u.var;
    case KIR_ATOMIC: return v->u.mem.high;
    case KIR_TRACE: return v->u.trace.own;
    default: return NULL;
    }
}

/* Variables of the module that no other function knows become the kernel's, which sets them: those
 * of a module are zero at start. */
static void take_vars(kir_module *m, const bool *elsewhere, kir_builder *b) {
    kir_region head = {0};
    kir_builder_init(b, m, m->functions);
    b->region = &head;
    for (kir_var *var = m->vars; var && !b->failed; var = var->next) {
        if (var->function || elsewhere[var->id]) continue;
        var->function = m->functions;
        if (!var->length) kir_set(b, var, kir_const(b, var->type, 0));
    }
    if (!b->failed) kir_splice(m->functions->body, m->functions->body->first, &head);
}

static hg_status own_vars(kir_module *m) {
    bool *elsewhere = hg_calloc((size_t)m->var_count + 1, sizeof *elsewhere);
    if (!elsewhere) return hg_fail_memory();
    for (const kir_function *f = m->functions; f; f = f->next)
        for (const kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body)) {
            const kir_var *named = var_of(v);
            if (named && (f != m->functions || v->op == KIR_TRACE)) elsewhere[named->id] = true;
            for (uint8_t i = 0; v->op == KIR_CALL && i < v->u.call.function->array_count; i++)
                elsewhere[v->u.call.arrays[i]->id] = true;
        }
    kir_builder b;
    take_vars(m, elsewhere, &b);
    hg_free(elsewhere);
    return b.failed ? hg_fail_memory() : HG_OK;
}

static hg_status inline_wanted(const kir_module *in, const bool *wanted, kir_module **out) {
    uint64_t count;
    HG_TRY(kir_copy(in, out));
    hg_status status = kir_inline_calls(*out, wanted, UINT64_MAX, &count);
    if (status == HG_OK) {
        drop(*out, wanted);
        status = own_vars(*out);
    }
    (*out)->facts &= ~(uint32_t)(KIR_FACT_SIMPLE | KIR_FACT_HOISTED);
    if (status == HG_OK) return HG_OK;
    kir_module_destroy(*out);
    *out = NULL;
    return status;
}

hg_status kir_inline(const kir_module *in, kir_module **out) {
    bool any = false, *wanted;
    if (!in->functions->next) return HG_OK;
    wanted = hg_calloc((size_t)in->function_count + 1, sizeof *wanted);
    hg_status status = wanted ? choose(in, wanted) : hg_fail_memory();
    for (uint32_t i = 0; i < in->function_count && status == HG_OK; i++) any |= wanted[i];
    if (status == HG_OK && any) status = inline_wanted(in, wanted, out);
    hg_free(wanted);
    return status;
}
