/* A program in memory: what the assembler, the binary reader and the builder make, and all later
 * rooms read.
 * Must not know: text or binary syntax, kernel IR, devices. */
#ifndef HG_ISA_PROGRAM_H
#define HG_ISA_PROGRAM_H

#include "base/base.h"
#include "isa/isa.h"
#include <hologram/program.h>

/* Places of an address, by binary code. */
typedef enum hg_place_kind {
    HG_PLACE_BUF,  /* handle in value */
    HG_PLACE_POOL, /* handle in value */
    HG_PLACE_SHARED,
    HG_PLACE_CLASS,    /* class in value */
    HG_PLACE_PHI,      /* class, page, byte in phi */
    HG_PLACE_FLAT,     /* flat address in reg */
    HG_PLACE_BUF_REG,  /* buffer handle in reg */
    HG_PLACE_POOL_REG, /* pool handle in reg */
    HG_PLACE_BARE,     /* arrays only: buffer handle in reg, offset 0 */
    HG_PLACE_PRIVATE = 10
} hg_place_kind;
enum {
    HG_PLACE_NONE = HG_PLACE_BARE + 1
}; /* of no address: an operand of any kind that is missing (HG_OR_NONE) */

/* One operand. kind is the kind found (for HG_K_ARRAY: HG_K_ADDRESS, or kind HG_K_ARRAY with place
 * HG_PLACE_BARE or HG_PLACE_NONE). place is HG_PLACE_NONE for what is missing. */
typedef struct hg_operand {
    uint8_t kind; /* hg_operand_kind */
    uint8_t reg;  /* register, predicate (255: none), register of a place, or register of a count */
    uint8_t place;     /* hg_place_kind */
    uint8_t has_index; /* address */
    uint8_t index;     /* index register */
    uint8_t is_reg;    /* HG_K_COUNT: reg instead of value */
    union {
        uint8_t phi[2]; /* page, byte; the class is in value */
        uint16_t scale; /* has_index: the index counts that many bytes; 0: one */
    };
    uint64_t value; /* number, handle, class, label's instruction index, condition, scope, opname,
                       idname, bool, i8 sign-extended; literal: offset of its little-endian bytes in
                       program->literals; tuple: its first item in program->items */
    union {
        int64_t disp;        /* address */
        uint64_t item_count; /* tuple */
    };
} hg_operand;

/* One item of a tuple: a number, a register, or (in a tuple of tuples) a tuple. */
typedef struct hg_tuple_item {
    uint8_t is_reg, reg;
    uint8_t is_tuple;
    uint32_t item_count; /* is_tuple */
    uint64_t value;      /* number; is_tuple: its first item in program->items */
} hg_tuple_item;

enum { HG_TYPE_OMITTED = 0xFF };

typedef struct hg_inst {
    uint16_t op;       /* hg_op */
    uint8_t type;      /* hg_type, HG_TYPE_OMITTED until inferred, 0xFE where the row has none */
    uint8_t type2;     /* source type of cvt, 0xFE elsewhere */
    uint32_t operands; /* first in program->operands; their number and order are those of the row */
} hg_inst;
enum { HG_TYPE_NOT_USED = 0xFE };

typedef enum hg_extent_kind {
    HG_EXTENT_NUMBER,
    HG_EXTENT_PARAM,
    HG_EXTENT_EXPRESSION
} hg_extent_kind;
typedef struct hg_extent {
    uint8_t kind;      /* hg_extent_kind */
    uint16_t param;    /* HG_EXTENT_PARAM: index in params */
    uint16_t op_count; /* HG_EXTENT_EXPRESSION */
    uint64_t value; /* the number; HG_EXTENT_EXPRESSION: its first operation in program->extent_ops
                     */
} hg_extent;

/* Operations of an extent in the order of a stack machine, by binary code. The values are exact
 * numbers from 0 to 2^64 - 1. */
