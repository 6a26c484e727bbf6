/* Tokens of MLIR's text. */
#include "hlo/lexer.h"
#include "base/decimal.h"
#include <string.h>

static void step(mlir_lexer *l) {
    if (*l->at == '\n')
        l->line++, l->column = 1;
    else
        l->column++;
    l->at++;
}

static void skip_space(mlir_lexer *l) {
    while (l->at < l->end) {
        if (l->at[0] == '/' && l->end - l->at > 1 && l->at[1] == '/')
            while (l->at < l->end && *l->at != '\n') step(l);
        else if (*l->at == ' ' || *l->at == '\t' || *l->at == '\r' || *l->at == '\n')
            step(l);
        else
            return;
    }
}

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
static bool in_word(char c) { return is_letter(c) || is_digit(c) || c == '.' || c == '$'; }

static void take_word(mlir_lexer *l) {
    while (l->at < l->end && in_word(*l->at)) step(l);
}

/* -1, 0xFF, 1.5e-3 */
static void take_number(mlir_lexer *l) {
    bool hex = false;
    char last = 0;
    if (*l->at == '-') step(l);
    if (l->end - l->at > 2 && l->at[0] == '0' && l->at[1] == 'x' && hex_digit(l->at[2]) >= 0) {
        hex = true;
        step(l);
        step(l);
    }
    while (l->at < l->end) {
        char c = *l->at;
        bool sign = (c == '-' || c == '+') && (last == 'e' || last == 'E') && !hex;
        bool exponent = (c == 'e' || c == 'E') && !hex;
        if (!(hex ? hex_digit(c) >= 0 : is_digit(c) || c == '.' || exponent || sign)) return;
        last = c;
        step(l);
    }
}

static void take_string(mlir_lexer *l) {
    step(l);
    l->token.text = l->at;
    while (l->at < l->end && *l->at != '"' && *l->at != '\n') {
        if (*l->at == '\\' && l->end - l->at > 1 && l->at[1] != '\n') step(l);
        step(l);
    }
    l->token.length = (uint32_t)(l->at - l->token.text);
    l->kind = l->at < l->end && *l->at == '"' ? MLIR_STRING : MLIR_BAD;
    if (l->kind == MLIR_STRING) step(l);
}

static void take_name(mlir_lexer *l, int kind) {
    step(l);
    if (l->at < l->end && *l->at == '"' && kind == MLIR_SYMBOL) {
        take_string(l);
        if (l->kind == MLIR_STRING) l->kind = kind;
        return;
    }
    l->kind = kind;
    l->token.text = l->at;
    take_word(l);
    l->token.length = (uint32_t)(l->at - l->token.text);
    if (!l->token.length) l->kind = MLIR_BAD;
}

void mlir_next(mlir_lexer *l) {
    skip_space(l);
    l->token = (mlir_word){l->at, 0, l->line, l->column};
    if (l->at == l->end) {
        l->kind = MLIR_END;
        return;
    }
    char c = *l->at;
    char second = l->end - l->at > 1 ? l->at[1] : 0;
    if (c == '"') {
        take_string(l);
        return;
    }
    if (c == '%' || c == '@') {
        take_name(l, c == '%' ? MLIR_VALUE : MLIR_SYMBOL);
        return;
    }
    if (is_letter(c)) {
        l->kind = MLIR_WORD;
        take_word(l);
    } else if (is_digit(c) || (c == '-' && is_digit(second))) {
        l->kind = MLIR_NUMBER;
        take_number(l);
    } else if (c == '-' && second == '>') {
        l->kind = MLIR_ARROW;
        step(l);
        step(l);
    } else {
        l->kind = c > ' ' && c < 127 ? c : MLIR_BAD;
        step(l);
    }
    l->token.length = (uint32_t)(l->at - l->token.text);
}

void mlir_lexer_start(mlir_lexer *l, const char *text, size_t length) {
    *l = (mlir_lexer){.at = text, .end = text + length, .line = 1, .column = 1};
    size_t mark = hg_byte_order_mark(text, length);
    l->at += mark;
    mlir_next(l);
}
