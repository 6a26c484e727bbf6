/* What an editor asks of a place in a text: hover, completion, definition, outline, layout. */
#include "lsp.h"
#include "reference.h"
#include "isa/text_internal.h"
#include <stdlib.h>
#include <string.h>

typedef struct place {
    const char *text;
    size_t length;
    size_t from, to; /* of the word */
    bool utf8;
} place;

static bool find_word(const lsp_document *document, size_t offset, bool utf8, place *p) {
    *p = (place){document->text.data ? document->text.data : "", document->text.length, 0, 0, utf8};
    return lsp_word_at(p->text, p->length, offset, &p->from, &p->to);
}

/* Whether the word is the first of its statement, labels not counted. */
static bool is_first(const place *p) {
    size_t at = p->from;
    while (at && (p->text[at - 1] == ' ' || p->text[at - 1] == '\t')) at--;
    return !at || p->text[at - 1] == '\n' || p->text[at - 1] == ':' || p->text[at - 1] == '{' ||
           p->text[at - 1] == '}';
}

static void add_word_range(hg_json *json, const place *p) {
    hg_json_key(json, "range");
    lsp_add_range(json, p->text, p->length, p->from, p->to, p->utf8);
}

/* ---- hover ---- */

static void add_markdown(hg_json *json, const hg_text *code, const char *below) {
    hg_text text = {0};
    hg_text_addf(&text, "```atlas\n%.*s\n```", (int)code->length, code->data ? code->data : "");
    if (below) hg_text_addf(&text, "\n%s", below);
    hg_json_key(json, "contents");
    hg_json_begin_object(json);
    hg_json_add_text(json, "kind", "markdown");
    hg_json_add_text(json, "value", text.data ? text.data : "");
    hg_json_end_object(json);
    hg_text_free(&text);
}

static bool describe_word(const lsp_document *document, const place *p, hg_text *out) {
    char word[64], base[64];
    size_t length = p->to - p->from;
    if (length >= sizeof word) return false;
    memcpy(word, p->text + p->from, length);
    word[length] = '\0';
    const char *page = lsp_is_graph(document) ? "graph" : "language";
    if (word[0] == '.') return cli_reference_rows(page, word, out);
    if (cli_reference_instruction(word, out, base)) return true;
    if (is_first(p)) return cli_reference_rows(page, word, out);
    hg_idname id = HG_ID_COUNT;
    if (!hg_idname_from_text(word, length, &id))
        for (int i = 0; i < HG_SPECIAL_COUNT; i++)
            if (strcmp(hg_specials[i].text, word) == 0) id = (hg_idname)hg_specials[i].id;
    if (id == HG_ID_COUNT) return false;
    hg_text_addf(out, "%s %s", hg_idname_name(id), hg_type_name(hg_idname_type(id)));
    return true;
}

void lsp_hover(hg_json *json, const lsp_document *document, size_t offset, bool utf8) {
    place p;
    lsp_symbols symbols = {0};
    hg_text text = {0};
    const lsp_symbol *symbol = NULL;
    if (find_word(document, offset, utf8, &p) && lsp_find_symbols(p.text, p.length, &symbols))
        symbol = lsp_declaration(&symbols, p.text, p.from, p.to);
    if (symbol) hg_text_add(&text, p.text + symbol->line, symbol->line_length);
    if (symbol || (p.to > p.from && describe_word(document, &p, &text))) {
        while (text.length && text.data[text.length - 1] == '\n') text.length--;
        hg_json_begin_object(json);
        add_markdown(json, &text, symbol ? symbol->kind : NULL);
        add_word_range(json, &p);
        hg_json_end_object(json);
    } else {
        hg_json_null(json);
    }
    hg_text_free(&text);
    hg_vec_free(&symbols);
}

/* ---- completion ---- */

/* CompletionItemKind of the protocol. */
enum {
    ITEM_FUNCTION = 3,
    ITEM_VARIABLE = 6,
    ITEM_KEYWORD = 14,
    ITEM_CONSTANT = 21,
    ITEM_TYPE = 25
};

