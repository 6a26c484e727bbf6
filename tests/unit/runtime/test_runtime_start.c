/* Launches that are started: what runs at the same time, what follows what, whose fault is whose.
 */
/* test: labels=threads */
#include "runtime/backend.h"
#include "support/runtime_support.h"
#include <stdatomic.h>
#include <unistd.h>

typedef struct program {
    hg_program *program;
    hg_executable *executable;
    hg_params *params;
    hg_binding *binding;
} program;

/* A binding of a program with buffers x, and y where the program has one. */
static program bind(hg_backend *b, const char *text, hg_buffer x, const hg_buffer *y) {
    program p = {.program = assemble(text), .params = hg_params_create()};
    CHECK_OK(hg_params_set_buffer(p.params, "x", x));
    if (y) CHECK_OK(hg_params_set_buffer(p.params, "y", *y));
    CHECK_OK(hg_executable_create(b, p.program, &p.executable));
    CHECK_OK(hg_binding_create(p.executable, NULL, p.params, &p.binding));
    if (!p.binding) exit(test_done());
    return p;
}

static void unbind(program *p) {
    hg_binding_destroy(p->binding);
    hg_executable_destroy(p->executable);
    hg_params_destroy(p->params);
    hg_program_release(p->program);
}

static bool is_done(hg_event *e) {
    bool done = false;
    CHECK_OK(hg_event_query(e, &done));
    return done;
}

static void end(hg_event *e) {
    CHECK_OK(hg_event_wait(e));
    hg_event_destroy(e);
}

#define SPIN                                                                                     \
    PROGRAM(".param r1 x buffer u32 inout [1]\n.param r2 y buffer u32 inout [1]\n.lanes 1\n"     \
            " mov_imm.u32 r10, 0\n mov_imm.u64 r0, 0\n"                                          \
            "again: atom.add.u32 r11, [r1 + r0], r10\n seteq.u32 p0, r11, r10\n bra.p0 @again\n" \
            " ldg.u32 r12, [r2 + r0]\n add.u32 r12, r12, r11\n stg.u32 [r2 + r0], r12\n")
#define DOUBLE                                                                 \
    PROGRAM(".param r1 x buffer u32 inout [1]\n.lanes 1\n mov_imm.u64 r0, 0\n" \
            " ldg.u32 r12, [r1 + r0]\n add.u32 r12, r12, r12\n stg.u32 [r1 + r0], r12\n")
#define READ                                                                              \
    PROGRAM(".param r1 x buffer u32 in [1]\n.param r2 y buffer u32 inout [1]\n.lanes 1\n" \
            " mov_imm.u64 r0, 0\n ldg.u32 r12, [r1 + r0]\n stg.u32 [r2 + r0], r12\n")

/* The first launch runs until the host sets a flag; what shares nothing with it is over before
 * that, what reads what it writes is not. */
static void test_order(hg_backend *b, hg_context *context) {
    static _Atomic uint32_t flag;
    atomic_store(&flag, 0);
    uint32_t one = 1, value = 0;
    hg_buffer gate = {0}, sum = make_buffer(b, &one, 4), other = make_buffer(b, &one, 4),
              copy = make_buffer(b, NULL, 4);
    CHECK_OK(hg_buffer_import(b, (void *)&flag, 4, &gate));
    program spin = bind(b, SPIN, gate, &sum), same = bind(b, DOUBLE, sum, NULL),
            apart = bind(b, DOUBLE, other, NULL), reader = bind(b, READ, sum, &copy);
    hg_event *events[5];
    CHECK_OK(hg_binding_start(spin.binding, context, &events[0]));
    CHECK_OK(hg_binding_start(same.binding, context, &events[1]));   /* writes what the first writes
                                                                      */
    CHECK_OK(hg_binding_start(apart.binding, context, &events[2]));  /* shares nothing */
    CHECK_OK(hg_binding_start(reader.binding, context, &events[3])); /* reads what the second writes
                                                                      */
    CHECK_OK(hg_binding_start(apart.binding, context, &events[4]));  /* the same binding again */
    end(events[2]);
    end(events[4]);
    CHECK_OK(hg_buffer_read(b, other, 0, &value, 4));
    CHECK_U64(value, 4);
    CHECK(!is_done(events[0]) && !is_done(events[1]) && !is_done(events[3]));
    atomic_store(&flag, 5);
    end(events[3]);
    end(events[0]);
    end(events[1]);
    CHECK_OK(hg_buffer_read(b, copy, 0, &value, 4));
    CHECK_U64(value, 12); /* (1 + 5) * 2 */
    unbind(&spin);
    unbind(&same);
    unbind(&apart);
    unbind(&reader);
    hg_buffer all[] = {gate, sum, other, copy};
    for (int i = 0; i < 4; i++) CHECK_OK(hg_backend_free_buffer(b, all[i]));
}

