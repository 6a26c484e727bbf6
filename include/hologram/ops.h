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

/* ---- reductions, sorting, cumulative ---- */

/* ---- products, linear algebra ---- */

/* ---- networks ---- */

/* ---- shapes and indices ---- */

/* ---- making ---- */

#ifdef __cplusplus
}
#endif
#include <hologram/ops_calls.h>
#endif
