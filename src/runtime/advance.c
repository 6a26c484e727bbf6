/* What a queue of the public interface does next: its submissions in order, each command when what
 * it must come after is submitted or done. On asynchronous devices the work of several commands is
 * under way together; its ends are seen in order.
 * Must not know: who asks. */
#include "kir/fault_text.h"
#include "runtime/queue_internal.h"
#include <string.h>

enum { MOST_FLIGHTS = 32 };

/* ---- flights ---- */

hg_flight *hg_flight_create(hg_queue *q, hg_binding *binding) {
    hg_flight *f = hg_calloc(1, sizeof *f);
    if (!f) return NULL;
    f->binding = binding;
    f->ticket.stream = q->stream;
    if (binding) f->ticket.touches = &binding->touches;
    return f;
}

void hg_flight_join(hg_queue *q, hg_flight *f) {
    hg_monitor *m = &q->backend->monitor;
    hg_mutex_lock(&m->lock);
    hg_order_join(&q->context->order, &f->ticket);
    hg_mutex_unlock(&m->lock);
    f->state = HG_FLIGHT_IN_ORDER;
}

static bool may_begin(hg_queue *q, hg_flight *f) {
    hg_monitor *m = &q->backend->monitor;
    hg_mutex_lock(&m->lock);
    bool may = hg_order_may_begin(&f->ticket);
    hg_mutex_unlock(&m->lock);
    return may;
}

/* A binding whose launches leave nothing on the host may be under way several times on one stream.
 */
static bool own(hg_queue *q, hg_flight *f) {
    if (hg_binding_try_own(f->binding, q->stream)) return true;
    if (hg_atomic_load(&f->binding->owner, HG_RELAXED) != q->stream ||
        f->binding->way.submitted == HG_WAY_PLAN)
        return false;
    for (const hg_flight *other = q->flights.first; other; other = other->next)
        if (other != f && other->binding == f->binding && other->unsure) return false;
    return true;
}

/* The binding is the flight's, and its run is there. */
static bool has_run(const hg_flight *f) { return f->binding && f->state >= HG_FLIGHT_STARTED; }

static bool is_owned_by_another(const hg_queue *q, const hg_flight *self) {
    for (const hg_flight *f = q->flights.first; f; f = f->next)
        if (f != self && has_run(f) && f->binding == self->binding) return true;
    return false;
}

