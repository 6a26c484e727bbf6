/* Generation-counted handles. Must not know: what the objects are. */
#include "base/handles.h"

/* Bit 63 of a handle stays 0. A entry whose generations are used up is never used again. */
#define GENERATION_END (UINT64_C(1) << (63 - HG_HANDLE_INDEX_BITS))

/* Of an index that was given out. */
static hg_handle_entry *entry_at(hg_handles *table, uint64_t index) {
    uint64_t place;
    int piece = hg_handles_piece(index, &place);
    return table->pieces[piece] + place;
}

void hg_handles_init(hg_handles *table, void (*destroy)(void *user, void *object), void *user) {
    *table = (hg_handles){.destroy = destroy, .user = user};
    hg_mutex_init(&table->mutex);
}

void hg_handles_free(hg_handles *table) {
    for (uint64_t i = 1; i < table->end; i++) {
        void *object = entry_at(table, i)->object;
        if (object && table->destroy) table->destroy(table->user, object);
    }
    for (int i = 0; i < HG_HANDLE_PIECES; i++) {
        hg_free(table->pieces[i]);
        table->pieces[i] = NULL;
    }
    table->end = 0;
    hg_mutex_destroy(&table->mutex);
    table->live = 0;
    table->first_free = table->last_free = 0;
}

/* The entry of a handle whose object still exists. */
static hg_handle_entry *find(hg_handles *table, uint64_t handle) {
    uint64_t index = hg_handle_index(handle);
    if (!index || index >= table->end) return NULL;
    hg_handle_entry *entry = entry_at(table, index);
    return entry->object && entry->generation == hg_handle_generation(handle) ? entry : NULL;
}

static bool add_piece(hg_handles *table) {
    int at = 0;
    while (table->pieces[at]) at++;
    hg_handle_entry *entries = hg_calloc((size_t)1 << (at + HG_HANDLE_FIRST_BITS), sizeof *entries);
    if (entries) hg_atomic_store(&table->pieces[at], entries, HG_RELEASE);
    return entries != NULL;
}

/* Oldest free entry first: a stale handle's index comes back as late as possible. */
static hg_status find_free(hg_handles *table, uint64_t *index) {
    if (table->first_free) {
        *index = table->first_free;
        table->first_free = entry_at(table, *index)->next_free;
        if (!table->first_free) table->last_free = 0;
        return HG_OK;
    }
    uint64_t next = table->end ? table->end : 1;
    if (next > HG_MAX_HANDLE_INDEX)
        return hg_fail(HG_ERROR_ALLOCATION_FAILED, "all %d handles are in use",
                       (int)HG_MAX_HANDLE_INDEX);
    uint64_t place;
    if (!table->pieces[hg_handles_piece(next, &place)] && !add_piece(table))
        return hg_fail_memory();
    table->end = next + 1;
    *index = next;
    return HG_OK;
}

hg_status hg_handles_add(hg_handles *table, void *object, uint64_t *handle) {
    uint64_t index = 0;
    hg_mutex_lock(&table->mutex);
    hg_status status = find_free(table, &index);
    if (status == HG_OK) {
        hg_handle_entry *entry = entry_at(table, index);
        hg_atomic_store(&entry->object, object, HG_RELAXED);
        entry->users = 0;
        entry->removed = false;
        table->live++;
        table->version++;
        *handle = entry->generation << HG_HANDLE_INDEX_BITS | index;
        hg_atomic_store(&entry->key, *handle, HG_SEQ_CST);
    }
    hg_mutex_unlock(&table->mutex);
    return status;
}

void *hg_handles_get(hg_handles *table, uint64_t handle) {
    hg_mutex_lock(&table->mutex);
    hg_handle_entry *entry = find(table, handle);
    void *object = entry && !entry->removed ? entry->object : NULL;
    hg_mutex_unlock(&table->mutex);
    return object;
}

void *hg_handles_retain(hg_handles *table, uint64_t handle) {
    hg_mutex_lock(&table->mutex);
    hg_handle_entry *entry = find(table, handle);
    void *object = entry && !entry->removed && entry->users < UINT32_MAX ? entry->object : NULL;
    if (object) entry->users++;
    hg_mutex_unlock(&table->mutex);
    return object;
}

/* Frees the entry; the object goes to the caller, to be destroyed outside the lock. */
static void *vacate(hg_handles *table, hg_handle_entry *entry, uint64_t index64) {
    void *object = entry->object;
    uint32_t index = (uint32_t)index64;
    hg_atomic_store(&entry->object, NULL, HG_RELAXED);
    entry->next_free = 0;
    if (++entry->generation == (table->generations ? table->generations : GENERATION_END))
        return object;
    if (table->last_free)
        entry_at(table, table->last_free)->next_free = index;
    else
        table->first_free = index;
    table->last_free = index;
    return object;
}

static void destroy(hg_handles *table, void *object) {
    if (!object) return;
    hg_readers_wait();
    if (table->destroy) table->destroy(table->user, object);
}

void hg_handles_release(hg_handles *table, uint64_t handle) {
    void *object = NULL;
    hg_mutex_lock(&table->mutex);
    hg_handle_entry *entry = find(table, handle);
    if (entry && entry->users && --entry->users == 0 && entry->removed)
        object = vacate(table, entry, hg_handle_index(handle));
    hg_mutex_unlock(&table->mutex);
    destroy(table, object);
}

bool hg_handles_remove(hg_handles *table, uint64_t handle) {
    void *object = NULL;
    hg_mutex_lock(&table->mutex);
    hg_handle_entry *entry = find(table, handle);
    bool known = entry && !entry->removed;
    if (known) {
        table->live--;
        table->version++;
        entry->removed = true;
        hg_atomic_store(&entry->key, 0, HG_SEQ_CST);
        if (!entry->users) object = vacate(table, entry, hg_handle_index(handle));
    }
    hg_mutex_unlock(&table->mutex);
    destroy(table, object);
    return known;
}

uint64_t hg_handles_at(hg_handles *table, uint64_t index) {
    uint64_t handle = 0;
    hg_mutex_lock(&table->mutex);
    if (index && index < table->end) {
        const hg_handle_entry *entry = entry_at(table, index);
        if (entry->object && !entry->removed)
            handle = entry->generation << HG_HANDLE_INDEX_BITS | index;
    }
    hg_mutex_unlock(&table->mutex);
    return handle;
}

uint64_t hg_handles_end(hg_handles *table) {
    hg_mutex_lock(&table->mutex);
    uint64_t end = table->end ? table->end : 1;
    hg_mutex_unlock(&table->mutex);
    return end;
}

uint64_t hg_handles_version(hg_handles *table) {
    hg_mutex_lock(&table->mutex);
    uint64_t version = table->version;
    hg_mutex_unlock(&table->mutex);
    return version;
}

uint64_t hg_handles_count(hg_handles *table) {
    hg_mutex_lock(&table->mutex);
    uint64_t live = table->live;
    hg_mutex_unlock(&table->mutex);
    return live;
}
