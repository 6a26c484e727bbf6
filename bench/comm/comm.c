/* `bench_comm`: what an all_reduce takes. Alone: two ranks as threads, 8 bytes and 64 MiB. Under
 * Open MPI's mpirun: 8 bytes and 64 MiB over the provider mpi, beside MPI_Allreduce on the same
 * ranks in turns. */
#include "../bench.h"
#include <dlfcn.h>
#include <hologram/hologram.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SMALL_CALLS = 20000, LARGE = 64 << 20, LARGE_CALLS = 9, ROUNDS = 15 };

typedef int mpi_all_reduce(const void *in, void *out, int count, void *type, void *op, void *comm);

typedef struct bench_rank {
    hg_comm *comm;
    float *in, *out;
    bench_samples small, large, peer_small, peer_large; /* seconds a call */
    mpi_all_reduce *peer;
    void *type, *op, *world;
} bench_rank;

static void check(hg_status status) {
    if (status == HG_OK) return;
    fprintf(stderr, "%s\n", hg_last_error_text());
    exit(1);
}

static double time_of(bench_rank *r, int peer, uint64_t count, int calls) {
    const hg_comm_call call = {.size = sizeof call,
                               .kind = HG_COMM_ALL_REDUCE,
                               .type = HG_TYPE_F32,
                               .count = count,
                               .input = r->in,
                               .output = r->out};
    const hg_comm_call barrier = {.size = sizeof barrier, .kind = HG_COMM_BARRIER};
    check(hg_comm_run(r->comm, &barrier));
    double start = bench_now();
    for (int i = 0; i < calls; i++)
        if (peer)
            (void)r->peer(r->in, r->out, (int)count, r->type, r->op, r->world);
        else
            check(hg_comm_run(r->comm, &call));
    return (bench_now() - start) / calls;
}

static void *run(void *user) {
    bench_rank *r = user;
    r->in = calloc(1, LARGE);
    r->out = calloc(1, LARGE);
    if (!r->in || !r->out) abort();
    for (int i = 0; i < ROUNDS; i++) {
        bench_add(&r->small, time_of(r, 0, 2, SMALL_CALLS / ROUNDS));
        if (r->peer) bench_add(&r->peer_small, time_of(r, 1, 2, SMALL_CALLS / ROUNDS));
        if (i >= LARGE_CALLS) continue;
        bench_add(&r->large, time_of(r, 0, LARGE / 4, 1));
        if (r->peer) bench_add(&r->peer_large, time_of(r, 1, LARGE / 4, 1));
    }
    return NULL;
}

static void print(const char *who, const bench_samples *small, const bench_samples *large) {
    printf("%-14s 8 bytes %8.2f us (%.2f - %.2f)   64 MiB %7.2f ms (%.2f - %.2f)\n", who,
           bench_median(small) * 1e6, bench_low(small) * 1e6, bench_high(small) * 1e6,
           bench_median(large) * 1e3, bench_low(large) * 1e3, bench_high(large) * 1e3);
}

int main(void) {
    hg_backend *backend;
    hg_comm *comm;
    static bench_rank ranks[2];
    check(hg_backend_create("cpu", 0, &backend));
    check(hg_comm_create("auto", backend, &comm));
    if (strcmp(hg_comm_provider(comm), "mpi") == 0) {
        void *mpi = dlopen("libmpi.so.40", RTLD_NOW | RTLD_NOLOAD);
        ranks[0].comm = comm;
        if (mpi) {
            *(void **)&ranks[0].peer = dlsym(mpi, "MPI_Allreduce");
            ranks[0].type = dlsym(mpi, "ompi_mpi_float");
            ranks[0].op = dlsym(mpi, "ompi_mpi_op_sum");
            ranks[0].world = dlsym(mpi, "ompi_mpi_comm_world");
        }
        run(&ranks[0]);
        if (hg_comm_rank(comm) == 0) {
            print("hologram, mpi", &ranks[0].small, &ranks[0].large);
            if (mpi) print("MPI_Allreduce", &ranks[0].peer_small, &ranks[0].peer_large);
        }
    } else {
        hg_comm *both[2];
        pthread_t thread;
        check(hg_comm_create_local((hg_backend *[]){backend, backend}, 2, both));
        for (int i = 0; i < 2; i++) ranks[i].comm = both[i];
        if (pthread_create(&thread, NULL, run, &ranks[1])) abort();
        run(&ranks[0]);
        pthread_join(thread, NULL);
        print("threads", &ranks[0].small, &ranks[0].large);
        for (int i = 0; i < 2; i++) hg_comm_destroy(both[i]);
    }
    hg_comm_destroy(comm);
    hg_backend_destroy(backend);
    return 0;
}
