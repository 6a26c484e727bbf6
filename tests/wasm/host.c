/* The entries of the wasm module that tests/wasm/run.js calls. The host gives a clock and takes
 * lines of text; the cases come as bytes. Compiled for a machine with files (any other target), the
 * same replay is a program: replay FILE [poor]. */
#include "wasm/replay.h"
#include <stdlib.h>
#include <string.h>

#if defined(__wasm__)
#include "base/thread.h"
#include "io/io.h"

__attribute__((import_module("host"), import_name("print"))) void host_print(const char *text,
                                                                             size_t length);
__attribute__((import_module("host"), import_name("clock_ms"))) double host_clock_ms(void);

/* There are no files here, and no tables from them. */
hg_status hg_npy_parse(const void *bytes, uint64_t length, const char *what, hg_type type,
                       hg_array *out) {
    (void)bytes, (void)length, (void)type, (void)out;
    return hg_fail(HG_ERROR_IO, "%s: no array files in this build", what);
}

static uint64_t clock_ns(void) { return (uint64_t)(host_clock_ms() * 1e6); }
static void print(const char *line) { host_print(line, strlen(line)); }

/* Room for the file of cases; NULL without memory. */
__attribute__((export_name("reserve"))) void *reserve(size_t size) { return malloc(size); }

/* Runs the cases; the counts are passed, failed, values. */
__attribute__((export_name("replay"))) const uint64_t *replay(const uint8_t *file, size_t size,
                                                              int poor) {
    static replay_count count;
    count = (replay_count){0};
    hg_clock_set(clock_ns);
    replay_run(file, size, poor ? "poor" : "", print, &count);
    return &count.passed;
}

#else
#include <stdio.h>

static void print(const char *line) { fprintf(stderr, "%s\n", line); }

int main(int argc, char **argv) {
    FILE *f = argc > 1 ? fopen(argv[1], "rb") : NULL;
    long size = f && fseek(f, 0, SEEK_END) == 0 ? ftell(f) : -1;
    uint8_t *file = size >= 0 ? malloc((size_t)size + 1) : NULL;
    replay_count count = {0};
    if (!file || fseek(f, 0, SEEK_SET) != 0 || fread(file, 1, (size_t)size, f) != (size_t)size)
        return fprintf(stderr, "usage: replay FILE [poor]\n"), 2;
    fclose(f);
    replay_run(file, (uint64_t)size, argc > 2 ? argv[2] : "", print, &count);
    printf("replay: %llu values checked\n", (unsigned long long)count.values);
    printf("%llu passed, %llu failed, 0 skipped\n", (unsigned long long)count.passed,
           (unsigned long long)count.failed);
    free(file);
    return count.failed ? 1 : 0;
}
#endif
