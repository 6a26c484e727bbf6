/* What a JSON document holds: members, decoded strings, numbers, keys that stand twice, places.
 * Must not know: the grammar, what documents mean. */
#include "base/json_read.h"

#include <math.h>
#include <string.h>

const char *hg_json_kind_name(hg_json_kind kind) {
    static const char *const names[] = {"null",       "false",    "true",
                                        "an integer", "a number", "a string",
                                        "a string",   "an array", "an object"};
    return names[kind];
}

uint32_t hg_json_length(const hg_json_document *d, uint32_t token) {
    uint32_t count = 0, end = hg_json_next(d, token), item = token + 1;
    if (d->tokens[token].kind == HG_JSON_OBJECT)
        for (; item < end; item = hg_json_next(d, item + 1)) count++;
    else
        for (; item < end; item = hg_json_next(d, item)) count++;
    return count;
}

/* ---- strings ---- */

/* Decoded bytes one after the other. */
typedef struct cursor {
    const char *at, *end;
    unsigned char pending[4];
    uint32_t left, next; /* of pending */
} cursor;

static cursor cursor_of(const char *text, hg_json_token t) {
    return (cursor){.at = text + t.offset + 1, .end = text + t.offset + 1 + t.size};
}

static uint32_t hex4(const char *digits) {
    uint32_t value = 0;
    for (int i = 0; i < 4; i++) value = value * 16 + (uint32_t)hex_digit(digits[i]);
    return value;
}

static uint32_t encode(uint32_t c, unsigned char out[4]) {
    static const unsigned char first[] = {0, 0, 0xC0, 0xE0, 0xF0};
    if (c < 0x80) {
        out[0] = (unsigned char)c;
        return 1;
    }
    uint32_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (uint32_t i = n; i-- > 1; c >>= 6) out[i] = (unsigned char)(0x80 | (c & 0x3F));
    out[0] = (unsigned char)(first[n] | c);
    return n;
}

/* The next decoded byte, -1 at the end. The reader has checked the string. */
static int next_byte(cursor *c) {
    if (c->left) {
        c->left--;
        return c->pending[c->next++];
    }
    if (c->at == c->end) return -1;
    if (*c->at != '\\') return (unsigned char)*c->at++;
    static const char names[] = "bfnrt", values[] = "\b\f\n\r\t";
    char kind = c->at[1];
    c->at += 2;
    if (kind != 'u') {
        const char *found = strchr(names, kind);
        return (unsigned char)(found ? values[found - names] : kind);
    }
    uint32_t unit = hex4(c->at);
    c->at += 4;
    if (unit >= 0xD800 && unit <= 0xDFFF) {
        unit = 0x10000 + ((unit - 0xD800) << 10) + (hex4(c->at + 2) - 0xDC00);
        c->at += 6;
    }
    c->left = encode(unit, c->pending) - 1;
    c->next = 1;
    return c->pending[0];
}

bool hg_json_string_is(const hg_json_document *d, uint32_t token, const char *text) {
    hg_json_token t = d->tokens[token];
    if (t.kind == HG_JSON_STRING) /* it holds no 0 byte, so that the text is not read past its own
                                   */
        return strncmp(d->text + t.offset + 1, text, t.size) == 0 && !text[t.size];
    if (t.kind != HG_JSON_ESCAPED) return false;
    cursor c = cursor_of(d->text, t);
    for (size_t i = 0; text[i]; i++)
        if (next_byte(&c) != (unsigned char)text[i]) return false;
    return next_byte(&c) < 0;
}

const char *hg_json_decode(const hg_json_document *d, uint32_t token, hg_arena *arena,
                           size_t *length) {
    hg_json_token t = d->tokens[token];
    *length = t.size;
    if (t.kind != HG_JSON_ESCAPED) return d->text + t.offset + 1;
    char *text = hg_arena_alloc(arena, t.size); /* decoding never makes it longer */
    if (!text) return NULL;
    cursor c = cursor_of(d->text, t);
    size_t n = 0;
    for (int byte = next_byte(&c); byte >= 0; byte = next_byte(&c)) text[n++] = (char)byte;
    *length = n;
    return text;
}

uint32_t hg_json_member(const hg_json_document *d, uint32_t object, const char *key) {
    if (d->tokens[object].kind != HG_JSON_OBJECT) return 0;
    for (uint32_t at = object + 1, end = hg_json_next(d, object); at < end;
         at = hg_json_next(d, at + 1))
        if (hg_json_string_is(d, at, key)) return at + 1;
    return 0;
}

/* ---- keys that stand twice ---- */

