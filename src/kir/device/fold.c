/* An invocation that runs several lanes of a block: between barriers a loop over the lanes, and
 * arrays for what a lane keeps across them.
 *
 * Outer operations are barriers, what all lanes of a group leave by, jumps that lead past those,
 * and the IFs and LOOPs around them; all lanes agree on them. Everything between is cut into runs;
 * each becomes a loop over the invocation's lanes.
 * Requires: a kernel in device form in which no called function holds a barrier. Provides: the same kernel for groups of
 * ceil(block lanes / fold) invocations. HG_ERROR_ISA: a jump that skips more than one run. */
#include "kir/device/device_internal.h"
#include "kir/builder.h"
#include "kir/sugar.h"

typedef struct var_use {
    uint32_t run;   /* the only run that touches it; MANY: more */
    bool set_first; /* … beginning with a set that every lane does */
    bool repeated;  /* that run is in an outer loop */
    bool shared;    /* another function touches it, or gets it as an array */
    bool set_there; /* … and may set it */
    kir_var *array; /* its elements for each lane */
} var_use;
enum { NO_RUN = 0, MANY = INT32_MAX };

typedef struct folder {
    device *d;
    kir_module *m;
    kir_function *f;
    kir_builder b;
    kir_value **order; /* by id, before anything moves; in scratch: the folder where outer, else
                          NULL */
    uint32_t *last;    /* of IFs and LOOPs: id + 1 of the last outer point inside */
    uint32_t *run;     /* of operations; NO_RUN: outer */
    uint32_t count, last_point, runs, fold, old_vars;
    var_use *uses;        /* by variable id */
    bool calls;           /* the run that is made does */
    kir_var *lane, *gone; /* number of the lane in its block; the lane leaves the run's loops */
    kir_value *group;     /* invocations of a group */
    HG_VEC(kir_region *) regions; /* that hold outer operations */
} folder;

static bool fail(folder *x) {
    x->b.failed = true;
    return false;
}

/* ---- which operations are outer ---- */

static bool is_point(const folder *x, const kir_value *v) {
    const kir_value *loop;
    switch ((kir_op)v->op) {
    case KIR_BARRIER: return true;
    case KIR_EXIT: return v->u.imm != 0;
    case KIR_BREAK:
        loop = kir_loop_around(v);
        return loop->u.loop.once ? x->last[loop->id] > v->id + 1 : x->last[loop->id] != 0;
    case KIR_CONTINUE: return x->last[kir_loop_around(v)->id] > v->id + 1;
    default: return false;
    }
}

static void find_points(folder *x) {
    bool *seen = hg_calloc((size_t)x->count + 1, sizeof *seen);
    if (!seen) {
        x->b.failed = true;
        return;
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = x->count; i-- > 0;) {
            kir_value *v = x->order[i];
            if (seen[i] || !is_point(x, v)) continue;
            seen[i] = changed = true;
            for (const kir_region *r = v->parent; r->owner; r = r->owner->parent)
                if (x->last[r->owner->id] < i + 1) x->last[r->owner->id] = i + 1;
        }
    }
    for (uint32_t i = 0; i < x->count; i++) {
        kir_value *v = x->order[i], *owner = v->parent->owner;
        bool end = v->op == KIR_BREAK && owner && owner->op == KIR_LOOP && owner->u.loop.once &&
                   x->last[owner->id]; /* a BREAK of a loop whose body runs once: a forward jump */
        x->run[i] = seen[i] || x->last[i] || end ? NO_RUN : MANY;
        v->scratch = x->run[i] == NO_RUN ? x : NULL;
    }
    hg_free(seen);
}

