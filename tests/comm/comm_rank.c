/* One rank of the suite under a launcher: run.py starts it. The last line says what it counted. */
#include "comm/comm.h"
#include "comm/mpi/mpi.h"
#include "comm/suite.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- one rank of a cluster fails ---- */

static const char LAYER[] = ".atlas 1\n.program layer\n"
                            ".param x buffer f32 in [8, 4]\n.param w buffer f32 in [4, 8]\n"
                            ".param from buffer u32 in [4]\n.param y buffer f32 out [8, 8]\n"
                            ".scratch v f32 [4, 8]\n"
                            ".lanes [i < 4, j < 8]\n    v[i, j] = w[from[i], j]\n"
                            "gemm c=y, a=x, b=v, m=8, n=8, k=4\n";

typedef enum how { WELL, WITHOUT_AN_ARRAY, WITH_A_FAULT } how;

static void cluster(hg_distributed *d, hg_program *program, uint32_t failing, how goes,
                    suite_counts *counts) {
    static const char *const names[] = {"x", "w", "from", "y"};
    static const hg_placement rows[] = {{"x", "split 0"}};
    hg_backend *backend = hg_distributed_backend(d);
    uint32_t words[4][64], rank = hg_comm_rank(hg_distributed_comm(d));
    hg_buffer buffers[4];
    hg_params *params = hg_params_create();
    bool good = true;
    for (int i = 0; i < 4; i++) {
        for (uint32_t j = 0; j < 64; j++) words[i][j] = i == 2 ? j % 4 : 0x3f800000;
        if (i == 2 && goes == WITH_A_FAULT && rank == failing) words[i][1] = 9;
        good = good && hg_backend_allocate_buffer(backend, 256, &buffers[i]) == HG_OK &&
               hg_buffer_write(backend, buffers[i], 0, words[i], 256) == HG_OK;
        if (i != 1 || goes != WITHOUT_AN_ARRAY || rank != failing)
            good = good && hg_params_set_buffer(params, names[i], buffers[i]) == HG_OK;
    }
    hg_status status = hg_distributed_execute_cluster(d, program, NULL, params, rows, 1,
                                                      HG_CLUSTER_HYBRID);
    char by[32] = "";
    const char *why = goes == WITH_A_FAULT ? "index 9 is outside" : "'w'";
    if (rank != failing) snprintf(by, sizeof by, "rank %u: ", failing);
    good = good && (status == HG_OK) == (goes == WELL) &&
           (status == HG_OK ||
            (strstr(hg_last_error_text(), by) && strstr(hg_last_error_text(), why))) &&
           (goes != WITH_A_FAULT || hg_last_error()->lane == 8);
    if (status == HG_OK) {
        float y[64];
        good = good && hg_buffer_read(backend, buffers[3], 0, y, sizeof y) == HG_OK;
        for (int i = 0; i < 64; i++) good = good && y[i] == 4;
    }
    if (!good)
        fprintf(stderr, "rank %u: a cluster where rank %u fails (%d): %s\n", rank, failing, goes,
                hg_last_error_text());
    hg_params_destroy(params);
    for (int i = 0; i < 4; i++) good = hg_backend_free_buffer(backend, buffers[i]) == HG_OK && good;
    *(good ? &counts->passed : &counts->failed) += 1;
}

/* The eight rows are split into equal pieces: the last of many ranks may have none, and so no lane
 * that could fault. */
static bool has_rows(uint32_t rank, uint32_t ranks) {
    uint32_t each = (8 + ranks - 1) / ranks;
    return rank * each < 8;
}

