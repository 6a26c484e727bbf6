/* Queues of the public interface. A queue's work goes on by itself: a thread waits for the device,
 * for other queues and for tickets, and drives it (advance.c). Where the host has no threads or the
 * driver cannot be waited for, whoever submits, asks or waits drives it (progress.c).
 * Must not know: what commands do. */
#include "base/sized.h"
#include "runtime/client.h"
#include "runtime/queue_internal.h"
#include <stdio.h>
#include <string.h>

/* ---- queues without a thread ---- */

static hg_progress_state drive(hg_driven *self) {
    hg_queue *q = (hg_queue *)self; /* its first field */
    const hg_backend *b = q->backend;
    hg_event *event;
    if (q->lost) return HG_PROGRESS_IDLE;
    switch (hg_queue_advance(q, &event)) {
    case HG_QUEUE_IDLE: return HG_PROGRESS_IDLE;
    case HG_QUEUE_EVENT: return hg_event_drive(event);
    case HG_QUEUE_DEVICE:
        if (hg_queue_awaits_ranks(q))
            hg_queue_wait_for_device(q);
        else if (b->driver->device_poll)
            b->driver->device_poll(b->device);
        break;
    case HG_QUEUE_TURN: break;
    }
    return HG_PROGRESS_LEFT;
}

/* ---- the thread ---- */

static void name_thread(const hg_queue *q) {
    char name[32];
    snprintf(name, sizeof name, "queue %u", (unsigned)q->number);
    hg_profile_name_thread(name);
}

static void wait_for_device(hg_queue *q) {
    const hg_backend *b = q->backend;
    uint64_t start = hg_profile_start(b->profile);
    const char *what = hg_queue_awaits_ranks(q) ? "ranks" : "device";
    hg_queue_wait_for_device(q);
    if (start) hg_span_wait(b, what, start);
}

/* Until there is something to do. False: the queue ends. The lock is held. */
static bool wait_for_work(hg_queue *q) {
    while (!q->first && !q->thread.stop) hg_cond_wait(&q->changed, &q->lock);
    return q->first != NULL;
}

static void *serve(void *user) {
    hg_queue *q = user;
    hg_event *event;
    bool more = true;
    hg_thread_name("hologram-queue");
    if (q->backend->profile) name_thread(q);
    while (more) {
        switch (hg_queue_advance(q, &event)) {
        case HG_QUEUE_DEVICE: wait_for_device(q); break;
        case HG_QUEUE_EVENT: HG_IGNORE(hg_event_wait(event)); break; /* its status is asked for */
        case HG_QUEUE_TURN: hg_queue_wait_for_turn(q); break;
        case HG_QUEUE_IDLE:
            hg_mutex_lock(&q->lock);
            more = wait_for_work(q);
            hg_mutex_unlock(&q->lock);
        }
    }
    return NULL;
}

/* ---- fork ---- */

static void queue_forked(void *user) {
    hg_queue *q = user;
    q->lost = q->lost || !q->backend->driver->forks || q->running || q->driven.busy;
    q->thread.wanted = !q->lost && (q->thread.runs || q->thread.wanted);
    q->thread.runs = false;
}

static void watch_queue(hg_queue *q) {
    q->forks = (hg_fork_lock){.mutex = &q->lock,
                              .cond = &q->changed,
                              .untaken = !q->backend->driver->forks,
                              .child = queue_forked,
                              .user = q};
    hg_fork_add(&q->forks, HG_FORK_QUEUE);
}

static void give_thread(hg_queue *q) {
    q->thread.runs = hg_driver_can_block(q->backend->driver, q->backend->caps) &&
                     hg_thread_start(&q->thread.handle, serve, q);
    if (q->thread.runs) return;
    q->driven.drive = drive;
    hg_progress_add(q->backend->progress, &q->driven);
}

/* The error of a queue that a fork has lost; else it has a thread again. */
static hg_status make_whole(hg_queue *q) {
    if (q->backend->fork.lost) return hg_backend_lost(q->backend);
    if (q->lost) return hg_lost("queue");
    if (q->context->lost) return hg_lost("context");
    if (!hg_atomic_load(&q->thread.wanted, HG_ACQUIRE)) return HG_OK;
    hg_mutex_lock(&q->lock);
    if (q->thread.wanted) give_thread(q);
    hg_atomic_store(&q->thread.wanted, 0, HG_RELEASE);
    hg_mutex_unlock(&q->lock);
    return HG_OK;
}

/* ---- queues ---- */

