/* Schoolbook arithmetic on little-endian 32-bit limbs, for integers of 128 to 4096 bits. Slow on
 * purpose: every function is the method one would use on paper, so that it can be checked by
 * reading. */
#include "oracle_internal.h"
#include <string.h>

void wide_load(wide *w, const uint8_t *bytes, uint32_t size, bool sign_extend) {
    uint8_t all[sizeof w->limb];
    memset(all, sign_extend && (bytes[size - 1] & 0x80) ? 0xFF : 0, sizeof all);
    memcpy(all, bytes, size);
    for (uint32_t i = 0; i < WIDE_LIMBS; i++)
        w->limb[i] = (uint32_t)all[4 * i] | (uint32_t)all[4 * i + 1] << 8 |
                     (uint32_t)all[4 * i + 2] << 16 | (uint32_t)all[4 * i + 3] << 24;
}

void wide_store(const wide *w, uint8_t *bytes, uint32_t size) {
    for (uint32_t i = 0; i < size; i++) bytes[i] = (uint8_t)(w->limb[i / 4] >> (8 * (i % 4)));
}

void wide_add(wide *r, const wide *a, const wide *b, uint32_t n) {
    uint64_t carry = 0;
    for (uint32_t i = 0; i < n; i++) {
        carry += (uint64_t)a->limb[i] + b->limb[i];
        r->limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
}

void wide_sub(wide *r, const wide *a, const wide *b, uint32_t n) {
    uint64_t borrow = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t d = (uint64_t)a->limb[i] - b->limb[i] - borrow;
        r->limb[i] = (uint32_t)d;
        borrow = d >> 63;
    }
}

void wide_neg(wide *r, const wide *a, uint32_t n) {
    wide zero = {{0}};
    wide_sub(r, &zero, a, n);
}

void wide_mul(wide *r, const wide *a, const wide *b, uint32_t n) {
    memset(r, 0, sizeof *r);
    for (uint32_t i = 0; i < n; i++) {
        uint64_t carry = 0;
        for (uint32_t j = 0; i + j < n; j++) {
            carry += (uint64_t)a->limb[i] * b->limb[j] + r->limb[i + j];
            r->limb[i + j] = (uint32_t)carry;
            carry >>= 32;
        }
    }
}

/* Bit by bit from the top: shift the next bit of a into the remainder, subtract b where it fits.
 * The remainder before a shift is below b, so only its top bit can be lost, and then b fits. */
void wide_divide(wide *quotient, wide *remainder, const wide *a, const wide *b, uint32_t n) {
    wide q = {{0}}, r = {{0}};
    for (uint32_t bit = wide_bit_length(a, n); bit-- > 0;) {
        bool lost = wide_is_negative(&r, n);
        wide_add(&r, &r, &r, n);
        r.limb[0] |= a->limb[bit / 32] >> (bit % 32) & 1;
        if (lost || wide_compare(&r, b, n) >= 0) {
            wide_sub(&r, &r, b, n);
            q.limb[bit / 32] |= (uint32_t)1 << (bit % 32);
        }
    }
    *quotient = q;
    *remainder = r;
}

static uint32_t bit_at(const wide *a, uint32_t bit) { return a->limb[bit / 32] >> (bit % 32) & 1; }

void wide_shl(wide *r, const wide *a, uint32_t amount, uint32_t n) {
    wide out = {{0}};
    for (uint32_t bit = amount; bit < 32 * n; bit++)
        out.limb[bit / 32] |= bit_at(a, bit - amount) << (bit % 32);
    *r = out;
}

void wide_shr(wide *r, const wide *a, uint32_t amount, uint32_t n, bool fill) {
    wide out = {{0}};
    for (uint32_t bit = 0; bit < 32 * n; bit++)
        out.limb[bit / 32] |= (bit + amount < 32 * n ? bit_at(a, bit + amount) : (uint32_t)fill)
                              << (bit % 32);
    *r = out;
}

int wide_compare(const wide *a, const wide *b, uint32_t n) {
    for (uint32_t i = n; i-- > 0;)
        if (a->limb[i] != b->limb[i]) return a->limb[i] < b->limb[i] ? -1 : 1;
    return 0;
}

bool wide_is_zero(const wide *a, uint32_t n) { return wide_bit_length(a, n) == 0; }
bool wide_is_negative(const wide *a, uint32_t n) { return a->limb[n - 1] >> 31; }

uint32_t wide_bit_length(const wide *a, uint32_t n) {
    for (uint32_t i = n; i-- > 0;)
        for (uint32_t bit = 32; a->limb[i] && bit-- > 0;)
            if (a->limb[i] >> bit & 1) return 32 * i + bit + 1;
    return 0;
}
