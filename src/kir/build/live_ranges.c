/* Gives every independent use of a register a variable of its own: a counter of a uniform loop and
 * the counter of a later per-lane loop are two variables even when both are r7, so that what is
 * known of one is not spoilt by the other, and so that it is no matter which register a value is
 * in.
 *
 * One walk in text order: a get belongs to the set that reaches it. Where control meets, behind an
 * IF, at the start of a LOOP and behind it, stands a meeting for each variable that is set in
 * between; what comes together there is one (union-find) where some get needs it, and only there.
 * Requires: structured functions, variables placed. Provides: the same meaning; a new variable for each web but the first. */
#include "base/union_find.h"
#include "kir/build/build_internal.h"
#include "kir/walk.h"

#include <stdio.h>

typedef struct undo {
    uint32_t var, before; /* the variable's number in the function, from 0 */
} undo;
/* An IF or LOOP around. */
typedef struct frame {
    uint64_t mark;  /* in undos */
    uint64_t kept;  /* of an IF: first of ends, */
    uint64_t other; /* and of those of its second branch */
    uint32_t loop;  /* of a LOOP: its number */
    bool goes_on;   /* of an IF: control comes to the end of its first branch */
} frame;

/* What comes to a meeting. */
typedef struct way {
    uint32_t node, next; /* next: + 1 */
} way;
/* A variable that is set in a loop: its meetings at the loop's start and behind it. */
typedef struct head {
    uint32_t var, start, behind, next; /* next: + 1 */
} head;

typedef struct webs {
    kir_module *m;
    kir_function *f;
    uint32_t *parent; /* union-find; nodes: 1 … var_count the values at the function's start, then
                         one an operation, then the meetings */
    uint32_t var_count; /* variables that the function uses and that may be split; their numbers are
                           in their scratch, + 1 */
    uint32_t *now;      /* variable -> node that reaches this point */
    uint32_t *reached;  /* of a get: the node that it reads; else 0 */
    uint32_t base;      /* node of operation i is base + i */
    uint32_t first_meeting;
    struct {
        HG_VEC(uint32_t) of; /* meeting -> the last of its ways, + 1 */
        HG_VEC(way) all;
        HG_VEC(uint32_t) needed;
    } way;
    uint32_t *met[2], *meeting, meetings; /* variable -> the last IF whose branch has set it */
    HG_VEC(undo) undos;
    HG_VEC(undo) ends; /* what the branches of the IFs around left: variable and node */
    HG_VEC(frame) frames;
    struct {
        HG_VEC(uint32_t) around;   /* their numbers */
        HG_VEC(uint32_t) heads_of; /* loop -> its last head, + 1 */
        HG_VEC(head) heads;
        uint32_t entered; /* so many */
    } loop;
    uint64_t work, limit;
    bool failed;
} webs;

static bool is_split(const webs *x, const kir_var *var) {
    return var->function == x->f && var->length == 0;
}

static uint32_t number_of(const kir_var *var) { return (uint32_t)(uintptr_t)var->scratch - 1; }

static void change(webs *x, uint32_t var, uint32_t node) {
    undo *u = hg_vec_push(&x->undos);
    if (!u) {
        x->failed = true;
        return;
    }
    *u = (undo){var, x->now[var]};
    x->now[var] = node;
}

static uint32_t add_meeting(webs *x) {
    uint32_t *ways = hg_vec_push(&x->way.of);
    if (ways)
        *ways = 0;
    else
        x->failed = true;
    return x->first_meeting + (uint32_t)x->way.of.count - 1;
}

static void come(webs *x, uint32_t meeting, uint32_t node) {
    way *w = x->failed ? NULL : hg_vec_push(&x->way.all);
    x->work++;
    if (!w) {
        x->failed = true;
        return;
    }
    uint32_t *last = &x->way.of.data[meeting - x->first_meeting];
    *w = (way){node, *last};
    *last = (uint32_t)x->way.all.count;
}

/* Control goes from here to the start of the innermost loop, or behind its end. */
static void meet_loop(webs *x, bool start) {
    if (x->loop.around.count == 0) return;
    uint32_t loop = x->loop.around.data[x->loop.around.count - 1];
    for (uint32_t h = x->loop.heads_of.data[loop]; h && !x->failed;
         h = x->loop.heads.data[h - 1].next) {
        const head *of = &x->loop.heads.data[h - 1];
        come(x, start ? of->start : of->behind, x->now[of->var]);
    }
}

static bool ends(const kir_value *v) { return v && kir_is_jump(v); }

static void enter_loop(webs *x) {
    uint32_t *loop = hg_vec_push(&x->loop.around);
    if (!loop) {
        x->failed = true;
        return;
    }
    *loop = x->loop.entered++;
    for (uint32_t h = x->loop.heads_of.data[*loop]; h && !x->failed;
         h = x->loop.heads.data[h - 1].next) {
        head *of = &x->loop.heads.data[h - 1];
        of->start = add_meeting(x);
        of->behind = add_meeting(x);
        come(x, of->start, x->now[of->var]);
        change(x, of->var, of->start);
    }
}

