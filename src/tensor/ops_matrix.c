/* Products and linear algebra: products are gemm and batched_gemm, of integers a program; factors
 * and norms are programs of src/library/matrix.atlas.
 * Must not know: layouts of memory, devices. */
#include "library/texts.h"
#include "tensor/work.h"
#include <math.h>
#include <string.h>

static bool is_float(hg_element type) {
    return type != HG_ELEMENT_BOOL && hg_type_is_float((hg_type)type);
}

static uint64_t extent(const hg_tensor *x, uint32_t from_end) {
    return x->shape[x->rank - from_end];
}

/* ---- matrices as programs take them: stride of a matrix, a row, a column ---- */

/* The leading axes as one of that stride. */
static bool one_axis(const hg_tensor *x, uint32_t axes, int64_t *stride) {
    int64_t step = 0;
    bool any = false;
    *stride = 0;
    for (uint32_t d = axes; d-- > 0;) {
        if (x->shape[d] == 1) continue;
        if (any && x->strides[d] != step) return false;
        if (!any) *stride = x->strides[d];
        any = true;
        step = x->strides[d] * (int64_t)x->shape[d];
    }
    return true;
}

typedef struct matrix_names {
    const char *array, *at, *z, *r, *c;
} matrix_names;
static const matrix_names OF_A = {"a", "a_at", "a_z", "a_r", "a_c"};
static const matrix_names OF_B = {"b", "b_at", "b_z", "b_r", "b_c"};
static const matrix_names OF_X = {"x", "x_at", "x_z", "x_r", "x_c"};

/* The stride of an axis from the end. Of one element it says nothing, and may be negative. */
static uint64_t axis_step(const hg_tensor *x, uint32_t from_end) {
    uint32_t axis = x->rank - from_end;
    return x->shape[axis] > 1 ? (uint64_t)x->strides[axis] : 0;
}

/* x, of at least 2 axes, as an operand of a program; a copy only where its batch is no one axis or
 * a stride is negative. */
static hg_status add_matrices(ops_call *c, ops_kept *k, ops_arguments *a, const matrix_names *names,
                              const hg_tensor *x) {
    int64_t stride;
    hg_tensor **own = ops_keep(k);
    HG_TRY(one_axis(x, x->rank - 2, &stride) ? tensor_operand(c->run, x, false, own)
                                             : tensor_cast(c->run, x, x->type, own));
    x = *own;
    if (!one_axis(x, x->rank - 2, &stride)) return hg_fail(HG_ERROR_INTERNAL, "a copy has gaps");
    ops_array(a, names->array, x);
    ops_size(a, names->at, x->offset);
    ops_size(a, names->z, (uint64_t)stride);
    ops_size(a, names->r, axis_step(x, 2));
    ops_size(a, names->c, axis_step(x, 1));
    return HG_OK;
}

/* ---- products ---- */

hg_status ops_product_shape(const ops_call *c, const hg_tensor *a, const hg_tensor *b,
                            uint64_t *shape, uint32_t *rank) {
    hg_tensor x = tensor_like(a), y = tensor_like(b);
    const hg_tensor *both[2] = {&x, &y};
    x.rank -= 2;
    y.rank -= 2;
    if (extent(a, 1) != extent(b, 2)) return ops_mismatch(c, "inner extents differ");
    if (tensor_broadcast(c->name, both, 2, shape, rank) != HG_OK)
        return ops_mismatch(c, "batches do not broadcast");
    shape[(*rank)++] = extent(a, 2);
    shape[(*rank)++] = extent(b, 1);
    return HG_OK;
}

/* a or b with the product's batch. */
static hg_status with_batch(ops_kept *k, const hg_tensor *x, const uint64_t *shape, uint32_t rank,
                            hg_tensor **view) {
    uint64_t own[HG_TENSOR_AXES];
    memcpy(own, shape, (rank - 2) * sizeof *own);
    own[rank - 2] = extent(x, 2);
    own[rank - 1] = extent(x, 1);
    return ops_broadcast(k, x, own, rank, view);
}

static hg_status integer_product(ops_call *c, ops_kept *k, const hg_tensor *a, const hg_tensor *b,
                                 const uint64_t *shape, uint32_t rank, hg_tensor **result) {
    ops_arguments args = {.count = 0};
    hg_tensor *x, *y;
    hg_program *program;
    bool truth = a->type == HG_ELEMENT_BOOL;
    HG_TRY(with_batch(k, a, shape, rank, &x));
    HG_TRY(with_batch(k, b, shape, rank, &y));
    HG_TRY(ops_program(c, hg_unpacked(&library_text_matrix), "matmul", a->type,
                       truth ? ".const TRUTH = 1\n" : ".const TRUTH = 0\n", &program));
    uint64_t made[3] = {tensor_numel(shape, rank - 2), extent(a, 2), extent(b, 1)};
    ops_size(&args, "z", made[0]);
    ops_size(&args, "m", made[1]);
    ops_size(&args, "n", made[2]);
    ops_size(&args, "k", extent(a, 1));
    HG_TRY(add_matrices(c, k, &args, &OF_A, x));
    HG_TRY(add_matrices(c, k, &args, &OF_B, y));
    tensor_result r = {.operand = "c", .type = a->type, .rank = 3, .shape = made};
    HG_TRY(ops_launch(c, program, &args, &r, 1));
    *ops_keep(k) = r.tensor;
    hg_tensor *view;
    HG_TRY(ops_shaped(k, r.tensor, shape, rank, &view));
    *result = hg_tensor_retain(view);
    return HG_OK;
}

