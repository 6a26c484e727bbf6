/* Rows: a tensor as outer * inner rows of n elements, which are folded.
 * Must not know: operations. */
#ifndef HG_TENSOR_ROWS_H
#define HG_TENSOR_ROWS_H

#include "tensor/tensor.h"

/* Some axes of a tensor as one: element k of row (o, i) stands at the offset + o * strides[0] +
 * k * strides[1] + i * strides[2] of x. */
typedef struct tensor_rows {
    hg_tensor *x; /* the tensor, or a copy of it in another order; retained */
    uint64_t outer, n, inner;
    int64_t strides[3];
    uint32_t rank; /* of a result, of one element a row */
    uint64_t shape[HG_TENSOR_AXES];
} tensor_rows;
/* Rows along the axes whose bits are set; elements of a row are in C order. keepdims: these axes
 * stay in the result, with an extent of 1. */
hg_status tensor_rows_of(tensor_run *run, const hg_tensor *x, uint32_t axes, bool keepdims,
                         tensor_rows *rows) HG_NODISCARD;
void tensor_rows_end(tensor_rows *rows);

/* What becomes of a row: its elements are folded by the fixed tree of parallel_reduce. Expressions
 * are Atlas; they live as long as the library. */
typedef struct tensor_fold {
    const char *name;           /* of the operation */
    const char *load;           /* of an element a, as an A: the type that is folded */
    const char *fold;           /* of two, a and b */
    const char *nothing;        /* what changes none that it is folded with; NULL: one of its own */
    hg_element computes, gives; /* A; the result's type */
    const char *word;           /* of reduce_axis, that means load and fold where types are equal */
} tensor_fold;
/* One element a row, in the rows' shape. There is a row, and rows have elements. */
hg_status tensor_rows_fold(tensor_run *run, const tensor_fold *fold, const tensor_rows *rows,
                           hg_tensor **result) HG_NODISCARD;
/* The same by an instruction of lines, whose result is of type `gives`. operation: its operand of
 * that name; NULL: it has none. */
hg_status tensor_rows_call(tensor_run *run, const tensor_work *work, const char *operation,
                           const tensor_rows *rows, hg_element gives,
                           hg_tensor **result) HG_NODISCARD;

#endif
