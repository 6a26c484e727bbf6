/* Operations on tensors. Results are new tensors of the executor, or go into tensors that are
 * given. What an operation is, its types and what it refuses: docs/reference/tensor-operations.md.
 */
#ifndef HOLOGRAM_OPS_H
#define HOLOGRAM_OPS_H

#include <hologram/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

/** All operations. */
typedef enum hg_operation {
#define OPERATION(id, name, least, most, results, function, about) HG_OPS_##id,
#include "operations.def"
#undef OPERATION
    HG_OPS_COUNT
} hg_operation;
/** "add"; NULL: there is none. Static. */
HG_API const char *hg_ops_name(hg_operation operation);
/** What it gives, in a line. */
HG_API const char *hg_ops_about(hg_operation operation);
/** From its name; HG_ERROR_INVALID_ARGUMENT: there is none, with the nearest. */
HG_API hg_status hg_ops_find(const char *name, hg_operation *operation) HG_NODISCARD;

/** By what Fourier transforms of n elements are divided: numbers[0] of their options. */
typedef enum hg_fft_norm {
    HG_FFT_BACKWARD, /**< the inverse by n */
    HG_FFT_ORTHO,    /**< both by the square root of n */
    HG_FFT_FORWARD   /**< the transform by n */
} hg_fft_norm;

enum { HG_OPS_NUMBERS = 4 };
/** What operations are told beside tensors. Zero it, set size and type, then what is wanted;
 * hg_ops_defaults does. Pointers are borrowed for the call. */
typedef struct hg_ops_options {
    size_t size;
    hg_element type;     /**< of the result, where one is asked for; HG_TYPE_COUNT: the usual one */
    const int64_t *axes; /**< axes, which may count from the end; NULL: the operation's own */
    uint32_t axis_count;
    bool keepdims;         /**< reduced axes stay, with an extent of 1 */
    bool flag;             /**< descending, exclusive, causal, … */
    const uint64_t *sizes; /**< shapes, counts, strides, … */
    uint32_t size_count;
    double numbers[HG_OPS_NUMBERS]; /**< eps, scale, low and high, … */
} hg_ops_options;
/** None. */
static inline hg_ops_options hg_ops_defaults(void) {
    hg_ops_options options = {
        sizeof(hg_ops_options), HG_TYPE_COUNT, 0, 0, false, false, 0, 0, {0, 0, 0, 0}};
    return options;
}

/**
 * Any operation. Inputs broadcast as NumPy's; types become the common one (hg_element_promote).
 * @param executor  of all inputs; one without an executor is taken there
 * @param inputs    borrowed
 * @param options   NULL: none
 * @param results   receives result_count new tensors, which the caller releases; NULLs after an
 * error, but nothing where the operation has another number of results
 * @return HG_OK; HG_ERROR_INVALID_ARGUMENT with shapes and types of all inputs;
 * HG_ERROR_ALLOCATION_FAILED, HG_ERROR_OUT_OF_MEMORY, HG_ERROR_EXECUTION_FAILED: no input changes
 * Thread-safe.
 */
HG_API hg_status hg_ops_call(hg_executor *executor, hg_operation operation,
                             const hg_tensor *const *inputs, uint32_t input_count,
                             const hg_ops_options *options, hg_tensor **results,
                             uint32_t result_count) HG_NODISCARD;
/** The same with the results written into tensors, or views, of that type and shape. They may share
 * memory with inputs, which are read as they were before. */
HG_API hg_status hg_ops_call_into(hg_executor *executor, hg_operation operation,
                                  const hg_tensor *const *inputs, uint32_t input_count,
                                  const hg_ops_options *options, hg_tensor *const *targets,
                                  uint32_t target_count) HG_NODISCARD;

/* ---- reductions, sorting, cumulative ---- */

/* ---- products, linear algebra ---- */

/** alpha a b + beta c of matrices; c NULL: alpha a b. A factor of 0 stands for 1. */
static inline HG_NODISCARD hg_status hg_ops_gemm(hg_executor *executor, const hg_tensor *a,
                                                 const hg_tensor *b, const hg_tensor *c,
                                                 double alpha, double beta, hg_tensor **result) {
    const hg_tensor *inputs[3] = {a, b, c};
    hg_ops_options options = hg_ops_defaults();
    options.numbers[0] = alpha;
    options.numbers[1] = beta;
    return hg_ops_call(executor, HG_OPS_GEMM, inputs, c ? 3 : 2, &options, result, 1);
}

