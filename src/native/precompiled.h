/* Kernels of the operator table and of whole-array instructions that the library carries as native code, for those that have no compiler yet and for first launches.
 * Must not know: how the code was made. */
#ifndef HG_NATIVE_PRECOMPILED_H
#define HG_NATIVE_PRECOMPILED_H

#include "tile/tile.h"

struct hgv_launch;
typedef struct cpu_precompiled {
    uint8_t program[32]; /* its hash: the program is this one kernel; unchecked: of the library, lowered for collectives */
    uint32_t inputs, slots;
    bool blocks, unchecked;
    bool instead; /* of a compiler: what that makes is faster */
    void (*run)(struct hgv_launch *launch, uint64_t begin, uint64_t end);
} cpu_precompiled;
typedef struct cpu_precompiled_list {
    uint32_t lanes /* of a turn */, count;
    const cpu_precompiled *rows;
} cpu_precompiled_list;
extern const cpu_precompiled_list cpu_precompiled_v3, cpu_precompiled_v3_narrow, cpu_precompiled_v4, cpu_precompiled_v4_narrow,
    cpu_precompiled_v4_thin; /* generated */

/* Gives the interpreter's kernel its native code, where the library has it. compiler: there is one. */
void cpu_precompiled_attach(tile_level level, const kir_module *module, bool compiler, tile_kernel *kernel);

#endif
