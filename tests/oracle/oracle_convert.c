/* Conversions between all 24 types on exact integers: a float is taken apart into sign, mantissa
 * and exponent, an integer into limbs, and there is one place that rounds. */
#include "oracle_internal.h"
#include <string.h>

typedef struct float_format {
    int precision, exponent_bits;
} float_format; /* precision counts the hidden bit */

static float_format format_of(hg_type type) {
    switch (type) {
    case HG_TYPE_F16: return (float_format){11, 5};
    case HG_TYPE_BF16: return (float_format){8, 8};
    case HG_TYPE_F32: return (float_format){24, 8};
    default: return (float_format){53, 11};
    }
}

static uint64_t load_bits(const uint8_t *bytes, uint32_t size) {
    uint64_t bits = 0;
    for (uint32_t i = 0; i < size; i++) bits |= (uint64_t)bytes[i] << (8 * i);
    return bits;
}

static void store_bits(uint64_t bits, uint8_t *bytes, uint32_t size) {
    for (uint32_t i = 0; i < size; i++) bytes[i] = (uint8_t)(bits >> (8 * i));
}

static int bit_length(uint64_t value) {
    int n = 0;
    while (value) n++, value >>= 1;
    return n;
}

unpacked float_unpack(hg_type type, const uint8_t *bytes) {
    float_format f = format_of(type);
    uint32_t size = oracle_size(type);
    uint64_t bits = load_bits(bytes, size);
    int bias = (1 << (f.exponent_bits - 1)) - 1, top = (1 << f.exponent_bits) - 1;
    uint64_t fraction = bits & (((uint64_t)1 << (f.precision - 1)) - 1);
    int field = (int)(bits >> (f.precision - 1)) & top;
    unpacked u = {FLOAT_FINITE, bits >> (8 * size - 1) & 1, fraction, 1 - bias - (f.precision - 1)};
    if (field == top)
        u.kind = fraction ? FLOAT_NAN : FLOAT_INFINITE;
    else if (field != 0)
        u.mantissa |= (uint64_t)1 << (f.precision - 1), u.exponent += field - 1;
    else if (fraction == 0)
        u.kind = FLOAT_ZERO;
    return u;
}

/* value / 2^shift to nearest even; sticky: the true value is a little above value. */
static uint64_t shift_round(uint64_t value, int shift, bool sticky) {
    if (shift <= 0) return value << -shift;
    if (shift > 64) return 0; /* below a half of the last place */
    uint64_t whole = shift == 64 ? 0 : value >> shift;
    uint64_t half = (uint64_t)1 << (shift - 1),
             rest = shift == 64 ? value : value & ((half << 1) - 1);
    bool up = rest > half || (rest == half && (sticky || (whole & 1)));
    return whole + up;
}

void float_pack(hg_type type, unpacked u, bool sticky, uint8_t *bytes) {
    float_format f = format_of(type);
    uint32_t size = oracle_size(type);
    int bias = (1 << (f.exponent_bits - 1)) - 1, top = (1 << f.exponent_bits) - 1;
    uint64_t sign = (uint64_t)u.negative << (8 * size - 1),
             infinite = (uint64_t)top << (f.precision - 1), bits = 0;
    if (u.kind == FLOAT_NAN)
        bits = infinite | (uint64_t)1 << (f.precision - 2);
    else if (u.kind == FLOAT_INFINITE)
        bits = infinite;
    else if (u.kind == FLOAT_FINITE && u.mantissa != 0) {
        int place = u.exponent + bit_length(u.mantissa) - f.precision; /* exponent of the last place
                                                                          of a normal result */
        int least = 1 - bias - (f.precision - 1);
        if (place < least) place = least;
        uint64_t m = shift_round(u.mantissa, place - u.exponent, sticky);
        if (m >> f.precision) m >>= 1, place++;
        bool normal = m >> (f.precision - 1);
        int field = normal ? place - least + 1 : 0;
        bits = field >= top ? infinite
                            : (uint64_t)field << (f.precision - 1) |
                                  (m & (((uint64_t)1 << (f.precision - 1)) - 1));
    }
    store_bits(sign | bits, bytes, size);
}

