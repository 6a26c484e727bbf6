/* Array graphs as C text: after the passes each of their launches is a program, whose function is
 * static here. Extents are numbers when the text is made, or come with the call. */
#include "offline/build_internal.h"
#include "graph/passes.h"
#include <string.h>

typedef struct graph_job {
    hg_build_request request; /* of the launches' programs */
    build_graph graph;
    uint64_t symbols[HG_MAX_GRAPH_EXTENTS];
    HG_VEC(const hg_program *) programs;
    HG_VEC(hg_build_value) values;
    hg_graph *done; /* after the passes */
    hg_program *face;
} graph_job;

static void take_symbols(graph_job *j, const hg_build_request *r) {
    const hg_graph *g = j->done;
    for (uint64_t i = 0; i < g->symbols.count; i++) {
        uint32_t k = 0;
        while (k < r->value_count && strcmp(r->values[k].name, g->symbols.data[i]) != 0) k++;
        j->graph.open |= k == r->value_count;
        j->symbols[i] = k == r->value_count ? UINT64_MAX : r->values[k].bits;
    }
}

/* ---- what launches are given ---- */

static hg_status add_value(graph_job *j, const char *name, const void *bytes, uint64_t size) {
    hg_build_value *v = hg_vec_push(&j->values);
    if (!v) return hg_fail_memory();
    *v = (hg_build_value){.program = (uint32_t)j->programs.count, .name = name};
    memcpy(&v->bits, bytes, (size_t)size);
    return HG_OK;
}

/* The scalars of a program that a call names itself. */
static hg_status add_scalars(graph_job *j, const graph_call *call) {
    for (uint32_t i = 0; i < call->program->param_count; i++) {
        const hg_param *p = &call->program->params[i];
        const graph_operand *o = graph_operand_of(j->done, call, i);
        uint64_t size = hg_type_size_bytes((hg_type)p->type), number;
        char text[160];
        if (p->kind != HG_PARAM_SCALAR || (!o && !p->has_default)) continue;
        number = o && o->kind == GRAPH_COUNT ? j->graph.extents[o->number] : 0;
        if (number == UINT64_MAX) continue; /* comes with the call */
        if (size > sizeof number)
            return hg_fail(HG_ERROR_ISA,
                           "%s: %s has more than 64 bits, which calls of graphs have not in C text",
                           graph_call_text(j->done, call, text), p->name);
        if (size < sizeof number && number >> (8 * size))
            return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%s: %s is %llu, more than a %s holds",
                           graph_call_text(j->done, call, text), p->name,
                           (unsigned long long)number, hg_type_name((hg_type)p->type));
        HG_TRY(add_value(j, p->name,
                         !o                         ? p->default_bytes
                         : o->kind == GRAPH_LITERAL ? o->bytes
                                                    : (const uint8_t *)&number,
                         size));
    }
    return HG_OK;
}

static hg_status add_regions(graph_job *j) {
    for (uint64_t i = 0; i < j->graph.regions.count; i++) {
        const graph_region *r = &j->graph.regions.data[i];
        if (r->direct) HG_TRY(add_scalars(j, &j->done->calls.data[r->calls.data[0]]));
        for (uint64_t k = 0; k < r->scalars.count; k++)
            if (j->graph.extents[r->scalars.data[k].extent] != UINT64_MAX)
                HG_TRY(add_value(j, r->scalars.data[k].name,
                                 &j->graph.extents[r->scalars.data[k].extent], sizeof(uint64_t)));
        const hg_program **program = hg_vec_push(&j->programs);
        if (!program) return hg_fail_memory();
        *program = r->program;
    }
    return HG_OK;
}

/* All but one: what calls of constants make would have to be in the text. */
static graph_pass_list passes_of_text(void) {
    graph_pass_list list = {.count = 0};
    for (uint8_t i = 0; i < GRAPH_PASS_COUNT; i++)
        if (i != GRAPH_PASS_CONSTANTS) list.passes[list.count++] = i;
    return list;
}

static hg_status make(graph_job *j, const hg_build_request *r, hg_text *c, hg_text *h) {
    const graph_pass_list passes = passes_of_text();
    HG_TRY(graph_optimize(r->graph, &passes, NULL, &j->done));
    j->graph.g = j->done;
    j->graph.symbols = r->values;
    j->graph.symbol_count = r->value_count;
    take_symbols(j, r);
    j->graph.extents = hg_alloc((size_t)(j->done->terms.count + 1) * sizeof *j->graph.extents);
    if (!j->graph.extents) return hg_fail_memory();
    graph_extent_values(j->done, j->symbols, j->graph.extents);
    if (j->graph.open) {
        HG_TRY(build_find_slots(&j->graph));
    } else {
        HG_TRY(graph_check(j->done, j->graph.extents));
        HG_TRY(graph_plan_memory(j->done, j->graph.extents, true, &j->graph.memory));
    }
    HG_TRY(graph_lower(j->done, true, &j->graph.regions));
    HG_TRY(graph_interface(j->done, &j->face));
    j->graph.face.program = j->face;
    HG_TRY(add_regions(j));
    j->request = (hg_build_request){.programs = j->programs.data,
                                    .count = (uint32_t)j->programs.count,
                                    .name = r->name,
                                    .values = j->values.data,
                                    .value_count = (uint32_t)j->values.count};
    return build_run(&j->request, &j->graph, c, h);
}

/* h: NULL: a module of WebAssembly. */
static hg_status build(const hg_build_request *r, hg_text *c, hg_text *h) {
    graph_job *j = hg_calloc(1, sizeof *j);
    if (!j) return hg_fail_memory();
    hg_status status = make(j, r, c, h);
    hg_error kept = *hg_error_record();
    hg_program_release(j->face);
    graph_regions_free(&j->graph.regions);
    graph_memory_free(&j->graph.memory);
    hg_free(j->graph.extents);
    hg_free(j->graph.slots);
    hg_vec_free(&j->programs);
    hg_vec_free(&j->values);
    hg_graph_release(j->done);
    hg_free(j);
    *hg_error_record() = kept;
    return status;
}

hg_status hg_build_graph(const hg_build_request *r, hg_text *c, hg_text *h) {
    return build(r, c, h);
}

hg_status hg_build_graph_wasm(const hg_build_request *r, hg_text *out) {
    return build(r, out, NULL);
}
