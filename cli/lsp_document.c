/* Texts that an editor has open: their names, and places in them.
 * Must not know: what the texts mean. */
#include "lsp.h"
#include <string.h>

/* Bytes of the code point at text, and its UTF-16 units; a byte that is not UTF-8 is one unit. */
static size_t code_point(const char *text, size_t length, uint32_t *units) {
    uint8_t first = (uint8_t)text[0];
    size_t bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC0 ? 2 : 1;
    *units = bytes == 4 ? 2 : 1;
    if (bytes > length) bytes = 1;
    for (size_t i = 1; i < bytes; i++)
        if (((uint8_t)text[i] & 0xC0) != 0x80) return *units = 1;
    return bytes;
}

size_t lsp_offset(const char *text, size_t length, lsp_position position, bool utf8) {
    size_t at = 0;
    for (uint32_t line = 0; line < position.line; line++) {
        const char *feed = at < length ? memchr(text + at, '\n', length - at) : NULL;
        if (!feed) return length;
        at = (size_t)(feed - text) + 1;
    }
    for (uint32_t column = 0; at < length && text[at] != '\n' && column < position.column;) {
        uint32_t units;
        size_t bytes = code_point(text + at, length - at, &units);
        if (text[at] == '\r' && at + 1 < length && text[at + 1] == '\n') break;
        column += utf8 ? (uint32_t)bytes : units;
        at += bytes;
    }
    return at;
}

lsp_position lsp_position_of(const char *text, size_t length, size_t offset, bool utf8) {
    lsp_position p = {0, 0};
    size_t start = 0;
    if (offset > length) offset = length;
    for (const char *feed; start < offset && (feed = memchr(text + start, '\n', offset - start));
         p.line++)
        start = (size_t)(feed - text) + 1;
    while (start < offset) {
        uint32_t units;
        size_t bytes = code_point(text + start, length - start, &units);
        p.column += utf8 ? (uint32_t)bytes : units;
        start += bytes;
    }
    return p;
}

static int digit_of(char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

char *lsp_path(const char *uri, size_t length) {
    static const char *const HOSTS[] = {"file:///", "file://localhost/"};
    for (size_t i = 0; i < HG_COUNT_OF(HOSTS); i++) {
        size_t before = strlen(HOSTS[i]) - 1, to = 0;
        if (length <= before || memcmp(uri, HOSTS[i], before + 1) != 0) continue;
        char *path = hg_alloc(length - before + 1);
        for (size_t at = before; path && at < length; at++) {
            int high = uri[at] == '%' && at + 2 < length ? digit_of(uri[at + 1]) : -1,
                low = high >= 0 ? digit_of(uri[at + 2]) : -1;
            path[to++] = low >= 0 ? (char)(high * 16 + low) : uri[at];
            if (low >= 0) at += 2;
        }
        if (path) path[to] = '\0';
        return path;
    }
    return NULL;
}

void lsp_uri(hg_text *out, const char *path) {
    static const char PLAIN[] = "/-._~:+@!$&'()*,;=";
    hg_text_addf(out, "file://");
    for (; *path; path++) {
        char c = *path;
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        hg_text_addf(out, letter || strchr(PLAIN, c) ? "%c" : "%%%02X", (unsigned char)c);
    }
}

bool lsp_is_graph(const lsp_document *document) {
    return hg_path_ends(document->path ? document->path : document->uri, ".graph");
}

void lsp_document_free(lsp_document *document) {
    hg_free(document->uri);
    hg_free(document->path);
    hg_text_free(&document->text);
}

static bool read_number(const hg_json_document *d, uint32_t object, const char *key,
                        uint32_t *number) {
    uint32_t token = hg_json_member(d, object, key);
    if (!token || hg_json_kind_of(d, token) != HG_JSON_INTEGER) return false;
    hg_json_number n = hg_json_number_of(d, token);
    *number = n.kind == HG_JSON_U64 && n.u64 <= UINT32_MAX ? (uint32_t)n.u64 : UINT32_MAX;
    return n.kind == HG_JSON_U64;
}

bool lsp_read_position(const hg_json_document *d, uint32_t object, lsp_position *position) {
    return object && read_number(d, object, "line", &position->line) &&
           read_number(d, object, "character", &position->column);
}

static void add_position(hg_json *json, const char *key, lsp_position p) {
    hg_json_key(json, key);
    hg_json_begin_object(json);
    hg_json_add_u64(json, "line", p.line);
    hg_json_add_u64(json, "character", p.column);
    hg_json_end_object(json);
}

void lsp_add_range(hg_json *json, const char *text, size_t length, size_t from, size_t to,
                   bool utf8) {
    hg_json_begin_object(json);
    add_position(json, "start", lsp_position_of(text, length, from, utf8));
    add_position(json, "end", lsp_position_of(text, length, to, utf8));
    hg_json_end_object(json);
}
