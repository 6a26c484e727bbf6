/* hologram plan: what an array graph takes that ranks share. Opens no device. */
#include "graph.h"
#include "comm/comm.h"
#include "graph/shard.h"
#include <stdio.h>
#include <string.h>

/* What of a communicator does a collective, in the order in which they are printed. */
static const struct {
    const char *name;
    hg_comm_kind kind;
} KINDS[] = {{"all_gather", HG_COMM_ALL_GATHER},
             {"all_reduce", HG_COMM_ALL_REDUCE},
             {"reduce_scatter", HG_COMM_REDUCE_SCATTER},
             {"broadcast", HG_COMM_BROADCAST}};

typedef struct planned {
    graph_shard_options options;
    graph_shard_cost cost;
    uint64_t symbols[HG_MAX_GRAPH_EXTENTS];
    uint64_t calls[HG_COUNT_OF(KINDS)], wire[HG_COUNT_OF(KINDS)];
    uint64_t all_wire, link, rate; /* 0: not given */
} planned;

static void too_many(cli *c, const char *what) {
    cli_usage(c, "%s: 2^64 bytes or more cannot be counted", what);
}

static void count_wire(cli *c, planned *p) {
    for (uint64_t i = 0; i < p->cost.exchange_count; i++)
        for (size_t k = 0; k < HG_COUNT_OF(KINDS); k++) {
            const graph_exchange *e = &p->cost.exchanges[i];
            if (strcmp(hg_op_get(e->op)->text, KINDS[k].name) != 0) continue;
            uint64_t bytes;
            p->calls[k] += e->calls;
            if (!comm_call_bytes(KINDS[k].kind, e->block, e->ranks, &bytes) ||
                !hg_mul_u64(bytes, e->calls, &bytes) ||
                !hg_add_u64(p->wire[k], bytes, &p->wire[k]) ||
                !hg_add_u64(p->all_wire, bytes, &p->all_wire)) {
                too_many(c, KINDS[k].name);
                return;
            }
        }
}

static bool memory_of(const graph_rank_cost *r, uint64_t *bytes) {
    return hg_add_u64(r->given_bytes, r->output_bytes, bytes) &&
           hg_add_u64(*bytes, r->workspace_bytes, bytes) && *bytes != UINT64_MAX;
}

static void check_memory(cli *c, const planned *p) {
    uint64_t bytes;
    for (uint32_t i = 0; i < p->cost.cost_count && c->status == CLI_OK; i++)
        if (!memory_of(&p->cost.costs[i], &bytes)) too_many(c, "memory of a rank");
}

/* "rank 3", "4 ranks, rank 0 the first" */
static void name_ranks(const graph_rank_cost *r, char *text, size_t size) {
    if (r->ranks == 1)
        snprintf(text, size, "rank %u", (unsigned)r->first);
    else
        snprintf(text, size, "%u ranks, the first %u", (unsigned)r->ranks, (unsigned)r->first);
}

static void print_times(cli *c, const planned *p) {
    uint64_t most = 0;
    for (uint32_t i = 0; i < p->cost.cost_count; i++)
        if (p->cost.costs[i].operations > most) most = p->cost.costs[i].operations;
    if (p->link)
        cli_out(c, "on the wire    %.6g s\n",
                (double)p->all_wire / p->options.ranks / (double)p->link);
    if (p->rate) cli_out(c, "calculating    %.6g s\n", (double)most / (double)p->rate);
}

static void print_text(cli *c, const planned *p) {
    cli_out(c, "%s on %u rank%s: %llu bytes between ranks\n", c->graph->name,
            (unsigned)p->options.ranks, p->options.ranks == 1 ? "" : "s",
            (unsigned long long)p->all_wire);
    for (size_t k = 0; k < HG_COUNT_OF(KINDS); k++)
        if (p->calls[k])
            cli_out(c, "%-14s %llu call%s, %llu bytes\n", KINDS[k].name,
                    (unsigned long long)p->calls[k], p->calls[k] == 1 ? "" : "s",
                    (unsigned long long)p->wire[k]);
    for (uint32_t i = 0; i < p->cost.cost_count; i++) {
        const graph_rank_cost *r = &p->cost.costs[i];
        char name[64];
        uint64_t memory = 0;
        name_ranks(r, name, sizeof name);
        HG_IGNORE(memory_of(r, &memory));
        cli_out(c,
                "%s: %llu bytes of memory (%llu given, %llu outputs, %llu between calls), %llu "
                "operations",
                name, (unsigned long long)memory, (unsigned long long)r->given_bytes,
                (unsigned long long)r->output_bytes, (unsigned long long)r->workspace_bytes,
                (unsigned long long)r->operations);
        if (r->programs)
            cli_out(c, " and those of %u program%s", (unsigned)r->programs,
                    r->programs == 1 ? "" : "s");
        cli_out(c, "\n");
    }
    print_times(c, p);
}

