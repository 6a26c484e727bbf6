/* Integer arithmetic whose result is more than one word of the operands' width: high halves,
 * products of twice the width, sums of products of bytes, carries, sums that stop at the ends of
 * their type, powers with a modulus.
 * Must not know: targets. */
#include "kir/builder.h"
#include "kir/define/define.h"
#include "kir/define/define_internal.h"

static kir_value *zero_of(kir_builder *b, kir_value *like) { return kir_const(b, like->type, 0); }
static kir_value *is_negative(kir_builder *b, kir_value *x) {
    return kir_binary(b, KIR_CMP_SLT, x, zero_of(b, x));
}

/* ---- products ---- */

/* The high half of a product of bit patterns from four products of halves, each of which fits: sums
 * of columns cannot overflow. */
static kir_value *high_of_halves(kir_builder *b, kir_value *x, kir_value *y) {
    uint8_t type = x->type, half = (uint8_t)(type - 1);
    uint32_t bits = kir_type_bits(half);
    kir_value *x0 = kir_convert(b, KIR_ZEXT, type, kir_convert(b, KIR_TRUNC, half, x)),
              *x1 = int_shr(b, x, bits);
    kir_value *y0 = kir_convert(b, KIR_ZEXT, type, kir_convert(b, KIR_TRUNC, half, y)),
              *y1 = int_shr(b, y, bits);
    kir_value *low = int_shr(b, kir_mul(b, x0, y0), bits), *one = kir_mul(b, x0, y1),
              *other = kir_mul(b, x1, y0);
    kir_value *middle = kir_add(
        b, low, kir_convert(b, KIR_ZEXT, type, kir_convert(b, KIR_TRUNC, half, one)));
    middle = kir_add(b, middle,
                     kir_convert(b, KIR_ZEXT, type, kir_convert(b, KIR_TRUNC, half, other)));
    kir_value *high = kir_add(b, kir_mul(b, x1, y1), int_shr(b, one, bits));
    high = kir_add(b, high, int_shr(b, other, bits));
    return kir_add(b, high, int_shr(b, middle, bits));
}

/* A negative operand's bit pattern is 2^width more than the operand: the high half has the other
 * operand too much. */
kir_value *define_mulhi(kir_builder *b, hg_type type, kir_value *const *arg) {
    kir_value *x = arg[0], *y = arg[1];
    kir_value *high = kir_type_bits(x->type) > 64 ? high_of_halves(b, x, y)
                                                  : kir_binary(b, KIR_MULHI_U, x, y);
    if (!hg_type_is_signed(type)) return high;
    high = kir_sub(b, high, kir_select(b, is_negative(b, x), y, zero_of(b, x)));
    return kir_sub(b, high, kir_select(b, is_negative(b, y), x, zero_of(b, x)));
}

kir_value *kir_mul_wide(kir_builder *b, hg_type twice, kir_value *x, kir_value *y) {
    kir_op extend = hg_type_is_signed(twice) ? KIR_SEXT : KIR_ZEXT;
    uint8_t type = kir_type_of(twice);
    kir_value *wide = kir_convert(b, extend, type, x);
    return kir_mul(b, wide, kir_convert(b, extend, type, y));
}

/* A byte of a word as a whole number. */
static kir_value *byte_of(kir_builder *b, kir_value *word, uint32_t place, bool is_signed) {
    if (is_signed)
        return kir_binary(b, KIR_ASHR, int_shl(b, word, 24 - 8 * place),
                          kir_const(b, HG_TYPE_U32, 24));
    return int_and(b, int_shr(b, word, 8 * place), 0xFF);
}

/* The products are below 2^16: their sum is exact, and that of all wraps. */
kir_value *define_dot4(kir_builder *b, hg_type type, kir_value *const *arg) {
    kir_value *sum = arg[2];
    for (uint32_t i = 0; i < 4; i++)
        sum = kir_add(b, sum,
                      kir_mul(b, byte_of(b, arg[0], i, hg_type_is_signed(type)),
                              byte_of(b, arg[1], i, true)));
    return sum;
}

/* ---- powers ---- */

/* x y mod m of words. */
static kir_value *mulmod(kir_builder *b, hg_type type, kir_value *x, kir_value *y, kir_value *m) {
    kir_value *product = kir_mul_wide(b, (hg_type)(kir_type_of(type) + 1), x, y);
    kir_value *rest = kir_binary(b, KIR_UREM, product, kir_convert(b, KIR_ZEXT, product->type, m));
    return kir_convert(b, KIR_TRUNC, x->type, rest);
}

/* Of words; of wide integers it is a function of limbs (legalise/wide_divide.c). Square and
 * multiply, from the exponent's highest bit. 1 mod 1 is 0, and so is everything after it. */
