/* Operations of networks: instructions of the table. All compute in the common type of their
 * inputs, integers as floats, but for the largest of windows.
 * Must not know: layouts of memory, devices. */
#include "library/library.h"
#include "tensor/work.h"
#include <math.h>
#include <string.h>

static uint64_t last_extent(const hg_tensor *x) { return x->shape[x->rank - 1]; }

/* All inputs in one type of floats. */
static hg_status floats(ops_call *c, ops_kept *k, const hg_tensor **x) {
    hg_element type;
    HG_TRY(ops_common(c, c->in_count, true, &type));
    for (uint32_t i = 0; i < c->in_count; i++) HG_TRY(ops_as(c, k, c->in[i], type, &x[i]));
    return HG_OK;
}

/* An array of an instruction; packed where its axes are taken as one. */
static hg_status give(ops_call *c, ops_kept *k, ops_arguments *a, const char *name,
                      const hg_tensor *x) {
    hg_tensor *packed;
    HG_TRY(ops_packed(c, k, x, false, &packed));
    ops_array(a, name, packed);
    return HG_OK;
}

static hg_status empty(ops_call *c, const hg_tensor *x) {
    return ops_filled(c, x->type, "0", x->shape, x->rank, &c->out[0]);
}

/* ---- softmax ---- */

/* Rows that lie one behind the other, whichever axis they are. */
static hg_status along_rows(ops_call *c, const char *instruction, const hg_tensor *rows,
                            uint32_t axis) {
    ops_arguments args = {.count = 0};
    ops_array(&args, "input", rows);
    HG_TRY(ops_instruction(c, instruction, &args, "output", rows->type, rows->shape, rows->rank,
                           &c->out[0]));
    return ops_axis_back(c, axis);
}

static hg_status along_axis(ops_call *c, ops_kept *k, const char *instruction) {
    const hg_tensor *x;
    hg_tensor *rows, *packed, *lines, *made;
    uint32_t axis;
    ops_arguments args = {.count = 0};
    HG_TRY(floats(c, k, &x));
    HG_TRY(ops_one_axis(c, -1, x->rank, &axis));
    if (!tensor_numel(x->shape, x->rank)) return empty(c, x);
    HG_TRY(ops_axis_last(k, x, axis, &rows));
    if (hg_tensor_is_contiguous(rows)) return along_rows(c, instruction, rows, axis);
    uint64_t shape[3] = {tensor_numel(x->shape, axis), x->shape[axis],
                         tensor_numel(x->shape + axis + 1, x->rank - axis - 1)};
    HG_TRY(ops_packed(c, k, x, false, &packed));
    HG_TRY(ops_shaped(k, packed, shape, 3, &lines));
    ops_array(&args, "input", lines);
    ops_size(&args, "inner", shape[2]);
    hg_tensor **own = ops_keep(k);
    HG_TRY(ops_instruction(c, instruction, &args, "output", x->type, shape, 3, own));
    HG_TRY(ops_shaped(k, *own, x->shape, x->rank, &made));
    c->out[0] = hg_tensor_retain(made);
    return HG_OK;
}
static hg_status softmax(ops_call *c, ops_kept *k) { return along_axis(c, k, "softmax"); }
static hg_status log_softmax(ops_call *c, ops_kept *k) { return along_axis(c, k, "log_softmax"); }
hg_status ops_softmax(ops_call *c) { return ops_with_kept(c, softmax); }
hg_status ops_log_softmax(ops_call *c) { return ops_with_kept(c, log_softmax); }

/* ---- norms ---- */

/* How many of the last axes a norm is over: those of gamma, else options.axis_count or 1. */
static hg_status norm_axes(const ops_call *c, uint64_t *n, uint32_t *axes) {
    const hg_tensor *x = c->in[0];
    *axes = c->in_count > 1 ? c->in[1]->rank : 1;
    if (!*axes || *axes > x->rank) return ops_mismatch(c, "gamma has the last axes of the first");
    *n = tensor_numel(x->shape + x->rank - *axes, *axes);
    for (uint32_t i = 1; i < c->in_count; i++)
        if (c->in[i]->rank != *axes ||
            memcmp(c->in[i]->shape, x->shape + x->rank - *axes, *axes * sizeof *x->shape) != 0)
            return ops_mismatch(c, "gamma and beta have the last axes of the first");
    return HG_OK;
}

/* gamma or beta as n numbers: ones or zeros where it is left out. */
static hg_status factors(ops_call *c, ops_kept *k, const hg_tensor *given, const char *otherwise,
                         hg_element type, uint64_t n, hg_tensor **flat) {
    if (given) {
        HG_TRY(ops_packed(c, k, given, false, flat));
        return ops_shaped(k, *flat, &n, 1, flat);
    }
    hg_tensor **own = ops_keep(k);
    HG_TRY(ops_filled(c, type, otherwise, &n, 1, own));
    *flat = *own;
    return HG_OK;
}

/* Of each line the mean and 1 / deviation, in what they are calculated in. */
static const char *const STATISTICS[] = {"mean", "inverse_deviation"};

