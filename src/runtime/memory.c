/* Buffers, pools, class memory: handles, ranges and copies. Must not know: programs. */
#include "base/copy.h"
#include "base/sized.h"
#include "runtime/memory.h"
#include <string.h>

void *hg_host_address(const hg_backend *b, const hg_range *range) {
    uint8_t *base = b->caps->memory.host_memory ? b->driver->arena_map(range->arena) : NULL;
    return base ? base + range->offset : NULL;
}

hg_touch hg_touch_of(const hg_backend *b, const hg_range *range, bool written) {
    uint64_t host = range->arena ? (uintptr_t)hg_arena_host(b->driver, b->caps, range->arena)
                                 : 0; /* imports overlap across arenas */
    if (host) return (hg_touch){NULL, host + range->offset, range->size, written};
    return (hg_touch){range->arena, range->offset, range->size, written};
}

hg_status hg_memory_create(hg_backend *b, uint64_t size, hg_memory **memory) {
    if (b->config.max_buffer_size && size > b->config.max_buffer_size)
        return hg_fail(HG_ERROR_ALLOCATION_FAILED,
                       "%llu bytes asked for, the configured limit is %llu",
                       (unsigned long long)size, (unsigned long long)b->config.max_buffer_size);
    hg_memory *m = hg_calloc(1, sizeof *m);
    if (!m) return hg_fail_memory();
    hg_status status = hg_piece_alloc(&b->memory, size, &m->place);
    if (status != HG_OK) {
        hg_free(m);
        return status;
    }
    m->host = hg_host_address(b, &m->place.range);
    *memory = m;
    return HG_OK;
}

static void free_now(hg_backend *b, hg_memory *m) {
    if (m->whole)
        hg_handles_release(&b->buffers, m->whole);
    else
        hg_piece_free(&b->memory, &m->place);
    hg_free(m);
}

/* Called by the handle tables when a handle is gone and nobody retains it. A launch that looks up
 * handles while it runs may have found it all the same: then it waits. */
void hg_memory_destroy(void *backend, void *memory) {
    hg_backend *b = backend;
    hg_memory *m = memory;
    hg_mutex_lock(&b->guard.lock);
    bool wait = b->guard.launches != 0;
    if (wait) {
        m->next = b->guard.deferred;
        b->guard.deferred = m;
    }
    hg_mutex_unlock(&b->guard.lock);
    if (!wait) free_now(b, m);
}

void hg_guard_begin(hg_backend *b) {
    hg_mutex_lock(&b->guard.lock);
    b->guard.launches++;
    hg_mutex_unlock(&b->guard.lock);
}

static void free_deferred(hg_backend *b, bool end, uint64_t others) {
    hg_memory *m = NULL;
    hg_mutex_lock(&b->guard.lock);
    b->guard.launches -= end;
    if (b->guard.launches == others) {
        m = b->guard.deferred;
        b->guard.deferred = NULL;
    }
    hg_mutex_unlock(&b->guard.lock);
    while (m) {
        hg_memory *next = m->next;
        free_now(b, m);
        m = next;
    }
}

void hg_guard_end(hg_backend *b) { free_deferred(b, true, 0); }
void hg_guard_renew(hg_backend *b) { free_deferred(b, false, 1); }

bool hg_handle_is_class(uint64_t handle) {
    return handle == 0 || handle >= UINT64_MAX - (HG_MAX_CLASSES - 1);
}

hg_status hg_invalid_handle(bool pool, uint64_t handle) {
    return hg_fail(HG_ERROR_INVALID_BUFFER, pool ? HG_INVALID_POOL "%llu" : "BufferHandle(%llu)",
                   (unsigned long long)handle);
}

/* ---- numbers of backends: hg_buffer and hg_pool hold number * 2^47 + handle ---- */

/* Of those that are alive, a bit each; atomic. The first one has 0: where there is one backend,
 * handles are 1, 2, 3 outside of programs too. */
static uint64_t numbers[HG_BACKEND_NUMBERS / 64];

