/* One thread that does jobs one after another while launches go on. It is started with the first
 * job and ends with hg_background_close. In a forked child jobs that were waiting go on, on a
 * thread of its own; the one that was being done is lost.
 * Must not know: what a job does. */
#ifndef HG_CODE_BACKGROUND_H
#define HG_CODE_BACKGROUND_H

#include "base/base.h"

typedef struct hg_background hg_background;

typedef struct hg_background_job {
    struct hg_background_job *next;
    uint32_t level; /* how much of it is wanted: the most that was asked for */
    bool waits, lost;
    void *user;
    void (*run)(struct hg_background_job *job, uint32_t level);
    void (*drop)(struct hg_background_job *job); /* instead: it is never done */
} hg_background_job;

hg_status hg_background_create(hg_background **background) HG_NODISCARD;
/* Jobs that wait are dropped; the one that is being done is waited for, and should look at
 * hg_background_closing while it takes long. NULL is fine. */
void hg_background_close(hg_background *background);
/* Not zero from when it is being closed on: atomic. */
const int *hg_background_closing(const hg_background *background);

/* All below: from any thread, under no lock of a higher rank; they return at once.
 * True: `run` or `drop` will be called. False: it waits already (for `level` at least, now), or
 * this system has no thread for it. */
bool hg_background_add(hg_background *background, hg_background_job *job, uint32_t level);
/* True: it waited, and is not called any more. */
bool hg_background_remove(hg_background *background, hg_background_job *job);

#endif
