/* hologram explain and hologram lang: sections of the documents that the command carries. */
#include "cli.h"
#include "pages.h"
#include "base/nearest.h"
#include "isa/isa.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

/* ---- sections of a page ---- */

/* A heading and what stands below it, up to the next heading of its level or above. */
typedef struct section {
    const char *text;
    size_t length;
    const char *title; /* without the number signs */
    size_t title_length;
    unsigned level;
} section;

static const cli_page *find_page(const char *name) {
    const cli_page *page = CLI_PAGES;
    while (page->name && strcmp(page->name, name) != 0) page++;
    return page;
}

static size_t line_length(const char *at, const char *end) {
    const char *feed = memchr(at, '\n', (size_t)(end - at));
    return (size_t)((feed ? feed + 1 : end) - at);
}

static unsigned level_of(const char *at, const char *end) {
    unsigned level = 0;
    while (at + level < end && at[level] == '#') level++;
    return level && at + level < end && at[level] == ' ' ? level : 0;
}

/* The next heading at or after s->text + skip, outside of code; false: there is none. */
static bool next_heading(const cli_page *page, const char *at, section *s) {
    const char *end = page->text + page->length;
    bool code = false;
    for (; at < end; at += line_length(at, end)) {
        if (strncmp(at, "```", 3) == 0) code = !code;
        s->level = code ? 0 : level_of(at, end);
        if (!s->level) continue;
        size_t line = line_length(at, end);
        s->text = at;
        s->title = at + s->level + 1;
        s->title_length = line - s->level - 1 - (at[line - 1] == '\n');
        return true;
    }
    return false;
}

static void find_end(const cli_page *page, section *s) {
    section later;
    const char *at = s->text + line_length(s->text, page->text + page->length);
    while (next_heading(page, at, &later)) {
        s->length = (size_t)(later.text - s->text);
        if (later.level <= s->level) return;
        at = later.title;
    }
    s->length = (size_t)(page->text + page->length - s->text);
}

/* The text without the comments that only tests read, and without blank lines at its ends. */
static void add_text(hg_text *out, const char *at, size_t length) {
    const char *end = at + length;
    while (end > at && end[-1] == '\n') end--;
    bool blank = false, any = false;
    while (at < end) {
        size_t line = line_length(at, end);
        bool comment = strncmp(at, "<!--", 4) == 0;
        if (!comment && (line > 1 || any)) {
            if (line == 1 && blank) { /* one is enough where a comment stood between two */
                at += line;
                continue;
            }
            hg_text_add(out, at, line);
            blank = line == 1;
            any = true;
        }
        at += line;
    }
    hg_text_addf(out, "\n");
}

static void give(cli *c, const char *name, const char *text, size_t length) {
    if (!c->json) {
        if (c->outputs.length) hg_text_addf(&c->outputs, "\n");
        add_text(&c->outputs, text, length);
        return;
    }
    hg_json json;
    hg_text plain = {0};
    add_text(&plain, text, length);
    cli_json_item(c, &json);
    hg_json_add_text(&json, "name", name);
    hg_json_add_text(&json, "text", plain.data ? plain.data : "");
    hg_json_end_object(&json);
    hg_text_free(&plain);
}

static bool has_word(const section *s, const char *word) {
    size_t length = strlen(word);
    for (size_t i = 0; i + length <= s->title_length; i++)
        if (strncasecmp(s->title + i, word, length) == 0) return true;
    return false;
}

/* "4.3" is the section whose title begins with that number. */
static bool is_numbered(const section *s, const char *number) {
    size_t length = strlen(number);
    if (s->title_length < length || strncmp(s->title, number, length) != 0 ||
        !isdigit((unsigned char)number[0]))
        return false;
    char next = s->title_length > length ? s->title[length] : ' ';
    return next == ' ' ||
           (next == '.' && (s->title_length == length + 1 || s->title[length + 1] == ' '));
}

/* ---- codes ---- */

/* The section of docs/reference/diagnostics.md that begins with the code. */
static bool explain_code(cli *c, const char *word) {
    const cli_page *page = find_page("diagnostics");
    char code[4] = {0};
    if (strlen(word) != 3 || !isalpha((unsigned char)word[0]) || !isdigit((unsigned char)word[1]) ||
        !isdigit((unsigned char)word[2]))
        return false;
    for (int i = 0; i < 3; i++) code[i] = (char)toupper((unsigned char)word[i]);
    section s;
    for (const char *at = page->text; next_heading(page, at, &s); at = s.title) {
        if (s.title_length < 3 || memcmp(s.title, code, 3) != 0) continue;
        find_end(page, &s);
        give(c, code, s.text, s.length);
        return true;
    }
    return false;
}

