/* Backends that are opened in steps: what they become, errors by value, and openings that are given
 * up at every step. test_runtime_open BACKEND: the same on a driver of others, with and without a
 * way to wait for it. */
#include "runtime/backend.h"
#include "support/runtime_support.h"
#include "support/shim_driver.h"
#include <time.h>

static void sleep_ms(uint64_t ms) {
    const struct timespec t = {.tv_sec = (time_t)(ms / 1000),
                               .tv_nsec = (long)(ms % 1000 * 1000000)};
    nanosleep(&t, NULL);
}

static hg_config config_of(const char *name, const char *pretend) {
    hg_config config = hg_config_default();
    CHECK_OK(hg_config_read_env(&config));
    snprintf(config.backend, sizeof config.backend, "%s", name);
    snprintf(config.pretend, sizeof config.pretend, "%s", pretend);
    return config;
}

static hg_opening *start(const hg_config *config) {
    hg_opening *o = NULL;
    CHECK_OK(hg_backend_open_start(config, &o));
    return o;
}

/* Until no thread opens what nobody wants. */
static void wait_for_left(void) {
    for (int i = 0; i < 60000 && hg_openings_left(); i++) sleep_ms(1);
    CHECK_U64(hg_openings_left(), 0);
}

/* ---- what an opening becomes ---- */

static void check_same(const char *name, const char *pretend) {
    hg_config config = config_of(name, pretend);
    hg_backend *steps = NULL, *whole = NULL;
    hg_device_info a, b;
    CHECK_OK(open_in_steps(&config, &steps));
    *config.pretend = 0;
    CHECK_OK(hg_backend_create_with_config(&config, &whole));
    if (!steps || !whole) exit(test_done());
    CHECK_OK(hg_backend_device(steps, &a));
    CHECK_OK(hg_backend_device(whole, &b));
    CHECK_TEXT(a.name, b.name);
    CHECK(a.exact == b.exact);
    const hg_compiler_caps *x = &steps->caps->compiler, *y = &whole->caps->compiler;
    CHECK(memcmp(&x->kir, &y->kir, sizeof x->kir) == 0);
    CHECK_U64(x->target.max_rounds, y->target.max_rounds);
    CHECK_U64(x->target.pads_groups, y->target.pads_groups);
    CHECK_U64(x->target.rewrites, y->target.rewrites);
    hg_backend_destroy(steps);
    hg_backend_destroy(whole);
}

/* Where nobody can wait, whoever would have to is told so. */
static void check_would_block(const char *name) {
    hg_config config = config_of(name, "no-wait=3");
    hg_backend *b = NULL;
    CHECK_STATUS(hg_backend_create_with_config(&config, &b), HG_ERROR_WOULD_BLOCK);
    CHECK(strstr(hg_last_error_text(), "hg_backend_open_start") != NULL);
    CHECK(b == NULL);
}

/* ---- errors ---- */

static void check_error(const char *name, uint32_t device, hg_status expected, const char *text) {
    hg_config config = config_of(name, "");
    config.device_id = device;
    hg_opening *o = start(&config);
    hg_backend *b = NULL;
    bool done = false;
    hg_status status = HG_OK;
    for (int i = 0; i < 10000 && !done; i++, sleep_ms(!done))
        status = hg_opening_poll(o, &done, &b);
    for (int i = 0; i < 2; i++) { /* each time it is asked */
        CHECK(done && !b && status == expected);
        CHECK_MESSAGE(strstr(hg_last_error_text(), text) != NULL, "%s", hg_last_error_text());
        status = hg_opening_poll(o, &done, &b);
    }
    hg_opening_destroy(o);
}

