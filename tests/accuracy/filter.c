/* The fast reference. Results of f32 are computed in double by the vector functions of libmvec,
 * which are documented to be within 4 ULP (glibc's own, within 2, where there is no AVX2); results
 * of f64 in long double of 64 bits by glibc, whose manual gives at most 8 ULP for these functions
 * on x86-64. In ULP of the format that is 2^-27 and 2^-8. What is composed adds: 1/sqrt, 1/(1 +
 * e^-x), x/(1 + e^-x)   three roundings, and a relative error of e^-x never grows: below 2^-26,
 * below 2^-7 x·erfc(-x/sqrt 2)/2                  a relative error d of the argument t gives 2t²·d:
 * t² <= 100 in f32 gives 2^-21; in f64, where t² <= 750, the argument's rounding error is carried
 * along to first order, so 2^-7 remains The unit may be that of the next lower binade next to a
 * power of two: the filter takes the lower one, so it errs upwards only. FILTER_BUDGET is twice the
 * largest of these or more, and every chunk compares one of its elements with MPFR. */
#include "accuracy.h"
#include <float.h>
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#if defined(__x86_64__) && defined(HG_HAVE_MVEC)
#include <immintrin.h>
#define HAVE_VECTORS 1
#define VECTORS __attribute__((target("avx2,fma")))
#else
#define HAVE_VECTORS 0
#endif

/* ---- f32 in double ---- */

/* Of pi x, which is reduced exactly: x = n + r, |r| <= 1/2. cos(pi r) = sin(pi (1/2 - |r|)). */
static double turns_of_pi(double x, bool cosine) {
    double a = fabs(x), n = rint(a), r = a - n, s;
    bool odd = fmod(n, 2) != 0;
    s = cosine ? sin(3.14159265358979323846 * (0.5 - fabs(r))) : sin(3.14159265358979323846 * r);
    if (s == 0) return cosine ? 0 : copysign(0, x);
    s = odd ? -s : s;
    return !cosine && signbit(x) ? -s : s;
}

static double in_double(function_id id, double x, double y) {
    switch (id) {
    case FN_EXP: return exp(x);
    case FN_LOG: return log(x);
    case FN_LOG2: return log2(x);
    case FN_LOG10: return log10(x);
    case FN_RSQRT: return 1 / sqrt(x);
    case FN_SIN: return sin(x);
    case FN_COS: return cos(x);
    case FN_TAN: return tan(x);
    case FN_TANH: return tanh(x);
    case FN_SIGMOID: return 1 / (1 + exp(-x));
    case FN_GELU: return x * 0.5 * erfc(-x * 0.70710678118654752440);
    case FN_SWISH: return x / (1 + exp(-x));
    case FN_ERF: return erf(x);
    case FN_EXP2: return exp2(x);
    case FN_EXP10: return exp10(x);
    case FN_SINPI: return turns_of_pi(x, false);
    case FN_COSPI: return turns_of_pi(x, true);
    case FN_EXPM1: return expm1(x);
    case FN_LOG1P: return log1p(x);
    case FN_CBRT: return cbrt(x);
    case FN_ERFC: return erfc(x);
    case FN_ATAN: return atan(x);
    case FN_ASIN: return asin(x);
    case FN_ACOS: return acos(x);
    case FN_SINH: return sinh(x);
    case FN_COSH: return cosh(x);
    case FN_ASINH: return asinh(x);
    case FN_ACOSH: return acosh(x);
    case FN_ATANH: return atanh(x);
    case FN_HYPOT: return hypot(x, y);
    case FN_POW: return pow(x, y);
    default: return atan2(x, y);
    }
}