static void swap_rows_and_columns(hg_tensor *t) {
    uint32_t row = t->rank - 2, column = t->rank - 1;
    uint64_t rows = t->shape[row];
    int64_t stride = t->strides[row];
    t->shape[row] = t->shape[column];
    t->strides[row] = t->strides[column];
    t->shape[column] = rows;
    t->strides[column] = stride;
}

/* Matrices that are the other way round in memory go as the flag that says so. x is the caller's
 * own view. */
static void add_batched(ops_arguments *args, const char *name, const char *flag, hg_tensor *x) {
    bool turned = x->strides[x->rank - 2] == 1 && x->strides[x->rank - 1] != 1;
    if (turned) swap_rows_and_columns(x);
    ops_array(args, name, x);
    if (turned) ops_flag(args, flag, true);
}

static hg_status float_product(ops_call *c, ops_kept *k, const hg_tensor *a, const hg_tensor *b,
                               const hg_tensor *bias, const uint64_t *shape, uint32_t rank,
                               hg_tensor **result) {
    ops_arguments args = {.count = 0};
    hg_tensor **x = ops_keep(k), **y = ops_keep(k), *batched;
    bool one = b->rank == 2; /* the same matrix for all rows of a */
    HG_TRY(tensor_operand(c->run, a, false, x));
    HG_TRY(tensor_operand(c->run, b, false, y));
    if (!one) {
        HG_TRY(with_batch(k, *x, shape, rank, &batched));
        add_batched(&args, "a", "trans_a", batched);
        HG_TRY(with_batch(k, *y, shape, rank, &batched));
        add_batched(&args, "b", "trans_b", batched);
    } else {
        ops_array(&args, "a", *x);
        ops_array(&args, "b", *y);
    }
    if (bias) ops_array(&args, "bias", bias);
    return ops_instruction(c, one ? "gemm" : "batched_gemm", &args, "c", a->type, shape, rank,
                           result);
}

/* b's elements, and behind them in each row the same times i: as real numbers a pair of rows for
 * each row, (re, im) and (-im, re). */
static hg_status with_turned(ops_call *c, ops_kept *k, const hg_tensor *b, hg_tensor *rows) {
    hg_tensor **turned = ops_keep(k), **both = ops_keep(k);
    tensor_formula f = {
        .name = c->name, .expression = "-ai; ar", .computes = b->type, .gives = b->type};
    ops_call concat = *c;
    HG_TRY(tensor_map(c->run, &f, &b, 1, b->shape, b->rank, NULL, 0, turned));
    concat.in = (const hg_tensor *[]){b, *turned};
    concat.in_count = 2;
    concat.options.axes = (const int64_t[]){-1};
    concat.options.axis_count = 1;
    HG_TRY(ops_concat(&concat));
    *both = concat.out[0];
    *rows = tensor_like(*both);
    rows->type = tensor_stored(b->type);
    rows->shape[b->rank - 2] *= 2;
    tensor_c_strides(rows->shape, rows->rank, rows->strides);
    return HG_OK;
}

/* Of complex numbers as one product of real ones: pairs of a's rows by pairs of rows of b. */
static hg_status complex_product(ops_call *c, ops_kept *k, const hg_tensor *a, const hg_tensor *b,
                                 hg_tensor **result) {
    hg_tensor **own = ops_keep(k), **made = ops_keep(k), rows, columns;
    uint64_t shape[2 * HG_TENSOR_AXES], count;
    uint32_t rank;
    HG_TRY(ops_product_shape(c, a, b, shape, &rank));
    HG_TRY(tensor_check_shape(a->type, shape, rank, &count));
    if (!count || !extent(a, 1)) return ops_filled(c, a->type, "0", shape, rank, result);
    bool pairs = a->strides[a->rank - 1] == 1 || extent(a, 1) == 1;
    HG_TRY(pairs ? tensor_alias(a, own) : tensor_cast(c->run, a, a->type, own));
    rows = tensor_like(*own);
    rows.type = tensor_stored(a->type);
    rows.offset *= 2;
    for (uint32_t d = 0; d < rows.rank; d++) rows.strides[d] *= 2;
    rows.shape[rows.rank - 1] *= 2;
    rows.strides[rows.rank - 1] = 1;
    HG_TRY(with_turned(c, k, b, &columns));
    HG_TRY(ops_product(c, k, &rows, &columns, NULL, made));
    HG_TRY(tensor_alias(*made, result));
    (*result)->type = a->type;
    memcpy((*result)->shape, shape, rank * sizeof *shape);
    tensor_c_strides(shape, rank, (*result)->strides);
    return HG_OK;
}

