/* Steps between the ranks of a communicator: who carries them out is the context's, and not known
 * here.
 * Must not know: communicators, providers. */
#ifndef HG_RUNTIME_EXCHANGE_H
#define HG_RUNTIME_EXCHANGE_H

#include "base/limit.h"
#include <hologram/comm.h>

/* One of them, of this rank. */
typedef struct hg_exchange {
    hg_comm_call call;       /* of host memory; peer: a rank */
    const uint64_t *members; /* ranks, in their order */
    uint32_t count;          /* of them; 0: all */
    hg_limit limit;          /* ends it earlier than the communicator's time-out */
} hg_exchange;

/* What a context has of a communicator; size 0: there is none, which is one rank. */
typedef struct hg_ranks {
    hg_comm *comm;
    uint32_t rank, size;
    hg_status (*exchange)(hg_comm *comm, const hg_exchange *exchange); /* waits */
    /* Begins it; the event is done with it. `exchange` stays until then. */
    hg_status (*start)(hg_comm *comm, const hg_exchange *exchange, hg_event **event);
    void (*release)(hg_comm *comm); /* NULL where there is none */
} hg_ranks;

/* Bytes from which on a step is worth another thread. Tests make it smaller. */
extern uint64_t hg_exchange_least_apart;

#endif
