/* Literals of the 24 types: text to little-endian bytes and back (language.md 2.2 and 3).
 * Must not know: the lexer, programs, instructions. */
#include "isa/text_internal.h"

#include <stdio.h>
#include <string.h>

enum { MAX_LIMBS = 4096 / 32 + 1, MAX_DECIMAL_DIGITS = 1234 /* of 2^4096 */ };

/* ---- the grammar of numbers ---- */

/* Advances over digits with single `_` between them. False when there is no digit or a `_` stands
 * elsewhere. */
static bool skip_digits(const char *text, size_t length, size_t *at, int base) {
    size_t start = *at;
    for (; *at < length; ++*at) {
        if (text[*at] == '_') {
            if (*at == start || text[*at - 1] == '_') return false;
            continue;
        }
        int digit = hex_digit(text[*at]);
        if (digit < 0 || digit >= base) break;
    }
    return *at > start && text[*at - 1] != '_';
}

/* e or p, sign, digits; to the end. */
static bool is_exponent(const char *text, size_t length, size_t at) {
    at++;
    if (at < length && (text[at] == '+' || text[at] == '-')) at++;
    return skip_digits(text, length, &at, 10) && at == length;
}

static hg_number_kind classify_hex(const char *text, size_t length) {
    size_t at = 2;
    bool whole = false, fraction = false;
    if (at < length && hex_digit(text[at]) >= 0) {
        whole = true;
        if (!skip_digits(text, length, &at, 16)) return HG_NUMBER_BAD;
        if (at == length) return HG_NUMBER_HEX;
    }
    if (at < length && text[at] == '.') {
        at++;
        fraction = at < length && hex_digit(text[at]) >= 0;
        if (fraction && !skip_digits(text, length, &at, 16)) return HG_NUMBER_BAD;
    }
    if (at == length || (text[at] != 'p' && text[at] != 'P') || !(whole || fraction))
        return HG_NUMBER_BAD;
    return is_exponent(text, length, at) ? HG_NUMBER_HEXREAL : HG_NUMBER_BAD;
}

hg_number_kind hg_classify_number(const char *text, size_t length) {
    size_t at = 0;
    if (length >= 2 && text[0] == '0' && text[1] == 'x') return classify_hex(text, length);
    if (length >= 2 && text[0] == '0' && text[1] == 'b') {
        at = 2;
        return skip_digits(text, length, &at, 2) && at == length ? HG_NUMBER_BINARY : HG_NUMBER_BAD;
    }
    bool whole = length && is_digit(text[0]);
    if (whole && !skip_digits(text, length, &at, 10)) return HG_NUMBER_BAD;
    if (whole && at == length) return HG_NUMBER_DECIMAL;
    if (at < length && text[at] == '.') {
        at++;
        bool fraction = at < length && is_digit(text[at]);
        if (fraction && !skip_digits(text, length, &at, 10)) return HG_NUMBER_BAD;
        if (!whole && !fraction) return HG_NUMBER_BAD;
        if (at == length) return HG_NUMBER_REAL;
    }
    if (at == length || (text[at] != 'e' && text[at] != 'E') || at == 0) return HG_NUMBER_BAD;
    return is_exponent(text, length, at) ? HG_NUMBER_REAL : HG_NUMBER_BAD;
}

/* ---- magnitudes ---- */

typedef struct magnitude {
    uint32_t limb[MAX_LIMBS];
    int count; /* without leading zeros */
} magnitude;

static bool magnitude_scale(magnitude *m, uint32_t factor, uint32_t addend) {
    uint64_t carry = addend;
    for (int i = 0; i < m->count; i++) {
        carry += (uint64_t)m->limb[i] * factor;
        m->limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry && m->count == MAX_LIMBS) return false;
    if (carry) m->limb[m->count++] = (uint32_t)carry;
    return true;
}

static int magnitude_bits(const magnitude *m) {
    int bits = m->count ? (m->count - 1) * 32 : 0;
    for (uint32_t top = m->count ? m->limb[m->count - 1] : 0; top; top >>= 1) bits++;
    return bits;
}

