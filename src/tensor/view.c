/* Views: other shapes and strides over the same memory. What tensors are, and their elements on
 * the host.
 * Must not know: operations. */
#include "tensor/tensor.h"
#include <stdio.h>
#include <string.h>

/* ---- types ---- */

const char *hg_element_name(hg_element type) {
    HG_ENTRY;
    return type == HG_ELEMENT_BOOL ? "bool" : hg_type_name((hg_type)type);
}

uint64_t hg_element_size(hg_element type) {
    HG_ENTRY;
    return type == HG_ELEMENT_BOOL ? 1 : hg_type_size_bytes((hg_type)type);
}

bool hg_element_from_name(const char *name, hg_element *type) {
    HG_ENTRY;
    hg_type own;
    if (!name || !type) return false;
    if (strcmp(name, "bool") == 0) {
        *type = HG_ELEMENT_BOOL;
        return true;
    }
    if (!hg_type_from_name(name, strlen(name), &own)) return false;
    *type = own;
    return true;
}

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
    return t && t->storage->state ? t->storage->state->executor : NULL;
}

static bool is_packed(const hg_tensor *t) {
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
    return t && is_packed(t);
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

/* ---- views ---- */

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

/* With the elements as another view's, which takes over `like`. */
static hg_status give(const hg_tensor *t, const hg_tensor *like, hg_tensor **view) {
    HG_TRY(tensor_alias(t, view));
    (*view)->offset = like->offset;
    (*view)->rank = like->rank;
    memcpy((*view)->shape, like->shape, sizeof like->shape);
    memcpy((*view)->strides, like->strides, sizeof like->strides);
    return HG_OK;
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
    hg_tensor like = *t;
    like.offset += (uint64_t)(at * t->strides[axis]);
    drop_axis(&like, axis);
    return give(t, &like, view);
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
    hg_tensor like = *t;
    if (length) like.offset += start * (uint64_t)t->strides[axis];
    like.shape[axis] = length;
    return give(t, &like, view);
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
    hg_tensor like = *t;
    like.shape[axis] = way > 0 ? (uint64_t)((way - 1) / by + 1) : 0;
    if (like.shape[axis]) like.offset += (uint64_t)(from * t->strides[axis]);
    like.strides[axis] = like.shape[axis] > 1 ? t->strides[axis] * step : t->strides[axis];
    return give(t, &like, view);
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
    hg_tensor like = *t;
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
    return give(t, &like, view);
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
    hg_tensor like = *t;
    for (uint32_t d = t->rank; d > axis; d--) {
        like.shape[d] = t->shape[d - 1];
        like.strides[d] = t->strides[d - 1];
    }
    like.shape[axis] = 1;
    like.strides[axis] = axis < t->rank ? t->strides[axis] * (int64_t)t->shape[axis] : 1;
    like.rank++;
    return give(t, &like, view);
}

hg_status hg_tensor_squeeze(const hg_tensor *t, int32_t dim, hg_tensor **view) {
    HG_ENTRY;
    uint32_t axis;
    HG_TRY(begin(t, view));
    HG_TRY(tensor_axis(dim, t->rank, &axis));
    if (t->shape[axis] != 1)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "axis %u has %llu elements, 1 expected",
                       (unsigned)axis, (unsigned long long)t->shape[axis]);
    hg_tensor like = *t;
    drop_axis(&like, axis);
    return give(t, &like, view);
}

hg_status hg_tensor_broadcast_to(const hg_tensor *t, const uint64_t *shape, uint32_t ndim,
                                 hg_tensor **view) {
    HG_ENTRY;
    uint64_t count;
    HG_TRY(begin(t, view));
    HG_TRY(tensor_check_shape(t->type, shape, ndim, &count));
    hg_tensor like = *t;
    bool fits = ndim >= t->rank;
    for (uint32_t d = 0; d < ndim && fits; d++) {
        uint32_t own = d + t->rank - ndim;
        bool is_new = d < ndim - t->rank;
        fits = is_new || t->shape[own] == shape[d] || t->shape[own] == 1;
        like.shape[d] = shape[d];
        like.strides[d] = is_new || (t->shape[own] == 1 && shape[d] != 1) ? 0 : t->strides[own];
    }
    like.rank = ndim;
    if (fits) return give(t, &like, view);
    char a[220], b[200];
    return hg_fail(HG_ERROR_INVALID_ARGUMENT, "Tensor shape mismatch: %s does not broadcast to %s",
                   tensor_text(t, a), tensor_shape_text(shape, ndim, b));
}

