/* The instruction table as data: opcodes, operand descriptors, and look-ups. Generated from isa.def
 * by the preprocessor.
 * Must not know: text syntax, binary syntax, kernel IR. */
#ifndef HG_ISA_ISA_H
#define HG_ISA_ISA_H

#include <hologram/reflect.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    HG_MAX_OPERANDS = 32
}; /* most operands of any row; the bits of optional ones are a u32 of the binary */

/* One value a row, dense from 0 (hg_op); the opcode of the binary is hg_op_info.opcode. */
typedef enum hg_op {
#define HG_OP(opcode, id, text, sig, types, flags, numbers, doc) HG_OP_##id,
#include "isa.def"
#undef HG_OP
    HG_OP_COUNT,
    HG_OP_NONE = HG_OP_COUNT
} hg_op;

typedef enum hg_condition {
#define HG_CONDITION(id, text, numbers) HG_COND_##id,
#include "opname.def"
#undef HG_CONDITION
    HG_COND_COUNT
} hg_condition;

typedef enum hg_scope {
#define HG_SCOPE(id, text) HG_SCOPE_##id,
#include "opname.def"
#undef HG_SCOPE
    HG_SCOPE_COUNT
} hg_scope;

typedef enum hg_opname {
#define HG_OPNAME(id, text, group, op) HG_OPNAME_##id,
#include "opname.def"
#undef HG_OPNAME
    HG_OPNAME_COUNT
} hg_opname;

typedef enum hg_idname {
#define HG_IDNAME(id, text, type, part, axis, scope) HG_ID_##id,
#include "opname.def"
#undef HG_IDNAME
    HG_ID_COUNT
} hg_idname;

/* What an id is of a launch; those of three axes stand under one name. */
typedef enum hg_id_part {
    HG_PART_LANE_IDX,
    HG_PART_BLOCK_IDX,
    HG_PART_BLOCK_DIM,
    HG_PART_GRID_DIM,
    HG_PART_GLOBAL_LANE_ID,
    HG_PART_LANE_COUNT
} hg_id_part;

/* r252 … r255: a launch gives each the value of an id, and text has a word for it. */
enum { HG_FIRST_SPECIAL = 252, HG_SPECIAL_COUNT = 4 };
typedef struct hg_special {
    const char *text;
    uint8_t reg, id; /* hg_idname, which has its type */
} hg_special;
extern const hg_special hg_specials[HG_SPECIAL_COUNT]; /* in order of registers */

/* What can stand in an operand's place; the numbers are those of hg_op_operand_kind. */
typedef enum hg_operand_kind {
    HG_K_TYPE, /* a type suffix; never in the operand list of text, first in the binary */
#define HG_OPERAND_KIND(id, text, about) HG_K_##id,
#include <hologram/reflect.def>
#undef HG_OPERAND_KIND
} hg_operand_kind;

/* Which type a register, a literal or an array's elements have; of an operation's name, which names
 * may stand there. The numbers are those of hg_op_operand_type. */
typedef enum hg_type_rule {
#define HG_OPERAND_TYPE(id, text, about) HG_R_##id,
#include <hologram/reflect.def>
#undef HG_OPERAND_TYPE
} hg_type_rule;

/* Whether an operand may be left out: bra's predicate, and named operands. */
typedef enum hg_optional {
    HG_REQUIRED,
    HG_OR_VALUE, /* it has a value then, the same as if that were written */
    HG_OR_NONE   /* it is missing then, which is something else than any value: 0 is the number 0 */
} hg_optional;

enum { HG_ALL_AXES = 255 }; /* of the check of an axis: the index counts in row order */
enum { HG_READ = 1, HG_WRITE = 2, HG_NAMED = 4 /* written name=value */ };

