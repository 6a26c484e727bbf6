/* The order of runs in a context: runs that share class memory, state or a written buffer go one
 * after another, in the order in which they came; others at the same time. Copies and looks at the
 * state have a ticket like runs.
 * Must not know: what a run does. */
#ifndef HG_RUNTIME_ORDER_H
#define HG_RUNTIME_ORDER_H

#include "base/thread.h"
#include "driver/driver.h"

/* One range of memory that a run touches: of an arena, or of the host's addresses where it is known
 * to have the arena. */
typedef struct hg_touch {
    const hg_driver_arena *arena;
    uint64_t start, size;
    bool written;
} hg_touch;

enum {
    HG_SHARES_CLASSES = 1,
    HG_SHARES_STATE = 2,
    HG_SHARES_ALL = 4 /* nobody knows: handles that are computed while it runs */
};

/* What a run touches. For a binding it is found once. */
typedef struct hg_touches {
    uint8_t shares;
    uint32_t count;
    const hg_touch *list;
    struct hg_binding *binding; /* whose launches touch it; NULL: a copy, a look */
} hg_touches;

/* A run's place in the order. Zero-initialise. */
typedef struct hg_ticket {
    struct hg_ticket *before, *after;
    const hg_touches *touches;
    const void *stream; /* what runs on one stream follows each other there, and does not wait here
                         */
} hg_ticket;

typedef struct hg_order {
    /* NULL: no tickets. A ticket: the only one, which is in no list. HG_ORDER_LISTED: tickets are
     * in the list. Atomic */
    hg_ticket *alone;
    hg_ticket *first, *last; /* under the monitor's lock */
} hg_order;

/* What those wait for who have to wait for other runs: one a backend, for the rare case. */
typedef struct hg_monitor {
    hg_mutex lock;
    hg_cond changed;
    uint32_t sleepers; /* atomic */
} hg_monitor;
void hg_monitor_init(hg_monitor *monitor);
void hg_monitor_destroy(hg_monitor *monitor);
void hg_monitor_wake_sleepers(hg_monitor *monitor);
/* Something changed that a sleeper may wait for, by a sequentially consistent exchange. Without
 * sleepers it costs one load. */
static inline void hg_monitor_wake(hg_monitor *monitor) {
    if (HG_UNLIKELY(hg_atomic_load(&monitor->sleepers, HG_SEQ_CST) != 0))
        hg_monitor_wake_sleepers(monitor);
}

/* The ticket is the only one, and nothing was looked at. False: join. Only where what runs on the
 * order's main stream is free with it. */
static inline bool hg_order_enter_alone(hg_order *order, hg_ticket *ticket) {
    hg_ticket *nobody = NULL;
    return hg_atomic_compare_exchange(&order->alone, &nobody, ticket, HG_SEQ_CST);
}
/* Behind all others. Under the monitor's lock. */
void hg_order_join(hg_order *order, hg_ticket *ticket);
/* Whether no earlier ticket stands against it. Under the monitor's lock. */
bool hg_order_may_begin(const hg_ticket *ticket);
/* In a forked child: true when there are tickets, each of which is told of, or always. Then there
 * are tickets for ever: nobody is alone any more. */
bool hg_order_close(hg_order *order, bool always, void (*each)(const hg_ticket *ticket));
void hg_order_leave_list(hg_order *order, hg_ticket *ticket, hg_monitor *monitor);
/* The ticket is over, however it began. Not under the monitor's lock. */
static inline void hg_order_leave(hg_order *order, hg_ticket *ticket, hg_monitor *monitor) {
    hg_ticket *self = ticket;
    if (HG_UNLIKELY(!hg_atomic_compare_exchange(&order->alone, &self, NULL, HG_SEQ_CST)))
        hg_order_leave_list(order, ticket, monitor);
}

#endif