/* The strides with which elements in C order have another shape; false: no strides do. */
static bool restride(const hg_tensor *t, const uint64_t *shape, uint32_t rank, int64_t *strides) {
    uint32_t from = 0, to = 0;
    tensor_c_strides(shape, rank, strides);
    if (tensor_numel(shape, rank) == 0) return true;
    while (to < rank || from < t->rank) {
        uint64_t have = 1, want = 1;
        uint32_t first = from, begin_of = to;
        if (from < t->rank) have = t->shape[from++];
        if (to < rank) want = shape[to++];
        while (have != want)
            if (have < want)
                have *= t->shape[from++];
            else
                want *= shape[to++];
        int64_t step = 0;
        bool any = false;
        for (uint32_t d = from; d-- > first;) { /* one axis in memory? */
            if (t->shape[d] == 1) continue;
            if (any && t->strides[d] != step) return false;
            if (!any) step = t->strides[d];
            any = true;
            step = t->strides[d] * (int64_t)t->shape[d];
        }
        int64_t least = 1;
        for (uint32_t d = from; d-- > first;)
            if (t->shape[d] != 1) {
                least = t->strides[d];
                break;
            }
        for (uint32_t d = to; d-- > begin_of;) {
            strides[d] = least;
            least *= (int64_t)shape[d];
        }
    }
    return true;
}

static hg_status reshape_shape(const hg_tensor *t, const uint64_t *given, uint32_t ndim,
                               uint64_t *shape) {
    uint64_t numel = tensor_numel(t->shape, t->rank), known = 1, count;
    uint32_t open = UINT32_MAX;
    char a[220], b[200];
    if (ndim > HG_TENSOR_AXES || (ndim && !given))
        return tensor_check_shape(t->type, given, ndim, &count);
    for (uint32_t d = 0; d < ndim; d++) {
        shape[d] = given[d];
        if (given[d] != UINT64_MAX)
            known *= given[d];
        else if (open != UINT32_MAX)
            return hg_fail(HG_ERROR_INVALID_ARGUMENT, "two extents of a shape are left open");
        else
            open = d;
    }
    if (open != UINT32_MAX) shape[open] = known ? numel / known : 0;
    HG_TRY(tensor_check_shape(t->type, shape, ndim, &count));
    if (count == numel) return HG_OK;
    return hg_fail(HG_ERROR_INVALID_ARGUMENT, "Tensor shape mismatch: %s has no shape %s",
                   tensor_text(t, a), tensor_shape_text(shape, ndim, b));
}

static hg_status packed(const hg_tensor *t, hg_tensor **result) {
    tensor_run run;
    if (is_packed(t)) return tensor_alias(t, result);
    if (!t->storage->state) { /* on the host still */
        uint64_t numel = tensor_numel(t->shape, t->rank);
        void *data = hg_alloc((size_t)(numel * hg_element_size(t->type)) + 1);
        if (!data) return hg_fail_memory();
        hg_status status = hg_tensor_to_host(t, data, numel);
        if (status == HG_OK)
            status = hg_tensor_from_host(NULL, t->type, data, numel, t->shape, t->rank, result);
        hg_free(data);
        return status;
    }
    HG_TRY(tensor_run_begin(&run, t->storage->state->executor));
    hg_status status = tensor_cast(&run, t, t->type, result);
    status = tensor_run_end(&run, status);
    if (status == HG_OK || !*result) return status;
    hg_tensor_release(*result);
    *result = NULL;
    return status;
}

