/* Uniformity: which values are the same in all lanes of the launch or of a block, which grow by a
 * constant from lane to lane, and the unsigned range of each.
 * Requires: verified module. Provides: uniformity, stride, umin, umax of every value; uniformity of a LOOP: whether its lanes leave together.
 *
 * Variables have one fact for all their places (flow-insensitive): the join of all values set, made
 * worse where the set is reached by only some lanes. Control is uniform up to a branch on another
 * condition; a loop whose lanes leave at different times counts as divergent inside from its start,
 * a function that some lanes return from early as a whole (of a device form: from there on).
 * Everything starts at its best and gets worse until nothing changes. AFFINE means base + stride ·
 * global lane id without wrap in the value's type, the base being the same in all lanes
 * (tile_is_block: of the block; rows: of the block's lanes with the same y and z). */
#include "kir/kir.h"
#include "kir/analysis/analysis.h"
#include "kir/analysis/range.h"

#include <string.h>

/* Rounds after which a variable loses its range at the first change, then its uniformity, and after
 * which nothing is known at all. What a device form is asked for is uniformity, which gets worse
 * three times at the most. */
enum { WIDEN_AFTER = 4, GIVE_UP_AFTER = 24, MAX_ROUNDS = 64, MAX_DEVICE_ROUNDS = 1024 };
enum {
    NOT_YET = 0xFF
}; /* uniformity of what comes from variables that nothing was set to so far */

typedef struct fact {
    uint8_t uniformity;
    bool set;
    int64_t stride;
    uint64_t umin, umax;
} fact;

typedef struct function_fact {
    fact params[16], result;
    uint8_t control;       /* of its calls; worse when lanes return early */
    uint32_t apart;        /* device form: id from which on some lanes may have left it */
    bool follows;          /* what it leaves behind follows from its parameters alone */
    const kir_var *second; /* a variable of the module that it sets before it returns, a result
                              beside the other: "high" of legalise/int.c; NULL: none */
} function_fact;

/* Of an IF or LOOP, at its scratch. */
typedef struct owner_fact {
    uint8_t control; /* inside */
    kir_value *loop; /* the innermost around what is inside, itself included */
} owner_fact;

/* Where a variable is set so that some place reads it, by the ids of its function. */
typedef struct set_range {
    uint32_t low, high;
} set_range;

typedef struct shaper {
    kir_module *m;
    set_range *sets; /* device form: by variable id; NULL: every set counts */
    bool tile_is_block, rows;
    fact *vars;               /* by variable id */
    function_fact *functions; /* by id */
    uint32_t round;
    bool changed;
} shaper;

static uint64_t type_max(uint8_t type) { return kir_range_full(type).high; }

/* The weaker of two levels of sameness; AFFINE is not such a level. */
static uint8_t weaker(uint8_t a, uint8_t b) {
    if (a == NOT_YET) a = KIR_UNIFORM;
    if (b == NOT_YET) b = KIR_UNIFORM;
    if (a == KIR_AFFINE || b == KIR_AFFINE) return KIR_VARYING;
    return a < b ? a : b;
}

/* ---- facts of variables, parameters, results ---- */

static fact fact_of(const kir_value *v) {
    return (fact){v->uniformity, true, v->stride, v->umin, v->umax};
}

/* What the base of affine values has at least. */
static uint8_t base_level(const shaper *x) {
    return x->rows ? KIR_ROW_UNIFORM : x->tile_is_block ? KIR_BLOCK_UNIFORM : KIR_UNIFORM;
}

/* A fact behind control that only some lanes pass. */
static fact under(const shaper *x, fact f, uint8_t control) {
    if (f.uniformity == NOT_YET) return f;
    if (f.uniformity == KIR_AFFINE) {
        if (control < base_level(x)) f.uniformity = KIR_VARYING;
    } else {
        f.uniformity = weaker(f.uniformity, control);
    }
    return f;
}

static void join(shaper *x, fact *to, fact f, uint8_t type) {
    if (f.uniformity == NOT_YET) return;
    if (!to->set) {
        *to = f;
        x->changed = true;
        return;
    }
    fact before = *to;
    if (to->uniformity == KIR_AFFINE && f.uniformity == KIR_AFFINE && to->stride == f.stride)
        to->uniformity = KIR_AFFINE;
    else
        to->uniformity = weaker(to->uniformity, f.uniformity);
    if (f.umin < to->umin) to->umin = x->round < WIDEN_AFTER ? f.umin : 0;
    if (f.umax > to->umax) to->umax = x->round < WIDEN_AFTER ? f.umax : type_max(type);
    if (to->uniformity != before.uniformity || to->umin != before.umin || to->umax != before.umax) {
        if (x->round > GIVE_UP_AFTER && !kir_is_device_form(x->m))
            *to = (fact){KIR_VARYING, true, 0, 0, type_max(type)};
        x->changed = true;
    }
}

