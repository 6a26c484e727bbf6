/* Which classes are in use, and memory inside and outside of them. Must not know: who uses it. */
#include "runtime/memory.h"
#include <hologram/atlas.h>
#include <hologram/class_memory.h>
#include <string.h>

struct hg_class_allocator {
    hg_mutex lock;
    bool used[HG_MAX_CLASSES];
    uint8_t freed[HG_MAX_CLASSES]; /* free classes that were in use, the last one freed at the end
                                    */
    uint32_t freed_count;
};

enum { MOST_CLASSES = 48 }; /* semantics 4.3 */

hg_status hg_class_allocator_create(hg_class_allocator **allocator) {
    HG_ENTRY;
    if (!allocator) return hg_null_argument("allocator");
    hg_class_allocator *a = hg_calloc(1, sizeof *a);
    if (!a) return hg_fail_memory();
    hg_mutex_init(&a->lock);
    *allocator = a;
    return HG_OK;
}

void hg_class_allocator_destroy(hg_class_allocator *a) {
    HG_ENTRY;
    if (!a) return;
    hg_mutex_destroy(&a->lock);
    hg_free(a);
}

uint32_t hg_class_allocator_used(hg_class_allocator *a) {
    HG_ENTRY;
    uint32_t count = 0;
    if (!a) return 0;
    hg_mutex_lock(&a->lock);
    for (int i = 0; i < HG_MAX_CLASSES; i++) count += a->used[i];
    hg_mutex_unlock(&a->lock);
    return count;
}

/* The lowest run of so many free classes; HG_MAX_CLASSES: there is none. */
static uint32_t find_run(const hg_class_allocator *a, uint32_t count) {
    for (uint32_t i = 0, run = 0; i < HG_MAX_CLASSES; i++) {
        run = a->used[i] ? 0 : run + 1;
        if (run == count) return i + 1 - count;
    }
    return HG_MAX_CLASSES;
}

static void forget_freed(hg_class_allocator *a, uint32_t cls) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < a->freed_count; i++)
        if (a->freed[i] != cls) a->freed[kept++] = a->freed[i];
    a->freed_count = kept;
}

static bool take(hg_class_allocator *a, uint32_t count, uint32_t *first) {
    hg_mutex_lock(&a->lock);
    bool again = count == 1 && a->freed_count;
    *first = again ? a->freed[a->freed_count - 1] : find_run(a, count);
    bool found = *first < HG_MAX_CLASSES;
    for (uint32_t i = 0; found && i < count; i++) {
        a->used[*first + i] = true;
        forget_freed(a, *first + i);
    }
    hg_mutex_unlock(&a->lock);
    return found;
}

/* False: some of them are not in use; nothing changes. */
static bool give(hg_class_allocator *a, uint32_t first, uint32_t count) {
    bool good = true;
    hg_mutex_lock(&a->lock);
    for (uint32_t i = 0; i < count; i++) good = good && a->used[first + i];
    for (uint32_t i = count; good && i-- > 0;) { /* the lowest of them comes first again */
        a->used[first + i] = false;
        a->freed[a->freed_count++] = (uint8_t)(first + i);
    }
    hg_mutex_unlock(&a->lock);
    return good;
}

static hg_buffer class_handle(uint64_t cls) {
    return (hg_buffer){UINT64_MAX - (HG_MAX_CLASSES - 1) + cls};
}

hg_status hg_class_allocate(hg_class_allocator *a, hg_backend *b, uint64_t bytes,
                            hg_class_block *block) {
    HG_ENTRY;
    if (!a || !b || !block) return hg_null_argument(!a ? "allocator" : !b ? "backend" : "block");
    hg_class_block found = {.bytes = bytes};
    uint64_t count = bytes / HG_MAX_CLASS_BYTES + (bytes % HG_MAX_CLASS_BYTES != 0);
    if (count == 0) count = 1;
    if (count <= MOST_CLASSES && take(a, (uint32_t)count, &found.first)) {
        found.count = (uint32_t)count;
        if (count == 1)
            found.buffer = class_handle(found.first);
        else
            found.offset = (uint64_t)found.first * HG_MAX_CLASS_BYTES;
    } else {
        found.first = 0;
        HG_TRY(hg_backend_allocate_buffer(b, bytes, &found.buffer));
    }
    *block = found;
    return HG_OK;
}

hg_status hg_class_free(hg_class_allocator *a, hg_backend *b, hg_class_block block) {
    HG_ENTRY;
    if (!a || !b) return hg_null_argument(a ? "backend" : "allocator");
    if (block.count == 0) return hg_backend_free_buffer(b, block.buffer);
    bool inside = block.first < HG_MAX_CLASSES && block.count <= HG_MAX_CLASSES - block.first;
    return inside && give(a, block.first, block.count)
               ? HG_OK
               : hg_invalid_handle(false, class_handle(block.first).handle);
}

hg_status hg_allocate_boundary(hg_backend *b, uint64_t cls, uint64_t width, uint64_t height,
                               hg_buffer *buffer) {
    HG_ENTRY;
    uint64_t index;
    if (!b || !buffer) return hg_null_argument(b ? "buffer" : "backend");
    HG_TRY(hg_bound_map(cls, width ? width - 1 : 0, height ? height - 1 : 0, &index)); /* the last
                                                                                          byte must
                                                                                          be there
                                                                                        */
    *buffer = class_handle(cls);
    return HG_OK;
}

hg_status hg_allocate_class_free(hg_backend *b, uint64_t bytes, hg_buffer *buffer) {
    HG_ENTRY;
    return hg_backend_allocate_buffer(b, bytes, buffer);
}

/* ---- the memory of types ---- */

static uint32_t width_of(hg_type type) {
    uint32_t width = 0;
    for (uint64_t size = hg_type_size_bytes(type); size > 1; size /= 2) width++;
    return width;
}

hg_status hg_backend_type_memory(hg_backend *b, hg_type type, hg_pool *pool) {
    HG_ENTRY;
    uint64_t size;
    if (!b || !pool) return hg_null_argument(b ? "pool" : "backend");
    if (!hg_type_size_bytes(type))
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%d is no type", (int)type);
    hg_pool *own = &b->types.pools[width_of(type)];
    hg_mutex_lock(&b->types.lock);
    hg_status status = HG_OK;
    if (!own->handle || hg_backend_pool_size(b, *own, &size) != HG_OK) /* or somebody has freed it
                                                                        */
        status = hg_backend_allocate_pool(b, hg_torus_of(type).total, own);
    if (status == HG_OK) *pool = *own;
    hg_mutex_unlock(&b->types.lock);
    return status;
}
