/* Structured control flow from an arbitrary graph of blocks, in time near its size and without
 * copying blocks.
 *
 * Method: N. Ramsey, "Beyond Relooper" (ICFP 2022), writes the dominator tree: a block is followed
 * by what it dominates, and blocks that several edges lead to come after the construct they end.
 * That needs exits over several constructs at once; here each loop is first made to have one way in
 * and one way out (a variable says which entry or exit is meant), so that inside a loop only
 * forward jumps are left, and those become conditions (structure_emit.c).
 * Requires: blocks of a verified function. Provides: its body. Graphs with far too many loop exits become one loop over block numbers. */
#include "kir/build/structure_internal.h"

#include <string.h>

/* ---- ways in and out of loops ---- */

/* An exit of loop to block, or an entry of loop at block; number counts those of its loop. */
typedef struct way {
    uint32_t loop, block, number;
    bool is_entry;
} way;

typedef struct ways {
    HG_VEC(way) list;
    uint32_t *table; /* hash -> index + 1 */
    uint64_t capacity;
} ways;

static uint64_t hash_way(uint32_t loop, uint32_t block, bool is_entry) {
    uint64_t h = ((uint64_t)loop << 32 | block) * 2 + is_entry;
    h *= UINT64_C(0x9E3779B97F4A7C15); /* 2^64 / golden ratio: Knuth's multiplicative hash */
    return h ^ h >> 29;
}

static way *find_way(const ways *w, uint32_t loop, uint32_t block, bool is_entry) {
    if (!w->capacity) return NULL;
    for (uint64_t i = hash_way(loop, block, is_entry);; i++) {
        uint32_t at = w->table[i & (w->capacity - 1)];
        if (!at) return NULL;
        way *found = &w->list.data[at - 1];
        if (found->loop == loop && found->block == block && found->is_entry == is_entry)
            return found;
    }
}

static bool grow_table(ways *w) {
    uint64_t capacity = w->capacity ? 2 * w->capacity : 64;
    uint32_t *table = hg_calloc((size_t)capacity, sizeof *table);
    if (!table) return false;
    for (uint64_t i = 0; i < w->list.count; i++) {
        uint64_t at = hash_way(w->list.data[i].loop, w->list.data[i].block,
                               w->list.data[i].is_entry);
        while (table[at & (capacity - 1)]) at++;
        table[at & (capacity - 1)] = (uint32_t)i + 1;
    }
    hg_free(w->table);
    w->table = table;
    w->capacity = capacity;
    return true;
}

static bool add_way(ways *w, uint32_t loop, uint32_t block, bool is_entry, uint32_t number) {
    if (2 * w->list.count >= w->capacity && !grow_table(w)) return false;
    way *n = hg_vec_push(&w->list);
    if (!n) return false;
    *n = (way){loop, block, number, is_entry};
    uint64_t at = hash_way(loop, block, is_entry);
    while (w->table[at & (w->capacity - 1)]) at++;
    w->table[at & (w->capacity - 1)] = (uint32_t)w->list.count;
    return true;
}

static bool contains(const graph *g, uint32_t l, uint32_t block) {
    uint32_t at = g->loops[g->loop_of[block]].start;
    return g->loops[l].start <= at && at < g->loops[l].start + g->loops[l].size;
}

/* Notes the loops that the jump from block `from` to block `to` leaves and enters. */
static bool add_jump(graph *g, ways *w, uint32_t from, uint32_t to) {
    uint32_t l = g->loop_of[from];
    for (; !contains(g, l, to); l = g->loops[l].parent) {
        if (find_way(w, l, to, false)) return true; /* the rest is known too */
        if (!add_way(w, l, to, false, g->loops[l].exits++)) return false;
        g->work++;
    }
    for (uint32_t m = g->loop_of[to]; m != l; m = g->loops[m].parent) {
        g->work++;
        if (g->loops[m].header == to || find_way(w, m, to, true)) continue;
        if (!add_way(w, m, to, true, ++g->loops[m].entries)) return false;
    }
    g->give_up = g->work > g->work_limit;
    return !g->give_up;
}

/* Item that a jump from level l to block `to` arrives at. */
static edge route(graph *g, const ways *w, uint32_t l, uint32_t to) {
    if (!contains(g, l, to)) return (edge){TO_BREAK, find_way(w, l, to, false)->number};
    if (l && g->loops[l].header == to) return (edge){TO_CONTINUE, 0};
    uint32_t m = g->loop_of[to];
    if (m == l) return (edge){(int32_t)to, 0};
    for (; g->loops[m].parent != l; m = g->loops[m].parent) g->work++;
    return (edge){loop_item(g, m), g->loops[m].header == to ? 0 : find_way(w, m, to, true)->number};
}

/* ---- items and edges ---- */

static uint32_t edges_of(const graph *g, int32_t i) {
    if (is_dispatch_item(g, i)) return g->loops[loop_of_item(g, i)].entries + 1;
    if (is_loop_item(g, i)) return g->loops[loop_of_item(g, i)].exits;
    return g->blocks[i].exit == HG_EXIT_BRANCH || g->blocks[i].exit == HG_EXIT_LOOP ? 2 : 1;
}

