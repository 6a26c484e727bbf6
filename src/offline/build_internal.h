/* Programs on their way to C text, shared by the files build*.c. */
#ifndef HG_OFFLINE_BUILD_INTERNAL_H
#define HG_OFFLINE_BUILD_INTERNAL_H

#include "graph/lower.h"
#include "graph/memory.h"
#include "io/packed.h"
#include "offline/build.h"
#include "plan/steps/steps.h"

/* A kernel in C: of a plan, or of a whole-array step. */
typedef struct build_kernel {
    kir_module *low;
    char name[128];      /* without its level */
    bool blocks;         /* a call runs whole blocks */
    bool places;         /* it asks where lanes are in their blocks: there is a second text of it,
                            NAME_places, whose calls run whole blocks */
    plan_kernel_key key; /* of an expansion's; without make: another one */
} build_kernel;

enum { BUILD_OPEN_INPUTS = 64 }; /* of a kernel that launches at the call give them */

/* A whole-array instruction. */
typedef struct build_step {
    bool expanded; /* its shapes are numbers: it is the launches of the expansion */
    bool open;     /* a call knows them: it has one of these kernels, build_open.c */
    HG_VEC(uint32_t) open_kernels;
    uint32_t differs[HG_MAX_OPERANDS]; /* open: of each array: bit w: array w may have another shape
                                        */
    uint32_t kernel; /* neither: the kernel of a map or a reduction whose count a call knows */
    uint64_t *words, *constants; /* of the call */
    plan_operand *operands;
    plan_array *arrays;
    plan_call call;
    plan_problem problem;             /* it faults in each run, */
    plan_expansion expansion;         /* else that is what it does */
    uint32_t *kernels;                /* of each action that is a launch */
    uint32_t shares[HG_MAX_OPERANDS]; /* of each array: bit w: it may share memory with array w,
                                         which is written */
    uint64_t copies[HG_MAX_OPERANDS]; /* where in its scratch memory an array is copied to in that
                                         case, + 1; 0: never */
    uint64_t tables, scratch;         /* where the tables begin in that memory, bytes of it */
} build_step;

/* Whose function a program's is. */
typedef enum build_use {
    BUILD_PUBLIC, /* the header's */
    BUILD_LAUNCH, /* a launch of a graph: static, begins with `stop` in place of a launch */
    BUILD_GRAPH   /* the header's, of a graph whose interface the program is: begins with `stop` too
                   */
} build_use;

/* Where an array of a graph's launch lies: in the memory of a value, or in the workspace
 * (GRAPH_NOT_SET). */
typedef struct build_place {
    uint32_t of; /* the value that lies there */
    uint32_t value;
    uint64_t begin, bytes;
    bool open; /* extents come with the call: value may be GRAPH_NOT_SET - 1 - slot, and two of a
                  value begin at the same byte where `begin` is the same */
} build_place;

typedef struct build_program {
    uint8_t use; /* build_use */
    const hg_program *program;
    hg_plan *plan;
    char function[HG_MAX_IDENT_BYTES * 2 + 2];
    char (*names)[HG_MAX_IDENT_BYTES + 16]; /* of parameters in C */
    uint32_t first_kernel;                  /* of the plan's, in build_job.kernels */
    const hg_build_value **fixed; /* by parameter: a scalar's value, which the function does not
                                     take; NULL: it takes it */
    build_place *places; /* by parameter, of a graph's launch: arrays may share memory. NULL: they
                            do not */
    build_step *steps;
    /* The workspace in parts: those of .scratch, of what lanes keep, of steps. Those in front of
     * zeroed_spans begin as zeros. */
    uint32_t spans, keep_span, step_span, zeroed_spans;
    uint64_t step_bytes;  /* of those that are no calls' */
    bool open_steps;      /* there are others */
    uint32_t block_bytes; /* of shared memory that operations of the block need for each lane */
    bool parts;           /* a call may run some of the lanes */
} build_program;

/* What goes into each text as it is: built/NAME.inc and include/hologram/vector.h, written by
 * cmake/texts.cmake into a source of the build. */
extern hg_packed built_text_vector, built_text_interface, built_text_runtime, built_text_check,
    built_text_steps, built_text_steps_run;

