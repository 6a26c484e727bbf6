/* Passes that improve a module in place. */
#ifndef HG_KIR_PASSES_H
#define HG_KIR_PASSES_H

#include "kir/kir.h"

/* Forwards variables, folds constants, shares common subexpressions, removes dead code. */
hg_status kir_simplify(kir_module *m) HG_NODISCARD;
/* Moves what a loop does not change in front of it. */
hg_status kir_hoist(kir_module *m) HG_NODISCARD;

#endif
