/* Launches that lie one behind the other on a queue: the state of their context, their time, host
 * calls that use the runtime themselves, and what an event says after a synchronize, loops that
 * never end. On the CPU, or on the backend that the first argument names. */
/* test: labels=threads,slow */
#include "support/runtime_support.h"
#include <sys/resource.h>
#include <time.h>

#define COMMAND(...) ((hg_command){.size = sizeof(hg_command), __VA_ARGS__})
#define LAUNCH(b) COMMAND(.kind = HG_COMMAND_LAUNCH, .binding = (b))

typedef struct bound {
    hg_program *program;
    hg_executable *executable;
    hg_params *params;
    hg_binding *binding;
} bound;

static bound bind(hg_backend *b, const char *text, const hg_buffer *x, const hg_buffer *y,
                  const hg_launch *launch) {
    bound p = {.program = assemble(text), .params = hg_params_create()};
    if (x) CHECK_OK(hg_params_set_buffer(p.params, "x", *x));
    if (y) CHECK_OK(hg_params_set_buffer(p.params, "y", *y));
    CHECK_OK(hg_executable_create(b, p.program, &p.executable));
    CHECK_OK(hg_binding_create(p.executable, launch, p.params, &p.binding));
    if (!p.binding) exit(test_done());
    return p;
}

static void unbind(bound *p) {
    hg_binding_destroy(p->binding);
    hg_executable_destroy(p->executable);
    hg_params_destroy(p->params);
    hg_program_release(p->program);
}

/* Also where nobody can wait. */
static void end(hg_event *e) {
    bool done = false;
    while (!done) CHECK_OK(hg_event_query(e, &done));
    hg_event_destroy(e);
}

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- state ---- */

#define ADD                                                                                      \
    PROGRAM(".param r1 x buffer u32 inout [1]\n.lanes 200000\n mov_imm.f64 r3, 1.0\n res.accum " \
            "r4, r3, 7\n")
#define LOOK                                                                                    \
    PROGRAM(".param r1 x buffer u32 inout [1]\n.lanes 1\n mov_imm.u64 r0, 0\n phase.read r12, " \
            "7\n stg.u32 [r1 + r0], r12\n")

/* What a launch adds to the state is there for the next one on the queue, however soon that comes.
 */
static void test_state(hg_backend *b) {
    enum { ROUNDS = 10 };
    hg_context *c = NULL;
    hg_queue *q = NULL;
    hg_buffer x = make_buffer(b, NULL, 4);
    CHECK_OK(hg_context_create(b, &c));
    CHECK_OK(hg_queue_create(b, c, &q));
    bound add = bind(b, ADD, &x, NULL, NULL), look = bind(b, LOOK, &x, NULL, NULL);
    double value = 0;
    CHECK_OK(hg_queue_submit(q, (hg_command[]){LAUNCH(add.binding), LAUNCH(look.binding)}, 2, NULL,
                             0, NULL));
    CHECK_OK(hg_queue_synchronize(q)); /* compiled */
    for (int i = 0; i < ROUNDS; i++) {
        CHECK_OK(hg_queue_submit(q, (hg_command[]){LAUNCH(add.binding), LAUNCH(look.binding)}, 2,
                                 NULL, 0, NULL));
        CHECK_OK(hg_queue_synchronize(q));
        CHECK_OK(hg_context_resonance(c, 7, &value));
        CHECK_MESSAGE(value == 200000.0 * (i + 2), "round %d: %g", i, value);
    }
    hg_queue_destroy(q);
    hg_context_destroy(c);
    unbind(&add);
    unbind(&look);
    CHECK_OK(hg_backend_free_buffer(b, x));
}

/* ---- time ---- */

/* The buffer says where the lanes write: nothing can be proven. The more lanes, the longer it
 * takes. */
#define LONG                                                                                   \
    PROGRAM(".param r1 x buffer u32 inout\n mov_imm.u64 r0, 0\n ldg.u32 r10, [r1 + r0]\n "     \
            "cvt.u64.u32 r2, r10\n"                                                            \
            " mov_imm.u32 r11, 1\n mov_imm.u32 r12, 40000\nmore:\n mul.u32 r11, r11, r12\n "   \
            "add.u32 r11, r11, r12\n"                                                          \
            " loop r12, @more\n mov_imm.u32 r13, 2\n shl.u64 r3, r255, r13\n add.u64 r2, r2, " \
            "r3\n stg.u32 [r1 + r2], r11\n")
