/* tensor_contract: every element of the output by its indices, one fma chain over the pairs of axes
 * in the order of contract_dims, the last pair fastest; halves in f32, rounded once at the end. */
#include "ref_internal.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { OUTPUT, A, B, SHAPE_A, SHAPE_B, DIMS, MOST = 8 };

typedef struct tensor {
    uint32_t rank;
    uint64_t extent[MOST], stride[MOST], count;
    bool paired[MOST];
} tensor;

typedef struct contraction {
    ref_machine *m;
    const ref_lane *lane;
    hg_type type;
    uint64_t size;
    tensor t[2];
    uint32_t pairs, axes[MOST][2];
    const uint8_t *at[2];
} contraction;

static bool read_shape(contraction *c, uint32_t which) {
    const hg_operand *o = &hg_inst_operands(c->m->program, c->lane->pc)[SHAPE_A + which];
    const hg_tuple_item *items = hg_tuple(c->m->program, o);
    tensor *t = &c->t[which];
    t->rank = (uint32_t)o->item_count;
    t->count = 1;
    for (uint32_t i = 0; i < t->rank && i < MOST; i++) {
        t->extent[i] = items[i].value;
        if (items[i].is_reg && !ref_read_uint(c->m, c->lane, (uint8_t)items[i].reg, &t->extent[i]))
            return false;
    }
    for (uint32_t i = t->rank < MOST ? t->rank : MOST; i-- > 0; t->count *= t->extent[i])
        t->stride[i] = t->count;
    return true;
}

static bool read_pairs(contraction *c) {
    const hg_operand *o = &hg_inst_operands(c->m->program, c->lane->pc)[DIMS];
    const hg_tuple_item *items = hg_tuple(c->m->program, o);
    c->pairs = (uint32_t)o->item_count;
    for (uint32_t i = 0; i < c->pairs && i < MOST; i++) {
        const hg_tuple_item *pair = hg_tuple_inside(c->m->program, &items[i]);
        for (uint32_t k = 0; k < 2; k++) {
            uint64_t axis = pair[k].value;
            if (pair[k].is_reg && !ref_read_uint(c->m, c->lane, (uint8_t)pair[k].reg, &axis))
                return false;
            c->axes[i][k] = (uint32_t)axis;
            c->t[k].paired[axis] = true;
        }
    }
    return true;
}

/* Index number n of the free axes as the offset of an element; *n is divided by their extents. */
static uint64_t free_offset(const tensor *t, uint64_t *n) {
    uint64_t offset = 0;
    for (uint32_t i = t->rank; i-- > 0;) {
        if (t->paired[i]) continue;
        offset += *n % t->extent[i] * t->stride[i];
        *n /= t->extent[i];
    }
    return offset;
}

static double real(const contraction *c, uint32_t which, uint64_t i) {
    double value;
    oracle_convert(HG_TYPE_F64, c->type, c->at[which] + i * c->size, (uint8_t *)&value);
    return value;
}

static void element(const contraction *c, uint64_t index, uint64_t inner, uint8_t *to) {
    uint64_t b = free_offset(&c->t[1], &index), a = free_offset(&c->t[0], &index);
    double wide = 0;
    float sum = 0;
    for (uint64_t l = 0; l < inner; l++) {
        uint64_t rest = l, x = a, y = b;
        for (uint32_t i = c->pairs; i-- > 0;) {
            uint64_t extent = c->t[0].extent[c->axes[i][0]], place = rest % extent;
            x += place * c->t[0].stride[c->axes[i][0]];
            y += place * c->t[1].stride[c->axes[i][1]];
            rest /= extent;
        }
        wide = fma(real(c, 0, x), real(c, 1, y), wide);
        sum = fmaf((float)real(c, 0, x), (float)real(c, 1, y), sum);
    }
    if (c->type == HG_TYPE_F64)
        memcpy(to, &wide, sizeof wide);
    else
        oracle_convert(c->type, HG_TYPE_F32, (const uint8_t *)&sum, to);
}

/* Programs whose shapes do not fit are for tests of the library alone. */
ref_next ref_tensor_contract(ref_machine *m, const ref_lane *lane, const hg_inst *inst) {
    contraction c = {.m = m,
                     .lane = lane,
                     .type = (hg_type)inst->type,
                     .size = oracle_size((hg_type)inst->type)};
    uint64_t inner = 1, count = 1;
    if (!read_shape(&c, 0) || !read_shape(&c, 1) || !read_pairs(&c)) return NEXT_BROKEN;
    for (uint32_t i = 0; i < c.pairs; i++) inner *= c.t[0].extent[c.axes[i][0]];
    for (uint32_t w = 0; w < 2; w++)
        for (uint32_t i = 0; i < c.t[w].rank; i++)
            if (!c.t[w].paired[i]) count *= c.t[w].extent[i];
    uint8_t *output = ref_resolve(m, lane, OUTPUT, count * c.size, true, false);
    for (uint32_t w = 0; w < 2 && output; w++)
        if (!(c.at[w] = ref_resolve(m, lane, A + w, c.t[w].count * c.size, true, false)))
            output = NULL;
    if (!output) return m->broken.code[0] ? NEXT_BROKEN : NEXT_FAULT;
    for (uint64_t i = 0; i < count; i++) element(&c, i, inner, output + i * c.size);
    return NEXT_FOLLOWING;
}
