/* Fourier transforms: the instruction fft along one axis after another, of any length.
 * Must not know: layouts of programs. */
#include "library/texts.h"
#include "tensor/work.h"
#include <math.h>
#include <string.h>

typedef enum fourier_kind { PAIRS, TO_REAL, FROM_REAL } fourier_kind;
static const char *const CONSTANTS[3][2] = {
    [PAIRS] = {".const INVERSE = 0\n.const REAL = 0\n", ".const INVERSE = 1\n.const REAL = 0\n"},
    [TO_REAL] = {NULL, ".const INVERSE = 1\n.const REAL = 1\n"},
    [FROM_REAL] = {".const INVERSE = 0\n.const REAL = 1\n", NULL},
};

/* One transform along an axis, of n numbers there, real or complex ones. */
typedef struct transform {
    fourier_kind kind;
    bool inverse; /* divided by n */
    uint32_t axis;
    uint64_t n;
} transform;

/* ---- operands ---- */

/* x with `count` elements along an axis: cut, or with zeros behind them. */
static hg_status resized(ops_call *c, ops_kept *k, const hg_tensor *x, uint32_t axis,
                         uint64_t count, const hg_tensor **result) {
    hg_tensor **own = ops_keep(k);
    *result = x;
    if (x->shape[axis] == count) return HG_OK;
    if (x->shape[axis] > count) {
        HG_TRY(hg_tensor_narrow(x, (int32_t)axis, 0, count, own));
    } else {
        uint64_t sizes[2 * HG_TENSOR_AXES] = {0};
        ops_call pad = *c;
        sizes[2 * axis + 1] = count - x->shape[axis];
        pad.in = &x;
        pad.options = hg_ops_defaults();
        pad.options.sizes = sizes;
        pad.options.size_count = 2 * x->rank;
        HG_TRY(ops_pad(&pad));
        *own = pad.out[0];
    }
    *result = *own;
    return HG_OK;
}

/* What is transformed: complex numbers, or real ones of these types. */
static hg_status operand(ops_call *c, ops_kept *k, bool pairs, const hg_tensor **x) {
    hg_element type = ops_real(c->in[0]->type);
    if (!tensor_is_complex(type) && type != HG_TYPE_F64) type = HG_TYPE_F32;
    if (pairs && !tensor_is_complex(type)) type = tensor_complex_of(type);
    if (!pairs && tensor_is_complex(type)) return ops_refuse_complex(c);
    return ops_as(c, k, c->in[0], type, x);
}

/* ---- one axis ---- */

/* x, in C order, times a number. */
static hg_status scaled(ops_call *c, hg_tensor *x, double factor, hg_tensor **result) {
    tensor_formula f = {
        .name = c->name, .expression = "a * v0", .computes = x->type, .gives = x->type};
    const hg_tensor *in = x;
    return tensor_map(c->run, &f, &in, 1, x->shape, x->rank, &factor, 1, result);
}

/* The instruction along an axis of x, to rows of real numbers, each of all that lies behind the
 * axes in front of that one. */
static hg_status rows_of(ops_call *c, ops_kept *k, const transform *t, const hg_tensor *x,
                         uint32_t axis, const uint64_t rows[2], double scale, hg_tensor **result) {
    ops_arguments args = {.count = 0};
    hg_program *program;
    hg_tensor *packed;
    hg_type part = tensor_stored(x->type);
    tensor_result made = {.operand = "y", .type = part, .rank = 2, .shape = rows};
    HG_TRY(ops_packed(c, k, x, true, &packed));
    ops_array(&args, "x", packed);
    ops_size(&args, "batch", rows[0]);
    ops_size(&args, "length", rows[1]);
    ops_size(&args, "n", t->n);
    ops_size(&args, "inner", tensor_numel(x->shape + axis + 1, x->rank - axis - 1));
    HG_TRY(ops_program(c, hg_unpacked(&library_text_matrix), "fft", part,
                       CONSTANTS[t->kind][t->inverse], &program));
    HG_TRY(ops_launch(c, program, &args, &made, 1));
    *ops_keep(k) = *result = made.tensor;
    if (scale == 1) return HG_OK;
    hg_tensor **own = ops_keep(k);
    HG_TRY(scaled(c, made.tensor, scale, own));
    *result = *own;
    return HG_OK;
}

