/* Programs as C text that needs nothing of the library: `hologram build`.
 * Must not know: files, compilers, options of commands. */
#ifndef HG_OFFLINE_BUILD_H
#define HG_OFFLINE_BUILD_H

#include "base/base.h"
#include "isa/program.h"

/* A scalar parameter whose value is known when the text is made: the function does not take it. */
typedef struct hg_build_value {
    uint32_t program; /* its number in the request */
    const char *name;
    uint64_t bits; /* of its type, at most 64 */
} hg_build_value;

typedef struct hg_build_request {
    const hg_program *const *programs; /* verified */
    uint32_t count;
    const char *name;
    const hg_build_value *values; /* of scalars */
    uint32_t value_count;
} hg_build_request;

/* Programs as NAME.c and NAME.h, added to c and h. A program called NAME becomes the function NAME, another one NAME_PROGRAM.
 * HG_ERROR_INVALID_ARGUMENT: a name that C cannot have, or twice; HG_ERROR_ISA: the program needs what plain C has not, with the instruction. */
hg_status hg_build(const hg_build_request *r, hg_text *c, hg_text *h) HG_NODISCARD;

#endif
