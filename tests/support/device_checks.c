/* See device_checks.h. */
#include "support/device_checks.h"
#include "emit/c_dialect.h"
#include "support/kir_eval.h"

typedef device_checks_options checks;

static void check_module(const checks *c, const device_kernel *k) {
    hg_text text = {0};
    hg_status status = emit_device_c(c->dialect, k->module, &k->layout, "a test\n", &text);
    CHECK_MESSAGE(status == HG_OK, "%s", hg_last_error_text());
    if (status == HG_OK && c->check_text) c->check_text(text.data, k->module->name);
    hg_text_free(&text);
}

/* ---- every primitive with edge values ---- */

enum { EDGES = 26, LANES = EDGES * EDGES, MOST_OPS = 96, OPERAND_BYTES = 32 };

static const uint64_t INTEGER_EDGES[EDGES] = {0,
                                              1,
                                              2,
                                              3,
                                              7,
                                              8,
                                              15,
                                              16,
                                              31,
                                              32,
                                              63,
                                              64,
                                              0x7f,
                                              0x80,
                                              0xff,
                                              0x7fff,
                                              0x8000,
                                              0xffff,
                                              0x7fffffff,
                                              0x80000000,
                                              0xffffffff,
                                              0x7fffffffffffffff,
                                              0x8000000000000000,
                                              0xffffffffffffffff,
                                              0x0123456789abcdef,
                                              0xfedcba9876543210};
static const uint32_t F32_EDGES[EDGES] = {
    0,          0x80000000, 1,          0x80000001, 0x007fffff, 0x00800000, 0x3effffff,
    0x3f000000, 0x3f800000, 0xbf800000, 0x3fc00000, 0xbfc00000, 0x40200000, 0x4b000001,
    0x4effffff, 0x4f000000, 0xcf000000, 0x4f7fffff, 0x4f800000, 0x5f000000, 0xdf000000,
    0x5f800000, 0x7f7fffff, 0x7f800000, 0xff800000, 0x7fc00000};
static const uint64_t F64_EDGES[EDGES] = {0,
                                          0x8000000000000000,
                                          1,
                                          0x000fffffffffffff,
                                          0x0010000000000000,
                                          0x3fdfffffffffffff,
                                          0x3fe0000000000000,
                                          0x3ff0000000000000,
                                          0xbff0000000000000,
                                          0x3ff8000000000000,
                                          0xc004000000000000,
                                          0x36a0000000000000,
                                          0x3690000000000001,
                                          0x47efffffefffffff,
                                          0x47effffff0000000,
                                          0x41dfffffffffffff,
                                          0x41e0000000000000,
                                          0x41efffffffffffff,
                                          0x41f0000000000000,
                                          0x43e0000000000000,
                                          0xc3e0000000000000,
                                          0x43f0000000000000,
                                          0x7fefffffffffffff,
                                          0x7ff0000000000000,
                                          0xfff0000000000000,
                                          0x7ff8000000000000};

static uint64_t edge(uint8_t type, uint32_t i) {
    return type == HG_TYPE_F32   ? F32_EDGES[i]
           : type == HG_TYPE_F64 ? F64_EDGES[i]
                                 : INTEGER_EDGES[i];
}

typedef struct operations {
    kir_builder b;
    device_kernel kernel;
    kir_value *lane, *args[3], *results[MOST_OPS];
    uint32_t count;
    bool f64;
} operations;

/* Stores a result; bool as u8. */
static void keep(operations *o, kir_value *v) {
    kir_builder *b = &o->b;
    kir_value *stored = v->type == KIR_BOOL ? kir_convert(b, KIR_ZEXT, HG_TYPE_U8, v) : v;
    kir_value *place = kir_add(b, kir_mul(b, o->lane, kir_const(b, HG_TYPE_U64, MOST_OPS * 8)),
                               kir_const(b, HG_TYPE_U64, 8 * o->count));
    build_store(b, 1, place, stored);
    CHECK(o->count < MOST_OPS);
    if (o->count < MOST_OPS) o->results[o->count++] = v;
}

