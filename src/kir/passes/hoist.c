/* Loop-invariant motion: operations without effect whose arguments a loop does not change move in
 * front of it, as far out as that is true. Primitives cannot fault, so one that stands in a branch
 * may be worked out for nothing: only cheap ones leave a branch.
 * Requires: verified module. Provides: the same meaning; ids as before, no longer in text order. */
#include "kir/passes/passes.h"
#include "kir/passes/simplify_internal.h"

enum { MOST_REGIONS = 64 }; /* looked at around an operation, so that deep nesting stays linear */

typedef struct hoister {
    const kir_function *f;
    const uint32_t *setters; /* see simplify_elsewhere */
    simplify_sets sets;
    kir_value **values; /* by id */
    uint32_t *depth; /* by id of an IF or LOOP: of the region that it stands in; the function's body
                        is 0 */
    uint32_t *last;  /* by id of an IF or LOOP: the last id inside */
} hoister;

static uint32_t region_depth(const hoister *x, const kir_region *r) {
    return r->owner ? x->depth[r->owner->id] + 1 : 0;
}

static bool is_leaf(const kir_value *v) {
    return v->op == KIR_CONST || v->op == KIR_INPUT || v->op == KIR_PARAM || v->op == KIR_ID;
}

static bool is_movable(const kir_value *v) {
    if (v->op == KIR_VAR_GET) return true;
    if (v->op == KIR_CALL)
        return v->u.call.function->pure && v->type != KIR_VOID && !v->u.call.function->array_count;
    return kir_is_pure(v) && !is_leaf(v);
}

static bool is_cheap(const kir_value *v) {
    return v->op == KIR_VAR_GET || kir_op_has((kir_op)v->op, KIR_F_CHEAP);
}

/* Regions that an argument must still be around. Leaves move along. */
static uint32_t least_depth(const hoister *x, const kir_value *v) {
    uint32_t least = 0;
    for (uint8_t i = 0; i < v->nargs; i++) {
        uint32_t depth = is_leaf(v->args[i]) ? 0 : region_depth(x, v->args[i]->parent);
        if (depth > least) least = depth;
    }
    return least;
}

/* The outermost loop in front of which v may stand; NULL: none. */
static kir_value *find_place(const hoister *x, const kir_value *v) {
    uint32_t least = least_depth(x, v);
    kir_value *place = NULL, *owner = v->parent->owner;
    bool elsewhere = v->op == KIR_VAR_GET && !v->u.var->function &&
                     simplify_elsewhere(x->setters, v->u.var, x->f);
    for (int looked = 0; owner && x->depth[owner->id] >= least && looked < MOST_REGIONS;
         looked++, owner = owner->parent->owner) {
        if (owner->op == KIR_IF) {
            if (!is_cheap(v)) break;
            continue;
        }
        if (v->op == KIR_VAR_GET &&
            simplify_sets_within(&x->sets, v->u.var, elsewhere, owner->id, x->last[owner->id]))
            break;
        if (!owner->u.loop.once) place = owner;
    }
    return place;
}

static void move_before(kir_value *v, kir_value *place) {
    kir_remove(v);
    v->parent = place->parent;
    v->next = place;
    v->prev = place->prev;
    if (place->prev)
        place->prev->next = v;
    else
        place->parent->first = v;
    place->prev = v;
}

static void hoist(const hoister *x, kir_value *v) {
    kir_value *place = is_movable(v) ? find_place(x, v) : NULL;
    if (!place) return;
    for (uint8_t i = 0; i < v->nargs; i++)
        if (is_leaf(v->args[i]) && region_depth(x, v->args[i]->parent) > x->depth[place->id])
            move_before(v->args[i], place);
    move_before(v, place);
}

/* Depths from the outside in, ends from the inside out. */
static void measure(const hoister *x, uint32_t count) {
    for (uint32_t id = 0; id < count; id++) {
        const kir_value *v = x->values[id];
        if (v->op == KIR_IF || v->op == KIR_LOOP) x->depth[id] = region_depth(x, v->parent);
    }
    for (uint32_t id = count; id-- > 0;) {
        const kir_value *owner = x->values[id]->parent->owner;
        uint32_t end = x->last[id] > id ? x->last[id] : id;
        if (owner && x->last[owner->id] < end) x->last[owner->id] = end;
    }
}

static bool has_loop(const kir_function *f) {
    for (const kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body))
        if (v->op == KIR_LOOP && !v->u.loop.once) return true;
    return false;
}

static hg_status hoist_function(const kir_module *m, kir_function *f, const uint32_t *setters) {
    hoister x = {.f = f, .setters = setters};
    uint32_t count = kir_number(f), id = 0;
    x.values = hg_calloc((size_t)count + 1, sizeof *x.values);
    x.depth = hg_calloc(2 * ((size_t)count + 1), sizeof *x.depth);
    bool ok = x.values && x.depth && simplify_sets_find(&x.sets, m, f);
    if (ok) {
        x.last = x.depth + count + 1;
        for (kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body))
            x.values[id++] = v;
        measure(&x, count);
        for (id = 0; id < count; id++) hoist(&x, x.values[id]);
    }
    simplify_sets_free(&x.sets);
    hg_free(x.values);
    hg_free(x.depth);
    return ok ? HG_OK : hg_fail_memory();
}

hg_status kir_hoist(kir_module *m) {
    uint32_t *setters = NULL;
    hg_status status = HG_OK;
    for (kir_function *f = m->functions; f && status == HG_OK; f = f->next) {
        if (!has_loop(f)) continue;
        if (!setters) {
            setters = hg_calloc((size_t)m->var_count + 1, sizeof *setters);
            if (!setters) return hg_fail_memory();
            simplify_find_users(m, setters, NULL);
        }
        status = hoist_function(m, f, setters);
    }
    hg_free(setters);
    return status;
}
