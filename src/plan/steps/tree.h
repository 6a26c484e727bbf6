/* The fixed tree of reductions (semantics 0.3), and kernels of collectives that others use alone.
 */
#ifndef HG_PLAN_TREE_H
#define HG_PLAN_TREE_H

#include "plan/steps/steps.h"

enum { PLAN_CHUNK = 4096 /* elements */, PLAN_ACCUMULATORS = 128 /* of a chunk */ };

/* map.c: out[i] = fn(in[0][i], …), a lane an element. Arrays: the inputs, then the output. NULL:
 * out of memory. */
kir_module *plan_map_kernel(uint16_t fn, hg_type type);
/* The same of the maps of key->chain, one after another on each element. Arrays: the chain's. */
kir_module *plan_maps_kernel(const plan_kernel_key *key);

/* ---- reduce_kernel.c: one level of the tree ---- */

/* A block of PLAN_ACCUMULATORS lanes reduces a chunk of x to out[block]. key->fn: HG_OP_ADD, MUL,
 * MIN, MAX. Arrays: x, out and, where plan_reduce_in_memory, work (PLAN_ACCUMULATORS elements a
 * block). Values: the count of elements. Where not in memory the block has plan_reduce_shared bytes
 * of shared memory. Overlap of out with x does no harm when there is one block. */
enum {
    PLAN_REDUCE_FIRST = 1,
    PLAN_REDUCE_LAST = 2
}; /* choice: f16, bf16: x, the result are elements of the type; else they are f32 */
kir_module *plan_reduce_kernel(const plan_kernel_key *key);
/* Accumulators of this type are too wide for shared memory. */
bool plan_reduce_in_memory(hg_type type);
uint64_t plan_reduce_shared(hg_type type);
/* Bytes of an element between levels. */
uint64_t plan_reduce_element(hg_type type);

#endif
