/* Ranks whose backends are NVIDIA's GPUs. Arrays that lie there go from GPU to GPU by NCCL's sends
 * and receives, those of a round as one group in a stream of this communicator's own; everything
 * else goes the way of the provider below, which is mpi under its launcher and threads in one
 * process: first messages, host memory, what tells ranks that others failed. So nothing has to be
 * agreed on beside, and bits are those of every provider. Must not know: what messages say. */
#include "comm/nccl/nccl.h"
#include "base/host.h"
#include "base/thread.h"
#include "comm/provider.h"
#include <stdio.h>
#include <string.h>

enum {
    LOOK_NS = 50000,       /* nothing wakes who waits for the GPU */
    LAST_LOOKS = 20,       /* for what a rank did before it was gone */
    FLUSH_NS = 1000000000, /* at the end the other ranks may still be reading what was sent */
    LOCAL_NS = 2000000000  /* one rank tells the others the name of the communicator */
};
#define NCCL_MAGIC 0xcafebeefu

typedef struct message {
    uint8_t *memory;
    uint64_t bytes;
    uint32_t peer;
    bool receives;
} message;

struct comm_group {
    const comm_provider *base;
    comm_group *below; /* of the base */
    hg_backend *backend;
    uint32_t rank, size;
    const nccl_functions *call;
    void *context, *stream, *event;
    hg_mutex lock; /* of what follows, up to `why`: revoke comes from any thread */
    void *comm;    /* NULL: it is over */
    bool ready;    /* it has all ranks */
    bool begins;   /* a group of messages is not in the stream yet */
    char why[256]; /* it is over */
    /* whoever drives */
    message *posted;
    uint32_t count, room;
    uint64_t launched, finished; /* groups of messages, in order */
};

/* ---- calls of NCCL and the driver ---- */

static hg_status fails(const comm_group *g, const char *what, int code) {
    const char *more = g->call->GetLastError(g->comm), *text = g->call->GetErrorString(code);
    bool says = more && *more;
    return hg_fail(HG_ERROR_EXECUTION_FAILED, "NCCL: %s: %s%s%s", what, text ? text : "error",
                   says ? ": " : "", says ? more : "");
}

static hg_status driver_fails(const char *what, int code) {
    return hg_fail(HG_ERROR_EXECUTION_FAILED, "nccl: %s: CUDA error %d", what, code);
}

