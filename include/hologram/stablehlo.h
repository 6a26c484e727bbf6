/* StableHLO modules as array graphs: what JAX and other front ends of XLA write
 * (docs/guide/stablehlo.md). */
#ifndef HOLOGRAM_STABLEHLO_H
#define HOLOGRAM_STABLEHLO_H

#include <hologram/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * A graph of what a module's @main does: arguments are the inputs arg0, arg1, …, results the
 * outputs result, or result0, result1, … where there are several. i1 is u8, 0 or 1; complex
 * elements are two along one more axis.
 * @param text         MLIR's text, UTF-8, need not end in NUL, is not kept
 * @param diagnostics  receives the mistake with line and column; may be NULL
 * @return HG_OK and a graph that the caller releases; HG_ERROR_ISA: a text that cannot be read, or
 * an operation that is not, by its name; HG_ERROR_OUT_OF_MEMORY
 * Thread-safe.
 */
HG_API hg_status hg_graph_read_stablehlo(const char *text, size_t length,
                                         hg_diagnostics *diagnostics,
                                         hg_graph **graph) HG_NODISCARD;

#ifdef __cplusplus
}
#endif
#endif
