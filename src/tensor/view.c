/* What tensors are, and views: other shapes and strides over the same memory.
 * Must not know: operations. */
#include "tensor/tensor.h"
#include <string.h>

/* ---- what it is ---- */

hg_element hg_tensor_type(const hg_tensor *t) {
    HG_ENTRY;
    return t ? t->type : HG_TYPE_COUNT;
}
uint32_t hg_tensor_ndim(const hg_tensor *t) {
    HG_ENTRY;
    return t ? t->rank : 0;
}
const uint64_t *hg_tensor_shape(const hg_tensor *t) {
    HG_ENTRY;
    return t ? t->shape : NULL;
}
const int64_t *hg_tensor_strides(const hg_tensor *t) {
    HG_ENTRY;
    return t ? t->strides : NULL;
}
uint64_t hg_tensor_numel(const hg_tensor *t) {
    HG_ENTRY;
    return t ? tensor_numel(t->shape, t->rank) : 0;
}
hg_executor *hg_tensor_executor(const hg_tensor *t) {
    HG_ENTRY;
    tensor_state *state = t ? tensor_state_at(t->storage) : NULL;
    return state ? state->executor : NULL;
}

bool tensor_is_packed(const hg_tensor *t) {
    int64_t step = 1;
    if (tensor_numel(t->shape, t->rank) == 0) return true;
    for (uint32_t d = t->rank; d-- > 0;) {
        if (t->shape[d] != 1 && t->strides[d] != step) return false;
        step *= (int64_t)t->shape[d];
    }
    return true;
}

bool hg_tensor_is_contiguous(const hg_tensor *t) {
    HG_ENTRY;
    return t && tensor_is_packed(t);
}

bool hg_tensor_is_broadcast_compatible_with(const hg_tensor *a, const hg_tensor *b) {
    HG_ENTRY;
    if (!a || !b) return false;
    for (uint32_t d = 1; d <= a->rank && d <= b->rank; d++) {
        uint64_t x = a->shape[a->rank - d], y = b->shape[b->rank - d];
        if (x != y && x != 1 && y != 1) return false;
    }
    return true;
}

/* ---- views ---- */

hg_status tensor_give(const hg_tensor *t, const hg_tensor *like, hg_tensor **view) {
    HG_TRY(tensor_alias(t, view));
    (*view)->offset = tensor_numel(like->shape, like->rank) ? like->offset : 0;
    (*view)->rank = like->rank;
    memcpy((*view)->shape, like->shape, sizeof like->shape);
    memcpy((*view)->strides, like->strides, sizeof like->strides);
    return HG_OK;
}

static hg_status begin(const hg_tensor *t, hg_tensor **view) {
    if (!t || !view) return hg_null_argument(t ? "view" : "tensor");
    *view = NULL;
    return HG_OK;
}

static void drop_axis(hg_tensor *t, uint32_t axis) {
    t->rank--;
    for (uint32_t d = axis; d < t->rank; d++) {
        t->shape[d] = t->shape[d + 1];
        t->strides[d] = t->strides[d + 1];
    }
}

hg_status hg_tensor_select(const hg_tensor *t, int32_t dim, int64_t index, hg_tensor **view) {
    HG_ENTRY;
    uint32_t axis;
    HG_TRY(begin(t, view));
    HG_TRY(tensor_axis(dim, t->rank, &axis));
    int64_t at = index < 0 ? index + (int64_t)t->shape[axis] : index;
    if (at < 0 || at >= (int64_t)t->shape[axis])
        return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                       "index %lld is outside of axis %u, which has %llu", (long long)index,
                       (unsigned)axis, (unsigned long long)t->shape[axis]);
    hg_tensor like = tensor_like(t);
    like.offset += (uint64_t)(at * t->strides[axis]);
    drop_axis(&like, axis);
    return tensor_give(t, &like, view);
}

hg_status hg_tensor_narrow(const hg_tensor *t, int32_t dim, uint64_t start, uint64_t length,
                           hg_tensor **view) {
    HG_ENTRY;
    uint32_t axis;
    HG_TRY(begin(t, view));
    HG_TRY(tensor_axis(dim, t->rank, &axis));
    if (start > t->shape[axis] || length > t->shape[axis] - start)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                       "%llu elements from %llu on are outside of axis %u, which has %llu",
                       (unsigned long long)length, (unsigned long long)start, (unsigned)axis,
                       (unsigned long long)t->shape[axis]);
    hg_tensor like = tensor_like(t);
    if (length) like.offset += start * (uint64_t)t->strides[axis];
    like.shape[axis] = length;
    return tensor_give(t, &like, view);
}

static int64_t cut(int64_t x, int64_t low, int64_t high) {
    return x < low ? low : x > high ? high : x;
}

