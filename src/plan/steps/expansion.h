/* What a call is as launches of lane kernels, for collectives: they say it with these functions,
 * and their rows of the table lead to it. `hologram build` puts this header, call.h and the
 * collectives themselves into the C text of programs whose extents only a call knows
 * (offline/build_open_text.c).
 * Must not know: drivers, who carries an expansion out. */
#ifndef HG_PLAN_EXPANSION_H
#define HG_PLAN_EXPANSION_H

#include "library/library.h"
#include "library/tiles.h"
#include "plan/steps/call.h"

/* ---- expansions ---- */

/* A kernel of an expansion: the same key, the same kernel. */
typedef struct plan_kernel_key {
    kir_module *(*make)(const struct plan_kernel_key *key); /* not legalised, for writer.h; NULL:
                                                               this thread's error says why */
    uint16_t fn;
    uint8_t type;
    uint8_t arrays, values; /* what a launch gives it */
    uint32_t choice;        /* the collective's own */
    uint32_t shifted; /* bit i: array i begins somewhere in its memory, not at its start. Set by who
                         launches */
    uint8_t sides;    /* of a library program with maps: which of them it does (PLAN_IN_FRONT,
                         PLAN_BEHIND) */
    const struct plan_chain *chain; /* of several maps (chain.h); NULL: it is no such kernel.
                                       Whoever keeps the key keeps it */
    uint16_t program;               /* library_id, of keys from plan_library_key */
    int32_t constants[LIBRARY_MOST_CONSTANTS];
} plan_kernel_key;
/* The kernel of a library program: constants as its row of library.def names them; arrays and
 * values: how many buffer and scalar parameters it has, in that order. fn: the epilogue, a map of
 * one argument; HG_OP_MOV: none. */
plan_kernel_key plan_library_key(library_id program, hg_type type, uint16_t fn,
                                 const int32_t *constants, uint8_t arrays, uint8_t values);
kir_module *plan_library_kernel(const plan_kernel_key *key); /* their make */

/* Bytes of an array of the call, from the lowest that its elements take, of the expansion's scratch
 * memory, or of its tables. */
typedef struct plan_part {
    uint32_t array; /* of call->arrays */
    uint64_t offset, bytes;
} plan_part;
enum { PLAN_IN_SCRATCH = -1, PLAN_IN_TABLES = -2 };
#define PLAN_TO_END \
    UINT64_MAX /* bytes of a part: as many as the array's memory has, which is open */

typedef enum plan_action_kind {
    PLAN_LAUNCH, /* key, parts, values; grid, block, lanes, shared_bytes */
    PLAN_WRITE,  /* constant bytes to a part */
    PLAN_COPY    /* part to part: to, from */
} plan_action_kind;

typedef struct plan_action {
    uint8_t kind;
    bool once; /* makes tables: not done again as long as they are kept */
    plan_kernel_key key;
    uint32_t first_part, first_value;
    uint32_t grid[3], block[3];
    uint64_t lanes, shared_bytes;
    uint64_t work; /* LAUNCH: about how many operations its lanes do together; 0: as many as its
                      kernel is long, for each */
    uint64_t first_byte; /* WRITE: of the expansion's bytes, as many as the part has */
} plan_action;

/* What a call is as launches, one after another: each sees what those before it wrote.
 * Zero-initialise. */
typedef struct plan_expansion {
    HG_VEC(plan_action) actions;
    HG_VEC(plan_part) parts;
    HG_VEC(uint64_t) values;
    HG_VEC(uint8_t) bytes;
    uint64_t scratch; /* bytes of memory that the launches need among themselves */
    uint64_t tables;  /* bytes of memory that follows from the call alone: who carries it out may
                         keep it */
    bool once; /* of the next actions, which write nothing but tables and scratch memory; they come
                  first */
    uint64_t work;              /* of the next launch; the collective may say so before it */
    const library_tiles *tiles; /* of the device; NULL: as without a measurement at CPU level v4 */
    bool dot4;                  /* of the device: hg_device_caps.hints.dot4 */
    uint32_t most_rounds;       /* of the device: loops around barriers can have no more
                                   (kir_device_target.max_rounds); 0: any number */
    uint32_t threads; /* of the device: blocks that it runs at a time, few; 0: many, or not known */
    bool rolled;      /* of the device: its compiler takes few operations
                         (hg_device_caps.compiler.max_operations), or those of f64 are many */
    bool open; /* kernels are made before the extents are known: which they are may follow from
                  few of them, and for any two that no others have (offline/build_open.c) */
    /* Maps that the kernels which load the input's elements or store the output's do too, where the
     * collective does; set before expand. */
    const struct plan_chain *fused;
    bool failed; /* out of memory, or more of it needed than there can be */
} plan_expansion;

/* Takes the next action: its kind and what is said behind that there. parts: of a launch as many as
 * its key has arrays, of a copy two, of a write one. bytes: of a write; NULL: zeros. */
void plan_add_action(plan_expansion *x, const plan_action *action, const plan_part *parts,
                     const uint64_t *values, const void *bytes);

