/* The drawings of `hologram atlas --svg`. Whole numbers only, so that a drawing is the same text on
 * every machine. */
#include "atlas.h"
#include <hologram/atlas.h>
#include <stdio.h>

static void open_svg(hg_text *svg, int width, int height, const char *title) {
    hg_text_addf(svg,
                 "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "
                 "height=\"%d\" role=\"img\" "
                 "font-family=\"Helvetica, Arial, sans-serif\">\n<title>%s</title>\n<rect "
                 "width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>\n",
                 width, height, width, height, title, width, height);
}

static void add_text(hg_text *svg, int x, int y, int size, const char *anchor, const char *fill,
                     const char *text) {
    hg_text_addf(
        svg, "<text x=\"%d\" y=\"%d\" font-size=\"%d\" text-anchor=\"%s\" fill=\"%s\">%s</text>\n",
        x, y, size, anchor, fill, text);
}

/* Light, middle and strong of one hue a scope: modalities 0, 1, 2. */
static const char *const TINTS[4][3] = {{"#e3eefb", "#b9d6f4", "#8dbbeb"},
                                        {"#e4f4e6", "#bce3c1", "#8fce98"},
                                        {"#fdf0dc", "#f9d9a6", "#f2bd6b"},
                                        {"#f7e3ef", "#eabbd6", "#da8fba"}};
static const char INK[] = "#1d2733", PALE[] = "#55606e", STRONG[] = "#c0392b";

/* ---- the table ---- */

enum { CELL_W = 82, CELL_H = 44, LEFT = 190, TOP = 96 };

static void draw_cell(hg_text *svg, uint8_t cls) {
    hg_class_parts p = hg_class_split(cls);
    int row = 3 * p.scope + p.modality, x = LEFT + CELL_W * p.context,
        y = TOP + CELL_H * row + 10 * p.scope;
    bool unity = hg_class_is_unity(cls);
    uint8_t bytes[4];
    char text[64];
    hg_text_addf(svg,
                 "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"%s\" stroke=\"%s\" "
                 "stroke-width=\"%d\"/>\n",
                 x + 1, y + 1, CELL_W - 2, CELL_H - 2, TINTS[p.scope][p.modality],
                 unity ? STRONG : "#ffffff", unity ? 3 : 1);
    hg_text_addf(
        svg,
        "<text x=\"%d\" y=\"%d\" font-size=\"17\" text-anchor=\"middle\" fill=\"%s\"%s>%d</text>\n",
        x + CELL_W / 2, y + 20, INK,
        hg_class_is_unit(cls) ? " font-weight=\"bold\" text-decoration=\"underline\"" : "", cls);
    if (hg_class_bytes(cls, bytes) == 2)
        snprintf(text, sizeof text, "%02X %02X", bytes[0], bytes[1]);
    else
        snprintf(text, sizeof text, "%02X %02X %02X %02X", bytes[0], bytes[1], bytes[2], bytes[3]);
    add_text(svg, x + CELL_W / 2, y + 36, 11, "middle", PALE, text);
}

void atlas_draw_table(hg_text *svg) {
    static const char *const MODALITIES[] = {"modality 0 (bits 5, 4: 00, 11)", "modality 1 (01)",
                                             "modality 2 (10)"};
    int width = LEFT + 8 * CELL_W + 20, bottom = TOP + 12 * CELL_H + 30;
    char text[96];
    open_svg(svg, width, bottom + 62, "The 96 classes of bytes");
    add_text(svg, 20, 34, 20, "start", INK,
             "The 96 classes of bytes: class = 24·scope + 8·modality + context");
    add_text(svg, LEFT + 4 * CELL_W, 64, 13, "middle", PALE,
             "context: bits 3, 2, 1 of the byte (bit 0 does not matter)");
    for (int l = 0; l < 8; l++) {
        snprintf(text, sizeof text, "%d", l);
        add_text(svg, LEFT + CELL_W * l + CELL_W / 2, TOP - 10, 14, "middle", INK, text);
    }
    for (int h = 0; h < 4; h++) {
        int y = TOP + (3 * CELL_H + 10) * h;
        snprintf(text, sizeof text, "scope %d (bits 7, 6: %d%d)", h, h >> 1, h & 1);
        add_text(svg, LEFT - 12, y + 17, 13, "end", INK, text);
        for (int d = 0; d < 3; d++)
            add_text(svg, LEFT - 12, y + CELL_H * d + 35, 11, "end", PALE, MODALITIES[d]);
    }
    for (uint8_t c = 0; c < HG_CLASS_COUNT; c++) draw_cell(svg, c);
    add_text(svg, 20, bottom + 20, 12, "start", INK,
             "Large: the class. Small: its bytes, in hexadecimal; the first is the canonical one. "
             "Bold, underlined: units modulo 96 (32).");
    add_text(svg, 20, bottom + 42, 12, "start", INK,
             "Outlined: the unity classes 0 and 48. The mirror is two scopes down (+48). The three "
             "cells of one scope and context are an "
             "orbit.");
    hg_text_addf(svg, "</svg>\n");
}