static void use_fact(kir_value *v, const fact *f) {
    v->uniformity = f->set ? f->uniformity : (uint8_t)NOT_YET;
    v->stride = f->stride;
    v->umin = f->umin;
    v->umax = f->umax;
}

/* ---- ranges ---- */

static void range(kir_value *v, uint64_t low, uint64_t high) {
    v->umin = low;
    v->umax = high;
}

static bool is_single(const kir_value *v) {
    return v->umin == v->umax && kir_type_bytes(v->type) <= 8;
}

static kir_range range_at(const kir_value *v) { return (kir_range){v->umin, v->umax}; }

static void range_of(kir_value *v) {
    if (!kir_is_integer_value(v)) {
        range(v, 0, type_max(v->type));
        return;
    }
    kir_range args[3], r;
    for (uint8_t i = 0; i < v->nargs; i++) args[i] = range_at(v->args[i]);
    r = kir_range_of(v, args);
    range(v, r.low, r.high);
}

/* ---- affine ---- */

static bool is_base(const shaper *x, const kir_value *v) {
    return v->uniformity != NOT_YET && v->uniformity >= base_level(x);
}

/* v has its range already. */
static bool affine(const shaper *x, const kir_value *v, int64_t *stride) {
    const kir_value *a = v->args[0], *b = v->nargs > 1 ? v->args[1] : NULL;
    if (!kir_range_exists(v->type) || v->type == KIR_BOOL || !kir_range_exists(a->type))
        return false;
    bool one = a->uniformity == KIR_AFFINE, two = b && b->uniformity == KIR_AFFINE;
    int64_t s = one ? a->stride : 0, t = two ? b->stride : 0;
    if ((!one && !is_base(x, a)) || (b && !two && !is_base(x, b))) return false;
    bool exact = b && kir_range_is_exact((kir_op)v->op, v->type, range_at(a), range_at(b));
    switch ((kir_op)v->op) {
    case KIR_ADD: return exact && !hg_add_overflows(s, t, stride);
    case KIR_SUB: return exact && !hg_sub_overflows(s, t, stride);
    case KIR_MUL:
        if (!exact || (one && two)) return false;
        if (one)
            return is_single(b) && b->umax <= INT64_MAX &&
                   !hg_mul_overflows(s, (int64_t)b->umax, stride);
        return is_single(a) && a->umax <= INT64_MAX &&
               !hg_mul_overflows(t, (int64_t)a->umax, stride);
    case KIR_SHL:
        return exact && one && b->umax < 62 && !hg_mul_overflows(s, (int64_t)1 << b->umax, stride);
    case KIR_ZEXT:
    case KIR_BITCAST: *stride = s; return one;
    case KIR_TRUNC: *stride = s; return one && a->umax <= type_max(v->type);
    default: return false;
    }
}

/* ---- operations ---- */

/* Of a lane in its block: neighbours along x differ by one in x alone. */
static void identify_in_row(kir_value *v) {
    bool along = hg_idname_axis(kir_id_name(v)) == 0;
    v->uniformity = along ? KIR_AFFINE : KIR_ROW_UNIFORM;
    v->stride = along;
}

static void identify(const shaper *x, kir_value *v) {
    v->uniformity = KIR_VARYING;
    range(v, 0, type_max(v->type));
    if (kir_is_device_form(x->m)) {
        if (kir_device_id_part((kir_device_id)v->u.imm) == KIR_DEVICE_GROUP)
            v->uniformity = KIR_BLOCK_UNIFORM;
        return;
    }
    hg_scope same = hg_idname_scope(kir_id_name(v));
    if (same != HG_SCOPE_THREAD)
        v->uniformity = same == HG_SCOPE_BLOCK ? KIR_BLOCK_UNIFORM : KIR_UNIFORM;
    hg_id_part part = hg_idname_part(kir_id_name(v));
    bool small = x->rows && (x->m->uses_barrier || x->m->uses_shared);
    if (part == HG_PART_LANE_IDX && small) range(v, 0, HG_MAX_BLOCK_LANES - 1);
    if (part == HG_PART_BLOCK_DIM && small) range(v, 0, HG_MAX_BLOCK_LANES);
    if (part == HG_PART_LANE_IDX && x->rows) identify_in_row(v);
    if (kir_type_bits(v->type) < 64) return; /* half of an id of 64 bits wraps */
    if (v->u.imm == HG_ID_LANE_COUNT) range(v, 0, HG_MAX_LANES);
    if (v->u.imm == HG_ID_GLOBAL_LANE_ID) {
        v->uniformity = KIR_AFFINE;
        v->stride = 1;
        range(v, 0, HG_MAX_LANES - 1);
    }
}

