/* The algebra of the 96 classes against its definitions: labels that differ in one place, inverses
 * by trial, permutations by composing tables. Expected numbers are written from the specification
 * (VEC rows) and not computed by the library. */
#include "atlas/atlas.h"
#include "test.h"
#include <hologram/atlas.h>

#include <math.h>
#include <stdlib.h>

static uint32_t crc32(const uint8_t *bytes, size_t count) { /* of zlib */
    uint32_t crc = 0xFFFFFFFF;
    for (size_t i = 0; i < count; i++) {
        crc ^= bytes[i];
        for (int k = 0; k < 8; k++) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320 : 0);
    }
    return ~crc;
}

/* ---- an independent reading of the definitions: bits of a byte, labels ---- */

typedef struct label {
    int e[8], d45;
} label; /* e[1], e[2], e[3], e[6], e[7] */

static label label_of(int cls) {
    label l = {{0}, 0};
    for (; cls >= 48; cls -= 48) l.e[7]++;
    for (; cls >= 24; cls -= 24) l.e[6]++;
    l.d45 = cls < 8 ? 0 : cls < 16 ? 1 : -1;
    for (; cls >= 8; cls -= 8) {}
    for (; cls >= 4; cls -= 4) l.e[3]++;
    for (; cls >= 2; cls -= 2) l.e[2]++;
    l.e[1] = cls;
    return l;
}

static int class_of(label l) {
    for (int c = 0; c < 96; c++) {
        label m = label_of(c);
        if (memcmp(&m, &l, sizeof m) == 0) return c;
    }
    return -1;
}

static int class_of_byte(int b) {
    label l = {{0, b >> 1 & 1, b >> 2 & 1, b >> 3 & 1, 0, 0, b >> 6 & 1, b >> 7 & 1},
               (b >> 4 & 1) - (b >> 5 & 1)};
    return class_of(l);
}

static bool adjacent[96][96]; /* filled by make_graph */

static void make_graph(void) {
    for (int c = 0; c < 96; c++) {
        static const int flips[] = {1, 2, 3, 6};
        for (int k = 0; k < 4; k++) {
            label l = label_of(c);
            l.e[flips[k]] ^= 1;
            adjacent[c][class_of(l)] = true;
        }
        for (int step = -1; step <= 1; step += 2) {
            label l = label_of(c);
            l.d45 += step;
            if (l.d45 >= -1 && l.d45 <= 1) adjacent[c][class_of(l)] = true;
        }
    }
}

/* ---- 5.1, 5.2 ---- */

