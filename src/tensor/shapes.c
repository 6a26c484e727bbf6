/* Shapes: text, checks, broadcasting.
 * Must not know: memory, operations. */
#include "tensor/tensor.h"
#include <stdio.h>
#include <string.h>

/* ---- messages ---- */

const char *tensor_shape_text(const uint64_t *shape, uint32_t rank, char text[200]) {
    size_t used = (size_t)snprintf(text, 200, "[");
    for (uint32_t d = 0; d < rank; d++)
        used += (size_t)snprintf(text + used, 200 - used, "%s%llu", d ? ", " : "",
                                 (unsigned long long)shape[d]);
    snprintf(text + used, 200 - used, "]");
    return text;
}

const char *tensor_text(const hg_tensor *t, char text[220]) {
    char shape[200];
    snprintf(text, 220, "%s %s", hg_element_name(t->type),
             tensor_shape_text(t->shape, t->rank, shape));
    return text;
}

hg_status tensor_axis(int64_t dim, uint32_t rank, uint32_t *axis) {
    int64_t from_front = dim < 0 ? dim + rank : dim;
    *axis = 0;
    if (from_front < 0 || from_front >= rank)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "Invalid dimension: %lld of %u", (long long)dim,
                       (unsigned)rank);
    *axis = (uint32_t)from_front;
    return HG_OK;
}

/* ---- shapes ---- */

void tensor_c_strides(const uint64_t *shape, uint32_t rank, int64_t *strides) {
    int64_t step = 1;
    for (uint32_t d = rank; d-- > 0;) {
        strides[d] = step;
        step *= (int64_t)(shape[d] ? shape[d] : 1);
    }
}

uint64_t tensor_numel(const uint64_t *shape, uint32_t rank) {
    uint64_t count = 1;
    for (uint32_t d = 0; d < rank; d++) count *= shape[d];
    return count;
}

hg_status tensor_check_shape(hg_element type, const uint64_t *shape, uint32_t rank,
                             uint64_t *count) {
    uint64_t all = tensor_size(type);
    bool fits = true;
    if (!all) return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%u is no element type", (unsigned)type);
    if (rank > HG_TENSOR_AXES)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%u axes, at most %d expected", (unsigned)rank,
                       HG_TENSOR_AXES);
    if (rank && !shape) return hg_null_argument("shape");
    for (uint32_t d = 0; d < rank && fits; d++)
        if ((all | shape[d]) >> 31 == 0)
            all *= shape[d] ? shape[d] : 1; /* the usual way */
        else
            fits = hg_mul_u64(all, shape[d] ? shape[d] : 1, &all) && all <= INT64_MAX;
    if (!fits) {
        char text[200];
        return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                       "Tensor shape mismatch: %s has more bytes than an address can count",
                       tensor_shape_text(shape, rank, text));
    }
    *count = tensor_numel(shape, rank);
    return HG_OK;
}

hg_status tensor_broadcast(const char *operation, const hg_tensor *const *inputs, uint32_t count,
                           uint64_t *shape, uint32_t *rank) {
    *rank = 0;
    for (uint32_t i = 0; i < count; i++)
        if (inputs[i]->rank > *rank) *rank = inputs[i]->rank;
    for (uint32_t d = 0; d < *rank; d++) shape[d] = 1;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t d = 0; d < inputs[i]->rank; d++) {
            uint64_t x = inputs[i]->shape[d], *y = &shape[d + *rank - inputs[i]->rank];
            if (*y == 1) *y = x;
            if (x == *y || x == 1) continue;
            hg_text all = {0};
            char text[220];
            for (uint32_t k = 0; k < count; k++)
                hg_text_addf(&all, "%s%s", k ? (k + 1 == count ? " and " : ", ") : "",
                             tensor_text(inputs[k], text));
            hg_status status = hg_fail(HG_ERROR_INVALID_ARGUMENT, "Tensor shape mismatch: %s: %s",
                                       operation, all.data ? all.data : "");
            hg_text_free(&all);
            return status;
        }
    return HG_OK;
}
