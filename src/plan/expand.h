/* Whole-array steps as lane kernels: element-wise maps, and the fixed reduction tree of semantics 0.3. Modules are neither placed nor
 * legalised. The caller checked bounds: accesses are unchecked. Input i of a module has reg i.
 * Must not know: devices, launches. */
#ifndef HG_PLAN_EXPAND_H
#define HG_PLAN_EXPAND_H

#include "kir/kir.h"

enum { PLAN_CHUNK = 4096 /* elements */, PLAN_ACCUMULATORS = 128 /* of a chunk */ };

/* out[i] = fn(in[0][i], …), a lane an element. Inputs: the handles of the arrays, then of the output; shifted: then, in the same order,
 * the bytes from each memory's start to its first element (arrays at offsets that no memory can start at). Provenance finds a
 * slot for each handle, in order. NULL: out of memory. */
kir_module *plan_expand_map(uint16_t fn, hg_type type, bool shifted);

/* One level of the tree: a block of PLAN_ACCUMULATORS lanes reduces a chunk of x to out[block]. */
typedef struct plan_reduce {
    hg_op op; /* ADD MUL MIN MAX */
    hg_type type;
    bool first, last; /* f16, bf16: x, the result are elements of the type; else they are f32 */
    bool shifted;     /* as above, for x and out */
} plan_reduce;
/* Inputs: the handles of x, out and, where plan_reduce_in_memory, of work (PLAN_ACCUMULATORS elements a block); the count of elements
 * (u64); shifted: the bytes before x and before out. Else the block has plan_reduce_shared bytes of shared memory. Overlap of out with x
 * does no harm when there is one block. */
kir_module *plan_expand_reduce(const plan_reduce *r);
/* Accumulators of this type are too wide for shared memory. */
bool plan_reduce_in_memory(hg_type type);
uint64_t plan_reduce_shared(hg_type type);
/* Bytes of an element between levels. */
uint64_t plan_reduce_element(hg_type type);

#endif
