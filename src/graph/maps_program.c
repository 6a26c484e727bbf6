/* The lane program of a group of maps: a lane loads its elements once, and each map rounds to its
 * type as it does alone.
 * Must not know: which maps are a group. */
#include "graph/maps.h"
#include "graph/strides.h"
#include <hologram/builder.h>
#include <stdio.h>
#include <string.h>

/* A formula among the maps. */
typedef struct part {
    graph_formula formula;
    graph_formula_part at;
    struct part *next;
} part;

typedef struct writer {
    hg_graph *g;
    hg_builder *b;
    uint32_t values[MOST_ARRAYS + MOST_MAPS]; /* in register VALUES + i */
    uint32_t count;
    const graph_stride_params *params;
    part *parts, **last; /* in their order */
} writer;
enum {
    LANE = 0,
    LENGTH = 1,
    ZERO = 2,
    ARRAYS = 4,
    INDEX = 12,
    PLACES = 16,
    VALUES = 20,
    FORMULAS = VALUES + MOST_ARRAYS + MOST_MAPS,
    NUMBERS = 200
};
_Static_assert(FORMULAS + GRAPH_FORMULA_REGISTERS <= NUMBERS &&
                   NUMBERS + GRAPH_MOST_STRIDE_PARAMS <= 252,
               "registers of parts of a program of maps");

static uint8_t register_of(const writer *w, uint32_t value) {
    uint32_t i = 0;
    while (i < w->count && w->values[i] != value) i++;
    return (uint8_t)(VALUES + i);
}

static hg_arg element(uint8_t array, uint8_t index, hg_type type) {
    return hg_addr_scale(hg_addr_buffer(array, index), (uint16_t)hg_type_size_bytes(type));
}

/* The register of a map's operand number i. */
static uint8_t input_of(const writer *w, const graph_call *c, uint32_t i) {
    return register_of(w, graph_whole(w->g, graph_operand_of(w->g, c, i)->number));
}

static void write_map(writer *w, const graph_call *c) {
    uint8_t a = input_of(w, c, 1), d;
    hg_type type = (hg_type)c->type;
    hg_op op = hg_opname_op(graph_map_name(w->g, c));
    w->values[w->count] = graph_map_result(w->g, c);
    d = (uint8_t)(VALUES + w->count++);
    if (op == HG_OP_NONE) { /* relu: 0 < x ? x : 0 */
        static const uint8_t zeros[8];
        hg_build_mov_imm(w->b, type, ZERO, hg_imm_bits(zeros));
        hg_build_setlt(w->b, type, 0, ZERO, a);
        hg_build_sel(w->b, type, d, 0, a, ZERO);
        return;
    }
    hg_arg args[3] = {hg_arg_reg(d), hg_arg_reg(a)};
    if (graph_map_inputs(c) == 2) args[2] = hg_arg_reg(input_of(w, c, 2));
    hg_builder_add(w->b, hg_op_get(op)->opcode, type, HG_TYPE_COUNT, args, graph_map_inputs(c) + 1);
}

/* ---- formulas ---- */

/* What the call gives a scalar, to its register. */
static void write_scalar(writer *w, const graph_call *c, uint32_t param, uint8_t to) {
    const hg_param *p = &c->program->params[param];
    const graph_operand *o = graph_operand_of(w->g, c, param);
    uint64_t number = 0;
    if (o && o->kind == GRAPH_COUNT && !graph_is_number(w->g, o->number, &number)) {
        hg_build_mov(w->b, HG_TYPE_U64, to, graph_number_register(o->number, w->params));
        return;
    }
    const void *bytes = !o                       ? p->default_bytes
                        : o->kind == GRAPH_COUNT ? (const uint8_t *)&number
                                                 : o->bytes;
    if (bytes) hg_build_mov_imm(w->b, (hg_type)p->type, to, hg_imm_bits(bytes));
}

static uint8_t array_of_input(const graph_maps *of, uint32_t value) {
    uint32_t i = 0;
    while (i < of->input_count && of->inputs[i] != value) i++;
    return (uint8_t)(ARRAYS + i);
}