void hg_backend_number_take(hg_backend *b) {
    b->buffers.generations = b->pools.generations = UINT64_C(1) << (HG_BACKEND_NUMBER_SHIFT -
                                                                    HG_HANDLE_INDEX_BITS);
    for (uint32_t word = 0; word < HG_COUNT_OF(numbers); word++) {
        uint64_t taken = hg_atomic_load(&numbers[word], HG_RELAXED);
        while (taken != UINT64_MAX) {
            uint32_t bit = hg_ctz64(~taken);
            b->number = (uint64_t)word * 64 + bit;
            if (hg_atomic_compare_exchange(&numbers[word], &taken, taken | UINT64_C(1) << bit,
                                           HG_RELAXED))
                return;
        }
    }
    b->number = HG_BACKEND_NUMBERS; /* more than so many share one that is never free again */
}

void hg_backend_number_give(hg_backend *b) {
    uint64_t bit = UINT64_C(1) << b->number % 64;
    if (b->number < HG_BACKEND_NUMBERS)
        (void)hg_atomic_sub_fetch(&numbers[b->number / 64], bit, HG_RELAXED);
}

static bool is_of_another(const hg_backend *b, uint64_t number) {
    return number != b->number && number < HG_BACKEND_NUMBERS &&
           (hg_atomic_load(&numbers[number / 64], HG_RELAXED) >> number % 64 & 1);
}

hg_status hg_handle_take(const hg_backend *b, bool pool, uint64_t given, uint64_t *handle) {
    uint64_t number = given >> HG_BACKEND_NUMBER_SHIFT;
    bool is_class = !pool && hg_handle_is_class(given);
    *handle = is_class ? given : hg_handle_plain(b, given);
    if (is_class || number == b->number) return HG_OK;
    if (!is_of_another(b, number)) return hg_invalid_handle(pool, given);
    return hg_fail(HG_ERROR_INVALID_BUFFER,
                   pool ? HG_INVALID_POOL "%llu: it is of another backend"
                        : "BufferHandle(%llu): it is of another backend",
                   (unsigned long long)given);
}

hg_range hg_class_range(const hg_range *memory, uint64_t handle) {
    if (handle == 0) return *memory;
    uint64_t id = handle - (UINT64_MAX - (HG_MAX_CLASSES - 1));
    return (hg_range){memory->arena, memory->offset + id * HG_MAX_CLASS_BYTES, HG_MAX_CLASS_BYTES};
}

hg_status hg_context_class_memory(hg_context *context, hg_range *range) {
    hg_status status = HG_OK;
    hg_mutex_lock(&context->class_lock);
    if (!context->class_memory.range.arena)
        status = hg_piece_alloc(&context->backend->memory, HG_MAX_CLASS_MEMORY_BYTES,
                                &context->class_memory);
    *range = context->class_memory.range;
    hg_mutex_unlock(&context->class_lock);
    return status;
}

hg_range hg_buffer_range(hg_backend *b, hg_context *context, uint64_t handle) {
    if (hg_handle_is_class(handle)) {
        hg_range range;
        if (!context || hg_context_class_memory(context, &range) != HG_OK)
            return (hg_range){NULL, 0, 0};
        return hg_class_range(&range, handle);
    }
    const hg_memory *m = hg_handles_get(&b->buffers, handle);
    return m ? m->place.range : (hg_range){NULL, 0, 0};
}

hg_range hg_pool_range(hg_backend *b, uint64_t handle) {
    const hg_memory *m = hg_handles_get(&b->pools, handle);
    return m ? m->place.range : (hg_range){NULL, 0, 0};
}

/* ---- copies ---- */

static hg_status hold(hg_context *context, bool pool, uint64_t handle, hg_transfer_work *w,
                      int side, hg_range *range) {
    hg_backend *b = context->backend;
    if (!pool && hg_handle_is_class(handle)) {
        w->touches.shares |= HG_SHARES_CLASSES;
        *range = hg_buffer_range(b, context, handle);
        return range->arena ? HG_OK : hg_fail_memory();
    }
    uint64_t own;
    hg_handles *table = pool ? &b->pools : &b->buffers;
    HG_TRY(hg_handle_take(b, pool, handle, &own));
    const hg_memory *m = hg_handles_retain(table, own);
    if (!m) return hg_invalid_handle(pool, handle);
    w->held[side].table = table;
    w->held[side].handle = own;
    *range = m->place.range;
    return HG_OK;
}

