/* Integers of every width as rows of bits and bytes: rotations, counts, orders, carries,
 * saturation, products of twice the width. One bit, or one byte with its carry, at a time. */
#include "oracle_internal.h"
#include <string.h>

static bool bit_of(const uint8_t *x, uint32_t i) { return x[i / 8] >> (i % 8) & 1; }
static void set_bit(uint8_t *x, uint32_t i, bool value) {
    if (value) x[i / 8] = (uint8_t)(x[i / 8] | 1u << (i % 8));
}

static void put_u32(uint32_t value, uint8_t *result) {
    for (int i = 0; i < 4; i++) result[i] = (uint8_t)(value >> (8 * i));
}

/* Bit i of the operand goes to place (i + amount) mod width, or to (i - amount) mod width. */
static void rotate(bool left, uint32_t bits, const uint8_t *x, const uint8_t *amount,
                   uint8_t *result) {
    uint32_t by = ((uint32_t)amount[0] | (uint32_t)amount[1] << 8) % bits; /* widths divide 2^16 */
    memset(result, 0, bits / 8);
    for (uint32_t i = 0; i < bits; i++)
        set_bit(result, left ? (i + by) % bits : (i + bits - by) % bits, bit_of(x, i));
}

static void count(hg_op op, uint32_t bits, const uint8_t *x, uint8_t *result) {
    uint32_t n = 0;
    if (op == HG_OP_POPC)
        for (uint32_t i = 0; i < bits; i++) n += bit_of(x, i);
    if (op == HG_OP_CLZ)
        while (n < bits && !bit_of(x, bits - 1 - n)) n++;
    if (op == HG_OP_CTZ)
        while (n < bits && !bit_of(x, n)) n++;
    put_u32(n, result);
}

static void reverse(hg_op op, uint32_t size, const uint8_t *x, uint8_t *result) {
    memset(result, 0, size);
    for (uint32_t i = 0; i < size && op == HG_OP_BSWAP; i++) result[i] = x[size - 1 - i];
    for (uint32_t i = 0; i < 8 * size && op == HG_OP_BREV; i++)
        set_bit(result, i, bit_of(x, 8 * size - 1 - i));
}

/* a + b + carry or a - b - carry of so many bytes; returns the carry or borrow out of the highest.
 */
static bool add_bytes(bool subtract, uint32_t size, const uint8_t *a, const uint8_t *b, bool carry,
                      uint8_t *result) {
    for (uint32_t i = 0; i < size; i++) {
        int digit = subtract ? a[i] - b[i] - carry : a[i] + b[i] + carry;
        carry = digit < 0 || digit > 255;
        result[i] = (uint8_t)(digit + 256);
    }
    return carry;
}

/* One byte more holds every sum and difference; where that byte is not the sign of the rest, the
 * nearest end stands for it. */
static void saturate(bool subtract, hg_type type, const uint8_t *a, const uint8_t *b,
                     uint8_t *result) {
    uint32_t size = oracle_size(type);
    uint8_t x[ORACLE_MAX_BYTES + 1], y[ORACLE_MAX_BYTES + 1], sum[ORACLE_MAX_BYTES + 1];
    bool is_signed = oracle_is_signed(type);
    memcpy(x, a, size);
    memcpy(y, b, size);
    x[size] = is_signed && bit_of(a, 8 * size - 1) ? 0xFF : 0;
    y[size] = is_signed && bit_of(b, 8 * size - 1) ? 0xFF : 0;
    add_bytes(subtract, size + 1, x, y, false, sum);
    bool below = (sum[size] & 0x80) != 0,
         fits = sum[size] == (is_signed && bit_of(sum, 8 * size - 1) ? 0xFF : 0);
    memcpy(result, sum, size);
    if (fits) return;
    memset(result, below ? 0 : 0xFF, size);
    if (is_signed) result[size - 1] = below ? 0x80 : 0x7F;
}

/* The product of two numbers of size bytes, sign-extended to twice as many, modulo 2^(16 size):
 * schoolbook, in bytes. */
static void product(uint32_t size, bool is_signed, const uint8_t *a, const uint8_t *b,
                    uint8_t *result) {
    uint8_t x[2 * ORACLE_MAX_BYTES], y[2 * ORACLE_MAX_BYTES];
    memset(x, is_signed && bit_of(a, 8 * size - 1) ? 0xFF : 0, sizeof x);
    memset(y, is_signed && bit_of(b, 8 * size - 1) ? 0xFF : 0, sizeof y);
    memcpy(x, a, size);
    memcpy(y, b, size);
    memset(result, 0, 2 * size);
    for (uint32_t i = 0; i < 2 * size; i++) {
        uint32_t carry = 0;
        for (uint32_t j = 0; i + j < 2 * size; j++) {
            carry += (uint32_t)x[i] * y[j] + result[i + j];
            result[i + j] = (uint8_t)carry;
            carry >>= 8;
        }
    }
}

/* By the bytes as they lie in memory. */
static void dot4(bool is_signed, const uint8_t *const *args, uint8_t *result) {
    int64_t sum = (int64_t)args[2][0] | (int64_t)args[2][1] << 8 | (int64_t)args[2][2] << 16 |
                  (int64_t)args[2][3] << 24;
    for (int i = 0; i < 4; i++) {
        int a = args[0][i], b = args[1][i];
        if (is_signed && a > 127) a -= 256;
        if (b > 127) b -= 256;
        sum += a * b;
    }
    for (int i = 0; i < 4; i++) result[i] = (uint8_t)((uint64_t)sum >> 8 * i);
}

oracle_outcome oracle_bits(hg_op op, hg_type type, hg_type type2, int variant,
                           const uint8_t *const *args, uint8_t *result) {
    uint32_t size = oracle_size(type);
    uint8_t all[2 * ORACLE_MAX_BYTES], carry;
    switch (op) {
    case HG_OP_ROTL:
    case HG_OP_ROTR: rotate(op == HG_OP_ROTL, 8 * size, args[0], args[1], result); return ORACLE_OK;
    case HG_OP_POPC:
    case HG_OP_CLZ:
    case HG_OP_CTZ: count(op, 8 * size, args[0], result); return ORACLE_OK;
    case HG_OP_BREV:
    case HG_OP_BSWAP: reverse(op, size, args[0], result); return ORACLE_OK;
    case HG_OP_ADDC:
    case HG_OP_SUBB:
    case HG_OP_ADDC_FIRST:
    case HG_OP_SUBB_FIRST: {
        bool in = (op == HG_OP_ADDC || op == HG_OP_SUBB) && args[2][0];
        carry = add_bytes(op == HG_OP_SUBB || op == HG_OP_SUBB_FIRST, size, args[0], args[1], in,
                          all);
        memcpy(result, variant ? &carry : all, variant ? 1 : size);
        return ORACLE_OK;
    }
    case HG_OP_ADDS:
    case HG_OP_SUBS: saturate(op == HG_OP_SUBS, type, args[0], args[1], result); return ORACLE_OK;
    case HG_OP_DOT4: dot4(oracle_is_signed(type), args, result); return ORACLE_OK;
    case HG_OP_MULHI:
        product(size, oracle_is_signed(type), args[0], args[1], all);
        memcpy(result, all + size, size);
        return ORACLE_OK;
    case HG_OP_POWM: return oracle_power(type, args, result);
    case HG_OP_MULW:
        product(oracle_size(type2), oracle_is_signed(type2), args[0], args[1], result);
        return ORACLE_OK;
    default: return ORACLE_NONE;
    }
}
