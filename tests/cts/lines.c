/* Instructions along an axis of arrays [outer, n, inner]: every type against the reference, bit by
 * bit, at the borders of runs and chunks, along inner and outer axes, of no elements. */
#include "cts.h"
#include <stdio.h>
#include <string.h>

static case_array *add_any(cts *s, run_case *c, const char *name, hg_type type, uint64_t elements) {
    uint32_t size = oracle_size(type);
    case_array *a = case_add_array(c, name, type, NULL, elements * size);
    for (uint64_t i = 0; a && i < elements; i++) cts_any(s, type, a->bytes + i * size);
    return a;
}

typedef struct shape {
    unsigned outer, n, inner;
} shape;

/* ---- scan ---- */

static void scan(cts *s, hg_type type, shape x, const char *operation, unsigned form) {
    run_case c = {.cleared_class = 96};
    const char *t = hg_type_name(type), *exclusive = form & 1 ? "true" : "false",
               *reverse = form & 2 ? "true" : "false";
    uint64_t count = (uint64_t)x.outer * x.n * x.inner;
    char name[128];
    snprintf(name, sizeof name, "scan.%s %ux%ux%u %s %u", t, x.outer, x.n, x.inner, operation,
             form);
    cts_text(&c,
             ".atlas 1\n.program cts\n.param r1 y buffer %s inout\n.param r2 x buffer %s in\n"
             "    scan.%s output=r1, input=%s, n=%u, operation=%s, outer=%u, inner=%u, "
             "exclusive=%s, reverse=%s\n",
             t, t, t, form & 4 ? "r1" : "r2", x.n, operation, x.outer, x.inner, exclusive, reverse);
    add_any(s, &c, "y", type, count + 3);
    add_any(s, &c, "x", type, count);
    case_set_lanes(&c, 2);
    cts_compare(s, name, &c);
}

static void scan_all(cts *s) {
    static const char *const OPERATIONS[] = {"sum", "product", "min", "max"};
    static const shape FEW[] = {{1, 33, 1}, {2, 3, 5}, {3, 257, 1}, {2, 0, 3}, {0, 4, 1}};
    static const shape LONG[] = {{2, 4095, 1}, {1, 4096, 1}, {1, 4097, 1}, {2, 8200, 1},
                                 {1, 4100, 2}, {1, 4096, 0}, {1, 70000, 1}};
    for (hg_type type = 0; type < HG_TYPE_COUNT; type++) {
        if (!cts_wanted(s, "scan", type)) continue;
        for (uint32_t i = 0; i < HG_COUNT_OF(FEW); i++)
            for (uint32_t k = 0; k < 4; k++) scan(s, type, FEW[i], OPERATIONS[k], (i + k) & 7);
    }
    for (uint32_t i = 0; i < HG_COUNT_OF(LONG); i++) {
        if (cts_wanted(s, "scan", HG_TYPE_F32)) scan(s, HG_TYPE_F32, LONG[i], "sum", i & 7);
        if (cts_wanted(s, "scan", HG_TYPE_BF16)) scan(s, HG_TYPE_BF16, LONG[i], "sum", ~i & 7);
        if (cts_wanted(s, "scan", HG_TYPE_F64)) scan(s, HG_TYPE_F64, LONG[i], "sum", 5 * i & 7);
        if (cts_wanted(s, "scan", HG_TYPE_U32))
            scan(s, HG_TYPE_U32, LONG[i], OPERATIONS[i % 4], 3 * i & 7);
        if (cts_wanted(s, "scan", HG_TYPE_I16))
            scan(s, HG_TYPE_I16, LONG[i], OPERATIONS[(i + 2) % 4], 7 * i & 7);
    }
}

/* ---- reduce_axis ---- */