#define FAULT                                                                                   \
    PROGRAM(".param r1 x buffer u32 inout\n.lanes 1\n mov_imm.u32 r12, 7\n mov_imm.u64 r0, 0\n" \
            " stg.u32 [r1 + r0], r12\n mov_imm.u64 r0, 400\n ldg.u32 r12, [r1 + r0]\n")

/* Each event has its own fault. A launch that shares a buffer with one that failed follows it and
 * runs. */
static void test_faults(hg_backend *b) {
    uint32_t one = 1, value = 0;
    hg_buffer x = make_buffer(b, &one, 4), y = make_buffer(b, &one, 4);
    program bad = bind(b, FAULT, x, NULL), good = bind(b, DOUBLE, x, NULL),
            apart = bind(b, DOUBLE, y, NULL);
    hg_event *events[4];
    CHECK_OK(hg_binding_start(bad.binding, NULL, &events[0]));
    CHECK_OK(hg_binding_start(good.binding, NULL, &events[1]));
    CHECK_OK(hg_binding_start(apart.binding, NULL, &events[2]));
    CHECK_OK(hg_binding_start(bad.binding, NULL, &events[3]));
    for (int i = 3; i >= 0; i--) {
        bool failed = i == 0 || i == 3;
        CHECK_STATUS(hg_event_wait(events[i]), failed ? HG_ERROR_EXECUTION_FAILED : HG_OK);
        if (failed) CHECK_TEXT(hg_last_error()->code, "F01");
        if (failed) CHECK_U64(hg_last_error()->instruction, 4);
        if (i == 1) CHECK_OK(hg_buffer_read(b, y, 0, &value, 4));
        hg_event_destroy(events[i]);
    }
    CHECK_OK(hg_buffer_read(b, x, 0, &value, 4));
    CHECK_U64(value, 7);
    CHECK_OK(hg_buffer_read(b, y, 0, &value, 4));
    CHECK_U64(value, 2);
    unbind(&bad);
    unbind(&good);
    unbind(&apart);
    CHECK_OK(hg_backend_free_buffer(b, x));
    CHECK_OK(hg_backend_free_buffer(b, y));
}

/* Whether it leaves the buffer stands in the buffer: nothing can be proven. */
#define MAYBE                                                                                     \
    PROGRAM(".param r1 x buffer u32 inout\n.lanes 1\n mov_imm.u64 r0, 0\n mov_imm.u32 r11, 1\n"   \
            " ldg.u32 r12, [r1 + r0]\n cvt.u64.u32 r2, r12\n add.u64 r2, r2, r0\n stg.u32 [r1 + " \
            "r2 + 4], r11\n")

enum { OUTCOMES = 20 };

/* Launches that may fault follow each other on one queue. Each event has the outcome of its own; a
 * fault skips the rest of its submission. */
static void test_outcomes(hg_backend *b) {
    program p[OUTCOMES];
    hg_buffer x[OUTCOMES];
    hg_event *events[OUTCOMES];
    hg_queue *q = NULL;
    uint32_t after[OUTCOMES][2] = {{0}}, seen[2];
    CHECK_OK(hg_queue_create(b, NULL, &q));
    for (uint32_t i = 0; i < OUTCOMES; i++) {
        x[i] = make_buffer(b, (uint32_t[]){i % 5 == 3 ? 400 : 0, 0}, 8);
        p[i] = bind(b, MAYBE, x[i], NULL);
    }
    for (int round = 0; round < 3; round++) {
        for (uint32_t i = 0; i < OUTCOMES; i++) {
            hg_command commands[2] = {
                {.size = sizeof(hg_command), .kind = HG_COMMAND_LAUNCH, .binding = p[i].binding},
                {.size = sizeof(hg_command),
                 .kind = HG_COMMAND_COPY_OUT,
                 .buffer = x[i],
                 .host = after[i],
                 .length = 8}};
            CHECK_OK(hg_queue_submit(q, commands, 1 + i % 2, NULL, 0, &events[i]));
        }
        for (uint32_t i = OUTCOMES; i-- > 0;) {
            CHECK_STATUS(hg_event_wait(events[i]), i % 5 == 3 ? HG_ERROR_EXECUTION_FAILED : HG_OK);
            if (i % 5 == 3) CHECK_U64(hg_last_error()->offset, 404);
            hg_event_destroy(events[i]);
        }
        CHECK_STATUS(hg_queue_synchronize(q), HG_ERROR_EXECUTION_FAILED);
    }
    for (uint32_t i = 0; i < OUTCOMES; i++) {
        CHECK_OK(hg_buffer_read(b, x[i], 0, seen, 8));
        CHECK_U64(seen[1], i % 5 != 3);
        CHECK_U64(after[i][1], i % 2 && i % 5 != 3); /* the copy behind a fault was skipped */
        unbind(&p[i]);
        CHECK_OK(hg_backend_free_buffer(b, x[i]));
    }
    hg_queue_destroy(q);
}