static void enter(webs *x, const kir_value *v) {
    frame *n = hg_vec_push(&x->frames);
    if (!n) {
        x->failed = true;
        return;
    }
    *n = (frame){.mark = x->undos.count, .kept = x->ends.count, .loop = x->loop.entered};
    if (v->op == KIR_LOOP) enter_loop(x);
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

static void leave_loop(webs *x, const frame *n, bool goes_on) {
    if (goes_on) meet_loop(x, true);
    leave_region(x, n, false); /* every way out has met behind it */
    x->loop.around.count--;
    for (uint32_t h = x->loop.heads_of.data[n->loop]; h && !x->failed;
         h = x->loop.heads.data[h - 1].next)
        change(x, x->loop.heads.data[h - 1].var, x->loop.heads.data[h - 1].behind);
}

/* Behind an IF each variable that a branch has set comes from both, where they go on. */
static void meet_branches(webs *x, const frame *n, bool second_goes_on) {
    uint32_t stamp = ++x->meetings;
    for (uint64_t i = n->kept; i < x->ends.count && !x->failed; i++) {
        undo e = x->ends.data[i];
        bool second = i >= n->other;
        if (x->met[second][e.var] == stamp) continue; /* set again */
        if (x->met[!second][e.var] != stamp) x->meeting[e.var] = add_meeting(x);
        x->met[second][e.var] = stamp;
        come(x, x->meeting[e.var], e.before);
    }
    for (uint64_t i = n->kept; i < x->ends.count && !x->failed; i++) {
        uint32_t var = x->ends.data[i].var, meeting = x->meeting[var];
        if (x->now[var] == meeting) continue;
        bool one_has_not = (n->goes_on && x->met[0][var] != stamp) ||
                           (second_goes_on && x->met[1][var] != stamp);
        if (one_has_not) come(x, meeting, x->now[var]);
        change(x, var, meeting);
    }
    x->ends.count = n->kept;
}

/* The end of a region. */
static void leave(webs *x, const kir_cursor *c) {
    frame *n = &x->frames.data[x->frames.count - 1];
    bool goes_on = !ends(c->region->last);
    if (c->region->owner->op == KIR_LOOP) {
        leave_loop(x, n, goes_on);
    } else {
        leave_region(x, n, goes_on);
        if (kir_cursor_ends_first(c)) {
            n->goes_on = goes_on;
            n->other = x->ends.count;
            return;
        }
        meet_branches(x, n, goes_on);
    }
    x->frames.count--;
}

static void visit(webs *x, const kir_value *v) {
    if (v->op == KIR_VAR_GET && is_split(x, v->u.var)) {
        x->reached[v->id] = x->now[number_of(v->u.var)];
    } else if (v->op == KIR_VAR_SET && is_split(x, v->u.var)) {
        change(x, number_of(v->u.var), x->base + v->id);
    } else if (v->op == KIR_BREAK || v->op == KIR_CONTINUE) {
        meet_loop(x, v->op == KIR_CONTINUE);
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

/* What comes together where a get needs it is one. */
static void need(webs *x, uint32_t node) {
    uint32_t *first = hg_vec_push(&x->way.needed);
    if (first) *first = node;
    x->failed |= !first;
    while (x->way.needed.count && !x->failed) {
        uint32_t at = x->way.needed.data[--x->way.needed.count];
        if (at < x->first_meeting) continue;
        uint32_t w = x->way.of.data[at - x->first_meeting];
        x->way.of.data[at - x->first_meeting] = 0; /* once */
        for (; w && !x->failed; w = x->way.all.data[w - 1].next) {
            uint32_t *next = hg_vec_push(&x->way.needed);
            x->failed |= !next;
            if (next) *next = x->way.all.data[w - 1].node;
            hg_union_join(x->parent, at, x->way.all.data[w - 1].node);
        }
    }
}

static void join_reads(webs *x, uint32_t count) {
    uint32_t nodes = x->first_meeting + (uint32_t)x->way.of.count;
    x->parent = hg_calloc(nodes, sizeof *x->parent);
    x->failed |= !x->parent;
    for (uint32_t i = 0; i < nodes && !x->failed; i++) x->parent[i] = i;
    for (uint32_t i = 0; i < count && !x->failed; i++) {
        if (!x->reached[i]) continue;
        need(x, x->reached[i]);
        hg_union_join(x->parent, x->base + i, x->reached[i]);
    }
}

/* ---- what loops set ---- */

/* A variable that is set in a loop; next: + 1. */
typedef struct mark {
    uint32_t var, next;
} mark;

typedef struct marks {
    HG_VEC(mark) all;
    HG_VEC(uint32_t) last, parent; /* of each loop: its last mark, + 1; the loop around, + 1 */
} marks;

static void add_mark(webs *x, marks *k, uint32_t loop, uint32_t var) {
    mark *made = hg_vec_push(&k->all);
    x->work++;
    x->failed |= !made;
    if (!made) return;
    *made = (mark){var, k->last.data[loop]};
    k->last.data[loop] = (uint32_t)k->all.count;
}

static void find_marks(webs *x, marks *k) {
    uint32_t around = 0; /* the innermost loop, + 1 */
    kir_cursor c = kir_cursor_start(x->f->body);
    do {
        if (!c.v && c.region != x->f->body && c.region->owner->op == KIR_LOOP) {
            around = k->parent.data[around - 1];
        } else if (c.v && c.v->op == KIR_LOOP) {
            uint32_t *last = hg_vec_push(&k->last), *parent = hg_vec_push(&k->parent);
            x->failed |= !last || !parent;
            if (x->failed) return;
            *last = 0;
            *parent = around;
            around = (uint32_t)k->last.count;
        } else if (c.v && around && c.v->op == KIR_VAR_SET && is_split(x, c.v->u.var)) {
            add_mark(x, k, around - 1, number_of(c.v->u.var));
        }
    } while (!x->failed && kir_cursor_next(&c));
}

/* Each variable once in each loop. Inner loops come behind those around them. */
static void find_heads(webs *x) {
    marks k = {.all = {0}};
    find_marks(x, &k);
    for (uint64_t l = 0; l < k.last.count && !x->failed; l++) {
        uint32_t *last = hg_vec_push(&x->loop.heads_of);
        x->failed |= !last;
        if (last) *last = 0;
    }
    for (uint64_t l = k.last.count; l-- > 0 && !x->failed && x->work <= x->limit;) {
        uint32_t stamp = ++x->meetings;
        for (uint32_t i = k.last.data[l]; i && !x->failed; i = k.all.data[i - 1].next) {
            uint32_t var = k.all.data[i - 1].var;
            if (x->met[0][var] == stamp) continue;
            x->met[0][var] = stamp;
            if (k.parent.data[l]) add_mark(x, &k, k.parent.data[l] - 1, var);
            head *made = hg_vec_push(&x->loop.heads);
            x->failed |= !made;
            if (!made) break;
            *made = (head){.var = var, .next = x->loop.heads_of.data[l]};
            x->loop.heads_of.data[l] = (uint32_t)x->loop.heads.count;
        }
    }
    hg_vec_free(&k.all);
    hg_vec_free(&k.last);
    hg_vec_free(&k.parent);
}

/* ---- variables ---- */

/* The variable of a web: the old one for the first web found, a new one for each other. */
static kir_var *variable_of(webs *x, kir_var *var, uint32_t node, kir_var **made, uint32_t *uses) {
    uint32_t root = hg_union_find(x->parent, node);
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
    webs x = {.m = m, .f = f, .limit = 32 * (uint64_t)count + 65536};
    number_variables(&x);
    if (x.var_count == 0) return HG_OK;
    x.first_meeting = x.base + count;
    x.now = hg_calloc(x.base, sizeof *x.now);
    x.met[0] = hg_calloc(3 * (size_t)x.base, sizeof *x.met[0]);
    x.reached = hg_calloc((size_t)count + 1, sizeof *x.reached);
    x.failed = !x.now || !x.met[0] || !x.reached;
    if (!x.failed) x.met[1] = x.met[0] + x.base, x.meeting = x.met[1] + x.base;
    for (uint32_t i = 0; i < x.var_count && !x.failed; i++) x.now[i] = i + 1;
    if (!x.failed) find_heads(&x);
    if (!x.failed && x.work <= x.limit) walk(&x);
    if (!x.failed && x.work <= x.limit) { /* else they stay as they are */
        join_reads(&x, count);
        if (!x.failed) rename_variables(&x, x.first_meeting + (uint32_t)x.way.of.count);
    }
    hg_free(x.parent);
    hg_free(x.now);
    hg_free(x.met[0]);
    hg_free(x.reached);
    hg_vec_free(&x.way.of);
    hg_vec_free(&x.way.all);
    hg_vec_free(&x.way.needed);
    hg_vec_free(&x.undos);
    hg_vec_free(&x.ends);
    hg_vec_free(&x.frames);
    hg_vec_free(&x.loop.around);
    hg_vec_free(&x.loop.heads_of);
    hg_vec_free(&x.loop.heads);
    return x.failed ? hg_fail_memory() : HG_OK;
}

hg_status build_webs(kir_module *m) {
    for (kir_var *v = m->vars; v; v = v->next) v->scratch = NULL;
    for (kir_function *f = m->functions; f; f = f->next) HG_TRY(split_function(m, f));
    return HG_OK;
}
