/* Clocks and samples of the benchmarks. */
#include "bench.h"
#include <time.h>

double bench_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Of this thread: what others do on a shared machine is not in it. For all figures of one thread,
 * on both sides. */
double bench_cpu(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void bench_add(bench_samples *s, double seconds) {
    int at = s->count < BENCH_MAX_SAMPLES ? s->count++ : BENCH_MAX_SAMPLES - 1;
    while (at > 0 && s->value[at - 1] > seconds) {
        s->value[at] = s->value[at - 1];
        at--;
    }
    s->value[at] = seconds;
}

double bench_median(const bench_samples *s) { return s->value[s->count / 2]; }
double bench_low(const bench_samples *s) { return s->value[s->count / 10]; }
double bench_high(const bench_samples *s) { return s->value[s->count - 1 - s->count / 10]; }
