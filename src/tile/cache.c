/* The kernels of whole-array operations without a handler, kept until the device closes.
 * Must not know: how they are built. */
#include "base/fork.h"
#include "tile/element.h"

typedef struct cache_entry {
    struct cache_entry *next;
    tile_kernel *kernel;
    uint16_t fn;
    uint8_t type;
} cache_entry;

struct tile_cache {
    hg_mutex lock;
    hg_fork_lock forks;
    cache_entry *entries; /* a few dozen at most */
};

tile_cache *tile_cache_create(void) {
    tile_cache *cache = hg_calloc(1, sizeof *cache);
    if (!cache) return NULL;
    hg_mutex_init(&cache->lock);
    cache->forks = (hg_fork_lock){.mutex = &cache->lock};
    hg_fork_add(&cache->forks, HG_FORK_TILE);
    tile_run_watch_forks();
    return cache;
}

void tile_cache_destroy(tile_cache *cache) {
    if (!cache) return;
    hg_fork_remove(&cache->forks);
    for (cache_entry *e = cache->entries; e;) {
        cache_entry *next = e->next;
        tile_kernel_destroy(e->kernel);
        hg_free(e);
        e = next;
    }
    hg_mutex_destroy(&cache->lock);
    hg_free(cache);
}

static cache_entry *find(const tile_cache *cache, uint16_t fn, hg_type type) {
    cache_entry *e = cache->entries;
    while (e && (e->fn != fn || e->type != type)) e = e->next;
    return e;
}

tile_kernel *tile_cache_find(tile_cache *cache, uint16_t fn, hg_type type) {
    hg_mutex_lock(&cache->lock);
    cache_entry *e = find(cache, fn, type);
    hg_mutex_unlock(&cache->lock);
    return e ? e->kernel : NULL;
}

bool tile_cache_keep(tile_cache *cache, uint16_t fn, hg_type type, tile_kernel **kernel) {
    cache_entry *mine = hg_calloc(1, sizeof *mine);
    if (!mine) return false;
    *mine = (cache_entry){.kernel = *kernel, .fn = fn, .type = (uint8_t)type};
    hg_mutex_lock(&cache->lock);
    cache_entry *other = find(cache, fn, type);
    if (!other) {
        mine->next = cache->entries;
        cache->entries = mine;
    }
    hg_mutex_unlock(&cache->lock);
    if (!other) return true;
    tile_kernel_destroy(*kernel); /* another thread was faster */
    hg_free(mine);
    *kernel = other->kernel;
    return true;
}
