/* test: labels=threads */
/* The thread pool: every element once, nesting, many callers, forks, refused threads. Built with
 * -fsanitize=thread it proves the absence of races; there the part that forks is left out, for that
 * sanitizer does not follow threads into a child. */
#include "base/thread_pool.h"
#include "base/thread.h"
#include "test.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__SANITIZE_THREAD__)
#define UNDER_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define UNDER_TSAN 1
#endif
#endif
#ifndef UNDER_TSAN
#define UNDER_TSAN 0
#endif

typedef struct marks {
    uint8_t *seen; /* plain bytes: two threads on one element are a race */
    uint64_t count, chunk;
    _Atomic uint64_t calls, bad, total;
    _Atomic int busy[HG_THREAD_POOL_MAX];
    hg_thread_pool *pool;
} marks;

static void mark(void *user, uint64_t begin, uint64_t end, uint32_t worker) {
    marks *m = user;
    bool good = begin < end && end <= m->count && begin % m->chunk == 0 &&
                (end % m->chunk == 0 || end == m->count);
    good = good && worker < hg_thread_pool_count(m->pool) &&
           atomic_fetch_add(&m->busy[worker], 1) == 0;
    if (!good) atomic_fetch_add(&m->bad, 1);
    for (uint64_t i = begin; i < end; i++) m->seen[i]++;
    atomic_fetch_add(&m->calls, 1);
    if (worker < HG_THREAD_POOL_MAX) atomic_fetch_sub(&m->busy[worker], 1);
}

static void check_run(hg_thread_pool *pool, uint64_t count, uint64_t chunk) {
    marks m = {.seen = calloc(count ? count : 1, 1),
               .count = count,
               .chunk = chunk ? chunk : 1,
               .pool = pool};
    if (!m.seen) return;
    hg_thread_pool_run(pool, count, chunk, mark, &m);
    uint64_t wrong = 0;
    for (uint64_t i = 0; i < count; i++) wrong += m.seen[i] != 1;
    CHECK_MESSAGE(wrong == 0,
                  "count %" PRIu64 " chunk %" PRIu64 ": %" PRIu64 " elements not visited once",
                  count, chunk, wrong);
    CHECK_U64(m.bad, 0);
    CHECK(count ? m.calls > 0 : m.calls == 0);
    free(m.seen);
}

static void test_coverage(hg_thread_pool *pool) {
    static const uint64_t counts[] = {0, 1, 2, 3, 7, 8, 100, 1023, 4096, 100003};
    static const uint64_t chunks[] = {0, 1, 2, 7, 64, 1000, 200000, UINT64_MAX};
    for (size_t i = 0; i < HG_COUNT_OF(counts); i++)
        for (size_t k = 0; k < HG_COUNT_OF(chunks); k++) check_run(pool, counts[i], chunks[k]);
    for (int i = 0; i < 300; i++) check_run(pool, (uint64_t)i * 13 % 257, (uint64_t)i % 5);
}

static void add_up(void *user, uint64_t begin, uint64_t end, uint32_t worker) {
    (void)worker;
    atomic_fetch_add((_Atomic uint64_t *)user, end - begin);
}

/* Only lengths are added, so that a count of 2^64 - 1 takes no time. */
static void test_huge(hg_thread_pool *pool) {
    static const uint64_t counts[] = {UINT64_MAX, UINT64_MAX - 1, UINT64_C(1) << 40,
                                      UINT64_C(1) << 32, (UINT64_C(1) << 33) + 5};
    static const uint64_t chunks[] = {UINT64_C(1) << 41, (UINT64_C(1) << 52) + 1, UINT64_C(1) << 20,
                                      UINT64_MAX / 2, UINT64_MAX - 1};
    for (size_t i = 0; i < HG_COUNT_OF(counts); i++) {
        for (size_t k = 0; k < HG_COUNT_OF(chunks); k++) {
            if (counts[i] / chunks[k] > UINT64_C(1) << 24) continue;
            _Atomic uint64_t sum = 0;
            hg_thread_pool_run(pool, counts[i], chunks[k], add_up, &sum);
            CHECK_U64(sum, counts[i]);
        }
    }
}

/* ---- nesting ---- */

typedef struct nest {
    hg_thread_pool *pool, *other;
    _Atomic uint64_t sum, bad;
} nest;
typedef struct inner {
    uint32_t worker;
    pthread_t thread;
    _Atomic uint64_t *sum, *bad;
} inner;

