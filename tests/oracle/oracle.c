/* The front of the oracle: which file answers for which type, reductions by the fixed tree, and how
 * results are compared. */
#include "oracle_internal.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

uint32_t oracle_size(hg_type type) {
    switch (type) {
    case HG_TYPE_I8:
    case HG_TYPE_U8: return 1;
    case HG_TYPE_F16:
    case HG_TYPE_BF16:
    case HG_TYPE_I16:
    case HG_TYPE_U16: return 2;
    case HG_TYPE_F32:
    case HG_TYPE_I32:
    case HG_TYPE_U32: return 4;
    case HG_TYPE_F64:
    case HG_TYPE_I64:
    case HG_TYPE_U64: return 8;
    case HG_TYPE_I128:
    case HG_TYPE_U128: return 16;
    case HG_TYPE_I256:
    case HG_TYPE_U256: return 32;
    case HG_TYPE_I512:
    case HG_TYPE_U512: return 64;
    case HG_TYPE_I1024:
    case HG_TYPE_U1024: return 128;
    case HG_TYPE_I2048:
    case HG_TYPE_U2048: return 256;
    case HG_TYPE_I4096:
    case HG_TYPE_U4096: return 512;
    case HG_TYPE_COUNT: break;
    }
    return 0;
}

bool oracle_is_float(hg_type type) {
    return type == HG_TYPE_F16 || type == HG_TYPE_BF16 || type == HG_TYPE_F32 ||
           type == HG_TYPE_F64;
}

bool oracle_is_signed(hg_type type) { /* of integers */
    switch (type) {
    case HG_TYPE_I8:
    case HG_TYPE_I16:
    case HG_TYPE_I32:
    case HG_TYPE_I64:
    case HG_TYPE_I128:
    case HG_TYPE_I256:
    case HG_TYPE_I512:
    case HG_TYPE_I1024:
    case HG_TYPE_I2048:
    case HG_TYPE_I4096: return true;
    default: return false;
    }
}

bool oracle_is_nan(hg_type type, const uint8_t *bytes) {
    return oracle_is_float(type) && float_unpack(type, bytes).kind == FLOAT_NAN;
}

oracle_outcome oracle_eval(hg_op op, hg_type type, hg_type type2, int variant,
                           const uint8_t *const *args, uint8_t *result) {
    if (op == HG_OP_CVT) {
        oracle_convert(type, type2, args[0], result);
        return ORACLE_OK;
    }
    if (op == HG_OP_BITS) {
        memcpy(result, args[0], oracle_size(type));
        return ORACLE_OK;
    }
    if (op == HG_OP_SEL) {
        memcpy(result, args[0][0] ? args[1] : args[2], oracle_size(type));
        return ORACLE_OK;
    }
    oracle_outcome of_bits = oracle_bits(op, type, type2, variant, args, result);
    if (of_bits != ORACLE_NONE) return of_bits;
    if (oracle_is_float(type)) {
        oracle_outcome outcome = oracle_float(op, type, variant, args, result);
        return outcome == ORACLE_NONE ? oracle_function(op, type, args, result) : outcome;
    }
    if (oracle_size(type) <= 8) return oracle_int(op, type, variant, args, result);
    return oracle_wide(op, type, variant, args, result);
}

