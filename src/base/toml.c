#include "base/toml.h"
#include "base/decimal.h"
#include <stdio.h>
#include <string.h>

/* What is known of a table or a value, by its whole name. */
typedef struct known {
    const char *name;
    size_t length;
    enum { IMPLIED, BY_DOTS, BY_HEADER, VALUE } how; /* IMPLIED: [a.b] makes a */
    uint32_t header; /* BY_DOTS: under which header; keys under others may not add to it */
} known;

typedef struct reader {
    const char *text;
    size_t length, at, line_start;
    uint32_t line;   /* from 1 */
    uint32_t header; /* how many there were */
    hg_toml *document;
    hg_text table; /* the current one's name */
    hg_text name;  /* of the key or header that is read */
    hg_text value;
    HG_VEC(known) names;
    hg_toml_fault *fault;
} reader;

static bool fail_at(reader *r, size_t at, const char *message) {
    r->fault->line = r->line;
    r->fault->column = (uint32_t)(at - r->line_start) + 1;
    snprintf(r->fault->message, sizeof r->fault->message, "%s", message);
    return false;
}
static bool fail(reader *r, const char *message) { return fail_at(r, r->at, message); }
static bool fail_name(reader *r, size_t at, const char *message) {
    char text[160];
    snprintf(text, sizeof text, "'%.80s' %s", r->name.data, message);
    return fail_at(r, at, text);
}
static bool fail_memory(reader *r) { return fail(r, "out of memory"); }

static char peek(const reader *r) { return r->at < r->length ? r->text[r->at] : '\0'; }
static bool begins(const reader *r, const char *what) {
    size_t n = strlen(what);
    return r->length - r->at >= n && memcmp(r->text + r->at, what, n) == 0;
}
static bool take(reader *r, const char *what) {
    if (!begins(r, what)) return false;
    r->at += strlen(what);
    return true;
}
static void skip_blanks(reader *r) {
    while (peek(r) == ' ' || peek(r) == '\t') r->at++;
}

/* A character of a string or a comment: none that controls, and UTF-8. */
static bool take_character(reader *r) {
    unsigned char c = (unsigned char)r->text[r->at];
    if ((c < 0x20 && c != '\t') || c == 0x7F) return fail(r, "a control character");
    size_t n = hg_utf8_length(r->text + r->at, r->length - r->at);
    if (!n) return fail(r, "bytes that are no UTF-8");
    r->at += n;
    return true;
}

/* Blanks, a comment, and the end of the line or of the text. */
static bool end_line(reader *r) {
    skip_blanks(r);
    if (peek(r) == '#')
        while (r->at < r->length && !begins(r, "\n") && !begins(r, "\r\n"))
            if (!take_character(r)) return false;
    if (r->at == r->length) return true;
    if (!take(r, "\n") && !take(r, "\r\n")) return fail(r, "expected the end of the line");
    r->line++;
    r->line_start = r->at;
    return true;
}

/* ---- strings ---- */

static bool put_character(reader *r, hg_text *out, uint32_t c) {
    char bytes[4];
    size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    if (n == 1) bytes[0] = (char)c;
    for (size_t i = n; n > 1 && i-- > 0; c >>= 6)
        bytes[i] = (char)(i ? 0x80 | (c & 0x3F) : (0xF00u >> n & 0xF0) | c);
    hg_text_add(out, bytes, n);
    return !out->failed || fail_memory(r);
}

static bool take_escape(reader *r, hg_text *out) {
    static const char letters[] = "btnfr\"\\", means[] = "\b\t\n\f\r\"\\";
    size_t begin = r->at++;
    char c = peek(r);
    const char *letter = c ? strchr(letters, c) : NULL;
    r->at++;
    if (letter) return put_character(r, out, (unsigned char)means[letter - letters]);
    if (c != 'u' && c != 'U')
        return fail_at(r, begin,
                       "an escape is one of \\b \\t \\n \\f \\r \\\" \\\\ \\uXXXX \\UXXXXXXXX");
    uint32_t value = 0;
    for (int digits = c == 'u' ? 4 : 8; digits > 0; digits--, r->at++) {
        int digit = hex_digit(peek(r));
        if (digit < 0) return fail(r, "expected a hexadecimal digit");
        value = value << 4 | (uint32_t)digit;
    }
    if (value > 0x10FFFF || (value >= 0xD800 && value < 0xE000))
        return fail_at(r, begin, "the escape is no character");
    return put_character(r, out, value);
}

/* "…" or '…', appended to out. */
static bool take_string(reader *r, hg_text *out) {
    char quote = peek(r);
    size_t begin = r->at;
    if (begins(r, "\"\"\"") || begins(r, "'''"))
        return fail(r, "strings of several lines are not read here");
    r->at++;
    while (peek(r) != quote || r->at == r->length) {
        if (r->at == r->length || peek(r) == '\n' || peek(r) == '\r')
            return fail_at(r, begin, "the string is not closed on its line");
        size_t from = r->at;
        if (quote == '"' && peek(r) == '\\') {
            if (!take_escape(r, out)) return false;
            continue;
        }
        if (!take_character(r)) return false;
        hg_text_add(out, r->text + from, r->at - from);
    }
    r->at++;
    return !out->failed || fail_memory(r);
}

