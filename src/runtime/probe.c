/* The numeric probe: every lane has three operands of each format, runs every operation of the table on them (straight code, so that a
 * compiler that vectorises, contracts or reassociates does it here too) and stores the bits. The tile interpreter runs the same module.
 * Must not know: which driver it asks. */
#include "runtime/probe.h"
#include "base/blobcache.h"
#include "runtime/execute_internal.h"
#include "tile/tile.h"
#include "kir/builder.h"
#include "kir/pipeline/pipeline.h"
#include <string.h>

enum {
    VERSION = 5, /* of the table and of what results mean: part of the cache key */
    LANES = 4096,
    OPERANDS = 6 /* three u64 or f64, three u32 or f32 */,
    GROUP = 64
};

/* ---- the table ---- */

typedef enum test_id {
    T_ADD,
    T_SUB,
    T_MUL,
    T_DIV,
    T_SQRT,
    T_FMA,
    T_FLOOR,
    T_TRUNC,
    T_RINT,
    T_EQ,
    T_LT,
    T_LE,
    T_SELECT,
    T_FROM_U32,
    T_FROM_S32,
    T_TO_U32,
    T_TO_S32,
    T_FROM_U64,
    T_FROM_S64,
    T_TO_U64,
    T_TO_S64,
    T_CONVERT,
    T_HALF_WIDEN,
    T_HALF_NARROW,
    T_BRAIN_WIDEN,
    T_BRAIN_NARROW,
    /* several operations: each must round by itself and in the order written */
    T_MUL_ADD,
    T_MUL_SUB,
    T_SUB_MUL,
    T_SUM,
    T_CANCEL,
    T_PRODUCT,
    T_DIV_CONSTANT,
    T_RECIPROCAL,
    T_RECIPROCAL_ROOT,
    T_DIV_MUL,
    T_COMMON_DIVISOR,
    T_SELF_EQUAL,
    T_SELF_DIV,
    /* zeros that a compiler can see, and a number less itself */
    T_SELF_SUB,
    T_TIMES_ZERO,
    T_PLUS_ZERO,
    T_ZERO_MINUS,
    T_ZERO_DIV,
    T_DIV_ZERO,
    TEST_COUNT,
    FIRST_COMBINED = T_MUL_ADD,
    FIRST_ZERO = T_SELF_SUB
} test_id;

