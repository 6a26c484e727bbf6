/* Memory that tensors share, from when it is asked for to the last view.
 * Must not know: shapes, operations. */
#include "runtime/executor.h"
#include "tensor/tensor.h"
#include <string.h>

tensor_storage *tensor_storage_retain(tensor_storage *s) {
    hg_atomic_fetch_add(&s->references, 1, HG_RELAXED);
    return s;
}

/* Of the state from now on: others may see its buffer. */
static void link(tensor_state *state, tensor_storage *s) {
    hg_atomic_store(&s->state, tensor_state_retain(state), HG_RELEASE);
}

void tensor_storage_imported(tensor_storage *s, tensor_state *state) {
    s->imported = true;
    hg_mutex_lock(&state->lock);
    s->next = state->imported;
    if (s->next) s->next->previous = s;
    state->imported = s;
    hg_mutex_unlock(&state->lock);
}

static void free_buffer(tensor_storage *s, tensor_state *state) {
    if (!s->buffer.handle || !state->executor) return;
    if (s->class_bytes)
        hg_buffer_pool_give_whole(hg_executor_pool(state->executor), s->buffer, s->class_bytes);
    else if (!s->borrowed)
        HG_IGNORE(hg_backend_free_buffer(state->backend, s->buffer)); /* it is there */
    s->buffer.handle = 0;
}

static void unlink_storage(tensor_storage *s) {
    tensor_state *state = s->state;
    if (!state) return;
    if (!s->imported && !s->buffer.handle) { /* a result between others */
        tensor_state_release(state);
        return;
    }
    hg_mutex_lock(&state->lock); /* the executor may go meanwhile */
    if (s->imported) {
        if (s->previous)
            s->previous->next = s->next;
        else
            state->imported = s->next;
        if (s->next) s->next->previous = s->previous;
    }
    free_buffer(s, state);
    hg_mutex_unlock(&state->lock);
    tensor_state_release(state);
}

/* What the last one who had it lets go of. */
static void end_storage(tensor_storage *s) {
    unlink_storage(s);
    if (s->release)
        s->release(s->user);
    else if (!s->user)
        hg_free_aligned(s->host);
    hg_free(s->why);
}

void tensor_storage_release(tensor_storage *s) {
    if (!s || hg_atomic_sub_fetch(&s->references, 1, HG_ACQ_REL) != 0) return;
    end_storage(s);
    hg_free(s);
}

enum { MOST_SPARE = 64 };

void tensor_storage_spare(tensor_storage *s, tensor_spare *spare) {
    if (hg_atomic_sub_fetch(&s->references, 1, HG_ACQ_REL) != 0) return;
    end_storage(s);
    if (spare->count == MOST_SPARE) {
        hg_free(s);
        return;
    }
    s->next = spare->first;
    spare->first = s;
    spare->count++;
}

void tensor_spare_free(tensor_spare *spare) {
    while (spare->first) {
        tensor_storage *s = spare->first;
        spare->first = s->next;
        hg_free(s);
    }
    spare->count = 0;
}

static tensor_storage *take_spare(tensor_spare *spare) {
    tensor_storage *s = spare ? spare->first : NULL;
    if (!s) return NULL;
    spare->first = s->next;
    spare->count--;
    return s;
}

/* Tensors whose storage is new lie behind it: one piece of memory, as long as it lives. */
typedef struct storage_with_tensor {
    tensor_storage storage; /* first */
    hg_tensor first;
} storage_with_tensor;

static hg_tensor *first_of(tensor_storage *s) { return &((storage_with_tensor *)s)->first; }

static uint64_t last_contents; /* atomic */

void tensor_storage_written(tensor_storage *s) { hg_atomic_store(&s->steady, false, HG_RELAXED); }

void tensor_storage_read(tensor_storage *s) {
    if (hg_atomic_load(&s->steady, HG_RELAXED)) return;
    hg_atomic_store(&s->contents, hg_atomic_add_fetch(&last_contents, 1, HG_RELAXED), HG_RELAXED);
    hg_atomic_store(&s->steady, true, HG_RELAXED);
}

bool tensor_storage_steady(const tensor_storage *s) {
    return s->class_bytes && !hg_atomic_load(&s->exported, HG_RELAXED) &&
           hg_atomic_load(&s->steady, HG_RELAXED);
}

