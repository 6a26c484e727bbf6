/* Which registers and predicates hold a value that is still needed, before or after each
 * instruction.
 * Requires: a verified program. Must not know: kernel IR. */
#ifndef HG_ISA_LIVE_H
#define HG_ISA_LIVE_H

#include "isa/cfg.h"

/* live[i]: registers that are live in front of instruction i, those of callers included; code that
 * functions share counts where it is most. */
hg_status hg_live_registers(const hg_cfg *cfg, uint16_t *live) HG_NODISCARD;

enum { HG_LIVE_PREDICATES = 256 };
/* Bit r: register r; bit HG_LIVE_PREDICATES + p: predicate p. */
typedef struct hg_live_set {
    uint64_t bits[5];
} hg_live_set;
static inline bool hg_live_has(const hg_live_set *s, uint32_t bit) {
    return (s->bits[bit / 64] >> (bit % 64) & 1) != 0;
}

/* Whether what an instruction reads is needed, with what is live after it. False takes its reads
 * out: what only such an instruction needs is needed by nobody. The answer may only turn from no to
 * yes as `after` grows. */
typedef bool hg_live_needs(void *user, uint32_t inst, const hg_live_set *after);
/* What is live after each instruction, in any of the functions that have it. reached[i], a byte an
 * instruction: a function has it. needs NULL: all are needed. */
hg_status hg_live_after(const hg_cfg *cfg, hg_live_needs *needs, void *user, hg_live_set *after,
                        uint8_t *reached) HG_NODISCARD;

#endif