typedef enum hg_extent_op_kind {
    HG_EXTENT_OP_NUMBER,
    HG_EXTENT_OP_PARAM,
    HG_EXTENT_OP_ADD,
    HG_EXTENT_OP_SUB,
    HG_EXTENT_OP_MUL,
    HG_EXTENT_OP_DIV,      /* rounded down */
    HG_EXTENT_OP_CEIL_DIV, /* rounded up */
    HG_EXTENT_OP_MIN,
    HG_EXTENT_OP_MAX,
    HG_EXTENT_OP_COUNT
} hg_extent_op_kind;
typedef struct hg_extent_op {
    uint8_t kind;
    uint16_t param;
    uint64_t value;
} hg_extent_op;

typedef enum hg_param_dir {
    HG_DIR_NONE,
    HG_DIR_IN = HG_PARAM_IN,
    HG_DIR_OUT = HG_PARAM_OUT,
    HG_DIR_INOUT = HG_PARAM_INOUT
} hg_param_dir;

typedef struct hg_param {
    uint8_t reg, kind, type, dir; /* dir: of buffers */
    uint8_t has_default;
    uint8_t rank; /* 255: no dims; a scratch has some, a data numbers */
    hg_extent dims[8];
    uint64_t pool_bytes;
    uint64_t data_bytes; /* HG_PARAM_DATA: the product of its extents and the size of its type */
    const uint8_t *data;
    uint8_t *default_bytes; /* size(type) bytes */
    const char *name;
} hg_param;

typedef struct hg_label_name {
    uint32_t index;
    const char *name;
} hg_label_name;
/* What the text calls a register while the instructions first up to end run. */
typedef struct hg_register_name {
    uint32_t first, end;
    uint8_t predicate; /* 1: a predicate */
    uint8_t number;
    const char *name;
} hg_register_name;
typedef struct hg_span {
    uint32_t line, column, length;
    uint32_t expansion; /* what it was read in: hg_origins; 0: the source itself */
} hg_span;              /* a place in the source text; line 0: unknown */

/* Text that did not stand where it was read: a file that is included, a use of a macro, a loop of
 * the text and each of its rounds, a function. Number 0 is the source itself. */
typedef enum hg_expansion_kind {
    HG_EXPANSION_FILE,
    HG_EXPANSION_MACRO,
    HG_EXPANSION_LOOP,
    HG_EXPANSION_ROUND,
    HG_EXPANSION_FUNCTION
} hg_expansion_kind;
typedef struct hg_text_expansion {
    uint8_t kind;
    uint32_t around;       /* the expansion in which it is used */
    uint32_t line, column; /* where */
    uint32_t file;         /* that its own text is of */
    uint32_t scope;        /* whose names it has */
    uint32_t parameters;   /* the use of a macro whose arguments it sees; 0: none */
    uint32_t name_length;
    const char *name; /* macro, .rept, .for or function */
    uint64_t round;   /* from 1 */
} hg_text_expansion;
typedef struct hg_text_file {
    const char *name, *text; /* text NULL: not kept */
    size_t length;
} hg_text_file;
typedef struct hg_origins {
    hg_text_expansion *expansions;
    uint32_t count;
    hg_text_file *files; /* 0: the source itself */
} hg_origins;
/* Where a place of an expansion is, for messages (origin.c); words are added to, and kept until the
 * origin is of no more use. */
void hg_find_origin(const hg_origins *o, uint32_t expansion, uint32_t line, uint32_t column,
                    hg_text *words, hg_origin *origin);
/* Mistakes that have been reported, by their place in the text: a body that is read again has them
 * again. */
typedef struct hg_said {
    uint64_t *slots; /* hashes; 0: empty */
    uint64_t count, capacity;
} hg_said;
/* Whether a mistake at that place of the text that the expansion has is a new one. Without memory
 * it is. */
bool hg_said_new(hg_said *said, const hg_text_expansion *expansion, uint32_t line, uint32_t column,
                 hg_severity severity);
void hg_said_free(hg_said *said);
typedef struct hg_meta {
    const char *key;
    const char *value;
    uint32_t value_length;
} hg_meta;

/* Instructions that decide for a statement of the text, which begins with that word. */
typedef struct hg_inst_word {
    uint32_t first, end;
    const char *word;
} hg_inst_word;

/* Instructions from first up to end. */
typedef struct hg_inst_range {
    uint32_t first, end;
} hg_inst_range;

