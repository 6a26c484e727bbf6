/* Streams: a driver's queue with its fault records, handle table and event.
 * Must not know: programs, plans. */
#include "runtime/execute_internal.h"

hg_status hg_stream_create(hg_context *context, hg_stream **stream) {
    hg_backend *b = context->backend;
    hg_stream *s = hg_calloc(1, sizeof *s);
    if (!s) return hg_fail_memory();
    s->context = context;
    s->dispatch.device = &b->dispatch_device;
    hg_status status = b->driver->queue_create(b->device, &s->queue);
    if (status != HG_OK) {
        hg_free(s);
        return status;
    }
    *stream = s;
    return HG_OK;
}

void hg_stream_destroy(hg_stream *s) {
    if (!s) return;
    hg_backend *b = s->context->backend;
    if (s->queue) b->driver->queue_destroy(s->queue);
    if (s->event) b->driver->event_destroy(s->event);
    hg_dispatch_queue_close(&s->dispatch);
    hg_piece_free(&b->memory, &s->step_memory);
    hg_free(s);
}

void hg_stream_drain(hg_stream *s) {
    hg_backend *b = s->context->backend;
    hg_error kept = *hg_error_record();
    if (s->queue) b->driver->queue_destroy(s->queue); /* it waits */
    s->queue = NULL;
    HG_IGNORE(b->driver->queue_create(b->device, &s->queue)); /* whoever uses the stream next tries
                                                                 again */
    *hg_error_record() = kept;
}

hg_status hg_stream_make_whole(hg_stream *s) {
    const hg_backend *b = s->context->backend;
    return s->queue ? HG_OK : b->driver->queue_create(b->device, &s->queue);
}

hg_status hg_stream_wait(hg_stream *s) {
    const hg_backend *b = s->context->backend;
    hg_status status = hg_driver_wait(b->driver, b->device, s->event);
    if (status != HG_OK) hg_stream_drain(s); /* nobody knows whether it is over */
    return status;
}

hg_status hg_stream_run_and_wait(hg_stream *s, const hg_driver_command *commands, uint32_t count) {
    const hg_backend *b = s->context->backend;
    if (!hg_driver_can_wait(b->driver)) return hg_driver_would_block(b->driver, "a copy");
    if (!s->event) HG_TRY(b->driver->event_create(b->device, &s->event));
    HG_TRY(b->driver->queue_submit(s->queue, commands, count, NULL, 0, s->event));
    return hg_stream_wait(s);
}

/* ---- tickets ---- */

enum { LOOK_AGAIN_NS = 1000000 };

/* Until something may have changed, which what runs on queues without a thread does only by being
 * driven. Under the monitor's lock. False: nothing will. */
static bool sleep_or_drive(hg_backend *b) {
    hg_monitor *m = &b->monitor;
    if (!hg_progress_has_driven(b->progress)) {
        hg_cond_wait(&m->changed, &m->lock);
        return HG_HAS_THREADS;
    }
    hg_mutex_unlock(&m->lock);
    bool goes_on = hg_progress_drive(b->progress) != HG_PROGRESS_INSIDE;
    if (b->driver->device_poll) b->driver->device_poll(b->device);
    hg_mutex_lock(&m->lock);
    if (!b->driver->device_poll && HG_HAS_THREADS)
        (void)hg_cond_wait_until(&m->changed, &m->lock, hg_clock_ns() + LOOK_AGAIN_NS);
    return goes_on;
}

/* Behind the others. *stream: one that is free, or NULL. */
static hg_status wait_for_ticket(hg_context *c, hg_ticket *ticket, hg_stream **stream) {
    hg_monitor *m = &c->backend->monitor;
    bool goes_on = true;
    hg_mutex_lock(&m->lock);
    hg_order_join(&c->order, ticket);
    while (goes_on && !hg_order_may_begin(ticket)) goes_on = sleep_or_drive(c->backend);
    *stream = c->spare;
    if (*stream) c->spare = c->spare->next;
    hg_mutex_unlock(&m->lock);
    return goes_on ? HG_OK
                   : hg_driver_would_block(c->backend->driver,
                                           "a call that must come after other work of its context");
}

hg_status hg_context_enter_slowly(hg_context *c, hg_ticket *ticket, hg_stream **stream) {
    hg_status status = HG_OK;
    if (c->lost) return c->backend->fork.lost ? hg_backend_lost(c->backend) : hg_lost("context");
    if (!*stream) {
        uint64_t start = hg_profile_start(c->backend->profile);
        status = wait_for_ticket(c, ticket, stream);
        if (start) hg_span_wait(c->backend, "context", start);
        if (status == HG_OK && !*stream) status = hg_stream_create(c, stream);
    }
    if (status == HG_OK) status = hg_stream_make_whole(*stream);
    if (status == HG_OK) return HG_OK;
    if (*stream)
        hg_context_leave(c, ticket, *stream);
    else
        hg_order_leave(&c->order, ticket, &c->backend->monitor);
    return status;
}

void hg_context_spare(hg_context *c, hg_stream *stream) {
    hg_monitor *m = &c->backend->monitor;
    hg_mutex_lock(&m->lock);
    stream->next = c->spare;
    c->spare = stream;
    hg_mutex_unlock(&m->lock);
}

/* ---- bindings ---- */

hg_status hg_binding_own_slowly(hg_binding *binding, const hg_stream *stream) {
    hg_backend *b = binding->executable->backend;
    bool goes_on = true, owns = false;
    if (hg_binding_is_lost(binding)) return hg_lost("binding");
    hg_mutex_lock(&b->monitor.lock);
    hg_atomic_add_fetch(&b->monitor.sleepers, 1, HG_SEQ_CST);
    while (goes_on && !(owns = hg_binding_try_own(binding, stream))) goes_on = sleep_or_drive(b);
    hg_atomic_sub_fetch(&b->monitor.sleepers, 1, HG_SEQ_CST);
    hg_mutex_unlock(&b->monitor.lock);
    return owns ? HG_OK
                : hg_driver_would_block(b->driver,
                                        "a launch that must come after another one of its binding");
}