static void integer_operations(operations *o) {
    kir_builder *b = &o->b;
    uint8_t type = o->args[0]->type;
    for (int i = 0; i < KIR_OP_COUNT; i++) {
        kir_op op = (kir_op)i;
        const kir_op_info *row = kir_op_get(op);
        if (row->class != KIR_CLASS_INT) continue;
        if (row->args == 1) {
            keep(o, kir_unary(b, op, o->args[0]));
        } else if (row->flags & KIR_F_SHIFTS) {
            keep(o, kir_binary(b, op, o->args[0], o->args[2]));
            keep(o, kir_binary(b, op, o->args[0], kir_const(b, HG_TYPE_U32, 5)));
            keep(o, kir_binary(b, op, o->args[0], kir_const(b, HG_TYPE_U32, 77)));
        } else {
            keep(o, kir_binary(b, op, o->args[0], o->args[1]));
            keep(o, kir_binary(b, op, o->args[0], kir_const(b, type, 7)));
        }
    }
    uint64_t top = kir_type_bits(type) == 64 ? UINT64_MAX
                                             : (UINT64_C(1) << kir_type_bits(type)) - 1;
    keep(o, kir_binary(b, KIR_CMP_ULT, o->args[0], kir_const(b, type, 0)));
    keep(o, kir_binary(b, KIR_CMP_ULT, kir_const(b, type, top), o->args[0]));
    keep(o, kir_binary(b, KIR_CMP_SLT, o->args[0], kir_const(b, type, top / 2 + 1)));
    keep(o, kir_binary(b, KIR_CMP_EQ, o->args[0], o->args[0]));
}

static void float_operations(operations *o) {
    static const kir_op OPS[] = {KIR_FADD,    KIR_FSUB,    KIR_FMUL,   KIR_FDIV,
                                 KIR_FCMP_EQ, KIR_FCMP_LT, KIR_FCMP_LE};
    static const kir_op UNARY[] = {KIR_FSQRT, KIR_FFLOOR, KIR_FTRUNC, KIR_FRINT};
    for (size_t i = 0; i < HG_COUNT_OF(OPS); i++)
        keep(o, kir_binary(&o->b, OPS[i], o->args[0], o->args[1]));
    for (size_t i = 0; i < HG_COUNT_OF(UNARY); i++) keep(o, kir_unary(&o->b, UNARY[i], o->args[0]));
    keep(o, kir_ffma(&o->b, o->args[0], o->args[1], o->args[2]));
    kir_value *x = ev_build_near_one(&o->b, o->args[0]), *y = ev_build_near_one(&o->b, o->args[1]);
    keep(o, kir_binary(&o->b, KIR_FMULERR, x, y));
}

static void conversions(operations *o) {
    static const uint8_t TYPES[] = {KIR_BOOL,    HG_TYPE_U8,  HG_TYPE_U16, HG_TYPE_U32,
                                    HG_TYPE_U64, HG_TYPE_F32, HG_TYPE_F64};
    kir_value *x = o->args[0];
    uint32_t from = kir_type_bits(x->type);
    for (size_t i = 0; i < HG_COUNT_OF(TYPES); i++) {
        uint32_t to = kir_type_bits(TYPES[i]);
        if (TYPES[i] == HG_TYPE_F64 && !o->f64) continue;
        bool source = kir_type_is_float(x->type), target = kir_type_is_float(TYPES[i]);
        if (source != target && from == to) keep(o, kir_convert(&o->b, KIR_BITCAST, TYPES[i], x));
        if (source && target && from != to) keep(o, kir_convert(&o->b, KIR_F2F, TYPES[i], x));
        if (!source && !target && from > to) keep(o, kir_convert(&o->b, KIR_TRUNC, TYPES[i], x));
        if (!source && !target && from < to) keep(o, kir_convert(&o->b, KIR_ZEXT, TYPES[i], x));
        if (!source && !target && from < to) keep(o, kir_convert(&o->b, KIR_SEXT, TYPES[i], x));
        if (x->type == KIR_BOOL || TYPES[i] == KIR_BOOL) continue;
        if (!source && target) keep(o, kir_convert(&o->b, KIR_U2F, TYPES[i], x));
        if (!source && target) keep(o, kir_convert(&o->b, KIR_S2F, TYPES[i], x));
        if (source && !target) keep(o, kir_convert(&o->b, KIR_F2U, TYPES[i], x));
        if (source && !target) keep(o, kir_convert(&o->b, KIR_F2S, TYPES[i], x));
    }
}

