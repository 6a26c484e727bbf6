/* Shared by the files that read and write text: tokens, the assembler's state, numbers.
 * Must not know: the binary container, control flow. */
#ifndef HG_ISA_TEXT_INTERNAL_H
#define HG_ISA_TEXT_INTERNAL_H

#include "base/decimal.h"
#include "base/nearest.h"
#include "isa/program.h"

#include <string.h>

/* ---- characters ---- */

static inline bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
static inline bool is_name_start(char c) {
    return is_letter(c) || c == '_' || c == '.' || c == '$';
}
static inline bool is_name_byte(char c) { return is_name_start(c) || is_digit(c); }

/* ---- tokens (lexer.c) ---- */

/* Punctuation stands for itself: ',', ':', '[', … */
enum {
    HG_TOKEN_END_OF_FILE = 256,
    HG_TOKEN_END_OF_LINE,
    HG_TOKEN_NAME,
    HG_TOKEN_NUMBER,
    HG_TOKEN_STRING,
    HG_TOKEN_BAD,
    HG_TOKEN_SHIFT_LEFT, /* << */
    HG_TOKEN_SHIFT_RIGHT,
    HG_TOKEN_LESS_EQUAL,
    HG_TOKEN_GREATER_EQUAL,
    HG_TOKEN_EQUAL, /* == */
    HG_TOKEN_NOT_EQUAL,
    HG_TOKEN_AND, /* && */
    HG_TOKEN_OR,
    HG_TOKEN_RANGE /* .. between blanks, in a statement only */
};

typedef struct hg_token {
    int kind;
    uint32_t line, column, length; /* bytes */
    uint32_t marked;    /* bytes to underline where the text is not what stands there; 0: length */
    uint32_t expansion; /* what it was read in: 0 the source itself */
    bool glued;         /* stands directly behind the token before it */
    const char *text;
} hg_token;
static inline uint32_t hg_token_width(const hg_token *token) {
    return token->marked ? token->marked : token->length;
}

/* Reads tokens line by line; a line that ends in a comma goes on, one of a statement
 * (language.md 2.7) also behind an operator and inside open brackets. Nothing is copied or
 * allocated. */
typedef struct hg_lexer {
    const char *text;
    size_t length, at;
    size_t line_start;      /* of the physical line */
    size_t statement_start; /* of the line with its continuations */
    uint32_t line, statement_line;
    int last;       /* kind of the last token, 0 at the start of a statement */
    bool statement; /* the line is one of language.md 2.7 */
    uint32_t open;  /* its brackets that are open */
    size_t last_end;
    const char *code, *message, *hint; /* of the last HG_TOKEN_BAD */
} hg_lexer;

void hg_lexer_init(hg_lexer *lexer, const char *text, size_t length);
hg_token hg_lexer_next(hg_lexer *lexer);
/* 'add', end of line, … for messages; buffer is returned. */
const char *hg_token_describe(const hg_token *token, char buffer[80]);
static inline bool hg_token_is(const hg_token *token, const char *word) {
    return token->kind == HG_TOKEN_NAME && strlen(word) == token->length &&
           memcmp(token->text, word, token->length) == 0;
}
/* buf42, pool3, class21: a word that goes on with a digit. */
static inline bool hg_token_is_numbered(const hg_token *token, const char *word) {
    size_t length = strlen(word);
    return token->kind == HG_TOKEN_NAME && token->length > length &&
           memcmp(token->text, word, length) == 0 && is_digit(token->text[length]);
}
/* Its bytes that messages show, for %.*s. */
enum { HG_MOST_SHOWN_BYTES = 40 };
static inline int hg_token_shown(const hg_token *token) {
    return token->length > HG_MOST_SHOWN_BYTES ? HG_MOST_SHOWN_BYTES : (int)token->length;
}
/* r or p and digits, nothing else. */
bool hg_looks_like_register(const char *text, size_t length, char letter);

/* ---- constants (assemble_expression.c) ---- */

typedef enum hg_constant_kind {
    HG_CONSTANT_LITERAL, /* one literal, taken as it is written: of any width and precision */
    HG_CONSTANT_INTEGER,
    HG_CONSTANT_REAL
} hg_constant_kind;
typedef struct hg_constant {
    uint8_t kind;
    bool is_quotient; /* of two integers: over / under, for ceil */
    hg_i128 integer, over, under;
    double real;
    hg_token token; /* where it stands; of a literal its text too */
} hg_constant;

/* ---- names (assemble_name.c) ---- */

typedef enum hg_name_kind {
    HG_NAME_CONSTANT,
    HG_NAME_TYPE,
    HG_NAME_MACRO,
    HG_NAME_REGISTER,
    HG_NAME_PREDICATE,
    HG_NAME_PARAM,
    HG_NAME_MEMORY, /* an array in shared or private memory */
    HG_NAME_FUNCTION,
    HG_NAME_BROKEN, /* its declaration could not be read: what uses it is no mistake */
    HG_NAME_LABEL   /* in a table of their own */
} hg_name_kind;
#define HG_UNDEFINED UINT32_MAX
/* What a name of the user's stands for. A name belongs to the scope of the place where it is
 * declared. */
typedef struct hg_name {
    hg_token token; /* of its declaration, or first mention */
    uint32_t scope;
    uint8_t kind;   /* hg_name_kind */
    bool reported;  /* a label that is not there */
    uint64_t index; /* constant: in hg_assembler.constants; type: hg_type; label: instruction, or
                       HG_UNDEFINED; others: their owner's */
} hg_name;
/* Names in order of entry, and a hash table of them by name and scope. */
typedef struct hg_names {
    HG_VEC(hg_name);
    uint32_t *slots; /* number + 1 */
    uint64_t slot_count;
} hg_names;

