/* Queues and events: order, waits across queues, every kind of command, errors and what they skip.
 */
/* test: labels=threads */
#include "support/runtime_support.h"
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#define COMMAND(...) ((hg_command){.size = sizeof(hg_command), __VA_ARGS__})

typedef struct trace {
    atomic_int next;
    int order[16];
} trace;
typedef struct note {
    trace *to;
    int value;
    atomic_bool *gate;
} note;

/* Waits for its gate, if it has one, and writes its number. */
static void write_note(void *user) {
    note *n = user;
    while (n->gate && !atomic_load(n->gate)) usleep(100);
    n->to->order[atomic_fetch_add(&n->to->next, 1)] = n->value;
}

static hg_command call(note *n) {
    return COMMAND(.kind = HG_COMMAND_HOST_CALL, .call = write_note, .user = n);
}

static void test_commands(hg_backend *b) {
    hg_program *p = assemble(AXPY);
    hg_queue *q = NULL;
    hg_event *event = NULL;
    hg_executable *e = NULL;
    hg_binding *binding = NULL;
    hg_params *params = hg_params_create();
    float x[4] = {1, 2, 3, 4}, y[4] = {10, 20, 30, 40}, out[4], aside[4], alpha = 2;
    hg_buffer bx = make_buffer(b, NULL, sizeof x), by = make_buffer(b, NULL, sizeof y),
              bz = make_buffer(b, NULL, 32);
    uint8_t bytes[32];
    CHECK_OK(hg_queue_create(b, NULL, &q));
    CHECK_OK(hg_params_set_buffer(params, "x", bx));
    CHECK_OK(hg_params_set_buffer(params, "y", by));
    CHECK_OK(hg_params_set_scalar(params, "alpha", HG_TYPE_F32, &alpha));
    CHECK_OK(hg_executable_create(b, p, &e));
    CHECK_OK(hg_binding_create(e, NULL, params, &binding));
    hg_command commands[] = {
        COMMAND(.kind = HG_COMMAND_COPY_IN, .buffer = bx, .host = x, .length = sizeof x),
        COMMAND(.kind = HG_COMMAND_COPY_IN, .buffer = by, .host = y, .length = sizeof y),
        COMMAND(.kind = HG_COMMAND_LAUNCH, .binding = binding),
        COMMAND(.kind = HG_COMMAND_COPY_OUT, .buffer = by, .host = out, .length = sizeof out),
        COMMAND(.kind = HG_COMMAND_FILL, .buffer = bz, .value = 0xAB, .offset = 2, .length = 28),
        COMMAND(.kind = HG_COMMAND_COPY, .buffer = bz, .offset = 8, .source = by,
                .source_offset = 4, .length = 8),
        COMMAND(.kind = HG_COMMAND_LAUNCH, .binding = binding),
        COMMAND(.kind = HG_COMMAND_COPY_OUT, .buffer = by, .host = aside, .length = sizeof aside)};
    CHECK_OK(hg_queue_submit(q, commands, sizeof commands / sizeof *commands, NULL, 0, &event));
    CHECK_OK(hg_event_wait(event));
    bool done = false;
    CHECK_OK(hg_event_query(event, &done));
    CHECK(done);
    hg_event_destroy(event);
    for (int i = 0; i < 4; i++) CHECK(out[i] == y[i] + 2 * x[i] && aside[i] == y[i] + 4 * x[i]);
    CHECK_OK(hg_backend_copy_from_buffer(b, bz, bytes, sizeof bytes));
    for (int i = 0; i < 32; i++)
        if (i < 8 || i >= 16) CHECK_U64(bytes[i], i < 2 || i >= 30 ? 0 : 0xAB);
    CHECK(memcmp(bytes + 8, out + 1, 8) == 0);
    CHECK_OK(hg_queue_synchronize(q));
    /* overlapping copy inside one buffer */
    for (int i = 0; i < 32; i++) bytes[i] = (uint8_t)i;
    CHECK_OK(hg_backend_copy_to_buffer(b, bz, bytes, 32));
    CHECK_OK(hg_queue_submit(
        q, &COMMAND(.kind = HG_COMMAND_COPY, .buffer = bz, .offset = 4, .source = bz, .length = 20),
        1, NULL, 0, NULL));
    CHECK_OK(hg_queue_synchronize(q));
    CHECK_OK(hg_backend_copy_from_buffer(b, bz, bytes, 32));
    for (int i = 4; i < 24; i++) CHECK_U64(bytes[i], i - 4);
    CHECK_OK(hg_queue_submit(q, NULL, 0, NULL, 0, &event)); /* nothing is done at once */
    CHECK_OK(hg_event_wait(event));
    hg_event_destroy(event);
    hg_event_destroy(NULL);
    hg_queue_destroy(q);
    hg_queue_destroy(NULL);
    hg_binding_destroy(binding);
    hg_executable_destroy(e);
    hg_params_destroy(params);
    hg_program_release(p);
    CHECK_OK(hg_backend_free_buffer(b, bx));
    CHECK_OK(hg_backend_free_buffer(b, by));
    CHECK_OK(hg_backend_free_buffer(b, bz));
}

