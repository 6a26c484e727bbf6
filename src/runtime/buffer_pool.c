#include "runtime/buffer_pool.h"

/* The class of a size, and the bytes of its buffers: 8 to 15 times a power of two, at least 256. */
static uint32_t class_of(uint64_t bytes, uint64_t *whole) {
    if (bytes < 256) bytes = 256;
    uint32_t shift = 60 - hg_clz64(bytes - 1); /* the first four bits are left */
    if ((bytes - 1) >> shift == 15) shift++;
    if (shift < 5) shift = 5;
    uint64_t eighths = ((bytes - 1) >> shift) + 1; /* 8 to 15; 16 is 8 of the next */
    *whole = eighths << shift;
    return *whole >> shift == eighths ? shift * 8 + (uint32_t)eighths - 8 : HG_POOL_CLASSES;
}

void hg_buffer_pool_init(hg_buffer_pool *pool, hg_backend *backend, uint32_t most_buffers,
                         uint64_t most_bytes) {
    *pool = (hg_buffer_pool){.backend = backend,
                             .most_buffers = most_buffers,
                             .most_bytes = most_bytes,
                             .spare = HG_NO_POOLED,
                             .oldest = HG_NO_POOLED,
                             .newest = HG_NO_POOLED};
    for (uint32_t i = 0; i < HG_POOL_CLASSES; i++) pool->of_class[i] = HG_NO_POOLED;
    hg_mutex_init(&pool->lock);
}

/* ---- the lists; the lock is held ---- */

static void unlink_entry(hg_buffer_pool *pool, uint32_t i) {
    hg_pooled *all = pool->entries.data, *e = &all[i];
    if (e->older != HG_NO_POOLED) all[e->older].newer = e->newer;
    if (e->newer != HG_NO_POOLED) all[e->newer].older = e->older;
    if (e->below != HG_NO_POOLED) all[e->below].above = e->above;
    if (e->above != HG_NO_POOLED)
        all[e->above].below = e->below;
    else
        pool->of_class[e->cls] = e->below;
    if (pool->oldest == i) pool->oldest = e->newer;
    if (pool->newest == i) pool->newest = e->older;
    pool->kept--;
    pool->kept_bytes -= e->bytes;
    e->older = pool->spare;
    pool->spare = i;
}

/* False: out of memory. */
static bool link_entry(hg_buffer_pool *pool, uint64_t handle, uint64_t bytes, uint32_t cls) {
    uint32_t i = pool->spare;
    if (i != HG_NO_POOLED) {
        pool->spare = pool->entries.data[i].older;
    } else {
        i = (uint32_t)pool->entries.count;
        if (!hg_vec_push(&pool->entries)) return false;
    }
    hg_pooled *all = pool->entries.data;
    all[i] = (hg_pooled){.whole = handle,
                         .bytes = bytes,
                         .cls = cls,
                         .older = pool->newest,
                         .newer = HG_NO_POOLED,
                         .below = pool->of_class[cls],
                         .above = HG_NO_POOLED};
    if (pool->newest != HG_NO_POOLED) all[pool->newest].newer = i;
    if (pool->oldest == HG_NO_POOLED) pool->oldest = i;
    if (all[i].below != HG_NO_POOLED) all[all[i].below].above = i;
    pool->newest = pool->of_class[cls] = i;
    pool->kept++;
    pool->kept_bytes += bytes;
    return true;
}

/* A buffer that is going: what it says of its handle is of nobody's interest. */
static void free_whole(hg_buffer_pool *pool, uint64_t handle) {
    hg_error kept = *hg_error_record();
    if (hg_backend_free_buffer(pool->backend, (hg_buffer){handle}) != HG_OK)
        *hg_error_record() = kept;
}

static void drop_oldest(hg_buffer_pool *pool, uint64_t most_bytes, uint32_t most_buffers) {
    while (pool->kept && (pool->kept_bytes > most_bytes || pool->kept > most_buffers)) {
        uint32_t i = pool->oldest;
        uint64_t handle = pool->entries.data[i].whole;
        unlink_entry(pool, i);
        free_whole(pool, handle);
    }
}

/* ---- buffers ---- */

void hg_buffer_pool_trim(hg_buffer_pool *pool, uint64_t bytes) {
    hg_mutex_lock(&pool->lock);
    drop_oldest(pool, bytes, UINT32_MAX);
    hg_mutex_unlock(&pool->lock);
}

void hg_buffer_pool_free(hg_buffer_pool *pool) {
    hg_buffer_pool_trim(pool, 0);
    hg_vec_free(&pool->entries);
    hg_mutex_destroy(&pool->lock);
}

static void count_used(hg_buffer_pool *pool, uint64_t bytes) {
    pool->used_bytes += bytes;
    if (pool->used_bytes > pool->peak_bytes) pool->peak_bytes = pool->used_bytes;
}

