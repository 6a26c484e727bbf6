/* Groups of maps on the same elements, and the lane programs that they become (member.c, maps.c,
 * maps_program.c).
 * Must not know: devices, where memory lies. */
#ifndef HG_GRAPH_MAPS_H
#define HG_GRAPH_MAPS_H

#include "graph/formula.h"
#include "graph/graph.h"
#include "plan/steps/chain.h"

enum {
    MOST_MAPS = 48,
    MOST_ARRAYS = PLAN_CHAIN_ARRAYS,
    MOST_INPUTS = MOST_ARRAYS - 1,
    MOST_STRIDED = 2,
    MOST_NUMBERS = 12,            /* that formulas are given and that are no literals */
    GRAPH_FORMULA_REGISTERS = 124 /* of one, at most */
};

typedef struct graph_maps {
    uint32_t calls[MOST_MAPS];
    uint32_t count; /* 0: none */
    uint32_t head;  /* 1 + the place among them of an instruction whose own program can do the maps
                       around it; 0: all are maps */
    graph_extent elements;
    uint32_t inputs[2 * MOST_INPUTS]; /* values that it reads and does not make */
    bool loaded[2 * MOST_INPUTS];     /* of each: a lane reads its own element */
    uint32_t input_count, numbers;
    uint32_t first; /* the call that opened it: the oldest group goes first where there are too many
                     */
} graph_maps;

/* How many arrays a map reads; 0: the call is none. */
static inline uint32_t graph_map_inputs(const graph_call *c) {
    return c->program                           ? 0
           : c->op == HG_OP_PARALLEL_MAP        ? 1
           : c->op == HG_OP_PARALLEL_MAP_BINARY ? 2
                                                : 0;
}
/* A call as one of a group: a map, or a program that is a formula. Values whose elements another
 * one has in the same order are that one. */
typedef struct graph_member {
    uint32_t inputs[MOST_INPUTS];
    uint8_t params[MOST_INPUTS]; /* of a formula: which parameter each is */
    uint32_t count;
    uint32_t own;     /* a bit for each input: lanes read nothing but their own element of it */
    uint32_t numbers; /* that a formula is given and that are no literals */
    graph_extent elements;
} graph_member;
/* False: it cannot be one of a group; formula is filled in where it is one. */
bool graph_member_of(const hg_graph *g, const graph_call *c, graph_member *m,
                     graph_formula *formula);
/* The value that has the same elements in the same order, and is no view of a whole one. */
uint32_t graph_whole(const hg_graph *g, uint32_t value);
static inline uint32_t graph_map_result(const hg_graph *g, const graph_call *c) {
    return g->results.data[c->first_result].value;
}
static inline hg_opname graph_map_name(const hg_graph *g, const graph_call *c) {
    return (hg_opname)graph_operand_of(g, c, graph_map_inputs(c) + 1)->number;
}

/* A call of a lane program that does the group's maps and stores these results. */
hg_status graph_maps_call(hg_graph *g, const graph_maps *of, const uint32_t *outputs,
                          uint32_t count, graph_call *call) HG_NODISCARD;

#endif
