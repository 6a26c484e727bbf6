/* Communicators over NCCL, on GPUs that are not there (tests/fake_cuda, by tests/devices/on.sh
 * fake_cuda): the suite of all providers, ranks that fail, and NCCL failing at each call. Of the
 * real library, where tools/setup has put it, its version and the name of a communicator. */
/* test: labels=threads timeout=300 */
#include "comm/comm.h"
#include "comm/nccl/nccl.h"
#include "comm/suite.h"
#include "support/fake_cuda.h"
#include "support/in_process.h"
#include "support/runtime_support.h"
#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

enum { MOST = 4, COUNT = 3000 };

static hg_backend *gpus[MOST];

static struct {
    long (*live)(void), (*faults)(void), (*messages)(void), (*fail)(long n, int kind);
} fake;

static bool find_fake(void) {
    const char *file = getenv("HOLOGRAM_NCCL");
    void *library = file && fake_cuda_is_here() ? dlopen(file, RTLD_NOW) : NULL;
    if (!library) return false;
    *(void **)&fake.live = dlsym(library, "fake_nccl_live");
    *(void **)&fake.faults = dlsym(library, "fake_nccl_faults");
    *(void **)&fake.messages = dlsym(library, "fake_nccl_messages");
    *(void **)&fake.fail = dlsym(library, "fake_nccl_fail");
    return fake.live != NULL;
}

/* ---- ranks ---- */

typedef struct rank_work {
    hg_comm *comm;
    uint32_t rank;
    bool all;
    int user;
    suite_counts counts;
    void (*run)(struct rank_work *w);
    pthread_t thread;
} rank_work;

static void *run_rank(void *user) {
    rank_work *w = user;
    w->run(w);
    return NULL;
}

/* false: there are no communicators. */
static bool with_ranks(uint32_t ranks, bool all, void (*run)(rank_work *w), int user) {
    hg_comm *comms[MOST] = {0};
    rank_work work[MOST];
    if (hg_comm_create_local(gpus, ranks, comms) != HG_OK) return false;
    for (uint32_t i = 0; i < ranks; i++) {
        CHECK_TEXT(hg_comm_provider(comms[i]), "nccl");
        work[i] = (rank_work){.comm = comms[i], .rank = i, .all = all, .run = run, .user = user};
        if (pthread_create(&work[i].thread, NULL, run_rank, &work[i])) abort();
    }
    for (uint32_t i = 0; i < ranks; i++) {
        pthread_join(work[i].thread, NULL);
        test_passed += work[i].counts.passed;
        test_failed += work[i].counts.failed;
    }
    for (uint32_t i = 0; i < ranks; i++) hg_comm_destroy(work[i].comm);
    CHECK_U64((uint64_t)fake.live(), 0);
    CHECK_U64((uint64_t)fake.faults(), 0);
    return true;
}

#define RANK_CHECK(w, condition, ...)                                         \
    do {                                                                      \
        if (condition) {                                                      \
            (w)->counts.passed++;                                             \
        } else {                                                              \
            (w)->counts.failed++;                                             \
            fprintf(stderr, "%s:%d: rank %u: ", __FILE__, __LINE__, w->rank); \
            fprintf(stderr, __VA_ARGS__);                                     \
            fputc('\n', stderr);                                              \
        }                                                                     \
    } while (0)

static void run_calls(rank_work *w) {
    comm_suite_calls(gpus[w->rank], w->comm, w->all, &w->counts);
}
static void run_steps(rank_work *w) { comm_suite_steps(gpus[w->rank], w->comm, false, &w->counts); }

/* The sum of what ranks give, value[i] = rank + i, where it lies on the GPU. */
static hg_status sum(rank_work *w, hg_buffer buffer, bool *right) {
    int32_t values[COUNT];
    uint32_t ranks = hg_comm_size(w->comm), own = hg_comm_rank(w->comm);
    for (int i = 0; i < COUNT; i++) values[i] = (int32_t)own + i;
    HG_TRY(hg_buffer_write(gpus[w->rank], buffer, 0, values, sizeof values));
    hg_comm_call c = {.size = sizeof c,
                      .kind = HG_COMM_ALL_REDUCE,
                      .type = HG_TYPE_I32,
                      .count = COUNT,
                      .input_buffer = buffer,
                      .output_buffer = buffer};
    HG_TRY(hg_comm_run(w->comm, &c));
    HG_TRY(hg_buffer_read(gpus[w->rank], buffer, 0, values, sizeof values));
    *right = true;
    for (int i = 0; i < COUNT; i++)
        *right = *right && values[i] == (int32_t)(ranks * (ranks - 1) / 2) + i * (int32_t)ranks;
    return HG_OK;
}

