/* Lanes over the axes of several arrays, and what texts of programs say of them: extents n0, n1
 * ..., of each operand its offset o0, o1 ... and strides s00, s01 ...; coordinates i0, i1 ...
 * Must not know: what lanes do. */
#ifndef HG_TENSOR_LANES_H
#define HG_TENSOR_LANES_H

#include "tensor/tensor.h"

enum { LANES_OPERANDS = 5 };

/* Where the elements of each operand are: the offset, which may be below 0 (modulo 2^64), and a
 * stride for each axis. */
typedef struct tensor_lanes {
    uint32_t rank, operands;
    uint64_t shape[HG_TENSOR_AXES];
    uint64_t offsets[LANES_OPERANDS];
    int64_t strides[LANES_OPERANDS][HG_TENSOR_AXES];
    uint32_t at[HG_TENSOR_AXES]; /* where an axis is after lanes_collapse; UINT32_MAX: nowhere, it
                                    has one element */
} tensor_lanes;

/* Axes of one element go, and those that lie behind each other for all operands become one; bit d
 * of `kept`: axis d stays by itself. One axis is left at least. */
void lanes_collapse(tensor_lanes *l, uint32_t kept);

const char *lanes_extent_name(uint32_t axis);
const char *lanes_array_name(uint32_t operand); /* x0, x1 ... */
const char *lanes_type_name(hg_element type);

/* The sum that is the place of operand k, of u64; false: it is 0, and nothing was written. */
bool lanes_add_place(hg_text *out, const tensor_lanes *l, uint32_t k);
/* "n0, 2 * n1": pairs: the last axis is twice as long. */
void lanes_add_extents(hg_text *out, const tensor_lanes *l, bool pairs);
/* ".lanes [i0 < n0, ...]" */
void lanes_add_head(hg_text *out, const tensor_lanes *l);
/* ".param n0 u64" ..., and of an operand's offset and strides. */
void lanes_add_extent_params(hg_text *out, const tensor_lanes *l);
void lanes_add_params(hg_text *out, const tensor_lanes *l, uint32_t k);

/* The same as arguments, behind *count others. */
void lanes_give_size(tensor_arg *args, uint32_t *count, const char *name, uint64_t value);
void lanes_give_extents(tensor_arg *args, uint32_t *count, const tensor_lanes *l);
void lanes_give(tensor_arg *args, uint32_t *count, const tensor_lanes *l, uint32_t k);

#endif