/* Numbers the runs: siblings between outer operations, with all that they hold. */
static bool number_runs(folder *x) {
    kir_region **place = hg_vec_push(&x->regions);
    if (!place) return fail(x);
    *place = x->f->body;
    for (uint64_t i = 0; i < x->regions.count; i++) {
        bool open = false;
        kir_region *region = x->regions.data[i];
        for (kir_value *v = region->first; v; v = v->next) {
            if (x->run[v->id] == NO_RUN) {
                open = false;
                for (int k = 0; k < 2; k++) {
                    if (!v->body[k]) continue;
                    place = hg_vec_push(&x->regions);
                    if (!place) return fail(x);
                    *place = v->body[k];
                }
                continue;
            }
            if (!open) x->runs++;
            open = true;
            x->run[v->id] = x->runs;
            for (int k = 0; k < 2; k++)
                for (kir_value *w = v->body[k] ? kir_walk(NULL, v->body[k]) : NULL; w;
                     w = kir_walk(w, v->body[k]))
                    x->run[w->id] = x->runs;
        }
    }
    return true;
}

/* ---- values that another run uses ---- */

/* New operations stand before `at` and belong to its run. */
static kir_region *open_before(folder *x, kir_region *head, const kir_value *at) {
    kir_region *here = x->b.region;
    *head = (kir_region){.owner = at->parent->owner};
    x->b.region = head;
    x->b.inst = at->inst;
    return here;
}
static void close_before(folder *x, kir_region *head, kir_value *at, kir_region *here) {
    x->b.region = here;
    if (!x->b.failed) kir_splice(at->parent, at, head);
}

static bool is_leaf(const folder *x, const kir_value *v) {
    return v->op == KIR_CONST || v->op == KIR_INPUT || v->op == KIR_ID ||
           (v->op == KIR_VAR_GET && v->u.var == x->lane);
}

static kir_value *repeat(folder *x, const kir_value *v) {
    kir_value *copy = kir_emit(&x->b, (kir_op)v->op, v->type, 0, NULL);
    copy->u = v->u;
    return copy;
}

/* A use in another run reads a variable that is set where the value is made. */
static void carry_values(folder *x) {
    kir_var **carried = hg_calloc((size_t)x->count + 1, sizeof *carried);
    if (!carried) x->b.failed = true;
    for (uint32_t i = 0; i < x->count && !x->b.failed; i++) {
        kir_value *user = x->order[i];
        for (uint8_t k = 0; k < user->nargs; k++) {
            kir_value *v = user->args[k];
            if (x->run[v->id] == x->run[i]) continue;
            kir_region head, *here = open_before(x, &head, user);
            if (!is_leaf(x, v) && !carried[v->id])
                carried[v->id] = kir_var_create(x->m, x->f, v->type, 0, "kept");
            user->args[k] = is_leaf(x, v) ? repeat(x, v) : kir_get(&x->b, carried[v->id]);
            if (!x->b.failed) user->args[k]->scratch = user->scratch;
            close_before(x, &head, user, here);
        }
    }
    for (uint32_t i = 0; i < x->count && !x->b.failed; i++) {
        kir_region head, *here;
        if (!carried[i]) continue;
        here = open_before(x, &head, x->order[i]);
        kir_set(&x->b, carried[i], x->order[i]);
        x->b.region = here;
        if (!x->b.failed)
            kir_insert(x->order[i]->parent, x->order[i]->next, head.first, head.first);
    }
    hg_free(carried);
}

/* ---- variables ---- */

static bool sets(const kir_value *v) {
    return v->op == KIR_VAR_SET || v->op == KIR_ARRAY_SET || v->op == KIR_ATOMIC;
}

static kir_var *touched(const kir_value *v) {
    switch ((kir_op)v->op) {
    case KIR_VAR_GET:
    case KIR_VAR_SET:
    case KIR_ARRAY_GET:
    case KIR_ARRAY_SET: return v->u.var;
    case KIR_ATOMIC: return v->u.mem.high;
    default: return NULL;
    }
}

static void note_use(folder *x, const kir_value *v, kir_var *var, uint32_t run, bool repeated,
                     bool first_level) {
    var_use *u = &x->uses[var->id];
    if (u->run == NO_RUN) {
        u->run = run;
        u->set_first = v->op == KIR_VAR_SET && first_level;
        u->repeated = repeated;
    } else if (u->run != run) {
        u->run = MANY;
    }
}

static void hand_over(folder *x, const kir_var *array) {
    x->uses[array->id].shared = x->uses[array->id].set_there = true;
}

