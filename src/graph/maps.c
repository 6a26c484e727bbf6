/* Maps on the same elements become one lane program: an element is loaded once, goes through all of them in registers, each of which rounds it to its type as the
 * map does, and only what something else reads is stored.
 *
 * Maps that share a value are a group as long as nothing outside has read what the group makes; then, or at the end, the group becomes a call of a program
 * there. Two groups that a map reads become one.
 *
 * Requires: outputs that are results of calls. Provides: nothing that other passes need. */
#include "graph/passes.h"
#include "graph/strides.h"
#include "plan/steps/chain.h"
#include <hologram/builder.h>
#include <stdio.h>
#include <string.h>

enum { MOST_MAPS = 48, MOST_GROUPS = 8, MOST_ARRAYS = PLAN_CHAIN_ARRAYS, MOST_INPUTS = 2, MOST_STRIDED = 2 };

typedef struct group {
    uint32_t calls[MOST_MAPS];
    uint32_t count; /* 0: none */
    graph_extent elements;
    uint32_t inputs[MOST_MAPS * MOST_INPUTS]; /* values that it reads and does not make */
    uint32_t input_count;
    uint32_t first; /* the call that opened it: the oldest group goes first where there are too many */
} group;

typedef struct fusion {
    hg_graph *g;
    group groups[MOST_GROUPS];
    uint32_t *group_of;       /* of each value the group that makes it + 1; 0: none */
    uint32_t *reads;          /* of each value how many operands name it, and outputs and views */
    HG_VEC(graph_call) calls; /* as they will be */
} fusion;

static uint32_t inputs_of(const graph_call *c) { return c->op == HG_OP_PARALLEL_MAP ? 1 : c->op == HG_OP_PARALLEL_MAP_BINARY ? 2 : 0; }
static uint32_t result_of(const hg_graph *g, const graph_call *c) { return g->results.data[c->first_result].value; }
static hg_opname name_of(const hg_graph *g, const graph_call *c) { return (hg_opname)graph_operand_of(g, c, inputs_of(c) + 1)->number; }

static bool can_join(const hg_graph *g, const graph_call *c) {
    uint32_t inputs = c->program ? 0 : inputs_of(c);
    if (!inputs) return false;
    hg_opname name = name_of(g, c);
    hg_op op = hg_opname_op(name);
    graph_extent elements = graph_operand_of(g, c, inputs + 2)->number;
    if (plan_map_can_fault(kir_fn_of_name(name), (hg_type)c->type)) return false;
    if (op != HG_OP_NONE && !hg_op_allows_type(op, (hg_type)c->type)) return false;
    if (hg_type_size_bytes((hg_type)c->type) > 8) return false;
    if (g->values.data[result_of(g, c)].elements != elements) return false;
    for (uint32_t i = 1; i <= inputs; i++)
        if (g->values.data[graph_operand_of(g, c, i)->number].elements != elements) return false;
    return true;
}

/* ---- the program ---- */

typedef struct writer {
    const hg_graph *g;
    hg_builder *b;
    uint32_t values[MOST_MAPS * MOST_INPUTS + MOST_MAPS]; /* in register VALUES + i */
    uint32_t count;
} writer;
enum { LANE = 0, LENGTH = 1, ZERO = 2, ARRAYS = 4, INDEX = 12, VALUES = 20, NUMBERS = 200 };

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
    hg_op op = hg_opname_op(name_of(w->g, c));
    w->values[w->count] = result_of(w->g, c);
    d = (uint8_t)(VALUES + w->count++);
    if (op == HG_OP_NONE) { /* relu: 0 < x ? x : 0 */
        static const uint8_t zeros[8];
        hg_build_mov_imm(w->b, type, ZERO, hg_imm_bits(zeros));
        hg_build_setlt(w->b, type, 0, ZERO, a);
        hg_build_sel(w->b, type, d, 0, a, ZERO);
        return;
    }
    hg_arg args[3] = {hg_arg_reg(d), hg_arg_reg(a)};
    if (inputs_of(c) == 2) args[2] = hg_arg_reg(register_of(w, graph_operand_of(w->g, c, 2)->number));
    hg_builder_add(w->b, hg_op_get(op)->opcode, type, HG_TYPE_COUNT, args, inputs_of(c) + 1);
}

