/* Communicators of ranks in one process: the suite of all providers with 1 to 4 ranks, sizes at
 * which messages are cut, and ranks that fail. */
/* test: labels=threads timeout=300 */
#include "comm/comm.h"
#include "comm/suite.h"
#include "support/runtime_support.h"
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct rank_work {
    hg_backend *backend;
    hg_comm *comm;
    uint32_t rank;
    bool all;
    suite_counts counts;
    void (*run)(struct rank_work *w);
    void *user;
    pthread_t thread;
} rank_work;

static void *run_rank(void *user) {
    rank_work *w = user;
    w->run(w);
    return NULL;
}

static void run_suite(rank_work *w) { comm_suite(w->backend, w->comm, w->all, &w->counts); }

enum { MOST = 8 };

/* A thread for each rank. */
static void with_ranks(hg_backend *b, uint32_t ranks, bool all, void (*run)(rank_work *w),
                       void *user) {
    hg_backend *backends[MOST];
    hg_comm *comms[MOST] = {0};
    rank_work work[MOST];
    for (uint32_t i = 0; i < ranks; i++) backends[i] = b;
    CHECK_OK(hg_comm_create_local(backends, ranks, comms));
    for (uint32_t i = 0; i < ranks; i++) {
        work[i] = (rank_work){
            .backend = b, .comm = comms[i], .rank = i, .all = all, .run = run, .user = user};
        if (pthread_create(&work[i].thread, NULL, run_rank, &work[i])) abort();
    }
    for (uint32_t i = 0; i < ranks; i++) {
        pthread_join(work[i].thread, NULL);
        test_passed += work[i].counts.passed;
        test_failed += work[i].counts.failed;
    }
    for (uint32_t i = 0; i < ranks; i++) hg_comm_destroy(work[i].comm);
}

/* ---- other devices ---- */

static void run_steps(rank_work *w) { comm_suite_steps(w->backend, w->comm, w->all, &w->counts); }

/* Of devices whose memory the host does not see, and that work while it goes on or only while it
 * looks: each rank has one. */
static void try_devices(bool all) {
    static const char *const devices[][2] = {
        {"cpu", "poor"}, {"cpu", "polled=3,staging"}, {"opencl", ""}};
    enum { RANKS = 3 };
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
        hg_backend *backends[RANKS] = {NULL};
        hg_comm *comms[RANKS] = {NULL};
        rank_work work[RANKS];
        hg_config config = hg_config_default();
        snprintf(config.backend, sizeof config.backend, "%s", devices[i][0]);
        set_pretend(&config, devices[i][1]);
        config.num_threads = 1;
        hg_status status = HG_OK;
        for (int r = 0; r < RANKS && status == HG_OK; r++)
            status = open_in_steps(&config, &backends[r]);
        if (status != HG_OK) {
            SKIP(hg_last_error_text());
            continue;
        }
        CHECK_OK(hg_comm_create_local(backends, RANKS, comms));
        for (uint32_t r = 0; r < RANKS; r++) {
            work[r] = (rank_work){
                .backend = backends[r], .comm = comms[r], .rank = r, .all = all, .run = run_steps};
            if (pthread_create(&work[r].thread, NULL, run_rank, &work[r])) abort();
        }
        for (uint32_t r = 0; r < RANKS; r++) {
            pthread_join(work[r].thread, NULL);
            test_passed += work[r].counts.passed;
            test_failed += work[r].counts.failed;
        }
        for (uint32_t r = 0; r < RANKS; r++) hg_comm_destroy(comms[r]);
        for (uint32_t r = 0; r < RANKS; r++) hg_backend_destroy(backends[r]);
    }
}

/* ---- ranks that fail ---- */

#define RANK_CHECK(w, condition, ...)                                         \
    do {                                                                      \
        if (condition) {                                                      \
            (w)->counts.passed++;                                             \
        } else {                                                              \
            (w)->counts.failed++;                                             \
            fprintf(stderr, "%s:%d: rank %u: ", __FILE__, __LINE__, w->rank); \
            fprintf(stderr, __VA_ARGS__);                                     \
            fputc('\n', stderr);                                              \
        }                                                                     \
    } while (0)

static hg_status sum(rank_work *w, int32_t *value, uint64_t count) {
    hg_comm_call c = {.size = sizeof c,
                      .kind = HG_COMM_ALL_REDUCE,
                      .type = HG_TYPE_I32,
                      .count = count,
                      .input = value,
                      .output = value};
    return hg_comm_run(w->comm, &c);
}

static uint64_t ms_since(uint64_t start) { return (hg_clock_ns() - start) / 1000000; }

