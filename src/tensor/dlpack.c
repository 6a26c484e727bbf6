/* Tensors of and for other libraries by DLPack.
 * Must not know: operations. */
#include "tensor/tensor.h"
#include <hologram/backend.h>
#include <hologram/dlpack.h>
#include <string.h>

/* ---- types ---- */

static hg_status code_of(hg_element type, hg_dlpack_tensor *to) {
    static const uint8_t CODES[] = {HG_DLPACK_BOOL, HG_DLPACK_UINT, HG_DLPACK_INT, HG_DLPACK_FLOAT,
                                    HG_DLPACK_COMPLEX};
    uint64_t size = tensor_size(type);
    if (size / tensor_parts(type) > 8)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "DLPack has no elements of type %s",
                       hg_element_name(type));
    to->code = type == HG_TYPE_BF16 ? (uint8_t)HG_DLPACK_BFLOAT : CODES[tensor_kind(type)];
    to->bits = (uint8_t)(size * 8);
    to->lanes = 1;
    return HG_OK;
}

static hg_status type_of(const hg_dlpack_tensor *from, hg_element *type) {
    for (hg_element t = 0; t <= HG_ELEMENT_COMPLEX128; t++) {
        hg_dlpack_tensor own;
        if (!tensor_size(t) || tensor_size(t) / tensor_parts(t) > 8) continue;
        HG_TRY(code_of(t, &own));
        if (own.code != from->code || own.bits != from->bits || from->lanes != 1) continue;
        *type = t;
        return HG_OK;
    }
    return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                   "DLPack: elements of code %u, %u bits and %u lanes are not known here",
                   from->code, from->bits, from->lanes);
}

/* ---- to another library ---- */

/* What is handed out, with what it needs. */
typedef struct handed {
    union {
        hg_dlpack_managed old;
        hg_dlpack_versioned versioned;
    } managed;
    hg_tensor *tensor; /* whose memory it is */
    void *copy;        /* or this is */
    int64_t shape[HG_TENSOR_AXES], strides[HG_TENSOR_AXES];
} handed;

static void free_handed(handed *h) {
    hg_tensor_release(h->tensor);
    hg_free(h->copy);
    hg_free(h);
}
static void delete_old(hg_dlpack_managed *self) { free_handed(self->context); }
static void delete_versioned(hg_dlpack_versioned *self) { free_handed(self->context); }

/* The address that others see; false: there is none. */
static bool shared_address(const hg_tensor *t, hg_dlpack_tensor *to) {
    const tensor_storage *s = t->storage;
    const tensor_state *state = tensor_state_at(s);
    hg_native_buffer native = {.size = sizeof native};
    to->device_type = HG_MEMORY_HOST;
    to->data = s->host;
    if (!state) return s->host != NULL;
    if (hg_buffer_native(state->backend, s->buffer, &native) != HG_OK ||
        (native.kind != HG_MEMORY_HOST && native.kind != HG_MEMORY_CUDA &&
         native.kind != HG_MEMORY_CUDA_HOST))
        return false;
    hg_atomic_store(&t->storage->exported, true, HG_RELAXED);
    to->data = (void *)(uintptr_t)native.memory;
    to->device_type = (int32_t)native.kind;
    to->device_id = (int32_t)native.device;
    return true;
}

static hg_status copy_out(handed *h, hg_dlpack_tensor *to) {
    const hg_tensor *t = h->tensor;
    uint64_t count = tensor_numel(t->shape, t->rank);
    h->copy = hg_alloc((size_t)(count * tensor_size(t->type)) + 1);
    if (!h->copy) return hg_fail_memory();
    to->data = h->copy;
    to->device_type = HG_MEMORY_HOST;
    to->device_id = 0;
    tensor_c_strides(t->shape, t->rank, h->strides);
    return hg_tensor_to_host(t, h->copy, count);
}

