/* Calls in the order that needs least memory at once: of those whose operands are there, the one
 * goes first that makes least and lets go of most. The order of the text stays where that needs no
 * more. Extents that are symbols count as MANY: an order does not depend on a run.
 * Where calls do what others may see, only collectives are moved, as far ahead as they can go.
 *
 * Requires: outputs that are results of calls. Provides: nothing that other passes need. */
#include "graph/passes.h"
#include <string.h>

enum { MANY = 64, MOST_COMPARED = 256 };

typedef struct ordering {
    hg_graph *g;
    uint64_t *bytes; /* by value: of the workspace, of one that is no view; 0: none of it */
    uint32_t *left;  /* by value: operands of calls that are still to come and read it, also through
                        views */
    uint32_t *first; /* by value: its readers, from there on in `readers` */
    uint32_t *readers; /* calls */
    uint32_t *leader;  /* by call: the first of those that it stands together with, which go in one
                          with it */
    uint32_t *waits;   /* by leader: operands that are not made yet */
    uint32_t *ready;   /* leaders that wait for nothing */
    uint32_t ready_count;
    uint32_t *order;
    uint64_t count; /* calls in the order so far */
} ordering;

static uint32_t operand_base(const hg_graph *g, const graph_call *c, uint32_t k) {
    const graph_operand *o = &g->operands.data[c->first_operand + k];
    return o->kind == GRAPH_ARRAY ? graph_base(g, o->number) : GRAPH_NOT_SET;
}

static bool find_bytes(ordering *o) {
    const hg_graph *g = o->g;
    uint64_t symbols[HG_MAX_GRAPH_EXTENTS],
        *extents = hg_alloc((size_t)(g->terms.count + 1) * sizeof *extents);
    if (!extents) return false;
    for (int i = 0; i < HG_MAX_GRAPH_EXTENTS; i++) symbols[i] = MANY;
    graph_extent_values(g, symbols, extents);
    for (uint64_t i = 0; i < g->values.count; i++) {
        const graph_value *v = &g->values.data[i];
        uint64_t elements = extents[v->elements] < UINT32_MAX ? extents[v->elements]
                                                              : UINT32_MAX; /* what an extent has no
                                                                               number for is much */
        o->bytes[i] = v->source == GRAPH_RESULT ? elements * graph_type_bytes(v) : 0;
    }
    for (uint64_t i = 0; i < g->outputs.count; i++)
        o->bytes[graph_base(g, g->outputs.data[i].value)] = 0;
    hg_free(extents);
    return true;
}

static void find_leaders(ordering *o) {
    for (uint32_t i = 0, end; i < o->g->calls.count; i = end) {
        end = graph_together_end(o->g, i);
        for (uint32_t k = i; k < end; k++) o->leader[k] = i;
    }
}

static bool is_made_together(const ordering *o, uint32_t value, uint32_t call) {
    const graph_value *v = &o->g->values.data[value];
    return v->source == GRAPH_RESULT && v->call < o->g->calls.count &&
           o->leader[v->call] == o->leader[call];
}

static void find_readers(ordering *o) {
    const hg_graph *g = o->g;
    uint32_t sum = 0;
    for (uint32_t i = 0; i < g->calls.count; i++)
        for (uint32_t k = 0; k < g->calls.data[i].operand_count; k++) {
            uint32_t base = operand_base(g, &g->calls.data[i], k);
            if (base == GRAPH_NOT_SET) continue;
            o->left[base]++;
            o->waits[o->leader[i]] += g->values.data[base].source == GRAPH_RESULT &&
                                      !is_made_together(o, base, i);
        }
    for (uint64_t i = 0; i < g->values.count; i++) {
        o->first[i] = sum;
        sum += o->left[i];
    }
    for (uint32_t i = 0; i < g->calls.count; i++)
        for (uint32_t k = 0; k < g->calls.data[i].operand_count; k++) {
            uint32_t base = operand_base(g, &g->calls.data[i], k);
            if (base != GRAPH_NOT_SET) o->readers[o->first[base]++] = i;
        }
    for (uint64_t i = 0; i < g->values.count; i++) o->first[i] -= o->left[i];
}

