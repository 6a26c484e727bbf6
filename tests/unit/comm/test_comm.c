/* Communicators of ranks in one process: the suite of all providers with 1 to 4 ranks, sizes at
 * which messages are cut, and ranks that fail. */
/* test: labels=threads timeout=120 */
#include "comm/comm.h"
#include "comm/suite.h"
#include "support/runtime_support.h"
#include <pthread.h>
#include <stdlib.h>

typedef struct rank_work {
    hg_backend *backend;
    hg_comm *comm;
    bool all;
    suite_counts counts;
    void (*run)(struct rank_work *w);
    void *user;
    pthread_t thread;
} rank_work;

static void *run_rank(void *user) {
    rank_work *w = user;
    w->run(w);
    return NULL;
}

static void run_suite(rank_work *w) { comm_suite(w->backend, w->comm, w->all, &w->counts); }

enum { MOST = 8 };

/* A thread for each rank. */
static void with_ranks(hg_backend *b, uint32_t ranks, bool all, void (*run)(rank_work *w),
                       void *user) {
    hg_backend *backends[MOST];
    hg_comm *comms[MOST] = {0};
    rank_work work[MOST];
    for (uint32_t i = 0; i < ranks; i++) backends[i] = b;
    CHECK_OK(hg_comm_create_local(backends, ranks, comms));
    for (uint32_t i = 0; i < ranks; i++) {
        work[i] = (rank_work){.backend = b, .comm = comms[i], .all = all, .run = run, .user = user};
        if (pthread_create(&work[i].thread, NULL, run_rank, &work[i])) abort();
    }
    for (uint32_t i = 0; i < ranks; i++) {
        pthread_join(work[i].thread, NULL);
        test_passed += work[i].counts.passed;
        test_failed += work[i].counts.failed;
    }
    for (uint32_t i = 0; i < ranks; i++) hg_comm_destroy(work[i].comm);
}

int main(int argc, char **argv) {
    bool all = argc > 1 && strcmp(argv[1], "--all") == 0;
    hg_backend *b = open_backend("cpu");
    for (uint32_t ranks = 1; ranks <= (all ? MOST : 4); ranks++)
        with_ranks(b, ranks, all, run_suite, NULL);
    hg_backend_destroy(b);
    return test_done();
}
