/* Removes sets of variables that no get follows (liveness over the tree of regions, backwards), then operations without use.
 * Loops need no iteration: what a loop reads anywhere, or what is live after it, is live at its start.
 * Requires: verified module. Provides: the same meaning. */
#include "kir/passes/simplify_internal.h"

#include <string.h>

typedef struct frame { kir_value *owner; uint64_t sets; /* first of two sets in pool: after, other */ uint64_t loop; /* frame of the innermost loop, + 1 */ uint8_t side; } frame;

typedef struct liveness {
    kir_function *f;
    bool is_kernel;
    uint32_t vars, words;  /* a set is `words` long */
    uint64_t *live, *module_set, *elsewhere; /* live here; all module variables; those that other functions read */
    uint64_t *loop_reads;  /* by number of the loop */
    uint64_t *pool;
    HG_VEC(frame) frames;
    HG_VEC(uint32_t) open; /* pre-walk: numbers of the loops around */
    bool failed;
} liveness;

/* Number of a variable in the sets, + 1; 0: nobody reads it. */
static uint32_t number_of(const kir_var *var) { return (uint32_t)(uintptr_t)var->scratch; }

static bool has(const uint64_t *set, uint32_t i) { return set[(i - 1) / 64] >> (i - 1) % 64 & 1; }
static void add(uint64_t *set, uint32_t i) { set[(i - 1) / 64] |= UINT64_C(1) << (i - 1) % 64; }
static void drop(uint64_t *set, uint32_t i) { set[(i - 1) / 64] &= ~(UINT64_C(1) << (i - 1) % 64); }
static void merge(const liveness *x, uint64_t *to, const uint64_t *from) {
    for (uint32_t i = 0; i < x->words; i++) to[i] |= from[i];
}
static void copy(const liveness *x, uint64_t *to, const uint64_t *from) { memcpy(to, from, x->words * sizeof *to); }
static bool calls_out(const kir_value *v) { return v->op == KIR_CALL && !v->u.call.function->pure; }

static void number_variables(liveness *x, const kir_module *m) {
    for (kir_var *var = m->vars; var; var = var->next) var->scratch = NULL;
    for (kir_value *v = kir_walk(NULL, x->f->body); v; v = kir_walk(v, x->f->body)) {
        bool counts = v->op == KIR_VAR_GET || (v->op == KIR_VAR_SET && !v->u.var->function);
        if (counts && !v->u.var->scratch) v->u.var->scratch = (void *)(uintptr_t)++x->vars;
    }
    x->words = (x->vars + 63) / 64;
}

/* Depth of regions and number of loops; numbers the loops in their scratch. */
static void measure(const liveness *x, uint64_t *depth, uint64_t *loops) {
    uint64_t now = 0;
    *depth = *loops = 0;
    const kir_region *region = x->f->body;
    for (kir_value *v = kir_walk(NULL, x->f->body); v; v = kir_walk(v, x->f->body)) {
        while (region != v->parent) { /* either one deeper or somewhere outside */
            if (v->parent->owner && v->parent->owner->parent == region) {
                now++;
                region = v->parent;
            } else {
                now--;
                region = region->owner->parent;
            }
        }
        if (now + 1 > *depth) *depth = now + 1;
        if (v->op == KIR_LOOP) v->scratch = (void *)(uintptr_t)(*loops)++;
    }
}

/* ---- what each loop reads ---- */

static void find_loop_reads(liveness *x) {
    const kir_region *region = x->f->body;
    for (kir_value *v = kir_walk(NULL, x->f->body); v && !x->failed; v = kir_walk(v, x->f->body)) {
        while (region != v->parent) {
            if (v->parent->owner && v->parent->owner->parent == region) {
                if (v->parent->owner->op == KIR_LOOP) {
                    uint32_t *place = hg_vec_push(&x->open);
                    if (place) *place = (uint32_t)(uintptr_t)v->parent->owner->scratch;
                    else x->failed = true;
                }
                region = v->parent;
            } else {
                if (region->owner->op == KIR_LOOP && x->open.count) {
                    const uint64_t *inner = x->loop_reads + (uint64_t)x->open.data[--x->open.count] * x->words;
                    if (x->open.count) merge(x, x->loop_reads + (uint64_t)x->open.data[x->open.count - 1] * x->words, inner);
                }
                region = region->owner->parent;
            }
        }
        if (x->open.count == 0) continue;
        uint64_t *reads = x->loop_reads + (uint64_t)x->open.data[x->open.count - 1] * x->words;
        if (v->op == KIR_VAR_GET) add(reads, number_of(v->u.var));
        if (calls_out(v)) merge(x, reads, x->elsewhere);
    }
    while (x->open.count > 1) {
        const uint64_t *inner = x->loop_reads + (uint64_t)x->open.data[--x->open.count] * x->words;
        merge(x, x->loop_reads + (uint64_t)x->open.data[x->open.count - 1] * x->words, inner);
    }
}

