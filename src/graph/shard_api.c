/* The public functions for graphs that ranks share, and the parts of arrays that ranks have. Must
 * not know: devices, who carries out collectives. */
#include "base/sized.h"
#include "graph/shard.h"
#include <string.h>

/* ---- parts ---- */

uint64_t graph_part_bytes(const graph_part *p) {
    return plan_times(plan_times(p->outer, p->inner),
                      plan_times(p->length, hg_type_size_bytes(p->type)));
}

void graph_take_part(const graph_part *p, const uint8_t *whole, uint8_t *own) {
    uint64_t row = p->inner * hg_type_size_bytes(p->type), part = p->length * row;
    for (uint64_t o = 0; o < p->outer && part; o++)
        memcpy(own + o * part, whole + (o * p->extent + p->start) * row, (size_t)part);
}

void graph_give_part(const graph_part *p, const uint8_t *own, uint8_t *whole) {
    uint64_t row = p->inner * hg_type_size_bytes(p->type), part = p->length * row;
    for (uint64_t o = 0; o < p->outer && part; o++)
        memcpy(whole + (o * p->extent + p->start) * row, own + o * part, (size_t)part);
}

static const hg_sized PART = HG_SIZED(hg_graph_part, length, "give sizeof(hg_graph_part)");

static hg_part_kind kind_of(const graph_part *p) {
    switch ((graph_place_kind)p->place) {
    case GRAPH_SPLIT: return HG_PART_SPLIT;
    case GRAPH_PARTIAL: return HG_PART_PARTIAL;
    default: return HG_PART_WHOLE;
    }
}

hg_status hg_graph_get_part(const hg_graph *shard, uint32_t index, hg_graph_part *part) {
    HG_ENTRY;
    if (!shard || !part) return hg_null_argument(shard ? "part" : "shard");
    HG_TRY(hg_sized_check(&PART, part->size));
    if (index >= shard->parts.count)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "part %u: the graph has %llu", (unsigned)index,
                       (unsigned long long)shard->parts.count);
    const graph_part *p = &shard->parts.data[index];
    const hg_graph_part own = {.size = sizeof own,
                               .name = p->name,
                               .output = p->source == GRAPH_RESULT,
                               .type = p->type,
                               .kind = kind_of(p),
                               .axis = p->axis,
                               .outer = p->outer,
                               .extent = p->extent,
                               .inner = p->inner,
                               .start = p->start,
                               .length = p->length};
    hg_sized_give(&PART, &own, part, part->size);
    return HG_OK;
}

/* ---- a rank's graph ---- */

static const hg_sized OPTIONS = HG_SIZED(hg_graph_shard_options, whole_outputs,
                                         "zero it and set size");

static hg_status place_one(hg_graph *g, const hg_placement *p) {
    if (!p->param || !p->place) return hg_null_argument(p->param ? "place" : "param");
    uint32_t value = graph_find_value(g, p->param, strlen(p->param));
    if (value == GRAPH_NOT_SET)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                       "placement of '%.200s': the graph has no such value", p->param);
    if (g->values.data[value].source == GRAPH_VIEW)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                       "placement of '%.200s': it is a view, which lies where its array lies",
                       p->param);
    return graph_read_place(g, value, p->place);
}

hg_status graph_place_values(hg_graph *g, const hg_placement *placements, size_t count) {
    for (size_t i = 0; i < count; i++) HG_TRY(place_one(g, &placements[i]));
    return HG_OK;
}

static hg_status take_numbers(const hg_graph *g, const hg_graph_shard_options *o,
                              uint64_t *symbols) {
    uint8_t given[HG_MAX_GRAPH_EXTENTS] = {0};
    for (size_t i = 0; i < o->number_count; i++) {
        const char *name = o->numbers[i].symbol;
        if (!name) return hg_null_argument("symbol");
        uint32_t symbol = graph_find_symbol(g, name, strlen(name));
        if (symbol == GRAPH_NOT_SET)
            return hg_fail(HG_ERROR_INVALID_ARGUMENT, "the graph has no extent '%.200s'", name);
        symbols[symbol] = o->numbers[i].value;
        given[symbol] = 1;
    }
    for (uint64_t i = 0; i < g->symbols.count; i++)
        if (!given[i])
            return hg_fail(HG_ERROR_INVALID_ARGUMENT, "the extent '%.200s' has no number",
                           g->symbols.data[i]);
    return HG_OK;
}