static void bool_operations(operations *o) {
    kir_builder *b = &o->b;
    kir_value *less = kir_binary(b, KIR_CMP_ULT, o->args[0], o->args[1]),
              *equal = kir_binary(b, KIR_CMP_EQ, o->args[0], o->args[1]);
    keep(o, kir_binary(b, KIR_AND, less, equal));
    keep(o, kir_binary(b, KIR_OR, less, equal));
    keep(o, kir_binary(b, KIR_XOR, less, kir_const(b, KIR_BOOL, 1)));
    keep(o, kir_binary(b, KIR_CMP_EQ, less, equal));
    keep(o, kir_convert(b, KIR_SEXT, HG_TYPE_U32, less));
    keep(o, kir_convert(b, KIR_ZEXT, HG_TYPE_U64, less));
    keep(o, kir_select(b, less, o->args[0], o->args[1]));
}

/* Loads three arguments of the type (the third of a shift is u32) and applies everything to them.
 */
static void build_operations(const checks *c, operations *o, uint8_t type, const char *name) {
    memset(o, 0, sizeof *o);
    device_kernel_begin_as(&o->kernel, &o->b, name, 2, c->addressed);
    kir_builder *b = &o->b;
    bool real = kir_type_is_float(type);
    o->f64 = c->f64;
    o->lane = kir_convert(b, KIR_ZEXT, HG_TYPE_U64, build_id(b, KIR_ID_THREAD));
    kir_value *inside = kir_binary(b, KIR_CMP_ULT, o->lane, kir_const(b, HG_TYPE_U64, LANES));
    kir_value *branch = kir_if_begin(b, inside),
              *base = kir_mul(b, o->lane, kir_const(b, HG_TYPE_U64, OPERAND_BYTES));
    o->args[0] = build_load(b, 0, base, type);
    o->args[1] = build_load(b, 0, kir_add(b, base, kir_const(b, HG_TYPE_U64, 8)), type);
    o->args[2] = build_load(b, 0, kir_add(b, base, kir_const(b, HG_TYPE_U64, 16)),
                            real ? type : HG_TYPE_U32);
    if (real)
        float_operations(o);
    else
        integer_operations(o);
    conversions(o);
    if (!real) bool_operations(o);
    kir_if_end(b, branch);
    device_kernel_end(&o->kernel, b);
}

static eval_value reference(const operations *o, const kir_value *v, const eval_value *args) {
    static const eval none;
    eval_value values[3] = {{{0}}}, *x[3] = {&values[0], &values[1], &values[2]};
    for (uint8_t i = 0; i < v->nargs; i++) {
        const kir_value *a = v->args[i];
        int which = a == o->args[0] ? 0 : a == o->args[1] ? 1 : a == o->args[2] ? 2 : -1;
        values[i] = which >= 0           ? args[which]
                    : a->op == KIR_CONST ? ev_from(a->u.imm)
                                         : reference(o, a, args);
    }
    if (v->op == KIR_SELECT) return x[0]->limb[0] ? *x[1] : *x[2];
    if (kir_op_get((kir_op)v->op)->class == KIR_CLASS_CONVERT) return ev_convert(&none, v, x[0]);
    if (v->op == KIR_FCMP_EQ)
        return ev_from(ev_real(&none, v->args[0], x[0]) == ev_real(&none, v->args[1], x[1]));
    if (v->op == KIR_FCMP_LT)
        return ev_from(ev_real(&none, v->args[0], x[0]) < ev_real(&none, v->args[1], x[1]));
    if (v->op == KIR_FCMP_LE)
        return ev_from(ev_real(&none, v->args[0], x[0]) <= ev_real(&none, v->args[1], x[1]));
    return kir_type_is_float(v->args[0]->type) ? ev_float(&none, v, x) : ev_integer(v, x);
}

