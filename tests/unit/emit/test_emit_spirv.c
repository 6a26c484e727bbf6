/* test: labels=slow timeout=900
 * The SPIR-V emitter: every primitive of every type, random structured programs, every kind of
 * memory, by address and by binding, with and without 64-bit integers. Modules pass spirv-val, go
 * through their text and spirv-as unchanged, and run on the Vulkan drivers found here, each in a
 * process of its own, with the bits that the evaluator of kernel IR gives. What a driver computes
 * exactly is asked of the runtime's probe, since the same driver differs from CPU to CPU: the rest
 * is lowered first, and then has the right bits too. test_emit_spirv [--quick | --all]    Each way
 * to see memory on a device is tried with a part of the numbers.
 *                                          --quick, and always under sanitizers: the first way
 * alone, with all of them. --all: every way with all of them. */
#include "kir/pipeline/pipeline.h"
#include "runtime/backend.h"
#include "support/kir_eval.h"
#include "support/runtime_support.h"
#include "support/sanitized.h"
#include "support/spirv_kit.h"
#include "support/vulkan_drivers.h"
#include "support/vulkan_run.h"
#include "kir/builder.h"
#include <sys/wait.h>

static vulkan *device; /* NULL: only words and text are tested */
static const char *driver;
static kir_caps found; /* what the probe found on the device */
static bool quick, all;

/* ---- running ---- */

typedef struct memory {
    uint64_t size[MAX_SLOTS];
    uint8_t *data[MAX_SLOTS];
} memory;

/* Slots that are bound begin somewhere in their arena. */
static uint64_t field_base(const kit *k, uint32_t slot) {
    return k->how->addressed ? 0 : 256 * (slot + 1);
}

static void fill_record(const kit *k, const vulkan_buffer *buffers, uint8_t *record) {
    for (uint64_t i = 0; i < k->layout.fields.count; i++) {
        const kir_field *field = &k->layout.fields.data[i];
        uint64_t value = field_base(k, field->index) +
                         (k->how->addressed ? buffers[field->index].address : 0);
        if (field->high) value >>= 32;
        memcpy(record + k->m->inputs.data[i].index, &value, k->how->i64 ? 8 : 4);
    }
}

/* Emits, checks, and runs over the memory when there is a device that can. false: it did not run.
 */
static bool finish(kit *k, memory *mem) {
    emit_spirv_options o;
    emit_words words = {0};
    set_options(k, &o);
    CHECK_MESSAGE(!k->b.failed && kir_verify(k->m) == HG_OK, "%s", hg_last_error_text());
    hg_status status = emit_spirv(k->m, &k->layout, &o, &words);
    CHECK_MESSAGE(status == HG_OK, "%s (%s): %s", k->m->name, k->how->name, hg_last_error_text());
    if (status == HG_OK && !device) check_words(k, &words);
    bool can = device && status == HG_OK &&
               (!k->how->i64 || device->features.features.shaderInt64) &&
               (!k->how->addressed || device->features12.bufferDeviceAddress);
    if (can && mem) {
        vulkan_buffer buffers[MAX_SLOTS + 1];
        uint32_t slots = (uint32_t)k->m->slots.count;
        uint8_t record[128] = {0}, push[8];
        for (uint32_t i = 0; i < slots; i++) {
            CHECK(vulkan_buffer_create(device, mem->size[i] + field_base(k, i), &buffers[i]));
            memcpy((uint8_t *)buffers[i].data + field_base(k, i), mem->data[i], mem->size[i]);
        }
        CHECK(vulkan_buffer_create(device, sizeof record, &buffers[slots]));
        fill_record(k, buffers, record);
        memcpy(buffers[slots].data, record, sizeof record);
        memcpy(push, &buffers[slots].address, 8);
        uint32_t push_bytes = k->how->pushed ? k->layout.record_bytes : k->how->addressed ? 8 : 0;
        static const uint32_t COUNTS[3] = {2, GROUPS / 2, 1};
        can = vulkan_run(device, words.data, words.count, buffers, slots + 1,
                         k->how->pushed ? record : push, push_bytes, COUNTS);
        CHECK_MESSAGE(can, "%s (%s) does not run on %s", k->m->name, k->how->name, driver);
        for (uint32_t i = 0; i < slots; i++) {
            memcpy(mem->data[i], (uint8_t *)buffers[i].data + field_base(k, i), mem->size[i]);
            vulkan_buffer_destroy(device, &buffers[i]);
        }
        vulkan_buffer_destroy(device, &buffers[slots]);
    }
    hg_vec_free(&words);
    return can && mem;
}

static uint64_t get(const uint8_t *from, uint64_t bytes) {
    uint64_t x = 0;
    memcpy(&x, from, bytes);
    return x;
}

/* ---- primitives ---- */

/* A function of three numbers of one type, for each operation; the results are compared with the
 * evaluator's. */
typedef struct list {
    kir_function *f[MAX_FUNCTIONS];
    uint32_t count;
} list;