static void reduce(cts *s, hg_type type, shape x, const char *operation, bool in_place) {
    run_case c = {.cleared_class = 96};
    const char *t = hg_type_name(type);
    char name[128];
    snprintf(name, sizeof name, "reduce_axis.%s %ux%ux%u %s", t, x.outer, x.n, x.inner, operation);
    cts_text(&c,
             ".atlas 1\n.program cts\n.param r1 y buffer %s inout\n.param r2 x buffer %s inout\n"
             "    reduce_axis.%s output=%s, input=r2, n=%u, operation=%s, outer=%u, inner=%u\n",
             t, t, t, in_place ? "r2" : "r1", x.n, operation, x.outer, x.inner);
    add_any(s, &c, "y", type, (uint64_t)x.outer * x.inner + 3);
    add_any(s, &c, "x", type, (uint64_t)x.outer * x.n * x.inner);
    case_set_lanes(&c, 2);
    cts_compare(s, name, &c);
}

/* Trees with all numbers of levels, rows and columns, one chunk and several; lines beside each
 * other with blocks of several sizes, the last of which has columns of the one before. */
static void reduce_all(cts *s) {
    static const char *const OPERATIONS[] = {"sum", "product", "min", "max"};
    static const shape FEW[] = {{1, 1, 1}, {2, 3, 5}, {3, 7, 1},  {2, 127, 1},
                                {2, 0, 3}, {0, 4, 1}, {1, 15, 2}, {2, 4, 0}};
    static const shape LONG[] = {{2, 64, 1},    {3, 65, 1},    {1, 33, 3},    {2, 255, 2},
                                 {2, 4095, 1},  {1, 4097, 3},  {2, 8200, 1},  {1, 70000, 1},
                                 {2, 130, 64},  {3, 5, 129},   {1, 4097, 65}, {2, 12, 150},
                                 {1, 130, 512}, {1, 390, 250}, {1, 1030, 66}};
    for (hg_type type = 0; type < HG_TYPE_COUNT; type++) {
        if (!cts_wanted(s, "reduce_axis", type)) continue;
        for (uint32_t i = 0; i < HG_COUNT_OF(FEW); i++)
            for (uint32_t k = 0; k < 4; k++)
                reduce(s, type, FEW[i], OPERATIONS[k], FEW[i].n > 2 && (i + k) % 3 == 0);
    }
    for (uint32_t i = 0; i < HG_COUNT_OF(LONG); i++) {
        static const hg_type TYPES[] = {HG_TYPE_F32, HG_TYPE_BF16, HG_TYPE_F64, HG_TYPE_F16};
        for (uint32_t t = 0; t < HG_COUNT_OF(TYPES); t++)
            if (cts_wanted(s, "reduce_axis", TYPES[t]))
                reduce(s, TYPES[t], LONG[i], OPERATIONS[(i + t) & 3], false),
                    reduce(s, TYPES[t], LONG[i], "sum", false);
    }
}

/* ---- gather, scatter, scatter_add ---- */

enum { RIGHT, BEYOND, BELOW, BOTH };

/* Indices below n, the later ones many times the same; i64 from -n on. */
static void add_indices(cts *s, run_case *c, uint64_t count, unsigned n, bool wide,
                        unsigned wrong) {
    hg_type type = wide ? HG_TYPE_I64 : HG_TYPE_U32;
    case_array *a = case_add_array(c, "i", type, NULL, count * oracle_size(type));
    for (uint64_t i = 0; a && i < count; i++) {
        int64_t index = n ? (int64_t)(cts_random(s) % (i % 3 ? 1 + n / 4 : n)) : 0;
        if (wide && i % 2) index -= n;
        if ((wrong == BEYOND || wrong == BOTH) && i == count / 2) index = n;
        if ((wrong == BELOW || wrong == BOTH) && i == count - 1) index = -1 - (int64_t)n;
        memcpy(a->bytes + i * oracle_size(type), &index, oracle_size(type));
    }
}

