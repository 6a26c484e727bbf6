/* test: labels=threads */
/* The n-th submission, allocation, event, queue or code of a device fails, whatever uses it: the
 * error is the driver's, nothing is lost, and what is done again gives the right result. On the
 * CPU, on one that works only while it is polled, and on the backend that the first argument names.
 */
#include "support/failing_driver.h"
#include "support/runtime_support.h"

#define COMMAND(...) ((hg_command){.size = sizeof(hg_command), __VA_ARGS__})
enum { N = 300, MOST_CALLS = 400 };

typedef struct scene {
    hg_backend *backend;
    hg_buffer x, y;
    hg_binding *binding;
    float out[N];
} scene;

/* ---- what is tried: HG_OK only when it happened ---- */

static const char STEPS[] = PROGRAM(".param r1 x buffer f32 inout [n]\n.param r2 y buffer f32 "
                                    "inout [n]\n.param r4 n u64\n.lanes n\n mov_imm.u32 r250, 2\n"
                                    " shl.u64 r0, r255, r250\n mov_imm.u64 r20, 0\n mov_imm.u32 "
                                    "r13, 3\nagain:\n parallel_map.f32 r2, r2, relu, r4\n"
                                    " parallel_reduce.f32 r11, r2, max, r4\n loop r13, @again\n "
                                    "ldg.f32 r10, [r1 + r0]\n add.f32 r10, r10, r11\n"
                                    " stg.f32 [r1 + r0], r10\n");
static const char STATE[] = PROGRAM(
    ".param r1 x buffer f32 inout [n]\n.param r2 y buffer f32 inout [n]\n.param r4 n u64\n.lanes "
    "n\n"
    " mov_imm.u32 r2, 5\n phase.write r2, 3\n mov_imm.f32 r10, 1.0\n stg.f32 [class3 + 8], r10\n");

static hg_status launch_twice(scene *s) {
    HG_TRY(hg_binding_launch(s->binding));
    return hg_binding_launch(s->binding);
}

static hg_status bind(scene *s, const char *text) {
    hg_program *p = assemble(text);
    hg_params *params = hg_params_create();
    hg_executable *e = NULL;
    float alpha = 2;
    CHECK_OK(hg_params_set_buffer(params, "x", s->x));
    CHECK_OK(hg_params_set_buffer(params, "y", s->y));
    if (strstr(text, "alpha")) CHECK_OK(hg_params_set_scalar(params, "alpha", HG_TYPE_F32, &alpha));
    hg_status status = hg_executable_create(s->backend, p, &e);
    if (status == HG_OK) status = hg_binding_create(e, NULL, params, &s->binding);
    if (e) hg_executable_destroy(e);
    hg_params_destroy(params);
    hg_program_release(p);
    return status;
}

static void unbind(scene *s) {
    hg_binding_destroy(s->binding);
    s->binding = NULL;
}

static hg_status bind_and_launch(scene *s, const char *text) {
    hg_status status = bind(s, text);
    if (status == HG_OK) status = launch_twice(s);
    unbind(s);
    return status;
}
static hg_status new_axpy(scene *s) { return bind_and_launch(s, AXPY); }
static hg_status new_steps(scene *s) { return bind_and_launch(s, STEPS); }
static hg_status new_state(scene *s) { return bind_and_launch(s, STATE); }

static hg_status copies(scene *s) {
    HG_TRY(hg_backend_copy_to_buffer(s->backend, s->x, s->out, sizeof s->out));
    return hg_backend_copy_from_buffer(s->backend, s->y, s->out, sizeof s->out);
}

static hg_status memory(scene *s) {
    hg_buffer a = {0};
    hg_pool p = {0};
    hg_status status = hg_backend_allocate_buffer(s->backend, 5000, &a);
    if (status == HG_OK) status = hg_backend_allocate_pool(s->backend, 70000, &p);
    if (a.handle) CHECK_OK(hg_backend_free_buffer(s->backend, a));
    if (p.handle) CHECK_OK(hg_backend_free_pool(s->backend, p));
    return status;
}

static hg_status in_context(scene *s) {
    hg_context *c = NULL;
    HG_TRY(hg_context_create(s->backend, &c));
    hg_status status = hg_binding_launch_in(s->binding, c);
    uint32_t phase;
    if (status == HG_OK) status = hg_context_set_phase(c, 3, 4);
    if (status == HG_OK) status = hg_context_phase(c, 3, &phase);
    hg_context_destroy(c);
    return status;
}

static hg_status reduce(scene *s) {
    hg_typed_buffer in = {s->x, HG_TYPE_F32, N}, out = {s->y, HG_TYPE_F32, 1};
    HG_TRY(hg_execute_unary(s->backend, "abs", in, in));
    return hg_execute_reduce(s->backend, "sum", in, out);
}

/* Two queues, one waits for the other; both events are looked at. */
static hg_status queues(scene *s) {
    hg_queue *q[2] = {NULL, NULL};
    hg_event *events[2] = {NULL, NULL};
    hg_status status = hg_queue_create(s->backend, NULL, &q[0]);
    if (status == HG_OK) status = hg_queue_create(s->backend, NULL, &q[1]);
    hg_command first[] = {COMMAND(.kind = HG_COMMAND_FILL, .buffer = s->y, .length = sizeof s->out),
                          COMMAND(.kind = HG_COMMAND_LAUNCH, .binding = s->binding),
                          COMMAND(.kind = HG_COMMAND_LAUNCH, .binding = s->binding)};
    hg_command second = COMMAND(.kind = HG_COMMAND_COPY_OUT, .buffer = s->y, .host = s->out,
                                .length = sizeof s->out);
    if (status == HG_OK) status = hg_queue_submit(q[0], first, 3, NULL, 0, &events[0]);
    if (status == HG_OK) status = hg_queue_submit(q[1], &second, 1, &events[0], 1, &events[1]);
    if (status == HG_OK) {
        hg_status before = hg_event_wait(events[0]);
        status = hg_event_wait(events[1]);
        CHECK(before == HG_OK || status != HG_OK);
        CHECK(hg_queue_synchronize(q[1]) == status);
    }
    for (int i = 0; i < 2; i++) {
        hg_queue_destroy(q[i]);
        hg_event_destroy(events[i]);
    }
    return status;
}

