/* Hard arguments of f64, searched anew: results next to the middle of two numbers, and arguments
 * next to multiples of pi/4.
 *
 * Middles: over a window of 4,096 consecutive arguments a result, in units of its last place, is a
 * quadratic to within 2^-55 (three values in quad precision give it), so that its fraction can be
 * followed in integers at about a nanosecond an argument. The argument that comes nearest to one
 * half is kept; of 2^n windows the best is about 2^-(n + 13) away. The idea is that of Lefèvre and
 * Muller, "Worst cases for correct rounding of the elementary functions in double precision",
 * ARITH-15 (2001), by plain search.
 *
 * Multiples of pi/4: m · 2^e is next to one where m is a denominator of the continued fraction of
 * 2^e · 4/pi, or lies between two of them (Kahan, "Minimizing q·m - n", 1983). */
#include "accuracy.h"
#include "oracle/quad.h"
#include <gmp.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WINDOW = 4096, FRACTION = 96 };
__extension__ typedef unsigned __int128 fixed; /* modulo 1, in units of 2^-96 */

static quad precise(function_id id, quad x) {
    switch (id) {
    case FN_EXP: return Q(exp)(x);
    case FN_LOG: return Q(log)(x);
    case FN_LOG2: return Q(log2)(x);
    case FN_LOG10: return Q(log10)(x);
    case FN_RSQRT: return 1 / Q(sqrt)(x);
    case FN_SIN: return Q(sin)(x);
    case FN_COS: return Q(cos)(x);
    case FN_TAN: return Q(tan)(x);
    case FN_TANH: return Q(tanh)(x);
    case FN_SIGMOID: return 1 / (1 + Q(exp)(-x));
    case FN_GELU: return x / 2 * Q(erfc)(-x / Q(sqrt)((quad)2));
    case FN_SWISH: return x / (1 + Q(exp)(-x));
    case FN_EXP2: return Q(exp2)(x);
    case FN_EXP10: return Q(pow)(10, x);
    case FN_SINPI: return quad_sinpi(x);
    case FN_COSPI: return quad_cospi(x);
    case FN_EXPM1: return Q(expm1)(x);
    case FN_LOG1P: return Q(log1p)(x);
    case FN_CBRT: return Q(cbrt)(x);
    case FN_ERFC: return Q(erfc)(x);
    case FN_ATAN: return Q(atan)(x);
    case FN_ASIN: return Q(asin)(x);
    case FN_ACOS: return Q(acos)(x);
    case FN_SINH: return Q(sinh)(x);
    case FN_COSH: return Q(cosh)(x);
    case FN_ASINH: return Q(asinh)(x);
    case FN_ACOSH: return Q(acosh)(x);
    case FN_ATANH: return Q(atanh)(x);
    default: return Q(erf)(x);
    }
}

static fixed to_fixed(quad v) {
    quad rest = v - Q(trunc)(v);
    return (fixed)Q(ldexp)(rest < 0 ? rest + 1 : rest, FRACTION);
}

/* The argument of the window from x0 on whose result is nearest to a middle; false: the results are
 * not of one binade. */
static bool nearest_middle(function_id id, double x0, uint64_t *found) {
    uint64_t first = bits_of_number(x0, true);
    double xm = number_of(first + WINDOW / 2, true), x1 = number_of(first + WINDOW, true);
    quad f0 = precise(id, (quad)x0), fm = precise(id, (quad)xm), f1 = precise(id, (quad)x1);
    if (Q(isnan)(f0) || Q(isnan)(f1)) return false;
    int e0, e1;
    (void)Q(frexp)(f0, &e0);
    (void)Q(frexp)(f1, &e1);
    if (e0 != e1 || e0 < -1000 || e0 > 1000 || f0 == f1) return false;
    quad v0 = Q(ldexp)(f0, 53 - e0), vm = Q(ldexp)(fm, 53 - e0), v1 = Q(ldexp)(f1, 53 - e0),
         half = WINDOW / 2;
    quad square = (v1 - 2 * vm + v0) / (2 * half * half),
         slope = (4 * vm - 3 * v0 - v1) / (2 * half);
    fixed at = to_fixed(v0 - 0.5), step = to_fixed(slope + square), more = to_fixed(2 * square);
    uint64_t best = UINT64_MAX;
    for (uint64_t k = 0; k < WINDOW; k++) {
        int64_t off = (int64_t)(uint64_t)(at >> (FRACTION - 64));
        uint64_t distance = off < 0 ? 0 - (uint64_t)off : (uint64_t)off;
        if (distance < best) best = distance, *found = first + k;
        at += step;
        step += more;
    }
    return true;
}

/* m · 2^e next to multiples of pi/4, m of 53 bits, for every denominator of the continued fraction
 * of 2^e · 4/pi. */
static size_t nearest_multiples(int e, uint64_t *x, size_t room) {
    size_t n = 0;
    mpfr_t rest, pi;
    mpz_t whole;
    mpz_init(whole);
    mpfr_inits2(1400, rest, pi, (mpfr_ptr)0);
    mpfr_const_pi(pi, MPFR_RNDN);
    mpfr_ui_div(rest, 4, pi, MPFR_RNDN);
    mpfr_mul_2si(rest, rest, e, MPFR_RNDN);
    mpfr_frac(rest, rest, MPFR_RNDN);
    uint64_t before = 0, q = 1; /* denominators of two neighbours */
    while (q < UINT64_C(1) << 53 && !mpfr_zero_p(rest)) {
        uint64_t fit = ((UINT64_C(1) << 52) + q - 1) / q,
                 candidates[3] = {fit * q, before + fit * q, before + (fit - 1) * q};
        for (int i = 0; i < 3 && n < room && q >> 42; i++) /* nearer than 2^-42 of itself, or so */
            if (candidates[i] >> 52 == 1)
                x[n++] = bits_of_number(ldexp((double)candidates[i], e), true);
        mpfr_ui_div(rest, 1, rest, MPFR_RNDN);
        mpfr_get_z(whole, rest, MPFR_RNDZ);
        mpfr_sub_z(rest, rest, whole, MPFR_RNDN);
        if (mpz_sizeinbase(whole, 2) > 53) break;
        uint64_t a = mpz_get_ui(whole), next = a * q + before;
        if (q > (UINT64_C(1) << 54) / (a ? a : 1)) break;
        before = q;
        q = next;
    }
    mpfr_clears(rest, pi, (mpfr_ptr)0);
    mpz_clear(whole);
    return n;
}

size_t hard_inputs(const function *f, uint64_t *x, size_t room, uint64_t seed) {
    static double base[CHUNK];
    size_t n = 0;
    bool periodic = f->id == FN_SIN || f->id == FN_COS || f->id == FN_TAN;
    for (int e = -53; periodic && e <= 971; e++) n += nearest_multiples(e, x + n, room - n);
    for (uint64_t chunk = 0; n < room; chunk++) {
        inputs_random(f, true, chunk + (seed << 32), base, NULL, CHUNK);
        for (size_t i = 0; i < CHUNK && n < room; i++) { /* not any bits: most of their results are
                                                            trivial */
            if (i % 3 == 0 || !isfinite(base[i]) || fabs(base[i]) > 0x1p1000 ||
                fabs(base[i]) < 0x1p-60)
                continue;
            n += nearest_middle(f->id, base[i], &x[n]);
        }
    }
    return n;
}
