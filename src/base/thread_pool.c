/* Thread pool. A call is a job on its caller's stack: one range of chunks for every thread, packed
 * in 64 bits so that taking from the front (owner) and stealing half from the back (others) are one
 * compare-and-swap. Idle threads spin a little, then park.
 * Must not know: what the jobs are. */
#include "base/thread_pool.h"
#include "base/thread.h"

#include <stdatomic.h>

/* Idle threads watch for this long before they park, and a caller before it sleeps until the others
 * have left: launches that follow each other closely find all awake. About what a wake-up costs, in
 * a virtual machine 20 us to the waker and 40 us until the woken thread runs: more would only burn
 * the host's CPU. */
enum { SPIN_NS = 50000 };

typedef struct pool_range {
    _Alignas(64) _Atomic uint64_t span; /* first chunk in the low half, end in the high half */
} pool_range;

typedef struct pool_job {
    struct pool_job *next;
    hg_thread_pool_fn *fn;
    void *user;
    uint64_t count, unit, chunks; /* elements; elements a chunk */
    uint32_t slots;
    uint32_t cpu;            /* its caller's when it came, or HG_CPU_UNKNOWN */
    _Atomic uint32_t inside; /* pool threads that work on it, the caller not counted; changed under
                                the pool's mutex */
    pool_range ranges[HG_THREAD_POOL_MAX];
} pool_job;

typedef struct thread_set {
    uint64_t bits[HG_THREAD_POOL_MAX / 64];
    uint32_t count;
} thread_set;

struct hg_thread_pool {
    hg_thread_pool *next; /* all pools, for fork */
    hg_mutex mutex, configure;
    hg_cond left; /* a thread left a job */
    pool_job *jobs;
    _Atomic uint32_t epoch;   /* counts jobs, so that a spinning thread sees a new one without the
                                 mutex */
    _Atomic uint32_t threads; /* wanted, the caller counted */
    _Atomic uint32_t waiting; /* callers on left; changed under the mutex */
    uint32_t started;         /* threads running */
    bool tried, stopping;     /* threads were started (or refused) since the last stop */
    bool crowded; /* the system put a thread on the CPU of the caller that woke it, and may do it
                     again */
    thread_set asleep; /* on their wake */
    struct pool_worker {
        hg_thread_pool *pool;
        uint32_t index;
        hg_thread id;
        hg_cond wake; /* a job came or the pool stops */
        hg_thread_place place;
    } workers[HG_THREAD_POOL_MAX]; /* from 1: 0 is the caller */
};

/* What this thread is doing now: nested calls run in place. */
static HG_THREAD_LOCAL struct current {
    hg_thread_pool *pool;
    uint32_t index;
} currents HG_EACH_THREAD;
#define current_pool HG_OWN(currents).pool
#define current_index HG_OWN(currents).index

static bool set_has(const thread_set *set, uint32_t i) { return set->bits[i / 64] >> i % 64 & 1; }
static void set_flip(thread_set *set, uint32_t i) {
    set->count += set_has(set, i) ? UINT32_MAX : 1;
    set->bits[i / 64] ^= UINT64_C(1) << i % 64;
}

static uint64_t pack(uint64_t begin, uint64_t end) { return begin | end << 32; }
static uint64_t span_begin(uint64_t span) { return span & UINT32_MAX; }
static uint64_t span_end(uint64_t span) { return span >> 32; }

/* An eighth from the front: few operations on long ranges, and the last ones still go chunk by
 * chunk. */
static bool take(pool_range *range, uint64_t *begin, uint64_t *end) {
    uint64_t span = atomic_load_explicit(&range->span, memory_order_acquire);
    for (;;) {
        uint64_t b = span_begin(span), e = span_end(span);
        if (b >= e) return false;
        uint64_t middle = b + 1 + (e - b - 1) / 8;
        if (atomic_compare_exchange_weak_explicit(&range->span, &span, pack(middle, e),
                                                  memory_order_acq_rel, memory_order_acquire)) {
            *begin = b;
            *end = middle;
            return true;
        }
    }
}

