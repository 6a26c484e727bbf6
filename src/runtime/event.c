/* Events of the public interface: a point in a queue's work, with the error of that work.
 * Must not know: drivers, what the work is. */
#include "runtime/queue_internal.h"

/* A call of hg_event_on_done. */
typedef struct done_call {
    hg_due due; /* the first field */
    hg_event *event;
    hg_event_listener *call;
    void *user;
} done_call;

struct hg_event {
    hg_mutex lock;
    hg_cond finished;
    int done; /* atomic; the fields below are set before */
    hg_status status;
    hg_error error;
    uint32_t references;       /* atomic: creator, submission, submissions that wait, callbacks */
    hg_progress *progress;     /* of its backend */
    bool driven;               /* its queue has no thread */
    hg_due *calls, *last_call; /* until it is done; under the lock */
    int cancelled;             /* atomic */
    hg_driver_event *offered;  /* under the lock; NULL: nothing of the device's stands for it */
    hg_backend *backend;       /* there until the event is done */
    uint32_t process; /* hg_fork_count of where it was made: elsewhere its lock is not used */
};

hg_event *hg_event_create(hg_backend *b, bool driven) {
    hg_event *e = hg_calloc(1, sizeof *e);
    if (!e) return NULL;
    hg_mutex_init(&e->lock);
    hg_cond_init(&e->finished);
    e->references = 1;
    e->process = hg_fork_count;
    hg_progress_retain(b->progress);
    e->progress = b->progress;
    e->driven = driven;
    e->backend = b;
    return e;
}

static bool is_inherited(const hg_event *e) { return e->process != hg_fork_count; }

void hg_event_retain(hg_event *e) { hg_atomic_fetch_add(&e->references, 1, HG_RELAXED); }

void hg_event_release(hg_event *e) {
    if (!e || hg_atomic_sub_fetch(&e->references, 1, HG_ACQ_REL) != 0) return;
    if (e->process == hg_fork_count) { /* else threads of the parent may have or await them */
        hg_mutex_destroy(&e->lock);
        hg_cond_destroy(&e->finished);
    }
    hg_progress_release(e->progress);
    hg_free(e);
}

void hg_event_finish(hg_event *e, hg_status status, const hg_error *error) {
    if (!e) return;
    hg_mutex_lock(&e->lock);
    e->status = status;
    if (status != HG_OK) e->error = *error;
    hg_atomic_store(&e->done, 1, HG_RELEASE);
    hg_cond_broadcast(&e->finished);
    if (e->calls && !is_inherited(e))
        (void)hg_progress_call(e->progress, e->calls, e->last_call); /* the backend is there */
    e->calls = NULL;
    hg_mutex_unlock(&e->lock);
}

void hg_event_offer(hg_event *e, hg_driver_event *device_event) {
    hg_mutex_lock(&e->lock);
    e->offered = device_event;
    hg_mutex_unlock(&e->lock);
}

bool hg_event_follow(hg_event *e, const hg_backend *b, hg_driver_queue *queue) {
    hg_mutex_lock(&e->lock); /* what is offered stays there */
    bool follows = hg_event_is_done(e);
    if (!follows && e->offered && e->backend == b) {
        hg_error kept = *hg_error_record();
        follows = b->driver->queue_submit(queue, NULL, 0, &e->offered, 1, NULL) == HG_OK;
        if (!follows) *hg_error_record() = kept;
    }
    hg_mutex_unlock(&e->lock);
    return follows;
}

bool hg_event_is_done(const hg_event *e) { return hg_atomic_load(&e->done, HG_ACQUIRE) != 0; }

bool hg_event_is_lost(const hg_event *e) { return is_inherited(e) && !hg_event_is_done(e); }

hg_status hg_event_result(const hg_event *e) {
    if (e->status != HG_OK) *hg_error_record() = e->error;
    return e->status;
}

hg_status hg_event_query(hg_event *e, bool *done) {
    HG_ENTRY;
    if (!e) return hg_null_argument("event");
    if (!done) return hg_null_argument("done");
    if (hg_event_is_lost(e)) {
        *done = true;
        return hg_lost("queue of the event");
    }
    if (!hg_event_is_done(e) && e->driven) (void)hg_progress_drive(e->progress);
    *done = hg_event_is_done(e);
    return *done ? hg_event_result(e) : HG_OK;
}

/* ---- waiting ---- */

enum { LOOK_AGAIN_NS = 1000000 };
#define FOREVER UINT64_MAX

/* The first moment that is so far away. */
static uint64_t moment_in(uint64_t ms) {
    uint64_t span, moment;
    return hg_mul_u64(ms, 1000000, &span) && hg_add_u64(hg_clock_ns(), span, &moment) ? moment
                                                                                      : FOREVER;
}

static hg_status not_in_time(void) {
    return hg_fail(HG_ERROR_TIMEOUT, "the event is not done yet");
}