static void pure(const shaper *x, kir_value *v) {
    int64_t stride = 0;
    v->uniformity = KIR_UNIFORM;
    v->stride = 0;
    for (uint8_t i = 0; i < v->nargs; i++) {
        if (v->args[i]->uniformity == NOT_YET) {
            v->uniformity = NOT_YET;
            return;
        }
        v->uniformity = weaker(v->uniformity, v->args[i]->uniformity);
    }
    range_of(v);
    if (v->uniformity != KIR_VARYING) return;
    if (v->nargs && affine(x, v, &stride)) {
        v->uniformity = KIR_AFFINE;
        v->stride = stride;
    } else if (v->op == KIR_SELECT && is_base(x, v->args[0]) &&
               v->args[1]->uniformity == KIR_AFFINE && v->args[2]->uniformity == KIR_AFFINE &&
               v->args[1]->stride == v->args[2]->stride) {
        v->uniformity = KIR_AFFINE;
        v->stride = v->args[1]->stride;
    }
}

static void varying(kir_value *v) {
    v->uniformity = KIR_VARYING;
    v->stride = 0;
    range(v, 0, type_max(v->type));
}

static owner_fact *fact_of_owner(const kir_value *owner) { return owner->scratch; }
static uint8_t control_of(const shaper *x, const kir_function *f, const kir_value *v) {
    const kir_region *r = v->parent;
    if (kir_is_device_form(x->m) && v->id >= x->functions[f->id].apart) return KIR_VARYING;
    return r->owner ? fact_of_owner(r->owner)->control : x->functions[f->id].control;
}
static kir_value *loop_around(const kir_region *r) {
    return r->owner ? fact_of_owner(r->owner)->loop : NULL;
}

static void worsen(shaper *x, uint8_t *level, uint8_t to) {
    if (to >= *level) return;
    *level = to;
    x->changed = true;
}

/* Some lanes leave the function here, or all of them. */
static void leave(shaper *x, kir_function *f, kir_value *v, uint8_t control) {
    function_fact *own = &x->functions[f->id];
    uint32_t from = v->id;
    for (kir_value *loop = loop_around(v->parent); loop;
         loop = loop_around(loop->parent)) { /* the
                                                lanes
                                                that
                                                stay
                                                go
                                                on
                                                without
                                                those
                                              */
        worsen(x, &loop->uniformity, control);
        from = loop->id;
    }
    if (!kir_is_device_form(x->m)) {
        if (v->parent->owner) worsen(x, &own->control, control);
    } else if (control < KIR_BLOCK_UNIFORM && from < own->apart) {
        own->apart = from;
        x->changed = true;
    }
}

static void visit_control(shaper *x, kir_function *f, kir_value *v, uint8_t control) {
    kir_value *loop;
    switch ((kir_op)v->op) {
    case KIR_IF:
        *fact_of_owner(v) = (owner_fact){weaker(control, v->args[0]->uniformity),
                                         loop_around(v->parent)};
        return;
    case KIR_LOOP: *fact_of_owner(v) = (owner_fact){weaker(control, v->uniformity), v}; return;
    case KIR_BREAK:
    case KIR_CONTINUE:
        loop = loop_around(v->parent);
        if (v->next == NULL && loop) worsen(x, &loop->uniformity, control);
        return;
    case KIR_EXIT:
        if (kir_is_device_form(x->m)) leave(x, f, v, control);
        return;
    case KIR_RETURN:
        if (v->nargs)
            join(x, &x->functions[f->id].result, under(x, fact_of(v->args[0]), control),
                 v->args[0]->type);
        leave(x, f, v, control);
        return;
    default: return;
    }
}

/* ---- functions whose results follow from their arguments, whoever else calls them ---- */

