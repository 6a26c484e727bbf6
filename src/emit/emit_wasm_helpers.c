/* What kernels in WebAssembly do rarely, or what has no instruction: functions of the module that
 * are written when a kernel calls one. Most are functions of include/hologram/vector.h.
 * Must not know: the vector form's operations. */
#include "emit/emit_wasm_internal.h"

typedef struct helper_row {
    const char *name, *signature;
} helper_row;
static const helper_row ROWS[] = {
#define HELPER(id, name, signature) {name, signature},
    WA_HELPERS(HELPER)
#undef HELPER
};

static uint32_t number_of(wa_module *m, wa_helper helper) {
    if (!m->helpers[helper])
        m->helpers[helper] = 1 +
                             wasm_declare(&m->m, ROWS[helper].name, ROWS[helper].signature, false);
    return m->helpers[helper] - 1;
}

void wa_call(wa_printer *p, wa_helper helper) {
    w_number(p->c, W_CALL, number_of(p->module, helper));
}

static void get_two(wasm_code *c, uint32_t a, uint32_t b) {
    w_get(c, a);
    w_get(c, b);
}

/* ---- faults, handles, time ---- */

/* A place of so many bytes on the stack. */
static uint32_t open_scratch(wasm_code *c, uint32_t bytes) {
    const uint32_t at = wasm_take(c, WASM_I32);
    w_number(c, W_GLOBAL_GET, WASM_STACK_POINTER);
    w_i32(c, bytes);
    w(c, W_I32_SUB);
    w_tee(c, at);
    w_number(c, W_GLOBAL_SET, WASM_STACK_POINTER);
    return at;
}

static void close_scratch(wasm_code *c, uint32_t at, uint32_t bytes) {
    w_get(c, at);
    w_i32(c, bytes);
    w(c, W_I32_ADD);
    w_number(c, W_GLOBAL_SET, WASM_STACK_POINTER);
}

static void copy_site(wasm_code *c, uint32_t to, uint32_t from) {
    for (uint32_t i = 0; i < WA_SITE_BYTES; i += 8) {
        get_two(c, to, from);
        w_memory(c, W_I64_LOAD, i);
        w_memory(c, W_I64_STORE, i);
    }
}

static void call_field(wa_module *m, wasm_code *c, uint32_t offset, const char *signature) {
    w_get(c, 0);
    w_memory(c, W_I32_LOAD, offset);
    w_indirect(c, wasm_type_of(&m->m, signature));
}

enum { VALUES = 40, FAULT_BYTES = 64 /* a site, two numbers */ };

static void store_numbers(wasm_code *c, uint32_t at, uint32_t low, uint32_t high) {
    get_two(c, at, low);
    w_memory(c, W_I64_STORE, VALUES);
    get_two(c, at, high);
    w_memory(c, W_I64_STORE, VALUES + 8);
}

/* The launch, the site at `at` and the lane are on the stack. */
static void end_fault(wa_module *m, wasm_code *c, uint32_t at) {
    w_get(c, at);
    w_i32(c, VALUES);
    w(c, W_I32_ADD);
    call_field(m, c, WA_LAUNCH_FAULT, "iiIi:");
    close_scratch(c, at, FAULT_BYTES);
}

/* launch, site, lane, two numbers: the message of the site lies in the module's data. */
static void write_fault(wa_module *m, wasm_code *c) {
    enum { LAUNCH, SITE, LANE, LOW, HIGH };
    const uint32_t at = open_scratch(c, FAULT_BYTES);
    copy_site(c, at, SITE);
    w_get(c, at);
    w_memory(c, W_I32_LOAD, WA_SITE_MESSAGE);
    (void)w_open(c, W_IF, WASM_VOID);
    get_two(c, at, at);
    w_memory(c, W_I32_LOAD, WA_SITE_MESSAGE);
    w_number(c, W_GLOBAL_GET, WASM_MEMORY_BASE);
    w(c, W_I32_ADD);
    w_memory(c, W_I32_STORE, WA_SITE_MESSAGE);
    w(c, W_END);
    store_numbers(c, at, LOW, HIGH);
    get_two(c, LAUNCH, at);
    w_get(c, LANE);
    end_fault(m, c, at);
}

