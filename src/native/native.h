/* Kernels as native code, of one device: from the object cache, else by a compiler (compilers.h)
 * from their vector form.
 * Must not know: when that is worth it, how a compiler works. */
#ifndef HG_NATIVE_NATIVE_H
#define HG_NATIVE_NATIVE_H

#include "base/blobcache.h"
#include "base/patience.h"
#include "tile/tile.h"
#include "vector/vector.h"

/* Another text for other sources of what makes native code (cmake/kernel_sources.cmake): part of
 * the cache's keys. */
extern const char *native_sources;

typedef struct native_device {
    tile_level level;
    hg_blob_cache *cache;
} native_device;
hg_status native_open(native_device *device, tile_level level, const char *cache_dir,
                      uint64_t cache_bytes) HG_NODISCARD;
void native_close(native_device *device);

/* Whether native code can be run here, as far as that is known without opening anything. */
bool native_possible(void);
bool native_likely(void); /* and the compiler is there, as far as that can be told without opening
                             it */
/* It is, and kernels are compiled before their first launch where nobody says when. */
bool native_is_at_once(void);
/* What kernels may have that are given to native_compile. */
void native_caps(kir_caps *caps);
/* Whether kernels may have DOT4_S and DOT4_U. */
bool native_has_dot4(tile_level level);
/* Gives the interpreter's kernel the code that the library carries for it, if there is some.
 * compiler: there is one. */
void native_attach(tile_level level, const kir_module *module, bool compiler, tile_kernel *kernel);
/* Gives the interpreter's kernel native code, and takes the module over. From any thread.
 * HG_ERROR_WOULD_BLOCK: it is not in the cache, and there is no patience (NULL) to compile it.
 * HG_ERROR_ISA: this kernel has no such code; others: why it has none today. */
hg_status native_compile(const native_device *device, kir_module *module, tile_kernel *kernel,
                         const hg_patience *patience) HG_NODISCARD;
/* The vector form that native code of a level is made of, and how wide its turns are: what
 * `hologram explain` tells. */
hg_status native_form(tile_level level, const kir_module *module, vec_kernel **kernel,
                      vec_turn_size *turns) HG_NODISCARD;
/* What compiles, or why nothing does; opens it. */
bool native_by(char text[256]);

#endif
