/* Vector form through its text: every form reads back as itself. */
#ifndef HG_TESTS_VECTOR_TEXT_H
#define HG_TESTS_VECTOR_TEXT_H

#include "vector/vector.h"

/* Whether print, parse, print gives the same text, and the form that was read keeps the rules. A
 * difference is printed; what: for that. */
bool vec_reads_back(vec_kernel *k, const char *what);

#endif
