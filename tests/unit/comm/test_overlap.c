/* Collectives beside other steps: a rank goes on with what does not need the collective while
 * another one has not come to it. That one comes only when it has seen the result, so a rank that
 * waits instead never ends. */
#include "base/thread.h"
#include "test.h"
#include <hologram/hologram.h>
#include <stdlib.h>

enum { N = 4096, M = 24, LATEST_MS = 40000 };

typedef struct pair {
    hg_backend *backends[2];
    hg_comm *comms[2];
    const volatile float *seen; /* the last element that rank 0 makes by itself */
    bool saw;
    hg_status status;
} pair;

static void *come_late(void *user) {
    pair *p = user;
    static float x[N];
    hg_comm_call call = {.size = sizeof call,
                         .kind = HG_COMM_ALL_REDUCE,
                         .type = HG_TYPE_F32,
                         .count = N,
                         .input = x,
                         .output = x};
    uint64_t until = hg_clock_ns() + LATEST_MS * UINT64_C(1000000);
    for (int i = 0; i < N; i++) x[i] = 2;
    while (!(p->saw = *p->seen != 0) && hg_clock_ns() < until) hg_thread_yield();
    p->status = hg_comm_run(p->comms[1], &call);
    return NULL;
}

static hg_buffer buffer_of(hg_backend *b, hg_params *params, const char *name, uint64_t count,
                           float value) {
    hg_buffer buffer = {0};
    float *data = malloc(count * sizeof *data);
    for (uint64_t i = 0; i < count; i++) data[i] = value;
    CHECK(hg_backend_allocate_buffer(b, count * 4, &buffer) == HG_OK);
    CHECK(hg_buffer_write(b, buffer, 0, data, count * 4) == HG_OK);
    CHECK(hg_params_set_buffer(params, name, buffer) == HG_OK);
    free(data);
    return buffer;
}

static void run_pair(pair *p, const char *text, float expected_s) {
    hg_backend *b = p->backends[0];
    hg_graph *graph = NULL;
    hg_graph_executable *executable = NULL;
    hg_graph_binding *binding = NULL;
    hg_params *params = hg_params_create();
    hg_buffer buffers[4] = {buffer_of(b, params, "x", N, 1), buffer_of(b, params, "a", M * M, 1),
                            buffer_of(b, params, "y", M * M, 0), buffer_of(b, params, "t", N, 0)};
    hg_native_buffer native = {.size = sizeof native};
    CHECK(hg_buffer_native(b, buffers[2], &native) == HG_OK && native.kind == HG_MEMORY_HOST);
    p->seen = (const volatile float *)(uintptr_t)native.memory + M * M - 1;
    CHECK(hg_graph_read_text(text, strlen(text), NULL, NULL, &graph) == HG_OK);
    CHECK(hg_graph_compile(b, graph, NULL, &executable) == HG_OK);
    CHECK_MESSAGE(hg_graph_bind(executable, params, &binding) == HG_OK, "%s", hg_last_error_text());
    for (int launch = 0; launch < 6; launch++) { /* the first one, and ones of what is known */
        static float y[M * M], t[N];
        hg_thread thread;
        memset(y, 0, sizeof y);
        CHECK(hg_buffer_write(b, buffers[2], 0, y, sizeof y) == HG_OK);
        CHECK(hg_thread_start(&thread, come_late, p));
        CHECK_MESSAGE(hg_graph_binding_launch(binding) == HG_OK, "%s", hg_last_error_text());
        hg_thread_join(thread);
        CHECK_MESSAGE(p->saw && p->status == HG_OK, "launch %d: the rank waited for the other one",
                      launch);
        CHECK(hg_buffer_read(b, buffers[2], 0, y, sizeof y) == HG_OK);
        CHECK(hg_buffer_read(b, buffers[3], 0, t, sizeof t) == HG_OK);
        bool right = true;
        for (int i = 0; i < M * M; i++) right = right && y[i] == M;
        for (int i = 0; i < N; i++) right = right && t[i] == expected_s;
        CHECK_MESSAGE(right, "launch %d: %g and %g", launch, (double)y[0], (double)t[0]);
    }
    hg_graph_binding_destroy(binding);
    hg_graph_executable_destroy(executable);
    hg_graph_release(graph);
    hg_params_destroy(params);
    for (int i = 0; i < 4; i++) CHECK(hg_backend_free_buffer(b, buffers[i]) == HG_OK);
}