struct hg_program {
    hg_arena arena;      /* owns everything below */
    uint32_t references; /* atomic */
    uint64_t serial;     /* another one for each program of this process; set with the hash */
    uint32_t flags;      /* bit 0: relaxed */
    const char *name;
    uint32_t entry; /* instruction index */
    uint32_t inst_count;
    hg_inst *insts;
    uint32_t operand_count;
    hg_operand *operands;
    uint64_t literal_bytes;
    uint8_t *literals;
    uint64_t item_count;
    hg_tuple_item *items; /* of tuples: those of one tuple one after the other */
    uint32_t param_count;
    hg_param *params;
    uint32_t extent_op_count, extent_op_capacity;
    hg_extent_op *extent_ops; /* of extents: those of one extent one after the other */
    uint64_t shared;
    uint64_t private_bytes; /* of a lane */
    uint32_t block[3];      /* 0: none */
    uint32_t grid_count;    /* extents in .grid; 0: no .grid */
    hg_extent grid[3];
    uint32_t lanes_count; /* extents in .lanes, multiplied; 0: no .lanes */
    hg_extent lanes[8];
    uint32_t label_count; /* stored names, sorted by index, then bytes */
    hg_label_name *labels;
    uint32_t register_name_count; /* sorted by first, end, predicate, number, name */
    hg_register_name *register_names;
    uint32_t meta_count; /* sorted by key */
    hg_meta *meta;
    const char *source_name;   /* debug section; NULL: none */
    uint32_t *lines, *columns; /* an instruction each, or NULL */
    uint32_t *lengths; /* bytes of the text of the expression that begins there, 0: not known; NULL:
                          a text without statements */
    /* Where things stand in the source text; never stored, known only of what was assembled from
     * text. */
    hg_span *operand_spans; /* of each operand; or NULL */
    hg_span shared_span, block_span;
    hg_inst_range *skipped; /* what loops of 0 rounds jump over */
    uint32_t skipped_count;
    hg_inst_word *words; /* in order: 'if', 'while', 'for', with the quotes */
    uint32_t word_count;
    hg_span *places;    /* of each instruction, in the text where it stands; NULL: as lines and
                           columns, which are of the source itself */
    hg_origins origins; /* count 0: nothing was expanded */
    uint32_t *sources;  /* of each instruction, its number in the program that src/optimize was
                           given; NULL: its own. Never stored */
    uint8_t hash[32];   /* program hash of language.md 7, always set */
    struct hg_program_texts *texts; /* made when somebody asks for them; NULL: nobody did. Atomic */
};

/* What descriptions of the program point to beside its own strings (describe.c). */
typedef struct hg_program_texts {
    hg_arena arena;         /* owns everything below */
    const char *(*dims)[8]; /* of each parameter */
    const char **defaults;  /* of each parameter */
    const char *lanes[8], *grid[3];
    bool *called; /* of each label */
} hg_program_texts;

/* What a caller can set: everything but scratch and data. */
static inline bool hg_param_is_settable(const hg_param *p) {
    return p->kind != HG_PARAM_SCRATCH && p->kind != HG_PARAM_DATA;
}

/* The operands of an instruction. */
static inline const hg_operand *hg_inst_operands(const hg_program *p, uint32_t inst) {
    return &p->operands[p->insts[inst].operands];
}
/* Type of a literal operand: the instruction's, or that of its place. */
static inline hg_type hg_literal_type(const hg_inst *in, const hg_operand_info *info) {
    switch ((hg_type_rule)info->rule) {
    case HG_R_I8: return HG_TYPE_I8;
    case HG_R_F32: return HG_TYPE_F32;
    case HG_R_F64: return HG_TYPE_F64;
    case HG_R_WIDE: return hg_wide_type(in->type);
    default: return (hg_type)in->type;
    }
}
/* The bits of an f16 or bf16 as those of the same f32 (operand.c). */
uint32_t hg_widen_half(hg_type type, uint16_t bits);
/* Little-endian bytes of a literal operand. */
static inline const uint8_t *hg_literal(const hg_program *p, const hg_operand *o) {
    return &p->literals[o->value];
}
/* The o->item_count items of a tuple, and those of a tuple in a tuple. */
static inline const hg_tuple_item *hg_tuple(const hg_program *p, const hg_operand *o) {
    return &p->items[o->value];
}
static inline const hg_tuple_item *hg_tuple_inside(const hg_program *p, const hg_tuple_item *item) {
    return &p->items[item->value];
}
/* The numbers and registers that an item is: those of its tuple, or itself. */
static inline const hg_tuple_item *hg_tuple_counts(const hg_program *p, const hg_tuple_item *item,
                                                   uint32_t *count) {
    *count = item->is_tuple ? item->item_count : 1;
    return item->is_tuple ? hg_tuple_inside(p, item) : item;
}
/* An operand that is left out and has no value then (HG_OR_NONE). */
static inline bool hg_operand_is_missing(const hg_operand *o) { return o->place == HG_PLACE_NONE; }

