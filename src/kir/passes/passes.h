/* Passes that improve a module in place. */
#ifndef HG_KIR_PASSES_H
#define HG_KIR_PASSES_H

#include "kir/kir.h"

/* Forwards variables, folds constants, shares common subexpressions, removes dead code. */
hg_status kir_simplify(kir_module *m) HG_NODISCARD;
/* Moves what a loop does not change in front of it. */
hg_status kir_hoist(kir_module *m) HG_NODISCARD;
/* For compilers that write every function in place of its calls: where the kernel is longer than
 * that then, functions that call long ones many times call them through one place. most:
 * operations; *size: how many are left. */
hg_status kir_call_once(kir_module *m, uint64_t most, uint64_t *size) HG_NODISCARD;

#endif
