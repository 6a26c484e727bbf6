/* What a backend has made and nobody has destroyed yet: builds without NDEBUG count it, and refuse
 * to destroy a backend before it. */
#ifndef HG_RUNTIME_CHILDREN_H
#define HG_RUNTIME_CHILDREN_H

#include "base/compat.h"
#include <stdint.h>

typedef enum hg_child {
    HG_CHILD_CONTEXT,
    HG_CHILD_QUEUE,
    HG_CHILD_EXECUTABLE,
    HG_CHILD_BINDING,
    HG_CHILD_KINDS
} hg_child;

/* By hg_child; atomic. Without counting all stay 0. */
typedef struct hg_children {
    uint32_t count[HG_CHILD_KINDS];
} hg_children;

static inline void hg_child_add(hg_children *c, hg_child kind) {
#ifdef NDEBUG
    (void)c, (void)kind;
#else
    hg_atomic_fetch_add(&c->count[kind], 1, HG_RELAXED);
#endif
}
static inline void hg_child_remove(hg_children *c, hg_child kind) {
#ifdef NDEBUG
    (void)c, (void)kind;
#else
    (void)hg_atomic_sub_fetch(&c->count[kind], 1, HG_RELAXED);
#endif
}

#endif
