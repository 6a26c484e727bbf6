/* Loops of few rounds, whose number is known, are written out, inner ones first; what a round
 * reaches is then a place that is known, and nobody counts. Where code may be long, private arrays
 * all of whose indices have become constants are variables then.
 * Requires: verified module. Provides: the same meaning, longer code. A loop has to have one way
 * out, at its end. */
#include "kir/builder.h"
#include "kir/copy.h"
#include "kir/passes/passes.h"
#include "kir/passes/simplify_internal.h"

enum {
    MOST_PASSES = 3, /* an inner loop may have constant ends once those around it are written out */
    MOST_LOOKED = 64,  /* in front of a loop for where its counter starts */
    MOST_DEPTH = 5,    /* of the operations from a counter to a test */
    MOST_ELEMENTS = 64 /* of an array that becomes variables */
};

/* What it takes to compile a module stays linear in its size. */
typedef struct limits {
    uint32_t rounds;
    uint64_t written, added; /* operations: all rounds of a loop, all loops of a module */
    bool memory;             /* only loops that reach memory */
} limits;

static const limits SHORT = {4, 192, 512, true}, LONG = {16, 256, 1536, false};

typedef struct unroller {
    kir_module *m;
    kir_function *f;
    const limits *most;
    uint64_t added;
    bool changed, failed;
} unroller;

/* A loop's counter, and the test at its end. */
typedef struct counted {
    kir_value *loop, *test, *set;
    kir_var *var;
    uint64_t operations; /* in a round */
    bool leaves_if;      /* the loop ends where the test is this */
    bool memory;         /* a round reaches it */
} counted;

/* ---- its shape ---- */

static bool only_breaks(const kir_region *r) {
    return r->first && r->first == r->last && r->first->op == KIR_BREAK;
}

/* The one variable that a condition reads, from gets of the loop's own region. False: there are
 * more, or other values. */
static bool reads_one(const kir_value *v, const kir_region *body, kir_var **var, int depth) {
    if (v->op == KIR_CONST) return v->type == KIR_BOOL || kir_type_bytes(v->type) <= 8;
    if (v->op == KIR_VAR_GET) {
        if (v->parent != body || (*var && *var != v->u.var)) return false;
        *var = v->u.var;
        return true;
    }
    if (!kir_is_integer_value(v) || v->nargs > 2 || !depth) return false;
    for (uint8_t i = 0; i < v->nargs; i++)
        if (!reads_one(v->args[i], body, var, depth - 1)) return false;
    return true;
}

static bool may_repeat(const kir_value *v) {
    switch ((kir_op)v->op) {
    case KIR_BARRIER:
    case KIR_BLOCK:
    case KIR_STEP:
    case KIR_TRACE: return false;
    default: return true;
    }
}

static bool find_shape(counted *c, kir_value *loop) {
    const kir_region *body = loop->body[0];
    kir_value *end = body->last;
    *c = (counted){.loop = loop};
    if (loop->u.loop.once || loop->u.loop.rolled || !end || end->op != KIR_IF) return false;
    c->leaves_if = only_breaks(end->body[0]) && !end->body[1]->first;
    if (!c->leaves_if && !(only_breaks(end->body[1]) && !end->body[0]->first)) return false;
    c->test = end->args[0];
    if (!reads_one(c->test, body, &c->var, MOST_DEPTH) || !c->var || !c->var->function)
        return false;
    for (kir_value *v = kir_walk(NULL, body); v != end; v = kir_walk(v, body)) {
        if (++c->operations > LONG.written || !may_repeat(v)) return false;
        c->memory = c->memory || v->op == KIR_LOAD || v->op == KIR_STORE || v->op == KIR_ATOMIC;
        if ((v->op == KIR_BREAK || v->op == KIR_CONTINUE) && kir_loop_around(v) == loop)
            return false;
        if (v->op == KIR_ATOMIC && v->u.mem.high == c->var) return false;
        if (v->op != KIR_VAR_SET || v->u.var != c->var) continue;
        if (c->set || v->parent != body) return false;
        c->set = v;
    }
    kir_var *counter = c->var;
    return c->set && reads_one(c->set->args[0], body, &counter, MOST_DEPTH);
}

/* ---- how many rounds it has ---- */

/* Of a condition or a counter's next value; before, after: the counter before its set in this round
 * and behind it. False: not known. */
static bool evaluate(const counted *c, const kir_value *v, uint64_t before, uint64_t after,
                     uint64_t *bits) {
    if (v->op == KIR_CONST) {
        *bits = v->u.imm;
        return true;
    }
    if (v->op == KIR_VAR_GET) {
        *bits = v->id < c->set->id ? before : after;
        return true;
    }
    kir_value known[2], *args[2], *value = NULL, copy = *v;
    for (uint8_t i = 0; i < v->nargs; i++) {
        known[i] = *v->args[i];
        known[i].op = KIR_CONST;
        known[i].nargs = 0;
        args[i] = &known[i];
        if (!evaluate(c, v->args[i], before, after, &known[i].u.imm)) return false;
    }
    copy.args = args;
    switch (simplify_fold(&copy, bits, &value)) {
    case FOLD_CONSTANT: return true;
    case FOLD_VALUE: *bits = value->u.imm; return value->op == KIR_CONST;
    default: return false;
    }
}