/* NAME=VALUE from outside, instead of the .const of that name. */
typedef struct hg_define {
    const char *name, *value;
    size_t name_length;
    bool used, is_type;
    hg_type type;
    hg_constant constant;
} hg_define;

/* ---- expansions (assemble_source.c, assemble_macro.c) ---- */

/* A piece of a text, as places to begin and end reading. */
typedef struct hg_piece {
    const char *text;
    size_t at, end, line_start;
    uint32_t line;
    uint32_t expansion; /* in which it is read */
} hg_piece;

typedef struct hg_macro {
    hg_token name;
    uint32_t scope; /* in which it is declared */
    hg_piece body;
    uint64_t first; /* parameter */
    uint32_t count;
} hg_macro;

typedef enum hg_frame_kind {
    HG_FRAME_FILE,
    HG_FRAME_MACRO,
    HG_FRAME_ROUNDS,
    HG_FRAME_FUNCTION,
    HG_FRAME_ARGUMENT
} hg_frame_kind;
/* What is being read; the last one is read now. */
typedef struct hg_frame {
    uint8_t kind;   /* hg_frame_kind */
    hg_lexer lexer; /* while others above it are read */
    uint32_t expansion, parameters;
    uint32_t blocks;    /* .if whose .end is still to come: how many were open before it */
    uint32_t braces;    /* of statements, likewise */
    uint64_t arguments; /* how many there were before it */
    hg_piece body;      /* of rounds */
    uint32_t loop;      /* the expansion that has their variable */
    uint64_t round, rounds;
    uint64_t constant; /* of the variable; HG_NO_VARIABLE: there is none */
    hg_i128 step;
    bool looked; /* of a file: all its functions are known */
} hg_frame;
#define HG_NO_VARIABLE UINT64_MAX

/* An .if that is being read: a branch of it was taken. */
typedef struct hg_block {
    hg_token token;
    bool last; /* its .else */
} hg_block;

/* ---- the assembler (assemble*.c) ---- */

/* Jumps to a place that is still to come: each names the one before it until they are bound. */
typedef struct hg_jumps {
    uint64_t last; /* operand of the target + 1; 0: there is none */
} hg_jumps;

typedef enum hg_brace_kind {
    HG_BRACE_IF,
    HG_BRACE_ELSE,
    HG_BRACE_WHILE,
    HG_BRACE_FOR,
    HG_BRACE_LOOP,
    HG_BRACE_BAD /* its line has a mistake: only its end is looked for */
} hg_brace_kind;

/* ---- registers by name (assemble_register.c, assemble_allocate.c) ---- */

/* A register or predicate of an operand: one that the text gives by number, or a virtual one, whose
 * number is found when everything is read. */
typedef struct hg_register {
    uint32_t virtual_number; /* HG_UNDEFINED: `number` it is */
    uint8_t number;
    uint8_t type; /* HG_TYPE_OMITTED: not known here */
} hg_register;
#define HG_NO_REGISTER ((hg_register){HG_UNDEFINED, 0, HG_TYPE_OMITTED})
/* Of a branch that is always taken. */
#define HG_NO_PREDICATE ((hg_register){HG_UNDEFINED, 255, HG_TYPE_OMITTED})

/* A named register or predicate (or one of an array), a parameter without register, a temporary. */
typedef struct hg_virtual {
    uint32_t name; /* in named; HG_UNDEFINED: a temporary */
    uint32_t inst; /* of a temporary: where it is made */
    uint8_t type, predicate;
    uint8_t number; /* found by hg_asm_allocate */
} hg_virtual;

/* Where a virtual register stands, and what the instruction does with it. */
enum {
    HG_USE_REG,
    HG_USE_INDEX,
    HG_USE_ITEM,
    HG_USE_RUN /* of a run, behind its first register */
};
typedef struct hg_use {
    uint32_t virtual_number, inst;
    uint32_t place; /* in operands; HG_USE_ITEM: in items */
    uint8_t field, access;
} hg_use;

enum { HG_MAX_ARRAY_RANK = 4, HG_MAX_ARRAY_REGISTERS = 4096, HG_MAX_VIRTUALS = 1 << 24 };
/* What a name of the text stands for. */
typedef struct hg_named {
    hg_token token;
    uint32_t first, count; /* virtual registers; first HG_UNDEFINED: register `number` */
    uint32_t param;        /* HG_UNDEFINED: none */
    uint32_t extents[HG_MAX_ARRAY_RANK];
    uint8_t rank; /* 0: no array */
    uint8_t type, predicate, number;
    bool run;   /* some instruction reads a run of its registers: they get consecutive numbers */
    bool fixed; /* the variable of a `for`, or a coordinate: the text does not write it */
    bool coordinate; /* of .lanes */
    bool kept;       /* an array whose axes are checked: nothing else gets its register */
} hg_named;

/* A statement with a block in braces that is being read. */
typedef struct hg_brace {
    hg_token token;  /* its first word */
    uint8_t kind;    /* hg_brace_kind */
    uint32_t scope;  /* around it */
    uint32_t top;    /* instruction to which a loop goes back */
    uint32_t body;   /* of `if`: its first instruction */
    uint64_t labels; /* defined before it */
    hg_jumps next;   /* to the next branch, or to what a round ends with */
    hg_jumps behind; /* behind the statement */
    bool never;      /* a condition that is known: what it would run begins at `top` */
    bool settled;    /* of if: a branch before always runs */
    /* of for: */
    bool down;                  /* the step is subtracted */
    bool by_one, reversed;      /* by_one: the variable is compared, else rounds are counted */
    hg_register variable, step; /* step: its size */
    hg_register rounds, bound;  /* so many more; what the variable is compared with */
} hg_brace;

