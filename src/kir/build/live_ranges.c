/* Gives every independent use of a register a variable of its own: a counter of a uniform loop and
 * the counter of a later per-lane loop are two variables even when both are r7, so that what is
 * known of one is not spoilt by the other.
 *
 * One walk in text order with union-find over the sets: a get belongs to the set that reaches it;
 * where control meets, the sets that come together are one. What leaves or repeats a loop meets
 * what the loop began with.
 * Requires: structured functions, variables placed. Provides: the same meaning; a new variable for each web but the first. */
#include "kir/build/build_internal.h"
#include "kir/walk.h"

#include <stdio.h>

typedef struct undo {
    uint32_t var, before; /* the variable's number in the function, from 0 */
} undo;
/* An IF or LOOP around. */
typedef struct frame {
    uint64_t mark; /* in undos */
    uint64_t kept; /* first of ends */
} frame;

typedef struct webs {
    kir_module *m;
    kir_function *f;
    uint32_t *parent; /* union-find; nodes: 1 … var_count the values at the function's start, then
                         one an operation */
    uint32_t var_count; /* variables that the function uses and that may be split; their numbers are
                           in their scratch, + 1 */
    uint32_t *now;      /* variable -> node that reaches this point */
    uint32_t base;      /* node of operation i is base + i */
    uint32_t *met, meetings; /* variable -> the last meeting it was part of */
    HG_VEC(undo) undos;
    HG_VEC(undo) ends; /* what the first branches of the IFs around left: variable and node */
    HG_VEC(frame) frames;
    HG_VEC(uint64_t) loops; /* frames of the loops around */
    uint64_t work, limit;
    bool failed;
} webs;

static bool is_split(const webs *x, const kir_var *var) {
    return var->function == x->f && var->length == 0;
}

static uint32_t number_of(const kir_var *var) { return (uint32_t)(uintptr_t)var->scratch - 1; }

static uint32_t find(webs *x, uint32_t i) {
    while (x->parent[i] != i) {
        x->parent[i] = x->parent[x->parent[i]];
        i = x->parent[i];
    }
    return i;
}

/* The smaller number stays: the start, or the first set in the text. */
static void join(webs *x, uint32_t a, uint32_t b) {
    a = find(x, a);
    b = find(x, b);
    if (a < b)
        x->parent[b] = a;
    else
        x->parent[a] = b;
    x->work++;
}

static void change(webs *x, uint32_t var, uint32_t node) {
    undo *u = hg_vec_push(&x->undos);
    if (!u) {
        x->failed = true;
        return;
    }
    *u = (undo){var, x->now[var]};
    x->now[var] = node;
}

/* Control goes from here to the start or behind the end of the innermost loop. */
static void meet_loop(webs *x) {
    if (x->loops.count == 0) return;
    const frame *n = &x->frames.data[x->loops.data[x->loops.count - 1]];
    x->meetings++;
    x->work += x->undos.count - n->mark;
    for (uint64_t i = n->mark; i < x->undos.count; i++) {
        undo u = x->undos.data[i];
        if (x->met[u.var] == x->meetings)
            continue; /* set again: the first set says what the loop began with */
        x->met[u.var] = x->meetings;
        join(x, x->now[u.var], u.before);
    }
}

static bool ends(const kir_value *v) { return v && kir_is_jump(v); }

static void enter(webs *x, const kir_value *v) {
    frame *n = hg_vec_push(&x->frames);
    if (!n) {
        x->failed = true;
        return;
    }
    *n = (frame){x->undos.count, x->ends.count};
    if (v->op == KIR_LOOP) {
        uint64_t *l = hg_vec_push(&x->loops);
        if (l)
            *l = x->frames.count - 1;
        else
            x->failed = true;
    }
}

/* Back to the start of a region; what it leaves in variables is appended to ends. */
static void leave_region(webs *x, const frame *n, bool goes_on) {
    uint64_t first = x->ends.count;
    for (uint64_t i = x->undos.count; i-- > n->mark && goes_on;) {
        undo *e = hg_vec_push(&x->ends);
        if (e)
            *e = (undo){x->undos.data[i].var, x->now[x->undos.data[i].var]};
        else
            x->failed = true;
    }
    while (x->undos.count > n->mark) {
        undo u = x->undos.data[--x->undos.count];
        x->now[u.var] = u.before;
    }
    x->work += x->ends.count - first;
}

