/* Ranks of one process: a ring of messages for each pair of ranks and channel. A small message is
 * copied into its place, of a large one the receiver copies, or reads, the sender's memory.
 * Must not know: what messages say. */
#include "comm/threads/threads.h"
#include "base/thread.h"
#include <stdio.h>
#include <string.h>

enum { PLACES = 4, SMALL_BYTES = 256, WHY_BYTES = 160 };

/* Who may touch a place: the sender FREE and, where the message is large, DONE; the receiver
 * POSTED; whoever borrowed it TAKEN. */
typedef enum place_state { FREE, POSTED, TAKEN, DONE, WITHDRAWN } place_state;

typedef struct place {
    int state;    /* atomic */
    uint32_t cpu; /* where it was sent */
    uint64_t bytes;
    void *memory; /* NULL: the message is in `small` */
    uint8_t small[SMALL_BYTES];
} place;

typedef struct ring {
    _Alignas(64) uint64_t sent; /* the sender's */
    /* The receiver's: messages that came, and that a receive was posted for. */
    _Alignas(64) uint64_t received, awaited;
    _Alignas(64) place places[PLACES];
} ring;

/* Where a rank sleeps. */
typedef struct bell {
    _Alignas(64) uint32_t rung; /* atomic */
    int sleeps;                 /* atomic */
    hg_mutex lock;
    hg_cond cond;
} bell;

typedef struct vote {
    bool given;
    uint64_t flags;
} vote;

typedef struct part { /* of a split, until every member has it */
    struct part *next;
    uint64_t number;
    uint32_t first; /* its first member: of one split, parts differ by it */
    uint32_t count, left;
    comm_group *ends[]; /* of the members in their order */
} part;

typedef struct shared {
    uint32_t size, holders; /* atomic */
    ring *rings;            /* [channel][receiver][sender] */
    bell *bells;
    int *gone;     /* atomic, of each rank */
    int revoked;   /* atomic; why is set before */
    hg_mutex lock; /* of what is below */
    hg_cond changed;
    char why[WHY_BYTES];
    vote *votes;         /* of each rank, for the next agreement */
    comm_agreement last; /* the next one is made when every living rank has this one's result */
    part *parts;
} shared;

struct comm_group {
    shared *s;
    uint32_t rank;
    uint32_t seen;     /* of its bell */
    uint32_t peer_cpu; /* where the last message that came was sent */
    uint64_t moved_ns; /* when the rank went to another CPU */
};

/* ---- making and freeing ---- */

static void close_end(comm_group *g);

static void free_shared(shared *s) {
    for (uint32_t i = 0; s->bells && i < s->size; i++) {
        hg_mutex_destroy(&s->bells[i].lock);
        hg_cond_destroy(&s->bells[i].cond);
    }
    hg_mutex_destroy(&s->lock);
    hg_cond_destroy(&s->changed);
    hg_free_aligned(s->rings);
    hg_free_aligned(s->bells);
    hg_free(s->gone);
    hg_free(s->votes);
    hg_free(s->last.members);
    for (part *p = s->parts, *next; p; p = next) { /* some member never asked for its end */
        next = p->next;
        for (uint32_t i = 0; i < p->count; i++) close_end(p->ends[i]);
        hg_free(p);
    }
    hg_free(s);
}

static void let_go(shared *s) {
    if (hg_atomic_sub_fetch(&s->holders, 1, HG_ACQ_REL) == 0) free_shared(s);
}

static shared *make_shared(uint32_t ranks) {
    shared *s = hg_calloc(1, sizeof *s);
    if (!s) return NULL;
    hg_mutex_init(&s->lock);
    hg_cond_init(&s->changed);
    s->size = ranks;
    s->holders = ranks;
    s->rings = hg_calloc_aligned((size_t)ranks * ranks * COMM_CHANNELS * sizeof *s->rings, 64);
    s->bells = hg_calloc_aligned(ranks * sizeof *s->bells, 64);
    s->gone = hg_calloc(ranks, sizeof *s->gone);
    s->votes = hg_calloc(ranks, sizeof *s->votes);
    for (uint32_t i = 0; s->bells && i < ranks; i++) {
        hg_mutex_init(&s->bells[i].lock);
        hg_cond_init(&s->bells[i].cond);
    }
    if (s->rings && s->bells && s->gone && s->votes) return s;
    free_shared(s);
    return NULL;
}

