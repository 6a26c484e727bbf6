/* hologram lsp: what its files share. */
#ifndef HG_CLI_LSP_H
#define HG_CLI_LSP_H

#include "cli.h"
#include "base/json_read.h"

/* A place in a text as the protocol counts it: lines and columns from 0. */
typedef struct lsp_position {
    uint32_t line, column;
} lsp_position;

/* A text that an editor has open. */
typedef struct lsp_document {
    char *uri;
    char *path; /* of a file on this machine; NULL: it has none */
    hg_text text;
    int64_t version;
    bool changed; /* and not checked since */
} lsp_document;

/* ---- lsp_document.c ---- */
/* Columns are bytes (utf8), else UTF-16 units. Places behind the end of a line are its end, lines
 * behind the last one the end of the text. */
size_t lsp_offset(const char *text, size_t length, lsp_position position, bool utf8);
lsp_position lsp_position_of(const char *text, size_t length, size_t offset, bool utf8);
/* The path of a file: URI, which the caller frees; NULL: it is none, or memory lacks. */
char *lsp_path(const char *uri, size_t length);
void lsp_uri(hg_text *out, const char *path);    /* appends the file: URI of a path */
bool lsp_is_graph(const lsp_document *document); /* else a program */
void lsp_document_free(lsp_document *document);
/* "line" and "character" of an object; false: it has none. */
bool lsp_read_position(const hg_json_document *d, uint32_t object, lsp_position *position);
void lsp_add_range(hg_json *json, const char *text, size_t length, size_t from, size_t to,
                   bool utf8); /* the value of a range */

/* ---- lsp_check.c ---- */
/* The value of "diagnostics": what the library says of the text. c has the options. */
void lsp_add_diagnostics(hg_json *json, const cli *c, const lsp_document *document, bool utf8);

/* ---- lsp_words.c ---- */
/* A name that a text declares. */
typedef struct lsp_symbol {
    size_t from, length;      /* of the name */
    size_t line, line_length; /* of the statement's first line */
    const char *kind;         /* "label", "parameter", …; static */
    uint32_t number;          /* SymbolKind of the protocol */
} lsp_symbol;
typedef HG_VEC(lsp_symbol) lsp_symbols;
/* Appends the names that a text declares, in their order. False: no memory. */
bool lsp_find_symbols(const char *text, size_t length, lsp_symbols *symbols);
/* The bytes of the word that the offset stands in or behind. False: there is none. */
bool lsp_word_at(const char *text, size_t length, size_t offset, size_t *from, size_t *to);
/* The declaration that a use at the offset means: the last one before it, else the first. NULL:
 * there is none. */
const lsp_symbol *lsp_declaration(const lsp_symbols *symbols, const char *text, size_t from,
                                  size_t to);

/* ---- lsp_answer.c: the values of "result" ---- */
void lsp_hover(hg_json *json, const lsp_document *document, size_t offset, bool utf8);
void lsp_complete(hg_json *json, const lsp_document *document, size_t offset, bool utf8);
void lsp_define(hg_json *json, const cli *c, const lsp_document *document, size_t offset,
                bool utf8);
void lsp_outline(hg_json *json, const lsp_document *document, bool utf8);
void lsp_format(hg_json *json, const lsp_document *document, bool utf8);

#endif
