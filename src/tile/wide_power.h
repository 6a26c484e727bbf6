/* Powers with a modulus of wide integers, static: by Montgomery's products where the modulus is
 * odd, else by division. */
#ifndef HG_TILE_WIDE_POWER_H
#define HG_TILE_WIDE_POWER_H

#include "base/base.h"
#include "tile/wide.h"
#if defined(__AVX512F__) && defined(__x86_64__)
#include <immintrin.h>
#endif

static inline uint32_t tile_wide_length(const uint64_t *x, uint32_t n) {
    while (n && !x[n - 1]) n--;
    return n;
}
static inline uint32_t tile_wide_bits(const uint64_t *x, uint32_t n) {
    n = tile_wide_length(x, n);
    return n ? 64 * n - hg_clz64(x[n - 1]) : 0;
}
static inline uint32_t tile_wide_bit(const uint64_t *x, uint32_t i) {
    return (uint32_t)(x[i / 64] >> i % 64) & 1;
}

/* u = x · y, of n limbs each and 2 n together. */
static void tile_wide_multiply(uint64_t *u, const uint64_t *x, const uint64_t *y, uint32_t n) {
    memset(u, 0, n * sizeof *u);
    for (uint32_t i = 0; i < n; i++) u[i + n] = tile_wide_row(u + i, x[i], y, n);
}

/* u = x · x: the products of two different limbs once, all of that twice, and the squares. */
static void tile_wide_square(uint64_t *u, const uint64_t *x, uint32_t n) {
    memset(u, 0, 2 * n * sizeof *u);
    for (uint32_t i = 0; i + 1 < n; i++)
        u[i + n] = tile_wide_row(u + 2 * i + 1, x[i], x + i + 1, n - i - 1);
    uint64_t low = 0, carry = 0;
    for (uint32_t i = 0; i < n; i++) {
        const hg_u128 square = (hg_u128)x[i] * x[i];
        const uint64_t even = u[2 * i] << 1 | low, odd = u[2 * i + 1] << 1 | u[2 * i] >> 63;
        low = u[2 * i + 1] >> 63;
        const hg_u128 a = (hg_u128)even + (uint64_t)square + carry;
        const hg_u128 b = (hg_u128)odd + (uint64_t)(square >> 64) + (uint64_t)(a >> 64);
        u[2 * i] = (uint64_t)a;
        u[2 * i + 1] = (uint64_t)b;
        carry = (uint64_t)(b >> 64);
    }
}

/* x = u / B^n mod m for B = 2^64, an odd m of n limbs, u below m · B^n and inverse = -1 / m mod B.
 * Montgomery: Modular Multiplication Without Trial Division, Mathematics of Computation 44, 1985.
 */
static void tile_wide_reduce(uint64_t *x, uint64_t *u, const uint64_t *m, uint32_t n,
                             uint64_t inverse) {
    uint64_t above = 0, borrow = 0;
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t carry = tile_wide_row(u + i, u[i] * inverse, m, n);
        const hg_u128 t = (hg_u128)u[i + n] + carry + above;
        u[i + n] = (uint64_t)t;
        above = (uint64_t)(t >> 64);
    }
    for (uint32_t i = 0; i < n; i++) {
        const hg_u128 t = (hg_u128)u[i + n] - m[i] - borrow;
        x[i] = (uint64_t)t;
        borrow = (uint64_t)(t >> 64) & 1;
    }
    if (above < borrow) memcpy(x, u + n, n * sizeof *x);
}

/* -1 / m mod B of an odd m. */
static inline uint64_t tile_wide_inverse(uint64_t m) {
    uint64_t inverse = m; /* right in 3 bits: m² = 1 mod 8; each step doubles them */
    for (int i = 0; i < 5; i++) inverse *= 2 - m * inverse;
    return 0 - inverse;
}

/* r = u mod m, of limbs limbs, by zero 0; u has count of them from [2] on, one more above, and
 * becomes anything. */