/* One that is kept, in *handle, and counted as used; false: none of that class is. */
static bool take_kept(hg_buffer_pool *pool, uint32_t cls, uint64_t bytes, uint64_t *handle) {
    hg_mutex_lock(&pool->lock);
    uint32_t i = pool->of_class[cls];
    if (i != HG_NO_POOLED) {
        *handle = pool->entries.data[i].whole;
        unlink_entry(pool, i);
        pool->reused++;
        count_used(pool, bytes);
    }
    hg_mutex_unlock(&pool->lock);
    return i != HG_NO_POOLED;
}

static void count_unused(hg_buffer_pool *pool, uint64_t bytes) {
    pool->used_bytes -= bytes < pool->used_bytes ? bytes : pool->used_bytes;
}

static hg_status clear(hg_buffer_pool *pool, hg_buffer whole, uint64_t bytes) {
    hg_status status = hg_fill(pool->backend->context, whole.handle, 0, bytes, 0);
    if (status == HG_OK) return HG_OK;
    hg_mutex_lock(&pool->lock);
    count_unused(pool, bytes);
    hg_mutex_unlock(&pool->lock);
    free_whole(pool, whole.handle);
    return status;
}

static hg_status new_buffer(hg_buffer_pool *pool, uint64_t bytes, hg_buffer *whole) {
    hg_status status = hg_backend_allocate_buffer(pool->backend, bytes, whole);
    if (status != HG_ERROR_ALLOCATION_FAILED && status != HG_ERROR_OUT_OF_MEMORY) return status;
    if (!pool->kept) return status;
    hg_buffer_pool_trim(pool, 0);
    return hg_backend_allocate_buffer(pool->backend, bytes, whole);
}

hg_status hg_buffer_pool_take_whole(hg_buffer_pool *pool, uint64_t bytes, bool zero,
                                    hg_buffer *whole, uint64_t *class_bytes) {
    uint32_t cls = class_of(bytes, class_bytes);
    if (cls == HG_POOL_CLASSES || *class_bytes > pool->most_bytes)
        *class_bytes = bytes; /* is not kept */
    if (cls != HG_POOL_CLASSES && take_kept(pool, cls, *class_bytes, &whole->handle))
        return zero ? clear(pool, *whole, *class_bytes) : HG_OK;
    HG_TRY(cls == HG_POOL_CLASSES ? hg_backend_allocate_buffer(pool->backend, bytes, whole)
                                  : new_buffer(pool, *class_bytes, whole));
    hg_mutex_lock(&pool->lock);
    count_used(pool, *class_bytes);
    hg_mutex_unlock(&pool->lock);
    return HG_OK;
}

void hg_buffer_pool_give_whole(hg_buffer_pool *pool, hg_buffer whole, uint64_t bytes) {
    uint64_t of_class;
    uint32_t cls = class_of(bytes, &of_class);
    bool keeps = cls != HG_POOL_CLASSES && of_class == bytes;
    hg_mutex_lock(&pool->lock);
    count_unused(pool, bytes);
    if (!keeps || bytes > pool->most_bytes || !pool->most_buffers ||
        !link_entry(pool, whole.handle, bytes, cls))
        free_whole(pool, whole.handle);
    drop_oldest(pool, pool->most_bytes, pool->most_buffers);
    hg_mutex_unlock(&pool->lock);
}

hg_status hg_buffer_pool_take(hg_buffer_pool *pool, uint64_t bytes, hg_buffer *buffer) {
    hg_buffer whole;
    uint64_t of_class;
    HG_TRY(hg_buffer_pool_take_whole(pool, bytes, true, &whole, &of_class));
    hg_status status = hg_buffer_view(pool->backend, whole, 0, bytes, buffer);
    if (status == HG_OK) return HG_OK;
    hg_mutex_lock(&pool->lock);
    pool->used_bytes -= of_class;
    hg_mutex_unlock(&pool->lock);
    free_whole(pool, whole.handle);
    return status;
}

/* The buffer that a view is part of, and its bytes; 0: the pool has not given it out. */
static uint64_t whole_of(hg_backend *b, uint64_t handle, uint64_t *bytes) {
    uint64_t whole = 0;
    hg_guard_begin(b);
    const hg_memory *view = hg_handles_get(&b->buffers, handle);
    const hg_memory *of = view && view->whole ? hg_handles_get(&b->buffers, view->whole) : NULL;
    if (of) {
        whole = hg_handle_public(b, view->whole);
        *bytes = of->place.range.size;
    }
    hg_guard_end(b);
    return whole;
}

hg_status hg_buffer_pool_give(hg_buffer_pool *pool, hg_buffer buffer) {
    uint64_t handle, whole, bytes = 0;
    HG_TRY(hg_handle_take(pool->backend, false, buffer.handle, &handle));
    whole = hg_handle_is_class(handle) ? 0 : whole_of(pool->backend, handle, &bytes);
    HG_TRY(hg_backend_free_buffer(pool->backend, buffer)); /* one of two callers comes further */
    if (whole) hg_buffer_pool_give_whole(pool, (hg_buffer){whole}, bytes);
    return HG_OK;
}
