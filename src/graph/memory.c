/* One workspace for all values that calls make and nobody outside sees. Values that live at the
 * same time lie apart; others may share bytes. A value lies at the lowest offset that is free
 * during its whole life. The largest values come first (the order "greedy by size" of Pisarchyk and
 * Lee, "Efficient Memory Management for Deep Neural Net Inference", 2020); where that needs more
 * than the least, other orders are tried, and the best one stays: of 500 random graphs with up to
 * eight values (tests/unit/graph/test_graph_memory.c) one order is as good as any in 460, all
 * together in 488. */
#include "graph/memory.h"
#include "plan/steps/steps.h"
#include <stdlib.h>
#include <string.h>

/* ---- lives ---- */

static uint32_t next_owner(const graph_value *v) {
    return v->source == GRAPH_VIEW ? v->of : v->takes;
}

/* Of each value the one whose memory it is in: that of the first of those that took it over. */
static void find_owners(const hg_graph *g, uint32_t *owners) {
    for (uint32_t i = 0; i < g->values.count; i++) owners[i] = GRAPH_NOT_SET;
    for (uint32_t i = 0; i < g->values.count; i++) {
        uint32_t last = i;
        while (owners[last] == GRAPH_NOT_SET && next_owner(&g->values.data[last]) != GRAPH_NOT_SET)
            last = next_owner(&g->values.data[last]);
        if (owners[last] == GRAPH_NOT_SET) owners[last] = last;
        for (uint32_t at = i; owners[at] == GRAPH_NOT_SET; at = next_owner(&g->values.data[at]))
            owners[at] = owners[last];
    }
}

/* During the calls from first up to last, which stand together: one kernel may read and write all
 * that they do at once. */
static void note(graph_life *life, uint32_t first, uint32_t last) {
    if (first < life->first) life->first = first;
    if (last > life->last) life->last = last;
}

static void find_lives(const hg_graph *g, const uint32_t *owners, graph_life *lives) {
    for (uint64_t i = 0; i < g->values.count; i++) lives[i] = (graph_life){UINT32_MAX, 0};
    for (uint32_t i = 0, first = 0, end = 0; i < g->calls.count; i++) {
        const graph_call *c = &g->calls.data[i];
        if (i == end) {
            first = i;
            end = graph_together_end(g, i);
        }
        for (uint32_t k = 0; k < c->operand_count; k++) {
            const graph_operand *o = &g->operands.data[c->first_operand + k];
            if (o->kind == GRAPH_ARRAY) note(&lives[owners[o->number]], first, end - 1);
        }
        for (uint32_t k = 0; k < c->result_count; k++)
            note(&lives[owners[g->results.data[c->first_result + k].value]], first, end - 1);
    }
    for (uint64_t i = 0; i < g->values.count; i++)
        if (g->values.data[i].source != GRAPH_RESULT) lives[i] = (graph_life){UINT32_MAX, 0};
    for (uint64_t i = 0; i < g->outputs.count; i++)
        lives[g->outputs.data[i].value] = (graph_life){UINT32_MAX, 0};
}

/* ---- in place ---- */

static bool may_be_in_place(const graph_call *c, uint32_t operand) {
    return !c->program && plan_may_be_same(plan_collective_of((hg_op)c->op), operand);
}

static uint32_t uses_in_call(const hg_graph *g, const graph_call *c, uint32_t base) {
    uint32_t uses = 0;
    for (uint32_t k = 0; k < c->operand_count; k++) {
        const graph_operand *o = &g->operands.data[c->first_operand + k];
        uses += o->kind == GRAPH_ARRAY && graph_base(g, o->number) == base;
    }
    return uses;
}

/* A result takes memory of the operand that it is a changed form of, or of one of the same shape
 * where the instruction may work in place. */
static bool may_take(const hg_graph *g, const graph_call *c, const graph_result *r,
                     const graph_operand *o) {
    const graph_value *to = &g->values.data[r->value], *from = &g->values.data[o->number];
    if (from->source != GRAPH_RESULT || from->type != to->type || from->elements != to->elements)
        return false;
    if (o->operand == r->operand) return true;
    return may_be_in_place(c, r->operand) && from->rank == to->rank &&
           memcmp(from->extents, to->extents, from->rank * sizeof *from->extents) == 0 &&
           graph_operand_of(g, c, r->operand) == NULL;
}

/* Whether an instruction in front of the call, which stands together with it, reads the value:
 * other lanes of their kernel may still be about to. What it makes itself only the lane reads that
 * changes it. */