/* Moves the back half of another thread's range into this one's, which is empty: nobody else writes
 * an empty range. */
static bool steal(pool_job *job, uint32_t me) {
    for (uint32_t i = 1; i < job->slots; i++) {
        pool_range *victim = &job->ranges[(me + i) % job->slots];
        uint64_t span = atomic_load_explicit(&victim->span, memory_order_acquire);
        for (;;) {
            uint64_t b = span_begin(span), e = span_end(span);
            if (b >= e) break;
            uint64_t middle = b + (e - b) / 2;
            if (atomic_compare_exchange_weak_explicit(&victim->span, &span, pack(b, middle),
                                                      memory_order_acq_rel, memory_order_acquire)) {
                atomic_store_explicit(&job->ranges[me].span, pack(middle, e), memory_order_release);
                return true;
            }
        }
    }
    return false;
}

static void work(pool_job *job, uint32_t me) {
    do {
        uint64_t begin, end;
        while (take(&job->ranges[me], &begin, &end)) {
            job->fn(job->user, begin * job->unit, end < job->chunks ? end * job->unit : job->count,
                    me);
        }
    } while (steal(job, me));
}

static bool has_work(pool_job *job) {
    for (uint32_t i = 0; i < job->slots; i++) {
        uint64_t span = atomic_load_explicit(&job->ranges[i].span, memory_order_relaxed);
        if (span_begin(span) < span_end(span)) return true;
    }
    return false;
}

/* Under the mutex: the job with the fewest threads among those with work left. */
static pool_job *pick(hg_thread_pool *pool, uint32_t me) {
    pool_job *best = NULL;
    uint32_t fewest = UINT32_MAX;
    for (pool_job *job = pool->jobs; job; job = job->next) {
        uint32_t inside = atomic_load_explicit(&job->inside, memory_order_relaxed);
        if (me < job->slots && inside < fewest && has_work(job)) {
            best = job;
            fewest = inside;
        }
    }
    return best;
}

/* False: none came in time. */
static bool spin_for_job(hg_thread_pool *pool, uint32_t epoch) {
    uint64_t until = hg_clock_ns() + SPIN_NS;
    do {
        for (int i = 0; i < 32; i++) {
            if (atomic_load_explicit(&pool->epoch, memory_order_relaxed) != epoch) return true;
            hg_cpu_relax();
        }
    } while (hg_clock_ns() < until);
    return false;
}

/* Under the mutex. Who wakes a thread takes it out of the set. */
static void park(struct pool_worker *worker) {
    hg_thread_pool *pool = worker->pool;
    set_flip(&pool->asleep, worker->index);
    while (set_has(&pool->asleep, worker->index) && !pool->stopping)
        hg_cond_wait(&worker->wake, &pool->mutex);
    if (set_has(&pool->asleep, worker->index)) set_flip(&pool->asleep, worker->index);
}

/* Two threads on one CPU are no faster than one, and a system moves them apart only after
 * milliseconds. True: it gave up the mutex meanwhile. */
static bool step_aside(struct pool_worker *worker, uint32_t cpu) {
    if (hg_cpu_current() != cpu || cpu == HG_CPU_UNKNOWN) return false;
    worker->pool->crowded = true;
    hg_mutex_unlock(&worker->pool->mutex);
    hg_thread_keep_off(hg_thread_self(), &worker->place, cpu);
    hg_mutex_lock(&worker->pool->mutex);
    return true;
}

/* Under the mutex, which it gives up meanwhile. */
static void join_job(hg_thread_pool *pool, pool_job *job, uint32_t me) {
    atomic_fetch_add_explicit(&job->inside, 1, memory_order_relaxed);
    hg_mutex_unlock(&pool->mutex);
    work(job, me);
    atomic_fetch_sub(&job->inside, 1); /* the job may be gone from here on */
    bool waiting = atomic_load(&pool->waiting) != 0;
    hg_mutex_lock(&pool->mutex);
    if (waiting) hg_cond_broadcast(&pool->left);
}

