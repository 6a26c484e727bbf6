/* Who carries out a communicator's calls: the thread that waits for one, or else a thread of the
 * communicator's own. One drives at a time: it posts the transfers of each call's round, polls
 * them, and goes on to the next round when all are done.
 * Must not know: what a round is for. */
#include "comm/comm.h"
#include <string.h>

enum {
    SPINS = 40,            /* rounds of polls, some 2 µs, before others get the processor: */
    YIELDS = 200,          /* these, before the thread sleeps */
    LONG_YIELD_NS = 50000, /* somebody calculates: what is one of those costs a slice of time */
    LOOKS_A_CLOCK = 1024,  /* looks at calls after which the clock is asked where others go on */
    LONGEST_SLEEP_NS = 10000000,
    EVENT_SLEEP_NS = 200000 /* while a call waits for an event of others */
};

/* ---- calls ---- */

void comm_op_free(comm_op *op) {
    for (size_t i = 0; i < op->wait_count; i++) hg_event_release(op->waits[i]);
    hg_free(op->waits);
    hg_free(op->among.owned);
    hg_free(op);
}

/* ---- transfers ---- */

/* What of it is one message: all, or the next piece of one that is cut. */
static comm_transfer piece_of(const comm_transfer *t) {
    comm_transfer piece = *t;
    uint64_t left = t->bytes - t->moved;
    piece.memory = (uint8_t *)t->memory + t->moved;
    piece.bytes = left < comm_limit.message ? left : comm_limit.message;
    return piece;
}

typedef hg_status provider_call(comm_group *group, comm_transfer *transfer);

static hg_status call_provider(hg_comm *c, provider_call *call, comm_transfer *t) {
    if (t->bytes <= comm_limit.message) return call(c->group, t);
    comm_transfer piece = piece_of(t);
    hg_status status = call(c->group, &piece);
    t->posted = piece.posted;
    memcpy(t->own, piece.own, sizeof t->own);
    if (!piece.done) return status;
    t->moved += piece.bytes;
    t->posted = false;
    t->done = t->moved == t->bytes;
    return status;
}

/* Messages between two ranks come in their order: those before it are posted to their last piece.
 */
static bool may_post(const comm_round *r, uint32_t i) {
    const comm_transfer *t = &r->transfers[i];
    for (uint32_t j = 0; j < i; j++) {
        const comm_transfer *o = &r->transfers[j];
        bool same = o->peer == t->peer && o->receives == t->receives && o->channel == t->channel,
             last = o->posted && o->bytes - o->moved <= comm_limit.message;
        if (same && !o->done && !last) return false;
    }
    return true;
}

/* Posts what is not, polls what is: how many are not done; all of them, and of those that receive.
 */
static hg_status step_transfers(comm_op *op, uint32_t *open, uint32_t *receiving) {
    hg_comm *c = op->comm;
    comm_round *r = &op->round;
    *open = *receiving = 0;
    for (uint32_t i = 0; i < r->count; i++) {
        comm_transfer *t = &r->transfers[i];
        if (!t->done && !t->posted && may_post(r, i))
            HG_TRY(call_provider(c, c->provider->post, t));
    }
    if (op->device.all) HG_TRY(c->provider->launch(c->group));
    for (uint32_t i = 0; i < r->count; i++) {
        comm_transfer *t = &r->transfers[i];
        if (t->posted && !t->done) HG_TRY(call_provider(c, c->provider->poll, t));
        *open += !t->done;
        *receiving += !t->done && i < r->receives;
    }
    return HG_OK;
}

static void withdraw_all(comm_op *op) {
    for (uint32_t i = 0; i < op->round.count; i++) {
        comm_transfer *t = &op->round.transfers[i];
        if (t->borrowed || (t->posted && !t->done))
            op->comm->provider->withdraw(op->comm->group, t);
    }
    op->round.count = 0;
}

/* ---- the end of calls ---- */

void comm_break(hg_comm *c, hg_status status) {
    if (c->broken.status != HG_OK) return;
    c->broken.status = status;
    c->broken.error = *hg_error_record();
    c->provider->revoke(c->group, c->broken.error.message);
}

