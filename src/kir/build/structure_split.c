/* Two loops that begin at the same block are one loop for structure_loops.c:
 *
 *     top:  …  bra.p_varying @top;   reduce;   bra.p_uniform @top
 *
 * Lanes leave the inner one at different times and meet behind it; taken as one loop they would
 * never meet again before its end. In functions where lanes must meet (at whole-array steps and
 * barriers) such a loop is written as two: what does not come after the cut, the place that every
 * way out passes, becomes an inner loop of its own. Where that was not needed it does no harm.
 * Requires: one level ordered, with dominators. Provides: loop_of and loops changed, to be analysed again. */
#include "kir/build/structure_internal.h"

/* Edges back to the loop's start from each item's subtree, into cursor. */
static void count_returns(graph *g, const int32_t *list, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) g->items[list[i]].cursor = 0;
    for (uint32_t i = count; i-- > 0;) {
        item *n = &g->items[list[i]];
        for (uint32_t k = 0; k < n->edge_count; k++)
            n->cursor += g->edges[n->edges + k].target == TO_CONTINUE;
        if (i) g->items[n->idom].cursor += n->cursor;
    }
}

/* The nearest item that every way out of the loop passes; NO_ITEM without a way out. */
static int32_t last_gate(graph *g, const int32_t *list, uint32_t count) {
    int32_t gate = NO_ITEM;
    for (uint32_t i = 0; i < count; i++) {
        const item *n = &g->items[list[i]];
        for (uint32_t k = 0; k < n->edge_count; k++) {
            int32_t to = g->edges[n->edges + k].target;
            if (to < 0 && to != TO_CONTINUE && to != TO_LEAVE)
                gate = gate == NO_ITEM ? list[i] : structure_common_ancestor(g, gate, list[i]);
        }
    }
    return gate;
}

/* Marks in cursor what the cut dominates. True when the rest is entered from there at the loop's
 * start only. */
static bool mark_rest(graph *g, const int32_t *list, uint32_t count, int32_t cut) {
    for (uint32_t i = 0; i < count; i++)
        g->items[list[i]].cursor = list[i] == cut || (i && g->items[g->items[list[i]].idom].cursor);
    for (uint32_t i = 0; i < count; i++) {
        const item *n = &g->items[list[i]];
        for (uint32_t k = 0; k < n->edge_count && n->cursor; k++) {
            int32_t to = g->edges[n->edges + k].target;
            if (to >= 0 && !g->items[to].cursor) return false;
        }
    }
    return true;
}

/* The highest dominator of the gate that some way back to the start does not pass, or NO_ITEM. */
static int32_t find_cut(graph *g, const int32_t *list, uint32_t count) {
    int32_t cut = NO_ITEM;
    count_returns(g, list, count);
    uint32_t all = g->items[list[0]].cursor;
    for (int32_t v = last_gate(g, list, count); v != NO_ITEM && v != list[0]; v = g->items[v].idom)
        if (g->items[v].cursor < all) cut = v;
    return cut;
}

bool structure_split_level(graph *g, uint32_t l, const int32_t *list, uint32_t count) {
    if (l == 0 || g->loops[l].entries || count < 2) return true;
    int32_t cut = find_cut(g, list, count);
    if (cut == NO_ITEM || !mark_rest(g, list, count, cut)) return true;
    cycle *inner = hg_vec_push(&g->splits);
    if (!inner) return false;
    *inner = (cycle){.header = g->loops[l].header, .parent = l};
    uint32_t number = g->loop_count + (uint32_t)g->splits.count - 1;
    for (uint32_t i = 0; i < count; i++) {
        if (g->items[list[i]].cursor) continue;
        if (is_loop_item(g, list[i]))
            g->loops[loop_of_item(g, list[i])].parent = number;
        else
            g->loop_of[list[i]] = number;
    }
    return true;
}

/* Puts the new loops with the others and numbers all again, outer ones first. */
bool structure_apply_splits(graph *g) {
    uint32_t count = g->loop_count + (uint32_t)g->splits.count, done = 0;
    cycle *loops = hg_calloc(count, sizeof *loops);
    uint32_t *order = hg_calloc((size_t)count * 4, sizeof *order);
    if (!loops || !order) {
        hg_free(loops);
        hg_free(order);
        return false;
    }
    uint32_t *new_number = order + count, *first = order + 2 * (size_t)count,
             *next = order + 3 * (size_t)count;
    for (uint32_t l = 0; l < count; l++) { /* children as lists, 0: none */
        uint32_t parent = l < g->loop_count ? g->loops[l].parent
                                            : g->splits.data[l - g->loop_count].parent;
        if (l == 0) continue;
        next[l] = first[parent];
        first[parent] = l;
    }
    order[done++] = 0;
    for (uint32_t i = 0; i < done; i++)
        for (uint32_t c = first[order[i]]; c; c = next[c]) order[done++] = c;
    for (uint32_t i = 0; i < done; i++) new_number[order[i]] = i;
    for (uint32_t i = 0; i < done; i++) {
        const cycle *old = order[i] < g->loop_count ? &g->loops[order[i]]
                                                    : &g->splits.data[order[i] - g->loop_count];
        loops[i] = (cycle){.header = old->header, .parent = new_number[old->parent]};
    }
    for (uint32_t b = 0; b < g->block_count; b++) g->loop_of[b] = new_number[g->loop_of[b]];
    hg_free(order);
    hg_free(g->loops);
    g->loops = loops;
    g->loop_count = count;
    g->splits.count = 0;
    return true;
}