enum { NONE = KIR_OP_COUNT };
/* ops: what is lowered when a result of the test differs. part: what else the test is made of. */
static const struct {
    uint8_t ops[2], part; /* NONE: no other */
} TESTS[TEST_COUNT] = {
    [T_ADD] = {{KIR_FADD, NONE}, NONE},
    [T_SUB] = {{KIR_FSUB, NONE}, NONE},
    [T_MUL] = {{KIR_FMUL, NONE}, NONE},
    [T_DIV] = {{KIR_FDIV, NONE}, NONE},
    [T_SQRT] = {{KIR_FSQRT, NONE}, NONE},
    [T_FMA] = {{KIR_FFMA, NONE}, NONE},
    [T_FLOOR] = {{KIR_FFLOOR, NONE}, NONE},
    [T_TRUNC] = {{KIR_FTRUNC, NONE}, NONE},
    [T_RINT] = {{KIR_FRINT, NONE}, NONE},
    [T_EQ] = {{KIR_FCMP_EQ, NONE}, NONE},
    [T_LT] = {{KIR_FCMP_LT, NONE}, NONE},
    [T_LE] = {{KIR_FCMP_LE, NONE}, NONE},
    [T_SELECT] = {{KIR_FCMP_LT, NONE}, NONE},
    [T_FROM_U32] = {{KIR_U2F, NONE}, NONE},
    [T_FROM_S32] = {{KIR_S2F, NONE}, NONE},
    [T_TO_U32] = {{KIR_F2U, NONE}, NONE},
    [T_TO_S32] = {{KIR_F2S, NONE}, NONE},
    [T_FROM_U64] = {{KIR_U2F, NONE}, NONE},
    [T_FROM_S64] = {{KIR_S2F, NONE}, NONE},
    [T_TO_U64] = {{KIR_F2U, NONE}, NONE},
    [T_TO_S64] = {{KIR_F2S, NONE}, NONE},
    [T_CONVERT] = {{KIR_F2F, NONE}, NONE},
    [T_HALF_WIDEN] = {{KIR_H2F, NONE}, NONE},
    [T_HALF_NARROW] = {{KIR_F2H, NONE}, NONE},
    [T_BRAIN_WIDEN] = {{KIR_B2F, NONE}, NONE},
    [T_BRAIN_NARROW] = {{KIR_F2B, NONE}, NONE},
    /* a product and a sum cannot become one when the sum is integer code */
    [T_MUL_ADD] = {{KIR_FADD, KIR_FSUB}, KIR_FMUL},
    [T_MUL_SUB] = {{KIR_FADD, KIR_FSUB}, KIR_FMUL},
    [T_SUB_MUL] = {{KIR_FADD, KIR_FSUB}, KIR_FMUL},
    [T_SUM] = {{KIR_FADD, KIR_FSUB}, NONE},
    [T_CANCEL] = {{KIR_FADD, KIR_FSUB}, NONE},
    [T_PRODUCT] = {{KIR_FMUL, NONE}, NONE},
    [T_DIV_CONSTANT] = {{KIR_FDIV, NONE}, NONE},
    [T_RECIPROCAL] = {{KIR_FDIV, NONE}, NONE},
    [T_RECIPROCAL_ROOT] = {{KIR_FDIV, KIR_FSQRT}, NONE},
    [T_DIV_MUL] = {{KIR_FDIV, NONE}, KIR_FMUL},
    [T_COMMON_DIVISOR] = {{KIR_FDIV, NONE}, NONE},
    [T_SELF_EQUAL] = {{KIR_FCMP_EQ, NONE}, NONE},
    [T_SELF_DIV] = {{KIR_FDIV, NONE}, NONE},
    [T_SELF_SUB] = {{KIR_FADD, KIR_FSUB}, NONE},
    [T_TIMES_ZERO] = {{KIR_FMUL, NONE}, NONE},
    [T_PLUS_ZERO] = {{KIR_FADD, KIR_FSUB}, NONE},
    [T_ZERO_MINUS] = {{KIR_FADD, KIR_FSUB}, NONE},
    [T_ZERO_DIV] = {{KIR_FDIV, NONE}, NONE},
    [T_DIV_ZERO] = {{KIR_FDIV, NONE}, NONE},
};

/* What the device has at all; the rest is integer code already. */
static bool wanted(const kir_caps *caps, test_id id, bool f64) {
    if (f64 && !(caps->f64 && caps->i64 && caps->subnormals)) return false;
    if (f64 && id >= FIRST_COMBINED) return false; /* compilers treat both formats alike, and code for f64 takes them long */
    switch (id) {
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
    default: return true;
    }
}

/* ---- the kernel ---- */

typedef struct writer {
    kir_builder b;
    kir_value *lane;      /* u64 */
    kir_value *raw[2][3]; /* bits of the operands: 0 u32, 1 u64 */
    uint32_t column;      /* results so far */
} writer;

static kir_value *access(writer *w, kir_op op, uint8_t type, uint32_t handle, kir_value *index, kir_value *value) {
    kir_builder *b = &w->b;
    kir_value *input = kir_emit(b, KIR_INPUT, HG_TYPE_U64, 0, NULL);
    input->u.imm = handle;
    kir_value *v = kir_emit(b, op, op == KIR_LOAD ? type : (uint8_t)KIR_VOID, value ? 3 : 2, (kir_value *[]){input, index, value});
    v->u.mem.space = KIR_BUFFER;
    v->u.mem.bytes = (uint8_t)kir_type_bytes(type);
    v->u.mem.bytes_wide = (uint16_t)kir_type_bytes(type);
    v->u.mem.has_index = v->u.mem.unchecked = 1;
    v->u.mem.slot = KIR_OPEN;
    return v;
}

static kir_value *at(writer *w, kir_value *start, uint64_t offset) { return kir_add(&w->b, start, kir_const(&w->b, HG_TYPE_U64, offset)); }

static void load_operands(writer *w, const kir_caps *caps) {
    kir_builder *b = &w->b;
    kir_value *start = kir_mul(b, w->lane, kir_const(b, HG_TYPE_U64, 8));
    for (uint64_t i = 0; i < 3; i++) {
        w->raw[0][i] = access(w, KIR_LOAD, HG_TYPE_U32, 0, at(w, start, (3 + i) * LANES * 8), NULL);
        if (caps->i64) w->raw[1][i] = access(w, KIR_LOAD, HG_TYPE_U64, 0, at(w, start, i * LANES * 8), NULL);
    }
}

