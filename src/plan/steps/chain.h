/* Chains: maps that follow each other on the same elements, as one kernel. A lane does all of them
 * on its element: an array is loaded at its first use and stored after its last change. What each
 * map is stays what map.c says. Which steps are one kernel is decided here and nowhere else: for
 * programs when they run (runtime/chain.c), for graphs when they are compiled (graph/maps.c).
 * Must not know: where memory lies. */
#ifndef HG_PLAN_CHAIN_H
#define HG_PLAN_CHAIN_H

#include "plan/steps/steps.h"
#include <string.h>

enum { PLAN_MOST_LINKS = 16, PLAN_CHAIN_ARRAYS = 8, PLAN_LINK_INPUTS = 3 };

/* out = fn(in[0], …): numbers of the chain's arrays. */
typedef struct plan_link {
    uint16_t fn;
    uint8_t type;   /* hg_type */
    uint8_t arrays; /* that it names, the output too */
    uint8_t out, in[PLAN_LINK_INPUTS];
} plan_link;

/* All arrays have the same number of elements, and no two of them share memory. There may be an
 * instruction among the maps whose library program does them: those in front of it make the
 * elements that it loads, those behind it change what it stores. */
typedef struct plan_chain {
    uint8_t count, arrays;
    uint8_t types[PLAN_CHAIN_ARRAYS]; /* hg_type of the first map that names it */
    uint8_t front;                    /* links in front of the instruction; 0 without one */
    uint8_t input, output; /* its arrays; 0 without one. PLAN_NO_ARRAY: the input is none of the
                              chain's */
    plan_link links[PLAN_MOST_LINKS];
} plan_chain;
enum { PLAN_NO_ARRAY = UINT8_MAX };

static inline bool plan_chain_equal(const plan_chain *x, const plan_chain *y) {
    if (x == y) return true;
    if (!x || !y || x->count != y->count || x->arrays != y->arrays || x->front != y->front ||
        x->input != y->input || x->output != y->output ||
        memcmp(x->types, y->types, x->arrays) != 0)
        return false;
    for (uint8_t i = 0; i < x->count; i++) {
        const plan_link *a = &x->links[i], *b = &y->links[i];
        if (a->fn != b->fn || a->type != b->type || a->out != b->out ||
            memcmp(a->in, b->in, sizeof a->in) != 0)
            return false;
    }
    return true;
}

/* Whether some are on these sides of the instruction. */
static inline bool plan_chain_has(const plan_chain *chain, uint8_t sides) {
    return ((sides & PLAN_IN_FRONT) && chain->front) ||
           ((sides & PLAN_BEHIND) && chain->front < chain->count);
}

/* Whether a map's function is one of many operations. */
static inline bool plan_is_long(uint16_t fn) {
    return fn < HG_OP_COUNT && hg_op_get((hg_op)fn)->numbers != HG_NUMBERS_EXACT;
}
/* Whether a map by that function can be one of several in a kernel: it cannot fault, and its
 * elements fit a register. */
bool plan_map_joins(uint16_t fn, hg_type type);
/* Steps that stand behind each other with nothing between: sets plan_step.followers and .long_map.
 */
void plan_find_chains(hg_plan *plan);

/* ---- which steps are one ---- */

/* How two arrays lie to each other. */
typedef enum plan_relation { PLAN_APART, PLAN_SAME, PLAN_OVERLAP } plan_relation;

typedef struct plan_member_array {
    const void *memory; /* its owner's name for it: of a graph the value, of a launch the range */
    uint64_t elements;  /* how many lie one after another, as a number that is equal where that is;
                           0: they do not, or there are none */
    uint8_t type;       /* hg_type */
    bool written;
    bool once; /* an instruction's kernels load each of its elements once: maps may make it */
} plan_member_array;

/* A step: a map, or an instruction whose library program does maps around it. */
typedef struct plan_member {
    const plan_collective *of;
    uint16_t fn;  /* of a map */
    uint8_t type; /* hg_type */
    uint8_t count;
    plan_member_array arrays[HG_MAX_OPERANDS]; /* the result first */
} plan_member;

/* Which maps go along with an instruction. */
typedef enum plan_takes {
    PLAN_TAKES_ALL,
    PLAN_TAKES_SHORT, /* none of many operations: the compiler refuses long kernels */
    /* Those that it does as fast as a pass over memory by all lanes: rows have fewer lanes, for
     * which short functions are nothing; a product or a convolution takes longer than any function.
     * Bytes are quicker alone (docs/performance.md, maps around instructions). For devices whose
     * kernels of maps are as fast, and for graphs, which are made for all. */
    PLAN_TAKES_QUICK
} plan_takes;

/* Steps that are one kernel, from the first one on. Set what its owner says, zeros else. */
typedef struct plan_group {
    plan_relation (*relation)(const void *owner, const void *x, const void *y);
    const void *owner;
    plan_takes takes;
    uint32_t most_arrays; /* PLAN_CHAIN_ARRAYS at most */
    /* What is found: */
    plan_chain chain;
    const void *arrays[PLAN_CHAIN_ARRAYS]; /* of the chain */
    plan_member head;  /* the instruction, behind chain.front maps; head.of NULL: there is none */
    uint32_t made;     /* its array that those maps make */
    uint64_t elements; /* of the array behind the steps so far */
} plan_group;
/* Whether a step is one with those before it; it belongs to the group then. */
bool plan_group_add(plan_group *group, const plan_member *member);

/* The kernel and launch of maps alone. Parts: the arrays in order, n elements each. The chain stays
 * with the key. */
void plan_chain_expand(const plan_chain *chain, uint64_t n, plan_expansion *x);

/* ---- map.c ---- */
bool plan_map_can_fault(uint16_t fn, hg_type type);
enum { PLAN_MAP_ELEMENTS = 16 }; /* of a lane, at most */
/* Launches the kernel of maps over n elements; key without choice and values. Parts: the arrays in
 * order. */
void plan_maps_launch(plan_expansion *x, plan_kernel_key *key, const plan_chain *chain, uint64_t n,
                      const plan_part *parts);

#endif