/* How the instructions end that a statement has just written, where they may become fewer
 * (tree/flow.c). */
typedef enum hg_jump_form {
    HG_JUMP_OVER,   /* a branch over what follows */
    HG_JUMP_TURNED, /* the same, on the opposite of the comparison in front of it */
    HG_JUMP_PAIR,   /* a branch over the jump behind it */
    HG_JUMP_BEHIND, /* break: the last jump of the chain behind a loop */
    HG_JUMP_NEXT,   /* continue: the last jump of the chain to the end of a round */
    HG_JUMP_AGAIN   /* continue, to an instruction that is known */
} hg_jump_form;
typedef struct hg_last_jump {
    uint32_t end;    /* the instruction behind it; 0: there is none */
    uint8_t form;    /* hg_jump_form */
    bool turned;     /* one branch, on a comparison that may be the opposite one */
    uint32_t loop;   /* of break and continue: its brace */
    uint64_t labels; /* defined before */
} hg_last_jump;

/* .shared NAME TYPE [extents], or .private. */
typedef struct hg_memory_array {
    hg_token token;
    uint8_t place; /* HG_PLACE_SHARED, HG_PLACE_PRIVATE */
    uint8_t type, rank;
    uint64_t extents[HG_MAX_EXTENTS];
    uint64_t bytes, offset;
} hg_memory_array;

/* A type parameter, a parameter or a result of a function. */
typedef struct hg_fn_part {
    hg_token name;     /* a result has none */
    uint8_t type;      /* of a value: hg_type, or as in tree/tree.h */
    uint8_t parameter; /* the type parameter that is its type, from 1; 0: `type` is */
    bool is_array;     /* by reference */
    hg_memory_array array;
} hg_fn_part;

/* fn NAME[types](parameters) -> results { body } */
typedef struct hg_fn {
    hg_token name;
    hg_piece body;
    uint32_t first; /* of its parts, in that order */
    uint8_t types, parameters, results;
} hg_fn;

/* A function with the types and arrays that it is called with. */
typedef struct hg_fn_use {
    uint32_t fn;
    hg_token name;     /* NAME.f32 */
    hg_token at;       /* the first call */
    uint32_t chosen;   /* the first of its types, and of the numbers of its arrays */
    uint32_t function; /* of the tree */
} hg_fn_use;

/* A record of .name. */
typedef struct hg_given_name {
    hg_register_name record;
    hg_token token;
} hg_given_name;

typedef struct hg_counted_loop {
    hg_token token;
    hg_register counter;
    uint16_t op;      /* hg_op of its end */
    bool never;       /* zero iterations: a branch over the body */
    bool guarded;     /* by a register: a branch over the body where it is zero */
    uint32_t body;    /* instruction index */
    uint64_t operand; /* of such a branch's target */
} hg_counted_loop;

typedef struct hg_fixup {
    uint64_t operand;
    uint32_t inst;
    uint32_t label;
    uint32_t function; /* the scope of the function out of which it does not lead; 0: anywhere */
    hg_token token;
} hg_fixup;
/* Where an extent stands. */
typedef enum hg_extent_of {
    HG_EXTENT_OF_PARAM,
    HG_EXTENT_OF_LANES,
    HG_EXTENT_OF_GRID,
    HG_EXTENT_OF_NONE
} hg_extent_of;
typedef struct hg_extent_place {
    hg_extent_of of;
    uint32_t param, position; /* param: HG_EXTENT_OF_PARAM */
} hg_extent_place;
/* A parameter's name in an extent; op UINT32_MAX: it is the extent, else an operation of the
 * program. */
typedef struct hg_named_extent {
    hg_extent_place place;
    uint32_t op;
    hg_token token;
} hg_named_extent;

/* A number, a parameter or an operation of the extent of an axis, operands first. */
typedef struct hg_lane_op {
    uint8_t kind; /* hg_extent_op_kind */
    uint64_t value;
    hg_token token; /* HG_EXTENT_OP_PARAM: its name */
} hg_lane_op;
/* An axis of .lanes [i < rows, j < cols]. */
typedef struct hg_lane_axis {
    hg_token name;
    hg_register reg;     /* its coordinate */
    uint32_t first, ops; /* of its extent, in hg_assembler.lanes.ops */
} hg_lane_axis;

enum {
    HG_MNEMONIC_SLOTS = 1024,
    HG_ARRAY_ALIGNMENT = 16 /* of arrays in shared and private memory */
};
/* Errors that get a hint and their own text; those of a file of garbage beyond it are only counted.
 */
enum { HG_MOST_EXPLAINED = 10000 };

