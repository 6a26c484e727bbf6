/* Readers of the text form, and of texts that begin with its declarations (the vector form):
 * tokens, names, and the state that the parts share.
 * Must not know: passes, programs. */
#ifndef HG_KIR_READER_H
#define HG_KIR_READER_H

#include "kir/builder.h"
#include "kir/parse.h"
#include "kir/words.h"

/* Punctuation stands for itself. A NUMBER is an unsigned one; literals are read by
 * kir_read_literal. */
enum {
    KIR_TOKEN_END = 256,
    KIR_TOKEN_LINE,
    KIR_TOKEN_WORD,
    KIR_TOKEN_NUMBER,
    KIR_TOKEN_STRING,
    KIR_TOKEN_VALUE,
    KIR_TOKEN_BAD
};

typedef struct kir_token {
    int kind;
    uint32_t line, column, length; /* bytes */
    const char *text;              /* of a VALUE without the %, of a STRING without the quotes */
} kir_token;

/* What a name stands for. Scopes: those below, then two for each function, its variables and its
 * values. */
enum { KIR_SCOPE_VARS, KIR_SCOPE_FUNCTIONS, KIR_SCOPE_TABLES, KIR_SCOPE_FIRST_FUNCTION };
typedef struct kir_symbol {
    const char *text;
    uint32_t length, scope, next; /* next: of the same hash, + 1 */
    void *thing;
} kir_symbol;

typedef struct kir_reader {
    const char *what; /* the text is, for messages */
    const char *text;
    size_t length, at, line_start;
    uint32_t line;
    kir_token token; /* the next one */
    hg_diagnostics *diagnostics;
    bool failed, no_memory;
    kir_module *module;
    kir_builder b;
    kir_function *function; /* being read */
    uint32_t depth;
    HG_VEC(kir_symbol) symbols;
    uint32_t *heads; /* of the chains of symbols, + 1 */
    uint32_t head_count;
} kir_reader;

/* ---- text_lexer.c ---- */
void kir_reader_init(kir_reader *r, const char *text, size_t length, hg_diagnostics *diagnostics);
void kir_next(kir_reader *r);
/* All return false after an error, which is in the diagnostics already; the reading ends. */
bool kir_error(kir_reader *r, const kir_token *at, const char *format, ...) HG_PRINTF(3, 4);
bool kir_expected(kir_reader *r, const char *what); /* "expected WHAT, got 'x'" */
bool kir_no_memory(kir_reader *r);
bool kir_accept(kir_reader *r, int kind);
bool kir_expect(kir_reader *r, int kind, const char *what);
bool kir_is_word(const kir_reader *r, const char *word);
bool kir_accept_word(kir_reader *r, const char *word);
bool kir_expect_word(kir_reader *r, const char *word);
bool kir_expect_line(kir_reader *r); /* the end of the statement */
bool kir_read_number(kir_reader *r, uint64_t most, const char *what, uint64_t *n);
bool kir_read_choice(kir_reader *r, const kir_words *list, const char *what, uint8_t *choice);
bool kir_read_type(kir_reader *r, bool may_be_void, uint8_t *type);
bool kir_read_hg_type(kir_reader *r, uint8_t *type);
/* A constant of a type; bytes: size(type) of them. */
bool kir_read_literal(kir_reader *r, uint8_t type, uint8_t *bytes);
/* A string's bytes in the module's arena. */
bool kir_read_string(kir_reader *r, const char **text);

/* ---- parse_names.c ---- */
/* A name as one token: NAME, "a name", #4, each with .2 behind it where several things bear it. */
bool kir_read_name(kir_reader *r, const char *what, kir_token *name);
/* The name that a thing gets from it, in the module's arena; NULL for #4. False: out of memory. */
bool kir_name_text(kir_reader *r, const kir_token *name, const char **text);
bool kir_define_name(kir_reader *r, uint32_t scope, const kir_token *name, void *thing); /* an error
                                                                                            when it
                                                                                            is taken
                                                                                          */
void *kir_find_name(const kir_reader *r, uint32_t scope, const kir_token *name); /* NULL: nothing of
                                                                                    that name */
static inline uint32_t kir_scope_vars(const kir_function *f) {
    return KIR_SCOPE_FIRST_FUNCTION + 2 * f->id;
}
static inline uint32_t kir_scope_values(const kir_function *f) {
    return KIR_SCOPE_FIRST_FUNCTION + 2 * f->id + 1;
}
/* $name of the module, or name of the function. */
bool kir_read_var(kir_reader *r, kir_var **var);
bool kir_read_value(kir_reader *r, kir_value **value);

/* ---- parse.c ---- */
/* From the first token on: "module …", its inputs, slots and tables, as far as the line that begins
 * with none of these words. */
bool kir_read_head(kir_reader *r);
void kir_reader_free(kir_reader *r); /* not its module */

/* ---- parse_op.c ---- */
bool kir_read_op(kir_reader *r, const char *what, kir_op *op); /* the name of an operation */
bool kir_read_operation(kir_reader *r); /* a line of a body that begins with %N or an operation's
                                           name */

#endif