static void new_function(kit *k, list *fs, uint8_t type, const char *name, kir_builder *b,
                         kir_value *args[3]) {
    kir_function *f = kir_function_create(k->m, name, KIR_VOID);
    f->pure = true;
    f->param_count = 3;
    for (int i = 0; i < 3; i++) f->param_types[i] = type;
    kir_builder_init(b, k->m, f);
    for (uint8_t i = 0; i < 3; i++) args[i] = kir_param(b, i);
    CHECK(fs->count < MAX_FUNCTIONS);
    fs->f[fs->count++] = f;
}

static void returns(kir_builder *b, kir_value *value) {
    if (value->type == KIR_BOOL) value = kir_convert(b, KIR_ZEXT, HG_TYPE_U32, value);
    b->function->result = value->type;
    kir_return(b, value);
}

static kir_value *amount(kir_builder *b, kir_value *v) {
    return v->type == HG_TYPE_U32
               ? v
               : kir_convert(b, v->type == HG_TYPE_U64 ? KIR_TRUNC : KIR_ZEXT, HG_TYPE_U32, v);
}

static const uint8_t NUMBERS[] = {HG_TYPE_U8,  HG_TYPE_U16, HG_TYPE_U32,
                                  HG_TYPE_U64, HG_TYPE_F32, HG_TYPE_F64};

static bool has_type(const kit *k, uint8_t type) {
    return k->how->i64 || type == HG_TYPE_U32 || type == HG_TYPE_F32;
}

static void add_integers(kit *k, list *fs, uint8_t type) {
    kir_builder b;
    kir_value *x[3];
    uint64_t top = UINT64_MAX >> (64 - kir_type_bits(type));
    for (int op = 0; op < KIR_OP_COUNT; op++) {
        const kir_op_info *row = kir_op_get((kir_op)op);
        if (row->class != KIR_CLASS_INT) continue;
        new_function(k, fs, type, row->text, &b, x);
        returns(&b, row->args == 1
                        ? kir_unary(&b, (kir_op)op, x[0])
                        : kir_binary(&b, (kir_op)op, x[0],
                                     row->flags & KIR_F_SHIFTS ? amount(&b, x[1]) : x[1]));
        for (int i = 0; i < 3 && row->flags & KIR_F_DIVIDES; i++) {
            new_function(k, fs, type, "divide_by_constant", &b, x);
            returns(&b, kir_binary(&b, (kir_op)op, x[0],
                                   kir_const(&b, type,
                                             i == 0   ? 0
                                             : i == 1 ? 7
                                                      : top)));
        }
        if (row->flags & KIR_F_SHIFTS) {
            new_function(k, fs, type, "shift_by_constant", &b, x);
            returns(&b, kir_binary(&b, (kir_op)op, x[0], kir_const(&b, HG_TYPE_U32, 67)));
        }
    }
    for (size_t i = 0; i < sizeof NUMBERS; i++) {
        uint8_t to = NUMBERS[i];
        if (!has_type(k, to)) continue;
        if (kir_type_is_float(to)) {
            static const kir_op FROM[] = {KIR_U2F, KIR_S2F};
            for (int f = 0; f < 2; f++) {
                new_function(k, fs, type, kir_op_name(FROM[f]), &b, x);
                returns(&b, kir_convert(&b, FROM[f], to, x[0]));
            }
            if (kir_type_bits(to) != kir_type_bits(type)) continue;
            new_function(k, fs, type, "bitcast", &b, x);
            returns(&b, kir_convert(&b, KIR_BITCAST, to, x[0]));
        } else if (kir_type_bits(to) < kir_type_bits(type)) {
            new_function(k, fs, type, "trunc", &b, x);
            returns(&b, kir_convert(&b, KIR_TRUNC, to, x[0]));
        } else if (to != type) {
            new_function(k, fs, type, "zext", &b, x);
            returns(&b, kir_convert(&b, KIR_ZEXT, to, x[0]));
            new_function(k, fs, type, "sext", &b, x);
            returns(&b, kir_convert(&b, KIR_SEXT, to, x[0]));
        }
    }
    new_function(k, fs, type, "select", &b, x);
    returns(&b, kir_select(&b, kir_binary(&b, KIR_CMP_ULT, x[0], x[1]), x[2], x[0]));
    static const kir_op LOGIC[] = {KIR_AND, KIR_OR, KIR_XOR, KIR_CMP_EQ};
    for (int i = 0; i < 4; i++) {
        new_function(k, fs, type, "logic", &b, x);
        kir_value *p = kir_binary(&b, KIR_CMP_ULT, x[0], x[1]),
                  *q = kir_binary(&b, KIR_CMP_SLT, x[1], x[2]);
        returns(&b, kir_binary(&b, LOGIC[i], p, q));
    }
    new_function(k, fs, type, "not", &b, x);
    kir_value *p = kir_not(&b, kir_binary(&b, KIR_CMP_EQ, x[0], x[1]));
    returns(&b, kir_select(&b, p, kir_convert(&b, KIR_SEXT, type, p),
                           kir_convert(&b, KIR_ZEXT, type, kir_not(&b, p))));
}

