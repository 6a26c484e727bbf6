/* What a queue of the public interface does next: its submissions in order, each command when what it must come after is submitted or done.
 * On asynchronous devices the work of several commands is under way together; its ends are seen in order.
 * Must not know: who asks. */
#include "runtime/queue_internal.h"
#include <string.h>

enum { MOST_FLIGHTS = 32 };

/* ---- flights ---- */

hg_flight *hg_flight_create(hg_queue *q, hg_binding *binding) {
    hg_flight *f = hg_calloc(1, sizeof *f);
    if (!f) return NULL;
    f->binding = binding;
    f->turn.stream = q->stream;
    if (binding) f->turn.touches = &binding->touches;
    return f;
}

void hg_flight_join(hg_queue *q, hg_flight *f) {
    hg_monitor *m = &q->backend->monitor;
    hg_mutex_lock(&m->lock);
    hg_order_join(&q->context->order, &f->turn);
    hg_mutex_unlock(&m->lock);
    f->has_turn = true;
}

static bool may_begin(hg_queue *q, hg_flight *f) {
    hg_monitor *m = &q->backend->monitor;
    hg_mutex_lock(&m->lock);
    bool may = hg_order_may_begin(&f->turn);
    hg_mutex_unlock(&m->lock);
    return may;
}

/* A binding whose launches leave nothing on the host may be under way several times on one stream. */
static bool own(hg_queue *q, hg_flight *f) {
    if (f->owns || hg_binding_try_own(f->binding, q->stream)) return f->owns = true;
    if (hg_atomic_load(&f->binding->owner, HG_RELAXED) != q->stream || !f->binding->simple) return false;
    for (const hg_flight *other = q->first_flight; other; other = other->next)
        if (other != f && other->binding == f->binding && other->unsure) return false;
    return f->owns = true;
}

static bool is_owned_by_another(const hg_queue *q, const hg_flight *self) {
    for (const hg_flight *f = q->first_flight; f; f = f->next)
        if (f != self && f->owns && f->binding == self->binding) return true;
    return false;
}

/* Its turn, its buffers, its binding. */
static void release(hg_queue *q, hg_flight *f) {
    if (f->start_ns && f->binding) hg_span_program(f->binding, f->start_ns);
    if (f->start_ns && !f->binding)
        hg_profile_end(q->backend->profile,
                       &(hg_profile_span){.kind = f->kind, .name = "buffer", .start_ns = f->start_ns, .bytes = f->transfer.length});
    if (f->started && f->binding) hg_run_end(&f->run);
    if (f->owns && !is_owned_by_another(q, f)) hg_binding_disown(f->binding);
    if (f->has_turn) hg_order_leave(&q->context->order, &f->turn, &q->backend->monitor);
    if (f->event) q->backend->driver->event_destroy(f->event);
    hg_transfer_release(&f->transfer);
}

static void fail_submission(hg_submission_work *s, hg_status status) {
    if (s->status == HG_OK) {
        s->status = status;
        s->error = *hg_error_record();
    }
    s->next_command = s->count; /* the rest is skipped */
}

/* The oldest flight is over. */
static void land(hg_queue *q, hg_status status) {
    hg_flight *f = q->first_flight;
    if (status != HG_OK) fail_submission(f->of, status);
    q->first_flight = f->next;
    if (!q->first_flight) q->last_flight = NULL;
    q->flights--;
    f->of->flights--;
    f->of->unsure -= f->unsure;
    q->unsure -= f->unsure;
    if (q->first_flight && q->first_flight->started) hg_run_start_clock(&q->first_flight->run); /* the device has come to it */
    release(q, f);
    hg_free(f);
}

static bool transfer_is_over(hg_queue *q, hg_flight *f, hg_status *status) {
    bool done = false;
    *status = q->backend->driver->event_query(f->event, &done);
    if (*status == HG_OK) return done;
    hg_stream_drain(q->stream); /* nobody knows whether it is over */
    return true;
}

/* Flights that are over, in order. */
static void land_all(hg_queue *q) {
    while (q->first_flight && q->first_flight->issued) {
        hg_flight *f = q->first_flight;
        hg_status status = HG_OK;
        if (f->binding) {
            hg_run_state state = hg_run_poll(&f->run);
            if (state == HG_RUN_WAITING) return;
            status = state == HG_RUN_DONE ? HG_OK : f->run.status;
        } else if (!transfer_is_over(q, f, &status)) {
            return;
        }
        land(q, status);
    }
}

/* ---- commands ---- */

/* The flight joins the queue's, after what was begun before. */
static void take_off(hg_queue *q, hg_flight *f, hg_submission_work *s) {
    f->of = s;
    f->next = NULL;
    *(q->last_flight ? &q->last_flight->next : &q->first_flight) = f;
    q->last_flight = f;
    q->flights++;
    s->flights++;
}

static hg_status begin_launch(hg_queue *q, hg_submission_work *s, hg_binding *binding) {
    hg_flight *f = s->prepared;
    s->prepared = NULL;
    if (!f) f = hg_flight_create(q, binding);
    if (!f) return hg_fail_memory();
    f->start_ns = hg_profile_start(q->backend->profile);
    if (!f->has_turn) hg_flight_join(q, f);
    take_off(q, f, s);
    return HG_OK;
}

