/* What commands that run a program share: options of the launch, the backend, buffers with their
 * contents. */
#ifndef HG_CLI_LAUNCH_H
#define HG_CLI_LAUNCH_H

#include "arrays.h"
#include "device.h"
#include "dist/dist.h"

typedef struct cli_launch {
    const char *lanes, *grid, *block, *shared, *timeout, *compile_timeout, *max_steps, *max_memory,
        *backend, *device, *profile;
    bool check_races;
    const char *vendor, *ranks;
    bool deterministic;
} cli_launch;

/* The options themselves, for the table of a command. o: a cli_launch. */
#define CLI_LAUNCH_OPTIONS(o)                                                                     \
    {"--lanes", &(o).lanes, NULL}, {"--grid", &(o).grid, NULL}, {"--block", &(o).block, NULL},    \
        {"--shared", &(o).shared, NULL}, {"--timeout", &(o).timeout, NULL},                       \
        {"--compile-timeout", &(o).compile_timeout, NULL}, {"--max-steps", &(o).max_steps, NULL}, \
    {                                                                                             \
        "--max-memory", &(o).max_memory, NULL                                                     \
    }

/* Who does whole-array steps. */
#define CLI_STEP_OPTIONS(o) \
    {"--vendor", &(o).vendor, NULL}, { "--deterministic", NULL, &(o).deterministic }
/* Over config. False after reporting. */
bool cli_set_steps(cli *c, const cli_launch *o, hg_config *config);

/* NAME[:DEVICE] of an option. False after reporting. */
bool cli_read_device(cli *c, const char *option, const char *text, size_t length,
                     hg_config *config);
/* False after reporting. */
bool cli_open_backend(cli *c, const cli_launch *o, hg_backend **backend);
/* Whether --backend names several devices, which share a launch; and opens them. */
bool cli_names_several(const cli_launch *o);
bool cli_open_several(cli *c, const cli_launch *o, hg_multi_gpu **devices);
/* The same as cli_open_backend for a rank of several, which has to know its number before it reads
 * arrays; else nothing. */
bool cli_open_rank(cli *c, const cli_launch *o, hg_backend **backend);
/* Writes the profile that was asked for, and closes. backend may be NULL. */
void cli_close_backend(cli *c, const cli_launch *o, hg_backend *backend);
bool cli_prepare_launch(cli *c, const cli_launch *o, const cli_values *values, hg_launch *launch);
/* A buffer or pool for every parameter, with the data of those that have any. */
hg_status cli_upload(hg_backend *b, cli_values *values, hg_params *params) HG_NODISCARD;
/* Prints and writes what a run left in its outputs (collect.c). */
hg_status cli_collect(cli *c, hg_backend *b, cli_values *values) HG_NODISCARD;

/* graph.c: constants of a graph that options leave open: of --weights, then of the files that its
 * text names. False after reporting. */
bool cli_graph_files(cli *c, cli_values *values);
/* graph_run.c: an array graph. */
void cli_run_graph(cli *c, const cli_launch *o);
/* Whether the options of a launch say something of a graph, and what. False after reporting. */
bool cli_graph_options(cli *c, const cli_launch *o, hg_graph_options *options);

/* run_circuit.c: runs c->circuit. */
void cli_run_circuit(cli *c, const cli_launch *o);

#endif