/* The last rank ends before its call number `user`, with messages of all sizes under way: the
 * others learn who it was, agree, and go on without it. */
static void lose_a_rank(rank_work *w) {
    static const uint64_t counts[] = {1, 100, 20000, 300};
    int calls = *(const int *)w->user, last = (int)hg_comm_size(w->comm) - 1;
    int32_t *values = calloc(20000, sizeof *values);
    hg_status status = HG_OK;
    hg_comm *rest = NULL;
    for (int i = 0; status == HG_OK; i++) {
        if (i == calls && (int)w->rank == last) {
            hg_comm_destroy(w->comm);
            w->comm = NULL;
            free(values);
            return;
        }
        status = sum(w, values, counts[i % 4]);
    }
    RANK_CHECK(w, status == HG_ERROR_EXECUTION_FAILED && strstr(hg_last_error_text(), "gone"), "%s",
               hg_last_error_text());
    RANK_CHECK(w, hg_comm_revoke(w->comm) == HG_OK, "revoke");
    RANK_CHECK(w, sum(w, values, 1) == HG_ERROR_EXECUTION_FAILED, "a call after the end");
    uint64_t flags = w->rank == 0 ? 6 : 14;
    RANK_CHECK(w, hg_comm_agree(w->comm, &flags) == HG_OK && flags == 6, "agreed on %d",
               (int)flags);
    RANK_CHECK(w, hg_comm_shrink(w->comm, &rest) == HG_OK, "%s", hg_last_error_text());
    RANK_CHECK(w, hg_comm_size(rest) == (uint32_t)last && hg_comm_rank(rest) == w->rank,
               "rank %u of %u", hg_comm_rank(rest), hg_comm_size(rest));
    hg_comm_destroy(w->comm);
    w->comm = rest;
    values[0] = (int32_t)w->rank + 1;
    RANK_CHECK(w, sum(w, values, 300) == HG_OK && values[0] == last * (last + 1) / 2, "sum %d",
               values[0]);
    free(values);
}

/* Rank 1 never calls: the others wait no longer than they said, and say for whom. */
static void wait_for_nobody(rank_work *w) {
    int32_t value[300] = {1};
    uint64_t start = hg_clock_ns();
    RANK_CHECK(w, hg_comm_set_timeout(w->comm, 50) == HG_OK, "timeout");
    if (w->rank == 1) return;
    hg_status status = sum(w, value, 300);
    const char *text = hg_last_error_text();
    RANK_CHECK(w, status == HG_ERROR_TIMEOUT && strstr(text, "nothing from rank 1"), "%s", text);
    RANK_CHECK(w, ms_since(start) < 20000, "%d ms", (int)ms_since(start));
    RANK_CHECK(w, sum(w, value, 1) != HG_OK, "a call after the end");
}

/* Nobody sends what rank 0 waits for, while both go on with something else all the time. */
static void wait_beside_others(rank_work *w) {
    static int32_t never[300];
    hg_event *event = NULL;
    int32_t value = 1;
    uint64_t start = hg_clock_ns();
    hg_comm_call recv = {.size = sizeof recv,
                         .kind = HG_COMM_RECV,
                         .type = HG_TYPE_I32,
                         .peer = 1,
                         .count = 300,
                         .output = never};
    if (w->rank == 0) {
        RANK_CHECK(w, hg_comm_set_timeout(w->comm, 50) == HG_OK, "timeout");
        RANK_CHECK(w, hg_comm_start(w->comm, &recv, NULL, 0, &event) == HG_OK, "start");
        RANK_CHECK(w, hg_comm_set_timeout(w->comm, 20000) == HG_OK, "timeout");
    }
    while (sum(w, &value, 1) == HG_OK && ms_since(start) < 3000) {}
    RANK_CHECK(w, strstr(hg_last_error_text(), "nothing from rank 1 in 50 ms"), "%s",
               hg_last_error_text());
    hg_event_destroy(event);
}

extern const comm_provider comm_provider_threads;

/* The provider, but large messages of this rank never leave it. */
static hg_status post_small(comm_group *group, comm_transfer *t) {
    comm_transfer nothing = {.peer = t->peer, .receives = true, .own = {0, UINT64_MAX}};
    if (t->receives || t->bytes <= 256) return comm_provider_threads.post(group, t);
    return comm_provider_threads.poll(group, &nothing); /* whether the others have ended it */
}

/* Rank 0 sends nothing, rank 1 has rank 2's array in hand meanwhile: rank 2's time ends all the
 * same when it said. */
