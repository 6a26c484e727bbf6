/* gather, scatter, scatter_add, segment_reduce, arg_max, arg_min: the indices first, in their
 * order; then each element by its coordinates. */
#include "ref_internal.h"
#include <stdlib.h>
#include <string.h>

/* The number of the operand with that name. */
static uint32_t named(const hg_inst *inst, const char *name) {
    const hg_op_info *row = hg_op_get((hg_op)inst->op);
    uint32_t i = 0;
    while (strcmp(row->operands[i].name, name) != 0) i++;
    return i;
}

typedef struct work {
    ref_machine *m;
    const ref_lane *lane;
    const hg_inst *inst;
    const hg_operand *o;
    hg_type type;
    uint64_t size;
    bool broken;
} work;

static work begin(ref_machine *m, const ref_lane *lane, const hg_inst *inst) {
    return (work){.m = m,
                  .lane = lane,
                  .inst = inst,
                  .o = hg_inst_operands(m->program, lane->pc),
                  .type = (hg_type)inst->type,
                  .size = oracle_size((hg_type)inst->type)};
}

static uint64_t count(work *w, const char *name) {
    uint64_t n = 0;
    if (!ref_read_count(w->m, w->lane, &w->o[named(w->inst, name)], &n)) w->broken = true;
    return n;
}

static uint8_t *array(work *w, const char *name, uint64_t bytes) {
    if (w->broken) return NULL;
    return ref_resolve(w->m, w->lane, named(w->inst, name), bytes, true, false);
}

static ref_next failed(const work *w) {
    return w->broken || w->m->broken.code[0] ? NEXT_BROKEN : NEXT_FAULT;
}

static bool is_wide(const work *w) { return w->o[named(w->inst, "wide")].value != 0; }

static int64_t index_at(const work *w, const uint8_t *indices, uint64_t i) {
    uint32_t narrow;
    int64_t wide;
    if (is_wide(w)) return memcpy(&wide, indices + 8 * i, 8), wide;
    return memcpy(&narrow, indices + 4 * i, 4), (int64_t)narrow;
}

static bool refuse(const work *w, const char *name, const char *text, uint64_t x, int64_t y) {
    char format[160] = "";
    strcat(format, text);
    ref_fail(w->m, NULL, w->lane->pc, named(w->inst, name) + 1, "F05", format,
             (unsigned long long)x, (long long)y);
    return false;
}

static bool check_indices(const work *w, const uint8_t *indices, uint64_t number, uint64_t n) {
    for (uint64_t i = 0; i < number; i++) {
        int64_t index = index_at(w, indices, i);
        if (index < 0 ? (uint64_t) - (index + 1) >= n : (uint64_t)index >= n)
            return refuse(w, "indices", "indices: element %llu is %lld, below n expected", i,
                          index);
    }
    return true;
}

static uint64_t place(const work *w, const uint8_t *indices, uint64_t i, uint64_t n) {
    int64_t index = index_at(w, indices, i);
    return index < 0 ? n - (uint64_t)-index : (uint64_t)index;
}

/* ---- gather, scatter, scatter_add ---- */

static hg_type sum_type(hg_type type) {
    return type == HG_TYPE_F16 || type == HG_TYPE_BF16 ? HG_TYPE_F32 : type;
}

/* sums += element, both of them bytes. */
static void add(hg_type type, uint8_t *sum, const uint8_t *element) {
    uint8_t result[ORACLE_MAX_BYTES];
    const uint8_t *args[3] = {sum, element, element};
    oracle_eval(HG_OP_ADD, type, type, 0, args, result);
    memcpy(sum, result, oracle_size(type));
}

/* All of the output in the type of sums, what is added to it, and back. */
static bool add_all(const work *w, uint8_t *out, const uint8_t *in, const uint8_t *indices,
                    uint64_t outer, uint64_t n, uint64_t number, uint64_t inner) {
    hg_type sum = sum_type(w->type);
    uint64_t wide = oracle_size(sum), all = outer * n * inner;
    uint8_t *sums = malloc(all * wide + 1), element[ORACLE_MAX_BYTES];
    if (!sums) return false;
    for (uint64_t i = 0; i < all; i++)
        oracle_convert(sum, w->type, out + i * w->size, sums + i * wide);
    for (uint64_t i = 0; i < outer * number * inner; i++) {
        uint64_t at = place(w, indices, i / inner % number, n);
        at = (i / inner / number * n + at) * inner + i % inner;
        oracle_convert(sum, w->type, in + i * w->size, element);
        add(sum, sums + at * wide, element);
    }
    for (uint64_t i = 0; number && i < all; i++)
        oracle_convert(w->type, sum, sums + i * wide, out + i * w->size);
    free(sums);
    return true;
}

