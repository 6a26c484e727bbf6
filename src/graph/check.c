/* A graph with the numbers of all extents: shapes, the instructions' own checks, memory large
 * enough. Must not know: devices. */
#include "graph/shapes.h"
#include "plan/steps/steps.h"
#include <string.h>

static uint32_t fill_tuple(const hg_graph *g, const graph_operand *o, const uint64_t *extents,
                           uint64_t *words) {
    for (uint32_t i = 0; i < o->number; i++) words[i] = extents[g->items.data[o->first + i]];
    return o->number;
}

/* What the table says of an operand that is left out. */
static uint32_t fill_default(const hg_operand_info *info, hg_type type, uint64_t *words) {
    hg_default d;
    if (info->optional != HG_OR_VALUE) return 0;
    hg_default_operand(info, type, &d);
    if (info->kind == HG_K_LITERAL) {
        words[0] = words[1] = 0;
        memcpy(words, d.literal,
               hg_type_size_bytes(type) < 16 ? (size_t)hg_type_size_bytes(type) : 16);
        return 1;
    }
    if (info->kind == HG_K_TUPLE) {
        for (uint32_t i = 0; i < d.operand.item_count; i++) words[i] = d.items[i].value;
        return (uint32_t)d.operand.item_count;
    }
    words[0] = d.operand.value;
    return 1;
}

static uint32_t fill(const hg_graph *g, const graph_operand *o, const hg_operand_info *info,
                     hg_type type, const uint64_t *extents, uint64_t *words) {
    if (!o) return fill_default(info, type, words);
    if (o->kind == GRAPH_TUPLE || o->kind == GRAPH_TUPLES) return fill_tuple(g, o, extents, words);
    words[0] = o->number;
    if (o->kind == GRAPH_COUNT) words[0] = extents[o->number];
    if (o->kind != GRAPH_LITERAL) return 1;
    words[0] = 0;
    memcpy(words, o->bytes, hg_type_size_bytes(type) < 8 ? (size_t)hg_type_size_bytes(type) : 8);
    return 1;
}

static void add_array(const hg_graph *g, graph_sized_call *s, uint32_t operand, uint32_t value,
                      uint8_t access) {
    const hg_operand_info *info = &hg_op_get((hg_op)s->call.op)->operands[operand];
    hg_type type = hg_element_type(s->call.type, HG_TYPE_COUNT, info);
    s->values[s->call.array_count] = value;
    s->arrays[s->call.array_count++] = (plan_array){
        .operand = (uint8_t)operand,
        .type = type < HG_TYPE_COUNT ? (uint8_t)type : g->values.data[value].type,
        .read = (access & HG_READ) != 0,
        .written = (access & HG_WRITE) != 0};
}

static uint16_t function_of(const hg_graph *g, const graph_call *call) {
    hg_op fold = hg_op_folds_with((hg_op)call->op);
    if (fold != HG_OP_NONE) return (uint16_t)fold;
    const hg_op_info *row = hg_op_get((hg_op)call->op);
    for (uint32_t i = 0; i < row->operand_count; i++) {
        if (row->operands[i].kind != HG_K_OPNAME) continue;
        const graph_operand *o = graph_operand_of(g, call, i);
        hg_default d;
        if (o) return kir_fn_of_name((hg_opname)o->number);
        hg_default_operand(&row->operands[i], (hg_type)call->type, &d);
        return kir_fn_of_name((hg_opname)d.operand.value);
    }
    return (uint16_t)HG_OP_NONE;
}

void graph_size_call(const hg_graph *g, const graph_call *call, const uint64_t *extents,
                     graph_sized_call *s) {
    const hg_op_info *row = hg_op_get((hg_op)call->op);
    uint64_t *words = s->words;
    s->problem.found = false;
    memset(s->operands, 0, sizeof s->operands);
    s->call = (plan_call){.op = call->op,
                          .fn = function_of(g, call),
                          .type = call->type,
                          .ranks = PLAN_ANY_RANKS,
                          .operands = s->operands,
                          .arrays = s->arrays};
    for (uint32_t i = 0; i < row->operand_count; i++) {
        const hg_operand_info *info = &row->operands[i];
        const graph_operand *o = graph_operand_of(g, call, i);
        hg_inst in = {.type = call->type};
        if (!graph_is_array(info)) {
            uint32_t count = fill(g, o, info, hg_literal_type(&in, info), extents, words);
            s->operands[i] = (plan_operand){count ? words : NULL, count};
            words += count;
            continue;
        }
        uint32_t result = graph_result_of(g, call, i);
        if (result != GRAPH_NOT_SET)
            add_array(g, s, i, result,
                      (uint8_t)(info->access & (o ? HG_READ | HG_WRITE : HG_WRITE)));
        else if (o)
            add_array(g, s, i, o->number, info->access);
    }
    const plan_collective *of = plan_collective_of((hg_op)call->op);
    if (of->check) of->check(&s->call, &s->problem);
    if (s->problem.found) return;
    of->ranges(&s->call);
    for (uint32_t i = 0; i < s->call.array_count && !s->problem.found; i++)
        if (!plan_array_span(&s->arrays[i]))
            plan_refuse(&s->call, &s->problem, KIR_FAULT_BOUNDS, s->arrays[i].operand,
                        "an array of 2^63 bytes or more");
}