typedef struct hg_assembler {
    hg_lexer lexer;
    hg_token token;          /* the next one */
    struct {                 /* what is read: files, macros and blocks that stand in each other */
        uint32_t expansion;  /* that is read now */
        uint32_t parameters; /* the use of a macro whose arguments are seen there; 0: none */
        /* Called for names that may stand for something else and at ends of texts
         * (assemble_source.c). */
        void (*resume)(struct hg_assembler *a);
        HG_VEC(hg_text_expansion) expansions;
        HG_VEC(hg_frame) frames;
        HG_VEC(hg_text_file) files;
        HG_VEC(hg_source) sources; /* to be released */
        HG_VEC(hg_macro) macros;
        HG_VEC(hg_token) macro_parameters;
        HG_VEC(hg_piece) arguments;
        HG_VEC(hg_block) blocks;
        HG_VEC(hg_brace) braces;
        HG_VEC(uint32_t) scopes; /* of each the one around it; 0: the whole program */
        uint64_t expanded_bytes;
        bool any_nesting; /* braces nest as deep as memory goes */
    } source;
    const hg_assemble_options *options;
    struct {            /* the program of the text that is read */
        bool chosen;    /* .program has come, and it is the one that is wanted */
        hg_text others; /* names, for the message */
    } wanted;
    struct {                           /* what a program keeps of its text */
        HG_VEC(hg_inst_range) skipped; /* bodies of loops of 0 rounds */
        HG_VEC(hg_inst_word) words;    /* of statements that jump */
        HG_VEC(hg_span) places;        /* of instructions, when the first expanded one has come */
    } kept;
    struct { /* what was reported, and what is not reported again */
        hg_diagnostics *diagnostics;
        uint64_t errors;
        struct {
            uint32_t line, column;
            char code[4];
            char message[512];
        } first;        /* in order of place */
        bool stop;      /* no use in reading on */
        bool finishing; /* everything is read: errors no longer come in order of place */
        uint32_t muted; /* errors are not reported */
        bool doubtful;  /* the statement uses a name whose declaration could not be read: what is
                           wrong with it may come from that */
        bool names_missing; /* a file could not be included: names that nothing declares may be its
                             */
        hg_names unknown;   /* names that have been reported as unknown, or as none */
        hg_said said;       /* mistakes in text that is read several times */
    } wrong;
    bool out_of_memory;
    hg_program *program;                   /* under construction; its arena takes what is final */
    uint16_t mnemonics[HG_MNEMONIC_SLOTS]; /* hash table of hg_op + 1 by first form */
    hg_arena texts;                        /* of tokens that stand in no source */

    /* names */
    struct hg_tree_nodes *tree; /* tree/tree.h */
    hg_names names;
    struct {
        HG_VEC(hg_constant) constants;
        HG_VEC(hg_define) defines;
    } values;
    uint32_t expression_depth;
    struct {               /* directives */
        uint32_t seen;     /* bits, one a directive */
        hg_token word;     /* the directive that is read */
        bool unversioned;  /* the first line is missing */
        bool statements;   /* the first one has come */
        bool broken_param; /* a .param could not be read: an unknown extent may be its name */
        hg_token entry;
        HG_VEC(hg_param) params;
        HG_VEC(hg_named_extent) extents;
        hg_extent *alone;     /* of HG_EXTENT_OF_NONE */
        uint32_t grid_flag;   /* the parameter that hg_asm_grid_flag has made + 1 */
        uint32_t open_table;  /* the parameter of the last .data + 1; 0: there is none, or it is
                                 finished */
        hg_text table;        /* its elements so far */
        hg_token table_token; /* where they begin */
        HG_VEC(hg_meta) meta;
        HG_VEC(hg_memory_array) arrays;
        bool sized[2]; /* a plain .shared has come, a plain .private */
        bool placed;   /* the arrays have their offsets */
    } head;
    struct { /* .lanes with names */
        hg_lane_axis axes[HG_MAX_EXTENTS];
        HG_VEC(hg_lane_op) ops;
        uint32_t count;  /* axes */
        uint32_t end;    /* the first instruction behind those that work the coordinates out */
        uint32_t unused; /* bits, one an axis: nothing reads its coordinate, which is left out */
    } lanes;
    struct {
        HG_VEC(hg_inst) insts;
        HG_VEC(hg_operand) operands;
        HG_VEC(uint32_t) lines;
        HG_VEC(uint32_t) columns;
        HG_VEC(uint32_t) lengths; /* of what stands there: of an expression, else 0 */
        bool of_expressions;      /* what comes now is of a statement */
        bool has_lengths;         /* one of them is not 0 */
        HG_VEC(hg_span) spans;
        HG_VEC(hg_tuple_item) items;
        hg_text literals;
        hg_names labels;
        uint64_t defined_labels;
        HG_VEC(hg_fixup) fixups;
        uint64_t bound; /* the instruction that a jump may lead to, of those the last */
        HG_VEC(hg_counted_loop) loops;
        hg_last_jump condition, leave, ended;
        uint32_t loops_too_deep; /* opened beyond the limit */
        bool loops_unsure;       /* a `loop` could not be read: it may have been a counted one */
    } code;
    struct { /* fn */
        HG_VEC(hg_fn) all;
        HG_VEC(hg_fn_part) parts;
        HG_VEC(hg_fn_use) uses;
        HG_VEC(uint32_t) chosen;
        hg_names names;  /* of uses */
        uint64_t read;   /* uses whose bodies have been */
        uint32_t scope;  /* of the body that is read; 0: the program is */
        uint64_t errors; /* before it */
    } functions;
    struct { /* by name */
        HG_VEC(hg_named) named;
        HG_VEC(hg_virtual) virtuals;
        HG_VEC(hg_use) uses;
        HG_VEC(hg_register) param_registers; /* one a parameter */
        HG_VEC(hg_given_name) given_names;   /* .name */
        uint64_t uses_placed;                /* uses before it have their instruction */
        uint64_t taken[5]; /* numbers that the text gives: registers, then predicates */
    } registers;
} hg_assembler;