static hg_status fill(handed *h, hg_dlpack_tensor *to) {
    const hg_tensor *t = h->tensor;
    HG_TRY(code_of(t->type, to));
    HG_TRY(tensor_ready(t->storage));
    to->ndim = (int32_t)t->rank;
    to->shape = h->shape;
    to->strides = h->strides;
    for (uint32_t d = 0; d < t->rank; d++) {
        h->shape[d] = (int64_t)t->shape[d];
        h->strides[d] = t->strides[d];
    }
    if (!tensor_numel(t->shape, t->rank)) {
        to->device_type = HG_MEMORY_HOST;
        return HG_OK;
    }
    tensor_state *state = tensor_state_at(t->storage);
    if (state) HG_TRY(tensor_await(state));
    if (!shared_address(t, to)) return copy_out(h, to);
    to->byte_offset = t->offset * tensor_size(t->type);
    return HG_OK;
}

hg_status hg_tensor_to_dlpack(const hg_tensor *t, bool versioned, void **managed) {
    HG_ENTRY;
    if (!t || !managed) return hg_null_argument(t ? "managed" : "tensor");
    *managed = NULL;
    handed *h = hg_calloc(1, sizeof *h);
    if (!h) return hg_fail_memory();
    hg_status status = tensor_alias(t, &h->tensor);
    if (status == HG_OK)
        status = fill(h, versioned ? &h->managed.versioned.tensor : &h->managed.old.tensor);
    if (status != HG_OK) {
        hg_error kept = *hg_error_record();
        free_handed(h);
        *hg_error_record() = kept;
        return status;
    }
    if (versioned) {
        h->managed.versioned.major = HG_DLPACK_MAJOR;
        h->managed.versioned.minor = HG_DLPACK_MINOR;
        h->managed.versioned.context = h;
        h->managed.versioned.deleter = delete_versioned;
        h->managed.versioned.flags = h->copy ? HG_DLPACK_IS_COPIED : 0;
    } else {
        h->managed.old.context = h;
        h->managed.old.deleter = delete_old;
    }
    *managed = &h->managed;
    return HG_OK;
}

/* ---- from another library ---- */

static void release_old(void *user) {
    hg_dlpack_managed *m = user;
    if (m->deleter) m->deleter(m);
}
static void release_versioned(void *user) {
    hg_dlpack_versioned *m = user;
    if (m->deleter) m->deleter(m);
}

typedef struct taken {
    hg_element type;
    uint32_t rank;
    uint64_t shape[HG_TENSOR_AXES];
    int64_t strides[HG_TENSOR_AXES];
    uint64_t count;
    char *data;
} taken;

static hg_status check(const hg_dlpack_tensor *from, taken *t) {
    HG_TRY(type_of(from, &t->type));
    if (from->ndim < 0 || from->ndim > HG_TENSOR_AXES)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "DLPack: %d axes, at most %d expected",
                       (int)from->ndim, HG_TENSOR_AXES);
    t->rank = (uint32_t)from->ndim;
    if (t->rank && !from->shape) return hg_null_argument("DLPack: shape");
    for (uint32_t d = 0; d < t->rank; d++) {
        if (from->shape[d] < 0)
            return hg_fail(HG_ERROR_INVALID_ARGUMENT, "DLPack: extent %lld of axis %u",
                           (long long)from->shape[d], (unsigned)d);
        t->shape[d] = (uint64_t)from->shape[d];
    }
    HG_TRY(tensor_check_shape(t->type, t->shape, t->rank, &t->count));
    tensor_c_strides(t->shape, t->rank, t->strides);
    if (from->strides && t->rank) memcpy(t->strides, from->strides, t->rank * sizeof *t->strides);
    if (t->count && !from->data) return hg_null_argument("DLPack: data");
    t->data = t->count ? (char *)from->data + from->byte_offset : NULL;
    if (!t->count) tensor_c_strides(t->shape, t->rank, t->strides);
    return HG_OK;
}

