/* What delivers tokens (language.md 2.6): the source, files that it includes, bodies of macros and
 * repetitions, arguments. Each is a piece of a text with the expansion that it is read in; a name
 * that stands for an argument, or has {} behind it, is replaced.
 * Must not know: statements, instructions. */
#include "isa/text_internal.h"

#include <stdio.h>

/* ---- places ---- */

hg_piece hg_asm_here(const hg_assembler *a) {
    const hg_lexer *l = &a->lexer;
    return (hg_piece){l->text, l->at, l->length, l->line_start, l->line, a->source.expansion};
}

void hg_asm_outer_place(const hg_assembler *a, const hg_token *token, uint32_t *line,
                        uint32_t *column) {
    *line = token->line;
    *column = token->column;
    for (uint32_t at = token->expansion;
         a->source.expansions.count && a->source.expansions.data[at].file;
         at = a->source.expansions.data[at].around) {
        *line = a->source.expansions.data[at].line;
        *column = a->source.expansions.data[at].column;
    }
}

/* ---- frames ---- */

static hg_frame *current(hg_assembler *a) {
    return &a->source.frames.data[a->source.frames.count - 1];
}

static void begin_piece(hg_assembler *a, const hg_piece *piece, bool argument) {
    a->lexer = (hg_lexer){.text = piece->text,
                          .length = piece->end,
                          .at = piece->at,
                          .line_start = piece->line_start,
                          .statement_start = piece->at,
                          .line = piece->line,
                          .statement_line = piece->line,
                          .last = argument ? '(' : 0,
                          .last_end = piece->at};
}

/* Text that is read again counts each time, so that time and memory are bounded whatever stands in
 * it. */
static bool charge(hg_assembler *a, const hg_piece *piece, const hg_token *at) {
    a->source.expanded_bytes += piece->end - piece->at + 1;
    if (a->source.expanded_bytes <= HG_MAX_EXPANDED_BYTES / (a->wrong.errors ? 16 : 1))
        return true; /* mistakes are looked for further on, not for long */
    if (!a->wrong.errors)
        hg_asm_error(a, "S05", at, NULL, "more than %d bytes of expanded text",
                     HG_MAX_EXPANDED_BYTES);
    a->wrong.stop = true;
    return false;
}

bool hg_asm_push(hg_assembler *a, hg_frame frame, const hg_piece *piece, const hg_token *at) {
    uint64_t most = frame.kind == HG_FRAME_ARGUMENT ? 2 * HG_MAX_EXPANSION_DEPTH
                                                    : HG_MAX_EXPANSION_DEPTH;
    if (a->source.frames.count > most) {
        hg_asm_error(a, "S05", at, NULL,
                     "files, macros and repetitions inside one another deeper than %d",
                     HG_MAX_EXPANSION_DEPTH);
        a->wrong.stop = true;
        return false;
    }
    if (!charge(a, piece, at)) return false;
    if (a->source.frames.count) current(a)->lexer = a->lexer;
    hg_frame *kept = hg_vec_push(&a->source.frames);
    if (!kept) return hg_asm_no_memory(a);
    *kept = frame;
    kept->blocks = (uint32_t)a->source.blocks.count;
    kept->braces = (uint32_t)a->source.braces.count;
    begin_piece(a, piece, frame.kind == HG_FRAME_ARGUMENT);
    a->source.expansion = frame.expansion;
    a->source.parameters = frame.parameters;
    if (frame.kind != HG_FRAME_ARGUMENT)
        a->token.kind = HG_TOKEN_END_OF_LINE; /* of the statement that says so; the text may end
                                                 there */
    return true;
}

static void pop(hg_assembler *a) {
    if (current(a)->kind == HG_FRAME_MACRO) a->source.arguments.count = current(a)->arguments;
    a->source.frames.count--;
    a->lexer = current(a)->lexer;
    a->source.expansion = current(a)->expansion;
    a->source.parameters = current(a)->parameters;
}

