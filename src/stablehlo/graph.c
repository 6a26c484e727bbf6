/* Array graphs as StableHLO: values are tensors, calls are operations on them.
 * Must not know: what an instruction is (call.h), devices. */
#include "stablehlo/graph.h"
#include "hlo/origin.h"
#include "stablehlo/call.h"
#include "stablehlo/lanes.h"
#include "stablehlo/late.h"
#include <string.h>

typedef struct graph_printer {
    const hg_graph *g;
    const uint64_t *extents;
    const shlo_form *form;
    ten_module m;
    ten *values;    /* by number; name 0: not made so far */
    uint32_t *late; /* of each term: its place in the first argument; 0: the text has it */
    uint32_t late_count;
    ten told;          /* that argument */
    hg_text functions; /* of lanes */
    uint32_t lanes;    /* calls of them */
} graph_printer;

bool shlo_takes(const hg_graph *g, const shlo_form *form, uint32_t value) {
    const graph_value *v = &g->values.data[value];
    return v->source == GRAPH_INPUT ||
           (v->source == GRAPH_CONSTANT &&
            (form->driver ? !graph_has_source(g) : !v->bytes && !v->once));
}

static ten shape_of(const graph_printer *p, uint32_t number) {
    const graph_value *v = &p->g->values.data[number];
    ten t = {.type = v->type, .rank = v->rank};
    for (uint8_t d = 0; d < v->rank; d++) t.extents[d] = p->extents[v->extents[d]];
    return t;
}

/* ---- what is taken and given ---- */

/* Types that StableHLO has. */
static void check_value(graph_printer *p, uint32_t number) {
    const graph_value *v = &p->g->values.data[number];
    if (v->source == GRAPH_RESULT && v->call == GRAPH_NOT_SET) return;
    if (hg_type_size_bytes((hg_type)v->type) > 8)
        ten_refuse(&p->m, "%s: %s: StableHLO has no such numbers", v->name ? v->name : "a value",
                   hg_type_name((hg_type)v->type));
    if (p->extents[v->elements] == 0)
        ten_refuse(&p->m, "%s: an array without elements", v->name ? v->name : "a value");
}

static void take(graph_printer *p) {
    const char *comma = "";
    if (p->form->driver) {
        p->told = ten_new(&p->m, ten_shape(HG_TYPE_U64, 1, (uint64_t[]){p->late_count + 1}));
        hg_text_addf(p->m.out, "%%%u: ", (unsigned)p->told.name);
        ten_print_type(p->m.out, p->told);
        comma = ", ";
    }
    for (uint32_t i = 0; i < p->g->values.count; i++) {
        if (!shlo_takes(p->g, p->form, i)) continue;
        ten t = ten_new(&p->m, shape_of(p, i));
        hg_text_addf(p->m.out, "%s%%%u: ", comma, (unsigned)t.name);
        ten_print_type(p->m.out, t);
        p->values[i] = t;
        comma = ", ";
    }
}

/* ---- what a run tells ---- */

static hg_status find_late(graph_printer *p) {
    shlo_numbers *numbers = p->form->numbers;
    p->late = hg_calloc((size_t)p->g->terms.count + 1, sizeof *p->late);
    if (!p->late) return hg_fail_memory();
    if (!p->form->driver || !numbers) return HG_OK;
    HG_TRY(shlo_find_late(p->g, p->late, &p->late_count));
    for (uint32_t i = 0; i < p->late_count; i++)
        if (!hg_vec_push(numbers)) return hg_fail_memory();
    for (uint64_t i = 0; i < p->g->terms.count; i++)
        if (p->late[i]) numbers->data[p->late[i] - 1] = p->extents[i];
    return HG_OK;
}

/* Name 0: the text has it. */
static ten told(graph_printer *p, graph_extent e) {
    if (e == GRAPH_NOT_SET || !p->late[e]) return (ten){0};
    ten one = ten_slice(&p->m, p->told, 0, p->late[e], p->late[e] + 1, 1);
    return ten_convert(&p->m, ten_reshape(&p->m, one, 0, NULL), HG_TYPE_I64);
}

