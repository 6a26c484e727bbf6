/* Text to tokens (language.md 1 and 2): characters, comments, continuation lines, the limit of a
 * line.
 * Must not know: instructions, directives, programs. */
#include "isa/text_internal.h"

#include <stdio.h>
#include <string.h>

/* ---- identifiers ---- */

bool hg_looks_like_register(const char *text, size_t length, char letter) {
    if (length < 2 || text[0] != letter) return false;
    for (size_t i = 1; i < length; i++)
        if (!is_digit(text[i])) return false;
    return true;
}

/* ---- tokens ---- */

void hg_lexer_init(hg_lexer *lexer, const char *text, size_t length) {
    *lexer = (hg_lexer){.text = text, .length = length, .line = 1, .statement_line = 1};
    lexer->at = lexer->line_start = lexer->statement_start = lexer->last_end = hg_byte_order_mark(
        text, length);
}

const char *hg_token_describe(const hg_token *token, char buffer[80]) {
    int shown = token->length > 48 ? 48 : (int)token->length;
    switch (token->kind) {
    case HG_TOKEN_END_OF_FILE: return "end of file";
    case HG_TOKEN_END_OF_LINE: return "end of line";
    case HG_TOKEN_STRING: return "a string";
    case HG_TOKEN_BAD: return "a bad character";
    case HG_TOKEN_NAME:
    case HG_TOKEN_NUMBER:
        snprintf(buffer, 80, "'%.*s'%s", shown, token->text, token->length > 48 ? "..." : "");
        return buffer;
    default: snprintf(buffer, 80, "'%.*s'", shown, token->text); return buffer;
    }
}

static hg_token make(const hg_lexer *l, int kind, size_t start, size_t end) {
    return (hg_token){.kind = kind,
                      .line = l->line,
                      .column = (uint32_t)(start - l->line_start + 1),
                      .length = (uint32_t)(end - start),
                      .glued = start == l->last_end && l->last != 0,
                      .text = l->text + start};
}

static size_t end_of_line(const hg_lexer *l) {
    const char *end = memchr(l->text + l->at, '\n', l->length - l->at);
    return end ? (size_t)(end - l->text) : l->length;
}

/* A token that is an error at [start, end); the rest of the line is skipped where nothing behind it
 * can be trusted. */
static hg_token bad(hg_lexer *l, size_t start, size_t end, bool skip_line, const char *code,
                    const char *message, const char *hint) {
    hg_token token = make(l, HG_TOKEN_BAD, start, end);
    l->code = code;
    l->message = message;
    l->hint = hint;
    l->at = end;
    if (skip_line) l->at = end_of_line(l);
    l->last = HG_TOKEN_BAD;
    l->last_end = l->at;
    return token;
}

static bool too_long(const hg_lexer *l, size_t end) {
    return end - l->statement_start > HG_MAX_LINE_BYTES;
}

static hg_token bad_length(hg_lexer *l) {
    hg_token token = bad(l, l->at, l->at, true, "S05",
                         "line longer than 1 MiB with its continuations", NULL);
    token.line = l->statement_line;
    token.column = token.length = 1;
    l->statement_start = l->at; /* said once */
    return token;
}

/* Skips a comment. False, at the offending byte, when it is not UTF-8. */
static bool skip_comment(hg_lexer *l, size_t *offender) {
    size_t end = end_of_line(l), at = l->at;
    while (at < end) {
        size_t n = hg_utf8_length(l->text + at, end - at);
        if (!n) {
            *offender = at;
            return false;
        }
        at += n;
    }
    if (end < l->length && end > l->at && l->text[end - 1] == '\r') end--;
    l->at = end;
    return true;
}

/* 0, or the bytes of the line end at l->at. */
static size_t line_end_bytes(const hg_lexer *l) {
    if (l->text[l->at] == '\n') return 1;
    return l->text[l->at] == '\r' && l->at + 1 < l->length && l->text[l->at + 1] == '\n' ? 2 : 0;
}

static void start_line(hg_lexer *l, size_t bytes) {
    l->at += bytes;
    l->line++;
    l->line_start = l->last_end = l->at;
}

static hg_token end_of_statement(hg_lexer *l, int kind, size_t bytes) {
    hg_token token = make(l, kind, l->last_end, l->last_end);
    token.length = 1;
    if (bytes) start_line(l, bytes);
    l->statement_start = l->at;
    l->statement_line = l->line;
    l->last = 0;
    l->statement = false;
    l->open = 0;
    return token;
}

/* Whether a statement goes on in the next line: inside brackets, and behind an operator. */
static bool goes_on(const hg_lexer *l) {
    if (l->last == ',') return true;
    if (!l->statement || !l->last) return false;
    bool sign = l->last < 128 && strchr("+-*/%&|^~!<>=?:", l->last);
    return l->open || sign || (l->last >= HG_TOKEN_SHIFT_LEFT && l->last <= HG_TOKEN_RANGE);
}

/* Stops at the length of the longest number-like word: digits, letters, and the sign of an
 * exponent. */
static size_t number_end(const hg_lexer *l) {
    size_t at = l->at;
    bool hex = at + 1 < l->length && l->text[at] == '0' && l->text[at + 1] == 'x';
    for (at++; at < l->length; at++) {
        char c = l->text[at], before = l->text[at - 1];
        bool exponent = hex ? before == 'p' || before == 'P' : before == 'e' || before == 'E';
        bool sign = (c == '+' || c == '-') && exponent && at + 1 < l->length &&
                    is_digit(l->text[at + 1]);
        if (!is_name_byte(c) && !sign) break;
    }
    return at;
}

