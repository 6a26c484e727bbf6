/* Elements by indices that are data. An index may count from the end; one that is outside is a
 * fault of the launch.
 * Must not know: layouts. */
#include "tensor/ops.h"
#include "tensor/places.h"
#include "tensor/work.h"
#include <string.h>

static hg_status check_index(const ops_call *c, const hg_tensor *index) {
    if (index->type < HG_TYPE_COUNT && !hg_type_is_float((hg_type)index->type) &&
        tensor_size(index->type) <= 8)
        return HG_OK;
    return ops_refuse(c, "indices are integers of at most 64 bits");
}

static hg_status axis_of(const ops_call *c, uint32_t rank, int64_t usual, uint32_t *axis) {
    if (c->options.axis_count > 1 || (c->options.axis_count && !c->options.axes))
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%s: %u axes, one expected", c->name,
                       (unsigned)c->options.axis_count);
    return tensor_axis(c->options.axis_count ? c->options.axes[0] : usual, rank, axis);
}

/* `let k = …`: the index at a place of x1, from the front; v0 is the extent. One that is outside
 * stays so. */
static void add_index(hg_text *text, const hg_tensor *index, const char *place) {
    if (hg_type_is_signed((hg_type)index->type)) {
        hg_text_addf(text, "    let j = i64(x1[%s])\n", place);
        hg_text_addf(text, "    let k = j < 0 ? v0 - u64(-j) : u64(j)\n");
    } else {
        hg_text_addf(text, "    let k = u64(x1[%s])\n", place);
    }
}

/* ---- reading ---- */

static void add_read(places_work *w, int64_t stride) {
    hg_text_addf(&w->text, "    y[$y] = x0[k < v0 ? $0");
    places_step_add(w, &w->text, "k", stride);
    hg_text_addf(&w->text, " : ~u64(0)]\n");
}

/* Rows that lie side by side, of so many numbers: lanes of a block read one index and neighbours.
 */
enum { LEAST_ROW = 16 };

/* The tensor as the instruction sees it: [outer, n, inner] of numbers around an axis. */
static void rows_of(const hg_tensor *x, uint32_t axis, hg_tensor *rows) {
    const uint64_t parts = tensor_parts(x->type),
                   shape[] = {tensor_numel(x->shape, axis), x->shape[axis],
                              tensor_numel(x->shape + axis + 1, x->rank - axis - 1) * parts};
    *rows = tensor_like(x);
    rows->type = tensor_is_complex(x->type) ? (hg_element)tensor_stored(x->type) : x->type;
    rows->offset *= parts;
    rows->rank = 3;
    memcpy(rows->shape, shape, sizeof shape);
    tensor_c_strides(shape, 3, rows->strides);
}

/* Whether it is the instruction gather. Numbers of u64 are none of i64. */
static bool is_gather(const hg_tensor *rows, const hg_tensor *x, const hg_tensor *index) {
    return rows->shape[2] >= LEAST_ROW && rows->shape[0] && rows->shape[1] && tensor_is_packed(x) &&
           index->type != HG_TYPE_U64 && tensor_numel(index->shape, index->rank);
}

static hg_status gather(ops_call *c, const hg_tensor *rows, const hg_tensor *index,
                        const uint64_t *shape, uint32_t rank) {
    hg_tensor *places = NULL;
    ops_arguments args = {.count = 0};
    bool small = index->type == HG_TYPE_U32;
    HG_TRY(small || index->type == HG_TYPE_I64 ? tensor_operand(c->run, index, true, &places)
                                               : tensor_cast(c->run, index, HG_TYPE_I64, &places));
    hg_tensor line = tensor_like(places);
    line.rank = 1;
    line.shape[0] = tensor_numel(index->shape, index->rank);
    line.strides[0] = 1;
    const uint64_t made[] = {rows->shape[0], line.shape[0], rows->shape[2]};
    ops_array(&args, "input", rows);
    ops_array(&args, "indices", &line);
    ops_flag(&args, "wide", !small);
    hg_status status = ops_instruction(c, "gather", &args, "output", rows->type, made, 3,
                                       &c->out[0]);
    hg_tensor_release(places);
    HG_TRY(status);
    hg_tensor *y = c->out[0];
    y->type = c->in[0]->type;
    y->rank = rank;
    memcpy(y->shape, shape, rank * sizeof *shape);
    tensor_c_strides(shape, rank, y->strides);
    return HG_OK;
}

