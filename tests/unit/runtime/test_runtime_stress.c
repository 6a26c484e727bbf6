/* test: labels=threads */
/* Threads, queues and contexts at the same time: launches of several kinds that are waited for or
 * queued, queues that wait for each other, faults, memory freed and queues and events destroyed in
 * flight. Every result is checked. On the CPU, on devices that work only while they are polled, and
 * on the backend that the arguments name: BACKEND [ROUNDS [PRETEND [SEED]]]. */
#include "base/base.h"
#include "support/runtime_support.h"
#include "support/sanitized.h"
#include <pthread.h>
#include <stdatomic.h>

#define COMMAND(...) ((hg_command){.size = sizeof(hg_command), __VA_ARGS__})
enum { THREADS = 8, QUEUES = 4, CONTEXTS = 3, N = 300 };

#define STEPS(before, after)                                                                \
    PROGRAM(".param r1 x buffer f32 in [n]\n.param r2 y buffer f32 inout [n]\n.param r4 n " \
            "u64\n.lanes n\n"                                                               \
            " mov_imm.u32 r250, 2\n shl.u64 r0, r255, r250\n" before                        \
            " parallel_map.f32 r2, r1, abs, r4\n"                                           \
            " parallel_reduce.f32 r11, r2, max, r4\n" after                                 \
            " ldg.f32 r10, [r2 + r0]\n add.f32 r10, r10, r11\n"                             \
            " stg.f32 [r2 + r0], r10\n")
static const char ACCUMULATE[] = PROGRAM(
    ".lanes 64\n mov_imm.f64 r3, 1.0\n mov_imm.u32 r2, 7\n res.accum r4, r3, 7\n");
static const char CLASSES[] = PROGRAM(
    ".param r1 x buffer f32 in [n]\n.param r2 y buffer f32 inout [n]\n.param r4 n u64\n.lanes n\n "
    "mov_imm.u32 r250, 2\n"
    " shl.u64 r0, r255, r250\n ldg.f32 r10, [r1 + r0]\n stg.f32 [class5 + r0], r10\n"
    " ldg.f32 r11, [class5 + r0]\n stg.f32 [r2 + r0], r11\n");
static const char FAULT[] = PROGRAM(
    ".param r2 y buffer f32 inout [n]\n.param r4 n u64\n.lanes n\n ldg.f32 r10, [buf(r2) + "
    "4000000]\n stg.f32 [buf(r2) + 0], r10\n");

typedef struct stage {
    hg_backend *b;
    bool computes; /* the null backend does not */
    hg_queue *queues[QUEUES];
    hg_context *contexts[CONTEXTS];
    hg_executable *axpy, *steps, *accumulate, *classes, *fault;
    hg_binding *shared; /* y = |x| + max |x|, of everybody */
    hg_binding *accumulates[CONTEXTS];
    hg_buffer shared_x, shared_y;
    float expected[N];
    atomic_uint accumulated[CONTEXTS];
    unsigned rounds;
} stage;

typedef struct worker {
    stage *s;
    pthread_t thread;
    uint64_t random;
    hg_buffer x, y;
    float values[N], out[N];
    unsigned failures;
    char first[256];
} worker;

/* ---- small things ---- */

static uint64_t below(worker *w, uint64_t n) {
    w->random = w->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (w->random >> 33) % n;
}

static void wrong(worker *w, const char *what, const char *why) {
    if (w->failures++ == 0) snprintf(w->first, sizeof w->first, "%s: %s", what, why);
}

static bool good(worker *w, const char *what, hg_status status) {
    if (status != HG_OK) wrong(w, what, hg_last_error_text());
    return status == HG_OK;
}

static void expect_out(worker *w, const char *what, float (*expected)(const worker *, int)) {
    char why[80];
    for (int i = 0; i < N && w->s->computes; i++) {
        float e = expected(w, i);
        if (w->out[i] == e) continue;
        snprintf(why, sizeof why, "element %d is %g, expected %g", i, (double)w->out[i], (double)e);
        wrong(w, what, why);
        return;
    }
}