/* Length of the escape at text[at] = '\\', 0 when it is not an escape. */
static size_t escape_length(const hg_lexer *l, size_t at) {
    char c = at + 1 < l->length ? l->text[at + 1] : 0;
    if (c == '"' || c == '\\' || c == 'n' || c == 't') return 2;
    bool hex = c == 'x' && at + 3 < l->length && hex_digit(l->text[at + 2]) >= 0 &&
               hex_digit(l->text[at + 3]) >= 0;
    return hex ? 4 : 0;
}

static hg_token read_string(hg_lexer *l) {
    size_t start = l->at, at = start + 1;
    while (at < l->length && l->text[at] != '"') {
        unsigned char c = (unsigned char)l->text[at];
        size_t n = c == '\\' ? escape_length(l, at) : hg_utf8_length(l->text + at, l->length - at);
        if (c == '\n' || c == '\r') break;
        if (c == '\\' && !n)
            return bad(l, at, at + 1, true, "S02", "unknown escape in a string",
                       "the escapes are \\\" \\\\ \\n \\t \\xNN");
        if (!n) return bad(l, at, at + 1, true, "S01", "text is not UTF-8", NULL);
        if ((c < 32 && c != '\t') || c == 127)
            return bad(l, at, at + 1, true, "S02", "control character in a string",
                       "write it as \\xNN");
        at += n;
    }
    if (at >= l->length || l->text[at] != '"')
        return bad(l, start, start + 1, true, "S02", "string without closing '\"'", NULL);
    l->at = at + 1;
    return make(l, HG_TOKEN_STRING, start, l->at);
}

/* An operator of two characters, or 0. */
static int double_operator(char c, char next) {
    switch (c) {
    case '<': return next == '<' ? HG_TOKEN_SHIFT_LEFT : next == '=' ? HG_TOKEN_LESS_EQUAL : 0;
    case '>': return next == '>' ? HG_TOKEN_SHIFT_RIGHT : next == '=' ? HG_TOKEN_GREATER_EQUAL : 0;
    case '=': return next == '=' ? HG_TOKEN_EQUAL : 0;
    case '!': return next == '=' ? HG_TOKEN_NOT_EQUAL : 0;
    case '&': return next == '&' ? HG_TOKEN_AND : 0;
    case '|': return next == '|' ? HG_TOKEN_OR : 0;
    default: return 0;
    }
}

static hg_token read_token(hg_lexer *l) {
    size_t start = l->at;
    char c = l->text[start];
    bool name_expected = l->last == 0 || (l->last == '@' && l->last_end == start);
    bool point_digit = c == '.' && start + 1 < l->length && is_digit(l->text[start + 1]);
    if (is_digit(c) || (point_digit && !name_expected)) {
        l->at = number_end(l);
        return make(l, HG_TOKEN_NUMBER, start, l->at);
    }
    if (is_name_start(c)) {
        while (l->at < l->length && is_name_byte(l->text[l->at])) l->at++;
        bool range = l->statement && l->at == start + 2 && c == '.' && l->text[start + 1] == '.';
        return make(l, range ? HG_TOKEN_RANGE : HG_TOKEN_NAME, start, l->at);
    }
    if (c == '"') return read_string(l);
    if (c != 0 && (strchr(",:[]()+-*=@/%<>&|^~!{}", c) || (c == '?' && l->statement))) {
        int twice = start + 1 < l->length ? double_operator(c, l->text[start + 1]) : 0;
        l->at += twice ? 2 : 1;
        return make(l, twice ? twice : c, start, l->at);
    }
    size_t n = hg_utf8_length(l->text + start, l->length - start);
    if (!n) return bad(l, start, start + 1, false, "S01", "text is not UTF-8", NULL);
    const char *hint = n > 1 ? "characters outside ASCII may stand only in comments and strings"
                       : c == '#' ? "a comment begins with ';'"
                                  : NULL;
    return bad(l, start, start + n, false, "S02", "unexpected character", hint);
}

hg_token hg_lexer_next(hg_lexer *l) {
    for (;;) {
        while (l->at < l->length && (l->text[l->at] == ' ' || l->text[l->at] == '\t')) l->at++;
        size_t offender;
        if (l->at < l->length && l->text[l->at] == ';' && !skip_comment(l, &offender))
            return bad(l, offender, offender + 1, true, "S01", "text is not UTF-8", NULL);
        if (too_long(l, l->at)) return bad_length(l);
        if (l->at == l->length) return end_of_statement(l, HG_TOKEN_END_OF_FILE, 0);
        size_t bytes = line_end_bytes(l);
        if (!bytes) break;
        if (!goes_on(l)) return end_of_statement(l, HG_TOKEN_END_OF_LINE, bytes);
        start_line(l, bytes);
    }
    hg_token token = read_token(l);
    if (token.kind == HG_TOKEN_BAD) return token;
    if (too_long(l, l->at)) return bad_length(l);
    if (token.kind == '(' || token.kind == '[') l->open++;
    if ((token.kind == ')' || token.kind == ']') && l->open) l->open--;
    l->last = token.kind;
    l->last_end = l->at;
    return token;
}
