/* Orders: cumulative operations, sorting, searching, sets.
 * Must not know: layouts. */
#include "library/texts.h"
#include "tensor/ops.h"
#include <string.h>

/* ---- arrays in C order ---- */

static hg_element own_type(const hg_tensor *x) { return tensor_stored(x->type); }

/* x as another type, in C order, with that shape, which has as many elements. */
static hg_status as(tensor_run *run, const hg_tensor *x, hg_element type, const uint64_t *shape,
                    uint32_t rank, hg_tensor **result) {
    HG_TRY(x->type == type ? tensor_operand(run, x, true, result)
                           : tensor_cast(run, x, type, result));
    (*result)->rank = rank;
    memcpy((*result)->shape, shape, rank * sizeof *shape);
    tensor_c_strides(shape, rank, (*result)->strides);
    return HG_OK;
}

static hg_status flat(tensor_run *run, const hg_tensor *x, hg_element type, hg_tensor **result) {
    const uint64_t n = tensor_numel(x->shape, x->rank);
    return as(run, x, type, &n, 1, result);
}

/* Of the shape of x, but for one axis. */
static hg_status empty(const ops_call *c, hg_element type, uint32_t axis, uint64_t extent,
                       hg_tensor **result) {
    const hg_tensor *x = c->in[0];
    uint64_t shape[HG_TENSOR_AXES];
    memcpy(shape, x->shape, sizeof shape);
    if (x->rank) shape[axis] = extent;
    tensor_formula f = {.name = c->name,
                        .expression = "v0",
                        .computes = tensor_stored(type),
                        .gives = tensor_stored(type)};
    HG_TRY(tensor_map(c->run, &f, NULL, 0, shape, x->rank, (double[]){0}, 1, result));
    (*result)->type = type;
    return HG_OK;
}

/* options.axes as one axis; usual: where there is none. */
static hg_status one_axis(const ops_call *c, int64_t usual, uint32_t *axis) {
    *axis = 0;
    if (c->options.axes && c->options.axis_count != 1) return ops_refuse(c, "one axis is expected");
    return tensor_axis(c->options.axes ? c->options.axes[0] : usual, c->in[0]->rank, axis);
}

/* ---- cumulative ---- */

static hg_element wide_type(const ops_call *c) {
    hg_element own = c->in[0]->type;
    if (c->options.type != HG_TYPE_COUNT) return c->options.type;
    if (own == HG_ELEMENT_BOOL) return HG_TYPE_I64;
    if (hg_type_is_float((hg_type)own) || tensor_size(own) >= 8) return own;
    return hg_type_is_signed((hg_type)own) ? HG_TYPE_I64 : HG_TYPE_U64;
}

/* Of [outer, n, inner] in C order. */
static hg_status scan(const ops_call *c, const hg_tensor *x, const char *operation, bool exclusive,
                      hg_tensor **result) {
    const tensor_arg args[] = {
        {.name = "input", .kind = TENSOR_ARRAY, .tensor = x},
        {.name = "operation", .kind = TENSOR_WORD, .text = operation},
        {.name = "exclusive", .kind = TENSOR_FLAG, .number = exclusive},
    };
    tensor_result made = {.operand = "output", .type = x->type, .rank = x->rank, .shape = x->shape};
    tensor_work work = {.instruction = "scan", .operation = c->name};
    HG_TRY(tensor_call(c->run, &work, args, 3, &made, 1));
    *result = made.tensor;
    return HG_OK;
}

