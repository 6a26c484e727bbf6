/* Runs cases on the library through its public interface. */
#ifndef HG_TESTS_LIBRARY_H
#define HG_TESTS_LIBRARY_H

#include "reference/case.h"

typedef struct library library;

/* A backend by name ("opencl:1" for its device 1), with a CPU level ("" for the best) and "" or
 * "poor". NULL with the reason when it cannot be had. */
library *library_open(const char *backend, const char *level, const char *pretend,
                      char reason[256]);
void library_close(library *l);
bool library_limits_rounds(const library *l); /* the device says that it runs only so many rounds of
                                                 loops */
/* Runs once; arrays hold the results, of a launch that faulted too. */
void library_run(library *l, const hg_program *program, run_case *c, run_result *result);

#endif
