/* What the compiler `precompiled` finds: kernels of the operator table and of whole-array
 * instructions that the library carries as native code, for those that have no compiler yet and for
 * first launches.
 * Must not know: how the code was made. */
#ifndef HG_NATIVE_PRECOMPILED_H
#define HG_NATIVE_PRECOMPILED_H

#include "tile/tile.h"

struct hgv_launch;
typedef struct native_carried {
    uint8_t program[32]; /* its hash: the program is this one kernel; unchecked: of the library,
                            lowered for collectives */
    uint32_t inputs, slots;
    bool blocks, unchecked;
    bool instead; /* of a compiler: what that makes is faster */
    void (*run)(struct hgv_launch *launch, uint64_t begin, uint64_t end);
} native_carried;
typedef struct native_carried_list {
    uint32_t lanes /* of a turn */, count;
    const native_carried *rows;
} native_carried_list;
extern const native_carried_list native_carried_v3, native_carried_v3_narrow, native_carried_v4,
    native_carried_v4_narrow, native_carried_v4_thin; /* generated */

#endif