static void add_floats(kit *k, list *fs, uint8_t type) {
    kir_builder b;
    kir_value *x[3];
    for (int op = 0; op < KIR_OP_COUNT; op++) {
        const kir_op_info *row = kir_op_get((kir_op)op);
        if (row->class != KIR_CLASS_FLOAT || op == KIR_FMAD)
            continue; /* SPIR-V never has that one */
        new_function(k, fs, type, row->text, &b, x);
        for (int i = 0; i < 2 && op == KIR_FMULERR; i++) x[i] = ev_build_near_one(&b, x[i]);
        kir_value *v = op == KIR_FFMA   ? kir_ffma(&b, x[0], x[1], x[2])
                       : row->args == 2 ? kir_binary(&b, (kir_op)op, x[0], x[1])
                                        : kir_unary(&b, (kir_op)op, x[0]);
        returns(&b, v);
    }
    new_function(k, fs, type, "not_contracted", &b, x);
    returns(&b, kir_binary(&b, KIR_FADD, kir_binary(&b, KIR_FMUL, x[0], x[1]), x[2]));
    for (size_t i = 0; i < sizeof NUMBERS; i++) {
        uint8_t to = NUMBERS[i];
        if (!has_type(k, to)) continue;
        if (kir_type_is_float(to)) {
            new_function(k, fs, type, "f2f", &b, x);
            returns(&b, kir_convert(&b, KIR_F2F, to, x[0]));
            continue;
        }
        static const kir_op TO[] = {KIR_F2U, KIR_F2S};
        for (int f = 0; f < 2; f++) {
            new_function(k, fs, type, kir_op_name(TO[f]), &b, x);
            returns(&b, kir_convert(&b, TO[f], to, x[0]));
        }
        if (kir_type_bits(to) != kir_type_bits(type)) continue;
        new_function(k, fs, type, "bitcast", &b, x);
        returns(&b, kir_convert(&b, KIR_BITCAST, to, x[0]));
    }
}

static uint64_t integer_sample(uint32_t bits) {
    uint64_t top = UINT64_MAX >> (64 - bits), x = next_random();
    switch (below(8)) {
    case 0: return 0;
    case 1: return 1;
    case 2: return top;
    case 3: return top - top / 2; /* the least signed one */
    case 4: return top / 2;
    case 5: return x & top & 15;
    case 6: return x >> below(bits) & top;
    default: return x & top;
    }
}

static uint64_t float_sample(uint8_t type) {
    static const double EDGES[] = {0.0,
                                   -0.0,
                                   INFINITY,
                                   -INFINITY,
                                   NAN,
                                   0.5,
                                   1.5,
                                   2.5,
                                   -0.5,
                                   -2.5,
                                   0.99999994,
                                   127.5,
                                   128,
                                   -128.5,
                                   255.5,
                                   256,
                                   32767.5,
                                   -32769,
                                   65535.5,
                                   65536,
                                   2147483520,
                                   2147483648,
                                   -2147483648.0,
                                   4294967040,
                                   4294967296,
                                   9223372036854775808.0,
                                   -9223372036854775808.0,
                                   18446744073709551616.0,
                                   1e30,
                                   -1e30,
                                   1e-40,
                                   -1e-45};
    uint64_t bits = next_random();
    double d = below(2) ? EDGES[below(sizeof EDGES / sizeof *EDGES)]
                        : (double)(int64_t)next_random() * ldexp(1, -(int)below(70));
    if (!below(4)) return type == HG_TYPE_F32 ? bits >> 32 : bits;
    float f = (float)d;
    if (type == HG_TYPE_F32)
        memcpy(&bits, &f, 4);
    else
        memcpy(&bits, &d, 8);
    return type == HG_TYPE_F32 ? (uint32_t)bits : bits;
}

static bool is_nan(uint8_t type, uint64_t bits) {
    return type == HG_TYPE_F32 ? (bits & 0x7fffffff) > 0x7f800000
                               : (bits & UINT64_MAX >> 1) > UINT64_C(0x7ff0000000000000);
}

/* Equal bits; any NaN for a NaN; on a device that flushes subnormals also what comes of flushed
 * arguments or results. */
static bool agrees(eval *e, const list *fs, uint32_t i, const eval_value *args, uint64_t got) {
    uint8_t type = fs->f[i]->result;
    for (int flush = 0; flush <= !found.subnormals; flush++) {
        e->flush = flush;
        eval_value expected = eval_function(e, fs->f[i], args, NULL);
        uint64_t bits = ev_u64(&expected);
        if (got == bits || (kir_type_is_float(type) && is_nan(type, bits) && is_nan(type, got)))
            return true;
    }
    return false;
}

/* The module as the device is to run it: operations that it does not do exactly are lowered, all
 * others are its own. Flushing stays: a device that does it is known to, and `agrees` allows it. */
static kir_module *lowered(const kit *k) {
    kir_module *low = NULL;
    kir_caps caps = found;
    caps.i8 = caps.i16 = caps.i64 = k->how->i64;
    caps.f64 = k->how->i64 && found.f64;
    caps.subnormals = caps.half = true;
    hg_status status = kir_legalise(k->m, &caps, &low);
    CHECK_MESSAGE(status == HG_OK, "%s (%s): %s", k->m->name, k->how->name, hg_last_error_text());
    return low;
}

/* Accesses of these modules are in device form, which the lowering of 64-bit integers comes before:
 * where a way has none, nothing is lowered, and functions that the device computes otherwise are
 * left out. */
