/* conv, conv_transpose, max_pool, avg_pool as whole-arrays.md says them: for each element of the
 * output the places of its window, one after another, along three axes of which the first ones may
 * have one place. */
#include "ref_internal.h"
#include <math.h>
#include <string.h>

enum { AXES = 3 };

typedef struct window {
    int64_t size, window, stride, before, after, dilation, out;
} window;

typedef struct work {
    ref_machine *m;
    const ref_lane *lane;
    const hg_inst *inst;
    const hg_operand *o;
    hg_type type, sum;
    uint64_t size;
    window axis[AXES];
    bool broken;
} work;

static uint32_t named(const work *w, const char *name) {
    const hg_op_info *row = hg_op_get((hg_op)w->inst->op);
    uint32_t i = 0;
    while (strcmp(row->operands[i].name, name) != 0) i++;
    return i;
}

static int64_t count(work *w, const char *name) {
    uint64_t n = 0;
    if (!ref_read_count(w->m, w->lane, &w->o[named(w, name)], &n)) w->broken = true;
    return (int64_t)n;
}

static int64_t number(work *w, const char *name, uint32_t axis, int64_t missing) {
    const hg_operand *o = &w->o[named(w, name)];
    uint32_t lacking = (uint32_t)(AXES - w->o[named(w, "size")].item_count);
    if (axis < lacking || hg_operand_is_missing(o) || !o->item_count) return missing;
    hg_tuple_item item = hg_tuple(w->m->program, o)[axis - lacking];
    uint64_t value = item.value;
    if (item.is_reg && !ref_read_uint(w->m, w->lane, item.reg, &value)) w->broken = true;
    return (int64_t)value;
}

static work begin(ref_machine *m, const ref_lane *lane, const hg_inst *inst) {
    work w = {.m = m,
              .lane = lane,
              .inst = inst,
              .o = hg_inst_operands(m->program, lane->pc),
              .type = (hg_type)inst->type,
              .size = oracle_size((hg_type)inst->type)};
    w.sum = w.type == HG_TYPE_F64 ? HG_TYPE_F64 : HG_TYPE_F32;
    for (uint32_t i = 0; i < AXES; i++) {
        window *a = &w.axis[i];
        a->size = number(&w, "size", i, 1);
        a->window = number(&w, "window", i, 1);
        a->stride = number(&w, "stride", i, 1);
        a->before = number(&w, "padding", i, 0);
        a->after = number(&w, "padding_end", i, a->before);
        a->dilation = number(&w, "dilation", i, 1);
        int64_t rest = a->size + a->before + a->after - (a->window - 1) * a->dilation - 1;
        a->out = rest / a->stride + 1;
    }
    return w;
}

static uint8_t *array(work *w, const char *name, int64_t elements, uint64_t size) {
    if (w->broken) return NULL;
    return ref_resolve(w->m, w->lane, named(w, name), (uint64_t)elements * size, true, false);
}

static ref_next failed(const work *w) {
    return w->broken || w->m->broken.code[0] ? NEXT_BROKEN : NEXT_FAULT;
}

static int64_t product(const work *w, int64_t (*of)(const window *)) {
    return of(&w->axis[0]) * of(&w->axis[1]) * of(&w->axis[2]);
}
static int64_t sizes(const window *a) { return a->size; }
static int64_t places(const window *a) { return a->window; }
static int64_t outs(const window *a) { return a->out; }

/* Number i, in row order, as a place along each axis. */
static void unravel(const work *w, int64_t (*of)(const window *), int64_t i, int64_t at[AXES]) {
    for (uint32_t d = AXES; d-- > 0;) {
        at[d] = i % of(&w->axis[d]);
        i /= of(&w->axis[d]);
    }
}

/* Its number in a plane of the input; -1: outside. */
static int64_t input_at(const work *w, const int64_t at[AXES]) {
    int64_t i = 0;
    for (uint32_t d = 0; d < AXES; d++) {
        if (at[d] < 0 || at[d] >= w->axis[d].size) return -1;
        i = i * w->axis[d].size + at[d];
    }
    return i;
}

static double widened(const work *w, const uint8_t *element) {
    double value = 0;
    oracle_convert(HG_TYPE_F64, w->type, element, (uint8_t *)&value);
    return value;
}

