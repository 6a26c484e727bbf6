/* test: labels=threads */
/* A driver's compiler that takes too long is left alone: the launch gets an error, the device is closed after the compiler's end. */
#include "code/compiler.h"
#include "support/runtime_support.h"
#include <sched.h>

static struct { int go, ended, closed; /* atomic */ } seen;

static void device_close(hg_device *device) {
    (void)device;
    CHECK(hg_atomic_load(&seen.ended, HG_SEQ_CST));
    hg_atomic_add_fetch(&seen.closed, 1, HG_SEQ_CST);
}

static hg_status work(hg_compile_job *job) {
    while (!hg_atomic_load(&seen.go, HG_SEQ_CST)) sched_yield();
    return job->name[0] == 'b' ? hg_fail(HG_ERROR_INTERNAL, "bad text") : HG_OK;
}

static void late(hg_compile_job *job) {
    hg_atomic_add_fetch(&seen.ended, 1, HG_SEQ_CST);
    free(job);
}

static hg_compile_job *new_job(const char *name) {
    hg_compile_job *job = calloc(1, sizeof *job);
    job->run = work;
    job->late = late;
    snprintf(job->name, sizeof job->name, "%s", name);
    return job;
}

static void wait_for(const int *word, int value) {
    while (hg_atomic_load(word, HG_SEQ_CST) != value) sched_yield();
}

static void fails_late(hg_status status) {
    CHECK_STATUS(status, HG_ERROR_EXECUTION_FAILED);
    CHECK_TEXT(hg_last_error()->code, "F13");
    CHECK(strstr(hg_last_error()->message, "the driver's compiler has worked on 'heavy' for") != NULL);
}

static void test_left(const hg_driver *driver, bool close_early) {
    hg_compiler *c;
    bool left;
    memset(&seen, 0, sizeof seen);
    CHECK_OK(hg_compiler_create(driver, NULL, 10, &c));
    CHECK_OK(hg_compiler_check(c));
    fails_late(hg_compiler_run(c, new_job("heavy"), &left));
    CHECK(left);
    CHECK_U64(hg_compiler_left(), 1);
    fails_late(hg_compiler_check(c)); /* nobody waits once more */
    if (close_early) {
        hg_compiler_close(c); /* does not wait */
        CHECK_U64(hg_atomic_load(&seen.closed, HG_SEQ_CST), 0);
    }
    hg_atomic_store(&seen.go, 1, HG_SEQ_CST);
    while (hg_compiler_left()) sched_yield();
    CHECK_U64(hg_atomic_load(&seen.ended, HG_SEQ_CST), 1);
    if (!close_early) {
        CHECK_OK(hg_compiler_check(c));
        hg_compiler_close(c);
    }
    wait_for(&seen.closed, 1);
}

static void test_in_time(const hg_driver *driver) {
    hg_compiler *c;
    bool left;
    memset(&seen, 0, sizeof seen);
    hg_atomic_store(&seen.go, 1, HG_SEQ_CST);
    CHECK_OK(hg_compiler_create(driver, NULL, 600000, &c));
    hg_compile_job *good = new_job("good"), *bad = new_job("bad");
    CHECK_OK(hg_compiler_run(c, good, &left));
    CHECK(!left);
    CHECK_FAILS(hg_compiler_run(c, bad, &left), HG_ERROR_INTERNAL, "", "bad text"); /* the thread's error is the caller's */
    CHECK(!left && !hg_atomic_load(&seen.ended, HG_SEQ_CST));
    CHECK_OK(hg_compiler_run(NULL, good, &left));
    free(good);
    free(bad);
    hg_atomic_store(&seen.ended, 1, HG_SEQ_CST);
    hg_compiler_close(c);
    CHECK_U64(hg_atomic_load(&seen.closed, HG_SEQ_CST), 1);
}

static int slow_calls;

static void is_slow(const char *kernel) {
    CHECK_TEXT(kernel, "heavy");
    slow_calls++;
    hg_atomic_store(&seen.go, 1, HG_SEQ_CST); /* the job ends now */
}

/* Who watches is told once, of a job with a limit and of one without. */
static void test_watched(const hg_driver *driver, uint64_t limit_ms) {
    hg_compiler *c;
    bool left;
    CHECK_OK(hg_compiler_create(driver, NULL, limit_ms, &c));
    hg_compiler_watch(is_slow, 20);
    slow_calls = 0;
    hg_compile_job *job = new_job("heavy");
    for (int i = 0; i < 2; i++) {
        memset(&seen, 0, sizeof seen);
        if (i) hg_atomic_store(&seen.go, 1, HG_SEQ_CST);
        CHECK_OK(hg_compiler_run(c, job, &left));
        CHECK(!left);
    }
    CHECK_U64((uint64_t)slow_calls, 1);
    free(job);
    hg_compiler_watch(NULL, 0);
    hg_atomic_store(&seen.ended, 1, HG_SEQ_CST);
    hg_compiler_close(c);
}

int main(void) {
    const hg_driver driver = {.name = "test", .device_close = device_close};
    test_in_time(&driver);
    test_left(&driver, false);
    test_left(&driver, true);
    test_watched(&driver, 600000);
    test_watched(&driver, 0);
    return test_done();
}
