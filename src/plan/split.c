/* Cuts the kernel function at its whole-array steps: which IF and LOOP belong to the plan, which
 * runs of operations become lane kernels, and which values cross from one to another (they are
 * moved into variables).
 * Requires: verified, simplified module; steps only in the kernel function, in uniform control flow.
 * Provides: plan_segment_of for every operation; no value used outside its segment except through variables. */
#include "plan/plan_internal.h"
#include "kir/builder.h"
#include "kir/analysis/analysis.h"

bool plan_is_node(const plan_splitter *s, const kir_value *v) {
    if (v->op == KIR_STEP || plan_is_owner(s, v)) return true;
    return kir_is_jump(v) && plan_is_region(s, v->parent);
}

static void mark_owners(plan_splitter *s, const kir_value *v, const kir_value *until) {
    for (kir_region *r = v->parent; r->owner && r->owner != until; r = r->owner->parent)
        s->marks.data[r->owner->id].is_owner = true;
}

static bool owners_are_uniform(const plan_splitter *s, const kir_value *v) {
    for (const kir_region *r = v->parent; r->owner; r = r->owner->parent)
        if (r->owner->op == KIR_IF && !plan_is_owner(s, r->owner) &&
            r->owner->args[0]->uniformity != KIR_UNIFORM)
            return false;
    return true;
}

static bool inside_plan_loop(const plan_splitter *s, const kir_region *r) {
    for (; r->owner; r = r->owner->parent)
        if (r->owner->op == KIR_LOOP && plan_is_owner(s, r->owner)) return true;
    return false;
}

static void mark(plan_splitter *s) {
    const kir_value *last_step = NULL;
    for (uint32_t i = 0, count = kir_number(s->main); i < count; i++)
        if (!hg_vec_push(&s->marks)) {
            s->failed = true;
            return;
        }
    for (kir_value *v = kir_walk(NULL, s->main->body); v; v = kir_walk(v, s->main->body)) {
        if (v->op != KIR_STEP) continue;
        mark_owners(s, v, NULL);
        last_step = v;
    }
    /* an exit all lanes take together ends the plan; one that lanes take alone has no step after it
     * (verified) */
    for (kir_value *v = kir_walk(NULL, s->main->body); v; v = kir_walk(v, s->main->body))
        if ((v->op == KIR_EXIT || v->op == KIR_RETURN) && last_step &&
            (v->id < last_step->id || inside_plan_loop(s, v->parent)) && owners_are_uniform(s, v))
            mark_owners(s, v, NULL);
    for (kir_value *v = kir_walk(NULL, s->main->body); v; v = kir_walk(v, s->main->body)) {
        if (v->op != KIR_BREAK && v->op != KIR_CONTINUE) continue;
        kir_value *loop = kir_loop_around(v);
        if (plan_is_owner(s, loop)) mark_owners(s, v, loop);
    }
}

static void number_segments(plan_splitter *s) {
    const kir_region *region = NULL;
    bool after_node = true;
    if (!hg_vec_push(&s->segments)) s->failed = true;
    for (kir_value *v = kir_walk(NULL, s->main->body); v && !s->failed;
         v = kir_walk(v, s->main->body)) {
        if (plan_is_region(s, v->parent)) {
            bool node = plan_is_node(s, v);
            if (node || after_node || v->parent != region) {
                plan_segment *segment = hg_vec_push(&s->segments);
                if (!segment) {
                    s->failed = true;
                    return;
                }
                segment->in_loop = inside_plan_loop(s, v->parent);
            }
            region = v->parent;
            after_node = node;
        }
        s->marks.data[v->id].segment = (uint32_t)s->segments.count - 1;
    }
}

/* A new operation before or after one of function f, in its segment. */
static kir_value *insert(plan_splitter *s, const kir_function *f, kir_value *at, bool after,
                         kir_op op, uint8_t type, uint8_t nargs, kir_value *const *args) {
    kir_builder b;
    kir_region one = {NULL, NULL, NULL};
    kir_builder_init(&b, s->module, s->main);
    b.region = &one;
    b.inst = at->inst;
    kir_value *v = kir_emit(&b, op, type, nargs, args);
    if (b.failed) {
        s->failed = true;
        return NULL;
    }
    kir_insert(at->parent, after ? at->next : at, v, v);
    if (f != s->main) return v;
    uint32_t segment = plan_segment_of(s, at);
    plan_mark *own = hg_vec_push(&s->marks);
    if (!own) {
        s->failed = true;
        return NULL;
    }
    v->id = (uint32_t)s->marks.count - 1;
    own->segment = segment;
    return v;
}