/* ---- networks ---- */

/** gamma (x - mean) / sqrt(variance + eps) + beta over the axes of gamma, the last ones of x.
 * eps 0: 1e-5. */
static inline HG_NODISCARD hg_status hg_ops_layer_norm(hg_executor *executor, const hg_tensor *x,
                                                       const hg_tensor *gamma,
                                                       const hg_tensor *beta, double eps,
                                                       hg_tensor **result) {
    const hg_tensor *inputs[3] = {x, gamma, beta};
    hg_ops_options options = hg_ops_defaults();
    options.numbers[0] = eps;
    return hg_ops_call(executor, HG_OPS_LAYER_NORM, inputs, 3, &options, result, 1);
}
/** Images [batch, channels, h, w] correlated with a kernel [out, channels / groups, h, w].
 * @param bias      of `out` elements; NULL: none
 * @param stride    and dilation: along h and w; NULL: 1, 1
 * @param padding   zeros before and behind h and w; NULL: none
 * @param groups    of channels */
static inline HG_NODISCARD hg_status hg_ops_conv2d(hg_executor *executor, const hg_tensor *x,
                                                   const hg_tensor *kernel, const hg_tensor *bias,
                                                   const uint64_t *stride, const uint64_t *padding,
                                                   const uint64_t *dilation, uint64_t groups,
                                                   hg_tensor **result) {
    const hg_tensor *inputs[3] = {x, kernel, bias};
    uint64_t sizes[7] = {1, 1, 0, 0, 1, 1, groups};
    hg_ops_options options = hg_ops_defaults();
    for (int i = 0; i < 2; i++) {
        if (stride) sizes[i] = stride[i];
        if (padding) sizes[2 + i] = padding[i];
        if (dilation) sizes[4 + i] = dilation[i];
    }
    options.sizes = sizes;
    options.size_count = 7;
    return hg_ops_call(executor, HG_OPS_CONV2D, inputs, bias ? 3 : 2, &options, result, 1);
}
/** softmax(scale query key^T + mask) value of [batch, heads, seq_len, head_dim], [batch, kv_heads,
 * kv_len, head_dim] and [batch, kv_heads, kv_len, value_dim]; without heads, or batch and heads,
 * too. Views whose last axis lies side by side are read as they are. Lengths, softcap, the other
 * end for causal and scores: hg_ops_call.
 * @param mask   added to scores, or bool: false is not seen; broadcast; NULL: none
 * @param causal the last query sees the last key
 * @param scale  0: 1 / sqrt(head_dim) */
static inline HG_NODISCARD hg_status hg_ops_attention(hg_executor *executor, const hg_tensor *query,
                                                      const hg_tensor *key, const hg_tensor *value,
                                                      const hg_tensor *mask, bool causal,
                                                      double scale, hg_tensor **result) {
    const hg_tensor *inputs[4] = {query, key, value, mask};
    hg_ops_options options = hg_ops_defaults();
    options.flag = causal;
    options.numbers[0] = scale;
    return hg_ops_call(executor, HG_OPS_ATTENTION, inputs, mask ? 4 : 3, &options, result, 1);
}

/* ---- shapes and indices ---- */

/* clang-format off */
/** The inputs behind each other along an axis: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_concat(hg_executor *executor, const hg_tensor *const *inputs, uint32_t count, int32_t axis, hg_tensor **result) {
    hg_ops_options o = hg_ops_defaults();
    int64_t dim = axis;
    o.axes = &dim;
    o.axis_count = 1;
    return hg_ops_call(executor, HG_OPS_CONCAT, inputs, count, &o, result, 1);
}
/** The inputs behind each other along a new axis. */
static inline HG_NODISCARD hg_status hg_ops_stack(hg_executor *executor, const hg_tensor *const *inputs, uint32_t count, int32_t axis, hg_tensor **result) {
    hg_ops_options o = hg_ops_defaults();
    int64_t dim = axis;
    o.axes = &dim;
    o.axis_count = 1;
    return hg_ops_call(executor, HG_OPS_STACK, inputs, count, &o, result, 1);
}
/** What pad puts around a tensor: a value; the element at the edge; elements from the edge inwards and
 * back again, without the edge's own; the elements over again. As NumPy's constant, edge, reflect, wrap. */
