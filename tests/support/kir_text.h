/* Kernel IR through its text form: every module reads back as itself. */
#ifndef HG_TESTS_KIR_TEXT_H
#define HG_TESTS_KIR_TEXT_H

#include "kir/kir.h"

/* Whether print, parse, print gives the same text, the module that was read keeps the rules, and
 * its every field that a pass can see is equal. A difference is printed; what: for that. */
bool kir_reads_back(const kir_module *m, const char *what);

#endif
