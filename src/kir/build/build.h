/* Kernel IR of a verified program. */
#ifndef HG_KIR_BUILD_H
#define HG_KIR_BUILD_H

#include "kir/kir.h"

struct hg_cfg;
typedef struct kir_build_options {
    uint64_t max_steps; /* 0: none */
    bool trace; /* a TRACE in front of every instruction, and one behind every change of a register:
                   for a debugger */
    bool unchecked; /* whoever runs it has proven that accesses to buffers and shared memory are in
                       bounds */
    bool short_arrays; /* nobody has checked that arrays hold their extents: an access inside of its
                          axes is checked by bytes too */
} kir_build_options;
/* Requires: hg_verify succeeded. Provides: structured module, functions[0] the program, one function an Atlas function. */
hg_status kir_build(const struct hg_cfg *cfg, const kir_build_options *options,
                    kir_module **module) HG_NODISCARD;

#endif