/* With an element more at the end of the axis: the formula reads the last one again. */
static hg_status longer(const ops_call *c, const hg_tensor *x, hg_tensor **result) {
    hg_text text = {0};
    tensor_work work = {.operation = c->name};
    uint64_t shape[] = {x->shape[0], x->shape[1] + 1, x->shape[2]};
    hg_text_addf(&text,
                 ".atlas 1\n.program longer\n.param x buffer %s in\n"
                 ".param y buffer %s out [outer, m, inner]\n.param outer u64\n.param m u64\n"
                 ".param inner u64\n.param at u64\n.lanes [o < outer, k < m, i < inner]\n"
                 "    y[o, k, i] = x[at + (o * (m - 1) + min(k, m - 2)) * inner + i]\n",
                 hg_type_name((hg_type)x->type), hg_type_name((hg_type)x->type));
    hg_status status = tensor_program_of(c->run->state, &text, &work.program);
    hg_text_free(&text);
    HG_TRY(status);
    const tensor_arg args[] = {{.name = "x", .kind = TENSOR_ARRAY, .tensor = x},
                               {.name = "outer", .kind = TENSOR_SIZE, .number = shape[0]},
                               {.name = "m", .kind = TENSOR_SIZE, .number = shape[1]},
                               {.name = "inner", .kind = TENSOR_SIZE, .number = shape[2]},
                               {.name = "at", .kind = TENSOR_SIZE, .number = x->offset}};
    tensor_result made = {.operand = "y", .type = x->type, .rank = 3, .shape = shape};
    HG_TRY(tensor_call(c->run, &work, args, 5, &made, 1));
    *result = made.tensor;
    return HG_OK;
}

/* flag: the fold of nothing stands in front. */
static hg_status cumulative(ops_call *c, bool product) {
    const hg_tensor *x = c->in[0];
    uint32_t axis;
    uint64_t shape[3] = {1, 1, 1};
    hg_tensor *lines = NULL, *more = NULL, *made = NULL;
    if (!c->options.axes && x->rank != 1) return ops_refuse(c, "an axis is expected");
    HG_TRY(one_axis(c, 0, &axis));
    hg_element type = wide_type(c);
    if (!tensor_size(type) || type == HG_ELEMENT_BOOL)
        return ops_refuse(c, "options.type is no type of numbers");
    for (uint32_t d = 0; d < x->rank; d++) shape[d < axis ? 0 : d == axis ? 1 : 2] *= x->shape[d];
    if (!shape[0] || !shape[1] || !shape[2]) {
        HG_TRY(empty(c, type, axis, shape[1] + c->options.flag, &made));
        tensor_formula one = {
            .name = c->name, .expression = "a + v0", .computes = type, .gives = type};
        const hg_tensor *zero = made;
        hg_status status = tensor_map(c->run, &one, &zero, 1, made->shape, made->rank,
                                      (double[]){product}, 1, &c->out[0]);
        hg_tensor_release(made);
        return status;
    }
    HG_TRY(as(c->run, x, type, shape, 3, &lines));
    hg_status status = HG_OK;
    if (c->options.flag) status = longer(c, lines, &more);
    if (status == HG_OK)
        status = scan(c, more ? more : lines, product ? "product" : "sum", c->options.flag, &made);
    hg_tensor_release(lines);
    hg_tensor_release(more);
    HG_TRY(status);
    made->rank = x->rank;
    memcpy(made->shape, x->shape, sizeof made->shape);
    made->shape[axis] += c->options.flag;
    tensor_c_strides(made->shape, made->rank, made->strides);
    c->out[0] = made;
    return HG_OK;
}

hg_status ops_cumulative_sum(ops_call *c) { return cumulative(c, false); }
hg_status ops_cumulative_prod(ops_call *c) { return cumulative(c, true); }

static hg_status difference(const ops_call *c, const hg_tensor *x, uint32_t axis,
                            hg_tensor **result) {
    hg_tensor *front = NULL, *back = NULL;
    uint64_t n = x->shape[axis], left = n ? n - 1 : 0;
    hg_status status = hg_tensor_narrow(x, (int32_t)axis, n ? 1 : 0, left, &front);
    if (status == HG_OK) status = hg_tensor_narrow(x, (int32_t)axis, 0, left, &back);
    if (status == HG_OK) {
        bool truth = x->type == HG_ELEMENT_BOOL;
        const hg_tensor *inputs[] = {front, back};
        tensor_formula f = {.name = c->name,
                            .expression = truth ? "a ^ b" : "a - b",
                            .computes = own_type(x),
                            .gives = own_type(x)};
        status = tensor_map(c->run, &f, inputs, 2, front->shape, front->rank, NULL, 0, result);
        if (status == HG_OK) (*result)->type = x->type;
    }
    hg_tensor_release(front);
    hg_tensor_release(back);
    return status;
}

