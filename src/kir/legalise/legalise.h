/* A module made of what a target has: the passes of stage LEGAL (kir/pipeline), each a new module
 * where it has something to do, else *out stays NULL. They number the functions of `in` and change
 * nothing else there; inputs keep their places in module->inputs, limbs of wider ones are appended.
 * A module has no STEP. */
#ifndef HG_KIR_LEGALISE_H
#define HG_KIR_LEGALISE_H

#include "kir/kir.h"

hg_status kir_legalise_derived(const kir_module *in, const kir_caps *caps,
                               kir_module **out) HG_NODISCARD; /* always a new module */
hg_status kir_legalise_wide(const kir_module *in, const kir_caps *caps,
                            kir_module **out) HG_NODISCARD; /* wide integers to limbs */
hg_status kir_legalise_half(const kir_module *in, const kir_caps *caps,
                            kir_module **out) HG_NODISCARD; /* half conversions, fma */
hg_status kir_legalise_float(const kir_module *in, const kir_caps *caps,
                             kir_module **out) HG_NODISCARD; /* f64, and f32 subnormals */
hg_status kir_legalise_int(const kir_module *in, const kir_caps *caps,
                           kir_module **out) HG_NODISCARD; /* u8 u16 to u32, u64 to pairs */

#endif