/* The call whose second result a VAR_GET is; NULL: whatever was set last. */
static const kir_value *call_of(const shaper *x, const kir_value *get) {
    const kir_value *v = get->prev;
    while (v && v->op != KIR_CALL &&
           (!kir_has_side_effect(v) || (v->op == KIR_VAR_SET && v->u.var != get->u.var)))
        v = v->prev;
    if (!v || v->op != KIR_CALL) return NULL;
    const function_fact *g = &x->functions[v->u.call.function->id];
    return g->follows && g->second == get->u.var ? v : NULL;
}

static bool follows(const shaper *x, const kir_function *f, const kir_value *v) {
    switch ((kir_op)v->op) {
    case KIR_ID: return false;
    case KIR_VAR_GET: return v->u.var->function == f || call_of(x, v);
    case KIR_ARRAY_GET:
    case KIR_ARRAY_SET: return v->u.var->function == f && !v->u.var->by_reference;
    case KIR_CALL:
        return x->functions[v->u.call.function->id].follows && !v->u.call.function->array_count;
    case KIR_VAR_SET:
    case KIR_IF:
    case KIR_LOOP: return true;
    default: return kir_is_pure(v) || (kir_is_jump(v) && v->op != KIR_EXIT);
    }
}

static const kir_var *find_second(const kir_function *f) {
    const kir_var *second = NULL;
    for (const kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body)) {
        if (v->op != KIR_RETURN) continue;
        const kir_value *set = v->prev;
        while (set && (set->op != KIR_VAR_SET || set->u.var->function)) set = set->prev;
        if (!set || !v->nargs || (second && second != set->u.var)) return NULL;
        second = set->u.var;
    }
    return second;
}

static void find_followers(shaper *x) {
    for (const kir_function *f = x->m->functions; f; f = f->next) {
        x->functions[f->id].follows = f->result != KIR_VOID;
        x->functions[f->id].second = find_second(f);
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (const kir_function *f = x->m->functions; f; f = f->next)
            for (const kir_value *v = kir_walk(NULL, f->body); v && x->functions[f->id].follows;
                 v = kir_walk(v, f->body))
                if (!follows(x, f, v)) {
                    x->functions[f->id].follows = false;
                    changed = true;
                }
    }
}

/* Lanes with equal arguments have equal results. */
static void use_arguments(kir_value *v, const kir_value *call) {
    if (v->uniformity == NOT_YET) return;
    v->uniformity = KIR_UNIFORM;
    for (uint8_t i = 0; i < call->nargs; i++)
        v->uniformity = weaker(v->uniformity, call->args[i]->uniformity);
}

static void visit_get(const shaper *x, kir_value *v) {
    const kir_value *call = call_of(x, v);
    use_fact(v, &x->vars[v->u.var->id]);
    if (call) use_arguments(v, call);
}

static void visit_call(shaper *x, kir_value *v, uint8_t control) {
    kir_function *g = v->u.call.function;
    function_fact *to = &x->functions[g->id];
    for (uint8_t i = 0; i < v->nargs; i++)
        join(x, &to->params[i], under(x, fact_of(v->args[i]), control), v->args[i]->type);
    worsen(x, &to->control, control);
    for (uint8_t i = 0; i < g->array_count; i++) { /* two names of one array */
        fact *a = &x->vars[v->u.call.arrays[i]->id], *b = &x->vars[g->array_params[i]->id];
        if (a->set) join(x, b, *a, g->array_params[i]->type);
        if (b->set) join(x, a, *b, g->array_params[i]->type);
    }
    if (v->type == KIR_VOID) return;
    use_fact(v, &to->result);
    if ((g->pure && !g->array_count) || to->follows) use_arguments(v, v);
}

static void visit_array(shaper *x, kir_value *v, uint8_t control) {
    fact *a = &x->vars[v->u.var->id];
    if (v->op == KIR_ARRAY_GET) {
        v->uniformity = weaker(a->set ? a->uniformity : (uint8_t)KIR_UNIFORM,
                               v->args[0]->uniformity);
        range(v, 0, type_max(v->type));
        return;
    }
    uint8_t uniformity = weaker(weaker(v->args[0]->uniformity, v->args[1]->uniformity), control);
    join(x, a, (fact){uniformity, true, 0, 0, type_max(v->u.var->type)}, v->u.var->type);
}

/* Nobody writes the environment's start values while a kernel runs: the same place holds the same
 * value for all lanes. So it does where a device form says so. */