static void indexed(cts *s, const char *row, hg_type type, shape x, unsigned count, bool wide,
                    unsigned wrong) {
    run_case c = {.cleared_class = 96};
    const char *t = hg_type_name(type);
    uint64_t whole = (uint64_t)x.outer * x.n * x.inner, part = (uint64_t)x.outer * count * x.inner;
    bool gathers = row[0] == 'g';
    char name[128];
    if (!cts_wanted(s, row, type)) return;
    snprintf(name, sizeof name, "%s.%s %ux%ux%u %u%s %u", row, t, x.outer, x.n, x.inner, count,
             wide ? " wide" : "", wrong);
    cts_text(&c,
             ".atlas 1\n.program cts\n.param r1 y buffer %s inout\n.param r2 x buffer %s in\n"
             ".param r3 i buffer %s in\n    %s.%s output=r1, input=r2, indices=r3, n=%u, "
             "count=%u, outer=%u, inner=%u, wide=%s\n",
             t, t, wide ? "i64" : "u32", row, t, x.n, count, x.outer, x.inner,
             wide ? "true" : "false");
    add_any(s, &c, "y", type, (gathers ? part : whole) + 3);
    add_any(s, &c, "x", type, gathers ? whole : part);
    add_indices(s, &c, count, x.n, wide, wrong);
    case_set_lanes(&c, 2);
    cts_compare(s, name, &c);
}

static void indexed_all(cts *s) {
    static const char *const ROWS[] = {"gather", "scatter", "scatter_add"};
    for (uint32_t r = 0; r < HG_COUNT_OF(ROWS); r++) {
        for (hg_type type = 0; type < HG_TYPE_COUNT; type++) {
            indexed(s, ROWS[r], type, (shape){1, 19, 1}, 70, type % 2, RIGHT);
            indexed(s, ROWS[r], type, (shape){2, 7, 5}, 13, type % 2 == 0, RIGHT);
        }
        for (unsigned wide = 0; wide < 2; wide++) {
            indexed(s, ROWS[r], HG_TYPE_F32, (shape){1, 1000, 1}, 9000, wide, RIGHT);
            indexed(s, ROWS[r], HG_TYPE_BF16, (shape){3, 40, 2}, 300, wide, RIGHT);
            indexed(s, ROWS[r], HG_TYPE_F64, (shape){2, 9, 17}, 5, wide, RIGHT);
            indexed(s, ROWS[r], HG_TYPE_F32, (shape){1, 5, 70}, 6, wide, RIGHT);
            indexed(s, ROWS[r], HG_TYPE_F32, (shape){1, 4, 300}, 3, wide, RIGHT);
            indexed(s, ROWS[r], HG_TYPE_F32, (shape){2, 3, 4}, 0, wide, RIGHT);
            indexed(s, ROWS[r], HG_TYPE_F32, (shape){0, 3, 4}, 5, wide, RIGHT);
            indexed(s, ROWS[r], HG_TYPE_F16, (shape){2, 3, 0}, 5, wide, RIGHT);
            indexed(s, ROWS[r], HG_TYPE_F32, (shape){2, 0, 3}, 5, wide, RIGHT);
            indexed(s, ROWS[r], HG_TYPE_F32, (shape){0, 3, 4}, 5, wide, BEYOND);
            indexed(s, ROWS[r], HG_TYPE_F16, (shape){1, 30, 1}, 9000, wide, BEYOND);
            indexed(s, ROWS[r], HG_TYPE_F32, (shape){1, 30, 1}, 90, true, wide ? BELOW : BOTH);
        }
    }
}

/* ---- segment_reduce ---- */

static void segments(cts *s, hg_type type, unsigned count, unsigned most, unsigned inner,
                     const char *operation, bool wide, unsigned wrong) {
    run_case c = {.cleared_class = 96};
    const char *t = hg_type_name(type);
    hg_type of = wide ? HG_TYPE_I64 : HG_TYPE_U32;
    uint64_t size = oracle_size(of), n = 0;
    char name[128];
    if (!cts_wanted(s, "segment_reduce", type)) return;
    uint64_t offsets[64] = {cts_random(s) % 3};
    for (unsigned i = 0; i < count; i++)
        offsets[i + 1] = offsets[i] + (i == 1 ? 0 : i == 2 ? most : cts_random(s) % (most + 1));
    n = offsets[count] + 2;
    if (wrong == BELOW) offsets[count / 2] = offsets[count / 2 + 1] + 1;
    if (wrong == BEYOND) offsets[count] = n + 1;
    snprintf(name, sizeof name, "segment_reduce.%s %u of %u x%u %s%s %u", t, count, most, inner,
             operation, wide ? " wide" : "", wrong);
    cts_text(&c,
             ".atlas 1\n.program cts\n.param r1 y buffer %s inout\n.param r2 x buffer %s in\n"
             ".param r3 i buffer %s in\n    segment_reduce.%s output=r1, input=r2, offsets=r3, "
             "segments=%u, n=%u, operation=%s, inner=%u, wide=%s\n",
             t, t, hg_type_name(of), t, count, (unsigned)n, operation, inner,
             wide ? "true" : "false");
    add_any(s, &c, "y", type, (uint64_t)count * inner + 3);
    add_any(s, &c, "x", type, n * inner);
    case_array *a = case_add_array(&c, "i", of, NULL, (count + 1) * size);
    for (unsigned i = 0; a && i <= count; i++) memcpy(a->bytes + i * size, &offsets[i], size);
    case_set_lanes(&c, 2);
    cts_compare(s, name, &c);
}

