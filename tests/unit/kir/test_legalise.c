/* Legalised modules against the originals, both in the one-lane evaluator: every operation and type
 * on edge and random values, then random straight programs with branches and loops; for the
 * capabilities of a plain CPU, without fma and half, and of a poor device.
 * test: labels=slow */
#include "support/kir_eval.h"
#include "support/kir_text.h"
#include "support/sanitized.h"
#include "test.h"
#include "kir/access.h"
#include "kir/builder.h"
#include "kir/define/define.h"
#include "kir/pipeline/pipeline.h"
#include <float.h>

static uint64_t seed = UINT64_C(0xD1B54A32D192ED03);
static uint64_t next_random(void) {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    return seed ^= seed << 17;
}

static kir_caps full_caps(void) {
    return (kir_caps){.i8 = true,
                      .i16 = true,
                      .i64 = true,
                      .f64 = true,
                      .fma32 = true,
                      .fma64 = true,
                      .subnormals = true,
                      .half = true,
                      .name = "full"};
}

/* Edge values of integers and floats, and chance. */
/* Digits of 16, 32 or 64 bits at the edges of what division estimates: quotient digits that are
 * guessed too large. */
static eval_value hard_digits(uint32_t bits) {
    static const uint32_t edges[] = {0,          1,          0xFFFF,     0xFFFE,
                                     0x8000,     0x7FFF,     0xFFFFFFFF, 0xFFFFFFFE,
                                     0x80000000, 0x7FFFFFFF, 0x80000001};
    eval_value v = {{0}};
    uint32_t count = (uint32_t)(next_random() % ev_limbs(bits)) + 1;
    bool narrow = next_random() % 2;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t r = next_random();
        v.limb[i] = narrow ? edges[r % 6] << 16 | edges[r / 6 % 6] : edges[r % HG_COUNT_OF(edges)];
        if (r >> 61 == 0) v.limb[i] = (uint32_t)(r >> 8);
    }
    for (uint32_t i = 0; next_random() % 2 && i + 1 < count; i += 2) /* the lower half of a digit of
                                                                        64 bits continues its upper
                                                                        half */
        v.limb[i] = v.limb[i + 1] % 2 ? UINT32_MAX : 0;
    return v;
}

/* Operands whose quotient has a digit that the first three digits make one too large (Knuth 4.3.1,
 * exercise 21), of 32, 16 and 64 bits. */
static void too_large_digit(uint32_t bits, eval_value *a, eval_value *b) {
    static const eval_value operands[3][2] = {
        {{{0, 0, 0x80000000, 0x7FFFFFFF}}, {{1, 0, 0x80000000}}},
        {{{0, 0x7FFF8000}}, {{1, 0x8000}}},
        {{{0, 0, 0, 0, 0, 0x80000000, UINT32_MAX, 0x7FFFFFFF}}, {{1, 0, 0, 0, 0, 0x80000000}}}};
    uint64_t which = next_random() % (bits < 256 ? 2 : 3);
    if (bits < 128) return;
    *a = operands[which][0];
    *b = operands[which][1];
}

static eval_value random_value(uint8_t type) {
    eval_value v = {{0}};
    uint32_t bits = kir_type_bits(type);
    if (type == KIR_BOOL) return ev_from(next_random() & 1);
    uint64_t r = next_random();
    if (kir_type_is_float(type)) {
        static const uint32_t f32[] = {
            0,          0x80000000, 1,          0x80000001, 0x007FFFFF, 0x00800000, 0x00800001,
            0x3F800000, 0xBF800000, 0x3F000000, 0x40200000, 0xC0200000, 0x7F7FFFFF, 0x7F800000,
            0xFF800000, 0x7FC00000, 0x4B000000, 0x4AFFFFFF, 0x34000000, 0x00000100, 0x01000000,
            0x33800000, 0x4F000000, 0x4F800000, 0x5F000000, 0xCF000000};
        static const uint64_t f64[] = {0,
                                       UINT64_C(1) << 63,
                                       1,
                                       UINT64_C(0x000FFFFFFFFFFFFF),
                                       UINT64_C(0x0010000000000000),
                                       UINT64_C(0x3FF0000000000000),
                                       UINT64_C(0xBFF0000000000000),
                                       UINT64_C(0x3FE0000000000000),
                                       UINT64_C(0x4004000000000000),
                                       UINT64_C(0x7FEFFFFFFFFFFFFF),
                                       UINT64_C(0x7FF0000000000000),
                                       UINT64_C(0xFFF0000000000000),
                                       UINT64_C(0x7FF8000000000000),
                                       UINT64_C(0x4330000000000000),
                                       UINT64_C(0x432FFFFFFFFFFFFF),
                                       UINT64_C(0x36A0000000000000),
                                       UINT64_C(0x3810000000000000),
                                       UINT64_C(0x47EFFFFFF0000000),
                                       UINT64_C(0x47EFFFFFEFFFFFFF),
                                       UINT64_C(0x43E0000000000000),
                                       UINT64_C(0x41DFFFFFFFC00000),
                                       UINT64_C(0x380FFFFFFFFFFFFF)};
        if (r % 3 == 0)
            return ev_from(type == HG_TYPE_F32 ? f32[r / 3 % HG_COUNT_OF(f32)]
                                               : f64[r / 3 % HG_COUNT_OF(f64)]);
        if (r % 3 == 1) { /* near one another in size, so that sums and remainders cancel */
            double d = ldexp((double)(int64_t)next_random(), (int)(r / 3 % 12) - 66);
            return ev_of_real(&(eval){0}, type, d);
        }
        v = ev_from(next_random());
        ev_cut(&v, bits);
        return v;
    }
    if (bits > 64 && r % 2) return hard_digits(bits);
    r /= 2;
    for (uint32_t i = 0; i < ev_limbs(bits); i++) v.limb[i] = (uint32_t)next_random();
    ev_cut(&v, bits);
    switch (r % 6) {
    case 0: v = ev_from(r / 8 % 4); break;
    case 1:
        v = ev_from(r / 8 % 3 + 1);
        v = ev_neg(&v, bits);
        break;
    case 2:
        v = ev_from(1);
        v = ev_shl(&v, (uint32_t)(r / 8 % bits), bits);
        break;
    case 3: v = ev_shr(&v, (uint32_t)(r / 8 % bits), bits, false); break;
    case 4: v = ev_shr(&v, (uint32_t)(r / 8 % bits), bits, true); break;
    default: break;
    }
    return v;
}

static bool is_nan(uint8_t type, const eval_value *v) {
    if (type == HG_TYPE_F32) return (v->limb[0] & 0x7FFFFFFF) > 0x7F800000;
    return type == HG_TYPE_F64 && (ev_u64(v) & ~(UINT64_C(1) << 63)) > UINT64_C(0x7FF0000000000000);
}
static bool same(uint8_t type, const eval_value *a, const eval_value *b) {
    return (is_nan(type, a) && is_nan(type, b)) || ev_cmp(a, b) == 0;
}

static void add_input(kir_module *m, uint8_t type) {
    kir_input *in = hg_vec_push(&m->inputs);
    *in = (kir_input){.kind = KIR_INPUT_PARAM, .type = type, .reg = (uint8_t)m->inputs.count};
}
static kir_value *get_input(kir_builder *b, uint64_t index) {
    kir_value *v = kir_emit(b, KIR_INPUT, b->module->inputs.data[index].type, 0, NULL);
    v->u.imm = index;
    return v;
}
static kir_value *buffer(kir_builder *b) { return kir_const(b, HG_TYPE_U64, 1); }
static void store(kir_builder *b, uint64_t offset, kir_value *value) {
    kir_place at = {
        .space = KIR_BUFFER, .handle = buffer(b), .index = kir_const(b, HG_TYPE_U64, offset)};
    kir_access_make(b, KIR_STORE, value->type, &at, 1, &value);
}
/* Stores any value at offset so that the evaluator can look at it. */
static void store_result(kir_builder *b, uint64_t offset, kir_value *value) {
    if (value->type == KIR_BOOL)
        value = kir_select(b, value, kir_const(b, HG_TYPE_U32, 1), kir_const(b, HG_TYPE_U32, 0));
    store(b, offset, value);
}

