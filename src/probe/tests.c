/* The tests of the probe: what each asks about, and what is lowered when its results differ.
 * Must not know: how a test is written in kernel IR. */
#include "probe/probe_internal.h"

const probe_row PROBE_TESTS[PROBE_TEST_COUNT] = {
    [T_ADD] = {{KIR_FADD, PROBE_NONE}, PROBE_NONE},
    [T_SUB] = {{KIR_FSUB, PROBE_NONE}, PROBE_NONE},
    [T_MUL] = {{KIR_FMUL, PROBE_NONE}, PROBE_NONE},
    [T_DIV] = {{KIR_FDIV, PROBE_NONE}, PROBE_NONE},
    [T_SQRT] = {{KIR_FSQRT, PROBE_NONE}, PROBE_NONE},
    [T_FMA] = {{KIR_FFMA, PROBE_NONE}, PROBE_NONE},
    [T_MUL_ERROR] = {{KIR_FMULERR, PROBE_NONE}, PROBE_NONE},
    [T_FLOOR] = {{KIR_FFLOOR, PROBE_NONE}, PROBE_NONE},
    [T_TRUNC] = {{KIR_FTRUNC, PROBE_NONE}, PROBE_NONE},
    [T_RINT] = {{KIR_FRINT, PROBE_NONE}, PROBE_NONE},
    [T_EQ] = {{KIR_FCMP_EQ, PROBE_NONE}, PROBE_NONE},
    [T_LT] = {{KIR_FCMP_LT, PROBE_NONE}, PROBE_NONE},
    [T_LE] = {{KIR_FCMP_LE, PROBE_NONE}, PROBE_NONE},
    [T_SELECT] = {{KIR_FCMP_LT, PROBE_NONE}, PROBE_NONE},
    [T_FROM_U32] = {{KIR_U2F, PROBE_NONE}, PROBE_NONE},
    [T_FROM_S32] = {{KIR_S2F, PROBE_NONE}, PROBE_NONE},
    [T_TO_U32] = {{KIR_F2U, PROBE_NONE}, PROBE_NONE},
    [T_TO_S32] = {{KIR_F2S, PROBE_NONE}, PROBE_NONE},
    [T_FROM_U64] = {{KIR_U2F, PROBE_NONE}, PROBE_NONE},
    [T_FROM_S64] = {{KIR_S2F, PROBE_NONE}, PROBE_NONE},
    [T_TO_U64] = {{KIR_F2U, PROBE_NONE}, PROBE_NONE},
    [T_TO_S64] = {{KIR_F2S, PROBE_NONE}, PROBE_NONE},
    [T_CONVERT] = {{KIR_F2F, PROBE_NONE}, PROBE_NONE},
    [T_HALF_WIDEN] = {{KIR_H2F, PROBE_NONE}, PROBE_NONE},
    [T_HALF_NARROW] = {{KIR_F2H, PROBE_NONE}, PROBE_NONE},
    [T_BRAIN_WIDEN] = {{KIR_B2F, PROBE_NONE}, PROBE_NONE},
    [T_BRAIN_NARROW] = {{KIR_F2B, PROBE_NONE}, PROBE_NONE},
    [T_DOT4_S] = {{PROBE_NONE, PROBE_NONE}, PROBE_NONE},
    [T_DOT4_U] = {{PROBE_NONE, PROBE_NONE}, PROBE_NONE},
    /* a product and a sum cannot become one when the sum is integer code */
    [T_MUL_ADD] = {{KIR_FADD, KIR_FSUB}, KIR_FMUL},
    [T_MUL_SUB] = {{KIR_FADD, KIR_FSUB}, KIR_FMUL},
    [T_SUB_MUL] = {{KIR_FADD, KIR_FSUB}, KIR_FMUL},
    [T_SUM] = {{KIR_FADD, KIR_FSUB}, PROBE_NONE},
    [T_CANCEL] = {{KIR_FADD, KIR_FSUB}, PROBE_NONE},
    [T_PRODUCT] = {{KIR_FMUL, PROBE_NONE}, PROBE_NONE},
    [T_SUM_CONSTANTS] = {{KIR_FADD, KIR_FSUB}, PROBE_NONE},
    [T_PRODUCT_CONSTANTS] = {{KIR_FMUL, PROBE_NONE}, PROBE_NONE},
    [T_DISTRIBUTED] = {{KIR_FADD, KIR_FSUB}, KIR_FMUL},
    [T_ROOT_SQUARED] = {{KIR_FSQRT, PROBE_NONE}, KIR_FMUL},
    [T_DIV_CONSTANT] = {{KIR_FDIV, PROBE_NONE}, PROBE_NONE},
    [T_RECIPROCAL] = {{KIR_FDIV, PROBE_NONE}, PROBE_NONE},
    [T_RECIPROCAL_ROOT] = {{KIR_FDIV, KIR_FSQRT}, PROBE_NONE},
    [T_DIV_MUL] = {{KIR_FDIV, PROBE_NONE}, KIR_FMUL},
    [T_COMMON_DIVISOR] = {{KIR_FDIV, PROBE_NONE}, PROBE_NONE},
    [T_SELF_EQUAL] = {{KIR_FCMP_EQ, PROBE_NONE}, PROBE_NONE},
    [T_SELF_DIV] = {{KIR_FDIV, PROBE_NONE}, PROBE_NONE},
    [T_SELF_SUB] = {{KIR_FADD, KIR_FSUB}, PROBE_NONE},
    [T_TIMES_ZERO] = {{KIR_FMUL, PROBE_NONE}, PROBE_NONE},
    [T_PLUS_ZERO] = {{KIR_FADD, KIR_FSUB}, PROBE_NONE},
    [T_ZERO_MINUS] = {{KIR_FADD, KIR_FSUB}, PROBE_NONE},
    [T_ZERO_DIV] = {{KIR_FDIV, PROBE_NONE}, PROBE_NONE},
    [T_DIV_ZERO] = {{KIR_FDIV, PROBE_NONE}, PROBE_NONE},
};