/* A tuple without numbers, where one may be left out: it stands for that. */
static inline bool hg_operand_is_empty(const hg_operand_info *info, const hg_operand *o) {
    return info->optional == HG_OR_NONE &&
           (info->kind == HG_K_TUPLE || info->kind == HG_K_TUPLES) && o->item_count == 0;
}

/* What the text calls a register at an instruction; NULL: nothing. */
const char *hg_program_register_name(const hg_program *p, uint32_t inst, bool predicate,
                                     uint8_t number);
/* The order of a program's hg_register_name records, for qsort; 0: they say the same. */
int hg_compare_register_names(const void *p, const void *q);
/* The bytes that one step of an address's index is. */
static inline uint64_t hg_operand_scale(const hg_operand *o) {
    return o->has_index && o->scale ? o->scale : 1;
}

/* ---- extents (extent.c) ---- */

/* A value that a scalar parameter has: known, or not yet. */
typedef bool hg_extent_lookup(void *user, uint16_t param, uint64_t *value);
typedef enum hg_extent_status {
    HG_EXTENT_KNOWN,
    HG_EXTENT_UNKNOWN,
    HG_EXTENT_TOO_LARGE,
    HG_EXTENT_BELOW_ZERO,
    HG_EXTENT_BY_ZERO,
    HG_EXTENT_NO_VALUE
} hg_extent_status;
/* The value of an extent, with the values that lookup gives for its parameters. UNKNOWN: of *param
 * (may be NULL) there is none. */
hg_extent_status hg_extent_value(const hg_program *p, const hg_extent *e, hg_extent_lookup *lookup,
                                 void *user, uint64_t *value, uint16_t *param);
/* The only parameter without a value, when the extent is to be `value`: through sums, differences
 * and products, which are exact. UNKNOWN: it stands in another form, or there are two; NO_VALUE: no
 * value gives this. */
hg_extent_status hg_extent_solve(const hg_program *p, const hg_extent *e, uint64_t value,
                                 hg_extent_lookup *lookup, void *user, uint16_t *param,
                                 uint64_t *solved);
/* "is below 0": what is wrong with an extent. */
const char *hg_extent_problem(hg_extent_status status);
/* Whether a parameter occurs in it. */
bool hg_extent_names(const hg_program *p, const hg_extent *e, uint16_t param);
/* An expression as a tree: node i is its operation i. False: the operations are no expression. */
typedef struct hg_extent_tree {
    const hg_extent_op *ops;
    uint8_t root, left[HG_MAX_EXTENT_OPS], right[HG_MAX_EXTENT_OPS];
} hg_extent_tree;
bool hg_extent_tree_make(const hg_program *p, const hg_extent *e, hg_extent_tree *tree);
static inline bool hg_extent_is_leaf(const hg_extent_op *op) {
    return op->kind <= HG_EXTENT_OP_PARAM;
}
/* a op b. */
hg_extent_status hg_extent_apply(hg_extent_op_kind kind, uint64_t a, uint64_t b, uint64_t *value);
/* False: out of memory. */
bool hg_program_add_extent_op(hg_program *p, hg_extent_op op);
/* Whether the left side of a division reads as a division too: ceil(a / b / c) would leave open
 * what is rounded. */
bool hg_extent_is_quotient(const hg_extent_tree *tree, uint8_t node);
/* Whether a .lanes of these would be text that means several extents: numbers and parameters with
 * `*` between. */