hg_status ops_product(ops_call *c, ops_kept *k, const hg_tensor *a, const hg_tensor *b,
                      const hg_tensor *bias, hg_tensor **result) {
    if (tensor_is_complex(a->type)) return complex_product(c, k, a, b, result);
    uint64_t shape[2 * HG_TENSOR_AXES], count;
    uint32_t rank;
    hg_tensor **packed = ops_keep(k);
    HG_TRY(ops_product_shape(c, a, b, shape, &rank));
    HG_TRY(tensor_check_shape(a->type, shape, rank, &count));
    if (bias) {
        HG_TRY(tensor_operand(c->run, bias, true, packed));
        bias = *packed;
    }
    if (!count || (!extent(a, 1) && !bias)) return ops_filled(c, a->type, "0", shape, rank, result);
    if (!extent(a, 1)) {
        hg_tensor *view;
        HG_TRY(ops_broadcast(k, bias, shape, rank, &view));
        return tensor_cast(c->run, view, a->type, result);
    }
    return is_float(a->type) ? float_product(c, k, a, b, bias, shape, rank, result)
                             : integer_product(c, k, a, b, shape, rank, result);
}

/* The first two inputs in their common type; integers stay. */
static hg_status both(ops_call *c, ops_kept *k, const hg_tensor **a, const hg_tensor **b) {
    hg_element type;
    HG_TRY(ops_common(c, 2, false, &type));
    HG_TRY(ops_as(c, k, c->in[0], type, a));
    return ops_as(c, k, c->in[1], type, b);
}

static hg_status with_axis(ops_kept *k, const hg_tensor *x, int32_t dim, const hg_tensor **view) {
    hg_tensor **own = ops_keep(k);
    HG_TRY(hg_tensor_unsqueeze(x, dim, own));
    *view = *own;
    return HG_OK;
}

static hg_status without_axis(ops_call *c, int32_t dim) {
    hg_tensor *view = NULL;
    HG_TRY(hg_tensor_squeeze(c->out[0], dim, &view));
    hg_tensor_release(c->out[0]);
    c->out[0] = view;
    return HG_OK;
}

/* Vectors are a row on the left and a column on the right, and these axes go from the result. */
static hg_status multiply(ops_call *c, ops_kept *k, const hg_tensor *a, const hg_tensor *b,
                          const hg_tensor *bias) {
    if (!a->rank || !b->rank) return ops_mismatch(c, "a number has no rows: mul multiplies by it");
    bool row = a->rank == 1, column = b->rank == 1;
    if (row) HG_TRY(with_axis(k, a, 0, &a));
    if (column) HG_TRY(with_axis(k, b, 1, &b));
    HG_TRY(ops_product(c, k, a, b, bias, &c->out[0]));
    if (column) HG_TRY(without_axis(c, -1));
    return row ? without_axis(c, column ? -1 : -2) : HG_OK;
}

static hg_status matmul(ops_call *c, ops_kept *k) {
    const hg_tensor *a, *b;
    HG_TRY(both(c, k, &a, &b));
    return multiply(c, k, a, b, NULL);
}
hg_status ops_matmul(ops_call *c) { return ops_with_kept(c, matmul); }

static hg_status ranks(const ops_call *c, uint32_t a, uint32_t b, const char *why) {
    return c->in[0]->rank == a && c->in[1]->rank == b ? HG_OK : ops_mismatch(c, why);
}

hg_status ops_bmm(ops_call *c) {
    HG_TRY(ranks(c, 3, 3, "[batch, m, k] and [batch, k, n] expected"));
    if (c->in[0]->shape[0] != c->in[1]->shape[0]) return ops_mismatch(c, "batches differ");
    return ops_matmul(c);
}

hg_status ops_matvec(ops_call *c) {
    HG_TRY(ranks(c, 2, 1, "[m, n] and [n] expected"));
    return ops_matmul(c);
}

static hg_status fused_linear(ops_call *c, ops_kept *k) {
    hg_element type;
    const hg_tensor *x, *w, *bias;
    if (c->in[1]->rank != 2 || c->in[2]->rank != 1 || c->in[2]->shape[0] != c->in[1]->shape[1])
        return ops_mismatch(c, "[..., in], [in, out] and [out] expected");
    HG_TRY(ops_common(c, 3, true, &type));
    HG_TRY(ops_as(c, k, c->in[0], type, &x));
    HG_TRY(ops_as(c, k, c->in[1], type, &w));
    HG_TRY(ops_as(c, k, c->in[2], type, &bias));
    return multiply(c, k, x, w, bias);
}
hg_status ops_fused_linear(ops_call *c) { return ops_with_kept(c, fused_linear); }

