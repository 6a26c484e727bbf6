/* sparse_gemm: rows and columns are looked at first, in their order; then each element of c is one
 * fma chain in the order of a's stored entries, halves in f32 and rounded once at the end. */
#include "ref_internal.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { C, VALUES, INDICES, PTR, B, M, N, K, LDB, LDC, NNZ, OPERANDS };

typedef struct sparse {
    ref_machine *m;
    const ref_lane *lane;
    hg_type type;
    uint64_t n[OPERANDS], size, entries;
    bool open; /* nobody says how many entries there are: as many as there is room for */
    uint8_t *at[B + 1];
} sparse;

static uint32_t word(const uint8_t *bytes, uint64_t i) {
    uint32_t value;
    memcpy(&value, bytes + 4 * i, sizeof value);
    return value;
}

static double real(const sparse *s, const uint8_t *bytes, uint64_t i) {
    double value;
    oracle_convert(HG_TYPE_F64, s->type, bytes + i * s->size, (uint8_t *)&value);
    return value;
}

static bool refuse(const sparse *s, uint32_t operand, const char *text, uint64_t x, uint64_t y) {
    char format[160] = "";
    strcat(format, text);
    ref_fail(s->m, NULL, s->lane->pc, operand + 1, "F05", format, (unsigned long long)x,
             (unsigned long long)y);
    return false;
}

static bool find_arrays(sparse *s) {
    uint64_t n = s->n[N], last_b = s->n[K] && n ? ((s->n[K] - 1) * s->n[LDB] + n) * s->size : 0,
             last_c = s->n[M] && n ? ((s->n[M] - 1) * s->n[LDC] + n) * s->size : 0;
    const uint64_t sizes[B + 1] = {last_c, s->n[NNZ] * s->size, s->n[NNZ] * 4, (s->n[M] + 1) * 4,
                                   last_b};
    for (uint32_t i = 0; i <= B; i++)
        if (!(s->at[i] = ref_resolve(s->m, s->lane, i, sizes[i], true, false))) return false;
    uint64_t values = ref_room(s->m, s->lane, VALUES) / s->size,
             indices = ref_room(s->m, s->lane, INDICES) / 4;
    s->entries = !s->open ? s->n[NNZ] : values < indices ? values : indices;
    return true;
}

static bool check_rows(const sparse *s) {
    for (uint64_t i = 0; i < s->n[M]; i++) {
        uint32_t from = word(s->at[PTR], i), to = word(s->at[PTR], i + 1);
        if (to < from)
            return refuse(s, PTR, "a_ptr: row %llu ends at %llu, before it begins", i, to);
        if (to > s->entries)
            return refuse(s, PTR,
                          "a_ptr: row %llu ends at %llu, a_values or a_indices have fewer entries",
                          i, to);
        for (uint64_t p = from; p < to; p++)
            if (word(s->at[INDICES], p) >= s->n[K])
                return refuse(s, INDICES, "a_indices: entry %llu is column %llu, below k expected",
                              p, word(s->at[INDICES], p));
    }
    return true;
}

static void element(const sparse *s, uint64_t i, uint64_t j, uint8_t *to) {
    double wide = 0;
    float sum = 0;
    for (uint64_t p = word(s->at[PTR], i); p < word(s->at[PTR], i + 1); p++) {
        double x = real(s, s->at[VALUES], p),
               y = real(s, s->at[B], word(s->at[INDICES], p) * s->n[LDB] + j);
        wide = fma(x, y, wide);
        sum = fmaf((float)x, (float)y, sum);
    }
    if (s->type == HG_TYPE_F64)
        memcpy(to, &wide, sizeof wide);
    else
        oracle_convert(s->type, HG_TYPE_F32, (const uint8_t *)&sum, to);
}

ref_next ref_sparse_gemm(ref_machine *m, const ref_lane *lane, const hg_inst *inst) {
    sparse s = {.m = m,
                .lane = lane,
                .type = (hg_type)inst->type,
                .size = oracle_size((hg_type)inst->type)};
    const hg_operand *o = hg_inst_operands(m->program, lane->pc);
    for (uint32_t i = M; i < OPERANDS; i++)
        if (!hg_operand_is_missing(&o[i]) && !ref_read_count(m, lane, &o[i], &s.n[i]))
            return NEXT_BROKEN;
    s.open = hg_operand_is_missing(&o[NNZ]);
    for (uint32_t i = LDB; i <= LDC; i++)
        if (hg_operand_is_missing(&o[i])) s.n[i] = s.n[N];
    for (uint32_t i = LDB; i <= LDC; i++)
        if (s.n[i] < s.n[N])
            return refuse(
                       &s, i,
                       i == LDB
                           ? "ldb: %llu elements from one row to the next, at least %llu expected"
                           : "ldc: %llu elements from one row to the next, at least %llu expected",
                       s.n[i], s.n[N]),
                   NEXT_FAULT;
    if (!find_arrays(&s)) return m->broken.code[0] ? NEXT_BROKEN : NEXT_FAULT;
    if (!check_rows(&s)) return NEXT_FAULT;
    uint64_t count = s.n[M] * s.n[N];
    uint8_t *results = malloc(count * s.size + 1);
    if (!results) return ref_break(m, lane, lane->pc, "out of memory");
    for (uint64_t i = 0; i < count; i++) element(&s, i / s.n[N], i % s.n[N], results + i * s.size);
    for (uint64_t i = 0; i < s.n[M] && s.n[N]; i++)
        memcpy(s.at[C] + i * s.n[LDC] * s.size, results + i * s.n[N] * s.size, s.n[N] * s.size);
    free(results);
    return NEXT_FOLLOWING;
}