static void wait_for_a_reader(rank_work *w) {
    static comm_provider mute;
    int32_t value[3000] = {1};
    uint64_t start = hg_clock_ns();
    if (w->rank == 0) {
        mute = comm_provider_threads;
        mute.post = post_small;
        w->comm->provider = &mute;
    }
    RANK_CHECK(w, hg_comm_set_timeout(w->comm, w->rank == 2 ? 100 : 10000) == HG_OK, "timeout");
    hg_status status = sum(w, value, 3000);
    RANK_CHECK(w, strstr(hg_last_error_text(), "nothing from rank 0 in 100 ms"), "%s",
               hg_last_error_text());
    RANK_CHECK(w, w->rank != 2 || status == HG_ERROR_TIMEOUT, "%s", hg_last_error_text());
    RANK_CHECK(w, ms_since(start) < 5000, "%d ms", (int)ms_since(start));
    w->comm->provider = &comm_provider_threads;
}

static struct {
    int slept, over, enough; /* atomic; slept: 1 and more, by how often others were */
    int others;              /* how often another thread had the processor between two looks */
    uint64_t last_ns;
} looks;

static hg_status poll_counted(comm_group *group, comm_transfer *t) {
    enum { OTHERS_NS = 100000 };
    uint64_t now = hg_clock_ns();
    looks.others += looks.last_ns && now - looks.last_ns > OTHERS_NS;
    looks.last_ns = now;
    return comm_provider_threads.poll(group, t);
}

static void sleep_counted(comm_group *group, uint64_t until_ns) {
    if (!hg_atomic_load(&looks.slept, HG_ACQUIRE))
        hg_atomic_store(&looks.slept, 1 + looks.others, HG_RELEASE);
    comm_provider_threads.sleep(group, until_ns);
}

static void *calculate(void *user) {
    while (!hg_atomic_load(&looks.over, HG_RELAXED)) hg_cpu_relax();
    return user;
}

/* A call that was started sleeps soon, where others calculate on every CPU: a thread that yields to
 * them stands for a slice of time. One that does not sleep for that does it 200 times. */
static void start_beside_others(rank_work *w) {
    static comm_provider counted;
    const hg_comm_call barrier = {.size = sizeof barrier, .kind = HG_COMM_BARRIER};
    enum { CALLS = 4, OTHERS = 64, FEW = 40 };
    pthread_t threads[OTHERS];
    uint32_t cpus = hg_cpu_count() < OTHERS ? hg_cpu_count() : OTHERS;
    counted = comm_provider_threads;
    counted.poll = poll_counted;
    counted.sleep = sleep_counted;
    w->comm->provider = &counted;
    for (uint32_t i = 0; i < cpus; i++)
        if (pthread_create(&threads[i], NULL, calculate, NULL)) abort();
    for (int i = 0; i < CALLS; i++) {
        hg_event *event = NULL;
        looks.slept = looks.others = 0;
        looks.last_ns = 0;
        RANK_CHECK(w, hg_comm_start(w->comm, &barrier, NULL, 0, &event) == HG_OK, "start");
        while (!hg_atomic_load(&looks.slept, HG_ACQUIRE)) (void)usleep(1000);
        RANK_CHECK(w, looks.slept <= FEW, "it looked %d times behind others", looks.slept - 1);
        hg_atomic_store(&looks.enough, i + 1, HG_RELEASE);
        RANK_CHECK(w, hg_event_wait(event) == HG_OK, "%s", hg_last_error_text());
        hg_event_destroy(event);
    }
    hg_atomic_store(&looks.over, 1, HG_RELEASE);
    for (uint32_t i = 0; i < cpus; i++) pthread_join(threads[i], NULL);
    w->comm->provider = &comm_provider_threads;
}

static void sleep_soon(rank_work *w) {
    const hg_comm_call barrier = {.size = sizeof barrier, .kind = HG_COMM_BARRIER};
    if (w->rank == 0) {
        start_beside_others(w);
        return;
    }
    for (int done = 0; !hg_atomic_load(&looks.over, HG_ACQUIRE); (void)usleep(500))
        if (hg_atomic_load(&looks.enough, HG_ACQUIRE) > done) {
            done++;
            RANK_CHECK(w, hg_comm_run(w->comm, &barrier) == HG_OK, "%s", hg_last_error_text());
        }
}

/* Agreements that not all come to, and two ranks of which one shrinks where the other agrees: what
 * comes after has nothing of them. The ranks take turns by calls of the other communicator. */
