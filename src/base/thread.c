/* Threads, locks and the clock over POSIX; nothing at all on wasm32. Must not know: the pool, the runtime. */
#include "base/thread.h"

#if HG_HAS_THREADS

#include <sched.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

/* The results of lock and unlock are not read: they fail only for a mutex that is not one, which is our own bug. */
void hg_mutex_init(hg_mutex *mutex) { pthread_mutex_init(mutex, NULL); }
void hg_mutex_destroy(hg_mutex *mutex) { pthread_mutex_destroy(mutex); }
void hg_mutex_lock(hg_mutex *mutex) { pthread_mutex_lock(mutex); }
void hg_mutex_unlock(hg_mutex *mutex) { pthread_mutex_unlock(mutex); }

void hg_cond_init(hg_cond *cond) {
    pthread_condattr_t attributes;
    if (pthread_condattr_init(&attributes) != 0) {
        pthread_cond_init(cond, NULL);
        return;
    }
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(cond, &attributes);
    pthread_condattr_destroy(&attributes);
}

void hg_cond_destroy(hg_cond *cond) { pthread_cond_destroy(cond); }
void hg_cond_wait(hg_cond *cond, hg_mutex *mutex) { pthread_cond_wait(cond, mutex); }

bool hg_cond_wait_until(hg_cond *cond, hg_mutex *mutex, uint64_t clock_ns) {
    struct timespec until = {.tv_sec = (time_t)(clock_ns / 1000000000u), .tv_nsec = (long)(clock_ns % 1000000000u)};
    return pthread_cond_timedwait(cond, mutex, &until) == 0;
}

void hg_cond_signal(hg_cond *cond) { pthread_cond_signal(cond); }
void hg_cond_broadcast(hg_cond *cond) { pthread_cond_broadcast(cond); }

bool hg_thread_start(hg_thread *thread, void *(*run)(void *user), void *user) {
    sigset_t all, before; /* the host's signals are for the host's threads */
    sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0) return false;
    int failed = pthread_create(thread, NULL, run, user);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return !failed;
}

void hg_thread_join(hg_thread thread) { pthread_join(thread, NULL); }
void hg_thread_detach(hg_thread thread) { pthread_detach(thread); }
void hg_once(hg_once_flag *flag, void (*run)(void)) { pthread_once(flag, run); }

uint64_t hg_clock_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint32_t hg_cpu_count(void) {
#if defined(__linux__)
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) {
        int n = CPU_COUNT(&set);
        if (n > 0) return (uint32_t)n;
    }
#endif
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 && n < 1000000 ? (uint32_t)n : 1;
}

#else

void hg_mutex_init(hg_mutex *mutex) { mutex->unused = 0; }
void hg_mutex_destroy(hg_mutex *mutex) { (void)mutex; }
void hg_mutex_lock(hg_mutex *mutex) { (void)mutex; }
void hg_mutex_unlock(hg_mutex *mutex) { (void)mutex; }
void hg_cond_init(hg_cond *cond) { cond->unused = 0; }
void hg_cond_destroy(hg_cond *cond) { (void)cond; }
void hg_cond_wait(hg_cond *cond, hg_mutex *mutex) { (void)cond, (void)mutex; }
bool hg_cond_wait_until(hg_cond *cond, hg_mutex *mutex, uint64_t clock_ns) {
    (void)cond, (void)mutex, (void)clock_ns;
    return false;
}
void hg_cond_signal(hg_cond *cond) { (void)cond; }
void hg_cond_broadcast(hg_cond *cond) { (void)cond; }
bool hg_thread_start(hg_thread *thread, void *(*run)(void *user), void *user) {
    (void)thread, (void)run, (void)user;
    return false;
}
void hg_thread_join(hg_thread thread) { (void)thread; }
void hg_thread_detach(hg_thread thread) { (void)thread; }
void hg_once(hg_once_flag *flag, void (*run)(void)) {
    if (*flag) return;
    *flag = 1;
    run();
}

static uint64_t (*clock_source)(void);
void hg_clock_set(uint64_t (*source)(void)) { clock_source = source; }
uint64_t hg_clock_ns(void) { return clock_source ? clock_source() : 0; }
uint32_t hg_cpu_count(void) { return 1; }

#endif
