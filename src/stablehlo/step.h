/* One whole-array instruction as a StableHLO module over the memory that its arrays lie in.
 * Must not know: devices. */
#ifndef HG_STABLEHLO_STEP_H
#define HG_STABLEHLO_STEP_H

#include "stablehlo/call.h"

/* Memory of the module: a tensor of one axis. */
typedef struct shlo_memory {
    uint8_t type; /* hg_type: that of all arrays in it, else unsigned numbers no wider than any */
    uint64_t count;
    bool written;
} shlo_memory;

/* Where an array lies: bytes of a memory, whole elements of its type. */
typedef struct shlo_place {
    uint32_t memory;
    uint64_t offset, bytes;
} shlo_place;

/* @main takes the memories and returns those that are written, in place of what was given. places:
 * of call->arrays. HG_ERROR_ISA: what StableHLO cannot say, or that it could not tell a fault. */
hg_status shlo_print_step(const plan_call *call, const shlo_memory *memories, uint32_t count,
                          const shlo_place *places, hg_text *out) HG_NODISCARD;
/* The same of elements of the first memory, which are those of the last from `source` on, others,
 * or a number. */
typedef struct shlo_move {
    uint64_t from, to; /* which elements; whole ones of the memory's type */
    uint64_t source;
    const void *elements; /* NULL: none */
    bool fills;
    uint64_t number;
} shlo_move;
hg_status shlo_print_move(const shlo_memory *memories, uint32_t count, const shlo_move *move,
                          hg_text *out) HG_NODISCARD;

#endif