hg_status hg_tensor_contiguous(const hg_tensor *t, hg_tensor **result) {
    HG_ENTRY;
    HG_TRY(begin(t, result));
    return packed(t, result);
}

hg_status hg_tensor_reshape(const hg_tensor *t, const uint64_t *given, uint32_t ndim,
                            hg_tensor **result) {
    HG_ENTRY;
    uint64_t shape[HG_TENSOR_AXES];
    HG_TRY(begin(t, result));
    HG_TRY(reshape_shape(t, given, ndim, shape));
    hg_tensor like = *t, *copy = NULL;
    like.rank = ndim;
    memcpy(like.shape, shape, ndim * sizeof *shape);
    if (restride(t, shape, ndim, like.strides)) return give(t, &like, result);
    HG_TRY(packed(t, &copy));
    like.offset = copy->offset;
    tensor_c_strides(shape, ndim, like.strides);
    hg_status status = give(copy, &like, result);
    hg_tensor_release(copy);
    return status;
}

hg_status hg_tensor_view_1d(const hg_tensor *t, hg_tensor **result) {
    HG_ENTRY;
    return hg_tensor_reshape(t, (uint64_t[]){UINT64_MAX}, 1, result);
}

/* ---- elements on the host ---- */

/* Elements between a place with strides and one without gaps. */
static void move(const hg_tensor *t, char *strided, char *packed_bytes, bool out) {
    uint64_t at[HG_TENSOR_AXES] = {0}, size = hg_element_size(t->type);
    uint64_t numel = tensor_numel(t->shape, t->rank);
    uint32_t last = t->rank;
    char *place = strided + t->offset * size;
    uint64_t inner = 1;
    int64_t step = 1;
    if (last) {
        inner = t->shape[--last];
        step = t->strides[last];
    }
    for (uint64_t done = 0; done < numel; done += inner) {
        if (step == 1) {
            memcpy(out ? packed_bytes : place, out ? place : packed_bytes, (size_t)(inner * size));
            packed_bytes += inner * size;
        } else
            for (uint64_t i = 0; i < inner; i++, packed_bytes += size) {
                char *element = place + (int64_t)i * step * (int64_t)size;
                memcpy(out ? packed_bytes : element, out ? element : packed_bytes, (size_t)size);
            }
        for (uint32_t d = last; d-- > 0;) {
            place += t->strides[d] * (int64_t)size;
            if (++at[d] < t->shape[d]) break;
            place -= (int64_t)at[d] * t->strides[d] * (int64_t)size;
            at[d] = 0;
        }
    }
}

static hg_status check_count(const hg_tensor *t, uint64_t count) {
    uint64_t numel = tensor_numel(t->shape, t->rank);
    if (count == numel) return HG_OK;
    return hg_fail(HG_ERROR_INVALID_ARGUMENT, "Invalid buffer size: expected %llu, got %llu",
                   (unsigned long long)numel, (unsigned long long)count);
}

/* The bytes of the whole storage, or what stands for it. */
static hg_status with_whole(const hg_tensor *t, void *data, bool out) {
    tensor_storage *s = t->storage;
    uint64_t size = hg_element_size(t->type), bytes = s->count * size;
    if (!s->state) {
        move(t, s->host, data, out);
        return HG_OK;
    }
    char *all = hg_alloc((size_t)bytes + 1);
    if (!all) return hg_fail_memory();
    hg_status status = hg_buffer_read(s->state->backend, s->buffer, 0, all, bytes);
    if (status == HG_OK) move(t, all, data, out);
    if (status == HG_OK && !out)
        status = hg_buffer_write(s->state->backend, s->buffer, 0, all, bytes);
    hg_free(all);
    return status;
}

