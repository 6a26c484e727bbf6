/* Events of the public interface: a point in a queue's work, with the error of that work.
 * Must not know: drivers, what the work is. */
#include "runtime/queue_internal.h"

struct hg_event {
    hg_mutex lock;
    hg_cond finished;
    int done; /* atomic; the fields below are set before */
    hg_status status;
    hg_error error;
    uint32_t references;    /* atomic: creator, submission, submissions that wait */
    bool (*progress)(void); /* NULL: its queue has a thread */
    const hg_driver *driver;
    hg_device *device; /* there until the event is done */
};

hg_event *hg_event_create(hg_backend *b, bool (*progress)(void)) {
    hg_event *e = hg_calloc(1, sizeof *e);
    if (!e) return NULL;
    hg_mutex_init(&e->lock);
    hg_cond_init(&e->finished);
    e->references = 1;
    e->progress = progress;
    e->driver = b->driver;
    e->device = b->device;
    return e;
}

void hg_event_retain(hg_event *e) { hg_atomic_fetch_add(&e->references, 1, HG_RELAXED); }

void hg_event_release(hg_event *e) {
    if (!e || hg_atomic_sub_fetch(&e->references, 1, HG_ACQ_REL) != 0) return;
    hg_mutex_destroy(&e->lock);
    hg_cond_destroy(&e->finished);
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

bool hg_event_is_done(const hg_event *e) { return hg_atomic_load(&e->done, HG_ACQUIRE) != 0; }

hg_status hg_event_result(const hg_event *e) {
    if (e->status != HG_OK) *hg_error_record() = e->error;
    return e->status;
}

hg_status hg_event_query(hg_event *e, bool *done) {
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
        if (may && e->driver->device_poll) {
            e->driver->device_poll(e->device);
        } else if (may && e->driver->event_wait && HG_HAS_THREADS) { /* it waits for a queue with a thread, or for another caller */
            hg_mutex_lock(&e->lock);
            if (!hg_event_is_done(e)) (void)hg_cond_wait_until(&e->finished, &e->lock, hg_clock_ns() + LOOK_AGAIN_NS);
            hg_mutex_unlock(&e->lock);
        } else {
            return hg_fail(HG_ERROR_WOULD_BLOCK, "the event is not done and this host cannot wait");
        }
    }
}

hg_status hg_event_wait(hg_event *e) {
    if (e->progress && !hg_event_is_done(e)) HG_TRY(poll_until_done(e));
    hg_mutex_lock(&e->lock);
    while (!hg_event_is_done(e)) hg_cond_wait(&e->finished, &e->lock);
    hg_mutex_unlock(&e->lock);
    return hg_event_result(e);
}

void hg_event_destroy(hg_event *e) { hg_event_release(e); }
