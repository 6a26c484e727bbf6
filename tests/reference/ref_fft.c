/* fft from its definition: sums of long doubles, with angles reduced in integers. */
#include "ref_internal.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* e^(2 pi i j k / n) by its two parts. */
static void root(uint64_t j, uint64_t k, uint64_t n, long double *re, long double *im) {
    uint64_t e = j * k % n;
    long double angle = 2 * acosl(-1) * (long double)e / (long double)n;
    *re = cosl(angle);
    *im = sinl(angle);
}

static void transform(uint64_t n, bool inverse, const long double *x, long double *y) {
    for (uint64_t k = 0; k < n; k++) {
        long double sum[2] = {0, 0}, re, im;
        for (uint64_t j = 0; j < n; j++) {
            root(j, k, n, &re, &im);
            if (!inverse) im = -im;
            sum[0] += x[2 * j] * re - x[2 * j + 1] * im;
            sum[1] += x[2 * j] * im + x[2 * j + 1] * re;
        }
        y[2 * k] = inverse ? sum[0] / (long double)n : sum[0];
        y[2 * k + 1] = inverse ? sum[1] / (long double)n : sum[1];
    }
}

static long double number(hg_type type, const uint8_t *bytes, uint64_t i) {
    return type == HG_TYPE_F32 ? (long double)((const float *)(const void *)bytes)[i]
                               : (long double)((const double *)(const void *)bytes)[i];
}

static void put(hg_type type, uint8_t *bytes, uint64_t i, long double x) {
    if (type == HG_TYPE_F32)
        ((float *)(void *)bytes)[i] = (float)x;
    else
        ((double *)(void *)bytes)[i] = (double)x;
}

/* One of the batch: n complex numbers of what is given, transformed, and those that are wanted of
 * them. */
static void transform_one(hg_type type, uint64_t n, bool inverse, bool real, const uint8_t *in,
                          uint8_t *out, long double *x, long double *y) {
    for (uint64_t j = 0; j < n; j++) {
        uint64_t from = real && inverse && j > n / 2 ? n - j : j;
        bool is_real = real && (!inverse || 2 * j % n == 0);
        x[2 * j] = number(type, in, real && !inverse ? j : 2 * from);
        x[2 * j + 1] = is_real ? 0 : number(type, in, 2 * from + 1) * (from != j ? -1 : 1);
    }
    transform(n, inverse, x, y);
    if (real && inverse)
        for (uint64_t j = 0; j < n; j++) put(type, out, j, y[2 * j]);
    else
        for (uint64_t j = 0; j < 2 * (real ? n / 2 + 1 : n); j++) put(type, out, j, y[j]);
}

/* Elements of `parts` numbers of line i of [outer, count, inner], one after another, or back. */
static void move_line(uint8_t *array, uint8_t *line, uint64_t i, uint64_t inner, uint64_t count,
                      uint64_t bytes, bool back) {
    for (uint64_t k = 0; k < count; k++) {
        uint8_t *at = array + ((i / inner * count + k) * inner + i % inner) * bytes;
        memcpy(back ? at : line + k * bytes, back ? line + k * bytes : at, bytes);
    }
}

ref_next ref_fft(ref_machine *m, const ref_lane *lane, const hg_inst *inst) {
    const hg_operand *o = hg_inst_operands(m->program, lane->pc);
    hg_type type = (hg_type)inst->type;
    uint64_t n, batch, inner, size = oracle_size(type);
    if (!ref_read_count(m, lane, &o[2], &n) || !ref_read_count(m, lane, &o[4], &batch) ||
        !ref_read_count(m, lane, &o[6], &inner))
        return NEXT_BROKEN;
    bool inverse = o[3].value, real = o[5].value;
    if (n == 0) return ref_fail(m, NULL, lane->pc, 3, "F05", "n: 0 numbers, at least 1 expected");
    batch *= inner;
    if (n > 4096 || batch > 4096)
        return ref_break(m, lane, lane->pc, "too many numbers for a direct transform");
    uint64_t numbers[2] = {2 * n, 2 * n};
    if (real) numbers[!inverse] = 2 * (n / 2 + 1);
    if (real) numbers[inverse] = n;
    uint8_t *out = ref_resolve(m, lane, 0, batch * numbers[1] * size, true, false);
    uint8_t *in = out ? ref_resolve(m, lane, 1, batch * numbers[0] * size, true, false) : NULL;
    if (!in) return m->broken.code[0] ? NEXT_BROKEN : NEXT_FAULT;
    long double *x = calloc(8 * n + 8, sizeof *x);
    if (!x) return ref_break(m, lane, lane->pc, "out of memory");
    uint8_t *line = (uint8_t *)(x + 4 * n), *made = (uint8_t *)(x + 6 * n + 4);
    uint64_t parts[2] = {real && !inverse ? 1 : 2, real && inverse ? 1 : 2};
    for (uint64_t i = 0; i < batch; i++) {
        move_line(in, line, i, inner, numbers[0] / parts[0], parts[0] * size, false);
        transform_one(type, n, inverse, real, line, made, x, x + 2 * n);
        move_line(out, made, i, inner, numbers[1] / parts[1], parts[1] * size, true);
    }
    free(x);
    return NEXT_FOLLOWING;
}
