/* Shared between the files of the oracle. */
#ifndef HG_TESTS_ORACLE_INTERNAL_H
#define HG_TESTS_ORACLE_INTERNAL_H

#include "oracle.h"

enum { WIDE_LIMBS = 128 }; /* 32-bit limbs of 4096 bits, least significant first */
typedef struct wide {
    uint32_t limb[WIDE_LIMBS];
} wide;

/* wide.c: arithmetic modulo 2^(32 n). */
void wide_load(wide *w, const uint8_t *bytes, uint32_t size, bool sign_extend); /* fills all
                                                                                   WIDE_LIMBS */
void wide_store(const wide *w, uint8_t *bytes, uint32_t size);
void wide_add(wide *r, const wide *a, const wide *b, uint32_t n);
void wide_sub(wide *r, const wide *a, const wide *b, uint32_t n);
void wide_neg(wide *r, const wide *a, uint32_t n);
void wide_mul(wide *r, const wide *a, const wide *b, uint32_t n); /* r may not overlap a or b */
void wide_divide(wide *quotient, wide *remainder, const wide *a, const wide *b,
                 uint32_t n); /* unsigned;
                                 b
                                 not
                                 0 */
void wide_shl(wide *r, const wide *a, uint32_t amount, uint32_t n);
void wide_shr(wide *r, const wide *a, uint32_t amount, uint32_t n, bool fill);
int wide_compare(const wide *a, const wide *b, uint32_t n); /* unsigned: -1, 0, 1 */
bool wide_is_zero(const wide *a, uint32_t n);
bool wide_is_negative(const wide *a, uint32_t n);
uint32_t wide_bit_length(const wide *a, uint32_t n);

/* A finite nonzero float as (-1)^negative * mantissa * 2^exponent. */
typedef enum float_kind { FLOAT_ZERO, FLOAT_FINITE, FLOAT_INFINITE, FLOAT_NAN } float_kind;
typedef struct unpacked {
    float_kind kind;
    bool negative;
    uint64_t mantissa;
    int32_t exponent;
} unpacked;

/* oracle_convert.c */
unpacked float_unpack(hg_type type, const uint8_t *bytes);
/* Rounds mantissa * 2^exponent (plus a little more when sticky; then mantissa must have its top bit
 * set) to nearest even, once. */
void float_pack(hg_type type, unpacked value, bool sticky, uint8_t *bytes);
float float_widen(hg_type type, const uint8_t *bytes);        /* f16, bf16, f32: exact */
void float_narrow(hg_type type, float value, uint8_t *bytes); /* to f16, bf16, f32 */

/* oracle_half.c: arithmetic of f16 and bf16; false: of something else. */
bool half_exact(hg_op op, hg_type type, const uint8_t *const *args, uint8_t *result);

/* One file a kind of type; all return ORACLE_NONE for what they do not know. */
oracle_outcome oracle_int(hg_op op, hg_type type, int variant, const uint8_t *const *args,
                          uint8_t *result);
oracle_outcome oracle_wide(hg_op op, hg_type type, int variant, const uint8_t *const *args,
                           uint8_t *result);
oracle_outcome oracle_bits(hg_op op, hg_type type, hg_type type2, int variant,
                           const uint8_t *const *args, uint8_t *result);
/* base ^ exponent mod modulus of unsigned integers of any width. */
oracle_outcome oracle_power(hg_type type, const uint8_t *const *args, uint8_t *result);
oracle_outcome oracle_float(hg_op op, hg_type type, int variant, const uint8_t *const *args,
                            uint8_t *result);
oracle_outcome oracle_function(hg_op op, hg_type type, const uint8_t *const *args, uint8_t *result);
int oracle_function_args(hg_op op);

#endif
