/* Cases as text, each a file: what is given, "; gives", and what comes of it. */
#ifndef HG_TESTS_TEXT_CASES_H
#define HG_TESTS_TEXT_CASES_H

#include "base/base.h"

typedef struct text_cases {
    const char *program, *folder, *ending; /* "test_kir_cases", "tests/kir", ".kir" */
    size_t least;                          /* cases in the folder */
    void (*run)(const char *name, const char *text, size_t length, hg_text *out);
} text_cases;

/* The main of a program of cases: [--update] [FILE …]; without files those of the folder. --update
 * writes what comes of them into the files. */
int text_cases_main(const text_cases *set, int argc, char **argv);
/* The rest of the line that begins with "; KEY:", in buffer; false: there is none. */
bool text_cases_find(const char *text, const char *key, char *buffer, size_t size);

#endif
