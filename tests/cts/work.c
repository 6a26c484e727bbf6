#include "work.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool work_begin(work *w, cts *s, hg_type type, hg_type result, uint64_t outputs,
                const char *arrays) {
    *w = (work){.s = s,
                .type = type,
                .result = result,
                .c = {.cleared_class = 96},
                .count = outputs,
                .unit = type == HG_TYPE_F64 ? 0x1p-53L : 0x1p-24L};
    w->expected = calloc(outputs + 1, sizeof *w->expected);
    w->bound = calloc(outputs + 1, sizeof *w->bound);
    strcpy(w->text, ".atlas 1\n.program cts\n");
    for (const char *a = arrays; *a; a++)
        snprintf(w->text + strlen(w->text), sizeof w->text - strlen(w->text),
                 ".param %c buffer %s %s\n", *a, hg_type_name(*a == 'y' ? result : type),
                 *a == 'y' || *a == 'o' ? "inout" : "in");
    return w->expected && w->bound &&
           case_add_array(&w->c, "y", result, NULL, outputs * oracle_size(result));
}

double *work_input(work *w, const char *name, uint64_t count, bool positive) {
    uint32_t size = oracle_size(w->type);
    double *values = calloc(count + 1, sizeof *values);
    case_array *a = case_add_array(&w->c, name, w->type, NULL, count * size);
    for (uint64_t i = 0; values && a && i < count; i++) {
        double value = (double)((int64_t)(cts_random(w->s) % 1001) - (positive ? 0 : 500)) / 64;
        oracle_convert(w->type, HG_TYPE_F64, (const uint8_t *)&value, a->bytes + i * size);
        oracle_convert(HG_TYPE_F64, w->type, a->bytes + i * size, (uint8_t *)&values[i]);
    }
    return values;
}

static uint32_t ulps(const work *w, uint64_t i) {
    int digits = w->result == HG_TYPE_F64   ? 53
                 : w->result == HG_TYPE_F32 ? 24
                 : w->result == HG_TYPE_F16 ? 11
                                            : 8;
    int least = w->result == HG_TYPE_F64   ? -1074
                : w->result == HG_TYPE_F32 ? -149
                : w->result == HG_TYPE_F16 ? -24
                                           : -133;
    int exponent = w->expected[i] != 0 ? (int)floorl(log2l(fabsl(w->expected[i]))) - digits + 1
                                       : least;
    long double count = w->bound[i] / ldexpl(1, exponent < least ? least : exponent);
    return w->bound[i] > 0 ? (uint32_t)(count > 1e6L ? 1e6L : count) + 1 : 0;
}

void work_finish(work *w, const char *instruction) {
    uint32_t size = oracle_size(w->result);
    uint8_t *expected = calloc(w->count + 1, size);
    uint32_t *tolerance = calloc(w->count + 1, sizeof *tolerance);
    for (uint64_t i = 0; expected && tolerance && i < w->count; i++) {
        double value = (double)w->expected[i];
        oracle_convert(w->result, HG_TYPE_F64, (const uint8_t *)&value, expected + i * size);
        tolerance[i] = ulps(w, i);
    }
    cts_text(&w->c, "%s    %s\n", w->text, instruction);
    case_set_lanes(&w->c, 2);
    if (expected && tolerance)
        cts_check(w->s, instruction, w->result, &w->c, expected, tolerance);
    else
        cts_fail(w->s, NULL, instruction, "out of memory");
    free(expected);
    free(tolerance);
    free(w->expected);
    free(w->bound);
}
