/* One function an instruction form, generated from the instruction table by tools/gen_builder.c: do not edit.
 * Registers and predicates are numbers; a type may be HG_TYPE_INFER where text may leave it out. */
#ifndef HOLOGRAM_BUILDER_OPS_H
#define HOLOGRAM_BUILDER_OPS_H

#include <hologram/builder.h>

#ifdef __cplusplus
extern "C" {
#endif

/** dst = the element at an address */
static inline hg_builder *hg_build_ldg(hg_builder *builder, hg_type type, uint8_t d, hg_arg address) {
    const hg_arg args[] = {hg_arg_reg(d), address};
    return hg_builder_add(builder, 0x001, type, HG_TYPE_COUNT, args, 2);
}
/** writes src to an address */
static inline hg_builder *hg_build_stg(hg_builder *builder, hg_type type, hg_arg address, uint8_t s) {
    const hg_arg args[] = {address, hg_arg_reg(s)};
    return hg_builder_add(builder, 0x002, type, HG_TYPE_COUNT, args, 2);
}
/** dst = the element at an address in the block's shared memory */
static inline hg_builder *hg_build_lds(hg_builder *builder, hg_type type, uint8_t d, hg_arg address) {
    const hg_arg args[] = {hg_arg_reg(d), address};
    return hg_builder_add(builder, 0x003, type, HG_TYPE_COUNT, args, 2);
}
/** writes src to the block's shared memory */
static inline hg_builder *hg_build_sts(hg_builder *builder, hg_type type, hg_arg address, uint8_t s) {
    const hg_arg args[] = {address, hg_arg_reg(s)};
    return hg_builder_add(builder, 0x004, type, HG_TYPE_COUNT, args, 2);
}
/** dst = src */
static inline hg_builder *hg_build_mov(hg_builder *builder, hg_type type, uint8_t d, uint8_t s) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(s)};
    return hg_builder_add(builder, 0x005, type, HG_TYPE_COUNT, args, 2);
}
/** dst = a literal */
static inline hg_builder *hg_build_mov_imm(hg_builder *builder, hg_type type, uint8_t d, hg_arg value) {
    const hg_arg args[] = {hg_arg_reg(d), value};
    return hg_builder_add(builder, 0x006, type, HG_TYPE_COUNT, args, 2);
}
/** dst = src converted, rounded once; float to integer truncates and saturates, NaN gives 0 */
static inline hg_builder *hg_build_cvt(hg_builder *builder, hg_type to, hg_type from, uint8_t d, uint8_t s) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(s)};
    return hg_builder_add(builder, 0x007, to, from, args, 2);
}
/** dst = a lane, block or grid coordinate */
static inline hg_builder *hg_build_rdid(hg_builder *builder, uint8_t d, const char *id) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_name(id)};
    return hg_builder_add(builder, 0x008, HG_TYPE_COUNT, HG_TYPE_COUNT, args, 2);
}
/** dst = the element at an address in the lane's private memory */
static inline hg_builder *hg_build_ldp(hg_builder *builder, hg_type type, uint8_t d, hg_arg address) {
    const hg_arg args[] = {hg_arg_reg(d), address};
    return hg_builder_add(builder, 0x00A, type, HG_TYPE_COUNT, args, 2);
}
/** writes src to the lane's private memory */
static inline hg_builder *hg_build_stp(hg_builder *builder, hg_type type, hg_arg address, uint8_t s) {
    const hg_arg args[] = {address, hg_arg_reg(s)};
    return hg_builder_add(builder, 0x00B, type, HG_TYPE_COUNT, args, 2);
}
/** dst = the element at an address, converted as cvt does */
static inline hg_builder *hg_build_ldg_wide(hg_builder *builder, hg_type to, hg_type from, uint8_t d, hg_arg address) {
    const hg_arg args[] = {hg_arg_reg(d), address};
    return hg_builder_add(builder, 0x030, to, from, args, 2);
}
/** writes src to an address, converted as cvt does */
static inline hg_builder *hg_build_stg_narrow(hg_builder *builder, hg_type to, hg_type from, hg_arg address, uint8_t s) {
    const hg_arg args[] = {address, hg_arg_reg(s)};
    return hg_builder_add(builder, 0x031, to, from, args, 2);
}
/** dst = the element at an address in the block's shared memory, converted as cvt does */
static inline hg_builder *hg_build_lds_wide(hg_builder *builder, hg_type to, hg_type from, uint8_t d, hg_arg address) {
    const hg_arg args[] = {hg_arg_reg(d), address};
    return hg_builder_add(builder, 0x032, to, from, args, 2);
}
/** writes src to the block's shared memory, converted as cvt does */
static inline hg_builder *hg_build_sts_narrow(hg_builder *builder, hg_type to, hg_type from, hg_arg address, uint8_t s) {
    const hg_arg args[] = {address, hg_arg_reg(s)};
    return hg_builder_add(builder, 0x033, to, from, args, 2);
}
/** dst = the element at an address in the lane's private memory, converted as cvt does */
static inline hg_builder *hg_build_ldp_wide(hg_builder *builder, hg_type to, hg_type from, uint8_t d, hg_arg address) {
    const hg_arg args[] = {hg_arg_reg(d), address};
    return hg_builder_add(builder, 0x034, to, from, args, 2);
}
/** writes src to the lane's private memory, converted as cvt does */
static inline hg_builder *hg_build_stp_narrow(hg_builder *builder, hg_type to, hg_type from, hg_arg address, uint8_t s) {
    const hg_arg args[] = {address, hg_arg_reg(s)};
    return hg_builder_add(builder, 0x035, to, from, args, 2);
}
/** dst = the bit pattern of src */
static inline hg_builder *hg_build_bits(hg_builder *builder, hg_type to, hg_type from, uint8_t d, uint8_t s) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(s)};
    return hg_builder_add(builder, 0x036, to, from, args, 2);
}
/** Operands of hg_build_axis_first by name. */
typedef struct hg_axis_first_operands {
    hg_arg extent; /**< hg_count or hg_count_reg; left out: that of the declaration */
} hg_axis_first_operands;
/** dst = index; outside of the extent of the array's axis is a fault; axis 255: all of them, in row order */
static inline hg_builder *hg_build_axis_first(hg_builder *builder, hg_type type, uint8_t d, uint8_t index, hg_arg array, uint8_t axis, hg_axis_first_operands operands) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(index), array, hg_arg_number(axis), operands.extent};
    return hg_builder_add(builder, 0x037, type, HG_TYPE_COUNT, args, 5);
}
/** Operands of hg_build_axis by name. */
typedef struct hg_axis_operands {
    hg_arg extent; /**< hg_count or hg_count_reg; left out: that of the declaration */
} hg_axis_operands;
/** dst = before * extent + index; index outside of the extent of the array's axis is a fault */
static inline hg_builder *hg_build_axis(hg_builder *builder, hg_type type, uint8_t d, uint8_t before, uint8_t index, hg_arg array, uint8_t axis, hg_axis_operands operands) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(before), hg_arg_reg(index), array, hg_arg_number(axis), operands.extent};
    return hg_builder_add(builder, 0x038, type, HG_TYPE_COUNT, args, 6);
}
/** dst = a + b; integers wrap */
static inline hg_builder *hg_build_add(hg_builder *builder, hg_type type, uint8_t d, uint8_t a, uint8_t b) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(a), hg_arg_reg(b)};
    return hg_builder_add(builder, 0x010, type, HG_TYPE_COUNT, args, 3);
}
/** dst = a - b; integers wrap */
static inline hg_builder *hg_build_sub(hg_builder *builder, hg_type type, uint8_t d, uint8_t a, uint8_t b) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(a), hg_arg_reg(b)};
    return hg_builder_add(builder, 0x011, type, HG_TYPE_COUNT, args, 3);
}
/** dst = a * b; integers keep the low half */
static inline hg_builder *hg_build_mul(hg_builder *builder, hg_type type, uint8_t d, uint8_t a, uint8_t b) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(a), hg_arg_reg(b)};
    return hg_builder_add(builder, 0x012, type, HG_TYPE_COUNT, args, 3);
}
/** dst = a / b; integers truncate, MIN / -1 = MIN, division by zero is a fault */
static inline hg_builder *hg_build_div(hg_builder *builder, hg_type type, uint8_t d, uint8_t a, uint8_t b) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(a), hg_arg_reg(b)};
    return hg_builder_add(builder, 0x013, type, HG_TYPE_COUNT, args, 3);
}
/** dst = a - trunc(a / b) * b; floats as fmod */
static inline hg_builder *hg_build_rem(hg_builder *builder, hg_type type, uint8_t d, uint8_t a, uint8_t b) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(a), hg_arg_reg(b)};
    return hg_builder_add(builder, 0x014, type, HG_TYPE_COUNT, args, 3);
}
/** dst = the smaller; one NaN gives the other operand, -0 < +0 */
static inline hg_builder *hg_build_min(hg_builder *builder, hg_type type, uint8_t d, uint8_t a, uint8_t b) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(a), hg_arg_reg(b)};
    return hg_builder_add(builder, 0x015, type, HG_TYPE_COUNT, args, 3);
}
/** dst = the larger; one NaN gives the other operand, -0 < +0 */
static inline hg_builder *hg_build_max(hg_builder *builder, hg_type type, uint8_t d, uint8_t a, uint8_t b) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(a), hg_arg_reg(b)};
    return hg_builder_add(builder, 0x016, type, HG_TYPE_COUNT, args, 3);
}
/** dst = a * b + c; floats round twice */
static inline hg_builder *hg_build_mad(hg_builder *builder, hg_type type, uint8_t d, uint8_t a, uint8_t b, uint8_t c) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(a), hg_arg_reg(b), hg_arg_reg(c)};
    return hg_builder_add(builder, 0x017, type, HG_TYPE_COUNT, args, 4);
}
/** dst = a * b + c, rounded once */
static inline hg_builder *hg_build_fma(hg_builder *builder, hg_type type, uint8_t d, uint8_t a, uint8_t b, uint8_t c) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(a), hg_arg_reg(b), hg_arg_reg(c)};
    return hg_builder_add(builder, 0x018, type, HG_TYPE_COUNT, args, 4);
}
/** dst = a * b - c, rounded once */
static inline hg_builder *hg_build_fms(hg_builder *builder, hg_type type, uint8_t d, uint8_t a, uint8_t b, uint8_t c) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(a), hg_arg_reg(b), hg_arg_reg(c)};
    return hg_builder_add(builder, 0x019, type, HG_TYPE_COUNT, args, 4);
}
/** dst = |src|; MIN stays MIN, floats clear the sign bit */
static inline hg_builder *hg_build_abs(hg_builder *builder, hg_type type, uint8_t d, uint8_t s) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(s)};
    return hg_builder_add(builder, 0x01A, type, HG_TYPE_COUNT, args, 2);
}
/** dst = -src; integers wrap, floats flip the sign bit */
static inline hg_builder *hg_build_neg(hg_builder *builder, hg_type type, uint8_t d, uint8_t s) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(s)};
    return hg_builder_add(builder, 0x01B, type, HG_TYPE_COUNT, args, 2);
}
/** dst = high half of a * b, which has twice the width */
static inline hg_builder *hg_build_mulhi(hg_builder *builder, hg_type type, uint8_t d, uint8_t a, uint8_t b) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(a), hg_arg_reg(b)};
    return hg_builder_add(builder, 0x01C, type, HG_TYPE_COUNT, args, 3);
}
/** dst = a * b, of twice their width */
static inline hg_builder *hg_build_mulw(hg_builder *builder, hg_type to, hg_type from, uint8_t d, uint8_t a, uint8_t b) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(a), hg_arg_reg(b)};
    return hg_builder_add(builder, 0x01D, to, from, args, 3);
}
/** dst = a + b + in, wrapped; carry = the sum of the bit patterns does not fit */
static inline hg_builder *hg_build_addc(hg_builder *builder, hg_type type, uint8_t d, uint8_t carry, uint8_t a, uint8_t b, uint8_t in) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_pred(carry), hg_arg_reg(a), hg_arg_reg(b), hg_arg_pred(in)};
    return hg_builder_add(builder, 0x01E, type, HG_TYPE_COUNT, args, 5);
}
/** dst = a + b, wrapped; carry = the sum of the bit patterns does not fit */
static inline hg_builder *hg_build_addc_first(hg_builder *builder, hg_type type, uint8_t d, uint8_t carry, uint8_t a, uint8_t b) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_pred(carry), hg_arg_reg(a), hg_arg_reg(b)};
    return hg_builder_add(builder, 0x01F, type, HG_TYPE_COUNT, args, 4);
}
/** dst = a - b - in, wrapped; carry = a borrow: the bit pattern of a is below b + in */
static inline hg_builder *hg_build_subb(hg_builder *builder, hg_type type, uint8_t d, uint8_t carry, uint8_t a, uint8_t b, uint8_t in) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_pred(carry), hg_arg_reg(a), hg_arg_reg(b), hg_arg_pred(in)};
    return hg_builder_add(builder, 0x020, type, HG_TYPE_COUNT, args, 5);
}
/** dst = a - b, wrapped; carry = a borrow: the bit pattern of a is below b */
static inline hg_builder *hg_build_subb_first(hg_builder *builder, hg_type type, uint8_t d, uint8_t carry, uint8_t a, uint8_t b) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_pred(carry), hg_arg_reg(a), hg_arg_reg(b)};
    return hg_builder_add(builder, 0x021, type, HG_TYPE_COUNT, args, 4);
}
/** dst = a + b, or the nearest end of the type */
static inline hg_builder *hg_build_adds(hg_builder *builder, hg_type type, uint8_t d, uint8_t a, uint8_t b) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(a), hg_arg_reg(b)};
    return hg_builder_add(builder, 0x022, type, HG_TYPE_COUNT, args, 3);
}
/** dst = a - b, or the nearest end of the type */
static inline hg_builder *hg_build_subs(hg_builder *builder, hg_type type, uint8_t d, uint8_t a, uint8_t b) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(a), hg_arg_reg(b)};
    return hg_builder_add(builder, 0x023, type, HG_TYPE_COUNT, args, 3);
}
/** dst = base ^ exponent mod modulus; 0 ^ 0 is 1, modulus 0 is a fault */
static inline hg_builder *hg_build_powm(hg_builder *builder, hg_type type, uint8_t d, uint8_t base, uint8_t exponent, uint8_t modulus) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(base), hg_arg_reg(exponent), hg_arg_reg(modulus)};
    return hg_builder_add(builder, 0x024, type, HG_TYPE_COUNT, args, 4);
}
/** dst = c + the sum of the four products of a byte of a, signed as the type, and the signed byte of b at the same place; wraps */
static inline hg_builder *hg_build_dot4(hg_builder *builder, hg_type type, uint8_t d, uint8_t a, uint8_t b, uint8_t c) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(a), hg_arg_reg(b), hg_arg_reg(c)};
    return hg_builder_add(builder, 0x025, type, HG_TYPE_COUNT, args, 4);
}
/** dst = c + the product of the high halves of a and b, rounded to f32 once, + that of their low halves, rounded once */
static inline hg_builder *hg_build_dot2(hg_builder *builder, hg_type type, uint8_t d, uint8_t a, uint8_t b, uint8_t c) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(a), hg_arg_reg(b), hg_arg_reg(c)};
    return hg_builder_add(builder, 0x026, type, HG_TYPE_COUNT, args, 4);
}
/** dst = a & b */
static inline hg_builder *hg_build_and(hg_builder *builder, hg_type type, uint8_t d, uint8_t a, uint8_t b) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(a), hg_arg_reg(b)};
    return hg_builder_add(builder, 0x040, type, HG_TYPE_COUNT, args, 3);
}
/** dst = a | b */
static inline hg_builder *hg_build_or(hg_builder *builder, hg_type type, uint8_t d, uint8_t a, uint8_t b) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(a), hg_arg_reg(b)};
    return hg_builder_add(builder, 0x041, type, HG_TYPE_COUNT, args, 3);
}
/** dst = a ^ b */
static inline hg_builder *hg_build_xor(hg_builder *builder, hg_type type, uint8_t d, uint8_t a, uint8_t b) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(a), hg_arg_reg(b)};
    return hg_builder_add(builder, 0x042, type, HG_TYPE_COUNT, args, 3);
}
/** dst = ~src */
static inline hg_builder *hg_build_not(hg_builder *builder, hg_type type, uint8_t d, uint8_t s) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(s)};
    return hg_builder_add(builder, 0x043, type, HG_TYPE_COUNT, args, 2);
}
/** dst = src << (amount mod width) */
static inline hg_builder *hg_build_shl(hg_builder *builder, hg_type type, uint8_t d, uint8_t s, uint8_t amount) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(s), hg_arg_reg(amount)};
    return hg_builder_add(builder, 0x044, type, HG_TYPE_COUNT, args, 3);
}
/** dst = src >> (amount mod width), arithmetic for signed types */
static inline hg_builder *hg_build_shr(hg_builder *builder, hg_type type, uint8_t d, uint8_t s, uint8_t amount) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(s), hg_arg_reg(amount)};
    return hg_builder_add(builder, 0x045, type, HG_TYPE_COUNT, args, 3);
}
/** p = a compared with b */
static inline hg_builder *hg_build_seteq(hg_builder *builder, hg_type type, uint8_t p, uint8_t a, uint8_t b) {
    const hg_arg args[] = {hg_arg_name("eq"), hg_arg_pred(p), hg_arg_reg(a), hg_arg_reg(b)};
    return hg_builder_add(builder, 0x046, type, HG_TYPE_COUNT, args, 4);
}
/** p = a compared with b */
static inline hg_builder *hg_build_setne(hg_builder *builder, hg_type type, uint8_t p, uint8_t a, uint8_t b) {
    const hg_arg args[] = {hg_arg_name("ne"), hg_arg_pred(p), hg_arg_reg(a), hg_arg_reg(b)};
    return hg_builder_add(builder, 0x046, type, HG_TYPE_COUNT, args, 4);
}
/** p = a compared with b */
static inline hg_builder *hg_build_setlt(hg_builder *builder, hg_type type, uint8_t p, uint8_t a, uint8_t b) {
    const hg_arg args[] = {hg_arg_name("lt"), hg_arg_pred(p), hg_arg_reg(a), hg_arg_reg(b)};
    return hg_builder_add(builder, 0x046, type, HG_TYPE_COUNT, args, 4);
}
/** p = a compared with b */
static inline hg_builder *hg_build_setle(hg_builder *builder, hg_type type, uint8_t p, uint8_t a, uint8_t b) {
    const hg_arg args[] = {hg_arg_name("le"), hg_arg_pred(p), hg_arg_reg(a), hg_arg_reg(b)};
    return hg_builder_add(builder, 0x046, type, HG_TYPE_COUNT, args, 4);
}
/** p = a compared with b */
static inline hg_builder *hg_build_setgt(hg_builder *builder, hg_type type, uint8_t p, uint8_t a, uint8_t b) {
    const hg_arg args[] = {hg_arg_name("gt"), hg_arg_pred(p), hg_arg_reg(a), hg_arg_reg(b)};
    return hg_builder_add(builder, 0x046, type, HG_TYPE_COUNT, args, 4);
}
/** p = a compared with b */
static inline hg_builder *hg_build_setge(hg_builder *builder, hg_type type, uint8_t p, uint8_t a, uint8_t b) {
    const hg_arg args[] = {hg_arg_name("ge"), hg_arg_pred(p), hg_arg_reg(a), hg_arg_reg(b)};
    return hg_builder_add(builder, 0x046, type, HG_TYPE_COUNT, args, 4);
}
/** p = a compared with b */
static inline hg_builder *hg_build_setltu(hg_builder *builder, hg_type type, uint8_t p, uint8_t a, uint8_t b) {
    const hg_arg args[] = {hg_arg_name("ltu"), hg_arg_pred(p), hg_arg_reg(a), hg_arg_reg(b)};
    return hg_builder_add(builder, 0x046, type, HG_TYPE_COUNT, args, 4);
}
/** p = a compared with b */
static inline hg_builder *hg_build_setleu(hg_builder *builder, hg_type type, uint8_t p, uint8_t a, uint8_t b) {
    const hg_arg args[] = {hg_arg_name("leu"), hg_arg_pred(p), hg_arg_reg(a), hg_arg_reg(b)};
    return hg_builder_add(builder, 0x046, type, HG_TYPE_COUNT, args, 4);
}
/** p = a compared with b */
static inline hg_builder *hg_build_setgtu(hg_builder *builder, hg_type type, uint8_t p, uint8_t a, uint8_t b) {
    const hg_arg args[] = {hg_arg_name("gtu"), hg_arg_pred(p), hg_arg_reg(a), hg_arg_reg(b)};
    return hg_builder_add(builder, 0x046, type, HG_TYPE_COUNT, args, 4);
}
/** p = a compared with b */
static inline hg_builder *hg_build_setgeu(hg_builder *builder, hg_type type, uint8_t p, uint8_t a, uint8_t b) {
    const hg_arg args[] = {hg_arg_name("geu"), hg_arg_pred(p), hg_arg_reg(a), hg_arg_reg(b)};
    return hg_builder_add(builder, 0x046, type, HG_TYPE_COUNT, args, 4);
}
/** dst = p ? a : b */
static inline hg_builder *hg_build_sel(hg_builder *builder, hg_type type, uint8_t d, uint8_t p, uint8_t a, uint8_t b) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_pred(p), hg_arg_reg(a), hg_arg_reg(b)};
    return hg_builder_add(builder, 0x047, type, HG_TYPE_COUNT, args, 4);
}
/** dst = src with its bits moved up in a circle by amount mod width */
static inline hg_builder *hg_build_rotl(hg_builder *builder, hg_type type, uint8_t d, uint8_t s, uint8_t amount) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(s), hg_arg_reg(amount)};
    return hg_builder_add(builder, 0x048, type, HG_TYPE_COUNT, args, 3);
}
/** dst = src with its bits moved down in a circle by amount mod width */
static inline hg_builder *hg_build_rotr(hg_builder *builder, hg_type type, uint8_t d, uint8_t s, uint8_t amount) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(s), hg_arg_reg(amount)};
    return hg_builder_add(builder, 0x049, type, HG_TYPE_COUNT, args, 3);
}
/** dst = number of one bits, u32 */
static inline hg_builder *hg_build_popc(hg_builder *builder, hg_type type, uint8_t d, uint8_t s) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(s)};
    return hg_builder_add(builder, 0x04A, type, HG_TYPE_COUNT, args, 2);
}
/** dst = number of zero bits above the highest one, u32; of 0 the width */
static inline hg_builder *hg_build_clz(hg_builder *builder, hg_type type, uint8_t d, uint8_t s) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(s)};
    return hg_builder_add(builder, 0x04B, type, HG_TYPE_COUNT, args, 2);
}
/** dst = number of zero bits below the lowest one, u32; of 0 the width */
static inline hg_builder *hg_build_ctz(hg_builder *builder, hg_type type, uint8_t d, uint8_t s) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(s)};
    return hg_builder_add(builder, 0x04C, type, HG_TYPE_COUNT, args, 2);
}
/** dst = src with its bits in reverse order */
static inline hg_builder *hg_build_brev(hg_builder *builder, hg_type type, uint8_t d, uint8_t s) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(s)};
    return hg_builder_add(builder, 0x04D, type, HG_TYPE_COUNT, args, 2);
}
/** dst = src with its bytes in reverse order */
static inline hg_builder *hg_build_bswap(hg_builder *builder, hg_type type, uint8_t d, uint8_t s) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(s)};
    return hg_builder_add(builder, 0x04E, type, HG_TYPE_COUNT, args, 2);
}
/** p = a and b, predicates */
static inline hg_builder *hg_build_and_p(hg_builder *builder, uint8_t p, uint8_t a, uint8_t b) {
    const hg_arg args[] = {hg_arg_pred(p), hg_arg_pred(a), hg_arg_pred(b)};
    return hg_builder_add(builder, 0x050, HG_TYPE_COUNT, HG_TYPE_COUNT, args, 3);
}
/** p = a or b, predicates */
static inline hg_builder *hg_build_or_p(hg_builder *builder, uint8_t p, uint8_t a, uint8_t b) {
    const hg_arg args[] = {hg_arg_pred(p), hg_arg_pred(a), hg_arg_pred(b)};
    return hg_builder_add(builder, 0x051, HG_TYPE_COUNT, HG_TYPE_COUNT, args, 3);
}
/** p = either a or b, predicates */
static inline hg_builder *hg_build_xor_p(hg_builder *builder, uint8_t p, uint8_t a, uint8_t b) {
    const hg_arg args[] = {hg_arg_pred(p), hg_arg_pred(a), hg_arg_pred(b)};
    return hg_builder_add(builder, 0x052, HG_TYPE_COUNT, HG_TYPE_COUNT, args, 3);
}
/** p = not s, predicates */
static inline hg_builder *hg_build_not_p(hg_builder *builder, uint8_t p, uint8_t s) {
    const hg_arg args[] = {hg_arg_pred(p), hg_arg_pred(s)};
    return hg_builder_add(builder, 0x053, HG_TYPE_COUNT, HG_TYPE_COUNT, args, 2);
}
/** p = q ? a : b, predicates */
static inline hg_builder *hg_build_sel_p(hg_builder *builder, uint8_t p, uint8_t q, uint8_t a, uint8_t b) {
    const hg_arg args[] = {hg_arg_pred(p), hg_arg_pred(q), hg_arg_pred(a), hg_arg_pred(b)};
    return hg_builder_add(builder, 0x054, HG_TYPE_COUNT, HG_TYPE_COUNT, args, 4);
}
/** p = s, predicates */
static inline hg_builder *hg_build_mov_p(hg_builder *builder, uint8_t p, uint8_t s) {
    const hg_arg args[] = {hg_arg_pred(p), hg_arg_pred(s)};
    return hg_builder_add(builder, 0x055, HG_TYPE_COUNT, HG_TYPE_COUNT, args, 2);
}
/** jumps, with a predicate only where it is true */
static inline hg_builder *hg_build_bra(hg_builder *builder, hg_label target) {
    const hg_arg args[] = {hg_arg_make(HG_ARG_NO_PRED, 0, 0), hg_arg_label(target)};
    return hg_builder_add(builder, 0x060, HG_TYPE_COUNT, HG_TYPE_COUNT, args, 2);
}
/** jumps, with a predicate only where it is true */
static inline hg_builder *hg_build_bra_if(hg_builder *builder, uint8_t p, hg_label target) {
    const hg_arg args[] = {hg_arg_pred(p), hg_arg_label(target)};
    return hg_builder_add(builder, 0x060, HG_TYPE_COUNT, HG_TYPE_COUNT, args, 2);
}
/** runs a function and continues after it */
static inline hg_builder *hg_build_call(hg_builder *builder, hg_label target) {
    const hg_arg args[] = {hg_arg_label(target)};
    return hg_builder_add(builder, 0x061, HG_TYPE_COUNT, HG_TYPE_COUNT, args, 1);
}
/** returns from a function */
static inline hg_builder *hg_build_ret(hg_builder *builder) {
    return hg_builder_add(builder, 0x062, HG_TYPE_COUNT, HG_TYPE_COUNT, 0, 0);
}
/** if counter > 0: counter -= 1 and jump */
static inline hg_builder *hg_build_loop(hg_builder *builder, uint8_t counter, hg_label target) {
    const hg_arg args[] = {hg_arg_reg(counter), hg_arg_label(target)};
    return hg_builder_add(builder, 0x063, HG_TYPE_COUNT, HG_TYPE_COUNT, args, 2);
}
/** loop with a u64 counter */
static inline hg_builder *hg_build_loop64(hg_builder *builder, uint8_t counter, hg_label target) {
    const hg_arg args[] = {hg_arg_reg(counter), hg_arg_label(target)};
    return hg_builder_add(builder, 0x065, HG_TYPE_COUNT, HG_TYPE_COUNT, args, 2);
}
/** stops the lane */
static inline hg_builder *hg_build_exit(hg_builder *builder) {
    return hg_builder_add(builder, 0x064, HG_TYPE_COUNT, HG_TYPE_COUNT, 0, 0);
}
/** waits for every lane of the block that has not stopped */
static inline hg_builder *hg_build_bar_sync(hg_builder *builder, uint8_t id) {
    const hg_arg args[] = {hg_arg_number(id)};
    return hg_builder_add(builder, 0x070, HG_TYPE_COUNT, HG_TYPE_COUNT, args, 1);
}
/** orders this lane's memory accesses for a scope */
static inline hg_builder *hg_build_memfence_thread(hg_builder *builder) {
    const hg_arg args[] = {hg_arg_name("thread")};
    return hg_builder_add(builder, 0x071, HG_TYPE_COUNT, HG_TYPE_COUNT, args, 1);
}
/** orders this lane's memory accesses for a scope */
static inline hg_builder *hg_build_memfence_block(hg_builder *builder) {
    const hg_arg args[] = {hg_arg_name("block")};
    return hg_builder_add(builder, 0x071, HG_TYPE_COUNT, HG_TYPE_COUNT, args, 1);
}
/** orders this lane's memory accesses for a scope */
static inline hg_builder *hg_build_memfence_device(hg_builder *builder) {
    const hg_arg args[] = {hg_arg_name("device")};
    return hg_builder_add(builder, 0x071, HG_TYPE_COUNT, HG_TYPE_COUNT, args, 1);
}
/** orders this lane's memory accesses for a scope */
static inline hg_builder *hg_build_memfence_system(hg_builder *builder) {
    const hg_arg args[] = {hg_arg_name("system")};
    return hg_builder_add(builder, 0x071, HG_TYPE_COUNT, HG_TYPE_COUNT, args, 1);
}
/** waits for every lane of the launch; memory is visible, shared memory is zero again */
static inline hg_builder *hg_build_bar_grid(hg_builder *builder) {
    return hg_builder_add(builder, 0x072, HG_TYPE_COUNT, HG_TYPE_COUNT, 0, 0);
}
/** p = s of any lane of the launch; and a bar.grid. flag: a u32 that is 0, and is 0 again */
static inline hg_builder *hg_build_grid_any(hg_builder *builder, uint8_t p, uint8_t s, hg_arg flag) {
    const hg_arg args[] = {hg_arg_pred(p), hg_arg_pred(s), flag};
    return hg_builder_add(builder, 0x073, HG_TYPE_COUNT, HG_TYPE_COUNT, args, 3);
}
/** p = s of every lane of the launch; and a bar.grid. flag: a u32 that is 0, and is 0 again */
static inline hg_builder *hg_build_grid_all(hg_builder *builder, uint8_t p, uint8_t s, hg_arg flag) {
    const hg_arg args[] = {hg_arg_pred(p), hg_arg_pred(s), flag};
    return hg_builder_add(builder, 0x074, HG_TYPE_COUNT, HG_TYPE_COUNT, args, 3);
}
/** dst = e^src */
static inline hg_builder *hg_build_exp(hg_builder *builder, hg_type type, uint8_t d, uint8_t s) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(s)};
    return hg_builder_add(builder, 0x080, type, HG_TYPE_COUNT, args, 2);
}
/** dst = natural logarithm */
static inline hg_builder *hg_build_log(hg_builder *builder, hg_type type, uint8_t d, uint8_t s) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(s)};
    return hg_builder_add(builder, 0x081, type, HG_TYPE_COUNT, args, 2);
}
/** dst = logarithm to base 2 */
static inline hg_builder *hg_build_log2(hg_builder *builder, hg_type type, uint8_t d, uint8_t s) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(s)};
    return hg_builder_add(builder, 0x082, type, HG_TYPE_COUNT, args, 2);
}
/** dst = logarithm to base 10 */
static inline hg_builder *hg_build_log10(hg_builder *builder, hg_type type, uint8_t d, uint8_t s) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(s)};
    return hg_builder_add(builder, 0x083, type, HG_TYPE_COUNT, args, 2);
}
/** dst = square root, correctly rounded */
static inline hg_builder *hg_build_sqrt(hg_builder *builder, hg_type type, uint8_t d, uint8_t s) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(s)};
    return hg_builder_add(builder, 0x084, type, HG_TYPE_COUNT, args, 2);
}
/** dst = 1 / square root; -0 gives -inf */
static inline hg_builder *hg_build_rsqrt(hg_builder *builder, hg_type type, uint8_t d, uint8_t s) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(s)};
    return hg_builder_add(builder, 0x085, type, HG_TYPE_COUNT, args, 2);
}
/** dst = sine of radians */
static inline hg_builder *hg_build_sin(hg_builder *builder, hg_type type, uint8_t d, uint8_t s) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(s)};
    return hg_builder_add(builder, 0x086, type, HG_TYPE_COUNT, args, 2);
}
/** dst = cosine of radians */
static inline hg_builder *hg_build_cos(hg_builder *builder, hg_type type, uint8_t d, uint8_t s) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(s)};
    return hg_builder_add(builder, 0x087, type, HG_TYPE_COUNT, args, 2);
}
/** dst = tangent of radians */
static inline hg_builder *hg_build_tan(hg_builder *builder, hg_type type, uint8_t d, uint8_t s) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(s)};
    return hg_builder_add(builder, 0x088, type, HG_TYPE_COUNT, args, 2);
}
/** dst = hyperbolic tangent */
static inline hg_builder *hg_build_tanh(hg_builder *builder, hg_type type, uint8_t d, uint8_t s) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(s)};
    return hg_builder_add(builder, 0x089, type, HG_TYPE_COUNT, args, 2);
}
/** dst = 1 / (1 + e^-src) */
static inline hg_builder *hg_build_sigmoid(hg_builder *builder, hg_type type, uint8_t d, uint8_t s) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(s)};
    return hg_builder_add(builder, 0x08A, type, HG_TYPE_COUNT, args, 2);
}
/** dst = src/2 * (1 + erf(src / sqrt 2)) */
static inline hg_builder *hg_build_gelu(hg_builder *builder, hg_type type, uint8_t d, uint8_t s) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(s)};
    return hg_builder_add(builder, 0x08B, type, HG_TYPE_COUNT, args, 2);
}
/** dst = src * sigmoid(src) */
static inline hg_builder *hg_build_swish(hg_builder *builder, hg_type type, uint8_t d, uint8_t s) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(s)};
    return hg_builder_add(builder, 0x08C, type, HG_TYPE_COUNT, args, 2);
}
/** dst = a^b, special values as C pow */
static inline hg_builder *hg_build_pow(hg_builder *builder, hg_type type, uint8_t d, uint8_t a, uint8_t b) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(a), hg_arg_reg(b)};
    return hg_builder_add(builder, 0x08D, type, HG_TYPE_COUNT, args, 3);
}
/** dst = 2^src */
static inline hg_builder *hg_build_exp2(hg_builder *builder, hg_type type, uint8_t d, uint8_t s) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(s)};
    return hg_builder_add(builder, 0x08E, type, HG_TYPE_COUNT, args, 2);
}
/** dst = e^src - 1 */
static inline hg_builder *hg_build_expm1(hg_builder *builder, hg_type type, uint8_t d, uint8_t s) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(s)};
    return hg_builder_add(builder, 0x08F, type, HG_TYPE_COUNT, args, 2);
}
/** dst = natural logarithm of 1 + src */
static inline hg_builder *hg_build_log1p(hg_builder *builder, hg_type type, uint8_t d, uint8_t s) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(s)};
    return hg_builder_add(builder, 0x090, type, HG_TYPE_COUNT, args, 2);
}
/** dst = cube root */
static inline hg_builder *hg_build_cbrt(hg_builder *builder, hg_type type, uint8_t d, uint8_t s) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(s)};
    return hg_builder_add(builder, 0x091, type, HG_TYPE_COUNT, args, 2);
}
/** dst = error function */
static inline hg_builder *hg_build_erf(hg_builder *builder, hg_type type, uint8_t d, uint8_t s) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(s)};
    return hg_builder_add(builder, 0x092, type, HG_TYPE_COUNT, args, 2);
}
/** dst = 1 - erf(src) */
static inline hg_builder *hg_build_erfc(hg_builder *builder, hg_type type, uint8_t d, uint8_t s) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(s)};
    return hg_builder_add(builder, 0x093, type, HG_TYPE_COUNT, args, 2);
}
/** dst = arc tangent in radians */
static inline hg_builder *hg_build_atan(hg_builder *builder, hg_type type, uint8_t d, uint8_t s) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(s)};
    return hg_builder_add(builder, 0x094, type, HG_TYPE_COUNT, args, 2);
}
/** dst = angle of the point (b, a) in radians, special values as C atan2 */
static inline hg_builder *hg_build_atan2(hg_builder *builder, hg_type type, uint8_t d, uint8_t a, uint8_t b) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(a), hg_arg_reg(b)};
    return hg_builder_add(builder, 0x095, type, HG_TYPE_COUNT, args, 3);
}
/** dst = arc sine in radians; NaN beyond 1 */
static inline hg_builder *hg_build_asin(hg_builder *builder, hg_type type, uint8_t d, uint8_t s) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(s)};
    return hg_builder_add(builder, 0x096, type, HG_TYPE_COUNT, args, 2);
}
/** dst = arc cosine in radians; NaN beyond 1 */
static inline hg_builder *hg_build_acos(hg_builder *builder, hg_type type, uint8_t d, uint8_t s) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(s)};
    return hg_builder_add(builder, 0x097, type, HG_TYPE_COUNT, args, 2);
}
/** dst = hyperbolic sine */
static inline hg_builder *hg_build_sinh(hg_builder *builder, hg_type type, uint8_t d, uint8_t s) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(s)};
    return hg_builder_add(builder, 0x098, type, HG_TYPE_COUNT, args, 2);
}
/** dst = hyperbolic cosine */
static inline hg_builder *hg_build_cosh(hg_builder *builder, hg_type type, uint8_t d, uint8_t s) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(s)};
    return hg_builder_add(builder, 0x099, type, HG_TYPE_COUNT, args, 2);
}
/** dst = square root of a^2 + b^2 without overflow on the way; an infinity wins over NaN */
static inline hg_builder *hg_build_hypot(hg_builder *builder, hg_type type, uint8_t d, uint8_t a, uint8_t b) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(a), hg_arg_reg(b)};
    return hg_builder_add(builder, 0x09A, type, HG_TYPE_COUNT, args, 3);
}
/** dst = inverse hyperbolic sine */
static inline hg_builder *hg_build_asinh(hg_builder *builder, hg_type type, uint8_t d, uint8_t s) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(s)};
    return hg_builder_add(builder, 0x09B, type, HG_TYPE_COUNT, args, 2);
}
/** dst = inverse hyperbolic cosine; NaN below 1 */
static inline hg_builder *hg_build_acosh(hg_builder *builder, hg_type type, uint8_t d, uint8_t s) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(s)};
    return hg_builder_add(builder, 0x09C, type, HG_TYPE_COUNT, args, 2);
}
/** dst = inverse hyperbolic tangent; NaN beyond 1 */
static inline hg_builder *hg_build_atanh(hg_builder *builder, hg_type type, uint8_t d, uint8_t s) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(s)};
    return hg_builder_add(builder, 0x09D, type, HG_TYPE_COUNT, args, 2);
}
/** dst = sum of consecutive registers, left to right; halves in f32, rounded once at the end */
static inline hg_builder *hg_build_reduce_add(hg_builder *builder, hg_type type, uint8_t d, uint8_t first, uint8_t count) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(first), hg_arg_number(count)};
    return hg_builder_add(builder, 0x0A0, type, HG_TYPE_COUNT, args, 3);
}
/** dst = smallest of consecutive registers */
static inline hg_builder *hg_build_reduce_min(hg_builder *builder, hg_type type, uint8_t d, uint8_t first, uint8_t count) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(first), hg_arg_number(count)};
    return hg_builder_add(builder, 0x0A1, type, HG_TYPE_COUNT, args, 3);
}
/** dst = largest of consecutive registers */
static inline hg_builder *hg_build_reduce_max(hg_builder *builder, hg_type type, uint8_t d, uint8_t first, uint8_t count) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(first), hg_arg_number(count)};
    return hg_builder_add(builder, 0x0A2, type, HG_TYPE_COUNT, args, 3);
}
/** dst = product of consecutive registers, left to right; halves in f32, rounded once at the end */
static inline hg_builder *hg_build_reduce_mul(hg_builder *builder, hg_type type, uint8_t d, uint8_t first, uint8_t count) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(first), hg_arg_number(count)};
    return hg_builder_add(builder, 0x0A3, type, HG_TYPE_COUNT, args, 3);
}
/** dst = sum of an array by the fixed tree; halves in f32, rounded once at the end */
static inline hg_builder *hg_build_reduce_add_mem(hg_builder *builder, hg_type type, uint8_t d, hg_arg address, hg_arg count) {
    const hg_arg args[] = {hg_arg_reg(d), address, count};
    return hg_builder_add(builder, 0x0A4, type, HG_TYPE_COUNT, args, 3);
}
/** dst = smallest of an array */
static inline hg_builder *hg_build_reduce_min_mem(hg_builder *builder, hg_type type, uint8_t d, hg_arg address, hg_arg count) {
    const hg_arg args[] = {hg_arg_reg(d), address, count};
    return hg_builder_add(builder, 0x0A5, type, HG_TYPE_COUNT, args, 3);
}
/** dst = largest of an array */
static inline hg_builder *hg_build_reduce_max_mem(hg_builder *builder, hg_type type, uint8_t d, hg_arg address, hg_arg count) {
    const hg_arg args[] = {hg_arg_reg(d), address, count};
    return hg_builder_add(builder, 0x0A6, type, HG_TYPE_COUNT, args, 3);
}
/** dst = product of an array by the fixed tree; halves in f32, rounded once at the end */
static inline hg_builder *hg_build_reduce_mul_mem(hg_builder *builder, hg_type type, uint8_t d, hg_arg address, hg_arg count) {
    const hg_arg args[] = {hg_arg_reg(d), address, count};
    return hg_builder_add(builder, 0x0A7, type, HG_TYPE_COUNT, args, 3);
}
/** dst = handle of a new zeroed pool */
static inline hg_builder *hg_build_pool_alloc(hg_builder *builder, uint8_t handle, hg_arg size) {
    const hg_arg args[] = {hg_arg_reg(handle), size};
    return hg_builder_add(builder, 0x0B0, HG_TYPE_COUNT, HG_TYPE_COUNT, args, 2);
}
/** makes a zeroed pool under a given handle */
static inline hg_builder *hg_build_pool_alloc_const(hg_builder *builder, uint64_t pool, hg_arg size) {
    const hg_arg args[] = {hg_arg_number(pool), size};
    return hg_builder_add(builder, 0x0B1, HG_TYPE_COUNT, HG_TYPE_COUNT, args, 2);
}
/** frees a pool */
static inline hg_builder *hg_build_pool_free(hg_builder *builder, uint8_t handle) {
    const hg_arg args[] = {hg_arg_reg(handle)};
    return hg_builder_add(builder, 0x0B2, HG_TYPE_COUNT, HG_TYPE_COUNT, args, 1);
}
/** frees the pool of a given handle */
static inline hg_builder *hg_build_pool_free_const(hg_builder *builder, uint64_t pool) {
    const hg_arg args[] = {hg_arg_number(pool)};
    return hg_builder_add(builder, 0x0B3, HG_TYPE_COUNT, HG_TYPE_COUNT, args, 1);
}
/** dst = the element at a byte offset of a pool */
static inline hg_builder *hg_build_pool_load(hg_builder *builder, hg_type type, uint8_t d, uint8_t handle, hg_arg offset) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(handle), offset};
    return hg_builder_add(builder, 0x0B4, type, HG_TYPE_COUNT, args, 3);
}
/** dst = the element at a byte offset of the pool of a given handle */
static inline hg_builder *hg_build_pool_load_const(hg_builder *builder, hg_type type, uint8_t d, uint64_t pool, hg_arg offset) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_number(pool), offset};
    return hg_builder_add(builder, 0x0B5, type, HG_TYPE_COUNT, args, 3);
}
/** writes src to a byte offset of a pool */
static inline hg_builder *hg_build_pool_store(hg_builder *builder, hg_type type, uint8_t handle, hg_arg offset, uint8_t s) {
    const hg_arg args[] = {hg_arg_reg(handle), offset, hg_arg_reg(s)};
    return hg_builder_add(builder, 0x0B6, type, HG_TYPE_COUNT, args, 3);
}
/** writes src to a byte offset of the pool of a given handle */
static inline hg_builder *hg_build_pool_store_const(hg_builder *builder, hg_type type, uint64_t pool, hg_arg offset, uint8_t s) {
    const hg_arg args[] = {hg_arg_number(pool), offset, hg_arg_reg(s)};
    return hg_builder_add(builder, 0x0B7, type, HG_TYPE_COUNT, args, 3);
}
/** out[i] = op(in[i]) */
static inline hg_builder *hg_build_parallel_map(hg_builder *builder, hg_type type, hg_arg out, hg_arg in, const char *op, hg_arg count) {
    const hg_arg args[] = {out, in, hg_arg_name(op), count};
    return hg_builder_add(builder, 0x0C0, type, HG_TYPE_COUNT, args, 4);
}
/** out[i] = op(a[i], b[i]) */
static inline hg_builder *hg_build_parallel_map_binary(hg_builder *builder, hg_type type, hg_arg out, hg_arg a, hg_arg b, const char *op, hg_arg count) {
    const hg_arg args[] = {out, a, b, hg_arg_name(op), count};
    return hg_builder_add(builder, 0x0C1, type, HG_TYPE_COUNT, args, 5);
}
/** dst = fold of an array by the fixed tree; halves in f32, rounded once at the end */
static inline hg_builder *hg_build_parallel_reduce(hg_builder *builder, hg_type type, uint8_t d, hg_arg in, const char *op, hg_arg count) {
    const hg_arg args[] = {hg_arg_reg(d), in, hg_arg_name(op), count};
    return hg_builder_add(builder, 0x0C2, type, HG_TYPE_COUNT, args, 4);
}
/** the element at an address = fold of an array by the fixed tree */
static inline hg_builder *hg_build_parallel_reduce_mem(hg_builder *builder, hg_type type, hg_arg out, hg_arg in, const char *op, hg_arg count) {
    const hg_arg args[] = {out, in, hg_arg_name(op), count};
    return hg_builder_add(builder, 0x0C3, type, HG_TYPE_COUNT, args, 4);
}
/** dst = old element; element += src, indivisible */
static inline hg_builder *hg_build_atom_add(hg_builder *builder, hg_type type, uint8_t d, hg_arg address, uint8_t s) {
    const hg_arg args[] = {hg_arg_reg(d), address, hg_arg_reg(s)};
    return hg_builder_add(builder, 0x0D0, type, HG_TYPE_COUNT, args, 3);
}
/** dst = old element; element = min(element, src) */
static inline hg_builder *hg_build_atom_min(hg_builder *builder, hg_type type, uint8_t d, hg_arg address, uint8_t s) {
    const hg_arg args[] = {hg_arg_reg(d), address, hg_arg_reg(s)};
    return hg_builder_add(builder, 0x0D1, type, HG_TYPE_COUNT, args, 3);
}
/** dst = old element; element = max(element, src) */
static inline hg_builder *hg_build_atom_max(hg_builder *builder, hg_type type, uint8_t d, hg_arg address, uint8_t s) {
    const hg_arg args[] = {hg_arg_reg(d), address, hg_arg_reg(s)};
    return hg_builder_add(builder, 0x0D2, type, HG_TYPE_COUNT, args, 3);
}
/** dst = old element; element &= src */
static inline hg_builder *hg_build_atom_and(hg_builder *builder, hg_type type, uint8_t d, hg_arg address, uint8_t s) {
    const hg_arg args[] = {hg_arg_reg(d), address, hg_arg_reg(s)};
    return hg_builder_add(builder, 0x0D3, type, HG_TYPE_COUNT, args, 3);
}
/** dst = old element; element |= src */
static inline hg_builder *hg_build_atom_or(hg_builder *builder, hg_type type, uint8_t d, hg_arg address, uint8_t s) {
    const hg_arg args[] = {hg_arg_reg(d), address, hg_arg_reg(s)};
    return hg_builder_add(builder, 0x0D4, type, HG_TYPE_COUNT, args, 3);
}
/** dst = old element; element ^= src */
static inline hg_builder *hg_build_atom_xor(hg_builder *builder, hg_type type, uint8_t d, hg_arg address, uint8_t s) {
    const hg_arg args[] = {hg_arg_reg(d), address, hg_arg_reg(s)};
    return hg_builder_add(builder, 0x0D5, type, HG_TYPE_COUNT, args, 3);
}
/** dst = old element; element = src */
static inline hg_builder *hg_build_atom_exch(hg_builder *builder, hg_type type, uint8_t d, hg_arg address, uint8_t s) {
    const hg_arg args[] = {hg_arg_reg(d), address, hg_arg_reg(s)};
    return hg_builder_add(builder, 0x0D6, type, HG_TYPE_COUNT, args, 3);
}
/** dst = old element; if it equals expected: element = desired */
static inline hg_builder *hg_build_atom_cas(hg_builder *builder, hg_type type, uint8_t d, hg_arg address, uint8_t expected, uint8_t desired) {
    const hg_arg args[] = {hg_arg_reg(d), address, hg_arg_reg(expected), hg_arg_reg(desired)};
    return hg_builder_add(builder, 0x0D7, type, HG_TYPE_COUNT, args, 4);
}
/** dst = sum of src over the lanes of the block by the fixed tree; halves in f32, rounded once at the end */
static inline hg_builder *hg_build_breduce_add(hg_builder *builder, hg_type type, uint8_t d, uint8_t s) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(s)};
    return hg_builder_add(builder, 0x0E0, type, HG_TYPE_COUNT, args, 2);
}
/** dst = smallest of src over the lanes of the block by the fixed tree */
static inline hg_builder *hg_build_breduce_min(hg_builder *builder, hg_type type, uint8_t d, uint8_t s) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(s)};
    return hg_builder_add(builder, 0x0E1, type, HG_TYPE_COUNT, args, 2);
}
/** dst = largest of src over the lanes of the block by the fixed tree */
static inline hg_builder *hg_build_breduce_max(hg_builder *builder, hg_type type, uint8_t d, uint8_t s) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(s)};
    return hg_builder_add(builder, 0x0E2, type, HG_TYPE_COUNT, args, 2);
}
/** dst = product of src over the lanes of the block by the fixed tree; halves in f32, rounded once at the end */
static inline hg_builder *hg_build_breduce_mul(hg_builder *builder, hg_type type, uint8_t d, uint8_t s) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(s)};
    return hg_builder_add(builder, 0x0E3, type, HG_TYPE_COUNT, args, 2);
}
/** dst = and of src over the lanes of the block by the fixed tree */
static inline hg_builder *hg_build_breduce_and(hg_builder *builder, hg_type type, uint8_t d, uint8_t s) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(s)};
    return hg_builder_add(builder, 0x0E4, type, HG_TYPE_COUNT, args, 2);
}
/** dst = or of src over the lanes of the block by the fixed tree */
static inline hg_builder *hg_build_breduce_or(hg_builder *builder, hg_type type, uint8_t d, uint8_t s) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(s)};
    return hg_builder_add(builder, 0x0E5, type, HG_TYPE_COUNT, args, 2);
}
/** dst = exclusive or of src over the lanes of the block by the fixed tree */
static inline hg_builder *hg_build_breduce_xor(hg_builder *builder, hg_type type, uint8_t d, uint8_t s) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(s)};
    return hg_builder_add(builder, 0x0E6, type, HG_TYPE_COUNT, args, 2);
}
/** Operands of hg_build_bscan_add by name. */
typedef struct hg_bscan_add_operands {
    hg_arg exclusive; /**< hg_flag; left out: false */
} hg_bscan_add_operands;
/** dst = sum of src over the lanes of the block up to this one, or before it; halves in f32, rounded once at the end */
static inline hg_builder *hg_build_bscan_add(hg_builder *builder, hg_type type, uint8_t d, uint8_t s, hg_bscan_add_operands operands) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(s), operands.exclusive};
    return hg_builder_add(builder, 0x0E8, type, HG_TYPE_COUNT, args, 3);
}
/** Operands of hg_build_bscan_min by name. */
typedef struct hg_bscan_min_operands {
    hg_arg exclusive; /**< hg_flag; left out: false */
} hg_bscan_min_operands;
/** dst = smallest of src over the lanes of the block up to this one, or before it */
static inline hg_builder *hg_build_bscan_min(hg_builder *builder, hg_type type, uint8_t d, uint8_t s, hg_bscan_min_operands operands) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(s), operands.exclusive};
    return hg_builder_add(builder, 0x0E9, type, HG_TYPE_COUNT, args, 3);
}
/** Operands of hg_build_bscan_max by name. */
typedef struct hg_bscan_max_operands {
    hg_arg exclusive; /**< hg_flag; left out: false */
} hg_bscan_max_operands;
/** dst = largest of src over the lanes of the block up to this one, or before it */
static inline hg_builder *hg_build_bscan_max(hg_builder *builder, hg_type type, uint8_t d, uint8_t s, hg_bscan_max_operands operands) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(s), operands.exclusive};
    return hg_builder_add(builder, 0x0EA, type, HG_TYPE_COUNT, args, 3);
}
/** Operands of hg_build_bscan_mul by name. */
typedef struct hg_bscan_mul_operands {
    hg_arg exclusive; /**< hg_flag; left out: false */
} hg_bscan_mul_operands;
/** dst = product of src over the lanes of the block up to this one, or before it; halves in f32, rounded once at the end */
static inline hg_builder *hg_build_bscan_mul(hg_builder *builder, hg_type type, uint8_t d, uint8_t s, hg_bscan_mul_operands operands) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(s), operands.exclusive};
    return hg_builder_add(builder, 0x0EB, type, HG_TYPE_COUNT, args, 3);
}
/** Operands of hg_build_bscan_and by name. */
typedef struct hg_bscan_and_operands {
    hg_arg exclusive; /**< hg_flag; left out: false */
} hg_bscan_and_operands;
/** dst = and of src over the lanes of the block up to this one, or before it */
static inline hg_builder *hg_build_bscan_and(hg_builder *builder, hg_type type, uint8_t d, uint8_t s, hg_bscan_and_operands operands) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(s), operands.exclusive};
    return hg_builder_add(builder, 0x0EC, type, HG_TYPE_COUNT, args, 3);
}
/** Operands of hg_build_bscan_or by name. */
typedef struct hg_bscan_or_operands {
    hg_arg exclusive; /**< hg_flag; left out: false */
} hg_bscan_or_operands;
/** dst = or of src over the lanes of the block up to this one, or before it */
static inline hg_builder *hg_build_bscan_or(hg_builder *builder, hg_type type, uint8_t d, uint8_t s, hg_bscan_or_operands operands) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(s), operands.exclusive};
    return hg_builder_add(builder, 0x0ED, type, HG_TYPE_COUNT, args, 3);
}
/** Operands of hg_build_bscan_xor by name. */
typedef struct hg_bscan_xor_operands {
    hg_arg exclusive; /**< hg_flag; left out: false */
} hg_bscan_xor_operands;
/** dst = exclusive or of src over the lanes of the block up to this one, or before it */
static inline hg_builder *hg_build_bscan_xor(hg_builder *builder, hg_type type, uint8_t d, uint8_t s, hg_bscan_xor_operands operands) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(s), operands.exclusive};
    return hg_builder_add(builder, 0x0EE, type, HG_TYPE_COUNT, args, 3);
}
/** dst = src of the lane of the block with that number; 0 where there is none */
static inline hg_builder *hg_build_shuffle(hg_builder *builder, hg_type type, uint8_t d, uint8_t s, hg_arg lane) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(s), lane};
    return hg_builder_add(builder, 0x0F0, type, HG_TYPE_COUNT, args, 3);
}
/** p = s of any lane of the block that has not stopped, the same in all */
static inline hg_builder *hg_build_block_any(hg_builder *builder, uint8_t p, uint8_t s) {
    const hg_arg args[] = {hg_arg_pred(p), hg_arg_pred(s)};
    return hg_builder_add(builder, 0x0F1, HG_TYPE_COUNT, HG_TYPE_COUNT, args, 2);
}
/** p = s of every lane of the block that has not stopped, the same in all */
static inline hg_builder *hg_build_block_all(hg_builder *builder, uint8_t p, uint8_t s) {
    const hg_arg args[] = {hg_arg_pred(p), hg_arg_pred(s)};
    return hg_builder_add(builder, 0x0F2, HG_TYPE_COUNT, HG_TYPE_COUNT, args, 2);
}
/** dst = 1 / src */
static inline hg_builder *hg_build_rcp(hg_builder *builder, hg_type type, uint8_t d, uint8_t s) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(s)};
    return hg_builder_add(builder, 0x100, type, HG_TYPE_COUNT, args, 2);
}
/** dst = -1, 0 or 1; NaN gives NaN, zeros give +0 */
static inline hg_builder *hg_build_sign(hg_builder *builder, hg_type type, uint8_t d, uint8_t s) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(s)};
    return hg_builder_add(builder, 0x101, type, HG_TYPE_COUNT, args, 2);
}
/** dst = largest integer not above src */
static inline hg_builder *hg_build_floor(hg_builder *builder, hg_type type, uint8_t d, uint8_t s) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(s)};
    return hg_builder_add(builder, 0x102, type, HG_TYPE_COUNT, args, 2);
}
/** dst = smallest integer not below src */
static inline hg_builder *hg_build_ceil(hg_builder *builder, hg_type type, uint8_t d, uint8_t s) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(s)};
    return hg_builder_add(builder, 0x103, type, HG_TYPE_COUNT, args, 2);
}
/** dst = nearest integer, halves away from zero */
static inline hg_builder *hg_build_round(hg_builder *builder, hg_type type, uint8_t d, uint8_t s) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(s)};
    return hg_builder_add(builder, 0x104, type, HG_TYPE_COUNT, args, 2);
}
/** dst = src without its fraction */
static inline hg_builder *hg_build_trunc(hg_builder *builder, hg_type type, uint8_t d, uint8_t s) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(s)};
    return hg_builder_add(builder, 0x105, type, HG_TYPE_COUNT, args, 2);
}
/** dst = min(max(src, low), high); NaN stays NaN, low > high gives high */
static inline hg_builder *hg_build_clamp(hg_builder *builder, hg_type type, uint8_t d, uint8_t s, uint8_t min, uint8_t max) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(s), hg_arg_reg(min), hg_arg_reg(max)};
    return hg_builder_add(builder, 0x106, type, HG_TYPE_COUNT, args, 4);
}
/** dst = a + (b - a) * t, each step rounded; halves in f32, rounded once at the end */
static inline hg_builder *hg_build_lerp(hg_builder *builder, hg_type type, uint8_t d, uint8_t a, uint8_t b, uint8_t t) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(a), hg_arg_reg(b), hg_arg_reg(t)};
    return hg_builder_add(builder, 0x107, type, HG_TYPE_COUNT, args, 4);
}
/** dst = nearest integer, halves to the even one */
static inline hg_builder *hg_build_rint(hg_builder *builder, hg_type type, uint8_t d, uint8_t s) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(s)};
    return hg_builder_add(builder, 0x108, type, HG_TYPE_COUNT, args, 2);
}
/** dst = 10^src */
static inline hg_builder *hg_build_exp10(hg_builder *builder, hg_type type, uint8_t d, uint8_t s) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(s)};
    return hg_builder_add(builder, 0x110, type, HG_TYPE_COUNT, args, 2);
}
/** dst = sine of pi src; of whole numbers a zero with the sign of src */
static inline hg_builder *hg_build_sinpi(hg_builder *builder, hg_type type, uint8_t d, uint8_t s) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(s)};
    return hg_builder_add(builder, 0x111, type, HG_TYPE_COUNT, args, 2);
}
/** dst = cosine of pi src; of whole numbers and a half +0 */
static inline hg_builder *hg_build_cospi(hg_builder *builder, hg_type type, uint8_t d, uint8_t s) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(s)};
    return hg_builder_add(builder, 0x112, type, HG_TYPE_COUNT, args, 2);
}
/** dst = class of the first byte of src, u8; src of any type */
static inline hg_builder *hg_build_cls_get(hg_builder *builder, uint8_t d, uint8_t s) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(s)};
    return hg_builder_add(builder, 0x1C0, HG_TYPE_COUNT, HG_TYPE_COUNT, args, 2);
}
/** dst = the lane's class, block_idx_x mod 96, u8 */
static inline hg_builder *hg_build_cls_get_lane(hg_builder *builder, uint8_t d) {
    const hg_arg args[] = {hg_arg_reg(d)};
    return hg_builder_add(builder, 0x1C1, HG_TYPE_COUNT, HG_TYPE_COUNT, args, 1);
}
/** dst = (src + 48) mod 96, classes, u8 */
static inline hg_builder *hg_build_mirror(hg_builder *builder, uint8_t d, uint8_t s) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(s)};
    return hg_builder_add(builder, 0x1C2, HG_TYPE_COUNT, HG_TYPE_COUNT, args, 2);
}
/** p = src is a unity class, 0 or 48 */
static inline hg_builder *hg_build_unity_test(hg_builder *builder, uint8_t p, uint8_t s) {
    const hg_arg args[] = {hg_arg_pred(p), hg_arg_reg(s)};
    return hg_builder_add(builder, 0x1C3, HG_TYPE_COUNT, HG_TYPE_COUNT, args, 2);
}
/** p = |sum of all resonance accumulators, rounded once| < eps, an f64 */
static inline hg_builder *hg_build_unity_test_eps(hg_builder *builder, uint8_t p, double eps) {
    const hg_arg args[] = {hg_arg_pred(p), hg_imm_f64(eps)};
    return hg_builder_add(builder, 0x1C4, HG_TYPE_COUNT, HG_TYPE_COUNT, args, 2);
}
/** dst = the lane's element in the memory of neighbour offset mod degree of a class; f32 unless written */
static inline hg_builder *hg_build_nbr_load(hg_builder *builder, hg_type type, uint8_t d, uint8_t cls, int8_t offset) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(cls), hg_imm_i64(offset)};
    return hg_builder_add(builder, 0x1C5, type, HG_TYPE_COUNT, args, 3);
}
/** writes src to the lane's element in the memory of neighbour offset mod degree of a class */
static inline hg_builder *hg_build_nbr_store(hg_builder *builder, hg_type type, uint8_t cls, uint8_t s, int8_t offset) {
    const hg_arg args[] = {hg_arg_reg(cls), hg_arg_reg(s), hg_imm_i64(offset)};
    return hg_builder_add(builder, 0x1C6, type, HG_TYPE_COUNT, args, 3);
}
/** dst = number of neighbours of a class, 5 or 6, u32 */
static inline hg_builder *hg_build_nbr_count(hg_builder *builder, uint8_t d, uint8_t s) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(s)};
    return hg_builder_add(builder, 0x1C7, HG_TYPE_COUNT, HG_TYPE_COUNT, args, 2);
}
/** dst = neighbour number index of a class, rising, u8; 0 where there is none */
static inline hg_builder *hg_build_nbr_get(hg_builder *builder, uint8_t d, uint8_t s, hg_arg index) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(s), index};
    return hg_builder_add(builder, 0x1C8, HG_TYPE_COUNT, HG_TYPE_COUNT, args, 3);
}
/** resonance of a class += src; dst = the exact sum of its value at launch and this lane's additions, rounded once, f64 */
static inline hg_builder *hg_build_res_accum(hg_builder *builder, uint8_t d, uint8_t s, hg_arg cls) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(s), cls};
    return hg_builder_add(builder, 0x1C9, HG_TYPE_COUNT, HG_TYPE_COUNT, args, 3);
}
/** dst = phase of a class at launch, or what this lane wrote since, u32 */
static inline hg_builder *hg_build_phase_read(hg_builder *builder, uint8_t d, hg_arg cls) {
    const hg_arg args[] = {hg_arg_reg(d), cls};
    return hg_builder_add(builder, 0x1CA, HG_TYPE_COUNT, HG_TYPE_COUNT, args, 2);
}
/** phase of a class = src mod 768 when the launch ends; the highest lane wins */
static inline hg_builder *hg_build_phase_write(hg_builder *builder, uint8_t s, hg_arg cls) {
    const hg_arg args[] = {hg_arg_reg(s), cls};
    return hg_builder_add(builder, 0x1CB, HG_TYPE_COUNT, HG_TYPE_COUNT, args, 2);
}
/** dst = the lane's own phase, 0 at start, u32 */
static inline hg_builder *hg_build_phase_get(hg_builder *builder, uint8_t d) {
    const hg_arg args[] = {hg_arg_reg(d)};
    return hg_builder_add(builder, 0x1CC, HG_TYPE_COUNT, HG_TYPE_COUNT, args, 1);
}
/** the lane's own phase = (phase + delta) mod 768 */
static inline hg_builder *hg_build_phase_adv(hg_builder *builder, hg_arg delta) {
    const hg_arg args[] = {delta};
    return hg_builder_add(builder, 0x1CD, HG_TYPE_COUNT, HG_TYPE_COUNT, args, 1);
}
/** dst = class * 12288 + page * 256 + byte of src = class * 2^16 + page * 2^8 + byte, u64 */
static inline hg_builder *hg_build_bound_map(hg_builder *builder, uint8_t d, uint8_t s) {
    const hg_arg args[] = {hg_arg_reg(d), hg_arg_reg(s)};
    return hg_builder_add(builder, 0x1CE, HG_TYPE_COUNT, HG_TYPE_COUNT, args, 2);
}
/** dst = class * 12288 + page * 256 + byte, u64 */
static inline hg_builder *hg_build_bound_map_parts(hg_builder *builder, uint8_t d, hg_arg cls, hg_arg page, hg_arg byte) {
    const hg_arg args[] = {hg_arg_reg(d), cls, page, byte};
    return hg_builder_add(builder, 0x1CF, HG_TYPE_COUNT, HG_TYPE_COUNT, args, 4);
}
/** dst = class * ELEMENTS + page * RES_MOD + byte in the torus of a type, u64 */
static inline hg_builder *hg_build_bound_map_typed(hg_builder *builder, hg_type type, uint8_t d, hg_arg cls, hg_arg page, hg_arg byte) {
    const hg_arg args[] = {hg_arg_reg(d), cls, page, byte};
    return hg_builder_add(builder, 0x1D0, type, HG_TYPE_COUNT, args, 4);
}
/** dst = the Monster's character on a class, both from 0; f64: its real part, rounded once */
static inline hg_builder *hg_build_char_product(hg_builder *builder, hg_type type, uint8_t d, hg_arg character, hg_arg cls) {
    const hg_arg args[] = {hg_arg_reg(d), character, cls};
    return hg_builder_add(builder, 0x1D1, type, HG_TYPE_COUNT, args, 3);
}
/** dst = orbit 0 ... 31 of a coordinate of a torus, u8; 0 outside it */
static inline hg_builder *hg_build_orbit_classify(hg_builder *builder, uint8_t d, hg_arg coordinate, hg_arg torus) {
    const hg_arg args[] = {hg_arg_reg(d), coordinate, torus};
    return hg_builder_add(builder, 0x1D2, HG_TYPE_COUNT, HG_TYPE_COUNT, args, 3);
}
/** dst = the smallest coordinate of an orbit, u32 */
static inline hg_builder *hg_build_orbit_representative(hg_builder *builder, uint8_t d, hg_arg orbit, hg_arg torus) {
    const hg_arg args[] = {hg_arg_reg(d), orbit, torus};
    return hg_builder_add(builder, 0x1D3, HG_TYPE_COUNT, HG_TYPE_COUNT, args, 3);
}
/** dst = the inverse of unit modulo modulus, u32 */
static inline hg_builder *hg_build_mult_inverse(hg_builder *builder, uint8_t d, hg_arg unit, hg_arg modulus) {
    const hg_arg args[] = {hg_arg_reg(d), unit, modulus};
    return hg_builder_add(builder, 0x1D4, HG_TYPE_COUNT, HG_TYPE_COUNT, args, 3);
}
/** Operands of hg_build_gemm by name. */
typedef struct hg_gemm_operands {
    hg_arg c; /**< hg_array or hg_addr_... */
    hg_arg a; /**< hg_array or hg_addr_... */
    hg_arg b; /**< hg_array or hg_addr_... */
    hg_arg m; /**< hg_count or hg_count_reg */
    hg_arg n; /**< hg_count or hg_count_reg */
    hg_arg k; /**< hg_count or hg_count_reg */
    hg_arg alpha; /**< hg_imm_...; left out: 1 */
    hg_arg beta; /**< hg_imm_...; left out: 0 */
    hg_arg trans_a; /**< hg_flag; left out: false */
    hg_arg trans_b; /**< hg_flag; left out: false */
    hg_arg lda; /**< hg_count or hg_count_reg; left out: rows without a gap */
    hg_arg ldb; /**< hg_count or hg_count_reg; left out: rows without a gap */
    hg_arg ldc; /**< hg_count or hg_count_reg; left out: rows without a gap */
    hg_arg bias; /**< hg_array or hg_addr_...; left out: no bias */
    hg_arg activation; /**< hg_arg_name; left out: identity */
    hg_arg bias_strides; /**< hg_tuple_of counts; left out: (0, 1) */
    hg_arg accumulate; /**< hg_flag; left out: false */
} hg_gemm_operands;
/** c = activation(alpha a b + beta c + bias), a of m x k, b of k x n, n elements of bias or, with bias_strides, m x n; lda, ldb, ldc: elements from one row to the next; accumulate: sums begin at c */
static inline hg_builder *hg_build_gemm(hg_builder *builder, hg_type type, hg_gemm_operands operands) {
    const hg_arg args[] = {operands.c, operands.a, operands.b, operands.m, operands.n, operands.k,
                           operands.alpha, operands.beta, operands.trans_a, operands.trans_b, operands.lda, operands.ldb,
                           operands.ldc, operands.bias, operands.activation, operands.bias_strides, operands.accumulate};
    return hg_builder_add(builder, 0x120, type, HG_TYPE_COUNT, args, 17);
}
/** Operands of hg_build_batched_gemm by name. */
typedef struct hg_batched_gemm_operands {
    hg_arg c; /**< hg_array or hg_addr_... */
    hg_arg a; /**< hg_array or hg_addr_... */
    hg_arg b; /**< hg_array or hg_addr_... */
    hg_arg batch; /**< hg_count or hg_count_reg */
    hg_arg m; /**< hg_count or hg_count_reg */
    hg_arg n; /**< hg_count or hg_count_reg */
    hg_arg k; /**< hg_count or hg_count_reg */
    hg_arg alpha; /**< hg_imm_...; left out: 1 */
    hg_arg beta; /**< hg_imm_...; left out: 0 */
    hg_arg trans_a; /**< hg_flag; left out: false */
    hg_arg trans_b; /**< hg_flag; left out: false */
    hg_arg lda; /**< hg_count or hg_count_reg; left out: rows without a gap */
    hg_arg ldb; /**< hg_count or hg_count_reg; left out: rows without a gap */
    hg_arg ldc; /**< hg_count or hg_count_reg; left out: rows without a gap */
    hg_arg batch_strides; /**< hg_tuple_of counts; left out: matrices without a gap */
    hg_arg bias; /**< hg_array or hg_addr_...; left out: no bias */
    hg_arg activation; /**< hg_arg_name; left out: identity */
    hg_arg bias_strides; /**< hg_tuple_of counts; left out: (0, 1) */
    hg_arg accumulate; /**< hg_flag; left out: false */
} hg_batched_gemm_operands;
/** gemm of each matrix of a batch; batch_strides: elements from one to the next of a, b and c, 0: the same one for all */
static inline hg_builder *hg_build_batched_gemm(hg_builder *builder, hg_type type, hg_batched_gemm_operands operands) {
    const hg_arg args[] = {operands.c, operands.a, operands.b, operands.batch, operands.m, operands.n,
                           operands.k, operands.alpha, operands.beta, operands.trans_a, operands.trans_b, operands.lda,
                           operands.ldb, operands.ldc, operands.batch_strides, operands.bias, operands.activation, operands.bias_strides,
                           operands.accumulate};
    return hg_builder_add(builder, 0x121, type, HG_TYPE_COUNT, args, 19);
}
/** Operands of hg_build_conv2d by name. */
typedef struct hg_conv2d_operands {
    hg_arg output; /**< hg_array or hg_addr_... */
    hg_arg input; /**< hg_array or hg_addr_... */
    hg_arg kernel; /**< hg_array or hg_addr_... */
    hg_arg batch; /**< hg_count or hg_count_reg */
    hg_arg in_channels; /**< hg_count or hg_count_reg */
    hg_arg out_channels; /**< hg_count or hg_count_reg */
    hg_arg height; /**< hg_count or hg_count_reg */
    hg_arg width; /**< hg_count or hg_count_reg */
    hg_arg kernel_h; /**< hg_count or hg_count_reg */
    hg_arg kernel_w; /**< hg_count or hg_count_reg */
    hg_arg stride; /**< hg_tuple_of counts */
    hg_arg padding; /**< hg_tuple_of counts */
    hg_arg dilation; /**< hg_tuple_of counts; left out: (1, 1) */
    hg_arg groups; /**< hg_count or hg_count_reg; left out: 1 */
    hg_arg padding_end; /**< hg_tuple_of counts; left out: as padding */
    hg_arg bias; /**< hg_array or hg_addr_...; left out: no bias */
    hg_arg activation; /**< hg_arg_name; left out: identity */
} hg_conv2d_operands;
/** output = activation(input correlated with kernel [out_channels, in_channels / groups, kernel_h, kernel_w] + bias), NCHW; zeros: padding above and left, padding_end below and right */
static inline hg_builder *hg_build_conv2d(hg_builder *builder, hg_type type, hg_conv2d_operands operands) {
    const hg_arg args[] = {operands.output, operands.input, operands.kernel, operands.batch, operands.in_channels, operands.out_channels,
                           operands.height, operands.width, operands.kernel_h, operands.kernel_w, operands.stride, operands.padding,
                           operands.dilation, operands.groups, operands.padding_end, operands.bias, operands.activation};
    return hg_builder_add(builder, 0x122, type, HG_TYPE_COUNT, args, 17);
}
/** Operands of hg_build_conv by name. */
typedef struct hg_conv_operands {
    hg_arg output; /**< hg_array or hg_addr_... */
    hg_arg input; /**< hg_array or hg_addr_... */
    hg_arg kernel; /**< hg_array or hg_addr_... */
    hg_arg batch; /**< hg_count or hg_count_reg */
    hg_arg in_channels; /**< hg_count or hg_count_reg */
    hg_arg out_channels; /**< hg_count or hg_count_reg */
    hg_arg size; /**< hg_tuple_of counts */
    hg_arg window; /**< hg_tuple_of counts */
    hg_arg stride; /**< hg_tuple_of counts; left out: 1s */
    hg_arg padding; /**< hg_tuple_of counts; left out: 0s */
    hg_arg padding_end; /**< hg_tuple_of counts; left out: as padding */
    hg_arg dilation; /**< hg_tuple_of counts; left out: 1s */
    hg_arg groups; /**< hg_count or hg_count_reg; left out: 1 */
    hg_arg bias; /**< hg_array or hg_addr_...; left out: no bias */
    hg_arg activation; /**< hg_arg_name; left out: identity */
} hg_conv_operands;
/** conv2d along 1 to 3 axes: input [batch, in_channels, size...], kernel [out_channels, in_channels / groups, window...] */
static inline hg_builder *hg_build_conv(hg_builder *builder, hg_type type, hg_conv_operands operands) {
    const hg_arg args[] = {operands.output, operands.input, operands.kernel, operands.batch, operands.in_channels, operands.out_channels,
                           operands.size, operands.window, operands.stride, operands.padding, operands.padding_end, operands.dilation,
                           operands.groups, operands.bias, operands.activation};
    return hg_builder_add(builder, 0x165, type, HG_TYPE_COUNT, args, 15);
}
/** Operands of hg_build_conv_transpose by name. */
typedef struct hg_conv_transpose_operands {
    hg_arg output; /**< hg_array or hg_addr_... */
    hg_arg input; /**< hg_array or hg_addr_... */
    hg_arg kernel; /**< hg_array or hg_addr_... */
    hg_arg batch; /**< hg_count or hg_count_reg */
    hg_arg in_channels; /**< hg_count or hg_count_reg */
    hg_arg out_channels; /**< hg_count or hg_count_reg */
    hg_arg size; /**< hg_tuple_of counts */
    hg_arg window; /**< hg_tuple_of counts */
    hg_arg stride; /**< hg_tuple_of counts; left out: 1s */
    hg_arg padding; /**< hg_tuple_of counts; left out: 0s */
    hg_arg padding_end; /**< hg_tuple_of counts; left out: as padding */
    hg_arg dilation; /**< hg_tuple_of counts; left out: 1s */
    hg_arg groups; /**< hg_count or hg_count_reg; left out: 1 */
    hg_arg bias; /**< hg_array or hg_addr_...; left out: no bias */
    hg_arg activation; /**< hg_arg_name; left out: identity */
    hg_arg out; /**< hg_tuple_of counts; left out: as many as it reaches */
} hg_conv_transpose_operands;
/** the transpose of conv: output, at i stride + k dilation - padding of each axis, += input at i times kernel [in_channels, out_channels / groups, window...] at k */
static inline hg_builder *hg_build_conv_transpose(hg_builder *builder, hg_type type, hg_conv_transpose_operands operands) {
    const hg_arg args[] = {operands.output, operands.input, operands.kernel, operands.batch, operands.in_channels, operands.out_channels,
                           operands.size, operands.window, operands.stride, operands.padding, operands.padding_end, operands.dilation,
                           operands.groups, operands.bias, operands.activation, operands.out};
    return hg_builder_add(builder, 0x166, type, HG_TYPE_COUNT, args, 16);
}
/** Operands of hg_build_max_pool by name. */
typedef struct hg_max_pool_operands {
    hg_arg output; /**< hg_array or hg_addr_... */
    hg_arg input; /**< hg_array or hg_addr_... */
    hg_arg planes; /**< hg_count or hg_count_reg */
    hg_arg size; /**< hg_tuple_of counts */
    hg_arg window; /**< hg_tuple_of counts */
    hg_arg stride; /**< hg_tuple_of counts; left out: 1s */
    hg_arg padding; /**< hg_tuple_of counts; left out: 0s */
    hg_arg padding_end; /**< hg_tuple_of counts; left out: as padding */
    hg_arg dilation; /**< hg_tuple_of counts; left out: 1s */
    hg_arg out; /**< hg_tuple_of counts; left out: as many as fit */
    hg_arg places; /**< hg_array or hg_addr_...; left out: not wanted */
} hg_max_pool_operands;
/** output = the largest of each window of input [planes, size...], the first NaN where one is; places, i64: where in its plane the first such one is, -1 of a window that lies outside */
static inline hg_builder *hg_build_max_pool(hg_builder *builder, hg_type type, hg_max_pool_operands operands) {
    const hg_arg args[] = {operands.output, operands.input, operands.planes, operands.size, operands.window, operands.stride,
                           operands.padding, operands.padding_end, operands.dilation, operands.out, operands.places};
    return hg_builder_add(builder, 0x163, type, HG_TYPE_COUNT, args, 11);
}
/** Operands of hg_build_avg_pool by name. */
typedef struct hg_avg_pool_operands {
    hg_arg output; /**< hg_array or hg_addr_... */
    hg_arg input; /**< hg_array or hg_addr_... */
    hg_arg planes; /**< hg_count or hg_count_reg */
    hg_arg size; /**< hg_tuple_of counts */
    hg_arg window; /**< hg_tuple_of counts */
    hg_arg stride; /**< hg_tuple_of counts; left out: 1s */
    hg_arg padding; /**< hg_tuple_of counts; left out: 0s */
    hg_arg padding_end; /**< hg_tuple_of counts; left out: as padding */
    hg_arg dilation; /**< hg_tuple_of counts; left out: 1s */
    hg_arg out; /**< hg_tuple_of counts; left out: as many as fit */
    hg_arg counted; /**< hg_flag; left out: false */
} hg_avg_pool_operands;
/** output = the sum of each window of input [planes, size...], in row order, halves in f32, over how many elements it has; counted: those of the padding too */
static inline hg_builder *hg_build_avg_pool(hg_builder *builder, hg_type type, hg_avg_pool_operands operands) {
    const hg_arg args[] = {operands.output, operands.input, operands.planes, operands.size, operands.window, operands.stride,
                           operands.padding, operands.padding_end, operands.dilation, operands.out, operands.counted};
    return hg_builder_add(builder, 0x164, type, HG_TYPE_COUNT, args, 11);
}
/** Operands of hg_build_sparse_gemm by name. */
typedef struct hg_sparse_gemm_operands {
    hg_arg c; /**< hg_array or hg_addr_... */
    hg_arg a_values; /**< hg_array or hg_addr_... */
    hg_arg a_indices; /**< hg_array or hg_addr_... */
    hg_arg a_ptr; /**< hg_array or hg_addr_... */
    hg_arg b; /**< hg_array or hg_addr_... */
    hg_arg m; /**< hg_count or hg_count_reg */
    hg_arg n; /**< hg_count or hg_count_reg */
    hg_arg k; /**< hg_count or hg_count_reg */
    hg_arg ldb; /**< hg_count or hg_count_reg; left out: rows without a gap */
    hg_arg ldc; /**< hg_count or hg_count_reg; left out: rows without a gap */
    hg_arg nnz; /**< hg_count or hg_count_reg; left out: all that their memory holds */
} hg_sparse_gemm_operands;
/** c = a b, a in compressed rows: a_ptr and a_indices are u32; a column of k or more and a falling a_ptr are faults; nnz: entries of a_values and a_indices */
static inline hg_builder *hg_build_sparse_gemm(hg_builder *builder, hg_type type, hg_sparse_gemm_operands operands) {
    const hg_arg args[] = {operands.c, operands.a_values, operands.a_indices, operands.a_ptr, operands.b, operands.m,
                           operands.n, operands.k, operands.ldb, operands.ldc, operands.nnz};
    return hg_builder_add(builder, 0x140, type, HG_TYPE_COUNT, args, 11);
}
/** Operands of hg_build_tensor_contract by name. */
typedef struct hg_tensor_contract_operands {
    hg_arg output; /**< hg_array or hg_addr_... */
    hg_arg a; /**< hg_array or hg_addr_... */
    hg_arg b; /**< hg_array or hg_addr_... */
    hg_arg shape_a; /**< hg_tuple_of counts */
    hg_arg shape_b; /**< hg_tuple_of counts */
    hg_arg contract_dims; /**< hg_tuple_of tuples */
} hg_tensor_contract_operands;
/** output = the sum of a b over pairs (axis of a, axis of b) of axes; the other axes of a, then those of b, row-major; at most 8 axes each */
static inline hg_builder *hg_build_tensor_contract(hg_builder *builder, hg_type type, hg_tensor_contract_operands operands) {
    const hg_arg args[] = {operands.output, operands.a, operands.b, operands.shape_a, operands.shape_b, operands.contract_dims};
    return hg_builder_add(builder, 0x141, type, HG_TYPE_COUNT, args, 6);
}
/** Operands of hg_build_quantized_gemm by name. */
typedef struct hg_quantized_gemm_operands {
    hg_arg c; /**< hg_array or hg_addr_... */
    hg_arg a; /**< hg_array or hg_addr_... */
    hg_arg b; /**< hg_array or hg_addr_... */
    hg_arg a_scale; /**< hg_imm_... */
    hg_arg b_scale; /**< hg_imm_... */
    hg_arg c_scale; /**< hg_imm_... */
    hg_arg m; /**< hg_count or hg_count_reg */
    hg_arg n; /**< hg_count or hg_count_reg */
    hg_arg k; /**< hg_count or hg_count_reg */
    hg_arg a_zero; /**< hg_imm_...; left out: 0 */
    hg_arg b_zero; /**< hg_imm_...; left out: 0 */
    hg_arg c_zero; /**< hg_imm_...; left out: 0 */
    hg_arg sums; /**< hg_flag; left out: false */
    hg_arg trans_b; /**< hg_flag; left out: false */
    hg_arg lda; /**< hg_count or hg_count_reg; left out: rows without a gap */
    hg_arg ldb; /**< hg_count or hg_count_reg; left out: rows without a gap */
    hg_arg ldc; /**< hg_count or hg_count_reg; left out: rows without a gap */
    hg_arg a_scales; /**< hg_array or hg_addr_...; left out: 1s */
    hg_arg b_scales; /**< hg_array or hg_addr_...; left out: 1s */
    hg_arg c_scales; /**< hg_array or hg_addr_...; left out: 1s */
    hg_arg a_zeros; /**< hg_array or hg_addr_...; left out: a_zero */
    hg_arg b_zeros; /**< hg_array or hg_addr_...; left out: b_zero */
    hg_arg c_zeros; /**< hg_array or hg_addr_...; left out: c_zero */
    hg_arg steps; /**< hg_tuple_of counts; left out: (1, 1, 1, 0) */
    hg_arg b_unsigned; /**< hg_flag; left out: false */
    hg_arg batch; /**< hg_count or hg_count_reg; left out: one matrix */
    hg_arg batch_strides; /**< hg_tuple_of counts; left out: matrices without a gap */
} hg_quantized_gemm_operands;
/** c = saturate(c_zero + rint(sum * (a_scale * b_scale / c_scale))), in f32, each step rounded; sum of (a - a_zero) (b - b_zero), an i32 that wraps; b is i8; sums: c is the sums */
static inline hg_builder *hg_build_quantized_gemm(hg_builder *builder, hg_type type, hg_quantized_gemm_operands operands) {
    const hg_arg args[] = {operands.c, operands.a, operands.b, operands.a_scale, operands.b_scale, operands.c_scale,
                           operands.m, operands.n, operands.k, operands.a_zero, operands.b_zero, operands.c_zero,
                           operands.sums, operands.trans_b, operands.lda, operands.ldb, operands.ldc, operands.a_scales,
                           operands.b_scales, operands.c_scales, operands.a_zeros, operands.b_zeros, operands.c_zeros, operands.steps,
                           operands.b_unsigned, operands.batch, operands.batch_strides};
    return hg_builder_add(builder, 0x142, type, HG_TYPE_COUNT, args, 27);
}
/** Operands of hg_build_layer_norm by name. */
typedef struct hg_layer_norm_operands {
    hg_arg output; /**< hg_array or hg_addr_... */
    hg_arg input; /**< hg_array or hg_addr_... */
    hg_arg gamma; /**< hg_array or hg_addr_... */
    hg_arg beta; /**< hg_array or hg_addr_... */
    hg_arg n; /**< hg_count or hg_count_reg */
    hg_arg eps; /**< hg_imm_... */
    hg_arg rows; /**< hg_count or hg_count_reg; left out: 1 */
    hg_arg ld; /**< hg_count or hg_count_reg; left out: rows without a gap */
    hg_arg inner; /**< hg_count or hg_count_reg; left out: 1 */
    hg_arg mean; /**< hg_array or hg_addr_...; left out: not wanted */
    hg_arg inverse_deviation; /**< hg_array or hg_addr_...; left out: not wanted */
} hg_layer_norm_operands;
/** of each line of [rows, n, inner]: output = gamma (input - mean) / sqrt(variance + eps) + beta with the mean and variance of its n elements; ld: elements from one of rows to the next */
static inline hg_builder *hg_build_layer_norm(hg_builder *builder, hg_type type, hg_layer_norm_operands operands) {
    const hg_arg args[] = {operands.output, operands.input, operands.gamma, operands.beta, operands.n, operands.eps,
                           operands.rows, operands.ld, operands.inner, operands.mean, operands.inverse_deviation};
    return hg_builder_add(builder, 0x123, type, HG_TYPE_COUNT, args, 11);
}
/** Operands of hg_build_batch_norm by name. */
typedef struct hg_batch_norm_operands {
    hg_arg output; /**< hg_array or hg_addr_... */
    hg_arg input; /**< hg_array or hg_addr_... */
    hg_arg gamma; /**< hg_array or hg_addr_... */
    hg_arg beta; /**< hg_array or hg_addr_... */
    hg_arg mean; /**< hg_array or hg_addr_... */
    hg_arg variance; /**< hg_array or hg_addr_... */
    hg_arg batch; /**< hg_count or hg_count_reg */
    hg_arg channels; /**< hg_count or hg_count_reg */
    hg_arg spatial; /**< hg_count or hg_count_reg */
    hg_arg eps; /**< hg_imm_... */
    hg_arg activation; /**< hg_arg_name; left out: identity */
} hg_batch_norm_operands;
/** output = activation(gamma (input - mean) / sqrt(variance + eps) + beta), input of batch x channels x spatial, all else of a channel */
static inline hg_builder *hg_build_batch_norm(hg_builder *builder, hg_type type, hg_batch_norm_operands operands) {
    const hg_arg args[] = {operands.output, operands.input, operands.gamma, operands.beta, operands.mean, operands.variance,
                           operands.batch, operands.channels, operands.spatial, operands.eps, operands.activation};
    return hg_builder_add(builder, 0x124, type, HG_TYPE_COUNT, args, 11);
}
/** Operands of hg_build_softmax by name. */
typedef struct hg_softmax_operands {
    hg_arg output; /**< hg_array or hg_addr_... */
    hg_arg input; /**< hg_array or hg_addr_... */
    hg_arg n; /**< hg_count or hg_count_reg */
    hg_arg rows; /**< hg_count or hg_count_reg; left out: 1 */
    hg_arg ld; /**< hg_count or hg_count_reg; left out: rows without a gap */
    hg_arg inner; /**< hg_count or hg_count_reg; left out: 1 */
} hg_softmax_operands;
/** of each line of [rows, n, inner]: output = e^(input - m) / sum of e^(input - m), m the largest of its n elements; ld: elements from one of rows to the next */
static inline hg_builder *hg_build_softmax(hg_builder *builder, hg_type type, hg_softmax_operands operands) {
    const hg_arg args[] = {operands.output, operands.input, operands.n, operands.rows, operands.ld, operands.inner};
    return hg_builder_add(builder, 0x125, type, HG_TYPE_COUNT, args, 6);
}
/** Operands of hg_build_fft by name. */
typedef struct hg_fft_operands {
    hg_arg output; /**< hg_array or hg_addr_... */
    hg_arg input; /**< hg_array or hg_addr_... */
    hg_arg n; /**< hg_count or hg_count_reg */
    hg_arg inverse; /**< hg_flag */
    hg_arg batch; /**< hg_count or hg_count_reg; left out: 1 */
    hg_arg real; /**< hg_flag; left out: false */
    hg_arg inner; /**< hg_count or hg_count_reg; left out: 1 */
} hg_fft_operands;
/** discrete Fourier transforms along n of [batch, n, inner] complex numbers, re and im side by side; the inverse is divided by n; real: n real numbers to n/2 + 1 complex ones, and back */
static inline hg_builder *hg_build_fft(hg_builder *builder, hg_type type, hg_fft_operands operands) {
    const hg_arg args[] = {operands.output, operands.input, operands.n, operands.inverse, operands.batch, operands.real,
                           operands.inner};
    return hg_builder_add(builder, 0x127, type, HG_TYPE_COUNT, args, 7);
}
/** Operands of hg_build_mixed_precision_gemm by name. */
typedef struct hg_mixed_precision_gemm_operands {
    hg_arg c; /**< hg_array or hg_addr_... */
    hg_arg a; /**< hg_array or hg_addr_... */
    hg_arg b; /**< hg_array or hg_addr_... */
    hg_arg m; /**< hg_count or hg_count_reg */
    hg_arg n; /**< hg_count or hg_count_reg */
    hg_arg k; /**< hg_count or hg_count_reg */
    hg_arg alpha; /**< hg_imm_...; left out: 1 */
    hg_arg beta; /**< hg_imm_...; left out: 0 */
    hg_arg trans_a; /**< hg_flag; left out: false */
    hg_arg trans_b; /**< hg_flag; left out: false */
    hg_arg lda; /**< hg_count or hg_count_reg; left out: rows without a gap */
    hg_arg ldb; /**< hg_count or hg_count_reg; left out: rows without a gap */
    hg_arg ldc; /**< hg_count or hg_count_reg; left out: rows without a gap */
    hg_arg bias; /**< hg_array or hg_addr_...; left out: no bias */
    hg_arg activation; /**< hg_arg_name; left out: identity */
    hg_arg bias_strides; /**< hg_tuple_of counts; left out: (0, 1) */
    hg_arg accumulate; /**< hg_flag; left out: false */
} hg_mixed_precision_gemm_operands;
/** gemm of f16 or bf16 matrices; c, bias and all sums are f32 */
static inline hg_builder *hg_build_mixed_precision_gemm(hg_builder *builder, hg_type type, hg_mixed_precision_gemm_operands operands) {
    const hg_arg args[] = {operands.c, operands.a, operands.b, operands.m, operands.n, operands.k,
                           operands.alpha, operands.beta, operands.trans_a, operands.trans_b, operands.lda, operands.ldb,
                           operands.ldc, operands.bias, operands.activation, operands.bias_strides, operands.accumulate};
    return hg_builder_add(builder, 0x143, type, HG_TYPE_COUNT, args, 17);
}
/** Operands of hg_build_group_norm by name. */
typedef struct hg_group_norm_operands {
    hg_arg output; /**< hg_array or hg_addr_... */
    hg_arg input; /**< hg_array or hg_addr_... */
    hg_arg gamma; /**< hg_array or hg_addr_... */
    hg_arg beta; /**< hg_array or hg_addr_... */
    hg_arg batch; /**< hg_count or hg_count_reg */
    hg_arg channels; /**< hg_count or hg_count_reg */
    hg_arg groups; /**< hg_count or hg_count_reg */
    hg_arg spatial; /**< hg_count or hg_count_reg */
    hg_arg eps; /**< hg_imm_... */
    hg_arg activation; /**< hg_arg_name; left out: identity */
} hg_group_norm_operands;
/** batch_norm with the mean and variance of each batch's group of channels / groups channels; gamma and beta of channels */
static inline hg_builder *hg_build_group_norm(hg_builder *builder, hg_type type, hg_group_norm_operands operands) {
    const hg_arg args[] = {operands.output, operands.input, operands.gamma, operands.beta, operands.batch, operands.channels,
                           operands.groups, operands.spatial, operands.eps, operands.activation};
    return hg_builder_add(builder, 0x145, type, HG_TYPE_COUNT, args, 10);
}
/** Operands of hg_build_layer_scale by name. */
typedef struct hg_layer_scale_operands {
    hg_arg output; /**< hg_array or hg_addr_... */
    hg_arg input; /**< hg_array or hg_addr_... */
    hg_arg scale; /**< hg_array or hg_addr_... */
    hg_arg n; /**< hg_count or hg_count_reg */
    hg_arg rows; /**< hg_count or hg_count_reg; left out: 1 */
} hg_layer_scale_operands;
/** of each row: output[i] = input[i] scale[i] */
static inline hg_builder *hg_build_layer_scale(hg_builder *builder, hg_type type, hg_layer_scale_operands operands) {
    const hg_arg args[] = {operands.output, operands.input, operands.scale, operands.n, operands.rows};
    return hg_builder_add(builder, 0x146, type, HG_TYPE_COUNT, args, 5);
}
/** Operands of hg_build_rope by name. */
typedef struct hg_rope_operands {
    hg_arg output; /**< hg_array or hg_addr_... */
    hg_arg input; /**< hg_array or hg_addr_... */
    hg_arg freqs; /**< hg_array or hg_addr_... */
    hg_arg batch; /**< hg_count or hg_count_reg */
    hg_arg seq_len; /**< hg_count or hg_count_reg */
    hg_arg heads; /**< hg_count or hg_count_reg */
    hg_arg head_dim; /**< hg_count or hg_count_reg */
    hg_arg position; /**< hg_count or hg_count_reg; left out: 0 */
    hg_arg halves; /**< hg_flag; left out: false */
    hg_arg sin; /**< hg_array or hg_addr_...; left out: that of the angle */
    hg_arg rotary_dim; /**< hg_count or hg_count_reg; left out: head_dim */
    hg_arg freqs_strides; /**< hg_tuple_of counts; left out: no gaps */
    hg_arg sin_strides; /**< hg_tuple_of counts; left out: no gaps */
    hg_arg input_strides; /**< hg_tuple_of counts; left out: no gaps */
    hg_arg output_strides; /**< hg_tuple_of counts; left out: no gaps */
} hg_rope_operands;
/** turns pairs (2i, 2i+1), with halves (i, i + rotary_dim/2), of [batch, seq_len, heads, head_dim] by the angle (position + place) freqs[i], or by cosines, freqs, and sin; the rest stays */
static inline hg_builder *hg_build_rope(hg_builder *builder, hg_type type, hg_rope_operands operands) {
    const hg_arg args[] = {operands.output, operands.input, operands.freqs, operands.batch, operands.seq_len, operands.heads,
                           operands.head_dim, operands.position, operands.halves, operands.sin, operands.rotary_dim, operands.freqs_strides,
                           operands.sin_strides, operands.input_strides, operands.output_strides};
    return hg_builder_add(builder, 0x147, type, HG_TYPE_COUNT, args, 15);
}
/** Operands of hg_build_kv_cache_update by name. */
typedef struct hg_kv_cache_update_operands {
    hg_arg cache; /**< hg_array or hg_addr_... */
    hg_arg new_kv; /**< hg_array or hg_addr_... */
    hg_arg position; /**< hg_count or hg_count_reg */
    hg_arg batch; /**< hg_count or hg_count_reg */
    hg_arg heads; /**< hg_count or hg_count_reg */
    hg_arg head_dim; /**< hg_count or hg_count_reg */
    hg_arg seq_len; /**< hg_count or hg_count_reg; left out: 1 */
} hg_kv_cache_update_operands;
/** cache[position + s] = new_kv[s] for s < seq_len, each of batch x heads x head_dim elements */
static inline hg_builder *hg_build_kv_cache_update(hg_builder *builder, hg_type type, hg_kv_cache_update_operands operands) {
    const hg_arg args[] = {operands.cache, operands.new_kv, operands.position, operands.batch, operands.heads, operands.head_dim,
                           operands.seq_len};
    return hg_builder_add(builder, 0x148, type, HG_TYPE_COUNT, args, 7);
}
/** Operands of hg_build_all_reduce by name. */
typedef struct hg_all_reduce_operands {
    hg_arg buffer; /**< hg_array or hg_addr_... */
    hg_arg n; /**< hg_count or hg_count_reg */
    hg_arg operation; /**< hg_arg_name */
    hg_arg devices; /**< hg_tuple_of counts; left out: all of the communicator */
} hg_all_reduce_operands;
/** buffer = operation over n elements of each device, on all of them, by the tree of reductions in the order of the list; one device: no change */
static inline hg_builder *hg_build_all_reduce(hg_builder *builder, hg_type type, hg_all_reduce_operands operands) {
    const hg_arg args[] = {operands.buffer, operands.n, operands.operation, operands.devices};
    return hg_builder_add(builder, 0x149, type, HG_TYPE_COUNT, args, 4);
}
/** Operands of hg_build_all_gather by name. */
typedef struct hg_all_gather_operands {
    hg_arg output; /**< hg_array or hg_addr_... */
    hg_arg input; /**< hg_array or hg_addr_... */
    hg_arg n; /**< hg_count or hg_count_reg */
    hg_arg devices; /**< hg_tuple_of counts; left out: all of the communicator */
} hg_all_gather_operands;
/** output = n elements of each device, in the order of the list */
static inline hg_builder *hg_build_all_gather(hg_builder *builder, hg_type type, hg_all_gather_operands operands) {
    const hg_arg args[] = {operands.output, operands.input, operands.n, operands.devices};
    return hg_builder_add(builder, 0x14A, type, HG_TYPE_COUNT, args, 4);
}
/** Operands of hg_build_reduce_scatter by name. */
typedef struct hg_reduce_scatter_operands {
    hg_arg output; /**< hg_array or hg_addr_... */
    hg_arg input; /**< hg_array or hg_addr_... */
    hg_arg n; /**< hg_count or hg_count_reg */
    hg_arg operation; /**< hg_arg_name */
    hg_arg devices; /**< hg_tuple_of counts; left out: all of the communicator */
} hg_reduce_scatter_operands;
/** output = operation over the i-th n elements of input of each device, on the i-th one of the list; one device: a copy */
static inline hg_builder *hg_build_reduce_scatter(hg_builder *builder, hg_type type, hg_reduce_scatter_operands operands) {
    const hg_arg args[] = {operands.output, operands.input, operands.n, operands.operation, operands.devices};
    return hg_builder_add(builder, 0x14B, type, HG_TYPE_COUNT, args, 5);
}
/** Operands of hg_build_broadcast by name. */
typedef struct hg_broadcast_operands {
    hg_arg buffer; /**< hg_array or hg_addr_... */
    hg_arg n; /**< hg_count or hg_count_reg */
    hg_arg root; /**< hg_count or hg_count_reg; left out: 0 */
    hg_arg devices; /**< hg_tuple_of counts; left out: all of the communicator */
} hg_broadcast_operands;
/** buffer = n elements of the device root, on all of them; one device: no change */
static inline hg_builder *hg_build_broadcast(hg_builder *builder, hg_type type, hg_broadcast_operands operands) {
    const hg_arg args[] = {operands.buffer, operands.n, operands.root, operands.devices};
    return hg_builder_add(builder, 0x14C, type, HG_TYPE_COUNT, args, 4);
}
/** Operands of hg_build_reduce_axis by name. */
typedef struct hg_reduce_axis_operands {
    hg_arg output; /**< hg_array or hg_addr_... */
    hg_arg input; /**< hg_array or hg_addr_... */
    hg_arg n; /**< hg_count or hg_count_reg */
    hg_arg operation; /**< hg_arg_name; left out: sum */
    hg_arg outer; /**< hg_count or hg_count_reg; left out: 1 */
    hg_arg inner; /**< hg_count or hg_count_reg; left out: 1 */
} hg_reduce_axis_operands;
/** output [outer, inner] = fold of each line of input [outer, n, inner] along n by the fixed tree; halves in f32, rounded once at the end */
static inline hg_builder *hg_build_reduce_axis(hg_builder *builder, hg_type type, hg_reduce_axis_operands operands) {
    const hg_arg args[] = {operands.output, operands.input, operands.n, operands.operation, operands.outer, operands.inner};
    return hg_builder_add(builder, 0x162, type, HG_TYPE_COUNT, args, 6);
}
/** Operands of hg_build_sort by name. */
typedef struct hg_sort_operands {
    hg_arg output; /**< hg_array or hg_addr_...; left out: indices alone */
    hg_arg indices; /**< hg_array or hg_addr_...; left out: no indices */
    hg_arg input; /**< hg_array or hg_addr_... */
    hg_arg n; /**< hg_count or hg_count_reg */
    hg_arg outer; /**< hg_count or hg_count_reg; left out: 1 */
    hg_arg inner; /**< hg_count or hg_count_reg; left out: 1 */
    hg_arg descending; /**< hg_flag; left out: false */
    hg_arg wide; /**< hg_flag; left out: false */
} hg_sort_operands;
/** output = the n elements of each row in order, equal ones as they were; indices: where they were; NaNs are the largest, -0 equals 0; input of outer x n x inner; wide: indices are i64, else u32 */
static inline hg_builder *hg_build_sort(hg_builder *builder, hg_type type, hg_sort_operands operands) {
    const hg_arg args[] = {operands.output, operands.indices, operands.input, operands.n, operands.outer, operands.inner,
                           operands.descending, operands.wide};
    return hg_builder_add(builder, 0x160, type, HG_TYPE_COUNT, args, 8);
}
/** Operands of hg_build_top_k by name. */
typedef struct hg_top_k_operands {
    hg_arg output; /**< hg_array or hg_addr_...; left out: indices alone */
    hg_arg indices; /**< hg_array or hg_addr_...; left out: no indices */
    hg_arg input; /**< hg_array or hg_addr_... */
    hg_arg n; /**< hg_count or hg_count_reg */
    hg_arg k; /**< hg_count or hg_count_reg */
    hg_arg outer; /**< hg_count or hg_count_reg; left out: 1 */
    hg_arg inner; /**< hg_count or hg_count_reg; left out: 1 */
    hg_arg smallest; /**< hg_flag; left out: false */
    hg_arg wide; /**< hg_flag; left out: false */
} hg_top_k_operands;
/** the first k of sort, descending, of each row; smallest: ascending */
static inline hg_builder *hg_build_top_k(hg_builder *builder, hg_type type, hg_top_k_operands operands) {
    const hg_arg args[] = {operands.output, operands.indices, operands.input, operands.n, operands.k, operands.outer,
                           operands.inner, operands.smallest, operands.wide};
    return hg_builder_add(builder, 0x161, type, HG_TYPE_COUNT, args, 9);
}
/** Operands of hg_build_attention by name. */
typedef struct hg_attention_operands {
    hg_arg output; /**< hg_array or hg_addr_... */
    hg_arg query; /**< hg_array or hg_addr_... */
    hg_arg key; /**< hg_array or hg_addr_... */
    hg_arg value; /**< hg_array or hg_addr_... */
    hg_arg batch; /**< hg_count or hg_count_reg */
    hg_arg heads; /**< hg_count or hg_count_reg */
    hg_arg seq_len; /**< hg_count or hg_count_reg */
    hg_arg head_dim; /**< hg_count or hg_count_reg */
    hg_arg kv_heads; /**< hg_count or hg_count_reg; left out: heads */
    hg_arg kv_len; /**< hg_count or hg_count_reg; left out: seq_len */
    hg_arg causal; /**< hg_flag; left out: false */
    hg_arg mask; /**< hg_array or hg_addr_...; left out: no mask */
    hg_arg mask_strides; /**< hg_tuple_of counts; left out: the same mask for all */
    hg_arg scale; /**< hg_imm_...; left out: 1 / sqrt(head_dim) */
    hg_arg value_dim; /**< hg_count or hg_count_reg; left out: head_dim */
    hg_arg query_strides; /**< hg_tuple_of counts; left out: without gaps */
    hg_arg key_strides; /**< hg_tuple_of counts; left out: without gaps */
    hg_arg value_strides; /**< hg_tuple_of counts; left out: without gaps */
    hg_arg output_strides; /**< hg_tuple_of counts; left out: without gaps */
    hg_arg from_start; /**< hg_flag; left out: false */
    hg_arg lengths; /**< hg_array or hg_addr_...; left out: kv_len of each batch */
    hg_arg wide; /**< hg_flag; left out: false */
    hg_arg mask_row; /**< hg_count or hg_count_reg; left out: kv_len */
    hg_arg seen; /**< hg_array or hg_addr_...; left out: all keys */
    hg_arg seen_strides; /**< hg_tuple_of counts; left out: without gaps */
    hg_arg softcap; /**< hg_imm_...; left out: 0 */
    hg_arg scores; /**< hg_array or hg_addr_...; left out: no scores */
    hg_arg products; /**< hg_flag; left out: false */
    hg_arg masked; /**< hg_flag; left out: false */
} hg_attention_operands;
/** output = softmax(scale query key^T + mask) value of each batch and head; query and output are [batch, heads, seq_len, head_dim], key and value [batch, kv_heads, kv_len, head_dim] */
static inline hg_builder *hg_build_attention(hg_builder *builder, hg_type type, hg_attention_operands operands) {
    const hg_arg args[] = {operands.output, operands.query, operands.key, operands.value, operands.batch, operands.heads,
                           operands.seq_len, operands.head_dim, operands.kv_heads, operands.kv_len, operands.causal, operands.mask,
                           operands.mask_strides, operands.scale, operands.value_dim, operands.query_strides, operands.key_strides, operands.value_strides,
                           operands.output_strides, operands.from_start, operands.lengths, operands.wide, operands.mask_row, operands.seen,
                           operands.seen_strides, operands.softcap, operands.scores, operands.products, operands.masked};
    return hg_builder_add(builder, 0x126, type, HG_TYPE_COUNT, args, 29);
}
/** Operands of hg_build_flash_attention by name. */
typedef struct hg_flash_attention_operands {
    hg_arg output; /**< hg_array or hg_addr_... */
    hg_arg query; /**< hg_array or hg_addr_... */
    hg_arg key; /**< hg_array or hg_addr_... */
    hg_arg value; /**< hg_array or hg_addr_... */
    hg_arg batch; /**< hg_count or hg_count_reg */
    hg_arg heads; /**< hg_count or hg_count_reg */
    hg_arg seq_len; /**< hg_count or hg_count_reg */
    hg_arg head_dim; /**< hg_count or hg_count_reg */
    hg_arg block_size; /**< hg_count or hg_count_reg */
    hg_arg kv_heads; /**< hg_count or hg_count_reg; left out: heads */
    hg_arg kv_len; /**< hg_count or hg_count_reg; left out: seq_len */
    hg_arg causal; /**< hg_flag; left out: false */
    hg_arg mask; /**< hg_array or hg_addr_...; left out: no mask */
    hg_arg mask_strides; /**< hg_tuple_of counts; left out: the same mask for all */
    hg_arg scale; /**< hg_imm_...; left out: 1 / sqrt(head_dim) */
    hg_arg value_dim; /**< hg_count or hg_count_reg; left out: head_dim */
    hg_arg query_strides; /**< hg_tuple_of counts; left out: without gaps */
    hg_arg key_strides; /**< hg_tuple_of counts; left out: without gaps */
    hg_arg value_strides; /**< hg_tuple_of counts; left out: without gaps */
    hg_arg output_strides; /**< hg_tuple_of counts; left out: without gaps */
    hg_arg from_start; /**< hg_flag; left out: false */
    hg_arg lengths; /**< hg_array or hg_addr_...; left out: kv_len of each batch */
    hg_arg wide; /**< hg_flag; left out: false */
    hg_arg mask_row; /**< hg_count or hg_count_reg; left out: kv_len */
    hg_arg seen; /**< hg_array or hg_addr_...; left out: all keys */
    hg_arg seen_strides; /**< hg_tuple_of counts; left out: without gaps */
    hg_arg softcap; /**< hg_imm_...; left out: 0 */
    hg_arg scores; /**< hg_array or hg_addr_...; left out: no scores */
    hg_arg products; /**< hg_flag; left out: false */
    hg_arg masked; /**< hg_flag; left out: false */
} hg_flash_attention_operands;
/** attention; block_size, at least 1, is a hint and changes no bit */
static inline hg_builder *hg_build_flash_attention(hg_builder *builder, hg_type type, hg_flash_attention_operands operands) {
    const hg_arg args[] = {operands.output, operands.query, operands.key, operands.value, operands.batch, operands.heads,
                           operands.seq_len, operands.head_dim, operands.block_size, operands.kv_heads, operands.kv_len, operands.causal,
                           operands.mask, operands.mask_strides, operands.scale, operands.value_dim, operands.query_strides, operands.key_strides,
                           operands.value_strides, operands.output_strides, operands.from_start, operands.lengths, operands.wide, operands.mask_row,
                           operands.seen, operands.seen_strides, operands.softcap, operands.scores, operands.products, operands.masked};
    return hg_builder_add(builder, 0x144, type, HG_TYPE_COUNT, args, 30);
}
/** Operands of hg_build_scan by name. */
typedef struct hg_scan_operands {
    hg_arg output; /**< hg_array or hg_addr_... */
    hg_arg input; /**< hg_array or hg_addr_... */
    hg_arg n; /**< hg_count or hg_count_reg */
    hg_arg operation; /**< hg_arg_name; left out: sum */
    hg_arg outer; /**< hg_count or hg_count_reg; left out: 1 */
    hg_arg inner; /**< hg_count or hg_count_reg; left out: 1 */
    hg_arg exclusive; /**< hg_flag; left out: false */
    hg_arg reverse; /**< hg_flag; left out: false */
} hg_scan_operands;
/** of each line of n elements of [outer, n, inner]: output = fold of those up to it, in a fixed order, halves in f32; exclusive: of those before it; reverse: from the end */
static inline hg_builder *hg_build_scan(hg_builder *builder, hg_type type, hg_scan_operands operands) {
    const hg_arg args[] = {operands.output, operands.input, operands.n, operands.operation, operands.outer, operands.inner,
                           operands.exclusive, operands.reverse};
    return hg_builder_add(builder, 0x150, type, HG_TYPE_COUNT, args, 8);
}
/** Operands of hg_build_gather by name. */
typedef struct hg_gather_operands {
    hg_arg output; /**< hg_array or hg_addr_... */
    hg_arg input; /**< hg_array or hg_addr_... */
    hg_arg indices; /**< hg_array or hg_addr_... */
    hg_arg n; /**< hg_count or hg_count_reg */
    hg_arg count; /**< hg_count or hg_count_reg */
    hg_arg outer; /**< hg_count or hg_count_reg; left out: 1 */
    hg_arg inner; /**< hg_count or hg_count_reg; left out: 1 */
    hg_arg wide; /**< hg_flag; left out: false */
} hg_gather_operands;
/** output[o, j, i] = input[o, indices[j], i], input of outer x n x inner, count indices of u32; wide: of i64, below 0 from the end; one that is outside is a fault */
static inline hg_builder *hg_build_gather(hg_builder *builder, hg_type type, hg_gather_operands operands) {
    const hg_arg args[] = {operands.output, operands.input, operands.indices, operands.n, operands.count, operands.outer,
                           operands.inner, operands.wide};
    return hg_builder_add(builder, 0x151, type, HG_TYPE_COUNT, args, 8);
}
/** Operands of hg_build_scatter by name. */
typedef struct hg_scatter_operands {
    hg_arg output; /**< hg_array or hg_addr_... */
    hg_arg input; /**< hg_array or hg_addr_... */
    hg_arg indices; /**< hg_array or hg_addr_... */
    hg_arg n; /**< hg_count or hg_count_reg */
    hg_arg count; /**< hg_count or hg_count_reg */
    hg_arg outer; /**< hg_count or hg_count_reg; left out: 1 */
    hg_arg inner; /**< hg_count or hg_count_reg; left out: 1 */
    hg_arg wide; /**< hg_flag; left out: false */
} hg_scatter_operands;
/** output[o, indices[j], i] = input[o, j, i] in the order of j, output of outer x n x inner; indices as gather's */
static inline hg_builder *hg_build_scatter(hg_builder *builder, hg_type type, hg_scatter_operands operands) {
    const hg_arg args[] = {operands.output, operands.input, operands.indices, operands.n, operands.count, operands.outer,
                           operands.inner, operands.wide};
    return hg_builder_add(builder, 0x152, type, HG_TYPE_COUNT, args, 8);
}
/** Operands of hg_build_scatter_add by name. */
typedef struct hg_scatter_add_operands {
    hg_arg output; /**< hg_array or hg_addr_... */
    hg_arg input; /**< hg_array or hg_addr_... */
    hg_arg indices; /**< hg_array or hg_addr_... */
    hg_arg n; /**< hg_count or hg_count_reg */
    hg_arg count; /**< hg_count or hg_count_reg */
    hg_arg outer; /**< hg_count or hg_count_reg; left out: 1 */
    hg_arg inner; /**< hg_count or hg_count_reg; left out: 1 */
    hg_arg wide; /**< hg_flag; left out: false */
} hg_scatter_add_operands;
/** output[o, indices[j], i] += input[o, j, i] in the order of j, halves in f32, rounded once at the end; integers wrap; indices as gather's */
static inline hg_builder *hg_build_scatter_add(hg_builder *builder, hg_type type, hg_scatter_add_operands operands) {
    const hg_arg args[] = {operands.output, operands.input, operands.indices, operands.n, operands.count, operands.outer,
                           operands.inner, operands.wide};
    return hg_builder_add(builder, 0x153, type, HG_TYPE_COUNT, args, 8);
}
/** Operands of hg_build_segment_reduce by name. */
typedef struct hg_segment_reduce_operands {
    hg_arg output; /**< hg_array or hg_addr_... */
    hg_arg input; /**< hg_array or hg_addr_... */
    hg_arg offsets; /**< hg_array or hg_addr_... */
    hg_arg segments; /**< hg_count or hg_count_reg */
    hg_arg n; /**< hg_count or hg_count_reg */
    hg_arg operation; /**< hg_arg_name; left out: sum */
    hg_arg inner; /**< hg_count or hg_count_reg; left out: 1 */
    hg_arg wide; /**< hg_flag; left out: false */
} hg_segment_reduce_operands;
/** output[s, i] = fold of input[offsets[s], i] up to and without input[offsets[s + 1], i] by the fixed tree; segments + 1 offsets of u32, wide: of i64; those that fall or are above n are a fault */
static inline hg_builder *hg_build_segment_reduce(hg_builder *builder, hg_type type, hg_segment_reduce_operands operands) {
    const hg_arg args[] = {operands.output, operands.input, operands.offsets, operands.segments, operands.n, operands.operation,
                           operands.inner, operands.wide};
    return hg_builder_add(builder, 0x154, type, HG_TYPE_COUNT, args, 8);
}
/** Operands of hg_build_arg_max by name. */
typedef struct hg_arg_max_operands {
    hg_arg output; /**< hg_array or hg_addr_... */
    hg_arg input; /**< hg_array or hg_addr_... */
    hg_arg n; /**< hg_count or hg_count_reg */
    hg_arg outer; /**< hg_count or hg_count_reg; left out: 1 */
    hg_arg inner; /**< hg_count or hg_count_reg; left out: 1 */
} hg_arg_max_operands;
/** output[o, i], an i64, = the place along n of the first largest of input[o, n, i]; of the first NaN where one is */
static inline hg_builder *hg_build_arg_max(hg_builder *builder, hg_type type, hg_arg_max_operands operands) {
    const hg_arg args[] = {operands.output, operands.input, operands.n, operands.outer, operands.inner};
    return hg_builder_add(builder, 0x155, type, HG_TYPE_COUNT, args, 5);
}
/** Operands of hg_build_arg_min by name. */
typedef struct hg_arg_min_operands {
    hg_arg output; /**< hg_array or hg_addr_... */
    hg_arg input; /**< hg_array or hg_addr_... */
    hg_arg n; /**< hg_count or hg_count_reg */
    hg_arg outer; /**< hg_count or hg_count_reg; left out: 1 */
    hg_arg inner; /**< hg_count or hg_count_reg; left out: 1 */
} hg_arg_min_operands;
/** the same of the first smallest */
static inline hg_builder *hg_build_arg_min(hg_builder *builder, hg_type type, hg_arg_min_operands operands) {
    const hg_arg args[] = {operands.output, operands.input, operands.n, operands.outer, operands.inner};
    return hg_builder_add(builder, 0x156, type, HG_TYPE_COUNT, args, 5);
}
/** Operands of hg_build_log_softmax by name. */
typedef struct hg_log_softmax_operands {
    hg_arg output; /**< hg_array or hg_addr_... */
    hg_arg input; /**< hg_array or hg_addr_... */
    hg_arg n; /**< hg_count or hg_count_reg */
    hg_arg rows; /**< hg_count or hg_count_reg; left out: 1 */
    hg_arg ld; /**< hg_count or hg_count_reg; left out: rows without a gap */
    hg_arg inner; /**< hg_count or hg_count_reg; left out: 1 */
} hg_log_softmax_operands;
/** of each line of [rows, n, inner]: output = input - m - log(sum of e^(input - m)), m the largest of its n elements; ld: elements from one of rows to the next */
static inline hg_builder *hg_build_log_softmax(hg_builder *builder, hg_type type, hg_log_softmax_operands operands) {
    const hg_arg args[] = {operands.output, operands.input, operands.n, operands.rows, operands.ld, operands.inner};
    return hg_builder_add(builder, 0x157, type, HG_TYPE_COUNT, args, 6);
}
/** Operands of hg_build_rms_norm by name. */
typedef struct hg_rms_norm_operands {
    hg_arg output; /**< hg_array or hg_addr_... */
    hg_arg input; /**< hg_array or hg_addr_... */
    hg_arg gamma; /**< hg_array or hg_addr_... */
    hg_arg n; /**< hg_count or hg_count_reg */
    hg_arg eps; /**< hg_imm_... */
    hg_arg rows; /**< hg_count or hg_count_reg; left out: 1 */
    hg_arg ld; /**< hg_count or hg_count_reg; left out: rows without a gap */
    hg_arg inner; /**< hg_count or hg_count_reg; left out: 1 */
    hg_arg inverse_deviation; /**< hg_array or hg_addr_...; left out: not wanted */
} hg_rms_norm_operands;
/** of each line of [rows, n, inner]: output = gamma input / sqrt(mean of input^2 + eps); ld: elements from one of rows to the next */
static inline hg_builder *hg_build_rms_norm(hg_builder *builder, hg_type type, hg_rms_norm_operands operands) {
    const hg_arg args[] = {operands.output, operands.input, operands.gamma, operands.n, operands.eps, operands.rows,
                           operands.ld, operands.inner, operands.inverse_deviation};
    return hg_builder_add(builder, 0x158, type, HG_TYPE_COUNT, args, 9);
}

#ifdef __cplusplus
}
#endif
#endif
