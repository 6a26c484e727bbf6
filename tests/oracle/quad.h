/* The widest float of the host, for functions: binary128 where there is one, so that its error is
 * far below any ULP compared. */
#ifndef HG_TESTS_QUAD_H
#define HG_TESTS_QUAD_H

#include <float.h>
#include <math.h>

#if defined(__x86_64__) && !defined(__wasm__)
__extension__ typedef __float128 quad;
/* From libquadmath (its header is not on clang's path). */
/* clang-format off */
#define QUAD_ONE(name) extern quad name##q(quad);
QUAD_ONE(exp) QUAD_ONE(log) QUAD_ONE(log2) QUAD_ONE(log10) QUAD_ONE(sqrt) QUAD_ONE(sin) QUAD_ONE(cos) QUAD_ONE(tan)
QUAD_ONE(tanh) QUAD_ONE(erf) QUAD_ONE(erfc) QUAD_ONE(fabs) QUAD_ONE(trunc)
QUAD_ONE(exp2) QUAD_ONE(expm1) QUAD_ONE(log1p) QUAD_ONE(cbrt) QUAD_ONE(atan) QUAD_ONE(asin) QUAD_ONE(acos) QUAD_ONE(sinh) QUAD_ONE(cosh)
QUAD_ONE(asinh) QUAD_ONE(acosh) QUAD_ONE(atanh)
    /* clang-format on */
    extern quad powq(quad, quad);
extern quad atan2q(quad, quad);
extern quad hypotq(quad, quad);
extern quad frexpq(quad, int *);
extern quad ldexpq(quad, int);
extern int isnanq(quad);
extern int isinfq(quad);
extern int signbitq(quad);
#define Q(name) name##q
#else
typedef long double quad; /* binary128 on AArch64 and wasm32 */
#define Q(name) QUAD_LONG_##name
#define QUAD_LONG_exp expl
#define QUAD_LONG_log logl
#define QUAD_LONG_log2 log2l
#define QUAD_LONG_log10 log10l
#define QUAD_LONG_sqrt sqrtl
#define QUAD_LONG_sin sinl
#define QUAD_LONG_cos cosl
#define QUAD_LONG_tan tanl
#define QUAD_LONG_tanh tanhl
#define QUAD_LONG_erf erfl
#define QUAD_LONG_erfc erfcl
#define QUAD_LONG_fabs fabsl
#define QUAD_LONG_trunc truncl
#define QUAD_LONG_pow powl
#define QUAD_LONG_atan2 atan2l
#define QUAD_LONG_exp2 exp2l
#define QUAD_LONG_expm1 expm1l
#define QUAD_LONG_log1p log1pl
#define QUAD_LONG_cbrt cbrtl
#define QUAD_LONG_atan atanl
#define QUAD_LONG_asin asinl
#define QUAD_LONG_acos acosl
#define QUAD_LONG_sinh sinhl
#define QUAD_LONG_cosh coshl
#define QUAD_LONG_asinh asinhl
#define QUAD_LONG_acosh acoshl
#define QUAD_LONG_atanh atanhl
#define QUAD_LONG_hypot hypotl
#define QUAD_LONG_frexp frexpl
#define QUAD_LONG_ldexp ldexpl
#define QUAD_LONG_isnan isnan
#define QUAD_LONG_isinf isinf
#define QUAD_LONG_signbit signbit
#endif

#define QUAD_PI \
    ((quad)0x1.921fb54442d18p+1 + (quad)0x1.1a62633145c07p-53 + (quad)-0x1.f1976b7ed8fbcp-109)

/* Of pi x, which is reduced first: without a rounding. */
static inline quad quad_sinpi(quad x) {
    quad a = Q(fabs)(x), u = a - 2 * Q(trunc)(a / 2), sign = Q(signbit)(x) ? -1 : 1;
    if (Q(isnan)(u)) return u;
    if (u >= 1) u -= 1, sign = u == 0 ? sign : -sign; /* of whole numbers 0 with the sign of x */
    if (u > (quad)0.5) u = 1 - u;
    return sign * (u > (quad)0.25 ? Q(cos)(QUAD_PI * ((quad)0.5 - u)) : Q(sin)(QUAD_PI * u));
}
static inline quad quad_cospi(quad x) {
    quad a = Q(fabs)(x), u = a - 2 * Q(trunc)(a / 2);
    if (u > 1) u = 2 - u;
    if (u == (quad)0.5) return 0;
    return u > (quad)0.5 ? -quad_sinpi(u - (quad)0.5) : quad_sinpi((quad)0.5 - u);
}

#endif
