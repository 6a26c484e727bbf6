/* A cache of byte blobs on disk, shared by any number of processes. It is only ever a saving:
 * whatever goes wrong with it (no directory, no room, a damaged file, a killed writer) is a miss,
 * and the caller makes the blob again.
 * Must not know: what the blobs are, configuration. */
#ifndef HG_BASE_BLOBCACHE_H
#define HG_BASE_BLOBCACHE_H

#include "base/base.h"

typedef struct hg_blob_cache hg_blob_cache;

/* Everything a blob depends on goes into its key, which is a BLAKE3 hash (hg_blake3). */
enum { HG_BLOB_KEY_BYTES = 32 };

typedef struct hg_blob_cache_stats {
    uint64_t hits, misses, stored;
    uint64_t rejected; /* files that were damaged or foreign, and removed */
} hg_blob_cache_stats;

/* dir is made when missing (mode 0700); the entries lie in a folder of its own in it that no other
 * user may write. `limit` is the largest size of all files together, in bytes. dir NULL or "",
 * limit 0, or a directory that cannot be used: a cache that never hits. Fails only with
 * HG_ERROR_OUT_OF_MEMORY. */
hg_status hg_blob_cache_open(const char *dir, uint64_t limit, hg_blob_cache **cache) HG_NODISCARD;
void hg_blob_cache_close(hg_blob_cache *cache); /* NULL is fine */

/* All below: from any thread, cache NULL is a cache that never hits, the thread's last error stays
 * as it is. */
bool hg_blob_cache_usable(const hg_blob_cache *cache);
/* True: *data is a block of hg_alloc (hg_free it) of *size bytes, the same that were put. False: a
 * miss; *data NULL, *size 0. */
bool hg_blob_cache_get(hg_blob_cache *cache, const uint8_t key[HG_BLOB_KEY_BYTES], uint8_t **data,
                       uint64_t *size);
/* False: not stored, which is no error. Replaces an entry of the same key. Least recently used
 * entries make room. */
bool hg_blob_cache_put(hg_blob_cache *cache, const uint8_t key[HG_BLOB_KEY_BYTES], const void *data,
                       uint64_t size);
/* For a blob that turned out to be of no use (a driver refused its own binary). */
void hg_blob_cache_remove(hg_blob_cache *cache, const uint8_t key[HG_BLOB_KEY_BYTES]);
/* Makes processes that make the same thing do it one after another, as far as that helps them:
 * returns when no other holder of the key (or of one of the few that share its lock) is left, or
 * after wait_ms. The result goes to hg_blob_cache_release, in any case. A holder that is killed
 * holds nothing. */
int hg_blob_cache_claim(const hg_blob_cache *cache, const uint8_t key[HG_BLOB_KEY_BYTES],
                        uint32_t wait_ms);
void hg_blob_cache_release(int claim);
void hg_blob_cache_stats_get(hg_blob_cache *cache, hg_blob_cache_stats *stats);

#endif
