/* A graph as text, which read.c reads back. Values without a name get one of the form vN. Must not
 * know: devices. */
#include "graph/graph.h"
#include <stdio.h>
#include <string.h>

/* A value without a name has one in the text that nothing else has. */
static void print_name(hg_text *out, const hg_graph *g, uint32_t value) {
    const char *name = g->values.data[value].name;
    char own[HG_MAX_IDENT_BYTES];
    size_t length = (size_t)snprintf(own, sizeof own, "v%u", (unsigned)value);
    while (!name && length + 1 < sizeof own &&
           (graph_find_value(g, own, length) != GRAPH_NOT_SET ||
            graph_find_symbol(g, own, length) != GRAPH_NOT_SET)) {
        own[length++] = '_';
        own[length] = 0;
    }
    hg_text_addf(out, "%s", name ? name : own);
}

static void print_items(hg_text *out, const hg_graph *g, const graph_operand *o) {
    uint64_t length;
    hg_text_addf(out, "(");
    for (uint32_t i = 0; i < o->number; i++) {
        if (i) hg_text_addf(out, ", ");
        if (o->kind == GRAPH_TUPLE) {
            graph_print_extent(out, g, g->items.data[o->first + i]);
            continue;
        }
        if (!graph_is_number(g, g->items.data[o->first + i], &length)) break;
        hg_text_addf(out, "(");
        for (uint64_t k = 0; k < length; k++) {
            if (k) hg_text_addf(out, ", ");
            graph_print_extent(out, g, g->items.data[o->first + ++i]);
        }
        hg_text_addf(out, ")");
    }
    hg_text_addf(out, ")");
}

static void print_operand(hg_text *out, const hg_graph *g, const graph_call *call,
                          const graph_operand *o) {
    const hg_op_info *row = call->program ? NULL : hg_op_get((hg_op)call->op);
    hg_inst in = {.type = call->type};
    hg_text_addf(
        out, "%s=", row ? row->operands[o->operand].name : call->program->params[o->operand].name);
    switch ((graph_operand_kind)o->kind) {
    case GRAPH_ARRAY: print_name(out, g, o->number); break;
    case GRAPH_COUNT: graph_print_extent(out, g, o->number); break;
    case GRAPH_NAME: hg_text_addf(out, "%s", hg_opname_name((hg_opname)o->number)); break;
    case GRAPH_FLAG: hg_text_addf(out, o->number ? "true" : "false"); break;
    case GRAPH_LITERAL:
        hg_print_literal(out,
                         row ? hg_literal_type(&in, &row->operands[o->operand])
                             : (hg_type)call->program->params[o->operand].type,
                         o->bytes);
        break;
    default: print_items(out, g, o); break;
    }
}

static void print_call(hg_text *out, const hg_graph *g, const graph_call *call) {
    for (uint32_t i = 0; i < call->result_count; i++) {
        uint32_t value = g->results.data[call->first_result + i].value;
        hg_text_addf(out, i ? ", " : "");
        print_name(out, g, value);
        hg_text_addf(out, " ");
        graph_print_shape(out, g, &g->values.data[value]);
        graph_print_place(out, g, &g->values.data[value].place);
    }
    if (call->program) {
        for (uint64_t i = 0; i < g->programs.count; i++)
            if (g->programs.data[i].program == call->program) {
                hg_text_addf(out, " = @%s", g->programs.data[i].name);
                break;
            }
    } else {
        hg_text_addf(out, " = %s.%s", hg_op_get((hg_op)call->op)->text,
                     hg_type_name((hg_type)call->type));
    }
    for (uint32_t i = 0; i < call->operand_count; i++) {
        hg_text_addf(out, i ? ", " : " ");
        print_operand(out, g, call, &g->operands.data[call->first_operand + i]);
    }
    bool with = call->together && call > g->calls.data && call[-1].together == call->together;
    hg_text_addf(out, "%s\n", with ? " ; with the call before" : "");
}