static bool magnitude_is_power_of_two(const magnitude *m) {
    uint32_t top = m->count ? m->limb[m->count - 1] : 0;
    for (int i = 0; i + 1 < m->count; i++)
        if (m->limb[i]) return false;
    return top && (top & (top - 1)) == 0;
}

/* Of a decimal, hex or binary number. False when it has more than 4,096 bits; the work is bounded
 * however long the text is. */
static bool magnitude_read(magnitude *m, const char *text, size_t length, hg_number_kind kind) {
    uint32_t base = kind == HG_NUMBER_HEX ? 16 : kind == HG_NUMBER_BINARY ? 2 : 10;
    m->count = 0;
    uint32_t chunk = 0, factor = 1;
    size_t digits = 0;
    for (size_t i = base == 10 ? 0 : 2; i < length; i++) {
        if (text[i] == '_' || (!digits && text[i] == '0')) continue;
        if (++digits > 4096 || (base == 10 && digits > MAX_DECIMAL_DIGITS)) return false;
        chunk = chunk * base + (uint32_t)hex_digit(text[i]);
        factor *= base;
        if (factor >= 100000000) { /* base 2 and 16 stop at 2^27 and 2^28, base 10 at 10^8 */
            if (!magnitude_scale(m, factor, chunk)) return false;
            chunk = 0;
            factor = 1;
        }
    }
    return magnitude_scale(m, factor, chunk);
}

const char *hg_parse_uint(const char *text, size_t length, uint64_t *value) {
    hg_number_kind kind = hg_classify_number(text, length);
    magnitude m;
    if (kind != HG_NUMBER_DECIMAL && kind != HG_NUMBER_HEX && kind != HG_NUMBER_BINARY)
        return "S03";
    if (!magnitude_read(&m, text, length, kind) || m.count > 2) return "S04";
    *value = (m.count > 0 ? m.limb[0] : 0) | (uint64_t)(m.count > 1 ? m.limb[1] : 0) << 32;
    return NULL;
}

/* ---- literals ---- */

typedef struct literal {
    const char *text; /* blanks around it removed */
    size_t length;
    bool negative;
    const char *number; /* without the sign */
    size_t number_length;
    hg_number_kind kind;
} literal;

typedef struct answer {
    char *message;
    const char **hint;
} answer;

enum { MESSAGE_BYTES = 160, QUOTED_BYTES = 48 };

/* The literal for a message: cut, and nothing but printable ASCII. */
static void quote(char quoted[QUOTED_BYTES + 4], const literal *l) {
    size_t n = l->length < QUOTED_BYTES ? l->length : QUOTED_BYTES - 3;
    for (size_t i = 0; i < n; i++)
        quoted[i] = l->text[i] >= 32 && l->text[i] < 127 ? l->text[i] : '?';
    memcpy(quoted + n, "...", 4);
    if (n == l->length) quoted[n] = 0;
}

/* 1.5f, 10u of other languages. */
static bool has_suffix(const literal *l) {
    char first = l->length ? l->text[0] : 0, last = l->length ? l->text[l->length - 1] : 0;
    bool plain = l->length < 2 || (l->text[1] != 'x' && l->text[1] != 'b');
    return plain && first >= '0' && first <= '9' && last && strchr("fFuUlLhH", last);
}

static const char *malformed(const answer *a, const literal *l, const char *hint) {
    char quoted[QUOTED_BYTES + 4];
    quote(quoted, l);
    if (!hint && has_suffix(l))
        hint = "a number has no suffix: its type is that of what stands beside it, or f32(1.5)";
    snprintf(a->message, MESSAGE_BYTES, "malformed number '%s'", quoted);
    *a->hint = hint;
    return "S03";
}

static const char *not_a(const answer *a, const literal *l, hg_type type, const char *hint) {
    char quoted[QUOTED_BYTES + 4];
    quote(quoted, l);
    snprintf(a->message, MESSAGE_BYTES, "'%s' is no literal of type %s", quoted,
             hg_type_name(type));
    *a->hint = hint;
    return "S04";
}

