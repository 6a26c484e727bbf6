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
    hg_ops_options options = {0};
    options.size = sizeof options;
    options.type = HG_TYPE_COUNT;
    return options;
}

/**
 * Any operation. Inputs broadcast as NumPy's; types become the common one (hg_element_promote).
 * @param executor  of all inputs; one without an executor is taken there
 * @param inputs    borrowed
 * @param options   NULL: none
 * @param results   receives as many new tensors as the operation has, which the caller releases;
 * NULLs after an error
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

/* clang-format off */
#define HG_OPS_UNARY(ID, name) \
    static inline HG_NODISCARD hg_status hg_ops_##name(hg_executor *executor, const hg_tensor *a, hg_tensor **result) { \
        return hg_ops_call(executor, HG_OPS_##ID, &a, 1, NULL, result, 1); \
    } \
    static inline HG_NODISCARD hg_status hg_ops_##name##_into(hg_executor *executor, const hg_tensor *a, hg_tensor *target) { \
        return hg_ops_call_into(executor, HG_OPS_##ID, &a, 1, NULL, &target, 1); \
    }
#define HG_OPS_BINARY(ID, name) \
    static inline HG_NODISCARD hg_status hg_ops_##name(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, hg_tensor **result) { \
        const hg_tensor *inputs[2] = {a, b}; \
        return hg_ops_call(executor, HG_OPS_##ID, inputs, 2, NULL, result, 1); \
    } \
    static inline HG_NODISCARD hg_status hg_ops_##name##_into(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, hg_tensor *target) { \
        const hg_tensor *inputs[2] = {a, b}; \
        return hg_ops_call_into(executor, HG_OPS_##ID, inputs, 2, NULL, &target, 1); \
    }
HG_OPS_BINARY(ADD, add) HG_OPS_BINARY(SUB, sub) HG_OPS_BINARY(MUL, mul) HG_OPS_BINARY(DIV, div)
HG_OPS_BINARY(FLOOR_DIVIDE, floor_divide) HG_OPS_BINARY(REMAINDER, remainder) HG_OPS_BINARY(POW, pow)
HG_OPS_BINARY(MAXIMUM, maximum) HG_OPS_BINARY(MINIMUM, minimum) HG_OPS_BINARY(ATAN2, atan2) HG_OPS_BINARY(HYPOT, hypot)
HG_OPS_BINARY(LOGADDEXP, logaddexp) HG_OPS_BINARY(COPYSIGN, copysign) HG_OPS_BINARY(EQUAL, equal) HG_OPS_BINARY(NOT_EQUAL, not_equal)
HG_OPS_BINARY(LESS, less) HG_OPS_BINARY(LESS_EQUAL, less_equal) HG_OPS_BINARY(GREATER, greater)
HG_OPS_BINARY(GREATER_EQUAL, greater_equal) HG_OPS_BINARY(LOGICAL_AND, logical_and) HG_OPS_BINARY(LOGICAL_OR, logical_or)
HG_OPS_BINARY(LOGICAL_XOR, logical_xor) HG_OPS_BINARY(BITWISE_AND, bitwise_and) HG_OPS_BINARY(BITWISE_OR, bitwise_or)
HG_OPS_BINARY(BITWISE_XOR, bitwise_xor) HG_OPS_BINARY(BITWISE_LEFT_SHIFT, bitwise_left_shift)
HG_OPS_BINARY(BITWISE_RIGHT_SHIFT, bitwise_right_shift)
HG_OPS_UNARY(LOGICAL_NOT, logical_not) HG_OPS_UNARY(BITWISE_INVERT, bitwise_invert) HG_OPS_UNARY(ABS, abs) HG_OPS_UNARY(NEG, neg)
HG_OPS_UNARY(POSITIVE, positive) HG_OPS_UNARY(SIGN, sign) HG_OPS_UNARY(SQUARE, square) HG_OPS_UNARY(RECIPROCAL, reciprocal)
HG_OPS_UNARY(CEIL, ceil) HG_OPS_UNARY(FLOOR, floor) HG_OPS_UNARY(ROUND, round) HG_OPS_UNARY(TRUNC, trunc)
HG_OPS_UNARY(SIGNBIT, signbit) HG_OPS_UNARY(ISNAN, isnan) HG_OPS_UNARY(ISINF, isinf) HG_OPS_UNARY(ISFINITE, isfinite)
HG_OPS_UNARY(SQRT, sqrt) HG_OPS_UNARY(RSQRT, rsqrt) HG_OPS_UNARY(CBRT, cbrt) HG_OPS_UNARY(EXP, exp) HG_OPS_UNARY(EXP2, exp2)
HG_OPS_UNARY(EXPM1, expm1) HG_OPS_UNARY(LOG, log) HG_OPS_UNARY(LOG2, log2) HG_OPS_UNARY(LOG10, log10) HG_OPS_UNARY(LOG1P, log1p)
HG_OPS_UNARY(SIN, sin) HG_OPS_UNARY(COS, cos) HG_OPS_UNARY(TAN, tan) HG_OPS_UNARY(ASIN, asin) HG_OPS_UNARY(ACOS, acos)
HG_OPS_UNARY(ATAN, atan) HG_OPS_UNARY(SINH, sinh) HG_OPS_UNARY(COSH, cosh) HG_OPS_UNARY(TANH, tanh) HG_OPS_UNARY(ERF, erf)
HG_OPS_UNARY(ERFC, erfc) HG_OPS_UNARY(SIGMOID, sigmoid) HG_OPS_UNARY(RELU, relu) HG_OPS_UNARY(GELU, gelu)
HG_OPS_UNARY(GELU_TANH, gelu_tanh) HG_OPS_UNARY(SILU, silu) HG_OPS_UNARY(SOFTPLUS, softplus)
/* clang-format on */

/* ---- reductions, sorting, cumulative ---- */

/* ---- products, linear algebra ---- */

/* ---- networks ---- */

/* ---- shapes and indices ---- */

/* ---- making ---- */

#ifdef __cplusplus
}
#endif
#endif