/* Order of decoded bytes: negative, 0, positive. */
static int compare_keys(const hg_json_document *d, uint32_t x, uint32_t y) {
    hg_json_token a = d->tokens[x], b = d->tokens[y];
    if (a.kind == HG_JSON_STRING && b.kind == HG_JSON_STRING) {
        int order = memcmp(d->text + a.offset + 1, d->text + b.offset + 1,
                           a.size < b.size ? a.size : b.size);
        return order ? order : a.size < b.size ? -1 : a.size > b.size;
    }
    cursor p = cursor_of(d->text, a), q = cursor_of(d->text, b);
    for (;;) {
        int m = next_byte(&p), n = next_byte(&q);
        if (m != n || m < 0) return m - n;
    }
}

/* FNV-1a (Fowler, Noll, Vo), folded. Who makes collisions on purpose pays with a sort by bytes:
 * repeated_in_run(). */
static uint32_t hash_key(const hg_json_document *d, uint32_t key) {
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    cursor c = cursor_of(d->text, d->tokens[key]);
    for (int byte = next_byte(&c); byte >= 0; byte = next_byte(&c))
        h = (h ^ (uint64_t)byte) * UINT64_C(0x100000001b3);
    return (uint32_t)(h ^ h >> 32);
}

/* An entry is hash << 32 | token. By bytes, then by place. */
static bool entry_before(const hg_json_document *d, uint64_t a, uint64_t b) {
    int order = compare_keys(d, (uint32_t)a, (uint32_t)b);
    return order ? order < 0 : (uint32_t)a < (uint32_t)b;
}

static void sift_down(const hg_json_document *d, uint64_t *run, uint64_t root, uint64_t count) {
    for (;;) {
        uint64_t child = root * 2 + 1;
        if (child >= count) return;
        if (child + 1 < count && entry_before(d, run[child], run[child + 1])) child++;
        if (!entry_before(d, run[root], run[child])) return;
        uint64_t swap = run[root];
        run[root] = run[child];
        run[child] = swap;
        root = child;
    }
}

/* Keys of one hash, sorted by bytes so that no input takes n * n comparisons. The first that
 * repeats another, or `best` if before. */
static uint32_t repeated_in_run(const hg_json_document *d, uint64_t *run, uint64_t count,
                                uint32_t best) {
    for (uint64_t i = count / 2; i-- > 0;) sift_down(d, run, i, count);
    for (uint64_t end = count; end-- > 1;) {
        uint64_t swap = run[0];
        run[0] = run[end];
        run[end] = swap;
        sift_down(d, run, 0, end);
    }
    for (uint64_t i = 1; i < count; i++)
        if (compare_keys(d, (uint32_t)run[i - 1], (uint32_t)run[i]) == 0 &&
            (!best || (uint32_t)run[i] < best))
            best = (uint32_t)run[i];
    return best;
}

/* One stable pass over eleven bits of the hash. */
static void sort_pass(const uint64_t *from, uint64_t *to, uint64_t count, unsigned shift) {
    uint64_t start[2048] = {0}, sum = 0;
    for (uint64_t i = 0; i < count; i++) start[from[i] >> shift & 2047]++;
    for (unsigned i = 0; i < 2048; i++) {
        uint64_t n = start[i];
        start[i] = sum;
        sum += n;
    }
    for (uint64_t i = 0; i < count; i++) to[start[from[i] >> shift & 2047]++] = from[i];
}

static uint32_t repeated_of_many(const hg_json_document *d, uint32_t object, uint64_t count) {
    uint64_t *entries = hg_alloc((size_t)count * 2 * sizeof *entries), n = 0;
    if (!entries) return HG_JSON_NOT_KNOWN;
    uint64_t *other = entries + count;
    for (uint32_t key = object + 1, end = hg_json_next(d, object); key < end;
         key = hg_json_next(d, key + 1))
        entries[n++] = (uint64_t)hash_key(d, key) << 32 | key;
    sort_pass(entries, other, count, 32);
    sort_pass(other, entries, count, 43);
    sort_pass(entries, other, count, 54); /* ten bits are left */
    uint32_t best = 0;
    for (uint64_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && other[end] >> 32 == other[i] >> 32;) end++;
        if (end - i > 1) best = repeated_in_run(d, other + i, end - i, best);
    }
    hg_free(entries);
    return best;
}

