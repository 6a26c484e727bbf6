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

/* Kinds of steps in the table. POINTWISE: a convolution with a kernel of one place, which is a product: no data is brought into another order. */
enum { NATIVE_GEMM, NATIVE_MIXED_PRECISION_GEMM, NATIVE_CONV2D, NATIVE_POINTWISE, NATIVE_QUANTIZED_GEMM };

/* A step as oneDNN does it: equal bytes, equal primitives. Always filled from zeros. */
typedef struct native_problem {
    uint8_t kind;                  /* NATIVE_GEMM, … */
    uint8_t type;                  /* hg_type of the call */
    bool convolution;              /* else a product of matrices */
    bool flushes;                  /* numbers below 2^-126 are zeros in it, which the program does not allow (.flag relaxed) */
    uint8_t array[NATIVE_TENSORS]; /* which of the call's arrays each is */
    native_tensor tensor[NATIVE_TENSORS];
    float alpha, beta; /* result = alpha * what it does + beta * result */
    /* Of a convolution, along rows and columns. Weights have a dimension of groups in front where there is more than one. */
    int64_t stride[2], dilation[2], before[2], after[2];
    uint64_t size[4]; /* as a product: m, n, k, batches */
} native_problem;

/* One of the slices that a step is cut into. */
typedef struct native_slice {
    native_tensor tensor[NATIVE_TENSORS];
    uint64_t offset[NATIVE_TENSORS]; /* bytes from the whole's first element to the slice's */
    int64_t before[2], after[2];
} native_slice;

/* What oneDNN runs for a slice, one after another: where a convolution wants its data in another order, bringing it there and back too. */
enum {
    NATIVE_INNER = NATIVE_TENSORS,              /* a tensor in another order, in scratch memory */
    NATIVE_PAD = NATIVE_INNER + NATIVE_TENSORS, /* what a primitive needs beside its arguments */
    NATIVE_MOST_LINKS = 4,
    NATIVE_MEMORIES = NATIVE_PAD + NATIVE_MOST_LINKS,
    NATIVE_MOST_ARGUMENTS = 5
};
typedef struct native_link {
    onednn_primitive *primitive;
    int count;
    struct {
        int which, memory;
    } arguments[NATIVE_MOST_ARGUMENTS];
} native_link;
typedef struct native_chain {
    uint64_t offset[NATIVE_TENSORS];
    native_link links[NATIVE_MOST_LINKS];
    int count;
    bool used[NATIVE_MEMORIES];
    onednn_layout layout[NATIVE_MEMORIES];
    uint64_t place[NATIVE_MEMORIES]; /* in scratch memory, of those behind the tensors */
    uint64_t scratch_bytes;
    char name[32]; /* of the primitive that does the work */
} native_chain;

/* native_problem.c: false: the call is nothing for oneDNN, whatever the CPU. */
bool native_problem_make(const plan_call *call, native_problem *p);
/* Whether it gives the right numbers on a CPU with these instructions. isa: ONEDNN_ISA_… */
bool native_is_exact_enough(const native_problem *p, int isa);
/* native_slices.c: how many slices a step is cut into on so many threads, and how that was asked for; and one of them. */
typedef struct native_cut {
    uint32_t slices; /* at most so many */
    bool wide;
} native_cut;
uint32_t native_slices(const native_problem *p, uint32_t threads, native_cut *wanted);
void native_slice_get(const native_problem *p, native_cut wanted, uint32_t number, native_slice *slice);
/* native_chain.c: under onednn_lock, with one thread of its own. False: oneDNN does not do it, or not with code for this CPU; nothing is left. */
bool native_chain_make(const onednn_library *l, const native_problem *p, const native_slice *slice, native_chain *chain);
void native_chain_free(const onednn_library *l, native_chain *chain);
/* native_table.c: whether oneDNN was measured faster. isa: ONEDNN_ISA_… */
bool native_is_faster(const native_problem *p, int isa);

#endif
