/* The functions of cuBLASLt (cublaslt.def), once cuda_vendor_by has opened the library.
 * Must not know: what is multiplied. */
#ifndef HG_BACKENDS_CUDA_CUBLASLT_H
#define HG_BACKENDS_CUDA_CUBLASLT_H

#include "backends/cuda/cuda_internal.h"
#include "backends/cuda/vendor.h"

typedef struct cublasLtContext *cublasLtHandle_t;
typedef struct cublasLtMatmulDesc *cublasLtMatmulDesc_t;
typedef struct cublasLtMatrixLayout *cublasLtMatrixLayout_t;
typedef struct cublasLtMatmulPreference *cublasLtMatmulPreference_t;

typedef struct cublaslt_symbols {
#define LT_FUNCTION(result, name, parameters) result(*name) parameters;
#include "backends/cuda/cublaslt.def"
} cublaslt_symbols;
extern cublaslt_symbols cublaslt;

#endif
