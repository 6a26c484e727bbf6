/* A program as a graph whose arrays are the caller's: read before, written behind. Must not know:
 * how it is carried out. */
#include "dist/dist.h"
#include "runtime/client.h"

static hg_status check_launch(const hg_launch *launch) {
    if (!launch || hg_launch_total_threads(launch) <= 1) return HG_OK;
    return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                   "%llu lanes: a program on several devices says its lanes itself (.lanes, .grid)",
                   (unsigned long long)hg_launch_total_threads(launch));
}

static uint64_t word_of(const hg_given *given) {
    uint64_t value = 0, size = hg_type_size_bytes(given->type);
    for (uint64_t i = 0; i < size && i < 8; i++) value |= (uint64_t)given->bytes[i] << (8 * i);
    return value;
}

/* What a parameter is: as given, or what the program says where it is left out. */
static bool find_given(const dist_job *job, const char *name, hg_given *given) {
    if (hg_params_given(job->params, name, given)) return true;
    for (uint32_t i = 0; i < job->program->param_count; i++) {
        const hg_param *p = &job->program->params[i];
        if (!p->has_default || strcmp(p->name, name) != 0) continue;
        *given = (hg_given){.type = (hg_type)p->type, .bytes = p->default_bytes};
        return true;
    }
    return false;
}

/* A number with a default that is no size is that default in a graph. */
static hg_status check_defaults(const dist_job *job) {
    for (uint32_t i = 0; i < job->program->param_count; i++) {
        const hg_param *p = &job->program->params[i];
        hg_given given;
        if (p->kind != HG_PARAM_SCALAR || !p->has_default ||
            graph_find_symbol(job->graph, p->name, strlen(p->name)) != GRAPH_NOT_SET ||
            !hg_params_given(job->params, p->name, &given))
            continue;
        if (memcmp(given.bytes, p->default_bytes, (size_t)hg_type_size_bytes(given.type)) != 0)
            return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                           "'%.200s' has a default in the program, which a graph keeps: another "
                           "number is given",
                           p->name);
    }
    return HG_OK;
}

static hg_status not_given(const char *what, const char *name) {
    return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%s '%.200s' of the program is not given", what,
                   name);
}

static hg_status read_symbols(dist_job *job) {
    for (uint64_t i = 0; i < job->graph->symbols.count; i++) {
        hg_given given;
        const char *name = job->graph->symbols.data[i];
        if (!find_given(job, name, &given)) return not_given("the number", name);
        job->symbols[i] = word_of(&given);
    }
    graph_extent_values(job->graph, job->symbols, job->sizes);
    return HG_OK;
}

static uint64_t bytes_of(const dist_job *job, uint32_t value) {
    const graph_value *v = &job->graph->values.data[value];
    return plan_times(job->sizes[v->elements], graph_type_bytes(v));
}

static bool is_open(const graph_value *v) {
    return v->source == GRAPH_INPUT || (v->source == GRAPH_CONSTANT && !v->bytes);
}

/* Before memory is found for what it should have. */
static hg_status check_buffer(const dist_job *job, const char *name, uint64_t handle,
                              uint64_t bytes) {
    uint64_t size;
    HG_TRY(hg_backend_buffer_size(job->home, (hg_buffer){handle}, &size));
    if (bytes <= size) return HG_OK;
    return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                   "buffer '%.200s': its extents need %llu bytes, it has %llu", name,
                   (unsigned long long)bytes, (unsigned long long)size);
}

static hg_status read_input(dist_job *job, uint32_t value) {
    const graph_value *v = &job->graph->values.data[value];
    uint64_t bytes = bytes_of(job, value);
    hg_given given;
    if (!find_given(job, v->name, &given)) return not_given("the array", v->name);
    if (given.buffer) HG_TRY(check_buffer(job, v->name, given.handle, bytes));
    uint8_t *to = bytes < SIZE_MAX ? hg_alloc((size_t)bytes + 1) : NULL;
    if (!to) return hg_fail_memory();
    job->inputs[value] = to;
    if (given.buffer)
        return bytes ? hg_buffer_read(job->home, (hg_buffer){given.handle}, 0, to, bytes) : HG_OK;
    memcpy(to, given.bytes, (size_t)bytes); /* an element, of the type that the program says */
    return HG_OK;
}

/* Of an array that is read and written the output is NAME_out. */
static hg_status find_output(dist_job *job, uint64_t output) {
    const graph_output *o = &job->graph->outputs.data[output];
    char name[HG_MAX_IDENT_BYTES + 1];
    hg_given given;
    size_t length = strlen(o->name);
    bool found = hg_params_given(job->params, o->name, &given);
    if (!found && length > 4 && strcmp(o->name + length - 4, "_out") == 0) {
        memcpy(name, o->name, length - 4);
        name[length - 4] = 0;
        found = hg_params_given(job->params, name, &given);
    }
    if (!found) return not_given("the array", o->name);
    uint64_t bytes = bytes_of(job, o->value);
    HG_TRY(check_buffer(job, o->name, given.handle, bytes));
    job->handles[output] = given.handle;
    job->outputs[output] = bytes < SIZE_MAX ? hg_calloc((size_t)bytes + 1, 1) : NULL;
    return job->outputs[output] ? HG_OK : hg_fail_memory();
}