/* sizes[0] times; once where it is not given. */
hg_status ops_diff(ops_call *c) {
    uint32_t axis;
    uint64_t times = c->options.size_count ? c->options.sizes[0] : 1;
    HG_TRY(one_axis(c, -1, &axis));
    HG_TRY(tensor_alias(c->in[0], &c->out[0]));
    for (uint64_t i = 0; i < times; i++) {
        hg_tensor *next;
        bool none = !c->out[0]->shape[axis];
        if (none) break;
        HG_TRY(difference(c, c->out[0], axis, &next));
        hg_tensor_release(c->out[0]);
        c->out[0] = next;
    }
    return HG_OK;
}

/* ---- in order ---- */

/* The first k of each row of an array in C order, whose last axis rows are. NULL: not wanted. */
static hg_status order(const ops_call *c, const hg_tensor *x, bool top, uint64_t k, bool other,
                       hg_tensor **values, hg_tensor **indices) {
    uint64_t shape[HG_TENSOR_AXES];
    memcpy(shape, x->shape, sizeof shape);
    shape[x->rank - 1] = k;
    tensor_result made[] = {
        {.operand = "output", .type = x->type, .rank = x->rank, .shape = shape},
        {.operand = "indices", .type = HG_TYPE_I64, .rank = x->rank, .shape = shape}};
    const tensor_arg args[] = {
        {.name = "input", .kind = TENSOR_ARRAY, .tensor = x},
        {.name = top ? "smallest" : "descending", .kind = TENSOR_FLAG, .number = other},
        {.name = "wide", .kind = TENSOR_FLAG, .number = indices != NULL},
        {.name = "k", .kind = TENSOR_SIZE, .number = k},
    };
    tensor_work work = {.instruction = top ? "top_k" : "sort", .operation = c->name};
    HG_TRY(tensor_call(c->run, &work, args, top ? 4 : 3, made, indices ? 2 : 1));
    if (values)
        *values = made[0].tensor;
    else
        hg_tensor_release(made[0].tensor); /* graphs leave out the last results only */
    if (indices) *indices = made[1].tensor;
    return HG_OK;
}

/* A permutation that puts the axis last, or back. */
static hg_status turned(const hg_tensor *x, uint32_t axis, bool back, hg_tensor **view) {
    int32_t to[HG_TENSOR_AXES];
    uint32_t last = x->rank - 1;
    for (uint32_t d = 0; d < x->rank; d++) {
        if (back)
            to[d] = (int32_t)(d < axis ? d : d == axis ? last : d - 1);
        else
            to[d] = (int32_t)(d < axis ? d : d == last ? axis : d + 1);
    }
    return hg_tensor_permute(x, to, x->rank, view);
}

static hg_status turn_back(hg_tensor **x, uint32_t axis, hg_element type) {
    hg_tensor *own = *x;
    if (!own) return HG_OK;
    *x = NULL;
    if (own->type != HG_TYPE_I64) own->type = type;
    hg_status status = turned(own, axis, true, x);
    hg_tensor_release(own);
    return status;
}

static hg_status ordered(ops_call *c, bool top, uint64_t k, uint32_t axis, hg_tensor **values,
                         hg_tensor **indices) {
    const hg_tensor *x = c->in[0];
    if (tensor_size(x->type) > 8) return ops_refuse(c, "types of at most 64 bits are ordered");
    if (!tensor_numel(x->shape, x->rank) || !k) {
        if (values) HG_TRY(empty(c, x->type, axis, k, values));
        return indices ? empty(c, HG_TYPE_I64, axis, k, indices) : HG_OK;
    }
    hg_tensor *view = NULL, *rows = NULL;
    HG_TRY(turned(x, axis, false, &view));
    hg_status status = as(c->run, view, x->type, view->shape, view->rank, &rows);
    hg_tensor_release(view);
    HG_TRY(status);
    rows->type = own_type(x);
    status = order(c, rows, top, k, c->options.flag, values, indices);
    hg_tensor_release(rows);
    HG_TRY(status);
    if (values) HG_TRY(turn_back(values, axis, x->type));
    return indices ? turn_back(indices, axis, x->type) : HG_OK;
}

