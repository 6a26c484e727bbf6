/* Writer of JSON text (language.md 6.2). Commas and escapes are its matter, the order of calls is
 * the caller's.
 * Must not know: what is written. */
#ifndef HG_BASE_JSON_H
#define HG_BASE_JSON_H

#include "base/base.h"

/* Zero-initialise and set out. Out of memory shows in out->failed. */
typedef struct hg_json {
    hg_text *out;
    bool comma;     /* the next item needs one before it */
    bool after_key; /* the next value belongs to a key */
} hg_json;

void hg_json_begin_object(hg_json *json);
void hg_json_end_object(hg_json *json);
void hg_json_begin_array(hg_json *json);
void hg_json_end_array(hg_json *json);
void hg_json_key(hg_json *json, const char *key);

void hg_json_null(hg_json *json);
void hg_json_bool(hg_json *json, bool value);
void hg_json_u64(hg_json *json, uint64_t value); /* above 2^53 a string */
void hg_json_i64(hg_json *json, int64_t value);  /* outside -2^53 … 2^53 a string */
void hg_json_f64(hg_json *json, double value);   /* "nan" "inf" "-inf" as strings; else 17 digits at
                                                    most, reads back the same */
void hg_json_string(hg_json *json, const char *bytes, size_t length); /* bytes that are not UTF-8
                                                                         become U+FFFD */
void hg_json_text(hg_json *json, const char *text);                   /* NULL: null */
/* A key and its value. */
void hg_json_add_text(hg_json *json, const char *key, const char *value);
void hg_json_add_u64(hg_json *json, const char *key, uint64_t value);
void hg_json_add_i64(hg_json *json, const char *key, int64_t value);
void hg_json_add_bool(hg_json *json, const char *key, bool value);
/* A literal as canonical text writes it: a number where JSON has it and every reader keeps it
 * exactly, else a string. */
void hg_json_literal(hg_json *json, const char *text, size_t length);

/* A list of diagnostics as the value of "diagnostics". */
void hg_json_diagnostics(hg_json *json, const hg_diagnostics *diagnostics, const char *file);

#endif