static void check_taken(void) {
    hg_config config = config_of("null", "");
    hg_opening *o = start(&config);
    hg_backend *b = NULL, *again = NULL;
    bool done = false;
    for (int i = 0; i < 10000 && !done; i++, sleep_ms(!done))
        CHECK_OK(hg_opening_poll(o, &done, &b));
    CHECK(done && b);
    CHECK_STATUS(hg_opening_poll(o, &done, &again), HG_ERROR_INVALID_ARGUMENT);
    CHECK(done && !again);
    hg_opening_destroy(o);
    CHECK_TEXT(hg_backend_name(b), "null"); /* it stays */
    hg_backend_destroy(b);
    hg_opening *nothing = NULL;
    snprintf(config.pretend, sizeof config.pretend, "nonsense");
    CHECK_STATUS(hg_backend_open_start(&config, &nothing), HG_ERROR_INVALID_ARGUMENT);
    CHECK(!nothing);
    hg_opening_destroy(NULL);
}

/* ---- a driver that takes its time ---- */

extern const hg_driver hg_driver_null;
static const hg_driver *behind = &hg_driver_null;
static hg_driver slow;
static uint64_t gate, inside, questions, opened, closed; /* atomic */
static hg_status late_status;

static hg_status slow_open(uint32_t index, const hg_driver_options *options, hg_device **device) {
    hg_atomic_store(&inside, 1, HG_SEQ_CST);
    while (!hg_atomic_load(&gate, HG_SEQ_CST)) sleep_ms(1);
    hg_status status = behind->device_open(index, options, device);
    if (status == HG_OK) hg_atomic_add_fetch(&opened, 1, HG_SEQ_CST);
    return status;
}
static hg_status slow_ready(hg_device *device, bool *ready) {
    (void)device;
    *ready = hg_atomic_add_fetch(&questions, 1, HG_SEQ_CST) >= 3;
    return *ready && late_status != HG_OK
               ? hg_fail(late_status, "the device does not open after all")
               : HG_OK;
}
static void slow_close(hg_device *device) {
    hg_atomic_add_fetch(&closed, 1, HG_SEQ_CST);
    behind->device_close(device);
}

static void make_slow(const hg_driver *driver) {
    behind = driver;
    slow = *driver;
    slow.name = "slow";
    slow.enumerate = hg_driver_null.enumerate;
    slow.device_open = slow_open;
    slow.device_ready = slow_ready;
    slow.device_close = slow_close;
    questions = opened = closed = 0;
}

/* Nothing of all this would end if somebody waited for the driver. */
static void check_slow(void) {
    hg_config config = config_of("slow", "");
    hg_backend *b = NULL;
    bool done = true;
    make_slow(&hg_driver_null);
    hg_select_guest(&slow);
    hg_opening *o = start(&config);
    while (!hg_atomic_load(&inside, HG_SEQ_CST)) sleep_ms(1);
    CHECK_OK(hg_opening_poll(o, &done, &b));
    CHECK(!done);
    hg_opening_destroy(o);
    CHECK_U64(hg_openings_left(), 1);
    hg_atomic_store(&gate, 1, HG_SEQ_CST);
    wait_for_left();
    CHECK(opened == 1 && closed == 1);
    CHECK_OK(open_in_steps(&config, &b));
    CHECK(questions >= 3);
    hg_backend_destroy(b);
    CHECK(opened == 2 && closed == 2);
    questions = 0;
    late_status = HG_ERROR_BACKEND_UNAVAILABLE;
    check_error("slow", 0, HG_ERROR_BACKEND_UNAVAILABLE, "after all");
    CHECK(opened == 3 && closed == 3);
    hg_select_guest(NULL);
}

/* ---- the automatic choice ---- */

enum { WHILE_IT_OPENS, AT_ITS_QUEUE, WHILE_IT_IS_PROBED, TIMES };

static hg_status no_queue(hg_device *device, hg_driver_queue **queue) {
    (void)device, (void)queue;
    return hg_fail(HG_ERROR_ALLOCATION_FAILED, "no room for a queue");
}
static hg_status no_code(hg_device *device, const hg_driver_code *code, hg_driver_kernel **kernel) {
    (void)device, (void)code, (void)kernel;
    return hg_fail(HG_ERROR_EXECUTION_FAILED, "the compiler is broken");
}