kir_value *define_powm(kir_builder *b, hg_type type, kir_value *const *arg) {
    kir_value *base = arg[0], *exponent = arg[1], *m = arg[2], *one = kir_const(b, m->type, 1),
              *nothing = kir_const(b, HG_TYPE_U32, 0);
    uint32_t bits = kir_type_bits(m->type);
    kir_var *power = kir_var_create(b->module, b->function, m->type, 0, NULL);
    kir_var *left = kir_var_create(b->module, b->function, HG_TYPE_U32, 0, NULL);
    kir_set(b, power, kir_select(b, kir_binary(b, KIR_CMP_EQ, m, one), zero_of(b, m), one));
    kir_value *zeros = define_clz(b, type, &exponent);
    if (zeros->type != HG_TYPE_U32)
        zeros = kir_convert(b, bits < 32 ? KIR_ZEXT : KIR_TRUNC, HG_TYPE_U32, zeros);
    kir_set(b, left, kir_sub(b, kir_const(b, HG_TYPE_U32, bits), zeros));
    kir_value *loop = kir_loop_begin(b, true);
    kir_value *n = kir_get(b, left), *done = kir_if_begin(b, kir_binary(b, KIR_CMP_EQ, n, nothing));
    kir_break(b);
    kir_if_end(b, done);
    n = int_add(b, n, UINT32_MAX);
    kir_set(b, left, n);
    kir_value *x = kir_get(b, power);
    kir_set(b, power, mulmod(b, type, x, x, m));
    kir_value *bit = kir_binary(b, KIR_LSHR, exponent, n);
    kir_value *odd = kir_if_begin(
        b, kir_not(b, kir_binary(b, KIR_CMP_EQ, int_and(b, bit, 1), zero_of(b, bit))));
    kir_set(b, power, mulmod(b, type, kir_get(b, power), base, m));
    kir_if_end(b, odd);
    kir_loop_end(b, loop);
    return kir_get(b, power);
}

/* ---- carries ---- */

kir_value *kir_carry(kir_builder *b, bool subtract, kir_value *x, kir_value *y, kir_value *in,
                     kir_value **out) {
    kir_value *sum = subtract ? kir_sub(b, x, y) : kir_add(b, x, y);
    *out = subtract ? kir_binary(b, KIR_CMP_ULT, x, y) : kir_binary(b, KIR_CMP_ULT, sum, x);
    if (!in) return sum;
    kir_value *one = kir_select(b, in, kir_const(b, x->type, 1), zero_of(b, x));
    kir_value *all = subtract ? kir_sub(b, sum, one) : kir_add(b, sum, one);
    kir_value *again = subtract ? kir_binary(b, KIR_CMP_ULT, sum, one)
                                : kir_binary(b, KIR_CMP_ULT, all, sum);
    *out = kir_binary(b, KIR_OR, *out, again);
    return all;
}

/* ---- ends of the type ---- */

/* Signed: where it overflows, the end on x's side: MAX, and MIN = MAX + 1 below zero. */
static kir_value *stop_signed(kir_builder *b, kir_value *sum, kir_value *overflow, kir_value *x) {
    uint32_t top = kir_type_bits(x->type) - 1;
    kir_value *ones = kir_sub(b, zero_of(b, x), kir_const(b, x->type, 1));
    kir_value *end = kir_binary(b, KIR_XOR, int_shr(b, ones, 1),
                                kir_binary(b, KIR_ASHR, x, kir_const(b, HG_TYPE_U32, top)));
    return kir_select(b, is_negative(b, overflow), end, sum);
}

kir_value *define_adds(kir_builder *b, hg_type type, kir_value *const *arg) {
    kir_value *x = arg[0], *y = arg[1], *sum = kir_add(b, x, y);
    if (!hg_type_is_signed(type)) {
        kir_value *most = kir_sub(b, zero_of(b, x), kir_const(b, x->type, 1));
        return kir_select(b, kir_binary(b, KIR_CMP_ULT, sum, x), most, sum);
    }
    kir_value *overflow = kir_binary(b, KIR_AND, kir_binary(b, KIR_XOR, x, sum),
                                     kir_binary(b, KIR_XOR, y, sum));
    return stop_signed(b, sum, overflow, x);
}

kir_value *define_subs(kir_builder *b, hg_type type, kir_value *const *arg) {
    kir_value *x = arg[0], *y = arg[1], *rest = kir_sub(b, x, y);
    if (!hg_type_is_signed(type))
        return kir_select(b, kir_binary(b, KIR_CMP_ULT, x, y), zero_of(b, x), rest);
    kir_value *overflow = kir_binary(b, KIR_AND, kir_binary(b, KIR_XOR, x, y),
                                     kir_binary(b, KIR_XOR, x, rest));
    return stop_signed(b, rest, overflow, x);
}
