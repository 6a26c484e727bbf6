/* Memory operations of a kernel in vector form: how lanes reach their places, and the checks in
 * front.
 * Must not know: control flow. */
#include "kir/analysis/analysis.h"
#include "vector/form_internal.h"

static kir_access place_fields(const kir_value *v, vec_value *fields) {
    kir_access at = kir_access_of(v);
    fields->u.mem.reach = VEC_REACH_ONE;
    fields->u.mem.space = v->u.mem.space;
    fields->u.mem.bytes = v->u.mem.bytes;
    fields->u.mem.size = kir_access_size(v);
    fields->u.mem.has_index = at.index_args != 0;
    fields->u.mem.atomic = v->u.mem.atomic;
    fields->u.mem.may.combines = kir_combines(v) && kir_access_is_direct(v);
    fields->u.mem.class_id = v->u.mem.class_id;
    fields->u.mem.operand = v->u.mem.operand;
    fields->u.mem.pool = v->u.mem.space == KIR_POOL;
    fields->u.mem.slot = v->u.mem.slot >= 0 ? (uint32_t)v->u.mem.slot : 0;
    fields->u.mem.disp = v->u.mem.disp;
    return at;
}

/* Where the access ends at the latest, as far as the range of its index says so. */
static uint64_t end_of(const kir_value *v, const kir_value *index) {
    const uint64_t most = UINT64_C(1) << 40;
    if (index->umax >= most || v->u.mem.disp < 0 || (uint64_t)v->u.mem.disp >= most) return 0;
    return index->umax + (uint64_t)v->u.mem.disp + kir_access_size(v);
}

/* Whether the offset is a multiple of the element's bytes, a power of two, as far as the operation
 * shows that makes the index. */
static bool is_aligned(const kir_value *v, const kir_value *index) {
    if (v->u.mem.disp % v->u.mem.bytes) return false;
    while (index->op == KIR_ZEXT) index = index->args[0];
    const kir_value *by = index->op == KIR_SHL || index->op == KIR_MUL ? index->args[1] : NULL;
    if (!by || by->umin != by->umax) return false;
    return index->op == KIR_SHL ? by->umax < 64 && (UINT64_C(1) << by->umax) % v->u.mem.bytes == 0
                                : by->umax % v->u.mem.bytes == 0;
}

/* Whether a loop is around it. */
static bool is_in_loop(const kir_value *v) {
    return v->parent->owner && kir_lanes_of(v->parent->owner)->loop;
}

/* The fields that say where, and the index as args[0]; returns how many arguments that is. */
static uint8_t place(former *x, const kir_value *v, vec_value *fields, vec_value **args) {
    kir_access at = place_fields(v, fields);
    uint8_t count = 0;
    if (kir_access_is_open(v)) {
        fields->u.mem.open = true;
        fields->u.mem.reach = VEC_REACH_EACH;
        args[count++] = vec_each(x, v->args[at.handle]);
        if (at.index_args) args[count++] = vec_each(x, v->args[at.index]);
        return count;
    }
    if (!at.index_args) return 0;
    kir_value *index = v->args[at.index];
    fields->u.mem.small = kir_lanes_of(index)->form != KIR_LANES_EACH && index->umax < UINT64_C(1)
                                                                                           << 62;
    switch (kir_lanes_of(index)->form) {
    case KIR_LANES_ONE: args[0] = vec_one(x, index); break;
    case KIR_LANES_AFFINE:
        args[0] = vec_one(x, index);
        fields->u.mem.reach = index->stride == v->u.mem.bytes ? VEC_REACH_ROW : VEC_REACH_STRIDE;
        fields->u.mem.stride = index->stride;
        break;
    default:
        args[0] = vec_each(x, index);
        fields->u.mem.reach = args[0]->each ? VEC_REACH_EACH : VEC_REACH_ONE;
        fields->u.mem.end = args[0]->each ? end_of(v, index) : 0;
        if (args[0]->each && is_in_loop(v)) x->k->may_be_faster_alone = true;
        fields->u.mem.aligned = v->op == KIR_ATOMIC && is_aligned(v, index);
    }
    return 1;
}

static vec_value *add(former *x, vec_op op, uint8_t type, bool each, uint8_t nargs,
                      vec_value *const *args, const vec_value *fields) {
    vec_value *mask = vec_mask_here(x), *made = vec_add(x, op, type, each, nargs, args);
    made->u.mem = fields->u.mem;
    made->mask = mask;
    return made;
}

static bool is_supported(former *x, const kir_value *v) {
    if (v->u.mem.split || v->u.mem.high) x->unsupported = "an access in halves";
    return !x->unsupported;
}

static bool is_each(const vec_value *fields) { return fields->u.mem.reach != VEC_REACH_ONE; }

/* Of the elements in memory. */
static uint8_t loaded_type(const kir_value *v, const vec_value *fields) {
    return kir_type_bytes(v->type) != fields->u.mem.bytes ? hg_uint_of_bytes(fields->u.mem.bytes)
                                                          : v->type;
}

static vec_value *widened(former *x, const kir_value *v, vec_value *element) {
    return element->type != v->type ? vec_prim(x, KIR_ZEXT, v->type, 1, &element) : element;
}

static vec_value *load(former *x, const kir_value *v, uint8_t count, vec_value **args,
                       const vec_value *fields) {
    return widened(x, v,
                   add(x, VEC_LOAD, loaded_type(v, fields), is_each(fields), count, args, fields));
}