/* ---- values ---- */

/* So many elements, gaps included. */
static uint64_t span_of(ten shape, const uint64_t *strides) {
    uint64_t span = 1;
    if (!strides) return ten_count(shape);
    for (uint8_t d = 0; d < shape.rank; d++) span += (shape.extents[d] - 1) * strides[d];
    return span;
}

static ten view_of(graph_printer *p, uint32_t number) {
    const graph_value *v = &p->g->values.data[number];
    uint64_t strides[PLAN_MAX_RANK], *steps = v->strided ? strides : NULL;
    ten shape = shape_of(p, number), memory = p->values[v->of], at = told(p, v->offset);
    for (uint8_t d = 0; d < v->rank && v->strided; d++) strides[d] = p->extents[v->strides[d]];
    if (!at.name) return shlo_view(&p->m, memory, p->extents[v->offset], shape, steps);
    uint64_t count = ten_count(memory);
    memory = ten_slice_at(&p->m, ten_reshape(&p->m, memory, 1, &count), at, span_of(shape, steps));
    return shlo_view(&p->m, memory, 0, shape, steps);
}

/* One that is read: a view is made where it is read first. */
static ten value_of(graph_printer *p, uint32_t number) {
    uint32_t chain[64], count = 0, at = number;
    while (!p->values[at].name && p->g->values.data[at].source == GRAPH_VIEW && count < 64) {
        chain[count++] = at;
        at = p->g->values.data[at].of;
    }
    if (!p->values[at].name && p->g->values.data[at].source == GRAPH_CONSTANT &&
        p->g->values.data[at].bytes)
        p->values[at] = ten_bytes(&p->m, shape_of(p, at), p->g->values.data[at].bytes);
    if (!p->values[at].name) ten_refuse(&p->m, "a value that nothing has made");
    while (count-- > 0 && !p->m.unsupported[0]) p->values[chain[count]] = view_of(p, chain[count]);
    return p->values[number];
}

/* ---- calls ---- */

static void print_call(graph_printer *p, const graph_call *call) {
    shlo_operands o = {0};
    graph_sized_call *s = hg_alloc(sizeof *s);
    if (!s) {
        p->m.out->failed = true;
        return;
    }
    graph_size_call(p->g, call, p->extents, s);
    if (s->problem.found) ten_refuse(&p->m, "%s", s->problem.message);
    for (uint32_t i = 0; i < s->call.array_count && !s->problem.found; i++) {
        const graph_operand *before = graph_operand_of(p->g, call, s->arrays[i].operand);
        if (before && before->kind == GRAPH_ARRAY) o.memory[i] = value_of(p, before->number);
    }
    o.position = told(p, shlo_position_of(p->g, call));
    if (!p->m.unsupported[0] && shlo_print_call(&p->m, &s->call, &o))
        for (uint32_t i = 0; i < s->call.array_count; i++) {
            if (!s->arrays[i].written) continue;
            ten r = o.result[i], shape = shape_of(p, s->values[i]);
            if (!r.name)
                ten_refuse(&p->m, "a result that is not made");
            else if (r.type != shape.type)
                ten_refuse(&p->m, "a result of another type than its value");
            else
                p->values[s->values[i]] = ten_reshape(&p->m, r, shape.rank, shape.extents);
        }
    hg_free(s);
}