/* Results of no lines. */
static hg_status no_rows(ops_call *c, const hg_tensor *x, hg_type wide, const uint64_t *shape,
                         uint32_t statistics) {
    if (statistics && tensor_numel(shape, x->rank)) return ops_refuse(c, "the mean of no elements");
    HG_TRY(empty(c, x));
    for (uint32_t i = 1; i <= statistics; i++)
        HG_TRY(ops_filled(c, wide, "0", shape, x->rank, &c->out[i]));
    return HG_OK;
}

static hg_status row_norm(ops_call *c, ops_kept *k, bool centred, uint32_t statistics) {
    const tensor_work work = {.instruction = centred ? "layer_norm" : "rms_norm",
                              .operation = c->name};
    const hg_tensor *x[3] = {NULL};
    uint64_t n = 1, lines[HG_TENSOR_AXES];
    uint32_t axes;
    hg_tensor *rows, *flat, *shaped;
    ops_arguments args = {.count = 0};
    HG_TRY(norm_axes(c, &n, &axes));
    HG_TRY(floats(c, k, x));
    hg_type wide = library_sum_type((hg_type)x[0]->type);
    memcpy(lines, x[0]->shape, sizeof lines);
    for (uint32_t i = 1; i <= axes; i++) lines[x[0]->rank - i] = 1;
    uint64_t all = tensor_numel(x[0]->shape, x[0]->rank);
    if (!all) return no_rows(c, x[0], wide, lines, statistics);
    HG_TRY(ops_packed(c, k, x[0], false, &rows));
    uint64_t shape[2] = {all / n, n};
    HG_TRY(ops_shaped(k, rows, shape, 2, &rows));
    ops_array(&args, "input", rows);
    HG_TRY(factors(c, k, x[1], "1", x[0]->type, n, &flat));
    ops_array(&args, "gamma", flat);
    if (centred) {
        HG_TRY(factors(c, k, x[2], "0", x[0]->type, n, &flat));
        ops_array(&args, "beta", flat);
    }
    ops_number(&args, "eps", HG_TYPE_F64, ops_number_or(c, 0, 1e-5));
    tensor_result made[3] = {{.operand = "output", .type = x[0]->type, .rank = 2, .shape = shape}};
    for (uint32_t i = 0; i < statistics; i++)
        made[1 + i] = (tensor_result){
            .operand = STATISTICS[i], .type = wide, .rank = x[0]->rank, .shape = lines};
    HG_TRY(tensor_call(c->run, &work, args.args, args.count, made, 1 + statistics));
    *ops_keep(k) = made[0].tensor;
    for (uint32_t i = 1; i <= statistics; i++) c->out[i] = made[i].tensor;
    HG_TRY(ops_shaped(k, made[0].tensor, x[0]->shape, x[0]->rank, &shaped));
    c->out[0] = hg_tensor_retain(shaped);
    return HG_OK;
}
static hg_status layer_norm(ops_call *c, ops_kept *k) { return row_norm(c, k, true, 0); }
static hg_status layer_norm_statistics(ops_call *c, ops_kept *k) { return row_norm(c, k, true, 2); }
static hg_status rms_norm(ops_call *c, ops_kept *k) { return row_norm(c, k, false, 0); }
hg_status ops_layer_norm(ops_call *c) { return ops_with_kept(c, layer_norm); }
hg_status ops_layer_norm_statistics(ops_call *c) { return ops_with_kept(c, layer_norm_statistics); }
hg_status ops_rms_norm(ops_call *c) { return ops_with_kept(c, rms_norm); }

/* Inputs behind the first one have an element for each channel, which is axis 1. */
static hg_status channel_norm(ops_call *c, ops_kept *k, bool groups) {
    static const char *const names[] = {"input", "gamma", "beta", "mean", "variance"};
    const hg_tensor *x[5];
    ops_arguments args = {.count = 0};
    if (c->in[0]->rank < 2) return ops_mismatch(c, "[batch, channels, ...] expected");
    uint64_t channels = c->in[0]->shape[1], count = ops_size_or(c, 0, 0);
    for (uint32_t i = 1; i < c->in_count; i++)
        if (c->in[i]->rank != 1 || c->in[i]->shape[0] != channels)
            return ops_mismatch(c, "the others have an element for each channel, axis 1");
    if (groups && (!count || channels % count))
        return ops_mismatch(c, "sizes[0], the groups, does not divide the channels");
    HG_TRY(floats(c, k, x));
    if (!tensor_numel(x[0]->shape, x[0]->rank)) return empty(c, x[0]);
    for (uint32_t i = 0; i < c->in_count; i++) HG_TRY(give(c, k, &args, names[i], x[i]));
    if (groups) ops_size(&args, "groups", count);
    ops_number(&args, "eps", HG_TYPE_F64, ops_number_or(c, 0, 1e-5));
    return ops_instruction(c, groups ? "group_norm" : "batch_norm", &args, "output", x[0]->type,
                           x[0]->shape, x[0]->rank, &c->out[0]);
}
static hg_status batch_norm(ops_call *c, ops_kept *k) { return channel_norm(c, k, false); }
static hg_status group_norm(ops_call *c, ops_kept *k) { return channel_norm(c, k, true); }
hg_status ops_batch_norm(ops_call *c) { return ops_with_kept(c, batch_norm); }
hg_status ops_group_norm(ops_call *c) { return ops_with_kept(c, group_norm); }

