/* Single elements and doubles: zero, one, from and to (spec 1, NumericType). Conversions round
 * once, saturate integers, and give 0 for NaN.
 * Must not know: buffers, backends. */
#include "base/base.h"
#include <hologram/executor.h>
#include <math.h>
#include <string.h>

/* Rounds a double to a 16-bit float with `fraction` fraction bits, once, to nearest even. */
static uint16_t round_to_half(double value, int fraction) {
    int exponent_bits = 15 - fraction, bias = (1 << (exponent_bits - 1)) - 1, exponent;
    uint16_t sign = signbit(value) ? 0x8000 : 0,
             infinity = (uint16_t)(((1 << exponent_bits) - 1) << fraction);
    if (isnan(value)) return (uint16_t)(infinity | 1 << (fraction - 1));
    if (isinf(value)) return sign | infinity;
    double magnitude = fabs(value);
    if (magnitude == 0) return sign;
    (void)frexp(magnitude, &exponent); /* magnitude = m * 2^exponent, 0.5 <= m < 1 */
    int lowest = exponent - 1 < 1 - bias ? 1 - bias : exponent - 1;
    double units = nearbyint(ldexp(magnitude, fraction - lowest)); /* exact before the rounding */
    uint32_t bits = (uint32_t)units + ((uint32_t)(lowest + bias - 1) << fraction); /* a carry moves
                                                                                      into the
                                                                                      exponent */
    return (uint16_t)(sign | (bits >= infinity ? infinity : bits));
}

static double half_to_double(uint16_t bits, int fraction) {
    int exponent_bits = 15 - fraction, bias = (1 << (exponent_bits - 1)) - 1,
        exponent = bits >> fraction & ((1 << exponent_bits) - 1);
    int mantissa = bits & ((1 << fraction) - 1);
    double magnitude;
    if (exponent == (1 << exponent_bits) - 1)
        magnitude = mantissa ? (double)NAN : (double)INFINITY;
    else if (exponent == 0)
        magnitude = ldexp(mantissa, 1 - bias - fraction);
    else
        magnitude = ldexp(mantissa + (1 << fraction), exponent - bias - fraction);
    return bits & 0x8000 ? -magnitude : magnitude;
}

/* ---- integers of any width, as bytes ---- */

static void put_bits(uint8_t *bytes, uint64_t size, uint64_t bits, int at) {
    for (uint64_t i = (uint64_t)at / 8, shift = (uint64_t)at % 8; bits && i < size;
         i++, shift = 0) {
        bytes[i] |= (uint8_t)(bits << shift);
        bits >>= 8 - shift;
    }
}

static void negate(uint8_t *bytes, uint64_t size) {
    unsigned carry = 1;
    for (uint64_t i = 0; i < size; i++) {
        carry += (uint8_t)~bytes[i];
        bytes[i] = (uint8_t)carry;
        carry >>= 8;
    }
}

/* Truncates and saturates; NaN gives 0. */
static void to_integer(double value, bool is_signed, uint64_t size, uint8_t *bytes) {
    int width = (int)size * 8 - is_signed, exponent; /* of magnitudes */
    bool negative = value < 0;
    memset(bytes, 0, (size_t)size);
    if (isnan(value) || fabs(value) < 1 || (negative && !is_signed)) return;
    if (isinf(value) || (frexp(value, &exponent), exponent > width)) { /* 2^(exponent - 1) <=
                                                                          |value| */
        memset(bytes, negative ? 0 : 0xFF, (size_t)size);
        if (is_signed) bytes[size - 1] = negative ? 0x80 : 0x7F;
        return;
    }
    uint64_t mantissa = (uint64_t)ldexp(fabs(value), 53 - exponent); /* 53 bits; the value is
                                                                        mantissa * 2^(exponent - 53)
                                                                      */
    if (exponent < 53)
        put_bits(bytes, size, mantissa >> (53 - exponent), 0);
    else
        put_bits(bytes, size, mantissa, exponent - 53);
    if (negative) negate(bytes, size);
}

static bool bit_at(const uint8_t *bytes, int at) {
    return at >= 0 && (bytes[at / 8] >> (at % 8) & 1);
}

/* The magnitude, rounded once to nearest even; beyond the largest double infinity. */
static double magnitude_of(const uint8_t *bytes, uint64_t size) {
    int top = (int)size * 8 - 1, at;
    uint64_t mantissa = 0;
    bool sticky = false;
    while (top >= 0 && !bit_at(bytes, top)) top--;
    for (at = top; at >= 0 && at > top - 53; at--) mantissa = mantissa << 1 | bit_at(bytes, at);
    bool half = bit_at(bytes, at);
    for (int i = at - 1; i >= 0 && !sticky; i--) sticky = bit_at(bytes, i);
    if (half && (sticky || (mantissa & 1))) mantissa++;
    return ldexp((double)mantissa, at + 1);
}

static double from_integer(const uint8_t *bytes, bool is_signed, uint64_t size) {
    uint8_t own[512];
    bool negative = is_signed && bytes[size - 1] >> 7;
    memcpy(own, bytes, (size_t)size);
    if (negative) negate(own, size); /* the least one stays as it is: its magnitude */
    double magnitude = magnitude_of(own, size);
    return negative ? -magnitude : magnitude;
}

/* ---- the interface ---- */

static hg_status check(hg_type type, const void *bytes) {
    if (!hg_type_size_bytes(type))
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%d is no type", (int)type);
    return bytes ? HG_OK : hg_null_argument("bytes");
}

hg_status hg_type_from_f64(hg_type type, double value, void *bytes) {
    HG_ENTRY;
    float single = (float)value;
    HG_TRY(check(type, bytes));
    if (type == HG_TYPE_F64)
        memcpy(bytes, &value, 8);
    else if (type == HG_TYPE_F32)
        memcpy(bytes, &single, 4);
    else if (hg_type_is_float(type))
        memcpy(bytes, &(uint16_t){round_to_half(value, type == HG_TYPE_F16 ? 10 : 7)}, 2);
    else
        to_integer(value, hg_type_is_signed(type), hg_type_size_bytes(type), bytes);
    return HG_OK;
}

hg_status hg_type_to_f64(hg_type type, const void *bytes, double *value) {
    HG_ENTRY;
    float single;
    uint16_t bits;
    HG_TRY(check(type, bytes));
    if (!value) return hg_null_argument("value");
    if (type == HG_TYPE_F64) {
        memcpy(value, bytes, 8);
    } else if (type == HG_TYPE_F32) {
        memcpy(&single, bytes, 4);
        *value = (double)single;
    } else if (hg_type_is_float(type)) {
        memcpy(&bits, bytes, 2);
        *value = half_to_double(bits, type == HG_TYPE_F16 ? 10 : 7);
    } else {
        *value = from_integer(bytes, hg_type_is_signed(type), hg_type_size_bytes(type));
    }
    return HG_OK;
}

hg_status hg_type_zero(hg_type type, void *bytes) {
    HG_ENTRY;
    return hg_type_from_f64(type, 0, bytes);
}
hg_status hg_type_one(hg_type type, void *bytes) {
    HG_ENTRY;
    return hg_type_from_f64(type, 1, bytes);
}
