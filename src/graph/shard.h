/* A graph that ranks share: of a graph whose values say where they lie, the graph of each rank.
 * Must not know: devices, who carries out collectives. */
#ifndef HG_GRAPH_SHARD_H
#define HG_GRAPH_SHARD_H

#include "graph/graph.h"

typedef struct graph_shard_options {
    uint32_t ranks;
    bool fast;          /* partial sums of floats: other bits than one device has */
    bool whole_outputs; /* each rank has each output whole */
    bool no_arrays;     /* the graph is only counted: elements of constants are not needed */
} graph_shard_options;

/* An input, constant or output of a rank's graph as a part of the whole array: [outer, extent,
 * inner], of which it has `length` from `start` on. */
typedef struct graph_part {
    const char *name;    /* of the whole graph */
    graph_source source; /* RESULT: an output */
    hg_type type;
    uint8_t place; /* graph_place_kind; WHOLE: length is extent */
    hg_opname operation;
    uint64_t outer, extent, inner, start, length;
} graph_part;

typedef struct graph_sharded {
    hg_graph *graph; /* a rank's: numbers, no symbols; its collectives are instructions */
    graph_part *parts;
    uint64_t part_count;
} graph_sharded;

/* The graph of one rank. symbols: the numbers of the graph's symbols. */
hg_status graph_shard(const hg_graph *g, const uint64_t *symbols,
                      const graph_shard_options *options, uint32_t rank,
                      graph_sharded *sharded) HG_NODISCARD;
void graph_sharded_free(graph_sharded *sharded);

#endif
