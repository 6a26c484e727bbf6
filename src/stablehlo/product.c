/* Products, convolutions and transforms of arrays.
 * Must not know: where arrays lie. */
#include "stablehlo/call_internal.h"
#include "plan/steps/windows.h"

static ten everywhere(ten_module *m, ten like, double value) {
    return ten_number(m, ten_like(like, like.type), value);
}

/* Sums in f32 become what the call writes: bias, activation, one rounding. */
static ten finish(shlo_call *c, ten r, uint32_t bias_axis, uint8_t type) {
    ten_module *m = c->m;
    if (shlo_has(c, "bias")) {
        ten bias = ten_convert(m, shlo_in(c, "bias"), r.type);
        if (bias.rank == 1) bias = ten_along(m, bias, r, bias_axis);
        if (bias.rank != r.rank) {
            const uint32_t last[] = {r.rank - 2u, r.rank - 1u};
            bias = ten_broadcast(m, bias, r, last);
        }
        r = ten_binary(m, "add", r, bias);
    }
    return ten_convert(m, shlo_function(m, c->call->fn, r, (ten){0}), type);
}

/* ---- gemm, batched_gemm, mixed_precision_gemm ---- */

static ten without_batch(ten_module *m, ten a) {
    return a.extents[0] == 1 ? ten_reshape(m, a, 2, a.extents + 1) : a;
}

void shlo_gemm(shlo_call *c) {
    ten_module *m = c->m;
    ten a = without_batch(m, shlo_in(c, "a")), b = without_batch(m, shlo_in(c, "b"));
    uint8_t type = shlo_shape_of(c, "c").type;
    double alpha = shlo_factor(c, "alpha"), beta = shlo_factor(c, "beta");
    ten r = ten_dot(m, a, b, a.rank - 2u, ten_sum_type(a.type));
    if (shlo_flag(c, "accumulate"))
        r = ten_binary(m, "add", ten_convert(m, without_batch(m, shlo_in(c, "c")), r.type), r);
    if (alpha != 1) r = ten_binary(m, "multiply", r, everywhere(m, r, alpha));
    if (beta != 0) {
        ten old = ten_convert(m, without_batch(m, shlo_in(c, "c")), r.type);
        r = ten_binary(m, "add", r, ten_binary(m, "multiply", old, everywhere(m, old, beta)));
    }
    shlo_out(c, "c", finish(c, r, r.rank - 1u, type));
}

/* ---- quantized_gemm ---- */

static ten less_zero(shlo_call *c, ten a, const char *zero, const char *zeros, uint32_t axis) {
    ten_module *m = c->m;
    bool is_signed = hg_type_is_signed((hg_type)a.type);
    ten wide = ten_convert(m, a, HG_TYPE_I32);
    if (shlo_has(c, zeros)) {
        ten each = ten_convert(m, shlo_in(c, zeros), HG_TYPE_I32);
        return ten_binary(m, "subtract", wide, ten_along(m, each, wide, axis));
    }
    uint8_t byte = (uint8_t)shlo_size(c, zero);
    int number = is_signed && byte >= 128 ? byte - 256 : byte;
    return number ? ten_binary(m, "subtract", wide, everywhere(m, wide, number)) : wide;
}