/* A device that fails after it was asked for is passed over, and closed. */
static void check_late_choice(int when, bool in_steps) {
    hg_config config = config_of("auto", "");
    hg_backend *b = NULL;
    config.cache_dir = "off"; /* the probe runs */
    make_slow(when == WHILE_IT_IS_PROBED ? &hg_driver_shim_cuda : &hg_driver_null);
    if (when == AT_ITS_QUEUE) slow.queue_create = no_queue;
    if (when == WHILE_IT_IS_PROBED) slow.code_create = no_code;
    late_status = when == WHILE_IT_OPENS ? HG_ERROR_BACKEND_UNAVAILABLE : HG_OK;
    hg_select_guest(&slow);
    CHECK_OK(in_steps ? open_in_steps(&config, &b) : hg_backend_create_with_config(&config, &b));
    CHECK(opened == 1 && closed == 1);
    CHECK_TEXT(hg_backend_name(b), "cpu");
    hg_backend_destroy(b);
    config = config_of("slow", ""); /* named: nobody else */
    CHECK(hg_backend_create_with_config(&config, &b) == hg_last_error()->status && !b);
    CHECK(opened == 2 && closed == 2);
    hg_select_guest(NULL);
}

/* ---- given up ---- */

/* Polls so often, then gives it up. True: it was over before. */
static bool poll_some(const hg_config *config, int polls, bool sleeps) {
    hg_opening *o = start(config);
    hg_backend *b = NULL;
    bool done = false;
    for (int i = 0; i < polls && !done; i++) {
        CHECK_OK(hg_opening_poll(o, &done, &b));
        if (!done && sleeps) sleep_ms(1);
    }
    hg_opening_destroy(o);
    hg_backend_destroy(b);
    return done;
}

static void give_up_everywhere(const char *name, const char *pretend) {
    hg_config config = config_of(name, pretend);
    config.cache_dir = "off"; /* the probe runs */
    int polls = 0;
    while (!poll_some(&config, polls, true) && polls < 100000) {
        wait_for_left(); /* devices may be short of memory */
        polls += polls / 2 + 1;
    }
    CHECK(polls < 100000);
    wait_for_left();
}

/* Openings that are given up at some time while the next one begins: drivers list, open and close
 * devices at the same time then. A device may be short of memory meanwhile. */
static void overlap(const char *name) {
    enum { ROUNDS = 12, MOST_POLLS = 100000 };
    hg_config config = config_of(name, "");
    config.cache_dir = "off";
    for (int i = 0; i < ROUNDS; i++) {
        hg_opening *o = start(&config);
        hg_backend *b = NULL;
        bool done = false;
        for (int k = 0; k < (i + 1 < ROUNDS ? i * 15 : MOST_POLLS) && !done; k++, sleep_ms(1))
            HG_IGNORE(hg_opening_poll(o, &done, &b));
        CHECK(done || i + 1 < ROUNDS);
        hg_opening_destroy(o);
        hg_backend_destroy(b);
    }
    wait_for_left();
}

int main(int argc, char **argv) {
    const char *name = argc > 1 ? argv[1] : NULL;
    if (name) {
        check_same(name, "");
        check_same(name, "no-wait=2");
        check_would_block(name);
        give_up_everywhere(name, "");
        give_up_everywhere(name, "no-wait=5");
        overlap(name);
        return test_done();
    }
    for (int seed = 1; seed <= 20; seed++) {
        char pretend[32];
        snprintf(pretend, sizeof pretend, "no-wait=%d", seed);
        check_same("cpu", pretend);
        check_same("null", pretend);
        give_up_everywhere("cpu", pretend);
        give_up_everywhere("null", pretend);
    }
    check_same("cpu", "");
    check_same("null", "polled=1");
    check_would_block("cpu");
    check_would_block("null");
    give_up_everywhere("cpu", "");
    overlap("cpu");
    check_error("nonsense", 0, HG_ERROR_BACKEND_UNAVAILABLE, "Invalid backend type: nonsense");
    check_error("null", 7, HG_ERROR_BACKEND_UNAVAILABLE, "null has one device");
    check_taken();
    check_slow();
    for (int i = 0; i < 2 * TIMES; i++) check_late_choice(i / 2, i % 2);
    return test_done();
}
