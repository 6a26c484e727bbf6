/* Arrays put together and rearranged: concat, stack, pad, roll, repeat, tile, tril and triu.
 * Must not know: layouts. */
#include "tensor/ops.h"
#include "tensor/places.h"
#include <stdio.h>
#include <string.h>

/* ---- options ---- */

static hg_status axis_of(const ops_call *c, uint32_t rank, int64_t usual, uint32_t *axis) {
    if (c->options.axis_count > 1 || (c->options.axis_count && !c->options.axes))
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%s: %u axes, one expected", c->name,
                       (unsigned)c->options.axis_count);
    return tensor_axis(c->options.axis_count ? c->options.axes[0] : usual, rank, axis);
}

static hg_status check_sizes(const ops_call *c, uint32_t count) {
    if (c->options.size_count == count && (!count || c->options.sizes)) return HG_OK;
    return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%s: options.sizes has %u numbers, %u expected",
                   c->name, (unsigned)c->options.size_count, (unsigned)count);
}

/* Work over the result of an operation on x, of its shape until it is changed. */
static places_work like(const ops_call *c, const hg_tensor *x) {
    places_work w = {.name = c->name, .type = x->type, .rank = x->rank};
    memcpy(w.shape, x->shape, sizeof w.shape);
    return w;
}

/* The text works the coordinate of x0 along an axis out: ` + COORDINATE * STRIDE`. */
static void own_axis(places_work *w, hg_text *out, uint32_t axis, const char *coordinate) {
    places_step_add(w, out, coordinate, w->operands[0].strides[axis]);
    w->operands[0].strides[axis] = 0;
    w->kept |= 1u << axis;
}

/* ---- concat and stack ---- */

static hg_status join_few(ops_call *c, const hg_tensor *const *in, uint32_t count, hg_element type,
                          uint32_t axis, hg_tensor **result) {
    places_work w = like(c, in[0]);
    uint64_t end = 0;
    w.type = type;
    w.kept = 1u << axis;
    for (uint32_t i = 0; i < count; i++) {
        const hg_tensor *x = in[i];
        places_operand *o = &w.operands[places_operand_add(&w, x, 0)];
        const char *cast = tensor_stored(x->type) == tensor_stored(type)
                               ? ""
                               : hg_type_name(tensor_stored(type));
        o->offset -= end * (uint64_t)o->strides[axis];
        end += x->shape[axis];
        const char *after = "{\n";
        hg_text_addf(&w.text, "    %s", i ? "} else " : "");
        if (i + 1 < count) {
            after = " {\n";
            hg_text_addf(&w.text, "if @%u < v%u", (unsigned)axis,
                         (unsigned)places_number_add(&w, end));
        } else if (!i) {
            after = "{\n";
        }
        if (count > 1) hg_text_addf(&w.text, "%s", after);
        hg_text_addf(&w.text, "        y[$y] = %s(x%u[$%u])\n", cast, (unsigned)i, (unsigned)i);
    }
    if (count > 1) hg_text_addf(&w.text, "    }\n");
    w.shape[axis] = end;
    return tensor_places(c->run, &w, result);
}

/* Four at a time, until one is left. The tensors are the caller's own. */
static hg_status join(ops_call *c, hg_tensor **in, uint32_t count, hg_element type, uint32_t axis) {
    while (count > 1 || in[0]->type != type) {
        uint32_t left = 0;
        for (uint32_t i = 0; i < count; i += PLACES_OPERANDS) {
            uint32_t some = count - i < PLACES_OPERANDS ? count - i : PLACES_OPERANDS;
            hg_tensor *one;
            HG_TRY(join_few(c, (const hg_tensor *const *)&in[i], some, type, axis, &one));
            for (uint32_t k = i; k < i + some; k++) {
                hg_tensor_release(in[k]);
                in[k] = NULL;
            }
            in[left++] = one;
        }
        count = left;
    }
    return HG_OK;
}

static hg_status check_alike(const ops_call *c, uint32_t axis, hg_element *type) {
    const hg_tensor *first = c->in[0];
    uint64_t all = axis < first->rank ? first->shape[axis] : 0;
    *type = first->type;
    for (uint32_t i = 1; i < c->in_count; i++) {
        const hg_tensor *x = c->in[i];
        bool fits = x->rank == first->rank;
        for (uint32_t d = 0; d < first->rank && fits; d++)
            fits = d == axis || x->shape[d] == first->shape[d];
        if (!fits) {
            char a[220], b[220];
            return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                           "Tensor shape mismatch: %s: %s and %s (input %u) along axis %u", c->name,
                           tensor_text(first, a), tensor_text(x, b), (unsigned)i, (unsigned)axis);
        }
        if (axis < x->rank && !hg_add_u64(all, x->shape[axis], &all))
            return ops_refuse(c, "they have too many elements together");
        *type = tensor_promote(*type, x->type);
        if (*type == HG_TYPE_COUNT) return ops_refuse(c, "they have no common type");
    }
    return HG_OK;
}

