/* Peers of bench/cpu/run: one work, units begin to end of it. Each is compiled by every compiler
 * that is there, for every CPU level. */
#ifndef HG_BENCH_CPU_PEERS_H
#define HG_BENCH_CPU_PEERS_H

#include <stdint.h>

typedef struct peer_job {
    void *buffer[8];
    uint64_t number[8];
    double real[8];
} peer_job;
typedef void peer_function(const peer_job *job, uint64_t begin, uint64_t end);

#endif