static void segments_all(cts *s) {
    static const char *const OPERATIONS[] = {"sum", "product", "min", "max"};
    for (hg_type type = 0; type < HG_TYPE_COUNT; type++)
        for (uint32_t k = 0; k < 4; k++)
            segments(s, type, 9, k % 2 ? 300 : 9, 1 + 2 * (k % 2), OPERATIONS[k], type % 2, RIGHT);
    for (uint32_t k = 0; k < 3; k++) {
        static const hg_type TYPES[] = {HG_TYPE_F32, HG_TYPE_BF16, HG_TYPE_F64};
        segments(s, TYPES[k], 5, 4500, 1, "sum", k % 2, RIGHT);
        segments(s, TYPES[k], 3, 0, 3, "product", k % 2, RIGHT);
        segments(s, TYPES[k], 0, 5, 2, "sum", k % 2, RIGHT);
        segments(s, TYPES[k], 4, 5, 0, "sum", k % 2, RIGHT);
        segments(s, TYPES[k], 40, 7, 1, "sum", k % 2, BELOW);
        segments(s, TYPES[k], 40, 7, 1, "max", k % 2, BEYOND);
    }
    segments(s, HG_TYPE_F32, 3, 70000, 1, "sum", false, RIGHT);
}

/* ---- arg_max, arg_min ---- */

static void arg(cts *s, const char *row, hg_type type, shape x, bool few) {
    run_case c = {.cleared_class = 96};
    const char *t = hg_type_name(type);
    uint64_t count = (uint64_t)x.outer * x.n * x.inner, size = oracle_size(type);
    char name[128];
    if (!cts_wanted(s, row, type)) return;
    snprintf(name, sizeof name, "%s.%s %ux%ux%u%s", row, t, x.outer, x.n, x.inner,
             few ? " few" : "");
    cts_text(&c,
             ".atlas 1\n.program cts\n.param r1 y buffer i64 inout\n.param r2 x buffer %s in\n"
             "    %s.%s output=r1, input=r2, n=%u, outer=%u, inner=%u\n",
             t, row, t, x.n, x.outer, x.inner);
    add_any(s, &c, "y", HG_TYPE_I64, (uint64_t)x.outer * x.inner + 1);
    case_array *a = add_any(s, &c, "x", type, count);
    for (uint64_t i = 0; a && few && i < count; i++) { /* of few values, so many are equal */
        double value = (double)(cts_random(s) % 3);
        oracle_convert(type, HG_TYPE_F64, (const uint8_t *)&value, a->bytes + i * size);
    }
    case_set_lanes(&c, 2);
    cts_compare(s, name, &c);
}

static void arg_all(cts *s) {
    static const shape SHAPES[] = {{2, 5, 1}, {3, 200, 1}, {2, 9, 7},
                                   {0, 0, 3}, {1, 1, 1},   {2, 0, 2}};
    for (hg_type type = 0; type < HG_TYPE_COUNT; type++)
        for (uint32_t i = 0; i < HG_COUNT_OF(SHAPES); i++)
            for (uint32_t few = 0; few < 2; few++) {
                arg(s, "arg_max", type, SHAPES[i], few);
                arg(s, "arg_min", type, SHAPES[i], few);
            }
    arg(s, "arg_max", HG_TYPE_F32, (shape){2, 3001, 1}, false);
}

void cts_lines(cts *s) {
    scan_all(s);
    reduce_all(s);
    indexed_all(s);
    segments_all(s);
    arg_all(s);
}