static const char *out_of_range(const answer *a, const literal *l, hg_type type, bool pattern) {
    char quoted[QUOTED_BYTES + 4];
    unsigned width = (unsigned)hg_type_size_bytes(type) * 8;
    quote(quoted, l);
    *a->hint = NULL;
    if (pattern)
        snprintf(a->message, MESSAGE_BYTES,
                 "literal %s is out of range for %s: it has more than %u bits", quoted,
                 hg_type_name(type), width);
    else if (hg_type_is_float(type))
        snprintf(a->message, MESSAGE_BYTES, "literal %s is out of range for %s", quoted,
                 hg_type_name(type));
    else if (hg_type_is_signed(type))
        snprintf(a->message, MESSAGE_BYTES, "literal %s is out of range for %s: -2^%u to 2^%u - 1",
                 quoted, hg_type_name(type), width - 1, width - 1);
    else
        snprintf(a->message, MESSAGE_BYTES, "literal %s is out of range for %s: 0 to 2^%u - 1",
                 quoted, hg_type_name(type), width);
    return "S04";
}

static void store_magnitude(const magnitude *m, bool negative, hg_type type, uint8_t *bytes) {
    uint32_t carry = 1;
    for (uint64_t i = 0; i < hg_type_size_bytes(type); i++) {
        uint32_t byte = (int)(i / 4) < m->count ? m->limb[i / 4] >> (i % 4 * 8) & 0xFF : 0;
        if (negative) {
            byte = (byte ^ 0xFF) + carry;
            carry = byte >> 8;
        }
        bytes[i] = (uint8_t)byte;
    }
}

static const char *read_integer(const literal *l, hg_type type, uint8_t *bytes, const answer *a) {
    if (l->kind == HG_NUMBER_REAL || l->kind == HG_NUMBER_HEXREAL)
        return not_a(a, l, type, "an integer is written without point and exponent");
    bool pattern = l->kind != HG_NUMBER_DECIMAL, is_signed = hg_type_is_signed(type);
    if (pattern && l->negative && !is_signed)
        return not_a(a, l, type, "only patterns of signed types may be negated");
    int width = (int)hg_type_size_bytes(type) * 8;
    magnitude m;
    bool fits = magnitude_read(&m, l->number, l->number_length, l->kind);
    int bits = fits ? magnitude_bits(&m) : 0;
    if (pattern && !l->negative)
        fits = fits && bits <= width;
    else if (!is_signed)
        fits = fits && bits <= width && !(l->negative && bits);
    else
        fits = fits &&
               (bits < width || (bits == width && l->negative && magnitude_is_power_of_two(&m)));
    if (!fits) return out_of_range(a, l, type, pattern && !l->negative);
    store_magnitude(&m, l->negative, type, bytes);
    return NULL;
}

static void store_bits(uint64_t bits, bool negative, hg_type type, uint8_t *bytes) {
    uint64_t size = hg_type_size_bytes(type);
    if (negative) bits |= UINT64_C(1) << (size * 8 - 1);
    for (uint64_t i = 0; i < size; i++) bytes[i] = (uint8_t)(bits >> (i * 8));
}

static const char *read_float(const literal *l, hg_type type, uint8_t *bytes, const answer *a) {
    if (l->kind == HG_NUMBER_HEX || l->kind == HG_NUMBER_BINARY) {
        snprintf(a->message, MESSAGE_BYTES, "use bits(0x…) for a bit pattern, or 0x…p0");
        *a->hint = "0x… and 0b… alone are literals of integer types";
        return "S04";
    }
    uint64_t bits;
    if (!hg_float_from_text(l->number, l->number_length, l->kind, hg_float_format_of(type), &bits))
        return out_of_range(a, l, type, false);
    store_bits(bits, l->negative, type, bytes);
    return NULL;
}