hg_status ops_take(ops_call *c) {
    const hg_tensor *x = c->in[0], *index = c->in[1];
    uint32_t axis;
    hg_tensor *flat = NULL;
    HG_TRY(check_index(c, index));
    if (c->options.axis_count)
        HG_TRY(axis_of(c, x->rank, 0, &axis));
    else
        axis = 0;
    if ((c->options.axis_count ? x->rank : 1) + index->rank > HG_TENSOR_AXES + 1)
        return ops_refuse(c, "the result would have more than 8 axes");
    HG_TRY(c->options.axis_count ? tensor_alias(x, &flat) : hg_tensor_view_1d(x, &flat));
    places_work w = {.name = c->name, .type = x->type, .rank = flat->rank + index->rank - 1};
    for (uint32_t d = 0; d < axis; d++) w.shape[d] = flat->shape[d];
    for (uint32_t d = 0; d < index->rank; d++) w.shape[axis + d] = index->shape[d];
    for (uint32_t d = axis + 1; d < flat->rank; d++) w.shape[d + index->rank - 1] = flat->shape[d];
    hg_tensor rows;
    rows_of(flat, axis, &rows);
    if (is_gather(&rows, flat, index)) {
        hg_status status = gather(c, &rows, index, w.shape, w.rank);
        hg_tensor_release(flat);
        return status;
    }
    places_operand *o = &w.operands[places_operand_add(&w, flat, 0)];
    memset(o->strides, 0, sizeof o->strides);
    for (uint32_t d = 0; d < flat->rank; d++)
        if (d != axis) o->strides[d < axis ? d : d + index->rank - 1] = places_stride(flat, d);
    places_operand_add(&w, index, axis);
    for (uint32_t d = axis + index->rank; d < w.rank; d++) w.operands[1].strides[d] = 0;
    places_number_add(&w, flat->shape[axis]);
    add_index(&w.text, index, "$1");
    add_read(&w, places_stride(flat, axis));
    hg_status status = tensor_places(c->run, &w, &c->out[0]);
    hg_tensor_release(flat);
    return status;
}

/* The shapes of all, which have as many axes, broadcast but along an axis, whose extent is that of
 * the second. */
static hg_status along(const ops_call *c, uint32_t axis, uint64_t *shape) {
    for (uint32_t i = 1; i < c->in_count; i++)
        if (c->in[i]->rank != c->in[0]->rank)
            return ops_refuse(c, "they have not as many axes each");
    for (uint32_t d = 0; d < c->in[0]->rank; d++) {
        shape[d] = d == axis ? c->in[1]->shape[d] : 1;
        for (uint32_t i = d == axis; i < c->in_count; i++) {
            uint64_t extent = c->in[i]->shape[d];
            if (shape[d] == 1 && d != axis) shape[d] = extent;
            if (extent != shape[d] && extent != 1) {
                char text[300];
                hg_status status = ops_refuse(c, "Tensor shape mismatch");
                strncpy(text, hg_error_record()->message, sizeof text - 1);
                text[sizeof text - 1] = 0;
                (void)status;
                return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                               "Tensor shape mismatch: %.280s along axis %u", text, (unsigned)d);
            }
        }
    }
    return HG_OK;
}

hg_status ops_take_along_axis(ops_call *c) {
    const hg_tensor *x = c->in[0], *index = c->in[1];
    uint32_t axis;
    places_work w = {.name = c->name, .type = x->type, .rank = x->rank};
    HG_TRY(check_index(c, index));
    HG_TRY(axis_of(c, x->rank, -1, &axis));
    HG_TRY(along(c, axis, w.shape));
    places_operand_add(&w, x, 0);
    places_operand_add(&w, index, 0);
    places_number_add(&w, x->shape[axis]);
    w.operands[0].strides[axis] = 0;
    add_index(&w.text, index, "$1");
    add_read(&w, places_stride(x, axis));
    return tensor_places(c->run, &w, &c->out[0]);
}

/* ---- writing ---- */

/* Elements `from` go to the places in x that indices along an axis say, in rising order. A lane
 * does all of one row of the axis. */
