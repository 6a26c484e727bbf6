/* See progress.h. Several threads may drive the queues of a backend at the same time, each queue by
 * one of them. */
#include "runtime/progress.h"
#include "base/base.h"

struct hg_progress {
    uint32_t references; /* atomic */
    bool threads, waits, polls;
    hg_mutex lock; /* of all below; held for moments */
    hg_cond changed;
    hg_driven *driven; /* atomic */
    uint64_t pass;
    hg_due *due, *last_due;
    uint64_t calls;   /* that were ever due */
    hg_thread thread; /* calls them */
    bool has_thread, closing;
    int closed; /* atomic */
    hg_fork_lock forks;
};

/* In a forked child: the parent calls what is due there. */
static void forked(void *user) {
    hg_progress *p = user;
    p->due = p->last_due = NULL;
    p->has_thread = false;
}

hg_progress *hg_progress_create(void) {
    hg_progress *p = hg_calloc(1, sizeof *p);
    if (!p) return NULL;
    p->references = 1;
    hg_mutex_init(&p->lock);
    hg_cond_init(&p->changed);
    p->forks = (hg_fork_lock){.mutex = &p->lock, .cond = &p->changed, .child = forked, .user = p};
    hg_fork_add(&p->forks, HG_FORK_LIST);
    return p;
}

void hg_progress_open(hg_progress *p, bool threads, bool waits, bool polls) {
    p->threads = threads;
    p->waits = waits;
    p->polls = polls;
}

void hg_progress_retain(hg_progress *p) { hg_atomic_fetch_add(&p->references, 1, HG_RELAXED); }

void hg_progress_release(hg_progress *p) {
    if (hg_atomic_sub_fetch(&p->references, 1, HG_ACQ_REL) != 0) return;
    hg_mutex_destroy(&p->lock);
    hg_cond_destroy(&p->changed);
    hg_free(p);
}

/* ---- where a thread is ---- */

/* A backend whose queues this thread drives, or whose callback it is in. */
typedef struct frame {
    struct frame *outer;
    const hg_progress *progress;
    bool entered; /* by a call of the host: the frames outside of it go on when that has returned */
} frame;
static HG_THREAD_LOCAL frame *frames;

/* IDLE: this thread is not in it. LEFT: it is, and goes on there by itself. */
static hg_progress_state find_frame(const hg_progress *p, bool entered) {
    for (const frame *f = frames; f; f = f->outer) {
        if (f->progress == p) return entered ? HG_PROGRESS_INSIDE : HG_PROGRESS_LEFT;
        entered = entered || f->entered;
    }
    return HG_PROGRESS_IDLE;
}

/* ---- queues without a thread ---- */

void hg_progress_add(hg_progress *p, hg_driven *d) {
    hg_mutex_lock(&p->lock);
    d->pass = p->pass;
    d->next = p->driven;
    hg_atomic_store(&p->driven, d, HG_RELEASE);
    hg_mutex_unlock(&p->lock);
}

void hg_progress_remove(hg_progress *p, hg_driven *d) {
    hg_mutex_lock(&p->lock);
    while (d->busy) hg_cond_wait(&p->changed, &p->lock);
    hg_driven **at = &p->driven;
    while (*at != d) at = &(*at)->next;
    hg_atomic_store(at, d->next, HG_RELEASE);
    hg_mutex_unlock(&p->lock);
}

bool hg_progress_has_driven(const hg_progress *p) {
    return hg_atomic_load(&p->driven, HG_ACQUIRE) != NULL;
}

static uint64_t begin_pass(hg_progress *p) {
    hg_mutex_lock(&p->lock);
    uint64_t pass = ++p->pass;
    hg_mutex_unlock(&p->lock);
    return pass;
}

/* One that this pass has not driven, nor one that began later. *left: somebody else drives one. */
static hg_driven *take(hg_progress *p, uint64_t pass, bool *left) {
    *left = false;
    hg_mutex_lock(&p->lock);
    hg_driven *d = p->driven;
    for (; d && (d->busy || d->pass >= pass); d = d->next) *left = *left || d->busy;
    if (d) {
        d->busy = true;
        d->pass = pass;
    }
    hg_mutex_unlock(&p->lock);
    return d;
}

