/* Tile interpreter on hand-built kernels: every expectation is computed here in plain C, lane by
 * lane. */
#include "support/kir_eval.h"
#include "emit/emit.h"
#include "kir/fault_text.h"
#include "kir/kir.h"
#include "test.h"
#include "tile/handlers.h"
#include "tile/tile_internal.h"
#include "base/compat.h"
#include "base/thread_pool.h"
#include "kir/builder.h"
#include <hologram/diagnostics.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

typedef struct kernel {
    kir_module *m;
    kir_builder b;
} kernel;

static kernel begin(const char *name) {
    kernel k = {.m = kir_module_create(name)};
    kir_builder_init(&k.b, k.m, kir_function_create(k.m, name, KIR_VOID));
    return k;
}

/* Input i as the handle of slot i. */
static kir_value *buffer(kernel *k, const char *name) {
    kir_input *input = hg_vec_push(&k->m->inputs);
    input->type = HG_TYPE_U64;
    input->is_buffer = true;
    input->index = (uint32_t)(k->m->inputs.count - 1);
    input->name = name;
    kir_slot *slot = hg_vec_push(&k->m->slots);
    slot->space = KIR_BUFFER;
    slot->input = input->index;
    kir_value *v = kir_emit(&k->b, KIR_INPUT, HG_TYPE_U64, 0, NULL);
    v->u.imm = input->index;
    return v;
}

static kir_value *id(kernel *k, hg_idname which) {
    kir_value *v = kir_emit(&k->b, KIR_ID, (uint8_t)hg_idname_type(which), 0, NULL);
    v->u.imm = which;
    hg_scope same = hg_idname_scope(which);
    v->uniformity = same == HG_SCOPE_THREAD  ? KIR_VARYING
                    : same == HG_SCOPE_BLOCK ? KIR_BLOCK_UNIFORM
                                             : KIR_UNIFORM;
    if (which == HG_ID_GLOBAL_LANE_ID) {
        v->uniformity = KIR_AFFINE;
        v->stride = 1;
    }
    return v;
}

/* lane * scale, marked as kir_find_uniformity would. */
static kir_value *scaled(kernel *k, kir_value *lane, uint64_t scale) {
    kir_value *v = kir_mul(&k->b, lane, kir_const(&k->b, HG_TYPE_U64, scale));
    if (lane->uniformity == KIR_AFFINE) {
        v->uniformity = KIR_AFFINE;
        v->stride = (int64_t)scale;
    }
    return v;
}

static kir_value *memory_op(kernel *k, kir_op op, uint8_t type, uint8_t space, kir_value *handle,
                            kir_value *index, kir_value *value, uint8_t bytes) {
    kir_value *args[4];
    uint8_t n = 0;
    if (handle) args[n++] = handle;
    if (index) args[n++] = index;
    if (value) args[n++] = value;
    kir_value *v = kir_emit(&k->b, op, op == KIR_STORE ? (uint8_t)KIR_VOID : type, n, args);
    v->u.mem.space = space;
    v->u.mem.bytes = bytes;
    v->u.mem.bytes_wide = bytes;
    v->u.mem.has_index = index != NULL;
    v->u.mem.operand = 2;
    v->u.mem.slot = (int16_t)(handle && handle->op == KIR_INPUT ? (int)handle->u.imm : KIR_OPEN);
    v->inst = k->b.inst;
    return v;
}

static kir_value *load(kernel *k, uint8_t type, kir_value *handle, kir_value *index) {
    return memory_op(k, KIR_LOAD, type, KIR_BUFFER, handle, index, NULL,
                     (uint8_t)kir_type_bytes(type));
}

static void store(kernel *k, kir_value *handle, kir_value *index, kir_value *value) {
    memory_op(k, KIR_STORE, KIR_VOID, KIR_BUFFER, handle, index, value,
              (uint8_t)kir_type_bytes(value->type));
}

static kir_value *u32(kernel *k, uint64_t value) { return kir_const(&k->b, HG_TYPE_U32, value); }
static kir_value *u64(kernel *k, uint64_t value) { return kir_const(&k->b, HG_TYPE_U64, value); }

/* Runs on every level with slots 0 … count-1, expecting `message` as the fault (NULL: none). Memory
 * is put back before each level. */
typedef struct expectation {
    const char *message;
    uint64_t lane, phase, inst;
} expectation;

static void run(kernel *k, uint32_t grid, uint32_t block, uint64_t lanes, uint32_t shared,
                tile_memory *slots, size_t count, const tile_memory *expected, expectation fault) {
    CHECK(!k->b.failed);
    hg_status status = kir_verify(k->m);
    CHECK_MESSAGE(status == HG_OK, "%s", hg_last_error_text());
    uint8_t *saved[8] = {0};
    uint64_t inputs[8] = {0};
    for (size_t i = 0; i < count; i++) {
        saved[i] = malloc(slots[i].size + 1);
        memcpy(saved[i], slots[i].base, slots[i].size);
        inputs[i] = i + 1;
    }
    for (tile_level level = TILE_LEVEL_BASELINE; level < TILE_LEVEL_COUNT; level++) {
        if (!tile_level_available(level)) continue;
        tile_kernel *code;
        status = tile_compile(k->m, &(tile_options){.level = level}, &code);
        CHECK_MESSAGE(status == HG_OK, "%s: %s", k->m->name, hg_last_error_text());
        if (status != HG_OK) continue;
        for (uint32_t threads = 0; threads < 2; threads++) {
            for (size_t i = 0; i < count; i++) memcpy(slots[i].base, saved[i], slots[i].size);
            tile_launch launch = {.grid = {grid, 1, 1},
                                  .block = {block, 1, 1},
                                  .lanes = lanes,
                                  .shared_bytes = shared,
                                  .inputs = inputs,
                                  .slots = slots,
                                  .max_threads = threads};
            tile_fault got;
            status = tile_run(code, &launch, &got);
            CHECK(status == HG_OK);
            const char *name = tile_level_name(level);
            if (fault.message) {
                CHECK_MESSAGE(got.happened, "%s %s: no fault", k->m->name, name);
                CHECK_TEXT(got.message, fault.message);
                CHECK_U64(got.lane, fault.lane);
                CHECK_U64(got.phase, fault.phase);
                CHECK_U64(got.inst, fault.inst);
            } else {
                CHECK_MESSAGE(!got.happened, "%s %s: %s", k->m->name, name, got.message);
            }
            for (size_t i = 0; i < count && expected; i++) {
                if (!expected[i].base) continue;
                uint64_t at = 0;
                while (at < expected[i].size && expected[i].base[at] == slots[i].base[at]) at++;
                CHECK_MESSAGE(at == expected[i].size, "%s %s: slot %zu differs at byte %llu",
                              k->m->name, name, i, (unsigned long long)at);
            }
        }
        tile_kernel_destroy(code);
    }
    for (size_t i = 0; i < count; i++) free(saved[i]);
    kir_module_destroy(k->m);
}

static tile_memory memory_of(void *base, uint64_t size) { return (tile_memory){base, size, true}; }

/* ---- kernels ---- */

static void test_add(void) {
    enum { N = 1000 };
    static float a[N], b[N], c[N], want[N];
    for (int i = 0; i < N; i++) {
        a[i] = (float)i * 0.25f;
        b[i] = (float)(i % 7) - 3.5f;
        want[i] = (a[i] + b[i]) * 3.0f;
    }
    kernel k = begin("add");
    kir_value *ha = buffer(&k, "a"), *hb = buffer(&k, "b"), *hc = buffer(&k, "c"),
              *at = scaled(&k, id(&k, HG_ID_GLOBAL_LANE_ID), 4);
    store(&k, hc, at,
          kir_mul(&k.b, kir_f32(&k.b, 3.0f),
                  kir_add(&k.b, load(&k, HG_TYPE_F32, ha, at), load(&k, HG_TYPE_F32, hb, at))));
    run(&k, 4, 250, N, 0,
        (tile_memory[]){memory_of(a, sizeof a), memory_of(b, sizeof b), memory_of(c, sizeof c)}, 3,
        (tile_memory[]){{0}, {0}, memory_of(want, sizeof want)}, (expectation){0});
}