/* A context of its own has a stream for it. */
static hg_status open_streams(hg_queue *q) {
    if (!q->context) {
        HG_TRY(hg_context_create(q->backend, &q->context));
        q->own_context = true;
    }
    return hg_stream_create(q->context, &q->stream);
}

hg_backend *hg_queue_backend(const hg_queue *q) { return q->backend; }

hg_status hg_queue_create(hg_backend *b, hg_context *context, hg_queue **queue) {
    HG_ENTRY;
    if (!b) return hg_null_argument("backend");
    if (!queue) return hg_null_argument("queue");
    HG_TRY(hg_backend_alive(b));
    if (context && context->lost) return hg_lost("context");
    if (context && context->backend != b)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "the context belongs to another backend");
    hg_queue *q = hg_calloc(1, sizeof *q);
    if (!q) return hg_fail_memory();
    q->backend = b;
    q->context = context;
    hg_status status = open_streams(q);
    if (status != HG_OK) {
        if (q->own_context) hg_context_destroy(q->context);
        hg_free(q);
        return status;
    }
    hg_mutex_init(&q->lock);
    hg_cond_init(&q->changed);
    hg_child_add(&b->children, HG_CHILD_QUEUE);
    q->number = hg_atomic_add_fetch(&b->queues, 1, HG_RELAXED);
    give_thread(q);
    watch_queue(q);
    *queue = q;
    return HG_OK;
}

hg_status hg_queue_native(hg_queue *q, void **native) {
    HG_ENTRY;
    if (!q || !native) return hg_null_argument(q ? "native" : "queue");
    if (q->lost) return hg_lost("queue");
    HG_TRY(hg_backend_alive(q->backend));
    const hg_driver *driver = q->backend->driver;
    if (!driver->queue_native)
        return hg_fail(HG_ERROR_BACKEND_UNAVAILABLE, "%s has no queue that others could use",
                       driver->name);
    if (!q->stream->queue)
        return hg_fail(HG_ERROR_BACKEND_UNAVAILABLE, "work failed on %s, and its queue is gone",
                       driver->name);
    *native = driver->queue_native(q->stream->queue);
    return HG_OK;
}

enum { LOOK_AGAIN_NS = 1000000, LOOK_SOON_NS = 50000 };

/* Until something of the queue is over, or some time. */
static void rest(hg_queue *q, uint64_t ns) {
    hg_mutex_lock(&q->lock);
    if (q->running) (void)hg_cond_wait_until(&q->changed, &q->lock, hg_clock_ns() + ns);
    hg_mutex_unlock(&q->lock);
}

static bool is_busy(hg_queue *q) {
    hg_mutex_lock(&q->lock);
    bool busy = q->running != 0;
    hg_mutex_unlock(&q->lock);
    return busy;
}

/* Until nothing is left. HG_ERROR_WOULD_BLOCK: it cannot be waited for, and something is left. */
static hg_status drive_until_idle(hg_queue *q) {
    hg_progress *p = q->backend->progress;
    for (;;) {
        hg_progress_state state = hg_progress_drive(p);
        if (!is_busy(q)) return HG_OK;
        if (!hg_progress_can_wait(p, state))
            return hg_fail(HG_ERROR_WOULD_BLOCK, "the queue is busy and this host cannot wait");
        if (!hg_progress_polls(p)) rest(q, LOOK_AGAIN_NS);
    }
}

/* Until nothing is left. HG_ERROR_WOULD_BLOCK where looking again does not help, since what is left
 * goes on when the caller has returned: on a page, to the browser, which has a device's answers. */
static hg_status end_work(hg_queue *q) {
    if (q->lost || q->thread.runs || q->thread.wanted) return HG_OK; /* its thread does it */
    hg_error kept = *hg_error_record();
    while (drive_until_idle(q) != HG_OK) {
        hg_progress_drive_inside(q->backend->progress); /* each look lets the device go on */
        if (!HG_HAS_THREADS && is_busy(q))
            return hg_fail(HG_ERROR_WOULD_BLOCK,
                           "the queue has work under way that this host cannot wait for: it stays "
                           "as it is; destroy it when its events are done");
        rest(q, LOOK_SOON_NS);
    }
    *hg_error_record() = kept;
    return HG_OK;
}