/* Inputs, or views of them with a new axis, joined along an axis. */
static hg_status concat(ops_call *c, uint32_t axis, bool new_axis) {
    hg_element type;
    uint32_t count = 0;
    HG_TRY(check_alike(c, new_axis ? UINT32_MAX : axis, &type));
    hg_tensor **own = hg_calloc(c->in_count, sizeof(hg_tensor *));
    if (!own) return hg_fail_memory();
    hg_status status = HG_OK;
    for (uint32_t i = 0; i < c->in_count && status == HG_OK; i++) {
        if (!new_axis && !c->in[i]->shape[axis] && (count || i + 1 < c->in_count)) continue;
        const hg_tensor *x = c->in[i];
        hg_tensor *cast = NULL;
        if (tensor_is_complex(type) && !tensor_is_complex(x->type)) {
            status = tensor_cast(c->run, x, type, &cast);
            x = cast;
        }
        if (status == HG_OK)
            status = new_axis ? hg_tensor_unsqueeze(x, (int32_t)axis, &own[count])
                              : tensor_alias(x, &own[count]);
        hg_tensor_release(cast);
        count += status == HG_OK;
    }
    if (status == HG_OK && count == 1 && own[0]->type == type) { /* not an alias of an input */
        status = join_few(c, (const hg_tensor *const *)own, 1, type, axis, &c->out[0]);
    } else if (status == HG_OK) {
        status = join(c, own, count, type, axis);
        c->out[0] = status == HG_OK ? own[0] : NULL;
        if (status == HG_OK) own[0] = NULL;
    }
    hg_error kept = *hg_error_record();
    for (uint32_t i = 0; i < c->in_count; i++) hg_tensor_release(own[i]);
    hg_free(own);
    *hg_error_record() = kept;
    return status;
}

hg_status ops_concat(ops_call *c) {
    uint32_t axis;
    HG_TRY(axis_of(c, c->in[0]->rank, 0, &axis));
    return concat(c, axis, false);
}

hg_status ops_stack(ops_call *c) {
    uint32_t axis;
    if (c->in[0]->rank == HG_TENSOR_AXES) return ops_refuse(c, "they have 8 axes already");
    HG_TRY(axis_of(c, c->in[0]->rank + 1, 0, &axis));
    return concat(c, axis, true);
}

/* ---- pad ---- */

enum { MOST_PAD = 1 << 30 };

/* ` + (COORDINATE) * STRIDE` of an axis of n elements whose first one stands behind `before` others
 * that are elements of it too. */
static void pad_axis(places_work *w, hg_text *out, uint32_t d, uint64_t n, uint64_t before,
                     hg_pad_mode mode) {
    uint64_t period = mode == HG_PAD_WRAP ? n : 2 * (n - 1),
             ahead = period ? (period - before % period) % period : 0;
    char text[160];
    if (mode == HG_PAD_EDGE || period == 0)
        snprintf(text, sizeof text, "min(max(@%u, v%u) - v%u, v%u)", (unsigned)d,
                 (unsigned)w->number_count, (unsigned)w->number_count,
                 (unsigned)w->number_count + 1);
    else if (mode == HG_PAD_WRAP)
        snprintf(text, sizeof text, "((@%u + v%u) %% v%u)", (unsigned)d, (unsigned)w->number_count,
                 (unsigned)w->number_count + 1);
    else /* there and back again: the nearer of both ends of a period */
        snprintf(text, sizeof text, "min((@%u + v%u) %% v%u, v%u - (@%u + v%u) %% v%u)",
                 (unsigned)d, (unsigned)w->number_count, (unsigned)w->number_count + 1,
                 (unsigned)w->number_count + 1, (unsigned)d, (unsigned)w->number_count,
                 (unsigned)w->number_count + 1);
    bool edge = mode == HG_PAD_EDGE || period == 0;
    (void)places_number_add(w, edge ? before : ahead);
    (void)places_number_add(w, edge ? n - 1 : period);
    own_axis(w, out, d, text);
}

