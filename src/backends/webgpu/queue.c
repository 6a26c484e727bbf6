/* Queues and events. WebGPU has one queue, which runs what it gets in order: a queue of ours is a
 * place in that order, and an event a number of it.
 * Must not know: what the commands do. */
#include "backends/webgpu/webgpu_internal.h"

/* ---- submissions ---- */

static hg_status check_waits(hg_driver_event *const *waits, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (waits[i]->status != HG_OK)
            return hg_fail(waits[i]->status, "webgpu: work that this one waits for has failed");
    return HG_OK;
}

static hg_status submit(wg_recorder *r, const hg_driver_command *commands, uint32_t count) {
    hg_device *d = r->device;
    HG_TRY(wg_check_lost(d));
    for (uint32_t i = 0; i < count; i++) {
        uint64_t open = r->piece ? r->piece->bytes : 0;
        if (WG_WAITS && d->work.bytes_underway + open > WG_MOST_UNDERWAY) {
            HG_TRY(wg_flush(r));
            HG_TRY(wg_drain(d));
        }
        HG_TRY(wg_record(r, &commands[i]));
    }
    return wg_flush(r);
}

hg_status wg_queue_submit(hg_driver_queue *q, const hg_driver_command *commands, uint32_t count,
                          hg_driver_event *const *waits, uint32_t wait_count,
                          hg_driver_event *signal) {
    hg_device *d = q->device;
    wg_recorder r = {.device = d, .queue = q};
    HG_TRY(check_waits(waits, wait_count));
    HG_CALLS_OTHERS;
    hg_mutex_lock(&wg_lock);
    uint32_t errors = hg_atomic_load(&d->errors, HG_ACQUIRE);
    uint64_t before = d->work.submitted;
    hg_status status = submit(&r, commands, count);
    if (r.number) q->last = r.number;
    if (status != HG_OK) { /* nothing may go on in memory that the caller takes back */
        hg_error kept = *hg_error_record();
        wg_drop(&r);
        if (!WG_WAITS)
            wg_abandon(d, q, before);
        else
            (void)!wg_drain(d);
        *hg_error_record() = kept;
    }
    if (signal) {
        uint64_t number = q->last;
        for (uint32_t i = 0; i < wait_count; i++)
            if (waits[i]->number > number) number = waits[i]->number;
        *signal = (hg_driver_event){.device = d,
                                    .number = status == HG_OK ? number : 0,
                                    .before = before,
                                    .errors = errors,
                                    .submitted = true,
                                    .status = status};
        if (!WG_WAITS && hg_atomic_load(&d->work.done, HG_ACQUIRE) >= before)
            signal->began_ns = hg_clock_ns();
    }
    hg_mutex_unlock(&wg_lock);
    return status;
}

/* ---- queues ---- */

hg_status wg_queue_create(hg_device *d, hg_driver_queue **queue) {
    *queue = hg_calloc(1, sizeof **queue);
    if (!*queue) return hg_fail_memory();
    (*queue)->device = d;
    return HG_OK;
}

void wg_queue_destroy(hg_driver_queue *q) {
    if (!q) return;
    hg_error kept = *hg_error_record();
    HG_CALLS_OTHERS;
    hg_mutex_lock(&wg_lock);
    if (!WG_WAITS)
        wg_abandon(q->device, q, 0);
    else
        (void)!wg_drain_to(q->device, q->last); /* of a lost device nothing runs either */
    hg_mutex_unlock(&wg_lock);
    hg_free(q);
    *hg_error_record() = kept;
}

void *wg_queue_native(hg_driver_queue *q) { return q->device->queue; }

/* ---- events ---- */

hg_status wg_event_create(hg_device *d, hg_driver_event **event) {
    *event = hg_calloc(1, sizeof **event);
    if (!*event) return hg_fail_memory();
    (*event)->device = d;
    return HG_OK;
}

void wg_event_destroy(hg_driver_event *e) { hg_free(e); }

static bool is_over(const hg_driver_event *e) {
    return hg_atomic_load(&e->device->work.done, HG_ACQUIRE) >= e->number;
}

hg_status wg_event_query(hg_driver_event *e, bool *done) {
    hg_device *d = e->device;
    *done = e->submitted;
    if (!e->submitted || e->status != HG_OK || e->number == 0) return e->status;
    if (!is_over(e)) wg_poll(d);
    *done = is_over(e);
    if (!*done) {
        hg_status status = wg_check_lost(d);
        *done = status != HG_OK;
        return status;
    }
    if (hg_atomic_load(&d->errors, HG_ACQUIRE) != e->errors) {
        HG_TRY(wg_check_lost(d));
        bool full = hg_atomic_load(&d->full, HG_ACQUIRE);
        e->status = full ? HG_ERROR_ALLOCATION_FAILED : HG_ERROR_EXECUTION_FAILED;
        return wg_fail_said(d, e->status, full ? "memory was refused" : "work was refused");
    }
    return HG_OK;
}

uint64_t wg_event_began(hg_driver_event *e) {
    const hg_device *d = e->device;
    if (!e->began_ns && hg_atomic_load(&d->work.done, HG_ACQUIRE) >= e->before)
        e->began_ns = d->work.done_ns;
    return e->began_ns;
}

hg_status wg_event_wait(hg_driver_event *e) {
    bool done = false;
    for (uint32_t i = 0; e->submitted; i++) {
        HG_TRY(wg_event_query(e, &done));
        if (done) break;
        wg_rest(i);
    }
    return e->status;
}
