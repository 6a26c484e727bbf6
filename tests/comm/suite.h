/* What every provider of communicators must do, called by each rank of one at the same time. */
#ifndef HG_TESTS_COMM_SUITE_H
#define HG_TESTS_COMM_SUITE_H

#include <hologram/hologram.h>
#include <stdbool.h>

/* One rank's part. Checks are counted in this thread's record; words about what failed go to
 * standard error. all: every type and operation with more sizes. */
typedef struct suite_counts {
    unsigned long passed, failed;
} suite_counts;
void comm_suite(hg_backend *backend, hg_comm *comm, bool all, suite_counts *counts);
/* Its parts: calls; instructions of programs. */
void comm_suite_calls(hg_backend *backend, hg_comm *comm, bool all, suite_counts *counts);
void comm_suite_steps(hg_backend *backend, hg_comm *comm, bool all, suite_counts *counts);

#endif