static float doubled(const worker *w, int i) { return 2 * w->values[i]; }
static float same(const worker *w, int i) { return w->values[i]; }
static float with_most(const worker *w, int i) {
    float most = 0;
    for (int k = 0; k < N; k++) most = w->values[k] > most ? w->values[k] : most;
    return w->values[i] + most;
}
static float of_all(const worker *w, int i) { return w->s->expected[i]; }

static hg_binding *bind(worker *w, hg_executable *e, hg_buffer x, hg_buffer y) {
    hg_params *params = hg_params_create();
    hg_binding *binding = NULL;
    float alpha = 2;
    if (e != w->s->accumulate && e != w->s->fault)
        good(w, "x", hg_params_set_buffer(params, "x", x));
    if (e != w->s->accumulate) good(w, "y", hg_params_set_buffer(params, "y", y));
    if (e == w->s->axpy)
        good(w, "alpha", hg_params_set_scalar(params, "alpha", HG_TYPE_F32, &alpha));
    good(w, "binding", hg_binding_create(e, NULL, params, &binding));
    hg_params_destroy(params);
    return binding;
}

static hg_queue *some_queue(worker *w) { return w->s->queues[below(w, QUEUES)]; }
static hg_context *some_context(worker *w) { return w->s->contexts[below(w, CONTEXTS)]; }

/* Waits, or asks until it is done. */
static hg_status finish(worker *w, hg_event *e) {
    bool done = false;
    if (below(w, 2)) return hg_event_wait(e);
    for (;;) {
        hg_status status = hg_event_query(e, &done);
        if (done) return status;
        sched_yield();
    }
}

static void new_values(worker *w) {
    for (int i = 0; i < N; i++) w->values[i] = (float)below(w, 1000);
    memset(w->out, 0, sizeof w->out);
}

/* x and y in, launch, y out. */
static void chain(worker *w, hg_binding *binding, hg_command commands[4]) {
    static const float zeros[N];
    commands[0] = COMMAND(.kind = HG_COMMAND_COPY_IN, .buffer = w->x, .host = w->values,
                          .length = sizeof w->values);
    commands[1] = COMMAND(.kind = HG_COMMAND_COPY_IN, .buffer = w->y,
                          .host = (void *)(uintptr_t)zeros, .length = sizeof zeros);
    commands[2] = COMMAND(.kind = HG_COMMAND_LAUNCH, .binding = binding);
    commands[3] = COMMAND(.kind = HG_COMMAND_COPY_OUT, .buffer = w->y, .host = w->out,
                          .length = sizeof w->out);
}

/* ---- what threads do ---- */

typedef struct kind {
    const char *name;
    float (*expected)(const worker *, int);
    hg_executable *executable;
    bool is_classes; /* two of them in one context would mix between launch and launch, not within
                        one */
} kind;

static kind some_kind(worker *w) {
    const stage *s = w->s;
    const kind kinds[] = {{"axpy", doubled, s->axpy, false},
                          {"steps", with_most, s->steps, false},
                          {"classes", same, s->classes, true}};
    return kinds[below(w, HG_COUNT_OF(kinds))];
}

static void launch_and_wait(worker *w) {
    kind k = some_kind(w);
    hg_binding *binding = bind(w, k.executable, w->x, w->y);
    static const float zeros[N];
    good(w, k.name, hg_backend_copy_to_buffer(w->s->b, w->x, w->values, sizeof w->values));
    good(w, k.name, hg_backend_copy_to_buffer(w->s->b, w->y, zeros, sizeof zeros));
    good(w, k.name, hg_binding_launch_in(binding, some_context(w)));
    good(w, k.name, hg_backend_copy_from_buffer(w->s->b, w->y, w->out, sizeof w->out));
    expect_out(w, k.name, k.expected);
    hg_binding_destroy(binding);
}

static void launch_in_queue(worker *w) {
    kind k = some_kind(w);
    hg_binding *binding = bind(w, k.executable, w->x, w->y);
    hg_command commands[4];
    hg_event *e = NULL;
    chain(w, binding, commands);
    if (good(w, k.name, hg_queue_submit(some_queue(w), commands, 4, NULL, 0, &e)))
        good(w, k.name, finish(w, e));
    expect_out(w, k.name, k.expected);
    hg_event_destroy(e);
    hg_binding_destroy(binding);
}