/* c_zero + rint(sum * factor), saturated. */
static ten as_bytes(shlo_call *c, ten sums, uint8_t type) {
    ten_module *m = c->m;
    bool is_signed = hg_type_is_signed((hg_type)type);
    volatile float scale = (float)(shlo_factor(c, "a_scale") * shlo_factor(c, "b_scale"));
    scale = scale / (float)shlo_factor(c, "c_scale");
    uint8_t byte = (uint8_t)shlo_size(c, "c_zero");
    int zero = is_signed && byte >= 128 ? byte - 256 : byte;
    if (!(scale > -1e30f && scale < 1e30f) || (scale > -1e-30f && scale < 1e-30f) ||
        shlo_has(c, "a_scales") || shlo_has(c, "b_scales") || shlo_has(c, "c_scales") ||
        shlo_has(c, "c_zeros"))
        ten_refuse(m, "scales of rows or columns, or one near the end of the range");
    ten r = ten_convert(m, sums, HG_TYPE_F32);
    r = ten_unary(m, "round_nearest_even", ten_binary(m, "multiply", r, everywhere(m, r, scale)));
    r = ten_binary(m, "add", r, everywhere(m, r, zero));
    r = ten_binary(m, "maximum", r, everywhere(m, r, is_signed ? -128 : 0));
    r = ten_binary(m, "minimum", r, everywhere(m, r, is_signed ? 127 : 255));
    return ten_convert(m, r, type);
}

void shlo_quantized_gemm(shlo_call *c) {
    ten_module *m = c->m;
    bool turned = shlo_flag(c, "trans_b");
    ten a = shlo_in(c, "a"), b = shlo_in(c, "b");
    uint32_t batch = a.rank - 2u;
    uint8_t type = shlo_shape_of(c, "c").type;
    a = less_zero(c, a, "a_zero", "a_zeros", batch);
    b = less_zero(c, b, "b_zero", "b_zeros", batch + !turned);
    if (turned) {
        const uint32_t order[] = {0, batch ? 2 : 1, batch ? 1 : 0};
        b = ten_transpose(m, b, batch ? order : order + 1);
    }
    ten sums = ten_dot(m, a, b, batch, HG_TYPE_I32);
    shlo_out(c, "c", shlo_flag(c, "sums") ? sums : as_bytes(c, sums, type));
}

/* ---- tensor_contract ---- */

void shlo_tensor_contract(shlo_call *c) {
    ten a = shlo_in(c, "a"), b = shlo_in(c, "b");
    const plan_operand *dims = &c->call->operands[plan_operand_named(c->call, "contract_dims")];
    uint32_t left[PLAN_MAX_RANK] = {0}, right[PLAN_MAX_RANK] = {0}, count = dims->count / 3;
    for (uint32_t i = 0; i < count && i < PLAN_MAX_RANK; i++) {
        left[i] = (uint32_t)dims->words[3 * i + 1];
        right[i] = (uint32_t)dims->words[3 * i + 2];
    }
    if (a.rank + b.rank - 2 * count > TEN_MOST_RANK)
        ten_refuse(c->m, "a result of more than %d axes", (int)TEN_MOST_RANK);
    uint8_t sum = ten_sum_type(a.type);
    ten r = ten_contract(c->m, a, b, left, right, count, sum);
    shlo_out(c, "output", ten_convert(c->m, r, a.type));
}

/* ---- convolutions ---- */

static void conv2d_windows(const shlo_call *c, plan_window w[2]) {
    static const char *const SIZES[] = {"height", "width"}, *const WINDOWS[] = {"kernel_h",
                                                                                "kernel_w"};
    uint32_t stride = plan_operand_named(c->call, "stride"),
             padding = plan_operand_named(c->call, "padding"),
             dilation = plan_operand_named(c->call, "dilation"),
             end = plan_operand_named(c->call, "padding_end");
    for (uint32_t i = 0; i < 2; i++) {
        w[i] = (plan_window){.size = shlo_size(c, SIZES[i]),
                             .window = shlo_size(c, WINDOWS[i]),
                             .stride = plan_number(c->call, stride, i),
                             .before = plan_number(c->call, padding, i),
                             .dilation = plan_number(c->call, dilation, i)};
        w[i].after = plan_is_given(c->call, end) ? plan_number(c->call, end, i) : w[i].before;
        w[i].out = (plan_padded(&w[i]) - plan_reach(&w[i])) / w[i].stride + 1;
    }
}