/* ---- windows ---- */

enum { MOST_AXES = 3 };

/* Windows along the last axes of an array. */
typedef struct windows {
    uint32_t axes;
    uint64_t size[MOST_AXES], window[MOST_AXES], stride[MOST_AXES], before[MOST_AXES],
        after[MOST_AXES], dilation[MOST_AXES], out[MOST_AXES];
} windows;

/* options.sizes from *at on, a number for each axis, or those of `otherwise`. */
static void read_sizes(const ops_call *c, const windows *w, uint32_t *at, const uint64_t *otherwise,
                       uint64_t *to) {
    for (uint32_t i = 0; i < w->axes; i++) to[i] = ops_size_or(c, (*at)++, otherwise[i]);
}

static const uint64_t ONES[MOST_AXES] = {1, 1, 1}, ZEROS[MOST_AXES] = {0, 0, 0};

/* Numbers that calculations of extents take. */
static hg_status check_windows(const ops_call *c, const windows *w) {
    const uint64_t most = UINT64_C(1) << 31;
    const struct {
        const char *name;
        const uint64_t *numbers;
        uint64_t least;
    } all[] = {{"window", w->window, 1},  {"stride", w->stride, 1}, {"dilation", w->dilation, 1},
               {"padding", w->before, 0}, {"padding", w->after, 0}, {"result", w->out, 0},
               {"input", w->size, 0}};
    for (uint32_t i = 0; i < w->axes; i++)
        for (size_t k = 0; k < HG_COUNT_OF(all); k++) {
            uint64_t number = all[k].numbers[i];
            if (number >= all[k].least && number <= most) continue;
            return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                           "%s: %s of %llu along axis %u of the window, where the input has %llu: "
                           "%llu to 2^31 expected",
                           c->name, all[k].name, (unsigned long long)number, (unsigned)i,
                           (unsigned long long)w->size[i], (unsigned long long)all[k].least);
        }
    return HG_OK;
}

/* Extents of the result; false: a window does not fit. */
static bool find_outs(windows *w) {
    for (uint32_t i = 0; i < w->axes; i++) {
        uint64_t reach = (w->window[i] - 1) * w->dilation[i] + 1,
                 all = w->size[i] + w->before[i] + w->after[i];
        if (all < reach) return false;
        w->out[i] = (all - reach) / w->stride[i] + 1;
    }
    return true;
}

static void give_steps(ops_arguments *args, const windows *w) {
    ops_tuple(args, "stride", w->stride, w->axes);
    ops_tuple(args, "padding", w->before, w->axes);
    ops_tuple(args, "dilation", w->dilation, w->axes);
}

static void give_windows(ops_arguments *args, const windows *w) {
    ops_sizes(args, "size", w->size, w->axes);
    ops_sizes(args, "window", w->window, w->axes);
    give_steps(args, w);
}

/* ---- convolutions ---- */

static hg_status give_bias(ops_call *c, ops_kept *k, ops_arguments *args, const hg_tensor *bias,
                           uint64_t channels) {
    if (!bias) return HG_OK;
    if (bias->rank != 1 || bias->shape[0] != channels)
        return ops_mismatch(c, "the bias has an element for each channel of the result");
    return give(c, k, args, "bias", bias);
}

/* A convolution's windows, from its arrays and from sizes: stride, padding and dilation of each
 * axis, groups, which it returns. *at: behind them. */
static uint64_t read_convolution(const ops_call *c, const hg_tensor *const *x, windows *w,
                                 uint32_t *at) {
    memcpy(w->size, x[0]->shape + 2, w->axes * sizeof *w->size);
    memcpy(w->window, x[1]->shape + 2, w->axes * sizeof *w->window);
    read_sizes(c, w, at, ONES, w->stride);
    read_sizes(c, w, at, ZEROS, w->before);
    memcpy(w->after, w->before, sizeof w->after);
    read_sizes(c, w, at, ONES, w->dilation);
    return ops_size_or(c, (*at)++, 1);
}

/* [batch, channels, size...] and [out, channels / groups, window...]; sizes: stride, padding and
 * dilation of each axis, groups. */