static hg_status scatter(ops_call *c, uint32_t axis, bool adds) {
    const hg_tensor *x = c->in[0], *index = c->in[1], *from = c->in[2];
    places_work w = {.name = c->name, .type = x->type, .rank = x->rank, .apart = true};
    uint64_t count = index->shape[axis];
    bool any = tensor_numel(index->shape, index->rank) != 0;
    if (any && !x->shape[axis]) return ops_refuse(c, "an axis without elements has no place");
    w.result_rank = x->rank;
    memcpy(w.result_shape, x->shape, sizeof w.result_shape);
    tensor_c_strides(x->shape, x->rank, w.result_strides);
    for (uint32_t d = 0; d < x->rank; d++) w.result_strides[d] *= tensor_parts(x->type);
    for (uint32_t d = 0; d < x->rank; d++) w.shape[d] = d == axis ? 1 : x->shape[d];
    int64_t steps[] = {w.result_strides[axis], places_stride(x, axis), index->strides[axis],
                       from->shape[axis] == 1 ? 0 : places_stride(from, axis)};
    places_operand_add(&w, x, 0);
    if (any) places_operand_add(&w, index, 0);
    if (any) places_operand_add(&w, from, 0);
    for (uint32_t k = 0; k < w.operand_count; k++) w.operands[k].strides[axis] = 0;
    w.result_strides[axis] = 0;
    places_number_add(&w, x->shape[axis]);
    places_number_add(&w, count);
    hg_text_addf(&w.text, "    for i in u64(0) .. v0 {\n        y[$y");
    places_step_add(&w, &w.text, "i", steps[0]);
    hg_text_addf(&w.text, "] = x0[$0");
    places_step_add(&w, &w.text, "i", steps[1]);
    hg_text_addf(&w.text, "]\n    }\n");
    if (any) {
        hg_text place = {0};
        hg_text_addf(&place, "$1");
        hg_text_addf(&w.text, "    for i in u64(0) .. v1 {\n");
        places_step_add(&w, &place, "i", steps[2]);
        add_index(&w.text, index, place.data ? place.data : "");
        w.text.failed |= place.failed;
        hg_text_free(&place);
        hg_text_addf(&w.text, "        let at = k < v0 ? $y");
        places_step_add(&w, &w.text, "k", steps[0]);
        hg_text_addf(&w.text, " : ~u64(0)\n        y[at] = %sx2[$2", adds ? "y[at] + " : "");
        places_step_add(&w, &w.text, "i", steps[3]);
        hg_text_addf(&w.text, "]\n    }\n");
    }
    return tensor_places(c->run, &w, &c->out[0]);
}

/* The index, and the elements, as views of the shapes that go into x. */
static hg_status write_along(ops_call *c, bool adds) {
    const hg_tensor *x = c->in[0], *index = c->in[1];
    uint64_t shape[HG_TENSOR_AXES];
    uint32_t axis;
    hg_tensor *views[2] = {NULL, NULL};
    HG_TRY(check_index(c, index));
    HG_TRY(axis_of(c, x->rank, -1, &axis));
    if (index->rank != x->rank) return ops_refuse(c, "the index has not as many axes as a");
    memcpy(shape, x->shape, sizeof shape);
    shape[axis] = index->shape[axis];
    if (adds && x->type == HG_ELEMENT_BOOL) return ops_refuse(c, "it is not of bool: cast first");
    HG_TRY(hg_tensor_broadcast_to(index, shape, x->rank, &views[0]));
    hg_status status = hg_tensor_broadcast_to(c->in[2], shape, x->rank, &views[1]);
    if (status == HG_OK && views[1]->type != x->type) {
        hg_tensor *cast = NULL;
        status = tensor_promote(x->type, views[1]->type) == x->type
                     ? tensor_cast(c->run, views[1], x->type, &cast)
                     : ops_refuse(c, "the elements' type does not fit a's");
        hg_tensor_release(views[1]);
        views[1] = cast;
    }
    if (status == HG_OK) {
        ops_call own = *c;
        const hg_tensor *in[] = {x, views[0], views[1]};
        own.in = in;
        status = scatter(&own, axis, adds);
        c->out[0] = own.out[0];
    }
    hg_error kept = *hg_error_record();
    hg_tensor_release(views[0]);
    hg_tensor_release(views[1]);
    *hg_error_record() = kept;
    return status;
}

hg_status ops_put_along_axis(ops_call *c) { return write_along(c, false); }
hg_status ops_scatter_add(ops_call *c) { return write_along(c, true); }