static void test_order(hg_backend *b) {
    hg_queue *q1 = NULL, *q2 = NULL;
    hg_event *first = NULL, *second = NULL, *last = NULL;
    trace t = {0};
    atomic_bool gate = false;
    note notes[] = {{&t, 1, &gate}, {&t, 2, NULL}, {&t, 3, NULL}, {&t, 4, NULL}, {&t, 5, NULL}};
    hg_command commands[5];
    for (int i = 0; i < 5; i++) commands[i] = call(&notes[i]);
    CHECK_OK(hg_queue_create(b, NULL, &q1));
    CHECK_OK(hg_queue_create(b, NULL, &q2));
    CHECK_OK(hg_queue_submit(q1, &commands[0], 1, NULL, 0, &first)); /* held back by its gate */
    CHECK_OK(hg_queue_submit(q1, &commands[1], 1, NULL, 0, &second));
    CHECK_OK(hg_queue_submit(q2, &commands[2], 1, &second, 1, NULL)); /* the other queue waits */
    CHECK_OK(hg_queue_submit(q2, &commands[3], 1, NULL, 0, &last)); /* behind the one that waits */
    CHECK_OK(hg_queue_submit(q1, &commands[4], 1, (hg_event *[]){last, first}, 2, NULL));
    bool done = true;
    CHECK_OK(hg_event_query(first, &done));
    CHECK(!done);
    CHECK_OK(hg_event_query(last, &done));
    CHECK(!done);
    hg_event_destroy(second); /* somebody still waits for it */
    atomic_store(&gate, true);
    CHECK_OK(hg_queue_synchronize(q1));
    CHECK_OK(hg_queue_synchronize(q2));
    CHECK_U64(atomic_load(&t.next), 5);
    for (int i = 0; i < 5; i++) CHECK_U64(t.order[i], i + 1);
    hg_event_destroy(first);
    hg_event_destroy(last);
    hg_queue_destroy(q1);
    hg_queue_destroy(q2);
}

