/* The public functions that build graphs. Must not know: devices. */
#include "base/sized.h"
#include "graph/request.h"
#include "graph/strides.h"
#include <stdio.h>
#include <string.h>

/* An extent as callers write it: a number, or text as in a graph. */
static hg_status extent_of(hg_graph *g, const hg_dim *dim, graph_extent *e) {
    if (!dim->param) {
        *e = graph_number(g, dim->value);
        return *e == GRAPH_NOT_SET ? hg_error_record()->status : HG_OK;
    }
    return graph_read_extent(g, dim->param, e);
}

static hg_status shape_of(hg_graph *g, hg_type type, const hg_dim *dims, uint32_t rank,
                          graph_value *v) {
    if (type >= HG_TYPE_COUNT || (int)type < 0)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "type %d is none", (int)type);
    if (rank > PLAN_MAX_RANK)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%u extents, at most %d are allowed",
                       (unsigned)rank, PLAN_MAX_RANK);
    if (rank && !dims) return hg_null_argument("dims");
    v->type = (uint8_t)type;
    v->rank = (uint8_t)rank;
    for (uint32_t d = 0; d < rank; d++) HG_TRY(extent_of(g, &dims[d], &v->extents[d]));
    return HG_OK;
}

static hg_status check_value(const hg_graph *g, hg_value value) {
    if (value.number < g->values.count) return HG_OK;
    return hg_fail(HG_ERROR_INVALID_ARGUMENT, "value %u: the graph has %llu",
                   (unsigned)value.number, (unsigned long long)g->values.count);
}

hg_status hg_graph_extent(hg_graph *g, const char *name) {
    HG_ENTRY;
    if (!g || !name) return hg_null_argument(g ? "name" : "graph");
    return graph_add_symbol(g, name, strlen(name));
}

hg_status hg_graph_input(hg_graph *g, const char *name, hg_type type, const hg_dim *dims,
                         uint32_t rank, hg_value *value) {
    HG_ENTRY;
    if (!g || !name || !value) return hg_null_argument(!g ? "graph" : !name ? "name" : "value");
    graph_value v = {.source = GRAPH_INPUT};
    HG_TRY(shape_of(g, type, dims, rank, &v));
    return graph_add_value(g, &v, name, strlen(name), &value->number);
}

hg_status hg_graph_constant(hg_graph *g, const char *name, hg_type type, const hg_dim *dims,
                            uint32_t rank, const void *elements, hg_value *value) {
    HG_ENTRY;
    if (!g || !name || !value) return hg_null_argument(!g ? "graph" : !name ? "name" : "value");
    graph_value v = {.source = GRAPH_CONSTANT, .bytes = elements};
    HG_TRY(shape_of(g, type, dims, rank, &v));
    return graph_add_value(g, &v, name, strlen(name), &value->number);
}

/* A view of a value, without its shape. */
static hg_status begin_view(hg_graph *g, hg_value of, const hg_value *view, graph_value *v) {
    if (!g || !view) return hg_null_argument(g ? "view" : "graph");
    HG_TRY(check_value(g, of));
    *v = (graph_value){.source = GRAPH_VIEW,
                       .of = of.number,
                       .type = g->values.data[of.number].type,
                       .offset = graph_number(g, 0)};
    return v->offset == GRAPH_NOT_SET ? hg_error_record()->status : HG_OK;
}

static hg_status end_view(hg_graph *g, const graph_value *v, const char *name, hg_value *view) {
    return graph_add_value(g, v, name, name ? strlen(name) : 0, &view->number);
}

hg_status hg_graph_view(hg_graph *g, const char *name, hg_value of, hg_dim offset,
                        const hg_dim *dims, uint32_t rank, hg_value *view) {
    HG_ENTRY;
    graph_value v;
    HG_TRY(begin_view(g, of, view, &v));
    HG_TRY(shape_of(g, (hg_type)v.type, dims, rank, &v));
    HG_TRY(extent_of(g, &offset, &v.offset));
    HG_TRY(graph_check_view(g, v.of));
    return end_view(g, &v, name, view);
}

