/* What the fuzz targets share. */
#ifndef HG_TESTS_FUZZ_H
#define HG_TESTS_FUZZ_H

#include <hologram/program.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline void require(bool condition) {
    if (condition) return;
    fprintf(stderr, "last error: %s\n", hg_last_error_text());
    abort();
}

/* In an order of growing place. */
static inline void check_diagnostics(const hg_diagnostics *d, bool failed) {
    require(failed == (hg_diagnostics_errors(d) > 0));
    for (size_t i = 1; i < hg_diagnostics_count(d); i++) {
        const hg_diagnostic *a = hg_diagnostics_get(d, i - 1), *b = hg_diagnostics_get(d, i);
        require(a->line < b->line || (a->line == b->line && a->column <= b->column));
    }
}

/* The program's text is that of the same program. */
static inline void check_text(const hg_program *p) {
    char *text = NULL, *again = NULL;
    size_t length = 0, again_length = 0;
    hg_program *second = NULL;
    require(hg_program_print(p, &text, &length) == HG_OK);
    require(hg_program_assemble(text, length, NULL, &second) == HG_OK);
    require(hg_program_print(second, &again, &again_length) == HG_OK);
    require(length == again_length && memcmp(text, again, length) == 0);
    require(memcmp(hg_program_hash(p), hg_program_hash(second), 32) == 0);
    hg_program_release(second);
    hg_string_free(text);
    hg_string_free(again);
}

#endif