void hg_transfer_release(hg_transfer_work *w) {
    for (int i = 0; i < 2; i++)
        if (w->held[i].table) hg_handles_release(w->held[i].table, w->held[i].handle);
    memset(w->held, 0, sizeof w->held);
}

static hg_status check_bounds(bool pool, uint64_t offset, uint64_t length, uint64_t size) {
    const char *what = pool ? "pool" : "buffer";
    if (offset <= size && length <= size - offset) return HG_OK;
    hg_status status = hg_fail(HG_ERROR_EXECUTION_FAILED,
                               "%s access out of bounds: offset %llu + size %llu > %s size %llu",
                               what, (unsigned long long)offset, (unsigned long long)length, what,
                               (unsigned long long)size);
    hg_error_record()->offset = offset;
    hg_error_record()->limit = size;
    return status;
}

static hg_status prepare(hg_context *context, const hg_transfer *t, hg_transfer_work *w) {
    bool writes = t->kind != HG_CMD_COPY_OUT,
         reads = t->kind == HG_CMD_COPY_OUT || t->kind == HG_CMD_COPY;
    hg_range to = {NULL, 0, 0}, from = {NULL, 0, 0};
    if (writes) HG_TRY(hold(context, t->pool, t->to, w, 0, &to));
    if (reads) HG_TRY(hold(context, t->pool, t->from, w, 1, &from));
    if (writes) HG_TRY(check_bounds(t->pool, t->to_offset, t->length, to.size));
    if (reads) HG_TRY(check_bounds(t->pool, t->from_offset, t->length, from.size));
    if (t->length && !t->host && (t->kind == HG_CMD_COPY_IN || t->kind == HG_CMD_COPY_OUT))
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "data is NULL, %llu bytes expected",
                       (unsigned long long)t->length);
    w->command = (hg_driver_command){
        .kind = t->kind,
        .to = {to.arena, to.offset + t->to_offset, writes ? t->length : 0},
        .from = {from.arena, from.offset + t->from_offset, reads ? t->length : 0},
        .host = t->host,
        .value = t->value};
    w->length = t->length;
    if (writes) w->list[w->touches.count++] = hg_touch_of(context->backend, &w->command.to, true);
    if (reads) w->list[w->touches.count++] = hg_touch_of(context->backend, &w->command.from, false);
    w->touches.list = w->list;
    if (t->kind == HG_CMD_COPY_IN) w->seen = hg_host_address(context->backend, &w->command.to);
    if (t->kind == HG_CMD_COPY_OUT) w->seen = hg_host_address(context->backend, &w->command.from);
    return HG_OK;
}

hg_status hg_transfer_prepare(hg_context *context, const hg_transfer *t, hg_transfer_work *w) {
    memset(w, 0, sizeof *w);
    HG_TRY(hg_backend_alive(context->backend));
    hg_status status = prepare(context, t, w);
    if (status != HG_OK) hg_transfer_release(w);
    return status;
}

void hg_transfer_on_host(const hg_transfer_work *w) {
    if (w->command.kind == HG_CMD_COPY_IN)
        hg_copy_bytes(w->seen, w->command.host, (size_t)w->length);
    else
        hg_copy_bytes(w->command.host, w->seen, (size_t)w->length);
}

/* To its end, in its turn where the host does not see the memory. */
static hg_status transfer(hg_context *context, const hg_transfer *t) {
    hg_transfer_work w;
    hg_stream *stream;
    HG_TRY(hg_transfer_prepare(context, t, &w));
    hg_ticket ticket = {.touches = &w.touches};
    hg_status status = HG_OK;
    if (w.length && w.seen) {
        hg_transfer_on_host(&w);
    } else if (w.length) {
        status = hg_context_enter(context, &ticket, &stream);
        if (status == HG_OK) {
            status = hg_stream_run(stream, &w.command, 1);
            hg_context_leave(context, &ticket, stream);
        }
    }
    hg_transfer_release(&w);
    return status;
}

