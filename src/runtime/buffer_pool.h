/* Freed buffers of an executor that are kept for the next ones of their size class: eight classes
 * between two powers of two, so that at most a ninth of a buffer is more than was asked for. What
 * is given out is exactly as large as asked for: a view of the buffer of the class. The buffers
 * that were freed longest ago go first.
 * Must not know: what is in them, launches. */
#ifndef HG_RUNTIME_BUFFER_POOL_H
#define HG_RUNTIME_BUFFER_POOL_H

#include "base/thread.h"
#include "runtime/memory.h"

enum { HG_POOL_CLASSES = 8 * 64 };

typedef struct hg_pooled {
    uint64_t whole;        /* public handle of the buffer */
    uint64_t bytes;        /* of its class, */
    uint32_t cls;          /* which is that one */
    uint32_t older, newer; /* of all that are free; HG_NO_POOLED: none */
    uint32_t below, above; /* of its class: freed before and after it */
} hg_pooled;
#define HG_NO_POOLED UINT32_MAX

typedef struct hg_buffer_pool {
    hg_backend *backend;
    uint64_t most_bytes;
    uint32_t most_buffers;
    hg_mutex lock; /* of all below */
    HG_VEC(hg_pooled) entries;
    uint32_t spare; /* entries that hold nothing, through `older` */
    uint32_t oldest, newest;
    uint32_t of_class[HG_POOL_CLASSES]; /* the newest of it */
    uint32_t kept;
    uint64_t kept_bytes, used_bytes, peak_bytes, reused;
} hg_buffer_pool;

void hg_buffer_pool_init(hg_buffer_pool *pool, hg_backend *backend, uint32_t most_buffers,
                         uint64_t most_bytes);
/* Frees what it keeps. Buffers that are out stay the backend's. */
void hg_buffer_pool_free(hg_buffer_pool *pool);
/* A buffer of that many bytes, zeroed. What is kept is freed where there is no memory without.
 * Thread-safe. */
hg_status hg_buffer_pool_take(hg_buffer_pool *pool, uint64_t bytes, hg_buffer *buffer) HG_NODISCARD;
/* The same as a buffer of its class, which is at least as large and whose bytes *class_bytes says.
 * zero: cleared, else with whatever it held. Thread-safe. */
hg_status hg_buffer_pool_take_whole(hg_buffer_pool *pool, uint64_t bytes, bool zero,
                                    hg_buffer *whole, uint64_t *class_bytes) HG_NODISCARD;
/* Gives such a buffer back. Thread-safe. */
void hg_buffer_pool_give_whole(hg_buffer_pool *pool, hg_buffer whole, uint64_t class_bytes);
/* Gives a buffer back; nothing uses it any more. Thread-safe. */
hg_status hg_buffer_pool_give(hg_buffer_pool *pool, hg_buffer buffer) HG_NODISCARD;
/* Frees those that were kept longest until no more than that many bytes are kept. Thread-safe. */
void hg_buffer_pool_trim(hg_buffer_pool *pool, uint64_t bytes);

#endif