static tensor_storage *new_storage(tensor_state *state, hg_type type, uint64_t count,
                                   tensor_spare *spare) {
    tensor_storage *s = take_spare(spare);
    if (!s) s = hg_alloc(sizeof(storage_with_tensor));
    if (!s) return NULL;
    *s = (tensor_storage){.references = 1, .type = (uint8_t)type, .count = count};
    if (state) link(state, s);
    return s;
}

/* ---- memory ---- */

static hg_status gone(void) {
    return hg_fail(HG_ERROR_INVALID_ARGUMENT, "the tensor's executor is destroyed");
}

static uint64_t bytes_of(const tensor_storage *s) {
    return s->count * hg_type_size_bytes((hg_type)s->type);
}

static hg_status allocate(tensor_storage *s, tensor_state *state, bool zero) {
    hg_buffer buffer = {0};
    uint64_t class_bytes;
    if (!state->executor) return gone();
    if (zero) HG_TRY(tensor_await(state));
    hg_buffer_pool *pool = hg_executor_pool(state->executor);
    hg_status status = hg_buffer_pool_take_whole(pool, bytes_of(s), zero, &buffer, &class_bytes);
    if (status == HG_ERROR_ALLOCATION_FAILED || status == HG_ERROR_OUT_OF_MEMORY) {
        tensor_state_trim(state);
        status = hg_buffer_pool_take_whole(pool, bytes_of(s), zero, &buffer, &class_bytes);
    }
    if (status != HG_OK) return status;
    s->buffer = buffer;
    s->class_bytes = class_bytes;
    return HG_OK;
}

hg_status tensor_storage_allocate(tensor_storage *s, bool zero) {
    return s->buffer.handle ? HG_OK : allocate(s, s->state, zero);
}

/* Host memory as a buffer of the executor: itself where the device sees it, else a copy. Where
 * there is only no memory to say so, it is no copy. A queue may come to it when it is gone: what is
 * appended reads a copy. */
static hg_status import(tensor_storage *s, tensor_state *state) {
    uint64_t bytes = bytes_of(s);
    if (!state->executor) return gone();
    hg_status status = bytes && !state->appends.queue
                           ? hg_buffer_import(state->backend, s->host, bytes, &s->buffer)
                           : HG_ERROR_BACKEND_UNAVAILABLE;
    if (status == HG_OK) tensor_storage_imported(s, state);
    if (status == HG_OK || status == HG_ERROR_OUT_OF_MEMORY) return status;
    HG_TRY(allocate(s, state, false));
    status = tensor_await(state);
    if (status == HG_OK)
        status = bytes ? hg_buffer_write(state->backend, s->buffer, 0, s->host, bytes) : HG_OK;
    if (status != HG_OK) {
        hg_error kept = *hg_error_record();
        free_buffer(s, state);
        *hg_error_record() = kept;
    }
    return status;
}

static hg_mutex placing = HG_MUTEX_INIT; /* of storages that wait: two calls may take one at once */

hg_status tensor_place_there(tensor_storage *s, tensor_state *state) {
    tensor_state *own = tensor_state_at(s);
    if (!own) {
        hg_status status = HG_OK;
        hg_mutex_lock(&placing);
        own = s->state;
        if (!own) status = import(s, state);
        if (!own && status == HG_OK) link(state, s);
        hg_mutex_unlock(&placing);
        HG_TRY(status);
        if (!own) return HG_OK;
    }
    if (!own->executor) return gone();
    return own == state ? HG_OK
                        : hg_fail(HG_ERROR_INVALID_ARGUMENT, "the tensor belongs to another "
                                                             "executor: hg_tensor_to copies it");
}

/* ---- tensors over it ---- */

/* A new storage's first tensor, which keeps it. */
static hg_tensor *over(tensor_storage *s, hg_element type, const uint64_t *shape, uint32_t rank) {
    hg_tensor *t = first_of(s);
    t->references = 1;
    t->type = type;
    t->storage = s;
    t->lazy = false;
    t->offset = 0;
    t->rank = rank;
    memset(t->shape, 0, sizeof t->shape);
    memset(t->strides, 0, sizeof t->strides);
    if (rank) memcpy(t->shape, shape, rank * sizeof *shape);
    tensor_c_strides(shape, rank, t->strides);
    return t;
}