hg_status hg_graph_strided_view(hg_graph *g, const char *name, hg_value of, hg_dim offset,
                                const hg_dim *dims, const hg_dim *strides, uint32_t rank,
                                hg_value *view) {
    HG_ENTRY;
    graph_value v;
    HG_TRY(begin_view(g, of, view, &v));
    HG_TRY(shape_of(g, (hg_type)v.type, dims, rank, &v));
    HG_TRY(extent_of(g, &offset, &v.offset));
    if (rank && !strides) return hg_null_argument("strides");
    for (uint32_t d = 0; d < rank; d++) HG_TRY(extent_of(g, &strides[d], &v.strides[d]));
    HG_TRY(graph_set_strides(g, &v));
    return end_view(g, &v, name, view);
}

hg_status hg_graph_permuted(hg_graph *g, const char *name, hg_value of, const uint32_t *order,
                            uint32_t count, hg_value *view) {
    HG_ENTRY;
    graph_value v;
    graph_extent axes[PLAN_MAX_RANK];
    HG_TRY(begin_view(g, of, view, &v));
    if (count && !order) return hg_null_argument("order");
    if (count > PLAN_MAX_RANK)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%u axes, at most %d are allowed",
                       (unsigned)count, PLAN_MAX_RANK);
    for (uint32_t d = 0; d < count; d++)
        if ((axes[d] = graph_number(g, order[d])) == GRAPH_NOT_SET)
            return hg_error_record()->status;
    HG_TRY(graph_permute(g, of.number, axes, count, &v));
    return end_view(g, &v, name, view);
}

hg_status hg_graph_broadcast(hg_graph *g, const char *name, hg_value of, const hg_dim *dims,
                             uint32_t rank, hg_value *view) {
    HG_ENTRY;
    graph_value v;
    HG_TRY(begin_view(g, of, view, &v));
    HG_TRY(shape_of(g, (hg_type)v.type, dims, rank, &v));
    HG_TRY(graph_broadcast(g, of.number, &v));
    return end_view(g, &v, name, view);
}

/* ---- calls ---- */

/* Of tuples each begins with its length. */
static bool are_tuples(const hg_graph *g, const graph_operand *o) {
    uint32_t i = 0;
    while (i < o->number) {
        uint64_t length;
        if (!graph_is_number(g, g->items.data[o->first + i], &length) || length > o->number - i - 1)
            return false;
        i += 1 + (uint32_t)length;
    }
    return true;
}

static hg_status take_tuple(hg_graph *g, const hg_graph_arg *arg, graph_operand *o) {
    o->first = (uint32_t)g->items.count;
    for (uint32_t i = 0; i < arg->count; i++) {
        graph_extent e, *to;
        HG_TRY(extent_of(g, &arg->dims[i], &e));
        to = hg_vec_push(&g->items);
        if (!to) return hg_fail_memory();
        *to = e;
    }
    o->number = arg->count;
    if (o->kind != GRAPH_TUPLES || are_tuples(g, o)) return HG_OK;
    return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                   "%s: of tuples each begins with its length, as in 2, 1, 0, 2, 2, 1", arg->name);
}