#if HAVE_VECTORS
/* The ABI of vector functions in libmvec. */
#define DECLARED(name) extern __m256d _ZGVdN4v_##name(__m256d)
DECLARED(exp);
DECLARED(log);
DECLARED(log2);
DECLARED(log10);
DECLARED(sin);
DECLARED(cos);
DECLARED(tanh);
DECLARED(erf);
DECLARED(erfc);
DECLARED(exp2);
DECLARED(exp10);
DECLARED(expm1);
DECLARED(log1p);
DECLARED(cbrt);
DECLARED(atan);
DECLARED(asin);
DECLARED(acos);
DECLARED(sinh);
DECLARED(cosh);
DECLARED(asinh);
DECLARED(acosh);
DECLARED(atanh);
extern __m256d _ZGVdN4vv_pow(__m256d, __m256d), _ZGVdN4vv_hypot(__m256d, __m256d),
    _ZGVdN4vv_atan2(__m256d, __m256d);

VECTORS static __m256d one_plus_exp(__m256d x) {
    return _mm256_add_pd(_mm256_set1_pd(1), _ZGVdN4v_exp(_mm256_xor_pd(x, _mm256_set1_pd(-0.0))));
}

VECTORS static __m256d pi_turns(__m256d x, bool cosine) {
    const __m256d sign = _mm256_set1_pd(-0.0), half = _mm256_set1_pd(0.5);
    __m256d a = _mm256_andnot_pd(sign, x), n = _mm256_round_pd(a, _MM_FROUND_TO_NEAREST_INT),
            r = _mm256_sub_pd(a, n), even = _mm256_mul_pd(n, half);
    __m256d odd = _mm256_cmp_pd(even, _mm256_floor_pd(even), _CMP_NEQ_UQ);
    if (cosine) r = _mm256_sub_pd(half, _mm256_andnot_pd(sign, r));
    __m256d s = _ZGVdN4v_sin(_mm256_mul_pd(r, _mm256_set1_pd(3.14159265358979323846)));
    __m256d zero = _mm256_cmp_pd(r, _mm256_setzero_pd(), _CMP_EQ_OQ);
    s = _mm256_xor_pd(s, _mm256_andnot_pd(zero, _mm256_and_pd(odd, sign)));
    return cosine ? s : _mm256_xor_pd(s, _mm256_and_pd(x, sign));
}

VECTORS static __m256d in_vector(function_id id, __m256d x, __m256d y) {
    switch (id) {
    case FN_EXP: return _ZGVdN4v_exp(x);
    case FN_LOG: return _ZGVdN4v_log(x);
    case FN_LOG2: return _ZGVdN4v_log2(x);
    case FN_LOG10: return _ZGVdN4v_log10(x);
    case FN_RSQRT: return _mm256_div_pd(_mm256_set1_pd(1), _mm256_sqrt_pd(x));
    case FN_TANH: return _ZGVdN4v_tanh(x);
    case FN_SIGMOID: return _mm256_div_pd(_mm256_set1_pd(1), one_plus_exp(x));
    case FN_GELU:
        return _mm256_mul_pd(
            _mm256_mul_pd(x, _mm256_set1_pd(0.5)),
            _ZGVdN4v_erfc(_mm256_mul_pd(x, _mm256_set1_pd(-0.70710678118654752440))));
    case FN_SWISH: return _mm256_div_pd(x, one_plus_exp(x));
    case FN_ERF: return _ZGVdN4v_erf(x);
    case FN_EXP2: return _ZGVdN4v_exp2(x);
    case FN_EXP10: return _ZGVdN4v_exp10(x);
    case FN_SINPI: return pi_turns(x, false);
    case FN_COSPI: return pi_turns(x, true);
    case FN_EXPM1: return _ZGVdN4v_expm1(x);
    case FN_LOG1P: return _ZGVdN4v_log1p(x);
    case FN_CBRT: return _ZGVdN4v_cbrt(x);
    case FN_ERFC: return _ZGVdN4v_erfc(x);
    case FN_ATAN: return _ZGVdN4v_atan(x);
    case FN_ASIN: return _ZGVdN4v_asin(x);
    case FN_ACOS: return _ZGVdN4v_acos(x);
    case FN_SINH: return _ZGVdN4v_sinh(x);
    case FN_COSH: return _ZGVdN4v_cosh(x);
    case FN_ASINH: return _ZGVdN4v_asinh(x);
    case FN_ACOSH: return _ZGVdN4v_acosh(x);
    case FN_ATANH: return _ZGVdN4v_atanh(x);
    case FN_HYPOT: return _ZGVdN4vv_hypot(x, y);
    case FN_POW: return _ZGVdN4vv_pow(x, y);
    default: return _ZGVdN4vv_atan2(x, y);
    }
}

