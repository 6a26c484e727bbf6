/* Facts about values beside a module: a byte for each value, found by function and id. Whoever
 * makes a table owns it; values know nothing of it, so several analyses may look at one module at a
 * time, each with results of its own. */
#ifndef HG_KIR_SIDE_H
#define HG_KIR_SIDE_H

#include "kir/kir.h"

typedef struct kir_side_table {
    uint8_t *entries; /* of all values, function after function */
    uint32_t *first;  /* entry of a function's value 0, by the function's id */
    uint32_t count;
} kir_side_table;

/* All entries are 0. Requires: all functions are numbered (kir_number), and stay so while the table
 * is in use. */
hg_status kir_side_create(const kir_module *m, kir_side_table *table) HG_NODISCARD;
void kir_side_free(kir_side_table *table); /* one that is all zero too */

/* Entries of a function, by value id. */
static inline uint8_t *kir_side_of(const kir_side_table *t, const kir_function *f) {
    return t->entries + t->first[f->id];
}

#endif