static hg_status convolve(ops_call *c, ops_kept *k, uint32_t axes) {
    const hg_tensor *x[3] = {NULL};
    ops_arguments args = {.count = 0};
    windows w = {.axes = axes};
    uint64_t shape[2 + MOST_AXES];
    uint32_t at = 0;
    if (c->in[0]->rank != axes + 2 || c->in[1]->rank != axes + 2)
        return ops_mismatch(c, "[batch, channels, size...] and [out, channels / groups, window...] "
                               "expected");
    HG_TRY(floats(c, k, x));
    const uint64_t *own = x[0]->shape, *kernel = x[1]->shape;
    uint64_t groups = read_convolution(c, x, &w, &at);
    if (!groups || own[1] % groups || kernel[0] % groups || kernel[1] != own[1] / groups)
        return ops_mismatch(c, "channels of the kernel are in_channels / groups, and groups divide "
                               "both numbers of channels");
    HG_TRY(give_bias(c, k, &args, x[2], kernel[0]));
    HG_TRY(check_windows(c, &w));
    if (!find_outs(&w)) return ops_mismatch(c, "the kernel is larger than the padded input");
    shape[0] = own[0];
    shape[1] = kernel[0];
    memcpy(shape + 2, w.out, axes * sizeof *own);
    if (!tensor_numel(shape, axes + 2))
        return ops_filled(c, x[0]->type, "0", shape, axes + 2, &c->out[0]);
    if (!own[1]) return ops_mismatch(c, "there are no channels");
    HG_TRY(give(c, k, &args, "input", x[0]));
    HG_TRY(give(c, k, &args, "kernel", x[1]));
    ops_size(&args, "groups", groups);
    if (axes == 2) { /* its sizes are told by its arrays */
        give_steps(&args, &w);
    } else {
        ops_size(&args, "batch", own[0]);
        ops_size(&args, "in_channels", own[1]);
        ops_size(&args, "out_channels", kernel[0]);
        give_windows(&args, &w);
    }
    return ops_instruction(c, axes == 2 ? "conv2d" : "conv", &args, "output", x[0]->type, shape,
                           axes + 2, &c->out[0]);
}
static hg_status conv1d(ops_call *c, ops_kept *k) { return convolve(c, k, 1); }
static hg_status conv2d(ops_call *c, ops_kept *k) { return convolve(c, k, 2); }
static hg_status conv3d(ops_call *c, ops_kept *k) { return convolve(c, k, 3); }
hg_status ops_conv1d(ops_call *c) { return ops_with_kept(c, conv1d); }
hg_status ops_conv2d(ops_call *c) { return ops_with_kept(c, conv2d); }
hg_status ops_conv3d(ops_call *c) { return ops_with_kept(c, conv3d); }

/* Extents of what a transposed convolution makes where the call does not tell them; false: none is
 * left. */
static bool find_reached(windows *w) {
    for (uint32_t i = 0; i < w->axes; i++) {
        if (!w->size[i]) return false;
        uint64_t all = (w->size[i] - 1) * w->stride[i] + (w->window[i] - 1) * w->dilation[i] + 1;
        if (!w->out[i] && all <= 2 * w->before[i]) return false;
        if (!w->out[i]) w->out[i] = all - 2 * w->before[i];
    }
    return true;
}

/* [batch, channels, size...] and [channels, out / groups, window...]; sizes as convolve, behind
 * them extents of the result. */
static hg_status conv_transpose(ops_call *c, ops_kept *k) {
    const hg_tensor *x[3] = {NULL};
    ops_arguments args = {.count = 0};
    uint32_t rank = c->in[0]->rank, axes = rank - 2, at = 0;
    windows w = {.axes = axes};
    uint64_t shape[2 + MOST_AXES];
    if (rank < 3 || rank > 2 + MOST_AXES || c->in[1]->rank != rank)
        return ops_mismatch(c, "[batch, channels, size...] and [channels, out / groups, window...] "
                               "of 1 to 3 axes expected");
    HG_TRY(floats(c, k, x));
    const uint64_t *own = x[0]->shape, *kernel = x[1]->shape;
    uint64_t groups = read_convolution(c, x, &w, &at);
    read_sizes(c, &w, &at, ZEROS, w.out);
    if (!groups || own[1] != kernel[0] || own[1] % groups)
        return ops_mismatch(c, "the kernel has as many channels first, and groups divide them");
    if (kernel[1] > UINT64_MAX / groups) return ops_mismatch(c, "too many channels");
    HG_TRY(give_bias(c, k, &args, x[2], kernel[1] * groups));
    HG_TRY(check_windows(c, &w));
    if (!find_reached(&w))
        return ops_mismatch(c, "the padding leaves no element of the result, or the input has "
                               "none");
    shape[0] = own[0];
    shape[1] = kernel[1] * groups;
    memcpy(shape + 2, w.out, axes * sizeof *own);
    if (!tensor_numel(shape, rank)) return ops_filled(c, x[0]->type, "0", shape, rank, &c->out[0]);
    if (!own[1]) return ops_mismatch(c, "there are no channels");
    HG_TRY(give(c, k, &args, "input", x[0]));
    HG_TRY(give(c, k, &args, "kernel", x[1]));
    ops_size(&args, "batch", own[0]);
    ops_size(&args, "in_channels", own[1]);
    ops_size(&args, "out_channels", shape[1]);
    ops_size(&args, "groups", groups);
    give_windows(&args, &w);
    ops_sizes(&args, "out", w.out, axes);
    return ops_instruction(c, "conv_transpose", &args, "output", x[0]->type, shape, rank,
                           &c->out[0]);
}
hg_status ops_conv_transpose(ops_call *c) { return ops_with_kept(c, conv_transpose); }

/* ---- pools ---- */

/* Where windows may begin. */
static bool find_pools(windows *w, bool told) {
    if (!told) return find_outs(w);
    windows fit = *w;
    const bool fits = find_outs(&fit);
    for (uint32_t i = 0; i < w->axes; i++) {
        if (!w->out[i] && fits) w->out[i] = fit.out[i];
        if (!w->out[i] || (w->out[i] - 1) * w->stride[i] >= w->size[i] + w->before[i] + w->after[i])
            return false;
    }
    return true;
}

