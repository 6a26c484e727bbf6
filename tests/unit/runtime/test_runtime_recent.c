/* test: labels=threads */
/* Calls of hg_backend_execute_program_with_params that came before: found by program, launch and
 * values, and never by what is no more. */
#include "base/thread.h"
#include "runtime/binding.h"
#include "support/runtime_support.h"
#if defined(__unix__)
#include <sys/wait.h>
#include <unistd.h>
#endif

static failing_allocator memory;

/* x[i] += k + 1 */
#define ADD_K                                                                                      \
    PROGRAM(".param r1 x buffer u32 inout [n]\n.param r3 k u32\n.param r4 n u64\n.lanes n\n "      \
            "mov_imm.u32 r250, 2\n shl.u64 r0, r255, "                                             \
            "r250\n mov_imm.u32 r11, 1\n ldg.u32 r10, [r1 + r0]\n add.u32 r10, r10, r3\n add.u32 " \
            "r10, r10, r11\n stg.u32 [r1 + r0], r10\n")

typedef struct work {
    hg_backend *b;
    hg_program *p;
    hg_params *params;
    hg_buffer x;
} work;

static void set_k(work *w, uint32_t k) {
    CHECK_OK(hg_params_set_scalar(w->params, "k", HG_TYPE_U32, &k));
}

static work begin(hg_backend *b) {
    work w = {b, assemble(ADD_K), hg_params_create(), make_buffer(b, NULL, 1024)};
    CHECK_OK(hg_params_set_buffer(w.params, "x", w.x));
    set_k(&w, 0);
    return w;
}

static void end(work *w) {
    hg_params_destroy(w->params);
    hg_program_release(w->p);
}

static hg_status run(const work *w) {
    return hg_backend_execute_program_with_params(w->b, w->p, NULL, w->params);
}

static void run_often(const work *w, int times) {
    for (int i = 0; i < times; i++) CHECK_OK(run(w));
}

static void check_all(const work *w, uint32_t expected) {
    uint32_t data[256];
    CHECK_OK(hg_backend_copy_from_buffer(w->b, w->x, data, sizeof data));
    for (int i = 0; i < 256; i++) CHECK_U64(data[i], expected);
}

/* ---- which call it is ---- */

static void test_values(hg_backend *b) {
    work w = begin(b);
    uint32_t before = hg_recent_count(b);
    run_often(&w, 1);
    CHECK_U64(hg_recent_count(b), before); /* a call that comes once takes no memory */
    run_often(&w, 4);
    CHECK_U64(hg_recent_count(b), before + 1);
    check_all(&w, 5);
    set_k(&w, 9);
    run_often(&w, 5);
    check_all(&w, 55);
    set_k(&w, 0);
    run_often(&w, 1);
    check_all(&w, 56);
    hg_params *same = hg_params_create(); /* other objects, the same values */
    uint32_t k = 0;
    CHECK_OK(hg_params_set_buffer(same, "x", w.x));
    CHECK_OK(hg_params_set_scalar(same, "k", HG_TYPE_U32, &k));
    before = hg_recent_count(b);
    CHECK_OK(hg_backend_execute_program_with_params(b, w.p, NULL, same));
    CHECK_OK(hg_backend_execute_program_with_params(b, w.p, NULL, same));
    CHECK_U64(hg_recent_count(b), before);
    check_all(&w, 58);
    hg_params_clear(same);
    CHECK_OK(hg_params_set_buffer(same, "y", w.x)); /* another name, the same words */
    CHECK_OK(hg_params_set_scalar(same, "k", HG_TYPE_U32, &k));
    CHECK_FAILS(hg_backend_execute_program_with_params(b, w.p, NULL, same), HG_ERROR_ISA, "P01",
                "unknown parameter: 'y' is no parameter of 'p'");
    hg_params_clear(same);
    CHECK_OK(hg_params_set_buffer(same, "x", w.x)); /* another type */
    CHECK_OK(hg_params_set_scalar(same, "k", HG_TYPE_I32, &k));
    CHECK_STATUS(hg_backend_execute_program_with_params(b, w.p, NULL, same), HG_ERROR_ISA);
    hg_params_destroy(same);
    CHECK_OK(hg_backend_free_buffer(b, w.x));
    end(&w);
}

