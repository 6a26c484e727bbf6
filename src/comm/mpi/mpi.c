/* Ranks that are processes of MPI, by its messages between two ranks alone: what a collective is
 * made of stays the same with every library. The library is opened at run time; which one, the
 * launcher that started the process says. Must not know: what messages say. */
#include "base/fork.h"
#include "base/host.h"
#include "base/library.h"
#include "base/thread.h"
#include "comm/provider.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum launcher { NO_LAUNCHER, MPICH, OPEN_MPI } launcher;

typedef struct functions {
#define MPI_FUNCTION(name, result, arguments) result(*name) arguments;
#include "comm/mpi/mpi.def"
} functions;

/* A handle: a number, or the address of a symbol. */
typedef struct handle {
    uintptr_t number;
    const char *symbol;
} handle;
#define S(name) \
    { 0, name }
#define N(number) \
    { number, NULL }

typedef struct library_row {
    const char *file;
    launcher of;
    const char *version;
    handle world, byte, errors_return;
    int serialized;
} library_row;

enum {
    STATUS_BYTES = 64,  /* of every library a status is smaller */
    TEXT_BYTES = 8192,  /* MPI_MAX_LIBRARY_VERSION_STRING and MPI_MAX_ERROR_STRING of all of them */
    SLEEP_NS = 50000,   /* nothing wakes who waits for a message */
    CANCEL_TESTS = 1000 /* a receive that is cancelled is over at once, or never */
};

/* The library, once for the process. */
static struct {
    hg_mutex lock; /* MPI is called by one thread at a time */
    bool asked;    /* what follows says what came of it */
    bool broken;   /* a call failed between ranks: MPI may still read and write its arrays, which
                      are the caller's again, when it is called, and MPI_Finalize would wait */
    bool begun;    /* MPI was initialised here */
    char why[256]; /* it cannot be used; "": it can */
    functions call;
    uintptr_t world, byte, errors_return;
    uint32_t process; /* hg_fork_count */
} mpi = {.lock = HG_MUTEX_INIT};

struct comm_group {
    uintptr_t comm;
    hg_mutex lock;
    hg_cond woken;
    uint32_t wakes, seen; /* under the lock */
};

/* ---- the library ---- */

static launcher who_launched(void) {
    if (hg_host_variable("OMPI_COMM_WORLD_SIZE")) return OPEN_MPI;
    return hg_host_variable("PMI_RANK") && hg_host_variable("PMI_SIZE") ? MPICH : NO_LAUNCHER;
}

static bool launched(void) { return who_launched() != NO_LAUNCHER; }

