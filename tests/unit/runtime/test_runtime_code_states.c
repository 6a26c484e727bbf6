/* test: labels=threads */
/* Runs wait for code as for an event: code that is pending, that is ready later, that fails later,
 * and a compiler that hangs while everything is closed. On a made-up driver, and on the backend
 * that the first argument names, whose compiler is held up. */
#include "code/compiler.h"
#include "runtime/backend.h"
#include "support/runtime_support.h"
#include <time.h>

#define COMMAND(...) ((hg_command){.size = sizeof(hg_command), __VA_ARGS__})
enum { N = 500, MOST_MS = 60000 };

static void sleep_ms(uint64_t ms) {
    const struct timespec t = {.tv_sec = (time_t)(ms / 1000),
                               .tv_nsec = (long)(ms % 1000 * 1000000)};
    nanosleep(&t, NULL);
}

static hg_binding *bind_axpy(hg_backend *b, hg_buffer x, hg_buffer y) {
    hg_program *p = assemble(AXPY);
    hg_params *params = hg_params_create();
    hg_executable *e = NULL;
    hg_binding *binding = NULL;
    float alpha = 2;
    CHECK_OK(hg_params_set_buffer(params, "x", x));
    CHECK_OK(hg_params_set_buffer(params, "y", y));
    CHECK_OK(hg_params_set_scalar(params, "alpha", HG_TYPE_F32, &alpha));
    CHECK_OK(hg_executable_create(b, p, &e));
    CHECK_OK(hg_binding_create(e, NULL, params, &binding));
    hg_executable_destroy(e);
    hg_params_destroy(params);
    hg_program_release(p);
    return binding;
}

/* Asks until it is done, a thousand times a second. */
static hg_status ask(hg_event *e, int most) {
    bool done = false;
    hg_status status = HG_OK;
    for (int i = 0; i < most && !done; i++, sleep_ms(!done)) status = hg_event_query(e, &done);
    CHECK(done);
    return status;
}

/* ---- a driver whose compiler goes on after its call ---- */

extern const hg_driver hg_driver_null;
static hg_driver late;
static uint64_t questions_left, asked; /* atomic */
static bool fails;

static hg_status late_ready(hg_driver_kernel *kernel, bool *ready) {
    (void)kernel;
    hg_atomic_add_fetch(&asked, 1, HG_SEQ_CST);
    *ready = !hg_atomic_load(&questions_left, HG_SEQ_CST);
    if (!*ready) hg_atomic_sub_fetch(&questions_left, 1, HG_SEQ_CST);
    return *ready && fails ? hg_fail(HG_ERROR_INTERNAL, "refused in the end") : HG_OK;
}

static void run_late(hg_backend *b, bool blocks, bool expected) {
    hg_buffer x = make_buffer(b, NULL, N * sizeof(float)),
              y = make_buffer(b, NULL, N * sizeof(float));
    hg_queue *q = NULL;
    hg_event *e = NULL;
    hg_atomic_store(&questions_left, 50, HG_SEQ_CST);
    hg_atomic_store(&asked, 0, HG_SEQ_CST);
    hg_binding *axpy = bind_axpy(b, x, y);
    CHECK_U64(hg_atomic_load(&asked, HG_SEQ_CST), 0); /* whoever makes an executable does not wait
                                                         for its code */
    CHECK_OK(hg_queue_create(b, NULL, &q));
    hg_status status = HG_OK;
    if (blocks) {
        status = hg_binding_launch(axpy);
    } else {
        CHECK_OK(hg_queue_submit(q, &COMMAND(.kind = HG_COMMAND_LAUNCH, .binding = axpy), 1, NULL,
                                 0, &e));
        status = ask(e, MOST_MS);
        hg_event_destroy(e);
    }
    CHECK(hg_atomic_load(&asked, HG_SEQ_CST) > 50);
    CHECK((status == HG_OK) == expected);
    if (!expected) CHECK_TEXT(hg_last_error()->message, "refused in the end");
    hg_queue_destroy(q);
    hg_binding_destroy(axpy);
}

