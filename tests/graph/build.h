/* A graph as `hologram build` writes it, compiled and called. */
#ifndef HG_TESTS_GRAPH_BUILD_H
#define HG_TESTS_GRAPH_BUILD_H

#include "graph/generate.h"

typedef enum built_graph_outcome {
    BUILT_GRAPH_RAN,
    BUILT_GRAPH_HAS_NONE,
    BUILT_GRAPH_FAILED
} built_graph_outcome;

/* arrays: of each of the generated graph its elements; those of outputs are written. why: what went
 * wrong, or what plain C has not. */
built_graph_outcome built_graph_run(const hg_graph *graph, const generated_graph *generated,
                                    uint8_t *const *arrays, char why[256]);

#endif
