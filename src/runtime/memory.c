/* Buffers, pools, class memory: handles, ranges and copies. Must not know: programs. */
#include "runtime/runtime.h"
#include <string.h>

hg_status hg_memory_create(hg_backend *b, uint64_t size, hg_memory **memory) {
    if (b->config.max_buffer_size && size > b->config.max_buffer_size)
        return hg_fail(HG_ERROR_ALLOCATION_FAILED, "%llu bytes asked for, the configured limit is %llu", (unsigned long long)size,
                       (unsigned long long)b->config.max_buffer_size);
    hg_memory *m = hg_calloc(1, sizeof *m);
    if (!m) return hg_fail_memory();
    hg_status status = b->driver->arena_alloc(b->device, size, &m->arena);
    if (status != HG_OK) {
        hg_free(m);
        return status;
    }
    m->size = size;
    *memory = m;
    return HG_OK;
}

void hg_memory_destroy(void *backend, void *memory) {
    hg_backend *b = backend;
    hg_memory *m = memory;
    b->driver->arena_free(b->device, m->arena);
    hg_free(m);
}

bool hg_handle_is_class(uint64_t handle) { return handle == 0 || handle >= UINT64_MAX - (HG_MAX_CLASSES - 1); }

hg_status hg_invalid_handle(bool pool, uint64_t handle) {
    return hg_fail(HG_ERROR_INVALID_BUFFER, "%s(%llu)", pool ? "PoolHandle" : "BufferHandle", (unsigned long long)handle);
}

hg_status hg_context_class_memory(hg_context *context, hg_range *range) {
    hg_status status = HG_OK;
    hg_mutex_lock(&context->class_lock);
    if (!context->class_arena)
        status = context->backend->driver->arena_alloc(context->backend->device, HG_MAX_CLASS_MEMORY_BYTES, &context->class_arena);
    *range = (hg_range){context->class_arena, 0, HG_MAX_CLASS_MEMORY_BYTES};
    hg_mutex_unlock(&context->class_lock);
    return status;
}

hg_range hg_buffer_range(hg_backend *b, hg_context *context, uint64_t handle) {
    if (hg_handle_is_class(handle)) {
        hg_range range;
        if (!context || hg_context_class_memory(context, &range) != HG_OK) return (hg_range){NULL, 0, 0};
        if (handle == 0) return range;
        return (hg_range){range.arena, (handle - (UINT64_MAX - (HG_MAX_CLASSES - 1))) * HG_MAX_CLASS_BYTES, HG_MAX_CLASS_BYTES};
    }
    const hg_memory *m = hg_handles_get(&b->buffers, handle);
    return m ? (hg_range){m->arena, 0, m->size} : (hg_range){NULL, 0, 0};
}

hg_range hg_pool_range(hg_backend *b, uint64_t handle) {
    const hg_memory *m = hg_handles_get(&b->pools, handle);
    return m ? (hg_range){m->arena, 0, m->size} : (hg_range){NULL, 0, 0};
}

hg_status hg_transfer(hg_context *context, hg_driver_command *command) {
    const hg_driver *driver = context->backend->driver;
    hg_driver_event *event = NULL;
    hg_mutex_lock(&context->lock);
    hg_status status = driver->event_wait ? driver->event_create(context->backend->device, &event) : HG_OK;
    if (status == HG_OK) status = driver->queue_submit(context->queue, command, 1, NULL, 0, event);
    if (status == HG_OK && event) status = driver->event_wait(event);
    if (event) driver->event_destroy(event);
    hg_mutex_unlock(&context->lock);
    return status;
}

/* A buffer or pool kept alive during a copy. */
typedef struct held { hg_range range; bool pool, retained; uint64_t handle; } held;

static hg_status hold(hg_backend *b, bool pool, uint64_t handle, held *h) {
    *h = (held){{NULL, 0, 0}, pool, false, handle};
    if (!pool && hg_handle_is_class(handle)) {
        h->range = hg_buffer_range(b, b->context, handle);
        return h->range.arena ? HG_OK : hg_fail_memory();
    }
    const hg_memory *m = hg_handles_retain(pool ? &b->pools : &b->buffers, handle);
    if (!m) return hg_invalid_handle(pool, handle);
    h->retained = true;
    h->range = (hg_range){m->arena, 0, m->size};
    return HG_OK;
}

static void let_go(hg_backend *b, held *h) {
    if (h->retained) hg_handles_release(h->pool ? &b->pools : &b->buffers, h->handle);
}

static hg_status out_of_bounds(bool pool, uint64_t offset, uint64_t length, uint64_t size) {
    const char *what = pool ? "pool" : "buffer";
    hg_status status = hg_fail(HG_ERROR_EXECUTION_FAILED, "%s access out of bounds: offset %llu + size %llu > %s size %llu", what,
                               (unsigned long long)offset, (unsigned long long)length, what, (unsigned long long)size);
    hg_error_record()->offset = offset;
    hg_error_record()->limit = size;
    return status;
}

