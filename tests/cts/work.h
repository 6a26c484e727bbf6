/* A case whose output is known from elsewhere, each element within a bound. */
#ifndef HG_TESTS_CTS_WORK_H
#define HG_TESTS_CTS_WORK_H

#include "cts.h"

/* Arrays are of `type`, the output first; it is of `result`. */
typedef struct work {
    cts *s;
    hg_type type, result;
    run_case c;
    char text[1024];
    uint64_t count;
    long double unit; /* half an ULP of 1, of the type that is calculated in */
    long double *expected, *bound;
} work;

/* arrays: a letter each, y first. */
bool work_begin(work *w, cts *s, hg_type type, hg_type result, uint64_t outputs,
                const char *arrays);
/* Made-up elements of an array, as they are in memory; in steps of 1/64 below 8. The caller frees
 * them. */
double *work_input(work *w, const char *name, uint64_t count, bool positive);
/* Runs the instruction and compares. */
void work_finish(work *w, const char *instruction);

#endif
