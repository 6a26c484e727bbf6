/* Program cache of a backend: executables by the BLAKE3 of program hash, signature and instrumentation; the least recently used goes. */
#include "runtime/runtime.h"
#include <string.h>

void hg_cache_key(const hg_program *program, const hg_signature *signature, uint64_t max_steps, uint8_t key[32]) {
    hg_blake3 h;
    hg_blake3_init(&h);
    hg_blake3_update(&h, hg_program_hash(program), 32);
    hg_blake3_update(&h, signature->types, sizeof signature->types);
    hg_blake3_update(&h, &max_steps, sizeof max_steps);
    hg_blake3_final(&h, key);
}

hg_executable *hg_cache_find(hg_backend *b, const uint8_t key[32]) {
    hg_executable *found = NULL;
    hg_mutex_lock(&b->cache_lock);
    for (uint64_t i = 0; i < b->cache.count && !found; i++) {
        if (memcmp(b->cache.data[i].key, key, 32) != 0) continue;
        b->cache.data[i].used = ++b->cache_clock;
        found = hg_executable_retain(b->cache.data[i].executable);
    }
    hg_mutex_unlock(&b->cache_lock);
    return found;
}

static uint64_t oldest(const hg_backend *b) {
    uint64_t at = 0;
    for (uint64_t i = 1; i < b->cache.count; i++)
        if (b->cache.data[i].used < b->cache.data[at].used) at = i;
    return at;
}

/* Without memory for it the entry is simply not cached. */
void hg_cache_add(hg_backend *b, const uint8_t key[32], hg_executable *e) {
    hg_executable *dropped = NULL;
    if (b->config.cache_programs == 0) return;
    hg_mutex_lock(&b->cache_lock);
    hg_cache_entry *entry;
    if (b->cache.count < b->config.cache_programs) {
        entry = hg_vec_push(&b->cache);
    } else {
        entry = &b->cache.data[oldest(b)];
        dropped = entry->executable;
    }
    if (entry) {
        memcpy(entry->key, key, 32);
        entry->executable = hg_executable_retain(e);
        entry->used = ++b->cache_clock;
    }
    hg_mutex_unlock(&b->cache_lock);
    hg_executable_destroy(dropped);
}

void hg_cache_clear(hg_backend *b) {
    for (uint64_t i = 0; i < b->cache.count; i++) hg_executable_destroy(b->cache.data[i].executable);
    hg_vec_free(&b->cache);
}
