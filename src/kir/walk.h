/* A walk of operations that stops at the end of each region too: for printers, emitters and passes
 * that do something where a region opens or closes. It keeps no stack, since regions know their
 * owners. (kir_walk of kir.h gives operations alone.) */
#ifndef HG_KIR_WALK_H
#define HG_KIR_WALK_H

#include "kir/kir.h"

typedef struct kir_cursor {
    const kir_region *root, *region; /* of the whole walk; the one it is in */
    kir_value *v;                    /* the operation it is at; NULL: the end of region */
} kir_cursor;

static inline kir_cursor kir_cursor_start(const kir_region *root) {
    return (kir_cursor){root, root, root->first};
}

/* Whether it is at the end of an IF's first branch: the second, which may be empty, comes next. */
static inline bool kir_cursor_ends_first(const kir_cursor *c) {
    const kir_value *owner = c->region->owner;
    return !c->v && owner && owner->op == KIR_IF && c->region == owner->body[0];
}

/* From an IF or LOOP to the start of its first region, from another operation to what follows it,
 * from the end of a region to the IF's second branch or to what follows the owner. What follows the
 * last operation is the region's end. False: it was at the end of the root. */
static inline bool kir_cursor_next(kir_cursor *c) {
    if (c->v && c->v->body[0]) {
        c->region = c->v->body[0];
        c->v = c->region->first;
    } else if (c->v) {
        c->v = c->v->next;
    } else if (c->region == c->root) {
        return false;
    } else if (kir_cursor_ends_first(c)) {
        c->region = c->region->owner->body[1];
        c->v = c->region->first;
    } else {
        c->v = c->region->owner->next;
        c->region = c->region->owner->parent;
    }
    return true;
}

/* The same without what is inside the operation. */
static inline bool kir_cursor_over(kir_cursor *c) {
    if (!c->v) return kir_cursor_next(c);
    c->v = c->v->next;
    return true;
}

#endif
