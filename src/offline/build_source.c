/* Sources of the library as a part of C text: without comments and includes, with names that are
 * the text's own, and static.
 * Must not know: which sources. */
#include "offline/build_internal.h"
#include <ctype.h>
#include <string.h>

/* A piece of a source. */
typedef struct token {
    const char *at;
    size_t length;
    bool name; /* an identifier or a word of C */
} token;

static bool is_part(char c) { return isalnum((unsigned char)c) || c == '_'; }

static size_t comment_at(const char *at) {
    const char *end = at[0] == '/' && at[1] == '*' ? strstr(at, "*/") : NULL;
    return end ? (size_t)(end + 2 - at) : 0;
}

/* A line of the preprocessor, with those that it goes on in. */
static size_t line_at(const char *at) {
    size_t n = 0;
    while (at[n] && at[n] != '\n') n += at[n] == '\\' && at[n + 1] ? 2 : 1;
    return n;
}

static size_t quoted_at(const char *at) {
    size_t n = 1;
    while (at[n] && at[n] != *at) n += at[n] == '\\' ? 2 : 1;
    return n + 1;
}

/* The next piece; comments are none. */
static bool next(const char **at, token *t) {
    for (size_t n; (n = comment_at(*at)) != 0;) *at += n;
    if (!**at) return false;
    *t = (token){.at = *at, .length = 1, .name = is_part(**at) && !isdigit((unsigned char)**at)};
    if (**at == '"' || **at == '\'') t->length = quoted_at(*at);
    while (is_part(**at) && is_part((*at)[t->length])) t->length++;
    *at += t->length;
    return true;
}

static bool is(const token *t, const char *word) {
    return t->length == strlen(word) && memcmp(t->at, word, t->length) == 0;
}

static bool is_one_of(const token *t, const char *const *words, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (is(t, words[i])) return true;
    return false;
}

static bool is_space(const token *t) { return isspace((unsigned char)*t->at) != 0; }

/* ---- names ---- */

/* All files have these. */
static bool is_shared(const token *t) {
    static const char *const starts[] = {"plan_", "PLAN_", "hg_",      "HG_",
                                         "kir_",  "KIR_",  "library_", "LIBRARY_"};
    for (size_t i = 0; i < HG_COUNT_OF(starts); i++)
        if (t->length > strlen(starts[i]) && memcmp(t->at, starts[i], strlen(starts[i])) == 0)
            return true;
    return false;
}

typedef struct names {
    HG_VEC(token) own; /* that the file declares for itself */
    bool failed;
} names;

static bool has(const names *n, const token *t) {
    for (uint64_t i = 0; i < n->own.count; i++)
        if (n->own.data[i].length == t->length && memcmp(n->own.data[i].at, t->at, t->length) == 0)
            return true;
    return false;
}

static void add(names *n, const token *t) {
    if (!t->name || *t->at == '_' || is_shared(t) || has(n, t)) return;
    token *to = hg_vec_push(&n->own);
    if (to)
        *to = *t;
    else
        n->failed = true;
}

/* What the outermost braces enclose. */
typedef enum place_kind { OF_VALUES, OF_ENUM, OF_STRUCT, OF_FUNCTION } place_kind;

/* Where in a file a piece stands. */
typedef struct place {
    uint32_t braces, brackets;
    place_kind kind;
    bool begins; /* in front of a declaration */
    bool valued; /* behind its = */
    char tag;    /* e, s, u: it is one of enum, struct, union */
    token last;  /* the piece before */
} place;

static bool is_outside(const place *p) { return p->braces == 0 && p->brackets == 0; }

static bool is_tag(const token *t) {
    static const char *const tags[] = {"struct", "enum", "union"};
    return is_one_of(t, tags, HG_COUNT_OF(tags));
}

static void step(place *p, const token *t) {
    if (p->begins) {
        p->valued = false;
        p->tag = 0;
    }
    p->begins = false;
    if (is_outside(p) && is(t, "=")) p->valued = true;
    if (is_outside(p) && is_tag(t)) p->tag = *t->at;
    if (is(t, "(") || is(t, "[")) p->brackets++;
    if (is(t, ")") || is(t, "]")) p->brackets--;
    if (is(t, "{") && p->braces++ == 0)
        p->kind = is(&p->last, ")") ? OF_FUNCTION
                  : p->valued       ? OF_VALUES
                  : p->tag == 'e'   ? OF_ENUM
                                    : OF_STRUCT;
    if (is(t, "}") && --p->braces == 0) p->begins = p->kind == OF_FUNCTION;
    if (is(t, ";") && is_outside(p)) p->begins = true;
    p->last = *t;
}

