/* Arithmetic that the definitions of functions share: numbers of one float format, unevaluated sums
 * of two of them, polynomials. Products are made exact by FMULERR, which stands for splitting
 * (Dekker, Numerische Mathematik 18, 1971) or a fused multiply-add, sums by two_sum (Knuth, TAOCP
 * 2, 4.2.2).
 * Must not know: targets. */
#ifndef HG_KIR_DEFINE_REAL_H
#define HG_KIR_DEFINE_REAL_H

#include "kir/define/define_internal.h"
#include "kir/builder.h"

typedef kir_value *num;
typedef struct real {
    kir_builder *b;
    uint8_t type;
    bool wide; /* F64 */
} real;
typedef struct dw {
    num h, l;
} dw; /* h + l, |l| at most about an ulp of h */

static inline real real_begin(kir_builder *b, hg_type type) {
    return (real){b, (uint8_t)type, type == HG_TYPE_F64};
}
static inline num cst(const real *k, double value) { return real_const(k->b, k->type, value); }
#define add(k, x, y) kir_binary((k)->b, KIR_FADD, x, y)
#define sub(k, x, y) kir_binary((k)->b, KIR_FSUB, x, y)
#define mul(k, x, y) kir_binary((k)->b, KIR_FMUL, x, y)
#define quotient(k, x, y) kir_binary((k)->b, KIR_FDIV, x, y)
static inline num scaled(const real *k, num x, double by) { return mul(k, x, cst(k, by)); }
#define lt(k, x, y) kir_binary((k)->b, KIR_FCMP_LT, x, y)
#define eq(k, x, y) kir_binary((k)->b, KIR_FCMP_EQ, x, y)
#define both(k, x, y) kir_binary((k)->b, KIR_AND, x, y)
#define either(k, x, y) kir_binary((k)->b, KIR_OR, x, y)
#define sel(k, c, x, y) kir_select((k)->b, c, x, y)
static inline num neg(const real *k, num x) { return real_neg(k->b, x); }
static inline num magnitude(const real *k, num x) { return real_abs(k->b, x); }
/* By the sign bit; through a float, as vectors of 64 bits without SSE4.2 have no integer order. */
static inline num is_negative(const real *k, num x) {
    return lt(k, real_with_sign(k->b, cst(k, 1.0), x), cst(k, 0.0));
}
/* A NaN passes both. */
static inline num at_least(const real *k, num x, double low) {
    return sel(k, lt(k, x, cst(k, low)), cst(k, low), x);
}
static inline num at_most(const real *k, num x, double high) {
    return sel(k, lt(k, cst(k, high), x), cst(k, high), x);
}

dw dw_sel(const real *k, num c, dw x, dw y); /* c ? x : y */
dw dw_scaled(const real *k, dw x, double by);
dw two_sum(const real *k, num x, num y);
dw fast_two_sum(const real *k, num x, num y); /* |x| >= |y|, or x = 0 */
/* Of the significand; what is left fits the other half (F64: one bit short, an error of 2^-107). */
num leading_half(const real *k, num x);
dw halves(const real *k, num x); /* h: the leading half of the significand */
/* x y = h + l by FMULERR (prim.def). A caller says why that is exact: nothing overflows, and h is 0
 * or at least 2^-101 (F64: 2^-968), or what l is then does not matter. Where the result is not used
 * in the end it need not be. */
dw two_prod(const real *k, num x, num y);
/* x² by halves in any case: the same bits everywhere, also where two_prod is not exact. F64: the
 * halves are cut, so that l may be off by 2^-106 of the square. */
dw split_square(const real *k, num x);
dw dw_mul(const real *k, dw x, dw y);
dw dw_div(const real *k, dw x, dw y);
num dw_quotient(const real *k, dw x, dw y); /* x / y rounded; x.l need not be small beside x.h */
num horner(const real *k, const double *coefficients, size_t count, num x); /* constant first */
/* x to the nearest integer, |x| < 2^22 (F64: 2^51), as a float and as an integer of the bits type:
 * adding 1.5 · 2^23 (2^52) leaves the integer in the low bits. Unlike rint and the conversions this
 * is plain vector code on every CPU. */
typedef struct rounded {
    num real, integer;
} rounded;
rounded round_near(const real *k, num x);
num pow2(const real *k, num n); /* 2^n of a bits-type integer within the normal exponents */
num pow2_at_least(const real *k, num n); /* of an integer as a float; below the least normal
                                            exponent that one */
num scale2(const real *k, num x, num n); /* x · 2^n in two steps, the second rounds: right for
                                            subnormal results */
/* (x.h + x.l) · 2^n rounded once, of n as a float: subnormal results too. x.h > 0, and 0 or normal.
 */
num scale_sum(const real *k, dw x, num n);
/* x = 2^e · m of a finite x > 0, m in [offset, 2 · offset), given by its bits; subnormals too.
 * above: the bits of x less offset. */
num split_exponent(const real *k, num x, uint64_t offset, num *e, num *above);
/* What the table of logarithms has for m, by the bits above of split_exponent: r ~ 1/m, and -log r
 * as a sum of two. */
void log_row(const real *k, num above, num row[3]); /* log.c */
dw table_dw(const real *k, const double *pair);     /* a constant given as high and low */
/* Element of a constant table of the format; one table a name and module. */
num table_at(const real *k, const char *name, const double *values, uint32_t count, num index);
#define POLYNOMIAL(k, table, x) horner(k, table, HG_COUNT_OF(table), x)
/* The first sums of `exact` coefficients to twice the precision; low: what those were rounded by.
 */
dw precise_horner(const real *k, const double *c, size_t count, const double *low, size_t exact,
                  dw x);
#define PRECISE(k, name, x)                                                \
    precise_horner(k, name##_f64, HG_COUNT_OF(name##_f64), name##_low_f64, \
                   HG_COUNT_OF(name##_low_f64), x)

/* trig.c: x · 2/pi modulo 4, times 2^62, of an F32 x > 0. */
kir_value *quarter_turns(const real *k, num x);

/* log.c: x^y given r = |x|^y of finite x > 0, with the special values of C pow (C17 F.10.4.4). */
num pow_of_magnitude(const real *k, num x, num y, num r);

/* exp.c: e^(xh + xl) to about 2^-65 of itself, as (h + l) 2^n of n as a float, in the range of
 * results that are not trivially 0 or infinite. */
dw exp_dw(const real *k, num xh, num xl /* NULL: 0; small beside xh */, num *n);

#endif