hg_status ops_sort(ops_call *c) {
    uint32_t axis;
    HG_TRY(one_axis(c, -1, &axis));
    return ordered(c, false, c->in[0]->shape[axis], axis, &c->out[0], NULL);
}

hg_status ops_argsort(ops_call *c) {
    uint32_t axis;
    HG_TRY(one_axis(c, -1, &axis));
    return ordered(c, false, c->in[0]->shape[axis], axis, NULL, &c->out[0]);
}

hg_status ops_top_k(ops_call *c) {
    uint32_t axis;
    HG_TRY(one_axis(c, -1, &axis));
    if (c->options.size_count != 1 || c->options.sizes[0] > c->in[0]->shape[axis])
        return ops_refuse(c, "options.sizes is one number, at most the extent of the axis");
    return ordered(c, true, c->options.sizes[0], axis, &c->out[0], &c->out[1]);
}

/* ---- searching ---- */

typedef enum search_kind { SEARCH, MEMBER, EDGES, GROUPS, COUNTS, PLACES } search_kind;

static hg_status search(const ops_call *c, search_kind kind, hg_element type,
                        const tensor_arg *args, uint32_t arg_count, tensor_result *made,
                        uint32_t made_count) {
    hg_text text = {0};
    tensor_work work = {.operation = c->name};
    hg_text_addf(&text, ".atlas 1\n.program %s\n.type T = %s\n.const KIND = %d\n%s", c->name,
                 hg_type_name((hg_type)type), (int)kind, hg_unpacked(&library_text_search));
    hg_status status = tensor_program_of(c->run->state, &text, &work.program);
    hg_text_free(&text);
    HG_TRY(status);
    return tensor_call(c->run, &work, args, arg_count, made, made_count);
}

static tensor_arg array(const char *name, const hg_tensor *t) {
    return (tensor_arg){.name = name, .kind = TENSOR_ARRAY, .tensor = t};
}
static tensor_arg size(const char *name, uint64_t number) {
    return (tensor_arg){.name = name, .kind = TENSOR_SIZE, .number = number};
}

/* As flat(), in memory of its own length: what a program takes as an array. */
static hg_status whole(tensor_run *run, const hg_tensor *x, hg_element type, hg_tensor **result) {
    HG_TRY(flat(run, x, type, result));
    hg_tensor *view = *result;
    if (!view->offset && view->storage->count == view->shape[0]) return HG_OK;
    tensor_formula copy = {.name = "copy",
                           .expression = "a",
                           .computes = tensor_stored(type),
                           .gives = tensor_stored(type)};
    const hg_tensor *input = view;
    hg_status status = tensor_map(run, &copy, &input, 1, view->shape, view->rank, NULL, 0, result);
    hg_tensor_release(view);
    return status;
}

/* Where elements of v would stand in x: both as whole() gives them. */
static hg_status find(const ops_call *c, const hg_tensor *x, const hg_tensor *v, bool right,
                      hg_tensor **result) {
    const uint64_t m = v->shape[0];
    const tensor_arg args[] = {array("x", x), array("v", v), size("n", x->shape[0]), size("m", m),
                               size("right", right)};
    tensor_result made = {.operand = "y", .type = HG_TYPE_I64, .rank = 1, .shape = &m};
    HG_TRY(search(c, SEARCH, own_type(x), args, 5, &made, 1));
    *result = made.tensor;
    return HG_OK;
}

static void reshape(hg_tensor *t, const hg_tensor *like) {
    t->rank = like->rank;
    memcpy(t->shape, like->shape, sizeof t->shape);
    tensor_c_strides(t->shape, t->rank, t->strides);
}

/* The common type of two inputs, one that can be ordered. */
static hg_status common(const ops_call *c, hg_element *type) {
    *type = tensor_promote(c->in[0]->type, c->in[1]->type);
    if (*type == HG_TYPE_COUNT) return ops_refuse(c, "they have no common type");
    if (tensor_size(*type) > 8) return ops_refuse(c, "types of at most 64 bits are ordered");
    *type = tensor_stored(*type);
    return HG_OK;
}

