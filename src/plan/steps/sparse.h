/* The kernel that looks at the rows and columns of a sparse matrix before a product reads it. */
#ifndef HG_PLAN_SPARSE_H
#define HG_PLAN_SPARSE_H

#include "plan/steps/expansion.h"

/* Arrays: of the matrix, and a word that is 0 and becomes another number where something is wrong.
 */
enum {
    PLAN_SPARSE_VALUES,
    PLAN_SPARSE_INDICES,
    PLAN_SPARSE_PTR,
    PLAN_SPARSE_BAD,
    PLAN_SPARSE_ARRAYS
};
/* Values: rows of the matrix, its columns, rows of a block; nnz, or PLAN_SPARSE_ALL; bytes of an
 * element. */
enum {
    PLAN_SPARSE_ROWS,
    PLAN_SPARSE_COLUMNS,
    PLAN_SPARSE_STEP,
    PLAN_SPARSE_NNZ,
    PLAN_SPARSE_ELEMENT,
    PLAN_SPARSE_NUMBERS
};
#define PLAN_SPARSE_ALL UINT64_MAX /* what the arrays' memory has, which is less */
/* Numbers of operands in the row, for faults; lanes of a block, which are entries of a row. */
enum { PLAN_SPARSE_OF_INDICES = 2, PLAN_SPARSE_OF_PTR = 3, PLAN_SPARSE_LANES = 32 };
kir_module *plan_sparse_check(const plan_kernel_key *key);

#endif