static hg_status copy(hg_backend *b, bool pool, uint64_t handle, uint64_t offset, void *data, uint64_t length, hg_driver_command_kind kind) {
    held h;
    HG_TRY(hold(b, pool, handle, &h));
    hg_status status = HG_OK;
    if (length && !data) status = hg_fail(HG_ERROR_INVALID_ARGUMENT, "data is NULL, %llu bytes expected", (unsigned long long)length);
    else if (offset > h.range.size || length > h.range.size - offset) status = out_of_bounds(pool, offset, length, h.range.size);
    else if (length) {
        uint8_t *host = b->caps->host_memory ? b->driver->arena_map(h.range.arena) : NULL;
        if (host && kind == HG_CMD_COPY_IN) memcpy(host + h.range.offset + offset, data, (size_t)length);
        else if (host) memcpy(data, host + h.range.offset + offset, (size_t)length);
        else {
            hg_range part = {h.range.arena, h.range.offset + offset, length};
            hg_driver_command command = {.kind = kind, .to = part, .from = part, .host = data};
            status = hg_transfer(b->context, &command);
        }
    }
    let_go(b, &h);
    return status;
}

static hg_status allocate(hg_backend *b, hg_handles *table, uint64_t size, uint64_t *handle) {
    hg_memory *memory = NULL;
    HG_TRY(hg_memory_create(b, size, &memory));
    hg_status status = hg_handles_add(table, memory, handle);
    if (status != HG_OK) hg_memory_destroy(b, memory);
    return status;
}

hg_status hg_backend_allocate_buffer(hg_backend *b, uint64_t size, hg_buffer *buffer) { return allocate(b, &b->buffers, size, &buffer->handle); }
hg_status hg_backend_allocate_pool(hg_backend *b, uint64_t size, hg_pool *pool) { return allocate(b, &b->pools, size, &pool->handle); }

hg_status hg_backend_free_buffer(hg_backend *b, hg_buffer buffer) {
    return hg_handles_remove(&b->buffers, buffer.handle) ? HG_OK : hg_invalid_handle(false, buffer.handle);
}

hg_status hg_backend_free_pool(hg_backend *b, hg_pool pool) {
    return hg_handles_remove(&b->pools, pool.handle) ? HG_OK : hg_invalid_handle(true, pool.handle);
}

static hg_status whole_class(hg_buffer buffer, uint64_t length) {
    if (buffer.handle == 0 || !hg_handle_is_class(buffer.handle) || length == HG_MAX_CLASS_BYTES) return HG_OK;
    return hg_fail(HG_ERROR_EXECUTION_FAILED, "a class is copied whole: expected %d bytes, got %llu", HG_MAX_CLASS_BYTES, (unsigned long long)length);
}

hg_status hg_backend_copy_to_buffer(hg_backend *b, hg_buffer buffer, const void *data, uint64_t length) {
    HG_TRY(whole_class(buffer, length));
    return hg_buffer_write(b, buffer, 0, data, length);
}

hg_status hg_backend_copy_from_buffer(hg_backend *b, hg_buffer buffer, void *data, uint64_t length) {
    HG_TRY(whole_class(buffer, length));
    return hg_buffer_read(b, buffer, 0, data, length);
}

hg_status hg_buffer_write(hg_backend *b, hg_buffer buffer, uint64_t offset, const void *data, uint64_t length) {
    return copy(b, false, buffer.handle, offset, (void *)(uintptr_t)data, length, HG_CMD_COPY_IN);
}

hg_status hg_buffer_read(hg_backend *b, hg_buffer buffer, uint64_t offset, void *data, uint64_t length) {
    return copy(b, false, buffer.handle, offset, data, length, HG_CMD_COPY_OUT);
}

hg_status hg_backend_copy_to_pool(hg_backend *b, hg_pool pool, uint64_t offset, const void *data, uint64_t length) {
    return copy(b, true, pool.handle, offset, (void *)(uintptr_t)data, length, HG_CMD_COPY_IN);
}

hg_status hg_backend_copy_from_pool(hg_backend *b, hg_pool pool, uint64_t offset, void *data, uint64_t length) {
    return copy(b, true, pool.handle, offset, data, length, HG_CMD_COPY_OUT);
}

hg_status hg_backend_pool_store(hg_backend *b, hg_pool pool, uint64_t offset, const void *data, uint64_t length) {
    return hg_backend_copy_to_pool(b, pool, offset, data, length);
}

hg_status hg_backend_pool_load(hg_backend *b, hg_pool pool, uint64_t offset, void *data, uint64_t length) {
    return hg_backend_copy_from_pool(b, pool, offset, data, length);
}

static hg_status size_of(hg_backend *b, bool pool, uint64_t handle, uint64_t *size) {
    held h;
    HG_TRY(hold(b, pool, handle, &h));
    *size = h.range.size;
    let_go(b, &h);
    return HG_OK;
}

hg_status hg_backend_buffer_size(hg_backend *b, hg_buffer buffer, uint64_t *size) { return size_of(b, false, buffer.handle, size); }
hg_status hg_backend_pool_size(hg_backend *b, hg_pool pool, uint64_t *size) { return size_of(b, true, pool.handle, size); }

hg_status hg_buffer_import(hg_backend *b, void *memory, uint64_t size, hg_buffer *buffer) {
    if (!b->driver->arena_import) return hg_fail(HG_ERROR_BACKEND_UNAVAILABLE, "%s cannot use host memory in place", b->driver->name);
    if (!memory && size) return hg_fail(HG_ERROR_INVALID_ARGUMENT, "memory is NULL, %llu bytes expected", (unsigned long long)size);
    hg_memory *m = hg_calloc(1, sizeof *m);
    if (!m) return hg_fail_memory();
    hg_status status = b->driver->arena_import(b->device, memory, size, &m->arena);
    if (status != HG_OK) {
        hg_free(m);
        return status;
    }
    m->size = size;
    status = hg_handles_add(&b->buffers, m, &buffer->handle);
    if (status != HG_OK) hg_memory_destroy(b, m);
    return status;
}