/* Each command on another queue; events go while others wait for them. */
static void launch_across_queues(worker *w) {
    kind k = some_kind(w);
    hg_binding *binding = bind(w, k.executable, w->x, w->y);
    hg_command commands[4];
    hg_event *before = NULL, *e = NULL;
    chain(w, binding, commands);
    for (int i = 0; i < 4; i++, before = e) {
        if (!good(w, k.name,
                  hg_queue_submit(some_queue(w), &commands[i], 1, &before, before != NULL, &e)))
            e = NULL;
        hg_event_destroy(before);
    }
    if (e) good(w, k.name, finish(w, e));
    expect_out(w, "across queues", k.expected);
    hg_event_destroy(e);
    hg_binding_destroy(binding);
}

/* A queue, perhaps in a context that others use, that goes while it works. */
static void queue_destroyed(worker *w) {
    kind k = some_kind(w);
    hg_binding *binding = bind(w, k.executable, w->x, w->y);
    hg_command commands[4];
    hg_queue *q = NULL;
    hg_event *e = NULL;
    chain(w, binding, commands);
    if (good(w, "queue", hg_queue_create(w->s->b, below(w, 2) ? some_context(w) : NULL, &q))) {
        good(w, "queue", hg_queue_submit(q, commands, 2, NULL, 0, NULL));
        good(w, "queue", hg_queue_submit(q, commands + 2, 2, NULL, 0, &e));
        if (below(w, 2)) hg_event_destroy(e), e = NULL;
        hg_queue_destroy(q);
        if (e) good(w, "queue", hg_event_wait(e));
        expect_out(w, "queue destroyed", k.expected);
        hg_event_destroy(e);
    }
    hg_binding_destroy(binding);
}

/* The launch keeps the memory it was bound to. */
static void memory_freed(worker *w) {
    kind k = some_kind(w);
    hg_buffer x = {0};
    hg_event *e = NULL;
    hg_command commands[4];
    if (!good(w, "buffer", hg_backend_allocate_buffer(w->s->b, sizeof w->values, &x))) return;
    hg_binding *binding = bind(w, k.executable, x, w->y);
    good(w, "buffer", hg_backend_copy_to_buffer(w->s->b, x, w->values, sizeof w->values));
    chain(w, binding, commands);
    good(w, "free", hg_queue_submit(some_queue(w), commands + 1, 3, NULL, 0, &e));
    good(w, "free", hg_backend_free_buffer(w->s->b, x));
    if (e) good(w, "free", finish(w, e));
    expect_out(w, "memory freed in flight", k.expected);
    hg_event_destroy(e);
    hg_binding_destroy(binding);
}

/* A fault is its own event's, and of what waits for it. */
static void fault(worker *w) {
    hg_binding *bad = bind(w, w->s->fault, w->x, w->y), *binding = bind(w, w->s->axpy, w->x, w->y);
    hg_queue *q = some_queue(w);
    hg_event *events[3] = {NULL, NULL, NULL};
    hg_command commands[4],
        faulty[2] = {COMMAND(.kind = HG_COMMAND_LAUNCH, .binding = bad),
                     COMMAND(.kind = HG_COMMAND_FILL, .buffer = w->x, .length = sizeof w->values)};
    chain(w, binding, commands);
    good(w, "fault", hg_queue_submit(q, commands, 3, NULL, 0, &events[0]));
    good(w, "fault", hg_queue_submit(q, faulty, 2, NULL, 0, &events[1]));
    good(w, "fault", hg_queue_submit(some_queue(w), &faulty[1], 1, &events[1], 1, &events[2]));
    good(w, "before the fault", finish(w, events[0]));
    hg_status after = finish(w, events[2]), itself = finish(w, events[1]);
    if (w->s->computes) {
        if (after != HG_ERROR_EXECUTION_FAILED) wrong(w, "fault", "what waits for it runs");
        if (itself != HG_ERROR_EXECUTION_FAILED || strcmp(hg_last_error()->code, "F01") != 0)
            wrong(w, "fault", "not with its event");
    }
    for (int i = 0; i < 3; i++) hg_event_destroy(events[i]);
    events[0] = NULL;
    good(w, "after the fault", hg_queue_submit(q, &commands[3], 1, NULL, 0, &events[0]));
    good(w, "after the fault", finish(w, events[0]));
    expect_out(w, "after the fault", doubled);
    hg_event_destroy(events[0]);
    hg_binding_destroy(bad);
    hg_binding_destroy(binding);
}

