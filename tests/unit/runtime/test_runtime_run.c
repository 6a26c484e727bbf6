/* Running: the record of a fault, timeouts, contexts and their class memory, memory freed while it
 * is used, forked children. */
/* test: labels=threads */
#include "support/runtime_support.h"
#include "support/sanitized.h"
#include <sys/mman.h>
#include <sys/wait.h>
#include <pthread.h>
#include <unistd.h>

/* ThreadSanitizer ends a forked child that starts threads unless told not to. */
const char *__tsan_default_options(void);
const char *__tsan_default_options(void) { return "die_after_fork=0"; }

static void test_fault_record(hg_backend *b) {
    hg_program *p = assemble(PROGRAM(".param r1 x buffer f32 in [n]\n.param r4 n u64\n.lanes n\n "
                                     "mov_imm.u32 r250, 2\n shl.u64 r0, r255, "
                                     "r250\n ldg.f32 r10, [r1 + r0 + 8]\n"));
    hg_params *params = hg_params_create();
    hg_buffer x = make_buffer(b, NULL, 400);
    CHECK_OK(hg_params_set_buffer(params, "x", x));
    CHECK_FAILS(hg_backend_execute_program_with_params(b, p, NULL, params),
                HG_ERROR_EXECUTION_FAILED, "F01",
                "buffer access out of bounds: offset 400 + size 4 > buffer size 400");
    const hg_error *e = hg_last_error();
    CHECK_TEXT(
        hg_last_error_text(),
        "Execution failed: buffer access out of bounds: offset 400 + size 4 > buffer size 400");
    CHECK_U64(e->lane, 98);
    CHECK_U64(e->instruction, 2);
    CHECK_U64(e->operand, 2);
    CHECK_U64(e->offset, 400);
    CHECK_U64(e->limit, 400);
    CHECK_U64(e->step, 0);
    CHECK_U64(e->phase, 0);
    CHECK_U64(e->line, 8);
    CHECK_U64(e->column, 2);
    CHECK_U64(e->status, HG_ERROR_EXECUTION_FAILED);
    CHECK_U64(e->size, sizeof *e);
    hg_program_release(p);
    /* a whole-array instruction has no lane; the kernel before it is step 0, it is step 1 */
    p = assemble(PROGRAM(".param r1 x buffer f32 inout\n parallel_map.f32 r1, r1, neg, 100\n "
                         "parallel_map.f32 r1, r1, neg, 101\n"));
    hg_launch lanes = hg_launch_linear(5);
    CHECK_FAILS(hg_backend_execute_program_with_params(b, p, &lanes, params),
                HG_ERROR_EXECUTION_FAILED, "F01",
                "buffer access out of bounds: offset 0 + size 404 > buffer size 400");
    CHECK_U64(e->lane, HG_NONE);
    CHECK_U64(e->phase, HG_NONE);
    CHECK_U64(e->instruction, 1);
    CHECK_U64(e->operand, 1);
    CHECK_U64(e->step, 3);
    CHECK_U64(e->line, 5);
    hg_program_release(p);
    /* more bytes than any memory has, and than 64 bits count */
    p = assemble(PROGRAM(".param r1 x buffer f32 inout\n mov_imm.u64 r9, 0x4000000000000001\n "
                         "parallel_map.f32 r1, r1, neg, r9\n"));
    CHECK_FAILS(
        hg_backend_execute_program_with_params(b, p, NULL, params), HG_ERROR_EXECUTION_FAILED,
        "F01",
        "buffer access out of bounds: offset 0 + size 18446744073709551620 > buffer size 400");
    CHECK_U64(e->limit, 400);
    hg_program_release(p);
    /* a stale handle that only the program knows */
    CHECK_OK(hg_backend_free_buffer(b, x));
    hg_params_clear(params);
    CHECK_OK(hg_params_set_register_u64(params, 1, x.handle));
    p = assemble(PROGRAM(" mov_imm.u64 r0, 0\n ldg.f32 r10, [r1 + r0]\n"));
    CHECK_STATUS(hg_backend_execute_program_with_params(b, p, NULL, params),
                 HG_ERROR_EXECUTION_FAILED);
    CHECK_TEXT(hg_last_error()->code, "F03");
    hg_program_release(p);
    hg_params_destroy(params);
}

