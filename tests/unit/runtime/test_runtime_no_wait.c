/* A device for which nobody can wait: calls that would have to say HG_ERROR_WOULD_BLOCK before
 * anything was begun, and queues do all of it for whoever asks for events, from one thread. */
#include "support/failing_driver.h"
#include "support/runtime_support.h"

#define COMMAND(...) ((hg_command){.size = sizeof(hg_command), __VA_ARGS__})
enum { N = 1000, MOST_QUESTIONS = 100000, SEEDS = 10 };

static const char STEPS[] = PROGRAM(".param r1 x buffer f32 inout [n]\n.param r2 y buffer f32 "
                                    "inout [n]\n.param r4 n u64\n.lanes n\n mov_imm.u32 r250, 2\n"
                                    " shl.u64 r0, r255, r250\n mov_imm.u64 r20, 0\n mov_imm.u32 "
                                    "r13, 3\nagain:\n parallel_map.f32 r2, r1, abs, r4\n"
                                    " parallel_reduce.f32 r11, r2, max, r4\n loop r13, @again\n "
                                    "ldg.f32 r10, [r1 + r0]\n add.f32 r10, r10, r11\n"
                                    " stg.f32 [r1 + r0], r10\n");
static const char STATE[] = PROGRAM(
    " mov_imm.u32 r1, 5\n phase.write r1, 3\n mov_imm.f32 r10, 1.5\n stg.f32 [class3 + 8], r10\n");
static const char FAULT[] = PROGRAM(
    ".param r1 x buffer f32 inout [n]\n.param r4 n u64\n.lanes n\n ldg.f32 r10, [buf(r1) + "
    "4000000]\n stg.f32 [buf(r1) + 0], r10\n");

typedef struct scene {
    hg_backend *b;
    hg_buffer x, y;
    float values[N];
} scene;

static hg_binding *bind(const scene *s, const char *text) {
    hg_program *p = assemble(text);
    hg_params *params = hg_params_create();
    hg_executable *e = NULL;
    hg_binding *binding = NULL;
    float alpha = 2;
    if (strstr(text, " x ")) CHECK_OK(hg_params_set_buffer(params, "x", s->x));
    if (strstr(text, " y ")) CHECK_OK(hg_params_set_buffer(params, "y", s->y));
    if (strstr(text, "alpha")) CHECK_OK(hg_params_set_scalar(params, "alpha", HG_TYPE_F32, &alpha));
    CHECK_OK(hg_executable_create(s->b, p, &e));
    CHECK_OK(hg_binding_create(e, NULL, params, &binding));
    hg_executable_destroy(e);
    hg_params_destroy(params);
    hg_program_release(p);
    return binding;
}

/* Asks until it is done; so does all the work. */
static hg_status ask(hg_event *e) {
    bool done = false;
    for (int i = 0; i < MOST_QUESTIONS; i++) {
        hg_status status = hg_event_query(e, &done);
        if (done) return status;
        CHECK_OK(status);
    }
    CHECK_MESSAGE(false, "not done after %d questions", MOST_QUESTIONS);
    exit(test_done());
}

static hg_status submit_and_ask(hg_queue *q, const hg_command *commands, size_t count) {
    hg_event *e = NULL;
    CHECK_OK(hg_queue_submit(q, commands, count, NULL, 0, &e));
    hg_status status = ask(e);
    hg_event_destroy(e);
    return status;
}

/* ---- what would have to wait ---- */

#define CHECK_BLOCKS(call)                                                                  \
    do {                                                                                    \
        failing_driver_at(0);                                                               \
        CHECK_STATUS(call, HG_ERROR_WOULD_BLOCK);                                           \
        CHECK_MESSAGE(failing_driver_calls() == 0, "%s submitted %" PRIu64 " times", #call, \
                      failing_driver_calls());                                              \
    } while (0)