/* ---- instructions: rows of docs/reference/isa.md ---- */

/* "add.f32" → "add", "setlt.u32" → "set". */
static void base_of(const char *word, char base[64]) {
    size_t length = strlen(word) < 63 ? strlen(word) : 63;
    for (size_t i = 0; i < length; i++) base[i] = (char)tolower((unsigned char)word[i]);
    base[length] = '\0';
    hg_type type;
    for (char *point;
         (point = strrchr(base, '.')) && hg_type_from_name(point + 1, strlen(point + 1), &type);)
        *point = '\0';
    hg_condition condition;
    if (strncmp(base, "set", 3) == 0 &&
        hg_condition_from_text(base + 3, strlen(base + 3), &condition))
        base[3] = '\0';
}

static bool is_named(const hg_op_info *row, const char *base) {
    size_t length = strlen(base), text = strlen(row->text);
    if (strcmp(row->text, base) == 0 ||
        (strncmp(row->text, base, length) == 0 && row->text[length] == '.'))
        return true;
    return strncmp(base, row->text, text) == 0 && base[text] == '.' && row->operand_count &&
           row->operands[0].kind == HG_K_SCOPE;
}

/* A cell of a row in Markdown, without its code marks and escapes. */
static const char *add_cell(hg_text *out, const char *at) {
    while (*at == ' ' || *at == '|') at++;
    for (; *at != '\n' && !(*at == '|' && at[-1] != '\\'); at++) {
        bool mark = *at == '`' || (*at == '\\' && at[1] == '|') ||
                    (*at == ' ' && (at[1] == '|' || at[1] == '\n'));
        if (!mark) hg_text_add(out, at, 1);
    }
    return at;
}

/* "div[.T] d, a, b", then what it does, its types and how exact it is. */
static void explain_row(hg_text *out, const char *at) {
    hg_text cells[5] = {{0}};
    for (int i = 0; i < 5; i++)
        at = i == 2 && strncmp(at, "|  |", 4) == 0 ? at + 3 : add_cell(&cells[i], at);
    const char *text[5];
    for (int i = 0; i < 5; i++) text[i] = cells[i].data ? cells[i].data : "";
    hg_text_addf(out, "%s\n    %s\n    types: %s; result: %s; opcode %s\n", text[1], text[4],
                 *text[2] ? text[2] : "none", text[3], text[0]);
    for (int i = 0; i < 5; i++) hg_text_free(&cells[i]);
}

static bool explain_instruction(cli *c, const char *word) {
    const cli_page *page = find_page("isa");
    char base[64];
    hg_text found = {0};
    base_of(word, base);
    for (int i = 0; i < HG_OP_COUNT; i++) {
        const hg_op_info *row = hg_op_get((hg_op)i);
        char key[16];
        if (!is_named(row, base)) continue;
        snprintf(key, sizeof key, "\n| `%03X` |", (unsigned)row->opcode);
        const char *line = strstr(page->text, key);
        if (line) explain_row(&found, line + 1);
    }
    bool any = found.length != 0;
    if (any) give(c, base, found.data, found.length);
    hg_text_free(&found);
    return any;
}

/* Names of the specification: BarSync, BAR_SYNC. */
static bool explain_specified(cli *c, const char *word) {
    hg_op op = hg_op_from_specification(word, strlen(word));
    return op != HG_OP_NONE && explain_instruction(c, hg_op_get(op)->text);
}

/* ---- the commands ---- */

static void unknown(cli *c, const char *word) {
    hg_nearest nearest;
    hg_nearest_init(&nearest, word, strlen(word));
    for (int i = 0; i < HG_OP_COUNT; i++) hg_nearest_try(&nearest, hg_op_get((hg_op)i)->text);
    const char *hint = word[0] == '.' ? "`hologram lang 2` has the directives"
                                      : hg_nearest_hint(&nearest);
    cli_usage(c, "'%s' is no code, no instruction and no file%s%s", word, hint ? ": " : "",
              hint ? hint : "");
}