typedef struct list {
    hg_json *json;
    const place *at;
    size_t typed; /* bytes of the word before the cursor */
} list;

static void add_item(list *l, const char *label, size_t length, uint32_t kind, const char *detail) {
    if (length < l->typed || memcmp(label, l->at->text + l->at->from, l->typed) != 0) return;
    hg_json_begin_object(l->json);
    hg_json_key(l->json, "label");
    hg_json_string(l->json, label, length);
    hg_json_add_u64(l->json, "kind", kind);
    if (detail) hg_json_add_text(l->json, "detail", detail);
    hg_json_key(l->json, "textEdit");
    hg_json_begin_object(l->json);
    add_word_range(l->json, l->at);
    hg_json_key(l->json, "newText");
    hg_json_string(l->json, label, length);
    hg_json_end_object(l->json);
    hg_json_end_object(l->json);
}

/* "add", and once there is a point "add.f32": a list of all forms with all types would be long. */
static void add_instructions(list *l) {
    const char *typed = l->at->text + l->at->from, *last = NULL;
    for (int i = 0; i < HG_OP_COUNT; i++) {
        const hg_op_info *op = hg_op_get((hg_op)i);
        size_t length = strlen(op->text);
        if (last && strcmp(last, op->text) == 0) continue;
        last = op->text;
        add_item(l, op->text, length, ITEM_FUNCTION, op->doc);
        if (l->typed <= length || typed[length] != '.' || memcmp(typed, op->text, length) != 0)
            continue;
        for (uint32_t t = 0; t < HG_TYPE_COUNT; t++) {
            hg_text form = {0};
            if (!hg_op_allows_type((hg_op)i, (hg_type)t)) continue;
            hg_text_addf(&form, "%s.%s", op->text, hg_type_name((hg_type)t));
            if (form.data) add_item(l, form.data, form.length, ITEM_FUNCTION, op->doc);
            hg_text_free(&form);
        }
    }
}

static void add_directives(list *l, bool graph) {
    static const char *const PROGRAM[] = {".atlas", ".program", ".param", ".scratch", ".data",
                                          ".lanes", ".grid",    ".block", ".shared",  ".private",
                                          ".entry", ".flag",    ".meta",  ".const",   ".reg",
                                          ".name",  ".type",    ".macro", ".rept",    ".for",
                                          ".if",    ".elif",    ".else",  ".end",     ".include"};
    static const char *const GRAPH[] = {".graph",    ".name", ".extent",  ".input",
                                        ".constant", ".view", ".program", ".output"};
    const char *const *words = graph ? GRAPH : PROGRAM;
    size_t count = graph ? HG_COUNT_OF(GRAPH) : HG_COUNT_OF(PROGRAM);
    for (size_t i = 0; i < count; i++) add_item(l, words[i], strlen(words[i]), ITEM_KEYWORD, NULL);
}

static void add_statements(list *l) {
    static const char *const WORDS[] = {"let",  "if",    "else",     "while",  "for",
                                        "loop", "break", "continue", "return", "fn"};
    for (size_t i = 0; i < HG_COUNT_OF(WORDS); i++)
        add_item(l, WORDS[i], strlen(WORDS[i]), ITEM_KEYWORD, NULL);
}

static void add_symbols(list *l, const lsp_symbols *symbols, bool first, bool label) {
    for (uint64_t i = 0; i < symbols->count; i++) {
        const lsp_symbol *s = &symbols->data[i];
        bool is_label = strcmp(s->kind, "label") == 0, is_macro = strcmp(s->kind, "macro") == 0,
             is_called = is_macro || strcmp(s->kind, "function") == 0;
        if (label ? !is_label : first ? !is_called : is_label || is_macro) continue;
        uint64_t before = 0;
        while (before < i && (symbols->data[before].length != s->length ||
                              memcmp(l->at->text + symbols->data[before].from,
                                     l->at->text + s->from, s->length) != 0))
            before++;
        if (before == i && s->from != l->at->from)
            add_item(l, l->at->text + s->from, s->length, is_called ? ITEM_FUNCTION : ITEM_VARIABLE,
                     s->kind);
    }
}