static hg_status write_formula(writer *w, const graph_maps *of, const graph_call *c) {
    graph_member m;
    part *made = hg_calloc(1, sizeof *made);
    if (!made) return hg_fail_memory();
    *w->last = made;
    w->last = &made->next;
    if (!graph_member_of(w->g, c, &m, &made->formula))
        return hg_fail(HG_ERROR_INTERNAL, "a group of maps has a program that is no formula");
    graph_formula_part *at = &made->at;
    *at = (graph_formula_part){
        .program = c->program, .formula = &made->formula, .first = FORMULAS, .lane = LANE};
    for (uint32_t i = 0; i < m.count; i++) {
        bool own = m.own >> i & 1;
        if (own) at->loads |= UINT32_C(1) << m.params[i];
        at->of[m.params[i]] = own ? register_of(w, m.inputs[i]) : array_of_input(of, m.inputs[i]);
    }
    for (uint32_t i = 0; i < c->program->param_count; i++)
        if (c->program->params[i].kind == HG_PARAM_SCALAR)
            write_scalar(w, c, i, (uint8_t)(FORMULAS + c->program->params[i].reg));
    w->values[w->count] = graph_map_result(w->g, c);
    at->of[made->formula.result] = (uint8_t)(VALUES + w->count++);
    HG_TRY(graph_formula_open(w->b, c->program, &at->labels));
    graph_formula_write(w->b, at);
    return HG_OK;
}

/* Behind what lanes do by themselves. */
static void write_functions(writer *w) {
    bool any = false;
    for (const part *p = w->parts; p; p = p->next)
        any |= p->formula.end + 1 < p->at.program->inst_count;
    if (!any) return;
    hg_build_exit(w->b);
    for (const part *p = w->parts; p; p = p->next) graph_formula_write_functions(w->b, &p->at);
}

static void free_parts(writer *w) {
    while (w->parts) {
        part *next = w->parts->next;
        hg_free(w->parts->at.labels);
        hg_free(w->parts);
        w->parts = next;
    }
}

/* ---- the program ---- */

/* How the group's inputs that are views with strides are read; the others are read where the lane's
 * number says. */
typedef struct strided_inputs {
    graph_axes axes[MOST_STRIDED];
    uint32_t inputs[MOST_STRIDED]; /* their numbers among the group's */
    uint32_t count;
    graph_stride_params params;
    graph_grid grid; /* axes NULL: lanes are numbers alone */
} strided_inputs;

/* Numbers that formulas are given. */
static hg_status add_numbers(const hg_graph *g, const graph_maps *of, graph_stride_params *params) {
    for (uint32_t i = 0; i < of->count; i++) {
        const graph_call *c = &g->calls.data[of->calls[i]];
        for (uint32_t k = 0; k < c->operand_count && c->program; k++) {
            const graph_operand *o = &g->operands.data[c->first_operand + k];
            if (o->kind == GRAPH_COUNT && !graph_add_number(g, o->number, params))
                return hg_fail(HG_ERROR_INTERNAL, "too many numbers of a group of maps");
        }
    }
    return HG_OK;
}

static hg_status find_strided(hg_graph *g, const graph_maps *of, strided_inputs *s) {
    s->count = 0;
    s->params.count = 0;
    s->grid = (graph_grid){NULL, 0, 0};
    s->params.first = NUMBERS;
    for (uint32_t i = 0; i < of->input_count; i++) {
        if (!g->values.data[of->inputs[i]].strided) continue;
        HG_TRY(graph_axes_of(g, of->inputs[i], &s->axes[s->count]));
        if (!graph_add_stride_params(g, &s->axes[s->count], &s->params))
            return hg_fail(HG_ERROR_INTERNAL, "too many strides of a group of maps");
        s->inputs[s->count++] = i;
    }
    for (uint32_t i = 0; i < s->count && !s->grid.axes; i++) {
        graph_grid grid;
        if (graph_find_grid(g, &s->axes[i], &grid) && graph_add_grid_params(g, &grid, &s->params))
            s->grid = grid;
    }
    return add_numbers(g, of, &s->params);
}

static const graph_axes *axes_of_input(const strided_inputs *s, uint32_t input) {
    for (uint32_t i = 0; i < s->count; i++)
        if (s->inputs[i] == input) return &s->axes[i];
    return NULL;
}

static void declare(writer *w, const graph_maps *of, const strided_inputs *s,
                    const uint32_t *outputs, uint32_t output_count) {
    char name[16];
    hg_dim n = hg_dim_param("n");
    hg_builder_param_scalar(w->b, LENGTH, "n", HG_TYPE_U64);
    for (uint32_t i = 0; i < of->input_count + output_count; i++) {
        bool output = i >= of->input_count;
        uint32_t value = output ? outputs[i - of->input_count] : of->inputs[i];
        bool any = !output && (axes_of_input(s, i) || !of->loaded[i]);
        snprintf(name, sizeof name, "%c%u", output ? 'y' : 'x',
                 (unsigned)(output ? i - of->input_count : i));
        hg_builder_param_buffer(
            w->b, (uint8_t)(ARRAYS + i), name, (hg_type)w->g->values.data[value].type,
            output ? HG_PARAM_OUT : HG_PARAM_IN, any ? NULL : &n, any ? HG_NO_DIMS : 1);
    }
    char numbers[GRAPH_MOST_STRIDE_PARAMS][16];
    for (uint32_t i = 0; i < s->params.count; i++) {
        snprintf(numbers[i], sizeof numbers[i], "s%u", (unsigned)i);
        hg_builder_param_scalar(w->b, (uint8_t)(NUMBERS + i), numbers[i], HG_TYPE_U64);
    }
    if (s->grid.axes)
        graph_write_grid(w->b, w->g, &s->grid, &s->params, numbers);
    else
        hg_builder_lanes(w->b, &n, 1);
}

