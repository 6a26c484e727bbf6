/* What the core and its handlers use of math.h: instructions of wasm where there is one, else
 * bindings/npm/wasm/libc.c. */
#ifndef SHIM_MATH_H
#define SHIM_MATH_H
#define NAN __builtin_nanf("")
#define INFINITY __builtin_inff()
#define isnan(x) __builtin_isnan(x)
#define isinf(x) __builtin_isinf(x)
#define isfinite(x) __builtin_isfinite(x)
#define signbit(x) __builtin_signbit(x)
/* clang-format off */
#define SHIM_ONE(name)                                                       \
    static inline double name(double x) { return __builtin_##name(x); }      \
    static inline float name##f(float x) { return __builtin_##name##f(x); }
SHIM_ONE(fabs) SHIM_ONE(sqrt) SHIM_ONE(floor) SHIM_ONE(ceil) SHIM_ONE(trunc) SHIM_ONE(rint) SHIM_ONE(nearbyint)
#undef SHIM_ONE
    /* clang-format on */
    static inline double copysign(double x, double y) {
    return __builtin_copysign(x, y);
}
static inline float copysignf(float x, float y) { return __builtin_copysignf(x, y); }
int ilogb(double x);
double frexp(double x, int *exponent);
double ldexp(double x, int exponent);
double fma(double a, double b, double c); /* rounded once */
float fmaf(float a, float b, float c);
#endif
