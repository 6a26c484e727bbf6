/* Passes over array graphs: the table is pipeline.def. Each changes a copy of the graph and no bit of a result.
 * Must not know: devices, where memory lies. */
#ifndef HG_GRAPH_PASSES_H
#define HG_GRAPH_PASSES_H

#include "graph/graph.h"

typedef enum graph_pass {
#define GRAPH_PASS(id, name, what) GRAPH_PASS_##id,
#include "graph/pipeline.def"
#undef GRAPH_PASS
    GRAPH_PASS_COUNT
} graph_pass;

/* A set of passes: bit i for pass i. */
typedef uint32_t graph_pass_set;
/* Of their names with commas between them; "none"; NULL: all. */
hg_status graph_passes_named(const char *names, graph_pass_set *set) HG_NODISCARD;
/* A copy of the graph that is ready to be lowered, with the passes done. */
hg_status graph_optimize(const hg_graph *g, graph_pass_set passes, hg_graph **done) HG_NODISCARD;

/* The passes that change the graph. */
hg_status graph_pass_dead(hg_graph *g) HG_NODISCARD;
hg_status graph_pass_common(hg_graph *g) HG_NODISCARD;
hg_status graph_pass_copies(hg_graph *g) HG_NODISCARD;
hg_status graph_pass_maps(hg_graph *g) HG_NODISCARD;
hg_status graph_pass_inplace(hg_graph *g) HG_NODISCARD;
/* Those that lowering and the memory plan ask for (lower.h, memory.h). */
hg_status graph_pass_join(hg_graph *g) HG_NODISCARD;
hg_status graph_pass_share(hg_graph *g) HG_NODISCARD;

/* For passes: what a value is read as from now on. map: of each value another one, or itself; those of earlier calls may not name later values. */
void graph_rename(hg_graph *g, const uint32_t *map);
/* For passes: removes the calls whose byte is set. */
void graph_remove_calls(hg_graph *g, const uint8_t *gone);
/* For passes that write the list of calls: which call makes each value, GRAPH_NOT_SET where none is left. */
void graph_number_results(hg_graph *g);

#endif
