/* Programs as a module of WebAssembly that stands alone: memory of its own, a function for each
 * program, and what kernels call when a lane faults. Offsets in `run` and `found` below are the
 * same numbers in docs/guide/embed.md.
 * Must not know: what kernels compute. */
#include "emit/emit.h"
#include "emit/emit_wasm_internal.h"
#include "offline/build_internal.h"
#include "vector/vector.h"
#include <stdio.h>
#include <string.h>

/* The record of a call: an hgv_launch, then these. */
enum {
    FOUND = WA_LAUNCH_BYTES, /* exported as NAME_fault: what follows, up to RUN_PHASE */
    FOUND_CODE = FOUND,
    FOUND_INSTRUCTION = FOUND + 4,
    FOUND_OPERAND = FOUND + 8,
    FOUND_BYTES = FOUND + 12,
    FOUND_LANE = FOUND + 16,
    FOUND_VALUES = FOUND + 24,
    FOUND_LIMIT = FOUND + 40,
    FOUND_HANDLE = FOUND + 48,
    FOUND_MESSAGE = FOUND + 56, /* an address, or 0 */
    RUN_PHASE = FOUND + 64,     /* of found: barriers that its block had passed */
    RUN_MEMORIES = FOUND + 72,  /* of handles from 1 on */
    RUN_COUNT = FOUND + 76,
    RUN_POOLS = FOUND + 80, /* bit i: memory i is a pool */
    RUN_BYTES = RUN_POOLS + 8 * BUILD_POOL_WORDS
};
enum { BAD_LAUNCH = -1, STOPPED = -2 };
enum { BELOW = 1024 /* nothing lies there */, STACK = 65536, FUEL = 1 << 20, AT_ONCE = 4096 };
enum { MOST_SHARED = 65536, DEFAULT_BLOCK = 256 };
enum { HEAP_BASE /* among the module's constants */ };

typedef struct maker {
    build_job *job;
    wasm_module *m;
    const emit_wasm_made *made;
    wasm_code *c;
    uint32_t run, kept, shared;     /* addresses */
    uint64_t kept_bytes;            /* what lanes of a block keep, at most */
    uint32_t run_lanes, run_blocks; /* functions */
    struct {                        /* of the function at work */
        const build_program *p;
        uint32_t *locals; /* by parameter: the first local */
        uint32_t bad;
        uint32_t lanes, volume, memories;
    } f;
} maker;

/* ---- memory ---- */

static uint32_t room(maker *k, uint32_t bytes, uint32_t align) {
    const uint64_t all = (uint64_t)bytes + align;
    uint8_t zeros[64] = {0};
    uint32_t at = wasm_data(k->m, zeros, 0, align);
    for (uint64_t left = bytes; left && all <= UINT32_MAX;) {
        const uint64_t n = left < sizeof zeros ? left : sizeof zeros;
        (void)wasm_data(k->m, zeros, n, 1);
        left -= n;
    }
    return k->m->alone.base + at;
}

static void store(wasm_code *c, wasm_op op, uint32_t at, uint32_t local) {
    w_i32(c, at);
    w_get(c, local);
    w_memory(c, op, 0);
}

static void store_i32(wasm_code *c, uint32_t at, uint32_t value) {
    w_i32(c, at);
    w_i32(c, value);
    w_memory(c, W_I32_STORE, 0);
}

static void store_i64(wasm_code *c, uint32_t at, uint64_t value) {
    w_i32(c, at);
    w_i64(c, value);
    w_memory(c, W_I64_STORE, 0);
}

static void load(wasm_code *c, wasm_op op, uint32_t at) {
    w_i32(c, at);
    w_memory(c, op, 0);
}

/* ---- what kernels call ---- */

static uint32_t begin(maker *k, wasm_code *c, const char *name, const char *signature) {
    wasm_begin(c, signature);
    return wasm_declare(k->m, name, signature, false);
}

static void copy_field(maker *k, wasm_code *c, uint32_t to, uint32_t from, uint32_t offset,
                       wasm_op load_op, wasm_op store_op) {
    w_i32(c, k->run + to);
    w_get(c, from);
    w_memory(c, load_op, offset);
    w_memory(c, store_op, 0);
}