static bool is_left_out(const way *how, const kir_function *f) {
    for (const kir_value *v = device && !how->i64 ? kir_walk(NULL, f->body) : NULL; v;
         v = kir_walk(v, f->body))
        if (found.inexact[v->op][0] ||
            ((v->op == KIR_FFMA || v->op == KIR_FMULERR) && !found.fma32))
            return true;
    return false;
}

static void test_primitives(const way *how, uint8_t type) {
    kit made, *k = &made;
    list fs = {.count = 0};
    uint32_t bytes = (uint32_t)kir_type_bytes(type);
    begin(k, how, kir_type_name(type), 2);
    if (!has_type(k, type)) {
        end(k);
        return;
    }
    if (kir_type_is_float(type))
        add_floats(k, &fs, type);
    else
        add_integers(k, &fs, type);
    kir_value *args[3];
    for (uint32_t i = 0; i < 3; i++)
        args[i] = load(k, type, 0, offset(k, k->thread, 3 * CELL, i * CELL));
    for (uint32_t i = 0; i < fs.count; i++)
        store(k, 1, offset(k, k->thread, CELL, i * LANES * CELL),
              kir_call(&k->b, fs.f[i], 3, args, NULL));
    memory mem = {.size = {3 * LANES * CELL, (uint64_t)fs.count * LANES * CELL}};
    for (int i = 0; i < 2; i++) mem.data[i] = calloc(1, mem.size[i]);
    for (uint32_t i = 0; i < 3 * LANES; i++) {
        uint64_t bits = kir_type_is_float(type) ? float_sample(type) : integer_sample(8 * bytes);
        memcpy(mem.data[0] + i * CELL, &bits, bytes);
    }
    kir_module *written = k->m, *low = device && how->i64 ? lowered(k) : NULL;
    if (low) k->m = low;
    bool ran = finish(k, &mem);
    k->m = written;
    if (ran) {
        eval e;
        eval_begin(&e, k->m);
        for (uint32_t i = 0; i < fs.count; i++)
            for (uint32_t lane = 0; lane < LANES && !is_left_out(how, fs.f[i]); lane++) {
                eval_value x[3];
                for (uint32_t n = 0; n < 3; n++)
                    x[n] = ev_from(get(mem.data[0] + (lane * 3 + n) * CELL, bytes));
                uint64_t got = get(mem.data[1] + (i * LANES + lane) * CELL,
                                   kir_type_bytes(fs.f[i]->result));
                CHECK_MESSAGE(agrees(&e, &fs, i, x, got),
                              "%s.%s (%s, %s) of %" PRIx64 " %" PRIx64 " %" PRIx64
                              " gives %" PRIx64,
                              fs.f[i]->name, kir_type_name(type), how->name, driver, ev_u64(&x[0]),
                              ev_u64(&x[1]), ev_u64(&x[2]), got);
            }
        eval_end(&e);
    }
    kir_module_destroy(low);
    for (int i = 0; i < 2; i++) free(mem.data[i]);
    end(k);
}

/* ---- control flow: random structured functions ---- */

typedef struct growth {
    kit *k;
    kir_builder *b;
    kir_var *vars[4], *array, *shared; /* shared: of the module */
    kir_function *callee;              /* NULL: none */
    int budget;
} growth;

static kir_value *random_value(growth *g) {
    kir_builder *b = g->b;
    switch (below(7)) {
    case 0: return kir_const(b, HG_TYPE_U32, below(20));
    case 1: return kir_param(b, (uint8_t)below(2));
    case 2: return kir_get(b, g->shared);
    case 3: {
        kir_value *index = kir_binary(b, KIR_AND, kir_get(b, g->vars[below(4)]),
                                      kir_const(b, HG_TYPE_U32, 7));
        return kir_array_get(b, g->array, index);
    }
    default: return kir_get(b, g->vars[below(4)]);
    }
}

static kir_value *random_expression(growth *g) {
    static const kir_op OPS[] = {KIR_ADD, KIR_SUB, KIR_MUL, KIR_XOR, KIR_UREM, KIR_AND, KIR_OR};
    kir_value *a = random_value(g), *c = random_value(g);
    return kir_binary(g->b, OPS[below(sizeof OPS / sizeof *OPS)], a, c);
}

static kir_value *random_condition(growth *g) {
    kir_value *a = kir_binary(g->b, KIR_AND, random_expression(g), kir_const(g->b, HG_TYPE_U32, 3));
    return kir_binary(g->b, below(2) ? KIR_CMP_EQ : KIR_CMP_ULT, a,
                      kir_const(g->b, HG_TYPE_U32, 1 + below(2)));
}

static void grow_region(growth *g, int depth, bool in_loop);

static void grow_loop(growth *g, int depth) {
    kir_builder *b = g->b;
    kir_var *count = kir_var_create(g->k->m, b->function, HG_TYPE_U32, 0, "count");
    kir_set(b, count, kir_const(b, HG_TYPE_U32, 0));
    kir_value *loop = kir_loop_begin(b, true);
    kir_value *now = kir_get(b, count),
              *last = kir_binary(b, KIR_CMP_EQ, now, kir_const(b, HG_TYPE_U32, 1 + below(4)));
    kir_value *branch = kir_if_begin(b, last);
    if (below(5))
        kir_break(b); /* else nothing leaves the loop but a return */
    else
        kir_return(b, kir_get(b, g->vars[0]));
    kir_if_end(b, branch);
    kir_set(b, count, kir_binary(b, KIR_ADD, now, kir_const(b, HG_TYPE_U32, 1)));
    grow_region(g, depth - 1, true);
    kir_loop_end(b, loop);
}

