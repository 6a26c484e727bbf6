/* A bounded cache of programs by their hash. Backends have one of their own for what they compiled;
 * this one is for programs that a caller makes again and again and wants to share. */
#ifndef HOLOGRAM_PROGRAM_CACHE_H
#define HOLOGRAM_PROGRAM_CACHE_H

#include <hologram/program.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Programs, each once for its hash (hg_program_hash). All functions but destroy are thread-safe.
 */
typedef struct hg_program_cache hg_program_cache;

/**
 * An empty cache.
 * @param capacity  most programs that it holds; 0: it holds none
 * @return HG_OK, HG_ERROR_INVALID_ARGUMENT (cache is NULL), HG_ERROR_OUT_OF_MEMORY
 */
HG_API hg_status hg_program_cache_create(size_t capacity, hg_program_cache **cache) HG_NODISCARD;
/** Releases the programs in it. NULL is allowed. */
HG_API void hg_program_cache_destroy(hg_program_cache *cache);
/**
 * The program in the cache with the hash of this one, which counts as a use of it; NULL: none, or
 * an argument is NULL. The caller releases it. Names of labels, metadata and debug data do not
 * count for the hash: they may be others than this program's.
 */
HG_API hg_program *hg_program_cache_get(hg_program_cache *cache, const hg_program *program);
/** The same by the 32 bytes of a hash. */
HG_API hg_program *hg_program_cache_find(hg_program_cache *cache, const uint8_t *hash);
/**
 * Puts a program in, in place of one with its hash; where the cache is full the program that was
 * used longest ago goes. The cache is one more owner of it.
 * @return HG_OK, HG_ERROR_INVALID_ARGUMENT (NULL), HG_ERROR_OUT_OF_MEMORY (the cache is as before)
 */
HG_API hg_status hg_program_cache_insert(hg_program_cache *cache, hg_program *program) HG_NODISCARD;
/** Programs in it, and the most there can be; 0 for NULL. */
HG_API size_t hg_program_cache_len(hg_program_cache *cache);
HG_API size_t hg_program_cache_capacity(const hg_program_cache *cache);

#ifdef __cplusplus
}
#endif
#endif