static void put_back(hg_progress *p, hg_driven *d) {
    hg_mutex_lock(&p->lock);
    d->busy = false;
    hg_cond_broadcast(&p->changed);
    hg_mutex_unlock(&p->lock);
}

static hg_progress_state drive_all(hg_progress *p, bool entered) {
    frame self = {.outer = frames, .progress = p, .entered = entered};
    hg_progress_state most = HG_PROGRESS_IDLE;
    uint64_t pass = begin_pass(p);
    bool left;
    frames = &self;
    for (hg_driven *d = take(p, pass, &left); d; d = take(p, pass, &left)) {
        hg_progress_state state = d->drive(d);
        if (state > most) most = state;
        put_back(p, d);
    }
    frames = self.outer;
    return left && most == HG_PROGRESS_IDLE ? HG_PROGRESS_LEFT : most;
}

hg_progress_state hg_progress_drive(hg_progress *p) {
    return find_frame(p, true) == HG_PROGRESS_IDLE ? drive_all(p, true) : HG_PROGRESS_INSIDE;
}

hg_progress_state hg_progress_drive_behind(hg_progress *p) {
    hg_progress_state state = find_frame(p, false);
    if (state == HG_PROGRESS_IDLE) state = drive_all(p, false);
    return state == HG_PROGRESS_INSIDE ? state : HG_PROGRESS_LEFT;
}

void hg_progress_drive_inside(hg_progress *p) { (void)drive_all(p, true); }

bool hg_progress_can_wait(const hg_progress *p, hg_progress_state state) {
    return state != HG_PROGRESS_INSIDE && (p->polls || (p->waits && HG_HAS_THREADS));
}

bool hg_progress_polls(const hg_progress *p) { return p->polls; }

/* ---- callbacks ---- */

/* The oldest that is due. The lock is held, but not meanwhile. */
static void call_next(hg_progress *p) {
    hg_due *due = p->due;
    frame self = {.outer = frames, .progress = p, .entered = true};
    p->due = due->next;
    if (!p->due) p->last_due = NULL;
    hg_mutex_unlock(&p->lock);
    frames = &self;
    due->call(due);
    frames = self.outer;
    hg_mutex_lock(&p->lock);
}

static void *serve(void *user) {
    hg_progress *p = user;
    hg_thread_name("hologram-events");
    hg_mutex_lock(&p->lock);
    while (p->due || !p->closing) {
        if (p->due)
            call_next(p);
        else
            hg_cond_wait(&p->changed, &p->lock);
    }
    hg_mutex_unlock(&p->lock);
    return NULL;
}

bool hg_progress_call(hg_progress *p, hg_due *first, hg_due *last) {
    if (hg_atomic_load(&p->closed, HG_ACQUIRE)) return false;
    hg_mutex_lock(&p->lock);
    bool open = !p->closed;
    if (open) {
        *(p->last_due ? &p->last_due->next : &p->due) = first;
        p->last_due = last;
        for (hg_due *d = first; d; d = d->next) d->number = ++p->calls;
        if (!p->has_thread && p->threads && !p->closing)
            p->has_thread = hg_thread_start(&p->thread, serve, p);
        hg_cond_broadcast(&p->changed);
    }
    hg_mutex_unlock(&p->lock);
    return open;
}

bool hg_progress_tell(hg_progress *p) {
    hg_mutex_lock(&p->lock);
    uint64_t last = p->calls;
    bool any = false;
    while (!p->has_thread && p->due && p->due->number <= last) {
        call_next(p);
        any = true;
    }
    hg_mutex_unlock(&p->lock);
    return any;
}

void hg_progress_close(hg_progress *p) {
    if (!p) return;
    hg_mutex_lock(&p->lock);
    p->closing = true;
    bool joins = p->has_thread;
    hg_cond_broadcast(&p->changed);
    hg_mutex_unlock(&p->lock);
    if (joins) hg_thread_join(p->thread);
    hg_mutex_lock(&p->lock);
    while (p->due) call_next(p);
    hg_atomic_store(&p->closed, 1, HG_RELEASE);
    hg_mutex_unlock(&p->lock);
    hg_fork_remove(&p->forks);
    hg_progress_release(p);
}
