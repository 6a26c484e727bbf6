/* quantized_gemm: sums of products of whole numbers, exactly, modulo 2^32; then one factor in f32.
 */
#include "ref_internal.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    C,
    A,
    B,
    A_SCALE,
    B_SCALE,
    C_SCALE,
    M,
    N,
    K,
    A_ZERO,
    B_ZERO,
    C_ZERO,
    SUMS,
    TRANS_B,
    LDA,
    LDB,
    LDC,
    A_SCALES,
    B_SCALES,
    C_SCALES,
    A_ZEROS,
    B_ZEROS,
    C_ZEROS,
    STEPS,
    B_UNSIGNED,
    BATCH,
    BATCH_STRIDES,
    OPERANDS
};

static int64_t number(hg_type type, uint8_t byte) {
    return type == HG_TYPE_U8 ? byte : byte < 128 ? byte : (int64_t)byte - 256;
}

static float factor(const ref_machine *m, const hg_operand *o) {
    float value;
    memcpy(&value, hg_literal(m->program, o), sizeof value);
    return value;
}

static uint8_t quantize(hg_type type, int32_t sum, float scale, int64_t zero) {
    float x = rintf((float)sum * scale);
    double low = type == HG_TYPE_U8 ? 0 : -128, high = low + 255, value = isnan(x) ? 0 : (double)x;
    /* what is beyond 2^31 is so with every zero point */
    value = fmin(fmax(value, -2147483648.0), 2147483647.0) + (double)zero;
    return (uint8_t)(int64_t)fmin(fmax(value, low), high);
}

typedef struct work {
    ref_machine *m;
    const ref_lane *lane;
    const hg_operand *o;
    uint64_t n[OPERANDS], steps[4];
    const uint8_t *lines[6]; /* scales and zero points; NULL: left out */
} work;

static bool read_tuple(const work *w, uint32_t operand, uint64_t *to) {
    const hg_tuple_item *items = hg_tuple(w->m->program, &w->o[operand]);
    for (uint32_t i = 0; i < w->o[operand].item_count; i++) {
        to[i] = items[i].value;
        if (items[i].is_reg && !ref_read_uint(w->m, w->lane, items[i].reg, &to[i])) return false;
    }
    return true;
}

/* The scales (zero points) of an operand from A_SCALES on. False: an array is not there. */
static bool read_lines(work *w, uint32_t which) {
    uint64_t size = which < 3 ? sizeof(float) : 1, last = 0;
    if (hg_operand_is_missing(&w->o[A_SCALES + which])) return true;
    switch (which % 3) {
    case 0: last = w->n[M] ? (w->n[M] - 1) * w->steps[0] : 0; break;
    case 1: last = w->n[N] ? (w->n[N] - 1) * w->steps[1] : 0; break;
    default:
        last = w->n[M] && w->n[N] ? (w->n[M] - 1) * w->steps[2] + (w->n[N] - 1) * w->steps[3] : 0;
    }
    w->lines[which] = ref_resolve(w->m, w->lane, A_SCALES + which, (last + 1) * size, true, false);
    return w->lines[which] != NULL;
}

static float scale_at(const work *w, uint32_t which, uint64_t i) {
    float value = 1;
    if (w->lines[which]) memcpy(&value, w->lines[which] + i * sizeof value, sizeof value);
    return value;
}

static int64_t zero_at(const work *w, uint32_t which, hg_type type, uint64_t i, int64_t otherwise) {
    return w->lines[3 + which] ? number(type, w->lines[3 + which][i]) : otherwise;
}

