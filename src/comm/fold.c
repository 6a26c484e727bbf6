/* Elements of several ranks combined: instructions' handlers (tile/tile.h) do it, there is no
 * second arithmetic here.
 * Must not know: where elements come from. */
#include "comm/comm.h"
#include "kir/define/define.h"
#include "tile/tile.h"

static const hg_op instructions[] = {
    [HG_COMM_ADD] = HG_OP_ADD, [HG_COMM_MIN] = HG_OP_MIN, [HG_COMM_MAX] = HG_OP_MAX,
    [HG_COMM_MUL] = HG_OP_MUL, [HG_COMM_AND] = HG_OP_AND, [HG_COMM_OR] = HG_OP_OR,
    [HG_COMM_XOR] = HG_OP_XOR};

bool comm_operation_exists(hg_comm_operation operation, hg_type type) {
    return (uint32_t)operation < HG_COUNT_OF(instructions) &&
           kir_operate_exists((uint16_t)instructions[operation], type);
}

/* Kernels of types that have no handler, made once in a process. */
static hg_once_flag once = HG_ONCE_INIT;
static tile_cache *kernels;
static void make_cache(void) { kernels = tile_cache_create(); /* NULL: made each time */ }

hg_status comm_fold(hg_comm_operation operation, hg_type type, const uint8_t *const *in,
                    uint32_t ranks, uint64_t n, uint8_t *out) {
    hg_once(&once, make_cache);
    tile_options options = {.level = TILE_LEVEL_BEST, .max_threads = 1, .cache = kernels};
    return tile_fold_arrays(&options, instructions[operation], type, in, ranks, n, out);
}
