/* The loops of a graph of blocks as a tree, irreducible ones included.
 * Method: P. Havlak, "Nesting of reducible and irreducible loops" (TOPLAS 19, 1997): depth-first
 * numbering, then from the last block to the first everything that reaches a back edge without
 * passing its target belongs to the loop; loops found earlier stand for their blocks through
 * union-find. A jump into the middle of a loop counts as an entry to the loop.
 * Requires: every block reachable from block 0. Provides: graph.loop_of, graph.loops. */
#include "kir/build/structure_internal.h"

typedef struct extra {
    uint32_t from, next;
} extra;

/* Everything here is in depth-first numbers. */
typedef struct finder {
    graph *g;
    uint32_t n;
    uint32_t *number; /* block -> number */
    uint32_t *block;  /* number -> block */
    uint32_t *last;   /* largest number below, itself included */
    uint32_t *pred_first, *preds;
    uint32_t *set;         /* union-find: towards the representative */
    uint32_t *header;      /* header of the innermost loop around it, UINT32_MAX: none */
    uint32_t *extra_first; /* entries moved up from inner loops: in extras, + 1 */
    uint32_t *stamp, *body;
    bool *is_loop;
    HG_VEC(extra) extras;
} finder;

static bool number_blocks(finder *f) {
    uint32_t *stack = f->body, *next = f->stamp, depth = 0, count = 0; /* scratch until find */
    for (uint32_t b = 0; b < f->n; b++) f->number[b] = UINT32_MAX;
    stack[depth++] = 0;
    f->number[0] = count;
    f->block[count++] = 0;
    while (depth) {
        uint32_t b = stack[depth - 1];
        if (next[depth - 1] < 2) {
            uint32_t to = f->g->blocks[b].succ[next[depth - 1]++];
            if (to == HG_NO_BLOCK || f->number[to] != UINT32_MAX) continue;
            f->number[to] = count;
            f->block[count++] = to;
            next[depth] = 0;
            stack[depth++] = to;
            continue;
        }
        f->last[f->number[b]] = count - 1;
        depth--;
    }
    for (uint32_t i = 0; i < f->n; i++) f->stamp[i] = 0;
    return count == f->n;
}

static void find_preds(finder *f) {
    const hg_block *blocks = f->g->blocks;
    for (uint32_t b = 0; b < f->n; b++)
        for (int k = 0; k < 2; k++)
            if (blocks[b].succ[k] != HG_NO_BLOCK) f->pred_first[f->number[blocks[b].succ[k]] + 1]++;
    uint32_t *next = f->set; /* scratch until find */
    for (uint32_t i = 0; i < f->n; i++) {
        f->pred_first[i + 1] += f->pred_first[i];
        next[i] = f->pred_first[i];
    }
    for (uint32_t b = 0; b < f->n; b++)
        for (int k = 0; k < 2; k++)
            if (blocks[b].succ[k] != HG_NO_BLOCK)
                f->preds[next[f->number[blocks[b].succ[k]]]++] = f->number[b];
}

static uint32_t find(finder *f, uint32_t v) {
    while (f->set[v] != v) {
        f->set[v] = f->set[f->set[v]];
        v = f->set[v];
    }
    return v;
}

static bool is_below(const finder *f, uint32_t v, uint32_t w) { return w <= v && v <= f->last[w]; }

static uint32_t add_to_body(finder *f, uint32_t w, uint32_t v, uint32_t count) {
    if (v == w || f->stamp[v] == w + 1) return count;
    f->stamp[v] = w + 1;
    f->body[count] = v;
    return count + 1;
}

/* A predecessor of body member: grows the body, or becomes an entry to the loop. */
static bool add_pred(finder *f, uint32_t w, uint32_t from, uint32_t *count) {
    uint32_t y = find(f, from);
    f->g->work++;
    if (is_below(f, y, w)) {
        *count = add_to_body(f, w, y, *count);
        return true;
    }
    extra *e = hg_vec_push(&f->extras);
    if (!e) return false;
    *e = (extra){y, f->extra_first[w]};
    f->extra_first[w] = (uint32_t)f->extras.count;
    return true;
}