static void tile_wide_rest(uint64_t *r, uint64_t *u, uint32_t count, const uint64_t *m,
                           uint32_t limbs) {
    uint64_t v[2 * TILE_WIDE_LIMBS + 2], q[2 * TILE_WIDE_LIMBS + 1];
    u[0] = u[1] = u[2 + count] = 0;
    memset(v, 0, (count + 1) * sizeof *v);
    memcpy(v + 1, m, limbs * sizeof *m);
    tile_wide_divide(q, u + 2, v + 1, count);
    memcpy(r, u + 2, limbs * sizeof *r);
}

/* r = x · 2^bits mod m, bits <= 64 · limbs + 63. */
static void tile_wide_residue(uint64_t *r, const uint64_t *x, const uint64_t *m, uint32_t limbs,
                              uint32_t bits) {
    uint64_t u[2 * TILE_WIDE_LIMBS + 4];
    const uint32_t n = limbs + bits / 64 + 1;
    memset(u, 0, (n + 2) * sizeof *u);
    memcpy(u + 2 + bits / 64, x, limbs * sizeof *x);
    (void)tile_wide_shift_up(u + 2, n, bits % 64);
    tile_wide_rest(r, u, n, m, limbs);
}

/* r = r · y mod m by division, for moduli that are even and short exponents; y may be r. */
static void tile_wide_mulmod(uint64_t *r, const uint64_t *y, const uint64_t *m, uint32_t n) {
    uint64_t u[2 * TILE_WIDE_LIMBS + 3];
    tile_wide_multiply(u + 2, r, y, n);
    tile_wide_rest(r, u, 2 * n, m, n);
}

/* r = x^e mod m of an odd m of n limbs, limbs being those of the arrays: windows of up to five bits
 * that begin and end with a one, from the highest bit (Menezes, van Oorschot, Vanstone: Handbook of
 * Applied Cryptography, algorithm 14.85). */
static void tile_wide_power_odd(uint64_t *r, const uint64_t *x, const uint64_t *e,
                                const uint64_t *m, uint32_t limbs, uint32_t n, uint32_t bits) {
    uint64_t odd[16][TILE_WIDE_LIMBS], square[TILE_WIDE_LIMBS], u[2 * TILE_WIDE_LIMBS];
    const uint64_t inverse = tile_wide_inverse(m[0]);
    const uint32_t most = bits < 24 ? 2 : bits < 80 ? 3 : bits < 240 ? 4 : 5;
    tile_wide_residue(odd[0], x, m, limbs, 64 * n);
    tile_wide_square(u, odd[0], n);
    tile_wide_reduce(square, u, m, n, inverse);
    for (uint32_t i = 1; i < 1u << (most - 1); i++) {
        tile_wide_multiply(u, odd[i - 1], square, n);
        tile_wide_reduce(odd[i], u, m, n, inverse);
    }
    memset(r, 0, limbs * sizeof *r);
    bool begun = false;
    for (uint32_t at = bits; at > 0;) {
        uint32_t window = at < most ? at : most, power = 0;
        if (!tile_wide_bit(e, at - 1)) window = 1;
        while (!tile_wide_bit(e, at - window) && window > 1) window--;
        for (uint32_t i = 1; i <= window; i++) power = power << 1 | tile_wide_bit(e, at - i);
        for (uint32_t i = 0; i < window && begun; i++) {
            tile_wide_square(u, r, n);
            tile_wide_reduce(r, u, m, n, inverse);
        }
        at -= window;
        if (!power) continue;
        if (begun) {
            tile_wide_multiply(u, r, odd[power / 2], n);
            tile_wide_reduce(r, u, m, n, inverse);
        } else
            memcpy(r, odd[power / 2], n * sizeof *r);
        begun = true;
    }
    memset(u, 0, 2 * n * sizeof *u);
    memcpy(u, r, n * sizeof *u);
    tile_wide_reduce(r, u, m, n, inverse);
}

