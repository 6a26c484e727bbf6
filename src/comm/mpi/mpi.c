/* Ranks that are processes of MPI, by its messages between two ranks alone: what a collective is
 * made of stays the same with every library. The library is opened at run time; which one, the
 * launcher that started the process says. Must not know: what messages say. */
#include "base/fork.h"
#include "base/host.h"
#include "base/library.h"
#include "base/thread.h"
#include "comm/mpi/mpi.h"
#include "comm/provider.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum launcher { NO_LAUNCHER, MPICH, OPEN_MPI } launcher;

typedef struct functions {
#define MPI_FUNCTION(name, result, arguments) result(*name) arguments;
#define MPI_ULFM(name, result, arguments) result(*name) arguments;
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
    STATUS_BYTES = 64, /* of every library a status is smaller */
    TEXT_BYTES = 8192, /* MPI_MAX_LIBRARY_VERSION_STRING and MPI_MAX_ERROR_STRING of all of them */
    SLEEP_NS = 50000,  /* nothing wakes who waits for a message */
    CANCEL_TESTS = 1000,    /* a receive that is cancelled is over at once, or never */
    ANSWER_NS = 2000000000, /* a message to a rank that is looking, and back */
    REVOKED_NS = 2000000000 /* messages of a communicator that is revoked are over soon */
};

/* The library, once for the process. */
static struct {
    hg_mutex lock; /* MPI is called by one thread at a time */
    bool asked;    /* what follows says what came of it */
    bool broken;   /* a call failed between ranks: MPI may still read and write its arrays, which
                      are the caller's again, when it is called, and MPI_Finalize would wait */
    bool begun;    /* MPI was initialised here */
    bool goes_on;  /* without ranks that failed: the library can, and its launcher lets it */
    char why[256]; /* it cannot be used; "": it can */
    functions call;
    uintptr_t world, byte, errors_return;
    uint32_t process; /* hg_fork_count */
} mpi = {.lock = HG_MUTEX_INIT};

struct comm_group {
    uintptr_t comm;
    bool revoked;        /* these two under MPI's lock */
    uint64_t agreements; /* how many there were */
    uint64_t splits;
    hg_mutex lock;
    hg_cond woken;
    uint32_t wakes, seen; /* under the lock */
};

void (*comm_mpi_watch)(void);

/* Through which every call goes. */
static const functions *api(void) {
    if (comm_mpi_watch) comm_mpi_watch();
    return &mpi.call;
}

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

/* Whether it goes on without ranks that failed, which its launcher has to let it as well
 * (mpirun --with-ft mpi). */
