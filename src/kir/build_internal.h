/* Shared by build*.c and structure*.c: the translation of one program.
 * Must not know: text syntax, devices. */
#ifndef HG_KIR_BUILD_INTERNAL_H
#define HG_KIR_BUILD_INTERNAL_H

#include "isa/cfg.h"
#include "kir/kir.h"

/* About one block. A register that holds u32 where the callee reads u64 as an index: widened before the call. Or an operand that is
 * of another width here than in another copy of the same code. next: in notes, + 1; 0: none. */
typedef struct build_note { uint32_t next, operand; uint8_t reg; bool is_call, wide; } build_note;

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
    kir_var *steps;              /* counts steps, with max_steps */
    uint32_t *wide;              /* operand of the program -> function number · 2 + 2, + 1 where its u32-or-u64 register holds u64 */
    uint8_t (*entry)[256];       /* function -> type that an index register has at its start */
    bool any_open_entry;         /* some function takes an index register of either width */
    HG_VEC(build_note) notes;
    uint32_t *notes_at;          /* block of the function at work -> first of notes, + 1 */
    uint32_t block;              /* at work */
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
/* Types that callers give to index registers of functions; fills entry. */
hg_status build_entries(build *x);
/* Fills wide and notes for the function at work. */
hg_status build_widths(build *x);

/* ---- structure.c, structure_emit.c ----
 * Requires: blocks of the function at work. Provides: its body in structured form. */
hg_status build_structure(build *x);

/* build_inline.c: a cfg without calls of functions that hold steps, NULL when the given one has none. */
hg_status build_inline_steps(const hg_cfg *cfg, hg_cfg **inlined) HG_NODISCARD;
void build_inline_free(hg_cfg *inlined);

#endif
