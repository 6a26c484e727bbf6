/* The graph of 96 vertices: labels that differ in one of e1, e2, e3, e6, or by one step of d45
 * (semantics 5.3). A component is the product of the cube of the context, an edge for e6 and the
 * path -1 … 0 … +1, so distances are sums over the coordinates.
 * Must not know: programs. */
#include "atlas/atlas_internal.h"

/* Rows are written in rising order: the scope's neighbour lies 24 away and comes first or last,
 * those of modality 0 go up to modalities 1 and 2, those of 1 and 2 down to 0, and the three of the
 * context stay within its eight. */
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define LOW(l) MIN((l) ^ 1, MIN((l) ^ 2, (l) ^ 4))
#define HIGH(l) MAX((l) ^ 1, MAX((l) ^ 2, (l) ^ 4))
#define MIDDLE(l) (((l) ^ 1) + ((l) ^ 2) + ((l) ^ 4) - LOW(l) - HIGH(l))
#define CONTEXTS(b, l) (b) + LOW(l), (b) + MIDDLE(l), (b) + HIGH(l)
#define EVEN_0(b, l) \
    { CONTEXTS(b, l), (b) + 8 + (l), (b) + 16 + (l), (b) + 24 + (l) }
#define EVEN_D(b, d, l) \
    { (b) - 8 * (d) + (l), CONTEXTS(b, l), (b) + 24 + (l), 0xFF }
#define ODD_0(b, l) \
    { (b) - 24 + (l), CONTEXTS(b, l), (b) + 8 + (l), (b) + 16 + (l) }
#define ODD_D(b, d, l) \
    { (b) - 24 + (l), (b)-8 * (d) + (l), CONTEXTS(b, l), 0xFF }
#define EIGHT_0(row, b) \
    row(b, 0), row(b, 1), row(b, 2), row(b, 3), row(b, 4), row(b, 5), row(b, 6), row(b, 7)
#define EIGHT_D(row, b, d)                                                              \
    row(b, d, 0), row(b, d, 1), row(b, d, 2), row(b, d, 3), row(b, d, 4), row(b, d, 5), \
        row(b, d, 6), row(b, d, 7)
#define SCOPE(row_0, row_d, b) \
    EIGHT_0(row_0, b), EIGHT_D(row_d, b + 8, 1), EIGHT_D(row_d, b + 16, 2)

const uint8_t hg_neighbour_table[HG_CLASS_COUNT][HG_CLASS_NEIGHBOURS] = {
    SCOPE(EVEN_0, EVEN_D, 0),
    SCOPE(ODD_0, ODD_D, 24),
    SCOPE(EVEN_0, EVEN_D, 48),
    SCOPE(ODD_0, ODD_D, 72),
};

uint32_t hg_class_degree(uint8_t cls) { return hg_class_split(cls).modality == 0 ? 6 : 5; }

uint32_t hg_class_neighbours(uint8_t cls, uint8_t neighbours[HG_CLASS_NEIGHBOURS]) {
    uint32_t degree = hg_class_degree(cls);
    for (uint32_t k = 0; k < degree && neighbours; k++)
        neighbours[k] = hg_neighbour_table[cls % HG_CLASS_COUNT][k];
    return degree;
}

int hg_class_distance(uint8_t a, uint8_t b) {
    hg_class_parts p = hg_class_split(a), q = hg_class_split(b);
    unsigned context = p.context ^ q.context, scope = p.scope ^ q.scope;
    if (scope & 2) return -1;
    int modality = p.modality == q.modality ? 0 : p.modality == 0 || q.modality == 0 ? 1 : 2;
    return (int)((context & 1) + (context >> 1 & 1) + (context >> 2) + scope) + modality;
}

bool hg_class_adjacent(uint8_t a, uint8_t b) { return hg_class_distance(a, b) == 1; }

/* Moves act on one coordinate each: rings of 4 and 8, and every modality is one D from every other.
 */
uint32_t hg_class_moves(uint8_t from, uint8_t to) {
    hg_class_parts p = hg_class_split(from), q = hg_class_split(to);
    uint32_t scope = (4u + q.scope - p.scope) % 4, context = (8u + q.context - p.context) % 8;
    return MIN(scope, 4 - scope) + MIN(context, 8 - context) + (p.modality != q.modality);
}
