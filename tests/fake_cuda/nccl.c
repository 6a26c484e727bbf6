/* NCCL's functions without GPUs (README.md), for ranks of one process that did not block at its
 * beginning. It holds its caller to the rules: messages in groups, of equal sizes on both ends,
 * from memory of the communicator's own device, on communicators that have all their ranks and are
 * not over. Nothing is done before CommGetAsyncError was asked: who goes on before finds a stream
 * without the messages in it. fake_nccl_fail(n, kind): the n-th call from now on fails. */
#include "comm/nccl/nccl.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NCCL_FUNCTION(name, result, arguments) \
    __attribute__((visibility("default"))) result fake_##name arguments __asm__("nccl" #name);
#include "comm/nccl/nccl.def"
#define NCCL_EXPORT __attribute__((visibility("default")))
NCCL_EXPORT long fake_nccl_live(void);
NCCL_EXPORT long fake_nccl_faults(void);
NCCL_EXPORT long fake_nccl_messages(void);
NCCL_EXPORT long fake_nccl_fail(long n, int kind);

enum { SYSTEM_ERROR = 2, INVALID_ARGUMENT = 4, INVALID_USAGE = 5, REMOTE_ERROR = 6 };
enum { MOST_RANKS = 16, SLOW = 2 /* times that it says "in progress" */ };

typedef struct world world;
typedef struct comm comm;
typedef struct group group;

typedef struct message {
    struct message *next; /* of the world, in the order in which they came into streams */
    group *of;
    comm *by;
    uint8_t *memory;
    size_t bytes;
    int peer;
    bool receives, taken, done;
} message;

struct group {
    comm *by;
    void *stream;
    message *messages;
    int count, room;
};

struct world {
    unsigned long long number;
    int size, joined;
    comm *ranks[MOST_RANKS];
    message *messages;
};

struct comm {
    comm *next; /* all that live */
    world *in;
    int rank, device;
    int slow;  /* answers until what was begun is done */
    bool over; /* aborted: messages let go */
    bool finalized;
    int error;
    int running;  /* groups in streams */
    group *begun; /* not in its stream yet */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static comm *living;
static long faults, moved, calls_left = -1;
static int fail_kind;
static __thread int depth;
static __thread group *open_group;

long fake_nccl_faults(void) { return faults; }
long fake_nccl_messages(void) {
    (void)pthread_mutex_lock(&lock);
    long n = moved;
    (void)pthread_mutex_unlock(&lock);
    return n;
}
long fake_nccl_live(void) {
    long n = 0;
    (void)pthread_mutex_lock(&lock);
    for (const comm *c = living; c; c = c->next) n++;
    (void)pthread_mutex_unlock(&lock);
    return n;
}
/* How many calls were left of the last order. kind 0: it returns an error; 1: the communicator has
 * one from then on. n < 0: none fails. */
long fake_nccl_fail(long n, int kind) {
    (void)pthread_mutex_lock(&lock);
    long left = calls_left;
    calls_left = n;
    fail_kind = kind;
    (void)pthread_mutex_unlock(&lock);
    return left;
}

static int fault(const char *what) {
    fprintf(stderr, "fake NCCL: %s\n", what);
    faults++;
    return INVALID_USAGE;
}

/* Whether this call fails. Under the lock. */
static bool fails_now(comm *c) {
    if (calls_left < 0 || calls_left-- > 0) return false;
    if (fail_kind == 0) return true;
    if (c) c->error = REMOTE_ERROR;
    return false;
}
#define MAY_FAIL(c) \
    if (fails_now(c)) return (void)pthread_mutex_unlock(&lock), SYSTEM_ERROR

static bool lives(const comm *c) {
    const comm *l = living;
    while (l && l != c) l = l->next;
    return l != NULL;
}

/* ---- the driver ---- */

static void *driver(const char *name) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD), *found = NULL;
    if (library) found = dlsym(library, name);
    if (!found) abort();
    return found;
}

static int current_device(void) {
    int (*get)(int *) = NULL;
    int device = -1;
    *(void **)&get = driver("cuCtxGetDevice");
    return get(&device) == 0 ? device : -1;
}

static bool is_on(int device, const void *memory) {
    int (*ask)(void *, int, unsigned long long) = NULL;
    unsigned type = 0;
    int ordinal = -1;
    *(void **)&ask = driver("cuPointerGetAttribute");
    return ask(&type, 2, (uintptr_t)memory) == 0 && type == 2 &&
           ask(&ordinal, 9, (uintptr_t)memory) == 0 && ordinal == device;
}

/* ---- messages ---- */

/* Of a message that is received: the first that its peer sent for it. Under the lock. */
static message *find_sent(const message *to) {
    message *m = to->by->in->messages;
    while (m && (m->receives || m->taken || m->by->rank != to->peer || m->peer != to->by->rank))
        m = m->next;
    return m;
}

