/* The table of primitives: what its columns say is so, for every row. */
#include "support/kir_eval.h"
#include "test.h"
#include "kir/builder.h"
#include "kir/passes/passes.h"

static uint64_t seed = UINT64_C(0x9E3779B97F4A7C15);
static uint64_t next_random(void) {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    return seed ^= seed << 17;
}

static uint64_t number(uint8_t type) {
    static const uint64_t EDGES[] = {
        0,          1,          2,          7,         0x7F,
        0x80,       0xFF,       0x7FFF,     0x8000,    0xFFFF,
        0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, INT64_MAX, UINT64_C(1) << 63,
        UINT64_MAX};
    uint64_t r = next_random(), bits = kir_type_bits(type);
    return (r & 1 ? EDGES[(r >> 8) % HG_COUNT_OF(EDGES)] : next_random()) &
           (UINT64_MAX >> (64 - bits));
}

/* A module with a function behind the kernel that returns one operation on constants. */
static kir_value *make(kir_module *m, kir_op op, uint8_t type, const uint64_t *bits) {
    const kir_op_info *row = kir_op_get(op);
    kir_builder b;
    CHECK(kir_function_create(m, "kernel", KIR_VOID));
    kir_function *f = kir_function_create(
        m, "f", row->result == KIR_RESULT_BOOL ? (uint8_t)KIR_BOOL : type);
    kir_value *args[3] = {0};
    kir_builder_init(&b, m, f);
    for (uint8_t i = 0; i < row->args; i++)
        args[i] = kir_const(&b, i == 1 && row->flags & KIR_F_SHIFTS ? (uint8_t)HG_TYPE_U32 : type,
                            bits[i]);
    kir_value *v = kir_emit(&b, op, f->result, row->args, args);
    kir_return(&b, v);
    CHECK(!b.failed);
    return v;
}

static uint64_t evaluated(const kir_value *v) {
    static const eval none;
    eval_value values[3], *x[3];
    for (uint8_t i = 0; i < v->nargs; i++) {
        values[i] = ev_from(v->args[i]->u.imm);
        x[i] = &values[i];
    }
    eval_value r = kir_op_get((kir_op)v->op)->class == KIR_CLASS_INT ? ev_integer(v, x)
                                                                     : ev_float(&none, v, x);
    return ev_u64(&r);
}

static void folds_and_commutes(kir_op op, uint8_t type) {
    const kir_op_info *row = kir_op_get(op);
    uint64_t bits[] = {number(type),
                       number(row->flags & KIR_F_SHIFTS ? (uint8_t)HG_TYPE_U32 : type),
                       number(type)};
    kir_module *m = kir_module_create("row");
    kir_value *v = make(m, op, type, bits);
    uint64_t expected = evaluated(v);
    if (row->flags & KIR_F_DIVIDES && bits[1] == 0)
        CHECK_MESSAGE(expected == 0, "%s by 0", row->text);
    CHECK(kir_verify(m) == HG_OK);
    CHECK(kir_simplify(m) == HG_OK);
    const kir_value *last = m->functions->next->body->last->args[0];
    CHECK_MESSAGE(last->op == KIR_CONST, "%s of %s constants is not folded", row->text,
                  kir_type_name(type));
    CHECK_MESSAGE(last->op != KIR_CONST || last->u.imm == expected,
                  "%s of %s: 0x%llx and 0x%llx give 0x%llx, not 0x%llx", row->text,
                  kir_type_name(type), (unsigned long long)bits[0], (unsigned long long)bits[1],
                  (unsigned long long)last->u.imm, (unsigned long long)expected);
    kir_module_destroy(m);
    if (!(row->flags & KIR_F_COMMUTES)) return;
    uint64_t swapped[] = {bits[1], bits[0], bits[2]};
    m = kir_module_create("row");
    CHECK_MESSAGE(evaluated(make(m, op, type, swapped)) == expected, "%s does not commute",
                  row->text);
    kir_module_destroy(m);
}

/* Every integer operation on constants is a constant: what asks for the value of an index depends
 * on it. */
static void test_integers(void) {
    for (int op = 0; op < KIR_OP_COUNT; op++)
        for (int kind = 0; kind < KIR_KIND_COUNT && kir_op_get((kir_op)op)->class == KIR_CLASS_INT;
             kind++)
            for (int i = 0; i < 300 && !kir_type_is_float(kir_kind_type(kind)); i++)
                folds_and_commutes((kir_op)op, kir_kind_type(kind));
}

/* The error of a product: folded by halves, beside the evaluator's wider or fused arithmetic. Zero
 * is +0. */