static uint32_t collatz(uint32_t x) {
    uint32_t steps = 0;
    while (x != 1) {
        x = x & 1 ? 3 * x + 1 : x / 2;
        steps++;
    }
    return steps;
}

/* Divergent loop with a divergent branch inside. */
static void test_collatz(void) {
    enum { N = 777 };
    static uint32_t out[N], want[N];
    for (uint32_t i = 0; i < N; i++) want[i] = collatz(i + 1);
    kernel k = begin("collatz");
    kir_builder *b = &k.b;
    kir_value *h = buffer(&k, "out"), *lane = id(&k, HG_ID_GLOBAL_LANE_ID);
    kir_var *x = kir_var_create(k.m, b->function, HG_TYPE_U32, 0, "x"),
            *steps = kir_var_create(k.m, b->function, HG_TYPE_U32, 0, "steps");
    kir_set(b, x, kir_add(b, kir_convert(b, KIR_TRUNC, HG_TYPE_U32, lane), u32(&k, 1)));
    kir_set(b, steps, u32(&k, 0));
    kir_value *loop = kir_loop_begin(b, false);
    kir_value *now = kir_get(b, x);
    kir_value *done = kir_if_begin(b, kir_binary(b, KIR_CMP_EQ, now, u32(&k, 1)));
    kir_break(b);
    kir_if_end(b, done);
    kir_value *odd = kir_if_begin(
        b, kir_binary(b, KIR_CMP_EQ, kir_binary(b, KIR_AND, now, u32(&k, 1)), u32(&k, 1)));
    kir_set(b, x, kir_add(b, kir_mul(b, now, u32(&k, 3)), u32(&k, 1)));
    kir_if_else(b, odd);
    kir_set(b, x, kir_binary(b, KIR_UDIV, now, u32(&k, 2)));
    kir_if_end(b, odd);
    kir_set(b, steps, kir_add(b, kir_get(b, steps), u32(&k, 1)));
    kir_loop_end(b, loop);
    store(&k, h, scaled(&k, lane, 4), kir_get(b, steps));
    run(&k, 1, N, N, 0, (tile_memory[]){memory_of(out, sizeof out)}, 1,
        (tile_memory[]){memory_of(want, sizeof want)}, (expectation){0});
}

/* Uniform loop, continue, nested divergent break, early exit of some lanes. */
static void test_exits(void) {
    enum { N = 600 };
    static uint32_t out[N], want[N];
    for (uint32_t i = 0; i < N; i++) {
        uint32_t sum = 0;
        want[i] = 0;
        if (i % 11 == 5) continue;
        for (uint32_t j = 0; j < 20; j++) {
            if ((i + j) % 3 == 0) continue;
            if (i == 7 * j) break;
            sum += j * i;
        }
        want[i] = sum;
    }
    kernel k = begin("exits");
    kir_builder *b = &k.b;
    kir_value *h = buffer(&k, "out"), *lane = id(&k, HG_ID_GLOBAL_LANE_ID),
              *i = kir_convert(b, KIR_TRUNC, HG_TYPE_U32, lane);
    kir_value *gone = kir_if_begin(
        b, kir_binary(b, KIR_CMP_EQ, kir_binary(b, KIR_UREM, i, u32(&k, 11)), u32(&k, 5)));
    kir_exit(b);
    kir_if_end(b, gone);
    kir_var *sum = kir_var_create(k.m, b->function, HG_TYPE_U32, 0, "sum"),
            *count = kir_var_create(k.m, b->function, HG_TYPE_U32, 0, "j");
    kir_set(b, sum, u32(&k, 0));
    kir_set(b, count, u32(&k, 0xFFFFFFFF));
    kir_value *loop = kir_loop_begin(b, false);
    kir_value *j = kir_add(b, kir_get(b, count), u32(&k, 1));
    kir_set(b, count, j);
    kir_value *enough = kir_if_begin(b, kir_binary(b, KIR_CMP_EQ, j, u32(&k, 20)));
    kir_break(b);
    kir_if_end(b, enough);
    kir_value *skip = kir_if_begin(
        b, kir_binary(b, KIR_CMP_EQ, kir_binary(b, KIR_UREM, kir_add(b, i, j), u32(&k, 3)),
                      u32(&k, 0)));
    kir_continue(b);
    kir_if_end(b, skip);
    kir_value *stop = kir_if_begin(b, kir_binary(b, KIR_CMP_EQ, i, kir_mul(b, j, u32(&k, 7))));
    kir_break(b);
    kir_if_end(b, stop);
    kir_set(b, sum, kir_add(b, kir_get(b, sum), kir_mul(b, i, j)));
    kir_loop_end(b, loop);
    store(&k, h, scaled(&k, lane, 4), kir_get(b, sum));
    run(&k, 3, 200, N, 0, (tile_memory[]){memory_of(out, sizeof out)}, 1,
        (tile_memory[]){memory_of(want, sizeof want)}, (expectation){0});
}

/* A function called twice, once for some lanes only, with divergent returns, a module variable and
 * an array by reference. */
static void test_calls(void) {
    enum { N = 300 };
    static uint32_t out[N], want[N];
    kernel k = begin("calls");
    kir_builder *b = &k.b;
    kir_var *total = kir_var_create(k.m, NULL, HG_TYPE_U32, 0, "total"),
            *table = kir_var_create(k.m, b->function, HG_TYPE_U32, 4, "table");
    kir_function *f = kir_function_create(k.m, "f", HG_TYPE_U32);
    f->param_count = 1;
    f->param_types[0] = HG_TYPE_U32;
    kir_var *array = kir_array_param(f, HG_TYPE_U32, 4, "array");
    kir_builder fb;
    kir_builder_init(&fb, k.m, f);
    kir_value *x = kir_param(&fb, 0), *seven = kir_const(&fb, HG_TYPE_U32, 7);
    kir_set(&fb, total, kir_add(&fb, kir_get(&fb, total), x));
    kir_value *small = kir_if_begin(
        &fb, kir_binary(&fb, KIR_CMP_ULT, x, kir_const(&fb, HG_TYPE_U32, 100)));
    kir_return(&fb, kir_mul(&fb, x, seven));
    kir_if_end(&fb, small);
    kir_value *slot = kir_binary(&fb, KIR_AND, x, kir_const(&fb, HG_TYPE_U32, 3));
    kir_array_set(&fb, array, slot, kir_add(&fb, kir_array_get(&fb, array, slot), x));
    kir_return(&fb, kir_binary(&fb, KIR_XOR, x, seven));

    kir_value *h = buffer(&k, "out"), *lane = id(&k, HG_ID_GLOBAL_LANE_ID),
              *i = kir_convert(b, KIR_TRUNC, HG_TYPE_U32, lane);
    kir_var *result = kir_var_create(k.m, b->function, HG_TYPE_U32, 0, "result");
    kir_set(b, total, u32(&k, 1));
    kir_set(b, result, kir_call(b, f, 1, &i, &table));
    kir_value *even = kir_if_begin(
        b, kir_binary(b, KIR_CMP_EQ, kir_binary(b, KIR_AND, i, u32(&k, 1)), u32(&k, 0)));
    kir_value *twice = kir_mul(b, i, u32(&k, 2));
    kir_set(b, result, kir_add(b, kir_get(b, result), kir_call(b, f, 1, &twice, &table)));
    kir_if_end(b, even);
    kir_value *sum = kir_add(b, kir_get(b, result), kir_get(b, total));
    for (uint32_t j = 0; j < 4; j++)
        sum = kir_add(b, kir_mul(b, sum, u32(&k, 3)), kir_array_get(b, table, u32(&k, j)));
    store(&k, h, scaled(&k, lane, 4), sum);
    for (uint32_t l = 0; l < N; l++) {
        uint32_t t[4] = {0}, tot = 1, res = 0;
        for (int call = 0; call < (l % 2 == 0 ? 2 : 1); call++) {
            uint32_t v = call ? 2 * l : l;
            tot += v;
            if (v < 100) {
                res += v * 7;
            } else {
                t[v & 3] += v;
                res += v ^ 7;
            }
        }
        want[l] = res + tot;
        for (int j = 0; j < 4; j++) want[l] = want[l] * 3 + t[j];
    }
    CHECK(!fb.failed);
    run(&k, 1, N, N, 0, (tile_memory[]){memory_of(out, sizeof out)}, 1,
        (tile_memory[]){memory_of(want, sizeof want)}, (expectation){0});
}