/* Sines, cosines and tangents. From 2^17 on x = m · 2^e is reduced by m · (2^e · 2/pi modulo 4) in
 * 128 bits, 126 of them behind the point, off by less than 2^-102; no f32 is nearer to a multiple
 * of pi/2 than 2^-31. With the conversion to double, the multiplication by pi/2 and the quotient
 * that is 12 ULP of double at most, 2^-25. */
__extension__ typedef unsigned __int128 fraction;
static fraction turns[256]; /* by the exponent field: 2^e · 2/pi modulo 4, times 2^126 */
static pthread_once_t turns_once = PTHREAD_ONCE_INIT;

static void make_turns(void) {
    mpfr_t turn, high;
    mpfr_inits2(512, turn, high, (mpfr_ptr)0);
    for (int field = 127 + 17; field < 255; field++) {
        mpfr_const_pi(turn, MPFR_RNDN);
        mpfr_ui_div(turn, 2, turn, MPFR_RNDN);
        mpfr_mul_2si(turn, turn, field - 150 - 2, MPFR_RNDN); /* in units of 4 */
        mpfr_frac(turn, turn, MPFR_RNDN);
        mpfr_mul_2si(turn, turn, 64, MPFR_RNDN);
        mpfr_floor(high, turn);
        mpfr_sub(turn, turn, high, MPFR_RNDN);
        mpfr_mul_2si(turn, turn, 64, MPFR_RNDN);
        turns[field] = (fraction)mpfr_get_uj(high, MPFR_RNDZ) << 64 | mpfr_get_uj(turn, MPFR_RNDZ);
    }
    mpfr_clears(turn, high, (mpfr_ptr)0);
}

/* The reduced argument; *quadrant counts pi/2. */
static inline double reduced(float x, unsigned *quadrant) {
    uint32_t bits, field;
    memcpy(&bits, &x, sizeof bits);
    field = bits >> 23 & 255;
    *quadrant = 0;
    if (field < 127 + 17 || field == 255) return (double)x;
    fraction product = turns[field] * ((bits & 0x7FFFFF) | 0x800000);
    uint64_t q = (uint64_t)(product >> 125);
    q = (q + 1) >> 1; /* the nearest */
    product -= (fraction)q << 126;
    double high = (double)(int64_t)(uint64_t)(product >> 64) * 0x1p-62,
           low = (double)(uint64_t)product * 0x1p-126;
    double r = (high + low) * 1.57079632679489661923;
    *quadrant = (unsigned)(bits >> 31 ? 0 - q : q) & 3;
    return bits >> 31 ? -r : r;
}

VECTORS static void trigonometric(function_id id, const float *x, double *out, size_t n) {
    pthread_once(&turns_once, make_turns);
    for (size_t i = 0; i < n; i += 4) { /* n is a multiple of 4 */
        double r[4], s[4], c[4];
        unsigned q[4];
        for (int k = 0; k < 4; k++) r[k] = reduced(x[i + (size_t)k], &q[k]);
        __m256d v = _mm256_loadu_pd(r);
        _mm256_storeu_pd(s, _ZGVdN4v_sin(v));
        _mm256_storeu_pd(c, _ZGVdN4v_cos(v));
        for (int k = 0; k < 4; k++) {
            double sine = q[k] & 1 ? c[k] : s[k], cosine = q[k] & 1 ? -s[k] : c[k]; /* of q pi/2 +
                                                                                       r, but for
                                                                                       the sign by q
                                                                                       & 2 */
            double turned = id == FN_SIN ? sine : cosine;
            out[i + (size_t)k] = id == FN_TAN ? sine / cosine : q[k] & 2 ? -turned : turned;
        }
    }
}