bool hg_extent_is_product(const hg_extent_tree *tree);
/* The extent that a text is (assemble_extent.c), of a program that has all its parameters.
 * lanes_count, which may be NULL: the text is that of a .lanes, and `e` has room for so many. */
hg_status hg_extent_from_text(hg_program *p, const char *text, hg_extent *e,
                              uint32_t *lanes_count) HG_NODISCARD;
/* Canonical text (print.c). */
void hg_print_extent(hg_text *out, const hg_program *p, const hg_extent *e);

/* What an operand is where it is left out (operand.c), missing or with the table's value. A
 * literal's bytes go to `literal`, a tuple's items to `items`; its value is to be set to where they
 * are kept. type: of literals (hg_literal_type). */
enum { HG_MAX_LITERAL_BYTES = 512 };
typedef struct hg_default {
    hg_operand operand;
    uint8_t literal[HG_MAX_LITERAL_BYTES];
    hg_tuple_item items[HG_MAX_TUPLE_ITEMS];
} hg_default;
void hg_default_operand(const hg_operand_info *info, hg_type type, hg_default *out);
/* Text and binary leave such an operand out. */
bool hg_operand_is_left_out(const hg_program *p, const hg_inst *in, const hg_operand_info *info,
                            const hg_operand *o);

/* Names of language.md 2 (verify_structure.c): an ident that is no register, predicate or type; the
 * same of letters, digits and
 * `_` only; `.L` and digits, which text may use and no program stores. */
bool hg_is_identifier(const char *text, size_t length);
bool hg_is_parameter_name(const char *text, size_t length);
bool hg_is_local_label(const char *text, size_t length);
/* What a register may be called in messages: printable characters of ASCII, at most 255. */
bool hg_is_shown_name(const char *text, size_t length);
/* .if, .rept, .for or .macro, which an .end closes (assemble_source.c). */
bool hg_opens_block(const char *text, size_t length);

/* The first stored label at an instruction or behind it; label_count: there is none. */
uint32_t hg_program_first_label(const hg_program *p, uint64_t inst);
/* The name of a label at the instruction; NULL: it has none. */
const char *hg_program_label_at(const hg_program *p, uint64_t inst);
/* Computes program->hash (codec.c). */
/* A serial that no program has. */
uint64_t hg_program_next_serial(void);
hg_status hg_program_rehash(hg_program *program);
/* Canonical text of one instruction without indent or newline (print.c). */
void hg_print_instruction(hg_text *out, const hg_program *program, uint32_t inst);
/* The same for messages: registers that the text names are shown as "i (r12)". */
void hg_print_named_instruction(hg_text *out, const hg_program *program, uint32_t inst);
/* Literal of a type as canonical text (literal.c): value bytes little-endian, size(type) of them.
 */
void hg_print_literal(hg_text *out, hg_type type, const uint8_t *bytes);
/* The same value as run prints it: decimal for integers of every width. */
void hg_print_value(hg_text *out, hg_type type, const uint8_t *bytes);
/* Reads a literal of section 2.2 (literal.c) into size(type) bytes. On failure returns the
 * diagnostic code ("S03", "S04") and *message (static or in scratch) and *hint, else NULL. */
const char *hg_parse_literal(const char *text, size_t length, hg_type type, uint8_t *bytes,
                             char message[160], const char **hint);
/* Fills in omitted types by inference and reports V05 where that is not possible (verify_infer.c;
 * called by the assembler and the builder). */
hg_status hg_infer_types(hg_program *program, hg_diagnostics *d);
/* What holds of every program, types aside (verify_structure.c). */
hg_status hg_program_check_structure(const hg_program *program, hg_diagnostics *d) HG_NODISCARD;
/* What a builder holds beside instructions: name, parameters, launch defaults, notes (builder.c).
 */
struct hg_builder;
hg_status hg_builder_make_head(const struct hg_builder *b, hg_diagnostics *d, hg_program *p);
/* The first mistake, which is the caller's to report then. False: there is none. */
bool hg_builder_take_mistake(struct hg_builder *b, char code[4], char message[256]);

#endif