/* ---- pools ---- */

static bool is_larger(const work *w, const uint8_t *x, const uint8_t *best) {
    const uint8_t *args[2] = {x, best};
    uint8_t result = 0;
    if (!best) return true;
    if (oracle_is_nan(w->type, best)) return false;
    if (oracle_is_nan(w->type, x)) return true;
    oracle_eval(HG_OP_SET, w->type, w->type, HG_COND_GT, args, &result);
    return result != 0;
}

typedef struct found {
    const uint8_t *best;
    int64_t place, number;
    double sum;
} found;

static found look(const work *w, const uint8_t *plane, const int64_t *out, bool counted) {
    found f = {.place = -1};
    for (int64_t k = 0; k < product(w, places); k++) {
        int64_t at[AXES], i;
        bool padded = true;
        unravel(w, places, k, at);
        for (uint32_t d = 0; d < AXES; d++) {
            const window *a = &w->axis[d];
            at[d] = out[d] * a->stride - a->before + at[d] * a->dilation;
            padded = padded && at[d] < a->size + a->after;
        }
        i = input_at(w, at);
        f.number += counted ? padded : i >= 0;
        if (i < 0) continue;
        const uint8_t *x = plane + (uint64_t)i * w->size;
        if (w->inst->op == HG_OP_AVG_POOL) {
            double sum = f.sum + widened(w, x);
            f.sum = w->sum == HG_TYPE_F64 ? sum : (double)(float)sum;
        } else if (is_larger(w, x, f.best)) {
            f.best = x;
            f.place = i;
        }
    }
    return f;
}

static void store_mean(const work *w, const found *f, uint8_t *y) {
    int64_t number = f->number ? f->number : 1;
    double mean = w->sum == HG_TYPE_F64 ? f->sum / (double)number
                                        : (double)((float)f->sum / (float)number);
    oracle_convert(w->type, HG_TYPE_F64, (const uint8_t *)&mean, y);
}

static void store_largest(const work *w, const found *f, uint8_t *y) {
    double least = -INFINITY;
    if (f->best)
        memcpy(y, f->best, w->size);
    else if (hg_type_is_float(w->type))
        oracle_convert(w->type, HG_TYPE_F64, (const uint8_t *)&least, y);
    else
        memset(y, 0, w->size);
}

ref_next ref_pool(ref_machine *m, const ref_lane *lane, const hg_inst *inst) {
    work w = begin(m, lane, inst);
    bool largest = inst->op == HG_OP_MAX_POOL;
    bool counted = !largest && w.o[named(&w, "counted")].value;
    int64_t planes = count(&w, "planes");
    for (uint32_t d = 0; d < AXES; d++) w.axis[d].out = number(&w, "out", d, w.axis[d].out);
    int64_t in = product(&w, sizes), made = product(&w, outs);
    uint8_t *y = array(&w, "output", planes * made, w.size), *where = NULL;
    const uint8_t *x = y ? array(&w, "input", planes * in, w.size) : NULL;
    if (!x) return failed(&w);
    if (largest && !hg_operand_is_missing(&w.o[named(&w, "places")])) {
        where = array(&w, "places", planes * made, 8);
        if (!where) return failed(&w);
    }
    for (int64_t i = 0; i < planes * made; i++, y += w.size) {
        int64_t out[AXES];
        unravel(&w, outs, i % made, out);
        found f = look(&w, x + (uint64_t)(i / made * in) * w.size, out, counted);
        if (largest)
            store_largest(&w, &f, y);
        else
            store_mean(&w, &f, y);
        if (where) memcpy(where + 8 * i, &f.place, 8);
    }
    return NEXT_FOLLOWING;
}

/* ---- convolutions ---- */

typedef struct convolution {
    int64_t batch, in, out, groups;
    const uint8_t *input, *kernel, *bias;
} convolution;

static double fused(const work *w, double x, double y, double z) {
    return w->sum == HG_TYPE_F64 ? fma(x, y, z) : (double)fmaf((float)x, (float)y, (float)z);
}