static hg_buffer array_of(rank_work *w) {
    hg_buffer buffer = {0};
    RANK_CHECK(w,
               hg_backend_allocate_buffer(gpus[w->rank], COUNT * sizeof(int32_t), &buffer) == HG_OK,
               "%s", hg_last_error_text());
    return buffer;
}

static void free_array(rank_work *w, hg_buffer buffer) {
    RANK_CHECK(w, hg_backend_free_buffer(gpus[w->rank], buffer) == HG_OK, "%s",
               hg_last_error_text());
}

/* What each rank gives, value[i] = rank + i, one after another. */
static hg_status gather(rank_work *w, bool *right) {
    int32_t values[MOST * COUNT];
    uint32_t ranks = hg_comm_size(w->comm), own = hg_comm_rank(w->comm);
    hg_buffer from = array_of(w), to = {0};
    RANK_CHECK(w, hg_backend_allocate_buffer(gpus[w->rank], sizeof values, &to) == HG_OK, "%s",
               hg_last_error_text());
    for (int i = 0; i < COUNT; i++) values[i] = (int32_t)own + i;
    hg_comm_call c = {.size = sizeof c,
                      .kind = HG_COMM_ALL_GATHER,
                      .type = HG_TYPE_I32,
                      .count = COUNT,
                      .input_buffer = from,
                      .output_buffer = to};
    hg_status status = hg_buffer_write(gpus[w->rank], from, 0, values, COUNT * sizeof *values);
    if (status == HG_OK) status = hg_comm_run(w->comm, &c);
    hg_error error = *hg_error_record();
    if (status == HG_OK) status = hg_buffer_read(gpus[w->rank], to, 0, values, sizeof values);
    *right = status == HG_OK;
    for (uint32_t i = 0; i < ranks * COUNT && *right; i++)
        *right = values[i] == (int32_t)(i / COUNT + i % COUNT);
    free_array(w, from);
    free_array(w, to);
    *hg_error_record() = error;
    return status;
}

/* ---- who uses NCCL ---- */

/* Arrays of some ranks that the host has, or whose members are not all: the same sums. */
static void mix(rank_work *w) {
    int32_t values[COUNT];
    hg_buffer buffer = array_of(w);
    long before = fake.messages();
    bool right = false;
    for (int i = 0; i < COUNT; i++) values[i] = i;
    RANK_CHECK(w, hg_buffer_write(gpus[w->rank], buffer, 0, values, sizeof values) == HG_OK, "%s",
               hg_last_error_text());
    hg_comm_call c = {.size = sizeof c,
                      .kind = HG_COMM_ALL_REDUCE,
                      .operation = HG_COMM_MAX,
                      .type = HG_TYPE_I32,
                      .count = COUNT};
    if (w->rank == 1)
        c.input = c.output = values;
    else
        c.input_buffer = c.output_buffer = buffer;
    RANK_CHECK(w, hg_comm_run(w->comm, &c) == HG_OK, "%s", hg_last_error_text());
    RANK_CHECK(w, fake.messages() == before, "NCCL has memory of the host");
    RANK_CHECK(w, sum(w, buffer, &right) == HG_OK && right, "%s", hg_last_error_text());
    RANK_CHECK(w, fake.messages() > before, "NCCL has none of the device's");
    free_array(w, buffer);
}

/* ---- ranks that fail ---- */

/* The last rank ends in the midst: the others agree, and go on without it, on GPUs. */
static void lose_a_rank(rank_work *w) {
    hg_buffer buffer = array_of(w);
    hg_status status = HG_OK;
    hg_comm *rest = NULL;
    uint32_t last = hg_comm_size(w->comm) - 1;
    uint64_t flags = 3;
    bool right = true;
    for (int i = 0; status == HG_OK; i++) {
        if (i == w->user && w->rank == last) {
            hg_comm_destroy(w->comm);
            w->comm = NULL;
            free_array(w, buffer);
            return;
        }
        status = sum(w, buffer, &right);
        RANK_CHECK(w, right, "a sum before");
    }
    RANK_CHECK(w, strstr(hg_last_error_text(), "gone"), "%s", hg_last_error_text());
    RANK_CHECK(w, hg_comm_revoke(w->comm) == HG_OK, "revoke");
    RANK_CHECK(w, hg_comm_agree(w->comm, &flags) == HG_OK && flags == 3, "%s",
               hg_last_error_text());
    RANK_CHECK(w, hg_comm_shrink(w->comm, &rest) == HG_OK, "%s", hg_last_error_text());
    hg_comm_destroy(w->comm);
    w->comm = rest;
    right = false;
    RANK_CHECK(w, rest && sum(w, buffer, &right) == HG_OK && right, "%s", hg_last_error_text());
    RANK_CHECK(w, strcmp(hg_comm_provider(rest), "nccl") == 0, "nccl");
    free_array(w, buffer);
}