static void test_launches(hg_backend *b) {
    work w = begin(b);
    hg_launch half = HG_LAUNCH_INIT;
    hg_launch_set_linear(&half, 128);
    run_often(&w, 5);
    for (int i = 0; i < 5; i++)
        CHECK_OK(hg_backend_execute_program_with_params(b, w.p, &half, w.params));
    run_often(&w, 1);
    uint32_t data[256];
    CHECK_OK(hg_backend_copy_from_buffer(b, w.x, data, sizeof data));
    CHECK_U64(data[127], 11);
    CHECK_U64(data[128], 6);
    hg_launch blocks[2] = {{sizeof(hg_launch), {2, 1, 1}, {64, 1, 1}, 0, 0, 0, 0, 0},
                           {sizeof(hg_launch), {2, 1, 1}, {32, 1, 1}, 0, 0, 0, 0, 0}};
    for (int i = 0; i < 12; i++)
        CHECK_OK(hg_backend_execute_program_with_params(b, w.p, &blocks[i / 3 % 2], w.params));
    CHECK_OK(hg_backend_copy_from_buffer(b, w.x, data, sizeof data));
    CHECK_U64(data[63], 11 + 12);
    CHECK_U64(data[127], 11 + 6);
    half.size = 0;
    CHECK_STATUS(hg_backend_execute_program_with_params(b, w.p, &half, w.params),
                 HG_ERROR_INVALID_ARGUMENT);
    CHECK_OK(hg_backend_free_buffer(b, w.x));
    end(&w);
}

/* Another program of the same parameters. */
static void test_programs(hg_backend *b) {
    work w = begin(b);
    run_often(&w, 5);
    hg_program *own = w.p;
    w.p = assemble(PROGRAM(".param r1 x buffer u32 inout [n]\n.param r3 k u32\n.param r4 n "
                           "u64\n.lanes n\n mov_imm.u32 r250, 2\n shl.u64 r0, "
                           "r255, r250\n stg.u32 [r1 + r0], r3\n"));
    run_often(&w, 5);
    check_all(&w, 0);
    hg_program_release(w.p);
    w.p = own;
    run_often(&w, 1);
    check_all(&w, 1);
    CHECK_OK(hg_backend_free_buffer(b, w.x));
    end(&w);
}

/* ---- handles ---- */

static void test_stale(hg_backend *b) {
    work w = begin(b);
    uint32_t before = hg_recent_count(b);
    run_often(&w, 5);
    CHECK_OK(hg_backend_free_buffer(b, w.x));
    CHECK_U64(hg_recent_count(b), before);
    CHECK_STATUS(run(&w), HG_ERROR_INVALID_BUFFER);
    hg_buffer made[100], old = w.x; /* one of them has the place of the old one */
    bool again = false;
    for (int i = 0; i < 100; i++) {
        made[i] = make_buffer(b, NULL, 1024);
        if (hg_handle_index(made[i].handle) == hg_handle_index(old.handle)) {
            again = true;
            w.x = made[i];
        }
        CHECK_STATUS(run(&w), HG_ERROR_INVALID_BUFFER);
    }
    CHECK(again);
    CHECK_OK(hg_params_set_buffer(w.params, "x", w.x));
    run_often(&w, 5);
    check_all(&w, 5);
    CHECK_OK(hg_params_set_buffer(w.params, "x", old));
    CHECK_STATUS(run(&w), HG_ERROR_INVALID_BUFFER);
    for (int i = 0; i < 100; i++) CHECK_OK(hg_backend_free_buffer(b, made[i]));
    end(&w);
}

/* A handle that is dead without anybody having been told: it is looked at in each call. */
static void test_looked_at(hg_backend *b) {
    work w = begin(b);
    run_often(&w, 5);
    uint32_t before = hg_recent_count(b);
    CHECK(hg_handles_remove(&b->buffers, w.x.handle));
    CHECK_U64(hg_recent_count(b), before);
    CHECK_STATUS(run(&w), HG_ERROR_INVALID_BUFFER);
    end(&w);
}