static void block_edges(graph *g, const ways *w, uint32_t b) {
    edge *e = &g->edges[g->items[b].edges];
    if (g->blocks[b].exit == HG_EXIT_RET)
        e[0] = (edge){TO_RETURN, 0};
    else if (g->blocks[b].exit == HG_EXIT_STOP)
        e[0] = (edge){TO_STOP, 0};
    else
        for (uint32_t k = 0; k < g->items[b].edge_count; k++)
            e[k] = structure_leaves(g->x->source, b, k)
                       ? (edge){TO_LEAVE, 0}
                       : route(g, w, g->loop_of[b], g->blocks[b].succ[k]);
}

static bool make_edges(graph *g, const ways *w) {
    uint32_t count = g->block_count + 2 * g->loop_count;
    uint64_t total = 0;
    g->items = hg_calloc(count, sizeof *g->items);
    if (!g->items) return false;
    for (uint32_t i = 0; i < count; i++) {
        g->items[i].edges = (uint32_t)total;
        g->items[i].edge_count = edges_of(g, (int32_t)i);
        g->items[i].idom = NO_ITEM;
        total += g->items[i].edge_count;
    }
    g->edges = hg_calloc((size_t)total + 1, sizeof *g->edges);
    if (!g->edges) return false;
    for (uint32_t b = 0; b < g->block_count; b++) block_edges(g, w, b);
    for (uint32_t l = 1; l < g->loop_count; l++)
        g->edges[g->items[dispatch_item(g, l)].edges] = (edge){(int32_t)g->loops[l].header, 0};
    for (uint64_t i = 0; i < w->list.count; i++) {
        const way *n = &w->list.data[i];
        int32_t at = n->is_entry ? dispatch_item(g, n->loop) : loop_item(g, n->loop);
        g->edges[g->items[at].edges + n->number] = route(
            g, w, n->is_entry ? n->loop : g->loops[n->loop].parent, n->block);
    }
    g->give_up = g->work > g->work_limit;
    return !g->give_up;
}

/* ---- all levels ---- */

static bool analyse_levels(graph *g, bool split, int32_t root) {
    size_t count = (size_t)g->block_count + 2 * (size_t)g->loop_count;
    int32_t *list = hg_calloc(count, sizeof *list), *stack = hg_calloc(count, sizeof *stack);
    bool ok = list && stack;
    for (uint32_t l = 0; ok && l < g->loop_count; l++) {
        uint32_t n = structure_order_level(g, level_entry(g, l, root), list, stack);
        structure_dominators(g, list, n);
        structure_follow_ups(g, list, n);
        if (split) ok = structure_split_level(g, l, list, n);
    }
    hg_free(list);
    hg_free(stack);
    return ok;
}

static void free_items(graph *g) {
    hg_free(g->items);
    hg_free(g->edges);
    g->items = NULL;
    g->edges = NULL;
}

/* Everything from the loops to the dominators of each level. */
static bool analyse(graph *g, bool split, int32_t *root) {
    ways w = {.capacity = 0};
    bool ok = true;
    for (uint32_t b = 0; ok && b < g->block_count; b++)
        for (int k = 0; ok && k < 2; k++)
            if (g->blocks[b].succ[k] != HG_NO_BLOCK &&
                !structure_leaves(g->x->source, b, (uint32_t)k))
                ok = add_jump(g, &w, b, g->blocks[b].succ[k]);
    ok = ok && make_edges(g, &w);
    if (ok) *root = route(g, &w, 0, 0).target;
    hg_vec_free(&w.list);
    hg_free(w.table);
    return ok && analyse_levels(g, split, *root);
}

/* Splits loops that share a header and analyses again, as often as they may be nested. */
static bool split_again(graph *g) {
    if (g->splits.count == 0 || !structure_apply_splits(g)) return false;
    uint32_t *scratch = hg_calloc(g->loop_count, sizeof *scratch);
    if (!scratch) return false;
    structure_range_loops(g, scratch);
    hg_free(scratch);
    free_items(g);
    return true;
}

enum { SPLIT_ROUNDS = 8 };

static bool structured(graph *g) {
    const hg_function *f = g->x->source;
    int32_t root = 0;
    if (!structure_find_loops(g)) return false;
    for (int round = 0;; round++) {
        bool split = round < SPLIT_ROUNDS && (f->has_barrier || f->has_collective);
        if (!analyse(g, split, &root)) return false;
        if (g->splits.count == 0) return structure_emit(g, root);
        if (!split_again(g)) return false;
    }
}

hg_status build_structure(build *x) {
    graph g = {.x = x, .blocks = x->source->blocks, .block_count = x->source->block_count};
    g.work_limit = 16 * (uint64_t)g.block_count + 4096;
    g.loop_of = hg_calloc(g.block_count, sizeof *g.loop_of);
    bool ok = g.loop_of && structured(&g);
    free_items(&g);
    hg_free(g.loop_of);
    hg_free(g.loops);
    hg_vec_free(&g.splits);
    if (ok) return HG_OK;
    return g.give_up ? structure_flat(x) : kir_fail_making(x->module);
}