static void test_bytes(void) {
    static const uint8_t rows[][2] = {
        {0x00, 0},  {0x01, 0},  {0x02, 1},  {0x0A, 5},  {0x0F, 7},  {0x10, 8},  {0x1A, 13},
        {0x20, 16}, {0x2A, 21}, {0x2E, 23}, {0x30, 0},  {0x31, 0},  {0x3F, 7},  {0x40, 24},
        {0x55, 34}, {0x7F, 31}, {0x80, 48}, {0x84, 50}, {0xAA, 69}, {0xB0, 48}, {0xC0, 72},
        {0xCF, 79}, {0xD0, 80}, {0xE0, 88}, {0xEF, 95}, {0xF0, 72}, {0xFF, 79}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CHECK_U64(hg_class_of_byte(rows[i][0]), rows[i][1]);
    uint8_t classes[256], canonical[96];
    unsigned sum = 0;
    for (int b = 0; b < 256; b++) {
        classes[b] = hg_class_of_byte((uint8_t)b);
        sum += classes[b];
        CHECK_U64(classes[b], class_of_byte(b));
    }
    CHECK_U64(sum, 11648);
    CHECK_U64(crc32(classes, 256), 0xb0a6a4c7);
    for (int c = 0; c < 96; c++) {
        canonical[c] = hg_class_byte((uint8_t)c);
        CHECK_U64(classes[canonical[c]], c);
        uint8_t found[4], expected[4];
        uint32_t count = hg_class_bytes((uint8_t)c, found), n = 0;
        for (int b = 0; b < 256; b++)
            if (class_of_byte(b) == c && n < 4) expected[n++] = (uint8_t)b;
        CHECK_U64(count, n);
        CHECK_U64(n, label_of(c).d45 ? 2 : 4);
        CHECK(memcmp(found, expected, n) == 0);
        CHECK_U64(canonical[c], expected[0]);
    }
    CHECK_U64(crc32(canonical, 96), 0x4ce6f5f3);
}

/* Every length around the size of a block, unaligned, in place and apart. */
static void test_buffers(void) {
    enum { ROOM = 700 };
    uint8_t in[ROOM], out[ROOM + 1];
    for (int i = 0; i < ROOM; i++) in[i] = (uint8_t)(i * 37 + i / 256);
    for (int length = 0; length < 300; length++) {
        int from = length % 7;
        memset(out, 0xEE, sizeof out);
        hg_class_of_bytes(in + from, out, (uint64_t)length);
        bool good = out[length] == 0xEE;
        for (int i = 0; i < length; i++) good = good && out[i] == hg_class_of_byte(in[from + i]);
        memcpy(out, in, ROOM);
        hg_class_of_bytes(out + from, out + from, (uint64_t)length);
        for (int i = 0; i < ROOM; i++)
            good = good &&
                   out[i] == (i >= from && i < from + length ? hg_class_of_byte(in[i]) : in[i]);
        CHECK_MESSAGE(good, "length %d", length);
    }
}

static void test_labels(void) {
    uint8_t vertices[96];
    bool seen[96] = {false};
    for (int c = 0; c < 96; c++) {
        label l = label_of(c);
        hg_class_label found = hg_class_get_label((uint8_t)c);
        CHECK(found.e1 == l.e[1] && found.e2 == l.e[2] && found.e3 == l.e[3] &&
              found.e6 == l.e[6] && found.e7 == l.e[7] && found.d45 == l.d45);
        CHECK_U64(hg_class_from_label(found), c);
        hg_class_parts p = hg_class_split((uint8_t)c);
        CHECK_U64(24 * p.scope + 8 * p.modality + p.context, c);
        CHECK(p.scope < 4 && p.modality < 3 && p.context < 8);
        CHECK_U64(hg_class_join(p), c);
        vertices[c] = hg_class_to_vertex((uint8_t)c);
        CHECK(vertices[c] < 96 && !seen[vertices[c]]);
        seen[vertices[c]] = true;
        CHECK_U64(hg_class_from_vertex(vertices[c]), c);
    }
    static const uint8_t first[] = {1, 49, 25, 73, 13, 61, 37, 85, 2, 50};
    CHECK(memcmp(vertices, first, sizeof first) == 0);
    CHECK_U64(crc32(vertices, 96), 0xe37fac00);
    int v = 0; /* the nested loop that numbers vertices */
    for (int e1 = 0; e1 < 2; e1++)
        for (int e2 = 0; e2 < 2; e2++)
            for (int e3 = 0; e3 < 2; e3++)
                for (int e6 = 0; e6 < 2; e6++)
                    for (int e7 = 0; e7 < 2; e7++)
                        for (int d45 = -1; d45 <= 1; d45++, v++)
                            CHECK_U64(
                                vertices[class_of((label){{0, e1, e2, e3, 0, 0, e6, e7}, d45})], v);
}

/* ---- 5.3 ---- */

static void test_graph_rows(void) {
    static const uint8_t rows[][7] = {
        {0, 1, 2, 4, 8, 16, 24},        {1, 0, 3, 5, 9, 17, 25},
        {8, 0, 9, 10, 12, 32, 0xFF},    {16, 0, 17, 18, 20, 40, 0xFF},
        {21, 5, 17, 20, 23, 45, 0xFF},  {37, 13, 29, 33, 36, 39, 0xFF},
        {42, 18, 26, 40, 43, 46, 0xFF}, {48, 49, 50, 52, 56, 64, 72},
        {95, 71, 79, 91, 93, 94, 0xFF}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CHECK(memcmp(hg_neighbour_table[rows[i][0]], rows[i] + 1, 6) == 0);
    CHECK_U64(crc32(hg_neighbour_table[0], sizeof hg_neighbour_table), 0x227427cf);
    unsigned edges = 0, of_degree[7] = {0};
    for (int c = 0; c < 96; c++) {
        uint8_t found[6], expected[6];
        uint32_t count = hg_class_neighbours((uint8_t)c, found), n = 0;
        for (int d = 0; d < 96; d++) {
            CHECK_U64(hg_class_adjacent((uint8_t)c, (uint8_t)d), adjacent[c][d]);
            if (adjacent[c][d]) expected[n++] = (uint8_t)d;
        }
        CHECK_U64(count, n);
        CHECK_U64(hg_class_degree((uint8_t)c), n);
        CHECK(memcmp(found, expected, n) == 0);
        CHECK(n == 6 || hg_neighbour_table[c][5] == 0xFF);
        edges += n;
        of_degree[n]++;
    }
    CHECK_U64(edges / 2, 256);
    CHECK_U64(of_degree[5], 64);
    CHECK_U64(of_degree[6], 32);
}

static void test_graph_shape(void) {
    int distance[96][96], triangles = 0, diameter = 0, components = 0;
    for (int from = 0; from < 96; from++) { /* breadth first */
        int queue[96], head = 0, tail = 0;
        for (int c = 0; c < 96; c++) distance[from][c] = -1;
        distance[from][from] = 0;
        queue[tail++] = from;
        while (head < tail) {
            int at = queue[head++];
            for (int c = 0; c < 96; c++)
                if (adjacent[at][c] && distance[from][c] < 0)
                    distance[from][c] = distance[from][at] + 1, queue[tail++] = c;
        }
        CHECK_U64(tail, 48);
        bool lowest = true;
        for (int c = 0; c < 96; c++) {
            CHECK(hg_class_distance((uint8_t)from, (uint8_t)c) == distance[from][c]);
            CHECK((distance[from][c] >= 0) == (label_of(from).e[7] == label_of(c).e[7]));
            if (distance[from][c] > diameter) diameter = distance[from][c];
            if (distance[from][c] >= 0 && c < from) lowest = false;
            for (int d = 0; d < 96; d++)
                triangles += adjacent[from][c] && adjacent[c][d] && adjacent[d][from];
        }
        components += lowest;
    }
    CHECK_U64(triangles, 0);
    CHECK_U64(diameter, 6);
    CHECK_U64(components, 2);
}

/* ---- appendix A ---- */

/* clang-format off */
static const struct { uint8_t byte, vertex, circuit_mirror, orbit, unit, neighbours[6]; } TABLE[96] = {
    {0x00, 1, 0, 0, 0, {1, 2, 4, 8, 16, 24}}, {0x02, 49, 1, 1, 1, {0, 3, 5, 9, 17, 25}},
    {0x04, 25, 2, 2, 0, {0, 3, 6, 10, 18, 26}}, {0x06, 73, 3, 3, 0, {1, 2, 7, 11, 19, 27}},
    {0x08, 13, 4, 4, 0, {0, 5, 6, 12, 20, 28}}, {0x0A, 61, 5, 5, 1, {1, 4, 7, 13, 21, 29}},
    {0x0C, 37, 6, 6, 0, {2, 4, 7, 14, 22, 30}}, {0x0E, 85, 7, 7, 1, {3, 5, 6, 15, 23, 31}},
    {0x10, 2, 16, 0, 0, {0, 9, 10, 12, 32, 255}}, {0x12, 50, 17, 1, 0, {1, 8, 11, 13, 33, 255}},
    {0x14, 26, 18, 2, 0, {2, 8, 11, 14, 34, 255}}, {0x16, 74, 19, 3, 1, {3, 9, 10, 15, 35, 255}},
    {0x18, 14, 20, 4, 0, {4, 8, 13, 14, 36, 255}}, {0x1A, 62, 21, 5, 1, {5, 9, 12, 15, 37, 255}},
    {0x1C, 38, 22, 6, 0, {6, 10, 12, 15, 38, 255}}, {0x1E, 86, 23, 7, 0, {7, 11, 13, 14, 39, 255}},
    {0x20, 0, 8, 0, 0, {0, 17, 18, 20, 40, 255}}, {0x22, 48, 9, 1, 1, {1, 16, 19, 21, 41, 255}},
    {0x24, 24, 10, 2, 0, {2, 16, 19, 22, 42, 255}}, {0x26, 72, 11, 3, 1, {3, 17, 18, 23, 43, 255}},
    {0x28, 12, 12, 4, 0, {4, 16, 21, 22, 44, 255}}, {0x2A, 60, 13, 5, 0, {5, 17, 20, 23, 45, 255}},
    {0x2C, 36, 14, 6, 0, {6, 18, 20, 23, 46, 255}}, {0x2E, 84, 15, 7, 1, {7, 19, 21, 22, 47, 255}},
    {0x40, 7, 24, 8, 0, {0, 25, 26, 28, 32, 40}}, {0x42, 55, 25, 9, 1, {1, 24, 27, 29, 33, 41}},
    {0x44, 31, 26, 10, 0, {2, 24, 27, 30, 34, 42}}, {0x46, 79, 27, 11, 0, {3, 25, 26, 31, 35, 43}},
    {0x48, 19, 28, 12, 0, {4, 24, 29, 30, 36, 44}}, {0x4A, 67, 29, 13, 1, {5, 25, 28, 31, 37, 45}},
    {0x4C, 43, 30, 14, 0, {6, 26, 28, 31, 38, 46}}, {0x4E, 91, 31, 15, 1, {7, 27, 29, 30, 39, 47}},
    {0x50, 8, 40, 8, 0, {8, 24, 33, 34, 36, 255}}, {0x52, 56, 41, 9, 0, {9, 25, 32, 35, 37, 255}},
    {0x54, 32, 42, 10, 0, {10, 26, 32, 35, 38, 255}}, {0x56, 80, 43, 11, 1, {11, 27, 33, 34, 39, 255}},
    {0x58, 20, 44, 12, 0, {12, 28, 32, 37, 38, 255}}, {0x5A, 68, 45, 13, 1, {13, 29, 33, 36, 39, 255}},
    {0x5C, 44, 46, 14, 0, {14, 30, 34, 36, 39, 255}}, {0x5E, 92, 47, 15, 0, {15, 31, 35, 37, 38, 255}},
    {0x60, 6, 32, 8, 0, {16, 24, 41, 42, 44, 255}}, {0x62, 54, 33, 9, 1, {17, 25, 40, 43, 45, 255}},
    {0x64, 30, 34, 10, 0, {18, 26, 40, 43, 46, 255}}, {0x66, 78, 35, 11, 1, {19, 27, 41, 42, 47, 255}},
    {0x68, 18, 36, 12, 0, {20, 28, 40, 45, 46, 255}}, {0x6A, 66, 37, 13, 0, {21, 29, 41, 44, 47, 255}},
    {0x6C, 42, 38, 14, 0, {22, 30, 42, 44, 47, 255}}, {0x6E, 90, 39, 15, 1, {23, 31, 43, 45, 46, 255}},
    {0x80, 4, 48, 16, 0, {49, 50, 52, 56, 64, 72}}, {0x82, 52, 49, 17, 1, {48, 51, 53, 57, 65, 73}},
    {0x84, 28, 50, 18, 0, {48, 51, 54, 58, 66, 74}}, {0x86, 76, 51, 19, 0, {49, 50, 55, 59, 67, 75}},
    {0x88, 16, 52, 20, 0, {48, 53, 54, 60, 68, 76}}, {0x8A, 64, 53, 21, 1, {49, 52, 55, 61, 69, 77}},
    {0x8C, 40, 54, 22, 0, {50, 52, 55, 62, 70, 78}}, {0x8E, 88, 55, 23, 1, {51, 53, 54, 63, 71, 79}},
    {0x90, 5, 64, 16, 0, {48, 57, 58, 60, 80, 255}}, {0x92, 53, 65, 17, 0, {49, 56, 59, 61, 81, 255}},
    {0x94, 29, 66, 18, 0, {50, 56, 59, 62, 82, 255}}, {0x96, 77, 67, 19, 1, {51, 57, 58, 63, 83, 255}},
    {0x98, 17, 68, 20, 0, {52, 56, 61, 62, 84, 255}}, {0x9A, 65, 69, 21, 1, {53, 57, 60, 63, 85, 255}},
    {0x9C, 41, 70, 22, 0, {54, 58, 60, 63, 86, 255}}, {0x9E, 89, 71, 23, 0, {55, 59, 61, 62, 87, 255}},
    {0xA0, 3, 56, 16, 0, {48, 65, 66, 68, 88, 255}}, {0xA2, 51, 57, 17, 1, {49, 64, 67, 69, 89, 255}},
    {0xA4, 27, 58, 18, 0, {50, 64, 67, 70, 90, 255}}, {0xA6, 75, 59, 19, 1, {51, 65, 66, 71, 91, 255}},
    {0xA8, 15, 60, 20, 0, {52, 64, 69, 70, 92, 255}}, {0xAA, 63, 61, 21, 0, {53, 65, 68, 71, 93, 255}},
    {0xAC, 39, 62, 22, 0, {54, 66, 68, 71, 94, 255}}, {0xAE, 87, 63, 23, 1, {55, 67, 69, 70, 95, 255}},
    {0xC0, 10, 72, 24, 0, {48, 73, 74, 76, 80, 88}}, {0xC2, 58, 73, 25, 1, {49, 72, 75, 77, 81, 89}},
    {0xC4, 34, 74, 26, 0, {50, 72, 75, 78, 82, 90}}, {0xC6, 82, 75, 27, 0, {51, 73, 74, 79, 83, 91}},
    {0xC8, 22, 76, 28, 0, {52, 72, 77, 78, 84, 92}}, {0xCA, 70, 77, 29, 1, {53, 73, 76, 79, 85, 93}},
    {0xCC, 46, 78, 30, 0, {54, 74, 76, 79, 86, 94}}, {0xCE, 94, 79, 31, 1, {55, 75, 77, 78, 87, 95}},
    {0xD0, 11, 88, 24, 0, {56, 72, 81, 82, 84, 255}}, {0xD2, 59, 89, 25, 0, {57, 73, 80, 83, 85, 255}},
    {0xD4, 35, 90, 26, 0, {58, 74, 80, 83, 86, 255}}, {0xD6, 83, 91, 27, 1, {59, 75, 81, 82, 87, 255}},
    {0xD8, 23, 92, 28, 0, {60, 76, 80, 85, 86, 255}}, {0xDA, 71, 93, 29, 1, {61, 77, 81, 84, 87, 255}},
    {0xDC, 47, 94, 30, 0, {62, 78, 82, 84, 87, 255}}, {0xDE, 95, 95, 31, 0, {63, 79, 83, 85, 86, 255}},
    {0xE0, 9, 80, 24, 0, {64, 72, 89, 90, 92, 255}}, {0xE2, 57, 81, 25, 1, {65, 73, 88, 91, 93, 255}},
    {0xE4, 33, 82, 26, 0, {66, 74, 88, 91, 94, 255}}, {0xE6, 81, 83, 27, 1, {67, 75, 89, 90, 95, 255}},
    {0xE8, 21, 84, 28, 0, {68, 76, 88, 93, 94, 255}}, {0xEA, 69, 85, 29, 0, {69, 77, 89, 92, 95, 255}},
    {0xEC, 45, 86, 30, 0, {70, 78, 90, 92, 95, 255}}, {0xEE, 93, 87, 31, 1, {71, 79, 91, 93, 94, 255}},
};
/* clang-format on */

static void test_table(void) {
    for (int c = 0; c < 96; c++) {
        uint8_t cls = (uint8_t)c, orbit = 99;
        CHECK_U64(hg_class_byte(cls), TABLE[c].byte);
        CHECK_U64(hg_class_to_vertex(cls), TABLE[c].vertex);
        CHECK_U64(hg_transform_apply((hg_transform){.mirror = true}, cls), TABLE[c].circuit_mirror);
        CHECK(hg_orbit_classify(cls, 96, &orbit) == HG_OK && orbit == TABLE[c].orbit);
        CHECK_U64(hg_class_is_unit(cls), TABLE[c].unit);
        CHECK(memcmp(hg_neighbour_table[c], TABLE[c].neighbours, 6) == 0);
    }
}

/* A class that is none counts modulo 96. */
static void test_modulo(void) {
    for (int i = 96; i < 256; i++) {
        uint8_t a = (uint8_t)i, b = (uint8_t)(i % 96), near[2][6] = {{0}};
        hg_transform t = {1, 2, 3, true};
        hg_class_label l = hg_class_get_label(a), m = hg_class_get_label(b);
        CHECK(hg_class_byte(a) == hg_class_byte(b) && hg_class_join(hg_class_split(a)) == b &&
              memcmp(&l, &m, sizeof l) == 0);
        CHECK(hg_class_to_vertex(a) == hg_class_to_vertex(b) &&
              hg_class_from_vertex(a) == hg_class_from_vertex(b));
        CHECK(hg_transform_apply(t, a) == hg_transform_apply(t, b) &&
              hg_class_scope(a, 7) == hg_class_scope(b, 7));
        CHECK(hg_class_mirror(a) == hg_class_mirror(b) &&
              hg_automorphism_apply(1333, a) == hg_automorphism_apply(1333, b));
        CHECK(hg_class_is_unity(a) == hg_class_is_unity(b) &&
              hg_class_is_unit(a) == hg_class_is_unit(b));
        CHECK(hg_class_neighbours(a, near[0]) == hg_class_neighbours(b, near[1]) &&
              memcmp(near[0], near[1], 6) == 0);
        CHECK(hg_class_distance(a, 5) == hg_class_distance(b, 5) &&
              hg_class_adjacent(3, a) == hg_class_adjacent(3, b));
        CHECK(hg_class_moves(a, 9) == hg_class_moves(b, 9) &&
              hg_class_add(a, 200) == hg_class_add(b, 8) &&
              hg_class_mul(a, 200) == hg_class_mul(b, 8));
        CHECK(hg_class_crush(a) == hg_class_crush(b));
    }
}

/* ---- 5.4: transforms ---- */

typedef uint8_t permutation[96];

/* R, D, T, ~ in this order by single steps. Amounts are not negative. */
static int step_by_step(int rotate, int triality, int twist, bool mirror, int c) {
    int h = c / 24, d = c / 8 % 3, l = c & 7;
    for (; rotate > 0; rotate--) h = h == 3 ? 0 : h + 1;
    for (; triality > 0; triality--) d = d == 2 ? 0 : d + 1;
    for (; twist > 0; twist--) l = l == 7 ? 0 : l + 1;
    if (mirror && d) d = 3 - d;
    return h * 24 + d * 8 + l;
}

static void test_transform_rows(void) {
    /*                                class R+1 T+1 T-3 D+1  ~  mirror */
    static const uint8_t rows[][7] = {{0, 24, 1, 5, 8, 0, 48},      {5, 29, 6, 2, 13, 5, 53},
                                      {7, 31, 0, 4, 15, 7, 55},     {13, 37, 14, 10, 21, 21, 61},
                                      {21, 45, 22, 18, 5, 13, 69},  {42, 66, 43, 47, 26, 34, 90},
                                      {47, 71, 40, 44, 31, 39, 95}, {48, 72, 49, 53, 56, 48, 0},
                                      {63, 87, 56, 60, 71, 71, 15}, {95, 23, 88, 92, 79, 87, 47}};
    static const hg_transform columns[] = {
        {1, 0, 0, false}, {0, 0, 1, false}, {0, 0, -3, false}, {0, 1, 0, false}, {0, 0, 0, true}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (int k = 0; k < 5; k++)
            CHECK_U64(hg_transform_apply(columns[k], rows[i][0]), rows[i][k + 1]);
        CHECK_U64(hg_class_mirror(rows[i][0]), rows[i][6]);
    }
    CHECK_U64(hg_transform_apply((hg_transform){.rotate = -1}, 0), 72);
    CHECK_U64(hg_transform_apply((hg_transform){.twist = -1}, 0), 7);
    CHECK_U64(hg_class_scope(5, 5), 37);
    CHECK_U64(hg_class_scope(21, 1), 5);
    CHECK_U64(hg_transform_apply((hg_transform){.rotate = 2, .twist = 3}, 7), 50);
    CHECK_U64(hg_transform_apply((hg_transform){.rotate = 1, .twist = 2, .mirror = true}, 21), 39);
    /* 6.5: c42^+3~ is class 37; R+1 T-1 ~ on c01 has byte 40; R+2 on c10 and c15 */
    CHECK_U64(hg_transform_apply((hg_transform){.twist = 3, .mirror = true}, 42), 37);
    CHECK_U64(hg_class_byte(
                  hg_transform_apply((hg_transform){.rotate = 1, .twist = -1, .mirror = true}, 1)),
              0x40);
    CHECK_U64(hg_transform_apply((hg_transform){.rotate = 2}, 10), 58);
    CHECK_U64(hg_transform_apply((hg_transform){.rotate = 2}, 15), 63);
    for (int c = 0; c < 96; c++)
        for (uint32_t s = 0; s < 32; s++)
            CHECK_U64(hg_class_scope((uint8_t)c, s),
                      step_by_step((int)(s % 16 / 4), (int)(s % 4), 0, false, c));
}

static hg_transform transform_of(int i) {
    return (hg_transform){i / 48, i / 16 % 3, i / 2 % 8, i & 1};
}

/* All 192 transforms, all 192² compositions, every inverse; amounts out of range and the extremes
 * of int32. */
static void test_transform_group(void) {
    static permutation of[192];
    for (int i = 0; i < 192; i++) {
        hg_transform t = transform_of(i);
        for (int c = 0; c < 96; c++) {
            of[i][c] = (uint8_t)step_by_step(t.rotate, t.triality, t.twist, t.mirror, c);
            CHECK_U64(hg_transform_apply(t, (uint8_t)c), of[i][c]);
            hg_transform far = {t.rotate - 4 * 77, t.triality + 3 * 100001, t.twist - 8 * 13,
                                t.mirror};
            CHECK_U64(hg_transform_apply(far, (uint8_t)c), of[i][c]);
        }
        for (int k = 0; k < i; k++) CHECK(memcmp(of[i], of[k], 96) != 0);
    }
    for (int i = 0; i < 192; i++) {
        hg_transform inverse = hg_transform_inverse(transform_of(i));
        bool good = true;
        for (int c = 0; c < 96; c++) good = good && hg_transform_apply(inverse, of[i][c]) == c;
        for (int k = 0; k < 192; k++) {
            hg_transform both = hg_transform_compose(transform_of(k), transform_of(i));
            good = good && both.rotate >= 0 && both.rotate < 4 && both.triality >= 0 &&
                   both.triality < 3 && both.twist >= 0 && both.twist < 8;
            const uint8_t *table =
                of[both.rotate * 48 + both.triality * 16 + both.twist * 2 + both.mirror];
            for (int c = 0; c < 96; c++) good = good && table[c] == of[k][of[i][c]];
            hg_transform sum = hg_transform_combine(transform_of(k), transform_of(i));
            good = good && sum.rotate == (k / 48 + i / 48) % 4 &&
                   sum.triality == (k / 16 + i / 16) % 3 && sum.twist == (k / 2 + i / 2) % 8 &&
                   sum.mirror == ((k ^ i) & 1);
        }
        CHECK_MESSAGE(good, "transform %d", i);
    }
    hg_transform low = {INT32_MIN, INT32_MIN, INT32_MIN, true}; /* -2^31 is 0 modulo 4 and 8, 1
                                                                   modulo 3 */
    for (int c = 0; c < 96; c++) {
        CHECK_U64(hg_transform_apply(low, (uint8_t)c), step_by_step(0, 1, 0, true, c));
        hg_transform none = hg_transform_compose(low, hg_transform_inverse(low));
        CHECK_U64(hg_transform_apply(none, (uint8_t)c), c);
    }
}

static bool is_automorphism(const uint8_t *p) {
    bool hit[96] = {false};
    for (int a = 0; a < 96; a++) {
        if (p[a] >= 96 || hit[p[a]]) return false;
        hit[p[a]] = true;
        for (int b = 0; b < 96; b++)
            if (adjacent[a][b] != adjacent[p[a]][p[b]]) return false;
    }
    return true;
}

static bool transform_is_automorphism(hg_transform t) {
    permutation p;
    for (int c = 0; c < 96; c++) p[c] = hg_transform_apply(t, (uint8_t)c);
    return is_automorphism(p);
}

static void test_symmetries(void) {
    CHECK(transform_is_automorphism((hg_transform){.rotate = 2}));
    CHECK(transform_is_automorphism((hg_transform){.twist = 4}));
    CHECK(transform_is_automorphism((hg_transform){.mirror = true}));
    CHECK(!transform_is_automorphism((hg_transform){.rotate = 1}));
    CHECK(!transform_is_automorphism((hg_transform){.twist = 1}));
    CHECK(!transform_is_automorphism((hg_transform){.twist = 2}));
    CHECK(!transform_is_automorphism((hg_transform){.triality = 1}));
    permutation mirror, backwards;
    for (int c = 0; c < 96; c++) {
        label l = label_of(c);
        l.e[7] ^= 1;
        mirror[c] = hg_class_mirror((uint8_t)c);
        backwards[c] = (uint8_t)(95 - c);
        CHECK_U64(mirror[c], class_of(l));
        CHECK_U64(mirror[c], hg_class_of_byte(hg_class_byte((uint8_t)c) ^ 0x80));
        CHECK(mirror[c] != c && hg_class_mirror(mirror[c]) == c && !adjacent[c][mirror[c]]);
        CHECK_U64(hg_class_is_unity((uint8_t)c), c == 0 || c == 48);
        CHECK_U64(hg_transform_apply((hg_transform){.rotate = 2}, (uint8_t)c), mirror[c]);
    }
    CHECK(is_automorphism(mirror));
    CHECK(!is_automorphism(backwards)); /* 95 - c is no mirror (5.5, D) */
}

/* Counts the automorphisms of the component of class 0 by search: vertices are mapped in the order
 * of their numbers. */
static unsigned count_automorphisms(void) {
    int image[48], at = 0;
    bool used[48] = {false};
    unsigned count = 0;
    image[0] = -1;
    while (at >= 0) {
        if (image[at] >= 0) used[image[at]] = false;
        int next = image[at] + 1;
        for (; next < 48; next++) {
            bool fits = !used[next];
            for (int k = 0; k < at && fits; k++) fits = adjacent[at][k] == adjacent[next][image[k]];
            if (fits) break;
        }
        if (next == 48) {
            at--;
        } else if (at == 47) {
            image[at] = next;
            used[next] = true;
            count++;
        } else {
            image[at] = next;
            used[next] = true;
            image[++at] = -1;
        }
    }
    return count;
}

static void test_automorphism_group(void) {
    uint64_t one = count_automorphisms();
    CHECK_U64(one, 768);
    CHECK_U64(one * one * 2, 1179648); /* the two components are alike: the mirror exchanges them */
}

/* ---- 5.9 ---- */

static void test_action(void) {
    static permutation of[2048];
    static const uint16_t rows[][3] = {{0, 21, 0},    {1, 5, 8},     {5, 29, 32},
                                       {16, 22, 1},   {42, 63, 66},  {128, 22, 1},
                                       {1024, 19, 0}, {1153, 2, 15}, {2047, 91, 72}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CHECK_U64(hg_automorphism_apply(rows[i][0], 21), rows[i][1]);
        CHECK_U64(hg_automorphism_apply(rows[i][0], 0), rows[i][2]);
    }
    int distinct[192], found = 0, automorphisms = 0;
    for (int i = 0; i < 2048; i++) {
        int rot = i >> 7 & 7, flip = i >> 10, twist = i >> 4 & 7, s = i & 15;
        for (int c = 0; c < 96; c++) {
            int l = (c + rot) & 7;
            if (flip) l = 8 - l;
            l = (l + twist) & 7;
            of[i][c] = (uint8_t)step_by_step(s >> 2, s & 3, 0, false, c - c % 8 + l);
            CHECK_U64(hg_automorphism_apply((uint32_t)i, (uint8_t)c), of[i][c]);
        }
        int same = 0;
        while (memcmp(of[same], of[i], 96) != 0) same++;
        CHECK_U64(hg_automorphism_canonical((uint32_t)i), same);
        if (same == i) {
            CHECK(found < 192);
            if (found < 192) distinct[found++] = i;
            automorphisms += is_automorphism(of[i]);
        }
    }
    CHECK_U64(found, 192);
    CHECK_U64(automorphisms, 8);
    for (int i = 0; i < found; i++) { /* all 192² compositions, as permutations */
        bool good = true;
        for (int k = 0; k < found; k++) {
            uint32_t both = hg_automorphism_compose((uint32_t)distinct[k], (uint32_t)distinct[i]);
            good = good && both < 2048 && hg_automorphism_canonical(both) == both;
            for (int c = 0; c < 96; c++)
                good = good && of[both & 2047][c] == of[distinct[k]][of[distinct[i]][c]];
        }
        CHECK_MESSAGE(good, "compositions with %d", distinct[i]);
    }
    for (uint32_t i = 0; i < 2048; i++) { /* what is not canonical composes like what it stands for
                                           */
        uint32_t inverse = hg_automorphism_inverse(i), k = i * 1103 % 2048;
        bool good = inverse < 2048 && hg_automorphism_compose(inverse, i) == 0 &&
                    hg_automorphism_compose(i, inverse) == 0;
        for (int c = 0; c < 96; c++) good = good && of[inverse & 2047][of[i][c]] == c;
        good = good && hg_automorphism_compose(k, i) ==
                           hg_automorphism_compose(hg_automorphism_canonical(k),
                                                   hg_automorphism_canonical(i));
        CHECK_MESSAGE(good, "index %u", (unsigned)i);
    }
    /* scope inverse of 5.9 */
    for (uint32_t s = 0; s < 16; s++)
        CHECK_U64(hg_automorphism_inverse(s), 4 * ((4 - s / 4) % 4) + (3 - s % 4 % 3) % 3);
}

/* ---- 5.15 ---- */

/* Breadth first over moves; returns the greatest distance, fills reached. */
static int search_moves(int from, bool back, bool triality, bool mirror, int distance[96],
                        int *reached) {
    int queue[96], head = 0, tail = 0;
    for (int c = 0; c < 96; c++) distance[c] = -1;
    distance[from] = 0;
    queue[tail++] = from;
    while (head < tail) {
        int c = queue[head++], next[7], count = 0;
        next[count++] = step_by_step(1, 0, 0, false, c);
        next[count++] = step_by_step(0, 0, 1, false, c);
        if (triality) next[count++] = step_by_step(0, 1, 0, false, c);
        if (mirror) next[count++] = step_by_step(0, 0, 0, true, c);
        if (back) next[count++] = step_by_step(3, 0, 0, false, c);
        if (back) next[count++] = step_by_step(0, 0, 7, false, c);
        if (back && triality) next[count++] = step_by_step(0, 2, 0, false, c);
        for (int k = 0; k < count; k++)
            if (distance[next[k]] < 0) distance[next[k]] = distance[c] + 1, queue[tail++] = next[k];
    }
    *reached = tail;
    return distance[queue[tail - 1]];
}

static void test_moves(void) {
    int distance[96], reached;
    for (int from = 0; from < 96; from++) {
        CHECK_U64(search_moves(from, true, true, true, distance, &reached), 7);
        CHECK_U64(reached, 96);
        for (int to = 0; to < 96; to++)
            CHECK_U64(hg_class_moves((uint8_t)from, (uint8_t)to), distance[to]);
    }
    CHECK_U64(search_moves(37, false, true, false, distance, &reached), 12); /* forward only */
    (void)search_moves(37, true, false, true, distance, &reached);
    CHECK_U64(reached, 64); /* without D */
}

/* ---- 4.3, 4.5, 4.6 ---- */

static void test_tori(void) {
    static const struct {
        const char *types[4];
        uint32_t page_mod, res_mod, elements;
        uint64_t total;
        uint32_t units;
    } rows[] = {
        {{"i8", "u8"}, 24, 96, 2304, 221184, 768},
        {{"i16", "u16", "f16", "bf16"}, 48, 96, 4608, 442368, 1536},
        {{"i32", "u32", "f32"}, 96, 192, 18432, 1769472, 6144},
        {{"i64", "u64", "f64"}, 192, 384, 73728, 7077888, 24576},
        {{"i128", "u128"}, 384, 768, 294912, 28311552, 98304},
        {{"i256", "u256"}, 768, 1536, 1179648, 113246208, 393216},
        {{"i512", "u512"}, 1536, 3072, 4718592, 452984832, 1572864},
        {{"i1024", "u1024"}, 3072, 6144, 18874368, 1811939328, 6291456},
        {{"i2048", "u2048"}, 6144, 12288, 75497472, 7247757312, 25165824},
        {{"i4096", "u4096"}, 12288, 24576, 301989888, 28991029248, 100663296},
    };
    int types = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (int k = 0; k < 4 && rows[i].types[k]; k++, types++) {
            hg_type type = HG_TYPE_COUNT;
            CHECK(hg_type_from_name(rows[i].types[k], strlen(rows[i].types[k]), &type));
            hg_torus t = hg_torus_of(type);
            CHECK(t.page_mod == rows[i].page_mod && t.res_mod == rows[i].res_mod &&
                  t.elements == rows[i].elements);
            CHECK(t.units == rows[i].units && t.total == rows[i].total);
        }
        CHECK_U64(hg_torus_sizes[i + 1], rows[i].elements);
        CHECK(hg_torus_size_known(rows[i].elements) && !hg_torus_size_known(rows[i].elements + 96));
        if (rows[i].elements > 300000) continue;
        uint32_t units = 0;
        for (uint32_t n = 0; n < rows[i].elements; n++) {
            uint32_t a = rows[i].elements, b = n, rest;
            while (b) rest = a % b, a = b, b = rest;
            units += a == 1;
        }
        CHECK_U64(units, rows[i].units);
    }
    CHECK_U64(types, HG_TYPE_COUNT);
    CHECK_U64(hg_torus_sizes[0], 96);
    CHECK(hg_torus_size_known(96) && !hg_torus_size_known(0) && !hg_torus_size_known(48));
    hg_torus none = hg_torus_of(HG_TYPE_COUNT);
    CHECK(none.elements == 0 && none.page_mod == 0 && none.res_mod == 0 && none.total == 0);
}

#define CHECK_FAILS(call, text)                     \
    do {                                            \
        CHECK((call) == HG_ERROR_ISA);              \
        CHECK_TEXT(hg_last_error()->message, text); \
    } while (0)

static void test_bound_map(void) {
    static const uint32_t rows[][4] = {{42, 10, 200, 518856},
                                       {95, 47, 255, 1179647},
                                       {0, 0, 0, 0},
                                       {1, 0, 0, 12288},
                                       {3, 5, 7, 38151}};
    uint64_t index = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CHECK(hg_bound_map(rows[i][0], rows[i][1], rows[i][2], &index) == HG_OK &&
              index == rows[i][3]);
        CHECK(hg_bound_map_packed(rows[i][0] << 16 | rows[i][1] << 8 | rows[i][2], &index) ==
                  HG_OK &&
              index == rows[i][3]);
    }
    uint64_t expected = 0;
    bool good = true;
    for (uint64_t c = 0; c < 96; c++) /* every byte of class memory, once and in order */
        for (uint64_t page = 0; page < 48; page++)
            for (uint64_t byte = 0; byte < 256; byte++)
                good = good && hg_bound_map(c, page, byte, &index) == HG_OK && index == expected++;
    CHECK(good && expected == 1179648);
    CHECK(hg_bound_map_typed(HG_TYPE_F32, 0, 5, 7, &index) == HG_OK && index == 967);
    CHECK(hg_bound_map_typed(HG_TYPE_F32, 3, 5, 7, &index) == HG_OK && index == 56263);
    CHECK(hg_bound_map_typed(HG_TYPE_F64, 0, 191, 383, &index) == HG_OK && index == 73727);
    CHECK(hg_bound_map_typed(HG_TYPE_I4096, 95, 12287, 24575, &index) == HG_OK &&
          index == UINT64_C(28991029247));
    CHECK_FAILS(hg_bound_map(96, 0, 0, &index), "invalid class index: 96 (must be < 96)");
    CHECK_FAILS(hg_bound_map(UINT64_MAX, 0, 0, &index),
                "invalid class index: 18446744073709551615 (must be < 96)");
    CHECK_FAILS(hg_bound_map(0, 48, 0, &index),
                "invalid boundary coordinates: page=48 (must be < 48), byte=0 (must be < 256)");
    CHECK_FAILS(hg_bound_map(0, 1, 256, &index),
                "invalid boundary coordinates: page=1 (must be < 48), byte=256 (must be < 256)");
    CHECK_TEXT(hg_last_error()->code, "F04");
    CHECK_FAILS(hg_bound_map_packed(0x603000, &index), "invalid class index: 96 (must be < 96)");
    CHECK_FAILS(hg_bound_map_packed(0x003000, &index),
                "invalid boundary coordinates: page=48 (must be < 48), byte=0 (must be < 256)");
    CHECK_FAILS(hg_bound_map_typed(HG_TYPE_U8, 0, 24, 95, &index),
                "invalid boundary coordinates: page=24 (must be < 24), byte=95 (must be < 96)");
    CHECK_FAILS(hg_bound_map_typed(HG_TYPE_U8, 0, 23, 96, &index),
                "invalid boundary coordinates: page=23 (must be < 24), byte=96 (must be < 96)");
    CHECK_FAILS(hg_bound_map_typed(HG_TYPE_U8, 96, 0, 0, &index),
                "invalid class index: 96 (must be < 96)");
    CHECK(hg_bound_map_typed(HG_TYPE_COUNT, 0, 0, 0, &index) == HG_ERROR_INVALID_ARGUMENT);
    CHECK_U64(hg_phi_encode(7, 128), 0x780);
    for (unsigned code = 0; code < 65536; code++) {
        uint8_t page, byte;
        hg_phi_decode(code, &page, &byte);
        if (page != code / 256 || byte != code % 256 || hg_phi_encode(page, byte) != code)
            CHECK_U64(code, 0);
    }
}