#define ADD_ONE                                                                                   \
    PROGRAM(".param r1 x buffer u32 inout [1]\n.lanes 1\n mov_imm.u64 r0, 0\n"                    \
            " mov_imm.u32 r11, 1\n ldg.u32 r12, [r1 + r0]\n add.u32 r12, r12, r11\n stg.u32 [r1 " \
            "+ r0], r12\n")
/* A map and a reduction: a plan with steps. */
#define STEPS                                                                                     \
    PROGRAM(                                                                                      \
        ".param r1 x buffer u32 inout [1]\n.lanes 1\n mov_imm.u64 r0, 0\n mov_imm.u32 r11, 1\n"   \
        " parallel_map_binary.u32 r1, r1, r1, add, 1\n parallel_map_binary.u32 r1, r1, r1, sub, " \
        "1\n"                                                                                     \
        " parallel_map_binary.u32 r1, r1, r1, mul, 1\n")

enum { MANY = 200 };

/* Many launches that share a buffer, of two bindings, all started at once; buffers freed and the
 * last event dropped on the way. */
static void test_many(hg_backend *b) {
    uint32_t zero = 0, value = 1;
    hg_context *context = NULL;
    hg_buffer x = make_buffer(b, &zero, 4);
    program first = bind(b, ADD_ONE, x, NULL), second = bind(b, ADD_ONE, x, NULL),
            steps = bind(b, STEPS, x, NULL);
    hg_event *events[MANY], *last;
    CHECK_OK(hg_context_create(b, &context));
    for (int i = 0; i < MANY; i++)
        CHECK_OK(hg_binding_start(i % 3 ? first.binding : second.binding, context, &events[i]));
    CHECK_OK(hg_binding_launch_in(first.binding, context)); /* behind all of them */
    for (int i = 0; i < MANY; i++) end(events[i]);
    CHECK_OK(hg_buffer_read(b, x, 0, &value, 4));
    CHECK_U64(value, MANY + 1);
    CHECK_OK(hg_binding_start(steps.binding, context, &last));
    end(last);
    CHECK_OK(hg_buffer_read(b, x, 0, &value, 4));
    CHECK_U64(value, 0);
    CHECK_OK(hg_binding_start(first.binding, context, &last));
    CHECK_OK(hg_backend_free_buffer(b, x)); /* the binding keeps it */
    hg_event_destroy(last);                 /* the launch goes on */
    hg_context_destroy(context);            /* waits for it */
    unbind(&first);
    unbind(&second);
    unbind(&steps);
}

#define ENDLESS                                                                                 \
    PROGRAM(                                                                                    \
        ".param r1 x buffer u32 inout [1]\n.lanes 1\n mov_imm.u64 r0, 0\n mov_imm.u32 r11, 0\n" \
        "again: ldg.u32 r12, [r1 + r0]\n setne.u32 p0, r12, r11\n bra.p0 @again\n")