void hg_queue_destroy(hg_queue *q) {
    HG_ENTRY;
    if (!q) return;
    if (end_work(q) != HG_OK) return;
    hg_fork_remove(&q->forks);
    if (q->lost) return; /* what it has may be half done */
    hg_error kept = *hg_error_record();
    hg_mutex_lock(&q->lock);
    q->thread.stop = true;
    hg_cond_broadcast(&q->changed);
    hg_mutex_unlock(&q->lock);
    if (q->thread.runs)
        hg_thread_join(q->thread.handle);
    else if (!q->thread.wanted)
        hg_progress_remove(q->backend->progress, &q->driven);
    hg_stream_destroy(q->stream);
    if (q->own_context) hg_context_destroy(q->context);
    hg_mutex_destroy(&q->lock);
    hg_cond_destroy(&q->changed);
    hg_child_remove(&q->backend->children, HG_CHILD_QUEUE);
    hg_free(q);
    *hg_error_record() = kept;
}

/* ---- submissions ---- */

/* The i-th command in this library's form. What the caller's header calls a command gives the step
 * from one to the next. */
static hg_status read_command(const hg_command *commands, size_t i, hg_command *own) {
    static const hg_sized rules = HG_SIZED(hg_command, length, "set it to sizeof(hg_command)");
    size_t step = commands->size, size;
    const void *given = (const unsigned char *)commands + i * step;
    *own = (hg_command){0};
    memcpy(&size, given, sizeof size);
    if (size != step)
        return hg_fail(
            HG_ERROR_INVALID_ARGUMENT,
            "command %zu: hg_command.size is %zu, that of command 0 is %zu, expected the same", i,
            size, step);
    if (hg_sized_take(&rules, given, own) == HG_OK) return HG_OK;
    return hg_fail(HG_ERROR_INVALID_ARGUMENT, "command %zu: %s", i, hg_last_error()->message);
}

static hg_submission_work *new_submission(hg_queue *q, size_t count, hg_event *const *waits,
                                          size_t wait_count, bool signal) {
    hg_submission_work *s = hg_calloc(1, sizeof *s);
    if (!s) return NULL;
    s->commands = hg_calloc(count ? count : 1, sizeof *s->commands);
    s->waits = hg_calloc(wait_count ? wait_count : 1, sizeof(hg_event *));
    s->signal = signal ? hg_event_create(q->backend, !q->thread.runs) : NULL;
    if (!s->commands || !s->waits || (signal && !s->signal)) {
        hg_submission_free(s);
        return NULL;
    }
    s->count = count;
    for (; s->wait_count < wait_count; s->wait_count++) {
        s->waits[s->wait_count] = waits[s->wait_count];
        hg_event_retain(waits[s->wait_count]);
    }
    return s;
}

/* The queue has it from here on. *signal: the caller's reference. */
static void append(hg_queue *q, hg_submission_work *s, hg_event **signal) {
    if (signal) {
        hg_event_retain(s->signal);
        *signal = s->signal;
    }
    hg_mutex_lock(&q->lock);
    *(q->last ? &q->last->next : &q->first) = s;
    q->last = s;
    q->running++;
    hg_cond_broadcast(&q->changed);
    hg_mutex_unlock(&q->lock);
}

static hg_status check_command(const hg_queue *q, const hg_command *c, size_t i) {
    if ((unsigned)c->kind > HG_COMMAND_HOST_CALL)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "hg_command.kind of command %zu is %d", i,
                       (int)c->kind);
    if (c->kind == HG_COMMAND_HOST_CALL && !c->call) return hg_null_argument("hg_command.call");
    if (c->kind != HG_COMMAND_LAUNCH) return HG_OK;
    if (!c->binding) return hg_null_argument("hg_command.binding");
    if (c->binding->executable->backend != q->backend)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                       "the binding of command %zu belongs to another backend", i);
    return hg_binding_is_lost(c->binding) ? hg_lost("binding") : HG_OK;
}

hg_status hg_queue_submit(hg_queue *q, const hg_command *commands, size_t count,
                          hg_event *const *waits, size_t wait_count, hg_event **signal) {
    HG_ENTRY;
    if (!q) return hg_null_argument("queue");
    if (!commands && count) return hg_null_argument("commands");
    if (!waits && wait_count) return hg_null_argument("waits");
    HG_TRY(make_whole(q));
    for (size_t i = 0; i < count; i++) {
        hg_command own;
        HG_TRY(read_command(commands, i, &own));
        HG_TRY(check_command(q, &own, i));
    }
    for (size_t i = 0; i < wait_count; i++)
        if (!waits[i] || hg_event_is_lost(waits[i]))
            return waits[i] ? hg_lost("queue of an event to wait for")
                            : hg_null_argument("an event to wait for");
    hg_submission_work *s = new_submission(q, count, waits, wait_count, signal != NULL);
    if (!s) return hg_fail_memory();
    for (size_t i = 0; i < count; i++)
        HG_IGNORE(read_command(commands, i, &s->commands[i])); /* it succeeded above */
    hg_submission_keep(s);
    append(q, s, signal);
    if (!q->thread.runs) (void)hg_progress_drive(q->backend->progress);
    return HG_OK;
}