/* With elements of x around it. */
static hg_status pad_with_own(ops_call *c, uint64_t mode) {
    const hg_tensor *x = c->in[0];
    hg_text place = {0};
    if (mode > HG_PAD_WRAP)
        return ops_refuse(c, "options.sizes: the last one is none of hg_pad_mode");
    places_work w = like(c, x);
    places_operand_add(&w, x, 0);
    for (uint32_t d = 0; d < x->rank; d++) {
        uint64_t before = c->options.sizes[2 * d], after = c->options.sizes[2 * d + 1];
        const char *why = before > MOST_PAD || after > MOST_PAD ? "options.sizes are out of range"
                          : (before || after) && !x->shape[d]
                              ? "an axis without elements has none to pad with"
                              : NULL;
        if (why) {
            hg_text_free(&place);
            return ops_refuse(c, why);
        }
        w.shape[d] += before + after;
        if (before || after) pad_axis(&w, &place, d, x->shape[d], before, (hg_pad_mode)mode);
    }
    hg_text_addf(&w.text, "    y[$y] = x0[$0%s]\n", place.data ? place.data : "");
    w.text.failed |= place.failed;
    hg_text_free(&place);
    return tensor_places(c->run, &w, &c->out[0]);
}

hg_status ops_pad(ops_call *c) {
    const hg_tensor *x = c->in[0];
    if (c->options.sizes && c->options.size_count == 2 * x->rank + 1) {
        uint64_t mode = c->options.sizes[2 * x->rank];
        if (mode != HG_PAD_VALUE) return pad_with_own(c, mode);
    } else {
        HG_TRY(check_sizes(c, 2 * x->rank));
    }
    places_work w = like(c, x);
    bool empty = !tensor_numel(x->shape, x->rank), any = false;
    w.fill = &c->options.numbers[0];
    if (!empty) places_operand_add(&w, x, 0);
    for (uint32_t d = 0; d < x->rank; d++) {
        uint64_t before = c->options.sizes[2 * d], after = c->options.sizes[2 * d + 1];
        if (before > INT64_MAX / 4 || after > INT64_MAX / 4)
            return ops_refuse(c, "options.sizes are out of range");
        w.shape[d] += before + after;
        if (empty || (!before && !after)) continue;
        w.operands[0].offset -= before * (uint64_t)w.operands[0].strides[d];
        w.kept |= 1u << d;
        uint32_t number = places_number_add(&w, before);
        hg_text_addf(&w.text, "%s@%u - v%u < v%u", any ? " && " : "    if ", (unsigned)d,
                     (unsigned)number, (unsigned)places_number_add(&w, x->shape[d]));
        any = true;
    }
    if (any) hg_text_addf(&w.text, " {\n        y[$y] = x0[$0]\n    } else {\n");
    hg_text_addf(&w.text, !empty && !any ? "    y[$y] = x0[$0]\n" : "    y[$y] = fill\n");
    if (any) hg_text_addf(&w.text, "    }\n");
    return tensor_places(c->run, &w, &c->out[0]);
}

/* ---- coordinates that are worked out ---- */

/* The elements of x as one axis, and the axis of the options 0: for operations that take all axes
 * as one where none is named. */
static hg_status flat(const ops_call *c, hg_tensor **x, uint32_t *axis) {
    *axis = 0;
    if (c->options.axis_count) {
        HG_TRY(axis_of(c, c->in[0]->rank, 0, axis));
        return tensor_alias(c->in[0], x);
    }
    return hg_tensor_view_1d(c->in[0], x);
}

/* The shift along an axis of all that name it, modulo its extent. */
static uint64_t shift_of(const ops_call *c, uint32_t axis, uint32_t rank, uint64_t extent) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < c->options.size_count; i++) {
        uint32_t own = 0;
        if (c->options.axis_count) HG_IGNORE(tensor_axis(c->options.axes[i], rank, &own));
        int64_t by = (int64_t)c->options.sizes[i] % (int64_t)extent;
        if (own == axis) sum = (sum + (by < 0 ? extent - (uint64_t)-by : (uint64_t)by)) % extent;
    }
    return sum;
}