/* Lanes of a program. */
static hg_status print_lanes(graph_printer *p, const graph_call *call) {
    const hg_program *program = call->program;
    const size_t count = (size_t)program->param_count + 1;
    shlo_lanes l = {.program = program,
                    .numbers = hg_calloc(count, sizeof *l.numbers),
                    .known = hg_calloc(count, sizeof *l.known),
                    .arrays = hg_calloc(count, sizeof *l.arrays)};
    hg_status status = l.numbers && l.known && l.arrays ? HG_OK : hg_fail_memory();
    for (uint32_t i = 0; i < program->param_count && status == HG_OK; i++) {
        const hg_param *param = &program->params[i];
        const graph_operand *o = graph_operand_of(p->g, call, i);
        const uint32_t made = graph_result_of(p->g, call, i);
        const uint8_t *bytes = o && o->bytes ? o->bytes : param->default_bytes;
        const size_t size = hg_type_size_bytes((hg_type)param->type);
        if (o && o->kind == GRAPH_ARRAY) l.arrays[i] = value_of(p, o->number);
        if (!l.arrays[i].name && made != GRAPH_NOT_SET) l.arrays[i] = shape_of(p, made);
        if (param->kind != HG_PARAM_SCALAR) continue;
        l.known[i] = (o && o->kind == GRAPH_COUNT) || (bytes && size <= 8);
        if (o && o->kind == GRAPH_COUNT)
            l.numbers[i] = p->extents[o->number];
        else if (l.known[i])
            memcpy(&l.numbers[i], bytes, size);
    }
    if (status == HG_OK && !p->m.unsupported[0])
        status = shlo_print_lanes(&p->m, &l, p->lanes++, &p->functions);
    for (uint64_t i = 0; i < call->result_count && status == HG_OK && !p->m.unsupported[0]; i++) {
        const graph_result *r = &p->g->results.data[call->first_result + i];
        ten shape = shape_of(p, r->value), t = l.arrays[r->operand];
        if (!t.name) /* the program has written nothing */
            t = ten_is_float(shape.type) ? ten_number(&p->m, shape, 0)
                                         : ten_integer(&p->m, shape, 0);
        p->values[r->value] = ten_reshape(&p->m, t, shape.rank, shape.extents);
    }
    hg_free(l.numbers);
    hg_free(l.known);
    hg_free(l.arrays);
    return status;
}

static hg_status print_calls(graph_printer *p) {
    char text[160];
    for (uint64_t i = 0; i < p->g->calls.count; i++) {
        const graph_call *call = &p->g->calls.data[i];
        if (call->program && p->form->driver) /* they may take long, and be noted (graph_noted.h) */
            ten_refuse(&p->m, "lanes of a program");
        else if (call->program)
            HG_TRY(print_lanes(p, call));
        else if (graph_is_collective(call))
            ten_refuse(&p->m, "it is between ranks");
        else
            print_call(p, call);
        if (p->m.unsupported[0])
            return hg_fail(HG_ERROR_ISA, "no StableHLO for %s: %s",
                           graph_call_text(p->g, call, text), p->m.unsupported);
    }
    return HG_OK;
}

/* ---- the module ---- */

static void add_result(graph_printer *p, ten t, hg_text *names, hg_text *types) {
    hg_text_addf(names, "%s%%%u", names->length ? ", " : " ", (unsigned)t.name);
    hg_text_addf(types, "%s", types->length ? ", " : " : ");
    ten_print_type(types, t);
    if (names->failed || types->failed) p->m.out->failed = true;
}

static void give(graph_printer *p) {
    hg_text names = {0}, types = {0};
    ten bad = p->m.bad;
    for (uint64_t i = 0; i < p->g->outputs.count; i++) {
        uint32_t number = p->g->outputs.data[i].value;
        ten t = value_of(p, number);
        add_result(p, ten_made(&p->m, t), &names, &types);
    }
    if (bad.name) add_result(p, bad, &names, &types);
    hg_text_addf(p->m.out, "    return%s%s\n", names.data ? names.data : "",
                 types.data ? types.data : "");
    hg_text_free(&names);
    hg_text_free(&types);
}

/* The results' types, which stand in front of the body that says whether an index is looked at. */
static void print_results(const graph_printer *p, bool flag, hg_text *out) {
    const char *comma = "";
    hg_text_addf(out, ") -> (");
    for (uint64_t i = 0; i < p->g->outputs.count; i++) {
        hg_text_addf(out, "%s", comma);
        ten_print_type(out, shape_of(p, p->g->outputs.data[i].value));
        comma = ", ";
    }
    if (flag) hg_text_addf(out, "%stensor<i1>", comma);
    hg_text_addf(out, ") {\n");
}