/* One lane: r = x^e mod m, by zero 0. Returns what it cost, in rows of limbs. */
static uint64_t tile_wide_power(uint64_t *r, const uint64_t *x, const uint64_t *e,
                                const uint64_t *m, uint32_t limbs) {
    const uint32_t n = tile_wide_length(m, limbs), bits = tile_wide_bits(e, limbs);
    if (n && m[0] & 1 && bits > 3)
        tile_wide_power_odd(r, x, e, m, limbs, n, bits);
    else {
        uint64_t one[TILE_WIDE_LIMBS] = {1}, base[TILE_WIDE_LIMBS];
        tile_wide_residue(r, one, m, limbs, 0);
        tile_wide_residue(base, x, m, limbs, 0);
        for (uint32_t at = bits; at-- > 0;) {
            tile_wide_mulmod(r, r, m, n);
            if (tile_wide_bit(e, at)) tile_wide_mulmod(r, base, m, n);
        }
    }
    return (uint64_t)(bits + 1) * n;
}

#if defined(__AVX512F__) && defined(__x86_64__)
/* Eight lanes at once, a limb of 52 bits in each element of a vector, where the processor
 * multiplies those. */
#define TILE_WIDE_IFMA
enum { TILE_IFMA_LIMBS = (64 * TILE_WIDE_LIMBS + 2 + 51) / 52, TILE_IFMA_WINDOW = 4 };

/* Numbers of 52-bit limbs of eight lanes. */
typedef __m512i tile_ifma_number[TILE_IFMA_LIMBS];
typedef struct tile_ifma {
    tile_ifma_number m, power, factor, table[1 << TILE_IFMA_WINDOW];
    __m512i inverse; /* -1 / m mod 2^52 */
    uint32_t n;      /* 2^52n > 4 m: results below 2 m are never subtracted from */
} tile_ifma;

HG_FOR_IFMA static void tile_ifma_get(__m512i *to, const tile_wide_number *from, uint32_t n,
                                      uint32_t limbs) {
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t at = 52 * k / 64, by = 52 * k % 64;
        uint64_t limb[TILE_WIDE_LANES];
        for (uint32_t l = 0; l < TILE_WIDE_LANES; l++) {
            const uint64_t low = at < limbs ? from[l][at] : 0,
                           high = at + 1 < limbs ? from[l][at + 1] : 0;
            limb[l] = (by ? low >> by | high << (64 - by) : low) & ((UINT64_C(1) << 52) - 1);
        }
        to[k] = _mm512_loadu_si512(limb);
    }
}

/* The limbs' sums become limbs. */
HG_FOR_IFMA static inline void tile_ifma_carry(__m512i *x, uint32_t n) {
    const __m512i all = _mm512_set1_epi64((INT64_C(1) << 52) - 1);
    __m512i carry = _mm512_setzero_si512();
    for (uint32_t k = 0; k < n; k++) {
        const __m512i sum = _mm512_add_epi64(x[k], carry);
        carry = _mm512_srli_epi64(sum, 52);
        x[k] = _mm512_and_si512(sum, all);
    }
}

/* r = x · y / 2^52n mod m, below 2 m as x and y are; a row of x · y and one of q · m at a time,
 * moved down by a limb. A sum has four products of each row, so that it stays below 2^61. r is
 * neither x nor y. */