/* ---- the graph ---- */

/* A linear drawing: each label moves a vertex by one vector, so all edges that change the same
 * label are parallel. */
enum { E1, E2, E3, E6, D45, LABELS };
static const struct {
    int x, y;
    const char *colour, *name;
} AXES[LABELS] = {
    {84, 0, "#2f6fb7", "e1"},   {0, -84, "#2e9e5b", "e2"},     {34, -30, "#d08700", "e3"},
    {236, 45, "#8a4fbf", "e6"}, {-42, -212, "#c0392b", "d45"},
};

static void place(uint8_t cls, int *x, int *y) {
    hg_class_label l = hg_class_get_label(cls);
    const int amount[LABELS] = {l.e1, l.e2, l.e3, l.e6, l.d45};
    *x = 100 + 510 * l.e7;
    *y = 396;
    for (int k = 0; k < LABELS; k++) *x += AXES[k].x * amount[k], *y += AXES[k].y * amount[k];
}

static int changed(uint8_t a, uint8_t b) {
    hg_class_label l = hg_class_get_label(a), m = hg_class_get_label(b);
    return l.e1 != m.e1 ? E1 : l.e2 != m.e2 ? E2 : l.e3 != m.e3 ? E3 : l.e6 != m.e6 ? E6 : D45;
}

static void draw_edges(hg_text *svg, int label) {
    hg_text_addf(svg, "<g stroke=\"%s\" stroke-width=\"%d\" stroke-opacity=\"0.%d\">\n",
                 AXES[label].colour, label < E6 ? 2 : 1, label < E6 ? 9 : 6);
    for (uint8_t a = 0; a < HG_CLASS_COUNT; a++)
        for (uint8_t b = a + 1; b < HG_CLASS_COUNT; b++) {
            int x, y, to_x, to_y;
            if (!hg_class_adjacent(a, b) || changed(a, b) != label) continue;
            place(a, &x, &y);
            place(b, &to_x, &to_y);
            hg_text_addf(svg, "<path d=\"M%d %dL%d %d\"/>\n", x, y, to_x, to_y);
        }
    hg_text_addf(svg, "</g>\n");
}

static void draw_vertex(hg_text *svg, uint8_t cls) {
    hg_class_parts p = hg_class_split(cls);
    int x, y;
    place(cls, &x, &y);
    hg_text_addf(
        svg,
        "<circle cx=\"%d\" cy=\"%d\" r=\"13\" fill=\"%s\" stroke=\"%s\" stroke-width=\"%d\"/>\n", x,
        y, TINTS[p.scope][p.modality], hg_class_is_unity(cls) ? STRONG : INK,
        hg_class_is_unity(cls) ? 3 : 1);
    hg_text_addf(
        svg,
        "<text x=\"%d\" y=\"%d\" font-size=\"12\" text-anchor=\"middle\" fill=\"%s\">%d</text>\n",
        x, y + 4, INK, cls);
}

void atlas_draw_graph(hg_text *svg) {
    open_svg(svg, 1030, 748, "The graph of the 96 classes");
    add_text(svg, 20, 34, 20, "start", INK,
             "The graph of the 96 classes: an edge changes one label by one step");
    for (int label = LABELS - 1; label >= 0; label--) draw_edges(svg, label);
    for (uint8_t c = 0; c < HG_CLASS_COUNT; c++) draw_vertex(svg, c);
    for (int label = 0; label < LABELS; label++) {
        int x = 20 + 110 * label;
        hg_text_addf(svg, "<path d=\"M%d 703h34\" stroke=\"%s\" stroke-width=\"3\"/>\n", x,
                     AXES[label].colour);
        add_text(svg, x + 42, 708, 14, "start", INK, AXES[label].name);
    }
    add_text(svg, 580, 708, 14, "start", INK, "Left: e7 = 0. Right: e7 = 1, the mirror image.");
    add_text(svg, 20, 733, 13, "start", PALE,
             "Rows from the bottom: d45 = -1 (modality 2), 0 (modality 0, the 32 vertices of "
             "degree 6), +1 (modality 1). Cubes: e1, e2, e3.");
    hg_text_addf(svg, "</svg>\n");
}