static void *worker_main(void *user) {
    struct pool_worker *worker = user;
    hg_thread_pool *pool = worker->pool;
    hg_thread_name("hologram-pool");
    current_pool = pool;
    current_index = worker->index;
    bool aside = false; /* once for each job */
    hg_mutex_lock(&pool->mutex);
    while (!pool->stopping) {
        pool_job *job = pick(pool, worker->index);
        if (job) {
            aside = !aside && step_aside(worker, job->cpu);
            if (aside) continue;
            join_job(pool, job, worker->index);
            continue;
        }
        uint32_t epoch = atomic_load_explicit(&pool->epoch, memory_order_relaxed);
        hg_mutex_unlock(&pool->mutex);
        bool came = spin_for_job(pool, epoch);
        hg_mutex_lock(&pool->mutex);
        if (!came && atomic_load_explicit(&pool->epoch, memory_order_relaxed) == epoch)
            park(worker);
    }
    hg_mutex_unlock(&pool->mutex);
    return NULL;
}

/* Under the mutex. A refusal is final until the number of threads is set again: the caller does the
 * work. */
static void start_threads(hg_thread_pool *pool) {
    if (pool->tried || pool->stopping) return;
    pool->tried = true;
    uint32_t wanted = atomic_load_explicit(&pool->threads, memory_order_relaxed);
    for (uint32_t i = 1; i < wanted; i++) {
        struct pool_worker *worker = &pool->workers[i];
        worker->pool = pool;
        worker->index = i;
        worker->place = (hg_thread_place){0};
        if (!hg_worker_start(&worker->id, worker_main, worker)) break;
        pool->started = i;
    }
}

static void stop_threads(hg_thread_pool *pool) {
    hg_mutex_lock(&pool->mutex);
    pool->stopping = true;
    atomic_fetch_add_explicit(&pool->epoch, 1, memory_order_relaxed);
    uint32_t started = pool->started;
    for (uint32_t i = 1; i <= started; i++) hg_cond_signal(&pool->workers[i].wake);
    hg_mutex_unlock(&pool->mutex);
    for (uint32_t i = 1; i <= started; i++) hg_thread_join(pool->workers[i].id);
    hg_mutex_lock(&pool->mutex);
    pool->started = 0;
    pool->stopping = pool->tried = false;
    hg_mutex_unlock(&pool->mutex);
}

/* ---- fork: the child has the forking thread only, and locks in whatever state they were ---- */

static hg_mutex all_mutex = HG_MUTEX_INIT;
static hg_thread_pool *all_pools;

static void init_locks(hg_thread_pool *pool) {
    hg_mutex_init(&pool->mutex);
    hg_mutex_init(&pool->configure);
    hg_cond_init(&pool->left);
    for (uint32_t i = 1; i < HG_THREAD_POOL_MAX; i++) hg_cond_init(&pool->workers[i].wake);
}

#if HG_HAS_THREADS

static void before_fork(void) {
    hg_mutex_lock(&all_mutex);
    for (hg_thread_pool *pool = all_pools; pool; pool = pool->next) hg_mutex_lock(&pool->mutex);
}

static void after_fork_parent(void) {
    for (hg_thread_pool *pool = all_pools; pool; pool = pool->next) hg_mutex_unlock(&pool->mutex);
    hg_mutex_unlock(&all_mutex);
}

static void after_fork_child(void) {
    for (hg_thread_pool *pool = all_pools; pool; pool = pool->next) {
        pool->jobs = NULL; /* jobs of threads that do not exist here */
        pool->asleep = (thread_set){{0}, 0};
        atomic_store_explicit(&pool->waiting, 0, memory_order_relaxed);
        pool->started = 0;
        pool->tried = pool->stopping = false;
        init_locks(pool);
    }
    hg_mutex_init(&all_mutex);
}

