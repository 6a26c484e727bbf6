/* Makes a failing case small. */
#ifndef HG_TESTS_REDUCE_H
#define HG_TESTS_REDUCE_H

#include "reference/case.h"
#include "support/library.h"

/* Runs a case on the reference and on the library. True when they differ, with a one-line reason; false also when the text does not
 * assemble or verify, or the reference refuses it. guard: most steps of a lane on the reference, 0: none. */
bool case_fails(library *l, const run_case *c, uint64_t guard, char reason[512]);

/* Deletes lines and lanes while the case still fails; at most so many runs. */
void reduce_case(library *l, run_case *c, uint32_t most_runs, char reason[512]);

#endif
