/* The words of a text, and what it declares: read by tokens, so that a text with mistakes has them
 * too.
 * Must not know: the protocol, what statements do. */
#include "lsp.h"
#include "isa/text_internal.h"
#include <string.h>

/* Kinds of symbols of the protocol. */
enum { MODULE = 2, FUNCTION = 12, VARIABLE = 13, CONSTANT = 14, ARRAY = 18, KEY = 20, TYPE = 26 };

static const struct {
    const char *word, *kind;
    uint32_t number;
    bool several; /* names with commas between */
} DECLARES[] = {{".param", "parameter", VARIABLE, false},
                {".scratch", "scratch array", ARRAY, false},
                {".data", "table", ARRAY, false},
                {".shared", "shared array", ARRAY, false},
                {".private", "private array", ARRAY, false},
                {".const", "constant", CONSTANT, false},
                {".type", "type", TYPE, false},
                {".macro", "macro", FUNCTION, false},
                {".program", "program", MODULE, false},
                {".reg", "register", VARIABLE, true},
                {".for", "constant of a repetition", CONSTANT, false},
                {".input", "input", ARRAY, false},
                {".constant", "constant", ARRAY, false},
                {".view", "view", ARRAY, false},
                {".extent", "extent", CONSTANT, true},
                {"let", "variable", VARIABLE, true},
                {"for", "variable of a loop", VARIABLE, false},
                {"fn", "function", FUNCTION, false}};

enum { MOST_TOKENS = 64 }; /* of a statement that are looked at */

typedef struct statement {
    hg_token tokens[MOST_TOKENS];
    uint32_t count;
} statement;

/* False: the text is over. */
static bool read_statement(hg_lexer *lexer, statement *s) {
    s->count = 0;
    for (;;) {
        hg_token t = hg_lexer_next(lexer);
        if (t.kind == HG_TOKEN_END_OF_FILE) return s->count != 0;
        if (t.kind == HG_TOKEN_END_OF_LINE) {
            if (s->count) return true;
            continue;
        }
        if (s->count < MOST_TOKENS) s->tokens[s->count++] = t;
    }
}

typedef struct finder {
    const char *text;
    size_t length;
    lsp_symbols *symbols;
    bool good;
} finder;

static void add(finder *f, const hg_token *name, const char *kind, uint32_t number) {
    size_t from = (size_t)(name->text - f->text), line = from;
    while (line && f->text[line - 1] != '\n') line--;
    const char *feed = memchr(f->text + line, '\n', f->length - line);
    size_t end = feed ? (size_t)(feed - f->text) : f->length;
    if (end > line && f->text[end - 1] == '\r') end--;
    lsp_symbol *symbol = f->good ? hg_vec_push(f->symbols) : NULL;
    f->good = symbol != NULL;
    if (symbol)
        *symbol = (lsp_symbol){.from = from,
                               .length = name->length,
                               .line = line,
                               .line_length = end - line,
                               .kind = kind,
                               .number = number};
}

static bool is_register(const hg_token *t) {
    uint32_t i = 1;
    while (i < t->length && t->text[i] >= '0' && t->text[i] <= '9') i++;
    return t->length > 1 && i == t->length && (t->text[0] == 'r' || t->text[0] == 'p');
}

/* `.param r1 x …`, `.reg a, b f32`, `let q, r = …`. */
static void add_declared(finder *f, const statement *s, uint32_t at, uint32_t row) {
    const char *kind = DECLARES[row].kind;
    if (at + 1 < s->count && is_register(&s->tokens[at]) && s->tokens[at + 1].kind == HG_TOKEN_NAME)
        at++;
    for (; at < s->count && s->tokens[at].kind == HG_TOKEN_NAME; at += 2) {
        add(f, &s->tokens[at], kind, DECLARES[row].number);
        if (!DECLARES[row].several || at + 1 >= s->count || s->tokens[at + 1].kind != ',') return;
    }
}