/* A lane outside: with what the fault's text says. */
static void report(wa_module *m, wasm_code *c, uint32_t lane, uint32_t low, uint32_t high) {
    enum { LAUNCH, SITE, SIZE, VALID, FIRST };
    const uint32_t at = open_scratch(c, FAULT_BYTES);
    copy_site(c, at, SITE);
    get_two(c, at, SIZE);
    w_memory(c, W_I64_STORE, WA_SITE_LIMIT);
    w_get(c, at);
    w_memory(c, W_I32_LOAD, WA_SITE_INPUT);
    w_i32(c, 0);
    w(c, W_I32_GE_S);
    (void)w_open(c, W_IF, WASM_VOID);
    get_two(c, at, LAUNCH);
    w_memory(c, W_I32_LOAD, WA_LAUNCH_INPUTS);
    w_get(c, at);
    w_memory(c, W_I32_LOAD, WA_SITE_INPUT);
    w_i32(c, 8);
    w(c, W_I32_MUL);
    w(c, W_I32_ADD);
    w_memory(c, W_I64_LOAD, 0);
    w_memory(c, W_I64_STORE, WA_SITE_HANDLE);
    w(c, W_END);
    w_get(c, VALID);
    w(c, W_I32_EQZ);
    (void)w_open(c, W_IF, WASM_VOID);
    w_get(c, at);
    w_i32(c, 3);
    w_memory(c, W_I32_STORE8, WA_SITE_CODE);
    w(c, W_END);
    store_numbers(c, at, low, high);
    get_two(c, LAUNCH, at);
    get_two(c, FIRST, lane);
    w(c, W_I64_ADD);
    end_fault(m, c, at);
}

/* Of the lanes `bits`, those whose access is in bounds: lane i's offset is index + i * stride +
 * disp, exactly. The others fault. */
static void write_check(wa_module *m, wasm_code *c) {
    enum { LAUNCH, SITE, SIZE, VALID, FIRST, INDEX, STRIDE, DISP, BITS };
    const uint32_t left = wasm_take(c, WASM_I64), lane = wasm_take(c, WASM_I64),
                   place = wasm_take(c, WASM_I64), low = wasm_take(c, WASM_I64),
                   high = wasm_take(c, WASM_I64), bytes = wasm_take(c, WASM_I64);
    w_get(c, BITS);
    w_set(c, left);
    w_get(c, SITE);
    w_memory(c, W_I64_LOAD32_U, WA_SITE_BYTES_OF_ACCESS);
    w_set(c, bytes);
    const uint32_t over = w_open(c, W_BLOCK, WASM_VOID), loop = w_open(c, W_LOOP, WASM_VOID);
    w_get(c, BITS);
    w(c, W_I64_EQZ);
    w_branch(c, W_BR_IF, over);
    w_get(c, BITS);
    w(c, W_I64_CTZ);
    w_tee(c, lane);
    w_get(c, STRIDE);
    w(c, W_I64_MUL);
    w_get(c, INDEX);
    w(c, W_I64_ADD);
    w_tee(c, place);
    w_get(c, DISP);
    w(c, W_I64_ADD);
    w_set(c, low);
    /* high = disp >= 0 ? low < place : -(low > place) */
    get_two(c, low, place);
    w(c, W_I64_LT_U);
    w(c, W_I64_EXTEND_I32_U);
    w_i64(c, 0);
    get_two(c, low, place);
    w(c, W_I64_GT_U);
    w(c, W_I64_EXTEND_I32_U);
    w(c, W_I64_SUB);
    w_get(c, DISP);
    w_i64(c, 0);
    w(c, W_I64_GE_S);
    w(c, W_SELECT);
    w_set(c, high);
    /* valid & high == 0 & size >= bytes & low <= size - bytes */
    w_get(c, VALID);
    w_i32(c, 0);
    w(c, W_I32_NE);
    w_get(c, high);
    w(c, W_I64_EQZ);
    w(c, W_I32_AND);
    get_two(c, SIZE, bytes);
    w(c, W_I64_GE_U);
    w(c, W_I32_AND);
    w_get(c, low);
    get_two(c, SIZE, bytes);
    w(c, W_I64_SUB);
    w(c, W_I64_LE_U);
    w(c, W_I32_AND);
    w(c, W_I32_EQZ);
    (void)w_open(c, W_IF, WASM_VOID);
    report(m, c, lane, low, high);
    w_get(c, left);
    w_i64(c, 1);
    w_get(c, lane);
    w(c, W_I64_SHL);
    w(c, W_I64_XOR);
    w_set(c, left);
    w(c, W_END);
    get_two(c, BITS, BITS);
    w_i64(c, 1);
    w(c, W_I64_SUB);
    w(c, W_I64_AND);
    w_set(c, BITS);
    w_branch(c, W_BR, loop);
    w(c, W_END);
    w(c, W_END);
    w_get(c, left);
}

