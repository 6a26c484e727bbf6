/* Legalised modules against the originals, both in the one-lane evaluator: every operation and type on edge and random values, then
 * random straight programs with branches and loops; for the capabilities of a plain CPU, without fma and half, and of a poor device. */
#include "kir_eval.h"
#include "test.h"

static uint64_t seed = UINT64_C(0xD1B54A32D192ED03);
static uint64_t next_random(void) {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    return seed ^= seed << 17;
}

static kir_caps full_caps(void) { return (kir_caps){.i8 = true, .i16 = true, .i64 = true, .f64 = true, .fma32 = true, .fma64 = true, .subnormals = true, .half = true, .name = "full"}; }

/* Edge values of integers and floats, and chance. */
static eval_value random_value(uint8_t type) {
    eval_value v = {{0}};
    uint32_t bits = kir_type_bits(type);
    if (type == KIR_BOOL) return ev_from(next_random() & 1);
    uint64_t r = next_random();
    if (kir_type_is_float(type)) {
        static const uint32_t f32[] = {0, 0x80000000, 1, 0x80000001, 0x007FFFFF, 0x00800000, 0x00800001, 0x3F800000, 0xBF800000, 0x3F000000, 0x40200000, 0xC0200000, 0x7F7FFFFF, 0x7F800000,
                                       0xFF800000, 0x7FC00000, 0x4B000000, 0x4AFFFFFF, 0x34000000, 0x00000100, 0x01000000, 0x33800000, 0x4F000000, 0x4F800000, 0x5F000000, 0xCF000000};
        static const uint64_t f64[] = {0, UINT64_C(1) << 63, 1, UINT64_C(0x000FFFFFFFFFFFFF), UINT64_C(0x0010000000000000), UINT64_C(0x3FF0000000000000), UINT64_C(0xBFF0000000000000),
                                       UINT64_C(0x3FE0000000000000), UINT64_C(0x4004000000000000), UINT64_C(0x7FEFFFFFFFFFFFFF), UINT64_C(0x7FF0000000000000), UINT64_C(0xFFF0000000000000),
                                       UINT64_C(0x7FF8000000000000), UINT64_C(0x4330000000000000), UINT64_C(0x432FFFFFFFFFFFFF), UINT64_C(0x36A0000000000000), UINT64_C(0x3810000000000000),
                                       UINT64_C(0x47EFFFFFF0000000), UINT64_C(0x47EFFFFFEFFFFFFF), UINT64_C(0x43E0000000000000), UINT64_C(0x41DFFFFFFFC00000), UINT64_C(0x380FFFFFFFFFFFFF)};
        if (r % 3 == 0) return ev_from(type == HG_TYPE_F32 ? f32[r / 3 % HG_COUNT_OF(f32)] : f64[r / 3 % HG_COUNT_OF(f64)]);
        if (r % 3 == 1) { /* near one another in size, so that sums and remainders cancel */
            double d = ldexp((double)(int64_t)next_random(), (int)(r / 3 % 12) - 66);
            return ev_of_real(&(eval){0}, type, d);
        }
        v = ev_from(next_random());
        ev_cut(&v, bits);
        return v;
    }
    for (uint32_t i = 0; i < ev_limbs(bits); i++) v.limb[i] = (uint32_t)next_random();
    ev_cut(&v, bits);
    switch (r % 6) {
    case 0: v = ev_from(r / 8 % 4); break;
    case 1: v = ev_from(r / 8 % 3 + 1); v = ev_neg(&v, bits); break;
    case 2: v = ev_from(1); v = ev_shl(&v, (uint32_t)(r / 8 % bits), bits); break;
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
static bool same(uint8_t type, const eval_value *a, const eval_value *b) { return (is_nan(type, a) && is_nan(type, b)) || ev_cmp(a, b) == 0; }

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
    kir_value *v = kir_emit(b, KIR_STORE, KIR_VOID, 3, (kir_value *[]){buffer(b), kir_const(b, HG_TYPE_U64, offset), value});
    v->u.mem.space = KIR_BUFFER;
    v->u.mem.has_index = 1;
    v->u.mem.slot = KIR_OPEN;
    uint64_t size = kir_type_bytes(value->type);
    v->u.mem.bytes = (uint8_t)(size > 8 ? 0 : size);
    v->u.mem.bytes_wide = (uint16_t)size;
}
/* Stores any value at offset so that the evaluator can look at it. */
static void store_result(kir_builder *b, uint64_t offset, kir_value *value) {
    if (value->type == KIR_BOOL) value = kir_select(b, value, kir_const(b, HG_TYPE_U32, 1), kir_const(b, HG_TYPE_U32, 0));
    store(b, offset, value);
}

/* The inputs of the legalised module, limbs and halves included, from those of the original. */
static void lower_inputs(const kir_module *m, const kir_module *original, const eval_value *in, eval_value *out) {
    uint64_t n = original->inputs.count;
    for (uint64_t i = 0; i < m->inputs.count; i++) {
        const kir_input *x = &m->inputs.data[i];
        uint64_t from = x->reg - 1u; /* test modules number their inputs by reg */
        out[i] = ev_from(0);
        if (x->limb_bytes) memcpy(&out[i], (const uint8_t *)&in[from] + (uint64_t)x->limb * x->limb_bytes, x->limb_bytes);
        else out[i] = in[i < n ? i : from];
    }
}

enum { MEMORY = 4096 };
static void run_module(const kir_module *m, bool flush, const eval_value *inputs, uint8_t *memory, int *fault) {
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
    CHECK_MESSAGE(kir_verify(m) == HG_OK, "%s: %s", what, hg_last_error()->message);
    for (const kir_function *f = m->functions; f; f = f->next)
        for (const kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body)) {
            bool bad = (v->type > HG_TYPE_U64 && v->type <= HG_TYPE_U4096) || (v->type == HG_TYPE_U8 && !caps->i8) || (v->type == HG_TYPE_U16 && !caps->i16) ||
                       (v->type == HG_TYPE_U64 && !caps->i64) || (v->type == HG_TYPE_F64 && !caps->f64);
            bad = bad || (v->op == KIR_DERIVED && !caps->derived[v->u.derived.fn][v->u.derived.atlas_type]);
            bad = bad || (v->op == KIR_FFMA && !(v->type == HG_TYPE_F64 ? caps->fma64 : caps->fma32));
            bad = bad || ((v->op == KIR_H2F || v->op == KIR_F2H || v->op == KIR_B2F || v->op == KIR_F2B) && !caps->half);
            if (bad) CHECK_MESSAGE(false, "%s: %s of %s is left in %s", what, kir_op_name((kir_op)v->op), kir_type_name(v->type), f->name);
            if (bad) return;
        }
}

