/* What the passes from kernel IR to tile code share: one record a value, variable and function, in
 * their scratch pointers. analyse.c: forms and divergence · registers.c: who lives where ·
 * compile.c: code. */
#ifndef HG_TILE_COMPILE_INTERNAL_H
#define HG_TILE_COMPILE_INTERNAL_H

#include "tile/tile_internal.h"
#include "kir/walk.h"

/* ONE and AFFINE values have a cell, EACH is a register of as many elements as a tile has lanes. */
typedef struct value_layout {
    kir_lanes lanes;
    bool widened;    /* a scalar or affine value that somebody needs as a vector too */
    bool direct;     /* LOAD whose result may stay in the user's memory */
    bool alias;      /* VAR_GET that reads the variable's register directly */
    uint32_t cell;   /* register of a scalar or affine value */
    uint32_t vector; /* register of a vector, or of the widened form; a colour before registers are
                        final */
    uint32_t joined[4]; /* split memory operations: registers of the whole handle, index, operands
                         */
    kir_value *counted; /* memory operation: what its index counts, in steps of `scale` bytes; NULL:
                           its argument counts bytes */
    uint16_t scale;
    uint8_t counted_arg;          /* in place of which argument */
    uint32_t position, last, end; /* of the definition, the last use, a LOOP's end */
    kir_value *next_dying;
    struct {
        uint32_t mask[2], breaks, continues; /* IF: then, else · LOOP: body; masks of lanes that
                                                broke out, continue */
        const kir_region *owner[2];          /* the region that owns mask[i] */
        uint32_t pending[2]; /* jumps to the end of the region, linked through target */
        uint32_t pending_breaks, pending_continues, start;
    } flow; /* of an IF or a LOOP */
} value_layout;

typedef struct var_layout {
    bool scalar, used;
    uint32_t reg;
} var_layout;

typedef struct function_layout {
    kir_function_lanes lanes;
    bool divergent_calls; /* it may be called where only some lanes are */
    uint32_t param_reg[16], result_reg;
    uint32_t base[4], count[4]; /* colours by element size 1 2 4 8: before it (callers), its own
                                   most */
    uint64_t array_base, array_bytes; /* bytes a lane */
    uint32_t mask_base, mask_count;
    uint32_t body_mask, return_mask, pending;
    uint32_t call_state;
} function_layout;

typedef struct tile_layout {
    kir_module *module;
    tile_kernel *kernel;
    hg_arena arena;          /* of this compilation */
    kir_function_list order; /* callers before callees */
    HG_VEC(tile_register) registers;
    HG_VEC(tile_insn) code;
    uint8_t **tables; /* the kernel's copies, by id */
    uint32_t table_count;
    bool *loaded; /* by slot of the module: code so far loads from it */
    bool out_of_memory;
    const char *unsupported;
} tile_layout;

static inline value_layout *layout_of(const kir_value *v) { return v->scratch; }
static inline var_layout *layout_of_var(const kir_var *v) { return v->scratch; }
static inline function_layout *layout_of_function(const kir_function *f) { return f->scratch; }

/* Argument i as the operation reads it. */
static inline kir_value *tile_arg(const kir_value *v, uint8_t i) {
    const value_layout *p = layout_of(v);
    return p->counted && i == p->counted_arg ? p->counted : v->args[i];
}
/* Nobody reads it. */
static inline bool tile_is_dead(const kir_value *v) {
    return v->uses == 0 && !kir_has_side_effect(v);
}

bool tile_is_pure(const kir_value *v); /* computed by a handler */
/* An affine value compared with a scalar: the first or the last lanes are true. */
bool tile_is_border(const kir_value *v);

/* The handler of a vector operation, given which arguments could be scalars. swap: arguments 0 and
 * 1 change places; variant: the arguments (after the swap) that are passed as scalars. run NULL: a
 * copy of argument 0. */
typedef struct tile_choice {
    tile_fn *run;
    uint8_t variant;
    bool swap, found;
} tile_choice;
tile_choice tile_choose(const tile_handlers *handlers, const kir_value *v, uint8_t scalars);

/* What runs in place of a function on arrays of limbs; NULL: its own code. */
static inline tile_wide_fn *tile_wide_handler(const tile_kernel *k, const kir_function *f) {
    kir_op op = k->options.poor ? KIR_OP_COUNT : kir_limbs_op(f);
    return op < KIR_OP_COUNT ? k->handlers->wide[op] : NULL;
}
/* Whether a CALL runs the function's own code. */
static inline bool tile_enters(const tile_kernel *k, const kir_value *v) {
    return v->op == KIR_CALL && !tile_wide_handler(k, v->u.call.function);
}

hg_status tile_lay_out_forms(tile_layout *layout);
hg_status tile_lay_out_registers(tile_layout *layout);
hg_status tile_lay_out_code(tile_layout *layout);

#endif