static bool both_nan(uint8_t type, uint64_t a, uint64_t b) {
    if (type == HG_TYPE_F32) return (a & 0x7fffffff) > 0x7f800000 && (b & 0x7fffffff) > 0x7f800000;
    const uint64_t mask = 0x7fffffffffffffff, infinity = 0x7ff0000000000000;
    return type == HG_TYPE_F64 && (a & mask) > infinity && (b & mask) > infinity;
}

static void compare(const operations *o, const uint8_t *operands, const uint8_t *results) {
    uint32_t wrong = 0;
    for (uint32_t lane = 0; lane < LANES; lane++) {
        eval_value args[3] = {{{0}}};
        for (int i = 0; i < 3; i++)
            memcpy(&args[i], operands + lane * OPERAND_BYTES + 8 * i,
                   kir_type_bytes(o->args[i]->type));
        for (uint32_t k = 0; k < o->count; k++) {
            const kir_value *v = o->results[k];
            eval_value want = reference(o, v, args);
            uint64_t got = 0, expected = ev_u64(&want);
            memcpy(&got, results + ((uint64_t)lane * MOST_OPS + k) * 8, kir_type_bytes(v->type));
            if (got == expected || both_nan(v->type, got, expected)) continue;
            if (wrong++ < 5)
                CHECK_MESSAGE(false,
                              "%s of %s %#" PRIx64 ", %#" PRIx64 ", %#" PRIx64
                              " to %s: expected %#" PRIx64 ", got %#" PRIx64,
                              kir_op_name((kir_op)v->op), kir_type_name(v->args[0]->type),
                              ev_u64(&args[0]), ev_u64(&args[1]), ev_u64(&args[2]),
                              kir_type_name(v->type), expected, got);
        }
    }
    CHECK_MESSAGE(wrong == 0, "%u of %u results differ", (unsigned)wrong,
                  (unsigned)(LANES * o->count));
}

static void test_operations(const checks *c, uint8_t type, const char *name) {
    operations *o = malloc(sizeof *o);
    build_operations(c, o, type, name);
    check_module(c, &o->kernel);
    if (c->device && (type != HG_TYPE_F64 || c->device->caps->compiler.kir.f64)) {
        uint8_t *operands = calloc(LANES, OPERAND_BYTES), *results = calloc(LANES, MOST_OPS * 8);
        for (uint32_t i = 0; i < LANES; i++) {
            uint64_t x[3] = {edge(type, i % EDGES), edge(type, i / EDGES),
                             edge(type, (i * 7 + i / EDGES) % EDGES)};
            memcpy(operands + i * OPERAND_BYTES, x, sizeof x);
        }
        device_memory slots[2] = {{operands, (uint64_t)LANES * OPERAND_BYTES},
                                  {results, (uint64_t)LANES * MOST_OPS * 8}};
        if (device_run(c->device, &o->kernel, (LANES + 63) / 64, 64, 0, NULL, slots))
            compare(o, operands, results);
        free(operands);
        free(results);
    }
    device_kernel_free(&o->kernel);
    free(o);
}

/* ---- groups, atomics, functions ---- */