static hg_status gemm(ops_call *c, ops_kept *k) {
    hg_element type;
    ops_arguments args = {.count = 0};
    const hg_tensor *x[3] = {NULL};
    HG_TRY(ranks(c, 2, 2, "[m, k] and [k, n] expected"));
    HG_TRY(ops_common(c, c->in_count, true, &type));
    for (uint32_t i = 0; i < c->in_count; i++) HG_TRY(ops_as(c, k, c->in[i], type, &x[i]));
    uint64_t shape[2] = {x[0]->shape[0], x[1]->shape[1]};
    if (x[0]->shape[1] != x[1]->shape[0]) return ops_mismatch(c, "inner extents differ");
    hg_tensor *old = NULL;
    if (x[2]) HG_TRY(ops_broadcast(k, x[2], shape, 2, &old));
    if (!tensor_numel(shape, 2) || (!x[0]->shape[1] && !old))
        return ops_filled(c, type, "0", shape, 2, &c->out[0]);
    for (uint32_t i = 0; i < 2; i++) {
        hg_tensor **own = ops_keep(k);
        HG_TRY(tensor_operand(c->run, x[i], false, own));
        ops_array(&args, i ? "b" : "a", *own);
    }
    ops_number(&args, "alpha", HG_TYPE_F64, ops_number_or(c, 0, 1));
    if (old) {
        HG_TRY(ops_packed(c, k, old, false, &old));
        ops_array(&args, "c", old);
        ops_number(&args, "beta", HG_TYPE_F64, ops_number_or(c, 1, 1));
    }
    return ops_instruction(c, "gemm", &args, "c", type, shape, 2, &c->out[0]);
}
hg_status ops_gemm(ops_call *c) { return ops_with_kept(c, gemm); }

static hg_status vecdot(ops_call *c, ops_kept *k) {
    const hg_tensor *x[2];
    uint64_t shape[HG_TENSOR_AXES];
    uint32_t rank, axis;
    HG_TRY(both(c, k, &x[0], &x[1]));
    if (tensor_is_complex(x[0]->type)) {
        hg_tensor **conjugate = ops_keep(k);
        tensor_formula f = {.name = c->name,
                            .expression = ops_complex_formula(HG_OPS_CONJ),
                            .computes = x[0]->type,
                            .gives = x[0]->type};
        HG_TRY(tensor_map(c->run, &f, x, 1, x[0]->shape, x[0]->rank, NULL, 0, conjugate));
        x[0] = *conjugate;
    }
    HG_TRY(tensor_broadcast(c->name, x, 2, shape, &rank));
    HG_TRY(ops_one_axis(c, -1, rank, &axis));
    if (rank == HG_TENSOR_AXES) return ops_refuse(c, "at most 7 axes expected");
    for (uint32_t i = 0; i < 2; i++) {
        hg_tensor *view;
        HG_TRY(ops_broadcast(k, x[i], shape, rank, &view));
        HG_TRY(ops_axis_last(k, view, axis, &view));
        HG_TRY(with_axis(k, view, (int32_t)(i ? rank : rank - 1), &x[i]));
    }
    HG_TRY(ops_product(c, k, x[0], x[1], NULL, &c->out[0]));
    HG_TRY(without_axis(c, -1));
    return without_axis(c, -1);
}
hg_status ops_vecdot(ops_call *c) { return ops_with_kept(c, vecdot); }

static hg_status outer(ops_call *c, ops_kept *k) {
    const hg_tensor *x[2];
    HG_TRY(ranks(c, 1, 1, "two vectors expected"));
    HG_TRY(both(c, k, &x[0], &x[1]));
    HG_TRY(with_axis(k, x[0], 1, &x[0]));
    HG_TRY(with_axis(k, x[1], 0, &x[1]));
    uint64_t shape[2] = {x[0]->shape[0], x[1]->shape[1]};
    bool truth = x[0]->type == HG_ELEMENT_BOOL;
    tensor_formula f = {.name = c->name,
                        .expression = truth ? "a && b"
                                      : tensor_is_complex(x[0]->type)
                                          ? ops_complex_formula(HG_OPS_MUL)
                                          : "a * b",
                        .computes = x[0]->type,
                        .gives = x[0]->type};
    return tensor_map(c->run, &f, x, 2, shape, 2, NULL, 0, &c->out[0]);
}
hg_status ops_outer(ops_call *c) { return ops_with_kept(c, outer); }

/* ---- tensordot ---- */

/* x with the axes that are summed last (of a) or first (of b), as a matrix; `free` receives the
 * extents of the others. */