ref_next ref_quantized_gemm(ref_machine *m, const ref_lane *lane, const hg_inst *inst) {
    const hg_operand *o = hg_inst_operands(m->program, lane->pc);
    hg_type type = (hg_type)inst->type;
    hg_type b_type = o[B_UNSIGNED].value ? HG_TYPE_U8 : HG_TYPE_I8;
    work w = {.m = m, .lane = lane, .o = o, .steps = {1, 1, 1, 0}};
    uint64_t *n = w.n, size = 1, matrix[3];
    for (uint32_t i = M; i <= K; i++)
        if (!ref_read_count(m, lane, &o[i], &n[i])) return NEXT_BROKEN;
    for (uint32_t i = LDA; i <= BATCH; i += i == LDC ? BATCH - LDC : 1)
        if (!hg_operand_is_missing(&o[i]) && !ref_read_count(m, lane, &o[i], &n[i]))
            return NEXT_BROKEN;
    bool sums = o[SUMS].value != 0, transposed = o[TRANS_B].value != 0;
    int64_t a_zero = number(type, *hg_literal(m->program, &o[A_ZERO])),
            b_zero = number(HG_TYPE_I8, *hg_literal(m->program, &o[B_ZERO])) +
                     (b_type == HG_TYPE_U8 ? 128 : 0),
            c_zero = number(type, *hg_literal(m->program, &o[C_ZERO]));
    float scale = factor(m, &o[A_SCALE]) * factor(m, &o[B_SCALE]);
    scale = scale / factor(m, &o[C_SCALE]);
    if (hg_operand_is_missing(&o[LDA])) n[LDA] = n[K];
    if (hg_operand_is_missing(&o[LDB])) n[LDB] = transposed ? n[K] : n[N];
    if (hg_operand_is_missing(&o[LDC])) n[LDC] = n[N];
    if (hg_operand_is_missing(&o[BATCH])) n[BATCH] = 1;
    if (sums) size = 4;
    uint64_t rows = transposed ? n[N] : n[K], columns = transposed ? n[K] : n[N];
    matrix[0] = n[M] * n[LDA];
    matrix[1] = rows * n[LDB];
    matrix[2] = n[M] * n[LDC];
    if (!read_tuple(&w, STEPS, w.steps) || !read_tuple(&w, BATCH_STRIDES, matrix))
        return NEXT_BROKEN;
    uint64_t others = n[BATCH] ? n[BATCH] - 1 : 0;
    bool some = n[BATCH] != 0;
    uint8_t *c = ref_resolve(
                m, lane, C,
                some && n[M] && n[N] ? (others * matrix[2] + (n[M] - 1) * n[LDC] + n[N]) * size : 0,
                true, false),
            *a = NULL, *b = NULL;
    if (c)
        a = ref_resolve(m, lane, A,
                        some && n[M] && n[K] ? others * matrix[0] + (n[M] - 1) * n[LDA] + n[K] : 0,
                        true, false);
    if (a)
        b = ref_resolve(m, lane, B,
                        some && rows && columns ? others * matrix[1] + (rows - 1) * n[LDB] + columns
                                                : 0,
                        true, false);
    if (!b) return m->broken.code[0] ? NEXT_BROKEN : NEXT_FAULT;
    for (uint32_t i = 0; i < 6; i++)
        if (!read_lines(&w, i)) return m->broken.code[0] ? NEXT_BROKEN : NEXT_FAULT;
    for (uint64_t z = 0; z < n[BATCH]; z++, a += matrix[0], b += matrix[1], c += matrix[2] * size)
        for (uint64_t ij = 0; ij < n[M] * n[N]; ij++) {
            uint64_t i = ij / n[N], j = ij % n[N], at = i * w.steps[2] + j * w.steps[3];
            int64_t sum = 0, a_own = zero_at(&w, 0, type, i * w.steps[0], a_zero),
                    b_own = zero_at(&w, 1, b_type, j * w.steps[1], b_zero);
            for (uint64_t l = 0; l < n[K]; l++)
                sum += (number(type, a[i * n[LDA] + l]) - a_own) *
                       (number(b_type, b[transposed ? j * n[LDB] + l : l * n[LDB] + j]) - b_own);
            uint32_t low = (uint32_t)(uint64_t)sum;
            int32_t value;
            memcpy(&value, &low, sizeof value);
            if (sums) {
                memcpy(c + (i * n[LDC] + j) * 4, &value, sizeof value);
                continue;
            }
            float own = scale_at(&w, 0, i * w.steps[0]) * scale_at(&w, 1, j * w.steps[1]);
            own = own / scale_at(&w, 2, at);
            own = own * scale;
            c[i * n[LDC] + j] = quantize(type, value, own, zero_at(&w, 2, type, at, c_zero));
        }
    return NEXT_FOLLOWING;
}
