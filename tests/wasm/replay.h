/* Runs recorded conformance cases (tests/cts/record.c) through the public interface and compares,
 * without the oracle: it needs no C library but what tests/wasm/shim.c has. */
#ifndef HG_TESTS_REPLAY_H
#define HG_TESTS_REPLAY_H

#include <stdint.h>

typedef struct replay_count {
    uint64_t passed, failed, values;
} replay_count;

/* pretend: "" or "poor". print gets a line for each failure (the first 50). A file that ends early
 * or is none is a failure. */
void replay_run(const uint8_t *file, uint64_t size, const char *pretend,
                void (*print)(const char *line), replay_count *count);

#endif
