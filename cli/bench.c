/* hologram bench: one program over the same inputs again and again, on one device after another,
 * with the times of its launches. */
#include "bench_suite.h"
#include "diff.h"
#include "base/thread.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WARM_UP = 3, LEAST = 5, MOST = 1000000 };

typedef struct bench_options {
    cli_launch launch;
    const char *backends, *warm_up, *repeat, *seconds, *seed, *suite;
} bench_options;

typedef struct bench {
    cli *c;
    cli_values *values;
    hg_launch launch;                   /* of a program */
    hg_graph_options graph_options;     /* of a graph */
    uint64_t warm_up, repeat, limit_ns; /* repeat 0: until limit_ns */
    uint64_t bytes, lanes;
    uint64_t *times; /* room for MOST, or repeat */
    double base_ms;  /* median of the first device; 0: none yet */
} bench;

/* A program on a device, or a graph. */
typedef struct bench_bound {
    hg_executable *executable;
    hg_binding *binding;
    hg_graph_executable *graph_executable;
    hg_graph_binding *graph; /* NULL: a program */
} bench_bound;

/* Of one device, in milliseconds. */
typedef struct bench_times {
    char label[40];
    double first, median, low, high, fastest, slowest; /* low, high: half of the launches lie
                                                          between */
    uint64_t count;
} bench_times;

/* ---- what is run ---- */

/* Every array that is read once, every array that is written once more. */
static uint64_t bytes_of(const cli_values *values) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < values->count; i++) {
        const cli_value *v = &values->data[i];
        if (v->param->kind == HG_PARAM_BUFFER)
            bytes += v->bytes * (v->param->dir == HG_DIR_INOUT ? 2 : 1);
    }
    return bytes;
}

static hg_status bind_array(hg_backend *b, cli_value *v, hg_params *params) {
    HG_TRY(hg_backend_allocate_buffer(b, v->bytes, &v->buffer));
    if (v->bound) HG_TRY(cli_device_write(b, v->buffer, v->data, v->bytes));
    return hg_params_set_buffer(params, v->param->name, v->buffer);
}

static hg_status bind_all(const bench *n, hg_backend *b, hg_params *params) {
    for (uint32_t i = 0; i < n->values->count; i++) {
        cli_value *v = &n->values->data[i];
        const hg_param *p = v->param;
        if (p->kind == HG_PARAM_SCALAR)
            HG_TRY(hg_params_set_scalar(params, p->name, (hg_type)p->type, v->scalar));
        if (p->kind == HG_PARAM_BUFFER) HG_TRY(bind_array(b, v, params));
    }
    return HG_OK;
}

/* Arrays that a launch changes in place are what they were, so that every launch does the same
 * work. */
static hg_status restore(const bench *n, hg_backend *b) {
    for (uint32_t i = 0; i < n->values->count; i++) {
        const cli_value *v = &n->values->data[i];
        bool changed = v->param->kind == HG_PARAM_BUFFER && v->param->dir == HG_DIR_INOUT &&
                       v->bound;
        if (changed) HG_TRY(cli_device_write(b, v->buffer, v->data, v->bytes));
    }
    return HG_OK;
}

/* ---- times ---- */

static hg_status make_ready(const bench *n, hg_backend *b, const hg_params *params,
                            bench_bound *bound) {
    if (n->c->graph) {
        HG_TRY(hg_graph_compile(b, n->c->graph, &n->graph_options, &bound->graph_executable));
        return hg_graph_bind(bound->graph_executable, params, &bound->graph);
    }
    HG_TRY(hg_executable_create_for(b, n->c->program, &n->launch, params, &bound->executable));
    return hg_binding_create(bound->executable, &n->launch, params, &bound->binding);
}

static hg_status launch(hg_backend *b, const bench_bound *bound) {
    return bound->graph ? cli_device_launch_graph(b, bound->graph)
                        : cli_device_launch(b, bound->binding);
}

static void let_go(const bench_bound *bound) {
    hg_binding_destroy(bound->binding);
    hg_executable_destroy(bound->executable);
    hg_graph_binding_destroy(bound->graph);
    hg_graph_executable_destroy(bound->graph_executable);
}

static hg_status launch_all(const bench *n, hg_backend *b, const bench_bound *bound,
                            uint64_t *count) {
    for (uint64_t i = 0; i < n->warm_up; i++) {
        HG_TRY(restore(n, b));
        HG_TRY(launch(b, bound));
    }
    uint64_t end = hg_clock_ns() + n->limit_ns;
    for (*count = 0;
         n->repeat ? *count < n->repeat : *count < LEAST || (*count < MOST && hg_clock_ns() < end);
         ++*count) {
        HG_TRY(restore(n, b));
        uint64_t start = hg_clock_ns();
        HG_TRY(launch(b, bound));
        n->times[*count] = hg_clock_ns() - start;
    }
    return HG_OK;
}