/* The fault at the earliest barrier stays, of those the one of the lowest lane. */
static uint32_t write_on_fault(maker *k) {
    enum { LAUNCH, SITE, LANE, VALUES };
    wasm_code code, *c = &code;
    const uint32_t number = begin(k, c, "on_fault", "iiIi:");
    w_get(c, LAUNCH);
    w_i32(c, 1);
    w_memory(c, W_I32_STORE8, WA_LAUNCH_FAULTED);
    load(c, W_I32_LOAD, k->run + FOUND_CODE);
    (void)w_open(c, W_IF, WASM_VOID);
    for (int same = 0; same < 2; same++) {
        load(c, W_I64_LOAD, k->run + RUN_PHASE);
        load(c, W_I64_LOAD, k->run + WA_LAUNCH_PHASE);
        w(c, same ? W_I64_EQ : W_I64_LT_U);
        if (same) {
            load(c, W_I64_LOAD, k->run + FOUND_LANE);
            w_get(c, LANE);
            w(c, W_I64_LE_U);
            w(c, W_I32_AND);
        }
        (void)w_open(c, W_IF, WASM_VOID);
        w(c, W_RETURN);
        w(c, W_END);
    }
    w(c, W_END);
    w_i32(c, k->run + RUN_PHASE);
    load(c, W_I64_LOAD, k->run + WA_LAUNCH_PHASE);
    w_memory(c, W_I64_STORE, 0);
    copy_field(k, c, FOUND_CODE, SITE, WA_SITE_CODE, W_I32_LOAD8_U, W_I32_STORE);
    copy_field(k, c, FOUND_INSTRUCTION, SITE, 4, W_I32_LOAD, W_I32_STORE);
    copy_field(k, c, FOUND_OPERAND, SITE, 1, W_I32_LOAD8_U, W_I32_STORE);
    copy_field(k, c, FOUND_BYTES, SITE, WA_SITE_BYTES_OF_ACCESS, W_I32_LOAD, W_I32_STORE);
    store(c, W_I64_STORE, k->run + FOUND_LANE, LANE);
    copy_field(k, c, FOUND_VALUES, VALUES, 0, W_I64_LOAD, W_I64_STORE);
    copy_field(k, c, FOUND_VALUES + 8, VALUES, 8, W_I64_LOAD, W_I64_STORE);
    copy_field(k, c, FOUND_LIMIT, SITE, WA_SITE_LIMIT, W_I64_LOAD, W_I64_STORE);
    copy_field(k, c, FOUND_HANDLE, SITE, WA_SITE_HANDLE, W_I64_LOAD, W_I64_STORE);
    copy_field(k, c, FOUND_MESSAGE, SITE, WA_SITE_MESSAGE, W_I32_LOAD, W_I32_STORE);
    wasm_define(k->m, number, c);
    return number;
}

/* The memory of a handle, or none. */
static uint32_t write_on_resolve(maker *k) {
    enum { TO, LAUNCH, HANDLE, POOL, FLAT };
    wasm_code code, *c = &code;
    const uint32_t number = begin(k, c, "on_resolve", "iiIii:"), from = wasm_take(c, WASM_I32);
    w_get(c, TO);
    w_i32(c, 0);
    w_i32(c, WA_MEMORY_BYTES);
    w(c, W_MEMORY_FILL);
    w_get(c, HANDLE); /* handle - 1 < count */
    w_i64(c, 1);
    w(c, W_I64_SUB);
    w_i32(c, k->run + RUN_COUNT);
    w_memory(c, W_I64_LOAD32_U, 0);
    w(c, W_I64_GE_U);
    (void)w_open(c, W_IF, WASM_VOID);
    w(c, W_RETURN);
    w(c, W_END);
    w_get(c, HANDLE); /* its bit of the pools */
    w_i64(c, 1);
    w(c, W_I64_SUB);
    w_i64(c, 6);
    w(c, W_I64_SHR_U);
    w(c, W_I32_WRAP_I64);
    w_i32(c, 8);
    w(c, W_I32_MUL);
    w_memory(c, W_I64_LOAD, k->run + RUN_POOLS);
    w_get(c, HANDLE);
    w_i64(c, 1);
    w(c, W_I64_SUB);
    w(c, W_I64_SHR_U);
    w(c, W_I32_WRAP_I64);
    w_i32(c, 1);
    w(c, W_I32_AND);
    w_get(c, POOL);
    w(c, W_I32_NE);
    (void)w_open(c, W_IF, WASM_VOID);
    w(c, W_RETURN);
    w(c, W_END);
    load(c, W_I32_LOAD, k->run + RUN_MEMORIES);
    w_get(c, HANDLE);
    w(c, W_I32_WRAP_I64);
    w_i32(c, 1);
    w(c, W_I32_SUB);
    w_i32(c, WA_MEMORY_BYTES);
    w(c, W_I32_MUL);
    w(c, W_I32_ADD);
    w_set(c, from);
    for (uint32_t at = 0; at < WA_MEMORY_BYTES; at += 8) {
        w_get(c, TO);
        w_get(c, from);
        w_memory(c, W_I64_LOAD, at);
        w_memory(c, W_I64_STORE, at);
    }
    wasm_define(k->m, number, c);
    return number;
}

/* Nobody stops a call: there is always more. */
static uint32_t write_on_no_fuel(maker *k) {
    wasm_code c;
    const uint32_t number = begin(k, &c, "on_no_fuel", "i:i");
    w_get(&c, 0);
    w_i64(&c, FUEL);
    w_memory(&c, W_I64_STORE, WA_LAUNCH_FUEL);
    w_i32(&c, 1);
    wasm_define(k->m, number, &c);
    return number;
}

/* There is as much as the blocks of these kernels can need. */
static uint32_t write_on_memory(maker *k) {
    wasm_code c;
    const uint32_t number = begin(k, &c, "on_memory", "iI:i");
    w_get(&c, 1);
    w_i64(&c, k->kept_bytes);
    w(&c, W_I64_GT_U);
    (void)w_open(&c, W_IF, WASM_VOID);
    w_get(&c, 0);
    w_i32(&c, 1);
    w_memory(&c, W_I32_STORE8, WA_LAUNCH_STOPPED);
    w_i32(&c, 0);
    w(&c, W_RETURN);
    w(&c, W_END);
    w_i32(&c, k->kept);
    wasm_define(k->m, number, &c);
    return number;
}

/* ---- launches ---- */