/* One binding of all threads. */
static void shared_binding(worker *w) {
    hg_command commands[2] = {COMMAND(.kind = HG_COMMAND_LAUNCH, .binding = w->s->shared),
                              COMMAND(.kind = HG_COMMAND_COPY_OUT, .buffer = w->s->shared_y,
                                      .host = w->out, .length = sizeof w->out)};
    hg_event *e = NULL;
    if (below(w, 2)) {
        good(w, "shared", hg_binding_launch_in(w->s->shared, some_context(w)));
        return;
    }
    good(w, "shared", hg_queue_submit(some_queue(w), commands, 1, NULL, 0, &e));
    if (e) good(w, "shared", finish(w, e));
    hg_event_destroy(e);
}

/* The state of a context that all threads add to. */
static void accumulate(worker *w) {
    uint64_t c = below(w, CONTEXTS);
    hg_queue *q = NULL;
    hg_event *e = NULL;
    double value;
    hg_command command = COMMAND(.kind = HG_COMMAND_LAUNCH, .binding = w->s->accumulates[c]);
    atomic_fetch_add(&w->s->accumulated[c], 1);
    if (below(w, 2)) {
        good(w, "state", hg_binding_launch_in(w->s->accumulates[c], w->s->contexts[c]));
    } else if (good(w, "state", hg_queue_create(w->s->b, w->s->contexts[c], &q))) {
        good(w, "state", hg_queue_submit(q, &command, 1, NULL, 0, &e));
        hg_queue_destroy(q);
        if (e) good(w, "state", hg_event_wait(e));
        hg_event_destroy(e);
    }
    good(w, "state", hg_context_resonance(w->s->contexts[c], 7, &value));
    if (w->s->computes && (value < 64 || value != 64 * (double)(uint64_t)(value / 64)))
        wrong(w, "state", "half a launch is seen");
}

static void context_destroyed(worker *w) {
    hg_context *c = NULL;
    hg_binding *binding = bind(w, w->s->steps, w->x, w->y);
    if (good(w, "context", hg_context_create(w->s->b, &c))) {
        good(w, "context", hg_backend_copy_to_buffer(w->s->b, w->x, w->values, sizeof w->values));
        good(w, "context", hg_binding_launch_in(binding, c));
        good(w, "context", hg_context_set_phase(c, 3, 4));
        hg_context_destroy(c);
        good(w, "context", hg_backend_copy_from_buffer(w->s->b, w->y, w->out, sizeof w->out));
        expect_out(w, "context", with_most);
    }
    hg_binding_destroy(binding);
}

static void *work(void *user) {
    static void (*const ways[])(worker *) = {launch_and_wait, launch_in_queue, launch_across_queues,
                                             queue_destroyed, memory_freed,    fault,
                                             shared_binding,  accumulate,      context_destroyed};
    worker *w = user;
    for (unsigned i = 0; i < w->s->rounds && !w->failures; i++) {
        new_values(w);
        ways[below(w, HG_COUNT_OF(ways))](w);
    }
    return NULL;
}

/* ---- the stage ---- */

static hg_executable *executable(const stage *s, const char *text) {
    hg_program *p = assemble(text);
    hg_executable *e = NULL;
    CHECK_OK(hg_executable_create(s->b, p, &e));
    hg_program_release(p);
    if (!e) exit(test_done());
    return e;
}

static void set_up(stage *s, worker *w) {
    for (int i = 0; i < QUEUES; i++)
        CHECK_OK(hg_queue_create(s->b, i < CONTEXTS - 1 ? s->contexts[i] : NULL, &s->queues[i]));
    s->axpy = executable(s, AXPY);
    s->steps = executable(s, s->computes
                                 ? STEPS(" mov_imm.u32 r13, 3\nagain:\n", " loop r13, @again\n")
                                 : STEPS("", ""));
    s->accumulate = executable(s, ACCUMULATE);
    s->classes = executable(s, CLASSES);
    s->fault = executable(s, FAULT);
    new_values(w);
    s->shared_x = make_buffer(s->b, w->values, sizeof w->values);
    s->shared_y = make_buffer(s->b, NULL, sizeof w->values);
    for (int i = 0; i < N; i++) s->expected[i] = with_most(w, i);
    s->shared = bind(w, s->steps, s->shared_x, s->shared_y);
    for (int i = 0; i < CONTEXTS; i++)
        s->accumulates[i] = bind(w, s->accumulate, s->shared_x, s->shared_y);
}