static void disagree(rank_work *w) {
    hg_comm *old = NULL, *rest = NULL;
    int32_t value = 1;
    uint64_t flags = 1;
    RANK_CHECK(w, hg_comm_split(w->comm, 0, 0, &old) == HG_OK, "%s", hg_last_error_text());
    if (w->rank == 0) {
        RANK_CHECK(w, hg_comm_set_timeout(old, 20) == HG_OK, "timeout");
        RANK_CHECK(w, hg_comm_agree(old, &flags) == HG_ERROR_TIMEOUT && flags == 1, "alone");
        RANK_CHECK(w, hg_comm_set_timeout(old, 20000) == HG_OK, "timeout");
    }
    RANK_CHECK(w, sum(w, &value, 1) == HG_OK, "%s", hg_last_error_text());
    flags = w->rank == 0 ? 6 : 14;
    RANK_CHECK(w, hg_comm_agree(old, &flags) == HG_OK && flags == 6, "agreed on %d", (int)flags);
    if (w->rank == 0) {
        RANK_CHECK(w, hg_comm_shrink(old, &rest) == HG_OK, "%s", hg_last_error_text());
        hg_comm_destroy(rest);
    } else {
        RANK_CHECK(w, hg_comm_agree(old, &flags) == HG_OK && flags == 0, "of a rank that shrinks");
    }
    RANK_CHECK(w, hg_comm_shrink(old, &rest) == HG_OK, "%s", hg_last_error_text());
    rank_work both = {.comm = rest, .rank = w->rank};
    value = 1;
    RANK_CHECK(w, sum(&both, &value, 1) == HG_OK && value == 2, "%s", hg_last_error_text());
    hg_comm_destroy(rest);
    hg_comm_destroy(old);
}

/* A call that cannot begin on one rank: its buffer is not there, or an event that it waits for
 * failed. */
static void fail_a_wait(rank_work *w) {
    int32_t value[300] = {1};
    hg_comm_call bad = {.size = sizeof bad,
                        .kind = HG_COMM_ALL_REDUCE,
                        .type = HG_TYPE_I32,
                        .count = 300,
                        .input = value,
                        .output = value};
    if (w->rank == 1) {
        bad.input = NULL; /* no such buffer */
        bad.input_buffer.handle = UINT64_MAX - 200;
    }
    hg_status status = hg_comm_run(w->comm, &bad);
    RANK_CHECK(w, status != HG_OK, "it cannot begin on rank 1");
    if (w->rank != 1)
        RANK_CHECK(w, strstr(hg_last_error_text(), "cannot begin on rank 1"), "%s",
                   hg_last_error_text());
    hg_comm *alone;
    hg_event *failed, *event;
    RANK_CHECK(w, hg_comm_create("threads", w->backend, &alone) == HG_OK, "%s",
               hg_last_error_text());
    bad.input = NULL;
    bad.input_buffer.handle = UINT64_MAX - 200;
    RANK_CHECK(w, hg_comm_start(alone, &bad, NULL, 0, &failed) == HG_OK, "%s",
               hg_last_error_text());
    bad.input = value;
    RANK_CHECK(w, hg_comm_start(w->comm, &bad, &failed, w->rank == 1, &event) == HG_OK, "%s",
               hg_last_error_text());
    RANK_CHECK(w, hg_event_wait(event) != HG_OK, "its event failed");
    RANK_CHECK(w, strstr(hg_last_error_text(), w->rank == 1 ? "uffer" : "cannot begin on rank 1"),
               "%s", hg_last_error_text());
    RANK_CHECK(w, sum(w, value, 300) == HG_OK, "%s", hg_last_error_text());
    hg_event_destroy(event);
    hg_event_destroy(failed);
    hg_comm_destroy(alone);
}

/* Arrays of rank 1 that are not aligned, by pointer and in a buffer: all learn of it. What a rank
 * has no use for is not looked at. */
static void misalign(rank_work *w) {
    int32_t values[8] = {1};
    uint8_t *odd = (uint8_t *)values + 1;
    hg_comm_call c = {.size = sizeof c,
                      .kind = HG_COMM_ALL_REDUCE,
                      .type = HG_TYPE_I32,
                      .count = 4,
                      .input = values,
                      .output = values},
                 in_buffer = c, root = c;
    RANK_CHECK(w, hg_backend_allocate_buffer(w->backend, 32, &in_buffer.input_buffer) == HG_OK,
               "%s", hg_last_error_text());
    in_buffer.input = NULL;
    if (w->rank == 1) {
        c.output = odd;
        in_buffer.input_offset = 2;
    }
    hg_status status = hg_comm_run(w->comm, &c);
    RANK_CHECK(w,
               status != HG_OK &&
                   strstr(hg_last_error_text(), w->rank == 1 ? "output is not" : "on rank 1"),
               "%s", hg_last_error_text());
    status = hg_comm_run(w->comm, &in_buffer);
    RANK_CHECK(w,
               status != HG_OK &&
                   strstr(hg_last_error_text(), w->rank == 1 ? "input is not" : "on rank 1"),
               "%s", hg_last_error_text());
    root.kind = HG_COMM_BROADCAST;
    if (w->rank == 1) root.input = odd;
    RANK_CHECK(w, hg_comm_run(w->comm, &root) == HG_OK, "%s", hg_last_error_text());
    RANK_CHECK(w, hg_backend_free_buffer(w->backend, in_buffer.input_buffer) == HG_OK, "%s",
               hg_last_error_text());
}

