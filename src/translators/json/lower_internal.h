/* From nodes to instructions: what lower.c, operate.c and code.c share.
 * Registers are counted: a register is free when nobody holds it. Holders are values not yet used,
 * variables and constants. Equal operations are written as often as they stand in the document:
 * kernel IR finds them, and what a loop does not change.
 * Must not know: the document. */
#ifndef HG_TRANSLATORS_JSON_LOWER_INTERNAL_H
#define HG_TRANSLATORS_JSON_LOWER_INTERNAL_H

#include "translators/json/kernel.h"

/* JK_SHIFT: the first shift amount, as every translator has it (semantics 1.3). */
enum { JK_MAX_CONSTANTS = 64, JK_SHIFT = 250, JK_FIRST_IDENTITY = 252 };

typedef enum jk_value_kind {
    JK_V_NONE,
    JK_V_REG,     /* in a register */
    JK_V_CONST,   /* bits, in no register yet */
    JK_V_COMPARE, /* a truth: two registers still to be compared */
} jk_value_kind;
typedef struct jk_value {
    uint8_t kind, type;     /* hg_type; of a compare, that of its registers */
    uint8_t reg, other;     /* other: right side of a compare */
    bool owned, owns_other; /* holds its registers, to be released */
    uint8_t condition;
    bool negated;  /* a compare of floats: the opposite is meant (NaN) */
    uint32_t name; /* the variable whose register it is, JK_NONE */
    uint64_t bits;
} jk_value;

typedef struct jk_inst {
    uint8_t op, type, type2, cond; /* hg_op; cond: hg_condition, or hg_opname of a whole-array
                                      instruction */
    uint8_t d, a, b, c;            /* of memory: a handle, b index register, c what is stored */
    uint8_t memory;                /* jk_memory */
    bool has_index, predicated, counted;
    uint8_t scale; /* bytes that an index counts, 0: one */
    uint32_t label, token;
    uint64_t bits; /* literal, displacement, count */
} jk_inst;

typedef struct jk_label {
    uint32_t inst;
    bool placed, used;
} jk_label;

typedef struct jk_constant {
    uint64_t bits;
    uint8_t type, reg;
} jk_constant;

typedef struct jk_loop {
    uint32_t top, done; /* done of a for loop: its test, at the end */
    jk_value stop, step;
    jk_value left; /* rounds to go, where they are counted */
    jk_value own;  /* what the variable is set to in each round, where it is kept */
} jk_loop;

typedef struct jk_code {
    jk_kernel *kernel;
    HG_VEC(jk_inst) insts;
    HG_VEC(jk_label) labels;
    HG_VEC(jk_loop) loops;
    jk_value *values; /* one a node */
    uint16_t users[256];
    bool taken[256]; /* an instruction writes the register, or did */
    jk_constant constants[JK_MAX_CONSTANTS];
    uint32_t constant_count;
    uint32_t token; /* of the node being lowered */
    bool reachable; /* what comes next */
    bool fresh;     /* nothing has been placed behind the last instruction: it may be changed */
    bool exhausted; /* registers ran out: said */
} jk_code;

/* ---- code.c ---- */
uint8_t jk_take_register(jk_code *c); /* held once */
void jk_release(jk_code *c, uint8_t reg);
/* The register of a constant: made once at the start of the program. *owned: it stands in a
 * temporary, held by the caller. */
uint8_t jk_constant_register(jk_code *c, hg_type type, uint64_t bits, bool shift, bool *owned);
jk_inst *jk_emit(jk_code *c, hg_op op, hg_type type, uint8_t d, uint8_t a, uint8_t b); /* never NULL
                                                                                        */
uint32_t jk_new_label(jk_code *c);
void jk_place_label(jk_code *c, uint32_t label);
void jk_place_top(jk_code *c, uint32_t label); /* of a loop: it will be jumped to from behind */
void jk_jump(jk_code *c, uint32_t label);
void jk_jump_if(jk_code *c, uint32_t label); /* p0 */

/* ---- program.c ---- */
hg_status jk_assemble(jk_code *c, hg_program **program);

/* ---- operate.c ---- */
void jk_drop_value(jk_code *c, jk_value *v);
/* The value in a register; a constant and a compare get one. */
uint8_t jk_in_register(jk_code *c, jk_value *v);
/* Writes the value into a register that somebody else holds. Uses it up. */
void jk_move_into(jk_code *c, uint8_t reg, jk_value *v);
/* p0 = the truth; returns false where it is the opposite. Uses it up. */
bool jk_in_predicate(jk_code *c, jk_value *v);
void jk_branch(jk_code *c, jk_value *v, bool when, uint32_t label); /* jumps when the truth is
                                                                       `when`; uses it up */
jk_value jk_convert(jk_code *c, jk_value v, jk_type from, jk_type to);
void jk_operate(jk_code *c, uint32_t node); /* an expression node that is no mark and no jump */

#endif