/* ---- 4.7 ---- */

static bool same(hg_point a, hg_point b) { return a.page == b.page && a.residue == b.residue; }
static int modulo(int n, int m) {
    while (n < 0) n += m;
    return n % m;
}

static void test_points(void) {
    CHECK(same(hg_point_mul((hg_point){7, 7}, (hg_point){11, 11}), (hg_point){29, 77}));
    CHECK(same(hg_point_add((hg_point){45, 90}, (hg_point){5, 10}), (hg_point){2, 4}));
    CHECK(same(hg_point_project(-1), (hg_point){47, 95}));
    CHECK(hg_point_lift((hg_point){5, 5}, 1000) == 965);
    CHECK(hg_point_lift((hg_point){40, 40}, 1000) == 1000);
    for (int a = -200; a < 200; a++) {
        hg_point p = hg_point_project(a);
        CHECK(p.page == modulo(a, 48) && p.residue == modulo(a, 96));
        bool good = true;
        for (int b = -200; b < 200; b++) {
            hg_point q = hg_point_project(b);
            good = good && same(hg_point_project(a + b), hg_point_add(p, q)) &&
                   same(hg_point_project(a * b), hg_point_mul(p, q)) &&
                   same(hg_point_scale(a, q), hg_point_project(a * b));
        }
        for (int r = 0; r < 96; r++) {
            int expected = a; /* the greatest number up to a with this rest */
            while (modulo(expected, 96) != r) expected--;
            good = good && hg_point_lift((hg_point){(uint8_t)(r % 48), (uint8_t)r}, a) == expected;
        }
        CHECK_MESSAGE(good, "coherence at %d", a);
    }
    /* coherence of far numbers, where the product still fits */
    uint64_t state = 1;
    for (int i = 0; i < 10000; i++) {
        int64_t n[2];
        for (int k = 0; k < 2; k++) {
            state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            n[k] = (int64_t)(state >> 33) - (INT64_C(1) << 30);
        }
        hg_point p = hg_point_project(n[0]), q = hg_point_project(n[1]);
        CHECK(same(hg_point_project(n[0] + n[1]), hg_point_add(p, q)) &&
              same(hg_point_project(n[0] * n[1]), hg_point_mul(p, q)));
    }
    CHECK(same(hg_point_project(INT64_MIN), (hg_point){16, 64})); /* 2^63 is 32 modulo 48 and modulo
                                                                     96 */
}