/* The usual copy, without a lock: host memory of a live handle, inside its bounds. */
static bool copy_at_once(hg_backend *b, bool pool, uint64_t handle, uint64_t offset, void *data,
                         uint64_t length, hg_driver_command_kind kind) {
    hg_reader *reader;
    if (!b || !length || b->profile || !b->caps->memory.host_memory ||
        handle >> HG_BACKEND_NUMBER_SHIFT != b->number)
        return false;
    const hg_memory *m = hg_handles_enter(pool ? &b->pools : &b->buffers,
                                          hg_handle_plain(b, handle), &reader);
    if (!m) return false;
    uint64_t size = m->place.range.size;
    bool fits = data && offset <= size && length <= size - offset;
    uint8_t *at = fits ? (uint8_t *)m->host + offset : NULL;
    if (fits && kind == HG_CMD_COPY_IN)
        hg_copy_bytes(at, data, (size_t)length);
    else if (fits)
        hg_copy_bytes(data, at, (size_t)length);
    hg_reader_leave(reader);
    return fits;
}

static void record(const hg_context *context, hg_profile_kind kind, const char *name,
                   uint64_t start, uint64_t bytes) {
    hg_profile_end(
        context->backend->profile,
        &(hg_profile_span){.kind = kind, .name = name, .start_ns = start, .bytes = bytes});
}

hg_status hg_copy(hg_context *context, bool pool, uint64_t handle, uint64_t offset, void *data,
                  uint64_t length, hg_driver_command_kind kind) {
    if (copy_at_once(context->backend, pool, handle, offset, data, length, kind)) return HG_OK;
    uint64_t start = hg_profile_start(context->backend->profile);
    hg_transfer t = {.kind = kind,
                     .pool = pool,
                     .to = handle,
                     .to_offset = offset,
                     .from = handle,
                     .from_offset = offset,
                     .length = length,
                     .host = data};
    hg_status status = transfer(context, &t);
    if (start)
        record(context, kind == HG_CMD_COPY_IN ? HG_PROFILE_COPY_IN : HG_PROFILE_COPY_OUT,
               pool ? "pool" : "buffer", start, length);
    return status;
}

hg_status hg_copy_between(hg_context *context, uint64_t to, uint64_t offset, uint64_t from,
                          uint64_t from_offset, uint64_t length) {
    uint64_t start = hg_profile_start(context->backend->profile);
    hg_transfer t = {.kind = HG_CMD_COPY,
                     .to = to,
                     .to_offset = offset,
                     .from = from,
                     .from_offset = from_offset,
                     .length = length};
    hg_status status = transfer(context, &t);
    if (start) record(context, HG_PROFILE_COPY, "buffer", start, length);
    return status;
}

hg_status hg_fill(hg_context *context, uint64_t handle, uint64_t offset, uint64_t length,
                  uint8_t value) {
    uint64_t start = hg_profile_start(context->backend->profile);
    hg_transfer t = {
        .kind = HG_CMD_FILL, .to = handle, .to_offset = offset, .length = length, .value = value};
    hg_status status = transfer(context, &t);
    if (start) record(context, HG_PROFILE_FILL, "buffer", start, length);
    return status;
}

/* ---- the public calls ---- */

static hg_status allocate(hg_backend *b, hg_handles *table, uint64_t size, uint64_t *handle) {
    hg_memory *memory = NULL;
    HG_TRY(hg_backend_alive(b));
    HG_TRY(hg_memory_create(b, size, &memory));
    hg_status status = hg_handles_add(table, memory, handle);
    if (status != HG_OK) hg_memory_destroy(b, memory);
    if (status == HG_OK) *handle = hg_handle_public(b, *handle);
    return status;
}

