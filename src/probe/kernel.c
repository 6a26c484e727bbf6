/* The kernel of the probe: every lane loads three operands of each format, runs every test on them
 * in straight code, so that a compiler that vectorises, contracts or reassociates does it here too,
 * and stores the bits. */
#include "kir/access.h"
#include "kir/builder.h"
#include "probe/probe_internal.h"

typedef struct writer {
    kir_builder b;
    kir_value *lane;      /* u64 */
    kir_value *raw[2][3]; /* bits of the operands: 0 u32, 1 u64 */
    uint32_t column;      /* results so far */
} writer;

static kir_value *access(writer *w, kir_op op, uint8_t type, uint32_t handle, kir_value *index,
                         kir_value *value) {
    kir_builder *b = &w->b;
    kir_value *input = kir_emit(b, KIR_INPUT, HG_TYPE_U64, 0, NULL);
    input->u.imm = handle;
    kir_place at = {.space = KIR_BUFFER, .handle = input, .index = index, .unchecked = true};
    return kir_access_make(b, op, type, &at, value != NULL, &value);
}

static kir_value *at(writer *w, kir_value *start, uint64_t offset) {
    return kir_add(&w->b, start, kir_const(&w->b, HG_TYPE_U64, offset));
}

static void load_operands(writer *w, const kir_caps *caps) {
    kir_builder *b = &w->b;
    kir_value *start = kir_mul(b, w->lane, kir_const(b, HG_TYPE_U64, 8));
    for (uint64_t i = 0; i < 3; i++) {
        w->raw[0][i] = access(w, KIR_LOAD, HG_TYPE_U32, 0, at(w, start, (3 + i) * PROBE_LANES * 8),
                              NULL);
        if (caps->i64)
            w->raw[1][i] = access(w, KIR_LOAD, HG_TYPE_U64, 0, at(w, start, i * PROBE_LANES * 8),
                                  NULL);
    }
}

static void store_result(writer *w, kir_value *r) {
    kir_builder *b = &w->b;
    if (r->type == KIR_BOOL)
        r = kir_select(b, r, kir_const(b, HG_TYPE_U32, 1), kir_const(b, HG_TYPE_U32, 0));
    if (r->type == HG_TYPE_F32) r = kir_convert(b, KIR_BITCAST, HG_TYPE_U32, r);
    if (r->type == HG_TYPE_F64) r = kir_convert(b, KIR_BITCAST, HG_TYPE_U64, r);
    if (r->type == HG_TYPE_U16) r = kir_convert(b, KIR_ZEXT, HG_TYPE_U32, r);
    kir_value *cell = kir_mul(b, w->lane, kir_const(b, HG_TYPE_U64, 8));
    access(w, KIR_STORE, r->type, 1, at(w, cell, (uint64_t)w->column++ * PROBE_LANES * 8), r);
}

static kir_value *number(writer *w, uint8_t t, double value) {
    return t == HG_TYPE_F64 ? kir_f64(&w->b, value) : kir_f32(&w->b, (float)value);
}

/* The operand between 1 and 2, or -1 and -2: there the error of a product is exact. */
static kir_value *near_one(writer *w, uint8_t t, kir_value *raw) {
    kir_builder *b = &w->b;
    uint64_t one = t == HG_TYPE_F64 ? UINT64_C(0x3FF) << 52 : 0x3F800000,
             kept = ~(t == HG_TYPE_F64 ? UINT64_C(0x7FF) << 52 : 0x7F800000);
    kir_value *low = kir_binary(b, KIR_AND, raw, kir_const(b, raw->type, kept));
    return kir_convert(b, KIR_BITCAST, t, kir_binary(b, KIR_OR, low, kir_const(b, raw->type, one)));
}

static kir_value *product_error(writer *w, uint8_t t) {
    kir_value *const *raw = w->raw[t == HG_TYPE_F64];
    kir_value *x = near_one(w, t, raw[0]);
    return kir_binary(&w->b, KIR_FMULERR, x, near_one(w, t, raw[1]));
}

