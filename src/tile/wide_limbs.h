/* The handlers of wide integers (wide.h), static: for the generated source alone. */
#ifndef HG_TILE_WIDE_LIMBS_H
#define HG_TILE_WIDE_LIMBS_H

#include "tile/wide.h"

/* ---- rows ---- */

/* d[i] = `expression` in the rows of limb k, where x and y are the operands' and c is the carry. */
#define TILE_WIDE_ROWS(name, expression)                                  \
    static void name(const tile_wide *w) {                                \
        uint64_t *restrict carry = w->carry;                              \
        for (uint64_t i = 0; i < w->n; i++) carry[i] = 0;                 \
        for (uint64_t at = 0; at < w->limbs * w->width; at += w->width) { \
            uint64_t *restrict d = w->d + at;                             \
            const uint64_t *a = w->a + at, *b = w->b + at;                \
            const uint8_t *active = w->active;                            \
            for (uint64_t i = 0; i < w->n && !active; i++) {              \
                const uint64_t x = a[i], y = b[i];                        \
                uint64_t c = carry[i], r;                                 \
                expression d[i] = r;                                      \
                carry[i] = c;                                             \
            }                                                             \
            for (uint64_t i = 0; i < w->n && active; i++) {               \
                const uint64_t x = a[i], y = b[i];                        \
                uint64_t c = carry[i], r;                                 \
                expression d[i] = active[i] ? r : d[i];                   \
                carry[i] = c;                                             \
            }                                                             \
        }                                                                 \
    }
TILE_WIDE_ROWS(tile_wide_add, const uint64_t s = x + y; r = s + c;
               c = (uint64_t)(s < x) | (uint64_t)(r < s);)
TILE_WIDE_ROWS(tile_wide_sub, const uint64_t s = x - y; r = s - c;
               c = (uint64_t)(x < y) | (uint64_t)(s < c);)
TILE_WIDE_ROWS(tile_wide_and, r = x & y;)
TILE_WIDE_ROWS(tile_wide_or, r = x | y;)
TILE_WIDE_ROWS(tile_wide_xor, r = x ^ y;)
#undef TILE_WIDE_ROWS

/* ---- lanes ---- */

/* A cache line of a row holds eight lanes: they are taken out of the rows and put back together. */
enum { TILE_WIDE_LANES = 8 };
typedef uint64_t tile_wide_number[TILE_WIDE_LIMBS + 3];

static void tile_wide_get(const tile_wide *w, const uint64_t *from, uint64_t lane, uint64_t lanes,
                          tile_wide_number *x, uint32_t first) {
    for (uint32_t k = 0; k < w->limbs; k++)
        for (uint64_t i = 0; i < lanes; i++) x[i][first + k] = from[k * w->width + lane + i];
}
static void tile_wide_put(const tile_wide *w, uint64_t lane, uint64_t lanes,
                          const tile_wide_number *x, uint32_t first) {
    for (uint32_t k = 0; k < w->limbs; k++)
        for (uint64_t i = 0; i < lanes; i++)
            if (!w->active || w->active[lane + i]) w->d[k * w->width + lane + i] = x[i][first + k];
}
static inline uint64_t tile_wide_lanes(const tile_wide *w, uint64_t lane) {
    return w->n - lane < TILE_WIDE_LANES ? w->n - lane : TILE_WIDE_LANES;
}

/* (high, low) = x · y + low + carry: never more than two limbs. */
static inline uint64_t tile_wide_step(uint64_t x, uint64_t y, uint64_t *low, uint64_t carry) {
    const hg_u128 t = (hg_u128)x * y + *low + carry;
    *low = (uint64_t)t;
    return (uint64_t)(t >> 64);
}

/* u += q · m, of n limbs; returns the limb above. */
static inline uint64_t tile_wide_row(uint64_t *u, uint64_t q, const uint64_t *m, uint32_t n) {
    uint64_t carry = 0;
    uint32_t i = 0;
#if defined(HG_HAVE_ROW_OF_4) /* compilers do not keep carries in the flag: twice the time */
    for (; i + 4 <= n; i += 4) carry = hg_row_of_4(u + i, q, m + i, carry);
#endif
    for (; i < n; i++) carry = tile_wide_step(q, m[i], &u[i], carry);
    return carry;
}

static void tile_wide_mul_2(const tile_wide *w) {
    const uint64_t *a = w->a, *b = w->b, width = w->width;
    for (uint64_t i = 0; i < w->n; i++) {
        if (w->active && !w->active[i]) continue;
        const hg_u128 low = (hg_u128)a[i] * b[i];
        w->d[i + width] = (uint64_t)(low >> 64) + a[i] * b[i + width] + a[i + width] * b[i];
        w->d[i] = (uint64_t)low;
    }
}