hg_status tensor_make_of(tensor_state *state, hg_element type, const uint64_t *shape, uint32_t rank,
                         tensor_spare *spare, hg_tensor **tensor) {
    uint64_t count;
    HG_TRY(tensor_check_shape(type, shape, rank, &count));
    tensor_storage *s = new_storage(state, tensor_stored(type), count * tensor_parts(type), spare);
    if (!s) return hg_fail_memory();
    *tensor = over(s, type, shape, rank);
    return HG_OK;
}

hg_status tensor_make(tensor_state *state, hg_element type, const uint64_t *shape, uint32_t rank,
                      hg_tensor **tensor) {
    return tensor_make_of(state, type, shape, rank, NULL, tensor);
}

hg_status tensor_alias(const hg_tensor *of, hg_tensor **view) {
    hg_tensor *t = hg_alloc(sizeof *t);
    if (!t) return hg_fail_memory();
    *t = tensor_like(of);
    t->references = 1;
    tensor_storage_retain(t->storage);
    *view = t;
    return HG_OK;
}

hg_tensor *hg_tensor_retain(hg_tensor *t) {
    HG_ENTRY;
    if (t) hg_atomic_fetch_add(&t->references, 1, HG_RELAXED);
    return t;
}

void hg_tensor_release(hg_tensor *t) {
    HG_ENTRY;
    if (!t || hg_atomic_sub_fetch(&t->references, 1, HG_ACQ_REL) != 0) return;
    bool behind = t == first_of(t->storage);
    tensor_storage_release(t->storage);
    if (!behind) hg_free(t);
}

/* ---- from the host ---- */

static hg_status state_for(hg_executor *executor, tensor_state **state) {
    *state = NULL;
    return executor ? tensor_state_of(executor, state) : HG_OK;
}

hg_status hg_tensor_empty(hg_executor *executor, hg_element type, const uint64_t *shape,
                          uint32_t ndim, hg_tensor **tensor) {
    HG_ENTRY;
    tensor_state *state;
    if (!tensor) return hg_null_argument("tensor");
    *tensor = NULL;
    HG_TRY(tensor_state_of(executor, &state));
    HG_TRY(tensor_make(state, type, shape, ndim, tensor));
    hg_status status = tensor_storage_allocate((*tensor)->storage, false);
    if (status == HG_OK) return HG_OK;
    hg_tensor_release(*tensor);
    *tensor = NULL;
    return status;
}

hg_status hg_tensor_zeros(hg_executor *executor, hg_element type, const uint64_t *shape,
                          uint32_t ndim, hg_tensor **tensor) {
    HG_ENTRY;
    tensor_state *state;
    if (!tensor) return hg_null_argument("tensor");
    *tensor = NULL;
    HG_TRY(tensor_state_of(executor, &state));
    HG_TRY(tensor_make(state, type, shape, ndim, tensor));
    hg_status status = tensor_storage_allocate((*tensor)->storage, true);
    if (status == HG_OK) return HG_OK;
    hg_tensor_release(*tensor);
    *tensor = NULL;
    return status;
}

hg_status hg_tensor_from_host(hg_executor *executor, hg_element type, const void *data,
                              uint64_t count, const uint64_t *shape, uint32_t ndim,
                              hg_tensor **tensor) {
    HG_ENTRY;
    uint64_t expected;
    char text[200];
    tensor_state *state;
    if (!tensor || (count && !data)) return hg_null_argument(tensor ? "data" : "tensor");
    *tensor = NULL;
    HG_TRY(tensor_check_shape(type, shape, ndim, &expected));
    if (count != expected)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                       "Tensor shape mismatch: %s has %llu elements, %llu given",
                       tensor_shape_text(shape, ndim, text), (unsigned long long)expected,
                       (unsigned long long)count);
    HG_TRY(state_for(executor, &state));
    HG_TRY(tensor_make(state, type, shape, ndim, tensor));
    tensor_storage *s = (*tensor)->storage;
    uint64_t bytes = bytes_of(s);
    hg_status status;
    if (state) {
        status = tensor_storage_allocate(s, false);
        if (status == HG_OK && bytes) status = tensor_await(state);
        if (status == HG_OK && bytes)
            status = hg_buffer_write(state->backend, s->buffer, 0, data, bytes);
    } else {
        s->host = hg_alloc_aligned((size_t)bytes + 64, 64);
        status = s->host ? HG_OK : hg_fail_memory();
        if (s->host && bytes) memcpy(s->host, data, (size_t)bytes);
    }
    if (status == HG_OK) return HG_OK;
    hg_tensor_release(*tensor);
    *tensor = NULL;
    return status;
}

