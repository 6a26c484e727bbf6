/* What a graph takes that ranks share: bytes between them, memory and arithmetic of each rank, from
 * the graphs of the ranks. Must not know: who carries out collectives, time. */
#include "graph/memory.h"
#include "graph/passes.h"
#include "graph/shard.h"
#include "plan/steps/steps.h"

/* ---- of one rank's graph ---- */

/* A collective of all ranks is the first rank's; one between two of them is its root's. */
static void note_exchange(const hg_graph *g, const graph_call *call, const uint64_t *sizes,
                          uint32_t rank, uint32_t ranks, graph_shard_cost *cost) {
    const hg_op_info *row = hg_op_get((hg_op)call->op);
    graph_exchange e = {.op = (hg_op)call->op, .ranks = ranks, .calls = 1};
    uint32_t of = 0;
    for (uint32_t i = 0; i < call->operand_count; i++) {
        const graph_operand *o = &g->operands.data[call->first_operand + i];
        const char *name = row->operands[o->operand].name;
        if (o->kind == GRAPH_COUNT && strcmp(name, "n") == 0)
            e.block = plan_times(sizes[o->number], hg_type_size_bytes((hg_type)call->type));
        if (o->kind == GRAPH_TUPLE) {
            e.ranks = o->number;
            of = (uint32_t)sizes[g->items.data[o->first]];
        }
    }
    if (rank == of) cost->exchanges[cost->exchange_count++] = e;
}

static hg_status note_exchanges(const hg_graph *g, const uint64_t *sizes, uint32_t rank,
                                uint32_t ranks, graph_shard_cost *cost) {
    graph_exchange *more = hg_realloc(
        cost->exchanges, (size_t)(cost->exchange_count + g->calls.count + 1) * sizeof *more);
    if (!more) return hg_fail_memory();
    cost->exchanges = more;
    for (uint64_t i = 0; i < g->calls.count; i++)
        if (graph_is_collective(&g->calls.data[i]))
            note_exchange(g, &g->calls.data[i], sizes, rank, ranks, cost);
    return HG_OK;
}

static hg_status count_calls(const hg_graph *g, const uint64_t *sizes, graph_rank_cost *rank) {
    graph_sized_call *sized = hg_alloc(sizeof *sized);
    if (!sized) return hg_fail_memory();
    for (uint64_t i = 0; i < g->calls.count; i++) {
        const graph_call *call = &g->calls.data[i];
        rank->programs += call->program && !call->made;
        if (call->program || graph_is_collective(call)) continue;
        graph_size_call(g, call, sizes, sized);
        if (sized->problem.found) continue;
        plan_cost of = plan_collective_of((hg_op)call->op)->cost(&sized->call);
        if (!hg_add_u64(rank->operations, of.operations, &rank->operations))
            rank->operations = UINT64_MAX;
    }
    hg_free(sized);
    return HG_OK;
}

static uint64_t *sizes_of(const hg_graph *g) {
    uint64_t *sizes = hg_alloc((size_t)(g->terms.count + 1) * sizeof *sizes);
    if (sizes) graph_extent_values(g, NULL, sizes);
    return sizes;
}

static hg_status count_workspace(const hg_graph *g, graph_rank_cost *rank) {
    graph_pass_list order;
    graph_memory memory = {0};
    hg_graph *done = NULL;
    HG_TRY(graph_passes_named(NULL, &order));
    HG_TRY(graph_optimize(g, &order, NULL, &done));
    uint64_t *sizes = sizes_of(done);
    hg_status status = sizes ? graph_plan_memory(done, sizes, true, &memory) : hg_fail_memory();
    rank->workspace_bytes = memory.bytes;
    graph_memory_free(&memory);
    hg_free(sizes);
    hg_graph_release(done);
    return status;
}

static void count_arrays(const graph_sharded *sharded, graph_rank_cost *rank) {
    for (uint64_t i = 0; i < sharded->part_count; i++) {
        const graph_part *p = &sharded->parts[i];
        uint64_t *to = p->source == GRAPH_RESULT ? &rank->output_bytes : &rank->given_bytes,
                 bytes = plan_times(plan_times(p->outer, p->inner),
                                    plan_times(p->length, hg_type_size_bytes(p->type)));
        if (!hg_add_u64(*to, bytes, to)) *to = UINT64_MAX;
    }
}

