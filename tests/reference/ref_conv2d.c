/* conv2d as the specification says it: for each output a sum over input channels, rows and columns
 * of the kernel, over the padded input. */
#include "ref_internal.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    OUTPUT,
    INPUT,
    KERNEL,
    BATCH,
    IN_CHANNELS,
    OUT_CHANNELS,
    HEIGHT,
    KERNEL_H = HEIGHT + 2,
    STRIDE = KERNEL_H + 2,
    PADDING,
    DILATION,
    GROUPS,
    PADDING_END,
    BIAS,
    ACTIVATION
};

typedef struct job {
    ref_machine *m;
    const ref_lane *lane;
    const hg_operand *o;
    hg_type type, sum;
    uint64_t batch, in, out, groups, sizes[2], kernel[2], outputs[2], stride[2], before[2],
        after[2], dilation[2];
    const uint8_t *input, *weights, *bias;
} job;

static bool read_pair(job *j, uint32_t operand, uint64_t *pair) {
    const hg_tuple_item *items = hg_tuple(j->m->program, &j->o[operand]);
    for (uint32_t i = 0; i < 2 && i < j->o[operand].item_count; i++) {
        pair[i] = items[i].value;
        if (items[i].is_reg && !ref_read_uint(j->m, j->lane, items[i].reg, &pair[i])) return false;
    }
    return true;
}

static bool read_numbers(job *j) {
    uint64_t *const counts[] = {&j->batch,    &j->in,        &j->out,      &j->sizes[0],
                                &j->sizes[1], &j->kernel[0], &j->kernel[1]};
    for (uint32_t i = 0; i < HG_COUNT_OF(counts); i++)
        if (!ref_read_count(j->m, j->lane, &j->o[BATCH + i], counts[i])) return false;
    if (!ref_read_count(j->m, j->lane, &j->o[GROUPS], &j->groups)) return false;
    if (!read_pair(j, STRIDE, j->stride) || !read_pair(j, PADDING, j->before) ||
        !read_pair(j, DILATION, j->dilation))
        return false;
    memcpy(j->after, j->before, sizeof j->after);
    return read_pair(j, PADDING_END, j->after);
}

/* The widened element; zero outside of the image. */
static double input_at(const job *j, uint64_t plane, uint64_t row, uint64_t column) {
    double value = 0;
    if (row < j->before[0] || column < j->before[1]) return 0;
    row -= j->before[0];
    column -= j->before[1];
    if (row >= j->sizes[0] || column >= j->sizes[1]) return 0;
    oracle_convert(HG_TYPE_F64, j->type,
                   j->input +
                       ((plane * j->sizes[0] + row) * j->sizes[1] + column) * oracle_size(j->type),
                   (uint8_t *)&value);
    return value;
}

static double fused(const job *j, double x, double y, double z) {
    return j->sum == HG_TYPE_F64 ? fma(x, y, z) : (double)fmaf((float)x, (float)y, (float)z);
}

static double chain(const job *j, uint64_t image, uint64_t channel, uint64_t row, uint64_t column) {
    uint64_t in_group = j->in / j->groups, group = channel / (j->out / j->groups),
             size = oracle_size(j->type);
    const uint8_t *weight = j->weights + channel * in_group * j->kernel[0] * j->kernel[1] * size;
    double sum = 0, w = 0;
    for (uint64_t c = 0; c < in_group; c++)
        for (uint64_t y = 0; y < j->kernel[0]; y++)
            for (uint64_t x = 0; x < j->kernel[1]; x++, weight += size) {
                oracle_convert(HG_TYPE_F64, j->type, weight, (uint8_t *)&w);
                double v = input_at(j, image * j->in + group * in_group + c,
                                    row * j->stride[0] + y * j->dilation[0],
                                    column * j->stride[1] + x * j->dilation[1]);
                sum = fused(j, w, v, sum);
            }
    return sum;
}

static oracle_outcome finish(const job *j, double sum, uint64_t channel, uint8_t *result) {
    uint8_t value[8], activated[8];
    const uint8_t *args[1] = {value};
    double addend = 0;
    if (j->bias) {
        oracle_convert(HG_TYPE_F64, j->type, j->bias + channel * oracle_size(j->type),
                       (uint8_t *)&addend);
        sum = j->sum == HG_TYPE_F64 ? sum + addend : (double)((float)sum + (float)addend);
    }
    oracle_convert(j->sum, HG_TYPE_F64, (const uint8_t *)&sum, value);
    oracle_outcome outcome = oracle_opname((hg_opname)j->o[ACTIVATION].value, j->sum, args,
                                           activated);
    oracle_convert(j->type, j->sum, activated, result);
    return outcome;
}

static ref_next run(const job *j, uint8_t *output) {
    for (uint64_t image = 0; image < j->batch; image++)
        for (uint64_t channel = 0; channel < j->out; channel++)
            for (uint64_t y = 0; y < j->outputs[0]; y++)
                for (uint64_t x = 0; x < j->outputs[1]; x++, output += oracle_size(j->type))
                    if (finish(j, chain(j, image, channel, y, x), channel, output) != ORACLE_OK)
                        return ref_break(j->m, j->lane, j->lane->pc,
                                         "no oracle for this activation");
    return NEXT_FOLLOWING;
}

/* Shapes that are refused are none of the programs' that come here. */
ref_next ref_conv2d(ref_machine *m, const ref_lane *lane, const hg_inst *inst) {
    job j = {.m = m,
             .lane = lane,
             .o = hg_inst_operands(m->program, lane->pc),
             .type = (hg_type)inst->type};
    j.sum = j.type == HG_TYPE_F64 ? HG_TYPE_F64 : HG_TYPE_F32;
    if (!read_numbers(&j)) return NEXT_BROKEN;
    for (uint32_t i = 0; i < 2; i++) {
        uint64_t whole = j.sizes[i] + j.before[i] + j.after[i],
                 covered = (j.kernel[i] - 1) * j.dilation[i] + 1;
        if (j.kernel[i] == 0 || j.stride[i] == 0 || covered > whole || j.groups == 0)
            return ref_break(m, lane, lane->pc, "a shape that is refused");
        j.outputs[i] = (whole - covered) / j.stride[i] + 1;
    }
    uint64_t size = oracle_size(j.type), taps = j.kernel[0] * j.kernel[1];
    uint8_t *output = ref_resolve(
        m, lane, OUTPUT, j.batch * j.out * j.outputs[0] * j.outputs[1] * size, true, false);
    j.input = ref_resolve(m, lane, INPUT, j.batch * j.in * j.sizes[0] * j.sizes[1] * size, true,
                          false);
    j.weights = ref_resolve(m, lane, KERNEL, j.out * (j.in / j.groups) * taps * size, true, false);
    if (!hg_operand_is_missing(&j.o[BIAS]))
        j.bias = ref_resolve(m, lane, BIAS, j.out * size, true, false);
    bool found = output && j.input && j.weights && (j.bias || hg_operand_is_missing(&j.o[BIAS]));
    return found ? run(&j, output) : m->broken.code[0] ? NEXT_BROKEN : NEXT_FAULT;
}
