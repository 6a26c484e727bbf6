/* What the definitions of F32 functions that are rounded correctly share: numbers of F64 between an
 * argument and a result of F32.
 * Must not know: targets. */
#ifndef HG_KIR_DEFINE_NEAREST_H
#define HG_KIR_DEFINE_NEAREST_H

#include "kir/define/real.h"
#include "kir/builder.h"

#define mad(k, x, y, z) kir_mad((k)->b, x, y, z)
static const double SHIFT = 0x1.8p52; /* added to a small number: its nearest integer is in the low
                                         bits */

typedef struct nearest {
    real single, k; /* F32 of the argument and the result, F64 between */
    num x;          /* the argument */
} nearest;

nearest near_begin(kir_builder *b, num x);
static inline num widen(const nearest *n, num x) {
    return kir_convert(n->k.b, KIR_F2F, HG_TYPE_F64, x);
}
static inline num narrow(const nearest *n, num x) {
    return kir_convert(n->k.b, KIR_F2F, HG_TYPE_F32, x);
}
static inline num single_nan(const nearest *n) {
    return real_of(n->k.b, kir_const(n->k.b, HG_TYPE_U32, 0x7FC00000));
}
/* Constant first. Where F64 is made of integers each step is long, so it is a loop over a table. */
num series(const real *k, const char *name, const double *c, uint32_t count, num x);
#define SERIES(k, name, x) series(k, #name, name, HG_COUNT_OF(name), x)
num times_power(const real *k, num x, num shifted); /* x · 2^n, x normal and the result too */
num exp_of(const real *k, num x);
num log_of(const real *k, num x); /* of a normal x > 0 */

#endif