/* Memory of a CUDA device, in place. */
static hg_status take_cuda(hg_executor *executor, const hg_dlpack_tensor *from, const taken *t,
                           hg_tensor **tensor) {
    uint64_t span = 1;
    for (uint32_t d = 0; d < t->rank; d++) {
        uint64_t way;
        if (t->strides[d] < 0 || !hg_mul_u64(t->shape[d] - 1, (uint64_t)t->strides[d], &way) ||
            !hg_add_u64(span, way, &span) || span > INT64_MAX / 8)
            return hg_fail(HG_ERROR_INVALID_ARGUMENT, "DLPack: stride %lld of axis %u on a device",
                           (long long)t->strides[d], (unsigned)d);
    }
    hg_tensor *whole;
    HG_TRY(hg_tensor_empty(executor, t->type, (uint64_t[]){0}, 1, &whole));
    tensor_state *state = whole->storage->state;
    hg_tensor_release(whole);
    HG_TRY(tensor_make(state, t->type, &span, 1, tensor));
    hg_status status = hg_buffer_import_device(
        state->backend, HG_MEMORY_CUDA, (uint32_t)from->device_id, t->data,
        span * tensor_size(t->type), &(*tensor)->storage->buffer);
    if (status == HG_OK) {
        tensor_storage_imported((*tensor)->storage, state);
        (*tensor)->rank = t->rank;
        memcpy((*tensor)->shape, t->shape, sizeof t->shape);
        memcpy((*tensor)->strides, t->strides, sizeof t->strides);
        return HG_OK;
    }
    hg_tensor_release(*tensor);
    *tensor = NULL;
    return status;
}

static hg_status copy_in(hg_executor *executor, const taken *t, hg_tensor **tensor) {
    hg_tensor *view;
    void *data = hg_alloc((size_t)(t->count * tensor_size(t->type)) + 1);
    if (!data) return hg_fail_memory();
    hg_status status = hg_tensor_wrap_host(NULL, t->type, t->data, t->shape, t->strides, t->rank,
                                           NULL, NULL, &view);
    if (status == HG_OK) {
        status = hg_tensor_to_host(view, data, t->count);
        hg_tensor_release(view);
    }
    if (status == HG_OK)
        status = hg_tensor_from_host(executor, t->type, data, t->count, t->shape, t->rank, tensor);
    hg_free(data);
    return status;
}

/* *copied: nothing of theirs is needed any more. */
static hg_status take(hg_executor *executor, const hg_dlpack_tensor *from, bool read_only,
                      bool *copied, hg_tensor **tensor) {
    taken t = {.type = HG_TYPE_U8};
    HG_TRY(check(from, &t));
    *copied = read_only || !t.count;
    if (from->device_type == HG_MEMORY_CUDA && executor && t.count && !read_only)
        return take_cuda(executor, from, &t, tensor);
    if (from->device_type != HG_MEMORY_HOST && from->device_type != HG_MEMORY_CUDA_HOST)
        return hg_fail(HG_ERROR_BACKEND_UNAVAILABLE,
                       "DLPack: memory of device type %d, %d (host), %d (CUDA) or %d (CUDA's host "
                       "memory) expected",
                       (int)from->device_type, HG_MEMORY_HOST, HG_MEMORY_CUDA, HG_MEMORY_CUDA_HOST);
    if (*copied) return copy_in(executor, &t, tensor);
    return hg_tensor_wrap_host(executor, t.type, t.data, t.shape, t.strides, t.rank, NULL, NULL,
                               tensor);
}

hg_status hg_tensor_from_dlpack(hg_executor *executor, void *managed, bool versioned,
                                hg_tensor **tensor) {
    HG_ENTRY;
    bool copied = false;
    if (!managed || !tensor) return hg_null_argument(managed ? "tensor" : "managed");
    *tensor = NULL;
    const hg_dlpack_versioned *v = managed;
    const hg_dlpack_managed *old = managed;
    if (versioned && v->major != HG_DLPACK_MAJOR)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "DLPack of version %u.%u, %d expected",
                       (unsigned)v->major, (unsigned)v->minor, HG_DLPACK_MAJOR);
    HG_TRY(take(executor, versioned ? &v->tensor : &old->tensor,
                versioned && (v->flags & HG_DLPACK_READ_ONLY), &copied, tensor));
    hg_tensor_freed *release = versioned ? release_versioned : release_old;
    if (copied) {
        release(managed);
        return HG_OK;
    }
    (*tensor)->storage->release = release;
    (*tensor)->storage->user = managed;
    return HG_OK;
}