/* The inputs of the legalised module, limbs and halves included, from those of the original. */
static void lower_inputs(const kir_module *m, const kir_module *original, const eval_value *in,
                         eval_value *out) {
    uint64_t n = original->inputs.count;
    for (uint64_t i = 0; i < m->inputs.count; i++) {
        const kir_input *x = &m->inputs.data[i];
        uint64_t from = x->reg - 1u; /* test modules number their inputs by reg */
        out[i] = ev_from(0);
        if (x->limb_bytes)
            memcpy(&out[i], (const uint8_t *)&in[from] + (uint64_t)x->limb * x->limb_bytes,
                   x->limb_bytes);
        else
            out[i] = in[i < n ? i : from];
    }
}

enum { MEMORY = 4096 };
static void run_module(const kir_module *m, bool flush, const eval_value *inputs, uint8_t *memory,
                       int *fault) {
    eval e;
    eval_begin(&e, m);
    e.flush = flush;
    e.inputs = inputs;
    e.memory = memory;
    e.memory_size = MEMORY;
    e.max_steps = 50000000;
    eval_function(&e, m->functions, NULL, NULL);
    *fault = e.fault;
    eval_end(&e);
}

/* Only operations and types of caps are left. */
static void check_legal(const kir_module *m, const kir_caps *caps, const char *what) {
    CHECK_MESSAGE(kir_verify(m) == HG_OK, "%s for %s: %s", what, caps->name,
                  hg_last_error()->message);
    CHECK(kir_reads_back(m, what));
    for (const kir_function *f = m->functions; f; f = f->next)
        for (const kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body)) {
            bool bad = (v->type > HG_TYPE_U64 && v->type <= HG_TYPE_U4096) ||
                       (v->type == HG_TYPE_U8 && !caps->i8) ||
                       (v->type == HG_TYPE_U16 && !caps->i16) ||
                       (v->type == HG_TYPE_U64 && !caps->i64) ||
                       (v->type == HG_TYPE_F64 && !caps->f64);
            bad = bad || (v->op == KIR_DERIVED &&
                          !caps->derived[v->u.derived.fn][v->u.derived.atlas_type]);
            bad = bad ||
                  (v->op == KIR_FFMA && !(v->type == HG_TYPE_F64 ? caps->fma64 : caps->fma32));
            bad = bad ||
                  (v->op == KIR_FMULERR &&
                   !(v->type == HG_TYPE_F64 ? caps->fma64 : caps->fma32 && caps->subnormals));
            bad = bad ||
                  ((v->op == KIR_H2F || v->op == KIR_F2H || v->op == KIR_B2F || v->op == KIR_F2B) &&
                   !caps->half);
            bool f64 = v->type == HG_TYPE_F64 || (v->nargs && v->args[0]->type == HG_TYPE_F64);
            bad = bad || caps->inexact[v->op][f64];
            if (bad)
                CHECK_MESSAGE(false, "%s: %s of %s is left in %s", what, kir_op_name((kir_op)v->op),
                              kir_type_name(v->type), f->name);
            if (bad) return;
        }
}

/* Runs original and legalised over random inputs; the memories must be equal. NaNs are compared as
 * such by the callers' programs storing one value each: type is that of the value at offset 0,
 * KIR_VOID compares bytes. */
static void compare_modules(kir_module *m, const kir_caps *caps, int count, uint8_t type,
                            const char *what) {
    kir_module *low = NULL;
    CHECK_MESSAGE(kir_verify(m) == HG_OK, "%s: %s", what, hg_last_error()->message);
    hg_status status = kir_legalise(m, caps, &low);
    CHECK_MESSAGE(status == HG_OK, "%s for %s: %s", what, caps->name, hg_last_error()->message);
    if (status != HG_OK) return;
    check_legal(low, caps, what);
    eval_value *in = calloc(m->inputs.count + 1, sizeof *in),
               *in_low = calloc(low->inputs.count + 1, sizeof *in_low);
    for (int i = 0; i < count; i++) {
        uint8_t memory[2][MEMORY];
        int fault[2] = {0, 0};
        for (uint64_t k = 0; k < m->inputs.count; k++) in[k] = random_value(m->inputs.data[k].type);
        if (m->inputs.count > 1 && m->inputs.data[0].type == m->inputs.data[1].type) {
            if (next_random() % 8 == 0) in[1] = in[0];
            if (next_random() % 8 == 0)
                too_large_digit(kir_type_bits(m->inputs.data[0].type), &in[0], &in[1]);
        }
        for (int k = 0; k < MEMORY; k++) memory[0][k] = memory[1][k] = (uint8_t)(k * 37 + 11);
        lower_inputs(low, m, in, in_low);
        run_module(m, false, in, memory[0], &fault[0]);
        run_module(low, !caps->subnormals, in_low, memory[1], &fault[1]);
        eval_value a = {{0}}, b = {{0}};
        uint64_t size = type == KIR_BOOL ? 4 : kir_type_bytes(type);
        memcpy(&a, memory[0], size);
        memcpy(&b, memory[1], size);
        bool good = fault[0] == fault[1] &&
                    memcmp(memory[0] + size, memory[1] + size, MEMORY - size) == 0 &&
                    same(type, &a, &b);
        CHECK_MESSAGE(good,
                      "%s for %s: fault %d, expected %d; of %08x%08x, %08x%08x, %08x%08x: %08x "
                      "%08x, expected %08x %08x",
                      what, caps->name, fault[1], fault[0], in[0].limb[1], in[0].limb[0],
                      in[1].limb[1], in[1].limb[0], m->inputs.count > 2 ? in[2].limb[1] : 0,
                      m->inputs.count > 2 ? in[2].limb[0] : 0, b.limb[1], b.limb[0], a.limb[1],
                      a.limb[0]);
        if (!good) break;
    }
    free(in);
    free(in_low);
    kir_module_destroy(low);
}

static void one_operation(kir_op op, uint8_t result, const uint8_t *types, uint8_t nargs,
                          const kir_caps *caps, int count) {
    char what[96];
    snprintf(what, sizeof what, "%s.%s", kir_op_name(op),
             kir_type_name(nargs > 1 && op == KIR_SELECT ? types[1] : types[0]));
    if (result != types[0])
        snprintf(what + strlen(what), sizeof what - strlen(what), " -> %s", kir_type_name(result));
    kir_module *m = kir_module_create(what);
    for (uint8_t i = 0; i < nargs; i++) add_input(m, types[i] == KIR_BOOL ? HG_TYPE_U32 : types[i]);
    kir_function *f = kir_function_create(m, "main", KIR_VOID);
    kir_builder b;
    kir_builder_init(&b, m, f);
    kir_value *args[3];
    for (uint8_t i = 0; i < nargs; i++) {
        args[i] = get_input(&b, i);
        if (op == KIR_FMULERR) args[i] = ev_build_near_one(&b, args[i]);
        if (types[i] == KIR_BOOL)
            args[i] = kir_binary(&b, KIR_CMP_EQ,
                                 kir_binary(&b, KIR_AND, args[i], kir_const(&b, HG_TYPE_U32, 1)),
                                 kir_const(&b, HG_TYPE_U32, 1));
    }
    store_result(&b, 0, kir_emit(&b, op, result, nargs, args));
    compare_modules(m, caps, count, result, what);
    kir_module_destroy(m);
}