static bool is_read_together(const hg_graph *g, uint32_t call, uint32_t value) {
    for (uint32_t i = call; i-- > 0 && g->calls.data[i].together == g->calls.data[call].together;)
        if (plan_collective_of((hg_op)g->calls.data[i].op)->fuses &&
            uses_in_call(g, &g->calls.data[i], graph_base(g, value)))
            return true;
    return false;
}

/* The first operand whose memory the result may take. last: of each value the last call that reads
 * it, GRAPH_NOT_SET: it is not to be taken. */
static void take_one(hg_graph *g, uint32_t call, graph_result r, uint32_t *last) {
    const graph_call *c = &g->calls.data[call];
    if (graph_is_output(g, r.value)) return;
    for (uint32_t i = 0; i < c->operand_count; i++) {
        const graph_operand *o = &g->operands.data[c->first_operand + i];
        if (o->kind != GRAPH_ARRAY || last[o->number] != call || !may_take(g, c, &r, o)) continue;
        if (o->operand == r.operand && uses_in_call(g, c, o->number) > 1) continue;
        if (c->together && is_read_together(g, call, o->number)) continue;
        g->values.data[r.value].takes = o->number;
        last[o->number] = GRAPH_NOT_SET;
        return;
    }
}

hg_status graph_take_memory(hg_graph *g) {
    uint32_t *last = hg_alloc((size_t)(g->values.count + 1) * sizeof *last);
    if (!last) return hg_fail_memory();
    memset(last, 0xFF, (size_t)(g->values.count + 1) * sizeof *last);
    for (uint32_t i = 0; i < g->calls.count; i++)
        for (uint32_t k = 0; k < g->calls.data[i].operand_count; k++) {
            const graph_operand *o = &g->operands.data[g->calls.data[i].first_operand + k];
            if (o->kind == GRAPH_ARRAY) last[graph_base(g, o->number)] = i;
        }
    for (uint64_t i = 0; i < g->outputs.count; i++) last[g->outputs.data[i].value] = GRAPH_NOT_SET;
    for (uint32_t i = 0; i < g->calls.count; i++)
        for (uint32_t k = 0; k < g->calls.data[i].result_count; k++)
            take_one(g, i, g->results.data[g->calls.data[i].first_result + k], last);
    hg_free(last);
    return HG_OK;
}

/* ---- places ---- */

typedef struct item {
    uint32_t value;
    graph_life life;
    uint64_t bytes, offset;
} item;

static int larger_first(const void *p, const void *q) {
    const item *a = p, *b = q;
    if (a->bytes != b->bytes) return a->bytes < b->bytes ? 1 : -1;
    if (a->life.last - a->life.first != b->life.last - b->life.first)
        return a->life.last - a->life.first < b->life.last - b->life.first ? 1 : -1;
    return a->value < b->value ? -1 : a->value > b->value;
}

static int longer_first(const void *p, const void *q) {
    const item *a = p, *b = q;
    uint32_t x = a->life.last - a->life.first, y = b->life.last - b->life.first;
    return x != y ? (x < y ? 1 : -1) : larger_first(p, q);
}

static int earlier_first(const void *p, const void *q) {
    const item *a = p, *b = q;
    return a->life.first != b->life.first ? (a->life.first < b->life.first ? -1 : 1)
                                          : larger_first(p, q);
}

static int later_first(const void *p, const void *q) {
    const item *a = p, *b = q;
    return a->life.last != b->life.last ? (a->life.last > b->life.last ? -1 : 1)
                                        : larger_first(p, q);
}

static int lower_first(const void *p, const void *q) {
    const item *const *a = p, *const *b = q;
    return (*a)->offset < (*b)->offset ? -1 : (*a)->offset > (*b)->offset;
}

static bool meet(const item *a, const item *b) {
    return a->life.first <= b->life.last && b->life.first <= a->life.last;
}

/* The lowest offset where `at` fits beside those that live when it does. near: room for all. */
static uint64_t lowest(const item *items, uint64_t count, const item *at, const item **near) {
    uint64_t found = 0, offset = 0;
    for (uint64_t i = 0; i < count; i++)
        if (meet(&items[i], at)) near[found++] = &items[i];
    qsort(near, (size_t)found, sizeof *near, lower_first);
    for (uint64_t i = 0; i < found; i++) {
        if (near[i]->offset >= offset + at->bytes) break;
        if (near[i]->offset + near[i]->bytes > offset) offset = near[i]->offset + near[i]->bytes;
    }
    return offset;
}

static uint64_t rounded(uint64_t bytes) {
    return (bytes + GRAPH_ALIGN - 1) / GRAPH_ALIGN * GRAPH_ALIGN;
}