/* The memory of a handle into `at`; of a flat address the handle becomes that of the memory, and
 * `offset` what is behind. Locals. */
static void resolve(wa_module *m, wasm_code *c, uint32_t at, uint32_t handle, uint32_t offset,
                    uint32_t pool, uint32_t flat) {
    w_get(c, flat);
    (void)w_open(c, W_IF, WASM_VOID);
    w_get(c, handle);
    w_i64(c, UINT64_C(0xffffffffff));
    w(c, W_I64_AND);
    w_set(c, offset);
    w_get(c, handle);
    w_i64(c, 63);
    w(c, W_I64_SHR_U);
    w(c, W_I32_WRAP_I64);
    w_set(c, pool);
    w_get(c, handle);
    w_i64(c, 40);
    w(c, W_I64_SHR_U);
    w_i64(c, 0x7fffff);
    w(c, W_I64_AND);
    w_set(c, handle);
    w(c, W_END);
    get_two(c, at, 0);
    get_two(c, handle, pool);
    w_get(c, flat);
    call_field(m, c, WA_LAUNCH_RESOLVE, "iiIii:");
}

static void write_find(wa_module *m, wasm_code *c) {
    enum { LAUNCH, HANDLE, OFFSET, POOL, FLAT };
    const uint32_t at = open_scratch(c, 32);
    resolve(m, c, at, HANDLE, OFFSET, POOL, FLAT);
    close_scratch(c, at, 32);
    w_get(c, at);
    w_memory(c, W_I32_LOAD, 0);
    w_get(c, OFFSET);
}

/* bits: of one lane, or 0. */
static void write_check_open(wa_module *m, wasm_code *c) {
    enum { LAUNCH, SITE, POOL, FLAT, FIRST, HANDLE, INDEX, DISP, BITS, MEMORY = 48, ALL = 80 };
    w_get(c, BITS);
    w(c, W_I64_EQZ);
    (void)w_open(c, W_IF, WASM_VOID);
    w_i64(c, 0);
    w(c, W_RETURN);
    w(c, W_END);
    const uint32_t at = open_scratch(c, ALL), memory = wasm_take(c, WASM_I32),
                   good = wasm_take(c, WASM_I64);
    w_get(c, at);
    w_i32(c, MEMORY);
    w(c, W_I32_ADD);
    w_set(c, memory);
    resolve(m, c, memory, HANDLE, INDEX, POOL, FLAT);
    copy_site(c, at, SITE);
    w_get(c, at);
    w_i32(c, UINT32_MAX);
    w_memory(c, W_I32_STORE, WA_SITE_INPUT);
    get_two(c, at, HANDLE);
    w_memory(c, W_I64_STORE, WA_SITE_HANDLE);
    get_two(c, at, POOL);
    w_memory(c, W_I32_STORE8, WA_SITE_POOL);
    get_two(c, LAUNCH, at);
    w_get(c, memory);
    w_memory(c, W_I64_LOAD, WA_MEMORY_SIZE);
    w_get(c, memory);
    w_memory(c, W_I32_LOAD8_U, WA_MEMORY_VALID);
    w_get(c, FIRST);
    w_get(c, BITS);
    w(c, W_I64_CTZ);
    w(c, W_I64_ADD);
    w_get(c, INDEX);
    w_i64(c, 0);
    w_get(c, DISP);
    w_i64(c, 1);
    w_number(c, W_CALL, number_of(m, WA_HELPER_CHECK));
    w_set(c, good);
    close_scratch(c, at, ALL);
    w_get(c, BITS);
    w_i64(c, 0);
    w_get(c, good);
    w(c, W_I64_EQZ);
    w(c, W_I32_EQZ);
    w(c, W_SELECT);
}

