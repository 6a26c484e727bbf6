/* What the compiler found out about each instruction of a program: how lanes meet memory and branches.
 * Must not know: files, options of commands. */
#ifndef HG_CLIENTS_EXPLAIN_H
#define HG_CLIENTS_EXPLAIN_H

#include "isa/program.h"

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

typedef struct hg_explained {
    uint16_t live;        /* registers in front of it */
    uint8_t reach;        /* hg_reach: the dearest of its accesses */
    uint8_t way;          /* hg_way: of its branch */
    bool unchecked, open; /* proven in bounds always; through a handle that is found in the table of handles at run time */
    bool kept;            /* something of it is left: if not, it was folded away, or nobody needs it */
    int64_t stride;
    uint64_t rounds; /* of the loop that it closes, at most; 0: not known */
    uint32_t kernel; /* the kernel it is in, from 0; UINT32_MAX: none */
} hg_explained;

/* One an instruction; at least inst_count of them. kernels: how many kernels the program is. */
hg_status hg_explain(const hg_program *program, hg_explained *list, uint32_t *kernels) HG_NODISCARD;

#endif