/* ---- the graph ---- */

static hg_status check_extent(const hg_graph *g, graph_extent e, const uint64_t *extents,
                              const char *what) {
    hg_text text = {0};
    if (extents[e] != UINT64_MAX) return HG_OK;
    graph_print_extent(&text, g, e);
    hg_status status = hg_fail(HG_ERROR_INVALID_ARGUMENT,
                               "%s: its extent %s is below 0, a division by 0, or 2^64 and more",
                               what, text.data ? text.data : "");
    hg_text_free(&text);
    return status;
}

static void print_numbers(hg_text *out, const graph_value *v, const uint64_t *extents) {
    hg_text_addf(out, "%s [", hg_type_name((hg_type)v->type));
    for (uint8_t d = 0; d < v->rank; d++)
        hg_text_addf(out, "%s%llu", d ? ", " : "", (unsigned long long)extents[v->extents[d]]);
    hg_text_addf(out, "]");
}

/* Elements of memory from its first to its last, both counted; UINT64_MAX: more than there are. */
static uint64_t span(const graph_value *v, const uint64_t *extents) {
    uint64_t last = 0;
    if (!v->strided || extents[v->elements] == 0) return extents[v->elements];
    for (uint8_t d = 0; d < v->rank; d++) {
        uint64_t far;
        if (!hg_mul_u64(extents[v->extents[d]] - 1, extents[v->strides[d]], &far) ||
            !hg_add_u64(last, far, &last))
            return UINT64_MAX;
    }
    return last == UINT64_MAX ? last : last + 1;
}

static hg_status check_value(const hg_graph *g, uint32_t number, const uint64_t *extents) {
    const graph_value *v = &g->values.data[number];
    const char *name = v->name ? v->name : "a value";
    uint64_t bytes, end;
    for (uint8_t d = 0; d < v->rank; d++) HG_TRY(check_extent(g, v->extents[d], extents, name));
    HG_TRY(check_extent(g, v->elements, extents, name));
    if (!hg_mul_u64(extents[v->elements], graph_type_bytes(v), &bytes) || bytes > INT64_MAX)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                       "%s has %llu elements of %s: more than any memory holds", name,
                       (unsigned long long)extents[v->elements], hg_type_name((hg_type)v->type));
    if (v->source != GRAPH_VIEW) return HG_OK;
    HG_TRY(check_extent(g, v->offset, extents, name));
    for (uint8_t d = 0; d < v->rank && v->strided; d++)
        HG_TRY(check_extent(g, v->strides[d], extents, name));
    const graph_value *of = &g->values.data[v->of];
    if (hg_add_u64(extents[v->offset], span(v, extents), &end) && end <= span(of, extents))
        return HG_OK;
    hg_text shape = {0}, whole = {0};
    print_numbers(&shape, v, extents);
    for (uint8_t d = 0; d < v->rank && v->strided; d++)
        hg_text_addf(&shape, "%s%llu%s", d ? ", " : " with strides (",
                     (unsigned long long)extents[v->strides[d]], d + 1 == v->rank ? ")" : "");
    print_numbers(&whole, of, extents);
    hg_status status = hg_fail(HG_ERROR_INVALID_ARGUMENT,
                               "%s is the %s from element %llu on of %s, which is %s", name,
                               shape.data ? shape.data : "", (unsigned long long)extents[v->offset],
                               of->name ? of->name : "a value", whole.data ? whole.data : "");
    hg_text_free(&shape);
    hg_text_free(&whole);
    return status;
}

/* The array of the instruction must lie in the value. What goes on to the end of its memory has as
 * much as there is. */