static void inner_part(void *user, uint64_t begin, uint64_t end, uint32_t worker) {
    inner *in = user;
    if (worker != in->worker || !pthread_equal(in->thread, pthread_self()))
        atomic_fetch_add(in->bad, 1);
    atomic_fetch_add(in->sum, end - begin);
}

static void outer_part(void *user, uint64_t begin, uint64_t end, uint32_t worker) {
    nest *n = user;
    for (uint64_t i = begin; i < end; i++) {
        inner same = {worker, pthread_self(), &n->sum, &n->bad},
              other = {0, pthread_self(), &n->sum, &n->bad};
        hg_thread_pool_run(n->pool, 1000, 1, inner_part, &same);
        hg_thread_pool_run(n->other, 500, 1, inner_part, &other);
    }
    if (hg_thread_pool_set_threads(n->pool, 2) != HG_ERROR_INVALID_ARGUMENT)
        atomic_fetch_add(&n->bad, 1);
}

static void test_nesting(hg_thread_pool *pool) {
    nest n = {.pool = pool, .other = hg_thread_pool_create(2)};
    hg_thread_pool_run(pool, 200, 1, outer_part, &n);
    CHECK_U64(n.sum, 200 * 1500);
    CHECK_U64(n.bad, 0);
    hg_thread_pool_destroy(n.other);
}

/* ---- many callers ---- */

static void *call_often(void *user) {
    hg_thread_pool *pool = user;
    uintptr_t wrong = 0;
    for (uint64_t i = 0; i < 300; i++) {
        _Atomic uint64_t sum = 0;
        hg_thread_pool_run(pool, 1 + i * 7, 1 + i % 3, add_up, &sum);
        wrong += sum != 1 + i * 7;
    }
    return (void *)wrong;
}

static void test_callers(hg_thread_pool *pool) {
    hg_thread threads[6];
    uint32_t started = 0;
    while (started < HG_COUNT_OF(threads) && hg_thread_start(&threads[started], call_often, pool))
        started++;
    CHECK_U64(started, HG_COUNT_OF(threads));
    for (int i = 0; i < 20; i++)
        CHECK(hg_thread_pool_set_threads(pool, 1 + (uint32_t)i % 5) == HG_OK); /* while they run */
    for (uint32_t i = 0; i < started; i++) {
        void *wrong = NULL;
        pthread_join(threads[i], &wrong);
        CHECK(wrong == NULL);
    }
}

/* Two ranges meet inside fn: that needs two threads at work at the same time. */
static void meet(void *user, uint64_t begin, uint64_t end, uint32_t worker) {
    (void)begin, (void)end, (void)worker;
    _Atomic int *arrived = user;
    atomic_fetch_add(arrived, 1);
    uint64_t until = hg_clock_ns() + UINT64_C(30000000000);
    while (atomic_load(arrived) < 2 && hg_clock_ns() < until) hg_cpu_relax();
}

static void test_parallel(hg_thread_pool *pool) {
    for (int i = 0; i < 20; i++) {
        _Atomic int arrived = 0;
        hg_thread_pool_run(pool, 2, 1, meet, &arrived);
        CHECK(arrived == 2);
        if (i % 5 == 0) usleep(2000); /* long enough for the threads to park */
    }
}

/* ---- places ---- */

#if defined(__linux__)

static cpu_set_t one_cpu(uint32_t cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    return set;
}

/* Whether this thread may use what it could at first, but for one CPU. */
static bool lacks_only(const cpu_set_t *all, uint32_t cpu) {
    cpu_set_t now, without = *all;
    CPU_CLR(cpu, &without);
    return sched_getaffinity(0, sizeof now, &now) == 0 && CPU_EQUAL(&now, &without);
}

