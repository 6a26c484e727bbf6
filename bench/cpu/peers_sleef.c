/* Functions of SLEEF, within one unit in the last place, over arrays; and prices of options by
 * them. Units are elements, multiples of W. */
#include "vectors.h"
#include <math.h>
#include <sleef.h>

#if defined __AVX512F__
#define FLOATS(name) Sleef_##name##f16_u10avx512f
#define DOUBLES(name) Sleef_##name##d8_u10avx512f
typedef __m512 floats;
typedef __m512d doubles;
#else
#define FLOATS(name) Sleef_##name##f8_u10avx2
#define DOUBLES(name) Sleef_##name##d4_u10avx2
typedef __m256 floats;
typedef __m256d doubles;
#endif
enum { D = W / 2 };

#define ARRAYS(type)                                 \
    const type *x = j->buffer[0], *e = j->buffer[1]; \
    type *y = j->buffer[2];                          \
    (void)e;
#define FUNCTION(name, single, whole)                                      \
    void v_##name##_f32(const peer_job *j, uint64_t begin, uint64_t end) { \
        ARRAYS(float)                                                      \
        for (uint64_t i = begin; i < end; i += W) {                        \
            floats v = (floats)load(x + i);                                \
            store(y + i, (vf)(single));                                    \
        }                                                                  \
    }                                                                      \
    void v_##name##_f64(const peer_job *j, uint64_t begin, uint64_t end) { \
        ARRAYS(double)                                                     \
        for (uint64_t i = begin; i < end; i += D) {                        \
            doubles v = (doubles) * (const vd_any *)(x + i);               \
            *(vd_any *)(y + i) = (vd)(whole);                              \
        }                                                                  \
    }
#define SIMPLE(name) FUNCTION(name, FLOATS(name)(v), DOUBLES(name)(v))
SIMPLE(exp)
SIMPLE(log)
SIMPLE(sin)
SIMPLE(cos)
SIMPLE(tan)
SIMPLE(tanh)
FUNCTION(pow, FLOATS(pow)(v, (floats)load(e + i)),
         DOUBLES(pow)(v, (doubles) * (const vd_any *)(e + i)))
FUNCTION(sigmoid, 1.0f / (1.0f + (vf)FLOATS(exp)((floats) - (vf)v)),
         1.0 / (1.0 + (vd)DOUBLES(exp)((doubles) - (vd)v)))

/* spot, strike, years; call, put; rate, volatility */
void v_black_scholes(const peer_job *j, uint64_t begin, uint64_t end) {
    const float *spot = j->buffer[0], *strike = j->buffer[1], *years = j->buffer[2];
    vf rate = splat((float)j->real[0]), volatility = splat((float)j->real[1]), half = splat(0.5f);
    for (uint64_t i = begin; i < end; i += W) {
        vf s = load(spot + i), k = load(strike + i), t = load(years + i),
           deviation = root(t) * volatility, d[2];
        d[0] = fused(rate, t, (vf)FLOATS(log)((floats)(s / k))) / deviation;
        d[0] = fused(deviation, half, d[0]);
        d[1] = d[0] - deviation;
        for (int n = 0; n < 2; n++)
            d[n] = fused((vf)FLOATS(erf)((floats)(d[n] * 0.70710678f)), half, half);
        k = k * (vf)FLOATS(exp)((floats) - (t * rate));
        vf call = fused(s, d[0], -(d[1] * k));
        store((float *)j->buffer[3] + i, call);
        store((float *)j->buffer[4] + i, call - s + k);
    }
}

void c_black_scholes(const peer_job *j, uint64_t begin, uint64_t end) {
    const float *spot = j->buffer[0], *strike = j->buffer[1], *years = j->buffer[2];
    float *call = j->buffer[3], *put = j->buffer[4], rate = (float)j->real[0],
          volatility = (float)j->real[1];
    for (uint64_t i = begin; i < end; i++) {
        float deviation = sqrtf(years[i]) * volatility, k = strike[i] * expf(-(years[i] * rate));
        float d = fmaf(deviation, 0.5f,
                       fmaf(rate, years[i], logf(spot[i] / strike[i])) / deviation),
              e = d - deviation;
        d = fmaf(erff(d * 0.70710678f), 0.5f, 0.5f), e = fmaf(erff(e * 0.70710678f), 0.5f, 0.5f);
        call[i] = fmaf(spot[i], d, -(e * k));
        put[i] = call[i] - spot[i] + k;
    }
}

#define SCALAR(name, single, whole)                                        \
    void c_##name##_f32(const peer_job *j, uint64_t begin, uint64_t end) { \
        ARRAYS(float)                                                      \
        for (uint64_t i = begin; i < end; i++) y[i] = single;              \
    }                                                                      \
    void c_##name##_f64(const peer_job *j, uint64_t begin, uint64_t end) { \
        ARRAYS(double)                                                     \
        for (uint64_t i = begin; i < end; i++) y[i] = whole;               \
    }
SCALAR(exp, expf(x[i]), exp(x[i]))
SCALAR(log, logf(x[i]), log(x[i]))
SCALAR(sin, sinf(x[i]), sin(x[i]))
SCALAR(cos, cosf(x[i]), cos(x[i]))
SCALAR(tan, tanf(x[i]), tan(x[i]))
SCALAR(tanh, tanhf(x[i]), tanh(x[i]))
SCALAR(pow, powf(x[i], e[i]), pow(x[i], e[i]))
SCALAR(sigmoid, 1.0f / (1.0f + expf(-x[i])), 1.0 / (1.0 + exp(-x[i])))
