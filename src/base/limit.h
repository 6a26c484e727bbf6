/* When work must be over: at a time, or when somebody wants it. Whoever works asks between pieces
 * of a few milliseconds at most; of several threads the first that finds it out says it to all.
 * Must not know: what works. */
#ifndef HG_BASE_LIMIT_H
#define HG_BASE_LIMIT_H

#include "base/thread.h"

typedef enum hg_limit_state { HG_LIMIT_NONE, HG_LIMIT_TIME, HG_LIMIT_CANCELLED } hg_limit_state;

typedef struct hg_limit {
    uint64_t deadline_ns;       /* hg_clock_ns; 0: whenever */
    uint64_t timeout_ms;        /* what was asked for, for messages */
    const volatile int *cancel; /* not 0: as soon as possible; NULL: nobody cancels */
    int reached;                /* hg_limit_state, once it was found out */
} hg_limit;

static inline bool hg_limit_is_reached(const hg_limit *l) {
    return l && hg_atomic_load(&l->reached, HG_RELAXED);
}

/* Whether the work must be over now. NULL: never. */
static inline bool hg_limit_look(hg_limit *l) {
    if (!l) return false;
    if (hg_atomic_load(&l->reached, HG_RELAXED)) return true;
    hg_limit_state state = l->cancel && hg_atomic_load(l->cancel, HG_RELAXED)  ? HG_LIMIT_CANCELLED
                           : l->deadline_ns && hg_clock_ns() >= l->deadline_ns ? HG_LIMIT_TIME
                                                                               : HG_LIMIT_NONE;
    if (state) hg_atomic_store(&l->reached, (int)state, HG_RELAXED);
    return state != HG_LIMIT_NONE;
}

#endif
