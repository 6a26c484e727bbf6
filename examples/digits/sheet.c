/* Draws the contact sheet into memory; libpng writes it. */
#include "sheet.h"
#include <errno.h>
#include <png.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 30, SCALE = 4, CELL_WIDTH = 40, CELL_HEIGHT = 52, MARGIN = 6, FONT_SCALE = 2 };

typedef struct {
    uint8_t r, g, b;
} colour;
typedef struct {
    uint32_t width, height;
    colour *at;
} picture;

static const colour PAPER = {250, 250, 247}, INK = {60, 60, 60}, WRONG = {208, 20, 20},
                    RIGHT = {20, 130, 60};

/* The digits 0 .. 9, three dots wide and five high: one row of dots an octal digit, the top row
 * first. */
static const uint16_t FONT[10] = {075557, 026227, 071747, 071717, 055711,
                                  074717, 074757, 071244, 075757, 075717};

static void fill(picture *p, uint32_t x, uint32_t y, uint32_t width, uint32_t height, colour c) {
    for (uint32_t row = y; row < y + height; row++)
        for (uint32_t column = x; column < x + width; column++)
            p->at[(size_t)row * p->width + column] = c;
}

static void draw_number(picture *p, uint32_t x, uint32_t y, uint8_t digit, colour c) {
    for (uint32_t row = 0; row < 5; row++)
        for (uint32_t column = 0; column < 3; column++)
            if (FONT[digit] >> (3 * (4 - row) + (2 - column)) & 1)
                fill(p, x + column * FONT_SCALE, y + row * FONT_SCALE, FONT_SCALE, FONT_SCALE, c);
}

static void draw_digit(picture *p, uint32_t x, uint32_t y, const uint8_t *pixels) {
    for (uint32_t i = 0; i < 64; i++) {
        uint8_t grey = (uint8_t)(255 - 15 * (pixels[i] > 16 ? 16 : pixels[i]));
        fill(p, x + i % 8 * SCALE, y + i / 8 * SCALE, SCALE, SCALE, (colour){grey, grey, grey});
    }
}

/* A cell: the digit, under it the number found; a wrong one has a red frame, the number in red and
 * the right one in green. */
static void draw_cell(picture *p, uint32_t x, uint32_t y, const uint8_t *pixels, uint8_t wanted,
                      uint8_t found) {
    uint32_t left = x + (CELL_WIDTH - 8 * SCALE) / 2, top = y + 3, under = top + 8 * SCALE + 3;
    if (wanted != found) {
        fill(p, x, y, CELL_WIDTH, CELL_HEIGHT - 2, WRONG);
        fill(p, x + 2, y + 2, CELL_WIDTH - 4, CELL_HEIGHT - 6, PAPER);
    }
    draw_digit(p, left, top, pixels);
    if (wanted == found) {
        draw_number(p, x + (CELL_WIDTH - 3 * FONT_SCALE) / 2, under, found, INK);
    } else {
        draw_number(p, left + 2, under, found, WRONG);
        draw_number(p, left + 8 * SCALE - 3 * FONT_SCALE - 2, under, wanted, RIGHT);
    }
}

int sheet_write(const char *path, const uint8_t *images, const uint8_t *wanted,
                const uint8_t *found, size_t count) {
    uint32_t rows = (uint32_t)((count + COLUMNS - 1) / COLUMNS);
    picture p = {.width = COLUMNS * CELL_WIDTH + 2 * MARGIN,
                 .height = rows * CELL_HEIGHT + 2 * MARGIN,
                 .at = NULL};
    p.at = malloc((size_t)p.width * p.height * sizeof *p.at);
    if (!p.at) return -1;
    fill(&p, 0, 0, p.width, p.height, PAPER);
    for (size_t i = 0; i < count; i++)
        draw_cell(&p, MARGIN + (uint32_t)(i % COLUMNS) * CELL_WIDTH,
                  MARGIN + (uint32_t)(i / COLUMNS) * CELL_HEIGHT, images + 64 * i, wanted[i],
                  found[i]);

    png_image image;
    memset(&image, 0, sizeof image);
    image.version = PNG_IMAGE_VERSION;
    image.width = p.width;
    image.height = p.height;
    image.format = PNG_FORMAT_RGB;
    int written = png_image_write_to_file(&image, path, 0, p.at, 0, NULL);
    free(p.at);
    if (!written && errno == 0) errno = EIO;
    return written ? 0 : -1;
}
