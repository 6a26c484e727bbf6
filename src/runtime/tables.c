/* Tables of programs (.data) on a device: kept once for a program, however many executables and
 * bindings use them.
 * Must not know: what a launch binds. */
#include "runtime/kernel.h"
#include "runtime/memory.h"
#include <string.h>

struct hg_tables {
    hg_tables *next; /* in the backend's list; under its cache_lock, like references */
    uint8_t hash[32];
    uint32_t references;
    int filled; /* atomic: the device has the bytes */
    uint32_t count;
    uint64_t handles[]; /* of buffers, one a .data in the order of the declarations */
};

static uint32_t count_tables(const hg_program *p) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < p->param_count; i++) count += p->params[i].kind == HG_PARAM_DATA;
    return count;
}

static void free_tables(hg_backend *b, hg_tables *t) {
    for (uint32_t i = 0; t && i < t->count; i++)
        if (t->handles[i])
            HG_IGNORE(hg_backend_free_buffer(
                b, (hg_buffer){hg_handle_public(b, t->handles[i])})); /* a program may have freed it
                                                                       */
    hg_free(t);
}

/* Where nobody can wait for the copy, the first run that uses them copies them (add_uploads of
 * execute.c). */
static hg_status fill(hg_backend *b, const hg_program *p, hg_tables *t) {
    bool now = b->caps->memory.host_memory || hg_driver_can_block(b->driver, b->caps);
    t->filled = now;
    for (uint32_t i = 0; i < p->param_count; i++) {
        const hg_param *a = &p->params[i];
        hg_buffer buffer;
        if (a->kind != HG_PARAM_DATA) continue;
        HG_TRY(hg_backend_allocate_buffer(b, a->data_bytes, &buffer));
        t->handles[t->count++] = hg_handle_plain(b, buffer.handle);
        if (a->data_bytes && now) HG_TRY(hg_buffer_write(b, buffer, 0, a->data, a->data_bytes));
    }
    return HG_OK;
}

/* Retained, under the lock; NULL: none. */
static hg_tables *find(const hg_backend *b, const uint8_t hash[32]) {
    hg_tables *t = b->cache.tables;
    while (t && memcmp(t->hash, hash, sizeof t->hash) != 0) t = t->next;
    if (t) t->references++;
    return t;
}

hg_status hg_tables_get(hg_backend *b, const hg_program *program, hg_tables **tables) {
    uint32_t count = count_tables(program);
    *tables = NULL;
    if (!count) return HG_OK;
    hg_mutex_lock(&b->cache.lock);
    *tables = find(b, program->hash);
    hg_mutex_unlock(&b->cache.lock);
    if (*tables) return HG_OK;
    hg_tables *made = hg_calloc(1, sizeof *made + count * sizeof *made->handles);
    if (!made) return hg_fail_memory();
    memcpy(made->hash, program->hash, sizeof made->hash);
    made->references = 1;
    hg_status status = fill(b, program, made);
    if (status != HG_OK) {
        hg_error kept = *hg_error_record();
        free_tables(b, made);
        *hg_error_record() = kept;
        return status;
    }
    hg_mutex_lock(&b->cache.lock);
    *tables = find(b, program->hash); /* another thread was faster */
    if (!*tables) {
        made->next = b->cache.tables;
        b->cache.tables = *tables = made;
        made = NULL;
    }
    hg_mutex_unlock(&b->cache.lock);
    free_tables(b, made);
    return HG_OK;
}

void hg_tables_release(hg_backend *b, hg_tables *tables) {
    if (!tables) return;
    hg_mutex_lock(&b->cache.lock);
    bool last = --tables->references == 0;
    hg_tables **at = &b->cache.tables;
    while (last && *at != tables) at = &(*at)->next;
    if (last) *at = tables->next;
    hg_mutex_unlock(&b->cache.lock);
    if (last) free_tables(b, tables);
}

uint64_t hg_tables_handle(const hg_tables *tables, uint32_t number) {
    return tables->handles[number];
}

bool hg_tables_are_filled(const hg_tables *tables) {
    return !tables || hg_atomic_load(&tables->filled, HG_ACQUIRE);
}
void hg_tables_note_filled(hg_tables *tables) { hg_atomic_store(&tables->filled, 1, HG_RELEASE); }
