/* See fork.h. Must not know: whose locks they are. */
#include "base/fork.h"

#include <stddef.h>

uint32_t hg_fork_count;

#if HG_HAS_THREADS

static struct {
    hg_mutex lock; /* of the list; before the locks in it */
    hg_fork_lock *first;
} ranks[HG_FORK_RANKS];

static void prepare(void) {
    for (int r = 0; r < HG_FORK_RANKS; r++) {
        hg_mutex_lock(&ranks[r].lock);
        for (hg_fork_lock *l = ranks[r].first; l; l = l->next)
            if (!l->untaken) hg_mutex_lock(l->mutex);
    }
}

static void parent(void) {
    for (int r = HG_FORK_RANKS; r-- > 0;) {
        for (hg_fork_lock *l = ranks[r].first; l; l = l->next)
            if (!l->untaken) hg_mutex_unlock(l->mutex);
        hg_mutex_unlock(&ranks[r].lock);
    }
}

static void make_anew(const hg_fork_lock *l) {
    if (l->untaken)
        hg_mutex_init(l->mutex);
    else
        hg_mutex_unlock(l->mutex);
    if (l->cond) hg_cond_init(l->cond);
}

static void child(void) {
    hg_fork_count++;
    for (int r = HG_FORK_RANKS; r-- > 0;) {
        for (const hg_fork_lock *l = ranks[r].first; l; l = l->next) make_anew(l);
        hg_mutex_unlock(&ranks[r].lock);
    }
    for (int r = HG_FORK_RANKS; r-- > 0;) {
        for (hg_fork_lock *l = ranks[r].first, *next; l; l = next) {
            next = l->next;
            if (l->child) l->child(l->user);
        }
    }
}

static void set_up(void) {
    for (int r = 0; r < HG_FORK_RANKS; r++) hg_mutex_init(&ranks[r].lock);
    (void)pthread_atfork(prepare, parent, child); /* out of memory: as before, a child must not
                                                     launch */
}

void hg_fork_add(hg_fork_lock *lock, hg_fork_rank rank) {
    static hg_once_flag once = HG_ONCE_INIT;
    hg_once(&once, set_up);
    lock->rank = (uint8_t)rank;
    lock->added = true;
    hg_mutex_lock(&ranks[rank].lock);
    lock->next = ranks[rank].first;
    lock->at = &ranks[rank].first;
    if (lock->next) lock->next->at = &lock->next;
    ranks[rank].first = lock;
    hg_mutex_unlock(&ranks[rank].lock);
}

void hg_fork_remove(hg_fork_lock *lock) {
    if (!lock->added) return;
    hg_mutex_lock(&ranks[lock->rank].lock);
    *lock->at = lock->next;
    if (lock->next) lock->next->at = lock->at;
    lock->added = false;
    hg_mutex_unlock(&ranks[lock->rank].lock);
}

#else

void hg_fork_add(hg_fork_lock *lock, hg_fork_rank rank) { lock->rank = (uint8_t)rank; }
void hg_fork_remove(hg_fork_lock *lock) { (void)lock; }

#endif
