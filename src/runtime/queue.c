/* Queues and events of the public interface: one thread a queue takes submissions in order and drives them with the blocking calls.
 * Without threads (wasm32, or when the system refuses one) a submission runs at once on the caller.
 * Must not know: drivers. */
#include "runtime/runtime.h"
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
    bool own_context, has_thread, stop;
    hg_thread thread;
    hg_mutex lock;
    hg_cond changed;
    submission *first, *last;
    uint64_t running;    /* submissions not finished */
    hg_status failed;    /* first error since the last synchronize */
    hg_error error;
};

/* ---- events ---- */

static void event_release(hg_event *e) {
    if (!e || __atomic_sub_fetch(&e->references, 1, __ATOMIC_ACQ_REL) != 0) return;
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

static hg_status copy_between(hg_queue *q, const hg_command *c) {
    hg_range to = hg_buffer_range(q->backend, q->context, c->buffer.handle), from = hg_buffer_range(q->backend, q->context, c->source.handle);
    if (!to.arena) return hg_invalid_handle(false, c->buffer.handle);
    if (!from.arena) return hg_invalid_handle(false, c->source.handle);
    bool inside = c->offset <= to.size && c->length <= to.size - c->offset && c->source_offset <= from.size && c->length <= from.size - c->source_offset;
    if (!inside)
        return hg_fail(HG_ERROR_EXECUTION_FAILED, "buffer access out of bounds: copy of %llu bytes from offset %llu of %llu to offset %llu of %llu", (unsigned long long)c->length,
                       (unsigned long long)c->source_offset, (unsigned long long)from.size, (unsigned long long)c->offset, (unsigned long long)to.size);
    hg_driver_command command = {.kind = HG_CMD_COPY, .to = {to.arena, to.offset + c->offset, c->length}, .from = {from.arena, from.offset + c->source_offset, c->length}};
    return c->length ? hg_transfer(q->context, &command) : HG_OK;
}

static hg_status fill(hg_queue *q, const hg_command *c) {
    hg_range to = hg_buffer_range(q->backend, q->context, c->buffer.handle);
    if (!to.arena) return hg_invalid_handle(false, c->buffer.handle);
    if (c->offset > to.size || c->length > to.size - c->offset)
        return hg_fail(HG_ERROR_EXECUTION_FAILED, "buffer access out of bounds: offset %llu + size %llu > buffer size %llu", (unsigned long long)c->offset, (unsigned long long)c->length, (unsigned long long)to.size);
    hg_driver_command command = {.kind = HG_CMD_FILL, .to = {to.arena, to.offset + c->offset, c->length}, .value = c->value};
    return c->length ? hg_transfer(q->context, &command) : HG_OK;
}

/* Buffers that a copy names stay alive until it ends. */
static hg_status with_buffers(hg_queue *q, const hg_command *c, hg_status (*work)(hg_queue *, const hg_command *)) {
    uint64_t handles[2] = {c->buffer.handle, c->source.handle};
    bool held[2] = {false, false};
    int count = c->kind == HG_COMMAND_COPY ? 2 : 1;
    hg_status status = HG_OK;
    for (int i = 0; i < count && status == HG_OK; i++) {
        if (hg_handle_is_class(handles[i])) continue;
        held[i] = hg_handles_retain(&q->backend->buffers, handles[i]) != NULL;
        if (!held[i]) status = hg_invalid_handle(false, handles[i]);
    }
    if (status == HG_OK) status = work(q, c);
    for (int i = 0; i < count; i++)
        if (held[i]) hg_handles_release(&q->backend->buffers, handles[i]);
    return status;
}

static hg_status run_command(hg_queue *q, const hg_command *c) {
    switch (c->kind) {
    case HG_COMMAND_LAUNCH: return hg_binding_launch_in(c->binding, q->context);
    case HG_COMMAND_COPY_IN: return hg_buffer_write(q->backend, c->buffer, c->offset, c->host, c->length);
    case HG_COMMAND_COPY_OUT: return hg_buffer_read(q->backend, c->buffer, c->offset, c->host, c->length);
    case HG_COMMAND_COPY: return with_buffers(q, c, copy_between);
    case HG_COMMAND_FILL: return with_buffers(q, c, fill);
    case HG_COMMAND_HOST_CALL: c->call(c->user); return HG_OK;
    }
    return hg_fail(HG_ERROR_INVALID_ARGUMENT, "hg_command.kind is %d", (int)c->kind);
}

static void run_submission(hg_queue *q, submission *s) {
    hg_status status = HG_OK;
    for (size_t i = 0; i < s->wait_count && status == HG_OK; i++) status = hg_event_wait(s->waits[i]);
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

static void *serve(void *user) {
    hg_queue *q = user;
    hg_mutex_lock(&q->lock);
    for (;;) {
        while (!q->first && !q->stop) hg_cond_wait(&q->changed, &q->lock);
        submission *s = q->first;
        if (!s) break;
        q->first = s->next;
        if (!q->first) q->last = NULL;
        hg_mutex_unlock(&q->lock);
        run_submission(q, s);
        free_submission(s);
        hg_mutex_lock(&q->lock);
        q->running--;
        hg_cond_broadcast(&q->changed);
    }
    hg_mutex_unlock(&q->lock);
    return NULL;
}

hg_status hg_queue_create(hg_backend *b, hg_context *context, hg_queue **queue) {
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
    if (count) memcpy(s->commands, commands, count * sizeof *commands);
    s->count = count;
    for (size_t i = 0; i < wait_count; i++) {
        __atomic_fetch_add(&waits[i]->references, 1, __ATOMIC_RELAXED);
        s->waits[i] = waits[i];
    }
    s->wait_count = wait_count;
    return s;
}

hg_status hg_queue_submit(hg_queue *q, const hg_command *commands, size_t count, hg_event *const *waits, size_t wait_count, hg_event **signal) {
    for (size_t i = 0; i < count; i++)
        if (commands[i].size != sizeof commands[i]) return hg_fail(HG_ERROR_INVALID_ARGUMENT, "hg_command.size of command %zu is %zu, expected %zu", i, commands[i].size, sizeof commands[i]);
    submission *s = new_submission(commands, count, waits, wait_count, signal != NULL);
    if (!s) return hg_fail_memory();
    if (signal) *signal = s->signal;
    if (!q->has_thread) {
        run_submission(q, s);
        free_submission(s);
        return HG_OK;
    }
    hg_mutex_lock(&q->lock);
    if (q->last) q->last->next = s;
    else q->first = s;
    q->last = s;
    q->running++;
    hg_cond_broadcast(&q->changed);
    hg_mutex_unlock(&q->lock);
    return HG_OK;
}

hg_status hg_queue_synchronize(hg_queue *q) {
    hg_mutex_lock(&q->lock);
    while (q->running) hg_cond_wait(&q->changed, &q->lock);
    hg_status status = q->failed;
    if (status != HG_OK) *hg_error_record() = q->error;
    q->failed = HG_OK;
    hg_mutex_unlock(&q->lock);
    return status;
}
