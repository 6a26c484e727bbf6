/* Threads, locks and the clock over POSIX; on wasm32 over its atomic instructions. Must not know:
 * the pool, the runtime. */
#include "base/thread.h"
#include "base/fp.h"

#include <string.h>

#if HG_HAS_THREADS

#include <sched.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

/* The results of lock and unlock are not read: they fail only for a mutex that is not one, which is
 * our own bug. */
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
    struct timespec until = {.tv_sec = (time_t)(clock_ns / 1000000000u),
                             .tv_nsec = (long)(clock_ns % 1000000000u)};
    return pthread_cond_timedwait(cond, mutex, &until) == 0;
}

void hg_cond_signal(hg_cond *cond) { pthread_cond_signal(cond); }
void hg_cond_broadcast(hg_cond *cond) { pthread_cond_broadcast(cond); }

/* A system's default that is larger stays. False: the system does not say. */
static bool set_stack(pthread_attr_t *attributes) {
    size_t usual;
    if (pthread_attr_getstacksize(attributes, &usual) != 0) return false;
    return usual >= HG_STACK_BYTES || pthread_attr_setstacksize(attributes, HG_STACK_BYTES) == 0;
}

/* All but those that say of an instruction that it failed: who handles these handles them on every
 * thread. */
static void signals_of_process(sigset_t *set) {
    static const int OWN[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
    sigfillset(set);
    for (size_t i = 0; i < sizeof OWN / sizeof *OWN; i++) sigdelset(set, OWN[i]);
}

void hg_thread_name(const char *name) {
#if defined(__linux__)
    (void)pthread_setname_np(pthread_self(), name);
#elif defined(__APPLE__)
    (void)pthread_setname_np(name);
#else
    (void)name;
#endif
}

bool hg_thread_start(hg_thread *thread, void *(*run)(void *user), void *user) {
    sigset_t all, before; /* the host's signals are for the host's threads */
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0) return false;
    signals_of_process(&all);
    bool started = false;
    if (set_stack(&attributes) && pthread_sigmask(SIG_BLOCK, &all, &before) == 0) {
        const hg_fp fp = hg_fp_enter(); /* a thread begins in the mode of who starts it */
        started = pthread_create(thread, &attributes, run, user) == 0;
        hg_fp_leave(&fp);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    pthread_attr_destroy(&attributes);
    return started;
}

#if defined(__linux__)
uint64_t hg_stack_left(void) {
    pthread_attr_t attributes;
    void *lowest = NULL;
    size_t size;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return UINT64_MAX;
    bool known = pthread_attr_getstack(&attributes, &lowest, &size) == 0;
    pthread_attr_destroy(&attributes);
    uintptr_t here = (uintptr_t)&attributes, low = (uintptr_t)lowest;
    return known && low && low < here ? here - low : UINT64_MAX;
}
#else
uint64_t hg_stack_left(void) { return UINT64_MAX; }
#endif

bool hg_worker_start(hg_thread *thread, void *(*run)(void *user), void *user) {
    return hg_thread_start(thread, run, user);
}
void hg_thread_join(hg_thread thread) { pthread_join(thread, NULL); }
void hg_thread_detach(hg_thread thread) { pthread_detach(thread); }
void hg_thread_yield(void) { sched_yield(); }
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

hg_thread hg_thread_self(void) { return pthread_self(); }

#if defined(__linux__) && !defined(__ANDROID__)

uint32_t hg_cpu_current(void) {
    int cpu = sched_getcpu();
    return cpu < 0 ? HG_CPU_UNKNOWN : (uint32_t)cpu;
}

/* Whether the process, by its first thread, may use all of a set: it may not where somebody bound
 * it after the threads were started. */
static bool process_may(const cpu_set_t *set) {
    cpu_set_t process, both;
    if (sched_getaffinity(getpid(), sizeof process, &process) != 0) return false;
    CPU_AND(&both, &process, set);
    return CPU_EQUAL(&both, set);
}

bool hg_thread_keep_off(hg_thread thread, hg_thread_place *place, uint32_t cpu) {
    cpu_set_t now, without;
    _Static_assert(sizeof now == sizeof place->home, "a bit a CPU");
    if (cpu >= CPU_SETSIZE) return false;
    if (pthread_getaffinity_np(thread, sizeof now, &now) != 0) return false;
    if (!place->set || memcmp(&now, place->given, sizeof now) != 0)
        memcpy(place->home, &now, sizeof now);
    memcpy(&without, place->home, sizeof without);
    CPU_CLR(cpu, &without);
    if (CPU_COUNT(&without) == 0 || !process_may(&without) ||
        pthread_setaffinity_np(thread, sizeof without, &without) != 0)
        return false;
    memcpy(place->given, &without, sizeof without);
    place->without = cpu;
    place->set = true;
    return true;
}

bool hg_thread_move_off(uint32_t cpu) {
    cpu_set_t now, without;
    if (cpu >= CPU_SETSIZE || pthread_getaffinity_np(pthread_self(), sizeof now, &now) != 0)
        return false;
    without = now;
    CPU_CLR(cpu, &without);
    if (CPU_COUNT(&without) == 0 || !process_may(&without) ||
        pthread_setaffinity_np(pthread_self(), sizeof without, &without) != 0)
        return false;
    (void)pthread_setaffinity_np(pthread_self(), sizeof now, &now);
    return true;
}

#else

uint32_t hg_cpu_current(void) { return HG_CPU_UNKNOWN; }
bool hg_thread_keep_off(hg_thread thread, hg_thread_place *place, uint32_t cpu) {
    (void)thread, (void)place, (void)cpu;
    return false;
}
bool hg_thread_move_off(uint32_t cpu) {
    (void)cpu;
    return false;
}

#endif

#else

HG_WASM_GLOBAL(hg_number);
uint32_t hg_worker_number(void) {
    uint32_t number;
    HG_WASM_GLOBAL_GET(hg_number, number);
    return number;
}

HG_WASM_IMPORT("host", "code_here") uint32_t host_code_here(uint32_t place);
bool hg_thread_has_code(uintptr_t function) {
    return !hg_worker_number() || host_code_here((uint32_t)function) != 0;
}

/* Sleeping is not allowed on a page's main thread, and traps in memory that is not shared, where
 * there are no workers. */
static void sleep_while(uint32_t *word, uint32_t is) {
    if (hg_worker_number())
        hg_wasm_sleep(word, is);
    else
        hg_cpu_relax();
}

/* Ulrich Drepper, Futexes Are Tricky, 2011, mutex 3: who frees a lock wakes only where somebody may
 * sleep. Who must not sleep tries again and again: locks are held for moments. */
static bool take(hg_mutex *mutex, uint32_t word) {
    uint32_t none = 0;
    return hg_atomic_compare_exchange(&mutex->word, &none, word, HG_ACQUIRE);
}
void hg_mutex_init(hg_mutex *mutex) { mutex->word = 0; }
void hg_mutex_destroy(hg_mutex *mutex) { (void)mutex; }
void hg_mutex_lock(hg_mutex *mutex) {
    if (HG_LIKELY(take(mutex, 1))) return;
    if (!hg_worker_number())
        while (!take(mutex, 1)) hg_cpu_relax();
    else
        while (hg_atomic_exchange(&mutex->word, 2, HG_ACQUIRE) != 0) sleep_while(&mutex->word, 2);
}
void hg_mutex_unlock(hg_mutex *mutex) {
    if (hg_atomic_exchange(&mutex->word, 0, HG_RELEASE) == 2) hg_wasm_wake(&mutex->word, 1);
}

void hg_cond_init(hg_cond *cond) { *cond = (hg_cond){0}; }
void hg_cond_destroy(hg_cond *cond) { (void)cond; }
void hg_cond_wait(hg_cond *cond, hg_mutex *mutex) {
    uint32_t turn = hg_atomic_load(&cond->turn, HG_SEQ_CST);
    hg_atomic_fetch_add(&cond->sleepers, 1, HG_SEQ_CST);
    hg_mutex_unlock(mutex);
    sleep_while(&cond->turn, turn);
    hg_mutex_lock(mutex);
    hg_atomic_sub_fetch(&cond->sleepers, 1, HG_SEQ_CST);
}
bool hg_cond_wait_until(hg_cond *cond, hg_mutex *mutex, uint64_t clock_ns) {
    (void)cond, (void)mutex, (void)clock_ns;
    return false;
}
static void turn(hg_cond *cond, uint32_t count) {
    hg_atomic_fetch_add(&cond->turn, 1, HG_SEQ_CST);
    if (hg_atomic_load(&cond->sleepers, HG_SEQ_CST)) hg_wasm_wake(&cond->turn, count);
}
void hg_cond_signal(hg_cond *cond) { turn(cond, 1); }
void hg_cond_broadcast(hg_cond *cond) { turn(cond, UINT32_MAX); }

void hg_thread_name(const char *name) { (void)name; }
bool hg_thread_start(hg_thread *thread, void *(*run)(void *user), void *user) {
    (void)thread, (void)run, (void)user;
    return false;
}
uint64_t hg_stack_left(void) { return UINT64_MAX; }
void hg_thread_detach(hg_thread thread) { (void)thread; }
void hg_thread_yield(void) {}
void hg_once(hg_once_flag *flag, void (*run)(void)) {
    enum { NEVER, RUNS, OVER };
    uint32_t state = NEVER;
    if (hg_atomic_load(flag, HG_ACQUIRE) == OVER) return;
    if (!hg_atomic_compare_exchange(flag, &state, RUNS, HG_ACQUIRE)) {
        while (hg_atomic_load(flag, HG_ACQUIRE) != OVER) sleep_while(flag, RUNS);
        return;
    }
    run();
    hg_atomic_store(flag, OVER, HG_RELEASE);
    hg_wasm_wake(flag, UINT32_MAX);
}

/* ---- workers ---- */

enum { IDLE, BUSY };
static struct {
    uint32_t state;
    bool used;
    void *(*run)(void *user);
    void *user;
} seats[HG_WORKERS_MAX];
static uint32_t seat_count;

void hg_workers_set(uint32_t count) {
    seat_count = count < HG_WORKERS_MAX ? count : HG_WORKERS_MAX;
}

/* Called by one thread at a time: who uses the pool first, under its lock. */
bool hg_worker_start(hg_thread *thread, void *(*run)(void *user), void *user) {
    for (uint32_t i = 0; i < seat_count; i++) {
        if (hg_atomic_load(&seats[i].state, HG_ACQUIRE) != IDLE) continue;
        seats[i].run = run;
        seats[i].user = user;
        hg_atomic_store(&seats[i].state, BUSY, HG_RELEASE);
        hg_wasm_wake(&seats[i].state, 1);
        *thread = (hg_thread){i};
        return true;
    }
    return false;
}

void hg_worker_serve(uint32_t number) {
    const uint32_t seat = number - 1;
    HG_WASM_GLOBAL_SET(hg_number, number);
    for (;;) {
        while (hg_atomic_load(&seats[seat].state, HG_ACQUIRE) == IDLE)
            sleep_while(&seats[seat].state, IDLE);
        seats[seat].used = true;
        seats[seat].run(seats[seat].user);
        hg_atomic_store(&seats[seat].state, IDLE, HG_RELEASE);
        hg_wasm_wake(&seats[seat].state, UINT32_MAX);
    }
}

uint32_t hg_workers_used(void) {
    uint32_t used = 0;
    for (uint32_t i = 0; i < seat_count; i++) used += seats[i].used;
    return used;
}

void hg_thread_join(hg_thread thread) {
    while (hg_atomic_load(&seats[thread.seat].state, HG_ACQUIRE) == BUSY)
        sleep_while(&seats[thread.seat].state, BUSY);
}

static uint64_t (*clock_source)(void);
void hg_clock_set(uint64_t (*source)(void)) { clock_source = source; }
uint64_t hg_clock_ns(void) { return clock_source ? clock_source() : 0; }
uint32_t hg_cpu_count(void) { return 1 + seat_count; }
uint32_t hg_cpu_current(void) { return HG_CPU_UNKNOWN; }
hg_thread hg_thread_self(void) { return (hg_thread){0}; }
bool hg_thread_keep_off(hg_thread thread, hg_thread_place *place, uint32_t cpu) {
    (void)thread, (void)place, (void)cpu;
    return false;
}
bool hg_thread_move_off(uint32_t cpu) {
    (void)cpu;
    return false;
}

#endif
