/* A module made of what a target has. */
#ifndef HG_KIR_LEGALISE_H
#define HG_KIR_LEGALISE_H

#include "kir/kir.h"

/* Requires: any module without STEP; numbers its functions. Provides: a new module with only types and operations of caps; wide
 * integers as private arrays and loops. Inputs keep their places in module->inputs; limbs of wider ones are appended. */
hg_status kir_legalise(const kir_module *in, const kir_caps *caps, kir_module **out) HG_NODISCARD;

#endif