static int by_time(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Between two neighbours of the sorted times. */
static double quantile(const uint64_t *times, uint64_t count, double part) {
    double at = part * (double)(count - 1);
    uint64_t below = (uint64_t)at, above = below + 1 < count ? below + 1 : below;
    return ((double)times[below] +
            (at - (double)below) * ((double)times[above] - (double)times[below])) /
           1e6;
}

static void sum_up(const bench *n, uint64_t count, bench_times *t) {
    qsort(n->times, (size_t)count, sizeof *n->times, by_time);
    t->count = count;
    t->median = quantile(n->times, count, 0.5);
    t->low = quantile(n->times, count, 0.25);
    t->high = quantile(n->times, count, 0.75);
    t->fastest = (double)n->times[0] / 1e6;
    t->slowest = (double)n->times[count - 1] / 1e6;
}

static hg_status measure(const bench *n, hg_backend *b, bench_times *t) {
    bench_bound bound = {0};
    uint64_t count = 0, start = hg_clock_ns();
    hg_params *params = hg_params_create();
    hg_status status = params ? bind_all(n, b, params) : hg_fail_memory();
    if (status == HG_OK) status = make_ready(n, b, params, &bound);
    if (status == HG_OK) status = launch(b, &bound);
    t->first = (double)(hg_clock_ns() - start) / 1e6;
    if (status == HG_OK) status = launch_all(n, b, &bound, &count);
    if (status == HG_OK) sum_up(n, count, t);
    let_go(&bound);
    hg_params_destroy(params);
    return status;
}

/* ---- telling ---- */

static double per_second(uint64_t amount, double ms) {
    return ms > 0 ? (double)amount / ms * 1e3 : 0;
}

static void add_json(const bench *n, const bench_times *t) {
    hg_json json;
    const struct {
        const char *key;
        double value;
    } numbers[] = {{"first_ms", t->first},
                   {"median_ms", t->median},
                   {"low_ms", t->low},
                   {"high_ms", t->high},
                   {"fastest_ms", t->fastest},
                   {"slowest_ms", t->slowest},
                   {"gb_per_s", per_second(n->bytes, t->median) / 1e9},
                   {"lanes_per_s", per_second(n->lanes, t->median)},
                   {"times_first", t->median > 0 ? n->base_ms / t->median : 0}};
    cli_json_item(n->c, &json);
    hg_json_add_text(&json, "device", t->label);
    hg_json_add_u64(&json, "launches", t->count);
    hg_json_add_u64(&json, "lanes", n->lanes);
    hg_json_add_u64(&json, "bytes", n->bytes);
    for (size_t i = 0; i < HG_COUNT_OF(numbers); i++) {
        char text[40];
        int length = snprintf(text, sizeof text, "%.9g", numbers[i].value);
        hg_json_key(&json, numbers[i].key);
        hg_json_literal(&json, text, (size_t)length);
    }
    hg_json_end_object(&json);
}

static hg_status print_head(const bench *n) {
    char text[400];
    char lanes[40] = "";
    if (!n->c->graph) snprintf(lanes, sizeof lanes, "%llu lanes, ", (unsigned long long)n->lanes);
    int length = snprintf(
        text, sizeof text, "%s: %s%llu bytes of arrays\n%-12s %11s %11s %23s %9s %10s %10s %7s\n",
        hg_program_name(n->c->program), lanes, (unsigned long long)n->bytes, "device", "first ms",
        "median ms", "half of them within", "GB/s", "Mlanes/s", "launches", "speed");
    return cli_print_now(text, (size_t)length);
}

static hg_status print_row(const bench *n, const bench_times *t) {
    char within[48], speed[24], lanes[24] = "-", text[400];
    double times = t->median > 0 ? n->base_ms / t->median : 0;
    snprintf(speed, sizeof speed, times < 0.1 ? "%.2gx" : "%.2fx", times);
    if (!n->c->graph) snprintf(lanes, sizeof lanes, "%.4g", per_second(n->lanes, t->median) / 1e6);
    snprintf(within, sizeof within, "%.4g - %.4g", t->low, t->high);
    int length = snprintf(text, sizeof text, "%-12s %11.4g %11.4g %23s %9.4g %10s %10llu %7s\n",
                          t->label, t->first, t->median, within,
                          per_second(n->bytes, t->median) / 1e9, lanes,
                          (unsigned long long)t->count, speed);
    return cli_print_now(text, (size_t)length);
}

/* ---- devices one after another ---- */

/* True when it ran; else why is reported, and the other devices have their turn. */
static bool run_device(bench *n, const bench_options *o, const char *text, size_t length) {
    hg_config config;
    hg_backend *b = NULL;
    bench_times t = {.count = 0};
    hg_status status = hg_config_load(NULL, &config);
    if (status == HG_OK && length &&
        !cli_read_device(n->c, "--backend NAME:DEVICE", text, length, &config))
        return false;
    if (status == HG_OK && !cli_number(n->c, "--compile-timeout", o->launch.compile_timeout,
                                       UINT64_MAX / 1000000, &config.compile_timeout_ms))
        return false;
    if (status == HG_OK && !cli_set_steps(n->c, &o->launch, &config)) return false;
    config.max_memory = n->c->max_memory;
    if (status == HG_OK) status = cli_device_open(&config, &b);
    if (status == HG_OK) {
        snprintf(t.label, sizeof t.label, "%s %u", hg_backend_name(b), (unsigned)config.device_id);
        status = measure(n, b, &t);
    }
    if (status == HG_OK) {
        if (n->base_ms == 0) n->base_ms = t.median;
        if (n->c->json)
            add_json(n, &t);
        else
            status = print_row(n, &t);
    }
    if (status != HG_OK) cli_last_error(n->c);
    hg_backend_destroy(b);
    return status == HG_OK;
}

static void run_devices(bench *n, const bench_options *o) {
    const char *at = o->backends ? o->backends : "";
    if (!n->c->json && print_head(n) != HG_OK) {
        cli_last_error(n->c);
        return;
    }
    for (;;) {
        size_t length = strcspn(at, ",");
        (void)run_device(n, o, at, length);
        if (!at[length]) return;
        at += length + 1;
    }
}

/* ---- the command ---- */

static bool check_names(cli *c, const char *backends) {
    size_t length = backends ? strlen(backends) : 1;
    bool good = length && (!backends || (backends[0] != ',' && backends[length - 1] != ',' &&
                                         !strstr(backends, ",,")));
    if (!good) cli_usage(c, "--backend expects names with commas between, got '%s'", backends);
    return good;
}

static bool read_numbers(bench *n, const bench_options *o, uint64_t *seed, uint64_t *lanes) {
    double seconds = 1;
    if (o->seconds) {
        char *end;
        seconds = strtod(o->seconds, &end);
        if (end == o->seconds || *end || !(seconds >= 0 && seconds <= 86400)) {
            cli_usage(n->c, "--seconds expects a number up to 86400, got '%s'", o->seconds);
            return false;
        }
    }
    n->limit_ns = (uint64_t)(seconds * 1e9);
    n->warm_up = WARM_UP;
    if (o->repeat && o->seconds) {
        cli_usage(n->c, "--repeat and --seconds exclude each other");
        return false;
    }
    if (!cli_number(n->c, "--warm-up", o->warm_up, MOST, &n->warm_up) ||
        !cli_number(n->c, "--repeat", o->repeat, MOST, &n->repeat))
        return false;
    if (o->repeat && n->repeat == 0) {
        cli_usage(n->c, "--repeat expects at least 1");
        return false;
    }
    return cli_number(n->c, "--seed", o->seed, UINT64_MAX, seed) &&
           cli_number(n->c, "--lanes", o->launch.lanes, HG_MAX_LANES, lanes);
}

static void run(cli *c, const bench_options *o) {
    cli_values values = {0};
    bench n = {.c = c, .values = &values};
    uint64_t seed = 1, lanes = 0;
    if (check_names(c, o->backends) && read_numbers(&n, o, &seed, &lanes) &&
        diff_inputs(c, &values, lanes, seed) &&
        (c->graph ? cli_graph_options(c, &o->launch, &n.graph_options)
                  : cli_prepare_launch(c, &o->launch, &values, &n.launch))) {
        n.bytes = bytes_of(&values);
        n.lanes = n.launch.lanes ? n.launch.lanes : hg_launch_total_threads(&n.launch);
        n.times = (uint64_t *)(void *)cli_zeroed(c, (n.repeat ? n.repeat : MOST) * sizeof *n.times,
                                                 sizeof *n.times);
        if (n.times) run_devices(&n, o);
        hg_free_aligned(n.times);
    }
    cli_values_free(&values);
}

int command_bench(int argc, char **argv) {
    cli c = {.keep_outputs = true};
    bench_options o = {0};
    const cli_option options[] = {
        CLI_LAUNCH_OPTIONS(o.launch),     CLI_STEP_OPTIONS(o.launch),
        {"--backend", &o.backends, NULL}, {"--warm-up", &o.warm_up, NULL},
        {"--repeat", &o.repeat, NULL},    {"--seconds", &o.seconds, NULL},
        {"--seed", &o.seed, NULL},        {"--weights", &c.weights, NULL},
        {"--passes", &c.passes, NULL},    {"--as-graph", NULL, &c.as_graph},
        {"--suite", &o.suite, NULL},
    };
    if (!cli_parse(&c, argc, argv, options, HG_COUNT_OF(options))) return cli_finish(&c);
    if (o.suite) {
        if (cli_file(&c))
            cli_usage(&c, "--suite measures programs of its own, got '%s' too", cli_file(&c));
        else
            bench_suite(&c, o.suite);
    } else if (!cli_one_program(&c))
        ;
    else if (cli_memory_begin(&c, o.launch.max_memory) && cli_load_any(&c, cli_file(&c))) {
        if (c.circuit.program)
            cli_usage(&c, "'%s' is a circuit: bench runs programs with parameters", c.file);
        else
            run(&c, &o);
    }
    return cli_finish(&c);
}
