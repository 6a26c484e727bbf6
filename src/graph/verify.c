/* The rules of a graph, which every pass keeps. Must not know: passes, devices. */
#include "graph/graph.h"
#include <stdarg.h>
#include <stdio.h>

typedef struct verifier {
    const hg_graph *g;
    uint8_t *made; /* by value: it is there at this point of the calls */
    char text[160];
} verifier;

HG_PRINTF(3, 4)
static hg_status broken(verifier *v, const graph_call *call, const char *format, ...) {
    char words[120];
    va_list list;
    va_start(list, format);
    (void)vsnprintf(words, sizeof words, format, list);
    va_end(list);
    return hg_fail(HG_ERROR_INTERNAL, "%s%s%s", call ? graph_call_text(v->g, call, v->text) : "",
                   call ? ": " : "", words);
}

/* A value can be read: it was made, or it is part of one that was. */
static hg_status check_read(verifier *v, const graph_call *call, uint32_t value) {
    for (uint64_t steps = 0; value < v->g->values.count && steps <= v->g->values.count; steps++) {
        const graph_value *at = &v->g->values.data[value];
        if (at->source != GRAPH_VIEW)
            return v->made[value]
                       ? HG_OK
                       : broken(v, call, "value %u is read before it is made", (unsigned)value);
        value = at->of;
    }
    return broken(v, call, "value %u is not there", (unsigned)value);
}

static hg_status check_operand(verifier *v, const graph_call *call, const graph_operand *o) {
    const hg_graph *g = v->g;
    switch ((graph_operand_kind)o->kind) {
    case GRAPH_ARRAY: return check_read(v, call, o->number);
    case GRAPH_COUNT:
        return o->number < g->terms.count
                   ? HG_OK
                   : broken(v, call, "there is no extent %u", (unsigned)o->number);
    case GRAPH_TUPLE:
    case GRAPH_TUPLES:
        return (uint64_t)o->first + o->number <= g->items.count
                   ? HG_OK
                   : broken(v, call, "a tuple ends behind all others");
    case GRAPH_LITERAL: return o->bytes ? HG_OK : broken(v, call, "a literal without bytes");
    default: return HG_OK;
    }
}

static hg_status check_result(verifier *v, uint32_t number, const graph_result *r) {
    const graph_call *call = &v->g->calls.data[number];
    if (r->value >= v->g->values.count)
        return broken(v, call, "value %u is not there", (unsigned)r->value);
    const graph_value *made = &v->g->values.data[r->value];
    if (made->source != GRAPH_RESULT || made->call != number)
        return broken(v, call, "it makes value %u, which says otherwise", (unsigned)r->value);
    if (v->made[r->value]) return broken(v, call, "value %u is made twice", (unsigned)r->value);
    v->made[r->value] = 1;
    return HG_OK;
}

static hg_status check_call(verifier *v, uint32_t number) {
    const hg_graph *g = v->g;
    const graph_call *call = &g->calls.data[number];
    if ((uint64_t)call->first_operand + call->operand_count > g->operands.count ||
        (uint64_t)call->first_result + call->result_count > g->results.count)
        return broken(v, NULL, "call %u has parts that are not there", (unsigned)number);
    for (uint32_t i = 0; i < call->operand_count; i++) {
        const graph_operand *o = &g->operands.data[call->first_operand + i];
        if (i && o[-1].operand >= o->operand)
            return broken(v, call, "operands are not in their order");
        HG_TRY(check_operand(v, call, o));
    }
    for (uint32_t i = 0; i < call->result_count; i++)
        HG_TRY(check_result(v, number, &g->results.data[call->first_result + i]));
    return HG_OK;
}

static hg_status check_all(verifier *v) {
    const hg_graph *g = v->g;
    for (uint32_t i = 0; i < g->values.count; i++) {
        const graph_value *value = &g->values.data[i];
        if (value->source == GRAPH_RESULT && value->takes != GRAPH_NOT_SET &&
            value->takes >= g->values.count)
            return broken(v, NULL, "value %u takes over value %u, which is not there", (unsigned)i,
                          (unsigned)value->takes);
        v->made[i] = value->source == GRAPH_INPUT || value->source == GRAPH_CONSTANT;
    }
    for (uint32_t i = 0; i < g->calls.count; i++) HG_TRY(check_call(v, i));
    for (uint64_t i = 0; i < g->outputs.count; i++)
        HG_TRY(check_read(v, NULL, g->outputs.data[i].value));
    return HG_OK;
}

hg_status graph_verify(const hg_graph *g) {
    verifier v = {.g = g, .made = hg_calloc((size_t)g->values.count + 1, 1)};
    hg_status status = v.made ? check_all(&v) : hg_fail_memory();
    hg_free(v.made);
    return status;
}
