/* Complex tensors: how operations without a formula of their own are done with them (complex.def),
 * and their parts.
 * Must not know: layouts of programs. */
#include "tensor/rows.h"
#include "tensor/work.h"

typedef enum complex_way {
    COMPLEX_REFUSED,
    COMPLEX_OWN,
    COMPLEX_PARTS,
    COMPLEX_SIZES,
    COMPLEX_TRUTHS,
    COMPLEX_FACTORS
} complex_way;
static const uint8_t WAYS[HG_OPS_COUNT] = {
#define COMPLEX_FORMULA(id, gives, formula) [HG_OPS_##id] = COMPLEX_OWN,
#define COMPLEX_WAY(id, way) [HG_OPS_##id] = COMPLEX_##way,
#include "tensor/complex.def"
};

/* ---- parts ---- */

hg_status ops_from_parts(ops_call *c, const hg_tensor *real, const hg_tensor *imaginary,
                         hg_tensor **result) {
    uint64_t shape[HG_TENSOR_AXES];
    uint32_t rank;
    const hg_tensor *parts[] = {real, imaginary};
    hg_element part = tensor_promote(real->type, imaginary->type);
    part = tensor_promote(part, HG_TYPE_F32);
    HG_TRY(tensor_broadcast(c->name, parts, 2, shape, &rank));
    tensor_formula f = {
        .name = c->name, .expression = "a; b", .computes = part, .gives = tensor_complex_of(part)};
    return tensor_map(c->run, &f, parts, 2, shape, rank, NULL, 0, result);
}

hg_status ops_complex(ops_call *c) { return ops_from_parts(c, c->in[0], c->in[1], &c->out[0]); }

hg_status ops_real_part(ops_call *c) {
    return tensor_is_complex(c->in[0]->type) ? tensor_part(c->in[0], false, &c->out[0])
                                             : tensor_alias(c->in[0], &c->out[0]);
}

hg_status ops_imaginary_part(ops_call *c) {
    const hg_tensor *x = c->in[0];
    if (tensor_is_complex(x->type)) return tensor_part(x, true, &c->out[0]);
    return ops_filled(c, x->type, "0", x->shape, x->rank, &c->out[0]);
}

/* ---- ways ---- */

/* The function with one input in place of the call's. */
static hg_status with(const ops_call *c, ops_function *function, const hg_tensor *x,
                      hg_element type, hg_tensor **result) {
    ops_call own = *c;
    own.in = &x;
    own.options.type = type;
    hg_status status = function(&own);
    *result = own.out[0];
    return status;
}

static hg_status by_parts(ops_call *c, ops_kept *k, ops_function *function) {
    hg_element type = c->options.type, given = type;
    const hg_tensor *x;
    hg_tensor **made[2];
    if (type == HG_TYPE_COUNT) type = c->in[0]->type;
    if (!tensor_is_complex(type)) return ops_refuse(c, "options.type is no complex type");
    HG_TRY(ops_as(c, k, c->in[0], type, &x));
    if (given != HG_TYPE_COUNT) given = tensor_stored(given);
    for (uint32_t i = 0; i < 2; i++) {
        hg_tensor **part = ops_keep(k);
        made[i] = ops_keep(k);
        HG_TRY(tensor_part(x, i, part));
        HG_TRY(with(c, function, *part, given, made[i]));
    }
    return ops_from_parts(c, *made[0], *made[1], &c->out[0]);
}

static hg_status map(ops_call *c, const char *expression, hg_element computes, hg_element gives,
                     const hg_tensor *const *in, uint32_t count, hg_tensor **result) {
    tensor_formula f = {
        .name = c->name, .expression = expression, .computes = computes, .gives = gives};
    return tensor_map(c->run, &f, in, count, in[0]->shape, in[0]->rank, NULL, 0, result);
}

static hg_status by_sizes(ops_call *c, ops_kept *k, ops_function *function) {
    const hg_tensor *x = c->in[0];
    hg_tensor **sizes = ops_keep(k);
    HG_TRY(map(c, ops_complex_formula(HG_OPS_ABS), x->type, tensor_stored(x->type), &x, 1, sizes));
    return with(c, function, *sizes, c->options.type, &c->out[0]);
}

