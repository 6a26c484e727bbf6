/* Programs from text, and back. */
#ifndef HG_TESTS_PROGRAM_TEXT_H
#define HG_TESTS_PROGRAM_TEXT_H

#include "test.h"
#include <hologram/program.h>

/* A text that must assemble; without a program the test ends. */
hg_program *assemble(const char *text);
/* Its canonical text is this one. */
void prints(const hg_program *p, const char *expected);

#endif