static void print_json(cli *c, const planned *p, const char *text) {
    hg_json json;
    cli_json_item(c, &json);
    hg_json_add_text(&json, "graph", c->graph->name);
    hg_json_add_u64(&json, "ranks", p->options.ranks);
    hg_json_add_u64(&json, "wire_bytes", p->all_wire);
    hg_json_key(&json, "collectives");
    hg_json_begin_array(&json);
    for (size_t k = 0; k < HG_COUNT_OF(KINDS); k++) {
        if (!p->calls[k]) continue;
        hg_json_begin_object(&json);
        hg_json_add_text(&json, "kind", KINDS[k].name);
        hg_json_add_u64(&json, "calls", p->calls[k]);
        hg_json_add_u64(&json, "wire_bytes", p->wire[k]);
        hg_json_end_object(&json);
    }
    hg_json_end_array(&json);
    hg_json_key(&json, "costs");
    hg_json_begin_array(&json);
    for (uint32_t i = 0; i < p->cost.cost_count; i++) {
        const graph_rank_cost *r = &p->cost.costs[i];
        hg_json_begin_object(&json);
        hg_json_add_u64(&json, "first_rank", r->first);
        hg_json_add_u64(&json, "ranks", r->ranks);
        hg_json_add_u64(&json, "given_bytes", r->given_bytes);
        hg_json_add_u64(&json, "output_bytes", r->output_bytes);
        hg_json_add_u64(&json, "workspace_bytes", r->workspace_bytes);
        hg_json_add_u64(&json, "operations", r->operations);
        hg_json_add_u64(&json, "programs", r->programs);
        hg_json_end_object(&json);
    }
    hg_json_end_array(&json);
    if (text) hg_json_add_text(&json, "rank_graph", text);
    hg_json_end_object(&json);
}

static bool take_numbers(cli *c, planned *p) {
    if (cli_take_symbols(c, c->graph, p->symbols)) return true;
    if (c->status == CLI_OK)
        cli_usage(c, "the graph has extents without a number: give each with --set N=VALUE");
    return false;
}

static void plan(cli *c, planned *p, uint64_t rank) {
    hg_text text = {0};
    graph_sharded sharded = {0};
    if (!cli_place_values(c) || !take_numbers(c, p)) return;
    if (graph_count_shards(c->graph, p->symbols, &p->options, &p->cost) != HG_OK ||
        (rank != UINT64_MAX &&
         graph_shard(c->graph, p->symbols, &p->options, (uint32_t)rank, &sharded) != HG_OK)) {
        cli_last_error(c);
        return;
    }
    count_wire(c, p);
    if (c->status == CLI_OK) check_memory(c, p);
    bool counted = c->status == CLI_OK;
    if (counted && sharded.graph) graph_print(&text, sharded.graph);
    if (counted && c->json)
        print_json(c, p, text.data);
    else if (counted)
        print_text(c, p);
    if (!c->json && text.data) cli_out(c, "\n%s", text.data);
    hg_text_free(&text);
    graph_sharded_free(&sharded);
}

int command_plan(int argc, char **argv) {
    cli c = {0};
    const char *ranks = NULL, *rank_text = NULL, *link = NULL, *rate = NULL;
    planned p = {.options.no_arrays = true};
    const cli_option options[] = {
        {"--ranks", &ranks, NULL},         {"--rank", &rank_text, NULL},
        {"--link", &link, NULL},           {"--rate", &rate, NULL},
        {"--fast", NULL, &p.options.fast}, {"--whole", NULL, &p.options.whole_outputs},
        {"--as-graph", NULL, &c.as_graph}};
    uint64_t count = 1, rank = UINT64_MAX;
    if (!cli_parse(&c, argc, argv, options, HG_COUNT_OF(options)) || !cli_one_file(&c) ||
        !cli_number(&c, "--ranks", ranks, HG_MAX_GRAPH_RANKS, &count) ||
        !cli_number(&c, "--rank", rank_text, HG_MAX_GRAPH_RANKS - 1, &rank) ||
        !cli_size(&c, "--link", link, INT64_MAX, &p.link) ||
        !cli_number(&c, "--rate", rate, INT64_MAX, &p.rate))
        return cli_finish(&c);
    p.options.ranks = (uint32_t)count;
    const char *file = cli_file(&c);
    if (count == 0 || (rank != UINT64_MAX && rank >= count))
        cli_usage(&c, "--ranks %llu, --rank %s: from 1 rank on, and a number below that",
                  (unsigned long long)count, rank_text ? rank_text : "is not given");
    else if (!file || !cli_is_graph(&c, file))
        cli_usage(&c, "plan is for array graphs: name a .graph, or write --as-graph for a program");
    else if (cli_load_graph(&c, file))
        plan(&c, &p, rank);
    graph_shard_cost_free(&p.cost);
    return cli_finish(&c);
}