static void test_blocking(scene *s, bool sees_memory) {
    hg_backend *b = s->b;
    hg_binding *axpy = bind(s, AXPY), *steps = bind(s, STEPS), *state = bind(s, STATE);
    hg_program *p = assemble(PROGRAM(" exit\n"));
    hg_context *c = NULL;
    hg_typed_buffer x = {s->x, HG_TYPE_F32, N}, y = {s->y, HG_TYPE_F32, N};
    uint32_t phase = 77;
    double value = 77;
    failing_driver_install(b, FAIL_SUBMIT);
    CHECK_OK(hg_context_create(b, &c));
    CHECK_BLOCKS(hg_binding_launch(axpy));
    CHECK_BLOCKS(hg_binding_launch(steps));
    CHECK_BLOCKS(hg_binding_launch(state));
    CHECK_BLOCKS(hg_binding_launch_in(axpy, c));
    CHECK_BLOCKS(hg_binding_launch_in(state, c));
    CHECK_BLOCKS(hg_backend_execute_program(b, p, NULL));
    CHECK_BLOCKS(hg_execute_unary(b, "relu", x, y));
    CHECK_BLOCKS(hg_execute_reduce(b, "sum", x, y));
    CHECK_BLOCKS(hg_context_phase(c, 1, &phase));
    CHECK_BLOCKS(hg_context_set_phase(c, 1, 5));
    CHECK_BLOCKS(hg_context_resonance(c, 1, &value));
    CHECK_BLOCKS(hg_context_resonance_total(c, &value));
    CHECK_BLOCKS(hg_context_reset_state(c));
    CHECK_BLOCKS(hg_backend_phase(b, 1, &phase));
    CHECK(phase == 77 && value == 77);
    if (!sees_memory) {
        uint8_t bytes[4] = {1, 2, 3, 4};
        CHECK_BLOCKS(hg_buffer_write(b, s->x, 0, bytes, 4));
        CHECK_BLOCKS(hg_buffer_read(b, s->x, 0, bytes, 4));
        CHECK_BLOCKS(hg_backend_copy_to_buffer(b, s->x, bytes, 4));
        CHECK_BLOCKS(hg_backend_copy_from_buffer(b, s->x, bytes, 4));
        CHECK(bytes[0] == 1 && bytes[3] == 4);
    }
    hg_context_destroy(c);
    hg_program_release(p);
    hg_binding_destroy(axpy);
    hg_binding_destroy(steps);
    hg_binding_destroy(state);
    failing_driver_remove(b);
}

/* ---- queues ---- */

/* Waiting may find that the last look was enough. */
static uint64_t refused;
static void refuse_or_done(hg_event *e, hg_status status) {
    bool done = false;
    if (status != HG_OK) {
        CHECK_STATUS(status, HG_ERROR_WOULD_BLOCK);
        refused++;
    } else {
        CHECK_OK(hg_event_query(e, &done));
        CHECK(done);
    }
}

/* Commands of every kind; events are asked for, and waiting for them is refused while they are not
 * done. */
static void test_queue(scene *s, bool computes) {
    hg_queue *q = NULL;
    hg_event *e = NULL;
    hg_binding *axpy = bind(s, AXPY);
    float out[N], aside[N];
    hg_command commands[] = {
        COMMAND(.kind = HG_COMMAND_COPY_IN, .buffer = s->x, .host = s->values,
                .length = sizeof s->values),
        COMMAND(.kind = HG_COMMAND_FILL, .buffer = s->y, .length = sizeof s->values),
        COMMAND(.kind = HG_COMMAND_LAUNCH, .binding = axpy),
        COMMAND(.kind = HG_COMMAND_COPY_OUT, .buffer = s->y, .host = out, .length = sizeof out),
        COMMAND(.kind = HG_COMMAND_COPY, .buffer = s->x, .source = s->y, .length = sizeof out),
        COMMAND(.kind = HG_COMMAND_COPY_OUT, .buffer = s->x, .host = aside, .length = sizeof out)};
    CHECK_OK(hg_queue_create(s->b, NULL, &q));
    CHECK_OK(hg_queue_submit(q, commands, HG_COUNT_OF(commands), NULL, 0, &e));
    refuse_or_done(e, hg_event_wait(e));
    refuse_or_done(e, hg_queue_synchronize(q));
    CHECK_OK(ask(e));
    CHECK_OK(hg_event_wait(e));
    CHECK_OK(hg_queue_synchronize(q));
    hg_event_destroy(e);
    for (int i = 0; i < N && computes; i++) CHECK(out[i] == 2 * s->values[i] && aside[i] == out[i]);
    hg_queue_destroy(q);
    hg_binding_destroy(axpy);
}

