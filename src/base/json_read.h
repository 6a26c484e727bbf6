/* Reader of JSON: strict RFC 8259 in UTF-8, one pass, no recursion, nothing of the system but
 * memory.
 *
 * A document is a tape: one flat array of 8-byte tokens in the order of the text. A container's
 * token is followed by the tokens of what it holds; it knows how many they are, so that the next
 * value is one addition away. In an object keys and values alternate. Nothing is copied: a token
 * points into the text, which must outlive the document. Numbers are kept as text and converted
 * when they are asked for; strings with escapes are decoded then.
 *
 *     for (uint32_t key = object + 1; key < hg_json_next(d, object); key = hg_json_next(d, key +
 * 1)) use(key, key + 1); for (uint32_t item = array + 1; item < hg_json_next(d, array); item =
 * hg_json_next(d, item)) use(item);
 *
 * Stricter than the grammar where RFC 8259 warns: a key that stands twice in an object is an error
 * (after its escapes are decoded), so is half of a surrogate pair. A byte-order mark at the start
 * is skipped.
 *
 * Memory: 8 bytes a token. A text has at most one token in two bytes ("[1,1,1"), kernels have one
 * in about seven; the tape grows by doubling and frees what it does not need. Objects of more than
 * 64 keys that may repeat one take 16 bytes a key for the check.
 * Must not know: what documents mean. */
#ifndef HG_BASE_JSON_READ_H
#define HG_BASE_JSON_READ_H

#include "base/decimal.h"

typedef enum hg_json_kind {
    HG_JSON_NULL,
    HG_JSON_FALSE,
    HG_JSON_TRUE,
    HG_JSON_INTEGER, /* a number without point and exponent */
    HG_JSON_REAL,
    HG_JSON_STRING,
    HG_JSON_ESCAPED, /* a string that holds an escape */
    HG_JSON_ARRAY,
    HG_JSON_OBJECT
} hg_json_kind;

/* size: bytes of a number or a literal; bytes between the quotes of a string; tokens of a
 * container, itself included. */
typedef struct hg_json_token {
    uint32_t offset; /* of the first byte in the text: the opening quote or bracket */
    uint32_t kind : 4, size : 28;
} hg_json_token;

typedef struct hg_json_document {
    const char *text; /* borrowed */
    size_t length;
    hg_json_token *tokens; /* the root is token 0 */
    uint32_t count;
} hg_json_document;

typedef enum hg_json_fault_kind {
    HG_JSON_BAD_SYNTAX,
    HG_JSON_BAD_UTF8,
    HG_JSON_BAD_NUMBER,
    HG_JSON_BAD_STRING, /* a control character, a wrong escape, half of a surrogate pair */
    HG_JSON_TOO_DEEP,
    HG_JSON_TOO_LONG,      /* more than HG_MAX_SOURCE_BYTES */
    HG_JSON_DUPLICATE_KEY, /* place: the later one */
    HG_JSON_NO_MEMORY
} hg_json_fault_kind;

typedef struct hg_json_fault {
    hg_json_fault_kind kind;
    size_t offset, length; /* of the bytes that are wrong */
    const char *hint;      /* static; NULL: none */
    char message[160];
} hg_json_fault;

/* Containers inside containers; jansson has the same default. */
enum { HG_JSON_DEPTH = 2048 };

/* Reads one document: a value with blanks around it. max_depth 0: HG_JSON_DEPTH. False: *fault
 * describes the first mistake, *document is empty. The caller frees the document; freeing an empty
 * one is allowed. */
bool hg_json_read(hg_json_document *document, const char *text, size_t length, uint32_t max_depth,
                  hg_json_fault *fault) HG_NODISCARD;
void hg_json_document_free(hg_json_document *document);

static inline hg_json_kind hg_json_kind_of(const hg_json_document *d, uint32_t token) {
    return (hg_json_kind)d->tokens[token].kind;
}
static inline bool hg_json_is_string(const hg_json_document *d, uint32_t token) {
    return d->tokens[token].kind == HG_JSON_STRING || d->tokens[token].kind == HG_JSON_ESCAPED;
}
static inline bool hg_json_is_number(const hg_json_document *d, uint32_t token) {
    return d->tokens[token].kind == HG_JSON_INTEGER || d->tokens[token].kind == HG_JSON_REAL;
}
/* The token behind a value and all that it holds. */
static inline uint32_t hg_json_next(const hg_json_document *d, uint32_t token) {
    return token + (d->tokens[token].kind >= HG_JSON_ARRAY ? d->tokens[token].size : 1);
}
/* The value of a key of an object; 0 (the root is nobody's value): the key is not there, or
 * `object` is none. */
uint32_t hg_json_member(const hg_json_document *d, uint32_t object, const char *key);
/* Items of an array, keys of an object; 0 of anything else. */
uint32_t hg_json_length(const hg_json_document *d, uint32_t token);
/* "a string", "an object", … for messages. */
const char *hg_json_kind_name(hg_json_kind kind);

/* The key that stands a second time in an object; 0: none does. The reader has done it.
 * HG_JSON_NOT_KNOWN: out of memory. */
uint32_t hg_json_repeated_key(const hg_json_document *d, uint32_t object);
#define HG_JSON_NOT_KNOWN UINT32_MAX

/* The decoded bytes of a string, not NUL-terminated: in the text itself, or in the arena where
 * there are escapes. NULL when out of memory. */
const char *hg_json_decode(const hg_json_document *d, uint32_t token, hg_arena *arena,
                           size_t *length) HG_NODISCARD;
bool hg_json_string_is(const hg_json_document *d, uint32_t token, const char *text);

typedef enum hg_json_number_kind {
    HG_JSON_U64, /* an integer from 0 to 2^64 - 1 */
    HG_JSON_I64, /* a negative integer, at least -2^63 (-0 too) */
    HG_JSON_F64, /* everything else; f64 may be infinite */
} hg_json_number_kind;
typedef struct hg_json_number {
    hg_json_number_kind kind;
    uint64_t u64; /* magnitude of an integer of kind U64, I64 */
    int64_t i64;  /* of kind I64 */
    double f64;   /* always: nearest, ties to even; infinite beyond the largest */
} hg_json_number;
hg_json_number hg_json_number_of(const hg_json_document *d, uint32_t token);
/* A number in a floating-point type, rounded once from its text. False when that is infinite. */
bool hg_json_float(const hg_json_document *d, uint32_t token, hg_type type, uint64_t *bits);

/* ---- places ---- */

/* Line and column, from 1 and in bytes, of offsets in a text; cheap for offsets near the one
 * before. Zero-initialise. */
typedef struct hg_json_lines {
    size_t at, line_start;
    uint32_t line; /* from 0 */
} hg_json_lines;
hg_place hg_json_place(hg_json_lines *lines, const char *text, size_t length, size_t offset,
                       size_t marked);

#endif
