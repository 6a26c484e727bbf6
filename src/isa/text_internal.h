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
static inline bool is_name_start(char c) { return is_letter(c) || c == '_' || c == '.' || c == '$'; }
static inline bool is_name_byte(char c) { return is_name_start(c) || is_digit(c); }

/* ---- tokens (lexer.c) ---- */

/* Punctuation stands for itself: ',', ':', '[', … */
enum { HG_TOKEN_END_OF_FILE = 256, HG_TOKEN_END_OF_LINE, HG_TOKEN_NAME, HG_TOKEN_NUMBER, HG_TOKEN_STRING, HG_TOKEN_BAD };

typedef struct hg_token {
    int kind;
    uint32_t line, column, length; /* bytes */
    const char *text;
} hg_token;

/* Reads tokens line by line; a line that ends in a comma goes on. Nothing is copied or allocated. */
typedef struct hg_lexer {
    const char *text;
    size_t length, at;
    size_t line_start;      /* of the physical line */
    size_t statement_start; /* of the line with its continuations */
    uint32_t line, statement_line;
    int last; /* kind of the last token, 0 at the start of a statement */
    size_t last_end;
    const char *code, *message, *hint; /* of the last HG_TOKEN_BAD */
} hg_lexer;

void hg_lexer_init(hg_lexer *lexer, const char *text, size_t length);
hg_token hg_lexer_next(hg_lexer *lexer);
/* 'add', end of line, … for messages; buffer is returned. */
const char *hg_token_describe(const hg_token *token, char buffer[80]);
static inline bool hg_token_is(const hg_token *token, const char *word) {
    return token->kind == HG_TOKEN_NAME && strlen(word) == token->length && memcmp(token->text, word, token->length) == 0;
}
/* r or p and digits, nothing else. */
bool hg_looks_like_register(const char *text, size_t length, char letter);

/* ---- the assembler (assemble*.c) ---- */

typedef struct hg_label {
    hg_token token; /* first mention */
    uint32_t index; /* instruction, or HG_UNDEFINED */
    bool reported;
} hg_label;
#define HG_UNDEFINED UINT32_MAX

typedef struct hg_counted_loop {
    hg_token token;
    uint8_t counter;
    bool never;       /* zero iterations: a branch over the body */
    uint32_t body;    /* instruction index */
    uint64_t operand; /* of that branch's target */
} hg_counted_loop;

typedef struct hg_fixup {
    uint64_t operand;
    uint32_t inst;
    uint32_t label;
    hg_token token;
} hg_fixup;
/* An extent that names a parameter; param UINT32_MAX: of .lanes. */
typedef struct hg_named_extent {
    uint32_t param, position;
    hg_token token;
} hg_named_extent;

enum { HG_MNEMONIC_SLOTS = 1024 };
/* Errors that get a hint and their own text; those of a file of garbage beyond it are only counted. */
enum { HG_MOST_EXPLAINED = 10000 };

typedef struct hg_assembler {
    hg_lexer lexer;
    hg_token token; /* the next one */
    hg_diagnostics *diagnostics;
    uint64_t errors;
    struct {
        uint32_t line, column;
        char code[4];
        char message[512];
    } first; /* in order of place */
    bool out_of_memory;
    bool stop;                             /* no use in reading on */
    bool finishing;                        /* everything is read: errors no longer come in order of place */
    hg_program *program;                   /* under construction; its arena takes what is final */
    uint16_t mnemonics[HG_MNEMONIC_SLOTS]; /* hash table of hg_op + 1 by first form */

    /* directives */
    uint32_t seen;     /* bits, one a directive */
    bool unversioned;  /* the first line is missing */
    bool statements;   /* the first one has come */
    bool broken_param; /* a .param could not be read: an unknown extent may be its name */
    hg_token entry;
    HG_VEC(hg_param) params;
    HG_VEC(hg_named_extent) extents;
    HG_VEC(hg_meta) meta;

    /* code */
    HG_VEC(hg_inst) insts;
    HG_VEC(hg_operand) operands;
    HG_VEC(uint32_t) lines;
    HG_VEC(uint32_t) columns;
    HG_VEC(hg_span) spans;
    HG_VEC(hg_tuple_item) items;
    hg_text literals;
    HG_VEC(hg_label) labels;
    uint32_t *label_slots; /* label number + 1 */
    uint64_t label_slot_count;
    uint64_t defined_labels;
    HG_VEC(hg_fixup) fixups;
    HG_VEC(hg_counted_loop) loops;
    uint32_t loops_too_deep; /* opened beyond the limit */
    bool loops_unsure;       /* a `loop` could not be read: it may have been a counted one */
} hg_assembler;