/* A rank that comes after a while: what does not wait for it is over by then. */
static void *come_later(void *user) {
    pair *p = user;
    static float x[N];
    const hg_comm_call call = {.size = sizeof call,
                               .kind = HG_COMM_ALL_REDUCE,
                               .type = HG_TYPE_F32,
                               .count = N,
                               .input = x,
                               .output = x};
    uint64_t until = hg_clock_ns() + UINT64_C(50000000);
    for (int i = 0; i < N; i++) x[i] = 2;
    while (hg_clock_ns() < until) hg_thread_yield();
    p->status = hg_comm_run(p->comms[1], &call);
    return NULL;
}

/* The step behind reads the collective's memory, which the host has imported twice. */
static void run_imports(pair *p) {
    static const char text[] = ".atlas 1\n.program p\n.param x buffer f32 inout [4096]\n"
                               ".param again buffer f32 in [4096]\n"
                               ".param y buffer f32 out [4096]\n"
                               "all_reduce.f32 buffer=x, n=4096, operation=sum\n"
                               "parallel_map.f32 y, again, neg, 4096\n";
    static float x[N], y[N];
    hg_backend *b = p->backends[0];
    hg_program *program = NULL;
    hg_params *params = hg_params_create();
    hg_buffer buffers[3] = {{0}};
    hg_thread thread;
    for (int i = 0; i < N; i++) x[i] = 1;
    CHECK(hg_program_assemble(text, sizeof text - 1, NULL, &program) == HG_OK);
    for (int i = 0; i < 2; i++) CHECK(hg_buffer_import(b, x, sizeof x, &buffers[i]) == HG_OK);
    CHECK(hg_params_set_buffer(params, "x", buffers[0]) == HG_OK);
    CHECK(hg_params_set_buffer(params, "again", buffers[1]) == HG_OK);
    buffers[2] = buffer_of(b, params, "y", N, 0);
    CHECK(hg_thread_start(&thread, come_later, p));
    CHECK_MESSAGE(hg_backend_execute_program_with_params(b, program, NULL, params) == HG_OK, "%s",
                  hg_last_error_text());
    hg_thread_join(thread);
    CHECK(p->status == HG_OK && hg_buffer_read(b, buffers[2], 0, y, sizeof y) == HG_OK);
    CHECK_MESSAGE(x[N - 1] == 3 && y[N - 1] == -3, "%g and %g", (double)x[N - 1], (double)y[N - 1]);
    hg_params_destroy(params);
    hg_program_release(program);
    for (int i = 0; i < 3; i++) CHECK(hg_backend_free_buffer(b, buffers[i]) == HG_OK);
}

int main(void) {
    static const char one[] = ".graph 1\n.input x f32 [4096]\n.input a f32 [24, 24]\n"
                              "s = all_reduce buffer=x, operation=sum\n"
                              "y = gemm a=a, b=a\n"
                              "t = parallel_map neg, in=s\n.output y\n.output t\n",
                      maps[] = ".graph 1\n.input x f32 [4096]\n.input a f32 [24, 24]\n"
                               "z = parallel_map abs, in=x\n"
                               "s = all_reduce buffer=z, operation=sum\n"
                               "h = gemm a=a, b=a\n"
                               "g = parallel_map neg, in=h\n"
                               "y = parallel_map abs, in=g\n"
                               "t = parallel_map_binary add, a=s, b=z\n.output y\n.output t\n",
                      behind[] = ".graph 1\n.input x f32 [4096]\n.input a f32 [24, 24]\n"
                                 "h = parallel_map neg, in=a\n"
                                 "y = gemm a=h, b=h\n"
                                 "s = all_reduce buffer=x, operation=sum\n"
                                 "t = parallel_map neg, in=s\n.output y\n.output t\n";
    pair p = {0};
    hg_config config = hg_config_default();
    memcpy(config.backend, "cpu", sizeof "cpu");
    config.num_threads = 1;
    for (int i = 0; i < 2; i++)
        CHECK(hg_backend_create_with_config(&config, &p.backends[i]) == HG_OK);
    CHECK(hg_comm_create_local(p.backends, 2, p.comms) == HG_OK);
    for (int i = 0; i < 2; i++) CHECK(hg_comm_set_timeout(p.comms[i], 2 * LATEST_MS) == HG_OK);
    CHECK(hg_context_set_comm(p.backends[0], NULL, p.comms[0]) == HG_OK);
    run_pair(&p, one, -3);
    run_pair(&p, maps, 4);
    run_pair(&p, behind, -3);
    run_imports(&p);
    CHECK(hg_context_set_comm(p.backends[0], NULL, NULL) == HG_OK);
    for (int i = 0; i < 2; i++) hg_comm_destroy(p.comms[i]);
    for (int i = 0; i < 2; i++) hg_backend_destroy(p.backends[i]);
    return test_done();
}