typedef struct hg_operand_info {
    uint8_t kind;     /* hg_operand_kind */
    uint8_t access;   /* HG_READ, HG_WRITE, both (loop counter), 0 */
    uint8_t rule;     /* hg_type_rule */
    uint8_t optional; /* hg_optional */
    const char *name; /* as the reference prints it; the key of named operands */
    /* Of a named operand that is left out: HG_OR_VALUE: the value, as text writes it, which
     * instructions in memory have, so that only text, binary and builder know that it was left out.
     * HG_OR_NONE: what is done then, in words. */
    const char *otherwise;
    uint8_t items; /* HG_K_TUPLE: how many it has, HG_K_TUPLES: how many each of its tuples has; 0:
                      any number */
} hg_operand_info;

typedef enum hg_type_set {
    HG_T_NONE,
    HG_T_ALL,
    HG_T_INTEGER,
    HG_T_UNSIGNED,
    HG_T_FLOAT,
    HG_T_ATOMIC,
    HG_T_CHARACTER /* i128 f64 */,
    HG_T_REAL /* f32 f64 */,
    HG_T_HALF /* f16 bf16 */,
    HG_T_BYTE /* i8 u8 */,
    HG_T_WORD /* i32 u32 */,
    HG_T_INDEX /* integers of up to 64 bits */,
    HG_T_ORDERED /* all of up to 64 bits */,
    /* Of two suffixes. */
    HG_T_CONVERTED /* any from any */,
    HG_T_TWICE /* integers of twice the width of the second */,
    HG_T_WIDER /* integers from narrower ones, f32 from f16 and bf16 */,
    HG_T_NARROWER /* the other way round */,
    HG_T_PATTERN /* integers from floats of their width, and the other way round */
} hg_type_set;

/* The numbers are those of hg_op_flag. */
enum {
#define HG_OP_FLAG(id, bit, text, about) HG_F_##id = bit,
#include <hologram/reflect.def>
#undef HG_OP_FLAG
};

typedef struct hg_op_info {
    uint32_t flags; /* HG_F_* */
    uint16_t opcode;
    uint8_t types;         /* hg_type_set */
    uint8_t type_count;    /* suffixes: 0, 1, or 2 */
    uint8_t numbers;       /* hg_numbers */
    uint8_t operand_count; /* without types */
    const char *id;        /* "ADD" */
    const char *text;      /* "add" */
    const char *doc;
    const hg_operand_info *operands;
} hg_op_info;

/* The row of an instruction. op < HG_OP_COUNT. */
const hg_op_info *hg_op_get(hg_op op);
/* HG_OP_NONE when no row has that opcode. */
hg_op hg_op_from_opcode(uint16_t opcode);
/* By a name of the specification in any way of writing: BarSync, BAR_SYNC, bar.sync
 * (assemble_foreign.c). HG_OP_NONE: there is none. */
hg_op hg_op_from_specification(const char *text, size_t length);
/* The next row with the same mnemonic (without condition, scope and types), in hg_op order;
 * HG_OP_NONE when there is none. */
hg_op hg_op_next_form(hg_op op);
bool hg_op_allows_type(hg_op op, hg_type type);
const char *hg_op_types_text(hg_op op); /* "integers": the types that it has, for hints */
/* Both types of a row with two. */
bool hg_op_allows_types(hg_op op, hg_type type, hg_type type2);
const char *hg_op_second_text(hg_op op); /* which second type goes with a first one, for hints */
/* The access of a load that widens or a store that narrows: LDG of ldg.u32.u8; else the row itself.
 */
hg_op hg_op_access(hg_op op);
/* The instruction that a reduction folds with: ADD for reduce.add of registers or of an array.
 * HG_OP_NONE: no reduction, or one that names its operation. */
hg_op hg_op_folds_with(hg_op op);
/* Of the instructions on the lanes of a block: whether each lane gets another result, and the bytes
 * of shared memory that they take for each lane of the block (0: no such instruction). */
bool hg_op_is_scan(hg_op op);
uint32_t hg_op_block_bytes(hg_op op, hg_type type);

