/* Whether kernels had native code where jit "on" asks for it: what ran on the interpreter has
 * tested nothing of it. */
#ifndef HG_TESTS_NATIVE_TOLD_H
#define HG_TESTS_NATIVE_TOLD_H

#include <hologram/backend.h>
#include <stdbool.h>

hg_status native_listen(hg_backend *backend); /* before its first program */
/* Says how many had it, and skips where none had, or with all: not each. */
void native_told(bool all);

#endif