static hg_status take_arg(hg_graph *g, graph_request *r, const hg_graph_arg *arg) {
    static const uint8_t KINDS[] = {
        [HG_GRAPH_ARRAY] = GRAPH_ARRAY,    [HG_GRAPH_SIZE] = GRAPH_COUNT,
        [HG_GRAPH_NUMBER] = GRAPH_LITERAL, [HG_GRAPH_WORD] = GRAPH_NAME,
        [HG_GRAPH_FLAG] = GRAPH_FLAG,      [HG_GRAPH_TUPLE] = GRAPH_TUPLE};
    static const char *const WORDS[] = {
        "an array", "a size",  "a number",         "the name of an operation",
        "a flag",   "a tuple", "a tuple of tuples"};
    const char *callee = graph_callee_name(r);
    if (!arg->name) return hg_null_argument("arg.name");
    uint32_t operand = graph_operand_named(r, arg->name, strlen(arg->name));
    if (operand == GRAPH_NOT_SET)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%s has no operand '%.100s'", callee, arg->name);
    if (graph_given(r, operand))
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%s: '%s' is given twice", callee, arg->name);
    graph_operand_kind kind = graph_operand_kind_of(r, operand);
    if ((size_t)arg->kind >= HG_COUNT_OF(KINDS) ||
        (KINDS[arg->kind] != kind && !(kind == GRAPH_TUPLES && arg->kind == HG_GRAPH_TUPLE)))
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%s: %s is %s", callee, arg->name, WORDS[kind]);
    bool needs_dims = arg->kind == HG_GRAPH_SIZE || (arg->kind == HG_GRAPH_TUPLE && arg->count);
    bool needs_text = arg->kind == HG_GRAPH_NUMBER || arg->kind == HG_GRAPH_WORD;
    if ((needs_dims && !arg->dims) || (needs_text && !arg->text))
        return hg_null_argument(needs_dims ? "arg.dims" : "arg.text");
    if (needs_text && !*arg->text)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%s: %s is empty", callee, arg->name);
    if (arg->kind == HG_GRAPH_TUPLE && arg->count > HG_MAX_TUPLE_ITEMS)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%s: %s has %u items, at most %d are allowed",
                       callee, arg->name, (unsigned)arg->count, HG_MAX_TUPLE_ITEMS);
    graph_operand *o = &r->operands[r->operand_count++];
    *o = (graph_operand){.operand = (uint8_t)operand, .kind = (uint8_t)kind};
    switch (arg->kind) {
    case HG_GRAPH_ARRAY: o->number = arg->value.number; return check_value(g, arg->value);
    case HG_GRAPH_SIZE: return extent_of(g, arg->dims, &o->number);
    case HG_GRAPH_FLAG: o->number = arg->flag != 0; return HG_OK;
    case HG_GRAPH_TUPLE: return take_tuple(g, arg, o);
    case HG_GRAPH_NUMBER:
        o->bytes = (const uint8_t *)arg->text;
        o->number = (uint32_t)strlen(arg->text);
        return HG_OK;
    default: return graph_read_word(r, operand, arg->text, strlen(arg->text), &o->number);
    }
}

/* Those with the name of an operand first, then the others in the order in which the call writes.
 */
static hg_status match(graph_request *r, const hg_graph_made *made, uint32_t count) {
    graph_result written[HG_MAX_PARAMS];
    bool taken[HG_MAX_PARAMS] = {false};
    HG_TRY(graph_match_results(r, count));
    memcpy(written, r->results, sizeof written);
    for (uint32_t i = 0; i < count; i++) {
        r->result_names[i] = made[i].name;
        r->result_lengths[i] = made[i].name ? strlen(made[i].name) : 0;
        if (!made[i].operand) continue;
        uint32_t operand = graph_operand_named(r, made[i].operand, strlen(made[i].operand)), at = 0;
        while (at < count && r->results[at].operand != operand) at++;
        if (operand == GRAPH_NOT_SET || at == count)
            return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%s makes nothing of '%.100s'",
                           graph_callee_name(r), made[i].operand);
        if (taken[at])
            return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%s: two results of '%.100s'",
                           graph_callee_name(r), made[i].operand);
        taken[at] = true;
    }
    for (uint32_t i = 0, next = 0; i < count; i++) {
        if (made[i].operand) {
            r->results[i].operand = (uint8_t)graph_operand_named(r, made[i].operand,
                                                                 strlen(made[i].operand));
            continue;
        }
        while (taken[next]) next++;
        r->results[i].operand = written[next++].operand;
    }
    return HG_OK;
}

static hg_status call(hg_graph *g, graph_request *r, const hg_graph_arg *args, uint32_t arg_count,
                      hg_graph_made *made, uint32_t made_count) {
    if ((arg_count && !args) || (made_count && !made))
        return hg_null_argument(args || !arg_count ? "made" : "args");
    if (arg_count > HG_MAX_PARAMS || made_count > HG_MAX_PARAMS)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%u operands, at most %d are allowed",
                       (unsigned)(arg_count > made_count ? arg_count : made_count), HG_MAX_PARAMS);
    for (uint32_t i = 0; i < arg_count; i++) HG_TRY(take_arg(g, r, &args[i]));
    HG_TRY(match(r, made, made_count));
    HG_TRY(graph_add_call(g, r));
    for (uint32_t i = 0; i < made_count; i++) made[i].value.number = r->results[i].value;
    return HG_OK;
}