static void visit_load(kir_value *v) {
    varying(v);
    bool uniforms = v->u.mem.space == KIR_BUFFER && v->u.mem.class_id == KIR_PLAN_UNIFORMS;
    if (!uniforms && !v->u.mem.uniform) return;
    v->uniformity = uniforms ? KIR_UNIFORM : KIR_BLOCK_UNIFORM;
    for (uint8_t i = 0; i < v->nargs; i++)
        v->uniformity = weaker(v->uniformity, v->args[i]->uniformity);
}

/* ---- device form: registers that are used for several things ---- */

/* Id of the last operation that runs before a place is reached again without leaving the region:
 * the place itself without a loop around it there. */
static uint32_t last_before(const kir_region *region, const kir_value *place) {
    const kir_value *last = place, *outer = NULL;
    for (const kir_region *r = place->parent; r != region; r = r->owner->parent)
        if (r->owner->op == KIR_LOOP) outer = r->owner;
    for (const kir_region *r = outer ? outer->body[0] : NULL; r && r->last;
         r = last->body[1] && last->body[1]->last ? last->body[1] : last->body[0])
        last = r->last;
    return last->id;
}

static bool holds(const kir_region *region, const kir_value *v) {
    for (const kir_region *r = v->parent; r; r = r->owner ? r->owner->parent : NULL)
        if (r == region) return true;
    return false;
}

/* A place that reads a variable sees no set before `last`, the nearest one that always runs before
 * it, and none behind it but in a loop around both. */
static set_range seen_at(const kir_value *get, const kir_value *last) {
    enum { MOST = 64 }; /* sets that are looked at */
    for (int i = 0; last && i < MOST; i++, last = last->scratch)
        if (holds(last->parent, get)) return (set_range){last->id, last_before(last->parent, get)};
    return (set_range){0, UINT32_MAX};
}

/* The sets of each variable that some place reads. False: out of memory. */
static bool find_sets(shaper *x) {
    const kir_value **last = hg_calloc((size_t)x->m->var_count + 1, sizeof *last);
    x->sets = hg_alloc(((size_t)x->m->var_count + 1) * sizeof *x->sets);
    for (uint32_t i = 0; x->sets && i < x->m->var_count; i++)
        x->sets[i] = (set_range){UINT32_MAX, 0};
    for (kir_function *f = x->m->functions; f && last && x->sets; f = f->next)
        for (kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body)) {
            if (v->op == KIR_VAR_SET) {
                v->scratch = (void *)(uintptr_t)last[v->u.var->id];
                last[v->u.var->id] = v;
            } else if (v->op == KIR_VAR_GET) {
                set_range *all = &x->sets[v->u.var->id], seen = seen_at(v, last[v->u.var->id]);
                if (seen.low < all->low) all->low = seen.low;
                if (seen.high > all->high) all->high = seen.high;
            }
        }
    bool ok = last && x->sets;
    hg_free(last);
    return ok;
}

static bool is_read(const shaper *x, const kir_value *set) {
    const kir_var *var = set->u.var;
    return !x->sets || !var->function ||
           (x->sets[var->id].low <= set->id && set->id <= x->sets[var->id].high);
}

static void visit(shaper *x, kir_function *f, kir_value *v) {
    uint8_t control = control_of(x, f, v);
    switch ((kir_op)v->op) {
    case KIR_CONST:
        v->uniformity = KIR_UNIFORM;
        if (kir_type_bytes(v->type) <= 8)
            range(v, v->u.imm, v->u.imm);
        else
            range(v, 0, UINT64_MAX);
        return;
    case KIR_INPUT:
    case KIR_STEP:
        v->uniformity = KIR_UNIFORM;
        range(v, 0, type_max(v->type));
        return;
    case KIR_ID: identify(x, v); return;
    case KIR_PARAM: use_fact(v, &x->functions[f->id].params[v->u.imm]); return;
    case KIR_VAR_GET: visit_get(x, v); return;
    case KIR_VAR_SET:
        if (is_read(x, v))
            join(x, &x->vars[v->u.var->id], under(x, fact_of(v->args[0]), control), v->u.var->type);
        return;
    case KIR_ARRAY_GET:
    case KIR_ARRAY_SET: visit_array(x, v, control); return;
    case KIR_ATOMIC:
        if (v->u.mem.high)
            join(x, &x->vars[v->u.mem.high->id],
                 (fact){KIR_VARYING, true, 0, 0, type_max(v->u.mem.high->type)},
                 v->u.mem.high->type);
        varying(v);
        return;
    case KIR_BLOCK:
        varying(v);
        if (v->u.block.whole && kir_block_is_one((hg_op)v->u.block.op))
            v->uniformity = KIR_BLOCK_UNIFORM;
        return;
    case KIR_LOAD: visit_load(v); return;
    case KIR_CALL: visit_call(x, v, control); return;
    case KIR_IF:
    case KIR_LOOP:
    case KIR_BREAK:
    case KIR_CONTINUE:
    case KIR_EXIT:
    case KIR_RETURN: visit_control(x, f, v, control); return;
    default:
        if (v->type != KIR_VOID) pure(x, v);
    }
}