static bool find_ulfm(hg_library *library, functions *f) {
    const char *lets = hg_host_variable("OMPI_MCA_mpi_ft_enable");
    bool all = lets && strcmp(lets, "1") == 0;
#define MPI_ULFM(name, result, arguments) \
    all = all && hg_library_function(library, #name, &f->name);
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
    bool found = library && find_functions(library, &mpi.call) &&
                 is_version(&mpi.call, row->version) &&
                 find_handle(library, &row->world, &mpi.world) &&
                 find_handle(library, &row->byte, &mpi.byte) &&
                 find_handle(library, &row->errors_return, &mpi.errors_return);
    mpi.goes_on = found && find_ulfm(library, &mpi.call);
    return found;
}

static void finalize(void) {
    int finalized = 1;
    if (mpi.broken || mpi.process != hg_fork_count) return;
    if (api()->Finalized(&finalized) == 0 && !finalized) (void)api()->Finalize();
}

static bool initialise(int serialized) {
    int initialised = 0, provided = 0;
    if (api()->Initialized(&initialised) != 0) return false;
    int code = initialised ? api()->Query_thread(&provided)
                           : api()->Init_thread(NULL, NULL, serialized, &provided);
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
        (void)api()->Comm_set_errhandler(mpi.world, mpi.errors_return);
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
    bool known = text && api()->Error_string(code, text, &length) == 0;
    hg_status status = hg_fail(HG_ERROR_EXECUTION_FAILED, "MPI: %s", known ? text : "error");
    hg_free(text);
    if (!mpi.goes_on) mpi.broken = true;
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
    (void)api()->Comm_set_errhandler(comm, mpi.errors_return);
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
    MPI_TRY(api()->Comm_dup(mpi.world, &copy));
    MPI_TRY(api()->Comm_rank(copy, &r));
    MPI_TRY(api()->Comm_size(copy, &n));
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
    if (!mpi.broken && api()->Finalized(&finalized) == 0 && !finalized)
        (void)api()->Comm_free(&g->comm);
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
    MPI_TRY(t->receives ? api()->Irecv(t->memory, count, mpi.byte, peer, tag, g->comm, &request)
                        : api()->Isend(t->memory, count, mpi.byte, peer, tag, g->comm, &request));
    t->own[0] = request;
    t->posted = true;
    return HG_OK;
}

static hg_status test_message(comm_transfer *t) {
    _Alignas(16) uint8_t status[STATUS_BYTES];
    uintptr_t request = (uintptr_t)t->own[0];
    int done = 0;
    int code = api()->Test(&request, &done, status);
    t->own[0] = request;
    t->done = done; /* with an error too */
    return code ? fails(code) : HG_OK;
}

static hg_status post(comm_group *g, comm_transfer *t) {
    hg_mutex_lock(&mpi.lock);
    hg_status status = post_message(g, t);
    hg_mutex_unlock(&mpi.lock);
    return status;
}

static hg_status poll_request(comm_transfer *t) {
    hg_mutex_lock(&mpi.lock);
    hg_status status = works();
    if (status == HG_OK) status = test_message(t);
    hg_mutex_unlock(&mpi.lock);
    return status;
}

static hg_status poll(comm_group *g, comm_transfer *t) {
    hg_status status = poll_request(t);
    (void)g;
    if (status == HG_OK || !strstr(hg_error_record()->message, "PROC_FAILED")) return status;
    return hg_fail(HG_ERROR_EXECUTION_FAILED, "rank %u is gone", (unsigned)t->peer);
}

/* Of a communicator that is revoked each message is over soon, with an error at least. */
static bool is_over_soon(comm_group *g, comm_transfer *t) {
    uint64_t until = hg_clock_ns() + REVOKED_NS;
    while (g->revoked && !t->done && hg_clock_ns() < until) HG_IGNORE(test_message(t));
    return t->done;
}

/* Without that, a send that MPI has begun cannot be taken back: the other rank is lost then, and
 * nothing calls MPI to go on with it. */
static void withdraw(comm_group *g, comm_transfer *t) {
    hg_mutex_lock(&mpi.lock);
    uintptr_t request = (uintptr_t)t->own[0];
    if (!is_over_soon(g, t)) {
        mpi.broken = true;
        if (t->receives && api()->Cancel(&request) == 0)
            for (int i = 0; i < CANCEL_TESTS && !t->done; i++)
                if (test_message(t) != HG_OK) break;
    }
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

/* The call of MPI that makes a communicator waits for all its members. So rank 0 knows before
 * whether all ranks have come, each of which tells it, and tells each. A rank whose time ends tells
 * it that too, and hears what rank 0 has said meanwhile or says then; where rank 0 is not there it
 * will read it when it comes. So all go on, or none. */
enum { SPLITS = COMM_CHANNELS, LEAVES }; /* tags */
enum { COMES = 1, ALL_CAME, NOT_ALL };

typedef struct word {
    comm_transfer transfer;
    int text;
} word;

static void be_broken(void) {
    hg_mutex_lock(&mpi.lock);
    mpi.broken = true;
    hg_mutex_unlock(&mpi.lock);
}

static hg_status post_word(comm_group *g, word *w, uint32_t peer, int tag, int text) {
    w->text = text;
    w->transfer = (comm_transfer){.peer = peer,
                                  .channel = (uint8_t)tag,
                                  .receives = !text,
                                  .memory = &w->text,
                                  .bytes = sizeof w->text};
    return post(g, &w->transfer);
}

static hg_status poll_word(word *w) {
    return w->transfer.posted && !w->transfer.done ? poll_request(&w->transfer) : HG_OK;
}

/* Of the other ranks; rest until there may be something new. */
static void rest_until(comm_group *g, uint64_t until_ns) {
    look(g);
    sleep_until(g, until_ns);
}

/* Whether the rank leaves this split. What it said of another, to which all came, is taken too. */
static hg_status has_left(comm_group *g, uint32_t peer, int number, bool *left) {
    _Alignas(16) uint8_t status[STATUS_BYTES];
    int there = 0;
    hg_mutex_lock(&mpi.lock);
    hg_status works_still = works();
    int code = works_still == HG_OK ? api()->Iprobe((int)peer, LEAVES, g->comm, &there, status) : 0;
    if (code) works_still = fails(code);
    hg_mutex_unlock(&mpi.lock);
    HG_TRY(works_still);
    if (!there) return HG_OK;
    word said;
    HG_TRY(post_word(g, &said, peer, LEAVES, 0));
    while (!said.transfer.done) HG_TRY(poll_word(&said));
    *left = *left || said.text == number;
    return HG_OK;
}

/* Rank 0, with two words of each other rank. */
static hg_status lead(comm_group *g, uint32_t size, int number, uint64_t deadline_ns, word *words) {
    bool all = false, left = false;
    for (uint32_t p = 1; p < size; p++) HG_TRY(post_word(g, &words[p], p, SPLITS, 0));
    while (!all && !left && hg_clock_ns() < deadline_ns) {
        all = true;
        for (uint32_t p = 1; p < size; p++) {
            HG_TRY(poll_word(&words[p]));
            HG_TRY(has_left(g, p, number, &left));
            all = all && words[p].transfer.done;
        }
        if (!all && !left) rest_until(g, deadline_ns);
    }
    int said = all && !left ? ALL_CAME : NOT_ALL;
    uint64_t until = hg_clock_ns() + ANSWER_NS;
    for (uint32_t p = 1; p < size; p++) HG_TRY(post_word(g, &words[size + p], p, SPLITS, said));
    for (uint32_t p = 1; p < size; p++)
        while (!words[size + p].transfer.done && hg_clock_ns() < until)
            HG_TRY(poll_word(&words[size + p]));
    words[0].text = said;
    return HG_OK;
}

/* Another rank, with three words: that it comes, that it leaves, what rank 0 says. */
static hg_status follow(comm_group *g, int number, uint64_t deadline_ns, word *words) {
    uint64_t until = deadline_ns;
    HG_TRY(post_word(g, &words[1], 0, SPLITS, COMES));
    HG_TRY(post_word(g, &words[0], 0, SPLITS, 0));
    while (!words[0].transfer.done) {
        for (int i = 0; i < 3; i++) HG_TRY(poll_word(&words[i]));
        if (words[0].transfer.done) break;
        if (hg_clock_ns() >= until) {
            words[0].text = NOT_ALL;
            if (words[2].transfer.posted) break;
            words[0].text = 0;
            HG_TRY(post_word(g, &words[2], 0, LEAVES, number));
            until = hg_clock_ns() + ANSWER_NS;
        }
        rest_until(g, until);
    }
    return HG_OK;
}

static bool is_under_way(const word *words, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (words[i].transfer.posted && !words[i].transfer.done) return true;
    return false;
}

/* Whether all ranks have come: the same on all. Words that are still under way stay allocated. */
static hg_status meet(comm_group *g, uint64_t deadline_ns) {
    int rank = 0, size = 0, number = 1 + (int)(g->splits++ % 1000);
    hg_mutex_lock(&mpi.lock);
    hg_status status = works();
    int code = status == HG_OK ? api()->Comm_rank(g->comm, &rank) : 0;
    if (status == HG_OK && !code) code = api()->Comm_size(g->comm, &size);
    if (code) status = fails(code);
    hg_mutex_unlock(&mpi.lock);
    HG_TRY(status);
    if (size == 1) return HG_OK;
    word *words = hg_calloc(2 * (size_t)size + 1, sizeof *words);
    if (!words) return hg_fail_memory();
    HG_TRY(rank ? follow(g, number, deadline_ns, words)
                : lead(g, (uint32_t)size, number, deadline_ns, words));
    if (words[0].text == ALL_CAME) {
        while (rank && !words[1].transfer.done) HG_TRY(poll_word(&words[1]));
        if (!is_under_way(words, 2 * (uint32_t)size + 1)) hg_free(words);
        return HG_OK;
    }
    be_broken();
    return hg_fail(HG_ERROR_TIMEOUT, "MPI: not every rank has come to a split in time");
}

/* All ranks have come. Under the lock. */
static hg_status take_members(comm_group *g, const comm_part *wanted, comm_group **part) {
    uintptr_t all = 0, some = 0, comm = 0;
    HG_TRY(works());
    if (!wanted->count) return HG_OK;
    MPI_TRY(api()->Comm_group(g->comm, &all));
    MPI_TRY(api()->Group_incl(all, (int)wanted->count, (const int *)wanted->members, &some));
    MPI_TRY(api()->Comm_create_group(g->comm, some, 0, &comm));
    MPI_TRY(api()->Group_free(&some));
    MPI_TRY(api()->Group_free(&all));
    hg_status status = make_group(comm, part);
    if (status != HG_OK) (void)api()->Comm_free(&comm);
    return status;
}

/* The ranks that live, which are those that the agreement had if none was lost since. Under the
 * lock. The agreement has brought all of them here. */
static hg_status take_rest(comm_group *g, uint32_t count, comm_group **part) {
    uintptr_t rest = 0;
    int size = 0;
    HG_TRY(works());
    MPI_TRY(api()->MPIX_Comm_shrink(g->comm, &rest));
    int code = api()->Comm_size(rest, &size);
    hg_status status = code ? fails(code) : HG_OK;
    if (status == HG_OK && (uint32_t)size != count)
        status = hg_fail(HG_ERROR_EXECUTION_FAILED,
                         "MPI: of the %u ranks that agreed %d are left: shrink again",
                         (unsigned)count, size);
    if (status == HG_OK) status = make_group(rest, part);
    if (status != HG_OK) (void)api()->Comm_free(&rest);
    return status;
}

static hg_status shrink(comm_group *g, uint32_t count, comm_group **part) {
    hg_mutex_lock(&mpi.lock);
    hg_status status = take_rest(g, count, part);
    hg_mutex_unlock(&mpi.lock);
    return status;
}

static hg_status split(comm_group *g, const comm_part *wanted, uint64_t deadline_ns,
                       comm_group **part) {
    if (wanted->number & COMM_SHRUNK) return shrink(g, wanted->count, part);
    HG_TRY(meet(g, deadline_ns));
    hg_mutex_lock(&mpi.lock);
    hg_status status = take_members(g, wanted, part);
    hg_mutex_unlock(&mpi.lock);
    return status;
}

/* ---- when ranks fail ---- */

/* MPI that does not go on without ranks tells nobody: the others come to their deadlines. */
static void revoke(comm_group *g, const char *why) {
    (void)why;
    hg_mutex_lock(&mpi.lock);
    if (mpi.goes_on && !mpi.broken && !g->revoked)
        g->revoked = api()->MPIX_Comm_revoke(g->comm) == 0;
    hg_mutex_unlock(&mpi.lock);
}

/* What an agreement is about, until MPI does not write to it any more. */
typedef struct ballot {
    int flags;
    uintptr_t request;
} ballot;

/* Which ranks failed is known first: an agreement fails on all ranks where one of them did not. */
static hg_status begin_ballot(comm_group *g, ballot *b) {
    hg_mutex_lock(&mpi.lock);
    hg_status status = works();
    int code = status == HG_OK ? api()->MPIX_Comm_failure_ack(g->comm) : 0;
    if (status == HG_OK && !code) code = api()->MPIX_Comm_iagree(g->comm, &b->flags, &b->request);
    if (code) status = fails(code);
    hg_mutex_unlock(&mpi.lock);
    return status;
}

static hg_status no_agreement(void) {
    be_broken();
    return hg_fail(HG_ERROR_TIMEOUT, "MPI: not every rank has come to an agreement in time");
}

static hg_status wait_for(comm_group *g, uintptr_t request, uint64_t deadline_ns) {
    comm_transfer copy = {.own = {request}};
    while (!copy.done) {
        HG_TRY(poll_request(&copy));
        if (!copy.done && hg_clock_ns() >= deadline_ns) return no_agreement();
        look(g);
        if (!copy.done) sleep_until(g, deadline_ns);
    }
    return HG_OK;
}

/* Until all living ranks know the same ones that do not live. */
static hg_status agree_on(comm_group *g, uint64_t deadline_ns, uint32_t *flags) {
    ballot *b = hg_calloc(1, sizeof *b);
    if (!b) return hg_fail_memory();
    hg_status status;
    do {
        if (hg_clock_ns() >= deadline_ns) { /* between two ballots: MPI does not write to it */
            hg_free(b);
            return no_agreement();
        }
        b->flags = (int)*flags;
        status = begin_ballot(g, b);
        if (status != HG_OK) break;
        status = wait_for(g, b->request, deadline_ns);
    } while (status == HG_ERROR_EXECUTION_FAILED);
    if (status == HG_ERROR_TIMEOUT) return status; /* MPI may still write to the ballot */
    if (status == HG_OK) *flags = (uint32_t)b->flags;
    hg_free(b);
    return status;
}

/* A mark at each rank that failed, of `size`. Under the lock. */
static hg_status find_failed(comm_group *g, uintptr_t failed, uint32_t size, bool *gone) {
    uintptr_t all = 0;
    int count = 0;
    MPI_TRY(api()->Comm_group(g->comm, &all));
    MPI_TRY(api()->MPI_Group_size(failed, &count));
    for (int i = 0; i < count; i++) {
        int rank = -1;
        MPI_TRY(api()->MPI_Group_translate_ranks(failed, 1, &i, all, &rank));
        if (rank >= 0 && (uint32_t)rank < size) gone[rank] = true;
    }
    MPI_TRY(api()->Group_free(&all));
    return HG_OK;
}

/* Under the lock. */
static hg_status list_living(comm_group *g, comm_agreement *agreed) {
    uintptr_t failed = 0;
    int size = 0;
    MPI_TRY(api()->Comm_size(g->comm, &size));
    MPI_TRY(api()->MPIX_Comm_failure_get_acked(g->comm, &failed));
    bool *gone = hg_calloc((size_t)size, sizeof *gone);
    uint32_t *members = hg_calloc((size_t)size, sizeof *members);
    hg_status status = gone && members ? find_failed(g, failed, (uint32_t)size, gone)
                                       : hg_fail_memory();
    for (uint32_t r = 0; r < (uint32_t)size && status == HG_OK; r++)
        if (!gone[r]) members[agreed->count++] = r;
    (void)api()->Group_free(&failed);
    hg_free(gone);
    if (status == HG_OK)
        agreed->members = members;
    else
        hg_free(members);
    return status;
}

static hg_status agree(comm_group *g, uint64_t deadline_ns, uint64_t flags,
                       comm_agreement *agreed) {
    uint32_t halves[2] = {(uint32_t)flags, (uint32_t)(flags >> 32)};
    if (!mpi.goes_on)
        return hg_fail(HG_ERROR_BACKEND_UNAVAILABLE,
                       "mpi cannot go on without a rank: the launcher ends the job");
    *agreed = (comm_agreement){0};
    for (int i = 0; i < 2; i++) HG_TRY(agree_on(g, deadline_ns, &halves[i]));
    hg_mutex_lock(&mpi.lock);
    hg_status status = list_living(g, agreed);
    agreed->number = ++g->agreements;
    hg_mutex_unlock(&mpi.lock);
    agreed->flags = halves[0] | (uint64_t)halves[1] << 32;
    return status;
}

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
                                         .revoke = revoke,
                                         .agree = agree};
