/* Handle table: handle = generation * 2^23 + index, so the first ones are 1, 2, 3 and a stale one
 * is known. Bit 63 is 0, index 0 is left to class memory. Thread-safe. Must not know: what the
 * objects are. */
#ifndef HG_BASE_HANDLES_H
#define HG_BASE_HANDLES_H

#include "base/base.h"
#include "base/readers.h"

enum {
    HG_HANDLE_INDEX_BITS = 23,
    HG_HANDLE_FIRST_BITS = 6,
    HG_HANDLE_PIECES = HG_HANDLE_INDEX_BITS - HG_HANDLE_FIRST_BITS + 1
};

typedef struct hg_handle_entry {
    uint64_t key;        /* the handle while it is alive, else 0; read without the lock */
    void *object;        /* NULL: entry is free */
    uint64_t generation; /* of the present object, or of the next one */
    uint32_t users;      /* retains */
    uint32_t next_free;  /* 0 ends the list */
    bool removed;        /* the handle is dead; the object waits for its users */
} hg_handle_entry;

typedef struct hg_handles {
    hg_mutex mutex;
    hg_handle_entry *pieces[HG_HANDLE_PIECES]; /* of 64, 128, 256 … entries, which never move; entry
                                                 0 is never used */
    uint64_t end; /* one more than the largest index ever used; 0: nothing yet */
    uint32_t first_free, last_free;
    uint64_t live;
    uint64_t version;     /* changes with every handle that comes or goes */
    uint64_t generations; /* of a entry; then it is never used again. 0: as many as keep bit 63 at 0
                           */
    void (*destroy)(void *user, void *object);
    void *user;
} hg_handles;

/* destroy (may be NULL) is called without the lock when an object's handle is removed and its last
 * user is gone. */
void hg_handles_init(hg_handles *table, void (*destroy)(void *user, void *object), void *user);
/* Destroys all objects. Nobody may use the table any more. */
void hg_handles_free(hg_handles *table);

/* A new handle for a non-NULL object. HG_ERROR_OUT_OF_MEMORY, HG_ERROR_ALLOCATION_FAILED when all
 * 2^23 - 1 indices are in use. */
hg_status hg_handles_add(hg_handles *table, void *object, uint64_t *handle) HG_NODISCARD;
/* The object; NULL for a handle that is stale, removed or never was. The object may be destroyed by
 * others unless retained. */
void *hg_handles_get(hg_handles *table, uint64_t handle);
/* Whether it is alive at this moment, without a lock. */
static inline bool hg_handles_is_live(const hg_handles *table, uint64_t handle);
/* The same, and keeps the object until hg_handles_release, even if the handle is removed meanwhile.
 */
void *hg_handles_retain(hg_handles *table, uint64_t handle);
void hg_handles_release(hg_handles *table, uint64_t handle);
/* For work that is short and calls nothing: the object stays until hg_reader_leave(*reader),
 * without a lock. NULL when the handle is dead or *reader could not be had (then it is NULL too):
 * ask hg_handles_retain. */
static inline void *hg_handles_enter(hg_handles *table, uint64_t handle, hg_reader **reader);
/* The handle is dead from now on. False when it was none (a double free). The object is destroyed
 * now or at the last release. */
bool hg_handles_remove(hg_handles *table, uint64_t handle);

/* For flat addresses, which carry the index only: the live handle at an index; 0 when there is
 * none. */
uint64_t hg_handles_at(hg_handles *table, uint64_t index);
/* One more than the largest index ever used. */
uint64_t hg_handles_end(hg_handles *table);
/* Changes with every handle that comes or goes. */
uint64_t hg_handles_version(hg_handles *table);
/* Live handles. */
uint64_t hg_handles_count(hg_handles *table);

/* Where the entry of an index is: piece and place in it. */
static inline int hg_handles_piece(uint64_t index, uint64_t *place) {
    uint64_t shifted = index + (UINT64_C(1) << HG_HANDLE_FIRST_BITS);
    int top = 63 - (int)hg_clz64(shifted);
    *place = shifted - (UINT64_C(1) << top);
    return top - HG_HANDLE_FIRST_BITS;
}

static inline uint64_t hg_handle_index(uint64_t handle) {
    return handle & ((UINT64_C(1) << HG_HANDLE_INDEX_BITS) - 1);
}
static inline uint64_t hg_handle_generation(uint64_t handle) {
    return handle >> HG_HANDLE_INDEX_BITS;
}

static inline bool hg_handles_is_live(const hg_handles *table, uint64_t handle) {
    uint64_t place;
    int piece = hg_handles_piece(hg_handle_index(handle), &place);
    const hg_handle_entry *entries = hg_atomic_load(&table->pieces[piece], HG_ACQUIRE);
    return entries && handle && hg_atomic_load(&entries[place].key, HG_SEQ_CST) == handle;
}

static inline void *hg_handles_enter(hg_handles *table, uint64_t handle, hg_reader **reader) {
    *reader = hg_reader_enter();
    if (!*reader) return NULL;
    uint64_t place;
    int piece = hg_handles_piece(hg_handle_index(handle), &place);
    const hg_handle_entry *entries = hg_atomic_load(&table->pieces[piece], HG_ACQUIRE);
    void *object = entries ? hg_atomic_load(&entries[place].object, HG_ACQUIRE) : NULL; /* first:
                                                                                       the key then
                                                                                       shows that it
                                                                                       was alive */
    if (object && hg_atomic_load(&entries[place].key, HG_SEQ_CST) == handle) return object;
    hg_reader_leave(*reader);
    *reader = NULL;
    return NULL;
}

#endif