hg_status hg_tensor_slice(const hg_tensor *t, int32_t dim, int64_t start, int64_t stop,
                          int64_t step, hg_tensor **view) {
    HG_ENTRY;
    uint32_t axis;
    HG_TRY(begin(t, view));
    HG_TRY(tensor_axis(dim, t->rank, &axis));
    if (!step || step == INT64_MIN)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "a slice's step is %lld", (long long)step);
    int64_t n = (int64_t)t->shape[axis], low = step < 0 ? -1 : 0, high = step < 0 ? n - 1 : n;
    bool whole = stop == INT64_MIN || stop == INT64_MAX;
    int64_t from = cut(start < 0 && start >= -n ? start + n : start, low, high);
    int64_t to = whole ? (step < 0 ? -1 : n)
                       : cut(stop < 0 && stop >= -n ? stop + n : stop, low, high);
    int64_t way = step < 0 ? from - to : to - from, by = step < 0 ? -step : step;
    hg_tensor like = tensor_like(t);
    like.shape[axis] = way > 0 ? (uint64_t)((way - 1) / by + 1) : 0;
    if (like.shape[axis]) like.offset += (uint64_t)(from * t->strides[axis]);
    like.strides[axis] = like.shape[axis] > 1 ? t->strides[axis] * step : t->strides[axis];
    return tensor_give(t, &like, view);
}

hg_status hg_tensor_permute(const hg_tensor *t, const int32_t *order, uint32_t count,
                            hg_tensor **view) {
    HG_ENTRY;
    uint32_t seen = 0;
    HG_TRY(begin(t, view));
    if (count && !order) return hg_null_argument("order");
    if (count != t->rank)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "Invalid dimension: %u axes are named of %u",
                       (unsigned)count, (unsigned)t->rank);
    hg_tensor like = tensor_like(t);
    for (uint32_t d = 0; d < count; d++) {
        uint32_t axis;
        HG_TRY(tensor_axis(order[d], t->rank, &axis));
        if (seen & 1u << axis)
            return hg_fail(HG_ERROR_INVALID_ARGUMENT, "Invalid dimension: axis %u stands twice",
                           (unsigned)axis);
        seen |= 1u << axis;
        like.shape[d] = t->shape[axis];
        like.strides[d] = t->strides[axis];
    }
    return tensor_give(t, &like, view);
}

hg_status hg_tensor_transpose(const hg_tensor *t, hg_tensor **view) {
    HG_ENTRY;
    HG_TRY(begin(t, view));
    if (t->rank != 2)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                       "Invalid dimension: transpose is of 2 axes, the tensor has %u: "
                       "hg_tensor_permute",
                       (unsigned)t->rank);
    return hg_tensor_permute(t, (int32_t[]){1, 0}, 2, view);
}

hg_status hg_tensor_unsqueeze(const hg_tensor *t, int32_t dim, hg_tensor **view) {
    HG_ENTRY;
    uint32_t axis;
    HG_TRY(begin(t, view));
    HG_TRY(tensor_axis(dim, t->rank + 1, &axis));
    if (t->rank == HG_TENSOR_AXES)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "the tensor has %d axes already", HG_TENSOR_AXES);
    hg_tensor like = tensor_like(t);
    for (uint32_t d = t->rank; d > axis; d--) {
        like.shape[d] = t->shape[d - 1];
        like.strides[d] = t->strides[d - 1];
    }
    like.shape[axis] = 1;
    like.strides[axis] = axis < t->rank ? t->strides[axis] * (int64_t)t->shape[axis] : 1;
    like.rank++;
    return tensor_give(t, &like, view);
}

hg_status hg_tensor_squeeze(const hg_tensor *t, int32_t dim, hg_tensor **view) {
    HG_ENTRY;
    uint32_t axis;
    HG_TRY(begin(t, view));
    HG_TRY(tensor_axis(dim, t->rank, &axis));
    if (t->shape[axis] != 1)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "axis %u has %llu elements, 1 expected",
                       (unsigned)axis, (unsigned long long)t->shape[axis]);
    hg_tensor like = tensor_like(t);
    drop_axis(&like, axis);
    return tensor_give(t, &like, view);
}

hg_status hg_tensor_broadcast_to(const hg_tensor *t, const uint64_t *shape, uint32_t ndim,
                                 hg_tensor **view) {
    HG_ENTRY;
    uint64_t count;
    HG_TRY(begin(t, view));
    HG_TRY(tensor_check_shape(t->type, shape, ndim, &count));
    hg_tensor like = tensor_like(t);
    bool fits = ndim >= t->rank;
    for (uint32_t d = 0; d < ndim && fits; d++) {
        uint32_t own = d + t->rank - ndim;
        bool is_new = d < ndim - t->rank;
        fits = is_new || t->shape[own] == shape[d] || t->shape[own] == 1;
        like.shape[d] = shape[d];
        like.strides[d] = is_new || (t->shape[own] == 1 && shape[d] != 1) ? 0 : t->strides[own];
    }
    like.rank = ndim;
    if (fits) return tensor_give(t, &like, view);
    char a[220], b[200];
    return hg_fail(HG_ERROR_INVALID_ARGUMENT, "Tensor shape mismatch: %s does not broadcast to %s",
                   tensor_text(t, a), tensor_shape_text(shape, ndim, b));
}
