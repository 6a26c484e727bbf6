/* Views that turn axes around, move them, cut them, or broadcast several tensors together; complex
 * elements as pairs.
 * Must not know: operations. */
#include "tensor/tensor.h"
#include <string.h>

hg_status hg_tensor_flip(const hg_tensor *t, const int32_t *dims, uint32_t count,
                         hg_tensor **view) {
    HG_ENTRY;
    uint32_t turned = 0;
    if (!t || !view) return hg_null_argument(t ? "view" : "tensor");
    *view = NULL;
    if (count && !dims) return hg_null_argument("dims");
    if (!count) turned = (1u << t->rank) - 1;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t axis;
        HG_TRY(tensor_axis(dims[i], t->rank, &axis));
        if (turned >> axis & 1)
            return hg_fail(HG_ERROR_INVALID_ARGUMENT, "Invalid dimension: axis %u stands twice",
                           (unsigned)axis);
        turned |= 1u << axis;
    }
    hg_tensor like = tensor_like(t);
    bool empty = tensor_numel(t->shape, t->rank) == 0;
    for (uint32_t d = 0; d < t->rank && !empty; d++) {
        if (!(turned >> d & 1) || t->shape[d] <= 1) continue;
        like.offset += (t->shape[d] - 1) * (uint64_t)t->strides[d];
        like.strides[d] = -t->strides[d];
    }
    return tensor_give(t, &like, view);
}

hg_status hg_tensor_move_axis(const hg_tensor *t, int32_t from, int32_t to, hg_tensor **view) {
    HG_ENTRY;
    uint32_t source, target;
    int32_t order[HG_TENSOR_AXES];
    if (!t || !view) return hg_null_argument(t ? "view" : "tensor");
    *view = NULL;
    HG_TRY(tensor_axis(from, t->rank, &source));
    HG_TRY(tensor_axis(to, t->rank, &target));
    for (uint32_t d = 0, next = 0; d < t->rank; d++) {
        if (next == source) next++;
        order[d] = (int32_t)(d == target ? source : next++);
    }
    return hg_tensor_permute(t, order, t->rank, view);
}

enum { MOST_VIEWS = 65535 };

static hg_status check_count(const char *name, uint32_t count, uint32_t most) {
    if (count <= most) return HG_OK;
    return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%s: %u tensors, at most %u expected", name,
                   (unsigned)count, (unsigned)most);
}

static void release_all(hg_tensor **views, uint32_t count) {
    hg_error kept = *hg_error_record();
    for (uint32_t i = 0; i < count; i++) {
        hg_tensor_release(views[i]);
        views[i] = NULL;
    }
    *hg_error_record() = kept;
}

/* How much of an axis each part has; NULL: equal parts. */
static hg_status check_parts(const hg_tensor *t, uint32_t axis, const uint64_t *sizes,
                             uint32_t count) {
    uint64_t sum = 0, extent = t->shape[axis];
    if (!sizes && count && extent % count == 0) return HG_OK;
    bool fits = sizes != NULL;
    for (uint32_t i = 0; i < count && fits; i++) fits = hg_add_u64(sum, sizes[i], &sum);
    if (fits && sum == extent) return HG_OK;
    char text[220];
    return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%s is not %u %s along axis %u", tensor_text(t, text),
                   (unsigned)count, sizes ? "parts of these sizes" : "equal parts", (unsigned)axis);
}

hg_status hg_tensor_split(const hg_tensor *t, int32_t dim, const uint64_t *sizes, uint32_t count,
                          hg_tensor **views) {
    HG_ENTRY;
    uint32_t axis;
    uint64_t start = 0;
    if (!t || !views) return hg_null_argument(t ? "views" : "tensor");
    HG_TRY(check_count("split", count, MOST_VIEWS));
    for (uint32_t i = 0; i < count; i++) views[i] = NULL;
    HG_TRY(tensor_axis(dim, t->rank, &axis));
    HG_TRY(check_parts(t, axis, sizes, count));
    hg_status status = HG_OK;
    for (uint32_t i = 0; i < count && status == HG_OK; i++) {
        uint64_t size = sizes ? sizes[i] : t->shape[axis] / count;
        status = hg_tensor_narrow(t, (int32_t)axis, start, size, &views[i]);
        start += size;
    }
    if (status != HG_OK) release_all(views, count);
    return status;
}

static hg_status check_all(const char *name, const hg_tensor *const *tensors, uint32_t count,
                           uint32_t most, hg_tensor **views) {
    HG_TRY(check_count(name, count, most));
    if (count && (!tensors || !views)) return hg_null_argument(tensors ? "views" : "tensors");
    for (uint32_t i = 0; i < count; i++) views[i] = NULL;
    for (uint32_t i = 0; i < count; i++)
        if (!tensors[i]) return hg_null_argument("a tensor");
    return HG_OK;
}