/* Bytes that a call adds to what lives. */
static int64_t cost_of_one(const ordering *o, const graph_call *c) {
    int64_t bytes = 0;
    for (uint32_t k = 0; k < c->result_count; k++)
        bytes += (int64_t)o->bytes[o->g->results.data[c->first_result + k].value];
    for (uint32_t k = 0; k < c->operand_count; k++) {
        uint32_t base = operand_base(o->g, c, k), here = 0;
        if (base == GRAPH_NOT_SET) continue;
        for (uint32_t n = 0; n <= k; n++) here += operand_base(o->g, c, n) == base;
        if (here == o->left[base])
            bytes -= (int64_t)o->bytes[base]; /* its last reader, all of whose operands count once
                                               */
    }
    return bytes;
}

static int64_t cost(const ordering *o, uint32_t leader) {
    int64_t bytes = 0;
    for (uint32_t i = leader, end = graph_together_end(o->g, leader); i < end; i++)
        bytes += cost_of_one(o, &o->g->calls.data[i]);
    return bytes;
}

static uint32_t choose(ordering *o) {
    uint32_t best = 0;
    int64_t least = INT64_MAX;
    for (uint32_t i = 0; i < o->ready_count && i < MOST_COMPARED; i++) {
        int64_t bytes = cost(o, o->ready[i]);
        if (bytes > least || (bytes == least && o->ready[i] > o->ready[best])) continue;
        least = bytes;
        best = i;
    }
    uint32_t call = o->ready[best];
    memmove(&o->ready[best], &o->ready[best + 1], (o->ready_count - best - 1) * sizeof *o->ready);
    o->ready_count--;
    return call;
}

static void put(ordering *o, uint32_t call) {
    const graph_call *c = &o->g->calls.data[call];
    o->order[o->count++] = call;
    for (uint32_t k = 0; k < c->operand_count; k++) {
        uint32_t base = operand_base(o->g, c, k);
        if (base != GRAPH_NOT_SET) o->left[base]--;
    }
    for (uint32_t k = 0; k < c->result_count; k++) {
        uint32_t value = o->g->results.data[c->first_result + k].value;
        for (uint32_t i = 0; i < o->left[value]; i++) {
            uint32_t reader = o->leader[o->readers[o->first[value] + i]];
            if (reader != o->leader[call] && --o->waits[reader] == 0)
                o->ready[o->ready_count++] = reader;
        }
    }
}

/* The most bytes that live at one call, calls in an order; NULL: as they stand. */
static uint64_t peak(ordering *o, const uint32_t *order) {
    const hg_graph *g = o->g;
    uint64_t live = 0, most = 0;
    memset(o->left, 0, (size_t)g->values.count * sizeof *o->left);
    for (uint32_t i = 0; i < g->calls.count; i++)
        for (uint32_t k = 0; k < g->calls.data[i].operand_count; k++) {
            uint32_t base = operand_base(g, &g->calls.data[i], k);
            if (base != GRAPH_NOT_SET) o->left[base]++;
        }
    for (uint32_t i = 0; i < g->calls.count; i++) {
        const graph_call *c = &g->calls.data[order ? order[i] : i];
        for (uint32_t k = 0; k < c->result_count; k++)
            live += o->bytes[g->results.data[c->first_result + k].value];
        if (live > most) most = live;
        for (uint32_t k = 0; k < c->result_count; k++) {
            uint32_t value = g->results.data[c->first_result + k].value;
            if (!o->left[value]) live -= o->bytes[value]; /* nothing reads it */
        }
        for (uint32_t k = 0; k < c->operand_count; k++) {
            uint32_t base = operand_base(g, c, k);
            if (base != GRAPH_NOT_SET && --o->left[base] == 0) live -= o->bytes[base];
        }
    }
    return most;
}

