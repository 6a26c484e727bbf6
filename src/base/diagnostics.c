/* Lists of diagnostics in order of place, and their text (language.md 6). Must not know: the
 * grammar, programs. */
#include "base/base.h"
#include "base/decimal.h"
#include "base/lines.h"

#include <stdio.h>
#include <string.h>

enum { DEFAULT_ERRORS = 20, EXCERPT_COLUMNS = 120 };

/* The public record; its strings stand in one block behind `message`. */
struct hg_diagnostics {
    HG_VEC(hg_diagnostic) list;
    size_t kept_errors, max_errors;
    size_t errors;         /* found, faults included */
    size_t printed_errors; /* found, severity error only */
};

hg_diagnostics *hg_diagnostics_create(uint32_t max_errors) {
    HG_ENTRY;
    hg_diagnostics *d = hg_calloc(1, sizeof *d);
    if (d) d->max_errors = max_errors ? max_errors : DEFAULT_ERRORS;
    return d;
}

void hg_diagnostics_destroy(hg_diagnostics *d) {
    HG_ENTRY;
    if (!d) return;
    for (uint64_t i = 0; i < d->list.count; i++)
        hg_free((char *)(uintptr_t)d->list.data[i].message);
    hg_vec_free(&d->list);
    hg_free(d);
}

size_t hg_diagnostics_count(const hg_diagnostics *d) {
    HG_ENTRY;
    return d ? (size_t)d->list.count : 0;
}
size_t hg_diagnostics_errors(const hg_diagnostics *d) {
    HG_ENTRY;
    return d ? d->errors : 0;
}
const hg_diagnostic *hg_diagnostics_get(const hg_diagnostics *d, size_t i) {
    HG_ENTRY;
    return d && i < d->list.count ? &d->list.data[i] : NULL;
}

void hg_string_free(char *text) {
    HG_ENTRY;
    hg_free(text);
}

/* ---- adding ---- */

static bool is_error(const hg_diagnostic *g) {
    return g->severity == HG_SEVERITY_ERROR || g->severity == HG_SEVERITY_FAULT;
}

static bool before(const hg_diagnostic *a, const hg_diagnostic *b) {
    if (a->outer_line != b->outer_line) return a->outer_line < b->outer_line;
    if (a->outer_column != b->outer_column) return a->outer_column < b->outer_column;
    if (a->line != b->line) return a->line < b->line;
    if (a->column != b->column) return a->column < b->column;
    return a->instruction < b->instruction;
}

