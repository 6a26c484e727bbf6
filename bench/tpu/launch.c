/* What a launch of a graph on a PJRT plugin takes over the plugin's own execution of it: a small
 * graph is launched many times, and the time in PJRT_LoadedExecutable_Execute and until its event
 * is there is taken out of each. bench/tpu/run builds and runs it. */
#include "../bench.h"
#include "backends/tpu/tpu_internal.h"
#include "runtime/graph.h"
#include "../calls.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LAUNCHES = 4000 };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

/* The plugin's functions with a clock around them. */
static tpu_plugin plugin;
static double in_plugin;

static pjrt_error *execute(pjrt_execute *a) {
    double begin = now();
    pjrt_error *error = plugin.execute(a);
    in_plugin += now() - begin;
    return error;
}
static pjrt_error *await(pjrt_of_event *a) {
    double begin = now();
    pjrt_error *error = plugin.event_await(a);
    in_plugin += now() - begin;
    return error;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

int main(void) {
    static const char TEXT[] =
        ".graph 1\n.input x f32 [256]\ny = parallel_map neg, in=x\n.output y\n";
    static double over[LAUNCHES], whole[LAUNCHES];
    hg_backend *backend;
    hg_graph *graph;
    hg_graph_executable *executable;
    hg_graph_binding *binding;
    hg_buffer x, y;
    hg_params *params = hg_params_create();
    if (hg_backend_create("tpu", 0, &backend) != HG_OK) {
        printf("not run: %s\n", hg_last_error_text());
        return 0;
    }
    OK(hg_graph_read_text(TEXT, sizeof TEXT - 1, NULL, NULL, &graph));
    OK(hg_backend_allocate_buffer(backend, 1024, &x));
    OK(hg_backend_allocate_buffer(backend, 1024, &y));
    OK(hg_params_set_buffer(params, "x", x));
    OK(hg_params_set_buffer(params, "y", y));
    OK(hg_graph_compile(backend, graph, NULL, &executable));
    OK(hg_graph_bind(executable, params, &binding));
    plugin = *tpu;
    tpu_plugin watched = plugin;
    watched.execute = execute;
    watched.event_await = await;
    tpu = &watched;
    for (int i = -100; i < LAUNCHES; i++) {
        in_plugin = 0;
        double begin = now();
        OK(hg_graph_binding_launch(binding));
        double took = now() - begin;
        if (i < 0) continue;
        whole[i] = took;
        over[i] = took - in_plugin;
    }
    if (hg_graph_binding_module_runs(binding) != LAUNCHES + 100) {
        printf("the graph was no module of the plugin\n");
        return 1;
    }
    qsort(over, LAUNCHES, sizeof *over, compare);
    qsort(whole, LAUNCHES, sizeof *whole, compare);
    printf("launch of neg of 256 f32: %.1f us (%.1f - %.1f), over the plugin's execution %.2f us "
           "(%.2f - %.2f)\n",
           whole[LAUNCHES / 2], whole[LAUNCHES / 10], whole[LAUNCHES * 9 / 10], over[LAUNCHES / 2],
           over[LAUNCHES / 10], over[LAUNCHES * 9 / 10]);
    return 0;
}
