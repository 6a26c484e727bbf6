/* Some calls of a graph as a graph of their own. Must not know: who runs them, where. */
#ifndef HG_GRAPH_SLICE_H
#define HG_GRAPH_SLICE_H

#include "graph/graph.h"

typedef struct graph_slice {
    hg_graph *graph;       /* inputs in_N and outputs out_N, by the numbers of the values */
    uint8_t *read, *shown; /* by value: it is the input in_N, the output out_N */
} graph_slice;

/* Calls from first up to end. What later calls read, and in the last slice the outputs, are
 * outputs. */
hg_status graph_make_slice(const hg_graph *g, uint32_t first, uint32_t end,
                           graph_slice *slice) HG_NODISCARD;
void graph_slice_free(graph_slice *slice);

#endif
