/* hologram fmt: texts in one layout. Only blanks, empty lines and ends of lines change: tokens,
 * comments and their order stay, so that a text assembles to the same program.
 * Must not know: what the tokens mean. */
#include "cli.h"
#include "base/decimal.h"
#include "base/lines.h"
#include <string.h>

enum {
    INDENT = 4,
    MOST_ALIGNED = 60 /* columns of code that comments of neighbouring lines are aligned behind */
};

typedef struct formatter {
    const char *text;
    size_t length, at;
    hg_text out;
    hg_text line;   /* code of the line that is read */
    bool function;  /* the block outermost is one */
    uint32_t depth; /* of .if, .rept, .for, .macro and braces */
    bool goes_on;   /* the line before did not end its statement */
    uint32_t open;  /* brackets of the statement */
    uint32_t empty; /* lines before this one */
    hg_text group;  /* neighbouring lines with comments behind code: code, \1, comment, \n */
    size_t group_width;
} formatter;

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '$';
}

/* Length of the string at text, which begins with a quote; to the end where it has no end. */
static size_t string_length(const char *text, size_t length) {
    size_t at = 1;
    while (at < length && text[at] != '"') at += text[at] == '\\' && at + 1 < length ? 2 : 1;
    return at < length ? at + 1 : length;
}

/* Bytes of a line before its comment. */
static size_t code_length(const char *line, size_t length) {
    size_t at = 0;
    while (at < length && line[at] != ';')
        at += line[at] == '"' ? string_length(line + at, length - at) : 1;
    return at < length ? at : length;
}

/* One blank for several, one behind each comma and none before it or before the colon of a label.
 */
static void add_code(hg_text *out, const char *code, size_t length) {
    bool label = true; /* no other token than a name has come */
    for (size_t at = 0; at < length;) {
        size_t blanks = at;
        while (at < length && is_blank(code[at])) at++;
        if (at == length) return;
        char c = code[at], before = out->length ? out->data[out->length - 1] : 0;
        bool tight = c == ',' || (c == ':' && label);
        if (out->length && !tight && (at > blanks || before == ',')) hg_text_add(out, " ", 1);
        size_t count = c == '"' ? string_length(code + at, length - at) : 1;
        label = label && (is_word(c) || c == ':' || c == '{' || c == '}');
        if (at > blanks && out->length && c != ':') label = false;
        hg_text_add(out, code + at, count);
        at += count;
    }
}

static void add_spaces(hg_text *out, size_t count) {
    for (size_t i = 0; i < count; i++) hg_text_add(out, " ", 1);
}

/* The lines of the group, comments in one column. */
static void end_group(formatter *f) {
    const char *at = f->group.data, *end = at ? at + f->group.length : NULL;
    while (at < end) {
        const char *comment = memchr(at, '\1', (size_t)(end - at)),
                   *stop = memchr(comment, '\n', (size_t)(end - comment));
        size_t width = hg_columns(at, (size_t)(comment - at));
        hg_text_add(&f->out, at, (size_t)(comment - at));
        add_spaces(&f->out, (width < f->group_width && f->group_width <= MOST_ALIGNED
                                 ? f->group_width - width
                                 : 0) +
                                2);
        hg_text_add(&f->out, comment + 1, (size_t)(stop - comment));
        at = stop + 1;
    }
    f->group.length = 0;
    f->group_width = 0;
}

/* Length of the word that a line begins with. */
static size_t first_word(const hg_text *line) {
    size_t length = 0;
    while (length < line->length && is_word(line->data[length])) length++;
    return length;
}

static bool is_first(const hg_text *line, const char *word) {
    size_t length = strlen(word);
    return first_word(line) == length && memcmp(line->data, word, length) == 0;
}

/* { behind a blank begins a block; behind a name it pastes a number. */
static bool ends_in_brace(const hg_text *line) {
    return line->length > 1 && line->data[line->length - 1] == '{' &&
           line->data[line->length - 2] == ' ';
}