enum { BEHIND = 14, MOST_LANES = 60000 };

static double time_of(const bound *p) {
    CHECK_OK(hg_binding_launch(p->binding)); /* compiled, measured */
    double start = seconds();
    CHECK_OK(hg_binding_launch(p->binding));
    return seconds() - start;
}

/* The time of a launch begins when the device comes to it, not when it is submitted. */
static void test_time(hg_backend *b) {
    static const uint32_t words[1 + MOST_LANES] = {4};
    hg_buffer x[BEHIND];
    bound p[BEHIND];
    hg_event *events[BEHIND];
    hg_queue *q = NULL;
    double took = 0;
    hg_launch launch = {.size = sizeof launch, .grid = {1, 1, 1}, .block = {1, 1, 1}};
    CHECK_OK(hg_queue_create(b, NULL, &q));
    for (int i = 0; i < BEHIND; i++) x[i] = make_buffer(b, words, sizeof words);
    for (uint32_t lanes = 64; took < 0.2 && lanes <= MOST_LANES; lanes *= 2) {
        launch.grid[0] = lanes;
        p[0] = bind(b, LONG, &x[0], NULL, &launch);
        took = time_of(&p[0]);
        unbind(&p[0]);
    }
    launch.timeout_ms = (uint64_t)(took * 9000) + 500; /* less than all of them take, more than any
                                                          one does on a busy machine */
    for (int i = 0; i < BEHIND; i++) p[i] = bind(b, LONG, &x[i], NULL, &launch);
    for (int i = 0; i < BEHIND; i++)
        CHECK_OK(hg_queue_submit(q, &LAUNCH(p[i].binding), 1, NULL, 0, &events[i]));
    for (int i = 0; i < BEHIND; i++) {
        CHECK_OK(hg_event_wait(events[i]));
        hg_event_destroy(events[i]);
    }
    hg_queue_destroy(q);
    for (int i = 0; i < BEHIND; i++) {
        unbind(&p[i]);
        CHECK_OK(hg_backend_free_buffer(b, x[i]));
    }
}

#define ENDLESS                                                                                    \
    PROGRAM(".param r1 x buffer u32 inout [n]\n.param r4 n u64\nagain:\n parallel_map_binary.u32 " \
            "r1, r1, r1, add, r4\n"                                                                \
            " bra @again\n")

static uint64_t kilobytes(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (uint64_t)usage.ru_maxrss; /* at most so far */
}

/* A loop of steps that never ends is over in time, and the host does not collect its commands all
 * that while. */
static void test_endless(hg_backend *b) {
    enum { N = 256 };
    uint64_t n = N;
    bound p = {.program = assemble(ENDLESS), .params = hg_params_create()};
    hg_buffer x = make_buffer(b, NULL, N * 4);
    hg_launch launch = {
        .size = sizeof launch, .grid = {1, 1, 1}, .block = {1, 1, 1}, .timeout_ms = 1000};
    CHECK_OK(hg_params_set_buffer(p.params, "x", x));
    CHECK_OK(hg_params_set_scalar(p.params, "n", HG_TYPE_U64, &n));
    CHECK_OK(hg_executable_create(b, p.program, &p.executable));
    CHECK_OK(hg_binding_create(p.executable, &launch, p.params, &p.binding));
    for (int round = 0; round < 2; round++) { /* the first compiles */
        uint64_t before = kilobytes();
        double start = seconds();
        CHECK_STATUS(hg_binding_launch(p.binding), HG_ERROR_EXECUTION_FAILED);
        CHECK_TEXT(hg_last_error()->code, "F08");
        CHECK(seconds() - start < 20);
        if (round) CHECK(kilobytes() - before < 200 << 10);
    }
    unbind(&p);
    CHECK_OK(hg_backend_free_buffer(b, x));
}

/* ---- host calls ---- */

typedef struct caller {
    hg_backend *backend;
    hg_context *context;
    hg_binding *binding;
    hg_event *event;
    hg_queue *other, *more;
    int calls, failures; /* the host call's thread is not the test's */
} caller;

#define ADD_ONE                                                                                   \
    PROGRAM(".param r1 x buffer u32 inout [1]\n.lanes 1\n mov_imm.u64 r0, 0\n"                    \
            " mov_imm.u32 r11, 1\n ldg.u32 r12, [r1 + r0]\n add.u32 r12, r12, r11\n stg.u32 [r1 " \
            "+ r0], r12\n")

