/* Kernels as native code: made from their vector form by a compiler that somebody puts in place.
 * Must not know: how a compiler works. */
#ifndef HG_BACKENDS_CPU_COMPILED_H
#define HG_BACKENDS_CPU_COMPILED_H

#include "tile/tile.h"
#include "vector/vector.h"

typedef struct cpu_compiler {
    uint32_t lanes; /* of a turn */
    /* Fills *native. From any thread. */
    hg_status (*compile)(void *user, vec_kernel *kernel, tile_native *native);
    void *user;
} cpu_compiler;

/* NULL: devices that are opened have no compiled tier. The library itself has no compiler yet; tests put one here. Change it only while no
 * device is open. */
extern const cpu_compiler *cpu_compiler_in_use;

/* Gives the interpreter's kernel native code where the module has a vector form; else it stays as it is. */
hg_status cpu_compile(const kir_module *module, tile_kernel *kernel) HG_NODISCARD;

#endif