static void add_names(list *l) {
    for (int i = 0; i < HG_SPECIAL_COUNT; i++)
        add_item(l, hg_specials[i].text, strlen(hg_specials[i].text), ITEM_CONSTANT,
                 hg_idname_name((hg_idname)hg_specials[i].id));
    for (uint32_t i = 0; i < HG_ID_COUNT; i++)
        add_item(l, hg_idname_name((hg_idname)i), strlen(hg_idname_name((hg_idname)i)),
                 ITEM_CONSTANT, hg_type_name(hg_idname_type((hg_idname)i)));
    for (uint32_t t = 0; t < HG_TYPE_COUNT; t++)
        add_item(l, hg_type_name((hg_type)t), strlen(hg_type_name((hg_type)t)), ITEM_TYPE, NULL);
}

void lsp_complete(hg_json *json, const lsp_document *document, size_t offset, bool utf8) {
    place p;
    lsp_symbols symbols = {0};
    (void)find_word(document, offset, utf8, &p);
    list l = {json, &p, offset - p.from};
    bool label = p.from && p.text[p.from - 1] == '@', first = is_first(&p);
    hg_json_begin_array(json);
    if (lsp_find_symbols(p.text, p.length, &symbols)) add_symbols(&l, &symbols, first, label);
    if (!label && l.typed && p.text[p.from] == '.') {
        add_directives(&l, lsp_is_graph(document));
    } else if (!label && (first || lsp_is_graph(document))) {
        add_instructions(&l);
        if (!lsp_is_graph(document)) add_statements(&l);
        if (!l.typed) add_directives(&l, lsp_is_graph(document));
    } else if (!label) {
        add_names(&l);
    }
    hg_json_end_array(json);
    hg_vec_free(&symbols);
}

/* ---- definition ---- */

static void add_location(hg_json *json, const char *uri, const char *text, size_t length,
                         const lsp_symbol *s, bool utf8) {
    hg_json_begin_object(json);
    hg_json_add_text(json, "uri", uri);
    hg_json_key(json, "range");
    lsp_add_range(json, text, length, s ? s->from : 0, s ? s->from + s->length : 0, utf8);
    hg_json_end_object(json);
}

enum { MOST_DEEP = 8 }; /* files in files that are looked into */

typedef struct search {
    hg_json *json;
    const cli *c;
    const place *word;
    bool utf8;
} search;

static bool find_in_files(const search *s, const char *from, const char *text, size_t length,
                          uint32_t depth);

/* A file that a text names: whether the word is declared in it, or in a file that it names. word
 * NULL: it is the file that is wanted. */
static bool find_in_file(const search *s, const char *from, const hg_token *name, bool itself,
                         uint32_t depth) {
    cli resolving = {.file = from};
    resolving.include_folders.data = s->c->include_folders.data;
    resolving.include_folders.count = s->c->include_folders.count;
    hg_assemble_options options = cli_assembling(&resolving);
    hg_source source = {.size = sizeof source};
    hg_text path = {0}, uri = {0};
    lsp_symbols symbols = {0};
    bool found = false;
    hg_text_add(&path, name->text + 1, name->length - 2);
    if (path.data && options.resolve(&resolving, from, path.data, &source) == HG_OK) {
        const char *text = source.bytes ? source.bytes : "";
        const lsp_symbol *symbol = NULL;
        char *real = realpath(source.name, NULL);
        lsp_uri(&uri, real ? real : source.name);
        free(real);
        if (!itself && lsp_find_symbols(text, source.length, &symbols))
            for (uint64_t i = 0; i < symbols.count && !symbol; i++)
                if (symbols.data[i].length == s->word->to - s->word->from &&
                    memcmp(text + symbols.data[i].from, s->word->text + s->word->from,
                           symbols.data[i].length) == 0)
                    symbol = &symbols.data[i];
        found = itself || symbol;
        if (found && uri.data)
            add_location(s->json, uri.data, text, source.length, symbol, s->utf8);
        else if (depth < MOST_DEEP)
            found = find_in_files(s, source.name, text, source.length, depth + 1);
        options.release(&resolving, &source);
    }
    hg_text_free(&path);
    hg_text_free(&uri);
    hg_vec_free(&symbols);
    return found;
}