/* A lane that spins does not hide another one's fault, in whatever order they ran; in a loop,
 * behind one, in a function, in a loop that all lanes share, behind a barrier. */
static void test_fault_beside_timeout(hg_backend *b) {
    static const char *const programs[] = {
        PROGRAM(".lanes 2\n mov_imm.u64 r5, 0\n mov_imm.i32 r6, 0\n setne.u64 p0, r255, r5\n "
                "bra.p0 @spin\n div.i32 r7, r6, r6\n exit\n"
                "spin:\n bra @spin\n"),
        PROGRAM(".lanes 20\n mov_imm.u64 r5, 0\n mov_imm.i32 r6, 0\n setne.u64 p0, r255, "
                "r5\nspin:\n bra.p0 @spin\n mov_imm.u32 r8, 100\n"
                "more:\n call @half\n loop r8, @more\n exit\nhalf:\n div.i32 r7, r6, r6\n ret\n"),
        PROGRAM(".lanes 3\n mov_imm.u64 r5, 0\n mov_imm.i32 r6, 0\n setne.u64 p0, r255, r5\n "
                "bra.p0 @call\n div.i32 r7, r6, r6\n exit\n"
                "call:\n call @spin\n exit\nspin:\n loop r254, @spin\n bra @spin\n"),
        PROGRAM(".shared 8\n.lanes 8\n.block 8\n mov_imm.u64 r5, 0\n mov_imm.i32 r6, 0\n bar.sync "
                "0\n setne.u64 p0, r255, r5\n bra.p0 @spin\n"
                " div.i32 r7, r6, r6\n exit\nspin:\n bra @spin\n")};
    hg_launch launch = HG_LAUNCH_INIT;
    launch.timeout_ms = SANITIZED ? 500 : 30;
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        hg_program *p = assemble(programs[i]);
        CHECK_FAILS(hg_backend_execute_program(b, p, &launch), HG_ERROR_EXECUTION_FAILED, "F02",
                    "division by zero");
        CHECK_U64(hg_last_error()->lane, 0);
        hg_program_release(p);
    }
}

/* A plan without jumps is looked at between its steps: 4 MiB times 3,000 take more than 10 ms
 * everywhere. */
static void test_straight_timeout(hg_backend *b) {
    enum { COUNT = 1 << 20, STEPS = 3000, LINE = 64 };
    char *text = malloc((STEPS + 2) * LINE), *end = text;
    hg_params *params = hg_params_create();
    hg_buffer x = make_buffer(b, NULL, COUNT * 4);
    hg_launch launch = HG_LAUNCH_INIT;
    launch.timeout_ms = 10;
    end += snprintf(end, 2 * LINE, ".atlas 1\n.program t\n.param r1 x buffer f32 inout\n");
    for (int i = 0; i < STEPS; i++)
        end += snprintf(end, LINE, " parallel_map.f32 r1, r1, neg, %d\n", (int)COUNT);
    hg_program *straight = assemble(text);
    CHECK_OK(hg_params_set_buffer(params, "x", x));
    CHECK_FAILS(hg_backend_execute_program_with_params(b, straight, &launch, params),
                HG_ERROR_EXECUTION_FAILED, "F08", "timeout after 10 ms");
    CHECK(hg_last_error()->step < 2 * STEPS);
    hg_program_release(straight);
    hg_params_destroy(params);
    free(text);
    CHECK_OK(hg_backend_free_buffer(b, x));
}

/* Lowering is part of the launch that asks for it: 2,000 sums of 230 registers take more than 1 ms
 * everywhere. It is asked for again later. */
