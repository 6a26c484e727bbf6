/* What a provider of communicators does: it moves bytes between two ranks. Everything else, from
 * collectives to deadlines, is above it and the same for all.
 * Must not know: kinds of calls, element types, events. */
#ifndef HG_COMM_PROVIDER_H
#define HG_COMM_PROVIDER_H

#include "base/base.h"
#include <hologram/backend.h>

enum { COMM_MOST_LOCAL = 256 };

/* Messages of one channel from one rank to another arrive in the order in which they were posted.
 */
typedef enum comm_channel {
    COMM_COLLECTIVE,
    COMM_POINT, /* of sends */
    COMM_REPLY, /* of receives, to who sends */
    COMM_CHANNELS
} comm_channel;

/* A message that is sent or received. */
typedef struct comm_transfer {
    uint32_t peer;
    uint8_t channel;
    bool receives;
    bool borrows;   /* receives: `memory` may become the sender's own until the transfer is returned
                     */
    bool borrowed;  /* it did */
    bool device;    /* `memory` is an address of the device, which the host does not see */
    void *memory;   /* not written where it is sent */
    uint64_t bytes; /* received: at most */
    uint64_t moved; /* whole messages of it, for those that are cut */
    bool posted, done;
    uint64_t own[2]; /* the provider's */
} comm_transfer;

/* What living ranks have agreed on. */
typedef struct comm_agreement {
    uint64_t flags;    /* those that all have given */
    uint64_t number;   /* of the group's agreements, below 2^63: the same on all of them */
    uint32_t *members; /* who has agreed, in order: an array for hg_free */
    uint32_t count;
} comm_agreement;

/* Of a split, what one rank wants to be in. */
#define COMM_SHRUNK (UINT64_C(1) << 63)
typedef struct comm_part {
    const uint32_t *members;
    uint32_t count;
    uint64_t number; /* with COMM_SHRUNK that of an agreement, whose members they are */
} comm_part;

/* One rank's end of a group of ranks. Functions are called by one thread at a time, but wake,
 * revoke and what stands below it. */
typedef struct comm_group comm_group;

typedef struct comm_provider {
    const char *name;
    /* Whether a launcher of this provider has started the process. */
    bool (*launched)(void);
    /* The group of all processes that the launcher has started. */
    hg_status (*open)(hg_backend *backend, comm_group **group, uint32_t *rank, uint32_t *size);
    /* Optional: the ends of a group of threads with these backends. Without an error and with
     * ends[0] NULL: it is not for them. */
    hg_status (*open_local)(hg_backend *const *backends, uint32_t ranks, comm_group **ends);
    void (*close)(comm_group *group); /* NULL is allowed */
    /* Begins a transfer. One that cannot begin yet is left as it is, not posted. */
    hg_status (*post)(comm_group *group, comm_transfer *transfer);
    /* Sets done when it is over: memory that was sent may change, what was received is there. An
     * error: it never will be. */
    hg_status (*poll)(comm_group *group, comm_transfer *transfer);
    /* A borrowed one: its memory is not needed any more. */
    void (*give_back)(comm_group *group, comm_transfer *transfer);
    /* Optional: what was posted since may begin. Those of the device do it together. */
    hg_status (*launch)(comm_group *group);
    /* Optional, and with copy: transfers may be of this memory of the device. */
    bool (*reaches)(const comm_group *group, const hg_native_buffer *memory);
    /* Between arrays of the device; returns when it is over. */
    hg_status (*copy)(comm_group *group, void *to, const void *from, uint64_t bytes);
    /* Optional: an error where nothing more comes from the rank. */
    hg_status (*check)(comm_group *group, uint32_t peer);
    /* One that will not be waited for any more: its memory is not touched from now on. */
    void (*withdraw)(comm_group *group, comm_transfer *transfer);
    /* Before a round of polls, and after one that found nothing: sleeps until a message may have
     * come, somebody woke it, or the time has come. */
    void (*look)(comm_group *group);
    /* Optional: polls have found nothing for some microseconds. To another CPU, where the ranks
     * share one. */
    void (*move_apart)(comm_group *group);
    void (*sleep)(comm_group *group, uint64_t until_ns);
    void (*wake)(comm_group *group);
    /* A group of some members: ranks of this one in their new order. Every rank that goes on calls
     * it, who has no part with count 0, which makes none. number: the same on all of them, another
     * one while a group of the last one is made. */
    hg_status (*split)(comm_group *group, const comm_part *wanted, uint64_t deadline_ns,
                       comm_group **part);
    /* Ends what is posted, on every rank that can be told: polls fail with the words. */
    void (*revoke)(comm_group *group, const char *why);
    /* HG_ERROR_BACKEND_UNAVAILABLE: the provider cannot. */
    hg_status (*agree)(comm_group *group, uint64_t deadline_ns, uint64_t flags,
                       comm_agreement *agreed);
} comm_provider;

#endif