static void test_failures(hg_backend *b) {
    hg_queue *q = NULL, *q2 = NULL;
    hg_event *failed = NULL, *later = NULL, *waiting = NULL;
    trace t = {0};
    note notes[] = {{&t, 1, NULL}, {&t, 2, NULL}, {&t, 3, NULL}, {&t, 4, NULL}};
    hg_buffer buffer = make_buffer(b, NULL, 8);
    uint8_t host[16] = {0};
    hg_command bad[] = {call(&notes[0]),
                        COMMAND(.kind = HG_COMMAND_COPY_IN, .buffer = buffer, .host = host,
                                .offset = 4, .length = 5),
                        call(&notes[1])};
    hg_command good = call(&notes[2]), dependent = call(&notes[3]);
    CHECK_OK(hg_queue_create(b, NULL, &q));
    CHECK_OK(hg_queue_create(b, NULL, &q2));
    CHECK_OK(hg_queue_submit(q, bad, 3, NULL, 0, &failed));
    CHECK_OK(hg_queue_submit(q, &good, 1, NULL, 0, &later));
    CHECK_OK(hg_queue_submit(q2, &dependent, 1, &failed, 1, &waiting));
    CHECK_FAILS(hg_event_wait(failed), HG_ERROR_EXECUTION_FAILED, "",
                "buffer access out of bounds: offset 4 + size 5 > buffer size 8");
    CHECK_U64(hg_last_error()->limit, 8);
    CHECK_OK(hg_event_wait(later));                                  /* later submissions run */
    CHECK_STATUS(hg_event_wait(waiting), HG_ERROR_EXECUTION_FAILED); /* what waits for a failure
                                                                        fails with it */
    CHECK_U64(atomic_load(&t.next), 2);
    CHECK_U64(t.order[0], 1); /* before the failure */
    CHECK_U64(t.order[1], 3);
    bool done = false;
    CHECK_STATUS(hg_event_query(failed, &done), HG_ERROR_EXECUTION_FAILED);
    CHECK(done);
    CHECK_STATUS(hg_queue_synchronize(q), HG_ERROR_EXECUTION_FAILED);
    CHECK_OK(hg_queue_synchronize(q)); /* reported once */
    CHECK_STATUS(hg_queue_synchronize(q2), HG_ERROR_EXECUTION_FAILED);
    /* the first of several errors */
    hg_command unknown = COMMAND(.kind = HG_COMMAND_FILL, .buffer = {99}, .length = 1),
               source = COMMAND(.kind = HG_COMMAND_COPY, .buffer = buffer, .source = {98},
                                .length = 1);
    CHECK_OK(hg_queue_submit(q, &unknown, 1, NULL, 0, NULL));
    CHECK_OK(hg_queue_submit(q, &source, 1, NULL, 0, NULL));
    CHECK_FAILS(hg_queue_synchronize(q), HG_ERROR_INVALID_BUFFER, "", "BufferHandle(99)");
    CHECK_OK(hg_queue_submit(q, &source, 1, NULL, 0, NULL));
    CHECK_FAILS(hg_queue_synchronize(q), HG_ERROR_INVALID_BUFFER, "", "BufferHandle(98)");
    /* refused when submitted */
    hg_command wrong = good;
    wrong.size = 3;
    CHECK_STATUS(hg_queue_submit(q, &wrong, 1, NULL, 0, NULL), HG_ERROR_INVALID_ARGUMENT);
    wrong = good;
    wrong.kind = (hg_command_kind)17;
    CHECK_STATUS(hg_queue_submit(q, &wrong, 1, NULL, 0, NULL), HG_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hg_queue_submit(q, &COMMAND(.kind = HG_COMMAND_LAUNCH), 1, NULL, 0, NULL),
                 HG_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hg_queue_submit(q, &COMMAND(.kind = HG_COMMAND_HOST_CALL), 1, NULL, 0, NULL),
                 HG_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hg_queue_submit(q, &good, 1, (hg_event *[]){NULL}, 1, NULL),
                 HG_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hg_queue_submit(NULL, &good, 1, NULL, 0, NULL), HG_ERROR_INVALID_ARGUMENT);
    CHECK_FAILS(hg_queue_submit(q, NULL, 1, NULL, 0, NULL), HG_ERROR_INVALID_ARGUMENT, "",
                "commands is NULL");
    CHECK_FAILS(hg_queue_submit(q, &good, 1, NULL, 1, NULL), HG_ERROR_INVALID_ARGUMENT, "",
                "waits is NULL");
    CHECK_FAILS(hg_queue_create(b, NULL, NULL), HG_ERROR_INVALID_ARGUMENT, "", "queue is NULL");
    CHECK_FAILS(hg_queue_synchronize(NULL), HG_ERROR_INVALID_ARGUMENT, "", "queue is NULL");
    CHECK_FAILS(hg_event_query(NULL, &done), HG_ERROR_INVALID_ARGUMENT, "", "event is NULL");
    CHECK_FAILS(hg_event_query(later, NULL), HG_ERROR_INVALID_ARGUMENT, "", "done is NULL");
    CHECK_FAILS(hg_event_wait(NULL), HG_ERROR_INVALID_ARGUMENT, "", "event is NULL");
    CHECK_OK(hg_queue_synchronize(q));
    hg_event_destroy(failed);
    hg_event_destroy(later);
    hg_event_destroy(waiting);
    hg_queue_destroy(q);
    hg_queue_destroy(q2);
    CHECK_OK(hg_backend_free_buffer(b, buffer));
}

