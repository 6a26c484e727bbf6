/* Whole-array instructions: every operation in every type it has an instruction for, lengths around
 * the borders of the fixed tree. */
#include "cts.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* relu has max's types, erf and atan2 are floats'. */
static bool operation_allows(hg_opname name, hg_type type) {
    hg_op op = hg_opname_op(name);
    if (name == HG_OPNAME_RELU) op = HG_OP_MAX;
    return op == HG_OP_NONE ? oracle_is_float(type) : hg_op_allows_type(op, type);
}

static void map(cts *s, hg_opname name, hg_type type, uint32_t inputs, uint64_t n) {
    uint32_t size = oracle_size(type);
    run_case c = {.cleared_class = 96};
    uint8_t *arrays[2] = {NULL, NULL}, *expected = calloc(n + 1, size);
    uint32_t *tolerance = calloc(n + 1, sizeof *tolerance);
    const hg_type types[2] = {type, type};
    cts_text(&c,
             ".atlas 1\n.program cts\n.param r1 out buffer %s out\n.param r2 a buffer %s "
             "in\n.param r3 b buffer %s in\n.param r4 n u64\n"
             "    parallel_map%s.%s r1, r2, %s%s, r4\n",
             hg_type_name(type), hg_type_name(type), hg_type_name(type),
             inputs == 2 ? "_binary" : "", hg_type_name(type), inputs == 2 ? "r3, " : "",
             hg_opname_name(name));
    case_add_array(&c, "out", type, NULL, n * size);
    case_array *a = case_add_array(&c, "a", type, NULL, n * size);
    arrays[0] = a ? a->bytes : NULL;
    a = case_add_array(&c, "b", type, NULL, n * size);
    arrays[1] = a ? a->bytes : NULL;
    case_add_scalar(&c, "n", HG_TYPE_U64, n);
    bool ok = expected && tolerance && arrays[0] && arrays[1];
    if (ok) cts_fill(s, inputs, types, arrays, n);
    char label[64];
    snprintf(label, sizeof label, "parallel_map%s.%s %s", inputs == 2 ? "_binary" : "",
             hg_type_name(type), hg_opname_name(name));
    bool runs = cts_runs(s, label);
    for (uint64_t i = 0; ok && runs && i < n; i++) {
        const uint8_t *args[2] = {arrays[0] + i * size, arrays[1] + i * size};
        oracle_outcome outcome = oracle_opname(name, type, args, expected + i * size);
        if (outcome == ORACLE_DIVISION_BY_ZERO) {
            arrays[1][i * size] = 1;
            outcome = oracle_opname(name, type, args, expected + i * size);
        }
        ok = outcome == ORACLE_OK;
        tolerance[i] = (uint32_t)oracle_opname_tolerance(name, type, args, expected + i * size);
    }
    case_set_lanes(&c, 3);
    if (ok) {
        cts_check(s, label, type, &c, expected, tolerance);
    } else {
        cts_fail(s, NULL, label, "the oracle does not know this operation");
        case_free(&c);
    }
    free(expected);
    free(tolerance);
}

/* All four ways to write one reduction, in one program. */
static void reduce(cts *s, hg_opname name, hg_type type, uint64_t n) {
    static const char *const TEXTS[HG_OPNAME_COUNT] = {[HG_OPNAME_SUM] = "add",
                                                       [HG_OPNAME_PRODUCT] = "mul",
                                                       [HG_OPNAME_MIN] = "min",
                                                       [HG_OPNAME_MAX] = "max"};
    uint32_t size = oracle_size(type);
    const char *t = hg_type_name(type);
    run_case c = {.cleared_class = 96};
    cts_text(&c,
             ".atlas 1\n.program cts\n.param r1 out buffer %s out\n.param r2 a buffer %s "
             "in\n.param r4 n u64\n"
             "    parallel_reduce.%s r5, r2, %s, r4\n    stg.%s [buf(r1) + 0], r5\n    "
             "parallel_reduce.%s [buf(r1) + %u], r2, %s, r4\n"
             "    reduce.%s.%s r6, [buf(r2) + 0], r4\n    stg.%s [buf(r1) + %u], r6\n",
             t, t, t, hg_opname_name(name), t, t, size, hg_opname_name(name), TEXTS[name], t, t,
             2 * size);
    case_add_array(&c, "out", type, NULL, 3 * size);
    case_array *a = case_add_array(&c, "a", type, NULL, n * size + size);
    case_add_scalar(&c, "n", HG_TYPE_U64, n);
    uint8_t *expected = calloc(3, size);
    bool plain = cts_random(s) & 1; /* else anything, infinities and NaN included */
    for (uint64_t i = 0; a && i < n; i++) {
        cts_any(s, type, a->bytes + i * size);
        double value = (double)((int64_t)(cts_random(s) % 2001) - 1000) / 16;
        if (plain) oracle_convert(type, HG_TYPE_F64, (const uint8_t *)&value, a->bytes + i * size);
    }
    char label[64];
    snprintf(label, sizeof label, "reduce.%s %s of %llu", t, hg_opname_name(name),
             (unsigned long long)n);
    if (a && expected && oracle_reduce(name, type, a->bytes, n, expected) == ORACLE_OK) {
        memcpy(expected + size, expected, size);
        memcpy(expected + 2 * size, expected, size);
        case_set_lanes(&c, 1);
        cts_check(s, label, type, &c, expected, NULL);
    } else {
        case_free(&c);
    }
    free(expected);
}

void cts_maps(cts *s) {
    static const uint64_t LENGTHS[] = {0, 1, 2, 127, 128, 129, 257, 4095, 4096, 4097, 9000};
    for (int t = 0; t < HG_TYPE_COUNT; t++)
        for (int o = 0; o < HG_OPNAME_COUNT; o++) {
            hg_opname name = (hg_opname)o;
            hg_type type = (hg_type)t;
            bool small = oracle_size(type) <= 16;
            if (!operation_allows(name, type)) continue;
            uint64_t n = !s->quick && oracle_size(type) == 2 && oracle_is_float(type) &&
                                 hg_opname_is_map(name)
                             ? 65536
                             : cts_batch(s, type);
            if (hg_opname_is_map(name) && cts_wanted(s, "parallel_map", type))
                map(s, name, type, 1, n);
            if (hg_opname_is_binary(name) && cts_wanted(s, "parallel_map_binary", type))
                map(s, name, type, 2, cts_batch(s, type));
            if (hg_opname_is_reduce(name) && cts_wanted(s, "parallel_reduce", type))
                for (size_t l = 0; l < sizeof LENGTHS / sizeof LENGTHS[0]; l++)
                    if (small || LENGTHS[l] <= 129) reduce(s, name, type, LENGTHS[l]);
        }
}
