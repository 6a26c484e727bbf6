/* conv2d against the reference: each shape in every type, to the bit. */
#include "cts.h"
#include <stdlib.h>
#include <string.h>

typedef struct shape {
    uint32_t batch, in, out, groups;
    uint32_t sizes[2], kernel[2], stride[2], before[2], after[2], dilation[2];
    bool bias;
    const char *activation;
} shape;

/* clang-format off */
static const shape SHAPES[] = {
    {1, 3, 8, 1, {9, 11}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, false, "identity"},
    {2, 5, 7, 1, {9, 11}, {3, 2}, {2, 3}, {1, 0}, {2, 1}, {1, 2}, true,  "relu"},
    {1, 9, 10, 1, {6, 7}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, {1, 1}, true,  "identity"},  /* the input as it lies, or not: 42 positions */
    {5, 4, 9, 1, {3, 3}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, {1, 1}, false, "identity"},   /* positions over all images */
    {3, 2, 3, 1, {4, 4}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, false, "relu"},
    {2, 6, 6, 6, {5, 8}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, true,  "identity"},   /* one channel a group */
    {2, 6, 4, 2, {5, 8}, {2, 3}, {2, 2}, {0, 2}, {1, 2}, {1, 1}, false, "identity"},
    {1, 2, 3, 1, {5, 4}, {3, 3}, {1, 1}, {17, 18}, {17, 18}, {1, 1}, false, "identity"},
    {1, 1, 1, 1, {1, 50}, {1, 5}, {1, 1}, {0, 0}, {0, 3}, {1, 4}, false, "identity"},
    {1, 1, 2, 1, {50, 1}, {5, 1}, {3, 1}, {0, 0}, {3, 0}, {4, 1}, true,  "identity"},
    {1, 4, 3, 1, {5, 5}, {1, 1}, {2, 2}, {0, 0}, {0, 0}, {1, 1}, false, "identity"},
    {1, 0, 3, 1, {2, 5}, {1, 2}, {1, 1}, {0, 0}, {0, 0}, {1, 1}, true,  "relu"},       /* sums of nothing */
    {2, 3, 2, 1, {0, 5}, {3, 1}, {1, 1}, {2, 0}, {1, 0}, {1, 1}, false, "identity"},   /* nothing but padding */
    {0, 3, 2, 1, {4, 5}, {3, 1}, {1, 1}, {0, 0}, {0, 0}, {1, 1}, false, "identity"},
};
/* clang-format on */

static void fill(cts *s, hg_type type, case_array *a, uint64_t count, uint32_t special) {
    uint32_t size = oracle_size(type);
    for (uint64_t i = 0; a && i < count; i++) {
        double value = (double)((int64_t)(cts_random(s) % 2001) - 1000) / 64;
        if (special && cts_random(s) % special == 0)
            cts_any(s, type, a->bytes + i * size);
        else
            oracle_convert(type, HG_TYPE_F64, (const uint8_t *)&value, a->bytes + i * size);
    }
}

static void convolve(cts *s, const shape *p, hg_type type, uint32_t special) {
    const char *t = hg_type_name(type);
    uint64_t size = oracle_size(type), outputs[2], label_at = (uint64_t)(p - SHAPES);
    for (uint32_t i = 0; i < 2; i++)
        outputs[i] = (p->sizes[i] + p->before[i] + p->after[i] -
                      (p->kernel[i] - 1) * p->dilation[i] - 1) /
                         p->stride[i] +
                     1;
    run_case c = {.cleared_class = 96};
    cts_text(&c,
             ".atlas 1\n.program cts\n.param y buffer %s out\n.param x buffer %s in\n.param w "
             "buffer %s in\n.param b buffer %s in\n"
             "    conv2d.%s output=y, input=x, kernel=w, batch=%u, in_channels=%u, "
             "out_channels=%u, groups=%u, height=%u, width=%u, "
             "kernel_h=%u, "
             "kernel_w=%u, stride=(%u, %u), padding=(%u, %u), padding_end=(%u, %u), dilation=(%u, "
             "%u), activation=%s%s\n",
             t, t, t, t, t, p->batch, p->in, p->out, p->groups, p->sizes[0], p->sizes[1],
             p->kernel[0], p->kernel[1], p->stride[0], p->stride[1], p->before[0], p->before[1],
             p->after[0], p->after[1], p->dilation[0], p->dilation[1], p->activation,
             p->bias ? ", bias=b" : "");
    uint64_t inputs = (uint64_t)p->batch * p->in * p->sizes[0] * p->sizes[1],
             weights = (uint64_t)p->out * (p->in / p->groups) * p->kernel[0] * p->kernel[1];
    case_add_array(&c, "y", type, NULL, p->batch * p->out * outputs[0] * outputs[1] * size + size);
    fill(s, type, case_add_array(&c, "x", type, NULL, inputs * size + size), inputs, special);
    fill(s, type, case_add_array(&c, "w", type, NULL, weights * size + size), weights, special);
    fill(s, type, case_add_array(&c, "b", type, NULL, p->out * size), p->out, 0);
    case_set_lanes(&c, 2);
    char label[64];
    snprintf(label, sizeof label, "conv2d.%s shape %u%s", t, (unsigned)label_at,
             special ? ", infinities" : "");
    cts_compare(s, label, &c);
}

void cts_conv2d(cts *s) {
    static const hg_type TYPES[] = {HG_TYPE_F32, HG_TYPE_F64, HG_TYPE_F16, HG_TYPE_BF16};
    for (uint32_t t = 0; t < HG_COUNT_OF(TYPES); t++) {
        if (!cts_wanted(s, "conv2d", TYPES[t])) continue;
        for (uint32_t i = 0; i < HG_COUNT_OF(SHAPES); i++) convolve(s, &SHAPES[i], TYPES[t], 0);
        for (uint32_t i = 0; i < 3; i++) convolve(s, &SHAPES[i], TYPES[t], 40);
    }
}