static void test_lowering_timeout(hg_backend *b) {
    enum { SUMS = 2000, LINE = 64 };
    char *text = malloc((SUMS + 240) * LINE), *end = text;
    hg_params *params = hg_params_create();
    hg_buffer x = make_buffer(b, (uint32_t[]){7}, 4);
    hg_launch launch = HG_LAUNCH_INIT;
    uint32_t value = 0;
    end += snprintf(end, 2 * LINE,
                    ".atlas 1\n.program t\n.param r1 x buffer u32 inout\n mov_imm.u64 r0, 0\n");
    for (int i = 10; i < 240; i++) end += snprintf(end, LINE, " mov_imm.u32 r%d, 1\n", i);
    for (int i = 0; i < SUMS; i++) end += snprintf(end, LINE, " reduce.add.u32 r9, r10, 230\n");
    snprintf(end, LINE, " stg.u32 [r1 + r0], r9\n");
    hg_program *sums = assemble(text);
    CHECK_OK(hg_params_set_buffer(params, "x", x));
    launch.timeout_ms = 1;
    CHECK_FAILS(hg_backend_execute_program_with_params(b, sums, &launch, params),
                HG_ERROR_EXECUTION_FAILED, "F08", "timeout after 1 ms");
    CHECK_OK(hg_backend_copy_from_buffer(b, x, &value, 4));
    CHECK_U64(value, 7);
    launch.timeout_ms = UINT64_MAX;
    CHECK_OK(hg_backend_execute_program_with_params(b, sums, &launch, params));
    CHECK_OK(hg_backend_copy_from_buffer(b, x, &value, 4));
    CHECK_U64(value, 230);
    hg_program_release(sums);
    hg_params_destroy(params);
    free(text);
    CHECK_OK(hg_backend_free_buffer(b, x));
}

static void test_timeouts(hg_backend *b) {
    hg_program *forever = assemble(PROGRAM("again:\n bra @again\n"));
    hg_program *steps = assemble(PROGRAM(
        ".param r1 x buffer f32 inout\nagain:\n parallel_map.f32 r1, r1, neg, 8\n bra @again\n"));
    hg_params *params = hg_params_create();
    hg_buffer x = make_buffer(b, NULL, 32);
    hg_launch launch = HG_LAUNCH_INIT;
    launch.timeout_ms = 30;
    CHECK_OK(hg_params_set_buffer(params, "x", x));
    CHECK_FAILS(hg_backend_execute_program(b, forever, &launch), HG_ERROR_EXECUTION_FAILED, "F08",
                "timeout after 30 ms");
    CHECK_U64(hg_last_error()->lane, HG_NONE);
    CHECK_FAILS(hg_backend_execute_program_with_params(b, steps, &launch, params),
                HG_ERROR_EXECUTION_FAILED, "F08", "timeout after 30 ms");
    launch.max_steps = 1000;
    launch.timeout_ms = UINT64_MAX; /* none */
    CHECK_FAILS(hg_backend_execute_program(b, forever, &launch), HG_ERROR_EXECUTION_FAILED, "F07",
                "step limit exceeded");
    CHECK_FAILS(hg_backend_execute_program_with_params(b, steps, &launch, params),
                HG_ERROR_EXECUTION_FAILED, "F07", "step limit exceeded");
    launch.timeout_ms = UINT64_MAX - 1; /* longer than the clock runs */
    CHECK_FAILS(hg_backend_execute_program(b, forever, &launch), HG_ERROR_EXECUTION_FAILED, "F07",
                "step limit exceeded");
    hg_program_release(forever);
    hg_program_release(steps);
    test_fault_beside_timeout(b);
    test_lowering_timeout(b);
    hg_params_destroy(params);
    CHECK_OK(hg_backend_free_buffer(b, x));
}

/* Pools of a program: kept after success, gone after a fault; ids of its own choice are gone in any
 * case. */
