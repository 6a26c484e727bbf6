/* See order.h. A run that finds nobody else is kept in one word and takes no lock; whoever comes
 * while it runs moves it into the list. */
#include "runtime/order.h"
#include <string.h>

static hg_ticket listed_mark;
#define LISTED (&listed_mark)

/* ---- the monitor ---- */

void hg_monitor_init(hg_monitor *m) {
    hg_mutex_init(&m->lock);
    hg_cond_init(&m->changed);
    m->sleepers = 0;
}

void hg_monitor_destroy(hg_monitor *m) {
    hg_mutex_destroy(&m->lock);
    hg_cond_destroy(&m->changed);
}

void hg_monitor_wake_sleepers(hg_monitor *m) {
    hg_mutex_lock(&m->lock);
    hg_cond_broadcast(&m->changed);
    hg_mutex_unlock(&m->lock);
}

/* ---- tickets ---- */

static bool overlap(const hg_touch *x, const hg_touch *y) {
    if (x->arena != y->arena || !x->size || !y->size) return false;
    return x->start < y->start ? y->start - x->start < x->size : x->start - y->start < y->size;
}

static bool against(const hg_touches *x, const hg_touches *y) {
    if (x == y || (x->shares | y->shares) & HG_SHARES_ALL || x->shares & y->shares) return true;
    for (uint32_t i = 0; i < x->count; i++)
        for (uint32_t k = 0; k < y->count; k++)
            if ((x->list[i].written || y->list[k].written) && overlap(&x->list[i], &y->list[k]))
                return true;
    return false;
}

static void append(hg_order *order, hg_ticket *ticket) {
    ticket->before = order->last;
    ticket->after = NULL;
    *(order->last ? &order->last->after : &order->first) = ticket;
    order->last = ticket;
}

void hg_order_join(hg_order *order, hg_ticket *ticket) {
    hg_ticket *alone = hg_atomic_exchange(&order->alone, LISTED, HG_SEQ_CST);
    if (alone && alone != LISTED) append(order, alone); /* it cannot leave without the lock now */
    append(order, ticket);
}

bool hg_order_may_begin(const hg_ticket *ticket) {
    for (const hg_ticket *t = ticket->before; t; t = t->before)
        if ((!t->stream || t->stream != ticket->stream) && against(t->touches, ticket->touches))
            return false;
    return true;
}

bool hg_order_close(hg_order *order, bool always, void (*each)(const hg_ticket *ticket)) {
    const hg_ticket *alone = order->alone;
    if (!alone && !always) return false;
    if (alone && alone != LISTED) each(alone);
    for (const hg_ticket *t = order->first; t; t = t->after) each(t);
    order->alone = LISTED;
    return true;
}

void hg_order_leave_list(hg_order *order, hg_ticket *ticket, hg_monitor *monitor) {
    hg_mutex_lock(&monitor->lock);
    *(ticket->before ? &ticket->before->after : &order->first) = ticket->after;
    *(ticket->after ? &ticket->after->before : &order->last) = ticket->before;
    if (!order->first) hg_atomic_store(&order->alone, NULL, HG_SEQ_CST);
    hg_cond_broadcast(&monitor->changed);
    hg_mutex_unlock(&monitor->lock);
}
