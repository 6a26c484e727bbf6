/* Cases with what they must give, as a file for machines that cannot run the oracle (record.c). */
#ifndef HG_TESTS_RECORD_H
#define HG_TESTS_RECORD_H

#include "reference/case.h"
#include <stdio.h>

FILE *record_open(const char *path);
/* False: not all could be written. */
bool record_close(FILE *f);
/* The first array must become these bytes; tolerance: ULPs for each element, NULL: none. */
void record_values(FILE *f, const char *name, const run_case *c, const uint8_t *expected,
                   const uint32_t *tolerance);
/* Every array must become what it is after the run, or the run faults as it did. */
void record_run(FILE *f, const char *name, const run_case *c, const run_case *after,
                const run_result *result);

#endif