bool hg_probe_wants(const kir_caps *caps, probe_test id, bool f64) {
    if (f64 && !(caps->f64 && caps->i64 && caps->subnormals)) return false;
    if (f64 && id >= PROBE_FIRST_COMBINED)
        return false; /* compilers treat both formats alike, and code for f64 takes them long */
    switch (id) {
    case T_MUL_ERROR: return caps->subnormals && (f64 ? caps->fma64 : caps->fma32);
    case T_FMA: return f64 ? caps->fma64 : caps->fma32;
    case T_FROM_U64:
    case T_FROM_S64:
    case T_TO_U64:
    case T_TO_S64: return caps->i64;
    case T_CONVERT: return f64 || (caps->f64 && caps->i64 && caps->subnormals);
    case T_HALF_WIDEN:
    case T_HALF_NARROW:
    case T_BRAIN_WIDEN:
    case T_BRAIN_NARROW: return !f64 && caps->half && caps->subnormals;
    case T_DOT4_S:
    case T_DOT4_U: return !f64 && caps->dot4;
    default: return true;
    }
}

uint8_t hg_probe_result_format(probe_test id, bool f64) {
    switch (id) {
    case T_EQ:
    case T_LT:
    case T_LE:
    case T_SELF_EQUAL:
    case T_TO_U32:
    case T_TO_S32:
    case T_TO_U64:
    case T_TO_S64:
    case T_DOT4_S:
    case T_DOT4_U: return 0;
    case T_HALF_NARROW: return HG_TYPE_F16;
    case T_BRAIN_NARROW: return HG_TYPE_BF16;
    case T_HALF_WIDEN:
    case T_BRAIN_WIDEN: return HG_TYPE_F32;
    case T_CONVERT: return f64 ? HG_TYPE_F32 : HG_TYPE_F64;
    default: return f64 ? HG_TYPE_F64 : HG_TYPE_F32;
    }
}
