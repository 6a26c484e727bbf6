/* Reductions whose count a call knows, in a module of WebAssembly that stands alone: the fixed tree
 * (plan/steps/tree.h), an element of a level being made when the level above it comes to it, so
 * that two rows of accumulators a level are all that it needs.
 * Must not know: programs. */
#include "offline/build_wasm_internal.h"
#include "plan/steps/tree.h"

/* In the tree's memory: of each level its accumulators, then elements of the level below that they
 * are folded with next; what all levels have, elements of each among it. */
enum {
    ROW = PLAN_ACCUMULATORS * 8,
    LEVEL_BYTES = 2 * ROW,
    COUNTS = TREE_LEVELS * LEVEL_BYTES,
    FROM = COUNTS + 8 * (TREE_LEVELS + 1),
    KERNEL = FROM + 4,
    SIZE = KERNEL + 4,
    TREE_BYTES = SIZE + 8
};

void build_wasm_lay_out_tree(build_wasm *k) {
    for (uint32_t i = 0; i < k->job->count; i++) {
        const build_program *p = &k->job->programs[i];
        for (uint64_t n = 0; n < p->plan->steps.count && !k->tree; n++)
            if (!p->steps[n].expanded &&
                plan_collective_of((hg_op)p->plan->steps.data[n].op) == &plan_collective_reduce)
                k->tree = bw_take_memory(k, TREE_BYTES);
    }
}

/* The bytes of as many elements as an i32 on the stack says. */
static void push_bytes(const build_wasm *k, wasm_code *c) {
    bw_load(c, W_I32_LOAD, k->tree + SIZE);
    w(c, W_I32_MUL);
}

/* to[i] = fn(to[i], with[i]) for i < n. */
static uint32_t write_fold(build_wasm *k) {
    enum { TO, WITH, N };
    wasm_code code, *c = &code;
    const uint32_t number = wasm_declare(k->m, "fold", "iii:", false);
    wasm_begin(c, "iii:");
    for (uint32_t i = 0; i < 3; i++) {
        const uint32_t slot = k->at.slots + i * WA_MEMORY_BYTES;
        bw_store(c, W_I32_STORE, slot, i == 1 ? WITH : TO);
        w_i32(c, slot);
        w_get(c, N);
        push_bytes(k, c);
        w(c, W_I64_EXTEND_I32_U);
        w_memory(c, W_I64_STORE, WA_MEMORY_SIZE);
        bw_store_i32(c, slot + WA_MEMORY_VALID, 1);
    }
    bw_load(c, W_I32_LOAD, k->tree + KERNEL);
    w_get(c, N);
    w(c, W_I64_EXTEND_I32_U);
    w_i64(c, AT_ONCE);
    w_number(c, W_CALL, k->calls.run_lanes);
    w(c, W_DROP); /* of functions that can fault there are no reductions */
    wasm_define(k->m, number, c);
    return number;
}

/* Element `index` of a level, above 0, at the first of its accumulators. */
static uint32_t write_chunk(build_wasm *k, uint32_t fold) {
    enum { LEVEL, INDEX };
    wasm_code code, *c = &code;
    const uint32_t number = wasm_declare(k->m, "chunk", "iI:", false);
    wasm_begin(c, "iI:");
    const uint32_t sums = wasm_take(c, WASM_I32), at = wasm_take(c, WASM_I32),
                   row = wasm_take(c, WASM_I32), in_row = wasm_take(c, WASM_I32),
                   count = wasm_take(c, WASM_I32), in = wasm_take(c, WASM_I32),
                   left = wasm_take(c, WASM_I64);
    w_get(c, LEVEL);
    w_i32(c, 1);
    w(c, W_I32_SUB);
    w_i32(c, LEVEL_BYTES);
    w(c, W_I32_MUL);
    w_i32(c, k->tree);
    w(c, W_I32_ADD);
    w_set(c, sums);
    w_get(c, LEVEL); /* count = min(elements below - index * 4096, 4096) */
    w_i32(c, 8);
    w(c, W_I32_MUL);
    w_memory(c, W_I64_LOAD, k->tree + COUNTS - 8);
    w_get(c, INDEX);
    w_i64(c, PLAN_CHUNK);
    w(c, W_I64_MUL);
    w(c, W_I64_SUB);
    w_tee(c, left);
    w_i64(c, PLAN_CHUNK);
    w_get(c, left);
    w_i64(c, PLAN_CHUNK);
    w(c, W_I64_LT_U);
    w(c, W_SELECT);
    w(c, W_I32_WRAP_I64);
    w_set(c, count);
    const uint32_t rows = w_open(c, W_LOOP, WASM_VOID);
    w_get(c, count); /* row = min(count - in, 128) */
    w_get(c, in);
    w(c, W_I32_SUB);
    w_tee(c, row);
    w_i32(c, PLAN_ACCUMULATORS);
    w_get(c, row);
    w_i32(c, PLAN_ACCUMULATORS);
    w(c, W_I32_LT_U);
    w(c, W_SELECT);
    w_set(c, row);
    w_get(c, LEVEL);
    w_i32(c, 1);
    w(c, W_I32_EQ);
    (void)w_open(c, W_IF, WASM_VOID); /* elements of the array, where they are */
    bw_load(c, W_I32_LOAD, k->tree + FROM);
    w_get(c, INDEX);
    w(c, W_I32_WRAP_I64);
    w_i32(c, PLAN_CHUNK);
    w(c, W_I32_MUL);
    w_get(c, in);
    w(c, W_I32_ADD);
    push_bytes(k, c);
    w(c, W_I32_ADD);
    w_set(c, at);
    w(c, W_ELSE);
    w_i32(c, 0);
    w_set(c, in_row);
    const uint32_t elements = w_open(c, W_LOOP, WASM_VOID);
    w_get(c, LEVEL);
    w_i32(c, 1);
    w(c, W_I32_SUB);
    w_get(c, INDEX);
    w_i64(c, PLAN_CHUNK);
    w(c, W_I64_MUL);
    w_get(c, in);
    w_get(c, in_row);
    w(c, W_I32_ADD);
    w(c, W_I64_EXTEND_I32_U);
    w(c, W_I64_ADD);
    w_number(c, W_CALL, number);
    w_get(c, sums);
    w_i32(c, ROW);
    w(c, W_I32_ADD);
    w_tee(c, at);
    w_get(c, in_row);
    push_bytes(k, c);
    w(c, W_I32_ADD);
    w_get(c, sums);
    w_i32(c, LEVEL_BYTES);
    w(c, W_I32_SUB);
    bw_load(c, W_I32_LOAD, k->tree + SIZE);
    w(c, W_MEMORY_COPY);
    w_get(c, in_row);
    w_i32(c, 1);
    w(c, W_I32_ADD);
    w_tee(c, in_row);
    w_get(c, row);
    w(c, W_I32_LT_U);
    w_branch(c, W_BR_IF, elements);
    w(c, W_END);
    w(c, W_END);
    w_get(c, in);
    (void)w_open(c, W_IF, WASM_VOID);
    w_get(c, sums);
    w_get(c, at);
    w_get(c, row);
    w_number(c, W_CALL, fold);
    w(c, W_ELSE);
    w_get(c, sums);
    w_get(c, at);
    w_get(c, row);
    push_bytes(k, c);
    w(c, W_MEMORY_COPY);
    w(c, W_END);
    w_get(c, in);
    w_get(c, row);
    w(c, W_I32_ADD);
    w_tee(c, in);
    w_get(c, count);
    w(c, W_I32_LT_U);
    w_branch(c, W_BR_IF, rows);
    w(c, W_END);
    for (uint32_t half = PLAN_ACCUMULATORS / 2; half >= 1; half /= 2) {
        w_get(c, count); /* min(count - half, half) of them, if there are any */
        w_i32(c, half);
        w(c, W_I32_GT_U);
        (void)w_open(c, W_IF, WASM_VOID);
        w_get(c, sums);
        w_get(c, sums);
        w_i32(c, half);
        push_bytes(k, c);
        w(c, W_I32_ADD);
        w_get(c, count);
        w_i32(c, half);
        w(c, W_I32_SUB);
        w_tee(c, row);
        w_i32(c, half);
        w_get(c, row);
        w_i32(c, half);
        w(c, W_I32_LT_U);
        w(c, W_SELECT);
        w_number(c, W_CALL, fold);
        w(c, W_END);
    }
    wasm_define(k->m, number, c);
    return number;
}