/* ---- ℤ96 and Crush ---- */

static void test_ring(void) {
    CHECK_U64(hg_class_add(50, 50), 4);
    CHECK_U64(hg_class_mul(10, 10), 4);
    bool good = true, is_or = true;
    for (uint8_t a = 0; a < 96; a++) {
        good = good && hg_class_add(a, 0) == a && hg_class_mul(a, 1) == a &&
               hg_class_mul(a, 0) == 0 && hg_class_add(a, (uint8_t)((96 - a) % 96)) == 0;
        for (uint8_t b = 0; b < 96; b++) {
            uint8_t sum = hg_class_add(a, b), product = hg_class_mul(a, b);
            good = good && sum == (a + b) % 96 && product == a * b % 96 &&
                   sum == hg_class_add(b, a) && product == hg_class_mul(b, a);
            good = good && hg_class_crush(sum) == (hg_class_crush(a) ^ hg_class_crush(b));
            good = good && hg_class_crush(product) == (hg_class_crush(a) & hg_class_crush(b));
            is_or = is_or && hg_class_crush(sum) == (hg_class_crush(a) | hg_class_crush(b));
            for (uint8_t c = 0; c < 96; c++)
                good = good && hg_class_add(sum, c) == hg_class_add(a, hg_class_add(b, c)) &&
                       hg_class_mul(product, c) == hg_class_mul(a, hg_class_mul(b, c)) &&
                       hg_class_mul(a, hg_class_add(b, c)) ==
                           hg_class_add(product, hg_class_mul(a, c));
        }
    }
    CHECK(good);
    CHECK(!is_or); /* as some documents claim */
    CHECK(hg_class_crush(0) == 0 && hg_class_crush(95) == 1);
}