static const uint8_t INTEGERS[] = {HG_TYPE_U8,    HG_TYPE_U16,  HG_TYPE_U32,  HG_TYPE_U64,
                                   HG_TYPE_U128,  HG_TYPE_U256, HG_TYPE_U512, HG_TYPE_U1024,
                                   HG_TYPE_U2048, HG_TYPE_U4096};

/* How many of INTEGERS to try: the functions on limbs differ only between 64- and 32-bit limbs. */
static size_t widths(const kir_caps *caps) {
    return strcmp(caps->name, "full") == 0   ? HG_COUNT_OF(INTEGERS)
           : caps->limb_values               ? HG_COUNT_OF(INTEGERS) - 3
           : !caps->subnormals && !caps->i64 ? HG_COUNT_OF(INTEGERS) - 1
                                             : 6;
}

static void integer_operations(const kir_caps *caps, int count) {
    for (size_t t = 0; t < widths(caps); t++) {
        uint8_t type = INTEGERS[t], args[3] = {type, type, type};
        bool wide = type > HG_TYPE_U64;
        for (int op = 0; op < KIR_OP_COUNT; op++) {
            const kir_op_info *row = kir_op_get((kir_op)op);
            bool compares = row->result == KIR_RESULT_BOOL, shifts = row->flags & KIR_F_SHIFTS,
                 few = compares || shifts;
            if (row->class != KIR_CLASS_INT || (wide && row->flags & KIR_F_WORDS)) continue;
            int n = caps->limb_values              ? 5 * count /* no loops: short */
                    : row->args == 1               ? count / 4 + 1
                    : few && wide                  ? count / 4 + 1
                    : !few && type >= HG_TYPE_U512 ? count / 10 + 2
                                                   : count;
            args[1] = shifts ? (uint8_t)HG_TYPE_U32 : type;
            one_operation((kir_op)op, compares ? (uint8_t)KIR_BOOL : type, args, row->args, caps,
                          n);
        }
        one_operation(KIR_SELECT, type, (uint8_t[]){KIR_BOOL, type, type}, 3, caps, 10);
    }
    for (size_t i = 0; i < widths(caps); i++)
        for (size_t k = 0; k < i; k++) {
            one_operation(KIR_ZEXT, INTEGERS[i], &INTEGERS[k], 1, caps, 4);
            one_operation(KIR_SEXT, INTEGERS[i], &INTEGERS[k], 1, caps, 4);
            one_operation(KIR_TRUNC, INTEGERS[k], &INTEGERS[i], 1, caps, 4);
        }
}

/* By numbers that are known, so that it is known which limb goes where. */
static void known_shifts(const kir_caps *caps) {
    static const kir_op OPS[] = {KIR_SHL, KIR_LSHR, KIR_ASHR};
    static const uint64_t BY[] = {0, 1, 32, 63, 64, 65, 127, 128, 191, 192, 255, 256, 447, 511};
    for (uint8_t type = HG_TYPE_U128; type <= HG_TYPE_U512; type++)
        for (size_t i = 0; i < HG_COUNT_OF(OPS) * HG_COUNT_OF(BY); i++) {
            const kir_op op = OPS[i % HG_COUNT_OF(OPS)];
            const uint64_t by = BY[i / HG_COUNT_OF(OPS)];
            kir_module *m = kir_module_create("shift");
            kir_builder b;
            char what[64];
            add_input(m, type);
            kir_builder_init(&b, m, kir_function_create(m, "main", KIR_VOID));
            store_result(&b, 0,
                         kir_binary(&b, op, get_input(&b, 0), kir_const(&b, HG_TYPE_U32, by)));
            snprintf(what, sizeof what, "%s.%s by %d", kir_op_name(op), kir_type_name(type),
                     (int)by);
            compare_modules(m, caps, 4, type, what);
            kir_module_destroy(m);
        }
}

static void float_operations(const kir_caps *caps, int count) {
    static const kir_op BINARY[] = {KIR_FADD, KIR_FSUB, KIR_FMUL, KIR_FDIV, KIR_FMULERR},
                        UNARY[] = {KIR_FSQRT, KIR_FFLOOR, KIR_FTRUNC, KIR_FRINT},
                        COMPARE[] = {KIR_FCMP_EQ, KIR_FCMP_LT, KIR_FCMP_LE};
    static const uint8_t REALS[] = {HG_TYPE_F32, HG_TYPE_F64};
    for (int t = 0; t < 2; t++) {
        uint8_t type = REALS[t], args[3] = {type, type, type},
                bits = type == HG_TYPE_F32 ? HG_TYPE_U32 : HG_TYPE_U64;
        for (size_t i = 0; i < HG_COUNT_OF(BINARY); i++)
            one_operation(BINARY[i], type, args, 2, caps, count);
        for (size_t i = 0; i < HG_COUNT_OF(UNARY); i++)
            one_operation(UNARY[i], type, args, 1, caps, count);
        for (size_t i = 0; i < HG_COUNT_OF(COMPARE); i++)
            one_operation(COMPARE[i], KIR_BOOL, args, 2, caps, count);
        one_operation(KIR_FFMA, type, args, 3, caps, count);
        one_operation(KIR_SELECT, type, (uint8_t[]){KIR_BOOL, type, type}, 3, caps, 10);
        one_operation(KIR_BITCAST, bits, args, 1, caps, 10);
        one_operation(KIR_BITCAST, type, &bits, 1, caps, 10);
        one_operation(KIR_F2F, REALS[1 - t], args, 1, caps, count);
        for (size_t i = 0; i < widths(caps); i++) {
            int n = INTEGERS[i] > HG_TYPE_U64 ? count / 10 + 1 : count;
            one_operation(KIR_U2F, type, &INTEGERS[i], 1, caps, n);
            one_operation(KIR_S2F, type, &INTEGERS[i], 1, caps, n);
            one_operation(KIR_F2U, INTEGERS[i], args, 1, caps, n);
            one_operation(KIR_F2S, INTEGERS[i], args, 1, caps, n);
        }
    }
    uint8_t f32 = HG_TYPE_F32, u16 = HG_TYPE_U16;
    one_operation(KIR_H2F, f32, &u16, 1, caps, count * 4);
    one_operation(KIR_B2F, f32, &u16, 1, caps, count);
    one_operation(KIR_F2H, u16, &f32, 1, caps, count * 4);
    one_operation(KIR_F2B, u16, &f32, 1, caps, count * 4);
}

/* Each float operation alone, on targets that have it but not exactly: the integer code gives the
 * same bits as the operation. */