hg_status comm_threads_create(uint32_t ranks, comm_group **ends) {
    shared *s = make_shared(ranks);
    if (!s) return hg_fail_memory();
    uint32_t made = 0;
    for (; made < ranks && (ends[made] = hg_calloc(1, sizeof **ends)); made++)
        *ends[made] = (comm_group){.s = s, .rank = made, .peer_cpu = HG_CPU_UNKNOWN};
    if (made == ranks) return HG_OK;
    while (made) hg_free(ends[--made]);
    free_shared(s);
    return hg_fail_memory();
}

static bool launched(void) { return true; }

static hg_status open_local(hg_backend *const *backends, uint32_t ranks, comm_group **ends) {
    (void)backends;
    return comm_threads_create(ranks, ends);
}

static hg_status open_one(hg_backend *backend, comm_group **group, uint32_t *rank, uint32_t *size) {
    (void)backend;
    *rank = 0;
    *size = 1;
    return comm_threads_create(1, group);
}

/* ---- bells ---- */

static void ring_bell(bell *b) {
    hg_atomic_fetch_add(&b->rung, 1, HG_SEQ_CST);
    if (!hg_atomic_load(&b->sleeps, HG_SEQ_CST)) return;
    hg_mutex_lock(&b->lock);
    hg_cond_signal(&b->cond);
    hg_mutex_unlock(&b->lock);
}

static void ring_all(shared *s) {
    for (uint32_t i = 0; i < s->size; i++) ring_bell(&s->bells[i]);
    hg_mutex_lock(&s->lock);
    hg_cond_broadcast(&s->changed);
    hg_mutex_unlock(&s->lock);
}

static void look(comm_group *g) {
    g->seen = hg_atomic_load(&g->s->bells[g->rank].rung, HG_SEQ_CST);
}

static void sleep_until(comm_group *g, uint64_t until_ns) {
    bell *b = &g->s->bells[g->rank];
    hg_mutex_lock(&b->lock);
    hg_atomic_store(&b->sleeps, 1, HG_SEQ_CST);
    bool may = true;
    while (may && hg_atomic_load(&b->rung, HG_SEQ_CST) == g->seen)
        may = hg_cond_wait_until(&b->cond, &b->lock, until_ns);
    hg_atomic_store(&b->sleeps, 0, HG_SEQ_CST);
    hg_mutex_unlock(&b->lock);
}

/* Two ranks on one CPU take ten times as long for a message, and a system leaves them there: each
 * runs only when the other lets it. */
static void move_apart(comm_group *g) {
    enum { BETWEEN_NS = 1000000 };
    uint32_t cpu = hg_cpu_current();
    if (cpu != g->peer_cpu || cpu == HG_CPU_UNKNOWN) return;
    uint64_t now = hg_clock_ns();
    if (now - g->moved_ns < BETWEEN_NS || g->s->size > hg_cpu_count()) return;
    g->moved_ns = now;
    g->peer_cpu = HG_CPU_UNKNOWN;
    (void)hg_thread_move_off(cpu);
}

static void wake(comm_group *g) { ring_bell(&g->s->bells[g->rank]); }

/* ---- messages ---- */

static ring *ring_of(const comm_group *g, const comm_transfer *t) {
    uint32_t from = t->receives ? t->peer : g->rank, to = t->receives ? g->rank : t->peer;
    return &g->s->rings[((size_t)t->channel * g->s->size + to) * g->s->size + from];
}

/* Nothing more comes from the other rank. Asked before a message is looked for: what a rank did
 * before it was gone is seen then. */
static bool is_over(const comm_group *g, const comm_transfer *t) {
    return hg_atomic_load(&g->s->revoked, HG_ACQUIRE) ||
           hg_atomic_load(&g->s->gone[t->peer], HG_ACQUIRE);
}

static hg_status why_over(comm_group *g, const comm_transfer *t) {
    shared *s = g->s;
    if (!hg_atomic_load(&s->revoked, HG_ACQUIRE))
        return hg_fail(HG_ERROR_EXECUTION_FAILED, "rank %u is gone", (unsigned)t->peer);
    hg_mutex_lock(&s->lock);
    hg_status status = hg_fail(HG_ERROR_EXECUTION_FAILED, "%s", s->why);
    hg_mutex_unlock(&s->lock);
    return status;
}

static hg_status check(comm_group *g, uint32_t peer) {
    const comm_transfer t = {.peer = peer};
    return is_over(g, &t) ? why_over(g, &t) : HG_OK;
}