static void tile_wide_mul(const tile_wide *w) {
    if (w->limbs == 2) {
        tile_wide_mul_2(w);
        return;
    }
    tile_wide_number a[TILE_WIDE_LANES], b[TILE_WIDE_LANES], r[TILE_WIDE_LANES];
    for (uint64_t lane = 0; lane < w->n; lane += TILE_WIDE_LANES) {
        const uint64_t lanes = tile_wide_lanes(w, lane);
        tile_wide_get(w, w->a, lane, lanes, a, 0);
        tile_wide_get(w, w->b, lane, lanes, b, 0);
        for (uint64_t l = 0; l < lanes; l++) {
            if (w->active && !w->active[lane + l]) continue;
            memset(r[l], 0, w->limbs * sizeof r[l][0]);
            for (uint32_t i = 0; i < w->limbs; i++)
                (void)tile_wide_row(r[l] + i, a[l][i], b[l], w->limbs - i);
        }
        tile_wide_put(w, lane, lanes, (const tile_wide_number *)r, 0);
    }
}

/* ---- division: Knuth, The Art of Computer Programming 2, section 4.3.1, algorithm D ---- */

/* floor((B^3 - 1) / (d1, d0)) - B for B = 2^64; the highest bit of d1 is set. Möller and Granlund,
 * see kir/legalise/wide_divide.c. */
static uint64_t tile_wide_reciprocal(uint64_t d1, uint64_t d0) {
    uint64_t v = (uint64_t)(~(hg_u128)0 / d1), rest = d1 * v + d0;
    if (rest < d0) {
        v--;
        if (rest >= d1) v--, rest -= d1;
        rest -= d1;
    }
    const hg_u128 t = (hg_u128)v * d0;
    rest += (uint64_t)(t >> 64);
    if (rest < (uint64_t)(t >> 64)) {
        v--;
        if (rest > d1 || (rest == d1 && (uint64_t)t >= d0)) v--;
    }
    return v;
}

/* Step D3: floor((u2, u1, u0) / (d1, d0)), at most one more than the digit. */
static inline uint64_t tile_wide_guess(const uint64_t *u, hg_u128 d, uint64_t v) {
    const uint64_t u2 = u[0], u1 = u[-1], u0 = u[-2];
    if ((((hg_u128)u2 << 64) | u1) >= d) return UINT64_MAX; /* equal */
    const hg_u128 q = (hg_u128)v * u2 + (((hg_u128)u2 << 64) | u1);
    uint64_t q1 = (uint64_t)(q >> 64) + 1;
    const uint64_t r1 = u1 - (q1 - 1) * (uint64_t)(d >> 64);
    hg_u128 r = (((hg_u128)r1 << 64) | u0) - (hg_u128)(uint64_t)d * (q1 - 1) - d;
    if ((uint64_t)(r >> 64) >= (uint64_t)q) q1--, r += d;
    return r >= d ? q1 + 1 : q1;
}

/* Steps D4 to D6: u[0 … m] -= guess · v[0 … m - 1], and once more v if the guess was too large; the
 * right digit. */
static inline uint64_t tile_wide_subtract(uint64_t *u, const uint64_t *v, uint32_t m,
                                          uint64_t guess) {
    uint64_t carry = 0;
    for (uint32_t i = 0; i < m; i++) {
        const hg_u128 p = (hg_u128)guess * v[i] + carry;
        carry = (uint64_t)(p >> 64) + (u[i] < (uint64_t)p);
        u[i] -= (uint64_t)p;
    }
    const uint64_t above = u[m];
    u[m] = above - carry;
    if (above >= carry) return guess;
    carry = 0;
    for (uint32_t i = 0; i < m; i++) {
        const hg_u128 s = (hg_u128)u[i] + v[i] + carry;
        u[i] = (uint64_t)s;
        carry = (uint64_t)(s >> 64);
    }
    u[m] += carry;
    return guess - 1;
}

/* x = x · 2^by; the limb that leaves at the top. by < 64. */
static uint64_t tile_wide_shift_up(uint64_t *x, uint32_t count, uint32_t by) {
    uint64_t low = 0;
    for (uint32_t i = 0; i < count && by; i++) {
        const uint64_t limb = x[i];
        x[i] = limb << by | low;
        low = limb >> (64 - by);
    }
    return low;
}

/* q = u / v, u = u % v for numbers of n limbs; by zero both are zero. u has two limbs of zeros in
 * front and one above, v one in front. */
static void tile_wide_divide(uint64_t *q, uint64_t *u, uint64_t *v, uint32_t n) {
    uint32_t m = n, count = n;
    while (m && !v[m - 1]) m--;
    while (count && !u[count - 1]) count--;
    memset(q, 0, n * sizeof *q);
    if (!m) memset(u, 0, n * sizeof *u);
    if (!m || count < m) return;
    const uint32_t by = hg_clz64(v[m - 1]);
    (void)tile_wide_shift_up(v, m, by);
    u[count] = tile_wide_shift_up(u, count, by);
    const hg_u128 d = ((hg_u128)v[m - 1] << 64) | v[(int64_t)m - 2];
    const uint64_t reciprocal = tile_wide_reciprocal((uint64_t)(d >> 64), (uint64_t)d);
    for (uint32_t j = count - m + 1; j-- > 0;)
        q[j] = tile_wide_subtract(u + j, v, m, tile_wide_guess(u + j + m, d, reciprocal));
    for (uint32_t i = 0; i < m && by; i++) u[i] = u[i] >> by | u[i + 1] << (64 - by);
}