/* Gathers, narrow elements, a table, lanes of two-dimensional numbering. */
static void test_gather(void) {
    enum { N = 500 };
    static uint8_t in[N], out[N], want[N];
    static const uint8_t shift[4] = {0, 3, 1, 7};
    for (uint32_t i = 0; i < N; i++) in[i] = (uint8_t)(i * 37);
    for (uint32_t i = 0; i < N; i++)
        want[i] = (uint8_t)((uint8_t)(in[(i * 13) % N] + i % 50) << shift[i & 3]);
    kernel k = begin("gather");
    kir_builder *b = &k.b;
    kir_table *t = kir_table_create(k.m, HG_TYPE_U8, 4, shift, "shift");
    kir_value *hi = buffer(&k, "in"), *ho = buffer(&k, "out"), *lane = id(&k, HG_ID_GLOBAL_LANE_ID),
              *i = kir_convert(b, KIR_TRUNC, HG_TYPE_U32, lane);
    kir_value *from = kir_binary(b, KIR_UREM, kir_mul(b, lane, u64(&k, 13)), u64(&k, N));
    kir_value *x = kir_add(b, load(&k, HG_TYPE_U8, hi, from),
                           kir_convert(b, KIR_TRUNC, HG_TYPE_U8, id(&k, HG_ID_LANE_IDX_X)));
    kir_value *s = kir_convert(b, KIR_ZEXT, HG_TYPE_U32,
                               kir_table_get(b, t, kir_binary(b, KIR_AND, i, u32(&k, 3))));
    store(&k, ho, lane, kir_binary(b, KIR_SHL, x, s));
    run(&k, 10, 50, N, 0, (tile_memory[]){memory_of(in, sizeof in), memory_of(out, sizeof out)}, 2,
        (tile_memory[]){{0}, memory_of(want, sizeof want)}, (expectation){0});
}

/* Shared memory, barriers in a loop: every block reverses its lanes and sums by halves. */
static void test_barrier(void) {
    enum { BLOCK = 128, GRID = 6, N = BLOCK * GRID };
    static uint32_t in[N], out[GRID], want[GRID];
    for (uint32_t i = 0; i < N; i++) in[i] = i * i + 3;
    for (uint32_t i = 0; i < N; i++) want[i / BLOCK] += in[i];
    kernel k = begin("barrier");
    kir_builder *b = &k.b;
    k.m->uses_barrier = k.m->uses_shared = true;
    kir_value *hi = buffer(&k, "in"), *ho = buffer(&k, "out"), *lane = id(&k, HG_ID_GLOBAL_LANE_ID);
    kir_value *x = kir_convert(b, KIR_ZEXT, HG_TYPE_U64, id(&k, HG_ID_LANE_IDX_X)),
              *mine = kir_mul(b, x, u64(&k, 4));
    memory_op(&k, KIR_STORE, KIR_VOID, KIR_SHARED, NULL, mine,
              load(&k, HG_TYPE_U32, hi, scaled(&k, lane, 4)), 4);
    kir_var *half = kir_var_create(k.m, b->function, HG_TYPE_U64, 0, "half");
    kir_set(b, half, u64(&k, BLOCK / 2));
    kir_value *loop = kir_loop_begin(b, false);
    kir_emit(b, KIR_BARRIER, KIR_VOID, 0, NULL);
    kir_value *h = kir_get(b, half);
    kir_value *end = kir_if_begin(b, kir_binary(b, KIR_CMP_EQ, h, u64(&k, 0)));
    kir_break(b);
    kir_if_end(b, end);
    kir_value *low = kir_if_begin(b, kir_binary(b, KIR_CMP_ULT, x, h));
    kir_value *other = kir_mul(b, kir_add(b, x, h), u64(&k, 4));
    kir_value *sum = kir_add(
        b, memory_op(&k, KIR_LOAD, HG_TYPE_U32, KIR_SHARED, NULL, mine, NULL, 4),
        memory_op(&k, KIR_LOAD, HG_TYPE_U32, KIR_SHARED, NULL, other, NULL, 4));
    memory_op(&k, KIR_STORE, KIR_VOID, KIR_SHARED, NULL, mine, sum, 4);
    kir_if_end(b, low);
    kir_set(b, half, kir_binary(b, KIR_LSHR, h, u32(&k, 1)));
    kir_loop_end(b, loop);
    kir_value *leader = kir_if_begin(b, kir_binary(b, KIR_CMP_EQ, x, u64(&k, 0)));
    kir_value *to = kir_mul(b, kir_convert(b, KIR_ZEXT, HG_TYPE_U64, id(&k, HG_ID_BLOCK_IDX_X)),
                            u64(&k, 4));
    store(&k, ho, to, memory_op(&k, KIR_LOAD, HG_TYPE_U32, KIR_SHARED, NULL, mine, NULL, 4));
    kir_if_end(b, leader);
    run(&k, GRID, BLOCK, N, 4 * BLOCK,
        (tile_memory[]){memory_of(in, sizeof in), memory_of(out, sizeof out)}, 2,
        (tile_memory[]){{0}, memory_of(want, sizeof want)}, (expectation){0});
}

static void test_atomics(void) {
    enum { N = 5000 };
    static uint32_t out[4], want[4] = {0, 0xFFFFFFFF, 0, 0};
    for (uint32_t i = 0; i < N; i++) {
        want[0] += i;
        uint32_t v = (i * 2654435761u) >> 3;
        if (v < want[1]) want[1] = v;
        if ((int32_t)(v - 100000000) > (int32_t)want[2]) want[2] = v - 100000000;
        want[3] ^= v;
    }
    out[1] = 0xFFFFFFFF;
    kernel k = begin("atomics");
    kir_builder *b = &k.b;
    kir_value *h = buffer(&k, "out"),
              *i = kir_convert(b, KIR_TRUNC, HG_TYPE_U32, id(&k, HG_ID_GLOBAL_LANE_ID));
    kir_value *v = kir_binary(b, KIR_LSHR, kir_mul(b, i, u32(&k, 2654435761u)), u32(&k, 3));
    kir_value *values[] = {i, v, kir_sub(b, v, u32(&k, 100000000)), v};
    static const kir_atomic OPS[] = {KIR_ATOMIC_ADD, KIR_ATOMIC_UMIN, KIR_ATOMIC_SMAX,
                                     KIR_ATOMIC_XOR};
    for (int j = 0; j < 4; j++) {
        kir_value *a = memory_op(&k, KIR_ATOMIC, HG_TYPE_U32, KIR_BUFFER, h,
                                 u64(&k, 4u * (unsigned)j), values[j], 4);
        a->u.mem.atomic = (uint8_t)OPS[j];
    }
    run(&k, 10, 500, N, 0, (tile_memory[]){memory_of(out, sizeof out)}, 1,
        (tile_memory[]){memory_of(want, sizeof want)}, (expectation){0});
}