uint32_t hg_asm_open_scope(hg_assembler *a, uint32_t outer) {
    uint32_t *scope = hg_vec_push(&a->source.scopes);
    if (!scope) {
        hg_asm_no_memory(a);
        return HG_UNDEFINED;
    }
    *scope = outer;
    return (uint32_t)a->source.scopes.count - 1;
}

void hg_asm_set_statement(hg_assembler *a, bool statement) {
    a->lexer.statement = statement;
    a->lexer.open = 0;
    for (uint64_t i = a->source.frames.count; i-- > 1;) {
        if (a->source.frames.data[i].kind != HG_FRAME_ARGUMENT) return;
        a->source.frames.data[i - 1].lexer.statement = statement;
        a->source.frames.data[i - 1].lexer.open = 0;
    }
}

uint32_t hg_asm_expansion(hg_assembler *a, hg_expansion_kind kind, const hg_token *at,
                          const hg_token *name) {
    if (a->source.expansions.count > HG_MAX_EXPANSIONS) {
        hg_asm_error(a, "S05", at, NULL,
                     "more than %d files, uses of macros and rounds of repetitions",
                     HG_MAX_EXPANSIONS);
        a->wrong.stop = true;
        return 0;
    }
    hg_text_expansion *e = hg_vec_push(&a->source.expansions);
    uint32_t number = (uint32_t)a->source.expansions.count - 1;
    if (!e) {
        hg_asm_no_memory(a);
        return 0;
    }
    const hg_text_expansion *around = &a->source.expansions.data[at->expansion];
    uint32_t scope = around->scope;
    if (kind != HG_EXPANSION_FILE) scope = hg_asm_open_scope(a, scope);
    if (scope == HG_UNDEFINED) return 0;
    *e = (hg_text_expansion){.kind = (uint8_t)kind,
                             .around = at->expansion,
                             .line = at->line,
                             .column = at->column,
                             .file = around->file};
    e->name = name->text;
    e->name_length = name->length;
    e->scope = scope;
    e->parameters = kind == HG_EXPANSION_MACRO  ? number
                    : kind == HG_EXPANSION_FILE ? 0
                                                : around->parameters;
    return number;
}

void hg_asm_close_braces(hg_assembler *a, uint64_t count) {
    while (a->source.braces.count > count) {
        const hg_brace *brace = &a->source.braces.data[--a->source.braces.count];
        hg_asm_error(a, "L04", &brace->token, "'}' ends its block", "'%.*s' without '}'",
                     hg_token_shown(&brace->token), brace->token.text);
        a->source.expansions.data[brace->token.expansion].scope = brace->scope;
    }
}

static void missing_end(hg_assembler *a) {
    hg_asm_close_braces(a, current(a)->braces);
    while (a->source.blocks.count > current(a)->blocks) {
        const hg_token *token = &a->source.blocks.data[--a->source.blocks.count].token;
        hg_asm_error(a, "L04", token, NULL, "'.if' without '.end'");
    }
}

/* The next round of a repetition, in a scope of its own. */
static bool next_round(hg_assembler *a) {
    hg_frame *f = current(a);
    const hg_text_expansion *loop = &a->source.expansions.data[f->loop];
    hg_token at = {.line = loop->line,
                   .column = loop->column,
                   .length = loop->name_length,
                   .expansion = f->loop};
    hg_token name = {.text = loop->name, .length = loop->name_length};
    uint32_t number = hg_asm_expansion(a, HG_EXPANSION_ROUND, &at, &name);
    if (!number || !charge(a, &f->body, &at)) return false;
    hg_text_expansion *e = &a->source.expansions.data[number];
    e->round = ++f->round;
    e->around = a->source.expansions.data[f->loop].around;
    f->expansion = a->source.expansion = number;
    if (f->constant != HG_NO_VARIABLE) a->values.constants.data[f->constant].integer += f->step;
    begin_piece(a, &f->body, false);
    return true;
}

