/* What the files of native steps share. */
#ifndef HG_BACKENDS_CPU_NATIVE_INTERNAL_H
#define HG_BACKENDS_CPU_NATIVE_INTERNAL_H

#include "backends/cpu/native.h"
#include "backends/cpu/onednn.h"

enum { NATIVE_MOST_DIMS = 5 };

/* Elements of memory as oneDNN takes them: strides in elements. rank 0: left out. */
typedef struct native_tensor {
    uint8_t rank, type; /* ONEDNN_F32, … */
    int64_t dims[NATIVE_MOST_DIMS], strides[NATIVE_MOST_DIMS];
} native_tensor;

enum { NATIVE_SOURCE, NATIVE_WEIGHTS, NATIVE_BIAS, NATIVE_RESULT, NATIVE_TENSORS };

/* A step as oneDNN does it: equal bytes, equal primitives. Always filled from zeros. */
typedef struct native_problem {
    uint16_t op;                   /* hg_op */
    uint8_t type;                  /* hg_type of the call */
    uint8_t array[NATIVE_TENSORS]; /* which of the call's arrays each is */
    native_tensor tensor[NATIVE_TENSORS];
    float alpha, beta; /* result = alpha * what it does + beta * result */
    uint64_t size[4];  /* m, n, k, batches: for the table */
} native_problem;

/* native_problem.c: false: the call is nothing for oneDNN, whatever the CPU. */
bool native_problem_make(const plan_call *call, native_problem *p);
/* native_table.c: whether oneDNN was measured faster. isa: ONEDNN_ISA_… */
bool native_is_faster(const native_problem *p, int isa);

#endif
