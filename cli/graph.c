/* Array graphs (.graph): read with the programs and files that they name, verified. Must not know:
 * passes, memory plans. */
#include "graph.h"
#include "translators/front_ends.h"
#include <hologram/stablehlo.h>
#include <stdio.h>
#include <string.h>

/* ---- reading ---- */

/* A file beside the text. */
static void beside(const cli *c, const char *name, hg_text *path) {
    const char *slash = strrchr(c->file, '/');
    hg_text_add(path, c->file, slash ? (size_t)(slash - c->file) + 1 : 0);
    hg_text_add(path, name, strlen(name));
}

static hg_status read_program(void *user, const char *file, hg_diagnostics *d,
                              hg_program **program) {
    cli *c = user;
    hg_text path = {0};
    hg_bytes bytes = {0};
    beside(c, file, &path);
    hg_status status = path.failed || !path.data
                           ? hg_fail_memory()
                           : hg_file_read(path.data, HG_MAX_SOURCE_BYTES, &bytes);
    if (status == HG_OK) {
        hg_assemble_options assembly = cli_assembling(c);
        assembly.source_name = path.data;
        hg_front_end_request request = {.circuit = NULL, .assembly = &assembly};
        const hg_front_end *front_end = hg_front_end_choose(path.data, (const char *)bytes.data,
                                                            (size_t)bytes.length);
        hg_diagnostics *own = hg_diagnostics_create(1); /* its lines are not of the graph's text */
        status = front_end->translate((const char *)bytes.data, (size_t)bytes.length, &request, own,
                                      program);
        const hg_diagnostic *first = own ? hg_diagnostics_get(own, 0) : NULL;
        if (status != HG_OK && first)
            status = hg_fail(status, "%.200s:%u:%u: %s: %.200s", file, (unsigned)first->line,
                             (unsigned)first->column, first->code, first->message);
        hg_diagnostics_destroy(own);
        (void)d;
    }
    hg_bytes_free(&bytes);
    hg_text_free(&path);
    return status;
}

static hg_status read_text(cli *c) {
    hg_graph_read_options options = {.size = sizeof options, .program = read_program, .user = c};
    const char *text = (const char *)c->source.data;
    size_t length = (size_t)c->source.length;
    if (hg_path_ends(c->file, ".graph"))
        HG_TRY(hg_graph_read_text(text, length, &options, c->diagnostics, &c->graph));
    else
        HG_TRY(hg_graph_read_stablehlo(text, length, c->diagnostics, &c->graph));
    return graph_interface(c->graph, &c->program);
}

static bool is_graph_text(const char *path) {
    return path && (hg_path_ends(path, ".graph") || cli_is_stablehlo(path));
}

bool cli_is_graph(const cli *c, const char *path) { return c->as_graph || is_graph_text(path); }

/* The graph that a program is. */
static bool load_program(cli *c, const char *path) {
    if (!cli_load(c, path) || !cli_verify(c)) return false;
    hg_program *program = c->program;
    hg_status status = hg_graph_from_program(program, &c->graph);
    if (status == HG_OK) status = graph_interface(c->graph, &c->program);
    if (status == HG_OK)
        hg_program_release(program);
    else
        cli_last_error(c);
    return status == HG_OK;
}

bool cli_take_graph_source(cli *c, hg_bytes bytes) {
    size_t before = hg_diagnostics_errors(c->diagnostics);
    c->source = bytes;
    if (read_text(c) == HG_OK) return true;
    if (hg_diagnostics_errors(c->diagnostics) == before) cli_last_error(c);
    if (c->status == CLI_OK) c->status = CLI_FAILED;
    return false;
}

bool cli_load_graph(cli *c, const char *path) {
    if (!is_graph_text(path)) return load_program(c, path);
    hg_bytes bytes = {0};
    c->file = path;
    if (hg_file_read(path, HG_MAX_SOURCE_BYTES, &bytes) == HG_OK)
        return cli_take_graph_source(c, bytes);
    cli_last_error(c);
    return false;
}