/* "found.code == 0 && !stopped" */
static void push_good(maker *k, wasm_code *c) {
    load(c, W_I32_LOAD, k->run + FOUND_CODE);
    load(c, W_I32_LOAD8_U, k->run + WA_LAUNCH_STOPPED);
    w(c, W_I32_OR);
    w(c, W_I32_EQZ);
}

/* Lanes of a kernel, `step` of them at a time, as long as `goes_on`. What is there at the end is
 * whether all went well. before: code in front of each call. */
static void write_loop(maker *k, wasm_code *c, uint32_t kernel, uint32_t lanes, uint32_t step,
                       bool blocks) {
    const uint32_t at = wasm_take(c, WASM_I64), next = wasm_take(c, WASM_I64);
    const uint32_t over = w_open(c, W_BLOCK, WASM_VOID), loop = w_open(c, W_LOOP, WASM_VOID);
    w_get(c, at);
    w_get(c, lanes);
    w(c, W_I64_GE_U);
    w_branch(c, W_BR_IF, over);
    if (blocks) { /* of all faults the one at the earliest barrier counts */
        load(c, W_I32_LOAD, k->run + FOUND_CODE);
        w_i32(c, 0);
        w(c, W_I32_NE);
        load(c, W_I64_LOAD, k->run + RUN_PHASE);
        w(c, W_I64_EQZ);
        w(c, W_I32_AND);
        load(c, W_I32_LOAD8_U, k->run + WA_LAUNCH_STOPPED);
        w(c, W_I32_OR);
    } else {
        push_good(k, c);
        w(c, W_I32_EQZ);
    }
    w_branch(c, W_BR_IF, over);
    store_i64(c, k->run + WA_LAUNCH_FUEL, FUEL);
    w_get(c, at); /* next = min(at + step, lanes) */
    w_get(c, step);
    w(c, W_I64_ADD);
    w_tee(c, next);
    w_get(c, lanes);
    w_get(c, next);
    w_get(c, lanes);
    w(c, W_I64_LT_U);
    w(c, W_SELECT);
    w_set(c, next);
    w_i32(c, k->run);
    w_get(c, at);
    w_get(c, next);
    w_get(c, kernel);
    w_indirect(c, wasm_type_of(k->m, "iII:"));
    w_get(c, next);
    w_set(c, at);
    w_branch(c, W_BR, loop);
    w(c, W_END);
    w(c, W_END);
    store_i64(c, k->run + WA_LAUNCH_PHASE, 0);
    push_good(k, c);
}

static uint32_t write_run_lanes(maker *k) {
    enum { KERNEL, LANES, STEP };
    wasm_code c;
    const uint32_t number = begin(k, &c, "run_lanes", "iII:i");
    write_loop(k, &c, KERNEL, LANES, STEP, false);
    wasm_define(k->m, number, &c);
    return number;
}

/* Whole blocks; size: their shared memory, `visible` of which the program sees. */
static uint32_t write_run_blocks(maker *k) {
    enum { KERNEL, LANES, STEP, SIZE, VISIBLE };
    wasm_code c;
    const uint32_t number = begin(k, &c, "run_blocks", "iIIII:i");
    w_get(&c, SIZE);
    w_i64(&c, MOST_SHARED);
    w(&c, W_I64_GT_U);
    (void)w_open(&c, W_IF, WASM_VOID);
    store_i32(&c, k->run + FOUND_CODE, (uint32_t)BAD_LAUNCH);
    w_i32(&c, 0);
    w(&c, W_RETURN);
    w(&c, W_END);
    store_i32(&c, k->run + WA_LAUNCH_SHARED, k->shared); /* a block zeroes it when it begins */
    store(&c, W_I64_STORE, k->run + WA_LAUNCH_SHARED + WA_MEMORY_SIZE, SIZE);
    store_i32(&c, k->run + WA_LAUNCH_SHARED + WA_MEMORY_VALID, 1);
    store(&c, W_I64_STORE, k->run + WA_LAUNCH_SHARED_VISIBLE, VISIBLE);
    write_loop(k, &c, KERNEL, LANES, STEP, true);
    wasm_define(k->m, number, &c);
    return number;
}

/* ---- parameters ---- */

static bool is_given(const build_program *p, uint32_t i) {
    const hg_param *param = &p->program->params[i];
    return param->kind != HG_PARAM_DATA && param->kind != HG_PARAM_SCRATCH && !p->fixed[i];
}

static bool is_wide(const hg_param *param) {
    return param->kind == HG_PARAM_SCALAR && !build_scalar_type((hg_type)param->type);
}

static char letter_of(const hg_param *param) {
    switch ((hg_type)param->type) {
    case HG_TYPE_F32: return 'f';
    case HG_TYPE_F64: return 'F';
    case HG_TYPE_I64:
    case HG_TYPE_U64: return 'I';
    default: return 'i';
    }
}

static void write_signature(const build_program *p, hg_text *out) {
    for (uint32_t i = 0; i < p->program->param_count; i++) {
        const hg_param *param = &p->program->params[i];
        if (!is_given(p, i)) continue;
        if (param->kind != HG_PARAM_SCALAR)
            hg_text_addf(out, "ii");
        else
            hg_text_addf(out, "%c", is_wide(param) ? 'i' : letter_of(param));
    }
    hg_text_addf(out, ":i");
}

