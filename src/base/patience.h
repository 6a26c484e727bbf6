/* How long somebody waits for work that may take any time: until a moment has come, or a flag says
 * that nobody wants it any more. */
#ifndef HG_BASE_PATIENCE_H
#define HG_BASE_PATIENCE_H

#include "base/compat.h"
#include "base/thread.h"

typedef struct hg_patience {
    uint64_t deadline_ns; /* of hg_clock_ns; 0: none */
    const int *stop;      /* atomic; NULL: nobody gives up */
} hg_patience;

static inline bool hg_patience_stopped(const hg_patience *p) {
    return p && p->stop && hg_atomic_load(p->stop, HG_ACQUIRE);
}
static inline bool hg_patience_late(const hg_patience *p) {
    return p && p->deadline_ns && hg_clock_ns() >= p->deadline_ns;
}

#endif