/* assemble.c: an assembler that reports to `diagnostics` (may be NULL) and has read nothing; NULL:
 * out of memory. */
hg_assembler *hg_asm_create(hg_diagnostics *diagnostics);
void hg_asm_destroy(hg_assembler *a);
/* What was emitted and declared goes into a->program. */
bool hg_asm_store_program(hg_assembler *a);
/* The first mistake as hg_last_error(). */
hg_status hg_asm_first_error(const hg_assembler *a);

/* assemble_token.c */
void hg_asm_error(hg_assembler *a, const char *code, const hg_token *at, const char *hint,
                  const char *format, ...) HG_PRINTF(5, 6);
/* What is written here for a word or a sign of other languages that stands where something else is
 * expected; NULL: nothing is known. text: that the token is in, unless it is an argument's
 * (assemble_foreign.c). */
const char *hg_foreign_behind(const hg_token *t, const char *expected, const char *text,
                              size_t size);
/* S02, or what the lexer found wrong with the next token. Always false. */
bool hg_asm_unexpected(hg_assembler *a, const char *expected);
bool hg_asm_unexpected_with(hg_assembler *a, const char *expected, const char *hint);
/* Whether a name that nothing declares is to be reported: the first time, and only where all files
 * that may declare it were read. */
bool hg_asm_is_unknown(hg_assembler *a, const hg_token *name);
bool hg_asm_no_memory(hg_assembler *a); /* always false */
static inline void hg_asm_next(hg_assembler *a) {
    a->token = hg_lexer_next(&a->lexer);
    a->token.expansion = a->source.expansion;
    bool name = a->token.kind == HG_TOKEN_NAME;
    bool pasted = name && a->lexer.at < a->lexer.length && a->lexer.text[a->lexer.at] == '{';
    if (name ? a->source.parameters || pasted : a->token.kind == HG_TOKEN_END_OF_FILE)
        a->source.resume(a);
}
static inline bool hg_asm_accept(hg_assembler *a, int kind) {
    if (a->token.kind != kind) return false;
    hg_asm_next(a);
    return true;
}
bool hg_asm_expect(hg_assembler *a, int kind, const char *expected);
static inline hg_span hg_asm_span(const hg_token *token) {
    return (hg_span){token->line, token->column, hg_token_width(token), token->expansion};
}
/* Whether that character stands behind the next token, blanks aside; '=' alone. */
bool hg_asm_followed_by(const hg_assembler *a, char c);
/* Of the line or the file. */
static inline bool hg_asm_at_end(const hg_assembler *a) {
    return a->token.kind == HG_TOKEN_END_OF_LINE || a->token.kind == HG_TOKEN_END_OF_FILE;
}
bool hg_asm_expect_end(hg_assembler *a);
/* An ident, not reserved; its token in *name. */
bool hg_asm_identifier(hg_assembler *a, const char *what, hg_token *name);

/* r7 or p3 as a number below `limit`, which the text takes for itself. */
bool hg_asm_register(hg_assembler *a, const hg_token *name, uint32_t limit, uint8_t *number);
bool hg_asm_literal_bytes(hg_assembler *a, const hg_token *literal, hg_type type, uint8_t *bytes);
/* The token's text from `skip` on as a uint. */
bool hg_asm_number(hg_assembler *a, const hg_token *token, uint32_t skip, uint64_t *value);

/* assemble_name.c */
/* The scope that a token's names belong to, and the one around it; scope 0 is the whole program. */
static inline uint32_t hg_asm_scope_of(const hg_assembler *a, const hg_token *token) {
    return a->source.expansions.data[token->expansion].scope;
}
static inline uint32_t hg_asm_scope_around(const hg_assembler *a, uint32_t scope) {
    return a->source.scopes.data[scope];
}
/* The name of that very scope, of a table that has some; NULL: there is none. Valid until the next
 * one is entered. */
hg_name *hg_asm_find_in(const hg_names *names, const char *text, uint32_t length, uint32_t scope);
/* The same, in the token's scope, entered with kind and index when new. NULL: out of memory. */
hg_name *hg_asm_enter(hg_assembler *a, hg_names *names, const hg_token *token, hg_name_kind kind,
                      uint64_t index);
void hg_asm_free_names(hg_names *names);
/* The innermost declaration of that name that the token can see, NULL: there is none. Valid until
 * the next one is declared. */
hg_name *hg_asm_find_name(hg_assembler *a, const hg_token *token);
/* Whether it is the name of a variable, or an array of the lane, that the function does not see. */
bool hg_asm_is_hidden(hg_assembler *a, const hg_token *token);
/* The same for a part of a token. */
hg_name *hg_asm_find_text(hg_assembler *a, const char *text, uint32_t length, uint32_t scope);
/* False after D02 (the scope has that name) or without memory. */
bool hg_asm_declare(hg_assembler *a, const hg_token *token, hg_name_kind kind, uint64_t index);
/* Behind an error in the declaration of a name: it is declared all the same, so that its uses are
 * no further errors. Always false. */
bool hg_asm_declare_broken(hg_assembler *a, const hg_token *token);
/* The constant that a name token stands for, NULL: it stands for none. */
const hg_constant *hg_asm_find_constant(hg_assembler *a, const hg_token *token);
/* S02 with the nearest constant as a hint; always false. */
bool hg_asm_unknown_constant(hg_assembler *a, const char *expected);
void hg_asm_try_constants(const hg_assembler *a, hg_nearest *nearest);