static void test_program_pools(hg_backend *b) {
    static const char TEXT[] = PROGRAM(
        ".param r1 o buffer u64 out\n.param r2 d u64\n mov_imm.u64 r0, 0\n pool.alloc r10, 32\n "
        "pool.alloc pool500, 32\n"
        " pool.store.u64 r10, 8, r2\n pool.store.u64 pool500, 0, r2\n stg.u64 [r1 + r0], r10\n"
        " parallel_map.u64 r1, r1, abs, 1\n div.u64 r11, r2, r2\n stg.u64 [r1 + r0], r10\n");
    hg_program *p = assemble(TEXT);
    hg_params *params = hg_params_create();
    hg_buffer o = make_buffer(b, NULL, 8);
    uint64_t five = 5, zero = 0, size = 0, value = 0;
    hg_pool made;
    CHECK_OK(hg_params_set_buffer(params, "o", o));
    CHECK_OK(hg_params_set_scalar(params, "d", HG_TYPE_U64, &five));
    for (int i = 0; i < 3; i++) {
        CHECK_OK(hg_backend_execute_program_with_params(b, p, NULL, params));
        CHECK_OK(hg_backend_copy_from_buffer(b, o, &made.handle, 8));
        CHECK_OK(hg_backend_pool_size(b, made, &size));
        CHECK_U64(size, 32);
        CHECK_OK(hg_backend_copy_from_pool(b, made, 8, &value, 8));
        CHECK_U64(value, 5);
        CHECK_OK(hg_backend_free_pool(b, made));
        CHECK_STATUS(hg_backend_pool_size(b, (hg_pool){500}, &size), HG_ERROR_INVALID_BUFFER);
    }
    CHECK_OK(hg_params_set_scalar(params, "d", HG_TYPE_U64, &zero));
    CHECK_FAILS(hg_backend_execute_program_with_params(b, p, NULL, params),
                HG_ERROR_EXECUTION_FAILED, "F02", "division by zero");
    CHECK_U64(hg_last_error()->instruction, 7);
    CHECK_OK(hg_backend_copy_from_buffer(b, o, &made.handle, 8));
    CHECK_STATUS(hg_backend_pool_size(b, made, &size), HG_ERROR_INVALID_BUFFER);
    hg_program_release(p);
    /* a pool of the host that the program frees is gone */
    p = assemble(PROGRAM(".param r7 h pool 16\n pool.free r7\n pool.load.u32 r8, r7, 0\n"));
    hg_executable *e = NULL;
    hg_binding *binding = NULL;
    hg_params_clear(params);
    CHECK_OK(hg_backend_allocate_pool(b, 16, &made));
    CHECK_OK(hg_params_set_pool(params, "h", made));
    CHECK_OK(hg_executable_create(b, p, &e));
    CHECK_OK(hg_binding_create(e, NULL, params, &binding));
    CHECK_STATUS(hg_binding_launch(binding), HG_ERROR_EXECUTION_FAILED);
    CHECK_TEXT(hg_last_error()->code, "F03");
    CHECK_U64(hg_last_error()->instruction, 1);
    CHECK_STATUS(hg_backend_pool_size(b, made, &size), HG_ERROR_INVALID_BUFFER);
    CHECK_STATUS(hg_binding_launch(binding), HG_ERROR_EXECUTION_FAILED);
    CHECK_U64(hg_last_error()->instruction, 0);
    hg_binding_destroy(binding);
    hg_executable_destroy(e);
    hg_params_destroy(params);
    hg_program_release(p);
    CHECK_OK(hg_backend_free_buffer(b, o));
}

/* ---- contexts ---- */

/* Class 7 by its name, by its handle, by its handle in a register nobody knows before the launch,
 * and in the whole of class memory. */
static const char *const CLASS_SEVEN[] = {
    PROGRAM(".param r1 o buffer u32 out\n mov_imm.u64 r0, 0\n ldg.u32 r10, [class7 + 16]\n "
            "mov_imm.u32 r11, 1\n "
            "add.u32 r10, r10, r11\n stg.u32 [class7 + 16], r10\n stg.u32 [r1 + r0], r10\n"),
    PROGRAM(".param r1 o buffer u32 out\n mov_imm.u64 r0, 16\n mov_imm.u64 r2, "
            "0xFFFFFFFFFFFFFFA7\n mov_imm.u64 r3, 0\n"
            " ldg.u32 r10, [r2 + r0]\n mov_imm.u32 r11, 1\n add.u32 r10, r10, r11\n stg.u32 [r2 + "
            "r0], r10\n stg.u32 [r1 + r3], r10\n"),
    PROGRAM(".param r1 o buffer u32 out\n.param r2 seven u64 = 0xFFFFFFFFFFFFFFA7\n mov_imm.u64 "
            "r0, 16\n mov_imm.u64 r3, 0\n"
            " ldg.u32 r10, [r2 + r0]\n mov_imm.u32 r11, 1\n add.u32 r10, r10, r11\n stg.u32 [r2 + "
            "r0], r10\n stg.u32 [r1 + r3], r10\n"),
    PROGRAM(".param r1 o buffer u32 out\n mov_imm.u64 r0, 86032\n mov_imm.u64 r2, 0\n mov_imm.u64 "
            "r3, 0\n"
            " ldg.u32 r10, [r2 + r0]\n mov_imm.u32 r11, 1\n add.u32 r10, r10, r11\n stg.u32 [r2 + "
            "r0], r10\n stg.u32 [r1 + r3], r10\n"),
};

