/* Callbacks of events and waits with a time: each callback comes once, from a thread of the library
 * or from hg_backend_progress, under no lock. */
/* test: labels=threads timeout=300 */
#include "support/runtime_support.h"
#include "support/sanitized.h"
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define COMMAND(...) ((hg_command){.size = sizeof(hg_command), __VA_ARGS__})

/* ---- a system that refuses threads ---- */

static atomic_bool refuses; /* not under sanitizers, which make threads themselves */
#if !SANITIZED
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                   void *user) {
    int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    *(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
    return atomic_load(&refuses) ? EAGAIN : real(thread, attributes, run, user);
}
#endif

static hg_backend *open_as(const char *name, const char *pretend) {
    hg_config config = hg_config_default();
    hg_backend *b = NULL;
    snprintf(config.backend, sizeof config.backend, "%s", name);
    snprintf(config.pretend, sizeof config.pretend, "%s", pretend);
    CHECK_OK(open_in_steps(&config, &b));
    if (!b) exit(test_done());
    return b;
}

/* ---- callbacks that count ---- */

static __thread bool registers, progresses; /* this thread is in hg_event_on_done, in
                                               hg_backend_progress */

typedef struct told {
    hg_event *event;
    hg_queue *queue;  /* to submit to, this often */
    int more;         /* callbacks to register from the callback */
    int submissions;  /* to make from it */
    bool by_progress; /* it must come from hg_backend_progress */
    atomic_int times;
    int wrong; /* the line of what was not as expected */
    hg_status status;
    char code[4];
} told;
/* On whatever thread. */
#define EXPECT(t, condition) ((condition) ? (void)0 : (void)((t)->wrong = __LINE__))

static void tell(void *user, hg_status status, const hg_error *error);

static hg_status register_told(told *t) {
    registers = true;
    hg_status status = hg_event_on_done(t->event, tell, t);
    registers = false;
    return status;
}

static void nothing(void *user) { (void)user; }

/* It asks and registers: under a lock of the library it would stand still. */
static void tell(void *user, hg_status status, const hg_error *error) {
    told *t = user;
    bool done = false;
    EXPECT(t, !registers && progresses == t->by_progress);
    EXPECT(t, (status == HG_OK) == (error == NULL));
    t->status = status;
    if (error) memcpy(t->code, error->code, sizeof t->code);
    if (t->event) EXPECT(t, hg_event_query(t->event, &done) == status && done);
    if (t->more-- > 0) EXPECT(t, register_told(t) == HG_OK);
    if (t->submissions-- > 0) {
        hg_event *next = NULL;
        EXPECT(t, hg_queue_submit(t->queue, &COMMAND(.kind = HG_COMMAND_HOST_CALL, .call = nothing),
                                  1, NULL, 0, &next) == HG_OK);
        hg_event_destroy(t->event);
        t->event = next;
        EXPECT(t, register_told(t) == HG_OK);
    }
    atomic_fetch_add(&t->times, 1);
}

static void progress_once(hg_backend *b, bool *left) {
    progresses = true;
    CHECK_OK(hg_backend_progress(b, left));
    progresses = false;
}

/* Until the callback came so often: a thread brings it, or this one. */
static void await(hg_backend *b, const told *t, int times) {
    for (int i = 0; atomic_load(&t->times) < times && i < 50000; i++) {
        bool left;
        if (t->by_progress) progress_once(b, &left);
        usleep(20);
    }
    CHECK_U64(atomic_load(&t->times), times);
    CHECK_MESSAGE(!t->wrong, "in a callback, line %d", t->wrong);
}

/* ---- what callbacks are told ---- */

typedef struct gate {
    atomic_bool open;
    atomic_bool reached;
} gate;

static void pass_gate(void *user) {
    gate *g = user;
    atomic_store(&g->reached, true);
    while (!atomic_load(&g->open)) usleep(100);
}

/* A queue with a thread stands at the gate; its event, and one of another queue that waits for it,
 * are not done. */
typedef struct scene {
    hg_backend *b, *gatekeeper;
    hg_queue *gated, *queue;
    hg_event *first, *event;
    gate gate;
    bool by_progress;
} scene;

static void open_scene(scene *s, hg_backend *b, hg_backend *gatekeeper, bool by_progress) {
    memset(s, 0, sizeof *s);
    s->b = b;
    s->gatekeeper = gatekeeper;
    s->by_progress = by_progress;
    CHECK_OK(hg_queue_create(gatekeeper, NULL, &s->gated));
    CHECK_OK(hg_queue_create(b, NULL, &s->queue));
    CHECK_OK(hg_queue_submit(
        s->gated, &COMMAND(.kind = HG_COMMAND_HOST_CALL, .call = pass_gate, .user = &s->gate), 1,
        NULL, 0, &s->first));
    CHECK_OK(hg_queue_submit(s->queue, &COMMAND(.kind = HG_COMMAND_HOST_CALL, .call = nothing), 1,
                             &s->first, 1, &s->event));
}

static void close_scene(scene *s) {
    atomic_store(&s->gate.open, true);
    CHECK_OK(hg_event_wait(s->first));
    hg_event_destroy(s->first);
    hg_event_destroy(s->event);
    hg_queue_destroy(s->queue);
    hg_queue_destroy(s->gated);
}

static void test_results(hg_backend *b, hg_backend *gatekeeper, bool by_progress) {
    scene s;
    hg_event *failed = NULL;
    hg_command wrong = COMMAND(.kind = HG_COMMAND_FILL, .buffer = {99}, .length = 1);
    told good = {.by_progress = by_progress, .more = 2}, bad = good, ended = good, late = good;
    open_scene(&s, b, gatekeeper, by_progress);
    good.event = s.event;
    CHECK_OK(register_told(&good));
    CHECK_OK(hg_queue_submit(s.queue, &wrong, 1, NULL, 0, &failed));
    bad.event = failed;
    CHECK_OK(register_told(&bad));
    CHECK_OK(hg_queue_submit(s.queue, &COMMAND(.kind = HG_COMMAND_HOST_CALL, .call = nothing), 1,
                             NULL, 0, &ended.event));
    CHECK_OK(register_told(&ended));
    hg_event_cancel(ended.event);
    usleep(1000);
    CHECK_U64(atomic_load(&good.times) + atomic_load(&bad.times) + atomic_load(&ended.times), 0);
    atomic_store(&s.gate.open, true);
    await(b, &good, 3);
    await(b, &bad, 3);
    await(b, &ended, 3);
    CHECK_STATUS(good.status, HG_OK);
    CHECK_STATUS(bad.status, HG_ERROR_INVALID_BUFFER);
    CHECK_STATUS(ended.status, HG_ERROR_EXECUTION_FAILED);
    CHECK_TEXT(ended.code, "F11");
    late.event = failed; /* it is done already */
    CHECK_OK(register_told(&late));
    await(b, &late, 3);
    CHECK_STATUS(late.status, HG_ERROR_INVALID_BUFFER);
    CHECK_FAILS(hg_event_on_done(NULL, tell, NULL), HG_ERROR_INVALID_ARGUMENT, "", "event is NULL");
    CHECK_FAILS(hg_event_on_done(failed, NULL, NULL), HG_ERROR_INVALID_ARGUMENT, "",
                "call is NULL");
    hg_event_destroy(failed);
    hg_event_destroy(ended.event);
    close_scene(&s);
    CHECK_U64(atomic_load(&good.times) + atomic_load(&bad.times) + atomic_load(&ended.times) +
                  atomic_load(&late.times),
              12);
}

/* Events and queues go before the callbacks come; callbacks submit; the backend calls what is due
 * when it goes. */
static void test_leaving(const char *name, const char *pretend, hg_backend *gatekeeper,
                         bool by_progress) {
    scene s;
    hg_backend *b = open_as(name, pretend);
    hg_queue *queue = NULL;
    told orphan = {.by_progress = by_progress},
         chain = {.by_progress = by_progress, .submissions = 3}, last = {.by_progress = false};
    open_scene(&s, b, gatekeeper, by_progress);
    hg_event *event = s.event;
    CHECK_OK(hg_event_on_done(event, tell, &orphan));
    hg_event_destroy(event);
    s.event = NULL;
    close_scene(&s);
    CHECK_OK(hg_queue_create(b, NULL, &queue));
    chain.queue = queue;
    CHECK_OK(hg_queue_submit(queue, NULL, 0, NULL, 0, &chain.event));
    CHECK_OK(register_told(&chain));
    await(b, &orphan, 1);
    await(b, &chain, 4);
    hg_event_destroy(chain.event);
    hg_queue_destroy(queue);
    CHECK_OK(hg_queue_create(b, NULL, &queue));
    CHECK_OK(hg_queue_submit(queue, NULL, 0, NULL, 0, &last.event));
    hg_queue_destroy(queue);
    last.more = 2;
    CHECK_OK(register_told(&last));
    hg_backend_destroy(b);
    CHECK_U64(atomic_load(&last.times), 3);
    CHECK_OK(hg_event_wait(last.event));
    CHECK_FAILS(hg_event_on_done(last.event, tell, &last), HG_ERROR_INVALID_ARGUMENT, "",
                "the backend of the event is destroyed");
    hg_event_destroy(last.event);
}

typedef struct owned {
    hg_event *event;
    atomic_int *times;
} owned;
static void destroy_own(void *user, hg_status status, const hg_error *error) {
    owned *o = user;
    (void)status, (void)error;
    hg_event_destroy(o->event);
    atomic_fetch_add(o->times, 1);
}

/* A callback that destroys its event may be over before the call that registers it. */
static void test_handed_over(hg_backend *b) {
    enum { EVENTS = 500 };
    static owned all[EVENTS];
    hg_queue *queue = NULL;
    atomic_int times = 0;
    CHECK_OK(hg_queue_create(b, NULL, &queue));
    for (int i = 0; i < EVENTS; i++) {
        all[i].times = &times;
        CHECK_OK(hg_queue_submit(queue, NULL, 0, NULL, 0, &all[i].event));
        CHECK_OK(hg_event_on_done(all[i].event, destroy_own, &all[i]));
    }
    hg_queue_destroy(queue);
    bool left = true;
    for (int i = 0; i < 50000 && atomic_load(&times) < EVENTS; i++) {
        CHECK_OK(hg_backend_progress(b, &left));
        usleep(20);
    }
    CHECK_U64(atomic_load(&times), EVENTS);
}

typedef struct order {
    int next, seen[8];
} order;
typedef struct place {
    order *in;
    int value;
} place;
static void note_place(void *user, hg_status status, const hg_error *error) {
    place *p = user;
    (void)status, (void)error;
    p->in->seen[p->in->next++] = p->value;
}

static void test_order(hg_backend *b, hg_backend *gatekeeper, bool by_progress) {
    scene s;
    order o = {0};
    place places[6];
    told last = {.by_progress = by_progress};
    open_scene(&s, b, gatekeeper, by_progress);
    for (int i = 0; i < 6; i++) {
        places[i] = (place){&o, i};
        CHECK_OK(hg_event_on_done(s.event, note_place, &places[i]));
    }
    CHECK_OK(hg_event_on_done(s.event, tell, &last));
    atomic_store(&s.gate.open, true);
    await(b, &last, 1);
    for (int i = 0; i < 6; i++) CHECK_U64(o.seen[i], i);
    close_scene(&s);
}

/* ---- waits with a time ---- */

static void *open_later(void *user) {
    usleep(20000);
    atomic_store((atomic_bool *)user, true);
    return NULL;
}

static void test_wait_for(hg_backend *b, hg_backend *gatekeeper, bool waits) {
    scene s;
    pthread_t opener;
    hg_event *failed = NULL;
    open_scene(&s, b, gatekeeper, false);
    CHECK_FAILS(hg_event_wait_for(s.event, 0), HG_ERROR_TIMEOUT, "", "the event is not done yet");
    CHECK_STATUS(hg_event_wait_for(s.event, 3), waits ? HG_ERROR_TIMEOUT : HG_ERROR_WOULD_BLOCK);
    CHECK_FAILS(hg_event_wait_for(NULL, 1), HG_ERROR_INVALID_ARGUMENT, "", "event is NULL");
    if (pthread_create(&opener, NULL, open_later, &s.gate.open) != 0) exit(1);
    if (waits) CHECK_OK(hg_event_wait_for(s.event, UINT64_MAX));
    CHECK_OK(hg_event_wait_for(s.first, 60000));
    CHECK_OK(hg_event_wait_for(s.event, 0)); /* a look is enough now */
    pthread_join(opener, NULL);
    CHECK_OK(hg_queue_submit(s.queue,
                             &COMMAND(.kind = HG_COMMAND_FILL, .buffer = {99}, .length = 1), 1,
                             NULL, 0, &failed));
    if (waits)
        CHECK_STATUS(hg_event_wait_for(failed, 60000), HG_ERROR_INVALID_BUFFER);
    else
        CHECK_STATUS(hg_event_wait(failed), HG_ERROR_INVALID_BUFFER);
    hg_event_destroy(failed);
    close_scene(&s);
}

/* ---- many ---- */

enum { FEEDERS = 4, EACH = 1000, QUEUES = 3 };
typedef struct feeder {
    hg_backend *b;
    hg_queue **queues;
    const hg_buffer *buffers; /* of each queue */
    bool by_progress;
    unsigned seed;
    atomic_int told[EACH];
    atomic_int all;
} feeder;
typedef struct single {
    feeder *of;
    int number;
} single;

static void count_single(void *user, hg_status status, const hg_error *error) {
    single *s = user;
    bool fails = s->number % 7 == 3;
    if ((status == HG_OK) == fails || (error == NULL) == fails)
        atomic_fetch_add(&s->of->told[s->number], 100);
    if (registers || progresses != s->of->by_progress)
        atomic_fetch_add(&s->of->told[s->number], 100);
    atomic_fetch_add(&s->of->told[s->number], 1);
    atomic_fetch_add(&s->of->all, 1);
}

static void *feed(void *user) {
    feeder *f = user;
    single *singles = calloc(EACH, sizeof *singles);
    uint8_t byte = 1;
    bool left;
    if (!singles) exit(1);
    for (int i = 0; i < EACH; i++) {
        hg_event *event = NULL;
        f->seed = f->seed * 1664525 + 1013904223;
        int k = f->seed >> 16 & 1 ? 0 : 1 + i % 2;
        hg_command c = COMMAND(.kind = HG_COMMAND_COPY_IN, .buffer = f->buffers[k], .host = &byte,
                               .length = 1);
        singles[i] = (single){f, i};
        if (i % 7 == 3) c.offset = 64; /* beyond the end */
        if (hg_queue_submit(f->queues[k], &c, 1, NULL, 0, &event) != HG_OK) exit(1);
        if (f->seed >> 20 & 1) usleep(1); /* it is done, or not */
        registers = true;
        if (hg_event_on_done(event, count_single, &singles[i]) != HG_OK) exit(1);
        registers = false;
        hg_event_destroy(event);
        if (i % 5) continue;
        progresses = true;
        if (hg_backend_progress(f->b, &left) != HG_OK) exit(1);
        progresses = false;
    }
    while (atomic_load(&f->all) < EACH) {
        usleep(100);
        progresses = true;
        if (hg_backend_progress(f->b, &left) != HG_OK) exit(1);
        progresses = false;
    }
    free(singles);
    return NULL;
}

/* refused: the queues have no threads. */
static void test_many(const char *name, const char *pretend, bool by_progress, bool refused) {
    static feeder feeders[FEEDERS];
    pthread_t threads[FEEDERS];
    hg_backend *b = open_as(name, pretend);
    hg_queue *queues[QUEUES];
    hg_buffer buffers[QUEUES];
    memset(feeders, 0, sizeof feeders);
    for (int i = 0; i < QUEUES; i++) {
        atomic_store(&refuses, refused);
        CHECK_OK(hg_queue_create(b, NULL, &queues[i]));
        atomic_store(&refuses, false);
        buffers[i] = make_buffer(b, NULL, 64);
    }
    for (int i = 0; i < FEEDERS; i++) {
        feeders[i].b = b;
        feeders[i].queues = queues;
        feeders[i].by_progress = by_progress;
        feeders[i].seed = (unsigned)i;
        feeders[i].buffers = buffers;
        if (pthread_create(&threads[i], NULL, feed, &feeders[i]) != 0) exit(1);
    }
    for (int i = 0; i < FEEDERS; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < QUEUES; i++) hg_queue_destroy(queues[i]);
    hg_backend_destroy(b);
    for (int i = 0; i < FEEDERS; i++)
        for (int k = 0; k < EACH; k++) CHECK_U64(atomic_load(&feeders[i].told[k]), 1);
}

/* ---- queues without a thread ---- */

typedef struct asked {
    hg_backend *b;
    hg_status progress;
    atomic_int times;
} asked;
static void ask_inside(void *user) {
    asked *a = user;
    bool left;
    a->progress = hg_backend_progress(a->b, &left);
    atomic_fetch_add(&a->times, 1);
}
static void ask_called(void *user, hg_status status, const hg_error *error) {
    (void)status, (void)error;
    ask_inside(user);
}

/* hg_backend_progress says what is left, and is refused from inside. */
static void test_progress(void) {
    hg_backend *b = open_as("null", "no-wait=3");
    hg_queue *q = NULL;
    hg_event *event = NULL;
    bool left = true;
    asked in_call = {.b = b}, in_callback = {.b = b};
    uint8_t byte = 1;
    hg_command commands[] = {
        COMMAND(.kind = HG_COMMAND_COPY_IN, .buffer = make_buffer(b, NULL, 64), .host = &byte,
                .length = 1),
        COMMAND(.kind = HG_COMMAND_HOST_CALL, .call = ask_inside, .user = &in_call),
    };
    progress_once(b, &left);
    CHECK(!left);
    CHECK_OK(hg_queue_create(b, NULL, &q));
    CHECK_OK(hg_queue_submit(q, commands, 2, NULL, 0, &event));
    CHECK_OK(hg_event_on_done(event, ask_called, &in_callback));
    for (int i = 0; left || i == 0; i++) progress_once(b, &left);
    CHECK_U64(atomic_load(&in_call.times), 1);
    CHECK_U64(atomic_load(&in_callback.times), 1);
    CHECK_STATUS(in_call.progress, HG_ERROR_WOULD_BLOCK);
    CHECK_STATUS(in_callback.progress, HG_ERROR_WOULD_BLOCK);
    CHECK_FAILS(hg_backend_progress(NULL, &left), HG_ERROR_INVALID_ARGUMENT, "", "backend is NULL");
    CHECK_FAILS(hg_backend_progress(b, NULL), HG_ERROR_INVALID_ARGUMENT, "", "left is NULL");
    hg_event_destroy(event);
    hg_queue_destroy(q);
    hg_backend_destroy(b);
}

/* A thread that only looks never gives its processor away by itself. */
static void destroy_queue(void *user) {
    struct rusage before, after;
    CHECK(getrusage(RUSAGE_THREAD, &before) == 0);
    hg_queue_destroy(((hg_queue **)user)[0]);
    CHECK(getrusage(RUSAGE_THREAD, &after) == 0);
    CHECK(after.ru_nvcsw > before.ru_nvcsw);
}

/* A queue that ends while its device has long to go, where nobody can wait: it looks now and then.
 */
static void test_ends_busy(void) {
    enum { COPIES = 200 };
    hg_backend *b = open_as("null", "no-wait=60");
    hg_queue *q = NULL;
    uint8_t byte = 1;
    hg_buffer buffer = make_buffer(b, NULL, 64);
    hg_command command = COMMAND(.kind = HG_COMMAND_COPY_IN, .buffer = buffer, .host = &byte,
                                 .length = 1);
    CHECK_OK(hg_queue_create(b, NULL, &q));
    for (int i = 0; i < COPIES; i++) CHECK_OK(hg_queue_submit(q, &command, 1, NULL, 0, NULL));
    destroy_queue(&q);
    hg_backend_destroy(b);
}

static void count_call(void *user) { atomic_fetch_add((atomic_int *)user, 1); }

/* Queues of two backends that wait for each other: asking one drives what it waits for, and nothing
 * else. */
static void test_across(hg_backend *gatekeeper) {
    enum { ROUNDS = 20 };
    hg_backend *b[2] = {open_as("cpu", "no-wait=1"), open_as("null", "no-wait=2")};
    hg_queue *q[2] = {NULL, NULL};
    hg_event *last = NULL;
    atomic_int calls[2] = {0, 0};
    scene apart;
    bool done = false;
    uint8_t byte = 1; /* read when the copies are done */
    for (int i = 0; i < 2; i++) CHECK_OK(hg_queue_create(b[i], NULL, &q[i]));
    open_scene(&apart, gatekeeper, gatekeeper, false);
    for (int i = 0; i < 2; i++) /* nothing begins before the gate is open */
        CHECK_OK(hg_queue_submit(
            q[i], &COMMAND(.kind = HG_COMMAND_HOST_CALL, .call = count_call, .user = &calls[i]), 1,
            &apart.first, 1, NULL));
    atomic_store(&apart.gate.open, true);
    CHECK_OK(hg_event_wait(apart.event));
    progress_once(b[1], &done);
    CHECK_U64(atomic_load(&calls[1]), 1);
    CHECK_U64(atomic_load(&calls[0]), 0);
    close_scene(&apart);
    for (int i = 0; i < ROUNDS; i++) {
        hg_event *next = NULL;
        hg_command copy = COMMAND(.kind = HG_COMMAND_COPY_IN,
                                  .buffer = make_buffer(b[i % 2], NULL, 64), .host = &byte,
                                  .length = 1);
        CHECK_OK(hg_queue_submit(q[i % 2], &copy, 1, &last, last != NULL, &next));
        hg_event_destroy(last);
        last = next;
    }
    done = false;
    for (int i = 0; i < 100000 && !done; i++)
        CHECK_OK(hg_event_query(last, &done)); /* each look goes on a little */
    CHECK(done);
    CHECK_U64(atomic_load(&calls[0]), 1);
    hg_event_destroy(last);
    for (int i = 0; i < 2; i++) hg_queue_destroy(q[i]);
    for (int i = 0; i < 2; i++) hg_backend_destroy(b[i]);
}

/* The system refuses threads for a while: callbacks come from hg_backend_progress, and again from a
 * thread when there is one. */
static void test_refused(const char *pretend, hg_backend *gatekeeper) {
    hg_backend *b = open_as("cpu", pretend);
    hg_queue *q[2] = {NULL, NULL};
    hg_event *event[2];
    told t = {.by_progress = true}, threaded = {.by_progress = false};
    uint8_t byte = 1;
    hg_command copy = COMMAND(.kind = HG_COMMAND_COPY_IN, .buffer = make_buffer(b, NULL, 64),
                              .host = &byte, .length = 1);
    scene s;
    atomic_store(&refuses, true);
    for (int i = 0; i < 2; i++) CHECK_OK(hg_queue_create(b, NULL, &q[i]));
    CHECK_OK(hg_queue_submit(q[0], &copy, 1, NULL, 0, &event[0]));
    CHECK_OK(hg_queue_submit(q[1], &copy, 1, event, 1, &event[1]));
    t.event = event[1];
    CHECK_OK(register_told(&t));
    CHECK_OK(hg_event_wait(event[1]));
    CHECK_OK(hg_event_wait_for(event[0], 0));
    CHECK_U64(atomic_load(&t.times), 0);
    await(b, &t, 1);
    CHECK_OK(hg_queue_synchronize(q[1]));
    atomic_store(&refuses, false);
    threaded.event = event[1];
    CHECK_OK(register_told(&threaded));
    await(b, &threaded, 1);
    for (int i = 0; i < 2; i++) hg_event_destroy(event[i]);
    for (int i = 0; i < 2; i++) hg_queue_destroy(q[i]);
    atomic_store(&refuses, true);
    s.b = b;
    CHECK_OK(hg_queue_create(b, NULL, &q[0]));
    atomic_store(&refuses, false);
    open_scene(&s, gatekeeper, gatekeeper, false);
    CHECK_OK(hg_queue_submit(q[0], &copy, 1, &s.first, 1, &event[0]));
    CHECK_STATUS(hg_event_wait_for(event[0], 5), HG_ERROR_TIMEOUT);
    atomic_store(&s.gate.open, true);
    CHECK_OK(hg_event_wait_for(event[0], 60000));
    hg_event_destroy(event[0]);
    close_scene(&s);
    hg_queue_destroy(q[0]);
    hg_backend_destroy(b);
}

typedef struct waiter {
    hg_event *event;
    hg_status status;
} waiter;
static void wait_inside(void *user) {
    waiter *w = user;
    w->status = hg_event_wait(w->event);
}

/* Host calls of a queue without a thread that wait for another backend: that one is driven, but
 * what comes after the queues of the host call cannot be waited for. */
static void test_nested(const char *pretend) {
    hg_backend *b[2] = {open_as("cpu", pretend), open_as("cpu", pretend)};
    hg_queue *q[3] = {NULL, NULL, NULL};
    hg_event *mine = NULL, *theirs = NULL, *behind = NULL, *event = NULL;
    waiter apart, stuck;
    atomic_int calls = 0;
    atomic_store(&refuses, true);
    for (int i = 0; i < 3; i++) CHECK_OK(hg_queue_create(b[i == 2], NULL, &q[i]));
    hg_command call = COMMAND(.kind = HG_COMMAND_HOST_CALL, .call = count_call, .user = &calls);
    scene s;
    atomic_store(&refuses, false);
    hg_backend *gatekeeper = open_as("null", "");
    open_scene(&s, gatekeeper, gatekeeper, false);
    CHECK_OK(hg_queue_submit(q[2], &call, 1, &s.first, 1, &theirs));
    apart.event = theirs;
    hg_command waits[] = {
        COMMAND(.kind = HG_COMMAND_HOST_CALL, .call = wait_inside, .user = &apart),
        COMMAND(.kind = HG_COMMAND_HOST_CALL, .call = wait_inside, .user = &stuck)};
    CHECK_OK(hg_queue_submit(q[0], waits, 2, &s.first, 1, &event)); /* it does not begin before the
                                                                       gate is open */
    CHECK_OK(hg_queue_submit(q[1], &call, 1, &event, 1, &mine));
    CHECK_OK(hg_queue_submit(q[2], &call, 1, &mine, 1, &behind));
    stuck.event = behind;
    atomic_store(&s.gate.open, true);
    CHECK_OK(hg_event_wait(mine));
    CHECK_OK(hg_event_wait(behind));
    CHECK_STATUS(apart.status, HG_OK);
    CHECK_STATUS(stuck.status, HG_ERROR_WOULD_BLOCK);
    CHECK_U64(atomic_load(&calls), 3);
    close_scene(&s);
    hg_event *events[] = {mine, theirs, behind, event};
    for (int i = 0; i < 4; i++) hg_event_destroy(events[i]);
    for (int i = 0; i < 3; i++) hg_queue_destroy(q[i]);
    for (int i = 0; i < 2; i++) hg_backend_destroy(b[i]);
    hg_backend_destroy(gatekeeper);
}

/* ---- fork ---- */

static int ask_child(scene *s, hg_event *done, const told *parents) {
    told t = {.event = done, .by_progress = false};
    alarm(20);
    if (hg_event_on_done(s->first, tell, &t) != HG_ERROR_EXECUTION_FAILED) return 1;
    if (hg_event_wait_for(s->first, 5) != HG_ERROR_EXECUTION_FAILED) return 2;
    if (register_told(&t) != HG_OK) return 3;
    for (int i = 0; i < 10000 && !atomic_load(&t.times); i++) usleep(100);
    if (atomic_load(&t.times) != 1 || t.wrong || atomic_load(&parents->times) != 0) return 4;
    return test_failed ? 5 : 0;
}

/* A child hears of what was done, and of nothing that its parent registered. */
static void test_fork(hg_backend *b) {
    scene s;
    told t = {.by_progress = false};
    hg_event *done = NULL;
    int status = 1;
    if (SANITIZED) return; /* they take no part in forks of processes with threads */
    open_scene(&s, b, b, false);
    CHECK_OK(hg_queue_submit(s.queue, NULL, 0, NULL, 0, NULL));
    hg_queue *other = NULL;
    CHECK_OK(hg_queue_create(b, NULL, &other));
    CHECK_OK(hg_queue_submit(other, NULL, 0, NULL, 0, &done));
    CHECK_OK(hg_event_wait(done));
    t.event = s.event;
    CHECK_OK(register_told(&t));
    pid_t pid = fork();
    if (pid == 0) _exit(ask_child(&s, done, &t));
    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
    CHECK_U64(status, 0);
    atomic_store(&s.gate.open, true);
    await(b, &t, 1);
    hg_event_destroy(done);
    hg_queue_destroy(other);
    close_scene(&s);
}

int main(void) {
    test_ends_busy();
    hg_backend *gatekeeper = open_as("null", "");
    alarm(60);
    const struct {
        const char *name, *pretend;
        bool by_progress;
    } devices[] = {{"cpu", "", false},
                   {"null", "", false},
                   {"cpu", "polled=1", false},
                   {"cpu", "no-wait=1", true},
                   {"null", "no-wait=2", true}};
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
        hg_backend *b = open_as(devices[i].name, devices[i].pretend);
        test_results(b, gatekeeper, devices[i].by_progress);
        test_order(b, gatekeeper, devices[i].by_progress);
        test_wait_for(b, gatekeeper, !devices[i].by_progress);
        test_handed_over(b);
        hg_backend_destroy(b);
        test_leaving(devices[i].name, devices[i].pretend, gatekeeper, devices[i].by_progress);
        test_many(devices[i].name, devices[i].pretend, devices[i].by_progress, false);
    }
    test_progress();
    test_across(gatekeeper);
    if (!SANITIZED) {
        test_refused("", gatekeeper);
        test_refused("polled=2", gatekeeper);
        test_nested("");
        test_nested("polled=3");
        test_many("cpu", "", false, true);
        test_many("cpu", "polled=4", false, true);
    }
    test_fork(gatekeeper);
    hg_backend_destroy(gatekeeper);
    return test_done();
}
