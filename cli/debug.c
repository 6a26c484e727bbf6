/* hologram debug: runs a program on the tile interpreter and stops where it is told to. A step back
 * is the same run once more up to the instruction before: lanes run one tile after the other on one
 * thread, so it does the same again. Must not know: how commands are written. */
#include "debug.h"
#include "runtime/backend.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool open_backend(debug *d, tile_debugger *hooks, hg_backend **backend) {
    cli_launch options = *d->options;
    options.backend = "cpu";
    options.check_races = false;
    if (!cli_open_backend(d->c, &options, backend)) return false;
    (*backend)->trace = true;
    (*backend)->config.num_threads = 1;
    tile_options *tile = hg_backend_native(*backend);
    tile->debugger = hooks;
    return true;
}

/* Arrays are memory of the debugger's own, so that it sees them at any time; each run begins with
 * what was given. */
static hg_status bind(debug *d, hg_backend *b, hg_params *params) {
    for (uint32_t i = 0; i < d->values.count; i++) {
        cli_value *v = &d->values.data[i];
        const char *name = v->param->name;
        if (v->param->kind == HG_PARAM_SCALAR) {
            HG_TRY(hg_params_set_scalar(params, name, (hg_type)v->param->type, v->scalar));
        } else if (v->param->kind == HG_PARAM_POOL) {
            HG_TRY(hg_backend_allocate_pool(b, v->param->pool_bytes, &v->pool));
            HG_TRY(hg_params_set_pool(params, name, v->pool));
        } else if (v->param->kind == HG_PARAM_BUFFER) {
            if (v->bytes) memset(d->memory[i], 0, (size_t)v->bytes);
            if (v->bytes && v->data) memcpy(d->memory[i], v->data, (size_t)v->bytes);
            HG_TRY(hg_buffer_import(b, d->memory[i], v->bytes, &v->buffer));
            HG_TRY(hg_params_set_buffer(params, name, v->buffer));
        }
    }
    return HG_OK;
}

/* "F01", lane and instruction of the fault that ended the run; false: it ended otherwise. */
static bool is_fault(const hg_error *e) {
    return e->code[0] == 'F' && e->instruction != HG_NONE && e->lane != HG_NONE;
}

/* Stops again at the instruction whose fault ended the run. */
static void return_to_fault(debug *d, const hg_error *e) {
    char reason[sizeof e->message];
    snprintf(reason, sizeof reason, "%s", hg_last_error_text());
    debug_say(d, "fault", "%s: %s", e->code, reason);
    d->look.lane = e->lane;
    d->run.mode = DEBUG_SEARCH;
    d->run.inst = (uint32_t)e->instruction;
    d->run.found = 0;
    d->run.target = UINT64_MAX;
    d->run.reason = "fault";
    d->run.again = true;
}

/* What follows a run that was only there to find a place. */
static void after_search(debug *d) {
    if (!d->run.found) {
        debug_say(d, "error", "there is no instruction before: lane %llu begins here",
                  (unsigned long long)d->look.lane);
        d->run.found = d->run.target == UINT64_MAX ? 1 : d->run.target;
    }
    d->run.mode = DEBUG_REPLAY;
    d->run.target = d->run.found;
    d->run.again = true;
}

static hg_status run(debug *d, hg_backend *b) {
    hg_params *params = hg_params_create();
    hg_status status = params ? bind(d, b, params) : hg_fail_memory();
    d->run.events = 0;
    d->run.last_inst = UINT32_MAX;
    d->run.again = false;
    d->run.ended = false;
    for (uint64_t i = 0; i < d->watches.count; i++) d->watches.data[i].known = false;
    debug_forget(d);
    if (status == HG_OK) status = cli_device_execute(b, d->program, &d->launch, params);
    hg_params_destroy(params);
    return status;
}

static void one_run(debug *d) {
    tile_debugger hooks = debug_hooks;
    hooks.user = d;
    hg_backend *b = NULL;
    if (!open_backend(d, &hooks, &b)) {
        d->run.quit = true;
        return;
    }
    hg_status status = run(d, b);
    d->run.place = NULL;
    if (d->run.quit || d->run.again) {
        ; /* asked for */
    } else if (d->run.mode == DEBUG_SEARCH) {
        after_search(d);
    } else if (status != HG_OK && is_fault(hg_last_error())) {
        return_to_fault(d, hg_last_error());
    } else {
        if (status != HG_OK) {
            cli_last_error(d->c);
            debug_say(d, "failed", "%s", hg_last_error_text());
        }
        d->run.ended = true;
        bool go_on; /* the last instruction may have changed what is watched */
        if (status != HG_OK || !debug_stop_at_watch(d, &go_on))
            (void)debug_talk(d, status == HG_OK ? "finished" : "failed", NULL);
        if (!d->run.quit && !d->run.again) d->run.quit = true;
    }
    hg_backend_destroy(b);
}

static bool make_memory(debug *d) {
    d->memory = hg_calloc(d->values.count + (size_t)1, sizeof *d->memory);
    if (!d->memory) {
        (void)hg_fail_memory();
        cli_last_error(d->c);
        return false;
    }
    for (uint32_t i = 0; i < d->values.count; i++)
        if (d->values.data[i].param->kind == HG_PARAM_BUFFER &&
            !(d->memory[i] = cli_zeroed(d->c, d->values.data[i].bytes, 64)))
            return false;
    return true;
}

static void free_debug(debug *d) {
    for (uint32_t i = 0; i < d->values.count && d->memory; i++) hg_free_aligned(d->memory[i]);
    hg_free(d->memory);
    hg_free(d->line);
    debug_free_state(d);
    cli_values_free(&d->values);
}

static void session(cli *c, const cli_launch *o) {
    debug d = {.c = c,
               .options = o,
               .program = c->program,
               .interactive = isatty(STDIN_FILENO) && !c->json,
               .run = {.mode = DEBUG_STOP, .steps = 1}};
    if (cli_values_read(c, &d.values) && cli_prepare_launch(c, o, &d.values, &d.launch) &&
        make_memory(&d)) {
        d.run.lanes = hg_launch_total_threads(&d.launch);
        if (!d.run.lanes) d.run.lanes = 1;
        if (!o->timeout) d.launch.timeout_ms = UINT64_MAX; /* people take their time */
        debug_watch_signals();
        if (d.interactive) printf("'help' lists the commands.\n");
        do one_run(&d);
        while (!d.run.quit);
        if (d.failed && c->status == CLI_OK) c->status = CLI_FAILED;
    }
    free_debug(&d);
}

int command_debug(int argc, char **argv) {
    cli c = {0};
    cli_launch o = {0};
    const cli_option options[] = {CLI_LAUNCH_OPTIONS(o)};
    if (!cli_parse(&c, argc, argv, options, HG_COUNT_OF(options))) return cli_finish(&c);
    if (!cli_one_program(&c))
        ;
    else if (c.arguments.count && strcmp(c.arguments.data[0], "-") == 0)
        cli_usage(&c, "standard input has the commands: the program comes from a file");
    else if (!cli_take_input(&c, "-", "the commands", "the commands") ||
             !cli_memory_begin(&c, o.max_memory) || !cli_load(&c, cli_file(&c)) || !cli_verify(&c))
        ;
    else if (c.circuit.program)
        cli_usage(&c, "a circuit has no instructions to stop at");
    else
        session(&c, &o);
    return cli_finish(&c);
}
