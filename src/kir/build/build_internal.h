/* Shared by the files of this room: the translation of one program.
 * Must not know: text syntax, devices. */
#ifndef HG_KIR_BUILD_INTERNAL_H
#define HG_KIR_BUILD_INTERNAL_H

#include "atlas/state.h"
#include <hologram/atlas.h>
#include "isa/cfg.h"
#include "kir/kir.h"
#include "kir/builder.h"

/* axis.c: a register holds an index of elements of an array, in row order, that is inside of the
 * axes that were checked: all of them, or the first ones. */
typedef struct axis_chain {
    uint64_t block; /* in which that is known; 0: nowhere */
    uint8_t place, reg, axes;
    bool all;
    int64_t disp;
    uint64_t elements; /* of shared and private memory: of these axes; 0: not known */
} axis_chain;

typedef struct build {
    const hg_cfg *cfg;
    const hg_program *program;
    const hg_function *source; /* the function at work */
    uint32_t source_number;
    uint64_t max_steps;
    kir_module *module;
    kir_builder b;
    kir_function **functions; /* by number of the cfg */
    struct {
        kir_var *vars[HG_MAX_REGISTERS][KIR_TYPE_COUNT]; /* made when first used */
        kir_var *preds[HG_MAX_PREDICATES];
        /* What a variable is known to hold in the block that is being written: valid where held_at
         * is the block's number. Half of all gets end here. */
        kir_value *held[HG_MAX_REGISTERS][KIR_TYPE_COUNT], *held_pred[HG_MAX_PREDICATES];
        uint64_t held_at[HG_MAX_REGISTERS][KIR_TYPE_COUNT], held_pred_at[HG_MAX_PREDICATES],
            block_number;
    } regs;
    struct {
        bool trace, unchecked, short_arrays;
    } how; /* kir_build_options */
    struct {
        bool looked, any; /* the program checks axes */
        bool written[HG_MAX_REGISTERS];
        axis_chain chains[HG_MAX_REGISTERS];
    } axes;                       /* axis.c */
    kir_var *steps;               /* counts steps, with max_steps */
    kir_var *own;                 /* private memory; made when first used, for a debugger at once */
    struct private_array *arrays; /* of private memory that have names, by their offsets; read with
                                     `own` (private.c) */
    uint32_t array_count;
    bool crowded; /* a whole-array step has more numbers than an operation may have arguments */
    /* Operand of the program -> hg_type of its register, where several are allowed; of the function
     * that is being written. */
    uint8_t *types;
    uint8_t *item_types; /* of registers in tuples, one an item of the program */
    struct {
        kir_var *phase;              /* of phase.get and phase.adv; made when first used */
        kir_var *own_phase;          /* u32[96]: what the lane wrote + 1; 0: nothing */
        bool sums;                   /* some unity.test asks for the sum of all accumulators */
        uint8_t rows;                /* own accumulators that a lane needs; 0: nobody asks */
        uint8_t row[HG_CLASS_COUNT]; /* class -> row */
        kir_var *own, *own_flags; /* u32[rows * HG_RESONANCE_WORDS], u32[rows]; the last row is the
                                     sum where there is one */
    } atlas;
} build;

/* ---- registers.c ---- */
kir_var *build_var(build *x, uint8_t reg, uint8_t type);
kir_value *build_get(build *x, uint8_t reg, uint8_t type);
void build_set(build *x, uint8_t reg, kir_value *value);
kir_value *build_pred(build *x, uint8_t pred);
void build_set_pred(build *x, uint8_t pred, kir_value *value);
/* A TRACE of what comes next. */
void build_trace_point(build *x, uint32_t inst);
/* One of what a register holds now, of a type of the kernel IR. */
void build_trace_register(build *x, uint8_t reg, uint8_t type, kir_value *value);
/* The index of a register of either width, as u64. operand: index in program->operands. */
kir_value *build_wide(build *x, uint8_t reg, uint32_t operand);

/* ---- inst.c: one instruction that is no control transfer ---- */
void build_instruction(build *x, uint32_t inst);

/* ---- block.c: instructions on the lanes of a block ---- */
void build_block(build *x, uint32_t inst);

/* ---- axis.c ---- */
void build_axis(build *x, uint32_t inst);
/* Whether an access is inside its array because a chain of checks of all axes, in the same block,
 * made its index. */
bool build_is_inside(build *x, const hg_operand *address, hg_type element);

/* ---- memory.c ---- */
void build_memory(build *x, uint32_t inst);
void build_step(build *x, uint32_t inst);
void build_grid(build *x, uint32_t inst); /* grid.any, grid.all */

/* ---- private.c: ldp and stp ---- */
/* Of loads that widen and stores that narrow: what a loaded element becomes, and a register's value
 * as the element that it is stored as. Of others the value as it is. */
kir_value *build_loaded(build *x, const hg_inst *in, kir_value *v);
kir_value *build_stored(build *x, const hg_inst *in, uint8_t reg);
void build_private(build *x, uint32_t inst);
kir_var *build_private_memory(build *x); /* NULL: out of memory */

/* ---- atlas.c, atlas_state.c: instructions of block 1C0 ---- */
hg_status build_atlas_begin(build *x) HG_NODISCARD; /* what the program keeps in its lanes */
void build_atlas(build *x, uint32_t inst);
void build_atlas_state(build *x, uint32_t inst); /* resonance, phases, characters */

/* ---- atlas_common.c ---- */
/* A number or register R/N in its own type (u8 … u64; a number: u32, or u64 above). operand: index
 * in the row. */
kir_value *build_number(build *x, uint32_t inst, uint32_t operand);
kir_value *build_resize(kir_builder *b, uint8_t type, kir_value *v); /* integers: cut or
                                                                        zero-extended */
/* The lane faults where bad; a {} of the message a value (of any integer type up to u64). */
void build_fault(build *x, kir_value *bad, kir_fault code, uint32_t operand, const char *message,
                 uint8_t count, kir_value *const *values);
/* Bool, or NULL where no value of the type reaches the limit. */
kir_value *build_is_below(build *x, kir_value *v, uint64_t limit);
/* Faults unless v < limit; gives v as u32, 0 where the lane has stopped. */
kir_value *build_below(build *x, kir_value *v, uint32_t limit, uint32_t operand,
                       const char *message);
/* A function of the module by name; *fresh: its body is to be written with *b. */
kir_function *build_helper(build *x, const char *name, uint8_t result, uint8_t params,
                           const uint8_t *types, kir_builder *b, bool *fresh);

/* ---- types.c: which of several types a register holds ---- */
/* Fills types for the function at work. */
hg_status build_widths(build *x);

/* live_ranges.c: a variable of its own for every independent use of a register. */
hg_status build_webs(kir_module *m) HG_NODISCARD;

/* ---- structure.c, structure_emit.c ----
 * Requires: blocks of the function that is being written. Provides: its body in structured form. */
hg_status build_structure(build *x);

/* inline.c: a cfg without calls of functions that hold steps, NULL when the given one has none. */
hg_status build_inline_steps(const hg_cfg *cfg, hg_cfg **inlined) HG_NODISCARD;
void build_inline_free(hg_cfg *inlined);

#endif
