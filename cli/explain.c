/* hologram explain and hologram lang: sections of the documents that the command carries. */
#include "cli.h"
#include "reference.h"
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
    const cli_page *page = cli_page_find("diagnostics");
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

/* ---- rows of the reference ---- */

static bool explain_instruction(cli *c, const char *word) {
    hg_text found = {0};
    char base[64];
    bool any = cli_reference_instruction(word, &found, base);
    if (any) give(c, base, found.data, found.length);
    hg_text_free(&found);
    return any;
}

/* ".param", of programs and of array graphs. */
static bool explain_directive(cli *c, const char *word) {
    hg_text found = {0};
    bool any = word[0] == '.';
    if (any) {
        bool of_programs = cli_reference_rows("language", word, &found);
        any = cli_reference_rows("graph", word, &found) || of_programs;
    }
    if (any) give(c, word, found.data, found.length);
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
    bool why_slow = false;
    const cli_option options[] = {{"--why-slow", NULL, &why_slow},
                                  {"--svg", &svg, NULL},
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
    if (why_slow && (graph || !is_file)) {
        cli_usage(&c,
                  graph ? "--why-slow is for programs of lanes, not for array graphs such as '%s': "
                          "see --profile of run"
                        : "--why-slow is for programs of lanes: '%s' is no file",
                  word);
        return cli_finish(&c);
    }
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
        if (cli_load(&c, word) && cli_verify(&c)) cli_explain_program(&c, why_slow);
    } else if (!explain_code(&c, word) && !explain_instruction(&c, word) &&
               !explain_directive(&c, word) && !explain_specified(&c, word)) {
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
    const cli_page *page = cli_page_find("language");
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
