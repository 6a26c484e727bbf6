/* What the library says of a text while it is written.
 * Must not know: the protocol beside its diagnostics. */
#include "lsp.h"
#include "isa/text_internal.h"
#include <string.h>

enum { MOST_PROGRAMS = 64 }; /* of a text that are checked */

typedef struct checker {
    hg_json *json;
    const lsp_document *document;
    const hg_text *text;
    bool utf8;
    const char *program;                /* of a text with several; NULL: the only one */
    HG_VEC(const hg_diagnostic *) said; /* those that were written */
    HG_VEC(hg_diagnostics *) lists;     /* what they are of */
} checker;

/* Names of the programs of a text, in the arena. */
static uint32_t find_programs(const hg_text *text, hg_arena *arena, char *names[MOST_PROGRAMS]) {
    hg_lexer lexer;
    uint32_t count = 0;
    bool first = true, named = false;
    hg_lexer_init(&lexer, text->data ? text->data : "", text->length);
    for (hg_token t = hg_lexer_next(&lexer);
         t.kind != HG_TOKEN_END_OF_FILE && count < MOST_PROGRAMS; t = hg_lexer_next(&lexer)) {
        if (named && t.kind == HG_TOKEN_NAME) {
            names[count] = hg_arena_text(arena, t.text, t.length);
            count += names[count] != NULL;
        }
        named = first && hg_token_is(&t, ".program");
        first = t.kind == HG_TOKEN_END_OF_LINE;
    }
    return count;
}

/* The offset of a line and column from 1, in bytes. */
static size_t place_of(const hg_text *text, uint32_t line, uint32_t column) {
    lsp_position p = {line ? line - 1 : 0, column ? column - 1 : 0};
    return text->data ? lsp_offset(text->data, text->length, p, true) : 0;
}

static bool was_said(const checker *k, const hg_diagnostic *d) {
    for (uint64_t i = 0; i < k->said.count; i++) {
        const hg_diagnostic *s = k->said.data[i];
        if (s->outer_line == d->outer_line && s->outer_column == d->outer_column &&
            s->line == d->line && s->column == d->column && memcmp(s->code, d->code, 4) == 0 &&
            strcmp(s->message, d->message) == 0)
            return true;
    }
    return false;
}

static void add_message(hg_json *json, const hg_diagnostic *d) {
    hg_text message = {0};
    if (d->file)
        hg_text_addf(&message, "%s:%u:%u: ", d->file, (unsigned)d->line, (unsigned)d->column);
    hg_text_addf(&message, "%s", d->message);
    if (d->expansion) hg_text_addf(&message, " (%s)", d->expansion);
    if (d->hint) hg_text_addf(&message, "\n%s", d->hint);
    hg_json_add_text(json, "message", message.data ? message.data : d->message);
    hg_text_free(&message);
}

static void add_one(checker *k, const hg_diagnostic *d) {
    static const uint8_t SEVERITY[] = {1, 2, 3, 1}; /* of the protocol: error, warning, note */
    bool elsewhere = d->file || d->expansion;
    size_t from = place_of(k->text, elsewhere ? d->outer_line : d->line,
                           elsewhere ? d->outer_column : d->column),
           to = from + (elsewhere   ? 1
                        : d->length ? d->length
                                    : 1);
    if (hg_vec_push(&k->said)) k->said.data[k->said.count - 1] = d;
    hg_json_begin_object(k->json);
    hg_json_key(k->json, "range");
    lsp_add_range(k->json, k->text->data ? k->text->data : "", k->text->length, from, to, k->utf8);
    hg_json_add_u64(k->json, "severity", SEVERITY[d->severity & 3]);
    hg_json_add_text(k->json, "code", d->code);
    hg_json_add_text(k->json, "source", "hologram");
    add_message(k->json, d);
    hg_json_end_object(k->json);
}

/* One reading of the text; its diagnostics stay until the end. */
static void check(checker *k, const cli *c) {
    hg_bytes bytes = {0};
    cli one = {.command = c->command,
               .file = k->document->path ? k->document->path : "",
               .diagnostics = hg_diagnostics_create(0),
               .program_name = k->program,
               .json = true}; /* what is said goes to the list */
    one.defines.data = c->defines.data;
    one.defines.count = c->defines.count;
    one.include_folders.data = c->include_folders.data;
    one.include_folders.count = c->include_folders.count;
    if (one.diagnostics && hg_bytes_alloc(k->text->length, &bytes) == HG_OK) {
        if (k->text->length) memcpy(bytes.data, k->text->data, k->text->length);
        if (lsp_is_graph(k->document)) {
            if (cli_take_graph_source(&one, bytes)) cli_verify_graph(&one);
        } else {
            const char *name = k->document->path ? k->document->path : k->document->uri;
            if (cli_take_source(&one, name, bytes)) (void)cli_verify(&one);
        }
    }
    for (size_t i = 0; one.diagnostics && i < hg_diagnostics_count(one.diagnostics); i++) {
        const hg_diagnostic *d = hg_diagnostics_get(one.diagnostics, i);
        if (!was_said(k, d)) add_one(k, d);
    }
    if (one.diagnostics && hg_vec_push(&k->lists)) {
        k->lists.data[k->lists.count - 1] = one.diagnostics;
        one.diagnostics = NULL;
    }
    memset(&one.defines, 0, sizeof one.defines);
    memset(&one.include_folders, 0, sizeof one.include_folders);
    cli_release(&one);
}

void lsp_add_diagnostics(hg_json *json, const cli *c, const lsp_document *document, bool utf8) {
    checker k = {.json = json, .document = document, .text = &document->text, .utf8 = utf8};
    char *names[MOST_PROGRAMS];
    hg_arena arena = {0};
    uint32_t programs = lsp_is_graph(document) ? 0 : find_programs(k.text, &arena, names);
    hg_json_key(json, "diagnostics");
    hg_json_begin_array(json);
    k.program = c->program_name;
    for (uint32_t i = 0; i == 0 || (i < programs && !c->program_name); i++) {
        if (programs > 1 && !c->program_name) k.program = names[i];
        check(&k, c);
    }
    hg_json_end_array(json);
    for (uint64_t i = 0; i < k.lists.count; i++) hg_diagnostics_destroy(k.lists.data[i]);
    hg_vec_free(&k.lists);
    hg_vec_free(&k.said);
    hg_arena_free(&arena);
}
