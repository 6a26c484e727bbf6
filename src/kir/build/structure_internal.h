/* The graph that a function's blocks become before they are written as structured control flow.
 *
 * Loops form a tree (level 0: the function). A level's items are its own blocks, each inner loop as
 * one item, and, for a loop that is entered at several places, a dispatch. Without the edges back
 * to the loop's start the items of a level form a graph without cycles. Edges that leave the level
 * have the targets TO_*; which way a loop was left, or entered, is in a variable. */
#ifndef HG_KIR_STRUCTURE_INTERNAL_H
#define HG_KIR_STRUCTURE_INTERNAL_H

#include "kir/build/build_internal.h"

enum {
    TO_CONTINUE = -1,
    TO_BREAK = -2,
    TO_RETURN = -3,
    TO_STOP = -4,
    NO_ITEM = -5,
    TO_LEAVE = -6 /* an EXIT where it stands: see structure_leaves */
};
enum { OUT_KNOWN = 3, OUT_MANY = OUT_KNOWN + 1 };

typedef struct edge {
    int32_t target;  /* item or TO_* */
    uint32_t select; /* which exit (TO_BREAK), or which entry (loop with a dispatch) */
} edge;

typedef struct cycle {
    uint32_t header;       /* block; an inner loop may share it (structure_split.c) */
    uint32_t parent;       /* loop */
    uint32_t start, size;  /* loop m is inside or equal when start <= m.start < start + size */
    uint32_t exits;        /* different blocks it is left to */
    uint32_t entries;      /* different blocks, other than the header, it is entered at */
    kir_var *exit, *enter; /* which of several */
} cycle;

typedef struct item {
    uint32_t edges, edge_count; /* first in graph.edges */
    uint32_t cursor;            /* depth-first walk */
    uint32_t order;             /* topological, in the level */
    uint32_t preds;             /* edges to it in the level */
    uint32_t depth;             /* in the dominator tree of the level */
    int32_t idom, jump; /* parent in that tree, and an ancestor further up (for common ancestors in
                           logarithmic time) */
    int32_t first_merge, next_merge; /* items it dominates at once that several edges lead to, in
                                        order */
    int32_t out[OUT_KNOWN];          /* targets outside of its subtree */
    uint8_t out_count;               /* OUT_MANY: more than OUT_KNOWN */
    kir_var *skip;                   /* set when control is on its way to this item over others */
    kir_region *start_region; /* where its sequence began: after start_after (NULL: at the region's
                                 front) */
    kir_value *start_after;
} item;

typedef struct graph {
    build *x;
    const hg_block *blocks;
    uint32_t block_count;
    uint32_t *loop_of; /* block -> innermost loop */
    cycle *loops;      /* loops[0]: the function */
    uint32_t loop_count;
    item *items;
    edge *edges;
    HG_VEC(cycle) splits;
    uint64_t work, work_limit;
    bool give_up; /* too many ways in and out of loops: written as one loop over block numbers */
} graph;

/* In a function with a barrier a branch straight to the exit ends the lane there and then, and the
 * lanes that stay go on under no condition: that is how the verifier sees barriers behind such
 * branches. */
bool structure_branch_leaves(const hg_function *f, uint32_t block, uint32_t k); /* structure_graph.c
                                                                                 */
static inline bool structure_leaves(const hg_function *f, uint32_t block, uint32_t k) {
    return f->has_barrier && structure_branch_leaves(f, block, k);
}

static inline int32_t loop_item(const graph *g, uint32_t l) {
    return (int32_t)(g->block_count + l);
}
static inline int32_t dispatch_item(const graph *g, uint32_t l) {
    return (int32_t)(g->block_count + g->loop_count + l);
}
static inline bool is_loop_item(const graph *g, int32_t i) {
    return (uint32_t)i >= g->block_count && (uint32_t)i < g->block_count + g->loop_count;
}
static inline bool is_dispatch_item(const graph *g, int32_t i) {
    return (uint32_t)i >= g->block_count + g->loop_count;
}
/* The loop of an item that is no block. */
static inline uint32_t loop_of_item(const graph *g, int32_t i) {
    return (uint32_t)i - g->block_count - (is_dispatch_item(g, i) ? g->loop_count : 0);
}
/* The loop that an item stands in. */
static inline uint32_t level_of(const graph *g, int32_t i) {
    if (is_dispatch_item(g, i)) return loop_of_item(g, i);
    return is_loop_item(g, i) ? g->loops[loop_of_item(g, i)].parent : g->loop_of[i];
}
/* The inner loop that begins at the same block; 0: none. */
static inline uint32_t same_header(const graph *g, uint32_t l) {
    uint32_t m = g->loop_of[g->loops[l].header];
    if (l == 0 || m == l) return 0;
    while (g->loops[m].parent != l) m = g->loops[m].parent;
    return m;
}
static inline int32_t level_entry(const graph *g, uint32_t l, int32_t root) {
    if (l == 0) return root;
    if (g->loops[l].entries) return dispatch_item(g, l);
    return same_header(g, l) ? loop_item(g, same_header(g, l)) : (int32_t)g->loops[l].header;
}

/* structure_loops.c: fills loop_of, loops. False: out of memory, or give_up. */
bool structure_find_loops(graph *g);
/* structure_loops.c: start and size of every loop. next: room for a number each. */
void structure_range_loops(graph *g, uint32_t *next);
/* structure_graph.c: topological order of the items reached from first, into list; their number. */
uint32_t structure_order_level(graph *g, int32_t first, int32_t *list, int32_t *stack);
/* structure_graph.c: of the items of a level in that order. */
void structure_dominators(graph *g, const int32_t *list, uint32_t count);
void structure_follow_ups(graph *g, const int32_t *list, uint32_t count); /* first_merge,
                                                                             next_merge, out */
/* structure_graph.c: in the dominator tree of a level. */
int32_t structure_common_ancestor(const graph *g, int32_t a, int32_t b);
/* structure_split.c: the first may add to splits, the second puts them with the loops. False: out
 * of memory. */
bool structure_split_level(graph *g, uint32_t l, const int32_t *list, uint32_t count);
bool structure_apply_splits(graph *g);
/* structure_emit.c: writes the body. False: out of memory, or give_up. */
bool structure_emit(graph *g, int32_t root);
/* structure_flat.c: the body as one loop over block numbers. */
hg_status structure_flat(build *x);
/* structure_emit.c: the instructions of a block, its call included; not the jump at its end. */
void structure_block(build *x, uint32_t block);
/* structure_emit.c: counts a step of the lane at instruction inst (a jump taken, or a call), with
 * max_steps. */
void structure_count_step(build *x, uint32_t inst);
bool structure_jump_counts(const build *x, uint32_t block, uint32_t way);

#endif