/* ---- faults ---- */

static void test_bounds(void) {
    enum { N = 2000 };
    static uint32_t out[1500];
    kernel k = begin("bounds");
    kir_value *h = buffer(&k, "out"), *lane = id(&k, HG_ID_GLOBAL_LANE_ID);
    k.b.inst = 8;
    store(&k, h, scaled(&k, lane, 4), u32(&k, 5));
    static uint32_t want[1500];
    for (int i = 0; i < 1500; i++) want[i] = 5;
    run(&k, 1, N, N, 0, (tile_memory[]){memory_of(out, sizeof out)}, 1,
        (tile_memory[]){memory_of(want, sizeof want)},
        (expectation){"buffer access out of bounds: offset 6000 + size 4 > buffer size 6000", 1500,
                      0, 7});
}

static void test_negative_offset(void) {
    static uint32_t out[16];
    kernel k = begin("negative");
    kir_value *h = buffer(&k, "out"), *lane = id(&k, HG_ID_GLOBAL_LANE_ID);
    k.b.inst = 3;
    kir_value *v = memory_op(&k, KIR_STORE, KIR_VOID, KIR_BUFFER, h, scaled(&k, lane, 4),
                             u32(&k, 9), 4);
    v->u.mem.disp = -12;
    static uint32_t want[16] = {9, 9, 9, 9, 9};
    run(&k, 1, 8, 8, 0, (tile_memory[]){memory_of(out, sizeof out)}, 1,
        (tile_memory[]){memory_of(want, sizeof want)},
        (expectation){"buffer access out of bounds: offset -12 + size 4 > buffer size 64", 0, 0,
                      2});
}

/* index + disp leaves 64 bits. */
static void test_exact_offset(void) {
    static uint32_t out[16];
    kernel k = begin("exact");
    kir_value *h = buffer(&k, "out");
    k.b.inst = 1;
    kir_value *v = memory_op(&k, KIR_STORE, KIR_VOID, KIR_BUFFER, h, u64(&k, UINT64_MAX - 3),
                             u32(&k, 9), 4);
    v->u.mem.disp = 4;
    run(&k, 1, 8, 8, 0, (tile_memory[]){memory_of(out, sizeof out)}, 1, NULL,
        (expectation){
            "buffer access out of bounds: offset 18446744073709551616 + size 4 > buffer size 64", 0,
            0, 0});
}

static void test_division(void) {
    enum { N = 1200 };
    static uint32_t out[N];
    kernel k = begin("division");
    kir_builder *b = &k.b;
    kir_value *h = buffer(&k, "out"), *lane = id(&k, HG_ID_GLOBAL_LANE_ID),
              *i = kir_convert(b, KIR_TRUNC, HG_TYPE_U32, lane);
    k.b.inst = 5;
    kir_value *divisor = kir_binary(b, KIR_AND, kir_sub(b, u32(&k, 700), i), u32(&k, 511));
    kir_fault_if(b, kir_binary(b, KIR_CMP_EQ, divisor, u32(&k, 0)), KIR_FAULT_DIVISION, 3, NULL);
    store(&k, h, scaled(&k, lane, 4), kir_binary(b, KIR_UDIV, u32(&k, 1000000), divisor));
    static uint32_t want[N];
    for (uint32_t l = 0; l < 188; l++) want[l] = 1000000 / ((700 - l) & 511);
    run(&k, 1, N, N, 0, (tile_memory[]){memory_of(out, sizeof out)}, 1,
        (tile_memory[]){memory_of(want, 188 * 4)}, (expectation){"division by zero", 188, 0, 4});
}

static void test_timeout(void) {
    kernel k = begin("forever");
    kir_builder *b = &k.b;
    kir_value *loop = kir_loop_begin(b, false);
    kir_loop_end(b, loop);
    tile_kernel *code;
    CHECK(tile_compile(k.m, &(tile_options){.level = TILE_LEVEL_BEST}, &code) == HG_OK);
    volatile int cancel = 0;
    tile_launch launch = {.grid = {1, 1, 1},
                          .block = {100, 1, 1},
                          .lanes = 100,
                          .deadline_ns = 1,
                          .timeout_ms = 20,
                          .cancel = &cancel};
    tile_fault fault;
    CHECK(tile_run(code, &launch, &fault) == HG_OK);
    CHECK(fault.happened && fault.code == 8);
    CHECK_TEXT(fault.message, "timeout after 20 ms");
    launch.deadline_ns = 0;
    cancel = 1;
    CHECK(tile_run(code, &launch, &fault) == HG_OK);
    CHECK_TEXT(fault.message, "cancelled");
    tile_kernel_destroy(code);
    kir_module_destroy(k.m);
}

/* ---- threads for native code ---- */

static struct {
    pthread_t caller;
    unsigned calls, others; /* atomic: pieces of a launch, of them by threads of the pool */
    bool slow;
} pieces;

static void run_piece(struct hgv_launch *launch, uint64_t begin_lane, uint64_t end) {
    (void)launch;
    (void)begin_lane;
    (void)end;
    hg_atomic_fetch_add(&pieces.calls, 1u, HG_RELAXED);
    if (!pthread_equal(pthread_self(), pieces.caller))
        hg_atomic_fetch_add(&pieces.others, 1u, HG_RELAXED);
    if (pieces.slow) nanosleep(&(struct timespec){0, 2000000}, NULL);
}

/* Launches that were short stay on one thread; the same code with longer loops gets the others. */
static void test_shared(void) {
    enum { LANES = 1 << 18, LAUNCHES = 6 };
    static uint32_t y[LANES];
    kernel k = begin("shared");
    kir_value *h = buffer(&k, "y"), *lane = id(&k, HG_ID_GLOBAL_LANE_ID);
    store(&k, h, scaled(&k, lane, 4), u32(&k, 1));
    tile_kernel *code;
    CHECK(tile_compile(k.m, &(tile_options){.level = TILE_LEVEL_BEST}, &code) == HG_OK);
    CHECK(tile_kernel_attach(code, &(tile_native){.run = run_piece, .lanes = 16}));
    uint32_t threads = hg_thread_pool_count(hg_thread_pool_global());
    CHECK(hg_thread_pool_set_threads(hg_thread_pool_global(), 2) == HG_OK);
    tile_memory slot = memory_of(y, sizeof y);
    uint64_t input = 1;
    tile_launch launch = {.grid = {LANES / 256, 1, 1},
                          .block = {256, 1, 1},
                          .lanes = LANES,
                          .inputs = &input,
                          .slots = &slot};
    tile_fault fault;
    pieces.caller = pthread_self();
    uint64_t until = hg_clock_ns() + UINT64_C(30000000000); /* the others come when they can */
    for (int i = 0; i < 2 * LAUNCHES || (!pieces.others && hg_clock_ns() < until); i++) {
        pieces.slow = i >= LAUNCHES;
        CHECK(tile_run(code, &launch, &fault) == HG_OK && !fault.happened);
    }
    CHECK(pieces.calls && pieces.others);
    CHECK(hg_thread_pool_set_threads(hg_thread_pool_global(), threads) == HG_OK);
    tile_kernel_destroy(code);
    kir_module_destroy(k.m);
}

/* ---- native code in turns of many lanes and of one, by several threads ---- */

enum { TRIAL_LANES = 16, TRIAL_PIECES = 4, LATE = TRIAL_PIECES + 1 };

static struct {
    tile_kernel *code;
    tile_launch launch;
    pthread_t caller, late[LATE];
    unsigned started, over; /* atomic: others that are in their piece; that they may end it */
    unsigned alone;
} trial;