/* How the group's inputs that are views with strides are read; the others are read where the lane's number says. */
typedef struct strided_inputs {
    graph_axes axes[MOST_STRIDED];
    uint32_t inputs[MOST_STRIDED]; /* their numbers among the group's */
    uint32_t count;
    graph_stride_params params;
} strided_inputs;

static hg_status find_strided(hg_graph *g, const group *of, strided_inputs *s) {
    s->count = 0;
    s->params.count = 0;
    s->params.first = NUMBERS;
    for (uint32_t i = 0; i < of->input_count; i++) {
        if (!g->values.data[of->inputs[i]].strided) continue;
        HG_TRY(graph_axes_of(g, of->inputs[i], &s->axes[s->count]));
        if (!graph_add_stride_params(g, &s->axes[s->count], &s->params))
            return hg_fail(HG_ERROR_INTERNAL, "too many strides of a group of maps");
        s->inputs[s->count++] = i;
    }
    return HG_OK;
}

static const graph_axes *axes_of_input(const strided_inputs *s, uint32_t input) {
    for (uint32_t i = 0; i < s->count; i++)
        if (s->inputs[i] == input) return &s->axes[i];
    return NULL;
}

static void declare(writer *w, const group *of, const strided_inputs *s, const uint32_t *outputs, uint32_t output_count) {
    char name[16];
    hg_dim n = hg_dim_param("n");
    hg_builder_param_scalar(w->b, LENGTH, "n", HG_TYPE_U64);
    for (uint32_t i = 0; i < of->input_count + output_count; i++) {
        bool output = i >= of->input_count, strided = !output && axes_of_input(s, i);
        uint32_t value = output ? outputs[i - of->input_count] : of->inputs[i];
        snprintf(name, sizeof name, "%c%u", output ? 'y' : 'x', (unsigned)(output ? i - of->input_count : i));
        hg_builder_param_buffer(w->b, (uint8_t)(ARRAYS + i), name, (hg_type)w->g->values.data[value].type,
                                output ? HG_PARAM_OUT : HG_PARAM_IN, strided ? NULL : &n, strided ? HG_NO_DIMS : 1);
    }
    for (uint32_t i = 0; i < s->params.count; i++) {
        snprintf(name, sizeof name, "s%u", (unsigned)i);
        hg_builder_param_scalar(w->b, (uint8_t)(NUMBERS + i), name, HG_TYPE_U64);
    }
    hg_builder_lanes(w->b, &n, 1);
}

static void write_load(writer *w, const group *of, const strided_inputs *s, uint32_t input) {
    hg_type type = (hg_type)w->g->values.data[of->inputs[input]].type;
    const graph_axes *axes = axes_of_input(s, input);
    if (axes) graph_write_index(w->b, w->g, axes, &s->params, LANE, INDEX);
    hg_build_ldg(w->b, type, (uint8_t)(VALUES + input), element((uint8_t)(ARRAYS + input), axes ? INDEX : LANE, type));
    w->values[w->count++] = of->inputs[input];
}

/* Inputs x0 …, outputs y0 …, of n elements each, but for views with strides; numbers s0 …. */
static hg_status write_program(const hg_graph *g, const group *of, const strided_inputs *s, const uint32_t *outputs, uint32_t output_count,
                               hg_program **program) {
    writer w = {g, hg_builder_create("maps"), {0}, 0};
    if (!w.b) return hg_fail_memory();
    declare(&w, of, s, outputs, output_count);
    hg_build_rdid(w.b, LANE, "global_lane_id");
    for (uint32_t i = 0; i < of->input_count; i++) write_load(&w, of, s, i);
    for (uint32_t i = 0; i < of->count; i++) write_map(&w, &g->calls.data[of->calls[i]]);
    for (uint32_t i = 0; i < output_count; i++) {
        hg_type type = (hg_type)g->values.data[outputs[i]].type;
        hg_build_stg(w.b, type, element((uint8_t)(ARRAYS + of->input_count + i), LANE, type), register_of(&w, outputs[i]));
    }
    hg_status status = hg_builder_build(w.b, NULL, program);
    hg_builder_destroy(w.b);
    return status;
}

/* ---- groups ---- */

static bool push_call(fusion *f, const graph_call *c) {
    graph_call *to = hg_vec_push(&f->calls);
    if (to) *to = *c;
    return to != NULL;
}

/* A value of the group that something outside reads. */
static bool is_seen(const fusion *f, const group *of, uint32_t value) {
    uint32_t inside = 0;
    for (uint32_t i = 0; i < of->count; i++) {
        const graph_call *c = &f->g->calls.data[of->calls[i]];
        for (uint32_t k = 1; k <= inputs_of(c); k++) inside += graph_operand_of(f->g, c, k)->number == value;
    }
    return f->reads[value] > inside;
}