static void grow_statement(growth *g, int depth, bool in_loop) {
    kir_builder *b = g->b;
    uint32_t what = below(depth > 0 ? 10 : 5);
    g->budget--;
    if (what < 3) {
        kir_set(b, g->vars[below(4)], random_expression(g));
    } else if (what == 3) {
        kir_value *index = kir_binary(b, KIR_AND, random_value(g), kir_const(b, HG_TYPE_U32, 7));
        kir_array_set(b, g->array, index, random_expression(g));
    } else if (what == 4 && g->callee) {
        kir_value *args[] = {random_value(g), random_value(g)};
        kir_set(b, g->vars[below(4)], kir_call(b, g->callee, 2, args, &g->array));
    } else if (what == 4) {
        kir_set(b, g->shared, random_expression(g));
    } else if (what < 8) {
        kir_value *branch = kir_if_begin(b, random_condition(g));
        if (below(5)) grow_region(g, depth - 1, in_loop);
        if (below(2)) {
            kir_if_else(b, branch);
            grow_region(g, depth - 1, in_loop);
        }
        kir_if_end(b, branch);
    } else {
        grow_loop(g, depth);
    }
}

static void grow_region(growth *g, int depth, bool in_loop) {
    for (uint32_t n = 1 + below(3); n-- && g->budget > 0;) grow_statement(g, depth, in_loop);
    uint32_t end_with = below(8);
    if (in_loop && end_with == 0)
        kir_break(g->b);
    else if (in_loop && end_with == 1)
        kir_continue(g->b);
    else if (end_with == 2)
        kir_return(g->b, random_value(g));
}

/* u32 f(u32, u32, array). root: the array is its own. */
static kir_function *grow_function(kit *k, kir_var *shared, kir_function *callee, bool root) {
    kir_function *f = kir_function_create(k->m, root ? "root" : "helper", HG_TYPE_U32);
    kir_builder b;
    f->param_count = 2;
    f->param_types[0] = f->param_types[1] = HG_TYPE_U32;
    kir_builder_init(&b, k->m, f);
    growth g = {.k = k, .b = &b, .shared = shared, .callee = callee, .budget = 24};
    g.array = root ? kir_var_create(k->m, f, HG_TYPE_U32, 8, "own")
                   : kir_array_param(f, HG_TYPE_U32, 8, "given");
    for (uint8_t i = 0; i < 4; i++) {
        g.vars[i] = kir_var_create(k->m, f, HG_TYPE_U32, 0, "x");
        kir_set(&b, g.vars[i], i < 2 ? kir_param(&b, i) : kir_const(&b, HG_TYPE_U32, i));
    }
    grow_region(&g, 4, false);
    if (!f->body->last || f->body->last->op != KIR_RETURN) kir_return(&b, random_expression(&g));
    return f;
}

static void test_control_flow(const way *how, uint64_t seed) {
    kit made, *k = &made;
    random_state = seed * 0x9e3779b97f4a7c15u + 1;
    begin(k, how, "control", 2);
    kir_var *shared = kir_var_create(k->m, NULL, HG_TYPE_U32, 0, "shared");
    kir_function *helper = grow_function(k, shared, NULL, false),
                 *middle = grow_function(k, shared, helper, false);
    kir_function *root = grow_function(k, shared, middle, true);
    kir_value *args[] = {load(k, HG_TYPE_U32, 0, offset(k, k->thread, 8, 0)),
                         load(k, HG_TYPE_U32, 0, offset(k, k->thread, 8, 4))};
    kir_value *stop = kir_if_begin(
        &k->b, op2(k, KIR_CMP_EQ, k->thread, kir_const(&k->b, HG_TYPE_U32, 17)));
    kir_exit(&k->b);
    kir_if_end(&k->b, stop);
    store(k, 1, offset(k, k->thread, 4, 0), kir_call(&k->b, root, 2, args, NULL));
    memory mem = {.size = {8 * LANES, 4 * LANES}};
    for (int i = 0; i < 2; i++) mem.data[i] = calloc(1, mem.size[i]);
    for (uint32_t i = 0; i < 2 * LANES; i++)
        memcpy(mem.data[0] + 4 * i, &(uint32_t){below(100)}, 4);
    if (finish(k, &mem))
        for (uint32_t lane = 0; lane < LANES; lane++) {
            eval e;
            eval_begin(&e, k->m);
            eval_value x[2] = {ev_from(get(mem.data[0] + 8 * lane, 4)),
                               ev_from(get(mem.data[0] + 8 * lane + 4, 4))};
            uint64_t expected = lane == 17
                                    ? 0
                                    : ev_u64(&(eval_value[]){eval_function(&e, root, x, NULL)}[0]),
                     got = get(mem.data[1] + 4 * lane, 4);
            eval_end(&e);
            CHECK_MESSAGE(got == expected, "program %u (%s, %s), lane %u: expected %u, got %u",
                          (unsigned)seed, how->name, driver, (unsigned)lane, (unsigned)expected,
                          (unsigned)got);
        }
    for (int i = 0; i < 2; i++) free(mem.data[i]);
    end(k);
}