/* A column has LANES cells of eight bytes; what has up to four bytes takes the lower half. */
static void store_result(writer *w, kir_value *r) {
    kir_builder *b = &w->b;
    if (r->type == KIR_BOOL) r = kir_select(b, r, kir_const(b, HG_TYPE_U32, 1), kir_const(b, HG_TYPE_U32, 0));
    if (r->type == HG_TYPE_F32) r = kir_convert(b, KIR_BITCAST, HG_TYPE_U32, r);
    if (r->type == HG_TYPE_F64) r = kir_convert(b, KIR_BITCAST, HG_TYPE_U64, r);
    if (r->type == HG_TYPE_U16) r = kir_convert(b, KIR_ZEXT, HG_TYPE_U32, r);
    kir_value *cell = kir_mul(b, w->lane, kir_const(b, HG_TYPE_U64, 8));
    access(w, KIR_STORE, r->type, 1, at(w, cell, (uint64_t)w->column++ * LANES * 8), r);
}

static kir_value *number(writer *w, uint8_t t, double value) {
    return t == HG_TYPE_F64 ? kir_f64(&w->b, value) : kir_f32(&w->b, (float)value);
}

static kir_value *combined(writer *w, test_id id, uint8_t t, kir_value *x, kir_value *y, kir_value *z) {
    kir_builder *b = &w->b;
    switch (id) {
    case T_MUL_ADD: return kir_add(b, kir_mul(b, x, y), z);
    case T_MUL_SUB: return kir_sub(b, kir_mul(b, x, y), z);
    case T_SUB_MUL: return kir_sub(b, z, kir_mul(b, x, y));
    case T_SUM: return kir_add(b, kir_add(b, x, y), z);
    case T_CANCEL: return kir_sub(b, kir_add(b, x, y), x);
    case T_PRODUCT: return kir_mul(b, kir_mul(b, x, y), z);
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
    case T_RECIPROCAL_ROOT: return kir_binary(b, KIR_FDIV, number(w, t, 1), kir_unary(b, KIR_FSQRT, x));
    case T_DIV_MUL: return kir_mul(b, kir_binary(b, KIR_FDIV, x, y), y);
    default: return kir_binary(b, KIR_FDIV, z, y); /* T_COMMON_DIVISOR: T_DIV divides by y too */
    }
}

static kir_value *test(writer *w, test_id id, bool f64) {
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
    case T_HALF_WIDEN: return kir_convert(b, KIR_H2F, HG_TYPE_F32, kir_convert(b, KIR_TRUNC, HG_TYPE_U16, u));
    case T_BRAIN_WIDEN: return kir_convert(b, KIR_B2F, HG_TYPE_F32, kir_convert(b, KIR_TRUNC, HG_TYPE_U16, u));
    case T_HALF_NARROW: return kir_convert(b, KIR_F2H, HG_TYPE_U16, v[0]);
    case T_BRAIN_NARROW: return kir_convert(b, KIR_F2B, HG_TYPE_U16, v[0]);
    default: return combined(w, id, t, v[0], v[1], v[2]);
    }
}

/* columns: of each test and format, -1: not wanted. */
static kir_module *build(const kir_caps *caps, int columns[2][TEST_COUNT], uint32_t *count) {
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
        for (int id = 0; id < TEST_COUNT; id++) {
            columns[f64][id] = -1;
            if (!wanted(caps, (test_id)id, f64)) continue;
            columns[f64][id] = (int)w->column;
            store_result(w, test(w, (test_id)id, f64));
        }
    *count = w->column;
    if (!w->b.failed) return m;
    kir_module_destroy(m);
    return NULL;
}

/* ---- operands ---- */

