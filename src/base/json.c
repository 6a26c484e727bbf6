/* JSON writer. Must not know: the command. */
#include "base/json.h"
#include "base/decimal.h"

#include <stdio.h>
#include <string.h>

static const uint64_t exact_integers = UINT64_C(1) << 53; /* what a reader with doubles keeps */

static void raw(hg_json *json, const char *bytes, size_t length) {
    hg_text_add(json->out, bytes, length);
}

/* Before every value or key. */
static void begin_item(hg_json *json) {
    if (json->comma && !json->after_key) raw(json, ",", 1);
    json->comma = true;
    json->after_key = false;
}

static void begin(hg_json *json, const char *bracket) {
    begin_item(json);
    raw(json, bracket, 1);
    json->comma = false;
}

static void end(hg_json *json, const char *bracket) {
    raw(json, bracket, 1);
    json->comma = true;
}

void hg_json_begin_object(hg_json *json) { begin(json, "{"); }
void hg_json_end_object(hg_json *json) { end(json, "}"); }
void hg_json_begin_array(hg_json *json) { begin(json, "["); }
void hg_json_end_array(hg_json *json) { end(json, "]"); }

static void add_quoted(hg_json *json, const char *bytes, size_t length) {
    const unsigned char *s = (const unsigned char *)bytes;
    raw(json, "\"", 1);
    for (size_t i = 0; i < length;) {
        size_t n = hg_utf8_length(bytes + i, length - i);
        unsigned char c = s[i];
        if (n == 0)
            raw(json, "\xEF\xBF\xBD", 3);
        else if (c == '"' || c == '\\')
            hg_text_addf(json->out, "\\%c", c);
        else if (c == '\n')
            raw(json, "\\n", 2);
        else if (c == '\t')
            raw(json, "\\t", 2);
        else if (c < 32 || c == 127)
            hg_text_addf(json->out, "\\u%04x", c);
        else
            raw(json, bytes + i, n);
        i += n ? n : 1;
    }
    raw(json, "\"", 1);
}

void hg_json_key(hg_json *json, const char *key) {
    begin_item(json);
    add_quoted(json, key, strlen(key));
    raw(json, ":", 1);
    json->after_key = true;
}

void hg_json_null(hg_json *json) {
    begin_item(json);
    raw(json, "null", 4);
}

void hg_json_bool(hg_json *json, bool value) {
    begin_item(json);
    hg_text_addf(json->out, "%s", value ? "true" : "false");
}

void hg_json_u64(hg_json *json, uint64_t value) {
    begin_item(json);
    hg_text_addf(json->out, value > exact_integers ? "\"%llu\"" : "%llu",
                 (unsigned long long)value);
}

void hg_json_i64(hg_json *json, int64_t value) {
    uint64_t size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    begin_item(json);
    hg_text_addf(json->out, size > exact_integers ? "\"%lld\"" : "%lld", (long long)value);
}

void hg_json_f64(hg_json *json, double value) {
    begin_item(json);
    if (value != value)
        raw(json, "\"nan\"", 5);
    else if (value - value != 0)
        hg_text_addf(json->out, "\"%sinf\"", value < 0 ? "-" : "");
    else
        hg_text_addf(json->out, "%.17g", value);
}

void hg_json_string(hg_json *json, const char *bytes, size_t length) {
    begin_item(json);
    add_quoted(json, bytes, length);
}

void hg_json_text(hg_json *json, const char *text) {
    if (text)
        hg_json_string(json, text, strlen(text));
    else
        hg_json_null(json);
}

static size_t count_digits(const char *text, size_t length) {
    size_t n = 0;
    while (n < length && text[n] >= '0' && text[n] <= '9') n++;
    return n;
}

/* A number of RFC 8259, section 6; integers only up to 2^53. */
static bool is_number(const char *text, size_t length) {
    size_t i = length && text[0] == '-' ? 1 : 0;
    size_t whole = count_digits(text + i, length - i);
    if (!whole || (whole > 1 && text[i] == '0')) return false;
    size_t first = i;
    i += whole;
    if (i == length) {
        uint64_t value = 0;
        for (size_t k = first; k < length && value <= exact_integers; k++)
            value = value * 10 + (uint64_t)(text[k] - '0');
        return value <= exact_integers;
    }
    if (text[i] == '.') {
        size_t digits = count_digits(text + i + 1, length - i - 1);
        if (!digits) return false;
        i += 1 + digits;
    }
    if (i < length && (text[i] == 'e' || text[i] == 'E')) {
        i++;
        if (i < length && (text[i] == '+' || text[i] == '-')) i++;
        size_t digits = count_digits(text + i, length - i);
        if (!digits) return false;
        i += digits;
    }
    return i == length;
}

void hg_json_literal(hg_json *json, const char *text, size_t length) {
    begin_item(json);
    if (is_number(text, length))
        raw(json, text, length);
    else
        add_quoted(json, text, length);
}

static void add_number_or_null(hg_json *json, const char *key, uint64_t value, uint64_t unknown) {
    hg_json_key(json, key);
    if (value == unknown)
        hg_json_null(json);
    else
        hg_json_u64(json, value);
}

static void add_diagnostic(hg_json *json, const hg_diagnostic *g, const char *file) {
    static const char *const severities[] = {"error", "warning", "note", "fault"};
    hg_json_begin_object(json);
    hg_json_key(json, "severity");
    hg_json_text(json, severities[g->severity & 3]);
    hg_json_key(json, "code");
    hg_json_text(json, g->code);
    hg_json_key(json, "message");
    hg_json_text(json, g->message);
    hg_json_key(json, "file");
    hg_json_text(json, g->file ? g->file : file);
    add_number_or_null(json, "line", g->line, 0);
    add_number_or_null(json, "column", g->column, 0);
    add_number_or_null(json, "length", g->length, 0);
    add_number_or_null(json, "instruction", g->instruction, HG_NONE);
    hg_json_key(json, "hint");
    hg_json_text(json, g->severity == HG_SEVERITY_FAULT ? NULL : g->hint); /* a fault has its place
                                                                              there */
    add_number_or_null(json, "lane", g->lane, HG_NONE);
    add_number_or_null(json, "operand", g->operand, 0);
    hg_json_key(json, "expansion");
    hg_json_text(json, g->expansion);
    hg_json_end_object(json);
}

void hg_json_add_text(hg_json *json, const char *key, const char *value) {
    hg_json_key(json, key);
    hg_json_text(json, value);
}

void hg_json_add_u64(hg_json *json, const char *key, uint64_t value) {
    hg_json_key(json, key);
    hg_json_u64(json, value);
}

void hg_json_add_i64(hg_json *json, const char *key, int64_t value) {
    hg_json_key(json, key);
    hg_json_i64(json, value);
}

void hg_json_add_bool(hg_json *json, const char *key, bool value) {
    hg_json_key(json, key);
    hg_json_bool(json, value);
}

void hg_json_diagnostics(hg_json *json, const hg_diagnostics *diagnostics, const char *file) {
    hg_json_begin_array(json);
    for (size_t i = 0; i < hg_diagnostics_count(diagnostics); i++)
        add_diagnostic(json, hg_diagnostics_get(diagnostics, i), file);
    hg_json_end_array(json);
}