static void post_send(comm_group *g, comm_transfer *t) {
    ring *r = ring_of(g, t);
    place *p = &r->places[r->sent % PLACES];
    if (hg_atomic_load(&p->state, HG_ACQUIRE) != FREE) return;
    p->bytes = t->bytes;
    p->cpu = hg_cpu_current();
    p->memory = t->bytes <= SMALL_BYTES ? NULL : t->memory;
    if (!p->memory && t->bytes) memcpy(p->small, t->memory, (size_t)t->bytes);
    t->own[0] = r->sent++ % PLACES;
    t->posted = true;
    t->done = !p->memory;
    hg_atomic_store(&p->state, POSTED, HG_RELEASE);
    ring_bell(&g->s->bells[t->peer]);
}

static hg_status post(comm_group *g, comm_transfer *t) {
    if (t->receives) {
        t->own[1] = ring_of(g, t)->awaited++;
        t->posted = true;
    } else {
        post_send(g, t);
    }
    return t->posted || !is_over(g, t) ? HG_OK : why_over(g, t);
}

static void end_message(comm_group *g, const comm_transfer *t, place *p) {
    bool large = p->memory != NULL;
    hg_atomic_store(&p->state, large ? DONE : FREE, HG_RELEASE);
    if (large) ring_bell(&g->s->bells[t->peer]);
}

/* NULL: there is no message yet. */
static place *next_message(ring *r) {
    place *p = &r->places[r->received % PLACES];
    int expected = POSTED;
    return hg_atomic_load(&p->state, HG_ACQUIRE) == POSTED &&
                   hg_atomic_compare_exchange(&p->state, &expected, TAKEN, HG_ACQUIRE)
               ? p
               : NULL;
}

static hg_status poll_receive(comm_group *g, comm_transfer *t) {
    ring *r = ring_of(g, t);
    bool over = is_over(g, t);
    place *p = r->received == t->own[1] ? next_message(r) : NULL; /* else it is another's */
    if (!p) return over ? why_over(g, t) : HG_OK;
    t->own[0] = r->received++ % PLACES;
    g->peer_cpu = p->cpu;
    t->done = true;
    uint64_t room = t->bytes;
    t->bytes = p->bytes;
    if (t->bytes > room) {
        end_message(g, t, p);
        return hg_fail(HG_ERROR_INTERNAL, "a message of %llu bytes where %llu were expected",
                       (unsigned long long)t->bytes, (unsigned long long)room);
    }
    if (t->borrows) {
        t->memory = p->memory ? p->memory : p->small;
        t->borrowed = true;
        return HG_OK;
    }
    if (t->bytes) memcpy(t->memory, p->memory ? p->memory : p->small, (size_t)t->bytes);
    end_message(g, t, p);
    return HG_OK;
}

static hg_status poll(comm_group *g, comm_transfer *t) {
    if (t->receives) return poll_receive(g, t);
    place *p = &ring_of(g, t)->places[t->own[0]];
    bool over = is_over(g, t);
    if (hg_atomic_load(&p->state, HG_ACQUIRE) != DONE) return over ? why_over(g, t) : HG_OK;
    hg_atomic_store(&p->state, FREE, HG_RELEASE);
    t->done = true;
    return HG_OK;
}

static void give_back(comm_group *g, comm_transfer *t) {
    end_message(g, t, &ring_of(g, t)->places[t->own[0]]);
    t->borrowed = false;
}

/* A receiver that has taken the message is in the middle of a copy, or will give it back. */
static void withdraw(comm_group *g, comm_transfer *t) {
    if (t->borrowed) give_back(g, t);
    if (t->receives || !t->posted || t->done) return;
    place *p = &ring_of(g, t)->places[t->own[0]];
    int expected = POSTED;
    if (hg_atomic_compare_exchange(&p->state, &expected, WITHDRAWN, HG_ACQUIRE)) return;
    while (hg_atomic_load(&p->state, HG_ACQUIRE) == TAKEN) {
        look(g);
        if (hg_atomic_load(&p->state, HG_ACQUIRE) == TAKEN) sleep_until(g, hg_clock_ns() + 1000000);
    }
}

/* ---- the end of ranks and of groups ---- */

static void revoke(comm_group *g, const char *why) {
    shared *s = g->s;
    hg_mutex_lock(&s->lock);
    if (!hg_atomic_load(&s->revoked, HG_RELAXED)) {
        snprintf(s->why, sizeof s->why, "%s", why);
        hg_atomic_store(&s->revoked, 1, HG_RELEASE);
    }
    hg_mutex_unlock(&s->lock);
    ring_all(s);
}

