/* Convolutions of images as launches of conv2d.atlas, for collectives that are made of them.
 * Must not know: instructions. */
#ifndef HG_PLAN_CONV2D_H
#define HG_PLAN_CONV2D_H

#include "plan/steps/windows.h"

/* output [batch, out_channels, rows.out, columns.out] = fn(input correlated with kernel + bias). */
typedef struct plan_convolution {
    uint64_t batch, in_channels, out_channels, groups;
    /* before: of rows and columns that the input has but that no window reaches, a negative number
     * in two's complement; `out` decides, `after` may be 0. */
    plan_window rows, columns;
    plan_part input, kernel, bias, output;
    bool has_bias;
    bool fuses;   /* maps in front of the input and behind the output are done here */
    uint8_t type; /* hg_type of the elements */
    uint16_t fn;  /* a map of one argument; HG_OP_MOV: none */
} plan_convolution;
/* Refuses what the texts cannot count: operands `padding` and `batch` are named. */
void plan_check_conv2d(const plan_call *call, plan_problem *problem, plan_convolution c,
                       uint32_t padding, uint32_t batch);
/* Each element is one chain of fma from 0 over input channels, in each over rows and columns of the
 * kernel; batch and out_channels may be 0. */
void plan_expand_conv2d(plan_expansion *x, plan_convolution c);

#endif
