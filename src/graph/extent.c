/* Expressions over a graph's symbols. Each is kept once, so that two of them are equal where their
 * numbers are: b * s and s * b are one.
 * Must not know: values, calls. */
#include "graph/graph.h"
#include <string.h>

static bool is_leaf(const graph_term *t) {
    return t->kind == HG_EXTENT_OP_NUMBER || t->kind == HG_EXTENT_OP_PARAM;
}

static uint64_t hash_of(const graph_term *t) {
    uint64_t h = t->kind + UINT64_C(0x9E3779B97F4A7C15) * t->left;
    h = (h ^ h >> 29) * UINT64_C(0xBF58476D1CE4E5B9) + t->right;
    h = (h ^ h >> 32) * UINT64_C(0x94D049BB133111EB) + t->value;
    h = (h ^ h >> 31) * UINT64_C(0x9E3779B97F4A7C15); /* else the numbers 1, 2, 3, ... would take
                                                         one place behind the other */
    return h ^ h >> 32;
}

static bool equal(const graph_term *a, const graph_term *b) {
    return a->kind == b->kind && a->left == b->left && a->right == b->right && a->value == b->value;
}

static bool grow_slots(hg_graph *g) {
    uint32_t count = g->term_slots.count ? 2 * g->term_slots.count : 64;
    uint32_t *slots = hg_calloc(count, sizeof *slots);
    if (!slots) return false;
    for (uint64_t i = 0; i < g->terms.count; i++) {
        uint64_t at = hash_of(&g->terms.data[i]) & (count - 1);
        while (slots[at]) at = (at + 1) & (count - 1);
        slots[at] = (uint32_t)i + 1;
    }
    hg_free(g->term_slots.data);
    g->term_slots.data = slots;
    g->term_slots.count = count;
    return true;
}

static graph_extent failed(hg_graph *g, hg_status status) {
    g->extent_status = status;
    return GRAPH_NOT_SET;
}

/* A tree of so many storeys is the largest that is printed and read without a deep stack. */
enum { MOST_STOREYS = 64, MOST_TERMS = 1 << 24 };

static graph_extent keep(hg_graph *g, const graph_term *t) {
    if (2 * (g->terms.count + 1) > g->term_slots.count && !grow_slots(g))
        return failed(g, hg_fail_memory());
    uint64_t at = hash_of(t) & (g->term_slots.count - 1);
    for (; g->term_slots.data[at]; at = (at + 1) & (g->term_slots.count - 1))
        if (equal(&g->terms.data[g->term_slots.data[at] - 1], t)) return g->term_slots.data[at] - 1;
    uint8_t left = is_leaf(t) ? 0 : g->terms.data[t->left].height,
            right = is_leaf(t) ? 0 : g->terms.data[t->right].height;
    uint8_t height = (uint8_t)((left > right ? left : right) + 1);
    if (height > MOST_STOREYS || g->terms.count >= MOST_TERMS)
        return failed(g, hg_fail(HG_ERROR_INVALID_ARGUMENT,
                                 "an extent of a graph has too many operations inside one another, "
                                 "at most %d are allowed",
                                 MOST_STOREYS));
    graph_term *to = hg_vec_push(&g->terms);
    if (!to) return failed(g, hg_fail_memory());
    *to = *t;
    to->height = height;
    g->term_slots.data[at] = (uint32_t)g->terms.count;
    return (graph_extent)(g->terms.count - 1);
}

graph_extent graph_number(hg_graph *g, uint64_t value) {
    if (value <= INT64_MAX)
        return keep(g, &(graph_term){.kind = HG_EXTENT_OP_NUMBER, .value = value});
    return failed(g, hg_fail(HG_ERROR_INVALID_ARGUMENT,
                             "an extent of %llu: at most 2^63 - 1 are allowed",
                             (unsigned long long)value));
}
graph_extent graph_symbol(hg_graph *g, uint32_t symbol) {
    return keep(g, &(graph_term){.kind = HG_EXTENT_OP_PARAM, .value = symbol});
}

bool graph_is_number(const hg_graph *g, graph_extent e, uint64_t *value) {
    if (e == GRAPH_NOT_SET || g->terms.data[e].kind != HG_EXTENT_OP_NUMBER) return false;
    *value = g->terms.data[e].value;
    return true;
}

/* Whether a stands in front of b where the order of operands does not matter: first the higher
 * tree, then symbols, then numbers. No number of a term decides, so that a graph and the graph of
 * its text have the same order. */
static bool is_before(const hg_graph *g, graph_extent a, graph_extent b) {
    while (a != b) {
        const graph_term *x = &g->terms.data[a], *y = &g->terms.data[b];
        if (x->height != y->height) return x->height > y->height;
        if (x->kind != y->kind)
            return is_leaf(x) ? x->kind == HG_EXTENT_OP_PARAM : x->kind < y->kind;
        if (x->value != y->value) return x->value < y->value;
        a = x->left != y->left ? x->left : x->right;
        b = x->left != y->left ? y->left : y->right;
    }
    return false;
}

static bool commutes(hg_extent_op_kind op) {
    return op == HG_EXTENT_OP_ADD || op == HG_EXTENT_OP_MUL || op == HG_EXTENT_OP_MIN ||
           op == HG_EXTENT_OP_MAX;
}

