/* Array graphs (.graph): read with the programs and files that they name, run, verified, explained.
 * Must not know: passes, memory plans. */
#include "graph/lower.h"
#include "graph/memory.h"
#include "graph/passes.h"
#include "launch.h"
#include "translators/front_ends.h"
#include <stdio.h>
#include <string.h>

/* ---- reading ---- */

/* A file beside the text. */
static void beside(const cli *c, const char *name, hg_text *path) {
    const char *slash = strrchr(c->file, '/');
    hg_text_add(path, c->file, slash ? (size_t)(slash - c->file) + 1 : 0);
    hg_text_add(path, name, strlen(name));
}

static hg_status read_program(void *user, const char *file, hg_diagnostics *d, hg_program **program) {
    cli *c = user;
    hg_text path = {0};
    hg_bytes bytes = {0};
    beside(c, file, &path);
    hg_status status = path.failed || !path.data ? hg_fail_memory() : hg_file_read(path.data, HG_MAX_SOURCE_BYTES, &bytes);
    if (status == HG_OK) {
        hg_assemble_options assembly = cli_assembling(c);
        assembly.source_name = path.data;
        hg_front_end_request request = {.circuit = NULL, .assembly = &assembly};
        const hg_front_end *front_end = hg_front_end_choose(path.data, (const char *)bytes.data, (size_t)bytes.length);
        hg_diagnostics *own = hg_diagnostics_create(1); /* its lines are not of the graph's text */
        status = front_end->translate((const char *)bytes.data, (size_t)bytes.length, &request, own, program);
        const hg_diagnostic *first = own ? hg_diagnostics_get(own, 0) : NULL;
        if (status != HG_OK && first)
            status = hg_fail(status, "%.200s:%u:%u: %s: %.200s", file, (unsigned)first->line, (unsigned)first->column, first->code,
                             first->message);
        hg_diagnostics_destroy(own);
        (void)d;
    }
    hg_bytes_free(&bytes);
    hg_text_free(&path);
    return status;
}

static bool load(cli *c, const char *path, hg_graph **graph) {
    size_t before = hg_diagnostics_errors(c->diagnostics);
    c->file = path;
    if (hg_file_read(path, HG_MAX_SOURCE_BYTES, &c->source) != HG_OK) {
        cli_last_error(c);
        return false;
    }
    hg_graph_read_options options = {.size = sizeof options, .program = read_program, .user = c};
    hg_status status = hg_graph_read_text((const char *)c->source.data, (size_t)c->source.length, &options, c->diagnostics, graph);
    if (status == HG_OK) return true;
    if (hg_diagnostics_errors(c->diagnostics) == before) cli_last_error(c);
    if (c->status == CLI_OK) c->status = CLI_FAILED;
    return false;
}

/* ---- run ---- */