static void start_another(void *user) {
    caller *c = user;
    c->calls++;
    c->failures += hg_binding_start(c->binding, c->context, &c->event) != HG_OK;
    c->failures += hg_queue_create(c->backend, NULL, &c->more) != HG_OK;
    c->failures += hg_queue_submit(c->more, &LAUNCH(c->binding), 1, NULL, 0, NULL) != HG_OK;
    hg_queue_destroy(c->more);
    hg_queue_destroy(c->other);
}

/* A host call may start launches, and make, use and destroy other queues. */
static void test_host_calls(hg_backend *b) {
    uint32_t zero = 0, value = 0;
    hg_buffer x = make_buffer(b, &zero, 4);
    bound p = bind(b, ADD_ONE, &x, NULL, NULL);
    hg_queue *q = NULL;
    caller c = {.backend = b, .binding = p.binding};
    CHECK_OK(hg_context_create(b, &c.context));
    CHECK_OK(hg_queue_create(b, NULL, &q));
    CHECK_OK(hg_queue_create(b, NULL, &c.other));
    hg_event *called, *copied;
    CHECK_OK(hg_queue_submit(
        q, &COMMAND(.kind = HG_COMMAND_HOST_CALL, .call = start_another, .user = &c), 1, NULL, 0,
        &called));
    end(called);
    CHECK_U64((uint64_t)c.calls, 1);
    CHECK_U64((uint64_t)c.failures, 0);
    end(c.event);
    CHECK_OK(hg_queue_submit(
        q, &COMMAND(.kind = HG_COMMAND_COPY_OUT, .buffer = x, .host = &value, .length = 4), 1, NULL,
        0, &copied));
    end(copied);
    CHECK_U64(value, 2);
    hg_queue_destroy(q);
    hg_context_destroy(c.context);
    unbind(&p);
    CHECK_OK(hg_backend_free_buffer(b, x));
}

/* ---- events ---- */

static void nothing(void *user) { (void)user; }

/* What synchronize waited for is done for its event too. */
static void test_synchronized(hg_backend *b) {
    hg_queue *q = NULL;
    uint64_t open = 0;
    CHECK_OK(hg_queue_create(b, NULL, &q));
    for (int i = 0; i < 20000; i++) {
        hg_event *e = NULL;
        bool done = false;
        CHECK_OK(hg_queue_submit(q, &COMMAND(.kind = HG_COMMAND_HOST_CALL, .call = nothing), 1,
                                 NULL, 0, &e));
        CHECK_OK(hg_queue_synchronize(q));
        CHECK_OK(hg_event_query(e, &done));
        open += !done;
        hg_event_destroy(e);
    }
    CHECK_U64(open, 0);
    hg_queue_destroy(q);
}

/* Whoever only asks comes to an end too. */
static void test_asked(hg_backend *b) {
    uint32_t zero = 0, value = 0;
    hg_buffer x = make_buffer(b, &zero, 4);
    bound p = bind(b, ADD_ONE, &x, NULL, NULL);
    hg_event *e = NULL;
    bool done = false;
    double start = seconds();
    CHECK_OK(hg_binding_start(p.binding, NULL, &e));
    while (!done && seconds() - start < 10) CHECK_OK(hg_event_query(e, &done));
    CHECK(done);
    hg_event_destroy(e);
    CHECK_OK(hg_buffer_read(b, x, 0, &value, 4));
    CHECK_U64(value, 1);
    unbind(&p);
    CHECK_OK(hg_backend_free_buffer(b, x));
}

int main(int argc, char **argv) {
    hg_backend *b = open_backend(argc > 1 ? argv[1] : "cpu");
    test_state(b);
    test_time(b);
    test_endless(b);
    test_host_calls(b);
    test_asked(b);
    test_synchronized(b);
    hg_backend_destroy(b);
    if (getenv("HOLOGRAM_PRETEND")) return test_done();
    hg_config config; /* queues without a thread */
    CHECK_OK(hg_config_from_env(&config));
    set_pretend(&config, "no-wait");
    snprintf(config.backend, sizeof config.backend, "cpu");
    CHECK_OK(open_in_steps(&config, &b));
    test_host_calls(b);
    hg_backend_destroy(b);
    return test_done();
}