hg_status hg_backend_allocate_buffer(hg_backend *b, uint64_t size, hg_buffer *buffer) {
    HG_ENTRY;
    if (!b) return hg_null_argument("backend");
    if (!buffer) return hg_null_argument("buffer");
    return allocate(b, &b->buffers, size, &buffer->handle);
}
hg_status hg_backend_allocate_pool(hg_backend *b, uint64_t size, hg_pool *pool) {
    HG_ENTRY;
    if (!b) return hg_null_argument("backend");
    if (!pool) return hg_null_argument("pool");
    return allocate(b, &b->pools, size, &pool->handle);
}

static hg_status remove_handle(hg_backend *b, bool pool, uint64_t given) {
    uint64_t handle;
    HG_TRY(hg_handle_take(b, pool, given, &handle));
    if (!hg_handles_remove(pool ? &b->pools : &b->buffers, handle))
        return hg_invalid_handle(pool, given);
    void (*forget)(hg_backend *, bool, uint64_t) = hg_atomic_load(&b->recent.forget, HG_SEQ_CST);
    if (forget) forget(b, pool, handle);
    return HG_OK;
}

hg_status hg_backend_free_buffer(hg_backend *b, hg_buffer buffer) {
    HG_ENTRY;
    if (!b) return hg_null_argument("backend");
    HG_TRY(hg_backend_alive(b));
    return remove_handle(b, false, buffer.handle);
}

hg_status hg_backend_free_pool(hg_backend *b, hg_pool pool) {
    HG_ENTRY;
    if (!b) return hg_null_argument("backend");
    HG_TRY(hg_backend_alive(b));
    return remove_handle(b, true, pool.handle);
}

static hg_status whole_class(hg_buffer buffer, uint64_t length) {
    if (buffer.handle == 0 || !hg_handle_is_class(buffer.handle) || length == HG_MAX_CLASS_BYTES)
        return HG_OK;
    return hg_fail(HG_ERROR_EXECUTION_FAILED,
                   "a class is copied whole: expected %d bytes, got %llu", HG_MAX_CLASS_BYTES,
                   (unsigned long long)length);
}

hg_status hg_backend_copy_to_buffer(hg_backend *b, hg_buffer buffer, const void *data,
                                    uint64_t length) {
    HG_ENTRY;
    HG_TRY(whole_class(buffer, length));
    return hg_buffer_write(b, buffer, 0, data, length);
}

hg_status hg_backend_copy_from_buffer(hg_backend *b, hg_buffer buffer, void *data,
                                      uint64_t length) {
    HG_ENTRY;
    HG_TRY(whole_class(buffer, length));
    return hg_buffer_read(b, buffer, 0, data, length);
}

hg_status hg_buffer_write(hg_backend *b, hg_buffer buffer, uint64_t offset, const void *data,
                          uint64_t length) {
    HG_ENTRY_BEHIND(copy_at_once(b, false, buffer.handle, offset, (void *)(uintptr_t)data, length,
                                 HG_CMD_COPY_IN));
    if (!b) return hg_null_argument("backend");
    return hg_copy(b->context, false, buffer.handle, offset, (void *)(uintptr_t)data, length,
                   HG_CMD_COPY_IN);
}

hg_status hg_buffer_read(hg_backend *b, hg_buffer buffer, uint64_t offset, void *data,
                         uint64_t length) {
    HG_ENTRY_BEHIND(copy_at_once(b, false, buffer.handle, offset, data, length, HG_CMD_COPY_OUT));
    if (!b) return hg_null_argument("backend");
    return hg_copy(b->context, false, buffer.handle, offset, data, length, HG_CMD_COPY_OUT);
}

hg_status hg_backend_copy_to_pool(hg_backend *b, hg_pool pool, uint64_t offset, const void *data,
                                  uint64_t length) {
    HG_ENTRY_BEHIND(copy_at_once(b, true, pool.handle, offset, (void *)(uintptr_t)data, length,
                                 HG_CMD_COPY_IN));
    if (!b) return hg_null_argument("backend");
    return hg_copy(b->context, true, pool.handle, offset, (void *)(uintptr_t)data, length,
                   HG_CMD_COPY_IN);
}

