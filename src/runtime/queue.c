/* Queues and events of the public interface: one thread a queue takes submissions in order and drives them with the blocking calls.
 * Without threads (wasm32, or when the system refuses one) a submission runs at once on the caller.
 * Must not know: drivers. */
#include "base/sized.h"
#include "runtime/execute_internal.h"
#include <stdio.h>
#include <string.h>

struct hg_event {
    hg_mutex lock;
    hg_cond finished;
    bool done;
    uint32_t references; /* creator, submission, submissions that wait */
    hg_status status;
    hg_error error;
};

typedef struct submission {
    struct submission *next;
    hg_event *signal;
    hg_event **waits;
    hg_command *commands;
    size_t wait_count, count;
} submission;

struct hg_queue {
    hg_backend *backend;
    hg_context *context;
    uint32_t number; /* in the backend, from 1; for profiles */
    bool own_context, has_thread, stop;
    bool draining; /* without a thread: a caller runs the submissions now */
    hg_thread thread;
    hg_mutex lock;
    hg_cond changed;
    submission *first, *last;
    uint64_t running; /* submissions not finished */
    hg_status failed; /* first error since the last synchronize */
    hg_error error;
};

/* ---- events ---- */

static void event_release(hg_event *e) {
    if (!e || hg_atomic_sub_fetch(&e->references, 1, HG_ACQ_REL) != 0) return;
    hg_mutex_destroy(&e->lock);
    hg_cond_destroy(&e->finished);
    hg_free(e);
}

static void event_finish(hg_event *e, hg_status status, const hg_error *error) {
    if (!e) return;
    hg_mutex_lock(&e->lock);
    e->status = status;
    if (status != HG_OK) e->error = *error;
    e->done = true;
    hg_cond_broadcast(&e->finished);
    hg_mutex_unlock(&e->lock);
}

static hg_status event_result(hg_event *e) {
    if (e->status != HG_OK) *hg_error_record() = e->error;
    return e->status;
}

hg_status hg_event_query(hg_event *e, bool *done) {
    hg_mutex_lock(&e->lock);
    *done = e->done;
    hg_mutex_unlock(&e->lock);
    return *done ? event_result(e) : HG_OK;
}

hg_status hg_event_wait(hg_event *e) {
    hg_mutex_lock(&e->lock);
    while (!e->done && HG_HAS_THREADS) hg_cond_wait(&e->finished, &e->lock);
    bool done = e->done;
    hg_mutex_unlock(&e->lock);
    return done ? event_result(e) : hg_fail(HG_ERROR_WOULD_BLOCK, "the event is not done and this host cannot wait");
}

void hg_event_destroy(hg_event *e) { event_release(e); }

/* ---- commands ---- */

static hg_status run_command(hg_queue *q, const hg_command *c) {
    switch (c->kind) {
    case HG_COMMAND_LAUNCH: return hg_binding_launch_in(c->binding, q->context);
    case HG_COMMAND_COPY_IN: return hg_copy(q->context, false, c->buffer.handle, c->offset, c->host, c->length, HG_CMD_COPY_IN);
    case HG_COMMAND_COPY_OUT: return hg_copy(q->context, false, c->buffer.handle, c->offset, c->host, c->length, HG_CMD_COPY_OUT);
    case HG_COMMAND_COPY: return hg_copy_between(q->context, c->buffer.handle, c->offset, c->source.handle, c->source_offset, c->length);
    case HG_COMMAND_FILL: return hg_fill(q->context, c->buffer.handle, c->offset, c->length, c->value);
    case HG_COMMAND_HOST_CALL: c->call(c->user); return HG_OK;
    }
    return HG_OK; /* checked when submitted */
}