/* Runs and their operations, now that carried values have been added: each top-level operation
 * between outer ones. */
static void note_uses(folder *x) {
    for (kir_function *f = x->m->functions; f; f = f->next)
        for (const kir_value *v = f == x->f ? NULL : kir_walk(NULL, f->body); v;
             v = kir_walk(v, f->body))
            if (touched(v) && !touched(v)->function) {
                x->uses[touched(v)->id].shared = true;
                x->uses[touched(v)->id].set_there |= sets(v);
            }
    for (uint64_t i = 0; i < x->regions.count; i++) {
        kir_region *region = x->regions.data[i];
        bool repeated = region->owner &&
                        (region->owner->op == KIR_LOOP || kir_loop_around(region->owner));
        uint32_t run = ++x->runs; /* numbers only have to differ */
        for (kir_value *v = region->first; v; v = v->next) {
            if (v->scratch == x) {
                if (touched(v)) note_use(x, v, touched(v), MANY, repeated, true);
                run = ++x->runs;
                continue;
            }
            if (touched(v)) note_use(x, v, touched(v), run, repeated, true);
            for (uint8_t k = 0; v->op == KIR_CALL && k < v->u.call.function->array_count; k++) {
                note_use(x, v, v->u.call.arrays[k], run, repeated, true);
                hand_over(x, v->u.call.arrays[k]);
            }
            for (int side = 0; side < 2; side++)
                for (kir_value *w = v->body[side] ? kir_walk(NULL, v->body[side]) : NULL; w;
                     w = kir_walk(w, v->body[side])) {
                    if (touched(w)) note_use(x, w, touched(w), run, repeated, false);
                    for (uint8_t k = 0; w->op == KIR_CALL && k < w->u.call.function->array_count;
                         k++) {
                        note_use(x, w, w->u.call.arrays[k], run, repeated, false);
                        hand_over(x, w->u.call.arrays[k]);
                    }
                }
        }
    }
}

/* Whether each lane needs a place of its own for it. */
static bool crosses(const folder *x, const kir_var *var) {
    const var_use *u = &x->uses[var->id];
    if (var == x->lane || var == x->gone || var == x->d->vars.open_state ||
        var == x->d->vars.open_arena)
        return false;
    for (int i = 0; i < 2; i++)
        if (var == x->d->vars.open_base[i] || var == x->d->vars.open_size[i]) return false;
    if (u->shared && !var->function) return true;
    if (u->run == NO_RUN) return false;
    if (u->run == MANY) return true;
    return var->length ? u->repeated : !u->set_first;
}

static void make_arrays(folder *x) {
    kir_var *var = x->m->vars;
    for (uint32_t i = 0; i < x->old_vars && var && !x->b.failed; i++, var = var->next) {
        if ((var->function && var->function != x->f) || var->by_reference || !crosses(x, var))
            continue;
        uint64_t length = (uint64_t)(var->length ? var->length : 1) * x->fold;
        x->uses[var->id].array = length <= UINT32_MAX ? kir_var_create(x->m, x->f, var->type,
                                                                       (uint32_t)length, var->name)
                                                      : NULL;
        if (!x->uses[var->id].array) x->b.failed = true;
    }
}

/* ---- runs as loops ---- */

/* Variables that other functions set stay where those find them: loaded for a lane at its start,
 * put back at its end. What they only read is shown to them, and the run has it in the array:
 * stores of what was there would hide that all lanes have the same. */
static void exchange(folder *x, kir_value *at, bool load) {
    kir_builder *b = &x->b;
    kir_var *var = x->m->vars;
    for (uint32_t i = 0; i < x->old_vars && var && !b->failed; i++, var = var->next) {
        const var_use *u = &x->uses[var->id];
        if (!u->array || !u->shared || !(u->set_there || (load && x->calls))) continue;
        if (!var->length) {
            if (load)
                kir_set(b, var, kir_array_get(b, u->array, at));
            else
                kir_array_set(b, u->array, at, kir_get(b, var));
            continue;
        }
        kir_for k = kir_for_begin(b, u32(b, var->length));
        kir_value *place = kir_add(b, kir_mul(b, at, u32(b, var->length)), k.i);
        if (load)
            kir_array_set(b, var, k.i, kir_array_get(b, u->array, place));
        else
            kir_array_set(b, u->array, place, kir_array_get(b, var, k.i));
        kir_for_end(b, &k);
    }
}