static void test_contexts(hg_backend *b, const char *text) {
    hg_program *p = assemble(text);
    hg_params *params = hg_params_create();
    hg_buffer o = make_buffer(b, NULL, 4), seven = {(uint64_t)-96 + 7};
    hg_context *other = NULL;
    hg_executable *e = NULL;
    hg_binding *binding = NULL;
    uint32_t out = 0, class_value = 41;
    CHECK_OK(hg_context_create(b, &other));
    CHECK_OK(hg_params_set_buffer(params, "o", o));
    CHECK_OK(hg_executable_create(b, p, &e));
    CHECK_OK(hg_binding_create(e, NULL, params, &binding));
    CHECK_OK(hg_buffer_write(b, seven, 16, &class_value, 4)); /* the default context's */
    CHECK_OK(hg_binding_launch(binding));
    CHECK_OK(hg_backend_copy_from_buffer(b, o, &out, 4));
    CHECK_U64(out, 42);
    CHECK_OK(hg_binding_launch_in(binding, other));
    CHECK_OK(hg_backend_copy_from_buffer(b, o, &out, 4));
    CHECK_U64(out, 1);
    CHECK_OK(hg_binding_launch_in(binding, other));
    CHECK_OK(hg_backend_copy_from_buffer(b, o, &out, 4));
    CHECK_U64(out, 2);
    CHECK_OK(hg_buffer_read(b, seven, 16, &out, 4));
    CHECK_U64(out, 42);
    CHECK_OK(hg_binding_launch(binding));
    CHECK_OK(hg_buffer_read(b, seven, 16, &out, 4));
    CHECK_U64(out, 43);
    hg_backend *foreign = open_backend("cpu");
    hg_context *theirs = NULL;
    CHECK_OK(hg_context_create(foreign, &theirs));
    CHECK_STATUS(hg_binding_launch_in(binding, theirs), HG_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hg_binding_launch_in(binding, NULL), HG_ERROR_INVALID_ARGUMENT);
    hg_context_destroy(theirs);
    hg_backend_destroy(foreign);
    hg_binding_destroy(binding);
    hg_executable_destroy(e);
    hg_context_destroy(other);
    hg_context_destroy(NULL);
    hg_params_destroy(params);
    hg_program_release(p);
    CHECK_OK(hg_backend_free_buffer(b, o));
}

/* ---- threads ---- */

enum { THREADS = 4, ROUNDS = 200, ELEMENTS = 3000 };
typedef struct worker {
    hg_backend *backend;
    hg_executable *executable;
    hg_binding *shared;
    uint64_t failures;
    int number;
} worker;

/* Each thread: its own context and binding, and one binding they all share. */
static void *launch_often(void *user) {
    worker *w = user;
    static __thread float x[ELEMENTS], y[ELEMENTS];
    hg_context *context = NULL;
    hg_binding *binding = NULL;
    hg_params *params = hg_params_create();
    float alpha = (float)w->number;
    hg_buffer bx = {0}, by = {0};
    for (int i = 0; i < ELEMENTS; i++) x[i] = (float)i, y[i] = 1;
    w->failures += hg_context_create(w->backend, &context) != HG_OK;
    w->failures += hg_backend_allocate_buffer(w->backend, sizeof x, &bx) != HG_OK;
    w->failures += hg_backend_allocate_buffer(w->backend, sizeof y, &by) != HG_OK;
    w->failures += hg_backend_copy_to_buffer(w->backend, bx, x, sizeof x) != HG_OK;
    w->failures += hg_params_set_buffer(params, "x", bx) != HG_OK;
    w->failures += hg_params_set_buffer(params, "y", by) != HG_OK;
    w->failures += hg_params_set_scalar(params, "alpha", HG_TYPE_F32, &alpha) != HG_OK;
    w->failures += hg_binding_create(w->executable, NULL, params, &binding) != HG_OK;
    for (int round = 0; round < ROUNDS && !w->failures; round++) {
        w->failures += hg_backend_copy_to_buffer(w->backend, by, y, sizeof y) != HG_OK;
        w->failures += hg_binding_launch_in(binding, context) != HG_OK;
        w->failures += hg_backend_copy_from_buffer(w->backend, by, x, sizeof x) != HG_OK;
        for (int i = 0; i < ELEMENTS; i++) w->failures += x[i] != alpha * (float)i + 1;
        w->failures += (round & 1 ? hg_binding_launch_in(w->shared, context)
                                  : hg_binding_launch(w->shared)) != HG_OK;
    }
    hg_binding_destroy(binding);
    hg_context_destroy(context);
    hg_params_destroy(params);
    w->failures += hg_backend_free_buffer(w->backend, bx) != HG_OK;
    w->failures += hg_backend_free_buffer(w->backend, by) != HG_OK;
    return NULL;
}