/* The largest, and where `places` is asked for its place in the plane, or the mean. */
static hg_status pool(ops_call *c, ops_kept *k, windows *w, bool told, bool largest, bool places) {
    const hg_tensor *x = c->in[0];
    ops_arguments args = {.count = 0};
    uint32_t first = x->rank - w->axes;
    uint64_t planes = tensor_numel(x->shape, first), made[1 + MOST_AXES] = {planes},
             shape[HG_TENSOR_AXES];
    if (!largest || tensor_is_complex(x->type) || x->type == HG_ELEMENT_BOOL ||
        hg_type_size_bytes((hg_type)x->type) > 8)
        HG_TRY(floats(c, k, &x));
    memcpy(shape, x->shape, sizeof shape);
    memcpy(w->size, x->shape + first, w->axes * sizeof *shape);
    HG_TRY(check_windows(c, w));
    if (!find_pools(w, told))
        return ops_mismatch(c, "the window is larger than the padded input, or begins behind it, "
                               "or the input has no element");
    for (uint32_t i = 0; i < w->axes; i++) shape[first + i] = made[1 + i] = w->out[i];
    if (!tensor_numel(shape, x->rank)) {
        if (places) HG_TRY(ops_filled(c, (hg_element)HG_TYPE_I64, "0", shape, x->rank, &c->out[1]));
        return ops_filled(c, x->type, "0", shape, x->rank, &c->out[0]);
    }
    HG_TRY(give(c, k, &args, "input", x));
    ops_size(&args, "planes", planes);
    give_windows(&args, w);
    ops_tuple(&args, "padding_end", w->after, w->axes);
    ops_sizes(&args, "out", w->out, w->axes);
    if (!largest) ops_flag(&args, "counted", c->options.flag);
    const tensor_work work = {.instruction = largest ? "max_pool" : "avg_pool",
                              .operation = c->name};
    tensor_result results[2] = {
        {.operand = "output", .type = x->type, .rank = 1 + w->axes, .shape = made},
        {.operand = "places", .type = (hg_element)HG_TYPE_I64, .rank = 1 + w->axes, .shape = made}};
    HG_TRY(tensor_call(c->run, &work, args.args, args.count, results, 1 + places));
    for (uint32_t i = 0; i < 1 + (uint32_t)places; i++) *ops_keep(k) = results[i].tensor;
    for (uint32_t i = 0; i < 1 + (uint32_t)places; i++) {
        hg_tensor *view;
        HG_TRY(ops_shaped(k, results[i].tensor, shape, x->rank, &view));
        c->out[i] = hg_tensor_retain(view);
    }
    return HG_OK;
}

/* Of [batch, channels, size...]; sizes: window, stride, padding in front and behind, dilation and
 * extents of the result, of each axis. */
static hg_status pool_all(ops_call *c, ops_kept *k, bool largest, bool places) {
    windows w = {.axes = c->in[0]->rank - 2};
    uint32_t at = 0;
    if (c->in[0]->rank < 3 || w.axes > MOST_AXES)
        return ops_mismatch(c, "[batch, channels, size...] of 1 to 3 axes expected");
    read_sizes(c, &w, &at, ZEROS, w.window);
    read_sizes(c, &w, &at, w.window, w.stride);
    read_sizes(c, &w, &at, ZEROS, w.before);
    read_sizes(c, &w, &at, w.before, w.after);
    read_sizes(c, &w, &at, ONES, w.dilation);
    bool told = c->options.size_count > at;
    read_sizes(c, &w, &at, ZEROS, w.out);
    return pool(c, k, &w, told, largest, places);
}

/* Of the last axes; sizes: window, stride, padding. */
static hg_status pool_last(ops_call *c, ops_kept *k, uint32_t axes, bool largest) {
    windows w = {.axes = axes, .dilation = {1, 1, 1}};
    uint32_t at = 0;
    if (c->in[0]->rank < axes) return ops_mismatch(c, "an axis for each of the window expected");
    read_sizes(c, &w, &at, ZEROS, w.window);
    read_sizes(c, &w, &at, w.window, w.stride);
    read_sizes(c, &w, &at, ZEROS, w.before);
    memcpy(w.after, w.before, sizeof w.after);
    for (uint32_t i = 0; i < axes; i++)
        if (w.window[i] && w.before[i] > w.window[i] / 2)
            return ops_mismatch(c, "the padding is at most half the window");
    return pool(c, k, &w, false, largest, false);
}

static hg_status max_pool(ops_call *c, ops_kept *k) { return pool_all(c, k, true, false); }
static hg_status max_pool_places(ops_call *c, ops_kept *k) { return pool_all(c, k, true, true); }
static hg_status avg_pool(ops_call *c, ops_kept *k) { return pool_all(c, k, false, false); }
static hg_status max_pool2d(ops_call *c, ops_kept *k) { return pool_last(c, k, 2, true); }
static hg_status avg_pool2d(ops_call *c, ops_kept *k) { return pool_last(c, k, 2, false); }
static hg_status max_pool1d(ops_call *c, ops_kept *k) { return pool_last(c, k, 1, true); }
static hg_status avg_pool1d(ops_call *c, ops_kept *k) { return pool_last(c, k, 1, false); }
hg_status ops_max_pool(ops_call *c) { return ops_with_kept(c, max_pool); }
hg_status ops_max_pool_places(ops_call *c) { return ops_with_kept(c, max_pool_places); }
hg_status ops_avg_pool(ops_call *c) { return ops_with_kept(c, avg_pool); }
hg_status ops_max_pool2d(ops_call *c) { return ops_with_kept(c, max_pool2d); }
hg_status ops_avg_pool2d(ops_call *c) { return ops_with_kept(c, avg_pool2d); }
hg_status ops_max_pool1d(ops_call *c) { return ops_with_kept(c, max_pool1d); }
hg_status ops_avg_pool1d(ops_call *c) { return ops_with_kept(c, avg_pool1d); }