oracle_outcome oracle_opname(hg_opname name, hg_type type, const uint8_t *const *args,
                             uint8_t *result) {
    static const hg_op OPS[HG_OPNAME_COUNT] = {
        /* the instruction whose meaning a name has; LDG where there is none */
        [HG_OPNAME_ABS] = HG_OP_ABS,        [HG_OPNAME_NEG] = HG_OP_NEG,
        [HG_OPNAME_SQRT] = HG_OP_SQRT,      [HG_OPNAME_EXP] = HG_OP_EXP,
        [HG_OPNAME_LOG] = HG_OP_LOG,        [HG_OPNAME_SIN] = HG_OP_SIN,
        [HG_OPNAME_COS] = HG_OP_COS,        [HG_OPNAME_TAN] = HG_OP_TAN,
        [HG_OPNAME_RELU] = HG_OP_MAX,       [HG_OPNAME_SIGMOID] = HG_OP_SIGMOID,
        [HG_OPNAME_TANH] = HG_OP_TANH,      [HG_OPNAME_CEIL] = HG_OP_CEIL,
        [HG_OPNAME_FLOOR] = HG_OP_FLOOR,    [HG_OPNAME_ROUND] = HG_OP_ROUND,
        [HG_OPNAME_RECIPROCAL] = HG_OP_RCP, [HG_OPNAME_ADD] = HG_OP_ADD,
        [HG_OPNAME_SUB] = HG_OP_SUB,        [HG_OPNAME_MUL] = HG_OP_MUL,
        [HG_OPNAME_DIV] = HG_OP_DIV,        [HG_OPNAME_POW] = HG_OP_POW,
        [HG_OPNAME_MIN] = HG_OP_MIN,        [HG_OPNAME_MAX] = HG_OP_MAX,
        [HG_OPNAME_SUM] = HG_OP_ADD,        [HG_OPNAME_PRODUCT] = HG_OP_MUL,
        [HG_OPNAME_ERF] = HG_OP_ERF,        [HG_OPNAME_ATAN2] = HG_OP_ATAN2,
        [HG_OPNAME_IDENTITY] = HG_OP_MOV,   [HG_OPNAME_GELU] = HG_OP_GELU,
        [HG_OPNAME_SWISH] = HG_OP_SWISH};
    static const uint8_t zero[ORACLE_MAX_BYTES];
    if (name == HG_OPNAME_RELU) { /* max(x, 0); a NaN gives 0 */
        const uint8_t *with_zero[3] = {args[0], zero, zero};
        return oracle_eval(HG_OP_MAX, type, type, 0, with_zero, result);
    }
    return oracle_eval(OPS[name], type, type, 0, args, result);
}

static void combine(hg_opname name, hg_type type, uint8_t *left, const uint8_t *right) {
    uint8_t result[ORACLE_MAX_BYTES];
    const uint8_t *args[3] = {left, right, right};
    oracle_opname(name, type, args, result);
    memcpy(left, result, oracle_size(type));
}

enum { CHUNK = 4096, TREE_LANES = 128 };

static void reduce_chunk(hg_opname name, hg_type type, const uint8_t *x, uint64_t n,
                         uint8_t *result) {
    static uint8_t acc[TREE_LANES][ORACLE_MAX_BYTES];
    uint32_t size = oracle_size(type);
    for (uint64_t i = 0; i < n; i++) {
        if (i < TREE_LANES)
            memcpy(acc[i], &x[i * size], size);
        else
            combine(name, type, acc[i % TREE_LANES], &x[i * size]);
    }
    for (uint32_t s = TREE_LANES / 2; s > 0; s /= 2)
        for (uint32_t l = 0; l < s && l + s < n; l++) combine(name, type, acc[l], acc[l + s]);
    memcpy(result, acc[0], size);
}

static void identity(hg_opname name, hg_type type, uint8_t *result) {
    static const hg_op FOLDS[HG_OPNAME_COUNT] = {[HG_OPNAME_SUM] = HG_OP_REDUCE_ADD,
                                                 [HG_OPNAME_PRODUCT] = HG_OP_REDUCE_MUL,
                                                 [HG_OPNAME_MIN] = HG_OP_REDUCE_MIN,
                                                 [HG_OPNAME_MAX] = HG_OP_REDUCE_MAX};
    oracle_eval(FOLDS[name], type, type, 0, NULL, result);
}

oracle_outcome oracle_reduce(hg_opname name, hg_type type, const uint8_t *elements, uint64_t n,
                             uint8_t *result) {
    bool narrow = type == HG_TYPE_F16 || type == HG_TYPE_BF16; /* these run the whole tree in f32 */
    hg_type work = narrow ? HG_TYPE_F32 : type;
    uint32_t size = oracle_size(work);
    if (n == 0) {
        identity(name, type, result);
        return ORACLE_OK;
    }
    uint8_t *x = malloc(n * size);
    if (!x) return ORACLE_NONE;
    for (uint64_t i = 0; i < n; i++)
        oracle_convert(work, type, &elements[i * oracle_size(type)], &x[i * size]);
    do {
        uint64_t chunks = (n + CHUNK - 1) / CHUNK;
        for (uint64_t c = 0; c < chunks; c++) {
            uint8_t one[ORACLE_MAX_BYTES];
            reduce_chunk(name, work, &x[c * CHUNK * size], c + 1 < chunks ? CHUNK : n - c * CHUNK,
                         one);
            memcpy(&x[c * size], one, size); /* chunk c is read no more */
        }
        n = chunks;
    } while (n > 1);
    oracle_convert(type, work, x, result);
    free(x);
    return ORACLE_OK;
}

