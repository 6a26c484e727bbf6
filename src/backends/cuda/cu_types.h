/* Types of the CUDA driver's functions (symbols.def), as the toolkit's documentation has them
 * ("CUDA Driver API"). */
#ifndef HG_BACKENDS_CUDA_CU_TYPES_H
#define HG_BACKENDS_CUDA_CU_TYPES_H

typedef int CUresult;
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUgraph_st *CUgraph;
typedef struct CUgraphExec_st *CUgraphExec;
typedef struct CUmemPoolHandle_st *CUmemoryPool;

#endif