static void test_threads(hg_backend *b) {
    hg_program *axpy = assemble(AXPY),
               *count = assemble(PROGRAM(".param r1 o buffer u32 inout\n mov_imm.u64 r0, 0\n "
                                         "ldg.u32 r10, [r1 + r0]\n mov_imm.u32 r11, 1\n "
                                         "add.u32 r10, r10, r11\n stg.u32 [r1 + r0], r10\n"));
    hg_executable *ea = NULL, *ec = NULL;
    hg_binding *shared = NULL;
    hg_params *params = hg_params_create();
    hg_buffer o = make_buffer(b, NULL, 4);
    pthread_t threads[THREADS];
    worker workers[THREADS];
    uint32_t out = 0;
    CHECK_OK(hg_executable_create(b, axpy, &ea));
    CHECK_OK(hg_executable_create(b, count, &ec));
    CHECK_OK(hg_params_set_buffer(params, "o", o));
    CHECK_OK(hg_binding_create(ec, NULL, params, &shared));
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (worker){b, ea, shared, 0, i};
        if (pthread_create(&threads[i], NULL, launch_often, &workers[i]) != 0) exit(1);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        CHECK_U64(workers[i].failures, 0);
    }
    CHECK_OK(hg_backend_copy_from_buffer(b, o, &out, 4));
    CHECK_U64(out, THREADS * ROUNDS); /* launches of one binding never overlap */
    hg_binding_destroy(shared);
    hg_executable_destroy(ea);
    hg_executable_destroy(ec);
    hg_params_destroy(params);
    hg_program_release(axpy);
    hg_program_release(count);
    CHECK_OK(hg_backend_free_buffer(b, o));
}

/* A program that finds its buffer through memory, while another thread frees and allocates it. The
 * handle is passed by atomics. */
typedef struct freer {
    hg_backend *backend;
    uint64_t handle;
    uint64_t failures;
} freer;

static void *free_often(void *user) {
    freer *f = user;
    for (int i = 0; i < 300; i++) {
        hg_buffer buffer;
        f->failures += hg_backend_allocate_buffer(f->backend, 1024, &buffer) != HG_OK;
        __atomic_store_n(&f->handle, buffer.handle, __ATOMIC_RELEASE);
        f->failures += hg_backend_free_buffer(f->backend, buffer) != HG_OK;
    }
    return NULL;
}

static void test_free_while_running(hg_backend *b) {
    hg_program *p = assemble(PROGRAM(".param r1 h buffer u64 inout\n.param r2 o buffer u32 out\n "
                                     "mov_imm.u64 r0, 0\n atom.add.u64 r3, [r1 + r0], r0\n "
                                     "mov_imm.u32 r250, 2\n shl.u64 r4, r255, r250\n ldg.u32 r10, "
                                     "[r3 + r4]\n stg.u32 [r2 + r4], r10\n"));
    hg_params *params = hg_params_create();
    freer f = {b, 0, 0};
    hg_buffer o = make_buffer(b, NULL, 1024), handles;
    pthread_t thread;
    hg_launch launch = hg_launch_linear(256);
    uint64_t fine = 0, gone = 0, other = 0;
    CHECK_OK(hg_buffer_import(b, &f.handle, sizeof f.handle, &handles));
    CHECK_OK(hg_params_set_buffer(params, "h", handles));
    CHECK_OK(hg_params_set_buffer(params, "o", o));
    if (pthread_create(&thread, NULL, free_often, &f) != 0) exit(1);
    for (int i = 0; i < 300; i++) {
        hg_status status = hg_backend_execute_program_with_params(b, p, &launch, params);
        if (status == HG_OK)
            fine++;
        else if (status == HG_ERROR_EXECUTION_FAILED && strcmp(hg_last_error()->code, "F03") == 0)
            gone++;
        else
            other++;
    }
    pthread_join(thread, NULL);
    CHECK_U64(f.failures, 0);
    CHECK_U64(other, 0);
    CHECK_U64(fine + gone, 300);
    hg_params_destroy(params);
    hg_program_release(p);
    CHECK_OK(hg_backend_free_buffer(b, o));
    CHECK_OK(hg_backend_free_buffer(b, handles));
}