static bool find_loop(finder *f, uint32_t w) {
    uint32_t count = 0;
    for (uint32_t p = f->pred_first[w]; p < f->pred_first[w + 1]; p++) {
        if (!is_below(f, f->preds[p], w)) continue;
        f->is_loop[w] = true;
        count = add_to_body(f, w, find(f, f->preds[p]), count);
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t v = f->body[i];
        for (uint32_t p = f->pred_first[v]; p < f->pred_first[v + 1]; p++)
            if (!is_below(f, f->preds[p], v) && !add_pred(f, w, f->preds[p], &count)) return false;
        for (uint32_t e = f->extra_first[v]; e; e = f->extras.data[e - 1].next)
            if (!add_pred(f, w, f->extras.data[e - 1].from, &count)) return false;
        if (f->g->work > f->g->work_limit) {
            f->g->give_up = true;
            return false;
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        f->header[f->body[i]] = w;
        f->set[f->body[i]] = w;
    }
    return true;
}

void structure_range_loops(graph *g, uint32_t *next) {
    for (uint32_t l = g->loop_count; l-- > 0;) {
        g->loops[l].size++;
        if (l) g->loops[g->loops[l].parent].size += g->loops[l].size;
    }
    for (uint32_t l = 0; l < g->loop_count; l++) {
        if (l) {
            uint32_t p = g->loops[l].parent;
            g->loops[l].start = next[p]; /* start of the parent's next inner loop */
            next[p] += g->loops[l].size;
        }
        next[l] = g->loops[l].start + 1;
    }
}

/* Numbers loops by header, outer ones first, and gives each the range of those inside. */
static bool number_loops(finder *f) {
    graph *g = f->g;
    g->loop_count = 1;
    for (uint32_t w = 0; w < f->n; w++) g->loop_count += f->is_loop[w];
    g->loops = hg_calloc(g->loop_count, sizeof *g->loops);
    uint32_t *own = f->stamp, count = 1; /* number -> its own loop */
    if (!g->loops) return false;
    for (uint32_t w = 0; w < f->n; w++) {
        uint32_t around = f->header[w] == UINT32_MAX ? 0 : own[f->header[w]];
        own[w] = 0;
        if (f->is_loop[w]) {
            own[w] = count++;
            g->loops[own[w]] = (cycle){.header = f->block[w], .parent = around};
        }
        g->loop_of[f->block[w]] = f->is_loop[w] ? own[w] : around;
    }
    structure_range_loops(g, f->body); /* there are at most n loops besides the function */
    return true;
}

static void *words(uint32_t n) { return hg_calloc((size_t)n + 2, sizeof(uint32_t)); }

bool structure_find_loops(graph *g) {
    uint32_t n = g->block_count;
    finder f = {.g = g,
                .n = n,
                .number = words(n),
                .block = words(n),
                .last = words(n),
                .pred_first = words(n),
                .preds = words(2 * n),
                .set = words(n),
                .header = words(n),
                .extra_first = words(n),
                .stamp = words(n),
                .body = words(n),
                .is_loop = hg_calloc((size_t)n + 1, sizeof(bool))};
    bool ok = f.number && f.block && f.last && f.pred_first && f.preds && f.set && f.header &&
              f.extra_first && f.stamp && f.body && f.is_loop;
    ok = ok && number_blocks(&f);
    if (ok) find_preds(&f);
    for (uint32_t i = 0; ok && i < n; i++) {
        f.set[i] = i;
        f.header[i] = UINT32_MAX;
    }
    for (uint32_t w = n; ok && w-- > 0;) ok = find_loop(&f, w);
    ok = ok && number_loops(&f);
    hg_free(f.number);
    hg_free(f.block);
    hg_free(f.last);
    hg_free(f.pred_first);
    hg_free(f.preds);
    hg_free(f.set);
    hg_free(f.header);
    hg_free(f.extra_first);
    hg_free(f.stamp);
    hg_free(f.body);
    hg_free(f.is_loop);
    hg_vec_free(&f.extras);
    return ok;
}