static uint32_t windows_of(const shlo_call *c, plan_window w[PLAN_AXES]) {
    plan_window all[PLAN_AXES];
    if (c->call->op == HG_OP_CONV2D) {
        conv2d_windows(c, w);
        return 2;
    }
    uint32_t axes = c->call->operands[plan_operand_named(c->call, "size")].count;
    plan_named_windows(c->call, all);
    for (uint32_t i = 0; i < axes; i++) w[i] = all[PLAN_AXES - axes + i];
    return axes;
}

void shlo_conv(shlo_call *c) {
    plan_window w[PLAN_AXES];
    ten_convolution v = {.axes = windows_of(c, w), .groups = shlo_size(c, "groups")};
    ten a = shlo_in(c, "input");
    uint8_t type = a.type, sum = ten_sum_type(type);
    for (uint32_t i = 0; i < v.axes; i++) {
        v.stride[i] = w[i].stride;
        v.before_dilation[i] = 1;
        v.dilation[i] = w[i].dilation;
        v.low[i] = (int64_t)w[i].before;
        v.high[i] = (int64_t)w[i].after;
        v.out[i] = w[i].out;
    }
    a = ten_convert(c->m, a, sum);
    ten r = ten_convolve(c->m, a, ten_convert(c->m, shlo_in(c, "kernel"), sum), &v, sum);
    shlo_out(c, "output", finish(c, r, 1, type));
}

/* The kernel [in, out / groups, …] as a convolution has it: [out, in / groups, …], turned round. */
static ten turned_kernel(ten_module *m, ten k, uint64_t groups, uint32_t axes) {
    uint64_t extents[TEN_MOST_RANK] = {groups, k.extents[0] / groups, k.extents[1]};
    uint32_t order[TEN_MOST_RANK] = {0, 2, 1};
    for (uint32_t i = 0; i < axes; i++) {
        extents[3 + i] = k.extents[2 + i];
        order[3 + i] = 3 + i;
        k = ten_reverse(m, k, 2 + i);
    }
    k = ten_transpose(m, ten_reshape(m, k, (uint8_t)(3 + axes), extents), order);
    uint64_t joined[TEN_MOST_RANK] = {groups * k.extents[1], k.extents[2]};
    for (uint32_t i = 0; i < axes; i++) joined[2 + i] = k.extents[3 + i];
    return ten_reshape(m, k, (uint8_t)(2 + axes), joined);
}

void shlo_conv_transpose(shlo_call *c) {
    plan_window w[PLAN_AXES];
    ten_convolution v = {.axes = windows_of(c, w), .groups = shlo_size(c, "groups")};
    ten a = shlo_in(c, "input"), shape = shlo_shape_of(c, "output");
    uint8_t type = a.type, sum = ten_sum_type(type);
    for (uint32_t i = 0; i < v.axes; i++) {
        v.stride[i] = 1;
        v.before_dilation[i] = w[i].stride;
        v.dilation[i] = w[i].dilation;
        v.out[i] = shape.extents[2 + i];
        v.low[i] = (int64_t)plan_reach(&w[i]) - 1 - (int64_t)w[i].before;
        v.high[i] = (int64_t)v.out[i] - 1 - v.low[i] + (int64_t)plan_reach(&w[i]) - 1 -
                    (int64_t)((w[i].size - 1) * w[i].stride);
    }
    a = ten_convert(c->m, a, sum);
    ten kernel = turned_kernel(c->m, ten_convert(c->m, shlo_in(c, "kernel"), sum), v.groups,
                               v.axes);
    shlo_out(c, "output", finish(c, ten_convolve(c->m, a, kernel, &v, sum), 1, type));
}

/* ---- sparse_gemm ---- */