/* The bits of a scalar of at most 64. */
static void push_scalar(maker *k, uint32_t i) {
    const build_program *p = k->f.p;
    const hg_param *param = &p->program->params[i];
    const uint64_t size = hg_type_size_bytes((hg_type)param->type);
    if (p->fixed[i]) {
        w_i64(k->c, p->fixed[i]->bits);
        return;
    }
    w_get(k->c, k->f.locals[i]);
    switch (letter_of(param)) {
    case 'I': return;
    case 'F': w(k->c, W_I64_REINTERPRET_F64); return;
    case 'f': w(k->c, W_I32_REINTERPRET_F32); break;
    default:
        if (size < 4) {
            w_i32(k->c, size == 1 ? 0xff : 0xffff);
            w(k->c, W_I32_AND);
        }
    }
    w(k->c, W_I64_EXTEND_I32_U);
}

/* `size` bytes of a parameter from one on, as an i64; of memory its handle. */
static void push_param(maker *k, uint32_t i, uint64_t start, uint64_t size) {
    const hg_param *param = &k->f.p->program->params[i];
    if (param->kind != HG_PARAM_SCALAR) {
        w_i64(k->c, i + UINT64_C(1));
    } else if (is_wide(param)) {
        w_get(k->c, k->f.locals[i]);
        w_memory(k->c, size > 4 ? W_I64_LOAD : W_I64_LOAD32_U, start);
    } else {
        push_scalar(k, i);
    }
}

/* ---- extents: exact numbers from 0 to 2^64 - 1; `bad` is set where one is not ---- */

static void set_bad(maker *k) { /* where what is on the stack is true */
    w_get(k->c, k->f.bad);
    w(k->c, W_I32_OR);
    w_set(k->c, k->f.bad);
}

/* Of the two numbers on the stack. */
static void apply(maker *k, hg_extent_op_kind op) {
    wasm_code *c = k->c;
    const uint64_t mark = c->taken.count;
    const uint32_t a = wasm_take(c, WASM_I64), b = wasm_take(c, WASM_I64),
                   r = wasm_take(c, WASM_I64);
    w_set(c, b);
    w_set(c, a);
    switch (op) {
    case HG_EXTENT_OP_ADD:
        w_get(c, a);
        w_get(c, b);
        w(c, W_I64_ADD);
        w_tee(c, r);
        w_get(c, a);
        w(c, W_I64_LT_U);
        set_bad(k);
        w_get(c, r);
        break;
    case HG_EXTENT_OP_SUB:
        w_get(c, a);
        w_get(c, b);
        w(c, W_I64_LT_U);
        set_bad(k);
        w_get(c, a);
        w_get(c, b);
        w(c, W_I64_SUB);
        break;
    case HG_EXTENT_OP_MUL: /* a != 0 && a * b / a != b */
        w_get(c, a);
        w_get(c, b);
        w(c, W_I64_MUL);
        w_tee(c, r);
        w_get(c, a);
        w_get(c, a);
        w(c, W_I64_EQZ);
        w(c, W_I64_EXTEND_I32_U);
        w(c, W_I64_OR);
        w(c, W_I64_DIV_U);
        w_get(c, b);
        w(c, W_I64_NE);
        w_get(c, a);
        w_i64(c, 0);
        w(c, W_I64_NE);
        w(c, W_I32_AND);
        set_bad(k);
        w_get(c, r);
        break;
    case HG_EXTENT_OP_DIV:
    case HG_EXTENT_OP_CEIL_DIV:
        w_get(c, b);
        w(c, W_I64_EQZ);
        set_bad(k);
        w_get(c, b);
        w_get(c, b);
        w(c, W_I64_EQZ);
        w(c, W_I64_EXTEND_I32_U);
        w(c, W_I64_OR);
        w_set(c, b);
        w_get(c, a);
        w_get(c, b);
        w(c, W_I64_DIV_U);
        if (op == HG_EXTENT_OP_DIV) break;
        w_get(c, a);
        w_get(c, b);
        w(c, W_I64_REM_U);
        w_i64(c, 0);
        w(c, W_I64_NE);
        w(c, W_I64_EXTEND_I32_U);
        w(c, W_I64_ADD);
        break;
    default:
        w_get(c, a);
        w_get(c, b);
        w_get(c, a);
        w_get(c, b);
        w(c, op == HG_EXTENT_OP_MIN ? W_I64_LT_U : W_I64_GT_U);
        w(c, W_SELECT);
    }
    wasm_release(c, mark);
}

static void push_extent(maker *k, const hg_extent *e) {
    if (e->kind == HG_EXTENT_NUMBER) w_i64(k->c, e->value);
    if (e->kind == HG_EXTENT_PARAM) push_scalar(k, e->param);
    for (uint16_t i = 0; e->kind == HG_EXTENT_EXPRESSION && i < e->op_count; i++) {
        const hg_extent_op *op = &k->f.p->program->extent_ops[e->value + i];
        if (op->kind == HG_EXTENT_OP_NUMBER)
            w_i64(k->c, op->value);
        else if (op->kind == HG_EXTENT_OP_PARAM)
            push_scalar(k, op->param);
        else
            apply(k, (hg_extent_op_kind)op->kind);
    }
}

/* ---- a function ---- */

/* What is on the stack says that there is no launch. parameter: which is wrong, from 1 on; 0: none
 * alone. */
