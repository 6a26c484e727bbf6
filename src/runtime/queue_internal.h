/* What the files of public queues share: queue.c (the interface, the thread), advance.c (what a
 * queue does next), event.c. */
#ifndef HG_RUNTIME_QUEUE_INTERNAL_H
#define HG_RUNTIME_QUEUE_INTERNAL_H

#include "runtime/client.h"
#include "runtime/execute_internal.h"

/* ---- event.c, beside what runtime/client.h has of it ---- */
/* All of its work is submitted and signals a driver's event, until NULL is offered: work on the
 * same device may come after it. */
void hg_event_offer(hg_event *e, hg_driver_event *device_event);
/* What is submitted to the queue from now on comes after the event's work. False: that must be
 * waited for here. */
bool hg_event_follow(hg_event *e, const hg_backend *b, hg_driver_queue *queue);
/* For a queue without a thread that stands at it: what it comes after goes on, in whatever backend.
 */
hg_progress_state hg_event_drive(hg_event *e);

/* ---- what a queue has to do ---- */
typedef struct hg_submission_work {
    struct hg_submission_work *next;
    hg_event *signal;
    hg_event **waits;
    hg_command *commands;
    size_t wait_count, count;
    size_t next_wait, next_command;
    uint32_t flights, unsure; /* its work under way; of it, what may still fail */
    bool begun;               /* all events it waits for are done, or the device waits for them */
    bool keeps;               /* its bindings */
    bool followed; /* the device does: they are looked at before the host does anything, and at the
                      end */
    hg_status status;
    hg_error error;
    uint64_t waits_since;     /* for a profile; 0: none */
    struct hg_flight *joined; /* of a launch that has its ticket already */
} hg_submission_work;

/* How far a flight is. */
typedef enum hg_flight_state {
    HG_FLIGHT_NEW,      /* it has no ticket yet */
    HG_FLIGHT_IN_ORDER, /* it has its ticket, and waits until it may begin */
    HG_FLIGHT_STARTED,  /* a launch: the binding is the flight's, and its run goes on */
    HG_FLIGHT_ISSUED    /* all its work is submitted: nothing but the outcome is open */
} hg_flight_state;

/* A launch or transfer of a queue from its ticket to its end. */
typedef struct hg_flight {
    struct hg_flight *next;
    hg_submission_work *of;
    hg_binding *binding; /* NULL: a transfer */
    hg_ticket ticket;
    hg_flight_state state;
    bool unsure;  /* issued, but a lane may have faulted */
    bool offered; /* its event stands for the submission's */
    hg_run run;
    hg_transfer_work transfer;
    hg_driver_event *event; /* of a transfer */
    hg_profile_kind kind;   /* of a transfer */
    uint64_t start_ns;      /* for a profile; 0: none */
} hg_flight;

struct hg_queue {
    hg_driven driven; /* of one without a thread */
    hg_backend *backend;
    hg_context *context;
    hg_stream *stream;
    uint32_t number; /* in the backend, from 1; for profiles */
    bool own_context;
    bool lost; /* in a forked child: it had something to do, or its backend is lost */
    hg_fork_lock forks;
    struct {
        hg_thread handle;
        bool runs, stop;
        int wanted; /* in a forked child: the thread is the parent's, and a new one is made at need;
                       atomic */
    } thread;
    hg_mutex lock; /* protects what is up to `error` */
    hg_cond changed;
    hg_submission_work *first, *last; /* not finished */
    uint64_t running;                 /* submissions not finished */
    hg_status failed;                 /* first error since the last synchronize */
    hg_error error;
    /* whoever drives the queue */
    hg_submission_work *now; /* the one whose commands are taken; NULL: none */
    struct {
        hg_flight *first, *last; /* in order; only the last may not be issued yet */
        uint32_t count, unsure;
    } flights;
};

/* ---- advance.c ---- */
/* Why a queue stands still. */
typedef enum hg_queue_state {
    HG_QUEUE_IDLE,
    HG_QUEUE_DEVICE, /* until the oldest flight's driver event, or code that it needs */
    HG_QUEUE_EVENT,  /* until *event, of another queue */
    HG_QUEUE_TURN    /* until another run is over */
} hg_queue_state;
/* Goes on as far as it can without waiting. By one thread at a time. */
hg_queue_state hg_queue_advance(hg_queue *q, hg_event **event);
/* Until what DEVICE stands for may be done: here, where that are other ranks. */
bool hg_queue_awaits_ranks(const hg_queue *q);
void hg_queue_wait_for_device(hg_queue *q);
/* Sleeps until the flight that waits for its ticket may go on, or something changed. */
void hg_queue_wait_for_turn(hg_queue *q);
/* A new flight; binding NULL: of a transfer. */
hg_flight *hg_flight_create(hg_queue *q, hg_binding *binding);
void hg_flight_join(hg_queue *q, hg_flight *flight); /* its place in the order, now */
void hg_submission_free(hg_submission_work *s);
/* The bindings that it launches: kept until they are over, let go before anybody learns of it. */
void hg_submission_keep(hg_submission_work *s);
void hg_submission_let_go(hg_submission_work *s);

#endif