/* Rank 1 never calls. */
static void wait_for_nobody(rank_work *w) {
    hg_buffer buffer = array_of(w);
    bool right;
    RANK_CHECK(w, hg_comm_set_timeout(w->comm, 50) == HG_OK, "timeout");
    if (w->rank != 1) {
        hg_status status = sum(w, buffer, &right);
        RANK_CHECK(w, status != HG_OK && strstr(hg_last_error_text(), "nothing from rank 1"), "%s",
                   hg_last_error_text());
    }
    free_array(w, buffer);
}

extern const comm_provider comm_provider_nccl;

/* Arrays of this rank never leave it. */
static hg_status post_none(comm_group *group, comm_transfer *t) {
    return t->device ? HG_OK : comm_provider_nccl.post(group, t);
}

/* Rank 0 stops behind the first messages, while NCCL has the other's in hand. */
static void stop_inside(rank_work *w) {
    static comm_provider mute;
    hg_buffer buffer = array_of(w);
    bool right;
    if (w->rank == 0) {
        mute = comm_provider_nccl;
        mute.post = post_none;
        w->comm->provider = &mute;
    }
    RANK_CHECK(w, hg_comm_set_timeout(w->comm, w->rank ? 20000 : 100) == HG_OK, "timeout");
    hg_status status = sum(w, buffer, &right);
    RANK_CHECK(w, status != HG_OK && strstr(hg_last_error_text(), "nothing from rank 1 in 100 ms"),
               "%s", hg_last_error_text());
    w->comm->provider = &comm_provider_nccl;
    free_array(w, buffer);
}

/* Rank 1 is gone as soon as it has its part, before rank 0 looks again: rank 0 has its part, too.
 */
static struct {
    long messages; /* before */
    int gone;      /* atomic */
} leaving;

static hg_status launch_late(comm_group *group) {
    hg_status status = comm_provider_nccl.launch(group);
    for (int ms = 0; ms < 20000 && fake.messages() > leaving.messages; ms++) {
        if (hg_atomic_load(&leaving.gone, HG_ACQUIRE)) break;
        usleep(1000);
    }
    return status;
}

static void leave_at_once(rank_work *w) {
    static comm_provider late;
    bool right = false;
    if (w->rank == 0) {
        late = comm_provider_nccl;
        late.launch = launch_late;
        w->comm->provider = &late;
    }
    RANK_CHECK(w, gather(w, &right) == HG_OK && right, "%s", hg_last_error_text());
    if (w->rank == 0) {
        w->comm->provider = &comm_provider_nccl;
        return;
    }
    hg_comm_destroy(w->comm);
    w->comm = NULL;
    hg_atomic_store(&leaving.gone, 1, HG_RELEASE);
}

/* A communicator that is revoked while its stream is looked at: that ends what is in the stream,
 * and nothing has come. */
static struct {
    hg_comm *comm;
    int looks, revoked; /* atomic */
    int (*query)(void *event);
} revoking;

static int query_late(void *event) {
    hg_atomic_store(&revoking.looks, 1, HG_RELEASE);
    for (int ms = 0; ms < 200 && !hg_atomic_load(&revoking.revoked, HG_ACQUIRE); ms++) usleep(1000);
    int code = revoking.query(event);
    for (int ms = 0; ms < 200 && code && hg_atomic_load(&revoking.revoked, HG_ACQUIRE); ms++) {
        usleep(1000);
        code = revoking.query(event);
    }
    return code;
}

/* Of rank 1, which sends nothing. */
static hg_status launch_none(comm_group *group) {
    (void)group;
    return hg_atomic_load(&revoking.revoked, HG_ACQUIRE)
               ? hg_fail(HG_ERROR_EXECUTION_FAILED, "revoked by rank 0")
               : HG_OK;
}

static void *revoke_inside(void *user) {
    while (!hg_atomic_load(&revoking.looks, HG_ACQUIRE)) usleep(1000);
    *(hg_status *)user = hg_comm_revoke(revoking.comm);
    hg_atomic_store(&revoking.revoked, 1, HG_RELEASE);
    return NULL;
}

