/* Numbers as bytes with a scale and a zero point, (byte - zero) * scale, and their products, which
 * are quantized_gemm. Must not know: layouts of memory, devices. */
#include "tensor/work.h"

static bool is_float(hg_element type) {
    return type != HG_ELEMENT_BOOL && hg_type_is_float((hg_type)type);
}
static bool is_byte(hg_element type) { return type == HG_TYPE_I8 || type == HG_TYPE_U8; }

/* An expression over the inputs, broadcast: of halves in f32. */
static hg_status map(ops_call *c, const char *expression, hg_element gives) {
    uint64_t shape[HG_TENSOR_AXES];
    uint32_t rank;
    bool wide = c->in[0]->type == HG_TYPE_F64 || c->in[1]->type == HG_TYPE_F64;
    HG_TRY(tensor_broadcast(c->name, c->in, c->in_count, shape, &rank));
    tensor_formula f = {.name = c->name,
                        .expression = expression,
                        .computes = wide ? HG_TYPE_F64 : HG_TYPE_F32,
                        .gives = gives};
    return tensor_map(c->run, &f, c->in, c->in_count, shape, rank, NULL, 0, &c->out[0]);
}

/* i8 to u32. */
static bool is_quantized(hg_element type) {
    return type != HG_ELEMENT_BOOL && tensor_size(type) <= 4 && !is_float(type);
}

hg_status ops_quantize(ops_call *c) {
    bool zero = c->in_count > 2;
    hg_element type = zero ? c->in[2]->type : c->options.type, asked = c->options.type;
    if (type == HG_TYPE_COUNT) type = HG_TYPE_U8;
    if (asked != HG_TYPE_COUNT && asked != type)
        return ops_refuse(c, "options.type is not the zero point's");
    if (!is_float(c->in[0]->type) || !is_float(c->in[1]->type))
        return ops_refuse(c, "floats and a scale of floats expected");
    if (!is_quantized(type)) return ops_refuse(c, "integers of at most 32 bits expected");
    return map(c, zero ? "rint(a / b) + c" : "rint(a / b)", type);
}

hg_status ops_dequantize(ops_call *c) {
    bool zero = c->in_count > 2;
    if (!is_quantized(c->in[0]->type) || (zero && c->in[2]->type != c->in[0]->type))
        return ops_refuse(c, "integers of at most 32 bits, and zero points of their type expected");
    if (!is_float(c->in[1]->type)) return ops_refuse(c, "a scale of floats expected");
    return map(c, zero ? "(a - c) * b" : "a * b", c->in[1]->type);
}

/* One number from the largest and the least element, or from the least one and the scale. */
static hg_status number_of(ops_call *c, const char *expression, const hg_tensor *a,
                           const hg_tensor *b, hg_element gives, hg_tensor **result) {
    tensor_formula f = {
        .name = c->name, .expression = expression, .computes = a->type, .gives = gives};
    const hg_tensor *inputs[] = {a, b};
    return tensor_map(c->run, &f, inputs, 2, NULL, 0, NULL, 0, result);
}

static hg_status dynamic_quantize(ops_call *c, ops_kept *k) {
    const hg_tensor *x;
    ops_call part = *c;
    if (!is_float(c->in[0]->type)) return ops_refuse(c, "floats expected");
    HG_TRY(ops_as(c, k, c->in[0], c->in[0]->type == HG_TYPE_F64 ? HG_TYPE_F64 : HG_TYPE_F32, &x));
    part.in = &x;
    part.options = hg_ops_defaults();
    hg_tensor **most = ops_keep(k), **least = ops_keep(k);
    HG_TRY(ops_max(&part));
    *most = part.out[0];
    HG_TRY(ops_min(&part));
    *least = part.out[0];
    static const char SCALE[] = "((a < 0 ? 0 : a) == (b > 0 ? 0 : b) ? 1 : "
                                "(a < 0 ? 0 : a) - (b > 0 ? 0 : b)) / 255";
    HG_TRY(number_of(c, SCALE, *most, *least, x->type, &c->out[1]));
    HG_TRY(number_of(c, "rint((b > 0 ? 0 : -b) / a)", c->out[1], *least, HG_TYPE_U8, &c->out[2]));
    part.in = (const hg_tensor *[]){x, c->out[1], c->out[2]};
    part.in_count = 3;
    HG_TRY(ops_quantize(&part));
    c->out[0] = part.out[0];
    return HG_OK;
}
hg_status ops_dynamic_quantize(ops_call *c) { return ops_with_kept(c, dynamic_quantize); }

/* ---- products ---- */

/* Matrices with what belongs to them. Scales are NULL where sums are wanted, zeros where they are
 * 0. */
typedef struct quantized {
    const hg_tensor *bytes, *scale, *zero;
} quantized;

