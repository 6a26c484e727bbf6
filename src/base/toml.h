/* Reader of the part of TOML 1.0 that settings need: tables, bare, quoted and dotted keys, strings
 * of one line, integers, booleans, and arrays of integers. The rest of the language (floating
 * point, dates, strings of several lines, inline tables, arrays of tables, other arrays) is refused
 * by name, so that nothing is read in another way than other readers of TOML read it.
 *
 * A document becomes a list of keys with their tables, "execution.launch_config.grid", and their
 * values as text. One pass, no recursion. Must not know: what keys mean. */
#ifndef HG_BASE_TOML_H
#define HG_BASE_TOML_H

#include "base/base.h"

typedef enum hg_toml_kind {
    HG_TOML_STRING,
    HG_TOML_INTEGER,
    HG_TOML_BOOL,
    HG_TOML_INTEGERS
} hg_toml_kind;

typedef struct hg_toml_value {
    const char *key;  /* with its tables; parts that are not bare stand in quotes */
    const char *text; /* the string; "-5", "true", "1,2,3" in decimal */
    size_t length;    /* of the text, which may hold zeros */
    hg_toml_kind kind;
    uint32_t line, column; /* of the value, from 1, in bytes */
    uint32_t key_line, key_column;
} hg_toml_value;

typedef struct hg_toml {
    HG_VEC(hg_toml_value) values; /* in the order of the text */
    hg_arena arena;               /* holds their texts */
} hg_toml;

typedef struct hg_toml_fault {
    uint32_t line, column; /* from 1, in bytes */
    char message[160];
} hg_toml_fault;

enum { HG_TOML_MOST_BYTES = 1 << 18, HG_TOML_MOST_NAMES = 4096 };

/* False: *fault says the first mistake, and *document is empty. Freeing an empty one is allowed. */
bool hg_toml_read(hg_toml *document, const char *text, size_t length,
                  hg_toml_fault *fault) HG_NODISCARD;
void hg_toml_free(hg_toml *document);

#endif
