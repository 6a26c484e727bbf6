/* One walk over a function in text order that knows what each variable holds: gets become that
 * value, equal pure operations become one, constants fold, branches on constants disappear, and so
 * does what follows a jump. What is known inside a region is undone at its end; what the region may
 * have set is unknown after it.
 * Requires: verified module, numbered. Provides: the same meaning. */
#include "kir/builder.h"
#include "kir/passes/simplify_internal.h"

/* What a variable holds at the point of the walk. value NULL: not known. */
typedef struct known {
    kir_value *value;
    uint32_t loops; /* loops around where this became known */
    uint64_t calls; /* calls seen so far */
} known;

typedef struct undo {
    kir_var *var;
    known before;
    bool is_set;
} undo;
typedef struct expression {
    kir_value *value;
    uint64_t hash;
    uint32_t next;
} expression; /* next: in the bucket, + 1 */
typedef struct frame {
    kir_value *owner;
    uint8_t side;
    uint32_t last; /* id of the last operation inside */
    uint64_t undos, expressions, killed;
} frame;
typedef struct span {
    uint32_t first, last;
    uint64_t killed;
} span; /* ids of a loop; first of loop_killed */

typedef struct forward {
    kir_module *m;
    kir_function *f;
    const uint32_t *setters; /* by variable: see simplify_elsewhere */
    known *vars;             /* by variable */
    simplify_sets sets;
    uint64_t calls;
    HG_VEC(undo) undos;
    HG_VEC(kir_var *) killed;      /* set in a branch: unknown after it */
    HG_VEC(kir_var *) loop_killed; /* set in a branch that ends: unknown after the loop */
    HG_VEC(frame) frames;
    HG_VEC(span) loops;
    HG_VEC(expression) expressions;
    uint32_t *buckets;
    uint32_t bucket_mask;
    uint64_t work, work_limit;
    bool failed, changed;
} forward;

static const char ENDS = 0; /* scratch of an IF both of whose branches end */

/* ---- variables ---- */

/* What is known of the variable still holds here: no call and no loop around this point, entered
 * since, may set it. */
static kir_value *current(const forward *x, const kir_var *var) {
    const known *k = &x->vars[var->id];
    if (!k->value) return NULL;
    bool elsewhere = !var->function && simplify_elsewhere(x->setters, var, x->f);
    if (elsewhere && k->calls != x->calls) return NULL;
    if (k->loops < x->loops.count) {
        span s = x->loops.data[k->loops];
        if (simplify_sets_within(&x->sets, var, elsewhere, s.first, s.last)) return NULL;
    }
    return k->value;
}

static void learn(forward *x, kir_var *var, kir_value *value, bool is_set) {
    undo *u = hg_vec_push(&x->undos);
    if (!u) {
        x->failed = true;
        return;
    }
    *u = (undo){var, x->vars[var->id], is_set};
    x->vars[var->id] = (known){value, (uint32_t)x->loops.count, x->calls};
}

/* Goes back to an earlier point. Variables set since then are listed: with those of the branch, or,
 * when the branch does not go on after its end, with those of the loop that it may have left. */
static void roll_back(forward *x, uint64_t undos, bool goes_on) {
    while (x->undos.count > undos) {
        undo u = x->undos.data[--x->undos.count];
        x->vars[u.var->id] = u.before;
        x->work++;
        if (!u.is_set || (!goes_on && x->loops.count == 0)) continue;
        kir_var **place = goes_on ? hg_vec_push(&x->killed) : hg_vec_push(&x->loop_killed);
        if (place)
            *place = u.var;
        else
            x->failed = true;
    }
}

static void kill_listed(forward *x, uint64_t from) {
    for (uint64_t i = from; i < x->killed.count; i++)
        if (x->vars[x->killed.data[i]->id].value) learn(x, x->killed.data[i], NULL, true);
    x->killed.count = from;
}

/* ---- value numbering: equal operations of a region and those around it are one ---- */

static uint64_t mix(uint64_t h, uint64_t x) {
    h = (h ^ x) * UINT64_C(0x9E3779B97F4A7C15);
    return h ^ h >> 32;
}

