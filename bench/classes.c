/* Classes of a buffer of bytes on one core, against a loop over a table of 256 classes and against
 * memcpy, all in one run and in turn. */
#include "bench.h"
#include <hologram/atlas.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 21, WORK = 1 << 28 }; /* bytes a round */

static uint8_t table[256];

static void by_table(const uint8_t *bytes, uint8_t *classes, uint64_t count) {
    for (uint64_t i = 0; i < count; i++) classes[i] = table[bytes[i]];
}

static void by_copy(const uint8_t *bytes, uint8_t *classes, uint64_t count) {
    memcpy(classes, bytes, count);
}

static const struct {
    const char *name;
    void (*run)(const uint8_t *, uint8_t *, uint64_t);
} WAYS[] = {{"hg_class_of_bytes", hg_class_of_bytes},
            {"peer: table of 256 bytes", by_table},
            {"peer: memcpy", by_copy}};
enum { WAYS_COUNT = sizeof WAYS / sizeof *WAYS };

static bool race(size_t size) {
    uint8_t *bytes = malloc(size), *classes = malloc(size);
    bench_samples samples[WAYS_COUNT] = {{{0}, 0}};
    if (!bytes || !classes) return false;
    for (size_t i = 0; i < size; i++) bytes[i] = (uint8_t)(i * 167 + i / 256);
    memset(classes, 1, size);
    for (int r = 0; r < ROUNDS; r++)
        for (int w = 0; w < WAYS_COUNT; w++) {
            void (*volatile run)(const uint8_t *, uint8_t *, uint64_t) = WAYS[w].run;
            double start = bench_now();
            for (size_t done = 0; done < WORK; done += size) run(bytes, classes, size);
            bench_add(&samples[w], bench_now() - start);
        }
    printf("buffers of %zu KiB\n", size >> 10);
    for (int w = 0; w < WAYS_COUNT; w++)
        printf("  %-26s %6.2f GB/s  (%.2f to %.2f)\n", WAYS[w].name,
               WORK / bench_median(&samples[w]) / 1e9, WORK / bench_high(&samples[w]) / 1e9,
               WORK / bench_low(&samples[w]) / 1e9);
    free(bytes);
    free(classes);
    return true;
}

int main(void) {
    for (int b = 0; b < 256; b++) table[b] = hg_class_of_byte((uint8_t)b);
    printf("classes of bytes: median of %d rounds of %d MiB (tenth to ninetieth percentile)\n",
           ROUNDS, WORK >> 20);
    return race((size_t)16 << 10) && race((size_t)1 << 20) && race((size_t)64 << 20) ? 0 : 1;
}