static void revoke_while_looking(rank_work *w) {
    static comm_provider mute;
    pthread_t thread;
    hg_status revoked = HG_ERROR_INTERNAL;
    bool right;
    if (w->rank == 0) {
        revoking.comm = w->comm;
        if (pthread_create(&thread, NULL, revoke_inside, &revoked)) abort();
    } else {
        mute = comm_provider_nccl;
        mute.post = post_none;
        mute.launch = launch_none;
        w->comm->provider = &mute;
    }
    RANK_CHECK(w, hg_comm_set_timeout(w->comm, 20000) == HG_OK, "timeout");
    hg_status status = gather(w, &right);
    RANK_CHECK(w, status != HG_OK && strstr(hg_last_error_text(), "revoked by rank 0"), "%s",
               status == HG_OK ? "nothing came, without an error" : hg_last_error_text());
    w->comm->provider = &comm_provider_nccl;
    if (w->rank == 0) {
        hg_atomic_store(&revoking.looks, 1, HG_RELEASE); /* where there was no look */
        pthread_join(thread, NULL);
        RANK_CHECK(w, revoked == HG_OK, "revoke");
    }
}

static void try_revoking(void) {
    const nccl_functions *call = NULL;
    CHECK_OK(nccl_open(true, &call));
    nccl_functions *own = (nccl_functions *)(uintptr_t)call;
    revoking.query = own->event_query;
    own->event_query = query_late;
    CHECK(with_ranks(2, false, revoke_while_looking, 0));
    own->event_query = revoking.query;
}

/* ---- NCCL that fails ---- */

static void try_sums(rank_work *w) {
    hg_buffer buffer = array_of(w);
    bool right = true;
    hg_status status = hg_comm_set_timeout(w->comm, 5000);
    for (int i = 0; i < 2 && status == HG_OK; i++) {
        status = sum(w, buffer, &right);
        RANK_CHECK(w, right, "a wrong sum");
    }
    RANK_CHECK(w, status == HG_OK || strstr(hg_last_error_text(), "NCCL: "), "%s",
               hg_last_error_text());
    free_array(w, buffer);
}

/* At each call in turn. Nobody hangs, nothing is left, nothing is wrong without an error. */
static void try_failures(bool all) {
    for (int kind = 0; kind < 2; kind++) {
        long left = -1;
        for (long n = 0; n < (all ? 400 : 60) && left < 0; n++) {
            (void)fake.fail(n, kind);
            bool made = with_ranks(2, false, try_sums, 0);
            left = fake.fail(-1, 0);
            CHECK_MESSAGE(made || strstr(hg_last_error_text(), "NCCL: "), "%s",
                          hg_last_error_text());
            CHECK_U64((uint64_t)fake.live(), 0);
        }
    }
    CHECK_U64((uint64_t)fake.faults(), 0);
}

/* ---- the library ---- */

static void open_real(char said[512]) {
    const nccl_functions *call;
    nccl_id ids[2] = {{{0}}};
    int version = 0;
    if (nccl_open(false, &call) != HG_OK) {
        snprintf(said, 512, "%s", hg_last_error_text());
        return;
    }
    bool good = call->GetVersion(&version) == NCCL_SUCCESS &&
                call->GetUniqueId(&ids[0]) == NCCL_SUCCESS &&
                call->GetUniqueId(&ids[1]) == NCCL_SUCCESS;
    snprintf(said, 512, "%s, %s, %s", good && version >= 21400 ? "a version" : "none",
             memcmp(&ids[0], &ids[1], sizeof ids[0]) ? "two names" : "one name",
             call->GetErrorString(5));
}

static void open_local(char said[512]) {
    hg_comm *comms[1] = {NULL};
    hg_config config = hg_config_default();
    snprintf(config.backend, sizeof config.backend, "cuda");
    hg_status status = hg_backend_create_with_config(&config, &gpus[0]);
    if (status == HG_OK) status = hg_comm_create_local(gpus, 1, comms);
    snprintf(said, 512, "%s", status == HG_OK ? "made" : hg_last_error_text());
}