/* A type that a program writes: its name, or one of .type that is seen in the scope. */
bool hg_asm_type(hg_assembler *a, const char *text, uint32_t length, uint32_t scope, hg_type *type);
/* The next token is one; `expected` is for the message where it is not. */
bool hg_asm_expect_type(hg_assembler *a, const char *expected, uint8_t *type);

/* assemble_constant.c */
bool hg_asm_add_defines(hg_assembler *a, const char *const *defines, size_t count);
/* The define of that name; the caller says that it was of use. NULL: none. */
hg_define *hg_asm_find_define(hg_assembler *a, const hg_token *token);
/* D04 for those that named nothing. */
void hg_asm_check_defines(hg_assembler *a);
/* .const, behind the word. */
bool hg_asm_read_const(hg_assembler *a);
/* .type, behind the word. */
bool hg_asm_read_type(hg_assembler *a);

/* assemble_expression.c. `expected` is for the message where no expression begins: "a number". Each
 * is false after an error. */
bool hg_asm_starts_expression(hg_assembler *a); /* whether the next token begins one; words of
                                                   instructions do not */
bool hg_asm_expression(hg_assembler *a, const char *expected, hg_constant *value);
/* A product: without + and - outside parentheses. */
bool hg_asm_term(hg_assembler *a, const char *expected, hg_constant *value, bool *times);
/* One number, constant, function, or expression in parentheses. */
bool hg_asm_primary(hg_assembler *a, const char *expected, hg_constant *value);
/* The value of `x op y`, in x, and of a sign or function before one or more of them. */
bool hg_asm_combine(hg_assembler *a, hg_constant *x, const hg_token *op, hg_constant *y);
bool hg_asm_apply_sign(hg_assembler *a, const hg_token *sign, hg_constant *c);
bool hg_asm_apply_ceil(hg_assembler *a, const hg_token *name, hg_constant *c);
bool hg_asm_apply_extreme(hg_assembler *a, bool largest, hg_constant *c, hg_constant *other);
/* How tightly a token binds as an operator of two numbers; 0: another token. */
int hg_asm_binding(int kind);
/* Whether it is a real number: the literal, or the value. */
bool hg_asm_constant_is_real(const hg_constant *c);
/* As a number of 64 bits; S03, S04 for any other. */
bool hg_asm_constant_unsigned(hg_assembler *a, const hg_constant *value, uint64_t *number);
bool hg_asm_constant_integer(hg_assembler *a, const hg_constant *value, hg_i128 *number);
/* Whether it is not 0. */
bool hg_asm_truth(hg_assembler *a, const hg_constant *value, bool *truth);
/* As the text of a literal, at the place of the expression. */
bool hg_asm_constant_token(hg_assembler *a, const hg_constant *value, hg_token *literal);
/* An expression as an unsigned number of 64 bits. */
bool hg_asm_integer(hg_assembler *a, const char *expected, uint64_t *number, hg_token *token);
/* Makes *token reach to the end of *last where both are of one line of one text. */
void hg_asm_extend(hg_token *token, const hg_token *last);

/* assemble_source.c */
bool hg_asm_open_source(hg_assembler *a, const char *text, size_t length);
/* A new scope inside another; HG_UNDEFINED: out of memory. */
uint32_t hg_asm_open_scope(hg_assembler *a, uint32_t outer);
/* The names that the text has from here on belong to that scope. */
static inline void hg_asm_set_scope(hg_assembler *a, uint32_t scope) {
    a->source.expansions.data[a->source.expansion].scope = scope;
}
/* The line that is read is a statement of language.md 2.7, or it is no more. */
void hg_asm_set_statement(hg_assembler *a, bool statement);
void hg_asm_close_sources(hg_assembler *a);
/* L04 for braces that are open beyond the first `count`: the text in which they stand ends. */
void hg_asm_close_braces(hg_assembler *a, uint64_t count);
/* What the resolver finds for a string token, kept until the program is assembled. P06 where it
 * finds nothing. */
const hg_source *hg_asm_resolve(hg_assembler *a, const hg_token *string);
/* The text of a string token, in the assembler's memory; NULL when there is none left. */
char *hg_asm_string(hg_assembler *a, const hg_token *string, size_t *length);
bool hg_asm_read_include(hg_assembler *a);
/* A new expansion in the one that is read now; 0: out of memory, or too many (S05). */
uint32_t hg_asm_expansion(hg_assembler *a, hg_expansion_kind kind, const hg_token *at,
                          const hg_token *name);
/* Reads a piece next. */
bool hg_asm_push(hg_assembler *a, hg_frame frame, const hg_piece *piece, const hg_token *at);
hg_piece hg_asm_here(const hg_assembler *a);
/* The token's place in the source itself. */
void hg_asm_outer_place(const hg_assembler *a, const hg_token *token, uint32_t *line,
                        uint32_t *column);
/* Reads on, without a look at what it means, up to the next directive outside of blocks that begin
 * meanwhile which `stops`; it is read next. False: the text ended before. */
bool hg_asm_skip_to(hg_assembler *a, bool (*stops)(const hg_token *directive));
/* Arguments that stand on top are at their end: what follows is in the text below. */
void hg_asm_leave_arguments(hg_assembler *a);
/* .program, behind its name: false where it is not the one that is wanted; the text goes on at the
 * next one then. */
bool hg_asm_choose_program(hg_assembler *a, const hg_token *directive, const hg_token *name);

