/* JSON text to tokens. Blanks and strings are scanned eight bytes at a time.
 * Must not know: what documents mean. */
#include "base/json_read.h"

#include <stdio.h>
#include <string.h>

enum { FIRST_TOKENS = 64, FIRST_FRAMES = 32 };

typedef struct frame {
    uint32_t token;
    bool suspect;  /* two keys share a bit of the mask, or one has escapes */
    uint64_t mask; /* a bit for each key seen: signature() */
} frame;

typedef struct reader {
    const char *text;
    size_t length;
    hg_json_token *tokens;
    uint32_t count, capacity;
    frame *frames;
    uint32_t depth, frame_capacity, max_depth;
    bool escaped; /* the string just scanned */
    hg_json_fault *fault;
} reader;

/* ---- mistakes ---- */

/* Returns 0, which is no place behind anything. */
static size_t fail(reader *r, hg_json_fault_kind kind, size_t offset, size_t length,
                   const char *hint, const char *format, ...) HG_PRINTF(6, 7);
static size_t fail(reader *r, hg_json_fault_kind kind, size_t offset, size_t length,
                   const char *hint, const char *format, ...) {
    va_list list;
    r->fault->kind = kind;
    r->fault->offset = offset;
    r->fault->length = length;
    r->fault->hint = hint;
    va_start(list, format);
    vsnprintf(r->fault->message, sizeof r->fault->message, format, list);
    va_end(list);
    return 0;
}

static size_t no_memory(reader *r) {
    return fail(r, HG_JSON_NO_MEMORY, 0, 0, NULL, "out of memory");
}

/* Why people write what JSON is not. */
static const char *hint_for(const char *text, size_t left, bool after_comma) {
    char c = left ? text[0] : '\0';
    if (c == '\'') return "strings stand in double quotes";
    if (c == '/' || c == '#') return "JSON has no comments";
    if ((c == ']' || c == '}') && after_comma) return "JSON has no comma after the last item";
    if (left >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0)
        return "a byte-order mark stands at the start of the text alone";
    if (c == '+' || c == '.') return "a number begins with a digit or '-'";
    static const char *const words[][2] = {{"True", "write true"},
                                           {"False", "write false"},
                                           {"None", "write null"},
                                           {"NaN", "JSON has no NaN"},
                                           {"Infinity", "JSON has no infinity"},
                                           {"undefined", "write null"}};
    for (size_t i = 0; i < HG_COUNT_OF(words); i++) {
        size_t n = strlen(words[i][0]);
        if (left >= n && memcmp(text, words[i][0], n) == 0) return words[i][1];
    }
    return NULL;
}

static size_t unexpected(reader *r, size_t at, const char *expected) {
    if (at >= r->length)
        return fail(r, HG_JSON_BAD_SYNTAX, r->length, 0, NULL,
                    "expected %s, got the end of the text", expected);
    size_t bytes = hg_utf8_length(r->text + at, r->length - at), before = at;
    if (!bytes)
        return fail(r, HG_JSON_BAD_UTF8, at, 1, NULL, "byte 0x%02x is not UTF-8",
                    (unsigned char)r->text[at]);
    while (before && (r->text[before - 1] == ' ' || r->text[before - 1] == '\n' ||
                      r->text[before - 1] == '\r' || r->text[before - 1] == '\t'))
        before--;
    const char *hint = hint_for(r->text + at, r->length - at, before && r->text[before - 1] == ',');
    unsigned char c = (unsigned char)r->text[at];
    if (c < 32 || c == 127)
        return fail(r, HG_JSON_BAD_SYNTAX, at, 1, hint, "expected %s, got byte 0x%02x", expected,
                    c);
    /* a word is shown whole */
    size_t end = at + bytes;
    if ((c | 32) >= 'a' && (c | 32) <= 'z')
        while (
            end < r->length && end - at < 20 &&
            (((r->text[end] | 32) >= 'a' && (r->text[end] | 32) <= 'z') || is_digit(r->text[end])))
            end++;
    return fail(r, HG_JSON_BAD_SYNTAX, at, end - at, hint, "expected %s, got '%.*s'", expected,
                (int)(end - at), r->text + at);
}

/* ---- eight bytes at a time ---- */

#define EACH(byte) (UINT64_C(0x0101010101010101) * (byte))