/* `.lanes [i < rows, j < cols]`: what stands in front of a sign <. */
static void add_coordinates(finder *f, const statement *s, uint32_t at) {
    if (at >= s->count || s->tokens[at].kind != '[') return;
    for (; at + 2 < s->count; at++) {
        int before = s->tokens[at].kind;
        const hg_token *t = &s->tokens[at + 1];
        if ((before == '[' || before == ',') && t->kind == HG_TOKEN_NAME && t[1].kind == '<')
            add(f, t, "coordinate of the lane", VARIABLE);
    }
}

/* `fn f[T](a T, s shared f32 [4]) -> T {`: what stands first in the brackets, and behind commas. */
static void add_parameters(finder *f, const statement *s, uint32_t at) {
    bool types = false, first = false;
    uint32_t depth = 0;
    for (; at < s->count && s->tokens[at].kind != '{'; at++) {
        const hg_token *t = &s->tokens[at];
        bool opens = t->kind == '(' || t->kind == '[';
        if (opens && !depth) types = t->kind == '[';
        if (first && t->kind == HG_TOKEN_NAME)
            add(f, t, types ? "type of a function" : "parameter of a function",
                types ? TYPE : VARIABLE);
        first = (opens && !depth) || (t->kind == ',' && depth == 1);
        depth += opens;
        depth -= depth && (t->kind == ')' || t->kind == ']');
    }
}

/* `q, r = softmax x=scores` of an array graph. */
static void add_values(finder *f, const statement *s) {
    uint32_t names = 0;
    while (names < s->count && s->tokens[names].kind == HG_TOKEN_NAME) {
        uint32_t behind = names + 1;
        if (behind >= s->count || (s->tokens[behind].kind != ',' && s->tokens[behind].kind != '='))
            return;
        names = behind + 1;
        if (s->tokens[behind].kind == '=') break;
    }
    if (names < 2 || s->tokens[names - 1].kind != '=') return;
    for (uint32_t i = 0; i < names; i += 2) add(f, &s->tokens[i], "value", ARRAY);
}

bool lsp_find_symbols(const char *text, size_t length, lsp_symbols *symbols) {
    finder f = {text, length, symbols, true};
    hg_lexer lexer;
    statement s;
    bool graph = false;
    hg_lexer_init(&lexer, text, length);
    while (f.good && read_statement(&lexer, &s)) {
        uint32_t at = 0;
        graph = graph || hg_token_is(&s.tokens[0], ".graph");
        for (;
             at + 1 < s.count && s.tokens[at].kind == HG_TOKEN_NAME && s.tokens[at + 1].kind == ':';
             at += 2)
            add(&f, &s.tokens[at], "label", KEY);
        uint32_t row = 0;
        while (at < s.count && row < HG_COUNT_OF(DECLARES) &&
               !hg_token_is(&s.tokens[at], DECLARES[row].word))
            row++;
        if (at < s.count && row < HG_COUNT_OF(DECLARES)) add_declared(&f, &s, at + 1, row);
        if (at < s.count && hg_token_is(&s.tokens[at], "fn")) add_parameters(&f, &s, at + 2);
        if (at < s.count && hg_token_is(&s.tokens[at], ".lanes")) add_coordinates(&f, &s, at + 1);
        if (graph && row == HG_COUNT_OF(DECLARES)) add_values(&f, &s);
    }
    return f.good;
}

/* ---- words ---- */

static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '$';
}

bool lsp_word_at(const char *text, size_t length, size_t offset, size_t *from, size_t *to) {
    *from = *to = offset;
    while (*from && is_word(text[*from - 1])) --*from;
    while (*to < length && is_word(text[*to])) ++*to;
    return *to > *from;
}

static bool is_named(const lsp_symbol *s, const char *text, size_t from, size_t to) {
    return s->length == to - from && memcmp(text + s->from, text + from, to - from) == 0;
}

const lsp_symbol *lsp_declaration(const lsp_symbols *symbols, const char *text, size_t from,
                                  size_t to) {
    const lsp_symbol *found = NULL;
    for (uint64_t i = 0; i < symbols->count; i++) {
        const lsp_symbol *s = &symbols->data[i];
        if (is_named(s, text, from, to) && (!found || s->from <= from)) found = s;
    }
    return found;
}