static void wait_for(const unsigned *word, unsigned value) {
    for (int i = 0; i < 20000 && hg_atomic_load(word, HG_ACQUIRE) < value; i++)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    CHECK_U64(hg_atomic_load(word, HG_ACQUIRE), value);
}

static void launch_trial(void) {
    tile_fault fault;
    CHECK(tile_run(trial.code, &trial.launch, &fault) == HG_OK && !fault.happened);
}

static void *launch_late(void *user) {
    launch_trial();
    return user;
}

static void start_late(unsigned number) {
    CHECK(pthread_create(&trial.late[number], NULL, launch_late, NULL) == 0);
    wait_for(&trial.started, number + 1);
}

static void run_many(struct hgv_launch *launch, uint64_t begin_lane, uint64_t end) {
    (void)launch;
    (void)begin_lane;
    (void)end;
    hg_atomic_fetch_add(&trial.started, 1u, HG_ACQ_REL);
    wait_for(&trial.over, 1);
}

/* During the last piece of the trial another begins. */
static void run_alone(struct hgv_launch *launch, uint64_t begin_lane, uint64_t end) {
    (void)launch;
    (void)begin_lane;
    (void)end;
    CHECK(pthread_equal(pthread_self(), trial.caller));
    if (++trial.alone == TRIAL_PIECES) start_late(TRIAL_PIECES);
}

static void keep_code(void *code) { (void)code; }

/* All pieces of turns of many lanes are still at work when those of one are over: these are faster,
 * and what ends late decides nothing any more. */
static void test_trial(void) {
    static uint32_t y[TRIAL_LANES];
    kernel k = begin("trial");
    kir_value *h = buffer(&k, "y"), *lane = id(&k, HG_ID_GLOBAL_LANE_ID);
    store(&k, h, scaled(&k, lane, 4), u32(&k, 1));
    CHECK(tile_compile(k.m, &(tile_options){.level = TILE_LEVEL_BEST}, &trial.code) == HG_OK);
    CHECK(tile_kernel_attach(trial.code, &(tile_native){.run = run_many, .lanes = TRIAL_LANES}));
    CHECK(tile_kernel_attach_alone(
        trial.code, &(tile_native){.run = run_alone, .lanes = 1, .destroy = keep_code}));
    tile_memory slot = memory_of(y, sizeof y);
    uint64_t input = 1;
    trial.launch = (tile_launch){.grid = {1, 1, 1},
                                 .block = {TRIAL_LANES, 1, 1},
                                 .lanes = TRIAL_LANES,
                                 .inputs = &input,
                                 .slots = &slot};
    trial.caller = pthread_self();
    for (unsigned i = 0; i < TRIAL_PIECES; i++) {
        start_late(i);
        launch_trial();
    }
    const tile_alone *a = &trial.code->native.alone;
    const uint32_t rest = hg_atomic_load(&a->rest, HG_RELAXED),
                   trials = hg_atomic_load(&a->trials, HG_RELAXED);
    CHECK(rest != 0 && trials != 0 && hg_atomic_load(&a->chosen, HG_RELAXED));
    hg_atomic_store(&trial.over, 1u, HG_RELEASE);
    for (int i = 0; i < LATE; i++) CHECK(pthread_join(trial.late[i], NULL) == 0);
    CHECK_U64(hg_atomic_load(&a->rest, HG_RELAXED), rest);
    CHECK_U64(hg_atomic_load(&a->trials, HG_RELAXED), trials);
    CHECK(hg_atomic_load(&a->chosen, HG_RELAXED));
    tile_kernel_destroy(trial.code);
    kir_module_destroy(k.m);
}

/* ---- every handler gives the same bits on every level ---- */

#if defined(__x86_64__)
static uint64_t random_state = 88172645463325252u;
static uint64_t next_random(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    return random_state ^= random_state << 17;
}

enum { SAMPLE = 700 };
static const uint8_t KIND_SIZE[] = {1, 2, 4, 8, 4, 8};

/* Edge values first, then bits of every magnitude; boolean: 0 and 1. */
static void fill_sample(uint8_t *at, int kind, bool boolean) {
    static const uint64_t F32[] = {0,          0x80000000, 1,          0x80000001, 0x7fffff,
                                   0x800000,   0x3f800000, 0xbf800000, 0x7f7fffff, 0x7f800000,
                                   0xff800000, 0x7fc00000, 0x4b000000, 0x4f000000, 0xcf000000,
                                   0x3f000000, 0x42b17218, 0xc2cff1b5};
    static const uint64_t F64[] = {0,
                                   UINT64_C(1) << 63,
                                   1,
                                   UINT64_C(0xfffffffffffff),
                                   UINT64_C(1) << 52,
                                   UINT64_C(0x3ff0000000000000),
                                   UINT64_C(0xbff0000000000000),
                                   UINT64_C(0x7fefffffffffffff),
                                   UINT64_C(0x7ff0000000000000),
                                   UINT64_C(0xfff0000000000000),
                                   UINT64_C(0x7ff8000000000000),
                                   UINT64_C(0x41efffffffe00000),
                                   UINT64_C(0x43e0000000000000),
                                   UINT64_C(0xc3e0000000000000)};
    static const uint64_t INT[] = {0,
                                   1,
                                   2,
                                   UINT64_MAX,
                                   UINT64_MAX - 1,
                                   0x7f,
                                   0x80,
                                   0xff,
                                   0x7fff,
                                   0x8000,
                                   0x7fffffff,
                                   0x80000000,
                                   0xffffffff,
                                   UINT64_C(0x7fffffffffffffff),
                                   UINT64_C(1) << 63};
    for (int i = 0; i < SAMPLE; i++) {
        uint64_t x = next_random() >> (next_random() % 64), pick = next_random();
        if (kind == 4) {
            x = pick % 8 == 0 ? F32[pick / 8 % HG_COUNT_OF(F32)]
                : pick % 3    ? (x & 0x807fffff) | (100 + pick / 8 % 50) << 23
                              : next_random();
        } else if (kind == 5) {
            x = pick % 8 == 0 ? F64[pick / 8 % HG_COUNT_OF(F64)]
                : pick % 3
                    ? (next_random() & UINT64_C(0x800fffffffffffff)) | (1000 + pick / 8 % 50) << 52
                    : next_random();
        } else if (pick % 4 == 0) {
            x = INT[pick / 4 % HG_COUNT_OF(INT)];
        }
        if (boolean) x = pick & 1;
        memcpy(at + (size_t)i * KIND_SIZE[kind], &x, KIND_SIZE[kind]);
    }
}

static bool is_nan_at(const uint8_t *at, int kind) {
    float f;
    double d;
    memcpy(&f, at, 4);
    if (kind == 4) return isnan(f);
    memcpy(&d, at, 8);
    return isnan(d);
}

static bool same_results(const uint8_t *a, const uint8_t *b, int kind) {
    for (size_t i = 0; i < SAMPLE; i++) {
        const uint8_t *x = a + i * KIND_SIZE[kind], *y = b + i * KIND_SIZE[kind];
        if (memcmp(x, y, KIND_SIZE[kind]) == 0) continue;
        if (kind < 4 || !is_nan_at(x, kind) || !is_nan_at(y, kind)) return false;
    }
    return true;
}

/* Floats: where the error of a product is exact. */
static void bring_near_one(uint8_t *at, int kind) {
    for (size_t i = 0; i < SAMPLE; i++) {
        uint64_t x = 0;
        memcpy(&x, at + i * KIND_SIZE[kind], KIND_SIZE[kind]);
        x = ev_near_one(kir_kind_type(kind), x);
        memcpy(at + i * KIND_SIZE[kind], &x, KIND_SIZE[kind]);
    }
}

