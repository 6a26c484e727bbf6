/* A bound graph as one program of the device's compiler (hg_driver.module_create).
 * Must not know: what calls do. */
#ifndef HG_RUNTIME_GRAPH_MODULE_H
#define HG_RUNTIME_GRAPH_MODULE_H

#include "graph/graph.h"
#include "runtime/memory.h"

typedef struct hg_graph_module hg_graph_module;

/* Whether graphs may be modules of this backend: its driver has them, and results need not be those
 * of the expansions. */
bool hg_graph_modules(const hg_backend *b);
/* The module of a graph as it was written, of whose calls nothing is left out: for the values of
 * its extents, inputs and constants (by number) and outputs (in order) in these buffers. NULL:
 * the device cannot say a call, or its compiler refuses the text, and the graph is done call by
 * call. */
hg_graph_module *hg_graph_module_create(hg_backend *b, const hg_graph *g, const uint64_t *extents,
                                        const hg_buffer *buffers, const hg_buffer *outputs);
void hg_graph_module_destroy(hg_graph_module *module); /* NULL is fine */
/* *done false: it has done nothing, since an index was outside, a divisor 0, or a buffer is part of
 * another one or inputs of two shapes; call by call the graph says which. */
hg_status hg_graph_module_run(hg_graph_module *module, bool *done) HG_NODISCARD;

#endif