static void run_submission(hg_queue *q, submission *s) {
    hg_status status = HG_OK;
    uint64_t start = s->wait_count ? hg_profile_start(q->backend->profile) : 0;
    for (size_t i = 0; i < s->wait_count && status == HG_OK; i++) status = hg_event_wait(s->waits[i]);
    if (start) hg_span_wait(q->backend, "events", start);
    for (size_t i = 0; i < s->count && status == HG_OK; i++) status = run_command(q, &s->commands[i]);
    hg_mutex_lock(&q->lock);
    if (status != HG_OK && q->failed == HG_OK) {
        q->failed = status;
        q->error = *hg_error_record();
    }
    hg_mutex_unlock(&q->lock);
    event_finish(s->signal, status, hg_error_record());
}

static void free_submission(submission *s) {
    if (!s) return;
    for (size_t i = 0; i < s->wait_count && s->waits; i++) event_release(s->waits[i]);
    event_release(s->signal);
    hg_free(s->waits);
    hg_free(s->commands);
    hg_free(s);
}

/* ---- the thread ---- */

/* Runs what is there; the lock is held at both ends. */
static void drain(hg_queue *q) {
    while (q->first) {
        submission *s = q->first;
        q->first = s->next;
        if (!q->first) q->last = NULL;
        hg_mutex_unlock(&q->lock);
        run_submission(q, s);
        free_submission(s);
        hg_mutex_lock(&q->lock);
        q->running--;
        hg_cond_broadcast(&q->changed);
    }
}

static void name_thread(const hg_queue *q) {
    char name[32];
    snprintf(name, sizeof name, "queue %u", (unsigned)q->number);
    hg_profile_name_thread(name);
}

static void *serve(void *user) {
    hg_queue *q = user;
    if (q->backend->profile) name_thread(q);
    hg_mutex_lock(&q->lock);
    for (;;) {
        drain(q);
        if (q->stop) break;
        hg_cond_wait(&q->changed, &q->lock);
    }
    hg_mutex_unlock(&q->lock);
    return NULL;
}

hg_status hg_queue_create(hg_backend *b, hg_context *context, hg_queue **queue) {
    if (!b) return hg_null_argument("backend");
    if (context && context->backend != b) return hg_fail(HG_ERROR_INVALID_ARGUMENT, "the context belongs to another backend");
    hg_queue *q = hg_calloc(1, sizeof *q);
    if (!q) return hg_fail_memory();
    q->backend = b;
    q->context = context;
    if (!context) {
        hg_status status = hg_context_create(b, &q->context);
        if (status != HG_OK) {
            hg_free(q);
            return status;
        }
        q->own_context = true;
    }
    hg_mutex_init(&q->lock);
    hg_cond_init(&q->changed);
    q->number = hg_atomic_add_fetch(&b->queues, 1, HG_RELAXED);
    q->has_thread = hg_thread_start(&q->thread, serve, q);
    *queue = q;
    return HG_OK;
}

void hg_queue_destroy(hg_queue *q) {
    if (!q) return;
    hg_mutex_lock(&q->lock);
    q->stop = true;
    hg_cond_broadcast(&q->changed);
    hg_mutex_unlock(&q->lock);
    if (q->has_thread) hg_thread_join(q->thread);
    if (q->own_context) hg_context_destroy(q->context);
    hg_mutex_destroy(&q->lock);
    hg_cond_destroy(&q->changed);
    hg_free(q);
}

static hg_event *new_event(void) {
    hg_event *e = hg_calloc(1, sizeof *e);
    if (!e) return NULL;
    hg_mutex_init(&e->lock);
    hg_cond_init(&e->finished);
    e->references = 2; /* the caller's and the submission's */
    return e;
}