bool cli_load_any(cli *c, const char *path) {
    if (cli_is_graph(c, path)) return cli_load_graph(c, path);
    const char *option = c->weights  ? "--weights"
                         : c->passes ? "--passes"
                         : c->fast   ? "--fast"
                                     : NULL;
    for (uint64_t i = 0; i < c->pairs.count && !option; i++)
        if (strcmp(c->pairs.data[i].option, "--place") == 0) option = "--place";
    if (!option) return cli_load(c, path) && cli_verify(c);
    cli_usage(c, "%s is for array graphs: name a .graph, or write --as-graph for a program",
              option);
    return false;
}

/* Constants that have no data so far are read from the files that the text names. */
bool cli_graph_files(cli *c, cli_values *values) {
    const hg_graph *g = c->graph;
    bool good = !c->weights || cli_values_weights(c, values, c->weights);
    for (uint64_t i = 0; i < g->values.count && good; i++) {
        const graph_value *v = &g->values.data[i];
        hg_text path = {0};
        if (v->source != GRAPH_CONSTANT || !v->file) continue;
        beside(c, v->file, &path);
        good = path.data && cli_values_file(c, values, v->name, path.data);
        hg_text_free(&path);
    }
    return good;
}

/* ---- numbers of a run, places ---- */

void cli_bound_symbols(const hg_graph *g, const cli_values *values,
                       uint64_t symbols[HG_MAX_GRAPH_EXTENTS]) {
    memset(symbols, 0, HG_MAX_GRAPH_EXTENTS * sizeof *symbols);
    for (uint32_t i = 0; i < g->symbols.count; i++)
        memcpy(&symbols[i], values->data[i].scalar, sizeof symbols[i]); /* they come first */
}

/* An axis alone is "split AXIS". */
static hg_status place(hg_graph *g, uint32_t value, const char *words) {
    char split[32];
    uint64_t axis;
    if (!cli_read_number(words, strlen(words), UINT32_MAX, &axis))
        return graph_read_place(g, value, words);
    snprintf(split, sizeof split, "split %u", (unsigned)axis);
    return graph_read_place(g, value, split);
}

bool cli_place_values(cli *c) {
    for (uint64_t i = 0; i < c->pairs.count; i++) {
        const cli_pair *pair = &c->pairs.data[i];
        if (strcmp(pair->option, "--place") != 0) continue;
        uint32_t value = graph_find_value(c->graph, pair->name, strlen(pair->name));
        if (value == GRAPH_NOT_SET)
            cli_usage(c, "--place %s: the graph has no such value", pair->name);
        else if (c->graph->values.data[value].source == GRAPH_VIEW)
            cli_usage(c, "--place %s: it is a view, which lies where its array lies", pair->name);
        else if (place(c->graph, value, pair->value) != HG_OK)
            cli_last_error(c);
        if (c->status != CLI_OK) return false;
    }
    return true;
}

/* ---- verify ---- */

uint64_t *cli_extents(const hg_graph *g, const uint64_t *symbols) {
    uint64_t *extents = hg_alloc((size_t)(g->terms.count + 1) * sizeof *extents);
    if (!extents) {
        HG_IGNORE(hg_fail_memory()); /* it is this thread's error */
        return NULL;
    }
    graph_extent_values(g, symbols, extents);
    if (graph_check(g, extents) == HG_OK) return extents;
    hg_free(extents);
    return NULL;
}

void cli_verify_graph(cli *c) {
    const hg_graph *g = c->graph;
    uint64_t *extents = g->symbols.count ? NULL : cli_extents(g, NULL); /* of symbols there are no
                                                                           numbers before a run */
    if (!extents && !g->symbols.count)
        cli_last_error(c);
    else if (!c->json)
        cli_out(c, "%s: ok, %llu calls, %llu values\n", c->file, (unsigned long long)g->calls.count,
                (unsigned long long)g->values.count);
    hg_free(extents);
}
