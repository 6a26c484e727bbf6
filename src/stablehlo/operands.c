/* Where the arrays of a call lie: memory seen as an array, an array put into memory.
 * Must not know: what instructions do with them. */
#include "stablehlo/call_internal.h"
#include "isa/program.h"
#include <string.h>

/* ---- arrays ---- */

static plan_array *array_of(const shlo_call *c, const char *name) {
    return plan_array_of(c->call, plan_operand_named(c->call, name));
}
bool shlo_has(const shlo_call *c, const char *name) {
    const hg_op_info *row = hg_op_get((hg_op)c->call->op);
    return plan_operand_named(c->call, name) < row->operand_count && array_of(c, name) != NULL;
}

static ten shape_of(const plan_array *a) { return ten_shape(a->type, a->rank, a->extents); }
ten shlo_shape_of(const shlo_call *c, const char *name) { return shape_of(array_of(c, name)); }

double shlo_factor(const shlo_call *c, const char *name) {
    uint32_t operand = plan_operand_named(c->call, name);
    const hg_operand_info *info = &hg_op_get((hg_op)c->call->op)->operands[operand];
    hg_inst in = {.type = c->call->type};
    uint64_t bits = plan_number(c->call, operand, 0);
    double value;
    float narrow;
    if (hg_literal_type(&in, info) == HG_TYPE_F64) {
        memcpy(&value, &bits, sizeof value);
        return value;
    }
    memcpy(&narrow, &bits, sizeof narrow);
    return narrow;
}

void shlo_note_bad(ten_module *m, ten bad) {
    ten any = ten_any(m, bad);
    m->bad = m->bad.name ? ten_binary(m, "or", m->bad, any) : any;
}

/* Axes of an array by how far apart their elements lie, the farthest first. Axes of one element
 * and of no distance are left out: `rest`. */
typedef struct order {
    uint32_t count, axes[PLAN_MAX_RANK];
} order;

static order order_of(const plan_array *a) {
    order o = {0};
    for (uint32_t i = 0; i < a->rank; i++) {
        if (a->extents[i] == 1 || a->strides[i] == 0) continue;
        uint32_t at = o.count++;
        while (at > 0 && a->strides[o.axes[at - 1]] < a->strides[i]) {
            o.axes[at] = o.axes[at - 1];
            at--;
        }
        o.axes[at] = i;
    }
    return o;
}

static int64_t element_bytes(const plan_array *a) {
    return (int64_t)hg_type_size_bytes((hg_type)a->type);
}

/* Whether each axis lies in whole steps of those inside it: `widths` is how many. */
static bool is_regular(const plan_array *a, const order *o, uint64_t *widths) {
    for (uint32_t i = o->count; i-- > 0;) {
        int64_t inner = i + 1 < o->count ? a->strides[o->axes[i + 1]] : element_bytes(a),
                outer = a->strides[o->axes[i]];
        if (outer <= 0 || outer % inner) return false;
        widths[i + 1] = (uint64_t)(outer / inner); /* of the axis inside */
        if (i + 1 < o->count && widths[i + 1] < a->extents[o->axes[i + 1]]) return false;
    }
    return true;
}

/* The number of each element in memory. */
static ten numbers_of(ten_module *m, const plan_array *a) {
    ten shape = ten_like(shape_of(a), HG_TYPE_I64), all = ten_integer(m, shape, 0);
    for (uint32_t i = 0; i < a->rank; i++) {
        if (a->strides[i] == 0 || a->extents[i] == 1) continue;
        ten step = ten_integer(m, shape, (uint64_t)(a->strides[i] / element_bytes(a)));
        all = ten_binary(m, "add", all, ten_binary(m, "multiply", ten_iota(m, shape, i), step));
    }
    return all;
}

static ten flat(ten_module *m, ten memory) {
    uint64_t count = ten_count(memory);
    return ten_reshape(m, memory, 1, &count);
}

/* So many elements of memory in a shape; zeros behind its end, which nobody looks at. */
static ten first_of(ten_module *m, ten memory, uint8_t rank, const uint64_t *extents) {
    uint64_t need = ten_count(ten_shape(memory.type, rank, extents)), have = ten_count(memory);
    if (need > have)
        memory = ten_pad_axis(m, flat(m, memory), ten_number(m, ten_shape(memory.type, 0, NULL), 0),
                              0, 0, need - have);
    else if (need < have)
        memory = ten_slice(m, flat(m, memory), 0, 0, need, 1);
    return ten_reshape(m, memory, rank, extents);
}

/* r has the axes of `o`: with all of the array's, in its order. */
static ten in_order(ten_module *m, ten r, const plan_array *a, const order *o) {
    uint32_t axes[PLAN_MAX_RANK], back[PLAN_MAX_RANK], at = 0;
    bool repeats = false;
    for (uint32_t axis = 0; axis < a->rank; axis++) {
        repeats = repeats || (a->strides[axis] == 0 && a->extents[axis] != 1);
        for (uint32_t i = 0; i < o->count; i++)
            if (o->axes[i] == axis) {
                axes[at] = axis;
                back[at++] = i;
            }
    }
    r = ten_transpose(m, r, back);
    return repeats ? ten_broadcast(m, r, shape_of(a), axes)
                   : ten_reshape(m, r, a->rank, a->extents);
}

/* Memory seen as the array: slices where its axes lie in each other, else each element by its
 * number. */