/* A launch without end, what follows it, and what waits for it. */
static void test_cancel(hg_backend *b) {
    uint32_t one = 1, value = 0, host = 9;
    hg_buffer x = make_buffer(b, &one, 4), y = make_buffer(b, &one, 4);
    program endless = bind(b, ENDLESS, x, NULL), after = bind(b, DOUBLE, x, NULL),
            apart = bind(b, DOUBLE, y, NULL);
    hg_queue *q = NULL;
    hg_event *events[4];
    CHECK_OK(hg_queue_create(b, NULL, &q));
    CHECK_OK(hg_binding_start(endless.binding, NULL, &events[0]));
    CHECK_OK(hg_binding_start(after.binding, NULL, &events[1])); /* shares x: has not begun */
    CHECK_OK(hg_queue_submit(q,
                             &(hg_command){.size = sizeof(hg_command),
                                           .kind = HG_COMMAND_COPY_IN,
                                           .buffer = y,
                                           .host = &host,
                                           .length = 4},
                             1, &events[0], 1, &events[2]));
    /* A device that runs few rounds of a loop may end it first: what waits for it fails with it,
     * and what shares x may have run. */
    const bool few_rounds = b->caps->compiler.target.max_rounds != 0;
    bool early = false;
    CHECK(few_rounds || !is_done(events[0]));
    hg_event_cancel(events[1]);
    hg_event_cancel(events[0]);
    hg_event_cancel(NULL);
    for (int i = 0; i < 3; i++) {
        hg_status status = hg_event_wait(events[i]);
        if (i == 0) early = few_rounds && strcmp(hg_last_error()->code, "F12") == 0;
        if (!early || i != 1) {
            CHECK_STATUS(status, HG_ERROR_EXECUTION_FAILED);
            CHECK_TEXT(hg_last_error()->code, early ? "F12" : "F11");
            if (!early) CHECK_TEXT(hg_last_error()->message, "cancelled");
        }
        hg_event_destroy(events[i]);
    }
    if (early) {
        CHECK_OK(hg_buffer_write(b, x, 0, &one, 4));
        CHECK_OK(hg_buffer_write(b, y, 0, &one, 4));
    }
    CHECK_OK(hg_binding_start(after.binding, NULL, &events[0])); /* the same bindings run again */
    CHECK_OK(hg_binding_start(apart.binding, NULL, &events[1]));
    CHECK_OK(hg_binding_launch(apart.binding));
    for (int i = 0; i < 2; i++) {
        CHECK_OK(hg_event_wait(events[i]));
        hg_event_cancel(events[i]); /* it is over */
        CHECK_OK(hg_event_wait(events[i]));
        hg_event_destroy(events[i]);
    }
    CHECK_OK(hg_buffer_read(b, x, 0, &value, 4));
    CHECK_U64(value, 2);
    CHECK_OK(hg_buffer_read(b, y, 0, &value, 4));
    CHECK_U64(value, 4);
    hg_queue_destroy(q);
    unbind(&endless);
    unbind(&after);
    unbind(&apart);
    CHECK_OK(hg_backend_free_buffer(b, x));
    CHECK_OK(hg_backend_free_buffer(b, y));
}

static void test_misuse(hg_backend *b, hg_backend *other) {
    hg_buffer x = make_buffer(b, NULL, 4);
    program p = bind(b, ADD_ONE, x, NULL);
    hg_context *context = NULL;
    hg_event *event = NULL;
    CHECK_OK(hg_context_create(other, &context));
    CHECK_STATUS(hg_binding_start(NULL, NULL, &event), HG_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hg_binding_start(p.binding, NULL, NULL), HG_ERROR_INVALID_ARGUMENT);
    CHECK_FAILS(hg_binding_start(p.binding, context, &event), HG_ERROR_INVALID_ARGUMENT, "",
                "the context belongs to another backend");
    hg_context_destroy(context);
    unbind(&p);
    CHECK_OK(hg_backend_free_buffer(b, x));
}

int main(int argc, char **argv) {
    const char *name = argc > 1 ? argv[1] : "cpu", *pretend = getenv("HOLOGRAM_PRETEND");
    bool polled = pretend && strstr(pretend, "polled");
    hg_backend *b = open_backend(name), *other = open_backend("null");
    hg_context *context = NULL;
    CHECK_OK(hg_context_create(b, &context));
    if (strcmp(name, "cpu") == 0 && !polled) { /* the host changes memory that a launch looks at */
        test_order(b, NULL);
        test_order(b, context);
    }
    test_faults(b);
    test_outcomes(b);
    test_many(b);
    test_misuse(b, other);
    if (!polled) test_cancel(b); /* there a launch without end is within one poll */
    hg_context_destroy(context);
    hg_backend_destroy(other);
    hg_backend_destroy(b);
    return test_done();
}