static uint8_t operands[3][SAMPLE * 8], results[2][SAMPLE * 8];

/* In place too: the result lies where the first operand of equal size lies. */
static void compare_handlers(tile_fn *one, tile_fn *two, const int kinds[3], int result,
                             bool boolean, const char *what, const char *level) {
    for (int i = 0; i < 3; i++) fill_sample(operands[i], kinds[i], boolean && i == 0);
    for (int i = 0; i < 2 && strcmp(what, kir_op_name(KIR_FMULERR)) == 0; i++)
        bring_near_one(operands[i], kinds[i]);
    one(results[0], operands[0], operands[1], operands[2], SAMPLE);
    two(results[1], operands[0], operands[1], operands[2], SAMPLE);
    CHECK_MESSAGE(same_results(results[0], results[1], result), "%s differs on %s", what, level);
    if (KIND_SIZE[result] != KIND_SIZE[kinds[0]]) return;
    memcpy(results[1], operands[0], sizeof operands[0]);
    two(results[1], results[1], operands[1], operands[2], SAMPLE);
    CHECK_MESSAGE(same_results(results[0], results[1], result), "%s in place differs on %s", what,
                  level);
}

/* The first n lanes, and none behind them, are what each lane is alone; in place too. */
static void compare_lanes(tile_fn *handler, int kind, uint64_t n, const char *what,
                          const char *level) {
    const size_t size = KIND_SIZE[kind];
    memset(results, 0xa5, sizeof results);
    handler(results[0], operands[0], operands[1], operands[2], n);
    for (uint64_t at = 0; at < n * size; at += size)
        handler(results[1] + at, operands[0] + at, operands[1] + at, operands[2] + at, 1);
    CHECK_MESSAGE(same_results(results[0], results[1], kind), "%s of %llu lanes differs on %s",
                  what, (unsigned long long)n, level);
    memcpy(results[0], operands[0], n * size);
    handler(results[0], results[0], operands[1], operands[2], n);
    CHECK_MESSAGE(same_results(results[0], results[1], kind),
                  "%s of %llu lanes in place differs on %s", what, (unsigned long long)n, level);
}

/* Few lanes, a turn, and what is left of turns and of blocks; `common`: no lane needs a rare
 * branch. */
static void test_counts(tile_fn *handler, int kind, const char *what, const char *level) {
    static const uint64_t COUNTS[] = {0,  1,  3,  4,  5,  7,  8,   9,   15,  16,  17, 20,
                                      31, 32, 33, 63, 65, 95, 255, 256, 257, 300, 517};
    for (int common = 0; common < (kind < 4 ? 1 : 2); common++) {
        for (int i = 0; i < 3; i++) {
            fill_sample(operands[i], kind, false);
            if (common) bring_near_one(operands[i], kind);
        }
        for (size_t i = 0; i < HG_COUNT_OF(COUNTS); i++)
            compare_lanes(handler, kind, COUNTS[i], what, level);
    }
}

static void test_levels(void) {
    const tile_handlers *base = &tile_handlers_baseline,
                        *levels[] = {&tile_handlers_baseline, &tile_handlers_v3, &tile_handlers_v4};
    for (int l = 0; l < 3; l++) {
        if (!tile_level_available((tile_level)l)) continue;
        const tile_handlers *other = levels[l];
        for (int op = 0; op < KIR_OP_COUNT; op++)
            for (int k = 0; k < TILE_KIND_COUNT; k++)
                for (unsigned v = 0; v < TILE_VARIANT_COUNT; v++) {
                    CHECK((tile_op_handler(base, (kir_op)op, k, v) == NULL) ==
                          (tile_op_handler(other, (kir_op)op, k, v) == NULL));
                    if (!tile_op_handler(base, (kir_op)op, k, v) || op == KIR_FMAD)
                        continue; /* either of two */
                    const kir_op_info *row = kir_op_get((kir_op)op);
                    bool shift = row->flags & KIR_F_SHIFTS,
                         compare = row->result == KIR_RESULT_BOOL, select = op == KIR_SELECT;
                    int kinds[3] = {select ? 0 : k, shift ? 2 : k, k};
                    compare_handlers(tile_op_handler(base, (kir_op)op, k, v),
                                     tile_op_handler(other, (kir_op)op, k, v), kinds,
                                     compare ? 0 : k, select, kir_op_name((kir_op)op), other->name);
                }
        for (int op = 0; op < KIR_OP_COUNT; op++)
            for (int from = 0; from < TILE_KIND_COUNT; from++)
                for (int to = 0; to < TILE_KIND_COUNT; to++)
                    if (tile_convert_handler(base, (kir_op)op, from, to))
                        compare_handlers(tile_convert_handler(base, (kir_op)op, from, to),
                                         tile_convert_handler(other, (kir_op)op, from, to),
                                         (int[3]){from, from, from}, to, false,
                                         kir_op_name((kir_op)op), other->name);
        for (uint32_t i = 0; i < base->derived_count; i++) {
            const tile_derived *d = &base->derived[i];
            uint64_t size = hg_type_size_bytes((hg_type)d->type);
            int k = d->type == HG_TYPE_F32   ? 4
                    : d->type == HG_TYPE_F64 ? 5
                    : size == 1              ? 0
                    : size == 2              ? 1
                    : size == 4              ? 2
                                             : 3;
            const char *name = d->fn < HG_OP_COUNT ? hg_op_get((hg_op)d->fn)->text : "function";
            compare_handlers(d->run, other->derived[i].run, (int[3]){k, k, k}, k, false, name,
                             other->name);
            test_counts(other->derived[i].run, k, name, other->name);
        }
    }
}
#endif

/* ---- whole arrays ---- */

static float tree_f32(const float *x, size_t n, float (*op)(float, float)) {
    static float level[64], acc[128];
    size_t chunks = (n + 4095) / 4096;
    for (size_t c = 0; c < chunks; c++) {
        size_t count = n - c * 4096 < 4096 ? n - c * 4096 : 4096, first = count < 128 ? count : 128;
        for (size_t i = 0; i < count; i++)
            acc[i % 128] = i < 128 ? x[c * 4096 + i] : op(acc[i % 128], x[c * 4096 + i]);
        for (size_t s = 64; s >= 1; s /= 2)
            for (size_t i = 0; i < s; i++)
                if (i + s < first) acc[i] = op(acc[i], acc[i + s]);
        level[c] = acc[0];
    }
    if (chunks == 1) return level[0];
    float top[64];
    memcpy(top, level, sizeof top);
    return tree_f32(top, chunks, op);
}

static float add_f32(float a, float b) { return a + b; }
static float min_f32(float a, float b) {
    return isnan(a) ? b : isnan(b) ? a : a == b ? (signbit(a) ? a : b) : a < b ? a : b;
}