/* Queues that wait for each other, asked for in a wrong order. */
static void test_waits(scene *s) {
    enum { QUEUES = 4, ROUNDS = 5 };
    hg_queue *q[QUEUES];
    hg_event *events[ROUNDS][QUEUES];
    uint8_t out[ROUNDS][QUEUES];
    for (int i = 0; i < QUEUES; i++) CHECK_OK(hg_queue_create(s->b, NULL, &q[i]));
    for (int r = 0; r < ROUNDS; r++) {
        for (int i = 0; i < QUEUES; i++) { /* each fills what the one before it has filled, then
                                              reads it */
            hg_command commands[] = {COMMAND(.kind = HG_COMMAND_FILL, .buffer = s->y, .length = 100,
                                             .value = (uint8_t)(1 + r * QUEUES + i)),
                                     COMMAND(.kind = HG_COMMAND_COPY_OUT, .buffer = s->y,
                                             .host = &out[r][i], .offset = 50, .length = 1)};
            hg_event *before = i ? events[r][i - 1] : r ? events[r - 1][QUEUES - 1] : NULL;
            CHECK_OK(hg_queue_submit(q[i], commands, 2, &before, before != NULL, &events[r][i]));
        }
    }
    CHECK_OK(ask(events[ROUNDS - 1][QUEUES - 1])); /* the last of all: so the others are done too */
    for (int r = 0; r < ROUNDS; r++) {
        for (int i = 0; i < QUEUES; i++) {
            CHECK_OK(ask(events[r][i]));
            CHECK_U64(out[r][i], 1 + r * QUEUES + i);
            hg_event_destroy(events[r][i]);
        }
    }
    for (int i = 0; i < QUEUES; i++) hg_queue_destroy(q[i]);
}

/* Plans with branches, state and classes, faults; what a fault skips and what goes on. */
static void test_programs(scene *s) {
    hg_queue *q = NULL;
    hg_binding *steps = bind(s, STEPS), *state = bind(s, STATE), *fault = bind(s, FAULT);
    float out[N], most = 0;
    CHECK_OK(hg_queue_create(s->b, NULL, &q));
    hg_command run[] = {
        COMMAND(.kind = HG_COMMAND_COPY_IN, .buffer = s->x, .host = s->values,
                .length = sizeof out),
        COMMAND(.kind = HG_COMMAND_LAUNCH, .binding = steps),
        COMMAND(.kind = HG_COMMAND_COPY_OUT, .buffer = s->x, .host = out, .length = sizeof out)};
    CHECK_OK(submit_and_ask(q, run, 3));
    for (int i = 0; i < N; i++) most = s->values[i] > most ? s->values[i] : most;
    for (int i = 0; i < N; i++) CHECK(out[i] == s->values[i] + most);
    for (int i = 0; i < 3; i++)
        CHECK_OK(submit_and_ask(q, &COMMAND(.kind = HG_COMMAND_LAUNCH, .binding = state), 1));
    memset(out, 0, sizeof out);
    hg_command faulty[] = {COMMAND(.kind = HG_COMMAND_LAUNCH, .binding = fault), run[2]};
    CHECK_STATUS(submit_and_ask(q, faulty, 2), HG_ERROR_EXECUTION_FAILED);
    CHECK_TEXT(hg_last_error()->code, "F01");
    CHECK(out[0] == 0); /* skipped */
    CHECK_STATUS(hg_queue_synchronize(q), HG_ERROR_EXECUTION_FAILED);
    CHECK_OK(submit_and_ask(q, &run[2], 1));
    CHECK(out[0] == s->values[0] + most);
    hg_queue_destroy(q);
    hg_binding_destroy(steps);
    hg_binding_destroy(state);
    hg_binding_destroy(fault);
}

