/* Which calls cuBLASLt does, and as what.
 * Must not know: the library. */
#include "backends/cuda/vendor.h"
#include <string.h>

/* ---- factors ---- */

/* A factor: f64 where the matrices are, else f32. */
static double factor(const plan_call *call, const char *name) {
    uint64_t word = plan_named(call, name);
    uint32_t bits = (uint32_t)word;
    float f;
    double d;
    if (call->type == HG_TYPE_F64) {
        memcpy(&d, &word, sizeof d);
        return d;
    }
    memcpy(&f, &bits, sizeof f);
    return (double)f;
}

static void set_factors(const lt_problem *p, double alpha, double beta, lt_factors *factors) {
    if (p->scale == LT_F64) {
        factors->alpha.f64 = alpha;
        factors->beta.f64 = beta;
    } else if (p->scale == LT_F32) {
        factors->alpha.f32 = (float)alpha;
        factors->beta.f32 = (float)beta;
    } else {
        factors->alpha.i32 = (int32_t)alpha;
        factors->beta.i32 = (int32_t)beta;
    }
}

/* ---- matrices ---- */

static bool type_of(uint8_t type, uint8_t *lt) {
    switch ((hg_type)type) {
    case HG_TYPE_F16: *lt = LT_F16; return true;
    case HG_TYPE_BF16: *lt = LT_BF16; return true;
    case HG_TYPE_F32: *lt = LT_F32; return true;
    case HG_TYPE_F64: *lt = LT_F64; return true;
    case HG_TYPE_I8: *lt = LT_I8; return true;
    case HG_TYPE_I32: *lt = LT_I32; return true;
    default: return false;
    }
}

/* The last two dimensions of an array, and the one in front. Its rows or its columns must lie one
 * after another. */
static bool matrix_of(const plan_call *call, const char *name, lt_matrix *m) {
    const plan_array *a = plan_array_of(call, plan_operand_named(call, name));
    int64_t size, row, column;
    if (!a || a->rank < 2 || a->rank > 3 || !type_of(a->type, &m->type)) return false;
    size = (int64_t)hg_type_size_bytes((hg_type)a->type);
    for (uint32_t i = 0; i < a->rank; i++)
        if (a->extents[i] == 0 || a->extents[i] > INT32_MAX || a->strides[i] < 0 ||
            a->strides[i] % size)
            return false;
    uint32_t last = a->rank - 1;
    uint64_t rows = a->extents[last - 1], columns = a->extents[last];
    row = a->strides[last - 1] / size;
    column = a->strides[last] / size;
    m->array = (uint8_t)(a - call->arrays);
    m->stride = a->rank == 3 ? a->strides[0] / size : 0;
    m->transposed = columns > 1 && column != 1;
    if (m->transposed && rows > 1 && row != 1) return false;
    m->rows = m->transposed ? rows : columns;
    m->columns = m->transposed ? columns : rows;
    m->leading = m->transposed ? column : row;
    if (m->columns == 1) m->leading = (int64_t)m->rows; /* nothing lies behind it */
    return m->leading >= (int64_t)m->rows;
}

/* ---- the instructions ---- */

static bool product(const plan_call *call, lt_problem *p, lt_factors *factors) {
    const plan_array *c = plan_array_of(call, plan_operand_named(call, "c"));
    if (call->fn != HG_OP_MOV || plan_array_of(call, plan_operand_named(call, "bias")) ||
        plan_named(call, "accumulate") || !matrix_of(call, "a", &p->right) ||
        !matrix_of(call, "b", &p->left) || !matrix_of(call, "c", &p->result) ||
        p->result.transposed)
        return false;
    p->batches = c->rank == 3 ? (uint32_t)c->extents[0] : 1;
    if (p->batches > 1 && p->result.stride == 0) return false;
    p->compute = p->result.type == LT_F64 ? LT_COMPUTE_F64_PEDANTIC : LT_COMPUTE_F32;
    p->scale = p->result.type == LT_F64 ? LT_F64 : LT_F32;
    /* The matrices' own precision, but for a program that leaves it to the device. */
    if (p->left.type == LT_F32)
        p->compute = call->relaxed ? LT_COMPUTE_TF32 : LT_COMPUTE_F32_PEDANTIC;
    double alpha = factor(call, "alpha");
    set_factors(p, alpha, factor(call, "beta"), factors);
    return alpha != 0; /* it does not read the factors then, among which there may be a NaN */
}

/* Sums of products of bytes, as far as no sum can leave i32; they are exact. */
static bool sums(const plan_call *call, lt_problem *p, lt_factors *factors) {
    enum { MOST = 131071 }; /* products of -128 and -128 */
    if (call->type != HG_TYPE_I8 || !plan_named(call, "sums") || !plan_named(call, "trans_b") ||
        (uint8_t)plan_named(call, "a_zero") || (uint8_t)plan_named(call, "b_zero") ||
        plan_array_of(call, plan_operand_named(call, "a_zeros")) ||
        plan_array_of(call, plan_operand_named(call, "b_zeros")) ||
        plan_is_given(call, plan_operand_named(call, "batch")) || plan_named(call, "b_unsigned") ||
        !matrix_of(call, "a", &p->right) || !matrix_of(call, "b", &p->left) ||
        !matrix_of(call, "c", &p->result) || p->right.transposed || p->left.transposed ||
        p->result.transposed || p->right.rows > MOST)
        return false;
    p->left.transposed = true;
    p->batches = 1;
    p->compute = LT_COMPUTE_I32;
    p->scale = LT_I32;
    set_factors(p, 1, 0, factors);
    return true;
}

bool lt_problem_make(const plan_call *call, lt_problem *p, lt_factors *factors) {
    memset(p, 0, sizeof *p);
    memset(factors, 0, sizeof *factors);
    p->op = call->op;
    p->type = call->type;
    switch ((hg_op)call->op) {
    case HG_OP_GEMM:
    case HG_OP_BATCHED_GEMM:
    case HG_OP_MIXED_PRECISION_GEMM: return product(call, p, factors);
    case HG_OP_QUANTIZED_GEMM: return sums(call, p, factors);
    default: return false;
    }
}

bool lt_problem_is_faster(const lt_problem *p) {
    static const struct {
        uint16_t op;
        uint8_t type;
        uint64_t from;
    } ROWS[] = {
#define VENDOR(instruction, type, multiplications) \
    {HG_OP_##instruction, HG_TYPE_##type, multiplications},
#include "backends/cuda/vendor.def"
    };
    uint64_t inner = p->right.transposed ? p->right.columns : p->right.rows;
    uint64_t work = plan_times(plan_times(p->result.rows, p->result.columns),
                               plan_times(inner, p->batches));
    for (size_t i = 0; i < HG_COUNT_OF(ROWS); i++)
        if (ROWS[i].op == p->op && ROWS[i].type == p->type) return work >= ROWS[i].from;
    return p->compute == LT_COMPUTE_TF32; /* of a program that asks for speed */
}