/* The elements that strides reach: from *low, at most 0, on, *span of them. */
static hg_status reach(const uint64_t *shape, const int64_t *strides, uint32_t rank, int64_t *low,
                       uint64_t *span) {
    uint64_t down = 0, up = 0, way;
    *low = 0;
    *span = 0;
    for (uint32_t d = 0; d < rank; d++)
        if (!shape[d]) return HG_OK;
    for (uint32_t d = 0; d < rank; d++) {
        uint64_t step = strides[d] < 0 ? UINT64_C(0) - (uint64_t)strides[d] : (uint64_t)strides[d];
        uint64_t *to = strides[d] < 0 ? &down : &up;
        if (!hg_mul_u64(shape[d] - 1, step, &way) || !hg_add_u64(*to, way, to) ||
            *to > INT64_MAX / 16 / 512)
            return hg_fail(HG_ERROR_INVALID_ARGUMENT, "stride %lld of axis %u is out of range",
                           (long long)strides[d], (unsigned)d);
    }
    *low = -(int64_t)down;
    *span = down + up + 1;
    return HG_OK;
}

static hg_status wrap(tensor_state *state, hg_element type, char *data, const uint64_t *shape,
                      const int64_t *strides, uint32_t rank, hg_tensor **tensor) {
    int64_t own[HG_TENSOR_AXES], low;
    uint64_t count, span;
    HG_TRY(tensor_check_shape(type, shape, rank, &count));
    tensor_c_strides(shape, rank, own);
    if (strides && rank) memcpy(own, strides, rank * sizeof *own);
    HG_TRY(reach(shape, own, rank, &low, &span));
    if (span && !data) return hg_null_argument("data");
    tensor_storage *s = new_storage(state, tensor_stored(type), span * tensor_parts(type), NULL);
    if (!s) return hg_fail_memory();
    *tensor = over(s, type, shape, rank);
    (*tensor)->offset = (uint64_t)-low;
    if (rank) memcpy((*tensor)->strides, own, rank * sizeof *own);
    s->user = data; /* not NULL: the memory is not ours */
    s->host = data ? data + low * (int64_t)tensor_size(type) : data;
    return state ? import(s, state) : HG_OK;
}

hg_status hg_tensor_wrap_host(hg_executor *executor, hg_element type, void *data,
                              const uint64_t *shape, const int64_t *strides, uint32_t ndim,
                              hg_tensor_freed *release, void *user, hg_tensor **tensor) {
    HG_ENTRY;
    tensor_state *state;
    hg_status status = tensor ? HG_OK : hg_null_argument("tensor");
    if (tensor) *tensor = NULL;
    if (status == HG_OK) status = state_for(executor, &state);
    if (status == HG_OK) status = wrap(state, type, data, shape, strides, ndim, tensor);
    if (status == HG_OK) {
        (*tensor)->storage->release = release;
        if (release) (*tensor)->storage->user = user;
        return HG_OK;
    }
    if (tensor) {
        hg_tensor_release(*tensor);
        *tensor = NULL;
    }
    if (release) release(user);
    return status;
}

hg_status hg_tensor_from_buffer(hg_executor *executor, hg_typed_buffer buffer,
                                const uint64_t *shape, uint32_t ndim, hg_tensor **tensor) {
    HG_ENTRY;
    tensor_state *state;
    uint64_t count, size;
    char text[200];
    if (!tensor) return hg_null_argument("tensor");
    *tensor = NULL;
    HG_TRY(tensor_state_of(executor, &state));
    HG_TRY(tensor_check_shape(buffer.type, shape, ndim, &count));
    HG_TRY(hg_backend_buffer_size(state->backend, buffer.buffer, &size));
    if (count * tensor_size(buffer.type) > size || count > buffer.count)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                       "Tensor shape mismatch: %s has %llu elements, the buffer %llu",
                       tensor_shape_text(shape, ndim, text), (unsigned long long)count,
                       (unsigned long long)buffer.count);
    HG_TRY(tensor_make(state, buffer.type, shape, ndim, tensor));
    (*tensor)->storage->buffer = buffer.buffer;
    (*tensor)->storage->borrowed = true;
    return HG_OK;
}
