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

ref_next ref_quantized_gemm(ref_machine *m, const ref_lane *lane, const hg_inst *inst) {
    const hg_operand *o = hg_inst_operands(m->program, lane->pc);
    hg_type type = (hg_type)inst->type;
    uint64_t n[OPERANDS] = {0}, size = 1;
    for (uint32_t i = M; i <= K; i++)
        if (!ref_read_count(m, lane, &o[i], &n[i])) return NEXT_BROKEN;
    for (uint32_t i = LDA; i <= LDC; i++)
        if (!hg_operand_is_missing(&o[i]) && !ref_read_count(m, lane, &o[i], &n[i]))
            return NEXT_BROKEN;
    bool sums = o[SUMS].value != 0, transposed = o[TRANS_B].value != 0;
    int64_t a_zero = number(type, *hg_literal(m->program, &o[A_ZERO])),
            b_zero = number(HG_TYPE_I8, *hg_literal(m->program, &o[B_ZERO])),
            c_zero = number(type, *hg_literal(m->program, &o[C_ZERO]));
    float scale = factor(m, &o[A_SCALE]) * factor(m, &o[B_SCALE]);
    scale = scale / factor(m, &o[C_SCALE]);
    if (hg_operand_is_missing(&o[LDA])) n[LDA] = n[K];
    if (hg_operand_is_missing(&o[LDB])) n[LDB] = transposed ? n[K] : n[N];
    if (hg_operand_is_missing(&o[LDC])) n[LDC] = n[N];
    if (sums) size = 4;
    uint64_t rows = transposed ? n[N] : n[K], columns = transposed ? n[K] : n[N];
    uint8_t *c = ref_resolve(m, lane, C, n[M] && n[N] ? ((n[M] - 1) * n[LDC] + n[N]) * size : 0,
                             true, false),
            *a = NULL, *b = NULL;
    if (c) a = ref_resolve(m, lane, A, n[M] && n[K] ? (n[M] - 1) * n[LDA] + n[K] : 0, true, false);
    if (a)
        b = ref_resolve(m, lane, B, rows && columns ? (rows - 1) * n[LDB] + columns : 0, true,
                        false);
    if (!b) return m->broken.code[0] ? NEXT_BROKEN : NEXT_FAULT;
    for (uint64_t i = 0; i < n[M]; i++)
        for (uint64_t j = 0; j < n[N]; j++) {
            int64_t sum = 0;
            for (uint64_t l = 0; l < n[K]; l++)
                sum += (number(type, a[i * n[LDA] + l]) - a_zero) *
                       (number(HG_TYPE_I8, b[transposed ? j * n[LDB] + l : l * n[LDB] + j]) -
                        b_zero);
            uint32_t low = (uint32_t)(uint64_t)sum;
            int32_t value;
            memcpy(&value, &low, sizeof value);
            if (sums)
                memcpy(c + (i * n[LDC] + j) * 4, &value, sizeof value);
            else
                c[i * n[LDC] + j] = quantize(type, value, scale, c_zero);
        }
    return NEXT_FOLLOWING;
}