/* ---- 5.10, 5.11 ---- */

static void test_orbits(void) {
    static const uint32_t rows[][2] = {{0, 0},   {1, 1},  {7, 7},    {8, 0},     {16, 0},
                                       {23, 7},  {24, 8}, {31, 15},  {47, 15},   {48, 16},
                                       {95, 31}, {96, 0}, {1000, 8}, {18431, 31}};
    static const uint32_t firsts[][2] = {{0, 0}, {7, 7}, {8, 24}, {15, 31}, {16, 48}, {31, 79}};
    uint8_t orbit = 0;
    uint32_t first = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CHECK(hg_orbit_classify(rows[i][0], 18432, &orbit) == HG_OK && orbit == rows[i][1]);
    for (size_t i = 0; i < sizeof firsts / sizeof *firsts; i++)
        CHECK(hg_orbit_representative(firsts[i][0], 18432, &first) == HG_OK &&
              first == firsts[i][1]);
    for (int size = 0; size < HG_TORUS_SIZES; size++) {
        uint32_t n = hg_torus_sizes[size], counts[32] = {0}, least[32];
        bool good = true;
        if (n > 300000) break;
        for (uint32_t x = 0; x < n; x++) {
            good = good && hg_orbit_classify(x, n, &orbit) == HG_OK && orbit < 32;
            if (counts[orbit % 32]++ == 0) least[orbit % 32] = x;
        }
        for (uint32_t o = 0; o < 32; o++) {
            good = good && counts[o] == n / 32 && hg_orbit_representative(o, n, &first) == HG_OK &&
                   first == least[o];
            good = good && hg_orbit_classify(first, n, &orbit) == HG_OK && orbit == o;
        }
        good = good && hg_orbit_classify(n, n, &orbit) == HG_OK && orbit == 0;
        good = good && hg_orbit_classify(UINT64_MAX, n, &orbit) == HG_OK && orbit == 0;
        CHECK_MESSAGE(good, "orbits of %u", (unsigned)n);
    }
    for (int c = 0; c < 96; c++) { /* they are the orbits of D */
        uint8_t a = 0, b = 1;
        CHECK(hg_orbit_classify((uint64_t)c, 96, &a) == HG_OK);
        CHECK(hg_orbit_classify((uint64_t)step_by_step(0, 1, 0, false, c), 96, &b) == HG_OK &&
              a == b);
    }
    CHECK_FAILS(hg_orbit_classify(0, 97, &orbit), "unknown torus size: 97");
    CHECK_FAILS(hg_orbit_representative(0, 0, &first), "unknown torus size: 0");
    CHECK_FAILS(hg_orbit_representative(32, 96, &first), "invalid orbit index: 32 (must be < 32)");
    CHECK_TEXT(hg_last_error()->code, "F04");
}