/* One number, or `count` of them: along that axis of a matrix, or a vector. */
static bool is_line(const hg_tensor *x, uint64_t count, uint32_t from_end) {
    if (!x) return true;
    uint64_t own = tensor_numel(x->shape, x->rank);
    return own == 1 || (own == count && (x->rank == 1 || x->shape[x->rank - from_end] == count));
}

/* x as `count` numbers side by side. */
static hg_status as_line(ops_call *c, ops_kept *k, const hg_tensor *x, uint64_t count,
                         hg_tensor **line) {
    uint64_t own = tensor_numel(x->shape, x->rank);
    HG_TRY(ops_packed(c, k, x, false, line));
    HG_TRY(ops_shaped(k, *line, &own, 1, line));
    if (own == count) return HG_OK;
    HG_TRY(ops_broadcast(k, *line, &count, 1, line));
    return ops_packed(c, k, *line, false, line);
}

/* The scales and zero points of `q`, and elements from one of either to the next. */
static hg_status add_lines(ops_call *c, ops_kept *k, ops_arguments *args, const quantized *q,
                           uint64_t count, const char *scales, const char *zeros, uint64_t *step) {
    hg_tensor *line;
    const hg_tensor *scale = q->scale;
    bool many = (scale && tensor_numel(scale->shape, scale->rank) > 1) ||
                (q->zero && tensor_numel(q->zero->shape, q->zero->rank) > 1);
    *step = many;
    if (scale) {
        HG_TRY(ops_as(c, k, scale, HG_TYPE_F32, &scale));
        HG_TRY(as_line(c, k, scale, many ? count : 1, &line));
        ops_array(args, scales, line);
    }
    if (q->zero) {
        HG_TRY(as_line(c, k, q->zero, many ? count : 1, &line));
        ops_array(args, zeros, line);
    }
    return HG_OK;
}

/* Of a result [m, n]: both broadcast to it where they are not one number. */
static hg_status add_result(ops_call *c, ops_kept *k, ops_arguments *args, const quantized *q,
                            const uint64_t *shape, uint64_t *steps) {
    const hg_tensor *given[] = {q->scale, q->zero};
    static const char *const NAMES[] = {"c_scales", "c_zeros"};
    uint64_t one = 1;
    bool many = tensor_numel(q->scale->shape, q->scale->rank) != 1 ||
                tensor_numel(q->zero->shape, q->zero->rank) != 1;
    for (uint32_t i = 0; i < 2; i++) {
        hg_tensor *line;
        if (i == 0) HG_TRY(ops_as(c, k, given[i], HG_TYPE_F32, &given[i]));
        if (many) HG_TRY(ops_broadcast(k, given[i], shape, 2, &line));
        HG_TRY(ops_packed(c, k, many ? line : given[i], false, &line));
        if (!many) HG_TRY(ops_shaped(k, line, &one, 1, &line));
        ops_array(args, NAMES[i], line);
    }
    steps[0] = many ? shape[1] : 0;
    steps[1] = many;
    return HG_OK;
}

/* Bytes of one sign as those of the other: their zero points go with them. */
static hg_status as_bytes(ops_call *c, ops_kept *k, const hg_tensor *x, hg_element type,
                          const hg_tensor **as) {
    *as = x;
    if (!x || x->type == type) return HG_OK;
    hg_tensor **own = ops_keep(k);
    tensor_formula f = {.name = c->name,
                        .expression = type == HG_TYPE_U8 ? "a + 128" : "a - 128",
                        .computes = HG_TYPE_I32,
                        .gives = type};
    HG_TRY(tensor_map(c->run, &f, &x, 1, x->shape, x->rank, NULL, 0, own));
    *as = *own;
    return HG_OK;
}

/* Leading axes as one. */
static hg_status as_batch(ops_call *c, ops_kept *k, const hg_tensor *x, const uint64_t *batch,
                          uint32_t axes, hg_tensor **matrices) {
    uint64_t shape[HG_TENSOR_AXES];
    for (uint32_t d = 0; d < axes; d++) shape[d] = batch[d];
    for (uint32_t d = 0; d < 2; d++) shape[axes + d] = x->shape[x->rank - 2 + d];
    HG_TRY(ops_broadcast(k, x, shape, axes + 2, matrices));
    if (axes == 1) return HG_OK;
    HG_TRY(ops_packed(c, k, *matrices, false, matrices));
    uint64_t flat[3] = {tensor_numel(batch, axes), shape[axes], shape[axes + 1]};
    return ops_shaped(k, *matrices, flat, 3, matrices);
}

static const char *const SCALES[] = {"a_scale", "b_scale", "c_scale"};

