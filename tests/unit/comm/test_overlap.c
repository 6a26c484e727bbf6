/* Collectives beside other steps: a rank goes on with what does not need the collective while
 * another one has not come to it. That one comes only when it has seen the result, so a rank that
 * waits instead never ends. What meets its arrays by whatever way waits. */
#include "base/thread.h"
#include "runtime/exchange.h"
#include "test.h"
#include <hologram/hologram.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 4096, M = 24, LATEST_MS = 40000 };

typedef struct pair {
    hg_backend *backends[2];
    hg_comm *comms[2];
    const volatile float *seen; /* the last element that rank 0 makes by itself */
    uint64_t latest_ms;         /* the other one comes then, seen or not */
    bool saw, differs;          /* it calls something else */
    hg_status status;
} pair;

static void *come_late(void *user) {
    pair *p = user;
    static float x[N];
    hg_comm_call call = {.size = sizeof call,
                         .kind = HG_COMM_ALL_REDUCE,
                         .operation = p->differs ? HG_COMM_MAX : HG_COMM_ADD,
                         .type = HG_TYPE_F32,
                         .count = N,
                         .input = x,
                         .output = x};
    uint64_t until = hg_clock_ns() + p->latest_ms * UINT64_C(1000000);
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
    p->latest_ms = LATEST_MS;
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

/* ---- steps that meet its arrays ---- */

static hg_binding *bind(hg_backend *b, const char *text, const hg_params *params) {
    hg_program *program = NULL;
    hg_executable *executable = NULL;
    hg_binding *binding = NULL;
    CHECK_MESSAGE(hg_program_assemble(text, strlen(text), NULL, &program) == HG_OK, "%s",
                  hg_last_error_text());
    CHECK(hg_executable_create(b, program, &executable) == HG_OK);
    CHECK_MESSAGE(hg_binding_create(executable, NULL, params, &binding) == HG_OK, "%s",
                  hg_last_error_text());
    hg_executable_destroy(executable);
    hg_program_release(program);
    return binding;
}

/* memory: x, which is reduced, two more of its size; z is x once more. */
static void run_touching(pair *p, const char *text, uint32_t written, uint32_t count) {
    static _Alignas(4096) float memory[3 * N];
    hg_backend *b = p->backends[0];
    hg_params *params = hg_params_create();
    hg_buffer x = {0}, z = {0}, w = buffer_of(b, params, "w", 16 * N, 1); /* sorted, in scratch */
    const uint64_t n = N;
    if (hg_buffer_import(b, memory, sizeof memory, &x) == HG_ERROR_BACKEND_UNAVAILABLE) {
        SKIP(hg_last_error_text());
        hg_params_destroy(params);
        CHECK(hg_backend_free_buffer(b, w) == HG_OK);
        return;
    }
    CHECK(hg_buffer_import(b, memory, N * sizeof *memory, &z) == HG_OK);
    CHECK(hg_params_set_buffer(params, "x", x) == HG_OK);
    CHECK(hg_params_set_buffer(params, "z", z) == HG_OK);
    CHECK(hg_params_set_scalar(params, "n", HG_TYPE_U64, &n) == HG_OK);
    hg_binding *binding = bind(b, text, params);
    p->seen = memory + written + count - 1;
    p->latest_ms = 20; /* a step that does not wait is done by then, or is not noticed */
    for (int launch = 0; launch < 4; launch++) {
        hg_thread thread;
        bool right = true;
        for (uint32_t i = 0; i < 3 * N; i++) memory[i] = i < 2 * N;
        memory[written + count - 1] = 0;
        CHECK(hg_thread_start(&thread, come_late, p));
        CHECK_MESSAGE(hg_binding_launch(binding) == HG_OK, "%s", hg_last_error_text());
        hg_thread_join(thread);
        for (uint32_t i = 0; i < N; i++) right = right && memory[written + i] == -3;
        CHECK_MESSAGE(p->status == HG_OK && !p->saw && right, "launch %d: %g of %s", launch,
                      (double)memory[written], text);
    }
    hg_binding_destroy(binding);
    hg_params_destroy(params);
    CHECK(hg_backend_free_buffer(b, x) == HG_OK && hg_backend_free_buffer(b, z) == HG_OK);
    CHECK(hg_backend_free_buffer(b, w) == HG_OK);
}

static const char *const TOUCHING[] = {
    ".atlas 1\n.program imports\n.param x buffer f32 inout [3 * n]\n.param z buffer f32 in [n]\n"
    ".param w buffer f32 inout [16 * n]\n"
    ".param n u64\nall_reduce.f32 buffer=x, n=n, operation=sum\n"
    "parallel_map.f32 [x + 32768], [z], neg, 4096\n",
    ".atlas 1\n.program copies\n.param x buffer f32 inout [3 * n]\n.param z buffer f32 in [n]\n"
    ".param w buffer f32 inout [16 * n]\n"
    ".param n u64\nall_reduce.f32 buffer=x, n=n, operation=sum\n"
    "parallel_map.f32 [x + 16384], [x], neg, 8192\nsort.f32 output=w, input=w, n=65536\n"};

/* What the collective fails with has its place, however far the rank has come. */
static void run_failing(pair *p) {
    static const char text[] = ".atlas 1\n.program failing\n.param x buffer f32 inout [3 * n]\n"
                               ".param n u64\nall_reduce.f32 buffer=x, n=n, operation=sum\n"
                               "parallel_map.f32 [x + 16384], [x + 32768], neg, 4096\n"
                               "parallel_map.f32 [x + 16384], [x + 32768], neg, 4096\n";
    static const uint64_t least[] = {UINT64_MAX, 0};
    static const float unseen;
    hg_params *params = hg_params_create();
    hg_buffer x = buffer_of(p->backends[0], params, "x", 3 * N, 1);
    const uint64_t n = N;
    CHECK(hg_params_set_scalar(params, "n", HG_TYPE_U64, &n) == HG_OK);
    hg_binding *binding = bind(p->backends[0], text, params);
    p->differs = true;
    p->seen = &unseen;
    p->latest_ms = 20;
    for (int i = 0; i < 2; i++) {
        uint64_t before = hg_exchange_least_apart;
        hg_thread thread;
        hg_exchange_least_apart = least[i];
        CHECK(hg_thread_start(&thread, come_late, p));
        CHECK(hg_binding_launch(binding) == HG_ERROR_INVALID_ARGUMENT);
        CHECK_MESSAGE(hg_last_error()->step == 1 && hg_last_error()->instruction == 0,
                      "step %llu, instruction %llu", (unsigned long long)hg_last_error()->step,
                      (unsigned long long)hg_last_error()->instruction);
        hg_thread_join(thread);
        hg_exchange_least_apart = before;
    }
    p->differs = false;
    hg_binding_destroy(binding);
    hg_params_destroy(params);
    CHECK(hg_backend_free_buffer(p->backends[0], x) == HG_OK);
}

/* ---- what is behind the launch in a queue ---- */

static void run_queue(pair *p) {
    static const char first[] = ".atlas 1\n.program first\n.param x buffer f32 inout [n]\n"
                                ".param g buffer u32 out [m]\n.param i buffer u32 in [m]\n"
                                ".param n u64\n.param m u64\n"
                                "all_reduce.f32 buffer=x, n=n, operation=sum\n"
                                "parallel_map_binary.u32 g, i, i, div, m\n",
                      then[] = ".atlas 1\n.program then\n.param x buffer f32 in [n]\n"
                               ".param y buffer f32 out [n]\n.param n u64\n.lanes n\n"
                               "    y[global] = x[global]\n";
    static const float unseen;
    static float y[N];
    const uint64_t n = N, m = 1 << 16;
    hg_backend *b = p->backends[0];
    hg_context *context = NULL;
    hg_queue *queue = NULL;
    hg_params *params[2] = {hg_params_create(), hg_params_create()};
    CHECK(hg_context_create(b, &context) == HG_OK);
    CHECK(hg_context_set_comm(b, context, p->comms[0]) == HG_OK);
    CHECK(hg_queue_create(b, context, &queue) == HG_OK);
    hg_buffer buffers[] = {buffer_of(b, params[0], "x", N, 1), buffer_of(b, params[0], "g", m, 0),
                           buffer_of(b, params[0], "i", m, 1), buffer_of(b, params[1], "y", N, 0)};
    CHECK(hg_params_set_buffer(params[1], "x", buffers[0]) == HG_OK);
    CHECK(hg_params_set_scalar(params[0], "n", HG_TYPE_U64, &n) == HG_OK);
    CHECK(hg_params_set_scalar(params[0], "m", HG_TYPE_U64, &m) == HG_OK);
    CHECK(hg_params_set_scalar(params[1], "n", HG_TYPE_U64, &n) == HG_OK);
    hg_binding *bindings[] = {bind(b, first, params[0]), bind(b, then, params[1])};
    p->seen = &unseen;
    p->latest_ms = 20;
    for (int launch = 0; launch < 4; launch++) {
        hg_command commands[2] = {{.size = sizeof *commands, .binding = bindings[0]},
                                  {.size = sizeof *commands, .binding = bindings[1]}};
        hg_thread thread;
        bool right = true;
        for (int i = 0; i < N; i++) y[i] = 1;
        CHECK(hg_buffer_write(b, buffers[0], 0, y, sizeof y) == HG_OK);
        CHECK(hg_thread_start(&thread, come_late, p));
        for (int i = 0; i < 2; i++)
            CHECK(hg_queue_submit(queue, &commands[i], 1, NULL, 0, NULL) == HG_OK);
        CHECK_MESSAGE(hg_queue_synchronize(queue) == HG_OK, "%s", hg_last_error_text());
        hg_thread_join(thread);
        CHECK(hg_buffer_read(b, buffers[3], 0, y, sizeof y) == HG_OK);
        for (int i = 0; i < N; i++) right = right && y[i] == 3;
        CHECK_MESSAGE(right, "launch %d: %g behind the collective", launch, (double)y[0]);
    }
    for (int i = 0; i < 2; i++) {
        hg_binding_destroy(bindings[i]);
        hg_params_destroy(params[i]);
    }
    for (int i = 0; i < 4; i++) CHECK(hg_backend_free_buffer(b, buffers[i]) == HG_OK);
    hg_queue_destroy(queue);
    hg_context_destroy(context);
}

/* ---- devices ---- */

static bool open_pair(pair *p, const char *backend) {
    hg_config config = hg_config_default();
    *p = (pair){0};
    snprintf(config.backend, sizeof config.backend, "%s", backend);
    config.num_threads = 1;
    for (int i = 0; i < 2; i++)
        if (hg_backend_create_with_config(&config, &p->backends[i]) != HG_OK) return false;
    CHECK(hg_comm_create_local(p->backends, 2, p->comms) == HG_OK);
    for (int i = 0; i < 2; i++) CHECK(hg_comm_set_timeout(p->comms[i], 2 * LATEST_MS) == HG_OK);
    CHECK(hg_context_set_comm(p->backends[0], NULL, p->comms[0]) == HG_OK);
    return true;
}

static void close_pair(pair *p) {
    CHECK(hg_context_set_comm(p->backends[0], NULL, NULL) == HG_OK);
    for (int i = 0; i < 2; i++) hg_comm_destroy(p->comms[i]);
    for (int i = 0; i < 2; i++) hg_backend_destroy(p->backends[i]);
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
    pair p;
    if (!open_pair(&p, "cpu")) return 1;
    run_pair(&p, one, -3);
    run_pair(&p, maps, 4);
    run_pair(&p, behind, -3);
    for (int i = 0; i < 2; i++) run_touching(&p, TOUCHING[i], i ? N : 2 * N, i ? 2 * N : N);
    run_failing(&p);
    close_pair(&p);
    if (open_pair(&p, "opencl")) {
        run_queue(&p);
        run_touching(&p, TOUCHING[0], 2 * N, N);
        close_pair(&p);
    } else {
        SKIP(hg_last_error_text());
    }
    return test_done();
}