static void test_keep_off(const cpu_set_t *all, uint32_t a, uint32_t b) {
    cpu_set_t only = one_cpu(b), now;
    hg_thread_place place = {0};
    hg_thread self = hg_thread_self();
    CHECK(CPU_ISSET(hg_cpu_current(), all));
    bool moved = false;
    for (int i = 0; i < 100 && !moved; i++) { /* the system may bring it back at once */
        uint32_t cpu = hg_cpu_current();
        CHECK(hg_thread_move_off(cpu));
        moved = hg_cpu_current() != cpu;
    }
    CHECK(moved && sched_getaffinity(0, sizeof now, &now) == 0 && CPU_EQUAL(&now, all));
    CHECK(!hg_thread_move_off(HG_CPU_UNKNOWN));
    CHECK(hg_thread_keep_off(self, &place, a) && lacks_only(all, a) && hg_cpu_current() != a);
    CHECK(hg_thread_keep_off(self, &place, a) && lacks_only(all, a)); /* it is already */
    CHECK(hg_thread_keep_off(self, &place, b) && lacks_only(all, b) && hg_cpu_current() != b);
    CHECK(!hg_thread_keep_off(self, &place, HG_CPU_UNKNOWN));
    CHECK(sched_setaffinity(0, sizeof only, &only) == 0); /* somebody else says where it runs */
    CHECK(hg_thread_keep_off(self, &place, a));
    CHECK(!hg_thread_keep_off(self, &place, b));
    CHECK(sched_getaffinity(0, sizeof now, &now) == 0 && CPU_EQUAL(&now, &only));
    CHECK(sched_setaffinity(0, sizeof *all, all) == 0);
    place = (hg_thread_place){0};
    only = one_cpu(a);
    CHECK(sched_setaffinity(getpid(), sizeof only, &only) == 0); /* the process, which may not use b
                                                                    now */
    CHECK(!hg_thread_keep_off(self, &place, a));
    CHECK(sched_setaffinity(getpid(), sizeof *all, all) == 0);
}

/* A thread of the pool that is on its caller's CPU leaves it, and begins elsewhere when another CPU
 * is the caller's and it is woken. */
typedef struct places {
    cpu_set_t all;
    uint32_t caller;
    _Atomic int arrived;
    bool crowd, apart; /* apart: the thread may use all CPUs but the caller's */
} places;

static void see_place(void *user, uint64_t begin, uint64_t end, uint32_t worker) {
    places *p = user;
    (void)begin, (void)end;
    if (worker) {
        cpu_set_t only = one_cpu(p->caller);
        p->apart = lacks_only(&p->all, p->caller);
        if (p->crowd && (sched_setaffinity(0, sizeof only, &only) ||
                         sched_setaffinity(0, sizeof p->all, &p->all)))
            p->apart = false;
    }
    meet(&p->arrived, 0, 1, worker);
}

static bool apart_from(hg_thread_pool *pool, places *p, uint32_t caller, bool crowd) {
    cpu_set_t only = one_cpu(caller);
    if (sched_setaffinity(0, sizeof only, &only) != 0) return false;
    p->caller = caller;
    p->crowd = crowd;
    atomic_store(&p->arrived, 0);
    hg_thread_pool_run(pool, 2, 1, see_place, p);
    return p->apart;
}

/* On a busy machine the thread may be moved, or be awake still, before the pool looks. */
static bool becomes_apart(hg_thread_pool *pool, places *p, uint32_t caller, bool crowd) {
    for (int i = 0; i < 200; i++) {
        if (crowd)
            apart_from(pool, p, caller, true);
        else
            usleep(5000); /* long enough for the thread to park */
        if (apart_from(pool, p, caller, false)) return true;
    }
    return false;
}

static void *see_places(void *unused) {
    (void)unused;
    places p = {.apart = false};
    uint32_t cpus[2] = {0, 0}, found = 0;
    CHECK(sched_getaffinity(0, sizeof p.all, &p.all) == 0);
    for (uint32_t i = 0; i < CPU_SETSIZE && found < 2; i++)
        if (CPU_ISSET(i, &p.all)) cpus[found++] = i;
    if (found < 2) {
        SKIP("places of threads: this process may use one CPU only");
        return NULL;
    }
    test_keep_off(&p.all, cpus[0], cpus[1]);
    hg_thread_pool *pool = hg_thread_pool_create(2);
    _Atomic int arrived = 0;
    hg_thread_pool_run(pool, 2, 1, meet, &arrived); /* starts its thread, which may use all */
    CHECK(becomes_apart(pool, &p, cpus[0], true));
    CHECK(becomes_apart(pool, &p, cpus[1], false));
    CHECK(becomes_apart(pool, &p, cpus[0], false));
    hg_thread_pool_destroy(pool);
    return NULL;
}

/* Not on the first thread of the process, which says what the process may use. */
static void test_places(void) {
    hg_thread thread;
    if (hg_thread_start(&thread, see_places, NULL)) hg_thread_join(thread);
}

#else
static void test_places(void) { SKIP("places of threads: this system has none"); }
#endif

/* ---- fork and refusal ---- */