static void refuse_if(maker *k, uint32_t parameter) {
    wasm_code *c = k->c;
    (void)w_open(c, W_IF, WASM_VOID);
    store_i32(c, k->run + FOUND_CODE, (uint32_t)BAD_LAUNCH);
    store_i64(c, k->run + FOUND_HANDLE, parameter);
    w_i32(c, (uint32_t)BAD_LAUNCH);
    w(c, W_RETURN);
    w(c, W_END);
}

static uint32_t volume_of(const hg_program *p) {
    return p->block[0] ? p->block[0] * p->block[1] * p->block[2] : 0;
}

/* launch.lanes, grid and block, of what the program asks for. */
static void write_launch(maker *k) {
    const hg_program *program = k->f.p->program;
    const uint32_t volume = volume_of(program), lanes = k->f.lanes;
    wasm_code *c = k->c;
    const bool grid = !program->lanes_count && program->grid_count;
    const uint32_t number = wasm_take(c, WASM_I64);
    for (uint32_t axis = 0; axis < 3; axis++)
        store_i32(c, k->run + WA_LAUNCH_BLOCK + 4 * axis, volume ? program->block[axis] : 1);
    w_i64(c, program->lanes_count || !grid ? 1 : volume ? volume : 1);
    for (uint32_t i = 0; i < program->lanes_count; i++) {
        push_extent(k, &program->lanes[i]);
        apply(k, HG_EXTENT_OP_MUL);
    }
    for (uint32_t i = 0; grid && i < 3; i++) {
        if (i < program->grid_count)
            push_extent(k, &program->grid[i]);
        else
            w_i64(c, 1);
        w_tee(c, number);
        w_i64(c, UINT32_MAX);
        w(c, W_I64_GT_U);
        set_bad(k);
        w_i32(c, k->run + WA_LAUNCH_GRID + 4 * i);
        w_get(c, number);
        w(c, W_I32_WRAP_I64);
        w_memory(c, W_I32_STORE, 0);
        w_get(c, number);
        apply(k, HG_EXTENT_OP_MUL);
    }
    w_tee(c, lanes);
    w_i64(c, UINT64_C(1) << 40);
    w(c, W_I64_GE_U);
    set_bad(k);
    w_get(c, k->f.bad);
    refuse_if(k, 0);
    store(c, W_I64_STORE, k->run + WA_LAUNCH_LANES, lanes);
    if (volume) {
        w_i64(c, volume);
    } else { /* min(max(lanes, 1), 256) */
        w_get(c, lanes);
        w_i64(c, 1);
        apply(k, HG_EXTENT_OP_MAX);
        w_i64(c, grid ? 1 : DEFAULT_BLOCK);
        apply(k, HG_EXTENT_OP_MIN);
    }
    w_set(c, k->f.volume);
    if (grid) return;
    if (!volume) {
        w_i32(c, k->run + WA_LAUNCH_BLOCK);
        w_get(c, k->f.volume);
        w(c, W_I32_WRAP_I64);
        w_memory(c, W_I32_STORE, 0);
    }
    for (int axis = 0; axis < 2; axis++) { /* blocks, in rows of 2^32 - 1 */
        w_i32(c, k->run + WA_LAUNCH_GRID + 4 * (uint32_t)axis);
        w_get(c, lanes);
        w_get(c, k->f.volume);
        apply(k, HG_EXTENT_OP_CEIL_DIV);
        w_i64(c, UINT32_MAX);
        apply(k, axis ? HG_EXTENT_OP_CEIL_DIV : HG_EXTENT_OP_MIN);
        if (axis) {
            w_i64(c, 1);
            apply(k, HG_EXTENT_OP_MAX);
        }
        w(c, W_I32_WRAP_I64);
        w_memory(c, W_I32_STORE, 0);
    }
    store_i32(c, k->run + WA_LAUNCH_GRID + 8, 1);
}

/* An array that has fewer bytes than its extents say is no launch: found has the array, the bytes
 * that it must have, and those that it has. */
static void write_extents(maker *k, uint32_t number) {
    const hg_param *param = &k->f.p->program->params[number];
    wasm_code *c = k->c;
    const uint64_t mark = c->taken.count;
    if (param->kind != HG_PARAM_BUFFER || param->rank == 255) return;
    const uint32_t needed = wasm_take(c, WASM_I64), bytes = k->f.locals[number] + 1;
    w_i64(c, hg_type_size_bytes((hg_type)param->type));
    for (uint8_t d = 0; d < param->rank; d++) {
        push_extent(k, &param->dims[d]);
        apply(k, HG_EXTENT_OP_MUL);
    }
    w_tee(c, needed);
    w_get(c, bytes);
    w(c, W_I64_EXTEND_I32_U);
    w(c, W_I64_GT_U);
    w_get(c, k->f.bad);
    w(c, W_I32_OR);
    w_tee(c, k->f.bad);
    (void)w_open(c, W_IF, WASM_VOID);
    store(c, W_I64_STORE, k->run + FOUND_VALUES, needed);
    w_i32(c, k->run + FOUND_LIMIT);
    w_get(c, bytes);
    w(c, W_I64_EXTEND_I32_U);
    w_memory(c, W_I64_STORE, 0);
    w(c, W_END);
    w_get(c, k->f.bad);
    refuse_if(k, number + 1);
    wasm_release(c, mark);
}

/* Memory of the call that begins at `at` and has as many bytes as the i64 on the stack is no
 * launch where it is not the caller's: behind the module's own, and in the memory there is. */
