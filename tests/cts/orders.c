/* sort and top_k against the reference, bit by bit: short rows and such as are sorted by digits,
 * with elements that are equal, apart by any axis, of every type. */
#include "cts.h"
#include <stdio.h>
#include <string.h>

typedef struct order {
    uint64_t outer, n, inner;
    int64_t k;      /* negative: sort */
    uint32_t alike; /* different elements; 0: any */
    bool values, indices, wide, down;
} order;

/* Elements of a row are of `alike` numbers, zeros of both signs and NaNs of several patterns among
 * them. */
static void fill(cts *s, case_array *a, hg_type type, uint64_t count, uint32_t alike) {
    uint32_t size = oracle_size(type);
    uint8_t few[64][8];
    for (uint32_t i = 0; i < alike; i++) cts_any(s, type, few[i]);
    for (uint64_t i = 0; a && i < count; i++)
        if (alike)
            memcpy(a->bytes + i * size, few[cts_random(s) % alike], size);
        else
            cts_any(s, type, a->bytes + i * size);
}

static void sort(cts *s, hg_type type, const order *o) {
    bool top = o->k >= 0;
    const char *t = hg_type_name(type), *what = top ? "top_k" : "sort";
    uint64_t rows = o->outer * o->inner, kept = top ? (uint64_t)o->k : o->n;
    char name[96], k[32] = "";
    run_case c = {.cleared_class = 96};
    if (!cts_wanted(s, what, type)) return;
    if (top) snprintf(k, sizeof k, ", k=%d", (int)o->k);
    snprintf(name, sizeof name, "%s.%s %ux%ux%u%s%s%s%s", what, t, (unsigned)o->outer,
             (unsigned)o->n, (unsigned)o->inner, k, o->values ? " values" : "",
             o->indices ? " indices" : "", o->down ? " down" : "");
    cts_text(&c,
             ".atlas 1\n.program cts\n.param r1 y buffer %s inout\n.param r2 p buffer %s inout\n"
             ".param r3 x buffer %s in\n    %s.%s %s%sinput=r3, n=%u%s, outer=%u, inner=%u, %s=%s, "
             "wide=%s\n",
             t, o->wide ? "i64" : "u32", t, what, t, o->values ? "output=r1, " : "",
             o->indices ? "indices=r2, " : "", (unsigned)o->n, k, (unsigned)o->outer,
             (unsigned)o->inner, top ? "smallest" : "descending", o->down != top ? "true" : "false",
             o->wide ? "true" : "false");
    fill(s, case_add_array(&c, "y", type, NULL, (rows * kept + 3) * oracle_size(type)), type,
         rows * kept + 3, 0);
    hg_type index = o->wide ? HG_TYPE_I64 : HG_TYPE_U32;
    case_add_array(&c, "p", index, NULL, (rows * kept + 3) * oracle_size(index));
    fill(s, case_add_array(&c, "x", type, NULL, rows * o->n * oracle_size(type)), type, rows * o->n,
         o->alike);
    case_set_lanes(&c, 2);
    cts_compare(s, name, &c);
}

void cts_orders(cts *s) {
    static const order ORDERS[] = {
        {1, 1, 1, -1, 0, true, true, false, false},
        {2, 33, 1, -1, 5, true, false, false, true},
        {2, 7, 3, -1, 4, true, true, true, true},
        {1, 256, 1, -1, 40, false, true, false, false},
        {1, 257, 1, -1, 50, true, true, false, true},
        {2, 300, 2, -1, 0, true, false, false, false},
        {1, 700, 1, -1, 9, false, true, true, false},
        {3, 40, 2, 7, 9, true, true, false, true},
        {2, 270, 1, 3, 20, true, true, false, false},
        {1, 600, 2, 257, 64, false, true, true, true},
        {0, 5, 2, -1, 0, true, true, false, false},
        {2, 0, 2, -1, 0, true, true, false, false},
        {2, 5, 0, 2, 0, true, true, false, false},
        {2, 5, 2, 0, 0, true, true, false, false},
    };
    static const order WRONG[] = {{2, 5, 1, 6, 0, true, true, false, false},
                                  {2, 5, 1, -1, 0, false, false, false, false}};
    for (int t = 0; t < HG_TYPE_COUNT; t++)
        for (size_t i = 0; i < HG_COUNT_OF(ORDERS); i++)
            if (oracle_size((hg_type)t) <= 8) sort(s, (hg_type)t, &ORDERS[i]);
    for (size_t i = 0; i < HG_COUNT_OF(WRONG); i++) sort(s, HG_TYPE_F32, &WRONG[i]);
}
