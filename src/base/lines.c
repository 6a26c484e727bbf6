/* Lines and columns of text. */
#include "base/lines.h"

#include <string.h>

bool hg_line_read(hg_line_reader *r, uint32_t line, const char **text, size_t *length) {
    if (!r->text) return false;
    while (r->line < line) {
        const char *end = r->start < r->length
                              ? memchr(r->text + r->start, '\n', r->length - r->start)
                              : NULL;
        if (!end) return false;
        r->start = (size_t)(end - r->text) + 1;
        r->line++;
    }
    if (r->start > r->length) return false;
    *text = r->text + r->start;
    const char *end = r->start < r->length ? memchr(*text, '\n', r->length - r->start) : NULL;
    *length = end ? (size_t)(end - *text) : r->length - r->start;
    if (*length && (*text)[*length - 1] == '\r') --*length;
    return true;
}

size_t hg_columns(const char *text, size_t length) {
    size_t n = 0;
    for (size_t i = 0; i < length; i++) n += ((unsigned char)text[i] & 0xC0) != 0x80;
    return n;
}
