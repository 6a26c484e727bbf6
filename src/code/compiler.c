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
    hg_mutex lock;     /* of what follows, and of jobs' done, left */
    hg_cond changed;
    uint32_t left; /* jobs left alone that go on; atomic */
    bool closed;
    char name[64]; /* of the last of them */
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

hg_status hg_compiler_create(const hg_driver *driver, hg_device *device, uint64_t limit_ms, hg_compiler **compiler) {
    hg_compiler *c = hg_calloc(1, sizeof *c);
    if (!c) return hg_fail_memory();
    c->driver = driver;
    c->device = device;
    if (!hg_mul_u64(limit_ms, 1000000, &c->limit_ns)) c->limit_ns = 0;
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

void hg_compiler_close(hg_compiler *c) {
    if (!c) return;
    hg_mutex_lock(&c->lock);
    bool last = !c->left;
    c->closed = true;
    hg_mutex_unlock(&c->lock);
    if (last) destroy(c);
}

static void end_late(hg_compiler *c, hg_compile_job *job) {
    job->late(job);
    hg_mutex_lock(&c->lock);
    bool last = hg_atomic_sub_fetch(&c->left, 1, HG_RELEASE) == 0 && c->closed;
    hg_mutex_unlock(&c->lock);
    if (last) destroy(c);
    hg_atomic_sub_fetch(&process_left, 1, HG_RELEASE);
}

static void *run(void *user) {
    hg_compile_job *job = user;
    hg_thread_name("hologram-driver");
    hg_compiler *c = job->compiler;
    hg_status status = job->run(job);
    hg_mutex_lock(&c->lock);
    job->status = status;
    if (status != HG_OK) job->error = *hg_error_record();
    job->done = true;
    bool left = job->left;
    hg_cond_broadcast(&c->changed);
    hg_mutex_unlock(&c->lock);
    if (left) end_late(c, job);
    return NULL;
}

static hg_status run_waited_for(void *user) {
    hg_compile_job *job = user;
    return job->run(job);
}

static hg_status took_too_long(const char *name, uint64_t since_ns, const char *what) {
    return kir_fail_launch(KIR_FAULT_COMPILER, "the driver's compiler has worked on '%s' for %llu ms%s", name,
                           (unsigned long long)((hg_clock_ns() - since_ns) / 1000000), what);
}

/* The lock is held. Until the job is done or `limit` has come; on the way, who watches is told of it. */
static void wait_until(hg_compiler *c, const hg_compile_job *job, uint64_t start, uint64_t limit) {
    uint64_t notice = slow && slow_after_ns < limit - start ? start + slow_after_ns : limit;
    while (!job->done && hg_clock_ns() < limit) {
        (void)hg_cond_wait_until(&c->changed, &c->lock, notice);
        if (job->done || hg_clock_ns() < notice || notice == limit) continue;
        notice = limit;
        if (hg_atomic_exchange(&slow_told, 1, HG_ACQ_REL)) continue;
        hg_mutex_unlock(&c->lock);
        slow(job->name);
        hg_mutex_lock(&c->lock);
    }
}

hg_status hg_compiler_run(hg_compiler *c, hg_compile_job *job, bool *left) {
    hg_thread thread;
    *left = false;
    job->compiler = c;
    job->done = job->left = false;
    uint64_t start = hg_clock_ns(), limit = UINT64_MAX / 2;
    bool limited = c && c->limit_ns && c->limit_ns <= limit - start;
    if (limited) limit = start + c->limit_ns;
    if (!c || (!limited && !slow) || !hg_thread_start(&thread, run, job)) return hg_call_deep(run_waited_for, job, "compiling");
    hg_mutex_lock(&c->lock);
    wait_until(c, job, start, limit);
    *left = job->left = !job->done;
    if (*left) {
        hg_atomic_add_fetch(&c->left, 1, HG_RELAXED);
        hg_atomic_add_fetch(&process_left, 1, HG_RELAXED);
        memcpy(c->name, job->name, sizeof c->name);
        c->since_ns = start;
    }
    hg_mutex_unlock(&c->lock);
    if (*left) {
        hg_thread_detach(thread);
        return took_too_long(c->name, start, " and is left alone (compile_timeout_ms)");
    }
    hg_thread_join(thread);
    if (job->status != HG_OK) *hg_error_record() = job->error;
    return job->status;
}

hg_status hg_compiler_check(hg_compiler *c) {
    char name[64];
    if (!c || !hg_atomic_load(&c->left, HG_ACQUIRE)) return HG_OK;
    hg_mutex_lock(&c->lock);
    memcpy(name, c->name, sizeof name);
    uint64_t since = c->since_ns;
    hg_mutex_unlock(&c->lock);
    return took_too_long(name, since, ", which nothing ends; the device runs nothing until it is over");
}