/* A call that may go on behind its return. */
#define NCCL_TRY(g, name, ...)                                          \
    do {                                                                \
        int nccl_code = (g)->call->name(__VA_ARGS__);                   \
        if (nccl_code != NCCL_SUCCESS && nccl_code != NCCL_IN_PROGRESS) \
            return fails(g, "nccl" #name, nccl_code);                   \
    } while (0)
#define DRIVER_TRY(g, name, ...)                                  \
    do {                                                          \
        int driver_code = (g)->call->name(__VA_ARGS__);           \
        if (driver_code) return driver_fails(#name, driver_code); \
    } while (0)

static bool enter(const comm_group *g) { return g->call->push(g->context) == 0; }
static void leave(const comm_group *g) {
    void *context;
    (void)g->call->pop(&context);
}

/* Whether what was begun is done. Under the lock. */
static hg_status is_settled(const comm_group *g, bool *settled) {
    int code = NCCL_SUCCESS;
    *settled = false;
    if (!g->comm) return hg_fail(HG_ERROR_EXECUTION_FAILED, "%s", g->why);
    NCCL_TRY(g, CommGetAsyncError, g->comm, &code);
    if (code != NCCL_SUCCESS && code != NCCL_IN_PROGRESS) return fails(g, "a message", code);
    *settled = code == NCCL_SUCCESS;
    return HG_OK;
}

/* ---- ends of communicators ---- */

static void abort_comm(comm_group *g, const char *why) {
    hg_mutex_lock(&g->lock);
    if (g->comm) {
        snprintf(g->why, sizeof g->why, "%s", why);
        (void)g->call->CommAbort(g->comm);
        g->comm = NULL;
    }
    hg_mutex_unlock(&g->lock);
}

/* What was sent may still be on its way to ranks that read it: they have a while for it. */
static void flush(comm_group *g) {
    uint64_t until = hg_clock_ns() + FLUSH_NS;
    bool settled = false;
    hg_mutex_lock(&g->lock);
    int code = g->comm && g->ready ? g->call->CommFinalize(g->comm) : -1;
    bool waits = code == NCCL_SUCCESS || code == NCCL_IN_PROGRESS;
    while (waits && is_settled(g, &settled) == HG_OK && !settled && hg_clock_ns() < until)
        hg_thread_yield();
    if (settled) {
        (void)g->call->CommDestroy(g->comm);
        g->comm = NULL;
    }
    hg_mutex_unlock(&g->lock);
}

static void close_group(comm_group *g) {
    if (!g) return;
    flush(g);
    abort_comm(g, "the communicator is destroyed");
    if (enter(g)) {
        if (g->event) (void)g->call->event_destroy(g->event);
        if (g->stream) (void)g->call->stream_destroy(g->stream);
        leave(g);
    }
    g->base->close(g->below);
    hg_mutex_destroy(&g->lock);
    hg_free(g->posted);
    hg_free(g);
}

/* ---- making them ---- */

static hg_status make_stream(comm_group *g) {
    enum { NON_BLOCKING = 1, NO_TIMING = 2 };
    DRIVER_TRY(g, stream_create, &g->stream, NON_BLOCKING);
    DRIVER_TRY(g, event_create, &g->event, NO_TIMING);
    return HG_OK;
}

static hg_status join_comm(comm_group *g, const nccl_id *id) {
    nccl_config config = {.size = sizeof config, .magic = NCCL_MAGIC, .version = 21400};
    HG_TRY(make_stream(g));
    NCCL_TRY(g, CommInitRankConfig, &g->comm, (int)g->size, *id, (int)g->rank, &config);
    return HG_OK;
}

/* Over an end of the base, which is the new one's from now on, and closed where there is none. The
 * ranks meet when messages are first sent. */
static hg_status make_group(const comm_provider *base, comm_group *below, hg_backend *backend,
                            uint32_t rank, uint32_t size, comm_group **group) {
    const nccl_functions *call;
    hg_status status = nccl_open(true, &call);
    comm_group *g = status == HG_OK ? hg_calloc(1, sizeof *g) : NULL;
    if (!g) {
        base->close(below);
        return status == HG_OK ? hg_fail_memory() : status;
    }
    *g = (comm_group){.base = base,
                      .below = below,
                      .backend = backend,
                      .rank = rank,
                      .size = size,
                      .call = call,
                      .context = hg_backend_native(backend)};
    snprintf(g->why, sizeof g->why, "nccl: the communicator was not made");
    hg_mutex_init(&g->lock);
    *group = g;
    return HG_OK;
}

static hg_status join(comm_group *g, const nccl_id *id) {
    if (!enter(g)) return driver_fails("cuCtxPushCurrent", 0);
    hg_status status = join_comm(g, id);
    leave(g);
    return status;
}

static hg_status wait_for(comm_group *g, comm_transfer *t, uint64_t deadline_ns) {
    while (!t->done) {
        g->base->look(g->below);
        if (!t->posted) HG_TRY(g->base->post(g->below, t));
        if (t->posted && !t->done) HG_TRY(g->base->poll(g->below, t));
        if (t->done) break;
        if (hg_clock_ns() >= deadline_ns) {
            if (t->posted) g->base->withdraw(g->below, t);
            return hg_fail(HG_ERROR_TIMEOUT, "nccl: rank %u did not come in time",
                           (unsigned)t->peer);
        }
        g->base->sleep(g->below, hg_clock_ns() + LOOK_NS);
    }
    return HG_OK;
}

/* What rank 0 tells the others: the name, or that it has none. */
typedef struct invitation {
    uint64_t made;
    nccl_id id;
} invitation;

static hg_status share_id(comm_group *g, uint64_t deadline_ns, nccl_id *id) {
    invitation word = {0};
    hg_status status = HG_OK;
    if (g->rank == 0) {
        int code = g->call->GetUniqueId(&word.id);
        word.made = code == NCCL_SUCCESS;
        if (!word.made) status = fails(g, "ncclGetUniqueId", code);
    }
    hg_error error = *hg_error_record();
    for (uint32_t p = g->rank ? 0 : 1; p < (g->rank ? 1 : g->size); p++) {
        comm_transfer t = {.peer = p,
                           .channel = COMM_COLLECTIVE,
                           .receives = g->rank != 0,
                           .memory = &word,
                           .bytes = sizeof word};
        HG_TRY(wait_for(g, &t, deadline_ns));
    }
    *id = word.id;
    if (word.made) return HG_OK;
    *hg_error_record() = error;
    return g->rank ? hg_fail(HG_ERROR_EXECUTION_FAILED, "NCCL: rank 0 cannot name a communicator")
                   : status;
}

static hg_status begin(comm_group *g, uint64_t deadline_ns) {
    nccl_id id;
    HG_TRY(share_id(g, deadline_ns, &id));
    return join(g, &id);
}

static hg_status end_of(hg_status status, comm_group **group) {
    if (status == HG_OK) return HG_OK;
    hg_error error = *hg_error_record();
    close_group(*group);
    *group = NULL;
    *hg_error_record() = error;
    return status;
}

/* ---- opening ---- */

extern const comm_provider comm_provider_mpi, comm_provider_threads;

static bool launched(void) { return comm_provider_mpi.launched(); }

static hg_status open_group(hg_backend *backend, comm_group **group, uint32_t *rank,
                            uint32_t *size) {
    const comm_provider *base = launched() ? &comm_provider_mpi : &comm_provider_threads;
    const nccl_functions *call;
    comm_group *below;
    if (strcmp(hg_backend_name(backend), "cuda") != 0)
        return hg_fail(HG_ERROR_BACKEND_UNAVAILABLE,
                       "nccl: the backend is %s, expected cuda: NCCL moves memory of NVIDIA's GPUs",
                       hg_backend_name(backend));
    HG_TRY(nccl_open(true, &call));
    HG_TRY(base->open(backend, &below, rank, size));
    HG_TRY(make_group(base, below, backend, *rank, *size, group));
    return end_of(begin(*group, hg_clock_ns() + 15 * (uint64_t)LOCAL_NS), group);
}

/* GPUs of their own, and somebody who wants NCCL. */
static bool is_for(hg_backend *const *backends, uint32_t ranks) {
    const char *file = hg_host_variable("HOLOGRAM_NCCL");
    if (!file || !*file) return false;
    for (uint32_t i = 0; i < ranks; i++) {
        if (strcmp(hg_backend_name(backends[i]), "cuda") != 0) return false;
        for (uint32_t j = 0; j < i; j++)
            if (hg_backend_native(backends[i]) == hg_backend_native(backends[j])) return false;
    }
    return true;
}

/* All ends over those of threads, which are gone where one cannot be made. */
static hg_status wrap(hg_backend *const *backends, uint32_t ranks, comm_group **ends) {
    hg_status status = HG_OK;
    uint32_t made = 0;
    while (made < ranks && status == HG_OK) {
        status = make_group(&comm_provider_threads, ends[made], backends[made], made, ranks,
                            &ends[made]);
        made += status == HG_OK;
    }
    if (status == HG_OK) return HG_OK;
    hg_error error = *hg_error_record();
    for (uint32_t i = 0; i < ranks; i++)
        if (i < made)
            close_group(ends[i]);
        else if (i > made)
            comm_provider_threads.close(ends[i]);
    *hg_error_record() = error;
    return status;
}

static hg_status open_local(hg_backend *const *backends, uint32_t ranks, comm_group **ends) {
    const nccl_functions *call;
    nccl_id id;
    ends[0] = NULL;
    if (!is_for(backends, ranks)) return HG_OK;
    HG_TRY(nccl_open(true, &call));
    HG_TRY(comm_provider_threads.open_local(backends, ranks, ends));
    HG_TRY(wrap(backends, ranks, ends));
    int code = call->GetUniqueId(&id);
    hg_status status = code == NCCL_SUCCESS ? HG_OK : fails(ends[0], "ncclGetUniqueId", code);
    for (uint32_t i = 0; i < ranks && status == HG_OK; i++) status = join(ends[i], &id);
    if (status == HG_OK) return HG_OK;
    hg_error error = *hg_error_record();
    for (uint32_t i = 0; i < ranks; i++) close_group(ends[i]);
    *hg_error_record() = error;
    return status;
}

/* The members' own communicator: rank 0 of them names it. */
static hg_status split(comm_group *g, const comm_part *wanted, uint64_t deadline_ns,
                       comm_group **part) {
    comm_group *below = NULL;
    uint32_t own = 0;
    HG_TRY(g->base->split(g->below, wanted, deadline_ns, &below));
    if (!wanted->count) return HG_OK;
    while (wanted->members[own] != g->rank) own++;
    HG_TRY(make_group(g->base, below, g->backend, own, wanted->count, part));
    return end_of(begin(*part, deadline_ns), part);
}

/* ---- messages ---- */

static hg_status post(comm_group *g, comm_transfer *t) {
    if (!t->device) return g->base->post(g->below, t);
    if (g->count == g->room) {
        uint32_t room = g->room ? 2 * g->room : 16;
        message *more = hg_realloc(g->posted, room * sizeof *more);
        if (!more) return hg_fail_memory();
        g->posted = more;
        g->room = room;
    }
    g->posted[g->count++] = (message){t->memory, t->bytes, t->peer, t->receives};
    t->own[0] = g->launched + 1;
    t->own[1] = 0; /* looks since the peer is gone */
    t->posted = true;
    return HG_OK;
}

/* Those of `posted`, as one group. Under the lock, in the context. */
static hg_status send_group(comm_group *g) {
    int code = g->call->GroupStart();
    if (code != NCCL_SUCCESS) return fails(g, "ncclGroupStart", code);
    for (uint32_t i = 0; i < g->count && (code == NCCL_SUCCESS || code == NCCL_IN_PROGRESS); i++) {
        const message *m = &g->posted[i];
        code = m->receives ? g->call->Recv(m->memory, (size_t)m->bytes, NCCL_BYTES, (int)m->peer,
                                           g->comm, g->stream)
                           : g->call->Send(m->memory, (size_t)m->bytes, NCCL_BYTES, (int)m->peer,
                                           g->comm, g->stream);
    }
    int ended = g->call->GroupEnd();
    if (code == NCCL_SUCCESS || code == NCCL_IN_PROGRESS) code = ended;
    if (code != NCCL_SUCCESS && code != NCCL_IN_PROGRESS) return fails(g, "a group", code);
    g->begins = true;
    g->count = 0;
    return HG_OK;
}

/* Goes on as far as NCCL lets it: all ranks are there, the group is in the stream, the event behind
 * it. Under the lock, in the context. */
static hg_status go_on(comm_group *g) {
    bool settled;
    HG_TRY(is_settled(g, &settled));
    if (!settled) return HG_OK;
    g->ready = true;
    if (g->count && !g->begins) {
        HG_TRY(send_group(g));
        HG_TRY(is_settled(g, &settled));
    }
    if (!g->begins || !settled) return HG_OK;
    DRIVER_TRY(g, event_record, g->event, g->stream);
    g->begins = false;
    g->launched++;
    return HG_OK;
}

/* Whether the stream has come to the end of what was launched. In the context, and under the lock:
 * an abort ends what is in the stream, too. */
static hg_status look_at_stream(comm_group *g) {
    enum { NOT_READY = 600 };
    int code = g->call->event_query(g->event);
    if (code == 0) g->finished = g->launched;
    return code == 0 || code == NOT_READY ? HG_OK : driver_fails("the stream", code);
}

/* Once for all transfers of a round, before they are polled: what was one group is done at one
 * look, so that its next pieces are one group again. Pieces of a message that came into groups of
 * different numbers on its two ends would wait for each other, as groups of a stream do. */
static hg_status launch(comm_group *g) {
    if (!g->count && !g->begins && g->finished == g->launched) return HG_OK;
    if (!enter(g)) return driver_fails("cuCtxPushCurrent", 0);
    hg_mutex_lock(&g->lock);
    hg_status status = go_on(g);
    if (status == HG_OK && g->finished < g->launched) status = look_at_stream(g);
    hg_mutex_unlock(&g->lock);
    leave(g);
    return status;
}

static hg_status poll(comm_group *g, comm_transfer *t) {
    if (!t->device) return g->base->poll(g->below, t);
    t->done = g->finished >= t->own[0];
    if (t->done || !g->base->check) return HG_OK;
    hg_error kept = *hg_error_record();
    hg_status status = g->base->check(g->below, t->peer);
    if (status == HG_OK || ++t->own[1] > LAST_LOOKS) return status;
    *hg_error_record() = kept; /* it may have done its part since the last look */
    return HG_OK;
}

/* NCCL takes back all or nothing; behind the stream nothing touches the memory. */
static void withdraw(comm_group *g, comm_transfer *t) {
    if (!t->device) {
        g->base->withdraw(g->below, t);
        return;
    }
    abort_comm(g, "NCCL: a call of this communicator failed before");
    g->count = 0;
    if (!enter(g)) return;
    (void)g->call->stream_wait(g->stream);
    leave(g);
}

static bool reaches(const comm_group *g, const hg_native_buffer *memory) {
    (void)g;
    return memory->kind == HG_MEMORY_CUDA;
}

static hg_status copy_in(comm_group *g, void *to, const void *from, uint64_t bytes) {
    DRIVER_TRY(g, copy, (uintptr_t)to, (uintptr_t)from, (size_t)bytes, g->stream);
    DRIVER_TRY(g, stream_wait, g->stream);
    return HG_OK;
}

static hg_status copy(comm_group *g, void *to, const void *from, uint64_t bytes) {
    if (!enter(g)) return driver_fails("cuCtxPushCurrent", 0);
    hg_status status = copy_in(g, to, from, bytes);
    leave(g);
    return status;
}

/* ---- what the base does ---- */

static void look(comm_group *g) { g->base->look(g->below); }

static void sleep_until(comm_group *g, uint64_t until_ns) {
    uint64_t soon = hg_clock_ns() + LOOK_NS;
    bool works = g->count || g->begins || g->finished < g->launched;
    g->base->sleep(g->below, works && soon < until_ns ? soon : until_ns);
}

static void wake(comm_group *g) { g->base->wake(g->below); }

static void revoke(comm_group *g, const char *why) {
    g->base->revoke(g->below, why);
    abort_comm(g, why);
}

static hg_status check(comm_group *g, uint32_t peer) {
    return g->base->check ? g->base->check(g->below, peer) : HG_OK;
}

static hg_status agree(comm_group *g, uint64_t deadline_ns, uint64_t flags,
                       comm_agreement *agreed) {
    return g->base->agree(g->below, deadline_ns, flags, agreed);
}

const comm_provider comm_provider_nccl = {.name = "nccl",
                                          .launched = launched,
                                          .open = open_group,
                                          .open_local = open_local,
                                          .close = close_group,
                                          .post = post,
                                          .poll = poll,
                                          .launch = launch,
                                          .reaches = reaches,
                                          .copy = copy,
                                          .check = check,
                                          .withdraw = withdraw,
                                          .look = look,
                                          .sleep = sleep_until,
                                          .wake = wake,
                                          .split = split,
                                          .revoke = revoke,
                                          .agree = agree};
