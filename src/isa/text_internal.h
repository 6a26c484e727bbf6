/* Shared by the files that read and write text: tokens, the assembler's state, numbers.
 * Must not know: the binary container, control flow. */
#ifndef HG_ISA_TEXT_INTERNAL_H
#define HG_ISA_TEXT_INTERNAL_H

#include "isa/program.h"

/* ---- characters ---- */

static inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
static inline bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
static inline bool is_name_start(char c) { return is_letter(c) || c == '_' || c == '.' || c == '$'; }
static inline bool is_name_byte(char c) { return is_name_start(c) || is_digit(c); }
/* 0 … 15, or -1. */
static inline int hex_digit(char c) {
    if (is_digit(c)) return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}
/* Bytes of the well-formed UTF-8 character at text (left > 0), 0 when there is none. */
size_t hg_utf8_length(const char *text, size_t left);

/* ---- numbers (literal.c, literal_float.c) ---- */

typedef enum hg_number_kind { HG_NUMBER_BAD, HG_NUMBER_DECIMAL, HG_NUMBER_HEX, HG_NUMBER_BINARY, HG_NUMBER_REAL, HG_NUMBER_HEXREAL } hg_number_kind;
/* Which rule of the grammar the whole text follows; `_` only between two digits. */
hg_number_kind hg_classify_number(const char *text, size_t length);
/* A uint of the grammar. NULL, or the diagnostic code: S03 malformed, S04 not below 2^64. */
const char *hg_parse_uint(const char *text, size_t length, uint64_t *value);

/* A floating-point format: significand bits with the implicit one, exponent of the last bit of a subnormal. */
typedef struct hg_float_format {
    int precision, last_exponent;
    uint64_t infinity; /* bit pattern */
} hg_float_format;
const hg_float_format *hg_float_format_of(hg_type type);
/* Nearest value, ties to even, of an unsigned decimal, real or hexreal number that hg_classify_number accepts. False when it
 * rounds to infinity. */
bool hg_float_from_text(const char *text, size_t length, hg_number_kind kind, const hg_float_format *format, uint64_t *bits);
/* Shortest decimal digits that read back as the finite, positive bits; the value is 0.d1d2… × 10^point. At most 17 digits. */
int hg_float_digits(uint64_t bits, const hg_float_format *format, char digits[20], int *point);

#endif