/* Index behind all that are not after `g`: equal places keep the order in which they came. */
static uint64_t find_position(const hg_diagnostics *d, const hg_diagnostic *g) {
    uint64_t low = 0, high = d->list.count;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (before(g, &d->list.data[middle]))
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* At the maximum the error that stands last gives way. False if that is `g` itself. */
static bool make_room(hg_diagnostics *d, const hg_diagnostic *g) {
    if (!is_error(g) || d->kept_errors < d->max_errors) return true;
    uint64_t last = d->list.count;
    while (last && !is_error(&d->list.data[last - 1])) last--;
    if (!last || !before(g, &d->list.data[last - 1])) return false;
    hg_free((char *)(uintptr_t)d->list.data[last - 1].message);
    memmove(&d->list.data[last - 1], &d->list.data[last],
            (size_t)(d->list.count - last) * sizeof *d->list.data);
    d->list.count--;
    d->kept_errors--;
    return true;
}

/* All strings in one block that begins with the message; those that are missing are NULL. */
typedef struct strings {
    const char *given[4]; /* hint, file, text, expansion */
    size_t length[4];
    char *copied[4];
} strings;

static char *join_strings(strings *s, const char *format, va_list args) {
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    size_t bytes = (size_t)(length < 0 ? 0 : length) + 1;
    for (int i = 0; i < 4; i++)
        if (s->given[i]) bytes += s->length[i] + 1;
    char *text = length < 0 ? NULL : hg_alloc(bytes), *at = text;
    if (text) {
        at += vsnprintf(text, (size_t)length + 1, format, again) + 1;
        for (int i = 0; i < 4; i++) {
            s->copied[i] = s->given[i] ? at : NULL;
            if (!s->given[i]) continue;
            memcpy(at, s->given[i], s->length[i]);
            at[s->length[i]] = 0;
            at += s->length[i] + 1;
        }
    }
    va_end(again);
    return text;
}

static void add(hg_diagnostics *d, hg_diagnostic g, const char *code, const hg_origin *from,
                const char *hint, const char *format, va_list args) {
    static const hg_origin SOURCE;
    if (!d) return;
    if (is_error(&g)) d->errors++;
    if (g.severity == HG_SEVERITY_ERROR) d->printed_errors++;
    g.outer_line = from ? from->line : g.line;
    g.outer_column = from ? from->column : g.column;
    if (!make_room(d, &g)) return;
    if (!from) from = &SOURCE;
    strings s = {.given = {hint, from->file, from->text, from->expansion}};
    for (int i = 0; i < 4; i++)
        s.length[i] = i == 2 ? from->text_length : s.given[i] ? strlen(s.given[i]) : 0;
    char *text = join_strings(&s, format, args);
    if (!text) return;
    uint64_t position = find_position(d, &g);
    if (!hg_vec_push(&d->list)) {
        hg_free(text);
        return;
    }
    g.size = sizeof g;
    snprintf(g.code, sizeof g.code, "%s", code ? code : "");
    g.message = text;
    g.hint = s.copied[0];
    g.file = s.copied[1];
    g.text = s.copied[2];
    g.expansion = s.copied[3];
    memmove(&d->list.data[position + 1], &d->list.data[position],
            (size_t)(d->list.count - 1 - position) * sizeof g);
    d->list.data[position] = g;
    if (is_error(&g)) d->kept_errors++;
}

static hg_diagnostic at(hg_severity severity, hg_place place, uint64_t lane) {
    return (hg_diagnostic){.severity = (int)severity,
                           .line = place.line,
                           .column = place.column,
                           .length = place.length,
                           .instruction = place.instruction,
                           .lane = lane,
                           .operand = place.operand};
}

void hg_diagnose(hg_diagnostics *d, hg_severity severity, const char *code, hg_place place,
                 const char *hint, const char *format, ...) {
    va_list args;
    va_start(args, format);
    add(d, at(severity, place, HG_NONE), code, NULL, hint, format, args);
    va_end(args);
}

void hg_diagnose_from(hg_diagnostics *d, hg_severity severity, const char *code, hg_place place,
                      const hg_origin *origin, const char *hint, const char *format, ...) {
    va_list args;
    va_start(args, format);
    add(d, at(severity, place, HG_NONE), code, origin, hint, format, args);
    va_end(args);
}

void hg_diagnose_fault(hg_diagnostics *d, const char *code, hg_place place, uint64_t lane,
                       const char *where, const char *format, ...) {
    va_list args;
    va_start(args, format);
    add(d, at(HG_SEVERITY_FAULT, place, lane), code, NULL, where, format, args);
    va_end(args);
}

/* ---- printing ---- */

/* Bytes of the character at text: 1 for anything that is not well-formed UTF-8. */
static size_t character_bytes(const char *text, size_t left) {
    unsigned char first = (unsigned char)text[0];
    size_t n = first >= 0xC2 && first <= 0xDF   ? 2
               : (first & 0xF0) == 0xE0         ? 3
               : first >= 0xF0 && first <= 0xF4 ? 4
                                                : 1;
    if (n > left) return 1;
    for (size_t i = 1; i < n; i++)
        if (((unsigned char)text[i] & 0xC0) != 0x80) return 1;
    return n;
}

/* Characters in text[0, length). */
static size_t count_characters(const char *text, size_t length) {
    size_t n = 0;
    for (size_t i = 0; i < length; i += character_bytes(text + i, length - i)) n++;
    return n;
}

/* A tab is one column (language.md 1); what a terminal could obey is not sent to it. */
static void add_character(hg_text *out, const char *text, size_t bytes) {
    unsigned char c = (unsigned char)text[0];
    if (bytes > 1 || (c >= 32 && c < 127))
        hg_text_add(out, text, bytes);
    else
        hg_text_add(out, c == '\t' ? " " : "?", 1);
}

static int gutter_width(uint64_t number) {
    int digits = 1;
    while (number /= 10) digits++;
    return digits < 5 ? 5 : digits;
}

/* The source line, cut around the caret, and the caret line below it. */
static void add_excerpt(hg_text *out, const hg_diagnostic *g, const char *text, size_t length) {
    size_t caret_byte = g->column - 1u < length ? g->column - 1u : length;
    size_t marked = g->length ? g->length : 1;
    if (marked > length - caret_byte) marked = length - caret_byte;
    size_t caret = count_characters(text, caret_byte),
           width = count_characters(text + caret_byte, marked);
    size_t total = caret + count_characters(text + caret_byte, length - caret_byte);
    size_t first = 0;
    if (total > EXCERPT_COLUMNS) {
        first = caret > EXCERPT_COLUMNS / 2 ? caret - EXCERPT_COLUMNS / 2 : 0;
        if (first > total - EXCERPT_COLUMNS) first = total - EXCERPT_COLUMNS;
    }
    hg_text_addf(out, "%5u | ", (unsigned)g->line);
    size_t index = 0;
    for (size_t i = 0, bytes; i < length && index < first + EXCERPT_COLUMNS; i += bytes, index++) {
        bytes = character_bytes(text + i, length - i);
        if (index >= first) add_character(out, text + i, bytes);
    }
    hg_text_addf(out, "\n%*s | %*s^", gutter_width(g->line), "", (int)(caret - first), "");
    for (size_t i = 1; i < width && caret + i < first + EXCERPT_COLUMNS; i++)
        hg_text_add(out, "~", 1);
    hg_text_add(out, "\n", 1);
}

static void add_head(hg_text *out, const hg_diagnostic *g, const char *file) {
    static const char *const severities[] = {"error", "warning", "note", "fault"};
    hg_text_addf(out, "%s", file);
    if (g->line && g->column)
        hg_text_addf(out, ":%u:%u", (unsigned)g->line, (unsigned)g->column);
    else if (g->line)
        hg_text_addf(out, ":%u", (unsigned)g->line);
    else if (g->instruction != HG_NONE)
        hg_text_addf(out, "#%llu", (unsigned long long)g->instruction);
    hg_text_addf(out, ": %s", severities[g->severity & 3]);
    if (g->code[0]) hg_text_addf(out, "[%s]", g->code);
    hg_text_addf(out, ": %s\n", g->message);
}

static void add_fault_place(hg_text *out, const hg_diagnostic *g) {
    if (g->hint) {
        if (*g->hint) hg_text_addf(out, "   %s\n", g->hint);
        return;
    }
    if (g->instruction == HG_NONE) return;
    hg_text_addf(out, "   in instruction %llu", (unsigned long long)g->instruction);
    if (g->lane != HG_NONE) hg_text_addf(out, ", lane %llu", (unsigned long long)g->lane);
    if (g->operand) hg_text_addf(out, ", operand %u", (unsigned)g->operand);
    hg_text_add(out, "\n", 1);
}

char *hg_diagnostics_print_with(const hg_diagnostics *d, const char *file, const char *source,
                                size_t length,
                                bool (*instruction_text)(void *user, uint64_t index, hg_text *out),
                                void *user) {
    hg_text out = {0};
    hg_text_add(&out, "", 0);
    hg_line_reader reader = {source, length, 0, 1};
    if (source)
        reader.start = hg_byte_order_mark(source, length); /* columns count from behind it */
    for (size_t i = 0; i < hg_diagnostics_count(d); i++) {
        const hg_diagnostic *g = &d->list.data[i];
        const char *text;
        size_t bytes;
        add_head(&out, g, g->file ? g->file : file);
        if (g->severity == HG_SEVERITY_FAULT) {
            bool shown = g->length && g->line && g->column; /* the expression that faulted */
            if (shown && hg_line_read(&reader, g->line, &text, &bytes))
                add_excerpt(&out, g, text, bytes);
            add_fault_place(&out, g);
            continue;
        }
        if (g->file && g->text && g->column)
            add_excerpt(&out, g, g->text, strlen(g->text));
        else if (!g->file && g->line && g->column && hg_line_read(&reader, g->line, &text, &bytes))
            add_excerpt(&out, g, text, bytes);
        else if (!g->line && g->instruction != HG_NONE && instruction_text) {
            size_t start = out.length;
            hg_text_addf(&out, "%5llu | ", (unsigned long long)g->instruction);
            if (instruction_text(user, g->instruction, &out))
                hg_text_add(&out, "\n", 1);
            else if (out.data && out.length >= start)
                out.data[out.length = start] = 0;
        }
        if (g->expansion) hg_text_addf(&out, "   %s\n", g->expansion);
        if (g->hint) hg_text_addf(&out, "   hint: %s\n", g->hint);
    }
    if (d && d->printed_errors)
        hg_text_addf(&out, "%s: %llu error%s\n", file, (unsigned long long)d->printed_errors,
                     d->printed_errors == 1 ? "" : "s");
    if (out.failed) hg_text_free(&out);
    return out.data;
}

char *hg_diagnostics_print(const hg_diagnostics *d, const char *file, const char *source,
                           size_t source_length) {
    HG_ENTRY;
    return hg_diagnostics_print_with(d, file ? file : "<stdin>", source, source_length, NULL, NULL);
}