static hg_status as_matrix(ops_call *c, ops_kept *k, const hg_tensor *x, const uint32_t *summed,
                           uint32_t count, bool first, uint64_t *free_extents, hg_tensor **matrix) {
    int32_t order[HG_TENSOR_AXES];
    uint32_t seen = 0, used = 0;
    uint64_t inner = 1, rest = 1;
    for (uint32_t i = 0; i < count; i++) {
        seen |= 1u << summed[i];
        inner *= x->shape[summed[i]];
        order[(first ? 0 : x->rank - count) + i] = (int32_t)summed[i];
    }
    for (uint32_t d = 0; d < x->rank; d++) {
        if (seen >> d & 1) continue;
        order[(first ? count : 0) + used] = (int32_t)d;
        free_extents[used++] = x->shape[d];
        rest *= x->shape[d];
    }
    if (used + count != x->rank) return ops_mismatch(c, "an axis stands twice");
    hg_tensor **view = ops_keep(k), *packed;
    HG_TRY(hg_tensor_permute(x, order, x->rank, view));
    uint64_t shape[2] = {first ? inner : rest, first ? rest : inner};
    if (x->rank == 2) { /* a transposed one is not copied */
        *matrix = *view;
        if (count == 1) return HG_OK;
    }
    HG_TRY(ops_packed(c, k, *view, false, &packed));
    return ops_shaped(k, packed, shape, 2, matrix);
}

static hg_status summed_axes(const ops_call *c, const hg_tensor *a, const hg_tensor *b,
                             uint32_t *of_a, uint32_t *of_b, uint32_t *count) {
    uint32_t given = c->options.axes ? c->options.axis_count : 0;
    uint64_t last = ops_size_or(c, 0, 2);
    if (given & 1 || given > 2 * HG_TENSOR_AXES)
        return ops_mismatch(c, "options.axes has as many axes of the second as of the first");
    if (!given && (last > a->rank || last > b->rank))
        return ops_mismatch(c, "fewer axes than that");
    *count = given ? given / 2 : (uint32_t)last;
    for (uint32_t i = 0; i < *count; i++) {
        HG_TRY(tensor_axis(given ? c->options.axes[i] : (int64_t)(a->rank - *count + i), a->rank,
                           &of_a[i]));
        HG_TRY(tensor_axis(given ? c->options.axes[*count + i] : (int64_t)i, b->rank, &of_b[i]));
        if (a->shape[of_a[i]] != b->shape[of_b[i]]) return ops_mismatch(c, "summed extents differ");
    }
    return HG_OK;
}

static hg_status tensordot(ops_call *c, ops_kept *k) {
    const hg_tensor *a, *b;
    hg_tensor *x, *y, *view;
    uint32_t of_a[HG_TENSOR_AXES], of_b[HG_TENSOR_AXES], count = 0;
    uint64_t shape[2 * HG_TENSOR_AXES];
    HG_TRY(both(c, k, &a, &b));
    HG_TRY(summed_axes(c, a, b, of_a, of_b, &count));
    uint32_t left = a->rank - count, rank = left + b->rank - count;
    if (rank > HG_TENSOR_AXES) return ops_mismatch(c, "the result has more than 8 axes");
    HG_TRY(as_matrix(c, k, a, of_a, count, false, shape, &x));
    HG_TRY(as_matrix(c, k, b, of_b, count, true, shape + left, &y));
    hg_tensor **made = ops_keep(k);
    HG_TRY(ops_product(c, k, x, y, NULL, made));
    HG_TRY(ops_shaped(k, *made, shape, rank, &view));
    c->out[0] = hg_tensor_retain(view);
    return HG_OK;
}
hg_status ops_tensordot(ops_call *c) { return ops_with_kept(c, tensordot); }

/* ---- views, cross, trace ---- */

static hg_status matrices(const ops_call *c, const hg_tensor *x, bool square) {
    if (x->rank < 2) return ops_refuse(c, "matrices, of at least 2 axes, expected");
    if (square && extent(x, 1) != extent(x, 2)) return ops_refuse(c, "square matrices expected");
    return HG_OK;
}

hg_status ops_matrix_transpose(ops_call *c) {
    HG_TRY(matrices(c, c->in[0], false));
    HG_TRY(tensor_alias(c->in[0], &c->out[0]));
    swap_rows_and_columns(c->out[0]);
    return HG_OK;
}

static hg_status diagonal_of(const ops_call *c, const hg_tensor *x, int64_t by, hg_tensor **view) {
    HG_TRY(matrices(c, x, false));
    HG_TRY(tensor_alias(x, view));
    hg_tensor *t = *view;
    int64_t rows = (int64_t)extent(x, 2), columns = (int64_t)extent(x, 1);
    int64_t row = by < 0 ? -by : 0, column = by > 0 ? by : 0;
    int64_t down = rows - row, right = columns - column, n = down < right ? down : right;
    t->rank--;
    t->shape[t->rank - 1] = n > 0 ? (uint64_t)n : 0;
    t->strides[t->rank - 1] = x->strides[x->rank - 2] + x->strides[x->rank - 1];
    if (n > 0)
        t->offset += (uint64_t)(row * x->strides[x->rank - 2] + column * x->strides[x->rank - 1]);
    return HG_OK;
}

