/* The table of what makes native code of kernels, and how code gets into memory: a compiler is a
 * file and a line of compilers.def.
 * Must not know: devices, caches, when native code is worth it. */
#ifndef HG_NATIVE_COMPILERS_H
#define HG_NATIVE_COMPILERS_H

#include "base/patience.h"
#include "jit/jit.h"
#include "native/compilers.def"
#include "tile/tile.h"
#include "vector/vector.h"

/* How kernels are cut at a level of the CPU. */
typedef struct native_level {
    hg_jit_options options;
    uint32_t lanes, registers; /* of a turn, unless the kernel asks for others; vectors that the
                                  machine keeps at a time */
    bool fixed;                /* turns are as long as that for every kernel */
} native_level;

/* What makes code of the bytes that a compiler wrote. */
typedef struct native_loader {
    /* Code that can be called, with the function `entry`. NULL with the reason. The bytes may come
     * from a disk. */
    void *(*load)(const uint8_t *bytes, uint64_t size, const char *entry, char reason[256]);
    void *(*entry)(const void *code);
    void (*unload)(void *code); /* NULL is fine */
    /* In place of load and entry: code that comes later. It is for a kernel that was told to expect
     * it (tile_kernel_expect), whose end calls `unload`. */
    void *(*begin)(const uint8_t *bytes, uint64_t size, tile_kernel *kernel, char reason[256]);
} native_loader;

typedef struct native_compiler {
    const char *name;
    bool at_once; /* kernels are compiled before their first launch where nobody says when */

    /* Code that is there when a kernel is created, in place of all below but `name`. compiler:
     * there is one beside it, which may be waited for. code->run NULL: none for this kernel. */
    void (*find)(tile_level level, const kir_module *module, bool compiler, tile_native *code);

    void (*level)(tile_level level, native_level *how);
    void (*caps)(kir_caps *caps); /* what kernels may have; NULL: what the vector form has */
    /* False: it was looked for and cannot be used. Opens nothing. */
    bool (*possible)(void);
    /* It is open, or was not tried yet and is there. Opens nothing. */
    bool (*there)(void);
    /* Opened when first asked for, and never closed: its name and version. NULL with the reason,
     * and what to install. */
    const char *(*open)(char reason[256]);
    /* A text that is another one for another compiler, if possible without opening it; false: none.
     * NULL: what it makes is not kept. */
    bool (*identity)(hg_text *out);
    /* Around each use; NULL: nothing to do. False: not in this process, which was forked while a
     * thread was inside, or which ends. */
    bool (*enter)(void);
    void (*leave)(void);
    /* As hg_jit_table.compile says; what it writes is released by `release`. */
    hg_status (*compile)(vec_kernel *kernel, const hg_jit_options *options,
                         const hg_patience *patience, hg_jit_object *object, char reason[256]);
    void (*release)(uint8_t *bytes);
    const native_loader *loader;
} native_compiler;

#define NATIVE_COMPILER(id) extern const native_compiler native_##id;
#include "native/compilers.def"
#undef NATIVE_COMPILER

/* All that this machine has, in the order of compilers.def; the last is NULL. */
extern const native_compiler *const native_compilers[];

/* A compiler in place of those of the table, for all devices: tests put one here. Change it only
 * while no device is open. */
extern const native_compiler *native_compiler_in_use;

/* Which one compiles: the first that can be used; if none can, one whose `open` says why; NULL:
 * there is none for this machine. */
const native_compiler *native_choose(void);

#endif
