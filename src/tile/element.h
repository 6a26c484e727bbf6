/* One operation on whole arrays: a handler where there is one, else a small kernel compiled for it.
 * Shared by map.c and reduce.c. */
#ifndef HG_TILE_ELEMENT_H
#define HG_TILE_ELEMENT_H

#include "tile/tile_internal.h"

typedef struct tile_element {
    tile_fn *run;        /* NULL: kernel */
    bool cached;         /* the cache owns the kernel */
    tile_kernel *kernel; /* slots: inputs, then the output */
    uint8_t nin;
    uint64_t size; /* bytes of an element */
} tile_element;

/* fn: hg_op or KIR_FN_*. HG_ERROR_ISA when the operation does not exist for the type. */
hg_status tile_element_open(const tile_options *options, uint16_t fn, hg_type type,
                            tile_element *e) HG_NODISCARD;
/* The kernel even where there is a handler: for unaligned arrays. */
hg_status tile_element_compile(const tile_options *options, uint16_t fn, hg_type type,
                               tile_element *e) HG_NODISCARD;
void tile_element_close(tile_element *e);
/* out[i] = fn(in[0][i], …) on the calling thread (kernels: max_threads 0 uses all). Within fp_enter
 * for handlers. limit: of kernels; NULL: none. */
hg_status tile_element_run(const tile_element *e, uint64_t n, uint8_t *out,
                           const uint8_t *const *in, uint32_t max_threads, hg_limit *limit,
                           tile_fault *fault) HG_NODISCARD;

/* map.c: whether a map of so many elements is one call of its handler on the calling thread. */
bool tile_map_is_one_call(const tile_options *options, uint64_t n, uint64_t size);

/* cache.c */
tile_kernel *tile_cache_find(tile_cache *cache, uint16_t fn, hg_type type); /* NULL: not yet */
/* The cache owns the kernel from now on, or an equal one instead, which *kernel becomes. False: out
 * of memory, nothing changed. */
bool tile_cache_keep(tile_cache *cache, uint16_t fn, hg_type type, tile_kernel **kernel);

#endif
