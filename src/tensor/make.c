/* Public calls that make tensors by operations. Must not know: how. */
#include "tensor/tensor.h"

hg_status hg_tensor_full(hg_executor *executor, hg_element type, double value,
                         const uint64_t *shape, uint32_t ndim, hg_tensor **tensor) {
    HG_ENTRY;
    hg_ops_options o = hg_ops_defaults();
    o.type = type;
    o.sizes = shape;
    o.size_count = ndim;
    o.numbers[0] = value;
    if (!tensor) return hg_null_argument("tensor");
    return hg_ops_call(executor, HG_OPS_ARANGE, NULL, 0, &o, tensor, 1);
}

hg_status hg_tensor_ones(hg_executor *executor, hg_element type, const uint64_t *shape,
                         uint32_t ndim, hg_tensor **tensor) {
    HG_ENTRY;
    return hg_tensor_full(executor, type, 1, shape, ndim, tensor);
}
