/* Elements in another order of memory: reshape and contiguous, to and from the host, as text.
 * Must not know: which operations there are. */
#include "tensor/tensor.h"
#include <stdio.h>
#include <string.h>

/* ---- reshape ---- */

static hg_status begin(const hg_tensor *t, hg_tensor **view) {
    if (!t || !view) return hg_null_argument(t ? "view" : "tensor");
    *view = NULL;
    return HG_OK;
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
        int64_t least = 1, step = 0;
        bool any = false;
        for (uint32_t d = from; d-- > first;) { /* one axis in memory? */
            if (t->shape[d] == 1) continue;
            if (any && t->strides[d] != step) return false;
            if (!any) least = t->strides[d];
            any = true;
            step = t->strides[d] * (int64_t)t->shape[d];
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
    if (tensor_is_packed(t)) return tensor_alias(t, result);
    if (!tensor_state_at(t->storage)) { /* on the host still */
        uint64_t numel = tensor_numel(t->shape, t->rank);
        void *data = hg_alloc((size_t)(numel * tensor_size(t->type)) + 1);
        if (!data) return hg_fail_memory();
        hg_status status = hg_tensor_to_host(t, data, numel);
        if (status == HG_OK)
            status = hg_tensor_from_host(NULL, t->type, data, numel, t->shape, t->rank, result);
        hg_free(data);
        return status;
    }
    HG_TRY(tensor_place(t->storage, t->storage->state));
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
    hg_tensor like = tensor_like(t), *copy = NULL;
    like.rank = ndim;
    memcpy(like.shape, shape, ndim * sizeof *shape);
    if (restride(t, shape, ndim, like.strides)) return tensor_give(t, &like, result);
    HG_TRY(packed(t, &copy));
    like.offset = copy->offset;
    tensor_c_strides(shape, ndim, like.strides);
    hg_status status = tensor_give(copy, &like, result);
    hg_tensor_release(copy);
    return status;
}

hg_status hg_tensor_lazy(const hg_tensor *t, hg_tensor **result) {
    HG_ENTRY;
    HG_TRY(begin(t, result));
    HG_TRY(tensor_alias(t, result));
    (*result)->lazy = true;
    return HG_OK;
}

hg_status hg_tensor_view_1d(const hg_tensor *t, hg_tensor **result) {
    HG_ENTRY;
    return hg_tensor_reshape(t, (uint64_t[]){UINT64_MAX}, 1, result);
}

/* ---- elements on the host ---- */

/* Elements between a place with strides and one without gaps. */
static void move(const hg_tensor *t, char *strided, char *packed_bytes, bool out) {
    uint64_t at[HG_TENSOR_AXES] = {0}, size = tensor_size(t->type);
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

/* What strides reach of an executor's memory, and no more, is read. */
static hg_status read_strided(const hg_tensor *t, tensor_state *state, void *data) {
    uint64_t size = tensor_size(t->type), first = t->offset, last = t->offset;
    hg_tensor like = tensor_like(t);
    for (uint32_t d = 0; d < t->rank; d++) {
        uint64_t way = (t->shape[d] - 1) * (uint64_t)t->strides[d];
        *(t->strides[d] < 0 ? &first : &last) += way;
    }
    uint64_t bytes = (last - first + 1) * size;
    char *all = hg_alloc((size_t)bytes);
    if (!all) return hg_fail_memory();
    hg_status status = hg_buffer_read(state->backend, t->storage->buffer, first * size, all, bytes);
    like.offset = t->offset - first;
    if (status == HG_OK) move(&like, all, data, true);
    hg_free(all);
    return status;
}

/* As an operation, which writes these elements only: others may write those between them. */
static hg_status write_strided(hg_tensor *t, tensor_state *state, const void *data,
                               uint64_t count) {
    hg_tensor *from;
    hg_element type = tensor_copied(t->type);
    tensor_formula copy = {
        .name = "copy_from_host", .expression = "a", .computes = type, .gives = type};
    HG_TRY(hg_tensor_from_host(state->executor, t->type, data, count, t->shape, t->rank, &from));
    const hg_tensor *input = from;
    hg_status status = tensor_map_into(state, &copy, &input, 1, t);
    hg_error kept = *hg_error_record();
    hg_tensor_release(from);
    *hg_error_record() = kept;
    return status;
}

hg_status hg_tensor_to_host(const hg_tensor *t, void *data, uint64_t count) {
    HG_ENTRY;
    if (!t || (count && !data)) return hg_null_argument(t ? "data" : "tensor");
    HG_TRY(check_count(t, count));
    HG_TRY(tensor_ready(t->storage));
    if (!count) return HG_OK;
    tensor_state *state = tensor_state_at(t->storage);
    uint64_t size = tensor_size(t->type);
    if (state) HG_TRY(tensor_await(state));
    if (state && !tensor_is_packed(t)) return read_strided(t, state, data);
    if (state)
        return hg_buffer_read(state->backend, t->storage->buffer, t->offset * size, data,
                              count * size);
    move(t, t->storage->host, data, true);
    return HG_OK;
}

hg_status hg_tensor_buffer(const hg_tensor *t, hg_buffer *buffer, uint64_t *offset) {
    HG_ENTRY;
    if (!t || !buffer || !offset)
        return hg_null_argument(!t ? "tensor" : !buffer ? "buffer" : "offset");
    tensor_state *state = tensor_state_at(t->storage);
    if (!state)
        return hg_fail(
            HG_ERROR_INVALID_ARGUMENT,
            "the tensor lies in memory of the host: hg_tensor_to puts it on an executor");
    HG_TRY(tensor_place(t->storage, state));
    HG_TRY(tensor_writable(t->storage));
    if (!t->storage->buffer.handle)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "the tensor has no elements");
    hg_atomic_store(&t->storage->exported, true, HG_RELAXED);
    *buffer = t->storage->buffer;
    *offset = t->offset * hg_element_size(t->type);
    return HG_OK;
}

hg_status hg_tensor_copy_from_host(hg_tensor *t, const void *data, uint64_t count) {
    HG_ENTRY;
    if (!t || (count && !data)) return hg_null_argument(t ? "data" : "tensor");
    HG_TRY(check_count(t, count));
    HG_TRY(tensor_check_target("copy_from_host", t));
    HG_TRY(tensor_writable(t->storage));
    if (!count) return HG_OK;
    tensor_state *state = tensor_state_at(t->storage);
    uint64_t size = tensor_size(t->type);
    if (state) HG_TRY(tensor_await(state));
    if (state && !tensor_is_packed(t)) return write_strided(t, state, data, count);
    if (state)
        return hg_buffer_write(state->backend, t->storage->buffer, t->offset * size, data,
                               count * size);
    move(t, t->storage->host, (void *)(uintptr_t)data, false);
    return HG_OK;
}

/* Of a part of a complex element, or the element. */
static double value_of(hg_element type, const char *bytes, uint32_t part) {
    double value = 0;
    hg_type stored = tensor_stored(type);
    if (type == HG_ELEMENT_BOOL) return *bytes != 0;
    HG_IGNORE(hg_type_to_f64(stored, bytes + part * hg_type_size_bytes(stored), &value));
    return value; /* it is a type */
}

hg_status hg_tensor_item_complex(const hg_tensor *t, double value[2]) {
    HG_ENTRY;
    char bytes[512], text[220];
    if (!t || !value) return hg_null_argument(t ? "value" : "tensor");
    if (tensor_numel(t->shape, t->rank) != 1)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%s has not one element", tensor_text(t, text));
    HG_TRY(hg_tensor_to_host(t, bytes, 1));
    value[0] = value_of(t->type, bytes, 0);
    value[1] = tensor_is_complex(t->type) ? value_of(t->type, bytes, 1) : 0;
    return HG_OK;
}

hg_status hg_tensor_item(const hg_tensor *t, double *value) {
    HG_ENTRY;
    double parts[2];
    char text[220];
    if (!t || !value) return hg_null_argument(t ? "value" : "tensor");
    if (tensor_is_complex(t->type))
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%s is no single number: hg_tensor_item_complex",
                       tensor_text(t, text));
    HG_TRY(hg_tensor_item_complex(t, parts));
    *value = parts[0];
    return HG_OK;
}