/* Runs original and legalised over random inputs; the memories must be equal. NaNs are compared as such by the callers' programs
 * storing one value each: type is that of the value at offset 0, KIR_VOID compares bytes. */
static void compare_modules(kir_module *m, const kir_caps *caps, int count, uint8_t type, const char *what) {
    kir_module *low = NULL;
    CHECK_MESSAGE(kir_verify(m) == HG_OK, "%s: %s", what, hg_last_error()->message);
    hg_status status = kir_legalise(m, caps, &low);
    CHECK_MESSAGE(status == HG_OK, "%s for %s: %s", what, caps->name, hg_last_error()->message);
    if (status != HG_OK) return;
    check_legal(low, caps, what);
    eval_value *in = calloc(m->inputs.count + 1, sizeof *in), *in_low = calloc(low->inputs.count + 1, sizeof *in_low);
    for (int i = 0; i < count; i++) {
        uint8_t memory[2][MEMORY];
        int fault[2] = {0, 0};
        for (uint64_t k = 0; k < m->inputs.count; k++) in[k] = random_value(m->inputs.data[k].type);
        if (m->inputs.count > 1 && next_random() % 8 == 0 && m->inputs.data[0].type == m->inputs.data[1].type) in[1] = in[0];
        for (int k = 0; k < MEMORY; k++) memory[0][k] = memory[1][k] = (uint8_t)(k * 37 + 11);
        lower_inputs(low, m, in, in_low);
        run_module(m, false, in, memory[0], &fault[0]);
        run_module(low, !caps->subnormals, in_low, memory[1], &fault[1]);
        eval_value a = {{0}}, b = {{0}};
        uint64_t size = type == KIR_BOOL ? 4 : kir_type_bytes(type);
        memcpy(&a, memory[0], size);
        memcpy(&b, memory[1], size);
        bool good = fault[0] == fault[1] && memcmp(memory[0] + size, memory[1] + size, MEMORY - size) == 0 && same(type, &a, &b);
        CHECK_MESSAGE(good, "%s for %s: fault %d, expected %d; of %08x%08x, %08x%08x, %08x%08x: %08x %08x, expected %08x %08x", what, caps->name, fault[1], fault[0], in[0].limb[1], in[0].limb[0],
                      in[1].limb[1], in[1].limb[0], m->inputs.count > 2 ? in[2].limb[1] : 0, m->inputs.count > 2 ? in[2].limb[0] : 0, b.limb[1], b.limb[0], a.limb[1], a.limb[0]);
        if (!good) break;
    }
    free(in);
    free(in_low);
    kir_module_destroy(low);
}