static void test_pool(hg_backend *b) {
    hg_program *p = assemble(PROGRAM(".param r6 h pool 64\n pool.load.u32 r2, r6, 4\n mov_imm.u32 "
                                     "r3, 1\n add.u32 r2, r2, r3\n pool.store.u32 r6, 4, r2\n"));
    hg_params *params = hg_params_create();
    hg_pool pool;
    uint32_t value = 0;
    for (uint64_t size = 64; size <= 256; size *= 2) { /* a larger one in the place of the one
                                                          before */
        CHECK_OK(hg_backend_allocate_pool(b, size, &pool));
        CHECK_OK(hg_params_set_pool(params, "h", pool));
        for (int i = 0; i < 5; i++)
            CHECK_OK(hg_backend_execute_program_with_params(b, p, NULL, params));
        CHECK_OK(hg_backend_copy_from_pool(b, pool, 4, &value, sizeof value));
        CHECK_U64(value, 5);
        CHECK_OK(hg_backend_free_pool(b, pool));
        CHECK_STATUS(hg_backend_execute_program_with_params(b, p, NULL, params),
                     HG_ERROR_INVALID_BUFFER);
    }
    hg_params_destroy(params);
    hg_program_release(p);
}

/* What is freed is free at once. */
static void test_limit(void) {
    hg_config config = hg_config_default();
    hg_backend *b;
    set_pretend(&config, "");
    config.max_memory = 3 << 20;
    CHECK_OK(hg_backend_create_with_config(&config, &b));
    for (int i = 0; i < 8; i++) {
        work w = {b, assemble(ADD_K), hg_params_create(), make_buffer(b, NULL, 2 << 20)};
        uint64_t n = 256;
        set_k(&w, 0);
        CHECK_OK(hg_params_set_buffer(w.params, "x", w.x));
        CHECK_OK(hg_params_set_scalar(w.params, "n", HG_TYPE_U64, &n));
        run_often(&w, 5);
        CHECK_OK(hg_backend_free_buffer(b, w.x));
        end(&w);
    }
    hg_backend_destroy(b);
}

/* ---- memory ---- */

static void test_no_allocation(hg_backend *b) {
    work w = begin(b);
    run_often(&w, 5);
    uint64_t before = memory.allocations;
    memory.fail_at = before + 1;
    run_often(&w, 100);
    memory.fail_at = 0;
    CHECK_U64(memory.allocations, before);
    check_all(&w, 105);
    CHECK_OK(hg_backend_free_buffer(b, w.x));
    end(&w);
}

/* More calls than are kept, and calls that come again: no more memory than for the first of them.
 */
static void test_no_growth(hg_backend *b) {
    work w = begin(b);
    uint64_t live = 0;
    uint32_t sum = 0;
    for (int round = 0; round < 4; round++) {
        for (uint32_t k = 0; k < 200; k++) {
            set_k(&w, k);
            run_often(&w, 3);
            sum += 3 * (k + 1);
        }
        if (round == 0) live = memory.live;
        CHECK(memory.live <= live + 16);
    }
    check_all(&w, sum);
    CHECK_OK(hg_backend_free_buffer(b, w.x));
    end(&w);
}

/* Each allocation of keeping a call fails once: the call goes on as before. */
static void test_failing(hg_backend *b) {
    for (uint64_t at = 0; at < 40; at++) {
        work w = begin(b);
        run_often(&w, 1);
        memory.only_once = true;
        memory.fail_at = memory.allocations + 1 + at;
        uint32_t done = 0;
        for (int i = 0; i < 6; i++) done += run(&w) == HG_OK;
        memory.fail_at = 0;
        memory.only_once = false;
        CHECK(done >= 5);
        check_all(&w, done + 1);
        CHECK_OK(hg_backend_free_buffer(b, w.x));
        end(&w);
    }
}

