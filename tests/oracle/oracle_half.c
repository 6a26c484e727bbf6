/* fma and fms of f16 and bf16 on exact integers, rounded once (semantics 0.3). */
#include "oracle_internal.h"

static int top_bit(uint64_t v) {
    int n = -1;
    for (; v; v >>= 1) n++;
    return n;
}

/* u with its leading bit at place 62. */
static unpacked placed(unpacked u) {
    int up = 62 - top_bit(u.mantissa);
    u.mantissa <<= up, u.exponent -= up;
    return u;
}

/* x + y of finite numbers that are not 0, at most 24 bits each: exactly, but for bits far below, which are *sticky. */
static unpacked sum(unpacked x, unpacked y, bool *sticky) {
    x = placed(x), y = placed(y);
    if (x.exponent < y.exponent || (x.exponent == y.exponent && x.mantissa < y.mantissa)) {
        unpacked swap = x;
        x = y, y = swap;
    }
    int down = x.exponent - y.exponent;
    uint64_t low = down > 63 ? 0 : y.mantissa >> down;
    *sticky = down > 63 || low << down != y.mantissa;
    x.mantissa = x.negative == y.negative ? x.mantissa + low : x.mantissa - low - *sticky;
    if (x.mantissa == 0) x.kind = FLOAT_ZERO, x.negative = false;
    return x;
}

static unpacked product(unpacked a, unpacked b) {
    unpacked p = {FLOAT_FINITE, a.negative != b.negative, a.mantissa * b.mantissa, a.exponent + b.exponent};
    bool zero = a.kind == FLOAT_ZERO || b.kind == FLOAT_ZERO, infinite = a.kind == FLOAT_INFINITE || b.kind == FLOAT_INFINITE;
    if (a.kind == FLOAT_NAN || b.kind == FLOAT_NAN || (zero && infinite))
        p.kind = FLOAT_NAN;
    else if (zero || infinite)
        p.kind = zero ? FLOAT_ZERO : FLOAT_INFINITE;
    return p;
}

void half_fma(hg_type type, const uint8_t *const *args, bool subtract, uint8_t *result) {
    bool sticky = false;
    unpacked p = product(float_unpack(type, args[0]), float_unpack(type, args[1])), c = float_unpack(type, args[2]), r;
    c.negative ^= subtract;
    if (p.kind == FLOAT_NAN || c.kind == FLOAT_NAN || (p.kind == FLOAT_INFINITE && c.kind == FLOAT_INFINITE && p.negative != c.negative))
        r = (unpacked){FLOAT_NAN, false, 0, 0};
    else if (p.kind == FLOAT_INFINITE || c.kind == FLOAT_INFINITE)
        r = p.kind == FLOAT_INFINITE ? p : c;
    else if (p.kind == FLOAT_ZERO && c.kind == FLOAT_ZERO)
        r = p, r.negative = p.negative && c.negative;
    else
        r = p.kind == FLOAT_ZERO ? c : c.kind == FLOAT_ZERO ? p : sum(p, c, &sticky);
    float_pack(type, r, sticky, result);
}
