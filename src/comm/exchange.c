/* Communicators of contexts: steps of programs between some or all of its ranks.
 * Must not know: programs, where arrays lie. */
#include "comm/comm.h"
#include <string.h>

/* Collectives of some ranks are not counted: the same number on all that name the same ranks. */
static uint64_t number_of(const uint64_t *members, uint32_t count) {
    uint64_t number = count;
    for (uint32_t i = 0; i < count; i++)
        number = (number ^ members[i]) * UINT64_C(0x9E3779B97F4A7C15) + (number >> 29);
    return number | COMM_OF_SOME;
}

/* Places of this rank and of the root. */
static void find_places(comm_op *op, const hg_exchange *x, uint32_t *ranks) {
    uint32_t root = op->call.peer;
    op->among = (comm_members){.count = x->count, .ranks = ranks};
    for (uint32_t i = 0; i < x->count; i++) {
        ranks[i] = (uint32_t)x->members[i];
        if (ranks[i] == op->comm->rank) op->among.own = i;
        if (ranks[i] == root) op->call.peer = i;
    }
    op->own.sequence = number_of(x->members, x->count);
}

static bool are_all(const hg_exchange *x, uint32_t size) {
    for (uint32_t i = 0; i < x->count; i++)
        if (x->members[i] != i) return false;
    return !x->count || x->count == size;
}

/* *ranks: those of a call that not all have a part in, for hg_free; NULL: all. */
static hg_status describe(hg_comm *c, const hg_exchange *x, uint32_t **ranks, comm_op *op) {
    *ranks = NULL;
    HG_TRY(comm_describe(c, &x->call, op));
    op->time.limit = &x->limit;
    if (are_all(x, c->size)) return HG_OK;
    *ranks = hg_alloc(x->count * sizeof **ranks);
    if (!*ranks) return hg_fail_memory();
    find_places(op, x, *ranks);
    return HG_OK;
}

static hg_status exchange(hg_comm *c, const hg_exchange *x) {
    comm_op op;
    uint32_t *ranks;
    HG_TRY(describe(c, x, &ranks, &op));
    hg_status status = comm_submit(c, &op);
    hg_free(ranks);
    return status;
}

static hg_status start(hg_comm *c, const hg_exchange *x, hg_event **event) {
    comm_op *op = hg_calloc(1, sizeof *op);
    hg_event *made = hg_event_create(c->backend, false);
    uint32_t *ranks = NULL;
    hg_status status = op && made ? describe(c, x, &ranks, op) : hg_fail_memory();
    if (op && status == HG_OK) {
        op->among.owned = ranks;
        op->event = made;
        hg_event_retain(made); /* one is the caller's, one the engine's */
        *event = made;
        status = comm_submit(c, op);
        if (status == HG_OK) return HG_OK;
        hg_event_release(made);
    }
    *event = NULL;
    hg_event_release(made);
    hg_free(ranks);
    hg_free(op);
    return status;
}

hg_status hg_context_set_comm(hg_backend *backend, hg_context *context, hg_comm *comm) {
    HG_ENTRY;
    hg_ranks ranks = {.size = 0};
    if (!backend) return hg_null_argument("backend");
    if (!comm) return hg_context_set_ranks(backend, context, &ranks);
    if (comm->backend != backend)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "the communicator belongs to another backend");
    ranks = (hg_ranks){.comm = comm,
                       .rank = comm->rank,
                       .size = comm->size,
                       .exchange = exchange,
                       .start = start,
                       .release = comm_release};
    HG_TRY(hg_context_set_ranks(backend, context, &ranks));
    hg_atomic_fetch_add(&comm->references, 1, HG_RELAXED);
    return HG_OK;
}