static void one_operation(kir_op op, uint8_t result, const uint8_t *types, uint8_t nargs, const kir_caps *caps, int count) {
    char what[96];
    snprintf(what, sizeof what, "%s.%s", kir_op_name(op), kir_type_name(nargs > 1 && op == KIR_SELECT ? types[1] : types[0]));
    if (result != types[0]) snprintf(what + strlen(what), sizeof what - strlen(what), " -> %s", kir_type_name(result));
    kir_module *m = kir_module_create(what);
    for (uint8_t i = 0; i < nargs; i++) add_input(m, types[i] == KIR_BOOL ? HG_TYPE_U32 : types[i]);
    kir_function *f = kir_function_create(m, "main", KIR_VOID);
    kir_builder b;
    kir_builder_init(&b, m, f);
    kir_value *args[3];
    for (uint8_t i = 0; i < nargs; i++) {
        args[i] = get_input(&b, i);
        if (types[i] == KIR_BOOL) args[i] = kir_binary(&b, KIR_CMP_EQ, kir_binary(&b, KIR_AND, args[i], kir_const(&b, HG_TYPE_U32, 1)), kir_const(&b, HG_TYPE_U32, 1));
    }
    store_result(&b, 0, kir_emit(&b, op, result, nargs, args));
    compare_modules(m, caps, count, result, what);
    kir_module_destroy(m);
}

static const uint8_t INTEGERS[] = {HG_TYPE_U8, HG_TYPE_U16, HG_TYPE_U32, HG_TYPE_U64, HG_TYPE_U128, HG_TYPE_U256, HG_TYPE_U512, HG_TYPE_U1024, HG_TYPE_U2048, HG_TYPE_U4096};

