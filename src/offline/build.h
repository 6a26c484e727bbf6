/* Programs as C text that needs nothing of the library: `hologram build`.
 * Must not know: files, compilers, options of commands. */
#ifndef HG_OFFLINE_BUILD_H
#define HG_OFFLINE_BUILD_H

#include "base/base.h"
#include "isa/program.h"

/* Verified programs as NAME.c and NAME.h, added to c and h. A program called NAME becomes the function NAME, another one NAME_PROGRAM.
 * HG_ERROR_INVALID_ARGUMENT: a name that C cannot have, or twice; HG_ERROR_ISA: the program needs what plain C has not, with the instruction. */
hg_status hg_build(const hg_program *const *programs, uint32_t count, const char *name, hg_text *c, hg_text *h) HG_NODISCARD;

#endif