/* ---- memory ---- */

static kir_value *group_access(kit *k, kir_op op, uint8_t type, kir_value *at, kir_value *value) {
    kir_value *v = access_memory(k, op, type, KIR_OPEN, at, value ? 1 : 0, &value);
    v->u.mem.space = KIR_SHARED;
    return v;
}

/* Lane i writes 3 · i + 1 to group memory and reads its neighbour's after a barrier; a 64-bit
 * number takes two words there. */
static void test_group_memory(const way *how) {
    kit made, *k = &made;
    uint8_t type = how->i64 ? HG_TYPE_U64 : HG_TYPE_U32;
    uint32_t bytes = how->i64 ? 8 : 4;
    begin(k, how, "group", 1);
    k->group_memory = GROUP * bytes;
    kir_value *local = kir_emit(&k->b, KIR_ID, HG_TYPE_U32, 0, NULL);
    local->u.imm = KIR_ID_LOCAL_X;
    kir_value *wide = kir_convert(&k->b, KIR_ZEXT, type, k->thread);
    wide = op2(k, KIR_ADD, op2(k, KIR_MUL, wide, kir_const(&k->b, type, UINT64_C(0x300000003))),
               kir_const(&k->b, type, 1));
    kir_value *here = op2(k, KIR_MUL, local, kir_const(&k->b, HG_TYPE_U32, bytes));
    group_access(k, KIR_STORE, type, here, wide);
    kir_emit(&k->b, KIR_BARRIER, KIR_VOID, 0, NULL);
    kir_value *there = op2(k, KIR_XOR, here, kir_const(&k->b, HG_TYPE_U32, 5 * bytes));
    store(k, 0, offset(k, k->thread, bytes, 0), group_access(k, KIR_LOAD, type, there, NULL));
    kir_value *one = kir_const(&k->b, HG_TYPE_U32, 1), *at = kir_const(&k->b, HG_TYPE_U32, 0);
    group_access(k, KIR_ATOMIC, HG_TYPE_U32, at, one)->u.mem.atomic = KIR_ATOMIC_OR;
    memory mem = {.size = {(uint64_t)LANES * bytes}};
    mem.data[0] = calloc(1, mem.size[0]);
    if (finish(k, &mem))
        for (uint32_t lane = 0; lane < LANES; lane++) {
            uint64_t from = lane ^ 5, expected = from * UINT64_C(0x300000003) + 1;
            CHECK_U64(get(mem.data[0] + (uint64_t)lane * bytes, bytes),
                      bytes == 8 ? expected : (uint32_t)expected);
        }
    free(mem.data[0]);
    end(k);
}

static kir_value *atomic(kit *k, kir_atomic what, int16_t slot, kir_value *at, kir_value *a,
                         kir_value *c) {
    kir_value *operands[] = {a, c},
              *v = access_memory(k, KIR_ATOMIC, a->type, slot, at, c ? 2 : 1, operands);
    v->u.mem.atomic = (uint8_t)what;
    return v;
}

/* Every atomic operation of one width, all lanes on the same places: the results do not depend on
 * their order. */
static void test_atomics(const way *how, uint8_t type) {
    if (type == HG_TYPE_U64 &&
        (!how->i64 || how->words || (device && !device->features12.shaderBufferInt64Atomics)))
        return;
    kit made, *k = &made;
    kir_builder *b = &k->b;
    uint32_t bytes = (uint32_t)kir_type_bytes(type);
    begin(k, how, "atomics", 1);
    kir_value *x = type == HG_TYPE_U64 ? kir_convert(b, KIR_ZEXT, type, k->thread) : k->thread,
              *zero = kir_const(b, HG_TYPE_U32, 0);
    kir_value *minus = op2(k, KIR_SUB, kir_const(b, type, 0), x),
              *bit = op2(k, KIR_SHL, kir_const(b, type, 1), k->thread);
    kir_value *operands[] = {x,
                             op2(k, KIR_ADD, x, kir_const(b, type, 5)),
                             minus,
                             x,
                             minus,
                             op2(k, KIR_XOR, bit, kir_const(b, type, UINT64_MAX)),
                             bit,
                             x,
                             kir_const(b, type, 9),
                             x};
    for (uint32_t what = KIR_ATOMIC_ADD; what <= KIR_ATOMIC_CAS; what++) {
        kir_value *desired = what == KIR_ATOMIC_CAS ? op2(k, KIR_ADD, x, kir_const(b, type, 1000))
                                                    : NULL;
        kir_value *expected = desired ? kir_const(b, type, 0) : operands[what];
        kir_value *old = atomic(k, (kir_atomic)what, 0, offset(k, zero, 0, what * bytes), expected,
                                desired);
        if (what == KIR_ATOMIC_EXCH) store(k, 0, offset(k, zero, 0, 10 * bytes), old);
    }
    memory mem = {.size = {16 * bytes}};
    mem.data[0] = calloc(1, mem.size[0]);
    uint64_t top = UINT64_MAX >> (64 - 8 * bytes), first[] = {7, 100, 0, 3, top, top, 0, 0, 9, 0};
    for (int i = 0; i < 10; i++) memcpy(mem.data[0] + (uint64_t)i * bytes, &first[i], bytes);
    if (finish(k, &mem)) {
        uint64_t n = LANES - 1, least = (0 - n) & top;
        uint64_t expected[] = {
            7 + LANES * n / 2, 5, least, n, 0, 0, bytes == 8 ? UINT64_MAX : UINT32_MAX, 0, 9};
        for (uint32_t i = 0; i < 9; i++)
            CHECK_U64(get(mem.data[0] + i * bytes, bytes), expected[i]);
        uint64_t winner = get(mem.data[0] + 9 * bytes, bytes);
        CHECK(winner >= 1000 && winner < 1000 + LANES);
        CHECK_U64(get(mem.data[0] + 10 * bytes, bytes), 9);
    }
    free(mem.data[0]);
    end(k);
}