static void trim(const char **text, size_t *length) {
    while (*length && (**text == ' ' || **text == '\t')) ++*text, --*length;
    while (*length && ((*text)[*length - 1] == ' ' || (*text)[*length - 1] == '\t')) --*length;
}

/* bits(0x…), blanks between its tokens allowed; text stands behind `bits`. */
static const char *read_pattern(const literal *l, hg_type type, uint8_t *bytes, const answer *a) {
    static const char form[] = "a bit pattern is written bits(0x…)";
    const char *text = l->number + 4;
    size_t length = l->number_length - 4;
    trim(&text, &length);
    if (length < 2 || text[0] != '(' || text[length - 1] != ')' || l->negative)
        return malformed(a, l, form);
    text++, length -= 2;
    trim(&text, &length);
    if (hg_classify_number(text, length) != HG_NUMBER_HEX) return malformed(a, l, form);
    magnitude m;
    if (!magnitude_read(&m, text, length, HG_NUMBER_HEX) ||
        magnitude_bits(&m) > (int)hg_type_size_bytes(type) * 8)
        return out_of_range(a, l, type, true);
    store_magnitude(&m, false, type, bytes);
    return NULL;
}

static bool is_word(const literal *l, const char *word) {
    return l->number_length == strlen(word) && memcmp(l->number, word, l->number_length) == 0;
}

static const char *read_word(const literal *l, hg_type type, uint8_t *bytes, const answer *a) {
    if (l->number_length >= 4 && memcmp(l->number, "bits", 4) == 0)
        return read_pattern(l, type, bytes, a);
    bool infinity = is_word(l, "inf"), nan = is_word(l, "nan");
    if (nan && l->negative) return malformed(a, l, "nan has no sign: use bits(0x…)");
    if (!infinity && !nan) return malformed(a, l, NULL);
    if (!hg_type_is_float(type)) return not_a(a, l, type, "only floats have inf and nan");
    const hg_float_format *f = hg_float_format_of(type);
    store_bits(nan ? f->infinity | UINT64_C(1) << (f->precision - 2) : f->infinity, l->negative,
               type, bytes);
    return NULL;
}

const char *hg_parse_literal(const char *text, size_t length, hg_type type, uint8_t *bytes,
                             char message[160], const char **hint) {
    answer a = {message, hint};
    message[0] = 0;
    *hint = NULL;
    trim(&text, &length);
    literal l = {.text = text, .length = length, .negative = length && text[0] == '-'};
    l.number = text + l.negative;
    l.number_length = length - l.negative;
    trim(&l.number, &l.number_length);
    if (l.number_length && is_letter(l.number[0])) return read_word(&l, type, bytes, &a);
    l.kind = hg_classify_number(l.number, l.number_length);
    if (l.kind == HG_NUMBER_BAD) return malformed(&a, &l, NULL);
    return hg_type_is_float(type) ? read_float(&l, type, bytes, &a)
                                  : read_integer(&l, type, bytes, &a);
}

/* ---- printing ---- */

static uint64_t load_bits(const uint8_t *bytes, uint64_t size) {
    uint64_t bits = 0;
    for (uint64_t i = 0; i < size; i++) bits |= (uint64_t)bytes[i] << (i * 8);
    return bits;
}

/* As Python's repr lays out its digits: a point for exponents -5 < e < 16, else d.ddde±NN. */
static void print_digits(hg_text *out, const char *digits, int count, int point) {
    char zeros[] = "0000000000000000";
    if (point > 16 || point < -3) {
        hg_text_add(out, digits, 1);
        if (count > 1) hg_text_add(out, ".", 1);
        hg_text_add(out, digits + 1, (size_t)count - 1);
        int exponent = point - 1;
        hg_text_addf(out, "e%c%02d", exponent < 0 ? '-' : '+', exponent < 0 ? -exponent : exponent);
    } else if (point <= 0) {
        hg_text_add(out, "0.", 2);
        hg_text_add(out, zeros, (size_t)-point);
        hg_text_add(out, digits, (size_t)count);
    } else if (point < count) {
        hg_text_add(out, digits, (size_t)point);
        hg_text_add(out, ".", 1);
        hg_text_add(out, digits + point, (size_t)(count - point));
    } else {
        hg_text_add(out, digits, (size_t)count);
        hg_text_add(out, zeros, (size_t)(point - count));
        hg_text_add(out, ".0", 2);
    }
}

