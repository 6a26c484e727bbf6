/* `bench_link`, by bench/comm/link: how much of what a link takes is hidden behind a rank's own
 * work. Two ranks of MPI: an all_reduce alone, work as long as it alone, and both at once. */
#include "../bench.h"
#include <hologram/hologram.h>
#include <stdio.h>
#include <stdlib.h>

enum { BYTES = 16 << 20, ROUNDS = 7 };

static float *in, *out;

static void check(hg_status status) {
    if (status == HG_OK) return;
    fprintf(stderr, "%s\n", hg_last_error_text());
    exit(1);
}

static void barrier(hg_comm *comm) {
    const hg_comm_call call = {.size = sizeof call, .kind = HG_COMM_BARRIER};
    check(hg_comm_run(comm, &call));
}

static hg_comm_call sum(void) {
    return (hg_comm_call){.size = sizeof(hg_comm_call),
                          .kind = HG_COMM_ALL_REDUCE,
                          .type = HG_TYPE_F32,
                          .count = BYTES / sizeof(float),
                          .input = in,
                          .output = out};
}

/* What it does is of no use but its time. */
static void work(long turns) {
    static volatile float kept;
    float x = kept;
    for (long i = 0; i < turns; i++) x = x * 0.999f + 1;
    kept = x;
}

static double time_of_wire(hg_comm *comm) {
    hg_comm_call call = sum();
    barrier(comm);
    double start = bench_now();
    check(hg_comm_run(comm, &call));
    return bench_now() - start;
}

static double time_of_work(hg_comm *comm, long turns) {
    barrier(comm);
    double start = bench_now();
    work(turns);
    return bench_now() - start;
}

static double time_of_both(hg_comm *comm, long turns) {
    hg_comm_call call = sum();
    hg_event *event;
    barrier(comm);
    double start = bench_now();
    check(hg_comm_start(comm, &call, NULL, 0, &event));
    work(turns);
    check(hg_event_wait(event));
    double took = bench_now() - start;
    hg_event_destroy(event);
    return took;
}

int main(void) {
    hg_backend *backend;
    hg_comm *comm;
    bench_samples wire = {0}, alone = {0}, both = {0};
    check(hg_backend_create("cpu", 0, &backend));
    check(hg_comm_create("mpi", backend, &comm));
    in = calloc(1, BYTES);
    out = calloc(1, BYTES);
    if (!in || !out) abort();
    (void)time_of_wire(comm);
    double usual = time_of_wire(comm), start = bench_now();
    work(10000000);
    long turns = (long)(1e7 * usual / (bench_now() - start));
    for (int i = 0; i < ROUNDS; i++) {
        bench_add(&wire, time_of_wire(comm));
        bench_add(&alone, time_of_work(comm, turns));
        bench_add(&both, time_of_both(comm, turns));
    }
    double w = bench_median(&wire), c = bench_median(&alone), b = bench_median(&both),
           shorter = w < c ? w : c;
    for (uint32_t r = 0; r < hg_comm_size(comm); r++) {
        barrier(comm);
        if (r != hg_comm_rank(comm)) continue;
        printf("rank %u: all_reduce of %d MiB %.1f ms (%.2f Gbit/s each way), work %.1f ms, both "
               "%.1f ms: %.2f of the shorter hidden\n",
               r, BYTES >> 20, w * 1e3, BYTES * 8 / w / 1e9, c * 1e3, b * 1e3,
               (w + c - b) / shorter);
        fflush(stdout);
    }
    hg_comm_destroy(comm);
    hg_backend_destroy(backend);
    return 0;
}
