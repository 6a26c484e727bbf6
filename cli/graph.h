/* Array graphs in the command: what its files share. */
#ifndef HG_CLI_GRAPH_H
#define HG_CLI_GRAPH_H

#include "graph/lower.h"
#include "graph/memory.h"
#include "graph/passes.h"
#include "launch.h"

/* The numbers of all extents with those of the symbols, where shapes fit; to be freed. NULL after a
 * failure, which is this thread's error. */
uint64_t *cli_extents(const hg_graph *g, const uint64_t *symbols);
/* The numbers of the symbols in a run. */
void cli_bound_symbols(const hg_graph *g, const cli_values *values,
                       uint64_t symbols[HG_MAX_GRAPH_EXTENTS]);
/* The same with the numbers of a run. */
uint64_t *cli_bound_extents(const hg_graph *g, const cli_values *values);

/* One run: what its outputs hold, in their order. */
typedef struct graph_trial {
    hg_status status; /* HG_OK or HG_ERROR_EXECUTION_FAILED */
    hg_error error;
    uint8_t **arrays;
    uint64_t count;
} graph_trial;
/* Runs a graph, which may have other outputs than the one that the values are for. HG_OK for runs
 * that end in a fault too. */
hg_status cli_try_graph(hg_backend *b, hg_graph *g, const hg_graph_options *options,
                        const cli_values *values, graph_trial *trial) HG_NODISCARD;
void cli_trial_free(graph_trial *trial);

/* --place NAME=WORDS, over what the graph says. False after reporting. */
bool cli_place_values(cli *c);
/* graph_share.c: of a graph in which something is placed this rank's own, whose arrays become parts
 * of those that were given; of others the graph itself. The caller releases it. */
hg_status cli_share_graph(cli *c, cli_values *values, hg_graph **own) HG_NODISCARD;

/* graph_explain.c: whether --print-after names a pass of graphs; false after reporting. The graph
 * as --passes want it. */
bool cli_graph_print_after(cli *c, const char *name);
hg_status cli_optimize_graph(const cli *c, const char *print_after, graph_pass_list *order,
                             hg_graph **done) HG_NODISCARD;

/* Numbers of --set for the symbols; false where there is none for some of them, or after reporting.
 */
bool cli_take_symbols(cli *c, const hg_graph *g, uint64_t *symbols);

/* graph_svg.c: extents NULL: memory is not known. */
void cli_draw_graph(hg_text *out, const hg_graph *g, const graph_regions *regions,
                    const uint64_t *extents, const graph_memory *memory);

#endif
