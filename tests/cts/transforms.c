/* fft beside the sum of its definition: every length up to 33, lengths with one pass and several,
 * and those of no power of two. The bound is that of the norm: 16 u log2(4 n) |x|, of an inverse
 * transform over n; results that are smaller than 16 of it are not looked at. */
#include "cts.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double number(hg_type type, const uint8_t *bytes, uint64_t i) {
    return type == HG_TYPE_F32 ? (double)((const float *)(const void *)bytes)[i]
                               : ((const double *)(const void *)bytes)[i];
}

static void fill(cts *s, hg_type type, uint8_t *bytes, uint64_t count) {
    for (uint64_t i = 0; i < count; i++) {
        double x = (double)(cts_random(s) >> 11) * 0x1p-52 - 1;
        if (type == HG_TYPE_F32)
            ((float *)(void *)bytes)[i] = (float)x;
        else
            ((double *)(void *)bytes)[i] = x;
    }
}

/* ULPs that an element may be off. */
static uint32_t tolerance_of(hg_type type, double value, double bound) {
    int digits = type == HG_TYPE_F32 ? 24 : 53, exponent;
    if (fabs(value) < 16 * bound) return ORACLE_UNCHECKED;
    frexp(value, &exponent);
    return (uint32_t)ceil(ldexp(bound, digits - exponent));
}

static double norm_of(hg_type type, const case_array *in, uint64_t batch) {
    uint64_t each = in->size / oracle_size(type) / batch;
    double most = 0;
    for (uint64_t i = 0; i < batch; i++) {
        double sum = 0;
        for (uint64_t j = 0; j < each; j++) sum += pow(number(type, in->bytes, i * each + j), 2);
        most = fmax(most, sum);
    }
    return sqrt(2 * most); /* twice: a half of numbers stands for all */
}

static void transform(cts *s, hg_type type, uint64_t n, uint64_t batch, uint64_t inner,
                      bool inverse, bool real) {
    const char *t = hg_type_name(type);
    uint64_t size = oracle_size(type), numbers[2] = {2 * n, 2 * n};
    char label[96];
    run_case c = {.cleared_class = 96}, expected = {0};
    run_result result = {.outcome = RUN_OK};
    if (real) numbers[!inverse] = 2 * (n / 2 + 1);
    if (real) numbers[inverse] = n;
    cts_text(&c,
             ".atlas 1\n.program cts\n.param r1 out buffer %s out\n.param r2 in buffer %s in\n"
             "    fft.%s output=r1, input=r2, n=%llu, inverse=%s, batch=%llu, real=%s, "
             "inner=%llu\n",
             t, t, t, (unsigned long long)n, inverse ? "true" : "false", (unsigned long long)batch,
             real ? "true" : "false", (unsigned long long)inner);
    snprintf(label, sizeof label, "fft.%s %s%s of %llu, inner %llu", t, inverse ? "inverse " : "",
             real ? "real" : "complex", (unsigned long long)n, (unsigned long long)inner);
    batch *= inner;
    case_add_array(&c, "out", type, NULL, batch * numbers[1] * size);
    case_array *in = case_add_array(&c, "in", type, NULL, batch * numbers[0] * size);
    uint32_t *tolerance = calloc(batch * numbers[1], sizeof *tolerance);
    hg_program *program = NULL;
    case_set_lanes(&c, 1);
    if (in) fill(s, type, in->bytes, batch * numbers[0]);
    bool ok = in && tolerance && hg_program_assemble(c.text, c.length, NULL, &program) == HG_OK &&
              case_copy(&expected, &c);
    if (ok && cts_runs(s, label)) case_run_reference(program, &expected, &result);
    if (ok && result.outcome == RUN_OK) {
        double bound = ldexp(16, type == HG_TYPE_F32 ? -24 : -53) * log2(4 * (double)n) *
                       norm_of(type, in, batch) / (inverse ? (double)n : 1);
        for (uint64_t i = 0; i < batch * numbers[1]; i++)
            tolerance[i] = tolerance_of(type, number(type, expected.arrays[0].bytes, i), bound);
        cts_check(s, label, type, &c, expected.arrays[0].bytes, tolerance);
    } else {
        cts_fail(s, NULL, label, ok ? result.message : hg_last_error_text());
        case_free(&c);
    }
    case_free(&expected);
    hg_program_release(program);
    free(tolerance);
}

void cts_transforms(cts *s) {
    static const uint64_t LENGTHS[] = {64, 100, 128, 256, 512};
    static const hg_type TYPES[] = {HG_TYPE_F32, HG_TYPE_F64};
    for (size_t t = 0; t < 2; t++) {
        if (!cts_wanted(s, "fft", TYPES[t])) continue;
        for (uint64_t n = 1; n <= (s->quick ? 9 : 33); n++)
            transform(s, TYPES[t], n, 1 + n % 3, 1 + n % 4 / 3, n % 2, n % 5 == 0);
        for (size_t i = 0; i < sizeof LENGTHS / sizeof LENGTHS[0]; i++)
            transform(s, TYPES[t], LENGTHS[i], 1, 1 + i % 2, i % 2, i == 1);
        transform(s, TYPES[t], 8, 35, 1, false, true);
        for (uint32_t form = 0; form < 4; form++)
            transform(s, TYPES[t], 21 - form, 2, 70, form & 1, form & 2);
        transform(s, TYPES[t], 1024, 2, 1, true, false);
    }
}