/* Its ticket, its buffers, its binding. */
static void release(hg_queue *q, hg_flight *f) {
    if (f->start_ns && f->binding) hg_span_program(f->binding, f->start_ns);
    if (f->start_ns && !f->binding)
        hg_profile_end(q->backend->profile, &(hg_profile_span){.kind = f->kind,
                                                               .name = "buffer",
                                                               .start_ns = f->start_ns,
                                                               .bytes = f->transfer.length});
    if (has_run(f)) hg_run_end(&f->run);
    if (has_run(f) && !is_owned_by_another(q, f)) hg_binding_disown(f->binding);
    if (f->state >= HG_FLIGHT_IN_ORDER)
        hg_order_leave(&q->context->order, &f->ticket, &q->backend->monitor);
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

static bool is_cancelled(const hg_submission_work *s) {
    const volatile int *word = hg_event_cancel_word(s->signal);
    return word && hg_atomic_load(word, HG_SEQ_CST);
}

static hg_status cancelled(void) { return kir_fail_launch(KIR_FAULT_CANCELLED, "cancelled"); }

/* The oldest flight is over. */
static void finish_first(hg_queue *q, hg_status status) {
    hg_flight *f = q->flights.first;
    if (status != HG_OK) fail_submission(f->of, status);
    q->flights.first = f->next;
    if (!q->flights.first) q->flights.last = NULL;
    q->flights.count--;
    f->of->flights--;
    f->of->unsure -= f->unsure;
    if (f->offered) hg_event_offer(f->of->signal, NULL);
    q->flights.unsure -= f->unsure;
    if (q->flights.first && has_run(q->flights.first))
        hg_run_start_clock(&q->flights.first->run); /* the device has come to it */
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
    while (q->flights.first && q->flights.first->state == HG_FLIGHT_ISSUED) {
        hg_flight *f = q->flights.first;
        hg_status status = HG_OK;
        if (f->binding) {
            hg_run_state state = hg_run_poll(&f->run);
            if (state == HG_RUN_WAITING) return;
            status = state == HG_RUN_DONE ? HG_OK : f->run.status;
        } else if (!transfer_is_over(q, f, &status)) {
            return;
        }
        finish_first(q, status);
    }
}

/* ---- commands ---- */

/* The flight joins the queue's, after what was begun before. */
static void append_flight(hg_queue *q, hg_flight *f, hg_submission_work *s) {
    f->of = s;
    f->next = NULL;
    *(q->flights.last ? &q->flights.last->next : &q->flights.first) = f;
    q->flights.last = f;
    q->flights.count++;
    s->flights++;
}

static hg_status begin_launch(hg_queue *q, hg_submission_work *s, hg_binding *binding) {
    hg_flight *f = s->joined;
    s->joined = NULL;
    if (!f) f = hg_flight_create(q, binding);
    if (!f) return hg_fail_memory();
    f->start_ns = hg_profile_start(q->backend->profile);
    if (f->state == HG_FLIGHT_NEW) hg_flight_join(q, f);
    append_flight(q, f, s);
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
    f->ticket.touches = &f->transfer.touches;
    hg_flight_join(q, f);
    append_flight(q, f, s);
    return HG_OK;
}

/* The host's function. */
static void call_host(const hg_command *c) {
    HG_CALLS_OTHERS;
    c->call(c->user);
}

/* Takes the next command of a submission. False: it must wait until what is under way is over. */
static bool take_command(hg_queue *q, hg_submission_work *s) {
    const hg_command *c = &s->commands[s->next_command];
    hg_status status = HG_OK;
    if (s->unsure || (c->kind == HG_COMMAND_HOST_CALL && q->flights.first))
        return false; /* after a fault the rest is skipped */
    s->next_command++;
    if (is_cancelled(s))
        status = cancelled();
    else if (c->kind == HG_COMMAND_HOST_CALL)
        call_host(c);
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
        if (f != q->flights.first) return HG_QUEUE_DEVICE;
        if (f->transfer.length) hg_transfer_on_host(&f->transfer);
    } else if (!b->caps->scheduling.asynchronous) {
        status = b->driver->queue_submit(q->stream->queue, &f->transfer.command, 1, NULL, 0, NULL);
    } else {
        status = b->driver->event_create(b->device, &f->event);
        if (status == HG_OK)
            status = b->driver->queue_submit(q->stream->queue, &f->transfer.command, 1, NULL, 0,
                                             f->event);
        if (status == HG_OK) {
            f->state = HG_FLIGHT_ISSUED;
            return HG_QUEUE_IDLE;
        }
        if (f != q->flights.first) { /* it cannot be over before the others */
            fail_submission(f->of, status);
            f->transfer.length = 0;
            f->transfer.seen = &f->transfer;
            return HG_QUEUE_DEVICE;
        }
    }
    finish_first(q, status);
    return HG_QUEUE_IDLE;
}

static hg_queue_state issue_launch(hg_queue *q, hg_flight *f) {
    if (f->state < HG_FLIGHT_STARTED) {
        bool alone = f->binding->way.submitted == HG_WAY_PLAN ||
                     f->binding->executable->uses_state; /* the host may fold the state when it
                                                            starts */
        if (alone && f != q->flights.first) return HG_QUEUE_DEVICE;
        if (!own(q, f)) return f == q->flights.first ? HG_QUEUE_TURN : HG_QUEUE_DEVICE;
        f->state = HG_FLIGHT_STARTED;
        f->run.time.cancel = hg_event_cancel_word(f->of->signal);
        f->run.time.behind = f != q->flights.first;
        HG_IGNORE(hg_run_start(&f->run, f->binding, q->stream)); /* a failure is the run's */
    }
    hg_run_state state = hg_run_poll(&f->run);
    if (state == HG_RUN_WAITING && !hg_run_is_issued(&f->run)) return HG_QUEUE_DEVICE;
    if (state == HG_RUN_WAITING && f->run.phase == HG_PHASE_GOING) { /* other submissions may go on
                                                                        meanwhile */
        if (q->flights.unsure + 2 > HG_FAULT_RECORDS) return HG_QUEUE_DEVICE;
        f->unsure = true;
        f->of->unsure++;
        q->flights.unsure++;
    }
    f->state = HG_FLIGHT_ISSUED;
    return HG_QUEUE_IDLE;
}