static hg_status make_call(fusion *f, group *of, const uint32_t *outputs, uint32_t count) {
    hg_graph *g = f->g;
    hg_program *program = NULL;
    strided_inputs s;
    char name[32];
    HG_TRY(find_strided(g, of, &s));
    HG_TRY(write_program(g, of, &s, outputs, count, &program));
    snprintf(name, sizeof name, "maps%u", (unsigned)g->programs.count);
    graph_call call = {.op = HG_OP_NONE,
                       .type = HG_TYPE_COUNT,
                       .program = program,
                       .whole = true,
                       .made = true,
                       .line = g->calls.data[of->calls[of->count - 1]].line};
    HG_TRY(graph_add_program(g, program, name, strlen(name), NULL));
    graph_operand operands[1 + MOST_ARRAYS + GRAPH_MOST_STRIDE_PARAMS] = {
        {.operand = 0, .kind = GRAPH_COUNT, .number = of->elements}}; /* by parameters: n, x0 …, y0 …, s0 … */
    graph_result results[MOST_ARRAYS];
    for (uint32_t i = 0; i < of->input_count; i++)
        operands[1 + i] = (graph_operand){.operand = (uint8_t)(1 + i), .kind = GRAPH_ARRAY, .number = of->inputs[i]};
    for (uint32_t i = 0; i < s.count; i++) operands[1 + s.inputs[i]].number = s.axes[i].base;
    for (uint32_t i = 0; i < s.params.count; i++)
        operands[1 + of->input_count + i] = (graph_operand){
            .operand = (uint8_t)(1 + of->input_count + count + i), .kind = GRAPH_COUNT, .number = s.params.extents[i]};
    for (uint32_t i = 0; i < count; i++) results[i] = (graph_result){(uint8_t)(1 + of->input_count + i), outputs[i]};
    HG_TRY(graph_add_parts(g, &call, operands, 1 + of->input_count + s.params.count, results, count));
    return push_call(f, &call) ? HG_OK : hg_fail_memory();
}

static uint32_t strided_in(const hg_graph *g, const group *of) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < of->input_count; i++) count += g->values.data[of->inputs[i]].strided;
    return count;
}

/* The group becomes a call here. One map of arrays stays what it is. */
static hg_status close_group(fusion *f, uint32_t number) {
    group *of = &f->groups[number];
    uint32_t outputs[MOST_MAPS], count = 0;
    hg_status status = HG_OK;
    for (uint32_t i = 0; i < of->count; i++) {
        uint32_t value = result_of(f->g, &f->g->calls.data[of->calls[i]]);
        f->group_of[value] = 0;
        if (is_seen(f, of, value)) outputs[count++] = value;
    }
    if ((of->count == 1 && !strided_in(f->g, of)) || of->input_count + count > MOST_ARRAYS) {
        for (uint32_t i = 0; i < of->count && status == HG_OK; i++)
            if (!push_call(f, &f->g->calls.data[of->calls[i]])) status = hg_fail_memory();
    } else if (count) {
        status = make_call(f, of, outputs, count);
    }
    of->count = of->input_count = 0;
    return status;
}

static uint32_t find_place(fusion *f, hg_status *status) {
    uint32_t oldest = 0;
    for (uint32_t i = 0; i < MOST_GROUPS; i++) {
        if (!f->groups[i].count) return i;
        if (f->groups[i].first < f->groups[oldest].first) oldest = i;
    }
    *status = close_group(f, oldest);
    return oldest;
}

static bool has_input(const group *of, uint32_t value) {
    for (uint32_t i = 0; i < of->input_count; i++)
        if (of->inputs[i] == value) return true;
    return false;
}

static void add_input(fusion *f, uint32_t number, uint32_t value) {
    group *of = &f->groups[number];
    if (f->group_of[value] != number + 1 && !has_input(of, value)) of->inputs[of->input_count++] = value;
}

/* Arrays that stay visible: at most so many, or the group is not joined. */
static uint32_t arrays_of(const fusion *f, const group *of) {
    uint32_t arrays = of->input_count;
    for (uint32_t i = 0; i < of->count; i++) arrays += is_seen(f, of, result_of(f->g, &f->g->calls.data[of->calls[i]]));
    return arrays;
}