static bool sets_inside(const kir_value *v, const kir_var *var, uint32_t *looked) {
    for (int i = 0; i < 2 && v->body[i]; i++)
        for (const kir_value *w = kir_walk(NULL, v->body[i]); w; w = kir_walk(w, v->body[i]))
            if (++*looked > MOST_LOOKED || (w->op == KIR_VAR_SET && w->u.var == var) ||
                (w->op == KIR_ATOMIC && w->u.mem.high == var))
                return true;
    return false;
}

/* The constant that the counter was set to in front of the loop. */
static bool find_start(const counted *c, uint64_t *start) {
    uint32_t looked = 0;
    const kir_value *at = c->loop;
    while (looked++ <= MOST_LOOKED) {
        const kir_value *before = at->prev;
        if (!before) {
            at = at->parent->owner;
            if (!at || at->op != KIR_IF) return false;
            continue;
        }
        at = before;
        if (at->op == KIR_VAR_SET && at->u.var == c->var) {
            *start = at->args[0]->u.imm;
            return at->args[0]->op == KIR_CONST;
        }
        if ((at->op == KIR_ATOMIC && at->u.mem.high == c->var) || sets_inside(at, c->var, &looked))
            return false;
    }
    return false;
}

/* 0: more than that, or unknown. */
static uint32_t find_rounds(const counted *c, uint32_t most) {
    uint64_t before, after = 0, leaves;
    if (!find_start(c, &before)) return 0;
    for (uint32_t rounds = 1; rounds <= most; rounds++, before = after) {
        if (!evaluate(c, c->set->args[0], before, before, &after) ||
            !evaluate(c, c->test, before, after, &leaves))
            return 0;
        if ((leaves != 0) == c->leaves_if) return rounds;
    }
    return 0;
}

/* ---- writing it out ---- */

static kir_region *new_region(unroller *x, kir_value *owner) {
    kir_region *r = hg_arena_alloc(&x->m->arena, sizeof *r);
    if (r)
        *r = (kir_region){.owner = owner};
    else
        x->failed = true;
    return r;
}

/* The round, which stands in a region of its own, once more at the end of another. */
static void copy_round(unroller *x, const kir_region *round, kir_region *to) {
    const kir_renaming same = {.same_module = true};
    kir_builder b;
    kir_builder_init(&b, x->m, x->f);
    for (kir_value *v = kir_walk(NULL, round); v && !x->failed; v = kir_walk(v, round)) {
        const kir_value *owner = v->parent->owner;
        b.region = v->parent == round
                       ? to
                       : ((kir_value *)owner->scratch)->body[v->parent == owner->body[1]];
        kir_value *copy = kir_emit(&b, (kir_op)v->op, v->type, v->nargs, v->args);
        if (!b.failed) kir_copy_fields(&b, v, copy, &same);
        x->failed = x->failed || b.failed;
        if (x->failed) return;
        for (uint8_t i = 0; i < v->nargs; i++)
            if (v->args[i]->scratch) copy->args[i] = v->args[i]->scratch;
        for (int i = 0; i < 2 && !x->failed; i++)
            if (v->body[i]) copy->body[i] = new_region(x, copy);
        v->scratch = copy;
    }
    for (kir_value *v = kir_walk(NULL, round); v; v = kir_walk(v, round)) v->scratch = NULL;
}

static void write_out(unroller *x, const counted *c, uint32_t rounds) {
    kir_region *round = c->loop->body[0], copies = {0};
    kir_remove(round->last);
    for (uint32_t i = 1; i < rounds && !x->failed; i++) copy_round(x, round, &copies);
    if (x->failed) return;
    kir_region *around = c->loop->parent;
    kir_splice(around, c->loop, round);
    kir_splice(around, c->loop, &copies);
    kir_remove(c->loop);
    x->added += (rounds - 1) * c->operations;
    x->changed = true;
}

/* Loops that stay inside may become constant by it; else a copy of them gains nothing. */
static bool is_worth(const counted *c) {
    counted inner;
    const kir_region *body = c->loop->body[0];
    for (kir_value *v = kir_walk(NULL, body); v; v = kir_walk(v, body))
        if (v->op == KIR_LOOP && !find_shape(&inner, v)) return false;
    return true;
}

static void unroll_loop(unroller *x, kir_value *loop) {
    counted c;
    if (!find_shape(&c, loop) || (x->most->memory && !c.memory)) return;
    uint32_t rounds = find_rounds(&c, x->most->rounds);
    uint64_t written = rounds * c.operations;
    if (!rounds || written > x->most->written || x->added + written > x->most->added ||
        !is_worth(&c))
        return;
    write_out(x, &c, rounds);
}

