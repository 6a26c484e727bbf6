/* The passes of the legaliser. */
#ifndef HG_KIR_LEGALISE_INTERNAL_H
#define HG_KIR_LEGALISE_INTERNAL_H

#include "kir/define/define.h"
#include "kir/legalise/legalise.h"
#include "kir/rewrite.h"

/* Whether the target's own FMULERR may stay: its fused multiply-add less its product. */
bool legal_product_error(const kir_caps *caps, uint8_t type);
bool legal_mad(const kir_caps *caps, uint8_t type); /* FMAD too */
/* A BLOCK as shared memory and barriers; false: v is none. */
bool legal_block(rewrite_pass *p, const kir_value *v);
/* The passes, in this order. */
hg_status legal_wide(const kir_module *in, const kir_caps *caps,
                     kir_module **out) HG_NODISCARD; /* wide integers to limb arrays */
extern const rewrite_rules legal_half_rules;         /* half conversions, fma, errors of products */
extern const rewrite_rules legal_float_rules;        /* f64, and f32 subnormals */
hg_status legal_int(const kir_module *in, const kir_caps *caps,
                    kir_module **out) HG_NODISCARD; /* u8 u16 to u32, u64 to pairs */

#endif
