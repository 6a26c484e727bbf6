/* Float instructions that have one right answer: the host's IEEE binary32 and binary64, built
 * without contraction. f16 and bf16 are by definition the binary32 result of the widened operands,
 * rounded once more (semantics 0.3); their arithmetic, which has one rounding, is in oracle_half.c.
 */
#include "oracle_internal.h"
#include <math.h>
#include <string.h>

static bool holds(hg_condition condition, double a, double b) {
    switch (condition) {
    case HG_COND_EQ: return a == b;
    case HG_COND_NE: return a != b;
    case HG_COND_LT: return a < b;
    case HG_COND_LE: return a <= b;
    case HG_COND_GT: return a > b;
    case HG_COND_GE: return a >= b;
    default: return false;
    }
}

/* The same text for binary32 (suffix f) and binary64. */
#define DEFINE_FLOAT(real, suffix)                                                       \
    static real smaller_##real(real a, real b) {                                         \
        if (isnan(a)) return b;                                                          \
        if (isnan(b)) return a;                                                          \
        if (a == b) return signbit(a) ? a : b;                                           \
        return a < b ? a : b;                                                            \
    }                                                                                    \
    static real larger_##real(real a, real b) {                                          \
        if (isnan(a)) return b;                                                          \
        if (isnan(b)) return a;                                                          \
        if (a == b) return signbit(a) ? b : a;                                           \
        return a > b ? a : b;                                                            \
    }                                                                                    \
    static real sign_##real(real a) { return isnan(a) ? a : (real)((a > 0) - (a < 0)); } \
    static real clamp_##real(real a, real low, real high) {                              \
        return isnan(a) ? a : smaller_##real(larger_##real(a, low), high);               \
    }                                                                                    \
    static real round_##real(real a) { /* halves away from zero */                       \
        real whole = trunc##suffix(a);                                                   \
        return isfinite(a) && fabs##suffix(a - whole) >= (real)0.5                       \
                   ? whole + copysign##suffix((real)1, a)                                \
                   : whole;                                                              \
    }                                                                                    \
    static bool compute_##real(hg_op op, const real *v, real *r) {                       \
        real step;                                                                       \
        switch (op) {                                                                    \
        case HG_OP_ADD: *r = v[0] + v[1]; return true;                                   \
        case HG_OP_SUB: *r = v[0] - v[1]; return true;                                   \
        case HG_OP_MUL: *r = v[0] * v[1]; return true;                                   \
        case HG_OP_DIV: *r = v[0] / v[1]; return true;                                   \
        case HG_OP_REM: *r = fmod##suffix(v[0], v[1]); return true;                      \
        case HG_OP_MIN: *r = smaller_##real(v[0], v[1]); return true;                    \
        case HG_OP_MAX: *r = larger_##real(v[0], v[1]); return true;                     \
        case HG_OP_FMA: *r = fma##suffix(v[0], v[1], v[2]); return true;                 \
        case HG_OP_FMS: *r = fma##suffix(v[0], v[1], -v[2]); return true;                \
        case HG_OP_MAD:                                                                  \
            step = v[0] * v[1];                                                          \
            *r = step + v[2];                                                            \
            return true;                                                                 \
        case HG_OP_SQRT: *r = sqrt##suffix(v[0]); return true;                           \
        case HG_OP_RCP: *r = (real)1 / v[0]; return true;                                \
        case HG_OP_SIGN: *r = sign_##real(v[0]); return true;                            \
        case HG_OP_FLOOR: *r = floor##suffix(v[0]); return true;                         \
        case HG_OP_CEIL: *r = ceil##suffix(v[0]); return true;                           \
        case HG_OP_ROUND: *r = round_##real(v[0]); return true;                          \
        case HG_OP_RINT: *r = rint##suffix(v[0]); return true;                           \
        case HG_OP_TRUNC: *r = trunc##suffix(v[0]); return true;                         \
        case HG_OP_CLAMP: *r = clamp_##real(v[0], v[1], v[2]); return true;              \
        case HG_OP_LERP:                                                                 \
            step = v[1] - v[0];                                                          \
            step = step * v[2];                                                          \
            *r = v[0] + step;                                                            \
            return true;                                                                 \
        default: return false;                                                           \
        }                                                                                \
    }                                                                                    \
    static void fold_##real(hg_op op, int count, const real *v, real *r) {               \
        *r = op == HG_OP_REDUCE_MUL   ? (real)1                                          \
             : op == HG_OP_REDUCE_MIN ? (real)INFINITY                                   \
             : op == HG_OP_REDUCE_MAX ? -(real)INFINITY                                  \
                                      : (real)0;                                         \
        for (int i = 0; i < count; i++)                                                  \
            *r = i == 0                   ? v[0]                                         \
                 : op == HG_OP_REDUCE_ADD ? *r + v[i]                                    \
                 : op == HG_OP_REDUCE_MUL ? *r * v[i]                                    \
                 : op == HG_OP_REDUCE_MIN ? smaller_##real(*r, v[i])                     \
                                          : larger_##real(*r, v[i]);                     \
    }