static const uint32_t SPECIAL32[] = {
    0,          0x80000000, 1,          0x80000001, 0x007FFFFF, 0x807FFFFF, 0x00800000, 0x80800000,
    0x00800001, 0x00FFFFFF,                                     /* around the smallest */
    0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000, /* largest, infinity, NaN */
    0x3F800000, 0xBF800000, 0x3F800001, 0x3F7FFFFF, 0x3F000000, 0xBF000000, 0x3EFFFFFF, 0x3FC00000,
    0x40200000, 0xC0200000, 0x40600000, 0x4AFFFFFF, 0x4B000000, 0x4B000001, 0x4B7FFFFF, 0x4B800000, /* 2^23 - 1/2 … 2^24 */
    0x4EFFFFFF, 0x4F000000, 0xCF000000, 0xCF000001, 0x4F7FFFFF, 0x4F800000, 0x5EFFFFFF, 0x5F000000,
    0xDF000000, 0x5F7FFFFF, 0x5F800000, /* 2^31, 2^32, 2^63, 2^64 */
    0x40400000, 0x3EAAAAAB, 0x1E3CE508, 0x5F3CE508, 0x0D800000, 0x72000000, 0x477FE000, 0x477FEFFF,
    0x477FF000, 0x38800000, 0x387FC000, 0x33800000, 0x33000000, 0x33000001, 0x7F7F7FFF, 0x7F7F8000 /* borders of halves */};
static const uint64_t SPECIAL64[] = {
    0, UINT64_C(1) << 63, 1, UINT64_C(0x8000000000000001), UINT64_C(0x000FFFFFFFFFFFFF), UINT64_C(0x0010000000000000),
    UINT64_C(0x8010000000000000), UINT64_C(0x0010000000000001), UINT64_C(0x001FFFFFFFFFFFFF), UINT64_C(0x7FEFFFFFFFFFFFFF),
    UINT64_C(0x7FF0000000000000), UINT64_C(0xFFF0000000000000), UINT64_C(0x7FF8000000000000), UINT64_C(0x3FF0000000000000),
    UINT64_C(0xBFF0000000000000), UINT64_C(0x3FF0000000000001), UINT64_C(0x3FEFFFFFFFFFFFFF), UINT64_C(0x3FE0000000000000),
    UINT64_C(0xBFE0000000000000), UINT64_C(0x3FDFFFFFFFFFFFFF), UINT64_C(0x3FF8000000000000), UINT64_C(0x4004000000000000),
    UINT64_C(0xC004000000000000), UINT64_C(0x432FFFFFFFFFFFFF), UINT64_C(0x4330000000000000), UINT64_C(0x4330000000000001),
    UINT64_C(0x4340000000000000), UINT64_C(0x41DFFFFFFFC00000), UINT64_C(0x41E0000000000000), UINT64_C(0xC1E0000000000000),
    UINT64_C(0xC1E0000000200000), UINT64_C(0x41EFFFFFFFE00000), UINT64_C(0x41F0000000000000), UINT64_C(0x43DFFFFFFFFFFFFF),
    UINT64_C(0x43E0000000000000), UINT64_C(0xC3E0000000000000), UINT64_C(0x43EFFFFFFFFFFFFF), UINT64_C(0x43F0000000000000),
    UINT64_C(0x4008000000000000),
    /* f64 to f32: largest, overflow, smallest normal and subnormal, ties */
    UINT64_C(0x47EFFFFFE0000000), UINT64_C(0x47EFFFFFEFFFFFFF), UINT64_C(0x47EFFFFFF0000000), UINT64_C(0x3810000000000000),
    UINT64_C(0x380FFFFFFFFFFFFF), UINT64_C(0x36A0000000000000), UINT64_C(0x3690000000000000), UINT64_C(0x3690000000000001),
    UINT64_C(0x3FF0000010000000), UINT64_C(0x3FF0000030000000), UINT64_C(0x3FF0000010000001),
    /* integers to floats: halves of the last place of f32 and f64 */
    UINT64_C(0x8000008000000000), UINT64_C(0x8000008000000001), UINT64_C(0x8000018000000000), UINT64_C(0x0020000000000001),
    UINT64_C(0x8000000000000400), UINT64_C(0x8000000000000401), UINT64_C(0x8000000000000C00), UINT64_C(0xFFFFFFFFFFFFFC00), UINT64_MAX,
    UINT64_C(0x7FFFFFFFFFFFFFFF)};

static uint64_t chance(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    return *state ^= *state << 17;
}

