/* What decides whether lanes of a group reach a barrier: ghosts must do all of it.
 *
 * Points are operations that must happen as often and in the same order in all lanes: barriers,
 * calls that lead to them, sets of variables that decide about points, and the jumps that lead past
 * points. The conditions around points, and what those are computed from, are needed. The verifier
 * proved that none of it depends on the lane, nor on memory but for what an operation of the block
 * left there for all of them (device_lower_access).
 * Requires: kir_find_uniformity for a group as a tile, a table of marks. Provides: DEVICE_KEPT of loops that hold points and of EXITs that all lanes take
 * together; ghosts of functions; the kernel's last operation that holds a point. */
#include "kir/device/device_internal.h"

enum { POINT = DEVICE_KEPT, NEEDED = DEVICE_NEEDED };

typedef struct in_function {
    uint8_t *marks;    /* by id */
    kir_value **order; /* by id */
    uint32_t *last;    /* of IFs and LOOPs: id + 1 of the last point inside, 0: none */
    uint32_t count, last_point;
    uint32_t needed_params;
    bool needed_result;
} in_function;

typedef struct keeper {
    device *d;
    in_function *functions;
    uint32_t *reach; /* of variables: a set up to this id may reach a needed get; 0: none */
    bool changed;
} keeper;

static bool has(const in_function *f, const kir_value *v, uint8_t mark) {
    return (f->marks[v->id] & mark) != 0;
}

static void set(keeper *k, const in_function *f, const kir_value *v, uint8_t mark) {
    if (has(f, v, mark)) return;
    f->marks[v->id] |= mark;
    k->changed = true;
}

/* Id of the last operation inside the outermost loop around v; v's own without one. */
static uint32_t end_of_loops(const kir_value *v) {
    const kir_value *outer = kir_outermost_loop(v), *last = outer ? outer : v;
    while (outer && last) { /* down along the last operations */
        const kir_region *r = last->body[1] && last->body[1]->last ? last->body[1] : last->body[0];
        if (!r || !r->last) break;
        last = r->last;
    }
    return last->id;
}

static void need_var(keeper *k, const kir_value *get) {
    const kir_var *var = get->u.var;
    uint32_t reach = var->function && !var->by_reference ? end_of_loops(get) : UINT32_MAX;
    if (reach + (reach < UINT32_MAX) <= k->reach[var->id]) return;
    k->reach[var->id] = reach + (reach < UINT32_MAX);
    k->changed = true;
}

static void add_point(keeper *k, in_function *f, kir_value *v) {
    if (has(f, v, POINT)) return;
    set(k, f, v, POINT);
    if (v->id + 1 > f->last_point) f->last_point = v->id + 1;
    for (const kir_region *r = v->parent; r->owner; r = r->owner->parent) {
        kir_value *owner = r->owner;
        if (v->id + 1 > f->last[owner->id]) f->last[owner->id] = v->id + 1;
        if (owner->op == KIR_IF) set(k, f, owner->args[0], NEEDED);
    }
}

/* Whether a jump leads past a point, or keeps one from being reached again. */
static bool passes_points(const in_function *f, const kir_value *v) {
    const kir_value *loop = kir_loop_around(v);
    if (v->op == KIR_BREAK && !loop->u.loop.once) return f->last[loop->id] != 0;
    if (v->op == KIR_BREAK) return f->last[loop->id] > v->id + 1;
    if (v->op == KIR_CONTINUE) return f->last[loop->id] > v->id + 1;
    if (f->last_point > v->id + 1) return true;
    for (; loop; loop = kir_loop_around(loop))
        if (f->last[loop->id]) return true;
    return false;
}

/* All lanes of the block get here together. */
static bool is_uniform_place(const kir_value *v) {
    for (const kir_region *r = v->parent; r->owner; r = r->owner->parent)
        if ((r->owner->op == KIR_IF ? r->owner->args[0]->uniformity : r->owner->uniformity) <
            KIR_BLOCK_UNIFORM)
            return false;
    return true;
}

static bool is_point(const keeper *k, const kir_function *owner, const in_function *f,
                     const kir_value *v) {
    switch ((kir_op)v->op) {
    case KIR_BARRIER: return true;
    case KIR_CALL: return k->d->functions[v->u.call.function->id].ghosts;
    case KIR_VAR_SET:
    case KIR_ARRAY_SET: return k->reach[v->u.var->id] > v->id;
    case KIR_BREAK:
    case KIR_CONTINUE: return passes_points(f, v);
    case KIR_RETURN: return (v->nargs && f->needed_result) || passes_points(f, v);
    case KIR_EXIT:
        return owner == k->d->in->functions && is_uniform_place(v) && passes_points(f, v);
    default: return false;
    }
}

static void need_args(keeper *k, const in_function *f, const kir_value *v) {
    for (uint8_t i = 0; i < v->nargs; i++) set(k, f, v->args[i], NEEDED);
}