/* ---- names that stand for something else ---- */

static const hg_piece *find_argument(const hg_assembler *a, uint32_t parameters, const char *text,
                                     uint32_t length) {
    const hg_text_expansion *e = &a->source.expansions.data[parameters];
    const hg_macro *macro = &a->source.macros.data[e->round >> 32];
    uint64_t first = e->round & UINT32_MAX;
    for (uint32_t i = 0; i < macro->count; i++) {
        const hg_token *name = &a->source.macro_parameters.data[macro->first + i];
        if (name->length == length && memcmp(name->text, text, length) == 0)
            return &a->source.arguments.data[first + i];
    }
    return NULL;
}

enum { LONGEST_NAME = 1024 };
typedef struct made_name {
    char text[LONGEST_NAME];
    uint32_t length;
} made_name;

static bool add_text(made_name *name, const char *text, size_t length) {
    if (length > LONGEST_NAME - name->length) return false;
    memcpy(name->text + name->length, text, length);
    name->length += (uint32_t)length;
    return true;
}

static bool replace_token(hg_assembler *a, hg_token *token, const made_name *name,
                          uint32_t marked) {
    char *text = hg_arena_text(&a->texts, name->text, name->length);
    if (!text) return hg_asm_no_memory(a);
    token->text = text;
    token->length = name->length;
    token->marked = marked;
    return true;
}

/* What has been reported ends the statement. */
static void spoil(hg_assembler *a) {
    a->token.kind = HG_TOKEN_BAD;
    a->lexer.code = NULL;
}

/* The value of one pair of braces: decimal digits. */
static bool paste_number(hg_assembler *a, made_name *name) {
    uint64_t frame = a->source.frames.count, value;
    hg_token at;
    char digits[24];
    if (a->expression_depth >= HG_MAX_EXPRESSION_NESTING) {
        hg_asm_error(a, "S05", &a->token, NULL, "expression nested deeper than %d",
                     HG_MAX_EXPRESSION_NESTING);
        return false;
    }
    a->expression_depth++;
    hg_asm_next(a); /* the { */
    hg_asm_next(a);
    bool good = hg_asm_integer(a, "a number", &value, &at);
    a->expression_depth--;
    if (!good) return false;
    if (a->token.kind != '}' || a->source.frames.count != frame) return hg_asm_unexpected(a, "'}'");
    int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)value);
    return add_text(name, digits, (size_t)length);
}

/* name{expression}…: numbers pasted into a name. */
static void paste(hg_assembler *a) {
    hg_token token = a->token;
    size_t start = a->lexer.at - token.length;
    made_name name = {.length = 0};
    bool room = add_text(&name, token.text, token.length);
    while (room && a->lexer.at < a->lexer.length && a->lexer.text[a->lexer.at] == '{') {
        uint64_t errors = a->wrong.errors;
        if (!paste_number(a, &name)) {
            if (a->wrong.errors == errors && !a->wrong.muted) break;
            spoil(a);
            return;
        }
        size_t from = a->lexer.at;
        while (a->lexer.at < a->lexer.length && is_name_byte(a->lexer.text[a->lexer.at]))
            a->lexer.at++;
        room = add_text(&name, a->lexer.text + from, a->lexer.at - from);
    }
    a->token = token;
    a->lexer.last = HG_TOKEN_NAME;
    a->lexer.last_end = a->lexer.at;
    if (!room) {
        hg_asm_error(a, "S05", &token, NULL, "name of more than %d bytes", HG_MAX_IDENT_BYTES);
        spoil(a);
        return;
    }
    size_t width = a->lexer.at - start;
    (void)replace_token(a, &a->token, &name, (uint32_t)width);
}

