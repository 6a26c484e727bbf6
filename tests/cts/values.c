/* Values worth trying. */
#include "cts.h"
#include <math.h>
#include <string.h>

uint64_t cts_random(cts *s) { /* SplitMix64 */
    uint64_t z = s->state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

/* Rounding ties, the ends of formats and of integers, arguments where functions overflow, underflow
 * or change branch. */
static const double FLOATS[] = {0,
                                -0.0,
                                1,
                                -1,
                                2,
                                -2,
                                0.5,
                                -0.5,
                                1.5,
                                2.5,
                                -2.5,
                                3,
                                10,
                                -10,
                                0.1,
                                100,
                                0.49999997,
                                1 - 0x1p-11,
                                1 + 0x1p-10,
                                1 - 0x1p-24,
                                1 + 0x1p-23,
                                1 - 0x1p-53,
                                1 + 0x1p-52,
                                3.14159265358979,
                                1.5707963267948966,
                                0.7853981633974483,
                                2.718281828459045,
                                88.7,
                                -87.3,
                                -103.9,
                                709.7,
                                -745.1,
                                11.08,
                                -17.3,
                                127,
                                128,
                                255,
                                256,
                                -128,
                                -129,
                                32767,
                                32768,
                                65504,
                                65519,
                                65520,
                                65536,
                                0x1p23,
                                0x1p23 + 1,
                                0x1p24 + 1,
                                0x1p31,
                                0x1p31 - 1,
                                -0x1p31,
                                0x1p32,
                                0x1p52,
                                0x1p53,
                                0x1p63,
                                -0x1p63,
                                0x1p64,
                                0x1p127,
                                0x1p128,
                                0x1p1023,
                                0x1.fffffep127,
                                0x1.fffffffffffffp1023,
                                0x1p-14,
                                0x1p-24,
                                0x1p-25,
                                0x1.8p-24,
                                0x1p-126,
                                0x1p-149,
                                0x1p-133,
                                0x1p-1022,
                                0x1p-1074};
enum { FLOAT_COUNT = sizeof FLOATS / sizeof FLOATS[0], FLOAT_SPECIALS = 4, INT_EDGES = 22 };

uint32_t cts_edge_count(hg_type type) {
    return oracle_is_float(type) ? FLOAT_COUNT + FLOAT_SPECIALS : INT_EDGES;
}

static void float_edge(hg_type type, uint32_t i, uint8_t *bytes) {
    double value = i < FLOAT_COUNT        ? FLOATS[i]
                   : i == FLOAT_COUNT     ? (double)INFINITY
                   : i == FLOAT_COUNT + 1 ? -(double)INFINITY
                                          : (double)NAN;
    uint8_t f64[8];
    memcpy(f64, &value, sizeof f64);
    oracle_convert(type, HG_TYPE_F64, f64, bytes);
    if (i != FLOAT_COUNT + 3) return;
    uint32_t size = oracle_size(type); /* the largest subnormal */
    memset(bytes, 0xFF, size);
    bytes[size - 1] = 0;
    bytes[size - 2] = type == HG_TYPE_F64 ? 0x0F : type == HG_TYPE_F16 ? 0xFF : 0x7F;
    if (type == HG_TYPE_F16) bytes[1] = 0x03;
}

static void int_edge(hg_type type, uint32_t i, uint8_t *bytes) {
    uint32_t size = oracle_size(type);
    memset(bytes,
           i == 1 || i == 3 || i == 5 || i == 13 ? 0xFF
           : i == 16                             ? 0x55
           : i == 17                             ? 0xAA
                                                 : 0,
           size);
    switch (i) {
    case 2: bytes[0] = 1; break;
    case 3: bytes[0] = 0xFE; break;
    case 4: bytes[size - 1] = 0x80; break; /* MIN */
    case 5: bytes[size - 1] = 0x7F; break; /* MAX */
    case 6: bytes[size - 1] = 0x80, bytes[0] |= 1; break;
    case 7: bytes[0] = 2; break;
    case 8: bytes[0] = 3; break;
    case 9: bytes[0] = 7; break;
    case 10: bytes[0] = 10; break;
    case 11: bytes[0] = 100; break;
    case 12: bytes[size / 2] = 1; break;                          /* 2^(w/2), 1 for a byte */
    case 13: memset(bytes + size / 2, 0, size - size / 2); break; /* 2^(w/2) - 1 */
    case 14: bytes[size / 2 ? size / 2 - 1 : 0] = 0x80; break;
    case 15: bytes[size - 1] = 0x40; break;
    case 18: bytes[0] = 0x7F; break;
    case 19: bytes[0] = 0x80; break;
    case 20: bytes[size > 4 ? 4 : 0] = 1; break;        /* 2^32 */
    case 21: bytes[size > 8 ? 8 : size - 1] = 1; break; /* 2^64 */
    default: break;
    }
}

void cts_edge(hg_type type, uint32_t i, uint8_t *bytes) {
    if (oracle_is_float(type))
        float_edge(type, i, bytes);
    else
        int_edge(type, i, bytes);
}

static void random_float(cts *s, hg_type type, uint8_t *bytes) {
    uint64_t r = cts_random(s);
    double magnitudes[] = {1, 10, 100, 1000, 0x1p-10, 0x1p20};
    double value = ((double)(int64_t)cts_random(s) * 0x1p-63) * magnitudes[r % 6];
    uint8_t f64[8];
    memcpy(f64, &value, sizeof f64);
    oracle_convert(type, HG_TYPE_F64, f64, bytes);
}

void cts_any(cts *s, hg_type type, uint8_t *bytes) {
    uint32_t size = oracle_size(type);
    uint64_t kind = cts_random(s) % 8;
    if (kind < 2) {
        cts_edge(type, (uint32_t)(cts_random(s) % cts_edge_count(type)), bytes);
    } else if (oracle_is_float(type) && kind < 6) {
        random_float(s, type, bytes);
    } else {
        uint32_t filled = kind == 2   ? (size + 1) / 2
                          : kind == 3 ? 1
                          : kind == 4 ? (uint32_t)(cts_random(s) % size) + 1
                                      : size;
        bool ones = cts_random(s) & 1;
        memset(bytes, ones && !oracle_is_float(type) && kind != 3 ? 0xFF : 0, size);
        for (uint32_t i = 0; i < filled; i++) bytes[i] = (uint8_t)cts_random(s);
    }
}

uint64_t cts_batch(const cts *s, hg_type type) {
    uint32_t size = oracle_size(type);
    uint64_t n = size == 1 ? 4096 : size <= 8 ? 2048 : size <= 64 ? 128 : 48;
    return s->quick ? n / 8 + 16 : n;
}

static void exhaustive(uint32_t count, const hg_type *types, uint8_t *const *arrays, uint64_t n) {
    for (uint64_t i = 0; i < n; i++) {
        uint64_t bits = i;
        for (uint32_t k = 0; k < count; k++)
            for (uint32_t b = 0; b < oracle_size(types[k]); b++, bits >>= 8)
                arrays[k][i * oracle_size(types[k]) + b] = (uint8_t)bits;
    }
}

void cts_fill(cts *s, uint32_t count, const hg_type *types, uint8_t *const *arrays, uint64_t n) {
    uint32_t width = 0;
    for (uint32_t k = 0; k < count; k++) width += oracle_size(types[k]);
    if (width <= 2 && n == (uint64_t)1 << (8 * width)) {
        exhaustive(count, types, arrays, n);
        return;
    }
    uint64_t combinations = count == 1 ? cts_edge_count(types[0])
                            : count == 2
                                ? (uint64_t)cts_edge_count(types[0]) * cts_edge_count(types[1])
                                : 0;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t at = i;
        if (combinations > n / 2 && i < n / 2)
            at = cts_random(s) % combinations; /* too many: a sample */
        bool edges = combinations && (combinations > n / 2 ? i < n / 2 : i < combinations);
        for (uint32_t k = 0; k < count; k++) {
            uint8_t *to = arrays[k] + i * oracle_size(types[k]);
            if (edges)
                cts_edge(types[k], (uint32_t)(at % cts_edge_count(types[k])), to),
                    at /= cts_edge_count(types[k]);
            else
                cts_any(s, types[k], to);
        }
    }
}