VECTORS static size_t by_vectors(function_id id, const float *x, const float *y, double *out,
                                 size_t n) {
    size_t i = 0;
    if (id == FN_SIN || id == FN_COS || id == FN_TAN) {
        trigonometric(id, x, out, n / 4 * 4);
        return n / 4 * 4;
    }
    for (; i + 4 <= n; i += 4) {
        __m256d b = y ? _mm256_cvtps_pd(_mm_loadu_ps(y + i)) : _mm256_setzero_pd();
        _mm256_storeu_pd(out + i, in_vector(id, _mm256_cvtps_pd(_mm_loadu_ps(x + i)), b));
    }
    return i;
}
#endif

/* ---- f64 in long double ---- */

/* erfc at t + d, d the rounding error of t = -x/sqrt 2: erfc' = -2/sqrt(pi) · e^-t². */
static long double wide_gelu(double x) {
    static const long double HIGH = 0x1.6a09e667f3bcc908p-1L,
                             LOW = 0x1.65f6266cd52afa7cp-66L;                     /* 1/sqrt
                                                                                     2
                                                                                     less
                                                                                     its
                                                                                     first
                                                                                     64
                                                                                     bits
                                                                                   */
    long double t = -x * HIGH, h = (long double)(float)x, l = (long double)x - h; /* 24 + 29 bits
                                                                                     times 32 + 32:
                                                                                     exact products
                                                                                   */
    long double ch = 0x1.6a09e668p-1L, cl = HIGH - ch;
    long double d = fabs(x) < 64 ? -(((h * ch + t) + l * ch) + h * cl + l * cl) - x * LOW : 0;
    return x * 0.5L * (erfcl(t) - 1.12837916709551257390L * expl(-t * t) * d);
}

static long double wide_turns_of_pi(double x, bool cosine) {
    double a = fabs(x), n = rint(a), r = a - n;
    static const long double PI = 3.14159265358979323846264338327950288L;
    long double s = cosine ? sinl(PI * (0.5L - (long double)fabs(r))) : sinl(PI * (long double)r);
    if (s == 0) return cosine ? 0 : copysignl(0, (long double)x);
    s = fmod(n, 2) != 0 ? -s : s;
    return !cosine && signbit(x) ? -s : s;
}

static long double in_long_double(function_id id, double a, double b) {
    long double x = (long double)a, y = (long double)b;
    switch (id) {
    case FN_EXP: return expl(x);
    case FN_LOG: return logl(x);
    case FN_LOG2: return log2l(x);
    case FN_LOG10: return log10l(x);
    case FN_RSQRT: return 1 / sqrtl(x);
    case FN_SIN: return sinl(x);
    case FN_COS: return cosl(x);
    case FN_TAN: return tanl(x);
    case FN_TANH: return tanhl(x);
    case FN_SIGMOID: return 1 / (1 + expl(-x));
    case FN_GELU: return wide_gelu(a);
    case FN_SWISH: return x / (1 + expl(-x));
    case FN_ERF: return erfl(x);
    case FN_EXP2: return exp2l(x);
    case FN_EXP10: return exp10l(x);
    case FN_SINPI: return wide_turns_of_pi(a, false);
    case FN_COSPI: return wide_turns_of_pi(a, true);
    case FN_EXPM1: return expm1l(x);
    case FN_LOG1P: return log1pl(x);
    case FN_CBRT: return cbrtl(x);
    case FN_ERFC: return erfcl(x);
    case FN_ATAN: return atanl(x);
    case FN_ASIN: return asinl(x);
    case FN_ACOS: return acosl(x);
    case FN_SINH: return sinhl(x);
    case FN_COSH: return coshl(x);
    case FN_ASINH: return asinhl(x);
    case FN_ACOSH: return acoshl(x);
    case FN_ATANH: return atanhl(x);
    case FN_HYPOT: return hypotl(x, y);
    case FN_POW: return powl(x, y);
    default: return atan2l(x, y);
    }
}

void filter_reference(const function *f, bool wide, const void *x, const void *y, void *reference,
                      size_t n) {
    if (wide) {
        const double *a = x, *b = f->args == 2 ? y : x;
        long double *out = reference;
        for (size_t i = 0; i < n; i++) out[i] = in_long_double(f->id, a[i], b[i]);
        return;
    }
    const float *a = x, *b = f->args == 2 ? y : NULL;
    double *out = reference;
    size_t i = 0;
#if HAVE_VECTORS
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        i = by_vectors(f->id, a, b, out, n);
#endif
    for (; i < n; i++) out[i] = in_double(f->id, (double)a[i], b ? (double)b[i] : 0);
}