static void inexact_operations(kir_caps caps, int count) {
    static const struct {
        kir_op op;
        uint8_t nargs;
        char kind; /* a: to the same type, c: comparison, u: from, i: to integers, f: between floats
                    */
    } ROWS[] = {{KIR_FADD, 2, 'a'},    {KIR_FSUB, 2, 'a'},    {KIR_FMUL, 2, 'a'},
                {KIR_FDIV, 2, 'a'},    {KIR_FSQRT, 1, 'a'},   {KIR_FFMA, 3, 'a'},
                {KIR_FMULERR, 2, 'a'}, {KIR_FFLOOR, 1, 'a'},  {KIR_FTRUNC, 1, 'a'},
                {KIR_FRINT, 1, 'a'},   {KIR_FCMP_EQ, 2, 'c'}, {KIR_FCMP_LT, 2, 'c'},
                {KIR_FCMP_LE, 2, 'c'}, {KIR_U2F, 1, 'u'},     {KIR_S2F, 1, 'u'},
                {KIR_F2U, 1, 'i'},     {KIR_F2S, 1, 'i'},     {KIR_F2F, 1, 'f'}};
    static const uint8_t REALS[] = {HG_TYPE_F32, HG_TYPE_F64};
    char name[96];
    const char *of = caps.name;
    for (size_t r = 0; r < HG_COUNT_OF(ROWS); r++)
        for (int t = 0; t < 2; t++) {
            kir_op op = ROWS[r].op;
            uint8_t type = REALS[t], args[3] = {type, type, type};
            if (!caps.f64 && t) continue;
            caps.inexact[op][t] = true;
            if (op == KIR_F2F) caps.inexact[op][1] = true;
            snprintf(name, sizeof name, "%s, inexact %s.%s", of, kir_op_name(op),
                     kir_type_name(type));
            caps.name = name;
            if (op == KIR_FFMA) *(t ? &caps.fma64 : &caps.fma32) = false; /* for check_legal */
            if (ROWS[r].kind == 'a') one_operation(op, type, args, ROWS[r].nargs, &caps, count);
            if (ROWS[r].kind == 'c') one_operation(op, KIR_BOOL, args, 2, &caps, count);
            if (ROWS[r].kind == 'f') one_operation(op, REALS[1 - t], args, 1, &caps, count);
            for (size_t i = 0; i < 4; i++) {
                if (ROWS[r].kind == 'u') one_operation(op, type, &INTEGERS[i], 1, &caps, count);
                if (ROWS[r].kind == 'i') one_operation(op, INTEGERS[i], args, 1, &caps, count);
            }
            if (op == KIR_FFMA) *(t ? &caps.fma64 : &caps.fma32) = true;
            memset(caps.inexact, 0, sizeof caps.inexact);
        }
    uint8_t f32 = HG_TYPE_F32, u16 = HG_TYPE_U16;
    caps.name = "inexact half conversions";
    caps.inexact[KIR_H2F][0] = caps.inexact[KIR_F2H][0] = caps.inexact[KIR_B2F][0] =
        caps.inexact[KIR_F2B][0] = true;
    one_operation(KIR_H2F, f32, &u16, 1, &caps, count);
    one_operation(KIR_B2F, f32, &u16, 1, &caps, count);
    one_operation(KIR_F2H, u16, &f32, 1, &caps, count);
    one_operation(KIR_F2B, u16, &f32, 1, &caps, count);
    for (int op = 0; op < KIR_OP_COUNT; op++) {
        kir_op_class class = (kir_op_class)kir_op_get((kir_op)op)->class;
        bool on_bits = op == KIR_BITCAST || op == KIR_ZEXT || op == KIR_SEXT || op == KIR_TRUNC;
        caps.inexact[op][0] = caps.inexact[op][1] = class == KIR_CLASS_FLOAT ||
                                                    (class == KIR_CLASS_CONVERT && !on_bits);
    }
    caps.fma32 = caps.fma64 = false;
    caps.name = "nothing exact";
    float_operations(&caps, count);
}

static void everything(const kir_caps *caps, int count) {
    integer_operations(caps, count);
    float_operations(caps, count);
}

/* ---- random programs ---- */

enum { POOL = 256, DEPTH = 3 };
static const uint8_t TYPES[] = {KIR_BOOL,     HG_TYPE_U8,   HG_TYPE_U16, HG_TYPE_U32, HG_TYPE_U64,
                                HG_TYPE_U128, HG_TYPE_U256, HG_TYPE_F32, HG_TYPE_F64};
typedef struct generator {
    kir_builder b;
    kir_value *pool[POOL];
    int count;
    kir_var *vars[HG_COUNT_OF(TYPES)], *arrays[5]; /* arrays of u8 u64 f64 f32 u16, 4 elements each
                                                    */
    kir_table *tables[4];
    kir_function *callee[3];
} generator;

static uint64_t chance(uint64_t n) { return next_random() % n; }
static void keep(generator *g, kir_value *v) {
    if (g->count < POOL)
        g->pool[g->count++] = v;
    else
        g->pool[chance(POOL)] = v;
}
static kir_value *random_const(generator *g, uint8_t type) {
    if (type == KIR_BOOL) return kir_const(&g->b, type, chance(2));
    eval_value v = random_value(type);
    return kir_const_bytes(&g->b, type, (const uint8_t *)&v);
}
static kir_value *some(generator *g, uint8_t type) {
    for (int i = 0; i < 6 && g->count; i++) {
        kir_value *v = g->pool[chance((uint64_t)g->count)];
        if (v->type == type) return v;
    }
    if (chance(2))
        return kir_get(&g->b, g->vars[type == KIR_BOOL      ? 0
                                      : type >= HG_TYPE_U8  ? (size_t)(type - HG_TYPE_U8 + 1)
                                      : type == HG_TYPE_F32 ? 7
                                                            : 8]);
    return random_const(g, type);
}
/* A NaN's bits differ from target to target: they are made one before anything looks at them. */
static kir_value *tidy(generator *g, kir_value *v) {
    if (!kir_type_is_float(v->type)) return v;
    kir_builder *b = &g->b;
    return kir_select(
        b, kir_binary(b, KIR_FCMP_EQ, v, v), v,
        kir_const(b, v->type, v->type == HG_TYPE_F64 ? UINT64_C(0x7FF8) << 48 : 0x7FC00000));
}
static kir_value *element(generator *g) {
    return kir_binary(&g->b, KIR_AND, some(g, HG_TYPE_U32), kir_const(&g->b, HG_TYPE_U32, 3));
}

static kir_value *address(generator *g, uint64_t size, bool aligned) {
    kir_value *i = kir_binary(&g->b, KIR_AND, some(g, HG_TYPE_U64),
                              kir_const(&g->b, HG_TYPE_U64, aligned ? 0x7F8 : 0x7FF));
    (void)size;
    if (!aligned && chance(60) == 0) i = some(g, HG_TYPE_U64); /* out of bounds, most likely */
    return i;
}
static void memory_access(generator *g) {
    kir_builder *b = &g->b;
    uint8_t type = TYPES[1 + chance(8)];
    uint64_t size = kir_type_bytes(type), kind = chance(5);
    if (kind == 4) {
        type = chance(2) ? HG_TYPE_U32 : HG_TYPE_U64;
        size = kir_type_bytes(type);
        kir_atomic a = (kir_atomic)chance(10);
        kir_value *args[] = {buffer(b), address(g, size, true), some(g, type), some(g, type)};
        kir_value *v = kir_emit(b, KIR_ATOMIC, type, a == KIR_ATOMIC_CAS ? 4 : 3, args);
        v->u.mem.atomic = (uint8_t)a;
        v->u.mem.space = KIR_BUFFER;
        v->u.mem.has_index = 1;
        v->u.mem.bytes = (uint8_t)size;
        v->u.mem.bytes_wide = (uint16_t)size;
        v->u.mem.slot = KIR_OPEN;
        keep(g, v);
        return;
    }
    bool is_store = kind >= 2;
    kir_value *args[] = {buffer(b), address(g, size, false), NULL};
    if (is_store) args[2] = tidy(g, some(g, type));
    kir_value *v = kir_emit(b, is_store ? KIR_STORE : KIR_LOAD, is_store ? KIR_VOID : type,
                            is_store ? 3 : 2, args);
    v->u.mem.space = KIR_BUFFER;
    v->u.mem.has_index = 1;
    v->u.mem.bytes = (uint8_t)(size > 8 ? 0 : size);
    v->u.mem.bytes_wide = (uint16_t)size;
    v->u.mem.disp = chance(3) ? 0 : (int64_t)chance(64);
    v->u.mem.slot = KIR_OPEN;
    if (!is_store) keep(g, tidy(g, v));
}

