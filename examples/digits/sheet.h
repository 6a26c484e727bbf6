/* A contact sheet: every digit enlarged, the recognised number under it, the wrong ones framed in
 * red. */
#ifndef DIGITS_SHEET_H
#define DIGITS_SHEET_H

#include <stddef.h>
#include <stdint.h>

/* images: count rows of 64 pixels 0 .. 16; wanted and found: count labels 0 .. 9. Returns 0, or -1
 * with errno set. */
int sheet_write(const char *path, const uint8_t *images, const uint8_t *wanted,
                const uint8_t *found, size_t count);

#endif