/* Where place k of the kernel meets the input; false: at no element, whatever the input's size. */
static bool meets(const work *w, const int64_t *out, const int64_t *k, int64_t at[AXES]) {
    for (uint32_t d = 0; d < AXES; d++) {
        const window *a = &w->axis[d];
        if (w->inst->op == HG_OP_CONV) {
            at[d] = out[d] * a->stride - a->before + k[d] * a->dilation;
            continue;
        }
        int64_t place = out[d] + a->before - k[d] * a->dilation;
        if (place % a->stride) return false;
        at[d] = place / a->stride;
    }
    return true;
}

static double chain(const work *w, const convolution *c, int64_t image, int64_t channel,
                    const int64_t *out) {
    bool transposed = w->inst->op == HG_OP_CONV_TRANSPOSE;
    int64_t taps = product(w, places), in_group = c->in / c->groups, out_group = c->out / c->groups,
            group = channel / out_group;
    double sum = 0;
    for (int64_t i = 0; i < in_group; i++) {
        int64_t from = group * in_group + i;
        int64_t row = transposed ? from * out_group + channel % out_group : channel * in_group + i;
        for (int64_t t = 0; t < taps; t++) {
            int64_t k[AXES], at[AXES], tap = transposed ? taps - 1 - t : t, place;
            unravel(w, places, tap, k);
            if (!meets(w, out, k, at)) continue;
            place = input_at(w, at);
            double v = place < 0 ? 0
                                 : widened(w, c->input + (uint64_t)((image * c->in + from) *
                                                                        product(w, sizes) +
                                                                    place) *
                                                             w->size);
            sum = fused(w, widened(w, c->kernel + (uint64_t)(row * taps + tap) * w->size), v, sum);
        }
    }
    return sum;
}

static oracle_outcome finish(const work *w, const convolution *c, double sum, int64_t channel,
                             uint8_t *result) {
    uint8_t value[8], activated[8];
    const uint8_t *args[1] = {value};
    if (c->bias) {
        double addend = widened(w, c->bias + (uint64_t)channel * w->size);
        sum = w->sum == HG_TYPE_F64 ? sum + addend : (double)((float)sum + (float)addend);
    }
    oracle_convert(w->sum, HG_TYPE_F64, (const uint8_t *)&sum, value);
    oracle_outcome outcome = oracle_opname((hg_opname)w->o[named(w, "activation")].value, w->sum,
                                           args, activated);
    oracle_convert(w->type, w->sum, activated, result);
    return outcome;
}

ref_next ref_conv(ref_machine *m, const ref_lane *lane, const hg_inst *inst) {
    work w = begin(m, lane, inst);
    convolution c = {.batch = count(&w, "batch"),
                     .in = count(&w, "in_channels"),
                     .out = count(&w, "out_channels"),
                     .groups = count(&w, "groups")};
    for (uint32_t d = 0; d < AXES && inst->op == HG_OP_CONV_TRANSPOSE; d++) {
        window *a = &w.axis[d];
        a->out = (a->size - 1) * a->stride + (a->window - 1) * a->dilation + 1 - a->before -
                 a->after;
        a->out = number(&w, "out", d, a->out);
    }
    int64_t made = product(&w, outs), pairs = c.groups ? c.in * c.out / c.groups : 0;
    uint8_t *y = array(&w, "output", c.batch * c.out * made, w.size);
    if (y) c.input = array(&w, "input", c.batch * c.in * product(&w, sizes), w.size);
    if (c.input) c.kernel = array(&w, "kernel", pairs * product(&w, places), w.size);
    if (!c.kernel) return failed(&w);
    if (!hg_operand_is_missing(&w.o[named(&w, "bias")])) {
        c.bias = array(&w, "bias", c.out, w.size);
        if (!c.bias) return failed(&w);
    }
    for (int64_t i = 0; i < c.batch * c.out * made; i++, y += w.size) {
        int64_t out[AXES], channel = i / made % c.out;
        unravel(&w, outs, i % made, out);
        if (finish(&w, &c, chain(&w, &c, i / made / c.out, channel, out), channel, y) != ORACLE_OK)
            return ref_break(m, lane, lane->pc, "no oracle for this activation");
    }
    return NEXT_FOLLOWING;
}