static uint64_t detail(const kir_value *v) {
    switch ((kir_op)v->op) {
    case KIR_CONST:
    case KIR_INPUT:
    case KIR_PARAM:
    case KIR_ID: return v->u.imm;
    case KIR_TABLE_GET: return (uint64_t)(uintptr_t)v->u.table;
    case KIR_DERIVED: return (uint64_t)v->u.derived.fn << 8 | v->u.derived.atlas_type;
    default: return 0;
    }
}

static bool same(const kir_value *a, const kir_value *b) {
    if (a->op != b->op || a->type != b->type || a->nargs != b->nargs || detail(a) != detail(b))
        return false;
    bool swapped = kir_op_has((kir_op)a->op, KIR_F_COMMUTES) && a->args[0] == b->args[1] &&
                   a->args[1] == b->args[0];
    for (uint8_t i = swapped ? 2 : 0; i < a->nargs; i++)
        if (a->args[i] != b->args[i]) return false;
    return true;
}

/* An equal operation seen before in this region or around it, else NULL, and v is remembered. */
static kir_value *seen_before(forward *x, kir_value *v) {
    if (v->op == KIR_CONST && kir_type_bytes(v->type) > 8) return NULL;
    uint64_t h = mix(mix(v->op, v->type), detail(v));
    uint8_t i = 0;
    if (kir_op_has((kir_op)v->op, KIR_F_COMMUTES)) { /* the same in either order */
        h = mix(h, (uint64_t)(uintptr_t)v->args[0] + (uint64_t)(uintptr_t)v->args[1]);
        i = 2;
    }
    for (; i < v->nargs; i++) h = mix(h, (uint64_t)(uintptr_t)v->args[i]);
    uint32_t *bucket = &x->buckets[h & x->bucket_mask];
    uint32_t looked = 0;
    for (uint32_t e = *bucket; e && looked < 64; e = x->expressions.data[e - 1].next, looked++)
        if (x->expressions.data[e - 1].hash == h && same(x->expressions.data[e - 1].value, v))
            return x->expressions.data[e - 1].value;
    expression *place = hg_vec_push(&x->expressions);
    if (!place) {
        x->failed = true;
        return NULL;
    }
    *place = (expression){v, h, *bucket};
    *bucket = (uint32_t)x->expressions.count;
    return NULL;
}

static void forget_expressions(forward *x, uint64_t count) {
    while (x->expressions.count > count) {
        expression e = x->expressions.data[--x->expressions.count];
        x->buckets[e.hash & x->bucket_mask] = e.next;
    }
}

/* ---- operations ---- */

static void replace(forward *x, kir_value *v, kir_value *by) {
    x->changed = true;
    v->scratch = by;
    kir_remove(v);
}

static void drop(forward *x, kir_value *v) {
    x->changed = true;
    kir_remove(v);
}

static void update_arguments(kir_value *v) {
    for (uint8_t i = 0; i < v->nargs; i++)
        if (v->args[i]->scratch) v->args[i] = v->args[i]->scratch;
}

/* A vector has twice the lanes then, and what a device without 64-bit integers shifts is one word.
 */
static void shift_half(forward *x, kir_value *v) {
    kir_builder b;
    kir_region alone = {0};
    kir_builder_init(&b, x->m, x->f);
    b.region = &alone;
    b.inst = v->inst;
    kir_value *low = v->args[0]->args[0];
    kir_value *half = kir_emit(&b, KIR_SHL, low->type, 2, (kir_value *[]){low, v->args[1]});
    if (b.failed) return; /* as it was */
    x->changed = true;
    kir_value *before = seen_before(x, half);
    if (!before) kir_insert(v->parent, v, half, half);
    v->op = KIR_ZEXT;
    v->nargs = 1;
    v->args[0] = before ? before : half;
}

static void visit_pure(forward *x, kir_value *v) {
    uint64_t bits;
    kir_value *value;
    if (v->nargs == 2 && simplify_shifts_half(v)) shift_half(x, v);
    switch (simplify_fold(v, &bits, &value)) {
    case FOLD_VALUE: replace(x, v, value); return;
    case FOLD_CONSTANT:
        x->changed = true;
        v->op = KIR_CONST;
        v->nargs = 0;
        v->u.imm = bits;
        break;
    case FOLD_NONE: break;
    }
    kir_value *before = seen_before(x, v);
    if (before) replace(x, v, before);
}