/* The text of an argument that is one word, through the arguments that it stands for itself. */
static const char *word_of(const hg_assembler *a, const hg_piece *argument, size_t *length) {
    for (;;) {
        const char *text = argument->text + argument->at;
        *length = argument->end - argument->at;
        uint32_t parameters = a->source.expansions.data[argument->expansion].parameters;
        const hg_piece *outer = parameters && *length <= HG_MAX_IDENT_BYTES
                                    ? find_argument(a, parameters, text, (uint32_t)*length)
                                    : NULL;
        if (!outer) break;
        argument = outer;
    }
    const char *text = argument->text + argument->at;
    for (size_t i = 0; i < *length; i++)
        if (!is_name_byte(text[i])) return NULL;
    return text;
}

/* Parameters between the points of a name: add.T, op.u32. */
static void substitute_parts(hg_assembler *a) {
    hg_token token = a->token;
    made_name name = {.length = 0};
    bool changed = false, room = true;
    for (uint32_t at = 0; at <= token.length && room;) {
        uint32_t end = at;
        while (end < token.length && token.text[end] != '.') end++;
        const hg_piece *argument = end > at ? find_argument(a, a->source.parameters,
                                                            token.text + at, end - at)
                                            : NULL;
        size_t length = end - at;
        const char *word = argument ? word_of(a, argument, &length) : NULL;
        changed = changed || word;
        room = word ? add_text(&name, word, length) : add_text(&name, token.text + at, end - at);
        if (end < token.length) room = room && add_text(&name, ".", 1);
        at = end + 1;
    }
    if (changed && room && name.length) (void)replace_token(a, &a->token, &name, token.length);
}

/* A text is at its end: false where it is the source. */
static bool end_frame(hg_assembler *a) {
    if (a->source.frames.count <= 1) return false;
    hg_frame *f = current(a);
    bool argument = f->kind == HG_FRAME_ARGUMENT;
    if (!argument) missing_end(a);
    if (f->kind != HG_FRAME_ROUNDS || f->round == f->rounds || a->wrong.stop || !next_round(a))
        pop(a);
    if (argument) {
        a->token = hg_lexer_next(&a->lexer);
        a->token.expansion = a->source.expansion;
    } else {
        a->token.kind = HG_TOKEN_END_OF_LINE;
    }
    return true;
}

static void resume(hg_assembler *a) {
    for (;;) {
        const hg_token token = a->token;
        if (token.kind == HG_TOKEN_END_OF_FILE) {
            bool argument = a->source.frames.count && current(a)->kind == HG_FRAME_ARGUMENT;
            if (!end_frame(a) || !argument) return;
            continue;
        }
        if (token.kind != HG_TOKEN_NAME) return;
        if (a->lexer.at < a->lexer.length && a->lexer.text[a->lexer.at] == '{') {
            paste(a);
            return;
        }
        if (!a->source.parameters) return;
        const hg_piece *argument = find_argument(a, a->source.parameters, token.text, token.length);
        if (!argument) {
            if (memchr(token.text, '.', token.length)) substitute_parts(a);
            return;
        }
        hg_piece piece = *argument;
        hg_frame frame = {.kind = HG_FRAME_ARGUMENT,
                          .expansion = piece.expansion,
                          .parameters = a->source.expansions.data[piece.expansion].parameters};
        if (!hg_asm_push(a, frame, &piece, &token)) {
            spoil(a);
            return;
        }
        a->token = hg_lexer_next(&a->lexer);
        a->token.expansion = a->source.expansion;
        a->token.glued = token.glued;
    }
}

void hg_asm_leave_arguments(hg_assembler *a) {
    while (current(a)->kind == HG_FRAME_ARGUMENT) {
        for (size_t at = a->lexer.at; at < a->lexer.length; at++)
            if (a->lexer.text[at] != ' ' && a->lexer.text[at] != '\t') return;
        pop(a);
    }
}

/* ---- files ---- */