/* What the launch has is out: more of it, or the end. */
static void write_fuel(wa_module *m, wasm_code *c) {
    enum { LAUNCH, RUN };
    w_get(c, LAUNCH);
    w_memory(c, W_I32_LOAD8_U, WA_LAUNCH_STOPPED);
    w(c, W_I32_EQZ);
    (void)w_open(c, W_IF, WASM_VOID);
    w_get(c, LAUNCH);
    call_field(m, c, WA_LAUNCH_GO_ON, "i:i");
    w(c, W_I32_EQZ);
    (void)w_open(c, W_IF, WASM_VOID);
    w_get(c, LAUNCH);
    w_i32(c, 1);
    w_memory(c, W_I32_STORE8, WA_LAUNCH_STOPPED);
    w(c, W_END);
    w(c, W_END);
    w_get(c, LAUNCH);
    w_memory(c, W_I32_LOAD8_U, WA_LAUNCH_STOPPED);
    w_get(c, RUN);
    w(c, W_I64_EQZ);
    w(c, W_I32_OR);
}

/* 0 to 2: of a lane in its block, 3 to 5: of its block in the grid, along x, y, z. */
static void write_coordinate(wa_module *m, wasm_code *c) {
    enum { LAUNCH, ID, LANE };
    (void)m;
    const uint32_t all = wasm_take(c, WASM_I64), number = wasm_take(c, WASM_I64),
                   extents = wasm_take(c, WASM_I32);
    for (uint64_t axis = 0; axis < 3; axis++) {
        w_get(c, LAUNCH);
        w_memory(c, W_I64_LOAD32_U, WA_LAUNCH_BLOCK + 4 * axis);
        if (axis) w(c, W_I64_MUL);
    }
    w_set(c, all);
    w_get(c, ID);
    w_i32(c, 3);
    w(c, W_I32_LT_U);
    (void)w_open(c, W_IF, WASM_VOID);
    get_two(c, LANE, all);
    w(c, W_I64_REM_U);
    w_set(c, number);
    w_get(c, LAUNCH);
    w_i32(c, WA_LAUNCH_BLOCK);
    w(c, W_I32_ADD);
    w_set(c, extents);
    w(c, W_ELSE);
    get_two(c, LANE, all);
    w(c, W_I64_DIV_U);
    w_set(c, number);
    w_get(c, LAUNCH);
    w_i32(c, WA_LAUNCH_GRID);
    w(c, W_I32_ADD);
    w_set(c, extents);
    w_get(c, ID);
    w_i32(c, 3);
    w(c, W_I32_SUB);
    w_set(c, ID);
    w(c, W_END);
    for (uint32_t axis = 0; axis < 2; axis++) { /* ID > axis: number /= extent, else it is % that */
        w_get(c, ID);
        w_i32(c, axis);
        w(c, W_I32_GT_U);
        (void)w_open(c, W_IF, WASM_VOID);
        get_two(c, number, extents);
        w_memory(c, W_I64_LOAD32_U, 4 * (uint64_t)axis);
        w(c, W_I64_DIV_U);
        w_set(c, number);
        w(c, W_ELSE);
        get_two(c, number, extents);
        w_memory(c, W_I64_LOAD32_U, 4 * (uint64_t)axis);
        w(c, W_I64_REM_U);
        w(c, W_I32_WRAP_I64);
        w(c, W_RETURN);
        w(c, W_END);
    }
    w_get(c, number);
    w(c, W_I32_WRAP_I64);
}

/* ---- numbers ---- */