/* ---- the loop ---- */

static void reset(scene *s) {
    float zeros[N] = {0};
    for (int i = 0; i < N; i++) s->out[i] = (float)i;
    CHECK_OK(hg_backend_copy_to_buffer(s->backend, s->x, s->out, sizeof s->out));
    CHECK_OK(hg_backend_copy_to_buffer(s->backend, s->y, zeros, sizeof zeros));
}

static void fail_everywhere(const char *what, const char *where, scene *s,
                            hg_status (*try_it)(scene *), void (*check)(scene *)) {
    bool hit = true;
    for (uint64_t n = 1; hit && n < MOST_CALLS && test_failed < 20; n++) {
        reset(s);
        failing_driver_at(n);
        hg_status status = try_it(s);
        hit = failing_driver_calls() >= n;
        failing_driver_at(0);
        CHECK_MESSAGE(status == HG_OK || hit, "%s on %s fails without a failing call: %s", what,
                      where, hg_last_error_text());
        CHECK_MESSAGE(status == HG_OK || strcmp(hg_last_error()->message, FAILING_DRIVER_TEXT) == 0,
                      "%s on %s, call %" PRIu64 ": %s", what, where, n, hg_last_error_text());
        if (status == HG_OK && check) check(s);
        reset(s);
        status = try_it(s);
        CHECK_MESSAGE(status == HG_OK, "%s on %s after call %" PRIu64 " has failed: %s", what,
                      where, n, hg_last_error_text());
        if (status == HG_OK && check) check(s);
    }
    CHECK_MESSAGE(!hit, "%s on %s makes more than %d calls", what, where, MOST_CALLS);
}

static void check_axpy(scene *s) {
    float y[N];
    CHECK_OK(hg_backend_copy_from_buffer(s->backend, s->y, y, sizeof y));
    for (int i = 0; i < N; i++) CHECK(y[i] == (float)(4 * i)); /* 2·x, twice */
}

static void check_steps(scene *s) {
    float x[N];
    CHECK_OK(hg_backend_copy_from_buffer(s->backend, s->x, x, sizeof x));
    for (int i = 0; i < N; i++) CHECK(x[i] == (float)i);
}

static void check_sum(scene *s) {
    float y;
    CHECK_OK(hg_backend_copy_from_buffer(s->backend, s->y, &y, sizeof y));
    CHECK(y == (float)(N * (N - 1) / 2));
}

static void check_copied(scene *s) {
    for (int i = 0; i < N; i++) CHECK(s->out[i] == (float)(4 * i));
}

static void test_backend(const char *name, const char *pretend, int kinds) {
    hg_config config = hg_config_default();
    scene s = {.backend = NULL};
    char where[80];
    snprintf(where, sizeof where, "%s %s, calls %d", name, pretend, kinds);
    snprintf(config.backend, sizeof config.backend, "%s", name);
    snprintf(config.pretend, sizeof config.pretend, "%s", pretend);
    config.cache_programs = 0; /* every executable builds */
    if (hg_backend_create_with_config(&config, &s.backend) != HG_OK) {
        CHECK(hg_last_error()->status == HG_ERROR_BACKEND_UNAVAILABLE);
        SKIP(hg_last_error_text());
        return;
    }
    s.x = make_buffer(s.backend, NULL, sizeof s.out);
    s.y = make_buffer(s.backend, NULL, sizeof s.out);
    failing_driver_install(s.backend, kinds);
    fail_everywhere("memory", where, &s, memory, NULL);
    fail_everywhere("copies", where, &s, copies, NULL);
    fail_everywhere("binding and launch", where, &s, new_axpy, check_axpy);
    fail_everywhere("steps", where, &s, new_steps, check_steps);
    fail_everywhere("state and classes", where, &s, new_state, NULL);
    fail_everywhere("a reduction", where, &s, reduce, check_sum);
    reset(&s);
    CHECK_OK(bind(&s, AXPY));
    fail_everywhere("launch", where, &s, launch_twice, check_axpy);
    fail_everywhere("launch in a context", where, &s, in_context, NULL);
    fail_everywhere("queues", where, &s, queues, check_copied);
    unbind(&s);
    failing_driver_remove(s.backend);
    hg_backend_destroy(s.backend);
}

int main(int argc, char **argv) {
    static const int kinds[] = {FAIL_ALL, FAIL_SUBMIT, FAIL_EVENT};
    static const char *const pretended[] = {"", "expand", "polled=1", "polled=2,staging",
                                            "polled=3,expand"};
    for (size_t i = 0; argc < 2 && i < HG_COUNT_OF(pretended); i++)
        for (size_t k = 0; k < HG_COUNT_OF(kinds); k++) test_backend("cpu", pretended[i], kinds[k]);
    if (argc > 1) test_backend(argv[1], argc > 2 ? argv[2] : "", FAIL_ALL);
    return test_done();
}
