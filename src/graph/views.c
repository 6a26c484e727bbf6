/* Views with strides: into flags of products where their last two axes are the other way round,
 * into operands that are strides; copied for calls that cannot read them.
 * Requires: nothing. Provides: nothing that other passes need. */
#include "graph/passes.h"
#include "graph/shapes.h"
#include "graph/strides.h"
#include <string.h>

/* ---- products ---- */

/* The last two axes the other way round, and nothing else: the elements lie one after another then.
 */
static bool is_transposed(hg_graph *g, uint32_t view) {
    const graph_value v = g->values.data[view];
    uint32_t r = v.rank;
    uint64_t one;
    if (!v.strided || r < 2) return false;
    if (!graph_is_number(g, v.strides[r - 2], &one) || one != 1 ||
        v.strides[r - 1] != v.extents[r - 2])
        return false;
    graph_extent stride = graph_combine(g, HG_EXTENT_OP_MUL, v.extents[r - 1], v.extents[r - 2]);
    for (uint32_t d = r - 2; d-- > 0;
         stride = graph_combine(g, HG_EXTENT_OP_MUL, stride, v.extents[d]))
        if (stride == GRAPH_NOT_SET || v.strides[d] != stride) return false;
    return true;
}

/* The view as it lies in memory. */
static hg_status turned(hg_graph *g, uint32_t view, uint32_t *plain) {
    graph_value v = g->values.data[view];
    graph_extent last = v.extents[v.rank - 1];
    v.extents[v.rank - 1] = v.extents[v.rank - 2];
    v.extents[v.rank - 2] = last;
    v.strided = false;
    return graph_add_value(g, &v, NULL, 0, plain);
}

/* The call's operands again, with a flag that is the other way round. */
static hg_status flip(hg_graph *g, graph_call *c, uint32_t flag) {
    graph_operand operands[HG_MAX_OPERANDS];
    graph_result results[HG_MAX_OPERANDS];
    uint32_t count = 0;
    bool found = false;
    for (uint32_t k = 0; k < c->operand_count; k++) {
        graph_operand o = g->operands.data[c->first_operand + k];
        if (o.operand == flag) o.number = !o.number;
        found |= o.operand == flag;
        if (!found && o.operand > flag) {
            operands[count++] = (graph_operand){
                .operand = (uint8_t)flag, .kind = GRAPH_FLAG, .number = 1};
            found = true;
        }
        operands[count++] = o;
    }
    if (!found)
        operands[count++] = (graph_operand){
            .operand = (uint8_t)flag, .kind = GRAPH_FLAG, .number = 1};
    memcpy(results, &g->results.data[c->first_result], c->result_count * sizeof *results);
    return graph_add_parts(g, c, operands, count, results, c->result_count);
}

/* A matrix that the instruction can take either way; of several rows' extents none is the one to
 * turn. */
static bool can_turn(const hg_graph *g, const graph_call *c, const graph_shape *s, uint32_t value) {
    if (s->flag == HG_MAX_OPERANDS ||
        graph_has_leading(hg_op_get((hg_op)c->op), &g->operands.data[c->first_operand],
                          c->operand_count))
        return false;
    bool rows = s->count == 2 && s->extents[0].kind == GRAPH_SHAPE_MANY;
    uint8_t rank = g->values.data[value].rank;
    return graph_shape_many(s, rank) >= 0 && (!rows || rank == 2);
}

static hg_status fold_operand(hg_graph *g, uint32_t call, const graph_shape *s) {
    graph_call c = g->calls.data[call];
    uint32_t k = 0, plain;
    while (k < c.operand_count && g->operands.data[c.first_operand + k].operand != s->operand) k++;
    if (k == c.operand_count) return HG_OK;
    uint32_t value = g->operands.data[c.first_operand + k].number;
    if (!can_turn(g, &c, s, value) || !is_transposed(g, value)) return HG_OK;
    HG_TRY(turned(g, value, &plain));
    HG_TRY(flip(g, &c, s->flag));
    for (k = 0; k < c.operand_count; k++)
        if (g->operands.data[c.first_operand + k].operand == s->operand)
            g->operands.data[c.first_operand + k].number = plain;
    g->calls.data[call] = c;
    return HG_OK;
}

/* ---- operands that are strides ---- */

/* From the first element of a view to the end of the array that it lies in. */
static hg_status memory_of(hg_graph *g, uint32_t view, uint32_t *plain) {
    graph_axes axes;
    HG_TRY(graph_axes_of(g, view, &axes));
    graph_value v = {.source = GRAPH_VIEW,
                     .type = g->values.data[view].type,
                     .line = g->values.data[view].line,
                     .of = axes.base,
                     .offset = axes.offset,
                     .rank = 1};
    v.extents[0] = graph_combine(g, HG_EXTENT_OP_SUB, g->values.data[axes.base].elements,
                                 axes.offset);
    if (v.extents[0] == GRAPH_NOT_SET) return hg_error_record()->status;
    return graph_add_value(g, &v, NULL, 0, plain);
}

/* The operands of an array that say where its rows lie: a tuple of the strides of its first axes,
 * and one more for the axis behind them where the instruction has that by itself. */
typedef struct stride_operands {
    uint32_t tuple, row; /* HG_MAX_OPERANDS: there is none */
} stride_operands;