static void watch_forks(void) { pthread_atfork(before_fork, after_fork_parent, after_fork_child); }

#else

static void watch_forks(void) {}

#endif

/* ---- public part ---- */

static uint32_t wanted_threads(uint32_t threads) {
    if (!threads || (!HG_HAS_THREADS && threads > hg_cpu_count())) threads = hg_cpu_count();
    return threads < HG_THREAD_POOL_MAX ? threads : HG_THREAD_POOL_MAX;
}

static void register_pool(hg_thread_pool *pool, uint32_t threads) {
    static hg_once_flag once = HG_ONCE_INIT;
    hg_once(&once, watch_forks);
    init_locks(pool);
    atomic_store_explicit(&pool->threads, wanted_threads(threads), memory_order_relaxed);
    hg_mutex_lock(&all_mutex);
    pool->next = all_pools;
    all_pools = pool;
    hg_mutex_unlock(&all_mutex);
}

hg_thread_pool *hg_thread_pool_create(uint32_t threads) {
    hg_thread_pool *pool = hg_calloc(1, sizeof *pool);
    if (pool) register_pool(pool, threads);
    return pool;
}

void hg_thread_pool_destroy(hg_thread_pool *pool) {
    if (!pool) return;
    stop_threads(pool);
    hg_mutex_lock(&all_mutex);
    for (hg_thread_pool **link = &all_pools; *link; link = &(*link)->next) {
        if (*link == pool) {
            *link = pool->next;
            break;
        }
    }
    hg_mutex_unlock(&all_mutex);
    hg_mutex_destroy(&pool->mutex);
    hg_mutex_destroy(&pool->configure);
    hg_cond_destroy(&pool->left);
    for (uint32_t i = 1; i < HG_THREAD_POOL_MAX; i++) hg_cond_destroy(&pool->workers[i].wake);
    hg_free(pool);
}

static hg_thread_pool global_pool; /* static: it needs no memory and outlives every caller */

static void make_global_pool(void) { register_pool(&global_pool, 0); }

hg_thread_pool *hg_thread_pool_global(void) {
    static hg_once_flag once = HG_ONCE_INIT;
    hg_once(&once, make_global_pool);
    return &global_pool;
}

uint32_t hg_thread_pool_count(hg_thread_pool *pool) {
    return atomic_load_explicit(&pool->threads, memory_order_relaxed);
}

hg_status hg_thread_pool_set_threads(hg_thread_pool *pool, uint32_t threads) {
    if (current_pool)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                       "the number of threads cannot change from inside a parallel call");
    hg_mutex_lock(&pool->configure);
    if (wanted_threads(threads) != hg_thread_pool_count(pool)) {
        stop_threads(pool);
        atomic_store_explicit(&pool->threads, wanted_threads(threads), memory_order_relaxed);
    }
    hg_mutex_unlock(&pool->configure);
    return HG_OK;
}

/* Equal shares in order, so that neighbours stay on one thread. Every thread has a slot, even with
 * fewer chunks than threads: nobody knows which threads come. */
static void split(pool_job *job) {
    for (uint32_t i = 0; i < job->slots; i++) {
        uint64_t begin = job->chunks * i / job->slots,
                 end = job->chunks * (i + 1) / job->slots; /* chunks < 2^31, slots < 2^9 */
        atomic_init(&job->ranges[i].span, pack(begin, end));
    }
}

/* Under the mutex: the first of the sleeping threads, as many as are wanted, as awake from here on.
 * Where the system puts them on the caller's CPU they are kept off it while they sleep, and so
 * begin elsewhere. */