static void test_product_errors(void) {
    for (int t = 0; t < 2; t++)
        for (int i = 0; i < 20000; i++) {
            uint8_t type = t ? HG_TYPE_F64 : HG_TYPE_F32;
            uint64_t bits[2], cut = t ? UINT64_MAX << (next_random() % 53)
                                      : UINT32_MAX << (next_random() % 24) & UINT32_MAX;
            for (int k = 0; k < 2; k++)
                bits[k] = ev_near_one(type, next_random() & (t ? UINT64_MAX : UINT32_MAX)) & cut;
            if (i % 16 == 0) bits[1] = bits[0];
            if (i % 16 == 1) bits[1] &= t ? UINT64_C(1) << 63 : UINT64_C(1) << 31;
            kir_module *m = kir_module_create("row");
            uint64_t expected = evaluated(make(m, KIR_FMULERR, type, bits));
            CHECK(kir_simplify(m) == HG_OK);
            const kir_value *last = m->functions->next->body->last->args[0];
            bool good = last->op == KIR_CONST && last->u.imm == expected &&
                        (expected << (64 - kir_type_bits(type))) != UINT64_C(1) << 63;
            CHECK_MESSAGE(good, "fmul_err of %s: 0x%llx and 0x%llx give 0x%llx, not 0x%llx",
                          kir_type_name(type), (unsigned long long)bits[0],
                          (unsigned long long)bits[1], (unsigned long long)last->u.imm,
                          (unsigned long long)expected);
            kir_module_destroy(m);
            if (!good) return;
        }
}

static void test_floats_commute(void) {
    for (int op = 0; op < KIR_OP_COUNT; op++) {
        const kir_op_info *row = kir_op_get((kir_op)op);
        if (row->class != KIR_CLASS_FLOAT || row->result != KIR_RESULT_SAME ||
            !(row->flags & KIR_F_COMMUTES))
            continue;
        for (int i = 0; i < 300; i++) { /* small numbers: no NaN, whose bits may differ */
            uint64_t bits[3], swapped[3];
            for (int k = 0; k < 3; k++) bits[k] = (next_random() & 0x80FFFFFF) | 0x3F000000;
            swapped[0] = bits[1], swapped[1] = bits[0], swapped[2] = bits[2];
            kir_module *m = kir_module_create("row");
            CHECK_MESSAGE(evaluated(make(m, (kir_op)op, HG_TYPE_F32, bits)) ==
                              evaluated(make(m, (kir_op)op, HG_TYPE_F32, swapped)),
                          "%s does not commute", row->text);
            kir_module_destroy(m);
        }
    }
}

static void test_columns(void) {
    for (int op = 0; op < KIR_OP_COUNT; op++) {
        const kir_op_info *row = kir_op_get((kir_op)op);
        bool value = row->flags & KIR_F_VALUE, pure = row->flags & KIR_F_PURE,
             effect = row->flags & KIR_F_EFFECT;
        CHECK_MESSAGE(!value || pure, "%s is a value and not pure", row->text);
        CHECK_MESSAGE(!(pure && effect), "%s is pure and has an effect", row->text);
        CHECK_MESSAGE(!(row->flags & KIR_F_JUMP) || (effect && row->result == KIR_RESULT_NONE),
                      "%s jumps", row->text);
        CHECK_MESSAGE(!value || (row->args >= 1 && row->args <= 3), "%s has %u arguments",
                      row->text, row->args);
        CHECK_MESSAGE(row->result != KIR_RESULT_NONE || effect, "%s does nothing", row->text);
    }
    for (int kind = 0; kind < KIR_KIND_COUNT; kind++)
        CHECK(kir_kind_of(kir_kind_type(kind)) == kind);
    CHECK(kir_kind_of(KIR_BOOL) == KIR_KIND_U8);
    CHECK(kir_kind_of(HG_TYPE_U128) == -1);
    CHECK(strcmp(kir_fn_name(HG_OP_ATAN2), "atan2") == 0 &&
          strcmp(kir_fn_name(KIR_FN_RELU), "relu") == 0);
    CHECK(kir_fn_of_name(HG_OPNAME_ERF) == HG_OP_ERF &&
          kir_fn_of_name(HG_OPNAME_RELU) == KIR_FN_RELU);
    CHECK(kir_fn_of_name(HG_OPNAME_RECIPROCAL) == HG_OP_RCP);
}

int main(void) {
    test_integers();
    test_product_errors();
    test_floats_commute();
    test_columns();
    return test_done();
}
