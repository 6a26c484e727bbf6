/* Functions in quad precision, rounded once to the type. Their results are compared within
 * oracle_tolerance. */
#include "oracle_internal.h"
#include "quad.h"
#include <string.h>

static quad to_quad(hg_type type, const uint8_t *bytes) {
    if (type == HG_TYPE_F64) {
        double value;
        memcpy(&value, bytes, sizeof value);
        return (quad)value;
    }
    return (quad)float_widen(type, bytes);
}

static void from_quad(hg_type type, quad value, uint8_t *bytes) {
    int exponent = 0;
    unpacked u = {FLOAT_FINITE, Q(signbit)(value) != 0, 0, 0};
    bool sticky = false;
    if (Q(isnan)(value))
        u.kind = FLOAT_NAN;
    else if (Q(isinf)(value))
        u.kind = FLOAT_INFINITE;
    else if (value == 0)
        u.kind = FLOAT_ZERO;
    else {
        quad scaled = Q(ldexp)(Q(fabs)(Q(frexp)(value, &exponent)), 64), whole = Q(trunc)(scaled);
        u.mantissa = (uint64_t)whole;
        u.exponent = exponent - 64;
        sticky = whole != scaled;
    }
    float_pack(type, u, sticky, bytes);
}

/* x/2 * (1 + erf(x/sqrt 2)) = x/2 * erfc(-x/sqrt 2), which keeps its digits in the left tail. At
 * -inf the limit, -0. */
static quad gelu(quad x) {
    if (Q(isinf)(x) && x < 0) return -(quad)0;
    return x / 2 * Q(erfc)(-x / Q(sqrt)((quad)2));
}

/* e^x / (1 + e^x) left of zero, so that nothing overflows. */
static quad sigmoid(quad x) {
    if (x > 0) return 1 / (1 + Q(exp)(-x));
    quad e = Q(exp)(x);
    return e / (1 + e);
}

static quad swish(quad x) { return Q(isinf)(x) && x < 0 ? -(quad)0 : x * sigmoid(x); }

static bool compute(hg_op op, quad x, quad y, quad *r) {
    switch (op) {
    case HG_OP_EXP: *r = Q(exp)(x); return true;
    case HG_OP_LOG: *r = Q(log)(x); return true;
    case HG_OP_LOG2: *r = Q(log2)(x); return true;
    case HG_OP_LOG10: *r = Q(log10)(x); return true;
    case HG_OP_RSQRT: *r = 1 / Q(sqrt)(x); return true;
    case HG_OP_SIN: *r = Q(sin)(x); return true;
    case HG_OP_COS: *r = Q(cos)(x); return true;
    case HG_OP_TAN: *r = Q(tan)(x); return true;
    case HG_OP_TANH: *r = Q(tanh)(x); return true;
    case HG_OP_SIGMOID: *r = sigmoid(x); return true;
    case HG_OP_GELU: *r = gelu(x); return true;
    case HG_OP_SWISH: *r = swish(x); return true;
    case HG_OP_POW: *r = Q(pow)(x, y); return true;
    case HG_OP_EXP10: *r = Q(pow)(10, x); return true;
    case HG_OP_SINPI: *r = quad_sinpi(x); return true;
    case HG_OP_COSPI: *r = quad_cospi(x); return true;
    case HG_OP_EXP2: *r = Q(exp2)(x); return true;
    case HG_OP_EXPM1: *r = Q(expm1)(x); return true;
    case HG_OP_LOG1P: *r = Q(log1p)(x); return true;
    case HG_OP_CBRT: *r = Q(cbrt)(x); return true;
    case HG_OP_ERF: *r = Q(erf)(x); return true;
    case HG_OP_ERFC: *r = Q(erfc)(x); return true;
    case HG_OP_ATAN: *r = Q(atan)(x); return true;
    case HG_OP_ATAN2: *r = Q(atan2)(x, y); return true;
    case HG_OP_ASIN: *r = Q(asin)(x); return true;
    case HG_OP_ACOS: *r = Q(acos)(x); return true;
    case HG_OP_SINH: *r = Q(sinh)(x); return true;
    case HG_OP_COSH: *r = Q(cosh)(x); return true;
    case HG_OP_ASINH: *r = Q(asinh)(x); return true;
    case HG_OP_ACOSH: *r = Q(acosh)(x); return true;
    case HG_OP_ATANH: *r = Q(atanh)(x); return true;
    case HG_OP_HYPOT: *r = Q(hypot)(x, y); return true;
    default: return false;
    }
}

int oracle_function_args(hg_op op) {
    return op == HG_OP_POW || op == HG_OP_ATAN2 || op == HG_OP_HYPOT ? 2 : 1;
}

oracle_outcome oracle_function(hg_op op, hg_type type, const uint8_t *const *args,
                               uint8_t *result) {
    quad r;
    if (!compute(op, to_quad(type, args[0]),
                 oracle_function_args(op) == 2 ? to_quad(type, args[1]) : 0, &r))
        return ORACLE_NONE;
    from_quad(type, r, result);
    return ORACLE_OK;
}
