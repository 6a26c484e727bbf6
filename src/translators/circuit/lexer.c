/* Tokens of the circuit language (6.2): white space and `//` comments go between them. Must not
 * know: the grammar. */
#include "base/decimal.h"
#include "translators/circuit/circuit_internal.h"

#include <string.h>

void hg_circuit_lexer_init(circuit_lexer *lexer, const char *text, size_t length) {
    *lexer = (circuit_lexer){.text = text, .length = length, .line = 1};
    lexer->at = lexer->line_start = hg_byte_order_mark(text, length);
}

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* Moves behind white space and comments; false before a byte of a comment that is not UTF-8 text.
 */
static bool skip_space(circuit_lexer *l) {
    bool comment = false;
    while (l->at < l->length) {
        char c = l->text[l->at];
        if (c == '\n') {
            comment = false;
            l->line++;
            l->line_start = ++l->at;
        } else if (comment) {
            size_t n = hg_utf8_length(l->text + l->at, l->length - l->at);
            if (!n || c == 0) return false;
            l->at += n;
        } else if (c == ' ' || c == '\t' || c == '\r') {
            l->at++;
        } else if (c == '/' && l->at + 1 < l->length && l->text[l->at + 1] == '/') {
            comment = true;
        } else {
            return true;
        }
    }
    return true;
}

static bool follows(const circuit_lexer *l, const char *text) {
    size_t n = strlen(text);
    return l->length - l->at >= n && memcmp(l->text + l->at, text, n) == 0;
}

/* Kind and length of the token at l->at. */
static int scan(const circuit_lexer *l, size_t *length) {
    size_t end = l->at;
    char c = l->text[end];
    if (is_letter(c)) {
        while (end < l->length && is_letter(l->text[end])) end++;
        *length = end - l->at;
        return CIRCUIT_WORD;
    }
    if (is_digit(c)) {
        while (end < l->length && is_digit(l->text[end])) end++;
        *length = end - l->at;
        return CIRCUIT_NUMBER;
    }
    static const struct {
        const char *text;
        int kind;
    } LONG[] = {{"<->", CIRCUIT_EXCHANGE},
                {"->", CIRCUIT_ARROW},
                {"..", CIRCUIT_DOTS},
                {"||", CIRCUIT_PARALLEL},
                {"|", CIRCUIT_PARALLEL}};
    for (size_t i = 0; i < HG_COUNT_OF(LONG); i++)
        if (follows(l, LONG[i].text)) {
            *length = strlen(LONG[i].text);
            return LONG[i].kind;
        }
    if (c && strchr("@.()[],^~+-", c)) {
        *length = 1;
        return c;
    }
    *length = hg_utf8_length(l->text + end, l->length - end);
    if (*length) return CIRCUIT_BAD;
    *length = 1;
    return CIRCUIT_NOT_UTF8;
}

circuit_token hg_circuit_next(circuit_lexer *l) {
    bool clean = skip_space(l);
    size_t length = clean ? 0 : 1;
    int kind = !clean ? CIRCUIT_NOT_UTF8 : l->at == l->length ? CIRCUIT_END : scan(l, &length);
    circuit_token token = {.kind = kind,
                           .line = l->line,
                           .column = (uint32_t)(l->at - l->line_start) + 1,
                           .length = (uint32_t)length,
                           .at = l->at,
                           .text = l->text + l->at};
    l->at += length;
    return token;
}
