/* The ring object: a circular byte buffer in host memory (semantics 4.4). */
#include "base/base.h"
#include <hologram/backend.h>
#include <string.h>

struct hg_ring {
    uint64_t capacity, start, length; /* start: oldest byte */
    uint8_t *bytes;
};

hg_status hg_ring_create(uint64_t capacity, hg_ring **ring) {
    HG_ENTRY;
    if (!ring) return hg_null_argument("ring");
    hg_ring *r = hg_calloc(1, sizeof *r);
    uint8_t *bytes = capacity <= SIZE_MAX ? hg_alloc((size_t)capacity) : NULL;
    if (!r || !bytes) {
        hg_free(r);
        hg_free(bytes);
        return hg_fail_memory();
    }
    r->capacity = capacity;
    r->bytes = bytes;
    *ring = r;
    return HG_OK;
}

void hg_ring_destroy(hg_ring *ring) {
    HG_ENTRY;
    if (!ring) return;
    hg_free(ring->bytes);
    hg_free(ring);
}

hg_status hg_ring_write(hg_ring *r, const void *data, uint64_t length) {
    HG_ENTRY;
    const uint8_t *from = data;
    if (!r) return hg_null_argument("ring");
    if (!data && length) return hg_null_argument("data");
    if (length > r->capacity) { /* only the last bytes can stay */
        from += length - r->capacity;
        length = r->capacity;
    }
    if (length == 0) return HG_OK;
    uint64_t kept = r->length < r->capacity - length ? r->length : r->capacity - length;
    r->start = (r->start + (r->length - kept)) % r->capacity;
    uint64_t end = (r->start + kept) % r->capacity;
    uint64_t first = length < r->capacity - end ? length : r->capacity - end;
    memcpy(r->bytes + end, from, (size_t)first);
    memcpy(r->bytes, from + first, (size_t)(length - first));
    r->length = kept + length;
    return HG_OK;
}

hg_status hg_ring_read(const hg_ring *r, uint64_t offset, void *data, uint64_t length) {
    HG_ENTRY;
    if (!r) return hg_null_argument("ring");
    if (!data && length) return hg_null_argument("data");
    if (offset > r->length || length > r->length - offset)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "ring read of %llu bytes at %llu, it holds %llu",
                       (unsigned long long)length, (unsigned long long)offset,
                       (unsigned long long)r->length);
    if (length == 0) return HG_OK;
    uint64_t at = (r->start + offset) % r->capacity;
    uint64_t first = length < r->capacity - at ? length : r->capacity - at;
    memcpy(data, r->bytes + at, (size_t)first);
    memcpy((uint8_t *)data + first, r->bytes, (size_t)(length - first));
    return HG_OK;
}

uint64_t hg_ring_len(const hg_ring *r) {
    HG_ENTRY;
    return r ? r->length : 0;
}
uint64_t hg_ring_capacity(const hg_ring *r) {
    HG_ENTRY;
    return r ? r->capacity : 0;
}
