/* Programs that move elements: one lane for each element of the result, or each row of it, whose
 * statements say which elements of the operands it reads.
 * Must not know: operations. */
#ifndef HG_TENSOR_PLACES_H
#define HG_TENSOR_PLACES_H

#include "tensor/tensor.h"

enum { PLACES_OPERANDS = 4, PLACES_NUMBERS = 3 * HG_TENSOR_AXES }; /* pad has three an axis */

/* Where an operand's elements are: the first, plus a stride for each coordinate of the lane, of
 * complex elements both in numbers, two an element. */
typedef struct places_operand {
    const hg_tensor *tensor;
    uint64_t offset; /* modulo 2^64: may lie in front of the array where the text keeps off it */
    int64_t strides[HG_TENSOR_AXES]; /* along axes of the lanes */
} places_operand;

/* Zero it, set what is not what that says. Statements call the arrays x0, x1 … and y. In them $k
 * is the place of operand k, $y that of the lane's element of the result, @d the coordinate along
 * axis d and #d its extent, v0, v1 … are the numbers, `fill` the fill, $T the result's type. Where
 * the result is complex they are of a part of it, and of operands that are complex. */
typedef struct places_work {
    const char *name; /* of the operation */
    hg_element type;  /* of the result */
    uint32_t rank;    /* of the lanes */
    uint64_t shape[HG_TENSOR_AXES];
    uint32_t kept; /* bit d: the text names axis d */
    uint32_t operand_count, number_count;
    places_operand operands[PLACES_OPERANDS];
    uint64_t numbers[PLACES_NUMBERS];
    const double *fill; /* NULL: there is none */
    /* The result where it has another shape than the lanes; its strides are along their axes. */
    bool apart;
    uint32_t result_rank;
    uint64_t result_shape[HG_TENSOR_AXES];
    int64_t result_strides[HG_TENSOR_AXES];
    hg_text text; /* freed by tensor_places */
} places_work;

/* Adds an operand whose axes are those of the lanes from `first` on. Returns its number. */
uint32_t places_operand_add(places_work *w, const hg_tensor *t, uint32_t first);
/* The stride of an axis as operands have it. */
int64_t places_stride(const hg_tensor *t, uint32_t axis);
/* v0, v1 …, at most INT64_MAX each; returns which. */
uint32_t places_number_add(places_work *w, uint64_t number);
/* ` + COORDINATE * STRIDE` of a place. The stride is a number, unless it is 1. */
void places_step_add(places_work *w, hg_text *out, const char *coordinate, int64_t stride);
hg_status tensor_places(tensor_run *run, places_work *w, hg_tensor **result) HG_NODISCARD;

#endif