static void try_libraries(void) {
    char said[512], settings[600];
    FILE *real = fopen(REAL_NCCL, "rb");
    if (real) {
        (void)fclose(real);
        snprintf(settings, sizeof settings, "HOLOGRAM_NCCL=%s", REAL_NCCL);
        in_process(settings, open_real, said);
        CHECK_MESSAGE(strstr(said, "a version, two names, invalid usage"), "%s", said);
    } else {
        SKIP("there is no " REAL_NCCL " (tools/setup test)");
    }
    if (!getenv("HOLOGRAM_NCCL")) return;
    in_process("HOLOGRAM_NCCL=/no/such.so", open_local, said);
    CHECK_MESSAGE(strstr(said, "nccl: no NCCL ("), "%s", said);
    in_process("FAKE_NCCL_VERSION=21399", open_local, said);
    CHECK_MESSAGE(strstr(said, "NCCL of version 21399: 21400 (2.14) or a later"), "%s", said);
}

static void alone(void) {
    hg_backend *cpu = open_backend("cpu");
    hg_comm *comm = NULL;
    CHECK_STATUS(hg_comm_create("nccl", cpu, &comm), HG_ERROR_BACKEND_UNAVAILABLE);
    CHECK(strstr(hg_last_error_text(), "the backend is cpu, expected cuda"));
    CHECK_OK(hg_comm_create("nccl", gpus[0], &comm));
    CHECK_U64(hg_comm_size(comm), 1);
    CHECK_TEXT(hg_comm_provider(comm), "nccl");
    hg_comm_destroy(comm);
    CHECK(!hg_comm_is_launched("nccl"));
    hg_backend *mixed[] = {gpus[0], cpu}, *twice[] = {gpus[0], gpus[0]};
    hg_comm *comms[2];
    for (int i = 0; i < 2; i++) { /* those stay on threads */
        CHECK_OK(hg_comm_create_local(i ? twice : mixed, 2, comms));
        CHECK_TEXT(hg_comm_provider(comms[1]), "threads");
        for (int r = 0; r < 2; r++) hg_comm_destroy(comms[r]);
    }
    hg_backend_destroy(cpu);
}

/* memory: 0, or what its buffers may have. */
static hg_backend *open_gpu(uint32_t number, uint64_t memory) {
    hg_backend *gpu = NULL;
    hg_config config = hg_config_default();
    snprintf(config.backend, sizeof config.backend, "cuda");
    config.device_id = number;
    config.max_memory = memory;
    CHECK_OK(hg_backend_create_with_config(&config, &gpu));
    return gpu;
}

/* One GPU has no room for what waits to be combined: the host does it. */
static void sum_on_host(rank_work *w) {
    hg_buffer buffer = array_of(w);
    bool right = false;
    RANK_CHECK(w, sum(w, buffer, &right) == HG_OK && right, "%s", hg_last_error_text());
    free_array(w, buffer);
}

static void try_little_memory(void) {
    hg_backend *usual = gpus[1];
    gpus[1] = open_gpu(1, 1 << 20);
    CHECK(with_ranks(2, false, sum_on_host, 0));
    hg_backend_destroy(gpus[1]);
    gpus[1] = usual;
}

int main(int argc, char **argv) {
    bool all = argc > 1 && strcmp(argv[1], "--all") == 0;
    static const char MANY[] = "4";
    (void)setenv("FAKE_CUDA_DEVICES", MANY, 1);
    try_libraries();
    if (!find_fake()) {
        SKIP("NCCL of tests/fake_cuda is not here (tests/devices/on.sh fake_cuda)");
        return test_done();
    }
    for (uint32_t i = 0; i < MOST; i++) gpus[i] = open_gpu(i, 0);
    alone();
    for (uint32_t ranks = all ? 1 : 3; ranks <= (all ? MOST : 3); ranks++)
        CHECK(with_ranks(ranks, all, run_calls, 0));
    CHECK(fake.messages() > 100);
    comm_limits usual = comm_limit;
    comm_limit = (comm_limits){.message = 4096, .window = 2048, .device_window = 1024, .direct = 2};
    CHECK(with_ranks(3, false, run_calls, 0)); /* cut messages, first messages handed on */
    comm_limit = usual;
    CHECK(with_ranks(2, false, run_steps, 0));
    CHECK(with_ranks(3, false, mix, 0));
    try_little_memory();
    for (int calls = 0; calls < 3; calls++) CHECK(with_ranks(4, false, lose_a_rank, calls));
    CHECK(with_ranks(2, false, wait_for_nobody, 0));
    CHECK(with_ranks(2, false, stop_inside, 0));
    leaving.messages = fake.messages();
    CHECK(with_ranks(2, false, leave_at_once, 0));
    try_revoking();
    try_failures(all);
    for (int i = 0; i < MOST; i++) hg_backend_destroy(gpus[i]);
    CHECK_U64((uint64_t)fake_cuda_things(), 0);
    return test_done();
}
