/* What the compiler found out about each instruction of a program: how lanes meet memory and
 * branches.
 * Must not know: files, options of commands. */
#ifndef HG_OFFLINE_EXPLAIN_H
#define HG_OFFLINE_EXPLAIN_H

#include "isa/program.h"
#include "tile/tile.h"
#include "vector/vector.h"

/* How the lanes of a tile find their elements, from the cheapest on. */
typedef enum hg_reach {
    HG_REACH_NONE,       /* no access is left */
    HG_REACH_UNIFORM,    /* the same element in all lanes of the launch */
    HG_REACH_BLOCK,      /* in all lanes of a block */
    HG_REACH_CONTIGUOUS, /* elements side by side */
    HG_REACH_STRIDED,    /* `stride` bytes apart */
    HG_REACH_GATHERED    /* anywhere */
} hg_reach;

typedef enum hg_way { HG_WAY_NONE, HG_WAY_UNIFORM, HG_WAY_BLOCK, HG_WAY_DIVERGENT } hg_way;

/* What becomes of a divergent branch in native code. */
typedef enum hg_native_way {
    HG_NATIVE_NONE,
    HG_NATIVE_MASKED,  /* both ways are run, under masks */
    HG_NATIVE_SKIPPED, /* a way that no lane of a turn takes is skipped */
    HG_NATIVE_ENDS     /* the lanes that do not take it end */
} hg_native_way;

typedef struct hg_explained {
    uint16_t live;        /* registers in front of it */
    uint8_t reach;        /* hg_reach: the dearest of its accesses */
    uint8_t way;          /* hg_way: of its branch */
    bool unchecked, open; /* proven in bounds always; through a handle that is found in the table of
                             handles at run time */
    bool kept; /* something of it is left: if not, it was folded away, or nobody needs it */
    int64_t stride;
    uint64_t rounds; /* of the loop that it closes, at most; 0: not known */
    uint32_t kernel; /* the kernel it is in, from 0; UINT32_MAX: none */
    /* In native code of the CPU: */
    uint8_t native_reach; /* hg_reach: the dearest of its accesses, where the guess fails if it is
                             one */
    uint8_t native_guess; /* hg_reach: what it is in turns in which a guess holds; NONE: no guess */
    uint8_t native_way;   /* hg_native_way */
    bool native_masked;   /* accesses under a mask */
    vec_costs costs;      /* steps of a turn */
} hg_explained;
typedef struct hg_explained_kernel {
    const char *level;        /* of the CPU; static */
    bool native;              /* it has a form for native code */
    uint32_t lanes;           /* of a turn */
    uint32_t live, live_inst; /* bytes a lane that live in vectors where that is most, and the
                                 instruction there + 1 */
    uint32_t most_live;       /* bytes a lane that the registers of the level hold */
    vec_costs costs;          /* steps of a turn, of all instructions */
    char reason[120];         /* why it has none */
} hg_explained_kernel;

/* Native code: what its kernels may have, and their vector form. native_caps and native_form
 * (native/native.h), which this room does not see. */
typedef struct hg_explain_native {
    void (*caps)(kir_caps *caps);
    hg_status (*form)(tile_level level, const kir_module *module, vec_kernel **kernel,
                      vec_turn_size *turns);
} hg_explain_native;

/* As the CPU's level of this name has it (HOLOGRAM_CPU_LEVEL; "" is the best of this machine); it
 * need not be one of this machine. list: one an instruction, at least inst_count of them. kernels:
 * as many, and one more; count: how many kernels the program is. */
hg_status hg_explain(const hg_program *program, const char *level, const hg_explain_native *native,
                     hg_explained *list, hg_explained_kernel *kernels,
                     uint32_t *count) HG_NODISCARD;

#endif
