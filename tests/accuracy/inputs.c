/* Random arguments: any bits, ordinary values of the function, and the places where functions are
 * hard. */
#include "accuracy.h"
#include <math.h>

uint64_t random_next(uint64_t *state) { /* SplitMix64 */
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

static double random_in(uint64_t *state, double low, double high) {
    return low + (high - low) * ((double)(random_next(state) >> 11) * 0x1p-53);
}

/* Next to an odd multiple of pi/4, where a tangent is 1 and its last place is largest beside the
 * error; at most 2^27 of them away. */
static double near_quarter(uint64_t *state) {
    uint64_t r = random_next(state), count = r >> (37 + (r & 15) + (r >> 4 & 7));
    double middle = ((double)count + 0.5) * 0x1.921fb54442d18p0;
    return (r & 256 ? -1 : 1) * middle *
           (1 + random_in(state, -1, 1) * 0x1p-3 / ((double)count + 1));
}

/* Any number of whole magnitude: the exponents of large arguments are as likely as others. */
static double any_above_one(uint64_t *state) {
    return ldexp(random_in(state, 1, 2), (int)(random_next(state) % 1023)) *
           (random_next(state) & 1 ? -1 : 1);
}

static double special_argument(const function *f, uint64_t *state) {
    uint64_t r = random_next(state);
    switch (f->id) {
    case FN_SIN:
    case FN_COS:
    case FN_TAN:
        return r & 1 ? near_quarter(state) : r & 2 ? any_above_one(state) : random_in(state, -1, 1);
    case FN_LOG:
    case FN_LOG2:
    case FN_LOG10:
    case FN_POW:
        return r & 1 ? 1 + random_in(state, -1, 1) * ldexp(1, -(int)(r >> 1 & 63))
                     : random_in(state, 0.5, 2);
    case FN_LOG1P:
        return r & 1 ? random_in(state, -1, 1) * ldexp(1, -(int)(r >> 1 & 63))
                     : random_in(state, -1, 1);
    case FN_SINPI:
    case FN_COSPI: /* next to multiples of 1/4 */
        return r & 1 ? (double)(r >> 8 & 63) / 4 +
                           random_in(state, -1, 1) * ldexp(1, -(int)(r >> 2 & 63))
                     : random_in(state, -1, 1) * ldexp(1, (int)(r >> 2 & 63) - 20);
    case FN_ACOSH: return 1 + random_in(state, 0, 4) * ldexp(1, -(int)(r & 63));
    case FN_ATANH:
    case FN_ASIN: /* also next to the ends, where the slope is largest */
    case FN_ACOS:
        return (r & 1 ? 1 - random_in(state, 0, 1) * ldexp(1, -(int)(r >> 2 & 63))
                      : random_in(state, 0, 1)) *
               (r & 2 ? -1 : 1);
    case FN_ERFC: return r & 1 ? random_in(state, f->low[1], f->high[1]) : random_in(state, -1, 1);
    case FN_EXPM1:
    case FN_SINH:
    case FN_ASINH:
    case FN_CBRT:
    case FN_ATAN: return random_in(state, -4, 4) * ldexp(1, -(int)(r & 31));
    case FN_TANH:
    case FN_ERF:
    case FN_GELU:
    case FN_SWISH: return random_in(state, -1, 1) * ldexp(1, -(int)(r & 31));
    default: return random_in(state, -4, 4);
    }
}

/* A power's exponent that keeps the result a number: up to where it overflows. */
static double power_for(double x, bool wide, uint64_t *state) {
    return random_in(state, -1, 1) * (wide ? 750 : 105) / (fabs(log(fabs(x))) + 1e-30);
}

static void put(void *to, size_t i, uint64_t bits, bool wide) {
    if (wide)
        ((uint64_t *)to)[i] = bits;
    else
        ((uint32_t *)to)[i] = (uint32_t)bits;
}

static uint64_t argument(const function *f, bool wide, uint64_t kind, uint64_t *state) {
    uint64_t bits = random_next(state);
    if (kind == 0) return wide ? bits : bits >> 32;
    return bits_of_number(kind == 1 ? special_argument(f, state)
                                    : random_in(state, f->low[wide], f->high[wide]),
                          wide);
}

/* Pairs of f32 whose results lie in the middle of two numbers, or would but for a hair: powers of
 * few bits and roots of powers; the diagonals p² + q² of right triangles with sides 2 p q and p² -
 * q²; quotients that are no normal numbers. */
static void middle_pair(function_id id, uint64_t *state, float *x, float *y) {
    static const struct {
        float power;
        int bits, root; /* the first is a number of so many bits to the power root */
    } POWERS[] = {{2, 13, 1},   {3, 9, 1},     {4, 7, 1},     {5, 6, 1},
                  {7, 4, 1},    {15, 2, 1},    {0.5f, 12, 2}, {1.5f, 9, 2},
                  {2.5f, 6, 2}, {0.25f, 6, 4}, {-1, 9, 1},    {0.125f, 3, 8}};
    uint64_t r = random_next(state), s = random_next(state);
    int e = (int)(r >> 40 & 31) - 16;
    if (id == FN_POW) {
        uint64_t k = r % 12;
        double base = (double)(s >> (64 - POWERS[k].bits) | 1);
        *x = (float)ldexp(pow(base, POWERS[k].root), e * POWERS[k].root);
        *y = POWERS[k].power;
    } else if (id == FN_HYPOT) {
        double p = (double)(4096 + 2 * (r & 127)), q = (double)(1537 + 2 * (s & 255));
        *x = (float)ldexp(2 * p * q, e);
        *y = (float)ldexp(p * p - q * q, e);
    } else { /* y/x, times 2^-150 */
        *x = (float)ldexp((double)(s >> 56 | 1), -90 - (int)(r & 31));
        *y = (float)ldexp(1, 60 - (int)(r & 31));
    }
}

/* A factor between two arguments of f64, of any of 64 magnitudes. */
static double any_factor(uint64_t *state) {
    uint64_t r = random_next(state);
    return ldexp(random_in(state, 1, 2), (int)(r & 63)) * (r & 64 ? -1 : 1);
}

void inputs_random(const function *f, bool wide, uint64_t chunk, void *x, void *y, size_t n) {
    uint64_t state = (chunk + 1) * UINT64_C(0xD1B54A32D192ED03) + f->id * 2 + (wide ? 1 : 0);
    for (size_t i = 0; i < n; i++) {
        uint64_t bits = argument(f, wide, i % 3, &state);
        put(x, i, bits, wide);
        if (f->args == 1) continue;
        if (!wide && i % 8 == 7) {
            middle_pair(f->id, &state, (float *)x + i, (float *)y + i);
            continue;
        }
        if (wide && i % 8 == 7 && f->id != FN_POW) {
            double small = number_of(bits, wide);
            put(y, i, bits_of_number(small * any_factor(&state), wide), wide);
            continue;
        }
        double power = power_for(number_of(bits, wide), wide, &state);
        put(y, i,
            f->id == FN_POW && i % 4 ? bits_of_number(power, wide)
                                     : argument(f, wide, i / 3 % 3, &state),
            wide);
    }
}
