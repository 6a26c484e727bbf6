/* Whether a launch's memory accesses can leave their bounds, found on the host from its actual
 * inputs, lanes and sizes: every value of the program gets the range it can have in this launch.
 * Costs microseconds; a loop's variables are followed through it.
 * Must not know: devices, handles. */
#ifndef HG_KIR_PROVE_H
#define HG_KIR_PROVE_H

#include "kir/kir.h"

typedef struct kir_prover kir_prover;
/* Requires: a simplified module with slots (kir_provenance), before or after legalisation; it is numbered, borrowed, and must stay as it is.
 * HG_ERROR_OUT_OF_MEMORY. */
hg_status kir_prover_create(kir_module *m, kir_prover **prover) HG_NODISCARD;
void kir_prover_destroy(kir_prover *prover);

typedef struct kir_prove_launch {
    uint64_t lanes, shared_bytes;
    uint32_t grid[3], block[3];
    const uint64_t *inputs;     /* module->inputs order */
    const uint64_t *slot_bytes; /* module->slots order; 0: no memory */
    const uint8_t *uniforms; /* KIR_PLAN_UNIFORMS as far as the host knows it; NULL: not at all */
    const bool *unknown;     /* by 8 bytes of it: what the host does not know; NULL: it knows all */
    bool cuts_loops;         /* the device may leave a loop at the end of any round */
} kir_prove_launch;
/* True: no lane's access through a slot, to shared or class memory is outside (open accesses are
 * not looked at). False: unknown, or out of memory. Thread-safe. */
bool kir_prove(const kir_prover *prover, const kir_prove_launch *launch);

/* Bytes of a slot's memory, from `low` to before `end`; end 0: none. */
typedef struct kir_reach {
    uint64_t low, end;
} kir_reach;
/* What lanes [first, first + count) of a launch can touch of each slot, in module->slots order, by
 * accesses through slots. False: unknown, or out of memory. Thread-safe. */
bool kir_prove_reach(const kir_prover *prover, const kir_prove_launch *launch, uint64_t first,
                     uint64_t count, kir_reach *reach);

#endif