/* The variable that carries a value across segments. */
static kir_var *carrier(plan_splitter *s, kir_value *v) {
    if (v->scratch) return v->scratch;
    kir_var *var = kir_var_create(s->module, s->main, v->type, 0, NULL);
    plan_carrier *entry = hg_vec_push(&s->carriers);
    if (!var || !entry) {
        s->failed = true;
        return NULL;
    }
    *entry = (plan_carrier){v, var};
    v->scratch = var;
    if (v->op != KIR_STEP) {
        kir_value *set = insert(s, s->main, v, true, KIR_VAR_SET, KIR_VOID, 1, &v);
        if (set) set->u.var = var;
    }
    return var;
}

/* Operations that are made again rather than carried: an index of a lane is two or three, its row
 * and column in an array a few more. Of what is the same in all lanes one value is carried, which
 * costs less. */
enum { MOST_REMADE = 12, MOST_REMADE_ONCE = 3 };

static bool is_remade(const kir_value *v, uint32_t *most, bool carries);

/* The same in all lanes, and more than a few operations. */
static bool is_carried_once(const kir_value *v) {
    uint32_t few = MOST_REMADE_ONCE;
    return v->uniformity == KIR_UNIFORM && kir_type_bytes(v->type) <= 8 &&
           !is_remade(v, &few, false);
}

/* Whether a value is a constant, an input, an id, or a few integer operations on such, and, with
 * carries, on what is carried once. *most: how many there may be, and what is left of that. */
static bool is_remade(const kir_value *v, uint32_t *most, bool carries) {
    if (v->op == KIR_CONST || v->op == KIR_INPUT || v->op == KIR_ID) return true;
    bool simple = v->op == KIR_ZEXT || v->op == KIR_TRUNC || v->op == KIR_UDIV ||
                  v->op == KIR_UREM || kir_op_has((kir_op)v->op, KIR_F_SHIFTS) ||
                  (kir_op_has((kir_op)v->op, KIR_F_CHEAP) &&
                   kir_op_get((kir_op)v->op)->class == KIR_CLASS_INT);
    if (!simple || *most == 0 || kir_type_bytes(v->type) > 8) return false;
    --*most;
    for (uint8_t i = 0; i < v->nargs; i++)
        if (kir_type_bytes(v->args[i]->type) > 8 ||
            (!(carries && is_carried_once(v->args[i])) && !is_remade(v->args[i], most, carries)))
            return false;
    return true;
}

static kir_value *brought(plan_splitter *s, kir_value *v, kir_value *user);

/* A copy of such a value in front of its user. */
static kir_value *remake(plan_splitter *s, const kir_value *v, kir_value *user) {
    kir_value *args[3] = {NULL};
    for (uint8_t i = 0; i < v->nargs; i++) {
        args[i] = is_carried_once(v->args[i]) ? brought(s, v->args[i], user)
                                              : remake(s, v->args[i], user);
        if (!args[i]) return NULL;
    }
    kir_value *copy = insert(s, s->main, user, false, (kir_op)v->op, v->type, v->nargs, args);
    if (!copy) return NULL;
    copy->u = v->u;
    copy->uniformity = v->uniformity;
    return copy;
}

/* A handle that was worked out is carried: as an input of the next kernel it has a slot. */
static bool is_handle(const kir_value *user, uint8_t i) {
    return i == 0 && kir_is_access(user) &&
           (user->u.mem.space == KIR_BUFFER || user->u.mem.space == KIR_POOL);
}

/* A value of another segment in front of its user, as it was carried. */
static kir_value *brought(plan_splitter *s, kir_value *v, kir_value *user) {
    if (plan_segment_of(s, v) == plan_segment_of(s, user)) return v;
    kir_var *var = carrier(s, v);
    kir_value *get = var ? insert(s, s->main, user, false, KIR_VAR_GET, v->type, 0, NULL) : NULL;
    if (!get) return NULL;
    get->u.var = var;
    get->uniformity = v->uniformity;
    return get;
}

