/* Exact sums and products, polynomials, powers of two: see real.h. */
#include "kir/define/real.h"
#include "kir/builder.h"
#include "kir/define/define.h"
#include <string.h>

dw dw_sel(const real *k, num c, dw x, dw y) {
    num h = sel(k, c, x.h, y.h);
    return (dw){h, sel(k, c, x.l, y.l)};
}

dw dw_scaled(const real *k, dw x, double by) {
    num h = scaled(k, x.h, by);
    return (dw){h, scaled(k, x.l, by)};
}

dw two_sum(const real *k, num x, num y) {
    num s = add(k, x, y), t = sub(k, s, x);
    num left = sub(k, x, sub(k, s, t));
    return (dw){s, add(k, left, sub(k, y, t))};
}

dw fast_two_sum(const real *k, num x, num y) {
    num s = add(k, x, y);
    return (dw){s, sub(k, y, sub(k, s, x))};
}

num leading_half(const real *k, num x) {
    return real_of(k->b, int_and(k->b, bits_of(k->b, x),
                                 k->wide ? ~UINT64_C(0x7FFFFFF) : UINT64_C(0xFFFFF000)));
}

dw halves(const real *k, num x) {
    num h = leading_half(k, x);
    return (dw){h, sub(k, x, h)};
}

/* The steps of Dekker's sequence, given the halves. */
static num product_error(const real *k, num p, dw x, dw y) {
    num e = sub(k, mul(k, x.h, y.h), p);
    e = add(k, e, mul(k, x.h, y.l));
    e = add(k, e, mul(k, x.l, y.h));
    return add(k, e, mul(k, x.l, y.l));
}

/* F32: 12 bits each. F64: 26 and, with a sign, 26, where halves() leaves 27. */
static dw rounded_halves(const real *k, num x) {
    if (!k->wide) return halves(k, x); /* cut */
    num bits = int_add(k->b, bits_of(k->b, x), UINT64_C(1) << 26),
        h = real_of(k->b, int_and(k->b, bits, ~UINT64_C(0x7FFFFFF)));
    return (dw){h, sub(k, x, h)};
}

/* In units u of the product of the operands' last places, with n = 24 (F64: 53) bits, a.l below
 * 2^12 (at most 2^26), c.l below 2^12 (2^27), d = x y - p and |d| <= 2^(n - 1): every product of
 * halves is exact, and so is every sum, for a.h c.h - p             = d - a.h c.l - a.l y  is a
 * whole number of 2^(n - 1) and below 2^38 (2^81), the same + a.h c.l      = d - a.l y is a whole
 * number of 2^12 (2^27) and below 2^36 (at most 2^79 + 2^52), the same + a.l c.h      = d - a.l c.l
 * is a whole number of 2^12 (2^27) and below 2^25 (2^54), the same + a.l c.l      = d. So the
 * result is d wherever u is a number of the format and nothing overflows: u >= 2^-149 (2^-1074) if
 * |x y| >= 2^-101 (2^-968). A d of 0 is +0: the last sum that is not of zeros is x - x, and if all
 * are of zeros the first is. A fused multiply-add of x, y and -p rounds the same d, and its zero is
 * +0 too. Of smaller products each of the four of halves is off by 2^-150 (2^-1075) at most, the
 * fused one by as much, and the sums stay exact: either u >= 2^-161 (2^-1101) and only a.l c.l is
 * off, or |x y| < 2^-114 (2^-996), and the sums are below 2^-125 (2^-1021), but for the first, of
 * numbers within a factor of two (Sterbenz). */
kir_value *kir_split_product_error(kir_builder *b, kir_value *x, kir_value *y) {
    const real made = real_begin(b, (hg_type)x->type), *k = &made;
    num p = mul(k, x, y);
    dw a = rounded_halves(k, x), c = x == y ? a : halves(k, y);
    return product_error(k, p, a, c);
}

dw two_prod(const real *k, num x, num y) {
    num p = mul(k, x, y);
    return (dw){p, kir_binary(k->b, KIR_FMULERR, x, y)};
}

dw split_square(const real *k, num x) {
    num p = mul(k, x, x);
    dw a = halves(k, x);
    return (dw){p, product_error(k, p, a, a)};
}

/* Each caller's x.h y.h is in the range of FMULERR, or what is left over does not matter. */
dw dw_mul(const real *k, dw x, dw y) {
    dw p = two_prod(k, x.h, y.h);
    num cross = mul(k, x.h, y.l);
    cross = add(k, cross, mul(k, x.l, y.h));
    return fast_two_sum(k, p.h, add(k, p.l, cross));
}

/* One reciprocal and an exact remainder; h + l is the quotient to about twice the format's
 * precision less a few bits. q y.h comes close to each caller's x.h, which is in the range of
 * FMULERR, or the quotient does not matter. */
dw dw_div(const real *k, dw x, dw y) {
    num r = quotient(k, cst(k, 1.0), y.h), q = mul(k, x.h, r);
    dw p = two_prod(k, q, y.h);
    num rest = sub(k, sub(k, x.h, p.h), p.l);
    rest = add(k, rest, sub(k, x.l, mul(k, q, y.l)));
    return (dw){q, mul(k, rest, r)};
}

/* One reciprocal, half a quotient and its remainder, which is exact but for y.l: an error of some
 * 2^-35 (F64: 2^-77) before rounding. */