/* Whether a view's elements can be said so: side by side along the last axis. */
static bool has_rows(const hg_graph *g, const hg_op_info *row, const stride_operands *s,
                     uint32_t view) {
    const graph_value *v = &g->values.data[view];
    uint64_t one;
    return v->strided && s->tuple < HG_MAX_OPERANDS &&
           v->rank == row->operands[s->tuple].items + (s->row < HG_MAX_OPERANDS) + 1 &&
           ((graph_is_number(g, v->strides[v->rank - 1], &one) && one == 1) ||
            (graph_is_number(g, v->extents[v->rank - 1], &one) && one == 1));
}

/* One more operand, in the order of the row. */
static void insert(graph_operand *operands, uint32_t *count, graph_operand o) {
    uint32_t at = (*count)++;
    for (; at > 0 && operands[at - 1].operand > o.operand; at--) operands[at] = operands[at - 1];
    operands[at] = o;
}

static hg_status add_strides(hg_graph *g, graph_call *c, const stride_operands *s, uint32_t operand,
                             uint32_t view) {
    graph_operand operands[HG_MAX_OPERANDS];
    graph_result results[HG_MAX_OPERANDS];
    const graph_value v = g->values.data[view];
    uint32_t count = c->operand_count, items = hg_op_get((hg_op)c->op)->operands[s->tuple].items,
             plain;
    HG_TRY(memory_of(g, view, &plain));
    memcpy(operands, &g->operands.data[c->first_operand], count * sizeof *operands);
    memcpy(results, &g->results.data[c->first_result], c->result_count * sizeof *results);
    for (uint32_t k = 0; k < count; k++)
        if (operands[k].operand == operand) operands[k].number = plain;
    insert(operands, &count,
           (graph_operand){.operand = (uint8_t)s->tuple,
                           .kind = GRAPH_TUPLE,
                           .number = items,
                           .first = (uint32_t)g->items.count});
    for (uint32_t d = 0; d < items; d++) {
        graph_extent *to = hg_vec_push(&g->items);
        if (!to) return hg_fail_memory();
        *to = v.strides[d];
    }
    if (s->row < HG_MAX_OPERANDS)
        insert(operands, &count,
               (graph_operand){
                   .operand = (uint8_t)s->row, .kind = GRAPH_COUNT, .number = v.strides[items]});
    return graph_add_parts(g, c, operands, count, results, c->result_count);
}

/* Whether the table of shapes says another number of extents of an operand. */
static bool has_other_rank(const graph_call *c, uint32_t operand, uint8_t rank) {
    const char *p = graph_shape_pattern((hg_op)c->op);
    graph_shape s;
    while (graph_shape_next(hg_op_get((hg_op)c->op), &p, &s))
        if (s.operand == operand) return s.count != rank;
    return false;
}

static hg_status fold_strides(hg_graph *g, uint32_t call) {
    const hg_op_info *row = hg_op_get((hg_op)g->calls.data[call].op);
    for (uint32_t i = 0; i < row->operand_count; i++) {
        graph_call c = g->calls.data[call];
        const graph_operand *o = graph_operand_of(g, &c, i);
        if (!o || o->kind != GRAPH_ARRAY || (row->operands[i].access & HG_WRITE)) continue;
        const stride_operands s = {graph_operand_behind(row, i, "_strides"),
                                   graph_operand_behind(row, i, "_row")};
        if (!has_rows(g, row, &s, o->number) ||
            has_other_rank(&c, i, g->values.data[o->number].rank) ||
            graph_operand_of(g, &c, s.tuple))
            continue;
        if (s.row < HG_MAX_OPERANDS && graph_operand_of(g, &c, s.row)) continue;
        HG_TRY(add_strides(g, &c, &s, i, o->number));
        g->calls.data[call] = c;
    }
    return HG_OK;
}

hg_status graph_pass_views(hg_graph *g) {
    for (uint32_t i = 0; i < g->calls.count; i++) {
        const graph_call *c = &g->calls.data[i];
        if (c->program) continue;
        const char *p = graph_shape_pattern((hg_op)c->op);
        graph_shape s;
        while (graph_shape_next(hg_op_get((hg_op)c->op), &p, &s)) {
            graph_shape_settle(&s, false, graph_operand_of(g, &g->calls.data[i], s.maybe));
            HG_TRY(fold_operand(g, i, &s));
        }
        HG_TRY(fold_strides(g, i));
    }
    return HG_OK;
}

/* ---- copies for others ---- */

/* copies: of each value the one that has it one element after another; GRAPH_NOT_SET: none so far.
 */
static hg_status copy_operands(hg_graph *g, const graph_call *c, void *user) {
    uint32_t *copies = user;
    if (graph_reads_views(g, c)) return HG_OK;
    for (uint32_t k = 0; k < c->operand_count; k++) {
        const graph_operand o = g->operands.data[c->first_operand + k];
        if (o.kind != GRAPH_ARRAY || !g->values.data[o.number].strided) continue;
        if (copies[o.number] == GRAPH_NOT_SET)
            HG_TRY(graph_append_copy(g, o.number, c->line, &copies[o.number]));
        g->operands.data[c->first_operand + k].number = copies[o.number];
    }
    return HG_OK;
}

hg_status graph_copy_views(hg_graph *g) {
    uint32_t *copies = hg_alloc((size_t)(g->values.count + 1) * sizeof *copies);
    if (!copies) return hg_fail_memory();
    for (uint64_t i = 0; i < g->values.count; i++) copies[i] = GRAPH_NOT_SET;
    hg_status status = graph_write_again(g, copy_operands, copies);
    hg_free(copies);
    return status;
}