/* A fault of a launch reaches the event with its lane, and class handles mean the queue's context.
 */
static void test_faults_and_contexts(hg_backend *b) {
    hg_program *p = assemble(
        PROGRAM(".param r1 x buffer f32 in\n mov_imm.u64 r0, 8\n ldg.f32 r10, [r1 + r0]\n"));
    hg_params *params = hg_params_create();
    hg_buffer x = make_buffer(b, NULL, 8), class_one = {(uint64_t)-96 + 1};
    hg_executable *e = NULL;
    hg_binding *binding = NULL;
    hg_context *context = NULL, *theirs = NULL;
    hg_queue *q = NULL, *own = NULL;
    hg_event *event = NULL;
    uint32_t value = 5, out = 0;
    CHECK_OK(hg_params_set_buffer(params, "x", x));
    CHECK_OK(hg_executable_create(b, p, &e));
    CHECK_OK(hg_binding_create(e, NULL, params, &binding));
    CHECK_OK(hg_context_create(b, &context));
    CHECK_OK(hg_queue_create(b, context, &q));
    CHECK_OK(hg_queue_create(b, NULL, &own));
    CHECK_OK(hg_queue_submit(q, &COMMAND(.kind = HG_COMMAND_LAUNCH, .binding = binding), 1, NULL, 0,
                             &event));
    CHECK_STATUS(hg_event_wait(event), HG_ERROR_EXECUTION_FAILED);
    CHECK_TEXT(hg_last_error()->code, "F01");
    CHECK_U64(hg_last_error()->lane, 0);
    CHECK_U64(hg_last_error()->instruction, 1);
    hg_event_destroy(event);
    CHECK_STATUS(hg_queue_synchronize(q), HG_ERROR_EXECUTION_FAILED);
    CHECK_OK(hg_queue_submit(q,
                             &COMMAND(.kind = HG_COMMAND_COPY_IN, .buffer = class_one,
                                      .host = &value, .offset = 4, .length = 4),
                             1, NULL, 0, NULL));
    CHECK_OK(hg_queue_submit(q,
                             &COMMAND(.kind = HG_COMMAND_COPY, .buffer = x, .source = class_one,
                                      .source_offset = 4, .length = 4),
                             1, NULL, 0, NULL));
    CHECK_OK(hg_queue_synchronize(q));
    CHECK_OK(hg_buffer_read(b, x, 0, &out, 4));
    CHECK_U64(out, 5);
    CHECK_OK(hg_queue_submit(own,
                             &COMMAND(.kind = HG_COMMAND_COPY_OUT, .buffer = class_one,
                                      .host = &out, .offset = 4, .length = 4),
                             1, NULL, 0, NULL));
    CHECK_OK(hg_queue_synchronize(own));
    CHECK_U64(out, 0); /* a context of its own */
    out = 1;
    CHECK_OK(hg_buffer_read(b, class_one, 4, &out, 4));
    CHECK_U64(out, 0);
    hg_backend *foreign = open_backend("null");
    CHECK_OK(hg_context_create(foreign, &theirs));
    hg_queue *wrong = NULL;
    CHECK_STATUS(hg_queue_create(b, theirs, &wrong), HG_ERROR_INVALID_ARGUMENT);
    CHECK_OK(hg_queue_create(foreign, theirs, &wrong));
    CHECK_STATUS(hg_queue_submit(wrong, &COMMAND(.kind = HG_COMMAND_LAUNCH, .binding = binding), 1,
                                 NULL, 0, NULL),
                 HG_ERROR_INVALID_ARGUMENT);
    hg_queue_destroy(wrong);
    hg_context_destroy(theirs);
    hg_backend_destroy(foreign);
    hg_queue_destroy(q);
    hg_queue_destroy(own);
    hg_context_destroy(context);
    hg_binding_destroy(binding);
    hg_executable_destroy(e);
    hg_params_destroy(params);
    hg_program_release(p);
    CHECK_OK(hg_backend_free_buffer(b, x));
}