hg_status hg_tensor_broadcast_arrays(const hg_tensor *const *tensors, uint32_t count,
                                     hg_tensor **views) {
    HG_ENTRY;
    uint64_t shape[HG_TENSOR_AXES];
    uint32_t rank;
    HG_TRY(check_all("broadcast_arrays", tensors, count, MOST_VIEWS, views));
    HG_TRY(tensor_broadcast("broadcast_arrays", tensors, count, shape, &rank));
    hg_status status = HG_OK;
    for (uint32_t i = 0; i < count && status == HG_OK; i++)
        status = hg_tensor_broadcast_to(tensors[i], shape, rank, &views[i]);
    if (status != HG_OK) release_all(views, count);
    return status;
}

hg_status hg_tensor_meshgrid(const hg_tensor *const *tensors, uint32_t count, bool xy,
                             hg_tensor **views) {
    HG_ENTRY;
    HG_TRY(check_all("meshgrid", tensors, count, HG_TENSOR_AXES, views));
    hg_tensor like[HG_TENSOR_AXES];
    for (uint32_t i = 0; i < count; i++)
        if (tensors[i]->rank > 1) {
            char text[220];
            return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                           "Tensor shape mismatch: meshgrid: %s (input %u), one axis expected",
                           tensor_text(tensors[i], text), (unsigned)i);
        }
    for (uint32_t i = 0; i < count; i++) {
        like[i] = tensor_like(tensors[i]);
        like[i].rank = count;
        for (uint32_t d = 0; d < count; d++) {
            const hg_tensor *along = tensors[xy && count > 1 && d < 2 ? 1 - d : d];
            like[i].shape[d] = along->rank ? along->shape[0] : 1;
            like[i].strides[d] = along == tensors[i] && along->rank ? along->strides[0] : 0;
        }
        uint64_t numel;
        HG_TRY(tensor_check_shape(like[i].type, like[i].shape, count, &numel));
        uint32_t own = xy && count > 1 && i < 2 ? 1 - i : i;
        for (uint32_t d = 0; d < count; d++) /* one tensor may stand twice */
            if (d != own) like[i].strides[d] = 0;
    }
    hg_status status = HG_OK;
    for (uint32_t i = 0; i < count && status == HG_OK; i++)
        status = tensor_give(tensors[i], &like[i], &views[i]);
    if (status != HG_OK) release_all(views, count);
    return status;
}

/* ---- complex elements ---- */

hg_status tensor_part(const hg_tensor *t, bool imaginary, hg_tensor **view) {
    HG_TRY(tensor_alias(t, view));
    (*view)->type = tensor_stored(t->type);
    (*view)->offset = t->offset * 2 + (imaginary && tensor_numel(t->shape, t->rank));
    for (uint32_t d = 0; d < t->rank; d++) (*view)->strides[d] = t->strides[d] * 2;
    return HG_OK;
}

hg_status hg_tensor_view_as_real(const hg_tensor *t, hg_tensor **view) {
    HG_ENTRY;
    char text[220];
    if (!t || !view) return hg_null_argument(t ? "view" : "tensor");
    *view = NULL;
    if (!tensor_is_complex(t->type))
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%s: complex elements expected",
                       tensor_text(t, text));
    if (t->rank == HG_TENSOR_AXES)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "the tensor has %d axes already", HG_TENSOR_AXES);
    HG_TRY(tensor_part(t, false, view));
    (*view)->shape[t->rank] = 2;
    (*view)->strides[t->rank] = 1;
    (*view)->rank++;
    return HG_OK;
}

static bool are_pairs(const hg_tensor *t) {
    if (!t->rank || t->shape[t->rank - 1] != 2) return false;
    if (!tensor_numel(t->shape, t->rank)) return true;
    bool are = t->strides[t->rank - 1] == 1 && t->offset % 2 == 0;
    for (uint32_t d = 0; d + 1 < t->rank && are; d++)
        are = t->strides[d] % 2 == 0 || t->shape[d] == 1;
    return are;
}

hg_status hg_tensor_view_as_complex(const hg_tensor *t, hg_tensor **view) {
    HG_ENTRY;
    char text[220];
    if (!t || !view) return hg_null_argument(t ? "view" : "tensor");
    *view = NULL;
    if (t->type != HG_TYPE_F32 && t->type != HG_TYPE_F64)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%s: pairs of f32 or f64 expected",
                       tensor_text(t, text));
    if (!are_pairs(t))
        return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                       "%s: pairs expected: a last axis of 2 elements side by side, other strides "
                       "and the place of the first even",
                       tensor_text(t, text));
    HG_TRY(tensor_alias(t, view));
    (*view)->type = tensor_complex_of(t->type);
    (*view)->offset = t->offset / 2;
    (*view)->rank--;
    for (uint32_t d = 0; d + 1 < t->rank; d++) (*view)->strides[d] = t->strides[d] / 2;
    return HG_OK;
}