static hg_status sleep_until_done(hg_event *e, uint64_t deadline) {
    bool may = true;
    hg_mutex_lock(&e->lock);
    while (!hg_event_is_done(e) && may) {
        if (deadline == FOREVER)
            hg_cond_wait(&e->finished, &e->lock);
        else
            may = hg_cond_wait_until(&e->finished, &e->lock, deadline);
    }
    hg_mutex_unlock(&e->lock);
    return hg_event_is_done(e) ? hg_event_result(e) : not_in_time();
}

/* Nobody else makes its queue go on. */
static hg_status drive_until_done(hg_event *e, uint64_t deadline) {
    for (;;) {
        hg_progress_state state = hg_progress_drive(e->progress);
        if (hg_event_is_done(e)) return hg_event_result(e);
        uint64_t now = hg_clock_ns();
        if (now >= deadline) return not_in_time();
        if (!hg_progress_can_wait(e->progress, state))
            return hg_fail(HG_ERROR_WOULD_BLOCK, "the event is not done and this host cannot wait");
        if (hg_progress_polls(e->progress)) continue;
        hg_mutex_lock(&e->lock); /* it waits for a queue with a thread, or for another caller */
        uint64_t again = now + LOOK_AGAIN_NS < deadline ? now + LOOK_AGAIN_NS : deadline;
        if (!hg_event_is_done(e)) (void)hg_cond_wait_until(&e->finished, &e->lock, again);
        hg_mutex_unlock(&e->lock);
    }
}

static hg_status wait_until(hg_event *e, uint64_t deadline) {
    if (hg_event_is_lost(e)) return hg_lost("queue of the event");
    if (hg_event_is_done(e)) return hg_event_result(e);
    return e->driven ? drive_until_done(e, deadline) : sleep_until_done(e, deadline);
}

hg_status hg_event_wait(hg_event *e) {
    HG_ENTRY;
    return e ? wait_until(e, FOREVER) : hg_null_argument("event");
}

hg_status hg_event_wait_for(hg_event *e, uint64_t timeout_ms) {
    HG_ENTRY;
    return e ? wait_until(e, moment_in(timeout_ms)) : hg_null_argument("event");
}

hg_progress_state hg_event_drive(hg_event *e) {
    return e->driven ? hg_progress_drive_behind(e->progress) : HG_PROGRESS_LEFT;
}

/* ---- callbacks ---- */

static void call_listener(hg_due *self) {
    done_call *c = (done_call *)self;
    hg_event *e = c->event;
    {
        HG_CALLS_OTHERS;
        c->call(c->user, e->status, e->status == HG_OK ? NULL : &e->error);
    }
    hg_free(c);
    hg_event_release(e);
}

/* False: its backend is gone. */
static bool register_call(hg_event *e, done_call *c) {
    if (is_inherited(e)) return hg_progress_call(e->progress, &c->due, &c->due);
    hg_mutex_lock(&e->lock); /* so that callbacks of an event come in their order */
    bool done = hg_event_is_done(e), open = true;
    if (done) {
        open = hg_progress_call(e->progress, &c->due, &c->due);
    } else {
        *(e->calls ? &e->last_call->next : &e->calls) = &c->due;
        e->last_call = &c->due;
    }
    hg_mutex_unlock(&e->lock);
    return open;
}

hg_status hg_event_on_done(hg_event *e, hg_event_listener *call, void *user) {
    HG_ENTRY;
    if (!e) return hg_null_argument("event");
    if (!call) return hg_null_argument("call");
    if (hg_event_is_lost(e)) return hg_lost("queue of the event");
    done_call *c = hg_calloc(1, sizeof *c);
    if (!c) return hg_fail_memory();
    *c = (done_call){.due.call = call_listener, .event = e, .call = call, .user = user};
    hg_event_retain(e);
    hg_event_retain(e); /* of this call: the callback may destroy the event before it returns */
    bool open = register_call(e, c);
    if (!open) {
        hg_free(c);
        hg_event_release(e);
    }
    hg_event_release(e);
    if (open) return HG_OK;
    return hg_fail(HG_ERROR_INVALID_ARGUMENT, "the backend of the event is destroyed");
}

void hg_event_destroy(hg_event *e) {
    HG_ENTRY;
    hg_event_release(e);
}

/* ---- cancelling ---- */

const volatile int *hg_event_cancel_word(const hg_event *e) { return e ? &e->cancelled : NULL; }

void hg_event_cancel(hg_event *e) {
    HG_ENTRY;
    if (!e || is_inherited(e)) return;
    hg_mutex_lock(&e->lock); /* while it is not done the backend stays */
    hg_atomic_store(&e->cancelled, 1, HG_SEQ_CST);
    if (!hg_event_is_done(e)) {
        hg_monitor_wake(&e->backend->monitor);
        if (e->backend->dispatch_device.driver)
            hg_watchdog_wake(&e->backend->dispatch_device.watchdog);
    }
    hg_mutex_unlock(&e->lock);
}
