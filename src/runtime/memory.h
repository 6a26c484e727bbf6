/* Buffers and pools: their memory and handles, what is freed while launches run, copies and fills.
 * Must not know: programs, launches. */
#ifndef HG_RUNTIME_MEMORY_H
#define HG_RUNTIME_MEMORY_H

#include "runtime/context.h"

/* A buffer or a pool. */
typedef struct hg_memory {
    hg_piece place;
    void *host;     /* where the host sees it; NULL where it does not */
    uint64_t whole; /* of a view: the buffer whose memory it is part of, and which it keeps; 0: no
                       view */
    struct hg_memory *next; /* freed, waiting for launches that may have found it */
} hg_memory;

/* ---- memory.c ---- */
hg_touch hg_touch_of(const hg_backend *b, const hg_range *range, bool written);
hg_status hg_memory_create(hg_backend *b, uint64_t size, hg_memory **memory) HG_NODISCARD;
void hg_memory_destroy(void *backend, void *memory);
/* A buffer that is part of another one's memory, which stays as long as the view does. offset: a
 * multiple of HG_PIECE_ALIGN, or where devices need no more than that of an element. Freed as every
 * buffer. HG_ERROR_INVALID_BUFFER, HG_ERROR_INVALID_ARGUMENT: it does not lie in the buffer. */
hg_status hg_buffer_view(hg_backend *b, hg_buffer whole, uint64_t offset, uint64_t size,
                         hg_buffer *view) HG_NODISCARD;
/* Between these two no buffer or pool that hg_buffer_range or hg_pool_range finds is freed. */
void hg_guard_begin(hg_backend *b);
void hg_guard_end(hg_backend *b);
/* Both at once, for a launch that has found nothing it still uses: where no other one is guarded,
 * what was freed goes now. */
void hg_guard_renew(hg_backend *b);
/* The range of a buffer handle (class handles included; context may be NULL when they cannot
 * occur). Unknown: arena NULL. */
hg_range hg_buffer_range(hg_backend *b, hg_context *context, uint64_t handle);
hg_range hg_pool_range(hg_backend *b, uint64_t handle);
/* A buffer or pool has one handle for programs, generation * 2^23 + index below 2^47, and one for
 * hosts, which has the backend's number above that: where several backends are alive, those of one
 * are errors for the others. */
enum { HG_BACKEND_NUMBER_SHIFT = 47, HG_BACKEND_NUMBERS = 65536 - 64 };
void hg_backend_number_take(hg_backend *b);
void hg_backend_number_give(hg_backend *b);
static inline uint64_t hg_handle_public(const hg_backend *b, uint64_t handle) {
    return handle | b->number << HG_BACKEND_NUMBER_SHIFT;
}
/* As programs have it, where it is the backend's; any other as it is. */
static inline uint64_t hg_handle_plain(const hg_backend *b, uint64_t handle) {
    bool own = handle >> HG_BACKEND_NUMBER_SHIFT == b->number;
    return own ? handle & ((UINT64_C(1) << HG_BACKEND_NUMBER_SHIFT) - 1) : handle;
}
/* The program's handle of what a caller of the library gives; HG_ERROR_INVALID_BUFFER where it is
 * of another backend. It may be dead. */
hg_status hg_handle_take(const hg_backend *b, bool pool, uint64_t given,
                         uint64_t *handle) HG_NODISCARD;
bool hg_handle_is_class(uint64_t handle);                         /* 0 or 2^64-96 … 2^64-1 */
hg_range hg_class_range(const hg_range *memory, uint64_t handle); /* of such a handle in a context's
                                                                     class memory */
hg_status hg_invalid_handle(bool pool, uint64_t handle);
/* A copy or fill: COPY_IN, COPY_OUT, COPY or FILL; handles of buffers or of pools. */
typedef struct hg_transfer {
    hg_driver_command_kind kind;
    bool pool;
    uint8_t value;
    uint64_t to, to_offset, from, from_offset, length;
    void *host;
} hg_transfer;
/* The same checked: its command, the memory it keeps, what it touches. Not to be moved. */
typedef struct hg_transfer_work {
    hg_driver_command command;
    uint64_t length;
    void *seen; /* copies in and out: the device's memory where the host sees it;
                   hg_transfer_on_host does it then. NULL: the command */
    struct {
        hg_handles *table;
        uint64_t handle;
    } held[2];
    hg_touch list[2];
    hg_touches touches;
} hg_transfer_work;
hg_status hg_transfer_prepare(hg_context *context, const hg_transfer *transfer,
                              hg_transfer_work *work) HG_NODISCARD;
void hg_transfer_on_host(const hg_transfer_work *work);
void hg_transfer_release(hg_transfer_work *work); /* once, after a successful prepare */
void *hg_host_address(const hg_backend *b, const hg_range *range); /* NULL where the host does not
                                                                      see it */
/* One copy or fill of a public command; class handles mean the context's. */
hg_status hg_copy(hg_context *context, bool pool, uint64_t handle, uint64_t offset, void *data,
                  uint64_t length, hg_driver_command_kind kind) HG_NODISCARD;

/* ---- alias.c ---- */
void hg_alias_signature(const hg_backend *b, const hg_range *slots, uint32_t count, uint8_t *pairs);

#endif