static void use_array(folder *x, kir_value *v, kir_value *at) {
    var_use *u = &x->uses[v->u.var->id];
    if (v->u.var->id >= x->old_vars || !u->array || u->set_there) return;
    bool set = v->op == KIR_VAR_SET || v->op == KIR_ARRAY_SET,
         element = v->op == KIR_ARRAY_GET || v->op == KIR_ARRAY_SET;
    kir_value **args = hg_arena_alloc(&x->m->arena, 2 * sizeof *args), *place = at;
    if (!args) {
        x->b.failed = true;
        return;
    }
    if (set && u->shared && x->calls) {
        kir_region head, *here = open_before(x, &head, v);
        kir_value *shown = kir_emit(&x->b, (kir_op)v->op, v->type, v->nargs, v->args);
        if (!x->b.failed) shown->u = v->u;
        close_before(x, &head, v, here);
    }
    if (element) {
        kir_region head, *here = open_before(x, &head, v);
        place = kir_add(&x->b, kir_mul(&x->b, at, u32(&x->b, v->u.var->length)), v->args[0]);
        close_before(x, &head, v, here);
    }
    args[0] = place;
    if (set) args[1] = v->args[element ? 1 : 0];
    v->args = args;
    v->nargs = set ? 2 : 1;
    v->op = set ? KIR_ARRAY_SET : KIR_ARRAY_GET;
    v->u.var = u->array;
}

/* An atomic's high half: set where it is, then kept. */
static void use_high(folder *x, kir_value *v, kir_value *at) {
    var_use *u = &x->uses[v->u.mem.high->id];
    if (!u->array || u->set_there || !v->next) return;
    kir_region head, *here = open_before(x, &head, v->next);
    kir_array_set(&x->b, u->array, at, kir_get(&x->b, v->u.mem.high));
    close_before(x, &head, v->next, here);
}

/* What a jump leaves ends where its run ends: going on with the next lane is all there is to skip.
 */
static bool ends_with_run(const kir_value *last, const kir_value *loop) {
    for (const kir_value *v = last; v; v = v->parent->owner) {
        if (v->next && !(v->next->op == KIR_BREAK && !v->next->next)) return false;
        if (v->parent->owner == loop) return true;
    }
    return loop == NULL;
}

typedef struct run_loop {
    kir_value *loop, *at, *first; /* first: of the operations moved here */
} run_loop;

static run_loop begin_run(folder *x) {
    kir_builder *b = &x->b;
    run_loop r = {0};
    kir_var *index = kir_var_create(x->m, x->f, HG_TYPE_U32, 0, "member"); /* of the invocation's
                                                                              lanes */
    if (!index) b->failed = true;
    kir_set(b, index, u32(b, UINT32_MAX));
    r.loop = kir_loop_begin(b, true);
    r.at = kir_add(b, kir_get(b, index), u32(b, 1));
    kir_set(b, index, r.at);
    kir_value *over = kir_if_begin(b,
                                   kir_not(b, kir_binary(b, KIR_CMP_ULT, r.at, u32(b, x->fold))));
    kir_break(b);
    kir_if_end(b, over);
    kir_value *local = kir_emit(b, KIR_ID, HG_TYPE_U32, 0, NULL);
    local->u.imm = KIR_ID_LOCAL_X;
    kir_set(b, x->lane, kir_add(b, local, kir_mul(b, r.at, x->group)));
    kir_set(b, x->gone, kir_const(b, KIR_BOOL, 0));
    exchange(x, r.at, true);
    return r;
}

/* A jump out of a run: on to the next lane. */
static void go_on(folder *x, kir_value *v, kir_value *at) {
    kir_region head, *here = open_before(x, &head, v);
    exchange(x, at, false);
    close_before(x, &head, v, here);
    v->op = KIR_CONTINUE;
    v->nargs = 0;
}