static vec_value *stored(former *x, const kir_value *v, const vec_value *fields) {
    kir_value *from = v->args[kir_access_of(v).value];
    vec_value *value = vec_each(x, from);
    bool narrow = kir_type_bytes(from->type) != fields->u.mem.bytes;
    return narrow ? vec_prim(x, KIR_TRUNC, hg_uint_of_bytes(fields->u.mem.bytes), 1, &value)
                  : value;
}

static void store(former *x, const kir_value *v, uint8_t count, vec_value **args,
                  const vec_value *fields) {
    args[count++] = stored(x, v, fields);
    (void)add(x, VEC_STORE, KIR_VOID, false, count, args, fields);
}

static vec_value *atomic(former *x, const kir_value *v, uint8_t count, vec_value **args,
                         const vec_value *fields) {
    for (uint8_t i = kir_access_of(v).value; i < v->nargs; i++)
        args[count++] = vec_each(x, v->args[i]);
    vec_value *made = add(x, VEC_ATOMIC, v->type, true, count, args, fields);
    vec_lose(x, made, NULL, true);
    x->k->can_end = true;
    return made;
}

/* The check and the access; NULL without a result. */
static vec_value *at_place(former *x, const kir_value *v, uint8_t count, vec_value **args,
                           const vec_value *fields) {
    if (!v->u.mem.unchecked) {
        vec_lose(x, add(x, VEC_CHECK, KIR_VOID, false, count, args, fields), NULL, true);
        x->k->can_end = true;
    }
    switch ((kir_op)v->op) {
    case KIR_LOAD: return vec_alone(x, load(x, v, count, args, fields));
    case KIR_STORE: store(x, v, count, args, fields); return NULL;
    case KIR_ATOMIC: return vec_alone(x, atomic(x, v, count, args, fields));
    default: return NULL;
    }
}

static vec_value *exchange(former *x, vec_value *a, vec_value *swap) {
    return vec_add(x, VEC_EXCHANGE, a->type, true, 2, (vec_value *[]){a, swap});
}

/* A row that all lanes reach in another order, in bounds: the other lanes' elements, for those
 * lanes. */
static vec_value *exchanged(former *x, const kir_value *v, const guess_fact *index,
                            vec_value *fields) {
    vec_value *args[2] = {index->first}, *mask = exchange(x, vec_mask_or_running(x), index->swap),
              *made;
    if (v->op == KIR_STORE) {
        args[1] = stored(x, v, fields);
        if (args[1]->each) args[1] = exchange(x, args[1], index->swap);
        made = vec_add(x, VEC_STORE, KIR_VOID, false, 2, args);
    } else {
        made = vec_add(x, VEC_LOAD, loaded_type(v, fields), true, 1, args);
    }
    made->u.mem = fields->u.mem;
    made->mask = mask;
    return v->op == KIR_STORE ? NULL : widened(x, v, exchange(x, made, index->swap));
}

/* Where the guess of the index holds, and where it does not. */
static void guessed(former *x, kir_value *v, kir_value *of) {
    const guess_fact *index = guess_of(of);
    vec_bring(x, of);
    vec_value fields = {0}, *args[5], *ok = index->ok, *made;
    (void)place_fields(v, &fields);
    fields.u.mem.reach = !index->stride                             ? VEC_REACH_ONE
                         : index->stride == (int64_t)v->u.mem.bytes ? VEC_REACH_ROW
                                                                    : VEC_REACH_STRIDE;
    fields.u.mem.stride = index->stride;
    args[0] = index->first;
    if (index->swapped && !v->u.mem.unchecked) {
        vec_value *fits = vec_add(x, VEC_FITS, KIR_BOOL, false, 1, args);
        fits->u.mem = fields.u.mem;
        ok = vec_and_of(x, ok, fits);
    }
    vec_value *branch = ok ? vec_open_if(x, ok) : NULL;
    vec_region *outside = x->into;
    vec_var *var = branch && v->op == KIR_LOAD ? vec_new_var(x, v->type, true, NULL, false) : NULL,
            *one = var && guess_of(v)->wanted ? vec_new_var(x, v->type, false, NULL, false) : NULL;
    if (branch) x->into = branch->body[0];
    made = index->swapped ? exchanged(x, v, index, &fields) : at_place(x, v, 1, args, &fields);
    if (!branch) {
        if (guess_of(v)->wanted) guess_of(v)->first = made;
        if (made) vec_is(x, v, made);
        return;
    }
    if (var) vec_set(x, var, made, NULL);
    if (one) vec_set(x, one, made, NULL);
    x->into = branch->body[1];
    made = at_place(x, v, place(x, v, &fields, args), args, &fields);
    if (var) vec_set(x, var, made, NULL);
    if (one) vec_set(x, one, vec_add(x, VEC_CONST, v->type, false, 0, NULL), NULL);
    x->into = outside;
    if (one) {
        guess_of(v)->first = vec_get(x, one);
        guess_of(v)->ok = ok;
    }
    if (var) vec_is(x, v, vec_get(x, var));
}

void vec_form_access(former *x, kir_value *v) {
    vec_value fields = {0}, *args[5];
    if (!is_supported(x, v)) return;
    if (guess_of(v)->by_guess) {
        guessed(x, v, v->args[kir_access_of(v).index]);
        return;
    }
    vec_value *made = at_place(x, v, place(x, v, &fields, args), args, &fields);
    if (made) vec_is(x, v, made);
}