/* A copy where x is not in C order, nor with the axis as its last one. */
static hg_status along(ops_call *c, ops_kept *k, const transform *t, double scale,
                       const hg_tensor *from, const hg_tensor **result) {
    hg_tensor *last, *made, *view, **turned = ops_keep(k);
    const hg_tensor *x;
    uint64_t shape[HG_TENSOR_AXES];
    uint32_t rank = from->rank;
    hg_element part = tensor_stored(from->type);
    hg_element type = t->kind == TO_REAL ? part : tensor_complex_of(part);
    if (!t->n) return ops_refuse(c, "a signal of no elements has no transform");
    HG_TRY(resized(c, k, from, t->axis, t->kind == TO_REAL ? t->n / 2 + 1 : t->n, &x));
    HG_TRY(ops_axis_last(k, x, t->axis, &last));
    bool is_last = tensor_is_packed(last);
    uint32_t axis = is_last ? rank - 1 : t->axis;
    if (is_last) x = last;
    memcpy(shape, x->shape, sizeof shape);
    shape[axis] = t->kind == FROM_REAL ? t->n / 2 + 1 : t->n;
    uint64_t rows[2] = {tensor_numel(shape, axis),
                        tensor_numel(shape + axis, rank - axis) * tensor_parts(type)};
    if (tensor_numel(shape, rank)) {
        HG_TRY(rows_of(c, k, t, x, axis, rows, scale, &made));
    } else {
        hg_tensor **none = ops_keep(k);
        HG_TRY(ops_filled(c, type, "0", shape, rank, none));
        made = *none;
    }
    HG_TRY(ops_shaped(k, made, shape, rank, &view));
    view->type = type;
    HG_TRY(hg_tensor_move_axis(view, (int32_t)axis, (int32_t)t->axis, turned));
    *result = *turned;
    return HG_OK;
}

/* ---- several axes ---- */

/* What results of the instruction are multiplied by, of which inverse ones are divided by n.
 * reversed: the norm is that of the other direction. */
static hg_status add_scale(const ops_call *c, const transform *t, bool reversed, double *scale) {
    double n = (double)t->n, norm = c->options.numbers[0];
    if (norm != HG_FFT_BACKWARD && norm != HG_FFT_ORTHO && norm != HG_FFT_FORWARD)
        return ops_refuse(c, "numbers[0], the norm, is 0, 1 or 2");
    bool whole = norm == (t->inverse != reversed ? HG_FFT_BACKWARD : HG_FFT_FORWARD);
    *scale *= (t->inverse ? n : 1) / (norm == HG_FFT_ORTHO ? sqrt(n) : whole ? n : 1);
    return HG_OK;
}

/* The axes in their order; those of several: of as many sizes the last ones, else all. */
static hg_status axes_of(const ops_call *c, uint32_t rank, bool several, uint32_t *axes,
                         uint32_t *count) {
    const hg_ops_options *o = &c->options;
    uint32_t seen = 0;
    *count = 1;
    if (!several) {
        if (o->size_count > 1) return ops_refuse(c, "options.sizes is one number");
        return ops_one_axis(c, -1, rank, axes);
    }
    *count = o->axes ? o->axis_count : o->size_count ? o->size_count : rank;
    if (*count > rank || (o->axes && o->size_count && o->size_count != *count))
        return ops_refuse(c, "options.sizes and options.axes do not fit its axes");
    for (uint32_t i = 0; i < *count; i++) {
        HG_TRY(tensor_axis(o->axes ? o->axes[i] : (int64_t)(rank - *count + i), rank, &axes[i]));
        if (seen >> axes[i] & 1) return ops_refuse(c, "an axis is given twice");
        seen |= 1u << axes[i];
    }
    return HG_OK;
}

/* How an operation is made: kind and direction of the transform of its last axis; those along the
 * others are of complex numbers. */
typedef struct fourier {
    fourier_kind kind;
    bool inverse, several;
    bool conjugate; /* of the conjugate, or of real numbers the conjugate of, and the norm reversed
                     */
} fourier;

static hg_status conjugated(ops_call *c, ops_kept *k, const hg_tensor **x) {
    hg_tensor **made = ops_keep(k);
    tensor_formula f = {.name = c->name,
                        .expression = ops_complex_formula(HG_OPS_CONJ),
                        .computes = (*x)->type,
                        .gives = (*x)->type};
    HG_TRY(tensor_map(c->run, &f, x, 1, (*x)->shape, (*x)->rank, NULL, 0, made));
    *x = *made;
    return HG_OK;
}

