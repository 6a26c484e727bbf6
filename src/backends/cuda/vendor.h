/* What the files of vendor steps share: products of matrices as cuBLASLt takes them.
 * Must not know: memory, streams. */
#ifndef HG_BACKENDS_CUDA_VENDOR_H
#define HG_BACKENDS_CUDA_VENDOR_H

#include "plan/steps/call.h"

/* cudaDataType_t and cublasComputeType_t */
enum { LT_F32 = 0, LT_F64 = 1, LT_F16 = 2, LT_I8 = 3, LT_I32 = 10, LT_BF16 = 14 };
enum {
    LT_COMPUTE_F32 = 68,
    LT_COMPUTE_F32_PEDANTIC = 69,
    LT_COMPUTE_F64_PEDANTIC = 71,
    LT_COMPUTE_I32 = 72,
    LT_COMPUTE_TF32 = 77
};

/* cublasLtMatmulAlgo_t, cublasLtMatmulHeuristicResult_t */
typedef struct lt_algorithm {
    uint64_t data[8];
} lt_algorithm;
typedef struct lt_choice {
    lt_algorithm algorithm;
    size_t workspace_bytes;
    int status;
    float waves;
    int reserved[4];
} lt_choice;
enum { LT_SUCCESS = 0, LT_ALLOC_FAILED = 3 };
/* Attributes: of operations, of layouts, of preferences; and the operation `transposed`. */
enum {
    LT_LEFT_OPERATION = 3,
    LT_RIGHT_OPERATION = 4,
    LT_BATCHES = 5,
    LT_BATCH_STRIDE = 6,
    LT_MOST_WORKSPACE = 1,
    LT_ALIGNMENTS = 5
};
enum { LT_TRANSPOSED = 1 };

/* A matrix whose columns lie one after another; strides in elements. */
typedef struct lt_matrix {
    uint8_t array; /* which of the call's */
    uint8_t type;  /* LT_F32, … */
    bool transposed;
    uint64_t rows, columns;
    int64_t leading, stride; /* from one column to the next, from one matrix of the batch to the
                                next */
} lt_matrix;

/* result = alpha left right + beta result. Rows that lie one after another are columns of the
 * transposed matrix: c = a b is done as c' = b' a', so that left is b and right is a. Equal bytes,
 * equal algorithms: always filled from zeros. */
typedef struct lt_problem {
    uint16_t op;
    uint8_t type; /* hg_type of the call */
    uint8_t compute, scale;
    lt_matrix left, right, result;
    uint32_t batches;
} lt_problem;

/* The factors, in the problem's scale. */
typedef struct lt_factors {
    union {
        float f32;
        double f64;
        int32_t i32;
    } alpha, beta;
} lt_factors;

/* False: the call is nothing for cuBLASLt, whatever the device. */
bool lt_problem_make(const plan_call *call, lt_problem *problem, lt_factors *factors);
/* Whether `auto` takes it (vendor.def). */
bool lt_problem_is_faster(const lt_problem *problem);

#endif