static double to_double(hg_type type, const uint8_t *bytes) {
    double value;
    if (type != HG_TYPE_F64) return (double)float_widen(type, bytes);
    memcpy(&value, bytes, sizeof value);
    return value;
}

/* Functions are good to a few ULP on ordinary arguments; special values and their results are
 * exact. */
enum { FEW_ULP = 4, NARROW_ULP = 1 };
static const double TRIG_ORDINARY = 65536;

static uint64_t tolerance(bool trig, int count, hg_type type, const uint8_t *const *args,
                          const uint8_t *expected) {
    double value = to_double(type, expected);
    bool special = isnan(value);
    for (int i = 0; i < count; i++) {
        double x = to_double(type, args[i]);
        special = special || !isfinite(x) || x == 0;
        if (trig && isfinite(x) && fabs(x) > TRIG_ORDINARY) return ORACLE_UNCHECKED;
    }
    if (special) return 0;
    double least_normal = type == HG_TYPE_F16   ? 0x1p-14
                          : type == HG_TYPE_F64 ? 0x1p-1022
                                                : 0x1p-126;
    if (fabs(value) < 2 * least_normal && type != HG_TYPE_F16) return ORACLE_UNCHECKED;
    return type == HG_TYPE_F16 || type == HG_TYPE_BF16 ? NARROW_ULP : FEW_ULP;
}

uint64_t oracle_tolerance(hg_op op, hg_type type, const uint8_t *const *args,
                          const uint8_t *expected) {
    if (hg_op_get(op)->numbers == HG_NUMBERS_EXACT || !oracle_is_float(type)) return 0;
    bool trig = op == HG_OP_SIN || op == HG_OP_COS || op == HG_OP_TAN;
    /* The limit of gelu and swish at -inf is -0, the formula as written gives NaN, and the
     * semantics do not choose. */
    if ((op == HG_OP_GELU || op == HG_OP_SWISH) && to_double(type, args[0]) == (double)-INFINITY)
        return ORACLE_UNCHECKED;
    return tolerance(trig, oracle_function_args(op), type, args, expected);
}

uint64_t oracle_opname_tolerance(hg_opname name, hg_type type, const uint8_t *const *args,
                                 const uint8_t *expected) {
    hg_op op = hg_opname_op(name);
    return op == HG_OP_NONE ? 0 : oracle_tolerance(op, type, args, expected);
}

/* Floats of one type as integers in the order of their values; both zeros are 0. */
static int64_t ordinal(hg_type type, const uint8_t *bytes) {
    uint64_t bits = 0;
    uint32_t size = oracle_size(type);
    for (uint32_t i = 0; i < size; i++) bits |= (uint64_t)bytes[i] << (8 * i);
    int64_t magnitude = (int64_t)(bits & (((uint64_t)1 << (8 * size - 1)) - 1));
    return bits >> (8 * size - 1) ? -magnitude : magnitude;
}

bool oracle_agrees(hg_type type, uint64_t ulp, const uint8_t *expected, const uint8_t *actual) {
    if (ulp == ORACLE_UNCHECKED || memcmp(expected, actual, oracle_size(type)) == 0) return true;
    if (!oracle_is_float(type)) return false;
    bool nan_expected = oracle_is_nan(type, expected), nan_actual = oracle_is_nan(type, actual);
    if (nan_expected || nan_actual) return nan_expected && nan_actual;
    if (ulp == 0) return false;
    int64_t a = ordinal(type, expected), b = ordinal(type, actual);
    return (a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a) <= ulp;
}