num dw_quotient(const real *k, dw x, dw y) {
    num r = quotient(k, cst(k, 1.0), y.h), q = leading_half(k, mul(k, x.h, r));
    dw h = halves(k, y.h);
    num rest = sub(k, sub(k, x.h, mul(k, q, h.h)), mul(k, q, h.l));
    rest = add(k, rest, sub(k, x.l, mul(k, q, y.l)));
    return add(k, q, mul(k, rest, r));
}

num horner(const real *k, const double *coefficients, size_t count, num x) {
    num r = cst(k, coefficients[count - 1]);
    for (size_t i = count - 1; i-- > 0;) {
        r = mul(k, r, x);
        r = add(k, r, cst(k, coefficients[i]));
    }
    return r;
}

dw precise_horner(const real *k, const double *c, size_t count, const double *low, size_t exact,
                  dw x) {
    num rest = horner(k, c + exact, count - exact, x.h);
    dw s = {rest, cst(k, 0.0)};
    while (exact-- > 0) {
        dw p = dw_mul(k, s, x), t = two_sum(k, cst(k, c[exact]), p.h);
        s = fast_two_sum(k, t.h, add(k, t.l, add(k, p.l, cst(k, low[exact]))));
    }
    return s;
}

num pow2(const real *k, num n) {
    return real_of(k->b, int_shl(k->b, int_add(k->b, n, k->wide ? 1023 : 127), k->wide ? 52 : 23));
}

rounded round_near(const real *k, num x) {
    num big = cst(k, k->wide ? 0x1.8p52 : 0x1.8p23), s = add(k, x, big), near = sub(k, s, big);
    return (rounded){near, kir_sub(k->b, bits_of(k->b, s), bits_of(k->b, big))};
}

num pow2_at_least(const real *k, num n) {
    num s = add(k, at_least(k, n, k->wide ? -1022.0 : -126.0),
                cst(k, k->wide ? 0x1.8p52 : 0x1.8p23)); /* as round_near */
    return real_of(k->b, int_shl(k->b, int_add(k->b, bits_of(k->b, s), k->wide ? 1023 : 127),
                                 k->wide ? 52 : 23));
}

num scale2(const real *k, num x, num n) {
    num half = int_add(k->b, int_shr(k->b, int_add(k->b, n, 4096), 1), (uint64_t)-2048); /* n / 2;
                                                                                            vectors
                                                                                            of 64
                                                                                            bits
                                                                                            have no
                                                                                            ashr */
    num first = mul(k, x, pow2(k, half));
    return mul(k, first, pow2(k, kir_sub(k->b, n, half)));
}

/* Subnormal: where 2^n times a power of two is added, the sum ends at the last place of the result,
 * and what that leaves is added with x.l. */
num scale_sum(const real *k, dw x, num n) {
    num least = pow2_at_least(k, sub(k, cst(k, k->wide ? -1022.0 : -126.0), n)); /* the least normal
                                                                                    result / 2^n */
    num base = sel(k, lt(k, x.h, least), least, cst(k, 0.0));
    dw s = fast_two_sum(k, base, x.h);
    num r = sub(k, add(k, s.h, add(k, s.l, x.l)), base);
    return scale2(k, r, round_near(k, n).integer);
}

/* e is taken from the bits in steps that vectors of 64 bits have too: the exponent biased to be
 * positive, set into the low bits of 2^23 (2^52). */
num split_exponent(const real *k, num x, uint64_t offset, num *e, num *index_bits) {
    kir_builder *b = k->b;
    uint32_t fraction = k->wide ? 52 : 23;
    uint64_t bias = k->wide ? 1024 : 128, room = k->wide ? 54 : 25; /* room: also the power that
                                                                       brings subnormals up */
    num tiny = lt(k, x, cst(k, k->wide ? 0x1p-1022 : 0x1p-126));
    num bits = bits_of(b, sel(k, tiny, scaled(k, x, k->wide ? 0x1p54 : 0x1p25), x));
    num above = kir_sub(b, bits, kir_const(b, bits->type, offset));
    num biased = int_shr(b, int_add(b, above, bias << fraction), fraction);
    num m = kir_sub(b, bits, int_shl(b, int_add(b, biased, 0 - bias), fraction));
    num count = kir_sub(b, int_add(b, biased, room),
                        sel(k, tiny, kir_const(b, bits->type, room), kir_const(b, bits->type, 0)));
    double base = k->wide ? 0x1p52 : 0x1p23;
    num real_count = real_of(b, int_or(b, count, bits_of(b, cst(k, base))));
    *e = sub(k, real_count, cst(k, base + (double)(bias + room)));
    *index_bits = above;
    return real_of(b, m);
}

dw table_dw(const real *k, const double *pair) {
    num h = cst(k, pair[0]);
    return (dw){h, cst(k, pair[1])};
}

num table_at(const real *k, const char *name, const double *values, uint32_t count, num index) {
    kir_table *table = k->b->module->tables;
    while (table && !(table->name && strcmp(table->name, name) == 0)) table = table->next;
    if (!table && k->wide) table = kir_table_create(k->b->module, k->type, count, values, name);
    if (!table) {
        float *narrow = hg_alloc(count * sizeof *narrow);
        for (uint32_t i = 0; i < count && narrow; i++) narrow[i] = (float)values[i];
        if (narrow) table = kir_table_create(k->b->module, k->type, count, narrow, name);
        hg_free(narrow);
    }
    return kir_table_get(k->b, table, index);
}