/* x op y is x for this y. */
static bool is_neutral(hg_extent_op_kind op, uint64_t y) {
    switch (op) {
    case HG_EXTENT_OP_ADD:
    case HG_EXTENT_OP_SUB: return y == 0;
    case HG_EXTENT_OP_MUL:
    case HG_EXTENT_OP_DIV:
    case HG_EXTENT_OP_CEIL_DIV: return y == 1;
    default: return false;
    }
}

graph_extent graph_combine(hg_graph *g, hg_extent_op_kind op, graph_extent left,
                           graph_extent right) {
    uint64_t x, y, value;
    if (left == GRAPH_NOT_SET || right == GRAPH_NOT_SET) return GRAPH_NOT_SET;
    bool has_x = graph_is_number(g, left, &x), has_y = graph_is_number(g, right, &y);
    bool known = has_x && has_y && hg_extent_apply(op, x, y, &value) == HG_EXTENT_KNOWN;
    if (known && value <= INT64_MAX) return graph_number(g, value);
    if (has_y && is_neutral(op, y)) return left;
    if (has_x && commutes(op) && is_neutral(op, x)) return right;
    if (op == HG_EXTENT_OP_SUB && left == right) return graph_number(g, 0);
    if (commutes(op) && is_before(g, right, left))
        return keep(g, &(graph_term){.kind = (uint8_t)op, .left = right, .right = left});
    return keep(g, &(graph_term){.kind = (uint8_t)op, .left = left, .right = right});
}

/* Operands stand before their operation. */
void graph_extent_values(const hg_graph *g, const uint64_t *symbols, uint64_t *values) {
    for (uint64_t i = 0; i < g->terms.count; i++) {
        const graph_term *t = &g->terms.data[i];
        values[i] = UINT64_MAX;
        if (t->kind == HG_EXTENT_OP_NUMBER) values[i] = t->value;
        if (t->kind == HG_EXTENT_OP_PARAM) values[i] = symbols[t->value];
        if (is_leaf(t) || values[t->left] == UINT64_MAX || values[t->right] == UINT64_MAX) continue;
        uint64_t value;
        if (hg_extent_apply((hg_extent_op_kind)t->kind, values[t->left], values[t->right],
                            &value) == HG_EXTENT_KNOWN)
            values[i] = value;
    }
}

/* ---- text ---- */

static const struct {
    const char *before, *between;
    uint8_t tightness;
} FORMS[HG_EXTENT_OP_COUNT] = {
    [HG_EXTENT_OP_ADD] = {"", " + ", 1},           [HG_EXTENT_OP_SUB] = {"", " - ", 1},
    [HG_EXTENT_OP_MUL] = {"", " * ", 2},           [HG_EXTENT_OP_DIV] = {"", " / ", 2},
    [HG_EXTENT_OP_CEIL_DIV] = {"ceil(", " / ", 3}, [HG_EXTENT_OP_MIN] = {"min(", ", ", 3},
    [HG_EXTENT_OP_MAX] = {"max(", ", ", 3},
};

static void print_term(hg_text *out, const hg_graph *g, graph_extent e, uint8_t around) {
    const graph_term *t = &g->terms.data[e];
    if (t->kind == HG_EXTENT_OP_NUMBER) {
        hg_text_addf(out, "%llu", (unsigned long long)t->value);
        return;
    }
    if (t->kind == HG_EXTENT_OP_PARAM) {
        hg_text_addf(out, "%s", g->symbols.data[t->value]);
        return;
    }
    uint8_t own = FORMS[t->kind].tightness;
    bool is_function = own == 3, enclosed = is_function || own < around;
    uint8_t inside = is_function && t->kind != HG_EXTENT_OP_CEIL_DIV ? 0 : is_function ? 2 : own;
    hg_text_addf(out, "%s", is_function ? FORMS[t->kind].before : enclosed ? "(" : "");
    print_term(out, g, t->left, inside);
    hg_text_addf(out, "%s", FORMS[t->kind].between);
    print_term(out, g, t->right,
               is_function && t->kind != HG_EXTENT_OP_CEIL_DIV ? 0 : (uint8_t)(inside + 1));
    hg_text_addf(out, "%s", enclosed ? ")" : "");
}

/* At most MOST_STOREYS deep. */
void graph_print_extent(hg_text *out, const hg_graph *g, graph_extent e) {
    print_term(out, g, e, 0);
}

void graph_print_shape(hg_text *out, const hg_graph *g, const graph_value *v) {
    hg_text_addf(out, "%s [", hg_type_name((hg_type)v->type));
    for (uint8_t d = 0; d < v->rank; d++) {
        if (d) hg_text_addf(out, ", ");
        graph_print_extent(out, g, v->extents[d]);
    }
    hg_text_addf(out, "]");
}

uint32_t graph_find_symbol(const hg_graph *g, const char *name, size_t length) {
    for (uint64_t i = 0; i < g->symbols.count; i++)
        if (graph_is_name(g->symbols.data[i], name, length)) return (uint32_t)i;
    return GRAPH_NOT_SET;
}
