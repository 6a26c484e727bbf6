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

/* Trees with all numbers of levels, rows and columns, one chunk and several. */
static void reduce_all(cts *s) {
    static const char *const OPERATIONS[] = {"sum", "product", "min", "max"};
    static const shape FEW[] = {{1, 1, 1}, {2, 3, 5}, {3, 7, 1},  {2, 127, 1},
                                {2, 0, 3}, {0, 4, 1}, {1, 15, 2}, {2, 4, 0}};
    static const shape LONG[] = {{2, 64, 1},   {3, 65, 1},   {1, 33, 3},   {2, 255, 2},
                                 {2, 4095, 1}, {1, 4097, 3}, {2, 8200, 1}, {1, 70000, 1}};
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

void cts_lines(cts *s) {
    scan_all(s);
    reduce_all(s);
}
