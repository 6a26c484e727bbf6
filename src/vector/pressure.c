/* How much of a turn lives in vectors at a time: the most bytes a lane of all elements that are
 * still read. A value lives from its operation to its last use; a variable from its first SET to
 * its last GET; and what a loop uses that comes from before it, to the loop's end. Cold code,
 * behind failed checks, does not count. */
#include "vector/passes.h"

typedef struct interval {
    uint32_t first, last;
} interval;

typedef struct measure {
    interval *values, *vars; /* by id */
    int32_t *change;         /* by id of values: bytes that begin there, less those that end */
    uint32_t *end;           /* of LOOPs: the id after the last inside */
} measure;

static bool is_within(const vec_region *r, const vec_region *outer) {
    while (r && r != outer) r = r->owner ? r->owner->parent : NULL;
    return r == outer;
}

/* Where a use counts: at itself, or at the end of the outermost loop around it that the definition
 * is not in. */
static uint32_t place_of(const measure *m, const vec_value *use, const vec_region *home) {
    uint32_t at = use->id;
    for (const vec_region *r = use->parent; r->owner; r = r->owner->parent)
        if (r->owner->op == VEC_LOOP && !is_within(home, r)) at = m->end[r->owner->id];
    return at;
}

static void find_ends(measure *m, const vec_function *f) {
    for (const vec_value *v = vec_walk(NULL, f->body); v; v = vec_walk(v, f->body))
        for (const vec_region *r = v->parent; r->owner; r = r->owner->parent)
            m->end[r->owner->id] = v->id + 1;
}

static void note_use(measure *m, const vec_value *v, const vec_value *use) {
    uint32_t at = place_of(m, use, v->parent);
    if (at > m->values[v->id].last) m->values[v->id].last = at;
}

static void note_var(measure *m, const vec_value *v) {
    interval *i = &m->vars[v->u.var->id];
    uint32_t from = v->id;
    for (const vec_region *r = v->parent; r->owner; r = r->owner->parent) /* what a round leaves,
                                                                             the next may read */
        if (r->owner->op == VEC_LOOP) from = r->owner->id;
    if (i->last == 0 || from < i->first) i->first = from;
    uint32_t at = place_of(m, v, NULL);
    if (at >= i->last) i->last = at + 1;
}

static uint32_t bytes_of(uint8_t type) {
    return type == KIR_BOOL ? 4 : (uint32_t)kir_type_bytes(type);
}

static void add(measure *m, interval i, uint32_t bytes) {
    m->change[i.first] += (int32_t)bytes;
    m->change[i.last] -= (int32_t)bytes;
}

static vec_pressure most_of(const measure *m, const vec_function *f) {
    vec_pressure most = {0};
    int64_t now = 0;
    for (const vec_value *v = vec_walk(NULL, f->body); v; v = vec_walk(v, f->body)) {
        now += m->change[v->id];
        if (now <= (int64_t)most.bytes) continue;
        most.bytes = (uint32_t)now;
        most.inst = v->inst;
    }
    return most;
}

static void measure_all(measure *m, const vec_function *f) {
    find_ends(m, f);
    for (const vec_value *v = vec_walk(NULL, f->body); v; v = vec_walk(v, f->body)) {
        m->values[v->id] = (interval){v->id, v->id};
        for (uint8_t i = 0; i < v->nargs; i++) note_use(m, v->args[i], v);
        if (v->mask) note_use(m, v->mask, v);
        if ((v->op == VEC_GET || v->op == VEC_SET) && !v->u.var->shared && v->u.var->each)
            note_var(m, v);
    }
    for (const vec_value *v = vec_walk(NULL, f->body); v; v = vec_walk(v, f->body))
        if (v->each && v->op != VEC_GET && v->type != KIR_VOID)
            add(m, m->values[v->id], bytes_of(v->type));
    for (const vec_var *v = f->vars; v; v = v->next)
        if (v->each && !v->length && m->vars[v->id].last) add(m, m->vars[v->id], bytes_of(v->type));
}

hg_status vec_pass_pressure(vec_kernel *kernel) {
    vec_function *f = kernel->functions;
    size_t count = (size_t)f->value_count + 2;
    measure m = {hg_calloc(count, sizeof *m.values),
                 hg_calloc((size_t)f->var_count + 1, sizeof *m.vars),
                 hg_calloc(count, sizeof *m.change), hg_calloc(count, sizeof *m.end)};
    bool ok = m.values && m.vars && m.change && m.end;
    if (ok) {
        measure_all(&m, f);
        kernel->pressure = most_of(&m, f);
    }
    hg_free(m.values);
    hg_free(m.vars);
    hg_free(m.change);
    hg_free(m.end);
    return ok ? HG_OK : hg_fail_memory();
}

/* ---- lanes of a turn ---- */

static bool has_arrays(const vec_kernel *k) {
    for (const vec_var *v = k->shared; v; v = v->next)
        if (v->length) return true;
    for (const vec_function *f = k->functions; f; f = f->next)
        for (const vec_var *v = f->vars; v; v = v->next)
            if (v->length || v->by_reference) return true;
    return false;
}

/* Whether there is something that a turn does for all its lanes at once, or waits for: a call,
 * copies of memory for each of eight lanes; or if lanes are so narrow that native vectors are not
 * full. */
static bool gains(const vec_kernel *k) {
    uint32_t widest = 0;
    bool lanes = false;
    for (const vec_value *v = vec_walk(NULL, k->functions->body); v;
         v = vec_walk(v, k->functions->body)) {
        if (v->op == VEC_CALL || (v->op == VEC_ATOMIC && v->u.mem.may.combines)) return true;
        if (!v->each || v->type == KIR_VOID || v->type == KIR_BOOL || v->op == VEC_RAMP) continue;
        lanes = true;
        if (kir_type_bytes(v->type) > widest) widest = (uint32_t)kir_type_bytes(v->type);
    }
    return lanes && widest <= 2;
}

bool vec_wants_double(const vec_kernel *kernel, uint32_t registers) {
    if (kernel->blocks || has_arrays(kernel) || !gains(kernel)) return false;
    return (uint64_t)kernel->pressure.bytes * kernel->lanes * 2 <= registers;
}
