/* Lines and columns of text. */
#ifndef HG_BASE_LINES_H
#define HG_BASE_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Walks forward only: ask for lines in ascending order. {text, length, 0, 1} stands at the first
 * one. */
typedef struct hg_line_reader {
    const char *text; /* NULL: there are no lines */
    size_t length, start;
    uint32_t line; /* number of the line that begins at start */
} hg_line_reader;

/* A line's bytes without its end, LF or CR LF. False behind the last line, which is empty where the
 * text ends with LF. */
bool hg_line_read(hg_line_reader *r, uint32_t line, const char **text, size_t *length);

/* Columns of UTF-8 text: every code point is one. */
size_t hg_columns(const char *text, size_t length);

#endif