/* ---- attention ---- */

/* Elements of rows side by side, rows anywhere: a view that attention reads as it is. */
static bool has_rows(const hg_tensor *x) {
    bool rows = x->strides[x->rank - 1] == 1 || x->shape[x->rank - 1] == 1;
    for (uint32_t d = 0; d + 1 < x->rank; d++)
        rows = rows && (x->strides[d] >= 0 || x->shape[d] <= 1);
    return rows;
}

/* The mask, repeated to [batch, heads, seq_len, kv_len]: numbers of `type`, or truths as bytes. */
static hg_status give_mask(ops_call *c, ops_kept *k, ops_arguments *args, const hg_tensor *mask,
                           hg_element type, const uint64_t *shape) {
    hg_tensor *whole, **own = ops_keep(k);
    bool truths = mask->type == HG_ELEMENT_BOOL;
    uint64_t strides[2] = {shape[1] * shape[2] * shape[3], shape[2] * shape[3]};
    HG_TRY(ops_broadcast(k, mask, shape, 4, &whole));
    if ((truths || mask->type == type) && has_rows(whole)) {
        *own = hg_tensor_retain(whole);
    } else {
        HG_TRY(tensor_cast(c->run, whole, truths ? mask->type : type, own));
    }
    ops_array(args, truths ? "seen" : "mask", *own);
    if (!truths && hg_tensor_is_contiguous(*own)) ops_tuple(args, "mask_strides", strides, 2);
    return HG_OK;
}

/* How many keys of each batch are seen. */
static hg_status give_lengths(ops_call *c, ops_kept *k, ops_arguments *args,
                              const hg_tensor *lengths, uint64_t batch) {
    hg_tensor **own = ops_keep(k), **line;
    if (lengths->rank > 1 || (lengths->rank && lengths->shape[0] != batch) ||
        (!lengths->rank && batch != 1))
        return ops_mismatch(c, "as many lengths as batches expected");
    if (!lengths->rank) {
        HG_TRY(hg_tensor_unsqueeze(lengths, 0, line = ops_keep(k)));
        lengths = *line;
    }
    HG_TRY(lengths->type == HG_TYPE_I64 ? tensor_operand(c->run, lengths, true, own)
                                        : tensor_cast(c->run, lengths, HG_TYPE_I64, own));
    ops_array(args, "lengths", *own);
    ops_flag(args, "wide", true);
    return HG_OK;
}

static hg_status attention_shapes(const ops_call *c, const hg_tensor *const *x) {
    const uint64_t *q = x[0]->shape, *key = x[1]->shape, *value = x[2]->shape;
    bool fits = q[0] == key[0] && q[3] == key[3] && key[1] && q[1] % key[1] == 0 &&
                memcmp(key, value, 3 * sizeof *key) == 0;
    return fits ? HG_OK
                : ops_mismatch(c, "[batch, heads, seq_len, head_dim], [batch, kv_heads, kv_len, "
                                  "head_dim] and [batch, kv_heads, kv_len, value_dim] expected, "
                                  "kv_heads a divisor of heads");
}

/* What attention is asked for beside its arrays. */
enum { FROM_START, SCORES_ARE }; /* of options.sizes */
enum { SCORES_WEIGHTS, SCORES_MASKED, SCORES_PRODUCTS };
static void give_options(const ops_call *c, ops_arguments *args, bool scores) {
    const hg_ops_options *o = &c->options;
    uint64_t are = ops_size_or(c, SCORES_ARE, SCORES_WEIGHTS);
    ops_flag(args, "causal", o->flag);
    if (ops_size_or(c, FROM_START, 0)) ops_flag(args, "from_start", true);
    if (o->numbers[0] != 0) ops_number(args, "scale", HG_TYPE_F64, o->numbers[0]);
    if (o->numbers[1] != 0) ops_number(args, "softcap", HG_TYPE_F64, o->numbers[1]);
    if (scores && are == SCORES_MASKED) ops_flag(args, "masked", true);
    if (scores && are == SCORES_PRODUCTS) ops_flag(args, "products", true);
}

/* Behind query, key and value: lengths are integers, a mask is anything else. */
static hg_status give_others(ops_call *c, ops_kept *k, ops_arguments *args, hg_element type,
                             const uint64_t *shape) {
    bool seen[2] = {false, false};
    for (uint32_t i = 3; i < c->in_count; i++) {
        const hg_tensor *x = c->in[i];
        bool lengths = x->type != HG_ELEMENT_BOOL && !hg_type_is_float((hg_type)x->type);
        if (seen[lengths])
            return ops_refuse(c, "a mask of numbers or truths and lengths of integers expected");
        seen[lengths] = true;
        if (lengths) {
            HG_TRY(give_lengths(c, k, args, x, shape[0]));
            continue;
        }
        if (x->rank == 3 && c->in[0]->rank == 3) { /* [batch, seq_len, kv_len] of one head */
            hg_tensor **own = ops_keep(k);
            HG_TRY(hg_tensor_unsqueeze(x, 1, own));
            x = *own;
        }
        HG_TRY(give_mask(c, k, args, x, type, shape));
    }
    return HG_OK;
}