static void integer_operations(const kir_caps *caps, int count) {
    static const kir_op BINARY[] = {KIR_ADD, KIR_SUB, KIR_MUL, KIR_UDIV, KIR_UREM, KIR_SDIV, KIR_SREM, KIR_AND, KIR_OR, KIR_XOR, KIR_MULHI_U};
    static const kir_op COMPARE[] = {KIR_CMP_EQ, KIR_CMP_ULT, KIR_CMP_SLT};
    static const kir_op SHIFTS[] = {KIR_SHL, KIR_LSHR, KIR_ASHR};
    for (size_t t = 0; t < HG_COUNT_OF(INTEGERS); t++) {
        uint8_t type = INTEGERS[t], args[3] = {type, type, type};
        bool wide = type > HG_TYPE_U64;
        for (size_t i = 0; i < HG_COUNT_OF(BINARY); i++) {
            if (wide && BINARY[i] == KIR_MULHI_U) continue; /* no instruction needs it */
            bool slow = type >= HG_TYPE_U1024 && BINARY[i] >= KIR_UDIV && BINARY[i] <= KIR_SREM;
            one_operation(BINARY[i], type, args, 2, caps, slow ? 3 : type >= HG_TYPE_U512 ? count / 10 + 1 : count);
        }
        for (size_t i = 0; i < HG_COUNT_OF(COMPARE); i++) one_operation(COMPARE[i], KIR_BOOL, args, 2, caps, wide ? count / 4 + 1 : count);
        args[1] = HG_TYPE_U32;
        for (size_t i = 0; i < HG_COUNT_OF(SHIFTS); i++) one_operation(SHIFTS[i], type, args, 2, caps, wide ? count / 4 + 1 : count);
        one_operation(KIR_CLZ, type, args, 1, caps, count / 4 + 1);
        one_operation(KIR_SELECT, type, (uint8_t[]){KIR_BOOL, type, type}, 3, caps, 10);
    }
    for (size_t i = 0; i < HG_COUNT_OF(INTEGERS); i++)
        for (size_t k = 0; k < i; k++) {
            one_operation(KIR_ZEXT, INTEGERS[i], &INTEGERS[k], 1, caps, 8);
            one_operation(KIR_SEXT, INTEGERS[i], &INTEGERS[k], 1, caps, 8);
            one_operation(KIR_TRUNC, INTEGERS[k], &INTEGERS[i], 1, caps, 8);
        }
}

static void float_operations(const kir_caps *caps, int count) {
    static const kir_op BINARY[] = {KIR_FADD, KIR_FSUB, KIR_FMUL, KIR_FDIV}, UNARY[] = {KIR_FSQRT, KIR_FFLOOR, KIR_FTRUNC, KIR_FRINT}, COMPARE[] = {KIR_FCMP_EQ, KIR_FCMP_LT, KIR_FCMP_LE};
    static const uint8_t REALS[] = {HG_TYPE_F32, HG_TYPE_F64};
    for (int t = 0; t < 2; t++) {
        uint8_t type = REALS[t], args[3] = {type, type, type}, bits = type == HG_TYPE_F32 ? HG_TYPE_U32 : HG_TYPE_U64;
        for (size_t i = 0; i < HG_COUNT_OF(BINARY); i++) one_operation(BINARY[i], type, args, 2, caps, count);
        for (size_t i = 0; i < HG_COUNT_OF(UNARY); i++) one_operation(UNARY[i], type, args, 1, caps, count);
        for (size_t i = 0; i < HG_COUNT_OF(COMPARE); i++) one_operation(COMPARE[i], KIR_BOOL, args, 2, caps, count);
        one_operation(KIR_FFMA, type, args, 3, caps, count);
        one_operation(KIR_SELECT, type, (uint8_t[]){KIR_BOOL, type, type}, 3, caps, 10);
        one_operation(KIR_BITCAST, bits, args, 1, caps, 10);
        one_operation(KIR_BITCAST, type, &bits, 1, caps, 10);
        one_operation(KIR_F2F, REALS[1 - t], args, 1, caps, count);
        for (size_t i = 0; i < HG_COUNT_OF(INTEGERS); i++) {
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

static void everything(const kir_caps *caps, int count) {
    integer_operations(caps, count);
    float_operations(caps, count);
}

int main(int argc, char **argv) {
    int count = argc > 1 ? atoi(argv[1]) : 40;
    kir_caps full = full_caps(), plain = full_caps(), poor = {.name = "poor"}, small = full_caps(), ints = full_caps();
    plain.fma32 = plain.fma64 = plain.half = false;
    plain.name = "no fma, no half";
    small.i8 = small.i16 = small.subnormals = false;
    small.name = "no small integers, flushing";
    ints.i64 = ints.f64 = ints.fma64 = false;
    ints.name = "32 bits";
    if (argc > 2) count = atoi(argv[2]);
    const kir_caps *all[] = {&full, &plain, &poor, &small, &ints};
    for (size_t i = 0; i < HG_COUNT_OF(all); i++)
        if (argc < 3 || (size_t)atoi(argv[1]) == i) everything(all[i], count);
    return test_done();
}