static hg_profile_kind kind_of(hg_command_kind kind) {
    switch (kind) {
    case HG_COMMAND_COPY_IN: return HG_PROFILE_COPY_IN;
    case HG_COMMAND_COPY_OUT: return HG_PROFILE_COPY_OUT;
    case HG_COMMAND_FILL: return HG_PROFILE_FILL;
    default: return HG_PROFILE_COPY;
    }
}

static hg_transfer transfer_of(const hg_command *c) {
    static const hg_driver_command_kind KINDS[] = {[HG_COMMAND_COPY_IN] = HG_CMD_COPY_IN,
                                                   [HG_COMMAND_COPY_OUT] = HG_CMD_COPY_OUT,
                                                   [HG_COMMAND_COPY] = HG_CMD_COPY,
                                                   [HG_COMMAND_FILL] = HG_CMD_FILL};
    bool out = c->kind == HG_COMMAND_COPY_OUT;
    return (hg_transfer){.kind = KINDS[c->kind],
                         .to = c->buffer.handle,
                         .to_offset = c->offset,
                         .from = out ? c->buffer.handle : c->source.handle,
                         .from_offset = out ? c->offset : c->source_offset,
                         .length = c->length,
                         .host = c->host,
                         .value = c->value};
}

static hg_status begin_transfer(hg_queue *q, hg_submission_work *s, const hg_command *c) {
    hg_transfer t = transfer_of(c);
    hg_flight *f = hg_flight_create(q, NULL);
    if (!f) return hg_fail_memory();
    hg_status status = hg_transfer_prepare(q->context, &t, &f->transfer);
    if (status != HG_OK || !f->transfer.length) {
        hg_transfer_release(&f->transfer);
        hg_free(f);
        return status;
    }
    f->kind = kind_of(c->kind);
    f->start_ns = hg_profile_start(q->backend->profile);
    f->turn.touches = &f->transfer.touches;
    hg_flight_join(q, f);
    take_off(q, f, s);
    return HG_OK;
}

/* Takes the next command of a submission. False: it must wait until what is under way is over. */
static bool take_command(hg_queue *q, hg_submission_work *s) {
    const hg_command *c = &s->commands[s->next_command];
    hg_status status = HG_OK;
    if (s->unsure || (c->kind == HG_COMMAND_HOST_CALL && q->first_flight)) return false; /* after a fault the rest is skipped */
    s->next_command++;
    if (c->kind == HG_COMMAND_HOST_CALL)
        c->call(c->user);
    else if (c->kind != HG_COMMAND_LAUNCH)
        status = begin_transfer(q, s, c);
    else if (c->binding->launch.lanes)
        status = begin_launch(q, s, c->binding);
    if (status != HG_OK) fail_submission(s, status);
    return true;
}

/* ---- the last flight, which is not issued yet ---- */

static hg_queue_state issue_transfer(hg_queue *q, hg_flight *f) {
    const hg_backend *b = q->backend;
    hg_status status = HG_OK;
    if (f->transfer.seen) { /* after everything before it */
        if (f != q->first_flight) return HG_QUEUE_DEVICE;
        if (f->transfer.length) hg_transfer_on_host(&f->transfer);
    } else if (!b->caps->asynchronous) {
        status = b->driver->queue_submit(q->stream->queue, &f->transfer.command, 1, NULL, 0, NULL);
    } else {
        status = b->driver->event_create(b->device, &f->event);
        if (status == HG_OK) status = b->driver->queue_submit(q->stream->queue, &f->transfer.command, 1, NULL, 0, f->event);
        f->issued = status == HG_OK;
        if (f->issued) return HG_QUEUE_IDLE;
        if (f != q->first_flight) { /* it cannot be over before the others */
            fail_submission(f->of, status);
            f->transfer.length = 0;
            f->transfer.seen = &f->transfer;
            return HG_QUEUE_DEVICE;
        }
    }
    land(q, status);
    return HG_QUEUE_IDLE;
}

static hg_queue_state issue_launch(hg_queue *q, hg_flight *f) {
    if (!f->started) {
        bool alone = !f->binding->simple || f->binding->executable->uses_state; /* the host may fold the state when it starts */
        if (alone && f != q->first_flight) return HG_QUEUE_DEVICE;
        if (!own(q, f)) return f == q->first_flight ? HG_QUEUE_TURN : HG_QUEUE_DEVICE;
        f->started = true;
        f->run.behind = f != q->first_flight;
        HG_IGNORE(hg_run_start(&f->run, f->binding, q->stream)); /* a failure is the run's */
    }
    hg_run_state state = hg_run_poll(&f->run);
    if (state == HG_RUN_WAITING && !hg_run_is_issued(&f->run)) return HG_QUEUE_DEVICE;
    if (state == HG_RUN_WAITING && !f->run.ended) { /* other submissions may go on meanwhile */
        if (q->unsure + 2 > HG_FAULT_RECORDS) return HG_QUEUE_DEVICE;
        f->unsure = true;
        f->of->unsure++;
        q->unsure++;
    }
    f->issued = true;
    return HG_QUEUE_IDLE;
}