/* assemble_macro.c: directives, behind the word */
bool hg_asm_read_if(hg_assembler *a, const hg_token *word);
bool hg_asm_read_else(hg_assembler *a, const hg_token *word);
bool hg_asm_read_end(hg_assembler *a, const hg_token *word);
bool hg_asm_read_rept(hg_assembler *a, const hg_token *word);
bool hg_asm_read_for(hg_assembler *a, const hg_token *word);
bool hg_asm_read_macro(hg_assembler *a, const hg_token *word);
/* The next token is the name of a macro at the beginning of a statement; it is used. */
bool hg_asm_is_macro(hg_assembler *a);
bool hg_asm_use_macro(hg_assembler *a);

/* assemble_label.c */
/* Number of the label of that name, entered when new; HG_UNDEFINED when out of memory. */
uint32_t hg_asm_label(hg_assembler *a, const hg_token *name);
/* The label stands before the next instruction. False: nothing more can be read. */
bool hg_asm_define_label(hg_assembler *a, const hg_token *name);
/* Branch targets and the entry become instruction numbers. */
void hg_asm_resolve_labels(hg_assembler *a);

/* assemble_directive.c: the token in front has been read */
bool hg_asm_directive(hg_assembler *a, const hg_token *name);
/* The name of the scratch array of one u32 that the program's grid.any and grid.all share where
 * they do not name one; made at the first of them. */
bool hg_asm_grid_flag(hg_assembler *a, const hg_token *at, hg_token *name);
/* What can only be checked when all directives are there. */
void hg_asm_finish_directives(hg_assembler *a);

/* assemble_meta.c: .meta, behind the word; and a note of the program: D02, S05. `at`: what says so.
 */
bool hg_asm_read_meta(hg_assembler *a);
bool hg_asm_add_meta(hg_assembler *a, const hg_token *at, const char *key, const char *value,
                     uint32_t length);

/* assemble_extent.c */
bool hg_asm_extent(hg_assembler *a, hg_extent *extent, hg_extent_place place);
/* [extents] of parameter `number`; where there are none its rank is 255. Those of a table are
 * numbers. */
bool hg_asm_dims(hg_assembler *a, hg_param *p, uint32_t number);
/* The extents of .lanes: numbers and parameters with `*` between are so many, anything else is one.
 */
bool hg_asm_lanes(hg_assembler *a, hg_extent *lanes, uint32_t *count);
/* What is told where such axes are wrong. */
#define HG_ASM_LANES "the lanes of an array are .lanes [i < rows, j < cols]"
/* The same of .lanes [i < rows, j < cols], whose '[' is the next token; the names are declared. */
bool hg_asm_lane_axes(hg_assembler *a, hg_extent *lanes, uint32_t *count);
/* Behind a mistake in them: their names, those in the rest of the line too, are declared all the
 * same. */
void hg_asm_break_axes(hg_assembler *a);
/* Names of parameters in extents become their numbers. */
void hg_asm_resolve_extents(hg_assembler *a);

/* assemble_lanes.c: what stands next is an instruction, a statement or a label; in front of the
 * first one the coordinates of the lane are worked out. */
void hg_asm_begin_code(hg_assembler *a);
/* Bits, one an axis: no instruction of the text reads its coordinate. */
uint32_t hg_asm_unused_lanes(const hg_assembler *a);

/* assemble_data.c: a table's type, extents and elements, of parameter `number`; more elements of
 * the last table; its end. */
bool hg_asm_table_body(hg_assembler *a, hg_param *p, uint32_t number);
bool hg_asm_more_table(hg_assembler *a);
void hg_asm_finish_table(hg_assembler *a);

/* assemble_memory.c: .shared and .private, behind the word; the array that a name stands for, NULL:
 * none. */
bool hg_asm_read_shared(hg_assembler *a);
bool hg_asm_read_private(hg_assembler *a);
const hg_memory_array *hg_asm_find_array(hg_assembler *a, const hg_token *name);
/* The extents of an array, in brackets. */
bool hg_asm_memory_extents(hg_assembler *a, hg_memory_array *array);
/* The memory of all arrays, behind the plain bytes; those of a lane are named in metadata. */
void hg_asm_finish_arrays(hg_assembler *a);

/* assemble_operand.c */
typedef enum hg_raw_kind {
    HG_RAW_REG,
    HG_RAW_PRED,
    HG_RAW_TARGET,
    HG_RAW_ADDRESS,
    HG_RAW_POOL,
    HG_RAW_LITERAL,
    HG_RAW_WORD,
    HG_RAW_NAMED,
    HG_RAW_TUPLE,
    HG_RAW_TUPLES /* a tuple of tuples; an empty tuple is a HG_RAW_TUPLE */
} hg_raw_kind;
typedef struct hg_raw_operand {
    uint8_t kind;
    hg_token token;   /* the whole operand; of a named one the value */
    hg_token name;    /* name=value; length 0: by position */
    hg_token literal; /* of a literal; of a tuple that is one constant in parentheses, which may be
                         meant as that; length 0: none */
    hg_operand value; /* register, predicate, address, pool, tuple */
    uint32_t label;
    hg_register reg, index; /* the register or predicate, that of a place; index of an address */
    uint8_t word;           /* HG_WORD_*, of a HG_RAW_WORD */
    uint8_t element;        /* of an address or the name of an array: type of its elements, or
                               HG_TYPE_OMITTED */
} hg_raw_operand;
/* What a word is besides an operation, an id or a truth value. A name of the user wins over the
 * others. */