float float_widen(hg_type type, const uint8_t *bytes) {
    float value;
    if (type == HG_TYPE_F32) {
        memcpy(&value, bytes, sizeof value);
        return value;
    }
    uint8_t f32[4];
    float_pack(HG_TYPE_F32, float_unpack(type, bytes), false, f32);
    uint32_t bits = (uint32_t)load_bits(f32, 4);
    memcpy(&value, &bits, sizeof value);
    return value;
}

void float_narrow(hg_type type, float value, uint8_t *bytes) {
    uint32_t bits;
    uint8_t f32[4];
    memcpy(&bits, &value, sizeof bits);
    store_bits(bits, f32, 4);
    if (type == HG_TYPE_F32)
        memcpy(bytes, f32, 4);
    else
        float_pack(type, float_unpack(HG_TYPE_F32, f32), false, bytes);
}

/* The top 64 bits of the magnitude are the mantissa, what is below them the sticky bit. */
static void int_to_float(hg_type to, hg_type from, const uint8_t *source, uint8_t *result) {
    wide magnitude, top;
    uint32_t n = oracle_size(from) <= 8 ? 2 : oracle_size(from) / 4;
    wide_load(&magnitude, source, oracle_size(from), oracle_is_signed(from));
    bool negative = oracle_is_signed(from) && wide_is_negative(&magnitude, n), sticky = false;
    if (negative) wide_neg(&magnitude, &magnitude, n);
    uint32_t length = wide_bit_length(&magnitude, n), drop = length > 64 ? length - 64 : 0;
    for (uint32_t bit = 0; bit < drop; bit++)
        sticky = sticky || (magnitude.limb[bit / 32] >> (bit % 32) & 1);
    wide_shr(&top, &magnitude, drop, n, false);
    unpacked u = {length ? FLOAT_FINITE : FLOAT_ZERO, negative,
                  top.limb[0] | (uint64_t)top.limb[1] << 32, (int32_t)drop};
    float_pack(to, u, sticky, result);
}

static void saturate(hg_type to, bool negative, uint8_t *result) {
    uint32_t size = oracle_size(to);
    bool is_signed = oracle_is_signed(to);
    memset(result, negative ? 0 : 0xFF, size);
    if (is_signed) result[size - 1] = negative ? 0x80 : 0x7F;
}

static void float_to_int(hg_type to, hg_type from, const uint8_t *source, uint8_t *result) {
    uint32_t size = oracle_size(to), width = 8 * size;
    bool is_signed = oracle_is_signed(to);
    unpacked u = float_unpack(from, source);
    memset(result, 0, size);
    if (u.kind == FLOAT_NAN || u.kind == FLOAT_ZERO) return;
    if (u.kind == FLOAT_INFINITE) {
        saturate(to, u.negative, result);
        return;
    }
    if (u.exponent < 0)
        u.mantissa = u.exponent <= -64 ? 0 : u.mantissa >> -u.exponent, u.exponent = 0; /* truncate
                                                                                         */
    if (u.mantissa == 0) return;
    uint32_t length = (uint32_t)(bit_length(u.mantissa) + u.exponent); /* 2^(length-1) <= magnitude
                                                                          < 2^length */
    /* A negative magnitude of exactly 2^(width-1) is MIN, which is also what saturation gives. */
    if ((u.negative && !is_signed) || length > (is_signed ? width - 1 : width)) {
        saturate(to, u.negative, result);
        return;
    }
    wide value = {{(uint32_t)u.mantissa, (uint32_t)(u.mantissa >> 32)}};
    uint32_t n = width <= 64 ? 2 : width / 32;
    wide_shl(&value, &value, (uint32_t)u.exponent, n);
    if (u.negative) wide_neg(&value, &value, n);
    wide_store(&value, result, size);
}

void oracle_convert(hg_type to, hg_type from, const uint8_t *source, uint8_t *result) {
    bool to_float = oracle_is_float(to), from_float = oracle_is_float(from);
    if (to == from) {
        memcpy(result, source, oracle_size(to));
    } else if (to_float && from_float) {
        float_pack(to, float_unpack(from, source), false, result);
    } else if (to_float) {
        int_to_float(to, from, source, result);
    } else if (from_float) {
        float_to_int(to, from, source, result);
    } else {
        uint32_t size = oracle_size(from);
        uint8_t fill = oracle_is_signed(from) && (source[size - 1] & 0x80) ? 0xFF : 0;
        for (uint32_t i = 0; i < oracle_size(to); i++) result[i] = i < size ? source[i] : fill;
    }
}
