/* Memory operations of a kernel in vector form: how lanes reach their places, and the checks in front.
 * Must not know: control flow. */
#include "vector/form_internal.h"

static uint8_t type_of_bytes(uint8_t bytes) {
    return bytes == 1 ? HG_TYPE_U8 : bytes == 2 ? HG_TYPE_U16 : bytes == 4 ? HG_TYPE_U32 : HG_TYPE_U64;
}

/* The fields that say where, and the index as args[0]; returns how many arguments that is. */
static uint8_t place(former *x, const kir_value *v, vec_value *fields, vec_value **args) {
    kir_access at = kir_access_of(v);
    fields->u.mem.reach = VEC_REACH_ONE;
    fields->u.mem.space = v->u.mem.space;
    fields->u.mem.bytes = v->u.mem.bytes;
    fields->u.mem.size = kir_access_size(v);
    fields->u.mem.has_index = at.index_args != 0;
    fields->u.mem.atomic = v->u.mem.atomic;
    fields->u.mem.class_id = v->u.mem.class_id;
    fields->u.mem.operand = v->u.mem.operand;
    fields->u.mem.pool = v->u.mem.space == KIR_POOL;
    fields->u.mem.slot = v->u.mem.slot >= 0 ? (uint32_t)v->u.mem.slot : 0;
    fields->u.mem.disp = v->u.mem.disp;
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
    switch (fact_of(index)->shape) {
    case SHAPE_ONE: args[0] = vec_one(x, index); break;
    case SHAPE_AFFINE:
        args[0] = vec_one(x, index);
        fields->u.mem.reach = index->stride == v->u.mem.bytes ? VEC_REACH_ROW : VEC_REACH_STRIDE;
        fields->u.mem.stride = index->stride;
        break;
    default: args[0] = vec_each(x, index); fields->u.mem.reach = VEC_REACH_EACH;
    }
    return 1;
}

static vec_value *add(former *x, vec_op op, uint8_t type, bool each, uint8_t nargs, vec_value *const *args, const vec_value *fields) {
    vec_value *mask = vec_mask_here(x), *made = vec_add(x, op, type, each, nargs, args);
    made->u.mem = fields->u.mem;
    made->mask = mask;
    return made;
}

static bool is_supported(former *x, const kir_value *v) {
    uint8_t space = v->u.mem.space;
    if (v->u.mem.split || v->u.mem.high)
        x->unsupported = "an access in halves";
    else if (space == KIR_SHARED)
        x->unsupported = "shared memory";
    return !x->unsupported;
}

static bool is_each(const vec_value *fields) { return fields->u.mem.reach != VEC_REACH_ONE; }

static void load(former *x, kir_value *v, uint8_t count, vec_value **args, const vec_value *fields) {
    bool narrow = kir_type_bytes(v->type) != fields->u.mem.bytes;
    vec_value *made = add(x, VEC_LOAD, narrow ? type_of_bytes(fields->u.mem.bytes) : v->type, is_each(fields), count, args, fields);
    if (narrow) made = vec_prim(x, KIR_ZEXT, v->type, 1, &made);
    if (is_each(fields))
        fact_of(v)->each = made;
    else
        fact_of(v)->one = made;
}

static void store(former *x, const kir_value *v, uint8_t count, vec_value **args, const vec_value *fields) {
    kir_value *stored = v->args[kir_access_of(v).value];
    vec_value *value = vec_each(x, stored);
    if (kir_type_bytes(stored->type) != fields->u.mem.bytes) value = vec_prim(x, KIR_TRUNC, type_of_bytes(fields->u.mem.bytes), 1, &value);
    args[count++] = value;
    (void)add(x, VEC_STORE, KIR_VOID, false, count, args, fields);
}

static void atomic(former *x, kir_value *v, uint8_t count, vec_value **args, const vec_value *fields) {
    for (uint8_t i = kir_access_of(v).value; i < v->nargs; i++) args[count++] = vec_each(x, v->args[i]);
    vec_value *made = add(x, VEC_ATOMIC, v->type, true, count, args, fields);
    vec_lose(x, made, NULL, true);
    x->k->can_end = true;
    fact_of(v)->each = made;
}

void vec_form_access(former *x, kir_value *v) {
    vec_value fields = {0}, *args[5];
    if (!is_supported(x, v)) return;
    uint8_t count = place(x, v, &fields, args);
    if (!v->u.mem.unchecked) {
        vec_lose(x, add(x, VEC_CHECK, KIR_VOID, false, count, args, &fields), NULL, true);
        x->k->can_end = true;
    }
    switch ((kir_op)v->op) {
    case KIR_LOAD: load(x, v, count, args, &fields); return;
    case KIR_STORE: store(x, v, count, args, &fields); return;
    case KIR_ATOMIC: atomic(x, v, count, args, &fields); return;
    default: return;
    }
}