/* Each group reverses its 64 words through group memory and counts in it. */
static void test_groups(const checks *c) {
    enum { GROUP = 64, GROUPS = 10, COUNT = GROUP * GROUPS };
    device_kernel k;
    kir_builder builder, *b = &builder;
    device_kernel_begin_as(&k, b, "reverse groups?", 2, c->addressed); /* the name is made an
                                                                          identifier */
    k.layout.uses_group_memory = true;
    kir_value *four = kir_const(b, HG_TYPE_U32, 4), *local = build_id(b, KIR_ID_LOCAL_X),
              *group = build_id(b, KIR_ID_GROUP_X);
    kir_value *lane = kir_add(b, kir_mul(b, group, kir_const(b, HG_TYPE_U32, GROUP)), local);
    kir_value *at = kir_convert(b, KIR_ZEXT, HG_TYPE_U64, kir_mul(b, lane, four));
    kir_value *counter = kir_const(b, HG_TYPE_U32, 0),
              *here = kir_add(b, kir_const(b, HG_TYPE_U32, 16), kir_mul(b, local, four));
    kir_value *first = kir_if_begin(b, kir_binary(b, KIR_CMP_EQ, local, counter));
    build_group_store(b, counter, kir_const(b, HG_TYPE_U32, 0));
    kir_if_end(b, first);
    build_barrier(b);
    build_group_store(b, here, build_load(b, 0, at, HG_TYPE_U32));
    build_atomic(b, KIR_OPEN, KIR_ATOMIC_ADD, 1, counter, (kir_value *[]){local});
    build_barrier(b);
    kir_value *there = kir_sub(b, kir_const(b, HG_TYPE_U32, 16 + 4 * (GROUP - 1)),
                               kir_mul(b, local, four));
    kir_value *sum = build_group_load(b, counter, HG_TYPE_U32);
    build_store(b, 1, at, kir_add(b, build_group_load(b, there, HG_TYPE_U32), sum));
    device_kernel_end(&k, b);
    check_module(c, &k);
    uint32_t in[COUNT], out[COUNT] = {0};
    for (uint32_t i = 0; i < COUNT; i++) in[i] = i * 2654435761u;
    device_memory slots[2] = {{in, sizeof in}, {out, sizeof out}};
    if (c->device && device_run(c->device, &k, GROUPS, GROUP, 16 + 4 * GROUP, NULL, slots)) {
        uint32_t wrong = 0;
        for (uint32_t i = 0; i < COUNT; i++)
            wrong += out[i] !=
                     in[i / GROUP * GROUP + GROUP - 1 - i % GROUP] + GROUP * (GROUP - 1) / 2;
        CHECK_U64(wrong, 0);
    }
    device_kernel_free(&k);
}

/* All lanes work on one word with each atomic; for those whose outcome does not depend on the
 * order. */