/* Copies of a pool that another thread frees: done whole or refused. */
typedef struct copier {
    hg_backend *backend;
    uint64_t pool, offset, done, refused, wrong;
    bool stop;
} copier;

static void *copy_often(void *user) {
    copier *c = user;
    static __thread uint8_t bytes[5000];
    while (!__atomic_load_n(&c->stop, __ATOMIC_ACQUIRE)) {
        hg_pool pool = {__atomic_load_n(&c->pool, __ATOMIC_ACQUIRE)};
        hg_status in = hg_backend_copy_to_pool(c->backend, pool, c->offset, bytes, sizeof bytes);
        hg_status out = hg_backend_copy_from_pool(c->backend, pool, c->offset, bytes, sizeof bytes);
        if (out == HG_OK) __atomic_fetch_add(&c->done, 1, __ATOMIC_RELEASE);
        c->refused += out == HG_ERROR_INVALID_BUFFER;
        c->wrong += (in != HG_OK && in != HG_ERROR_INVALID_BUFFER) ||
                    (out != HG_OK && out != HG_ERROR_INVALID_BUFFER);
    }
    return NULL;
}

static void test_free_while_copying(hg_backend *b) {
    enum { COPIERS = 3, SIZE = COPIERS * 5000 };
    pthread_t threads[COPIERS];
    copier c[COPIERS];
    hg_pool pool, next;
    CHECK_OK(hg_backend_allocate_pool(b, SIZE, &pool));
    for (int i = 0; i < COPIERS; i++) {
        c[i] = (copier){.backend = b, .pool = pool.handle, .offset = (uint64_t)i * 5000};
        if (pthread_create(&threads[i], NULL, copy_often, &c[i]) != 0) exit(1);
    }
    for (int i = 0; i < COPIERS; i++) /* all are at work before the first is freed */
        while (!__atomic_load_n(&c[i].done, __ATOMIC_ACQUIRE)) usleep(100);
    for (int round = 0; round < 2000; round++) {
        CHECK_OK(hg_backend_allocate_pool(b, SIZE, &next));
        if (round & 1)
            for (int i = 0; i < COPIERS; i++)
                __atomic_store_n(&c[i].pool, next.handle, __ATOMIC_RELEASE);
        CHECK_OK(hg_backend_free_pool(b, pool));
        pool = next;
        if (!(round & 1))
            for (int i = 0; i < COPIERS; i++)
                __atomic_store_n(&c[i].pool, next.handle, __ATOMIC_RELEASE);
    }
    for (int i = 0; i < COPIERS; i++) __atomic_store_n(&c[i].stop, true, __ATOMIC_RELEASE);
    for (int i = 0; i < COPIERS; i++) {
        pthread_join(threads[i], NULL);
        CHECK_U64(c[i].wrong, 0);
    }
    CHECK_OK(hg_backend_free_pool(b, pool));
}

/* More threads than there are places for readers without a lock. */
static void *copy_once(void *user) {
    copier *c = user;
    uint8_t byte = 7;
    for (int i = 0; i < 20; i++)
        c->wrong += hg_backend_copy_to_pool(c->backend, (hg_pool){c->pool}, c->offset, &byte, 1) !=
                    HG_OK;
    while (!__atomic_load_n(&c->stop, __ATOMIC_ACQUIRE)) usleep(1000);
    return NULL;
}

static void test_many_readers(hg_backend *b) {
    enum { MANY = 150 };
    static pthread_t threads[MANY];
    static copier c[MANY];
    hg_pool pool;
    int started = 0;
    CHECK_OK(hg_backend_allocate_pool(b, MANY, &pool));
    for (; started < MANY; started++) {
        c[started] = (copier){.backend = b, .pool = pool.handle, .offset = (uint64_t)started};
        if (pthread_create(&threads[started], NULL, copy_once, &c[started]) != 0) break;
    }
    for (int i = 0; i < started; i++) __atomic_store_n(&c[i].stop, true, __ATOMIC_RELEASE);
    for (int i = 0; i < started; i++) {
        pthread_join(threads[i], NULL);
        CHECK_U64(c[i].wrong, 0);
    }
    CHECK_OK(hg_backend_free_pool(b, pool));
}