/* ---- text ---- */

enum { SHOWN = 3 }; /* elements at each end of a long axis */

static void print_element(hg_text *out, hg_element type, const char *at) {
    double value = value_of(type, at, 0);
    int digits = tensor_stored(type) == HG_TYPE_F64 ? 17 : 6;
    if (type == HG_ELEMENT_BOOL)
        hg_text_addf(out, "%s", value != 0 ? "true" : "false");
    else if (tensor_is_complex(type))
        hg_text_addf(out, "%.*g%+.*gi", digits, value, digits, value_of(type, at, 1));
    else if (hg_type_is_float((hg_type)type))
        hg_text_addf(out, "%.*g", digits, value);
    else
        hg_text_addf(out, "%.0f", value);
}

static void print_axis(hg_text *out, const hg_tensor *t, const char *data, uint32_t axis) {
    uint64_t size = tensor_size(t->type);
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
    char *data = hg_alloc((size_t)(numel * tensor_size(t->type)) + 1);
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

/* ---- another executor ---- */

hg_status hg_tensor_to(const hg_tensor *t, hg_executor *executor, hg_tensor **result) {
    HG_ENTRY;
    tensor_state *state;
    if (!t || !result) return hg_null_argument(t ? "result" : "tensor");
    *result = NULL;
    HG_TRY(tensor_state_of(executor, &state));
    tensor_state *own = tensor_state_at(t->storage);
    if (own == state || !own) {
        HG_TRY(tensor_place(t->storage, state));
        return tensor_alias(t, result);
    }
    uint64_t numel = tensor_numel(t->shape, t->rank);
    void *data = hg_alloc((size_t)(numel * tensor_size(t->type)) + 1);
    if (!data) return hg_fail_memory();
    hg_status status = hg_tensor_to_host(t, data, numel);
    if (status == HG_OK)
        status = hg_tensor_from_host(executor, t->type, data, numel, t->shape, t->rank, result);
    hg_free(data);
    return status;
}