/* A place for the facts of each IF and LOOP. NULL when out of memory. */
static owner_fact *place_owners(kir_module *m) {
    size_t count = 0;
    for (kir_function *f = m->functions; f; f = f->next)
        for (kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body))
            count += v->body[0] != NULL;
    owner_fact *owners = hg_calloc(count + 1, sizeof *owners), *next = owners;
    for (kir_function *f = m->functions; f && owners; f = f->next)
        for (kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body))
            if (v->body[0]) v->scratch = next++;
    return owners;
}

static void reset(const shaper *x, uint8_t uniformity) {
    kir_module *m = x->m;
    for (kir_function *f = m->functions; f; f = f->next)
        for (kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body)) {
            v->uniformity = v->op == KIR_LOOP && uniformity == NOT_YET ? (uint8_t)KIR_UNIFORM
                                                                       : uniformity;
            v->stride = 0;
            range(v, 0, type_max(v->type));
            if (v->op == KIR_ID && uniformity != NOT_YET)
                identify(x, v); /* needs no rounds, and not every id has a form that varies */
        }
}

/* A variable that nothing is set to here (a whole-array step may set it) is the same in all lanes.
 * What is made of it may still mix with varying values, so the rounds go on. */
static void set_unset(shaper *x) {
    for (kir_var *var = x->m->vars; var; var = var->next) {
        if (x->vars[var->id].set) continue;
        x->vars[var->id] = (fact){KIR_UNIFORM, true, 0, 0, type_max(var->type)};
        x->changed = true;
    }
}

/* What no round reached. */
static void settle(kir_module *m) {
    for (kir_function *f = m->functions; f; f = f->next)
        for (kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body)) {
            if (v->uniformity != NOT_YET) continue;
            v->uniformity = KIR_UNIFORM;
            range(v, 0, type_max(v->type));
        }
}

/* False: out of memory, nothing is known. */
static bool find(kir_module *m, bool tile_is_block, bool rows) {
    shaper x = {.m = m, .tile_is_block = tile_is_block, .rows = rows, .changed = true};
    x.vars = hg_calloc((size_t)m->var_count + 1, sizeof *x.vars);
    x.functions = hg_calloc((size_t)m->function_count + 1, sizeof *x.functions);
    owner_fact *owners = place_owners(m);
    bool ok = x.vars && x.functions && owners && (!kir_is_device_form(m) || find_sets(&x));
    reset(&x, ok ? NOT_YET : KIR_VARYING);
    for (uint32_t i = 0; ok && i < m->function_count; i++)
        x.functions[i] = (function_fact){.control = KIR_UNIFORM, .apart = UINT32_MAX};
    if (ok) find_followers(&x);
    const uint32_t most = kir_is_device_form(m) ? MAX_DEVICE_ROUNDS : MAX_ROUNDS;
    for (; ok && x.changed && x.round < most; x.round++) {
        x.changed = false;
        for (kir_function *f = m->functions; f; f = f->next)
            for (kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body))
                visit(&x, f, v);
        if (!x.changed) set_unset(&x);
    }
    if (x.changed)
        reset(&x, KIR_VARYING);
    else
        settle(m);
    hg_free(x.vars);
    hg_free(x.functions);
    hg_free(x.sets);
    hg_free(owners);
    return ok;
}

void kir_find_uniformity(kir_module *m, bool tile_is_block) { (void)find(m, tile_is_block, false); }

hg_status kir_find_group_uniformity(kir_module *m) {
    for (kir_function *f = m->functions; f; f = f->next) (void)kir_number(f);
    return find(m, true, false) ? HG_OK : hg_fail_memory();
}

void kir_find_row_uniformity(kir_module *m) { (void)find(m, true, true); }