static hg_status roll(ops_call *c, const hg_tensor *x, hg_tensor **result) {
    places_work w = like(c, x);
    hg_text place = {0};
    if (!tensor_numel(x->shape, x->rank)) return tensor_cast(c->run, x, x->type, result);
    places_operand_add(&w, x, 0);
    for (uint32_t d = 0; d < x->rank; d++) {
        uint64_t by = shift_of(c, d, x->rank, x->shape[d]);
        if (!by) continue;
        char coordinate[8];
        uint32_t number = places_number_add(&w, x->shape[d] - by);
        hg_text_addf(&w.text, "    let c%u = @%u < #%u - v%u ? @%u + v%u : @%u + v%u - #%u\n",
                     (unsigned)d, (unsigned)d, (unsigned)d, (unsigned)number, (unsigned)d,
                     (unsigned)number, (unsigned)d, (unsigned)number, (unsigned)d);
        snprintf(coordinate, sizeof coordinate, "c%u", (unsigned)d);
        own_axis(&w, &place, d, coordinate);
    }
    hg_text_addf(&w.text, "    y[$y] = x0[$0%s]\n", place.data ? place.data : "");
    if (place.failed) w.text.failed = true;
    hg_text_free(&place);
    return tensor_places(c->run, &w, result);
}

/* A result as the input's shape. */
static hg_status shape_back(const ops_call *c, hg_tensor *made, hg_tensor **result) {
    hg_status status = hg_tensor_reshape(made, c->in[0]->shape, c->in[0]->rank, result);
    hg_tensor_release(made);
    return status;
}

hg_status ops_roll(ops_call *c) {
    uint32_t axis;
    hg_tensor *x, *made = NULL;
    if (c->options.axis_count) {
        HG_TRY(check_sizes(c, c->options.axis_count));
        for (uint32_t i = 0; i < c->options.axis_count; i++)
            HG_TRY(tensor_axis(c->options.axes[i], c->in[0]->rank, &axis));
        return roll(c, c->in[0], &c->out[0]);
    }
    HG_TRY(check_sizes(c, 1));
    HG_TRY(hg_tensor_view_1d(c->in[0], &x));
    hg_status status = roll(c, x, &made);
    hg_tensor_release(x);
    return status == HG_OK ? shape_back(c, made, &c->out[0]) : status;
}

/* For each element of the result the number of its own in x: counts[i] times i. */
static hg_status numbers_of(const ops_call *c, const int64_t *counts, bool one, uint64_t n,
                            hg_tensor **result) {
    uint64_t total = 0, at = 0;
    for (uint64_t i = 0; i < n; i++) {
        if (counts[one ? 0 : i] < 0) return ops_refuse(c, "a count is below 0");
        if (!hg_add_u64(total, (uint64_t)counts[one ? 0 : i], &total))
            return ops_refuse(c, "the counts are out of range");
    }
    int64_t *numbers = total > INT64_MAX / 8 ? NULL
                                             : hg_alloc((size_t)(total + 1) * sizeof *numbers);
    if (!numbers) return hg_fail_memory();
    for (uint64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < counts[one ? 0 : i]; k++) numbers[at++] = (int64_t)i;
    hg_status status = hg_tensor_from_host(c->run->state->executor, HG_TYPE_I64, numbers, total,
                                           &total, 1, result);
    hg_free(numbers);
    return status;
}

/* Each element as often as the second tensor says: one number for all, or one each. */
static hg_status repeat_each(ops_call *c) {
    const hg_tensor *given = c->in[1];
    hg_tensor *x = NULL, *cast = NULL, *numbers = NULL;
    uint32_t axis;
    if (given->type >= HG_TYPE_COUNT || hg_type_is_float((hg_type)given->type) ||
        hg_element_size(given->type) > 8)
        return ops_refuse(c, "counts are integers of at most 64 bits");
    HG_TRY(check_sizes(c, 0));
    HG_TRY(flat(c, &x, &axis));
    uint64_t n = x->shape[axis], count = tensor_numel(given->shape, given->rank);
    bool one = count == 1, fits = given->rank <= 1 && (one || count == n);
    int64_t *counts = fits ? hg_alloc((size_t)(count + 1) * sizeof *counts) : NULL;
    hg_status status = !fits    ? ops_refuse(c, "one count for all or one each expected")
                       : counts ? HG_OK
                                : hg_fail_memory();
    if (status == HG_OK) status = tensor_cast(c->run, given, HG_TYPE_I64, &cast);
    if (status == HG_OK) status = hg_tensor_to_host(cast, counts, count);
    if (status == HG_OK) status = numbers_of(c, counts, one, n, &numbers);
    if (status == HG_OK) {
        ops_call own = *c;
        const hg_tensor *in[] = {x, numbers};
        const int64_t along = axis;
        own.in = in;
        own.options.axes = &along;
        own.options.axis_count = 1;
        status = ops_take(&own);
        c->out[0] = own.out[0];
    }
    hg_error kept = *hg_error_record();
    hg_free(counts);
    hg_tensor_release(x);
    hg_tensor_release(cast);
    hg_tensor_release(numbers);
    *hg_error_record() = kept;
    return status;
}

