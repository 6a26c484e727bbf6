/* Powers with a modulus: products in digits of 16 bits and long division as on paper, the
 * exponent's bits from the lowest. */
#include "oracle_internal.h"
#include <string.h>

enum { DIGITS = ORACLE_MAX_BYTES / 2 };

static void load(const uint8_t *bytes, uint32_t size, uint16_t *x, uint32_t n) {
    memset(x, 0, n * sizeof *x);
    for (uint32_t i = 0; i < size; i++) x[i / 2] = (uint16_t)(x[i / 2] | bytes[i] << (8 * (i % 2)));
}

static uint32_t length_of(const uint16_t *x, uint32_t n) {
    while (n > 0 && x[n - 1] == 0) n--;
    return n;
}

/* x -= q * y * 2^(16 at); true where that was too much: what is missing then is one y. */
static bool subtract(uint16_t *x, const uint16_t *y, uint32_t n, uint32_t at, uint32_t q) {
    int64_t carry = 0;
    for (uint32_t i = 0; i <= n; i++) {
        int64_t digit = (int64_t)x[at + i] - (i < n ? (int64_t)q * y[i] : 0) + carry;
        x[at + i] = (uint16_t)(digit & 0xFFFF);
        carry = (digit - (digit & 0xFFFF)) / 65536;
    }
    return carry < 0;
}

static void add_back(uint16_t *x, const uint16_t *y, uint32_t n, uint32_t at) {
    uint32_t carry = 0;
    for (uint32_t i = 0; i <= n; i++) {
        carry += (uint32_t)x[at + i] + (i < n ? y[i] : 0u);
        x[at + i] = (uint16_t)carry;
        carry >>= 16;
    }
}

/* x mod y, in place; x has a digit more than it needs. A digit of the quotient is guessed from
 * above by the upper digits, in three of x and two of y, and put right by as many y as it was too
 * large. */
static void reduce(uint16_t *x, uint32_t n, const uint16_t *y, uint32_t m) {
    uint32_t length = length_of(y, m);
    uint64_t top = (uint64_t)y[length - 1] << 16 | (length > 1 ? y[length - 2] : 0u);
    for (uint32_t at = n - length; at-- > 0;) {
        uint64_t upper = (uint64_t)x[at + length] << 32 | (uint64_t)x[at + length - 1] << 16 |
                         (length > 1 ? x[at + length - 2] : 0u);
        uint64_t guess = upper / top;
        if (guess > 0xFFFF) guess = 0xFFFF;
        if (!subtract(x, y, length, at, (uint32_t)guess)) continue;
        while (x[at + length] & 0x8000)
            add_back(x, y, length, at); /* until it is no longer negative */
    }
}

static void multiply_mod(uint16_t *r, const uint16_t *a, const uint16_t *b, const uint16_t *m,
                         uint32_t n) {
    uint16_t x[2 * DIGITS + 1] = {0};
    for (uint32_t i = 0; i < n; i++) {
        uint32_t carry = 0;
        for (uint32_t j = 0; j < n; j++) {
            carry += (uint32_t)a[i] * b[j] + x[i + j];
            x[i + j] = (uint16_t)carry;
            carry >>= 16;
        }
        x[i + n] = (uint16_t)carry;
    }
    reduce(x, 2 * n + 1, m, n);
    memcpy(r, x, n * sizeof *r);
}

oracle_outcome oracle_power(hg_type type, const uint8_t *const *args, uint8_t *result) {
    uint32_t size = oracle_size(type), n = (size + 1) / 2, last = 8 * size;
    uint16_t base[DIGITS], m[DIGITS], power[DIGITS] = {1}, one[DIGITS] = {1};
    load(args[0], size, base, n);
    load(args[2], size, m, n);
    if (length_of(m, n) == 0) return ORACLE_DIVISION_BY_ZERO;
    while (last > 0 && !(args[1][(last - 1) / 8] >> ((last - 1) % 8) & 1)) last--;
    multiply_mod(power, power, one, m, n); /* 1 mod 1 is 0 */
    for (uint32_t i = 0; i < last; i++) {
        if (args[1][i / 8] >> (i % 8) & 1) multiply_mod(power, power, base, m, n);
        multiply_mod(base, base, base, m, n);
    }
    for (uint32_t i = 0; i < size; i++) result[i] = (uint8_t)(power[i / 2] >> (8 * (i % 2)));
    return ORACLE_OK;
}