static hg_status transforms(ops_call *c, ops_kept *k, const fourier *f) {
    uint32_t axes[HG_TENSOR_AXES], count = 0;
    transform steps[HG_TENSOR_AXES];
    double scale = 1;
    const hg_tensor *x;
    HG_TRY(operand(c, k, f->kind != FROM_REAL, &x));
    HG_TRY(axes_of(c, x->rank, f->several, axes, &count));
    if (!count) return ops_refuse(c, "it has no axis");
    for (uint32_t i = 0; i < count; i++) { /* the one of real numbers is the first, or the last */
        uint32_t from = f->kind == TO_REAL ? i : count - 1 - i;
        uint64_t extent = x->shape[axes[from]];
        bool real = from + 1 == count && f->kind != PAIRS;
        if (real && f->kind == TO_REAL) extent = extent ? 2 * (extent - 1) : 0;
        steps[i] = (transform){real ? f->kind : PAIRS, f->inverse, axes[from],
                               ops_size_or(c, from, extent)};
        if (steps[i].n > INT64_MAX / 32) return ops_refuse(c, "options.sizes is out of range");
        HG_TRY(add_scale(c, &steps[i], f->conjugate, &scale));
    }
    if (f->conjugate && f->kind == TO_REAL) HG_TRY(conjugated(c, k, &x));
    for (uint32_t i = 0; i < count; i++)
        HG_TRY(along(c, k, &steps[i], i + 1 == count ? scale : 1, x, &x));
    if (f->conjugate && f->kind == FROM_REAL) HG_TRY(conjugated(c, k, &x));
    return tensor_alias(x, &c->out[0]);
}

#define FOURIER(name, ...)                                \
    static hg_status name(ops_call *c, ops_kept *k) {     \
        return transforms(c, k, &(fourier){__VA_ARGS__}); \
    }                                                     \
    hg_status ops_##name(ops_call *c) { return ops_with_kept(c, name); }
FOURIER(fft, PAIRS, false, false, false)
FOURIER(ifft, PAIRS, true, false, false)
FOURIER(rfft, FROM_REAL, false, false, false)
FOURIER(irfft, TO_REAL, true, false, false)
FOURIER(fftn, PAIRS, false, true, false)
FOURIER(ifftn, PAIRS, true, true, false)
FOURIER(rfftn, FROM_REAL, false, true, false)
FOURIER(irfftn, TO_REAL, true, true, false)
FOURIER(hfft, TO_REAL, true, false, true)
FOURIER(ihfft, FROM_REAL, false, false, true)
#undef FOURIER

/* ---- frequencies ---- */

static hg_status frequencies(ops_call *c, bool real) {
    uint64_t n = ops_size_or(c, 0, 0), count = real ? n / 2 + 1 : n;
    hg_element type = c->options.type == HG_TYPE_COUNT ? HG_TYPE_F64 : c->options.type;
    double step = 1 / ((double)n * ops_number_or(c, 0, 1));
    if (!n || c->options.size_count != 1 || n > INT64_MAX / 32)
        return ops_refuse(c, "options.sizes is the number of elements");
    if (tensor_kind(type) != 3) return ops_refuse(c, "options.type is no type of floats");
    double v[] = {real ? (double)count : (double)((n - 1) / 2 + 1), (double)n, step};
    tensor_formula f = {.name = c->name,
                        .expression = "(f64(i0) < v0 ? f64(i0) : f64(i0) - v1) * v2",
                        .computes = HG_TYPE_F64,
                        .gives = type};
    return tensor_map(c->run, &f, NULL, 0, &count, 1, v, 3, &c->out[0]);
}

hg_status ops_fftfreq(ops_call *c) { return frequencies(c, false); }
hg_status ops_rfftfreq(ops_call *c) { return frequencies(c, true); }

static hg_status shift(ops_call *c, bool back) {
    int64_t axes[HG_TENSOR_AXES];
    uint64_t by[HG_TENSOR_AXES];
    uint32_t all[HG_TENSOR_AXES], count;
    ops_call own = *c;
    if (c->options.size_count) return ops_refuse(c, "options.sizes says nothing here");
    HG_TRY(axes_of(c, c->in[0]->rank, true, all, &count));
    if (!count) return tensor_cast(c->run, c->in[0], c->in[0]->type, &c->out[0]);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t half = c->in[0]->shape[all[i]] / 2;
        axes[i] = all[i];
        by[i] = back ? 0 - half : half;
    }
    own.options.axes = axes;
    own.options.axis_count = own.options.size_count = count;
    own.options.sizes = by;
    hg_status status = ops_roll(&own);
    c->out[0] = own.out[0];
    return status;
}

hg_status ops_fftshift(ops_call *c) { return shift(c, false); }
hg_status ops_ifftshift(ops_call *c) { return shift(c, true); }
