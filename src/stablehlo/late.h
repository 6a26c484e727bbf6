/* Extents of a graph that a module is told when it runs. */
#ifndef HG_STABLEHLO_LATE_H
#define HG_STABLEHLO_LATE_H

#include "graph/graph.h"

/* The extent that is the operand `position` of an instruction; GRAPH_NOT_SET: it has none. */
graph_extent shlo_position_of(const hg_graph *g, const graph_call *call);
/* numbers: one for each term of the graph, 0 before: those that a run tells are numbered from 1. */
hg_status shlo_find_late(const hg_graph *g, uint32_t *numbers, uint32_t *count) HG_NODISCARD;

#endif
