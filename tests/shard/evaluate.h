/* Runs a rank's graph: the calls between collectives as graphs of their own, collectives by a
 * communicator. Written to be simple: every value goes through the host. */
#ifndef HG_TESTS_SHARD_EVALUATE_H
#define HG_TESTS_SHARD_EVALUATE_H

#include "graph/shard.h"
#include <hologram/hologram.h>

/* What of a communicator a collective is. */
hg_comm_kind evaluated_kind(hg_op op);

/* arrays: of each value of the graph its elements or NULL; those of inputs and constants are given,
 * the others are made. outputs: room for as many elements as each output of the graph has. */
hg_status evaluate(const hg_graph *g, hg_backend *backend, hg_comm *comm, uint8_t **arrays,
                   uint8_t *const *outputs, uint32_t *collectives);

#endif
