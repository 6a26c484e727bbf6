/* What happens to locks when a process forks. The child has the forking thread only: a lock that
 * another thread had would stay locked for ever, and what it protects would be half changed. So
 * locks that are held for moments are registered here: before a fork all of them are taken, in the
 * order of their ranks, and afterwards they are free in both processes. What is held during a
 * launch is never taken: fork would wait for the launch. Such objects are told of the fork in the
 * child, and are lost there if they were in use.
 * Must not know: whose locks they are. */
#ifndef HG_BASE_FORK_H
#define HG_BASE_FORK_H

#include "base/thread.h"

/* Who has a lock takes only locks of higher ranks, and registers only such. */
typedef enum hg_fork_rank {
    HG_FORK_STARTS,  /* a context's queues for launches that are started */
    HG_FORK_MAKING,  /* memory that is made when it is first needed */
    HG_FORK_QUEUE,   /* a queue's submissions */
    HG_FORK_CODE,    /* the code of a kernel */
    HG_FORK_IMPROVE, /* what is to be compiled in the background, and the compiler */
    HG_FORK_CACHE,   /* what a backend keeps, and counts */
    HG_FORK_MONITOR, /* the order of runs */
    HG_FORK_MEMORY,  /* arenas that are divided */
    HG_FORK_HANDLES,
    HG_FORK_TILE,     /* of the tile interpreter */
    HG_FORK_LIST,     /* queues without a thread, callbacks that are due */
    HG_FORK_PROFILES, /* all recorders */
    HG_FORK_PROFILE,  /* one of them */
    HG_FORK_TEXT,     /* texts of the library that are unpacked */
    HG_FORK_RANKS
} hg_fork_rank;

/* A registered lock, in the object that has it. */
typedef struct hg_fork_lock {
    struct hg_fork_lock *next, **at;
    hg_mutex *mutex;
    hg_cond *cond; /* made anew in the child: those who waited are not there. NULL: none */
    bool untaken;  /* only made anew: it may be held for long, and the child does not use what it
                      protects */
    void (*child)(void *user); /* NULL, or called in the child when all locks are free, those of
                                  high ranks first */
    void *user;
    uint8_t rank;
    bool added;
} hg_fork_lock;

/* lock: everything but next, at and rank is set. Until hg_fork_remove. */
void hg_fork_add(hg_fork_lock *lock, hg_fork_rank rank);
void hg_fork_remove(hg_fork_lock *lock); /* one that was never added, all zero, is left alone */
/* How many forks lie between the process that loaded the library and this one: whoever keeps it
 * knows a child by another number. */
extern uint32_t hg_fork_count;

#endif