/* Tables, private arrays, variables of all types, addresses made by the kernel, volatile accesses
 * and fences. */
static void test_places(const way *how) {
    static const uint32_t TABLE[] = {3, 1, 4, 1, 5, 9, 2, 6};
    kit made, *k = &made;
    kir_builder *b = &k->b;
    begin(k, how, "places", 2);
    kir_var *flag = kir_var_create(k->m, b->function, KIR_BOOL, 0, "p0"),
            *array = kir_var_create(k->m, NULL, HG_TYPE_F32, 8, "a");
    kir_table *table = kir_table_create(k->m, HG_TYPE_U32, 8, TABLE, "digits");
    kir_value *index = op2(k, KIR_AND, k->thread, kir_const(b, HG_TYPE_U32, 7));
    kir_value *digit = kir_table_get(b, table, index);
    kir_set(b, flag, op2(k, KIR_CMP_ULT, digit, kir_const(b, HG_TYPE_U32, 4)));
    kir_array_set(b, array, index, kir_convert(b, KIR_U2F, HG_TYPE_F32, digit));
    kir_value *zero = kir_const(b, HG_TYPE_U32, 0),
              *sum = op2(
                  k, KIR_FADD, kir_array_get(b, array, index),
                  kir_array_get(b, array, op2(k, KIR_XOR, index, kir_const(b, HG_TYPE_U32, 1))));
    kir_value *number = kir_select(b, kir_get(b, flag), sum, kir_f32(b, -1));
    kir_value *written = store(k, 0, offset(k, k->thread, 4, 0), number);
    written->u.mem.volatile_access = 1;
    kir_emit(b, KIR_FENCE, KIR_VOID, 0, NULL)->u.imm = HG_SCOPE_DEVICE;
    kir_value *again = load(k, HG_TYPE_F32, 0, offset(k, k->thread, 4, 0));
    again->u.mem.volatile_access = 1;
    if (how->addressed) { /* slot 1 by its address */
        kir_value *args[4] = {0},
                  *base = kir_emit(b, KIR_INPUT, how->i64 ? HG_TYPE_U64 : HG_TYPE_U32, 0, NULL);
        uint8_t n = 0;
        base->u.imm = how->i64 ? 1 : 2;
        args[n++] = base;
        if (!how->i64) {
            args[n] = kir_emit(b, KIR_INPUT, HG_TYPE_U32, 0, NULL);
            args[n++]->u.imm = 3;
        }
        args[n++] = offset(k, k->thread, 4, 0);
        args[n++] = again;
        kir_value *v = kir_emit(b, KIR_STORE, KIR_VOID, n, args);
        v->u.mem.space = KIR_BUFFER;
        v->u.mem.bytes = 4;
        v->u.mem.has_index = v->u.mem.unchecked = 1;
        v->u.mem.split = !how->i64;
        v->u.mem.slot = KIR_ADDRESS;
    } else {
        store(k, 1, offset(k, k->thread, 4, 0), again);
    }
    store(k, 1, offset(k, zero, 0, 4 * LANES), kir_const(b, HG_TYPE_U32, 12345));
    memory mem = {.size = {4 * LANES, 4 * LANES + 4}};
    for (int i = 0; i < 2; i++) mem.data[i] = calloc(1, mem.size[i]);
    if (finish(k, &mem)) {
        for (uint32_t lane = 0; lane < LANES; lane++) {
            float f = TABLE[lane & 7] < 4 ? (float)TABLE[lane & 7] : -1.0f;
            uint32_t expected;
            memcpy(&expected, &f, 4);
            CHECK_U64(get(mem.data[0] + 4 * lane, 4), expected);
            CHECK_U64(get(mem.data[1] + 4 * lane, 4), expected);
        }
        CHECK_U64(get(mem.data[1] + 4 * LANES, 4), 12345);
    }
    for (int i = 0; i < 2; i++) free(mem.data[i]);
    end(k);
}

/* Arrays too long for an initializer, of the module and of the kernel: zero at start, and each
 * element its own. */