/* Destroying waits for the work. */
static void *open_gate(void *user) {
    usleep(30000);
    atomic_store((atomic_bool *)user, true);
    return NULL;
}

static void test_destroy_while_busy(hg_backend *b) {
    hg_queue *q = NULL;
    trace t = {0};
    atomic_bool gate = false;
    note notes[] = {{&t, 1, &gate}, {&t, 2, NULL}};
    hg_command first = call(&notes[0]), second = call(&notes[1]);
    pthread_t opener;
    CHECK_OK(hg_queue_create(b, NULL, &q));
    CHECK_OK(hg_queue_submit(q, &first, 1, NULL, 0, NULL));
    CHECK_OK(hg_queue_submit(q, &second, 1, NULL, 0, NULL));
    if (pthread_create(&opener, NULL, open_gate, &gate) != 0) exit(1);
    hg_queue_destroy(q);
    CHECK_U64(atomic_load(&t.next), 2);
    pthread_join(opener, NULL);
}

/* Several threads feed one queue; each one's submissions keep their order. */
enum { FEEDERS = 3, EACH = 100 };
typedef struct feeder {
    hg_queue *queue;
    atomic_uint seen;
    atomic_uint wrong;
} feeder;
typedef struct numbered {
    feeder *from;
    unsigned value;
} numbered;

static void see(void *user) {
    numbered *n = user;
    if (atomic_fetch_add(&n->from->seen, 1) != n->value) atomic_fetch_add(&n->from->wrong, 1);
}

static void *feed(void *user) {
    feeder *f = user;
    static __thread numbered numbers[EACH];
    hg_event *last = NULL;
    for (unsigned i = 0; i < EACH; i++) {
        numbers[i] = (numbered){f, i};
        if (hg_queue_submit(
                f->queue, &COMMAND(.kind = HG_COMMAND_HOST_CALL, .call = see, .user = &numbers[i]),
                1, NULL, 0, i == EACH - 1 ? &last : NULL) != HG_OK)
            atomic_fetch_add(&f->wrong, 1);
    }
    if (hg_event_wait(last) != HG_OK) atomic_fetch_add(&f->wrong, 1);
    hg_event_destroy(last);
    return NULL;
}

static void test_many_feeders(hg_backend *b) {
    hg_queue *q = NULL;
    feeder feeders[FEEDERS];
    pthread_t threads[FEEDERS];
    CHECK_OK(hg_queue_create(b, NULL, &q));
    for (int i = 0; i < FEEDERS; i++) {
        feeders[i].queue = q;
        atomic_init(&feeders[i].seen, 0);
        atomic_init(&feeders[i].wrong, 0);
        if (pthread_create(&threads[i], NULL, feed, &feeders[i]) != 0) exit(1);
    }
    for (int i = 0; i < FEEDERS; i++) {
        pthread_join(threads[i], NULL);
        CHECK_U64(atomic_load(&feeders[i].seen), EACH);
        CHECK_U64(atomic_load(&feeders[i].wrong), 0);
    }
    hg_queue_destroy(q);
}

int main(void) {
    static const char *const names[] = {"cpu", "null"};
    for (int i = 0; i < 2; i++) {
        hg_backend *b = open_backend(names[i]);
        if (i == 0) test_commands(b);
        test_order(b);
        test_failures(b);
        if (i == 0) test_faults_and_contexts(b);
        test_destroy_while_busy(b);
        test_many_feeders(b);
        hg_backend_destroy(b);
    }
    return test_done();
}