static void print_float(hg_text *out, hg_type type, const uint8_t *bytes) {
    const hg_float_format *f = hg_float_format_of(type);
    uint64_t size = hg_type_size_bytes(type), bits = load_bits(bytes, size),
             sign = UINT64_C(1) << (size * 8 - 1);
    uint64_t value = bits & ~sign;
    if (value > f->infinity) {
        bool plain = bits == (f->infinity | UINT64_C(1) << (f->precision - 2));
        if (plain)
            hg_text_add(out, "nan", 3);
        else
            hg_text_addf(out, "bits(0x%llx)", (unsigned long long)bits);
        return;
    }
    if (bits & sign) hg_text_add(out, "-", 1);
    if (value == f->infinity) {
        hg_text_add(out, "inf", 3);
    } else if (!value) {
        hg_text_add(out, "0.0", 3);
    } else {
        char digits[20];
        int point, count = hg_float_digits(value, f, digits, &point);
        print_digits(out, digits, count, point);
    }
}

static void print_narrow(hg_text *out, hg_type type, const uint8_t *bytes) {
    uint64_t size = hg_type_size_bytes(type), value = load_bits(bytes, size);
    bool negative = hg_type_is_signed(type) && value >> (size * 8 - 1);
    if (negative) value = (0 - value) & UINT64_MAX >> (64 - size * 8);
    hg_text_addf(out, "%s%llu", negative ? "-" : "", (unsigned long long)value);
}

static void print_pattern(hg_text *out, const uint8_t *bytes, uint64_t size) {
    while (size > 1 && !bytes[size - 1]) size--;
    hg_text_addf(out, "0x%x", bytes[size - 1]);
    for (uint64_t i = size - 1; i > 0; i--) hg_text_addf(out, "%02x", bytes[i - 1]);
}

static void print_wide(hg_text *out, hg_type type, const uint8_t *bytes) {
    magnitude m = {.count = (int)(hg_type_size_bytes(type) / 4)};
    bool negative = hg_type_is_signed(type) && bytes[hg_type_size_bytes(type) - 1] >> 7;
    uint64_t carry = negative;
    for (int i = 0; i < m.count; i++) {
        uint32_t limb = (uint32_t)load_bits(bytes + i * 4, 4);
        carry += negative ? ~limb : limb;
        m.limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
    char digits[MAX_DECIMAL_DIGITS + 9];
    size_t at = sizeof digits;
    do { /* nine digits a division */
        uint64_t rest = 0;
        for (int i = m.count - 1; i >= 0; i--) {
            rest = rest << 32 | m.limb[i];
            m.limb[i] = (uint32_t)(rest / 1000000000);
            rest %= 1000000000;
        }
        while (m.count && !m.limb[m.count - 1]) m.count--;
        for (int i = 0; i < 9 && (m.count || rest || at == sizeof digits); i++, rest /= 10)
            digits[--at] = (char)('0' + rest % 10);
    } while (m.count);
    if (negative) hg_text_add(out, "-", 1);
    hg_text_add(out, digits + at, sizeof digits - at);
}

void hg_print_literal(hg_text *out, hg_type type, const uint8_t *bytes) {
    if (hg_type_is_float(type))
        print_float(out, type, bytes);
    else if (hg_type_size_bytes(type) <= 8)
        print_narrow(out, type, bytes);
    else
        print_pattern(out, bytes, hg_type_size_bytes(type));
}

void hg_print_value(hg_text *out, hg_type type, const uint8_t *bytes) {
    if (hg_type_is_float(type) || hg_type_size_bytes(type) <= 8)
        hg_print_literal(out, type, bytes);
    else
        print_wide(out, type, bytes);
}
