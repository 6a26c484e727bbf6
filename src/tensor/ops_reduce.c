/* Reductions over axes: sums, products, extremes, statistics, norms.
 * Must not know: layouts. */
#include "tensor/ops.h"
#include "tensor/rows.h"
#include <math.h>
#include <string.h>

/* ---- axes ---- */

hg_status ops_axes(const ops_call *c, uint32_t *axes) {
    uint32_t rank = c->in[0]->rank, axis;
    *axes = c->options.axes ? 0 : (1u << rank) - 1;
    for (uint32_t i = 0; c->options.axes && i < c->options.axis_count; i++) {
        HG_TRY(tensor_axis(c->options.axes[i], rank, &axis));
        if (*axes >> axis & 1) return ops_refuse(c, "an axis is given twice");
        *axes |= 1u << axis;
    }
    return HG_OK;
}

static bool is_float(hg_element type) {
    return type != HG_ELEMENT_BOOL && hg_type_is_float((hg_type)type);
}

/* What numbers of a type are calculated in: halves in f32, integers in f64. */
static hg_element real_of(hg_element type) {
    if (!is_float(type)) return HG_TYPE_F64;
    return tensor_size(type) == 2 ? HG_TYPE_F32 : type;
}

/* What they give: f64 of integers. */
static hg_element given_by(hg_element type) { return is_float(type) ? type : HG_TYPE_F64; }

/* ---- one fold ---- */

static uint64_t row_length(const hg_tensor *x, uint32_t axes) {
    uint64_t n = 1;
    for (uint32_t d = 0; d < x->rank; d++)
        if (axes >> d & 1) n *= x->shape[d];
    return n;
}

static hg_status fill(tensor_run *run, const char *name, hg_element type, double value,
                      const tensor_rows *r, hg_tensor **result) {
    tensor_formula f = {.name = name,
                        .expression = "v0",
                        .computes = tensor_stored(type),
                        .gives = tensor_stored(type)};
    HG_TRY(tensor_map(run, &f, NULL, 0, r->shape, r->rank, &value, 1, result));
    (*result)->type = type;
    return HG_OK;
}

static bool are_none(const tensor_rows *r) { return !tensor_numel(r->shape, r->rank) || !r->n; }

/* nothing: what a row without elements gives. */
static hg_status fold(tensor_run *run, const tensor_fold *f, const hg_tensor *x, uint32_t axes,
                      bool keepdims, double nothing, hg_tensor **result) {
    tensor_rows rows;
    HG_TRY(tensor_rows_of(run, x, axes, keepdims, &rows));
    hg_status status = are_none(&rows) ? fill(run, f->name, f->gives, nothing, &rows, result)
                                       : tensor_rows_fold(run, f, &rows, result);
    tensor_rows_end(&rows);
    return status;
}

/* ---- sums and products ---- */

/* The standard's: of integers the widest of their kind, of bool i64. */
static hg_element sum_type(const ops_call *c) {
    hg_element type = c->options.type, own = c->in[0]->type;
    if (type != HG_TYPE_COUNT) return type;
    if (own == HG_ELEMENT_BOOL) return HG_TYPE_I64;
    if (is_float(own) || tensor_size(own) >= 8) return own;
    return hg_type_is_signed((hg_type)own) ? HG_TYPE_I64 : HG_TYPE_U64;
}

static tensor_fold sum_of(const char *name, hg_element type, const char *load) {
    bool real = is_float(type);
    return (tensor_fold){.name = name,
                         .load = load,
                         .fold = "a + b",
                         .nothing = real ? "neg(A(0))" : "0",
                         .computes = real ? real_of(type) : type,
                         .gives = type};
}

static hg_status sum_or_product(ops_call *c, bool product) {
    uint32_t axes;
    hg_element type = sum_type(c);
    HG_TRY(ops_axes(c, &axes));
    if (!tensor_size(type) || type == HG_ELEMENT_BOOL)
        return ops_refuse(c, "options.type is no type of numbers");
    bool whole = !is_float(c->in[0]->type);
    tensor_fold f = sum_of(c->name, type,
                           whole && type == HG_TYPE_F16    ? "A(f16(a))"
                           : whole && type == HG_TYPE_BF16 ? "A(bf16(a))"
                                                           : "A(a)");
    f.word = product ? "product" : "sum";
    if (product) f.fold = "a * b", f.nothing = "1";
    return fold(c->run, &f, c->in[0], axes, c->options.keepdims, product, &c->out[0]);
}

hg_status ops_sum(ops_call *c) { return sum_or_product(c, false); }
hg_status ops_prod(ops_call *c) { return sum_or_product(c, true); }

hg_status ops_count_nonzero(ops_call *c) {
    uint32_t axes;
    HG_TRY(ops_axes(c, &axes));
    tensor_fold f = sum_of(c->name, HG_TYPE_I64, "a != 0 ? i64(1) : 0");
    return fold(c->run, &f, c->in[0], axes, c->options.keepdims, 0, &c->out[0]);
}