static void derived(generator *g) {
    static const uint16_t FN[] = {HG_OP_REM,   HG_OP_MIN, HG_OP_MAX,   HG_OP_MAD,  HG_OP_FMS,
                                  HG_OP_ABS,   HG_OP_NEG, HG_OP_CLAMP, HG_OP_SIGN, HG_OP_ROUND,
                                  HG_OP_EXP,   HG_OP_LOG, HG_OP_SIN,   HG_OP_TANH, HG_OP_POW,
                                  HG_OP_ATAN2, HG_OP_NOT};
    uint16_t fn = FN[chance(HG_COUNT_OF(FN))];
    hg_type type = (hg_type)chance(HG_TYPE_COUNT);
    if (!kir_define_exists(fn, type) || (hg_type_is_integer(type) && hg_type_size_bytes(type) > 32))
        return;
    kir_value *args[3];
    uint8_t n = kir_define_args(fn);
    for (uint8_t i = 0; i < n; i++) args[i] = some(g, kir_type_of(type));
    keep(g, kir_derived(&g->b, fn, type, n, args));
}

static void convert(generator *g) {
    kir_builder *b = &g->b;
    uint8_t from = TYPES[1 + chance(8)], to = TYPES[1 + chance(8)];
    kir_value *x = some(g, from);
    bool real_from = kir_type_is_float(from), real_to = kir_type_is_float(to);
    if (chance(6) == 0) {
        hg_type dst = (hg_type)chance(HG_TYPE_COUNT), src = (hg_type)chance(HG_TYPE_COUNT);
        if ((hg_type_is_integer(dst) && hg_type_size_bytes(dst) > 32) ||
            (hg_type_is_integer(src) && hg_type_size_bytes(src) > 32))
            return;
        if (src == HG_TYPE_F16 || src == HG_TYPE_BF16 || dst == HG_TYPE_F16 || dst == HG_TYPE_BF16)
            return; /* NaN bits of halves */
        keep(g, kir_cvt(b, dst, src, some(g, kir_type_of(src))));
        return;
    }
    if (real_from && real_to) {
        if (from != to) keep(g, kir_convert(b, KIR_F2F, to, x));
    } else if (real_from) {
        bool bits = kir_type_bytes(from) == kir_type_bytes(to) && chance(2);
        keep(g, bits ? kir_convert(b, KIR_BITCAST, to, tidy(g, x))
                     : kir_convert(b, chance(2) ? KIR_F2U : KIR_F2S, to, x));
    } else if (real_to) {
        bool bits = kir_type_bytes(from) == kir_type_bytes(to) && chance(2);
        keep(g, bits ? kir_convert(b, KIR_BITCAST, to, x)
                     : kir_convert(b, chance(2) ? KIR_U2F : KIR_S2F, to, x));
    } else if (kir_type_bytes(to) > kir_type_bytes(from)) {
        keep(g, kir_convert(b, chance(2) ? KIR_ZEXT : KIR_SEXT, to, x));
    } else if (kir_type_bytes(to) < kir_type_bytes(from)) {
        keep(g, kir_convert(b, KIR_TRUNC, to, x));
    }
}

static void compute(generator *g) {
    static const kir_op INT[] = {KIR_ADD,     KIR_SUB,  KIR_MUL,  KIR_AND,  KIR_OR,     KIR_XOR,
                                 KIR_UDIV,    KIR_UREM, KIR_SDIV, KIR_SREM, KIR_CMP_EQ, KIR_CMP_ULT,
                                 KIR_CMP_SLT, KIR_SHL,  KIR_LSHR, KIR_ASHR, KIR_CLZ};
    static const kir_op REAL[] = {KIR_FADD,    KIR_FSUB,    KIR_FMUL,    KIR_FDIV,
                                  KIR_FCMP_EQ, KIR_FCMP_LT, KIR_FCMP_LE, KIR_FSQRT,
                                  KIR_FFLOOR,  KIR_FTRUNC,  KIR_FRINT,   KIR_FFMA};
    kir_builder *b = &g->b;
    uint8_t type = TYPES[1 + chance(8)];
    if (chance(6) == 0) {
        keep(g, kir_select(b, some(g, KIR_BOOL), some(g, type), some(g, type)));
        return;
    }
    if (kir_type_is_float(type)) {
        kir_op op = REAL[chance(HG_COUNT_OF(REAL))];
        if (op == KIR_FFMA)
            keep(g, kir_ffma(b, some(g, type), some(g, type), some(g, type)));
        else if (kir_op_get(op)->args == 1)
            keep(g, kir_unary(b, op, some(g, type)));
        else
            keep(g, kir_binary(b, op, some(g, type), some(g, type)));
        return;
    }
    kir_op op = INT[chance(HG_COUNT_OF(INT))];
    if (op == KIR_CLZ)
        keep(g, kir_unary(b, op, some(g, type)));
    else
        keep(g, kir_binary(b, op, some(g, type),
                           op == KIR_SHL || op == KIR_LSHR || op == KIR_ASHR ? some(g, HG_TYPE_U32)
                                                                             : some(g, type)));
}

static void private_access(generator *g) {
    kir_builder *b = &g->b;
    size_t i = chance(HG_COUNT_OF(TYPES)), a = chance(5);
    switch (chance(6)) {
    case 0: kir_set(b, g->vars[i], some(g, TYPES[i])); break;
    case 1: keep(g, kir_get(b, g->vars[i])); break;
    case 2: kir_array_set(b, g->arrays[a], element(g), some(g, g->arrays[a]->type)); break;
    case 3: keep(g, kir_array_get(b, g->arrays[a], element(g))); break;
    case 4: keep(g, kir_table_get(b, g->tables[a % 4], element(g))); break;
    default:
        if (!g->callee[0]) return;
        {
            kir_function *f = g->callee[a % 3];
            kir_value *args[4];
            for (uint8_t k = 0; k < f->param_count; k++) args[k] = some(g, f->param_types[k]);
            kir_value *r = kir_call(b, f, f->param_count, args, &g->arrays[1]);
            if (f->result != KIR_VOID) keep(g, r);
        }
    }
}

static void statement(generator *g, int *depth) {
    kir_builder *b = &g->b;
    uint64_t what = chance(20);
    if (what < 8)
        compute(g);
    else if (what < 11)
        convert(g);
    else if (what < 12)
        derived(g);
    else if (what < 14)
        memory_access(g);
    else if (what < 18 || *depth >= DEPTH)
        private_access(g);
    else if (what == 18) {
        kir_value *branch = kir_if_begin(b, some(g, KIR_BOOL));
        int kept = g->count;
        ++*depth;
        for (int i = 0; i < 4; i++) statement(g, depth);
        g->count = kept;
        kir_if_else(b, branch);
        for (uint64_t i = chance(4); i > 0; i--) statement(g, depth);
        g->count = kept;
        --*depth;
        kir_if_end(b, branch);
    } else {
        kir_var *n = kir_var_create(b->module, b->function, HG_TYPE_U32, 0, "n");
        kir_set(b, n, kir_const(b, HG_TYPE_U32, 1 + chance(3)));
        kir_value *loop = kir_loop_begin(b, true), *left = kir_get(b, n);
        int kept = g->count;
        kir_value *done = kir_if_begin(
            b, kir_binary(b, KIR_CMP_EQ, left, kir_const(b, HG_TYPE_U32, 0)));
        kir_break(b);
        kir_if_end(b, done);
        kir_set(b, n, kir_sub(b, left, kir_const(b, HG_TYPE_U32, 1)));
        ++*depth;
        for (int i = 0; i < 4; i++) statement(g, depth);
        --*depth;
        g->count = kept;
        kir_loop_end(b, loop);
    }
}