/* ---- names ---- */

static bool is_bare(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-';
}

/* One part of a key, behind what the name holds. Bare parts stand as they are; others in quotes,
 * with what a quote would end escaped, so that equal names are equal texts. */
static bool take_part(reader *r) {
    hg_text part = {0};
    size_t begin = r->at;
    bool bare = true;
    if (peek(r) == '"' || peek(r) == '\'') {
        if (!take_string(r, &part)) {
            hg_text_free(&part);
            return false;
        }
    } else {
        while (is_bare(peek(r))) r->at++;
        if (r->at == begin) return fail(r, "expected a key");
        hg_text_add(&part, r->text + begin, r->at - begin);
    }
    for (size_t i = 0; i < part.length; i++) bare &= is_bare(part.data[i]);
    bare &= part.length > 0;
    if (!bare) hg_text_add(&r->name, "\"", 1);
    for (size_t i = 0; i < part.length; i++)
        if (part.data[i] == '"' || part.data[i] == '\\' || !part.data[i])
            hg_text_addf(&r->name, "\\%02x", (unsigned)part.data[i]);
        else
            hg_text_add(&r->name, part.data + i, 1);
    if (!bare) hg_text_add(&r->name, "\"", 1);
    r->name.failed |= part.failed;
    hg_text_free(&part);
    return !r->name.failed || fail_memory(r);
}

static known *find(reader *r) {
    for (uint64_t i = 0; i < r->names.count; i++)
        if (r->names.data[i].length == r->name.length &&
            memcmp(r->names.data[i].name, r->name.data, r->name.length) == 0)
            return &r->names.data[i];
    return NULL;
}

static known *add(reader *r) {
    if (r->names.count == HG_TOML_MOST_NAMES) return fail(r, "more than 4096 names"), NULL;
    known *k = hg_vec_push(&r->names);
    if (k)
        *k = (known){.name = hg_arena_text(&r->document->arena, r->name.data, r->name.length),
                     .length = r->name.length};
    if (!k || !k->name) return fail_memory(r), NULL;
    return k;
}

/* The name so far is a table that something is put into. */
static bool enter(reader *r, size_t at, bool header) {
    known *k = find(r);
    if (!k) {
        if (!(k = add(r))) return false;
        k->how = header ? IMPLIED : BY_DOTS;
        k->header = r->header;
        return true;
    }
    if (k->how == VALUE) return fail_name(r, at, "has a value and is no table");
    if (header) return true;
    if (k->how == BY_HEADER || (k->how == BY_DOTS && k->header != r->header))
        return fail_name(r, at, "is a table that stands elsewhere");
    if (k->how == IMPLIED) k->how = BY_DOTS, k->header = r->header;
    return true;
}

/* A dotted key; each part but the last is entered. */
static bool take_name(reader *r, bool header, size_t *begin) {
    *begin = r->at;
    for (;;) {
        if (!take_part(r)) return false;
        skip_blanks(r);
        if (peek(r) != '.') return true;
        if (!enter(r, *begin, header)) return false;
        r->at++;
        skip_blanks(r);
        hg_text_add(&r->name, ".", 1);
    }
}

static bool take_header(reader *r) {
    size_t begin;
    if (begins(r, "[[")) return fail(r, "arrays of tables are not read here");
    r->at++;
    r->header++;
    r->name.length = 0;
    skip_blanks(r);
    if (!take_name(r, true, &begin)) return false;
    if (!take(r, "]")) return fail(r, "expected ']' behind the name of a table");
    known *k = find(r);
    if (k && k->how != IMPLIED)
        return fail_name(r, begin,
                         k->how == VALUE ? "has a value and is no table" : "stands a second time");
    if (!k && !(k = add(r))) return false;
    k->how = BY_HEADER;
    r->table.length = 0;
    hg_text_add(&r->table, r->name.data, r->name.length);
    return !r->table.failed || fail_memory(r);
}

/* ---- values ---- */

/* Digits of a base with single '_' between them. */
static bool take_digits(reader *r, unsigned base, uint64_t *value) {
    bool digit = false;
    for (*value = 0;; r->at++) {
        if (peek(r) == '_' && digit) {
            digit = false;
            continue;
        }
        int d = hex_digit(peek(r));
        if (d < 0 || (unsigned)d >= base) break;
        if (!hg_mul_u64(*value, base, value) || !hg_add_u64(*value, (uint64_t)d, value))
            return fail(r, "an integer beyond 64 bits");
        digit = true;
    }
    return digit || fail(r, "expected a digit");
}