/* ---- backwards ---- */

static uint64_t *frame_set(liveness *x, const frame *n, uint32_t which) { return x->pool + n->sets + (uint64_t)which * x->words; }

static void leave_set(liveness *x, uint64_t *set) {
    if (x->is_kernel) memset(set, 0, x->words * sizeof *set);
    else copy(x, set, x->module_set);
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
    return owner->prev;
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
        if (v->op == KIR_VAR_GET) add(x->live, number_of(v->u.var));
        if (calls_out(v)) merge(x, x->live, x->elsewhere);
        if (simplify_ends(v)) jump(x, v);
        if (v->op == KIR_VAR_SET) {
            uint32_t i = number_of(v->u.var);
            if (i == 0 || !has(x->live, i)) kir_remove(v);
            else drop(x->live, i);
        }
        v = before;
    }
}

static void remove_unread(liveness *x) {
    for (kir_value *v = kir_walk(NULL, x->f->body), *next; v; v = next) {
        next = kir_walk(v, x->f->body);
        if (v->op == KIR_VAR_SET && number_of(v->u.var) == 0) kir_remove(v);
    }
}

static bool remove_sets(kir_module *m, kir_function *f, const uint32_t *readers) {
    liveness x = {.f = f, .is_kernel = f == m->functions};
    number_variables(&x, m);
    remove_unread(&x);
    uint64_t depth, loops;
    measure(&x, &depth, &loops);
    if (x.words == 0 || (2 * depth + loops) * x.words > UINT64_C(1) << 23) return true; /* 64 MiB of sets: rather keep dead sets */
    uint64_t *memory = hg_calloc((size_t)((3 + loops + 2 * depth) * x.words), sizeof *memory);
    if (!memory) return false;
    x.live = memory;
    x.module_set = memory + x.words;
    x.elsewhere = memory + 2 * (uint64_t)x.words;
    x.loop_reads = memory + 3 * (uint64_t)x.words;
    x.pool = x.loop_reads + loops * x.words;
    for (kir_var *var = m->vars; var; var = var->next) {
        if (var->function || !number_of(var)) continue;
        add(x.module_set, number_of(var));
        if (simplify_elsewhere(readers, var, f)) add(x.elsewhere, number_of(var));
    }
    find_loop_reads(&x);
    if (!x.failed) walk_back(&x);
    hg_free(memory);
    hg_vec_free(&x.frames);
    hg_vec_free(&x.open);
    return !x.failed;
}

/* ---- operations without use ---- */

static bool is_dead(const kir_value *v) {
    if (v->op == KIR_IF) return !v->body[0]->first && !v->body[1]->first;
    return v->uses == 0 && !kir_has_side_effect(v);
}

static bool remove_unused(kir_function *f) {
    uint64_t count = 0;
    for (kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body)) {
        v->uses = 0;
        count++;
    }
    kir_value **all = hg_alloc((size_t)(count + 1) * sizeof(kir_value *));
    if (!all) return false;
    count = 0;
    for (kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body)) {
        all[count++] = v;
        for (uint8_t i = 0; i < v->nargs; i++) v->args[i]->uses++;
    }
    while (count-- > 0) {
        kir_value *v = all[count];
        if (!is_dead(v)) continue;
        for (uint8_t i = 0; i < v->nargs; i++) v->args[i]->uses--;
        kir_remove(v);
    }
    hg_free(all);
    return true;
}

hg_status simplify_dead(kir_module *m, kir_function *f, const uint32_t *readers) {
    return remove_unused(f) && remove_sets(m, f, readers) && remove_unused(f) ? HG_OK : hg_fail_memory();
}
