/* An array graph as one StableHLO module, for numbers of its symbols.
 * Must not know: devices. */
#ifndef HG_STABLEHLO_GRAPH_H
#define HG_STABLEHLO_GRAPH_H

#include "graph/graph.h"

typedef HG_VEC(uint64_t) shlo_numbers;

/* What the module takes and gives. */
typedef struct shlo_form {
    /* For a driver: @main takes a tensor<1xui64> that is 0 first, which keeps the compiler from
     * joining products, quotients and roots of maps with others, and all constants are arguments.
     * False: constants whose elements are known stand in the text. */
    bool driver;
    /* Set, where it is not NULL and `driver`: numbers that stand behind the 0, in its tensor, so
     * that the text is the same for all of them (late.h). */
    shlo_numbers *numbers;
    /* Set, where it is not NULL: behind the outputs stands a tensor<i1>, whether an index was
     * outside or a divisor 0, when no result counts. It stands there where that can be. */
    bool *flagged;
} shlo_form;

/* The values that a module takes, in order: inputs, and constants that are arguments. Whether value
 * number i is one. */
bool shlo_takes(const hg_graph *g, const shlo_form *form, uint32_t value);
/* @main. extents: graph_extent_values. HG_ERROR_ISA: what StableHLO cannot say, with the call. Not
 * for a driver: out is empty, and the graph stands in front (hlo/origin.h). */
hg_status shlo_print_graph(const hg_graph *g, const uint64_t *extents, const shlo_form *form,
                           hg_text *out) HG_NODISCARD;
/* That graph as text, in which every extent is a number; nothing of one whose text is not all of
 * it.
 */
hg_status shlo_print_origin(const hg_graph *g, const uint64_t *extents, hg_text *out) HG_NODISCARD;

#endif