static bool take_integer(reader *r) {
    size_t begin = r->at;
    bool negative = peek(r) == '-', sign = negative || peek(r) == '+';
    unsigned base = 10;
    uint64_t value;
    r->at += sign;
    if (begins(r, "inf") || begins(r, "nan"))
        return fail_at(r, begin, "floating-point numbers are not read here");
    if (!sign) base = take(r, "0x") ? 16 : take(r, "0o") ? 8 : take(r, "0b") ? 2 : 10;
    bool zero = base == 10 && peek(r) == '0';
    size_t digits = r->at;
    if (!take_digits(r, base, &value)) return false;
    char next = peek(r);
    if (base == 10 && (next == '.' || next == 'e' || next == 'E'))
        return fail_at(r, begin, "floating-point numbers are not read here");
    if (base == 10 && (next == '-' || next == ':'))
        return fail_at(r, begin, "dates and times are not read here");
    if (is_bare(next)) return fail(r, "a number ends here, and something follows it");
    if (zero && r->at - digits > 1) return fail_at(r, begin, "a number does not begin with 0");
    if (value > (negative ? UINT64_C(1) << 63 : INT64_MAX))
        return fail_at(r, begin, "an integer beyond 64 bits");
    hg_text_addf(&r->value, "%s%llu", negative && value ? "-" : "", (unsigned long long)value);
    return !r->value.failed || fail_memory(r);
}

/* Blanks, comments and ends of lines. */
static bool skip_lines(reader *r) {
    for (;;) {
        skip_blanks(r);
        if (peek(r) != '#' && peek(r) != '\n' && peek(r) != '\r') return true;
        if (!end_line(r)) return false;
    }
}

static bool take_array(reader *r) {
    const reader begin = *r;
    bool more = true;
    r->at++;
    while (skip_lines(r)) {
        char c = peek(r);
        if (take(r, "]")) return true;
        if (r->at == r->length) {
            r->line = begin.line;
            r->line_start = begin.line_start;
            return fail_at(r, begin.at, "the array is not closed");
        }
        if (!more) return fail(r, "expected ',' or ']' in an array");
        if (!is_digit(c) && c != '-' && c != '+')
            return fail(r, "only arrays of integers are read here");
        if (r->value.length) hg_text_add(&r->value, ",", 1);
        if (!take_integer(r) || !skip_lines(r)) return false;
        more = take(r, ",");
    }
    return false;
}

static bool take_value(reader *r, hg_toml_kind *kind) {
    char c = peek(r);
    r->value.length = 0;
    *kind = HG_TOML_STRING;
    if (c == '"' || c == '\'') return take_string(r, &r->value);
    *kind = HG_TOML_INTEGERS;
    if (c == '[') return take_array(r);
    if (c == '{') return fail(r, "inline tables are not read here");
    *kind = HG_TOML_BOOL;
    size_t begin = r->at;
    if (take(r, "true") || take(r, "false")) {
        hg_text_add(&r->value, r->text + begin, r->at - begin);
        return !is_bare(peek(r)) || fail_at(r, begin, "expected a value");
    }
    *kind = HG_TOML_INTEGER;
    if (is_digit(c) || c == '-' || c == '+') return take_integer(r);
    if (begins(r, "inf") || begins(r, "nan"))
        return fail(r, "floating-point numbers are not read here");
    return fail(r, "expected a value: a string in quotes, a number, true, false, or [numbers]");
}

static bool take_pair(reader *r) {
    hg_toml_value v = {.key_line = r->line};
    size_t begin;
    r->name.length = 0;
    if (r->table.length) hg_text_addf(&r->name, "%s.", r->table.data);
    if (!take_name(r, false, &begin)) return false;
    if (find(r)) return fail_name(r, begin, "stands a second time");
    known *k = add(r);
    if (!k) return false;
    k->how = VALUE;
    v.key = k->name;
    v.key_column = (uint32_t)(begin - r->line_start) + 1;
    if (!take(r, "=")) return fail(r, "expected '=' behind a key");
    skip_blanks(r);
    v.line = r->line;
    v.column = (uint32_t)(r->at - r->line_start) + 1;
    if (!take_value(r, &v.kind)) return false;
    v.length = r->value.length;
    v.text = hg_arena_text(&r->document->arena, r->value.data ? r->value.data : "", v.length);
    hg_toml_value *added = hg_vec_push(&r->document->values);
    if (!added || !v.text) return fail_memory(r);
    *added = v;
    return true;
}

static bool take_document(reader *r) {
    if (r->length > HG_TOML_MOST_BYTES) return fail(r, "the text is longer than 256 KiB");
    r->at = hg_byte_order_mark(r->text, r->length);
    for (; r->at < r->length;) {
        skip_blanks(r);
        char c = peek(r);
        bool line = r->at == r->length || c == '#' || c == '\n' || c == '\r';
        if (!line && !(c == '[' ? take_header(r) : take_pair(r))) return false;
        if (!end_line(r)) return false;
    }
    return true;
}

bool hg_toml_read(hg_toml *document, const char *text, size_t length, hg_toml_fault *fault) {
    reader r = {.text = text, .length = length, .line = 1, .document = document, .fault = fault};
    memset(document, 0, sizeof *document);
    bool good = take_document(&r);
    if (!good) hg_toml_free(document);
    hg_text_free(&r.table);
    hg_text_free(&r.name);
    hg_text_free(&r.value);
    hg_vec_free(&r.names);
    return good;
}

void hg_toml_free(hg_toml *document) {
    hg_vec_free(&document->values);
    hg_arena_free(&document->arena);
    memset(document, 0, sizeof *document);
}