static void visit_call(keeper *k, const in_function *f, const kir_value *v) {
    const kir_function *g = v->u.call.function;
    in_function *to = &k->functions[g->id];
    if (has(f, v, NEEDED) && g->pure) need_args(k, f, v);
    if (has(f, v, NEEDED) && !g->pure && !to->needed_result) to->needed_result = k->changed = true;
    for (uint8_t i = 0; i < v->nargs && i < 16; i++)
        if (to->needed_params >> i & 1) set(k, f, v->args[i], NEEDED);
    for (uint8_t i = 0; i < g->array_count; i++) { /* two names of one array */
        uint32_t *a = &k->reach[v->u.call.arrays[i]->id], *b = &k->reach[g->array_params[i]->id];
        if ((*a == 0) != (*b == 0)) {
            *a = *b = UINT32_MAX;
            k->changed = true;
        }
    }
}

static void visit(keeper *k, const kir_function *owner, in_function *f, kir_value *v) {
    if (is_point(k, owner, f, v)) {
        add_point(k, f, v);
        if (v->op != KIR_CALL) need_args(k, f, v);
        if (!k->d->functions[owner->id].ghosts)
            k->d->functions[owner->id].ghosts = k->changed = true;
    }
    if (v->op == KIR_CALL) visit_call(k, f, v);
    if (!has(f, v, NEEDED)) return;
    if (v->op == KIR_VAR_GET || v->op == KIR_ARRAY_GET) need_var(k, v);
    if (v->op == KIR_PARAM && !(f->needed_params >> v->u.imm & 1)) {
        f->needed_params |= 1u << v->u.imm;
        k->changed = true;
    }
    if (v->op != KIR_CALL && v->op != KIR_LOAD && v->op != KIR_ATOMIC) need_args(k, f, v);
}

static bool holds_barrier(const device *d, const kir_value *loop) {
    for (const kir_value *v = kir_walk(NULL, loop->body[0]); v; v = kir_walk(v, loop->body[0]))
        if (v->op == KIR_BARRIER ||
            (v->op == KIR_CALL && d->functions[v->u.call.function->id].barrier))
            return true;
    return false;
}

/* Loops that hold points stay whole; without a barrier only when their lanes leave together, which
 * a variable that is used for something else as well may hide. */
static void keep_loops(keeper *k) {
    device *d = k->d;
    for (const kir_function *f = d->in->functions; f; f = f->next) {
        const in_function *own = &k->functions[f->id];
        for (uint32_t i = 0; i < own->count; i++) {
            kir_value *v = own->order[i];
            if (v->op == KIR_EXIT && !has(own, v, POINT)) d->kernel.can_exit = true;
            if (v->op != KIR_LOOP || !own->last[i] ||
                !(v->uniformity >= KIR_BLOCK_UNIFORM || holds_barrier(d, v)))
                continue;
            set(k, own, v, POINT);
            d->kernel.has_kept_loop = true;
        }
    }
    const in_function *kernel = &k->functions[d->in->functions->id];
    for (const kir_value *v = d->in->functions->body->first; v; v = v->next)
        if (has(kernel, v, POINT) || kernel->last[v->id]) d->at.last_kept = v;
}

static bool begin(keeper *k) {
    const kir_module *m = k->d->in;
    k->functions = hg_calloc((size_t)m->function_count + 1, sizeof *k->functions);
    k->reach = hg_calloc((size_t)m->var_count + 1, sizeof *k->reach);
    if (!k->functions || !k->reach) return false;
    for (kir_function *f = m->functions; f; f = f->next) {
        in_function *own = &k->functions[f->id];
        own->count = kir_number(f);
        own->marks = kir_side_of(&k->d->marks, f);
        own->order = hg_calloc((size_t)own->count + 1, sizeof *own->order);
        own->last = hg_calloc((size_t)own->count + 1, sizeof *own->last);
        if (!own->order || !own->last) return false;
        for (kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body))
            own->order[v->id] = v;
    }
    return true;
}

hg_status device_find_kept(device *d) {
    keeper k = {.d = d, .changed = true};
    bool ok = begin(&k);
    while (ok && k.changed) {
        k.changed = false;
        for (kir_function *f = d->in->functions; f; f = f->next)
            for (uint32_t i = k.functions[f->id].count; i-- > 0;)
                visit(&k, f, &k.functions[f->id], k.functions[f->id].order[i]);
    }
    d->kernel.can_exit = false; /* but for those that all lanes take */
    if (ok) keep_loops(&k);
    for (uint32_t i = 0; k.functions && i < d->in->function_count; i++) {
        hg_free(k.functions[i].order);
        hg_free(k.functions[i].last);
    }
    hg_free(k.functions);
    hg_free(k.reach);
    return ok ? HG_OK : hg_fail_memory();
}
