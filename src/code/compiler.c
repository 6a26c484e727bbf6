/* See compiler.h. Must not know: what a job does. */
#include "kir/fault_text.h"
#include "code/compiler.h"
#include "base/deep.h"
#include <stdio.h>
#include <string.h>

struct hg_compiler {
    const hg_driver *driver;
    hg_device *device;
    uint64_t limit_ns; /* 0: none */
    hg_mutex lock;     /* of what follows; under it no other lock is taken */
    hg_cond changed;
    uint32_t running, ending; /* jobs that are not over; that are about to be */
    uint32_t left;            /* jobs that took too long and go on; atomic */
    bool closed;
    char name[64]; /* of the last that was left */
    uint64_t since_ns;
};

static uint32_t process_left;  /* atomic */
static hg_compiler_slow *slow; /* set before there are devices */
static uint64_t slow_after_ns;
static uint32_t slow_told; /* atomic: whether it was called */

void hg_compiler_watch(hg_compiler_slow *call, uint64_t after_ms) {
    slow = call;
    if (!hg_mul_u64(after_ms, 1000000, &slow_after_ns)) slow_after_ns = UINT64_MAX / 4;
    hg_atomic_store(&slow_told, 0, HG_RELEASE);
}

uint32_t hg_compiler_left(void) { return hg_atomic_load(&process_left, HG_ACQUIRE); }

void hg_compiler_limit(hg_compiler *c, uint64_t limit_ms) {
    uint64_t limit_ns;
    c->limit_ns = hg_mul_u64(limit_ms, 1000000, &limit_ns) ? limit_ns : 0;
}

hg_status hg_compiler_create(const hg_driver *driver, hg_device *device, uint64_t limit_ms,
                             hg_compiler **compiler) {
    hg_compiler *c = hg_calloc(1, sizeof *c);
    if (!c) return hg_fail_memory();
    c->driver = driver;
    c->device = device;
    hg_compiler_limit(c, limit_ms);
    hg_mutex_init(&c->lock);
    hg_cond_init(&c->changed);
    *compiler = c;
    return HG_OK;
}

static void destroy(hg_compiler *c) {
    c->driver->device_close(c->device);
    hg_cond_destroy(&c->changed);
    hg_mutex_destroy(&c->lock);
    hg_free(c);
}

void hg_compiler_finish(hg_compiler *c) {
    if (!c) return;
    hg_mutex_lock(&c->lock);
    while (c->running) hg_cond_wait(&c->changed, &c->lock);
    hg_mutex_unlock(&c->lock);
}

void hg_compiler_close(hg_compiler *c) {
    if (!c) return;
    hg_mutex_lock(&c->lock);
    while (c->ending)
        hg_cond_wait(&c->changed, &c->lock); /* moments: what was made is handed over */
    bool last = !c->running;
    c->closed = true;
    hg_atomic_add_fetch(&process_left, c->running - c->left, HG_RELAXED);
    hg_mutex_unlock(&c->lock);
    if (last) destroy(c);
}

/* ---- a job ---- */

/* What it made is there, or its error. True: it was left alone. */
static bool finish(hg_compile_job *job, hg_status status) {
    if (job->over) job->over(job, status);
    hg_mutex_lock(job->lock);
    job->status = status;
    if (status != HG_OK) job->error = *hg_error_record();
    job->done = true;
    bool left = job->left;
    hg_cond_broadcast(job->changed);
    hg_mutex_unlock(job->lock);
    return left;
}

static void *serve(void *user) {
    hg_compile_job *job = user;
    hg_thread_name("hologram-driver");
    hg_compiler *c = job->compiler;
    hg_status status = job->run(job);
    hg_mutex_lock(&c->lock);
    c->ending += !c->closed;
    bool closed = c->closed;
    hg_mutex_unlock(&c->lock);
    bool left = finish(job, status);
    job->drop(job);
    hg_mutex_lock(&c->lock);
    c->ending -= !closed;
    if (left) hg_atomic_sub_fetch(&c->left, 1, HG_RELEASE);
    bool last = --c->running == 0 && c->closed;
    hg_cond_broadcast(&c->changed);
    hg_mutex_unlock(&c->lock);
    if (last) destroy(c);
    if (left || closed) hg_atomic_sub_fetch(&process_left, 1, HG_RELEASE);
    return NULL;
}

static hg_status run_here(void *user) {
    hg_compile_job *job = user;
    return job->run(job);
}

