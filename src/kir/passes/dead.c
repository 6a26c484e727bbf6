/* Removes sets of variables that no get follows and operations without use, in one walk backwards
 * (liveness over the tree of regions). Loops need no iteration: what a loop reads anywhere, or what
 * is live after it, is live at its start.
 * Requires: verified module. Provides: the same meaning. */
#include "kir/passes/simplify_internal.h"
#include "kir/walk.h"

#include <string.h>

typedef struct frame {
    kir_value *owner;
    uint64_t sets; /* first of two sets in pool: after, other */
    uint64_t loop; /* frame of the innermost loop, + 1 */
    uint8_t side;
} frame;

typedef struct liveness {
    kir_function *f;
    bool is_kernel;
    bool blind;           /* too much to keep sets: every variable that is read at all is live */
    uint32_t vars, words; /* a set is `words` long */
    uint64_t count, owners, depth, loops; /* operations, IFs and LOOPs, nesting of regions, LOOPs */
    uint64_t *live, *module_set, *elsewhere; /* live here; all module variables; those that other
                                                functions read */
    uint64_t *loop_reads;                    /* by number of the loop */
    uint64_t *pool;
    HG_VEC(frame) frames;
    HG_VEC(uint32_t) open; /* pre-walk: numbers of the loops around */
    bool failed, changed;
} liveness;

/* Number of a variable in the sets, + 1; 0: it is never read. */
static uint32_t number_of(const kir_var *var) { return (uint32_t)(uintptr_t)var->scratch; }

/* Unlinks an operation that is never used. */
static void discard(liveness *x, kir_value *v) {
    x->changed = true;
    for (uint8_t i = 0; i < v->nargs; i++) v->args[i]->uses--;
    kir_remove(v);
}

static bool has(const uint64_t *set, uint32_t i) { return set[(i - 1) / 64] >> (i - 1) % 64 & 1; }
static void add(uint64_t *set, uint32_t i) { set[(i - 1) / 64] |= UINT64_C(1) << (i - 1) % 64; }
static void drop(uint64_t *set, uint32_t i) { set[(i - 1) / 64] &= ~(UINT64_C(1) << (i - 1) % 64); }
static void merge(const liveness *x, uint64_t *to, const uint64_t *from) {
    for (uint32_t i = 0; i < x->words; i++) to[i] |= from[i];
}
static void copy(const liveness *x, uint64_t *to, const uint64_t *from) {
    memcpy(to, from, x->words * sizeof *to);
}
static bool calls_out(const kir_value *v) { return v->op == KIR_CALL && !v->u.call.function->pure; }

/* One walk: numbers variables and loops (in their scratch), counts uses, measures. */
static void prepare(liveness *x, const kir_module *m) {
    for (kir_var *var = m->vars; var; var = var->next) var->scratch = NULL;
    uint64_t now = 1;
    kir_cursor c = kir_cursor_start(x->f->body);
    do {
        kir_value *v = c.v;
        if (!v) {
            now -= !kir_cursor_ends_first(&c);
            continue;
        }
        x->count++;
        v->uses = 0;
        for (uint8_t i = 0; i < v->nargs; i++) v->args[i]->uses++;
        if (now > x->depth) x->depth = now;
        if (v->body[0]) {
            x->owners++;
            now++;
        }
        if (v->op == KIR_LOOP) v->scratch = (void *)(uintptr_t)x->loops++;
        bool counts = v->op == KIR_VAR_GET || (v->op == KIR_VAR_SET && !v->u.var->function);
        if (counts && !v->u.var->scratch) v->u.var->scratch = (void *)(uintptr_t)++x->vars;
    } while (kir_cursor_next(&c));
    x->words = (x->vars + 63) / 64;
    /* 64 MiB of sets, and 32 words of them copied an operation: beyond that rather keep dead sets.
     */
    x->blind = (2 * x->depth + x->loops) * x->words > UINT64_C(1) << 23 ||
               x->owners * x->words > 32 * x->count + 65536;
    if (x->blind) x->words = 0;
}

/* ---- what each loop reads ---- */

static uint64_t *reads_of(const liveness *x, uint64_t open) {
    return x->loop_reads + (uint64_t)x->open.data[open] * x->words;
}

static void open_loop(liveness *x, const kir_value *loop) {
    uint32_t *place = hg_vec_push(&x->open);
    if (place)
        *place = (uint32_t)(uintptr_t)loop->scratch;
    else
        x->failed = true;
}

static void find_loop_reads(liveness *x) {
    kir_cursor c = kir_cursor_start(x->f->body);
    do {
        uint64_t loops = x->open.count;
        if (!c.v && c.region->owner && c.region->owner->op == KIR_LOOP) {
            x->open.count--;
            if (loops > 1) merge(x, reads_of(x, loops - 2), reads_of(x, loops - 1));
        } else if (c.v && c.v->op == KIR_LOOP) {
            open_loop(x, c.v);
        } else if (c.v && loops) {
            if (c.v->op == KIR_VAR_GET) add(reads_of(x, loops - 1), number_of(c.v->u.var));
            if (calls_out(c.v)) merge(x, reads_of(x, loops - 1), x->elsewhere);
        }
    } while (!x->failed && kir_cursor_next(&c));
}