static void add_to_group(fusion *f, uint32_t number, uint32_t call) {
    group *of = &f->groups[number];
    const graph_call *c = &f->g->calls.data[call];
    for (uint32_t i = 1; i <= inputs_of(c); i++) add_input(f, number, graph_operand_of(f->g, c, i)->number);
    of->calls[of->count++] = call;
    f->group_of[result_of(f->g, c)] = number + 1;
}

/* With those that the call adds. */
static uint32_t strided_with(const hg_graph *g, const group *of, const graph_call *c) {
    uint32_t count = strided_in(g, of);
    for (uint32_t k = 1; k <= inputs_of(c); k++) {
        uint32_t value = graph_operand_of(g, c, k)->number;
        count += g->values.data[value].strided && !has_input(of, value);
    }
    return count;
}

/* b's maps behind a's; false: that is too many. */
static bool unite(fusion *f, uint32_t a, uint32_t b) {
    group *to = &f->groups[a], *from = &f->groups[b];
    if (to->count + from->count >= MOST_MAPS || to->input_count + from->input_count > MOST_ARRAYS) return false;
    if (strided_in(f->g, to) + strided_in(f->g, from) > MOST_STRIDED) return false;
    for (uint32_t i = 0; i < from->count; i++) {
        to->calls[to->count++] = from->calls[i];
        f->group_of[result_of(f->g, &f->g->calls.data[from->calls[i]])] = a + 1;
    }
    for (uint32_t i = 0; i < from->input_count; i++) add_input(f, a, from->inputs[i]);
    if (from->first < to->first) to->first = from->first;
    from->count = from->input_count = 0;
    return true;
}

/* The open group of these elements that shares a value with the call, MOST_GROUPS: none. */
static uint32_t group_for(const fusion *f, const graph_call *c, graph_extent elements) {
    for (uint32_t k = 1; k <= inputs_of(c); k++) {
        uint32_t made = f->group_of[graph_operand_of(f->g, c, k)->number];
        if (made && f->groups[made - 1].elements == elements) return made - 1;
    }
    for (uint32_t i = 0; i < MOST_GROUPS; i++)
        for (uint32_t k = 1; k <= inputs_of(c) && f->groups[i].count && f->groups[i].elements == elements; k++)
            if (has_input(&f->groups[i], graph_operand_of(f->g, c, k)->number)) return i;
    return MOST_GROUPS;
}

/* A group that makes what the call reads, and cannot have the call, is made before it. */
static hg_status close_read(fusion *f, const graph_call *c, uint32_t except) {
    for (uint32_t k = 0; k < c->operand_count; k++) {
        const graph_operand *o = &f->g->operands.data[c->first_operand + k];
        if (o->kind != GRAPH_ARRAY) continue;
        for (uint32_t value = o->number;; value = f->g->values.data[value].of) {
            uint32_t made = f->group_of[value];
            if (made && made - 1 != except) HG_TRY(close_group(f, made - 1));
            if (f->g->values.data[value].source != GRAPH_VIEW) break;
        }
    }
    return HG_OK;
}

/* A view of what a group makes can be read when the group is done. */
static hg_status close_viewed(fusion *f, const graph_call *c) {
    for (uint32_t k = 1; k <= inputs_of(c); k++) {
        uint32_t value = graph_operand_of(f->g, c, k)->number, made = f->group_of[graph_base(f->g, value)];
        if (f->g->values.data[value].source == GRAPH_VIEW && made) HG_TRY(close_group(f, made - 1));
    }
    return HG_OK;
}

static bool is_full(const fusion *f, const group *of, const graph_call *c) {
    return of->count == MOST_MAPS || of->input_count + MOST_INPUTS > MOST_ARRAYS - 1 || arrays_of(f, of) >= MOST_ARRAYS ||
           strided_with(f->g, of, c) > MOST_STRIDED;
}

