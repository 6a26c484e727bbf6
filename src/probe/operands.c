/* What the lanes of the probe calculate with: numbers at the borders of formats and of rounding, in
 * pairs, then numbers at chance. */
#include "probe/probe_internal.h"
#include <string.h>

static const uint32_t SPECIAL32[] = {
    0,          0x80000000, 1,          0x80000001, 0x007FFFFF, 0x807FFFFF,
    0x00800000, 0x80800000, 0x00800001, 0x00FFFFFF,             /* around the smallest */
    0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000, /* largest, infinity, NaN */
    0x3F800000, 0xBF800000, 0x3F800001, 0x3F7FFFFF, 0x3F000000, 0xBF000000,
    0x3EFFFFFF, 0x3FC00000, 0x40200000, 0xC0200000, 0x40600000, 0x4AFFFFFF,
    0x4B000000, 0x4B000001, 0x4B7FFFFF, 0x4B800000, /* 2^23 - 1/2 … 2^24 */
    0x4EFFFFFF, 0x4F000000, 0xCF000000, 0xCF000001, 0x4F7FFFFF, 0x4F800000,
    0x5EFFFFFF, 0x5F000000, 0xDF000000, 0x5F7FFFFF, 0x5F800000, /* 2^31, 2^32, 2^63, 2^64 */
    0x40400000, 0x3EAAAAAB, 0x1E3CE508, 0x5F3CE508, 0x0D800000, 0x72000000,
    0x477FE000, 0x477FEFFF, 0x477FF000, 0x38800000, 0x387FC000, 0x33800000,
    0x33000000, 0x33000001, 0x7F7F7FFF, 0x7F7F8000 /* borders of halves */};
static const uint64_t SPECIAL64[] = {
    0, UINT64_C(1) << 63, 1, UINT64_C(0x8000000000000001), UINT64_C(0x000FFFFFFFFFFFFF),
    UINT64_C(0x0010000000000000), UINT64_C(0x8010000000000000), UINT64_C(0x0010000000000001),
    UINT64_C(0x001FFFFFFFFFFFFF), UINT64_C(0x7FEFFFFFFFFFFFFF), UINT64_C(0x7FF0000000000000),
    UINT64_C(0xFFF0000000000000), UINT64_C(0x7FF8000000000000), UINT64_C(0x3FF0000000000000),
    UINT64_C(0xBFF0000000000000), UINT64_C(0x3FF0000000000001), UINT64_C(0x3FEFFFFFFFFFFFFF),
    UINT64_C(0x3FE0000000000000), UINT64_C(0xBFE0000000000000), UINT64_C(0x3FDFFFFFFFFFFFFF),
    UINT64_C(0x3FF8000000000000), UINT64_C(0x4004000000000000), UINT64_C(0xC004000000000000),
    UINT64_C(0x432FFFFFFFFFFFFF), UINT64_C(0x4330000000000000), UINT64_C(0x4330000000000001),
    UINT64_C(0x4340000000000000), UINT64_C(0x41DFFFFFFFC00000), UINT64_C(0x41E0000000000000),
    UINT64_C(0xC1E0000000000000), UINT64_C(0xC1E0000000200000), UINT64_C(0x41EFFFFFFFE00000),
    UINT64_C(0x41F0000000000000), UINT64_C(0x43DFFFFFFFFFFFFF), UINT64_C(0x43E0000000000000),
    UINT64_C(0xC3E0000000000000), UINT64_C(0x43EFFFFFFFFFFFFF), UINT64_C(0x43F0000000000000),
    UINT64_C(0x4008000000000000),
    /* f64 to f32: largest, overflow, smallest normal and subnormal, ties */
    UINT64_C(0x47EFFFFFE0000000), UINT64_C(0x47EFFFFFEFFFFFFF), UINT64_C(0x47EFFFFFF0000000),
    UINT64_C(0x3810000000000000), UINT64_C(0x380FFFFFFFFFFFFF), UINT64_C(0x36A0000000000000),
    UINT64_C(0x3690000000000000), UINT64_C(0x3690000000000001), UINT64_C(0x3FF0000010000000),
    UINT64_C(0x3FF0000030000000), UINT64_C(0x3FF0000010000001),
    /* integers to floats: halves of the last place of f32 and f64 */
    UINT64_C(0x8000008000000000), UINT64_C(0x8000008000000001), UINT64_C(0x8000018000000000),
    UINT64_C(0x0020000000000001), UINT64_C(0x8000000000000400), UINT64_C(0x8000000000000401),
    UINT64_C(0x8000000000000C00), UINT64_C(0xFFFFFFFFFFFFFC00), UINT64_MAX,
    UINT64_C(0x7FFFFFFFFFFFFFFF)};

static uint64_t chance(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    return *state ^= *state << 17;
}

/* Numbers with all bits at chance, or near 1 so that quotients, roots and sums are at their
 * hardest. */
static uint32_t random32(uint64_t *state) {
    uint64_t r = chance(state);
    return r >> 63 ? (uint32_t)r : 0x3F000000 + (uint32_t)(r & 0x01FFFFFF);
}
static uint64_t random64(uint64_t *state) {
    uint64_t r = chance(state);
    return chance(state) >> 63 ? r
                               : UINT64_C(0x3FE0000000000000) + (r & UINT64_C(0x003FFFFFFFFFFFFF));
}

/* Pairs of special values, then chance; in every fourth lane the third operand takes a rounded
 * product away, so that a fused result differs from one that is not. */
void hg_probe_operands(uint8_t *bytes) {
    const uint32_t n32 = HG_COUNT_OF(SPECIAL32), n64 = HG_COUNT_OF(SPECIAL64);
    uint64_t state = UINT64_C(0x9E3779B97F4A7C15);
    for (uint32_t i = 0; i < PROBE_LANES; i++) {
        bool special = i < PROBE_LANES * 3 / 4;
        uint32_t a[3];
        uint64_t w[3];
        uint32_t p32 = i * 31 + i / n32, p64 = i * 37 + i / n64; /* most pairs once */
        for (uint32_t k = 0; k < 3; k++) {
            a[k] = special ? SPECIAL32[(k == 0   ? i
                                        : k == 1 ? p32
                                                 : i + p32) %
                                       n32]
                           : random32(&state);
            w[k] = special ? SPECIAL64[(k == 0   ? i
                                        : k == 1 ? p64
                                                 : i + p64) %
                                       n64]
                           : random64(&state);
        }
        if (i % 4 == 0) {
            float x, y, z;
            double dx, dy, dz;
            memcpy(&x, &a[0], 4);
            memcpy(&y, &a[1], 4);
            memcpy(&dx, &w[0], 8);
            memcpy(&dy, &w[1], 8);
            z = -(x * y);
            dz = -(dx * dy);
            memcpy(&a[2], &z, 4);
            memcpy(&w[2], &dz, 8);
        }
        for (size_t k = 0; k < 3; k++) {
            memcpy(bytes + (k * PROBE_LANES + i) * 8, &w[k], 8);
            memcpy(bytes + ((3 + k) * PROBE_LANES + i) * 8, &a[k], 4);
        }
    }
}