/* The end of a submission whose work is all on the device stands for its event. */
static void offer(const hg_queue *q, hg_flight *f) {
    const hg_submission_work *s = f->of;
    bool last = f->state == HG_FLIGHT_ISSUED && s->next_command == s->count && s->status == HG_OK &&
                !s->unsure;
    hg_driver_event *event = f->binding ? (hg_run_awaits_event(&f->run) ? f->run.event : NULL)
                                        : f->event;
    if (!last || !event || !s->signal || !q->backend->caps->scheduling.asynchronous) return;
    hg_event_offer(s->signal, event);
    f->offered = true;
}

static hg_queue_state issue(hg_queue *q, hg_flight *f) {
    bool first = f == q->flights.first, started = f->state >= HG_FLIGHT_STARTED;
    if (!started && is_cancelled(f->of)) {
        if (first) finish_first(q, cancelled());
        return first ? HG_QUEUE_IDLE : HG_QUEUE_DEVICE;
    }
    if (!started && !may_begin(q, f)) return first ? HG_QUEUE_TURN : HG_QUEUE_DEVICE;
    if (!q->stream->queue) { /* lost; what was under way is over */
        if (!first) return HG_QUEUE_DEVICE;
        hg_status status = started ? HG_OK : hg_stream_make_whole(q->stream);
        if (status != HG_OK) {
            finish_first(q, status);
            return HG_QUEUE_IDLE;
        }
    }
    return f->binding ? issue_launch(q, f) : issue_transfer(q, f);
}

void hg_queue_wait_for_turn(hg_queue *q) {
    hg_monitor *m = &q->backend->monitor;
    const hg_flight *f = q->flights.last;
    if (!f) return;
    hg_mutex_lock(&m->lock);
    hg_atomic_add_fetch(&m->sleepers, 1, HG_SEQ_CST);
    const hg_stream *owner = f->binding ? hg_atomic_load(&f->binding->owner, HG_SEQ_CST) : NULL;
    bool stands = !hg_order_may_begin(&f->ticket) || (owner && owner != q->stream);
    if (stands && !is_cancelled(f->of)) hg_cond_wait(&m->changed, &m->lock);
    hg_atomic_sub_fetch(&m->sleepers, 1, HG_SEQ_CST);
    hg_mutex_unlock(&m->lock);
}

/* ---- submissions ---- */

void hg_submission_keep(hg_submission_work *s) {
    for (size_t i = 0; i < s->count; i++)
        if (s->commands[i].kind == HG_COMMAND_LAUNCH) hg_binding_retain(s->commands[i].binding);
    s->keeps = true;
}

void hg_submission_let_go(hg_submission_work *s) {
    for (size_t i = 0; i < s->count && s->keeps; i++)
        if (s->commands[i].kind == HG_COMMAND_LAUNCH) hg_binding_destroy(s->commands[i].binding);
    s->keeps = false;
}

void hg_submission_free(hg_submission_work *s) {
    if (!s) return;
    hg_submission_let_go(s);
    for (size_t i = 0; s->waits && i < s->wait_count; i++) hg_event_release(s->waits[i]);
    hg_event_release(s->signal);
    hg_free(s->waits);
    hg_free(s->commands);
    hg_free(s);
}

/* Whether all events that the device waits for are known to be done; else *event is one that is
 * not. A failure of one is the submission's. */
static bool has_followed(hg_submission_work *s, hg_event **event) {
    for (size_t i = 0; i < s->wait_count && s->followed; i++) {
        *event = s->waits[i];
        if (!hg_event_is_done(*event)) return false;
        hg_status status = hg_event_result(*event);
        if (status != HG_OK) fail_submission(s, status);
    }
    s->followed = false;
    return true;
}

/* Whether the host itself does something for the next command. */
static bool is_for_host(const hg_queue *q, const hg_submission_work *s) {
    hg_command_kind kind = s->commands[s->next_command].kind;
    bool copies = kind == HG_COMMAND_COPY_IN || kind == HG_COMMAND_COPY_OUT;
    return kind == HG_COMMAND_HOST_CALL || (copies && q->backend->caps->memory.host_memory);
}

