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

/* Programs of one hash may differ in what they say about themselves. */
static bool says_the_same(const hg_program *a, const hg_program *b) {
    if (a == b) return true;
    size_t size = a->inst_count * sizeof *a->lines;
    if (strcmp(a->name, b->name) != 0 || !a->lines != !b->lines) return false;
    return !a->lines || (memcmp(a->lines, b->lines, size) == 0 && memcmp(a->columns, b->columns, size) == 0);
}

hg_executable *hg_cache_find(hg_backend *b, const uint8_t key[32], const hg_program *program) {
    hg_executable *found = NULL;
    hg_mutex_lock(&b->cache_lock);
    for (uint64_t i = 0; i < b->cache.count && !found; i++) {
        if (memcmp(b->cache.data[i].key, key, 32) != 0 || !says_the_same(b->cache.data[i].executable->program, program)) continue;
        b->cache.data[i].used = ++b->cache_clock;
        found = hg_executable_retain(b->cache.data[i].executable);
    }
    hg_mutex_unlock(&b->cache_lock);
    return found;
}

/* The entry of that key, else the one used longest ago. */
static uint64_t replaced(const hg_backend *b, const uint8_t key[32], bool *same) {
    uint64_t at = 0;
    *same = false;
    for (uint64_t i = 0; i < b->cache.count && !*same; i++) {
        *same = memcmp(b->cache.data[i].key, key, 32) == 0;
        if (*same || b->cache.data[i].used < b->cache.data[at].used) at = i;
    }
    return at;
}

/* Without memory for it the entry is simply not cached. */
void hg_cache_add(hg_backend *b, const uint8_t key[32], hg_executable *e) {
    hg_executable *dropped = NULL;
    if (b->config.cache_programs == 0) return;
    hg_mutex_lock(&b->cache_lock);
    bool same;
    uint64_t at = replaced(b, key, &same);
    hg_cache_entry *entry;
    if (!same && b->cache.count < b->config.cache_programs) {
        entry = hg_vec_push(&b->cache);
    } else {
        entry = &b->cache.data[at];
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