/* ---- extremes ---- */

/* A row has elements, or there is no row. */
static hg_status not_empty(const ops_call *c, uint32_t axes) {
    const hg_tensor *x = c->in[0];
    if (row_length(x, axes)) return HG_OK;
    for (uint32_t d = 0; d < x->rank; d++)
        if (!(axes >> d & 1) && !x->shape[d]) return HG_OK;
    return ops_refuse(c, "there is no element to choose from");
}

static tensor_fold extreme_of(const char *name, hg_element type, bool largest) {
    tensor_fold f = {.name = name, .load = "a", .computes = type, .gives = type};
    f.fold = is_float(type) ? (largest ? "a != a ? a : b != b ? b : max(a, b)"
                                       : "a != a ? a : b != b ? b : min(a, b)")
                            : (largest ? "max(a, b)" : "min(a, b)");
    if (!is_float(type)) f.word = largest ? "max" : "min";
    return f;
}

static hg_status extreme(ops_call *c, bool largest) {
    uint32_t axes;
    HG_TRY(ops_axes(c, &axes));
    HG_TRY(not_empty(c, axes));
    tensor_fold f = extreme_of(c->name, tensor_stored(c->in[0]->type), largest);
    HG_TRY(fold(c->run, &f, c->in[0], axes, c->options.keepdims, 0, &c->out[0]));
    c->out[0]->type = c->in[0]->type;
    return HG_OK;
}

hg_status ops_max(ops_call *c) { return extreme(c, true); }
hg_status ops_min(ops_call *c) { return extreme(c, false); }

static hg_status place(ops_call *c, const char *instruction) {
    uint32_t axes;
    tensor_rows rows;
    if (c->options.axes && c->options.axis_count > 1)
        return ops_refuse(c, "one axis is expected, or none for all elements");
    HG_TRY(ops_axes(c, &axes));
    HG_TRY(not_empty(c, axes));
    HG_TRY(tensor_rows_of(c->run, c->in[0], axes, c->options.keepdims, &rows));
    tensor_work work = {.instruction = instruction, .operation = c->name};
    hg_status status = are_none(&rows)
                           ? fill(c->run, c->name, HG_TYPE_I64, 0, &rows, &c->out[0])
                           : tensor_rows_call(c->run, &work, NULL, &rows, HG_TYPE_I64, &c->out[0]);
    tensor_rows_end(&rows);
    return status;
}

hg_status ops_argmax(ops_call *c) { return place(c, "arg_max"); }
hg_status ops_argmin(ops_call *c) { return place(c, "arg_min"); }

static hg_status truth(ops_call *c, const char *both) {
    uint32_t axes;
    HG_TRY(ops_axes(c, &axes));
    tensor_fold f = {.name = c->name,
                     .load = "a != 0 ? u8(1) : 0",
                     .fold = both,
                     .computes = HG_TYPE_U8,
                     .gives = HG_TYPE_U8};
    if (c->in[0]->type == HG_ELEMENT_BOOL) f.word = *both == 'm' ? "min" : "max";
    HG_TRY(fold(c->run, &f, c->in[0], axes, c->options.keepdims, *both == 'm', &c->out[0]));
    c->out[0]->type = HG_ELEMENT_BOOL;
    return HG_OK;
}

hg_status ops_all(ops_call *c) { return truth(c, "min(a, b)"); }
hg_status ops_any(ops_call *c) { return truth(c, "a | b"); }

/* ---- statistics ---- */

/* An expression of elements of x and, where there is one, of another tensor that broadcasts to its
 * shape, and of v0. */
static hg_status map(tensor_run *run, const char *name, const char *expression, const hg_tensor *x,
                     const hg_tensor *other, double v0, hg_element computes, hg_element gives,
                     hg_tensor **result) {
    const hg_tensor *inputs[] = {x, other};
    tensor_formula f = {
        .name = name, .expression = expression, .computes = computes, .gives = gives};
    return tensor_map(run, &f, inputs, other ? 2 : 1, x->shape, x->rank, &v0, 1, result);
}

static hg_status mean(tensor_run *run, const char *name, const hg_tensor *x, uint32_t axes,
                      bool keepdims, hg_element gives, hg_tensor **result) {
    hg_element real = real_of(x->type);
    tensor_fold f = sum_of(name, real, "A(a)");
    hg_tensor *sum = NULL;
    if (real == x->type) f.word = "sum";
    HG_TRY(fold(run, &f, x, axes, keepdims, 0, &sum));
    hg_status status = map(run, name, "a / v0", sum, NULL, (double)row_length(x, axes), real, gives,
                           result);
    hg_tensor_release(sum);
    return status;
}