static void print_value(hg_text *out, const hg_graph *g, uint32_t number) {
    const graph_value *v = &g->values.data[number];
    static const char *const WORDS[] = {
        [GRAPH_INPUT] = ".input", [GRAPH_CONSTANT] = ".constant", [GRAPH_VIEW] = ".view"};
    uint64_t offset;
    hg_text_addf(out, "%s ", WORDS[v->source]);
    print_name(out, g, number);
    hg_text_addf(out, " ");
    if (v->source == GRAPH_VIEW) {
        hg_text_addf(out, "= ");
        print_name(out, g, v->of);
        if (!graph_is_number(g, v->offset, &offset) || offset) {
            hg_text_addf(out, " + ");
            graph_print_extent(out, g, v->offset);
        }
        hg_text_addf(out, " ");
    }
    if (v->strided) {
        hg_text_addf(out, "strides (");
        for (uint8_t d = 0; d < v->rank; d++) {
            if (d) hg_text_addf(out, ", ");
            graph_print_extent(out, g, v->strides[d]);
        }
        hg_text_addf(out, ") ");
    }
    graph_print_shape(out, g, v);
    graph_print_place(out, g, &v->place);
    if (v->file) hg_text_addf(out, " \"%s\"", v->file);
    hg_text_addf(out, "\n");
}

/* A view that stands behind the call that reads it, as passes add them, comes before it. */
static void print_views(hg_text *out, const hg_graph *g, uint32_t value, uint8_t *printed) {
    const graph_value *v = &g->values.data[value];
    if (v->source != GRAPH_VIEW || printed[value]) return;
    print_views(out, g, v->of, printed);
    print_value(out, g, value);
    printed[value] = 1;
}

static void print_next(hg_text *out, const hg_graph *g, const graph_call *call, uint8_t *printed) {
    for (uint32_t k = 0; k < call->operand_count; k++) {
        const graph_operand *o = &g->operands.data[call->first_operand + k];
        if (o->kind == GRAPH_ARRAY) print_views(out, g, o->number, printed);
    }
    print_call(out, g, call);
}

/* A view of what no call makes any more. */
static bool is_gone(const hg_graph *g, uint32_t value) {
    const graph_value *base = &g->values.data[graph_base(g, value)];
    return base->source == GRAPH_RESULT && base->call == GRAPH_NOT_SET;
}

/* Values stand where they are declared: behind the calls before them. */
static void print_body(hg_text *out, const hg_graph *g, uint8_t *printed) {
    uint64_t done = 0;
    for (uint32_t i = 0; i < g->values.count; i++) {
        const graph_value *v = &g->values.data[i];
        if (v->source != GRAPH_RESULT && !printed[i] && !is_gone(g, i)) {
            print_value(out, g, i);
            printed[i] = 1;
        }
        while (v->source == GRAPH_RESULT && v->call != GRAPH_NOT_SET && done <= v->call)
            print_next(out, g, &g->calls.data[done++], printed);
    }
    while (done < g->calls.count) print_next(out, g, &g->calls.data[done++], printed);
}

void graph_print(hg_text *out, const hg_graph *g) {
    uint8_t *printed = hg_calloc((size_t)g->values.count + 1, 1);
    hg_text_addf(out, ".graph 1\n.name %s\n", g->name);
    for (uint64_t i = 0; i < g->symbols.count; i++)
        hg_text_addf(out, ".extent %s\n", g->symbols.data[i]);
    for (uint64_t i = 0; i < g->programs.count; i++)
        hg_text_addf(out, ".program %s \"%s%s\"\n", g->programs.data[i].name,
                     g->programs.data[i].file ? g->programs.data[i].file : g->programs.data[i].name,
                     g->programs.data[i].file ? "" : ".atlas");
    if (printed)
        print_body(out, g, printed);
    else
        out->failed = true;
    hg_free(printed);
    for (uint64_t i = 0; i < g->outputs.count; i++) {
        hg_text_addf(out, ".output ");
        const graph_output *o = &g->outputs.data[i];
        const char *own = g->values.data[o->value].name;
        if (!own || strcmp(own, o->name) != 0) hg_text_addf(out, "%s = ", o->name);
        print_name(out, g, o->value);
        hg_text_addf(out, "\n");
    }
}
