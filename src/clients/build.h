/* Programs as C text that needs nothing of the library: `hologram build`.
 * Must not know: files, compilers, options of commands. */
#ifndef HG_CLIENTS_BUILD_H
#define HG_CLIENTS_BUILD_H

#include "base/base.h"
#include "isa/program.h"

/* What goes into the text as it is: include/hologram/vector.h and the pieces of cli/built. */
typedef struct hg_build_texts {
    const char *vector, *interface, *runtime, *check;
} hg_build_texts;

/* Verified programs as NAME.c and NAME.h, added to c and h. A program called NAME becomes the function NAME, another one NAME_PROGRAM.
 * HG_ERROR_INVALID_ARGUMENT: a name that C cannot have, or twice; HG_ERROR_ISA: the program needs what plain C has not, with the instruction. */
hg_status hg_build(const hg_program *const *programs, uint32_t count, const char *name, const hg_build_texts *texts, hg_text *c,
                   hg_text *h) HG_NODISCARD;

#endif
