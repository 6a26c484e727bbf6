/* A module of WebAssembly that stands alone while `hologram build` writes it, shared by the files
 * build_wasm*.c. Offsets in `run` and `found` are the same numbers in docs/guide/embed.md. */
#ifndef HG_OFFLINE_BUILD_WASM_INTERNAL_H
#define HG_OFFLINE_BUILD_WASM_INTERNAL_H

#include "emit/emit.h"
#include "emit/emit_wasm_internal.h"
#include "offline/build_internal.h"
#include "vector/vector.h"

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
enum { MOST_SHARED = 65536, AT_ONCE = 4096 /* lanes of a call of a kernel, at least */ };
enum { HEAP_BASE /* among the module's constants */ };

/* Functions of the module. Those of steps are there where a program has steps. */
typedef struct build_wasm_calls {
    uint32_t resolve;    /* (to, launch, handle i64, pool, flat) */
    uint32_t run_lanes;  /* (kernel, lanes i64, step i64): whether all went well, as below */
    uint32_t run_blocks; /* (kernel, lanes i64, step i64, shared i64, visible i64) */
    uint32_t array;   /* (to, handle i64, pool, index i64, disp i64, bytes i64, open, inst, operand)
                       */
    uint32_t overlap; /* (memory, memory): 0: none, 1: they begin at the same byte, 2: else */
    uint32_t step;    /* (kernel, lanes i64, shape, shared i64, visible i64, step i64, inst) */
} build_wasm_calls;

typedef struct build_wasm {
    build_job *job;
    wasm_module *m;
    const emit_wasm_made *made;
    wasm_code *c;
    uint32_t run, kept, shared; /* addresses */
    uint64_t kept_bytes;        /* what lanes of a block keep, at most */
    struct {                    /* addresses: of a launch, of a whole-array instruction */
        uint32_t inputs, slots, arrays, launch;
    } at;
    build_wasm_calls calls;
    struct build_wasm_function { /* of a program */
        uint32_t run, bytes;     /* numbers: it, NAME_work_bytes if there is a workspace */
    } * functions;
    struct { /* of the function at work */
        const build_program *p;
        uint32_t *locals; /* by parameter: the first local */
        uint32_t bad;
        uint32_t lanes, volume, memories;
        uint32_t work;      /* local: where the workspace begins; the next has its bytes */
        uint32_t env, keep; /* addresses: of values, of the memory of what lanes keep */
        uint32_t steps;     /* local: where memory of whole-array instructions begins */
    } f;
} build_wasm;

static inline void bw_store(wasm_code *c, wasm_op op, uint32_t at, uint32_t local) {
    w_i32(c, at);
    w_get(c, local);
    w_memory(c, op, 0);
}
static inline void bw_store_i32(wasm_code *c, uint32_t at, uint32_t value) {
    w_i32(c, at);
    w_i32(c, value);
    w_memory(c, W_I32_STORE, 0);
}
static inline void bw_store_i64(wasm_code *c, uint32_t at, uint64_t value) {
    w_i32(c, at);
    w_i64(c, value);
    w_memory(c, W_I64_STORE, 0);
}
static inline void bw_load(wasm_code *c, wasm_op op, uint32_t at) {
    w_i32(c, at);
    w_memory(c, op, 0);
}

/* build_wasm_calls.c: zeros of the module's memory: where. */
uint32_t build_wasm_room(build_wasm *k, uint32_t bytes, uint32_t align);
/* The function ends where what is on the stack says that not all went well. */
void build_wasm_end_unless(build_wasm *k);
/* `size` bytes, at most 8, of the environment, as an i64. */
void build_wasm_push_env(build_wasm *k, uint64_t offset, uint64_t size);
/* What kernels call, and launches. steps: those of steps too. */
void build_wasm_add_calls(build_wasm *k, bool steps);

/* build_wasm_body.c: whether a function takes a parameter; what it does. A launch of a graph is not
 * exported. */
bool build_wasm_takes(const build_program *p, uint32_t i);
hg_status build_wasm_add_function(build_wasm *k, uint32_t program) HG_NODISCARD;
/* In a function: what is on the stack says that there is no launch. parameter: which is wrong, from
 * 1 on; 0: none alone. */
void build_wasm_refuse_if(build_wasm *k, uint32_t parameter);
/* Memory of the call that begins at the local `at` and has as many bytes as the i64 on the stack is
 * no launch where it is not the caller's: behind the module's own, and in the memory there is. */
void build_wasm_refuse_outside(build_wasm *k, uint32_t parameter, uint32_t at);

/* build_wasm_step.c: a whole-array instruction; what lanes of the blocks of its kernels keep. */
void build_wasm_add_step(build_wasm *k, uint32_t number);
uint64_t build_wasm_step_keeps(const build_wasm *k, const build_step *s);
uint64_t build_wasm_keeps(const emit_wasm_made *made, const uint32_t block[3]);

/* build_wasm_graph.c: the functions of the job's graph. */
hg_status build_wasm_add_graph(build_wasm *k) HG_NODISCARD;

#endif