static void test_inverses(void) {
    static const uint64_t rows[][3] = {
        {5, 96, 77},        {37, 96, 13},    {95, 96, 95},    {7, 192, 55},      {25, 384, 169},
        {2303, 2304, 2303}, {7, 2304, 1975}, {13, 4608, 709}, {11, 18432, 5027}, {5, 73728, 44237}};
    static const uint8_t units[32] = {1,  5,  7,  11, 13, 17, 19, 23, 25, 29, 31,
                                      35, 37, 41, 43, 47, 49, 53, 55, 59, 61, 65,
                                      67, 71, 73, 77, 79, 83, 85, 89, 91, 95};
    uint64_t inverse = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CHECK(hg_mult_inverse(rows[i][0], rows[i][1], &inverse) == HG_OK && inverse == rows[i][2]);
    for (unsigned c = 0, k = 0; c < 96; c++) {
        bool unit = k < 32 && units[k] == c;
        k += unit;
        CHECK_U64(hg_class_is_unit((uint8_t)c), unit);
    }
    for (uint64_t n = 2; n < 400; n++) { /* by trial */
        bool good = true;
        for (uint64_t a = 0; a < n; a++) {
            uint64_t x = 1;
            while (x < n && a * x % n != 1) x++;
            hg_status status = hg_mult_inverse(a, n, &inverse);
            good = good && (x < n ? status == HG_OK && inverse == x : status == HG_ERROR_ISA);
            if (x < n)
                good = good && hg_mult_inverse(a + 5 * n, n, &inverse) == HG_OK && inverse == x;
        }
        CHECK_MESSAGE(good, "modulo %u", (unsigned)n);
    }
    for (int size = 1; size < HG_TORUS_SIZES; size++) { /* every unit of the small tori, a part of
                                                           the large ones */
        uint64_t n = hg_torus_sizes[size], found = 0;
        bool good = true;
        for (uint64_t a = 0; a<n; a += n> 80000 ? n / 9973 : 1) {
            bool unit = a % 2 && a % 3;
            hg_status status = hg_mult_inverse(a, n, &inverse);
            good = good && (status == HG_OK) == unit &&
                   (!unit || (inverse > 0 && inverse < n && a * inverse % n == 1));
            found += unit;
        }
        CHECK_MESSAGE(good, "modulo %u", (unsigned)n);
        if (n < 80000) CHECK_U64(found, n / 3);
    }
    __extension__ typedef unsigned __int128 u128;
    uint64_t state = 7;
    for (int i = 0; i < 5000; i++) { /* moduli of 64 bits; 2^64 - 59 is prime */
        uint64_t modulus = i & 1 ? UINT64_MAX - 58 : UINT64_MAX - (uint64_t)i;
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        uint64_t a = modulus, b = state % modulus, rest;
        while (b) rest = a % b, a = b, b = rest;
        hg_status status = hg_mult_inverse(state, modulus, &inverse);
        CHECK((status == HG_OK) == (a == 1) &&
              (a != 1 || (u128)(state % modulus) * inverse % modulus == 1));
        if (i & 1) CHECK_U64(a, 1);
    }
    CHECK_FAILS(hg_mult_inverse(12345, 18432, &inverse),
                "no multiplicative inverse: 12345 mod 18432");
    CHECK_TEXT(hg_last_error()->code, "F05");
    CHECK_FAILS(hg_mult_inverse(98, 96, &inverse), "no multiplicative inverse: 98 mod 96");
    CHECK_FAILS(hg_mult_inverse(0, 96, &inverse), "no multiplicative inverse: 0 mod 96");
    CHECK_FAILS(hg_mult_inverse(5, 0, &inverse), "no multiplicative inverse: 5 mod 0");
    CHECK_FAILS(hg_mult_inverse(5, 1, &inverse), "no multiplicative inverse: 5 mod 1");
}