static void test_atomics(const checks *c, uint8_t type) {
    enum { COUNT = 1000, KINDS = KIR_ATOMIC_XOR + 1 };
    device_kernel k;
    kir_builder builder, *b = &builder;
    device_kernel_begin_as(&k, b, type == HG_TYPE_U32 ? "atomics_32" : "atomics_64", 2,
                           c->addressed);
    kir_value *lane = build_id(b, KIR_ID_THREAD);
    kir_value *inside = kir_if_begin(
        b, kir_binary(b, KIR_CMP_ULT, lane, kir_const(b, HG_TYPE_U32, COUNT)));
    kir_value *wide = kir_convert(b, KIR_ZEXT, HG_TYPE_U64, lane),
              *mixed = kir_mul(b, wide, kir_const(b, HG_TYPE_U64, 0x9e3779b97f4a7c15));
    kir_value *x = type == HG_TYPE_U32 ? kir_convert(b, KIR_TRUNC, type, mixed) : mixed;
    for (int i = 0; i < KINDS; i++)
        build_atomic(b, 0, (kir_atomic)i, 1, kir_const(b, HG_TYPE_U64, (uint64_t)i * 8),
                     (kir_value *[]){x});
    /* a ticket from a loop of compare and exchange, and who took it */
    kir_value *place = kir_const(b, HG_TYPE_U64, KINDS * 8), *loop = kir_loop_begin(b, false);
    kir_value *seen = build_load(b, 0, place, type);
    seen->u.mem.volatile_access = 1;
    kir_value *taken = build_atomic(b, 0, KIR_ATOMIC_CAS, 2, place,
                                    (kir_value *[]){seen, kir_add(b, seen, kir_const(b, type, 1))});
    kir_value *mine = kir_if_begin(b, kir_binary(b, KIR_CMP_EQ, taken, seen));
    kir_value *slot = type == HG_TYPE_U32 ? kir_convert(b, KIR_ZEXT, HG_TYPE_U64, seen) : seen;
    build_store(b, 1, kir_mul(b, slot, kir_const(b, HG_TYPE_U64, 8)), wide);
    kir_break(b);
    kir_if_end(b, mine);
    kir_loop_end(b, loop);
    kir_if_end(b, inside);
    device_kernel_end(&k, b);
    check_module(c, &k);
    uint64_t words[KINDS + 1], want[KINDS], owners[COUNT];
    memset(owners, 0xff, sizeof owners);
    words[KINDS] = 0;
    for (int i = 0; i < KINDS; i++)
        words[i] = want[i] = i == KIR_ATOMIC_AND ? UINT64_MAX : 0x5555555555555555;
    uint64_t mask = type == HG_TYPE_U32 ? UINT32_MAX : UINT64_MAX, sign = mask / 2 + 1;
    for (uint64_t i = 0; i < COUNT; i++) {
        uint64_t y = i * 0x9e3779b97f4a7c15 & mask;
        for (int j = 0; j < KINDS; j++) {
            uint64_t old = want[j] & mask, now = old;
            if (j == KIR_ATOMIC_ADD) now = old + y;
            if (j == KIR_ATOMIC_UMIN) now = y < old ? y : old;
            if (j == KIR_ATOMIC_UMAX) now = y > old ? y : old;
            if (j == KIR_ATOMIC_SMIN) now = (y ^ sign) < (old ^ sign) ? y : old;
            if (j == KIR_ATOMIC_SMAX) now = (y ^ sign) > (old ^ sign) ? y : old;
            if (j == KIR_ATOMIC_AND) now = old & y;
            if (j == KIR_ATOMIC_OR) now = old | y;
            if (j == KIR_ATOMIC_XOR) now = old ^ y;
            want[j] = (want[j] & ~mask) | (now & mask);
        }
    }
    device_memory slots[2] = {{words, sizeof words}, {owners, sizeof owners}};
    if (c->device && (type == HG_TYPE_U32 || c->device->caps->compiler.target.atomic64) &&
        device_run(c->device, &k, 8, 128, 0, NULL, slots)) {
        for (int i = 0; i < KINDS; i++) CHECK_U64(words[i], want[i]);
        CHECK_U64(words[KINDS], COUNT);
        bool had[COUNT] = {false};
        uint32_t wrong = 0;
        for (uint32_t i = 0; i < COUNT; i++) {
            wrong += owners[i] >= COUNT || had[owners[i]];
            if (owners[i] < COUNT) had[owners[i]] = true;
        }
        CHECK_U64(wrong, 0);
    }
    device_kernel_free(&k);
}

/* A function with memory, a shared variable, a private array by reference, a table, a loop, and
 * fields of the record; `more` unused fields make the record too large for the parameters. */