static void refuse_outside(maker *k, uint32_t number, uint32_t at) {
    wasm_code *c = k->c;
    const uint64_t mark = c->taken.count;
    const uint32_t bytes = wasm_take(c, WASM_I64);
    w_tee(c, bytes); /* at + bytes <= the memory's pages */
    w_get(c, at);
    w(c, W_I64_EXTEND_I32_U);
    w(c, W_I64_ADD);
    w(c, W_MEMORY_SIZE);
    w(c, W_I64_EXTEND_I32_U);
    w_i64(c, 16);
    w(c, W_I64_SHL);
    w(c, W_I64_GT_U);
    w_get(c, at);
    w_number(c, W_GLOBAL_GET, WASM_CONSTANTS + HEAP_BASE);
    w(c, W_I32_LT_U);
    w_get(c, bytes);
    w_i64(c, 0);
    w(c, W_I64_NE);
    w(c, W_I32_AND);
    w(c, W_I32_OR);
    refuse_if(k, number + 1);
    wasm_release(c, mark);
}

/* Arrays of the call, and tables of the program. */
static void write_memories(maker *k) {
    const build_program *p = k->f.p;
    wasm_code *c = k->c;
    uint64_t pools[BUILD_POOL_WORDS];
    build_find_pools(p, pools);
    k->f.memories = room(k, (p->program->param_count + 1) * WA_MEMORY_BYTES, 8);
    for (uint32_t i = 0; i < p->program->param_count; i++) {
        const hg_param *param = &p->program->params[i];
        const uint32_t to = k->f.memories + i * WA_MEMORY_BYTES, at = k->f.locals[i];
        if (is_wide(param)) {
            w_i64(c, hg_type_size_bytes((hg_type)param->type));
            refuse_outside(k, i, at);
        }
        if (param->kind == HG_PARAM_SCALAR || param->kind == HG_PARAM_SCRATCH) continue;
        if (param->kind == HG_PARAM_DATA) {
            store_i32(c, to,
                      k->m->alone.base + wasm_data(k->m, param->data, param->data_bytes, 64));
            store_i64(c, to + WA_MEMORY_SIZE, param->data_bytes);
            store_i32(c, to + WA_MEMORY_VALID, 1);
            continue;
        }
        write_extents(k, i);
        w_get(c, at + 1);
        w(c, W_I64_EXTEND_I32_U);
        refuse_outside(k, i, at);
        store(c, W_I32_STORE, to, at);
        w_i32(c, to);
        w_get(c, at + 1);
        w(c, W_I64_EXTEND_I32_U);
        w_memory(c, W_I64_STORE, WA_MEMORY_SIZE);
        w_i32(c, to);
        w_get(c, at);
        w_i32(c, 0);
        w(c, W_I32_NE);
        w_memory(c, W_I32_STORE, WA_MEMORY_VALID);
    }
    store_i32(c, k->run + RUN_MEMORIES, k->f.memories);
    store_i32(c, k->run + RUN_COUNT, p->program->param_count);
    for (uint32_t i = 0; i < BUILD_POOL_WORDS; i++)
        store_i64(c, k->run + RUN_POOLS + 8 * i, pools[i]);
}

static void push_input(maker *k, const kir_input *input) {
    const build_program *p = k->f.p;
    const uint64_t size = input->limb_bytes ? input->limb_bytes : kir_type_bytes(input->type),
                   start = (uint64_t)input->limb * input->limb_bytes;
    if (input->kind == KIR_INPUT_SHARED)
        w_i64(k->c,
              input->limb_bytes && input->limb ? 0 : (p->program->shared + 15) & ~UINT64_C(15));
    else
        push_param(k, build_param_of(p, input->reg), start, size);
}

static void write_slot(maker *k, const kir_module *m, const kir_slot *s, uint32_t to) {
    const kir_input *input = s->constant ? NULL : &m->inputs.data[s->input];
    wasm_code *c = k->c;
    if (input && input->kind == KIR_INPUT_PARAM) {
        const uint32_t from = k->f.memories + build_param_of(k->f.p, input->reg) * WA_MEMORY_BYTES;
        for (uint32_t at = 0; at < WA_MEMORY_BYTES; at += 8) {
            w_i32(c, to + at);
            load(c, W_I64_LOAD, from + at);
            w_memory(c, W_I64_STORE, 0);
        }
        return;
    }
    store_i32(c, to + WA_MEMORY_VALID, 0);
}

