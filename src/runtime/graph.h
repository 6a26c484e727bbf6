/* What tests see of bound graphs. */
#ifndef HG_RUNTIME_GRAPH_H
#define HG_RUNTIME_GRAPH_H

#include <hologram/graph.h>

/* From now on whatever no value has of the workspace is noise before each launch of a program. */
void hg_graph_binding_spoil(hg_graph_binding *binding);

/* How many of its launches were one module of the device (hg_driver.module_run). */
uint64_t hg_graph_binding_module_runs(const hg_graph_binding *binding);

#endif
