/* Shared by build*.c and structure*.c: the translation of one program.
 * Must not know: text syntax, devices. */
#ifndef HG_KIR_BUILD_INTERNAL_H
#define HG_KIR_BUILD_INTERNAL_H

#include "isa/cfg.h"
#include "kir/kir.h"

typedef struct build {
    const hg_cfg *cfg;
    const hg_program *program;
    const hg_function *source;   /* the function at work */
    uint32_t source_number;
    uint64_t max_steps;
    kir_module *module;
    kir_builder b;
    kir_function **functions;    /* by number of the cfg */
    kir_var *vars[HG_MAX_REGISTERS][KIR_TYPE_COUNT]; /* made when first used */
    kir_var *preds[HG_MAX_PREDICATES];
    /* What a variable is known to hold in the block at work: valid where held_at is the block's number. Half of all gets end here. */
    kir_value *held[HG_MAX_REGISTERS][KIR_TYPE_COUNT], *held_pred[HG_MAX_PREDICATES];
    uint64_t held_at[HG_MAX_REGISTERS][KIR_TYPE_COUNT], held_pred_at[HG_MAX_PREDICATES], block_number;
    kir_var *steps;              /* counts steps, with max_steps */
    uint8_t *wide;               /* operand of the program -> its u32-or-u64 register holds u64 (in the function at work) */
} build;

/* ---- build.c ---- */
kir_var *build_var(build *x, uint8_t reg, uint8_t type);
kir_value *build_get(build *x, uint8_t reg, uint8_t type);
void build_set(build *x, uint8_t reg, kir_value *value);
kir_value *build_pred(build *x, uint8_t pred);
void build_set_pred(build *x, uint8_t pred, kir_value *value);
/* The index of a register of either width, as u64. operand: index in program->operands. */
kir_value *build_wide(build *x, uint8_t reg, uint32_t operand);

/* ---- build_inst.c: one instruction that is no control transfer ---- */
void build_instruction(build *x, uint32_t inst);

/* ---- build_memory.c ---- */
void build_memory(build *x, uint32_t inst);
void build_step(build *x, uint32_t inst);

/* ---- build_types.c: which of u32 and u64 each index register holds ---- */
/* Fills wide for the function at work. */
hg_status build_widths(build *x);

/* build_webs.c: a variable of its own for every independent use of a register. */
hg_status build_webs(kir_module *m, kir_function *f) HG_NODISCARD;

/* ---- structure.c, structure_emit.c ----
 * Requires: blocks of the function at work. Provides: its body in structured form. */
hg_status build_structure(build *x);

/* build_inline.c: a cfg without calls of functions that hold steps, NULL when the given one has none. */
hg_status build_inline_steps(const hg_cfg *cfg, hg_cfg **inlined) HG_NODISCARD;
void build_inline_free(hg_cfg *inlined);

#endif