hg_status hg_tensor_to_host(const hg_tensor *t, void *data, uint64_t count) {
    HG_ENTRY;
    if (!t || (count && !data)) return hg_null_argument(t ? "data" : "tensor");
    HG_TRY(check_count(t, count));
    HG_TRY(tensor_ready(t->storage));
    if (!count) return HG_OK;
    tensor_storage *s = t->storage;
    uint64_t size = hg_element_size(t->type);
    if (!s->state || !is_packed(t)) return with_whole(t, data, true);
    return hg_buffer_read(s->state->backend, s->buffer, t->offset * size, data, count * size);
}

hg_status hg_tensor_copy_from_host(hg_tensor *t, const void *data, uint64_t count) {
    HG_ENTRY;
    if (!t || (count && !data)) return hg_null_argument(t ? "data" : "tensor");
    HG_TRY(check_count(t, count));
    HG_TRY(tensor_ready(t->storage));
    if (!count) return HG_OK;
    tensor_storage *s = t->storage;
    uint64_t size = hg_element_size(t->type);
    if (!s->state || !is_packed(t)) return with_whole(t, (void *)(uintptr_t)data, false);
    return hg_buffer_write(s->state->backend, s->buffer, t->offset * size, data, count * size);
}

static double value_of(hg_element type, const void *bytes) {
    double value = 0;
    if (type == HG_ELEMENT_BOOL) return *(const uint8_t *)bytes != 0;
    HG_IGNORE(hg_type_to_f64((hg_type)type, bytes, &value)); /* it is a type */
    return value;
}

hg_status hg_tensor_item(const hg_tensor *t, double *value) {
    HG_ENTRY;
    char bytes[512], text[220];
    if (!t || !value) return hg_null_argument(t ? "value" : "tensor");
    if (tensor_numel(t->shape, t->rank) != 1)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%s has not one element", tensor_text(t, text));
    HG_TRY(hg_tensor_to_host(t, bytes, 1));
    *value = value_of(t->type, bytes);
    return HG_OK;
}

/* ---- text ---- */

enum { SHOWN = 3 }; /* elements at each end of a long axis */

static void print_element(hg_text *out, hg_element type, const char *at) {
    double value = value_of(type, at);
    if (type == HG_ELEMENT_BOOL)
        hg_text_addf(out, "%s", value != 0 ? "true" : "false");
    else if (hg_type_is_float((hg_type)type))
        hg_text_addf(out, "%.*g", type == HG_TYPE_F64 ? 17 : 6, value);
    else
        hg_text_addf(out, "%.0f", value);
}

static void print_axis(hg_text *out, const hg_tensor *t, const char *data, uint32_t axis) {
    uint64_t size = hg_element_size(t->type);
    if (axis == t->rank) {
        print_element(out, t->type, data);
        return;
    }
    uint64_t n = t->shape[axis], below = tensor_numel(t->shape + axis + 1, t->rank - axis - 1);
    hg_text_addf(out, "[");
    for (uint64_t i = 0; i < n && !out->failed; i++) {
        if (i) hg_text_addf(out, axis + 1 == t->rank ? ", " : ",\n%*s", (int)axis + 1, "");
        if (n > 8 && i == SHOWN) {
            hg_text_addf(out, "…");
            i = n - SHOWN - 1;
            continue;
        }
        print_axis(out, t, data + i * below * size, axis + 1);
    }
    hg_text_addf(out, "]");
}

hg_status hg_tensor_print(const hg_tensor *t, char **text) {
    HG_ENTRY;
    char head[220];
    if (!t || !text) return hg_null_argument(t ? "text" : "tensor");
    uint64_t numel = tensor_numel(t->shape, t->rank);
    char *data = hg_alloc((size_t)(numel * hg_element_size(t->type)) + 1);
    if (!data) return hg_fail_memory();
    hg_text out = {0};
    hg_status status = hg_tensor_to_host(t, data, numel);
    if (status == HG_OK) {
        hg_text_addf(&out, "%s = ", tensor_text(t, head));
        print_axis(&out, t, data, 0);
        if (out.failed) status = hg_fail_memory();
    }
    hg_free(data);
    if (status == HG_OK)
        *text = out.data;
    else
        hg_text_free(&out);
    return status;
}
