/* What every part of the assembler reads with: the next token, what must follow, and errors in
 * order of place.
 * Must not know: statements. */
#include "isa/text_internal.h"

#include <stdio.h>

/* ---- errors ---- */

static bool is_before(uint32_t line, uint32_t column, uint32_t other_line, uint32_t other_column) {
    return line < other_line || (line == other_line && column < other_column);
}

enum { MOST_SHOWN = 64 /* errors that get their line of an included file */ };

void hg_asm_error(hg_assembler *a, const char *code, const hg_token *at, const char *hint,
                  const char *format, ...) {
    if (a->wrong.muted || (a->wrong.doubtful && a->wrong.errors)) return;
    bool again = at->expansion ||
                 (a->source.frames.count > 1 && a->source.expansions.count); /* the
                                                                                second:
                                                                                an
                                                                                argument's
                                                                                text
                                                                              */
    if (again && !hg_said_new(&a->wrong.said, &a->source.expansions.data[at->expansion], at->line,
                              at->column, HG_SEVERITY_ERROR))
        return;
    char message[sizeof a->wrong.first.message] = "one of very many errors";
    bool explained = a->wrong.errors < HG_MOST_EXPLAINED || a->wrong.finishing;
    if (explained) {
        va_list args;
        va_start(args, format);
        vsnprintf(message, sizeof message, format, args);
        va_end(args);
    }
    const hg_origins origins = {a->source.expansions.data,
                                explained ? (uint32_t)a->source.expansions.count : 0,
                                a->source.files.data};
    hg_origin origin;
    hg_text words = {0};
    hg_find_origin(&origins, at->expansion, at->line, at->column, &words, &origin);
    if (a->wrong.errors > MOST_SHOWN) origin.text = NULL;
    if (!a->wrong.errors ||
        is_before(origin.line, origin.column, a->wrong.first.line, a->wrong.first.column)) {
        a->wrong.first.line = origin.line;
        a->wrong.first.column = origin.column;
        snprintf(a->wrong.first.code, sizeof a->wrong.first.code, "%s", code);
        memcpy(a->wrong.first.message, message, sizeof message);
    }
    a->wrong.errors++;
    if (again && a->wrong.errors >= HG_MOST_EXPLAINED)
        a->wrong.stop = true; /* text that is read again has its mistakes again */
    hg_place place = {.line = at->line,
                      .column = at->column,
                      .length = hg_token_width(at),
                      .instruction = HG_NONE};
    hg_diagnose_from(a->wrong.diagnostics, HG_SEVERITY_ERROR, code, place, &origin, hint, "%s",
                     message);
    hg_text_free(&words);
}

bool hg_asm_unexpected(hg_assembler *a, const char *expected) {
    return hg_asm_unexpected_with(a, expected, NULL);
}

bool hg_asm_unexpected_with(hg_assembler *a, const char *expected, const char *hint) {
    char got[80];
    if (a->token.kind == HG_TOKEN_BAD && !a->lexer.code) return false; /* has been reported */
    const char *foreign = hg_foreign_behind(&a->token, expected, a->lexer.text, a->lexer.length);
    if (a->token.kind == HG_TOKEN_BAD)
        hg_asm_error(a, a->lexer.code, &a->token, a->lexer.hint, "%s", a->lexer.message);
    else
        hg_asm_error(a, "S02", &a->token, foreign ? foreign : hint, "expected %s, got %s", expected,
                     hg_token_describe(&a->token, got));
    return false;
}

bool hg_asm_no_memory(hg_assembler *a) {
    a->out_of_memory = a->wrong.stop = true;
    return false;
}

/* ---- tokens ---- */

bool hg_asm_expect(hg_assembler *a, int kind, const char *expected) {
    return hg_asm_accept(a, kind) || hg_asm_unexpected(a, expected);
}

bool hg_asm_followed_by(const hg_assembler *a, char c) {
    const hg_lexer *l = &a->lexer;
    size_t at = l->at;
    while (at < l->length && (l->text[at] == ' ' || l->text[at] == '\t')) at++;
    return at < l->length && l->text[at] == c &&
           !(c == '=' && at + 1 < l->length && l->text[at + 1] == '=');
}

bool hg_asm_expect_end(hg_assembler *a) {
    return hg_asm_at_end(a) || hg_asm_unexpected(a, "end of line");
}

bool hg_asm_number(hg_assembler *a, const hg_token *token, uint32_t skip, uint64_t *value) {
    const char *code = hg_parse_uint(token->text + skip, token->length - skip, value);
    char got[80];
    if (!code) return true;
    if (code[2] == '3')
        hg_asm_error(a, code, token, NULL, "malformed number %s: expected an unsigned integer",
                     hg_token_describe(token, got));
    else
        hg_asm_error(a, code, token, NULL, "number %s is out of range: it must be below 2^64",
                     hg_token_describe(token, got));
    return false;
}

bool hg_asm_register(hg_assembler *a, const hg_token *name, uint32_t limit, uint8_t *number) {
    uint32_t value = 0;
    for (uint32_t i = 1; i < name->length && value < 100000; i++)
        value = value * 10 + (uint32_t)(name->text[i] - '0');
    char got[80];
    if (name->text[1] == '0' && name->length > 2) {
        hg_asm_error(a, "S02", name, "registers and predicates have no leading zeros",
                     "expected a register number, got %s", hg_token_describe(name, got));
        return false;
    }
    if (value >= limit) {
        hg_asm_error(a, "N07", name, NULL, "%s is out of range: %c0 to %c%u",
                     hg_token_describe(name, got), name->text[0], name->text[0],
                     (unsigned)limit - 1);
        return false;
    }
    *number = (uint8_t)value;
    hg_asm_take(a, limit == HG_MAX_PREDICATES, value);
    return true;
}

bool hg_asm_literal_bytes(hg_assembler *a, const hg_token *literal, hg_type type, uint8_t *bytes) {
    char message[160];
    const char *hint,
        *code = hg_parse_literal(literal->text, literal->length, type, bytes, message, &hint);
    if (code) hg_asm_error(a, code, literal, hint, "%s", message);
    return !code;
}