static void test_without(const char *pretend, uint32_t programs) {
    hg_config config = hg_config_default();
    hg_backend *b;
    set_pretend(&config, pretend);
    config.cache_programs = programs;
    CHECK_OK(hg_backend_create_with_config(&config, &b));
    work w = begin(b);
    run_often(&w, 6);
    check_all(&w, 6);
    CHECK_U64(hg_recent_count(b), 0);
    CHECK_OK(hg_backend_free_buffer(b, w.x));
    end(&w);
    hg_backend_destroy(b);
}

/* ---- threads ---- */

typedef struct side {
    work w;
    struct side *other;
    uint32_t calls, failed; /* calls: atomic */
} side;

enum { EACH = 20000 };

static void *call_often(void *user) {
    side *s = user;
    do {
        s->failed += run(&s->w) != HG_OK;
        hg_atomic_fetch_add(&s->calls, 1, HG_RELAXED);
    } while (s->calls < EACH || hg_atomic_load(&s->other->calls, HG_RELAXED) < EACH);
    return NULL;
}

static void test_two_threads(hg_backend *b) {
    work w = begin(b);
    side one = {w, NULL, 0, 0}, two = {w, &one, 0, 0};
    hg_thread thread;
    one.other = &two;
    if (!hg_thread_start(&thread, call_often, &two)) exit(test_done());
    (void)call_often(&one);
    hg_thread_join(thread);
    CHECK_U64(one.failed + two.failed, 0);
    check_all(&w, one.calls + two.calls);
    CHECK_OK(hg_backend_free_buffer(b, w.x));
    end(&w);
}

/* One thread frees what the other one works on: its calls succeed until then, and fail from then
 * on. */
static void *call_until_stale(void *user) {
    side *s = user;
    hg_status status;
    while ((status = run(&s->w)) == HG_OK) hg_atomic_fetch_add(&s->calls, 1, HG_RELAXED);
    s->failed = status != HG_ERROR_INVALID_BUFFER;
    return NULL;
}

static void test_freed_meanwhile(hg_backend *b) {
    uint64_t live = 0;
    for (int round = 0; round < 40; round++) {
        side s = {begin(b), NULL, 0, 0};
        hg_thread thread;
        if (!hg_thread_start(&thread, call_until_stale, &s)) exit(test_done());
        while (hg_atomic_load(&s.calls, HG_RELAXED) < 10 + (uint32_t)round) {}
        CHECK_OK(hg_backend_free_buffer(b, s.w.x));
        hg_thread_join(thread);
        CHECK_U64(s.failed, 0);
        end(&s.w);
        if (round == 0) live = memory.live;
    }
    CHECK_U64(memory.live, live);
}

/* ---- a forked child ---- */

static void test_fork(hg_backend *b) {
#if defined(__unix__)
    work w = begin(b);
    run_often(&w, 5);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        test_failed = 0;
        run_often(&w, 5);
        check_all(&w, 10);
        CHECK_OK(hg_backend_free_buffer(b, w.x));
        CHECK_STATUS(run(&w), HG_ERROR_INVALID_BUFFER);
        hg_backend_destroy(b);
        _exit(test_failed != 0);
    }
    int status = 1;
    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0);
    run_often(&w, 1);
    check_all(&w, 6);
    CHECK_OK(hg_backend_free_buffer(b, w.x));
    end(&w);
#else
    (void)b;
#endif
}

int main(void) {
    setenv("HOLOGRAM_JIT", "off", 1); /* what is allocated is counted */
    hg_allocator hooks = {sizeof hooks, &memory, failing_reallocate, failing_release};
    CHECK_OK(hg_set_allocator(&hooks));
    hg_backend *b = open_backend("cpu");
    if (b->caps->scheduling.asynchronous) {
        SKIP("nothing is kept on a device that works on by itself");
        hg_backend_destroy(b);
        return test_done();
    }
    test_values(b);
    test_launches(b);
    test_programs(b);
    test_stale(b);
    test_looked_at(b);
    test_pool(b);
    test_no_allocation(b);
    test_no_growth(b);
    test_failing(b);
    test_two_threads(b);
    test_freed_meanwhile(b);
    test_fork(b);
    hg_backend_destroy(b);
    test_limit();
    test_without("", 0);
    test_without("polled=1", 256);
    CHECK_U64(memory.live, 0);
    return test_done();
}