/* The byte at the lowest address is the lowest one. */
static inline uint64_t load8(const char *p) {
    uint64_t word;
    memcpy(&word, p, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = hg_byteswap64(word);
#endif
    return word;
}

/* High bits of the bytes that a string cannot run over: quote, backslash, below 32, above 127.
 * Bytes above the first such byte may be marked wrongly (the borrow), the first never is. */
static inline uint64_t stops(uint64_t word) {
    uint64_t quote = word ^ EACH('"'), slash = word ^ EACH('\\');
    return (((quote - EACH(1)) & ~quote) | ((slash - EACH(1)) & ~slash) |
            ((word - EACH(32)) & ~word) | word) &
           EACH(0x80);
}

static size_t skip_blanks(const char *text, size_t at, size_t length) {
    for (;;) {
        while (at + 8 <= length) {
            uint64_t other = load8(text + at) ^ EACH(' ');
            if (other) {
                at += (size_t)hg_ctz64(other) / 8;
                break;
            }
            at += 8;
        }
        if (at >= length ||
            (text[at] != ' ' && text[at] != '\n' && text[at] != '\r' && text[at] != '\t'))
            return at;
        at++;
    }
}

static inline size_t skip(const char *text, size_t at, size_t length) {
    return at < length && (unsigned char)text[at] > ' ' ? at : skip_blanks(text, at, length);
}

/* ---- strings ---- */

/* Four hexadecimal digits; -1: they are not. */
static int32_t hex4(const char *text, size_t at, size_t length) {
    if (length < 4 || at > length - 4) return -1;
    int32_t value = 0;
    for (size_t i = at; i < at + 4; i++) {
        int digit = hex_digit(text[i]);
        if (digit < 0) return -1;
        value = value * 16 + digit;
    }
    return value;
}

/* Behind the escape at `at` (its backslash). */
static size_t check_escape(reader *r, size_t at) {
    char c = at + 1 < r->length ? r->text[at + 1] : '\0';
    if (c == '"' || c == '\\' || c == '/' || c == 'b' || c == 'f' || c == 'n' || c == 'r' ||
        c == 't')
        return at + 2;
    if (c != 'u') {
        if (at + 1 >= r->length)
            return fail(r, HG_JSON_BAD_SYNTAX, r->length, 0, NULL,
                        "expected '\"', got the end of the text");
        return fail(
            r, HG_JSON_BAD_STRING, at, 1,
            "escapes are \\\" \\\\ \\/ \\b \\f \\n \\r \\t and \\u with four hexadecimal digits",
            "unknown escape in a string");
    }
    int32_t unit = hex4(r->text, at + 2, r->length);
    if (unit < 0)
        return fail(r, HG_JSON_BAD_STRING, at, 2, NULL, "\\u needs four hexadecimal digits");
    if (unit < 0xD800 || unit > 0xDFFF) return at + 6;
    bool pair = unit < 0xDC00 && at + 8 <= r->length && r->text[at + 6] == '\\' &&
                r->text[at + 7] == 'u';
    int32_t low = pair ? hex4(r->text, at + 8, r->length) : -1;
    if (low < 0xDC00 || low > 0xDFFF)
        return fail(r, HG_JSON_BAD_STRING, at, 6,
                    "a character above U+FFFF is a pair \\uD8xx\\uDCxx",
                    "half of a surrogate pair");
    return at + 12;
}

/* Behind the closing quote of the string that opens at `at`. */
static size_t scan_string(reader *r, size_t at) {
    const char *text = r->text;
    size_t start = at++;
    r->escaped = false;
    for (;;) {
        while (at + 8 <= r->length) {
            uint64_t stop = stops(load8(text + at));
            if (stop) {
                at += (size_t)hg_ctz64(stop) / 8;
                break;
            }
            at += 8;
        }
        if (at >= r->length)
            return fail(r, HG_JSON_BAD_SYNTAX, start, 1, NULL,
                        "the string that begins here has no end");
        unsigned char c = (unsigned char)text[at];
        if (c == '"') return at + 1;
        if (c == '\\') {
            r->escaped = true;
            at = check_escape(r, at);
            if (!at) return 0;
        } else if (c < 32) {
            return fail(r, HG_JSON_BAD_STRING, at, 1,
                        c == '\n'   ? "write \\n"
                        : c == '\t' ? "write \\t"
                                    : NULL,
                        "control character 0x%02x in a string", c);
        } else if (c >= 128) {
            size_t bytes = hg_utf8_length(text + at, r->length - at);
            if (!bytes)
                return fail(r, HG_JSON_BAD_UTF8, at, 1, NULL, "byte 0x%02x is not UTF-8", c);
            at += bytes;
        } else {
            at++; /* the last seven bytes of the text */
        }
    }
}

/* ---- numbers ---- */

static size_t skip_digits(const reader *r, size_t at) {
    while (at < r->length && is_digit(r->text[at])) at++;
    return at;
}

static size_t scan_number(reader *r, size_t start, bool *real) {
    const char *text = r->text;
    size_t at = start + (text[start] == '-'), digits = at;
    at = skip_digits(r, at);
    if (at == digits)
        return fail(r, HG_JSON_BAD_NUMBER, start, 1, NULL, "expected a digit after '-'");
    if (text[digits] == '0' && at > digits + 1)
        return fail(r, HG_JSON_BAD_NUMBER, start, at - start, NULL,
                    "a number has no leading zeros");
    *real = false;
    if (at < r->length && text[at] == '.') {
        *real = true;
        digits = ++at;
        at = skip_digits(r, at);
        if (at == digits)
            return fail(r, HG_JSON_BAD_NUMBER, start, at - start, NULL,
                        "expected a digit after '.'");
    }
    if (at < r->length && (text[at] | 32) == 'e') {
        *real = true;
        at++;
        if (at < r->length && (text[at] == '+' || text[at] == '-')) at++;
        digits = at;
        at = skip_digits(r, at);
        if (at == digits)
            return fail(r, HG_JSON_BAD_NUMBER, start, at - start, NULL,
                        "expected a digit in the exponent");
    }
    return at;
}

/* ---- tokens ---- */

static bool grow_tokens(reader *r) {
    uint32_t capacity = r->capacity ? r->capacity * 2 : (uint32_t)(r->length / 8) + FIRST_TOKENS;
    hg_json_token *tokens = hg_realloc(r->tokens, (size_t)capacity * sizeof *tokens);
    if (!tokens) return no_memory(r) != 0;
    r->tokens = tokens;
    r->capacity = capacity;
    return true;
}

static inline bool add_token(reader *r, hg_json_kind kind, size_t offset, size_t size) {
    if (r->count == r->capacity && !grow_tokens(r)) return false;
    r->tokens[r->count++] = (hg_json_token){(uint32_t)offset, (uint32_t)kind & 15u,
                                            (uint32_t)size & 0xFFFFFFFu};
    return true;
}

static bool grow_frames(reader *r) {
    uint32_t capacity = r->frame_capacity ? r->frame_capacity * 2 : FIRST_FRAMES;
    frame *frames = hg_realloc(r->frames, (size_t)capacity * sizeof *frames);
    if (!frames) return no_memory(r) != 0;
    r->frames = frames;
    r->frame_capacity = capacity;
    return true;
}

static bool open_container(reader *r, size_t at) {
    if (r->depth == r->max_depth)
        return fail(r, HG_JSON_TOO_DEEP, at, 1, NULL, "nested deeper than %u",
                    (unsigned)r->max_depth) != 0;
    if (r->depth == r->frame_capacity && !grow_frames(r)) return false;
    r->frames[r->depth++] = (frame){.token = r->count};
    return add_token(r, r->text[at] == '{' ? HG_JSON_OBJECT : HG_JSON_ARRAY, at, 0);
}

/* One of 64 bits by length and both ends: most objects have few keys, and no two that agree in all
 * of them. */
static inline uint64_t signature(const char *key, size_t length) {
    unsigned first = length ? (unsigned char)key[0] : 0,
             last = length ? (unsigned char)key[length - 1] : 0;
    return UINT64_C(1) << ((first * 5 + last * 3 + (unsigned)length) & 63);
}

/* The container on top is complete. */
static bool close_container(reader *r) {
    frame f = r->frames[--r->depth];
    r->tokens[f.token].size = (r->count - f.token) & 0xFFFFFFFu;
    if (!f.suspect) return true;
    hg_json_document seen = {r->text, r->length, r->tokens, r->count};
    uint32_t key = hg_json_repeated_key(&seen, f.token);
    if (!key) return true;
    if (key == HG_JSON_NOT_KNOWN) return no_memory(r) != 0;
    hg_json_token t = r->tokens[key];
    uint32_t shown = t.size < 60 ? t.size : 60;
    while (shown && shown < t.size && ((unsigned char)r->text[t.offset + 1 + shown] & 0xC0) == 0x80)
        shown--;
    return fail(r, HG_JSON_DUPLICATE_KEY, t.offset, (size_t)t.size + 2, NULL,
                "the key '%.*s' stands twice in this object", (int)shown,
                r->text + t.offset + 1) != 0;
}

/* ---- the grammar ---- */

/* Behind the colon of the key at `at`. */
static size_t read_key(reader *r, size_t at) {
    if (at >= r->length || r->text[at] != '"') return unexpected(r, at, "a key in double quotes");
    size_t end = scan_string(r, at);
    if (!end || !add_token(r, r->escaped ? HG_JSON_ESCAPED : HG_JSON_STRING, at, end - at - 2))
        return 0;
    frame *f = &r->frames[r->depth - 1];
    uint64_t bit = signature(r->text + at + 1, end - at - 2);
    f->suspect |= (f->mask & bit) != 0 || r->escaped;
    f->mask |= bit;
    at = skip(r->text, end, r->length);
    if (at >= r->length || r->text[at] != ':') return unexpected(r, at, "':'");
    return at + 1;
}

static size_t read_word(reader *r, size_t at, const char *word, size_t length, hg_json_kind kind) {
    bool same = r->length - at >= length && memcmp(r->text + at, word, length) == 0;
    char behind = same && at + length < r->length ? r->text[at + length] : ' ';
    if (!same || is_digit(behind) || ((behind | 32) >= 'a' && (behind | 32) <= 'z') ||
        behind == '_')
        return unexpected(r, at, "a value");
    return add_token(r, kind, at, length) ? at + length : 0;
}

/* Behind the value that is not a container at `at`. */
static size_t read_scalar(reader *r, size_t at) {
    char c = at < r->length ? r->text[at] : '\0';
    if (c == '"') {
        size_t end = scan_string(r, at);
        return end && add_token(r, r->escaped ? HG_JSON_ESCAPED : HG_JSON_STRING, at, end - at - 2)
                   ? end
                   : 0;
    }
    if (c == '-' || is_digit(c)) {
        bool real;
        size_t end = scan_number(r, at, &real);
        return end && add_token(r, real ? HG_JSON_REAL : HG_JSON_INTEGER, at, end - at) ? end : 0;
    }
    if (c == 't') return read_word(r, at, "true", 4, HG_JSON_TRUE);
    if (c == 'f') return read_word(r, at, "false", 5, HG_JSON_FALSE);
    if (c == 'n') return read_word(r, at, "null", 4, HG_JSON_NULL);
    return unexpected(r, at, "a value");
}

/* Behind the value at `at` as far as it is read before its first item: a scalar, an empty
 * container, an opening bracket with the key of the first member. *inside: an item comes next. */
static size_t begin_value(reader *r, size_t at, bool *inside) {
    at = skip(r->text, at, r->length);
    char c = at < r->length ? r->text[at] : '\0';
    *inside = false;
    if (c != '{' && c != '[') return read_scalar(r, at);
    if (!open_container(r, at)) return 0;
    at = skip(r->text, at + 1, r->length);
    if (at < r->length && r->text[at] == c + 2) { /* ] and } stand two behind [ and { in ASCII */
        (void)close_container(r);                 /* holds no keys */
        return at + 1;
    }
    *inside = true;
    return c == '{' ? read_key(r, at) : at;
}

/* Behind a value: closes containers, up to the comma with which the next item begins (its key is
 * read). *more: there is one. */
static size_t end_value(reader *r, size_t at, bool *more) {
    *more = false;
    while (r->depth) {
        bool object = r->text[r->tokens[r->frames[r->depth - 1].token].offset] == '{';
        at = skip(r->text, at, r->length);
        char c = at < r->length ? r->text[at] : '\0';
        if (c == ',') {
            *more = true;
            return object ? read_key(r, skip(r->text, at + 1, r->length)) : at + 1;
        }
        if (c != (object ? '}' : ']'))
            return unexpected(r, at, object ? "',' or '}'" : "',' or ']'");
        if (!close_container(r)) return 0;
        at++;
    }
    return at;
}

static bool read_document(reader *r) {
    if (r->length > HG_MAX_SOURCE_BYTES)
        return fail(r, HG_JSON_TOO_LONG, 0, 0, NULL, "source of %llu bytes: at most %d are allowed",
                    (unsigned long long)r->length, HG_MAX_SOURCE_BYTES) != 0;
    size_t at = hg_byte_order_mark(r->text, r->length);
    for (bool more = true; more;) {
        bool inside;
        at = begin_value(r, at, &inside);
        if (!at) return false;
        if (inside) continue;
        at = end_value(r, at, &more);
        if (!at) return false;
    }
    at = skip(r->text, at, r->length);
    return at == r->length || unexpected(r, at, "the end of the text") != 0;
}

bool hg_json_read(hg_json_document *document, const char *text, size_t length, uint32_t max_depth,
                  hg_json_fault *fault) {
    reader r = {.text = length ? text : "",
                .length = length,
                .max_depth = max_depth ? max_depth : HG_JSON_DEPTH,
                .fault = fault};
    *document = (hg_json_document){0};
    bool good = read_document(&r);
    hg_free(r.frames);
    if (!good) {
        hg_free(r.tokens);
        return false;
    }
    hg_json_token *fitting = hg_realloc(r.tokens, (size_t)r.count * sizeof *fitting);
    *document = (hg_json_document){r.text, length, fitting ? fitting : r.tokens, r.count};
    return true;
}

void hg_json_document_free(hg_json_document *document) {
    hg_free(document->tokens);
    *document = (hg_json_document){0};
}