typedef enum hg_pad_mode { HG_PAD_VALUE, HG_PAD_EDGE, HG_PAD_REFLECT, HG_PAD_WRAP } hg_pad_mode;
/** With sizes[2 d] elements of that value in front of axis d and sizes[2 d + 1] behind it; 2 ndim sizes. */
static inline HG_NODISCARD hg_status hg_ops_pad(hg_executor *executor, const hg_tensor *a, const uint64_t *sizes, double value, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    hg_ops_options o = hg_ops_defaults();
    o.sizes = sizes;
    o.size_count = 2 * hg_tensor_ndim(a);
    o.numbers[0] = value;
    return hg_ops_call(executor, HG_OPS_PAD, inputs, 1, &o, result, 1);
}
/** Elements moved along an axis, those beyond the end to the front. */
static inline HG_NODISCARD hg_status hg_ops_roll(hg_executor *executor, const hg_tensor *a, int64_t by, int32_t axis, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    hg_ops_options o = hg_ops_defaults();
    int64_t dim = axis;
    o.axes = &dim;
    o.axis_count = 1;
    uint64_t size = (uint64_t)by;
    o.sizes = &size;
    o.size_count = 1;
    return hg_ops_call(executor, HG_OPS_ROLL, inputs, 1, &o, result, 1);
}
/** Each element that often along an axis. */
static inline HG_NODISCARD hg_status hg_ops_repeat(hg_executor *executor, const hg_tensor *a, uint64_t times, int32_t axis, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    hg_ops_options o = hg_ops_defaults();
    int64_t dim = axis;
    o.axes = &dim;
    o.axis_count = 1;
    o.sizes = &times;
    o.size_count = 1;
    return hg_ops_call(executor, HG_OPS_REPEAT, inputs, 1, &o, result, 1);
}
/** The whole times[d] times along axis d, the last numbers for the last axes. */
static inline HG_NODISCARD hg_status hg_ops_tile(hg_executor *executor, const hg_tensor *a, const uint64_t *times, uint32_t count, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    hg_ops_options o = hg_ops_defaults();
    o.sizes = times;
    o.size_count = count;
    return hg_ops_call(executor, HG_OPS_TILE, inputs, 1, &o, result, 1);
}
/** Elements of the last two axes up to that diagonal, else 0. */
static inline HG_NODISCARD hg_status hg_ops_tril(hg_executor *executor, const hg_tensor *a, int64_t diagonal, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    hg_ops_options o = hg_ops_defaults();
    o.numbers[0] = (double)diagonal;
    return hg_ops_call(executor, HG_OPS_TRIL, inputs, 1, &o, result, 1);
}
/** Elements of the last two axes from that diagonal on, else 0. */
static inline HG_NODISCARD hg_status hg_ops_triu(hg_executor *executor, const hg_tensor *a, int64_t diagonal, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    hg_ops_options o = hg_ops_defaults();
    o.numbers[0] = (double)diagonal;
    return hg_ops_call(executor, HG_OPS_TRIU, inputs, 1, &o, result, 1);
}
/** The elements at indices along an axis, which becomes the axes of the index. An index outside is HG_ERROR_EXECUTION_FAILED. */
static inline HG_NODISCARD hg_status hg_ops_take(hg_executor *executor, const hg_tensor *a, const hg_tensor *index, int32_t axis, hg_tensor **result) {
    const hg_tensor *inputs[2] = {a, index};
    hg_ops_options o = hg_ops_defaults();
    int64_t dim = axis;
    o.axes = &dim;
    o.axis_count = 1;
    return hg_ops_call(executor, HG_OPS_TAKE, inputs, 2, &o, result, 1);
}
/** Along an axis the element at the index at the same place. */
static inline HG_NODISCARD hg_status hg_ops_take_along_axis(hg_executor *executor, const hg_tensor *a, const hg_tensor *index, int32_t axis, hg_tensor **result) {
    const hg_tensor *inputs[2] = {a, index};
    hg_ops_options o = hg_ops_defaults();
    int64_t dim = axis;
    o.axes = &dim;
    o.axis_count = 1;
    return hg_ops_call(executor, HG_OPS_TAKE_ALONG_AXIS, inputs, 2, &o, result, 1);
}
/** a with the values where indices along an axis say; of equal ones the last counts. */
static inline HG_NODISCARD hg_status hg_ops_put_along_axis(hg_executor *executor, const hg_tensor *a, const hg_tensor *index, const hg_tensor *values, int32_t axis, hg_tensor **result) {
    const hg_tensor *inputs[3] = {a, index, values};
    hg_ops_options o = hg_ops_defaults();
    int64_t dim = axis;
    o.axes = &dim;
    o.axis_count = 1;
    return hg_ops_call(executor, HG_OPS_PUT_ALONG_AXIS, inputs, 3, &o, result, 1);
}
/** a with the values added where indices along an axis say, one after another in their order. */
static inline HG_NODISCARD hg_status hg_ops_scatter_add(hg_executor *executor, const hg_tensor *a, const hg_tensor *index, const hg_tensor *values, int32_t axis, hg_tensor **result) {
    const hg_tensor *inputs[3] = {a, index, values};
    hg_ops_options o = hg_ops_defaults();
    int64_t dim = axis;
    o.axes = &dim;
    o.axis_count = 1;
    return hg_ops_call(executor, HG_OPS_SCATTER_ADD, inputs, 3, &o, result, 1);
}
/* clang-format on */