hg_status hg_queue_synchronize(hg_queue *q) {
    HG_ENTRY;
    if (!q) return hg_null_argument("queue");
    HG_TRY(make_whole(q));
    uint64_t start = hg_profile_start(q->backend->profile);
    if (!q->thread.runs) HG_TRY(drive_until_idle(q));
    hg_mutex_lock(&q->lock);
    while (q->running && q->thread.runs) hg_cond_wait(&q->changed, &q->lock);
    if (start) hg_span_wait(q->backend, "synchronize", start);
    hg_status status = q->failed;
    if (status != HG_OK) *hg_error_record() = q->error;
    q->failed = HG_OK;
    hg_mutex_unlock(&q->lock);
    return status;
}

/* ---- launches that are started ---- */

enum { MOST_STARTERS = 8 };

/* Ends all, or none. */
static hg_status end_starters(hg_context *c) {
    for (uint64_t i = 0; i < c->starters.count; i++) HG_TRY(end_work(c->starters.data[i]));
    for (uint64_t i = 0; i < c->starters.count; i++) hg_queue_destroy(c->starters.data[i]);
    hg_vec_free(&c->starters);
    return HG_OK;
}

/* Those that a fork has lost go. */
static void forget_lost(hg_context *c) {
    uint64_t kept = 0;
    for (uint64_t i = 0; i < c->starters.count; i++)
        if (!c->starters.data[i]->lost) c->starters.data[kept++] = c->starters.data[i];
    c->starters.count = kept;
}

/* A queue of the context that has nothing to do, a new one, or the one with the least to do. Under
 * the context's start lock. */
static hg_status choose_starter(hg_context *c, hg_queue **queue) {
    hg_queue *best = NULL;
    uint64_t least = UINT64_MAX;
    forget_lost(c);
    for (uint64_t i = 0; i < c->starters.count; i++) {
        hg_queue *q = c->starters.data[i];
        hg_mutex_lock(&q->lock);
        uint64_t running = q->running;
        hg_mutex_unlock(&q->lock);
        if (running < least) best = q;
        if (running < least) least = running;
    }
    *queue = best;
    if (best && (least == 0 || c->starters.count == MOST_STARTERS)) return HG_OK;
    hg_queue **place = hg_vec_push(&c->starters);
    if (!place) return best ? HG_OK : hg_fail_memory();
    hg_status status = hg_queue_create(c->backend, c, place);
    if (status != HG_OK) c->starters.count--;
    if (status == HG_OK) *queue = *place;
    c->end_starters = end_starters;
    return best ? HG_OK : status;
}

/* Under the context's start lock. *drives: its queue is to be driven. */
static hg_status start(hg_binding *binding, hg_context *c, hg_event **event, bool *drives) {
    hg_queue *q;
    HG_TRY(choose_starter(c, &q));
    HG_TRY(make_whole(q));
    *drives = !q->thread.runs;
    hg_submission_work *s = new_submission(q, 1, NULL, 0, true);
    hg_flight *f = s ? hg_flight_create(q, binding) : NULL;
    if (!f) {
        hg_submission_free(s);
        return hg_fail_memory();
    }
    s->commands[0] = (hg_command){
        .size = sizeof(hg_command), .kind = HG_COMMAND_LAUNCH, .binding = binding};
    hg_submission_keep(s);
    if (binding->launch.lanes) {
        hg_flight_join(q, f); /* the order of runs is that of their starts */
        s->joined = f;
    } else {
        hg_free(f);
    }
    append(q, s, event);
    return HG_OK;
}

hg_status hg_binding_start(hg_binding *binding, hg_context *context, hg_event **event) {
    HG_ENTRY;
    if (!binding) return hg_null_argument("binding");
    if (!event) return hg_null_argument("event");
    hg_context *c = context ? context : binding->executable->backend->context;
    if (c->backend != binding->executable->backend)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "the context belongs to another backend");
    if (c->lost) return c->backend->fork.lost ? hg_backend_lost(c->backend) : hg_lost("context");
    if (hg_binding_is_lost(binding)) return hg_lost("binding");
    bool drives = false;
    hg_mutex_lock(&c->start_lock);
    hg_status status = start(binding, c, event, &drives);
    hg_mutex_unlock(&c->start_lock);
    if (drives) (void)hg_progress_drive(c->backend->progress); /* host calls may start launches */
    return status;
}