/* The graph keeps what its parts are. */
static hg_status keep_parts(graph_sharded *sharded) {
    hg_graph *g = sharded->graph;
    size_t bytes = (size_t)(sharded->part_count + 1) * sizeof *g->parts.data;
    g->parts.data = hg_arena_alloc(&g->arena, bytes);
    if (!g->parts.data) return hg_fail_memory();
    memcpy(g->parts.data, sharded->parts, (size_t)sharded->part_count * sizeof *g->parts.data);
    g->parts.count = sharded->part_count;
    return HG_OK;
}

static hg_status shard_placed(hg_graph *g, const hg_graph_shard_options *o, uint32_t rank,
                              hg_graph **shard) {
    const graph_shard_options options = {
        .ranks = o->ranks, .fast = o->fast, .whole_outputs = o->whole_outputs};
    uint64_t symbols[HG_MAX_GRAPH_EXTENTS] = {0};
    graph_sharded sharded = {0};
    HG_TRY(graph_place_values(g, o->placements, o->placement_count));
    HG_TRY(take_numbers(g, o, symbols));
    HG_TRY(graph_shard(g, symbols, &options, rank, &sharded));
    hg_status status = keep_parts(&sharded);
    if (status == HG_OK) *shard = hg_graph_retain(sharded.graph);
    graph_sharded_free(&sharded);
    return status;
}

hg_status hg_graph_shard(const hg_graph *g, const hg_graph_shard_options *given, uint32_t rank,
                         hg_graph **shard) {
    HG_ENTRY;
    if (!g || !given || !shard)
        return hg_null_argument(!g ? "graph" : !given ? "options" : "shard");
    hg_graph_shard_options o = {.size = sizeof o};
    hg_graph *placed;
    HG_TRY(hg_sized_take(&OPTIONS, given, &o));
    if (o.placement_count && !o.placements) return hg_null_argument("placements");
    if (o.number_count && !o.numbers) return hg_null_argument("numbers");
    HG_TRY(graph_copy(g, &placed));
    hg_status status = shard_placed(placed, &o, rank, shard);
    hg_graph_release(placed);
    return status;
}

/* ---- all of them ---- */

/* A collective as its ranks have to call it. */
typedef struct meeting {
    const graph_call *call; /* NULL: there is none left */
    uint64_t count, root;
    const char *operation;
    const graph_extent *devices; /* the ranks that have a part in it */
    uint32_t device_count;       /* 0: all */
} meeting;

/* Where a rank is in its graph. */
typedef struct follower {
    const hg_graph *g;
    uint64_t at;
    meeting next;
} follower;

static void read_operand(const hg_graph *g, const graph_operand *o, const char *name, meeting *m) {
    uint64_t number = 0;
    if (o->kind == GRAPH_COUNT) (void)graph_is_number(g, o->number, &number);
    if (o->kind == GRAPH_COUNT && strcmp(name, "n") == 0) m->count = number;
    if (o->kind == GRAPH_COUNT && strcmp(name, "root") == 0) m->root = number;
    if (o->kind == GRAPH_NAME) m->operation = hg_opname_name((hg_opname)o->number);
    if (o->kind == GRAPH_TUPLE) {
        m->devices = g->items.data + o->first;
        m->device_count = o->number;
    }
}

static uint32_t device_of(const hg_graph *g, const meeting *m, uint32_t i) {
    uint64_t number = UINT32_MAX;
    (void)graph_is_number(g, m->devices[i], &number);
    return number < UINT32_MAX ? (uint32_t)number : UINT32_MAX;
}

static bool is_of(const hg_graph *g, const meeting *m, uint32_t rank) {
    uint32_t i = 0;
    while (i < m->device_count && device_of(g, m, i) != rank) i++;
    return !m->device_count || i < m->device_count;
}

/* Goes to the next collective that the rank has a part in. */
static void go_on(follower *f, uint32_t rank) {
    const hg_graph *g = f->g;
    do {
        f->next = (meeting){.operation = ""};
        while (f->at < g->calls.count && !graph_is_collective(&g->calls.data[f->at])) f->at++;
        if (f->at == g->calls.count) return;
        f->next.call = &g->calls.data[f->at++];
        const hg_op_info *row = hg_op_get((hg_op)f->next.call->op);
        for (uint32_t i = 0; i < f->next.call->operand_count; i++) {
            const graph_operand *o = &g->operands.data[f->next.call->first_operand + i];
            read_operand(g, o, row->operands[o->operand].name, &f->next);
        }
    } while (!is_of(g, &f->next, rank));
}

