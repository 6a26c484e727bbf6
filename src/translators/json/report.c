/* Errors of a JSON kernel: the path of the place in the document, what stands there, what would be
 * accepted.
 * Must not know: what kernels mean. */
#include "base/nearest.h"
#include "translators/json/kernel.h"

#include <stdio.h>
#include <string.h>

/* ---- paths ---- */

enum { PATH_BYTES = 160 };

/* Appends to a path of which the end is kept: the part near the mistake says more. */
static void add_step(char *path, const char *step, size_t length) {
    size_t have = strlen(path);
    if (have + length >= PATH_BYTES) {
        static const char cut[] = "…";
        size_t drop = have + length - PATH_BYTES + 40;
        if (drop > have) drop = have;
        while (drop < have && path[drop] != '.' && path[drop] != '[') drop++;
        memmove(path + sizeof cut - 1, path + drop, have - drop + 1);
        memcpy(path, cut, sizeof cut - 1);
        have = strlen(path);
        if (have + length >= PATH_BYTES) length = PATH_BYTES - 1 - have;
    }
    memcpy(path + have, step, length);
    path[have + length] = '\0';
}

/* kernel.body[2].value.op of a token: down from the root into the child that holds it. */
static void path_of(jk_kernel *k, uint32_t token, char path[PATH_BYTES + 8]) {
    enum { LONG = 256 };
    const hg_json_document *d = k->document;
    path[0] = '\0';
    for (uint32_t at = 0; at != token;) {
        bool object = d->tokens[at].kind == HG_JSON_OBJECT;
        uint32_t child = at + 1, number = 0;
        if (k->walk.list == at && k->walk.number && k->walk.item <= token) {
            child = k->walk.item;
            number = k->walk.number;
        }
        while (hg_json_next(d, child + object) <= token) {
            child = hg_json_next(d, child + object);
            number++;
        }
        if (number >= LONG) {
            k->walk.list = at;
            k->walk.item = child;
            k->walk.number = number;
        }
        char step[80];
        int length;
        if (object) {
            hg_json_token t = d->tokens[child];
            length = snprintf(step, sizeof step, "%s%.*s", path[0] ? "." : "",
                              (int)(t.size < 64 ? t.size : 64), d->text + t.offset + 1);
            at = child == token ? token : child + 1;
        } else {
            length = snprintf(step, sizeof step, "[%u]", (unsigned)number);
            at = child;
        }
        add_step(path, step,
                 length < 0                     ? 0
                 : (size_t)length < sizeof step ? (size_t)length
                                                : sizeof step - 1);
    }
}

/* ---- errors ---- */

static size_t token_bytes(hg_json_token t) {
    return t.kind >= HG_JSON_ARRAY                                 ? 1
           : t.kind == HG_JSON_STRING || t.kind == HG_JSON_ESCAPED ? (size_t)t.size + 2
                                                                   : t.size;
}

hg_place jk_place(jk_kernel *k, uint32_t token) {
    const hg_json_document *d = k->document;
    return hg_json_place(&k->lines, d->text, d->length, d->tokens[token].offset,
                         token_bytes(d->tokens[token]));
}

void jk_error(jk_kernel *k, const char *code, uint32_t token, const char *hint, const char *format,
              ...) {
    char path[PATH_BYTES + 8], text[400], message[sizeof k->first.message];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (k->errors < JK_MOST_ERRORS) /* beyond it nobody reads them: a path takes a walk */
        path_of(k, token, path);
    else
        path[0] = '\0';
    snprintf(message, sizeof message, "%s%s%.330s", path, path[0] ? ": " : "", text);
    hg_place place = jk_place(k, token);
    hg_diagnose(k->diagnostics, HG_SEVERITY_ERROR, code, place, hint, "%s", message);
    if (k->errors++ && (place.line > k->first.line ||
                        (place.line == k->first.line && place.column >= k->first.column)))
        return;
    k->first.line = place.line;
    k->first.column = place.column;
    snprintf(k->first.code, sizeof k->first.code, "%s", code);
    memcpy(k->first.message, message, sizeof message);
}