/* ---- backwards ---- */

static uint64_t *frame_set(liveness *x, const frame *n, uint32_t which) {
    return x->pool + n->sets + (uint64_t)which * x->words;
}

static void leave_set(liveness *x, uint64_t *set) {
    if (x->is_kernel)
        memset(set, 0, x->words * sizeof *set);
    else
        copy(x, set, x->module_set);
}

static kir_value *enter(liveness *x, kir_value *v) {
    uint64_t depth = x->frames.count, around = depth ? x->frames.data[depth - 1].loop : 0;
    frame *n = hg_vec_push(&x->frames);
    if (!n) {
        x->failed = true;
        return NULL;
    }
    *n = (frame){v, depth * 2 * x->words, v->op == KIR_LOOP ? depth + 1 : around, 1};
    copy(x, frame_set(x, n, 0), x->live);
    if (v->op == KIR_IF) return v->body[1]->last;
    uint64_t *head = frame_set(x, n, 1);
    leave_set(x, head);
    merge(x, head, x->live);
    merge(x, head, x->loop_reads + (uint64_t)(uintptr_t)v->scratch * x->words);
    copy(x, x->live, head);
    return v->body[0]->last;
}

static void jump(liveness *x, const kir_value *v) {
    if (v->op == KIR_EXIT) {
        memset(x->live, 0, x->words * sizeof *x->live);
        return;
    }
    if (v->op == KIR_RETURN) {
        leave_set(x, x->live);
        return;
    }
    const frame *n = &x->frames.data[x->frames.data[x->frames.count - 1].loop - 1];
    copy(x, x->live, frame_set(x, n, v->op == KIR_CONTINUE));
}

/* The start of a region: where the walk goes on. */
static kir_value *leave(liveness *x) {
    frame *n = &x->frames.data[x->frames.count - 1];
    kir_value *owner = n->owner;
    if (owner->op == KIR_IF && n->side == 1) {
        n->side = 0;
        copy(x, frame_set(x, n, 1), x->live);
        copy(x, x->live, frame_set(x, n, 0));
        return owner->body[0]->last;
    }
    if (owner->op == KIR_IF) merge(x, x->live, frame_set(x, n, 1));
    x->frames.count--;
    kir_value *before = owner->prev;
    if (owner->op == KIR_IF && !owner->body[0]->first && !owner->body[1]->first) discard(x, owner);
    return before;
}

static void visit(liveness *x, kir_value *v) {
    if (v->op == KIR_VAR_SET) {
        uint32_t i = number_of(v->u.var);
        if (i == 0 || !(x->blind || has(x->live, i)))
            discard(x, v);
        else if (!x->blind)
            drop(x->live, i);
        return;
    }
    if (v->uses == 0 && !kir_has_side_effect(v)) {
        discard(x, v);
        return;
    }
    if (x->blind) return;
    if (v->op == KIR_VAR_GET) add(x->live, number_of(v->u.var));
    if (calls_out(v)) merge(x, x->live, x->elsewhere);
    if (kir_is_jump(v)) jump(x, v);
}

static void walk_back(liveness *x) {
    leave_set(x, x->live);
    kir_value *v = x->f->body->last;
    while (!x->failed) {
        if (!v) {
            if (x->frames.count == 0) return;
            v = leave(x);
            continue;
        }
        if (v->op == KIR_IF || v->op == KIR_LOOP) {
            v = enter(x, v);
            continue;
        }
        kir_value *before = v->prev;
        visit(x, v);
        v = before;
    }
}

hg_status simplify_dead(kir_module *m, kir_function *f, const uint32_t *readers, bool *changed) {
    liveness x = {.f = f, .is_kernel = f == m->functions};
    prepare(&x, m);
    uint64_t *memory = hg_calloc((size_t)((3 + x.loops + 2 * x.depth) * x.words) + 1,
                                 sizeof *memory);
    if (!memory) return hg_fail_memory();
    x.live = memory;
    x.module_set = memory + x.words;
    x.elsewhere = memory + 2 * (uint64_t)x.words;
    x.loop_reads = memory + 3 * (uint64_t)x.words;
    x.pool = x.loop_reads + x.loops * x.words;
    for (kir_var *var = m->vars; var && !x.blind; var = var->next) {
        if (var->function || !number_of(var)) continue;
        add(x.module_set, number_of(var));
        if (simplify_elsewhere(readers, var, f)) add(x.elsewhere, number_of(var));
    }
    if (x.loops && !x.blind) find_loop_reads(&x);
    if (!x.failed) walk_back(&x);
    hg_free(memory);
    hg_vec_free(&x.frames);
    hg_vec_free(&x.open);
    *changed |= x.changed;
    return x.failed ? hg_fail_memory() : HG_OK;
}