/* Numbers with all bits at chance, or near 1 so that quotients, roots and sums are at their hardest. */
static uint32_t random32(uint64_t *state) {
    uint64_t r = chance(state);
    return r >> 63 ? (uint32_t)r : 0x3F000000 + (uint32_t)(r & 0x01FFFFFF);
}
static uint64_t random64(uint64_t *state) {
    uint64_t r = chance(state);
    return chance(state) >> 63 ? r : UINT64_C(0x3FE0000000000000) + (r & UINT64_C(0x003FFFFFFFFFFFFF));
}

/* Pairs of special values, then chance; in every fourth lane the third operand takes a rounded product away, which tells fused from not. */
static void fill_operands(uint8_t *bytes) {
    const uint32_t n32 = HG_COUNT_OF(SPECIAL32), n64 = HG_COUNT_OF(SPECIAL64);
    uint64_t state = UINT64_C(0x9E3779B97F4A7C15);
    for (uint32_t i = 0; i < LANES; i++) {
        bool special = i < LANES * 3 / 4;
        uint32_t a[3];
        uint64_t w[3];
        uint32_t p32 = i * 31 + i / n32, p64 = i * 37 + i / n64; /* most pairs once */
        for (uint32_t k = 0; k < 3; k++) {
            a[k] = special ? SPECIAL32[(k == 0 ? i : k == 1 ? p32 : i + p32) % n32] : random32(&state);
            w[k] = special ? SPECIAL64[(k == 0 ? i : k == 1 ? p64 : i + p64) % n64] : random64(&state);
        }
        if (i % 4 == 0) {
            float x, y, z;
            double dx, dy, dz;
            memcpy(&x, &a[0], 4);
            memcpy(&y, &a[1], 4);
            memcpy(&dx, &w[0], 8);
            memcpy(&dy, &w[1], 8);
            z = -(x * y);
            dz = -(dx * dy);
            memcpy(&a[2], &z, 4);
            memcpy(&w[2], &dz, 8);
        }
        for (size_t k = 0; k < 3; k++) {
            memcpy(bytes + (k * LANES + i) * 8, &w[k], 8);
            memcpy(bytes + ((3 + k) * LANES + i) * 8, &a[k], 4);
        }
    }
}

/* ---- both runs ---- */

static hg_status run_expected(kir_module *m, const uint8_t *operands, uint8_t *results, uint64_t size) {
    tile_options options = {.level = tile_level_best()};
    tile_kernel *kernel = NULL;
    tile_fault fault;
    kir_caps caps;
    kir_module *low = NULL;
    tile_caps(false, &caps);
    kir_compilation c = {.caps = &caps};
    hg_status status = kir_pipeline_run(&c, KIR_STAGE_KERNEL, KIR_STAGE_LOW, m, &low);
    if (status == HG_OK) status = tile_compile(low, &options, &kernel);
    kir_module_destroy(low);
    HG_TRY(status);
    uint64_t inputs[2] = {0, 0};
    tile_memory slots[2] = {{(uint8_t *)(uintptr_t)operands, (uint64_t)OPERANDS * LANES * 8, true}, {results, size, true}};
    tile_launch launch = {
        .grid = {LANES / GROUP, 1, 1}, .block = {GROUP, 1, 1}, .lanes = LANES, .inputs = inputs, .slots = slots, .max_threads = 1};
    status = tile_run(kernel, &launch, &fault);
    tile_kernel_destroy(kernel);
    return status;
}

static hg_status transfer(hg_backend *b, hg_driver_command_kind kind, hg_range range, void *host) {
    hg_driver_command command = {.kind = kind, .host = host};
    *(kind == HG_CMD_COPY_OUT ? &command.from : &command.to) = range;
    return hg_transfer(b->context, &command);
}