uint32_t hg_json_repeated_key(const hg_json_document *d, uint32_t object) {
    enum { FEW = 64 };
    uint32_t keys[FEW], hashes[FEW], count = 0;
    for (uint32_t key = object + 1, end = hg_json_next(d, object); key < end;
         key = hg_json_next(d, key + 1)) {
        if (count == FEW) return repeated_of_many(d, object, hg_json_length(d, object));
        keys[count] = key;
        hashes[count++] = hash_key(d, key);
    }
    for (uint32_t i = 1; i < count; i++)
        for (uint32_t k = 0; k < i; k++)
            if (hashes[i] == hashes[k] && compare_keys(d, keys[i], keys[k]) == 0) return keys[i];
    return 0;
}

/* ---- numbers ---- */

/* The fast path of W. D. Clinger, "How to read floating point numbers accurately" (1990): both
 * numbers are exact doubles, one operation rounds. */
static bool exact_decimal(const char *text, size_t length, double *value) {
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                    1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    uint64_t significand = 0;
    int exponent = 0, digits = 0;
    size_t i = 0;
    bool fraction = false;
    for (; i < length && (text[i] | 32) != 'e'; i++) {
        if (text[i] == '.') {
            fraction = true;
            continue;
        }
        if (significand || text[i] != '0') digits++;
        if (digits > 19) return false;
        significand = significand * 10 + (uint64_t)(text[i] - '0');
        exponent -= fraction;
    }
    if (i < length) {
        bool negative = text[++i] == '-';
        if (text[i] == '-' || text[i] == '+') i++;
        int power = 0;
        for (; i < length && power < 10000; i++) power = power * 10 + (text[i] - '0');
        exponent += negative ? -power : power;
    }
    if (significand > UINT64_C(1) << 53 || exponent < -22 || exponent > 22) return false;
    *value = exponent < 0 ? (double)significand / powers[-exponent]
                          : (double)significand * powers[exponent];
    return true;
}

static double nearest_double(const char *text, size_t length) {
    double value;
    if (exact_decimal(text, length, &value)) return value;
    uint64_t bits;
    if (!hg_float_from_text(text, length, HG_NUMBER_REAL, hg_float_format_of(HG_TYPE_F64), &bits))
        return (double)INFINITY;
    memcpy(&value, &bits, sizeof value);
    return value;
}

hg_json_number hg_json_number_of(const hg_json_document *d, uint32_t token) {
    hg_json_token t = d->tokens[token];
    const char *text = d->text + t.offset;
    bool negative = text[0] == '-';
    size_t length = t.size - negative;
    text += negative;
    hg_json_number n = {.kind = HG_JSON_F64};
    n.f64 = nearest_double(text, length);
    if (negative) n.f64 = -n.f64;
    if (t.kind != HG_JSON_INTEGER || length > 20) return n;
    for (size_t i = 0; i < length; i++) {
        uint64_t digit = (uint64_t)(text[i] - '0');
        if (n.u64 > (UINT64_MAX - digit) / 10) return n;
        n.u64 = n.u64 * 10 + digit;
    }
    if (negative && n.u64 > UINT64_C(1) << 63) return n;
    n.kind = negative ? HG_JSON_I64 : HG_JSON_U64;
    if (negative) n.i64 = n.u64 ? -(int64_t)(n.u64 - 1) - 1 : 0;
    return n;
}

bool hg_json_float(const hg_json_document *d, uint32_t token, hg_type type, uint64_t *bits) {
    hg_json_token t = d->tokens[token];
    const char *text = d->text + t.offset;
    bool negative = text[0] == '-';
    const hg_float_format *format = hg_float_format_of(type);
    bool finite = hg_float_from_text(text + negative, t.size - negative, HG_NUMBER_REAL, format,
                                     bits);
    if (negative)
        *bits |= format->infinity + (UINT64_C(1) << (format->precision - 1)); /* the bit above the
                                                                                 exponent */
    return finite;
}

/* ---- places ---- */

hg_place hg_json_place(hg_json_lines *l, const char *text, size_t length, size_t offset,
                       size_t marked) {
    if (offset > length) offset = length;
    while (l->at < offset) {
        const char *end = memchr(text + l->at, '\n', offset - l->at);
        if (!end) break;
        l->at = l->line_start = (size_t)(end - text) + 1;
        l->line++;
    }
    if (offset < l->line_start) {
        for (size_t i = offset; i < l->line_start; i++) l->line -= text[i] == '\n';
        l->line_start = offset;
        while (l->line_start && text[l->line_start - 1] != '\n') l->line_start--;
    }
    l->at = offset;
    size_t mark = l->line_start ? 0 : hg_byte_order_mark(text, length); /* columns count from behind
                                                                           it */
    return (hg_place){l->line + 1,
                      (uint32_t)(offset > mark ? offset - mark - l->line_start : 0) + 1,
                      (uint32_t)marked, HG_NONE, 0};
}
