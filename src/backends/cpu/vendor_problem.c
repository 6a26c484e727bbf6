/* Which calls oneDNN does, and as what: products of matrices, convolutions, sums of products of
 * bytes.
 * Must not know: the library, threads. */
#include "backends/cpu/vendor_internal.h"
#include <string.h>

static int type_of(uint8_t type) {
    switch ((hg_type)type) {
    case HG_TYPE_F32: return ONEDNN_F32;
    case HG_TYPE_BF16: return ONEDNN_BF16;
    case HG_TYPE_I8: return ONEDNN_S8;
    case HG_TYPE_U8: return ONEDNN_U8;
    case HG_TYPE_I32: return ONEDNN_S32;
    default: return 0;
    }
}

/* A factor, which is f32 in every product that oneDNN does. */
static float factor(const plan_call *call, const char *name) {
    uint32_t bits = (uint32_t)plan_number(call, plan_operand_named(call, name), 0);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* An array with as many dimensions as it has, those ahead of `first` left out. A dimension of which
 * all indices are the same element becomes 1: oneDNN repeats it. */
static bool tensor_of(const plan_call *call, uint32_t operand, uint32_t first, vendor_problem *p,
                      int role) {
    const plan_array *a = plan_array_of(call, operand);
    vendor_tensor *t = &p->tensor[role];
    if (!a) return true;
    int type = type_of(a->type);
    int64_t size = (int64_t)hg_type_size_bytes((hg_type)a->type);
    if (!type || a->rank < first || a->rank - first > VENDOR_MOST_DIMS) return false;
    p->array[role] = (uint8_t)(a - call->arrays);
    t->type = (uint8_t)type;
    for (uint32_t i = first; i < a->rank; i++) {
        if (a->extents[i] == 0 || a->extents[i] > INT32_MAX || a->strides[i] < 0 ||
            a->strides[i] % size)
            return false;
        t->dims[t->rank] = a->strides[i] ? (int64_t)a->extents[i] : 1;
        t->strides[t->rank++] = a->strides[i] / size;
    }
    return true;
}

/* oneDNN wants strides that grow with the dimensions inside: those of dimensions of one element are
 * free, and what they are changes what it can do. */
static void tidy_strides(vendor_tensor *t) {
    for (int i = 0; i < t->rank; i++) {
        if (t->dims[i] != 1) continue;
        int64_t most = 1;
        for (int j = 0; j < t->rank; j++)
            if (j != i && t->dims[j] != 1 && t->dims[j] * t->strides[j] > most && i < t->rank - 1)
                most = t->dims[j] * t->strides[j];
        t->strides[i] = most;
    }
}

/* The bias as a row in front of which there are dimensions of one. */
static void widen_bias(vendor_tensor *bias, uint8_t rank) {
    if (!bias->rank) return;
    int64_t n = bias->dims[0];
    for (int i = 0; i < rank; i++) {
        bias->dims[i] = i == rank - 1 ? n : 1;
        bias->strides[i] = i == rank - 1 ? 1 : n;
    }
    bias->rank = rank;
}

static bool product(const plan_call *call, vendor_problem *p) {
    uint32_t a = plan_operand_named(call, "a"), b = plan_operand_named(call, "b"),
             c = plan_operand_named(call, "c");
    const uint64_t *extents = plan_array_of(call, c)->extents;
    uint32_t first = extents[0] == 1; /* one product has no dimension in front */
    const plan_array *bias = plan_array_of(call, plan_operand_named(call, "bias"));
    if ((bias && bias->rank != 1) || call->fn != HG_OP_MOV || plan_named(call, "accumulate") ||
        !tensor_of(call, a, first, p, VENDOR_SOURCE) ||
        !tensor_of(call, b, first, p, VENDOR_WEIGHTS) ||
        !tensor_of(call, c, first, p, VENDOR_RESULT) ||
        !tensor_of(call, plan_operand_named(call, "bias"), 0, p, VENDOR_BIAS))
        return false;
    const vendor_tensor *result = &p->tensor[VENDOR_RESULT];
    p->size[0] = extents[1];
    p->size[1] = extents[2];
    p->size[2] = plan_array_of(call, a)->extents[2];
    p->size[3] = extents[0];
    if (result->rank == 3 && result->dims[0] != (int64_t)extents[0]) return false;
    for (int i = 0; i < VENDOR_TENSORS; i++) tidy_strides(&p->tensor[i]);
    widen_bias(&p->tensor[VENDOR_BIAS], result->rank);
    p->kind = call->op == HG_OP_MIXED_PRECISION_GEMM ? VENDOR_MIXED_PRECISION_GEMM : VENDOR_GEMM;
    p->alpha = factor(call, "alpha");
    p->beta = factor(call, "beta");
    return p->alpha == 1 || !p->tensor[VENDOR_BIAS].rank; /* its scale comes behind the bias */
}

/* Sums of bytes, which are exact; what becomes of them is the expansion's. */
static bool sums(const plan_call *call, vendor_problem *p) {
    uint32_t c = plan_operand_named(call, "c");
    vendor_tensor *b = &p->tensor[VENDOR_WEIGHTS];
    if (!plan_number(call, plan_operand_named(call, "sums"), 0) ||
        (uint8_t)plan_number(call, plan_operand_named(call, "a_zero"), 0) ||
        (uint8_t)plan_number(call, plan_operand_named(call, "b_zero"), 0) ||
        plan_array_of(call, plan_operand_named(call, "a_zeros")) ||
        plan_array_of(call, plan_operand_named(call, "b_zeros")) ||
        plan_is_given(call, plan_operand_named(call, "batch")) || plan_named(call, "b_unsigned") ||
        !tensor_of(call, plan_operand_named(call, "a"), 0, p, VENDOR_SOURCE) ||
        !tensor_of(call, plan_operand_named(call, "b"), 0, p, VENDOR_WEIGHTS) ||
        !tensor_of(call, c, 0, p, VENDOR_RESULT))
        return false;
    if (plan_number(call, plan_operand_named(call, "trans_b"), 0))
        *b = (vendor_tensor){.rank = 2,
                             .type = b->type,
                             .dims = {b->dims[1], b->dims[0]},
                             .strides = {b->strides[1], b->strides[0]}};
    p->kind = VENDOR_QUANTIZED_GEMM;
    p->size[0] = plan_array_of(call, c)->extents[0];
    p->size[1] = plan_array_of(call, c)->extents[1];
    p->size[2] = (uint64_t)b->dims[0];
    p->size[3] = 1;
    for (int i = 0; i < VENDOR_TENSORS; i++) tidy_strides(&p->tensor[i]);
    p->alpha = 1;
    return true;
}

/* Before VNNI pairs of products of bytes saturated at 16 bits. */
bool vendor_is_exact_enough(const vendor_problem *p, int isa) {
    return p->kind != VENDOR_QUANTIZED_GEMM || (isa & ONEDNN_ISA_VNNI) == ONEDNN_ISA_VNNI;
}

/* ---- convolutions ---- */

static int64_t number(const plan_call *call, const char *name, uint32_t n) {
    return (int64_t)plan_number(call, plan_operand_named(call, name), n);
}

/* [out, in / groups, …] as [groups, out / groups, in / groups, …]. */
static void split_groups(vendor_tensor *weights, int64_t groups) {
    if (groups == 1) return;
    for (int i = weights->rank++; i > 0; i--) {
        weights->dims[i] = weights->dims[i - 1];
        weights->strides[i] = weights->strides[i - 1];
    }
    weights->dims[1] /= groups;
    weights->dims[0] = groups;
    weights->strides[0] = weights->dims[1] * weights->strides[1];
}

/* Planes as rows. */
static void flatten(vendor_tensor *t, uint8_t rank) {
    t->dims[rank - 1] = t->dims[rank - 1] * t->dims[rank];
    t->strides[rank - 1] = 1;
    t->rank = rank;
}

/* output[image] = kernel input[image]: [out, in] times [in, positions]. */
static void make_pointwise(vendor_problem *p) {
    vendor_tensor *t = p->tensor, kernel = t[VENDOR_WEIGHTS];
    uint8_t array = p->array[VENDOR_WEIGHTS];
    bool one = t[VENDOR_RESULT].dims[0] == 1;
    p->kind = VENDOR_POINTWISE;
    p->convolution = false;
    p->size[3] = (uint64_t)t[VENDOR_RESULT].dims[0];
    p->size[1] /= p->size[3];
    p->array[VENDOR_WEIGHTS] = p->array[VENDOR_SOURCE];
    p->array[VENDOR_SOURCE] = array;
    t[VENDOR_WEIGHTS] = t[VENDOR_SOURCE];
    flatten(&t[VENDOR_WEIGHTS], 3);
    flatten(&t[VENDOR_RESULT], 3);
    t[VENDOR_SOURCE] = (vendor_tensor){
        .rank = 3,
        .type = kernel.type,
        .dims = {1, kernel.dims[0], kernel.dims[1]},
        .strides = {kernel.dims[0] * kernel.strides[0], kernel.strides[0], 1}};
    for (int i = 0; i < VENDOR_TENSORS && one; i++) { /* one product has no dimension in front */
        if (!t[i].rank) continue;
        t[i].rank = 2;
        for (int j = 0; j < 2; j++) {
            t[i].dims[j] = t[i].dims[j + 1];
            t[i].strides[j] = t[i].strides[j + 1];
        }
        t[i].dims[2] = t[i].strides[2] = 0;
    }
    for (int i = 0; i < 2; i++) p->stride[i] = p->dilation[i] = 0;
}

static bool is_pointwise(const vendor_problem *p) {
    const vendor_tensor *weights = &p->tensor[VENDOR_WEIGHTS];
    bool one = weights->rank == 4 && weights->dims[2] == 1 && weights->dims[3] == 1 &&
               p->stride[0] == 1 && p->stride[1] == 1;
    return one && !p->before[0] && !p->before[1] && !p->after[0] && !p->after[1] &&
           !p->tensor[VENDOR_BIAS].rank;
}

static bool convolution(const plan_call *call, vendor_problem *p) {
    uint32_t output = plan_operand_named(call, "output"),
             end = plan_operand_named(call, "padding_end");
    if (call->fn != HG_OP_MOV ||
        !tensor_of(call, plan_operand_named(call, "input"), 0, p, VENDOR_SOURCE) ||
        !tensor_of(call, plan_operand_named(call, "kernel"), 0, p, VENDOR_WEIGHTS) ||
        !tensor_of(call, output, 0, p, VENDOR_RESULT) ||
        !tensor_of(call, plan_operand_named(call, "bias"), 0, p, VENDOR_BIAS))
        return false;
    const uint64_t *extents = plan_array_of(call, output)->extents;
    const vendor_tensor *weights = &p->tensor[VENDOR_WEIGHTS];
    p->kind = VENDOR_CONV2D;
    p->convolution = true;
    p->alpha = 1;
    p->size[0] = extents[1];
    p->size[1] = extents[0] * extents[2] * extents[3];
    p->size[2] = (uint64_t)(weights->dims[1] * weights->dims[2] * weights->dims[3]);
    p->size[3] = 1;
    for (uint32_t i = 0; i < 2; i++) {
        p->stride[i] = number(call, "stride", i);
        p->dilation[i] = number(call, "dilation", i);
        p->before[i] = number(call, "padding", i);
        p->after[i] = plan_is_given(call, end) ? number(call, "padding_end", i) : p->before[i];
        if (p->stride[i] > INT32_MAX || p->dilation[i] > INT32_MAX || p->before[i] > INT32_MAX ||
            p->after[i] > INT32_MAX)
            return false;
    }
    split_groups(&p->tensor[VENDOR_WEIGHTS], number(call, "groups", 0));
    if (is_pointwise(p)) make_pointwise(p);
    /* Pairs of bf16 channels are multiplied at once: with others than blocks of them a NaN of a
     * neighbouring pixel would meet a weight of zero. */
    return !p->convolution || p->tensor[VENDOR_SOURCE].type != ONEDNN_BF16 ||
           weights->dims[weights->rank - 3] % 16 == 0;
}

bool vendor_problem_make(const plan_call *call, vendor_problem *p) {
    memset(p, 0, sizeof *p);
    p->type = call->type;
    p->flushes = call->type == HG_TYPE_BF16 && !call->relaxed; /* vdpbf16ps: factors, products and
                                                                  sums */
    switch ((hg_op)call->op) {
    case HG_OP_GEMM:
    case HG_OP_BATCHED_GEMM:
    case HG_OP_MIXED_PRECISION_GEMM: return product(call, p);
    case HG_OP_CONV2D: return convolution(call, p);
    case HG_OP_QUANTIZED_GEMM: return sums(call, p);
    default: return false;
    }
}
