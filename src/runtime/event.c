/* Events of the public interface: a point in a queue's work, with the error of that work.
 * Must not know: drivers, what the work is. */
#include "runtime/queue_internal.h"

struct hg_event {
    hg_mutex lock;
    hg_cond finished;
    int done; /* atomic; the fields below are set before */
    hg_status status;
    hg_error error;
    uint32_t references;      /* atomic: creator, submission, submissions that wait */
    bool (*progress)(void);   /* NULL: its queue has a thread */
    int cancelled;            /* atomic */
    hg_driver_event *offered; /* under the lock; NULL: nothing of the device's stands for it */
    hg_backend *backend;      /* there until the event is done */
    uint32_t process;         /* hg_fork_count of where it was made: elsewhere its lock is not used */
};

hg_event *hg_event_create(hg_backend *b, bool (*progress)(void)) {
    hg_event *e = hg_calloc(1, sizeof *e);
    if (!e) return NULL;
    hg_mutex_init(&e->lock);
    hg_cond_init(&e->finished);
    e->references = 1;
    e->process = hg_fork_count;
    e->progress = progress;
    e->backend = b;
    return e;
}

void hg_event_retain(hg_event *e) { hg_atomic_fetch_add(&e->references, 1, HG_RELAXED); }

void hg_event_release(hg_event *e) {
    if (!e || hg_atomic_sub_fetch(&e->references, 1, HG_ACQ_REL) != 0) return;
    if (e->process == hg_fork_count) { /* else threads of the parent may have or await them */
        hg_mutex_destroy(&e->lock);
        hg_cond_destroy(&e->finished);
    }
    hg_free(e);
}

void hg_event_finish(hg_event *e, hg_status status, const hg_error *error) {
    if (!e) return;
    hg_mutex_lock(&e->lock);
    e->status = status;
    if (status != HG_OK) e->error = *error;
    hg_atomic_store(&e->done, 1, HG_RELEASE);
    hg_cond_broadcast(&e->finished);
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

static bool is_inherited(const hg_event *e) { return e->process != hg_fork_count; }
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
    if (!hg_event_is_done(e) && e->progress) (void)e->progress();
    *done = hg_event_is_done(e);
    return *done ? hg_event_result(e) : HG_OK;
}

enum { LOOK_AGAIN_NS = 1000000 };

/* Nobody else makes a polled queue go on. */
static hg_status poll_until_done(hg_event *e) {
    for (;;) {
        bool may = e->progress();
        if (hg_event_is_done(e)) return HG_OK;
        const hg_driver *driver = e->backend->driver;
        if (may && driver->device_poll) {
            driver->device_poll(e->backend->device);
        } else if (may && driver->event_wait && HG_HAS_THREADS) { /* it waits for a queue with a thread, or for another caller */
            hg_mutex_lock(&e->lock);
            if (!hg_event_is_done(e)) (void)hg_cond_wait_until(&e->finished, &e->lock, hg_clock_ns() + LOOK_AGAIN_NS);
            hg_mutex_unlock(&e->lock);
        } else {
            return hg_fail(HG_ERROR_WOULD_BLOCK, "the event is not done and this host cannot wait");
        }
    }
}

hg_status hg_event_wait(hg_event *e) {
    HG_ENTRY;
    if (!e) return hg_null_argument("event");
    if (is_inherited(e)) return hg_event_is_done(e) ? hg_event_result(e) : hg_lost("queue of the event");
    if (e->progress && !hg_event_is_done(e)) HG_TRY(poll_until_done(e));
    hg_mutex_lock(&e->lock);
    while (!hg_event_is_done(e)) hg_cond_wait(&e->finished, &e->lock);
    hg_mutex_unlock(&e->lock);
    return hg_event_result(e);
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
        if (e->backend->dispatch_device.driver) hg_watchdog_wake(&e->backend->dispatch_device.watchdog);
    }
    hg_mutex_unlock(&e->lock);
}