/* Whether the condition's being `truth` says that `wanted` is true. */
static bool implies(const kir_value *condition, bool truth, const kir_value *wanted, int depth) {
    if (condition == wanted) return truth;
    if (condition->type != KIR_BOOL || condition->nargs != 2 || !depth) return false;
    if (condition->op == KIR_XOR && condition->args[1]->op == KIR_CONST)
        return implies(condition->args[0], truth != (condition->args[1]->u.imm != 0), wanted,
                       depth - 1);
    if (condition->op != (truth ? KIR_AND : KIR_OR)) return false;
    return implies(condition->args[0], truth, wanted, depth - 1) ||
           implies(condition->args[1], truth, wanted, depth - 1);
}

/* The check of an axis asks what a branch around it has asked, or an equal check in front of it. */
static bool is_checked_before(forward *x, kir_value *v) {
    enum { DEPTH = 6, MOST_FRAMES = 16 };
    const kir_value *bad = v->args[0], *inside = bad->op == KIR_XOR ? bad->args[0] : NULL;
    for (uint64_t i = x->frames.count, looked = 0; inside && i-- > 0 && looked < MOST_FRAMES;
         looked++) {
        const frame *f = &x->frames.data[i];
        if (f->owner->op == KIR_IF && implies(f->owner->args[0], f->side == 0, inside, DEPTH))
            return true;
    }
    return seen_before(x, v) != NULL;
}

static void visit_plain(forward *x, kir_value *v) {
    kir_value *value;
    switch ((kir_op)v->op) {
    case KIR_VAR_GET:
        value = current(x, v->u.var);
        if (value)
            replace(x, v, value);
        else
            learn(x, v->u.var, v, false);
        return;
    case KIR_VAR_SET:
        if (current(x, v->u.var) == v->args[0])
            drop(x, v);
        else
            learn(x, v->u.var, v->args[0], true);
        return;
    case KIR_ATOMIC:
        if (v->u.mem.high) learn(x, v->u.mem.high, NULL, true);
        return;
    case KIR_FAULT_IF:
        if ((v->args[0]->op == KIR_CONST && !v->args[0]->u.imm) ||
            (v->u.fault.axis && is_checked_before(x, v)))
            drop(x, v);
        return;
    case KIR_CALL:
        if (simplify_may_set_module(v)) x->calls++;
        return;
    default:
        if (kir_is_pure(v)) visit_pure(x, v);
    }
}

static void remove_rest(forward *x, kir_value *v) {
    x->changed |= v->next != NULL;
    kir_region *r = v->parent;
    r->last = v;
    v->next = NULL;
}

static bool region_ends(const kir_region *r) {
    return r->last &&
           (kir_is_jump(r->last) || (r->last->op == KIR_IF && r->last->scratch == &ENDS));
}

/* IF on a constant: the branch taken stands in its place. Its first operation, or what follows the
 * IF. */
static kir_value *splice(forward *x, kir_value *v) {
    x->changed = true;
    kir_region *r = v->parent, *taken = v->body[v->args[0]->u.imm ? 0 : 1];
    kir_value *first = taken->first ? taken->first : v->next;
    kir_splice(r, v, taken);
    kir_remove(v);
    return first;
}

/* Id of the last operation inside v; more where v is the last of its region. Ids are those of the
 * start of the pass. */
static uint32_t last_id(const forward *x, const kir_value *v) {
    if (v->next) return v->next->id - 1;
    if (x->frames.count == 0) return UINT32_MAX;
    const frame *around = &x->frames.data[x->frames.count - 1];
    const kir_region *other = around->owner->op == KIR_IF && around->side == 0
                                  ? around->owner->body[1]
                                  : NULL;
    return other && other->first ? other->first->id - 1 : around->last;
}

