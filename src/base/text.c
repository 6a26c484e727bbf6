/* Growable byte strings, and the characters in them. Must not know: what is written into them. */
#include "base/decimal.h"

#include <stdio.h>
#include <string.h>

/* Room for `length` more bytes and the final NUL. */
static bool reserve(hg_text *text, size_t length) {
    if (length > SIZE_MAX / 2 - text->length - 1) {
        text->failed = true;
        return false;
    }
    size_t needed = text->length + length + 1;
    if (needed <= text->capacity) return true;
    size_t capacity = text->capacity < 64 ? 64 : text->capacity * 2;
    if (capacity < needed) capacity = needed;
    char *data = hg_realloc(text->data, capacity);
    if (!data) {
        text->failed = true;
        return false;
    }
    text->data = data;
    text->capacity = capacity;
    return true;
}

void hg_text_add(hg_text *text, const char *bytes, size_t length) {
    if (!reserve(text, length)) return;
    if (length) memcpy(text->data + text->length, bytes, length);
    text->length += length;
    text->data[text->length] = 0;
}

void hg_text_addf(hg_text *text, const char *format, ...) {
    char small[256];
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(small, sizeof small, format, args);
    if (length < 0)
        text->failed = true;
    else if ((size_t)length < sizeof small)
        hg_text_add(text, small, (size_t)length);
    else if (reserve(text, (size_t)length)) {
        vsnprintf(text->data + text->length, (size_t)length + 1, format, again);
        text->length += (size_t)length;
    }
    va_end(again);
    va_end(args);
}

void hg_text_free(hg_text *text) {
    hg_free(text->data);
    *text = (hg_text){0};
}

size_t hg_utf8_length(const char *text, size_t left) {
    const unsigned char *s = (const unsigned char *)text;
    if (s[0] < 0x80) return 1;
    size_t n = s[0] >= 0xC2 && s[0] <= 0xDF   ? 2
               : (s[0] & 0xF0) == 0xE0        ? 3
               : s[0] >= 0xF0 && s[0] <= 0xF4 ? 4
                                              : 0;
    if (!n || n > left) return 0;
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xC0) != 0x80) return 0;
    bool overlong = (s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xF0 && s[1] < 0x90);
    bool surrogate = s[0] == 0xED && s[1] >= 0xA0, beyond = s[0] == 0xF4 && s[1] >= 0x90;
    return overlong || surrogate || beyond ? 0 : n;
}

size_t hg_read_digits(const char *text, size_t length, uint64_t *value) {
    uint64_t n = 0;
    size_t at = 0;
    for (; at < length && text[at] >= '0' && text[at] <= '9'; at++)
        if (!hg_mul_u64(n, 10, &n) || !hg_add_u64(n, (uint64_t)(text[at] - '0'), &n)) return 0;
    if (at) *value = n;
    return at;
}

bool hg_parse_size(const char *text, uint64_t *bytes) {
    static const char units[] = "KMGT";
    uint64_t n;
    size_t digits = hg_read_digits(text, strlen(text), &n);
    const char *at = text + digits;
    if (!digits) return false;
    if (*at) {
        const char *unit = strchr(units, *at++);
        if (!unit || *at || !hg_mul_u64(n, UINT64_C(1024) << (10 * (unit - units)), &n))
            return false;
    }
    *bytes = n;
    return true;
}

static char small(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

bool hg_same_name(const char *a, const char *b) {
    for (; *a && *b; a++, b++)
        if (small(*a) != small(*b)) return false;
    return *a == *b;
}
