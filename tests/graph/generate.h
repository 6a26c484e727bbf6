/* Random array graphs as text: every whole-array instruction, programs, views of views, values used
 * many times, extents 0, 1, primes, symbols. */
#ifndef HG_TESTS_GRAPH_GENERATE_H
#define HG_TESTS_GRAPH_GENERATE_H

#include <hologram/hologram.h>
#include <stdbool.h>
#include <stdint.h>

enum { GENERATE_MOST_ARRAYS = 400, GENERATE_SYMBOLS = 3 };

/* What whoever binds the graph gives, or gets. */
typedef struct generated_array {
    char name[16];
    hg_type type;
    uint64_t elements;
    bool output, zeros; /* zeros: its contents must be (offsets of a sparse matrix) */
} generated_array;

typedef struct generated_graph {
    char *text;
    generated_array arrays[GENERATE_MOST_ARRAYS];
    uint32_t array_count, calls;
    uint64_t symbols[GENERATE_SYMBOLS];
    uint32_t symbol_count; /* n0, n1, … */
} generated_graph;

/* most_calls: at most so many. */
void generate_graph(uint64_t seed, uint32_t most_calls, generated_graph *graph);
void generated_graph_free(generated_graph *graph);
/* The programs that such texts name. */
hg_status generated_program(void *user, const char *file, hg_diagnostics *diagnostics,
                            hg_program **program);
uint64_t generate_random(uint64_t *state);

/* ---- contents of their arrays ---- */

uint64_t generated_bytes(const generated_array *array);
/* Numbers that functions take well, and some that they do not. */
void generate_elements(uint64_t *state, const generated_array *array, uint8_t *bytes);
/* The same bits, or both NaN. */
bool generated_equal(hg_type type, const uint8_t *x, const uint8_t *y, uint64_t count);

#endif