ref_next ref_gather(ref_machine *m, const ref_lane *lane, const hg_inst *inst) {
    work w = begin(m, lane, inst);
    bool gathers = inst->op == HG_OP_GATHER, done = true;
    uint64_t outer = count(&w, "outer"), n = count(&w, "n"), inner = count(&w, "inner"),
             number = count(&w, "count"), whole = outer * n * inner * w.size,
             part = outer * number * inner * w.size;
    uint8_t *out = array(&w, "output", gathers ? part : whole);
    const uint8_t *in = out ? array(&w, "input", gathers ? whole : part) : NULL;
    const uint8_t *indices = in ? array(&w, "indices", number * (is_wide(&w) ? 8 : 4)) : NULL;
    if (!indices) return failed(&w);
    if (!check_indices(&w, indices, number, n)) return NEXT_FAULT;
    if (inst->op == HG_OP_SCATTER_ADD)
        done = add_all(&w, out, in, indices, outer, n, number, inner);
    else
        for (uint64_t i = 0; i < outer * number * inner; i++) {
            uint64_t at = place(&w, indices, i / inner % number, n);
            at = (i / inner / number * n + at) * inner + i % inner;
            if (gathers)
                memcpy(out + i * w.size, in + at * w.size, w.size);
            else
                memcpy(out + at * w.size, in + i * w.size, w.size);
        }
    return done ? NEXT_FOLLOWING : ref_break(m, lane, lane->pc, "out of memory");
}

/* ---- segment_reduce ---- */

static bool check_offsets(const work *w, const uint8_t *offsets, uint64_t segments, uint64_t n) {
    for (uint64_t s = 0; s < segments; s++) {
        uint64_t start = (uint64_t)index_at(w, offsets, s),
                 end = (uint64_t)index_at(w, offsets, s + 1);
        if (end < start)
            return refuse(w, "offsets", "offsets: segment %llu ends at %lld, before it begins", s,
                          (int64_t)end);
        if (end > n)
            return refuse(w, "offsets", "offsets: segment %llu ends at %lld, at most n expected", s,
                          (int64_t)end);
    }
    return true;
}

ref_next ref_segment_reduce(ref_machine *m, const ref_lane *lane, const hg_inst *inst) {
    work w = begin(m, lane, inst);
    uint64_t segments = count(&w, "segments"), n = count(&w, "n"), inner = count(&w, "inner");
    uint8_t *out = array(&w, "output", segments * inner * w.size);
    const uint8_t *in = out ? array(&w, "input", n * inner * w.size) : NULL;
    const uint8_t *offsets = in ? array(&w, "offsets", (segments + 1) * (is_wide(&w) ? 8 : 4))
                                : NULL;
    if (!offsets) return failed(&w);
    if (!check_offsets(&w, offsets, segments, n)) return NEXT_FAULT;
    uint8_t *line = malloc(n * w.size + 1);
    if (!line) return ref_break(m, lane, lane->pc, "out of memory");
    for (uint64_t i = 0; i < segments * inner; i++) {
        uint64_t start = (uint64_t)index_at(&w, offsets, i / inner),
                 end = (uint64_t)index_at(&w, offsets, i / inner + 1);
        for (uint64_t k = start; k < end; k++)
            memcpy(line + (k - start) * w.size, in + (k * inner + i % inner) * w.size, w.size);
        oracle_reduce((hg_opname)w.o[named(inst, "operation")].value, w.type, line, end - start,
                      out + i * w.size);
    }
    free(line);
    return NEXT_FOLLOWING;
}

/* ---- arg_max, arg_min ---- */

static bool holds(hg_condition condition, hg_type type, const uint8_t *x, const uint8_t *y) {
    uint8_t result = 0;
    const uint8_t *args[2] = {x, y};
    oracle_eval(HG_OP_SET, type, type, (int)condition, args, &result);
    return result != 0;
}

ref_next ref_arg(ref_machine *m, const ref_lane *lane, const hg_inst *inst) {
    work w = begin(m, lane, inst);
    uint64_t outer = count(&w, "outer"), n = count(&w, "n"), inner = count(&w, "inner");
    if (n == 0 && outer && inner) {
        ref_fail(m, NULL, lane->pc, named(inst, "n") + 1, "F05",
                 "n: 0, at least 1 expected: no element is the largest of none");
        return NEXT_FAULT;
    }
    uint8_t *out = array(&w, "output", outer * inner * 8);
    const uint8_t *in = out ? array(&w, "input", outer * n * inner * w.size) : NULL;
    if (!in) return failed(&w);
    for (uint64_t l = 0; l < outer * inner; l++) {
        const uint8_t *line = in + (l / inner * n * inner + l % inner) * w.size, *best = line;
        int64_t at = 0;
        for (uint64_t i = 1; i < n && !oracle_is_nan(w.type, best); i++) {
            const uint8_t *x = line + i * inner * w.size;
            if (!oracle_is_nan(w.type, x) &&
                !holds(inst->op == HG_OP_ARG_MAX ? HG_COND_GT : HG_COND_LT, w.type, x, best))
                continue;
            best = x;
            at = (int64_t)i;
        }
        memcpy(out + 8 * l, &at, 8);
    }
    return NEXT_FOLLOWING;
}
