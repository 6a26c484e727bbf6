/* Groups of maps on the same elements, and the lane programs that they become (maps.c,
 * maps_program.c).
 * Must not know: devices, where memory lies. */
#ifndef HG_GRAPH_MAPS_H
#define HG_GRAPH_MAPS_H

#include "graph/graph.h"
#include "plan/steps/chain.h"

enum { MOST_MAPS = 48, MOST_ARRAYS = PLAN_CHAIN_ARRAYS, MOST_INPUTS = 2, MOST_STRIDED = 2 };

typedef struct graph_maps {
    uint32_t calls[MOST_MAPS];
    uint32_t count; /* 0: none */
    uint32_t head;  /* 1 + the place among them of an instruction whose own program can do the maps
                       around it; 0: all are maps */
    graph_extent elements;
    uint32_t inputs[MOST_MAPS * MOST_INPUTS]; /* values that it reads and does not make */
    uint32_t input_count;
    uint32_t first; /* the call that opened it: the oldest group goes first where there are too many
                     */
} graph_maps;

/* How many arrays a map reads; 0: the call is none. */
static inline uint32_t graph_map_inputs(const graph_call *c) {
    return c->op == HG_OP_PARALLEL_MAP ? 1 : c->op == HG_OP_PARALLEL_MAP_BINARY ? 2 : 0;
}
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