hg_status hg_backend_copy_from_pool(hg_backend *b, hg_pool pool, uint64_t offset, void *data,
                                    uint64_t length) {
    HG_ENTRY_BEHIND(copy_at_once(b, true, pool.handle, offset, data, length, HG_CMD_COPY_OUT));
    if (!b) return hg_null_argument("backend");
    return hg_copy(b->context, true, pool.handle, offset, data, length, HG_CMD_COPY_OUT);
}

hg_status hg_backend_pool_store(hg_backend *b, hg_pool pool, uint64_t offset, const void *data,
                                uint64_t length) {
    HG_ENTRY;
    return hg_backend_copy_to_pool(b, pool, offset, data, length);
}

hg_status hg_backend_pool_load(hg_backend *b, hg_pool pool, uint64_t offset, void *data,
                               uint64_t length) {
    HG_ENTRY;
    return hg_backend_copy_from_pool(b, pool, offset, data, length);
}

static hg_status size_of(hg_backend *b, bool pool, uint64_t handle, uint64_t *size) {
    hg_transfer_work w = {0};
    hg_range range = {NULL, 0, 0};
    if (!b) return hg_null_argument("backend");
    if (!size) return hg_null_argument("size");
    HG_TRY(hg_backend_alive(b));
    if (!pool && hg_handle_is_class(handle)) {
        *size = handle ? HG_MAX_CLASS_BYTES : HG_MAX_CLASS_MEMORY_BYTES;
        return HG_OK;
    }
    HG_TRY(hold(b->context, pool, handle, &w, 0, &range));
    *size = range.size;
    hg_transfer_release(&w);
    return HG_OK;
}

hg_status hg_backend_buffer_size(hg_backend *b, hg_buffer buffer, uint64_t *size) {
    HG_ENTRY;
    return size_of(b, false, buffer.handle, size);
}
hg_status hg_backend_pool_size(hg_backend *b, hg_pool pool, uint64_t *size) {
    HG_ENTRY;
    return size_of(b, true, pool.handle, size);
}

static hg_status import_arena(hg_backend *b, hg_memory_kind kind, uint32_t device, void *memory,
                              uint64_t size, hg_driver_arena **arena) {
    const hg_driver *driver = b->driver;
    if (kind != HG_MEMORY_HOST && driver->arena_import_device)
        return driver->arena_import_device(b->device, (uint32_t)kind, device, memory, size, arena);
    if (kind == HG_MEMORY_CUDA)
        return hg_fail(HG_ERROR_BACKEND_UNAVAILABLE,
                       "%s cannot use memory of a CUDA device in place", driver->name);
    if (!driver->arena_import)
        return hg_fail(HG_ERROR_BACKEND_UNAVAILABLE, "%s cannot use host memory in place",
                       driver->name);
    return driver->arena_import(b->device, memory, size, arena);
}

hg_status hg_buffer_import_device(hg_backend *b, hg_memory_kind kind, uint32_t device, void *memory,
                                  uint64_t size, hg_buffer *buffer) {
    HG_ENTRY;
    if (!b) return hg_null_argument("backend");
    if (!buffer) return hg_null_argument("buffer");
    if ((unsigned)kind < HG_MEMORY_HOST || (unsigned)kind > HG_MEMORY_CUDA_HOST)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                       "kind: expected HG_MEMORY_HOST (1), HG_MEMORY_CUDA (2) or "
                       "HG_MEMORY_CUDA_HOST (3), got %d",
                       (int)kind);
    HG_TRY(hg_backend_alive(b));
    if (!memory && size)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "memory is NULL, %llu bytes expected",
                       (unsigned long long)size);
    if (size > UINTPTR_MAX - (uintptr_t)memory)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                       "%llu bytes from the address 0x%llx on go beyond the end of all addresses",
                       (unsigned long long)size, (unsigned long long)(uintptr_t)memory);
    hg_memory *m = hg_calloc(1, sizeof *m);
    if (!m) return hg_fail_memory();
    hg_status status = import_arena(b, kind, device, memory, size, &m->place.range.arena);
    if (status != HG_OK) {
        hg_free(m);
        return status;
    }
    m->place.range.size = m->place.arena_bytes = size;
    m->host = hg_host_address(b, &m->place.range);
    status = hg_handles_add(&b->buffers, m, &buffer->handle);
    if (status != HG_OK) hg_memory_destroy(b, m);
    if (status == HG_OK) buffer->handle = hg_handle_public(b, buffer->handle);
    return status;
}

