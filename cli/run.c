/* hologram run: one launch over arrays from files and the command line. */
#include "checkpoint.h"
#include "diff.h"
#include "ranks.h"
#include <stdio.h>
#include <string.h>

/* --steps N and what goes with it. */
typedef struct run_steps {
    const char *count, *checkpoint, *every;
    bool progress;
    uint64_t steps, each; /* numbers of count and every */
} run_steps;

static bool read_steps(cli *c, run_steps *s) {
    s->steps = s->each = 1;
    if (!cli_number(c, "--steps", s->count, UINT64_MAX, &s->steps) ||
        !cli_number(c, "--every", s->every, UINT64_MAX, &s->each))
        return false;
    if (!s->steps || !s->each)
        cli_usage(c, "%s: at least 1 is expected, got 0", s->steps ? "--every" : "--steps");
    else if (!s->count && (s->checkpoint || s->progress || s->every))
        cli_usage(c, "%s is for a run of several steps: give --steps N",
                  s->checkpoint ? "--checkpoint"
                  : s->progress ? "--progress"
                                : "--every");
    else if (s->every && !s->checkpoint)
        cli_usage(c, "--every says how often a checkpoint is written: give --checkpoint FILE");
    return c->status == CLI_OK && (!s->checkpoint || cli_checkpoint_can(c, s->checkpoint));
}

/* A scalar can be the number of each step, and arrays and lanes are the same in all of them. */
static bool check_counts(cli *c, const run_steps *s, const cli_values *values) {
    for (uint32_t i = 0; i < values->count && c->status == CLI_OK; i++) {
        const cli_value *v = &values->data[i];
        hg_type type = (hg_type)v->param->type;
        uint64_t bits = v->counts ? 8 * hg_type_size_bytes(type) - hg_type_is_signed(type) : 64;
        if (v->counts && diff_is_extent(c->program, i))
            cli_usage(c,
                      "--set %s=@step: lanes or the shape of an array depend on it, which are the "
                      "same in all steps",
                      v->param->name);
        else if (bits < 64 && (s->steps - 1) >> bits)
            cli_usage(c, "--set %s=@step: %s has no number for the last of %llu steps",
                      v->param->name, hg_type_name(type), (unsigned long long)s->steps);
    }
    return c->status == CLI_OK;
}

/* At most a line a second, and one at the end. */
static void tell_progress(const cli *c, const run_steps *s, uint64_t done, uint64_t *told) {
    uint64_t now = hg_clock_ns();
    if (!s->progress || (c->rank && c->rank->number)) return;
    if (done < s->steps && now - *told < UINT64_C(1000000000)) return;
    *told = now;
    fprintf(stderr, "step %llu of %llu\n", (unsigned long long)done, (unsigned long long)s->steps);
}

static hg_status do_steps(cli *c, hg_backend *b, const run_steps *s, const cli_values *values,
                          const hg_launch *launch, hg_params *params) {
    uint64_t told = hg_clock_ns();
    cli_done done = {0};
    bool found;
    if (s->checkpoint) HG_TRY(cli_checkpoint_restore(c, b, values, s->checkpoint, &done, &found));
    if (done.in_bytes)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%.300s: the checkpoint is of a stream",
                       s->checkpoint);
    if (done.steps > s->steps)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                       "%.300s: the checkpoint is of step %llu, --steps says %llu", s->checkpoint,
                       (unsigned long long)done.steps, (unsigned long long)s->steps);
    while (done.steps < s->steps) {
        HG_TRY(cli_set_step(values, done.steps, params));
        HG_TRY(cli_device_execute(b, c->program, launch, params));
        done.steps++;
        if (s->checkpoint && (done.steps % s->each == 0 || done.steps == s->steps))
            HG_TRY(cli_checkpoint_save(c, b, values, s->checkpoint, &done));
        tell_progress(c, s, done.steps, &told);
    }
    return HG_OK;
}

static void execute(cli *c, const cli_launch *o, const run_steps *steps) {
    cli_values values = {0};
    hg_backend *b = NULL;
    hg_launch launch;
    if (cli_open_rank(c, o, &b) && cli_values_options(c, &values) &&
        check_counts(c, steps, &values) && cli_values_resolve(c, &values) &&
        cli_prepare_launch(c, o, &values, &launch) && (b || cli_open_backend(c, o, &b))) {
        hg_params *params = hg_params_create();
        hg_status status = params ? cli_upload(b, &values, params) : hg_fail_memory();
        if (status == HG_OK) status = cli_rank_lanes(c, &launch);
        if (status == HG_OK) status = do_steps(c, b, steps, &values, &launch, params);
        if (status == HG_OK) status = cli_rank_wait(c);
        if (status == HG_OK) status = cli_collect(c, b, &values);
        if (status != HG_OK) cli_last_error(c);
        hg_params_destroy(params);
    }
    cli_values_free(&values); /* charged to the backend */
    cli_close_backend(c, o, b);
}

/* Lanes that cannot be shared are the first device's. */
static hg_status launch_on(cli *c, const cli_launch *o, hg_multi_gpu *devices,
                           const hg_launch *launch, const hg_params *params) {
    optimize_lanes touched;
    if (optimize_find_lanes(c->program, &touched) == HG_OK) {
        c->shared_by = o->backend;
        return hg_multi_gpu_lanes(devices, c->program, launch, params, NULL);
    }
    if (hg_last_error()->status != HG_ERROR_INVALID_ARGUMENT) return hg_last_error()->status;
    if (!c->quiet)
        fprintf(stderr, "hologram run: note: %.*s alone runs it: %s\n",
                (int)strcspn(o->backend, "+"), o->backend, hg_last_error()->message);
    hg_backend *first = hg_multi_gpu_backend(devices, 0);
    HG_TRY(hg_context_set_comm(first, NULL, NULL)); /* there is one rank */
    return cli_device_execute(first, c->program, launch, params);
}