static void test_late(const char *pretend) {
    hg_config config = hg_config_default();
    hg_backend *b = NULL;
    late = hg_driver_null;
    late.name = "late";
    late.kernel_ready = late_ready;
    hg_select_guest(&late);
    snprintf(config.backend, sizeof config.backend, "late");
    snprintf(config.pretend, sizeof config.pretend, "%s", pretend);
    for (int failing = 0; failing < 2; failing++) {
        fails = failing;
        for (int blocks = 0; blocks < 2; blocks++) {
            CHECK_OK(hg_backend_create_with_config(&config, &b));
            run_late(b, blocks, !failing);
            hg_backend_destroy(b);
        }
    }
    hg_select_guest(NULL);
}

/* ---- a compiler that is held up ---- */

static hg_driver held;
static const hg_driver *real;
static int gate, inside; /* atomic */

static hg_status held_create(hg_device *device, const hg_driver_code *code,
                             hg_driver_kernel **kernel) {
    hg_atomic_add_fetch(&inside, 1, HG_SEQ_CST);
    while (!hg_atomic_load(&gate, HG_SEQ_CST)) sleep_ms(1);
    return real->code_create(device, code, kernel);
}

static void hold_compiler(hg_backend *b) {
    real = b->driver;
    held = *real;
    held.code_create = held_create;
    hg_atomic_store(&gate, 0, HG_SEQ_CST);
    hg_atomic_store(&inside, 0, HG_SEQ_CST);
    b->driver = &held;
}

static void test_held(const char *name, const char *pretend, bool closes) {
    hg_config config = hg_config_default();
    hg_backend *b = NULL;
    hg_queue *q = NULL;
    hg_event *e = NULL;
    float out[N];
    CHECK_OK(hg_config_read_env(&config));
    snprintf(config.backend, sizeof config.backend, "%s", name);
    snprintf(config.pretend, sizeof config.pretend, "%s", pretend);
    CHECK_OK(open_in_steps(&config, &b));
    if (!b) return;
    hg_buffer x, y;
    CHECK_OK(hg_backend_allocate_buffer(b, sizeof out, &x));
    CHECK_OK(hg_backend_allocate_buffer(b, sizeof out, &y));
    for (int i = 0; i < N; i++) out[i] = (float)i;
    hold_compiler(b);
    hg_binding *axpy = bind_axpy(b, x, y);
    hg_command commands[] = {
        COMMAND(.kind = HG_COMMAND_COPY_IN, .buffer = x, .host = out, .length = sizeof out),
        COMMAND(.kind = HG_COMMAND_LAUNCH, .binding = axpy),
        COMMAND(.kind = HG_COMMAND_COPY_OUT, .buffer = y, .host = out, .length = sizeof out)};
    CHECK_OK(hg_queue_create(b, NULL, &q));
    CHECK_OK(hg_queue_submit(q, commands, 3, NULL, 0, &e));
    for (int i = 0; i < MOST_MS && !hg_atomic_load(&inside, HG_SEQ_CST); i++) {
        bool done = true;
        CHECK_OK(hg_event_query(e, &done));
        CHECK(!done);
        sleep_ms(1);
    }
    CHECK_U64((uint64_t)hg_atomic_load(&inside, HG_SEQ_CST), 1);
    if (closes) { /* the gate stays closed: none of this would end if it waited for the compiler */
        hg_event_cancel(e);
        CHECK_STATUS(ask(e, MOST_MS), HG_ERROR_EXECUTION_FAILED);
        CHECK_TEXT(hg_last_error()->code, "F11");
    } else {
        hg_atomic_store(&gate, 1, HG_SEQ_CST);
        CHECK_OK(ask(e, MOST_MS));
        for (int i = 0; i < N; i++) CHECK(out[i] == 2 * (float)i);
    }
    hg_event_destroy(e);
    hg_queue_destroy(q);
    hg_binding_destroy(axpy);
    hg_backend_destroy(b);
    CHECK_U64(hg_compiler_left(), closes);
    hg_atomic_store(&gate, 1, HG_SEQ_CST);
    for (int i = 0; i < MOST_MS && hg_compiler_left(); i++) sleep_ms(1);
    CHECK_U64(hg_compiler_left(), 0);
}

int main(int argc, char **argv) {
    if (argc > 1) {
        for (int closes = 0; closes < 2; closes++) {
            test_held(argv[1], "", closes);
            test_held(argv[1], "no-wait=3", closes);
        }
        return test_done();
    }
    test_late("");
    test_late("polled=5");
    return test_done();
}
