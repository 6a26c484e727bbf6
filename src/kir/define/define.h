/* What functions and instructions mean, written with primitives: the one definition for every
 * target. */
#ifndef HG_KIR_DEFINE_H
#define HG_KIR_DEFINE_H

#include "kir/builder.h"

/* ---- define/: the one definition of every derived function over primitives ---- */
/* Emits the definition's operations inline. atlas_type gives signedness; floats are F32 or F64, of
 * POW, ATAN2 and HYPOT halves too. */
kir_value *kir_define(kir_builder *b, uint16_t fn, hg_type atlas_type, kir_value *const *args);
uint8_t kir_define_args(uint16_t fn); /* number of arguments */
bool kir_define_exists(uint16_t fn, hg_type atlas_type);
bool kir_define_is_small(uint16_t fn, hg_type atlas_type); /* inlined rather than called */
/* The module's function of a definition, made on first use. NULL when out of memory. */
kir_function *kir_definition_function(kir_module *m, uint16_t fn, hg_type atlas_type,
                                      const kir_caps *caps /* NULL: not known */);
/* ---- half.c ---- */
kir_value *kir_widen_half(kir_builder *b, hg_type half, kir_value *v);  /* u16 bits to f32 */
kir_value *kir_narrow_half(kir_builder *b, hg_type half, kir_value *v); /* f32 to u16 bits, rounded
                                                                           once */
/* fn of a half, given the result of F32 rounded once more: rounded once. */
kir_value *kir_correct_half(kir_builder *b, uint16_t fn, hg_type half, kir_value *x, kir_value *r);
/* w[0] w[1] + w[2] of three widened halves, rounded once to u16 bits. */
kir_value *kir_fma_half(kir_builder *b, hg_type half, kir_value *const *w);
/* x + y of one float format rounded to odd: rounding that to a format with at least two bits fewer
 * is one correct rounding of x + y (Boldo, Melquiond 2008). */
kir_value *kir_add_to_odd(kir_builder *b, kir_value *x, kir_value *y);
/* ---- operate.c: what an arithmetic, logic or function instruction does ---- */
/* The result of an hg_op or KIR_FN_* on operands of one Atlas type. */
kir_value *kir_operate(kir_builder *b, uint16_t fn, hg_type type, kir_value *const *args);
uint8_t kir_operate_args(uint16_t fn);
bool kir_operate_exists(uint16_t fn, hg_type type);
/* The primitive that does fn alone on operands of that type (not on halves): see prim.def.
 * KIR_OP_COUNT: no primitive does. */
kir_op kir_operate_primitive(uint16_t fn, hg_type type);
/* real.c: FMULERR of two floats of one format in FADD, FSUB and FMUL. */
kir_value *kir_split_product_error(kir_builder *b, kir_value *x, kir_value *y);
/* The value that changes nothing under ADD, MUL, MIN or MAX; size(type) bytes. */
void kir_identity(hg_op op, hg_type type, uint8_t *bytes);

/* ---- bits.c, integer.c, operate.c: instructions whose operands or results are of several types
 * ---- */
kir_value *kir_rotate(kir_builder *b, bool left, kir_value *v, kir_value *amount); /* amount: any
                                                                                      u32, taken
                                                                                      modulo the
                                                                                      width */
/* POPC, CLZ or CTZ: a u32. */
kir_value *kir_count_bits(kir_builder *b, uint16_t fn, hg_type type, kir_value *v);
/* x * y of two values of a type, in the one of twice its width. */
kir_value *kir_mul_wide(kir_builder *b, hg_type twice, kir_value *x, kir_value *y);
/* c + the products of the high halves of two words and then of the low ones, two roundings to f32.
 */
kir_value *kir_pair_product(kir_builder *b, hg_type half, kir_value *x, kir_value *y, kir_value *c);
/* x + y + in, or x - y - in; *out: the carry or the borrow. in: a bool, or NULL. */
kir_value *kir_carry(kir_builder *b, bool subtract, kir_value *x, kir_value *y, kir_value *in,
                     kir_value **out);

/* CVT: any of the 24 types to any other, semantics 3.3; v has type kir_type_of(src), the result
 * kir_type_of(dst). Rounds once. */
kir_value *kir_cvt(kir_builder *b, hg_type dst, hg_type src, kir_value *v);
/* F32, F64 or any integer, rounded once to nearest even to F16 or BF16 bits. */
kir_value *kir_round_half(kir_builder *b, hg_type half, kir_value *v, bool is_signed);

#endif
