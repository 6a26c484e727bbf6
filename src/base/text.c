/* Growable byte strings. Must not know: what is written into them. */
#include "base/base.h"

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