static bool deliver(message *to) {
    message *from = find_sent(to);
    if (!from) return false;
    from->taken = from->done = to->done = true;
    if (from->bytes != to->bytes) {
        fprintf(stderr, "fake NCCL: %zu bytes from rank %d to rank %d, which waits for %zu\n",
                from->bytes, from->by->rank, to->by->rank, to->bytes);
        faults++;
        from->by->error = to->by->error = INVALID_ARGUMENT;
        return true;
    }
    memcpy(to->memory, from->memory, to->bytes);
    moved++;
    return true;
}

static bool is_done(const group *g) {
    for (int i = 0; i < g->count; i++)
        if (!g->messages[i].done) return false;
    return true;
}

static void forget(group *g) {
    for (message **at = &g->by->in->messages; *at;)
        if ((*at)->of == g)
            *at = (*at)->next;
        else
            at = &(*at)->next;
}

/* In the stream. */
static void run_group(void *bytes) {
    group *g;
    memcpy(&g, bytes, sizeof g);
    comm *c = g->by;
    (void)pthread_mutex_lock(&lock);
    message **end = &c->in->messages;
    while (*end) end = &(*end)->next;
    for (int i = 0; i < g->count && !c->over; i++) {
        *end = &g->messages[i];
        end = &g->messages[i].next;
    }
    (void)pthread_cond_broadcast(&changed);
    while (!c->over && !is_done(g)) {
        bool any = false;
        for (int i = 0; i < g->count; i++)
            if (g->messages[i].receives && !g->messages[i].done)
                any = deliver(&g->messages[i]) || any;
        if (any)
            (void)pthread_cond_broadcast(&changed);
        else
            (void)pthread_cond_wait(&changed, &lock);
    }
    forget(g);
    c->running--;
    (void)pthread_cond_broadcast(&changed);
    (void)pthread_mutex_unlock(&lock);
    free(g->messages);
    free(g);
}

/* Under the lock, which it lets go meanwhile. */
static void put_into_stream(comm *c) {
    int (*call)(void *, void (*)(void *), const void *, size_t) = NULL;
    group *g = c->begun;
    c->begun = NULL;
    c->running++;
    *(void **)&call = driver("fake_cuda_call");
    (void)pthread_mutex_unlock(&lock);
    if (call(g->stream, run_group, &g, sizeof g) != 0) abort();
    (void)pthread_mutex_lock(&lock);
}

static int add(comm *c, uint8_t *memory, size_t bytes, int type, int peer, void *stream,
               bool receives) {
    (void)pthread_mutex_lock(&lock);
    if (!lives(c)) return (void)pthread_mutex_unlock(&lock), fault("a message of no communicator");
    MAY_FAIL(c);
    int code = 0;
    if (!depth) code = fault("a message outside of a group: who waits for whom?");
    if (c->in->joined != c->in->size || c->finalized) code = fault("it is not ready, or over");
    if (c->begun) code = fault("a message before the last group is in its stream");
    if (type != NCCL_BYTES || peer < 0 || peer >= c->in->size || peer == c->rank || !bytes)
        code = fault("a message of another type, to nobody, or of nothing");
    (void)pthread_mutex_unlock(&lock);
    if (!is_on(c->device, memory) || !is_on(c->device, memory + bytes - 1))
        code = fault("memory of another device, or the host's");
    if (code) return code;
    group *g = open_group;
    if (!g) g = open_group = calloc(1, sizeof *g);
    if (!g || (g->by && (g->by != c || g->stream != stream)))
        return fault("a group of two communicators or streams");
    if (g->count == g->room) {
        g->room = g->room ? 2 * g->room : 8;
        g->messages = realloc(g->messages, (size_t)g->room * sizeof *g->messages);
        if (!g->messages) abort();
    }
    g->by = c;
    g->stream = stream;
    g->messages[g->count++] = (message){
        .of = g, .by = c, .memory = memory, .bytes = bytes, .peer = peer, .receives = receives};
    return NCCL_SUCCESS;
}

int fake_Send(const void *memory, size_t count, int type, int peer, void *c, void *stream) {
    return add(c, (uint8_t *)(uintptr_t)memory, count, type, peer, stream, false);
}
int fake_Recv(void *memory, size_t count, int type, int peer, void *c, void *stream) {
    return add(c, memory, count, type, peer, stream, true);
}
int fake_GroupStart(void) {
    (void)pthread_mutex_lock(&lock);
    MAY_FAIL(NULL);
    (void)pthread_mutex_unlock(&lock);
    depth++;
    return NCCL_SUCCESS;
}
int fake_GroupEnd(void) {
    group *g = open_group;
    if (!depth) return fault("the end of no group");
    if (--depth) return NCCL_SUCCESS;
    open_group = NULL;
    if (!g) return NCCL_SUCCESS;
    (void)pthread_mutex_lock(&lock);
    bool fails = fails_now(g->by);
    if (!fails) {
        g->by->begun = g;
        g->by->slow = SLOW;
    }
    (void)pthread_mutex_unlock(&lock);
    if (!fails) return NCCL_IN_PROGRESS;
    free(g->messages);
    free(g);
    return SYSTEM_ERROR;
}

