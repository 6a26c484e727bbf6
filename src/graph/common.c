/* Calls that say the same, on the same values: the later ones are the first. Views of the same
 * elements in the same shape too.
 * Requires: nothing. Provides: nothing that other passes need. */
#include "graph/passes.h"
#include <string.h>

static uint64_t mix(uint64_t h, uint64_t x) {
    h = (h ^ x) * UINT64_C(0x9E3779B97F4A7C15);
    return h ^ h >> 29;
}

static uint32_t literal_size(const graph_call *c, const graph_operand *o) {
    hg_inst in = {.type = c->type};
    hg_type type = c->program
                       ? (hg_type)c->program->params[o->operand].type
                       : hg_literal_type(&in, &hg_op_get((hg_op)c->op)->operands[o->operand]);
    return (uint32_t)hg_type_size_bytes(type);
}

static uint64_t hash_operand(const hg_graph *g, const graph_call *c, const graph_operand *o) {
    uint64_t h = mix(o->operand, o->kind);
    if (o->kind == GRAPH_LITERAL) {
        for (uint32_t i = 0; i < literal_size(c, o); i++) h = mix(h, o->bytes[i]);
        return h;
    }
    h = mix(h, o->number);
    for (uint32_t i = 0; i < o->number && (o->kind == GRAPH_TUPLE || o->kind == GRAPH_TUPLES); i++)
        h = mix(h, g->items.data[o->first + i]);
    return h;
}

static uint64_t hash_call(const hg_graph *g, const graph_call *c) {
    uint64_t h = mix(mix(c->op, c->type), (uintptr_t)c->program);
    for (uint32_t i = 0; i < c->operand_count; i++)
        h = mix(h, hash_operand(g, c, &g->operands.data[c->first_operand + i]));
    return h;
}

static bool same_operand(const hg_graph *g, const graph_call *c, const graph_operand *a,
                         const graph_operand *b) {
    if (a->operand != b->operand || a->kind != b->kind) return false;
    if (a->kind == GRAPH_LITERAL) return memcmp(a->bytes, b->bytes, literal_size(c, a)) == 0;
    if (a->number != b->number) return false;
    if (a->kind != GRAPH_TUPLE && a->kind != GRAPH_TUPLES) return true;
    return memcmp(&g->items.data[a->first], &g->items.data[b->first],
                  a->number * sizeof *g->items.data) == 0;
}

static bool same_shape(const graph_value *a, const graph_value *b) {
    return a->type == b->type && a->rank == b->rank &&
           memcmp(a->extents, b->extents, a->rank * sizeof *a->extents) == 0;
}

static bool same_strides(const graph_value *a, const graph_value *b) {
    return a->strided == b->strided &&
           (!a->strided || memcmp(a->strides, b->strides, a->rank * sizeof *a->strides) == 0);
}

static bool same_call(const hg_graph *g, const graph_call *a, const graph_call *b) {
    if (a->op != b->op || a->type != b->type || a->program != b->program) return false;
    if (a->operand_count != b->operand_count || a->result_count != b->result_count) return false;
    for (uint32_t i = 0; i < a->operand_count; i++)
        if (!same_operand(g, a, &g->operands.data[a->first_operand + i],
                          &g->operands.data[b->first_operand + i]))
            return false;
    for (uint32_t i = 0; i < a->result_count; i++) {
        const graph_result *x = &g->results.data[a->first_result + i],
                           *y = &g->results.data[b->first_result + i];
        if (x->operand != y->operand ||
            !same_shape(&g->values.data[x->value], &g->values.data[y->value]))
            return false;
    }
    return true;
}

/* A program may keep state or ask the launch for something that differs; the same one twice is not
 * the same. Two collectives may differ on another rank. */
static bool may_differ(const graph_call *c) { return c->program || c->writes_more; }

/* What a call makes is what the other one made. */
static void merge(hg_graph *g, uint32_t call, uint32_t into, uint32_t *map) {
    const graph_call *from = &g->calls.data[call], *to = &g->calls.data[into];
    for (uint32_t i = 0; i < from->result_count; i++)
        map[g->results.data[from->first_result + i].value] =
            g->results.data[to->first_result + i].value;
}

static void rename_call(hg_graph *g, const graph_call *c, const uint32_t *map) {
    for (uint32_t i = 0; i < c->operand_count; i++) {
        graph_operand *o = &g->operands.data[c->first_operand + i];
        if (o->kind == GRAPH_ARRAY) o->number = map[o->number];
    }
}

/* A view of a value that became another one is that view of the other one; one of the same elements
 * as an earlier view is that. */
static void rename_view(hg_graph *g, uint32_t value, uint32_t *map, uint32_t *slots,
                        uint64_t size) {
    graph_value *v = &g->values.data[value];
    v->of = map[v->of];
    uint64_t h = mix(mix(v->of, v->offset), v->rank);
    for (uint8_t d = 0; d < v->rank; d++)
        h = mix(mix(h, v->extents[d]), v->strided ? v->strides[d] : 0);
    for (h &= size - 1; slots[h]; h = (h + 1) & (size - 1)) {
        const graph_value *other = &g->values.data[slots[h] - 1];
        if (other->of != v->of || other->offset != v->offset || !same_shape(other, v) ||
            !same_strides(other, v))
            continue;
        map[value] = slots[h] - 1;
        return;
    }
    slots[h] = value + 1;
}

hg_status graph_pass_common(hg_graph *g) {
    uint64_t size = 64;
    while (size < 2 * (g->calls.count + g->values.count)) size *= 2;
    uint32_t *map = hg_alloc((size_t)(g->values.count + 1) * sizeof *map),
             *slots = hg_calloc((size_t)(2 * size), sizeof *slots);
    uint8_t *gone = hg_calloc((size_t)g->calls.count + 1, 1);
    hg_status status = map && slots && gone ? HG_OK : hg_fail_memory();
    uint32_t *views = slots ? slots + size : NULL, done = 0;
    for (uint64_t i = 0; i < g->values.count && status == HG_OK; i++) map[i] = (uint32_t)i;
    for (uint32_t value = 0; value <= g->values.count && status == HG_OK; value++) {
        const graph_value *v = value < g->values.count ? &g->values.data[value] : NULL;
        if (v && v->source == GRAPH_VIEW) rename_view(g, value, map, views, size);
        for (; done < g->calls.count &&
               (!v || (v->source == GRAPH_RESULT && v->call != GRAPH_NOT_SET && done <= v->call));
             done++) {
            const graph_call *c = &g->calls.data[done];
            rename_call(g, c, map);
            if (may_differ(c)) continue;
            uint64_t h = hash_call(g, c) & (size - 1);
            while (slots[h] && !same_call(g, &g->calls.data[slots[h] - 1], c))
                h = (h + 1) & (size - 1);
            gone[done] = slots[h] != 0;
            if (slots[h])
                merge(g, done, slots[h] - 1, map);
            else
                slots[h] = done + 1;
        }
    }
    if (status == HG_OK) {
        graph_rename(g, map);
        graph_remove_calls(g, gone);
    }
    hg_free(map);
    hg_free(slots);
    hg_free(gone);
    return status;
}
