/* Tokens of MLIR's text. Must not know: operations. */
#ifndef HG_HLO_LEXER_H
#define HG_HLO_LEXER_H

#include "hlo/hlo.h"

typedef enum mlir_kind {
    MLIR_END,
    MLIR_WORD,   /* letters, digits, _ . $ */
    MLIR_VALUE,  /* %NAME */
    MLIR_SYMBOL, /* @NAME */
    MLIR_STRING, /* without its quotes */
    MLIR_NUMBER,
    MLIR_ARROW,
    MLIR_BAD /* a string without an end, a byte that nothing begins with */
} mlir_kind; /* others are their character */

typedef struct mlir_lexer {
    const char *at, *end;
    uint32_t line, column;
    int kind;
    mlir_word token;
} mlir_lexer;

void mlir_lexer_start(mlir_lexer *lexer, const char *text, size_t length);
void mlir_next(mlir_lexer *lexer);

#endif
