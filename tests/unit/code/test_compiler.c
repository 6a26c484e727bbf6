/* test: labels=threads */
/* A driver's compiler that takes too long is left alone: the launch gets an error, the device is
 * closed after the compiler's end. */
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

static hg_mutex job_lock = HG_MUTEX_INIT;
static hg_cond job_changed;

static void drop(hg_compile_job *job) {
    (void)job;
    hg_atomic_add_fetch(&seen.ended, 1, HG_SEQ_CST);
}

static void begin_job(hg_compiler *c, const char *name, hg_compile_job *job) {
    *job = (hg_compile_job){.run = work, .drop = drop, .lock = &job_lock, .changed = &job_changed};
    snprintf(job->name, sizeof job->name, "%s", name);
    hg_compiler_start(c, job);
}

/* Waits for it. */
static hg_code_state end_job(hg_compile_job *job) {
    hg_compiler_wait(job, UINT64_MAX);
    return hg_compiler_look(job);
}

static void wait_for(const int *word, int value) {
    while (hg_atomic_load(word, HG_SEQ_CST) != value) sched_yield();
}

static void failed_late(void) {
    CHECK(hg_last_error()->status == HG_ERROR_EXECUTION_FAILED);
    CHECK_TEXT(hg_last_error()->code, "F13");
    CHECK(strstr(hg_last_error()->message, "the driver's compiler has worked on 'heavy' for") !=
          NULL);
}

static void test_left(const hg_driver *driver, bool close_early) {
    hg_compiler *c;
    hg_compile_job job;
    memset(&seen, 0, sizeof seen);
    CHECK_OK(hg_compiler_create(driver, NULL, 10, &c));
    CHECK_OK(hg_compiler_check(c));
    begin_job(c, "heavy", &job);
    CHECK(end_job(&job) == HG_CODE_FAILED);
    failed_late();
    CHECK(hg_compiler_look(&job) == HG_CODE_FAILED);
    CHECK_U64(hg_compiler_left(), 1);
    CHECK_STATUS(hg_compiler_check(c), HG_ERROR_EXECUTION_FAILED); /* nobody waits once more */
    failed_late();
    if (close_early) {
        hg_compiler_close(c); /* does not wait */
        CHECK_U64(hg_atomic_load(&seen.closed, HG_SEQ_CST), 0);
    }
    hg_atomic_store(&seen.go, 1, HG_SEQ_CST);
    while (hg_compiler_left()) sched_yield();
    CHECK_U64(hg_atomic_load(&seen.ended, HG_SEQ_CST), 1);
    CHECK(hg_compiler_look(&job) == HG_CODE_READY); /* it is there now */
    if (!close_early) {
        CHECK_OK(hg_compiler_check(c));
        hg_compiler_close(c);
    }
    wait_for(&seen.closed, 1);
}

/* A device is closed while something of it is compiled that is in time. */
static void test_closed(const hg_driver *driver) {
    hg_compiler *c;
    hg_compile_job job;
    memset(&seen, 0, sizeof seen);
    CHECK_OK(hg_compiler_create(driver, NULL, 0, &c));
    begin_job(c, "work", &job);
    CHECK(hg_compiler_look(&job) == HG_CODE_PENDING);
    hg_compiler_wait(&job, hg_clock_ns() + 1000000);
    CHECK(hg_compiler_look(&job) == HG_CODE_PENDING);
    hg_compiler_close(c);
    CHECK_U64(hg_compiler_left(), 1);
    CHECK_U64(hg_atomic_load(&seen.closed, HG_SEQ_CST), 0);
    hg_atomic_store(&seen.go, 1, HG_SEQ_CST);
    while (hg_compiler_left()) sched_yield();
    CHECK_U64(hg_atomic_load(&seen.closed, HG_SEQ_CST), 1);
}

static void test_in_time(const hg_driver *driver) {
    hg_compiler *c;
    hg_compile_job good, bad, alone;
    memset(&seen, 0, sizeof seen);
    hg_atomic_store(&seen.go, 1, HG_SEQ_CST);
    CHECK_OK(hg_compiler_create(driver, NULL, 600000, &c));
    begin_job(c, "good", &good);
    begin_job(c, "bad", &bad);
    CHECK(end_job(&good) == HG_CODE_READY);
    for (int i = 0; i < 2; i++) {
        CHECK(end_job(&bad) == HG_CODE_FAILED); /* the thread's error is that of who looks */
        CHECK_TEXT(hg_last_error()->message, "bad text");
    }
    begin_job(NULL, "good", &alone);
    CHECK(hg_compiler_look(&alone) == HG_CODE_READY);
    hg_compiler_close(c);
    CHECK_U64(hg_atomic_load(&seen.ended, HG_SEQ_CST), 3);
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
    hg_compile_job jobs[2];
    CHECK_OK(hg_compiler_create(driver, NULL, limit_ms, &c));
    hg_compiler_watch(is_slow, 20);
    slow_calls = 0;
    for (int i = 0; i < 2; i++) {
        memset(&seen, 0, sizeof seen);
        if (i) hg_atomic_store(&seen.go, 1, HG_SEQ_CST);
        begin_job(c, "heavy", &jobs[i]);
        CHECK(end_job(&jobs[i]) == HG_CODE_READY);
        wait_for(&seen.ended, 1); /* its thread is through with it */
    }
    CHECK_U64((uint64_t)slow_calls, 1);
    hg_compiler_watch(NULL, 0);
    hg_atomic_store(&seen.ended, 1, HG_SEQ_CST);
    hg_compiler_close(c);
}

int main(void) {
    const hg_driver driver = {.name = "test", .device_close = device_close};
    hg_cond_init(&job_changed);
    test_in_time(&driver);
    test_closed(&driver);
    test_left(&driver, false);
    test_left(&driver, true);
    test_watched(&driver, 600000);
    test_watched(&driver, 0);
    return test_done();
}
