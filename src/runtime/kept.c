/* Bytes that front ends keep for the next process, in the folder of compiled kernels.
 * Must not know: what the bytes are. */
#include "base/blobcache.h"
#include "runtime/backend.h"

#include <hologram/version.h>
#include <string.h>

static const char WHAT[] = "hologram front end 1";

static hg_status open_cache(hg_backend *b, const uint8_t *key, size_t length, hg_blob_cache **cache,
                            uint8_t hashed[HG_BLOB_KEY_BYTES]) {
    hg_blake3 hash;
    if (!b) return hg_null_argument("backend");
    if (!key) return hg_null_argument("key");
    const char *version = hg_version_text();
    hg_blake3_init(&hash);
    hg_blake3_update(&hash, WHAT, sizeof WHAT);
    hg_blake3_update(&hash, version, strlen(version) + 1);
    hg_blake3_update(&hash, key, length);
    hg_blake3_final(&hash, hashed);
    return hg_blob_cache_open(b->paths.cache, b->config.cache_bytes, cache);
}

hg_status hg_backend_cache_get(hg_backend *b, const uint8_t *key, size_t length, uint8_t **bytes,
                               size_t *size) {
    HG_ENTRY;
    hg_blob_cache *cache;
    uint8_t hashed[HG_BLOB_KEY_BYTES];
    uint64_t found = 0;
    if (!bytes) return hg_null_argument("bytes");
    if (!size) return hg_null_argument("size");
    *bytes = NULL;
    *size = 0;
    HG_TRY(open_cache(b, key, length, &cache, hashed));
    if (hg_blob_cache_get(cache, hashed, bytes, &found)) *size = (size_t)found;
    hg_blob_cache_close(cache);
    return HG_OK;
}

hg_status hg_backend_cache_put(hg_backend *b, const uint8_t *key, size_t length,
                               const uint8_t *bytes, size_t size) {
    HG_ENTRY;
    hg_blob_cache *cache;
    uint8_t hashed[HG_BLOB_KEY_BYTES];
    if (!bytes) return hg_null_argument("bytes");
    HG_TRY(open_cache(b, key, length, &cache, hashed));
    hg_blob_cache_put(cache, hashed, bytes, size);
    hg_blob_cache_close(cache);
    return HG_OK;
}