enum {
    HG_WORD_NONE,
    HG_WORD_REGISTER,
    HG_WORD_PREDICATE,
    HG_WORD_ARRAY /* of registers, without its indices */,
    HG_WORD_ID
};
/* named: it stands behind name=, where a parenthesis may be a tuple; else it is a number. */
bool hg_asm_operand(hg_assembler *a, bool named, hg_raw_operand *raw);
/* The token of a literal, its sign included. */
bool hg_asm_literal(hg_assembler *a, hg_token *literal);

/* assemble_address.c: the '[' is the next token */
bool hg_asm_address(hg_assembler *a, hg_raw_operand *raw);

/* assemble_register.c */
/* What the name stands for where the reader is; NULL: nothing. Good until the next name is added.
 */
hg_named *hg_asm_find_named(hg_assembler *a, const hg_token *token);
/* The register of the parameter that comes next; reg: as given, or NULL. */
bool hg_asm_add_param_name(hg_assembler *a, const hg_token *token, const hg_param *p,
                           bool has_register);
/* Type of the elements of the array that the name stands for, HG_TYPE_OMITTED: of none. */
uint8_t hg_asm_element_type(hg_assembler *a, const hg_token *token);
/* Nothing else gets the register of a parameter, so that its array is known wherever it is named.
 */
void hg_asm_keep_array(hg_assembler *a, hg_register handle);
/* .reg, its arguments. */
bool hg_asm_read_registers(hg_assembler *a);
/* The name of a register that is declared, and its type: of a predicate HG_TYPE_OMITTED. */
bool hg_asm_register_name(hg_assembler *a, hg_token *name);
bool hg_asm_register_type(hg_assembler *a, uint8_t *type, bool *predicate);
/* Declares a register in the scope of its name: *reg, or where that is HG_NO_REGISTER a new one. */
bool hg_asm_declare_register(hg_assembler *a, const hg_token *token, uint8_t type, bool predicate,
                             bool fixed, hg_register *reg);
/* The coordinate of an axis of .lanes, in a register of its own; alone: it is `global`. */
bool hg_asm_declare_coordinate(hg_assembler *a, const hg_token *token, bool alone,
                               hg_register *reg);
/* The register that holds `global` when the program begins; N03 where it holds a parameter. */
bool hg_asm_global(hg_assembler *a, const hg_token *at, hg_register *reg);
/* N03 where the name is that of a variable that the text does not write. */
bool hg_asm_check_fixed(hg_assembler *a, const hg_token *name);
/* .name, its arguments; then, when all instructions are there, whether each record ends among them;
 * and the records beside those of .reg. */
bool hg_asm_read_given_name(hg_assembler *a);
void hg_asm_check_given_names(hg_assembler *a);
bool hg_asm_store_given_names(hg_assembler *a);
/* The register or predicate that a word names: by number, by name with the indices of an array, or
 * a special one. The next token is the word. Says what is wrong, and `expected`. */
bool hg_asm_read_register(hg_assembler *a, const char *expected, hg_register *reg);
/* For a word that is no register: the name that was meant, or how to declare it. NULL: it can be no
 * name. */
const char *hg_asm_register_hint(hg_assembler *a, const hg_token *word,
                                 char out[HG_NEAREST_BYTES + 40]);
/* What a word is that has been read, HG_WORD_*; the indices of an array are read. False: an error
 * was found in them. */
bool hg_asm_word_register(hg_assembler *a, const hg_token *word, uint8_t *kind, hg_register *reg);
/* assemble_virtual.c */
bool hg_asm_add_virtual(hg_assembler *a, uint32_t name, uint8_t type, bool predicate,
                        const hg_token *at);
/* A virtual register that the next instructions use. */
bool hg_asm_temporary(hg_assembler *a, uint8_t type, bool predicate, hg_register *reg);
/* The register stands in operands[place] (or items[place]). inst HG_UNDEFINED: in the instruction
 * that is emitted next. */
bool hg_asm_use(hg_assembler *a, const hg_register *reg, uint32_t inst, uint64_t place,
                uint8_t field, uint8_t access);
/* Keeps the items of one tuple, one after the other; *first is where. */
bool hg_asm_keep_items(hg_assembler *a, const hg_tuple_item *items, uint32_t count,
                       uint64_t *first);
/* The number is used by the text. */
static inline void hg_asm_take(hg_assembler *a, bool predicate, uint32_t number) {
    a->registers.taken[predicate ? 4 : number / 64] |= UINT64_C(1) << number % 64;
}

/* assemble_allocate.c: numbers for all virtual registers; everything is read and labels are
 * resolved. False: an error. */
bool hg_asm_allocate(hg_assembler *a);

/* assemble_inst.c */
void hg_asm_init_mnemonics(hg_assembler *a);
bool hg_asm_instruction(hg_assembler *a, const hg_token *mnemonic);
/* assemble_emit.c */
/* One instruction without operands, kept in step with its place. */
bool hg_asm_emit(hg_assembler *a, hg_op op, uint8_t type, uint8_t type2, const hg_token *at);
/* d = the id, in a temporary of its own. */
bool hg_asm_emit_id(hg_assembler *a, const hg_token *at, hg_idname id, hg_register *d);

/* ---- numbers (literal.c; their values: base/decimal.h) ---- */

/* Which rule of the grammar the whole text follows; `_` only between two digits. */
hg_number_kind hg_classify_number(const char *text, size_t length);
/* A uint of the grammar. NULL, or the diagnostic code: S03 malformed, S04 not below 2^64. */
const char *hg_parse_uint(const char *text, size_t length, uint64_t *value);

#endif