static kir_value *enter(forward *x, kir_value *v) {
    uint32_t last = last_id(x, v);
    frame *n = hg_vec_push(&x->frames);
    if (!n) {
        x->failed = true;
        return NULL;
    }
    *n = (frame){v, 0, last, x->undos.count, x->expressions.count, x->killed.count};
    if (v->op == KIR_LOOP) {
        span *s = hg_vec_push(&x->loops);
        if (s)
            *s = (span){v->id, last, x->loop_killed.count};
        else
            x->failed = true;
    }
    return v->body[0]->first;
}

static void leave_loop(forward *x) {
    uint64_t from = x->loops.data[--x->loops.count].killed;
    for (uint64_t i = from; i < x->loop_killed.count; i++) {
        kir_var **place = hg_vec_push(&x->killed);
        if (place)
            *place = x->loop_killed.data[i];
        else
            x->failed = true;
    }
    x->loop_killed.count = from;
}

/* The end of a region: the next operation to visit, in the other branch or after the owner; NULL
 * with *region NULL at the end. */
static kir_value *leave(forward *x, kir_region **region) {
    frame *n = &x->frames.data[x->frames.count - 1];
    kir_value *owner = n->owner;
    roll_back(x, n->undos, owner->op == KIR_LOOP || !region_ends(*region));
    forget_expressions(x, n->expressions);
    if (owner->op == KIR_IF && n->side == 0) {
        n->side = 1;
        *region = owner->body[1];
        return owner->body[1]->first;
    }
    if (owner->op == KIR_LOOP)
        leave_loop(x);
    else if (region_ends(owner->body[0]) && region_ends(owner->body[1]))
        owner->scratch = (void *)(uintptr_t)&ENDS;
    uint64_t killed = n->killed;
    x->frames.count--;
    kill_listed(x, killed);
    *region = owner->parent;
    if (owner->scratch == &ENDS) remove_rest(x, owner);
    return owner->next;
}

static void walk(forward *x) {
    kir_region *region = x->f->body;
    kir_value *v = region->first;
    while (!x->failed && x->work <= x->work_limit) {
        if (!v) {
            if (x->frames.count == 0) return;
            v = leave(x, &region);
            continue;
        }
        kir_value *next = v->next;
        update_arguments(v);
        if (v->op == KIR_IF && v->args[0]->op == KIR_CONST) {
            v = splice(x, v);
        } else if (v->op == KIR_IF || v->op == KIR_LOOP) {
            region = v->body[0];
            v = enter(x, v);
        } else if (kir_is_jump(v)) {
            remove_rest(x, v);
            v = NULL;
        } else {
            visit_plain(x, v);
            v = next;
        }
    }
    /* Too much to do: the rest only learns what became of its arguments. */
    for (v = kir_walk(NULL, x->f->body); v; v = kir_walk(v, x->f->body))
        if (v->op != KIR_IF || v->nargs) update_arguments(v);
}

hg_status simplify_forward(kir_module *m, kir_function *f, const uint32_t *setters, bool *changed) {
    forward x = {.m = m, .f = f, .setters = setters};
    uint32_t count = kir_number(f);
    x.work_limit = 64 * (uint64_t)count + 65536;
    for (x.bucket_mask = 63; x.bucket_mask < count && x.bucket_mask < UINT32_MAX / 4;
         x.bucket_mask = x.bucket_mask * 2 + 1) {}
    x.vars = hg_calloc((size_t)m->var_count + 1, sizeof *x.vars);
    x.buckets = hg_calloc((size_t)x.bucket_mask + 1, sizeof *x.buckets);
    x.failed = !x.vars || !x.buckets || !simplify_sets_find(&x.sets, m, f);
    for (kir_value *v = kir_walk(NULL, f->body); v && !x.failed; v = kir_walk(v, f->body))
        v->scratch = NULL;
    if (!x.failed) walk(&x);
    hg_free(x.vars);
    simplify_sets_free(&x.sets);
    hg_free(x.buckets);
    hg_vec_free(&x.undos);
    hg_vec_free(&x.killed);
    hg_vec_free(&x.loop_killed);
    hg_vec_free(&x.frames);
    hg_vec_free(&x.loops);
    hg_vec_free(&x.expressions);
    *changed |= x.changed;
    return x.failed ? hg_fail_memory() : HG_OK;
}
