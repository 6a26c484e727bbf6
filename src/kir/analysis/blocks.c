/* Finds the operations of a block in which every lane takes part that started: no branch that
 * differs between its lanes leads past them, and no lane has left before. They are written in a
 * shorter way.
 * Requires: nothing. Provides: u.block.whole. */
#include "kir/analysis/analysis.h"

static bool has_blocks(const kir_module *m) {
    for (const kir_function *f = m->functions; f; f = f->next)
        for (const kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body))
            if (v->op == KIR_BLOCK) return true;
    return false;
}

static bool in_region_of(const kir_value *v, const kir_value *owner) {
    for (const kir_value *o = v->parent->owner; o; o = o->parent->owner)
        if (o == owner) return true;
    return false;
}

/* The IFs between an operation and the owner of a region around it (NULL: all) go one way for all
 * lanes of a block. */
static bool together(const kir_value *v, const kir_value *until) {
    for (const kir_value *o = v->parent->owner; o != until; o = o->parent->owner)
        if (o->op == KIR_IF && o->args[0]->uniformity < KIR_BLOCK_UNIFORM) return false;
    return true;
}

/* Lanes leave the loop, and its rounds, together. */
static bool loop_together(const kir_value *loop) {
    for (const kir_value *v = kir_walk(NULL, loop->body[0]); v; v = kir_walk(v, loop->body[0]))
        if ((v->op == KIR_BREAK || v->op == KIR_CONTINUE) && kir_loop_around(v) == loop &&
            !together(v, loop))
            return false;
    return true;
}

static bool is_whole(const kir_value *v) {
    for (const kir_value *o = kir_loop_around(v); o; o = kir_loop_around(o))
        if (!loop_together(o)) return false;
    return together(v, NULL);
}

/* Whether a lane may have left the kernel before it comes to the operation, and others not: in
 * front of it, or in an earlier round of a loop around it. */
static bool left_before(const kir_module *m, const kir_value *v) {
    const kir_value *loop = kir_outermost_loop(v);
    for (const kir_value *e = kir_walk(NULL, m->functions->body); e;
         e = kir_walk(e, m->functions->body))
        if ((e->op == KIR_EXIT || e->op == KIR_RETURN) &&
            (e->id < v->id || (loop && in_region_of(e, loop))) && !is_whole(e))
            return true;
    return false;
}

static void set_whole(const kir_module *m, bool whole) {
    for (const kir_function *f = m->functions; f; f = f->next)
        for (kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body))
            if (v->op == KIR_BLOCK) v->u.block.whole = whole;
}

hg_status kir_find_blocks(kir_module *m) {
    if (!has_blocks(m)) return HG_OK;
    set_whole(m, true); /* lanes that are there agree on what they find out together */
    kir_find_uniformity(m, true);
    set_whole(m, false);
    (void)kir_number(m->functions);
    bool leave = kir_functions_exit(m);
    for (const kir_function *f = m->functions; f; f = f->next) /* what calls a function is not
                                                                  looked at */
        for (kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body))
            if (v->op == KIR_BLOCK)
                v->u.block.whole = f == m->functions && !leave && !left_before(m, v) && is_whole(v);
    return HG_OK;
}