DEFINE_FLOAT(float, f)
DEFINE_FLOAT(double, )

static int argument_count(hg_op op) {
    switch (op) {
    case HG_OP_FMA:
    case HG_OP_FMS:
    case HG_OP_MAD:
    case HG_OP_CLAMP:
    case HG_OP_LERP: return 3;
    case HG_OP_ADD:
    case HG_OP_SUB:
    case HG_OP_MUL:
    case HG_OP_DIV:
    case HG_OP_REM:
    case HG_OP_MIN:
    case HG_OP_MAX:
    case HG_OP_SET: return 2;
    default: return 1;
    }
}

static bool is_fold(hg_op op) {
    return op == HG_OP_REDUCE_ADD || op == HG_OP_REDUCE_MIN || op == HG_OP_REDUCE_MAX ||
           op == HG_OP_REDUCE_MUL;
}

/* mov, abs and neg act on bits, NaN or not. */
static oracle_outcome on_bits(hg_op op, hg_type type, const uint8_t *source, uint8_t *result) {
    uint32_t size = oracle_size(type);
    memcpy(result, source, size);
    if (op == HG_OP_ABS) result[size - 1] &= 0x7F;
    if (op == HG_OP_NEG) result[size - 1] ^= 0x80;
    return ORACLE_OK;
}

static oracle_outcome on_f64(hg_op op, int variant, const uint8_t *const *args, uint8_t *result) {
    double v[256], r;
    int count = is_fold(op) ? variant : argument_count(op);
    for (int i = 0; i < count; i++) memcpy(&v[i], args[i], sizeof v[i]);
    if (is_fold(op))
        fold_double(op, count, v, &r);
    else if (!compute_double(op, v, &r))
        return ORACLE_NONE;
    memcpy(result, &r, sizeof r);
    return ORACLE_OK;
}

/* The later element of each pair first. */
static oracle_outcome pairs(hg_type type, const uint8_t *const *args, uint8_t *result) {
    float sum;
    memcpy(&sum, args[2], sizeof sum);
    sum = fmaf(float_widen(type, args[0] + 2), float_widen(type, args[1] + 2), sum);
    sum = fmaf(float_widen(type, args[0]), float_widen(type, args[1]), sum);
    memcpy(result, &sum, sizeof sum);
    return ORACLE_OK;
}

oracle_outcome oracle_float(hg_op op, hg_type type, int variant, const uint8_t *const *args,
                            uint8_t *result) {
    if (op == HG_OP_MOV || op == HG_OP_ABS || op == HG_OP_NEG)
        return on_bits(op, type, args[0], result);
    if (op == HG_OP_DOT2) return pairs(type, args, result);
    if (op == HG_OP_SET) {
        double a, b;
        if (type == HG_TYPE_F64)
            memcpy(&a, args[0], sizeof a), memcpy(&b, args[1], sizeof b);
        else
            a = float_widen(type, args[0]), b = float_widen(type, args[1]);
        if (hg_condition_is_unsigned((hg_condition)variant)) return ORACLE_NONE;
        result[0] = holds((hg_condition)variant, a, b);
        return ORACLE_OK;
    }
    if (type == HG_TYPE_F64) return on_f64(op, variant, args, result);
    if (type != HG_TYPE_F32 && half_exact(op, type, args, result)) return ORACLE_OK;
    float v[256], r;
    int count = is_fold(op) ? variant : argument_count(op);
    for (int i = 0; i < count; i++) v[i] = float_widen(type, args[i]);
    if (is_fold(op)) {
        fold_float(op, count, v, &r);
    } else if (!compute_float(op, v, &r)) {
        return ORACLE_NONE;
    }
    float_narrow(type, r, result);
    return ORACLE_OK;
}
