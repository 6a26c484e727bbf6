/* What the files of vendor steps share. */
#ifndef HG_BACKENDS_CPU_VENDOR_INTERNAL_H
#define HG_BACKENDS_CPU_VENDOR_INTERNAL_H

#include "backends/cpu/vendor.h"
#include "backends/cpu/onednn.h"

enum { VENDOR_MOST_DIMS = 5 };

/* Elements of memory as oneDNN takes them: strides in elements. rank 0: left out. */
typedef struct vendor_tensor {
    uint8_t rank, type; /* ONEDNN_F32, … */
    int64_t dims[VENDOR_MOST_DIMS], strides[VENDOR_MOST_DIMS];
} vendor_tensor;

enum { VENDOR_SOURCE, VENDOR_WEIGHTS, VENDOR_BIAS, VENDOR_RESULT, VENDOR_TENSORS };

/* Kinds of steps in the table. POINTWISE: a convolution with a kernel of one place, which is a
 * product: no data is brought into another order. */
enum {
    VENDOR_GEMM,
    VENDOR_MIXED_PRECISION_GEMM,
    VENDOR_CONV2D,
    VENDOR_POINTWISE,
    VENDOR_QUANTIZED_GEMM
};

/* A step as oneDNN does it: equal bytes, equal primitives. Always filled from zeros. */
typedef struct vendor_problem {
    uint8_t kind;     /* VENDOR_GEMM, … */
    uint8_t type;     /* hg_type of the call */
    bool convolution; /* else a product of matrices */
    bool flushes; /* numbers below 2^-126 are zeros in it, which the program does not allow (.flag
                     relaxed) */
    uint8_t array[VENDOR_TENSORS]; /* which of the call's arrays each is */
    vendor_tensor tensor[VENDOR_TENSORS];
    float alpha, beta; /* result = alpha * what it does + beta * result */
    /* Of a convolution, along rows and columns. Weights have a dimension of groups in front where
     * there is more than one. */
    int64_t stride[2], dilation[2], before[2], after[2];
    uint64_t size[4]; /* as a product: m, n, k, batches */
} vendor_problem;

/* One of the slices that a step is cut into. */
typedef struct vendor_slice {
    vendor_tensor tensor[VENDOR_TENSORS];
    uint64_t offset[VENDOR_TENSORS]; /* bytes from the whole's first element to the slice's */
    int64_t before[2], after[2];
} vendor_slice;

/* What oneDNN runs for a slice, one after another: where a convolution wants its data in another
 * order, bringing it there and back too. */
enum {
    VENDOR_INNER = VENDOR_TENSORS,              /* a tensor in another order, in scratch memory */
    VENDOR_PAD = VENDOR_INNER + VENDOR_TENSORS, /* what a primitive needs beside its arguments */
    VENDOR_MOST_LINKS = 4,
    VENDOR_MEMORIES = VENDOR_PAD + VENDOR_MOST_LINKS,
    VENDOR_MOST_ARGUMENTS = 5
};
typedef struct vendor_primitive {
    onednn_primitive *primitive;
    int count;
    struct {
        int which, memory;
    } arguments[VENDOR_MOST_ARGUMENTS];
} vendor_primitive;
typedef struct vendor_primitives {
    uint64_t offset[VENDOR_TENSORS];
    vendor_primitive all[VENDOR_MOST_LINKS];
    int count;
    bool used[VENDOR_MEMORIES];
    onednn_layout layout[VENDOR_MEMORIES];
    uint64_t place[VENDOR_MEMORIES]; /* in scratch memory, of those behind the tensors */
    uint64_t scratch_bytes;
    char name[32]; /* of the primitive that does the work */
} vendor_primitives;

/* vendor_problem.c: false: the call is nothing for oneDNN, whatever the CPU. */
bool vendor_problem_make(const plan_call *call, vendor_problem *p);
/* Whether it gives the right numbers on a CPU with these instructions. isa: ONEDNN_ISA_… */
bool vendor_is_exact_enough(const vendor_problem *p, int isa);
/* vendor_slices.c: how many slices a step is cut into on so many threads, and how that was asked
 * for; and one of them. */
typedef struct vendor_cut {
    uint32_t slices; /* at most so many */
    bool wide;
} vendor_cut;
uint32_t vendor_slices(const vendor_problem *p, uint32_t threads, vendor_cut *wanted);
void vendor_slice_get(const vendor_problem *p, vendor_cut wanted, uint32_t number,
                      vendor_slice *slice);
/* vendor_primitives.c: under onednn_lock, with one thread of its own. False: oneDNN does not do it,
 * or not with code for this CPU; nothing is left. */
bool vendor_primitives_make(const onednn_library *l, const vendor_problem *p,
                            const vendor_slice *slice, vendor_primitives *list);
void vendor_primitives_free(const onednn_library *l, vendor_primitives *list);
/* vendor_table.c: whether oneDNN was measured faster. isa: ONEDNN_ISA_… */
bool vendor_is_faster(const vendor_problem *p, int isa);

#endif
