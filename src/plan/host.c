/* Which uniform values the host works out by itself, so that it need not wait for the device:
 * integers that follow from constants, parameters and the shape of the launch alone, such as the
 * counter of a loop around steps. What is left to the device is what memory decides. Kernels
 * compute these values too where they use them; the host's are the inputs that the next kernel
 * reads.
 * Requires: plan_split. Provides: plan_variable.host; plan_operations for plan code. */
#include "plan/plan_internal.h"
#include "kir/passes/simplify_internal.h"
#include <string.h>

/* The bits of an operation on numbers. False: the host has no such operation. */
static bool compute(uint8_t op, uint8_t type, uint8_t nargs, const uint8_t *types,
                    const uint64_t *numbers, uint64_t *result) {
    kir_value args[PLAN_MOST_ARGS], v, *pointers[PLAN_MOST_ARGS], *same = NULL;
    memset(args, 0, sizeof args);
    memset(&v, 0, sizeof v);
    for (uint8_t i = 0; i < nargs; i++) {
        args[i].op = KIR_CONST;
        args[i].type = types[i];
        args[i].u.imm = numbers[i];
        pointers[i] = &args[i];
    }
    v.op = op;
    v.type = type;
    v.nargs = nargs;
    v.args = pointers;
    fold_result how = simplify_fold(&v, result, &same);
    if (how == FOLD_VALUE) *result = same->u.imm;
    return how != FOLD_NONE;
}

/* ---- what can be known ---- */

static bool is_small(uint8_t type) { return kir_type_bytes(type) <= 8 && !kir_type_is_float(type); }

static bool is_launch_id(const kir_value *v) {
    return v->op == KIR_ID && !(v->u.imm & KIR_ID_HIGH) &&
           hg_idname_scope(kir_id_name(v)) == HG_SCOPE_DEVICE;
}

/* Of a value at the level of the plan, when the variables that are not known yet to be otherwise
 * are. */
static bool is_known(const plan_splitter *s, const bool *known, const kir_value *v) {
    if (!is_small(v->type) || !plan_is_region(s, v->parent)) return false;
    if (v->op == KIR_CONST || is_launch_id(v)) return true;
    if (v->op == KIR_INPUT) return s->module->inputs.data[v->u.imm].kind == KIR_INPUT_PARAM;
    if (v->op == KIR_VAR_GET) return s->variables.data[v->u.var->id].host;
    if (!kir_is_value(v) || !kir_is_integer_value(v) || v->nargs > PLAN_MOST_ARGS) return false;
    uint8_t types[PLAN_MOST_ARGS];
    static const uint64_t SOME[PLAN_MOST_ARGS] = {1, 1, 1};
    uint64_t unused;
    for (uint8_t i = 0; i < v->nargs; i++) {
        if (!is_small(v->args[i]->type) || !known[v->args[i]->id]) return false;
        types[i] = v->args[i]->type;
    }
    return compute(v->op, v->type, v->nargs, types, SOME, &unused);
}

/* Variables that others than the plan set too: functions, steps, atomic operations. */
static void drop_others(plan_splitter *s) {
    for (const kir_function *f = s->main->next; f; f = f->next)
        for (const kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body))
            if (v->op == KIR_VAR_SET) s->variables.data[v->u.var->id].host = false;
    for (const kir_value *v = kir_walk(NULL, s->main->body); v; v = kir_walk(v, s->main->body)) {
        if (v->op == KIR_STEP && v->scratch)
            s->variables.data[((const kir_var *)v->scratch)->id].host = false;
        if (v->op == KIR_ATOMIC && v->u.mem.high) s->variables.data[v->u.mem.high->id].host = false;
    }
}

/* A variable is known when all that is set is, and nothing but the plan decides whether it is set.
 */
static bool drop_unknown(plan_splitter *s, bool *known) {
    bool changed = false;
    for (const kir_value *v = kir_walk(NULL, s->main->body); v; v = kir_walk(v, s->main->body)) {
        known[v->id] = is_known(s, known, v);
        plan_variable *info = v->op == KIR_VAR_SET ? &s->variables.data[v->u.var->id] : NULL;
        if (!info || !info->host || (known[v->args[0]->id] && plan_is_region(s, v->parent)))
            continue;
        info->host = false;
        changed = true;
    }
    return changed;
}

/* ---- what matters ---- */

typedef struct wanting {
    plan_splitter *s;
    const kir_value **last_set;   /* of a variable, */
    const kir_value **set_before; /* and the others from there, by id of the operation */
    bool *wanted;                 /* variables */
    HG_VEC(const kir_value *) work;
} wanting;

static void need(wanting *w, const kir_value *v) {
    plan_mark *mark = &w->s->marks.data[v->id];
    if (mark->computed) return;
    mark->computed = true;
    const kir_value **kept = hg_vec_push(&w->work);
    if (kept)
        *kept = v;
    else
        w->s->failed = true;
}

static void want(wanting *w, const kir_var *var) {
    if (w->wanted[var->id]) return;
    w->wanted[var->id] = true;
    for (const kir_value *set = w->last_set[var->id]; set; set = w->set_before[set->id])
        need(w, set);
}

