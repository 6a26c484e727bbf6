/* What goes on of a backend only while somebody calls it, its queues without a thread, and the
 * callbacks of events that are due. Events keep it when the backend is gone.
 * Must not know: what a queue does, what an event is. */
#ifndef HG_RUNTIME_PROGRESS_H
#define HG_RUNTIME_PROGRESS_H

#include "base/fork.h"

typedef struct hg_progress hg_progress;

/* What driving found, the worst last. */
typedef enum hg_progress_state {
    HG_PROGRESS_IDLE,  /* nothing is left */
    HG_PROGRESS_LEFT,  /* something is */
    HG_PROGRESS_INSIDE /* something that goes on only when the host call or callback that this
                          thread is in has returned */
} hg_progress_state;

/* A queue without a thread. */
typedef struct hg_driven {
    struct hg_driven *next;
    hg_progress_state (*drive)(struct hg_driven *self); /* as far as it goes without waiting; under
                                                           no lock, by one thread at a time */
    uint64_t pass;                                      /* the last one that drove it */
    bool busy;                                          /* somebody drives it */
} hg_driven;

/* A callback. */
typedef struct hg_due {
    struct hg_due *next;
    void (*call)(struct hg_due *self); /* once, under no lock; it frees itself */
    uint64_t number;
} hg_due;

/* With one holder. NULL: no memory. */
hg_progress *hg_progress_create(void);
void hg_progress_retain(hg_progress *p);
void hg_progress_release(hg_progress *p);
/* Before anything else. threads: queues have threads, and so have callbacks. waits, polls: how
 * calls wait for what they drive, by looking again later or at once; neither: they cannot. */
void hg_progress_open(hg_progress *p, bool threads, bool waits, bool polls);
/* The backend goes: all its work is over. The callbacks that are due are called first. Gives the
 * holder's reference back. NULL is allowed. */
void hg_progress_close(hg_progress *p);

void hg_progress_add(hg_progress *p, hg_driven *driven);
void hg_progress_remove(hg_progress *p, hg_driven *driven); /* when nobody drives it any more */
bool hg_progress_has_driven(const hg_progress *p);

/* Each goes on as far as it can. INSIDE at once from a host call or callback of the same backend.
 */
hg_progress_state hg_progress_drive(hg_progress *p);
/* The same for something that is driven and stands at an event of p. */
hg_progress_state hg_progress_drive_behind(hg_progress *p);
/* The same from inside, for what must be over before it returns. */
void hg_progress_drive_inside(hg_progress *p);
/* Whether a call that waits may look again after that; then it sleeps between two looks unless
 * hg_progress_polls. */
bool hg_progress_can_wait(const hg_progress *p, hg_progress_state state);
bool hg_progress_polls(const hg_progress *p);

/* Callbacks that are due, in their order: a thread calls them, or whoever calls hg_progress_tell
 * where there is none. False: the backend is gone. */
bool hg_progress_call(hg_progress *p, hg_due *first, hg_due *last);
/* Calls those that are due now and that no thread calls. True: there were some. */
bool hg_progress_tell(hg_progress *p);

#endif