int command_explain(int argc, char **argv) {
    cli c = {0};
    const char *svg = NULL, *print_after = NULL;
    const cli_option options[] = {{"--svg", &svg, NULL},
                                  {"--passes", &c.passes, NULL},
                                  {"--print-after", &print_after, NULL},
                                  {"--as-graph", NULL, &c.as_graph}};
    if (!cli_parse(&c, argc, argv, options, HG_COUNT_OF(options))) return cli_finish(&c);
    if (c.arguments.count != 1) {
        cli_usage(&c, "expects a code such as V09, an instruction or a PROGRAM, got %llu",
                  (unsigned long long)c.arguments.count);
        return cli_finish(&c);
    }
    const char *word = c.arguments.data[0];
    struct stat found;
    bool is_file = strcmp(word, "-") == 0 || (stat(word, &found) == 0 && !S_ISDIR(found.st_mode));
    bool graph = is_file && cli_is_graph(&c, word);
    if (!graph && (svg || c.passes || print_after || c.as_graph || c.pairs.count)) {
        cli_usage(&c, "%s is for array graphs: name a .graph, or write --as-graph for a program",
                  svg           ? "--svg"
                  : c.passes    ? "--passes"
                  : print_after ? "--print-after"
                  : c.as_graph  ? "--as-graph"
                                : "--set");
    } else if (svg && strcmp(svg, "-") == 0 && c.json) {
        cli_usage(&c, "--json needs --svg FILE");
    } else if (graph) {
        if (cli_load_graph(&c, word)) cli_explain_graph(&c, print_after, svg);
    } else if (is_file) {
        if (cli_load(&c, word) && cli_verify(&c)) cli_explain_program(&c);
    } else if (!explain_code(&c, word) && !explain_instruction(&c, word) &&
               !explain_specified(&c, word)) {
        unknown(&c, word);
    }
    return cli_finish(&c);
}

static void list_sections(cli *c, const cli_page *page) {
    section s;
    for (const char *at = page->text; next_heading(page, at, &s); at = s.title) {
        if (s.level > 1 && c->json)
            give(c, "title", s.title, s.title_length);
        else if (s.level > 1)
            cli_out(c, "%*s%.*s\n", (int)(s.level - 2) * 2, "", (int)s.title_length, s.title);
    }
}

static bool add_sections(cli *c, const cli_page *page, const char *word, bool by_number) {
    bool any = false;
    const char *end = page->text;
    section s;
    for (const char *at = page->text; next_heading(page, at, &s); at = s.title) {
        if (s.level == 1 || s.text < end ||
            !(by_number ? is_numbered(&s, word) : has_word(&s, word)))
            continue;
        find_end(page, &s);
        end = s.text + s.length; /* what is inside has been given */
        char title[160];
        snprintf(title, sizeof title, "%.*s", (int)s.title_length, s.title);
        give(c, title, s.text, s.length);
        any = true;
    }
    return any;
}

/* The innermost sections that have the word in their text, where no title has it. */
static void no_title(cli *c, const cli_page *page, const char *word) {
    hg_text numbers = {0};
    section s, next;
    for (const char *at = page->text; next_heading(page, at, &s); at = s.title) {
        const char *end = next_heading(page, s.title, &next) ? next.text
                                                             : page->text + page->length;
        size_t digits = strspn(s.title, "0123456789."), length = strlen(word);
        bool found = false;
        for (at = s.title; s.level > 1 && !found && at + length <= end; at++)
            found = strncasecmp(at, word, length) == 0;
        if (found)
            hg_text_addf(&numbers, " %.*s",
                         (int)(digits && s.title[digits - 1] == '.' ? digits - 1 : digits),
                         s.title);
    }
    if (numbers.length)
        cli_usage(c, "no section of the language has '%s' in its title; it stands in%s", word,
                  numbers.data);
    else
        cli_usage(c,
                  "no section of the language has '%s' in its title (`hologram lang --contents` "
                  "lists them)",
                  word);
    hg_text_free(&numbers);
}

int command_lang(int argc, char **argv) {
    cli c = {0};
    bool contents = false;
    const cli_option options[] = {{"--contents", NULL, &contents}};
    if (!cli_parse(&c, argc, argv, options, HG_COUNT_OF(options))) return cli_finish(&c);
    const cli_page *page = find_page("language");
    const char *word = c.arguments.count ? c.arguments.data[0] : NULL;
    if (c.arguments.count > 1)
        cli_usage(&c, "expects one SECTION, got %llu", (unsigned long long)c.arguments.count);
    else if (contents)
        list_sections(&c, page);
    else if (!word)
        give(&c, page->name, page->text, page->length);
    else if (!add_sections(&c, page, word, true) && !add_sections(&c, page, word, false))
        no_title(&c, page, word);
    return cli_finish(&c);
}