/* On several devices, which share its lanes. */
static void execute_on(cli *c, const cli_launch *o) {
    cli_values values = {0};
    hg_multi_gpu *devices = NULL;
    hg_launch launch;
    if (cli_values_read(c, &values) && cli_prepare_launch(c, o, &values, &launch) &&
        cli_open_several(c, o, &devices)) {
        hg_backend *b = hg_multi_gpu_backend(devices, 0);
        hg_params *params = hg_params_create();
        hg_status status = params ? cli_upload(b, &values, params) : hg_fail_memory();
        if (status == HG_OK) status = launch_on(c, o, devices, &launch, params);
        if (status == HG_OK) status = cli_collect(c, b, &values);
        if (status == HG_OK && o->profile) status = hg_backend_write_profile(b, NULL);
        if (status != HG_OK) cli_last_error(c);
        hg_params_destroy(params);
    }
    cli_values_free(&values); /* charged to the backend */
    hg_multi_gpu_destroy(devices);
}

static bool shares_output(cli *c) {
    for (uint64_t i = 0; i < c->pairs.count && (c->json || c->stamp || c->hash); i++) {
        const char *raw = hg_path_of_raw(c->pairs.data[i].value),
                   *path = raw ? raw : c->pairs.data[i].value;
        if (strcmp(c->pairs.data[i].option, "--out") != 0 || path[0] != '-' ||
            (path[1] && strncmp(path + 1, CLI_SHARD, strlen(CLI_SHARD)) != 0))
            continue;
        cli_usage(c, "%s and an output on standard output exclude each other",
                  c->json    ? "--json"
                  : c->stamp ? "--stamp"
                             : "--hash");
        return true;
    }
    return false;
}

static int run(int argc, char **argv, cli_rank *rank) {
    cli c = {.rank = rank};
    cli_launch o = {0};
    run_steps steps = {0};
    bool canonicalise = false, variants = false;
    const char *expression = NULL, *type = NULL;
    const cli_option options[] = {
        CLI_LAUNCH_OPTIONS(o),
        CLI_STEP_OPTIONS(o),
        {"--backend", &o.backend, NULL},
        {"--device", &o.device, NULL},
        {"--profile", &o.profile, NULL},
        {"--ranks", &o.ranks, NULL},
        {"--steps", &steps.count, NULL},
        {"--checkpoint", &steps.checkpoint, NULL},
        {"--every", &steps.every, NULL},
        {"--progress", NULL, &steps.progress},
        {"--weights", &c.weights, NULL},
        {"--passes", &c.passes, NULL},
        {"--as-graph", NULL, &c.as_graph},
        {"--hash", NULL, &c.hash},
        {"--stamp", NULL, &c.stamp},
        {"--fast", NULL, &c.fast},
        {"--check-races", NULL, &o.check_races},
        {"--canonicalise", NULL, &canonicalise},
        {"--variants", NULL, &variants},
        {"-e", &expression, NULL},
        {"--type", &type, NULL},
    };
    if (!cli_parse(&c, argc, argv, options, HG_COUNT_OF(options))) return cli_rank_finish(&c);
    if (o.ranks && !rank) return cli_on_ranks(&c, o.ranks, argc, argv, run);
    c.circuit_options.canonicalise = canonicalise ? HG_CANONICALISE_SOUND : HG_CANONICALISE_OFF;
    c.circuit_options.variants = variants;
    c.circuit_options.type = type;
    if (c.arguments.count + (expression != NULL) != 1 &&
        (c.arguments.count || expression || !c.kernel))
        cli_usage(&c, "expects one PROGRAM or -e CIRCUIT, got %llu",
                  (unsigned long long)c.arguments.count + (expression != NULL));
    else if (shares_output(&c) || !cli_memory_begin(&c, o.max_memory))
        ;
    else if (!(expression ? cli_load_circuit(&c, expression) && cli_verify(&c)
                          : cli_load_any(&c, cli_file(&c))))
        ;
    else if (cli_names_several(&o) && (c.graph || c.circuit.program))
        cli_usage(&c, "--backend %s: devices share the lanes of a program, which this is not",
                  o.backend);
    else if ((c.graph || c.circuit.program || cli_names_several(&o)) &&
             (steps.count || steps.checkpoint || steps.every || steps.progress))
        cli_usage(&c, "--steps and what goes with it are for programs on one device");
    else if (c.graph)
        cli_run_graph(&c, &o);
    else if (c.circuit.program)
        cli_run_circuit(&c, &o);
    else if (canonicalise || variants || type)
        cli_usage(&c, "%s is for circuits",
                  canonicalise ? "--canonicalise"
                  : variants   ? "--variants"
                               : "--type");
    else if (cli_names_several(&o))
        execute_on(&c, &o);
    else if (read_steps(&c, &steps))
        execute(&c, &o, &steps);
    return cli_rank_finish(&c);
}

int command_run(int argc, char **argv) { return run(argc, argv, NULL); }
