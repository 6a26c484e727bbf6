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
/* What a reduction has in memory while it runs. */
enum { TREE_LEVELS = 3 /* above the elements, of which there are fewer than 2^32 */ };

/* Functions of the module. Those of steps are there where a program has steps, that of reductions
 * where one has a reduction whose count a call knows. */
typedef struct build_wasm_calls {
    uint32_t resolve;    /* (to, launch, handle i64, pool, flat) */
    uint32_t run_lanes;  /* (kernel, lanes i64, step i64): whether all went well, as below */
    uint32_t run_blocks; /* (kernel, lanes i64, step i64, shared i64, visible i64) */
    uint32_t array;   /* (to, handle i64, pool, index i64, disp i64, bytes i64, open, inst, operand)
                       */
    uint32_t overlap; /* (memory, memory): 0: none, 1: they begin at the same byte, 2: else */
    uint32_t step;    /* (kernel, lanes i64, shape, shared i64, visible i64, step i64, inst) */
    uint32_t reduce;  /* (kernel, from, n i64, size, of nothing i64, to) */
} build_wasm_calls;

typedef struct build_wasm {
    build_job *job;
    wasm_module *m;
    const emit_wasm_made *made;
    wasm_code *c;
    uint32_t run, kept, shared, tree; /* addresses; tree: 0 without such reductions */
    uint64_t kept_bytes;              /* what lanes of a block keep, at most */
    struct {                          /* addresses: of a launch, of a whole-array instruction */
        uint32_t inputs, slots, arrays, launch;
    } at;
    build_wasm_calls calls;
    struct { /* a graph's, where they come with the call: addresses; the function that fills them */
        uint32_t extents, slots, find;
    } open;
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

/* Memory in front of the module's data: where. */
static inline uint32_t bw_take_memory(build_wasm *k, uint64_t bytes) {
    const uint32_t at = k->m->alone.base;
    k->m->alone.base += (uint32_t)((bytes + 63) & ~UINT64_C(63));
    return at;
}
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

/* build_wasm_tree.c: whether a program has a reduction whose count a call knows; the memory of one,
 * and its function. */
void build_wasm_lay_out_tree(build_wasm *k);
uint32_t build_wasm_add_reduce(build_wasm *k);

/* build_wasm_body.c: whether a function takes a parameter; what it does. A launch of a graph is not
 * exported. */
bool build_wasm_takes(const build_program *p, uint32_t i);
hg_status build_wasm_add_function(build_wasm *k, uint32_t program) HG_NODISCARD;
/* Extents are exact numbers from 0 to 2^64 - 1, i64 on the stack; the local `bad` is set where one
 * is not: where what is on the stack is true; of two numbers another one. */
void build_wasm_set_bad(build_wasm *k);
void build_wasm_apply(build_wasm *k, hg_extent_op_kind op);
/* The number on the stack is that of the bytes of a part of the workspace; `end`, a local, is where
 * it ends then, and what is on the stack where it begins. */
void build_wasm_push_part(build_wasm *k, uint32_t end, uint32_t bytes);
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

/* build_wasm_graph_open.c: extents of the job's graph that come with the call: where
 * they lie; the function that works them out, its call, and the checks of what is found. As i64s an
 * extent, the bytes of a value, how far behind what it is a view of that begins, and where a slot
 * of the workspace begins, the last one where all end. */
void build_wasm_lay_out_extents(build_wasm *k);
hg_status build_wasm_add_extents(build_wasm *k) HG_NODISCARD;
void build_wasm_find_extents(build_wasm *k);
hg_status build_wasm_check_extents(build_wasm *k) HG_NODISCARD;
void build_wasm_push_graph_extent(build_wasm *k, graph_extent e);
void build_wasm_push_value_bytes(build_wasm *k, uint32_t value);
void build_wasm_push_begin(build_wasm *k, const build_place *place);
void build_wasm_push_slot(build_wasm *k, uint32_t slot);

/* build_wasm_graph.c: the functions of the job's graph. */
hg_status build_wasm_add_graph(build_wasm *k) HG_NODISCARD;

#endif