static hg_status offset_of(const ops_call *c, int64_t *by) {
    double offset = c->options.numbers[0];
    *by = fabs(offset) < 0x1p62 ? (int64_t)offset : 0;
    return (double)*by == offset ? HG_OK : ops_refuse(c, "the offset is no whole number");
}

hg_status ops_diagonal(ops_call *c) {
    int64_t by;
    HG_TRY(offset_of(c, &by));
    return diagonal_of(c, c->in[0], by, &c->out[0]);
}

/* The diagonal times a vector of ones. */
static hg_status trace(ops_call *c, ops_kept *k) {
    int64_t by;
    hg_tensor **diagonal = ops_keep(k), **ones = ops_keep(k);
    const hg_tensor *x;
    hg_element type = c->in[0]->type;
    HG_TRY(offset_of(c, &by));
    HG_TRY(diagonal_of(c, c->in[0], by, diagonal));
    if (type == HG_ELEMENT_BOOL || hg_type_is_signed((hg_type)type))
        type = is_float(type) || tensor_size(type) > 8 ? type : HG_TYPE_I64;
    else if (!is_float(type) && tensor_size(type) < 8)
        type = HG_TYPE_U64;
    HG_TRY(ops_as(c, k, *diagonal, type, &x));
    HG_TRY(ops_filled(c, type, "1", &x->shape[x->rank - 1], 1, ones));
    return multiply(c, k, x, *ones, NULL);
}
hg_status ops_trace(ops_call *c) { return ops_with_kept(c, trace); }

static hg_status cross(ops_call *c, ops_kept *k) {
    const hg_tensor *x[2];
    uint64_t shape[HG_TENSOR_AXES];
    uint32_t rank, axis;
    ops_arguments args = {.count = 0};
    hg_program *program;
    HG_TRY(both(c, k, &x[0], &x[1]));
    if (x[0]->type == HG_ELEMENT_BOOL) return ops_refuse(c, "it is not of bool: cast first");
    HG_TRY(tensor_broadcast(c->name, x, 2, shape, &rank));
    HG_TRY(ops_one_axis(c, -1, rank, &axis));
    if (shape[axis] != 3) return ops_mismatch(c, "3 elements along the axis expected");
    hg_tensor *view = NULL;
    for (uint32_t i = 0; i < 2; i++) {
        HG_TRY(ops_broadcast(k, x[i], shape, rank, &view));
        HG_TRY(ops_axis_last(k, view, axis, &view));
        HG_TRY(ops_packed(c, k, view, false, &view));
        ops_array(&args, i ? "b" : "a", view);
        ops_size(&args, i ? "b_at" : "a_at", view->offset);
    }
    uint64_t made[2] = {tensor_numel(shape, rank) / 3, 3};
    if (!made[0]) return ops_filled(c, x[0]->type, "0", shape, rank, &c->out[0]);
    ops_size(&args, "rows", made[0]);
    ops_size(&args, "three", 3);
    HG_TRY(ops_program(c, hg_unpacked(&library_text_matrix), "cross", x[0]->type, NULL, &program));
    tensor_result r = {.operand = "y", .type = x[0]->type, .rank = 2, .shape = made};
    HG_TRY(ops_launch(c, program, &args, &r, 1));
    *ops_keep(k) = r.tensor;
    HG_TRY(ops_shaped(k, r.tensor, view->shape, rank, &view));
    c->out[0] = hg_tensor_retain(view);
    return ops_axis_back(c, axis);
}
hg_status ops_cross(ops_call *c) { return ops_with_kept(c, cross); }

/* ---- norms ---- */

