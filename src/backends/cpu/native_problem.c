/* Which calls oneDNN does, and as what: products of matrices.
 * Must not know: the library, threads. */
#include "backends/cpu/native_internal.h"
#include <string.h>

static int type_of(uint8_t type) {
    switch ((hg_type)type) {
    case HG_TYPE_F32: return ONEDNN_F32;
    case HG_TYPE_BF16: return ONEDNN_BF16;
    default: return 0;
    }
}

/* A factor in the type of the result, f32 or bf16. */
static float factor(const plan_call *call, const char *name, int type) {
    uint32_t bits = (uint32_t)plan_number(call, plan_operand_named(call, name), 0);
    float value;
    if (type == ONEDNN_BF16) bits <<= 16;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* An array with as many dimensions as it has, those ahead of `first` left out. A dimension of which all indices are the same element becomes 1:
 * oneDNN repeats it. */
static bool tensor_of(const plan_call *call, uint32_t operand, uint32_t first, native_problem *p, int role) {
    const plan_array *a = plan_array_of(call, operand);
    native_tensor *t = &p->tensor[role];
    if (!a) return true;
    int type = type_of(a->type);
    int64_t size = (int64_t)hg_type_size_bytes((hg_type)a->type);
    if (!type || a->rank < first || a->rank - first > NATIVE_MOST_DIMS) return false;
    p->array[role] = (uint8_t)(a - call->arrays);
    t->type = (uint8_t)type;
    for (uint32_t i = first; i < a->rank; i++) {
        if (a->extents[i] == 0 || a->extents[i] > INT32_MAX || a->strides[i] < 0 || a->strides[i] % size) return false;
        t->dims[t->rank] = a->strides[i] ? (int64_t)a->extents[i] : 1;
        t->strides[t->rank++] = a->strides[i] / size;
    }
    return true;
}

/* oneDNN wants strides that grow with the dimensions inside: those of dimensions of one element are free, and what they are changes what it can do. */
static void tidy_strides(native_tensor *t) {
    for (int i = 0; i < t->rank; i++) {
        if (t->dims[i] != 1) continue;
        int64_t most = 1;
        for (int j = 0; j < t->rank; j++)
            if (j != i && t->dims[j] != 1 && t->dims[j] * t->strides[j] > most && i < t->rank - 1) most = t->dims[j] * t->strides[j];
        t->strides[i] = most;
    }
}

/* The bias as a row in front of which there are dimensions of one. */
static void widen_bias(native_tensor *bias, uint8_t rank) {
    if (!bias->rank) return;
    int64_t n = bias->dims[0];
    for (int i = 0; i < rank; i++) {
        bias->dims[i] = i == rank - 1 ? n : 1;
        bias->strides[i] = i == rank - 1 ? 1 : n;
    }
    bias->rank = rank;
}

static bool product(const plan_call *call, native_problem *p) {
    uint32_t a = plan_operand_named(call, "a"), b = plan_operand_named(call, "b"), c = plan_operand_named(call, "c");
    const uint64_t *extents = plan_array_of(call, c)->extents;
    uint32_t first = extents[0] == 1; /* one product has no dimension in front */
    if (call->fn != HG_OP_MOV || !tensor_of(call, a, first, p, NATIVE_SOURCE) || !tensor_of(call, b, first, p, NATIVE_WEIGHTS) ||
        !tensor_of(call, c, first, p, NATIVE_RESULT) || !tensor_of(call, plan_operand_named(call, "bias"), 0, p, NATIVE_BIAS))
        return false;
    const native_tensor *result = &p->tensor[NATIVE_RESULT];
    p->size[0] = extents[1];
    p->size[1] = extents[2];
    p->size[2] = plan_array_of(call, a)->extents[2];
    p->size[3] = extents[0];
    if (result->rank == 3 && result->dims[0] != (int64_t)extents[0]) return false;
    for (int i = 0; i < NATIVE_TENSORS; i++) tidy_strides(&p->tensor[i]);
    widen_bias(&p->tensor[NATIVE_BIAS], result->rank);
    p->alpha = factor(call, "alpha", result->type);
    p->beta = factor(call, "beta", result->type);
    return p->alpha == 1 || !p->tensor[NATIVE_BIAS].rank; /* its scale comes behind the bias */
}

bool native_problem_make(const plan_call *call, native_problem *p) {
    memset(p, 0, sizeof *p);
    p->op = call->op;
    p->type = call->type;
    switch ((hg_op)call->op) {
    case HG_OP_GEMM:
    case HG_OP_BATCHED_GEMM:
    case HG_OP_MIXED_PRECISION_GEMM: return product(call, p);
    default: return false;
    }
}
