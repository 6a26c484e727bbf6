/* Array graphs on a device: run, and runs that others compare. Must not know: passes, memory plans.
 */
#include "diff.h"
#include "graph.h"
#include "ranks.h"
#include <string.h>

bool cli_graph_options(cli *c, const cli_launch *o, hg_graph_options *options) {
    const char *const names[] = {"--lanes", "--grid", "--block", "--shared", "--check-races"};
    const bool set[] = {o->lanes != NULL, o->grid != NULL, o->block != NULL, o->shared != NULL,
                        o->check_races};
    uint64_t timeout = 0;
    *options = (hg_graph_options){.size = sizeof *options, .passes = c->passes};
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

static hg_status launch(hg_backend *b, hg_graph *g, const hg_graph_options *options,
                        const hg_params *params) {
    hg_graph_executable *executable = NULL;
    hg_graph_binding *binding = NULL;
    hg_status status = hg_graph_compile(b, g, options, &executable);
    if (status == HG_OK) status = hg_graph_bind(executable, params, &binding);
    if (status == HG_OK) status = cli_device_launch_graph(b, binding);
    hg_error kept = *hg_error_record();
    hg_graph_binding_destroy(binding);
    hg_graph_executable_destroy(executable);
    *hg_error_record() = kept;
    return status;
}

/* Extents are what shapes say; a rank's own graph has numbers. */
static hg_status upload(hg_backend *b, const hg_graph *g, cli_values *values, hg_params *params) {
    cli_values given = *values;
    uint32_t symbols = 0;
    while (symbols < given.count && given.data[symbols].param->kind == HG_PARAM_SCALAR) symbols++;
    if (!g->symbols.count) {
        given.data += symbols;
        given.count -= symbols;
    }
    return cli_upload(b, &given, params);
}

static hg_status execute(cli *c, hg_backend *b, const hg_graph_options *options,
                         cli_values *values) {
    hg_params *params = hg_params_create();
    hg_graph *own = NULL;
    hg_status status = params ? cli_share_graph(c, values, &own) : hg_fail_memory();
    if (status == HG_OK) status = upload(b, own, values, params);
    if (status == HG_OK) status = launch(b, own, options, params);
    if (status == HG_OK) status = cli_rank_wait(c);
    if (status == HG_OK) status = cli_collect(c, b, values);
    hg_graph_release(own);
    hg_params_destroy(params);
    return status;
}

void cli_run_graph(cli *c, const cli_launch *o) {
    cli_values values = {0};
    hg_backend *b = NULL;
    hg_graph_options options;
    if (cli_graph_options(c, o, &options) && cli_place_values(c) && cli_open_rank(c, o, &b) &&
        cli_values_options(c, &values) && cli_graph_files(c, &values) &&
        cli_values_resolve(c, &values) && (b || cli_open_backend(c, o, &b)) &&
        execute(c, b, &options, &values) != HG_OK)
        cli_last_error(c);
    cli_values_free(&values); /* charged to the backend */
    cli_close_backend(c, o, b);
}

/* ---- runs that are compared ---- */

uint64_t *cli_bound_extents(const hg_graph *g, const cli_values *values) {
    uint64_t symbols[HG_MAX_GRAPH_EXTENTS];
    cli_bound_symbols(g, values, symbols);
    return cli_extents(g, symbols);
}

typedef struct attempt {
    hg_backend *b;
    hg_graph *g;
    const cli_values *values;
    uint64_t *extents, *bytes; /* of the outputs */
    hg_buffer *given, *made;
    hg_params *params;
} attempt;

static hg_status give(attempt *t) {
    for (uint32_t i = 0; i < t->values->count; i++) {
        const cli_value *v = &t->values->data[i];
        if (v->param->kind == HG_PARAM_SCALAR)
            HG_TRY(hg_params_set_scalar(t->params, v->param->name, (hg_type)v->param->type,
                                        v->scalar));
        if (v->param->kind != HG_PARAM_BUFFER || v->param->dir == HG_DIR_OUT) continue;
        HG_TRY(hg_backend_allocate_buffer(t->b, v->bytes, &t->given[i]));
        if (v->data) HG_TRY(cli_device_write(t->b, t->given[i], v->data, v->bytes));
        HG_TRY(hg_params_set_buffer(t->params, v->param->name, t->given[i]));
    }
    for (uint64_t i = 0; i < t->g->outputs.count; i++) {
        const graph_value *v = &t->g->values.data[t->g->outputs.data[i].value];
        t->bytes[i] = t->extents[v->elements] * graph_type_bytes(v);
        HG_TRY(hg_backend_allocate_buffer(t->b, t->bytes[i], &t->made[i]));
        HG_TRY(hg_params_set_buffer(t->params, t->g->outputs.data[i].name, t->made[i]));
    }
    return HG_OK;
}

static hg_status take(attempt *t, graph_trial *trial) {
    trial->arrays = hg_calloc((size_t)t->g->outputs.count + 1, sizeof *trial->arrays);
    if (!trial->arrays) return hg_fail_memory();
    for (; trial->count < t->g->outputs.count; trial->count++) {
        uint64_t i = trial->count;
        trial->arrays[i] = hg_calloc(t->bytes[i] ? (size_t)t->bytes[i] : 1, 1);
        if (!trial->arrays[i]) return hg_fail_memory();
        HG_TRY(cli_device_read(t->b, t->made[i], 0, trial->arrays[i], t->bytes[i]));
    }
    return HG_OK;
}

/* What programs may have left in the backend's context. */
static hg_status clear_context(const attempt *t) {
    bool classes = false, state = false;
    for (uint64_t i = 0; i < t->g->programs.count; i++) {
        classes = classes || diff_reaches_class(t->g->programs.data[i].program);
        state = state || diff_reaches_state(t->g->programs.data[i].program);
    }
    if (state) HG_TRY(hg_backend_reset_state(t->b));
    return classes ? diff_clear_class(t->b) : HG_OK;
}

static hg_status perform(attempt *t, const hg_graph_options *options, graph_trial *trial) {
    HG_TRY(give(t));
    HG_TRY(clear_context(t));
    trial->status = launch(t->b, t->g, options, t->params);
    if (trial->status == HG_OK) return take(t, trial);
    trial->error = *hg_last_error();
    return trial->error.code[0] == 'F' ? HG_OK : trial->status;
}

hg_status cli_try_graph(hg_backend *b, hg_graph *g, const hg_graph_options *options,
                        const cli_values *values, graph_trial *trial) {
    attempt t = {.b = b,
                 .g = g,
                 .values = values,
                 .params = hg_params_create(),
                 .extents = cli_bound_extents(g, values)};
    *trial = (graph_trial){0};
    if (!t.extents) {
        hg_params_destroy(t.params);
        return HG_ERROR_INVALID_ARGUMENT;
    }
    t.given = hg_calloc(values->count + 1u, sizeof *t.given);
    t.made = hg_calloc((size_t)g->outputs.count + 1, sizeof *t.made);
    t.bytes = hg_calloc((size_t)g->outputs.count + 1, sizeof *t.bytes);
    hg_status status = t.given && t.made && t.bytes && t.params ? perform(&t, options, trial)
                                                                : hg_fail_memory();
    hg_error kept = *hg_error_record();
    for (uint32_t i = 0; t.given && i < values->count; i++)
        if (t.given[i].handle) HG_IGNORE(hg_backend_free_buffer(b, t.given[i])); /* it is there */
    for (uint64_t i = 0; t.made && i < g->outputs.count; i++)
        if (t.made[i].handle) HG_IGNORE(hg_backend_free_buffer(b, t.made[i])); /* the same */
    hg_params_destroy(t.params);
    hg_free(t.given);
    hg_free(t.made);
    hg_free(t.bytes);
    hg_free(t.extents);
    if (status != HG_OK) {
        cli_trial_free(trial);
        *hg_error_record() = kept;
    }
    return status;
}

void cli_trial_free(graph_trial *trial) {
    for (uint64_t i = 0; trial->arrays && i <= trial->count; i++) hg_free(trial->arrays[i]);
    hg_free(trial->arrays);
    *trial = (graph_trial){0};
}