static hg_status rearrange(ordering *o) {
    hg_graph *g = o->g;
    graph_call *calls = hg_alloc((size_t)(g->calls.count + 1) * sizeof *calls);
    if (!calls) return hg_fail_memory();
    for (uint64_t i = 0; i < g->calls.count; i++) calls[i] = g->calls.data[o->order[i]];
    memcpy(g->calls.data, calls, (size_t)g->calls.count * sizeof *calls);
    hg_free(calls);
    graph_number_results(g);
    return HG_OK;
}

static bool has_order(const hg_graph *g) {
    for (uint64_t i = 0; i < g->calls.count; i++)
        if (g->calls.data[i].writes_more) return true; /* others may read what it writes */
    return false;
}

static hg_status find_order(ordering *o) {
    uint64_t calls = o->g->calls.count;
    if (!find_bytes(o)) return hg_fail_memory();
    find_leaders(o);
    find_readers(o);
    for (uint32_t i = 0; i < calls; i++)
        if (o->leader[i] == i && !o->waits[i]) o->ready[o->ready_count++] = i;
    while (o->ready_count) {
        uint32_t leader = choose(o);
        for (uint32_t i = leader, end = graph_together_end(o->g, leader); i < end; i++) put(o, i);
    }
    return o->count == calls && peak(o, o->order) < peak(o, NULL) ? rearrange(o) : HG_OK;
}

/* ---- where the order matters to others ---- */

/* Behind which calls, counted from 0, one can stand: those that make what it reads, and those that
 * it goes together with stay in front of it. */
static uint32_t earliest(const hg_graph *g, const graph_call *call, const uint32_t *place) {
    uint32_t after = 0;
    for (uint32_t k = 0; k < call->operand_count; k++) {
        const graph_operand *o = &g->operands.data[call->first_operand + k];
        if (o->kind != GRAPH_ARRAY) continue;
        const graph_value *v = &g->values.data[graph_base(g, o->number)];
        if (v->source == GRAPH_RESULT && place[v->call] + 1 > after) after = place[v->call] + 1;
    }
    return after;
}

/* Collectives begin as early as they can: what does not need them is done beside them. What others
 * may see keeps its order, so collectives that of all ranks. */
static hg_status begin_early(hg_graph *g) {
    uint32_t count = (uint32_t)g->calls.count, last = 0;
    graph_call *calls = hg_alloc(((size_t)count + 1) * sizeof *calls);
    uint32_t *place = hg_alloc(((size_t)count + 1) * sizeof *place);
    hg_status status = calls && place ? HG_OK : hg_fail_memory();
    for (uint32_t i = 0; i < count && status == HG_OK; i++) {
        const graph_call *call = &g->calls.data[i];
        uint32_t at = i;
        if (graph_is_collective(call)) at = earliest(g, call, place);
        if (at < last) at = last;
        while (at && at < i && calls[at].together && calls[at].together == calls[at - 1].together)
            at++; /* what goes together stays so */
        if (call->writes_more) last = at + 1;
        memmove(&calls[at + 1], &calls[at], (i - at) * sizeof *calls);
        for (uint32_t k = 0; k < i; k++) place[k] += place[k] >= at;
        calls[at] = *call;
        place[i] = at;
    }
    if (status == HG_OK && count) memcpy(g->calls.data, calls, count * sizeof *calls);
    hg_free(calls);
    hg_free(place);
    if (status == HG_OK) graph_number_results(g);
    return status;
}

hg_status graph_pass_order(hg_graph *g) {
    if (has_order(g)) return begin_early(g);
    uint64_t values = g->values.count + 1, calls = g->calls.count + 1;
    ordering o = {
        .g = g,
        .bytes = hg_calloc((size_t)values, sizeof *o.bytes),
        .left = hg_calloc((size_t)(2 * values + g->operands.count + 4 * calls), sizeof *o.left)};
    if (o.left) {
        o.first = o.left + values;
        o.readers = o.first + values;
        o.waits = o.readers + g->operands.count;
        o.ready = o.waits + calls;
        o.order = o.ready + calls;
        o.leader = o.order + calls;
    }
    hg_status status = o.bytes && o.left ? find_order(&o) : hg_fail_memory();
    hg_free(o.bytes);
    hg_free(o.left);
    return status;
}