static bool holds_exit(const kir_value *loop) {
    for (const kir_value *v = kir_walk(NULL, loop->body[0]); v; v = kir_walk(v, loop->body[0]))
        if (v->op == KIR_EXIT) return true;
    return false;
}

/* Behind a loop that a lane may exit in: it exits here too, a loop further out. */
static void exit_again(folder *x, kir_value *loop) {
    kir_region head, *here = open_before(x, &head, loop);
    kir_value *gone = kir_if_begin(&x->b, kir_get(&x->b, x->gone));
    kir_exit(&x->b);
    kir_if_end(&x->b, gone);
    x->b.region = here;
    if (x->b.failed) return;
    kir_value *get = head.first;
    kir_insert(loop->parent, loop->next, get->next, get->next);
    kir_insert(loop->parent, loop->next, get, get);
}

static void finish_exit(folder *x, kir_value *v, const run_loop *r) {
    if (kir_loop_around(v) == r->loop) {
        go_on(x, v, r->at);
        return;
    }
    kir_region head, *here = open_before(x, &head, v);
    kir_set(&x->b, x->gone, kir_const(&x->b, KIR_BOOL, 1));
    close_before(x, &head, v, here);
    v->op = KIR_BREAK;
}

/* ends: nothing follows the run in what jumps out of it leave. False: something does, and a jump is
 * there. */
static bool finish_run(folder *x, const run_loop *r, bool ends) {
    for (kir_value *v = r->first; v && !x->b.failed; v = kir_walk(v, r->loop->body[0])) {
        bool leaves = (v->op == KIR_BREAK || v->op == KIR_CONTINUE) &&
                      kir_loop_around(v) == r->loop && v->scratch != r->loop;
        if (v->op == KIR_LOOP && holds_exit(v)) exit_again(x, v);
        if ((leaves || v->op == KIR_EXIT) && !ends) return false;
        if (v->op == KIR_EXIT)
            finish_exit(x, v, r);
        else if (leaves)
            go_on(x, v, r->at);
        else if (v->op == KIR_VAR_GET || v->op == KIR_VAR_SET || v->op == KIR_ARRAY_GET ||
                 v->op == KIR_ARRAY_SET)
            use_array(x, v, r->at);
        else if (v->op == KIR_ATOMIC && v->u.mem.high)
            use_high(x, v, r->at);
        if (v->op == KIR_CONTINUE) v->scratch = r->loop;
    }
    return true;
}

/* Operations first … before next, all of one run, become the loop of a run at the region's end. */
static bool add_run(folder *x, kir_value *first, kir_value *next, bool ends) {
    x->calls = false;
    for (const kir_value *v = first; v != next; v = v->next) {
        x->calls |= v->op == KIR_CALL;
        for (int side = 0; side < 2; side++)
            for (const kir_value *w = v->body[side] ? kir_walk(NULL, v->body[side]) : NULL; w;
                 w = kir_walk(w, v->body[side]))
                x->calls |= w->op == KIR_CALL;
    }
    run_loop r = begin_run(x);
    if (x->b.failed) return true;
    r.first = first;
    for (kir_value *v = first, *after; v != next; v = after) {
        after = v->next;
        kir_insert(r.loop->body[0], NULL, v, v);
    }
    bool good = finish_run(x, &r, ends);
    x->b.region = r.loop->body[0];
    if (x->b.region->last->op != KIR_CONTINUE && x->b.region->last->op != KIR_BREAK)
        exchange(x, r.at, false);
    kir_loop_end(&x->b, r.loop);
    return good;
}

/* An outer operation; a condition reads what the first lane found, the same in all. */
static void add_outer(folder *x, kir_region *region, kir_value *v) {
    bool array = v->op == KIR_VAR_GET && v->u.var->id < x->old_vars && x->uses[v->u.var->id].array;
    kir_value *zero = array ? u32(&x->b, 0) : NULL;
    kir_insert(region, NULL, v, v);
    if (array) use_array(x, v, zero);
}

