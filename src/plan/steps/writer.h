/* What the kernels of expansions are written with. Inputs: the handles of the arrays, then the
 * values, then, for each array that is shifted, the bytes from its memory's start to its first
 * byte, which loads and stores add by themselves, and the bytes that each has, where asked for.
 * Accesses are unchecked: whoever runs a step has checked its arrays. Provenance finds a slot for
 * each handle, in order.
 * Must not know: what a collective does. */
#ifndef HG_PLAN_WRITER_H
#define HG_PLAN_WRITER_H

#include "kir/builder.h"
#include "plan/steps/steps.h"

typedef struct expand_kernel {
    kir_builder b;
    const plan_kernel_key *key;
} expand_kernel;

/* An empty kernel for key; w->b is failed when memory is out. */
void expand_begin(expand_kernel *w, const plan_kernel_key *key, const char *name);
/* The module, or NULL after failure. */
kir_module *expand_end(expand_kernel *w);
/* Value i of a launch: u64. Of a type of at most 64 bits: its bits are the value's lowest. */
kir_value *expand_value(expand_kernel *w, uint32_t i);
kir_value *expand_scalar(expand_kernel *w, uint32_t i, uint8_t type);
/* Bytes of an array's part, u64: of one that is open known at the launch only. */
kir_value *expand_size(expand_kernel *w, uint32_t array);
kir_value *expand_id(expand_kernel *w, hg_idname which, uint8_t type);
/* The element at a byte (u64) of an array's part. */
kir_value *expand_load(expand_kernel *w, uint8_t type, uint32_t array, kir_value *byte);
void expand_store(expand_kernel *w, uint32_t array, kir_value *byte, kir_value *value);
/* Whether a u32 is not below a u64, or is above it, compared in 32 bits. */
kir_value *expand_not_below(expand_kernel *w, kir_value *x, kir_value *limit);
kir_value *expand_above(expand_kernel *w, kir_value *x, kir_value *limit);

#endif