bool hg_asm_open_source(hg_assembler *a, const char *text, size_t length) {
    hg_text_file *file = hg_vec_push(&a->source.files);
    hg_text_expansion *whole = hg_vec_push(&a->source.expansions);
    hg_frame *frame = hg_vec_push(&a->source.frames);
    if (!file || !whole || !frame || hg_asm_open_scope(a, 0) == HG_UNDEFINED)
        return hg_asm_no_memory(a);
    *file = (hg_text_file){a->options->source_name, text, length};
    a->source.resume = resume;
    hg_lexer_init(&a->lexer, text, length);
    return true;
}

/* The host's functions. */
static void release_source(const hg_assembler *a, hg_source *source) {
    HG_CALLS_OTHERS;
    if (a->options && a->options->release) a->options->release(a->options->user, source);
}
static hg_status resolve_source(const hg_assembler *a, const char *from, const char *name,
                                hg_source *source) {
    HG_CALLS_OTHERS;
    return a->options->resolve(a->options->user, from, name, source);
}

void hg_asm_close_sources(hg_assembler *a) {
    for (uint64_t i = 0; i < a->source.sources.count; i++)
        release_source(a, &a->source.sources.data[i]);
    hg_vec_free(&a->source.sources);
}

char *hg_asm_string(hg_assembler *a, const hg_token *string, size_t *length) {
    hg_text text = {0};
    for (uint32_t i = 1; i + 1 < string->length;) {
        uint32_t plain = i;
        while (plain + 1 < string->length && string->text[plain] != '\\') plain++;
        hg_text_add(&text, string->text + i, plain - i);
        i = plain;
        if (i + 1 >= string->length) break;
        char c = string->text[i + 1];
        bool hex = c == 'x';
        if (hex) c = (char)(hex_digit(string->text[i + 2]) * 16 + hex_digit(string->text[i + 3]));
        if (!hex) c = c == 'n' ? '\n' : c == 't' ? '\t' : c;
        hg_text_add(&text, &c, 1);
        i += hex ? 4 : 2;
    }
    *length = text.length;
    char *kept = text.failed ? NULL
                             : hg_arena_text(&a->texts, text.data ? text.data : "", text.length);
    hg_text_free(&text);
    if (!kept) hg_asm_no_memory(a);
    return kept;
}

const hg_source *hg_asm_resolve(hg_assembler *a, const hg_token *string) {
    size_t length;
    char *name = hg_asm_string(a, string, &length);
    if (!name) return NULL;
    if (!a->options->resolve) {
        hg_asm_error(a, "P06", string, NULL,
                     "'%.200s' is not read: no files are, where the program comes from", name);
        return NULL;
    }
    if (a->source.sources.count == HG_MAX_INCLUDES) {
        hg_asm_error(a, "S05", string, NULL, "more than %d files", HG_MAX_INCLUDES);
        a->wrong.stop = true;
        return NULL;
    }
    hg_source source = {.size = sizeof source};
    const char *from = a->source.files.data[a->source.expansions.data[string->expansion].file].name;
    if (strlen(name) != length || resolve_source(a, from, name, &source) != HG_OK) {
        hg_asm_error(a, "P06", string, NULL, "'%.200s' cannot be read: %.200s", name,
                     strlen(name) != length ? "its name has a NUL" : hg_last_error()->message);
        return NULL;
    }
    hg_source *kept = hg_vec_push(&a->source.sources);
    if (!kept) {
        release_source(a, &source);
        hg_asm_no_memory(a);
        return NULL;
    }
    *kept = source;
    return kept;
}

/* Whether the file is read already, somewhere around this place. */
static bool is_open(const hg_assembler *a, const char *name) {
    for (uint64_t i = 0; i < a->source.frames.count; i++) {
        const char *open =
            a->source.files.data[a->source.expansions.data[a->source.frames.data[i].expansion].file]
                .name;
        if (a->source.frames.data[i].kind == HG_FRAME_FILE && open && strcmp(open, name) == 0)
            return true;
    }
    return false;
}