static void test_reduce(void) {
    enum { MOST = 200000 };
    static float x[MOST];
    static int16_t small[MOST];
    for (int i = 0; i < MOST; i++) {
        x[i] = (float)(((uint32_t)i * 2654435761u) % 1000003u) * 1.7e-3f - 800.0f;
        small[i] = (int16_t)(i * 31 + 7);
    }
    x[3] = NAN;
    static const size_t SIZES[] = {1, 2, 127, 128, 129, 255, 4095, 4096, 4097, 8192, 70001, MOST};
    for (tile_level level = TILE_LEVEL_BASELINE; level < TILE_LEVEL_COUNT; level++) {
        if (!tile_level_available(level)) continue;
        tile_options options = {.level = level};
        for (size_t i = 0; i < HG_COUNT_OF(SIZES); i++) {
            size_t n = SIZES[i];
            float sum, least, want_sum = tree_f32(x + 4, n - (n > 4 ? 4 : 0), add_f32),
                              want_least = tree_f32(x, n, min_f32);
            CHECK(tile_reduce(&options, HG_OP_ADD, HG_TYPE_F32, n - (n > 4 ? 4 : 0),
                              (const uint8_t *)(x + 4), (uint8_t *)&sum) == HG_OK);
            CHECK(tile_reduce(&options, HG_OP_MIN, HG_TYPE_F32, n, (const uint8_t *)x,
                              (uint8_t *)&least) == HG_OK);
            CHECK_MESSAGE(memcmp(&sum, &want_sum, 4) == 0, "sum of %zu: expected %a, got %a", n,
                          (double)want_sum, (double)sum);
            CHECK_MESSAGE(memcmp(&least, &want_least, 4) == 0, "least of %zu: expected %a, got %a",
                          n, (double)want_least, (double)least);
            int16_t total, product, want_total = 0, want_product = 1;
            for (size_t j = 0; j < n; j++) {
                want_total = (int16_t)(want_total + small[j]);
                want_product = (int16_t)((uint32_t)(uint16_t)want_product * (uint16_t)small[j]);
            }
            CHECK(tile_reduce(&options, HG_OP_ADD, HG_TYPE_I16, n, (const uint8_t *)small,
                              (uint8_t *)&total) == HG_OK);
            CHECK(tile_reduce(&options, HG_OP_MUL, HG_TYPE_I16, n, (const uint8_t *)small,
                              (uint8_t *)&product) == HG_OK);
            CHECK(total == want_total && product == want_product);
        }
    }
    uint16_t bits = 1;
    tile_options options = {.level = TILE_LEVEL_BEST};
    CHECK(tile_reduce(&options, HG_OP_MAX, HG_TYPE_F16, 0, NULL, (uint8_t *)&bits) == HG_OK);
    CHECK_U64(bits, 0xFC00);
    uint16_t ones[3000]; /* 3,000 in f16 one by one would stop at 2,048 */
    for (int i = 0; i < 3000; i++) ones[i] = 0x3C00;
    CHECK(tile_reduce(&options, HG_OP_ADD, HG_TYPE_F16, 3000, (const uint8_t *)ones,
                      (uint8_t *)&bits) == HG_OK);
    CHECK_U64(bits, 0x69DC);
}

static void test_map(void) {
    enum { N = 100001 };
    static uint8_t raw[N * 4 + 1];
    static float a[N], b[N];
    for (int i = 0; i < N; i++) {
        a[i] = (float)i * 0.5f;
        b[i] = (float)(N - i) * 0.125f;
    }
    tile_fault fault;
    for (int poor = 0; poor < 2; poor++) {
        tile_options options = {.level = TILE_LEVEL_BEST, .poor = poor};
        uint8_t *odd = raw + 1; /* an unaligned result */
        CHECK(tile_map(&options, HG_OP_MUL, HG_TYPE_F32, N, odd,
                       (const uint8_t *const[]){(const uint8_t *)a, (const uint8_t *)b}, 2,
                       &fault) == HG_OK);
        bool same = true;
        for (int i = 0; i < N; i++) {
            float want = a[i] * b[i];
            same = same && memcmp(odd + 4 * i, &want, 4) == 0;
        }
        CHECK(same);
    }
    tile_options options = {.level = TILE_LEVEL_BEST};
    static float c[N];
    memcpy(c, a, sizeof a);
    CHECK(tile_map(&options, HG_OP_SUB, HG_TYPE_F32, N, (uint8_t *)c,
                   (const uint8_t *const[]){(const uint8_t *)c, (const uint8_t *)b}, 2,
                   &fault) == HG_OK);
    bool same = true;
    for (int i = 0; i < N; i++) same = same && c[i] == a[i] - b[i];
    CHECK(same);
    int32_t x[100], y[100];
    for (int i = 0; i < 100; i++) {
        x[i] = i;
        y[i] = 60 - i;
    }
    CHECK(tile_map(&options, HG_OP_DIV, HG_TYPE_I32, 100, (uint8_t *)x,
                   (const uint8_t *const[]){(const uint8_t *)x, (const uint8_t *)y}, 2,
                   &fault) == HG_OK);
    CHECK(fault.happened && fault.lane == 60);
    CHECK_TEXT(fault.message, "division by zero");
    CHECK(tile_map(&options, HG_OP_SQRT, HG_TYPE_I32, 1, (uint8_t *)x,
                   (const uint8_t *const[]){(const uint8_t *)x}, 1, &fault) != HG_OK);
}

/* ---- races ---- */

static tile_fault check_races(bool own_slots) {
    kernel k = begin("races");
    kir_value *h = buffer(&k, "out"), *lane = id(&k, HG_ID_GLOBAL_LANE_ID);
    store(&k, h, scaled(&k, lane, own_slots ? 4 : 2), u32(&k, 1));
    static uint32_t out[64];
    tile_kernel *code;
    tile_fault fault = {0};
    CHECK(tile_compile(k.m, &(tile_options){.level = TILE_LEVEL_BEST, .check_races = true},
                       &code) == HG_OK);
    tile_memory slot = memory_of(out, sizeof out);
    tile_launch launch = {.grid = {1, 1, 1},
                          .block = {8, 1, 1},
                          .lanes = 8,
                          .inputs = (uint64_t[]){1},
                          .slots = &slot};
    CHECK(tile_run(code, &launch, &fault) == HG_OK);
    tile_kernel_destroy(code);
    kir_module_destroy(k.m);
    return fault;
}

static void test_races(void) {
    CHECK(!check_races(true).happened);
    tile_fault fault = check_races(false);
    CHECK(fault.happened && fault.code == KIR_FAULT_RACE);
    CHECK_TEXT(fault.message, "race on 'out', byte 2: lane 0 writes it, lane 1 writes it");
}

/* ---- failing allocations: an error each time, nothing lost ---- */

static uint64_t allocations_left, live;
static void *failing_reallocate(void *user, void *memory, size_t bytes) {
    (void)user;
    if (allocations_left == 0) return NULL;
    allocations_left--;
    if (!memory) live++;
    return realloc(memory, bytes);
}
static void counting_release(void *user, void *memory) {
    (void)user;
    live--;
    free(memory);
}

static hg_status try_all(const kir_module *m) {
    static uint32_t out[300];
    static uint8_t wide[3][32 * 40];
    tile_kernel *code = NULL;
    tile_fault fault = {0};
    hg_text text = {0};
    tile_options options = {.level = TILE_LEVEL_BEST};
    hg_status status = tile_compile(m, &options, &code);
    CHECK((status == HG_OK) == (code != NULL));
    tile_memory slot = memory_of(out, sizeof out);
    tile_launch launch = {.grid = {1, 1, 1},
                          .block = {300, 1, 1},
                          .lanes = 300,
                          .inputs = (uint64_t[]){1},
                          .slots = &slot};
    if (status == HG_OK) status = tile_run(code, &launch, &fault);
    tile_kernel_destroy(code);
    if (status == HG_OK) status = emit_c((const kir_module *const[]){m}, 1, "", &text);
    hg_text_free(&text);
    if (status == HG_OK)
        status = tile_map(&options, HG_OP_ADD, HG_TYPE_I256, 40, wide[2],
                          (const uint8_t *const[]){wide[0], wide[1]}, 2, &fault);
    if (status == HG_OK)
        status = tile_reduce(&options, HG_OP_MAX, HG_TYPE_U256, 40, wide[0], wide[1]);
    if (status == HG_OK)
        status = tile_reduce(&options, HG_OP_ADD, HG_TYPE_U32, 300, (const uint8_t *)out, wide[2]);
    return status;
}

