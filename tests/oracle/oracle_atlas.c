/* Classes, the graph, coordinates, orbits, inverses and exact sums, written from semantics 5:
 * labels are moved as labels, numbers are searched for where that is affordable, sums are 4096-bit
 * integers. Nothing here looks like the library's formulas. */
#include "oracle_internal.h"
#include <string.h>

/* ---- 5.1: a class by its labels ---- */

typedef struct label {
    int scope, modality, context;
} label;

static label label_of(uint32_t cls) {
    label l = {0, 0, 0};
    for (uint32_t n = 0; n < cls; n++) { /* count up: context, then modality, then scope */
        if (++l.context < 8) continue;
        l.context = 0;
        if (++l.modality < 3) continue;
        l.modality = 0;
        l.scope++;
    }
    return l;
}

static uint32_t class_of(label l) { return (uint32_t)(24 * l.scope + 8 * l.modality + l.context); }

uint32_t oracle_class_of_byte(uint8_t byte) {
    bool b4 = byte & 0x10, b5 = byte & 0x20;
    label l = {0, b4 == b5 ? 0 : b4 ? 1 : 2, 0};
    if (byte & 0x80) l.scope += 2;
    if (byte & 0x40) l.scope += 1;
    if (byte & 0x08) l.context += 4;
    if (byte & 0x04) l.context += 2;
    if (byte & 0x02) l.context += 1;
    return class_of(l);
}

/* 5.5: flips e7, the upper bit of the scope. */
uint32_t oracle_mirror(uint32_t cls) {
    label l = label_of(cls);
    l.scope = l.scope >= 2 ? l.scope - 2 : l.scope + 2;
    return class_of(l);
}

/* 5.3: two classes are neighbours when their labels differ in e1, e2, e3 or e6 alone, or in d45
 * alone by a step from or to 0. */
static bool adjacent(uint32_t a, uint32_t b) {
    label x = label_of(a), y = label_of(b);
    int context = x.context ^ y.context, scope = x.scope ^ y.scope;
    if (x.modality == y.modality && scope == 0) return context == 1 || context == 2 || context == 4;
    if (x.modality == y.modality) return context == 0 && scope == 1;
    return context == 0 && scope == 0 && (x.modality == 0 || y.modality == 0);
}

uint32_t oracle_neighbours(uint32_t cls, uint32_t neighbours[6]) {
    uint32_t count = 0;
    for (uint32_t c = 0; c < 96; c++)
        if (adjacent(cls, c)) neighbours[count++] = c;
    return count;
}

/* ---- 4.5 ---- */

void oracle_torus(hg_type type, uint64_t *pages, uint64_t *residues) {
    static const uint64_t rows[10][2] = {{24, 96},      {48, 96},      {96, 192},    {192, 384},
                                         {384, 768},    {768, 1536},   {1536, 3072}, {3072, 6144},
                                         {6144, 12288}, {12288, 24576}};
    uint32_t size = oracle_size(type), row = 0;
    while (1u << row < size) row++;
    *pages = rows[row][0];
    *residues = rows[row][1];
}

bool oracle_is_torus(uint64_t n) {
    uint64_t pages, residues;
    for (int t = 0; t < HG_TYPE_COUNT; t++) {
        oracle_torus((hg_type)t, &pages, &residues);
        if (n == pages * residues) return true;
    }
    return n == 96;
}

/* ---- 5.10, 5.11 ---- */

/* D moves the modality alone: an orbit is what scope and context name. */
uint32_t oracle_orbit(uint64_t coordinate, uint64_t n) {
    if (coordinate >= n) return 0;
    label l = label_of((uint32_t)(coordinate % 96));
    return (uint32_t)(8 * l.scope + l.context);
}

uint64_t oracle_representative(uint32_t orbit) {
    uint64_t coordinate = 0;
    while (oracle_orbit(coordinate, 96) != orbit) coordinate++;
    return coordinate;
}

__extension__ typedef __int128 int128;

/* u · x = 1 + m · k, where k solves the same problem for m mod u. */
static uint64_t solve(uint64_t u, uint64_t m) {
    if (u == 1) return 1;
    if (u == 0) return 0;
    uint64_t smaller = solve(m % u, u);
    if (smaller == 0) return 0;
    return (uint64_t)(((int128)m * (int128)(u - smaller) + 1) / (int128)u);
}

uint64_t oracle_inverse(uint64_t unit, uint64_t modulus) {
    if (modulus < 2 || modulus > UINT32_MAX) return 0;
    if (modulus > 5000) return solve(unit % modulus, modulus);
    for (uint64_t x = 1; x < modulus; x++)
        if (unit % modulus * x % modulus == 1) return x;
    return 0;
}

/* ---- exact sums: multiples of 2^-1074 as 4096-bit integers ---- */

_Static_assert(sizeof(oracle_sum) >= sizeof(wide), "limbs of a sum");

void oracle_sum_add(oracle_sum *sum, const uint8_t *f64) {
    unpacked u = float_unpack(HG_TYPE_F64, f64);
    wide *total = (wide *)sum->limb, one = {{0}}, moved;
    if (u.kind == FLOAT_NAN) sum->nan = true;
    if (u.kind == FLOAT_INFINITE) *(u.negative ? &sum->falls : &sum->rises) = true;
    if (u.kind != FLOAT_FINITE) return;
    one.limb[0] = (uint32_t)u.mantissa;
    one.limb[1] = (uint32_t)(u.mantissa >> 32);
    wide_shl(&moved, &one, (uint32_t)(u.exponent + 1074), WIDE_LIMBS);
    if (u.negative) wide_neg(&moved, &moved, WIDE_LIMBS);
    wide_add(total, total, &moved, WIDE_LIMBS);
}

void oracle_sum_merge(oracle_sum *sum, const oracle_sum *more) {
    wide_add((wide *)sum->limb, (const wide *)sum->limb, (const wide *)more->limb, WIDE_LIMBS);
    sum->nan |= more->nan;
    sum->rises |= more->rises;
    sum->falls |= more->falls;
}

void oracle_sum_round(const oracle_sum *sum, uint8_t *f64) {
    wide size = *(const wide *)sum->limb, top, back;
    bool negative = wide_is_negative(&size, WIDE_LIMBS);
    unpacked u = {FLOAT_FINITE, negative, 0, 0};
    if (sum->nan || sum->rises || sum->falls) {
        u.kind = sum->nan || (sum->rises && sum->falls) ? FLOAT_NAN : FLOAT_INFINITE;
        u.negative = sum->falls;
        float_pack(HG_TYPE_F64, u, false, f64);
        return;
    }
    memset(f64, 0, 8);
    if (wide_is_zero(&size, WIDE_LIMBS)) return;
    if (negative) wide_neg(&size, &size, WIDE_LIMBS);
    uint32_t length = wide_bit_length(&size, WIDE_LIMBS), cut = length > 64 ? length - 64 : 0;
    wide_shr(&top, &size, cut, WIDE_LIMBS, false);
    wide_shl(&back, &top, cut, WIDE_LIMBS);
    u.mantissa = (uint64_t)top.limb[1] << 32 | top.limb[0];
    u.exponent = (int32_t)cut - 1074;
    float_pack(HG_TYPE_F64, u, wide_compare(&back, &size, WIDE_LIMBS) != 0, f64);
}