static void carry_argument(plan_splitter *s, kir_value *user, uint8_t i) {
    kir_value *v = user->args[i];
    if (plan_is_node(s, user)) {
        if (v->op != KIR_CONST && v->op != KIR_INPUT) (void)carrier(s, v);
        return;
    }
    if (plan_segment_of(s, v) == plan_segment_of(s, user)) return;
    uint32_t most = is_handle(user, i) ? 0 : MOST_REMADE;
    bool again = !is_carried_once(v) && is_remade(v, &most, most > 0);
    kir_value *here = again ? remake(s, v, user) : brought(s, v, user);
    if (here) user->args[i] = here;
}

/* A lane that stops alone must stay stopped in the segments after its own. */
static void note_exits(plan_splitter *s) {
    bool callee_exits = kir_functions_exit(s->module), later = false;
    for (kir_value *v = kir_walk(NULL, s->main->body); v; v = kir_walk(v, s->main->body)) {
        if (plan_is_node(s, v)) continue;
        plan_segment *segment = &s->segments.data[plan_segment_of(s, v)];
        if (v->op == KIR_EXIT || v->op == KIR_RETURN || (v->op == KIR_CALL && callee_exits))
            segment->has_exit = true;
        if (v->op == KIR_CALL && !v->u.call.function->pure) segment->has_call = true;
    }
    for (uint64_t i = 1; i < s->segments.count; i++)
        later |= s->segments.data[i].has_exit &&
                 (s->segments.data[i].in_loop || i + 1 < s->segments.count);
    if (!later) return; /* nothing comes behind */
    s->stopped = kir_var_create(s->module, NULL, KIR_BOOL, 0, "stopped");
    if (!s->stopped) {
        s->failed = true;
        return;
    }
    for (kir_function *f = s->module->functions; f && !s->failed; f = f->next) {
        for (kir_value *v = kir_walk(NULL, f->body); v && !s->failed; v = kir_walk(v, f->body)) {
            if (v->op != KIR_EXIT && !(v->op == KIR_RETURN && f == s->main)) continue;
            if (f == s->main && plan_is_node(s, v)) continue;
            kir_value *yes = insert(s, f, v, false, KIR_CONST, KIR_BOOL, 0, NULL);
            if (!yes) return;
            yes->u.imm = 1;
            kir_value *set = insert(s, f, v, false, KIR_VAR_SET, KIR_VOID, 1, &yes);
            if (set) set->u.var = s->stopped;
        }
    }
}

static void find_ends(plan_splitter *s) {
    for (kir_value *v = kir_walk(NULL, s->main->body); v; v = kir_walk(v, s->main->body)) {
        if (!plan_is_region(s, v->parent) || plan_is_node(s, v)) continue;
        plan_segment *segment = &s->segments.data[plan_segment_of(s, v)];
        if (!segment->first) segment->first = v;
        segment->last = v;
    }
}

static void touch(plan_splitter *s, const kir_var *var, uint32_t segment) {
    plan_variable *info = &s->variables.data[var->id];
    if (info->segment && info->segment != segment) info->crosses = true;
    if (s->segments.data[segment].in_loop) info->crosses = true;
    info->segment = segment;
}

static void touch_module_variables(plan_splitter *s, uint32_t segment) {
    for (kir_var *var = s->module->vars; var; var = var->next) {
        if (var->function) continue;
        touch(s, var, segment);
        if (s->segments.data[segment].has_exit) s->variables.data[var->id].set_at_exit = true;
    }
}

/* Variables that handles of accesses are read from, by way of other variables too: backwards, to a
 * fixed point. */
static void find_handles(plan_splitter *s) {
    for (bool changed = true; changed;) {
        changed = false;
        for (kir_function *f = s->module->functions; f; f = f->next)
            for (const kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body)) {
                bool set = v->op == KIR_VAR_SET && s->variables.data[v->u.var->id].names_memory;
                bool access = is_handle(v, 0);
                const kir_value *handle = set || access ? v->args[0] : NULL;
                if (!handle || handle->op != KIR_VAR_GET ||
                    s->variables.data[handle->u.var->id].names_memory)
                    continue;
                s->variables.data[handle->u.var->id].names_memory = changed = true;
            }
    }
}