static ten view(ten_module *m, ten memory, const plan_array *a) {
    order o = order_of(a);
    uint64_t widths[PLAN_MAX_RANK + 1] = {0}, extents[PLAN_MAX_RANK + 1] = {1};
    if (memory.type != a->type)
        memory = ten_recast(m, flat(m, memory), a->type,
                            (a->bytes + (uint64_t)element_bytes(a) - 1) /
                                (uint64_t)element_bytes(a));
    if (!is_regular(a, &o, widths)) return ten_take(m, flat(m, memory), numbers_of(m, a));
    /* [all of the first axis, what lies in a step of the first, …, in a step of the last] */
    uint32_t rank = o.count;
    for (uint32_t i = 0; i < rank; i++) extents[i] = i ? widths[i] : a->extents[o.axes[0]];
    if (rank && widths[rank] != 1) {
        extents[rank] = widths[rank];
        rank++;
    }
    ten r = first_of(m, memory, (uint8_t)rank, extents);
    for (uint32_t i = 0; i < rank; i++)
        r = ten_slice(m, r, i, 0, i < o.count ? a->extents[o.axes[i]] : 1, 1);
    if (rank != o.count) r = ten_reshape(m, r, (uint8_t)o.count, r.extents);
    return in_order(m, r, a, &o);
}

ten shlo_view(ten_module *m, ten memory, uint64_t offset, ten shape, const uint64_t *strides) {
    plan_array a = {.type = memory.type};
    int64_t steps[PLAN_MAX_RANK] = {0};
    uint64_t count = ten_count(memory);
    if (offset) memory = ten_slice(m, flat(m, memory), 0, offset, count, 1);
    if (!strides) return first_of(m, memory, shape.rank, shape.extents);
    for (uint32_t i = 0; i < shape.rank; i++) steps[i] = (int64_t)strides[i];
    plan_array_strides(&a, shape.rank, shape.extents, steps);
    return view(m, memory, &a);
}

static uint32_t number_of(const shlo_call *c, const plan_array *a) {
    return (uint32_t)(a - c->call->arrays);
}

ten shlo_memory_of(const shlo_call *c, const char *name) {
    return c->o->memory[number_of(c, array_of(c, name))];
}

ten shlo_in(shlo_call *c, const char *name) {
    const plan_array *a = array_of(c, name);
    ten memory = shlo_memory_of(c, name);
    if (a->open) return flat(c->m, memory);
    return view(c->m, memory, a);
}

ten shlo_all(shlo_call *c, const char *name) {
    const plan_array *a = array_of(c, name);
    ten memory = c->o->memory[number_of(c, a)];
    bool same = memory.type == a->type && ten_count(memory) == ten_count(shape_of(a));
    return same ? memory : shlo_in(c, name);
}

/* Whether the elements are all of the memory, in the array's order or another. */
static bool is_whole(const plan_array *a, const order *o) {
    int64_t next = element_bytes(a);
    for (uint32_t i = o->count; i-- > 0;) {
        if (a->strides[o->axes[i]] != next) return false;
        next *= (int64_t)a->extents[o->axes[i]];
    }
    return true;
}

ten shlo_pattern(ten_module *m, ten a) {
    return ten_sum_type(a.type) != a.type ? ten_bits(m, a, HG_TYPE_U16) : a;
}

/* Through the number of each element; `old` has contents. */
static ten stored(ten_module *m, ten old, const plan_array *a, ten value) {
    uint64_t count = ten_count(value), have = ten_count(old), lines[3] = {1, count, 1},
             whole[3] = {1, have, 1};
    ten into = shlo_pattern(m, ten_reshape(m, old, 3, whole)),
        part = shlo_pattern(m, ten_reshape(m, value, 3, lines)),
        at = ten_reshape(m, numbers_of(m, a), 1, &count),
        r = ten_bits(m, ten_scatter(m, into, at, part, NULL, true), old.type);
    return ten_reshape(m, r, old.rank, old.extents);
}

void shlo_out(shlo_call *c, const char *name, ten value) {
    ten_module *m = c->m;
    const plan_array *a = array_of(c, name);
    uint32_t number = number_of(c, a), axes[PLAN_MAX_RANK], at = 0;
    uint64_t count = ten_count(shape_of(a));
    ten old = c->o->memory[number];
    order o = order_of(a);
    if (m->unsupported[0]) return;
    value = ten_reshape(m, value, a->rank, a->extents);
    if (!is_whole(a, &o)) {
        if (!old.name)
            ten_refuse(m, "%s with gaps in memory that has no contents", name);
        else
            c->o->result[number] = stored(m, old, a, value);
        return;
    }
    for (uint32_t i = 0; i < a->rank; i++) /* those of one element stand first */
        if (a->extents[i] == 1 || a->strides[i] == 0) axes[at++] = i;
    for (uint32_t i = 0; i < o.count; i++) axes[at++] = o.axes[i];
    value = ten_transpose(m, value, axes);
    if (old.name && ten_count(old) > count) {
        ten whole = ten_update(m, shlo_pattern(m, flat(m, old)), shlo_pattern(m, flat(m, value)),
                               (uint64_t[]){0});
        value = ten_reshape(m, ten_bits(m, whole, old.type), old.rank, old.extents);
    }
    c->o->result[number] = value;
}

void shlo_out_memory(shlo_call *c, const char *name, ten value) {
    ten old = shlo_memory_of(c, name);
    c->o->result[number_of(c, array_of(c, name))] = ten_reshape(c->m, value, old.rank, old.extents);
}
