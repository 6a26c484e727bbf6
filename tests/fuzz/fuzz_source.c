/* Any bytes as a text and the files that it includes, separated by bytes 0x1E and called 0, 1, 2 …:
 * time, memory and depth are bounded, diagnostics come in the order of the source, and what
 * assembles is the program that its canonical text is. Seeds: seeds/fuzz_source. */
#include "fuzz.h"
#include "isa/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct piece {
    const char *text;
    size_t length;
} piece;
enum { MOST = 16 };
typedef struct pieces {
    piece files[MOST];
    char names[MOST][4];
    size_t count;
    int open;
} pieces;

static hg_status find(void *user, const char *from, const char *name, hg_source *source) {
    pieces *all = user;
    require(from != NULL);
    size_t number = (size_t)strtoul(name, NULL, 10);
    if (number >= all->count || name[0] < '0' || name[0] > '9')
        return hg_fail(HG_ERROR_IO, "no such piece");
    all->open++;
    source->name = all->names[number];
    source->bytes = all->files[number].text;
    source->length = all->files[number].length;
    return HG_OK;
}

static void forget(void *user, hg_source *source) {
    pieces *all = user;
    require(source->bytes != NULL);
    all->open--;
}

static void split(pieces *all, const char *text, size_t size) {
    for (size_t at = 0; all->count < MOST; all->count++) {
        const char *end = at < size ? memchr(text + at, 0x1E, size - at) : NULL;
        size_t stop = end && all->count + 1 < MOST ? (size_t)(end - text) : size;
        all->files[all->count] = (piece){text + at, stop - at};
        snprintf(all->names[all->count], sizeof all->names[0], "%zu", all->count);
        if (stop == size) {
            all->count++;
            return;
        }
        at = stop + 1;
    }
}

static void check_order(const hg_diagnostics *d, bool failed) {
    require(failed == (hg_diagnostics_errors(d) > 0));
    for (size_t i = 1; i < hg_diagnostics_count(d); i++) {
        const hg_diagnostic *a = hg_diagnostics_get(d, i - 1), *b = hg_diagnostics_get(d, i);
        require(a->outer_line < b->outer_line ||
                (a->outer_line == b->outer_line && a->outer_column <= b->outer_column));
    }
}

static void check_program(const hg_program *p) {
    check_text(p);
    hg_diagnostics *d = hg_diagnostics_create(0);
    hg_status status = hg_program_verify(p, d);
    check_order(d, status != HG_OK);
    hg_string_free(hg_diagnostics_print(d, "fuzz", NULL, 0));
    hg_diagnostics_destroy(d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const defines[] = {"N=3"};
    pieces all = {.count = 0};
    split(&all, (const char *)data, size);
    bool chosen = size && data[size - 1] == 'p', defined = size && data[size - 1] == 'd';
    const hg_assemble_options options = {.size = sizeof options,
                                         .defines = defines,
                                         .define_count = defined,
                                         .program = chosen ? "a" : NULL,
                                         .source_name = all.names[0],
                                         .resolve = find,
                                         .release = forget,
                                         .user = &all};
    hg_diagnostics *d = hg_diagnostics_create(0);
    hg_program *p = NULL;
    hg_status status = hg_program_assemble_with(all.files[0].text, all.files[0].length, &options, d,
                                                &p);
    require((status == HG_OK) == (p != NULL) && all.open == 0);
    check_order(d, status != HG_OK);
    hg_string_free(hg_diagnostics_print(d, "fuzz", all.files[0].text, all.files[0].length));
    hg_diagnostics_destroy(d);
    if (!p) return 0;
    check_program(p);
    hg_program_release(p);
    return 0;
}
