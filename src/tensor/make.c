/* Public calls that make tensors by operations. Must not know: how. */
#include "tensor/tensor.h"
#include <math.h>
#include <string.h>

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

hg_status hg_tensor_arange(hg_executor *executor, hg_element type, double start, double stop,
                           double step, hg_tensor **tensor) {
    HG_ENTRY;
    hg_ops_options o = hg_ops_defaults();
    if (!tensor) return hg_null_argument("tensor");
    *tensor = NULL;
    double length = ceil((stop - start) / step);
    if (step == 0 || !(fabs(length) <= 0x1p62))
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "arange from %.17g to %.17g by %.17g has no end",
                       start, stop, step);
    uint64_t count = length > 0 ? (uint64_t)length : 0;
    o.type = type;
    o.sizes = &count;
    o.size_count = 1;
    o.numbers[0] = start;
    o.numbers[1] = step;
    return hg_ops_call(executor, HG_OPS_ARANGE, NULL, 0, &o, tensor, 1);
}

hg_status hg_tensor_linspace(hg_executor *executor, hg_element type, double start, double stop,
                             uint64_t count, hg_tensor **tensor) {
    HG_ENTRY;
    hg_ops_options o = hg_ops_defaults();
    if (!tensor) return hg_null_argument("tensor");
    o.type = type;
    o.sizes = &count;
    o.size_count = 1;
    o.numbers[0] = start;
    o.numbers[1] = stop;
    return hg_ops_call(executor, HG_OPS_LINSPACE, NULL, 0, &o, tensor, 1);
}

hg_status hg_tensor_eye(hg_executor *executor, hg_element type, uint64_t rows, uint64_t columns,
                        int64_t diagonal, hg_tensor **tensor) {
    HG_ENTRY;
    hg_ops_options o = hg_ops_defaults();
    uint64_t sizes[] = {rows, columns};
    if (!tensor) return hg_null_argument("tensor");
    o.type = type;
    o.sizes = sizes;
    o.size_count = 2;
    o.numbers[0] = (double)diagonal;
    return hg_ops_call(executor, HG_OPS_EYE, NULL, 0, &o, tensor, 1);
}

static hg_status random_tensor(hg_executor *executor, hg_operation operation, hg_element type,
                               const double *numbers, uint64_t seed, const uint64_t *shape,
                               uint32_t ndim, hg_tensor **tensor) {
    hg_ops_options o = hg_ops_defaults();
    uint64_t sizes[1 + HG_TENSOR_AXES] = {seed}, count;
    if (!tensor) return hg_null_argument("tensor");
    *tensor = NULL;
    HG_TRY(tensor_check_shape(type, shape, ndim, &count));
    if (ndim) memcpy(&sizes[1], shape, ndim * sizeof *shape);
    o.type = type;
    o.sizes = sizes;
    o.size_count = 1 + ndim;
    memcpy(o.numbers, numbers, 2 * sizeof *numbers);
    return hg_ops_call(executor, operation, NULL, 0, &o, tensor, 1);
}

hg_status hg_tensor_rand(hg_executor *executor, hg_element type, uint64_t seed,
                         const uint64_t *shape, uint32_t ndim, hg_tensor **tensor) {
    HG_ENTRY;
    return random_tensor(executor, HG_OPS_RAND, type, (double[]){0, 0}, seed, shape, ndim, tensor);
}

hg_status hg_tensor_randint(hg_executor *executor, hg_element type, int64_t low, int64_t high,
                            uint64_t seed, const uint64_t *shape, uint32_t ndim,
                            hg_tensor **tensor) {
    HG_ENTRY;
    return random_tensor(executor, HG_OPS_RANDINT, type, (double[]){(double)low, (double)high},
                         seed, shape, ndim, tensor);
}

hg_status hg_tensor_normal(hg_executor *executor, hg_element type, double mean, double deviation,
                           uint64_t seed, const uint64_t *shape, uint32_t ndim,
                           hg_tensor **tensor) {
    HG_ENTRY;
    return random_tensor(executor, HG_OPS_NORMAL, type, (double[]){mean, deviation}, seed, shape,
                         ndim, tensor);
}
