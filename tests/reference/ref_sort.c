/* sort and top_k: each row by insertion, element by element, in the order of numbers. */
#include "ref_internal.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* An element as a number: a long double has all bits of a word of 64. */
static long double number(hg_type type, const uint8_t *bytes) {
    uint64_t word = 0;
    int64_t value;
    double real;
    if (type == HG_TYPE_F16 || type == HG_TYPE_BF16 || type == HG_TYPE_F32 || type == HG_TYPE_F64) {
        oracle_convert(HG_TYPE_F64, type, bytes, (uint8_t *)&real);
        return real;
    }
    oracle_convert(oracle_is_signed(type) ? HG_TYPE_I64 : HG_TYPE_U64, type, bytes,
                   (uint8_t *)&word);
    memcpy(&value, &word, sizeof value);
    return oracle_is_signed(type) ? (long double)value : (long double)word;
}

/* Whether a is below b: no number is below a NaN, and a NaN below none. */
static bool is_below(long double a, long double b) {
    return isnan(b) ? !isnan(a) : isnan(a) ? false : a < b;
}

/* Numbers of elements, in order: each goes behind the last one that it is not in front of. */
static void order(uint64_t n, bool down, const long double *x, uint64_t *places) {
    for (uint64_t i = 0; i < n; i++) {
        uint64_t at = i;
        while (at > 0 &&
               (down ? is_below(x[places[at - 1]], x[i]) : is_below(x[i], x[places[at - 1]]))) {
            places[at] = places[at - 1];
            at--;
        }
        places[at] = i;
    }
}

typedef struct sorting {
    hg_type type;
    uint64_t n, kept, outer, inner;
    bool down, wide;
    const uint8_t *in;
    uint8_t *values, *indices; /* NULL: left out */
} sorting;

static void sort_row(const sorting *s, uint64_t row, long double *x, uint64_t *places) {
    uint64_t size = oracle_size(s->type), width = s->wide ? 8 : 4, group = row / s->inner,
             column = row % s->inner;
    for (uint64_t i = 0; i < s->n; i++)
        x[i] = number(s->type, s->in + ((group * s->n + i) * s->inner + column) * size);
    order(s->n, s->down, x, places);
    for (uint64_t i = 0; i < s->kept; i++) {
        uint64_t to = (group * s->kept + i) * s->inner + column,
                 from = (group * s->n + places[i]) * s->inner + column;
        if (s->values) memcpy(s->values + to * size, s->in + from * size, size);
        if (s->indices) memcpy(s->indices + to * width, &places[i], width);
    }
}

/* Operands: output, indices, input, n, k of top_k, outer, inner, the direction, wide. */
ref_next ref_sort(ref_machine *m, const ref_lane *lane, const hg_inst *inst) {
    const hg_operand *o = hg_inst_operands(m->program, lane->pc);
    uint32_t k = inst->op == HG_OP_TOP_K;
    sorting s = {.type = (hg_type)inst->type, .wide = o[7 + k].value};
    s.down = k ? !o[6 + k].value : o[6 + k].value;
    if (!ref_read_count(m, lane, &o[3], &s.n) || !ref_read_count(m, lane, &o[3 + k], &s.kept) ||
        !ref_read_count(m, lane, &o[4 + k], &s.outer) ||
        !ref_read_count(m, lane, &o[5 + k], &s.inner))
        return NEXT_BROKEN;
    if (hg_operand_is_missing(&o[0]) && hg_operand_is_missing(&o[1]))
        return ref_fail(m, NULL, lane->pc, 1, "F05",
                        "output: left out, as indices are: one of them expected");
    if (s.kept > s.n)
        return ref_fail(m, NULL, lane->pc, 5, "F05", "k: %llu, at most n (%llu) expected",
                        (unsigned long long)s.kept, (unsigned long long)s.n);
    if (s.n > 4096 || s.outer > 4096 || s.inner > 4096)
        return ref_break(m, lane, lane->pc, "too many elements to sort by insertion");
    uint64_t rows = s.outer * s.inner, size = oracle_size(s.type);
    if (!hg_operand_is_missing(&o[0]) &&
        !(s.values = ref_resolve(m, lane, 0, rows * s.kept * size, true, false)))
        return m->broken.code[0] ? NEXT_BROKEN : NEXT_FAULT;
    if (!hg_operand_is_missing(&o[1]) &&
        !(s.indices = ref_resolve(m, lane, 1, rows * s.kept * (s.wide ? 8 : 4), true, false)))
        return m->broken.code[0] ? NEXT_BROKEN : NEXT_FAULT;
    if (!(s.in = ref_resolve(m, lane, 2, rows * s.n * size, true, false)))
        return m->broken.code[0] ? NEXT_BROKEN : NEXT_FAULT;
    long double *x = calloc(s.n + 1, sizeof *x + sizeof(uint64_t));
    if (!x) return ref_break(m, lane, lane->pc, "out of memory");
    for (uint64_t row = 0; row < rows; row++)
        sort_row(&s, row, x, (uint64_t *)(void *)(x + s.n + 1));
    free(x);
    return NEXT_FOLLOWING;
}
