/* Functions that hold barriers, or long loops, written in place of their calls: what lives across a
 * barrier can then be kept for each lane of an invocation that runs several (fold.c), and what
 * lives in a loop from one dispatch to the next (resume.c).
 * Requires: a legalised module. Provides: a copy whose kernel calls no such function. */
#include "kir/analysis/analysis.h"
#include "kir/device/device_internal.h"
#include "kir/copy.h"
#include "kir/sugar.h"

typedef struct inliner {
    kir_module *m;
    kir_builder b;
    bool *wanted; /* by function id */
    bool long_loops;
    kir_value *call;
    kir_var *result, *returned;
    kir_var **vars; /* by id: the copy of a callee's variable in the call that is being written */
    uint32_t var_count;
} inliner;

bool device_has_long_loop(const kir_function *f) {
    for (const kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body)) {
        uint64_t rounds = v->op != KIR_LOOP || v->u.loop.once ? 1
                          : v->u.loop.most                    ? v->u.loop.most
                                                              : v->u.loop.rounds;
        if (!rounds || rounds > DEVICE_FEW_ROUNDS) return true;
    }
    return false;
}

static void find_wanted(inliner *x) {
    for (kir_function *f = x->m->functions; f; f = f->next)
        x->wanted[f->id] = x->long_loops && device_has_long_loop(f);
    for (bool changed = true; changed;) {
        changed = false;
        for (kir_function *f = x->m->functions; f; f = f->next)
            for (const kir_value *v = kir_walk(NULL, f->body); v && !x->wanted[f->id];
                 v = kir_walk(v, f->body))
                if (v->op == KIR_BARRIER ||
                    (v->op == KIR_CALL && x->wanted[v->u.call.function->id]))
                    x->wanted[f->id] = changed = true;
    }
}

static kir_value *find_call(const inliner *x) {
    kir_region *body = x->m->functions->body;
    for (kir_value *v = kir_walk(NULL, body); v; v = kir_walk(v, body))
        if (v->op == KIR_CALL && x->wanted[v->u.call.function->id]) return v;
    return NULL;
}

/* ---- one call ---- */

static kir_var *own_var(void *user, kir_var *var) {
    inliner *x = user;
    const kir_function *callee = x->call->u.call.function;
    if (var->function != callee) return var;
    for (uint8_t i = 0; i < callee->array_count; i++)
        if (callee->array_params[i] == var) return x->call->u.call.arrays[i];
    if (!x->vars[var->id])
        x->vars[var->id] = kir_var_create(x->m, x->m->functions, var->type, var->length, var->name);
    if (!x->vars[var->id]) x->b.failed = true;
    return x->vars[var->id];
}

static void clear_arrays(inliner *x) {
    const kir_function *callee = x->call->u.call.function;
    kir_builder *b = &x->b;
    for (kir_var *var = x->m->vars; var; var = var->next) {
        if (var->function != callee || !var->length || var->by_reference) continue;
        kir_var *own = own_var(x, var);
        if (b->failed) return;
        kir_for i = kir_for_begin(b, u32(b, own->length));
        kir_array_set(b, own, i.i, kir_const(b, own->type, 0));
        kir_for_end(b, &i);
    }
}

static bool returns_inside(const kir_value *loop) {
    for (const kir_value *v = kir_walk(NULL, loop->body[0]); v; v = kir_walk(v, loop->body[0]))
        if (v->op == KIR_RETURN) return true;
    return false;
}

static void leave(inliner *x, const kir_value *v) {
    if (v->nargs) kir_set(&x->b, x->result, v->args[0]->scratch);
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
    if (!b->failed && (!to->last || to->last->op != KIR_BREAK)) kir_break(b);
}

static void inline_call(inliner *x, kir_value *v) {
    kir_builder *b = &x->b;
    kir_region head = {.owner = v->parent->owner};
    kir_builder_init(b, x->m, x->m->functions);
    b->region = &head;
    b->inst = v->inst;
    x->call = v;
    for (uint32_t i = 0; i < x->var_count; i++) x->vars[i] = NULL;
    x->returned = kir_var_create(x->m, x->m->functions, KIR_BOOL, 0, "returned");
    x->result = v->type == KIR_VOID ? NULL
                                    : kir_var_create(x->m, x->m->functions, v->type, 0, "result");
    clear_arrays(x);
    kir_set(b, x->returned, kir_const(b, KIR_BOOL, 0));
    kir_value *loop = kir_loop_begin(b, true);
    loop->u.loop.once = true;
    if (!b->failed) copy_body(x, b->region);
    if (b->failed) return;
    kir_splice(v->parent, v, &head);
    if (v->type == KIR_VOID) {
        kir_remove(v);
        return;
    }
    v->op = KIR_VAR_GET; /* uses stay as they are */
    v->nargs = 0;
    v->u.var = x->result;
}

hg_status device_inline(const kir_module *in, bool long_loops, kir_module **out) {
    HG_TRY(kir_copy(in, out));
    inliner x = {.m = *out, .long_loops = long_loops};
    kir_find_rounds(x.m);
    x.wanted = hg_calloc((size_t)x.m->function_count + 1, sizeof *x.wanted);
    x.var_count = x.m->var_count;
    x.vars = hg_calloc((size_t)x.var_count + 1, sizeof *x.vars);
    x.b.failed = !x.wanted || !x.vars;
    if (!x.b.failed) find_wanted(&x);
    uint32_t rounds = 0;
    for (kir_value *v; !x.b.failed && (v = find_call(&x)) != NULL && rounds < DEVICE_MOST_INLINED;
         rounds++)
        inline_call(&x, v);
    hg_free(x.wanted);
    hg_free(x.vars);
    hg_status status = x.b.failed ? hg_fail_memory() : HG_OK;
    if (status == HG_OK && rounds == DEVICE_MOST_INLINED)
        status = hg_fail(HG_ERROR_ISA,
                         "more than %d calls of functions with barriers or long loops",
                         (int)DEVICE_MOST_INLINED);
    if (status == HG_OK) status = kir_verify(*out);
    if (status == HG_OK) return HG_OK;
    kir_module_destroy(*out);
    *out = NULL;
    return status;
}