static void test_functions(const checks *c, const char *name, uint32_t more) {
    enum { COUNT = 300 };
    static const uint32_t TABLE[5] = {3, 1, 4, 1, 5};
    device_kernel k;
    kir_builder kernel, inner, *b = &kernel;
    device_kernel_begin_as(&k, b, name, 2, c->addressed);
    kir_value *first = build_field(&k, b, KIR_FIELD_FIRST, 0, HG_TYPE_U64),
              *count = build_field(&k, b, KIR_FIELD_COUNT, 0, HG_TYPE_U32);
    for (uint32_t i = 0; i < more; i++)
        (void)build_field(&k, b, KIR_FIELD_INPUT, 100 + i, HG_TYPE_U64);
    kir_table *table = kir_table_create(k.module, HG_TYPE_U32, 5, TABLE, NULL);
    kir_var *shared = kir_var_create(k.module, NULL, HG_TYPE_U32, 0, "total"),
            *own = kir_var_create(k.module, NULL, HG_TYPE_U32, 0, NULL);
    kir_function *f = kir_function_create(k.module, "sum", HG_TYPE_U32);
    kir_var *array = kir_array_param(f, HG_TYPE_U32, 5, NULL);
    f->param_count = 1;
    f->param_types[0] = HG_TYPE_U64;
    kir_builder_init(&inner, k.module, f);
    kir_value *loaded = build_load(&inner, 0, kir_param(&inner, 0), HG_TYPE_U32);
    kir_set(&inner, shared,
            kir_add(&inner, kir_get(&inner, shared),
                    kir_convert(&inner, KIR_TRUNC, HG_TYPE_U32, build_field_again(&inner, first))));
    kir_array_set(&inner, array, kir_const(&inner, HG_TYPE_U32, 2),
                  kir_const(&inner, HG_TYPE_U32, 1000));
    kir_emit(&inner, KIR_FENCE, KIR_VOID, 0, NULL)->u.imm = HG_SCOPE_DEVICE;
    kir_emit(&inner, KIR_FENCE, KIR_VOID, 0, NULL)->u.imm = HG_SCOPE_SYSTEM;
    kir_return(&inner, kir_add(&inner, loaded,
                               kir_array_get(&inner, array, kir_const(&inner, HG_TYPE_U32, 1))));

    kir_value *lane = build_id(b, KIR_ID_THREAD), *zero = kir_const(b, HG_TYPE_U32, 0);
    kir_value *outside = kir_if_begin(b, kir_not(b, kir_binary(b, KIR_CMP_ULT, lane, count)));
    kir_exit(b);
    kir_if_end(b, outside);
    kir_var *local = kir_var_create(k.module, k.module->functions, HG_TYPE_U32, 5, NULL);
    kir_var *i = kir_var_create(k.module, k.module->functions, HG_TYPE_U32, 0, "i");
    kir_set(b, i, zero);
    kir_value *loop = kir_loop_begin(b, true), *at = kir_get(b, i);
    kir_value *end = kir_if_begin(b, kir_binary(b, KIR_CMP_EQ, at, kir_const(b, HG_TYPE_U32, 5)));
    kir_break(b);
    kir_if_end(b, end);
    kir_array_set(b, local, at, kir_mul(b, kir_table_get(b, table, at), lane));
    kir_set(b, i, kir_add(b, at, kir_const(b, HG_TYPE_U32, 1)));
    kir_loop_end(b, loop);
    kir_set(b, own, zero);
    kir_value *offset = kir_convert(b, KIR_ZEXT, HG_TYPE_U64,
                                    kir_mul(b, lane, kir_const(b, HG_TYPE_U32, 4)));
    kir_value *called = kir_call(b, f, 1, (kir_value *[]){offset}, (kir_var *[]){local});
    kir_set(b, own, kir_add(b, called, kir_array_get(b, local, kir_const(b, HG_TYPE_U32, 2))));
    build_store(b, 1, offset, kir_add(b, kir_get(b, own), kir_get(b, shared)));
    CHECK(!inner.failed);
    device_kernel_end(&k, b);
    CHECK_U64(emit_device_c_record(c->dialect, k.module, &k.layout),
              more && more == c->large_record ? EMIT_RECORD_BUFFER : EMIT_RECORD_VALUE);
    check_module(c, &k);
    uint32_t in[COUNT], out[COUNT];
    for (uint32_t n = 0; n < COUNT; n++) in[n] = n * 77;
    memset(out, 0xee, sizeof out);
    uint64_t values[1024] = {900, COUNT - 10};
    device_memory slots[2] = {{in, sizeof in}, {out, sizeof out}};
    if (c->device && device_run(c->device, &k, 4, 96, 0, values, slots)) {
        uint32_t wrong = 0;
        for (uint32_t n = 0; n < COUNT; n++)
            wrong += out[n] != (n < COUNT - 10 ? n * 77 + n + 1000 + 900 : 0xeeeeeeeeu);
        CHECK_U64(wrong, 0);
    }
    device_kernel_free(&k);
}

void device_checks(const device_checks_options *c) {
    test_operations(c, HG_TYPE_U8, "operations_u8");
    test_operations(c, HG_TYPE_U16, "operations_u16");
    test_operations(c, HG_TYPE_U32, "operations_u32");
    test_operations(c, HG_TYPE_U64, "operations_u64");
    test_operations(c, HG_TYPE_F32, "operations_f32");
    if (c->f64) test_operations(c, HG_TYPE_F64, "operations_f64");
    test_groups(c);
    test_atomics(c, HG_TYPE_U32);
    if (c->atomic64) test_atomics(c, HG_TYPE_U64);
    test_functions(c, "functions", 3);
    if (c->large_record) test_functions(c, "functions_large", c->large_record);
}
