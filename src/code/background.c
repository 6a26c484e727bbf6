/* See background.h. Must not know: what a job does. */
#include "code/background.h"
#include "base/fork.h"
#include "base/thread.h"
#include <string.h>

struct hg_background {
    hg_mutex lock; /* of all below, and of jobs' next, level, waits */
    hg_cond changed;
    hg_fork_lock forks;
    hg_thread thread;
    bool started;
    int closing; /* atomic: read without the lock too */
    hg_background_job *first, **last, *running;
};

static hg_background_job *take(hg_background *b, uint32_t *level) {
    hg_background_job *job = b->first;
    b->first = job->next;
    if (!b->first) b->last = &b->first;
    job->waits = false;
    *level = job->level;
    return job;
}

static void *work(void *user) {
    hg_background *b = user;
    uint32_t level;
    hg_thread_name("hologram-native");
    hg_mutex_lock(&b->lock);
    while (!hg_atomic_load(&b->closing, HG_ACQUIRE)) {
        if (!b->first) {
            hg_cond_wait(&b->changed, &b->lock);
            continue;
        }
        hg_background_job *job = b->running = take(b, &level);
        hg_mutex_unlock(&b->lock);
        job->run(job, level);
        hg_mutex_lock(&b->lock);
        b->running = NULL;
    }
    hg_mutex_unlock(&b->lock);
    return NULL;
}

/* In a forked child the thread is not there, and what it was doing is half done. */
static void forked(void *user) {
    hg_background *b = user;
    if (b->running) b->running->lost = true;
    b->running = NULL;
    b->started = false;
}

hg_status hg_background_create(hg_background **background) {
    hg_background *b = hg_calloc(1, sizeof *b);
    if (!b) return hg_fail_memory();
    hg_mutex_init(&b->lock);
    hg_cond_init(&b->changed);
    b->last = &b->first;
    b->forks = (hg_fork_lock){.mutex = &b->lock, .cond = &b->changed, .child = forked, .user = b};
    hg_fork_add(&b->forks, HG_FORK_IMPROVE);
    *background = b;
    return HG_OK;
}

void hg_background_close(hg_background *b) {
    uint32_t level;
    if (!b) return;
    hg_mutex_lock(&b->lock);
    hg_atomic_store(&b->closing, 1, HG_RELEASE);
    hg_cond_broadcast(&b->changed);
    while (b->first) {
        hg_background_job *job = take(b, &level);
        hg_mutex_unlock(&b->lock);
        job->drop(job);
        hg_mutex_lock(&b->lock);
    }
    bool started = b->started;
    hg_mutex_unlock(&b->lock);
    if (started) hg_thread_join(b->thread);
    hg_fork_remove(&b->forks);
    hg_cond_destroy(&b->changed);
    hg_mutex_destroy(&b->lock);
    hg_free(b);
}

const int *hg_background_closing(const hg_background *b) { return &b->closing; }

/* Where there are no threads a job is done at once, by who asks for it. */
static bool run_here(hg_background *b, hg_background_job *job, uint32_t level) {
    if (b->running || hg_atomic_load(&b->closing, HG_ACQUIRE)) return false;
    b->running = job;
    job->run(job, level);
    b->running = NULL;
    return true;
}

bool hg_background_add(hg_background *b, hg_background_job *job, uint32_t level) {
    if (!HG_HAS_THREADS) return run_here(b, job, level);
    hg_mutex_lock(&b->lock);
    if (!b->started && !hg_atomic_load(&b->closing, HG_ACQUIRE))
        b->started = hg_thread_start(&b->thread, work, b);
    bool added = b->started && !hg_atomic_load(&b->closing, HG_ACQUIRE) && !job->waits &&
                 !job->lost;
    if (job->level < level) job->level = level;
    if (added) {
        job->next = NULL;
        job->waits = true;
        *b->last = job;
        b->last = &job->next;
        hg_cond_signal(&b->changed);
    }
    hg_mutex_unlock(&b->lock);
    return added;
}

bool hg_background_remove(hg_background *b, hg_background_job *job) {
    hg_mutex_lock(&b->lock);
    bool waited = job->waits;
    for (hg_background_job **at = &b->first; waited && *at; at = &(*at)->next) {
        if (*at != job) continue;
        *at = job->next;
        if (b->last == &job->next) b->last = at;
        break;
    }
    job->waits = false;
    hg_mutex_unlock(&b->lock);
    return waited;
}