static void clusters(uint32_t ranks, suite_counts *counts) {
    const char *addresses[64];
    hg_distributed *d = NULL;
    hg_program *program = NULL;
    for (uint32_t i = 0; i < ranks; i++) addresses[i] = "node:1";
    if (hg_distributed_create(addresses, ranks, "cpu", &d) != HG_OK ||
        hg_comm_set_timeout(hg_distributed_comm(d), 30000) != HG_OK ||
        hg_program_assemble(LAYER, sizeof LAYER - 1, NULL, &program) != HG_OK) {
        fprintf(stderr, "%s\n", hg_last_error_text());
        counts->failed++;
    } else {
        cluster(d, program, 0, WELL, counts);
        for (uint32_t failing = 0; failing<ranks; failing += ranks> 1 ? ranks - 1 : 1)
            for (int goes = WITHOUT_AN_ARRAY;
                 goes <= (has_rows(failing, ranks) ? WITH_A_FAULT : WITHOUT_AN_ARRAY); goes++)
                cluster(d, program, failing, (how)goes, counts);
        cluster(d, program, 0, WELL, counts);
    }
    hg_program_release(program);
    hg_distributed_destroy(d);
}

/* ---- a rank that does not come to a split ---- */

/* Rank 0 has what the others say to it, and then waits for them: its deadline ends that, and the
 * job, in which they wait for ever. */
static int late_split(hg_comm *comm) {
    uint32_t own[3] = {0}, all[3 * 64];
    hg_comm_call say = {.size = sizeof say,
                        .kind = HG_COMM_ALL_GATHER,
                        .type = HG_TYPE_U32,
                        .count = 3,
                        .input = own,
                        .output = all};
    hg_comm *part = NULL;
    if (hg_comm_rank(comm) != 0) {
        (void)alarm(50);
        if (hg_comm_run(comm, &say) != HG_OK) return 1;
        for (;;) (void)pause();
    }
    hg_status status = hg_comm_set_timeout(comm, 500);
    if (status == HG_OK) status = hg_comm_split(comm, 0, 0, &part);
    printf("split: %s\n", hg_last_error_text());
    fflush(stdout);
    return status == HG_ERROR_TIMEOUT ? 3 : 1;
}

static int calls_until_rest; /* of MPI */
static uint64_t time_is_over_ns;

static void rest_once(void) {
    if (calls_until_rest-- == 0) (void)usleep(600000);
}

/* Its last look is when its time is over; then it rests, and says that it leaves. */
static void rest_after_time(void) {
    if (hg_clock_ns() + 20000000 < time_is_over_ns) return;
    while (hg_clock_ns() < time_is_over_ns) hg_thread_yield();
    if (calls_until_rest-- == 0) (void)usleep(900000);
}

/* Many more, each with a part of its own. */
static hg_status split_often(hg_comm *comm, const comm_part *wanted) {
    hg_status status = HG_OK;
    for (int i = 0; i < 120 && status == HG_OK; i++) {
        comm_group *part = NULL;
        status = comm->provider->split(comm->group, wanted, hg_clock_ns() + UINT64_C(20000000000),
                                       &part);
        if (status == HG_OK) comm->provider->close(part);
    }
    return status;
}

/* Rank 1 has little time for a split. Where rank 2 comes later than that, no rank goes on, nor
 * waits for its own time to end; where rank 1 has told that it is there and looks again when its
 * time is over, all do. So they do where it says that it leaves when rank 0 has told that all are
 * there, and that is not taken for a word of splits behind this one. */
static int short_split(hg_comm *comm, const char *what) {
    uint32_t rank = hg_comm_rank(comm), size = hg_comm_size(comm);
    const uint32_t members[] = {0, 1, 2};
    const comm_part wanted = {members, 3, 1};
    const hg_comm_call barrier = {.size = sizeof barrier, .kind = HG_COMM_BARRIER};
    bool late = strcmp(what, "late") == 0, crossing = strcmp(what, "crossing") == 0;
    comm_group *part = NULL;
    (void)alarm(50);
    if (size != 3 || hg_comm_run(comm, &barrier) != HG_OK) return 1;
    if (late && rank == 2) (void)usleep(1000000);
    if (crossing && rank == 2) (void)usleep(700000);
    calls_until_rest = crossing ? 1 : 6; /* it has said that it comes */
    uint64_t begun = hg_clock_ns(), until = begun + (rank == 1 ? 300 : 20000) * UINT64_C(1000000);
    time_is_over_ns = until;
    if (!late && rank == 1) comm_mpi_watch = crossing ? rest_after_time : rest_once;
    hg_status status = comm->provider->split(comm->group, &wanted, until, &part);
    comm_mpi_watch = NULL;
    uint64_t took = hg_clock_ns() - begun;
    if (status == HG_OK) comm->provider->close(part);
    if (status == HG_OK && crossing) status = split_often(comm, &wanted);
    printf("split: %s, %s\n", status == HG_OK ? "all" : hg_last_error_text(),
           took < UINT64_C(10000000000) ? "soon" : "late");
    fflush(stdout);
    if (status != HG_OK) (void)sleep(2); /* a process that ends ends the others */
    hg_comm_destroy(comm);
    return 0;
}