static hg_status matrix_norm(ops_call *c, ops_kept *k) {
    static const struct {
        double order;
        bool rows;
        const char *constants;
    } kinds[] = {{0, false, ".const KIND = 0\n"},
                 {1, false, ".const KIND = 1\n"},
                 {-1, false, ".const KIND = 2\n"},
                 {(double)INFINITY, true, ".const KIND = 1\n"},
                 {-(double)INFINITY, true, ".const KIND = 2\n"}};
    hg_element type;
    const hg_tensor *x;
    size_t kind = 0;
    ops_arguments args = {.count = 0};
    hg_program *program;
    double order = c->options.numbers[0];
    while (kind < HG_COUNT_OF(kinds) && kinds[kind].order != order) kind++;
    if (kind == HG_COUNT_OF(kinds))
        return ops_refuse(c, "numbers[0] is 0 (Frobenius), 1, -1, inf or -inf; norms by singular "
                             "values (2, nuclear) are not there");
    HG_TRY(matrices(c, c->in[0], false));
    HG_TRY(ops_common(c, 1, true, &type));
    HG_TRY(ops_as(c, k, c->in[0], type, &x));
    uint64_t shape[HG_TENSOR_AXES], z = tensor_numel(x->shape, x->rank - 2);
    uint32_t rank = c->options.keepdims ? x->rank : x->rank - 2;
    memcpy(shape, x->shape, sizeof shape);
    shape[x->rank - 2] = shape[x->rank - 1] = 1;
    if (!z) return ops_filled(c, type, "0", shape, rank, &c->out[0]);
    if (!tensor_numel(x->shape, x->rank)) {
        if (kind) return ops_refuse(c, "an empty matrix has no such norm");
        return ops_filled(c, type, "0", shape, rank, &c->out[0]);
    }
    hg_tensor own = tensor_like(x);
    if (kinds[kind].rows) swap_rows_and_columns(&own);
    ops_size(&args, "z", z);
    ops_size(&args, "m", extent(&own, 2));
    ops_size(&args, "n", extent(&own, 1));
    HG_TRY(add_matrices(c, k, &args, &OF_X, &own));
    HG_TRY(ops_program(c, hg_unpacked(&library_text_matrix), "matrix_norm", type,
                       kinds[kind].constants, &program));
    tensor_result r = {.operand = "y", .type = type, .rank = 1, .shape = &z};
    HG_TRY(ops_launch(c, program, &args, &r, 1));
    *ops_keep(k) = r.tensor;
    hg_tensor *view;
    HG_TRY(ops_shaped(k, r.tensor, shape, rank, &view));
    c->out[0] = hg_tensor_retain(view);
    return HG_OK;
}
hg_status ops_matrix_norm(ops_call *c) { return ops_with_kept(c, matrix_norm); }

/* ---- systems of equations ---- */

typedef struct factors {
    hg_tensor *f, *order, *sign;
    uint64_t z, n;
} factors;

/* f32 or f64 matrices: of integers f64. */
static hg_status solvable(ops_call *c, ops_kept *k, uint32_t count, const hg_tensor **x) {
    hg_element type;
    HG_TRY(ops_common(c, count, false, &type));
    if (!is_float(type)) type = HG_TYPE_F64;
    if (type != HG_TYPE_F32 && type != HG_TYPE_F64)
        return ops_refuse(c, "it is of f32 and f64: cast first");
    for (uint32_t i = 0; i < count; i++) HG_TRY(ops_as(c, k, c->in[i], type, &x[i]));
    return matrices(c, x[0], true);
}

static hg_status factor(ops_call *c, ops_kept *k, const hg_tensor *a, factors *f) {
    ops_arguments args = {.count = 0};
    hg_program *program;
    *f = (factors){.z = tensor_numel(a->shape, a->rank - 2), .n = extent(a, 1)};
    ops_size(&args, "z", f->z);
    ops_size(&args, "n", f->n);
    HG_TRY(add_matrices(c, k, &args, &OF_A, a));
    HG_TRY(ops_program(c, hg_unpacked(&library_text_matrix), "lu", a->type, NULL, &program));
    uint64_t shape[3] = {f->z, f->n, f->n};
    tensor_result made[3] = {{.operand = "f", .type = a->type, .rank = 3, .shape = shape},
                             {.operand = "order", .type = HG_TYPE_U32, .rank = 2, .shape = shape},
                             {.operand = "sign", .type = a->type, .rank = 1, .shape = shape}};
    HG_TRY(ops_launch(c, program, &args, made, 3));
    *ops_keep(k) = f->f = made[0].tensor;
    *ops_keep(k) = f->order = made[1].tensor;
    *ops_keep(k) = f->sign = made[2].tensor;
    return HG_OK;
}

static hg_status det(ops_call *c, ops_kept *k) {
    const hg_tensor *a;
    factors f;
    ops_arguments args = {.count = 0};
    hg_program *program;
    hg_tensor *view;
    HG_TRY(solvable(c, k, 1, &a));
    if (!tensor_numel(a->shape, a->rank)) /* that of no rows is 1 */
        return ops_filled(c, a->type, "1", a->shape, a->rank - 2, &c->out[0]);
    HG_TRY(factor(c, k, a, &f));
    ops_array(&args, "f", f.f);
    ops_array(&args, "sign", f.sign);
    ops_size(&args, "z", f.z);
    ops_size(&args, "n", f.n);
    HG_TRY(ops_program(c, hg_unpacked(&library_text_matrix), "det", a->type, NULL, &program));
    tensor_result r = {.operand = "y", .type = a->type, .rank = 1, .shape = &f.z};
    HG_TRY(ops_launch(c, program, &args, &r, 1));
    *ops_keep(k) = r.tensor;
    HG_TRY(ops_shaped(k, r.tensor, a->shape, a->rank - 2, &view));
    c->out[0] = hg_tensor_retain(view);
    return HG_OK;
}
hg_status ops_det(ops_call *c) { return ops_with_kept(c, det); }