/* The second input's places in the first, which is sorted. flag: behind equal ones. */
hg_status ops_searchsorted(ops_call *c) {
    hg_element type;
    hg_tensor *x = NULL, *v = NULL;
    HG_TRY(common(c, &type));
    if (c->in[0]->rank != 1) return ops_refuse(c, "the first one has one axis");
    if (!tensor_numel(c->in[1]->shape, c->in[1]->rank) || !c->in[0]->shape[0]) {
        ops_call other = *c;
        other.in = &c->in[1];
        return empty(&other, HG_TYPE_I64, 0, c->in[1]->rank ? c->in[1]->shape[0] : 0, &c->out[0]);
    }
    hg_status status = whole(c->run, c->in[0], type, &x);
    if (status == HG_OK) status = whole(c->run, c->in[1], type, &v);
    if (status == HG_OK) status = find(c, x, v, c->options.flag, &c->out[0]);
    if (status == HG_OK) reshape(c->out[0], c->in[1]);
    hg_tensor_release(x);
    hg_tensor_release(v);
    return status;
}

static hg_status is_member(const ops_call *c, const hg_tensor *sorted, const hg_tensor *v,
                           hg_tensor **result) {
    hg_tensor *at = NULL;
    const uint64_t m = v->shape[0];
    HG_TRY(find(c, sorted, v, false, &at));
    const tensor_arg args[] = {array("x", sorted), array("v", v), array("at", at),
                               size("n", sorted->shape[0]), size("m", m)};
    tensor_result made = {.operand = "y", .type = HG_ELEMENT_BOOL, .rank = 1, .shape = &m};
    hg_status status = search(c, MEMBER, own_type(v), args, 5, &made, 1);
    hg_tensor_release(at);
    *result = made.tensor;
    return status;
}

/* Of each element of the first input: whether the second one has it. */
hg_status ops_isin(ops_call *c) {
    hg_element type;
    hg_tensor *set = NULL, *sorted = NULL, *v = NULL;
    HG_TRY(common(c, &type));
    if (!tensor_numel(c->in[1]->shape, c->in[1]->rank) ||
        !tensor_numel(c->in[0]->shape, c->in[0]->rank))
        return empty(c, HG_ELEMENT_BOOL, 0, c->in[0]->rank ? c->in[0]->shape[0] : 0, &c->out[0]);
    hg_status status = flat(c->run, c->in[1], type, &set);
    if (status == HG_OK) status = order(c, set, false, set->shape[0], false, &sorted, NULL);
    if (status == HG_OK) status = whole(c->run, c->in[0], type, &v);
    if (status == HG_OK) status = is_member(c, sorted, v, &c->out[0]);
    if (status == HG_OK) reshape(c->out[0], c->in[0]);
    hg_tensor_release(set);
    hg_tensor_release(sorted);
    hg_tensor_release(v);
    return status;
}

/* ---- results as long as the elements say ---- */

/* Running counts of an i64 array of 0 and 1, and the last one, for which what is recorded runs. */
static hg_status count(const ops_call *c, const hg_tensor *flags, hg_tensor **numbers,
                       uint64_t *total) {
    double last;
    hg_tensor *end = NULL;
    uint64_t n = flags->shape[0];
    hg_tensor lines = *flags;
    lines.rank = 3;
    lines.shape[0] = lines.shape[2] = 1;
    lines.shape[1] = n;
    tensor_c_strides(lines.shape, 3, lines.strides);
    HG_TRY(scan(c, &lines, "sum", false, numbers));
    reshape(*numbers, flags);
    HG_TRY(hg_tensor_narrow(*numbers, 0, n - 1, 1, &end));
    hg_status status = hg_tensor_item(end, &last);
    hg_tensor_release(end);
    HG_TRY(status);
    *total = (uint64_t)last;
    return HG_OK;
}

