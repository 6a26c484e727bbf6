/* Facts about the values of a module. Analyses change nothing but the fields that are theirs by
 * name; other results are side tables. */
#ifndef HG_KIR_ANALYSIS_H
#define HG_KIR_ANALYSIS_H

#include "kir/side.h"

void kir_find_uniformity(kir_module *m, bool tile_is_block); /* sets uniformity, stride, range */
hg_status kir_find_group_uniformity(kir_module *m) HG_NODISCARD; /* of a device form, as far as its
                                                                    text shows it: BLOCK_UNIFORM is
                                                                    a group */
void kir_find_row_uniformity(kir_module *m); /* the same for lanes that are neighbours along x in a
                                                block */
/* Operations of a block whose result all lanes that take part share: reductions. */
static inline bool kir_block_is_one(hg_op op) { return op != HG_OP_SHUFFLE && !hg_op_is_scan(op); }
hg_status kir_find_blocks(kir_module *m) HG_NODISCARD; /* u.block.whole: all lanes of the block take
                                                          part */
hg_status kir_provenance(kir_module *m, uint32_t most) HG_NODISCARD; /* for a device of few slots:
                                                                        the other accesses are open
                                                                      */

/* Whether the access combines a number with what is there, and the old value is not used. Requires:
 * kir_count_uses. */
bool kir_combines(const kir_value *v);
/* What all accesses to a slot do: nothing but combine, each by this operation on elements of so
 * many bytes; bytes 0: something else, or what goes through handles could reach it. */
typedef struct kir_combined {
    uint8_t atomic; /* kir_atomic */
    uint8_t bytes;
    bool other; /* between calls */
} kir_combined;
void kir_find_combined(const kir_module *m, kir_combined *slots); /* as many as the module has */

/* Low bits of integers that are known to be zero: a new table, which the caller frees. Requires:
 * all functions are numbered. */
hg_status kir_find_zero_bits(const kir_module *m, kir_side_table *zeros) HG_NODISCARD;

/* Sets loop.bounded where a loop is proven short. */
void kir_bound_loops(const kir_module *m);
/* Rounds of all loops of one invocation together at most, however its lanes go apart and though a
 * loop that no lane is in counts as one, but for those of one function; UINT64_MAX: unknown, or out
 * of memory. Stores the rounds of loops. */
uint64_t kir_most_rounds(const kir_module *m, const kir_function *without);
/* Sets loop.rounds; out of memory: all unknown. Numbers the functions. */
void kir_find_rounds(const kir_module *m);

#endif