static hg_status count_rank(const graph_sharded *sharded, uint32_t ranks, graph_rank_cost *rank,
                            graph_shard_cost *cost) {
    const hg_graph *g = sharded->graph;
    uint64_t *sizes = sizes_of(g);
    hg_status status = sizes ? count_calls(g, sizes, rank) : hg_fail_memory();
    if (status == HG_OK) status = note_exchanges(g, sizes, rank->first, ranks, cost);
    hg_free(sizes);
    count_arrays(sharded, rank);
    return status == HG_OK ? count_workspace(g, rank) : status;
}

/* ---- all ranks ---- */

/* Kinds of ranks that were counted, and whose costs they have. */
typedef struct met_kind {
    uint64_t kind;
    uint32_t cost;
    uint64_t first_exchange, exchange_end; /* those that its first rank began */
} met_kind;
typedef HG_VEC(met_kind) met_kinds;

static bool is_same(const graph_rank_cost *a, const graph_rank_cost *b) {
    return a->given_bytes == b->given_bytes && a->output_bytes == b->output_bytes &&
           a->workspace_bytes == b->workspace_bytes && a->operations == b->operations &&
           a->programs == b->programs;
}

/* A rank of a kind that was counted before; false: there was none. */
static bool is_met(graph_shard_cost *cost, const met_kinds *met, uint64_t kind, uint32_t ranks) {
    for (uint64_t i = 0; i < met->count; i++)
        if (met->data[i].kind == kind) {
            cost->costs[met->data[i].cost].ranks++;
            for (uint64_t k = met->data[i].first_exchange; k < met->data[i].exchange_end; k++)
                if (cost->exchanges[k].ranks != ranks) cost->exchanges[k].calls++;
            return true;
        }
    return false;
}

static hg_status note(graph_shard_cost *cost, const graph_rank_cost *rank, uint64_t kind,
                      uint64_t first_exchange, met_kinds *met) {
    met_kind *to = hg_vec_push(met);
    uint32_t i = 0;
    if (!to) return hg_fail_memory();
    while (i < cost->cost_count && !is_same(&cost->costs[i], rank)) i++;
    if (i < cost->cost_count)
        cost->costs[i].ranks++;
    else
        cost->costs[cost->cost_count++] = *rank;
    *to = (met_kind){kind, i, first_exchange, cost->exchange_count};
    return HG_OK;
}

static hg_status count(const hg_graph *g, const uint64_t *symbols,
                       const graph_shard_options *options, uint64_t *kinds, met_kinds *met,
                       graph_shard_cost *cost) {
    for (uint32_t r = 0; r < options->ranks; r++) {
        graph_sharded sharded = {.kinds = r ? NULL : kinds};
        graph_rank_cost rank = {.first = r, .ranks = 1};
        uint64_t first_exchange = cost->exchange_count;
        if (r && is_met(cost, met, kinds[r], options->ranks)) continue;
        HG_TRY(graph_shard(g, symbols, options, r, &sharded));
        hg_status status = count_rank(&sharded, options->ranks, &rank, cost);
        graph_sharded_free(&sharded);
        if (status == HG_OK) status = note(cost, &rank, kinds[r], first_exchange, met);
        HG_TRY(status);
    }
    return HG_OK;
}

hg_status graph_count_shards(const hg_graph *g, const uint64_t *symbols,
                             const graph_shard_options *options, graph_shard_cost *cost) {
    graph_shard_options counted = *options;
    uint32_t ranks = options->ranks <= HG_MAX_GRAPH_RANKS ? options->ranks : 0;
    uint64_t *kinds = hg_calloc((size_t)ranks + 1, sizeof *kinds);
    met_kinds met = {0};
    graph_sharded none = {0};
    counted.no_arrays = true;
    *cost = (graph_shard_cost){.costs = hg_calloc((size_t)ranks + 1, sizeof *cost->costs)};
    hg_status status = kinds && cost->costs ? HG_OK : hg_fail_memory();
    if (status == HG_OK && !ranks) /* says how many there may be */
        status = graph_shard(g, symbols, options, 0, &none);
    if (status == HG_OK) status = count(g, symbols, &counted, kinds, &met, cost);
    hg_free(kinds);
    hg_vec_free(&met);
    if (status != HG_OK) graph_shard_cost_free(cost);
    return status;
}

void graph_shard_cost_free(graph_shard_cost *cost) {
    hg_free(cost->exchanges);
    hg_free(cost->costs);
    *cost = (graph_shard_cost){0};
}