static hg_status take_map(fusion *f, uint32_t call) {
    const graph_call *c = &f->g->calls.data[call];
    HG_TRY(close_viewed(f, c));
    graph_extent elements = graph_operand_of(f->g, c, inputs_of(c) + 2)->number;
    uint32_t number = group_for(f, c, elements);
    hg_status status = HG_OK;
    for (uint32_t k = 1; k <= inputs_of(c) && number < MOST_GROUPS; k++) {
        uint32_t other = f->group_of[graph_operand_of(f->g, c, k)->number];
        if (other && other - 1 != number && f->groups[other - 1].elements == elements) (void)unite(f, number, other - 1);
    }
    HG_TRY(close_read(f, c, number));
    if (number < MOST_GROUPS && is_full(f, &f->groups[number], c)) {
        status = close_group(f, number);
        number = MOST_GROUPS;
    }
    if (number == MOST_GROUPS) {
        if (status == HG_OK) number = find_place(f, &status);
        if (status != HG_OK) return status;
        f->groups[number] = (group){.elements = elements, .first = call};
    }
    add_to_group(f, number, call);
    return HG_OK;
}

static void count_reads(fusion *f) {
    const hg_graph *g = f->g;
    for (uint64_t i = 0; i < g->calls.count; i++)
        for (uint32_t k = 0; k < g->calls.data[i].operand_count; k++) {
            const graph_operand *o = &g->operands.data[g->calls.data[i].first_operand + k];
            if (o->kind == GRAPH_ARRAY) f->reads[o->number]++;
        }
    for (uint64_t i = 0; i < g->values.count; i++)
        if (g->values.data[i].source == GRAPH_VIEW) f->reads[g->values.data[i].of]++;
    for (uint64_t i = 0; i < g->outputs.count; i++) f->reads[g->outputs.data[i].value]++;
}

/* The calls are the new ones, or after a failure what they were. */
static void finish(fusion *f, hg_status status) {
    hg_graph *g = f->g;
    if (status != HG_OK) {
        hg_vec_free(&f->calls);
        return;
    }
    hg_vec_free(&g->calls);
    g->calls.data = f->calls.data;
    g->calls.count = f->calls.count;
    g->calls.capacity = f->calls.capacity;
    graph_number_results(g);
}

hg_status graph_pass_maps(hg_graph *g) {
    fusion f = {.g = g};
    f.group_of = hg_calloc((size_t)(2 * g->values.count + 2), sizeof *f.group_of);
    hg_status status = f.group_of ? HG_OK : hg_fail_memory();
    f.reads = f.group_of ? f.group_of + g->values.count + 1 : NULL;
    if (status == HG_OK) count_reads(&f);
    uint64_t calls = g->calls.count;
    for (uint32_t i = 0; i < calls && status == HG_OK; i++) {
        if (can_join(g, &g->calls.data[i])) {
            status = take_map(&f, i);
            continue;
        }
        status = close_read(&f, &g->calls.data[i], MOST_GROUPS);
        if (status == HG_OK && !push_call(&f, &g->calls.data[i])) status = hg_fail_memory();
    }
    for (uint32_t i = 0; i < MOST_GROUPS && status == HG_OK; i++)
        if (f.groups[i].count) status = close_group(&f, i);
    finish(&f, status);
    hg_free(f.group_of);
    return status;
}

/* ---- views with strides ---- */

static bool is_strided(const hg_graph *g, const graph_operand *o) { return o->kind == GRAPH_ARRAY && g->values.data[o->number].strided; }

static bool reads_strided(const hg_graph *g, const graph_call *c) {
    for (uint32_t k = 0; k < c->operand_count; k++)
        if (is_strided(g, &g->operands.data[c->first_operand + k])) return true;
    return false;
}

/* Whether a lane program can be what the call is: a copy of any type. */
bool graph_reads_views(const hg_graph *g, const graph_call *c) {
    if (can_join(g, c)) return true;
    return !c->program && c->op == HG_OP_PARALLEL_MAP && hg_opname_op(name_of(g, c)) == HG_OP_MOV;
}

hg_status graph_make_strided_maps(hg_graph *g) {
    fusion f = {.g = g};
    group *one = &f.groups[0];
    hg_status status = HG_OK;
    uint64_t calls = g->calls.count;
    for (uint32_t i = 0; i < calls && status == HG_OK; i++) {
        const graph_call *c = &g->calls.data[i];
        if (!reads_strided(g, c)) {
            if (!push_call(&f, c)) status = hg_fail_memory();
            continue;
        }
        uint32_t result = result_of(g, c);
        *one = (group){.calls = {i}, .count = 1, .elements = g->values.data[result].elements};
        for (uint32_t k = 1; k <= inputs_of(c); k++) {
            uint32_t value = graph_operand_of(g, c, k)->number;
            if (!has_input(one, value)) one->inputs[one->input_count++] = value;
        }
        status = make_call(&f, one, &result, 1);
    }
    finish(&f, status);
    return status;
}