/* The i-th command in this library's form. What the caller's header calls a command gives the step from one to the next. */
static hg_status take_command(const hg_command *commands, size_t i, hg_command *own) {
    static const hg_sized rules = HG_SIZED(hg_command, length, "set it to sizeof(hg_command)");
    size_t step = commands->size, size;
    const void *given = (const unsigned char *)commands + i * step;
    *own = (hg_command){0};
    memcpy(&size, given, sizeof size);
    if (size != step)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "command %zu: hg_command.size is %zu, that of command 0 is %zu, expected the same", i,
                       size, step);
    if (hg_sized_take(&rules, given, own) == HG_OK) return HG_OK;
    return hg_fail(HG_ERROR_INVALID_ARGUMENT, "command %zu: %s", i, hg_last_error()->message);
}

static submission *new_submission(const hg_command *commands, size_t count, hg_event *const *waits, size_t wait_count, bool signal) {
    submission *s = hg_calloc(1, sizeof *s);
    if (!s) return NULL;
    s->commands = hg_calloc(count ? count : 1, sizeof *s->commands);
    s->waits = hg_calloc(wait_count ? wait_count : 1, sizeof(hg_event *));
    s->signal = signal ? new_event() : NULL;
    if (!s->commands || !s->waits || (signal && !s->signal)) {
        if (s->signal) s->signal->references = 1;
        free_submission(s);
        return NULL;
    }
    for (size_t i = 0; i < count; i++) (void)!take_command(commands, i, &s->commands[i]); /* hg_queue_submit has seen that it succeeds */
    s->count = count;
    for (size_t i = 0; i < wait_count; i++) {
        hg_atomic_fetch_add(&waits[i]->references, 1, HG_RELAXED);
        s->waits[i] = waits[i];
    }
    s->wait_count = wait_count;
    return s;
}

static hg_status check_command(const hg_queue *q, const hg_command *c, size_t i) {
    if ((unsigned)c->kind > HG_COMMAND_HOST_CALL)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "hg_command.kind of command %zu is %d", i, (int)c->kind);
    if (c->kind == HG_COMMAND_HOST_CALL && !c->call) return hg_null_argument("hg_command.call");
    if (c->kind != HG_COMMAND_LAUNCH) return HG_OK;
    if (!c->binding) return hg_null_argument("hg_command.binding");
    if (c->binding->executable->backend != q->backend)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "the binding of command %zu belongs to another backend", i);
    return HG_OK;
}

hg_status hg_queue_submit(hg_queue *q, const hg_command *commands, size_t count, hg_event *const *waits, size_t wait_count,
                          hg_event **signal) {
    if (!q) return hg_null_argument("queue");
    for (size_t i = 0; i < count; i++) {
        hg_command own;
        HG_TRY(take_command(commands, i, &own));
        HG_TRY(check_command(q, &own, i));
    }
    for (size_t i = 0; i < wait_count; i++)
        if (!waits[i]) return hg_null_argument("an event to wait for");
    submission *s = new_submission(commands, count, waits, wait_count, signal != NULL);
    if (!s) return hg_fail_memory();
    if (signal) *signal = s->signal;
    hg_mutex_lock(&q->lock);
    if (q->last)
        q->last->next = s;
    else
        q->first = s;
    q->last = s;
    q->running++;
    hg_cond_broadcast(&q->changed);
    if (!q->has_thread && !q->draining) {
        q->draining = true;
        drain(q);
        q->draining = false;
    }
    hg_mutex_unlock(&q->lock);
    return HG_OK;
}

hg_status hg_queue_synchronize(hg_queue *q) {
    uint64_t start = hg_profile_start(q->backend->profile);
    hg_mutex_lock(&q->lock);
    while (q->running && HG_HAS_THREADS) hg_cond_wait(&q->changed, &q->lock);
    if (start) hg_span_wait(q->backend, "synchronize", start);
    if (q->running) {
        hg_mutex_unlock(&q->lock);
        return hg_fail(HG_ERROR_WOULD_BLOCK, "the queue is busy and this host cannot wait");
    }
    hg_status status = q->failed;
    if (status != HG_OK) *hg_error_record() = q->error;
    q->failed = HG_OK;
    hg_mutex_unlock(&q->lock);
    return status;
}
