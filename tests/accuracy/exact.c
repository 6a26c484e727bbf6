/* The true value by MPFR and the distance from it. */
#include "accuracy.h"
#include <math.h>

void exact_begin(exact *e) { mpfr_inits2(200, e->x, e->y, e->r, e->d, (mpfr_ptr)0); }
void exact_end(exact *e) {
    mpfr_clears(e->x, e->y, e->r, e->d, (mpfr_ptr)0);
    mpfr_free_cache();
}

static void sigmoid(mpfr_t r, const mpfr_t x) {
    mpfr_neg(r, x, MPFR_RNDN);
    mpfr_exp(r, r, MPFR_RNDN);
    mpfr_add_ui(r, r, 1, MPFR_RNDN);
    mpfr_ui_div(r, 1, r, MPFR_RNDN);
}

static void gelu(mpfr_t r, const mpfr_t x) { /* x · erfc(-x / sqrt 2) / 2 */
    mpfr_sqrt_ui(r, 2, MPFR_RNDN);
    mpfr_div(r, x, r, MPFR_RNDN);
    mpfr_neg(r, r, MPFR_RNDN);
    mpfr_erfc(r, r, MPFR_RNDN);
    mpfr_mul(r, r, x, MPFR_RNDN);
    mpfr_div_ui(r, r, 2, MPFR_RNDN);
}

/* Cut, and never a number of few bits but where it is the true value: atan2(y, x) may be next to
 * y/x. */
static void of_two(exact *e, function_id id) {
    int cut = id == FN_HYPOT ? mpfr_hypot(e->r, e->x, e->y, MPFR_RNDZ)
              : id == FN_POW ? mpfr_pow(e->r, e->x, e->y, MPFR_RNDZ)
                             : mpfr_atan2(e->r, e->x, e->y, MPFR_RNDZ);
    if (cut == 0 || !mpfr_regular_p(e->r) || mpfr_min_prec(e->r) > 64) return;
    if (mpfr_sgn(e->r) > 0)
        mpfr_nextabove(e->r);
    else
        mpfr_nextbelow(e->r);
}

static void compute(exact *e, const function *f) {
    bool left_end = mpfr_inf_p(e->x) && mpfr_sgn(e->x) < 0;
    switch (f->id) {
    case FN_EXP: mpfr_exp(e->r, e->x, MPFR_RNDN); break;
    case FN_LOG: mpfr_log(e->r, e->x, MPFR_RNDN); break;
    case FN_LOG2: mpfr_log2(e->r, e->x, MPFR_RNDN); break;
    case FN_LOG10: mpfr_log10(e->r, e->x, MPFR_RNDN); break;
    case FN_RSQRT: mpfr_rec_sqrt(e->r, e->x, MPFR_RNDN); break;
    case FN_SIN: mpfr_sin(e->r, e->x, MPFR_RNDN); break;
    case FN_COS: mpfr_cos(e->r, e->x, MPFR_RNDN); break;
    case FN_TAN: mpfr_tan(e->r, e->x, MPFR_RNDN); break;
    case FN_TANH: mpfr_tanh(e->r, e->x, MPFR_RNDN); break;
    case FN_SIGMOID: sigmoid(e->r, e->x); break;
    case FN_GELU: gelu(e->r, e->x); break;
    case FN_SWISH:
        sigmoid(e->r, e->x);
        mpfr_mul(e->r, e->r, e->x, MPFR_RNDN);
        break;
    case FN_ERF: mpfr_erf(e->r, e->x, MPFR_RNDN); break;
    case FN_EXP2: mpfr_exp2(e->r, e->x, MPFR_RNDN); break;
    case FN_EXP10: mpfr_exp10(e->r, e->x, MPFR_RNDN); break;
    case FN_SINPI: mpfr_sinpi(e->r, e->x, MPFR_RNDN); break;
    case FN_COSPI: mpfr_cospi(e->r, e->x, MPFR_RNDN); break;
    case FN_EXPM1: mpfr_expm1(e->r, e->x, MPFR_RNDN); break;
    case FN_LOG1P: mpfr_log1p(e->r, e->x, MPFR_RNDN); break;
    case FN_CBRT: mpfr_cbrt(e->r, e->x, MPFR_RNDN); break;
    case FN_ERFC: mpfr_erfc(e->r, e->x, MPFR_RNDN); break;
    case FN_ATAN: mpfr_atan(e->r, e->x, MPFR_RNDN); break;
    case FN_ASIN: mpfr_asin(e->r, e->x, MPFR_RNDN); break;
    case FN_ACOS: mpfr_acos(e->r, e->x, MPFR_RNDN); break;
    case FN_SINH: mpfr_sinh(e->r, e->x, MPFR_RNDN); break;
    case FN_COSH: mpfr_cosh(e->r, e->x, MPFR_RNDN); break;
    case FN_ASINH: mpfr_asinh(e->r, e->x, MPFR_RNDN); break;
    case FN_ACOSH: mpfr_acosh(e->r, e->x, MPFR_RNDN); break;
    case FN_ATANH: mpfr_atanh(e->r, e->x, MPFR_RNDN); break;
    default: of_two(e, f->id); break;
    }
    if (left_end && (f->id == FN_GELU || f->id == FN_SWISH))
        mpfr_set_zero(e->r, -1); /* the limit */
    if (f->id == FN_RSQRT && mpfr_zero_p(e->x))
        mpfr_set_inf(e->r, mpfr_signbit(e->x) ? -1 : 1); /* as IEEE 754's rSqrt */
}