hg_status hg_graph_call(hg_graph *g, const char *instruction, const hg_graph_arg *args,
                        uint32_t arg_count, hg_graph_made *made, uint32_t made_count) {
    HG_ENTRY;
    if (!g || !instruction) return hg_null_argument(g ? "instruction" : "graph");
    graph_request *r = hg_calloc(1, sizeof *r);
    if (!r) return hg_fail_memory();
    hg_status status = graph_find_callee(r, instruction, strlen(instruction));
    if (status == HG_OK) status = call(g, r, args, arg_count, made, made_count);
    hg_free(r);
    return status;
}

hg_status hg_graph_call_program(hg_graph *g, hg_program *program, const hg_graph_arg *args,
                                uint32_t arg_count, hg_graph_made *made, uint32_t made_count) {
    HG_ENTRY;
    if (!g || !program) return hg_null_argument(g ? "program" : "graph");
    HG_TRY(graph_keep_program(g, program));
    graph_request *r = hg_calloc(1, sizeof *r);
    if (!r) return hg_fail_memory();
    r->op = HG_OP_NONE;
    r->program = program;
    hg_status status = call(g, r, args, arg_count, made, made_count);
    hg_free(r);
    return status;
}

hg_status hg_graph_output(hg_graph *g, hg_value value, const char *name) {
    HG_ENTRY;
    if (!g) return hg_null_argument("graph");
    HG_TRY(check_value(g, value));
    const char *as = name ? name : g->values.data[value.number].name;
    if (!as)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "value %u has no name: give the output one",
                       (unsigned)value.number);
    return graph_add_output(g, value.number, as, strlen(as));
}

hg_status hg_graph_find(const hg_graph *g, const char *name, hg_value *value) {
    HG_ENTRY;
    if (!g || !name || !value) return hg_null_argument(!g ? "graph" : !name ? "name" : "value");
    value->number = graph_find_value(g, name, strlen(name));
    return value->number != GRAPH_NOT_SET
               ? HG_OK
               : hg_fail(HG_ERROR_INVALID_ARGUMENT, "there is no value '%.200s'", name);
}

/* ---- text ---- */

static const hg_sized READING = HG_SIZED(hg_graph_read_options, user, "zero it and set size");

static hg_status read(hg_graph *g, const char *text, size_t length,
                      const hg_graph_read_options *given, bool whole, hg_diagnostics *d) {
    hg_graph_read_options options = {.size = sizeof options};
    if (given) HG_TRY(hg_sized_take(&READING, given, &options));
    return graph_read(g, text ? text : "", length, &options, whole, d);
}

hg_status hg_graph_add_text(hg_graph *g, const char *text, size_t length,
                            const hg_graph_read_options *options, hg_diagnostics *d) {
    HG_ENTRY;
    if (!g || (!text && length)) return hg_null_argument(g ? "text" : "graph");
    return read(g, text, length, options, false, d);
}

hg_status hg_graph_read_text(const char *text, size_t length, const hg_graph_read_options *options,
                             hg_diagnostics *d, hg_graph **graph) {
    HG_ENTRY;
    if (!graph || (!text && length)) return hg_null_argument(graph ? "text" : "graph");
    hg_graph *g = hg_graph_create(NULL);
    if (!g) return hg_fail_memory();
    hg_status status = read(g, text, length, options, true, d);
    if (status == HG_OK)
        *graph = g;
    else
        hg_graph_release(g);
    return status;
}

hg_status hg_graph_print(const hg_graph *g, char **text, size_t *length) {
    HG_ENTRY;
    if (!g || !text) return hg_null_argument(g ? "text" : "graph");
    hg_text out = {0};
    graph_print(&out, g);
    if (out.failed || !out.data) {
        hg_text_free(&out);
        return hg_fail_memory();
    }
    *text = out.data;
    if (length) *length = out.length;
    return HG_OK;
}