static thread_set choose_sleepers(hg_thread_pool *pool, uint64_t wanted, uint32_t cpu) {
    thread_set chosen = {{0}, 0};
    for (uint32_t i = 1; pool->asleep.count && chosen.count < wanted; i++) {
        if (!set_has(&pool->asleep, i)) continue;
        struct pool_worker *worker = &pool->workers[i];
        if (pool->crowded && !(worker->place.set && worker->place.without == cpu))
            hg_thread_keep_off(worker->id, &worker->place, cpu);
        set_flip(&pool->asleep, i);
        set_flip(&chosen, i);
    }
    return chosen;
}

static void publish(hg_thread_pool *pool, pool_job *job) {
    hg_mutex_lock(&pool->mutex);
    start_threads(pool);
    pool_job **link = &pool->jobs;
    while (*link) link = &(*link)->next;
    *link = job;
    atomic_fetch_add_explicit(&pool->epoch, 1, memory_order_relaxed);
    thread_set woken = choose_sleepers(pool, job->chunks - 1, job->cpu);
    hg_mutex_unlock(&pool->mutex);
    for (uint32_t i = 1; woken.count; i++) {
        if (!set_has(&woken, i)) continue;
        set_flip(&woken, i);
        hg_cond_signal(&pool->workers[i].wake);
    }
}

/* False: some thread is inside still. */
static bool spin_for_end(pool_job *job) {
    if (!atomic_load_explicit(&job->inside, memory_order_acquire)) return true;
    uint64_t until = hg_clock_ns() + SPIN_NS;
    do {
        for (int i = 0; i < 32; i++) {
            if (!atomic_load_explicit(&job->inside, memory_order_acquire)) return true;
            hg_cpu_relax();
        }
    } while (hg_clock_ns() < until);
    return false;
}

/* No thread can enter after this; those inside finish what they hold. */
static void retire(hg_thread_pool *pool, pool_job *job) {
    hg_mutex_lock(&pool->mutex);
    pool_job **link = &pool->jobs;
    while (*link && *link != job) link = &(*link)->next;
    if (*link) *link = job->next;
    hg_mutex_unlock(&pool->mutex);
    if (spin_for_end(job)) return;
    hg_mutex_lock(&pool->mutex);
    atomic_fetch_add(&pool->waiting, 1); /* before it looks again: a thread that leaves does it in
                                            the other order */
    while (atomic_load(&job->inside)) hg_cond_wait(&pool->left, &pool->mutex);
    atomic_fetch_sub(&pool->waiting, 1);
    hg_mutex_unlock(&pool->mutex);
}

static void run_shared(hg_thread_pool *pool, uint64_t count, uint64_t unit, uint32_t threads,
                       hg_thread_pool_fn *fn, void *user) {
    uint64_t chunks = count / unit + (count % unit != 0);
    if (chunks > UINT32_MAX / 2) { /* must fit half a span: larger units of whole chunks */
        uint64_t factor = chunks / (UINT32_MAX / 2) + 1;
        unit *= factor; /* at most count: no overflow */
        chunks = count / unit + (count % unit != 0);
    }
    pool_job job;
    job.next = NULL;
    job.fn = fn;
    job.user = user;
    job.count = count;
    job.unit = unit;
    job.chunks = chunks;
    job.slots = threads;
    job.cpu = hg_cpu_current();
    atomic_init(&job.inside, 0);
    split(&job);
    current_pool = pool;
    current_index = 0;
    publish(pool, &job);
    work(&job, 0);
    retire(pool, &job);
    current_pool = NULL;
}

void hg_thread_pool_run(hg_thread_pool *pool, uint64_t count, uint64_t chunk, hg_thread_pool_fn *fn,
                        void *user) {
    if (!count) return;
    if (!chunk) chunk = 1;
    uint32_t threads = hg_thread_pool_count(pool);
    if (count <= chunk || threads <= 1 || current_pool)
        fn(user, 0, count, current_pool == pool ? current_index : 0);
    else
        run_shared(pool, count, chunk, threads, fn, user);
}