static hg_status check_array(const hg_graph *g, const graph_call *call, const graph_sized_call *s,
                             uint32_t i, const uint64_t *extents) {
    const plan_array *a = &s->arrays[i];
    const graph_value *v = &g->values.data[s->values[i]];
    uint64_t bytes = extents[v->elements] * graph_type_bytes(v),
             made = hg_type_size_bytes((hg_type)a->type);
    char text[160];
    for (uint8_t d = 0; d < a->rank; d++) made = plan_times(made, a->extents[d]);
    bool whole = !a->written || a->read || a->open || made == bytes; /* what it does not write would
                                                                        have no value */
    if (a->before == 0 && a->bytes <= bytes && whole) return HG_OK;
    hg_text shape = {0};
    print_numbers(&shape, v, extents);
    hg_status status = hg_fail(
        HG_ERROR_INVALID_ARGUMENT,
        "%s: %s is %s, which is %llu bytes; with these sizes %llu bytes expected",
        graph_call_text(g, call, text), hg_op_get((hg_op)call->op)->operands[a->operand].name,
        shape.data ? shape.data : "", (unsigned long long)bytes,
        (unsigned long long)(a->bytes <= bytes ? made : a->bytes));
    hg_text_free(&shape);
    return status;
}

/* What a call reads of its results must have contents: gemm with beta, for instance, adds to c. */
static hg_status check_instruction(const hg_graph *g, const graph_call *call,
                                   const uint64_t *extents) {
    graph_sized_call *s = hg_alloc(sizeof *s);
    char text[160];
    if (!s) return hg_fail_memory();
    graph_size_call(g, call, extents, s);
    hg_status status = HG_OK;
    if (s->problem.found)
        status = hg_fail(HG_ERROR_INVALID_ARGUMENT, "%s: %s", graph_call_text(g, call, text),
                         s->problem.message);
    for (uint32_t i = 0; i < s->call.array_count && status == HG_OK; i++)
        status = check_array(g, call, s, i, extents);
    hg_free(s);
    return status;
}

/* The extents of an array that are sizes of the call. */
static hg_status check_sizes(const hg_graph *g, const graph_call *call, const graph_shape *s,
                             const graph_value *v, const uint64_t *extents) {
    const hg_op_info *row = hg_op_get((hg_op)call->op);
    int many = graph_shape_many(s, v->rank);
    char text[160];
    for (uint32_t i = 0, at = 0; many >= 0 && i < s->count; i++) {
        const graph_shape_extent *e = &s->extents[i];
        const graph_operand *size = e->kind == GRAPH_SHAPE_SIZE
                                        ? graph_operand_of(g, call, e->operand)
                                        : NULL;
        uint64_t is = e->kind == GRAPH_SHAPE_SIZE ? extents[v->extents[at]] : 0;
        at += e->kind == GRAPH_SHAPE_MANY ? (uint32_t)many : 1;
        if (!size || extents[size->number] == is) continue;
        hg_text shape = {0};
        print_numbers(&shape, v, extents);
        hg_status status = hg_fail(HG_ERROR_INVALID_ARGUMENT, "%s: %s is %s, but %s is %llu",
                                   graph_call_text(g, call, text), row->operands[s->operand].name,
                                   shape.data ? shape.data : "", row->operands[e->operand].name,
                                   (unsigned long long)extents[size->number]);
        hg_text_free(&shape);
        return status;
    }
    return HG_OK;
}

/* The numbers by the table of shapes, for extents that only numbers show to differ. */
static hg_status check_pattern(const hg_graph *g, const graph_call *call, const uint64_t *extents) {
    const hg_op_info *row = hg_op_get((hg_op)call->op);
    const char *p = graph_shape_pattern((hg_op)call->op);
    graph_shape s;
    if (graph_has_leading(row, &g->operands.data[call->first_operand], call->operand_count))
        return HG_OK;
    while (graph_shape_next(row, &p, &s)) {
        const graph_operand *o = graph_operand_of(g, call, s.operand),
                            *flag = graph_operand_of(g, call, s.flag);
        if (!o || o->kind != GRAPH_ARRAY) continue;
        graph_shape_settle(&s, flag && flag->number, graph_operand_of(g, call, s.maybe));
        HG_TRY(check_sizes(g, call, &s, &g->values.data[o->number], extents));
    }
    return HG_OK;
}

static hg_status check_all(const hg_graph *g, const uint64_t *extents) {
    for (uint64_t i = 0; i < g->values.count; i++) HG_TRY(check_value(g, (uint32_t)i, extents));
    for (uint64_t i = 0; i < g->calls.count; i++) {
        const graph_call *call = &g->calls.data[i];
        if (call->program) continue;
        HG_TRY(check_pattern(g, call, extents));
        HG_TRY(check_instruction(g, call, extents));
    }
    return HG_OK;
}

hg_status graph_check(const hg_graph *g, const uint64_t *extents) {
    hg_status status = check_all(g, extents);
    if (status == HG_ERROR_INVALID_ARGUMENT) memcpy(hg_error_record()->code, "G01", 4);
    return status;
}