/* The high word of a product, of four products of halves. */
static void write_mulhi(wa_module *m, wasm_code *c) {
    enum { A, B };
    (void)m;
    uint32_t high[2], low[2];
    const uint32_t middle = wasm_take(c, WASM_I64), other = wasm_take(c, WASM_I64);
    for (uint32_t n = 0; n < 2; n++) {
        high[n] = wasm_take(c, WASM_I64);
        low[n] = wasm_take(c, WASM_I64);
        w_get(c, n);
        w_i64(c, 32);
        w(c, W_I64_SHR_U);
        w_set(c, high[n]);
        w_get(c, n);
        w_i64(c, 0xffffffffu);
        w(c, W_I64_AND);
        w_set(c, low[n]);
    }
    get_two(c, low[0], low[1]); /* middle = high a * low b + (low a * low b >> 32) */
    w(c, W_I64_MUL);
    w_i64(c, 32);
    w(c, W_I64_SHR_U);
    get_two(c, high[0], low[1]);
    w(c, W_I64_MUL);
    w(c, W_I64_ADD);
    w_set(c, middle);
    get_two(c, low[0], high[1]); /* other = low a * high b + low of middle */
    w(c, W_I64_MUL);
    w_get(c, middle);
    w_i64(c, 0xffffffffu);
    w(c, W_I64_AND);
    w(c, W_I64_ADD);
    w_set(c, other);
    get_two(c, high[0], high[1]);
    w(c, W_I64_MUL);
    w_get(c, middle);
    w_i64(c, 32);
    w(c, W_I64_SHR_U);
    w(c, W_I64_ADD);
    w_get(c, other);
    w_i64(c, 32);
    w(c, W_I64_SHR_U);
    w(c, W_I64_ADD);
}

/* ---- atomics that have no instruction: the smaller, or the larger, stays ---- */

static void write_extreme(wasm_code *c, bool wide) {
    enum { OP, AT, VALUE };
    static const wasm_op TAKE[2][4] = {{W_I32_LT_U, W_I32_LT_S, W_I32_GT_U, W_I32_GT_S},
                                       {W_I64_LT_U, W_I64_LT_S, W_I64_GT_U, W_I64_GT_S}};
    const uint32_t old = wasm_take(c, wide ? WASM_I64 : WASM_I32), take = wasm_take(c, WASM_I32);
    const uint32_t loop = w_open(c, W_LOOP, WASM_VOID);
    w_get(c, AT);
    w_memory(c, wide ? W_I64_ATOMIC_LOAD : W_I32_ATOMIC_LOAD, 0);
    w_set(c, old);
    for (uint32_t op = 0; op < 4; op++) { /* KIR_ATOMIC_UMIN … SMAX are 1 to 4 */
        get_two(c, VALUE, old);
        w(c, TAKE[wide][op]);
        if (!op) {
            w_set(c, take);
            continue;
        }
        w_get(c, take);
        w_get(c, OP);
        w_i32(c, op + 1);
        w(c, W_I32_EQ);
        w(c, W_SELECT);
        w_set(c, take);
    }
    w_get(c, take);
    w(c, W_I32_EQZ);
    (void)w_open(c, W_IF, WASM_VOID);
    w_get(c, old);
    w(c, W_RETURN);
    w(c, W_END);
    get_two(c, AT, old);
    w_get(c, VALUE);
    w_memory(c, wide ? W_I64_ATOMIC_RMW_CMPXCHG : W_I32_ATOMIC_RMW_CMPXCHG, 0);
    w_get(c, old);
    w(c, wide ? W_I64_NE : W_I32_NE);
    w_branch(c, W_BR_IF, loop);
    w(c, W_END);
    w_get(c, old);
}

static void write_one(wa_module *m, wa_helper helper, wasm_code *c) {
    switch (helper) {
    case WA_HELPER_CHECK: write_check(m, c); break;
    case WA_HELPER_CHECK_OPEN: write_check_open(m, c); break;
    case WA_HELPER_FIND: write_find(m, c); break;
    case WA_HELPER_FAULT: write_fault(m, c); break;
    case WA_HELPER_FUEL: write_fuel(m, c); break;
    case WA_HELPER_COORDINATE: write_coordinate(m, c); break;
    case WA_HELPER_MULHI: write_mulhi(m, c); break;
    default: write_extreme(c, helper == WA_HELPER_ATOMIC_8);
    }
}

void wa_write_helpers(wa_module *m) {
    for (bool more = true; more;) {
        more = false;
        for (int i = 0; i < WA_HELPER_COUNT; i++) {
            wasm_code c;
            if (!m->helpers[i] || m->written[i]) continue;
            wasm_begin(&c, ROWS[i].signature);
            write_one(m, (wa_helper)i, &c);
            wasm_define(&m->m, m->helpers[i] - 1, &c);
            m->written[i] = more = true;
        }
    }
}
