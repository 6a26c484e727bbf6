/* Makes a failing case small. */
#ifndef HG_TESTS_REDUCE_H
#define HG_TESTS_REDUCE_H

#include "reference/case.h"
#include "support/library.h"

/* Runs a case on the reference and on the library. 0 when they agree, and when the text does not
 * assemble or verify or the reference refuses it; else the kind of the difference (how both ended),
 * with a one-line reason. guard, if not 0: most steps of a lane on the reference, and the case must
 * not depend on the order of lanes. */
int case_fails(library *l, const run_case *c, uint64_t guard, char reason[512]);

/* Deletes lines and lanes while the case still fails in that kind; at most so many runs. */
void reduce_case(library *l, run_case *c, int kind, uint32_t most_runs, char reason[512]);

#endif