/* ---- communicators ---- */

int fake_GetVersion(int *version) {
    const char *own = getenv("FAKE_NCCL_VERSION");
    *version = own ? atoi(own) : 22000;
    return NCCL_SUCCESS;
}
const char *fake_GetErrorString(int code) {
    return code == SYSTEM_ERROR   ? "fake system error"
           : code == REMOTE_ERROR ? "fake remote error"
                                  : "fake error";
}
const char *fake_GetLastError(void *c) { return (void)c, "the last one"; }

int fake_GetUniqueId(nccl_id *id) {
    static unsigned long long number;
    (void)pthread_mutex_lock(&lock);
    MAY_FAIL(NULL);
    number++;
    memset(id, 0x5A, sizeof *id);
    memcpy(id->bytes + 60, &number, sizeof number);
    (void)pthread_mutex_unlock(&lock);
    return NCCL_SUCCESS;
}

/* Under the lock. */
static world *find_world(const nccl_id *id, int size) {
    unsigned long long number;
    memcpy(&number, id->bytes + 60, sizeof number);
    static world *all[4096];
    world **w = &all[number % 4096];
    if (*w && (*w)->number == number) return *w;
    *w = calloc(1, sizeof **w); /* worlds stay: their messages may */
    if (!*w) abort();
    (*w)->number = number;
    (*w)->size = size;
    return *w;
}

int fake_CommInitRankConfig(void **made, int size, nccl_id id, int rank, nccl_config *config) {
    int device = current_device();
    *made = NULL;
    if (config->size < 24 || config->magic != 0xcafebeefu || config->version < 21400 ||
        config->blocking != 0)
        return fault("a configuration that would block, or is none");
    (void)pthread_mutex_lock(&lock);
    MAY_FAIL(NULL);
    world *w = find_world(&id, size);
    comm *c = calloc(1, sizeof *c);
    bool good = c && device >= 0 && size == w->size && size <= MOST_RANKS && rank >= 0 &&
                rank < size && !w->ranks[rank];
    for (int i = 0; i < size && good; i++) good = !w->ranks[i] || w->ranks[i]->device != device;
    if (!good) {
        free(c);
        (void)pthread_mutex_unlock(&lock);
        return fault("ranks that do not fit, or two on one device");
    }
    *c = (comm){.next = living, .in = w, .rank = rank, .device = device, .slow = SLOW};
    living = w->ranks[rank] = c;
    w->joined++;
    *made = c;
    (void)pthread_mutex_unlock(&lock);
    return NCCL_IN_PROGRESS;
}

int fake_CommGetAsyncError(void *given, int *code) {
    comm *c = given;
    (void)pthread_mutex_lock(&lock);
    if (!lives(c)) return (void)pthread_mutex_unlock(&lock), fault("no communicator is asked");
    MAY_FAIL(c);
    bool begun = c->begun && c->slow <= 1;
    if (begun) put_into_stream(c);
    if (c->slow && c->in->joined == c->in->size) c->slow--;
    bool waits = c->slow || c->in->joined != c->in->size || (c->finalized && c->running);
    *code = c->error ? c->error : waits ? NCCL_IN_PROGRESS : NCCL_SUCCESS;
    (void)pthread_mutex_unlock(&lock);
    return NCCL_SUCCESS;
}

int fake_CommFinalize(void *given) {
    comm *c = given;
    (void)pthread_mutex_lock(&lock);
    if (!lives(c)) return (void)pthread_mutex_unlock(&lock), fault("no communicator is finalised");
    MAY_FAIL(c);
    if (c->finalized) faults++;
    c->finalized = true;
    c->slow = SLOW;
    (void)pthread_mutex_unlock(&lock);
    return NCCL_IN_PROGRESS;
}

/* What is in streams is over when it returns. */
static int end_comm(comm *c, bool aborts) {
    (void)pthread_mutex_lock(&lock);
    if (!lives(c)) return (void)pthread_mutex_unlock(&lock), fault("no communicator is ended");
    if (!aborts && (!c->finalized || c->running || c->begun))
        (void)fault("destroyed, not finalised");
    c->over = true;
    (void)pthread_cond_broadcast(&changed);
    while (c->running) (void)pthread_cond_wait(&changed, &lock);
    if (c->begun) {
        free(c->begun->messages);
        free(c->begun);
    }
    comm **at = &living;
    while (*at != c) at = &(*at)->next;
    *at = c->next;
    c->in->ranks[c->rank] = NULL;
    (void)pthread_mutex_unlock(&lock);
    free(c);
    return NCCL_SUCCESS;
}
int fake_CommDestroy(void *c) { return end_comm(c, false); }
int fake_CommAbort(void *c) { return end_comm(c, true); }