/* Registers that functions share and that begin as ids, r252 to r255: a kernel behind a step knows
 * them too. What lanes keep in memory, lanes that do not start have not, and so they could not
 * decide together whether they reach a barrier. */
static void find_ids(plan_splitter *s) {
    for (const kir_value *v = s->main->body->first; v && (kir_is_pure(v) || v->op == KIR_VAR_SET);
         v = v->next)
        if (v->op == KIR_VAR_SET && v->args[0]->op == KIR_ID)
            s->variables.data[v->u.var->id].id = v->args[0];
    for (const kir_function *f = s->module->functions; f; f = f->next)
        for (const kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body)) {
            plan_variable *set = v->op == KIR_VAR_SET ? &s->variables.data[v->u.var->id] : NULL;
            if (set && v->args[0] != set->id) set->id = NULL;
            if (v->op == KIR_ATOMIC && v->u.mem.high)
                s->variables.data[v->u.mem.high->id].id = NULL;
        }
    for (uint64_t i = 0; i < s->variables.count; i++) {
        plan_variable *info = &s->variables.data[i];
        if (info->forced || !info->varying) info->id = NULL;
        if (info->id) info->crosses = false;
    }
}

static void classify(plan_splitter *s) {
    kir_find_uniformity(s->module, false); /* may use scratch */
    for (kir_value *v = kir_walk(NULL, s->main->body); v; v = kir_walk(v, s->main->body))
        v->scratch = NULL;
    for (uint64_t i = 0; i < s->carriers.count; i++)
        s->carriers.data[i].value->scratch = s->carriers.data[i].var;
    for (kir_var *var = s->module->vars; var; var = var->next)
        if (!hg_vec_push(&s->variables)) {
            s->failed = true;
            return;
        }
    for (kir_function *f = s->module->functions; f; f = f->next) {
        for (kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body)) {
            bool is_get = v->op == KIR_VAR_GET, is_set = v->op == KIR_VAR_SET;
            if (is_get && v->uniformity != KIR_UNIFORM)
                s->variables.data[v->u.var->id].varying = true;
            if (f != s->main) continue;
            uint32_t segment = plan_segment_of(s, v);
            if (is_get || is_set || v->op == KIR_ARRAY_GET || v->op == KIR_ARRAY_SET)
                touch(s, v->u.var, segment);
            if (v->op == KIR_TRACE && v->u.trace.own) touch(s, v->u.trace.own, segment);
            if (is_set && s->segments.data[segment].has_exit)
                s->variables.data[v->u.var->id].set_at_exit = true;
            if (v->op == KIR_CALL && !v->u.call.function->pure) touch_module_variables(s, segment);
            if (!plan_is_node(s, v)) continue;
            for (uint8_t i = 0; i < v->nargs; i++)
                if (v->args[i]->scratch)
                    s->variables.data[((kir_var *)v->args[i]->scratch)->id].forced = true;
            if (v->op == KIR_STEP && v->scratch)
                s->variables.data[((kir_var *)v->scratch)->id].forced = true;
        }
    }
    if (s->plan->reads != PLAN_READS_INPUTS) find_handles(s);
    find_ids(s);
    if (s->stopped)
        s->variables.data[s->stopped->id].varying = s->variables.data[s->stopped->id].crosses =
            true; /* functions set it too */
}

void plan_split(plan_splitter *s) {
    kir_find_uniformity(s->module, false);
    mark(s);
    if (!s->failed) number_segments(s);
    for (kir_value *v = kir_walk(NULL, s->main->body); v && !s->failed;
         v = kir_walk(v, s->main->body))
        v->scratch = NULL;
    for (kir_value *v = kir_walk(NULL, s->main->body); v && !s->failed;
         v = kir_walk(v, s->main->body))
        for (uint8_t i = 0; i < v->nargs && !s->failed; i++) carry_argument(s, v, i);
    if (s->failed) return;
    note_exits(s);
    find_ends(s);
    if (!s->failed) classify(s);
}