static hg_status check_attention(const ops_call *c) {
    const hg_ops_options *o = &c->options;
    uint32_t rank = c->in[0]->rank;
    if (rank < 2 || rank > 4 || c->in[1]->rank != rank || c->in[2]->rank != rank)
        return ops_mismatch(c, "2 to 4 axes, of all three as many, expected");
    if (ops_size_or(c, FROM_START, 0) && !o->flag)
        return ops_refuse(c, "sizes[0] says that causal counts from the start, and flag is false");
    if (ops_size_or(c, SCORES_ARE, 0) > SCORES_PRODUCTS)
        return ops_refuse(c, "sizes[1], what scores are, is 0, 1 or 2");
    if (!(o->numbers[1] >= 0) || isinf(o->numbers[1]))
        return ops_refuse(c, "numbers[1], the softcap, is a number of at least 0");
    return HG_OK;
}

/* Results without the axes that the inputs did not have. */
static hg_status keep_result(ops_call *c, ops_kept *k, hg_tensor *made, const uint64_t *shape,
                             uint32_t at) {
    uint32_t rank = c->in[0]->rank;
    uint64_t own[4];
    hg_tensor *view;
    *ops_keep(k) = made;
    if (rank == 4) memcpy(own, shape, sizeof own);
    if (rank == 3) own[0] = shape[0];
    if (rank < 4) memcpy(own + rank - 2, shape + 2, 2 * sizeof *own);
    HG_TRY(ops_shaped(k, made, own, rank, &view));
    c->out[at] = hg_tensor_retain(view);
    return HG_OK;
}

static hg_status attend(ops_call *c, ops_kept *k, bool scores) {
    static const char *const names[] = {"query", "key", "value"};
    const tensor_work work = {.instruction = "attention", .operation = c->name};
    const hg_tensor *x[3] = {NULL};
    hg_element type;
    ops_arguments args = {.count = 0};
    HG_TRY(check_attention(c));
    HG_TRY(ops_common(c, 3, true, &type));
    for (uint32_t i = 0; i < 3; i++) {
        HG_TRY(ops_as(c, k, c->in[i], type, &x[i]));
        for (uint32_t d = c->in[0]->rank; d < 4; d++) {
            hg_tensor **own = ops_keep(k); /* one head, one batch */
            HG_TRY(hg_tensor_unsqueeze(x[i], d == 3 ? 1 : 0, own));
            x[i] = *own;
        }
    }
    HG_TRY(attention_shapes(c, x));
    const uint64_t *q = x[0]->shape;
    uint64_t shape[4] = {q[0], q[1], q[2], x[2]->shape[3]},
             pairs[4] = {q[0], q[1], q[2], x[1]->shape[2]};
    tensor_result made[2] = {{.operand = "output", .type = type, .rank = 4, .shape = shape},
                             {.operand = "scores", .type = type, .rank = 4, .shape = pairs}};
    if (!tensor_numel(pairs, 4) || (!shape[3] && !scores)) {
        HG_TRY(ops_filled(c, type, "0", shape, 4, &made[0].tensor));
        HG_TRY(keep_result(c, k, made[0].tensor, shape, 0));
        if (!scores) return HG_OK;
        HG_TRY(ops_filled(c, type, "0", pairs, 4, &made[1].tensor));
        return keep_result(c, k, made[1].tensor, pairs, 1);
    }
    for (uint32_t i = 0; i < 3; i++) { /* rows anywhere are read as they are */
        hg_tensor **own = ops_keep(k);
        HG_TRY(tensor_operand(c->run, x[i], false, own));
        ops_array(&args, names[i], *own);
    }
    HG_TRY(give_others(c, k, &args, type, pairs));
    give_options(c, &args, scores);
    HG_TRY(tensor_call(c->run, &work, args.args, args.count, made, 1 + scores));
    hg_status status = keep_result(c, k, made[0].tensor, shape, 0);
    if (!scores) return status;
    hg_status last = keep_result(c, k, made[1].tensor, pairs, 1);
    return status == HG_OK ? last : status;
}
static hg_status attention(ops_call *c, ops_kept *k) { return attend(c, k, false); }
static hg_status attention_scores(ops_call *c, ops_kept *k) { return attend(c, k, true); }
hg_status ops_attention(ops_call *c) { return ops_with_kept(c, attention); }
hg_status ops_attention_scores(ops_call *c) { return ops_with_kept(c, attention_scores); }

/* ---- rope ---- */

/* A table as [batch, seq_len, pairs]. */
static hg_status give_table(ops_call *c, ops_kept *k, ops_arguments *args, const char *name,
                            const hg_tensor *x, const uint64_t *shape) {
    hg_tensor *whole, **own = ops_keep(k);
    HG_TRY(ops_broadcast(k, x, shape, 3, &whole));
    if (has_rows(whole))
        HG_TRY(tensor_operand(c->run, whole, false, own));
    else
        HG_TRY(tensor_cast(c->run, whole, x->type, own));
    ops_array(args, name, *own);
    return HG_OK;
}

