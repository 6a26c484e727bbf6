/* Calls of a graph as programs. Must not know: devices, where memory lies. */
#ifndef HG_GRAPH_LOWER_H
#define HG_GRAPH_LOWER_H

#include "graph/graph.h"

/* A parameter of a program that calls became. */
typedef struct graph_slot {
    uint32_t value;
    bool written;
    char name[16];
} graph_slot;
typedef struct graph_scalar {
    graph_extent extent;
    char name[16];
} graph_scalar;

/* Calls that one program does, one launch. */
typedef struct graph_region {
    hg_program *program; /* owned */
    bool direct; /* its only call is one of a program, whose parameters have their own names; else
                    the program was made here */
    HG_VEC(uint32_t) calls;
    HG_VEC(graph_slot) slots;
    HG_VEC(graph_scalar) scalars;
} graph_region;
typedef HG_VEC(graph_region) graph_regions;

/* All calls of the graph as regions. together: calls that follow each other may be one program. */
hg_status graph_lower(const hg_graph *g, bool together, graph_regions *regions) HG_NODISCARD;
void graph_regions_free(graph_regions *regions);

#endif
