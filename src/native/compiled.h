/* Kernels as native code, of one device: from the object cache, else by a compiler from their vector form.
 * Must not know: when that is worth it, how a compiler works. */
#ifndef HG_NATIVE_COMPILED_H
#define HG_NATIVE_COMPILED_H

#include "base/blobcache.h"
#include "jit/jit.h"
#include "tile/tile.h"
#include "vector/vector.h"

/* A compiler in place of libhologram_jit.so, for all devices: tests put one here. Change it only while no device is open. */
typedef struct cpu_compiler {
    hg_jit_table table;
    uint32_t bytes, lanes; /* of a native vector, of a turn; 0: as for the device's level */
    bool keeps;            /* its objects go to the cache, under the name and version in table.compiler */
    bool at_once;          /* auto is on */
} cpu_compiler;
extern const cpu_compiler *cpu_compiler_in_use;

/* Another text for other sources of what makes native code (cmake/kernel_sources.cmake): part of the cache's keys. */
extern const char *cpu_compiled_sources;

typedef struct cpu_compiled {
    tile_level level;
    hg_blob_cache *cache;
} cpu_compiled;
hg_status cpu_compiled_open(cpu_compiled *compiled, tile_level level, const char *cache_dir, uint64_t cache_bytes) HG_NODISCARD;
void cpu_compiled_close(cpu_compiled *compiled);

/* Whether native code can be run here, as far as that is known without opening anything. */
bool cpu_compiled_possible(void);
bool cpu_compiled_likely(void); /* and the compiler is there, as far as that can be told without opening it */
/* Whether kernels may have DOT4_S and DOT4_U: the CPU has AVX-512 VNNI, and the compiler is LLVM. */
bool cpu_compiled_has_dot4(tile_level level);
/* Gives the interpreter's kernel native code, and takes the module over. From any thread. HG_ERROR_WOULD_BLOCK: it is not in the cache, and there is no
 * patience (NULL) to compile it.
 * HG_ERROR_ISA: this kernel has no such code; others: why it has none today. */
hg_status cpu_compile(const cpu_compiled *compiled, kir_module *module, tile_kernel *kernel, const hg_patience *patience) HG_NODISCARD;
/* The vector form that native code of a level is made of, and how wide its turns are: what `hologram explain` tells. */
hg_status cpu_form(tile_level level, const kir_module *module, vec_kernel **kernel, vec_turn_size *turns) HG_NODISCARD;
/* What compiles, or why nothing does; opens it. */
bool cpu_compiled_by(char text[256]);

#endif