/* ---- a rank that is killed ---- */

static long calls_left = -1; /* of MPI, until this process is killed */

static void count_down(void) {
    if (calls_left >= 0 && calls_left-- == 0) (void)raise(SIGKILL);
}

/* Everything that ranks do with each other, some of it many times. */
static hg_status do_much(hg_comm *comm) {
    static float in[20000], out[20000 * 4];
    uint32_t rank = hg_comm_rank(comm), size = hg_comm_size(comm);
    hg_comm *part = NULL;
    hg_event *event = NULL;
    static const uint64_t counts[] = {1, 20000, 300};
    hg_status status = hg_comm_set_timeout(comm, 3000);
    for (int i = 0; i < 6 && status == HG_OK; i++) {
        hg_comm_call c = {.size = sizeof c,
                          .kind = i % 2 ? HG_COMM_ALL_GATHER : HG_COMM_ALL_REDUCE,
                          .type = HG_TYPE_F32,
                          .count = counts[i % 3],
                          .input = in,
                          .output = out};
        status = hg_comm_run(comm, &c);
    }
    hg_comm_call send = {.size = sizeof send,
                         .kind = HG_COMM_SEND,
                         .type = HG_TYPE_F32,
                         .peer = (rank + 1) % size,
                         .count = 3000,
                         .input = in},
                 recv = send;
    recv.kind = HG_COMM_RECV;
    recv.peer = (rank + size - 1) % size;
    recv.output = out;
    if (status == HG_OK) status = hg_comm_start(comm, &send, NULL, 0, &event);
    if (status == HG_OK) status = hg_comm_run(comm, &recv);
    if (event && status == HG_OK) status = hg_event_wait(event);
    if (status == HG_OK) status = hg_comm_split(comm, rank % 2, 0, &part);
    hg_comm_destroy(part);
    hg_event_destroy(event);
    return status;
}

/* Rank 1 is killed before its call of MPI number `at`, counted from the first one of the process.
 */
static int die(hg_backend *backend, long at) {
    const char *mpich = getenv("PMI_RANK"), *open = getenv("OMPI_COMM_WORLD_RANK");
    hg_comm *comm = NULL;
    if (strcmp(open ? open : mpich, "1") == 0) calls_left = at;
    comm_mpi_watch = count_down;
    (void)alarm(50);
    hg_status status = hg_comm_create("mpi", backend, &comm);
    if (status == HG_OK) status = do_much(comm);
    if (status == HG_OK) printf("all done\n");
    hg_comm_destroy(comm);
    hg_backend_destroy(backend);
    return status == HG_OK ? 0 : 4;
}

/* The sum of ranks 0, 2 and 3 of four, or of 0 and 3, by the tree: any other order rounds
 * otherwise. */
static bool sum_of_rest(hg_comm *rest, uint32_t rank) {
    enum { COUNT = 3000 };
    static const float of[] = {1e8f, 0, 3.5f, -1e8f};
    float x[COUNT], expected = of[0] + of[3];
    if (hg_comm_size(rest) == 3) expected += of[2];
    for (int i = 0; i < COUNT; i++) x[i] = of[rank] * (float)(1 << i % 8);
    hg_comm_call c = {.size = sizeof c,
                      .kind = HG_COMM_ALL_REDUCE,
                      .type = HG_TYPE_F32,
                      .count = COUNT,
                      .input = x,
                      .output = x};
    if (hg_comm_run(rest, &c) != HG_OK) return false;
    for (int i = 0; i < COUNT; i++)
        if (x[i] != expected * (float)(1 << i % 8)) return false;
    return true;
}