/* Whether the statement goes on in the next line: behind a comma, and as language.md 2.7 says. */
static bool goes_on(formatter *f) {
    const hg_text *line = &f->line;
    bool choice = false;
    for (size_t at = 0; at < line->length;) {
        char c = line->data[at];
        f->open += c == '(' || c == '[';
        f->open -= f->open && (c == ')' || c == ']');
        choice = choice || c == '?';
        at += c == '"' ? string_length(line->data + at, line->length - at) : 1;
    }
    char last = line->data[line->length - 1];
    bool sign = strchr(",+-*/%&|^~!<>=?", last) != NULL || (last == ':' && (choice || f->goes_on));
    if (f->open || sign) return true;
    f->open = 0;
    return false;
}

/* Columns of what stands `level` deep: code is one step further than directives, but functions
 * begin in the first column. */
static size_t columns(const formatter *f, size_t level, bool code) {
    level += code;
    return (level - (f->function && level)) * INDENT;
}

/* Columns before a line of code, and how it changes the depth. */
static size_t indent_of(formatter *f) {
    const hg_text *line = &f->line;
    bool opens = hg_opens_block(line->data, first_word(line));
    bool branch = is_first(line, ".elif") || is_first(line, ".else"), end = is_first(line, ".end");
    if (f->goes_on) {
        size_t further = columns(f, (size_t)f->depth + 1, true);
        f->depth += ends_in_brace(line);
        return further;
    }
    bool closes = line->length && line->data[0] == '}';
    if ((end || closes) && f->depth) f->depth--;
    if (!f->depth) f->function = (closes && f->function) || is_first(line, "fn");
    size_t level = f->depth - (branch && f->depth);
    f->depth += opens || ends_in_brace(line);
    size_t word = 0;
    while (word < line->length && line->data[word] != ' ' && line->data[word] != ':') word++;
    bool label = word < line->length && line->data[word] == ':';
    bool directive = line->length && line->data[0] == '.';
    return columns(f, level, !directive && !label);
}

static void add_line(formatter *f, const char *line, size_t length) {
    size_t code = code_length(line, length), stop = length;
    while (stop > code && is_blank(line[stop - 1])) stop--;
    f->line.length = 0;
    add_code(&f->line, line, code);
    bool comment = stop > code;
    if (!f->line.length && !comment) {
        f->empty++;
        return;
    }
    if (f->line.length == 0 || !comment || f->empty) end_group(f);
    if (f->empty && f->out.length) hg_text_add(&f->out, "\n", 1);
    f->empty = 0;
    if (!f->line.length) { /* a comment keeps the first column, or takes that of code */
        if (!f->depth) f->function = false;
        add_spaces(&f->out, code == 0 ? 0 : columns(f, f->depth, true));
        hg_text_add(&f->out, line + code, stop - code);
        hg_text_add(&f->out, "\n", 1);
        return;
    }
    hg_text *to = comment ? &f->group : &f->out;
    size_t start = to->length;
    add_spaces(to, indent_of(f));
    hg_text_add(to, f->line.data, f->line.length);
    if (comment) {
        size_t width = hg_columns(to->data + start, to->length - start);
        if (width > f->group_width && width <= MOST_ALIGNED) f->group_width = width;
        hg_text_add(to, "\1", 1);
        hg_text_add(to, line + code, stop - code);
    }
    hg_text_add(to, "\n", 1);
    f->goes_on = goes_on(f);
}

bool cli_format(const char *text, size_t length, hg_text *out) {
    formatter f = {.text = text, .length = length};
    f.at = hg_byte_order_mark(text, length);
    while (f.at < length) {
        const char *end = memchr(text + f.at, '\n', length - f.at);
        size_t stop = end ? (size_t)(end - text) : length;
        add_line(&f, text + f.at, stop - f.at);
        f.at = stop + 1;
    }
    end_group(&f);
    bool failed = f.out.failed || f.line.failed || f.group.failed;
    hg_text_free(&f.line);
    hg_text_free(&f.group);
    *out = f.out;
    return !failed;
}

/* The first byte of code that no token has, or a first line that begins no statement: this is not
 * the text of a program. */