static kir_value *combined(writer *w, probe_test id, uint8_t t, kir_value *x, kir_value *y,
                           kir_value *z) {
    kir_builder *b = &w->b;
    switch (id) {
    case T_MUL_ADD: return kir_add(b, kir_mul(b, x, y), z);
    case T_MUL_SUB: return kir_sub(b, kir_mul(b, x, y), z);
    case T_SUB_MUL: return kir_sub(b, z, kir_mul(b, x, y));
    case T_SUM: return kir_add(b, kir_add(b, x, y), z);
    case T_CANCEL: return kir_sub(b, kir_add(b, x, y), x);
    case T_PRODUCT: return kir_mul(b, kir_mul(b, x, y), z);
    case T_SUM_CONSTANTS:
        return kir_add(b, kir_add(b, x, number(w, t, 0x1.8p-20)), number(w, t, 0x1.cp-21));
    case T_PRODUCT_CONSTANTS: return kir_mul(b, kir_mul(b, x, number(w, t, 3)), number(w, t, 5));
    case T_DISTRIBUTED: return kir_add(b, kir_mul(b, x, y), kir_mul(b, x, number(w, t, 3)));
    case T_ROOT_SQUARED: {
        kir_value *root = kir_unary(b, KIR_FSQRT, x);
        return kir_mul(b, root, root);
    }
    case T_SELF_SUB: return kir_sub(b, x, x);
    case T_TIMES_ZERO: return kir_mul(b, x, number(w, t, 0));
    case T_PLUS_ZERO: return kir_add(b, x, number(w, t, 0));
    case T_ZERO_MINUS: return kir_sub(b, number(w, t, 0), x);
    case T_ZERO_DIV: return kir_binary(b, KIR_FDIV, number(w, t, 0), x);
    case T_DIV_ZERO: return kir_binary(b, KIR_FDIV, x, number(w, t, 0));
    case T_SELF_EQUAL: return kir_binary(b, KIR_FCMP_EQ, x, x);
    case T_SELF_DIV: return kir_binary(b, KIR_FDIV, x, x);
    case T_DIV_CONSTANT: return kir_binary(b, KIR_FDIV, x, number(w, t, 3));
    case T_RECIPROCAL: return kir_binary(b, KIR_FDIV, number(w, t, 1), x);
    case T_RECIPROCAL_ROOT:
        return kir_binary(b, KIR_FDIV, number(w, t, 1), kir_unary(b, KIR_FSQRT, x));
    case T_DIV_MUL: return kir_mul(b, kir_binary(b, KIR_FDIV, x, y), y);
    default: return kir_binary(b, KIR_FDIV, z, y); /* T_COMMON_DIVISOR: T_DIV divides by y too */
    }
}