static hg_status run_device(hg_backend *b, kir_module *m, const uint8_t *operands, uint8_t *results, uint64_t size) {
    hg_piece in = {0}, out = {0};
    hg_kernel kernel = {0};
    hg_driver_fault fault = {0};
    uint64_t inputs[8] = {0};
    uint8_t aliases[1] = {HG_ALIAS_DISTINCT};
    hg_status status = hg_kernel_compile(b, m, &kernel);
    if (status == HG_OK) status = hg_piece_alloc(&b->memory, (uint64_t)OPERANDS * LANES * 8, &in);
    if (status == HG_OK) status = hg_piece_alloc(&b->memory, size, &out);
    if (status == HG_OK) status = transfer(b, HG_CMD_COPY_IN, in.range, (void *)(uintptr_t)operands);
    if (status == HG_OK) {
        hg_range slots[2] = {in.range, out.range};
        hg_driver_launch launch = {.kernel = kernel.code,
                                   .grid = {LANES / GROUP, 1, 1},
                                   .block = {GROUP, 1, 1},
                                   .lanes = LANES,
                                   .inputs = inputs,
                                   .slots = slots,
                                   .slot_count = 2,
                                   .aliases = aliases};
        status = hg_launch_kernel(b->context, &kernel, &launch, &fault);
    }
    if (status == HG_OK) status = transfer(b, HG_CMD_COPY_OUT, out.range, results);
    hg_piece_free(&b->memory, &in);
    hg_piece_free(&b->memory, &out);
    hg_kernel_free(b, &kernel);
    return status;
}

/* ---- what the differences mean ---- */

typedef struct comparison {
    const uint8_t *operands, *expected, *actual;
    int (*columns)[TEST_COUNT];
    hg_probe_result *result;
} comparison;

static uint64_t operand(const comparison *c, uint32_t lane, bool f64, int k) {
    uint64_t bits;
    memcpy(&bits, c->operands + ((size_t)(f64 ? k : 3 + k) * LANES + lane) * 8, 8);
    return bits;
}
static uint64_t cell(const uint8_t *results, int column, uint32_t lane) {
    uint64_t v;
    memcpy(&v, results + ((size_t)column * LANES + lane) * 8, 8);
    return v;
}

static uint64_t magnitude(uint64_t bits, bool f64) { return f64 ? bits & (UINT64_MAX >> 1) : bits & 0x7FFFFFFF; }
static bool is_nan(uint64_t bits, bool f64) { return magnitude(bits, f64) > (f64 ? UINT64_C(0x7FF0000000000000) : 0x7F800000); }
/* Not zero, and not above the smallest normal number: what a device that flushes may lose. */
static bool is_tiny(uint64_t bits, bool f64) {
    uint64_t m = magnitude(bits, f64);
    return m && m <= (f64 ? UINT64_C(0x0010000000000000) : 0x00800000);
}

/* The format of a result; 0: an integer. */
static uint8_t result_format(test_id id, bool f64) {
    switch (id) {
    case T_EQ:
    case T_LT:
    case T_LE:
    case T_SELF_EQUAL:
    case T_TO_U32:
    case T_TO_S32:
    case T_TO_U64:
    case T_TO_S64: return 0;
    case T_HALF_NARROW: return HG_TYPE_F16;
    case T_BRAIN_NARROW: return HG_TYPE_BF16;
    case T_HALF_WIDEN:
    case T_BRAIN_WIDEN: return HG_TYPE_F32;
    case T_CONVERT: return f64 ? HG_TYPE_F32 : HG_TYPE_F64;
    default: return f64 ? HG_TYPE_F64 : HG_TYPE_F32;
    }
}

static bool same_result(uint8_t format, uint64_t x, uint64_t y) {
    if (x == y) return true;
    if (format == HG_TYPE_F32 || format == HG_TYPE_F64) return is_nan(x, format == HG_TYPE_F64) && is_nan(y, format == HG_TYPE_F64);
    if (format == HG_TYPE_F16) return (x & 0x7FFF) > 0x7C00 && (y & 0x7FFF) > 0x7C00;
    if (format == HG_TYPE_BF16) return (x & 0x7FFF) > 0x7F80 && (y & 0x7FFF) > 0x7F80;
    return false;
}

/* Whether a subnormal number has a part in this lane's result: as an operand, as the result, or on the way. */
static bool touches_tiny(const comparison *c, test_id id, bool f64, uint32_t lane) {
    static const test_id STEPS[] = {T_ADD, T_SUB, T_MUL, T_DIV, T_SQRT};
    uint8_t format = result_format(id, f64);
    uint64_t expected = cell(c->expected, c->columns[f64][id], lane);
    if ((format == HG_TYPE_F32 || format == HG_TYPE_F64) && is_tiny(expected, format == HG_TYPE_F64)) return true;
    for (int k = 0; k < 3; k++)
        if (is_tiny(operand(c, lane, f64, k), f64)) return true;
    if (id == T_BRAIN_WIDEN || id == T_BRAIN_NARROW) return true; /* a bf16 is subnormal where an f32 is */
    for (size_t i = 0; id >= FIRST_COMBINED && i < HG_COUNT_OF(STEPS); i++)
        if (is_tiny(cell(c->expected, c->columns[f64][STEPS[i]], lane), f64)) return true;
    return false;
}