static kir_function *random_callee(kir_module *m, const generator *outer, const char *name,
                                   uint8_t result) {
    static const uint8_t params[] = {HG_TYPE_U64, HG_TYPE_F64, HG_TYPE_U8, HG_TYPE_F32};
    generator g = *outer;
    kir_function *f = kir_function_create(m, name, result);
    f->param_count = 4;
    memcpy(f->param_types, params, 4);
    g.arrays[1] = kir_array_param(f, HG_TYPE_U64, 4, "a");
    for (size_t i = 0; i < 5; i++)
        if (i != 1) g.arrays[i] = kir_var_create(m, NULL, outer->arrays[i]->type, 4, NULL);
    g.callee[0] = NULL;
    g.count = 0;
    kir_builder_init(&g.b, m, f);
    for (uint8_t i = 0; i < 4; i++) keep(&g, kir_param(&g.b, i));
    int depth = 1;
    for (int i = 0; i < 12; i++) statement(&g, &depth);
    kir_return(&g.b, result == KIR_VOID ? NULL : some(&g, result));
    return f;
}

/* The n-th allocation fails, for every n: an error by value, nothing leaked. */
static int64_t allocations_left = INT64_MAX, blocks;
static size_t refused; /* what cannot grow to so many bytes */
static void *reallocate(void *user, void *memory, size_t bytes) {
    (void)user;
    if (allocations_left-- <= 0 || (memory && bytes == refused)) return NULL;
    if (!memory) blocks++;
    return realloc(memory, bytes);
}
static void release(void *user, void *memory) {
    (void)user;
    if (memory) blocks--;
    free(memory);
}
static void failing_allocations(const kir_module *m, const kir_caps *caps) {
    for (int64_t n = 0;; n += 1 + n / 8) {
        kir_module *low = NULL;
        int64_t before = blocks;
        allocations_left = n;
        hg_status status = kir_legalise(m, caps, &low);
        allocations_left = INT64_MAX;
        CHECK_MESSAGE(status == HG_OK
                          ? low != NULL
                          : status == HG_ERROR_OUT_OF_MEMORY && !low && blocks == before,
                      "allocation %lld fails: status %d, %lld blocks left", (long long)n,
                      (int)status, (long long)(blocks - before));
        if (status != HG_OK) continue;
        kir_module_destroy(low);
        return;
    }
}

static void random_program(uint64_t number, const kir_caps *const *caps, size_t count) {
    seed = number * UINT64_C(0x9E3779B97F4A7C15) + 1;
    for (int i = 0; i < 8; i++) next_random();
    kir_module *m = kir_module_create("random");
    generator g = {0};
    for (size_t i = 1; i < HG_COUNT_OF(TYPES); i++) add_input(m, TYPES[i]);
    kir_function *f = kir_function_create(m, "main", KIR_VOID);
    static const uint8_t array_types[] = {HG_TYPE_U8, HG_TYPE_U64, HG_TYPE_F64, HG_TYPE_F32,
                                          HG_TYPE_U16};
    static const uint64_t words[] = {UINT64_C(0x0123456789ABCDEF), 7, UINT64_C(0xFFF0000000000001),
                                     UINT64_C(0x3FF8000000000000)};
    for (size_t i = 0; i < HG_COUNT_OF(TYPES); i++)
        g.vars[i] = kir_var_create(m, NULL, TYPES[i], 0, "v");
    for (size_t i = 0; i < 5; i++) g.arrays[i] = kir_var_create(m, NULL, array_types[i], 4, "a");
    static const uint8_t table_types[] = {HG_TYPE_U8, HG_TYPE_U16, HG_TYPE_U64, HG_TYPE_U32};
    for (size_t i = 0; i < 4; i++) g.tables[i] = kir_table_create(m, table_types[i], 4, words, "t");
    kir_function *callees[3] = {random_callee(m, &g, "first", HG_TYPE_U64),
                                random_callee(m, &g, "second", HG_TYPE_F64),
                                random_callee(m, &g, "third", KIR_VOID)};
    memcpy(g.callee, callees, sizeof callees);
    kir_builder_init(&g.b, m, f);
    for (size_t i = 1; i < HG_COUNT_OF(TYPES); i++) keep(&g, get_input(&g.b, i - 1));
    int depth = 0;
    for (int i = 0; i < 40; i++) statement(&g, &depth);
    for (size_t i = 0; i < HG_COUNT_OF(TYPES); i++)
        store_result(&g.b, 2048 + 64 * i, tidy(&g, kir_get(&g.b, g.vars[i])));
    for (int i = 0; i < 8; i++) {
        kir_value *v = g.pool[chance((uint64_t)g.count)];
        store_result(&g.b, 3072 + 64 * (uint64_t)i, tidy(&g, v));
    }
    char what[64];
    snprintf(what, sizeof what, "random program %llu", (unsigned long long)number);
    uint64_t after = seed;
    for (size_t i = 0; i < count; i++) {
        seed = after;
        compare_modules(m, caps[i], 3, KIR_BOOL, what);
        if (number % 8 == 0) failing_allocations(m, caps[i]);
    }
    kir_module_destroy(m);
}

/* Only `.flag relaxed` lets a flushing target's own addition stand for the exact one. */
static void relaxed_arithmetic(void) {
    for (int relaxed = 0; relaxed < 2; relaxed++) {
        kir_caps caps = full_caps();
        caps.subnormals = false;
        caps.inexact[KIR_FDIV][0] = true;
        kir_module *m = kir_module_create("relaxed"), *low = NULL;
        kir_function *kernel = kir_function_create(m, "main", KIR_VOID),
                     *f = kir_function_create(m, "f", HG_TYPE_F32);
        kir_builder b;
        CHECK(kernel && f);
        kir_builder_init(&b, m, f);
        f->param_count = 2;
        f->param_types[0] = f->param_types[1] = HG_TYPE_F32;
        m->relaxed = relaxed;
        kir_return(&b, kir_binary(&b, KIR_FDIV, kir_add(&b, kir_param(&b, 0), kir_param(&b, 1)),
                                  kir_param(&b, 1)));
        CHECK(kir_legalise(m, &caps, &low) == HG_OK);
        uint32_t calls = 0;
        for (const kir_value *v = low ? kir_walk(NULL, low->functions->next->body) : NULL; v;
             v = kir_walk(v, low->functions->next->body))
            calls += v->op == KIR_CALL;
        CHECK(relaxed ? calls == 0 : calls == 2);
        kir_module_destroy(low);
        kir_module_destroy(m);
    }
}

/* ---- f64 fma by sums ---- */

/* A number with a significand of few bits or many, and an exponent from `least` on. */
static double scaled(int least, int span) {
    uint64_t r = next_random();
    double significand = r & 1 ? (double)(int64_t)(next_random() >> 11 | UINT64_C(1) << 52)
                               : (double)(1 + r / 16 % 64);
    return ldexp(r & 2 ? -significand : significand,
                 least - 52 + (int)(next_random() % (uint64_t)span));
}

/* An addend for which the rounding of x y + c is hard: the product nearly cancels, a tie is near,
 * or one of the two is far below the other. */