static kir_value *test(writer *w, probe_test id, bool f64) {
    kir_builder *b = &w->b;
    uint8_t t = f64 ? HG_TYPE_F64 : HG_TYPE_F32;
    kir_value *v[3], *u = w->raw[0][0], *wide = w->raw[1][0];
    for (int i = 0; i < 3; i++) v[i] = kir_convert(b, KIR_BITCAST, t, w->raw[f64][i]);
    switch (id) {
    case T_ADD: return kir_add(b, v[0], v[1]);
    case T_SUB: return kir_sub(b, v[0], v[1]);
    case T_MUL: return kir_mul(b, v[0], v[1]);
    case T_DIV: return kir_binary(b, KIR_FDIV, v[0], v[1]);
    case T_SQRT: return kir_unary(b, KIR_FSQRT, v[0]);
    case T_FMA: return kir_ffma(b, v[0], v[1], v[2]);
    case T_MUL_ERROR: return product_error(w, t);
    case T_FLOOR: return kir_unary(b, KIR_FFLOOR, v[0]);
    case T_TRUNC: return kir_unary(b, KIR_FTRUNC, v[0]);
    case T_RINT: return kir_unary(b, KIR_FRINT, v[0]);
    case T_EQ: return kir_binary(b, KIR_FCMP_EQ, v[0], v[1]);
    case T_LT: return kir_binary(b, KIR_FCMP_LT, v[0], v[1]);
    case T_LE: return kir_binary(b, KIR_FCMP_LE, v[0], v[1]);
    case T_SELECT: return kir_select(b, kir_binary(b, KIR_FCMP_LT, v[0], v[1]), v[0], v[1]);
    case T_FROM_U32: return kir_convert(b, KIR_U2F, t, u);
    case T_FROM_S32: return kir_convert(b, KIR_S2F, t, u);
    case T_TO_U32: return kir_convert(b, KIR_F2U, HG_TYPE_U32, v[0]);
    case T_TO_S32: return kir_convert(b, KIR_F2S, HG_TYPE_U32, v[0]);
    case T_FROM_U64: return kir_convert(b, KIR_U2F, t, wide);
    case T_FROM_S64: return kir_convert(b, KIR_S2F, t, wide);
    case T_TO_U64: return kir_convert(b, KIR_F2U, HG_TYPE_U64, v[0]);
    case T_TO_S64: return kir_convert(b, KIR_F2S, HG_TYPE_U64, v[0]);
    case T_CONVERT: return kir_convert(b, KIR_F2F, f64 ? HG_TYPE_F32 : HG_TYPE_F64, v[0]);
    case T_HALF_WIDEN:
        return kir_convert(b, KIR_H2F, HG_TYPE_F32, kir_convert(b, KIR_TRUNC, HG_TYPE_U16, u));
    case T_BRAIN_WIDEN:
        return kir_convert(b, KIR_B2F, HG_TYPE_F32, kir_convert(b, KIR_TRUNC, HG_TYPE_U16, u));
    case T_HALF_NARROW: return kir_convert(b, KIR_F2H, HG_TYPE_U16, v[0]);
    case T_BRAIN_NARROW: return kir_convert(b, KIR_F2B, HG_TYPE_U16, v[0]);
    case T_DOT4_S: return kir_derived(b, HG_OP_DOT4, HG_TYPE_I32, 3, w->raw[0]);
    case T_DOT4_U: return kir_derived(b, HG_OP_DOT4, HG_TYPE_U32, 3, w->raw[0]);
    default: return combined(w, id, t, v[0], v[1], v[2]);
    }
}

kir_module *hg_probe_kernel(const kir_caps *caps, int columns[2][PROBE_TEST_COUNT],
                            uint32_t *count) {
    writer w_ = {.column = 0}, *w = &w_;
    kir_module *m = kir_module_create("probe");
    if (!m) return NULL;
    kir_builder_init(&w->b, m, kir_function_create(m, "probe", KIR_VOID));
    for (uint8_t i = 0; i < 2; i++) {
        kir_input *input = hg_vec_push(&m->inputs);
        if (input)
            *input = (kir_input){.type = HG_TYPE_U64, .reg = i, .is_buffer = true};
        else
            w->b.failed = true;
    }
    w->lane = kir_emit(&w->b, KIR_ID, HG_TYPE_U64, 0, NULL);
    w->lane->u.imm = HG_ID_GLOBAL_LANE_ID;
    load_operands(w, caps);
    for (int f64 = 0; f64 < 2; f64++)
        for (int id = 0; id < PROBE_TEST_COUNT; id++) {
            columns[f64][id] = -1;
            if (!hg_probe_wants(caps, (probe_test)id, f64)) continue;
            columns[f64][id] = (int)w->column;
            store_result(w, test(w, (probe_test)id, f64));
        }
    *count = w->column;
    if (!w->b.failed) return m;
    kir_module_destroy(m);
    return NULL;
}