/* [batch, heads, seq_len, head_dim] is a view of what the instruction reads and makes. */
static hg_status rope(ops_call *c, ops_kept *k) {
    static const int32_t order[4] = {0, 2, 1, 3};
    const hg_tensor *x[3];
    ops_arguments args = {.count = 0};
    hg_tensor **view = ops_keep(k), **own = ops_keep(k), **made = ops_keep(k);
    if (c->in[0]->rank != 4) return ops_mismatch(c, "[batch, heads, seq_len, head_dim] expected");
    for (uint32_t i = 1; i < 3; i++)
        if (c->in[i]->rank < 2 || c->in[i]->rank > 3 ||
            last_extent(c->in[i]) > last_extent(c->in[0]) / 2 ||
            last_extent(c->in[i]) != last_extent(c->in[1]))
            return ops_mismatch(c, "two tables of [seq_len, r] or [batch, seq_len, r], 2 r at most "
                                   "head_dim, expected");
    HG_TRY(floats(c, k, x));
    if (!tensor_numel(x[0]->shape, 4)) return empty(c, x[0]);
    HG_TRY(hg_tensor_permute(x[0], order, 4, view));
    const uint64_t *shape = (*view)->shape, pairs[3] = {shape[0], shape[1], last_extent(x[1])};
    HG_TRY(tensor_operand(c->run, *view, false, own));
    ops_array(&args, "input", *own);
    ops_flag(&args, "halves", !c->options.flag);
    HG_TRY(give_table(c, k, &args, "freqs", x[1], pairs));
    HG_TRY(give_table(c, k, &args, "sin", x[2], pairs));
    ops_size(&args, "rotary_dim", 2 * pairs[2]);
    HG_TRY(ops_instruction(c, "rope", &args, "output", x[0]->type, shape, 4, made));
    return hg_tensor_permute(*made, order, 4, &c->out[0]);
}
hg_status ops_rope(ops_call *c) { return ops_with_kept(c, rope); }

/* ---- embedding ---- */

/* take along the first axis. */
hg_status ops_embedding(ops_call *c) {
    const int64_t first = 0;
    ops_call own = *c;
    if (!c->in[0]->rank) return ops_mismatch(c, "a table of rows expected");
    own.options.axes = &first;
    own.options.axis_count = 1;
    HG_TRY(ops_take(&own));
    c->out[0] = own.out[0];
    return HG_OK;
}

/* ---- losses ---- */

/* The mean of a formula of both, in f32 for halves: its elements are summed and divided. */
static hg_status loss(ops_call *c, ops_kept *k, const char *expression, const char *of_sum) {
    const hg_tensor *x[2];
    ops_arguments args = {.count = 0};
    hg_tensor **terms = ops_keep(k), **sum = ops_keep(k);
    HG_TRY(floats(c, k, x));
    if (x[0]->rank != x[1]->rank ||
        memcmp(x[0]->shape, x[1]->shape, x[0]->rank * sizeof *x[0]->shape) != 0)
        return ops_mismatch(c, "one shape expected");
    uint64_t count = tensor_numel(x[0]->shape, x[0]->rank);
    if (!count) return ops_refuse(c, "the mean of no elements");
    hg_type wide = x[0]->type == HG_TYPE_F64 ? HG_TYPE_F64 : HG_TYPE_F32;
    double n = (double)count;
    tensor_formula f = {.name = c->name, .expression = expression, .computes = wide, .gives = wide};
    HG_TRY(tensor_map(c->run, &f, x, 2, x[0]->shape, x[0]->rank, NULL, 0, terms));
    hg_tensor *flat;
    HG_TRY(ops_shaped(k, *terms, &count, 1, &flat));
    ops_array(&args, "in", flat);
    ops_word(&args, "op", "sum");
    HG_TRY(ops_instruction(c, "parallel_reduce", &args, "out", wide, NULL, 0, sum));
    const hg_tensor *total = *sum;
    tensor_formula mean = {
        .name = c->name, .expression = of_sum, .computes = wide, .gives = x[0]->type};
    return tensor_map(c->run, &mean, &total, 1, NULL, 0, &n, 1, &c->out[0]);
}

static hg_status mse(ops_call *c, ops_kept *k) { return loss(c, k, "(a - b) * (a - b)", "a / v0"); }
static hg_status cross_entropy(ops_call *c, ops_kept *k) {
    return loss(c, k, "b == 0 ? 0 : b * log(a)", "-a / v0");
}
static hg_status binary_cross_entropy(ops_call *c, ops_kept *k) {
    return loss(c, k, "(b == 0 ? 0 : b * log(a)) + (b == 1 ? 0 : (1 - b) * log1p(-a))", "-a / v0");
}
hg_status ops_mse(ops_call *c) { return ops_with_kept(c, mse); }
hg_status ops_cross_entropy(ops_call *c) { return ops_with_kept(c, cross_entropy); }
hg_status ops_binary_cross_entropy(ops_call *c) { return ops_with_kept(c, binary_cross_entropy); }