/* For collectives: a size of tiles.def. */
uint32_t plan_tile(const plan_expansion *x, library_tile tile);
/* The size of a tile that has `count` elements to do: the size given, halved, rounded up, as often
 * as that is enough for all of them. */
uint32_t plan_tile_for(uint32_t size, uint64_t count);
/* For collectives. All leave x->failed when they cannot. */
plan_part plan_whole(const plan_call *call, uint32_t array);     /* of call->arrays */
plan_part plan_part_of(const plan_call *call, uint32_t operand); /* all of an array that is given */
plan_part plan_part_named(const plan_call *call, const char *name);
/* Parts and values of a launch, in the order of the text's parameters, some of which are there or
 * not. */
typedef struct plan_given {
    plan_part parts[12];
    uint64_t values[32];
    uint8_t arrays, count;
} plan_given;
/* All of an array; false: it is left out. */
bool plan_give_array(plan_given *g, const plan_call *call, const char *name);
void plan_give_values(plan_given *g, const uint64_t *values, uint32_t count);
plan_part plan_scratch(plan_expansion *x, uint64_t count, uint64_t size);
/* Memory that actions with x->once write and others only read. */
plan_part plan_table(plan_expansion *x, uint64_t count, uint64_t size);
/* lanes in blocks of `block`: key->arrays parts and key->values values. */
void plan_expand_launch(plan_expansion *x, const plan_kernel_key *key, uint64_t lanes,
                        uint32_t block, uint64_t shared_bytes, const plan_part *parts,
                        const uint64_t *values);
/* Gives a library key the maps of x->fused on these sides, if there are any. parts: the arrays of
 * the key so far; the maps' come behind. The text includes "parameters" and "prologue" (maps in
 * front) or "fused" (behind; library.h) and names its arrays x (what is made, with maps in front)
 * and y (the output, with maps on both sides). */
enum { PLAN_FUSED = HG_MAX_OPERANDS }; /* plan_part.array: array i of the maps is PLAN_FUSED + i */
enum { PLAN_IN_FRONT = 1, PLAN_BEHIND = 2 };
void plan_fuse(const plan_expansion *x, plan_kernel_key *key, plan_part *parts, uint8_t sides);
/* Blocks of `block` lanes in a grid. One that is empty in a direction launches nothing. */
void plan_expand_grid(plan_expansion *x, const plan_kernel_key *key, const uint64_t grid[3],
                      const uint32_t block[3], uint64_t shared_bytes, const plan_part *parts,
                      const uint64_t *values);
/* bytes: to.bytes of them; NULL: zeros. */
void plan_expand_write(plan_expansion *x, plan_part to, const void *bytes);
void plan_expand_copy(plan_expansion *x, plan_part to, plan_part from);

/* ---- the table ---- */

/* What may happen where an array that is read shares memory with one that is written. What may not:
 * it is read from a copy then. */
typedef enum plan_overlap {
    PLAN_OVERLAP_NEVER,
    PLAN_OVERLAP_SAME,   /* the first of those that are written may be the same bytes: each element
                            is read before it is written */
    PLAN_OVERLAP_ANY,    /* all is read before anything is written */
    PLAN_OVERLAP_REFUSED /* an error: the order of writes would show */
} plan_overlap;

typedef struct plan_cost {
    uint64_t bytes;      /* read and written, each once */
    uint64_t operations; /* of elements */
} plan_cost;

/* What of a communicator does it, where there is more than one rank: its expansion is that of one.
 */
typedef enum plan_exchange {
    PLAN_NO_EXCHANGE,
    PLAN_ALL_REDUCE,
    PLAN_ALL_GATHER,
    PLAN_REDUCE_SCATTER,
    PLAN_BROADCAST
} plan_exchange;

struct plan_collective {
    /* Shapes that do not fit: plan_refuse. NULL: all do. Asked first. */
    void (*check)(const plan_call *call, plan_problem *problem);
    /* Rank, extents and strides of all arrays (and type, where the row does not tell it), from the
     * operands. From these come all checks of bounds, what is copied aside, and what a driver sees.
     */
    void (*ranges)(plan_call *call);
    void (*expand)(const plan_call *call, plan_expansion *x);
    plan_cost (*cost)(const plan_call *call);
    plan_overlap overlap;
    bool fuses; /* its expansion does maps of its output, the first array, too (x->fused), where
                   that has no gaps */
    /* And maps that make its input, the second array, which has as many elements: each is made by
     * the lane alone that reads it, and stored before it is read again. */
    bool loads;
    /* Whether its expansion copies this array, of which each element is part, into another form
     * anyway, so that who copies an element can make it and store it: maps that make the array are
     * done there. NULL: never. */
    bool (*packs)(const plan_call *call, const plan_expansion *x, uint32_t array);
    plan_exchange exchange; /* its first array is written, its last one read */
};

/* Whether array number `written` of a call may be the same bytes as one that is read. */
static inline bool plan_may_be_same(const plan_collective *of, uint32_t written) {
    return of->overlap == PLAN_OVERLAP_ANY || (of->overlap == PLAN_OVERLAP_SAME && written == 0);
}

#endif
