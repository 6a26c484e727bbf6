/* A graph that ranks share: of a graph whose values say where they lie, the graph of each rank.
 * Must not know: devices, who carries out collectives. */
#ifndef HG_GRAPH_SHARD_H
#define HG_GRAPH_SHARD_H

#include "graph/graph.h"

enum { GRAPH_SHARES = 1 << 20 };

typedef struct graph_shard_options {
    uint32_t ranks;
    bool fast;          /* partial sums of floats: other bits than one device has */
    bool whole_outputs; /* each rank has each output whole */
    /* Where parts of even cuts begin, in parts of 2^20 of the extent: ranks + 1 of them; NULL: all
     * have as much */
    const uint32_t *shares;
    bool no_arrays; /* the graph is only counted: elements of constants are not needed */
} graph_shard_options;

/* An input, constant or output of a rank's graph as a part of the whole array: [outer, extent,
 * inner], of which it has `length` from `start` on. */
typedef struct graph_part {
    const char *name;    /* of the whole graph */
    graph_source source; /* RESULT: an output */
    hg_type type;
    uint8_t place; /* graph_place_kind; WHOLE: length is extent */
    uint8_t axis;  /* SPLIT */
    hg_opname operation;
    uint64_t outer, extent, inner, start, length;
} graph_part;

typedef struct graph_sharded {
    hg_graph *graph; /* a rank's: numbers, no symbols; its collectives are instructions */
    graph_part *parts;
    uint64_t part_count;
    uint64_t *kinds; /* room for one of each rank, or NULL: ranks of one kind have equal graphs */
} graph_sharded;

/* The graph of one rank. symbols: the numbers of the graph's symbols. sharded is zeroed but for
 * kinds. */
hg_status graph_shard(const hg_graph *g, const uint64_t *symbols,
                      const graph_shard_options *options, uint32_t rank,
                      graph_sharded *sharded) HG_NODISCARD;
void graph_sharded_free(graph_sharded *sharded);
/* Placements over those that the graph has. */
hg_status graph_place_values(hg_graph *g, const hg_placement *placements,
                             size_t count) HG_NODISCARD;
/* Between a part, whose elements lie one after another, and the whole array. */
uint64_t graph_part_bytes(const graph_part *part);
void graph_take_part(const graph_part *part, const uint8_t *whole, uint8_t *own);
void graph_give_part(const graph_part *part, const uint8_t *own, uint8_t *whole);

/* ---- what it takes (shard_count.c) ---- */

/* Equal collectives. */
typedef struct graph_exchange {
    hg_op op;
    uint64_t block; /* bytes: of all_gather what a rank gives, of reduce_scatter what it gets */
    uint32_t ranks; /* that have a part in it */
    uint64_t calls; /* so many of them */
} graph_exchange;

/* Ranks that take the same. */
typedef struct graph_rank_cost {
    uint32_t first, ranks; /* the first of them, and how many: not always neighbours */
    uint64_t given_bytes;  /* inputs and constants */
    uint64_t output_bytes;
    uint64_t workspace_bytes; /* values between calls, as a binding allocates them */
    uint64_t operations;      /* of whole-array instructions, as they count them */
    uint32_t programs;        /* calls that do not tell theirs */
} graph_rank_cost;

typedef struct graph_shard_cost {
    graph_exchange *exchanges;
    uint64_t exchange_count;
    graph_rank_cost *costs;
    uint32_t cost_count;
} graph_shard_cost;

/* Products that ranks hand on go in blocks of that many bytes or more; tests make it small. */
extern uint64_t shard_least_block;

/* No rank is carried out, and no element looked at. */
hg_status graph_count_shards(const hg_graph *g, const uint64_t *symbols,
                             const graph_shard_options *options,
                             graph_shard_cost *cost) HG_NODISCARD;
void graph_shard_cost_free(graph_shard_cost *cost);

#endif