static bool find_functions(hg_library *library, functions *f) {
    bool all = true;
#define MPI_FUNCTION(name, result, arguments) \
    all = all && hg_library_function(library, "MPI_" #name, &f->name);
#include "comm/mpi/mpi.def"
    return all;
}

static bool find_handle(hg_library *library, const handle *h, uintptr_t *value) {
    void *address = NULL;
    *value = h->number;
    if (!h->symbol) return true;
    bool found = hg_library_function(library, h->symbol, &address);
    *value = (uintptr_t)address;
    return found;
}

/* Whether it is of the family that the row says. */
static bool is_version(const functions *f, const char *word) {
    char *text = hg_calloc(1, TEXT_BYTES);
    int length = 0;
    bool is = text && f->Get_library_version(text, &length) == 0 && strstr(text, word);
    hg_free(text);
    return is;
}

/* The row's library, if it is there and what the row says. It is not closed again where it is not:
 * libraries of MPI do not like that. */
static bool open_row(const library_row *row) {
    hg_library *library = hg_library_open(&row->file, 1, NULL, 0);
    return library && find_functions(library, &mpi.call) && is_version(&mpi.call, row->version) &&
           find_handle(library, &row->world, &mpi.world) &&
           find_handle(library, &row->byte, &mpi.byte) &&
           find_handle(library, &row->errors_return, &mpi.errors_return);
}

static void finalize(void) {
    int finalized = 1;
    if (mpi.broken || mpi.process != hg_fork_count) return;
    if (mpi.call.Finalized(&finalized) == 0 && !finalized) (void)mpi.call.Finalize();
}

static bool initialise(int serialized) {
    int initialised = 0, provided = 0;
    if (mpi.call.Initialized(&initialised) != 0) return false;
    int code = initialised ? mpi.call.Query_thread(&provided)
                           : mpi.call.Init_thread(NULL, NULL, serialized, &provided);
    if (code != 0 || provided < serialized) return false;
    mpi.begun = !initialised;
    if (mpi.begun) (void)atexit(finalize);
    return true;
}

static void open_library(void) {
    static const library_row rows[] = {
#define MPI_LIBRARY(file, of, version, world, byte, errors, serialized) \
    {file, of, version, world, byte, errors, serialized},
#include "comm/mpi/mpi.def"
    };
    launcher by = who_launched();
    mpi.process = hg_fork_count;
    if (by == NO_LAUNCHER) {
        snprintf(mpi.why, sizeof mpi.why, "this process was not started by mpirun");
        return;
    }
    size_t i = 0;
    while (i < HG_COUNT_OF(rows) && (rows[i].of != by || !open_row(&rows[i]))) i++;
    if (i == HG_COUNT_OF(rows))
        snprintf(mpi.why, sizeof mpi.why,
                 "no library of %s, whose launcher started this process (libmpi_abi.so.1, %s)",
                 by == MPICH ? "MPICH" : "Open MPI",
                 by == MPICH ? "libmpi.so.12, libmpich.so.12" : "libmpi.so.40");
    else if (!initialise(rows[i].serialized))
        snprintf(mpi.why, sizeof mpi.why,
                 "%s cannot be initialised for calls from several threads, one at a time",
                 rows[i].file);
    else if (mpi.begun) /* else what the world does is the program's */
        (void)mpi.call.Comm_set_errhandler(mpi.world, mpi.errors_return);
}

static hg_status works(void) {
    return mpi.broken ? hg_fail(HG_ERROR_EXECUTION_FAILED,
                                "MPI: a call of this process failed between ranks before: "
                                "nothing goes on")
                      : HG_OK;
}

static hg_status find_library(void) {
    if (!mpi.asked) open_library();
    mpi.asked = true;
    if (mpi.process != hg_fork_count)
        return hg_fail(HG_ERROR_BACKEND_UNAVAILABLE,
                       "mpi: this process was forked from the one that began it");
    return *mpi.why ? hg_fail(HG_ERROR_BACKEND_UNAVAILABLE, "mpi: %s", mpi.why) : works();
}

/* Under the lock. */
static hg_status fails(int code) {
    char *text = hg_calloc(1, TEXT_BYTES);
    int length = 0;
    bool known = text && mpi.call.Error_string(code, text, &length) == 0;
    hg_status status = hg_fail(HG_ERROR_EXECUTION_FAILED, "MPI: %s", known ? text : "error");
    hg_free(text);
    mpi.broken = true;
    return status;
}

#define MPI_TRY(call)                              \
    do {                                           \
        int mpi_code = (call);                     \
        if (mpi_code != 0) return fails(mpi_code); \
    } while (0)

/* ---- groups ---- */

static hg_status make_group(uintptr_t comm, comm_group **group) {
    comm_group *g = hg_calloc(1, sizeof *g);
    if (!g) return hg_fail_memory();
    g->comm = comm;
    (void)mpi.call.Comm_set_errhandler(comm, mpi.errors_return);
    hg_mutex_init(&g->lock);
    hg_cond_init(&g->woken);
    *group = g;
    return HG_OK;
}

/* Under the lock. A copy of the world: nobody else's messages come there. */
static hg_status open_world(comm_group **group, uint32_t *rank, uint32_t *size) {
    HG_TRY(find_library());
    uintptr_t copy = 0;
    int r = 0, n = 0;
    MPI_TRY(mpi.call.Comm_dup(mpi.world, &copy));
    MPI_TRY(mpi.call.Comm_rank(copy, &r));
    MPI_TRY(mpi.call.Comm_size(copy, &n));
    *rank = (uint32_t)r;
    *size = (uint32_t)n;
    return make_group(copy, group);
}

static hg_status open_group(hg_backend *backend, comm_group **group, uint32_t *rank,
                            uint32_t *size) {
    (void)backend;
    hg_mutex_lock(&mpi.lock);
    hg_status status = open_world(group, rank, size);
    hg_mutex_unlock(&mpi.lock);
    return status;
}

static void close_group(comm_group *g) {
    if (!g) return;
    hg_mutex_lock(&mpi.lock);
    int finalized = 1;
    if (!mpi.broken && mpi.call.Finalized(&finalized) == 0 && !finalized)
        (void)mpi.call.Comm_free(&g->comm);
    hg_mutex_unlock(&mpi.lock);
    hg_mutex_destroy(&g->lock);
    hg_cond_destroy(&g->woken);
    hg_free(g);
}

/* ---- messages ---- */

static hg_status post_message(comm_group *g, comm_transfer *t) {
    uintptr_t request = 0;
    int count = (int)t->bytes, peer = (int)t->peer, tag = t->channel;
    HG_TRY(works());
    MPI_TRY(t->receives ? mpi.call.Irecv(t->memory, count, mpi.byte, peer, tag, g->comm, &request)
                        : mpi.call.Isend(t->memory, count, mpi.byte, peer, tag, g->comm, &request));
    t->own[0] = request;
    t->posted = true;
    return HG_OK;
}

static hg_status test_message(comm_transfer *t) {
    _Alignas(16) uint8_t status[STATUS_BYTES];
    uintptr_t request = (uintptr_t)t->own[0];
    int done = 0;
    MPI_TRY(mpi.call.Test(&request, &done, status));
    t->own[0] = request;
    t->done = done;
    return HG_OK;
}

static hg_status post(comm_group *g, comm_transfer *t) {
    hg_mutex_lock(&mpi.lock);
    hg_status status = post_message(g, t);
    hg_mutex_unlock(&mpi.lock);
    return status;
}

static hg_status poll(comm_group *g, comm_transfer *t) {
    (void)g;
    hg_mutex_lock(&mpi.lock);
    hg_status status = works();
    if (status == HG_OK) status = test_message(t);
    hg_mutex_unlock(&mpi.lock);
    return status;
}

/* A send that MPI has begun cannot be taken back: the other rank is lost then, and nothing calls
 * MPI to go on with it. */
static void withdraw(comm_group *g, comm_transfer *t) {
    (void)g;
    hg_mutex_lock(&mpi.lock);
    mpi.broken = true;
    uintptr_t request = (uintptr_t)t->own[0];
    if (t->receives && mpi.call.Cancel(&request) == 0)
        for (int i = 0; i < CANCEL_TESTS && !t->done; i++)
            if (test_message(t) != HG_OK) break;
    hg_mutex_unlock(&mpi.lock);
}

/* ---- waiting ---- */

static void look(comm_group *g) {
    hg_mutex_lock(&g->lock);
    g->seen = g->wakes;
    hg_mutex_unlock(&g->lock);
}

static void sleep_until(comm_group *g, uint64_t until_ns) {
    uint64_t soon = hg_clock_ns() + SLEEP_NS;
    hg_mutex_lock(&g->lock);
    if (g->wakes == g->seen)
        (void)hg_cond_wait_until(&g->woken, &g->lock, soon < until_ns ? soon : until_ns);
    hg_mutex_unlock(&g->lock);
}

static void wake(comm_group *g) {
    hg_mutex_lock(&g->lock);
    g->wakes++;
    hg_cond_signal(&g->woken);
    hg_mutex_unlock(&g->lock);
}

/* ---- parts ---- */

/* A copy of the communicator, begun: what a rank that never comes leaves waiting is a request,
 * which the deadline ends. The call of MPI that makes a communicator of the members alone waits
 * itself, so it comes behind. */
static hg_status begin_copy(comm_group *g, uintptr_t *copy, uintptr_t *request) {
    hg_mutex_lock(&mpi.lock);
    hg_status status = works();
    int code = status == HG_OK ? mpi.call.Comm_idup(g->comm, copy, request) : 0;
    if (code) status = fails(code);
    hg_mutex_unlock(&mpi.lock);
    return status;
}

static hg_status wait_for_copy(comm_group *g, uintptr_t request, uint64_t deadline_ns) {
    comm_transfer copy = {.own = {request}};
    while (!copy.done) {
        HG_TRY(poll(g, &copy));
        if (!copy.done && hg_clock_ns() >= deadline_ns) {
            hg_mutex_lock(&mpi.lock);
            mpi.broken = true;
            hg_mutex_unlock(&mpi.lock);
            return hg_fail(HG_ERROR_TIMEOUT, "MPI: not every rank has come to a split in time");
        }
        look(g);
        if (!copy.done) sleep_until(g, deadline_ns);
    }
    return HG_OK;
}

/* Of a copy that all ranks have come to. Under the lock. */
static hg_status take_members(uintptr_t copy, const comm_part *wanted, comm_group **part) {
    uintptr_t all = 0, some = 0, comm = 0;
    HG_TRY(works());
    (void)mpi.call.Comm_set_errhandler(copy, mpi.errors_return);
    if (wanted->count) {
        MPI_TRY(mpi.call.Comm_group(copy, &all));
        MPI_TRY(mpi.call.Group_incl(all, (int)wanted->count, (const int *)wanted->members, &some));
        MPI_TRY(mpi.call.Comm_create_group(copy, some, 0, &comm));
        MPI_TRY(mpi.call.Group_free(&some));
        MPI_TRY(mpi.call.Group_free(&all));
    }
    MPI_TRY(mpi.call.Comm_free(&copy));
    return wanted->count ? make_group(comm, part) : HG_OK;
}

static hg_status split(comm_group *g, const comm_part *wanted, uint64_t deadline_ns,
                       comm_group **part) {
    uintptr_t *copy = hg_calloc(1, sizeof *copy), request = 0;
    if (!copy) return hg_fail_memory();
    hg_status status = begin_copy(g, copy, &request);
    if (status == HG_OK) {
        status = wait_for_copy(g, request, deadline_ns);
        if (status != HG_OK) return status; /* MPI may still write to the copy */
        hg_mutex_lock(&mpi.lock);
        status = take_members(*copy, wanted, part);
        hg_mutex_unlock(&mpi.lock);
    }
    hg_free(copy);
    return status;
}

/* MPI without fault tolerance tells nobody: the others come to their deadlines. */
static void revoke(comm_group *g, const char *why) { (void)g, (void)why; }

const comm_provider comm_provider_mpi = {.name = "mpi",
                                         .launched = launched,
                                         .open = open_group,
                                         .close = close_group,
                                         .post = post,
                                         .poll = poll,
                                         .withdraw = withdraw,
                                         .look = look,
                                         .sleep = sleep_until,
                                         .wake = wake,
                                         .split = split,
                                         .revoke = revoke};
