/* What the benchmark's files share: clocks, samples, peers. */
#ifndef HG_BENCH_BENCH_H
#define HG_BENCH_BENCH_H

#include <stddef.h>
#include <stdint.h>

enum { BENCH_MAX_SAMPLES = 64 };
typedef struct bench_samples {
    double value[BENCH_MAX_SAMPLES];
    int count;
} bench_samples; /* seconds, lower is better */

double bench_now(void); /* wall clock */
double bench_cpu(void); /* of this thread */
void bench_add(bench_samples *s, double seconds);
double bench_median(const bench_samples *s);
double bench_low(const bench_samples *s);  /* tenth percentile */
double bench_high(const bench_samples *s); /* ninetieth */

/* peers.c: plain C loops compiled for this machine, with the work the library is asked to do */
void peer_chain(float *restrict x, const float *restrict a, const float *restrict b, size_t n,
                int rounds);
void peer_add(float *restrict c, const float *restrict a, const float *restrict b, size_t n);
double peer_read(const float *x, size_t n); /* reads all; four wide accumulators */

#endif
