/* A limit on memory that many pieces share: each is charged before it is made and released when it
 * is gone. Thread-safe, without locks.
 * Must not know: what the memory is for. */
#ifndef HG_BASE_BUDGET_H
#define HG_BASE_BUDGET_H

#include "base/base.h"

typedef struct hg_budget {
    uint64_t limit; /* bytes; UINT64_MAX: none */
    uint64_t used;  /* atomic */
    uint64_t idle;  /* atomic; of those, in arenas that are kept for pieces and that no piece has */
} hg_budget;

/* Of the host's memory: asked bytes, or where that is 0 three quarters of hg_system_memory. */
void hg_budget_of_host(hg_budget *budget, uint64_t asked);
/* HG_ERROR_ALLOCATION_FAILED with what was asked for, what is in use (what is idle is not) and the
 * limit. budget NULL: there is no limit, here and below. */
hg_status hg_budget_charge(hg_budget *budget, uint64_t bytes) HG_NODISCARD;
/* Its parts: the charge without a message, and the message, for which asked may be another number.
 */
bool hg_budget_take(hg_budget *budget, uint64_t bytes) HG_NODISCARD;
hg_status hg_budget_refuse(const hg_budget *budget, uint64_t asked);
bool hg_budget_fits(const hg_budget *budget, uint64_t bytes); /* now; others may take it meanwhile
                                                               */
void hg_budget_release(hg_budget *budget, uint64_t bytes);
uint64_t hg_budget_used(const hg_budget *budget);
/* Of what is charged, bytes that nobody has yet, or any more; and the contrary. */
void hg_budget_idle(hg_budget *budget, uint64_t bytes);
void hg_budget_busy(hg_budget *budget, uint64_t bytes);

/* ---- system_memory.c ---- */
/* Bytes that this process may have: the least of the machine's memory and of the limits of the
 * control groups that it is in (versions 1 and 2, their parents included). 0: unknown. root: "", or
 * a folder that has a tree of /proc and /sys of its own. */
uint64_t hg_system_memory(const char *root);

#endif