static bool find_in_files(const search *s, const char *from, const char *text, size_t length,
                          uint32_t depth) {
    hg_lexer lexer;
    bool include = false, found = false;
    hg_lexer_init(&lexer, text, length);
    for (hg_token t = hg_lexer_next(&lexer); t.kind != HG_TOKEN_END_OF_FILE && !found;
         t = hg_lexer_next(&lexer)) {
        if (include && t.kind == HG_TOKEN_STRING) {
            size_t at = (size_t)(t.text - text);
            bool itself = !depth && s->word->from >= at && s->word->from < at + t.length;
            if (itself || s->word->to > s->word->from)
                found = find_in_file(s, from, &t, itself, depth);
        }
        include = hg_token_is(&t, ".include");
    }
    return found;
}

void lsp_define(hg_json *json, const cli *c, const lsp_document *document, size_t offset,
                bool utf8) {
    place p;
    lsp_symbols symbols = {0};
    const lsp_symbol *symbol = NULL;
    bool word = find_word(document, offset, utf8, &p);
    if (word && lsp_find_symbols(p.text, p.length, &symbols))
        symbol = lsp_declaration(&symbols, p.text, p.from, p.to);
    search s = {json, c, &p, utf8};
    if (symbol)
        add_location(json, document->uri, p.text, p.length, symbol, utf8);
    else if (!find_in_files(&s, document->path ? document->path : "", p.text, p.length, 0))
        hg_json_null(json);
    hg_vec_free(&symbols);
}

/* ---- outline and layout ---- */

void lsp_outline(hg_json *json, const lsp_document *document, bool utf8) {
    const char *text = document->text.data ? document->text.data : "";
    lsp_symbols symbols = {0};
    hg_json_begin_array(json);
    bool good = lsp_find_symbols(text, document->text.length, &symbols);
    for (uint64_t i = 0; good && i < symbols.count; i++) {
        const lsp_symbol *s = &symbols.data[i];
        hg_json_begin_object(json);
        hg_json_key(json, "name");
        hg_json_string(json, text + s->from, s->length);
        hg_json_add_text(json, "detail", s->kind);
        hg_json_add_u64(json, "kind", s->number);
        hg_json_key(json, "range");
        lsp_add_range(json, text, document->text.length, s->line, s->line + s->line_length, utf8);
        hg_json_key(json, "selectionRange");
        lsp_add_range(json, text, document->text.length, s->from, s->from + s->length, utf8);
        hg_json_end_object(json);
    }
    hg_json_end_array(json);
    hg_vec_free(&symbols);
}

void lsp_format(hg_json *json, const lsp_document *document, bool utf8) {
    const char *text = document->text.data ? document->text.data : "";
    size_t length = document->text.length;
    hg_text out = {0};
    hg_json_begin_array(json);
    if (cli_can_format(text, length) && cli_format(text, length, &out) &&
        (out.length != length || memcmp(out.data ? out.data : "", text, length) != 0)) {
        hg_json_begin_object(json);
        hg_json_key(json, "range");
        lsp_add_range(json, text, length, 0, length, utf8);
        hg_json_key(json, "newText");
        hg_json_string(json, out.data ? out.data : "", out.length);
        hg_json_end_object(json);
    }
    hg_json_end_array(json);
    hg_text_free(&out);
}
