/* Shared by the files that read instructions: a mnemonic taken apart, operands as given and as a
 * row takes them.
 * Must not know: the source of tokens, liveness. */
#ifndef HG_ISA_ASSEMBLE_INST_H
#define HG_ISA_ASSEMBLE_INST_H

#include "isa/text_internal.h"

enum { HG_MAX_PARTS = 6 };

/* A mnemonic taken apart: words between points, as offsets into its token. */
typedef struct hg_mnemonic {
    hg_token token;
    uint32_t start[HG_MAX_PARTS], end[HG_MAX_PARTS];
    uint32_t parts, suffix; /* number of words; first one behind the name */
    hg_op op;
    hg_condition condition;
    hg_scope scope;
    hg_register predicate; /* of bra; number 255: none */
    bool negated;          /* bra.! */
    bool compares;         /* bra.lt: op is HG_OP_SET */
    bool lacks_type;       /* a type that must be there is not: its operands may tell it */
    uint8_t type, type2;
} hg_mnemonic;

typedef struct hg_given {
    hg_raw_operand raw[HG_MAX_OPERANDS];
    uint32_t count;
    hg_token extra; /* the first one too many */
} hg_given;

enum { HG_NOT_GIVEN = 255 };
/* Given operands as those of a row. */
typedef struct hg_match {
    uint8_t given[HG_MAX_OPERANDS]; /* one an operand of the row: number of the given one, or
                                       HG_NOT_GIVEN */
    uint32_t matched;               /* given operands before the first that does not suit */
    bool whole;                     /* every given operand suits, and none is missing */
} hg_match;

/* assemble_emit.c */
/* The bytes of a literal; *offset: where. */
bool hg_asm_keep_literal(hg_assembler *a, const void *bytes, hg_type type, uint64_t *offset);
hg_operand *hg_asm_add_operand(hg_assembler *a, hg_operand operand, const hg_token *at);
/* The operands of the instruction emitted last, of the row it has. */
bool hg_asm_emit_operands(hg_assembler *a, const hg_mnemonic *name, const hg_given *given,
                          const hg_match *m);
/* A register operand of the instruction emitted last. */
bool hg_asm_emit_register(hg_assembler *a, hg_register reg, bool predicate, uint8_t access,
                          const hg_token *at);
/* d = x op y, an instruction of one type. */
bool hg_asm_emit_binary(hg_assembler *a, const hg_token *at, hg_op op, uint8_t type, hg_register d,
                        hg_register x, hg_register y);
/* A branch operand; index: its target where that is known. *operand (may be NULL): where it is
 * kept. */
bool hg_asm_emit_target(hg_assembler *a, uint32_t index, const hg_token *at, uint64_t *operand);
/* bra to the target that a label operand names; predicate number 255: always. */
bool hg_asm_emit_branch(hg_assembler *a, hg_register predicate, const hg_raw_operand *target,
                        const hg_token *at);
/* d = a literal of the type; as text, or a small number. */
bool hg_asm_emit_literal(hg_assembler *a, const hg_token *at, hg_register d, uint8_t type,
                         const hg_token *literal);
bool hg_asm_emit_number(hg_assembler *a, const hg_token *at, hg_register d, uint8_t type,
                        uint64_t number, const hg_token *to, const hg_token *literal);
/* An unsigned number at most `most`; `code` says which kind of mistake a larger one is. */
bool hg_asm_unsigned_value(hg_assembler *a, const hg_token *at, uint64_t most, const char *code,
                           uint64_t *value);
bool hg_asm_signed_byte(hg_assembler *a, const hg_token *at, uint64_t *value);
/* An operand that is left out. */
bool hg_asm_default_operand(hg_assembler *a, const hg_inst *inst, const hg_operand_info *info,
                            hg_operand *o);
/* mov_imm without type: i32 if it fits, else i64; real literals f32. */
bool hg_asm_default_type(hg_assembler *a, const hg_token *literal, uint8_t *type);

/* assemble_foreign.c */
typedef enum hg_foreign_place {
    HG_FOREIGN_STATEMENT,
    HG_FOREIGN_OPERAND,
    HG_FOREIGN_BEHIND,
    HG_FOREIGN_SIGN
} hg_foreign_place;
enum { HG_FOREIGN_BYTES = 320 };
/* What is written here for a sign of other languages, a token's kind; NULL: nothing is known. */
const char *hg_foreign_sign(hg_foreign_place place, int kind);
/* x[i] without the brackets around it, whose '[' is the next token. False: the brackets do not
 * close. */
bool hg_asm_bracket_hint(const hg_assembler *a, const hg_token *name, char hint[HG_FOREIGN_BYTES]);
/* What is written here for a word of other languages; NULL: there is nothing to say. */
const char *hg_foreign_hint(hg_foreign_place place, const char *text, size_t length);
/* a++ and a--, with `first` read. False: it is nothing of that kind. */
bool hg_asm_count_hint(const hg_assembler *a, const hg_token *first, char hint[HG_FOREIGN_BYTES]);

/* assemble_infer.c: types that operands tell, and registers for literals, ids and u32 values where
 * u64 is meant. May change the op. */
bool hg_asm_infer(hg_assembler *a, hg_mnemonic *m, hg_given *given, const hg_match *found);
/* Type that is known of a register operand, HG_TYPE_OMITTED: none. */
uint8_t hg_asm_known_type(const hg_raw_operand *raw);
/* The operand as a register of the type: itself, or a temporary. */
bool hg_asm_as_register(hg_assembler *a, const hg_token *at, uint8_t type, hg_raw_operand *raw);

/* assemble_loop.c (language.md 4.1) */
bool hg_asm_open_loop(hg_assembler *a, const hg_mnemonic *m, hg_given *given);
bool hg_asm_close_loop(hg_assembler *a, const hg_token *at);

/* assemble_mnemonic.c */
bool hg_asm_read_mnemonic(hg_assembler *a, hg_mnemonic *m);
bool hg_asm_no_type(hg_assembler *a, const hg_mnemonic *m); /* V05; always false */
bool hg_asm_allows_type(const hg_mnemonic *m, hg_type type);
bool hg_asm_takes_types(hg_op op, uint32_t given); /* whether a row can be written with that many
                                                      type suffixes */
/* The row of that mnemonic, HG_OP_NONE. */
hg_op hg_asm_find_op(const hg_assembler *a, const char *text);

static inline bool hg_raw_is_register(const hg_raw_operand *raw) {
    return raw->kind == HG_RAW_REG || (raw->kind == HG_RAW_WORD && raw->word == HG_WORD_REGISTER);
}
static inline bool hg_raw_is_id(const hg_raw_operand *raw) {
    return raw->kind == HG_RAW_WORD && raw->word == HG_WORD_ID;
}

#endif
