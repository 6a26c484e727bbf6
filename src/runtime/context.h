/* Contexts and their streams: class memory and state, a ticket in the order of a context, what runs
 * on a stream.
 * Must not know: what a run does. */
#ifndef HG_RUNTIME_CONTEXT_H
#define HG_RUNTIME_CONTEXT_H

#include "runtime/backend.h"
#include "runtime/exchange.h"

/* A queue of the driver with what its work shares. One run at a time uses it. */
typedef struct hg_stream {
    struct hg_stream *next; /* in its context's list of spare ones */
    hg_context *context;
    hg_driver_queue *queue;
    hg_dispatch_queue dispatch; /* dispatches of the queue */
    hg_driver_event *event;     /* of calls that wait; made at its first use */
    hg_piece step_memory;       /* what expanded steps need between their kernels; grows */
} hg_stream;

struct hg_context {
    hg_backend *backend;
    hg_order order;  /* of what runs in it */
    hg_stream *main; /* for a run that is alone */
    hg_stream *spare;
    hg_mutex start_lock;
    HG_VEC(hg_queue *) starters; /* queues of launches that were started; under the start lock */
    hg_status (*end_starters)(hg_context *context); /* waits for them and frees them, or none of
                                                       them; NULL: there were none */
    hg_mutex class_lock;
    hg_piece class_memory; /* allocated at first touch */
    hg_piece state; /* phases and accumulators (atlas/state.h), allocated at first touch; this and
                       the two below belong to the ticket that shares the state */
    void *state_image; /* where the host sees the state; a copy of its own where it does not see the
                          device's memory */
    bool state_pending; /* a launch may have written the pending part */
    hg_ranks ranks;     /* its communicator */
    hg_fork_lock forks[2];
    bool lost; /* in a forked child: it was in use, or its backend is lost. Nobody has a ticket in
                  it any more */
};

/* ---- forked.c ---- */
void hg_context_watch_forks(hg_context *c);
void hg_context_forget_forks(hg_context *c);

/* ---- stream.c ---- */
hg_status hg_stream_create(hg_context *context, hg_stream **stream) HG_NODISCARD;
void hg_stream_destroy(hg_stream *stream); /* its work is waited for */
/* Whatever is under way on the stream is over afterwards, when its events fail to say so. */
void hg_stream_drain(hg_stream *stream);
/* Its queue again, which it lost when draining could not make a new one. */
hg_status hg_stream_make_whole(hg_stream *stream) HG_NODISCARD;
/* Until what was submitted with the stream's event is over, also after a failure. */
hg_status hg_stream_wait(hg_stream *stream) HG_NODISCARD;
/* What the functions in line below need for the rare cases: a device that works on by itself; not
 * alone, or a stream that lost its queue; a stream that is not the main one. */
hg_status hg_stream_run_and_wait(hg_stream *stream, const hg_driver_command *commands,
                                 uint32_t count) HG_NODISCARD;
hg_status hg_context_enter_slowly(hg_context *context, hg_ticket *ticket,
                                  hg_stream **stream) HG_NODISCARD;
void hg_context_spare(hg_context *context, hg_stream *stream);

/* Commands on the stream, to their end. */
HG_NODISCARD static inline hg_status
hg_stream_run(hg_stream *stream, const hg_driver_command *commands, uint32_t count) {
    const hg_backend *b = stream->context->backend;
    if (b->caps->scheduling.asynchronous) return hg_stream_run_and_wait(stream, commands, count);
    return b->driver->queue_submit(stream->queue, commands, count, NULL, 0, NULL);
}

/* Waits until nothing stands against the ticket; the stream is the ticket's until it leaves. After
 * a failure there is no ticket. */
HG_NODISCARD static inline hg_status hg_context_enter(hg_context *context, hg_ticket *ticket,
                                                      hg_stream **stream) {
    *stream = HG_LIKELY(hg_order_enter_alone(&context->order, ticket)) ? context->main : NULL;
    return HG_LIKELY(*stream && (*stream)->queue)
               ? HG_OK
               : hg_context_enter_slowly(context, ticket, stream);
}

static inline void hg_context_leave(hg_context *context, hg_ticket *ticket, hg_stream *stream) {
    if (HG_UNLIKELY(stream != context->main)) hg_context_spare(context, stream);
    hg_order_leave(&context->order, ticket, &context->backend->monitor);
}

/* ---- context_state.c ---- */
/* The state of a context for a launch that begins: what earlier ones added is in the start part,
 * writes: this one may add. The range is context->state's. In a ticket that shares the state, on
 * its stream. */
hg_status hg_state_begin(hg_stream *stream, bool writes) HG_NODISCARD;
/* The same without waiting. away: *copy must be done first, then hg_state_fold_fetched and the copy
 * that it gives. The first of the two is worth nothing without the second: state_pending is to be
 * set again when that one does not come to the device. */
hg_status hg_state_fetch(hg_context *context, bool writes, hg_driver_command *copy,
                         bool *away) HG_NODISCARD;
hg_driver_command hg_state_fold_fetched(hg_context *context, bool writes);
void hg_state_close(hg_context *context);

/* ---- memory.c ---- */
hg_status hg_context_class_memory(hg_context *context, hg_range *range) HG_NODISCARD;

#endif