/* ---- fork ---- */

static void test_fork(hg_backend *b) {
    enum { COUNT = 100000 };
    hg_program *p = assemble(AXPY);
    hg_params *params = hg_params_create();
    float *y = mmap(NULL, COUNT * sizeof *y, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
                    0),
          alpha = 3;
    if (y == MAP_FAILED) exit(1);
    hg_buffer by = {0}, bx = make_buffer(b, NULL, COUNT * sizeof *y);
    CHECK_OK(hg_buffer_import(b, y, COUNT * sizeof *y, &by));
    CHECK_OK(hg_params_set_buffer(params, "x", bx));
    CHECK_OK(hg_params_set_buffer(params, "y", by));
    CHECK_OK(hg_params_set_scalar(params, "alpha", HG_TYPE_F32, &alpha));
    CHECK_OK(hg_backend_execute_program_with_params(b, p, NULL, params)); /* threads are running now
                                                                           */
    float ones[COUNT / 100];
    for (int i = 0; i < COUNT / 100; i++) ones[i] = 1;
    for (uint64_t i = 0; i < 100; i++)
        CHECK_OK(hg_buffer_write(b, bx, i * sizeof ones, ones, sizeof ones));
    pid_t child = fork();
    if (child == 0) {
        alarm(60);
        hg_status run = hg_backend_execute_program_with_params(b, p, NULL, params);
        _exit(run == HG_OK ? 0 : run == HG_ERROR_BACKEND_UNAVAILABLE ? 2 : 1);
    }
    const char *pretend = getenv("HOLOGRAM_PRETEND");
    bool stays = pretend && strstr(pretend, "polled"); /* such a device stays the parent's, as those
                                                          of vendors do */
    int status = 1;
    CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
          WEXITSTATUS(status) == (stays ? 2 : 0));
    uint64_t right = 0;
    for (int i = 0; i < COUNT; i++) right += y[i] == 3;
    CHECK_U64(right, stays ? 0 : COUNT);
    hg_params_destroy(params);
    hg_program_release(p);
    CHECK_OK(hg_backend_free_buffer(b, bx));
    CHECK_OK(hg_backend_free_buffer(b, by));
    munmap(y, COUNT * sizeof *y);
}

/* The spine of the null backend: everything but the values. */
static void test_null(void) {
    hg_backend *b = open_backend("null");
    hg_program *p = assemble(AXPY),
               *steps = assemble(
                   PROGRAM(".param r1 x buffer f32 inout\n parallel_map.f32 r1, r1, neg, 8\n "
                           "parallel_reduce.f32 r10, r1, sum, 8\n stg.f32 [class3 + 0], r10\n"));
    hg_params *params = hg_params_create();
    hg_buffer x = make_buffer(b, NULL, 64), y = make_buffer(b, NULL, 64);
    float alpha = 1;
    CHECK_OK(hg_params_set_buffer(params, "x", x));
    CHECK_OK(hg_backend_execute_program_with_params(b, steps, NULL, params));
    CHECK_OK(hg_params_set_buffer(params, "y", y));
    CHECK_OK(hg_params_set_scalar(params, "alpha", HG_TYPE_F32, &alpha));
    CHECK_OK(hg_backend_execute_program_with_params(b, p, NULL, params));
    hg_params_destroy(params);
    hg_program_release(p);
    hg_program_release(steps);
    hg_backend_destroy(b);
}

int main(void) {
    hg_backend *b = open_backend("cpu");
    test_fork(b);
    test_fault_record(b);
    test_timeouts(b);
    test_straight_timeout(b);
    test_program_pools(b);
    for (size_t i = 0; i < sizeof CLASS_SEVEN / sizeof *CLASS_SEVEN; i++)
        test_contexts(b, CLASS_SEVEN[i]);
    test_threads(b);
    test_free_while_running(b);
    test_free_while_copying(b);
    test_many_readers(b);
    test_fork(b);
    hg_backend_destroy(b);
    test_null();
    return test_done();
}