/* The call of a kernel of the plan; the function returns where it did not go well. */
static void write_kernel(maker *k, uint32_t number, bool single_lane) {
    const build_program *p = k->f.p;
    const build_kernel *kernel = &k->job->kernels.data[number];
    const kir_module *m = kernel->low;
    const uint32_t inputs = room(k, 8 * ((uint32_t)m->inputs.count + 1), 8),
                   slots = room(k, WA_MEMORY_BYTES * ((uint32_t)m->slots.count + 1), 8);
    const uint32_t place = wasm_place(k->m, k->made[number].function);
    wasm_code *c = k->c;
    for (uint32_t i = 0; i < m->inputs.count; i++) {
        w_i32(c, inputs + 8 * i);
        push_input(k, &m->inputs.data[i]);
        w_memory(c, W_I64_STORE, 0);
    }
    for (uint32_t i = 0; i < m->slots.count; i++)
        write_slot(k, m, &m->slots.data[i], slots + i * WA_MEMORY_BYTES);
    store_i32(c, k->run + WA_LAUNCH_INPUTS, inputs);
    store_i32(c, k->run + WA_LAUNCH_SLOTS, slots);
    w_i32(c, place);
    if (single_lane)
        w_i64(c, 1);
    else
        w_get(c, k->f.lanes);
    w_i64(c, AT_ONCE);
    if (kernel->blocks || kernel->places) { /* whole blocks: volume * (1 + 4096 / volume) */
        w_get(c, k->f.volume);
        w(c, W_I64_DIV_U);
        w_i64(c, 1);
        w(c, W_I64_ADD);
        w_get(c, k->f.volume);
        w(c, W_I64_MUL);
    }
    if (kernel->blocks) {
        const uint64_t visible = p->program->shared, aligned = (visible + 15) & ~UINT64_C(15);
        if (p->block_bytes) { /* and what operations of the block need for each of its lanes */
            w_get(c, k->f.volume);
            w_i64(c, p->block_bytes);
            w(c, W_I64_MUL);
            w_i64(c, 15 + 16 + aligned);
            w(c, W_I64_ADD);
            w_i64(c, ~UINT64_C(15));
            w(c, W_I64_AND);
        } else {
            w_i64(c, aligned);
        }
        w_i64(c, visible);
        w_number(c, W_CALL, k->run_blocks);
    } else {
        w_number(c, W_CALL, k->run_lanes);
    }
    w(c, W_I32_EQZ);
    (void)w_open(c, W_IF, WASM_VOID);
    w_i32(c, (uint32_t)STOPPED);
    load(c, W_I32_LOAD, k->run + FOUND_CODE);
    load(c, W_I32_LOAD, k->run + FOUND_CODE);
    w(c, W_I32_EQZ);
    w(c, W_SELECT);
    w(c, W_RETURN);
    w(c, W_END);
}

static hg_status write_function(maker *k, const build_program *p) {
    hg_text signature = {0};
    wasm_code code;
    write_signature(p, &signature);
    k->f.p = p;
    k->f.locals = hg_calloc(p->program->param_count + (size_t)1, sizeof *k->f.locals);
    if (!signature.data || signature.failed || !k->f.locals) {
        hg_text_free(&signature);
        hg_free(k->f.locals);
        return hg_fail_memory();
    }
    const uint32_t number = wasm_declare(k->m, p->function, signature.data, true);
    wasm_begin(&code, signature.data);
    hg_text_free(&signature);
    k->c = &code;
    for (uint32_t i = 0, local = 0; i < p->program->param_count; i++) {
        k->f.locals[i] = local;
        if (is_given(p, i)) local += p->program->params[i].kind == HG_PARAM_SCALAR ? 1 : 2;
    }
    k->f.bad = wasm_take(&code, WASM_I32);
    k->f.lanes = wasm_take(&code, WASM_I64);
    k->f.volume = wasm_take(&code, WASM_I64);
    w_i32(&code, k->run + FOUND); /* nothing of the call before */
    w_i32(&code, 0);
    w_i32(&code, RUN_PHASE - FOUND);
    w(&code, W_MEMORY_FILL);
    store_i32(&code, k->run + WA_LAUNCH_STOPPED, 0);
    write_launch(k);
    write_memories(k);
    for (uint64_t i = 0; i < p->plan->code.count; i++) {
        const plan_inst *inst = &p->plan->code.data[i];
        if (inst->op == PLAN_KERNEL)
            write_kernel(k, p->first_kernel + inst->index,
                         p->plan->kernels.data[inst->index].single_lane);
    }
    w_i32(&code, 0);
    wasm_define(k->m, number, &code);
    hg_free(k->f.locals);
    return HG_OK;
}

/* ---- the module ---- */

/* What lanes of a block keep from barrier to barrier, at most. */
static uint64_t kept_of(const build_job *job, const build_program *p, const emit_wasm_made *made) {
    const uint32_t *block = p->program->block;
    const uint64_t x = block[0] ? block[0] : DEFAULT_BLOCK,
                   rows = block[0] ? (uint64_t)block[1] * block[2] : 1;
    uint64_t most = 0;
    for (uint64_t i = 0; i < p->plan->kernels.count; i++) {
        const emit_wasm_made *one = &made[p->first_kernel + i];
        const uint64_t turns = (x + EMIT_WASM_LANES - 1) / EMIT_WASM_LANES * rows,
                       bytes = one->frame_bytes + turns * one->turn_bytes;
        if (bytes > most) most = bytes;
    }
    (void)job;
    return most;
}