/* Sends of a rank that is in a call of nobody else's end when another rank revokes. */
static void revoke_others(rank_work *w) {
    int32_t value[3000] = {1};
    hg_comm_call send = {.size = sizeof send,
                         .kind = HG_COMM_SEND,
                         .type = HG_TYPE_I32,
                         .peer = 1,
                         .count = 3000,
                         .input = value};
    if (w->rank == 0) {
        RANK_CHECK(w, hg_comm_run(w->comm, &send) == HG_ERROR_EXECUTION_FAILED, "a send to nobody");
        RANK_CHECK(w, strstr(hg_last_error_text(), "revoked by rank 1"), "%s",
                   hg_last_error_text());
    } else if (w->rank == 1) {
        RANK_CHECK(w, hg_comm_revoke(w->comm) == HG_OK, "revoke");
    }
}

/* A rank may end when its last call is over: the others have all that it sent before. */
static void leave_at_once(rank_work *w) {
    hg_comm_call barrier = {.size = sizeof barrier, .kind = HG_COMM_BARRIER};
    RANK_CHECK(w, hg_comm_run(w->comm, &barrier) == HG_OK, "%s", hg_last_error_text());
    hg_comm_destroy(w->comm);
    w->comm = NULL;
}

static void try_failures(hg_backend *b, bool all) {
    for (int i = 0; i < (all ? 40000 : 50); i++) with_ranks(b, 2, false, leave_at_once, NULL);
    for (int calls = 0; calls < 5; calls++) with_ranks(b, 3, false, lose_a_rank, &calls);
    with_ranks(b, 2, false, wait_for_nobody, NULL);
    with_ranks(b, 2, false, wait_beside_others, NULL);
    with_ranks(b, 2, false, sleep_soon, NULL);
    with_ranks(b, 3, false, wait_for_a_reader, NULL);
    with_ranks(b, 2, false, disagree, NULL);
    with_ranks(b, 3, false, fail_a_wait, NULL);
    with_ranks(b, 2, false, misalign, NULL);
    with_ranks(b, 2, false, revoke_others, NULL);
}

/* ---- memory ---- */

static failing_allocator memory;

/* Without the n-th allocation: none of the ranks is there, nothing is lost. */
static void try_memory(hg_backend *b) {
    hg_backend *backends[3] = {b, b, b};
    hg_comm *comms[3];
    hg_status status = HG_ERROR_OUT_OF_MEMORY;
    for (uint64_t n = 0; n < 100 && status != HG_OK; n++) {
        uint64_t live = memory.live;
        allow_allocations(&memory, n);
        status = hg_comm_create_local(backends, 3, comms);
        allow_allocations(&memory, UINT64_MAX);
        CHECK(status == HG_OK || status == HG_ERROR_OUT_OF_MEMORY);
        for (int i = 0; status == HG_OK && i < 3; i++) hg_comm_destroy(comms[i]);
        CHECK_U64(memory.live, live);
    }
    CHECK_OK(status);
}

/* ---- sizes at which messages are cut, and first messages handed on ---- */

static void try_limits(hg_backend *b, bool all) {
    comm_limits usual = comm_limit;
    for (uint32_t ranks = 2; ranks <= (all ? MOST : 3); ranks++) {
        comm_limit = (comm_limits){.message = 4096, .window = 2048, .direct = ranks - 1};
        with_ranks(b, ranks, all, run_suite, NULL);
    }
    comm_limit = usual;
}

int main(int argc, char **argv) {
    bool all = argc > 1 && strcmp(argv[1], "--all") == 0;
    hg_allocator hooks = {sizeof hooks, &memory, failing_reallocate, failing_release};
    CHECK_OK(hg_set_allocator(&hooks));
    hg_backend *b = open_backend("cpu");
    try_memory(b);
    for (uint32_t ranks = 1; ranks <= (all ? MOST : 4); ranks++)
        with_ranks(b, ranks, all, run_suite, NULL);
    try_limits(b, all);
    try_failures(b, all);
    try_devices(all);
    hg_backend_destroy(b);
    return test_done();
}