static void count_running(hg_compiler *c, uint32_t change) {
    hg_mutex_lock(&c->lock);
    c->running += change;
    hg_mutex_unlock(&c->lock);
}

void hg_compiler_start(hg_compiler *c, hg_compile_job *job) {
    hg_thread thread;
    hg_mutex_lock(job->lock); /* others may look at it already */
    job->compiler = c;
    job->start_ns = hg_clock_ns();
    hg_cond_broadcast(job->changed);
    hg_mutex_unlock(job->lock);
    if (c) count_running(c, 1);
    if (c && hg_thread_start(&thread, serve, job)) {
        hg_thread_detach(thread);
        return;
    }
    if (c) count_running(c, UINT32_MAX); /* one less */
    (void)finish(job, hg_call_deep(run_here, job, "compiling"));
    job->drop(job);
}

/* ---- looking and waiting ---- */

static hg_status took_too_long(const char *name, uint64_t since_ns, const char *what) {
    return kir_fail_launch(KIR_FAULT_COMPILER,
                           "the driver's compiler has worked on '%s' for %llu ms%s", name,
                           (unsigned long long)((hg_clock_ns() - since_ns) / 1000000), what);
}

static bool is_late(const hg_compile_job *job) {
    const hg_compiler *c = job->compiler;
    return job->left || (c && c->limit_ns && hg_clock_ns() - job->start_ns >= c->limit_ns);
}

/* The job's lock is held. */
static void leave(hg_compile_job *job) {
    hg_compiler *c = job->compiler;
    job->left = true;
    hg_mutex_lock(&c->lock);
    hg_atomic_add_fetch(&c->left, 1, HG_RELAXED);
    memcpy(c->name, job->name, sizeof c->name);
    c->since_ns = job->start_ns;
    hg_mutex_unlock(&c->lock);
    hg_atomic_add_fetch(&process_left, 1, HG_RELAXED);
}

hg_code_state hg_compiler_look(hg_compile_job *job) {
    hg_mutex_lock(job->lock);
    bool done = job->done, late = !done && is_late(job);
    if (late && !job->left) leave(job);
    hg_mutex_unlock(job->lock);
    if (late) {
        HG_IGNORE(
            took_too_long(job->name, job->start_ns, " and is left alone (compile_timeout_ms)"));
        return HG_CODE_FAILED;
    }
    if (!done) return HG_CODE_PENDING;
    if (job->status == HG_OK) return HG_CODE_READY;
    *hg_error_record() = job->error;
    return HG_CODE_FAILED;
}

/* When it has taken too long, or until_ns. */
static uint64_t end_of_wait(const hg_compile_job *job, uint64_t until_ns) {
    uint64_t limit;
    if (!job->compiler || !job->compiler->limit_ns ||
        !hg_add_u64(job->start_ns, job->compiler->limit_ns, &limit))
        return until_ns;
    return limit < until_ns ? limit : until_ns;
}

/* When who watches is to be told of it; UINT64_MAX: never. */
static uint64_t time_to_tell(const hg_compile_job *job) {
    uint64_t notice;
    bool tells = slow && job->compiler && !hg_atomic_load(&slow_told, HG_ACQUIRE);
    return tells && hg_add_u64(job->start_ns, slow_after_ns, &notice) ? notice : UINT64_MAX;
}

void hg_compiler_wait(hg_compile_job *job, uint64_t until_ns) {
    hg_mutex_lock(job->lock);
    while (!job->done && !is_late(job) && hg_clock_ns() < until_ns) {
        uint64_t end = end_of_wait(job, until_ns), notice = time_to_tell(job),
                 next = notice < end ? notice : end;
        if (hg_clock_ns() >= notice && !hg_atomic_exchange(&slow_told, 1, HG_ACQ_REL)) {
            hg_mutex_unlock(job->lock);
            slow(job->name);
            hg_mutex_lock(job->lock);
        } else if (next == UINT64_MAX) {
            hg_cond_wait(job->changed, job->lock);
        } else {
            (void)hg_cond_wait_until(job->changed, job->lock, next);
        }
    }
    hg_mutex_unlock(job->lock);
}

hg_status hg_compiler_check(hg_compiler *c) {
    char name[64];
    if (!c || !hg_atomic_load(&c->left, HG_ACQUIRE)) return HG_OK;
    hg_mutex_lock(&c->lock);
    memcpy(name, c->name, sizeof name);
    uint64_t since = c->since_ns;
    hg_mutex_unlock(&c->lock);
    return took_too_long(name, since,
                         ", which nothing ends; the device runs nothing until it is over");
}
