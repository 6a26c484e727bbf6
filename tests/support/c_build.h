/* Programs as `hologram build` writes them, compiled by a C compiler of the machine, loaded and
 * called. */
#ifndef HG_TESTS_C_BUILD_H
#define HG_TESTS_C_BUILD_H

#include "reference/case.h"

typedef struct c_build c_build;
/* As NAME.h has it. */
typedef struct c_build_fault {
    int code;
    uint32_t instruction, operand;
    uint64_t lane;
    char message[160];
} c_build_fault;

/* compiler: a command such as "gcc -O1". False with the reason: there is none. */
bool c_build_use(const char *compiler, char reason[256]);
/* Whether C has what the program needs. *failed: its text could not be written, and a message says
 * why. */
bool c_build_can(const hg_program *program, bool *failed);
/* Programs of which that is true, as one text; they have different names. NULL: the compiler
 * refused it, after its message. The programs are borrowed. */
c_build *c_build_make(const hg_program *const *programs, uint32_t count);
void c_build_free(c_build *b);
/* The library of two texts with the name `slice`, for dlclose; NULL after a message. */
void *c_build_compile(const hg_text *c, const hg_text *h);
/* The levels that this machine has; NULL: past the last. */
const char *c_build_level(c_build *b, uint32_t index);
/* Runs one of the programs once at a level, in as many calls as there are parts (of a program that
 * is one kernel). Arrays hold the results. */
void c_build_run(c_build *b, uint32_t program, const char *level, uint32_t parts, run_case *c,
                 run_result *result);
bool c_build_has_parts(const c_build *b, uint32_t program);

#endif