/* The end of a region. */
static void leave(webs *x, const kir_cursor *c) {
    const frame *n = &x->frames.data[x->frames.count - 1];
    bool goes_on = !ends(c->region->last);
    if (c->region->owner->op == KIR_LOOP) {
        if (goes_on) meet_loop(x);
        leave_region(x, n, false); /* every way out met what the loop began with */
        x->loops.count--;
    } else {
        leave_region(x, n, goes_on);
        if (kir_cursor_ends_first(c)) return;
        /* Both branches' nodes and the one before are one: cheaper than telling whether both
         * branches set the variable. */
        for (uint64_t i = n->kept; i < x->ends.count; i++)
            join(x, x->ends.data[i].before, x->now[x->ends.data[i].var]);
        x->ends.count = n->kept;
    }
    x->frames.count--;
}

static void visit(webs *x, const kir_value *v) {
    if (v->op == KIR_VAR_GET && is_split(x, v->u.var)) {
        x->parent[x->base + v->id] = x->now[number_of(v->u.var)];
    } else if (v->op == KIR_VAR_SET && is_split(x, v->u.var)) {
        change(x, number_of(v->u.var), x->base + v->id);
    } else if (v->op == KIR_BREAK || v->op == KIR_CONTINUE) {
        meet_loop(x);
    }
}

static void walk(webs *x) {
    kir_cursor c = kir_cursor_start(x->f->body);
    do {
        if (!c.v && c.region != x->f->body)
            leave(x, &c);
        else if (c.v && c.v->body[0])
            enter(x, c.v);
        else if (c.v)
            visit(x, c.v);
    } while (!x->failed && x->work <= x->limit && kir_cursor_next(&c));
}

/* The variable of a web: the old one for the first web found, a new one for each other. */
static kir_var *variable_of(webs *x, kir_var *var, uint32_t node, kir_var **made, uint32_t *uses) {
    uint32_t root = find(x, node);
    if (made[root]) return made[root];
    if (uses[number_of(var)]++ == 0) return made[root] = var;
    char name[24];
    snprintf(name, sizeof name, "%.10s_%u", var->name ? var->name : "v",
             (unsigned)uses[number_of(var)]);
    made[root] = kir_var_create(x->m, x->f, var->type, 0, name);
    if (!made[root]) x->failed = true;
    return made[root];
}

static void rename_variables(webs *x, uint32_t nodes) {
    kir_var **made = hg_calloc(nodes, sizeof *made);
    uint32_t *uses = hg_calloc((size_t)x->base + 1, sizeof *uses); /* webs of an old variable */
    x->failed = !made || !uses;
    for (kir_value *v = kir_walk(NULL, x->f->body); v && !x->failed; v = kir_walk(v, x->f->body))
        if ((v->op == KIR_VAR_GET || v->op == KIR_VAR_SET) && is_split(x, v->u.var))
            v->u.var = variable_of(x, v->u.var, x->base + v->id, made, uses);
    hg_free(made);
    hg_free(uses);
}

/* Numbers the variables that f's operations name. */
static void number_variables(webs *x) {
    for (const kir_value *v = kir_walk(NULL, x->f->body); v; v = kir_walk(v, x->f->body))
        if ((v->op == KIR_VAR_GET || v->op == KIR_VAR_SET) && is_split(x, v->u.var) &&
            !v->u.var->scratch)
            v->u.var->scratch = (void *)(uintptr_t)++x->var_count;
    x->base = x->var_count + 1;
}

static hg_status split_function(kir_module *m, kir_function *f) {
    uint32_t count = kir_number(f);
    webs x = {.m = m, .f = f, .limit = 16 * (uint64_t)count + 65536};
    number_variables(&x);
    if (x.var_count == 0) return HG_OK;
    uint32_t nodes = x.base + count;
    x.parent = hg_calloc(nodes, sizeof *x.parent);
    x.now = hg_calloc(x.base, sizeof *x.now);
    x.met = hg_calloc(x.base, sizeof *x.met);
    x.failed = !x.parent || !x.now || !x.met;
    for (uint32_t i = 0; i < nodes && !x.failed; i++) x.parent[i] = i;
    for (uint32_t i = 0; i < x.var_count && !x.failed; i++) x.now[i] = i + 1;
    if (!x.failed) walk(&x);
    if (!x.failed && x.work <= x.limit)
        rename_variables(&x, nodes); /* else they stay as they are */
    hg_free(x.parent);
    hg_free(x.now);
    hg_free(x.met);
    hg_vec_free(&x.undos);
    hg_vec_free(&x.ends);
    hg_vec_free(&x.frames);
    hg_vec_free(&x.loops);
    return x.failed ? hg_fail_memory() : HG_OK;
}

hg_status build_webs(kir_module *m) {
    for (kir_var *v = m->vars; v; v = v->next) v->scratch = NULL;
    for (kir_function *f = m->functions; f; f = f->next) HG_TRY(split_function(m, f));
    return HG_OK;
}