static void tear_down(stage *s, worker *w) {
    double value;
    for (int i = 0; i < QUEUES; i++) {
        HG_IGNORE(hg_queue_synchronize(s->queues[i])); /* an error that a thread has seen */
        hg_queue_destroy(s->queues[i]);
    }
    CHECK_OK(hg_backend_copy_from_buffer(s->b, s->shared_y, w->out, sizeof w->out));
    CHECK_OK(hg_binding_launch(s->shared));
    CHECK_OK(hg_backend_copy_from_buffer(s->b, s->shared_y, w->out, sizeof w->out));
    expect_out(w, "shared", of_all);
    CHECK_MESSAGE(!w->failures, "%s", w->first);
    for (int i = 0; i < CONTEXTS; i++) {
        CHECK_OK(hg_context_resonance(s->contexts[i], 7, &value));
        CHECK_MESSAGE(!s->computes || value == 64.0 * atomic_load(&s->accumulated[i]),
                      "context %d: %g after %u launches", i, value,
                      atomic_load(&s->accumulated[i]));
        hg_binding_destroy(s->accumulates[i]);
        hg_context_destroy(s->contexts[i]);
    }
    hg_binding_destroy(s->shared);
    hg_executable *const all[] = {s->axpy, s->steps, s->accumulate, s->classes, s->fault};
    for (size_t i = 0; i < HG_COUNT_OF(all); i++) hg_executable_destroy(all[i]);
}

static void stress(const char *name, const char *pretend, unsigned rounds, uint64_t seed) {
    hg_config config = hg_config_default();
    static worker workers[THREADS], own;
    static stage s;
    memset(workers, 0, sizeof workers);
    memset(&s, 0, sizeof s);
    snprintf(config.backend, sizeof config.backend, "%s", name);
    snprintf(config.pretend, sizeof config.pretend, "%s", pretend);
    if (hg_backend_create_with_config(&config, &s.b) != HG_OK) {
        CHECK(hg_last_error()->status == HG_ERROR_BACKEND_UNAVAILABLE);
        SKIP(hg_last_error_text());
        return;
    }
    s.computes = strcmp(name, "null") != 0;
    s.rounds = rounds;
    own = (worker){.s = &s, .random = seed};
    for (int i = 0; i < CONTEXTS; i++) CHECK_OK(hg_context_create(s.b, &s.contexts[i]));
    set_up(&s, &own);
    for (int i = 0; i < THREADS; i++) {
        workers[i].s = &s;
        workers[i].random = seed * 1000 + (uint64_t)i;
        workers[i].x = make_buffer(s.b, NULL, sizeof workers[i].values);
        workers[i].y = make_buffer(s.b, NULL, sizeof workers[i].values);
    }
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(workers[i].thread, NULL);
        CHECK_MESSAGE(!workers[i].failures, "%s %s, seed %" PRIu64 ", thread %d: %s", name, pretend,
                      seed, i, workers[i].first);
    }
    tear_down(&s, &own);
    hg_backend_destroy(s.b);
}

int main(int argc, char **argv) {
    static const struct {
        const char *backend, *pretend;
    } devices[] = {{"cpu", ""},
                   {"cpu", "expand"},
                   {"cpu", "polled=1"},
                   {"cpu", "polled=2,expand"},
                   {"cpu", "polled=3,staging"},
                   {"cpu", "polled=4,narrow"},
                   {"null", "polled=5"}};
    unsigned rounds = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : SANITIZED ? 50 : 500;
    uint64_t seed = argc > 4 ? strtoull(argv[4], NULL, 10) : 1;
    if (argc > 1) stress(argv[1], argc > 3 ? argv[3] : "", rounds, seed);
    for (size_t i = 0; argc < 2 && i < sizeof devices / sizeof *devices; i++)
        stress(devices[i].backend, devices[i].pretend, rounds, seed);
    return test_done();
}
