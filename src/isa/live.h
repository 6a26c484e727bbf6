/* How many registers hold a value that is still needed, in front of each instruction.
 * Requires: a verified program. Must not know: kernel IR. */
#ifndef HG_ISA_LIVE_H
#define HG_ISA_LIVE_H

#include "isa/cfg.h"

/* live[i]: registers that are live in front of instruction i, those of callers included; code that functions share counts where it is most. */
hg_status hg_live_registers(const hg_cfg *cfg, uint16_t *live) HG_NODISCARD;

#endif