/* Indices of elements that are not 0, [axes, how many], in C order. */
static hg_status coordinates(const ops_call *c, const hg_tensor *places, hg_tensor **result) {
    const hg_tensor *x = c->in[0];
    int64_t numbers[2][HG_TENSOR_AXES];
    hg_tensor *divide[2] = {NULL, NULL};
    const uint64_t shape[] = {x->rank, places->shape[0]}, column[] = {x->rank, 1};
    tensor_c_strides(x->shape, x->rank, numbers[0]);
    for (uint32_t d = 0; d < x->rank; d++) numbers[1][d] = (int64_t)x->shape[d];
    hg_status status = HG_OK;
    for (int i = 0; i < 2 && status == HG_OK; i++)
        status = hg_tensor_from_host(c->run->state->executor, HG_TYPE_I64, numbers[i], x->rank,
                                     column, 2, &divide[i]);
    const hg_tensor *inputs[] = {places, divide[0], divide[1]};
    tensor_formula f = {
        .name = c->name, .expression = "a / b % c", .computes = HG_TYPE_I64, .gives = HG_TYPE_I64};
    if (status == HG_OK) status = tensor_map(c->run, &f, inputs, 3, shape, 2, NULL, 0, result);
    hg_tensor_release(divide[0]);
    hg_tensor_release(divide[1]);
    return status;
}

static hg_status places_of(const ops_call *c, const hg_tensor *flags, hg_tensor **places) {
    hg_tensor *numbers = NULL;
    uint64_t m = 0;
    hg_status status = count(c, flags, &numbers, &m);
    const tensor_arg args[] = {array("number", numbers), size("n", flags->shape[0]), size("m", m)};
    tensor_result made = {.operand = "y", .type = HG_TYPE_I64, .rank = 1, .shape = &m};
    if (status == HG_OK && m)
        status = search(c, PLACES, HG_TYPE_I64, args, 3, &made, 1);
    else if (status == HG_OK)
        status = hg_tensor_empty(c->run->state->executor, HG_TYPE_I64, &m, 1, &made.tensor);
    hg_tensor_release(numbers);
    *places = made.tensor;
    return status;
}

hg_status ops_nonzero(ops_call *c) {
    const hg_tensor *x = c->in[0];
    hg_tensor *flags = NULL, *places = NULL, *line = NULL;
    if (!x->rank) return ops_refuse(c, "it has no axis");
    tensor_formula f = {.name = c->name,
                        .expression = "a != 0 ? i64(1) : i64(0)",
                        .computes = own_type(x),
                        .gives = HG_TYPE_I64};
    if (!tensor_numel(x->shape, x->rank)) {
        const uint64_t none[] = {x->rank, 0};
        return hg_tensor_empty(c->run->state->executor, HG_TYPE_I64, none, 2, &c->out[0]);
    }
    HG_TRY(tensor_map(c->run, &f, &x, 1, x->shape, x->rank, NULL, 0, &flags));
    hg_status status = flat(c->run, flags, HG_TYPE_I64, &line);
    if (status == HG_OK) status = places_of(c, line, &places);
    if (status == HG_OK) status = coordinates(c, places, &c->out[0]);
    hg_tensor_release(flags);
    hg_tensor_release(line);
    hg_tensor_release(places);
    return status;
}

/* ---- sets ---- */

typedef struct unique_set {
    hg_tensor *values, *first, *inverse, *counts;
} unique_set;

static void unique_release(unique_set *u) {
    hg_tensor_release(u->values);
    hg_tensor_release(u->first);
    hg_tensor_release(u->inverse);
    hg_tensor_release(u->counts);
}