hg_status ops_mean(ops_call *c) {
    uint32_t axes;
    HG_TRY(ops_axes(c, &axes));
    return mean(c->run, c->name, c->in[0], axes, c->options.keepdims, given_by(c->in[0]->type),
                &c->out[0]);
}

/* The sum of squares of what is left of elements without the mean, over their number less
 * numbers[0], the correction. */
static hg_status variance(ops_call *c, const char *finish) {
    const hg_tensor *x = c->in[0];
    hg_element real = real_of(x->type);
    hg_tensor *middle = NULL, *squares = NULL, *sum = NULL;
    uint32_t axes;
    HG_TRY(ops_axes(c, &axes));
    double left = (double)row_length(x, axes) - c->options.numbers[0];
    tensor_fold f = sum_of(c->name, real, "a");
    f.word = "sum";
    hg_status status = mean(c->run, c->name, x, axes, true, real, &middle);
    if (status == HG_OK)
        status = map(c->run, c->name, "(a - b) * (a - b)", x, middle, 0, real, real, &squares);
    if (status == HG_OK) status = fold(c->run, &f, squares, axes, c->options.keepdims, 0, &sum);
    if (status == HG_OK)
        status = map(c->run, c->name, finish, sum, NULL, left > 0 ? left : 0, real,
                     given_by(x->type), &c->out[0]);
    hg_tensor_release(middle);
    hg_tensor_release(squares);
    hg_tensor_release(sum);
    return status;
}

hg_status ops_var(ops_call *c) { return variance(c, "a / v0"); }
hg_status ops_std(ops_call *c) { return variance(c, "sqrt(a / v0)"); }

/* log of the sum of exp(a - m), plus m, the largest; 0 in its place where that is no number. */
hg_status ops_logsumexp(ops_call *c) {
    const hg_tensor *x = c->in[0];
    hg_element real = real_of(x->type);
    hg_tensor *most = NULL, *kept = NULL, *powers = NULL, *sum = NULL;
    uint32_t axes;
    HG_TRY(ops_axes(c, &axes));
    tensor_fold largest = extreme_of(c->name, real, true), f = sum_of(c->name, real, "a");
    largest.load = "A(a)";
    f.word = "sum";
    hg_status status = fold(c->run, &largest, x, axes, true, -INFINITY, &most);
    if (status == HG_OK)
        status = fold(c->run, &largest, x, axes, c->options.keepdims, -INFINITY, &kept);
    if (status == HG_OK)
        status = map(c->run, c->name, "exp(a - (b - b == 0 ? b : 0))", x, most, 0, real, real,
                     &powers);
    if (status == HG_OK) status = fold(c->run, &f, powers, axes, c->options.keepdims, 0, &sum);
    if (status == HG_OK)
        status = map(c->run, c->name, "log(a) + (b - b == 0 ? b : 0)", sum, kept, 0, real,
                     given_by(x->type), &c->out[0]);
    hg_tensor_release(most);
    hg_tensor_release(kept);
    hg_tensor_release(powers);
    hg_tensor_release(sum);
    return status;
}

/* ---- norms ---- */

/* sum of |a| to the power p, to the power 1 / p; p = numbers[0] is 2 where it is not given. */
hg_status ops_vector_norm(ops_call *c) {
    const hg_tensor *x = c->in[0];
    hg_element real = real_of(x->type), gives = given_by(x->type);
    double p = c->options.flag ? c->options.numbers[0] : 2;
    hg_tensor *powers = NULL, *sum = NULL;
    uint32_t axes;
    HG_TRY(ops_axes(c, &axes));
    if (p != p) return ops_refuse(c, "numbers[0], its order, is NaN");
    tensor_fold f = sum_of(c->name, real, "A(a) * A(a)");
    const char *finish = p == 2 ? "sqrt(a)" : "a";
    if (isinf(p)) {
        f = extreme_of(c->name, real, p > 0);
        if (p < 0) HG_TRY(not_empty(c, axes));
    }
    if (isinf(p) || p == 1) f.load = "abs(A(a))";
    if (p == 0) f.load = "a != 0 ? A(1) : A(0)";
    if (isinf(p) || p == 0 || p == 1 || p == 2) {
        HG_TRY(fold(c->run, &f, x, axes, c->options.keepdims, 0, &sum));
    } else {
        f.load = "a";
        finish = "pow(a, 1 / v0)";
        HG_TRY(map(c->run, c->name, "pow(abs(a), v0)", x, NULL, p, real, real, &powers));
        hg_status status = fold(c->run, &f, powers, axes, c->options.keepdims, 0, &sum);
        hg_tensor_release(powers);
        HG_TRY(status);
    }
    hg_status status = map(c->run, c->name, finish, sum, NULL, p, real, gives, &c->out[0]);
    hg_tensor_release(sum);
    return status;
}
