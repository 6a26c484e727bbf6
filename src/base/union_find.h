/* Union-find: sets of numbers, each named by its smallest member. parent[i] is i at first.
 * Must not know: what the numbers stand for. */
#ifndef HG_BASE_UNION_FIND_H
#define HG_BASE_UNION_FIND_H

#include <stdint.h>

static inline uint32_t hg_union_find(uint32_t *parent, uint32_t i) {
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

static inline void hg_union_join(uint32_t *parent, uint32_t a, uint32_t b) {
    a = hg_union_find(parent, a);
    b = hg_union_find(parent, b);
    if (a < b)
        parent[b] = a;
    else
        parent[a] = b;
}

#endif
