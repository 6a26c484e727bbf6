/* Questions about the graph of a function's blocks that every part of structuring asks. Must not know: what is written. */
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

bool structure_leaves(const hg_function *f, uint32_t block, uint32_t k) {
    const hg_block *n = &f->blocks[block];
    if (!f->has_barrier || (n->exit != HG_EXIT_BRANCH && n->exit != HG_EXIT_LOOP)) return false;
    return stops_at_once(f, n->succ[k]) && !stops_at_once(f, n->succ[1 - k]);
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