static void finish(comm_op *op, hg_status status) {
    hg_comm *c = op->comm;
    hg_event *event = op->event;
    op->stage = COMM_OVER;
    if (status == HG_OK) status = comm_write_back(op);
    op->status = status;
    if (status != HG_OK) op->error = *hg_error_record();
    comm_free_arrays(op);
    if (event) {
        hg_event_finish(event, op->status, &op->error);
        hg_event_release(event);
        comm_op_free(op);
        return;
    }
    hg_mutex_lock(&c->lock);
    op->finished = true; /* who waits for it may return now */
    hg_cond_broadcast(&c->changed);
    hg_mutex_unlock(&c->lock);
}

/* Something went wrong between ranks: nobody knows what the others have of this call. */
static void fail(comm_op *op, hg_status status) {
    hg_error error = *hg_error_record();
    comm_break(op->comm, status); /* first: who has a message of this call in hand lets it go */
    withdraw_all(op);
    *hg_error_record() = error;
}

static hg_status out_of_time(const comm_op *op) {
    char text[COMM_CALL_TEXT];
    comm_call_text(&op->own, text, sizeof text);
    uint32_t i = 0;
    while (i < op->round.count && op->round.transfers[i].done) i++;
    return hg_fail(HG_ERROR_TIMEOUT, "%s: nothing from rank %u in %llu ms", text,
                   (unsigned)(i < op->round.count ? op->round.transfers[i].peer : op->own.peer),
                   (unsigned long long)op->time.timeout_ms);
}

static hg_status cancelled(const comm_op *op) {
    char text[COMM_CALL_TEXT];
    comm_call_text(&op->own, text, sizeof text);
    return hg_fail(HG_ERROR_EXECUTION_FAILED, "%s: cancelled", text);
}

static bool is_cancelled(const comm_op *op) {
    const volatile int *word = op->time.limit ? op->time.limit->cancel
                                              : hg_event_cancel_word(op->event);
    return word && hg_atomic_load(word, HG_RELAXED);
}

/* ---- rounds ---- */

/* Whether all events are done that the call waits for. */
static bool may_begin(const comm_op *op) {
    for (size_t i = 0; i < op->wait_count; i++)
        if (!hg_event_is_lost(op->waits[i]) && !hg_event_is_done(op->waits[i])) return false;
    return true;
}

static hg_status results_of_waits(const comm_op *op) {
    for (size_t i = 0; i < op->wait_count; i++) {
        if (hg_event_is_lost(op->waits[i])) return comm_lost("an event that the call waits for");
        HG_TRY(hg_event_result(op->waits[i]));
    }
    return HG_OK;
}

/* The other ranks learn of it by the first message. */
static void begin(comm_op *op) {
    op->time.deadline_ns = hg_clock_ns() + op->time.timeout_ms * 1000000;
    if (op->time.limit && op->time.limit->deadline_ns &&
        op->time.limit->deadline_ns < op->time.deadline_ns) {
        op->time.deadline_ns = op->time.limit->deadline_ns;
        op->time.timeout_ms = op->time.limit->timeout_ms;
    }
    op->round.transfers = comm_is_collective(op->call.kind) ? op->comm->memory.transfers
                                                            : op->round.few;
    hg_status status = results_of_waits(op);
    op->device.own = status == HG_OK && comm_device_find(op);
    op->own.device = op->device.own;
    if (op->device.own) return;
    if (status == HG_OK) status = comm_find_arrays(op);
    if (status == HG_OK) return;
    op->own.failed = 1;
    op->status = status;
    op->error = *hg_error_record();
}

typedef enum comm_progress { STANDS, MOVED, ENDED } comm_progress;

static comm_progress end(comm_op *op, hg_status status, bool common) {
    if (op->own.failed) { /* what it was here, not that it was */
        status = op->status;
        *hg_error_record() = op->error;
    } else if (status != HG_OK) {
        hg_atomic_fetch_add(&op->comm->counts.told, 1, HG_RELAXED);
    }
    if (status != HG_OK && !common) fail(op, status);
    finish(op, status);
    return ENDED;
}