static double hard_addend(double x, double y) {
    const double p = x * y, unit = isfinite(p) && p != 0 ? ldexp(1, ilogb(p) - 53) : 0x1p-1074;
    switch (next_random() % 8) {
    case 0: return -p;
    case 1: return nextafter(-p, next_random() & 1 ? INFINITY : -INFINITY);
    case 2: return next_random() & 1 ? unit : -unit;
    case 3: return -p + unit;
    case 4: return fma(x, y, -p) * (next_random() & 1 ? -1 : 1);
    case 5: return ldexp(p, (int)(next_random() % 240) - 120);
    case 6: return next_random() & 1 ? 0.0 : -0.0;
    default: return scaled(-1080, 2100);
    }
}

/* Beside the machine's own, or the C library's. */
static void fused_by_sums(const kir_caps *caps, int count) {
    kir_module *m = kir_module_create("fused"), *low = NULL;
    kir_builder b;
    kir_value *args[3];
    for (int i = 0; i < 3; i++) add_input(m, HG_TYPE_F64);
    kir_function *f = kir_function_create(m, "main", KIR_VOID);
    kir_builder_init(&b, m, f);
    for (uint8_t i = 0; i < 3; i++) args[i] = get_input(&b, i);
    store_result(&b, 0, kir_emit(&b, KIR_FFMA, HG_TYPE_F64, 3, args));
    CHECK(kir_legalise(m, caps, &low) == HG_OK);
    for (int i = 0; low && i < count; i++) {
        static const int RANGES[][2] = {{-2, 4}, {-490, 20}, {470, 20}, {-1080, 2100}, {-560, 60}};
        const int *range = RANGES[next_random() % HG_COUNT_OF(RANGES)];
        double x[3] = {scaled(range[0], range[1]), scaled(range[0], range[1])}, found;
        uint64_t words[3];
        uint8_t memory[MEMORY] = {0};
        eval_value in[3], in_low[3];
        int fault = 0;
        if (next_random() % 16 == 0) x[next_random() & 1] = next_random() & 1 ? 0.0 : -0.0;
        x[2] = hard_addend(x[0], x[1]);
        memcpy(words, x, sizeof words);
        for (int k = 0; k < 3; k++) in[k] = ev_from(words[k]);
        lower_inputs(low, m, in, in_low);
        run_module(low, false, in_low, memory, &fault);
        memcpy(&found, memory, sizeof found);
        const double expected = fma(x[0], x[1], x[2]);
        const bool good = !fault &&
                          (isnan(expected) ? isnan(found)
                                           : memcmp(&found, &expected, sizeof found) == 0);
        CHECK_MESSAGE(good, "fma(%a, %a, %a) = %a, expected %a", x[0], x[1], x[2], found, expected);
        if (!good) break;
    }
    kir_module_destroy(low);
    kir_module_destroy(m);
}

/* ---- f32 fma by sums ---- */

enum { FUSED = 6 };

static float hard_factor(void) {
    static const int RANGES[][2] = {{-2, 4}, {-44, 8}, {-150, 280}, {50, 30}, {-64, 20}};
    static const float EDGES[] = {0.0f,       -0.0f,     1.0f,     -1.0f,      0x1p-149f, 0x1p-126f,
                                  -0x1p-127f, FLT_MAX,   -FLT_MAX, INFINITY,   -INFINITY, NAN,
                                  0x1p-40f,   -0x1p-41f, 0x1p126f, 0x1.8p127f, 0x1p63f,   3.0f};
    const int *range = RANGES[next_random() % HG_COUNT_OF(RANGES)];
    uint64_t r = next_random();
    if (r % 12 == 0) return EDGES[r / 12 % HG_COUNT_OF(EDGES)];
    double significand = r & 1 ? (double)(next_random() >> 40 | UINT64_C(1) << 23)
                               : ldexp((double)(1 + r / 16 % 64), 17);
    return (float)ldexp(r & 2 ? -significand : significand,
                        range[0] - 23 + (int)(next_random() % (uint64_t)range[1]));
}

/* As hard_addend: x y is a double. Those at the middle between two results, too: what is lost of
 * the product is then all that decides. */
static float hard_f32_addend(float x, float y) {
    const double p = (double)x * (double)y, q = p - (double)(float)p;
    const int e = isfinite(p) && p != 0 ? ilogb(p) : -100;
    const double sign = next_random() & 1 ? -1 : 1;
    switch (next_random() % 9) {
    case 0: return (float)-p;
    case 1: return nextafterf((float)-p, next_random() & 1 ? INFINITY : -INFINITY);
    case 2: return (float)(sign * ldexp(1, e - 24 - (int)(next_random() % 4)));
    case 3: return (float)(-p + sign * ldexp(1, e - (int)(next_random() % 30)));
    case 4: return (float)(sign * q);
    case 5: return (float)(sign * ldexp(p, (int)(next_random() % 120) - 60));
    case 6: /* an odd number of halves of the sum's last place */
        return (float)(sign * ldexp((double)(next_random() % (1 << 23) | 1 << 23), e + 2));
    case 7: return next_random() & 1 ? 0.0f : -0.0f;
    default: return hard_factor();
    }
}

/* Two batches: the second needs the first, and a variable is set between members of one. */
static kir_module *fused_module(void) {
    kir_module *m = kir_module_create("fused");
    kir_builder b;
    kir_value *x[3], *f[FUSED];
    for (int i = 0; i < 3; i++) add_input(m, HG_TYPE_F32);
    kir_function *main_function = kir_function_create(m, "main", KIR_VOID);
    kir_var *var = kir_var_create(m, main_function, HG_TYPE_F32, 0, "var");
    kir_builder_init(&b, m, main_function);
    for (uint8_t i = 0; i < 3; i++) x[i] = get_input(&b, i);
    f[0] = kir_ffma(&b, x[0], x[1], x[2]);
    kir_set(&b, var, f[0]);
    f[1] = kir_ffma(&b, x[1], x[0], x[0]);
    f[2] = kir_ffma(&b, x[1], x[1], x[2]);
    kir_value *first = kir_get(&b, var);
    f[3] = kir_ffma(&b, first, x[1], x[2]);
    f[4] = kir_ffma(&b, x[0], f[1], f[2]);
    kir_set(&b, var, f[4]);
    f[5] = kir_ffma(&b, f[4], kir_get(&b, var), first);
    for (uint64_t i = 0; i < FUSED; i++) store_result(&b, 4 * i, f[i]);
    return m;
}

static bool same_f32(float a, float b) {
    return isnan(a) ? isnan(b) : memcmp(&a, &b, sizeof a) == 0;
}

/* Beside the machine's own, or the C library's. */
static void fused_by_f32_sums(const kir_caps *caps, int count) {
    kir_module *m = fused_module(), *low = NULL;
    CHECK(kir_legalise(m, caps, &low) == HG_OK);
    if (low) check_legal(low, caps, "fused");
    for (int i = 0; low && i < count; i++) {
        float x[3] = {hard_factor(), hard_factor(), 0}, found[FUSED], expected[FUSED];
        uint32_t words[3];
        uint8_t memory[MEMORY] = {0};
        eval_value in[3], in_low[3];
        int fault = 0;
        x[2] = hard_f32_addend(x[0], x[1]);
        memcpy(words, x, sizeof words);
        for (int k = 0; k < 3; k++) in[k] = ev_from(words[k]);
        lower_inputs(low, m, in, in_low);
        run_module(low, !caps->subnormals, in_low, memory, &fault);
        memcpy(found, memory, sizeof found);
        expected[0] = fmaf(x[0], x[1], x[2]);
        expected[1] = fmaf(x[1], x[0], x[0]);
        expected[2] = fmaf(x[1], x[1], x[2]);
        expected[3] = fmaf(expected[0], x[1], x[2]);
        expected[4] = fmaf(x[0], expected[1], expected[2]);
        expected[5] = fmaf(expected[4], expected[4], expected[0]);
        bool good = !fault;
        for (int k = 0; k < FUSED; k++) good = good && same_f32(expected[k], found[k]);
        CHECK_MESSAGE(good, "%s: of %a, %a, %a: %a %a %a %a %a %a, expected %a %a %a %a %a %a",
                      caps->name, x[0], x[1], x[2], found[0], found[1], found[2], found[3],
                      found[4], found[5], expected[0], expected[1], expected[2], expected[3],
                      expected[4], expected[5]);
        if (!good) break;
    }
    kir_module_destroy(low);
    kir_module_destroy(m);
}

