/* The arguments: whole numbers only, so that every machine makes the same. What
 * docs/reference/bits.json says of them is this. */
#include "bits.h"
#include <string.h>

/* Word w of argument k of lane i: SplitMix64 of a counter. */
static uint64_t word(uint64_t lane, uint32_t argument, uint32_t w) {
    uint64_t z = ((lane << 8) + argument * 64 + w + 1) * UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

static uint32_t fraction_bits(hg_type type) {
    return type == HG_TYPE_F16 ? 10 : type == HG_TYPE_BF16 ? 7 : type == HG_TYPE_F32 ? 23 : 52;
}

static uint64_t float_bits(hg_type type, uint64_t kind, uint64_t r) {
    uint32_t width = 8 * (uint32_t)hg_type_size_bytes(type), fraction = fraction_bits(type),
             exponent = width - 1 - fraction;
    uint64_t ones = (UINT64_C(1) << fraction) - 1, most = (UINT64_C(1) << exponent) - 1,
             bias = most / 2, sign = r >> 63;
    const uint64_t exponents[] = {0,        0,    1,   bias - 1, bias, bias + 1, bias + fraction,
                                  most - 1, most, most};
    const uint64_t fractions[] = {0, 0, 1, ones, ones - 1, ones / 2, ones / 2 + 1, r >> 8 & ones};
    if (kind == 0)
        return sign << (width - 1) | exponents[r % 10] << fraction | fractions[r / 10 % 8];
    if (kind == 1) return width == 64 ? r : r & ((UINT64_C(1) << width) - 1);
    uint64_t e = kind == 2 ? bias + r % 17 - 8 : bias + r % 3 - 1, low = r >> 6 & ones;
    if (kind == 3) low &= ~(ones >> 6);
    return sign << (width - 1) | e << fraction | low;
}

/* Special, any, of any length, small. */
static void integer_bits(hg_type type, uint64_t kind, uint64_t lane, uint32_t argument,
                         uint8_t *to) {
    uint32_t size = (uint32_t)hg_type_size_bytes(type), bit;
    uint64_t r = word(lane, argument, 0);
    bool minus = r >> 63;
    if (kind == 0) { /* 0, -1, a power of two, one less, MIN, MAX */
        bit = (uint32_t)(r >> 3) % (8 * size);
        memset(to, r % 6 == 1 ? 0xFF : 0, size);
        if (r % 6 == 2 || r % 6 == 3) to[bit / 8] = (uint8_t)(1u << bit % 8);
        for (uint32_t i = 0; r % 6 == 3 && i <= bit / 8; i++)
            to[i] = i < bit / 8 ? 0xFF : (uint8_t)(to[i] - 1);
        if (r % 6 == 4) to[size - 1] = 0x80;
        if (r % 6 == 5) memset(to, 0xFF, size), to[size - 1] = 0x7F;
        return;
    }
    uint32_t filled = kind == 1 ? size : kind == 2 ? 1 + (uint32_t)(r >> 3) % size : 1;
    memset(to, minus ? 0xFF : 0, size);
    for (uint32_t i = 0; i < filled; i++)
        to[i] = (uint8_t)(word(lane, argument, i / 8) >> (8 * (i % 8)));
    if (kind == 3) to[0] &= 0x0F;
    if (kind == 3 && minus) to[0] |= 0xF0;
}

void bits_fill(const bits_case *c, uint32_t argument, uint64_t first, uint64_t n, uint8_t *to) {
    hg_type type = c->types[argument];
    uint32_t size = (uint32_t)hg_type_size_bytes(type);
    bool amount = (c->op == HG_OP_SHL || c->op == HG_OP_SHR) && argument == 1;
    bool divisor = (c->op == HG_OP_DIV || c->op == HG_OP_REM) && argument == 1 &&
                   !hg_type_is_float(type);
    divisor = divisor || (c->op == HG_OP_POWM && argument == 2);
    static const uint8_t zero[512];
    for (uint64_t i = first; i < first + n; i++, to += size) {
        uint64_t kind = i >> (2 * argument) & 3, r = word(i, argument, 0);
        if (hg_type_is_float(type)) {
            uint64_t bits = float_bits(type, kind, r);
            memcpy(to, &bits, size);
        } else {
            integer_bits(type, kind, i, argument, to);
        }
        if (c->predicate[argument]) to[0] = (uint8_t)(r & 1);
        if (amount && kind > 0)
            memset(to, 0, size), to[0] = (uint8_t)r, to[1] = (uint8_t)(r >> 8 & 0x1F);
        if (c->op == HG_OP_POWM && argument == 1 && size > 8)
            memset(to + 2, 0, size - 2); /* wide exponents take long */
        if (divisor && memcmp(to, zero, size) == 0) to[0] = 1;
    }
}

static void canonical(hg_type type, uint8_t *at) {
    uint32_t size = (uint32_t)hg_type_size_bytes(type), fraction = fraction_bits(type);
    uint64_t bits = 0, sign = UINT64_C(1) << (8 * size - 1),
             infinite = (sign - 1) >> fraction << fraction;
    memcpy(&bits, at, size);
    if ((bits & (sign - 1)) <= infinite) return;
    bits = infinite | UINT64_C(1) << (fraction - 1);
    memcpy(at, &bits, size);
}

uint64_t bits_hash(uint64_t hash, hg_type type, uint8_t *results, uint64_t n) {
    uint64_t size = hg_type_size_bytes(type);
    for (uint64_t i = 0; i < n && hg_type_is_float(type); i++) canonical(type, results + i * size);
    for (uint64_t i = 0; i < n * size; i++) hash = (hash ^ results[i]) * UINT64_C(0x100000001B3);
    return hash;
}