/* Of four ranks rank 1 is killed before its call number `at` behind the beginning; the others
 * revoke, agree, shrink, and go on, but for rank 2, which is killed before its call number `then`
 * of these. Where nobody was killed all come to the end. */
static int lose(hg_comm *comm, long at, long then) {
    hg_comm *rest = NULL;
    uint32_t rank = hg_comm_rank(comm);
    uint64_t flags = UINT64_C(0x6000000000000003) + (rank ? 2 + (UINT64_C(1) << 60) : 0);
    if (rank == 1) calls_left = at;
    comm_mpi_watch = count_down;
    (void)alarm(50);
    hg_status status = do_much(comm);
    calls_left = rank == 2 ? then : -1;
    bool good = hg_comm_revoke(comm) == HG_OK && hg_comm_set_timeout(comm, 20000) == HG_OK &&
                hg_comm_agree(comm, &flags) == HG_OK && flags == UINT64_C(0x6000000000000001);
    status = good ? HG_ERROR_EXECUTION_FAILED : HG_ERROR_INTERNAL;
    for (int i = 0; i < 3 && status == HG_ERROR_EXECUTION_FAILED; i++) {
        status = hg_comm_shrink(comm, &rest);
        if (status == HG_OK && hg_comm_size(rest) < 4 && !sum_of_rest(rest, rank)) {
            status = HG_ERROR_EXECUTION_FAILED; /* it lost a rank, or has wrong sums */
            (void)!hg_comm_revoke(rest);
            hg_comm_destroy(rest);
            rest = NULL;
        }
    }
    if (status == HG_OK)
        printf("rank %u goes on with %u\n", rank, hg_comm_size(rest));
    else
        printf("rank %u: %s\n", rank, hg_last_error_text());
    hg_comm_destroy(rest);
    hg_comm_destroy(comm);
    return status == HG_OK ? 0 : 5;
}

int main(int argc, char **argv) {
    bool all = argc > 1 && strcmp(argv[1], "--all") == 0;
    suite_counts counts = {0, 0};
    hg_config config = hg_config_default();
    hg_backend *backend = NULL;
    hg_comm *comm = NULL;
    memcpy(config.backend, "cpu", sizeof "cpu");
    config.num_threads = 1;
    if (hg_backend_create_with_config(&config, &backend) == HG_OK && argc > 2 &&
        strcmp(argv[1], "--die") == 0)
        return die(backend, atol(argv[2]));
    if (!backend || hg_comm_create("auto", backend, &comm) != HG_OK) {
        fprintf(stderr, "%s\n", hg_last_error_text());
        hg_backend_destroy(backend);
        return 1;
    }
    if (strcmp(hg_comm_provider(comm), "mpi") != 0) {
        fprintf(stderr, "the provider is %s\n", hg_comm_provider(comm));
        counts.failed++;
    }
    if (argc > 1 && strcmp(argv[1], "--late-split") == 0) return late_split(comm);
    if (argc > 2 && strcmp(argv[1], "--short-split") == 0) return short_split(comm, argv[2]);
    if (argc > 2 && strcmp(argv[1], "--lose") == 0)
        return lose(comm, atol(argv[2]), argc > 3 ? atol(argv[3]) : -1);
    comm_suite(backend, comm, all, &counts);
    clusters(hg_comm_size(comm), &counts);
    printf("rank %u of %u: %lu passed, %lu failed\n", hg_comm_rank(comm), hg_comm_size(comm),
           counts.passed, counts.failed);
    hg_comm_destroy(comm);
    hg_backend_destroy(backend);
    return counts.failed != 0;
}