/* ---- quantized numbers ---- */

/** What bytes stand for: (byte - zero) * scale. Of a matrix scale and zero are one number, or one
 * for each row of a, column of b; zero has the bytes' type. */
typedef struct hg_quantized {
    const hg_tensor *bytes, *scale, *zero;
} hg_quantized;

/* clang-format off */
/** x / scale to the nearest integer, ties to even, plus zero, saturated to its type; NULL: u8 and 0. */
static inline HG_NODISCARD hg_status hg_ops_quantize(hg_executor *executor, const hg_tensor *x, const hg_tensor *scale, const hg_tensor *zero, hg_tensor **result) {
    const hg_tensor *inputs[3] = {x, scale, zero};
    return hg_ops_call(executor, HG_OPS_QUANTIZE, inputs, zero ? 3 : 2, NULL, result, 1);
}
/** (bytes - zero) * scale; zero may be NULL. */
static inline HG_NODISCARD hg_status hg_ops_dequantize(hg_executor *executor, hg_quantized q, hg_tensor **result) {
    const hg_tensor *inputs[3] = {q.bytes, q.scale, q.zero};
    return hg_ops_call(executor, HG_OPS_DEQUANTIZE, inputs, q.zero ? 3 : 2, NULL, result, 1);
}
/** Three results: u8, their scale and zero, for the range of all elements and 0. */
static inline HG_NODISCARD hg_status hg_ops_dynamic_quantize(hg_executor *executor, const hg_tensor *x, hg_tensor **results) {
    return hg_ops_call(executor, HG_OPS_DYNAMIC_QUANTIZE, &x, 1, NULL, results, 3);
}
/** (a - a_zero) (b - b_zero) of matrices of bytes, as i32; b_zero, or both, may be NULL. */
static inline HG_NODISCARD hg_status hg_ops_matmul_integer(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, const hg_tensor *a_zero, const hg_tensor *b_zero, hg_tensor **result) {
    const hg_tensor *inputs[4] = {a, b, a_zero, b_zero};
    return hg_ops_call(executor, HG_OPS_MATMUL_INTEGER, inputs, b_zero ? 4 : a_zero ? 3 : 2, NULL, result, 1);
}
/** What a and b stand for, multiplied, and quantized with that scale and zero to zero's type. */
static inline HG_NODISCARD hg_status hg_ops_quantized_matmul(hg_executor *executor, hg_quantized a, hg_quantized b, const hg_tensor *scale, const hg_tensor *zero, hg_tensor **result) {
    const hg_tensor *inputs[8] = {a.bytes, a.scale, a.zero, b.bytes, b.scale, b.zero, scale, zero};
    return hg_ops_call(executor, HG_OPS_QUANTIZED_MATMUL, inputs, 8, NULL, result, 1);
}
/* clang-format on */

/* ---- making ---- */

#ifdef __cplusplus
}
#endif
#include <hologram/ops_calls.h>
#endif
