/* Functions of a module of WebAssembly that stands alone: what kernels call when a lane faults or
 * asks for memory, launches of kernels, and what whole-array instructions need besides.
 * Must not know: programs, what kernels compute. */
#include "offline/build_wasm_internal.h"

enum { FUEL = 1 << 20 };

/* ---- in all functions ---- */

uint32_t build_wasm_room(build_wasm *k, uint32_t bytes, uint32_t align) {
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

void build_wasm_push_env(build_wasm *k, uint64_t offset, uint64_t size) {
    static const wasm_op LOADS[] = {W_I32_LOAD8_U, W_I32_LOAD16_U, W_I64_LOAD32_U, W_I64_LOAD};
    const int log = wa_log((uint32_t)size);
    bw_load(k->c, LOADS[log], k->f.env + (uint32_t)offset);
    if (log < 2) w(k->c, W_I64_EXTEND_I32_U);
}

void build_wasm_end_unless(build_wasm *k) {
    wasm_code *c = k->c;
    w(c, W_I32_EQZ);
    (void)w_open(c, W_IF, WASM_VOID);
    w_i32(c, (uint32_t)STOPPED);
    bw_load(c, W_I32_LOAD, k->run + FOUND_CODE);
    bw_load(c, W_I32_LOAD, k->run + FOUND_CODE);
    w(c, W_I32_EQZ);
    w(c, W_SELECT);
    w(c, W_RETURN);
    w(c, W_END);
}

/* ---- what kernels call ---- */

static uint32_t begin(build_wasm *k, wasm_code *c, const char *name, const char *signature) {
    wasm_begin(c, signature);
    return wasm_declare(k->m, name, signature, false);
}

static void copy_field(build_wasm *k, wasm_code *c, uint32_t to, uint32_t from, uint32_t offset,
                       wasm_op load_op, wasm_op store_op) {
    w_i32(c, k->run + to);
    w_get(c, from);
    w_memory(c, load_op, offset);
    w_memory(c, store_op, 0);
}

/* The fault at the earliest barrier stays, of those the one of the lowest lane. */
static uint32_t write_on_fault(build_wasm *k) {
    enum { LAUNCH, SITE, LANE, VALUES };
    wasm_code code, *c = &code;
    const uint32_t number = begin(k, c, "on_fault", "iiIi:");
    w_get(c, LAUNCH);
    w_i32(c, 1);
    w_memory(c, W_I32_STORE8, WA_LAUNCH_FAULTED);
    bw_load(c, W_I32_LOAD, k->run + FOUND_CODE);
    (void)w_open(c, W_IF, WASM_VOID);
    for (int same = 0; same < 2; same++) {
        bw_load(c, W_I64_LOAD, k->run + RUN_PHASE);
        bw_load(c, W_I64_LOAD, k->run + WA_LAUNCH_PHASE);
        w(c, same ? W_I64_EQ : W_I64_LT_U);
        if (same) {
            bw_load(c, W_I64_LOAD, k->run + FOUND_LANE);
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
    bw_load(c, W_I64_LOAD, k->run + WA_LAUNCH_PHASE);
    w_memory(c, W_I64_STORE, 0);
    copy_field(k, c, FOUND_CODE, SITE, WA_SITE_CODE, W_I32_LOAD8_U, W_I32_STORE);
    copy_field(k, c, FOUND_INSTRUCTION, SITE, 4, W_I32_LOAD, W_I32_STORE);
    copy_field(k, c, FOUND_OPERAND, SITE, 1, W_I32_LOAD8_U, W_I32_STORE);
    copy_field(k, c, FOUND_BYTES, SITE, WA_SITE_BYTES_OF_ACCESS, W_I32_LOAD, W_I32_STORE);
    bw_store(c, W_I64_STORE, k->run + FOUND_LANE, LANE);
    copy_field(k, c, FOUND_VALUES, VALUES, 0, W_I64_LOAD, W_I64_STORE);
    copy_field(k, c, FOUND_VALUES + 8, VALUES, 8, W_I64_LOAD, W_I64_STORE);
    copy_field(k, c, FOUND_LIMIT, SITE, WA_SITE_LIMIT, W_I64_LOAD, W_I64_STORE);
    copy_field(k, c, FOUND_HANDLE, SITE, WA_SITE_HANDLE, W_I64_LOAD, W_I64_STORE);
    copy_field(k, c, FOUND_MESSAGE, SITE, WA_SITE_MESSAGE, W_I32_LOAD, W_I32_STORE);
    wasm_define(k->m, number, c);
    return number;
}

/* The memory of a handle, or none. */
static uint32_t write_on_resolve(build_wasm *k) {
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
    bw_load(c, W_I32_LOAD, k->run + RUN_MEMORIES);
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
static uint32_t write_on_no_fuel(build_wasm *k) {
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
static uint32_t write_on_memory(build_wasm *k) {
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
static void push_good(build_wasm *k, wasm_code *c) {
    bw_load(c, W_I32_LOAD, k->run + FOUND_CODE);
    bw_load(c, W_I32_LOAD8_U, k->run + WA_LAUNCH_STOPPED);
    w(c, W_I32_OR);
    w(c, W_I32_EQZ);
}

/* Lanes of a kernel, `step` of them at a time, as long as `goes_on`. What is there at the end is
 * whether all went well. before: code in front of each call. */
static void write_loop(build_wasm *k, wasm_code *c, uint32_t kernel, uint32_t lanes, uint32_t step,
                       bool blocks) {
    const uint32_t at = wasm_take(c, WASM_I64), next = wasm_take(c, WASM_I64);
    const uint32_t over = w_open(c, W_BLOCK, WASM_VOID), loop = w_open(c, W_LOOP, WASM_VOID);
    w_get(c, at);
    w_get(c, lanes);
    w(c, W_I64_GE_U);
    w_branch(c, W_BR_IF, over);
    if (blocks) { /* of all faults the one at the earliest barrier counts */
        bw_load(c, W_I32_LOAD, k->run + FOUND_CODE);
        w_i32(c, 0);
        w(c, W_I32_NE);
        bw_load(c, W_I64_LOAD, k->run + RUN_PHASE);
        w(c, W_I64_EQZ);
        w(c, W_I32_AND);
        bw_load(c, W_I32_LOAD8_U, k->run + WA_LAUNCH_STOPPED);
        w(c, W_I32_OR);
    } else {
        push_good(k, c);
        w(c, W_I32_EQZ);
    }
    w_branch(c, W_BR_IF, over);
    bw_store_i64(c, k->run + WA_LAUNCH_FUEL, FUEL);
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
    bw_store_i64(c, k->run + WA_LAUNCH_PHASE, 0);
    push_good(k, c);
}

static uint32_t write_run_lanes(build_wasm *k) {
    enum { KERNEL, LANES, STEP };
    wasm_code c;
    const uint32_t number = begin(k, &c, "run_lanes", "iII:i");
    write_loop(k, &c, KERNEL, LANES, STEP, false);
    wasm_define(k->m, number, &c);
    return number;
}

/* Whole blocks; size: their shared memory, `visible` of which the program sees. */
static uint32_t write_run_blocks(build_wasm *k) {
    enum { KERNEL, LANES, STEP, SIZE, VISIBLE };
    wasm_code c;
    const uint32_t number = begin(k, &c, "run_blocks", "iIIII:i");
    w_get(&c, SIZE);
    w_i64(&c, MOST_SHARED);
    w(&c, W_I64_GT_U);
    (void)w_open(&c, W_IF, WASM_VOID);
    bw_store_i32(&c, k->run + FOUND_CODE, (uint32_t)BAD_LAUNCH);
    w_i32(&c, 0);
    w(&c, W_RETURN);
    w(&c, W_END);
    bw_store_i32(&c, k->run + WA_LAUNCH_SHARED, k->shared); /* a block zeroes it when it begins */
    bw_store(&c, W_I64_STORE, k->run + WA_LAUNCH_SHARED + WA_MEMORY_SIZE, SIZE);
    bw_store_i32(&c, k->run + WA_LAUNCH_SHARED + WA_MEMORY_VALID, 1);
    bw_store(&c, W_I64_STORE, k->run + WA_LAUNCH_SHARED_VISIBLE, VISIBLE);
    write_loop(k, &c, KERNEL, LANES, STEP, true);
    wasm_define(k->m, number, &c);
    return number;
}

/* ---- whole-array instructions ---- */

/* The memory of an operand, from so many bytes behind a handle's first on; open: and all behind
 * them. Faults where it is not there. */
static uint32_t write_array(build_wasm *k) {
    enum { TO, HANDLE, POOL, INDEX, DISP, BYTES, OPEN, INST, OPERAND };
    wasm_code code, *c = &code;
    const uint32_t number = begin(k, c, "array", "iIiIIIiii:i");
    const uint32_t at = wasm_take(c, WASM_I64), high = wasm_take(c, WASM_I64);
    w_get(c, TO);
    w_i32(c, k->run);
    w_get(c, HANDLE);
    w_get(c, POOL);
    w_i32(c, 0);
    w_number(c, W_CALL, k->calls.resolve);
    w_get(c, INDEX); /* index + disp, in 128 bits */
    w_get(c, DISP);
    w(c, W_I64_ADD);
    w_tee(c, at);
    w_get(c, INDEX);
    w(c, W_I64_LT_U);
    w(c, W_I64_EXTEND_I32_U);
    w_get(c, DISP);
    w_i64(c, 63);
    w(c, W_I64_SHR_S);
    w(c, W_I64_ADD);
    w_set(c, high);
    w_get(c, TO);
    w_memory(c, W_I32_LOAD, WA_MEMORY_VALID);
    w_get(c, high);
    w(c, W_I64_EQZ);
    w(c, W_I32_AND);
    w_get(c, at);
    w_get(c, TO);
    w_memory(c, W_I64_LOAD, WA_MEMORY_SIZE);
    w(c, W_I64_LE_U);
    w(c, W_I32_AND);
    w_get(c, BYTES);
    w_get(c, TO);
    w_memory(c, W_I64_LOAD, WA_MEMORY_SIZE);
    w_get(c, at);
    w(c, W_I64_SUB);
    w(c, W_I64_LE_U);
    w(c, W_I32_AND);
    (void)w_open(c, W_IF, WASM_VOID);
    w_get(c, TO);
    w_get(c, TO);
    w_memory(c, W_I32_LOAD, 0);
    w_get(c, at);
    w(c, W_I32_WRAP_I64);
    w(c, W_I32_ADD);
    w_memory(c, W_I32_STORE, 0);
    w_get(c, TO);
    w_get(c, TO);
    w_memory(c, W_I64_LOAD, WA_MEMORY_SIZE);
    w_get(c, at);
    w(c, W_I64_SUB);
    w_get(c, BYTES);
    w_get(c, OPEN);
    w(c, W_SELECT);
    w_memory(c, W_I64_STORE, WA_MEMORY_SIZE);
    w_i32(c, 1);
    w(c, W_RETURN);
    w(c, W_END);
    w_i32(c, k->run + FOUND_CODE);
    w_i32(c, KIR_FAULT_BOUNDS);
    w_i32(c, KIR_FAULT_HANDLE);
    w_get(c, TO);
    w_memory(c, W_I32_LOAD, WA_MEMORY_VALID);
    w(c, W_SELECT);
    w_memory(c, W_I32_STORE, 0);
    bw_store(c, W_I32_STORE, k->run + FOUND_INSTRUCTION, INST);
    bw_store(c, W_I32_STORE, k->run + FOUND_OPERAND, OPERAND);
    w_i32(c, k->run + FOUND_BYTES); /* as many as a u32 can say */
    w_get(c, BYTES);
    w_i64(c, UINT32_MAX);
    w_get(c, BYTES);
    w_i64(c, UINT32_MAX);
    w(c, W_I64_LT_U);
    w(c, W_SELECT);
    w(c, W_I32_WRAP_I64);
    w_memory(c, W_I32_STORE, 0);
    bw_store_i64(c, k->run + FOUND_LANE, UINT64_MAX);
    bw_store(c, W_I64_STORE, k->run + FOUND_VALUES, at);
    bw_store(c, W_I64_STORE, k->run + FOUND_VALUES + 8, high);
    w_i32(c, k->run + FOUND_LIMIT);
    w_get(c, TO);
    w_memory(c, W_I64_LOAD, WA_MEMORY_SIZE);
    w_memory(c, W_I64_STORE, 0);
    bw_store(c, W_I64_STORE, k->run + FOUND_HANDLE, HANDLE);
    w_i32(c, 0);
    wasm_define(k->m, number, c);
    return number;
}

static uint32_t write_overlap(build_wasm *k) {
    enum { X, Y };
    wasm_code code, *c = &code;
    const uint32_t number = begin(k, c, "overlap", "ii:i");
    const uint32_t a = wasm_take(c, WASM_I32), b = wasm_take(c, WASM_I32);
    for (uint32_t i = 0; i < 2; i++) {
        w_get(c, i);
        w_memory(c, W_I64_LOAD, WA_MEMORY_SIZE);
        w(c, W_I64_EQZ);
    }
    w(c, W_I32_OR);
    (void)w_open(c, W_IF, WASM_VOID);
    w_i32(c, 0);
    w(c, W_RETURN);
    w(c, W_END);
    for (uint32_t i = 0; i < 2; i++) {
        w_get(c, i);
        w_memory(c, W_I32_LOAD, 0);
        w_set(c, i ? b : a);
    }
    w_get(c, a);
    w_get(c, b);
    w(c, W_I32_EQ);
    (void)w_open(c, W_IF, WASM_VOID);
    w_i32(c, 1);
    w(c, W_RETURN);
    w(c, W_END);
    for (uint32_t i = 0; i < 2; i++) { /* b - a < x's bytes, or a - b < y's, as who comes first */
        w_get(c, i ? a : b);
        w_get(c, i ? b : a);
        w(c, W_I32_SUB);
        w(c, W_I64_EXTEND_I32_U);
        w_get(c, i ? Y : X);
        w_memory(c, W_I64_LOAD, WA_MEMORY_SIZE);
        w(c, W_I64_LT_U);
    }
    w_get(c, a);
    w_get(c, b);
    w(c, W_I32_LT_U);
    w(c, W_SELECT);
    w_i32(c, 1);
    w(c, W_I32_SHL);
    wasm_define(k->m, number, c);
    return number;
}

/* A launch with lanes, a grid and blocks of its own; shared: bytes for a block, or UINT64_MAX, of
 * lanes alone. Those of the program come back. */
static uint32_t write_step(build_wasm *k) {
    enum { KERNEL, LANES, SHAPE, SHARED, VISIBLE, STEP, INST };
    enum { OWN_BYTES = WA_LAUNCH_FAULT - WA_LAUNCH_LANES, SHAPE_BYTES = 24 };
    wasm_code code, *c = &code;
    const uint32_t number = begin(k, c, "step", "iIiIIIi:i"), good = wasm_take(c, WASM_I32);
    w_i32(c, k->at.launch);
    w_i32(c, k->run + WA_LAUNCH_LANES);
    w_i32(c, OWN_BYTES);
    w(c, W_MEMORY_COPY);
    bw_store(c, W_I64_STORE, k->run + WA_LAUNCH_LANES, LANES);
    w_i32(c, k->run + WA_LAUNCH_GRID);
    w_get(c, SHAPE);
    w_i32(c, SHAPE_BYTES);
    w(c, W_MEMORY_COPY);
    w_get(c, SHARED);
    w_i64(c, UINT64_MAX);
    w(c, W_I64_EQ);
    (void)w_open(c, W_IF, WASM_VOID);
    w_get(c, KERNEL);
    w_get(c, LANES);
    w_get(c, STEP);
    w_number(c, W_CALL, k->calls.run_lanes);
    w_set(c, good);
    w(c, W_ELSE);
    w_get(c, KERNEL);
    w_get(c, LANES);
    w_get(c, STEP);
    w_get(c, SHARED);
    w_get(c, VISIBLE);
    w_number(c, W_CALL, k->calls.run_blocks);
    w_set(c, good);
    w(c, W_END);
    w_i32(c, k->run + WA_LAUNCH_LANES);
    w_i32(c, k->at.launch);
    w_i32(c, OWN_BYTES);
    w(c, W_MEMORY_COPY);
    w_get(c, good);
    w(c, W_I32_EQZ);
    (void)w_open(c, W_IF, WASM_VOID);
    bw_store(c, W_I32_STORE, k->run + FOUND_INSTRUCTION, INST);
    bw_store_i64(c, k->run + FOUND_LANE, UINT64_MAX);
    w(c, W_END);
    w_get(c, good);
    wasm_define(k->m, number, c);
    return number;
}

/* ---- all of them ---- */

void build_wasm_add_calls(build_wasm *k, bool steps) {
    k->calls.resolve = write_on_resolve(k);
    const uint32_t callbacks[][2] = {{WA_LAUNCH_FAULT, write_on_fault(k)},
                                     {WA_LAUNCH_RESOLVE, k->calls.resolve},
                                     {WA_LAUNCH_GO_ON, write_on_no_fuel(k)},
                                     {WA_LAUNCH_MEMORY, write_on_memory(k)}};
    for (size_t i = 0; i < HG_COUNT_OF(callbacks); i++) {
        const uint32_t place = wasm_place(k->m, callbacks[i][1]);
        for (uint32_t b = 0; b < 4 && !k->m->data.failed; b++) /* little-endian, like all of it */
            k->m->data.data[k->run - k->m->alone.base + callbacks[i][0] + b] = (char)(place >>
                                                                                      8 * b);
    }
    k->calls.run_lanes = write_run_lanes(k);
    k->calls.run_blocks = write_run_blocks(k);
    if (!steps) return;
    k->calls.array = write_array(k);
    k->calls.overlap = write_overlap(k);
    k->calls.step = write_step(k);
    if (k->tree) k->calls.reduce = build_wasm_add_reduce(k);
}
