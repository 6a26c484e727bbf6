/* Memory for everything that the runtime keeps on a device: pieces of few large arenas, or an arena
 * each where the device prefers it.
 * Must not know: handles, programs. */
#ifndef HG_RUNTIME_SUBALLOC_H
#define HG_RUNTIME_SUBALLOC_H

#include "base/budget.h"
#include "base/thread.h"
#include "driver/driver.h"

typedef struct hg_span hg_span;   /* a piece of a chunk, taken or free */
typedef struct hg_chunk hg_chunk; /* an arena that is divided */

/* A piece of device memory. range.arena NULL: none. */
typedef struct hg_piece {
    hg_range range;       /* its size is what was asked for */
    uint64_t arena_bytes; /* size of the whole arena */
    uint64_t charged;     /* to the budget; of a piece of a chunk 0 */
    hg_span *span;        /* NULL: the arena is the place's own */
} hg_piece;

typedef struct hg_suballocator {
    const hg_driver *driver;
    hg_device *device;
    const hg_device_caps *caps;
    hg_budget *budget; /* what arenas are charged to; NULL: nothing limits them */
    hg_mutex lock;
    hg_chunk *chunks;
    hg_driver_queue *queue; /* fills reused memory; made at the first use */
} hg_suballocator;

enum {
    HG_PIECE_ALIGN = 256
}; /* the largest alignment that a device asks of an offset (Vulkan, WebGPU) */
/* What an arena is charged beside its bytes: the records and tables that the host keeps of it, so
 * that a program with millions of empty pools meets the budget too. */
enum { HG_ARENA_OVERHEAD = 256 };

void hg_suballocator_init(hg_suballocator *s, const hg_driver *driver, hg_device *device);
/* Everything must have been freed. */
void hg_suballocator_destroy(hg_suballocator *s);
/* Zeroed bytes. HG_ERROR_ALLOCATION_FAILED (the budget too), HG_ERROR_OUT_OF_MEMORY. Thread-safe;
 * waits while it zeroes memory that was used before. */
hg_status hg_piece_alloc(hg_suballocator *s, uint64_t size, hg_piece *place) HG_NODISCARD;
/* Nothing on the device may use it any more. Clears *place; one without memory is left alone. */
void hg_piece_free(hg_suballocator *s, hg_piece *place);

#endif
