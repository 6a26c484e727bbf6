/* Facts about the values of a module. Analyses change nothing but the fields and the scratch that they fill. */
#ifndef HG_KIR_ANALYSIS_H
#define HG_KIR_ANALYSIS_H

#include "kir/kir.h"

void kir_find_uniformity(kir_module *m, bool tile_is_block);         /* sets uniformity, stride, range */
hg_status kir_provenance(kir_module *m, uint32_t most) HG_NODISCARD; /* for a device of few slots: the other accesses are open */

/* Low bits of integers that are known to be zero, in the scratch of values and variables until another pass takes it. */
enum { KIR_ZERO_BITS = 0xFF };
static inline uint32_t kir_zero_bits(const kir_value *v) { return (uint32_t)(uintptr_t)v->scratch & KIR_ZERO_BITS; }
hg_status kir_find_zero_bits(const kir_module *m) HG_NODISCARD;

/* Sets loop.bounded where a loop is proven short. */
void kir_bound_loops(const kir_module *m);

#endif