/* True when a child that runs body ends well. */
static bool in_child(bool (*body)(hg_thread_pool *), hg_thread_pool *pool) {
    pid_t child = fork();
    if (child == 0) {
        alarm(60);
        _exit(body(pool) ? 0 : 1);
    }
    int status = 1;
    while (child > 0 && waitpid(child, &status, 0) != child) {}
    return child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool launch_in_child(hg_thread_pool *pool) {
    _Atomic int arrived = 0;
    hg_thread_pool_run(pool, 2, 1, meet, &arrived); /* only with fresh threads can two meet */
    _Atomic uint64_t sum = 0;
    hg_thread_pool_run(hg_thread_pool_global(), 100000, 10, add_up, &sum);
    return arrived == 2 && sum == 100000 && hg_thread_pool_set_threads(pool, 2) == HG_OK;
}

static _Atomic bool stop_calling;

static void *call_until_stopped(void *user) {
    while (!atomic_load(&stop_calling)) call_often(user);
    return NULL;
}

static void test_fork(void) {
    if (UNDER_TSAN) {
        SKIP("fork: not followed by the thread sanitizer");
        return;
    }
    hg_thread_pool *pool = hg_thread_pool_create(4);
    _Atomic uint64_t sum = 0;
    hg_thread_pool_run(pool, 1000, 1, add_up, &sum);
    CHECK(in_child(launch_in_child, pool));
    hg_thread threads[2]; /* forks while other threads are inside the pool */
    bool started = hg_thread_start(&threads[0], call_until_stopped, pool) &&
                   hg_thread_start(&threads[1], call_until_stopped, pool);
    CHECK(started);
    for (int i = 0; i < 20; i++) CHECK(in_child(launch_in_child, pool));
    atomic_store(&stop_calling, true);
    for (int i = 0; i < 2 && started; i++) hg_thread_join(threads[i]);
    hg_thread_pool_run(pool, 1000, 1, add_up, &sum);
    CHECK_U64(sum, 2000);
    hg_thread_pool_destroy(pool);
}

/* No thread can start: the caller does it all. */
static bool run_without_threads(hg_thread_pool *unused) {
    (void)unused;
    struct rlimit none = {0, 0};
    hg_thread_pool *pool = hg_thread_pool_create(4);
    hg_thread thread;
    if (!pool || setrlimit(RLIMIT_NPROC, &none) != 0) return false;
    if (geteuid() == 0 && setuid(65534) != 0)
        return false; /* the limit does not bind the superuser */
    if (hg_thread_start(&thread, call_often, pool)) return false;
    for (int i = 0; i < 100; i++) {
        _Atomic uint64_t sum = 0;
        hg_thread_pool_run(pool, 12345, 7, add_up, &sum);
        if (sum != 12345) return false;
    }
    hg_thread_pool_destroy(pool);
    return true;
}

static void test_refusal(void) {
    if (UNDER_TSAN)
        SKIP("refused threads: not followed by the thread sanitizer");
    else
        CHECK(in_child(run_without_threads, NULL));
}

int main(void) {
    CHECK(hg_cpu_count() >= 1);
    uint64_t before = hg_clock_ns();
    usleep(1000);
    CHECK(hg_clock_ns() - before >= 1000000);
    for (uint32_t threads = 1; threads <= 5; threads += 2) {
        hg_thread_pool *pool = hg_thread_pool_create(threads);
        CHECK(pool != NULL);
        if (!pool) break;
        CHECK_U64(hg_thread_pool_count(pool), threads);
        test_coverage(pool);
        test_huge(pool);
        if (threads > 1) test_nesting(pool); /* else fn is a plain call and nothing is nested */
        if (threads > 1) test_parallel(pool);
        test_callers(pool);
        hg_thread_pool_destroy(pool);
    }
    CHECK_U64(hg_thread_pool_count(hg_thread_pool_global()),
              hg_cpu_count() < HG_THREAD_POOL_MAX ? hg_cpu_count() : HG_THREAD_POOL_MAX);
    CHECK(hg_thread_pool_set_threads(hg_thread_pool_global(), 3) == HG_OK);
    test_parallel(hg_thread_pool_global());
    test_places();
    test_fork();
    test_refusal();
    CHECK(hg_thread_pool_set_threads(hg_thread_pool_global(), 1) == HG_OK); /* ends its threads */
    hg_thread_pool_destroy(NULL);
    return test_done();
}