static hg_status group(const ops_call *c, const hg_tensor *sorted, const hg_tensor *places,
                       const hg_tensor *numbers, uint64_t m, unique_set *u) {
    const uint64_t n = sorted->shape[0];
    const tensor_arg args[] = {array("x", sorted), array("order", places), array("number", numbers),
                               size("n", n), size("m", m)};
    tensor_result made[] = {{.operand = "values", .type = sorted->type, .rank = 1, .shape = &m},
                            {.operand = "first", .type = HG_TYPE_I64, .rank = 1, .shape = &m},
                            {.operand = "inverse", .type = HG_TYPE_I64, .rank = 1, .shape = &n},
                            {.operand = "start", .type = HG_TYPE_I64, .rank = 1, .shape = &m}};
    HG_TRY(search(c, GROUPS, sorted->type, args, 5, made, 4));
    u->values = made[0].tensor;
    u->first = made[1].tensor;
    u->inverse = made[2].tensor;
    const tensor_arg starts[] = {array("start", made[3].tensor), size("n", n), size("m", m)};
    tensor_result counts = {.operand = "y", .type = HG_TYPE_I64, .rank = 1, .shape = &m};
    hg_status status = search(c, COUNTS, HG_TYPE_I64, starts, 3, &counts, 1);
    hg_tensor_release(made[3].tensor);
    u->counts = counts.tensor;
    return status;
}

static hg_status edges(const ops_call *c, const hg_tensor *sorted, hg_tensor **flags) {
    const uint64_t n = sorted->shape[0];
    const tensor_arg args[] = {array("x", sorted), size("n", n)};
    tensor_result made = {.operand = "y", .type = HG_TYPE_I64, .rank = 1, .shape = &n};
    HG_TRY(search(c, EDGES, sorted->type, args, 2, &made, 1));
    *flags = made.tensor;
    return HG_OK;
}

static hg_status unique_nothing(const ops_call *c, unique_set *u) {
    hg_executor *executor = c->run->state->executor;
    const hg_tensor *x = c->in[0];
    const uint64_t none = 0;
    HG_TRY(hg_tensor_empty(executor, own_type(x), &none, 1, &u->values));
    HG_TRY(hg_tensor_empty(executor, HG_TYPE_I64, &none, 1, &u->first));
    HG_TRY(hg_tensor_empty(executor, HG_TYPE_I64, x->shape, x->rank, &u->inverse));
    return hg_tensor_empty(executor, HG_TYPE_I64, &none, 1, &u->counts);
}

static hg_status unique_all(const ops_call *c, unique_set *u) {
    const hg_tensor *x = c->in[0];
    hg_tensor *line = NULL, *sorted = NULL, *places = NULL, *flags = NULL, *numbers = NULL;
    uint64_t m = 0, n = tensor_numel(x->shape, x->rank);
    if (tensor_size(x->type) > 8) return ops_refuse(c, "types of at most 64 bits are ordered");
    if (!n) return unique_nothing(c, u);
    HG_TRY(flat(c->run, x, x->type, &line));
    line->type = own_type(x);
    hg_status status = order(c, line, false, n, false, &sorted, &places);
    if (status == HG_OK) status = edges(c, sorted, &flags);
    if (status == HG_OK) status = count(c, flags, &numbers, &m);
    if (status == HG_OK) status = group(c, sorted, places, numbers, m, u);
    if (status == HG_OK) reshape(u->inverse, x);
    hg_tensor_release(line);
    hg_tensor_release(sorted);
    hg_tensor_release(places);
    hg_tensor_release(flags);
    hg_tensor_release(numbers);
    return status;
}

/* Which of values, first, inverse, counts are results, in order. */
static hg_status unique(ops_call *c, bool first, bool inverse, bool counts) {
    unique_set u = {NULL, NULL, NULL, NULL};
    hg_status status = unique_all(c, &u);
    if (status == HG_OK) {
        uint32_t i = 0;
        u.values->type = c->in[0]->type;
        c->out[i++] = hg_tensor_retain(u.values);
        if (first) c->out[i++] = hg_tensor_retain(u.first);
        if (inverse) c->out[i++] = hg_tensor_retain(u.inverse);
        if (counts) c->out[i++] = hg_tensor_retain(u.counts);
    }
    unique_release(&u);
    return status;
}

hg_status ops_unique_all(ops_call *c) { return unique(c, true, true, true); }
hg_status ops_unique_counts(ops_call *c) { return unique(c, false, false, true); }
hg_status ops_unique_inverse(ops_call *c) { return unique(c, false, true, false); }
hg_status ops_unique_values(ops_call *c) { return unique(c, false, false, false); }