/* All lanes of the launch find something out together: each has a predicate of its own. */
static inline bool hg_op_asks_all(uint16_t op) {
    return op == HG_OP_GRID_ANY || op == HG_OP_GRID_ALL;
}

/* Counts a register down and jumps: loop, and loop.u64. */
static inline bool hg_op_is_loop(uint16_t op) { return op == HG_OP_LOOP || op == HG_OP_LOOP64; }
static inline hg_type hg_loop_type(uint16_t op) {
    return op == HG_OP_LOOP ? HG_TYPE_U32 : HG_TYPE_U64;
}

/* Operands that text shows as part of the mnemonic: condition, scope, the predicate of bra. */
static inline bool hg_operand_in_mnemonic(const hg_operand_info *o) {
    return o->kind == HG_K_COND || o->kind == HG_K_SCOPE || (o->kind == HG_K_PRED && o->optional);
}
/* Written name=value. */
static inline bool hg_operand_is_named(const hg_operand_info *o) {
    return (o->access & HG_NAMED) != 0;
}
/* Named, and may be left out. */
static inline bool hg_operand_can_be_left_out(const hg_operand_info *o) {
    return o->optional && hg_operand_is_named(o);
}

/* What an instruction of a type calculates in (HG_R_WIDE). A type that is not known yet stays so.
 */
static inline hg_type hg_wide_type(uint8_t type) {
    return type == HG_TYPE_F16 || type == HG_TYPE_BF16 ? HG_TYPE_F32 : (hg_type)type;
}
/* The type of the elements of an address or array; HG_TYPE_COUNT: other operands tell it. */
static inline hg_type hg_element_type(uint8_t type, uint8_t type2, const hg_operand_info *info) {
    switch ((hg_type_rule)info->rule) {
    case HG_R_T: return (hg_type)type;
    case HG_R_T2: return (hg_type)type2;
    case HG_R_U32: return HG_TYPE_U32;
    case HG_R_U8: return HG_TYPE_U8;
    case HG_R_I8: return HG_TYPE_I8;
    case HG_R_F32: return HG_TYPE_F32;
    case HG_R_WIDE: return hg_wide_type(type);
    default: return HG_TYPE_COUNT;
    }
}

const char *hg_condition_name(hg_condition c);
hg_condition hg_condition_plain(hg_condition c);    /* lt of ltu: the same of unsigned types */
hg_condition hg_condition_opposite(hg_condition c); /* holds where the other does not, NaNs aside */
bool hg_condition_is_unsigned(hg_condition c);      /* compares bit patterns as unsigned numbers:
                                                       integers only */
const char *hg_scope_name(hg_scope s);
const char *hg_opname_name(hg_opname o);
const char *hg_idname_name(hg_idname i);
hg_type hg_idname_type(hg_idname i);
hg_id_part hg_idname_part(hg_idname i);
uint32_t hg_idname_axis(hg_idname i);  /* 0 x, 1 y, 2 z; 0 for those without axes */
hg_scope hg_idname_scope(hg_idname i); /* the widest scope whose lanes all have the same one;
                                          DEVICE: the whole launch */
bool hg_condition_from_text(const char *text, size_t length, hg_condition *c);
bool hg_scope_from_text(const char *text, size_t length, hg_scope *s);
bool hg_opname_from_text(const char *text, size_t length, hg_opname *o);
bool hg_idname_from_text(const char *text, size_t length, hg_idname *i);
/* Which operation a map or reduce name stands for; groups of opname.def. */
bool hg_opname_is_map(hg_opname o);
bool hg_opname_is_binary(hg_opname o);
bool hg_opname_is_reduce(hg_opname o);
bool hg_opname_fits(hg_opname o, hg_type_rule rule); /* HG_R_MAP, HG_R_BINARY, HG_R_REDUCE */
hg_op hg_opname_op(hg_opname o);                     /* HG_OP_NONE for relu */
/* The types of the instruction that a name stands for; relu has all. */
bool hg_opname_allows_type(hg_opname o, hg_type type);

#endif
