/* An array graph that the ranks of a run share: each has parts of the arrays, which are whole on
 * the command line. Must not know: devices, files. */
#include "graph.h"
#include "graph/shard.h"
#include "ranks.h"
#include <string.h>

static bool is_placed(const hg_graph *g) {
    for (uint64_t i = 0; i < g->values.count; i++)
        if (g->values.data[i].place.kind != GRAPH_WHOLE) return true;
    return false;
}

static cli_value *value_of(cli_values *values, const graph_part *p) {
    for (uint32_t i = 0; i < values->count; i++) {
        cli_value *v = &values->data[i];
        bool output = p->source == GRAPH_RESULT;
        if (v->param->kind == HG_PARAM_BUFFER && (v->param->dir == HG_DIR_OUT) == output &&
            strcmp(v->param->name, p->name) == 0)
            return v;
    }
    return NULL; /* its elements stand with the graph */
}

static hg_status take_part(cli *c, cli_values *values, const graph_part *p) {
    cli_value *v = value_of(values, p);
    if (!v || p->place == GRAPH_WHOLE) return HG_OK;
    if (p->place == GRAPH_PARTIAL)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                       "'%.200s' is partial: the command has one array, which is whole or split",
                       p->name);
    v->cut = p->source == GRAPH_RESULT;
    v->axis = p->axis;
    return cli_value_cut(c, v, p->axis, p->start, p->length);
}

/* What is shared by placements is whole on the command line. */
static hg_status check_files(const cli *c) {
    for (uint64_t i = 0; i < c->pairs.count; i++) {
        const cli_pair *pair = &c->pairs.data[i];
        if ((strcmp(pair->option, "--in") == 0 || strcmp(pair->option, "--out") == 0) &&
            strstr(pair->value, CLI_SHARD))
            return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                           "%s %s=%.200s: placements share the arrays of the graph, files are "
                           "whole: no " CLI_SHARD "AXIS",
                           pair->option, pair->name, pair->value);
    }
    return HG_OK;
}

hg_status cli_share_graph(cli *c, cli_values *values, hg_graph **own) {
    *own = hg_graph_retain(c->graph);
    if (!c->rank || !is_placed(c->graph)) return HG_OK;
    const graph_shard_options options = {.ranks = c->rank->count, .fast = c->fast};
    uint64_t symbols[HG_MAX_GRAPH_EXTENTS];
    graph_sharded sharded = {0};
    HG_TRY(check_files(c));
    cli_bound_symbols(c->graph, values, symbols);
    HG_TRY(graph_shard(c->graph, symbols, &options, c->rank->number, &sharded));
    hg_status status = HG_OK;
    for (uint64_t i = 0; i < sharded.part_count && status == HG_OK; i++)
        status = take_part(c, values, &sharded.parts[i]);
    if (status == HG_OK) {
        hg_graph_release(*own);
        *own = hg_graph_retain(sharded.graph);
    }
    graph_sharded_free(&sharded);
    return status;
}
