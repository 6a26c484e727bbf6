/* What passes do to a graph. Must not know: which pass. */
#include "graph/passes.h"
#include <hologram/builder.h>
#include <stdio.h>
#include <string.h>

void graph_rename(hg_graph *g, const uint32_t *map) {
    for (uint64_t i = 0; i < g->operands.count; i++)
        if (g->operands.data[i].kind == GRAPH_ARRAY)
            g->operands.data[i].number = map[g->operands.data[i].number];
    for (uint64_t i = 0; i < g->values.count; i++)
        if (g->values.data[i].source == GRAPH_VIEW)
            g->values.data[i].of = map[g->values.data[i].of];
    for (uint64_t i = 0; i < g->outputs.count; i++)
        g->outputs.data[i].value = map[g->outputs.data[i].value];
}

void graph_remove_calls(hg_graph *g, const uint8_t *gone) {
    uint64_t kept = 0;
    for (uint64_t i = 0; i < g->calls.count; i++) {
        if (gone[i]) continue;
        g->calls.data[kept++] = g->calls.data[i];
    }
    g->calls.count = kept;
    graph_number_results(g);
}

void graph_number_results(hg_graph *g) {
    for (uint64_t i = 0; i < g->values.count; i++) g->values.data[i].call = GRAPH_NOT_SET;
    for (uint32_t i = 0; i < g->calls.count; i++)
        for (uint32_t k = 0; k < g->calls.data[i].result_count; k++)
            g->values.data[g->results.data[g->calls.data[i].first_result + k].value].call = i;
}

hg_status graph_append_copy(hg_graph *g, uint32_t value, uint32_t line, uint32_t *copy) {
    const graph_value from = g->values.data[value];
    hg_opname name;
    if (!hg_opname_from_text("identity", 8, &name))
        return hg_fail(HG_ERROR_INTERNAL, "there is no map 'identity'");
    graph_value v = {.source = GRAPH_RESULT, .type = from.type, .rank = from.rank};
    memcpy(v.extents, from.extents, sizeof v.extents);
    HG_TRY(graph_add_value(g, &v, NULL, 0, copy));
    /* out, in, op, count */
    const graph_operand operands[] = {{.operand = 1, .kind = GRAPH_ARRAY, .number = value},
                                      {.operand = 2, .kind = GRAPH_NAME, .number = (uint32_t)name},
                                      {.operand = 3, .kind = GRAPH_COUNT, .number = from.elements}};
    graph_call call = {.op = HG_OP_PARALLEL_MAP, .type = from.type, .line = line};
    HG_TRY(
        graph_add_parts(g, &call, operands, HG_COUNT_OF(operands), &(graph_result){0, *copy}, 1));
    return graph_append(g, &call);
}

/* A program of one lane an element that makes zeros of a type; its parameters in order. */
enum { ZEROS_ARRAY, ZEROS_LENGTH, ZEROS_LANE, ZEROS_VALUE };
static hg_status zeros_program(hg_graph *g, hg_type type, hg_program **program) {
    static const uint8_t zeros[HG_MAX_LITERAL_BYTES];
    char name[24];
    hg_dim n = hg_dim_param("n");
    snprintf(name, sizeof name, "zeros_%s", hg_type_name(type));
    for (uint64_t i = 0; i < g->programs.count; i++) {
        *program = g->programs.data[i].program; /* made for another call, of the same type */
        if (g->programs.data[i].zeros && strcmp(g->programs.data[i].name, name) == 0) return HG_OK;
    }
    hg_builder *b = hg_builder_create(name);
    if (!b) return hg_fail_memory();
    hg_builder_param_buffer(b, ZEROS_ARRAY, "y", type, HG_PARAM_OUT, &n, 1);
    hg_builder_param_scalar(b, ZEROS_LENGTH, "n", HG_TYPE_U64);
    hg_builder_lanes(b, &n, 1);
    hg_build_rdid(b, ZEROS_LANE, "global_lane_id");
    hg_build_mov_imm(b, type, ZEROS_VALUE, hg_imm_bits(zeros));
    hg_build_stg(
        b, type,
        hg_addr_scale(hg_addr_buffer(ZEROS_ARRAY, ZEROS_LANE), (uint16_t)hg_type_size_bytes(type)),
        ZEROS_VALUE);
    hg_status status = hg_builder_build(b, NULL, program);
    hg_builder_destroy(b);
    if (status == HG_OK) status = graph_add_program(g, *program, name, strlen(name), NULL);
    if (status == HG_OK) g->programs.data[g->programs.count - 1].zeros = true;
    return status;
}

hg_status graph_append_zeros(hg_graph *g, const graph_value *like, uint32_t *made) {
    graph_value v = {.source = GRAPH_RESULT, .type = like->type, .rank = like->rank};
    hg_program *program;
    memcpy(v.extents, like->extents, sizeof v.extents);
    HG_TRY(zeros_program(g, (hg_type)v.type, &program));
    HG_TRY(graph_add_value(g, &v, NULL, 0, made));
    graph_call call = {
        .op = HG_OP_NONE, .type = HG_TYPE_COUNT, .program = program, .whole = true, .made = true};
    const graph_operand length = {
        .operand = ZEROS_LENGTH, .kind = GRAPH_COUNT, .number = g->values.data[*made].elements};
    HG_TRY(graph_add_parts(g, &call, &length, 1, &(graph_result){ZEROS_ARRAY, *made}, 1));
    return graph_append(g, &call);
}

hg_status graph_write_again(hg_graph *g,
                            hg_status (*before)(hg_graph *g, const graph_call *c, void *user),
                            void *user) {
    uint64_t count = g->calls.count;
    graph_call *old = hg_alloc((size_t)(count + 1) * sizeof *old);
    if (!old) return hg_fail_memory();
    if (count) memcpy(old, g->calls.data, (size_t)count * sizeof *old);
    g->calls.count = 0;
    hg_status status = HG_OK;
    for (uint64_t i = 0; i < count && status == HG_OK; i++) {
        status = before(g, &old[i], user);
        if (status == HG_OK) status = graph_append(g, &old[i]);
    }
    hg_free(old);
    return status;
}