static hg_status by_truths(ops_call *c, ops_kept *k, ops_function *function) {
    const hg_tensor *truths;
    HG_TRY(ops_as(c, k, c->in[0], HG_ELEMENT_BOOL, &truths));
    return with(c, function, truths, c->options.type, &c->out[0]);
}

/* ---- products ---- */

/* Elements from `first` on of the last axis of x. */
static hg_tensor columns(const hg_tensor *x, uint64_t first, uint64_t count) {
    hg_tensor part = tensor_like(x);
    part.offset += first * (uint64_t)x->strides[x->rank - 1];
    part.shape[x->rank - 1] = count;
    return part;
}

/* The products of the first half of rows with the second, until one is left; where the number is
 * odd the last one waits. */
static hg_status halves(ops_call *c, ops_kept *k, hg_tensor x, hg_tensor **result) {
    const char *times = ops_complex_formula(HG_OPS_MUL);
    hg_tensor waits = {.rank = 0}, left, right;
    const hg_tensor *pair[] = {&left, &right};
    hg_tensor **made;
    for (uint64_t n = x.shape[2]; n > 1; n /= 2) {
        if (n % 2 && waits.rank) {
            left = waits;
            right = columns(&x, n - 1, 1);
            made = ops_keep(k);
            HG_TRY(map(c, times, x.type, x.type, pair, 2, made));
            waits = tensor_like(*made);
        } else if (n % 2) {
            waits = columns(&x, n - 1, 1);
        }
        left = columns(&x, 0, n / 2);
        right = columns(&x, n / 2, n / 2);
        made = ops_keep(k);
        HG_TRY(map(c, times, x.type, x.type, pair, 2, made));
        x = tensor_like(*made);
    }
    left = x;
    right = waits;
    return map(c, waits.rank ? times : "a", x.type, x.type, pair, waits.rank ? 2 : 1, result);
}

static hg_status by_factors(ops_call *c, ops_kept *k) {
    hg_element type = c->options.type != HG_TYPE_COUNT ? c->options.type : c->in[0]->type;
    uint32_t axes;
    const hg_tensor *x;
    tensor_rows rows;
    HG_TRY(ops_axes(c, &axes));
    if (!tensor_is_complex(type)) return ops_refuse(c, "options.type is no complex type");
    HG_TRY(ops_as(c, k, c->in[0], type, &x));
    HG_TRY(tensor_rows_of(c->run, x, axes, c->options.keepdims, &rows));
    *ops_keep(k) = rows.x;
    if (!rows.n || !tensor_numel(rows.shape, rows.rank))
        return ops_filled(c, type, "1", rows.shape, rows.rank, &c->out[0]);
    hg_tensor all = tensor_like(rows.x), **made = ops_keep(k), *view;
    all.rank = 3;
    memcpy(all.shape, (uint64_t[]){rows.outer, rows.inner, rows.n}, 3 * sizeof *all.shape);
    memcpy(all.strides, (int64_t[]){rows.strides[0], rows.strides[2], rows.strides[1]},
           3 * sizeof *all.strides);
    HG_TRY(halves(c, k, all, made));
    HG_TRY(ops_shaped(k, *made, rows.shape, rows.rank, &view));
    c->out[0] = hg_tensor_retain(view);
    return HG_OK;
}

hg_status ops_call_complex(ops_call *c, ops_function *function) {
    ops_kept k = {.count = 0};
    hg_status status = HG_OK;
    switch ((complex_way)WAYS[c->operation]) {
    case COMPLEX_REFUSED: return ops_refuse_complex(c);
    case COMPLEX_OWN: return function(c);
    case COMPLEX_PARTS: status = by_parts(c, &k, function); break;
    case COMPLEX_SIZES: status = by_sizes(c, &k, function); break;
    case COMPLEX_TRUTHS: status = by_truths(c, &k, function); break;
    case COMPLEX_FACTORS: status = by_factors(c, &k); break;
    }
    ops_release(&k);
    return status;
}