static void mark(const comparison *c, test_id id, bool f64) {
    hg_probe_result *r = c->result;
    if (id == T_FMA) {
        r->fma[f64] = true;
    } else if (id >= FIRST_ZERO) {
        r->folds_zeros = true;
    } else if (id >= T_HALF_WIDEN && id <= T_BRAIN_NARROW) {
        r->half = true;
    } else {
        bool wide = f64 || id == T_CONVERT;
        for (int i = 0; i < 2 && TESTS[id].ops[i] != NONE; i++) {
            r->inexact[TESTS[id].ops[i]][wide] = true;
            if (id >= FIRST_COMBINED) r->inexact[TESTS[id].ops[i]][1] = true;
        }
    }
}

/* Whether an operation of a test with several is lowered already, so that the test proves nothing more. */
static bool explained(const comparison *c, test_id id, bool f64) {
    const uint8_t ops[] = {TESTS[id].ops[0], TESTS[id].ops[1], TESTS[id].part};
    bool lowered = false;
    for (size_t i = 0; i < HG_COUNT_OF(ops); i++) lowered |= ops[i] != NONE && c->result->inexact[ops[i]][f64];
    return id >= FIRST_COMBINED && lowered;
}

/* Sums, products and comparisons that lose subnormals: then the whole format is handled as a flushing one (kir_caps.subnormals), which
 * costs less than integer code. */
static bool makes_flushing(test_id id) {
    return id == T_ADD || id == T_SUB || id == T_MUL || id == T_EQ || id == T_LT || id == T_LE || id == T_SELECT;
}

static void compare(comparison *c) {
    bool tiny[2][TEST_COUNT] = {{false}};
    for (int f64 = 0; f64 < 2; f64++)
        for (int i = 0; i < TEST_COUNT; i++) {
            test_id id = (test_id)i;
            bool plain = false;
            if (c->columns[f64][id] < 0 || explained(c, id, f64)) continue;
            for (uint32_t lane = 0; lane < LANES; lane++) {
                uint64_t e = cell(c->expected, c->columns[f64][id], lane), a = cell(c->actual, c->columns[f64][id], lane);
                if (same_result(result_format(id, f64), e, a)) continue;
                c->result->differences++;
                if (touches_tiny(c, id, f64, lane))
                    tiny[f64][id] = true;
                else
                    plain = true;
            }
            if (plain) mark(c, id, f64);
            if (tiny[f64][id] && !f64 && makes_flushing(id)) c->result->flushes = true;
        }
    for (int f64 = 0; f64 < 2; f64++)
        for (int id = 0; id < FIRST_COMBINED; id++)
            if (tiny[f64][id] && (f64 || !c->result->flushes)) mark(c, (test_id)id, f64);
}

hg_status hg_probe_run(hg_backend *b, hg_probe_result *result) {
    int columns[2][TEST_COUNT];
    uint32_t count;
    memset(result, 0, sizeof *result);
    kir_module *m = build(&b->caps->kir, columns, &count);
    if (!m) return hg_fail_memory();
    uint64_t size = (uint64_t)count * LANES * 8, all = (uint64_t)OPERANDS * LANES * 8 + 2 * size;
    uint8_t *operands = hg_calloc(1, (size_t)all);
    hg_status status = operands ? HG_OK : hg_fail_memory();
    if (status == HG_OK) {
        uint8_t *expected = operands + (size_t)OPERANDS * LANES * 8, *actual = expected + size;
        fill_operands(operands);
        status = run_expected(m, operands, expected, size);
        if (status == HG_OK) status = run_device(b, m, operands, actual, size);
        comparison c = {operands, expected, actual, columns, result};
        if (status == HG_OK) compare(&c);
    }
    hg_free(operands);
    kir_module_destroy(m);
    return status;
}

