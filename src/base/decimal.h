/* Numbers and characters of source texts: decimal and hexadecimal text to floating point and back,
 * for every binary format, exact and the same in every locale; well-formed UTF-8.
 * Must not know: which language the text is in. */
#ifndef HG_BASE_DECIMAL_H
#define HG_BASE_DECIMAL_H

#include "base/base.h"

static inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
/* 0 … 15, or -1. */
static inline int hex_digit(char c) {
    if (is_digit(c)) return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}
/* Bytes of a byte-order mark at the start of a text: 3 or 0. Every text that is read may begin with
 * one; it is no part of the text. */
static inline size_t hg_byte_order_mark(const char *text, size_t length) {
    return length >= 3 && text[0] == '\xEF' && text[1] == '\xBB' && text[2] == '\xBF' ? 3 : 0;
}
/* Bytes of the well-formed UTF-8 character at text (left > 0), 0 when there is none (Unicode
 * standard, table 3-7). */
size_t hg_utf8_length(const char *text, size_t left);

typedef enum hg_number_kind {
    HG_NUMBER_BAD,
    HG_NUMBER_DECIMAL,
    HG_NUMBER_HEX,
    HG_NUMBER_BINARY,
    HG_NUMBER_REAL,
    HG_NUMBER_HEXREAL
} hg_number_kind;

/* A floating-point format: significand bits with the implicit one, exponent of the last bit of a
 * subnormal. */
typedef struct hg_float_format {
    int precision, last_exponent;
    uint64_t infinity; /* bit pattern */
} hg_float_format;
const hg_float_format *hg_float_format_of(hg_type type);
/* Nearest value, ties to even, of an unsigned decimal, real or hexreal number of language.md 2.
 * False when it rounds to infinity. */
bool hg_float_from_text(const char *text, size_t length, hg_number_kind kind,
                        const hg_float_format *format, uint64_t *bits);
/* Shortest decimal digits that read back as the finite, positive bits; the value is 0.d1d2… ×
 * 10^point. At most 17 digits. */
int hg_float_digits(uint64_t bits, const hg_float_format *format, char digits[20], int *point);

#endif
