/* Short names for what lowerings write all the time. For sources that build much kernel IR, never
 * for headers. Integer constants take the type of the other operand; shift amounts are u32. */
#ifndef HG_KIR_SUGAR_H
#define HG_KIR_SUGAR_H

#include "kir/builder.h"

static inline kir_value *u32(kir_builder *b, uint64_t n) { return kir_const(b, HG_TYPE_U32, n); }
static inline kir_value *u64(kir_builder *b, uint64_t n) { return kir_const(b, HG_TYPE_U64, n); }
/* x o n */
static inline kir_value *by(kir_builder *b, kir_op o, kir_value *x, uint64_t n) {
    return kir_binary(b, o, x, kir_const(b, x->type, n));
}
static inline kir_value *shift_by(kir_builder *b, kir_op o, kir_value *x, uint32_t n) {
    return kir_binary(b, o, x, u32(b, n));
}
#define below(b, x, y) kir_binary(b, KIR_CMP_ULT, x, y)
#define equal(b, x, y) kir_binary(b, KIR_CMP_EQ, x, y)
static inline kir_value *is_zero(kir_builder *b, kir_value *x) { return by(b, KIR_CMP_EQ, x, 0); }

#endif