long double filter_result(const void *reference, bool wide, size_t i) {
    return wide ? ((const long double *)reference)[i] : (long double)((const double *)reference)[i];
}

/* ---- errors ---- */

static inline uint64_t double_bits(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
static inline double double_of(uint64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

#if HAVE_VECTORS && defined(__GNUC__) && !defined(__clang__)
__attribute__((target_clones("avx2", "default")))
#endif
static float
narrow_errors(const double *reference, const float *got, size_t n, float *errors) {
    float most = 0;
    for (size_t i = 0; i < n; i++) {
        double r = reference[i], g = (double)got[i];
        /* the exponent of a number a hair smaller; never below that of the least normal number */
        uint64_t e = ((double_bits(r) & INT64_MAX) - 4096) >> 52, floor_e = 1023 - 126;
        e = (int64_t)e < (int64_t)floor_e || (int64_t)e > 2046 ? floor_e : e;
        double per_unit = double_of((2046 + 23 - e) << 52);
        bool over = !(fabs(r) < 0x1p128), infinite = fabs(g) > 0x1p127 * 1.9999999;
        double value = infinite ? copysign(0x1p128, g) : g;
        double error = fabs(value - r) * per_unit;
        error = over ? (infinite && (g > 0) == (r > 0) ? 0 : (double)INFINITY) : error;
        bool wrong_zero = g == 0 && (double_bits(g) ^ double_bits(r)) >> 63;
        error = g == g && r == r && !wrong_zero ? error : (double)INFINITY;
        errors[i] = (float)error;
        most = errors[i] > most ? errors[i] : most;
    }
    return most;
}

#if HAVE_VECTORS && defined(__GNUC__) && !defined(__clang__)
__attribute__((target_clones("avx512f", "avx2", "default")))
#endif
static uint32_t
nearest_open(const double *reference, const float *got, double below, double above, size_t n,
             uint32_t *open) {
    uint32_t any = 0;
    for (size_t i = 0; i < n; i++) {
        float low = (float)(reference[i] * below), high = (float)(reference[i] * above);
        uint32_t a, b, g;
        memcpy(&a, &low, sizeof a);
        memcpy(&b, &high, sizeof b);
        memcpy(&g, &got[i], sizeof g);
        uint32_t nan = (low != low) & (got[i] != got[i]);
        uint32_t is = a != b ? 2 : nan ? 0 : a != g;
        open[i] = is;
        any |= is;
    }
    return any;
}

bool filter_nearest(const double *reference, const uint32_t *got, double relative, size_t n,
                    uint32_t *open) {
    return nearest_open(reference, (const float *)(const void *)got, 1 - relative, 1 + relative, n,
                        open) != 0;
}

static float wide_errors(const long double *reference, const double *got, size_t n, float *errors) {
    float most = 0;
    for (size_t i = 0; i < n; i++) {
        long double r = reference[i], g = (long double)got[i], error;
        if (!(fabsl(r) < 0x1p1024L))
            error = isinf(got[i]) && (g > 0) == (r > 0) ? 0 : (long double)INFINITY;
        else {
            int e;
            frexpl(r * (1 - 0x1p-52L), &e);
            if (e < -1021) e = -1021;
            error = fabsl((isinf(got[i]) ? copysignl(0x1p1024L, g) : g) - r) * ldexpl(1, 53 - e);
        }
        errors[i] = isnan(error) || (g == 0 && !signbit(g) != !signbit(r)) ? INFINITY
                                                                           : (float)error;
        most = errors[i] > most ? errors[i] : most;
    }
    return most;
}

float filter_errors(const void *reference, const void *got, bool wide, size_t n, float *errors) {
    return wide ? wide_errors(reference, got, n, errors) : narrow_errors(reference, got, n, errors);
}