/* ---- 5.13 ---- */

static uint64_t splitmix(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

static double first[HG_LIFT_LENGTH], second[HG_LIFT_LENGTH];

/* As the specification says it, with the sine of the C library. Returns the norm before scaling. */
static double plain_lift(int c, double *v) {
    const double pi = 3.14159265358979323846;
    int h = c / 24, d = c / 8 % 3, l = c % 8;
    uint64_t state = (uint64_t)h << 32 | (uint64_t)d << 16 | (uint64_t)l;
    double sum = 0;
    for (int i = 0; i < HG_LIFT_LENGTH; i++) {
        double u = ldexp((double)(splitmix(&state) >> 11), -53), w;
        if (i < 49221)
            w = 1 + 0.5 * sin(2 * pi * i / 49221 + h * pi / 2);
        else if (i < 131072)
            w = 1 + 0.5 * sin(3 * pi * ((double)(i - 49221) / (131072 - 49221)) + 2 * pi * d / 3);
        else
            w = 1 + 0.5 * sin(4 * pi * ((double)(i - 131072) / (196884 - 131072)) + l * pi / 4);
        v[i] = u * w;
        sum += v[i] * v[i];
    }
    for (int i = 0; i < HG_LIFT_LENGTH; i++) v[i] /= sqrt(sum);
    return sqrt(sum);
}

static void test_lift(void) {
    uint64_t zero = 0, answer = 42;
    CHECK(splitmix(&zero) == UINT64_C(0xe220a8397b1dcdaf) &&
          splitmix(&zero) == UINT64_C(0x6e789e6aa1b965f4) &&
          splitmix(&zero) == UINT64_C(0x06c45d188009454f) &&
          splitmix(&answer) == UINT64_C(0xbdd732262feb6e95));
    static const struct {
        uint8_t cls;
        double norm, component;
    } rows[] = {{0, 282.21097529776574, 0.003129966179669823},
                {21, 266.80783984886875, 0.001767792123616339},
                {95, 0, 0},
                {58, 0, 0}};
    uint64_t hash = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double norm = plain_lift(rows[i].cls, first), worst = 0, length = 0;
        hg_class_lift(rows[i].cls, second);
        if (rows[i].norm > 0) {
            CHECK(fabs(norm - rows[i].norm) < 1e-9);
            CHECK(fabs(second[0] - rows[i].component) <=
                  4 * (nextafter(rows[i].component, 1) - rows[i].component));
        }
        for (int k = 0; k < HG_LIFT_LENGTH; k++) {
            worst = fmax(worst, fabs(first[k] - second[k]));
            length += second[k] * second[k];
            uint64_t bits;
            memcpy(&bits, &second[k], 8);
            hash = (hash ^ bits) * UINT64_C(0x9E3779B97F4A7C15);
            hash ^= hash >> 29;
        }
        CHECK_MESSAGE(worst < 1e-15, "class %d differs by %g", rows[i].cls, worst);
        CHECK(fabs(length - 1) < 1e-12);
    }
    CHECK_MESSAGE(hash == UINT64_C(0x2567d87b357330a6), "bits of lifts: %016" PRIx64,
                  hash); /* one
                            for
                            every
                            machine;
                            slices/neon.sh
                            runs
                            this
                            too
                          */
    double dot = 0;
    hg_class_lift(0, first);
    hg_class_lift(1, second);
    for (int k = 0; k < HG_LIFT_LENGTH; k++) dot += first[k] * second[k];
    CHECK(fabs(dot - 0.742) < 0.001); /* not orthogonal, as some documents claim */
    hg_class_lift(21 + 96, second);
    hg_class_lift(21, first);
    CHECK(memcmp(first, second, sizeof first) == 0);
}