hg_status jk_status(jk_kernel *k) {
    if (k->out_of_memory || k->arena.failed) return hg_fail_memory();
    if (!k->errors) return HG_OK;
    hg_status status = hg_fail(HG_ERROR_ISA, "%s", k->first.message);
    hg_error *record = hg_error_record();
    memcpy(record->code, k->first.code, sizeof record->code);
    record->line = k->first.line;
    record->column = k->first.column;
    return status;
}

/* ---- what stands there ---- */

jk_shown jk_show(const jk_kernel *k, uint32_t token) {
    jk_shown shown;
    hg_json_token t = k->document->tokens[token];
    const char *text = k->document->text + t.offset;
    int most = t.size < 50 ? (int)t.size : 50;
    bool string = hg_json_is_string(k->document, token);
    while (string && most && (unsigned)most < t.size &&
           ((unsigned char)text[1 + most] & 0xC0) == 0x80)
        most--;
    if (string)
        snprintf(shown.text, sizeof shown.text, "'%.*s'", most, text + 1);
    else if (t.kind < HG_JSON_ARRAY)
        snprintf(shown.text, sizeof shown.text, "%.*s", most, text);
    else
        snprintf(shown.text, sizeof shown.text, "%s", hg_json_kind_name((hg_json_kind)t.kind));
    return shown;
}

uint32_t jk_field(jk_kernel *k, uint32_t object, const char *key, const char *what) {
    uint32_t value = hg_json_member(k->document, object, key);
    if (!value) jk_error(k, "N05", object, NULL, "'%s' is missing: %s is expected", key, what);
    return value;
}

uint32_t jk_string_field(jk_kernel *k, uint32_t object, const char *key) {
    uint32_t value = jk_field(k, object, key, "a string");
    if (!value || hg_json_is_string(k->document, value)) return value;
    jk_error(k, "N03", value, NULL, "expected a string, got %s", jk_show(k, value).text);
    return 0;
}

int jk_word(const jk_kernel *k, uint32_t token, const char *const *words, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (hg_json_string_is(k->document, token, words[i])) return (int)i;
    return -1;
}

const char *jk_words_hint(const jk_kernel *k, uint32_t token, const char *const *words,
                          size_t count, char *buffer, size_t size) {
    hg_json_token t = k->document->tokens[token];
    hg_nearest nearest;
    hg_nearest_init(&nearest, k->document->text + t.offset + 1,
                    hg_json_is_string(k->document, token) ? t.size : 0);
    for (size_t i = 0; i < count; i++) hg_nearest_try(&nearest, words[i]);
    if (hg_nearest_hint(&nearest)) {
        snprintf(buffer, size, "%s", hg_nearest_hint(&nearest));
        return buffer;
    }
    size_t used = (size_t)snprintf(buffer, size, "one of:");
    for (size_t i = 0; i < count && used < size; i++)
        used += (size_t)snprintf(buffer + used, size - used, " %s", words[i]);
    return buffer;
}

bool jk_only_fields(jk_kernel *k, uint32_t object, const char *fields) {
    const hg_json_document *d = k->document;
    for (uint32_t key = object + 1, end = hg_json_next(d, object); key < end;
         key = hg_json_next(d, key + 1)) {
        bool known = false;
        size_t length;
        const char *text = hg_json_decode(d, key, &k->arena, &length);
        if (!text) {
            k->out_of_memory = true;
            return false;
        }
        for (const char *at = fields; *at && !known;) {
            size_t n = strcspn(at, " ");
            known = n == length && memcmp(at, text, n) == 0;
            at += n + (at[n] == ' ');
        }
        if (known) continue;
        char hint[192];
        snprintf(hint, sizeof hint, "fields here: %s", fields);
        jk_error(k, "N01", key, hint, "unknown field %s", jk_show(k, key).text);
        return false;
    }
    return true;
}