static bool rebuild(folder *x, kir_region *region) {
    kir_value *owner = region->owner, *loop = owner && owner->op == KIR_LOOP ? owner
                                              : owner ? kir_loop_around(owner)
                                                      : NULL;
    kir_value *v = region->first, *next;
    region->first = region->last = NULL;
    for (; v && !x->b.failed; v = next) {
        x->b.region = region;
        x->b.inst = v->inst;
        kir_value *last = v;
        while (v->scratch != x && last->next && last->next->scratch != x) last = last->next;
        next = last->next;
        if (v->scratch == x) {
            add_outer(x, region, v);
            continue;
        }
        bool ends = !next || (next->op == KIR_BREAK && !next->next);
        if (ends && owner && owner != loop) ends = ends_with_run(owner, loop);
        if (!add_run(x, v, next, ends)) return false;
    }
    return true;
}

/* ---- ---- */

static void name_lanes(folder *x) {
    for (kir_function *f = x->m->functions; f; f = f->next)
        for (kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body)) {
            if (v->op != KIR_ID || v->u.imm != KIR_DEVICE_ID_COUNT) continue;
            v->op = KIR_VAR_GET;
            v->u.var = x->lane;
        }
}

/* Invocations of a group, at the start of the kernel. */
static void count_group(folder *x) {
    kir_builder *b = &x->b;
    kir_region head = {0};
    b->region = &head;
    kir_value *lanes = device_field32(x->d, b, KIR_FIELD_BLOCK_DIM, 0);
    for (uint32_t i = 1; i < 3; i++)
        lanes = kir_mul(b, lanes, device_field32(x->d, b, KIR_FIELD_BLOCK_DIM, i));
    x->group = kir_binary(b, KIR_UDIV, by(b, KIR_ADD, lanes, x->fold - 1), u32(b, x->fold));
    if (b->failed) return;
    for (kir_value *v = head.first; v; v = v->next) v->scratch = x;
    if (x->f->body->first) kir_splice(x->f->body, x->f->body->first, &head);
}

static bool prepare(folder *x) {
    x->lane = kir_var_create(x->m, NULL, HG_TYPE_U32, 0, "lane");
    x->gone = kir_var_create(x->m, x->f, KIR_BOOL, 0, "gone");
    if (!x->lane || !x->gone) return false;
    name_lanes(x);
    x->count = kir_number(x->f);
    x->order = hg_calloc((size_t)x->count + 1, sizeof *x->order);
    x->last = hg_calloc((size_t)x->count + 1, sizeof *x->last);
    x->run = hg_calloc((size_t)x->count + 1, sizeof *x->run);
    if (!x->order || !x->last || !x->run) return false;
    for (kir_value *v = kir_walk(NULL, x->f->body); v; v = kir_walk(v, x->f->body))
        x->order[v->id] = v;
    find_points(x);
    return !x->b.failed && number_runs(x);
}

static hg_status fold_kernel(folder *x) {
    if (!prepare(x)) return hg_fail_memory();
    carry_values(x);
    x->old_vars = x->m->var_count;
    x->uses = hg_calloc((size_t)x->old_vars + 1, sizeof *x->uses);
    if (!x->uses || x->b.failed) return hg_fail_memory();
    note_uses(x);
    make_arrays(x);
    count_group(x);
    for (uint64_t i = 0; i < x->regions.count && !x->b.failed; i++)
        if (!rebuild(x, x->regions.data[i]))
            return hg_fail(HG_ERROR_ISA, "a jump between barriers is too far for blocks that are "
                                         "larger than the device's groups");
    return x->b.failed || x->d->failed ? hg_fail_memory() : HG_OK;
}

hg_status device_fold(device *d) {
    folder x = {.d = d, .m = d->out, .f = d->out->functions, .fold = d->options->fold};
    kir_builder_init(&x.b, x.m, x.f);
    hg_status status = fold_kernel(&x);
    hg_free(x.order);
    hg_free(x.last);
    hg_free(x.run);
    hg_free(x.uses);
    hg_vec_free(&x.regions);
    return status;
}