static void test_memory(void) {
    kernel k = begin("memory");
    kir_builder *b = &k.b;
    static const uint32_t numbers[] = {3, 1, 4, 1, 5, 9, 2, 6};
    kir_table *table = kir_table_create(k.m, HG_TYPE_U32, 8, numbers, "numbers");
    kir_function *f = kir_function_create(k.m, "f", HG_TYPE_U32);
    f->param_count = 1;
    f->param_types[0] = HG_TYPE_U32;
    kir_builder fb;
    kir_builder_init(&fb, k.m, f);
    kir_return(&fb, kir_add(&fb, kir_param(&fb, 0), kir_const(&fb, HG_TYPE_U32, 7)));
    kir_value *h = buffer(&k, "out"), *lane = id(&k, HG_ID_GLOBAL_LANE_ID),
              *i = kir_convert(b, KIR_TRUNC, HG_TYPE_U32, lane);
    kir_var *x = kir_var_create(k.m, b->function, HG_TYPE_U32, 0, "x"),
            *array = kir_var_create(k.m, b->function, HG_TYPE_U32, 8, "a");
    kir_set(b, x, i);
    kir_value *loop = kir_loop_begin(b, false), *now = kir_get(b, x);
    kir_value *done = kir_if_begin(b, kir_binary(b, KIR_CMP_ULT, now, u32(&k, 10)));
    kir_break(b);
    kir_if_end(b, done);
    kir_value *at = kir_binary(b, KIR_AND, now, u32(&k, 7));
    kir_array_set(b, array, at, kir_table_get(b, table, at));
    kir_set(b, x, kir_sub(b, now, u32(&k, 10)));
    kir_loop_end(b, loop);
    kir_value *last = kir_array_get(b, array, kir_binary(b, KIR_AND, kir_get(b, x), u32(&k, 7)));
    store(&k, h, scaled(&k, lane, 4), kir_call(b, f, 1, &last, NULL));
    CHECK(!b->failed && !fb.failed && kir_verify(k.m) == HG_OK);
    hg_allocator allocator = {
        .size = sizeof allocator, .reallocate = failing_reallocate, .release = counting_release};
    hg_status status = HG_ERROR_OUT_OF_MEMORY;
    uint64_t n = 0;
    for (; status == HG_ERROR_OUT_OF_MEMORY && n < 10000; n++) {
        CHECK(hg_set_allocator(&allocator) == HG_OK);
        allocations_left = n;
        live = 0;
        status = try_all(k.m);
        CHECK_U64(live, 0);
        CHECK(hg_set_allocator(NULL) == HG_OK);
    }
    CHECK_MESSAGE(status == HG_OK && n > 20, "%s after %" PRIu64 " allocations",
                  hg_last_error_text(), n);
    kir_module_destroy(k.m);
}

/* A result far larger than the caches, at an address that is no multiple of a cache line, and in
 * place. */
static void test_large_map(void) {
    const uint64_t n = (UINT64_C(8) << 20) + 5;
    float *a = malloc((n + 1) * 4), *out = malloc((n + 1) * 4);
    tile_options options = {.level = TILE_LEVEL_BEST};
    tile_fault fault;
    for (uint64_t i = 0; a && i < n; i++) a[i] = (float)(i % 1000003);
    for (int in_place = 0; a && out && in_place < 2; in_place++) {
        uint8_t *to = (uint8_t *)(in_place ? a : out + 1);
        CHECK(tile_map(&options, HG_OP_ADD, HG_TYPE_F32, n, to,
                       (const uint8_t *const[]){(const uint8_t *)a, (const uint8_t *)a}, 2,
                       &fault) == HG_OK);
        uint64_t wrong = 0;
        for (uint64_t i = 0; i < n; i++) {
            float want = (float)(i % 1000003) * 2, got;
            memcpy(&got, to + i * 4, 4);
            wrong += got != want;
        }
        CHECK_U64(wrong, 0);
    }
    free(a);
    free(out);
}

/* The rows of a chunk in one call: against plain loops over bytes, where order does not matter. */
static void test_folds(void) {
    enum { N = 9001 };
    static uint8_t u[N];
    for (int i = 0; i < N; i++) u[i] = (uint8_t)(i * 37 + i / 128 * 11 + 1);
    for (int level = 0; level < TILE_LEVEL_COUNT; level++) {
        tile_options options = {.level = (tile_level)level, .max_threads = 1};
        if (!tile_level_available(options.level)) continue;
        for (uint64_t n = 1; n < N; n += n < 600 ? 1 : 997) {
            uint8_t sum = 0, product = 1, least = 255, most = 0, got = 0;
            int8_t low = 127, high = -128;
            for (uint64_t i = 0; i < n; i++) {
                sum = (uint8_t)(sum + u[i]);
                product = (uint8_t)(product * (u[i] | 1));
                if (u[i] < least) least = u[i];
                if (u[i] > most) most = u[i];
                if ((int8_t)u[i] < low) low = (int8_t)u[i];
                if ((int8_t)u[i] > high) high = (int8_t)u[i];
            }
            const struct {
                hg_op op;
                hg_type type;
                uint8_t want;
            } rows[] = {
                {HG_OP_ADD, HG_TYPE_U8, sum},          {HG_OP_ADD, HG_TYPE_I8, sum},
                {HG_OP_MIN, HG_TYPE_U8, least},        {HG_OP_MAX, HG_TYPE_U8, most},
                {HG_OP_MIN, HG_TYPE_I8, (uint8_t)low}, {HG_OP_MAX, HG_TYPE_I8, (uint8_t)high}};
            for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
                CHECK(tile_reduce(&options, rows[k].op, rows[k].type, n, u, &got) == HG_OK);
                CHECK_U64(got, rows[k].want);
            }
            uint8_t odd[N];
            for (uint64_t i = 0; i < n; i++) odd[i] = u[i] | 1;
            CHECK(tile_reduce(&options, HG_OP_MUL, HG_TYPE_U8, n, odd, &got) == HG_OK);
            CHECK_U64(got, product);
        }
    }
}

/* The second map of a kind finds the kernel of the first; results stay the same. */
static void test_cache(void) {
    uint16_t a[64], first[64], second[64];
    for (int i = 0; i < 64; i++) a[i] = (uint16_t)(0x3C00 + i * 13);
    tile_cache *cache = tile_cache_create();
    tile_options plain = {.level = TILE_LEVEL_BEST},
                 cached = {.level = TILE_LEVEL_BEST, .cache = cache};
    const uint8_t *const in[] = {(const uint8_t *)a, (const uint8_t *)a};
    tile_fault fault;
    CHECK(cache &&
          tile_map(&plain, HG_OP_MUL, HG_TYPE_F16, 64, (uint8_t *)first, in, 2, &fault) == HG_OK);
    for (int round = 0; cache && round < 2; round++) {
        memset(second, 0, sizeof second);
        CHECK(tile_map(&cached, HG_OP_MUL, HG_TYPE_F16, 64, (uint8_t *)second, in, 2, &fault) ==
              HG_OK);
        CHECK(memcmp(first, second, sizeof first) == 0);
        CHECK(tile_map(&cached, HG_OP_ADD, HG_TYPE_BF16, 64, (uint8_t *)second, in, 2, &fault) ==
              HG_OK);
        CHECK(memcmp(first, second, sizeof first) != 0);
    }
    tile_cache_destroy(cache);
}

int main(void) {
    test_add();
    test_collatz();
    test_exits();
    test_calls();
    test_gather();
    test_barrier();
    test_atomics();
    test_bounds();
    test_negative_offset();
    test_exact_offset();
    test_division();
    test_timeout();
    test_shared();
    test_trial();
#if defined(__x86_64__)
    test_levels();
#endif
    test_reduce();
    test_map();
    test_large_map();
    test_folds();
    test_cache();
    test_races();
    test_memory();
    return test_done();
}