bool hg_asm_read_include(hg_assembler *a) {
    hg_token string = a->token;
    if (!hg_asm_expect(a, HG_TOKEN_STRING, "the name of a file as a string") ||
        !hg_asm_expect_end(a))
        return false;
    const hg_source *source = hg_asm_resolve(a, &string);
    if (!source) {
        a->wrong.names_missing = true;
        return false;
    }
    const char *name = source->name ? source->name : "";
    if (is_open(a, name)) {
        hg_asm_error(a, "S05", &string, NULL, "'%.200s' includes itself", name);
        return false;
    }
    if (source->length > HG_MAX_SOURCE_BYTES) {
        hg_asm_error(a, "S05", &string, NULL, "'%.200s' has more than %d bytes", name,
                     HG_MAX_SOURCE_BYTES);
        return false;
    }
    hg_lexer lexer;
    hg_lexer_init(&lexer, source->bytes ? source->bytes : "", source->length);
    hg_piece piece = {lexer.text, lexer.at, lexer.length, lexer.line_start, 1, 0};
    hg_text_file *file = hg_vec_push(&a->source.files);
    if (!file) return hg_asm_no_memory(a);
    *file = (hg_text_file){name, lexer.text, source->length};
    uint32_t number = hg_asm_expansion(a, HG_EXPANSION_FILE, &string, &string);
    if (!number) return false;
    a->source.expansions.data[number].file = (uint32_t)a->source.files.count - 1;
    return hg_asm_push(a, (hg_frame){.kind = HG_FRAME_FILE, .expansion = number}, &piece, &string);
}

/* ---- text that is not read ---- */

bool hg_opens_block(const char *text, size_t length) {
    static const char *const WORDS[] = {".if", ".rept", ".for", ".macro"};
    for (size_t i = 0; i < HG_COUNT_OF(WORDS); i++)
        if (strlen(WORDS[i]) == length && memcmp(WORDS[i], text, length) == 0) return true;
    return false;
}

bool hg_asm_skip_to(hg_assembler *a, bool (*stops)(const hg_token *directive)) {
    uint32_t depth = 0;
    hg_lexer line = a->lexer;
    for (bool first = true;;) {
        if (first) line = a->lexer;
        hg_token t = hg_lexer_next(&a->lexer);
        if (t.kind == HG_TOKEN_END_OF_FILE) return false;
        if (first && t.kind == HG_TOKEN_NAME && t.text[0] == '.') {
            if (!depth && stops(&t)) break;
            depth += hg_opens_block(t.text, t.length);
            depth -= depth && hg_token_is(&t, ".end");
        }
        first = t.kind == HG_TOKEN_END_OF_LINE;
    }
    a->lexer = line;
    return true;
}

/* ---- several programs ---- */

static bool is_program(const hg_token *t) { return hg_token_is(t, ".program"); }

bool hg_asm_choose_program(hg_assembler *a, const hg_token *directive, const hg_token *name) {
    const char *wanted = a->options->program;
    if (a->source.frames.count > 1 || a->source.blocks.count) {
        hg_asm_error(
            a, "S02", directive, NULL,
            ".program stands in the source itself, in no other file, macro, repetition or .if");
        return false;
    }
    bool is_wanted = !wanted || hg_token_is(name, wanted);
    if (a->wanted.chosen && is_wanted) {
        hg_asm_error(a, "D01", directive,
                     wanted ? NULL
                            : "a source with several programs: say which one with --program NAME",
                     "directive .program repeated");
        a->lexer.at = a->lexer.length;
        a->token.kind = HG_TOKEN_END_OF_LINE;
        return false;
    }
    if (is_wanted) return a->wanted.chosen = true;
    hg_text_addf(&a->wanted.others, "%s%.*s", a->wanted.others.length ? ", " : "",
                 (int)name->length, name->text);
    if (a->wanted.chosen)
        a->lexer.at = a->lexer.length; /* the one that is wanted ends here */
    else
        (void)hg_asm_skip_to(a, is_program);
    a->token = *directive;
    a->token.kind = HG_TOKEN_END_OF_LINE;
    a->lexer.last = 0;
    return false;
}