static const char *stranger(const char *text, size_t length) {
    bool begun = false;
    for (size_t at = 0; at < length;) {
        const char *end = memchr(text + at, '\n', length - at), *line = text + at;
        size_t stop = end ? (size_t)(end - line) : length - at, code = code_length(line, stop);
        for (size_t i = 0; i < code; i += line[i] == '"' ? string_length(line + i, code - i) : 1) {
            if (is_blank(line[i])) continue;
            if (!is_word(line[i]) &&
                (!begun || line[i] == 0 || !strchr(",:[]()+-*=@/%<>&|^~!{}?\"", line[i])))
                return line + i;
            begun = true;
        }
        at += stop + 1;
    }
    return NULL;
}

bool cli_can_format(const char *text, size_t length) {
    size_t mark = hg_byte_order_mark(text, length);
    return length && !memchr(text, 0, length) && !memchr(text, 1, length) &&
           !stranger(text + mark, length - mark);
}

static uint32_t line_number(const char *text, const char *at) {
    uint32_t line = 1;
    for (; text < at; text++) line += *text == '\n';
    return line;
}

/* ---- the command ---- */

typedef struct fmt_options {
    bool write, check;
} fmt_options;

static void add_json(cli *c, const char *path, bool changed, const hg_text *text) {
    hg_json json;
    cli_json_item(c, &json);
    hg_json_add_text(&json, "file", path);
    hg_json_add_bool(&json, "changed", changed);
    if (text) hg_json_add_text(&json, "text", text->data ? text->data : "");
    hg_json_end_object(&json);
}

static void format_file(cli *c, const char *path, const fmt_options *o) {
    hg_bytes bytes = {0};
    hg_text out = {0};
    c->file = path;
    if (cli_is_stablehlo(path)) {
        cli_usage(c, "'%s' is a StableHLO module: fmt lays out texts of programs and graphs", path);
        return;
    }
    if (hg_file_read(path, HG_MAX_SOURCE_BYTES, &bytes) != HG_OK) {
        cli_last_error(c);
        return;
    }
    const char *text = (const char *)bytes.data;
    size_t length = (size_t)bytes.length;
    size_t mark = hg_byte_order_mark(text, length);
    const char *wrong = length ? stranger(text + mark, length - mark) : NULL;
    if (memchr(text ? text : "", 0, length) || (length && memchr(text, 1, length))) {
        cli_usage(c, "'%s' is no text", path);
    } else if (wrong) {
        bool shown = *wrong > ' ' && *wrong < 127;
        cli_usage(c, "'%s' is no text of a program: %s%.*s%s in line %u", path,
                  shown ? "'" : "a byte", shown, wrong, shown ? "'" : "",
                  (unsigned)line_number(text, wrong));
    } else if (!cli_format(text ? text : "", length, &out)) {
        (void)hg_fail_memory();
        cli_last_error(c);
    } else {
        bool same = out.length == length && (!length || memcmp(out.data, text, length) == 0);
        if (o->check && !same) {
            if (!c->json) cli_out(c, "%s\n", path);
            if (c->status == CLI_OK) c->status = CLI_FAILED;
        }
        if (o->write && !same && hg_file_write(path, out.data ? out.data : "", out.length) != HG_OK)
            cli_last_error(c);
        if (c->json) add_json(c, path, !same, o->write || o->check ? NULL : &out);
        if (!o->write && !o->check) cli_write(c, NULL, out.data ? out.data : "", out.length);
    }
    hg_text_free(&out);
    hg_bytes_free(&bytes);
}

int command_fmt(int argc, char **argv) {
    cli c = {.keep_outputs = true};
    fmt_options o = {false, false};
    const cli_option options[] = {{"-w", NULL, &o.write}, {"--check", NULL, &o.check}};
    if (!cli_parse(&c, argc, argv, options, HG_COUNT_OF(options))) return cli_finish(&c);
    if (!c.arguments.count) cli_usage(&c, "expects at least one FILE");
    if (o.write && o.check) cli_usage(&c, "-w and --check exclude each other");
    for (uint64_t i = 0; c.status != CLI_USAGE && i < c.arguments.count; i++) {
        const char *path = c.arguments.data[i];
        if (o.write && strcmp(path, "-") == 0)
            cli_usage(&c, "-w writes files, standard input is none");
        else
            format_file(&c, path, &o);
    }
    return cli_finish(&c);
}