/* As far as the call goes without waiting. `op` is gone when it has ended. */
static comm_progress advance(comm_op *op) {
    hg_comm *c = op->comm;
    comm_progress progress = STANDS;
    hg_status status = HG_OK;
    if (c->broken.status != HG_OK) {
        withdraw_all(op);
        *hg_error_record() = c->broken.error;
        return end(op, c->broken.status, true);
    }
    if (op->stage == COMM_NEW) {
        if (is_cancelled(op)) return end(op, cancelled(op), false);
        if (!may_begin(op)) return STANDS;
        begin(op);
        status = comm_op_next(op);
        progress = MOVED;
    }
    while (status == HG_OK && op->stage != COMM_OVER) {
        uint32_t open, receiving;
        status = step_transfers(op, &open, &receiving);
        if (status != HG_OK) return end(op, status, false);
        if (!receiving && !op->round.received) {
            op->round.received = true;
            progress = MOVED;
            status = comm_op_received(op);
            if (status != HG_OK) return end(op, status, false);
        }
        if (open) return progress;
        progress = MOVED;
        status = comm_op_next(op);
    }
    /* What the first messages say, all ranks know: the communicator goes on. */
    return end(op, status, op->stage == COMM_FIRST);
}

/* Of calls that stand: whether one has stood too long. */
static hg_status look_at_time(comm_op *op) {
    if (is_cancelled(op)) return cancelled(op);
    if (op->stage == COMM_NEW || hg_clock_ns() < op->time.deadline_ns) return HG_OK;
    return out_of_time(op);
}

/* ---- driving ---- */

/* Collectives one after another; sends to a rank, and receives from it, likewise. */
static bool has_turn(const hg_comm *c, const comm_op *op) {
    for (const comm_op *o = c->ops; o != op; o = o->next) {
        bool same = o->call.kind == op->call.kind && o->call.peer == op->call.peer,
             collectives = comm_is_collective(o->call.kind) && comm_is_collective(op->call.kind);
        if (same || collectives) return false;
    }
    return true;
}

static void take_calls(hg_comm *c) {
    if (!hg_atomic_load(&c->waiting, HG_ACQUIRE)) return;
    comm_op **end = &c->ops;
    while (*end) end = &(*end)->next;
    hg_mutex_lock(&c->lock);
    *end = c->calls.first;
    c->calls.first = c->calls.last = NULL;
    hg_atomic_store(&c->waiting, 0, HG_RELAXED);
    bool revoked = c->revoked;
    hg_mutex_unlock(&c->lock);
    if (revoked)
        comm_break(c, hg_fail(HG_ERROR_EXECUTION_FAILED, "the communicator is revoked by rank %u",
                              (unsigned)c->rank));
}

/* Once over all calls. Whether any went on. */
static bool drive_once(hg_comm *c, bool look_at_clock) {
    bool moved = false;
    take_calls(c);
    for (comm_op **at = &c->ops; *at;) {
        comm_op *op = *at, *next = op->next;
        if (!has_turn(c, op)) {
            at = &op->next;
            continue;
        }
        comm_progress progress = advance(op);
        if (progress == STANDS && look_at_clock) {
            hg_status status = look_at_time(op);
            if (status != HG_OK) progress = end(op, status, false);
        }
        moved = moved || progress != STANDS;
        if (progress == ENDED)
            *at = next;
        else
            at = &op->next;
    }
    return moved;
}

static uint64_t sleep_until(const hg_comm *c) {
    uint64_t span = LONGEST_SLEEP_NS;
    for (const comm_op *op = c->ops; op; op = op->next)
        if (op->stage == COMM_NEW && op->wait_count) span = EVENT_SLEEP_NS;
    return hg_clock_ns() + span;
}

/* False: another thread has calculated meanwhile. */
static bool yield_shortly(void) {
    uint64_t start = hg_clock_ns();
    hg_thread_yield();
    return hg_clock_ns() - start < LONG_YIELD_NS;
}

/* Until `op` is finished, or there is no call left. By who has the communicator's turn. Its own
 * thread works beside others: it does not yield any more where that lets them calculate, as one
 * that sleeps gets the processor sooner. */