uint32_t build_wasm_add_reduce(build_wasm *k) {
    enum { OF_KERNEL, OF_FROM, N, OF_SIZE, NOTHING, TO };
    const char *signature = "iiIiIi:";
    wasm_code code, *c = &code;
    const uint32_t chunk = write_chunk(k, write_fold(k));
    const uint32_t number = wasm_declare(k->m, "reduce", signature, false);
    wasm_begin(c, signature);
    const uint32_t top = wasm_take(c, WASM_I32), count = wasm_take(c, WASM_I64);
    bw_store(c, W_I64_STORE, k->tree, NOTHING);
    bw_store(c, W_I32_STORE, k->tree + KERNEL, OF_KERNEL);
    bw_store(c, W_I32_STORE, k->tree + FROM, OF_FROM);
    bw_store(c, W_I32_STORE, k->tree + SIZE, OF_SIZE);
    bw_store(c, W_I64_STORE, k->tree + COUNTS, N);
    w_i32(c, k->at.inputs); /* handles, which nobody looks at */
    w_i32(c, 0);
    w_i32(c, 8 * (HG_MAX_OPERANDS + 1));
    w(c, W_MEMORY_FILL);
    bw_store_i32(c, k->run + WA_LAUNCH_INPUTS, k->at.inputs);
    bw_store_i32(c, k->run + WA_LAUNCH_SLOTS, k->at.slots);
    w_get(c, N);
    w_tee(c, count);
    w_i64(c, 0);
    w(c, W_I64_NE);
    (void)w_open(c, W_IF, WASM_VOID);
    const uint32_t levels = w_open(c, W_LOOP, WASM_VOID); /* up to one of a single element */
    w_get(c, top);
    w_i32(c, 1);
    w(c, W_I32_ADD);
    w_tee(c, top);
    w_i32(c, 8);
    w(c, W_I32_MUL);
    w_get(c, count);
    w_i64(c, PLAN_CHUNK - 1);
    w(c, W_I64_ADD);
    w_i64(c, PLAN_CHUNK);
    w(c, W_I64_DIV_U);
    w_tee(c, count);
    w_memory(c, W_I64_STORE, k->tree + COUNTS);
    w_get(c, count);
    w_i64(c, 1);
    w(c, W_I64_GT_U);
    w_branch(c, W_BR_IF, levels);
    w(c, W_END);
    w_get(c, top);
    w_i64(c, 0);
    w_number(c, W_CALL, chunk);
    w_get(c, top); /* from there, else from the tree's first accumulator, which is that of nothing
                    */
    w_i32(c, 1);
    w(c, W_I32_SUB);
    w_set(c, top);
    w(c, W_END);
    w_get(c, TO);
    w_get(c, top);
    w_i32(c, LEVEL_BYTES);
    w(c, W_I32_MUL);
    w_i32(c, k->tree);
    w(c, W_I32_ADD);
    w_get(c, OF_SIZE);
    w(c, W_MEMORY_COPY);
    wasm_define(k->m, number, c);
    return number;
}