static void unroll_function(unroller *x) {
    HG_VEC(kir_value *) loops = {0};
    kir_number(x->f);
    for (kir_value *v = kir_walk(NULL, x->f->body); v && !x->failed; v = kir_walk(v, x->f->body)) {
        v->scratch = NULL;
        if (v->op != KIR_LOOP) continue;
        kir_value **loop = hg_vec_push(&loops);
        if (loop)
            *loop = v;
        else
            x->failed = true;
    }
    for (uint64_t i = loops.count; i-- > 0 && !x->failed;) unroll_loop(x, loops.data[i]);
    hg_vec_free(&loops);
}

/* ---- arrays that are variables ---- */

static const char STAYS = 0; /* scratch of an array */

static void look_at_arrays(const kir_module *m) {
    for (kir_var *var = m->vars; var; var = var->next)
        var->scratch = !var->length || var->length > MOST_ELEMENTS || var->by_reference
                           ? (void *)(uintptr_t)&STAYS
                           : NULL;
    for (const kir_function *f = m->functions; f; f = f->next)
        for (const kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body)) {
            bool access = v->op == KIR_ARRAY_GET || v->op == KIR_ARRAY_SET;
            if (access && (f != m->functions || v->args[0]->op != KIR_CONST ||
                           v->args[0]->u.imm >= v->u.var->length))
                v->u.var->scratch = (void *)(uintptr_t)&STAYS;
            if (v->op == KIR_TRACE && v->u.trace.own)
                v->u.trace.own->scratch = (void *)(uintptr_t)&STAYS;
            for (uint8_t i = 0; v->op == KIR_CALL && i < v->u.call.function->array_count; i++)
                v->u.call.arrays[i]->scratch = (void *)(uintptr_t)&STAYS;
        }
}

/* The variables of an array, which are zero at the start. */
static kir_var **variables_of(unroller *x, kir_var *array) {
    if (array->scratch) return array->scratch;
    kir_var **own = hg_arena_alloc(&x->m->arena, array->length * sizeof *own);
    kir_builder b;
    kir_region start = {0};
    kir_builder_init(&b, x->m, x->f);
    b.region = &start;
    for (uint32_t i = 0; own && i < array->length && !x->failed; i++) {
        own[i] = kir_var_create(x->m, x->f, array->type, 0, NULL);
        x->failed = !own[i];
        if (own[i]) own[i]->scratch = (void *)(uintptr_t)&STAYS;
    }
    static const uint8_t zero[512];
    kir_value *nothing = kir_type_bytes(array->type) > 8 ? kir_const_bytes(&b, array->type, zero)
                                                         : kir_const(&b, array->type, 0);
    for (uint32_t i = 0; own && i < array->length && !x->failed; i++) kir_set(&b, own[i], nothing);
    x->failed = x->failed || !own || b.failed;
    if (x->failed) return NULL;
    kir_splice(x->f->body, x->f->body->first, &start);
    array->scratch = own;
    return own;
}

static void replace_arrays(unroller *x) {
    x->f = x->m->functions;
    look_at_arrays(x->m);
    for (kir_value *v = kir_walk(NULL, x->f->body); v && !x->failed; v = kir_walk(v, x->f->body)) {
        if ((v->op != KIR_ARRAY_GET && v->op != KIR_ARRAY_SET) || v->u.var->scratch == &STAYS)
            continue;
        kir_var **own = variables_of(x, v->u.var);
        if (!own) return;
        v->u.var = own[v->args[0]->u.imm];
        v->nargs--;
        if (v->op == KIR_ARRAY_SET) v->args[0] = v->args[1];
        v->op = v->op == KIR_ARRAY_GET ? KIR_VAR_GET : KIR_VAR_SET;
        x->changed = true;
    }
}

static bool has_private_or_loop(const kir_module *m) {
    for (const kir_var *var = m->vars; var; var = var->next)
        if (var->length) return true;
    for (const kir_function *f = m->functions; f; f = f->next)
        for (const kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body))
            if (v->op == KIR_LOOP && !v->u.loop.once) return true;
    return false;
}

hg_status kir_unroll(kir_module *m, bool long_code) {
    unroller x = {.m = m, .most = long_code ? &LONG : &SHORT};
    bool any = false;
    if (!has_private_or_loop(m)) return HG_OK;
    for (int i = 0; i < MOST_PASSES; i++) {
        x.changed = false;
        for (kir_function *f = m->functions; f && !x.failed; f = f->next) {
            x.f = f;
            unroll_function(&x);
        }
        if (!x.changed || x.failed) break;
        any = true;
        HG_TRY(kir_simplify(m));
    }
    x.changed = false;
    if (!x.failed && long_code) replace_arrays(&x);
    if (any || x.changed)
        m->facts &= ~(uint32_t)(KIR_FACT_SIMPLE | KIR_FACT_HOISTED | KIR_FACT_UNIFORMITY);
    return x.failed ? kir_fail_making(m) : HG_OK;
}