/* A graph after its passes. */
typedef struct build_graph {
    const hg_graph *g;
    uint64_t *extents; /* graph_extent_values */
    bool open; /* some of these are UINT64_MAX: they come with the call, and the workspace is
                  in slots, each as large as the largest of its values, which live one after
                  another */
    graph_memory memory;
    uint32_t *slots; /* of each value that is an owner in the workspace */
    uint32_t slot_count;
    graph_regions regions; /* the job's programs */
    build_program face;
    const hg_build_value *symbols; /* that are numbers */
    uint32_t symbol_count;
} build_graph;

typedef struct build_job {
    const hg_build_request *request;
    build_graph *graph; /* NULL: programs alone */
    const char *name;
    bool wasm; /* a module of WebAssembly is made, in place of C text */
    char fault_name[HG_MAX_IDENT_BYTES + 8];
    library_tiles tiles;
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

/* build_kernel.c: HG_ERROR_ISA: "PROGRAM: TEXT", with the instruction where inst is not 0. inst:
 * number + 1. */
hg_status build_refuse(const build_program *p, uint32_t inst, const char *format, ...)
    HG_PRINTF(3, 4);
/* The kernel of a module, which it takes; it is the caller's after a failure. step: it is of a
 * whole-array instruction. */
hg_status build_add_kernel(build_job *job, const build_program *p, kir_module *m, bool step,
                           uint32_t *number) HG_NODISCARD;
/* Of a whole-array instruction the call of its words, and the kernel of a key, once for each. */
void build_make_call(const build_job *job, const build_program *p, const plan_step *step,
                     build_step *s);
hg_status build_step_kernel(build_job *job, build_program *p, const plan_kernel_key *key,
                            uint32_t *kernel) HG_NODISCARD;
/* build_step.c: what a whole-array instruction is. */
hg_status build_plan_step(build_job *job, build_program *p, const plan_step *step,
                          build_step *s) HG_NODISCARD;
void build_free_step(build_step *s);
/* build_source.c: a source of the library, whose own names are hgd_PREFIX_NAME then. */
void build_add_source(hg_text *out, const char *prefix, const char *text);
/* build_open.c: the kernels of a whole-array instruction whose extents a call knows. */
hg_status build_plan_open(build_job *job, build_program *p, const plan_step *step,
                          build_step *s) HG_NODISCARD;
/* build_open_text.c: whether there can be such ones; known: an operand of it that is a number all
 * the same, NULL: none. In the text what all of them need, their kernels; of a program their
 * tables; the bytes that one takes; its call. */
bool build_has_source(const plan_step *step, const char **known);
void build_add_open_sources(const build_job *job, hg_text *out);
void build_add_open_kernels(const build_job *job, hg_text *out);
void build_add_open_steps(const build_program *p, hg_text *out);
void build_add_open_bytes(const build_program *p, uint32_t number, hg_text *out);
void build_add_open_call(const build_program *p, uint32_t number, hg_text *out);
/* build_launch.c: that as text; and an array of `count` elements of `size` bytes, `before` of which
 * lie in front of the first. */
void build_add_expansion(const build_job *job, const build_program *p, uint32_t number,
                         hg_text *out);
typedef struct build_extent {
    const char *count;
    uint64_t size, before;
    bool open;
} build_extent;
void build_add_array(const build_program *p, const plan_step *step, const kir_step_operand *o,
                     const build_extent *extent, uint32_t number, hg_text *out);
/* build_work.c: the workspace. */
void build_plan_work(build_program *p);
void build_add_work_prototype(const build_job *job, const build_program *p, hg_text *out);
void build_add_work_size(const build_job *job, const build_program *p, hg_text *out);
void build_add_work(const build_program *p, hg_text *out);
/* build_text.c: the function that a map or a reduction applies: an hg_op or KIR_FN_*. */
uint16_t build_step_function(const plan_step *step);
/* A text with the name for each '@', which no name of a program has. */
void build_add_marked(hg_text *out, const char *name, const char *text);
/* A text of our own, without names of a program, with the identifier "built" or what begins with it
 * as the name, "BUILT" in capitals. */
void build_add_named(hg_text *out, const char *name, const char *text);
/* build_levels.c: all kernels for all levels, behind what they need of vector.h. */
hg_status build_add_levels(const build_job *job, hg_text *out);
/* build_interface.c: how a function is called, with what says so in front; and its body's
 * beginning. */
void build_add_prototype(const build_job *job, const build_program *p, hg_text *out);
void build_add_comment(const build_program *p, hg_text *out);
void build_add_param_comment(const build_program *p, uint32_t i, hg_text *out);
const char *build_scalar_type(hg_type type); /* in C; NULL: wider than 64 bits */
bool build_is_word_of_c(const char *name);
bool build_is_function_of_c(const char *name);
hg_status build_name_params(const build_job *job, build_program *p);
/* build_value.c: a parameter's number by its register, and its bytes; a value of the environment;
 * an input of a kernel; an extent; scalars as v_NAME; the launch that the program asks for. Which
 * parameters are pools, bit i of the words. */
uint32_t build_param_of(const build_program *p, uint8_t reg);
enum { BUILD_POOL_WORDS = (HG_MAX_PARAMS + 63) / 64 };
void build_find_pools(const build_program *p, uint64_t pools[BUILD_POOL_WORDS]);
void build_add_param_value(const build_program *p, uint32_t i, uint64_t start, uint64_t size,
                           hg_text *out);
void build_add_env_value(uint64_t offset, uint64_t size, hg_text *out);
void build_add_input(const build_program *p, const kir_input *input, hg_text *out);
void build_add_number(const build_program *p, const hg_extent *e, hg_text *out);
void build_add_fixed(const build_program *p, hg_text *out);
void build_add_scalars(const build_program *p, hg_text *out);
void build_add_asked(const build_program *p, hg_text *out);
/* build_graph_open.c: values of a graph whose extents come with the call. Their slots; an extent,
 * and the bytes of a value, as a number of the text; in the text what works out extents and slots,
 * their use, and checks. */
hg_status build_find_slots(build_graph *b) HG_NODISCARD;
void build_add_graph_extent(const build_graph *b, graph_extent e, hg_text *out);
void build_add_value_bytes(const build_graph *b, uint32_t value, hg_text *out);
void build_add_extents(const build_job *job, hg_text *out);
void build_add_extents_of_call(const build_job *job, hg_text *out);
/* The extent that a scalar of a launch is, which comes with the call; GRAPH_NOT_SET: none. */
graph_extent build_graph_scalar_of(const build_job *job, uint32_t region, uint32_t param);
/* What of a call's extents can be wrong: words say what holds else. */
typedef enum build_check_kind {
    BUILD_CHECK_EXTENT, /* x is a number from 0 to 2^64 - 1 */
    BUILD_CHECK_SIZE,   /* the value has fewer than 2^63 bytes */
    BUILD_CHECK_VIEW,   /* it lies in what it is a view of */
    BUILD_CHECK_SAME,   /* x is y */
    BUILD_CHECK_HOLDS   /* x has at most so many bits */
} build_check_kind;
typedef struct build_check {
    build_check_kind kind;
    graph_extent x, y;
    uint32_t value, bits;
    const char *words;
} build_check;
typedef void build_check_fn(void *user, const build_check *check);
hg_status build_find_checks(const build_job *job, build_check_fn *take, void *user) HG_NODISCARD;
hg_status build_add_graph_checks(const build_job *job, hg_text *out) HG_NODISCARD;
/* The name of a function of the text that does an operation of extents. */
const char *build_extent_function(hg_extent_op_kind kind);
/* build_graph_text.c: where the arrays of its launches lie; whether its function takes a workspace;
 * prototypes, what it says of itself; the function. */
hg_status build_find_places(const build_job *job, build_program *p) HG_NODISCARD;
bool build_graph_works(const build_job *job);
const graph_call *build_graph_call_of(const build_graph *b, const graph_region *r, uint32_t inst);
void build_add_graph_size_prototype(const build_job *job, hg_text *out);
void build_add_graph_comment(const build_job *job, hg_text *out);
hg_status build_add_graph_function(const build_job *job, hg_text *out) HG_NODISCARD;
/* build.c: both texts of a request. graph: its launches are the programs; NULL: none. */
hg_status build_run(const hg_build_request *r, build_graph *graph, hg_text *c,
                    hg_text *h) HG_NODISCARD;
/* build_wasm.c: whether a module of WebAssembly can have what a plan does, as far as it is known
 * before its kernels are made; one of the programs. */
hg_status build_check_wasm(const build_program *p) HG_NODISCARD;
hg_status build_add_wasm(build_job *job, hg_text *out) HG_NODISCARD;
/* build_plan.c: the function. */
hg_status build_add_function(const build_job *job, const build_program *p, hg_text *out);

#endif
