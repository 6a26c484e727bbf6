/* The algebra of the 96 classes against its definitions: labels that differ in one place, inverses by trial, permutations by composing
 * tables. Expected numbers are written from the specification (VEC rows) and not computed by the library. */
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
    label l = {{0, b >> 1 & 1, b >> 2 & 1, b >> 3 & 1, 0, 0, b >> 6 & 1, b >> 7 & 1}, (b >> 4 & 1) - (b >> 5 & 1)};
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
    static const uint8_t rows[][2] = {{0x00, 0},  {0x01, 0},  {0x02, 1},  {0x0A, 5},  {0x0F, 7},  {0x10, 8},  {0x1A, 13},
                                      {0x20, 16}, {0x2A, 21}, {0x2E, 23}, {0x30, 0},  {0x31, 0},  {0x3F, 7},  {0x40, 24},
                                      {0x55, 34}, {0x7F, 31}, {0x80, 48}, {0x84, 50}, {0xAA, 69}, {0xB0, 48}, {0xC0, 72},
                                      {0xCF, 79}, {0xD0, 80}, {0xE0, 88}, {0xEF, 95}, {0xF0, 72}, {0xFF, 79}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) CHECK_U64(hg_class_of_byte(rows[i][0]), rows[i][1]);
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
        for (int i = 0; i < ROOM; i++) good = good && out[i] == (i >= from && i < from + length ? hg_class_of_byte(in[i]) : in[i]);
        CHECK_MESSAGE(good, "length %d", length);
    }
}

static void test_labels(void) {
    uint8_t vertices[96];
    bool seen[96] = {false};
    for (int c = 0; c < 96; c++) {
        label l = label_of(c);
        hg_class_label found = hg_class_get_label((uint8_t)c);
        CHECK(found.e1 == l.e[1] && found.e2 == l.e[2] && found.e3 == l.e[3] && found.e6 == l.e[6] && found.e7 == l.e[7] &&
              found.d45 == l.d45);
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
                            CHECK_U64(vertices[class_of((label){{0, e1, e2, e3, 0, 0, e6, e7}, d45})], v);
}

/* ---- 5.3 ---- */

static void test_graph_rows(void) {
    static const uint8_t rows[][7] = {{0, 1, 2, 4, 8, 16, 24},        {1, 0, 3, 5, 9, 17, 25},       {8, 0, 9, 10, 12, 32, 0xFF},
                                      {16, 0, 17, 18, 20, 40, 0xFF},  {21, 5, 17, 20, 23, 45, 0xFF}, {37, 13, 29, 33, 36, 39, 0xFF},
                                      {42, 18, 26, 40, 43, 46, 0xFF}, {48, 49, 50, 52, 56, 64, 72},  {95, 71, 79, 91, 93, 94, 0xFF}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) CHECK(memcmp(hg_neighbour_table[rows[i][0]], rows[i] + 1, 6) == 0);
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
                if (adjacent[at][c] && distance[from][c] < 0) distance[from][c] = distance[from][at] + 1, queue[tail++] = c;
        }
        CHECK_U64(tail, 48);
        bool lowest = true;
        for (int c = 0; c < 96; c++) {
            CHECK(hg_class_distance((uint8_t)from, (uint8_t)c) == distance[from][c]);
            CHECK((distance[from][c] >= 0) == (label_of(from).e[7] == label_of(c).e[7]));
            if (distance[from][c] > diameter) diameter = distance[from][c];
            if (distance[from][c] >= 0 && c < from) lowest = false;
            for (int d = 0; d < 96; d++) triangles += adjacent[from][c] && adjacent[c][d] && adjacent[d][from];
        }
        components += lowest;
    }
    CHECK_U64(triangles, 0);
    CHECK_U64(diameter, 6);
    CHECK_U64(components, 2);
}

int main(void) {
    make_graph();
    test_bytes();
    test_buffers();
    test_labels();
    test_graph_rows();
    test_graph_shape();
    return test_done();
}