static void find_wanted(wanting *w) {
    plan_splitter *s = w->s;
    for (const kir_value *v = kir_walk(NULL, s->main->body); v; v = kir_walk(v, s->main->body)) {
        if (v->op != KIR_VAR_SET) continue;
        w->set_before[v->id] = w->last_set[v->u.var->id];
        w->last_set[v->u.var->id] = v;
    }
    for (const kir_var *var = s->module->vars; var; var = var->next) {
        const plan_variable *info = &s->variables.data[var->id];
        if (info->host && (info->forced || info->crosses)) want(w, var);
    }
    while (w->work.count && !s->failed) {
        const kir_value *v = w->work.data[--w->work.count];
        for (uint8_t i = 0; i < v->nargs; i++) need(w, v->args[i]);
        if (v->op == KIR_VAR_GET) want(w, v->u.var);
    }
    for (const kir_var *var = s->module->vars; var; var = var->next)
        s->variables.data[var->id].host = w->wanted[var->id];
}

/* Of those that are known the ones that matter: steps, branches or later kernels read them, or what
 * they are made from. */
static void keep_wanted(plan_splitter *s) {
    wanting w = {.s = s};
    w.last_set = hg_calloc(s->variables.count + 1, sizeof *w.last_set);
    w.set_before = hg_calloc(s->marks.count + 1, sizeof *w.set_before);
    w.wanted = hg_calloc(s->variables.count + 1, sizeof *w.wanted);
    if (w.last_set && w.set_before && w.wanted)
        find_wanted(&w);
    else
        s->failed = true;
    hg_free(w.last_set);
    hg_free(w.set_before);
    hg_free(w.wanted);
    hg_vec_free(&w.work);
}

void plan_find_host(plan_splitter *s) {
    bool *known = hg_calloc(s->marks.count + 1, sizeof *known);
    if (!known) s->failed = true;
    for (const kir_var *var = s->module->vars; var; var = var->next)
        s->variables.data[var->id].host = var != s->stopped && !var->length && is_small(var->type);
    drop_others(s);
    while (!s->failed && drop_unknown(s, known)) {}
    hg_free(known);
    if (!s->failed) keep_wanted(s);
}

/* ---- as operations ---- */

static void add_operation(plan_splitter *s, const kir_value *v, uint32_t first, uint32_t *places) {
    plan_operation *to = hg_vec_push(&s->plan->operations);
    if (!to) {
        s->failed = true;
        return;
    }
    places[v->id] = (uint32_t)(s->plan->operations.count - 1) - first;
    *to = (plan_operation){.op = v->op,
                           .type = v->type,
                           .nargs = v->nargs,
                           .imm = v->op == KIR_CONST || v->op == KIR_ID ? v->u.imm : 0};
    for (uint8_t i = 0; i < v->nargs; i++) to->args[i] = places[v->args[i]->id];
    if (v->op == KIR_VAR_GET || v->op == KIR_VAR_SET)
        to->entry = s->variables.data[v->u.var->id].env;
    else if (v->op == KIR_INPUT)
        to->entry = plan_argument(s, v);
}

/* places: room for one number an operation of the kernel function. */
static uint32_t add_segment(plan_splitter *s, const plan_segment *segment, uint32_t *places) {
    uint32_t first = (uint32_t)s->plan->operations.count;
    for (const kir_value *v = segment->first; !s->failed; v = v->next) {
        if (s->marks.data[v->id].computed) add_operation(s, v, first, places);
        if (v == segment->last) break;
    }
    return first;
}

uint32_t plan_add_operations(plan_splitter *s, const plan_segment *segment, uint32_t *count) {
    uint32_t *places = hg_calloc(s->marks.count + 1, sizeof *places), first = 0;
    *count = 0;
    if (!places) {
        s->failed = true;
        return 0;
    }
    first = add_segment(s, segment, places);
    *count = (uint32_t)s->plan->operations.count - first;
    if (*count > s->plan->most_operations) s->plan->most_operations = *count;
    hg_free(places);
    return first;
}

/* ---- carried out ---- */

static uint64_t id_of(const plan_dims *dims, const plan_operation *o) {
    hg_idname id = (hg_idname)o->imm;
    switch (hg_idname_part(id)) {
    case HG_PART_BLOCK_DIM: return dims->block[hg_idname_axis(id)];
    case HG_PART_GRID_DIM: return dims->grid[hg_idname_axis(id)];
    default: return dims->lanes;
    }
}

void plan_compute(const hg_plan *plan, uint32_t first, uint32_t count, const plan_dims *dims,
                  uint8_t *env, uint64_t *values) {
    for (uint32_t i = 0; i < count; i++) {
        const plan_operation *o = &plan->operations.data[first + i];
        const plan_env *e = &plan->env.data[o->entry];
        size_t size = (size_t)kir_type_bytes(e->type);
        values[i] = 0;
        switch ((kir_op)o->op) {
        case KIR_CONST: values[i] = o->imm; break;
        case KIR_ID: values[i] = id_of(dims, o); break;
        case KIR_INPUT:
        case KIR_VAR_GET: memcpy(&values[i], env + e->offset, size); break;
        case KIR_VAR_SET: memcpy(env + e->offset, &values[o->args[0]], size); break;
        default: {
            uint8_t types[PLAN_MOST_ARGS];
            uint64_t numbers[PLAN_MOST_ARGS];
            for (uint8_t k = 0; k < o->nargs; k++) {
                types[k] = plan->operations.data[first + o->args[k]].type;
                numbers[k] = values[o->args[k]];
            }
            (void)compute(o->op, o->type, o->nargs, types, numbers, &values[i]);
        }
        }
    }
}