static hg_status print_module(graph_printer *p, hg_text *out) {
    hg_text head = {0}, body = {0};
    p->m.out = &head;
    take(p);
    p->m.out = &body;
    if (p->told.name) p->m.zero = ten_slice(&p->m, p->told, 0, 0, 1, 1);
    hg_status status = print_calls(p);
    if (status == HG_OK) give(p);
    if (status == HG_OK && p->m.unsupported[0])
        status = hg_fail(HG_ERROR_ISA, "no StableHLO for %s: %s", p->g->name, p->m.unsupported);
    hg_text_addf(out, "module @%s {\n", p->g->name);
    hg_text_add(out, p->functions.data ? p->functions.data : "", p->functions.length);
    hg_text_addf(out, "  func.func public @main(%s", head.data ? head.data : "");
    print_results(p, p->m.bad.name, out);
    if (p->form->flagged) *p->form->flagged = p->m.bad.name != 0;
    hg_text_add(out, body.data ? body.data : "", body.length);
    hg_text_addf(out, "  }\n}\n");
    if (status == HG_OK && (head.failed || body.failed || p->functions.failed || out->failed))
        status = hg_fail_memory();
    hg_text_free(&head);
    hg_text_free(&body);
    return status;
}

/* ---- the graph in front of it ---- */

/* With a number for each extent. Nothing where the text of a graph leaves something out: elements
 * and files of constants, calls that are done once. */
hg_status shlo_print_origin(const hg_graph *g, const uint64_t *extents, hg_text *out) {
    bool whole = !g->once.count;
    for (uint64_t i = 0; i < g->calls.count; i++) whole = whole && !g->calls.data[i].program;
    for (uint64_t i = 0; i < g->values.count; i++)
        whole = whole && !g->values.data[i].bytes && !g->values.data[i].file;
    if (!whole) return HG_OK;
    hg_graph numbers = *g;
    numbers.symbols.count = numbers.programs.count = 0; /* no call is one */
    numbers.terms.data = hg_calloc((size_t)g->terms.count + 1, sizeof *numbers.terms.data);
    if (!numbers.terms.data) return hg_fail_memory();
    for (uint64_t i = 0; i < g->terms.count; i++) {
        numbers.terms.data[i].kind = HG_EXTENT_OP_NUMBER;
        numbers.terms.data[i].value = extents[i];
    }
    graph_print(out, &numbers);
    hg_free(numbers.terms.data);
    return out->failed ? hg_fail_memory() : HG_OK;
}

/* Of a module that is printed for people and other programs. */
static hg_status put_origin(const graph_printer *p, hg_text *out) {
    hg_text origin = {0}, module = *out;
    hg_status status = shlo_print_origin(p->g, p->extents, &origin);
    if (status == HG_OK && origin.length) {
        *out = (hg_text){0};
        hlo_origin_print(out, &origin, &module);
        hg_text_free(&module);
        if (out->failed) status = hg_fail_memory();
    }
    hg_text_free(&origin);
    return status;
}

hg_status shlo_print_graph(const hg_graph *g, const uint64_t *extents, const shlo_form *form,
                           hg_text *out) {
    if (form->driver && graph_has_source(g)) {
        if (form->flagged) *form->flagged = false;
        hg_text_add(out, g->source.text, (size_t)g->source.length);
        return out->failed ? hg_fail_memory() : HG_OK;
    }
    graph_printer p = {.g = g, .extents = extents, .form = form, .m = {.next = 1}};
    p.values = hg_calloc((size_t)g->values.count + 1, sizeof *p.values);
    hg_status status = p.values ? find_late(&p) : hg_fail_memory();
    for (uint32_t i = 0; i < g->values.count && status == HG_OK; i++) check_value(&p, i);
    if (p.m.unsupported[0] && status == HG_OK)
        status = hg_fail(HG_ERROR_ISA, "no StableHLO for %s: %s", g->name, p.m.unsupported);
    if (status == HG_OK) status = print_module(&p, out);
    if (status == HG_OK && !form->driver) status = put_origin(&p, out);
    hg_text_free(&p.functions);
    hg_free(p.values);
    hg_free(p.late);
    return status;
}