/* ---- f32 where subnormal numbers are lost ---- */

/* Two operands whose sum, product or quotient lies about the smallest normal number, often at the
 * middle between two subnormal ones. */
static void small_operands(kir_op op, float x[2]) {
    const int e = -152 + (int)(next_random() % 32); /* of the result */
    double wanted = ldexp((double)(2 * (next_random() % 64) + 1), e - 6);
    x[0] = hard_factor();
    x[1] = hard_factor();
    if (next_random() % 4 == 0 || !isnormal(x[1])) return;
    if (op == KIR_FADD || op == KIR_FSUB) {
        x[0] = (float)ldexp((double)(next_random() >> 40), -166 + (int)(next_random() % 48));
        x[1] = (float)(next_random() & 1 ? wanted : wanted - (double)x[0]);
    } else if (op == KIR_FSQRT) {
        x[0] = (float)ldexp((double)(next_random() >> 40), -150 + (int)(next_random() % 3));
    } else {
        x[0] = (float)(op == KIR_FMUL ? wanted / (double)x[1] : wanted * (double)x[1]);
        if (next_random() & 1) x[0] = nextafterf(x[0], next_random() & 1 ? INFINITY : -INFINITY);
    }
    if (next_random() % 4 == 0) x[0] = -x[0];
    if (next_random() % 8 == 0) x[next_random() & 1] = 0.0f;
}

static float host_result(kir_op op, float x, float y) {
    volatile float r = op == KIR_FADD   ? x + y
                       : op == KIR_FSUB ? x - y
                       : op == KIR_FMUL ? x * y
                       : op == KIR_FDIV ? x / y
                                        : sqrtf(x);
    return r;
}

/* Beside the machine's own. */
static void small_f32(const kir_caps *caps, int count) {
    static const kir_op OPS[] = {KIR_FADD, KIR_FSUB, KIR_FMUL, KIR_FDIV, KIR_FSQRT};
    kir_module *m = kir_module_create("small"), *low = NULL;
    kir_builder b;
    kir_value *args[2];
    for (int i = 0; i < 2; i++) add_input(m, HG_TYPE_F32);
    kir_builder_init(&b, m, kir_function_create(m, "main", KIR_VOID));
    for (uint8_t i = 0; i < 2; i++) args[i] = get_input(&b, i);
    for (uint64_t k = 0; k < HG_COUNT_OF(OPS); k++)
        store_result(&b, 4 * k,
                     kir_emit(&b, OPS[k], HG_TYPE_F32, OPS[k] == KIR_FSQRT ? 1 : 2, args));
    CHECK(kir_legalise(m, caps, &low) == HG_OK);
    for (int i = 0; low && i < count; i++) {
        float x[2], found[HG_COUNT_OF(OPS)];
        uint32_t words[2];
        uint8_t memory[MEMORY] = {0};
        eval_value in[2], in_low[2];
        int fault = 0;
        small_operands(OPS[(size_t)i % HG_COUNT_OF(OPS)], x);
        memcpy(words, x, sizeof words);
        for (int k = 0; k < 2; k++) in[k] = ev_from(words[k]);
        lower_inputs(low, m, in, in_low);
        run_module(low, !caps->subnormals, in_low, memory, &fault);
        memcpy(found, memory, sizeof found);
        bool good = !fault;
        for (size_t k = 0; k < HG_COUNT_OF(OPS); k++) {
            float expected = host_result(OPS[k], x[0], x[1]);
            good = good && same_f32(expected, found[k]);
            CHECK_MESSAGE(same_f32(expected, found[k]), "%s: %s of %a, %a: %a, expected %a",
                          caps->name, kir_op_name(OPS[k]), x[0], x[1], found[k], expected);
        }
        if (!good) break;
    }
    kir_module_destroy(low);
    kir_module_destroy(m);
}

/* Four batches of 193 multiply-adds in all, then one of 64: the list of them grows at its last. */
static void no_memory_for_a_batch(const kir_caps *caps) {
    kir_module *m = kir_module_create("many"), *low = NULL;
    kir_builder b;
    kir_value *x[3], *f = NULL;
    for (int i = 0; i < 3; i++) add_input(m, HG_TYPE_F32);
    kir_builder_init(&b, m, kir_function_create(m, "main", KIR_VOID));
    for (uint8_t i = 0; i < 3; i++) x[i] = get_input(&b, i);
    for (uint64_t i = 0; i < 257; i++) {
        f = kir_ffma(&b, x[0], x[1], x[2]);
        if (i == 190 || i == 192 || i == 256) store_result(&b, 4 * i, f);
    }
    const int64_t before = blocks;
    refused = 512 * sizeof(void *);
    CHECK(kir_legalise(m, caps, &low) == HG_ERROR_OUT_OF_MEMORY && !low && blocks == before);
    refused = 0;
    kir_module_destroy(m);
}

int main(int argc, char **argv) {
    int count = argc > 1 ? atoi(argv[1]) : SANITIZED ? 2 : 6;
    CHECK(hg_set_allocator(&(hg_allocator){sizeof(hg_allocator), NULL, reallocate, release}) ==
          HG_OK);
    kir_caps full = full_caps(), plain = full_caps(), poor = {.name = "poor"}, small = full_caps(),
             ints = full_caps(), values = full_caps();
    plain.fma32 = plain.fma64 = plain.half = false;
    plain.name = "no fma, no half";
    small.i8 = small.i16 = small.subnormals = false;
    small.name = "no small integers, flushing";
    ints.i64 = ints.f64 = ints.fma64 = false;
    ints.name = "32 bits";
    values.limb_values = true;
    values.name = "a value for each limb";
    if (argc > 2) count = atoi(argv[2]);
    const kir_caps *all[] = {&full, &plain, &poor, &small, &ints, &values};
    for (size_t i = 0; i < HG_COUNT_OF(all); i++)
        if (argc < 3 || (size_t)atoi(argv[1]) == i) everything(all[i], count);
    known_shifts(&values);
    if (argc < 3) {
        inexact_operations(full, 40);
        ints.name = "32 bits";
        inexact_operations(ints, 40);
    }
    relaxed_arithmetic();
    fused_by_sums(&plain, SANITIZED ? 300 : 10000);
    kir_caps kept = {.subnormals = true, .name = "no fma, no f64"};
    int fused = argc > 5 ? atoi(argv[5]) : SANITIZED ? 100 : 3000;
    fused_by_f32_sums(&poor, fused);
    fused_by_f32_sums(&kept, fused);
    no_memory_for_a_batch(&kept);
    int smallest = argc > 5 ? fused : SANITIZED ? 1000 : 20000;
    small_f32(&poor, smallest);
    poor.inexact[KIR_FSUB][0] = true; /* then by integers */
    small_f32(&poor, smallest / 4);
    poor.inexact[KIR_FSUB][0] = false;
    uint64_t first = argc > 3 ? strtoull(argv[3], NULL, 10) : 0,
             programs = argc > 4    ? strtoull(argv[4], NULL, 10)
                        : SANITIZED ? 10
                                    : 30;
    for (uint64_t i = first; i < first + programs; i++) random_program(i, all, HG_COUNT_OF(all));
    return test_done();
}