void hg_probe_apply(const hg_probe_result *r, kir_caps *caps) {
    caps->subnormals = caps->subnormals && !r->flushes;
    caps->half = caps->half && !r->half;
    caps->folds_zeros = caps->folds_zeros || r->folds_zeros;
    caps->fma32 = caps->fma32 && !r->fma[0];
    caps->fma64 = caps->fma64 && !r->fma[1];
    for (int op = 0; op < KIR_OP_COUNT; op++)
        for (int f64 = 0; f64 < 2; f64++) caps->inexact[op][f64] = caps->inexact[op][f64] || r->inexact[op][f64];
}

/* ---- the cache ---- */

static void cache_key(const hg_backend *b, uint8_t key[HG_BLOB_KEY_BYTES]) {
    static const char WHAT[] = "hologram numeric probe";
    const uint32_t version[] = {VERSION, KIR_OP_COUNT, LANES, TEST_COUNT};
    const kir_caps *k = &b->caps->kir;
    const uint8_t promises[] = {k->i8, k->i16, k->i64, k->f64, k->fma32, k->fma64, k->subnormals, k->half, k->folds_zeros};
    hg_blake3 h;
    hg_blake3_init(&h);
    hg_blake3_update(&h, WHAT, sizeof WHAT);
    hg_blake3_update(&h, version, sizeof version);
    hg_blake3_update(&h, promises, sizeof promises);
    hg_blake3_update(&h, k->inexact, sizeof k->inexact);
    hg_blake3_update(&h, b->caps->identity, strlen(b->caps->identity));
    hg_blake3_final(&h, key);
}

/* As bytes: flags, then the table, then the count. */
enum { BLOB_FLAGS = 5, BLOB_BYTES = BLOB_FLAGS + 2 * KIR_OP_COUNT + 4 };

static void pack(const hg_probe_result *r, uint8_t blob[BLOB_BYTES]) {
    const uint8_t flags[BLOB_FLAGS] = {r->flushes, r->half, r->fma[0], r->fma[1], r->folds_zeros};
    memcpy(blob, flags, sizeof flags);
    for (int op = 0; op < KIR_OP_COUNT; op++)
        for (int f64 = 0; f64 < 2; f64++) blob[BLOB_FLAGS + 2 * op + f64] = r->inexact[op][f64];
    for (int i = 0; i < 4; i++) blob[BLOB_BYTES - 4 + i] = (uint8_t)(r->differences >> (8 * i));
}

static bool unpack(const uint8_t *blob, uint64_t size, hg_probe_result *r) {
    memset(r, 0, sizeof *r);
    if (size != BLOB_BYTES) return false;
    r->flushes = blob[0] != 0;
    r->half = blob[1] != 0;
    r->fma[0] = blob[2] != 0;
    r->fma[1] = blob[3] != 0;
    r->folds_zeros = blob[4] != 0;
    for (int op = 0; op < KIR_OP_COUNT; op++)
        for (int f64 = 0; f64 < 2; f64++) r->inexact[op][f64] = blob[BLOB_FLAGS + 2 * op + f64] != 0;
    for (int i = 0; i < 4; i++) r->differences |= (uint32_t)blob[BLOB_BYTES - 4 + i] << (8 * i);
    return true;
}

static hg_status probe_cached(hg_backend *b, hg_blob_cache *cache, hg_probe_result *result) {
    uint8_t key[HG_BLOB_KEY_BYTES], *data, blob[BLOB_BYTES];
    uint64_t size;
    bool known = b->caps->identity[0] != 0;
    cache_key(b, key);
    if (known && hg_blob_cache_get(cache, key, &data, &size)) {
        bool good = unpack(data, size, result);
        hg_free(data);
        if (good) return HG_OK;
    }
    HG_TRY(hg_probe_run(b, result));
    pack(result, blob);
    if (known) (void)hg_blob_cache_put(cache, key, blob, sizeof blob);
    return HG_OK;
}

hg_status hg_probe_device(hg_backend *b) {
    hg_blob_cache *cache = NULL;
    hg_probe_result result;
    b->own_caps.kir.subnormals = true; /* devices that promise nothing often keep them (lavapipe): the probe sees */
    HG_TRY(hg_blob_cache_open(b->cache_path, b->config.cache_bytes, &cache));
    hg_status status = probe_cached(b, cache, &result);
    hg_blob_cache_close(cache);
    if (status == HG_OK) hg_probe_apply(&result, &b->own_caps.kir);
    return status;
}