/* Where all living ranks have come: the agreement. false: no memory. Under the lock. */
static bool conclude(shared *s) {
    comm_agreement *a = &s->last;
    uint32_t count = 0;
    uint64_t flags = UINT64_MAX;
    for (uint32_t i = 0; i < s->size; i++) {
        if (hg_atomic_load(&s->gone[i], HG_ACQUIRE)) continue;
        if (!s->votes[i].given) return true;
        flags &= s->votes[i].flags;
        count++;
    }
    if (!count) return true;
    uint32_t *members = hg_calloc(count, sizeof *members), at = 0;
    if (!members) return false;
    for (uint32_t i = 0; i < s->size; i++) {
        if (!hg_atomic_load(&s->gone[i], HG_ACQUIRE)) members[at++] = i;
        s->votes[i].given = false;
    }
    hg_free(a->members);
    a->members = members;
    a->count = count;
    a->flags = flags;
    a->number++;
    hg_cond_broadcast(&s->changed);
    return true;
}

static void close_end(comm_group *g) {
    if (!g) return;
    shared *s = g->s;
    hg_mutex_lock(&s->lock);
    hg_atomic_store(&s->gone[g->rank], 1, HG_RELEASE);
    HG_IGNORE(conclude(s)); /* without memory the others come to their deadline */
    hg_mutex_unlock(&s->lock);
    ring_all(s);
    let_go(s);
    hg_free(g);
}

static hg_status take_result(const comm_agreement *last, comm_agreement *agreed) {
    *agreed = *last;
    agreed->members = hg_alloc(last->count * sizeof *agreed->members);
    if (!agreed->members) return hg_fail_memory();
    memcpy(agreed->members, last->members, last->count * sizeof *agreed->members);
    return HG_OK;
}

/* Under the lock. */
static hg_status vote_for(comm_group *g, uint64_t deadline_ns, uint64_t flags,
                          comm_agreement *agreed) {
    shared *s = g->s;
    uint64_t number = s->last.number;
    s->votes[g->rank] = (vote){.given = true, .flags = flags};
    bool can = conclude(s), may = can;
    while (s->last.number == number && may)
        may = hg_cond_wait_until(&s->changed, &s->lock, deadline_ns);
    if (s->last.number != number) return take_result(&s->last, agreed);
    s->votes[g->rank].given = false;
    return can ? hg_fail(HG_ERROR_TIMEOUT, "agree: not every living rank has called it in time")
               : hg_fail_memory();
}

static hg_status agree(comm_group *g, uint64_t deadline_ns, uint64_t flags,
                       comm_agreement *agreed) {
    hg_mutex_lock(&g->s->lock);
    hg_status status = vote_for(g, deadline_ns, flags, agreed);
    hg_mutex_unlock(&g->s->lock);
    return status;
}

/* ---- parts ---- */

static part **find_part(shared *s, uint64_t number, uint32_t first) {
    part **at = &s->parts;
    while (*at && ((*at)->number != number || (*at)->first != first)) at = &(*at)->next;
    return at;
}

static hg_status make_part(part **at, const comm_part *wanted) {
    part *p = hg_calloc(1, sizeof *p + wanted->count * sizeof(comm_group *));
    if (!p) return hg_fail_memory();
    *p = (part){.number = wanted->number,
                .first = wanted->members[0],
                .count = wanted->count,
                .left = wanted->count};
    hg_status status = comm_threads_create(wanted->count, p->ends);
    if (status == HG_OK)
        *at = p;
    else
        hg_free(p);
    return status;
}

/* Whoever comes first makes the ends of all: nobody waits. */
static hg_status split(comm_group *g, const comm_part *wanted, uint64_t deadline_ns,
                       comm_group **end) {
    shared *s = g->s;
    uint32_t own = 0;
    (void)deadline_ns;
    if (!wanted->count) return HG_OK;
    while (wanted->members[own] != g->rank) own++;
    hg_mutex_lock(&s->lock);
    part **at = find_part(s, wanted->number, wanted->members[0]), *p = *at;
    hg_status status = p ? HG_OK : make_part(at, wanted);
    if (status == HG_OK) {
        p = *at;
        *end = p->ends[own];
        p->ends[own] = NULL;
        if (--p->left == 0) {
            *at = p->next;
            hg_free(p);
        }
    }
    hg_mutex_unlock(&s->lock);
    return status;
}

const comm_provider comm_provider_threads = {.name = "threads",
                                             .launched = launched,
                                             .open = open_one,
                                             .open_local = open_local,
                                             .close = close_end,
                                             .post = post,
                                             .poll = poll,
                                             .give_back = give_back,
                                             .check = check,
                                             .withdraw = withdraw,
                                             .look = look,
                                             .move_apart = move_apart,
                                             .sleep = sleep_until,
                                             .wake = wake,
                                             .split = split,
                                             .revoke = revoke,
                                             .agree = agree};