/* The result of a step goes to a buffer that only its number in the text names. It is freed while
 * the step is under way: until that is over nobody else gets its memory. */
static void test_freed_meanwhile(scene *s) {
    static const float zeros[N];
    char text[300];
    float out[N];
    hg_buffer freed, later;
    hg_queue *q = NULL;
    hg_event *e = NULL;
    CHECK_OK(hg_backend_allocate_buffer(s->b, sizeof out, &freed));
    snprintf(
        text, sizeof text,
        PROGRAM(
            ".param r1 x buffer f32 in [n]\n.param r4 n u64\n.lanes 1\n mov_imm.u64 r2, %" PRIu64
            "\n"
            " parallel_map.f32 r2, r1, abs, r4\n"),
        (uint64_t)freed.handle);
    hg_binding *binding = bind(s, text);
    hg_command copy = COMMAND(.kind = HG_COMMAND_COPY_IN, .buffer = s->x, .host = s->values,
                              .length = sizeof out);
    CHECK_OK(hg_queue_create(s->b, NULL, &q));
    CHECK_OK(submit_and_ask(q, &copy, 1));
    CHECK_OK(hg_queue_submit(q, &COMMAND(.kind = HG_COMMAND_LAUNCH, .binding = binding), 1, NULL, 0,
                             &e));
    CHECK_OK(hg_backend_free_buffer(s->b, freed));
    CHECK_OK(hg_backend_allocate_buffer(s->b, sizeof out, &later));
    CHECK_OK(ask(e));
    hg_event_destroy(e);
    copy = COMMAND(.kind = HG_COMMAND_COPY_OUT, .buffer = later, .host = out, .length = sizeof out);
    CHECK_OK(submit_and_ask(q, &copy, 1));
    CHECK(memcmp(out, zeros, sizeof out) == 0);
    CHECK_OK(hg_backend_free_buffer(s->b, later));
    hg_queue_destroy(q);
    hg_binding_destroy(binding);
}

static void test_backend(const char *name, const char *pretend, bool computes, bool sees_memory) {
    hg_config config = hg_config_default();
    scene s = {.b = NULL};
    snprintf(config.backend, sizeof config.backend, "%s", name);
    snprintf(config.pretend, sizeof config.pretend, "%s", pretend);
    for (int i = 0; i < N; i++) s.values[i] = (float)(i * 7 % 501);
    CHECK_OK(open_in_steps(&config, &s.b));
    if (!s.b) return;
    CHECK_OK(hg_backend_allocate_buffer(s.b, sizeof s.values, &s.x));
    CHECK_OK(hg_backend_allocate_buffer(s.b, sizeof s.values, &s.y));
    test_blocking(&s, sees_memory);
    test_queue(&s, computes);
    test_waits(&s);
    if (computes) test_programs(&s);
    if (computes) test_freed_meanwhile(&s);
    hg_backend_destroy(s.b);
}

int main(void) {
    char pretend[64];
    for (int seed = 1; seed <= SEEDS; seed++) {
        snprintf(pretend, sizeof pretend, "no-wait=%d", seed);
        test_backend("cpu", pretend, true, true);
        test_backend("null", pretend, false, false);
        snprintf(pretend, sizeof pretend, "no-wait=%d,staging,expand", seed);
        test_backend("cpu", pretend, true, false);
    }
    CHECK(refused > 0);
    return test_done();
}