static void test_long_arrays(const way *how) {
    enum { LENGTH = 6530, OWN = 300 };
    kit made, *k = &made;
    kir_builder *b = &k->b;
    begin(k, how, "long", 2);
    kir_var *array = kir_var_create(k->m, NULL, HG_TYPE_U32, LENGTH, "shared"),
            *own = kir_var_create(k->m, b->function, HG_TYPE_U32, OWN, "own");
    kir_value *thread = op2(k, KIR_UREM, k->thread, kir_const(b, HG_TYPE_U32, OWN)),
              *last = op2(k, KIR_SUB, kir_const(b, HG_TYPE_U32, LENGTH - 1), thread);
    kir_value *seen = op2(
        k, KIR_OR, op2(k, KIR_OR, kir_array_get(b, array, thread), kir_array_get(b, array, last)),
        kir_array_get(b, own, thread));
    kir_array_set(b, array, thread, op2(k, KIR_ADD, k->thread, kir_const(b, HG_TYPE_U32, 1)));
    kir_array_set(b, array, last, kir_const(b, HG_TYPE_U32, 1000));
    kir_array_set(b, own, thread, kir_const(b, HG_TYPE_U32, 100000));
    kir_value *sum = op2(
        k, KIR_ADD, kir_array_get(b, array, thread),
        op2(k, KIR_ADD, kir_array_get(b, array, last), kir_array_get(b, own, thread)));
    store(k, 0, offset(k, k->thread, 4, 0), seen);
    store(k, 1, offset(k, k->thread, 4, 0), sum);
    memory mem = {.size = {4 * LANES, 4 * LANES}};
    for (int i = 0; i < 2; i++)
        mem.data[i] = malloc(mem.size[i]), memset(mem.data[i], 0xAA, mem.size[i]);
    if (finish(k, &mem)) {
        for (uint32_t lane = 0; lane < LANES; lane++) {
            CHECK_U64(get(mem.data[0] + 4 * lane, 4), 0);
            CHECK_U64(get(mem.data[1] + 4 * lane, 4), lane + 101001);
        }
    }
    for (int i = 0; i < 2; i++) free(mem.data[i]);
    end(k);
}

/* ---- the processes ---- */

static void test_way(const way *how) {
    random_state = 0x9e3779b97f4a7c15u;
    size_t way_number = (size_t)(how - WAYS);
    for (size_t i = 0; i < sizeof NUMBERS; i++) {
        if (all || (way_number ? i % 6 == (2 * way_number + 1) % 6 : quick || i % 2 == 0))
            test_primitives(how, NUMBERS[i]);
    }
    test_group_memory(how);
    test_atomics(how, HG_TYPE_U32);
    test_atomics(how, HG_TYPE_U64);
    test_places(how);
    if (all || !device || way_number == WAY_COUNT - 1)
        test_long_arrays(how); /* lavapipe compiles them for seconds, in every way the same */
    for (uint64_t i = 0; i < 3; i++) test_control_flow(how, (uint64_t)(how - WAYS) * 3 + i);
}

static void test_all(void) {
    size_t count = quick ? 1 : WAY_COUNT;
    for (size_t i = 0; i < count; i++) test_way(&WAYS[i]);
}

/* Asks the probe, through the runtime's own way to the driver. */
static bool ask_probe(void) {
    hg_backend *b = NULL;
    hg_config config = hg_config_default();
    memcpy(config.backend, "vulkan", 7);
    if (hg_backend_create_with_config(&config, &b) != HG_OK) return false;
    found = b->caps->compiler.kir;
    hg_backend_destroy(b);
    return true;
}

/* A driver may crash, and an environment names it: a process for each. */
static void test_driver(const char *name, const char *file) {
    int ends[2];
    uint64_t counts[3] = {0};
    if (access(file, R_OK) || pipe(ends)) {
        fprintf(stderr, "%s: ", name);
        SKIP("no such Vulkan driver here");
        return;
    }
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        test_passed = test_failed = test_skipped = 0;
        setenv("VK_DRIVER_FILES", file, 1);
        setenv("VK_ICD_FILENAMES", file, 1);
        static vulkan vk;
        driver = name;
        device = &vk;
        if (ask_probe() && vulkan_open(&vk))
            test_all();
        else
            SKIP("the Vulkan driver does not open");
        vulkan_close(&vk);
        uint64_t sent[3] = {test_passed, test_failed, test_skipped};
        _exit(write(ends[1], sent, sizeof sent) == (ssize_t)sizeof sent ? 0 : 1);
    }
    close(ends[1]);
    bool whole = child > 0 && read(ends[0], counts, sizeof counts) == (ssize_t)sizeof counts;
    close(ends[0]);
    CHECK_MESSAGE(whole, "the process of driver %s died", name);
    if (child > 0) waitpid(child, NULL, 0);
    test_passed += counts[0];
    test_failed += counts[1];
    test_skipped += counts[2];
}

int main(int argc, char **argv) {
    all = argc > 1 && strcmp(argv[1], "--all") == 0;
    quick = SANITIZED || (argc > 1 && strcmp(argv[1], "--quick") == 0);
    open_folder();
    test_all();
    test_driver("lavapipe", "/usr/share/vulkan/icd.d/lvp_icd.x86_64.json");
    test_driver("swiftshader", swiftshader_file());
    close_folder();
    return test_done();
}