/* result NULL: the sums. */
static hg_status product(ops_call *c, ops_kept *k, quantized a, quantized b,
                         const quantized *result) {
    ops_arguments args = {.count = 0};
    uint64_t shape[HG_TENSOR_AXES], steps[4] = {0, 0, 0, 0};
    uint32_t rank;
    hg_tensor **own[2] = {ops_keep(k), ops_keep(k)}, *made;
    if (a.bytes->rank < 2 || b.bytes->rank < 2)
        return ops_mismatch(c, "at least 2 axes of a and b expected");
    HG_TRY(ops_product_shape(c, a.bytes, b.bytes, shape, &rank));
    const uint64_t *matrix = shape + rank - 2;
    if (!is_line(a.scale, matrix[0], 2) || !is_line(a.zero, matrix[0], 2) ||
        !is_line(b.scale, matrix[1], 1) || !is_line(b.zero, matrix[1], 1))
        return ops_mismatch(c, "scales and zero points of a: one, or one of each row; of b: one, "
                               "or one of each column");
    hg_element type = result ? result->zero->type : a.bytes->type;
    HG_TRY(as_bytes(c, k, a.bytes, type, &a.bytes));
    HG_TRY(as_bytes(c, k, a.zero, type, &a.zero));
    if (!tensor_numel(shape, rank) || (!a.bytes->shape[a.bytes->rank - 1] && !result))
        return ops_filled(c, result ? type : HG_TYPE_I32, "0", shape, rank, &c->out[0]);
    HG_TRY(tensor_operand(c->run, a.bytes, false, own[0]));
    HG_TRY(tensor_operand(c->run, b.bytes, false, own[1]));
    uint64_t batch = tensor_numel(shape, rank - 2),
             whole[4] = {batch, matrix[0], matrix[1], a.bytes->shape[a.bytes->rank - 1]};
    const hg_tensor *bytes[2] = {*own[0], *own[1]};
    if (rank > 2) {
        for (uint32_t i = 0; i < 2; i++) {
            HG_TRY(as_batch(c, k, bytes[i], shape, rank - 2, &made));
            bytes[i] = made;
        }
        ops_size(&args, "batch", batch);
    }
    for (uint32_t i = 0; i < 3; i++) ops_number(&args, SCALES[i], HG_TYPE_F32, 1); /* a factor */
    ops_array(&args, "a", bytes[0]);
    ops_array(&args, "b", bytes[1]);
    HG_TRY(add_lines(c, k, &args, &a, matrix[0], "a_scales", "a_zeros", &steps[0]));
    HG_TRY(add_lines(c, k, &args, &b, matrix[1], "b_scales", "b_zeros", &steps[1]));
    if (result) HG_TRY(add_result(c, k, &args, result, matrix, steps + 2));
    if (!result) ops_flag(&args, "sums", true);
    if (b.bytes->type == HG_TYPE_U8) ops_flag(&args, "b_unsigned", true);
    ops_sizes(&args, "steps", steps, 4);
    hg_tensor **sum = ops_keep(k);
    bool one = rank == 2;
    HG_TRY(ops_instruction(c, "quantized_gemm", &args, "c", result ? type : HG_TYPE_I32,
                           whole + one, one ? 2 : 3, sum));
    HG_TRY(ops_shaped(k, *sum, shape, rank, &made));
    c->out[0] = hg_tensor_retain(made);
    return HG_OK;
}

static hg_status check_bytes(const ops_call *c, const quantized *q) {
    if (!is_byte(q->bytes->type)) return ops_refuse(c, "bytes, i8 or u8, expected");
    if (q->zero && q->zero->type != q->bytes->type)
        return ops_refuse(c, "zero points have another type than what they belong to");
    return q->scale && !is_float(q->scale->type) ? ops_refuse(c, "scales of floats expected")
                                                 : HG_OK;
}

static hg_status zero_of(ops_call *c, ops_kept *k, quantized *q) {
    if (q->zero) return HG_OK;
    hg_tensor **own = ops_keep(k);
    HG_TRY(ops_filled(c, q->bytes->type, "0", NULL, 0, own));
    q->zero = *own;
    return HG_OK;
}

static hg_status matmul_integer(ops_call *c, ops_kept *k) {
    quantized a = {c->in[0], NULL, c->in_count > 2 ? c->in[2] : NULL},
              b = {c->in[1], NULL, c->in_count > 3 ? c->in[3] : NULL};
    HG_TRY(check_bytes(c, &a));
    HG_TRY(check_bytes(c, &b));
    if (b.bytes->type == HG_TYPE_U8) HG_TRY(zero_of(c, k, &b)); /* b_zero counts from 128 there */
    return product(c, k, a, b, NULL);
}
hg_status ops_matmul_integer(ops_call *c) { return ops_with_kept(c, matmul_integer); }

static hg_status quantized_matmul(ops_call *c, ops_kept *k) {
    quantized a = {c->in[0], c->in[1], c->in[2]}, b = {c->in[3], c->in[4], c->in[5]},
              result = {c->in[7], c->in[6], c->in[7]};
    HG_TRY(check_bytes(c, &a));
    HG_TRY(check_bytes(c, &b));
    HG_TRY(check_bytes(c, &result));
    return product(c, k, a, b, &result);
}
hg_status ops_quantized_matmul(ops_call *c) { return ops_with_kept(c, quantized_matmul); }