/* Functions, constants and types of the file, and numbers of its enums. */
static void find_names(const char *text, names *n) {
    static const char *const behind[] = {"(", "[", "=", ";", ","};
    place p = {.begins = true};
    token t;
    for (const char *at = text; *at;) {
        if (*at == '#') {
            const char *name = at + strlen("#define "), *line = at;
            at += line_at(at);
            if (strncmp(line, "#define ", 8) == 0 && next(&name, &t)) add(n, &t);
            continue;
        }
        if (!next(&at, &t)) break;
        if (is_space(&t)) continue;
        if (is_outside(&p) && !p.valued && is_one_of(&t, behind, HG_COUNT_OF(behind)))
            add(n, &p.last);
        if (is_outside(&p) && is_tag(&p.last)) add(n, &t);
        if (p.braces == 1 && p.brackets == 0 && p.kind == OF_ENUM &&
            (is(&p.last, "{") || is(&p.last, ",")))
            add(n, &t);
        step(&p, &t);
    }
}

/* ---- the text ---- */

/* Whether a name is that of a member: behind . and ->, or where it is declared. */
static bool is_member(const char *text, const place *p, const token *t) {
    const char *behind = t->at + t->length;
    if (p && p->kind == OF_STRUCT && p->braces && strchr(";,[", *behind)) return true;
    return (t->at > text && t->at[-1] == '.') ||
           (t->at > text + 1 && t->at[-1] == '>' && t->at[-2] == '-');
}

/* text: what it is a piece of; p: where, NULL: in a line of the preprocessor. */
static void add_token(hg_text *out, const names *n, const char *prefix, const char *text,
                      const place *p, const token *t) {
    if (t->name && is_shared(t))
        hg_text_addf(out, "hgd_");
    else if (t->name && has(n, t) && !is_member(text, p, t))
        hg_text_addf(out, "hgd_%s_", prefix);
    hg_text_add(out, t->at, t->length);
}

/* Definitions with a body stay; X-macros of tables do not. */
static void add_line(hg_text *out, const names *n, const char *prefix, const char *line,
                     size_t length) {
    const char *at = line;
    token t;
    if (strncmp(line, "#define ", 8) != 0) return;
    const char *body = line + 8;
    while (is_part(*body)) body++;
    bool pasted = false;
    for (size_t i = 0; i + 1 < length; i++) pasted |= line[i] == '#' && line[i + 1] == '#';
    if (pasted || body == line + length) return;
    while (at < line + length && next(&at, &t)) add_token(out, n, prefix, line, NULL, &t);
    hg_text_addf(out, "\n");
}

void build_add_source(hg_text *out, const char *prefix, const char *text) {
    static const char *const typed[] = {"static", "typedef", "enum", "struct",
                                        "union",  "extern",  ";",    "_Static_assert"};
    names n = {.failed = false};
    place p = {.begins = true};
    token t;
    bool blank = true;
    int spaces = 0;
    find_names(text, &n);
    for (const char *at = text; *at;) {
        if (*at == '#') {
            size_t length = line_at(at);
            add_line(out, &n, prefix, at, length);
            at += length;
            continue;
        }
        if (!next(&at, &t)) break;
        if (is(&t, "\n")) { /* no blank lines */
            if (!blank) hg_text_addf(out, "\n");
            blank = true;
            spaces = 0;
            continue;
        }
        if (is_space(&t)) {
            spaces++;
            continue;
        }
        hg_text_addf(out, "%*s", spaces, "");
        blank = false;
        spaces = 0;
        if (p.begins && !is_one_of(&t, typed, HG_COUNT_OF(typed))) hg_text_addf(out, "static ");
        add_token(out, &n, prefix, text, &p, &t);
        step(&p, &t);
    }
    out->failed |= n.failed;
    hg_vec_free(&n.own);
}