static void drive(hg_comm *c, const comm_op *op) {
    uint32_t idle = 0, most = SPINS + YIELDS;
    for (;;) {
        if (idle + 1 >= most) c->provider->look(c->group); /* it sleeps, or goes on */
        bool clock = idle >= SPINS || ++c->counts.looks % LOOKS_A_CLOCK == 0;
        if (drive_once(c, clock)) idle = 0;
        if (op ? op->finished : !c->ops && !hg_atomic_load(&c->waiting, HG_ACQUIRE)) return;
        if (++idle == SPINS && c->provider->move_apart) c->provider->move_apart(c->group);
        if (idle < SPINS)
            hg_cpu_relax();
        else if (idle >= most)
            c->provider->sleep(c->group, sleep_until(c));
        else if (!yield_shortly() && !op)
            most = SPINS;
    }
}

/* Under the lock. */
static bool has_calls(const hg_comm *c) { return c->calls.first || c->ops; }

static void *run_thread(void *user) {
    hg_comm *c = user;
    hg_thread_name("hg-comm");
    hg_mutex_lock(&c->lock);
    while (!c->thread.stops || c->driven || has_calls(c)) {
        if (c->driven || !has_calls(c)) {
            hg_cond_wait(&c->changed, &c->lock);
            continue;
        }
        c->driven = true;
        hg_mutex_unlock(&c->lock);
        drive(c, NULL);
        hg_mutex_lock(&c->lock);
        c->driven = false;
        hg_cond_broadcast(&c->changed);
    }
    hg_mutex_unlock(&c->lock);
    return NULL;
}

/* ---- submitting ---- */

/* Its place in the order. Under the lock. */
static void number(hg_comm *c, comm_op *op) {
    switch (op->call.kind) {
    case HG_COMM_SEND: op->own.sequence = ++c->calls.sent[op->call.peer]; break;
    case HG_COMM_RECV: op->own.sequence = ++c->calls.received[op->call.peer]; break;
    default:
        if (!op->among.ranks) op->own.sequence = ++c->calls.collectives;
    }
}

static void append(hg_comm *c, comm_op *op) {
    number(c, op);
    op->time.timeout_ms = c->timeout_ms;
    *(c->calls.first ? &c->calls.last->next : &c->calls.first) = op;
    c->calls.last = op;
    hg_atomic_store(&c->waiting, 1, HG_RELEASE);
}

static hg_status start(hg_comm *c, comm_op *op) {
    hg_mutex_lock(&c->lock);
    if (!c->thread.runs) c->thread.runs = hg_thread_start(&c->thread.handle, run_thread, c);
    bool can = c->thread.runs;
    if (can) {
        append(c, op);
        if (c->driven)
            c->provider->wake(c->group);
        else
            hg_cond_broadcast(&c->changed);
    }
    hg_mutex_unlock(&c->lock);
    return can ? HG_OK : hg_fail(HG_ERROR_WOULD_BLOCK, "no thread for calls that are started");
}

hg_status comm_submit(hg_comm *c, comm_op *op) {
    if (op->event) return start(c, op);
    hg_mutex_lock(&c->lock);
    append(c, op);
    if (c->driven) c->provider->wake(c->group);
    while (!op->finished) {
        if (c->driven) {
            hg_cond_wait(&c->changed, &c->lock);
            continue;
        }
        c->driven = true;
        hg_mutex_unlock(&c->lock);
        drive(c, op);
        hg_mutex_lock(&c->lock);
        c->driven = false;
        if (has_calls(c)) hg_cond_broadcast(&c->changed);
    }
    hg_mutex_unlock(&c->lock);
    if (op->status != HG_OK) *hg_error_record() = op->error;
    return op->status;
}

void comm_stop(hg_comm *c) {
    hg_mutex_lock(&c->lock);
    c->thread.stops = true;
    hg_cond_broadcast(&c->changed);
    hg_mutex_unlock(&c->lock);
    if (c->thread.runs) hg_thread_join(c->thread.handle);
}