static hg_queue_state issue(hg_queue *q, hg_flight *f) {
    if (!f->started && !may_begin(q, f)) return f == q->first_flight ? HG_QUEUE_TURN : HG_QUEUE_DEVICE;
    if (!q->stream->queue) { /* lost; what was under way is over */
        if (f != q->first_flight) return HG_QUEUE_DEVICE;
        hg_status status = f->started ? HG_OK : hg_stream_make_whole(q->stream);
        if (status != HG_OK) {
            land(q, status);
            return HG_QUEUE_IDLE;
        }
    }
    return f->binding ? issue_launch(q, f) : issue_transfer(q, f);
}

void hg_queue_wait_for_turn(hg_queue *q) {
    hg_monitor *m = &q->backend->monitor;
    const hg_flight *f = q->last_flight;
    if (!f) return;
    hg_mutex_lock(&m->lock);
    hg_atomic_add_fetch(&m->sleepers, 1, HG_SEQ_CST);
    const hg_stream *owner = f->binding ? hg_atomic_load(&f->binding->owner, HG_SEQ_CST) : NULL;
    if (!hg_order_may_begin(&f->turn) || (owner && owner != q->stream)) hg_cond_wait(&m->changed, &m->lock);
    hg_atomic_sub_fetch(&m->sleepers, 1, HG_SEQ_CST);
    hg_mutex_unlock(&m->lock);
}

/* ---- submissions ---- */

void hg_submission_free(hg_submission_work *s) {
    if (!s) return;
    for (size_t i = 0; s->waits && i < s->wait_count; i++) hg_event_release(s->waits[i]);
    hg_event_release(s->signal);
    hg_free(s->waits);
    hg_free(s->commands);
    hg_free(s);
}

/* Submissions whose commands were all taken and whose flights are over, in order. */
static void finish_all(hg_queue *q) {
    for (;;) {
        hg_mutex_lock(&q->lock);
        hg_submission_work *s = q->first;
        if (!s || !s->begun || s->next_command < s->count || s->flights) {
            hg_mutex_unlock(&q->lock);
            return;
        }
        hg_mutex_unlock(&q->lock);
        if (s->prepared) { /* skipped */
            release(q, s->prepared);
            hg_free(s->prepared);
        }
        hg_event_finish(s->signal, s->status, &s->error); /* before anybody learns that the queue is through with it */
        hg_mutex_lock(&q->lock);
        q->first = s->next;
        if (!q->first) q->last = NULL;
        if (q->now == s) q->now = s->next;
        if (s->status != HG_OK && q->failed == HG_OK) {
            q->failed = s->status;
            q->error = s->error;
        }
        q->running--;
        hg_cond_broadcast(&q->changed);
        hg_mutex_unlock(&q->lock);
        hg_submission_free(s);
    }
}

/* The submission whose commands are taken now; NULL: none. */
static hg_submission_work *current(hg_queue *q) {
    hg_mutex_lock(&q->lock);
    if (!q->now) q->now = q->first;
    while (q->now && q->now->begun && q->now->next_command == q->now->count && q->now->next) q->now = q->now->next;
    hg_submission_work *s = q->now;
    hg_mutex_unlock(&q->lock);
    return s && !(s->begun && s->next_command == s->count) ? s : NULL;
}

/* False: it waits for *event. */
static bool begin_submission(hg_queue *q, hg_submission_work *s, hg_event **event) {
    if (!s->waits_since && s->wait_count) s->waits_since = hg_profile_start(q->backend->profile);
    for (; s->next_wait < s->wait_count; s->next_wait++) {
        *event = s->waits[s->next_wait];
        if (!hg_event_is_done(*event)) return false;
        hg_status status = hg_event_result(*event);
        if (status == HG_OK) continue;
        fail_submission(s, status);
        break;
    }
    if (s->waits_since) hg_span_wait(q->backend, "events", s->waits_since);
    s->begun = true;
    return true;
}

hg_driver_event *hg_queue_device_event(const hg_queue *q) {
    const hg_flight *f = q->first_flight;
    return f->binding ? f->run.event : f->event;
}

hg_queue_state hg_queue_advance(hg_queue *q, hg_event **event) {
    for (;;) {
        land_all(q);
        finish_all(q);
        hg_flight *last = q->last_flight;
        if (last && !last->issued) {
            hg_queue_state state = issue(q, last);
            if (state != HG_QUEUE_IDLE) return state;
            continue;
        }
        if (q->flights >= MOST_FLIGHTS) return HG_QUEUE_DEVICE;
        hg_submission_work *s = current(q);
        if (!s) return q->first_flight ? HG_QUEUE_DEVICE : HG_QUEUE_IDLE;
        if (!s->begun) {
            if (begin_submission(q, s, event)) continue;
            return q->first_flight ? HG_QUEUE_DEVICE : HG_QUEUE_EVENT;
        }
        if (!take_command(q, s)) return HG_QUEUE_DEVICE;
    }
}