/* Constants that have no data so far are read from the files that the text names. */
static bool read_files(cli *c, const hg_graph *g, cli_values *values) {
    bool good = true;
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

/* Options of a launch that say nothing about a graph. */
static bool check_options(cli *c, const cli_launch *o, hg_graph_options *options) {
    const char *const names[] = {"--lanes", "--grid", "--block", "--shared", "--check-races"};
    const bool set[] = {o->lanes != NULL, o->grid != NULL, o->block != NULL, o->shared != NULL, o->check_races};
    uint64_t timeout = 0;
    for (size_t i = 0; i < HG_COUNT_OF(names); i++)
        if (set[i]) {
            cli_usage(c, "%s is for programs, '%s' is an array graph", names[i], c->file);
            return false;
        }
    if (!cli_number(c, "--timeout", o->timeout, UINT64_MAX - 1, &timeout) ||
        !cli_number(c, "--max-steps", o->max_steps, UINT64_MAX, &options->max_steps))
        return false;
    options->timeout_ms = o->timeout && !timeout ? UINT64_MAX : timeout;
    return true;
}

static hg_status launch(hg_backend *b, hg_graph *g, const hg_graph_options *options, const hg_params *params) {
    hg_graph_executable *executable = NULL;
    hg_graph_binding *binding = NULL;
    hg_status status = hg_graph_compile(b, g, options, &executable);
    if (status == HG_OK) status = hg_graph_bind(executable, params, &binding);
    if (status == HG_OK) status = hg_graph_binding_launch(binding);
    hg_error kept = *hg_error_record();
    hg_graph_binding_destroy(binding);
    hg_graph_executable_destroy(executable);
    *hg_error_record() = kept;
    return status;
}

static void execute(cli *c, const cli_launch *o, hg_graph *g, const char *weights, const char *passes) {
    cli_values values = {0};
    hg_backend *b = NULL;
    hg_graph_options options = {.size = sizeof options, .passes = passes};
    bool read = check_options(c, o, &options) && cli_values_options(c, &values) && (!weights || cli_values_weights(c, &values, weights)) &&
                read_files(c, g, &values) && cli_values_resolve(c, &values);
    if (read && cli_open_backend(c, o, &b)) {
        hg_params *params = hg_params_create();
        hg_status status = params ? cli_upload(b, &values, params) : hg_fail_memory();
        if (status == HG_OK) status = launch(b, g, &options, params);
        if (status == HG_OK) status = cli_collect(c, b, &values);
        if (status != HG_OK) cli_last_error(c);
        hg_params_destroy(params);
    }
    cli_close_backend(c, o, b);
    cli_values_free(&values);
}

void cli_run_graph(cli *c, const cli_launch *o, const char *path, const char *weights, const char *passes) {
    hg_graph *g = NULL;
    if (load(c, path, &g)) {
        if (graph_interface(g, &c->program) != HG_OK)
            cli_last_error(c);
        else
            execute(c, o, g, weights, passes);
    }
    hg_program_release(c->program);
    c->program = NULL;
    hg_graph_release(g);
}

/* ---- verify ---- */

/* The numbers of all extents of a graph without symbols, where its shapes fit; NULL after a failure. */
static uint64_t *known_extents(const hg_graph *g) {
    uint64_t *extents = hg_alloc((size_t)(g->terms.count + 1) * sizeof *extents);
    if (!extents) {
        HG_IGNORE(hg_fail_memory()); /* it is this thread's error */
        return NULL;
    }
    graph_extent_values(g, NULL, extents);
    if (graph_check(g, extents) == HG_OK) return extents;
    hg_free(extents);
    return NULL;
}

void cli_verify_graph(cli *c, const char *path) {
    hg_graph *g = NULL;
    if (load(c, path, &g)) {
        uint64_t *extents = g->symbols.count ? NULL : known_extents(g); /* of symbols there are no numbers before a run */
        if (!extents && !g->symbols.count)
            cli_last_error(c);
        else if (!c->json)
            cli_out(c, "%s: ok, %llu calls, %llu values\n", path, (unsigned long long)g->calls.count, (unsigned long long)g->values.count);
        hg_free(extents);
    }
    hg_graph_release(g);
}

/* ---- explain ---- */

static void explain_memory(cli *c, const hg_graph *g) {
    graph_memory shared = {0}, apart = {0};
    char text[160];
    if (g->symbols.count) {
        cli_out(c, "memory: follows from the extents that a run gives\n");
        return;
    }
    uint64_t *extents = known_extents(g);
    if (!extents || graph_plan_memory(g, extents, true, &shared) != HG_OK || graph_plan_memory(g, extents, false, &apart) != HG_OK) {
        cli_last_error(c);
    } else {
        cli_out(c, "memory: %llu bytes between calls (%llu if no two shared any; no plan needs less than %llu)\n",
                (unsigned long long)shared.bytes, (unsigned long long)apart.bytes, (unsigned long long)shared.least);
        if (g->calls.count && shared.least) cli_out(c, "most at: %s\n", graph_call_text(g, &g->calls.data[shared.peak], text));
    }
    graph_memory_free(&shared);
    graph_memory_free(&apart);
    hg_free(extents);
}

static void explain_launches(cli *c, const hg_graph *g) {
    graph_regions regions = {0};
    char text[160];
    if (graph_lower(g, true, &regions) != HG_OK) {
        cli_last_error(c);
    } else {
        for (uint64_t i = 0; i < regions.count; i++) {
            const graph_region *r = &regions.data[i];
            cli_out(c, "launch %llu:\n", (unsigned long long)i + 1);
            for (uint64_t k = 0; k < r->calls.count; k++)
                cli_out(c, "    %s\n", graph_call_text(g, &g->calls.data[r->calls.data[k]], text));
        }
    }
    graph_regions_free(&regions);
}

static void explain_json(cli *c, const hg_graph *g, const hg_graph *done) {
    hg_json json;
    hg_text text = {0};
    graph_print(&text, done);
    cli_json_item(c, &json);
    hg_json_add_text(&json, "graph", g->name);
    hg_json_add_u64(&json, "calls", g->calls.count);
    hg_json_add_u64(&json, "calls_after_passes", done->calls.count);
    hg_json_add_text(&json, "after_passes", text.data ? text.data : "");
    hg_json_end_object(&json);
    hg_text_free(&text);
}

static void explain_text(cli *c, const hg_graph *g, const hg_graph *done) {
    hg_text text = {0};
    cli_out(c, "passes:\n");
    for (uint32_t i = 0; hg_graph_pass_name(i); i++) cli_out(c, "    %-8s %s\n", hg_graph_pass_name(i), hg_graph_pass_about(i));
    cli_out(c, "calls: %llu, %llu after the passes\n", (unsigned long long)g->calls.count, (unsigned long long)done->calls.count);
    explain_launches(c, done);
    explain_memory(c, done);
    graph_print(&text, done);
    cli_out(c, "\nafter the passes:\n%s", text.data ? text.data : "");
    hg_text_free(&text);
}

void cli_explain_graph(cli *c, const char *path) {
    hg_graph *g = NULL, *done = NULL;
    if (load(c, path, &g)) {
        if (graph_optimize(g, (1u << GRAPH_PASS_COUNT) - 1, &done) != HG_OK)
            cli_last_error(c);
        else if (c->json)
            explain_json(c, g, done);
        else
            explain_text(c, g, done);
    }
    hg_graph_release(done);
    hg_graph_release(g);
}