static void test_resonate(void) {
    uint8_t cls = 99;
    static const uint8_t some[] = {0, 21, 95};
    for (size_t i = 0; i < sizeof some; i++) {
        hg_class_lift(some[i], first);
        CHECK(hg_class_resonate(first, &cls) == HG_OK && cls == some[i]);
    }
    /* nearest to a mixture, with noise: distances by definition */
    (void)plain_lift(21, first);
    (void)plain_lift(42, second);
    uint64_t state = 3;
    for (int k = 0; k < HG_LIFT_LENGTH; k++)
        first[k] = 0.45 * first[k] + 0.55 * second[k] +
                   1e-3 * (ldexp((double)(splitmix(&state) >> 11), -53) - 0.5);
    CHECK(hg_class_resonate(first, &cls) == HG_OK && cls == 42);
    memset(first, 0, sizeof first);
    CHECK(hg_class_resonate(first, &cls) == HG_OK && cls == 0); /* all are equally near */
    first[77777] = (double)NAN;
    cls = 99;
    CHECK(hg_class_resonate(first, &cls) == HG_ERROR_INVALID_ARGUMENT && cls == 99);
    first[77777] = (double)INFINITY;
    CHECK(hg_class_resonate(first, &cls) == HG_ERROR_INVALID_ARGUMENT);
}

int main(void) {
    make_graph();
    test_bytes();
    test_buffers();
    test_labels();
    test_graph_rows();
    test_graph_shape();
    test_table();
    test_modulo();
    test_transform_rows();
    test_transform_group();
    test_symmetries();
    test_automorphism_group();
    test_action();
    test_moves();
    test_tori();
    test_bound_map();
    test_points();
    test_ring();
    test_orbits();
    test_inverses();
    test_lift();
    test_resonate();
    return test_done();
}