/* Submissions whose commands were all taken and whose flights are over, in order. *late: an event
 * that the first of them comes after and that is not known to be done; NULL: none. */
static void finish_all(hg_queue *q, hg_event **late) {
    for (;;) {
        *late = NULL;
        hg_mutex_lock(&q->lock);
        hg_submission_work *s = q->first;
        bool over = s && s->begun && s->next_command == s->count && !s->flights;
        if (!over || !has_followed(s, late)) {
            hg_mutex_unlock(&q->lock);
            return;
        }
        *late = NULL;
        hg_mutex_unlock(&q->lock);
        if (s->joined) { /* skipped */
            release(q, s->joined);
            hg_free(s->joined);
        }
        hg_submission_let_go(s);
        hg_event_finish(s->signal, s->status, &s->error); /* before anybody learns that the queue is
                                                             through with it */
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
    while (q->now && q->now->begun && q->now->next_command == q->now->count && q->now->next)
        q->now = q->now->next;
    hg_submission_work *s = q->now;
    hg_mutex_unlock(&q->lock);
    return s && !(s->begun && s->next_command == s->count) ? s : NULL;
}

/* False: it waits for *event. */
static bool begin_submission(hg_queue *q, hg_submission_work *s, hg_event **event) {
    if (!s->waits_since && s->wait_count) s->waits_since = hg_profile_start(q->backend->profile);
    for (; s->next_wait < s->wait_count; s->next_wait++) {
        *event = s->waits[s->next_wait];
        if (!hg_event_is_done(*event)) {
            if (!q->backend->caps->scheduling.asynchronous ||
                !hg_event_follow(*event, q->backend, q->stream->queue))
                return false;
            s->followed = true;
            continue;
        }
        hg_status status = hg_event_result(*event);
        if (status == HG_OK) continue;
        fail_submission(s, status);
        break;
    }
    if (s->waits_since) hg_span_wait(q->backend, "events", s->waits_since);
    s->begun = true;
    return true;
}

bool hg_queue_awaits_ranks(const hg_queue *q) {
    const hg_flight *f = q->flights.first;
    return has_run(f) && hg_run_awaits_ranks(&f->run);
}

void hg_queue_wait_for_device(hg_queue *q) {
    const hg_backend *b = q->backend;
    hg_flight *f = q->flights.first;
    if (f->binding)
        hg_run_wait(&f->run);
    else
        HG_IGNORE(hg_driver_wait(b->driver, b->device, f->event)); /* the next look sees it */
}

static hg_queue_state go_on(hg_queue *q, hg_event **event, hg_event **late) {
    for (;;) {
        land_all(q);
        finish_all(q, late);
        hg_flight *last = q->flights.last;
        if (last && last->state != HG_FLIGHT_ISSUED) {
            hg_queue_state state = issue(q, last);
            if (state != HG_QUEUE_IDLE) return state;
            if (q->flights.last == last) offer(q, last);
            continue;
        }
        if (q->flights.count >= MOST_FLIGHTS) return HG_QUEUE_DEVICE;
        hg_submission_work *s = current(q);
        if (!s) {
            *event = *late;
            return q->flights.first ? HG_QUEUE_DEVICE : *late ? HG_QUEUE_EVENT : HG_QUEUE_IDLE;
        }
        if (!s->begun) {
            if (begin_submission(q, s, event)) continue;
            return q->flights.first ? HG_QUEUE_DEVICE : HG_QUEUE_EVENT;
        }
        if (s->followed && is_for_host(q, s)) {
            if (has_followed(s, event)) continue;
            return q->flights.first ? HG_QUEUE_DEVICE : HG_QUEUE_EVENT;
        }
        if (!take_command(q, s)) return HG_QUEUE_DEVICE;
    }
}

/* A submission that only waits to know that those before it are done is waited for first: what
 * others wait for may be its event. */
hg_queue_state hg_queue_advance(hg_queue *q, hg_event **event) {
    hg_event *late = NULL;
    hg_queue_state state = go_on(q, event, &late);
    if (!late || (state != HG_QUEUE_EVENT && state != HG_QUEUE_TURN)) return state;
    *event = late;
    return HG_QUEUE_EVENT;
}