HG_FOR_IFMA static void tile_ifma_multiply(const tile_ifma *p, __m512i *restrict r,
                                           const __m512i *x, const __m512i *y) {
    const __m512i zero = _mm512_setzero_si512();
    const uint32_t n = p->n;
    for (uint32_t k = 0; k < n; k++) r[k] = zero;
    for (uint32_t i = 0; i < n; i++) {
        const __m512i a = x[i];
        __m512i below = y[0], m_below = p->m[0], low = _mm512_madd52lo_epu64(r[0], a, below);
        const __m512i q = _mm512_madd52lo_epu64(zero, low, p->inverse);
        __m512i carry = _mm512_srli_epi64(_mm512_madd52lo_epu64(low, q, m_below), 52);
        for (uint32_t k = 1; k < n; k++) {
            __m512i sum = _mm512_madd52lo_epu64(_mm512_add_epi64(r[k], carry), a, y[k]);
            sum = _mm512_madd52lo_epu64(sum, q, p->m[k]);
            __m512i high = _mm512_madd52hi_epu64(zero, a, below);
            high = _mm512_madd52hi_epu64(high, q, m_below);
            r[k - 1] = _mm512_add_epi64(sum, high);
            below = y[k];
            m_below = p->m[k];
            carry = zero;
        }
        r[n - 1] = _mm512_madd52hi_epu64(_mm512_madd52hi_epu64(n > 1 ? zero : carry, a, below), q,
                                         m_below);
    }
    tile_ifma_carry(r, n);
}

/* r = x^e mod m in all eight lanes for odd m, bits being those of the longest exponent: windows of
 * four bits, from the highest. */
HG_FOR_IFMA static void tile_ifma_power(tile_ifma *p, tile_wide_number *r,
                                        const tile_wide_number *x, const tile_wide_number *e,
                                        const tile_wide_number *m, uint32_t limbs, uint32_t bits) {
    tile_wide_number one[2];
    uint64_t inverse[TILE_WIDE_LANES];
    tile_wide_number work[TILE_WIDE_LANES];
    const uint32_t n = p->n;
    tile_ifma_get(p->m, m, n, limbs);
    for (uint32_t l = 0; l < TILE_WIDE_LANES; l++)
        inverse[l] = tile_wide_inverse(m[l][0]) & ((UINT64_C(1) << 52) - 1);
    p->inverse = _mm512_loadu_si512(inverse);
    memset(one, 0, sizeof one);
    one[0][0] = 1;
    for (uint32_t l = 0; l < TILE_WIDE_LANES; l++)
        tile_wide_residue(work[l], one[0], m[l], limbs, 52 * n);
    tile_ifma_get(p->table[0], work, n, limbs);
    for (uint32_t l = 0; l < TILE_WIDE_LANES; l++)
        tile_wide_residue(work[l], x[l], m[l], limbs, 52 * n);
    tile_ifma_get(p->table[1], work, n, limbs);
    for (uint32_t i = 2; i < 1 << TILE_IFMA_WINDOW; i++)
        tile_ifma_multiply(p, p->table[i], p->table[i - 1], p->table[1]);
    memcpy(p->power, p->table[0], n * sizeof p->power[0]);
    for (uint32_t at = (bits + TILE_IFMA_WINDOW - 1) / TILE_IFMA_WINDOW * TILE_IFMA_WINDOW;
         at > 0;) {
        at -= TILE_IFMA_WINDOW;
        for (int i = 0; i < TILE_IFMA_WINDOW; i += 2) {
            tile_ifma_multiply(p, p->factor, p->power, p->power);
            tile_ifma_multiply(p, p->power, p->factor, p->factor);
        }
        uint64_t place[TILE_WIDE_LANES];
        for (uint32_t l = 0; l < TILE_WIDE_LANES; l++)
            place[l] = (e[l][at / 64] >> at % 64 & ((1 << TILE_IFMA_WINDOW) - 1)) *
                           (sizeof p->table[0] / 8) +
                       l;
        const __m512i index = _mm512_loadu_si512(place);
        __m512i row[TILE_IFMA_LIMBS];
        for (uint32_t k = 0; k < n; k++) row[k] = _mm512_i64gather_epi64(index, &p->table[0][k], 8);
        tile_ifma_multiply(p, p->factor, p->power, row);
        memcpy(p->power, p->factor, n * sizeof p->power[0]);
    }
    tile_ifma_number unit;
    for (uint32_t k = 0; k < n; k++) unit[k] = k ? _mm512_setzero_si512() : _mm512_set1_epi64(1);
    tile_ifma_multiply(p, p->factor, p->power, unit); /* at most m */
    for (uint32_t l = 0; l < TILE_WIDE_LANES; l++) {
        memset(work[l], 0, sizeof work[l]);
        for (uint32_t k = 0; k < n; k++) {
            const uint64_t limb = ((const uint64_t *)&p->factor[k])[l];
            const uint32_t word = 52 * k / 64, by = 52 * k % 64;
            work[l][word] |= limb << by;
            if (by > 12) work[l][word + 1] |= limb >> (64 - by);
        }
        if (memcmp(work[l], m[l], limbs * sizeof m[l][0]) == 0) memset(work[l], 0, sizeof work[l]);
        memcpy(r[l], work[l], limbs * sizeof r[l][0]);
    }
}
#endif