/* x of a x = b; a and b of at least 2 axes, with batches that broadcast. */
static hg_status solve_for(ops_call *c, ops_kept *k, const hg_tensor *a, const hg_tensor *b) {
    uint64_t shape[HG_TENSOR_AXES + 2];
    uint32_t rank;
    hg_tensor *x, *y, *view;
    factors f;
    ops_arguments args = {.count = 0};
    hg_program *program;
    HG_TRY(ops_product_shape(c, a, b, shape, &rank));
    if (!tensor_numel(shape, rank)) return ops_filled(c, a->type, "0", shape, rank, &c->out[0]);
    HG_TRY(with_batch(k, a, shape, rank, &x));
    HG_TRY(with_batch(k, b, shape, rank, &y));
    HG_TRY(factor(c, k, x, &f));
    uint64_t made[3] = {f.z, f.n, extent(b, 1)};
    ops_array(&args, "f", f.f);
    ops_array(&args, "order", f.order);
    ops_size(&args, "z", f.z);
    ops_size(&args, "n", f.n);
    ops_size(&args, "w", made[2]);
    HG_TRY(add_matrices(c, k, &args, &OF_B, y));
    HG_TRY(ops_program(c, hg_unpacked(&library_text_matrix), "solve", a->type, NULL, &program));
    tensor_result r = {.operand = "x", .type = a->type, .rank = 3, .shape = made};
    HG_TRY(ops_launch(c, program, &args, &r, 1));
    *ops_keep(k) = r.tensor;
    HG_TRY(ops_shaped(k, r.tensor, shape, rank, &view));
    c->out[0] = hg_tensor_retain(view);
    return HG_OK;
}

static hg_status solve(ops_call *c, ops_kept *k) {
    const hg_tensor *x[2];
    HG_TRY(solvable(c, k, 2, x));
    if (!x[1]->rank) return ops_mismatch(c, "a vector or matrices expected");
    bool vector = x[1]->rank == 1;
    if (vector) HG_TRY(with_axis(k, x[1], 1, &x[1]));
    HG_TRY(solve_for(c, k, x[0], x[1]));
    return vector ? without_axis(c, -1) : HG_OK;
}
hg_status ops_solve(ops_call *c) { return ops_with_kept(c, solve); }

static hg_status identity(ops_call *c, hg_element type, uint64_t n, hg_tensor **result) {
    uint64_t shape[2] = {n, n};
    double extents[1] = {(double)n};
    tensor_formula f = {.name = c->name,
                        .expression = "$T(i0) / v0 == $T(i0) % v0 ? 1 : 0",
                        .computes = HG_TYPE_I64,
                        .gives = tensor_stored(type)};
    return tensor_map(c->run, &f, NULL, 0, shape, 2, extents, 1, result);
}

static hg_status inv(ops_call *c, ops_kept *k) {
    const hg_tensor *a;
    hg_tensor **one = ops_keep(k);
    HG_TRY(solvable(c, k, 1, &a));
    HG_TRY(identity(c, a->type, extent(a, 1), one));
    return solve_for(c, k, a, *one);
}
hg_status ops_inv(ops_call *c) { return ops_with_kept(c, inv); }

/* By squares, from the lowest bit on. */
static hg_status power(ops_call *c, ops_kept *k, const hg_tensor *base, uint64_t n) {
    hg_tensor **made;
    const hg_tensor *result = NULL;
    for (;; n >>= 1) {
        if (n & 1 && result) {
            made = ops_keep(k);
            HG_TRY(ops_product(c, k, result, base, NULL, made));
            result = *made;
        } else if (n & 1)
            result = base;
        if (n <= 1) break;
        made = ops_keep(k);
        HG_TRY(ops_product(c, k, base, base, NULL, made));
        base = *made;
    }
    return tensor_cast(c->run, result, result->type, &c->out[0]);
}

enum { MOST_POWER = 1023 }; /* ten products and ten squares */

static hg_status matrix_power(ops_call *c, ops_kept *k) {
    const hg_tensor *a = c->in[0];
    double n = c->options.numbers[0];
    HG_TRY(matrices(c, a, true));
    if (n != floor(n) || fabs(n) > MOST_POWER)
        return ops_refuse(c, "numbers[0], the power, is a whole number from -1023 to 1023");
    if (n == 0) {
        hg_tensor **one = ops_keep(k), *view;
        HG_TRY(identity(c, a->type, extent(a, 1), one));
        (*one)->type = a->type;
        HG_TRY(ops_broadcast(k, *one, a->shape, a->rank, &view));
        return tensor_cast(c->run, view, a->type, &c->out[0]);
    }
    if (n < 0) {
        HG_TRY(inv(c, k));
        *ops_keep(k) = c->out[0];
        a = c->out[0];
        c->out[0] = NULL;
    }
    return power(c, k, a, (uint64_t)fabs(n));
}
hg_status ops_matrix_power(ops_call *c) {
    if (c->in[0]->type == HG_ELEMENT_BOOL) return ops_refuse(c, "it is not of bool: cast first");
    return ops_with_kept(c, matrix_power);
}
