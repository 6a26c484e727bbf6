/* What ranks tell each other about their calls, and what they say when these are not the same.
 * Must not know: providers. */
#include "comm/comm.h"
#include <stdio.h>

static const char *const kinds[] = {"all_reduce", "all_gather", "reduce_scatter", "broadcast",
                                    "gather",     "scatter",    "all_to_all",     "send",
                                    "recv",       "barrier"};
static const char *const operations[] = {"add", "min", "max", "mul", "and", "or", "xor"};

bool comm_header_same(const comm_header *a, const comm_header *b) {
    bool point = !comm_is_collective((hg_comm_kind)a->kind);
    return a->sequence == b->sequence && a->count == b->count && a->type == b->type &&
           (point || (a->kind == b->kind && a->operation == b->operation && a->peer == b->peer));
}

void comm_header_text(const comm_header *h, char *text, size_t size) {
    hg_comm_kind kind = (hg_comm_kind)h->kind;
    const char *name = h->kind < HG_COUNT_OF(kinds) ? kinds[h->kind] : "?";
    if (kind == HG_COMM_BARRIER) {
        snprintf(text, size, "barrier");
        return;
    }
    char combines[16] = "", peer[32] = "";
    if (comm_combines(kind) && h->operation < HG_COUNT_OF(operations))
        snprintf(combines, sizeof combines, " %s", operations[h->operation]);
    if (comm_has_root(kind) || !comm_is_collective(kind))
        snprintf(peer, sizeof peer, " %s rank %u",
                 kind == HG_COMM_SEND || kind == HG_COMM_GATHER ? "to" : "from", (unsigned)h->peer);
    snprintf(text, size, "%s.%s%s of %llu elements%s", name, hg_type_name((hg_type)h->type),
             combines, (unsigned long long)h->count, peer);
}

void comm_call_text(const comm_header *h, char *text, size_t size) {
    char what[96];
    comm_header_text(h, what, sizeof what);
    if (h->sequence & COMM_OF_SOME)
        snprintf(text, size, "%s (of some ranks, rank %u)", what, (unsigned)h->rank);
    else
        snprintf(text, size, "%s (call %llu of rank %u)", what, (unsigned long long)h->sequence,
                 (unsigned)h->rank);
}

hg_status comm_header_mismatch(const comm_header *a, const comm_header *b) {
    char x[COMM_CALL_TEXT], y[COMM_CALL_TEXT];
    comm_call_text(a, x, sizeof x);
    comm_call_text(b, y, sizeof y);
    return hg_fail(HG_ERROR_INVALID_ARGUMENT, "ranks call different things: %s and %s", x, y);
}

hg_status comm_lost(const char *what) {
    return hg_fail(HG_ERROR_EXECUTION_FAILED, "%s is of the process that this one was forked from",
                   what);
}
