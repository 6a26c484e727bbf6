/* Passes that improve a module in place. */
#ifndef HG_KIR_PASSES_H
#define HG_KIR_PASSES_H

#include "kir/kir.h"

/* Forwards variables, folds constants, shares common subexpressions, removes dead code. */
hg_status kir_simplify(kir_module *m) HG_NODISCARD;
/* Moves what a loop does not change in front of it. */
hg_status kir_hoist(kir_module *m) HG_NODISCARD;
/* Writes out loops whose rounds are known and few: up to four of loops that reach memory.
 * long_code: up to 16 of all loops; and private arrays with constant indices become variables. */
hg_status kir_unroll(kir_module *m, bool long_code) HG_NODISCARD;
/* A copy in which functions that are called once, or are short, stand in place of their calls; none
 * where there is nothing to do. */
hg_status kir_inline(const kir_module *in, kir_module **out) HG_NODISCARD;
/* Writes out, in place, the calls of functions that are wanted (by id), `most` at most. The
 * functions stay. */
hg_status kir_inline_calls(kir_module *m, const bool *wanted, uint64_t most,
                           uint64_t *count) HG_NODISCARD;
/* How long a kernel is with every function written in place of its calls. */
typedef struct kir_size {
    uint64_t operations;
    uint64_t choices_squared; /* between parts, of each function that calls others through one
                                 place: squared, and added up */
} kir_size;
/* For compilers that write every function in place of its calls: where the kernel is longer than
 * that then, functions that call long ones many times call them through one place. most:
 * operations; *size: what is left. */
hg_status kir_call_once(kir_module *m, uint64_t most, kir_size *size) HG_NODISCARD;

#endif