hg_status hg_buffer_import(hg_backend *b, void *memory, uint64_t size, hg_buffer *buffer) {
    HG_ENTRY;
    return hg_buffer_import_device(b, HG_MEMORY_HOST, 0, memory, size, buffer);
}

static hg_status native_of(hg_backend *b, hg_buffer buffer, hg_native_buffer *native) {
    uint64_t handle;
    hg_range range;
    HG_TRY(hg_handle_take(b, false, buffer.handle, &handle));
    if (hg_handle_is_class(handle)) HG_TRY(hg_context_class_memory(b->context, &range));
    range = hg_buffer_range(b, b->context, handle);
    if (!range.arena) return hg_invalid_handle(false, buffer.handle);
    b->driver->arena_native(b->device, range.arena, native);
    bool is_object = native->kind == HG_MEMORY_OPENCL || native->kind == HG_MEMORY_VULKAN;
    *(is_object ? &native->offset : &native->memory) += range.offset;
    native->bytes = range.size;
    return HG_OK;
}

hg_status hg_buffer_native(hg_backend *b, hg_buffer buffer, hg_native_buffer *native) {
    HG_ENTRY;
    static const hg_sized rules = HG_SIZED(hg_native_buffer, device,
                                           "set it to sizeof(hg_native_buffer)");
    hg_native_buffer own = {.size = sizeof own};
    if (!b || !native) return hg_null_argument(b ? "native" : "backend");
    HG_TRY(hg_sized_check(&rules, native->size));
    HG_TRY(hg_backend_alive(b));
    if (!b->driver->arena_native)
        return hg_fail(HG_ERROR_BACKEND_UNAVAILABLE,
                       "%s has no handles of buffers that others could use", b->driver->name);
    hg_guard_begin(b);
    hg_status status = native_of(b, buffer, &own);
    hg_guard_end(b);
    if (status == HG_OK) hg_sized_give(&rules, &own, native, native->size);
    return status;
}

hg_status hg_buffer_view(hg_backend *b, hg_buffer whole, uint64_t offset, uint64_t size,
                         hg_buffer *view) {
    uint64_t handle;
    HG_TRY(hg_handle_take(b, false, whole.handle, &handle));
    const hg_memory *of = hg_handle_is_class(handle) ? NULL
                                                     : hg_handles_retain(&b->buffers, handle);
    if (!of) return hg_invalid_handle(false, whole.handle);
    hg_memory *m = hg_calloc(1, sizeof *m);
    hg_status status = m ? HG_OK : hg_fail_memory();
    if (status == HG_OK && (offset > of->place.range.size || size > of->place.range.size - offset))
        status = hg_fail(HG_ERROR_INVALID_ARGUMENT,
                         "%llu bytes from byte %llu on of a buffer of %llu",
                         (unsigned long long)size, (unsigned long long)offset,
                         (unsigned long long)of->place.range.size);
    if (status == HG_OK) {
        m->place = (hg_piece){
            .range = {of->place.range.arena, of->place.range.offset + offset, size},
            .arena_bytes = of->place.arena_bytes};
        m->whole = handle;
        m->host = hg_host_address(b, &m->place.range);
        status = hg_handles_add(&b->buffers, m, &view->handle);
    }
    if (status == HG_OK) {
        view->handle = hg_handle_public(b, view->handle);
        return HG_OK;
    }
    hg_free(m);
    hg_handles_release(&b->buffers, handle);
    return status;
}
