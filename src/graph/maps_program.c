/* The lane program of a group of maps: a lane loads its elements once, and each map rounds to its
 * type as it does alone.
 * Must not know: which maps are a group. */
#include "graph/maps.h"
#include "graph/strides.h"
#include <hologram/builder.h>
#include <stdio.h>
#include <string.h>

typedef struct writer {
    const hg_graph *g;
    hg_builder *b;
    uint32_t values[MOST_MAPS * MOST_INPUTS + MOST_MAPS]; /* in register VALUES + i */
    uint32_t count;
} writer;
enum {
    LANE = 0,
    LENGTH = 1,
    ZERO = 2,
    ARRAYS = 4,
    INDEX = 12,
    PLACES = 16,
    VALUES = 20,
    NUMBERS = 200
};

static uint8_t register_of(const writer *w, uint32_t value) {
    uint32_t i = 0;
    while (i < w->count && w->values[i] != value) i++;
    return (uint8_t)(VALUES + i);
}

static hg_arg element(uint8_t array, uint8_t index, hg_type type) {
    return hg_addr_scale(hg_addr_buffer(array, index), (uint16_t)hg_type_size_bytes(type));
}

static void write_map(writer *w, const graph_call *c) {
    uint8_t a = register_of(w, graph_operand_of(w->g, c, 1)->number), d;
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
    if (graph_map_inputs(c) == 2)
        args[2] = hg_arg_reg(register_of(w, graph_operand_of(w->g, c, 2)->number));
    hg_builder_add(w->b, hg_op_get(op)->opcode, type, HG_TYPE_COUNT, args, graph_map_inputs(c) + 1);
}

/* How the group's inputs that are views with strides are read; the others are read where the lane's
 * number says. */
typedef struct strided_inputs {
    graph_axes axes[MOST_STRIDED];
    uint32_t inputs[MOST_STRIDED]; /* their numbers among the group's */
    uint32_t count;
    graph_stride_params params;
    graph_grid grid; /* axes NULL: lanes are numbers alone */
} strided_inputs;

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
    return HG_OK;
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
        bool output = i >= of->input_count, strided = !output && axes_of_input(s, i);
        uint32_t value = output ? outputs[i - of->input_count] : of->inputs[i];
        snprintf(name, sizeof name, "%c%u", output ? 'y' : 'x',
                 (unsigned)(output ? i - of->input_count : i));
        hg_builder_param_buffer(
            w->b, (uint8_t)(ARRAYS + i), name, (hg_type)w->g->values.data[value].type,
            output ? HG_PARAM_OUT : HG_PARAM_IN, strided ? NULL : &n, strided ? HG_NO_DIMS : 1);
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
    if (axes && s->grid.axes && graph_same_loops(axes, s->grid.axes))
        graph_write_index_by_places(w->b, w->g, axes, &s->params, PLACES, INDEX);
    else if (axes)
        graph_write_index(w->b, w->g, axes, &s->params, LANE, INDEX);
    hg_build_ldg(w->b, type, (uint8_t)(VALUES + input),
                 element((uint8_t)(ARRAYS + input), axes ? INDEX : LANE, type));
    w->values[w->count++] = of->inputs[input];
}

/* Inputs x0 …, outputs y0 …, of n elements each, but for views with strides; numbers s0 …. */
static hg_status write_program(const hg_graph *g, const graph_maps *of, const strided_inputs *s,
                               const uint32_t *outputs, uint32_t output_count,
                               hg_program **program) {
    writer w = {g, hg_builder_create("maps"), {0}, 0};
    if (!w.b) return hg_fail_memory();
    declare(&w, of, s, outputs, output_count);
    hg_build_rdid(w.b, LANE, "global_lane_id");
    if (s->grid.axes) graph_write_places(w.b, &s->grid, PLACES);
    for (uint32_t i = 0; i < of->input_count; i++) write_load(&w, of, s, i);
    for (uint32_t i = 0; i < of->count; i++) write_map(&w, &g->calls.data[of->calls[i]]);
    for (uint32_t i = 0; i < output_count; i++) {
        hg_type type = (hg_type)g->values.data[outputs[i]].type;
        hg_build_stg(w.b, type, element((uint8_t)(ARRAYS + of->input_count + i), LANE, type),
                     register_of(&w, outputs[i]));
    }
    hg_status status = hg_builder_build(w.b, NULL, program);
    hg_builder_destroy(w.b);
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