hg_status ops_repeat(ops_call *c) {
    uint32_t axis;
    hg_tensor *x;
    if (c->in_count == 2) return repeat_each(c);
    HG_TRY(check_sizes(c, 1));
    HG_TRY(flat(c, &x, &axis));
    places_work w = like(c, x);
    hg_status status = HG_OK;
    if (!hg_mul_u64(x->shape[axis], c->options.sizes[0], &w.shape[axis]))
        status = ops_refuse(c, "options.sizes is out of range");
    places_operand_add(&w, x, 0);
    char coordinate[24];
    snprintf(coordinate, sizeof coordinate, "(@%u / v%u)", (unsigned)axis,
             (unsigned)places_number_add(&w, c->options.sizes[0]));
    hg_text_addf(&w.text, "    y[$y] = x0[$0");
    own_axis(&w, &w.text, axis, coordinate);
    hg_text_addf(&w.text, "]\n");
    if (status == HG_OK)
        status = tensor_places(c->run, &w, &c->out[0]);
    else
        hg_text_free(&w.text);
    hg_tensor_release(x);
    return status;
}

hg_status ops_tile(ops_call *c) {
    const hg_tensor *x = c->in[0];
    uint32_t count = c->options.size_count, rank = count > x->rank ? count : x->rank;
    if (rank > HG_TENSOR_AXES || (count && !c->options.sizes)) return check_sizes(c, x->rank);
    places_work w = {.name = c->name, .type = x->type, .rank = rank};
    for (uint32_t d = 0; d < rank; d++)
        w.shape[d] = d < rank - x->rank ? 1 : x->shape[d - (rank - x->rank)];
    places_operand_add(&w, x, rank - x->rank);
    hg_text_addf(&w.text, "    y[$y] = x0[$0");
    bool fits = true;
    for (uint32_t d = rank - count; d < rank && fits; d++) {
        uint64_t extent = w.shape[d];
        fits = hg_mul_u64(extent, c->options.sizes[d - (rank - count)], &w.shape[d]);
        if (extent <= 1 || w.shape[d] == extent) continue;
        char coordinate[24];
        snprintf(coordinate, sizeof coordinate, "(@%u %% v%u)", (unsigned)d,
                 (unsigned)places_number_add(&w, extent));
        own_axis(&w, &w.text, d, coordinate);
    }
    hg_text_addf(&w.text, "]\n");
    if (fits) return tensor_places(c->run, &w, &c->out[0]);
    hg_text_free(&w.text);
    return ops_refuse(c, "options.sizes are out of range");
}

/* ---- triangles ---- */

/* Whether column <= row + k. */
static void add_below(places_work *w, uint32_t row, int64_t k) {
    uint64_t size = k < 0 ? 0 - (uint64_t)k : (uint64_t)k;
    hg_text_addf(&w->text, k < 0 ? "@%u + v%u <= @%u" : "@%u <= @%u + v%u", (unsigned)row + 1,
                 k < 0 ? (unsigned)w->number_count : (unsigned)row,
                 k < 0 ? (unsigned)row : (unsigned)w->number_count);
    places_number_add(w, size);
}

static hg_status triangle(ops_call *c, bool lower) {
    const hg_tensor *x = c->in[0];
    double k = c->options.numbers[0];
    if (x->rank < 2) return ops_refuse(c, "two axes expected");
    if (!(k > -0x1p62 && k < 0x1p62)) return ops_refuse(c, "options.numbers[0] is out of range");
    places_work w = like(c, x);
    uint32_t row = x->rank - 2;
    places_operand_add(&w, x, 0);
    w.kept = 3u << row;
    hg_text_addf(&w.text, "    y[$y] = ");
    add_below(&w, row, (int64_t)k - !lower);
    hg_text_addf(&w.text, lower ? " ? x0[$0] : 0\n" : " ? 0 : x0[$0]\n");
    return tensor_places(c->run, &w, &c->out[0]);
}

hg_status ops_tril(ops_call *c) { return triangle(c, true); }
hg_status ops_triu(ops_call *c) { return triangle(c, false); }