hg_status dist_job_begin(dist_job *job, hg_backend *home, hg_program *program,
                         const hg_launch *launch, const hg_params *params) {
    *job = (dist_job){.home = home, .program = program, .params = params};
    HG_TRY(check_launch(launch));
    HG_TRY(hg_params_check(params, program));
    HG_TRY(hg_graph_from_program(program, &job->graph));
    HG_TRY(check_defaults(job));
    const hg_graph *g = job->graph;
    job->symbols = hg_calloc((size_t)g->symbols.count + 1, sizeof *job->symbols);
    job->sizes = hg_calloc((size_t)g->terms.count + 1, sizeof *job->sizes);
    job->placed = hg_calloc((size_t)g->values.count + 1, 1);
    job->inputs = hg_calloc((size_t)g->values.count + 1, sizeof *job->inputs);
    job->outputs = hg_calloc((size_t)g->outputs.count + 1, sizeof *job->outputs);
    job->handles = hg_calloc((size_t)g->outputs.count + 1, sizeof *job->handles);
    if (!job->symbols || !job->sizes || !job->placed || !job->inputs || !job->outputs ||
        !job->handles)
        return hg_fail_memory();
    HG_TRY(read_symbols(job));
    HG_TRY(graph_check(g, job->sizes));
    for (uint32_t i = 0; i < g->values.count; i++)
        if (is_open(&g->values.data[i])) HG_TRY(read_input(job, i));
    for (uint64_t i = 0; i < g->outputs.count; i++) HG_TRY(find_output(job, i));
    return HG_OK;
}

hg_status dist_job_finish(dist_job *job) {
    for (uint64_t i = 0; i < job->graph->outputs.count; i++) {
        uint64_t bytes = bytes_of(job, job->graph->outputs.data[i].value);
        if (bytes)
            HG_TRY(hg_buffer_write(job->home, (hg_buffer){job->handles[i]}, 0, job->outputs[i],
                                   bytes));
    }
    return HG_OK;
}

void dist_job_end(dist_job *job) {
    for (uint64_t i = 0; job->inputs && i < job->graph->values.count; i++) hg_free(job->inputs[i]);
    for (uint64_t i = 0; job->outputs && i < job->graph->outputs.count; i++)
        hg_free(job->outputs[i]);
    hg_free(job->placed);
    hg_free(job->inputs);
    hg_free(job->outputs);
    hg_free(job->handles);
    hg_free(job->symbols);
    hg_free(job->sizes);
    hg_graph_release(job->graph);
    *job = (dist_job){0};
}

const uint8_t *dist_job_input(const dist_job *job, const char *name) {
    uint32_t value = graph_find_value(job->graph, name, strlen(name));
    return value == GRAPH_NOT_SET ? NULL : job->inputs[value];
}

/* ---- placements ---- */

hg_status dist_job_place(dist_job *job, const hg_placement *placements, size_t count) {
    if (count && !placements) return hg_null_argument("placements");
    for (size_t i = 0; i < count; i++) {
        const hg_placement *p = &placements[i];
        if (!p->param || !p->place) return hg_null_argument(p->param ? "place" : "param");
        uint32_t value = graph_find_value(job->graph, p->param, strlen(p->param));
        if (value == GRAPH_NOT_SET || !is_open(&job->graph->values.data[value]))
            return hg_fail(HG_ERROR_INVALID_ARGUMENT, "placement of '%.200s': no input of '%s'",
                           p->param, hg_program_name(job->program));
        HG_TRY(graph_read_place(job->graph, value, p->place));
        if (job->graph->values.data[value].place.kind == GRAPH_PARTIAL)
            return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                           "placement of '%.200s': %.100s: the caller has one array, which is "
                           "whole or split",
                           p->param, p->place);
        job->placed[value] = 1;
    }
    /* cuts are numbers that the graph did not have before */
    uint64_t *sizes = hg_calloc((size_t)job->graph->terms.count + 1, sizeof *sizes);
    if (!sizes) return hg_fail_memory();
    hg_free(job->sizes);
    job->sizes = sizes;
    graph_extent_values(job->graph, job->symbols, job->sizes);
    return HG_OK;
}

/* Part r begins at r times the size. */
static hg_status cut_batch(hg_graph *g, uint32_t ranks, uint64_t size, uint64_t extent,
                           graph_place *place) {
    place->first_cut = (uint32_t)g->items.count;
    for (uint32_t r = 1; r < ranks; r++) {
        uint64_t at = plan_times(size, r);
        graph_extent e = graph_number(g, at < extent ? at : extent),
                     *to = e == GRAPH_NOT_SET ? NULL : hg_vec_push(&g->items);
        if (!to) return hg_fail_memory();
        *to = e;
    }
    place->cut_count = ranks - 1;
    return HG_OK;
}

hg_status dist_job_split_batch(dist_job *job, uint32_t ranks, uint64_t size, uint64_t *extent) {
    hg_graph *g = job->graph;
    graph_place place = {.kind = GRAPH_SPLIT};
    graph_extent batch = GRAPH_NOT_SET;
    *extent = 0;
    for (uint32_t i = 0; i < g->values.count && batch == GRAPH_NOT_SET; i++)
        if (g->values.data[i].source == GRAPH_INPUT && g->values.data[i].rank)
            batch = g->values.data[i].extents[0];
    if (batch == GRAPH_NOT_SET) return HG_OK;
    *extent = job->sizes[batch];
    if (size && plan_times(size, ranks) < *extent)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                       "a batch size of %llu on %u devices makes %llu of a batch of %llu: at least "
                       "%llu expected",
                       (unsigned long long)size, (unsigned)ranks,
                       (unsigned long long)(size * ranks), (unsigned long long)*extent,
                       (unsigned long long)((*extent - 1) / ranks + 1));
    if (size) HG_TRY(cut_batch(g, ranks, size, *extent, &place));
    for (uint32_t i = 0; i < g->values.count; i++) {
        graph_value *v = &g->values.data[i];
        if (is_open(v) && v->rank && v->extents[0] == batch && !job->placed[i]) v->place = place;
    }
    return HG_OK;
}
