/* Kernel IR text to tokens, and what reads one or two of them. A line is a statement; a comment
 * runs from ; to the end of the line.
 * Must not know: modules. */
#include "isa/program.h"
#include "kir/reader.h"
#include <stdio.h>
#include <string.h>

static bool is_digit_of(char c) { return c >= '0' && c <= '9'; }
static bool is_letter_of(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

void kir_reader_init(kir_reader *r, const char *text, size_t length, hg_diagnostics *diagnostics) {
    memset(r, 0, sizeof *r);
    r->what = "kernel IR";
    r->text = text;
    r->length = length;
    r->line = 1;
    r->diagnostics = diagnostics;
}

static kir_token make(const kir_reader *r, int kind, size_t start, size_t end) {
    return (kir_token){kind, r->line, (uint32_t)(start - r->line_start + 1),
                       (uint32_t)(end - start), r->text + start};
}

static kir_token read_quoted(kir_reader *r) {
    size_t start = r->at++;
    for (; r->at < r->length && r->text[r->at] != '\n'; r->at++) {
        if (r->text[r->at] == '"') {
            kir_token token = make(r, KIR_TOKEN_STRING, start, ++r->at);
            token.text++;
            token.length -= 2;
            return token;
        }
        if (r->text[r->at] == '\\' && r->at + 1 < r->length && r->text[r->at + 1] != '\n') r->at++;
    }
    return make(r, KIR_TOKEN_BAD, start, r->at);
}

void kir_next(kir_reader *r) {
    while (r->at < r->length &&
           (r->text[r->at] == ' ' || r->text[r->at] == '\t' || r->text[r->at] == '\r'))
        r->at++;
    if (r->at < r->length && r->text[r->at] == ';')
        while (r->at < r->length && r->text[r->at] != '\n') r->at++;
    if (r->at == r->length) {
        r->token = make(r, KIR_TOKEN_END, r->at, r->at);
        return;
    }
    size_t start = r->at;
    char c = r->text[start];
    if (c == '\n') {
        r->token = make(r, KIR_TOKEN_LINE, start, start + 1);
        r->line_start = ++r->at;
        r->line++;
        return;
    }
    if (c == '"') {
        r->token = read_quoted(r);
        return;
    }
    bool value = c == '%', named = is_letter_of(c) || is_digit_of(c) || value;
    r->at++;
    while (named && r->at < r->length &&
           (is_letter_of(r->text[r->at]) || is_digit_of(r->text[r->at])))
        r->at++;
    int kind = value             ? KIR_TOKEN_VALUE
               : is_letter_of(c) ? KIR_TOKEN_WORD
               : is_digit_of(c)  ? KIR_TOKEN_NUMBER
                                 : (unsigned char)c;
    r->token = make(r, kind, start, r->at);
    if (value) {
        r->token.text++;
        r->token.length--;
    }
}

/* ---- errors ---- */

bool kir_error(kir_reader *r, const kir_token *at, const char *format, ...) {
    if (r->failed) return false;
    r->failed = true;
    char message[240];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(message, sizeof message, format, args);
    va_end(args);
    hg_place place = {.line = at->line,
                      .column = at->column,
                      .length = at->length ? at->length : 1,
                      .instruction = HG_NONE};
    hg_diagnose(r->diagnostics, HG_SEVERITY_ERROR, "S02", place, NULL, "%s", message);
    (void)hg_fail(HG_ERROR_ISA, "%s, line %u, column %u: %s", r->what, (unsigned)at->line,
                  (unsigned)at->column, message);
    return false;
}

bool kir_no_memory(kir_reader *r) {
    if (!r->failed) (void)hg_fail_memory();
    r->failed = r->no_memory = true;
    return false;
}

bool kir_expected(kir_reader *r, const char *what) {
    const kir_token *t = &r->token;
    char given[64];
    size_t n = t->length < 40 ? t->length : 40;
    for (size_t i = 0; i < n; i++)
        given[i] = t->text[i] >= 32 && t->text[i] < 127 ? t->text[i] : '?';
    given[n] = 0;
    switch (t->kind) {
    case KIR_TOKEN_END: return kir_error(r, t, "expected %s, got the end of the text", what);
    case KIR_TOKEN_LINE: return kir_error(r, t, "expected %s, got the end of the line", what);
    case KIR_TOKEN_STRING: return kir_error(r, t, "expected %s, got a string", what);
    case KIR_TOKEN_BAD: return kir_error(r, t, "a string without its closing '\"'");
    default:
        return kir_error(r, t, "expected %s, got '%s%s%s'", what,
                         t->kind == KIR_TOKEN_VALUE ? "%" : "", given, n < t->length ? "..." : "");
    }
}

/* ---- small readers ---- */

bool kir_accept(kir_reader *r, int kind) {
    if (r->token.kind != kind) return false;
    kir_next(r);
    return true;
}

bool kir_expect(kir_reader *r, int kind, const char *what) {
    return kir_accept(r, kind) || kir_expected(r, what);
}

bool kir_is_word(const kir_reader *r, const char *word) {
    return r->token.kind == KIR_TOKEN_WORD && strlen(word) == r->token.length &&
           memcmp(word, r->token.text, r->token.length) == 0;
}

bool kir_accept_word(kir_reader *r, const char *word) {
    if (!kir_is_word(r, word)) return false;
    kir_next(r);
    return true;
}

bool kir_expect_word(kir_reader *r, const char *word) {
    char what[48];
    (void)snprintf(what, sizeof what, "'%s'", word);
    return kir_accept_word(r, word) || kir_expected(r, what);
}

bool kir_expect_line(kir_reader *r) {
    return r->token.kind == KIR_TOKEN_END || kir_expect(r, KIR_TOKEN_LINE, "the end of the line");
}

bool kir_read_number(kir_reader *r, uint64_t most, const char *what, uint64_t *n) {
    if (r->token.kind != KIR_TOKEN_NUMBER) return kir_expected(r, what);
    kir_token at = r->token;
    char message[160];
    const char *hint;
    uint8_t bytes[8];
    if (hg_parse_literal(at.text, at.length, HG_TYPE_U64, bytes, message, &hint))
        return kir_error(r, &at, "%s", message);
    *n = 0;
    for (int i = 0; i < 8; i++) *n |= (uint64_t)bytes[i] << (8 * i);
    if (*n > most)
        return kir_error(r, &at, "%s: %llu, at most %llu", what, (unsigned long long)*n,
                         (unsigned long long)most);
    kir_next(r);
    return true;
}

bool kir_read_choice(kir_reader *r, const kir_words *list, const char *what, uint8_t *choice) {
    uint32_t i = r->token.kind == KIR_TOKEN_WORD
                     ? kir_word_find(list, r->token.text, r->token.length)
                     : list->count;
    if (i == list->count) return kir_expected(r, what);
    *choice = (uint8_t)i;
    kir_next(r);
    return true;
}

bool kir_read_hg_type(kir_reader *r, uint8_t *type) {
    for (*type = 0; *type < HG_TYPE_COUNT; ++*type)
        if (kir_accept_word(r, hg_type_name((hg_type)*type))) return true;
    return kir_expected(r, "a type of Atlas");
}

bool kir_read_type(kir_reader *r, bool may_be_void, uint8_t *type) {
    for (*type = 0; *type < KIR_TYPE_COUNT; ++*type) {
        bool known = *type >= HG_TYPE_COUNT || kir_type_of((hg_type)*type) == *type;
        if (known && (*type != KIR_VOID || may_be_void) && kir_accept_word(r, kir_type_name(*type)))
            return true;
    }
    return kir_expected(r, may_be_void ? "a type or void" : "a type: bool, f32, f64, u8 to u4096");
}

/* Everything that a number or bits(0x…) is made of. */
static bool is_literal_byte(char c) {
    return is_letter_of(c) || is_digit_of(c) || c == '.' || c == '+' || c == '-' || c == '(' ||
           c == ')';
}

bool kir_read_literal(kir_reader *r, uint8_t type, uint8_t *bytes) {
    if (type == KIR_BOOL) {
        *bytes = kir_is_word(r, "true");
        return kir_accept_word(r, "true") || kir_accept_word(r, "false") ||
               kir_expected(r, "true or false");
    }
    kir_token at = r->token;
    if (at.kind != KIR_TOKEN_WORD && at.kind != KIR_TOKEN_NUMBER && at.kind != '-' &&
        at.kind != '.')
        return kir_expected(r, "a literal");
    size_t start = (size_t)(at.text - r->text), end = start;
    while (end < r->length && is_literal_byte(r->text[end])) end++;
    at.length = (uint32_t)(end - start);
    char message[160];
    const char *hint;
    if (hg_parse_literal(at.text, at.length, (hg_type)type, bytes, message, &hint))
        return kir_error(r, &at, "%s", message);
    r->at = end;
    kir_next(r);
    return true;
}

static int hex_of(char c) {
    if (is_digit_of(c)) return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool kir_read_string(kir_reader *r, const char **text) {
    kir_token t = r->token;
    if (t.kind != KIR_TOKEN_STRING) return kir_expected(r, "a string");
    char *copy = hg_arena_text(&r->module->arena, t.text, t.length), *to = copy;
    if (!copy) return kir_no_memory(r);
    for (uint32_t i = 0; i < t.length; i++) {
        if (t.text[i] != '\\') {
            *to++ = t.text[i];
        } else if (i + 3 < t.length && t.text[i + 1] == 'x' && hex_of(t.text[i + 2]) >= 0 &&
                   hex_of(t.text[i + 3]) >= 0) {
            *to++ = (char)(hex_of(t.text[i + 2]) << 4 | hex_of(t.text[i + 3]));
            i += 3;
        } else if (i + 1 < t.length && (t.text[i + 1] == '"' || t.text[i + 1] == '\\')) {
            *to++ = t.text[++i];
        } else {
            return kir_error(r, &t, "unknown escape in a string: \\\", \\\\ and \\xNN are known");
        }
        if (!to[-1]) return kir_error(r, &t, "a string cannot hold a zero byte");
    }
    *to = 0;
    *text = copy;
    kir_next(r);
    return true;
}
