/* Arithmetic of f16 and bf16 on exact integers, rounded once (semantics 0.3); of mad each step is.
 */
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

/* x + y of finite numbers that are not 0, at most 24 bits each: exactly, but for bits far below,
 * which are *sticky. */
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
    unpacked p = {FLOAT_FINITE, a.negative != b.negative, a.mantissa * b.mantissa,
                  a.exponent + b.exponent};
    bool zero = a.kind == FLOAT_ZERO || b.kind == FLOAT_ZERO,
         infinite = a.kind == FLOAT_INFINITE || b.kind == FLOAT_INFINITE;
    if (a.kind == FLOAT_NAN || b.kind == FLOAT_NAN || (zero && infinite))
        p.kind = FLOAT_NAN;
    else if (zero || infinite)
        p.kind = zero ? FLOAT_ZERO : FLOAT_INFINITE;
    return p;
}

/* x + y of any kind. */
static unpacked add(unpacked x, unpacked y, bool *sticky) {
    if (x.kind == FLOAT_NAN || y.kind == FLOAT_NAN ||
        (x.kind == FLOAT_INFINITE && y.kind == FLOAT_INFINITE && x.negative != y.negative))
        return (unpacked){FLOAT_NAN, false, 0, 0};
    if (x.kind == FLOAT_INFINITE || y.kind == FLOAT_INFINITE)
        return x.kind == FLOAT_INFINITE ? x : y;
    if (x.kind == FLOAT_ZERO && y.kind == FLOAT_ZERO) {
        x.negative = x.negative && y.negative;
        return x;
    }
    return x.kind == FLOAT_ZERO ? y : y.kind == FLOAT_ZERO ? x : sum(x, y, sticky);
}

static unpacked quotient(unpacked a, unpacked b, bool *sticky) {
    bool negative = a.negative != b.negative, same = a.kind == b.kind && a.kind != FLOAT_FINITE;
    if (a.kind == FLOAT_NAN || b.kind == FLOAT_NAN || same)
        return (unpacked){FLOAT_NAN, false, 0, 0};
    if (a.kind == FLOAT_INFINITE || b.kind == FLOAT_ZERO)
        return (unpacked){FLOAT_INFINITE, negative, 0, 0};
    if (a.kind == FLOAT_ZERO || b.kind == FLOAT_INFINITE)
        return (unpacked){FLOAT_ZERO, negative, 0, 0};
    uint64_t m = a.mantissa << 40;
    *sticky = m % b.mantissa != 0;
    return (unpacked){FLOAT_FINITE, negative, m / b.mantissa, a.exponent - b.exponent - 40};
}

static unpacked root(unpacked x, bool *sticky) {
    if (x.kind == FLOAT_ZERO || x.kind == FLOAT_NAN) return x;
    if (x.negative) return (unpacked){FLOAT_NAN, false, 0, 0};
    if (x.kind == FLOAT_INFINITE) return x;
    int up = 40 + (x.exponent & 1);
    uint64_t m = x.mantissa << up, r = 0;
    for (uint64_t bit = UINT64_C(1) << 31; bit; bit >>= 1)
        if ((r | bit) * (r | bit) <= m) r |= bit;
    *sticky = r * r != m;
    return (unpacked){FLOAT_FINITE, false, r, (x.exponent - up) / 2};
}

bool half_exact(hg_op op, hg_type type, const uint8_t *const *args, uint8_t *result) {
    static const int counts[] = {
        [HG_OP_ADD] = 2, [HG_OP_SUB] = 2, [HG_OP_MUL] = 2, [HG_OP_DIV] = 2, [HG_OP_SQRT] = 1,
        [HG_OP_RCP] = 1, [HG_OP_FMA] = 3, [HG_OP_FMS] = 3, [HG_OP_MAD] = 3};
    if ((size_t)op >= sizeof counts / sizeof counts[0] || !counts[op]) return false;
    unpacked v[3] = {{0}}, one = {FLOAT_FINITE, false, 1, 0}, r;
    bool sticky = false;
    for (int i = 0; i < counts[op]; i++) v[i] = float_unpack(type, args[i]);
    if (op == HG_OP_SUB) v[1].negative = !v[1].negative;
    if (op == HG_OP_FMS) v[2].negative = !v[2].negative;
    switch (op) {
    case HG_OP_ADD:
    case HG_OP_SUB: r = add(v[0], v[1], &sticky); break;
    case HG_OP_MUL: r = product(v[0], v[1]); break;
    case HG_OP_DIV: r = quotient(v[0], v[1], &sticky); break;
    case HG_OP_RCP: r = quotient(one, v[0], &sticky); break;
    case HG_OP_SQRT: r = root(v[0], &sticky); break;
    case HG_OP_MAD: { /* ADD of MUL */
        uint8_t rounded[2];
        float_pack(type, product(v[0], v[1]), false, rounded);
        r = add(float_unpack(type, rounded), v[2], &sticky);
        break;
    }
    default: r = add(product(v[0], v[1]), v[2], &sticky); break;
    }
    float_pack(type, r, sticky, result);
    return true;
}