/* assemble_token.c */
void hg_asm_error(hg_assembler *a, const char *code, const hg_token *at, const char *hint, const char *format, ...) HG_PRINTF(5, 6);
/* S02, or what the lexer found wrong with the next token. Always false. */
bool hg_asm_unexpected(hg_assembler *a, const char *expected);
bool hg_asm_no_memory(hg_assembler *a); /* always false */
static inline void hg_asm_next(hg_assembler *a) { a->token = hg_lexer_next(&a->lexer); }
static inline bool hg_asm_accept(hg_assembler *a, int kind) {
    if (a->token.kind != kind) return false;
    hg_asm_next(a);
    return true;
}
bool hg_asm_expect(hg_assembler *a, int kind, const char *expected);
/* Of the line or the file. */
static inline bool hg_asm_at_end(const hg_assembler *a) {
    return a->token.kind == HG_TOKEN_END_OF_LINE || a->token.kind == HG_TOKEN_END_OF_FILE;
}
bool hg_asm_expect_end(hg_assembler *a);
/* An ident, not reserved; its token in *name. */
bool hg_asm_identifier(hg_assembler *a, const char *what, hg_token *name);

/* assemble_label.c */
/* Number of the label of that name, entered when new; HG_UNDEFINED when out of memory. */
uint32_t hg_asm_label(hg_assembler *a, const hg_token *name);
/* The label stands before the next instruction. False: nothing more can be read. */
bool hg_asm_define_label(hg_assembler *a, const hg_token *name);
/* Branch targets and the entry become instruction numbers. */
void hg_asm_resolve_labels(hg_assembler *a);

/* assemble_directive.c: the token in front has been read */
bool hg_asm_directive(hg_assembler *a, const hg_token *name);
/* What can only be checked when all directives are there. */
void hg_asm_finish_directives(hg_assembler *a);

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
    hg_operand value; /* register, predicate, address, pool, tuple */
    uint32_t label;
} hg_raw_operand;
bool hg_asm_operand(hg_assembler *a, hg_raw_operand *raw);
/* Keeps the items of one tuple, one after the other; *first is where. */
bool hg_asm_keep_items(hg_assembler *a, const hg_tuple_item *items, uint32_t count, uint64_t *first);
/* The token of a literal, its sign included. */
bool hg_asm_literal(hg_assembler *a, hg_token *literal);
/* r7 or p3 as a number below `limit`. */
bool hg_asm_register(hg_assembler *a, const hg_token *name, uint32_t limit, uint8_t *number);
/* The token's text from `skip` on as a uint. */
bool hg_asm_number(hg_assembler *a, const hg_token *token, uint32_t skip, uint64_t *value);
bool hg_asm_literal_bytes(hg_assembler *a, const hg_token *literal, hg_type type, uint8_t *bytes);

/* assemble_inst.c */
void hg_asm_init_mnemonics(hg_assembler *a);
bool hg_asm_instruction(hg_assembler *a, const hg_token *mnemonic);
/* One instruction without operands, kept in step with its place. */
bool hg_asm_emit(hg_assembler *a, hg_op op, uint8_t type, uint8_t type2, const hg_token *at);

/* ---- numbers (literal.c; their values: base/decimal.h) ---- */

/* Which rule of the grammar the whole text follows; `_` only between two digits. */
hg_number_kind hg_classify_number(const char *text, size_t length);
/* A uint of the grammar. NULL, or the diagnostic code: S03 malformed, S04 not below 2^64. */
const char *hg_parse_uint(const char *text, size_t length, uint64_t *value);

#endif
