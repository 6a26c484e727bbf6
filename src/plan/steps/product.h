/* Matrix products as launches of gemm.atlas, for collectives that are one.
 * Must not know: instructions. */
#ifndef HG_PLAN_PRODUCT_H
#define HG_PLAN_PRODUCT_H

#include "plan/steps/steps.h"

enum { PLAN_BIAS_NONE, PLAN_BIAS_LINE, PLAN_BIAS_MATRIX }; /* BIAS of the texts */

/* c = fn(alpha a b + beta c + bias), a of m x k, b of k x n, as many times as batch says. */
typedef struct plan_product {
    uint64_t batch, m, n, k;
    plan_part a, b, c, bias;
    uint8_t bias_is; /* PLAN_BIAS_* */
    bool accumulate; /* sums go on from c */
    struct {
        uint64_t a_row, a_column, a_batch, b_row, b_column, b_batch, c_row, c_batch;
        uint64_t bias_row, bias_column; /* of a matrix */
    } step;                             /* elements from one to the next; a column of c is 1 */
    bool b_stays;                       /* plan_array.constant: what is made of b is a table */
    uint8_t type, result;               /* hg_type of a and b, of c and bias */
    uint16_t fn;                        /* a map of one argument; HG_OP_MOV: none */
    uint64_t alpha, beta; /* their bits, in the type of the calculation (library_sum_type) */
} plan_product;
/* Each element is one chain of fma over k in order, from 0 or from c. Sizes may be 0. */
void plan_expand_product(plan_expansion *x, plan_product p);

#endif