static bool same(const follower *x, const follower *y) {
    const meeting *a = &x->next, *b = &y->next;
    if (!a->call || !b->call) return a->call == b->call;
    for (uint32_t i = 0; i < a->device_count && i < b->device_count; i++)
        if (device_of(x->g, a, i) != device_of(y->g, b, i)) return false;
    return a->call->op == b->call->op && a->call->type == b->call->type && a->count == b->count &&
           a->root == b->root && a->device_count == b->device_count &&
           strcmp(a->operation, b->operation) == 0;
}

static void say(const follower *f, hg_text *text) {
    const meeting *m = &f->next;
    if (!m->call) {
        hg_text_addf(text, "nothing");
        return;
    }
    hg_text_addf(text, "%s.%s%s%s of %llu elements", hg_op_get((hg_op)m->call->op)->text,
                 hg_type_name((hg_type)m->call->type), *m->operation ? " " : "", m->operation,
                 (unsigned long long)m->count);
    for (uint32_t i = 0; i < m->device_count; i++)
        hg_text_addf(text, "%s%u", i ? ", " : " between ranks ", (unsigned)device_of(f->g, m, i));
}

static hg_status different(uint64_t number, const follower *followers, uint32_t rank,
                           uint32_t other) {
    hg_text a = {0}, b = {0};
    say(&followers[rank], &a);
    say(&followers[other], &b);
    hg_status status = a.data && b.data ? hg_fail(HG_ERROR_INVALID_ARGUMENT,
                                                  "collective %llu: rank %u calls %s, rank %u %s",
                                                  (unsigned long long)number, (unsigned)rank,
                                                  a.data, (unsigned)other, b.data)
                                        : hg_fail_memory();
    hg_text_free(&a);
    hg_text_free(&b);
    return status;
}

/* The first rank of a rank's next collective that is elsewhere; `ranks`: all have come to it. */
static uint32_t missing(const follower *followers, uint32_t ranks, uint32_t rank) {
    const meeting *m = &followers[rank].next;
    uint32_t count = m->device_count ? m->device_count : ranks;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t other = m->device_count ? device_of(followers[rank].g, m, i) : i;
        if (other >= ranks) return rank;
        if (!same(&followers[rank], &followers[other])) return other;
    }
    return ranks;
}

/* The ranks of the next collective that all of its ranks have come to go on; *moved: there is one.
 */
static void meet(follower *followers, uint32_t ranks, uint64_t *number, bool *moved) {
    *moved = false;
    for (uint32_t r = 0; r < ranks; r++) {
        if (!followers[r].next.call || missing(followers, ranks, r) < ranks) continue;
        const meeting m = followers[r].next;
        const hg_graph *g = followers[r].g;
        for (uint32_t i = 0; i < (m.device_count ? m.device_count : ranks); i++) {
            uint32_t other = m.device_count ? device_of(g, &m, i) : i;
            go_on(&followers[other], other);
        }
        ++*number;
        *moved = true;
    }
}

static hg_status follow(follower *followers, uint32_t ranks) {
    uint64_t number = 0;
    for (bool moved = true; moved;) meet(followers, ranks, &number, &moved);
    for (uint32_t r = 0; r < ranks; r++)
        if (followers[r].next.call)
            return different(number, followers, r, missing(followers, ranks, r));
    return HG_OK;
}

hg_status hg_graph_check_shards(hg_graph *const *shards, uint32_t ranks) {
    HG_ENTRY;
    if (!shards) return hg_null_argument("shards");
    if (!ranks || ranks > HG_MAX_GRAPH_RANKS)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%u ranks: 1 to %d expected", (unsigned)ranks,
                       HG_MAX_GRAPH_RANKS);
    for (uint32_t i = 0; i < ranks; i++)
        if (!shards[i]) return hg_null_argument("a graph of shards");
    for (uint32_t i = 0; i < ranks; i++) HG_TRY(graph_verify(shards[i]));
    follower *followers = hg_calloc(ranks, sizeof *followers);
    if (!followers) return hg_fail_memory();
    for (uint32_t i = 0; i < ranks; i++) {
        followers[i].g = shards[i];
        go_on(&followers[i], i);
    }
    hg_status status = follow(followers, ranks);
    hg_free(followers);
    return status;
}
