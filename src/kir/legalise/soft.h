/* Floating-point arithmetic in integers: functions on the bits of f32 (as u32) and f64 (as u64). */
#ifndef HG_KIR_LEGALISE_SOFT_H
#define HG_KIR_LEGALISE_SOFT_H

#include "kir/legalise/legalise_internal.h"
#include "kir/builder.h"

/* FADD FSUB FMUL FDIV FSQRT FFMA FFLOOR FTRUNC FRINT: bits to bits. Made on first use. */
kir_function *soft_arithmetic(rewrite_pass *p, kir_op op, uint8_t real);
kir_function *soft_from_integer(rewrite_pass *p, uint8_t real, bool is_signed); /* u64 -> bits */
kir_function *soft_to_integer(rewrite_pass *p, uint8_t real, bool is_signed,
                              uint32_t width);                         /* bits
                                                                          ->
                                                                          u64,
                                                                          saturated
                                                                          to
                                                                          width
                                                                          bits
                                                                        */
kir_function *soft_convert(rewrite_pass *p, uint8_t to, uint8_t from); /* F2F, bits to bits */
kir_value *soft_compare(kir_builder *b, kir_op op, uint8_t real, kir_value *x,
                        kir_value *y); /* in
                                          place:
                                          a
                                          bool
                                        */

#endif