void shlo_sparse_gemm(shlo_call *c) {
    ten_module *m = c->m;
    ten values = shlo_in(c, "a_values"), columns = shlo_in(c, "a_indices"),
        ptr = shlo_in(c, "a_ptr"), b = shlo_in(c, "b");
    uint64_t entries = values.extents[0] < columns.extents[0] ? values.extents[0]
                                                              : columns.extents[0],
             rows = shlo_size(c, "m"), n = shlo_size(c, "n");
    uint8_t type = values.type, sum = ten_sum_type(type);
    values = ten_convert(m, ten_slice(m, values, 0, 0, entries, 1), sum);
    columns = ten_convert(m, ten_slice(m, columns, 0, 0, entries, 1), HG_TYPE_I64);
    ptr = ten_convert(m, ptr, HG_TYPE_I64);
    ten next = ten_slice(m, ptr, 0, 1, rows + 1, 1), from = ten_slice(m, ptr, 0, 0, rows, 1);
    shlo_note_bad(m, ten_compare(m, "LT", next, from));
    shlo_note_bad(m, ten_compare(m, "GT", ptr, everywhere(m, ptr, (double)entries)));
    ten row = shlo_begun(m, ptr, entries), /* rows: it is in none */
        used = ten_compare(m, "LT", row, everywhere(m, row, (double)rows)),
        far = ten_compare(m, "GE", columns, everywhere(m, columns, (double)shlo_size(c, "k")));
    shlo_note_bad(m, ten_binary(m, "and", used, far));
    uint64_t lines[3] = {1, b.extents[0], n}, whole[3] = {1, rows, n};
    ten each = ten_gather(m, ten_convert(m, ten_reshape(m, b, 3, lines), sum), columns),
        parts = ten_binary(m, "multiply", each, ten_along(m, values, each, 1)),
        zero = ten_number(m, ten_shape(sum, 3, whole), 0),
        r = ten_scatter(m, zero, row, parts, "add", false);
    shlo_out(c, "c", finish(c, ten_reshape(m, r, 2, whole + 1), 1, type));
}

/* ---- fft ---- */

/* [batch, n, inner, …] with inner in front of n, and back. */
static ten lines_last(ten_module *m, ten a, bool inner) {
    const uint32_t ORDER[] = {0, 2, 1, 3};
    return inner ? ten_transpose(m, a, ORDER) : a;
}

void shlo_fft(shlo_call *c) {
    ten_module *m = c->m;
    uint64_t n = shlo_size(c, "n");
    bool inverse = shlo_flag(c, "inverse"), real = shlo_flag(c, "real"),
         inner = shlo_size(c, "inner") != 1;
    ten a = lines_last(m, shlo_in(c, "input"), inner);
    if (!real || inverse) { /* pairs are complex numbers */
        ten re = ten_slice(m, a, a.rank - 1u, 0, 1, 1), im = ten_slice(m, a, a.rank - 1u, 1, 2, 1);
        uint8_t rank = (uint8_t)(a.rank - 1);
        a = ten_complex(m, ten_reshape(m, re, rank, a.extents),
                        ten_reshape(m, im, rank, a.extents));
    }
    ten made = a;
    made.extents[made.rank - 1] = real && !inverse ? n / 2 + 1 : n;
    made.type = real && inverse                ? c->call->type
                : c->call->type == HG_TYPE_F64 ? TEN_COMPLEX_F64
                                               : TEN_COMPLEX_F32;
    a = ten_fft(m, a, real ? inverse ? "IRFFT" : "RFFT" : inverse ? "IFFT" : "FFT", n, made);
    if (!real || !inverse) {
        ten re = ten_part(m, a, false), im = ten_part(m, a, true);
        uint64_t pair[TEN_MOST_RANK];
        for (uint32_t i = 0; i < a.rank; i++) pair[i] = a.extents[i];
        pair[a.rank] = 1;
        a = ten_concat(m, ten_reshape(m, re, (uint8_t)(a.rank + 1), pair),
                       ten_reshape(m, im, (uint8_t)(a.rank + 1), pair), a.rank);
    }
    shlo_out(c, "output", lines_last(m, a, inner));
}
