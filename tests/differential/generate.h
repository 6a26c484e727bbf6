/* Random programs from a seed: verified, ending, and free of races by construction. */
#ifndef HG_TESTS_GENERATE_H
#define HG_TESTS_GENERATE_H

#include "reference/case.h"

enum {
    GENERATE_DEEP = 1,    /* widest types, longest programs */
    GENERATE_FAULTS = 2,  /* programs that may fault */
    GENERATE_ROUNDS = 16, /* 10^4 to 10^6 rounds of loops in a lane */
    GENERATE_SHORT = 8, /* few types and instructions: devices whose compilers take seconds for the
                           others */
    GENERATE_TINY = 32, /* with GENERATE_SHORT: fewer still, where many programs count for more than
                           long ones; none whose kind is to be long */
    GENERATE_VECTOR = 64, /* what compilers of the vector form tell apart (generate_vector.c) */
    GENERATE_RACY = 4     /* lanes share their slots: results are not compared, but nothing else may
                             break */
};

/* Makes the case of a seed. The same seed gives the same case everywhere. False when out of memory.
 */
bool generate_case(uint64_t seed, uint32_t flags, run_case *c);

#endif