/* r = x^e mod m in those of the lanes that are asked for. Returns what it cost. */
static uint64_t tile_wide_powers(tile_wide_number *r, const tile_wide_number *x,
                                 const tile_wide_number *e, tile_wide_number *m, uint32_t limbs,
                                 uint32_t lanes) {
    uint64_t cost = 0;
#ifdef TILE_WIDE_IFMA
    enum { FEW = 3 }; /* eight at once take as long as two or three */
    uint32_t together = 0, n = 0, bits = 0;
    for (uint32_t l = 0; l < TILE_WIDE_LANES; l++) {
        if (!(lanes >> l & 1) || !(m[l][0] & 1)) continue;
        together |= 1u << l;
        const uint32_t m_limbs = tile_wide_length(m[l], limbs),
                       e_bits = tile_wide_bits(e[l], limbs);
        if (m_limbs > n) n = m_limbs;
        if (e_bits > bits) bits = e_bits;
    }
    tile_ifma *p = bits > 3 && hg_popcount32(together) >= FEW && hg_cpu_supports("avx512ifma")
                       ? hg_alloc_aligned(sizeof *p, 64)
                       : NULL;
    if (p) {
        tile_wide_number of[TILE_WIDE_LANES];
        for (uint32_t l = 0; l < TILE_WIDE_LANES; l++) {
            memset(of[l], 0, sizeof of[l]);
            of[l][0] = 1; /* lanes that take no part: mod 1 */
            if (together >> l & 1) memcpy(of[l], m[l], limbs * sizeof of[l][0]);
        }
        p->n = (64 * n + 2 + 51) / 52;
        tile_ifma_power(p, r, x, e, (const tile_wide_number *)of, limbs, bits);
        hg_free_aligned(p);
        lanes &= ~together;
        cost = 2 * (uint64_t)(bits + 1) * n;
    }
#endif
    for (uint32_t l = 0; l < TILE_WIDE_LANES; l++)
        if (lanes >> l & 1) cost += tile_wide_power(r[l], x[l], e[l], m[l], limbs);
    return cost;
}

static void tile_wide_powm(const tile_wide *w) {
    tile_wide_number x[TILE_WIDE_LANES], e[TILE_WIDE_LANES], m[TILE_WIDE_LANES], r[TILE_WIDE_LANES];
    for (uint64_t lane = 0; lane < w->n; lane += TILE_WIDE_LANES) {
        const uint64_t lanes = tile_wide_lanes(w, lane);
        uint32_t run = 0;
        tile_wide_get(w, w->a, lane, lanes, x, 0);
        tile_wide_get(w, w->b, lane, lanes, e, 0);
        tile_wide_get(w, w->c, lane, lanes, m, 0);
        for (uint32_t l = 0; l < lanes; l++)
            run |= (uint32_t)(!w->active || w->active[lane + l]) << l;
        if (!run) continue;
        *w->fuel -= (int64_t)tile_wide_powers(r, x, e, m, w->limbs, run);
        if (*w->fuel < 0 && !w->go_on(w->user)) return;
        tile_wide_put(w, lane, lanes, (const tile_wide_number *)r, 0);
    }
}

#endif
