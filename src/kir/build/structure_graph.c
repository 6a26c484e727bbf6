/* Facts about the graph of a function's blocks: branches that leave the lane there, and the order,
 * dominators and targets of one level.
 * Must not know: loops, what is written. */
#include "kir/build/structure_internal.h"

/* A block that only leaves: exit, the end, or a jump straight there. */
static bool stops_at_once(const hg_function *f, uint32_t b) {
    for (int hops = 0; hops < 16; hops++) {
        const hg_block *n = &f->blocks[b];
        if (n->last - n->first > 1) return false;
        if (n->exit == HG_EXIT_STOP) return true;
        if (n->exit != HG_EXIT_JUMP) return false;
        b = n->succ[0];
    }
    return false;
}

bool structure_branch_leaves(const hg_function *f, uint32_t block, uint32_t k) {
    const hg_block *n = &f->blocks[block];
    if (n->exit != HG_EXIT_BRANCH && n->exit != HG_EXIT_LOOP) return false;
    return stops_at_once(f, n->succ[k]) && !stops_at_once(f, n->succ[1 - k]);
}

/* ---- one level: order, dominators, what follows what ---- */

uint32_t structure_order_level(graph *g, int32_t first, int32_t *list, int32_t *stack) {
    uint32_t depth = 0, count = 0;
    stack[depth++] = first;
    g->items[first].depth = 1; /* seen */
    while (depth) {
        item *n = &g->items[stack[depth - 1]];
        if (n->cursor == n->edge_count) {
            list[count++] = stack[--depth];
            continue;
        }
        int32_t to = g->edges[n->edges + n->cursor++].target;
        if (to < 0) continue;
        g->items[to].preds++;
        if (g->items[to].depth) continue;
        g->items[to].depth = 1;
        stack[depth++] = to;
    }
    for (uint32_t i = 0; i < count / 2; i++) {
        int32_t swap = list[i];
        list[i] = list[count - 1 - i];
        list[count - 1 - i] = swap;
    }
    for (uint32_t i = 0; i < count; i++) g->items[list[i]].order = i;
    return count;
}

int32_t structure_common_ancestor(const graph *g, int32_t a, int32_t b) {
    const item *n = g->items;
    while (a != b) {
        if (n[a].depth != n[b].depth) {
            int32_t *deep = n[a].depth > n[b].depth ? &a : &b;
            uint32_t aim = n[a].depth > n[b].depth ? n[b].depth : n[a].depth;
            *deep = n[n[*deep].jump].depth >= aim ? n[*deep].jump : n[*deep].idom;
        } else if (n[a].jump != n[b].jump) {
            a = n[a].jump;
            b = n[b].jump;
        } else {
            a = n[a].idom;
            b = n[b].idom;
        }
    }
    return a;
}

/* Dominators in one pass, for there are no cycles. Jump pointers: E. Myers, "An applicative
 * random-access stack" (1983). */
void structure_dominators(graph *g, const int32_t *list, uint32_t count) {
    item *n = g->items;
    for (uint32_t i = 0; i < count; i++) {
        int32_t v = list[i];
        if (i == 0) {
            n[v].idom = n[v].jump = v;
            n[v].depth = 0;
        } else {
            int32_t p = n[v].idom, q = n[p].jump;
            n[v].depth = n[p].depth + 1;
            n[v].jump = n[p].depth - n[q].depth == n[q].depth - n[n[q].jump].depth ? n[q].jump : p;
        }
        for (uint32_t k = 0; k < n[v].edge_count; k++) {
            int32_t to = g->edges[n[v].edges + k].target;
            if (to >= 0)
                n[to].idom = n[to].idom == NO_ITEM ? v
                                                   : structure_common_ancestor(g, n[to].idom, v);
        }
    }
}

static void add_out(item *n, int32_t target) {
    if (n->out_count == OUT_MANY) return;
    for (uint8_t i = 0; i < n->out_count; i++)
        if (n->out[i] == target) return;
    if (n->out_count == OUT_KNOWN)
        n->out_count = OUT_MANY;
    else
        n->out[n->out_count++] = target;
}

/* Adds what the subtree of child leads to, the rest of v's own subtree aside. */
static void add_outs(graph *g, int32_t v, int32_t child) {
    item *n = &g->items[v], *c = &g->items[child];
    if (c->out_count == OUT_MANY) n->out_count = OUT_MANY;
    for (uint8_t i = 0; i < c->out_count && i < OUT_KNOWN; i++)
        if (c->out[i] < 0 || g->items[c->out[i]].idom != v) add_out(n, c->out[i]);
}

void structure_follow_ups(graph *g, const int32_t *list, uint32_t count) {
    item *n = g->items;
    for (uint32_t i = 0; i < count; i++) n[list[i]].first_merge = n[list[i]].next_merge = NO_ITEM;
    for (uint32_t i = count; i-- > 0;) {
        int32_t v = list[i];
        for (uint32_t k = 0; k < n[v].edge_count; k++) {
            int32_t to = g->edges[n[v].edges + k].target;
            if (to == TO_LEAVE) continue;
            if (to < 0)
                add_out(&n[v], to);
            else if (n[to].preds == 1)
                add_outs(g, v, to);
            else if (n[to].idom != v)
                add_out(&n[v], to);
        }
        for (int32_t c = n[v].first_merge; c != NO_ITEM; c = n[c].next_merge) add_outs(g, v, c);
        if (i == 0 || n[v].preds < 2) continue;
        n[v].next_merge = n[n[v].idom].first_merge;
        n[n[v].idom].first_merge = v;
    }
}