static void tile_wide_negate(uint64_t *x, uint32_t n) {
    uint64_t carry = 1;
    for (uint32_t i = 0; i < n; i++) {
        x[i] = ~x[i] + carry;
        carry = carry && x[i] == 0;
    }
}

/* One lane: u becomes the quotient or the rest. u and v begin at [2] and [1]. */
static inline void tile_wide_divide_lane(uint64_t *u, uint64_t *v, uint32_t n, const int is_signed,
                                         const int rest) {
    uint64_t q[TILE_WIDE_LIMBS];
    const int minus_u = is_signed && u[n - 1] >> 63, minus_v = is_signed && v[n - 1] >> 63;
    u[-2] = u[-1] = v[-1] = 0;
    if (minus_u) tile_wide_negate(u, n);
    if (minus_v) tile_wide_negate(v, n);
    tile_wide_divide(q, u, v, n);
    if (!rest) memcpy(u, q, n * sizeof *u);
    if (rest ? minus_u : minus_u != minus_v) tile_wide_negate(u, n);
}

/* Two limbs, mostly by one: no digits are guessed. By zero both are zero. */
static inline hg_u128 tile_wide_divide_2(hg_u128 u, hg_u128 v, const int rest) {
    if (!v) return 0;
#if defined(HG_HAVE_DIVIDE_128)
    if (!(v >> 64)) {
        const uint64_t d = (uint64_t)v;
        uint64_t high = (uint64_t)(u >> 64), above = 0, left;
        if (high >= d) above = high / d, high %= d;
        const uint64_t q = hg_divide_128(high, (uint64_t)u, d, &left);
        return rest ? left : (hg_u128)above << 64 | q;
    }
#endif
    return rest ? u % v : u / v;
}

static inline void tile_wide_division_2(const tile_wide *w, const int is_signed, const int rest) {
    for (uint64_t i = 0, width = w->width; i < w->n; i++) {
        if (w->active && !w->active[i]) continue;
        hg_u128 u = (hg_u128)w->a[i + width] << 64 | w->a[i],
                v = (hg_u128)w->b[i + width] << 64 | w->b[i];
        const int minus_u = is_signed && w->a[i + width] >> 63,
                  minus_v = is_signed && w->b[i + width] >> 63;
        hg_u128 r = tile_wide_divide_2(minus_u ? -u : u, minus_v ? -v : v, rest);
        if (rest ? minus_u : minus_u != minus_v) r = -r;
        w->d[i] = (uint64_t)r;
        w->d[i + width] = (uint64_t)(r >> 64);
    }
}

static inline void tile_wide_division(const tile_wide *w, const int is_signed, const int rest) {
    if (w->limbs == 2) {
        tile_wide_division_2(w, is_signed, rest);
        return;
    }
    tile_wide_number u[TILE_WIDE_LANES], v[TILE_WIDE_LANES];
    for (uint64_t lane = 0; lane < w->n; lane += TILE_WIDE_LANES) {
        const uint64_t lanes = tile_wide_lanes(w, lane);
        tile_wide_get(w, w->a, lane, lanes, u, 2);
        tile_wide_get(w, w->b, lane, lanes, v, 1);
        for (uint64_t l = 0; l < lanes; l++)
            if (!w->active || w->active[lane + l])
                tile_wide_divide_lane(u[l] + 2, v[l] + 1, w->limbs, is_signed, rest);
        tile_wide_put(w, lane, lanes, (const tile_wide_number *)u, 2);
    }
}
static void tile_wide_udiv(const tile_wide *w) { tile_wide_division(w, 0, 0); }
static void tile_wide_urem(const tile_wide *w) { tile_wide_division(w, 0, 1); }
static void tile_wide_sdiv(const tile_wide *w) { tile_wide_division(w, 1, 0); }
static void tile_wide_srem(const tile_wide *w) { tile_wide_division(w, 1, 1); }

#include "tile/wide_power.h"

#define TILE_WIDE_TABLE                                                                        \
    {                                                                                          \
        [KIR_ADD] = tile_wide_add, [KIR_SUB] = tile_wide_sub, [KIR_MUL] = tile_wide_mul,       \
        [KIR_AND] = tile_wide_and, [KIR_OR] = tile_wide_or, [KIR_XOR] = tile_wide_xor,         \
        [KIR_UDIV] = tile_wide_udiv, [KIR_UREM] = tile_wide_urem, [KIR_SDIV] = tile_wide_sdiv, \
        [KIR_SREM] = tile_wide_srem, [KIR_DERIVED] = tile_wide_powm                            \
    }

#endif