/* Of all values with a life. False: more than there can be. */
static bool collect(const hg_graph *g, const uint64_t *extents, const graph_life *lives,
                    item *items, uint64_t *count) {
    uint64_t all = 0;
    *count = 0;
    for (uint32_t i = 0; i < g->values.count; i++) {
        const graph_value *v = &g->values.data[i];
        uint64_t bytes = extents[v->elements] * graph_type_bytes(v);
        if (lives[i].first > lives[i].last) continue;
        bytes = rounded(bytes ? bytes : 1);
        items[(*count)++] = (item){.value = i, .life = lives[i], .bytes = bytes};
        if (!hg_add_u64(all, bytes, &all) || all > INT64_MAX) return false;
    }
    return true;
}

/* The sums of live values, call by call. */
static bool find_least(const hg_graph *g, const item *items, uint64_t count, graph_memory *memory) {
    uint64_t *changes = hg_calloc((size_t)g->calls.count + 2, sizeof *changes),
             sum = 0; /* wraps: a
                         difference
                       */
    if (!changes) return false;
    for (uint64_t i = 0; i < count; i++) {
        changes[items[i].life.first] += items[i].bytes;
        changes[items[i].life.last + 1] -= items[i].bytes;
    }
    for (uint32_t i = 0; i < g->calls.count; i++) {
        sum += changes[i];
        if (sum <= memory->least) continue;
        memory->least = sum;
        memory->peak = i;
    }
    hg_free(changes);
    return true;
}

/* In the order of the items. Returns the bytes of the workspace. */
static uint64_t place_in_order(item *items, uint64_t count, bool shared, const item **near) {
    uint64_t bytes = 0;
    for (uint64_t i = 0; i < count; i++) {
        items[i].offset = shared ? lowest(items, i, &items[i], near) : bytes;
        if (items[i].offset + items[i].bytes > bytes) bytes = items[i].offset + items[i].bytes;
    }
    return bytes;
}

enum {
    MOST_TRIED = 2048
}; /* of more values only one order is tried: each takes time with the square of their number, 0.3 s
      for 20,000 */

/* Tries orders until one needs no more than the least, and keeps the best. */
static bool place(item *items, uint64_t count, bool shared, graph_memory *memory) {
    static int (*const ORDERS[])(const void *p, const void *q) = {larger_first, longer_first,
                                                                  earlier_first, later_first};
    size_t orders = shared && count <= MOST_TRIED ? HG_COUNT_OF(ORDERS) : 1;
    const item **near = hg_alloc((size_t)(count + 1) * sizeof *near);
    if (!near) return false;
    memory->bytes = UINT64_MAX;
    for (size_t k = 0; k < orders && memory->bytes > memory->least; k++) {
        qsort(items, (size_t)count, sizeof *items, ORDERS[k]);
        uint64_t bytes = place_in_order(items, count, shared, near);
        if (bytes >= memory->bytes) continue;
        memory->bytes = bytes;
        for (uint64_t i = 0; i < count; i++) memory->offsets[items[i].value] = items[i].offset;
    }
    hg_free(near);
    return true;
}

hg_status graph_plan_memory(const hg_graph *g, const uint64_t *extents, bool shared,
                            graph_memory *memory) {
    uint64_t count;
    item *items = hg_alloc((size_t)(g->values.count + 1) * sizeof *items);
    *memory = (graph_memory){
        .lives = hg_alloc((size_t)(g->values.count + 1) * sizeof *memory->lives),
        .owners = hg_alloc((size_t)(g->values.count + 1) * sizeof *memory->owners),
        .offsets = hg_calloc((size_t)g->values.count + 1, sizeof *memory->offsets)};
    uint32_t *owners = memory->owners;
    graph_life *lives = memory->lives;
    hg_status status = HG_OK;
    if (!lives || !items || !owners || !memory->offsets) {
        status = hg_fail_memory();
    } else {
        find_owners(g, owners);
        find_lives(g, owners, lives);
        if (!collect(g, extents, lives, items, &count))
            status = hg_fail(HG_ERROR_INVALID_ARGUMENT,
                             "the values of the graph are more than any memory holds");
        else if (!find_least(g, items, count, memory) || !place(items, count, shared, memory))
            status = hg_fail_memory();
        for (uint32_t i = 0; i < g->values.count && status == HG_OK; i++)
            memory->offsets[i] = memory->offsets[owners[i]];
    }
    hg_free(items);
    if (status != HG_OK) graph_memory_free(memory);
    return status;
}

void graph_memory_free(graph_memory *memory) {
    hg_free(memory->lives);
    hg_free(memory->owners);
    hg_free(memory->offsets);
    *memory = (graph_memory){0};
}