static void write_load(writer *w, const graph_maps *of, const strided_inputs *s, uint32_t input) {
    hg_type type = (hg_type)w->g->values.data[of->inputs[input]].type;
    const graph_axes *axes = axes_of_input(s, input);
    w->values[w->count++] = of->inputs[input];
    if (!of->loaded[input]) return;
    if (axes && s->grid.axes && graph_same_loops(axes, s->grid.axes))
        graph_write_index_by_places(w->b, w->g, axes, &s->params, PLACES, INDEX);
    else if (axes)
        graph_write_index(w->b, w->g, axes, &s->params, LANE, INDEX);
    hg_build_ldg(w->b, type, (uint8_t)(VALUES + input),
                 element((uint8_t)(ARRAYS + input), axes ? INDEX : LANE, type));
}

/* Inputs x0 …, outputs y0 …, of n elements each, but for views with strides and arrays that
 * formulas read otherwise; numbers s0 …. */
static hg_status write_program(hg_graph *g, const graph_maps *of, const strided_inputs *s,
                               const uint32_t *outputs, uint32_t output_count,
                               hg_program **program) {
    writer w = {.g = g, .b = hg_builder_create("maps"), .params = &s->params};
    hg_status status = HG_OK;
    w.last = &w.parts;
    if (!w.b) return hg_fail_memory();
    declare(&w, of, s, outputs, output_count);
    hg_build_rdid(w.b, LANE, "global_lane_id");
    if (s->grid.axes) graph_write_places(w.b, &s->grid, PLACES);
    for (uint32_t i = 0; i < of->input_count; i++) write_load(&w, of, s, i);
    for (uint32_t i = 0; i < of->count && status == HG_OK; i++) {
        const graph_call *c = &g->calls.data[of->calls[i]];
        if (c->program)
            status = write_formula(&w, of, c);
        else
            write_map(&w, c);
    }
    for (uint32_t i = 0; i < output_count; i++) {
        hg_type type = (hg_type)g->values.data[outputs[i]].type;
        hg_build_stg(w.b, type, element((uint8_t)(ARRAYS + of->input_count + i), LANE, type),
                     register_of(&w, outputs[i]));
    }
    write_functions(&w);
    if (status == HG_OK) status = hg_builder_build(w.b, NULL, program);
    hg_builder_destroy(w.b);
    free_parts(&w);
    return status;
}

hg_status graph_maps_call(hg_graph *g, const graph_maps *of, const uint32_t *outputs,
                          uint32_t count, graph_call *call) {
    hg_program *program = NULL;
    strided_inputs s;
    char name[32];
    HG_TRY(find_strided(g, of, &s));
    HG_TRY(write_program(g, of, &s, outputs, count, &program));
    snprintf(name, sizeof name, "maps%u", (unsigned)g->programs.count);
    *call = (graph_call){.op = HG_OP_NONE,
                         .type = HG_TYPE_COUNT,
                         .program = program,
                         .whole = true,
                         .made = true,
                         .line = g->calls.data[of->calls[of->count - 1]].line};
    HG_TRY(graph_add_program(g, program, name, strlen(name), NULL));
    graph_operand operands[1 + MOST_ARRAYS + GRAPH_MOST_STRIDE_PARAMS] = {
        {.operand = 0, .kind = GRAPH_COUNT, .number = of->elements}}; /* by parameters: n, x0 …, y0
                                                                         …, s0 … */
    graph_result results[MOST_ARRAYS];
    for (uint32_t i = 0; i < of->input_count; i++)
        operands[1 + i] = (graph_operand){
            .operand = (uint8_t)(1 + i), .kind = GRAPH_ARRAY, .number = of->inputs[i]};
    for (uint32_t i = 0; i < s.count; i++) operands[1 + s.inputs[i]].number = s.axes[i].base;
    for (uint32_t i = 0; i < s.params.count; i++)
        operands[1 + of->input_count + i] = (graph_operand){
            .operand = (uint8_t)(1 + of->input_count + count + i),
            .kind = GRAPH_COUNT,
            .number = s.params.extents[i]};
    for (uint32_t i = 0; i < count; i++)
        results[i] = (graph_result){(uint8_t)(1 + of->input_count + i), outputs[i]};
    return graph_add_parts(g, call, operands, 1 + of->input_count + s.params.count, results, count);
}