static hg_status write_module(void *user, wasm_module *m, const emit_wasm_made *made) {
    maker *k = user;
    bool shares = false;
    hg_status status = HG_OK;
    k->m = m;
    k->made = made;
    for (uint32_t i = 0; i < k->job->count; i++) {
        const uint64_t bytes = kept_of(k->job, &k->job->programs[i], made);
        if (bytes > k->kept_bytes) k->kept_bytes = bytes;
    }
    for (uint64_t i = 0; i < k->job->kernels.count; i++) shares |= k->job->kernels.data[i].blocks;
    if (k->kept_bytes >= UINT32_C(1) << 30)
        return hg_fail(HG_ERROR_ISA, "the lanes of a block keep %llu bytes from barrier to barrier",
                       (unsigned long long)k->kept_bytes);
    k->kept = m->alone.stack = BELOW + STACK;
    k->shared = k->kept + (uint32_t)((k->kept_bytes + 63) & ~UINT64_C(63));
    m->alone.base = k->shared + (shares ? MOST_SHARED : 0);
    k->run = room(k, RUN_BYTES, 16);
    const uint32_t callbacks[][2] = {{WA_LAUNCH_FAULT, write_on_fault(k)},
                                     {WA_LAUNCH_RESOLVE, write_on_resolve(k)},
                                     {WA_LAUNCH_GO_ON, write_on_no_fuel(k)},
                                     {WA_LAUNCH_MEMORY, write_on_memory(k)}};
    uint32_t places[HG_COUNT_OF(callbacks)];
    for (size_t i = 0; i < HG_COUNT_OF(callbacks); i++) places[i] = wasm_place(m, callbacks[i][1]);
    k->run_lanes = write_run_lanes(k);
    k->run_blocks = write_run_blocks(k);
    for (uint32_t i = 0; i < k->job->count && status == HG_OK; i++)
        status = write_function(k, &k->job->programs[i]);
    if (status != HG_OK || m->failed || m->data.failed)
        return status != HG_OK ? status : hg_fail_memory();
    for (size_t i = 0; i < HG_COUNT_OF(callbacks); i++) /* little-endian, like all of it */
        m->data.data[k->run - m->alone.base + callbacks[i][0]] = (char)places[i];
    if (m->data.length > (UINT32_C(1) << 31) - m->alone.base)
        return hg_fail(HG_ERROR_ISA, "the tables of the programs have more than 2 GiB");
    m->alone.end = (m->alone.base + (uint32_t)m->data.length + 63) & ~UINT32_C(63);
    wasm_constant_named(m, "__heap_base", m->alone.end);
    wasm_constant_named(m, k->job->fault_name, k->run + FOUND);
    return m->failed ? hg_fail_memory() : HG_OK;
}

/* ---- what cannot be ---- */

hg_status build_check_wasm(const build_program *p) {
    if (strcmp(p->function, "memory") == 0)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                       "'memory' is the name of the module's memory, not of a program");
    for (uint64_t i = 0; i < p->plan->steps.count; i++) {
        const plan_step *step = &p->plan->steps.data[i];
        if (step->op == HG_OP_BAR_GRID || !plan_collective_of((hg_op)step->op)) continue;
        return build_refuse(p, step->inst + 1,
                            "whole-array instructions are not built for WebAssembly: the C text "
                            "has them");
    }
    return HG_OK;
}

static hg_status check(const build_program *p) {
    const hg_plan *plan = p->plan;
    if (p->spans)
        return build_refuse(p, 0,
                            "it needs memory of its own (.scratch, or what lanes keep from kernel "
                            "to kernel), which is not built for WebAssembly: the C text has it");
    for (uint64_t i = 0; i < plan->code.count; i++)
        if (plan->code.data[i].op == PLAN_COMPUTE || plan->code.data[i].op == PLAN_JUMP ||
            plan->code.data[i].op == PLAN_JUMP_UNLESS)
            return build_refuse(
                p, 0,
                "its kernels depend on numbers between them, which is not built for "
                "WebAssembly: the C text has it");
    if (plan->env_bytes)
        return build_refuse(
            p, 0,
            "its kernels hand numbers on, which is not built for WebAssembly: the C "
            "text has it");
    if (!p->program->lanes_count && !p->program->grid_count && plan->kernels.count)
        return build_refuse(p, 0,
                            "how many lanes there are nobody says: give it a .lanes or .grid");
    return HG_OK;
}

/* Twice the lanes where little lives at a time: what a turn costs for itself is divided. */
static hg_status form_of(const build_kernel *k, vec_kernel **form) {
    enum { LITTLE = 8 * EMIT_WASM_BYTES };
    vec_options options = {.lanes = EMIT_WASM_LANES, .blocks = k->blocks || k->places};
    HG_TRY(vec_form(k->low, &options, form));
    if (options.blocks || (*form)->pressure.bytes * 2 * EMIT_WASM_LANES > LITTLE) return HG_OK;
    vec_kernel_destroy(*form);
    *form = NULL;
    options.lanes *= 2;
    return vec_form(k->low, &options, form);
}

hg_status build_add_wasm(build_job *job, hg_text *out) {
    const uint64_t count = job->kernels.count;
    vec_kernel **forms = hg_calloc(count + 1, sizeof *forms);
    const char **names = hg_calloc(count + 1, sizeof *names);
    hg_status status = forms && names ? HG_OK : hg_fail_memory();
    for (uint32_t i = 0; i < job->count && status == HG_OK; i++) status = check(&job->programs[i]);
    for (uint64_t i = 0; i < count && status == HG_OK; i++) {
        const build_kernel *k = &job->kernels.data[i];
        names[i] = k->name;
        status = form_of(k, &forms[i]);
    }
    maker k = {.job = job};
    if (status == HG_OK)
        status = emit_wasm_alone(forms, (uint32_t)count, names, write_module, &k,
                                 "Written by `hologram build --target wasm`.\n", out);
    for (uint64_t i = 0; forms && i < count; i++)
        if (forms[i]) vec_kernel_destroy(forms[i]);
    hg_free(forms);
    hg_free(names);
    return status;
}
