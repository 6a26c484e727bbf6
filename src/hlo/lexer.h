/* Tokens of MLIR's text. Must not know: operations. */
#ifndef HG_HLO_LEXER_H
#define HG_HLO_LEXER_H

#include "hlo/hlo.h"

typedef enum shlo_kind {
    SHLO_END,
    SHLO_WORD,   /* letters, digits, _ . $ */
    SHLO_VALUE,  /* %NAME */
    SHLO_SYMBOL, /* @NAME */
    SHLO_STRING, /* without its quotes */
    SHLO_NUMBER,
    SHLO_ARROW,
    SHLO_BAD /* a string without an end, a byte that nothing begins with */
} shlo_kind; /* others are their character */

typedef struct shlo_lexer {
    const char *at, *end;
    uint32_t line, column;
    int kind;
    shlo_word token;
} shlo_lexer;

void shlo_lexer_start(shlo_lexer *lexer, const char *text, size_t length);
void shlo_next(shlo_lexer *lexer);

#endif