/* |got - r| in units of the last place of r. */
static double distance(exact *e, bool wide) {
    int precision = wide ? 53 : 24, least = wide ? -1074 : -149, most = wide ? 1024 : 128;
    long unit = mpfr_zero_p(e->r) ? least : (long)mpfr_get_exp(e->r) - precision;
    if (unit < least) unit = least;
    if (unit > most - precision) unit = most - precision;
    mpfr_sub(e->d, e->d, e->r, MPFR_RNDN);
    mpfr_mul_2si(e->d, e->d, -unit, MPFR_RNDN);
    return fabs(mpfr_get_d(e->d, MPFR_RNDN));
}

double exact_error(exact *e, const function *f, bool wide, uint64_t x, uint64_t y,
                   uint64_t got_bits) {
    double got = number_of(got_bits, wide);
    int most = wide ? 1024 : 128;
    mpfr_set_d(e->x, number_of(x, wide), MPFR_RNDN);
    mpfr_set_d(e->y, number_of(y, wide), MPFR_RNDN);
    compute(e, f);
    if (mpfr_nan_p(e->r)) return isnan(got) ? 0 : (double)INFINITY;
    if (isnan(got)) return (double)INFINITY;
    bool above = mpfr_inf_p(e->r) || (!mpfr_zero_p(e->r) && mpfr_get_exp(e->r) > most);
    if (above) return isinf(got) && (got > 0) == (mpfr_sgn(e->r) > 0) ? 0 : (double)INFINITY;
    if ((got == 0 || mpfr_zero_p(e->r)) && (signbit(got) != 0) != (mpfr_signbit(e->r) != 0))
        return (double)INFINITY;
    if (isinf(got))
        mpfr_set_si_2exp(e->d, got > 0 ? 1 : -1, most, MPFR_RNDN);
    else
        mpfr_set_d(e->d, got, MPFR_RNDN);
    return distance(e, wide);
}

double exact_error_of(exact *e, const function *f, bool wide, uint64_t x, uint64_t y,
                      long double reference) {
    mpfr_set_d(e->x, number_of(x, wide), MPFR_RNDN);
    mpfr_set_d(e->y, number_of(y, wide), MPFR_RNDN);
    compute(e, f);
    if (!mpfr_regular_p(e->r) || !isfinite(reference) || mpfr_get_exp(e->r) > (wide ? 1024 : 128))
        return 0;
    mpfr_set_ld(e->d, reference, MPFR_RNDN);
    return distance(e, wide);
}

bool exact_is_half(const function *f, uint32_t x) {
    return (f->id == FN_GELU || f->id == FN_SWISH) && (x & INT32_MAX) < 27u << 23 && x << 1 != 0;
}

uint64_t exact_nearest(exact *e, const function *f, uint32_t x, uint32_t y) {
    if (exact_is_half(f, x)) { /* gelu: x/2 + x^2/sqrt(2 pi), swish: x/2 + x^2/4 */
        double half = number_of(x, false) / 2;
        return bits_of_number(half + fabs(half) * 0x1p-40, false);
    }
    mpfr_set_d(e->x, number_of(x, false), MPFR_RNDN);
    mpfr_set_d(e->y, number_of(y, false), MPFR_RNDN);
    compute(e, f);
    return bits_of_number((double)mpfr_get_flt(e->r, MPFR_RNDN), false);
}

double exact_odd(exact *e, const function *f, double x, double y) {
    mpfr_set_d(e->x, x, MPFR_RNDN);
    mpfr_set_d(e->y, y, MPFR_RNDN);
    compute(e, f);
    double cut = mpfr_get_d(e->r, MPFR_RNDZ);
    if (!mpfr_regular_p(e->r) || mpfr_cmp_d(e->r, cut) == 0) return cut;
    return number_of(bits_of_number(cut, true) | 1, true);
}
