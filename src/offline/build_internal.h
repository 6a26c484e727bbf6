/* Programs on their way to C text, shared by build.c, build_text.c, build_levels.c, build_interface.c and build_plan.c. */
#ifndef HG_OFFLINE_BUILD_INTERNAL_H
#define HG_OFFLINE_BUILD_INTERNAL_H

#include "offline/build.h"
#include "plan/steps/steps.h"

/* A kernel in C: of a plan, or of a whole-array step. */
typedef struct build_kernel {
    kir_module *low;
    char name[128]; /* without its level */
    bool blocks;    /* a call runs whole blocks */
} build_kernel;

typedef struct build_program {
    const hg_program *program;
    hg_plan *plan;
    char function[HG_MAX_IDENT_BYTES * 2 + 2];
    char (*names)[HG_MAX_IDENT_BYTES + 16]; /* of parameters in C */
    uint32_t first_kernel;                  /* of the plan's, in build_job.kernels */
    uint32_t *steps;                        /* by step: its kernel */
    uint32_t block_bytes;                   /* of shared memory that operations of the block need for each lane */
    bool parts;                             /* a call may run some of the lanes */
} build_program;

/* What goes into each text as it is: built/NAME.inc and include/hologram/vector.h, written by cmake/texts.cmake into a source of the build. */
extern const char built_text_vector[], built_text_interface[], built_text_runtime[], built_text_check[];

typedef struct build_job {
    const char *name;
    build_program *programs;
    uint32_t count;
    HG_VEC(build_kernel) kernels;
} build_job;

/* The levels of x86-64; other machines have the first alone. */
typedef struct build_level {
    const char *suffix, *gcc, *clang; /* of names; what the pragmas say, NULL: nothing */
    uint32_t bytes, lanes, number;
} build_level;
enum { BUILD_LEVELS = 3 };
extern const build_level BUILD_LEVEL[BUILD_LEVELS];

/* build_text.c: the function that a map or a reduction applies: an hg_op or KIR_FN_*. */
uint16_t build_step_function(const plan_step *step);
/* A text with the name for each '@', which no name of a program has. */
void build_add_marked(hg_text *out, const char *name, const char *text);
/* A text of our own, without names of a program, with the identifier "built" or what begins with it as the name, "BUILT" in capitals. */
void build_add_named(hg_text *out, const char *name, const char *text);
/* build_levels.c: all kernels for all levels, behind what they need of vector.h. */
hg_status build_add_levels(const build_job *job, hg_text *out);
/* build_interface.c: how a function is called, with what says so in front; and its body's beginning. */
void build_add_prototype(const build_job *job, const build_program *p, hg_text *out);
void build_add_comment(const build_program *p, hg_text *out);
const char *build_scalar_type(hg_type type); /* in C; NULL: wider than 64 bits */
bool build_is_word_of_c(const char *name);
bool build_is_function_of_c(const char *name);
hg_status build_name_params(const build_job *job, build_program *p);
/* build_plan.c: the function. */
hg_status build_add_function(const build_job *job, const build_program *p, hg_text *out);

#endif
